/* SPDX-License-Identifier: Apache-2.0
 * Columns of HDF5: data sets of one dimension and of numbers, in groups of the root or in the root itself. */
#include "io/io_hdf5_file.h"
#include "io/io_results_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct found {
    hid_t file;
    bool whole; /* nothing failed so far */
    char path[1024];
} found;

typedef struct walk {
    slc_io_reading *reading;
    const char *group; /* NULL: the root */
    uint64_t events;
    bool failed; /* no memory */
} walk;

static bool read_text(hid_t at, const char *name, char *text, size_t size)
{
    const hid_t attribute = H5Aexists(at, name) > 0 ? H5Aopen(at, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    bool good = type >= 0 && H5Tget_class(type) == H5T_STRING;
    if (good && H5Tis_variable_str(type) > 0) {
        char *own = NULL;
        const hid_t space = H5Aget_space(attribute);
        good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
               H5Aread(attribute, type, &own) >= 0 && own != NULL;
        (void)slc_io_hdf5_close(space);
        if (good) {
            (void)snprintf(text, size, "%s", own);
            (void)H5free_memory(own);
        }
    } else if (good) {
        const size_t n = H5Tget_size(type);
        char *own = calloc(1, n + 1);
        good = own != NULL && H5Aget_storage_size(attribute) == n && H5Aread(attribute, type, own) >= 0;
        if (good) {
            (void)snprintf(text, size, "%s", own);
        }
        free(own);
    }
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(attribute);
    return good;
}

/* Rows of a data set of numbers of one dimension. */
static bool is_column(hid_t dataset, uint64_t *rows, bool *whole)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    hsize_t n = 0;
    uint64_t stored;
    bool good = (kind == H5T_INTEGER || kind == H5T_FLOAT) && space >= 0 &&
                H5Sget_simple_extent_ndims(space) == 1 && H5Sget_simple_extent_dims(space, &n, NULL) == 1;
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(space);
    const hid_t how = good ? H5Dget_create_plist(dataset) : H5I_INVALID_HID;
    const bool elsewhere = how >= 0 && H5Pget_layout(how) == H5D_VIRTUAL; /* sluice join */
    (void)slc_io_hdf5_close(how);
    good = good && (elsewhere || n == 0 || slc_io_hdf5_can_hold(dataset, n, &stored));
    *rows = n;
    *whole = kind == H5T_INTEGER;
    return good;
}

static void add(walk *w, hid_t at, const char *name)
{
    const hid_t dataset = H5Dopen2(at, name, H5P_DEFAULT);
    uint64_t rows = 0;
    bool whole = false;
    const bool good = dataset >= 0 && is_column(dataset, &rows, &whole);
    if (good && w->group != NULL && strcmp(name, "event_offset") == 0) {
        w->events = rows > 0 ? rows - 1 : 0;
    } else if (!good || strlen(name) >= SLC_IO_READING_NAME) {
        w->reading->left_out++;
    } else {
        slc_io_reading_column *column = slc_io_reading_add(w->reading);
        if (column != NULL) {
            (void)snprintf(column->group, sizeof column->group, "%s", w->group != NULL ? w->group : "");
            (void)snprintf(column->name, sizeof column->name, "%s", name);
            (void)read_text(dataset, "unit", column->unit, sizeof column->unit);
            column->rows = rows;
            column->whole = whole;
        }
        w->failed = w->failed || column == NULL;
    }
    (void)slc_io_hdf5_close(dataset);
}

static herr_t on_object(hid_t at, const char *name, const H5L_info_t *info, void *context)
{
    walk *w = context;
    (void)info;
    const hid_t object = H5Oopen(at, name, H5P_DEFAULT);
    const H5I_type_t kind = object >= 0 ? H5Iget_type(object) : H5I_BADID;
    (void)slc_io_hdf5_close(object);
    if (kind == H5I_DATASET) {
        add(w, at, name);
    } else if (kind == H5I_GROUP && w->group == NULL && strlen(name) < SLC_IO_READING_NAME) {
        walk inner = {.reading = w->reading, .group = name};
        const size_t first = w->reading->n_columns;
        const hid_t group = H5Gopen2(at, name, H5P_DEFAULT);
        const bool good = group >= 0 &&
                          H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, on_object, &inner) >= 0;
        (void)slc_io_hdf5_close(group);
        for (size_t i = first; i < w->reading->n_columns; i++) {
            w->reading->columns[i].events = inner.events;
        }
        w->failed = w->failed || inner.failed;
        w->reading->left_out += !good;
    } else {
        w->reading->left_out++;
    }
    return w->failed ? -1 : 0;
}

static herr_t on_attribute(hid_t at, const char *name, const H5A_info_t *info, void *context)
{
    walk *w = context;
    char text[4096];
    double number;
    (void)info;
    const hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    bool good = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (good && kind == H5T_STRING) {
        good = read_text(at, name, text, sizeof text);
    } else if (good && (kind == H5T_INTEGER || kind == H5T_FLOAT)) {
        good = H5Aread(attribute, H5T_NATIVE_DOUBLE, &number) >= 0;
        (void)snprintf(text, sizeof text, "%.12g", good ? number : 0);
    } else {
        good = false; /* lists of names */
    }
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(attribute);
    if (good && !slc_io_reading_add_text(w->reading, name, text, strlen(text))) {
        w->failed = true;
    }
    return w->failed ? -1 : 0;
}

static slc_status read_rows(slc_io_reading *reading, size_t i, uint64_t at, size_t n, double *values,
                            slc_error *error)
{
    found *f = reading->of;
    const slc_io_reading_column *column = &reading->columns[i];
    char name[2 * SLC_IO_READING_NAME + 4];
    (void)snprintf(name, sizeof name, "/%s%s%s", column->group, column->group[0] != '\0' ? "/" : "",
                   column->name);
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t dataset = H5Dopen2(f->file, name, H5P_DEFAULT);
    const bool good = dataset >= 0 && slc_io_hdf5_read_rows(dataset, SLC_TYPE_F64, at, n, values);
    (void)slc_io_hdf5_close(dataset);
    f->whole = f->whole && good;
    slc_io_hdf5_silence_end(before);
    return good ? SLC_OK : slc_fail(error, SLC_ERR_FORMAT, "%s: %s cannot be read", f->path, name);
}

static void close_it(void *of)
{
    found *f = of;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    (void)slc_io_hdf5_close(f->file);
    slc_io_hdf5_silence_end_reading(before, f->whole);
    free(f);
}

slc_status slc_io_reading_hdf5(const char *path, slc_io_reading *reading, slc_error *error)
{
    found *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    }
    (void)snprintf(f->path, sizeof f->path, "%s", path);
    const slc_status status = slc_io_hdf5_open(path, &f->file, error);
    if (status != SLC_OK) {
        free(f);
        return status;
    }
    reading->format = "HDF5";
    reading->of = f;
    reading->rows = read_rows;
    reading->close = close_it;
    walk w = {.reading = reading};
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    f->whole = H5Literate(f->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, on_object, &w) >= 0 &&
               H5Aiterate2(f->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, on_attribute, &w) >= 0;
    slc_io_hdf5_silence_end(before);
    return w.failed ? slc_fail(error, SLC_ERR_MEMORY, "%s: more than %d columns, or no memory for them", path,
                               SLC_IO_READING_COLUMNS)
           : f->whole
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT, "%s: it is damaged: not all of it can be listed", path);
}
