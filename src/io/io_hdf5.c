/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as HDF5: a group per collection, a chunked and compressed dataset per column, everything driven by
 * the schema. docs/formats/results-hdf5.md.
 *
 * HDF5 prints its errors and keeps a stack of them. Here printing is off while one of our calls runs, and the
 * reason of a failure is the operating system's where a write failed (io_hdf5_file.h), else the deepest entry
 * of the stack.
 */
#include "base/columns.h"
#include "io/io_hdf5_file.h"
#include "io/io_output.h"

#include <sluice/io.h>

#include <hdf5.h>

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ROWS =
        16384, /* 64 KiB of floats: a column's chunk stays in HDF5's cache while small batches are appended */
    DEFLATE_LEVEL = 1,
    MAX_COLUMNS = 32,
    MAX_GROUPS = 64,
    MAX_REASON = 256
};

/* One collection in the file. */
typedef struct group {
    char *name;
    hid_t column[MAX_COLUMNS];
    size_t n_columns;
    hid_t event_offset;
    uint64_t rows, events;
} group;

typedef struct hdf5_writer {
    slc_io_writer writer;
    hid_t file;
    int wrong; /* errno of the first write that failed */
    group groups[MAX_GROUPS];
    size_t n_groups;
    bool broken;    /* a write failed: the file can only be abandoned */
    double flushed; /* when it was last; when it was made, before that */
} hdf5_writer;

/* ---- errors ---------------------------------------------------------------------------------- */

/* H5Ewalk2 from the deepest entry upward; the first one that has a description is kept. */
static herr_t keep_first(unsigned n, const H5E_error2_t *entry, void *data)
{
    char *reason = data;
    (void)n;
    if (reason[0] == '\0' && entry->desc != NULL) {
        (void)snprintf(reason, MAX_REASON, "%s", entry->desc);
    }
    return 0;
}

static slc_status fail(hdf5_writer *writer, slc_error *error)
{
    char reason[MAX_REASON] = "";
    writer->broken = true;
    if (writer->wrong != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", writer->writer.output.path,
                        strerror(writer->wrong));
    }
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, reason);
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", writer->writer.output.path,
                    reason[0] != '\0' ? reason : "HDF5 gives no reason");
}

/* What a public call returns: HDF5 may be content although a write below it failed. */
static slc_status judge(hdf5_writer *writer, bool good, slc_error *error)
{
    return good && writer->wrong == 0 ? SLC_OK : fail(writer, error);
}

/* The same at the end of a public call. */
static slc_status finished(hdf5_writer *writer, slc_io_hdf5_silence before, bool good, slc_error *error)
{
    const slc_status status = judge(writer, good, error);
    slc_io_hdf5_silence_end(before);
    return status;
}

/* ---- datasets -------------------------------------------------------------------------------- */

static hid_t file_type(slc_type type)
{
    const hid_t types[] = {
        [SLC_TYPE_U8] = H5T_STD_U8LE,   [SLC_TYPE_I8] = H5T_STD_I8LE,   [SLC_TYPE_U16] = H5T_STD_U16LE,
        [SLC_TYPE_I16] = H5T_STD_I16LE, [SLC_TYPE_U32] = H5T_STD_U32LE, [SLC_TYPE_I32] = H5T_STD_I32LE,
        [SLC_TYPE_U64] = H5T_STD_U64LE, [SLC_TYPE_I64] = H5T_STD_I64LE, [SLC_TYPE_F32] = H5T_IEEE_F32LE,
        [SLC_TYPE_F64] = H5T_IEEE_F64LE};
    return types[type];
}

/* An empty dataset that can grow; H5I_INVALID_HID on failure. */
static hid_t make_dataset(hid_t parent, const char *name, slc_type type, const char *unit)
{
    const hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = CHUNK_ROWS;
    const hid_t space = H5Screate_simple(1, &none, &unlimited);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = H5I_INVALID_HID;
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, 1, &chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
        H5Pset_deflate(how, DEFLATE_LEVEL) >= 0 && H5Pset_obj_track_times(how, false) >= 0) {
        dataset = H5Dcreate2(parent, name, file_type(type), space, H5P_DEFAULT, how, H5P_DEFAULT);
    }
    if (dataset >= 0 && !slc_io_hdf5_put_text(dataset, "unit", unit, H5T_CSET_UTF8)) {
        (void)H5Dclose(dataset);
        dataset = H5I_INVALID_HID;
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return dataset;
}

