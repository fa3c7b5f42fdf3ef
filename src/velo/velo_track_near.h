/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the track search: which hits of a layer are looked at, and the closest one to each of
 * many lines. Lines lie in the lanes, hits come one after the other. Where there are many of both, lines that
 * can reach a box of hits are listed first, and only these are compared with its hits. Whatever is left out
 * is so on the safe side: the result is that of looking at all. Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_NEAR_H
#define SLUICE_VELO_TRACK_NEAR_H

#include "velo/velo_track_scatter.h"
#include "velo/velo_track_work.h"

enum { PLACES = (1 << SLC_TRACK_PLACE_BITS) - 1 };

/* N is known where these are used, and their arrays are then registers. */
#define INLINE static inline __attribute__((always_inline))

/* ---- windows ----------------------------------------------------------------------------------------- */

/* Places begin … end - 1 of a layer; beyond its last hit they go on with its first. */
typedef struct window {
    uint32_t begin, end;
} window;

/* How many keys are below. */
static uint32_t count_below(const slc_track_layer *layer, int32_t key)
{
    uint32_t low = 0, n = layer->n;
    while (n > 0) {
        const uint32_t half = n / 2;
        const bool below = layer->key[low + half] < key;
        low = below ? low + half + 1 : low;
        n = below ? n - half - 1 : half;
    }
    return low;
}

static inline window whole(const slc_track_layer *layer)
{
    return (window){0, layer->n};
}

/* The hits from one direction to another, counterclockwise. */
static window between(const slc_track_layer *layer, int32_t from, int32_t to)
{
    window w = {count_below(layer, from), count_below(layer, to)};
    /* Keys equal to `to` belong to it. */
    while (w.end < layer->n && layer->key[w.end] == to) {
        w.end++;
    }
    if (from > to) {
        w.end += layer->n;
    }
    return w.end - w.begin >= layer->n ? whole(layer) : w;
}

/* A place below 2n. */
static inline uint32_t wrapped(uint32_t place, uint32_t n)
{
    return place < n ? place : place - n;
}

/* The hits between two directions and `more` beyond each; also those that are as near as the last of these.
 * Between the steps of 2^12 no two places tell themselves apart, so that equal keys are equally near. */
static window around(const slc_track_layer *layer, int32_t from, int32_t to, uint32_t more)
{
    const uint32_t n = layer->n;
    const window inside = between(layer, from, to);
    const uint32_t size = inside.end - inside.begin;
    if (size + 2 * more + 2 >= n) {
        return whole(layer);
    }
    uint32_t before = more, behind = more;
    while (before + behind + size < n && layer->key[wrapped(inside.begin + n - before, n)] ==
                                             layer->key[wrapped(inside.begin + n - before - 1, n)]) {
        before++;
    }
    while (before + behind + size < n &&
           layer->key[wrapped(inside.end + behind - 1, n)] == layer->key[wrapped(inside.end + behind, n)]) {
        behind++;
    }
    if (before + behind + size >= n) {
        return whole(layer);
    }
    const uint32_t begin = wrapped(inside.begin + n - before, n);
    return (window){begin, begin + before + size + behind};
}

/* Two stretches in the order of places. */
typedef struct stretches {
    uint32_t begin[2], end[2];
} stretches;

static inline stretches stretches_of(const slc_track_layer *layer, window w)
{
    const uint32_t n = layer->n;
    return w.end <= n ? (stretches){{0, w.begin}, {0, w.end}} : (stretches){{0, w.begin}, {w.end - n, n}};
}

/* ---- columns of a layer by place -------------------------------------------------------------------------
 */

/* Places in a layer of n hits are looked up by permutations of whole vectors, which is faster than gathering
 * where these are few. */
INLINE bool by_permutation(uint32_t n)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES;
    return n <= 12 * lanes && (lanes & (lanes - 1)) == 0;
}

/* Where the hits at `place` are, places < layer->n. */
INLINE void look_up(const slc_track_layer *layer, u32v place, f32v *x, f32v *y, f32v *z)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES, n = layer->n;
    const float *from_x = layer->x, *from_y = layer->y, *from_z = layer->z;
    if (!by_permutation(n)) {
        *x = f32v_gather(from_x, place);
        *y = f32v_gather(from_y, place);
        *z = f32v_gather(from_z, place);
        return;
    }
    const u32v in_vector = u32v_and(place, u32v_set(lanes - 1));
    f32v at_x = f32v_permute(f32v_load(from_x), in_vector), at_y = f32v_permute(f32v_load(from_y), in_vector);
    f32v at_z = f32v_permute(f32v_load(from_z), in_vector);
    for (uint32_t i = lanes; i < n; i += lanes) {
        const mask32 beyond = u32v_ge(place, u32v_set(i));
        at_x = f32v_select(beyond, f32v_permute(f32v_load(from_x + i), in_vector), at_x);
        at_y = f32v_select(beyond, f32v_permute(f32v_load(from_y + i), in_vector), at_y);
        at_z = f32v_select(beyond, f32v_permute(f32v_load(from_z + i), in_vector), at_z);
    }
    *x = at_x;
    *y = at_y;
    *z = at_z;
}

