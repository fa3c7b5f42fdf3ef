/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: what an algorithm of labelling on a GPU gets and gives. Types of
 * pixels, copies, filters, further features and 16-bit labels are the business of others, so that every
 * algorithm is short and all are measured under the same conditions.
 *
 * All pointers are to the device's memory. Nothing is waited for and nothing allocated in a launch; what
 * depends on the pixels stays on the device, so that launches can be captured into a graph.
 */
#ifndef SLUICE_IMAGE_CUDA_JOB_H
#define SLUICE_IMAGE_CUDA_JOB_H

#include "image/cuda/image_cuda_algorithms.h"

#include <sluice/image_label.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t points to one */

/* The features that every algorithm of analysis makes, one row for each component, in the order of labels
 * and over all images of the job; y and first_y count from the top of their image. None is NULL where
 * features are wanted. */
typedef struct slc_image_cuda_columns {
    uint64_t *area, *sum_x, *sum_y;
    uint32_t *x_min, *y_min, *x_max, *y_max, *first_x, *first_y;
} slc_image_cuda_columns;

typedef struct slc_image_cuda_job {
    /* Image i, row y begins at (const char *)pixels + i · image_stride + y · stride; no byte outside of a
     * row's width is read. Any alignment, negative strides. */
    const void *pixels;
    ptrdiff_t stride;
    size_t image_stride;
    uint32_t width, height, images; /* (width rounded up to 64) · height · images < 2^32 */
    bool bits;                      /* rows of bits (SLC_IMAGE_BITS), else bytes */
    uint32_t threshold;             /* of bytes: at or above is foreground, 1 to 256; not used for bits */
    bool inverse;                   /* what is below is foreground: pixels are looked at the other way */
    uint32_t connectivity;          /* 4 or 8, of what is labelled */

    uint32_t *labels; /* NULL: none. Every pixel is written, 0 included. Strides are multiples of 4. */
    ptrdiff_t label_stride;
    size_t label_image_stride;
    bool has_features;
    slc_image_cuda_columns columns;

    /* images + 1: how many components there are before each image, and in all. */
    uint32_t *first;
    /* Where first[images] is more than this, neither labels nor columns are written. */
    uint32_t limit;
    /* For measurements alone: labels are not numbered anew but what the paper's algorithm gives (addresses of
     * roots), `first` is not written. An algorithm may ignore it. */
    bool raw;

    void *work; /* at least work_bound bytes, aligned to 256; any content */
    uint32_t multiprocessors;
    struct CUstream_st *stream;
} slc_image_cuda_job;

typedef struct slc_image_cuda_algorithm {
    const char *name;
    bool labels, features, any_pixels; /* what it can: image_cuda_algorithms.h */
    /* Bytes for a job of that shape (pointers are not set). */
    size_t (*work_bound)(const slc_image_cuda_job *job);
    slc_status (*launch)(const slc_image_cuda_job *job, slc_error *error);
} slc_image_cuda_algorithm;

/* The functions after the rows of image_cuda_algorithms.h, one file for each family. */
#define SLC_IMAGE_CUDA_ALGORITHM(name, ...)                                                                  \
    size_t slc_image_cuda_##name##_bound(const slc_image_cuda_job *job);                                     \
    slc_status slc_image_cuda_##name##_launch(const slc_image_cuda_job *job, slc_error *error);
SLC_IMAGE_CUDA_ALGORITHMS(SLC_IMAGE_CUDA_ALGORITHM)

/* ---- numbering, shared by all ------------------------------------------------------------------ */

/* Pixels are numbered for this purpose in units of 64 pixels of a row: unit u = (image · height + y) ·
 * units_x + x / 64 with units_x = (width + 63) / 64, and key = u · 64 + x % 64. So keys are in raster order,
 * image after image, and need no division. roots[u] has bit x % 64 set where the pixel is the first of a
 * component. */
static inline uint32_t slc_image_cuda_units_x(uint32_t width)
{
    return (width + 63) / 64;
}
static inline uint32_t slc_image_cuda_units(const slc_image_cuda_job *job)
{
    return slc_image_cuda_units_x(job->width) * job->height * job->images;
}

/* Bytes for the work of slc_image_cuda_scan. */
size_t slc_image_cuda_scan_bound(uint32_t units);
/* prefix[u] = roots set in the units before u; first[i] for all images and first[images]. `work` need not be
 * cleared. `roots` and `work` are aligned to 16 bytes, `prefix` to 8. */
slc_status slc_image_cuda_scan(const uint64_t *roots, uint32_t *prefix, uint32_t units, uint32_t images,
                               uint32_t *first, void *work, struct CUstream_st *stream, slc_error *error);
/* In kernels (image_cuda_rank.cuh): the row of the component whose first pixel is `key` is
 * prefix[key / 64] + popcount(roots[key / 64] below bit key % 64); its label is that - first[image] + 1. */

#ifdef __cplusplus
}
#endif
#endif
