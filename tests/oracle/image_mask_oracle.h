/* SPDX-License-Identifier: Apache-2.0
 *
 * The foreground of an image, a pixel at a time, for comparison: what image_mask.h tells, by comparing
 * doubles and filling floods.
 */
#ifndef TESTS_ORACLE_IMAGE_MASK_ORACLE_H
#define TESTS_ORACLE_IMAGE_MASK_ORACLE_H

#include <sluice/image_mask.h>

/* values[y · width + x] is a pixel, within[…] (may be NULL) what the mask has there; on[…] becomes 0 or 1,
 * and of local thresholds has what image_mask_local_oracle says.
 * `bits`: values are those of rows of bits. */
void image_mask_oracle(const slc_image_mask_config *config, bool bits, const double *values,
                       const double *within, size_t width, size_t height, uint8_t *on);

/* Local thresholds: is pixel (x, y) of an image of 8 or 16 bits foreground? */
bool image_mask_local_oracle(const slc_image_mask_config *config, const slc_image *image, size_t x, size_t y);

/* Pixel (x, y) of an image, as a number. */
double image_pixel(const slc_image *image, size_t x, size_t y);

#endif
