/* SPDX-License-Identifier: Apache-2.0
 * Slow and obvious: every word by itself, then sorted. */
#include "oracle/hlt1_decode_oracle.h"

#include "base/bytes.h"

#include <math.h>
#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
    const oracle_hlt1_hit *l = a, *r = b;
    if (l->kind != r->kind) {
        return l->kind < r->kind ? -1 : 1;
    }
    if (l->x != r->x) {
        return l->x < r->x ? -1 : 1;
    }
    return (l->channel > r->channel) - (l->channel < r->channel);
}

size_t oracle_hlt1_ut(const slc_ut_geometry *g, slc_lhcb_bank_cursor banks, oracle_hlt1_hit *hits,
                      size_t room)
{
    size_t n = 0;
    slc_lhcb_bank bank;
    while (slc_lhcb_bank_next(&banks, &bank, NULL) == SLC_OK) {
        const uint32_t words = bank.type == SLC_LHCB_BANK_UT ? slc_load_u16(bank.payload) : 0;
        for (uint32_t i = 0; i < words && n < room; i++) {
            const uint32_t word = slc_load_u16(bank.payload + 4 + 2 * i), channel = word >> 2 & 0xfff;
            const uint32_t board = (uint32_t)bank.source, strips = g->strips[board];
            const uint32_t hybrid = channel / strips, strip = channel % strips + 1;
            const uint32_t s = g->sector[6 * board + hybrid], id = g->channel[6 * board + hybrid];
            const float k = (float)strip + (float)(word & 3) / 4.0f - (float)g->first_strip[s];
            oracle_hlt1_hit *to = &hits[n++];
            to->kind = id >> 18 & 3;
            to->x = g->x0_mm[s] + k * g->dx_strip_mm[s];
            to->z = fabsf(g->z0_mm[s]) + k * g->dz_strip_mm[s];
            to->y_begin = g->y0_mm[s] + k * g->dy_strip_mm[s];
            to->y_end = to->y_begin + g->dy_mm[s];
            to->channel = id + strip - 1;
            to->size = 0;
        }
    }
    qsort(hits, n, sizeof *hits, by_place);
    return n;
}

size_t oracle_hlt1_scifi(const slc_scifi_geometry *g, slc_lhcb_bank_cursor banks, oracle_hlt1_hit *hits,
                         size_t room)
{
    size_t n = 0;
    slc_lhcb_bank bank;
    while (slc_lhcb_bank_next(&banks, &bank, NULL) == SLC_OK) {
        const uint32_t words = bank.type == SLC_LHCB_BANK_SCIFI ? (bank.size - 4) / 2 : 0;
        for (uint32_t i = 0; i < words && n < room; i++) {
            const uint32_t word = slc_load_u16(bank.payload + 4 + 2 * i);
            if (i + 1 == words && word == 0) {
                continue;
            }
            const uint32_t channel = g->first_channel[bank.source] + (word >> 2), mat = (channel >> 9) - 512;
            float u = g->u_begin_mm[mat] +
                      (float)(2 * (channel & 127) + 1 + (word >> 1 & 1)) * g->half_channel_pitch_mm[mat];
            if ((channel & 127) >= 64) {
                u += g->die_gap_mm[mat];
            }
            u += (float)(channel >> 7 & 3) * g->sipm_pitch_mm[mat];
            const float ex = g->mirror_x_mm[mat] + g->ddx[mat] * u,
                        ey = g->mirror_y_mm[mat] + g->ddy[mat] * u,
                        ez = g->mirror_z_mm[mat] + g->ddz[mat] * u;
            const uint32_t quarter = channel >> 14 & 3, layer = (channel >> 16) - 4;
            oracle_hlt1_hit *to = &hits[n++];
            to->kind = 2 * layer + (quarter >= 2 ? 1 : 0);
            to->x = ex - g->dxdy[mat] * ey;
            to->z = ez - g->dzdy[mat] * ey;
            to->y_begin = 0;
            to->y_end = ey;
            to->channel = channel;
            to->size = (word & 1) != 0 ? 0 : 4;
        }
    }
    qsort(hits, n, sizeof *hits, by_place);
    return n;
}
