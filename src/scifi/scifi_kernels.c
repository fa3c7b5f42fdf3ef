/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the SciFi's kernel, and its standard input: an event of as many hits as LHCb's minimum-bias
 * events have, in a detector of mats side by side.
 */
#include "base/bytes.h"
#include "base/splitmix.h"
#include "scifi/scifi_place.h"

#include "simd_targets.h"

#include <assert.h>

#define DECLARE(target, TARGET) extern const slc_scifi_kernels slc_scifi_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_scifi_kernels_##target,
static const slc_scifi_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_scifi_kernels *slc_scifi_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

/* ---- scifi.place ------------------------------------------------------------------------------- */

enum {
    MODULES = 10 * SLC_SCIFI_ZONES,
    OF_MODULE = 18,
    HITS = MODULES * OF_MODULE,
    ROOM = HITS + SLC_SCIFI_SPARE
};

typedef struct place_scratch {
    slc_scifi_piece pieces[MODULES];
    slc_scifi_extent extents[MODULES];
    slc_scifi_zone zones[SLC_SCIFI_ZONES];
    uint8_t words[2 * HITS + 4 * SLC_SCIFI_SPARE];
    float x[ROOM], z[ROOM], y[ROOM];
    uint32_t channel[ROOM], lined_up[ROOM];
    uint8_t zone[ROOM], size[ROOM];
    uint32_t right;
} place_scratch;

/* A module of 530 mm, whose x falls as channels rise in every second zone. */
static void make_module(place_scratch *s, uint32_t m)
{
    const uint32_t zone = m / 10, in_zone = m % 10;
    const bool falls = zone % 2 != 0;
    s->zones[zone].alike = zone % 3 != 0;
    s->pieces[m] = (slc_scifi_piece){
        .first = (128 + 16 * zone + in_zone) << 11, .span = 1 << 11, .zone = (uint8_t)zone, .falls = falls};
    for (uint32_t mat = 0; mat < 4; mat++) {
        const float numbers[SLC_SCIFI_MAT_NUMBERS] = {-2650.0f + 530 * (float)in_zone +
                                                          131 * (float)(falls ? 3 - mat : mat) + 65.5f,
                                                      1200,
                                                      7826,
                                                      -65.3f,
                                                      0.125f,
                                                      0.22f,
                                                      32.7f,
                                                      falls ? -1 : 1,
                                                      1e-4f,
                                                      1e-4f,
                                                      0.0875f,
                                                      0.0036f};
        for (uint32_t c = 0; c < SLC_SCIFI_MAT_NUMBERS; c++) {
            s->zones[zone].number[c][4 * in_zone + mat] = numbers[c];
        }
    }
}

static void place_prepare(void *memory, uint64_t seed)
{
    place_scratch *s = memory;
    uint64_t random = seed;
    uint32_t n = 0;
    for (uint32_t m = 0; m < MODULES; m++) {
        make_module(s, m);
        const uint32_t of_piece = slc_random_below(&random, 2 * OF_MODULE);
        s->extents[m] = (slc_scifi_extent){s->words + 2 * (size_t)n, n + of_piece <= HITS ? of_piece : 0};
        for (uint32_t i = 0, cell = 0; i < s->extents[m].n; i++, n++) {
            cell += 1 + slc_random_below(&random, 2048 / (2 * OF_MODULE) - 1);
            slc_store_u16(s->words + 2 * (size_t)n, (uint16_t)(cell << 2 | slc_random_below(&random, 4)));
        }
    }
}

static void place_run(void *memory, slc_simd_target target)
{
    place_scratch *s = memory;
    const slc_scifi_place_in in = {
        .pieces = s->pieces, .n_pieces = MODULES, .zones = s->zones, .extents = s->extents};
    const slc_scifi_hits hits = {.x_mm = s->x,
                                 .z_mm = s->z,
                                 .y_end_mm = s->y,
                                 .channel = s->channel,
                                 .zone = s->zone,
                                 .size = s->size};
    s->right = slc_scifi_kernels_of(target)->place(&in, &hits, 0, s->lined_up);
}

static uint64_t place_digest(const void *memory)
{
    const place_scratch *s = memory;
    const slc_scifi_extent *last = &s->extents[MODULES - 1];
    const size_t n = (size_t)(last->words - s->words) / 2 + last->n;
    uint64_t digest = slc_simd_digest(s->right, s->x, n * sizeof *s->x);
    digest = slc_simd_digest(digest, s->z, n * sizeof *s->z);
    digest = slc_simd_digest(digest, s->y, n * sizeof *s->y);
    digest = slc_simd_digest(digest, s->channel, n * sizeof *s->channel);
    return slc_simd_digest(slc_simd_digest(digest, s->zone, n), s->size, n);
}

/* A word is read, a row written. */
static const slc_simd_case place_case = {
    .elements = HITS,
    .bytes_per_element = 2 + 3 * sizeof(float) + sizeof(uint32_t) + 2,
    .scratch_bytes = sizeof(place_scratch),
    .prepare = place_prepare,
    .run = place_run,
    .digest = place_digest,
};

/* Measured per hit: sluice bench --kernels --kernel scifi.place */
const slc_simd_kernel slc_scifi_kernel_rows[2] = {
    {.name = "scifi.place",
     .preference = {{SLC_SIMD_AVX512ICL, 0.87},
                    {SLC_SIMD_AVX512, 0.87},
                    {SLC_SIMD_AVX2, 0.96},
                    {SLC_SIMD_AVX512VL256, 0.99},
                    {SLC_SIMD_AVX512VL128, 1.70},
                    {SLC_SIMD_SSE4, 2.22},
                    {SLC_SIMD_C, 2.94}},
     .bench = &place_case},
    {.name = NULL},
};
