/* SPDX-License-Identifier: Apache-2.0
 *
 * Flies the trajectories of a vector of tracks through VELO, UT, magnet and SciFi, and notes at every place
 * what the fit (hlt1_fit.simd.c) needs: the derivatives of the step that leads there, its noise, and what the
 * trajectory leaves of the hit. The formulas are those of hlt1_transport.c, where they stand one by one. Left
 * out are derivatives by x and y, and in layers those of a slope by the other one: what they multiply is as
 * small as the hits' errors, and what they are about 1e-4.
 */
#include "hlt1/hlt1_fit_lanes.h"

/* ---- flying ------------------------------------------------------------------------------------ */

/* Noise of a step: errors of place and slope with their correlation, in x or y (from NOISE_XA or _YA on). */
static inline void put_noise(slc_hlt1_fit_work *work, size_t vec, size_t place, size_t row, f32v sigma,
                             f32v slope, float correlation)
{
    f32v_store(at(work, vec, place, row), MUL(f(correlation), sigma));
    f32v_store(at(work, vec, place, row + 1), MUL(f(sqrtf(1 - correlation * correlation)), sigma));
    f32v_store(at(work, vec, place, row + 2), slope);
}

static inline void put_left(slc_hlt1_fit_work *work, size_t vec, size_t place, bool is_velo, f32v x, f32v y)
{
    const f32v w = get(at(work, vec, place, HIT_W)), second = get(at(work, vec, place, HIT_Y));
    const f32v hit = get(at(work, vec, place, HIT_X));
    const f32v there = is_velo ? hit : ADD(hit, MUL(second, y));
    f32v_store(at(work, vec, place, LEFT_X), MUL(w, SUB(there, x)));
    f32v_store(at(work, vec, place, LEFT_Y), is_velo ? MUL(w, SUB(second, y)) : f(0));
}

/* From the beam's state to the first hit, and through the VELO. */
static inline void fly_velo(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *t,
                            slc_hlt1_fit_work *work, size_t vec, size_t velo, f32v *x, f32v *y, f32v *z,
                            f32v *tx, f32v *ty, f32v q)
{
    const float *p = t->v[0];
    const f32v strength = f(p[4] * 1e-5f), from = f(1e3f * p[5]), size = f32v_abs(q);
    const f32v slope = MUL(f(config->noise_velo), ADD(f(1e-5f * p[1]), MUL(f(p[2]), size)));
    const f32v place_size = MUL(f(p[6]), slope);
    for (size_t k = 0; k < velo; k++) {
        const f32v to = get(at(work, vec, k, HIT_Z)), dz = SUB(to, *z);
        const f32v bend = MUL(MUL(strength, dz), ADD(*z, from)), half = MUL(f(0.5f), dz);
        const f32v still = f32v_select(f32v_gt(dz, f(0)), f(1),
                                       f(0)); /* a track that waits is not scattered */
        put_straight(work, vec, k, dz, MUL(half, bend), f(0), bend, f(0));
        put_noise(work, vec, k, NOISE_XA, MUL(place_size, dz), MUL(still, slope), p[7]);
        put_noise(work, vec, k, NOISE_YA, MUL(place_size, dz), MUL(still, slope), p[7]);
        *x = ADD(*x, MUL(dz, ADD(*tx, MUL(f(0.5f), MUL(q, bend)))));
        *tx = ADD(*tx, MUL(q, bend));
        *y = ADD(*y, MUL(dz, *ty));
        *z = to;
        if (k == 0) {
            f32v_store(work->ray[vec][X], *x);
            f32v_store(work->ray[vec][Y], *y);
            f32v_store(work->ray[vec][TX], *tx);
            f32v_store(work->ray[vec][TY], *ty);
            f32v_store(work->ray[vec][Z], *z);
        }
        put_left(work, vec, k, true, *x, *y);
    }
}

