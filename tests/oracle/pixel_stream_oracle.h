/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of a stream of pixels the slow way: after every pixel that comes, all pixels that are known are
 * compared with each other again. For disorders below 255 ticks, where the stage tells every tick apart.
 */
#ifndef TESTS_ORACLE_PIXEL_STREAM_ORACLE_H
#define TESTS_ORACLE_PIXEL_STREAM_ORACLE_H

#include "oracle/pixel_shape_oracle.h"

#include <sluice/pixel_stream.h>

typedef struct oracle_stream_pixel {
    int64_t time;
    uint16_t x, y;
    uint32_t charge;
} oracle_stream_pixel;

typedef struct oracle_stream_cluster {
    uint64_t size, mass, sum_x, sum_y, weighted_x, weighted_y, largest;
    int64_t first_time, last_time;
    uint16_t first_x, first_y, x_min, y_min, x_max, y_max;
    oracle_pixel_moments moments;
    size_t after; /* pixels that had come when it was given out; one more than there are: at the end */
} oracle_stream_cluster;

/* Room for n clusters; returns how many there are. `max_open` too is taken at its word: one comparison of all
 * pixels for each pixel, so for short lists. */
size_t oracle_stream_run(const slc_pixel_stream_config *config, const oracle_stream_pixel *pixels, size_t n,
                         oracle_stream_cluster *clusters, slc_pixel_stream_counts *counts);
/* The same for long lists, of any disorder, that never come near max_open: all pixels are compared once.
 * `after` is not told. */
size_t oracle_stream_run_once(const slc_pixel_stream_config *config, const oracle_stream_pixel *pixels,
                              size_t n, oracle_stream_cluster *clusters, slc_pixel_stream_counts *counts);

#endif
