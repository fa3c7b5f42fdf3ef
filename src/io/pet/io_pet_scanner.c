/* SPDX-License-Identifier: Apache-2.0
 *
 * Scanners by name, in words, or of a file: tables of crystals as CSV (docs/formats/pet-tables.md), and the
 * scanner of tables in HDF5. The first line names the columns, in any order; each further line is a crystal.
 * Nothing is skipped, so that line n + 1 is row n.
 */
#include "io/io_stream.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 64, FIELD = 48 };
#define MAX_BYTES ((size_t)1 << 32)

/* Columns, in the order of the members of a row; of the last two either may be absent. */
enum { MODULE = 0, UNIT, CRYSTAL, X, NORMAL = 6, AXIS = 9, LAYER = 12, DEPTH, COLUMNS };
static const char *const columns[COLUMNS] = {"module", "unit",     "crystal",  "x_mm",     "y_mm",
                                             "z_mm",   "normal_x", "normal_y", "normal_z", "axis_x",
                                             "axis_y", "axis_z",   "layer",    "depth_mm"};

typedef struct table {
    const char *name;
    slc_error *error;
    int column[MOST_COLUMNS]; /* which of them a field is */
    size_t n_columns;
    uint64_t line; /* from 1 */
    slc_pet_crystal_row *row;
    size_t n, capacity;
    double depth_mm;
} table;

/* ---- fields ------------------------------------------------------------------------------------ */

/* The next field of a line, without blanks around it; false where it is longer than any number. *at goes on
 * behind it, or to NULL behind the last. */
static bool next_field(const char **at, const char *end, char field[FIELD])
{
    const char *from = *at, *comma = memchr(from, ',', (size_t)(end - from));
    const char *to = comma != NULL ? comma : end;
    *at = comma != NULL ? comma + 1 : NULL;
    while (from < to && (*from == ' ' || *from == '\t')) {
        from++;
    }
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r')) {
        to--;
    }
    const size_t size = (size_t)(to - from);
    if (size >= FIELD) {
        return false;
    }
    memcpy(field, from, size);
    field[size] = '\0';
    return memchr(field, 0, size) == NULL;
}

static slc_status wrong_line(const table *t, const char *what)
{
    return slc_fail(t->error, SLC_ERR_FORMAT, "%s: line %llu: %s", t->name, (unsigned long long)t->line,
                    what);
}

static slc_status read_head(table *t, const char *line, const char *end)
{
    bool seen[COLUMNS] = {false};
    char field[FIELD];
    line += end - line >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* a mark of UTF-8 */
    line += line < end && *line == '#';                                      /* as NumPy writes it */
    for (const char *at = line; at != NULL; t->n_columns++) {
        int c = 0;
        const bool read = t->n_columns < MOST_COLUMNS && next_field(&at, end, field);
        while (read && c < COLUMNS && strcmp(field, columns[c]) != 0) {
            c++;
        }
        if (!read || c == COLUMNS || seen[c]) {
            slc_io_printable(field);
            return !read ? wrong_line(t, "it does not name columns of crystals")
                         : slc_fail(t->error, SLC_ERR_FORMAT, "%s: line 1: column '%s' is %s", t->name, field,
                                    c < COLUMNS ? "there twice" : "none of a table of crystals");
        }
        t->column[t->n_columns] = c;
        seen[c] = true;
    }
    for (int c = 0; c < LAYER; c++) {
        if (!seen[c]) {
            return slc_fail(t->error, SLC_ERR_FORMAT, "%s: line 1: there is no column '%s'", t->name,
                            columns[c]);
        }
    }
    return SLC_OK;
}

/* One value to where it belongs; false where it is no number, or none of the kind. */
static bool take(slc_pet_crystal_row *r, int column, const char *field, double *depth_mm)
{
    char *end = NULL;
    const double value = strtod(field, &end);
    if (end == field || *end != '\0' || !isfinite(value)) {
        return false;
    }
    uint32_t *const whole = column == MODULE    ? &r->module
                            : column == UNIT    ? &r->unit
                            : column == CRYSTAL ? &r->crystal
                            : column == LAYER   ? &r->layer
                                                : NULL;
    if (whole != NULL) {
        *whole = value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
        return value >= 0 && value <= UINT32_MAX && value == floor(value);
    }
    double *const real = column == DEPTH    ? depth_mm
                         : column >= AXIS   ? &r->axis[column - AXIS]
                         : column >= NORMAL ? &r->normal[column - NORMAL]
                                            : &r->position_mm[column - X];
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
    *real = value;
    return true;
}

