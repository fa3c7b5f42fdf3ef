/* SPDX-License-Identifier: Apache-2.0
 * ut_boards.bin and ut_geometry.bin. */
#include "ut/ut_geometry.h"
#include "base/bytes.h"

#include <math.h>
#include <string.h>

enum { HYBRIDS = SLC_UT_BOARDS * SLC_UT_HYBRIDS, VERSION = 3, CONNECTED = 2 };

/* Sectors of the two staves beside the beam pipe are halves or quarters of their length near it. */
static uint32_t inner_sector(uint32_t side, uint32_t stave, uint32_t outer, uint32_t m, uint32_t sector)
{
    if (stave == 1) {
        const uint32_t start = side == 0 ? 14 * outer : 22;
        return start + (m < 5    ? m
                        : m < 9  ? 5 + 2 * (m - 5) + sector
                        : m < 11 ? 9 + 2 * (m - 9) + 1 - sector
                                 : 13 + m - 11);
    }
    const uint32_t start = side == 0 ? 14 * outer + 18 : 0;
    return start + (m < 5    ? m
                    : m < 8  ? 5 + 2 * (m - 5) + sector
                    : m < 11 ? 11 + 2 * (m - 8) + 1 - sector
                             : 17 + m - 11);
}

uint32_t slc_ut_sector_of(uint32_t side, uint32_t layer, uint32_t stave, uint32_t face, uint32_t module,
                          uint32_t sector)
{
    const uint32_t half = 2 * layer + side, outer = layer < 2 ? 6 : 7;
    const uint32_t base = half < 4 ? 124 * half : 496 + 138 * (half - 4);
    const uint32_t m = 2 * module + 1 - face;
    if (stave < 2) {
        return base + inner_sector(side, stave, outer, m, sector);
    }
    const uint32_t in_stave = m - 2 * (module / 4);
    return base + in_stave + (side == 0 ? 14 * (7 + layer / 2 - stave) : 40 + 14 * (stave - 2));
}

slc_status slc_ut_boards_parse(const void *bytes, size_t size, slc_ut_geometry *geometry, slc_error *error)
{
    const uint8_t *const from = bytes;
    if (size != SLC_UT_BOARDS_BYTES) {
        return slc_fail(error, SLC_ERR_FORMAT, "UT boards: %zu bytes, must be %d", size, SLC_UT_BOARDS_BYTES);
    }
    if (slc_load_u32(from) != SLC_UT_BOARDS || slc_load_u32(from + 4) != VERSION) {
        return slc_fail(error, SLC_ERR_FORMAT, "UT boards: %u boards of version %u, must be %d of version %d",
                        slc_load_u32(from), slc_load_u32(from + 4), SLC_UT_BOARDS, VERSION);
    }
    geometry->n_boards = SLC_UT_BOARDS;
    for (size_t b = 0; b < SLC_UT_BOARDS; b++) {
        geometry->strips[b] = slc_load_u32(from + 8 + 4 * b);
        if (geometry->strips[b] > 512) {
            return slc_fail(error, SLC_ERR_FORMAT, "UT boards: byte %zu: %u strips of a hybrid, at most 512",
                            8 + 4 * b, geometry->strips[b]);
        }
    }
    enum { SECTOR, MODULE, FACE, STAVE, LAYER, SIDE, TYPE, CHANNEL };
    const uint8_t *const maps = from + 8 + 4 * SLC_UT_BOARDS;
    bool taken[SLC_UT_SECTORS] = {false};
    for (size_t i = 0; i < HYBRIDS; i++) {
        uint32_t v[8];
        for (size_t k = 0; k < 8; k++) {
            v[k] = slc_load_u32(maps + 4 * (k * HYBRIDS + i));
        }
        geometry->sector[i] = SLC_UT_NO_SECTOR;
        geometry->channel[i] = v[CHANNEL];
        if (v[TYPE] != CONNECTED) {
            continue;
        }
        const bool possible = v[SIDE] < 2 && v[LAYER] < SLC_UT_LAYERS && v[STAVE] < 9 && v[FACE] < 2 &&
                              v[MODULE] < 8 && v[SECTOR] < 2;
        const uint32_t s = possible
                               ? slc_ut_sector_of(v[SIDE], v[LAYER], v[STAVE], v[FACE], v[MODULE], v[SECTOR])
                               : SLC_UT_SECTORS;
        if (s >= SLC_UT_SECTORS || taken[s] || (v[CHANNEL] >> 18 & 3) != v[LAYER]) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "UT boards: hybrid %zu of board %zu is of a sector that there is not, or that "
                            "another one is of",
                            i % SLC_UT_HYBRIDS, i / SLC_UT_HYBRIDS);
        }
        taken[s] = true;
        geometry->sector[i] = (uint16_t)s;
    }
    return SLC_OK;
}

slc_status slc_ut_geometry_parse(const void *bytes, size_t size, slc_ut_geometry *geometry, slc_error *error)
{
    const uint8_t *const from = bytes;
    float *const columns[9] = {geometry->pitch_mm,    geometry->dy_mm,       geometry->dx_strip_mm,
                               geometry->dy_strip_mm, geometry->dz_strip_mm, geometry->x0_mm,
                               geometry->y0_mm,       geometry->z0_mm,       geometry->cosine};
    static const char *const names[9] = {"pitch", "dy", "dx/di", "dy/di", "dz/di", "x0", "y0", "z0", "cos"};
    if (size != SLC_UT_GEOMETRY_BYTES || slc_load_u32(from) != SLC_UT_SECTORS) {
        return slc_fail(error, SLC_ERR_FORMAT, "UT geometry: %zu bytes%s, must be %d for %d sectors", size,
                        size == SLC_UT_GEOMETRY_BYTES ? " for another number of sectors" : "",
                        SLC_UT_GEOMETRY_BYTES, SLC_UT_SECTORS);
    }
    for (size_t s = 0; s < SLC_UT_SECTORS; s++) {
        geometry->first_strip[s] = slc_load_u32(from + 4 + 4 * s);
    }
    for (size_t c = 0; c < 9; c++) {
        for (size_t s = 0; s < SLC_UT_SECTORS; s++) {
            const size_t at = 4 + 4 * SLC_UT_SECTORS * (c + 1) + 4 * s;
            const float value = slc_load_f32(from + at);
            if (!(fabsf(value) <= 1e4f) || (c == 0 && !(value > 0))) {
                return slc_fail(error, SLC_ERR_FORMAT, "UT geometry: byte %zu: %s of sector %zu is %g", at,
                                names[c], s, (double)value);
            }
            columns[c][s] = value;
        }
    }
    return SLC_OK;
}
