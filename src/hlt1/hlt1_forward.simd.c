/* SPDX-License-Identifier: Apache-2.0
 *
 * From what a track should do in the SciFi to three hits there that may be its.
 *
 * Three kinds of lanes. The twelve layers of a track: where it crosses them, and what may be hit. The hits of
 * a first layer, each with the range of those of the last layer that may belong to it. Pairs of them, to
 * which the nearest hit of the layer in the middle is looked up. Triplets go to hlt1_follow.simd.c.
 *
 * Every number is made by the same operations in the same order as the oracle in tests/oracle/ does for one
 * candidate after the other: the same bits.
 */
#include "hlt1/hlt1_forward_lanes.h"

static const float window_mm = 150.0f, free_window_mm = 50.0f, window_per_q = 2e6f, outer_mm = 100.0f,
                   stereo_mm = 800.0f;
static const float triplet_limit = 8.0f;

/* ---- where the track is expected ---------------------------------------------------------------- */

static void cross_layers(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                         slc_hlt1_forward_work *w)
{
    const slc_hlt1_forward_tables *tables = in->tables;
    const float ty = s->velo.ty, mz = tables->params->magnet_z_mm[0];
    const f32v slower = f(1.0f - ty * SLC_SCIFI_DZDY);
    const float reach = window_mm + window_per_q * fabsf(s->q_over_p);
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        w->slope[k] = s->slope[k / 4];
        w->reach[k] = tables->dxdy[k] != 0 ? stereo_mm : reach;
    }
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k += SIMD_LANES) {
        const f32v zone_z = f32v_load(tables->zone_z + k), dxdy = f32v_load(tables->dxdy + k);
        const mask32 straight = f32v_eq(dxdy, f(0));
        const f32v y = DIV(ADD(f(s->velo.y), MUL(f(ty), SUB(zone_z, f(s->velo.z)))), slower);
        const f32v z = ADD(zone_z, MUL(y, f(SLC_SCIFI_DZDY)));
        const f32v behind = SUB(z, f(mz)), tilted = MUL(y, dxdy);
        const f32v slope = f32v_load(w->slope + k),
                   around = in->free ? f(free_window_mm) : f32v_load(w->reach + k);
        const f32v least = in->free ? f(s->range[0]) : slope, most = in->free ? f(s->range[1]) : slope;
        const f32v left = SUB(ADD(f(s->x), MUL(least, behind)), tilted);
        const f32v right = SUB(ADD(f(s->x), MUL(most, behind)), tilted);
        const f32v outer = f32v_select(straight, f(outer_mm), f(0));
        f32v_store(w->y + k, y);
        f32v_store(w->z + k, z);
        f32v_store(w->d + k, SUB(z, f(SLC_HLT1_SCIFI_Z_MM)));
        f32v_store(w->velo_x + k, ADD(f(s->velo.x), MUL(f(s->velo.tx), SUB(z, f(s->velo.z)))));
        f32v_store(w->centre + k, left);
        f32v_store(w->low + k, SUB(SUB(left, around), s->bend < 0 ? outer : f(0)));
        f32v_store(w->high + k, ADD(ADD(right, around), s->bend > 0 ? outer : f(0)));
    }
}

static void find_window(const slc_hlt1_forward_in *in, slc_hlt1_forward_work *w, uint32_t k)
{
    const uint32_t most = in->max_hits;
    const uint32_t begin = lower(in, w, k, w->low[k]);
    uint32_t from = begin, end = lower(in, w, k, w->high[k]);
    end = end > begin ? end : begin;
    if (end - begin > most && in->tables->dxdy[k] == 0 && !in->free) {
        uint32_t middle = lower(in, w, k, w->centre[k]);
        middle = middle < begin ? begin : middle > end ? end : middle;
        from = middle > begin + most / 2 ? middle - most / 2 : begin;
        from = from < end - most ? from : end - most;
        end = from + most;
    }
    w->begin[k] = from;
    w->end[k] = end;
}

static bool is_filled(const slc_hlt1_forward_work *w, size_t set)
{
    const uint32_t *k = sets[set];
    return w->begin[k[0]] < w->end[k[0]] && w->begin[k[1]] < w->end[k[1]] && w->begin[k[2]] < w->end[k[2]];
}

