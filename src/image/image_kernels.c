/* SPDX-License-Identifier: Apache-2.0
 * Which table serves a target, what `auto` prefers, and the standard inputs of the kernels of dense images.
 */
#include "image/image_kernels.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_image_kernels_##target,
static const slc_image_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_image_kernels *slc_image_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

/* ---- standard inputs --------------------------------------------------------------------------- */

enum {
    PIXELS = 16384, /* with its bits it lies in the first-level cache */
    LABELS = 4096,
    PAIRS = 2048
};

typedef struct rows_scratch {
    uint16_t pixels16[PIXELS + SLC_COLUMN_ALIGN / 2];
    uint32_t pixels32[PIXELS + SLC_COLUMN_ALIGN / 4];
    float reals[PIXELS + SLC_COLUMN_ALIGN / 4];
    uint8_t pixels[PIXELS + SLC_COLUMN_ALIGN];
    uint64_t bits[PIXELS / 64 + SLC_COLUMN_ALIGN / 8];
    uint32_t positions[PIXELS + 64];
    size_t n_positions;
} rows_scratch;

typedef struct table_scratch {
    uint32_t fresh[LABELS + SLC_COLUMN_ALIGN / 4];
    uint32_t table[LABELS + SLC_COLUMN_ALIGN / 4];
    uint32_t a[PAIRS + SLC_COLUMN_ALIGN / 4], b[PAIRS + SLC_COLUMN_ALIGN / 4];
} table_scratch;

/* Runs of 1 to 15 pixels, bright and dark in turn: what images with objects of some pixels look like. */
static void prepare_rows(void *scratch, uint64_t seed)
{
    rows_scratch *rows = scratch;
    memset(rows, 0, sizeof *rows);
    for (size_t i = 0, end = 0, bright = 0; i < PIXELS; bright = 1 - bright) {
        for (end = i + 1 + slc_random_below(&seed, 15); i < end && i < PIXELS; i++) {
            rows->pixels[i] = (uint8_t)((bright != 0 ? 128U : 0U) + slc_random_below(&seed, 128));
        }
    }
    for (size_t i = 0; i < PIXELS; i++) {
        rows->pixels16[i] = (uint16_t)(rows->pixels[i] << 8);
        rows->pixels32[i] = (uint32_t)rows->pixels[i] << 24;
        rows->reals[i] = (float)rows->pixels[i];
    }
    slc_image_kernels_c.threshold(rows->pixels, PIXELS, 128, rows->bits);
}

static void run_threshold(void *scratch, slc_simd_target target)
{
    rows_scratch *rows = scratch;
    slc_image_kernels_of(target)->threshold(rows->pixels, PIXELS, 128, rows->bits);
}

static void run_threshold_u16(void *scratch, slc_simd_target target)
{
    rows_scratch *rows = scratch;
    slc_image_kernels_of(target)->threshold_u16(rows->pixels16, PIXELS, 128 << 8, rows->bits);
}

static void run_threshold_u32(void *scratch, slc_simd_target target)
{
    rows_scratch *rows = scratch;
    slc_image_kernels_of(target)->threshold_u32(rows->pixels32, PIXELS, 128U << 24, rows->bits);
}

static void run_threshold_f32(void *scratch, slc_simd_target target)
{
    rows_scratch *rows = scratch;
    slc_image_kernels_of(target)->threshold_f32(rows->reals, PIXELS, 128.0F, rows->bits);
}

static void run_edges(void *scratch, slc_simd_target target)
{
    rows_scratch *rows = scratch;
    rows->n_positions = slc_image_kernels_of(target)->edges(rows->bits, PIXELS, rows->positions);
}

/* Each pair joins a label with one a little below it, as when a row of runs meets the row above. */
static void prepare_table(void *scratch, uint64_t seed)
{
    table_scratch *trees = scratch;
    memset(trees, 0, sizeof *trees);
    for (uint32_t i = 0; i < LABELS; i++) {
        trees->fresh[i] = i;
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        const uint32_t label = 2 * i + slc_random_below(&seed, 2);
        const uint32_t back = slc_random_below(&seed, 64);
        trees->a[i] = label;
        trees->b[i] = label > back ? label - back : 0;
    }
}

static void run_unite(void *scratch, slc_simd_target target)
{
    table_scratch *trees = scratch;
    memcpy(trees->table, trees->fresh, LABELS * sizeof *trees->table);
    slc_image_kernels_of(target)->unite(trees->table, trees->a, trees->b, PAIRS);
}

/* Trees as the unions above leave them. */
static void prepare_trees(void *scratch, uint64_t seed)
{
    table_scratch *trees = scratch;
    prepare_table(scratch, seed);
    slc_image_kernels_c.unite(trees->fresh, trees->a, trees->b, PAIRS);
}

