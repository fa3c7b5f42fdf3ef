/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows for tests of results: a collection with a column of every type, and events of given sizes in any
 * collection. Include it after <cmocka.h>.
 */
#ifndef SUPPORT_ROWS_H
#define SUPPORT_ROWS_H

#include "base/columns.h"

typedef struct every_type {
    slc_columns head;
    uint8_t *u8;
    int8_t *i8;
    uint16_t *u16;
    int16_t *i16;
    uint32_t *u32;
    int32_t *i32;
    uint64_t *u64;
    int64_t *i64;
    float *f32;
    double *f64;
} every_type;

static const slc_column every_type_columns[] = {
    SOA_COLUMN(every_type, u8, "index"), SOA_COLUMN(every_type, i8, "1"),  SOA_COLUMN(every_type, u16, "1"),
    SOA_COLUMN(every_type, i16, "1"),    SOA_COLUMN(every_type, u32, "1"), SOA_COLUMN(every_type, i32, "1"),
    SOA_COLUMN(every_type, u64, "ps"),   SOA_COLUMN(every_type, i64, "1"), SOA_COLUMN(every_type, f32, "mm"),
    SOA_COLUMN(every_type, f64, "MeV"),
};
SOA_SCHEMA(every_type, every_type_schema, "every_type", every_type_columns);

/* Events of the given sizes instead of what was there, by calls with first, first + 1 and so on; returns the
 * number after the last row. */
static inline uint64_t fill_events(const slc_schema *schema, void *collection, uint64_t first,
                                   const uint32_t *sizes, uint32_t n_events,
                                   void (*append_row)(void *collection, uint64_t i))
{
    size_t rows = 0;
    for (uint32_t e = 0; e < n_events; e++) {
        rows += sizes[e];
    }
    assert_int_equal(slc_columns_reserve(schema, collection, rows, n_events), SLC_OK);
    slc_columns_reset(collection);
    for (uint32_t e = 0; e < n_events; e++) {
        for (uint32_t i = 0; i < sizes[e]; i++) {
            append_row(collection, first++);
        }
        slc_columns_end_event(collection);
    }
    return first;
}

#endif
