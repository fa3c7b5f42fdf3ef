/* SPDX-License-Identifier: Apache-2.0
 *
 * Text files: a stream for who writes words, and rows of collections as CSV. Rows are made into lines block
 * by block; with threads, a block is a copy of its rows, of which a thread makes the lines while the caller
 * goes on (io_encode.h).
 */
#include "base/columns.h"
#include "base/team.h"
#include "io/io_csv.h"
#include "io/io_encode.h"
#include "io/io_output.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 1 << 18, /* bytes of lines at most, or one line; they stay in the cache until they are written */
    ALIGN = 8        /* of columns in a block that is copied */
};

typedef struct memory {
    void *at;
    size_t size;
} memory;

typedef struct text {
    slc_io_writer writer;
    memory columns, tail, events, block; /* of rows, while they are written; kept for the next */
    slc_io_encoders *encoders;           /* NULL: there were no threads so far */
    slc_status status;                   /* of lines that they made or placed */
    slc_error error;
} text;

/* ---- lines by other threads -------------------------------------------------------------------- */

/* What a block begins with; `columns` of slc_io_csv_column, the tail and the columns' values follow, each
 * aligned. */
typedef struct head {
    size_t rows, columns, tail;
} head;

static size_t aligned(size_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t packed_size(const slc_io_csv_lines *lines, size_t n)
{
    size_t size = sizeof(head) + lines->n_columns * sizeof *lines->columns + aligned(lines->tail_size);
    for (size_t i = 0; i < lines->n_columns; i++) {
        const slc_io_csv_column *column = &lines->columns[i];
        size += column->data != NULL ? aligned(n * slc_type_size(column->type)) : 0;
    }
    return size;
}

static void pack(const slc_io_csv_lines *lines, size_t n, uint8_t *to)
{
    const head h = {n, lines->n_columns, lines->tail_size};
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    memcpy(to, lines->columns, lines->n_columns * sizeof *lines->columns);
    to += lines->n_columns * sizeof *lines->columns;
    memcpy(to, lines->tail, lines->tail_size);
    to += aligned(lines->tail_size);
    for (size_t i = 0; i < lines->n_columns; i++) {
        const slc_io_csv_column *column = &lines->columns[i];
        if (column->data != NULL) {
            memcpy(to, column->data, n * slc_type_size(column->type));
            to += aligned(n * slc_type_size(column->type));
        }
    }
}

static slc_status encode(slc_io_block *block, void **scratch)
{
    head h;
    (void)scratch;
    memcpy(&h, block->bytes, sizeof h);
    slc_io_csv_column *columns = (void *)(block->bytes + sizeof h);
    const uint8_t *tail = (const uint8_t *)(columns + h.columns), *from = tail + aligned(h.tail);
    for (size_t i = 0; i < h.columns; i++) {
        if (columns[i].data != NULL) { /* the caller's, who may have given it back by now */
            columns[i].data = from;
            from += aligned(h.rows * slc_type_size(columns[i].type));
        }
    }
    const slc_io_csv_lines lines = {columns, h.columns, (const char *)tail, h.tail};
    if (slc_io_block_reserve(block, slc_io_csv_bound(&lines, h.rows)) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    char *begin = (char *)block->encoded;
    block->encoded_size = (size_t)(slc_io_csv_put(&lines, h.rows, begin) - begin);
    return SLC_OK;
}

static slc_status place(void *context, slc_io_block *block, slc_error *error)
{
    return slc_io_writer_put(context, block->encoded, block->encoded_size, error);
}

static slc_status no_memory(const text *t, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", t->writer.output.path);
}

static slc_status give(text *t, const slc_io_csv_lines *lines, size_t n, slc_error *error)
{
    const size_t size = packed_size(lines, n);
    slc_io_block *block = slc_io_encoders_take(t->encoders, size);
    if (block == NULL) {
        return no_memory(t, error);
    }
    pack(lines, n, block->bytes);
    block->size = size;
    return slc_io_encoders_give(t->encoders, block, encode, error);
}

/* Until all lines are in the stream. */
static void drain(text *t)
{
    if (t->encoders != NULL && t->status == SLC_OK) {
        t->status = slc_io_encoders_drain(t->encoders, &t->error);
    }
}

/* ---- the file ---------------------------------------------------------------------------------- */

static slc_status end(slc_io_writer *writer, bool commit, slc_error *error)
{
    text *t = (text *)writer;
    if (commit) {
        drain(t);
    }
    const slc_status status = t->status == SLC_OK ? SLC_OK : slc_fail(error, t->status, "%s", t->error.text);
    slc_io_encoders_close(t->encoders);
    free(t->columns.at);
    free(t->tail.at);
    free(t->events.at);
    free(t->block.at);
    return status;
}

slc_status slc_io_text_create(const char *path, slc_io_writer **writer, slc_error *error)
{
    const slc_status status = slc_io_writer_open(sizeof(text), path, false, writer, error);
    if (status == SLC_OK) {
        (*writer)->end = end;
    }
    return status;
}

void *slc_io_text_stream(slc_io_writer *writer)
{
    drain((text *)writer); /* what goes wrong is told by slc_io_finish */
    return writer->output.stream;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* Room for so many bytes; what was there is lost. NULL without. */
static void *room(memory *m, size_t size)
{
    if (m->size < size) {
        free(m->at);
        m->at = malloc(size);
        m->size = m->at != NULL ? size : 0;
    }
    return m->at;
}

static slc_status put_names(text *t, const slc_io_text_form *form, slc_error *error)
{
    FILE *out = slc_io_text_stream(&t->writer);
    const char *comma = "";
    if (form->events) {
        (void)fputs("event", out);
        comma = ",";
    }
    for (size_t i = 0; i < form->schema->n_columns; i++, comma = ",") {
        (void)fprintf(out, "%s%s", comma, form->schema->columns[i].name);
    }
    (void)fprintf(out, "%s\n", form->name != NULL ? ",name" : "");
    return ferror(out) == 0 ? SLC_OK : slc_io_output_failed(t->writer.output.path, error);
}

/* What the lines are made of; with events, their numbers are the first column, which is `events`. */
static bool lines_of(text *t, const slc_io_text_form *form, const void *collection, const uint64_t *events,
                     slc_io_csv_lines *lines)
{
    const size_t n = form->schema->n_columns;
    slc_io_csv_column *columns = room(&t->columns, (n + 1) * sizeof *columns), *next = columns;
    char *tail = room(&t->tail, slc_io_csv_tail_bound(form->name));
    if (columns == NULL || tail == NULL) {
        return false;
    }
    if (form->events) {
        *next++ = (slc_io_csv_column){events, SLC_TYPE_U64};
    }
    for (size_t i = 0; i < n; i++) {
        const slc_column *column = &form->schema->columns[i];
        *next++ = (slc_io_csv_column){slc_column_data(collection, column), column->type};
    }
    *lines = (slc_io_csv_lines){columns, (size_t)(next - columns), tail,
                                (size_t)(slc_io_csv_tail(form->name, tail) - tail)};
    return true;
}

/* The numbers of the events of rows from … from + n - 1. *event is that of the row before, from 0. */
static void number_events(const slc_columns *rows, size_t from, size_t n, uint64_t first, uint32_t *event,
                          uint64_t *numbers)
{
    for (size_t i = 0; i < n; i++) {
        while (rows->event_offset[*event + 1] <= from + i) {
            ++*event;
        }
        numbers[i] = first + *event;
    }
}

static slc_status put_lines(text *t, const slc_io_csv_lines *lines, size_t n, slc_error *error)
{
    char *block = room(&t->block, slc_io_csv_bound(lines, n));
    if (block == NULL) {
        return no_memory(t, error);
    }
    const char *last = slc_io_csv_put(lines, n, block);
    return slc_io_writer_put(t, block, (size_t)(last - block), error);
}

static slc_status put_rows(text *t, const slc_io_text_form *form, const void *collection, size_t size,
                           slc_error *error)
{
    slc_io_csv_lines lines;
    uint64_t *events = room(&t->events, BLOCK); /* a line has more than the 8 bytes of an event */
    if (events == NULL || !lines_of(t, form, collection, events, &lines)) {
        return no_memory(t, error);
    }
    const size_t most = BLOCK / slc_io_csv_bound(&lines, 1) + 1;
    slc_io_csv_column *columns = t->columns.at;
    slc_status status = SLC_OK;
    uint32_t event = 0;
    for (size_t at = 0, n = 0; at < size && status == SLC_OK; at += n) {
        n = size - at < most ? size - at : most;
        if (form->events) {
            number_events(collection, at, n, form->first_event, &event, events);
        }
        status = t->encoders != NULL ? give(t, &lines, n, error) : put_lines(t, &lines, n, error);
        for (size_t i = form->events ? 1 : 0; i < lines.n_columns; i++) {
            const char *data = columns[i].data;
            columns[i].data = data != NULL ? data + n * slc_type_size(columns[i].type) : NULL;
        }
    }
    return status;
}

static slc_status open_encoders(text *t, const slc_exec *exec, slc_error *error)
{
    const slc_io_encoders_config config = {.threads = exec->threads > 0 ? exec->threads
                                                                        : slc_team_processors(),
                                           .place = place,
                                           .context = t,
                                           .name = t->writer.output.path};
    return slc_io_encoders_open(&config, &t->encoders, error);
}

static slc_status put_collection(text *t, const slc_io_text_form *form, const slc_columns *rows,
                                 slc_error *error)
{
    const size_t size = !form->events         ? rows->size
                        : rows->n_events == 0 ? 0
                                              : rows->event_offset[rows->n_events];
    slc_status status = SLC_OK;
    if (form->exec != NULL && t->encoders == NULL && size > 0) {
        status = open_encoders(t, form->exec, error);
    }
    return status == SLC_OK && size > 0 ? put_rows(t, form, rows, size, error) : status;
}

slc_status slc_io_text_rows(slc_io_writer *writer, const slc_io_text_form *form, const void *collection,
                            slc_error *error)
{
    text *t = (text *)writer;
    if (t->status == SLC_OK) { /* else what _stream waited for has failed, or an earlier call */
        t->status = collection != NULL ? put_collection(t, form, collection, &t->error)
                                       : put_names(t, form, &t->error);
    }
    return t->status == SLC_OK ? SLC_OK : slc_fail(error, t->status, "%s", t->error.text);
}
