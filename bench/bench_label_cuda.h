/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the two ways of measuring labelling on a GPU share, kernels alone and whole calls.
 */
#ifndef SLUICE_BENCH_LABEL_CUDA_H
#define SLUICE_BENCH_LABEL_CUDA_H

#include "bench/bench_label.h"

/* SLC_ERR_USAGE for a configuration that cannot be, SLC_ERR_UNSUPPORTED where there is no such device. */
slc_status slc_bench_label_cuda_check(const slc_bench_label_cuda_config *config, slc_error *error);
/* Can that algorithm make what is asked for? */
bool slc_bench_label_cuda_can(const slc_bench_label_cuda_config *config, size_t algorithm);
/* The configuration of a labeller. */
slc_image_label_config slc_bench_label_cuda_how(const slc_bench_label_cuda_config *config, size_t algorithm);
/* A random image of 8 bits; `pixels` has room for size · size. */
slc_status slc_bench_label_cuda_draw(const slc_bench_label_cuda_config *config, size_t size,
                                     uint32_t granularity, double density, uint8_t *pixels, slc_image *image,
                                     slc_error *error);

#endif
