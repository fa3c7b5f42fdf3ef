/* SPDX-License-Identifier: Apache-2.0
 *
 * The Kalman filter with one track a lane, after section 5.4.4 of the thesis of A. Hennequin (2022).
 *
 * The tracks of a block are put in the order of their lengths, so that the lanes of a vector end together.
 * Their hits are copied once into rows: row j has the j-th hit of every track in the order of the filter
 * towards the beam line, so that all passes are loads of whole vectors. The copy is the only place where
 * hits are looked up by their index. A pass goes over the rows of two vectors at a time: from hit to hit
 * there is a long chain of operations with a division in it, and two of them run side by side in the time of
 * one.
 *
 * x and y of a hit are measured with the same error and start with the same variance: their covariances stay
 * equal to the last bit, and are computed once. No operation mixes lanes, and in a lane it is the scalar
 * filter's operations in their order: the same bits on every target.
 */
#include "simd/simd.h"
#include "velo/velo_fit_work.h"

enum { X, Y, Z, V };

/* Transports the covariance over dz, adds a hit, and gives the weight of its residual and the gains. In the
 * textbook's form, terms of dz² · ss² cancel that are 10^7 times larger than what is left, too much for
 * single precision. Taken out by hand (thesis, 5.4.4), with V the hit's variance and R = V + predicted pp:
 * ss' = (ss (V + pp) - ps²) / R,  ps' = V · gain_s,  pp' = V · gain_p   (pp, ps, ss before the transport) */
static inline void gains(f32v variance, f32v dz, f32v *pp, f32v *ps, f32v *ss, f32v *weight, f32v *gain_p,
                         f32v *gain_s)
{
    const f32v numerator = f32v_sub(f32v_mul(*ss, f32v_add(variance, *pp)), f32v_mul(*ps, *ps));
    const f32v turn = f32v_mul(dz, *ss);
    const f32v far_pp = f32v_add(*pp, f32v_mul(dz, f32v_add(f32v_add(*ps, *ps), turn)));
    const f32v far_ps = f32v_add(*ps, turn);
    *weight = f32v_div(f32v_set(1.0f), f32v_add(variance, far_pp));
    *gain_p = f32v_mul(far_pp, *weight);
    *gain_s = f32v_mul(far_ps, *weight);
    *ss = f32v_mul(numerator, *weight);
    *ps = f32v_mul(variance, *gain_s);
    *pp = f32v_mul(variance, *gain_p);
}

/* Transports one projection over dz and adds the hit; returns the residual before. */
static inline f32v add_hit(f32v dz, f32v measured, f32v gain_p, f32v gain_s, f32v *position, f32v *slope)
{
    const f32v predicted = f32v_add(*position, f32v_mul(dz, *slope));
    const f32v residual = f32v_sub(measured, predicted);
    *position = f32v_add(predicted, f32v_mul(gain_p, residual));
    *slope = f32v_add(*slope, f32v_mul(gain_s, residual));
    return residual;
}

static inline f32v chi2_of(f32v residual, f32v weight)
{
    return f32v_mul(f32v_mul(residual, residual), weight);
}

