/* SPDX-License-Identifier: Apache-2.0
 *
 * The algorithms of chapter 4 of A. Hennequin's thesis (2022), by name, and what `auto` takes for the
 * instruction set of those that are written in vectors.
 */
#include "image/image_algorithms.h"

#include "base/splitmix.h"

#include <assert.h>
#include <string.h>

/* Gathers reach 2^31 elements. */
#define PIXELS_GATHER ((UINT64_C(1) << 31) - 1)

static const slc_image_algorithm own[] = {
    {"rosenfeld",
     "two passes, all four neighbours of a pixel (Rosenfeld and Pfaltz 1966; thesis, algorithms 1-4)", false,
     SLC_IMAGE_PIXELS_U32, slc_image_rosenfeld_scratch, slc_image_rosenfeld_label, NULL},
    {"rosenfeld-dt", "the same with a decision tree (Wu, Otoo, Suzuki 2009; thesis, algorithm 5)", false,
     SLC_IMAGE_PIXELS_U32, slc_image_rosenfeld_scratch, slc_image_rosenfeld_tree_label, NULL},
    {"lsl-std", "light speed labeling, relative labels of all pixels (Lacassagne and Zavidovique 2011)",
     false, SLC_IMAGE_PIXELS_U32, slc_image_lsl_scratch, slc_image_lsl_std_label, NULL},
    {"lsl-rle", "light speed labeling by whole runs (Lacassagne and Zavidovique 2011)", false,
     SLC_IMAGE_PIXELS_U32, slc_image_lsl_scratch, slc_image_lsl_rle_label, NULL},
    {"flsl", "runs by compress-store, two pointers along two rows (Lemaitre, Hennequin, Lacassagne 2020)",
     true, SLC_IMAGE_PIXELS_U32, slc_image_flsl_scratch, slc_image_flsl_label, slc_image_flsl_choose},
    {"rosenfeld-v1", "SIMD Rosenfeld by pixels (thesis, algorithms 17-21)", true, PIXELS_GATHER,
     slc_image_rosenfeld_simd_scratch, slc_image_rosenfeld_v1_label, slc_image_rosenfeld_v1_choose},
    {"rosenfeld-v2", "SIMD Rosenfeld by sub-segments (thesis, algorithms 17-19, 21, 22)", true, PIXELS_GATHER,
     slc_image_rosenfeld_simd_scratch, slc_image_rosenfeld_v2_label, slc_image_rosenfeld_v2_choose},
};

static const slc_image_algorithm *added;

void slc_image_algorithms_add(const slc_image_algorithm *rows)
{
    added = rows;
}

const slc_image_algorithm *slc_image_algorithm_row(size_t number)
{
    for (const slc_image_algorithm *row = added; row != NULL && row->name != NULL; row++) {
        if (number-- == 0) {
            return row;
        }
    }
    return number < sizeof own / sizeof *own ? &own[number] : NULL;
}

/* ---- targets ----------------------------------------------------------------------------------- */

enum {
    WIDTH = 512,
    HEIGHT = 128,
    PIXELS = WIDTH * HEIGHT,
    GRAIN = 2,
    ROOM = 20 * PIXELS /* more than any of the algorithms below wants; run_case asks */
};

typedef struct case_scratch {
    uint8_t pixels[PIXELS];
    uint32_t labels[PIXELS];
    uint8_t room[ROOM];
    uint32_t n_labels;
} case_scratch;
_Static_assert(offsetof(case_scratch, room) % SLC_COLUMN_ALIGN == 0, "the room is aligned as a scratch is");

/* Blocks of 2 x 2 pixels, 45 of 100 set: where components are largest and most ragged. */
static void prepare_case(void *scratch, uint64_t seed)
{
    case_scratch *c = scratch;
    memset(c, 0, sizeof *c);
    for (size_t y = 0; y < HEIGHT; y += GRAIN) {
        uint8_t *row = c->pixels + y * WIDTH;
        for (size_t x = 0; x < WIDTH; x += GRAIN) {
            memset(row + x, slc_random_below(&seed, 100) < 45 ? 1 : 0, GRAIN);
        }
        memcpy(row + WIDTH, row, WIDTH);
    }
}

