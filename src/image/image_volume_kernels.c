/* SPDX-License-Identifier: Apache-2.0
 * Which table of the loops over volumes serves a target, what `auto` prefers, and their standard input.
 */
#include "image/image_volume_kernels.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_volume_kernels_##target,
static const slc_volume_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_volume_kernels *slc_volume_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

slc_simd_target slc_volume_choose(slc_simd_target choice)
{
    return slc_simd_kernel_choice(&slc_volume_kernel_rows[0], choice);
}

/* ---- standard inputs --------------------------------------------------------------------------- */

enum {
    WIDTH = 512,
    WORDS = WIDTH / 64,
    BUNDLES = 16, /* of a layer; two layers, the second under the first */
    SPARE = SLC_VOLUME_SPARE,
    LABELS = 2 * BUNDLES * WIDTH / 2
};

typedef struct scratch {
    slc_volume_strip strip;
    slc_volume_bundle bundles[2][BUNDLES], empty;
    uint64_t rows[2][BUNDLES][4][WORDS + 2];
    uint64_t words[2 * BUNDLES + 1][2 + SLC_VOLUME_KEPT][WORDS + 2 * SPARE];
    uint64_t of_strip[6][WORDS + 2 * SPARE];
    uint32_t ranks[2 * BUNDLES + 1][WORDS + 1 + SPARE];
    uint32_t lists[4][4 * WIDTH + SPARE];
    uint32_t parent[LABELS + SPARE], runs[LABELS + 2 * SPARE], numbers[LABELS + SPARE];
    uint32_t labels[4][WIDTH];
} scratch;

/* Runs of 1 to 15 voxels, foreground and background in turn. */
static void fill_row(uint64_t *bits, uint64_t *seed)
{
    for (size_t x = 0, end = 0, bright = 0; x < WIDTH; bright = 1 - bright) {
        for (end = x + 1 + slc_random_below(seed, 15); x < end && x < WIDTH; x++) {
            bits[x / 64] |= (uint64_t)bright << x % 64;
        }
    }
}

static void prepare_bundle(scratch *s, slc_volume_bundle *bundle, size_t i)
{
    bundle->all = s->words[i][0] + SPARE;
    bundle->starts = s->words[i][1] + SPARE;
    bundle->ranks = s->ranks[i];
    for (size_t k = 0; k < SLC_VOLUME_KEPT; k++) {
        bundle->meets[k] = s->words[i][2 + k] + SPARE;
    }
    bundle->labels = s->runs + SPARE;
}

static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    memset(s, 0, sizeof *s);
    prepare_bundle(s, &s->empty, (size_t)2 * BUNDLES);
    for (size_t z = 0; z < 2; z++) {
        for (size_t j = 0; j < BUNDLES; j++) {
            prepare_bundle(s, &s->bundles[z][j], z * BUNDLES + j);
            for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
                fill_row(s->rows[z][j][r] + 1, &seed);
                s->bundles[z][j].rows[r] = s->rows[z][j][r] + 1;
            }
        }
    }
    s->strip = (slc_volume_strip){.words = WORDS,
                                  .connectivity = 26,
                                  .parent = s->parent,
                                  .edge_run = s->lists[0],
                                  .edge_label = s->lists[1],
                                  .low = s->lists[2],
                                  .high = s->lists[3],
                                  .both = s->of_strip[0] + SPARE,
                                  .touch = s->of_strip[1] + SPARE,
                                  .sum = s->of_strip[2] + SPARE,
                                  .known = s->of_strip[3] + SPARE,
                                  .known_sum = s->of_strip[4] + SPARE,
                                  .edges = s->of_strip[5] + SPARE};
}

static void run_join(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_volume_kernels *kernels = slc_volume_kernels_of(target);
    uint32_t *labels = s->runs + SPARE;
    s->strip.fresh = 1;
    for (size_t z = 0; z < 2; z++) {
        for (size_t j = 0; j < BUNDLES; j++) {
            const slc_volume_bundle *neighbours[] = {
                j > 0 ? &s->bundles[z][j - 1] : &s->empty, z > 0 ? &s->bundles[0][j] : &s->empty,
                z > 0 && j + 1 < BUNDLES ? &s->bundles[0][j + 1] : &s->empty,
                z > 0 && j > 0 ? &s->bundles[0][j - 1] : &s->empty};
            slc_volume_bundle *bundle = &s->bundles[z][j];
            bundle->labels = labels;
            kernels->look(bundle, WORDS, SLC_VOLUME_ROWS);
            kernels->join(&s->strip, bundle, neighbours);
            labels += bundle->n_runs;
        }
    }
}

static uint64_t digest_join(const void *memory)
{
    const scratch *s = memory;
    const slc_volume_bundle *last = &s->bundles[1][BUNDLES - 1];
    const size_t n = (size_t)(last->labels - (s->runs + SPARE)) + last->n_runs;
    return slc_simd_digest(
        slc_simd_digest(s->strip.fresh, s->parent + 1, (s->strip.fresh - 1) * sizeof *s->parent),
        s->runs + SPARE, n * sizeof *s->runs);
}

static void prepare_number(void *memory, uint64_t seed)
{
    scratch *s = memory;
    prepare(memory, seed);
    run_join(memory, SLC_SIMD_C);
    for (uint32_t i = 1; i < s->strip.fresh; i++) {
        s->parent[i] = s->parent[s->parent[i]];
    }
}

static void run_number(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_volume_kernels *kernels = slc_volume_kernels_of(target);
    uint32_t n = 0;
    memset(s->numbers, 0, sizeof s->numbers);
    for (size_t z = 0; z < 2; z++) {
        for (size_t j = 0; j < BUNDLES; j++) {
            slc_volume_bundle *bundle = &s->bundles[z][j];
            kernels->relabel(s->parent, bundle->labels, bundle->n_runs);
            n = kernels->number(&s->strip, bundle, bundle->rows[1], 2, s->numbers, n);
        }
    }
}

static uint64_t digest_number(const void *memory)
{
    const scratch *s = memory;
    return slc_simd_digest(digest_join(memory), s->numbers, s->strip.fresh * sizeof *s->numbers);
}

static void run_write(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    uint32_t *const out[] = {s->labels[0], s->labels[1], s->labels[2], s->labels[3]};
    const slc_volume_bundle *bundle = &s->bundles[1][1];
    slc_volume_kernels_of(target)->write(bundle, bundle->rows, SLC_VOLUME_ROWS, bundle->labels, WIDTH, out,
                                         false);
}

static uint64_t digest_write(const void *memory)
{
    const scratch *s = memory;
    return slc_simd_digest(0, s->labels, sizeof s->labels);
}

static const slc_simd_case cases[] = {
    {(size_t)2 * BUNDLES * SLC_VOLUME_ROWS * WIDTH, 1.0 / 8, sizeof(scratch), prepare, run_join, digest_join},
    {(size_t)2 * BUNDLES * WIDTH, 1.0 / 8, sizeof(scratch), prepare_number, run_number, digest_number},
    {(size_t)SLC_VOLUME_ROWS * WIDTH, 4 + 1.0 / 8, sizeof(scratch), prepare_number, run_write, digest_write},
};

/* One table serves a volume, so the first row's preference is that of all. */
const slc_simd_kernel slc_volume_kernel_rows[] = {
    {.name = "image.volume_join", .bench = &cases[0]},
    {.name = "image.volume_number", .bench = &cases[1]},
    {.name = "image.volume_write", .bench = &cases[2]},
    {.name = NULL},
};
