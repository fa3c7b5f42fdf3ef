/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs as HDF5 columns: group "coincidences" of a result file (docs/formats/results-hdf5.md), written by
 * io_hdf5.c, read here in stretches. Nothing is lost: times, differences, crystals, energies, delayeds.
 */
#include "base/columns.h"
#include "io/io_hdf5_file.h"
#include "io/io_results.h"
#include "io/pet/io_pet_columns_table.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"
#include <sluice/io.h>

#include <hdf5.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 7, ROWS = 1 << 16 /* read at once */ };

static const char group[] = "coincidences";

typedef struct columns {
    hid_t file, column[COLUMNS], more[SLC_IO_PET_CORRECTIONS]; /* those that it has */
    uint64_t rows, at;
    slc_pet_geometry table; /* with the layout that the file has, or none */
} columns;

/* ---- reading ----------------------------------------------------------------------------------- */

/* Rows of a data set of one dimension; false where it is none. */
static bool rows_of(hid_t dataset, uint64_t *rows)
{
    hsize_t size = 0;
    const hid_t space = H5Dget_space(dataset);
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_dims(space, &size, NULL) == 1;
    (void)slc_io_hdf5_close(space);
    *rows = size;
    return good;
}

/* Of another class, HDF5 would make numbers of what is none, or cut them off. */
static bool is_of_class(hid_t dataset, H5T_class_t class)
{
    const hid_t type = H5Dget_type(dataset);
    const bool is = type >= 0 && H5Tget_class(type) == class;
    (void)slc_io_hdf5_close(type);
    return is;
}

static slc_status check_column(hid_t dataset, const slc_column *column, uint64_t rows, const char *path,
                               slc_error *error)
{
    const bool real = column->type == SLC_TYPE_F32;
    uint64_t stored = 0;
    if (!is_of_class(dataset, real ? H5T_FLOAT : H5T_INTEGER)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: column '%s/%s' is not of %s", path, group, column->name,
                        real ? "floating point numbers" : "whole numbers");
    }
    if (!slc_io_hdf5_can_hold(dataset, rows, &stored)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: column '%s/%s' has %llu rows in %llu bytes", path, group,
                        column->name, (unsigned long long)rows, (unsigned long long)stored);
    }
    return SLC_OK;
}

static slc_status open_columns(slc_io_pet_list *in, const char *path, slc_error *error)
{
    columns *c = in->own;
    slc_status status = slc_io_hdf5_open(path, &c->file, error);
    if (status != SLC_OK) {
        return status;
    }
    for (size_t k = 0; k < slc_pet_coincidences_schema.n_columns; k++) {
        char name[64];
        uint64_t rows = 0;
        const slc_column *column = &slc_pet_coincidences_schema.columns[k];
        (void)snprintf(name, sizeof name, "%s/%s", group, column->name);
        c->column[k] = H5Dopen2(c->file, name, H5P_DEFAULT);
        if (c->column[k] < 0 || !rows_of(c->column[k], &rows)) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: there is no column '%s'", path, name);
        }
        status = check_column(c->column[k], column, rows, path, error);
        if (status != SLC_OK) {
            return status;
        }
        if (k > 0 && rows != c->rows) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: column '%s' has %llu rows, others have %llu", path,
                            name, (unsigned long long)rows, (unsigned long long)c->rows);
        }
        c->rows = rows;
    }
    return SLC_OK;
}

static const slc_column *correction_column(size_t k);

