/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: features that the algorithms of labelling do not make, summed over the label image.
 * image_cuda_extra.cu prepares columns and finishes them, image_cuda_extra_sums.cu adds up.
 */
#ifndef SLUICE_IMAGE_CUDA_EXTRA_CUH
#define SLUICE_IMAGE_CUDA_EXTRA_CUH

#include "cuda/cuda_kernel.cuh"
#include "image/cuda/image_cuda_stages.h"

namespace slc_image_extra
{

/* What is summed over the pixels. */
enum { SECOND = 1, OUTLINES = 2, GREY = 4, KINDS = 8 };

/* Columns that are not asked for are NULL. While grey values are summed, mass, weighted_x and weighted_y hold
 * 64-bit integers, and the extremes doubles. */
struct sums_task {
    const char *labels;
    ptrdiff_t label_stride;
    size_t label_image_stride;
    uint32_t width, height, images;
    bool eight; /* connectivity */
    const char *grey;
    ptrdiff_t grey_stride;
    size_t grey_image_stride;
    slc_image_type grey_type;
    const uint32_t *first;
    uint32_t limit;
    unsigned long long *sum_xx, *sum_xy, *sum_yy, *perimeter, *euler;
    unsigned long long *mass, *moment_x, *moment_y, *low, *high; /* of the extremes the bits of doubles */
    uint32_t tile_height;                                        /* rows that a warp adds up */
};

/* kinds: SECOND | …, not 0. */
void launch_sums(const sums_task &task, uint32_t kinds, uint32_t multiprocessors, cudaStream_t stream);

} // namespace slc_image_extra

#endif
