/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a PET scanner as HDF5 (docs/formats/pet-tables.md). Sizes follow from the geometry, so that they
 * are known before anything is read, and a dataset of other sizes is refused by its name. Everything in the
 * file has a checksum: its structures by the version of HDF5's format, values by Fletcher's.
 */
#include "io/io_hdf5_file.h"
#include "io/pet/io_pet_list.h"
#include "io/pet/io_pet_raw.h"
#include "io/pet/io_pet_tables_parts.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <sluice/io_pet.h>

#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = SLC_IO_PET_TABLES_KIND;

/* What a file holds, as it is named in messages. */
typedef struct source {
    const char *name;
    hid_t file;
    slc_error *error;
} source;

/* ---- numbers of the scanner -------------------------------------------------------------------- */

void slc_io_pet_numbers_of(slc_pet_geometry *g, slc_io_pet_number numbers[SLC_IO_PET_NUMBERS])
{
    const slc_io_pet_number all[SLC_IO_PET_NUMBERS] = {
        {"channels", &g->channels, NULL},         {"modules", &g->modules, NULL},
        {"module_rings", &g->module_rings, NULL}, {"blocks_y", &g->blocks_y, NULL},
        {"blocks_z", &g->blocks_z, NULL},         {"crystals_y", &g->crystals_y, NULL},
        {"crystals_z", &g->crystals_z, NULL},     {"radius_mm", NULL, &g->radius_mm},
        {"pitch_z_mm", NULL, &g->pitch_z_mm},     {"depth_mm", NULL, &g->depth_mm},
    };
    memcpy(numbers, all, sizeof all);
}

/* Reads an attribute of one number; HDF5 converts it. `object` is where it is, named `where`. */
static slc_status read_number(const source *s, hid_t object, const char *where, const slc_io_pet_number *n)
{
    const htri_t there = H5Aexists(object, n->name);
    if (there <= 0) {
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: there is no attribute '%s%s'", s->name, where,
                        n->name);
    }
    const hid_t attribute = H5Aopen(object, n->name, H5P_DEFAULT);
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                      (class == H5T_INTEGER || (class == H5T_FLOAT && n->real != NULL));
    int64_t whole = -1;
    const bool read = good && (n->real != NULL ? H5Aread(attribute, H5T_NATIVE_DOUBLE, n->real)
                                               : H5Aread(attribute, H5T_NATIVE_INT64, &whole)) >= 0;
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(attribute);
    if (!read) {
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: attribute '%s%s' is not a %s", s->name, where, n->name,
                        n->real != NULL ? "number" : "whole number");
    }
    if (n->whole != NULL && (whole < 0 || whole > UINT32_MAX)) {
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: attribute '%s%s' is %lld", s->name, where, n->name,
                        (long long)whole);
    }
    if (n->whole != NULL) {
        *n->whole = (uint32_t)whole;
    }
    return SLC_OK;
}

/* Is it a file of ours? Its kind is a text of fixed length. */
static slc_status check_kind(const source *s)
{
    char text[sizeof kind] = "";
    const hid_t attribute = H5Aexists(s->file, "kind") > 0 ? H5Aopen(s->file, "kind", H5P_DEFAULT)
                                                           : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const bool read = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
                      H5Tget_size(type) == sizeof kind && H5Aread(attribute, type, text) >= 0;
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(attribute);
    if (!read || memcmp(text, kind, sizeof kind) != 0) {
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: an HDF5 file, but its attribute 'kind' is not '%s'",
                        s->name, kind);
    }
    uint32_t version = 0;
    const slc_status status = read_number(s, s->file, "", &(slc_io_pet_number){"version", &version, NULL});
    if (status == SLC_OK && version != SLC_IO_PET_TABLES_VERSION && version != SLC_IO_PET_TABLES_LAYOUT) {
        return slc_fail(s->error, SLC_ERR_UNSUPPORTED, "%s: tables of version %u, and this reads %d and %d",
                        s->name, version, SLC_IO_PET_TABLES_VERSION, SLC_IO_PET_TABLES_LAYOUT);
    }
    return status;
}

/* ---- datasets ---------------------------------------------------------------------------------- */

