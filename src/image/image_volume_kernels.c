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
    PITCH = WIDTH / 64 + 1,
    BUNDLES = 16, /* of a layer; two layers, the second behind the first */
    N = PITCH * BUNDLES,
    SPARE = SLC_VOLUME_SPARE,
    AROUND = PITCH + SPARE,
    LABELS = 2 * BUNDLES * WIDTH / 2
};

typedef uint64_t words[N + 2 * AROUND];
typedef struct scratch {
    slc_volume_strip strip;
    slc_volume_layer layers[2];
    words rows[2][SLC_VOLUME_ROWS], of_layer[2][2 + SLC_VOLUME_KEPT + SLC_VOLUME_FACES],
        of_strip[1 + SLC_VOLUME_NEIGHBOURS];
    uint32_t ranks[2][N + 2 * AROUND];
    uint32_t lists[4][64 * PITCH * SLC_VOLUME_NEIGHBOURS + SPARE];
    uint32_t parent[LABELS + SPARE], runs[LABELS + 2 * SPARE];
    uint64_t firsts[LABELS + SPARE];
    uint32_t labels[SLC_VOLUME_ROWS][WIDTH];
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

static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    memset(s, 0, sizeof *s);
    for (size_t z = 0; z < 2; z++) {
        slc_volume_layer *layer = &s->layers[z];
        layer->all = s->of_layer[z][0] + AROUND;
        layer->starts = s->of_layer[z][1] + AROUND;
        layer->ranks = s->ranks[z] + AROUND;
        for (size_t k = 0; k < SLC_VOLUME_KEPT; k++) {
            layer->meets[k] = s->of_layer[z][2 + k] + AROUND;
        }
        for (size_t k = 0; k < SLC_VOLUME_FACES; k++) {
            layer->faces[k] = s->of_layer[z][2 + SLC_VOLUME_KEPT + k] + AROUND;
        }
        for (size_t r = 0; r < SLC_VOLUME_ROWS; r++) {
            layer->rows[r] = s->rows[z][r] + AROUND;
            for (size_t j = 0; j < BUNDLES; j++) {
                fill_row(layer->rows[r] + j * PITCH, &seed);
            }
        }
    }
    s->strip = (slc_volume_strip){.pitch = PITCH,
                                  .bundles = BUNDLES,
                                  .connectivity = 26,
                                  .parent = s->parent,
                                  .edge_run = s->lists[0],
                                  .edge_label = s->lists[1],
                                  .low = s->lists[2],
                                  .high = s->lists[3],
                                  .touch = s->of_strip[0] + AROUND};
    for (size_t k = 0; k < SLC_VOLUME_NEIGHBOURS; k++) {
        s->strip.edges[k][SLC_VOLUME_COLUMN] = s->of_strip[1 + k] + AROUND;
    }
}

static void run_join(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_volume_kernels *kernels = slc_volume_kernels_of(target);
    uint32_t *labels = s->runs + SPARE;
    s->strip.fresh = 1;
    for (size_t z = 0; z < 2; z++) {
        slc_volume_layer *layer = &s->layers[z], *before = z > 0 ? &s->layers[0] : NULL;
        layer->labels = labels;
        kernels->look(layer, N, SLC_VOLUME_ROWS);
        kernels->meet(&s->strip, layer, before);
        kernels->join(&s->strip, layer, before);
        labels += layer->n_runs;
    }
}

static uint64_t digest_join(const void *memory)
{
    const scratch *s = memory;
    const size_t n = s->layers[0].n_runs + s->layers[1].n_runs;
    return slc_simd_digest(
        slc_simd_digest(s->strip.fresh, s->parent + 1, (s->strip.fresh - 1) * sizeof *s->parent),
        s->runs + SPARE, n * sizeof *s->runs);
}

static void prepare_begin(void *memory, uint64_t seed)
{
    scratch *s = memory;
    prepare(memory, seed);
    run_join(memory, SLC_SIMD_C);
    for (uint32_t i = 1; i < s->strip.fresh; i++) {
        s->parent[i] = s->parent[s->parent[i]];
    }
}

static void run_begin(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_volume_kernels *kernels = slc_volume_kernels_of(target);
    memset(s->firsts, 0xff, sizeof s->firsts);
    for (size_t z = 0; z < 2; z++) {
        slc_volume_layer *layer = &s->layers[z];
        kernels->relabel(s->parent, layer->labels, layer->n_runs);
        for (size_t j = 0; j < BUNDLES; j++) {
            kernels->begin(&s->strip, layer, j, 1, s->firsts);
        }
    }
}

static uint64_t digest_begin(const void *memory)
{
    const scratch *s = memory;
    return slc_simd_digest(digest_join(memory), s->firsts, s->strip.fresh * sizeof *s->firsts);
}

static void run_write(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_volume_layer *layer = &s->layers[0];
    uint32_t *const out[] = {s->labels[0], s->labels[1], s->labels[2], s->labels[3]};
    const uint64_t *const rows[] = {layer->rows[0], layer->rows[1], layer->rows[2], layer->rows[3]};
    (void)slc_volume_kernels_of(target)->write(rows, SLC_VOLUME_ROWS, layer->labels, WIDTH, out, false);
}

static uint64_t digest_write(const void *memory)
{
    const scratch *s = memory;
    return slc_simd_digest(0, s->labels, sizeof s->labels);
}

static const slc_simd_case cases[] = {
    {(size_t)2 * BUNDLES * SLC_VOLUME_ROWS * WIDTH, 1.0 / 8, sizeof(scratch), prepare, run_join, digest_join},
    {(size_t)2 * BUNDLES * WIDTH, 1.0 / 8, sizeof(scratch), prepare_begin, run_begin, digest_begin},
    {(size_t)SLC_VOLUME_ROWS * WIDTH, 4 + 1.0 / 8, sizeof(scratch), prepare_begin, run_write, digest_write},
};

/* One table serves a volume, so the first row's preference is that of all. */
const slc_simd_kernel slc_volume_kernel_rows[] = {
    {.name = "image.volume_join", .bench = &cases[0]},
    {.name = "image.volume_begin", .bench = &cases[1]},
    {.name = "image.volume_write", .bench = &cases[2]},
    {.name = NULL},
};
