/* SPDX-License-Identifier: Apache-2.0
 *
 * For kernels of labelling by a table of parents: the picture whose pixels they read, the label that belongs
 * to a root, and the sums of features at a root (image_cuda_number.h). The structures are passed to kernels
 * by value.
 *
 * Grids: x goes over the width, y over the rows of an image, z over the images; y and z go on in a loop, as a
 * grid has 65535 blocks at most in them. All threads of a warp are in one row.
 */
#ifndef SLUICE_IMAGE_CUDA_NUMBER_CUH
#define SLUICE_IMAGE_CUDA_NUMBER_CUH

#include "image/cuda/image_cuda_number.h"
#include "image/cuda/image_cuda_rank.cuh"
#include "image/cuda/image_union.cuh"

/* ---- pixels ------------------------------------------------------------------------------------ */

typedef struct slc_image_picture {
    const uint8_t *pixels; /* foreground is not 0 */
    int64_t stride, image_stride;
    uint32_t width, height, images;
    uint32_t pitch; /* keys in a row */
} slc_image_picture;

static inline slc_image_picture slc_image_picture_of(const slc_image_cuda_job *job)
{
    const slc_image_picture p = {static_cast<const uint8_t *>(job->pixels),
                                 static_cast<int64_t>(job->stride),
                                 static_cast<int64_t>(job->image_stride),
                                 job->width,
                                 job->height,
                                 job->images,
                                 slc_image_cuda_units_x(job->width) * 64};
    return p;
}

static __device__ __forceinline__ const uint8_t *slc_image_row(const slc_image_picture &p, uint32_t image,
                                                               uint32_t y)
{
    return p.pixels + static_cast<int64_t>(image) * p.image_stride + static_cast<int64_t>(y) * p.stride;
}
/* Of the row's first pixel. */
static __device__ __forceinline__ uint32_t slc_image_key(const slc_image_picture &p, uint32_t image,
                                                         uint32_t y)
{
    return (image * p.height + y) * p.pitch;
}
/* What is left and right of the row is background. */
static __device__ __forceinline__ bool slc_image_pixel(const slc_image_picture &p, const uint8_t *row,
                                                       uint32_t x)
{
    return x < p.width && row[x] != 0;
}

/* Blocks that cover all images, `wide` by `high` pixels each. */
static inline dim3 slc_image_cover(const slc_image_cuda_job *job, uint32_t wide, uint32_t high)
{
    const uint32_t most = 65535, rows = (job->height - 1) / high + 1;
    return dim3((job->width - 1) / wide + 1, rows < most ? rows : most,
                job->images < most ? job->images : most);
}

/* ---- labels ------------------------------------------------------------------------------------ */

typedef struct slc_image_labels_out {
    char *labels;
    int64_t stride, image_stride;
    const uint64_t *roots;
    const uint32_t *prefix, *first;
    uint32_t images, limit;
    bool raw;
} slc_image_labels_out;

static inline slc_image_labels_out slc_image_labels_out_of(const slc_image_cuda_job *job,
                                                           const slc_image_cuda_numbers *numbers)
{
    const slc_image_labels_out out = {reinterpret_cast<char *>(job->labels),
                                      static_cast<int64_t>(job->label_stride),
                                      static_cast<int64_t>(job->label_image_stride),
                                      numbers->roots,
                                      numbers->prefix,
                                      job->first,
                                      job->images,
                                      job->limit,
                                      job->raw};
    return out;
}

/* May labels be written? Kernels end at once where not. */
static __device__ __forceinline__ bool slc_image_labels_fit(const slc_image_labels_out &out)
{
    return out.raw || out.first[out.images] <= out.limit;
}
static __device__ __forceinline__ uint32_t *slc_image_label_row(const slc_image_labels_out &out,
                                                                uint32_t image, uint32_t y)
{
    return reinterpret_cast<uint32_t *>(out.labels + static_cast<int64_t>(image) * out.image_stride +
                                        static_cast<int64_t>(y) * out.stride);
}
/* The label of the component with that root in that image: its number, or with `raw` its address + 1. */
static __device__ __forceinline__ uint32_t slc_image_label_of(const slc_image_labels_out &out, uint32_t image,
                                                              uint32_t root)
{
    return out.raw ? root + 1 : slc_image_cuda_rank(out.roots, out.prefix, root) - out.first[image] + 1;
}

/* ---- features ---------------------------------------------------------------------------------- */

/* What the pixels x to x + count - 1 of row y add (algorithm 11). */
typedef struct slc_image_part {
    unsigned long long sum_x, sum_y;
    uint32_t area, x_min, x_max, y_max;
} slc_image_part;

static __device__ __forceinline__ slc_image_part slc_image_part_of(uint32_t x, uint32_t y, uint32_t count)
{
    const unsigned long long n = count;
    const slc_image_part part = {(2ULL * x + n - 1) * n / 2, n * y, count, x, x + count - 1, y};
    return part;
}
static __device__ __forceinline__ void slc_image_sums_clear(const slc_image_cuda_sums &sums, uint32_t key)
{
    sums.sum_x[key] = 0;
    sums.sum_y[key] = 0;
    sums.area[key] = 0;
    sums.x_min[key] = UINT32_MAX;
    sums.x_max[key] = 0;
    sums.y_max[key] = 0;
}
/* Six atomic operations. */
static __device__ __forceinline__ void slc_image_sums_add(const slc_image_cuda_sums &sums, uint32_t key,
                                                          const slc_image_part &part)
{
    atomicAdd(&sums.area[key], part.area);
    atomicAdd(&sums.sum_x[key], part.sum_x);
    atomicAdd(&sums.sum_y[key], part.sum_y);
    atomicMin(&sums.x_min[key], part.x_min);
    atomicMax(&sums.x_max[key], part.x_max);
    atomicMax(&sums.y_max[key], part.y_max);
}

#endif
