/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pixels are foreground, where one threshold does not say it: bands, hysteresis, local thresholds, a
 * mask, holes filled.
 * What is made is an image of bits, which is labelled as any other is.
 */
#ifndef SLUICE_IMAGE_MASK_H
#define SLUICE_IMAGE_MASK_H

#include <sluice/image.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a pixel must be. Values are compared as what they are: integers with integers, floats with the nearest
 * floats that mean the same, and a pixel that is not a number is background. */
typedef enum slc_image_rule {
    SLC_IMAGE_RULE_LEAST = 0,  /* low <= value; rows of bits are foreground where they are set */
    SLC_IMAGE_RULE_BAND,       /* low <= value <= high */
    SLC_IMAGE_RULE_HYSTERESIS, /* low <= value, in a component of such pixels of which one is high <= value */
    SLC_IMAGE_RULE_MEAN,       /* mean - offset < value, of the mean of a window around the pixel */
    SLC_IMAGE_RULE_SAUVOLA,    /* mean · (1 + k · (deviation / range - 1)) < value, of the same window */
    SLC_IMAGE_RULES
} slc_image_rule;

typedef struct slc_image_mask_config {
    size_t size; /* of this struct; set by _config_default */
    slc_image_rule rule;
    double low, high;       /* not above high; high is of bands and hysteresis. Infinities are allowed. */
    uint32_t connectivity;  /* 4 or 8: of the foreground in hysteresis; holes have the other */
    uint64_t max_hole_area; /* Holes of up to so many pixels become foreground: components of the background
                               without a pixel in the first or last row or column. 0: none, UINT64_MAX: all */
    /* Of local thresholds, for pixels of 8 and 16 bits: so many columns and rows, an odd number from 1 to
     * 65535; with SAUVOLA to 4869 of 8 bits and 303 of 16. At the border of the image the window is clipped,
     * and mean and standard deviation are those of the pixels that are there. */
    uint32_t window;
    double offset, k, range; /* range 0: half of the type's largest, 127.5 or 32767.5 */
    slc_exec exec;           /* threads (default 1) and instruction set; the device is this processor */
} slc_image_mask_config;

/* Least, low 1, high infinity, 8-connected, no hole filled, one thread; window 15, offset 0, k 0.2, range 0.
 */
SLC_API void slc_image_mask_config_default(slc_image_mask_config *config, size_t size);
#define slc_image_mask_config_default(config) slc_image_mask_config_default(config, sizeof *(config))

/* Makes the foreground of an image as rows of bits (SLC_IMAGE_BITS): row y begins at (char *)mask + y ·
 * stride, has slc_image_row_bytes(SLC_IMAGE_BITS, width) bytes, and zeros behind its last pixel. In this
 * order: the rule; then, of an image `within` of the same width and height (NULL: none), only pixels where
 * that is above 0; then hysteresis; then holes, which may be where `within` is 0. Every number of threads and
 * instruction set makes the same mask: sums of local thresholds are exact integers S (of n values v) and Q
 * (of squares). The mean is compared as S - n v < ceil(offset · n), Sauvola's threshold as n v > S · ((1 - k)
 * + k / (range · n) · sqrt(n Q - S²)), in doubles and in this order.
 *
 * It may not overlap the images. Working memory is a bit row for each thread, and with hysteresis or holes 12
 * bytes for every run of pixels. SLC_ERR_USAGE for what is not as told above, and for rows of bits under
 * another rule than the first; SLC_ERR_UNSUPPORTED for local thresholds of other types or larger windows,
 * and, with hysteresis or holes, for an image that may have more than 2^32 runs; SLC_ERR_MEMORY. After an
 * error the mask is of no use. */
SLC_API slc_status slc_image_mask_make(const slc_image_mask_config *config, const slc_image *image,
                                       const slc_image *within, void *mask, ptrdiff_t stride,
                                       slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
