/* SPDX-License-Identifier: Apache-2.0
 *
 * The fit of long tracks with one track a lane.
 *
 * A trajectory is flown from the most upstream hit through all layers by the tables (hlt1_transport.c has the
 * formulas one by one), and what the hits leave of it is small, so that single precision is enough. Then the
 * information about what must be changed at its begin is collected from the last layer back: as a triangle R
 * with a right side z, of which |R d - z|² is the chi2 of a change d (G. Bierman, Factorization Methods for
 * Discrete Sequential Estimation, 1977). A hit is one more row, and multiple scattering one more unknown;
 * both are rotated into the triangle by Givens' rotations. Nothing is subtracted from anything that is much
 * larger: of a covariance matrix, whose terms cancel over the seven metres by a factor of 10^6, single
 * precision would leave nothing. A row is kept as its weight, the square of its first entry, and the others
 * divided by that, so that rotations need no square roots (W. Gentleman, Least squares computations by Givens
 * transformations without square roots, 1973).
 *
 * Two vectors of tracks go side by side, as each is one long chain of divisions. No operation mixes lanes:
 * the same bits on every target, whatever tracks stand beside.
 */
#include "hlt1/hlt1_fit_lanes.h"

/* Rows and columns are known where these are used: what is of a new row is in registers then, and what does
 * not count is not done. Loops over them would not be unrolled before that is looked for. */
#define INLINE static inline __attribute__((always_inline))

/* ---- hits -------------------------------------------------------------------------------------- */

static inline void put_hit(slc_hlt1_fit_work *work, size_t vec, size_t place, size_t lane, float x, float y,
                           float z, float w)
{
    float *to = at(work, vec, place, HIT_X) + lane;
    to[0] = x;
    to[(HIT_Y - HIT_X) * 2 * SIMD_LANES] = y;
    to[(HIT_Z - HIT_X) * 2 * SIMD_LANES] = z;
    to[(HIT_W - HIT_X) * 2 * SIMD_LANES] = w;
}

/* All places of a vector without hits. */
static inline void put_layers(const slc_hlt1_fit_tables *tables, slc_hlt1_fit_work *work, size_t vec,
                              size_t velo)
{
    const size_t t = velo + SLC_UT_LAYERS;
    for (size_t place = 0; place < velo; place++) {
        f32v_store(at(work, vec, place, HIT_LEAN), f(0));
    }
    for (size_t place = velo; place < t + SLC_SCIFI_LAYERS; place++) {
        const bool ut = place < t;
        f32v_store(at(work, vec, place, HIT_X), f(0));
        f32v_store(at(work, vec, place, HIT_Y), f(ut ? tables->ut_dxdy[place - velo] : 0));
        f32v_store(at(work, vec, place, HIT_Z), f(ut ? tables->ut_z[place - velo] : tables->t_z[place - t]));
        f32v_store(at(work, vec, place, HIT_W), f(0));
        f32v_store(at(work, vec, place, HIT_LEAN), f(ut ? 0 : tables->t_dzdy));
    }
}

/* The hits of a track into a lane: those of the VELO in places before `velo`, the last of them downstream, so
 * that tracks of all lengths arrive at the UT together; a shorter one waits at its first hit. */
static void put_velo(const slc_hlt1_fit_in *in, slc_hlt1_fit_work *work, size_t vec, size_t lane, size_t velo,
                     uint32_t track)
{
    const uint32_t n = in->velo_n[track];
    const uint32_t *hit = in->velo_hit + in->velo_begin[track];
    float x = 0, y = 0, z = 0;
    for (size_t j = 0; j < n; j++) {
        const uint32_t h = hit[j];
        const uint32_t size = in->velo_pixels[h] < SLC_HLT1_FIT_SIZES ? in->velo_pixels[h]
                                                                      : SLC_HLT1_FIT_SIZES;
        x = in->velo_x[h];
        y = in->velo_y[h];
        z = in->velo_z[h];
        put_hit(work, vec, velo - 1 - j, lane, x, y, z, work->per_sigma[size]);
    }
    for (size_t place = velo - n; place-- > 0;) {
        put_hit(work, vec, place, lane, x, y, z, 0);
    }
    const float values[6] = {in->beam_x[track], in->beam_y[track], in->beam_tx[track], in->beam_ty[track], 0,
                             in->beam_z[track]};
    for (size_t i = 0; i < N; i++) {
        work->ray[vec][i][lane] = values[i];
    }
}

