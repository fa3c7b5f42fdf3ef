/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast sparse pixels are clustered: every algorithm over random images of small densities, as in
 * table 4.6 and figure 4.33 of A. Hennequin's thesis (2022); beside them an algorithm for dense images, which
 * is given the pixels in an image that was cleared and filled for it.
 */
#ifndef SLUICE_BENCH_CLUSTER_H
#define SLUICE_BENCH_CLUSTER_H

#include "bench/bench.h"
#include <sluice/pixel.h>

/* What to measure: all combinations of the lists. */
typedef struct slc_bench_cluster_config {
    uint16_t width, height;
    uint32_t images; /* of a call */
    const uint32_t *granularities;
    size_t n_granularities;
    const double *densities; /* 0 to 1 */
    size_t n_densities;
    const size_t *algorithms; /* as slc_bench_cluster_algorithm counts them */
    size_t n_algorithms;
    bool sorted, shuffled; /* orders of the lists; either or both */
    bool labels;           /* a label for every pixel, too */
    slc_simd_target target;
    uint32_t connectivity, features, seed, repetitions;
} slc_bench_cluster_config;

/* Names from 0: "auto", those of slc_pixel_algorithm_name, "dense"; NULL after the last. */
const char *slc_bench_cluster_algorithm(size_t algorithm);

/* `sluice bench cluster`; the configuration is a slc_bench_cluster_config. All take turns on the same lists;
 * a turn is two calls, of which the second counts. SLC_ERR_USAGE; SLC_ERR_MEMORY; SLC_ERR_FORMAT where two
 * found different clusters. Pictures: for each granularity and order cycles per pixel against density, a
 * curve for each algorithm. */
slc_bench_function slc_bench_cluster;

/* A file of pixels with times, from bytes to clusters. */
typedef struct slc_bench_cluster_stream_config {
    const char *path;
    const uint32_t *threads; /* numbers of them, 16 at most; times are those of the first */
    size_t n_threads;
    slc_simd_target target;
    uint32_t repetitions;
} slc_bench_cluster_stream_config;
/* `sluice bench cluster --stream`; SLC_ERR_FORMAT where two found different clusters. */
slc_bench_function slc_bench_cluster_stream;

#endif
