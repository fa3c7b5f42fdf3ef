/* SPDX-License-Identifier: Apache-2.0
 *
 * Test events with a known answer, made without the generator: straight lines from the origin downstream
 * through the ideal geometry, one pixel per crossed sensor, as VP banks of version 2. Needs the public
 * headers of base and velo alone.
 */
#ifndef TESTS_SUPPORT_STRAIGHT_EVENT_H
#define TESTS_SUPPORT_STRAIGHT_EVENT_H

#include "velo/velo_geometry.h"
#include <sluice/lhcb.h>

enum { STRAIGHT_MAX_LINES = 16 };

typedef struct straight_line {
    float tx, ty; /* from (0, 0, 0) towards positive z */
} straight_line;

/* The super-pixel word of the pixel where the line crosses a sensor; false where it misses. */
static inline bool straight_crossing(const slc_velo_geometry *geometry, uint32_t sensor, straight_line line,
                                     uint32_t *word)
{
    const float *g = geometry->to_global[sensor];
    const float dx = line.tx * g[11] - g[9], dy = line.ty * g[11] - g[10];
    const float determinant = g[0] * g[4] - g[1] * g[3];
    const float u = (g[4] * dx - g[1] * dy) / determinant, v = (g[0] * dy - g[3] * dx) / determinant;
    const float row = v / SLC_VELO_PITCH_MM;
    if (g[11] <= 0 || row < 0 || row >= SLC_VELO_ROWS || u < 0 ||
        u > geometry->local_x_mm[SLC_VELO_COLUMNS - 1]) {
        return false;
    }
    uint32_t column = 0;
    while (geometry->local_x_mm[column] + 0.5f * geometry->x_pitch_mm[column] < u) {
        column++;
    }
    const uint32_t r = (uint32_t)row;
    *word = (column / 2) << 14 | (r / 4) << 8 | 1U << (column % 2 * 4 + r % 4);
    return true;
}

/* Appends one event with these lines (at most STRAIGHT_MAX_LINES). Two lines through one super-pixel are the
 * caller's mistake. *n_hits (may be NULL) counts the crossings. */
static inline slc_status straight_event(const straight_line *lines, uint32_t n_lines, slc_batch *batch,
                                        uint32_t *n_hits)
{
    static uint8_t banks[SLC_VELO_SENSORS * (SLC_LHCB_BANK_HEADER + 4 * (STRAIGHT_MAX_LINES + 1))];
    slc_velo_geometry geometry;
    slc_velo_geometry_ideal(&geometry);
    size_t size = 0;
    uint32_t crossings = 0;
    for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS; sensor++) {
        uint8_t payload[4 * (STRAIGHT_MAX_LINES + 1)] = {0};
        uint8_t n = 0;
        for (uint32_t i = 0; i < n_lines; i++) {
            uint32_t word;
            if (straight_crossing(&geometry, sensor, lines[i], &word)) {
                n++;
                for (unsigned byte = 0; byte < 4; byte++) {
                    payload[4 * n + byte] = (uint8_t)(word >> (8 * byte));
                }
            }
        }
        payload[0] = n;
        crossings += n;
        size += slc_lhcb_bank_write(banks + size, sizeof banks - size, SLC_LHCB_BANK_VP, 2, (int16_t)sensor,
                                    payload, 4 * ((size_t)n + 1));
    }
    if (n_hits != NULL) {
        *n_hits = crossings;
    }
    return slc_batch_append(batch, banks, size, 0);
}

#endif
