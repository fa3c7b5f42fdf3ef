/* SPDX-License-Identifier: Apache-2.0
 * Which module has which cells of which bank, and the words of an event by piece. */
#include "scifi/scifi_place.h"

#include "base/bytes.h"
#include "base/columns.h"
#include "lhcb/lhcb_walk.h"
#include "scifi/scifi_geometry.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS_OF_WORDS = 1 << 14, MODULE_SHIFT = 11, FIRST_MODULE = 128 };

/* ---- the detector ------------------------------------------------------------------------------ */

static void take_zones(const slc_scifi_geometry *g, slc_scifi_zone *zones)
{
    const float *const columns[SLC_SCIFI_MAT_NUMBERS] = {
        g->mirror_x_mm, g->mirror_y_mm,   g->mirror_z_mm, g->u_begin_mm, g->half_channel_pitch_mm,
        g->die_gap_mm,  g->sipm_pitch_mm, g->ddx,         g->ddy,        g->ddz,
        g->dxdy,        g->dzdy};
    for (size_t zone = 0; zone < SLC_SCIFI_ZONES; zone++) {
        slc_scifi_zone *to = &zones[zone];
        const size_t begin = zone * SLC_SCIFI_ZONE_MATS;
        to->alike = true;
        for (size_t k = 0; k < SLC_SCIFI_ZONE_MATS; k++) {
            const bool there = g->half_channel_pitch_mm[begin + k] > 0;
            for (size_t c = 0; c < SLC_SCIFI_MAT_NUMBERS; c++) {
                to->number[c][k] = columns[c][begin + k];
                to->alike = to->alike && (!there || c < SLC_SCIFI_MAT_U_BEGIN ||
                                          columns[c][begin + k] == columns[c][begin]);
            }
        }
    }
}

static uint32_t zone_of(uint32_t module)
{
    return 4 * module / SLC_SCIFI_ZONE_MATS;
}

static bool has_four_mats(const slc_scifi_geometry *g, uint32_t module)
{
    for (uint32_t k = 0; k < 4; k++) {
        if (!(g->half_channel_pitch_mm[4 * module + k] > 0)) {
            return false;
        }
    }
    return true;
}

/* Cells of a bank reach to where the next bank begins. */
static uint32_t end_of_bank(const slc_scifi_geometry *g, uint32_t bank)
{
    uint32_t end = g->first_channel[bank] + CELLS_OF_WORDS;
    for (uint32_t b = 0; b < SLC_SCIFI_BANKS; b++) {
        const uint32_t other = g->first_channel[b];
        if (b != bank && other >= g->first_channel[bank] && other < end) {
            end = other;
        }
    }
    return end;
}

/* Is the module behind those of the piece, in channels and in x? */
static bool goes_on(const slc_scifi_geometry *g, const slc_scifi_piece *p, uint32_t module)
{
    const bool falls = g->ddx[4 * module] < 0;
    const uint32_t end = p->first + p->low + p->span, before = ((end - 1) >> MODULE_SHIFT) - FIRST_MODULE;
    const uint32_t here = slc_scifi_mat_order(g, 4 * module), there = slc_scifi_mat_order(g, 4 * before);
    return before + 1 == module && falls == p->falls && zone_of(module) == p->zone &&
           (falls ? here < there : here > there);
}

static void take_bank(const slc_scifi_geometry *g, uint32_t bank, slc_scifi_pieces *pieces)
{
    const size_t of_others = pieces->n;
    const uint32_t first = g->first_channel[bank], end = end_of_bank(g, bank);
    for (uint32_t at = first >> MODULE_SHIFT; at << MODULE_SHIFT < end; at++) {
        const uint32_t module = at - FIRST_MODULE, begins = at << MODULE_SHIFT,
                       ends = (at + 1) << MODULE_SHIFT;
        if (module >= SLC_SCIFI_MODULES || !has_four_mats(g, module)) {
            continue;
        }
        const uint32_t low = begins > first ? begins : first, high = ends < end ? ends : end;
        if (pieces->n > of_others && goes_on(g, &pieces->piece[pieces->n - 1], module)) {
            pieces->piece[pieces->n - 1].span += high - low;
        } else {
            pieces->piece[pieces->n] = (slc_scifi_piece){.first = first,
                                                         .low = low - first,
                                                         .span = high - low,
                                                         .zone = (uint8_t)zone_of(module),
                                                         .falls = g->ddx[4 * module] < 0};
            pieces->n++;
        }
        pieces->ends[pieces->n - 1] = high - first;
    }
}

/* By zone and x. */
static uint32_t rank_of(const slc_scifi_geometry *g, const slc_scifi_piece *p)
{
    const uint32_t first = p->first + p->low, channel = first & ((1U << MODULE_SHIFT) - 1);
    const uint32_t module = slc_scifi_mat_order(g, 4 * ((first >> MODULE_SHIFT) - FIRST_MODULE)) / 4;
    return module << MODULE_SHIFT | (p->falls ? (1U << MODULE_SHIFT) - 1 - channel : channel);
}

