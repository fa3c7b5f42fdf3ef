/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done with a list of pixels before it is clustered.
 */
#ifndef SLUICE_PIXEL_LIST_H
#define SLUICE_PIXEL_LIST_H

#include <sluice/pixel.h>

/* Puts x, y, time and, where there is one, charge in the order of time; equal times keep their order.
 * *origin, from malloc: the place that each had; NULL if they were in order. SLC_ERR_MEMORY: nothing is
 * changed. */
slc_status slc_pixels_sort_by_time(slc_pixels *pixels, uint32_t **origin);

/* Takes out the pixels outside of width and height, and returns how many. origin[i]: the place that pixel i
 * had. */
size_t slc_pixels_leave_out(slc_pixels *list, uint32_t width, uint32_t height, uint32_t *origin);

/* Grows width and height until all pixels are inside. */
void slc_pixels_box(const slc_pixels *list, uint32_t *width, uint32_t *height);

/* Events first … first + n - 1 are all that is left of a list that has no rows after its last event. */
void slc_pixels_keep_events(const slc_schema *schema, slc_pixels *pixels, uint32_t first, uint32_t n);

#endif
