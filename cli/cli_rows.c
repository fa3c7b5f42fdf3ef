/* SPDX-License-Identifier: Apache-2.0
 * Rows of any collection as JSON; the checksum of a result file. */
#include "cli_rows.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const void *column_of(const void *collection, const slc_column *column)
{
    void *data;
    memcpy(&data, (const char *)collection + column->member, sizeof data);
    return data;
}

static size_t size_of(const void *collection)
{
    const slc_columns *head = collection; /* every collection begins with it */
    return head->size;
}

/* Integers that fit 64 bits with a sign. */
static int64_t whole(const slc_column *column, const void *data, size_t row)
{
    switch (column->type) {
    case SLC_TYPE_U8:
        return ((const uint8_t *)data)[row];
    case SLC_TYPE_I8:
        return ((const int8_t *)data)[row];
    case SLC_TYPE_U16:
        return ((const uint16_t *)data)[row];
    case SLC_TYPE_I16:
        return ((const int16_t *)data)[row];
    case SLC_TYPE_U32:
        return ((const uint32_t *)data)[row];
    case SLC_TYPE_I32:
        return ((const int32_t *)data)[row];
    default:
        return ((const int64_t *)data)[row];
    }
}

static json_t *json_value(const slc_column *column, const void *data, size_t row)
{
    if (column->type == SLC_TYPE_F64 || column->type == SLC_TYPE_F32) {
        const double value = column->type == SLC_TYPE_F64 ? ((const double *)data)[row]
                                                          : (double)((const float *)data)[row];
        return isfinite(value) ? json_real(value) : json_null(); /* JSON has no other word for it */
    }
    /* Beyond what the JSON library has as an integer: the nearest number with a fraction. No event and no
     * pixel count comes near it; a damaged word may. */
    if (column->type == SLC_TYPE_U64 && ((const uint64_t *)data)[row] > INT64_MAX) {
        return json_real((double)((const uint64_t *)data)[row]);
    }
    return json_integer(whole(column, data, row));
}

json_t *slc_cli_json_columns(const slc_schema *schema)
{
    json_t *columns = json_object();
    for (size_t i = 0; i < schema->n_columns && columns != NULL; i++) {
        if (json_object_set_new(columns, schema->columns[i].name, json_array()) != 0) {
            json_decref(columns);
            columns = NULL;
        }
    }
    return columns;
}

bool slc_cli_json_append_columns(json_t *columns, const slc_schema *schema, const void *collection)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        json_t *array = json_object_get(columns, column->name);
        for (size_t row = 0; row < size_of(collection); row++) {
            if (json_array_append_new(array, json_value(column, column_of(collection, column), row)) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* In the fewest digits that read back to the same bits; the JSON library has one number of digits for all. */
static void put_real(FILE *out, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        const double back = strtod(text, NULL);
        if (back >= value && back <= value) {
            break;
        }
    }
    (void)fprintf(out, "%s%s", text, strpbrk(text, ".e") != NULL ? "" : ".0");
}

/* ,"NAME":VALUE, without the comma of the first. */
static bool put_member(FILE *out, const char *name, json_t *value, bool first)
{
    (void)fprintf(out, "%s\"%s\":", first ? "" : ",", name);
    bool good = value != NULL;
    if (json_is_real(value)) {
        put_real(out, json_real_value(value));
    } else {
        good = good && json_dumpf(value, out, JSON_COMPACT | JSON_ENCODE_ANY) == 0;
    }
    json_decref(value);
    return good;
}

bool slc_cli_json_rows(FILE *out, const slc_schema *schema, const void *collection, const char *name,
                       bool *any)
{
    for (size_t row = 0; row < size_of(collection); row++) {
        (void)fputs(*any ? ",\n{" : "\n{", out);
        *any = true;
        bool good = true;
        for (size_t i = 0; i < schema->n_columns && good; i++) {
            const slc_column *column = &schema->columns[i];
            good = put_member(out, column->name, json_value(column, column_of(collection, column), row),
                              i == 0);
        }
        good = good && (name == NULL || put_member(out, "name", slc_cli_json_text(name), false));
        (void)fputc('}', out);
        if (!good) {
            return ferror(out) != 0; /* a failed write is told when the file is completed */
        }
    }
    return true;
}

slc_status slc_cli_write_checksum(slc_io_writer *results, uint64_t checksum, slc_error *error)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, checksum);
    return results != NULL ? slc_io_results_text(results, "checksum", text, error) : SLC_OK;
}
