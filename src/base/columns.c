/* SPDX-License-Identifier: Apache-2.0
 * Collections: one allocation that holds the event offsets and every column, aligned, laid out by the schema.
 */
#include "base/columns.h"

#include "base/block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [SLC_TYPE_U8] = {"u8", 1},   [SLC_TYPE_I8] = {"i8", 1},   [SLC_TYPE_U16] = {"u16", 2},
    [SLC_TYPE_I16] = {"i16", 2}, [SLC_TYPE_U32] = {"u32", 4}, [SLC_TYPE_I32] = {"i32", 4},
    [SLC_TYPE_U64] = {"u64", 8}, [SLC_TYPE_I64] = {"i64", 8}, [SLC_TYPE_F32] = {"f32", 4},
    [SLC_TYPE_F64] = {"f64", 8},
};

size_t slc_type_size(slc_type type)
{
    return types[type].size;
}

const char *slc_type_name(slc_type type)
{
    return types[type].name;
}

/* One column with its spare vector, in whole multiples of the alignment. */
static size_t padded(size_t bytes)
{
    return (bytes + 2 * SLC_COLUMN_ALIGN - 1) / SLC_COLUMN_ALIGN * SLC_COLUMN_ALIGN;
}

void **slc_column_pointer(void *collection, const slc_column *column)
{
    return (void **)(void *)((char *)collection + column->member);
}

const void *slc_column_data(const void *collection, const slc_column *column)
{
    return *(void *const *)(const void *)((const char *)collection + column->member);
}

size_t slc_columns_bound(const slc_schema *schema, size_t rows, uint32_t events)
{
    size_t bytes = SLC_COLUMN_ALIGN + padded(((size_t)events + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < schema->n_columns; i++) {
        bytes += padded(rows * slc_type_size(schema->columns[i].type));
    }
    return bytes;
}

/* Blocks of so many bytes come from the system, in large pages where it has them (base/block.h): a bound is
 * much more than the rows that come of it, and no page is touched before a row needs it, which calloc() keeps
 * only until the process has freed as much. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) /* its guards are worth more */
#define MAPPED INT32_MAX
#endif
#endif
#if !defined(MAPPED)
#define MAPPED SLC_BLOCK_LARGE
#endif

/* Of zeros; NULL without memory. */
static void *new_block(size_t bytes)
{
    return bytes < MAPPED ? calloc(1, bytes) : slc_block_map(bytes);
}

static void free_block(void *block, size_t bytes)
{
    if (bytes < MAPPED) {
        free(block);
    } else {
        slc_block_unmap(block, bytes);
    }
}

/* Columns of so many rows begin in this block then; the offsets that there were, and `rows` rows, are copied.
 */
static void lay_out(const slc_schema *schema, void *collection, char *block, size_t capacity,
                    uint32_t event_capacity, size_t rows)
{
    slc_columns *head = collection;
    char *begin = block + (SLC_COLUMN_ALIGN - (uintptr_t)block % SLC_COLUMN_ALIGN) % SLC_COLUMN_ALIGN;
    uint32_t *offsets = (uint32_t *)(void *)begin;
    if (head->event_offset != NULL && head->event_offset != offsets) {
        memcpy(offsets, head->event_offset, ((size_t)head->n_events + 1) * sizeof *offsets);
    }
    char *at = begin + padded(((size_t)event_capacity + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        const size_t width = slc_type_size(column->type);
        void **pointer = slc_column_pointer(collection, column);
        if (rows > 0) {
            memcpy(at, *pointer, rows * width);
        }
        *pointer = at;
        at += padded(capacity * width);
    }
    head->event_offset = offsets;
    head->capacity = capacity;
    head->event_capacity = event_capacity;
}

slc_status slc_columns_reserve(const slc_schema *schema, void *collection, size_t rows, uint32_t events)
{
    slc_columns *head = collection;
    if (head->block != NULL && rows <= head->capacity && events <= head->event_capacity) {
        return SLC_OK;
    }
    if (rows > UINT32_MAX) {
        return SLC_ERR_USAGE;
    }
    /* Growing by half at least keeps repeated appends linear. */
    const size_t half_more = head->capacity + head->capacity / 2;
    size_t capacity = rows <= head->capacity ? head->capacity : rows;
    if (rows > head->capacity && half_more > rows && half_more <= UINT32_MAX) {
        capacity = half_more;
    }
    const uint32_t event_capacity = events > head->event_capacity ? events : head->event_capacity;
    if (head->size == 0 && head->n_events == 0 && head->block != NULL &&
        slc_columns_bound(schema, capacity, event_capacity) <= head->block_size) { /* tightened before */
        lay_out(schema, collection, head->block, capacity, event_capacity, 0);
        return SLC_OK;
    }
    const size_t bytes = slc_columns_bound(schema, capacity, event_capacity);
    char *block = new_block(bytes);
    if (block == NULL) {
        return SLC_ERR_MEMORY;
    }
    lay_out(schema, collection, block, capacity, event_capacity, head->size);
    free_block(head->block, head->block_size);
    head->block = block;
    head->block_size = bytes;
    return SLC_OK;
}

void slc_columns_tighten(const slc_schema *schema, void *collection, size_t rows)
{
    slc_columns *head = collection;
    slc_columns_reset(collection);
    if (head->block != NULL && slc_columns_bound(schema, rows, head->event_capacity) <= head->block_size) {
        lay_out(schema, collection, head->block, rows, head->event_capacity, 0);
    }
}

void slc_columns_reset(void *collection)
{
    slc_columns *head = collection;
    head->size = 0;
    head->n_events = 0;
    if (head->event_offset != NULL) {
        head->event_offset[0] = 0;
    }
}

void slc_columns_clear(const slc_schema *schema, void *collection)
{
    slc_columns *head = collection;
    free_block(head->block, head->block_size);
    for (size_t i = 0; i < schema->n_columns; i++) {
        *slc_column_pointer(collection, &schema->columns[i]) = NULL;
    }
    memset(head, 0, sizeof *head);
}

void slc_columns_end_event(void *collection)
{
    slc_columns *head = collection;
    assert(head->event_offset != NULL && head->n_events < head->event_capacity);
    head->event_offset[++head->n_events] = (uint32_t)head->size;
}

bool slc_columns_check(const slc_schema *schema, const void *collection, const char **why)
{
    const slc_columns *head = collection;
    const char *wrong = NULL;
    if (head->size > head->capacity || head->n_events > head->event_capacity) {
        wrong = "more rows or events than fit";
    } else if (head->event_offset == NULL) {
        wrong = head->size > 0 || head->n_events > 0 ? "no memory behind the rows" : NULL;
    } else if (head->event_offset[0] != 0 || head->event_offset[head->n_events] != head->size) {
        wrong = "offsets do not span the rows";
    } else {
        for (uint32_t e = 0; e < head->n_events; e++) {
            if (head->event_offset[e] > head->event_offset[e + 1]) {
                wrong = "offsets fall";
            }
        }
        /* A view owns nothing and begins anywhere. */
        for (size_t i = 0; i < schema->n_columns && head->block != NULL; i++) {
            if ((uintptr_t)slc_column_data(collection, &schema->columns[i]) % SLC_COLUMN_ALIGN != 0) {
                wrong = "a column is not aligned";
            }
        }
    }
    if (wrong != NULL && why != NULL) {
        *why = wrong;
    }
    return wrong == NULL;
}
