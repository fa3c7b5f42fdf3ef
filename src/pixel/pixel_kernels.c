/* SPDX-License-Identifier: Apache-2.0
 * Which table serves a target, what `auto` prefers, and the standard input of the kernels of sparse pixels: a
 * VELO sensor with 1 % of its pixels hit, in raster order and in any. That of the stream is in
 * pixel_stream_case.c.
 */
#include "pixel/pixel_kernels.h"
#include "pixel/pixel_near.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_pixel_kernels_##target,
static const slc_pixel_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_pixel_kernels *slc_pixel_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

#define NEAR_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_pixel_near_kernels_##target,
static const slc_pixel_near_kernels *const near_tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(NEAR_OF)};
#undef NEAR_OF

const slc_pixel_near_kernels *slc_pixel_near_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? near_tables[target] : NULL;
}

/* ---- the standard input ------------------------------------------------------------------------- */

enum { WIDTH = 768, HEIGHT = 256, PIXELS = 1966, ROOM = PIXELS + 128, STRIDE = WIDTH + 64 };
enum { WORDS = STRIDE / 64 * (HEIGHT + 3), FRONT = 16 };

typedef struct scratch {
    uint64_t summary[WORDS / 64 + 1], starts[ROOM];
    double centroid_x[ROOM], centroid_y[ROOM];
    uint32_t bits[2 * WORDS + 2], base[WORDS], key[ROOM], table[16][ROOM], size[ROOM], labels[2][ROOM],
        clusters, others;
    uint32_t image_run[SLC_PIXEL_GROUP + 1], image_cluster[SLC_PIXEL_GROUP + 1];
    uint16_t x[ROOM], y[ROOM], mixed_x[ROOM], mixed_y[ROOM], x_min[ROOM], y_min[ROOM], x_max[ROOM],
        y_max[ROOM];
} scratch;

static slc_pixel_bits bits_of(scratch *s)
{
    return (slc_pixel_bits){.stride = STRIDE,
                            .eight = true,
                            .bits = s->bits,
                            .base = s->base,
                            .summary = s->summary,
                            .words = WORDS,
                            .key = s->key + FRONT,
                            .starts = s->starts,
                            .run_key = s->table[0],
                            .run_at = s->table[1],
                            .run_first = s->table[2],
                            .parent = s->table[3],
                            .label = s->table[4],
                            .linked = s->table[5],
                            .cluster_key = s->table[6],
                            .cluster_length = s->table[7],
                            .rank = s->table[8],
                            .word = s->table[9],
                            .mask = s->table[10],
                            .window = s->table[11],
                            .wide = s->table[12],
                            .length = s->table[13],
                            .before = s->table[14],
                            .used = s->table[15],
                            .image_run = s->image_run,
                            .image_cluster = s->image_cluster};
}

/* Every place with the same probability, in raster order: those still due of those still left. */
static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    memset(s, 0, sizeof *s);
    s->bits[2 * WORDS] = s->bits[2 * WORDS + 1] = UINT32_MAX;
    uint32_t n = 0;
    for (uint32_t place = 0; place < WIDTH * HEIGHT; place++) {
        if (slc_random_below(&seed, WIDTH * HEIGHT - place) < PIXELS - n) {
            s->x[n] = (uint16_t)(place % WIDTH);
            s->y[n++] = (uint16_t)(place / WIDTH);
        }
    }
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint32_t j = slc_random_below(&seed, i + 1);
        s->mixed_x[i] = s->mixed_x[j];
        s->mixed_y[i] = s->mixed_y[j];
        s->mixed_x[j] = s->x[i];
        s->mixed_y[j] = s->y[i];
    }
}

static void run(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_pixel_kernels *kernels = slc_pixel_kernels_of(target);
    const slc_pixel_bits bits = bits_of(s);
    const slc_pixel_shape shape = {ROOM,     s->size,  s->x_min,      s->y_min,
                                   s->x_max, s->y_max, s->centroid_x, s->centroid_y};
    static const uint32_t offset[] = {0, PIXELS / 3, PIXELS / 3, PIXELS};
    slc_pixel_group sorted = {s->x, s->y, offset, 3, false};
    static const uint32_t all[] = {0, PIXELS};
    slc_pixel_group mixed = {s->mixed_x, s->mixed_y, all, 1, false};
    s->others = kernels->cluster(&bits, &mixed, NULL);
    kernels->labels(&bits, &mixed, s->labels[1]);
    s->clusters = kernels->cluster(&bits, &sorted, &shape);
    kernels->labels(&bits, &sorted, s->labels[0]);
}

static uint64_t digest(const void *memory)
{
    const scratch *s = memory;
    const size_t n = s->clusters;
    uint64_t d = slc_simd_digest(n + s->others, s->labels[0], PIXELS * sizeof s->labels[0][0]);
    d = slc_simd_digest(d, s->labels[1], PIXELS * sizeof s->labels[1][0]);
    d = slc_simd_digest(d, s->size, n * sizeof *s->size);
    d = slc_simd_digest(d, s->x_min, n * sizeof *s->x_min);
    d = slc_simd_digest(d, s->x_max, n * sizeof *s->x_max);
    d = slc_simd_digest(d, s->y_min, n * sizeof *s->y_min);
    d = slc_simd_digest(d, s->y_max, n * sizeof *s->y_max);
    d = slc_simd_digest(d, s->centroid_x, n * sizeof *s->centroid_x);
    return slc_simd_digest(d, s->centroid_y, n * sizeof *s->centroid_y);
}

static const slc_simd_case velo_sensor = {2 * PIXELS, 2 * 2 + 4 + 14, sizeof(scratch), prepare, run, digest};

const slc_simd_kernel slc_pixel_kernel_rows[] = {
    {.name = "pixel.cluster",
     .preference = {{SLC_SIMD_AVX512ICL, 2.96},
                    {SLC_SIMD_AVX512, 3.00},
                    {SLC_SIMD_AVX2, 3.30},
                    {SLC_SIMD_AVX512VL256, 3.42},
                    {SLC_SIMD_AVX512VL128, 4.41},
                    {SLC_SIMD_SSE4, 5.52},
                    {SLC_SIMD_C, 9.71}},
     .bench = &velo_sensor},
    {.name = "pixel.stream",
     .preference = {{SLC_SIMD_AVX512ICL, 27.3},
                    {SLC_SIMD_AVX512, 27.7},
                    {SLC_SIMD_AVX512VL256, 28.3},
                    {SLC_SIMD_AVX2, 28.4},
                    {SLC_SIMD_AVX512VL128, 30.6},
                    {SLC_SIMD_SSE4, 30.9},
                    {SLC_SIMD_C, 43.0}},
     .bench = &slc_pixel_stream_case},
    {.name = NULL},
};
