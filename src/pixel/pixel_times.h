/* SPDX-License-Identifier: Apache-2.0
 *
 * A list of pixels in the order of time, as a stream needs it.
 */
#ifndef SLUICE_PIXEL_TIMES_H
#define SLUICE_PIXEL_TIMES_H

#include <sluice/pixel.h>

/* Puts x, y, time and, where there is one, charge in the order of time; equal times keep their order.
 * *origin, from malloc: the place that each had; NULL if they were in order. SLC_ERR_MEMORY: nothing is
 * changed. */
slc_status slc_pixels_sort_by_time(slc_pixels *pixels, uint32_t **origin);

#endif
