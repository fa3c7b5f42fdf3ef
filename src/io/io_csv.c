/* SPDX-License-Identifier: Apache-2.0
 * Columns as lines of CSV. */
#include "io/io_csv.h"
#include "base/decimal.h"

#include <string.h>

size_t slc_io_csv_tail_bound(const char *name)
{
    return name != NULL ? 2 * strlen(name) + 4 : 1; /* each character twice, two quotes, comma, line feed */
}

char *slc_io_csv_tail(const char *name, char *to)
{
    if (name != NULL) {
        const bool quoted = strpbrk(name, ",\"\r\n") != NULL;
        *to++ = ',';
        *to = '"';
        to += quoted;
        for (; *name != '\0'; name++) {
            *to = '"';
            to += *name == '"';
            *to++ = *name;
        }
        *to = '"';
        to += quoted;
    }
    *to = '\n';
    return to + 1;
}

size_t slc_io_csv_bound(const slc_io_csv_lines *lines, size_t n)
{
    static const size_t most[] = {[SLC_TYPE_U8] = 3,
                                  [SLC_TYPE_I8] = 4,
                                  [SLC_TYPE_U16] = 5,
                                  [SLC_TYPE_I16] = 6,
                                  [SLC_TYPE_U32] = 10,
                                  [SLC_TYPE_I32] = 11,
                                  [SLC_TYPE_U64] = 20,
                                  [SLC_TYPE_I64] = 20,
                                  [SLC_TYPE_F32] = SLC_DECIMAL_F32,
                                  [SLC_TYPE_F64] = SLC_DECIMAL_F64};
    size_t line = lines->tail_size;
    for (size_t i = 0; i < lines->n_columns; i++) {
        line += most[lines->columns[i].type] + 1;
    }
    return n * line + SLC_DECIMAL_ROOM;
}

static inline char *put_value(char *to, const slc_io_csv_column *column, size_t row)
{
    const void *data = column->data;
    if (data == NULL) {
        return to;
    }
    switch (column->type) {
    case SLC_TYPE_U8:
        return slc_decimal_u64(to, ((const uint8_t *)data)[row]);
    case SLC_TYPE_I8:
        return slc_decimal_i64(to, ((const int8_t *)data)[row]);
    case SLC_TYPE_U16:
        return slc_decimal_u64(to, ((const uint16_t *)data)[row]);
    case SLC_TYPE_I16:
        return slc_decimal_i64(to, ((const int16_t *)data)[row]);
    case SLC_TYPE_U32:
        return slc_decimal_u64(to, ((const uint32_t *)data)[row]);
    case SLC_TYPE_I32:
        return slc_decimal_i64(to, ((const int32_t *)data)[row]);
    case SLC_TYPE_U64:
        return slc_decimal_u64(to, ((const uint64_t *)data)[row]);
    case SLC_TYPE_I64:
        return slc_decimal_i64(to, ((const int64_t *)data)[row]);
    case SLC_TYPE_F32:
        return slc_decimal_f32(to, ((const float *)data)[row]);
    default:
        return slc_decimal_f64(to, ((const double *)data)[row]);
    }
}

char *slc_io_csv_put(const slc_io_csv_lines *lines, size_t n, char *to)
{
    const slc_io_csv_lines own = *lines; /* what is written could be its memory, for all the compiler knows */
    const slc_io_csv_column *end = own.columns + own.n_columns;
    slc_decimal_prepare();
    for (size_t row = 0; row < n; row++) {
        for (const slc_io_csv_column *column = own.columns; column < end; column++) {
            to = put_value(to, column, row);
            *to++ = ',';
        }
        memcpy(to - 1, own.tail, own.tail_size);
        to += own.tail_size - 1;
    }
    return to;
}
