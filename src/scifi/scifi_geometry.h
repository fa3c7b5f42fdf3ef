/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the SciFi's fibres are. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_SCIFI_GEOMETRY_H
#define SLUICE_SCIFI_GEOMETRY_H

#include <sluice/scifi_types.h>

/* Reads the image of LHCb's scifi_geometry.bin, with the map of banks of either version. SLC_ERR_FORMAT if
 * sizes or counts are wrong, a bank begins at a channel that there is not, or a number cannot be one of a
 * mat, with the byte. */
slc_status slc_scifi_geometry_parse(const void *bytes, size_t size, slc_scifi_geometry *geometry,
                                    slc_error *error);

/* The entry of the arrays for a channel id; SLC_SCIFI_MATS for one that no mat has. */
static inline uint32_t slc_scifi_mat_of(const slc_scifi_geometry *geometry, uint32_t channel)
{
    const uint32_t mat = (channel >> 9) - 512;
    return mat < SLC_SCIFI_MATS && geometry->half_channel_pitch_mm[mat] > 0 ? mat : (uint32_t)SLC_SCIFI_MATS;
}

/* Mats by zone and rising x: 4 · modules in front + place in the module, below SLC_SCIFI_MATS. */
uint32_t slc_scifi_mat_order(const slc_scifi_geometry *geometry, uint32_t mat);

#endif
