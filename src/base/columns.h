/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: declaring schemas, reaching a column by its row in the schema, and what is done to
 * whole collections by stages alone (base.h has the rest).
 *
 *     static const slc_column hits_columns[] = {
 *         SOA_COLUMN(slc_velo_hits, x_mm, "mm"),
 *         ...
 *     };
 *     SOA_SCHEMA(slc_velo_hits, slc_velo_hits_schema, "hits", hits_columns);
 *
 * SOA_SCHEMA does not compile where a member of the struct has no row.
 */
#ifndef SLUICE_BASE_COLUMNS_H
#define SLUICE_BASE_COLUMNS_H

#include <sluice/base.h>

#define SOA_TYPE(pointer)                                                                                    \
    _Generic((pointer), uint8_t *: SLC_TYPE_U8, int8_t *: SLC_TYPE_I8, uint16_t *: SLC_TYPE_U16,                   \
             int16_t *: SLC_TYPE_I16, uint32_t *: SLC_TYPE_U32, int32_t *: SLC_TYPE_I32, uint64_t *: SLC_TYPE_U64, \
             int64_t *: SLC_TYPE_I64, float *: SLC_TYPE_F32, double *: SLC_TYPE_F64)

#define SOA_COLUMN(collection, member_, unit_)                                                               \
    {                                                                                                        \
        .name = #member_, .unit = (unit_), .member = offsetof(collection, member_),                          \
        .type = SOA_TYPE(((collection *)0)->member_)                                                         \
    }

#define SOA_SCHEMA(collection, variable, name_, columns_)                                                    \
    _Static_assert(sizeof(collection) ==                                                                     \
                       sizeof(slc_columns) + sizeof(columns_) / sizeof((columns_)[0]) * sizeof(void *),      \
                   "every column of " #collection " needs a row in its schema");                             \
    const slc_schema variable = {                                                                            \
        .name = (name_), .columns = (columns_), .n_columns = sizeof(columns_) / sizeof((columns_)[0])}

/* The column's memory, typed by column->type. */
const void *slc_column_data(const void *collection, const slc_column *column);
/* The pointer itself, inside the collection. */
void **slc_column_pointer(void *collection, const slc_column *column);

size_t slc_type_size(slc_type type);
const char *slc_type_name(slc_type type);

/* Bytes of one allocation for so many rows and events. */
size_t slc_columns_bound(const slc_schema *schema, size_t rows, uint32_t events);

/* Contract: offsets start at 0, never fall, end at size; all within capacity. On false, *why says what is
 * wrong. */
bool slc_columns_check(const slc_schema *schema, const void *collection, const char **why);

/* Forgets rows and events, of which fewer will come than there is room for: where the memory is enough,
 * columns of just `rows` rows lie close after each other in it, and pages that hold none are not touched.
 * capacity is `rows` then; slc_columns_reserve makes more of the same memory. */
void slc_columns_tighten(const slc_schema *schema, void *collection, size_t rows);

/* A window on n_events events from first_event on, without a copy: `view` is a collection of the same type
 * whose columns begin at the window's first row. event_offset: n_events + 1 entries of the caller's, filled
 * with the window's own offsets, which begin at 0. The view is to be read only, and is void as soon as the
 * collection grows or is cleared. It may be given wherever a const collection is; its columns have no
 * alignment, and after its last row come other rows. slc_columns_reserve makes of it a collection
 * with memory of its own; nothing need be given back otherwise. SLC_ERR_USAGE if the collection has no
 * such events. */
slc_status slc_columns_view(const slc_schema *schema, const void *collection, uint32_t first_event,
                            uint32_t n_events, uint32_t *event_offset, void *view);

/* Appends all events of `from`, of each those rows for which keep[row] is not 0, in their order: the
 * copy_back of SOACollections (A. Hennequin's thesis, 2022, section 2.4.1) with the events kept apart. There
 * may be events without a row. SLC_ERR_USAGE if `into` is `from` or one of them holds rows beyond its last
 * event, SLC_ERR_CAPACITY if the kept rows or the events do not fit; nothing is changed then. Of `into`,
 * the spare vector after its rows may be overwritten. */
slc_status slc_columns_copy_if(const slc_schema *schema, const void *from, const uint8_t *keep, void *into);
/* The same with a row of bits, as masks are stored: row r is bit r % 8 of byte r / 8. */
slc_status slc_columns_copy_if_bits(const slc_schema *schema, const void *from, const uint8_t *keep_bits,
                                    void *into);

/* Where column number `column` begins in a row (slc_columns_row_size). */
size_t slc_columns_row_offset(const slc_schema *schema, size_t column);

/* Array of structures of arrays: blocks of `block` rows (at least 1). A block holds `block` values of the
 * first column, then those of the second, and so on, without padding: block · slc_columns_row_size bytes.
 * After the last row, the last block is filled with zeros. Blocks of 1 row are rows as records; one block of
 * all rows is a structure of arrays. Value of row r, column c: at (r / block) · block · row_size + block ·
 * row_offset(c) + (r % block) · size(c). Bytes of so many rows in blocks
 * (SIZE_MAX if they cannot be counted): */
size_t slc_columns_blocks_bound(const slc_schema *schema, size_t rows, size_t block);
/* Writes all rows (not the events). SLC_ERR_CAPACITY if `capacity` bytes are too few, SLC_ERR_USAGE for
 * blocks of 0 rows. */
slc_status slc_columns_to_blocks(const slc_schema *schema, const void *collection, size_t block, void *blocks,
                                 size_t capacity);
/* Appends so many rows, read from blocks, to the current event of the collection. SLC_ERR_CAPACITY where they
 * do not fit. */
slc_status slc_columns_from_blocks(const slc_schema *schema, const void *blocks, size_t rows, size_t block,
                                   void *collection);
/* Writes the collection as text, piece by piece, to `write` (pieces are not lines; false ends the dump with
 * SLC_ERR_IO): a line "# hits: event x_mm[mm] module[index]" of the schema's name, column names and units,
 * then a line for each row, its event and its values with blanks between. Numbers with a fraction are written
 * so that reading them gives the same bits ("%.9g", "%.17g"; "nan", "inf"), in the locale of the program.
 * Rows beyond the last event have "-" as event. */
typedef bool (*slc_columns_write)(void *context, const char *text, size_t size);
slc_status slc_columns_dump(const slc_schema *schema, const void *collection, slc_columns_write write,
                            void *context);

/* Rows of the event that has most. */
static inline size_t slc_columns_largest_event(const slc_columns *head)
{
    size_t largest = 0;
    for (uint32_t e = 0; e < head->n_events; e++) {
        const size_t rows = head->event_offset[e + 1] - head->event_offset[e];
        largest = rows > largest ? rows : largest;
    }
    return largest;
}

#endif
