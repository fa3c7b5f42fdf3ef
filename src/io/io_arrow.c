/* SPDX-License-Identifier: Apache-2.0
 *
 * Results as Arrow: a file, or a stream. A single group is a table, which is cut into record batches of so
 * many rows each. Of several groups an event is a row: they are cut as they are put, but what is small is
 * gathered first, and what is large is split between events. What is large is written from the caller's
 * memory. Nothing of this depends on threads, so that their number does not change the bytes.
 */
#include "io/io_arrow.h"
#include "base/columns.h"
#include "base/decimal.h"

#include <stdlib.h>
#include <string.h>

enum {
    TABLE_ROWS = 131072, /* of a record batch of one group: 1 MiB of a column of doubles */
    GATHERED = 1 << 20,  /* bytes of events: fewer wait for more */
    MOST_ROWS = 1 << 20, /* of a group in a record batch, but where one event alone has more */
    MAGIC_BYTES = 8      /* "ARROW1" and two zeros */
};

/* Of a group: what is gathered, and list offsets that do not begin at 0. */
typedef struct gathered {
    void *rows; /* a collection as the caller's, of the columns that are written */
    uint32_t *offsets;
    size_t offsets_room;
} gathered;

typedef struct arrow_writer {
    slc_io_results results; /* first */
    bool is_file, begun;    /* its schema is written */
    uint64_t at;            /* bytes written */
    uint64_t gathered;      /* bytes of events that wait */
    slc_io_flat flat;
    slc_io_arrow_body body;
    slc_io_arrow_attributes attributes;
    slc_io_arrow_place *batches; /* of a file */
    size_t n_batches, batches_room;
} arrow_writer;

/* What of a group goes into a record batch. Of a table, rows; else events. */
typedef struct slice {
    slc_io_results_group *group;
    const void *collection;
    size_t first, n;
} slice;

static arrow_writer *writer_of(slc_io_results *results)
{
    return (arrow_writer *)results;
}

/* Threads may still read what the caller lends: they end before it gets that back. */
static slc_status broken(arrow_writer *w, slc_status status)
{
    w->results.broken = true;
    slc_io_encoders_close(w->results.encoders);
    w->results.encoders = NULL;
    return status;
}

