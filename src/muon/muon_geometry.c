/* SPDX-License-Identifier: Apache-2.0
 *
 * Geometry of the muon stations from LHCb's two files: muon_geometry.bin says which pad or strip an address
 * of the read-out is, muon_tables.bin where it is. A quarter of a region is an L: tiles with y < H have x
 * from G to 2 G - 1, those above x from 0.
 */
#include "muon/muon_geometry.h"
#include "base/bytes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELLS = SLC_MUON_STATIONS * SLC_MUON_REGIONS,
    TABLES = 3,
    PADS = 0,
    X_STRIPS = 1,
    Y_STRIPS = 2,
    VERSION = 2
};

/* One of the three tables, in the file's bytes. */
typedef struct table {
    uint32_t grid_x[CELLS], grid_y[CELLS], offset[CELLS];
    const uint8_t *size_x, *size_y; /* n_sizes floats */
    uint64_t n_sizes;
    uint64_t n[SLC_MUON_STATIONS]; /* places of a station, three floats each */
    const uint8_t *xyz[SLC_MUON_STATIONS];
} table;

typedef struct reader {
    const char *name;
    const uint8_t *bytes;
    size_t size, at;
    slc_error *error;
} reader;

__attribute__((format(printf, 3, 4))) static slc_status wrong(const reader *in, size_t at, const char *format,
                                                              ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return slc_fail(in->error, SLC_ERR_FORMAT, "%s: byte %zu: %s", in->name, at, text);
}

/* `n` items of `width` bytes; NULL where they are not there. */
static const uint8_t *take(reader *in, uint64_t n, size_t width)
{
    if (n > (in->size - in->at) / width) {
        return NULL;
    }
    const uint8_t *bytes = in->bytes + in->at;
    in->at += (size_t)n * width;
    return bytes;
}

/* A count; `want` 0: any number. */
static slc_status take_count(reader *in, const char *what, uint64_t want, uint64_t *n)
{
    const size_t at = in->at;
    const uint8_t *count = take(in, 1, 8);
    *n = 0;
    if (count == NULL) {
        return wrong(in, at, "the file ends where a count of %s must be", what);
    }
    *n = slc_load_u64(count);
    if (want != 0 && *n != want) {
        return wrong(in, at, "count of %s is %llu, must be %llu", what, (unsigned long long)*n,
                     (unsigned long long)want);
    }
    return SLC_OK;
}

/* A count, and so many items behind it. */
static slc_status take_counted(reader *in, const char *what, uint64_t want, size_t width, uint64_t *n,
                               const uint8_t **items)
{
    const size_t at = in->at;
    *n = 0;
    *items = NULL;
    const slc_status status = take_count(in, what, want, n);
    if (status != SLC_OK) {
        return status;
    }
    *items = take(in, *n, width);
    return *items != NULL ? SLC_OK
                          : wrong(in, at, "%llu %s do not fit into the file", (unsigned long long)*n, what);
}

static slc_status read_version(reader *in)
{
    const uint8_t *version = take(in, 1, 4);
    if (version == NULL) {
        return wrong(in, 0, "the file is shorter than its version");
    }
    if (slc_load_u32(version) != VERSION) {
        return slc_fail(in->error, SLC_ERR_UNSUPPORTED, "%s: version %u, only 2 can be read", in->name,
                        slc_load_u32(version));
    }
    return SLC_OK;
}

/* ---- muon_tables.bin ---------------------------------------------------------------------------- */

static slc_status read_grid(reader *in, const char *what, uint32_t most, uint32_t values[CELLS])
{
    const uint8_t *items = NULL;
    uint64_t n = 0;
    const slc_status status = take_counted(in, what, CELLS, 4, &n, &items);
    for (size_t i = 0; status == SLC_OK && i < CELLS; i++) {
        values[i] = slc_load_u32(items + 4 * i);
        if (values[i] > most || (most < UINT32_MAX && values[i] == 0)) {
            return wrong(in, (size_t)(items - in->bytes) + 4 * i, "%s[%zu] is %u, allowed are 1 to %u", what,
                         i, values[i], most);
        }
    }
    return status;
}

