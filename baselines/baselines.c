/* SPDX-License-Identifier: Apache-2.0
 * The one list of what is here. */
#include "baselines/baselines.h"

#include "baselines/image_baselines.h"
#include "baselines/pixel_baselines.h"

static const slc_image_algorithm images[] = {
    {"flood", "flood fill with a stack of branching pixels (thesis 4.2.1)", false, SLC_IMAGE_PIXELS_U32,
     slc_image_flood_scratch, slc_image_flood_label, NULL},
    {"iterative", "sweeps of local minima until nothing changes (Haralick 1981; thesis 4.2.2)", false,
     SLC_IMAGE_PIXELS_U32, slc_image_iterative_scratch, slc_image_iterative_label, NULL},
    {NULL, NULL, false, 0, NULL, NULL, NULL},
};

static const slc_pixel_algorithm *const lists[] = {&slc_pixel_flood_map, &slc_pixel_flood_rows,
                                                   &slc_pixel_union_find, NULL};

void slc_baselines_add(void)
{
    slc_image_algorithms_add(images);
    slc_pixel_algorithms_add(lists);
}
