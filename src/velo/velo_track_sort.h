/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the track search: how numbers are sorted. Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_SORT_H
#define SLUICE_VELO_TRACK_SORT_H

enum { SORT_AT_ONCE = 256, SORT_BUCKET_BITS = 8 };

/* Different numbers in rising order: each goes to the place that is the number of smaller ones. Four vectors
 * at a time, for which each number is fetched once. `from` has four spare vectors. */
static inline void sort_few(const uint32_t *from, size_t n, uint32_t *to)
{
    const u32v one = u32v_set(1), zero = u32v_set(0);
    for (size_t j = 0; j < n; j += 4 * SIMD_LANES) {
        const u32v a = u32v_load(from + j), b = u32v_load(from + j + SIMD_LANES);
        const u32v c = u32v_load(from + j + 2 * SIMD_LANES), d = u32v_load(from + j + 3 * SIMD_LANES);
        u32v rank_a = zero, rank_b = zero, rank_c = zero, rank_d = zero;
        for (size_t i = 0; i < n; i++) {
            const u32v each = u32v_set(from[i]);
            rank_a = u32v_select(u32v_lt(each, a), u32v_add(rank_a, one), rank_a);
            rank_b = u32v_select(u32v_lt(each, b), u32v_add(rank_b, one), rank_b);
            rank_c = u32v_select(u32v_lt(each, c), u32v_add(rank_c, one), rank_c);
            rank_d = u32v_select(u32v_lt(each, d), u32v_add(rank_d, one), rank_d);
        }
        const size_t left = n - j;
        u32v_scatter_masked(to, rank_a, a, mask32_first(left));
        u32v_scatter_masked(to, rank_b, b, mask32_first(left > SIMD_LANES ? left - SIMD_LANES : 0));
        u32v_scatter_masked(to, rank_c, c, mask32_first(left > 2 * SIMD_LANES ? left - 2 * SIMD_LANES : 0));
        u32v_scatter_masked(to, rank_d, d, mask32_first(left > 3 * SIMD_LANES ? left - 3 * SIMD_LANES : 0));
    }
}

/* The same for many, by their highest bits first. `room` is as long. */
static inline void sort_many(const uint32_t *from, size_t n, uint32_t *room, uint32_t *to)
{
    uint32_t begin[(1 << SORT_BUCKET_BITS) + 1] = {0};
    unsigned bits = 1;
    while ((n >> bits) > 64 && bits < SORT_BUCKET_BITS) {
        bits++;
    }
    for (size_t i = 0; i < n; i++) {
        begin[(from[i] >> (32 - bits)) + 1]++;
    }
    for (size_t b = 0; b < (size_t)1 << bits; b++) {
        begin[b + 1] += begin[b];
    }
    for (size_t i = 0; i < n; i++) {
        room[begin[from[i] >> (32 - bits)]++] = from[i];
    }
    /* Each begin has become the next one's. */
    for (size_t b = 0, first = 0; b < (size_t)1 << bits; b++) {
        sort_few(room + first, begin[b] - first, to + first);
        first = begin[b];
    }
}

/* `room` is as long as the others. */
static inline void sort(const uint32_t *from, size_t n, uint32_t *room, uint32_t *to)
{
    if (n <= SORT_AT_ONCE) {
        sort_few(from, n, to);
    } else {
        sort_many(from, n, room, to);
    }
}

#endif
