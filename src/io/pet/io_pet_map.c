/* SPDX-License-Identifier: Apache-2.0
 *
 * Where crystals are: crystal maps of SAFIR (text) and tables of CASToR (.hscan, .lut). docs/formats/
 * pet-safir.md, docs/formats/pet-castor.md.
 */
#include "base/bytes.h"
#include "io/io_stream.h"
#include "io/pet/io_pet_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, MAX_RINGS = 65536, MAX_DETECTORS = 65536, MAX_LAYERS = 256 };
#define MAX_BYTES ((size_t)1 << 32)

typedef struct row {
    uint32_t ring, detector, layer;
    float position[3];
} row;

typedef struct rows {
    row *at;
    size_t n, capacity;
} rows;

/* ---- lines ------------------------------------------------------------------------------------- */

/* All numbers of a line, 7 at most; -1 where something else is in it. */
static int numbers(const char *line, double value[7])
{
    int n = 0;
    for (const char *at = line + strspn(line, " \t\r"); *at != '\0'; n++) {
        char *end = NULL;
        const double number = strtod(at, &end);
        if (n == 7 || end == at || !isfinite(number) || (*end != '\0' && strchr(" \t\r", *end) == NULL)) {
            return -1;
        }
        value[n] = number;
        at = end + strspn(end, " \t\r");
    }
    return n;
}

static bool whole(double value, uint32_t below, uint32_t *number)
{
    if (!(value >= 0 && value < below) || value != floor(value)) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

/* False where the line is no row. */
static bool take(const double value[7], int n, row *r)
{
    const int at = n - 3;
    if (n != 5 && n != 6) {
        return false;
    }
    r->layer = 0;
    for (int k = 0; k < 3; k++) {
        r->position[k] = (float)value[at + k];
        if (!isfinite(r->position[k])) {
            return false;
        }
    }
    return whole(value[0], MAX_RINGS, &r->ring) && whole(value[1], MAX_DETECTORS, &r->detector) &&
           (n == 5 || whole(value[2], MAX_LAYERS, &r->layer));
}

static bool append(rows *all, const row *r)
{
    if (all->n == all->capacity) {
        const size_t capacity = all->capacity != 0 ? 2 * all->capacity : 1024;
        row *at = realloc(all->at, capacity * sizeof *at);
        if (at == NULL) {
            return false;
        }
        all->at = at;
        all->capacity = capacity;
    }
    all->at[all->n++] = *r;
    return true;
}

static slc_status read_rows(const char *text, size_t size, const char *name, rows *all, slc_error *error)
{
    int fields = 0;
    uint64_t number = 1;
    for (size_t at = 0; at < size; number++) {
        char line[LINE];
        double value[7];
        const char *end = memchr(text + at, '\n', size - at);
        const size_t n = end != NULL ? (size_t)(end - text) - at : size - at;
        if (n >= LINE || end == NULL || memchr(text + at, 0, n) != NULL) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: line %llu: %s", name, (unsigned long long)number,
                            n >= LINE     ? "longer than 511 bytes"
                            : end == NULL ? "cut: the file does not end with an end of line"
                                          : "a zero byte; a map is text");
        }
        memcpy(line, text + at, n);
        line[n] = '\0';
        at += n + 1;
        line[strcspn(line, "#")] = '\0';
        row r;
        const int found = numbers(line, value);
        if (found == 0) {
            continue;
        }
        if (!take(value, found, &r) || (fields != 0 && found != fields)) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: line %llu: neither \"ring detector x y z\" nor with a layer before x, or "
                            "not as the lines before",
                            name, (unsigned long long)number);
        }
        fields = found;
        if (!append(all, &r)) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its crystals", name);
        }
    }
    return all->n > 0 ? SLC_OK : slc_fail(error, SLC_ERR_FORMAT, "%s: no crystals in it", name);
}

/* ---- maps -------------------------------------------------------------------------------------- */

