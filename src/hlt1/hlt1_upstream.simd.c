/* SPDX-License-Identifier: Apache-2.0
 *
 * What tracks of the VELO have in the UT. Hits are taken as residuals to the line of the VELO track at their
 * own z, so that single precision is enough in all fits: a track of no momentum cut has residuals of a few mm
 * where x is a metre.
 *
 * A track has a hit or two in its window of a layer, and as many pairs: by itself it would fill no vector. So
 * lanes are tracks where windows are placed, hits of one window where these are looked at (they lie side by
 * side), pairs of any tracks from there on, and at last the best candidates of any tracks. Where a window
 * begins stands in a table by x in steps of 4 mm; what that takes in too much, the exact window leaves out.
 *
 * Every number is made by the same operations in the same order as the oracle in tests/oracle/ does for one
 * track after the other: the same bits.
 */
#include "hlt1/hlt1_upstream_work.h"
#include "simd/simd.h"

enum { LAYERS = SLC_UT_LAYERS, BUCKETS = SLC_HLT1_UPSTREAM_BUCKETS, WINDOW = SLC_HLT1_UPSTREAM_WINDOW };

typedef slc_hlt1_upstream_work upstream_work;

static const float window_deflection = 4.0212e-5f; /* 1/(mm · MeV) */
static const float y_tolerance_mm = 0.5f, y_tolerance_slope = 0.08f;
static const float plane_reach_mm = 10.0f; /* of the staggered staves of a layer, in z */
static const float bucket_begin_mm = -1024.0f, buckets_per_mm = 0.25f;
static const float kick_z_mm = 1780.0f, kick_sigma_per_mm = 1e-4f, slope_sigma = 1e-4f;
static const float max_kick_chi2 = 1280.0f;

#define ADD f32v_add
#define SUB f32v_sub
#define MUL f32v_mul
#define DIV f32v_div
static inline f32v f(float x)
{
    return f32v_set(x);
}

/* ---- lines -------------------------------------------------------------------------------------- */

static inline mask32 are_zero(const uint8_t *bytes, size_t n)
{
    uint64_t bits[SLC_HLT1_UPSTREAM_SPARE / 16] = {0}; /* of all that a vector of bytes has */
    mask8_store((uint8_t *)bits, u8v_eq(u8v_load_first(bytes, n), u8v_set(0)));
    return mask32_of_bits(bits[0]);
}

/* Which of the tracks from t on can be in the UT. */
static inline mask32 are_inside(const slc_hlt1_event *e, uint32_t t, f32v tx, f32v ty)
{
    const f32v dz = SUB(f(SLC_HLT1_UT_Z_MM), f32v_load(e->beam_z + t));
    const f32v x = ADD(f32v_load(e->beam_x + t), MUL(f32v_load(e->beam_tx + t), dz));
    const f32v y = ADD(f32v_load(e->beam_y + t), MUL(f32v_load(e->beam_ty + t), dz));
    const mask32 flat = mask32_and(f32v_lt(f32v_abs(tx), f(0.35f)), f32v_lt(f32v_abs(ty), f(0.3f)));
    const mask32 wide = f32v_ge(ADD(MUL(x, x), MUL(y, y)), f(33.0f * 33.0f));
    return mask32_and(are_zero(e->backward + t, e->n_velo - t), mask32_and(flat, wide));
}

static uint32_t take_lines(const slc_hlt1_event *event, uint32_t t, upstream_work *w)
{
    slc_hlt1_upstream_lines *l = &w->lines;
    size_t n = 0;
    for (; t < event->n_velo && n + SIMD_LANES <= SLC_HLT1_UPSTREAM_TRACKS; t += (uint32_t)SIMD_LANES) {
        const f32v tx = f32v_load(event->tx + t), ty = f32v_load(event->ty + t);
        const mask32 inside = mask32_and(are_inside(event, t, tx, ty), mask32_first(event->n_velo - t));
        (void)f32v_pack(l->x + n, f32v_load(event->x + t), inside);
        (void)f32v_pack(l->y + n, f32v_load(event->y + t), inside);
        (void)f32v_pack(l->z + n, f32v_load(event->z + t), inside);
        (void)f32v_pack(l->tx + n, tx, inside);
        (void)f32v_pack(l->ty + n, ty, inside);
        n += u32v_pack(l->velo_track + n, u32v_iota(t), inside);
    }
    l->n = (uint32_t)n;
    return t;
}

/* ---- windows ------------------------------------------------------------------------------------ */