static bool append_rows(hid_t dataset, slc_type type, uint64_t before, size_t n, const void *rows)
{
    const hsize_t size = before + n;
    return n == 0 ||
           (H5Dset_extent(dataset, &size) >= 0 && slc_io_hdf5_write_rows(dataset, type, before, n, rows));
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool close_group(group *g)
{
    bool good = true;
    for (size_t i = 0; i < g->n_columns; i++) {
        good = H5Dclose(g->column[i]) >= 0 && good;
    }
    good = slc_io_hdf5_close(g->event_offset) && good;
    free(g->name);
    *g = (group){.event_offset = H5I_INVALID_HID};
    return good;
}

static group *find_group(hdf5_writer *writer, const char *name)
{
    for (size_t i = 0; i < writer->n_groups; i++) {
        if (strcmp(writer->groups[i].name, name) == 0) {
            return &writer->groups[i];
        }
    }
    return NULL;
}

/* Of a group to come, the root's included. There are no times in it, so that the same results are the same
 * bytes. Attributes may be large (names of many inputs, a long command line): a header of the first version,
 * which HDF5 takes unless attributes are counted, holds 64 KiB of them, one of the second (HDF5 1.8) any
 * number. */
static bool set_header(hid_t how)
{
    return H5Pset_obj_track_times(how, false) >= 0 &&
           H5Pset_attr_creation_order(how, H5P_CRT_ORDER_TRACKED) >= 0;
}

static bool make_datasets(hdf5_writer *writer, group *g, const slc_schema *schema)
{
    const uint64_t zero = 0;
    const hid_t how = H5Pcreate(H5P_GROUP_CREATE);
    hid_t parent = H5I_INVALID_HID;
    if (how >= 0 && set_header(how)) {
        parent = H5Gcreate2(writer->file, g->name, H5P_DEFAULT, how, H5P_DEFAULT);
    }
    (void)slc_io_hdf5_close(how);
    if (parent < 0) {
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < schema->n_columns && good; i++) {
        const slc_column *column = &schema->columns[i];
        const hid_t dataset = make_dataset(parent, column->name, column->type, column->unit);
        good = dataset >= 0;
        if (good) {
            g->column[g->n_columns++] = dataset;
        }
    }
    if (good) {
        g->event_offset = make_dataset(parent, "event_offset", SLC_TYPE_U64, "index");
        good = g->event_offset >= 0 && append_rows(g->event_offset, SLC_TYPE_U64, 0, 1, &zero);
    }
    return H5Gclose(parent) >= 0 && good;
}

/* NULL, with *status and the error set, on failure. */
static group *make_group(hdf5_writer *writer, const char *name, const slc_schema *schema, slc_status *status,
                         slc_error *error)
{
    if (writer->n_groups == MAX_GROUPS || schema->n_columns > MAX_COLUMNS) {
        *status = slc_fail(error, SLC_ERR_CAPACITY, "%s: too many groups or columns at '%s'",
                           writer->writer.output.path, name);
        return NULL;
    }
    group *g = &writer->groups[writer->n_groups];
    *g = (group){.name = strdup(name), .event_offset = H5I_INVALID_HID};
    if (g->name == NULL) {
        *status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for group '%s'", writer->writer.output.path,
                           name);
        return NULL;
    }
    writer->n_groups++;
    *status = judge(writer, make_datasets(writer, g, schema), error);
    return *status == SLC_OK ? g : NULL;
}

/* Offsets of the batch continue those in the file. */
static slc_status append_offsets(hdf5_writer *writer, group *g, const slc_columns *head, slc_error *error)
{
    if (head->n_events == 0) {
        return SLC_OK;
    }
    uint64_t *offsets = malloc(head->n_events * sizeof *offsets);
    if (offsets == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for event offsets", writer->writer.output.path);
    }
    for (uint32_t i = 0; i < head->n_events; i++) {
        offsets[i] = g->rows + head->event_offset[i + 1];
    }
    const bool good = append_rows(g->event_offset, SLC_TYPE_U64, g->events + 1, head->n_events, offsets);
    free(offsets);
    return judge(writer, good, error);
}

