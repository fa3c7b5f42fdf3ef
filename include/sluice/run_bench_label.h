/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast images are labelled: every algorithm on every instruction set over random images of many densities
 * and granularities, as in figure 4.27 and tables 4.2 to 4.4 of A. Hennequin's thesis (2022).
 */
#ifndef SLUICE_RUN_BENCH_LABEL_H
#define SLUICE_RUN_BENCH_LABEL_H

#include <sluice/image_label.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to measure: all combinations of the lists. */
typedef struct slc_run_label_config {
    const size_t *sizes; /* images are square */
    size_t n_sizes;
    const uint32_t *granularities;
    size_t n_granularities;
    const double *densities; /* 0 to 1 */
    size_t n_densities;
    const size_t *algorithms; /* as slc_image_algorithm_name counts them */
    size_t n_algorithms;
    const slc_simd_target *targets; /* of algorithms that are written in vectors; others are measured once */
    size_t n_targets;
    uint32_t connectivity, threads, features, seed;
    bool labels;          /* make a label image */
    uint32_t repetitions; /* at most so many calls */
    double seconds;       /* fewer, but one at least, where they would take longer than this */
} slc_run_label_config;

/* One measurement. */
typedef struct slc_run_label_row {
    size_t size, algorithm;
    slc_simd_target target; /* SLC_SIMD_C where the algorithm is not written in vectors */
    uint32_t granularity;
    double density;
    uint32_t components, repetitions;
    double minimum_s, median_s; /* of a call */
    double hertz;               /* of the core at that time */
} slc_run_label_row;

/* Measures. Each image is labelled by all, in three rounds, so that what disturbs the machine for a while
 * disturbs all alike; a round begins with a call that is not counted. `visit` gets each row when it is there
 * and ends the work by returning false. Combinations that an algorithm cannot do are left out.
 *
 * SLC_OK, SLC_END where `visit` ended it; SLC_ERR_USAGE for a configuration that cannot be; SLC_ERR_MEMORY;
 * SLC_ERR_FORMAT where two algorithms found different numbers of components, which *error names. */
slc_status slc_run_label_bench(const slc_run_label_config *config,
                               bool (*visit)(void *context, const slc_run_label_row *row), void *context,
                               slc_error *error);

/* The frequency of the core that the thread runs on, now: how many additions, each of which needs the result
 * of the one before, it does in a second. Takes about 20 us. */
double slc_run_hertz(void);

/* What rows of one size, algorithm, target and granularity come to: sums over the densities, so that an
 * average is total time over total pixels. */
typedef struct slc_run_label_average {
    size_t size, algorithm;
    slc_simd_target target;
    uint32_t granularity, densities;
    double pixels, seconds, median_seconds, cycles; /* seconds and cycles of the minima */
    double worst_cycles, worst_density;             /* cycles per pixel */
} slc_run_label_average;

/* Fills up to `room` averages (n are always enough), in the order in which they occur first; returns how
 * many. */
size_t slc_run_label_averages(const slc_run_label_row *rows, size_t n, slc_run_label_average *averages,
                              size_t room);

/* Writes a self-contained SVG: a panel for each size and granularity with cycles per pixel against density,
 * one curve for each algorithm, on the target on which it is the fastest there. SLC_ERR_IO, SLC_ERR_MEMORY.
 */
slc_status slc_run_label_svg(const char *path, const slc_run_label_row *rows, size_t n, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