/* Which bucket x is in; the outer ones have no end, and NaN is in the first. */
static inline u32v bucket_of(f32v x)
{
    const f32v at = MUL(SUB(x, f(bucket_begin_mm)), f(buckets_per_mm));
    return u32v_from_i32(i32v_truncate(f32v_min(f32v_max(at, f(0)), f((float)(BUCKETS - 1)))));
}

static void make_index(const slc_hlt1_event *event, upstream_work *w)
{
    const u32v last_lane = u32v_set((uint32_t)SIMD_LANES - 1);
    memset(w->upto, 0, sizeof w->upto);
    for (size_t k = 0; k < LAYERS; k++) {
        const float *x = event->ut_x + event->ut_begin[k];
        const uint32_t n = event->ut_begin[k + 1] - event->ut_begin[k];
        uint32_t *upto = w->upto[k];
        for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
            uint32_t bucket[SIMD_MAX_LANES];
            u32v_store(bucket,
                       u32v_select(mask32_first(n - i), bucket_of(f32v_load(x + i)), u32v_set(BUCKETS)));
            for (uint32_t lane = 0; lane < SIMD_LANES; lane++) {
                upto[bucket[lane]]++;
            }
        }
        u32v before = u32v_set(0);
        for (size_t b = 0; b < BUCKETS; b += SIMD_LANES) {
            const u32v sums = u32v_add(before, u32v_running_sum(u32v_load(upto + b)));
            u32v_store(upto + b, sums);
            before = u32v_permute(sums, last_lane);
        }
    }
}

/* The rows of hits between x and x of a layer, and some more, of a vector of lines from t on. */
static inline void take_rows(upstream_work *w, size_t k, size_t t, f32v least, f32v most)
{
    const u32v low = bucket_of(least), high = bucket_of(most);
    const mask32 inner = u32v_gt(low, u32v_set(0));
    const u32v before = u32v_gather(w->upto[k], u32v_sub(u32v_max(low, u32v_set(1)), u32v_set(1)));
    u32v_store(w->begin[k] + t, u32v_select(inner, before, u32v_set(0)));
    u32v_store(w->end[k] + t, u32v_gather(w->upto[k], high));
}

/* Of all lines, how far hits may be away, and which of a layer are looked at. */
static void place_windows(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                          upstream_work *w)
{
    const slc_hlt1_upstream_lines *l = &w->lines;
    for (size_t t = 0; t < l->n; t += SIMD_LANES) {
        const mask32 some = mask32_first(l->n - t);
        const f32v tx = f32v_load(l->tx + t), ty = f32v_load(l->ty + t);
        const f32v slope = f32v_sqrt(ADD(MUL(tx, tx), MUL(ty, ty)));
        const f32v inverse = f32v_select(f32v_gt(slope, f(1.0f / 500.0f)), DIV(f(1.0f), slope), f(500.0f));
        const f32v least_p = f32v_max(MUL(f(config->window_pt_mev), inverse), f(config->window_p_mev));
        const f32v tolerance = DIV(f(1.0f), MUL(f(window_deflection), least_p));
        const u32v row = u32v_select(
            some, u32v_from_i32(i32v_truncate(ADD(MUL(f(100.0f), f32v_abs(ty)), f(0.5f)))), u32v_set(0));
        for (uint32_t k = 0; k < LAYERS; k++) {
            const f32v norm = f32v_gather(event->geometry->deflection->window + k, u32v_shl(row, 2));
            const f32v most = DIV(tolerance, norm), dxdy = f(w->dxdy[k]);
            const f32v dz = SUB(f(w->plane_z[k]), f32v_load(l->z + t));
            const f32v y = ADD(f32v_load(l->y + t), MUL(ty, dz));
            const f32v centre = SUB(ADD(f32v_load(l->x + t), MUL(tx, dz)), MUL(dxdy, y));
            const f32v reach = ADD(most, MUL(f(plane_reach_mm), f32v_abs(SUB(tx, MUL(dxdy, ty)))));
            f32v_store(w->norm[k] + t, norm);
            f32v_store(w->most[k] + t, most);
            take_rows(w, k, t, SUB(centre, reach), ADD(centre, reach));
        }
    }
}

/* Puts the hits of a line's window into the pool, from row n on: of more than there is room for those with
 * the smallest x. Returns how many they are with one that there is no room for. */