static slc_status append(hdf5_writer *writer, const char *name, const slc_schema *schema,
                         const void *collection, slc_error *error)
{
    const slc_columns *head = collection;
    group *g = find_group(writer, name);
    slc_status status = SLC_OK;
    if (g == NULL) {
        g = make_group(writer, name, schema, &status, error);
    }
    if (g == NULL) {
        return status;
    }
    if (g->n_columns != schema->n_columns) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: group '%s' has other columns", writer->writer.output.path,
                        name);
    }
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        if (!append_rows(g->column[i], column->type, g->rows, head->size,
                         slc_column_data(collection, column))) {
            return fail(writer, error);
        }
    }
    status = append_offsets(writer, g, head, error);
    if (status == SLC_OK) {
        g->rows += head->size;
        g->events += head->n_events;
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool close_all(hdf5_writer *writer)
{
    bool good = true;
    for (size_t i = 0; i < writer->n_groups; i++) {
        good = close_group(&writer->groups[i]) && good;
    }
    writer->n_groups = 0;
    if (writer->file >= 0) {
        good = H5Fclose(writer->file) >= 0 && good;
        writer->file = H5I_INVALID_HID;
    }
    return good;
}

static hid_t create_file(hdf5_writer *writer)
{
    const hid_t access = slc_io_hdf5_file_access(&writer->wrong), how = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5I_INVALID_HID;
    if (access >= 0 && how >= 0 && set_header(how)) {
        file = H5Fcreate(writer->writer.output.temporary, H5F_ACC_TRUNC, how, access);
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(access);
    return file;
}

static slc_status end(slc_io_writer *to, bool commit, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const bool was_broken = writer->broken;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const bool good = close_all(writer);
    return finished(writer, before, !commit || (good && !was_broken), error);
}

slc_status slc_io_hdf5_create(const char *path, slc_io_writer **writer, slc_error *error)
{
    *writer = NULL;
    if (strcmp(path, "-") == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "HDF5 cannot be written to standard output");
    }
    hdf5_writer *made;
    slc_status status = slc_io_writer_open(sizeof *made, path, true, &made, error);
    if (status != SLC_OK) {
        return status;
    }
    made->writer.end = end;
    made->flushed = slc_clock_seconds();
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    made->file = create_file(made);
    status = judge(made, made->file >= 0, error);
    slc_io_hdf5_silence_end(before);
    if (status == SLC_OK) {
        *writer = &made->writer;
    } else {
        slc_io_abandon(&made->writer);
    }
    return status;
}

slc_status slc_io_hdf5_append(slc_io_writer *to, const char *name, const slc_schema *schema,
                              const void *collection, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = append(writer, name, schema, collection, error);
    if (status == SLC_OK) {
        status = judge(writer, true, error);
    }
    slc_io_hdf5_silence_end(before);
    return status;
}

slc_status slc_io_hdf5_one_event(slc_io_writer *to, const char *name, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const group *g = find_group(writer, name);
    if (g == NULL || writer->broken) {
        return SLC_OK;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const slc_status status = judge(writer, append_rows(g->event_offset, SLC_TYPE_U64, 1, 1, &g->rows),
                                    error);
    slc_io_hdf5_silence_end(before);
    return status;
}

slc_status slc_io_hdf5_flush(slc_io_writer *to, double seconds, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const double now = slc_clock_seconds();
    if (writer->broken || now - writer->flushed < seconds) {
        return SLC_OK;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const slc_status status = judge(writer, slc_io_hdf5_file_settle(writer->file), error);
    slc_io_hdf5_silence_end(before);
    writer->flushed = now;
    return status;
}

slc_status slc_io_hdf5_text(slc_io_writer *to, const char *name, const char *value, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const slc_status status = judge(writer, slc_io_hdf5_put_text(writer->file, name, value, H5T_CSET_UTF8),
                                    error);
    slc_io_hdf5_silence_end(before);
    return status;
}

slc_status slc_io_hdf5_number(slc_io_writer *to, const char *name, double value, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const bool good = slc_io_hdf5_put_attribute(writer->file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                                &value);
    return finished(writer, before, good, error);
}

slc_status slc_io_hdf5_integer(slc_io_writer *to, const char *name, int64_t value, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const bool good = slc_io_hdf5_put_attribute(writer->file, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
    return finished(writer, before, good, error);
}

slc_status slc_io_hdf5_names(slc_io_writer *to, const char *group_name, const char *name, size_t n,
                             const char *const *texts, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)to;
    if (n == 0) {
        return SLC_OK;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t parent = H5Gopen2(writer->file, group_name, H5P_DEFAULT);
    bool good = parent >= 0 && slc_io_hdf5_put_texts(parent, name, n, texts);
    good = slc_io_hdf5_close(parent) && good;
    return finished(writer, before, good, error);
}