static void put_track(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *tables,
                      const slc_hlt1_fit_in *in, slc_hlt1_fit_work *work, size_t vec, size_t lane,
                      size_t velo, uint32_t track)
{
    const size_t t = velo + SLC_UT_LAYERS;
    const float per_ut = 1.0f / config->ut_sigma_mm, per_scifi = 1.0f / config->scifi_sigma_mm;
    put_velo(in, work, vec, lane, velo, in->velo_track[track]);
    work->ray[vec][Q][lane] = in->q_over_p[track];
    const uint32_t up = in->upstream_track[track];
    if (up != SLC_HLT1_NONE) {
        for (uint32_t k = 0; k < in->upstream_n[up]; k++) {
            const uint32_t h = in->ut_hit[in->upstream_begin[up] + k], layer = in->ut_layer[h];
            put_hit(work, vec, velo + layer, lane, in->ut_x[h], tables->ut_dxdy[layer], in->ut_z[h], per_ut);
        }
    }
    for (uint32_t k = 0; k < in->long_n[track]; k++) {
        const uint32_t h = in->scifi_hit[in->long_begin[track] + k];
        const uint32_t mat = (in->scifi_channel[h] >> 9) - 512;
        const size_t place = t + (mat >> 7); /* 128 mats a layer */
        put_hit(work, vec, place, lane, in->scifi_x[h], in->mat_dxdy[mat], in->scifi_z[h], per_scifi);
        at(work, vec, place, HIT_LEAN)[lane] = in->mat_dzdy[mat];
    }
}

/* ---- collecting -------------------------------------------------------------------------------- */

static const float nothing = 1e-30f; /* information that is nothing but rounding */
enum { RIGHT = 5 };                  /* column of the right side */

/* Of a row: right of the diagonal, its entries; on it, the weight. Entries on the diagonal are 1. */
static inline float *r(slc_hlt1_fit_work *work, size_t vec, size_t row, size_t column)
{
    return work->triangle + ((row * N + column) * 2 + vec) * SIMD_LANES;
}

static inline f32v entry_of(slc_hlt1_fit_work *work, size_t vec, size_t row, size_t column)
{
    return row == column ? f(1) : get(r(work, vec, row, column));
}

