/* SPDX-License-Identifier: Apache-2.0
 * Rows of any collection as CSV and JSON. */
#include "cli_rows.h"
#include "cli_talk.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
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

static void print_value(FILE *out, const slc_column *column, const void *data, size_t row)
{
    if (column->type == SLC_TYPE_F64) {
        (void)fprintf(out, "%.17g", ((const double *)data)[row]);
    } else if (column->type == SLC_TYPE_F32) {
        (void)fprintf(out, "%.9g", (double)((const float *)data)[row]);
    } else if (column->type == SLC_TYPE_U64) {
        (void)fprintf(out, "%" PRIu64, ((const uint64_t *)data)[row]);
    } else {
        (void)fprintf(out, "%" PRId64, whole(column, data, row));
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

static void print_names(FILE *out, const slc_schema *schema)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? "," : "", schema->columns[i].name);
    }
}

static void print_fields(FILE *out, const slc_schema *schema, const void *collection, size_t row)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        (void)fputs(i > 0 ? "," : "", out);
        print_value(out, column, column_of(collection, column), row);
    }
}

void slc_cli_csv_head(FILE *out, const slc_schema *schema)
{
    print_names(out, schema);
    (void)fputc('\n', out);
}

void slc_cli_csv_rows(FILE *out, const slc_schema *schema, const void *collection)
{
    for (size_t row = 0; row < size_of(collection); row++) {
        print_fields(out, schema, collection, row);
        (void)fputc('\n', out);
    }
}

/* In quotes where it must be (RFC 4180). */
static void print_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        (void)fputs(*text == '"' ? "\"" : "", out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

void slc_cli_csv_named_head(FILE *out, const slc_schema *schema)
{
    print_names(out, schema);
    (void)fputs(",name\n", out);
}

void slc_cli_csv_named_rows(FILE *out, const slc_schema *schema, const void *collection, const char *name)
{
    for (size_t row = 0; row < size_of(collection); row++) {
        print_fields(out, schema, collection, row);
        (void)fputc(',', out);
        print_text(out, name);
        (void)fputc('\n', out);
    }
}

void slc_cli_csv_events_head(FILE *out, const slc_schema *schema)
{
    (void)fputs("event,", out);
    slc_cli_csv_head(out, schema);
}

void slc_cli_csv_events(FILE *out, const slc_schema *schema, const void *collection, uint64_t first)
{
    const slc_columns *head = collection;
    for (uint32_t e = 0; e < head->n_events; e++) {
        for (size_t row = head->event_offset[e]; row < head->event_offset[e + 1]; row++) {
            (void)fprintf(out, "%" PRIu64 ",", first + e);
            print_fields(out, schema, collection, row);
            (void)fputc('\n', out);
        }
    }
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