/* Is there a hit in what may be hit? */
static bool has_any(const slc_hlt1_forward_in *in, const slc_hlt1_forward_work *w, uint32_t k)
{
    const uint32_t first = lower(in, w, k, w->low[k]);
    return first < w->n[k] && in->x[w->row[k] + first] < w->high[k];
}

/* False if there cannot be enough hits. */
static bool find_windows(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                         slc_hlt1_forward_work *w)
{
    const bool upper = s->velo.y + s->velo.ty * (in->tables->zone_z[0] - s->velo.z) > 0;
    for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        w->zone[k] = 2 * k + (upper ? 1 : 0);
        w->row[k] = in->begin[w->zone[k]];
        w->n[k] = in->begin[w->zone[k] + 1] - w->row[k];
    }
    for (size_t i = 0; i < 3; i++) {
        find_window(in, w, sets[0][i]);
        find_window(in, w, sets[1][i]);
    }
    if (!is_filled(w, 0) && !is_filled(w, 1)) {
        return false;
    }
    bool every = true;
    for (size_t i = 0; i < 6 && every; i += 2) {
        every = has_any(in, w, stereo_layers[i]) || has_any(in, w, stereo_layers[i + 1]);
    }
    return every;
}

/* ---- three hits --------------------------------------------------------------------------------- */

/* A set of three layers for a track. */
typedef struct three {
    const slc_hlt1_forward_in *in;
    const slc_hlt1_forward_start *start;
    slc_hlt1_forward_work *w;
    uint32_t set, first, middle, last; /* layers */
    float lever, reach;
} three;

/* How far in x the middle of the magnet is from where the two legs meet, for the slope behind it. */
static inline f32v magnet_shift(const slc_hlt1_forward_params *params, f32v slope)
{
    const float *p = params->x_at_magnet;
    return ADD(f(p[0]), MUL(slope, ADD(f(p[1]), MUL(slope, ADD(f(p[2]), MUL(slope, f(p[3])))))));
}

/* As slc_hlt1_forward_tolerance. */
static inline f32v tolerance_of(f32v q_over_p)
{
    const f32v q = f32v_abs(q_over_p), part = DIV(q, f(5e-4f));
    return ADD(f(8.0f), MUL(f(32.0f), f32v_select(f32v_lt(q, f(5e-4f)), part, f(1.0f))));
}

/* The last one of those that are kept, which are a full list. */
static size_t find_worst(const slc_hlt1_forward_work *w, size_t n)
{
    float most = 0;
    for (size_t t = 0; t < n; t += SIMD_LANES) {
        const f32v distance = f32v_load(w->triplets.distance2 + t);
        const float here = f32v_highest(f32v_select(mask32_first(n - t), distance, f(0)));
        most = here > most ? here : most;
    }
    size_t worst = n;
    for (size_t t = 0; t < n; t += SIMD_LANES) {
        const mask32 same = f32v_ge(f32v_load(w->triplets.distance2 + t), f(most));
        for (uint64_t left = mask32_bits(mask32_and(same, mask32_first(n - t))); left != 0;
             left &= left - 1) {
            const size_t i = t + (size_t)__builtin_ctzll(left);
            worst = worst == n || is_before(w, worst, i) ? i : worst;
        }
    }
    return worst;
}

/* Keeps the best ones: row n is the new one. */
static void keep_triplet(slc_hlt1_forward_work *w, size_t most)
{
    const size_t n = w->triplets.n, worst = w->triplets.worst;
    if (n < most) {
        w->triplets.n++;
        if (n + 1 == most) {
            w->triplets.worst = find_worst(w, most);
        }
        return;
    }
    if (most == 0 || !is_before(w, n, worst)) {
        return;
    }
    w->triplets.distance2[worst] = w->triplets.distance2[n];
    w->triplets.set[worst] = w->triplets.set[n];
    for (size_t k = 0; k < 3; k++) {
        w->triplets.x[k][worst] = w->triplets.x[k][n];
        w->triplets.hit[k][worst] = w->triplets.hit[k][n];
    }
    w->triplets.worst = find_worst(w, n);
}