/* And a column of whole numbers. */
INLINE u32v look_up_u32(const uint32_t *column, uint32_t n, u32v place)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES;
    if (!by_permutation(n)) {
        return u32v_gather(column, place);
    }
    const u32v in_vector = u32v_and(place, u32v_set(lanes - 1));
    u32v found = u32v_permute(u32v_load(column), in_vector);
    for (uint32_t i = lanes; i < n; i += lanes) {
        found = u32v_select(u32v_ge(place, u32v_set(i)), u32v_permute(u32v_load(column + i), in_vector),
                            found);
    }
    return found;
}

/* ---- lines and boxes ----------------------------------------------------------------------------------- */

/* Can a line come within `reach` of a hit in the box? True where that is not certain. The line's way between
 * the box's ends in z, and what is rounded off, are added to the reach: a line is not known better than its
 * start, which matters far outside of the detector. There, u and v may be the difference of two infinities:
 * what is not a number is not beside. */
INLINE mask32 reaches(const slc_track_box *box, f32v x, f32v y, f32v z, f32v tx, f32v ty, float reach)
{
    const f32v dz = f32v_sub(f32v_set(box->z), z), zero = f32v_set(0), rounded = f32v_set(2e-6f);
    const f32v at_x = f32v_add(x, f32v_mul(tx, dz)), at_y = f32v_add(y, f32v_mul(ty, dz));
    const f32v r2 = f32v_add(f32v_mul(at_x, at_x), f32v_mul(at_y, at_y));
    const f32v depth = f32v_add(f32v_set(box->half_dz), f32v_mul(f32v_abs(dz), rounded));
    const f32v way = f32v_mul(f32v_add(f32v_abs(tx), f32v_abs(ty)), depth);
    const f32v from = f32v_mul(f32v_add(f32v_abs(x), f32v_abs(y)), rounded);
    const f32v slack = f32v_add(f32v_add(way, from), f32v_set(reach + box->margin));
    const f32v inner = f32v_max(f32v_sub(f32v_set(box->r_low), slack), zero);
    const f32v outer = f32v_add(f32v_set(box->r_high), slack);
    const mask32 ring = mask32_and(f32v_ge(r2, f32v_mul(inner, inner)), f32v_le(r2, f32v_mul(outer, outer)));
    const f32v u = f32v_add(at_x, at_y), v = f32v_sub(at_x, at_y);
    const f32v diagonal = f32v_mul(slack, f32v_set(1.4143f));
    const mask32 beside_u = mask32_or(f32v_lt(u, f32v_sub(f32v_set(box->u_low), diagonal)),
                                      f32v_gt(u, f32v_add(f32v_set(box->u_high), diagonal)));
    const mask32 beside_v = mask32_or(f32v_lt(v, f32v_sub(f32v_set(box->v_low), diagonal)),
                                      f32v_gt(v, f32v_add(f32v_set(box->v_high), diagonal)));
    return mask32_andnot(ring, mask32_or(beside_u, beside_v));
}

static inline void clear_lists(slc_track_work *work, const slc_track_layer *layer)
{
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        work->lines[b].n = 0;
    }
}

/* Lines as many as there are lanes, of which `valid` are some: those that can reach a box get into its list,
 * where entry `e` tells which they are. */
INLINE void list_lines(slc_track_work *work, const slc_track_layer *layer, uint32_t e, mask32 valid, f32v x,
                       f32v y, f32v z, f32v tx, f32v ty, float reach)
{
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        slc_track_lines *to = &work->lines[b];
        const mask32 in = mask32_and(valid, reaches(&layer->box[b], x, y, z, tx, ty, reach));
        const uint32_t end = to->n;
        to->in[e] = mask32_bits(in);
        to->begin[e] = end;
        (void)f32v_pack(to->x + end, x, in);
        (void)f32v_pack(to->y + end, y, in);
        (void)f32v_pack(to->z + end, z, in);
        (void)f32v_pack(to->tx + end, tx, in);
        to->n = end + (uint32_t)f32v_pack(to->ty + end, ty, in);
    }
}

/* ---- the closest hit ------------------------------------------------------------------------------------
 */

