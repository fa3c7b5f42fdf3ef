/* SPDX-License-Identifier: Apache-2.0
 * Hot pixels of files, found and written as a mask: hits are counted while files are read, which are not
 * kept. */
#include "py_pixel.h"

#include <stdlib.h>

enum { PIECE = 1 << 16 };

/* Memory of the columns that files have. */
typedef struct list {
    slc_pixels pixels;
    slc_schema schema;
    slc_column columns[SLC_PIXEL_COLUMNS];
    uint32_t with;
    size_t room;
    bool has_mask;
    uint64_t read; /* pixels of all files */
} list;

static slc_status reserve(list *l, uint32_t with, slc_error *error)
{
    if (l->schema.columns == NULL || l->with != with) {
        slc_columns_clear(&l->schema, &l->pixels);
        l->with = with;
        l->schema = slc_pixels_schema(with, l->columns);
    }
    return slc_columns_reserve(&l->schema, &l->pixels, l->room, (uint32_t)l->room) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for the pixels");
}

/* A piece of a file; SLC_END after the last. */
static slc_status read_piece(slc_io_pixels *file, list *l, slc_error *error)
{
    slc_status status = reserve(l, slc_io_pixels_about(file).with, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_columns_reset(&l->pixels);
    status = slc_io_pixels_read(file, &l->pixels, l->room, error);
    if (status == SLC_ERR_CAPACITY) { /* a frame that does not fit, or the last that did */
        l->room *= l->pixels.head.n_events == 0 ? 2 : 1;
        return SLC_OK;
    }
    return status;
}

/* What a file was, as warnings. False with an exception, which a filter makes of one. */
static bool tell(core_state *state, const char *path, const slc_io_pixels_counts *counts, list *l)
{
    core_lines lines = {PyList_New(0)};
    if (lines.list == NULL) {
        return false;
    }
    l->read += counts->pixels;
    pixel_tell_reading(counts, l->has_mask, path, &lines);
    const bool good = core_warn(state, &lines);
    Py_DECREF(lines.list);
    return good;
}

/* False with an exception, of an interrupt too. */
static bool count_file(core_state *state, const char *path, const slc_io_pixels_options *options, list *l)
{
    slc_io_pixels *file = NULL;
    slc_error error = {.status = SLC_OK};
    slc_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = slc_io_pixels_open(path, options, &file, &error);
    Py_END_ALLOW_THREADS;
    while (status == SLC_OK && PyErr_CheckSignals() == 0) {
        Py_BEGIN_ALLOW_THREADS;
        status = read_piece(file, l, &error);
        Py_END_ALLOW_THREADS;
    }
    const slc_io_pixels_counts counts = file != NULL ? slc_io_pixels_count(file) : (slc_io_pixels_counts){0};
    slc_io_pixels_close(file);
    if (status < 0) {
        (void)core_raise(state, status, &error);
    }
    return status == SLC_END && !PyErr_Occurred() && tell(state, path, &counts, l);
}

static PyObject *write_mask(core_state *state, slc_io_pixels_tables *tables, const char *output)
{
    slc_error error = {.status = SLC_OK};
    slc_io_pixels_hot hot = {.pixels = 0};
    slc_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = slc_io_pixels_tables_write_mask(tables, output, &hot, &error);
    Py_END_ALLOW_THREADS;
    if (status != SLC_OK) {
        return core_raise(state, status, &error);
    }
    return Py_BuildValue("KKKKII", (unsigned long long)hot.pixels, (unsigned long long)hot.hits,
                         (unsigned long long)hot.masked, (unsigned long long)hot.judged, (unsigned)hot.x,
                         (unsigned)hot.y);
}

/* pixel_write_mask(paths, output, mask, height, width): paths a tuple of bytes, mask empty for none. */
PyObject *pixel_write_mask(PyObject *module, PyObject *arguments)
{
    core_state *state = core_state_of(module);
    PyObject *paths = NULL, *result = NULL;
    const char *output = NULL, *mask = NULL;
    unsigned height = 0, width = 0;
    slc_error error = {.status = SLC_OK};
    if (!PyArg_ParseTuple(arguments, "O!yyII", &PyTuple_Type, &paths, &output, &mask, &height, &width)) {
        return NULL;
    }
    const slc_io_pixels_table_files files = {.mask = mask[0] != '\0' ? mask : NULL, .finds_hot = true};
    slc_io_pixels_options options = {.width = width, .height = height};
    const slc_status status = slc_io_pixels_tables_open(&files, &options.tables, &error);
    if (status != SLC_OK) {
        return core_raise(state, status, &error);
    }
    list l = {.room = PIECE, .has_mask = files.mask != NULL};
    bool good = true;
    for (Py_ssize_t i = 0; i < PyTuple_Size(paths) && good; i++) {
        const char *path = PyBytes_AsString(PyTuple_GetItem(paths, i));
        good = path != NULL && count_file(state, path, &options, &l);
    }
    if (good && l.read == 0) {
        (void)core_raise(state,
                         slc_fail(&error, SLC_ERR_FORMAT, "no file has pixels to count: no mask was written"),
                         &error);
    } else if (good) {
        result = write_mask(state, options.tables, output);
    }
    slc_columns_clear(&l.schema, &l.pixels);
    slc_io_pixels_tables_close(options.tables);
    return result;
}
