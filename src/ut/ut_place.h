/* SPDX-License-Identifier: Apache-2.0
 *
 * The UT's words of version 3 where nothing is wrong with them, a bank's side by side: a board has six
 * hybrids, whose numbers lie in registers.
 */
#ifndef SLUICE_UT_PLACE_H
#define SLUICE_UT_PLACE_H

#include "simd/simd_kernel.h"
#include <sluice/ut_types.h>

enum {
    SLC_UT_BUCKETS = 512, /* of a layer, narrow in the middle */
    SLC_UT_MIDDLE = SLC_UT_BUCKETS / 2,
    SLC_UT_LANES = 8,  /* room for a board's hybrids */
    SLC_UT_SPARE = 64, /* lanes of the widest vector */
    SLC_UT_SPARE_BYTES = 4 * SLC_UT_SPARE,
    SLC_UT_LEAST_STRIPS = 4,
    SLC_UT_REACH = 24 /* hits of a bucket, less one, that vectors put in order */
};

/* Numbers of a board's hybrids. */
enum {
    SLC_UT_OF_FIRST = 0,
    SLC_UT_OF_X0,
    SLC_UT_OF_DX,
    SLC_UT_OF_Y0,
    SLC_UT_OF_DY_STRIP,
    SLC_UT_OF_DY,
    SLC_UT_OF_Z0,
    SLC_UT_OF_DZ,
    SLC_UT_OF_WEIGHT,
    SLC_UT_OF_NUMBERS
};
typedef struct slc_ut_board {
    float number[SLC_UT_OF_NUMBERS][SLC_UT_LANES];
    uint32_t channel[SLC_UT_LANES];
    uint32_t layer[SLC_UT_LANES]; /* SLC_UT_LAYERS: nothing is connected */
    uint32_t strips;              /* of a hybrid */
    uint32_t per_strips;          /* (channel · per_strips) >> 22 is channel / strips, if these are enough */
    uint8_t flipped[SLC_UT_LANES];
} slc_ut_board;

/* Hits in the order of words, before they are sorted: columns with a spare vector. `key` is the layer and the
 * bucket of x. */
typedef struct slc_ut_found {
    float *x, *z, *y_begin, *y_end, *weight;
    uint32_t *channel, *key;
} slc_ut_found;

/* n words of a board, little-endian, of 16 bits, and the row of the first hit. SLC_UT_SPARE_BYTES behind them
 * may be read. */
typedef struct slc_ut_words {
    const uint8_t *words;
    uint32_t board, begin, n;
} slc_ut_words;

typedef struct slc_ut_kernels {
    const char *target;
    /* A hit for each word; false if a word is of no strip. Behind `boards` are SLC_UT_SPARE floats. */
    bool (*place)(const slc_ut_board *boards, const slc_ut_words *of_boards, size_t n,
                  const slc_ut_found *found);
    /* Turns how many hits the buckets of a layer have into where they begin, from `at` on; returns how many
     * hits there are, and the most of a bucket in *most. */
    uint32_t (*begin)(uint32_t buckets[SLC_UT_BUCKETS], uint32_t at, uint32_t *most);
    /* Where the n hits of a layer go, from `first` on, by x and channel; they stand by bucket, of which none
     * has more than `reach` + 1 (below SLC_UT_REACH + 1). In front of them and behind them are SLC_UT_REACH
     * numbers that are NaN, and behind these and `to` a spare vector. */
    void (*order)(const float *x, const uint32_t *channel, uint32_t n, uint32_t reach, uint32_t first,
                  uint32_t *to);
} slc_ut_kernels;

/* The table of a target that is compiled in. */
const slc_ut_kernels *slc_ut_kernels_of(slc_simd_target target);
extern const slc_simd_kernel slc_ut_kernel_rows[3]; /* ends with a row whose name is NULL */

/* Buckets follow hits, which are dense about the beam: the bucket is monotonous in x, which is all that the
 * order of hits asks. */
static const float slc_ut_bucket_core_mm = 150, slc_ut_bucket_scale = 284;

#endif
