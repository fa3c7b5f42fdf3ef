/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMD Rosenfeld: A. Hennequin, L. Lacassagne and I. Masliah, "A new SIMD algorithm for connected component
 * labeling" (WPMVP 2019); A. Hennequin's thesis (2022), section 4.5. Where this differs from the thesis:
 * which pixels merge is known from bit rows, sixty-four pixels at a time; unions are collected for a whole
 * row, so that their vectors are full; in the second pass every earlier pixel is final, so one gather does
 * what a loop of them did, and what points into its own vector is followed by permutations.
 */
#include "image/image_rosenfeld_simd.h"

#include "simd/simd.h"

/* ---- bits to lanes ----------------------------------------------------------------------------- */

/* The bits of the pixels from i on, i a multiple of the number of lanes: those are multiples of 4, so that no
 * more than 4 of the 64 bits are lost at the top, and none where 64 are needed. In plain C it is one. */
static inline uint64_t bits_from(const uint64_t *bits, size_t i)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)bits + i / 8, sizeof word);
    return word >> i % 8;
}

/* In every lane 32 bits of a word: the lower ones, above lane 31 the upper ones. */
static inline u32v halves(uint64_t word)
{
    const u32v low = u32v_set((uint32_t)word);
#if SIMD_MAX_LANES > 32
    return u32v_select(u32v_lt(u32v_iota(0), u32v_set(32)), low, u32v_set((uint32_t)(word >> 32)));
#else
    return low;
#endif
}

static inline mask32 lanes_of(uint64_t word)
{
    const u32v bit = u32v_shlv(u32v_set(1), u32v_and(u32v_iota(0), u32v_set(31)));
    return u32v_ne(u32v_and(halves(word), bit), u32v_set(0));
}

/* In every lane the lane where its sub-segment begins, the run of set bits cut at the vector's ends: the
 * highest start at or below it. The thesis finds it by conflict detection (figure 4.25). Lanes without a set
 * bit get any lane. */
static inline u32v starts_of(uint64_t word)
{
    const uint64_t starts = (word & ~(word << 1)) | 1;
    const u32v upto = u32v_shrv(u32v_set(UINT32_MAX),
                                u32v_sub(u32v_set(31), u32v_and(u32v_iota(0), u32v_set(31))));
    const u32v behind = u32v_clz(u32v_and(halves(starts), upto));
    u32v start = u32v_sub(u32v_set(31), behind);
#if SIMD_MAX_LANES > 32
    /* Above lane 31 without a start there: the highest one below. */
    const uint32_t carried = 31U - (uint32_t)__builtin_clz((uint32_t)starts);
    const u32v high = u32v_select(u32v_eq(behind, u32v_set(32)), u32v_set(carried),
                                  u32v_add(start, u32v_set(32)));
    start = u32v_select(u32v_lt(u32v_iota(0), u32v_set(32)), start, high);
#endif
    return start;
}

static inline uint64_t lanes_mask(void)
{
    return UINT64_MAX >> (64 - SIMD_LANES);
}

/* ---- first pass -------------------------------------------------------------------------------- */

/* Addresses from i on; none behind the row. */
static inline u32v load_addresses(const uint32_t *row, size_t i, size_t width)
{
    const u32v none = u32v_set(SLC_IMAGE_NO_ADDRESS);
    if (i + SIMD_LANES <= width) {
        return u32v_load(row + i);
    }
    if (i >= width) {
        return none;
    }
    const mask32 in = mask32_first(width - i);
    return u32v_select(in, u32v_load_masked(row + i, in), none);
}

static inline void store_row(uint32_t *row, size_t i, size_t width, u32v v)
{
    if (i + SIMD_LANES <= width) {
        u32v_store(row + i, v);
    } else {
        u32v_store_masked(row + i, v, mask32_first(width - i));
    }
}

/* Addresses for the pixels in a vector. `address` is the first one's own, `near` the smallest of the
 * neighbours above, `before` those of the vector to the left.
 *
 * v1: that of the left pixel or, as two steps at once make paths half as long, of the one left of it. Where a
 * run has no neighbour above, paths are as long as the run all the same; so a vector that is full and without
 * neighbours above is given the first lane's address as a whole. */
static inline u32v point_left(uint64_t word, uint32_t address, u32v near, u32v before)
{
    const u32v own = u32v_iota(address);
    const u32v none = u32v_set(SLC_IMAGE_NO_ADDRESS);
    const mask32 m = lanes_of(word);
    const u32v first = u32v_min(own, u32v_previous(before, u32v_select(m, own, none)));
    /* Either alone is common and hard to predict, both together are rare. */
    if (mask32_every(mask32_and(m, u32v_eq(near, none)))) {
        return u32v_permute(first, u32v_set(0));
    }
    const u32v second = u32v_previous(before, u32v_select(m, first, none));
    return u32v_select(m, u32v_min(u32v_min(first, second), near), none);
}

/* v2: that of the first pixel of the sub-segment, or the smallest that it or the pixel itself has above. A
 * sub-segment in the first lane goes on from the vector to the left. */
