/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the labelling of volumes: sums of grey values, run by run in raster order. Of integers they are
 * exact in 128 bits, whatever the volume.
 */
#ifndef SLUICE_IMAGE_VOLUME_GREY_H
#define SLUICE_IMAGE_VOLUME_GREY_H

#include <sluice/image_volume.h>

enum { SLC_VOLUME_GREYS = SLC_VOLUME_GREY | SLC_VOLUME_SPREAD };

__extension__ typedef unsigned __int128 slc_volume_wide;

/* Of a component. Of what is integers the wide ones are used, of floats the others. */
typedef struct slc_volume_grey_sums {
    slc_volume_wide whole, whole_x, whole_y, whole_z, squares;
    double mass, x, y, z, low, high;
    double apart; /* squared distances from the mean */
    uint64_t volume;
} slc_volume_grey_sums;

/* Voxels of a row. */
typedef struct slc_volume_grey_run {
    const void *row;
    slc_image_type type;
    size_t first, behind, y, z;
} slc_volume_grey_run;

/* Grey values that can be of this volume: its sides, and a type that is no label's; SLC_ERR_USAGE. */
slc_status slc_volume_grey_check(const slc_volume *volume, const slc_volume *grey, slc_error *error);

void slc_volume_grey_begin(slc_volume_grey_sums *sums, size_t n);
void slc_volume_grey_add(slc_volume_grey_sums *sums, const slc_volume_grey_run *run);
/* All runs were added: mass and moments are numbers of floating point from here on. */
void slc_volume_grey_end(slc_volume_grey_sums *sums, size_t n, slc_image_type type);
/* All runs of floats once more, for SLC_VOLUME_SPREAD; of integers it is there. */
void slc_volume_grey_spread(slc_volume_grey_sums *sums, const slc_volume_grey_run *run);
/* Where runs come once: as slc_volume_grey_add, and of floats the spread with it; and sums of two parts of a
 * component, before their end, in one. */
void slc_volume_grey_add_once(slc_volume_grey_sums *sums, const slc_volume_grey_run *run);
void slc_volume_grey_merge(slc_volume_grey_sums *to, const slc_volume_grey_sums *from);
/* The runs of equal labels in a row, which are numbers of `sums` from 1; `run` is the row. */
typedef void slc_volume_grey_take(slc_volume_grey_sums *sums, const slc_volume_grey_run *run);
void slc_volume_grey_row(const uint32_t *labels, size_t width, slc_volume_grey_run run,
                         slc_volume_grey_take *add, slc_volume_grey_sums *sums);
/* n rows of a collection from number `row` on, of the columns that it has. */
void slc_volume_grey_put(const slc_volume_grey_sums *sums, size_t n, slc_volume_components *to, size_t row);

#endif