/* The kink between VELO and UT. */
static inline void fly_to_ut(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *t,
                             slc_hlt1_fit_work *work, size_t vec, size_t place, f32v *x, f32v *y, f32v *z,
                             f32v *tx, f32v *ty, f32v q)
{
    const float *p = t->v_ut;
    const f32v one = f(1), old_tx = *tx, old_ty = *ty, to = get(at(work, vec, place, HIT_Z));
    const f32v dz = SUB(to, *z), ty2 = MUL(old_ty, old_ty), side = f32v_copysign(f(p[0]), *y);
    const f32v side_p = p[0] < 0 ? f32v_neg(side) : side;
    const f32v strength = ADD(ADD(f(10 * p[8]), MUL(f(0.01f * p[9]), *z)), MUL(f(100 * p[10]), ty2));
    const f32v plane = ADD(ADD(f(1e3f * p[16]), MUL(*z, ADD(f(p[17]), MUL(f(1e-5f * p[18]), *z)))),
                           MUL(f(1e3f * p[19]), ty2));
    const f32v length2 = ADD(one, ADD(MUL(old_tx, old_tx), ty2)), length = f32v_sqrt(length2);
    const f32v sine = SUB(DIV(old_tx, length), MUL(q, strength));
    const f32v new_ty = ADD(old_ty, MUL(MUL(side_p, q), old_tx));
    const f32v cosine2 = SUB(one, MUL(sine, sine));
    const f32v rest = f32v_sqrt(DIV(ADD(one, MUL(new_ty, new_ty)), cosine2)), new_tx = MUL(sine, rest);
    const f32v by_sine = DIV(rest, cosine2), by_ty = DIV(MUL(sine, new_ty), MUL(cosine2, rest));
    const f32v cube = MUL(length, length2), ty_tx = MUL(side_p, q), ty_q = MUL(side_p, old_tx);
    const f32v tx_tx = ADD(DIV(MUL(by_sine, ADD(one, ty2)), cube), MUL(by_ty, ty_tx));
    const f32v tx_ty = ADD(
        MUL(by_sine, SUB(DIV(MUL(f32v_neg(old_tx), old_ty), cube), MUL(MUL(q, f(200 * p[10])), old_ty))),
        by_ty);
    const f32v tx_q = SUB(MUL(by_ty, ty_q), MUL(strength, by_sine));
    const f32v before = SUB(plane, *z), behind = SUB(to, plane), late = MUL(f(1 - p[5]), dz),
               size = f32v_abs(q);
    f32v_store(at(work, vec, place, X_TX), ADD(before, MUL(behind, tx_tx)));
    f32v_store(at(work, vec, place, X_TY),
               ADD(MUL(behind, tx_ty), MUL(SUB(old_tx, new_tx), MUL(f(2e3f * p[19]), old_ty))));
    f32v_store(at(work, vec, place, X_Q), MUL(behind, tx_q));
    f32v_store(at(work, vec, place, Y_TX), MUL(late, ty_tx));
    f32v_store(at(work, vec, place, Y_TY), dz);
    f32v_store(at(work, vec, place, Y_Q), MUL(late, ty_q));
    f32v_store(at(work, vec, place, TX_TX), tx_tx);
    f32v_store(at(work, vec, place, TX_TY), tx_ty);
    f32v_store(at(work, vec, place, TX_Q), tx_q);
    f32v_store(at(work, vec, place, TY_TX), ty_tx);
    f32v_store(at(work, vec, place, TY_TY), one);
    f32v_store(at(work, vec, place, TY_Q), ty_q);
    const f32v scatter = MUL(f(config->noise_velo_ut), size);
    put_noise(work, vec, place, NOISE_XA, MUL(MUL(f(p[20]), dz), scatter), MUL(f(p[15]), scatter), p[4]);
    put_noise(work, vec, place, NOISE_YA, MUL(MUL(f(p[6]), dz), scatter), MUL(f(p[3]), scatter), p[21]);
    *x = ADD(*x, ADD(MUL(before, old_tx), MUL(behind, new_tx)));
    *y = ADD(*y, MUL(dz, ADD(MUL(f(p[5]), old_ty), MUL(f(1 - p[5]), new_ty))));
    *tx = new_tx;
    *ty = new_ty;
    *z = to;
    put_left(work, vec, place, false, *x, *y);
}

