/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of pixels of any type to bit rows: pixel i in bit i % 64 of word i / 64, zeros behind the last pixel.
 */
#ifndef SLUICE_IMAGE_BITS_H
#define SLUICE_IMAGE_BITS_H

#include "image/image_kernels.h"
#include "image/image_level.h"

/* Words of a bit row that a row needs: with the spare vector that kernels may write behind it. */
size_t slc_image_bits_words(size_t width);

/* Makes the bit row of a row; of the background where `inverse`. Writes up to slc_image_bits_words(width)
 * words. */
void slc_image_bits_row(const slc_image_kernels *kernels, const slc_image_level *level, const void *row,
                        size_t width, bool inverse, uint64_t *bits);

/* The way back: to a row of bits of the caller's, which may begin at any byte. */
void slc_image_bits_copy(const uint64_t *bits, size_t width, void *row);

#endif
