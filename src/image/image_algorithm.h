/* SPDX-License-Identifier: Apache-2.0
 *
 * What an algorithm of labelling is to the rest of the module: one function on a strip of a binary image.
 * Types of pixels, thresholds, threads, filters and features are the business of image_label.c, so that every
 * algorithm is short and all are measured under the same conditions.
 */
#ifndef SLUICE_IMAGE_ALGORITHM_H
#define SLUICE_IMAGE_ALGORITHM_H

#include <sluice/image_label.h>

/* One strip. A pixel that is not 0 is foreground. Strides are in bytes and may be negative. No byte may be
 * read outside of a row's width, and none be written outside of it in the label image; every label is
 * written, 0 included. The label image is aligned to 4 bytes, and what it holds before is not known. */
typedef struct slc_image_strip {
    const uint8_t *pixels;
    ptrdiff_t stride;
    size_t width, height;
    uint32_t connectivity; /* 4 or 8 */
    uint32_t *labels;
    ptrdiff_t label_stride; /* a multiple of 4 */
    void *scratch;          /* at least scratch_bound bytes, on a multiple of SLC_COLUMN_ALIGN; any content */
    slc_simd_target target; /* one that runs here; of use to algorithms with simd */
} slc_image_strip;

typedef struct slc_image_algorithm {
    const char *name, *text;
    bool simd;
    /* The largest number of pixels (width · height) it can do; 0: no limit. */
    uint64_t max_pixels;
    size_t (*scratch_bound)(size_t width, size_t height, uint32_t connectivity);
    /* Labels consecutive from 1 in raster order of first pixels; returns how many. */
    uint32_t (*label)(const slc_image_strip *strip);
    /* The target that `auto` means for it (slc_simd_kernel_choice); NULL where simd is false. */
    slc_simd_target (*choose)(slc_simd_target choice);
} slc_image_algorithm;

/* The most pixels of an algorithm whose addresses and numbers of pixels are 32 bits wide. */
#define SLC_IMAGE_PIXELS_U32 (UINT32_MAX - UINT64_C(1))

/* All algorithms by number but bitrun, which needs no such strip: those that were added, then the library's.
 * NULL beyond the last. */
const slc_image_algorithm *slc_image_algorithm_row(size_t number);

/* Comparisons from outside of the library (baselines/): rows that end with one without a name, and stay.
 * Once, before a labeller is opened and before there are threads. */
void slc_image_algorithms_add(const slc_image_algorithm *rows);

/* Row y of a strip. */
static inline const uint8_t *slc_image_strip_pixels(const slc_image_strip *strip, size_t y)
{
    return strip->pixels + (ptrdiff_t)y * strip->stride;
}
static inline uint32_t *slc_image_strip_labels(const slc_image_strip *strip, size_t y)
{
    return (uint32_t *)(void *)((char *)strip->labels + (ptrdiff_t)y * strip->label_stride);
}

/* One line on what algorithm number `algorithm` is and where it is from, as slc_image_algorithm_name counts.
 */
const char *slc_image_algorithm_text(size_t algorithm);

#endif