/* From layer to layer of UT or SciFi. `upper` and `lower` are the sets of numbers for y >= 0 and y < 0. */
static inline void fly_layer(const float *upper, const float *lower, float noise, bool in_ut,
                             slc_hlt1_fit_work *work, size_t vec, size_t place, f32v *x, f32v *y, f32v *z,
                             f32v *tx, f32v *ty, f32v q)
{
    const mask32 is_low = f32v_lt(*y, f(0));
#define P(i) f32v_select(is_low, f(lower[i]), f(upper[i]))
    const f32v one = f(1), z0 = get(at(work, vec, place, HIT_Z)), lean = get(at(work, vec, place, HIT_LEAN));
    const f32v to = in_ut ? z0 : DIV(ADD(z0, MUL(lean, SUB(*y, MUL(*z, *ty)))), SUB(one, MUL(lean, *ty)));
    const f32v dz = SUB(to, *z), old_tx = *tx, size = f32v_abs(q), q2 = MUL(q, q);
    const f32v cubic = MUL(f(1e3f), MUL(P(6), q2));
    const f32v bend = ADD(ADD(MUL(f(0.1f), P(5)), cubic), MUL(MUL(f(1e-7f), P(7)), MUL(*y, *y)));
    const f32v new_tx = ADD(old_tx, MUL(dz, MUL(q, bend)));
    const f32v side = in_ut ? f32v_copysign(one, *y) : *y;
    const f32v by_q = MUL(P(10), in_ut ? MUL(side, new_tx) : MUL(q, side)), turn = MUL(q, by_q);
    const f32v early_x = P(0), late_x = SUB(one, early_x), late_y = SUB(one, P(3));
    const f32v tx_q = MUL(dz, ADD(bend, ADD(cubic, cubic)));
    const f32v ty_q = in_ut ? ADD(by_q, MUL(MUL(MUL(P(10), side), q), tx_q)) : ADD(by_q, by_q);
    put_straight(work, vec, place, dz, MUL(MUL(dz, late_x), tx_q), MUL(MUL(dz, late_y), ty_q), tx_q, ty_q);
    const f32v scatter = MUL(f(noise), size), over = MUL(f32v_abs(dz), scatter);
    /* correlations of both halves are nearly the same: the upper one's is taken */
    put_noise(work, vec, place, NOISE_XA, MUL(P(2), over), MUL(P(12), scatter), upper[14]);
    put_noise(work, vec, place, NOISE_YA, MUL(P(4), over), MUL(P(15), scatter), upper[17]);
    *x = ADD(*x, MUL(dz, ADD(MUL(early_x, old_tx), MUL(late_x, new_tx))));
    *y = ADD(*y, MUL(dz, ADD(*ty, MUL(late_y, turn))));
    *tx = new_tx;
    *ty = ADD(*ty, turn);
    *z = to;
    put_left(work, vec, place, false, *x, *y);
#undef P
}

/* Where x00, tx00, x10 … are in a cell. */
enum {
    X00 = 0,
    TX00 = 9,
    X10 = 18,
    X01 = 25,
    TX10 = 32,
    TX01 = 39,
    Y00 = 46,
    TY00 = 53,
    Y10 = 60,
    Y01 = 65,
    TY10 = 70,
    TY01 = 75
};

/* The cell of a coordinate over `n` of them, neither first nor last, and how far off its middle. */
static inline u32v cell_of(f32v coordinate, uint32_t n, f32v *off)
{
    const f32v where = f32v_min(f32v_max(coordinate, f(0)), f((float)n));
    const u32v whole = u32v_from_i32(i32v_truncate(where));
    const u32v cell = u32v_min(u32v_max(whole, u32v_set(1)), u32v_set(n - 2));
    *off = SUB(SUB(where, f32v_from_u32(cell)), f(0.5f));
    return cell;
}

/* Puts the coefficients at x and y into work->cell, lane by lane: between a cell, its four neighbours and one
 * at a corner. */
