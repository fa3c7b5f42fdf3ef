/* SPDX-License-Identifier: Apache-2.0
 * Rows of any collection as JSON; the checksum of a result file. */
#include "cli_rows.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
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

bool slc_cli_json_rows(FILE *out, const slc_schema *schema, const void *collection, const char *name,
                       bool *any)
{
    for (size_t row = 0; row < size_of(collection); row++) {
        json_t *object = json_object();
        int wrong = object == NULL;
        for (size_t i = 0; i < schema->n_columns && !wrong; i++) {
            const slc_column *column = &schema->columns[i];
            wrong = json_object_set_new(object, column->name,
                                        json_value(column, column_of(collection, column), row));
        }
        if (name != NULL && !wrong) {
            wrong = json_object_set_new(object, "name", slc_cli_json_text(name));
        }
        (void)fputs(*any ? ",\n" : "\n", out);
        *any = true;
        wrong = wrong || json_dumpf(object, out, JSON_COMPACT) != 0;
        json_decref(object);
        if (wrong) {
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