static inline uint32_t look(const slc_hlt1_event event, upstream_work *w, size_t t, size_t k, size_t n)
{
    const slc_hlt1_upstream_lines *l = &w->lines;
    const f32v lx = f(l->x[t]), ly = f(l->y[t]), lz = f(l->z[t]), tx = f(l->tx[t]), ty = f(l->ty[t]);
    const f32v dxdy = f(w->dxdy[k]), norm = f(w->norm[k][t]), most = f(w->most[k][t]);
    const uint32_t from = event.ut_begin[k], end = from + w->end[k][t];
    uint32_t count = 0;
    for (uint32_t i = from + w->begin[k][t]; i < end && count <= WINDOW; i += (uint32_t)SIMD_LANES) {
        const f32v z = f32v_load(event.ut_z + i), at = SUB(z, lz), y = ADD(ly, MUL(ty, at));
        const f32v r = SUB(ADD(f32v_load(event.ut_x + i), MUL(dxdy, y)), ADD(lx, MUL(tx, at)));
        const f32v tolerance = ADD(f(y_tolerance_mm), MUL(f(y_tolerance_slope), f32v_abs(DIV(r, norm))));
        const f32v y0 = f32v_load(event.ut_y_begin + i), y1 = f32v_load(event.ut_y_end + i);
        mask32 near = mask32_and(mask32_first(end - i), f32v_le(f32v_abs(r), most));
        near = mask32_and(near, f32v_ge(y, SUB(f32v_min(y0, y1), tolerance)));
        near = mask32_and(near, f32v_le(y, ADD(f32v_max(y0, y1), tolerance)));
        (void)f32v_pack(w->near_r + n + count, r, near);
        (void)f32v_pack(w->near_dz + n + count, SUB(z, f(SLC_HLT1_UT_Z_MM)), near);
        count += (uint32_t)u32v_pack(w->near_row + n + count, u32v_iota(i), near);
    }
    return count;
}

static void fill_windows(const slc_hlt1_event *event, upstream_work *w)
{
    const slc_hlt1_event of = *event; /* its columns do not move */
    memset(w->full, 0, sizeof w->full);
    for (size_t k = 0, n = 0; k < LAYERS; k++) {
        for (size_t t = 0, lines = w->lines.n; t < lines; t++) {
            const uint32_t found = look(of, w, t, k, n), count = found > WINDOW ? WINDOW : found;
            w->full[t] |= found > WINDOW;
            w->first[k][t] = (uint32_t)n;
            w->count[k][t] = count;
            n += count;
        }
    }
}

/* ---- pairs -------------------------------------------------------------------------------------- */

/* Layers of a pair, and the two where the line through it is looked at. */
static const uint32_t orders[2][LAYERS] = {{0, 2, 1, 3}, {3, 1, 2, 0}};

/* The hits of a layer that are nearest to the lines a + b dz; NO_HIT where none is within the distance. */
static inline u32v nearest(const upstream_work *w, uint32_t layer, u32v line, f32v a, f32v b, mask32 some,
                           float distance)
{
    const u32v first = u32v_gather(w->first[layer], line);
    const u32v count = u32v_select(some, u32v_gather(w->count[layer], line), u32v_set(0));
    const uint32_t n = u32v_highest(count);
    f32v most = f(distance);
    u32v best = u32v_set(SLC_HLT1_NONE);
    for (uint32_t i = 0; i < n; i++) {
        const u32v hit = u32v_add(first, u32v_set(i));
        const mask32 here = u32v_gt(count, u32v_set(i));
        const f32v r = f32v_gather(w->near_r, hit), dz = f32v_gather(w->near_dz, hit);
        const f32v d = f32v_abs(SUB(r, ADD(a, MUL(b, dz))));
        const mask32 closer = mask32_and(here, f32v_lt(d, most));
        most = f32v_select(closer, d, most);
        best = u32v_select(closer, hit, best);
    }
    return best;
}

/* Takes a layer's hits, rows of the pool, of a vector of candidates; returns their rows in the event. */
static inline u32v take(const slc_hlt1_event *event, upstream_work *w, size_t k, u32v hit)
{
    const mask32 has = u32v_ne(hit, u32v_set(SLC_HLT1_NONE));
    const u32v at = u32v_select(has, hit, u32v_set(0));
    const u32v row = u32v_select(has, u32v_gather(w->near_row, at), u32v_set(0));
    u32v_store(w->hit[k], hit);
    f32v_store(w->r[k], f32v_select(has, f32v_gather(w->near_r, at), f(0)));
    f32v_store(w->dz[k], f32v_select(has, f32v_gather(w->near_dz, at), f(0)));
    f32v_store(w->weight[k], f32v_select(has, f32v_gather(event->ut_weight, row), f(0)));
    return u32v_select(has, row, u32v_set(SLC_HLT1_NONE));
}

/* The straight lines by the hits and the VELO's at the middle of the field; chi2, which also counts how much
 * the VELO's slope would have to change, is returned. */
