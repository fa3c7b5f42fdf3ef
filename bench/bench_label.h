/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast images are labelled: every algorithm on every instruction set, or on a GPU, over random images of
 * many densities and granularities, as in figures 4.14, 4.20 and 4.27 and tables 4.1 to 4.4 of A. Hennequin's
 * thesis (2022).
 */
#ifndef SLUICE_BENCH_LABEL_H
#define SLUICE_BENCH_LABEL_H

#include "bench/bench.h"
#include <sluice/image_label.h>

/* What to measure: all combinations of the lists. */
typedef struct slc_bench_label_config {
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
} slc_bench_label_config;

/* One measurement. */
typedef struct slc_bench_label_row {
    size_t size, algorithm;
    slc_simd_target target; /* SLC_SIMD_C where the algorithm is not written in vectors */
    uint32_t granularity;
    double density;
    uint32_t components, repetitions;
    double minimum_s, median_s; /* of a call */
    double hertz;               /* of the core at that time */
} slc_bench_label_row;

/* Measures. Each image is labelled by all, in three rounds, so that what disturbs the machine for a while
 * disturbs all alike; a round begins with a call that is not counted. `visit` gets each row when it is there
 * and ends the work by returning false. Combinations that an algorithm cannot do are left out.
 *
 * SLC_OK, SLC_END where `visit` ended it; SLC_ERR_USAGE for a configuration that cannot be; SLC_ERR_MEMORY;
 * SLC_ERR_FORMAT where two algorithms found different numbers of components, which *error names. */
slc_status slc_bench_label_bench(const slc_bench_label_config *config,
                                 bool (*visit)(void *context, const slc_bench_label_row *row), void *context,
                                 slc_error *error);

/* What rows of one size, algorithm, target and granularity come to: sums over the densities, so that an
 * average is total time over total pixels. */
typedef struct slc_bench_label_average {
    size_t size, algorithm;
    slc_simd_target target;
    uint32_t granularity, densities;
    double pixels, seconds, median_seconds, cycles; /* seconds and cycles of the minima */
    double worst_cycles, worst_density;             /* cycles per pixel */
} slc_bench_label_average;

/* Fills up to `room` averages (n are always enough), in the order in which they occur first; returns how
 * many. */
size_t slc_bench_label_averages(const slc_bench_label_row *rows, size_t n, slc_bench_label_average *averages,
                                size_t room);

/* Writes a self-contained SVG: a panel for each size and granularity with cycles per pixel against density,
 * one curve for each algorithm, on the target on which it is the fastest there. SLC_ERR_IO, SLC_ERR_MEMORY.
 */
slc_status slc_bench_label_svg(const char *path, const slc_bench_label_row *rows, size_t n, slc_error *error);

/* ---- on a GPU ---------------------------------------------------------------------------------- */

/* What to measure: all combinations of the lists. */
typedef struct slc_bench_label_cuda_config {
    const char *device; /* one GPU: "cuda", "cuda:N" */
    const size_t *sizes;
    size_t n_sizes;
    const uint32_t *granularities;
    size_t n_granularities;
    const double *densities; /* 0 to 1 */
    size_t n_densities;
    const size_t *algorithms; /* as slc_image_cuda_algorithm_name counts them */
    size_t n_algorithms;
    uint32_t connectivity, features, seed;
    bool labels;          /* make a label image */
    bool raw;             /* labels as each algorithm has them before they are numbered; nothing is counted */
    uint32_t repetitions; /* at most so many runs */
    double seconds;       /* fewer, but two at least, where they would take longer than this */
    size_t flush_bytes;   /* written before each run, so that the image is not in the caches; 0: warm */
} slc_bench_label_cuda_config;

/* One measurement: kernels alone, from the image in the device's memory to the result there, by the device's
 * clock. */
typedef struct slc_bench_label_cuda_row {
    size_t size, algorithm;
    uint32_t granularity;
    double density;
    uint32_t components, repetitions;
    uint32_t launches;          /* kernels of a run */
    double minimum_s, median_s; /* of a run */
} slc_bench_label_cuda_row;

/* Measures, one image after the other, each with all algorithms; `visit` as above. An algorithm that cannot
 * make what is asked for is left out. SLC_OK, SLC_END; SLC_ERR_USAGE for a configuration that cannot be;
 * SLC_ERR_UNSUPPORTED where there is no such device; SLC_ERR_MEMORY; SLC_ERR_FORMAT where two algorithms
 * found different numbers of components, which *error names. */
slc_status slc_bench_label_cuda_bench(const slc_bench_label_cuda_config *config,
                                      bool (*visit)(void *context, const slc_bench_label_cuda_row *row),
                                      void *context, slc_error *error);

/* What the rows of one size, algorithm and granularity come to: sums over the densities, so that an average
 * is total pixels over total time. */
typedef struct slc_bench_label_cuda_average {
    size_t size, algorithm;
    uint32_t granularity, densities;
    double pixels, seconds, least_seconds; /* seconds of the medians, and of the minima */
    double worst_seconds, worst_density;   /* a pixel at the slowest density, by the medians */
    double full_seconds;                   /* an image at density 1; 0: was not measured */
} slc_bench_label_cuda_average;

/* As slc_bench_label_averages. */
size_t slc_bench_label_cuda_averages(const slc_bench_label_cuda_row *rows, size_t n,
                                     slc_bench_label_cuda_average *averages, size_t room);

/* Writes a self-contained SVG after figures 4.14 and 4.20 of the thesis: for each size and granularity the
 * time of an image against density, and, where there are several sizes, for each granularity the throughput
 * against size; one curve for each algorithm. SLC_ERR_IO, SLC_ERR_MEMORY. */
slc_status slc_bench_label_cuda_svg(const char *path, const slc_bench_label_cuda_row *rows, size_t n,
                                    slc_error *error);

/* Whole calls from memory of the host to memory of the host (page-locked), by several labellers at once. */
typedef struct slc_bench_label_cuda_streams_row {
    size_t size, algorithm;
    uint32_t granularity, streams, images; /* images: all that were labelled */
    uint64_t components;                   /* of all of them */
    double seconds;                        /* for all of them, the least of three rounds */
    double bound_seconds;                  /* the copies alone, of the slower direction */
} slc_bench_label_cuda_streams_row;

/* 1, 2, 4 … up to `most` streams for each size and granularity, each labelling the images of all densities in
 * turn, with the first algorithm of the list. Statuses as slc_bench_label_cuda_bench. */
slc_status slc_bench_label_cuda_streams(const slc_bench_label_cuda_config *config, uint32_t most,
                                        bool (*visit)(void *context,
                                                      const slc_bench_label_cuda_streams_row *row),
                                        void *context, slc_error *error);

#endif
