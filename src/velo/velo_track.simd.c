/* SPDX-License-Identifier: Apache-2.0
 *
 * The search for tracks in one event (thesis of A. Hennequin, 2022, section 5.4): lines lie in the lanes, the
 * hits of a layer come one after the other. The lines of seeds and of growing tracks are compared with all
 * hits of a layer where there are few, else by boxes (velo_track_near.h): with the same result.
 */
#include "simd/simd.h"
#include "velo/velo_track_near.h"
#include "velo/velo_track_sort.h"

#include <math.h>

/* Lines are compared with all hits of a layer that has so few, or where they are so few. Measured. */
#define FEW_HITS       (4 * SIMD_LANES)
#define FEW_CANDIDATES SIMD_LANES

/* ---- seeds ----------------------------------------------------------------------------------------------
 */

/* Does X(rank) for all ranks that there can be. */
#define FOR_EACH_RANK(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
_Static_assert(SLC_TRACK_MAX_N == 10, "a rank for each pair");

/* For the hits of the middle layer from `at` on, as many as there are lanes, the N hits of the downstream one
 * that are nearest in direction: codes of the difference above the place, rising with the rank, a vector's
 * room each. UINT32_MAX where there are fewer hits. */
INLINE void find_nearest(slc_track_work *work, const slc_track_layer *down, const slc_track_layer *middle,
                         uint32_t at, uint32_t n, uint32_t *codes)
{
    const uint32_t last = at + (uint32_t)SIMD_LANES < middle->n ? at + (uint32_t)SIMD_LANES : middle->n;
    const i32v key = i32v_load(middle->key + at);
    const u32v one = u32v_set(1);
    const stretches s = stretches_of(
        down, work->sorted ? around(down, middle->key[at], middle->key[last - 1], n) : whole(down));
    /* Variables of their own, as vectors have no size. */
#define NONE_YET(rank) u32v code_##rank = u32v_set(UINT32_MAX);
    FOR_EACH_RANK(NONE_YET)
    for (int part = 0; part < 2; part++) {
        u32v here = u32v_set(s.begin[part]);
        work->compared += (uint64_t)(last - at) * (s.end[part] - s.begin[part]);
        for (uint32_t k = s.begin[part]; k < s.end[part]; k++) {
            const i32v difference = i32v_abs(i32v_sub(i32v_set(down->key[k]), key));
            u32v mine = u32v_or(u32v_from_i32(difference), here);
            here = u32v_add(here, one);
#define INSERT(rank)                                                                                         \
    if (n > (rank)) {                                                                                        \
        const u32v smaller = u32v_min(code_##rank, mine);                                                    \
        mine = u32v_max(code_##rank, mine);                                                                  \
        code_##rank = smaller;                                                                               \
    }
            FOR_EACH_RANK(INSERT)
        }
    }
#define KEEP(rank)                                                                                           \
    if (n > (rank)) {                                                                                        \
        u32v_store(codes + (rank)*SIMD_LANES, code_##rank);                                                  \
    }
    FOR_EACH_RANK(KEEP)
}

/* The lines through hits of the middle layer and their partners. */
INLINE void find_lines(const slc_track_layer *down, u32v code, f32v x, f32v y, f32v z, f32v *tx, f32v *ty)
{
    const u32v place = u32v_and(code, u32v_set(PLACES));
    f32v dx, dy, dz;
    look_up(down, u32v_select(u32v_lt(place, u32v_set(down->n)), place, u32v_set(0)), &dx, &dy, &dz);
    const f32v length = f32v_sub(z, dz);
    *tx = f32v_div(f32v_sub(x, dx), length);
    *ty = f32v_div(f32v_sub(y, dy), length);
}

/* Of the pairs of hits the best so far, and another one: of equal ones the first, which is nearer in
 * direction. Where there are fewer than N hits there is no pair. */
INLINE void take_better(u32v scatter, u32v third, u32v code, u32v *best, u32v *best_third, u32v *best_code)
{
    const mask32 better = mask32_and(u32v_ne(code, u32v_set(UINT32_MAX)), u32v_lt(scatter, *best));
    *best = u32v_select(better, scatter, *best);
    *best_third = u32v_select(better, third, *best_third);
    *best_code = u32v_select(better, code, *best_code);
}

/* The seeds of the hits of the middle layer from `at` on, of which some have one. */
INLINE void keep_seeds(slc_track_work *work, const slc_track_layer *middle, uint32_t at, float max_scatter,
                       u32v best, u32v third, u32v code)
{
    slc_track_seeds *seeds = &work->seeds;
    const f32v scatter = f32v_from_bits(best);
    const mask32 found = mask32_and(mask32_first(middle->n - at), f32v_lt(scatter, f32v_set(max_scatter)));
    (void)u32v_pack(seeds->down + seeds->n, u32v_and(code, u32v_set(PLACES)), found);
    (void)u32v_pack(seeds->middle + seeds->n, u32v_iota(at), found);
    (void)u32v_pack(seeds->up + seeds->n, third, found);
    seeds->n += (uint32_t)f32v_pack(seeds->scatter + seeds->n, scatter, found);
}

/* The seeds of the hits of the middle layer from `at` on, as many as there are lanes: each of their pairs is
 * compared with every hit of the upstream layer, for which the hit is fetched once. */
INLINE void compare_all(slc_track_work *work, const slc_track_layer *down, const slc_track_layer *middle,
                        const slc_track_layer *up, uint32_t at, float max_scatter, uint32_t n)
{
    uint32_t codes[SLC_TRACK_MAX_N * SIMD_MAX_LANES];
    find_nearest(work, down, middle, at, n, codes);
    const f32v x = f32v_load(middle->x + at), y = f32v_load(middle->y + at), z = f32v_load(middle->z + at);
    const u32v most = u32v_bits_of_f32(f32v_set(max_scatter)), one = u32v_set(1), zero = u32v_set(0);
#define LINE(rank)                                                                                           \
    f32v tx_##rank = x, ty_##rank = x;                                                                       \
    u32v least_##rank = most, of_##rank = zero;                                                              \
    if (n > (rank)) {                                                                                        \
        find_lines(down, u32v_load(codes + (rank)*SIMD_LANES), x, y, z, &tx_##rank, &ty_##rank);             \
    }
    FOR_EACH_RANK(LINE)
    u32v here = zero;
    for (uint32_t k = 0; k < up->n; k++) {
        const f32v ex = f32v_sub(f32v_set(up->x[k]), x), ey = f32v_sub(f32v_set(up->y[k]), y);
        const f32v ez = f32v_sub(f32v_set(up->z[k]), z);
#define COMPARE(rank)                                                                                        \
    if (n > (rank)) {                                                                                        \
        compare(ex, ey, ez, tx_##rank, ty_##rank, here, &least_##rank, &of_##rank);                          \
    }
        FOR_EACH_RANK(COMPARE)
        here = u32v_add(here, one);
    }
    work->compared += (uint64_t)n * up->n * (middle->n - at < SIMD_LANES ? middle->n - at : SIMD_LANES);
    u32v best = most, third = zero, code = zero;
#define TAKE(rank)                                                                                           \
    if (n > (rank)) {                                                                                        \
        take_better(least_##rank, of_##rank, u32v_load(codes + (rank)*SIMD_LANES), &best, &third, &code);    \
    }
    FOR_EACH_RANK(TAKE)
    keep_seeds(work, middle, at, max_scatter, best, third, code);
}

/* The seeds of the hits of the middle layer at places begin … end - 1, a block of them, of them. */
INLINE void find_block(slc_track_work *work, const slc_track_layer *down, const slc_track_layer *middle,
                       const slc_track_layer *up, uint32_t begin, uint32_t end, float max_scatter, uint32_t n)
{
    uint32_t codes[SLC_TRACK_MAX_N * (SLC_TRACK_BLOCK + SIMD_MAX_LANES)], *code = codes, e = 0;
    const float reach = 1.01f * sqrtf(max_scatter);
    clear_lists(work, up);
    for (uint32_t at = begin; at < end; at += (uint32_t)SIMD_LANES) {
        const f32v x = f32v_load(middle->x + at), y = f32v_load(middle->y + at),
                   z = f32v_load(middle->z + at);
        find_nearest(work, down, middle, at, n, code);
        for (uint32_t rank = 0; rank < n; rank++, e++, code += SIMD_LANES) {
            const u32v partner = u32v_load(code);
            const mask32 valid = mask32_and(mask32_first(end - at), u32v_ne(partner, u32v_set(UINT32_MAX)));
            f32v tx, ty;
            find_lines(down, partner, x, y, z, &tx, &ty);
            list_lines(work, up, e, valid, x, y, z, tx, ty, reach);
        }
    }
    find_listed(work, up, max_scatter);
    code = codes;
    e = 0;
    for (uint32_t at = begin; at < end; at += (uint32_t)SIMD_LANES) {
        u32v best = u32v_bits_of_f32(f32v_set(max_scatter)), third = best, partner = best, least, of;
        for (uint32_t rank = 0; rank < n; rank++, e++, code += SIMD_LANES) {
            collect(work, up, e, max_scatter, &least, &of);
            take_better(least, of, u32v_load(code), &best, &third, &partner);
        }
        keep_seeds(work, middle, at, max_scatter, best, third, partner);
    }
}

INLINE void find_seeds(slc_track_work *work, uint32_t d, uint32_t i, uint32_t u, float max_scatter,
                       uint32_t n)
{
    enum { BLOCK = SLC_TRACK_BLOCK };
    const slc_track_layer *down = &work->layer[d], *middle = &work->layer[i], *up = &work->layer[u];
    work->seeds.n = 0;
    if (down->n == 0 || up->n == 0 || !(max_scatter > 0)) {
        return;
    }
    if (up->n <= FEW_HITS) {
        for (uint32_t at = 0; at < middle->n; at += (uint32_t)SIMD_LANES) {
            compare_all(work, down, middle, up, at, max_scatter, n);
        }
        return;
    }
    for (uint32_t begin = 0; begin < middle->n; begin += BLOCK) {
        const uint32_t end = begin + BLOCK < middle->n ? begin + BLOCK : middle->n;
        find_block(work, down, middle, up, begin, end, max_scatter, n);
    }
}

#define SEED(n)                                                                                              \
    static void seed_##n(slc_track_work *work, uint32_t d, uint32_t i, uint32_t u, float max_scatter)        \
    {                                                                                                        \
        find_seeds(work, d, i, u, max_scatter, n);                                                           \
    }
SEED(1)
SEED(2)
SEED(3)
SEED(4)
SEED(5)
SEED(6)
SEED(7)
SEED(8)
SEED(9)
SEED(10)

/* Floats that are not negative rise as their bits do. Scatters get the place into their lowest bits, which
 * makes them different; seeds that differ in those bits alone are as good as each other. */
static void rank(slc_track_work *work)
{
    const slc_track_seeds *seeds = &work->seeds;
    const u32v places = u32v_set(PLACES);
    for (uint32_t k = 0; k < seeds->n; k += (uint32_t)SIMD_LANES) {
        const u32v bits = u32v_bits_of_f32(f32v_load(seeds->scatter + k));
        u32v_store(work->sort_from + k, u32v_or(u32v_andnot(bits, places), u32v_iota(k)));
    }
    sort(work->sort_from, seeds->n, work->order, work->sort_to);
    for (uint32_t k = 0; k < seeds->n; k += (uint32_t)SIMD_LANES) {
        u32v_store(work->order + k, u32v_and(u32v_load(work->sort_to + k), places));
    }
}

/* ---- candidates -----------------------------------------------------------------------------------------
 */

static void start(slc_track_work *work, uint32_t d, uint32_t m, uint32_t u)
{
    slc_track_candidates *c = &work->candidates;
    slc_track_seeds *seeds = &work->seeds;
    const slc_track_layer *down = &work->layer[d], *middle = &work->layer[m], *up = &work->layer[u];
    const u32v none = u32v_set(0);
    const uint32_t n = seeds->n;
    uint32_t new = c->n;
    seeds->n = 0;
    for (uint32_t k = 0; k < n; k += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(n - k);
        const mask32 taken = mask32_and(in, u32v_ne(u32v_load(work->sort_from + k), none));
        const u32v down_place = u32v_select(in, u32v_load(seeds->down + k), none);
        const u32v middle_place = u32v_select(in, u32v_load(seeds->middle + k), none);
        const u32v up_place = u32v_select(in, u32v_load(seeds->up + k), none);
        const f32v scatter = f32v_load(seeds->scatter + k);
        f32v x, y, z, mx, my, mz;
        look_up(up, up_place, &x, &y, &z);
        look_up(middle, middle_place, &mx, &my, &mz);
        const f32v dz = f32v_sub(z, mz);
        (void)f32v_pack(c->x + new, x, taken);
        (void)f32v_pack(c->y + new, y, taken);
        (void)f32v_pack(c->z + new, z, taken);
        (void)f32v_pack(c->tx + new, f32v_div(f32v_sub(x, mx), dz), taken);
        (void)f32v_pack(c->ty + new, f32v_div(f32v_sub(y, my), dz), taken);
        (void)f32v_pack(c->scatter + new, scatter, taken);
        (void)f32v_pack(c->last + new, scatter, taken);
        u32v_store(c->count + new, u32v_set(3));
        (void)u32v_pack(seeds->down + seeds->n, look_up_u32(down->id, down->n, down_place), taken);
        (void)u32v_pack(seeds->middle + seeds->n, look_up_u32(middle->id, middle->n, middle_place), taken);
        new += (uint32_t)u32v_pack(c->hit + new, look_up_u32(up->id, up->n, up_place), taken);
        seeds->n = new - c->n;
    }
    for (uint32_t k = 0; k < seeds->n; k++) {
        work->before[c->hit[c->n + k]] = seeds->middle[k];
        work->before[seeds->middle[k]] = seeds->down[k];
        work->before[seeds->down[k]] = seeds->down[k]; /* whoever goes on from there stays there */
    }
    c->n = new;
}

/* What the candidates from begin to end - 1 want, a block of them, by boxes. */
static void want_in_boxes(slc_track_work *work, uint32_t begin, uint32_t end, const slc_track_layer *layer,
                          float max_scatter)
{
    const slc_track_candidates *c = &work->candidates;
    const float reach = 1.01f * sqrtf(max_scatter);
    uint32_t e = 0;
    clear_lists(work, layer);
    for (uint32_t i = begin; i < end; i += (uint32_t)SIMD_LANES) {
        list_lines(work, layer, e++, mask32_first(end - i), f32v_load(c->x + i), f32v_load(c->y + i),
                   f32v_load(c->z + i), f32v_load(c->tx + i), f32v_load(c->ty + i), reach);
    }
    find_listed(work, layer, max_scatter);
    e = 0;
    for (uint32_t i = begin; i < end; i += (uint32_t)SIMD_LANES) {
        u32v scatter, place;
        collect(work, layer, e++, max_scatter, &scatter, &place);
        f32v_store(work->best + i, f32v_from_bits(scatter));
        u32v_store(work->wanted + i, place);
    }
}

/* The candidates that want a hit. */
static void list_asking(slc_track_work *work, uint32_t first)
{
    const u32v none = u32v_set((uint32_t)SLC_TRACK_NONE);
    uint32_t n = 0;
    for (uint32_t i = first; i < work->candidates.n; i += (uint32_t)SIMD_LANES) {
        const mask32 asks = mask32_and(mask32_first(work->candidates.n - i),
                                       u32v_ne(u32v_load(work->wanted + i), none));
        n += (uint32_t)u32v_pack(work->asking + n, u32v_iota(i), asks);
    }
    work->n_asking = n;
}

static void extend(slc_track_work *work, uint32_t first, uint32_t l, float max_scatter)
{
    enum { BLOCK = SLC_TRACK_BLOCK * SLC_TRACK_MAX_N };
    const slc_track_candidates *c = &work->candidates;
    const slc_track_layer *layer = &work->layer[l];
    const bool some = max_scatter > 0;
    if (!some || c->n - first <= FEW_CANDIDATES) {
        const slc_track_lines lines = {.x = c->x,
                                       .y = c->y,
                                       .z = c->z,
                                       .tx = c->tx,
                                       .ty = c->ty,
                                       .scatter = work->best,
                                       .hit = work->wanted,
                                       .n = c->n};
        find_all_closest(layer, 0, some ? layer->n : 0, max_scatter, &lines, first);
        work->compared += (uint64_t)(c->n - first) * layer->n;
    } else {
        for (uint32_t begin = first; begin < c->n; begin += BLOCK) {
            want_in_boxes(work, begin, begin + BLOCK < c->n ? begin + BLOCK : c->n, layer, max_scatter);
        }
    }
    list_asking(work, first);
}

static void advance(slc_track_work *work, uint32_t first, uint32_t l, float max_3hits)
{
    slc_track_candidates *c = &work->candidates, *leaving = &work->leaving;
    const slc_track_layer *layer = &work->layer[l];
    const u32v nobody = u32v_set(0), skip = u32v_set(1U << SLC_TRACK_SKIP_SHIFT);
    const u32v hits = u32v_set((1U << SLC_TRACK_SKIP_SHIFT) - 1), one = u32v_set(1);
    const u32v too_many = u32v_set((work->max_skipped + 1) << SLC_TRACK_SKIP_SHIFT);
    uint32_t kept = first;
    leaving->n = 0;
    for (uint32_t i = first; i < c->n; i += (uint32_t)SIMD_LANES) {
        const mask32 in = mask32_first(c->n - i);
        const u32v wanted = u32v_load(work->wanted + i);
        const mask32 gets = mask32_and(in, u32v_ne(wanted, u32v_set((uint32_t)SLC_TRACK_NONE)));
        const u32v place = u32v_select(gets, wanted, nobody);
        const f32v x = f32v_load(c->x + i), y = f32v_load(c->y + i), z = f32v_load(c->z + i);
        f32v at_x, at_y, at_z;
        look_up(layer, place, &at_x, &at_y, &at_z);
        const f32v hx = f32v_select(gets, at_x, x), hy = f32v_select(gets, at_y, y);
        const f32v hz = f32v_select(gets, at_z, z);
        const f32v dz = f32v_sub(hz, z), scatter = f32v_load(work->best + i);
        const u32v old = u32v_load(c->count + i);
        const u32v count = u32v_select(gets, u32v_add(u32v_and(old, hits), one), u32v_add(old, skip));
        const f32v sum = f32v_load(c->scatter + i);
        const f32v new_sum = f32v_select(gets, f32v_add(sum, scatter), sum);
        const f32v last = f32v_select(gets, scatter, f32v_load(c->last + i));
        const u32v hit = u32v_load(c->hit + i);
        const u32v new_hit = u32v_select(gets, look_up_u32(layer->id, layer->n, place), hit);
        const f32v tx = f32v_select(gets, f32v_div(f32v_sub(hx, x), dz), f32v_load(c->tx + i));
        const f32v ty = f32v_select(gets, f32v_div(f32v_sub(hy, y), dz), f32v_load(c->ty + i));
        u32v_scatter_masked(work->before, u32v_select(gets, new_hit, nobody), hit, gets);

        const mask32 ends = mask32_and(in, u32v_ge(count, too_many)), stays = mask32_andnot(in, ends);
        const u32v n_hits = u32v_and(count, hits);
        const mask32 straight = mask32_or(u32v_ne(n_hits, u32v_set(3)),
                                          f32v_lt(new_sum, f32v_set(max_3hits)));
        const mask32 leaves = mask32_and(ends, straight);
        (void)f32v_pack(leaving->scatter + leaving->n, new_sum, leaves);
        (void)f32v_pack(leaving->last + leaving->n, last, leaves);
        (void)u32v_pack(leaving->count + leaving->n, n_hits, leaves);
        leaving->n += (uint32_t)u32v_pack(leaving->hit + leaving->n, new_hit, leaves);
        (void)f32v_pack(c->x + kept, hx, stays);
        (void)f32v_pack(c->y + kept, hy, stays);
        (void)f32v_pack(c->z + kept, hz, stays);
        (void)f32v_pack(c->tx + kept, tx, stays);
        (void)f32v_pack(c->ty + kept, ty, stays);
        (void)f32v_pack(c->scatter + kept, new_sum, stays);
        (void)f32v_pack(c->last + kept, last, stays);
        (void)u32v_pack(c->count + kept, count, stays);
        kept += (uint32_t)u32v_pack(c->hit + kept, new_hit, stays);
    }
    c->n = kept;
}

const slc_velo_track_kernels SIMD_TABLE(slc_velo_track) = {
    .target = SIMD_TARGET_NAME,
    .seed = {seed_1, seed_2, seed_3, seed_4, seed_5, seed_6, seed_7, seed_8, seed_9, seed_10},
    .rank = rank,
    .start = start,
    .extend = extend,
    .advance = advance,
};
