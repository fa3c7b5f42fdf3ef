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

/* Rows of the neighbours of row y, those that the volume has and that are asked for. */
static void set_others(const slc_volume_labeller *labeller, slc_volume_compared *row, size_t y, size_t z,
                       bool before, bool border)
{
    const slc_volume *volume = &labeller->volume;
    const bool up = y > 0, down = y + 1 < volume->height;
    row->other[SLC_VOLUME_ABOVE] = up && !border ? slc_volume_row(volume, y - 1, z) : NULL;
    row->other[SLC_VOLUME_BEFORE] = before ? slc_volume_row(volume, y, z - 1) : NULL;
    row->other[SLC_VOLUME_BEFORE_DOWN] = before && down ? slc_volume_row(volume, y + 1, z - 1) : NULL;
    row->other[SLC_VOLUME_BEFORE_UP] = before && up ? slc_volume_row(volume, y - 1, z - 1) : NULL;
}

void slc_volume_compare(slc_volume_labeller *labeller, slc_volume_part *part, size_t z,
                        const slc_volume_layer *layer, bool before, bool border)
{
    const slc_volume *volume = &labeller->volume;
    slc_volume_strip *strip = &part->strip;
    slc_volume_compared row = {
        .width = volume->width, .size = voxel_size(volume), .connectivity = labeller->config.connectivity};
    for (size_t y = 0; y < volume->height; y++) {
        const size_t at = y * labeller->pitch;
        row.own = slc_volume_row(volume, y, z);
        set_others(labeller, &row, y, z, before, border);
        row.all = layer->all + at;
        row.starts = layer->starts + at;
        row.all_above = row.all - labeller->pitch;
        for (int i = 0; i < SLC_VOLUME_KEPT; i++) {
            row.met[i] = layer->meets[i] + at;
        }
        row.met_above = row.met[SLC_VOLUME_BEFORE] - labeller->pitch;
        for (int i = 0; i < SLC_VOLUME_NEIGHBOURS * SLC_VOLUME_SIDES; i++) {
            row.marks[i / SLC_VOLUME_SIDES][i % SLC_VOLUME_SIDES] =
                strip->edges[i / SLC_VOLUME_SIDES][i % SLC_VOLUME_SIDES] + at;
        }
        strip->some[y] = labeller->kernels.compare(&row);
    }
}
