/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a PET scanner as HDF5 (docs/formats/pet-tables.md). Sizes follow from the geometry, so that they
 * are known before anything is read, and a dataset of other sizes is refused by its name. Everything in the
 * file has a checksum: its structures by the version of HDF5's format, values by Fletcher's.
 */
#include "io/io_hdf5_file.h"
#include "io/io_output.h"
#include "io/pet/io_pet_list.h"
#include "io/pet/io_pet_raw.h"
#include "pet/pet_scanner.h"

#include <sluice/io_pet.h>

#include <hdf5.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kind[] = "sluice pet tables";

enum { VERSION = 1, DEFLATE_LEVEL = 4 };

/* What a file holds, as it is named in messages. */
typedef struct source {
    const char *name;
    hid_t file;
    slc_error *error;
} source;

/* ---- numbers of the scanner -------------------------------------------------------------------- */

typedef struct number {
    const char *name;
    uint32_t *whole;
    double *real;
} number;

enum { NUMBERS = 10 };

static void numbers_of(slc_pet_geometry *g, number numbers[NUMBERS])
{
    const number all[NUMBERS] = {
        {"channels", &g->channels, NULL},         {"modules", &g->modules, NULL},
        {"module_rings", &g->module_rings, NULL}, {"blocks_y", &g->blocks_y, NULL},
        {"blocks_z", &g->blocks_z, NULL},         {"crystals_y", &g->crystals_y, NULL},
        {"crystals_z", &g->crystals_z, NULL},     {"radius_mm", NULL, &g->radius_mm},
        {"pitch_z_mm", NULL, &g->pitch_z_mm},     {"depth_mm", NULL, &g->depth_mm},
    };
    memcpy(numbers, all, sizeof all);
}

/* Reads an attribute of one number; HDF5 converts it. `object` is where it is, named `where`. */
static slc_status read_number(const source *s, hid_t object, const char *where, const number *n)
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
    const slc_status status = read_number(s, s->file, "", &(number){"version", &version, NULL});
    if (status == SLC_OK && version != VERSION) {
        return slc_fail(s->error, SLC_ERR_UNSUPPORTED, "%s: tables of version %u, and this reads version %d",
                        s->name, version, VERSION);
    }
    return status;
}

/* ---- datasets ---------------------------------------------------------------------------------- */

enum { MOST_DIMENSIONS = 4 };

/* What a dataset is to be. `any` is the dimension that may be of any size, −1 where all are known. */
typedef struct table {
    const char *name, *what; /* what its dimensions are */
    int dimensions, any;
    hsize_t size[MOST_DIMENSIONS];
    hid_t type;
    H5T_class_t class;
    size_t bytes; /* of an element */
} table;

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
static slc_status check_dataset(const source *s, hid_t dataset, table *t)
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
static slc_status read_table(const source *s, table *t, number *attribute, void **values)
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
enum { POSITION = 0, GAIN, ENERGY, OFFSET, EFFICIENCY, TABLES };

static void tables_of(const slc_pet_tables *t, table tables[TABLES])
{
    const slc_pet_geometry *g = &t->geometry;
    const hsize_t crystals = slc_pet_crystals(g);
    const table all[TABLES] = {
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
    };
    memcpy(tables, all, sizeof all);
}

static slc_status read_scanner(const source *s, slc_pet_tables *t)
{
    number numbers[NUMBERS];
    slc_error reason = {.status = SLC_OK};
    numbers_of(&t->geometry, numbers);
    slc_status status = check_kind(s);
    for (int i = 0; i < NUMBERS && status == SLC_OK; i++) {
        status = read_number(s, s->file, "", &numbers[i]);
    }
    if (status == SLC_OK) {
        status = read_number(s, s->file, "", &(number){"position_side", &t->position_side, NULL});
    }
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
    table tables[TABLES];
    void *values[TABLES] = {NULL};
    double bin_kev = 0;
    number bin = {"bin_kev", NULL, &bin_kev};
    tables_of(t, tables);
    for (int i = 0; i < TABLES && status == SLC_OK; i++) {
        status = read_table(s, &tables[i], i == ENERGY ? &bin : NULL, &values[i]);
    }
    t->position = values[POSITION];
    t->gain = values[GAIN];
    t->energy = values[ENERGY];
    t->time_offset_ps = values[OFFSET];
    t->efficiency = values[EFFICIENCY];
    t->energy_bins = t->energy != NULL && tables[ENERGY].size[1] <= UINT32_MAX
                         ? (uint32_t)tables[ENERGY].size[1]
                         : 0;
    t->energy_bin_kev = (float)bin_kev;
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
    *tables = (slc_pet_tables){.position_side = 0};
}

/* ---- writing ----------------------------------------------------------------------------------- */

