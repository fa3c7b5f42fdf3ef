/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: rows of a batch of images for kernels in which a warp takes 256 pixels of a row, 32
 * neighbours at a time, so that its loads and stores are coalesced whatever the alignment, and eight of them
 * are under way at once.
 */
#ifndef SLUICE_IMAGE_CUDA_ROWS_CUH
#define SLUICE_IMAGE_CUDA_ROWS_CUH

#include "cuda/cuda_kernel.cuh"

#include <stddef.h>

namespace slc_image_rows
{

enum { WARP = 32, STEPS = 8, STRETCH = WARP * STEPS, THREADS = 256, WARPS = THREADS / WARP };

/* Where rows lie: see slc_image_cuda_job. */
struct rows {
    const char *at;
    ptrdiff_t stride;
    size_t image_stride;
};

struct extent {
    uint32_t width, height, images;
};

/* A warp's pixels: those of a row from x on. */
struct stretch {
    uint32_t image, y, x;
    bool here; /* it has pixels; the last block's warps may have none */
};

__host__ __device__ inline uint32_t stretches_x(uint32_t width)
{
    return (width + STRETCH - 1) / STRETCH;
}

/* slc_image_cuda_units_x, for kernels. */
__host__ __device__ inline uint32_t units_of(uint32_t width)
{
    return (width + 63) / 64;
}

inline uint32_t blocks_for(const extent &e)
{
    return (stretches_x(e.width) * e.height * e.images + WARPS - 1) / WARPS;
}

__device__ inline stretch stretch_of_warp(const extent &e)
{
    const uint32_t number = blockIdx.x * (uint32_t)WARPS + threadIdx.x / WARP, each = stretches_x(e.width);
    const uint32_t row = number / each, image = row / e.height;
    return stretch{image, row - image * e.height, (number - row * each) * STRETCH, image < e.images};
}

__device__ inline const char *row_of(const rows &r, uint32_t image, uint32_t y)
{
    return r.at + (size_t)image * r.image_stride + (ptrdiff_t)y * r.stride;
}

} // namespace slc_image_rows

#endif