/* A hit that lies at (ex, ey, ez) from the starts of the lines, and is `here`: is it closer to them than
 * `of`, whose scatter is `least`? Floats that are not negative rise as their bits do, and what is not a
 * number is above them all. */
INLINE void compare(f32v ex, f32v ey, f32v ez, f32v tx, f32v ty, u32v here, u32v *least, u32v *of)
{
    const u32v scatter = u32v_bits_of_f32(scatter_of(ex, ey, ez, tx, ty));
    *of = u32v_select(u32v_lt(scatter, *least), here, *of);
    *least = u32v_min(scatter, *least);
}

/* For the lines from i on, as many as there are lanes, or twice as many where it is `two` vectors: the
 * closest of the hits at places begin … end - 1, and its scatter; SLC_TRACK_NONE and max_scatter where none
 * is closer than that, which is positive. */
INLINE void find_closest(const slc_track_layer *layer, uint32_t begin, uint32_t end, float max_scatter,
                         const slc_track_lines *lines, uint32_t i, bool two)
{
    const uint32_t j = two ? i + (uint32_t)SIMD_LANES : i;
    const f32v x0 = f32v_load(lines->x + i), y0 = f32v_load(lines->y + i), z0 = f32v_load(lines->z + i);
    const f32v tx0 = f32v_load(lines->tx + i), ty0 = f32v_load(lines->ty + i);
    const f32v x1 = f32v_load(lines->x + j), y1 = f32v_load(lines->y + j), z1 = f32v_load(lines->z + j);
    const f32v tx1 = f32v_load(lines->tx + j), ty1 = f32v_load(lines->ty + j);
    const u32v most = u32v_bits_of_f32(f32v_set(max_scatter)), none = u32v_set((uint32_t)SLC_TRACK_NONE);
    const u32v one = u32v_set(1);
    u32v least0 = most, least1 = most, of0 = none, of1 = none, here = u32v_set(begin);
    for (uint32_t k = begin; k < end; k++) {
        const f32v x = f32v_set(layer->x[k]), y = f32v_set(layer->y[k]), z = f32v_set(layer->z[k]);
        compare(f32v_sub(x, x0), f32v_sub(y, y0), f32v_sub(z, z0), tx0, ty0, here, &least0, &of0);
        if (two) {
            compare(f32v_sub(x, x1), f32v_sub(y, y1), f32v_sub(z, z1), tx1, ty1, here, &least1, &of1);
        }
        here = u32v_add(here, one);
    }
    f32v_store(lines->scatter + i, f32v_from_bits(least0));
    u32v_store(lines->hit + i, of0);
    if (two) {
        f32v_store(lines->scatter + j, f32v_from_bits(least1));
        u32v_store(lines->hit + j, of1);
    }
}

/* The same for all lines from `first` on: two vectors of lines a turn, for which a hit is fetched once. */
static void find_all_closest(const slc_track_layer *layer, uint32_t begin, uint32_t end, float max_scatter,
                             const slc_track_lines *lines, uint32_t first)
{
    uint32_t i = first;
    for (; i + SIMD_LANES < lines->n; i += 2 * (uint32_t)SIMD_LANES) {
        find_closest(layer, begin, end, max_scatter, lines, i, true);
    }
    if (i < lines->n) {
        find_closest(layer, begin, end, max_scatter, lines, i, false);
    }
}

/* Of the lists of all boxes. */
static void find_listed(slc_track_work *work, const slc_track_layer *layer, float max_scatter)
{
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        find_all_closest(layer, layer->edge[b], layer->edge[b + 1], max_scatter, &work->lines[b], 0);
        work->compared += (uint64_t)work->lines[b].n * (layer->edge[b + 1] - layer->edge[b]);
    }
}

/* What has been found for the lines of entry `e`, back in their lanes: bits of the scatter, and the place. Of
 * equally close hits the first. */
INLINE void collect(const slc_track_work *work, const slc_track_layer *layer, uint32_t e, float max_scatter,
                    u32v *scatter, u32v *place)
{
    u32v least = u32v_bits_of_f32(f32v_set(max_scatter)), of = u32v_set((uint32_t)SLC_TRACK_NONE);
    for (uint32_t b = 0; b < layer->n_boxes; b++) {
        const slc_track_lines *from = &work->lines[b];
        const mask32 in = mask32_of_bits(from->in[e]);
        const u32v here = u32v_bits_of_f32(f32v_expand(f32v_load(from->scatter + from->begin[e]), in));
        const u32v hit = u32v_expand(u32v_load(from->hit + from->begin[e]), in);
        const mask32 closer = mask32_and(in, u32v_lt(here, least));
        least = u32v_select(closer, here, least);
        of = u32v_select(closer, hit, of);
    }
    *scatter = least;
    *place = of;
}

#endif
