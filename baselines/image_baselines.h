/* SPDX-License-Identifier: Apache-2.0
 * Labelling of dense images, for comparison: functions of rows of slc_image_algorithm. */
#ifndef SLUICE_IMAGE_BASELINES_H
#define SLUICE_IMAGE_BASELINES_H

#include "image/image_algorithms.h"

size_t slc_image_flood_scratch(size_t width, size_t height, uint32_t connectivity);
uint32_t slc_image_flood_label(const slc_image_strip *strip);

size_t slc_image_iterative_scratch(size_t width, size_t height, uint32_t connectivity);
uint32_t slc_image_iterative_label(const slc_image_strip *strip);

#endif
