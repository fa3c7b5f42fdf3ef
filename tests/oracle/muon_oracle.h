/* SPDX-License-Identifier: Apache-2.0
 *
 * The muon stations' hits by the formulas of their format, file by file and pair by pair: slow, and with
 * nothing of the decoder's tables.
 */
#ifndef MUON_ORACLE_H
#define MUON_ORACLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct oracle_muon_hit {
    float x, y, z, dx, dy;
    uint32_t tile;
    int time, delta_time;
    int uncrossed;
} oracle_muon_hit;

typedef struct oracle_muon_tile {
    uint32_t tile;
    int time;
} oracle_muon_tile;

/* Images of muon_geometry.bin and muon_tables.bin, which must be sound. */
typedef struct oracle_muon_files {
    const uint8_t *geometry, *tables;
} oracle_muon_files;

/* Tile at an address of a board; 0: nothing, or no such address. */
uint32_t oracle_muon_address(const oracle_muon_files *files, uint32_t board, uint32_t address);
/* Tiles of a sound bank of version 2, appended at *n. */
void oracle_muon_bank(const oracle_muon_files *files, uint32_t board, const uint8_t *payload,
                      oracle_muon_tile *tiles, size_t *n);
/* Hits of distinct tiles, in any order; `crossings` of them are crossings. */
size_t oracle_muon_hits(const oracle_muon_files *files, const oracle_muon_tile *tiles, size_t n,
                        oracle_muon_hit *hits, size_t *crossings);

#endif
