/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that do the work: which target each of them takes, and how fast it is.
 */
#ifndef SLUICE_BENCH_KERNELS_H
#define SLUICE_BENCH_KERNELS_H

#include <sluice/simd.h>

/* All kernels of the library by number, from 0; NULL beyond the last. "image.threshold". */
const char *slc_bench_kernel_name(size_t kernel);

/* The target that `choice` (a result of slc_simd_choose) means for a kernel: itself, or for SLC_SIMD_AUTO the
 * first of the kernel's measured preferences that runs here. The kernel must exist. */
slc_simd_target slc_bench_kernel_target(size_t kernel, slc_simd_target choice);

/* A measurement. Times are nanoseconds per call, of the fastest and of the median sample. */
typedef struct slc_bench_timing {
    size_t elements;          /* of one call */
    double bytes_per_element; /* read and written */
    double minimum_ns, median_ns;
    uint32_t calls; /* in one sample: as many as take longer than 20 us */
} slc_bench_timing;

/* Measures a kernel on a target, on its standard input: a warm-up, then `repetitions` samples. SLC_ERR_USAGE
 * for a kernel that does not exist, a target that does not run here (SLC_SIMD_AUTO included), or no
 * repetitions; SLC_ERR_MEMORY. Allocates and frees its input; may run on several threads at once, which then
 * disturb each other. */
slc_status slc_bench_kernel_bench(size_t kernel, slc_simd_target target, uint32_t repetitions,
                                  slc_bench_timing *timing, slc_error *error);

#endif