void slc_scifi_pieces_make(const slc_scifi_geometry *geometry, slc_simd_target target,
                           slc_scifi_pieces *pieces)
{
    uint16_t slots[SLC_SCIFI_PIECES] = {0};
    memset(pieces, 0, sizeof *pieces);
    pieces->kernels = slc_scifi_kernels_of(slc_simd_kernel_choice(&slc_scifi_kernel_rows[0], target));
    take_zones(geometry, pieces->zones);
    for (uint32_t bank = 0; bank < SLC_SCIFI_BANKS; bank++) {
        pieces->first_slot[bank] = (uint16_t)pieces->n;
        if (geometry->version == 0) {
            take_bank(geometry, bank, pieces);
        }
    }
    pieces->first_slot[SLC_SCIFI_BANKS] = (uint16_t)pieces->n;
    for (size_t i = 1; i < pieces->n; i++) {
        const slc_scifi_piece piece = pieces->piece[i];
        size_t k = i;
        for (; k > 0 && rank_of(geometry, &pieces->piece[k - 1]) > rank_of(geometry, &piece); k--) {
            pieces->piece[k] = pieces->piece[k - 1];
            slots[k] = slots[k - 1];
        }
        pieces->piece[k] = piece;
        slots[k] = (uint16_t)i;
    }
    for (size_t k = 0; k < pieces->n; k++) {
        pieces->of_slot[slots[k]] = (uint16_t)k;
    }
}

/* ---- an event ---------------------------------------------------------------------------------- */

/* Words of a bank below `end`; they rise. As many steps for every event, so that they are foreseen. */
static uint32_t count_below(const uint8_t *words, uint32_t n, uint32_t end)
{
    uint32_t below = 0;
    while (n > 0) {
        const uint32_t half = (n + 1) / 2;
        const bool beyond = (uint32_t)slc_load_u16(words + 2 * (size_t)(below + half - 1)) >> 2 < end;
        below += beyond ? half : 0;
        n -= half;
    }
    return below;
}

/* Where a bank's words are, by piece; those behind which nothing may be read are copied to `copies`. Returns
 * how many there are, UINT32_MAX if the bank is not plain. */
static uint32_t collect(slc_scifi_pieces *pieces, const slc_lhcb_bank *bank, size_t readable, uint8_t *copies)
{
    const uint32_t source = (uint16_t)bank->source;
    const uint32_t slot = source < SLC_SCIFI_BANKS ? pieces->first_slot[source] : 0;
    if (source >= SLC_SCIFI_BANKS || pieces->first_slot[source + 1] == slot ||
        (bank->version != 4 && bank->version != 5) || bank->size < SLC_SCIFI_WORDS_AT ||
        bank->size % 2 != 0 || pieces->extents[pieces->of_slot[slot]].words != NULL) {
        return UINT32_MAX;
    }
    const uint8_t *words = bank->payload + SLC_SCIFI_WORDS_AT;
    uint32_t left = (bank->size - SLC_SCIFI_WORDS_AT) / 2;
    /* Every second bank ends with padding: nothing to guess. */
    left -= (uint32_t)(left > 0) & (uint32_t)(slc_load_u16(bank->payload + bank->size - 2) == 0);
    const uint32_t n = left;
    if (readable < bank->size + (size_t)SLC_SCIFI_SPARE_BYTES) {
        words = n > 0 ? memcpy(copies, words, 2 * (size_t)n) : copies;
    }
    for (uint32_t k = slot; k < pieces->first_slot[source + 1]; k++) {
        const bool last = k + 1 == pieces->first_slot[source + 1];
        const uint32_t of_piece = last ? left : count_below(words, left, pieces->ends[k]);
        pieces->extents[pieces->of_slot[k]] = (slc_scifi_extent){words, of_piece};
        words += 2 * (size_t)of_piece;
        left -= of_piece;
    }
    return n;
}

bool slc_scifi_pieces_run(slc_scifi_pieces *pieces, const slc_lhcb_bank *banks, size_t n_banks,
                          uint32_t *copies, uint32_t *words, slc_scifi_hits *hits)
{
    uint32_t n = 0;
    for (size_t k = 0; k < pieces->n; k++) {
        pieces->extents[k] = (slc_scifi_extent){NULL, 0};
    }
    for (size_t i = 0; i < n_banks; i++) {
        const size_t readable = slc_lhcb_bank_readable(&banks[i], &banks[n_banks - 1]);
        const uint32_t of_bank = collect(pieces, &banks[i], readable, (uint8_t *)copies + 2 * (size_t)n);
        if (of_bank == UINT32_MAX) {
            return false;
        }
        n += of_bank;
    }
    const slc_scifi_place_in in = {
        .pieces = pieces->piece, .n_pieces = pieces->n, .zones = pieces->zones, .extents = pieces->extents};
    if (n > 0 && !pieces->kernels->place(&in, hits, hits->head.size, words)) {
        return false;
    }
    hits->head.size += n;
    return true;
}
