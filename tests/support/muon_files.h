/* SPDX-License-Identifier: Apache-2.0
 *
 * A small muon detector as images of muon_geometry.bin and muon_tables.bin: strips of 4 x 1 and 2 x 2 tiles
 * that cross in pads of 4 x 2, pads alone in the inner regions of M4 and M5. Every tile has an address, from
 * 1 on; address 0 of a board has nothing.
 */
#ifndef SUPPORT_MUON_FILES_H
#define SUPPORT_MUON_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MUON_FILES_GEOMETRY = 1 << 14, MUON_FILES_TABLES = 1 << 18 }; /* room */

typedef struct muon_files_writer {
    uint8_t *out;
    size_t at;
} muon_files_writer;

static inline void muon_files_put(muon_files_writer *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to->out[to->at++] = (uint8_t)(value >> 8 * i);
    }
}

static inline void muon_files_float(muon_files_writer *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    muon_files_put(to, bits, 4);
}

/* Grid in x (0) and y (1) of table 0 pads, 1, 2 strips, of a cell 4 · station + region. */
static inline uint32_t muon_files_grid(int table, uint32_t cell, int axis)
{
    const int pads = table == 0 || cell == 8 || cell == 12;
    return axis == 0 ? (pads || table == 1 ? 4 : 2) : (pads || table == 2 ? 2 : 1);
}

static inline size_t muon_files_tables(uint8_t *out)
{
    muon_files_writer to = {out, 0};
    muon_files_put(&to, 2, 4);
    for (int table = 0; table < 3; table++) {
        uint32_t sizes = 0, offset[16], rows[4] = {0};
        for (int axis = 0; axis < 2; axis++) {
            muon_files_put(&to, 16, 8);
            for (uint32_t cell = 0; cell < 16; cell++) {
                muon_files_put(&to, muon_files_grid(table, cell, axis), 4);
            }
        }
        for (uint32_t cell = 0; cell < 16; cell++) {
            offset[cell] = rows[cell / 4];
            rows[cell / 4] += 12 * muon_files_grid(table, cell, 0) * muon_files_grid(table, cell, 1);
            sizes += 24 * muon_files_grid(table, cell, 1);
        }
        for (int axis = 0; axis < 2; axis++) {
            muon_files_put(&to, sizes, 8);
            for (uint32_t i = 0; i < sizes; i++) {
                muon_files_float(&to, (float)(1 + table + 10 * axis) + 0.125f * (float)i);
            }
        }
        muon_files_put(&to, 16, 8);
        for (uint32_t cell = 0; cell < 16; cell++) {
            muon_files_put(&to, offset[cell], 4);
        }
        muon_files_put(&to, 4, 8);
        for (uint32_t station = 0; station < 4; station++) {
            muon_files_put(&to, rows[station], 8);
            for (uint32_t row = 0; row < rows[station]; row++) {
                muon_files_float(&to, (float)row + 0.25f * (float)table);
                muon_files_float(&to, -(float)row);
                muon_files_float(&to, 15000.0f + 1000.0f * (float)station);
            }
        }
    }
    return to.at;
}

/* Appends the tiles of a grid of a cell. */
static inline uint32_t muon_files_tiles(muon_files_writer *to, uint32_t cell, uint32_t grid_x,
                                        uint32_t grid_y)
{
    uint32_t n = 0;
    for (uint32_t quarter = 0; quarter < 4; quarter++) {
        for (uint32_t y = 0; y < 2 * grid_y; y++) {
            for (uint32_t x = y < grid_y ? grid_x : 0; x < 2 * grid_x; x++, n++) {
                muon_files_put(to, y | x << 5 | quarter << 12 | cell << 14 | grid_x << 18 | grid_y << 24, 4);
            }
        }
    }
    return n;
}

/* Cells 0 … 9 on boards of their own, cells 10 … 15 on those of 0 … 5. */
static inline size_t muon_files_geometry(uint8_t *out)
{
    muon_files_writer to = {out, 0};
    muon_files_put(&to, 2, 4);
    muon_files_put(&to, 10, 8);
    for (uint32_t board = 0; board < 10; board++) {
        const size_t count = to.at;
        uint32_t n = 1;
        muon_files_put(&to, 0, 8);
        muon_files_put(&to, 0, 4);
        for (uint32_t cell = board; cell < 16; cell += 10) {
            n += muon_files_tiles(&to, cell, muon_files_grid(1, cell, 0), muon_files_grid(1, cell, 1));
            if (cell != 8 && cell != 12) {
                n += muon_files_tiles(&to, cell, 2, 2);
            }
        }
        out[count] = (uint8_t)n;
        out[count + 1] = (uint8_t)(n >> 8);
    }
    return to.at;
}

#endif