static bool put_number(hid_t object, const char *name, const uint32_t *whole, const double *real)
{
    return whole != NULL ? slc_io_hdf5_put_attribute(object, name, H5T_STD_U32LE, H5T_NATIVE_UINT32, whole)
                         : slc_io_hdf5_put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, real);
}

static bool put_text(hid_t object, const char *name, const char *text)
{
    return slc_io_hdf5_put_text(object, name, text, H5T_CSET_ASCII);
}

/* A chunk is one to a few maps, or a stretch of crystals: about a quarter of a megabyte. */
static hid_t chunked(const table *t)
{
    hsize_t chunk[MOST_DIMENSIONS], elements = 1;
    for (int d = t->dimensions; d-- > 0;) {
        const hsize_t room = (1 << 17) / elements;
        chunk[d] = t->size[d] < room ? t->size[d] : room > 0 ? room : 1;
        elements *= chunk[d];
    }
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    if (how >= 0 && (H5Pset_chunk(how, t->dimensions, chunk) < 0 || H5Pset_shuffle(how) < 0 ||
                     H5Pset_deflate(how, DEFLATE_LEVEL) < 0 || H5Pset_fletcher32(how) < 0 ||
                     H5Pset_obj_track_times(how, false) < 0)) {
        (void)H5Pclose(how);
        return H5I_INVALID_HID;
    }
    return how;
}

static bool put_table(hid_t file, const table *t, hid_t in_file, const char *unit, const double *bin_kev,
                      const void *values)
{
    const hid_t space = H5Screate_simple(t->dimensions, t->size, NULL), how = chunked(t);
    const hid_t dataset = space >= 0 && how >= 0
                              ? H5Dcreate2(file, t->name, in_file, space, H5P_DEFAULT, how, H5P_DEFAULT)
                              : H5I_INVALID_HID;
    bool good = dataset >= 0 && H5Dwrite(dataset, t->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                put_text(dataset, "unit", unit) &&
                (bin_kev == NULL || put_number(dataset, "bin_kev", NULL, bin_kev));
    good = slc_io_hdf5_close(dataset) && good;
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return good;
}

static bool put_all(hid_t file, const slc_pet_tables *t)
{
    slc_pet_geometry geometry = t->geometry;
    number numbers[NUMBERS];
    table tables[TABLES];
    const uint32_t version = VERSION;
    const double bin_kev = (double)t->energy_bin_kev;
    const void *const values[TABLES] = {t->position, t->gain, t->energy, t->time_offset_ps, t->efficiency};
    const hid_t types[TABLES] = {H5T_STD_U16LE, H5T_IEEE_F32LE, H5T_IEEE_F32LE, H5T_STD_I32LE,
                                 H5T_IEEE_F32LE};
    static const char *const units[TABLES] = {"index", "keV", "1", "ps", "1"};
    numbers_of(&geometry, numbers);
    tables_of(t, tables);
    bool good = put_text(file, "kind", kind) && put_number(file, "version", &version, NULL) &&
                put_number(file, "position_side", &t->position_side, NULL);
    for (int i = 0; i < NUMBERS && good; i++) {
        good = put_number(file, numbers[i].name, numbers[i].whole, numbers[i].real);
    }
    for (int i = 0; i < TABLES && good; i++) {
        good = values[i] == NULL ||
               put_table(file, &tables[i], types[i], units[i], i == ENERGY ? &bin_kev : NULL, values[i]);
    }
    return good;
}

/* The newer format of structures, which has checksums (HDF5 1.10). There are no times in the file, so that
 * the same tables are the same bytes. */
static hid_t create(const char *path, int *wrong)
{
    const hid_t access = slc_io_hdf5_file_access(wrong), how = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5I_INVALID_HID;
    if (access >= 0 && how >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
        H5Pset_obj_track_times(how, false) >= 0) {
        file = H5Fcreate(path, H5F_ACC_TRUNC, how, access);
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(access);
    return file;
}

slc_status slc_io_write_pet_tables(const char *path, const slc_pet_tables *tables, slc_error *error)
{
    slc_io_output output = {.path = NULL};
    slc_error reason = {.status = SLC_OK};
    slc_status status = slc_pet_tables_check(tables, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: %s", path, reason.text);
    }
    if (strcmp(path, "-") == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "HDF5 cannot be written to standard output");
    }
    status = slc_io_output_reserve_name(&output, path, error);
    if (status != SLC_OK) {
        return status;
    }
    int wrong = 0;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t file = create(output.temporary, &wrong);
    bool good = file >= 0 && put_all(file, tables);
    good = slc_io_hdf5_close(file) && good;
    slc_io_hdf5_silence_end(before);
    if (good && wrong == 0) {
        return slc_io_output_commit(&output, error);
    }
    slc_io_output_abandon(&output);
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path,
                    wrong != 0 ? strerror(wrong) : "HDF5 gives no reason");
}
