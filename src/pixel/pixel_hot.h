/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: hot pixels of a chip, by how often each was hit. */
#ifndef SLUICE_PIXEL_HOT_H
#define SLUICE_PIXEL_HOT_H

#include <sluice/base.h>

/* As sluice velo --monitor-pixels judges: more than FACTOR times what the pixels up to AROUND to each side
 * have in the mean, hot ones left out, and by chance with a probability below CHANCE. */
#define SLC_PIXEL_HOT_FACTOR 3.0
#define SLC_PIXEL_HOT_CHANCE 1e-10
enum { SLC_PIXEL_HOT_AROUND = 8, SLC_PIXEL_HOT_SIDE = 256, SLC_PIXEL_HOT_ALL = 256 * 256 };

/* `hits` of each pixel, row by row. `hot` begins with 1 where a pixel counts for nothing (it is masked), and
 * has 2 where one is hot; `expected` is, of those, the mean of the others. Pixels outside of the box around
 * all that were hit are not of the sensor. */
slc_status slc_pixel_hot_find(const uint32_t *hits, uint8_t *hot, float *expected);

#endif