static inline f32v fit_kick(const upstream_work *w, f32v z, i32v n, f32v *slope)
{
    const f32v dk = f(kick_z_mm - SLC_HLT1_UT_Z_MM), lever = SUB(f(kick_z_mm), z);
    const f32v sigma = MUL(f(kick_sigma_per_mm), lever);
    f32v s0 = DIV(f(1.0f), MUL(sigma, sigma)), s1 = MUL(s0, dk), s2 = MUL(s1, dk), r0 = f(0), r1 = f(0);
    for (size_t k = 0; k < LAYERS; k++) {
        const f32v r = f32v_load(w->r[k]), dz = f32v_load(w->dz[k]), weight = f32v_load(w->weight[k]);
        s0 = ADD(s0, weight);
        s1 = ADD(s1, MUL(weight, dz));
        s2 = ADD(s2, MUL(MUL(weight, dz), dz));
        r0 = ADD(r0, MUL(weight, r));
        r1 = ADD(r1, MUL(MUL(weight, r), dz));
    }
    const f32v determinant = SUB(MUL(s0, s2), MUL(s1, s1));
    const f32v a = DIV(SUB(MUL(s2, r0), MUL(s1, r1)), determinant);
    const f32v b = DIV(SUB(MUL(s0, r1), MUL(s1, r0)), determinant);
    const f32v kink = DIV(DIV(ADD(a, MUL(b, dk)), lever), f(slope_sigma));
    f32v chi2 = MUL(kink, kink);
    for (size_t k = 0; k < LAYERS; k++) {
        const f32v d = SUB(f32v_load(w->r[k]), ADD(a, MUL(b, f32v_load(w->dz[k]))));
        chi2 = ADD(chi2, MUL(MUL(f32v_load(w->weight[k]), d), d));
    }
    *slope = b;
    return DIV(chi2, f32v_from_i32(i32v_sub(n, i32v_set(1))));
}

/* Those of a vector of candidates that are better than what their lines have: the first of equals stays.
 * Others are written down where nobody looks, as nothing foresees which they are. */
static void keep_better(upstream_work *w, size_t pair, uint64_t lanes)
{
    for (uint64_t left = lanes; left != 0; left &= left - 1) {
        const size_t i = (size_t)__builtin_ctzll(left), t = w->pair_line[pair + i];
        const uint32_t n = w->n_hits[i], best = w->best_n[t];
        const unsigned better = (unsigned)(n > best) |
                                ((unsigned)(n == best) & (unsigned)(w->chi2[i] < w->best_chi2[t]));
        const size_t to = better != 0 ? t : (size_t)SLC_HLT1_UPSTREAM_ROWS - 1;
        w->best_n[to] = n;
        w->best_b[to] = w->b[i];
        w->best_chi2[to] = w->chi2[i];
        for (size_t k = 0; k < LAYERS; k++) {
            w->best_hit[k][to] = w->hit[k][i];
        }
    }
}

/* Completes the pairs by what the two other layers have near their lines, and judges them. */
static void judge_pairs(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event, upstream_work *w,
                        const uint32_t order[LAYERS])
{
    for (size_t p = 0; p < w->n_pairs; p += SIMD_LANES) {
        mask32 some = mask32_first(w->n_pairs - p);
        const u32v none = u32v_set(SLC_HLT1_NONE);
        const u32v line = u32v_select(some, u32v_load(w->pair_line + p), u32v_set(0));
        (void)take(event, w, order[0], u32v_select(some, u32v_load(w->pair_hit[0] + p), none));
        (void)take(event, w, order[1], u32v_select(some, u32v_load(w->pair_hit[1] + p), none));
        const f32v r = f32v_load(w->r[order[0]]), dz = f32v_load(w->dz[order[0]]);
        const f32v b = DIV(SUB(f32v_load(w->r[order[1]]), r), SUB(f32v_load(w->dz[order[1]]), dz));
        const f32v a = SUB(r, MUL(b, dz));
        some = mask32_andnot(some, f32v_gt(f32v_abs(b), f(config->max_slope_difference)));
        const u32v h2 = nearest(w, order[2], line, a, b, some, config->max_distance_mm);
        const u32v h3 = nearest(w, order[3], line, a, b, some, config->max_distance_mm);
        const mask32 has2 = u32v_ne(take(event, w, order[2], h2), none);
        const mask32 has3 = u32v_ne(take(event, w, order[3], h3), none);
        some = mask32_and(some, mask32_or(has2, has3));
        if (mask32_any(some)) {
            const i32v n = i32v_select(mask32_and(has2, has3), i32v_set(4), i32v_set(3));
            const f32v z = f32v_gather(w->lines.z, line);
            f32v slope;
            const f32v chi2 = fit_kick(w, z, n, &slope);
            f32v_store(w->b, slope);
            f32v_store(w->chi2, chi2);
            u32v_store(w->n_hits, u32v_from_i32(n));
            keep_better(w, p, mask32_bits(mask32_and(some, f32v_lt(chi2, f(max_kick_chi2)))));
        }
    }
    w->n_pairs = 0;
}