static slc_status no_memory(arrow_writer *w, slc_error *error)
{
    return broken(
        w, slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", w->results.writer.output.path));
}

static bool is_table(const arrow_writer *w)
{
    return w->results.n_given == 1;
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* A message: its mark and size, metadata so far that the body begins at a multiple of 64 bytes, the body. */
static slc_status write_message(arrow_writer *w, const uint8_t *metadata, size_t size, int64_t body,
                                slc_io_arrow_place *place, slc_error *error)
{
    const uint32_t mark = UINT32_MAX;
    const size_t end = (size_t)(w->at % SLC_IO_ARROW_ALIGN) + 8 + size,
                 zeros = (SLC_IO_ARROW_ALIGN - end % SLC_IO_ARROW_ALIGN) % SLC_IO_ARROW_ALIGN;
    const uint32_t told = (uint32_t)(size + zeros);
    uint8_t *head = metadata != NULL ? calloc(1, 8 + size + zeros) : NULL;
    if (head == NULL) {
        return no_memory(w, error);
    }
    memcpy(head, &mark, 4);
    memcpy(head + 4, &told, 4);
    memcpy(head + 8, metadata, size);
    const bool good = slc_io_arrow_body_write(&w->body, fileno(w->results.writer.output.stream), head,
                                              8 + size + zeros);
    const slc_status status = good ? SLC_OK : slc_io_output_failed(w->results.writer.output.path, error);
    free(head);
    *place = (slc_io_arrow_place){(int64_t)w->at, (int32_t)(8 + told), 0, body};
    w->at += 8 + told + (uint64_t)body;
    return status == SLC_OK ? SLC_OK : broken(w, status);
}

/* Bytes without any message. */
static slc_status write_bytes(arrow_writer *w, const void *bytes, size_t size, slc_error *error)
{
    w->body.n_buffers = 0;
    w->at += size;
    return slc_io_arrow_body_write(&w->body, fileno(w->results.writer.output.stream), bytes, size)
               ? SLC_OK
               : broken(w, slc_io_output_failed(w->results.writer.output.path, error));
}

/* The schema with the attributes that there are so far. */
static slc_status begin(arrow_writer *w, slc_error *error)
{
    slc_io_arrow_place place;
    size_t size;
    if (w->begun) {
        return SLC_OK;
    }
    const slc_status status = w->is_file ? write_bytes(w, "ARROW1\0", MAGIC_BYTES, error) : SLC_OK;
    w->begun = true;
    w->attributes.written = w->attributes.n;
    if (status != SLC_OK) {
        return status;
    }
    w->body.n_buffers = 0;
    const uint8_t *metadata = slc_io_arrow_schema_message(&w->flat, &w->results, &w->attributes, &size);
    return write_message(w, metadata, size, 0, &place, error);
}

static slc_status write_batch(arrow_writer *w, size_t rows, bool with_late, slc_error *error)
{
    slc_io_arrow_batch batch = {
        .rows = (int64_t)rows, .codec = w->body.codec, .late = with_late ? &w->attributes : NULL};
    if (slc_io_arrow_body_lay(&w->body, w->results.encoders, &batch.body) != SLC_OK) {
        return no_memory(w, error);
    }
    if (w->n_batches == w->batches_room) {
        const size_t room = 2 * w->batches_room + 64;
        slc_io_arrow_place *batches = realloc(w->batches, room * sizeof *batches);
        if (batches == NULL) {
            return no_memory(w, error);
        }
        w->batches = batches;
        w->batches_room = room;
    }
    batch.nodes = w->body.nodes;
    batch.n_nodes = w->body.n_nodes;
    batch.buffers = w->body.pairs;
    batch.n_buffers = w->body.n_buffers;
    size_t size;
    const uint8_t *metadata = slc_io_arrow_batch_message(&w->flat, &batch, &size);
    const slc_status status = write_message(w, metadata, size, batch.body, &w->batches[w->n_batches], error);
    w->n_batches += w->is_file && status == SLC_OK;
    return status;
}

/* ---- record batches ---------------------------------------------------------------------------- */

/* Nothing is absent in a result: the bitmap that would tell it has no bytes. */
static void add_node(arrow_writer *w, size_t rows)
{
    slc_io_arrow_node(&w->body, rows);
    slc_io_arrow_buffer_add(&w->body, NULL, 0);
}

static void add_columns(arrow_writer *w, const slice *s, size_t first, size_t rows)
{
    for (size_t c = 0; c < s->group->schema.n_columns; c++) {
        const slc_column *column = &s->group->schema.columns[c];
        const size_t size = slc_type_size(column->type);
        add_node(w, rows);
        slc_io_arrow_buffer_add(
            &w->body,
            rows > 0 ? (const uint8_t *)slc_column_data(s->collection, column) + first * size : NULL,
            rows * size);
    }
}

/* Rows before event e of the slice, counted from the collection's first. */
static uint32_t offset_of(const slice *s, size_t e)
{
    const slc_columns *head = s->collection;
    return head != NULL && head->n_events > 0 ? head->event_offset[e] : 0;
}

/* n + 1 offsets, the first of them 0; NULL without memory. */
static const uint32_t *list_offsets(const slice *s)
{
    const slc_columns *head = s->collection;
    gathered *own = s->group->own;
    if (s->first == 0 && head != NULL && head->n_events > 0) {
        return head->event_offset;
    }
    if (own->offsets_room <= s->n) {
        free(own->offsets);
        own->offsets_room = 2 * s->n + 2;
        own->offsets = malloc(own->offsets_room * sizeof *own->offsets);
    }
    for (size_t e = 0; e <= s->n && own->offsets != NULL; e++) {
        own->offsets[e] = offset_of(s, s->first + e) - offset_of(s, s->first);
    }
    own->offsets_room = own->offsets != NULL ? own->offsets_room : 0;
    return own->offsets;
}

static slc_status add_events(arrow_writer *w, const slice *s, slc_error *error)
{
    const uint32_t first = offset_of(s, s->first), rows = offset_of(s, s->first + s->n) - first;
    if (s->group->rows_of == SLC_IO_ROWS_ONE) {
        if (rows != s->n) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: group '%s' has not one row an event",
                            w->results.writer.output.path, s->group->name);
        }
        add_node(w, rows);
        add_columns(w, s, first, rows);
        return SLC_OK;
    }
    if (rows > INT32_MAX) {
        return slc_fail(error, SLC_ERR_CAPACITY,
                        "%s: an event has %u rows of '%s': lists of Arrow have 2147483647 at most",
                        w->results.writer.output.path, (unsigned)rows, s->group->name);
    }
    const uint32_t *offsets = list_offsets(s);
    if (offsets == NULL) {
        return no_memory(w, error);
    }
    add_node(w, s->n);
    slc_io_arrow_buffer_add(&w->body, offsets, (s->n + 1) * sizeof *offsets);
    add_node(w, rows);
    add_columns(w, s, first, rows);
    return SLC_OK;
}

