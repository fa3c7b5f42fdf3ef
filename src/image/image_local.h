/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: local thresholds. Sums over a window of rows are kept for every column and move down a
 * row at a time; along a row the window's sum moves a column at a time: a few additions for a pixel, whatever
 * the window.
 */
#ifndef SLUICE_IMAGE_LOCAL_H
#define SLUICE_IMAGE_LOCAL_H

#include <sluice/image_mask.h>

/* What one thread has. */
typedef struct slc_image_local {
    const slc_image_mask_config *config;
    const slc_image *image;
    size_t reach;      /* columns on either side, as far as there may be some */
    uint32_t *sums;    /* of each column over the window's rows, with `reach` + 1 zeros in front and behind */
    uint64_t *squares; /* as sums; of Sauvola's threshold alone */
    void *memory;
} slc_image_local;

/* A configuration that was checked. SLC_ERR_UNSUPPORTED for images that have no local threshold. */
slc_status slc_image_local_check(const slc_image_mask_config *config, const slc_image *image,
                                 slc_error *error);
/* Ready for row y, of an image that was checked. SLC_ERR_MEMORY. */
slc_status slc_image_local_open(slc_image_local *local, const slc_image_mask_config *config,
                                const slc_image *image);
void slc_image_local_begin(slc_image_local *local, size_t y);
void slc_image_local_close(slc_image_local *local);

/* The bit row of row y, and on to the next. */
void slc_image_local_row(slc_image_local *local, size_t y, uint64_t *bits);

#endif