/* What it has of its pairs beside their columns. */
static slc_status open_corrections(slc_io_pet_list *in, const char *path, slc_error *error)
{
    columns *c = in->own;
    slc_status status = SLC_OK;
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS && status == SLC_OK; k++) {
        char name[64];
        uint64_t rows = 0;
        const slc_column *column = correction_column(k);
        (void)snprintf(name, sizeof name, "%s/%s", group, column->name);
        if (H5Lexists(c->file, name, H5P_DEFAULT) <= 0) {
            continue;
        }
        c->more[k] = H5Dopen2(c->file, name, H5P_DEFAULT);
        if (c->more[k] < 0 || !rows_of(c->more[k], &rows) || rows != c->rows) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: column '%s' is damaged, or has other rows than others", path, name);
        }
        status = check_column(c->more[k], column, rows, path, error);
        status = status == SLC_OK ? slc_io_pet_list_correct(in, k, error) : status;
    }
    return status;
}

/* One value that the file has as an attribute of its root. False where it has none. */
static bool attribute_of(hid_t file, const char *name, hid_t type, void *value)
{
    bool good = false;
    const hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    if (space >= 0 && H5Sget_simple_extent_npoints(space) == 1) {
        good = H5Aread(attribute, type, value) >= 0;
    }
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(attribute);
    return good;
}

/* A number above 0; 0 where it has none. */
static double number_of(hid_t file, const char *name)
{
    double value = 0;
    return attribute_of(file, name, H5T_NATIVE_DOUBLE, &value) && isfinite(value) && value > 0 ? value : 0;
}

/* A whole one. */
static uint32_t count_of(hid_t file, const char *name)
{
    const double value = number_of(file, name);
    return value >= 1 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void text_of(hid_t file, const char *name, char *text, size_t size)
{
    const hid_t attribute = H5Aexists(file, name) > 0 ? H5Aopen(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) < size && H5Aread(attribute, type, text) >= 0) {
        text[H5Tget_size(type)] = '\0';
    } else {
        text[0] = '\0';
    }
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(attribute);
}

/* What a file is told by its geometry, name by name. */
enum { COUNTS = 7, SIZES = 3 };
static const char *const count_names[COUNTS] = {"channels", "modules",    "module_rings", "blocks_y",
                                                "blocks_z", "crystals_y", "crystals_z"};
static const char *const size_names[SIZES] = {"radius_mm", "pitch_z_mm", "depth_mm"};

static bool geometry_of(hid_t file, slc_pet_geometry *g)
{
    uint32_t *const counts[COUNTS] = {&g->channels, &g->modules,    &g->module_rings, &g->blocks_y,
                                      &g->blocks_z, &g->crystals_y, &g->crystals_z};
    double *const sizes[SIZES] = {&g->radius_mm, &g->pitch_z_mm, &g->depth_mm};
    for (size_t i = 0; i < COUNTS; i++) {
        *counts[i] = count_of(file, count_names[i]);
    }
    for (size_t i = 0; i < SIZES; i++) {
        *sizes[i] = number_of(file, size_names[i]);
    }
    if (*counts[0] == 0) { /* older writers told the ring alone */
        *g = (slc_pet_geometry){1,
                                1,
                                1,
                                1,
                                1,
                                count_of(file, "crystals_per_ring"),
                                count_of(file, "rings"),
                                *sizes[0],
                                *sizes[1],
                                *sizes[2],
                                NULL};
    }
    return slc_pet_geometry_check(g, NULL) == SLC_OK;
}

/* The earliest time of all pairs, rounded down to a millisecond: what files of older writers do not tell. */
static slc_status find_start(slc_io_pet_list *in, slc_error *error)
{
    const columns *c = in->own;
    const slc_column *column = &slc_pet_coincidences_schema.columns[0];
    int64_t first = INT64_MAX, *times = malloc(ROWS * sizeof *times);
    if (times == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", in->name);
    }
    bool good = true;
    for (uint64_t at = 0; at < c->rows && good; at += ROWS) {
        const size_t n = c->rows - at < ROWS ? (size_t)(c->rows - at) : ROWS;
        good = slc_io_hdf5_read_rows(c->column[0], column->type, at, n, times);
        for (size_t i = 0; i < n && good; i++) {
            first = times[i] < first ? times[i] : first;
        }
    }
    free(times);
    const int64_t ms = SLC_IO_PET_PS_PER_MS, rest = first % ms;
    in->about.start_is_found = good && c->rows > 0;
    in->about.start_ps = !in->about.start_is_found            ? 0
                         : rest < 0 && first > INT64_MIN + ms ? first - rest - ms
                                                              : first - rest;
    return SLC_OK; /* damaged rows are told when they are read */
}

