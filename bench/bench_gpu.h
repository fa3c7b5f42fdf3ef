/* SPDX-License-Identifier: Apache-2.0
 *
 * What a GPU itself can do, measured on the spot: the speed of its memory and copies, what strides and
 * conflicts of banks cost (section 3.5 and figure 3.3 of A. Hennequin's thesis, 2022), how many atomic
 * additions it makes in a second; and r-infinity and n-half of labelling (figure 4.21, after R. W. Hockney
 * and C. R. Jesshope, Parallel Computers, 1981).
 */
#ifndef SLUICE_BENCH_GPU_H
#define SLUICE_BENCH_GPU_H

#include "bench/bench_label.h"
#include <sluice/cuda.h>

/* ---- memory and copies ------------------------------------------------------------------------- */

/* Bytes in a second, medians; a copy's bytes are counted once read and once written. */
typedef struct slc_bench_gpu_speed {
    char name[256];
    uint32_t multiprocessors;
    size_t memory_bytes;
    double data_sheet; /* theoretical; 0: not known */
    double read, write, copy;
    double widen;              /* pixels in a second of a kernel that reads a byte of each and writes four */
    double to_device, to_host; /* page-locked memory */
} slc_bench_gpu_speed;

/* SLC_ERR_UNSUPPORTED if there is no such device, SLC_ERR_MEMORY. */
slc_status slc_bench_gpu_speed_of(const char *device, uint32_t repetitions, slc_bench_gpu_speed *speed,
                                  slc_error *error);

/* What a label image, and features, of so many pixels must take at least: reading a byte of each pixel, and
 * writing four for a label image. */
double slc_bench_gpu_label_bound(const slc_bench_gpu_speed *speed, double pixels, bool labels);

/* ---- strides and atomics ----------------------------------------------------------------------- */

typedef enum slc_bench_gpu_test {
    SLC_BENCH_GPU_STRIDE_GLOBAL = 0, /* elements of global memory read and written, so many apart */
    SLC_BENCH_GPU_STRIDE_COPIED,     /* copied to shared memory in order, taken from there so many apart */
    SLC_BENCH_GPU_STRIDE_SHARED,     /* shared memory alone */
    SLC_BENCH_GPU_ATOMICS,           /* additions */
    SLC_BENCH_GPU_TESTS
} slc_bench_gpu_test;

/* "stride-global", "stride-copied", "stride-shared", "atomics". */
const char *slc_bench_gpu_test_name(slc_bench_gpu_test test);

typedef struct slc_bench_gpu_row {
    slc_bench_gpu_test test;
    uint32_t element_bytes;
    uint32_t stride;   /* of elements; of an atomic row 0 is one word for all, 1 words side by side */
    uint32_t words;    /* of an atomic row: that share the additions */
    double operations; /* elements taken, or additions */
    double bytes;      /* that are wanted; 0 for atomics */
    double median_s, minimum_s;
} slc_bench_gpu_row;

/* Measures; `visit` gets each row and ends the work by returning false (SLC_END). `tests`: bit 1 << test. */
slc_status slc_bench_gpu_measure(const char *device, uint32_t tests, uint32_t repetitions,
                                 bool (*visit)(void *context, const slc_bench_gpu_row *row), void *context,
                                 slc_error *error);

/* ---- r-infinity and n-half --------------------------------------------------------------------- */

/* The line t(n) = (n + n_half) / r_infinity through the mean time t of an image of n pixels, by least squares
 * of the relative deviations (each is divided by its t, so that small images count as much as large ones). */
typedef struct slc_bench_gpu_hockney {
    size_t algorithm;
    uint32_t granularity;
    size_t sizes;      /* how many went in */
    double r_infinity; /* pixels in a second */
    double n_half;     /* pixels */
    double deviation;  /* of a measured time from the line, the largest, of the measured */
} slc_bench_gpu_hockney;

/* One for each algorithm and granularity that was measured at two sizes or more; returns how many, up to
 * `room`. A line that does not rise has r_infinity and n_half 0. */
size_t slc_bench_gpu_hockney_of(const slc_bench_label_row *rows, size_t n, slc_bench_gpu_hockney *results,
                                size_t room);

/* ---- the report (bench_gpu_report.c) ----------------------------------------------------------- */

/* Parts of `sluice bench gpu`. */
enum {
    SLC_BENCH_GPU_MEMORY = 1,
    SLC_BENCH_GPU_STRIDES = 2,
    SLC_BENCH_GPU_ATOMIC = 4,
    SLC_BENCH_GPU_LABELS = 8
};

typedef struct slc_bench_gpu_config {
    slc_bench_label_config label; /* the device, the repetitions, and what labelling is measured on */
    uint32_t parts;
} slc_bench_gpu_config;

/* `sluice bench gpu`; the configuration is a slc_bench_gpu_config. Pictures: bandwidth against stride as in
 * figure 3.3, n-half against r-infinity as in figure 4.21. */
slc_bench_function slc_bench_gpu;

/* What was measured: rows of tests, and results of labelling. */
typedef struct slc_bench_gpu_found {
    const slc_bench_gpu_speed *speed; /* NULL: was not measured */
    slc_bench_gpu_row *rows;
    slc_bench_label_rows label;
    slc_bench_gpu_hockney *hockney;
    size_t n, n_hockney;
} slc_bench_gpu_found;
/* Tables, rows and figures of it. */
void slc_bench_gpu_tell(const slc_bench_gpu_config *config, const slc_cuda_device *device,
                        const slc_bench_gpu_found *found, slc_bench_report *report);

/* "labels", "labels and features", "features without label images". */
const char *slc_bench_gpu_made(const slc_bench_label_config *config);
struct json_t *slc_bench_gpu_speed_json(const slc_bench_gpu_speed *speed);

#endif
