/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the UT's kernels, and their standard inputs: an event of as many hits as LHCb's minimum-bias
 * events have, from boards with six hybrids of 512 strips, and a layer's hits by bucket.
 */
#include "base/bytes.h"
#include "base/splitmix.h"
#include "ut/ut_place.h"

#include "simd_targets.h"

#include <assert.h>
#include <math.h>

#define DECLARE(target, TARGET) extern const slc_ut_kernels slc_ut_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_ut_kernels_##target,
static const slc_ut_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_ut_kernels *slc_ut_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

/* ---- ut.place ---------------------------------------------------------------------------------- */

enum { BOARDS = 180, OF_BOARD = 7, HITS = BOARDS * OF_BOARD, ROOM = HITS + SLC_UT_SPARE, STRIPS = 512 };

typedef struct place_scratch {
    slc_ut_board boards[BOARDS];
    float spare[SLC_UT_SPARE];
    slc_ut_words of_boards[BOARDS];
    uint8_t words[2 * HITS + 4 * SLC_UT_SPARE];
    float column[5][ROOM];
    uint32_t channel[ROOM], key[ROOM], right, n;
} place_scratch;

static void make_board(place_scratch *s, uint32_t board)
{
    slc_ut_board *b = &s->boards[board];
    b->strips = STRIPS;
    b->per_strips = (1U << 22) / STRIPS;
    for (uint32_t h = 0; h < SLC_UT_LANES; h++) {
        const uint32_t sector = SLC_UT_HYBRIDS * board + h, layer = board * SLC_UT_LAYERS / BOARDS;
        const float numbers[SLC_UT_OF_NUMBERS] = {1,
                                                  -860.0f + 97 * (float)(sector % 17),
                                                  h % 2 == 0 ? 0.19f : -0.19f,
                                                  -600.0f,
                                                  0.01f,
                                                  97.3f,
                                                  2330 + 100 * (float)layer,
                                                  1e-4f,
                                                  332};
        for (uint32_t c = 0; c < SLC_UT_OF_NUMBERS; c++) {
            b->number[c][h] = numbers[c];
        }
        b->channel[h] = sector << 9;
        b->layer[h] = h < SLC_UT_HYBRIDS ? layer : (uint32_t)SLC_UT_LAYERS;
    }
}

static void place_prepare(void *memory, uint64_t seed)
{
    place_scratch *s = memory;
    uint64_t random = seed;
    s->n = 0;
    for (uint32_t board = 0; board < BOARDS; board++) {
        const uint32_t wanted = slc_random_below(&random, 2 * OF_BOARD + 1);
        const uint32_t of_board = s->n + wanted <= HITS ? wanted : 0;
        make_board(s, board);
        s->of_boards[board] = (slc_ut_words){s->words + 2 * (size_t)s->n, board, s->n, of_board};
        for (uint32_t i = 0; i < of_board; i++, s->n++) {
            slc_store_u16(s->words + 2 * (size_t)s->n,
                          (uint16_t)slc_random_below(&random, SLC_UT_HYBRIDS * STRIPS << 2));
        }
    }
}

static void place_run(void *memory, slc_simd_target target)
{
    place_scratch *s = memory;
    const slc_ut_found found = {.x = s->column[0],
                                .z = s->column[1],
                                .y_begin = s->column[2],
                                .y_end = s->column[3],
                                .weight = s->column[4],
                                .channel = s->channel,
                                .key = s->key};
    s->right = slc_ut_kernels_of(target)->place(s->boards, s->of_boards, BOARDS, &found);
}

static uint64_t place_digest(const void *memory)
{
    const place_scratch *s = memory;
    uint64_t digest = slc_simd_digest(s->right, s->key, s->n * sizeof *s->key);
    for (size_t c = 0; c < 5; c++) {
        digest = slc_simd_digest(digest, s->column[c], s->n * sizeof(float));
    }
    return slc_simd_digest(digest, s->channel, s->n * sizeof *s->channel);
}

/* A word is read, a row written. */
static const slc_simd_case place_case = {
    .elements = HITS,
    .bytes_per_element = 2 + 5 * sizeof(float) + 2 * sizeof(uint32_t),
    .scratch_bytes = sizeof(place_scratch),
    .prepare = place_prepare,
    .run = place_run,
    .digest = place_digest,
};

/* ---- ut.order ---------------------------------------------------------------------------------- */

/* A layer whose buckets have from one to `OF_BUCKET` hits, of which some have the same x. */
enum {
    LAYER_HITS = 320,
    OF_BUCKET = 6,
    LAYER_ROOM = SLC_UT_REACH + LAYER_HITS + SLC_UT_REACH + SLC_UT_SPARE
};

typedef struct order_scratch {
    float x[LAYER_ROOM];
    uint32_t channel[LAYER_ROOM], to[LAYER_ROOM];
} order_scratch;

static void order_prepare(void *memory, uint64_t seed)
{
    order_scratch *s = memory;
    uint64_t random = seed;
    for (uint32_t i = 0; i < LAYER_ROOM; i++) {
        s->x[i] = NAN;
        s->channel[i] = 0;
    }
    for (uint32_t n = 0, bucket = 0; n < LAYER_HITS; bucket++) {
        const uint32_t left = LAYER_HITS - n, wanted = 1 + slc_random_below(&random, OF_BUCKET);
        for (uint32_t end = n + (wanted < left ? wanted : left); n < end; n++) {
            s->x[SLC_UT_REACH + n] = (float)bucket + 0.125f * (float)slc_random_below(&random, 8);
            s->channel[SLC_UT_REACH + n] = slc_random_below(&random, 1U << 23);
        }
    }
}

static void order_run(void *memory, slc_simd_target target)
{
    order_scratch *s = memory;
    slc_ut_kernels_of(target)->order(s->x + SLC_UT_REACH, s->channel + SLC_UT_REACH, LAYER_HITS,
                                     OF_BUCKET - 1, 1000, s->to);
}

static uint64_t order_digest(const void *memory)
{
    const order_scratch *s = memory;
    return slc_simd_digest(0, s->to, LAYER_HITS * sizeof *s->to);
}

static const slc_simd_case order_case = {
    .elements = LAYER_HITS,
    .bytes_per_element = sizeof(float) + 2 * sizeof(uint32_t),
    .scratch_bytes = sizeof(order_scratch),
    .prepare = order_prepare,
    .run = order_run,
    .digest = order_digest,
};

/* Measured per hit: sluice bench --kernels --kernel ut. */
const slc_simd_kernel slc_ut_kernel_rows[3] = {
    {.name = "ut.place",
     .preference = {{SLC_SIMD_AVX512, 1.32},
                    {SLC_SIMD_AVX512ICL, 1.34},
                    {SLC_SIMD_AVX512VL256, 1.63},
                    {SLC_SIMD_AVX2, 1.63},
                    {SLC_SIMD_C, 4.93},
                    {SLC_SIMD_SSE4, 5.30},
                    {SLC_SIMD_AVX512VL128, 6.31}},
     .bench = &place_case},
    {.name = "ut.order",
     .preference = {{SLC_SIMD_AVX512, 0.89},
                    {SLC_SIMD_AVX512ICL, 0.90},
                    {SLC_SIMD_AVX2, 1.07},
                    {SLC_SIMD_AVX512VL256, 1.65},
                    {SLC_SIMD_SSE4, 2.10},
                    {SLC_SIMD_AVX512VL128, 3.16},
                    {SLC_SIMD_C, 10.2}},
     .bench = &order_case},
    {.name = NULL},
};