static slc_status find_about(slc_io_pet_list *in, slc_error *error)
{
    columns *c = in->own;
    slc_io_pet_list_about *about = &in->about;
    about->has_geometry = geometry_of(c->file, &about->geometry);
    if (about->has_geometry && number_of(c->file, "crystal_table") > 0) {
        c->table = about->geometry;
        const bool rings = number_of(c->file, "crystal_rings") > 0;
        const slc_status status = slc_io_pet_table_read(c->file, in->name, rings, &c->table,
                                                        &about->has_geometry, error);
        if (status != SLC_OK) {
            return status;
        }
        about->geometry = c->table;
    }
    if (about->has_geometry) {
        const slc_status status = slc_io_pet_list_compare_scanner(in, &about->geometry, error);
        if (status != SLC_OK) {
            return status;
        }
        in->crystals = slc_pet_crystals(in->has_geometry ? &in->geometry : &about->geometry);
    }
    text_of(c->file, "scanner", about->scanner, sizeof about->scanner);
    about->window_ps = number_of(c->file, "window_ps");
    about->tof_resolution_ps = number_of(c->file, "tof_resolution_ps");
    about->tof = about->tof_resolution_ps > 0;
    about->duration_s = number_of(c->file, "duration_s");
    return attribute_of(c->file, "start_ps", H5T_NATIVE_INT64, &about->start_ps) ? SLC_OK
                                                                                 : find_start(in, error);
}

static slc_status start(slc_io_pet_list *in, const char *path, slc_error *error)
{
    _Static_assert(sizeof(slc_pet_coincidences) == sizeof(slc_columns) + COLUMNS * sizeof(void *),
                   "a column for each member");
    columns *c = in->own = calloc(1, sizeof *c);
    if (c == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    }
    c->file = H5I_INVALID_HID;
    for (size_t k = 0; k < COLUMNS; k++) {
        c->column[k] = H5I_INVALID_HID;
    }
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        c->more[k] = H5I_INVALID_HID;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = open_columns(in, path, error);
    status = status == SLC_OK ? open_corrections(in, path, error) : status;
    if (status == SLC_OK) {
        status = slc_io_pet_list_compare(in, count_of(c->file, "rings"),
                                         count_of(c->file, "crystals_per_ring"), error);
    }
    status = status == SLC_OK ? find_about(in, error) : status;
    slc_io_hdf5_silence_end(before);
    return status;
}

static void stop(slc_io_pet_list *in)
{
    columns *c = in->own;
    if (c == NULL) {
        return;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    for (size_t k = 0; k < COLUMNS; k++) {
        (void)slc_io_hdf5_close(c->column[k]);
    }
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        (void)slc_io_hdf5_close(c->more[k]);
    }
    (void)slc_io_hdf5_close(c->file);
    slc_io_hdf5_silence_end(before);
    slc_pet_geometry_clear(&c->table);
    free(c);
}