/* Lanes of a vector of pairs, with the hit in the middle that is in w->middle, become triplets. */
static void keep_lanes(const three *c, size_t pair, uint64_t lanes)
{
    slc_hlt1_forward_work *w = c->w;
    for (uint64_t left = lanes; left != 0; left &= left - 1) {
        const size_t lane = (size_t)__builtin_ctzll(left), p = pair + lane, t = w->triplets.n;
        w->triplets.distance2[t] = w->middle.distance2[lane];
        w->triplets.set[t] = c->set;
        w->triplets.x[0][t] = w->pairs.x[p];
        w->triplets.x[1][t] = w->middle.x[lane];
        w->triplets.x[2][t] = w->middle.last_x[lane];
        w->triplets.hit[0][t] = w->pairs.first[p];
        w->triplets.hit[1][t] = w->middle.hit[lane];
        w->triplets.hit[2][t] = w->pairs.last[p];
        keep_triplet(w, c->in->max_triplets);
    }
}

/* Looks up the hit in the middle of a vector of pairs from number p on, and keeps those where it is near
 * enough. */
static inline void complete(const three *c, size_t p, f32v x1, f32v x2, mask32 some)
{
    const slc_hlt1_forward_in *in = c->in;
    slc_hlt1_forward_work *w = c->w;
    f32v x;
    const u32v m = nearest(in, w, c->middle, w->begin[c->middle], w->end[c->middle], x1, some, &x);
    const f32v d = SUB(x, x1), d2 = MUL(d, d);
    some = mask32_and(some, f32v_lt(d2, f(triplet_limit)));
    if (in->free) {
        const f32v there = f32v_gather_masked(in->free_x, u32v_add(u32v_set(w->row[c->middle]), m), some,
                                              f(INFINITY));
        some = mask32_and(some, f32v_lt(there, f(INFINITY)));
    }
    if (w->triplets.n > 0 && w->triplets.n == in->max_triplets) {
        some = mask32_and(some, f32v_le(d2, f(w->triplets.distance2[w->triplets.worst])));
    }
    f32v_store(w->middle.distance2, d2);
    f32v_store(w->middle.x, x);
    f32v_store(w->middle.last_x, x2);
    u32v_store(w->middle.hit, m);
    keep_lanes(c, p, mask32_bits(some));
}

/* Those of the pairs that point to the VELO's line in the middle of the magnet. */
static void judge_pairs(const three *c)
{
    const slc_hlt1_forward_params *params = c->in->tables->params;
    const slc_hlt1_forward_start *s = c->start;
    slc_hlt1_forward_work *w = c->w;
    const f32v z0 = f(w->z[c->first]), z1 = f(w->z[c->middle]), sagitta = f(params->sagitta[c->set]);
    const float *last = c->in->free_x + w->row[c->last];
    for (size_t p = 0; p < w->pairs.n; p += SIMD_LANES) {
        mask32 good = mask32_first(w->pairs.n - p);
        const f32v x0 = f32v_load(w->pairs.x + p);
        const f32v x2 = f32v_gather_masked(last, u32v_load(w->pairs.last + p), good, f(INFINITY));
        const f32v tolerance = c->in->free ? f32v_load(w->pairs.tolerance + p) : f(s->tolerance);
        const f32v slope = DIV(SUB(x2, x0), f(c->reach));
        const f32v off = SUB(SUB(ADD(x0, MUL(slope, f(c->lever))), f(s->magnet_x)),
                             magnet_shift(params, slope));
        good = mask32_and(good, f32v_lt(x2, f(INFINITY)));
        good = mask32_andnot(good, f32v_ge(f32v_abs(off), tolerance));
        if (s->soft) {
            good = mask32_andnot(good, f32v_lt(MUL(SUB(slope, f(s->tx)), f(s->bend)), f(0)));
        }
        if (mask32_any(good)) {
            complete(c, p, ADD(MUL(z1, slope), MUL(SUB(x0, MUL(slope, z0)), sagitta)), x2, good);
        }
    }
    w->pairs.n = 0;
}