static slc_status check_floats(const reader *in, const char *what, const uint8_t *items, uint64_t n,
                               bool positive)
{
    const float most_mm = 3e4f;
    for (uint64_t i = 0; i < n; i++) {
        const float value = slc_load_f32(items + 4 * i);
        if (!(fabsf(value) <= most_mm) || (positive && !(value > 0))) {
            return wrong(in, (size_t)(items - in->bytes) + 4 * (size_t)i, "%s[%llu] = %g is no length", what,
                         (unsigned long long)i, (double)value);
        }
    }
    return SLC_OK;
}

/* First row of a cell, region `cell` % 4 of station `cell` / 4, in its station's list. */
static uint64_t row_begin(const table *t, uint32_t which, uint32_t cell)
{
    return which == PADS ? (uint64_t)12 * (cell % SLC_MUON_REGIONS) * t->grid_x[cell] * t->grid_y[cell]
                         : t->offset[cell];
}

static slc_status check_rows(const reader *in, const table *t, uint32_t which)
{
    uint64_t sizes = 0;
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        const uint64_t end = row_begin(t, which, cell) + (uint64_t)12 * t->grid_x[cell] * t->grid_y[cell];
        if (end > t->n[cell / SLC_MUON_REGIONS]) {
            return wrong(in, in->at, "table %u has %llu places of station %u, and region %u of it needs %llu",
                         which, (unsigned long long)t->n[cell / SLC_MUON_REGIONS], cell / SLC_MUON_REGIONS,
                         cell % SLC_MUON_REGIONS, (unsigned long long)end);
        }
        sizes += (uint64_t)24 * t->grid_y[cell];
    }
    return sizes <= t->n_sizes ? SLC_OK
                               : wrong(in, in->at, "table %u has %llu sizes, and its grids need %llu", which,
                                       (unsigned long long)t->n_sizes, (unsigned long long)sizes);
}

static slc_status read_table(reader *in, uint32_t which, table *t)
{
    uint64_t n = 0, n_sizes_y = 0;
    slc_status status = read_grid(in, "gridX", 63, t->grid_x);
    status = status == SLC_OK ? read_grid(in, "gridY", 15, t->grid_y) : status;
    status = status == SLC_OK ? take_counted(in, "sizeX", 0, 4, &t->n_sizes, &t->size_x) : status;
    status = status == SLC_OK ? check_floats(in, "sizeX", t->size_x, t->n_sizes, true) : status;
    status = status == SLC_OK ? take_counted(in, "sizeY", 0, 4, &n_sizes_y, &t->size_y) : status;
    status = status == SLC_OK ? check_floats(in, "sizeY", t->size_y, n_sizes_y, true) : status;
    if (status == SLC_OK && n_sizes_y < t->n_sizes) {
        t->n_sizes = n_sizes_y;
    }
    status = status == SLC_OK ? read_grid(in, "offset", UINT32_MAX, t->offset) : status;
    status = status == SLC_OK ? take_count(in, "stations", SLC_MUON_STATIONS, &n) : status;
    for (uint32_t s = 0; status == SLC_OK && s < SLC_MUON_STATIONS; s++) {
        status = take_counted(in, "places", 0, 12, &t->n[s], &t->xyz[s]);
        status = status == SLC_OK ? check_floats(in, "places", t->xyz[s], 3 * t->n[s], false) : status;
    }
    return status == SLC_OK ? check_rows(in, t, which) : status;
}

static slc_status read_tables(reader *in, table tables[TABLES])
{
    slc_status status = read_version(in);
    for (uint32_t which = 0; status == SLC_OK && which < TABLES; which++) {
        status = read_table(in, which, &tables[which]);
    }
    if (status == SLC_OK && in->at != in->size) {
        status = wrong(in, in->at, "%zu bytes behind the last table", in->size - in->at);
    }
    return status;
}

/* ---- places ------------------------------------------------------------------------------------- */

/* Is there such a tile in the L of this grid? */
static bool inside(uint32_t grid_x, uint32_t grid_y, uint32_t x, uint32_t y)
{
    return x < 2 * grid_x && y < 2 * grid_y && (y >= grid_y || x >= grid_x);
}

/* Number of a tile of the L: the part beside the hole row by row, then the part above. */
static uint32_t tile_row(uint32_t grid_x, uint32_t grid_y, uint32_t x, uint32_t y)
{
    return y < grid_y ? grid_x * y + x - grid_x : grid_x * grid_y + 2 * grid_x * (y - grid_y) + x;
}

