/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: declaring schemas and reaching a column by its row in the schema.
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
