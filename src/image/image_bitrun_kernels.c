/* SPDX-License-Identifier: Apache-2.0
 * Which of bitrun's tables serves a target, what `auto` prefers, and the kernels' standard inputs.
 */
#include "image/image_bitrun_kernels.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_bitrun_kernels_##target,
static const slc_bitrun_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_bitrun_kernels *slc_bitrun_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

slc_simd_target slc_bitrun_choose(slc_simd_target choice)
{
    return slc_simd_kernel_choice(&slc_bitrun_kernel_rows[0], choice);
}

/* ---- standard inputs --------------------------------------------------------------------------- */

enum {
    WIDTH = 2048,
    WORDS = WIDTH / 64,
    RUNS = WIDTH / 2,
    SPARE = 128,
    ROWS = 16, /* of the image, over and over */
    LABELS = ROWS * RUNS
};

typedef struct scratch {
    slc_bitrun_strip strip;
    slc_bitrun_piece piece;
    uint64_t bits[ROWS + 1][WORDS + 1]; /* row 0 is empty, a word of zeros is in front of each */
    uint64_t behind;
    uint64_t cur_bits[RUNS / 32 + SPARE], upper_bits[RUNS / 32 + SPARE];
    uint32_t same[2][RUNS / 32 + SPARE], used[RUNS + 2 * SPARE], runs[2][RUNS + 2 * SPARE];
    uint16_t edges16[2 * RUNS + SPARE];
    uint32_t edges[2 * RUNS + SPARE], first[RUNS + SPARE], behind_run[RUNS + SPARE];
    uint32_t segment[5][RUNS + 2 * SPARE], packets[4 * RUNS + SPARE];
    uint32_t parent[LABELS + SPARE], first_x[LABELS + SPARE];
    uint64_t record[SLC_BITRUN_RECORD * (LABELS + SPARE)];
    uint32_t labels[WIDTH + SPARE];
} scratch;

/* Runs of 1 to 15 pixels, foreground and background in turn. */
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
    for (size_t y = 1; y <= ROWS; y++) {
        fill_row(s->bits[y] + 1, &seed);
    }
    s->strip = (slc_bitrun_strip){.width = WIDTH,
                                  .words = WORDS,
                                  .pitch = WORDS + 1,
                                  .connectivity = 8,
                                  .parent = s->parent,
                                  .cur_bits = s->cur_bits,
                                  .upper_bits = s->upper_bits,
                                  .used = s->used + SPARE,
                                  .piece = &s->piece,
                                  .edges = s->edges,
                                  .edges16 = s->edges16,
                                  .first = s->first,
                                  .behind = s->behind_run,
                                  .segment_label = s->segment[0] + SPARE,
                                  .segment_first = s->segment[1] + SPARE,
                                  .segment_behind = s->segment[2] + SPARE,
                                  .segment_area = s->segment[3] + SPARE,
                                  .segment_x = s->segment[4] + SPARE,
                                  .packets = s->packets,
                                  .record = s->record,
                                  .first_x = s->first_x};
}

static void run_rows(scratch *s, const slc_bitrun_kernels *kernels, bool features)
{
    slc_bitrun_strip *strip = &s->strip;
    strip->fresh = strip->row_fresh = 1;
    strip->n_runs = 0;
    strip->runs = s->runs[0] + SPARE;
    strip->upper_same = s->same[0];
    strip->same = s->same[1];
    for (size_t y = 1; y <= ROWS; y++) {
        uint32_t *same = strip->same;
        strip->upper = strip->runs;
        strip->n_upper = strip->n_runs;
        strip->runs = s->runs[y % 2] + SPARE;
        strip->same = strip->upper_same;
        strip->upper_same = same;
        kernels->row(strip, s->bits[y] + 1, s->bits[y - 1] + 1);
        if (features) {
            kernels->add(strip, s->bits[y] + 1, (uint32_t)y);
        }
    }
}

static void run_row(void *memory, slc_simd_target target)
{
    run_rows(memory, slc_bitrun_kernels_of(target), false);
}

static void run_add(void *memory, slc_simd_target target)
{
    run_rows(memory, slc_bitrun_kernels_of(target), true);
}

static void run_write(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    for (uint32_t i = 0; i < RUNS; i++) {
        s->runs[0][SPARE + i] = i + 1;
    }
    slc_bitrun_kernels_of(target)->write(s->bits[1] + 1, s->runs[0] + SPARE, WIDTH, s->labels, false);
}

static uint64_t digest_row(const void *memory)
{
    const scratch *s = memory;
    const uint64_t sum = slc_simd_digest(s->strip.fresh, s->parent + 1,
                                         (s->strip.fresh - 1) * sizeof *s->parent);
    return slc_simd_digest(sum, s->strip.runs, s->strip.n_runs * sizeof *s->strip.runs);
}

static uint64_t digest_add(const void *memory)
{
    const scratch *s = memory;
    const size_t n = s->strip.fresh - 1;
    const uint64_t sum = slc_simd_digest(digest_row(memory), s->record + SLC_BITRUN_RECORD,
                                         n * SLC_BITRUN_RECORD * sizeof *s->record);
    return slc_simd_digest(sum, s->first_x + 1, n * sizeof *s->first_x);
}

static uint64_t digest_write(const void *memory)
{
    const scratch *s = memory;
    return slc_simd_digest(0, s->labels, WIDTH * sizeof *s->labels);
}

static const slc_simd_case cases[] = {
    {(size_t)ROWS * WIDTH, 1.0 / 8, sizeof(scratch), prepare, run_row, digest_row},
    {(size_t)ROWS * WIDTH, 1.0 / 8, sizeof(scratch), prepare, run_add, digest_add},
    {WIDTH, 4 + 1.0 / 8, sizeof(scratch), prepare, run_write, digest_write},
};

/* One table serves an image, so the first row's preference is that of all. */
const slc_simd_kernel slc_bitrun_kernel_rows[] = {
    {.name = "image.bitrun_row", .bench = &cases[0]},
    {.name = "image.bitrun_add", .bench = &cases[1]},
    {.name = "image.bitrun_write", .bench = &cases[2]},
    {.name = NULL},
};