static slc_muon_place place_of(const table *t, uint32_t which, uint32_t group, uint32_t x, uint32_t y)
{
    const uint32_t cell = group >> 2, quarter = group & 3, G = t->grid_x[cell], H = t->grid_y[cell];
    const uint64_t row = row_begin(t, which, cell) + (uint64_t)quarter * 3 * G * H + tile_row(G, H, x, y);
    const uint8_t *xyz = t->xyz[group >> 4] + 12 * row;
    uint64_t size = (uint64_t)6 * H * quarter + (y < H ? 2 * y + 2 * (x - G) / G : 4 * y - 2 * H + 2 * x / G);
    for (uint32_t before = 0; before < cell; before++) {
        size += (uint64_t)24 * t->grid_y[before];
    }
    return (slc_muon_place){.x_mm = slc_load_f32(xyz),
                            .y_mm = slc_load_f32(xyz + 4),
                            .z_mm = slc_load_f32(xyz + 8),
                            .dx_mm = slc_load_f32(t->size_x + 4 * size),
                            .dy_mm = slc_load_f32(t->size_y + 4 * size),
                            .tile = slc_muon_tile(group, G, H, x, y)};
}

uint32_t slc_muon_pad_row(const slc_muon_geometry *geometry, uint32_t group, uint32_t x, uint32_t y)
{
    return geometry->pad_begin[group] +
           tile_row(geometry->first[group >> 2].x, geometry->second[group >> 2].y, x, y);
}

/* The grids of strips of each region, and a row for each pad. */
static slc_status lay_pads(const table tables[TABLES], slc_muon_geometry *geometry, slc_error *error)
{
    geometry->n_pads = 0;
    geometry->hits_per_tile = 1;
    for (uint32_t group = 0; group < SLC_MUON_GROUPS; group++) {
        const uint32_t cell = group >> 2;
        const slc_muon_grid pads = {(uint8_t)tables[PADS].grid_x[cell], (uint8_t)tables[PADS].grid_y[cell]};
        slc_muon_grid first = {(uint8_t)tables[X_STRIPS].grid_x[cell],
                               (uint8_t)tables[X_STRIPS].grid_y[cell]};
        slc_muon_grid second = {(uint8_t)tables[Y_STRIPS].grid_x[cell],
                                (uint8_t)tables[Y_STRIPS].grid_y[cell]};
        const bool alone = first.x == second.x && first.y == second.y;
        if (first.x != pads.x || second.y != pads.y || first.x % second.x != 0 || second.y % first.y != 0) {
            return slc_fail(
                error, SLC_ERR_FORMAT,
                "muon_tables.bin: grids of region %u of M%u: strips of %u x %u and %u x %u do not cross in "
                "pads of %u x %u",
                cell % SLC_MUON_REGIONS, cell / SLC_MUON_REGIONS + 2, first.x, first.y, second.x, second.y,
                pads.x, pads.y);
        }
        /* So many strips of each layout meet in one place of the coarser grid. */
        const uint32_t a = first.x / second.x, b = second.y / first.y, most = (a * b + a + b - 1) / (a + b);
        geometry->hits_per_tile = most > geometry->hits_per_tile ? most : geometry->hits_per_tile;
        geometry->first[cell] = first;
        geometry->second[cell] = second;
        geometry->pads_alone[cell] = alone;
        geometry->pad_begin[group] = geometry->n_pads;
        geometry->n_pads += 3U * pads.x * pads.y;
    }
    geometry->pad_begin[SLC_MUON_GROUPS] = geometry->n_pads;
    geometry->pads = calloc(geometry->n_pads, sizeof *geometry->pads);
    if (geometry->pads == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "muon_tables.bin: no memory");
    }
    for (uint32_t group = 0; group < SLC_MUON_GROUPS; group++) {
        const uint32_t G = geometry->first[group >> 2].x, H = geometry->second[group >> 2].y;
        for (uint32_t y = 0; y < 2 * H; y++) {
            for (uint32_t x = y < H ? G : 0; x < 2 * G; x++) {
                geometry->pads[slc_muon_pad_row(geometry, group, x, y)] = place_of(&tables[PADS], PADS, group,
                                                                                   x, y);
            }
        }
    }
    return SLC_OK;
}

/* ---- muon_geometry.bin -------------------------------------------------------------------------- */