/* A row that is not in the triangle, in registers: vectors of unknown size cannot lie in arrays. */
#define NEW_ROW(name)                                                                                        \
    f32v name##_x = f(0), name##_y = f(0), name##_tx = f(0), name##_ty = f(0), name##_q = f(0);              \
    f32v name##_right = f(0);                                                                                \
    f32v *const name[N] = {&name##_x, &name##_y, &name##_tx, &name##_ty, &name##_q, &name##_right}

/* The part of a rotation that is a column's. */
INLINE void turn(slc_hlt1_fit_work *work, size_t vec, size_t row, size_t k, f32v c, f32v s, f32v a,
                 f32v *const new_row[N])
{
    if (k > row) {
        const f32v u = get(r(work, vec, row, k)), v = *new_row[k];
        f32v_store(r(work, vec, row, k), ADD(MUL(c, u), MUL(s, v)));
        *new_row[k] = SUB(v, MUL(a, u));
    }
}

/* Rotates a new row, whose weight that is, into a row of the triangle, so that it loses its entry in that
 * one's column; returns the weight that is left to it. Where there is none to lose, both stay as they are, to
 * the last bit: a track that waits for longer ones is not changed. */
INLINE f32v absorb(slc_hlt1_fit_work *work, size_t vec, size_t row, f32v weight, f32v *const new_row[N])
{
    const f32v own = get(r(work, vec, row, row)), entry = *new_row[row], part = MUL(weight, entry);
    const f32v more = MUL(weight, MUL(entry, entry)), all = ADD(own, more), per = DIV(f(1), all);
    const mask32 some = f32v_gt(more, f(nothing));
    const f32v a = f32v_select(some, entry, f(0)), s = f32v_select(some, MUL(part, per), f(0));
    const f32v c = f32v_select(some, MUL(own, per), f(1));
    f32v_store(r(work, vec, row, row), f32v_select(some, all, own));
    turn(work, vec, row, Y, c, s, a, new_row);
    turn(work, vec, row, TX, c, s, a, new_row);
    turn(work, vec, row, TY, c, s, a, new_row);
    turn(work, vec, row, Q, c, s, a, new_row);
    turn(work, vec, row, RIGHT, c, s, a, new_row);
    return f32v_select(some, MUL(MUL(weight, own), per), weight);
}

INLINE void absorb_both(slc_hlt1_fit_work *work, size_t vecs, size_t row, f32v *weight_a, f32v *weight_b,
                        f32v *const a[N], f32v *const b[N])
{
    *weight_a = absorb(work, 0, row, *weight_a, a);
    if (vecs > 1) {
        *weight_b = absorb(work, 1, row, *weight_b, b);
    }
}

INLINE void put_row(slc_hlt1_fit_work *work, size_t vec, size_t place, bool is_velo, size_t from,
                    f32v *const row[N])
{
    const f32v w = get(at(work, vec, place, HIT_W));
    *row[from] = w;
    if (!is_velo) {
        *row[Y] = MUL(w, f32v_neg(get(at(work, vec, place, HIT_Y))));
    }
    *row[RIGHT] = get(at(work, vec, place, from == X ? LEFT_X : LEFT_Y));
}

/* Adds measurements of x or, in the VELO, of y: rows that begin with column `from`. What they cannot agree to
 * is chi2. Rotations of both vectors alternate: each is a long chain that waits for itself. */
INLINE void measure(slc_hlt1_fit_work *work, size_t vecs, size_t place, bool is_velo, size_t from)
{
    f32v weight_a = f(1), weight_b = f(1);
    NEW_ROW(a);
    NEW_ROW(b);
    put_row(work, 0, place, is_velo, from, a);
    if (vecs > 1) {
        put_row(work, 1, place, is_velo, from, b);
    }
    if (from == X) {
        absorb_both(work, vecs, X, &weight_a, &weight_b, a, b);
    }
    absorb_both(work, vecs, Y, &weight_a, &weight_b, a, b);
    absorb_both(work, vecs, TX, &weight_a, &weight_b, a, b);
    absorb_both(work, vecs, TY, &weight_a, &weight_b, a, b);
    absorb_both(work, vecs, Q, &weight_a, &weight_b, a, b);
    f32v_store(work->chi2[0], ADD(get(work->chi2[0]), MUL(weight_a, MUL(*a[RIGHT], *a[RIGHT]))));
    if (vecs > 1) {
        f32v_store(work->chi2[1], ADD(get(work->chi2[1]), MUL(weight_b, MUL(*b[RIGHT], *b[RIGHT]))));
    }
}

/* The part of giving up that is a column's. */
INLINE void give(slc_hlt1_fit_work *work, size_t vec, size_t row, size_t k, bool is_first, f32v v, f32v c,
                 f32v s, f32v *const new_row[N])
{
    if (k > row) {
        const f32v u = get(r(work, vec, row, k)), b = *new_row[k];
        if (!is_first) {
            f32v_store(r(work, vec, row, k), SUB(u, MUL(v, b)));
        }
        *new_row[k] = is_first ? MUL(s, u) : ADD(MUL(c, b), MUL(s, u));
    }
}

/* One row of the triangle gives up what it says of a new unknown, `v`, to that one's own row, whose weight is
 * `own`; returns the weight that this has then. The first one to do so finds the unknown's row empty, and
 * what the last one leaves there is not wanted. */
INLINE f32v give_up(slc_hlt1_fit_work *work, size_t vec, size_t row, bool is_first, f32v own, f32v v,
                    f32v *const new_row[N])
{
    const f32v weight = get(r(work, vec, row, row)), part = MUL(weight, v), all = ADD(own, MUL(part, v));
    const f32v per = DIV(f(1), all), c = MUL(own, per), s = MUL(part, per);
    f32v_store(r(work, vec, row, row), MUL(weight, c));
    *new_row[row] = s;
    give(work, vec, row, Y, is_first, v, c, s, new_row);
    give(work, vec, row, TX, is_first, v, c, s, new_row);
    give(work, vec, row, TY, is_first, v, c, s, new_row);
    give(work, vec, row, Q, is_first, v, c, s, new_row);
    give(work, vec, row, RIGHT, is_first, v, c, s, new_row);
    return all;
}

/* What a row of the triangle says of the unknown of scatter(). */
INLINE f32v share_of(slc_hlt1_fit_work *work, size_t vec, size_t place, size_t noise, size_t i, size_t rows,
                     size_t row)
{
    const f32v first = get(at(work, vec, place, noise));
    f32v v = row <= i ? MUL(entry_of(work, vec, row, i), first) : f(0);
    if (rows > i + 1) {
        v = ADD(v, MUL(entry_of(work, vec, row, i + 2), get(at(work, vec, place, noise + 2))));
    }
    return v;
}

INLINE void give_up_both(slc_hlt1_fit_work *work, size_t vecs, size_t row, size_t i, size_t rows,
                         size_t place, size_t noise, f32v *own_a, f32v *own_b, f32v *const a[N],
                         f32v *const b[N])
{
    if (row >= rows) {
        return;
    }
    const bool is_first = row + 1 == rows;
    *own_a = give_up(work, 0, row, is_first, *own_a, share_of(work, 0, place, noise, i, rows, row), a);
    if (vecs > 1) {
        *own_b = give_up(work, 1, row, is_first, *own_b, share_of(work, 1, place, noise, i, rows, row), b);
    }
}

/* One more unknown, a normal number, of which the state has (place, slope) times: those of the place's noise
 * rows. It is rotated into a row of its own, and forgotten. `i` is X or Y, whose slopes are 2 after it; the
 * first `rows` have part. */
INLINE void scatter(slc_hlt1_fit_work *work, size_t vecs, size_t i, size_t rows, size_t place, size_t noise)
{
    NEW_ROW(a);
    NEW_ROW(b);
    f32v own_a = f(1), own_b = f(1);
    give_up_both(work, vecs, TY, i, rows, place, noise, &own_a, &own_b, a, b);
    give_up_both(work, vecs, TX, i, rows, place, noise, &own_a, &own_b, a, b);
    give_up_both(work, vecs, Y, i, rows, place, noise, &own_a, &own_b, a, b);
    give_up_both(work, vecs, X, i, rows, place, noise, &own_a, &own_b, a, b);
}

/* What leads to a place scatters: place and slope together, and what is left of the place alone. */
static inline void forget(slc_hlt1_fit_work *work, size_t vecs, size_t place)
{
    scatter(work, vecs, X, 3, place, NOISE_XA);
    scatter(work, vecs, X, 1, place, NOISE_XR);
    scatter(work, vecs, Y, 4, place, NOISE_YA);
    scatter(work, vecs, Y, 2, place, NOISE_YR);
}

/* Over a step that is nearly straight: the triangle stays one. */
static inline void back_straight(slc_hlt1_fit_work *work, size_t vec, size_t place)
{
    const f32v dz = get(at(work, vec, place, X_TX)), xq = get(at(work, vec, place, X_Q));
    const f32v yq = get(at(work, vec, place, Y_Q)), txq = get(at(work, vec, place, TX_Q));
    const f32v tyq = get(at(work, vec, place, TY_Q));
    for (size_t row = 0; row < 4; row++) {
        f32v by_q = get(r(work, vec, row, Q));
        const f32v ty = entry_of(work, vec, row, TY);
        by_q = ADD(by_q, MUL(ty, tyq));
        if (row <= TX) {
            const f32v tx = entry_of(work, vec, row, TX);
            by_q = ADD(by_q, MUL(tx, txq));
            if (row == X) {
                by_q = ADD(by_q, xq);
                f32v_store(r(work, vec, row, TX), ADD(tx, dz));
            }
        }
        if (row <= Y) {
            const f32v y = entry_of(work, vec, row, Y);
            by_q = ADD(by_q, MUL(y, yq));
            f32v_store(r(work, vec, row, TY), ADD(ty, MUL(y, dz)));
        }
        f32v_store(r(work, vec, row, Q), by_q);
    }
}

/* A row whose entry on the diagonal is `first` gets 1 there; so do entries behind it, and the weight. */
static inline void make_unit(slc_hlt1_fit_work *work, size_t vec, size_t row, f32v first)
{
    const f32v per = DIV(f(1), first);
    f32v_store(r(work, vec, row, row), MUL(get(r(work, vec, row, row)), MUL(first, first)));
    for (size_t k = row + 1; k < N; k++) {
        f32v_store(r(work, vec, row, k), MUL(get(r(work, vec, row, k)), per));
    }
}

/* Over a step that mixes the slopes, by one rotation more: the last slope's row becomes a new one. */
static inline void back_bent(slc_hlt1_fit_work *work, size_t vec, size_t place)
{
#define S(row) get(at(work, vec, place, row))
    const f32v x_tx = S(X_TX), x_ty = S(X_TY), x_q = S(X_Q), y_tx = S(Y_TX), y_ty = S(Y_TY), y_q = S(Y_Q);
    const f32v tx_tx = S(TX_TX), tx_ty = S(TX_TY), tx_q = S(TX_Q), ty_tx = S(TY_TX), ty_ty = S(TY_TY);
    const f32v ty_q = S(TY_Q);
#undef S
    NEW_ROW(bent);
    for (size_t row = 0; row < 4; row++) {
        const f32v x = row <= X ? entry_of(work, vec, row, X) : f(0);
        const f32v y = row <= Y ? entry_of(work, vec, row, Y) : f(0);
        const f32v tx = row <= TX ? entry_of(work, vec, row, TX) : f(0), ty = entry_of(work, vec, row, TY);
        const f32v q = get(r(work, vec, row, Q));
        const f32v to_tx = ADD(ADD(MUL(x, x_tx), MUL(y, y_tx)), ADD(MUL(tx, tx_tx), MUL(ty, ty_tx)));
        const f32v to_ty = ADD(ADD(MUL(x, x_ty), MUL(y, y_ty)), ADD(MUL(tx, tx_ty), MUL(ty, ty_ty)));
        const f32v to_q = ADD(q, ADD(ADD(MUL(x, x_q), MUL(y, y_q)), ADD(MUL(tx, tx_q), MUL(ty, ty_q))));
        if (row == TY) {
            *bent[TX] = to_tx;
            *bent[TY] = to_ty;
            *bent[Q] = to_q;
            *bent[RIGHT] = get(r(work, vec, TY, RIGHT));
            continue;
        }
        if (row != TX) {
            f32v_store(r(work, vec, row, TX), to_tx);
        }
        f32v_store(r(work, vec, row, TY), to_ty);
        f32v_store(r(work, vec, row, Q), to_q);
        if (row == TX) {
            make_unit(work, vec, TX, to_tx);
        }
    }
    f32v_store(r(work, vec, TY, TY), absorb(work, vec, TX, get(r(work, vec, TY, TY)), bent));
    f32v_store(r(work, vec, TY, Q), *bent[Q]);
    f32v_store(r(work, vec, TY, RIGHT), *bent[RIGHT]);
    make_unit(work, vec, TY, *bent[TY]);
}

/* From the last layer to the first hit. */
static void collect(slc_hlt1_fit_work *work, size_t vecs, size_t velo)
{
    const size_t scifi = velo + SLC_UT_LAYERS, end = scifi + SLC_SCIFI_LAYERS;
    for (size_t vec = 0; vec < vecs; vec++) {
        f32v_store(work->chi2[vec], f(0));
        for (size_t i = 0; i < 5; i++) {
            for (size_t k = 0; k < N; k++) {
                f32v_store(r(work, vec, i, k), f(0));
            }
        }
    }
    for (size_t place = end; place-- > 0;) {
        measure(work, vecs, place, place < velo, X);
        if (place < velo) {
            measure(work, vecs, place, true, Y);
        }
        if (place == 0) {
            return;
        }
        forget(work, vecs, place);
        for (size_t vec = 0; vec < vecs; vec++) {
            if (place == velo || place == scifi) {
                back_bent(work, vec, place);
            } else {
                back_straight(work, vec, place);
            }
        }
    }
}

/* The change that the triangle asks for, at the first hit. */
static void change(slc_hlt1_fit_work *work, size_t vec, float sign)
{
    const f32v q = get(r(work, vec, Q, RIGHT));
    const f32v ty = SUB(get(r(work, vec, TY, RIGHT)), MUL(get(r(work, vec, TY, Q)), q));
    const f32v tx = SUB(get(r(work, vec, TX, RIGHT)),
                        ADD(MUL(get(r(work, vec, TX, TY)), ty), MUL(get(r(work, vec, TX, Q)), q)));
    const f32v y = SUB(get(r(work, vec, Y, RIGHT)),
                       ADD(MUL(get(r(work, vec, Y, TX)), tx),
                           ADD(MUL(get(r(work, vec, Y, TY)), ty), MUL(get(r(work, vec, Y, Q)), q))));
    const f32v x = SUB(get(r(work, vec, X, RIGHT)),
                       ADD(ADD(MUL(get(r(work, vec, X, Y)), y), MUL(get(r(work, vec, X, TX)), tx)),
                           ADD(MUL(get(r(work, vec, X, TY)), ty), MUL(get(r(work, vec, X, Q)), q))));
    f32v_store(work->ray[vec][X], ADD(get(work->ray[vec][X]), x));
    f32v_store(work->ray[vec][Y], ADD(get(work->ray[vec][Y]), y));
    f32v_store(work->ray[vec][TX], ADD(get(work->ray[vec][TX]), tx));
    f32v_store(work->ray[vec][TY], ADD(get(work->ray[vec][TY]), ty));
    f32v_store(work->ray[vec][Q], ADD(get(work->ray[vec][Q]), MUL(f(sign), q)));
}

/* ---- results ----------------------------------------------------------------------------------- */

/* The triangle becomes its inverse, column by column: what a column needs of its own is read before it is
 * written. Weights become variances. */
static inline void invert(slc_hlt1_fit_work *work, size_t vec)
{
    for (size_t column = 0; column < 5; column++) {
        for (size_t row = 0; row < column; row++) {
            f32v sum = get(r(work, vec, row, column));
            for (size_t k = row + 1; k < column; k++) {
                sum = ADD(sum, MUL(get(r(work, vec, row, k)), get(r(work, vec, k, column))));
            }
            f32v_store(r(work, vec, row, column), f32v_neg(sum));
        }
        f32v_store(r(work, vec, column, column), DIV(f(1), get(r(work, vec, column, column))));
    }
}

/* The step from the point of closest approach to the beam line to the first hit, where the particle has
 * scattered. */
static inline void meet_beam(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *t, float beam_x,
                             float beam_y, slc_hlt1_fit_work *work, size_t vec)
{
    const f32v x = get(work->ray[vec][X]), y = get(work->ray[vec][Y]), z = get(work->ray[vec][Z]);
    const f32v tx = get(work->ray[vec][TX]), ty = get(work->ray[vec][TY]), q = get(work->ray[vec][Q]);
    const f32v slope2 = ADD(MUL(tx, tx), MUL(ty, ty)), zero = f(0);
    const f32v along = ADD(MUL(tx, SUB(f(beam_x), x)), MUL(ty, SUB(f(beam_y), y)));
    const f32v way = f32v_select(f32v_gt(slope2, zero), DIV(along, slope2), zero), back = f32v_neg(way);
    const f32v slope = MUL(f(config->noise_beam),
                           ADD(f(1e-5f * t->v[0][1]), MUL(f(t->v[0][2]), f32v_abs(q))));
    f32v_store(at(work, vec, 0, NOISE_XA), zero);
    f32v_store(at(work, vec, 0, NOISE_YA), zero);
    f32v_store(at(work, vec, 0, NOISE_YT), slope);
    f32v_store(at(work, vec, 0, NOISE_XT), slope);
    put_straight(work, vec, 0, back, zero, zero, zero, zero);
    f32v_store(work->ray[vec][X], ADD(x, MUL(way, tx)));
    f32v_store(work->ray[vec][Y], ADD(y, MUL(way, ty)));
    f32v_store(work->ray[vec][Z], ADD(z, way));
}

/* The covariance at the beam. */
static inline void put_covariance(slc_hlt1_fit_work *work, size_t vec)
{
    size_t to = 0;
    back_straight(work, vec, 0);
    invert(work, vec);
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b <= a; b++, to++) {
            f32v sum = f(0);
            for (size_t k = a; k < 5; k++) {
                const f32v both = MUL(entry_of(work, vec, a, k), entry_of(work, vec, b, k));
                sum = ADD(sum, MUL(both, get(r(work, vec, k, k))));
            }
            f32v_store(work->covariance[to], sum);
        }
    }
}

