/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot loops of sparse pixels, one table of them per instruction set: clustering with a bit for each place
 * of the image, which is small enough for the first cache. What the bits are for is told in
 * pixel_bitmap.simd.c.
 */
#ifndef SLUICE_PIXEL_KERNELS_H
#define SLUICE_PIXEL_KERNELS_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

/* One image's working memory. Rows of bits are `stride` bits apart, a multiple of 64 with at least one bit
 * behind the last column that is never set; two rows in front of the first one are never set either. Tables
 * of pixels and runs have room for the pixels and 64 more. */
typedef struct slc_pixel_bits {
    uint32_t stride;
    bool eight;        /* 8-connected, otherwise 4 */
    uint32_t *bits;    /* zeros between calls, but for a last word of 64 ones behind `words` */
    uint32_t *base;    /* of words with bits: how many runs begin in front of the word; pixels where sorted */
    uint64_t *summary; /* a bit for each word; zeros between calls */
    size_t words;      /* of 64 bits */
    uint32_t *key;     /* of pixels: y << 16 | x; an element in front is 0 */
    uint64_t *starts;  /* a word for each vector of pixels: where runs begin */
    uint32_t *before;  /* of vectors: how many runs begin in front of it */
    uint32_t *run_key, *run_at, *run_first; /* of runs: key, place of the first bit, number of its pixel */
    uint32_t *length;                       /* of runs */
    uint32_t *word, *mask, *window, *wide;  /* of runs: word of 32 bits and bits, byte and places above */
    uint32_t *parent, *label;               /* of runs */
    uint32_t *linked;                       /* runs that touch bits above; those are in `mask` then */
    uint32_t *cluster_key, *cluster_length; /* of clusters: their first run */
    uint32_t *rank, *used; /* lists in any order: places of pixels in raster order; words that have any */
    uint32_t *image_run, *image_cluster; /* of the group's images and one behind: the first run, cluster */
} slc_pixel_bits;

/* Images that are clustered in one go, at most so many: what a loop costs to begin with is shared by those
 * that have few pixels. */
enum { SLC_PIXEL_GROUP = 64 };
typedef struct slc_pixel_group {
    const uint16_t *x, *y;  /* of the first image's first pixel */
    const uint32_t *offset; /* images + 1 of them: image k has pixels offset[k] - offset[0] … */
    uint32_t images;
    bool sorted; /* set by `cluster`: every image came in raster order */
} slc_pixel_group;

/* Columns that features go to, from the image's first row on; all are there, for `room` clusters. Centroids
 * are sums until `divide` has been called. */
typedef struct slc_pixel_shape {
    size_t room;
    uint32_t *size;
    uint16_t *x_min, *y_min, *x_max, *y_max;
    double *centroid_x, *centroid_y;
} slc_pixel_shape;

typedef struct slc_pixel_kernels {
    const char *target;

    /* The largest coordinates of n >= 1 pixels; returns whether the list never falls in raster order. */
    bool (*check)(const uint16_t *x, const uint16_t *y, size_t n, uint16_t *x_max, uint16_t *y_max);
    /* Clusters a group of one pixel at least: how many clusters there are, UINT32_MAX where an image has a
     * place twice, or one of several is not in raster order; which begin an image goes to
     * bits->image_cluster. `shape` (NULL: none) is filled where it has room for all. Bits are zeros again. */
    uint32_t (*cluster)(const slc_pixel_bits *bits, slc_pixel_group *group, const slc_pixel_shape *shape);
    /* Labels of all pixels behind `cluster`. */
    void (*labels)(const slc_pixel_bits *bits, const slc_pixel_group *group, uint32_t *labels);
} slc_pixel_kernels;

#define SLC_PIXEL_DECLARE(target, TARGET) extern const slc_pixel_kernels slc_pixel_kernels_##target;
SIMD_FOR_EACH(SLC_PIXEL_DECLARE)
#undef SLC_PIXEL_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_pixel_kernels *slc_pixel_kernels_of(slc_simd_target target);

/* The standard input of the stream. */
extern const slc_simd_case slc_pixel_stream_case;

enum { SLC_PIXEL_KERNEL_CLUSTER, SLC_PIXEL_KERNEL_STREAM }; /* rows */
extern const slc_simd_kernel slc_pixel_kernel_rows[];

#endif