static inline void interpolate(const slc_hlt1_fit_tables *t, slc_hlt1_fit_work *work, f32v x, f32v y)
{
    float weight[6][SLC_HLT1_FIT_LANES];
    uint32_t middle[SLC_HLT1_FIT_LANES], corner[SLC_HLT1_FIT_LANES];
    f32v g, h;
    const f32v zero = f(0), one = f(1), half = f(0.5f);
    const u32v row = u32v_set(SLC_HLT1_CELL), column = u32v_set(SLC_HLT1_CELLS_Y * SLC_HLT1_CELL);
    const u32v ix = cell_of(ADD(MUL(x, f(t->per_x)), f(0.5f * SLC_HLT1_CELLS_X)), SLC_HLT1_CELLS_X, &g);
    const u32v iy = cell_of(ADD(MUL(y, f(t->per_y)), f(0.5f * SLC_HLT1_CELLS_Y)), SLC_HLT1_CELLS_Y, &h);
    const mask32 right = f32v_ge(g, zero), up = f32v_ge(h, zero);
    const f32v gg = MUL(g, g), hh = MUL(h, h), gh = MUL(g, h), minus = f32v_neg(gh);
    const f32v by_y = f32v_select(up, gh, minus), by_x = f32v_select(right, gh, minus); /* · sy, · sx */
    const f32v both = f32v_select(mask32_xor(right, up), minus, gh);
    f32v_store(weight[0], ADD(SUB(one, ADD(gg, hh)), both));
    f32v_store(weight[1], SUB(MUL(half, ADD(gg, g)), f32v_select(right, by_y, zero)));
    f32v_store(weight[2], ADD(MUL(half, SUB(gg, g)), f32v_select(right, zero, by_y)));
    f32v_store(weight[3], SUB(MUL(half, ADD(hh, h)), f32v_select(up, by_x, zero)));
    f32v_store(weight[4], ADD(MUL(half, SUB(hh, h)), f32v_select(up, zero, by_x)));
    f32v_store(weight[5], both);
    const u32v base = u32v_add(u32v_mul(ix, column), u32v_mul(iy, row));
    const u32v sideways = u32v_select(right, u32v_add(base, column), u32v_sub(base, column));
    u32v_store(middle, base);
    u32v_store(corner, u32v_select(up, u32v_add(sideways, row), u32v_sub(sideways, row)));
    for (size_t lane = 0; lane < SIMD_LANES; lane++) {
        const float *const c = t->cells + middle[lane], *const k = t->cells + corner[lane];
        const f32v w0 = f(weight[0][lane]), w1 = f(weight[1][lane]), w2 = f(weight[2][lane]);
        const f32v w3 = f(weight[3][lane]), w4 = f(weight[4][lane]), w5 = f(weight[5][lane]);
        float *const to = work->cell + lane * SLC_HLT1_FIT_CELL;
        enum { COLUMN = SLC_HLT1_CELLS_Y * SLC_HLT1_CELL };
        for (size_t i = 0; i < SLC_HLT1_CELL; i += SIMD_LANES) {
            const f32v a = ADD(MUL(w0, get(c + i)), MUL(w5, get(k + i)));
            const f32v b = ADD(MUL(w1, get(c + i + COLUMN)), MUL(w2, get(c + i - COLUMN)));
            const f32v d = ADD(MUL(w3, get(c + i + SLC_HLT1_CELL)), MUL(w4, get(c + i - SLC_HLT1_CELL)));
            f32v_store(to + i, ADD(a, ADD(b, d)));
        }
    }
}

/* Σ (c00 + c10 ux + c01 uy) f^d over `low` degrees and Σ c00 f^d over the rest, by Horner's rule, with the
 * derivatives by f, ux and uy. */
