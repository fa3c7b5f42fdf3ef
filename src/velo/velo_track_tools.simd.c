/* SPDX-License-Identifier: Apache-2.0
 *
 * Before and behind the search for tracks: hits sorted by direction into layers, the hits that are left of
 * them, layers where a short track should have a hit, missed hits picked up, and broken tracks joined.
 */
#include "simd/simd.h"
#include "velo/velo_track_join.h"
#include "velo/velo_track_left.h"
#include "velo/velo_track_pick.h"
#include "velo/velo_track_scatter.h"
#include "velo/velo_track_sort.h"
#include "velo/velo_track_work.h"

#include <math.h>

enum { PLACES = (1 << SLC_TRACK_PLACE_BITS) - 1 };

#define STEPS 262144.0f /* of an angle of 1; 2^20 for the full turn */

/* ---- hits and layers ------------------------------------------------------------------------------ */

/* The direction of a hit, as a whole number. */
static inline i32v direction(f32v x, f32v y)
{
    const f32v zero = f32v_set(0), two = f32v_set(2);
    const f32v sum = f32v_add(f32v_abs(x), f32v_abs(y));
    const f32v part = f32v_select(f32v_gt(sum, zero), f32v_div(y, sum), zero);
    const f32v left = f32v_sub(f32v_select(f32v_ge(y, zero), two, f32v_neg(two)), part);
    const f32v angle = f32v_select(f32v_ge(x, zero), part, left);
    const i32v steps = i32v_truncate(f32v_mul(angle, f32v_set(STEPS)));
    return i32v_from_u32(u32v_shl(u32v_from_i32(steps), SLC_TRACK_PLACE_BITS));
}

static void find_directions(const slc_track_hits *hits, size_t n)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        i32v_store(hits->key + i, direction(f32v_load(hits->x + i), f32v_load(hits->y + i)));
    }
}

static void direct(slc_track_work *work)
{
    const slc_track_hits *all = &work->all;
    find_directions(all, work->n_hits);
}

/* Codes of key above place, sorted, in work->sort_to. */
static void sort_layer(slc_track_work *work, size_t begin, size_t n)
{
    const u32v sign = u32v_set(UINT32_C(0x80000000));
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v key = u32v_from_i32(i32v_load(work->all.key + begin + i));
        u32v_store(work->sort_from + i, u32v_or(u32v_xor(key, sign), u32v_iota((uint32_t)i)));
    }
    sort(work->sort_from, n, work->order, work->sort_to);
}

static void sort_hits(slc_track_work *work, const slc_track_hits *into, uint32_t *event_hit, uint8_t *place)
{
    const u32v sign = u32v_set(UINT32_C(0x80000000)), places = u32v_set(PLACES);
    const slc_track_hits *all = &work->all;
    find_directions(all, work->n_hits);
    for (uint32_t l = 0; l < work->n_layers; l++) {
        const size_t begin = work->begin[l], n = work->begin[l + 1] - begin;
        sort_layer(work, begin, n);
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            const mask32 in = mask32_first(n - i);
            const u32v code = u32v_load(work->sort_to + i);
            const u32v from = u32v_add(u32v_set((uint32_t)begin),
                                       u32v_select(in, u32v_and(code, places), u32v_set(0)));
            f32v_store(into->x + begin + i, f32v_gather(all->x, from));
            f32v_store(into->y + begin + i, f32v_gather(all->y, from));
            f32v_store(into->z + begin + i, f32v_gather(all->z, from));
            i32v_store(into->key + begin + i, i32v_from_u32(u32v_xor(u32v_andnot(code, places), sign)));
            u32v_store(event_hit + begin + i, u32v_gather(work->event_hit, from));
        }
        for (size_t i = 0; i < n; i++) {
            place[begin + i] = work->place[begin + (work->sort_to[i] & PLACES)];
        }
    }
}

/* ---- what is left of a layer ----------------------------------------------------------------------- */

/* The edges of a layer's boxes when hits have gone. */
static inline void move_edges(slc_track_layer *layer, const uint32_t *edge, const uint8_t *gone)
{
    uint32_t kept = 0, b = 1;
    layer->edge[0] = 0;
    for (uint32_t i = 0; b <= layer->n_boxes; i += 64) {
        const uint64_t bits = bits_left(gone + i, edge[layer->n_boxes] - i);
        for (; b <= layer->n_boxes && edge[b] <= i + 64; b++) {
            const uint32_t below = edge[b] - i;
            const uint64_t mask = below < 64 ? (UINT64_C(1) << below) - 1 : UINT64_MAX;
            layer->edge[b] = kept + (uint32_t)__builtin_popcountll(bits & mask);
        }
        kept += (uint32_t)__builtin_popcountll(bits);
    }
}

