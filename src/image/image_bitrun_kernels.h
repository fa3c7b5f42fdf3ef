/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot loops of bitrun, one table of them for each instruction set, and the memory that they work on: one
 * strip of rows. A bit row here has a word of zeros in front of its first word and another behind its last,
 * which the strip's rows share (pitch words from row to row).
 */
#ifndef SLUICE_IMAGE_BITRUN_KERNELS_H
#define SLUICE_IMAGE_BITRUN_KERNELS_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

/* Rows are looked at in pieces of so many words, so that all that is computed of a piece stays in the
 * first-level cache. */
enum { SLC_BITRUN_PIECE = 64 };

/* What is computed of a piece. Arrays of sums are added to, in vectors of eight words. */
typedef struct slc_bitrun_piece {
    uint64_t last[SLC_BITRUN_PIECE], last_pair[SLC_BITRUN_PIECE]; /* last pixels of runs; and those behind */
    uint64_t above[SLC_BITRUN_PIECE],
        above_pair[SLC_BITRUN_PIECE]; /* first pixels of runs above; the next too */
    uint64_t free[SLC_BITRUN_PIECE], free_sum[SLC_BITRUN_PIECE];
    uint64_t gap[SLC_BITRUN_PIECE], gap_sum[SLC_BITRUN_PIECE], gap_must[SLC_BITRUN_PIECE];
    uint64_t group_seed[SLC_BITRUN_PIECE], group_add[SLC_BITRUN_PIECE], group_sum[SLC_BITRUN_PIECE];
    uint64_t used_seed[SLC_BITRUN_PIECE], used_add[SLC_BITRUN_PIECE], used_sum[SLC_BITRUN_PIECE];
    uint64_t is_free[SLC_BITRUN_PIECE + 1], joins[SLC_BITRUN_PIECE + 1]; /* in front, of the piece before */
    uint64_t cur_marks[SLC_BITRUN_PIECE], upper_marks[SLC_BITRUN_PIECE];
} slc_bitrun_piece;

/* A record of a provisional label: sums of x and y, area, and in the last number 65535 - x_min and x_max in
 * its lower 16-bit parts and the last y in the third, so that the larger of each is kept. y counts from the
 * strip's first row. */
enum { SLC_BITRUN_SUM_X = 0, SLC_BITRUN_SUM_Y, SLC_BITRUN_AREA, SLC_BITRUN_BOX, SLC_BITRUN_RECORD };

typedef struct slc_bitrun_strip {
    size_t width, words, pitch;
    uint32_t connectivity;
    /* Runs of the row above and of the row being read: provisional labels, and how many. A spare vector is
     * in front of them and behind. */
    uint32_t *upper, *runs;
    size_t n_upper, n_runs;
    /* Provisional labels: the next one, and each one's parent, which is smaller, or itself. */
    uint32_t fresh, *parent;
    /* Two bits for each run, 32 runs a word. Of this row, the first tells whether the run is not under the
     * same run above as the run before it, the second, whether it touches none. Of the row above (and one run
     * more), the first tells whether the run before is the last one that begins above the end of some run,
     * the second, whether some run joins this run with the one before. */
    uint64_t *cur_bits, *upper_bits;
    /* Bit i: run i has the same label as the run before it. Of the row being read, and of the one above. */
    uint32_t *same, *upper_same;
    uint32_t *used; /* labels of the runs above that are the last one above some run's end */
    slc_bitrun_piece *piece;
    /* Features. First pixels and the first behind of this row's runs; segments of runs with equal labels. */
    uint32_t *edges; /* both in turn */
    uint16_t *edges16;
    uint32_t *first, *behind, *segment_label, *segment_first, *segment_behind, *segment_area, *segment_x,
        *packets;
    uint64_t *record; /* SLC_BITRUN_RECORD numbers for each provisional label */
    uint32_t
        *first_x; /* for each provisional label: the first pixel of the run that made it; NULL: not wanted */
    uint32_t row_fresh; /* fresh before this row */
} slc_bitrun_strip;

typedef struct slc_bitrun_kernels {
    const char *target;
    /* Reads a row: gives its runs labels, and unites those of the row above that it joins. */
    void (*row)(slc_bitrun_strip *strip, const uint64_t *bits, const uint64_t *upper);
    /* First pixels of a row's runs, and the first pixels behind them, n of each, into strip->first and
     * behind. A vector of each is overwritten behind them. */
    void (*positions)(slc_bitrun_strip *strip, const uint64_t *bits, size_t n);
    /* Adds the row that was just read to the records; y counts from the strip's first row; it and the width
     * are below 65536. Zeros the records of labels that are new. */
    void (*add)(slc_bitrun_strip *strip, const uint64_t *bits, uint32_t y);
    /* Adds the records of n labels, rising, to those of their parents, the last one first. */
    void (*join)(slc_bitrun_strip *strip, const uint32_t *children, size_t n);
    /* The labels from `first` to before `end` that are their own parents; returns how many; and, where
     * children is not NULL, the others. A spare vector is behind all. */
    size_t (*roots)(const uint32_t *parent, uint32_t first, uint32_t end, uint32_t *out, uint32_t *children);
    /* Final labels of n runs: labels[i] = table[runs[i]]. Writes a spare vector behind. */
    void (*relabel)(const uint32_t *table, const uint32_t *runs, size_t n, uint32_t *labels);
    /* Writes the labels of a row of pixels: those of its runs, 0 elsewhere. A spare vector is behind `labels`
     * and in front. `far`: past the caches, where
     * the row's address allows it. */
    void (*write)(const uint64_t *bits, const uint32_t *labels, size_t width, uint32_t *out, bool far);
} slc_bitrun_kernels;

#define SLC_BITRUN_DECLARE(target, TARGET) extern const slc_bitrun_kernels slc_bitrun_kernels_##target;
SIMD_FOR_EACH(SLC_BITRUN_DECLARE)
#undef SLC_BITRUN_DECLARE

/* The table of a target that is compiled in. */
const slc_bitrun_kernels *slc_bitrun_kernels_of(slc_simd_target target);
/* The target that a choice means. */
slc_simd_target slc_bitrun_choose(slc_simd_target choice);

extern const slc_simd_kernel slc_bitrun_kernel_rows[];

#endif