/* Those of a vector of lines, from t on, that have pairs to try, with a third hit, and no candidate of four
 * hits yet. */
static inline mask32 are_tried(const upstream_work *w, const uint32_t order[LAYERS], uint32_t t)
{
    const u32v more = u32v_add(u32v_load(w->count[order[2]] + t), u32v_load(w->count[order[3]] + t));
    const u32v pairs = u32v_min(u32v_load(w->count[order[0]] + t), u32v_load(w->count[order[1]] + t));
    const mask32 open = u32v_lt(u32v_load(w->best_n + t), u32v_set(LAYERS));
    return mask32_and(mask32_and(open, mask32_first(w->lines.n - t)),
                      u32v_gt(u32v_min(more, pairs), u32v_set(0)));
}

/* All pairs of a line. */
static inline void try_line(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                            upstream_work *w, const uint32_t order[LAYERS], uint32_t t)
{
    const uint32_t n0 = w->count[order[0]][t], n1 = w->count[order[1]][t], from = w->first[order[0]][t];
    const u32v last = u32v_iota(w->first[order[1]][t]);
    for (uint32_t i = 0; i < n0; i++) {
        if (w->n_pairs + n1 > SLC_HLT1_UPSTREAM_PAIRS) {
            judge_pairs(config, event, w, order);
        }
        for (uint32_t k = 0; k < n1; k += (uint32_t)SIMD_LANES) {
            u32v_store(w->pair_line + w->n_pairs + k, u32v_set(t));
            u32v_store(w->pair_hit[0] + w->n_pairs + k, u32v_set(from + i));
            u32v_store(w->pair_hit[1] + w->n_pairs + k, u32v_add(last, u32v_set(k)));
        }
        w->n_pairs += n1;
    }
}

static void try_pairs(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event, upstream_work *w,
                      const uint32_t order[LAYERS])
{
    w->n_pairs = 0;
    for (uint32_t t = 0; t < w->lines.n; t += (uint32_t)SIMD_LANES) {
        for (uint64_t left = mask32_bits(are_tried(w, order, t)); left != 0; left &= left - 1) {
            try_line(config, event, w, order, t + (uint32_t)__builtin_ctzll(left));
        }
    }
    judge_pairs(config, event, w, order);
}

/* ---- the fit ------------------------------------------------------------------------------------ */

/* Field integral along the lines, linear between the nodes of the table. */
static inline f32v deflection_of(const slc_hlt1_deflection *table, f32v x, f32v y, f32v z, f32v tx, f32v ty)
{
    const mask32 by_y = f32v_gt(f32v_abs(ty), f(1e-3f));
    const f32v origin = SUB(z, DIV(f32v_select(by_y, y, x), f32v_select(by_y, ty, tx)));
    const f32v at0 = DIV(ADD(ty, f(0.3f)), f(0.02f)), at1 = DIV(ADD(origin, f(250.0f)), f(50.0f));
    const f32v in0 = f32v_min(f32v_max(at0, f(0)), f(30.0f)), in1 = f32v_min(f32v_max(at1, f(0)), f(10.0f));
    const f32v in2 = f32v_min(f32v_max(DIV(z, f(80.0f)), f(0)), f(10.0f));
    const i32v i0 = i32v_truncate(in0), i1 = i32v_truncate(in1), i2 = i32v_truncate(in2);
    const i32v base = i32v_add(i0, i32v_add(i32v_mul(i1, i32v_set(31)), i32v_mul(i2, i32v_set(341))));
    /* At the last node the next one is itself. */
    const i32v to0 = i32v_add(base, i32v_select(i32v_lt(i0, i32v_set(30)), i32v_set(1), i32v_set(0)));
    const i32v to1 = i32v_add(base, i32v_select(i32v_lt(i1, i32v_set(10)), i32v_set(31), i32v_set(0)));
    const i32v to2 = i32v_add(base, i32v_select(i32v_lt(i2, i32v_set(10)), i32v_set(341), i32v_set(0)));
    const f32v here = f32v_gather(table->bdl, u32v_from_i32(base));
    const f32v d0 = SUB(f32v_gather(table->bdl, u32v_from_i32(to0)), here);
    const f32v d1 = SUB(f32v_gather(table->bdl, u32v_from_i32(to1)), here);
    const f32v d2 = SUB(f32v_gather(table->bdl, u32v_from_i32(to2)), here);
    f32v value = ADD(here, MUL(SUB(in0, f32v_from_i32(i0)), d0));
    value = ADD(value, MUL(SUB(in1, f32v_from_i32(i1)), d1));
    return ADD(value, MUL(SUB(in2, f32v_from_i32(i2)), d2));
}

