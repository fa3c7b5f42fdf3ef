/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: how both kernel files of the search in the SciFi look hits up, a vector of places at a
 * time; included by *.simd.c alone.
 */
#ifndef SLUICE_HLT1_FORWARD_LANES_H
#define SLUICE_HLT1_FORWARD_LANES_H

#include "hlt1/hlt1_forward_work.h"
#include "simd/simd.h"

#define ADD f32v_add
#define SUB f32v_sub
#define MUL f32v_mul
#define DIV f32v_div

enum { FEW_HITS = 48 };
static const uint32_t sets[2][3] = {{0, 4, 8}, {3, 7, 11}};
static const uint32_t stereo_layers[6] = {1, 2, 5, 6, 9, 10};

static inline f32v f(float x)
{
    return f32v_set(x);
}

/* How many of the first n values, of which a block counts at most, are below x. */
static inline uint32_t below(const float *values, f32v x, size_t n)
{
    const size_t most = n < SLC_HLT1_BLOCK ? n : SLC_HLT1_BLOCK;
    size_t count = 0;
    for (size_t i = 0; i < SLC_HLT1_BLOCK; i += SIMD_LANES) {
        const mask32 some = mask32_first(most > i ? most - i : 0);
        count += mask32_count(mask32_and(f32v_lt(f32v_load(values + i), x), some));
    }
    return (uint32_t)count;
}

/* The first of a layer's n rising hits that is not below x. */
static inline uint32_t lower(const slc_hlt1_forward_in *in, const slc_hlt1_forward_work *w, uint32_t layer,
                             float x)
{
    const float *pivots = in->pivots + in->pivot_begin[w->zone[layer]];
    const f32v to = f(x);
    uint32_t block = 0, more;
    do {
        more = below(pivots + block, to, SLC_HLT1_BLOCK);
        block += more;
    } while (more == SLC_HLT1_BLOCK);
    const uint32_t from = SLC_HLT1_BLOCK * block;
    return from + below(in->x + w->row[layer] + from, to, w->n[layer] - from);
}

/* Of rising values first … last - 1 those that are nearest to x of any lane, from one that is not above the
 * lowest x but for the first of all, to one that is not below `highest`; of two the one below. */
static inline u32v scan(const float *values, uint32_t first, uint32_t last, bool has_left, float highest,
                        f32v x, f32v *near)
{
    f32v low = f(has_left ? values[first - 1] : -INFINITY), high = f(INFINITY);
    u32v at = u32v_set(first);
    bool more = true;
    for (uint32_t k = first; k < last && more; k++) {
        const f32v here = f(values[k]);
        const mask32 below = f32v_lt(here, x);
        at = u32v_select(below, u32v_add(at, u32v_set(1)), at);
        low = f32v_select(below, here, low);
        high = f32v_select(below, high, f32v_min(high, here));
        more = values[k] < highest;
    }
    const mask32 left = f32v_le(SUB(x, low), SUB(high, x));
    *near = f32v_select(left, low, high);
    return u32v_select(left, u32v_sub(at, u32v_set(1)), at);
}

/* Of hits begin … end - 1 of a layer, at least one, those nearest to the places x of the lanes in `some`. Few
 * hits are gone through for all lanes, without a look at where these are; of many those that lie between the
 * lanes. */
static inline u32v nearest(const slc_hlt1_forward_in *in, const slc_hlt1_forward_work *w, uint32_t layer,
                           uint32_t begin, uint32_t end, f32v x, mask32 some, f32v *near)
{
    const float *values = in->x + w->row[layer];
    if (end - begin <= FEW_HITS) {
        return scan(values, begin, end, false, INFINITY, x, near);
    }
    const float lowest = f32v_lowest(f32v_select(some, x, f(INFINITY)));
    const float highest = f32v_highest(f32v_select(some, x, f(-INFINITY)));
    uint32_t k = lower(in, w, layer, lowest);
    k = k < begin ? begin : k > end ? end : k;
    return scan(values, k, end, k > begin, highest, x, near);
}

/* Does the triplet a come before b: nearer in the middle, or found before? */
static inline bool is_before(const slc_hlt1_forward_work *w, size_t a, size_t b)
{
    const float x = w->triplets.distance2[a], y = w->triplets.distance2[b];
    if (x != y) {
        return x < y;
    }
    if (w->triplets.set[a] != w->triplets.set[b]) {
        return w->triplets.set[a] < w->triplets.set[b];
    }
    return w->triplets.hit[0][a] != w->triplets.hit[0][b] ? w->triplets.hit[0][a] < w->triplets.hit[0][b]
                                                          : w->triplets.hit[2][a] < w->triplets.hit[2][b];
}

#endif
