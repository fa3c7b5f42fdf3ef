/* SPDX-License-Identifier: Apache-2.0
 * The tables of the clustering kernel, and its standard input: banks like those of the VELO. */
#include "base/bytes.h"
#include "base/splitmix.h"
#include "velo/velo_cluster_work.h"
#include "velo/velo_superpixel.h"

#include "simd_targets.h"

#include <assert.h>
#include <string.h>

#define DECLARE(target, TARGET) extern const slc_velo_cluster_kernels slc_velo_cluster_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_velo_cluster_kernels_##target,
static const slc_velo_cluster_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_velo_cluster_kernels *slc_velo_cluster_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

void slc_velo_cluster_work_init(slc_velo_cluster_work *work)
{
    memset(work, 0, sizeof *work);
    for (size_t i = 0; i < SLC_VELO_FRONT; i++) {
        work->key[i] = UINT32_C(0x80000000); /* far from every key */
    }
}

void slc_velo_cluster_work_begin(slc_velo_cluster_work *work, const slc_velo_geometry *geometry)
{
    for (uint32_t c = 0; c < SLC_VELO_COLUMNS; c++) {
        const float place[2] = {geometry->local_x_mm[c], geometry->x_pitch_mm[c]};
        memcpy(&work->places[c], place, sizeof place);
    }
    work->superpixels = work->isolated = 0;
    slc_velo_cluster_work_next(work);
}

void slc_velo_cluster_work_next(slc_velo_cluster_work *work)
{
    work->n_sensors = work->nodes = 0;
    work->false_hint = false;
}

/* ---- velo.cluster: the sensors of a few events ----------------------------------------------------- */

enum {
    SENSORS = 128,
    WORDS = 24, /* of one sensor */
    BANK = 32,
    HITS = 2 * SENSORS * WORDS + 64
};

typedef struct cluster_scratch {
    slc_velo_cluster_work work;
    slc_velo_geometry geometry;
    uint32_t bank[SENSORS][BANK];
    float x_mm[HITS], y_mm[HITS], z_mm[HITS];
    uint32_t channel[HITS], n_pixels[HITS];
    uint8_t module[HITS + 256];
    size_t n_hits;
} cluster_scratch;

static bool add_pixel(uint8_t *patterns, size_t *n, uint32_t column, uint32_t row)
{
    if (column >= SLC_VELO_COLUMNS || row >= SLC_VELO_ROWS) {
        return true;
    }
    uint8_t *pattern = &patterns[column / 2 * SLC_VELO_SUPERPIXEL_ROWS + row / 4];
    if (*pattern == 0 && *n == WORDS) {
        return false;
    }
    *n += *pattern == 0;
    *pattern |= (uint8_t)(1U << (column % 2 * 4 + row % 4));
    return true;
}

/* Clusters of one to four pixels in a row or around a corner, at random places, until a bank is full. */
static void fill_bank(uint32_t *bank, uint64_t *random)
{
    static const uint8_t step[3][2] = {{1, 0}, {0, 1}, {1, 1}};
    static const uint8_t sizes[8] = {1, 1, 1, 1, 2, 2, 2, 3};
    uint8_t patterns[SLC_VELO_SUPERPIXEL_COLUMNS * SLC_VELO_SUPERPIXEL_ROWS] = {0};
    size_t n = 0;
    for (bool room = true; room;) {
        uint32_t column = slc_random_below(random, SLC_VELO_COLUMNS);
        uint32_t row = slc_random_below(random, SLC_VELO_ROWS);
        const uint32_t size = sizes[slc_random_below(random, 8)];
        for (uint32_t k = 0; k < size && room; k++) {
            const uint32_t way = slc_random_below(random, 3);
            room = add_pixel(patterns, &n, column, row);
            column += step[way][0];
            row += step[way][1];
        }
    }
    n = 0;
    for (uint32_t a = 0; a < sizeof patterns; a++) {
        if (patterns[a] != 0) {
            bank[n++] = a << 8 | patterns[a];
        }
    }
}

static void cluster_prepare(void *memory, uint64_t seed)
{
    cluster_scratch *s = memory;
    uint64_t random = seed;
    slc_velo_cluster_work_init(&s->work);
    slc_velo_geometry_ideal(&s->geometry);
    for (size_t k = 0; k < SENSORS; k++) {
        fill_bank(s->bank[k], &random);
    }
}

static size_t locate(cluster_scratch *s, const slc_velo_cluster_kernels *kernels, size_t at)
{
    const slc_velo_hits_out out = {.x_mm = s->x_mm + at,
                                   .y_mm = s->y_mm + at,
                                   .z_mm = s->z_mm + at,
                                   .channel = s->channel + at,
                                   .n_pixels = s->n_pixels + at,
                                   .module = s->module + at};
    const size_t hits = kernels->locate(&s->geometry, &s->work, &out);
    slc_velo_cluster_work_next(&s->work);
    return hits;
}

static void cluster_run(void *memory, slc_simd_target target)
{
    cluster_scratch *s = memory;
    const slc_velo_cluster_kernels *kernels = slc_velo_cluster_kernels_of(target);
    s->n_hits = 0;
    slc_velo_cluster_work_begin(&s->work, &s->geometry);
    for (uint32_t k = 0; k < SENSORS; k++) {
        const slc_velo_sensor_in in = {.bytes = (const uint8_t *)s->bank[k], .n_words = WORDS, .sensor = k};
        (void)kernels->place(&in, &s->work);
        if (s->work.nodes >= SLC_VELO_GROUP || k + 1 == SENSORS) {
            s->n_hits += locate(s, kernels, s->n_hits);
        }
    }
}

static uint64_t cluster_digest(const void *memory)
{
    const cluster_scratch *s = memory;
    const void *const columns[] = {s->x_mm, s->y_mm, s->z_mm, s->channel, s->n_pixels};
    uint64_t digest = slc_simd_digest(s->n_hits, s->module, s->n_hits);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        digest = slc_simd_digest(digest, columns[i], s->n_hits * sizeof(float));
    }
    return digest;
}

/* A word is read; a hit of 21 bytes is written for about three super-pixels of four. */
const slc_simd_case slc_velo_cluster_case = {
    .elements = (size_t)SENSORS * WORDS,
    .bytes_per_element = 4 + 0.75 * 21,
    .scratch_bytes = sizeof(cluster_scratch),
    .prepare = cluster_prepare,
    .run = cluster_run,
    .digest = cluster_digest,
};