/* Lane i of the first half: the lower of lanes 2i and 2i + 1 of a; of the second half, those of b. */
static inline f32v lower_of_pairs(f32v a, f32v b)
{
    const u32v of_a = u32v_bits_of_f32(a), of_b = u32v_bits_of_f32(b);
    return f32v_min(f32v_from_bits(u32v_even(of_a, of_b)), f32v_from_bits(u32v_odd(of_a, of_b)));
}

/* The lowest lane of each vector, of which none is NaN: together, as one by one they take longer than the box
 * of a few hits otherwise does. `to` has room for a vector and 8. */
static inline void lowest_of_eight(f32v a, f32v b, f32v c, f32v d, f32v e, f32v f, f32v g, f32v h, float *to)
{
    if (SIMD_LANES < 8 || (SIMD_LANES & (SIMD_LANES - 1)) != 0) {
        const float lowest[8] = {f32v_lowest(a), f32v_lowest(b), f32v_lowest(c), f32v_lowest(d),
                                 f32v_lowest(e), f32v_lowest(f), f32v_lowest(g), f32v_lowest(h)};
        memcpy(to, lowest, sizeof lowest);
        return;
    }
    const f32v first = lower_of_pairs(lower_of_pairs(a, b), lower_of_pairs(c, d));
    f32v all = lower_of_pairs(first, lower_of_pairs(lower_of_pairs(e, f), lower_of_pairs(g, h)));
    for (size_t lanes = SIMD_LANES / 8; lanes > 1; lanes /= 2) {
        all = lower_of_pairs(all, all);
    }
    f32v_store(to, all);
}

/* The box of the hits from begin on; of none one that nothing reaches. */
static slc_track_box box_of(const slc_track_layer *hits, size_t begin, size_t n)
{
    const f32v below = f32v_set(-INFINITY), above = f32v_set(INFINITY);
    f32v u_low = above, u_high = below, v_low = above, v_high = below, r2_low = above, r2_high = below,
         z_low = above, z_high = below;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 in = mask32_first(n - i);
        const f32v x = f32v_load(hits->x + begin + i), y = f32v_load(hits->y + begin + i);
        const f32v z = f32v_load(hits->z + begin + i), r2 = f32v_add(f32v_mul(x, x), f32v_mul(y, y));
        const f32v u = f32v_add(x, y), v = f32v_sub(x, y);
        u_low = f32v_min(f32v_select(in, u, above), u_low);
        u_high = f32v_max(f32v_select(in, u, below), u_high);
        v_low = f32v_min(f32v_select(in, v, above), v_low);
        v_high = f32v_max(f32v_select(in, v, below), v_high);
        r2_low = f32v_min(f32v_select(in, r2, above), r2_low);
        r2_high = f32v_max(f32v_select(in, r2, below), r2_high);
        z_low = f32v_min(f32v_select(in, z, above), z_low);
        z_high = f32v_max(f32v_select(in, z, below), z_high);
    }
    if (n == 0) {
        return (slc_track_box){.u_low = INFINITY, .u_high = -INFINITY};
    }
    float of[SIMD_MAX_LANES + 8];
    lowest_of_eight(u_low, f32v_neg(u_high), v_low, f32v_neg(v_high), r2_low, f32v_neg(r2_high), z_low,
                    f32v_neg(z_high), of);
    const float low = of[6], high = -of[7], r_high = sqrtf(-of[5]);
    return (slc_track_box){.z = 0.5f * (low + high),
                           .half_dz = 0.5f * (high - low) + 4e-6f * (fabsf(low) + fabsf(high)),
                           .u_low = of[0],
                           .u_high = -of[1],
                           .v_low = of[2],
                           .v_high = -of[3],
                           .r_low = sqrtf(of[4]),
                           .r_high = r_high,
                           .margin = 1e-3f + 1e-5f * (r_high + fabsf(low) + fabsf(high))};
}

/* Hits that are sorted are neighbours in direction; others lie module behind module, and `split` of all that
 * the layer had are in the first one. Of these the boxes are kept where `again` tells that there are some:
 * what is left is in them too, and would hardly make them smaller. */
