/* SPDX-License-Identifier: Apache-2.0
 * Clustering of sparse pixels, for comparison. */
#ifndef SLUICE_PIXEL_BASELINES_H
#define SLUICE_PIXEL_BASELINES_H

#include "pixel/pixel_algorithm.h"

extern const slc_pixel_algorithm slc_pixel_flood_map, slc_pixel_flood_rows, slc_pixel_union_find;

#endif
