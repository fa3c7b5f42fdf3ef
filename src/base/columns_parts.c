/* SPDX-License-Identifier: Apache-2.0
 * Parts of collections: views, appended rows and events, filters. */
#include "base/columns.h"

#include <string.h>

slc_status slc_columns_view(const slc_schema *schema, const void *collection, uint32_t first_event,
                            uint32_t n_events, uint32_t *event_offset, void *view)
{
    const slc_columns *head = collection;
    if (first_event > head->n_events || n_events > head->n_events - first_event) {
        return SLC_ERR_USAGE;
    }
    /* A collection that never had memory has no offsets; its one window is empty. */
    const uint32_t *const offset = head->event_offset;
    const uint32_t first_row = offset != NULL ? offset[first_event] : 0;
    event_offset[0] = 0;
    for (uint32_t e = 1; e <= n_events && offset != NULL; e++) {
        event_offset[e] = offset[first_event + e] - first_row;
    }
    slc_columns *window = view;
    *window = (slc_columns){
        .size = event_offset[n_events],
        .capacity = event_offset[n_events],
        .n_events = n_events,
        .event_capacity = n_events,
        .event_offset = event_offset,
    };
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        char *const *data = (char *const *)(const void *)((const char *)collection + column->member);
        *slc_column_pointer(view, column) = *data != NULL ? *data + first_row * slc_type_size(column->type)
                                                          : NULL;
    }
    return SLC_OK;
}

slc_status slc_columns_append(const slc_schema *schema, const void *from, size_t first_row, size_t rows,
                              void *into)
{
    const slc_columns *source = from;
    slc_columns *head = into;
    if (first_row > source->size || rows > source->size - first_row) {
        return SLC_ERR_USAGE;
    }
    if (rows > head->capacity - head->size) {
        return SLC_ERR_CAPACITY;
    }
    for (size_t i = 0; i < schema->n_columns && rows > 0; i++) {
        const slc_column *column = &schema->columns[i];
        const size_t width = slc_type_size(column->type);
        const char *data = slc_column_data(from, column);
        char *to = *slc_column_pointer(into, column);
        memcpy(to + head->size * width, data + first_row * width, rows * width);
    }
    head->size += rows;
    return SLC_OK;
}

/* Is the last event of the collection ended, so that others may follow? */
static bool is_ended(const slc_columns *head)
{
    return head->size == (head->event_offset != NULL ? head->event_offset[head->n_events] : 0);
}

slc_status slc_columns_append_events(const slc_schema *schema, const void *from, uint32_t first_event,
                                     uint32_t n_events, void *into)
{
    const slc_columns *source = from;
    slc_columns *head = into;
    if (first_event > source->n_events || n_events > source->n_events - first_event || !is_ended(head)) {
        return SLC_ERR_USAGE;
    }
    if (n_events == 0) {
        return SLC_OK;
    }
    if (n_events > head->event_capacity - head->n_events) {
        return SLC_ERR_CAPACITY;
    }
    const uint32_t *offset = source->event_offset + first_event;
    const size_t first_row = offset[0], begin = head->size;
    const slc_status status = slc_columns_append(schema, from, first_row, offset[n_events] - first_row, into);
    for (uint32_t e = 1; e <= n_events && status == SLC_OK; e++) {
        head->event_offset[++head->n_events] = (uint32_t)(begin + offset[e] - first_row);
    }
    return status;
}

/* ---- filters ----------------------------------------------------------------------------------- */

/* What to keep: a byte a row, or a bit. */
typedef struct selection {
    const uint8_t *mask;
    bool bits;
} selection;

static inline size_t is_kept(selection keep, size_t row)
{
    return keep.bits ? keep.mask[row / 8] >> (row % 8) & 1U : keep.mask[row] != 0;
}

/* Every row is written and the place moves on after kept ones: no branch to predict. The last write may go
 * one value beyond the kept rows, into the spare vector. */
static inline void copy_kept_of(size_t width, const char *data, size_t rows, selection keep, char *to)
{
    for (size_t row = 0; row < rows; row++) {
        memcpy(to, data + row * width, width);
        to += is_kept(keep, row) * width;
    }
}

/* With a width known to the compiler a copy is one move. */
static void copy_kept(size_t width, const char *data, size_t rows, selection keep, char *to)
{
    switch (width) {
    case 1:
        copy_kept_of(1, data, rows, keep, to);
        break;
    case 2:
        copy_kept_of(2, data, rows, keep, to);
        break;
    case 4:
        copy_kept_of(4, data, rows, keep, to);
        break;
    default:
        copy_kept_of(8, data, rows, keep, to);
        break;
    }
}

static slc_status copy_if(const slc_schema *schema, const void *from, selection keep, void *into)
{
    const slc_columns *source = from;
    slc_columns *head = into;
    /* Rows of an event that has not ended would be lost without a word. */
    if (from == into || !is_ended(head) || !is_ended(source)) {
        return SLC_ERR_USAGE;
    }
    if (source->n_events == 0) {
        return SLC_OK;
    }
    const size_t rows = source->event_offset[source->n_events];
    size_t kept = 0;
    for (size_t row = 0; row < rows; row++) {
        kept += is_kept(keep, row);
    }
    if (kept > head->capacity - head->size || source->n_events > head->event_capacity - head->n_events) {
        return SLC_ERR_CAPACITY;
    }
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        const size_t width = slc_type_size(column->type);
        char *to = *slc_column_pointer(into, column);
        copy_kept(width, slc_column_data(from, column), rows, keep, to + head->size * width);
    }
    size_t row = 0;
    for (uint32_t e = 0; e < source->n_events; e++) {
        for (; row < source->event_offset[e + 1]; row++) {
            head->size += is_kept(keep, row);
        }
        slc_columns_end_event(into);
    }
    return SLC_OK;
}

slc_status slc_columns_copy_if(const slc_schema *schema, const void *from, const uint8_t *keep, void *into)
{
    return copy_if(schema, from, (selection){keep, false}, into);
}

slc_status slc_columns_copy_if_bits(const slc_schema *schema, const void *from, const uint8_t *keep_bits,
                                    void *into)
{
    return copy_if(schema, from, (selection){keep_bits, true}, into);
}

bool slc_columns_zip(const void *a, const void *b, const char **why)
{
    const slc_columns *first = a, *second = b;
    const char *wrong = NULL;
    if (first->n_events != second->n_events) {
        wrong = "different numbers of events";
    } else if (first->size != second->size) {
        wrong = "different numbers of rows";
    }
    for (uint32_t e = 1; wrong == NULL && e <= first->n_events; e++) {
        if (first->event_offset[e] != second->event_offset[e]) {
            wrong = "an event has different numbers of rows";
        }
    }
    if (wrong != NULL && why != NULL) {
        *why = wrong;
    }
    return wrong == NULL;
}
