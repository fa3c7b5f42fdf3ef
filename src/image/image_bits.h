/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of pixels of any type to bit rows: pixel i in bit i % 64 of word i / 64, zeros behind the last pixel.
 */
#ifndef SLUICE_IMAGE_BITS_H
#define SLUICE_IMAGE_BITS_H

#include "image/image_kernels.h"

#include <sluice/image.h>

/* A threshold in the terms of a type. */
typedef struct slc_image_level {
    slc_image_type type;
    bool none;      /* no pixel can reach it */
    uint32_t level; /* of integers: foreground is >= level */
    float real;     /* of floats: foreground is >= real; NaN never is */
} slc_image_level;

/* threshold is not NaN. */
slc_image_level slc_image_level_of(slc_image_type type, double threshold);

/* Words of a bit row that a row needs: with the spare vector that kernels may write behind it. */
size_t slc_image_bits_words(size_t width);

/* Makes the bit row of a row; of the background where `inverse`. Writes up to slc_image_bits_words(width)
 * words. */
void slc_image_bits_row(const slc_image_kernels *kernels, const slc_image_level *level, const void *row,
                        size_t width, bool inverse, uint64_t *bits);

#endif
