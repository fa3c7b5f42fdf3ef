/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as HDF5: a group per collection, a chunked dataset per column, everything driven by the schema.
 * docs/formats/results-hdf5.md.
 *
 * Rows that are compressed are gathered to chunks, which are encoded by several threads (io_encode.h) and
 * handed to HDF5 as they are to stand in the file: its own filters run in the one thread that calls it.
 * Others go from the caller's memory to the place in the file that HDF5 has for their chunk. A dataset is
 * made when its first chunk is full, or at the end with a chunk of the rows that there are, so that a small
 * file has none that is mostly empty.
 *
 * HDF5 prints its errors and keeps a stack of them. Here printing is off while one of our calls runs, and the
 * reason of a failure is the operating system's where a write failed (io_hdf5_file.h), else the deepest entry
 * of the stack.
 */
#include "base/columns.h"
#include "io/io_hdf5_file.h"
#include "io/io_nexus.h"
#include "io/io_results.h"
#include "io/io_shuffle.h"

#include <hdf5.h>
#include <libdeflate.h>

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_ROWS = 65536, /* 256 KiB of floats, 512 of doubles: readers of HDF5 cache chunks of up to 1 MiB */
    DEFLATE_LEVEL = 1,
    DEFLATE_MASK = 2, /* the second filter was left out */
    MAX_REASON = 256
};

typedef struct hdf5_writer {
    slc_io_results results; /* first */
    hid_t file;
    int wrong; /* errno of the first write that failed */
} hdf5_writer;

/* A column in the file. */
typedef struct column {
    const char *name, *unit;
    slc_type type;
    hid_t parent, dataset; /* invalid until there is a chunk */
    size_t chunk_rows;
    uint64_t rows;       /* in chunks before the one at hand */
    slc_io_block *block; /* gathers the rows of that one; NULL: they are in the file */
    size_t used;         /* bytes of it, then */
    uint64_t place;      /* where it is */
} column;

typedef struct group {
    hid_t id;
    size_t n_columns;
    column event_offset, columns[];
} group;

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
    const char *path = writer->results.writer.output.path;
    writer->results.broken = true;
    if (writer->wrong != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path, strerror(writer->wrong));
    }
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, reason);
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path,
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
static hid_t make_dataset(const column *c, bool compressed)
{
    const hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = c->chunk_rows;
    const hid_t space = H5Screate_simple(1, &none, &unlimited);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = H5I_INVALID_HID;
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, 1, &chunk) >= 0 &&
        (!compressed || (H5Pset_shuffle(how) >= 0 && H5Pset_deflate(how, DEFLATE_LEVEL) >= 0)) &&
        H5Pset_obj_track_times(how, false) >= 0) {
        dataset = H5Dcreate2(c->parent, c->name, file_type(c->type), space, H5P_DEFAULT, how, H5P_DEFAULT);
    }
    if (dataset >= 0 && !slc_io_hdf5_put_text(dataset, "unit", c->unit, H5T_CSET_UTF8)) {
        (void)H5Dclose(dataset);
        dataset = H5I_INVALID_HID;
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return dataset;
}

/* ---- chunks ------------------------------------------------------------------------------------ */

typedef struct scratch {
    struct libdeflate_compressor *compressor;
    uint8_t *shuffled;
    size_t room;
} scratch;

static void close_scratch(void *at)
{
    scratch *s = at;
    libdeflate_free_compressor(s->compressor);
    free(s->shuffled);
    free(s);
}

static scratch *make_scratch(size_t size, void **at)
{
    scratch *s = *at;
    if (s == NULL) {
        *at = s = calloc(1, sizeof *s);
        if (s != NULL) {
            s->compressor = libdeflate_alloc_compressor(DEFLATE_LEVEL);
        }
    }
    if (s != NULL && s->room < size) {
        free(s->shuffled);
        s->shuffled = malloc(size);
        s->room = s->shuffled != NULL ? size : 0;
    }
    return s == NULL || s->compressor == NULL || s->shuffled == NULL || s->room < size ? NULL : s;
}

