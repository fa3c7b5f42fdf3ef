/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb's upstream tracker (UT) between the VELO and the magnet: four layers of silicon strips (x, u, v, x).
 * Where its boards and sectors are, and its hits. docs/formats/lhcb-hlt1.md. Frame: velo_types.h.
 */
#ifndef SLUICE_UT_TYPES_H
#define SLUICE_UT_TYPES_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of the UT's banks; `module` is the bank's source id, `offset` the bank's place in the event. */
#define SLC_FAULT_OF_UT(n) SLC_FAULT_CODE('u', 't', 'b', n)
enum {
    SLC_FAULT_UT_CHANNEL = SLC_FAULT_OF_UT(
        1), /* a strip that its board does not have, or where nothing is connected: the word was dropped */
    SLC_FAULT_UT_COUNTERS = SLC_FAULT_OF_UT(2), /* a lane's counter says "bad" (255): the bank was dropped */
};

enum {
    SLC_UT_LAYERS = 4,
    SLC_UT_BOARDS = 240,
    SLC_UT_HYBRIDS = 6,    /* of a board: lanes of version 4 */
    SLC_UT_SECTORS = 1048, /* in the order of ut_geometry.bin */
    SLC_UT_NO_SECTOR = 0xffff
};

/* ut_boards.bin and ut_geometry.bin. Entry 6 · board + hybrid of `sector` is the sector's index, or
 * SLC_UT_NO_SECTOR, of `channel` the channel id of its first strip. Of a sector: strip i of first_strip …
 * is at x (y = 0) x0 + k dx, z |z0| + k dz, and reaches from y0 + k dy_strip over dy, where k = i -
 * first_strip; z0 < 0 says that version 4 counts its strips the other way round. */
typedef struct slc_ut_geometry {
    uint32_t n_boards;
    uint32_t strips[SLC_UT_BOARDS]; /* of a hybrid; 0: the board is not used */
    uint16_t sector[SLC_UT_BOARDS * SLC_UT_HYBRIDS];
    uint32_t channel[SLC_UT_BOARDS * SLC_UT_HYBRIDS];
    uint32_t first_strip[SLC_UT_SECTORS];
    float pitch_mm[SLC_UT_SECTORS];
    float dy_mm[SLC_UT_SECTORS];
    float dx_strip_mm[SLC_UT_SECTORS], dy_strip_mm[SLC_UT_SECTORS], dz_strip_mm[SLC_UT_SECTORS];
    float x0_mm[SLC_UT_SECTORS], y0_mm[SLC_UT_SECTORS], z0_mm[SLC_UT_SECTORS];
    float cosine[SLC_UT_SECTORS];
} slc_ut_geometry;

/* dx/dy of the strips of layers 0 … 3. */
SLC_API extern const float slc_ut_dxdy[SLC_UT_LAYERS];

/* Hits, by layer, those of a layer by x. x and z are those at y = 0: at a height y the strip is at x + y ·
 * slc_ut_dxdy[layer]. y_begin may be above y_end. `weight` is 12 / pitch². Bits of `channel`: 0-8 strip,
 * 9 sector, 10-12 module, 13 face, 14-17 stave, 18-19 layer, 20 side, 21-22 type; LHCb's id has 3 in bits
 * 28-31 beside them. */
typedef struct slc_ut_hits {
    slc_columns head;
    float *x_mm;
    float *z_mm;
    float *y_begin_mm;
    float *y_end_mm;
    float *weight;
    uint32_t *channel;
    uint8_t *layer;
} slc_ut_hits;
SLC_API extern const slc_schema slc_ut_hits_schema;

#ifdef __cplusplus
}
#endif
#endif