static void put_lane(const slc_hlt1_fit_in *in, const slc_hlt1_fit_work *work, size_t vec, size_t lane,
                     size_t track, float sign, const slc_hlt1_fit_out *out)
{
    const size_t row = in->row + track;
    const uint32_t velo = in->velo_track[track], up = in->upstream_track[track];
    const uint32_t n = 2 * in->velo_n[velo] + (up != SLC_HLT1_NONE ? in->upstream_n[up] : 0) +
                       in->long_n[track];
    float *const state[N] = {out->x, out->y, out->tx, out->ty, out->q_over_p, out->z};
    const float chi2 = work->chi2[vec][lane];
    bool sound = isfinite(chi2);
    for (size_t i = 0; i < N; i++) {
        sound = sound && isfinite(work->ray[vec][i][lane]);
    }
    for (size_t i = 0; i < 15; i++) {
        sound = sound && isfinite(work->covariance[i][lane]);
    }
    for (size_t i = 0; i < N; i++) {
        state[i][row] = sound ? work->ray[vec][i][lane] : NAN;
    }
    for (size_t i = 0; i < 15; i++) {
        const float turn = i >= 10 && i < 14 ? sign : 1.0f; /* of q with the others */
        out->covariance[i][row] = sound ? turn * work->covariance[i][lane] : NAN;
    }
    out->chi2[row] = sound ? chi2 : NAN;
    out->n_dof[row] = sound && n > 5 ? n - 5 : 0;
}