static slc_status write_rows(arrow_writer *w, const slice *s, bool with_late, slc_error *error)
{
    const slc_status status = begin(w, error);
    w->body.n_buffers = w->body.n_nodes = 0;
    add_columns(w, s, s->first, s->n);
    return status == SLC_OK ? write_batch(w, s->n, with_late, error) : broken(w, status);
}

/* Of all groups. */
static slc_status write_slices(arrow_writer *w, const slice *slices, bool with_late, slc_error *error)
{
    slc_status status = begin(w, error);
    w->body.n_buffers = w->body.n_nodes = 0;
    for (size_t i = 0; i < w->results.n_groups && status == SLC_OK; i++) {
        status = add_events(w, &slices[i], error);
    }
    return status == SLC_OK ? write_batch(w, slices[0].n, with_late, error) : broken(w, status);
}

/* ---- gathering --------------------------------------------------------------------------------- */

static void gathered_slices(const arrow_writer *w, slice *slices)
{
    for (size_t i = 0; i < w->results.n_groups; i++) {
        slc_io_results_group *g = &w->results.groups[i];
        const gathered *own = g->own;
        const slc_columns *head = own->rows;
        slices[i] = (slice){g, head, 0, is_table(w) ? head->size : head->n_events};
    }
}

/* All that waits. */
static slc_status write_gathered(arrow_writer *w, slc_error *error)
{
    slice slices[SLC_IO_RESULTS_GROUPS] = {{.group = NULL}};
    gathered_slices(w, slices);
    if (w->results.n_groups == 0 || slices[0].n == 0) {
        return SLC_OK;
    }
    const slc_status status = is_table(w) ? write_rows(w, &slices[0], false, error)
                                          : write_slices(w, slices, false, error);
    for (size_t i = 0; i < w->results.n_groups; i++) {
        slc_columns_reset(((gathered *)w->results.groups[i].own)->rows);
    }
    w->gathered = 0;
    return status;
}

static slc_status gather(const slice *s, bool is_a_table)
{
    const gathered *own = s->group->own;
    const slc_schema *schema = &s->group->schema;
    const slc_columns *head = own->rows, *from = s->collection;
    const size_t rows = is_a_table ? s->n : offset_of(s, s->first + s->n) - offset_of(s, s->first);
    const size_t events = is_a_table ? 0 : s->n;
    size_t room = head->size + rows, room_events = head->n_events + events;
    room = room > head->capacity ? 2 * room : room;
    room_events = room_events > head->event_capacity ? 2 * room_events : room_events;
    slc_status status = slc_columns_reserve(schema, own->rows, room, (uint32_t)room_events);
    if (status != SLC_OK) {
        return status;
    }
    if (is_a_table) {
        return slc_columns_append(schema, s->collection, s->first, s->n, own->rows);
    }
    for (size_t e = 0; e < events && from == NULL; e++) {
        slc_columns_end_event(own->rows);
    }
    return from != NULL
               ? slc_columns_append_events(schema, from, (uint32_t)s->first, (uint32_t)events, own->rows)
               : SLC_OK;
}

/* ---- rows of one group ------------------------------------------------------------------------- */

static slc_status put_table(arrow_writer *w, const slc_io_results_part *part, slc_error *error)
{
    const gathered *own = part->group->own;
    const slc_columns *waiting = own->rows;
    slc_status status = SLC_OK;
    for (size_t at = 0; at < part->n_rows && status == SLC_OK;) {
        const size_t left = part->n_rows - at, room = TABLE_ROWS - waiting->size;
        const slice s = {part->group, part->collection, at, left < room ? left : room};
        if (s.n == TABLE_ROWS) {
            status = write_rows(w, &s, false, error);
        } else if (gather(&s, true) != SLC_OK) {
            status = no_memory(w, error);
        } else if (waiting->size == TABLE_ROWS) {
            status = write_gathered(w, error);
        }
        at += s.n;
    }
    return status;
}

/* ---- events of several ------------------------------------------------------------------------- */

