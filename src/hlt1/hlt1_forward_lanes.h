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

static const uint32_t sets[2][3] = {{0, 4, 8}, {3, 7, 11}};
static const uint32_t stereo_layers[6] = {1, 2, 5, 6, 9, 10};

static inline f32v f(float x)
{
    return f32v_set(x);
}

/* As many pivots are enough for most events. */
enum { FEW_PIVOTS = SLC_HLT1_PIVOTS / 2 };

/* How many of n values are below x, n a number of blocks. */
static inline uint32_t below(const float *values, size_t n, f32v x)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 less = f32v_lt(f32v_load(values + i), x);
        count += mask32_count(SIMD_LANES > SLC_HLT1_BLOCK ? mask32_and(less, mask32_first(n - i)) : less);
    }
    return (uint32_t)count;
}

/* The first of a layer's hits that is not below x, if it has fewer blocks than `pivots`. */
static inline uint32_t lower_by(const float *hits, size_t pivots, f32v x)
{
    const float *first = hits - SLC_HLT1_BLOCK - SLC_HLT1_PIVOTS;
    const size_t from = SLC_HLT1_BLOCK * (size_t)below(first, pivots, x);
    return (uint32_t)from + below(hits + from, SLC_HLT1_BLOCK, x);
}

/* The first of a layer's hits that is not below x. */
static inline uint32_t lower(const slc_hlt1_forward_half *half, uint32_t layer, float x)
{
    return half->most_hits < FEW_PIVOTS * SLC_HLT1_BLOCK ? lower_by(half->x[layer], FEW_PIVOTS, f(x))
           : half->n[layer] < SLC_HLT1_PIVOTS * SLC_HLT1_BLOCK
               ? lower_by(half->x[layer], SLC_HLT1_PIVOTS, f(x))
               : slc_hlt1_lower(half->x[layer], half->n[layer], x);
}

/* How far from the VELO's line tracks may be in the middle of the magnet. */
static inline f32v tolerance_of(f32v q_over_p)
{
    const f32v q = f32v_abs(q_over_p), part = MUL(q, f(1 / 5e-4f));
    return ADD(f(8.0f), MUL(f(32.0f), f32v_select(f32v_lt(q, f(5e-4f)), part, f(1.0f))));
}

/* Are vectors long enough for the hits of a window in four of them? (On SVE lanes may be no power of two.) */
static inline bool are_long(void)
{
    return SIMD_LANES >= 16 && (SIMD_LANES & (SIMD_LANES - 1)) == 0;
}

/* Row number `row` of n rising values, a vector long; infinity behind them. */
static inline f32v row_of(const float *values, uint32_t n, size_t row)
{
    const size_t from = row * SIMD_LANES;
    const mask32 some = mask32_first(n > from ? n - from : 0);
    return f32v_select(some, f32v_load_masked(values + from, some), f(INFINITY));
}

/* The same; infinities if it is not one of the first `rows` (1, 2 or 4), which are looked at. */
static inline f32v row_if(const float *values, uint32_t n, uint32_t rows, uint32_t row)
{
    return row < rows ? row_of(values, n, row) : f(INFINITY);
}

/* Lane i of one row, of two, or of the first or last two. */
static inline f32v pick_in(f32v row0, f32v row1, f32v row2, f32v row3, uint32_t rows, mask32 last_two, u32v i)
{
    if (rows == 1) {
        return f32v_permute(row0, i);
    }
    const f32v of_two = f32v_permute2(row0, row1, i);
    return rows == 2 ? of_two : f32v_select(last_two, f32v_permute2(row2, row3, i), of_two);
}

/* Lane i of the rows' lanes. */
static inline f32v pick(f32v row0, f32v row1, f32v row2, f32v row3, uint32_t rows, u32v i)
{
    const u32v two = u32v_set(2 * (uint32_t)SIMD_LANES);
    const u32v in_two = rows < 4 ? i : u32v_and(i, u32v_sub(two, u32v_set(1)));
    return pick_in(row0, row1, row2, row3, rows, rows < 4 ? mask32_none() : u32v_ge(i, two), in_two);
}

/* How many vectors of these are looked at for n values. */
static inline uint32_t rows_of(uint32_t n)
{
    return n <= SIMD_LANES ? 1 : n <= 2 * SIMD_LANES ? 2 : 4;
}