/* Leaves out rows of crystals that are not there, counts the others. */
static void settle(slc_io_pet_list *in, slc_pet_coincidences *pairs, size_t from, size_t n)
{
    size_t kept = from;
    for (size_t i = from; i < from + n; i++) {
        if (!slc_io_pet_list_has(in, pairs->crystal1[i], pairs->crystal2[i])) {
            in->totals.other++;
            in->about.no_crystal++;
            continue;
        }
        pairs->time_ps[kept] = pairs->time_ps[i];
        pairs->dt_ps[kept] = pairs->dt_ps[i];
        pairs->crystal1[kept] = pairs->crystal1[i];
        pairs->crystal2[kept] = pairs->crystal2[i];
        pairs->energy1_kev[kept] = pairs->energy1_kev[i];
        pairs->energy2_kev[kept] = pairs->energy2_kev[i];
        pairs->delayed[kept] = pairs->delayed[i] != 0;
        for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS && in->corrected; k++) {
            float *value = in->corrections.value[k];
            if (value != NULL) {
                value[kept - in->base] = value[i - in->base];
            }
        }
        in->totals.delayeds += pairs->delayed[kept];
        in->totals.prompts += pairs->delayed[kept] == 0;
        slc_io_pet_list_time(in, pairs->time_ps[kept++]);
    }
    pairs->head.size = kept;
}

static slc_status read(slc_io_pet_list *in, size_t most, slc_pet_coincidences *pairs, slc_error *error)
{
    columns *c = in->own;
    const uint64_t left = c->rows - c->at, want = most < ROWS ? most : ROWS;
    const size_t n = (size_t)(left < want ? left : want), base = pairs->head.size;
    if (n == 0) {
        return SLC_END;
    }
    if (slc_columns_reserve(&slc_pet_coincidences_schema, pairs, base + n, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its pairs", in->name);
    }
    const slc_status room = slc_io_pet_list_correct_reserve(in, base + n, error);
    if (room != SLC_OK) {
        return room;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    bool good = true;
    for (size_t k = 0; k < slc_pet_coincidences_schema.n_columns && good; k++) {
        const slc_column *column = &slc_pet_coincidences_schema.columns[k];
        char *rows = *slc_column_pointer(pairs, column);
        good = slc_io_hdf5_read_rows(c->column[k], column->type, c->at, n,
                                     rows + base * slc_type_size(column->type));
    }
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS && good; k++) {
        float *value = in->corrections.value[k];
        good = value == NULL ||
               slc_io_hdf5_read_rows(c->more[k], SLC_TYPE_F32, c->at, n, value + (base - in->base));
    }
    slc_io_hdf5_silence_end(before);
    if (!good) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: rows %llu to %llu of its columns are damaged", in->name,
                        (unsigned long long)c->at, (unsigned long long)(c->at + n - 1));
    }
    c->at += n;
    settle(in, pairs, base, n);
    return SLC_OK;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* Pairs with columns more. */
typedef struct corrected {
    slc_columns head;
    int64_t *time_ps, *dt_ps;
    uint32_t *crystal1, *crystal2;
    float *energy1_kev, *energy2_kev;
    uint8_t *delayed;
    float *attenuation, *scatter_hz, *randoms_hz, *normalisation;
} corrected;
static const slc_column corrected_columns[COLUMNS + SLC_IO_PET_CORRECTIONS] = {
    SOA_COLUMN(corrected, time_ps, "ps"),      SOA_COLUMN(corrected, dt_ps, "ps"),
    SOA_COLUMN(corrected, crystal1, "index"),  SOA_COLUMN(corrected, crystal2, "index"),
    SOA_COLUMN(corrected, energy1_kev, "keV"), SOA_COLUMN(corrected, energy2_kev, "keV"),
    SOA_COLUMN(corrected, delayed, "1"),       SOA_COLUMN(corrected, attenuation, "1"),
    SOA_COLUMN(corrected, scatter_hz, "Hz"),   SOA_COLUMN(corrected, randoms_hz, "Hz"),
    SOA_COLUMN(corrected, normalisation, "1"),
};

static const slc_column *correction_column(size_t k)
{
    return &corrected_columns[COLUMNS + k];
}

/* The file that is written, and those of the columns that it has. */
typedef struct output {
    slc_io_writer *file;
    slc_column columns[COLUMNS + SLC_IO_PET_CORRECTIONS];
    slc_schema schema;
} output;