static uint32_t velo_hits(const slc_hlt1_fit_in *in, slc_hlt1_fit_track t)
{
    return in[t.event].velo_n[in[t.event].velo_track[t.track]];
}

/* Fits n tracks, in one vector or two; lanes without a track have the last one. */
static void fit_some(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *tables,
                     const slc_hlt1_fly_kernels *fly, const slc_hlt1_fit_in *in, slc_hlt1_fit_work *work,
                     const slc_hlt1_fit_track *tracks, size_t n, const slc_hlt1_fit_out *out)
{
    const size_t vecs = n > SIMD_LANES ? 2 : 1;
    const size_t velo = velo_hits(in, tracks[n - 1]); /* the longest */
    for (size_t vec = 0; vec < vecs; vec++) {
        put_layers(tables, work, vec, velo);
    }
    for (size_t i = 0; i < vecs * SIMD_LANES; i++) {
        const slc_hlt1_fit_track t = tracks[i < n ? i : n - 1];
        put_track(config, tables, &in[t.event], work, i / SIMD_LANES, i % SIMD_LANES, velo, t.track);
    }
    for (uint32_t pass = 0; pass < config->passes; pass++) {
        for (size_t vec = 0; vec < vecs; vec++) {
            fly->fly(config, tables, work, vec, velo);
        }
        collect(work, vecs, velo);
        for (size_t vec = 0; vec < vecs; vec++) {
            change(work, vec, tables->sign);
        }
    }
    for (size_t vec = 0; vec < vecs; vec++) {
        meet_beam(config, tables, in->beam_line_x, in->beam_line_y, work, vec);
    }
    scatter(work, vecs, X, 3, 0, NOISE_XA);
    scatter(work, vecs, Y, 4, 0, NOISE_YA);
    for (size_t vec = 0; vec < vecs; vec++) {
        put_covariance(work, vec);
        for (size_t i = vec * SIMD_LANES; i < n && i < (vec + 1) * SIMD_LANES; i++) {
            put_lane(&in[tracks[i].event], work, vec, i % SIMD_LANES, tracks[i].track, tables->sign, out);
        }
    }
}

