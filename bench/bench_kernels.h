/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that do the work: which target each of them takes, and how fast it is.
 */
#ifndef SLUICE_BENCH_KERNELS_H
#define SLUICE_BENCH_KERNELS_H

#include "bench/bench.h"
#include <sluice/simd.h>

/* All kernels of the library by number, from 0; NULL beyond the last. "image.threshold". */
const char *slc_bench_kernel_name(size_t kernel);

/* The target that `choice` (a result of slc_simd_choose) means for a kernel: itself, or for SLC_SIMD_AUTO the
 * first of the kernel's measured preferences that runs here. The kernel must exist. */
slc_simd_target slc_bench_kernel_target(size_t kernel, slc_simd_target choice);

typedef struct slc_bench_kernels_config {
    const char *kernel;     /* NULL: all */
    bool every;             /* all targets that run here, else that of `choice` */
    slc_simd_target choice; /* a result of slc_simd_choose */
    uint32_t repetitions;   /* samples, each of so many calls that it takes longer than 20 us */
} slc_bench_kernels_config;

/* A benchmark (slc_bench_function) of a slc_bench_kernels_config, on the kernels' standard inputs. */
slc_status slc_bench_kernels(const void *config, const slc_bench_watch *watch, slc_bench_report *report,
                             slc_error *error);

#endif