static slc_status make_output(slc_io_pet_list_writer *w, slc_error *error)
{
    output *o = w->own = calloc(1, sizeof *o);
    if (o == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", w->base);
    }
    size_t n = COLUMNS;
    memcpy(o->columns, corrected_columns, COLUMNS * sizeof *o->columns);
    for (size_t k = 0; k < SLC_IO_PET_CORRECTIONS; k++) {
        const bool found = k == SLC_IO_PET_RANDOMS && w->config.randoms != NULL;
        if (found || slc_io_pet_list_carries(w, k)) {
            o->columns[n++] = *correction_column(k);
        }
    }
    o->schema = (slc_schema){.name = group, .columns = o->columns, .n_columns = n};
    return SLC_OK;
}

/* Of HDF5: other forms have one group. */
static bool has_table(const slc_io_pet_list_writer *w)
{
    return w->config.geometry.layout != NULL &&
           (w->config.form == NULL || strcmp(w->config.form, "hdf5") == 0);
}

/* Batches are no events here: all pairs are one. `table`: of the crystals, which come once. */
static slc_status put_with(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, const void *table,
                           slc_error *error)
{
    const size_t n = pairs->head.size, n_groups = has_table(w) ? 2 : 1;
    const slc_io_pet_list_corrections none = {{NULL}},
                                      *more = w->config.corrections != NULL ? w->config.corrections : &none;
    output *o = w->own;
    float *hz = NULL;
    corrected all = {.head = pairs->head,
                     .time_ps = pairs->time_ps,
                     .dt_ps = pairs->dt_ps,
                     .crystal1 = pairs->crystal1,
                     .crystal2 = pairs->crystal2,
                     .energy1_kev = pairs->energy1_kev,
                     .energy2_kev = pairs->energy2_kev,
                     .delayed = pairs->delayed,
                     .attenuation = more->value[SLC_IO_PET_ATTENUATION],
                     .scatter_hz = more->value[SLC_IO_PET_SCATTER],
                     .randoms_hz = more->value[SLC_IO_PET_RANDOMS],
                     .normalisation = more->value[SLC_IO_PET_NORMALISATION]};
    if (w->config.randoms != NULL) {
        hz = calloc(n + 1, sizeof *hz);
        if (hz == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the randoms of %zu pairs", w->base, n);
        }
        slc_io_pet_list_randoms(w, pairs, 0, n, hz);
        all.randoms_hz = hz;
    }
    const slc_io_group rows[2] = {{group, &o->schema, &all, SLC_IO_ROWS_WHOLE},
                                  slc_io_pet_table_group(table)};
    const slc_status status = slc_io_results_put(o->file, rows, n_groups, error);
    free(hz);
    return status;
}

static slc_status put(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    return put_with(w, pairs, NULL, error);
}

/* The groups are there even where no pair comes. */
static slc_status put_groups(slc_io_pet_list_writer *w, slc_error *error)
{
    const slc_pet_coincidences none = {.time_ps = NULL};
    void *table = NULL;
    slc_status status = has_table(w) ? slc_io_pet_table_make(&w->config.geometry, &table, error) : SLC_OK;
    status = status == SLC_OK ? put_with(w, &none, table, error) : status;
    slc_io_pet_table_free(table);
    return status;
}

