/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the pads and strips of the muon stations are, and what a word of the read-out is. Everything that the
 * decoder needs of an address is worked out here, once. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_MUON_GEOMETRY_H
#define SLUICE_MUON_GEOMETRY_H

#include <sluice/muon_types.h>

enum {
    SLC_MUON_TELL1 = 10,
    SLC_MUON_ADDRESSES = 4096,
    SLC_MUON_GROUPS = SLC_MUON_STATIONS * SLC_MUON_REGIONS * SLC_MUON_QUARTERS,
    SLC_MUON_FOI_VALUES = 96,
    SLC_MUON_UNCONNECTED = 0xffff
};

/* Fields of a tile's id. */
static inline uint32_t slc_muon_tile_y(uint32_t tile)
{
    return tile & 31;
}
static inline uint32_t slc_muon_tile_x(uint32_t tile)
{
    return tile >> 5 & 127;
}
static inline uint32_t slc_muon_tile_quarter(uint32_t tile)
{
    return tile >> 12 & 3;
}
static inline uint32_t slc_muon_tile_region(uint32_t tile)
{
    return tile >> 14 & 3;
}
static inline uint32_t slc_muon_tile_station(uint32_t tile)
{
    return tile >> 16 & 3;
}
static inline uint32_t slc_muon_tile_grid_x(uint32_t tile)
{
    return tile >> 18 & 63;
}
static inline uint32_t slc_muon_tile_grid_y(uint32_t tile)
{
    return tile >> 24 & 31;
}
static inline uint32_t slc_muon_tile(uint32_t group, uint32_t grid_x, uint32_t grid_y, uint32_t x, uint32_t y)
{
    const uint32_t quarter = group & 3, region = group >> 2 & 3, station = group >> 4;
    return y | x << 5 | quarter << 12 | region << 14 | station << 16 | grid_x << 18 | grid_y << 24;
}
/* Station, region and quarter in one number. */
static inline uint32_t slc_muon_tile_group(uint32_t tile)
{
    return slc_muon_tile_station(tile) << 4 | slc_muon_tile_region(tile) << 2 | slc_muon_tile_quarter(tile);
}

/* Centre and half sizes of a pad or strip. */
typedef struct slc_muon_place {
    float x_mm, y_mm, z_mm, dx_mm, dy_mm;
    uint32_t tile;
} slc_muon_place;

/* One of the grids of a station's region: a quarter is an L of three rectangles of x · y tiles. */
typedef struct slc_muon_grid {
    uint8_t x, y;
} slc_muon_grid;

/* What an address is. Two strips cross where their keys are equal; the pad where they do has the row
 * pad(first) + pad(second), modulo 2^24. */
typedef struct slc_muon_address {
    uint16_t place; /* of the tile itself, among `places`; SLC_MUON_UNCONNECTED */
    uint16_t key;
    uint32_t pad_and_slot; /* slot in the upper 8 bits: 2 · group + 1 for the second layout */
} slc_muon_address;

enum { SLC_MUON_PAD_MASK = 0xffffff, SLC_MUON_SLOT_SHIFT = 24 };

struct slc_muon_geometry {
    uint32_t n_addresses[SLC_MUON_TELL1];
    slc_muon_address address[SLC_MUON_TELL1][SLC_MUON_ADDRESSES];
    /* [group / 4]: the grids of strips, the finer in x first, and whether there are but pads. */
    slc_muon_grid first[SLC_MUON_GROUPS / 4], second[SLC_MUON_GROUPS / 4];
    bool pads_alone[SLC_MUON_GROUPS / 4];
    uint32_t n_places, n_pads, n_keys;
    uint32_t hits_per_tile;                  /* at most, of different tiles that cross each other */
    slc_muon_place *places;                  /* of what is connected */
    uint16_t *source;                        /* of places: where it is read out, 4096 · Tell1 + address */
    slc_muon_place *pads;                    /* of all groups, by row */
    uint32_t pad_begin[SLC_MUON_GROUPS + 1]; /* rows of a group */
    bool has_field_of_interest;
    float field_of_interest[SLC_MUON_STATIONS][3][2][SLC_MUON_REGIONS]; /* a, b, c of x and of y */
};

/* Reads the images of the two files. SLC_ERR_FORMAT names the file's part and byte; SLC_ERR_UNSUPPORTED a
 * version that is not 2; SLC_ERR_MEMORY. */
slc_status slc_muon_geometry_parse(const void *geometry_bytes, size_t geometry_size, const void *tables_bytes,
                                   size_t tables_size, slc_muon_geometry **geometry, slc_error *error);
/* muon_field_of_interest.bin: 96 floats. */
slc_status slc_muon_geometry_parse_foi(const void *bytes, size_t size, slc_muon_geometry *geometry,
                                       slc_error *error);
void slc_muon_geometry_free(slc_muon_geometry *geometry);

/* Row in `pads` of what is at x, y in a group's grid of pads. */
uint32_t slc_muon_pad_row(const slc_muon_geometry *geometry, uint32_t group, uint32_t x, uint32_t y);

#endif
