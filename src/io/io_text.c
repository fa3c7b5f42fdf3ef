/* SPDX-License-Identifier: Apache-2.0
 *
 * Text files: a stream for who writes words, and rows of collections as CSV, block by block.
 */
#include "base/columns.h"
#include "io/io_csv.h"
#include "io/io_output.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 1 << 18 /* bytes that are made at once, about; they stay in the cache until they are written */
};

typedef struct memory {
    void *at;
    size_t size;
} memory;

typedef struct text {
    slc_io_writer writer;
    memory columns, tail, events, block; /* of rows, while they are written; kept for the next */
} text;

static slc_status end(slc_io_writer *writer, bool commit, slc_error *error)
{
    text *t = (text *)writer;
    (void)commit;
    (void)error;
    free(t->columns.at);
    free(t->tail.at);
    free(t->events.at);
    free(t->block.at);
    return SLC_OK;
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
    return writer->output.stream;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static slc_status no_memory(const text *t, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", t->writer.output.path);
}

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
    FILE *out = t->writer.output.stream;
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
static void number_events(const slc_columns *head, size_t from, size_t n, uint64_t first, uint32_t *event,
                          uint64_t *numbers)
{
    for (size_t i = 0; i < n; i++) {
        while (head->event_offset[*event + 1] <= from + i) {
            ++*event;
        }
        numbers[i] = first + *event;
    }
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
    char *block = room(&t->block, slc_io_csv_bound(&lines, most));
    slc_io_csv_column *columns = t->columns.at;
    slc_status status = block != NULL ? SLC_OK : no_memory(t, error);
    uint32_t event = 0;
    for (size_t at = 0, n = 0; at < size && status == SLC_OK; at += n) {
        n = size - at < most ? size - at : most;
        if (form->events) {
            number_events(collection, at, n, form->first_event, &event, events);
        }
        const char *last = slc_io_csv_put(&lines, n, block);
        status = slc_io_writer_put(t, block, (size_t)(last - block), error);
        for (size_t i = form->events ? 1 : 0; i < lines.n_columns; i++) {
            const char *data = columns[i].data;
            columns[i].data = data != NULL ? data + n * slc_type_size(columns[i].type) : NULL;
        }
    }
    return status;
}

slc_status slc_io_text_rows(slc_io_writer *writer, const slc_io_text_form *form, const void *collection,
                            slc_error *error)
{
    text *t = (text *)writer;
    const slc_columns *head = collection;
    if (head == NULL) {
        return put_names(t, form, error);
    }
    const size_t size = !form->events        ? head->size
                        : head->n_events > 0 ? head->event_offset[head->n_events]
                                             : 0;
    return size > 0 ? put_rows(t, form, collection, size, error) : SLC_OK;
}