/* What HDF5's filters make of a chunk: shuffle, then deflate, but for a chunk that it would make larger. */
static slc_status compress(slc_io_block *block, void **at)
{
    const column *c = block->owner;
    scratch *s = make_scratch(block->size, at);
    if (s == NULL || slc_io_block_reserve(block, block->size) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    slc_io_shuffle(block->bytes, block->size, slc_type_size(c->type), s->shuffled);
    block->encoded_size = libdeflate_zlib_compress(s->compressor, s->shuffled, block->size, block->encoded,
                                                   block->size);
    block->flags = 0;
    if (block->encoded_size == 0) {
        memcpy(block->encoded, s->shuffled, block->size);
        block->encoded_size = block->size;
        block->flags = DEFLATE_MASK;
    }
    return SLC_OK;
}

/* `rows` of the column are in the file then. */
static bool write_chunk(const column *c, uint64_t first, uint64_t rows, uint32_t mask, size_t size,
                        const void *bytes)
{
    const hsize_t at = first, extent = rows;
    return H5Dset_extent(c->dataset, &extent) >= 0 &&
           H5Dwrite_chunk(c->dataset, H5P_DEFAULT, mask, &at, size, bytes) >= 0;
}

static slc_status no_memory(const hdf5_writer *writer, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", writer->results.writer.output.path);
}

static bool is_compressed(const hdf5_writer *writer)
{
    return writer->results.compression == SLC_IO_COMPRESSION_DEFLATE;
}

static slc_status need_dataset(hdf5_writer *writer, column *c, size_t chunk_rows, slc_error *error)
{
    if (c->dataset >= 0) {
        return SLC_OK;
    }
    c->chunk_rows = chunk_rows;
    c->dataset = make_dataset(c, is_compressed(writer));
    return judge(writer, c->dataset >= 0, error);
}

/* Of a full one, in the order of the chunks. The dataset, too, is made here and not when its chunk was given,
 * as where things lie in the file must not depend on how fast the threads were. */
static slc_status place(void *context, slc_io_block *block, slc_error *error)
{
    hdf5_writer *writer = context;
    column *c = block->owner;
    const bool encoded = block->encode != NULL;
    const slc_status status = need_dataset(writer, c, CHUNK_ROWS, error);
    return status != SLC_OK ? status
                            : judge(writer,
                                    write_chunk(c, block->at, block->at + CHUNK_ROWS, block->flags,
                                                encoded ? block->encoded_size : block->size,
                                                encoded ? block->encoded : block->bytes),
                                    error);
}

static slc_status give_chunk(hdf5_writer *writer, column *c, slc_error *error)
{
    slc_io_block *block = c->block;
    c->block = NULL;
    block->owner = c;
    block->at = c->rows;
    c->rows += CHUNK_ROWS;
    return slc_io_encoders_give(writer->results.encoders, block, is_compressed(writer) ? compress : NULL,
                                error);
}

/* As many as fit into the chunk at hand, to their place in the file; chunks that are compressed, and the
 * first, whose size depends on what comes, are gathered. Bytes that were taken; 0 on failure. */
static size_t write_in_place(hdf5_writer *writer, column *c, size_t chunk, size_t left, const uint8_t *from,
                             slc_error *error)
{
    bool good = true;
    if (c->used == 0) {
        const hsize_t extent = c->rows + 1;
        good = H5Dset_extent(c->dataset, &extent) >= 0 &&
               slc_io_hdf5_file_place(writer->file, c->dataset, c->rows, chunk, &c->place);
    }
    const size_t part = left < chunk - c->used ? left : chunk - c->used;
    good = good && slc_io_hdf5_file_put(writer->file, c->place + c->used, from, part);
    c->used += part;
    if (c->used == chunk) {
        c->rows += CHUNK_ROWS;
        c->used = 0;
    }
    return judge(writer, good, error) == SLC_OK ? part : 0;
}

static size_t gather(hdf5_writer *writer, column *c, size_t chunk, size_t left, const uint8_t *from,
                     slc_error *error)
{
    c->block = c->block != NULL ? c->block : slc_io_encoders_take(writer->results.encoders, chunk);
    if (c->block == NULL) {
        (void)no_memory(writer, error);
        return 0;
    }
    const size_t room = chunk - c->block->size, part = left < room ? left : room;
    memcpy(c->block->bytes + c->block->size, from, part);
    c->block->size += part;
    return c->block->size < chunk || give_chunk(writer, c, error) == SLC_OK ? part : 0;
}

static slc_status append_rows(hdf5_writer *writer, column *c, size_t n, const void *rows, slc_error *error)
{
    const size_t size = slc_type_size(c->type), chunk = CHUNK_ROWS * size;
    const uint8_t *from = rows;
    for (size_t left = n * size, part; left > 0; left -= part, from += part) {
        part = c->dataset >= 0 && c->block == NULL && !is_compressed(writer)
                   ? write_in_place(writer, c, chunk, left, from, error)
                   : gather(writer, c, chunk, left, from, error);
        if (part == 0) {
            return error != NULL && error->status == SLC_ERR_MEMORY ? SLC_ERR_MEMORY : SLC_ERR_IO;
        }
    }
    return SLC_OK;
}

/* Writes the rows of the chunk at hand, which goes on: more may come. All before it is placed. */
static slc_status write_rest(hdf5_writer *writer, column *c, bool last, slc_error *error)
{
    const size_t size = slc_type_size(c->type), rows = c->block != NULL ? c->block->size / size : 0;
    slc_status status = need_dataset(writer, c, last && rows > 0 ? rows : CHUNK_ROWS, error);
    if (status != SLC_OK || rows == 0) {
        const hsize_t all = c->rows + c->used / size;
        return status == SLC_OK && c->used > 0 ? judge(writer, H5Dset_extent(c->dataset, &all) >= 0, error)
                                               : status;
    }
    slc_io_block *block = c->block;
    const size_t whole = c->chunk_rows * size, used = block->size;
    memset(block->bytes + used, 0, whole - used);
    block->owner = c;
    block->size = whole;
    if (is_compressed(writer)) {
        void *own = NULL;
        status = compress(block, &own);
        if (own != NULL) {
            close_scratch(own);
        }
    }
    block->size = used;
    const bool encoded = is_compressed(writer);
    return status != SLC_OK ? no_memory(writer, error)
                            : judge(writer,
                                    write_chunk(c, c->rows, c->rows + rows, encoded ? block->flags : 0,
                                                encoded ? block->encoded_size : whole,
                                                encoded ? block->encoded : block->bytes),
                                    error);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Of a group to come, the root's included. There are no times in it, so that the same results are the same
 * bytes. Attributes may be large (names of many inputs, a long command line): a header of the first version,
 * which HDF5 takes unless attributes are counted, holds 64 KiB of them, one of the second (HDF5 1.8) any
 * number. */
static bool set_header(hid_t how)
{
    return H5Pset_obj_track_times(how, false) >= 0 &&
           H5Pset_attr_creation_order(how, H5P_CRT_ORDER_TRACKED) >= 0;
}

static hid_t make_group(const hdf5_writer *writer, const char *name)
{
    const hid_t how = H5Pcreate(H5P_GROUP_CREATE);
    const hid_t id = how >= 0 && set_header(how)
                         ? H5Gcreate2(writer->file, name, H5P_DEFAULT, how, H5P_DEFAULT)
                         : H5I_INVALID_HID;
    (void)slc_io_hdf5_close(how);
    return id;
}

static column new_column(const char *name, const char *unit, slc_type type, hid_t parent)
{
    return (column){.name = name, .unit = unit, .type = type, .parent = parent, .dataset = H5I_INVALID_HID};
}

static slc_status declare_group(hdf5_writer *writer, slc_io_results_group *of, slc_error *error)
{
    const uint64_t zero = 0;
    group *g = calloc(1, sizeof *g + of->schema.n_columns * sizeof *g->columns);
    of->own = g;
    if (g == NULL) {
        return no_memory(writer, error);
    }
    g->id = make_group(writer, of->name);
    g->event_offset = new_column("event_offset", "index", SLC_TYPE_U64, g->id);
    for (; g->n_columns < of->schema.n_columns; g->n_columns++) {
        const slc_column *c = &of->schema.columns[g->n_columns];
        g->columns[g->n_columns] = new_column(c->name, c->unit, c->type, g->id);
    }
    const slc_status status = judge(writer, g->id >= 0, error);
    return status == SLC_OK ? append_rows(writer, &g->event_offset, 1, &zero, error) : status;
}

static bool is_nexus(const slc_io_results *results)
{
    return results->form == &slc_io_results_nexus;
}

static slc_status declare(slc_io_results *results, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const char *lacks = is_nexus(results) ? slc_io_nexus_lacks(results) : NULL;
    if (lacks != NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: NeXus's event data need a column %s",
                        results->writer.output.path, lacks);
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = SLC_OK;
    for (size_t i = 0; i < results->n_groups && status == SLC_OK; i++) {
        status = declare_group(writer, &results->groups[i], error);
    }
    slc_io_hdf5_silence_end(before);
    return status;
}

/* Offsets of the batch continue those in the file. */
static slc_status append_offsets(hdf5_writer *writer, const slc_io_results_part *part, slc_error *error)
{
    const slc_columns *head = part->collection;
    group *g = part->group->own;
    uint64_t offsets[1024];
    slc_status status = SLC_OK;
    for (uint32_t e = 0; e < part->n_events && status == SLC_OK;) {
        size_t n = 0;
        for (; n < sizeof offsets / sizeof *offsets && e < part->n_events; e++) {
            offsets[n++] = part->group->rows + head->event_offset[e + 1];
        }
        status = append_rows(writer, &g->event_offset, n, offsets, error);
    }
    return status;
}

/* Up to the end of a chunk of each column, then of the next: where chunks stand in the file does not depend
 * on how many rows come at once. */
static slc_status append_part(hdf5_writer *writer, const slc_io_results_part *part, slc_error *error)
{
    group *g = part->group->own;
    slc_status status = SLC_OK;
    for (size_t at = 0, some = 0; at < part->n_rows && status == SLC_OK; at += some) {
        const size_t room = CHUNK_ROWS - (size_t)((part->group->rows + at) % CHUNK_ROWS);
        some = part->n_rows - at < room ? part->n_rows - at : room;
        for (size_t c = 0; c < g->n_columns && status == SLC_OK; c++) {
            const slc_column *of = &part->group->schema.columns[c];
            const uint8_t *rows = slc_column_data(part->collection, of);
            status = append_rows(writer, &g->columns[c], some, rows + at * slc_type_size(of->type), error);
        }
    }
    return status == SLC_OK ? append_offsets(writer, part, error) : status;
}

static slc_status put(slc_io_results *results, const slc_io_results_part *parts, size_t n, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        status = append_part(writer, &parts[i], error);
    }
    slc_io_hdf5_silence_end(before);
    return status;
}

/* Everything that was put is in the file. */
static slc_status write_rests(hdf5_writer *writer, bool last, slc_error *error)
{
    slc_io_results *results = &writer->results;
    slc_status status = slc_io_encoders_drain(results->encoders, error);
    for (size_t i = 0; i < results->n_groups && status == SLC_OK; i++) {
        group *g = results->groups[i].own;
        const uint64_t all = results->groups[i].rows;
        for (size_t c = 0; c < g->n_columns && status == SLC_OK; c++) {
            status = write_rest(writer, &g->columns[c], last, error);
        }
        if (results->groups[i].rows_of == SLC_IO_ROWS_WHOLE && status == SLC_OK) { /* one event so far */
            status = append_rows(writer, &g->event_offset, 1, &all, error);
        }
        status = status == SLC_OK ? write_rest(writer, &g->event_offset, last, error) : status;
        if (results->groups[i].rows_of == SLC_IO_ROWS_WHOLE && status == SLC_OK) {
            g->event_offset.block->size -= sizeof all;
        }
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool close_group(slc_io_encoders *encoders, group *g)
{
    bool good = true;
    for (size_t i = 0; i < g->n_columns; i++) {
        good = slc_io_hdf5_close(g->columns[i].dataset) && good;
        slc_io_encoders_return(encoders, g->columns[i].block);
    }
    good = slc_io_hdf5_close(g->event_offset.dataset) && good;
    slc_io_encoders_return(encoders, g->event_offset.block);
    good = slc_io_hdf5_close(g->id) && good;
    free(g);
    return good;
}

static bool close_all(hdf5_writer *writer)
{
    bool good = true;
    slc_io_encoders_stop(
        writer->results.encoders); /* after a failure they may be at blocks of these columns */
    for (size_t i = 0; i < writer->results.n_groups; i++) {
        group *g = writer->results.groups[i].own;
        good = (g == NULL || close_group(writer->results.encoders, g)) && good;
    }
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
        file = H5Fcreate(writer->results.writer.output.temporary, H5F_ACC_TRUNC, how, access);
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(access);
    return file;
}

static slc_status open_file(slc_io_results *results, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_encoders_config config = {
        .threads = results->compression == SLC_IO_COMPRESSION_NONE ? 0 : results->threads,
        .place = place,
        .context = writer,
        .scratch_close = close_scratch,
        .name = results->writer.output.path};
    const slc_status status = slc_io_encoders_open(&config, &results->encoders, error);
    writer->file = H5I_INVALID_HID;
    if (status != SLC_OK) {
        return status;
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    writer->file = create_file(writer);
    return finished(writer, before, writer->file >= 0, error);
}

static slc_status end(slc_io_results *results, bool commit, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = commit ? write_rests(writer, true, error) : SLC_OK;
    const bool linked = !commit || status != SLC_OK || !is_nexus(results) || results->n_groups == 0 ||
                        slc_io_nexus_add(writer->file, results);
    const bool good = close_all(writer) && linked;
    status = status == SLC_OK && commit ? judge(writer, good, error) : status;
    slc_io_hdf5_silence_end(before);
    return status;
}

static slc_status flush(slc_io_results *results, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = write_rests(writer, false, error);
    status = status == SLC_OK ? judge(writer, slc_io_hdf5_file_settle(writer->file), error) : status;
    slc_io_hdf5_silence_end(before);
    return status;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Chunks that were given stand before what comes now. */
static bool settle(hdf5_writer *writer, slc_error *error)
{
    return slc_io_encoders_drain(writer->results.encoders, error) == SLC_OK;
}

static slc_status put_text(slc_io_results *results, const char *name, const char *value, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const bool good = settle(writer, error) && slc_io_hdf5_put_text(writer->file, name, value, H5T_CSET_UTF8);
    return finished(writer, before, good, error);
}

static slc_status put_number(slc_io_results *results, const char *name, double value, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const bool good = settle(writer, error) && slc_io_hdf5_put_attribute(writer->file, name, H5T_IEEE_F64LE,
                                                                         H5T_NATIVE_DOUBLE, &value);
    return finished(writer, before, good, error);
}

static slc_status put_integer(slc_io_results *results, const char *name, int64_t value, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const bool good = settle(writer, error) &&
                      slc_io_hdf5_put_attribute(writer->file, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
    return finished(writer, before, good, error);
}

static slc_status put_names(slc_io_results *results, const char *group_name, const char *name, size_t n,
                            const char *const *texts, slc_error *error)
{
    hdf5_writer *writer = (hdf5_writer *)results;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t parent = settle(writer, error) ? H5Gopen2(writer->file, group_name, H5P_DEFAULT)
                                               : H5I_INVALID_HID;
    bool good = parent >= 0 && slc_io_hdf5_put_texts(parent, name, n, texts);
    good = slc_io_hdf5_close(parent) && good;
    return finished(writer, before, good, error);
}

#define HDF5_FORM                                                                                            \
    .compressions = 1U << SLC_IO_COMPRESSION_NONE | 1U << SLC_IO_COMPRESSION_DEFLATE,                        \
    .usual = SLC_IO_COMPRESSION_NONE, .by_name = true, .size = sizeof(hdf5_writer), .open = open_file,       \
    .declare = declare, .put = put, .text = put_text, .number = put_number, .integer = put_integer,          \
    .names = put_names, .flush = flush, .end = end

const slc_io_results_form slc_io_results_hdf5 = {
    .name = "hdf5", .ends = (const char *const[]){".h5", ".hdf5", ".hdf", NULL}, HDF5_FORM};
const slc_io_results_form slc_io_results_nexus = {
    .name = "nexus", .ends = (const char *const[]){NULL}, HDF5_FORM};