/* What is at an address: where it is, and what it crosses. NULL, or what is wrong with the tile. */
static const char *connect(const table tables[TABLES], slc_muon_geometry *geometry, const uint32_t *key_begin,
                           uint32_t tile, slc_muon_address *address)
{
    const uint32_t group = slc_muon_tile_group(tile), cell = group >> 2;
    const uint32_t x = slc_muon_tile_x(tile), y = slc_muon_tile_y(tile);
    const uint32_t G = slc_muon_tile_grid_x(tile), H = slc_muon_tile_grid_y(tile);
    const slc_muon_grid first = geometry->first[cell], second = geometry->second[cell];
    const bool is_first = G == first.x && H == first.y,
               is_second = !is_first && G == second.x && H == second.y;
    if (tile >> 29 != 0 || (!is_first && !is_second)) {
        return "has a grid that its region has not";
    }
    if (!inside(G, H, x, y)) {
        return "lies outside its grid";
    }
    const uint32_t which = geometry->pads_alone[cell] ? PADS : is_first ? X_STRIPS : Y_STRIPS;
    /* Both strips in the coarser grid of the two in x and in y: there they cross where they are equal. */
    const uint32_t key_x = is_first ? x * second.x / first.x : x,
                   key_y = is_first ? y : y * first.y / second.y;
    geometry->places[geometry->n_places] = place_of(&tables[which], which, group, x, y);
    const uint32_t slot = 2 * group + (is_second ? 1 : 0);
    const uint32_t pad = is_first ? x : slc_muon_pad_row(geometry, group, 0, y);
    *address = (slc_muon_address){.place = (uint16_t)geometry->n_places++,
                                  .key = (uint16_t)(key_begin[group] + key_y * 2 * second.x + key_x),
                                  .pad_and_slot = (pad & SLC_MUON_PAD_MASK) | slot << SLC_MUON_SLOT_SHIFT};
    return NULL;
}

/* Keys of every group's crossings, one after the other. */
static uint32_t number_keys(const slc_muon_geometry *geometry, uint32_t key_begin[SLC_MUON_GROUPS])
{
    uint32_t n = 0;
    for (uint32_t group = 0; group < SLC_MUON_GROUPS; group++) {
        key_begin[group] = n;
        n += 4U * geometry->second[group >> 2].x * geometry->first[group >> 2].y;
    }
    return n;
}

static int by_tile(const void *a, const void *b)
{
    const slc_muon_place *p = a, *q = b;
    return (p->tile > q->tile) - (p->tile < q->tile);
}

/* A tile with two addresses would be dropped as sent twice. */
static slc_status check_once(const reader *in, const slc_muon_geometry *geometry)
{
    slc_muon_place *sorted = malloc(geometry->n_places * sizeof *sorted);
    if (sorted == NULL) {
        return slc_fail(in->error, SLC_ERR_MEMORY, "%s: no memory", in->name);
    }
    memcpy(sorted, geometry->places, geometry->n_places * sizeof *sorted);
    qsort(sorted, geometry->n_places, sizeof *sorted, by_tile);
    slc_status status = SLC_OK;
    for (uint32_t i = 1; i < geometry->n_places && status == SLC_OK; i++) {
        if (sorted[i].tile == sorted[i - 1].tile) {
            status = wrong(in, in->size, "tile 0x%08x has two addresses", sorted[i].tile);
        }
    }
    free(sorted);
    return status;
}

static slc_status read_board(reader *in, const table tables[TABLES], slc_muon_geometry *geometry,
                             const uint32_t *key_begin, uint32_t board)
{
    const uint8_t *items = NULL;
    uint64_t n = 0;
    const slc_status status = take_counted(in, "addresses", 0, 4, &n, &items);
    if (status != SLC_OK) {
        return status;
    }
    if (n > SLC_MUON_ADDRESSES) {
        return wrong(in, (size_t)(items - in->bytes) - 8,
                     "Tell1 %u has %llu addresses, at most 4096 can be sent", board, (unsigned long long)n);
    }
    geometry->n_addresses[board] = (uint32_t)n;
    for (uint32_t a = 0; a < n; a++) {
        const uint32_t tile = slc_load_u32(items + 4 * (size_t)a);
        const uint32_t place = geometry->n_places;
        const char *why = tile != 0 ? connect(tables, geometry, key_begin, tile, &geometry->address[board][a])
                                    : NULL;
        if (why != NULL) {
            return wrong(in, (size_t)(items - in->bytes) + 4 * (size_t)a, "tile 0x%08x %s", tile, why);
        }
        if (tile != 0) {
            geometry->source[place] = (uint16_t)(board * SLC_MUON_ADDRESSES + a);
        }
    }
    return SLC_OK;
}