static void write_sizes(char *text, size_t room, const hsize_t *size, int dimensions)
{
    size_t at = 0;
    text[0] = '\0';
    for (int d = 0; d < dimensions && at < room; d++) {
        const int n = snprintf(text + at, room - at, "%s%llu", d > 0 ? " x " : "",
                               (unsigned long long)size[d]);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* Kind and sizes of a dataset that is open; fills in the size that may be any. */
static slc_status check_dataset(const source *s, hid_t dataset, slc_io_pet_table *t)
{
    hsize_t size[H5S_MAX_RANK] = {0};
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const int dimensions = space >= 0 ? H5Sget_simple_extent_dims(space, size, NULL) : -1;
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(space);
    if (class != t->class) {
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: dataset '%s' is not of %s", s->name, t->name,
                        t->class == H5T_INTEGER ? "whole numbers" : "floating point numbers");
    }
    bool same = dimensions == t->dimensions;
    for (int d = 0; d < t->dimensions && same; d++) {
        if (d == t->any) {
            t->size[d] = size[d];
        }
        same = size[d] == t->size[d];
    }
    if (!same) {
        char is[128], wanted[128];
        write_sizes(is, sizeof is, size, dimensions < 6 ? dimensions : 6);
        write_sizes(wanted, sizeof wanted, t->size, t->any >= 0 ? t->any : t->dimensions);
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: dataset '%s' is %s, and the scanner has %s%s: %s",
                        s->name, t->name, dimensions > 0 ? is : "one number", wanted,
                        t->any >= 0 ? " x any" : "", t->what);
    }
    return SLC_OK;
}