/* Puts n tracks in order by how many hits they have in the VELO, so that few wait for longer ones. */
static void put_in_order(const slc_hlt1_fit_in *in, size_t n, slc_hlt1_fit_work *work)
{
    uint32_t begin[SLC_VELO_MAX_TRACK_HITS + 2] = {0};
    for (size_t i = 0; i < n; i++) {
        begin[velo_hits(in, work->next[i]) + 1]++;
    }
    for (size_t k = 0; k <= SLC_VELO_MAX_TRACK_HITS; k++) {
        begin[k + 1] += begin[k];
    }
    for (size_t i = 0; i < n; i++) {
        work->order[begin[velo_hits(in, work->next[i])]++] = work->next[i];
    }
}

static void fit(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *tables,
                const slc_hlt1_fly_kernels *fly, const slc_hlt1_fit_in *in, size_t n_events,
                slc_hlt1_fit_work *work, const slc_hlt1_fit_out *out)
{
    size_t n = 0;
    for (size_t i = 0; i <= SLC_HLT1_FIT_SIZES; i++) {
        work->per_sigma[i] = 1.0f / config->velo_sigma_mm[i];
    }
    for (slc_hlt1_fit_track t = {0, 0}; t.event < n_events;) {
        if (t.track < in[t.event].n_tracks) {
            work->next[n++] = t;
            t.track++;
        } else {
            t = (slc_hlt1_fit_track){t.event + 1, 0};
        }
        if (n == SLC_HLT1_FIT_TRACKS || t.event == n_events) {
            put_in_order(in, n, work);
            for (size_t i = 0; i < n; i += 2 * SIMD_LANES) {
                const size_t left = n - i, some = left < 2 * SIMD_LANES ? left : 2 * SIMD_LANES;
                fit_some(config, tables, fly, in, work, work->order + i, some, out);
            }
            n = 0;
        }
    }
}

const slc_hlt1_fit_kernels SIMD_TABLE(slc_hlt1_fit) = {.target = SIMD_TARGET_NAME, .fit = fit};
