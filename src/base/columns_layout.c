/* SPDX-License-Identifier: Apache-2.0
 *
 * The same rows in other layouts: array of structures, array of structures of arrays (section 2.2.3 of A.
 * Hennequin's thesis, 2022), text. All of it is driven by the schema, so that a new column needs no code
 * here.
 */
#include "base/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

size_t slc_columns_row_offset(const slc_schema *schema, size_t column)
{
    size_t bytes = 0;
    for (size_t i = 0; i < column; i++) {
        bytes += slc_type_size(schema->columns[i].type);
    }
    return bytes;
}

size_t slc_columns_row_size(const slc_schema *schema)
{
    return slc_columns_row_offset(schema, schema->n_columns);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

size_t slc_columns_blocks_bound(const slc_schema *schema, size_t rows, size_t block)
{
    if (block == 0 || rows == 0) {
        return 0;
    }
    /* rows is at most 2^32 and a row some hundred bytes; a block can be anything. */
    const size_t blocks = rows / block + (rows % block != 0);
    const size_t row_size = slc_columns_row_size(schema);
    return block > SIZE_MAX / blocks / row_size ? SIZE_MAX : blocks * block * row_size;
}

/* With a width known to the compiler a copy is one move. */
static inline void copy_value(char *to, const char *from, size_t width)
{
    switch (width) {
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
        break;
    }
}

/* n values that lie `from_step` bytes apart to places `to_step` bytes apart. */
static void copy_apart(char *to, size_t to_step, const char *from, size_t from_step, size_t n, size_t width)
{
    for (size_t i = 0; i < n; i++) {
        copy_value(to + i * to_step, from + i * from_step, width);
    }
}

slc_status slc_columns_to_blocks(const slc_schema *schema, const void *collection, size_t block, void *blocks,
                                 size_t capacity)
{
    const slc_columns *head = collection;
    const size_t rows = head->size, row_size = slc_columns_row_size(schema);
    if (block == 0) {
        return SLC_ERR_USAGE;
    }
    const size_t bound = slc_columns_blocks_bound(schema, rows, block);
    if (bound == SIZE_MAX || capacity < bound) {
        return SLC_ERR_CAPACITY;
    }
    for (size_t i = 0; i < schema->n_columns && rows > 0; i++) {
        const size_t width = slc_type_size(schema->columns[i].type);
        const char *data = slc_column_data(collection, &schema->columns[i]);
        char *to = (char *)blocks + block * slc_columns_row_offset(schema, i);
        if (block == 1) {
            copy_apart(to, row_size, data, width, rows, width);
            continue;
        }
        for (size_t row = 0; row < rows; row += block) {
            const size_t n = rows - row < block ? rows - row : block;
            memcpy(to, data + row * width, n * width);
            memset(to + n * width, 0, (block - n) * width);
            to += block * row_size;
        }
    }
    return SLC_OK;
}

slc_status slc_columns_from_blocks(const slc_schema *schema, const void *blocks, size_t rows, size_t block,
                                   void *collection)
{
    slc_columns *head = collection;
    const size_t row_size = slc_columns_row_size(schema);
    if (block == 0) {
        return SLC_ERR_USAGE;
    }
    if (rows > head->capacity - head->size) {
        return SLC_ERR_CAPACITY;
    }
    for (size_t i = 0; i < schema->n_columns && rows > 0; i++) {
        const size_t width = slc_type_size(schema->columns[i].type);
        char *to = *slc_column_pointer(collection, &schema->columns[i]);
        const char *from = (const char *)blocks + block * slc_columns_row_offset(schema, i);
        to += head->size * width;
        if (block == 1) {
            copy_apart(to, width, from, row_size, rows, width);
            continue;
        }
        for (size_t row = 0; row < rows; row += block) {
            const size_t n = rows - row < block ? rows - row : block;
            memcpy(to + row * width, from, n * width);
            from += block * row_size;
        }
    }
    head->size += rows;
    return SLC_OK;
}

slc_status slc_columns_to_rows(const slc_schema *schema, const void *collection, void *rows, size_t capacity)
{
    return slc_columns_to_blocks(schema, collection, 1, rows, capacity);
}

slc_status slc_columns_from_rows(const slc_schema *schema, const void *rows, size_t n_rows, void *collection)
{
    return slc_columns_from_blocks(schema, rows, n_rows, 1, collection);
}

/* ---- text -------------------------------------------------------------------------------------- */

enum { VALUE_TEXT = 40 }; /* the longest: %.17g of a double, with sign and exponent */

static int format_value(char text[VALUE_TEXT], slc_type type, const void *column, size_t row)
{
    switch (type) {
    case SLC_TYPE_U8:
        return snprintf(text, VALUE_TEXT, " %" PRIu8, ((const uint8_t *)column)[row]);
    case SLC_TYPE_I8:
        return snprintf(text, VALUE_TEXT, " %" PRId8, ((const int8_t *)column)[row]);
    case SLC_TYPE_U16:
        return snprintf(text, VALUE_TEXT, " %" PRIu16, ((const uint16_t *)column)[row]);
    case SLC_TYPE_I16:
        return snprintf(text, VALUE_TEXT, " %" PRId16, ((const int16_t *)column)[row]);
    case SLC_TYPE_U32:
        return snprintf(text, VALUE_TEXT, " %" PRIu32, ((const uint32_t *)column)[row]);
    case SLC_TYPE_I32:
        return snprintf(text, VALUE_TEXT, " %" PRId32, ((const int32_t *)column)[row]);
    case SLC_TYPE_U64:
        return snprintf(text, VALUE_TEXT, " %" PRIu64, ((const uint64_t *)column)[row]);
    case SLC_TYPE_I64:
        return snprintf(text, VALUE_TEXT, " %" PRId64, ((const int64_t *)column)[row]);
    case SLC_TYPE_F32:
        return snprintf(text, VALUE_TEXT, " %.9g", (double)((const float *)column)[row]);
    default:
        return snprintf(text, VALUE_TEXT, " %.17g", ((const double *)column)[row]);
    }
}

typedef struct output {
    slc_columns_write write;
    void *context;
    bool failed;
} output;

static void put(output *out, const char *text, size_t size)
{
    out->failed = out->failed || !out->write(out->context, text, size);
}

static void put_word(output *out, const char *word)
{
    put(out, word, strlen(word));
}

static void dump_head(const slc_schema *schema, output *out)
{
    put_word(out, "# ");
    put_word(out, schema->name);
    put_word(out, ": event");
    for (size_t i = 0; i < schema->n_columns; i++) {
        put_word(out, " ");
        put_word(out, schema->columns[i].name);
        put_word(out, "[");
        put_word(out, schema->columns[i].unit);
        put_word(out, "]");
    }
    put_word(out, "\n");
}

slc_status slc_columns_dump(const slc_schema *schema, const void *collection, slc_columns_write write,
                            void *context)
{
    const slc_columns *head = collection;
    output out = {write, context, false};
    char text[VALUE_TEXT];
    uint32_t event = 0;
    dump_head(schema, &out);
    for (size_t row = 0; row < head->size && !out.failed; row++) {
        while (event < head->n_events && row >= head->event_offset[event + 1]) {
            event++;
        }
        if (event < head->n_events) {
            put(&out, text, (size_t)snprintf(text, sizeof text, "%" PRIu32, event));
        } else {
            put_word(&out, "-");
        }
        for (size_t i = 0; i < schema->n_columns; i++) {
            const slc_column *column = &schema->columns[i];
            put(&out, text,
                (size_t)format_value(text, column->type, slc_column_data(collection, column), row));
        }
        put_word(&out, "\n");
    }
    return out.failed ? SLC_ERR_IO : SLC_OK;
}
