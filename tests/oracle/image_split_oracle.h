/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of objects that touch, by what image_split.h tells, word for word, over lists that are searched from
 * end to end.
 */
#ifndef TESTS_ORACLE_IMAGE_SPLIT_ORACLE_H
#define TESTS_ORACLE_IMAGE_SPLIT_ORACLE_H

#include <sluice/image_split.h>

/* The squared distance of a pixel to the nearest that is 0; UINT32_MAX if none is. An image has a depth of 1.
 */
uint32_t image_distance_oracle(const uint8_t *on, size_t width, size_t height, size_t depth, size_t pixel);

/* Labels of the parts of `on`, 0 or 1; returns how many. */
uint32_t image_split_oracle(const slc_image_split_config *config, const uint8_t *on, size_t width,
                            size_t height, size_t depth, uint32_t *labels);

#endif
