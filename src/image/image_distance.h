/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: squared Euclidean distances to the background, as integers.
 */
#ifndef SLUICE_IMAGE_DISTANCE_H
#define SLUICE_IMAGE_DISTANCE_H

#include "base/team.h"

#include <sluice/image_volume.h>

/* Of every pixel of rows of bits, row behind row: 0 of background, UINT32_MAX everywhere of an image without
 * any. width² + height² is below 2^32. `parts` pieces of work are shared by the team. SLC_ERR_MEMORY. */
slc_status slc_image_distance(const slc_image *bits, slc_team *team, uint32_t parts, uint32_t *distance);
/* Of every voxel of a volume of bits, slice behind slice; width² + height² + depth² is below 2^32. */
slc_status slc_volume_distance(const slc_volume *bits, slc_team *team, uint32_t parts, uint32_t *distance);

#endif