static inline f32v sine(f32v t, f32v ty)
{
    return MUL(t, f32v_sqrt(ADD(ADD(f(1.0f), MUL(t, t)), MUL(ty, ty))));
}

/* q/p of lines with so much more slope in the UT. */
static inline f32v momentum_of(f32v bdl, f32v ty, f32v velo_tx, f32v ut_tx)
{
    return MUL(SUB(sine(velo_tx, ty), sine(ut_tx, ty)), DIV(f(-3.3356e-3f), bdl));
}

/* A vector of found tracks, from row i on, with the errors that the momentum makes at the kink, and a free y
 * in the tilted layers. Lengths along z in m: the numbers stay near each other. */
static inline void fit_vector(const slc_hlt1_event *event, upstream_work *w, size_t i)
{
    const slc_hlt1_upstream_lines *l = &w->lines;
    const mask32 some = mask32_first(w->found.n - i);
    const u32v line = u32v_select(some, u32v_load(w->found.line + i), u32v_set(w->found.line[i]));
    const f32v x = f32v_gather(l->x, line), y = f32v_gather(l->y, line), z = f32v_gather(l->z, line);
    const f32v tx = f32v_gather(l->tx, line), ty = f32v_gather(l->ty, line), ty2 = MUL(ty, ty);
    const f32v bdl = deflection_of(event->geometry->deflection, x, y, z, tx, ty);
    const f32v kink = ADD(ADD(f(2010.0f), MUL(f(2240.0f), ty2)), MUL(MUL(f(71330.0f), ty2), ty2));
    const f32v bent = ADD(tx, f32v_gather(w->best_b, line));
    const f32v estimate = f32v_abs(momentum_of(bdl, ty, tx, bent));
    const f32v e1 = ADD(f(0.14f), MUL(f(1e4f), estimate)), e2 = ADD(f(0.12f), MUL(f(3e3f), estimate));
    const f32v wk = DIV(f(1.0f), ADD(MUL(e1, e1), MUL(e2, e2)));
    const f32v dk = MUL(f(1e-3f), SUB(kink, f(SLC_HLT1_UT_Z_MM)));
    f32v m0 = wk, m1 = MUL(wk, dk), m2 = MUL(m1, dk), m3 = f(0), m4 = f(0), m5 = f(0);
    f32v r0 = f(0), r1 = f(0), r2 = f(0);
    for (size_t k = 0; k < LAYERS; k++) {
        u32v_store(w->found.hit[k] + i, take(event, w, k, u32v_gather(w->best_hit[k], line)));
        const f32v r = f32v_load(w->r[k]), weight = f32v_load(w->weight[k]), t = f(w->dxdy[k]);
        const f32v dz = MUL(f(1e-3f), f32v_load(w->dz[k]));
        m0 = ADD(m0, weight);
        m1 = ADD(m1, MUL(weight, dz));
        m2 = ADD(m2, MUL(MUL(weight, dz), dz));
        m3 = ADD(m3, MUL(weight, t));
        m4 = ADD(m4, MUL(MUL(weight, dz), t));
        m5 = ADD(m5, MUL(MUL(weight, t), t));
        r0 = ADD(r0, MUL(weight, r));
        r1 = ADD(r1, MUL(MUL(weight, r), dz));
        r2 = ADD(r2, MUL(MUL(weight, r), t));
    }
    /* By the adjoint of the symmetric matrix (m0 m1 m3 | m1 m2 m4 | m3 m4 m5). */
    const f32v c0 = SUB(MUL(m2, m5), MUL(m4, m4)), c1 = SUB(MUL(m3, m4), MUL(m1, m5));
    const f32v c2 = SUB(MUL(m1, m4), MUL(m2, m3)), c3 = SUB(MUL(m0, m5), MUL(m3, m3));
    const f32v c4 = SUB(MUL(m1, m3), MUL(m0, m4)), c5 = SUB(MUL(m0, m2), MUL(m1, m1));
    const f32v determinant = ADD(ADD(MUL(m0, c0), MUL(m1, c1)), MUL(m3, c2));
    const f32v p0 = DIV(ADD(ADD(MUL(c0, r0), MUL(c1, r1)), MUL(c2, r2)), determinant);
    const f32v p1 = DIV(ADD(ADD(MUL(c1, r0), MUL(c3, r1)), MUL(c4, r2)), determinant);
    const f32v p2 = DIV(ADD(ADD(MUL(c2, r0), MUL(c4, r1)), MUL(c5, r2)), determinant);
    const f32v off = ADD(p0, MUL(p1, dk));
    f32v chi2 = MUL(MUL(wk, off), off);
    for (size_t k = 0; k < LAYERS; k++) {
        const f32v along = ADD(p0, MUL(MUL(p1, f(1e-3f)), f32v_load(w->dz[k])));
        const f32v d = SUB(f32v_load(w->r[k]), ADD(along, MUL(p2, f(w->dxdy[k]))));
        chi2 = ADD(chi2, MUL(MUL(f32v_load(w->weight[k]), d), d));
    }
    const f32v ut_tx = ADD(tx, MUL(f(1e-3f), p1));
    const f32v velo_tx = ADD(tx, DIV(MUL(f(0.5f), off), SUB(kink, z)));
    const u32v n_hits = u32v_gather(w->best_n, line);
    const i32v n = i32v_from_u32(n_hits);
    u32v_store(w->found.n_hits + i, n_hits);
    f32v_store(w->found.x + i, ADD(ADD(x, MUL(tx, SUB(f(SLC_HLT1_UT_Z_MM), z))), p0));
    f32v_store(w->found.tx + i, ut_tx);
    f32v_store(w->found.q_over_p + i, momentum_of(bdl, ty, velo_tx, ut_tx));
    f32v_store(w->found.chi2 + i, DIV(chi2, f32v_from_i32(i32v_sub(n, i32v_set(1)))));
}