/* values[i] of the lanes in `some`, i < n. */
static inline f32v pick_of(const float *values, uint32_t n, u32v i, mask32 some)
{
    if (!are_long() || n > 4 * SIMD_LANES) {
        return f32v_gather_masked(values, i, some, f(INFINITY));
    }
    return pick(row_of(values, n, 0), row_of(values, n, 1), row_of(values, n, 2), row_of(values, n, 3), 4, i);
}

static inline mask32 is_below(f32v value, f32v x, bool or_at)
{
    return or_at ? f32v_le(value, x) : f32v_lt(value, x);
}

/* How many of the rows' rising values are below the places x of the lanes (or at them). By halves, with the
 * values in registers. */
static inline u32v count_in_rows(f32v row0, f32v row1, f32v row2, f32v row3, uint32_t rows, bool or_at,
                                 f32v x)
{
    const uint32_t lanes = (uint32_t)SIMD_LANES;
    const u32v zero = u32v_set(0), second = u32v_set(lanes);
    mask32 last_two = mask32_none();
    u32v at = zero; /* in one row or two */
    if (rows > 1) {
        at = u32v_select(is_below(f32v_permute(row1, zero), x, or_at), second, at);
    }
    if (rows > 2) {
        last_two = is_below(f32v_permute(row2, zero), x, or_at);
        at = u32v_select(last_two, zero, at);
        at = u32v_select(is_below(f32v_permute(row3, zero), x, or_at), second, at);
    }
    for (uint32_t step = lanes; step > 0; step /= 2) { /* the last one looks at where it stands */
        const u32v to = step > 1 ? u32v_add(at, u32v_set(step / 2 - 1)) : at;
        const mask32 less = is_below(pick_in(row0, row1, row2, row3, rows, last_two, to), x, or_at);
        at = u32v_select(less, u32v_add(at, u32v_set(step > 1 ? step / 2 : 1)), at);
    }
    return rows > 2 ? u32v_select(last_two, u32v_add(at, u32v_set(2 * lanes)), at) : at;
}

/* How many of the n rising values, of which `rows` vectors are looked at, are below the places x of the
 * lanes; with *low the highest of these, if there is one, and with *high the lowest of the others. */
static inline u32v count_below(const float *values, uint32_t n, uint32_t rows, f32v x, f32v *low, f32v *high)
{
    const u32v one = u32v_set(1), end = u32v_set(rows * (uint32_t)SIMD_LANES), zero = u32v_set(0);
    const f32v row0 = row_of(values, n, 0), row1 = row_if(values, n, rows, 1);
    const f32v row2 = row_if(values, n, rows, 2), row3 = row_if(values, n, rows, 3);
    const u32v at = count_in_rows(row0, row1, row2, row3, rows, false, x);
    const f32v below = pick(row0, row1, row2, row3, rows, u32v_sub(u32v_max(at, one), one));
    const f32v above = pick(row0, row1, row2, row3, rows, u32v_min(at, u32v_sub(end, one)));
    *low = f32v_select(u32v_eq(at, zero), *low, below);
    *high = f32v_select(u32v_eq(at, end), f(INFINITY), above);
    return at;
}

/* The same, with as many vectors as there are values for. */
static inline u32v count_below_any(const float *values, uint32_t n, f32v x, f32v *low, f32v *high)
{
    const uint32_t rows = rows_of(n);
    return rows == 1   ? count_below(values, n, 1, x, low, high)
           : rows == 2 ? count_below(values, n, 2, x, low, high)
                       : count_below(values, n, 4, x, low, high);
}

/* The same for more values, or with shorter vectors: from the first value to one that is not below
 * `highest`. */
static inline u32v scan_below(const float *values, uint32_t n, float highest, f32v x, f32v *low, f32v *high)
{
    f32v below = *low, above = f(INFINITY);
    u32v at = u32v_set(0);
    bool more = true;
    for (uint32_t k = 0; k < n && more; k++) {
        const f32v here = f(values[k]);
        const mask32 less = f32v_lt(here, x);
        at = u32v_select(less, u32v_add(at, u32v_set(1)), at);
        below = f32v_select(less, here, below);
        above = f32v_select(less, above, f32v_min(above, here));
        more = values[k] < highest;
    }
    *low = below;
    *high = above;
    return at;
}