/* A dataset that may be missing; *values is then NULL. `attributes` are numbers of it. */
static slc_status read_table(const source *s, slc_io_pet_table *t, slc_io_pet_number *attribute,
                             void **values)
{
    *values = NULL;
    const htri_t there = H5Lexists(s->file, t->name, H5P_DEFAULT);
    if (there == 0) {
        return SLC_OK;
    }
    const hid_t dataset = there > 0 ? H5Dopen2(s->file, t->name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (dataset < 0) {
        return slc_fail(s->error, SLC_ERR_FORMAT, "%s: '%s' is no dataset, or damaged", s->name, t->name);
    }
    slc_status status = check_dataset(s, dataset, t);
    char where[32];
    (void)snprintf(where, sizeof where, "%s/", t->name);
    if (status == SLC_OK && attribute != NULL) {
        status = read_number(s, dataset, where, attribute);
    }
    size_t elements = 1;
    for (int d = 0; d < t->dimensions && status == SLC_OK; d++) {
        const hsize_t size = t->size[d];
        if (size == 0 || size > UINT32_MAX || elements > SIZE_MAX / t->bytes / size) {
            status = slc_fail(s->error, SLC_ERR_FORMAT, "%s: dataset '%s' is %s", s->name, t->name,
                              size == 0 ? "empty" : "too large");
        } else {
            elements *= (size_t)size;
        }
    }
    uint64_t stored = 0;
    if (status == SLC_OK && !slc_io_hdf5_can_hold(dataset, elements, &stored)) {
        status = slc_fail(s->error, SLC_ERR_FORMAT, "%s: dataset '%s' has %zu elements in %llu bytes",
                          s->name, t->name, elements, (unsigned long long)stored);
    }
    *values = status == SLC_OK ? malloc(elements * t->bytes) : NULL;
    if (status == SLC_OK && *values == NULL) {
        status = slc_fail(s->error, SLC_ERR_MEMORY, "%s: no memory for dataset '%s'", s->name, t->name);
    }
    if (status == SLC_OK && H5Dread(dataset, t->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
        status = slc_fail(s->error, SLC_ERR_FORMAT, "%s: dataset '%s' is damaged", s->name, t->name);
    }
    (void)H5Dclose(dataset);
    return status;
}

/* The tables that there can be. */
void slc_io_pet_tables_of(const slc_pet_tables *t, slc_io_pet_table tables[SLC_IO_PET_TABLES])
{
    const slc_pet_geometry *g = &t->geometry;
    const hsize_t crystals = slc_pet_crystals(g);
    const slc_io_pet_table all[SLC_IO_PET_TABLES] = {
        {"position",
         "modules, units, flood map's y, x",
         4,
         -1,
         {slc_pet_module_count(g), (hsize_t)g->blocks_y * g->blocks_z, t->position_side, t->position_side},
         H5T_NATIVE_UINT16,
         H5T_INTEGER,
         sizeof(uint16_t)},
        {"gain", "crystals", 1, -1, {crystals}, H5T_NATIVE_FLOAT, H5T_FLOAT, sizeof(float)},
        {"energy",
         "crystals, bins of energy",
         2,
         1,
         {crystals, t->energy_bins},
         H5T_NATIVE_FLOAT,
         H5T_FLOAT,
         sizeof(float)},
        {"time_offset", "crystals", 1, -1, {crystals}, H5T_NATIVE_INT32, H5T_INTEGER, sizeof(int32_t)},
        {"efficiency", "crystals", 1, -1, {crystals}, H5T_NATIVE_FLOAT, H5T_FLOAT, sizeof(float)},
        {"radial",
         "bins of the distance from the axis",
         1,
         0,
         {t->geometric.n_radial},
         H5T_NATIVE_FLOAT,
         H5T_FLOAT,
         sizeof(float)},
        {"axial",
         "bins of the distance along the axis",
         1,
         0,
         {t->geometric.n_axial},
         H5T_NATIVE_FLOAT,
         H5T_FLOAT,
         sizeof(float)},
    };
    memcpy(tables, all, sizeof all);
}

/* ---- the table of crystals --------------------------------------------------------------------- */

void slc_io_pet_layout_of(uint64_t crystals, slc_io_pet_table *places, slc_io_pet_table *values)
{
    *places = (slc_io_pet_table){"places",
                                 "crystals, module, unit, crystal and layer",
                                 2,
                                 -1,
                                 {crystals, SLC_IO_PET_PLACES},
                                 H5T_NATIVE_UINT32,
                                 H5T_INTEGER,
                                 sizeof(uint32_t)};
    *values = (slc_io_pet_table){"crystals",
                                 "crystals, position, normal and axis",
                                 2,
                                 -1,
                                 {crystals, SLC_IO_PET_VALUES},
                                 H5T_NATIVE_DOUBLE,
                                 H5T_FLOAT,
                                 sizeof(double)};
}

static uint64_t product_of(const slc_pet_geometry *g)
{
    uint64_t product = 1;
    const uint32_t numbers[] = {g->channels, g->modules,    g->module_rings, g->blocks_y,
                                g->blocks_z, g->crystals_y, g->crystals_z};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        product = product <= UINT32_MAX ? product * numbers[i] : product;
    }
    return product;
}

/* Do the attributes tell of as many modules, units and crystals as the table has? */
static bool same_numbers(const slc_pet_geometry *a, const slc_pet_geometry *b)
{
    return slc_pet_module_count(a) == slc_pet_module_count(b) &&
           a->blocks_y * a->blocks_z == b->blocks_y * b->blocks_z && a->crystals_y == b->crystals_y &&
           a->crystals_z == b->crystals_z;
}

static slc_status make_layout(const source *s, slc_pet_geometry *g, bool rings, const uint32_t *place,
                              const double *value, size_t n)
{
    slc_pet_crystal_row *rows = calloc(n, sizeof *rows);
    if (rows == NULL) {
        return slc_fail(s->error, SLC_ERR_MEMORY, "%s: no memory for its crystals", s->name);
    }
    for (size_t i = 0; i < n; i++, place += SLC_IO_PET_PLACES, value += SLC_IO_PET_VALUES) {
        rows[i] = (slc_pet_crystal_row){
            .module = place[0], .unit = place[1], .crystal = place[2], .layer = place[3]};
        memcpy(rows[i].position_mm, value, sizeof rows[i].position_mm);
        memcpy(rows[i].normal, value + 3, sizeof rows[i].normal);
        memcpy(rows[i].axis, value + 6, sizeof rows[i].axis);
    }
    slc_error reason = {.status = SLC_OK};
    slc_pet_geometry made = *g;
    slc_status status = rings ? slc_pet_layout_make_rings(rows, n, &made, &reason)
                              : slc_pet_layout_make(rows, n, g->depth_mm, &made, &reason);
    free(rows);
    if (status != SLC_OK) {
        return slc_fail(s->error, status, "%s: crystals: %.400s", s->name, reason.text);
    }
    if (!same_numbers(g, &made)) {
        slc_pet_geometry_clear(&made);
        return slc_fail(s->error, SLC_ERR_FORMAT,
                        "%s: the attributes tell of other modules, units or crystals of a unit than the "
                        "table of crystals",
                        s->name);
    }
    *g = made;
    return SLC_OK;
}

/* Where there is such a table; else the ring that the attributes tell. */
static slc_status read_layout(const source *s, slc_pet_geometry *g)
{
    slc_io_pet_table places, values;
    void *place = NULL, *value = NULL;
    uint32_t rings = 0;
    slc_io_pet_number is_rings = {"rings", &rings, NULL};
    const uint64_t n = product_of(g);
    slc_io_pet_layout_of(n, &places, &values);
    slc_status status = read_table(s, &values, &is_rings, &value);
    status = status == SLC_OK ? read_table(s, &places, NULL, &place) : status;
    if (status == SLC_OK && (place == NULL) != (value == NULL)) {
        status = slc_fail(s->error, SLC_ERR_FORMAT,
                          "%s: of the datasets 'crystals' and 'places' there is one alone", s->name);
    }
    if (status == SLC_OK && value != NULL) {
        status = make_layout(s, g, rings != 0, place, value, (size_t)n);
    }
    free(place);
    free(value);
    return status;
}

static slc_status read_scanner(const source *s, slc_pet_tables *t)
{
    slc_io_pet_number numbers[SLC_IO_PET_NUMBERS];
    slc_error reason = {.status = SLC_OK};
    slc_io_pet_numbers_of(&t->geometry, numbers);
    slc_status status = check_kind(s);
    for (int i = 0; i < SLC_IO_PET_NUMBERS && status == SLC_OK; i++) {
        status = read_number(s, s->file, "", &numbers[i]);
    }
    if (status == SLC_OK) {
        status = read_number(s, s->file, "", &(slc_io_pet_number){"position_side", &t->position_side, NULL});
    }
    const slc_io_pet_number widths[] = {{"energy_fwhm", NULL, &t->energy_fwhm},
                                        {"time_fwhm_ps", NULL, &t->time_fwhm_ps}};
    for (int i = 0; i < 2 && status == SLC_OK; i++) { /* files of older versions have none */
        if (H5Aexists(s->file, widths[i].name) > 0) {
            status = read_number(s, s->file, "", &widths[i]);
        }
    }
    status = status == SLC_OK ? read_layout(s, &t->geometry) : status;
    if (status == SLC_OK && slc_pet_geometry_check(&t->geometry, &reason) != SLC_OK) {
        status = slc_fail(s->error, SLC_ERR_FORMAT, "%s: %s", s->name, reason.text);
    }
    if (status == SLC_OK && t->position_side > 256) {
        status = slc_fail(s->error, SLC_ERR_FORMAT, "%s: attribute 'position_side' is %u, and at most 256",
                          s->name, t->position_side);
    }
    return status;
}

static slc_status read_all(const source *s, slc_pet_tables *t)
{
    slc_status status = read_scanner(s, t);
    if (status != SLC_OK) {
        return status;
    }
    slc_io_pet_table tables[SLC_IO_PET_TABLES];
    void *values[SLC_IO_PET_TABLES] = {NULL};
    double bin_kev = 0;
    slc_io_pet_number bins[SLC_IO_PET_TABLES] = {
        [SLC_IO_PET_ENERGY] = {"bin_kev", NULL, &bin_kev},
        [SLC_IO_PET_RADIAL] = {"bin_mm", NULL, &t->geometric.radial_mm},
        [SLC_IO_PET_AXIAL] = {"bin_mm", NULL, &t->geometric.axial_mm}};
    slc_io_pet_tables_of(t, tables);
    for (int i = 0; i < SLC_IO_PET_TABLES && status == SLC_OK; i++) {
        status = read_table(s, &tables[i], bins[i].name != NULL ? &bins[i] : NULL, &values[i]);
    }
    t->position = values[SLC_IO_PET_POSITION];
    t->gain = values[SLC_IO_PET_GAIN];
    t->energy = values[SLC_IO_PET_ENERGY];
    t->time_offset_ps = values[SLC_IO_PET_OFFSET];
    t->efficiency = values[SLC_IO_PET_EFFICIENCY];
    t->energy_bins = t->energy != NULL && tables[SLC_IO_PET_ENERGY].size[1] <= UINT32_MAX
                         ? (uint32_t)tables[SLC_IO_PET_ENERGY].size[1]
                         : 0;
    t->energy_bin_kev = (float)bin_kev;
    t->geometric.radial = values[SLC_IO_PET_RADIAL];
    t->geometric.axial = values[SLC_IO_PET_AXIAL];
    t->geometric.n_radial = t->geometric.radial != NULL ? (uint32_t)tables[SLC_IO_PET_RADIAL].size[0] : 0;
    t->geometric.n_axial = t->geometric.axial != NULL ? (uint32_t)tables[SLC_IO_PET_AXIAL].size[0] : 0;
    slc_error reason = {.status = SLC_OK};
    if (status == SLC_OK && slc_pet_tables_check(t, &reason) != SLC_OK) {
        status = slc_fail(s->error, SLC_ERR_FORMAT, "%s: %s", s->name, reason.text);
    }
    return status;
}

static slc_status read_open(hid_t file, const char *name, slc_pet_tables *tables, slc_error *error)
{
    const source s = {name, file, error};
    slc_status status;
    if (file < 0) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: no HDF5 file, or cut off or damaged", name);
    } else {
        status = read_all(&s, tables);
        (void)H5Fclose(file);
    }
    if (status != SLC_OK) {
        slc_io_pet_tables_clear(tables);
    }
    return status;
}

