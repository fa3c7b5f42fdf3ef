/* SPDX-License-Identifier: Apache-2.0
 *
 * The SciFi's words of versions 4 and 5 where nothing is wrong with them, which is nearly always: in a bank
 * they rise, and a module's four mats lie in x as their channels do, or the other way round. So the pieces
 * that banks are of stand in a list by zone and x, once; an event goes through it and has its words sorted,
 * which become hits a zone at a time. That it was so is looked at in the hits; where it was not, the caller
 * takes word by word.
 */
#ifndef SLUICE_SCIFI_PLACE_H
#define SLUICE_SCIFI_PLACE_H

#include "simd/simd_kernel.h"
#include <sluice/lhcb.h>
#include <sluice/scifi_types.h>

enum {
    SLC_SCIFI_WORDS_AT = 4,   /* bytes before the words of a bank */
    SLC_SCIFI_PLAIN_SIZE = 4, /* of a cluster that is not flagged */
    SLC_SCIFI_MODULES = SLC_SCIFI_MATS / 4,
    SLC_SCIFI_ZONE_MATS = SLC_SCIFI_MATS / SLC_SCIFI_ZONES,
    SLC_SCIFI_PIECES = SLC_SCIFI_BANKS + SLC_SCIFI_MODULES, /* at most: each begins a bank or a module */
    SLC_SCIFI_SPARE = 128,                                  /* lanes of two of the widest vectors */
    SLC_SCIFI_SPARE_BYTES = 4 * SLC_SCIFI_SPARE
};

/* What places hits, of the mats of a zone. */
enum {
    SLC_SCIFI_MAT_MIRROR = 0, /* x, y, z */
    SLC_SCIFI_MAT_U_BEGIN = SLC_SCIFI_MAT_MIRROR + 3,
    SLC_SCIFI_MAT_HALF_PITCH,
    SLC_SCIFI_MAT_DIE_GAP,
    SLC_SCIFI_MAT_SIPM_PITCH,
    SLC_SCIFI_MAT_DD,
    SLC_SCIFI_MAT_DXDY = SLC_SCIFI_MAT_DD + 3,
    SLC_SCIFI_MAT_DZDY,
    SLC_SCIFI_MAT_NUMBERS
};
typedef struct slc_scifi_zone {
    float number[SLC_SCIFI_MAT_NUMBERS][SLC_SCIFI_ZONE_MATS];
    float spare[SLC_SCIFI_SPARE / 2]; /* may be read behind the numbers */
    bool alike;                       /* are its mats but for their mirrors */
} slc_scifi_zone;

/* What modules that follow each other in x have of a bank: cells low … low + span - 1, of which cell c is
 * channel first + c. */
typedef struct slc_scifi_piece {
    uint32_t first, low, span;
    uint8_t zone;
    bool falls; /* x, as channels rise */
} slc_scifi_piece;

/* n words of a piece, little-endian, of 16 bits; SLC_SCIFI_SPARE_BYTES behind them may be read. */
typedef struct slc_scifi_extent {
    const uint8_t *words;
    uint32_t n;
} slc_scifi_extent;

typedef struct slc_scifi_place_in {
    const slc_scifi_piece *pieces; /* by zone and x */
    size_t n_pieces;
    const slc_scifi_zone *zones;     /* SLC_SCIFI_ZONES */
    const slc_scifi_extent *extents; /* of each piece */
} slc_scifi_place_in;

typedef struct slc_scifi_kernels {
    const char *target;
    /* Writes hits from `row` on. False: a cell is not of its piece, or hits of a zone do not rise in x.
     * `words` is scratch for as many words of 32 bits, with a spare vector. */
    bool (*place)(const slc_scifi_place_in *in, const slc_scifi_hits *hits, size_t row, uint32_t *words);
} slc_scifi_kernels;

/* The table of a target that is compiled in. */
const slc_scifi_kernels *slc_scifi_kernels_of(slc_simd_target target);
extern const slc_simd_kernel slc_scifi_kernel_rows[2]; /* ends with a row whose name is NULL */

/* A detector's pieces, and what an event has of them. */
typedef struct slc_scifi_pieces {
    const slc_scifi_kernels *kernels;
    size_t n;
    slc_scifi_piece piece[SLC_SCIFI_PIECES];
    uint16_t first_slot[SLC_SCIFI_BANKS + 1]; /* of a bank, whose pieces have slots by channel */
    uint16_t of_slot[SLC_SCIFI_PIECES];       /* the piece */
    uint32_t ends[SLC_SCIFI_PIECES];          /* by slot: the cell behind the piece's last one */
    slc_scifi_extent extents[SLC_SCIFI_PIECES];
    slc_scifi_zone zones[SLC_SCIFI_ZONES];
} slc_scifi_pieces;

/* `target` is a choice of slc_simd_choose. */
void slc_scifi_pieces_make(const slc_scifi_geometry *geometry, slc_simd_target target,
                           slc_scifi_pieces *pieces);

/* The event's hits behind those that are there, without its end. False: something is not as it should be, and
 * nothing was added. `copies` and `words` are scratch of as many words of 32 bits as there may be hits, and
 * SLC_SCIFI_SPARE more. */
bool slc_scifi_pieces_run(slc_scifi_pieces *pieces, const slc_lhcb_bank *banks, size_t n_banks,
                          uint32_t *copies, uint32_t *words, slc_scifi_hits *hits);

#endif