static void run_case(void *scratch, slc_simd_target target, size_t (*bound)(size_t, size_t, uint32_t),
                     uint32_t (*label)(const slc_image_strip *))
{
    case_scratch *c = scratch;
    assert(bound(WIDTH, HEIGHT, 8) <= ROOM);
    (void)bound;
    const slc_image_strip strip = {.pixels = c->pixels,
                                   .stride = WIDTH,
                                   .width = WIDTH,
                                   .height = HEIGHT,
                                   .connectivity = 8,
                                   .labels = c->labels,
                                   .label_stride = WIDTH * sizeof(uint32_t),
                                   .scratch = c->room,
                                   .target = target};
    c->n_labels = label(&strip);
}

static void run_flsl(void *scratch, slc_simd_target target)
{
    run_case(scratch, target, slc_image_flsl_scratch, slc_image_flsl_label);
}
static void run_v1(void *scratch, slc_simd_target target)
{
    run_case(scratch, target, slc_image_rosenfeld_simd_scratch, slc_image_rosenfeld_v1_label);
}
static void run_v2(void *scratch, slc_simd_target target)
{
    run_case(scratch, target, slc_image_rosenfeld_simd_scratch, slc_image_rosenfeld_v2_label);
}

static uint64_t digest_labels(const void *scratch)
{
    const case_scratch *c = scratch;
    return slc_simd_digest(c->n_labels, c->labels, sizeof c->labels);
}

/* A byte is read and a label written for every pixel. */
static const slc_simd_case cases[] = {
    {PIXELS, 1 + 4, sizeof(case_scratch), prepare_case, run_flsl, digest_labels},
    {PIXELS, 1 + 4, sizeof(case_scratch), prepare_case, run_v1, digest_labels},
    {PIXELS, 1 + 4, sizeof(case_scratch), prepare_case, run_v2, digest_labels},
};

/* Measured on an AMD EPYC with AVX-512 by `sluice bench --kernels`. FLSL takes the widest first although its
 * times there hardly differ: it is faster with larger components, when runs and gaps are longer. */
const slc_simd_kernel slc_image_algorithm_kernel_rows[] = {
    {.name = "image.flsl",
     .preference = {{SLC_SIMD_AVX512, 0.597},
                    {SLC_SIMD_AVX2, 0.621},
                    {SLC_SIMD_AVX512VL256, 0.634},
                    {SLC_SIMD_AVX512VL128, 0.620},
                    {SLC_SIMD_SSE4, 0.589}},
     .bench = &cases[0]},
    {.name = "image.rosenfeld_v1",
     .preference = {{SLC_SIMD_AVX512, 0.778},
                    {SLC_SIMD_AVX512VL256, 1.07},
                    {SLC_SIMD_AVX2, 1.23},
                    {SLC_SIMD_AVX512VL128, 1.44},
                    {SLC_SIMD_SSE4, 1.78}},
     .bench = &cases[1]},
    {.name = "image.rosenfeld_v2",
     .preference = {{SLC_SIMD_AVX512, 0.717},
                    {SLC_SIMD_AVX512VL256, 0.950},
                    {SLC_SIMD_AVX2, 1.05},
                    {SLC_SIMD_AVX512VL128, 1.34},
                    {SLC_SIMD_SSE4, 1.92}},
     .bench = &cases[2]},
    {.name = NULL},
};

slc_simd_target slc_image_flsl_choose(slc_simd_target choice)
{
    return slc_simd_kernel_choice(&slc_image_algorithm_kernel_rows[0], choice);
}
slc_simd_target slc_image_rosenfeld_v1_choose(slc_simd_target choice)
{
    return slc_simd_kernel_choice(&slc_image_algorithm_kernel_rows[1], choice);
}
slc_simd_target slc_image_rosenfeld_v2_choose(slc_simd_target choice)
{
    return slc_simd_kernel_choice(&slc_image_algorithm_kernel_rows[2], choice);
}
