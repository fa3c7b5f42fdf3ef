/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast volumes are labelled: on every instruction set, random cells of many densities and granularities
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
    const uint32_t *granularities; /* of cells */
    size_t n_granularities;
    const double *densities; /* 0 to 1 */
    size_t n_densities;
    const slc_simd_target *targets;
    size_t n_targets;
    const uint32_t *threads; /* numbers of them, from the fewest */
    size_t n_threads;
    uint32_t connectivity, seed;
    slc_image_type type;  /* of voxels: u8 or u32 */
    bool voronoi;         /* cells are no cubes: bench_volume_cells.h */
    bool equal;           /* components of equal values */
    bool features;        /* make all of them, too */
    bool baseline;        /* two passes over voxels beside it, bench_volume_tree.h; of 26 neighbours */
    uint32_t repetitions; /* at most so many calls of each */
    double seconds;       /* fewer, but two at least, if they would take longer than this */
} slc_bench_volume_config;

/* Labels that were written before, a labeller that is opened for each turn. Every volume is labelled on all
 * targets, and by all numbers of threads, in turns; of one thread alone the time is that of the processor.
 * SLC_ERR_MEMORY; SLC_ERR_FORMAT if two made different labels. The configuration is a
 * slc_bench_volume_config. */
slc_bench_function slc_bench_volume;

#endif
