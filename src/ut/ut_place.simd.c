/* SPDX-License-Identifier: Apache-2.0
 * The UT's words to hits, and their order. The formulas are those of ut_decode.c, in their order, so that
 * bits are the same.
 */
#include "ut/ut_place.h"
#include "simd/simd.h"

/* A number of the hybrids that lanes are in, of a board's. */
static inline f32v of_hybrids(const float row[SLC_UT_LANES], u32v hybrid)
{
    return SIMD_LANES < SLC_UT_LANES ? f32v_gather(row, hybrid) : f32v_permute(f32v_load(row), hybrid);
}
static inline u32v u32_of_hybrids(const uint32_t row[SLC_UT_LANES], u32v hybrid)
{
    return SIMD_LANES < SLC_UT_LANES ? u32v_gather(row, hybrid) : u32v_permute(u32v_load(row), hybrid);
}

/* The first SIMD_LANES words, of 16 bits, from `words` on. */
static inline u32v load_words(const uint8_t *words)
{
    const u32v lane = u32v_iota(0), pair = u32v_permute(u32v_load_any(words), u32v_shr(lane, 1));
    const mask32 odd = u32v_ne(u32v_and(lane, u32v_set(1)), u32v_set(0));
    return u32v_select(odd, u32v_shr(pair, 16), u32v_and(pair, u32v_set(0xffff)));
}

static inline u32v bucket_of(f32v x)
{
    const f32v core = f32v_set(slc_ut_bucket_core_mm), middle = f32v_set(SLC_UT_MIDDLE);
    const f32v part = f32v_sub(f32v_set(1), f32v_div(core, f32v_add(f32v_abs(x), core)));
    const f32v at = f32v_add(middle, f32v_copysign(f32v_mul(part, f32v_set(slc_ut_bucket_scale)), x));
    return u32v_from_i32(i32v_max(i32v_set(0), i32v_min(i32v_truncate(at), i32v_set(SLC_UT_BUCKETS - 1))));
}

/* The lanes whose words are of no strip. */
static inline mask32 place_words(const slc_ut_board *b, u32v word, const slc_ut_found *found, size_t row)
{
    const u32v channel = u32v_and(u32v_shr(word, 2), u32v_set(0xfff));
    const u32v lane = u32v_shr(u32v_mul(channel, u32v_set(b->per_strips)), 22);
    const u32v hybrid = u32v_min(lane, u32v_set(SLC_UT_LANES - 1));
    const u32v strip0 = u32v_sub(channel, u32v_mul(hybrid, u32v_set(b->strips)));
    const u32v layer = u32_of_hybrids(b->layer, hybrid);
    const f32v strip = f32v_from_i32(i32v_from_u32(u32v_add(strip0, u32v_set(1))));
    const f32v quarters = f32v_from_i32(i32v_from_u32(u32v_and(word, u32v_set(3))));
    const f32v k = f32v_sub(f32v_add(strip, f32v_mul(f32v_set(0.25f), quarters)),
                            of_hybrids(b->number[SLC_UT_OF_FIRST], hybrid));
    const f32v x = f32v_add(of_hybrids(b->number[SLC_UT_OF_X0], hybrid),
                            f32v_mul(k, of_hybrids(b->number[SLC_UT_OF_DX], hybrid)));
    const f32v z = f32v_add(of_hybrids(b->number[SLC_UT_OF_Z0], hybrid),
                            f32v_mul(k, of_hybrids(b->number[SLC_UT_OF_DZ], hybrid)));
    const f32v y = f32v_add(of_hybrids(b->number[SLC_UT_OF_Y0], hybrid),
                            f32v_mul(k, of_hybrids(b->number[SLC_UT_OF_DY_STRIP], hybrid)));
    f32v_store(found->x + row, x);
    f32v_store(found->z + row, z);
    f32v_store(found->y_begin + row, y);
    f32v_store(found->y_end + row, f32v_add(y, of_hybrids(b->number[SLC_UT_OF_DY], hybrid)));
    f32v_store(found->weight + row, of_hybrids(b->number[SLC_UT_OF_WEIGHT], hybrid));
    u32v_store(found->channel + row, u32v_add(u32_of_hybrids(b->channel, hybrid), strip0));
    u32v_store(found->key + row, u32v_add(u32v_mul(layer, u32v_set(SLC_UT_BUCKETS)), bucket_of(x)));
    return u32v_ge(layer, u32v_set(SLC_UT_LAYERS));
}

static bool place(const slc_ut_board *boards, const slc_ut_words *of_boards, size_t n,
                  const slc_ut_found *found)
{
    const slc_ut_found columns = *found; /* do not move */
    mask32 wrong = mask32_none();
    for (size_t k = 0; k < n; k++) {
        const slc_ut_words of = of_boards[k];
        for (size_t i = 0; i < of.n; i += SIMD_LANES) {
            const size_t row = of.begin + i;
            const mask32 outside = place_words(&boards[of.board], load_words(of.words + 2 * i), &columns,
                                               row);
            wrong = mask32_or(wrong, mask32_and(outside, mask32_first(of.n - i)));
        }
    }
    return !mask32_any(wrong);
}

static uint32_t begin(uint32_t buckets[SLC_UT_BUCKETS], uint32_t at, uint32_t *most)
{
    const u32v last_lane = u32v_set((uint32_t)SIMD_LANES - 1);
    u32v before = u32v_set(at), largest = u32v_set(0);
    for (size_t k = 0; k < SLC_UT_BUCKETS; k += SIMD_LANES) {
        const mask32 some = mask32_first(SLC_UT_BUCKETS - k);
        const u32v counts = u32v_load_masked(buckets + k, some), sums = u32v_running_sum(counts);
        u32v_store_masked(buckets + k, u32v_add(before, u32v_sub(sums, counts)), some);
        largest = u32v_max(largest, counts);
        before = u32v_add(before, u32v_permute(sums, last_lane));
    }
    *most = u32v_highest(largest);
    return u32v_lowest(before) - at;
}

/* A hit goes down by those behind it that are before it in x, and up by those in front that are after it:
 * none of another bucket, so that nobody asks where buckets begin. */
static inline u32v places_of(const float *x, const uint32_t *channel, uint32_t i, uint32_t reach,
                             uint32_t first)
{
    const f32v at = f32v_load(x + i);
    const u32v id = u32v_load(channel + i), one = u32v_set(1);
    u32v to = u32v_iota(first + i);
    for (uint32_t k = 1; k <= reach; k++) {
        const f32v behind = f32v_load(x + i + k), front = f32v_load(x + i - k);
        const mask32 below = mask32_or(
            f32v_lt(behind, at), mask32_and(f32v_eq(behind, at), u32v_lt(u32v_load(channel + i + k), id)));
        const mask32 above = mask32_or(
            f32v_gt(front, at), mask32_and(f32v_eq(front, at), u32v_gt(u32v_load(channel + i - k), id)));
        to = u32v_select(below, u32v_add(to, one), to);
        to = u32v_select(above, u32v_sub(to, one), to);
    }
    return to;
}

static void order(const float *x, const uint32_t *channel, uint32_t n, uint32_t reach, uint32_t first,
                  uint32_t *to)
{
    for (uint32_t i = 0; i < n; i += (uint32_t)SIMD_LANES) {
        u32v_store(to + i, places_of(x, channel, i, reach, first));
    }
}

const slc_ut_kernels SIMD_TABLE(slc_ut) = {SIMD_TARGET_NAME, place, begin, order};