static inline f32v series(const slc_hlt1_fit_work *work, size_t c00, size_t c10, size_t c01, size_t low,
                          size_t high, f32v force, f32v ux, f32v uy, f32v *by_f, f32v *by_ux, f32v *by_uy)
{
    const u32v lane = u32v_mul(u32v_iota(0), u32v_set(SLC_HLT1_FIT_CELL));
    f32v value = f(0), slope = f(0), by_x = f(0), by_y = f(0);
    for (size_t d = high; d-- > 0;) {
        f32v term = f32v_gather(work->cell + c00 + d, lane);
        if (d < low) {
            const f32v a = f32v_gather(work->cell + c10 + d, lane),
                       b = f32v_gather(work->cell + c01 + d, lane);
            term = ADD(term, ADD(MUL(a, ux), MUL(b, uy)));
            by_x = ADD(MUL(by_x, force), a);
            by_y = ADD(MUL(by_y, force), b);
        }
        slope = ADD(MUL(slope, force), value);
        value = ADD(MUL(value, force), term);
    }
    *by_f = ADD(MUL(slope, force), value);
    *by_ux = MUL(by_x, force);
    *by_uy = MUL(by_y, force);
    return MUL(value, force);
}

#define S(row)      get(at(work, vec, place, row))
#define PUT(row, v) f32v_store(at(work, vec, place, row), v)

/* To the begin of the table; `first` is the way, `bend` what q is multiplied by there. */
static inline void fly_about_ut(const slc_hlt1_fit_tables *t, f32v *x, f32v *y, f32v z, f32v *tx, f32v ty,
                                f32v q, f32v *first, f32v *bend)
{
    *first = SUB(f(t->z_begin), z);
    *bend = MUL(f(t->ut_fixed), *first);
    *x = ADD(*x, MUL(*first, ADD(*tx, MUL(f(0.5f), MUL(q, *bend)))));
    *y = ADD(*y, MUL(*first, ty));
    *tx = ADD(*tx, MUL(q, *bend));
}