/* Pairs the first hits of a vector, from row i on, with the last ones that their slopes lead to. */
static void pair(const three *c, uint32_t i, f32v x0, f32v tolerance, mask32 some, f32v low, f32v high)
{
    const slc_hlt1_forward_in *in = c->in;
    slc_hlt1_forward_work *w = c->w;
    const float *last = in->x + w->row[c->last];
    const float lowest = f32v_lowest(f32v_select(some, low, f(INFINITY)));
    const float highest = f32v_highest(f32v_select(some, high, f(-INFINITY)));
    const uint32_t lower_row = lower(in, w, c->last, lowest), begin = w->begin[c->last];
    const uint32_t from = lower_row > begin ? lower_row : begin, end = w->end[c->last];
    u32v at = u32v_set(from), behind = at;
    for (uint32_t k = from; k < end && last[k] <= highest; k++) {
        const f32v x2 = f(last[k]);
        at = u32v_select(f32v_lt(x2, low), u32v_add(at, u32v_set(1)), at);
        behind = u32v_select(f32v_le(x2, high), u32v_add(behind, u32v_set(1)), behind);
    }
    for (mask32 left = mask32_and(some, u32v_lt(at, behind)); mask32_any(left);
         left = mask32_and(some, u32v_lt(at, behind))) {
        const size_t n = w->pairs.n;
        (void)f32v_pack(w->pairs.x + n, x0, left);
        if (in->free) {
            (void)f32v_pack(w->pairs.tolerance + n, tolerance, left);
        }
        (void)u32v_pack(w->pairs.last + n, at, left);
        w->pairs.n += u32v_pack(w->pairs.first + n, u32v_iota(i), left);
        at = u32v_add(at, u32v_set(1));
        if (w->pairs.n + SIMD_LANES > SLC_HLT1_FORWARD_PAIRS) {
            judge_pairs(c);
        }
    }
}

static void find_triplets(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *s,
                          slc_hlt1_forward_work *w, uint32_t set)
{
    const slc_hlt1_forward_params *params = in->tables->params;
    const float *p = params->x_at_magnet;
    three c = {.in = in,
               .start = s,
               .w = w,
               .set = set,
               .first = sets[set][0],
               .middle = sets[set][1],
               .last = sets[set][2]};
    c.lever = params->magnet_z_mm[0] - w->z[c.first];
    c.reach = w->z[c.last] - w->z[c.first];
    const f32v lever = f(c.lever), reach = f(c.reach), mx = f(s->magnet_x);
    for (uint32_t i = w->begin[c.first]; i < w->end[c.first]; i += (uint32_t)SIMD_LANES) {
        const f32v x0 = f32v_load(in->free_x + w->row[c.first] + i);
        const mask32 some = mask32_and(mask32_first(w->end[c.first] - i), f32v_lt(x0, f(INFINITY)));
        if (!mask32_any(some)) {
            continue;
        }
        const f32v straight = DIV(SUB(mx, x0), lever);
        const f32v slope = DIV(SUB(ADD(mx, magnet_shift(params, straight)), x0), lever);
        const f32v tolerance = in->free ? tolerance_of(DIV(SUB(slope, f(s->tx)), f(s->kick)))
                                        : f(s->tolerance);
        /* At large slopes the shift counts: where `off` is 0 by Newton, and how far x may be from there. */
        const f32v rises = ADD(f(2.0f * p[2]), MUL(MUL(slope, f(3.0f)), f(p[3])));
        const f32v bends = SUB(lever, ADD(f(p[1]), MUL(slope, rises)));
        const f32v off = SUB(SUB(ADD(x0, MUL(slope, lever)), mx), magnet_shift(params, slope));
        const f32v centre = ADD(x0, MUL(SUB(slope, DIV(off, bends)), reach));
        const f32v most = ADD(MUL(MUL(f(1.1f), tolerance), f32v_abs(DIV(reach, bends))), f(1.0f));
        pair(&c, i, x0, tolerance, some, SUB(centre, most), ADD(centre, most));
    }
    judge_pairs(&c);
}

/* The triplets of a start, to the scratch; false without. */
static bool seek(const slc_hlt1_forward_in *in, const slc_hlt1_forward_start *start,
                 slc_hlt1_forward_work *work)
{
    work->triplets.n = work->triplets.worst = work->pairs.n = 0;
    cross_layers(in, start, work);
    if (!find_windows(in, start, work)) {
        return false;
    }
    for (uint32_t set = 0; set < 2; set++) {
        if (is_filled(work, set)) {
            find_triplets(in, start, work, set);
        }
    }
    return work->triplets.n > 0;
}

const slc_hlt1_forward_kernels SIMD_TABLE(slc_hlt1_forward) = {.target = SIMD_TARGET_NAME, .seek = seek};
