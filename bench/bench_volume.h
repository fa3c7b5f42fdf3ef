/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast volumes are labelled: on every instruction set, random cubes of many densities and granularities
 * (`sluice bench volume`).
 */
#ifndef SLUICE_BENCH_VOLUME_H
#define SLUICE_BENCH_VOLUME_H

#include "bench/bench.h"
#include <sluice/image_volume.h>

/* What to measure: all combinations of the lists. */
typedef struct slc_bench_volume_config {
    const uint32_t *sizes; /* volumes are cubes */
    size_t n_sizes;
    const uint32_t *granularities; /* of cubes that are alike */
    size_t n_granularities;
    const double *densities; /* 0 to 1 */
    size_t n_densities;
    const slc_simd_target *targets;
    size_t n_targets;
    uint32_t connectivity, threads, seed;
    bool equal;           /* components of equal values, of which there are 200 */
    bool features;        /* make all of them, too */
    uint32_t repetitions; /* at most so many calls of each */
    double seconds;       /* fewer, but two at least, if they would take longer than this */
} slc_bench_volume_config;

/* Voxels of 8 bits, labels that were written before, a labeller that is opened for each turn. Every volume is
 * labelled on all targets in turns; of one thread the time is that of the processor. SLC_ERR_MEMORY;
 * SLC_ERR_FORMAT if two found different numbers of components. The configuration is a
 * slc_bench_volume_config. */
slc_bench_function slc_bench_volume;

#endif