static void fit_found(const slc_hlt1_event *event, upstream_work *w)
{
    w->found.n = 0;
    for (uint32_t t = 0; t < w->lines.n; t += (uint32_t)SIMD_LANES) {
        const mask32 has = u32v_gt(u32v_load(w->best_n + t), u32v_set(0));
        w->found.n += (uint32_t)u32v_pack(w->found.line + w->found.n, u32v_iota(t),
                                          mask32_and(has, mask32_first(w->lines.n - t)));
    }
    for (size_t i = 0; i < w->found.n; i += SIMD_LANES) {
        fit_vector(event, w, i);
    }
}

static void search(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event, upstream_work *w)
{
    place_windows(config, event, w);
    fill_windows(event, w);
    for (uint32_t t = 0; t < w->lines.n; t++) {
        w->best_n[t] = 0;
        w->best_chi2[t] = max_kick_chi2;
    }
    try_pairs(config, event, w, orders[0]);
    try_pairs(config, event, w, orders[1]);
    fit_found(event, w);
}

/* ---- the other way round: momenta that hits allow ------------------------------------------------ */

/* Of all lines, how much slope charge over momentum gives, and which hits of a layer are looked at. */
static void place_ranges(const slc_hlt1_upstream_ask *ask, const slc_hlt1_event *event, upstream_work *w)
{
    const slc_hlt1_upstream_lines *l = &w->lines;
    for (size_t t = 0; t < l->n; t += SIMD_LANES) {
        const u32v line = u32v_min(u32v_iota((uint32_t)t), u32v_set(l->n - 1));
        const f32v x = f32v_gather(l->x, line), y = f32v_gather(l->y, line), z = f32v_gather(l->z, line);
        const f32v tx = f32v_gather(l->tx, line), ty = f32v_gather(l->ty, line);
        const f32v bdl = deflection_of(event->geometry->deflection, x, y, z, tx, ty);
        const f32v length = f32v_sqrt(ADD(ADD(f(1.0f), MUL(tx, tx)), MUL(ty, ty)));
        const f32v per_q = DIV(DIV(bdl, f(3.3356e-3f)), length);
        const f32v steepest = f32v_abs(MUL(per_q, f(ask->most_q_over_p)));
        f32v_store(w->per_q + t, per_q);
        for (size_t k = 0; k < LAYERS; k++) {
            const f32v dxdy = f(w->dxdy[k]), dz = SUB(f(w->plane_z[k]), z);
            const f32v centre = SUB(ADD(x, MUL(tx, dz)), MUL(dxdy, ADD(y, MUL(ty, dz))));
            const f32v staves = MUL(f(plane_reach_mm), f32v_abs(SUB(tx, MUL(dxdy, ty))));
            const f32v lever = f(w->plane_z[k] - kick_z_mm + plane_reach_mm);
            const f32v reach = ADD(ADD(f(ask->most_mm), MUL(steepest, lever)), staves);
            take_rows(w, k, t, SUB(centre, reach), ADD(centre, reach));
        }
    }
}