/* Through the magnet by the table; its derivatives are left in the place's rows. */
static inline void fly_table(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *t,
                             slc_hlt1_fit_work *work, size_t vec, size_t place, f32v *x, f32v *y, f32v *tx,
                             f32v *ty, f32v q)
{
    const float *p = t->ut_t;
    const f32v one = f(1), milli = f(1e-3f), way = f(t->z_end - t->z_begin), scale = f(1 + 1e-4f * p[18]);
    const f32v loss = MUL(f(p[19] + config->energy_loss_mev), f32v_abs(q));
    const f32v here = MUL(q, ADD(scale, loss)), force = MUL(here, f(t->p_min));
    const f32v per_z = f(1.0f / t->z_begin), ax = MUL(*x, per_z), ay = MUL(*y, per_z),
               per = f(1.0f / t->step);
    const f32v bend_x = ADD(f(t->bend_x),
                            ADD(MUL(f(t->bend_xx), MUL(ax, ax)), MUL(f(t->bend_yy), MUL(ay, ay))));
    const f32v bend_y = MUL(f(t->bend_xy), MUL(ax, ay));
    const f32v ux = MUL(SUB(SUB(*tx, ax), MUL(bend_x, here)), per);
    const f32v uy = MUL(SUB(SUB(*ty, ay), MUL(bend_y, here)), per);
    interpolate(t, work, *x, *y);
    f32v x_f, x_ux, x_uy, y_f, y_ux, y_uy, tx_f, tx_ux, tx_uy, ty_f, ty_ux, ty_uy;
    const f32v add_x = series(work, X00, X10, X01, 7, 9, force, ux, uy, &x_f, &x_ux, &x_uy);
    const f32v add_tx = series(work, TX00, TX10, TX01, 7, 9, force, ux, uy, &tx_f, &tx_ux, &tx_uy);
    const f32v add_y = series(work, Y00, Y10, Y01, 5, 7, force, ux, uy, &y_f, &y_ux, &y_uy);
    const f32v add_ty = series(work, TY00, TY10, TY01, 5, 7, force, ux, uy, &ty_f, &ty_ux, &ty_uy);
    const f32v cx = ADD(f(1e2f * p[9]), MUL(q, ADD(f(1e5f * p[10]), MUL(f(1e10f * p[11]), q))));
    const f32v ctx = ADD(f(p[6]), MUL(q, ADD(f(1e5f * p[7]), MUL(f(1e8f * p[8]), q))));
    *x = ADD(*x, ADD(MUL(way, *tx), ADD(add_x, MUL(q, cx))));
    *y = ADD(*y, ADD(MUL(way, *ty), ADD(add_y, MUL(q, f(1e2f * p[3])))));
    *tx = ADD(*tx, ADD(MUL(milli, add_tx), MUL(q, ctx)));
    *ty = ADD(*ty, ADD(MUL(milli, add_ty), MUL(q, f(p[0]))));
    const f32v by_here = ADD(scale, ADD(loss, loss)), by_q = MUL(by_here, f(t->p_min)), q2 = MUL(q, q);
    const f32v ux_q = MUL(MUL(bend_x, by_here), per), uy_q = MUL(MUL(bend_y, by_here), per);
    const f32v cubic_x = ADD(MUL(f(2e5f * p[10]), q), MUL(f(3e10f * p[11]), q2));
    const f32v cubic_t = ADD(MUL(f(2e5f * p[7]), q), MUL(f(3e8f * p[8]), q2));
#define BY_Q(of_f, of_ux, of_uy) SUB(MUL(of_f, by_q), ADD(MUL(of_ux, ux_q), MUL(of_uy, uy_q)))
    PUT(X_TX, ADD(way, MUL(x_ux, per)));
    PUT(X_TY, MUL(x_uy, per));
    PUT(X_Q, ADD(BY_Q(x_f, x_ux, x_uy), ADD(f(1e2f * p[9]), cubic_x)));
    PUT(Y_TX, MUL(y_ux, per));
    PUT(Y_TY, ADD(way, MUL(y_uy, per)));
    PUT(Y_Q, ADD(BY_Q(y_f, y_ux, y_uy), f(1e2f * p[3])));
    PUT(TX_TX, ADD(one, MUL(milli, MUL(tx_ux, per))));
    PUT(TX_TY, MUL(milli, MUL(tx_uy, per)));
    PUT(TX_Q, ADD(MUL(milli, BY_Q(tx_f, tx_ux, tx_uy)), ADD(f(p[6]), cubic_t)));
    PUT(TY_TX, MUL(milli, MUL(ty_ux, per)));
    PUT(TY_TY, ADD(one, MUL(milli, MUL(ty_uy, per))));
    PUT(TY_Q, ADD(MUL(milli, BY_Q(ty_f, ty_ux, ty_uy)), f(p[0])));
#undef BY_Q
}

/* From the table's end to the plane of the first layer; the place's rows become those of the whole way from
 * the last layer of the UT. */