/* By registers where vectors are long. */
static inline u32v find_below(const float *values, uint32_t n, float highest, f32v x, f32v *low, f32v *high)
{
    if (!are_long()) {
        return scan_below(values, n, highest, x, low, high);
    }
    const uint32_t most = 4 * (uint32_t)SIMD_LANES;
    u32v at = count_below_any(values, n, x, low, high);
    for (uint32_t from = most; from < n; from += most) {
        f32v above;
        at = u32v_add(at, count_below_any(values + from, n - from, x, low, &above));
        *high = f32v_min(*high, above);
    }
    return at;
}

/* How many of n rising values, of which `rows` vectors are looked at, are below the lanes' low places, and
 * how many at most at their high ones, more than what there is. */
static inline void count_between_in(const float *values, uint32_t n, uint32_t rows, f32v low, f32v high,
                                    u32v *at, u32v *behind)
{
    const f32v row0 = row_of(values, n, 0), row1 = row_if(values, n, rows, 1);
    const f32v row2 = row_if(values, n, rows, 2), row3 = row_if(values, n, rows, 3);
    *at = u32v_add(*at, count_in_rows(row0, row1, row2, row3, rows, false, low));
    *behind = u32v_add(*behind, count_in_rows(row0, row1, row2, row3, rows, true, high));
}

/* The same of all. */
static inline void count_between(const float *values, uint32_t n, f32v low, f32v high, u32v *at, u32v *behind)
{
    *at = *behind = u32v_set(0);
    if (!are_long()) {
        for (uint32_t k = 0; k < n; k++) {
            const f32v here = f(values[k]);
            *at = u32v_select(f32v_lt(here, low), u32v_add(*at, u32v_set(1)), *at);
            *behind = u32v_select(f32v_le(here, high), u32v_add(*behind, u32v_set(1)), *behind);
        }
        return;
    }
    for (uint32_t from = 0; from < n; from += 4 * (uint32_t)SIMD_LANES) {
        const uint32_t left = n - from, rows = rows_of(left);
        if (rows == 1) {
            count_between_in(values + from, left, 1, low, high, at, behind);
        } else if (rows == 2) {
            count_between_in(values + from, left, 2, low, high, at, behind);
        } else {
            count_between_in(values + from, left, 4, low, high, at, behind);
        }
    }
}

/* Are they so few that all of them are looked at, without regard to where the lanes are? */
static inline bool are_few(uint32_t hits)
{
    return hits <= (are_long() ? 8 * SIMD_LANES : 48);
}

/* Of hits first … last - 1 of a layer, to one that is not below `highest`, and of the one before them, if it
 * is not before `begin`: those nearest to the places x of the lanes; of two the one below. */
static inline u32v nearest_of(const float *values, uint32_t begin, uint32_t first, uint32_t last,
                              float highest, f32v x, f32v *near)
{
    f32v low = f(first > begin ? values[first - 1] : -INFINITY), high;
    const u32v at = find_below(values + first, last - first, highest, x, &low, &high);
    const mask32 left = f32v_le(SUB(x, low), SUB(high, x));
    *near = f32v_select(left, low, high);
    return u32v_add(u32v_set(first), u32v_select(left, u32v_sub(at, u32v_set(1)), at));
}

/* Of a list of hits, at least one, those nearest to the places x of the lanes in `some`, which may be none.
 */
static inline u32v nearest_in(const slc_hlt1_forward_list *list, f32v x, mask32 some, f32v *near)
{
    uint32_t first = 0, last = list->n;
    if (!are_few(last)) {
        first = slc_hlt1_lower(list->x, last, f32v_lowest(f32v_select(some, x, f(INFINITY))));
        last = slc_hlt1_lower(list->x, last, f32v_highest(f32v_select(some, x, f(-INFINITY))));
        last = last < first ? first : last < list->n ? last + 1 : last;
    }
    return nearest_of(list->x, 0, first, last, INFINITY, x, near);
}

/* Does the triplet a come before b: nearer in the middle, or found before? */
static inline bool is_before(const slc_hlt1_forward_work *w, size_t a, size_t b)
{
    const float x = w->triplets->distance2[a], y = w->triplets->distance2[b];
    if (x != y) {
        return x < y;
    }
    return w->triplets->hit[0][a] != w->triplets->hit[0][b] ? w->triplets->hit[0][a] < w->triplets->hit[0][b]
                                                            : w->triplets->hit[2][a] < w->triplets->hit[2][b];
}

#endif