static slc_status create(slc_io_pet_list_writer *w, slc_error *error)
{
    slc_status status = make_output(w, error);
    if (status != SLC_OK) {
        return status;
    }
    output *o = w->own;
    slc_io_results_config how;
    slc_io_results_config_default(&how);
    how.form = w->config.form != NULL ? w->config.form : "hdf5";
    how.rotate_bytes = w->config.rotate_bytes;
    how.rotate_seconds = w->config.rotate_seconds;
    status = slc_io_results_create(w->base, &how, &o->file, error);
    slc_io_writer *file = o->file;
    const slc_pet_geometry *g = &w->config.geometry;
    const uint32_t counts[COUNTS] = {g->channels, g->modules,    g->module_rings, g->blocks_y,
                                     g->blocks_z, g->crystals_y, g->crystals_z};
    const double sizes[SIZES] = {g->radius_mm, g->pitch_z_mm, g->depth_mm};
    const struct {
        const char *name;
        double value;
        bool known;
    } numbers[] = {{"rings", slc_pet_rings(g), true},
                   {"crystals_per_ring", slc_pet_crystals_per_ring(g), true},
                   {"crystal_table", 1, g->layout != NULL},
                   {"crystal_rings", 1, g->layout != NULL && g->layout->rings},
                   {"window_ps", w->config.window_ps, w->config.window_ps > 0},
                   {"tof_resolution_ps", w->config.tof_resolution_ps, w->config.tof}};
    for (size_t i = 0; i < COUNTS && status == SLC_OK; i++) {
        status = slc_io_results_number(file, count_names[i], counts[i], error);
    }
    for (size_t i = 0; i < SIZES && status == SLC_OK; i++) {
        status = slc_io_results_number(file, size_names[i], sizes[i], error);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == SLC_OK; i++) {
        status = numbers[i].known ? slc_io_results_number(file, numbers[i].name, numbers[i].value, error)
                                  : SLC_OK;
    }
    status = status == SLC_OK ? slc_io_results_integer(file, "start_ps", w->config.start_ps, error) : status;
    status = status == SLC_OK ? slc_io_results_text(file, "scanner", w->scanner, error) : status;
    return status == SLC_OK ? put_groups(w, error) : status;
}

static slc_status write(slc_io_pet_list_writer *w, const slc_pet_coincidences *pairs, slc_error *error)
{
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < pairs->head.size; i++) {
        latest = pairs->time_ps[i] > latest ? pairs->time_ps[i] : latest;
    }
    if (pairs->head.size > 0 &&
        latest >= w->config.start_ps) { /* the difference of any two fits, without sign */
        const uint64_t since = (uint64_t)latest - (uint64_t)w->config.start_ps;
        const int64_t ms = (int64_t)(since / (uint64_t)SLC_IO_PET_PS_PER_MS);
        w->time_ms = ms > w->time_ms ? ms : w->time_ms;
    }
    return put(w, pairs, error);
}

static slc_status flush(slc_io_pet_list_writer *w, double seconds, slc_error *error)
{
    return slc_io_results_flush(((output *)w->own)->file, seconds, error);
}

static slc_status finish(slc_io_pet_list_writer *w, slc_error *error)
{
    output *o = w->own;
    slc_status status = slc_io_results_number(o->file, "duration_s", slc_io_pet_list_duration(w), error);
    const bool partial = w->config.partial != NULL && *w->config.partial;
    if (status == SLC_OK && partial) {
        status = slc_io_results_number(o->file, "partial", 1, error);
    }
    if (status == SLC_OK && w->config.checksum != NULL && !partial) {
        char text[17];
        (void)snprintf(text, sizeof text, "%016" PRIx64, *w->config.checksum);
        status = slc_io_results_text(o->file, "checksum", text, error);
    }
    if (status == SLC_OK) {
        status = slc_io_finish(o->file, error);
    } else {
        slc_io_abandon(o->file);
    }
    o->file = NULL;
    return status;
}

static void abandon(slc_io_pet_list_writer *w)
{
    output *o = w->own;
    if (o != NULL && o->file != NULL) {
        slc_io_abandon(o->file);
    }
    free(o);
}

const slc_io_pet_list_ops slc_io_pet_columns = {
    .name = "hdf5",
    .delayeds = true,
    .randoms = true,
    .corrections = (1U << SLC_IO_PET_CORRECTIONS) - 1,
    .by_path = true,
    .start = start,
    .read = read,
    .stop = stop,
    .create = create,
    .write = write,
    .flush = flush,
    .finish = finish,
    .abandon = abandon,
};