/* z of the point of closest approach to the beam line; the state's own z for a track parallel to it. */
static inline f32v closest_z(const slc_velo_fit_config *config, f32v x, f32v y, f32v z, f32v tx, f32v ty)
{
    const f32v slope2 = f32v_add(f32v_mul(tx, tx), f32v_mul(ty, ty));
    const f32v along = f32v_add(f32v_mul(tx, f32v_sub(f32v_set(config->beam_x_mm), x)),
                                f32v_mul(ty, f32v_sub(f32v_set(config->beam_y_mm), y)));
    return f32v_select(f32v_gt(slope2, f32v_set(0)), f32v_add(z, f32v_div(along, slope2)), z);
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Puts the tracks of a block into the order of their numbers of hits, long ones first, those of equal length
 * in their own order. The rest of the places is filled with the last track. */
static void sort_by_length(const uint32_t *n_hits, size_t size, size_t places, slc_velo_fit_work *work)
{
    uint32_t next[SLC_VELO_MAX_TRACK_HITS + 1] = {0};
    for (size_t i = 0; i < size; i++) {
        next[n_hits[i]]++;
    }
    uint32_t before = 0;
    for (size_t n = SLC_VELO_MAX_TRACK_HITS; n >= 2; n--) {
        const uint32_t count = next[n];
        next[n] = before;
        before += count;
    }
    for (size_t i = 0; i < size; i++) {
        const uint32_t at = next[n_hits[i]]++;
        work->order[at] = (uint32_t)i;
        work->place[i] = at;
    }
    const uint32_t last = work->order[size - 1];
    for (size_t i = size; i < places; i++) {
        work->order[i] = last;
    }
}

/* Does the chord from the first hit to the last one point to the beam line on the side of the first? Then the
 * point of closest approach lies downstream of the hits. */
static inline mask32 flies_backward(const slc_velo_fit_config *config, f32v x, f32v y, f32v dx, f32v dy,
                                    f32v dz)
{
    const f32v zero = f32v_set(0);
    const f32v along = f32v_add(f32v_mul(dx, f32v_sub(f32v_set(config->beam_x_mm), x)),
                                f32v_mul(dy, f32v_sub(f32v_set(config->beam_y_mm), y)));
    return mask32_or(mask32_and(f32v_gt(along, zero), f32v_gt(dz, zero)),
                     mask32_and(f32v_lt(along, zero), f32v_lt(dz, zero)));
}

/* The chords of the vector at place g: the filter's first slopes, and what a layer scatters. */
static inline void prepare(const slc_velo_fit_config *config, size_t g, f32v dx, f32v dy, f32v dz,
                           slc_velo_fit_work *work)
{
    const f32v zero = f32v_set(0);
    const mask32 slanted = f32v_ne(dz, zero);
    const f32v tx = f32v_select(slanted, f32v_div(dx, dz), zero);
    const f32v ty = f32v_select(slanted, f32v_div(dy, dz), zero);
    const f32v slope2 = f32v_add(f32v_mul(tx, tx), f32v_mul(ty, ty));
    f32v_store(work->tx + g, tx);
    f32v_store(work->ty + g, ty);
    const f32v constant = f32v_set(config->noise_constant);
    f32v_store(work->noise + g, f32v_add(constant, f32v_mul(f32v_set(config->noise_slope), slope2)));
    f32v_store(work->second + g, f32v_add(constant, f32v_mul(f32v_set(config->second_noise_slope), slope2)));
}

/* Notes what is to be known of the tracks in the vector at place g. */
static inline void open_tracks(const slc_velo_fit_config *config, const slc_velo_fit_in *in, size_t block,
                               size_t g, slc_velo_fit_work *work)
{
    const u32v one = u32v_set(1), track = u32v_load(work->order + g);
    const u32v n = u32v_gather(in->n_hits + block, track), top = u32v_gather(in->hit_begin + block, track);
    const u32v bottom = u32v_sub(u32v_add(top, n), one);
    const u32v a = u32v_gather(in->hit, top), b = u32v_gather(in->hit, bottom);
    const f32v xa = f32v_gather(in->x, a), ya = f32v_gather(in->y, a), za = f32v_gather(in->z, a);
    const f32v xb = f32v_gather(in->x, b), yb = f32v_gather(in->y, b), zb = f32v_gather(in->z, b);
    const f32v dx = f32v_sub(xb, xa), dy = f32v_sub(yb, ya), dz = f32v_sub(zb, za);
    const mask32 back = flies_backward(config, xa, ya, dx, dy, dz);
    prepare(config, g, f32v_select(back, f32v_sub(xa, xb), dx), f32v_select(back, f32v_sub(ya, yb), dy),
            f32v_select(back, f32v_sub(za, zb), dz), work);
    u32v_store(work->n_hits + g, n);
    u32v_store(work->backward + g, u32v_select(back, one, u32v_set(0)));
    f32v_store(work->z_last + g, f32v_select(back, za, zb));
    u32v_store(work->first + g, u32v_select(back, bottom, top));
    i32v_store(work->step + g, i32v_select(back, i32v_set(-1), i32v_set(1)));
}

/* Copies the hits of the tracks in places g to g + 3, of which the last has the fewest. Four neighbours are
 * one store, and mostly end together: both are what limits this loop. */
static inline void copy_hits(const slc_velo_fit_in *in, size_t g, slc_velo_fit_work *work)
{
    enum { BLOCK = SLC_VELO_FIT_BLOCK };
    const float *const x = in->x, *const y = in->y, *const z = in->z;
    const uint32_t *const size = in->n_pixels;
    const uint32_t *a = in->hit + work->first[g], *b = in->hit + work->first[g + 1];
    const uint32_t *c = in->hit + work->first[g + 2], *d = in->hit + work->first[g + 3];
    const ptrdiff_t step_a = work->step[g], step_b = work->step[g + 1], step_c = work->step[g + 2],
                    step_d = work->step[g + 3];
    const uint32_t fewest = work->n_hits[g + 3];
    float *to = &work->row[0][0][g];
    for (uint32_t j = 0; j < fewest; j++, to += 4 * BLOCK) {
        const float four_x[4] = {x[*a], x[*b], x[*c], x[*d]};
        const float four_y[4] = {y[*a], y[*b], y[*c], y[*d]};
        const float four_z[4] = {z[*a], z[*b], z[*c], z[*d]};
        const uint32_t four_v[4] = {size[*a], size[*b], size[*c], size[*d]};
        memcpy(to + X * BLOCK, four_x, sizeof four_x);
        memcpy(to + Y * BLOCK, four_y, sizeof four_y);
        memcpy(to + Z * BLOCK, four_z, sizeof four_z);
        memcpy(to + V * BLOCK, four_v, sizeof four_v);
        a += step_a;
        b += step_b;
        c += step_c;
        d += step_d;
    }
    if (work->n_hits[g] == fewest) {
        return;
    }
    for (size_t k = g; k < g + 3; k++) {
        const ptrdiff_t step = work->step[k];
        const uint32_t *hit = in->hit + work->first[k] + (ptrdiff_t)fewest * step;
        for (uint32_t j = fewest; j < work->n_hits[k]; j++, hit += step) {
            work->row[j][X][k] = x[*hit];
            work->row[j][Y][k] = y[*hit];
            work->row[j][Z][k] = z[*hit];
            memcpy(&work->row[j][V][k], &size[*hit], sizeof size[*hit]);
        }
    }
}

/* ---- towards the beam line --------------------------------------------------------------------- */

/* The variance of the hits in row j. The first pass finds their pixels there, and leaves it to the others. */
static inline f32v variance_of(slc_velo_fit_work *work, size_t g, uint32_t j, bool is_first)
{
    float *const at = work->row[j][V] + g;
    if (!is_first) {
        return f32v_load(at);
    }
    const u32v size = u32v_min(u32v_bits_of_f32(f32v_load(at)), u32v_set(SLC_VELO_FIT_SIZES));
    const f32v variance = SIMD_LANES > SLC_VELO_FIT_SIZES ? f32v_permute(f32v_load(work->variance), size)
                                                          : f32v_gather(work->variance, size);
    f32v_store(at, variance);
    return variance;
}

/* Adds row j. `some`: only in lanes whose track has such a hit. */
static inline void step_to_beam(slc_velo_fit_work *work, size_t g, uint32_t j, bool is_first, bool some,
                                f32v *x, f32v *tx, f32v *y, f32v *ty, f32v *pp, f32v *ps, f32v *ss,
                                f32v *chi2)
{
    const f32v dz = f32v_sub(f32v_load(work->row[j][Z] + g), f32v_load(work->row[j - 1][Z] + g));
    f32v weight, gain_p, gain_s, x1 = *x, tx1 = *tx, y1 = *y, ty1 = *ty;
    f32v pp1 = *pp, ps1 = *ps, ss1 = f32v_add(*ss, f32v_load(work->noise + g));
    gains(variance_of(work, g, j, is_first), dz, &pp1, &ps1, &ss1, &weight, &gain_p, &gain_s);
    const f32v rx = add_hit(dz, f32v_load(work->row[j][X] + g), gain_p, gain_s, &x1, &tx1);
    const f32v ry = add_hit(dz, f32v_load(work->row[j][Y] + g), gain_p, gain_s, &y1, &ty1);
    const f32v sum = f32v_add(f32v_add(*chi2, chi2_of(rx, weight)), chi2_of(ry, weight));
    const mask32 on = some ? u32v_gt(u32v_load(work->n_hits + g), u32v_set(j)) : mask32_all();
    *x = some ? f32v_select(on, x1, *x) : x1;
    *tx = some ? f32v_select(on, tx1, *tx) : tx1;
    *y = some ? f32v_select(on, y1, *y) : y1;
    *ty = some ? f32v_select(on, ty1, *ty) : ty1;
    *pp = some ? f32v_select(on, pp1, *pp) : pp1;
    *ps = some ? f32v_select(on, ps1, *ps) : ps1;
    *ss = some ? f32v_select(on, ss1, *ss) : ss1;
    *chi2 = some ? f32v_select(on, sum, *chi2) : sum;
}

/* How much more than typical a track scatters. The third power, because chi2 grows slower than the scattering
 * does: the hits' own errors are in it too, and the prior. */
static inline f32v scatter_scale(float prior, f32v chi2, u32v n_hits)
{
    const u32v n_dof = u32v_sub(u32v_add(n_hits, n_hits), u32v_set(4));
    const f32v p = f32v_set(prior);
    const f32v ratio = f32v_div(f32v_add(p, chi2), f32v_add(p, f32v_from_i32(i32v_from_u32(n_dof))));
    const f32v scale = f32v_mul(f32v_mul(ratio, ratio), ratio);
    return f32v_min(f32v_max(scale, f32v_set(0.1f)), f32v_set(1000.0f));
}

/* The state moved over dz, to z, into place g. */
static inline void keep(slc_velo_fit_states *states, size_t g, f32v z, f32v dz, f32v x, f32v tx, f32v y,
                        f32v ty, f32v pp, f32v ps, f32v ss)
{
    const f32v turn = f32v_mul(dz, ss);
    f32v_store(states->x + g, f32v_add(x, f32v_mul(dz, tx)));
    f32v_store(states->y + g, f32v_add(y, f32v_mul(dz, ty)));
    f32v_store(states->z + g, z);
    f32v_store(states->tx + g, tx);
    f32v_store(states->ty + g, ty);
    f32v_store(states->pp + g, f32v_add(pp, f32v_mul(dz, f32v_add(f32v_add(ps, ps), turn))));
    f32v_store(states->ps + g, f32v_add(ps, turn));
    f32v_store(states->ss + g, ss);
}

/* The first of two passes leaves chi2 and how much the track scatters; the last, the state at the beam line
 * and the slopes for the way back. */
static inline void end_at_beam(const slc_velo_fit_config *config, size_t g, bool is_first, bool is_last,
                               slc_velo_fit_work *work, f32v x, f32v tx, f32v y, f32v ty, f32v pp, f32v ps,
                               f32v ss, f32v chi2)
{
    const f32v noise = f32v_load(work->noise + g);
    if (is_first) {
        f32v_store(work->chi2 + g, chi2);
    }
    if (!is_last) {
        const f32v scale = scatter_scale(config->scatter_prior, chi2, u32v_load(work->n_hits + g));
        f32v_store(work->noise + g, f32v_mul(f32v_load(work->second + g), scale));
        return;
    }
    const f32v z = f32v_load(work->z_last + g), z_beam = closest_z(config, x, y, z, tx, ty);
    f32v_store(work->tx + g, tx);
    f32v_store(work->ty + g, ty);
    keep(&work->beam, g, z_beam, f32v_sub(z_beam, z), x, tx, y, ty, pp, ps, f32v_add(ss, noise));
}

/* One pass towards the beam line, over the two vectors at places a and b = a + SIMD_LANES. */
static inline void pass_to_beam(const slc_velo_fit_config *config, size_t a, bool is_first, bool is_last,
                                slc_velo_fit_work *work)
{
    const size_t b = a + SIMD_LANES;
    const uint32_t longest = work->n_hits[a], all = work->n_hits[b + SIMD_LANES - 1];
    f32v xa = f32v_load(work->row[0][X] + a), ya = f32v_load(work->row[0][Y] + a);
    f32v xb = f32v_load(work->row[0][X] + b), yb = f32v_load(work->row[0][Y] + b);
    f32v txa = f32v_load(work->tx + a), tya = f32v_load(work->ty + a);
    f32v txb = f32v_load(work->tx + b), tyb = f32v_load(work->ty + b);
    f32v ppa = variance_of(work, a, 0, is_first), psa = f32v_set(0), ssa = f32v_set(1.0f),
         chi2a = f32v_set(0);
    f32v ppb = variance_of(work, b, 0, is_first), psb = f32v_set(0), ssb = f32v_set(1.0f),
         chi2b = f32v_set(0);
    for (uint32_t j = 1; j < all; j++) {
        step_to_beam(work, a, j, is_first, false, &xa, &txa, &ya, &tya, &ppa, &psa, &ssa, &chi2a);
        step_to_beam(work, b, j, is_first, false, &xb, &txb, &yb, &tyb, &ppb, &psb, &ssb, &chi2b);
    }
    for (uint32_t j = all; j < longest; j++) {
        step_to_beam(work, a, j, is_first, true, &xa, &txa, &ya, &tya, &ppa, &psa, &ssa, &chi2a);
        step_to_beam(work, b, j, is_first, true, &xb, &txb, &yb, &tyb, &ppb, &psb, &ssb, &chi2b);
    }
    end_at_beam(config, a, is_first, is_last, work, xa, txa, ya, tya, ppa, psa, ssa, chi2a);
    end_at_beam(config, b, is_first, is_last, work, xb, txb, yb, tyb, ppb, psb, ssb, chi2b);
}

/* ---- downstream --------------------------------------------------------------------------------- */

/* Step k of the filter that goes downstream: forward tracks against the order of their rows, backward tracks
 * along with it. It takes row r = longest - 1 - k of the first and row k of the others; forward tracks begin
 * when their last row comes, backward tracks stop behind it. `some`: not all lanes go on. */
static inline void step_to_end(const slc_velo_fit_work *work, size_t g, uint32_t k, uint32_t r, bool some,
                               f32v *x, f32v *tx, f32v *y, f32v *ty, f32v *z, f32v *pp, f32v *ps, f32v *ss)
{
    /* Compared with 1: a comparison with 0 makes Clang 14 crash where it optimises and keeps debug symbols.
     */
    const mask32 back = u32v_eq(u32v_load(work->backward + g), u32v_set(1));
    const f32v mx = f32v_select(back, f32v_load(work->row[k][X] + g), f32v_load(work->row[r][X] + g));
    const f32v my = f32v_select(back, f32v_load(work->row[k][Y] + g), f32v_load(work->row[r][Y] + g));
    const f32v mz = f32v_select(back, f32v_load(work->row[k][Z] + g), f32v_load(work->row[r][Z] + g));
    const f32v mv = f32v_select(back, f32v_load(work->row[k][V] + g), f32v_load(work->row[r][V] + g));
    const f32v dz = f32v_sub(mz, *z);
    f32v weight, gain_p, gain_s, x1 = *x, tx1 = *tx, y1 = *y, ty1 = *ty;
    f32v pp1 = *pp, ps1 = *ps, ss1 = f32v_add(*ss, f32v_load(work->noise + g));
    gains(mv, dz, &pp1, &ps1, &ss1, &weight, &gain_p, &gain_s);
    (void)add_hit(dz, mx, gain_p, gain_s, &x1, &tx1);
    (void)add_hit(dz, my, gain_p, gain_s, &y1, &ty1);
    const u32v n = u32v_load(work->n_hits + g), row = u32v_select(back, u32v_set(k), u32v_set(r));
    const u32v start = u32v_select(back, u32v_set(0), u32v_sub(n, u32v_set(1)));
    const mask32 here = u32v_lt(row, n), begins = u32v_eq(row, start), on = mask32_andnot(here, begins);
    *x = some ? f32v_select(begins, mx, f32v_select(on, x1, *x)) : x1;
    *y = some ? f32v_select(begins, my, f32v_select(on, y1, *y)) : y1;
    *z = some ? f32v_select(here, mz, *z) : mz;
    *tx = some ? f32v_select(on, tx1, *tx) : tx1;
    *ty = some ? f32v_select(on, ty1, *ty) : ty1;
    *pp = some ? f32v_select(begins, mv, f32v_select(on, pp1, *pp)) : pp1;
    *ps = some ? f32v_select(on, ps1, *ps) : ps1;
    *ss = some ? f32v_select(on, ss1, *ss) : ss1;
}

static inline void pass_to_end(const slc_velo_fit_config *config, size_t a, slc_velo_fit_work *work)
{
    const size_t b = a + SIMD_LANES;
    const uint32_t longest = work->n_hits[a], all = work->n_hits[b + SIMD_LANES - 1];
    /* All lanes have begun, and none has stopped, in these steps. */
    const uint32_t begun = longest - all + 1, stops = all > begun ? all : begun;
    const f32v zero = f32v_set(0), z_end = f32v_set(config->end_z_mm);
    f32v xa = zero, ya = zero, za = zero, txa = f32v_load(work->tx + a), tya = f32v_load(work->ty + a);
    f32v xb = zero, yb = zero, zb = zero, txb = f32v_load(work->tx + b), tyb = f32v_load(work->ty + b);
    f32v ppa = zero, psa = zero, ssa = f32v_set(1.0f);
    f32v ppb = zero, psb = zero, ssb = f32v_set(1.0f);
    for (uint32_t k = 0; k < longest; k++) {
        const uint32_t r = longest - 1 - k;
        if (k >= begun && k < stops) {
            step_to_end(work, a, k, r, false, &xa, &txa, &ya, &tya, &za, &ppa, &psa, &ssa);
            step_to_end(work, b, k, r, false, &xb, &txb, &yb, &tyb, &zb, &ppb, &psb, &ssb);
        } else {
            step_to_end(work, a, k, r, true, &xa, &txa, &ya, &tya, &za, &ppa, &psa, &ssa);
            step_to_end(work, b, k, r, true, &xb, &txb, &yb, &tyb, &zb, &ppb, &psb, &ssb);
        }
    }
    ssa = f32v_add(ssa, f32v_load(work->noise + a));
    ssb = f32v_add(ssb, f32v_load(work->noise + b));
    keep(&work->end, a, z_end, f32v_sub(z_end, za), xa, txa, ya, tya, ppa, psa, ssa);
    keep(&work->end, b, z_end, f32v_sub(z_end, zb), xb, txb, yb, tyb, ppb, psb, ssb);
}

/* ---- results ----------------------------------------------------------------------------------- */

/* The first `left` values. */
static inline void put(float *column, f32v v, size_t left)
{
    if (left >= SIMD_LANES) {
        f32v_store(column, v);
    } else {
        f32v_store_masked(column, v, mask32_first(left));
    }
}

static inline void put_twice(float *column, float *again, f32v v, size_t left)
{
    put(column, v, left);
    put(again, v, left);
}

/* The states of the block's tracks i … in the order of the event. end_z: where all of them are, if they are.
 */
static inline void put_states(const slc_velo_fit_states *states, u32v place, size_t i, size_t left,
                              const float *end_z, const slc_velo_fit_out *out)
{
    put(out->x + i, f32v_gather(states->x, place), left);
    put(out->y + i, f32v_gather(states->y, place), left);
    put(out->z + i, end_z != NULL ? f32v_set(*end_z) : f32v_gather(states->z, place), left);
    put(out->tx + i, f32v_gather(states->tx, place), left);
    put(out->ty + i, f32v_gather(states->ty, place), left);
    put_twice(out->xx + i, out->yy + i, f32v_gather(states->pp, place), left);
    put_twice(out->xtx + i, out->yty + i, f32v_gather(states->ps, place), left);
    put_twice(out->txtx + i, out->tyty + i, f32v_gather(states->ss, place), left);
}

static void put_block(const slc_velo_fit_config *config, const uint32_t *n_hits,
                      const slc_velo_fit_work *work, size_t block, size_t size, const slc_velo_fit_out *beam,
                      const slc_velo_fit_out *end)
{
    for (size_t i = 0; i < size; i += SIMD_LANES) {
        const size_t left = size - i, to = block + i;
        const mask32 valid = mask32_first(left);
        const u32v place = u32v_load_masked(work->place + i, valid);
        put_states(&work->beam, place, to, left, NULL, beam);
        put_states(&work->end, place, to, left, &config->end_z_mm, end);
        put_twice(beam->chi2 + to, end->chi2 + to, f32v_gather(work->chi2, place), left);
        const u32v n = u32v_load_masked(n_hits + to, valid), n_dof = u32v_sub(u32v_add(n, n), u32v_set(4));
        u32v_store_masked(beam->n_dof + to, n_dof, valid);
        u32v_store_masked(end->n_dof + to, n_dof, valid);
    }
    for (size_t i = 0; i < size; i++) {
        const size_t track = block + work->order[i];
        beam->backward[track] = end->backward[track] = (uint8_t)work->backward[i];
    }
}

static void fit(const slc_velo_fit_config *config, const slc_velo_fit_in *in, slc_velo_fit_work *work,
                const slc_velo_fit_out *beam, const slc_velo_fit_out *end)
{
    const size_t n = in->n_tracks, pair = 2 * SIMD_LANES;
    const size_t whole = pair > 4 ? pair : 4; /* hits are copied of four at a time */
    const bool twice = config->scatter_prior > 0;
    for (size_t block = 0; block < n; block += SLC_VELO_FIT_BLOCK) {
        const size_t size = n - block < SLC_VELO_FIT_BLOCK ? n - block : SLC_VELO_FIT_BLOCK;
        const size_t places = (size + whole - 1) / whole * whole;
        sort_by_length(in->n_hits + block, size, places, work);
        for (size_t g = 0; g < places; g += SIMD_LANES) {
            open_tracks(config, in, block, g, work);
        }
        for (size_t g = 0; g < places; g += 4) {
            copy_hits(in, g, work);
        }
        for (size_t g = 0; g < size; g += pair) {
            pass_to_beam(config, g, true, !twice, work);
        }
        for (size_t g = 0; g < size && twice; g += pair) {
            pass_to_beam(config, g, false, true, work);
        }
        for (size_t g = 0; g < size; g += pair) {
            pass_to_end(config, g, work);
        }
        put_block(config, in->n_hits, work, block, size, beam, end);
    }
}

const slc_velo_fit_kernels SIMD_TABLE(slc_velo_fit) = {.target = SIMD_TARGET_NAME, .fit = fit};