static void run_flatten(void *scratch, slc_simd_target target)
{
    table_scratch *trees = scratch;
    memcpy(trees->table, trees->fresh, LABELS * sizeof *trees->table);
    slc_image_kernels_of(target)->flatten(trees->table, LABELS);
}

static uint64_t digest_bits(const void *scratch)
{
    const rows_scratch *rows = scratch;
    return slc_simd_digest(0, rows->bits, PIXELS / 8);
}

static uint64_t digest_positions(const void *scratch)
{
    const rows_scratch *rows = scratch;
    return slc_simd_digest(rows->n_positions, rows->positions, rows->n_positions * sizeof *rows->positions);
}

/* Trees differ with the order of their unions; their roots do not. */
static uint64_t digest_roots(const void *scratch)
{
    const table_scratch *trees = scratch;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < LABELS; i++) {
        uint32_t root = i;
        while (trees->table[root] != root) {
            root = trees->table[root];
        }
        sum = slc_simd_digest(sum, &root, sizeof root);
    }
    return sum;
}

static uint64_t digest_table(const void *scratch)
{
    const table_scratch *trees = scratch;
    return slc_simd_digest(0, trees->table, LABELS * sizeof *trees->table);
}

/* Runs of 8 pixels on average: an eighth of the pixels is an edge. */
static const slc_simd_case cases[] = {
    {PIXELS, 1 + 1.0 / 8, sizeof(rows_scratch), prepare_rows, run_threshold, digest_bits},
    {PIXELS, 1.0 / 8 + 4.0 / 8, sizeof(rows_scratch), prepare_rows, run_edges, digest_positions},
    {PAIRS, 8, sizeof(table_scratch), prepare_table, run_unite, digest_roots},
    {LABELS, 8, sizeof(table_scratch), prepare_trees, run_flatten, digest_table},
    {PIXELS, 2 + 1.0 / 8, sizeof(rows_scratch), prepare_rows, run_threshold_u16, digest_bits},
    {PIXELS, 4 + 1.0 / 8, sizeof(rows_scratch), prepare_rows, run_threshold_u32, digest_bits},
    {PIXELS, 4 + 1.0 / 8, sizeof(rows_scratch), prepare_rows, run_threshold_f32, digest_bits},
};

/* Measured on an AMD EPYC with AVX-512 by `sluice bench --kernels`. A gather per lane and step costs more
 * than following one tree after the other, so plain C wins the equivalence table. */
const slc_simd_kernel slc_image_kernel_rows[] = {
    {.name = "image.threshold",
     .preference = {{SLC_SIMD_AVX512, 0.0054},
                    {SLC_SIMD_AVX512VL256, 0.0096},
                    {SLC_SIMD_AVX2, 0.0106},
                    {SLC_SIMD_AVX512VL128, 0.0170},
                    {SLC_SIMD_SSE4, 0.0236}},
     .bench = &cases[0]},
    {.name = "image.edges",
     .preference = {{SLC_SIMD_AVX2, 0.0584}, {SLC_SIMD_SSE4, 0.0580}},
     .bench = &cases[1]},
    {.name = "image.unite", .preference = {{SLC_SIMD_C, 1.56}}, .bench = &cases[2]},
    {.name = "image.flatten", .preference = {{SLC_SIMD_C, 0.320}}, .bench = &cases[3]},
    {.name = "image.threshold_u16", .bench = &cases[4]},
    {.name = "image.threshold_u32", .bench = &cases[5]},
    {.name = "image.threshold_f32", .bench = &cases[6]},
    {.name = NULL},
};

void slc_image_kernels_select(slc_simd_target choice, slc_image_kernels *kernels)
{
    const slc_simd_kernel *rows = slc_image_kernel_rows;
    *kernels = (slc_image_kernels){
        .target = slc_simd_name(choice),
        .threshold = slc_image_kernels_of(slc_simd_kernel_choice(&rows[0], choice))->threshold,
        .edges = slc_image_kernels_of(slc_simd_kernel_choice(&rows[1], choice))->edges,
        .unite = slc_image_kernels_of(slc_simd_kernel_choice(&rows[2], choice))->unite,
        .flatten = slc_image_kernels_of(slc_simd_kernel_choice(&rows[3], choice))->flatten,
        .threshold_u16 = slc_image_kernels_of(slc_simd_kernel_choice(&rows[4], choice))->threshold_u16,
        .threshold_u32 = slc_image_kernels_of(slc_simd_kernel_choice(&rows[5], choice))->threshold_u32,
        .threshold_f32 = slc_image_kernels_of(slc_simd_kernel_choice(&rows[6], choice))->threshold_f32,
    };
}
