/* SPDX-License-Identifier: Apache-2.0
 * Components of equal values: rows of a volume compared with themselves and with their neighbours.
 */
#include "image/image_volume_part.h"

static size_t voxel_size(const slc_volume *volume)
{
    return slc_image_row_bytes(volume->type, 1);
}

void slc_volume_find_values(slc_volume_labeller *labeller, size_t y, size_t z)
{
    labeller->kernels.values(slc_volume_row(&labeller->volume, y, z), labeller->volume.width,
                             voxel_size(&labeller->volume), slc_volume_bits(labeller, y, z),
                             slc_volume_starts(labeller, y, z));
}

void slc_volume_compare(slc_volume_labeller *labeller, slc_volume_part *part, size_t z,
                        slc_volume_layer *layer, const slc_volume_layer *before, bool border)
{
    const slc_volume *volume = &labeller->volume;
    const slc_volume_values values = {.own = slc_volume_row(volume, 0, z),
                                      .before = before != NULL ? slc_volume_row(volume, 0, z - 1) : NULL,
                                      .stride = volume->stride,
                                      .width = volume->width,
                                      .size = voxel_size(volume),
                                      .above = !border};
    labeller->kernels.compare(&part->strip, layer, before, &values);
}
