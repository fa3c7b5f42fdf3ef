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
    const char *device;  /* NULL: the processor; one GPU: "cuda", "cuda:N" */
    const size_t *sizes; /* images are square */
    size_t n_sizes;
    const uint32_t *granularities;
    size_t n_granularities;
    const double *densities; /* 0 to 1 */
    size_t n_densities;
    const size_t
        *algorithms; /* as slc_image_algorithm_name counts them, of a GPU slc_image_cuda_algorithm_name */
    size_t n_algorithms;
    const slc_simd_target *targets; /* of algorithms that are written in vectors; others are measured once */
    size_t n_targets;
    uint32_t connectivity, threads, features, seed;
    bool labels;          /* make a label image */
    uint32_t repetitions; /* at most so many calls */
    double seconds;       /* fewer, but one at least, of a GPU two, if they would take longer than this */
    /* Of a GPU alone. */
    bool raw;           /* labels as each algorithm has them before they are numbered; nothing is counted */
    size_t flush_bytes; /* written before each run, so that the image is not in the caches; 0: warm */
    bool bound;         /* measure its memory, too */
    uint32_t streams;   /* measure whole calls instead, 1 to so many at once; 0: kernels */
} slc_bench_label_config;

/* The algorithm's name on the configuration's device. */
const char *slc_bench_label_algorithm(const slc_bench_label_config *config, size_t algorithm);

/* One measurement: of a call on the processor; on a GPU of kernels alone, from the image in the device's
 * memory to the result there, by the device's clock. */
typedef struct slc_bench_label_row {
    size_t size, algorithm;
    slc_simd_target target; /* SLC_SIMD_C if the algorithm is not written in vectors, and of a GPU */
    uint32_t granularity;
    double density;
    uint32_t components, repetitions;
    uint32_t launches;          /* kernels of a run on a GPU */
    double minimum_s, median_s; /* of a run */
    double hertz;               /* of the core at that time; of a GPU 0 */
} slc_bench_label_row;

/* Measures. Each image is labelled by all in turns (three on a processor, one on a GPU), and each is opened
 * afresh for its turn, so that memory is that of one of them however many are compared. `visit` gets each row
 * when it is there and ends the work by returning false. Combinations that an algorithm cannot do are left
 * out.
 *
 * SLC_OK, SLC_END if `visit` ended it; SLC_ERR_USAGE for a configuration that cannot be;
 * SLC_ERR_UNSUPPORTED if there is no such device; SLC_ERR_MEMORY; SLC_ERR_FORMAT if two algorithms
 * found different numbers of components, which *error names. */
slc_status slc_bench_label_measure(const slc_bench_label_config *config,
                                   bool (*visit)(void *context, const slc_bench_label_row *row),
                                   void *context, slc_error *error);

/* All rows of a measurement; the caller frees them. */
typedef struct slc_bench_label_rows {
    slc_bench_label_row *rows;
    size_t n;
} slc_bench_label_rows;
slc_status slc_bench_label_collect(const slc_bench_label_config *config, const slc_bench_watch *watch,
                                   slc_bench_label_rows *rows, slc_error *error);

/* What rows of one size, algorithm, target and granularity come to: sums over the densities, so that an
 * average is total time over total pixels. */
typedef struct slc_bench_label_average {
    size_t size, algorithm;
    slc_simd_target target;
    uint32_t granularity, densities;
    double pixels, seconds, least_seconds; /* seconds of the medians, and of the minima */
    double cycles;                         /* of the minima; of a GPU 0 */
    double worst, worst_density; /* a pixel at the slowest density: cycles, of a GPU seconds of the median */
    double full_seconds;         /* an image at density 1, the median; 0: was not measured */
} slc_bench_label_average;

/* Fills up to `room` averages (n are always enough), in the order in which they occur first; returns how
 * many. */
size_t slc_bench_label_averages(const slc_bench_label_row *rows, size_t n, slc_bench_label_average *averages,
                                size_t room);

/* The cycles of a pixel in table 4.2 of the thesis; 0 where it has no such figure. */
double slc_bench_label_thesis(const slc_bench_label_config *config, const slc_bench_label_average *average);

/* Whole calls from memory of the host to memory of the host (page-locked), by several labellers of a GPU at
 * once. */
typedef struct slc_bench_label_streams_row {
    size_t size, algorithm;
    uint32_t granularity, streams, images; /* images: all that were labelled */
    uint64_t components;                   /* of all of them */
    double seconds;                        /* for all of them, the least of three rounds */
    double bound_seconds;                  /* the copies alone, of the slower direction */
} slc_bench_label_streams_row;

/* 1, 2, 4 … up to `most` streams for each size and granularity, each labelling the images of all densities in
 * turn, with the first algorithm of the list. Statuses as slc_bench_label_measure. */
slc_status slc_bench_label_streams(const slc_bench_label_config *config, uint32_t most,
                                   bool (*visit)(void *context, const slc_bench_label_streams_row *row),
                                   void *context, slc_error *error);

/* ---- what both ways of measuring share (bench_label.c) ----------------------------------------- */

/* SLC_ERR_USAGE for a configuration that cannot be, SLC_ERR_UNSUPPORTED if there is no such device. */
slc_status slc_bench_label_check(const slc_bench_label_config *config, slc_error *error);
/* Can that algorithm make what is asked for? */
bool slc_bench_label_can(const slc_bench_label_config *config, size_t algorithm);
/* The configuration of a labeller. */
slc_image_label_config slc_bench_label_how(const slc_bench_label_config *config, size_t algorithm,
                                           slc_simd_target target);
/* A random image of 8 bits; `pixels` has room for size · size. */
slc_status slc_bench_label_draw(const slc_bench_label_config *config, size_t size, uint32_t granularity,
                                double density, uint8_t *pixels, slc_image *image, slc_error *error);

/* ---- the report (bench_label_report.c) --------------------------------------------------------- */

/* `sluice bench label`; the configuration is a slc_bench_label_config. Pictures: cycles per pixel
 * against density, a curve for each algorithm on the target on which it is the fastest; of a GPU the time of
 * an image against density, and where there are several sizes the throughput against size. */
slc_bench_function slc_bench_label;
/* Tables, rows and figures of what was measured; averages are sorted here. */
slc_status slc_bench_label_tell(const slc_bench_label_config *config, const slc_bench_label_rows *rows,
                                slc_bench_report *report, slc_error *error);

#endif