static slc_status read_boards(reader *in, const table tables[TABLES], slc_muon_geometry *geometry)
{
    uint32_t key_begin[SLC_MUON_GROUPS];
    slc_status status = read_version(in);
    const uint8_t *count = status == SLC_OK ? take(in, 1, 8) : NULL;
    if (status == SLC_OK && (count == NULL || slc_load_u64(count) != SLC_MUON_TELL1)) {
        return wrong(in, 4, "count of Tell1 boards must be %d", SLC_MUON_TELL1);
    }
    geometry->n_keys = number_keys(geometry, key_begin);
    if (geometry->n_keys > UINT16_MAX) {
        return wrong(in, 0, "grids of muon_tables.bin have %u crossings of strips", geometry->n_keys);
    }
    for (uint32_t board = 0; status == SLC_OK && board < SLC_MUON_TELL1; board++) {
        status = read_board(in, tables, geometry, key_begin, board);
    }
    if (status == SLC_OK && in->at != in->size) {
        status = wrong(in, in->at, "%zu bytes behind the last board", in->size - in->at);
    }
    return status == SLC_OK ? check_once(in, geometry) : status;
}

slc_status slc_muon_geometry_parse(const void *geometry_bytes, size_t geometry_size, const void *tables_bytes,
                                   size_t tables_size, slc_muon_geometry **geometry, slc_error *error)
{
    enum { PLACES = SLC_MUON_TELL1 * SLC_MUON_ADDRESSES };
    reader boards = {"muon_geometry.bin", geometry_bytes, geometry_size, 0, error};
    reader places = {"muon_tables.bin", tables_bytes, tables_size, 0, error};
    table tables[TABLES] = {0};
    *geometry = NULL;
    slc_status status = read_tables(&places, tables);
    if (status != SLC_OK) {
        return status;
    }
    slc_muon_geometry *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->places = calloc(PLACES, sizeof *made->places);
        made->source = calloc(PLACES, sizeof *made->source);
    }
    if (made == NULL || made->places == NULL || made->source == NULL) {
        slc_muon_geometry_free(made);
        return slc_fail(error, SLC_ERR_MEMORY, "muon_geometry.bin: no memory");
    }
    for (uint32_t board = 0; board < SLC_MUON_TELL1; board++) {
        for (uint32_t a = 0; a < SLC_MUON_ADDRESSES; a++) {
            made->address[board][a].place = SLC_MUON_UNCONNECTED;
        }
    }
    status = lay_pads(tables, made, error);
    status = status == SLC_OK ? read_boards(&boards, tables, made) : status;
    if (status != SLC_OK) {
        slc_muon_geometry_free(made);
        return status;
    }
    *geometry = made;
    return SLC_OK;
}

slc_status slc_muon_geometry_parse_foi(const void *bytes, size_t size, slc_muon_geometry *geometry,
                                       slc_error *error)
{
    const uint8_t *at = bytes;
    float values[SLC_MUON_FOI_VALUES];
    if (size != sizeof values) {
        return slc_fail(error, SLC_ERR_FORMAT, "muon_field_of_interest.bin: %zu bytes, must be %zu", size,
                        sizeof values);
    }
    for (size_t i = 0; i < SLC_MUON_FOI_VALUES; i++) {
        values[i] = slc_load_f32(at + 4 * i);
        if (!(fabsf(values[i]) <= 1e4f)) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "muon_field_of_interest.bin: byte %zu: %g is no size of a window", 4 * i,
                            (double)values[i]);
        }
    }
    memcpy(geometry->field_of_interest, values, sizeof values);
    geometry->has_field_of_interest = true;
    return SLC_OK;
}

void slc_muon_geometry_free(slc_muon_geometry *geometry)
{
    if (geometry != NULL) {
        free(geometry->places);
        free(geometry->source);
        free(geometry->pads);
        free(geometry);
    }
}