/* How many events from `first` on have MOST_ROWS rows of the group at most; one at least. */
static size_t events_that_fit(const slice *s, size_t first, size_t n)
{
    size_t low = 1, high = n;
    while (low < high) {
        const size_t middle = low + (high - low + 1) / 2;
        if (offset_of(s, first + middle) - offset_of(s, first) <= MOST_ROWS) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static slc_status write_events(arrow_writer *w, slice *slices, size_t n, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t first = 0; first < n && status == SLC_OK;) {
        size_t fit = n - first;
        for (size_t i = 0; i < w->results.n_groups; i++) {
            fit = events_that_fit(&slices[i], first, fit);
        }
        for (size_t i = 0; i < w->results.n_groups; i++) {
            slices[i].first = first;
            slices[i].n = fit;
        }
        status = write_slices(w, slices, false, error);
        first += fit;
    }
    return status;
}

/* Of all groups of the file: those that are left out have empty events. */
static slc_status make_slices(arrow_writer *w, const slc_io_results_part *parts, size_t n, slice *slices,
                              slc_error *error)
{
    for (size_t i = 0; i < w->results.n_groups; i++) {
        slices[i] = (slice){&w->results.groups[i], NULL, 0, parts[0].n_events};
    }
    for (size_t i = 0; i < n; i++) {
        if (parts[i].n_events != parts[0].n_events) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "%s: groups '%s' and '%s' have not the same events, as a row of Arrow must",
                            w->results.writer.output.path, parts[0].group->name, parts[i].group->name);
        }
        slices[parts[i].group - w->results.groups].collection = parts[i].collection;
    }
    return SLC_OK;
}

static slc_status put_events(arrow_writer *w, const slc_io_results_part *parts, size_t n, slc_error *error)
{
    slice slices[SLC_IO_RESULTS_GROUPS] = {{.group = NULL}};
    uint64_t bytes = 0;
    slc_status status = make_slices(w, parts, n, slices, error);
    if (status != SLC_OK || parts[0].n_events == 0) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        bytes += parts[i].n_rows * slc_columns_row_size(&parts[i].group->schema);
    }
    bytes += (uint64_t)parts[0].n_events * sizeof(uint32_t) * n;
    if (bytes >= GATHERED) {
        status = write_gathered(w, error);
        return status == SLC_OK ? write_events(w, slices, parts[0].n_events, error) : status;
    }
    for (size_t i = 0; i < w->results.n_groups; i++) {
        if (gather(&slices[i], false) != SLC_OK) {
            return no_memory(w, error);
        }
    }
    w->gathered += bytes;
    return w->gathered >= GATHERED ? write_gathered(w, error) : SLC_OK;
}

static slc_status put(slc_io_results *results, const slc_io_results_part *parts, size_t n, slc_error *error)
{
    arrow_writer *w = writer_of(results);
    return is_table(w) ? put_table(w, &parts[0], error) : put_events(w, parts, n, error);
}

/* ---- attributes -------------------------------------------------------------------------------- */

static slc_status put_text(slc_io_results *results, const char *name, const char *value, slc_error *error)
{
    arrow_writer *w = writer_of(results);
    return slc_io_arrow_attribute_put(&w->attributes, NULL, name, value) ? SLC_OK : no_memory(w, error);
}

static slc_status put_number(slc_io_results *results, const char *name, double value, slc_error *error)
{
    char text[SLC_DECIMAL_ROOM + 1];
    slc_decimal_prepare();
    *slc_decimal_f64(text, value) = '\0';
    return put_text(results, name, text, error);
}

static slc_status put_integer(slc_io_results *results, const char *name, int64_t value, slc_error *error)
{
    char text[SLC_DECIMAL_ROOM + 1];
    *slc_decimal_i64(text, value) = '\0';
    return put_text(results, name, text, error);
}

static slc_status put_names(slc_io_results *results, const char *group, const char *name, size_t n,
                            const char *const *texts, slc_error *error)
{
    arrow_writer *w = writer_of(results);
    char *json = slc_io_arrow_json(n, texts);
    const bool good = json != NULL && slc_io_arrow_attribute_put(&w->attributes, group, name, json);
    free(json);
    return good ? SLC_OK : no_memory(w, error);
}

/* ---- the file ---------------------------------------------------------------------------------- */

static slc_status open_any(slc_io_results *results, bool is_file, slc_error *error)
{
    arrow_writer *w = writer_of(results);
    const slc_io_encoders_config config = {.threads = results->threads,
                                           .place = slc_io_arrow_place_block,
                                           .context = w,
                                           .scratch_close = slc_io_arrow_scratch_close,
                                           .name = results->writer.output.path};
    w->is_file = is_file;
    w->body.codec = results->compression == SLC_IO_COMPRESSION_LZ4    ? SLC_IO_ARROW_LZ4
                    : results->compression == SLC_IO_COMPRESSION_ZSTD ? SLC_IO_ARROW_ZSTD
                                                                      : SLC_IO_ARROW_STORED;
    return w->body.codec == SLC_IO_ARROW_STORED ? SLC_OK
                                                : slc_io_encoders_open(&config, &results->encoders, error);
}

static slc_status open_file(slc_io_results *results, slc_error *error)
{
    return open_any(results, true, error);
}