/* The slopes that hits near a line ask for; returns how many they are. */
static size_t ask_hits(const slc_hlt1_upstream_ask *ask, const slc_hlt1_event *event, upstream_work *w,
                       size_t t)
{
    const slc_hlt1_upstream_lines *l = &w->lines;
    const f32v lx = f(l->x[t]), ly = f(l->y[t]), lz = f(l->z[t]), tx = f(l->tx[t]), ty = f(l->ty[t]);
    const f32v most = f(ask->most_mm), steepest = f32v_abs(MUL(f(w->per_q[t]), f(ask->most_q_over_p)));
    size_t n = 0;
    for (size_t k = 0; k < LAYERS; k++) {
        const uint32_t from = event->ut_begin[k], end = from + w->end[k][t];
        for (uint32_t i = from + w->begin[k][t]; i < end && n < SLC_HLT1_UPSTREAM_ASKED;
             i += (uint32_t)SIMD_LANES) {
            const f32v z = f32v_load(event->ut_z + i), at = SUB(z, lz), y = ADD(ly, MUL(ty, at));
            const f32v r = SUB(ADD(f32v_load(event->ut_x + i), MUL(f(w->dxdy[k]), y)), ADD(lx, MUL(tx, at)));
            const f32v y0 = f32v_load(event->ut_y_begin + i), y1 = f32v_load(event->ut_y_end + i);
            const f32v arm = SUB(z, f(kick_z_mm)), low = DIV(SUB(r, most), arm),
                       high = DIV(ADD(r, most), arm);
            mask32 near = mask32_and(f32v_le(low, steepest), f32v_ge(high, f32v_neg(steepest)));
            near = mask32_and(near, f32v_ge(y, SUB(f32v_min(y0, y1), f(1.0f))));
            near = mask32_and(near, f32v_le(y, ADD(f32v_max(y0, y1), f(1.0f))));
            near = mask32_and(near, mask32_first(end - i));
            (void)f32v_pack(w->asked[0] + n, f32v_max(low, f32v_neg(steepest)), near);
            (void)u32v_pack(w->asked_layer + n, u32v_set(1U << k), near);
            n += f32v_pack(w->asked[1] + n, f32v_min(high, steepest), near);
        }
    }
    return n;
}

/* Those of the slopes that hits of enough layers ask for. */
static inline mask32 agree(const upstream_work *w, size_t n, uint32_t layers, f32v slope)
{
    u32v has = u32v_set(0);
    for (size_t i = 0; i < n; i++) {
        const mask32 here = mask32_and(f32v_le(f(w->asked[0][i]), slope), f32v_ge(f(w->asked[1][i]), slope));
        has = u32v_select(here, u32v_or(has, u32v_set(w->asked_layer[i])), has);
    }
    return u32v_ge(u32v_popcount(has), u32v_set(layers));
}

static void find_ranges(const slc_hlt1_upstream_ask *ask, const slc_hlt1_event *event, upstream_work *w)
{
    place_ranges(ask, event, w);
    for (size_t t = 0; t < w->lines.n; t++) {
        const size_t n = ask->layers > 0 ? ask_hits(ask, event, w, t) : 0;
        w->range[0][t] = -ask->most_q_over_p;
        w->range[1][t] = ask->most_q_over_p;
        if (ask->layers == 0 || n >= SLC_HLT1_UPSTREAM_ASKED) {
            continue;
        }
        f32v least = f(INFINITY), most = f(-INFINITY);
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            const mask32 some = mask32_first(n - i);
            const f32v low = f32v_load(w->asked[0] + i), high = f32v_load(w->asked[1] + i);
            const mask32 begins = mask32_and(some, agree(w, n, ask->layers, low));
            const mask32 ends = mask32_and(some, agree(w, n, ask->layers, high));
            least = f32v_min(least, f32v_select(begins, low, f(INFINITY)));
            most = f32v_max(most, f32v_select(ends, high, f(-INFINITY)));
        }
        const float a = f32v_lowest(least), b = f32v_highest(most), per_q = w->per_q[t];
        const float low = per_q < 0 ? b / per_q : a / per_q, high = per_q < 0 ? a / per_q : b / per_q;
        w->range[0][t] = a <= b ? low : 1.0f;
        w->range[1][t] = a <= b ? high : -1.0f;
    }
}

const slc_hlt1_upstream_kernels SIMD_TABLE(slc_hlt1_upstream) = {.target = SIMD_TARGET_NAME,
                                                                 .index = make_index,
                                                                 .lines = take_lines,
                                                                 .search = search,
                                                                 .ranges = find_ranges};
