/* SPDX-License-Identifier: Apache-2.0
 *
 * A UT and a SciFi as plain as can be, for tests and fuzzing of decoders: every hybrid of 174 boards has a
 * sector of its own; mats follow each other in x, and turn round where LHCb's do.
 */
#ifndef SUPPORT_HLT1_DETECTORS_H
#define SUPPORT_HLT1_DETECTORS_H

#include <sluice/scifi_types.h>
#include <sluice/ut_types.h>

#include <string.h>

static inline void hlt1_detectors_ut(slc_ut_geometry *g)
{
    memset(g, 0, sizeof *g);
    g->n_boards = SLC_UT_BOARDS;
    for (uint32_t i = 0; i < SLC_UT_BOARDS * SLC_UT_HYBRIDS; i++) {
        g->sector[i] = SLC_UT_NO_SECTOR;
    }
    for (uint32_t s = 0; s < SLC_UT_SECTORS; s++) {
        const uint32_t layer = s * SLC_UT_LAYERS / SLC_UT_SECTORS;
        g->strips[s / SLC_UT_HYBRIDS] = 512;
        g->sector[s] = (uint16_t)s;
        g->channel[s] = 2U << 21 | layer << 18 | (s % 262) << 9;
        g->first_strip[s] = 1;
        g->pitch_mm[s] = 0.19f;
        g->dy_mm[s] = 97.0f;
        g->dx_strip_mm[s] = s % 2 == 0 ? 0.19f : -0.19f;
        g->x0_mm[s] = -800.0f + 6.0f * (float)(s % 262);
        g->y0_mm[s] = -48.5f;
        g->z0_mm[s] = (s % 3 == 0 ? -1.0f : 1.0f) * (2300.0f + 100.0f * (float)layer);
        g->cosine[s] = 1;
    }
}

/* `version` 0: banks follow each other by channel; else a map of SiPMs, of which link 23 has none. */
static inline void hlt1_detectors_scifi(slc_scifi_geometry *g, uint32_t version)
{
    memset(g, 0, sizeof *g);
    g->version = version;
    g->n_banks = SLC_SCIFI_BANKS;
    for (uint32_t q = 0; q < 48; q++) {
        g->modules[q] = q < 32 ? 5 : 6;
    }
    for (uint32_t b = 0; b < SLC_SCIFI_BANKS; b++) {
        g->first_channel[b] = (512 + 32 * (b / 5) + 4 * (b % 5)) << 9;
        g->source[b] = 0x1000 + b;
        for (uint32_t link = 0; link < SLC_SCIFI_LINKS; link++) {
            g->sipm[b][link] = link == 23 ? SLC_SCIFI_NO_SIPM : g->first_channel[b] + 128 * (link % 16);
        }
    }
    for (uint32_t mat = 0; mat < SLC_SCIFI_MATS; mat++) {
        const uint32_t quarter = mat >> 5, module = mat >> 2 & 7, turned = (quarter >> 1 & 3) % 3;
        const float side = (quarter & 1) == 0 ? -1.0f : 1.0f;
        if (module >= g->modules[quarter]) {
            continue;
        }
        const float from_beam = 530.0f * (float)module;
        g->half_channel_pitch_mm[mat] = 0.125f;
        g->die_gap_mm[mat] = 0.22f;
        g->sipm_pitch_mm[mat] = 32.7f;
        g->ddx[mat] = turned == 0 ? 1.0f : -1.0f;
        g->mirror_x_mm[mat] = side * from_beam + (side < 0 ? -530.0f : 0) +
                              130.0f * (float)(turned == 0 ? mat & 3 : 4 - (mat & 3));
        g->mirror_y_mm[mat] = (quarter & 2) != 0 ? 10.0f : -10.0f;
        g->mirror_z_mm[mat] = 7800.0f + 70.0f * (float)(quarter / 4);
        g->dxdy[mat] = turned == 0 ? 0.0f : 0.0875f;
        g->dzdy[mat] = 0.0036f;
    }
}

#endif