static slc_status open_stream(slc_io_results *results, slc_error *error)
{
    return open_any(results, false, error);
}

/* A collection of the group's type, of which only the columns that are written are known. */
static slc_status declare(slc_io_results *results, slc_error *error)
{
    for (size_t i = 0; i < results->n_groups; i++) {
        slc_io_results_group *g = &results->groups[i];
        size_t size = sizeof(slc_columns);
        for (size_t c = 0; c < g->schema.n_columns; c++) {
            const size_t end = g->schema.columns[c].member + sizeof(void *);
            size = end > size ? end : size;
        }
        gathered *own = g->own = calloc(1, sizeof *own);
        if (own == NULL || (own->rows = calloc(1, size)) == NULL) {
            return no_memory(writer_of(results), error);
        }
        if (results->n_given > 1 && g->rows_of == SLC_IO_ROWS_WHOLE) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: rows of group '%s' are no events",
                            results->writer.output.path, g->name);
        }
    }
    return SLC_OK;
}

static slc_status flush(slc_io_results *results, slc_error *error)
{
    const slc_status status = begin(writer_of(results), error);
    return status == SLC_OK ? write_gathered(writer_of(results), error) : status;
}

/* Attributes that came after the schema go with a record batch of no rows. */
static slc_status write_late(arrow_writer *w, slc_error *error)
{
    slice slices[SLC_IO_RESULTS_GROUPS] = {{.group = NULL}};
    if (w->is_file || w->attributes.written == w->attributes.n || w->results.n_groups == 0) {
        return SLC_OK;
    }
    gathered_slices(w, slices);
    return is_table(w) ? write_rows(w, &slices[0], true, error) : write_slices(w, slices, true, error);
}

static slc_status write_footer(arrow_writer *w, slc_error *error)
{
    size_t size;
    const uint8_t *footer = slc_io_arrow_footer(&w->flat, &w->results, &w->attributes, w->batches,
                                                w->n_batches, &size);
    if (footer == NULL) {
        return no_memory(w, error);
    }
    const uint32_t told = (uint32_t)size;
    slc_status status = write_bytes(w, footer, size, error);
    status = status == SLC_OK ? write_bytes(w, &told, sizeof told, error) : status;
    return status == SLC_OK ? write_bytes(w, "ARROW1", 6, error) : status;
}

static slc_status complete(arrow_writer *w, slc_error *error)
{
    static const uint8_t end_of_stream[8] = {0xff, 0xff, 0xff, 0xff};
    slc_status status = begin(w, error);
    status = status == SLC_OK ? write_gathered(w, error) : status;
    status = status == SLC_OK ? write_late(w, error) : status;
    status = status == SLC_OK ? write_bytes(w, end_of_stream, sizeof end_of_stream, error) : status;
    return status == SLC_OK && w->is_file ? write_footer(w, error) : status;
}

static slc_status end(slc_io_results *results, bool commit, slc_error *error)
{
    arrow_writer *w = writer_of(results);
    const slc_status status = commit ? complete(w, error) : SLC_OK;
    (void)broken(w, status); /* ends the threads */
    for (size_t i = 0; i < results->n_groups; i++) {
        gathered *own = results->groups[i].own;
        if (own != NULL && own->rows != NULL) {
            slc_columns_clear(&results->groups[i].schema, own->rows);
            free(own->rows);
        }
        free(own != NULL ? own->offsets : NULL);
        free(own);
    }
    slc_io_arrow_attributes_clear(&w->attributes);
    free(w->batches);
    slc_io_arrow_body_clear(&w->body);
    slc_io_flat_clear(&w->flat);
    return status;
}

#define FORM(name_, end_, to_stdout_, open_)                                                                 \
    {                                                                                                        \
        .name = (name_), .ends = (const char *const[]){end_, NULL},                                          \
        .compressions = 1U << SLC_IO_COMPRESSION_NONE | 1U << SLC_IO_COMPRESSION_LZ4 |                       \
                        1U << SLC_IO_COMPRESSION_ZSTD,                                                       \
        .usual = SLC_IO_COMPRESSION_NONE, .to_stdout = (to_stdout_), .size = sizeof(arrow_writer),           \
        .open = (open_), .declare = declare, .put = put, .text = put_text, .number = put_number,             \
        .integer = put_integer, .names = put_names, .flush = flush, .end = end                               \
    }
const slc_io_results_form slc_io_results_arrow = FORM("arrow", ".arrow", false, open_file);
const slc_io_results_form slc_io_results_arrow_stream = FORM("arrow-stream", ".arrows", true, open_stream);