static slc_status read_row(table *t, const char *line, const char *end)
{
    slc_pet_crystal_row r = {.layer = 0};
    double depth_mm = t->n > 0 ? t->depth_mm : 0;
    char field[FIELD] = "";
    size_t n = 0;
    for (const char *at = line; at != NULL; n++) {
        if (n == t->n_columns) {
            return wrong_line(t, "more fields than the first line names columns");
        }
        if (!next_field(&at, end, field)) {
            return wrong_line(t, "a field that is no number");
        }
        if (!take(&r, t->column[n], field, &depth_mm)) {
            slc_io_printable(field);
            return slc_fail(t->error, SLC_ERR_FORMAT, "%s: line %llu: '%s' cannot be %s", t->name,
                            (unsigned long long)t->line, field, columns[t->column[n]]);
        }
    }
    if (n < t->n_columns) {
        return wrong_line(t, "fewer fields than the first line names columns");
    }
    if (t->n > 0 && depth_mm != t->depth_mm) {
        return wrong_line(t, "another depth_mm than in the lines before: crystals are of one");
    }
    t->depth_mm = depth_mm;
    t->row[t->n++] = r;
    return SLC_OK;
}

/* ---- files ------------------------------------------------------------------------------------- */

static slc_status make_room(table *t)
{
    if (t->n < t->capacity) {
        return SLC_OK;
    }
    const size_t capacity = t->capacity != 0 ? 2 * t->capacity : 1024;
    slc_pet_crystal_row *row = realloc(t->row, capacity * sizeof *row);
    if (row == NULL) {
        return slc_fail(t->error, SLC_ERR_MEMORY, "%s: no memory for its crystals", t->name);
    }
    t->row = row;
    t->capacity = capacity;
    return SLC_OK;
}

static slc_status read_lines(table *t, const char *text, size_t size)
{
    slc_status status = SLC_OK;
    for (size_t at = 0; at < size && status == SLC_OK;) {
        const char *line = text + at, *end = memchr(line, '\n', size - at);
        t->line++;
        if (end == NULL) {
            return wrong_line(t, "cut: the file does not end with an end of line");
        }
        at += (size_t)(end - line) + 1;
        status = make_room(t);
        if (status == SLC_OK) {
            status = t->line == 1 ? read_head(t, line, end) : read_row(t, line, end);
        }
    }
    if (status == SLC_OK && t->n == 0) {
        status = slc_fail(t->error, SLC_ERR_FORMAT, "%s: no crystals in it", t->name);
    }
    return status;
}

slc_status slc_io_pet_scanner_parse(const void *bytes, size_t size, const char *name,
                                    slc_pet_geometry *geometry, slc_error *error)
{
    table t = {.name = name, .error = error};
    slc_error reason = {.status = SLC_OK};
    slc_status status = read_lines(&t, bytes, size);
    if (status == SLC_OK) {
        status = slc_pet_layout_make(t.row, t.n, t.depth_mm, geometry, &reason);
        if (status != SLC_OK) {
            (void)slc_fail(error, status, "%s: %.400s", name, reason.text);
        }
    }
    free(t.row);
    return status;
}

static slc_status read_csv(const char *path, slc_pet_geometry *geometry, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    status = status == SLC_OK ? slc_io_pet_scanner_parse(bytes, size, path, geometry, error) : status;
    free(bytes);
    return status;
}

static slc_status read_hdf5(const char *path, slc_pet_geometry *geometry, slc_error *error)
{
    slc_pet_tables tables;
    const slc_status status = slc_io_read_pet_tables(path, &tables, error);
    if (status == SLC_OK) {
        *geometry = tables.geometry; /* with its layout */
        tables.geometry.layout = NULL;
        slc_io_pet_tables_clear(&tables);
    }
    return status;
}

bool slc_io_pet_scanner_is_file(const char *name)
{
    return slc_io_pet_ends_in(name, ".csv") || slc_io_pet_ends_in(name, ".h5") ||
           slc_io_pet_ends_in(name, ".hdf5");
}

slc_status slc_io_pet_scanner(const char *name, slc_pet_geometry *geometry, slc_error *error)
{
    return slc_io_pet_ends_in(name, ".csv")   ? read_csv(name, geometry, error)
           : slc_io_pet_scanner_is_file(name) ? read_hdf5(name, geometry, error)
                                              : slc_pet_scanner(name, geometry, error);
}
