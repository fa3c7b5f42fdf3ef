/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb's scintillating-fibre tracker (SciFi) behind the magnet: three stations of four layers (x, u, v, x).
 * Where its mats are, and its hits. docs/formats/lhcb-hlt1.md. Frame: velo_types.h.
 */
#ifndef SLUICE_SCIFI_TYPES_H
#define SLUICE_SCIFI_TYPES_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of the SciFi's banks; `module` is the bank's source id, `offset` the bank's place in the event. */
#define SLC_FAULT_OF_SCIFI(n) SLC_FAULT_CODE('s', 'c', 'i', n)
enum {
    SLC_FAULT_SCIFI_CHANNEL = SLC_FAULT_OF_SCIFI(
        1), /* a channel that no mat has, or a link without one: the word was dropped */
    SLC_FAULT_SCIFI_EDGES = SLC_FAULT_OF_SCIFI(
        2), /* a large cluster that begins and does not end as it should: dropped */
    SLC_FAULT_SCIFI_ORDER = SLC_FAULT_OF_SCIFI(3), /* words of a bank that do not rise: they were sorted */
};

enum {
    SLC_SCIFI_STATIONS = 3,
    SLC_SCIFI_LAYERS = 12, /* of which 1, 2, 5, 6, 9, 10 are tilted */
    SLC_SCIFI_ZONES = 24,  /* 2 · layer + 1 for the upper half */
    SLC_SCIFI_BANKS = 240,
    SLC_SCIFI_LINKS = 24,  /* of a bank, with a map of SiPMs */
    SLC_SCIFI_MATS = 1536, /* entries of the arrays: (channel >> 9) - 512 */
    SLC_SCIFI_NO_SIPM = 14336
};

/* scifi_geometry.bin. A channel's u along its mat is u_begin + (2 · channel in the SiPM + 1 + fraction) ·
 * half_channel_pitch (+ die_gap beyond channel 63) + SiPM in the mat · sipm_pitch, its end at the mirror is
 * mirror + direction · u. Entries of mats that there are none of have dzdy 0 and half_channel_pitch 0. */
typedef struct slc_scifi_geometry {
    uint32_t version; /* 0: first_channel; others: sources and SiPMs */
    uint32_t n_banks;
    uint32_t modules[48]; /* of a quarter */
    uint32_t first_channel[SLC_SCIFI_BANKS];
    uint32_t source[SLC_SCIFI_BANKS];
    uint32_t sipm[SLC_SCIFI_BANKS][SLC_SCIFI_LINKS];
    float mirror_x_mm[SLC_SCIFI_MATS], mirror_y_mm[SLC_SCIFI_MATS], mirror_z_mm[SLC_SCIFI_MATS];
    float ddx[SLC_SCIFI_MATS], ddy[SLC_SCIFI_MATS], ddz[SLC_SCIFI_MATS];
    float u_begin_mm[SLC_SCIFI_MATS];
    float half_channel_pitch_mm[SLC_SCIFI_MATS], die_gap_mm[SLC_SCIFI_MATS], sipm_pitch_mm[SLC_SCIFI_MATS];
    float dxdy[SLC_SCIFI_MATS], dzdy[SLC_SCIFI_MATS], global_dy[SLC_SCIFI_MATS];
} slc_scifi_geometry;

/* Clusters as hits, by zone, those of a zone by x. x and z are those at y = 0: at a height y the fibre is at
 * x
 * + y · dxdy and z + y · dzdy of its mat. Bits of `channel`: 0-6 channel, 7-8 SiPM, 9-10 mat, 11-13 module,
 * 14-15 quarter, 16-17 layer of the station, 18-19 station (1 to 3); LHCb's id has 5 in bits 28-31 beside
 * them. `size` is the pseudo size, of which slc_scifi_sigma_mm is the resolution that LHCb's trigger takes.
 */
typedef struct slc_scifi_hits {
    slc_columns head;
    float *x_mm;
    float *z_mm;
    float *y_end_mm;
    uint32_t *channel;
    uint8_t *zone;
    uint8_t *size;
} slc_scifi_hits;
SLC_API extern const slc_schema slc_scifi_hits_schema;

/* 0.05 mm and 0.03 mm more for each pseudo size. */
static inline float slc_scifi_sigma_mm(uint8_t size)
{
    return 0.05f + 0.03f * (float)size;
}

#ifdef __cplusplus
}
#endif
#endif