slc_status slc_io_read_pet_tables(const char *path, slc_pet_tables *tables, slc_error *error)
{
    *tables = (slc_pet_tables){.position_side = 0};
    hid_t file;
    slc_status status = slc_io_hdf5_open(path, &file, error);
    if (status == SLC_OK) {
        const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
        status = read_open(file, path, tables, error);
        slc_io_hdf5_silence_end_reading(before, status != SLC_ERR_FORMAT);
    }
    return status;
}

bool slc_io_pet_is_tables(const char *path)
{
    slc_error error = {.status = SLC_OK};
    slc_status status = SLC_ERR_FORMAT;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file >= 0) {
        const source s = {path, file, &error};
        status = check_kind(&s);
        (void)H5Fclose(file);
    }
    slc_io_hdf5_silence_end_reading(before, status != SLC_ERR_FORMAT);
    return status == SLC_OK || status == SLC_ERR_UNSUPPORTED;
}

slc_status slc_io_parse_pet_tables(const void *bytes, size_t size, const char *name, slc_pet_tables *tables,
                                   slc_error *error)
{
    *tables = (slc_pet_tables){.position_side = 0};
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    hid_t file = H5I_INVALID_HID;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    /* HDF5 takes a copy of the bytes. */
    if (access >= 0 && size > 0 && H5Pset_fapl_core(access, 1 << 16, false) >= 0 &&
        H5Pset_file_image(access, (void *)bytes, size) >= 0) {
        file = H5Fopen(name, H5F_ACC_RDONLY, access);
    }
    const slc_status status = read_open(file, name, tables, error);
    (void)slc_io_hdf5_close(access);
    slc_io_hdf5_silence_end_reading(before, status != SLC_ERR_FORMAT);
    return status;
}

void slc_io_pet_tables_clear(slc_pet_tables *tables)
{
    free((void *)tables->position);
    free((void *)tables->gain);
    free((void *)tables->energy);
    free((void *)tables->time_offset_ps);
    free((void *)tables->efficiency);
    free((void *)tables->geometric.radial);
    free((void *)tables->geometric.axial);
    slc_pet_geometry_clear(&tables->geometry);
    *tables = (slc_pet_tables){.position_side = 0};
}
