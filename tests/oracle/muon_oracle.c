/* SPDX-License-Identifier: Apache-2.0
 * Every tile with every other one of its quarter, and every place looked up in the file's bytes. */
#include "oracle/muon_oracle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static uint64_t u64_at(const uint8_t *p)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) {
        value = value << 8 | p[i];
    }
    return value;
}

static uint32_t u32_at(const uint8_t *p)
{
    return (uint32_t)(u64_at(p) & 0xffffffffU);
}

static uint32_t u16_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static float f32_at(const uint8_t *p)
{
    const uint32_t bits = u32_at(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t oracle_muon_address(const oracle_muon_files *files, uint32_t board, uint32_t address)
{
    const uint8_t *at = files->geometry + 12;
    for (uint32_t b = 0; b < board; b++) {
        at += 8 + 4 * u64_at(at);
    }
    return address < u64_at(at) ? u32_at(at + 8 + 4 * (size_t)address) : 0;
}

void oracle_muon_bank(const oracle_muon_files *files, uint32_t board, const uint8_t *payload,
                      oracle_muon_tile *tiles, size_t *n)
{
    size_t at = (u16_at(payload) + 3) & ~(size_t)1;
    for (int block = 0; block < 4; block++) {
        const uint32_t count = u16_at(payload + 2 * at++);
        for (uint32_t i = 0; i < count; i++, at++) {
            const uint32_t word = u16_at(payload + 2 * at);
            tiles[(*n)++] = (oracle_muon_tile){oracle_muon_address(files, board, word & 0xfff),
                                               (int)(word >> 12)};
        }
    }
}

/* ---- tables -------------------------------------------------------------------------------------- */

typedef struct cell_table {
    uint32_t G[16], H[16], offset[16];
    const uint8_t *size_x, *size_y, *xyz[4];
} cell_table;

static cell_table table_of(const oracle_muon_files *files, int which)
{
    const uint8_t *at = files->tables + 4;
    cell_table t;
    memset(&t, 0, sizeof t);
    for (int k = 0; k <= which; k++) {
        uint32_t *const lists[] = {t.G, t.H};
        for (int list = 0; list < 2; list++, at += 8 + 64) {
            for (size_t i = 0; i < 16; i++) {
                lists[list][i] = u32_at(at + 8 + 4 * i);
            }
        }
        t.size_x = at + 8;
        at += 8 + 4 * u64_at(at);
        t.size_y = at + 8;
        at += 8 + 4 * u64_at(at);
        for (size_t i = 0; i < 16; i++) {
            t.offset[i] = u32_at(at + 8 + 4 * i);
        }
        at += 8 + 64 + 8;
        for (int s = 0; s < 4; s++) {
            t.xyz[s] = at + 8;
            at += 8 + 12 * u64_at(at);
        }
    }
    return t;
}

/* Fields of a tile: y, x, quarter, region, station, grid in x and y. */
typedef struct fields {
    uint32_t y, x, quarter, region, station, G, H;
} fields;

static fields fields_of(uint32_t tile)
{
    return (fields){tile % 32,        tile / 32 % 128,    tile / 4096 % 4,     tile / 16384 % 4,
                    tile / 65536 % 4, tile / 262144 % 64, tile / 16777216 % 32};
}

static void place(const oracle_muon_files *files, int which, oracle_muon_hit *hit)
{
    const cell_table t = table_of(files, which);
    const fields f = fields_of(hit->tile);
    const uint32_t cell = 4 * f.station + f.region, G = t.G[cell], H = t.H[cell];
    const uint32_t start = f.quarter * 3 * G * H + (which == 0 ? 4 * f.region * 3 * G * H : t.offset[cell]);
    const uint32_t row = f.y < H ? G * f.y + f.x - G : G * H + 2 * G * (f.y - H) + f.x;
    uint32_t so = 0;
    for (uint32_t c = 0; c < cell; c++) {
        so += 24 * t.H[c];
    }
    const uint32_t size = so + 6 * H * f.quarter +
                          (f.y < H ? 2 * f.y + 2 * (f.x - G) / G : 4 * f.y - 2 * H + 2 * f.x / G);
    const uint8_t *xyz = t.xyz[f.station] + 12 * (size_t)(start + row);
    hit->x = f32_at(xyz);
    hit->y = f32_at(xyz + 4);
    hit->z = f32_at(xyz + 8);
    hit->dx = f32_at(t.size_x + 4 * (size_t)size);
    hit->dy = f32_at(t.size_y + 4 * (size_t)size);
}

/* ---- crossings ----------------------------------------------------------------------------------- */

static bool same_quarter(fields a, fields b)
{
    return a.station == b.station && a.region == b.region && a.quarter == b.quarter;
}

size_t oracle_muon_hits(const oracle_muon_files *files, const oracle_muon_tile *tiles, size_t n,
                        oracle_muon_hit *hits, size_t *crossings)
{
    const cell_table strips_x = table_of(files, 1), strips_y = table_of(files, 2);
    bool *crossed = calloc(n + 1, sizeof *crossed);
    size_t made = 0;
    *crossings = 0;
    for (size_t i = 0; crossed != NULL && i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            const fields a = fields_of(tiles[i].tile), b = fields_of(tiles[k].tile);
            const uint32_t cell = 4 * a.station + a.region;
            const bool pads = strips_x.G[cell] == strips_y.G[cell] && strips_x.H[cell] == strips_y.H[cell];
            if (pads || !same_quarter(a, b) || a.G != strips_x.G[cell] || a.H != strips_x.H[cell] ||
                b.G != strips_y.G[cell] || b.H != strips_y.H[cell] || a.x * b.G / a.G != b.x ||
                a.y != b.y * a.H / b.H) {
                continue;
            }
            crossed[i] = crossed[k] = true;
            hits[made] = (oracle_muon_hit){.tile = b.y + 32 * a.x + 4096 * a.quarter + 16384 * a.region +
                                                   65536 * a.station + 262144 * a.G + 16777216 * b.H,
                                           .time = tiles[i].time,
                                           .delta_time = tiles[i].time - tiles[k].time};
            place(files, 0, &hits[made++]);
            (*crossings)++;
        }
    }
    for (size_t i = 0; crossed != NULL && i < n; i++) {
        const fields a = fields_of(tiles[i].tile);
        const bool pad = a.region == 0 && a.station >= 2;
        if (!crossed[i]) {
            const uint32_t cell = 4 * a.station + a.region;
            hits[made] = (oracle_muon_hit){.tile = tiles[i].tile,
                                           .time = tiles[i].time,
                                           .delta_time = tiles[i].time,
                                           .uncrossed = pad ? 0 : 1};
            place(files, pad ? 0 : a.G == strips_x.G[cell] && a.H == strips_x.H[cell] ? 1 : 2, &hits[made++]);
        }
    }
    free(crossed);
    return made;
}
