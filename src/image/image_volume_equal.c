/* SPDX-License-Identifier: Apache-2.0
 * Components of equal values: rows of a volume compared with themselves and with their neighbours.
 */
#include "image/image_volume_part.h"

#include <string.h>

static size_t voxel_size(const slc_volume *volume)
{
    return slc_image_row_bytes(volume->type, 1);
}

void slc_volume_not_zero(slc_volume_labeller *labeller, size_t y, size_t z, uint64_t *bits)
{
    const size_t width = labeller->volume.width;
    labeller->kernels.equal(slc_volume_row(&labeller->volume, y, z), NULL, width, sizeof(uint64_t), bits);
    for (size_t k = 0; 64 * k < width; k++) {
        bits[k] = ~bits[k];
    }
    if (width % 64 != 0) {
        bits[width / 64] &= ~(uint64_t)0 >> (64 - width % 64);
    }
}

/* Bit i: a's voxel i is equal to b's voxel i + 1, or (first) a's voxel i + 1 to b's voxel i; moved up by one
 * column. */
static void compare_moved(const slc_volume_labeller *labeller, const char *a, const char *b, bool first,
                          uint64_t *bits)
{
    const size_t size = voxel_size(&labeller->volume), n = labeller->volume.width - 1;
    uint64_t carry = 0;
    memset(bits, 0, labeller->pitch * sizeof *bits);
    if (n == 0) {
        return;
    }
    labeller->kernels.equal(first ? a + size : a, first ? b : b + size, n, size, bits);
    for (size_t k = 0; k < labeller->pitch; k++) {
        const uint64_t word = bits[k];
        bits[k] = word << 1 | carry;
        carry = word >> 63;
    }
}

void slc_volume_find_starts(slc_volume_labeller *labeller, size_t z)
{
    for (size_t y = 0; y < labeller->volume.height; y++) {
        const char *row = slc_volume_row(&labeller->volume, y, z);
        const uint64_t *all = slc_volume_bits(labeller, y, z);
        uint64_t *starts = slc_volume_starts(labeller, y, z);
        compare_moved(labeller, row, row, true, starts);
        for (size_t k = 0; k < labeller->pitch; k++) {
            starts[k] = all[k] & ~starts[k];
        }
    }
}

/* What is equal of the rows of a slice and of their neighbours; nothing where the volume has none. */
static void compare_rows(const slc_volume_labeller *labeller, slc_volume_part *part, size_t z, size_t other_z,
                         int neighbour, bool side)
{
    const slc_volume *volume = &labeller->volume;
    const size_t pitch = labeller->pitch, used = (volume->width + 63) / 64;
    for (size_t y = 0; y < volume->height; y++) {
        uint64_t *bits[SLC_VOLUME_SIDES];
        for (int i = 0; i < SLC_VOLUME_SIDES; i++) {
            bits[i] = part->strip.edges[neighbour][i] + y * pitch;
        }
        const bool up = neighbour == SLC_VOLUME_ABOVE || neighbour == SLC_VOLUME_BEFORE_UP;
        const bool down = neighbour == SLC_VOLUME_BEFORE_DOWN;
        if ((up && y == 0) || (down && y + 1 == volume->height)) {
            for (int i = 0; i < SLC_VOLUME_SIDES; i++) {
                memset(bits[i], 0, pitch * sizeof *bits[i]);
            }
            continue;
        }
        const char *row = slc_volume_row(volume, y, z);
        const char *other = slc_volume_row(volume, up ? y - 1 : down ? y + 1 : y, other_z);
        memset(bits[0] + used, 0, (pitch - used) * sizeof *bits[0]);
        labeller->kernels.equal(row, other, volume->width, voxel_size(volume), bits[0]);
        if (side) {
            compare_moved(labeller, row, other, true, bits[SLC_VOLUME_BEFORE_IT]);
            compare_moved(labeller, row, other, false, bits[SLC_VOLUME_BEHIND_IT]);
        }
    }
}

void slc_volume_compare(slc_volume_labeller *labeller, slc_volume_part *part, size_t z,
                        const slc_volume_layer *layer, bool before, bool border)
{
    const uint32_t connectivity = labeller->config.connectivity;
    for (int neighbour = 0; neighbour < SLC_VOLUME_NEIGHBOURS; neighbour++) {
        const bool own = neighbour == SLC_VOLUME_ABOVE, straight = neighbour < SLC_VOLUME_BEFORE_DOWN;
        if ((own && border) || (!own && !before) || (!straight && connectivity == 6)) {
            continue;
        }
        const bool side = connectivity == 26 || (connectivity == 18 && straight);
        compare_rows(labeller, part, z, own ? z : z - 1, neighbour, side);
        labeller->kernels.same(&part->strip, layer, neighbour, side);
    }
}