/* Rows in any order to a full table: each crystal once. */
static slc_status arrange(const rows *all, const char *name, slc_io_pet_map *map, slc_error *error)
{
    for (size_t i = 0; i < all->n; i++) {
        const row *r = &all->at[i];
        map->rings = r->ring >= map->rings ? r->ring + 1 : map->rings;
        map->crystals_per_ring = r->detector >= map->crystals_per_ring ? r->detector + 1
                                                                       : map->crystals_per_ring;
        map->layers = r->layer >= map->layers ? r->layer + 1 : map->layers;
    }
    if (all->n == 0 || (uint64_t)map->rings * map->crystals_per_ring * map->layers != all->n) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: %zu crystals; %u rings of %u in %u layers are another "
                        "number",
                        name, all->n, map->rings, map->crystals_per_ring, map->layers);
    }
    map->crystals = all->n;
    map->position_mm = malloc(all->n * 3 * sizeof *map->position_mm);
    uint8_t *seen = calloc(all->n, 1);
    if (map->position_mm == NULL || seen == NULL) {
        free(seen);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its crystals", name);
    }
    slc_status status = SLC_OK;
    for (size_t i = 0; i < all->n && status == SLC_OK; i++) {
        const row *r = &all->at[i];
        const size_t c = ((size_t)r->layer * map->rings + r->ring) * map->crystals_per_ring + r->detector;
        if (seen[c]++ != 0) {
            status = slc_fail(error, SLC_ERR_FORMAT, "%s: ring %u, detector %u, layer %u is there twice",
                              name, r->ring, r->detector, r->layer);
        }
        memcpy(map->position_mm + 3 * c, r->position, sizeof r->position);
    }
    free(seen);
    return status;
}

slc_status slc_io_pet_map_parse(const void *bytes, size_t size, const char *name, slc_io_pet_map *map,
                                slc_error *error)
{
    *map = (slc_io_pet_map){0};
    rows all = {0};
    slc_status status = read_rows(bytes, size, name, &all, error);
    status = status == SLC_OK ? arrange(&all, name, map, error) : status;
    free(all.at);
    if (status != SLC_OK) {
        slc_io_pet_map_clear(map);
    }
    return status;
}

/* ---- CASToR's table ---------------------------------------------------------------------------- */

static slc_status take_lut(const uint8_t *bytes, size_t size, const char *name, slc_io_pet_map *map,
                           slc_error *error)
{
    if (size != map->crystals * 24) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: %zu bytes; %zu crystals of 6 floats have %zu", name, size,
                        map->crystals, map->crystals * 24);
    }
    map->position_mm = malloc(size / 2);
    map->orientation = malloc(size / 2);
    if (map->position_mm == NULL || map->orientation == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its crystals", name);
    }
    for (size_t c = 0; c < map->crystals; c++) {
        for (size_t k = 0; k < 3; k++) {
            const float x = slc_load_f32(bytes + 24 * c + 4 * k);
            const float u = slc_load_f32(bytes + 24 * c + 12 + 4 * k);
            if (!isfinite(x) || !isfinite(u)) {
                return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %zu: a number of crystal %zu is none", name,
                                24 * c + 4 * k + (isfinite(x) ? 12 : 0), c);
            }
            map->position_mm[3 * c + k] = x;
            map->orientation[3 * c + k] = u;
        }
    }
    return SLC_OK;
}

static slc_status read_lut(const char *path, slc_io_pet_map *map, slc_error *error)
{
    char *header = NULL, *lut = strdup(path);
    void *bytes = NULL;
    size_t size = 0;
    uint32_t crystals = 0;
    if (lut == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    }
    (void)memcpy(lut + strlen(lut) - strlen(".hscan"), ".lut", sizeof ".lut");
    slc_status status = slc_io_pet_header_read(path, &header, error);
    if (status == SLC_OK) {
        status = slc_io_pet_header_count(header, ':', "number of elements", path, 1, INT32_MAX, &crystals,
                                         error);
        status = status == SLC_END
                     ? slc_fail(error, SLC_ERR_FORMAT, "%s: there is no \"number of elements\"", path)
                     : status;
    }
    map->crystals = crystals;
    status = status == SLC_OK ? slc_io_read_file(lut, MAX_BYTES, &bytes, &size, error) : status;
    status = status == SLC_OK ? take_lut(bytes, size, lut, map, error) : status;
    free(bytes);
    free(header);
    free(lut);
    return status;
}

slc_status slc_io_pet_map_read(const char *path, slc_io_pet_map *map, slc_error *error)
{
    *map = (slc_io_pet_map){0};
    if (slc_io_pet_ends_in(path, ".hscan")) {
        const slc_status status = read_lut(path, map, error);
        if (status != SLC_OK) {
            slc_io_pet_map_clear(map);
        }
        return status;
    }
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    status = status == SLC_OK ? slc_io_pet_map_parse(bytes, size, path, map, error) : status;
    free(bytes);
    return status;
}

void slc_io_pet_map_clear(slc_io_pet_map *map)
{
    free(map->position_mm);
    free(map->orientation);
    *map = (slc_io_pet_map){0};
}