static void find_boxes(slc_track_layer *layer, bool sorted, bool again, uint32_t split, const uint8_t *gone)
{
    if (sorted) {
        const uint32_t boxes = (layer->n + SLC_TRACK_BOX_HITS - 1) / SLC_TRACK_BOX_HITS;
        layer->n_boxes = boxes < SLC_TRACK_BOXES ? boxes : SLC_TRACK_BOXES;
        for (uint32_t b = 0; b < layer->n_boxes; b++) {
            layer->edge[b] = layer->n * b / layer->n_boxes;
        }
    } else {
        uint32_t first = 0;
        for (uint32_t i = 0; i < split; i += 64) {
            const uint64_t bits = bits_left(gone + i, split - i);
            first += (uint32_t)__builtin_popcountll(split - i < 64 ? bits & ((UINT64_C(1) << (split - i)) - 1)
                                                                   : bits);
        }
        layer->n_boxes = 2;
        layer->edge[0] = 0;
        layer->edge[1] = first;
    }
    layer->edge[layer->n_boxes] = layer->n;
    if (again && !sorted) {
        return;
    }
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        layer->box[b] = box_of(layer, layer->edge[b], layer->edge[b + 1] - layer->edge[b]);
    }
}

static void refill(slc_track_work *work, uint32_t l)
{
    const size_t begin = work->begin[l], n = work->begin[l + 1] - begin;
    const slc_track_hits *all = &work->all;
    slc_track_layer *to = &work->layer[l];
    if (work->again) {
        to->n = keep_hits(to, all->x + begin, all->y + begin, all->z + begin, all->key + begin,
                          all->id + begin, n, work->used + begin);
    } else {
        to->n = (uint32_t)n; /* nobody has taken any */
        for (size_t i = 0; i < n; i += SIMD_LANES) {
            f32v_store(to->x + i, f32v_load(all->x + begin + i));
            f32v_store(to->y + i, f32v_load(all->y + begin + i));
            f32v_store(to->z + i, f32v_load(all->z + begin + i));
            i32v_store(to->key + i, i32v_load(all->key + begin + i));
            u32v_store(to->id + i, u32v_load(all->id + begin + i));
        }
    }
    find_boxes(&work->layer[l], work->sorted, work->again, work->split[l] - work->begin[l],
               work->used + begin);
}

static void compact(slc_track_layer *layer, uint8_t *taken)
{
    const uint32_t n = layer->n;
    uint32_t edge[SLC_TRACK_BOXES + 1];
    memcpy(edge, layer->edge, sizeof edge);
    move_edges(layer, edge, taken);
    layer->n = keep_hits(layer, layer->x, layer->y, layer->z, layer->key, layer->id, n, taken);
    memset(taken, 0, n);
}

/* ---- tracks that have ended -------------------------------------------------------------------------------
 */

static uint32_t missing(const slc_track_work *work, const slc_velo_track_config *config, uint32_t upstream,
                        uint32_t downstream, uint64_t have)
{
    const slc_track_hits *all = &work->all;
    const float bx = all->x[upstream], by = all->y[upstream], bz = all->z[upstream];
    const float az = all->z[downstream], dz = az - bz;
    const float tx = (all->x[downstream] - bx) / dz, ty = (all->y[downstream] - by) / dz;
    const float closest = bz - (tx * bx + ty * by) / (tx * tx + ty * ty);
    const bool forward = bz > closest;
    const float low = config->missing_r_low_mm * config->missing_r_low_mm;
    const float high = config->missing_r_high_mm * config->missing_r_high_mm;
    /* Forward: layers above the upstream hit. Backward: below the downstream one, up to the beam line. */
    const float from = forward ? bz : -INFINITY, to = forward ? INFINITY : closest < az ? closest : az;
    uint32_t n = 0;
    for (uint32_t l = 0; l < work->n_layers; l += (uint32_t)SIMD_LANES) {
        const f32v z = f32v_load(work->layer_z + l), way = f32v_sub(z, f32v_set(bz));
        const f32v x = f32v_add(f32v_set(bx), f32v_mul(f32v_set(tx), way));
        const f32v y = f32v_add(f32v_set(by), f32v_mul(f32v_set(ty), way));
        const f32v r2 = f32v_add(f32v_mul(x, x), f32v_mul(y, y));
        const mask32 beside = mask32_and(f32v_gt(r2, f32v_set(low)), f32v_lt(r2, f32v_set(high)));
        const mask32 along = mask32_and(f32v_gt(z, f32v_set(from)), f32v_lt(z, f32v_set(to)));
        const mask32 empty = mask32_andnot(mask32_first(work->n_layers - l), mask32_of_bits(have >> l));
        n += (uint32_t)mask32_count(mask32_and(empty, mask32_and(beside, along)));
    }
    return n;
}

const slc_velo_track_tools SIMD_TABLE(slc_velo_track_tools) = {
    .target = SIMD_TARGET_NAME,
    .direct = direct,
    .sort = sort_hits,
    .refill = refill,
    .compact = compact,
    .missing = missing,
    .pick_up_all = pick_up_all,
    .join_all = join_all,
};
