/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the labelling of volumes: what the features of a component are computed from.
 */
#ifndef SLUICE_IMAGE_VOLUME_SUMS_H
#define SLUICE_IMAGE_VOLUME_SUMS_H

#include <sluice/image_volume.h>

/* Of nothing: volume 0. The order is that of image_volume_add.h. */
typedef struct slc_volume_sums {
    uint64_t volume, x, y, z, xx, xy, xz, yy, yz, zz;
    uint32_t x_min, y_min, x_max, y_max, z_max; /* z_min is that of the first voxel */
    uint32_t first_x, first_y, first_z;
    uint64_t spare[2]; /* to two lines of the cache; a label, of image_volume_features.c */
} slc_volume_sums;

/* Of nothing yet, with a first voxel. */
static inline void slc_volume_sums_begin(slc_volume_sums *sums, uint32_t x, uint32_t y, uint32_t z)
{
    /* Value by value: compilers fill so large a struct with a string instruction, which takes longer to
     * begin. */
    sums->volume = sums->x = sums->y = sums->z = 0;
    sums->xx = sums->xy = sums->xz = sums->yy = sums->yz = sums->zz = 0;
    sums->x_min = sums->first_x = x;
    sums->y_min = sums->first_y = y;
    sums->first_z = z;
    sums->x_max = sums->y_max = sums->z_max = 0;
}

/* The voxels from first to before `behind` of a row; rows come in raster order. */
void slc_volume_sums_add(slc_volume_sums *sums, uint64_t first, uint64_t behind, uint64_t y, uint64_t z);
/* Neither is of nothing. */
void slc_volume_sums_merge(slc_volume_sums *to, const slc_volume_sums *from);
/* Is the first voxel of a before that of b? */
bool slc_volume_sums_before(const slc_volume_sums *a, const slc_volume_sums *b);
/* n rows of a collection from number `row` on, which has room for them; of what is not nothing. */
void slc_volume_sums_put(const slc_volume_sums *sums, size_t n, slc_volume_components *to, size_t row);

#endif