static inline void fly_about_t(const slc_hlt1_fit_tables *t, slc_hlt1_fit_work *work, size_t vec,
                               size_t place, f32v first, f32v start, f32v *x, f32v *y, f32v *z, f32v *tx,
                               f32v *ty, f32v q)
{
    const f32v one = f(1), half = f(0.5f), z0 = S(HIT_Z), lean = S(HIT_LEAN), end = f(t->z_end);
    *z = DIV(ADD(z0, MUL(lean, SUB(*y, MUL(end, *ty)))), SUB(one, MUL(lean, *ty)));
    const f32v last = SUB(*z, end), qz = MUL(q, last);
    const mask32 down = f32v_gt(last, f(0));
#define P(i) f32v_select(down, f(t->t_fixed[0][i]), f(t->t_fixed[1][i]))
    const f32v cubic = MUL(f(1e4f), MUL(P(6), MUL(qz, qz))), late = SUB(one, P(8));
    const f32v bend = MUL(qz, ADD(P(5), cubic)), turn = MUL(P(0), MUL(qz, qz));
    const f32v bend_q = MUL(last, ADD(P(5), MUL(f(3), cubic))), turn_q = MUL(f(2), MUL(P(0), MUL(qz, last)));
#undef P
    const f32v x_tx = S(X_TX), y_tx = S(Y_TX), tx_tx = S(TX_TX), ty_tx = S(TY_TX), tx_ty = S(TX_TY),
               ty_ty = S(TY_TY);
    const f32v x_q = ADD(ADD(S(X_Q), MUL(half, MUL(first, start))), MUL(x_tx, start));
    const f32v y_q = ADD(S(Y_Q), MUL(y_tx, start));
    const f32v tx_q = ADD(S(TX_Q), MUL(tx_tx, start)), ty_q = ADD(S(TY_Q), MUL(ty_tx, start));
    PUT(X_TX, ADD(ADD(first, x_tx), MUL(last, tx_tx)));
    PUT(X_TY, ADD(S(X_TY), MUL(last, tx_ty)));
    PUT(X_Q, ADD(x_q, MUL(last, ADD(tx_q, MUL(late, bend_q)))));
    PUT(Y_TX, ADD(y_tx, MUL(last, ty_tx)));
    PUT(Y_TY, ADD(ADD(first, S(Y_TY)), MUL(last, ty_ty)));
    PUT(Y_Q, ADD(y_q, MUL(last, ADD(ty_q, MUL(half, turn_q)))));
    PUT(TX_Q, ADD(tx_q, bend_q));
    PUT(TY_Q, ADD(ty_q, turn_q));
    *x = ADD(*x, MUL(last, ADD(*tx, MUL(late, bend))));
    *y = ADD(*y, MUL(last, ADD(*ty, MUL(half, turn))));
    *tx = ADD(*tx, bend);
    *ty = ADD(*ty, turn);
}

static inline void fly_magnet(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *t,
                              slc_hlt1_fit_work *work, size_t vec, size_t place, f32v *x, f32v *y, f32v *z,
                              f32v *tx, f32v *ty, f32v q)
{
    const float *p = t->ut_t;
    const f32v scatter = MUL(f(config->noise_magnet), f32v_abs(q));
    f32v first, start;
    fly_about_ut(t, x, y, *z, tx, *ty, q, &first, &start);
    fly_table(config, t, work, vec, place, x, y, tx, ty, q);
    fly_about_t(t, work, vec, place, first, start, x, y, z, tx, ty, q);
    put_noise(work, vec, place, NOISE_XA, MUL(f(1e2f * p[13]), scatter), MUL(f(p[12]), scatter), p[14]);
    put_noise(work, vec, place, NOISE_YA, MUL(f(1e2f * p[16]), scatter), MUL(f(p[15]), scatter), p[17]);
    put_left(work, vec, place, false, *x, *y);
}

/* The whole way, from work->ray; that is left at the first hit. */
static void fly(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *t, slc_hlt1_fit_work *work,
                size_t vec, size_t velo)
{
    f32v x = get(work->ray[vec][X]), y = get(work->ray[vec][Y]), z = get(work->ray[vec][Z]);
    f32v tx = get(work->ray[vec][TX]), ty = get(work->ray[vec][TY]);
    const f32v q = MUL(f(t->sign), get(work->ray[vec][Q]));
    fly_velo(config, t, work, vec, velo, &x, &y, &z, &tx, &ty, q);
    fly_to_ut(config, t, work, vec, velo, &x, &y, &z, &tx, &ty, q);
    for (size_t layer = 1; layer < SLC_UT_LAYERS; layer++) {
        fly_layer(t->ut[layer - 1], t->ut[layer - 1], config->noise_ut, true, work, vec, velo + layer, &x, &y,
                  &z, &tx, &ty, q);
    }
    const size_t scifi = velo + SLC_UT_LAYERS;
    fly_magnet(config, t, work, vec, scifi, &x, &y, &z, &tx, &ty, q);
    for (size_t layer = 1; layer < SLC_SCIFI_LAYERS; layer++) {
        fly_layer(t->t[2 * layer - 2], t->t[2 * layer - 1], config->noise_scifi, false, work, vec,
                  scifi + layer, &x, &y, &z, &tx, &ty, q);
    }
}

const slc_hlt1_fly_kernels SIMD_TABLE(slc_hlt1_fly) = {.target = SIMD_TARGET_NAME, .fly = fly};