static inline u32v point_to_start(uint64_t word, uint32_t address, u32v near, u32v before)
{
    const u32v none = u32v_set(SLC_IMAGE_NO_ADDRESS);
    const u32v start = starts_of(word);
    const u32v first = u32v_min(u32v_add(start, u32v_set(address)), u32v_previous(before, none));
    const u32v x = u32v_min(first, near);
    return u32v_select(lanes_of(word), u32v_min(x, u32v_permute(x, start)), none);
}

static inline size_t label_row(const slc_image_rosenfeld_row *r, bool diagonal, bool sub_segments)
{
    const u32v none = u32v_set(SLC_IMAGE_NO_ADDRESS);
    u32v up_before = none, up = load_addresses(r->above, 0, r->width), before = none;
    size_t pairs = 0;
    for (size_t i = 0; i < r->width; i += SIMD_LANES) {
        const u32v up_behind = load_addresses(r->above, i + SIMD_LANES, r->width);
        const u32v ab = diagonal ? u32v_previous(up_before, up) : up;
        const u32v bc = diagonal ? u32v_next(up, up_behind) : up;
        const u32v near = diagonal ? u32v_min(u32v_min(ab, bc), up) : up;
        const uint64_t word = bits_from(r->pixels, i) & lanes_mask();
        const uint32_t address = r->address + (uint32_t)i;
        const u32v x = sub_segments ? point_to_start(word, address, near, before)
                                    : point_left(word, address, near, before);
        store_row(r->row, i, r->width, x);
        const uint64_t merge = bits_from(r->merge, i) & lanes_mask();
        if (merge != 0) {
            const u32v left = u32v_previous(before, x), low = diagonal ? u32v_min(ab, left) : left;
            const mask32 meet = mask32_and(lanes_of(merge), u32v_ne(low, bc));
            u32v_pack(r->a + pairs, low, meet);
            pairs += u32v_pack(r->b + pairs, bc, meet);
        }
        up_before = up;
        up = up_behind;
        before = x;
    }
    return pairs;
}

static size_t v1_4(const slc_image_rosenfeld_row *row)
{
    return label_row(row, false, false);
}
static size_t v1_8(const slc_image_rosenfeld_row *row)
{
    return label_row(row, true, false);
}
static size_t v2_4(const slc_image_rosenfeld_row *row)
{
    return label_row(row, false, true);
}
static size_t v2_8(const slc_image_rosenfeld_row *row)
{
    return label_row(row, true, true);
}

/* ---- second pass ------------------------------------------------------------------------------- */

/* A lane points to an earlier vector, whose labels are final; to itself, then it is a root and gets the next
 * number; or to an earlier lane. `jump` is that lane, or the lane itself in the first two cases: following it
 * to its end takes log2(lanes) doublings. */
static inline uint32_t solve(uint32_t *table, size_t n, bool long_chains)
{
    const u32v none = u32v_set(SLC_IMAGE_NO_ADDRESS), lanes = u32v_iota(0);
    uint32_t labels = 0;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v address = load_addresses(table, i, n);
        const mask32 m = u32v_ne(address, none);
        if (!mask32_any(m)) {
            store_row(table, i, n, u32v_set(0));
            continue;
        }
        const u32v base = u32v_set((uint32_t)i);
        /* As signed numbers, for that is one instruction everywhere: addresses are below 2^31, and none is
         * -1. */
        const mask32 inside = i32v_ge(i32v_from_u32(address), i32v_from_u32(base));
        const mask32 root = u32v_eq(address, u32v_add(base, lanes));
        u32v jump = u32v_select(inside, u32v_sub(address, base), lanes);
        if (long_chains) {
            for (size_t reach = 1; reach < SIMD_LANES; reach *= 2) {
                jump = u32v_permute(jump, jump);
            }
        } else {
            for (u32v before = lanes; mask32_any(u32v_ne(jump, before));) {
                before = jump;
                jump = u32v_permute(jump, jump);
            }
        }
        const mask32 outside = mask32_andnot(m, inside);
        const u32v numbers = u32v_expand(u32v_iota(labels + 1), root);
        const u32v looked_up = u32v_gather(table, u32v_select(outside, address, u32v_set(0)));
        const u32v found = u32v_select(outside, looked_up, numbers);
        labels += (uint32_t)mask32_count(root);
        const u32v label = u32v_permute(found, jump);
        store_row(table, i, n, u32v_select(m, label, u32v_set(0)));
    }
    return labels;
}

static uint32_t solve_v1(uint32_t *table, size_t n)
{
    return solve(table, n, true);
}
static uint32_t solve_v2(uint32_t *table, size_t n)
{
    return solve(table, n, false);
}

const slc_image_rosenfeld_kernels SIMD_TABLE(slc_image_rosenfeld) = {.target = SIMD_TARGET_NAME,
                                                                     .v1 = {v1_4, v1_8},
                                                                     .v2 = {v2_4, v2_8},
                                                                     .solve_v1 = solve_v1,
                                                                     .solve_v2 = solve_v2};
