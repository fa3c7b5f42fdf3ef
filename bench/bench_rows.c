/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of one schema (bench.h), and their values as text and as JSON.
 */
#include "bench/bench.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------- */

/* Grows to twice the size; NULL without memory, and the old one is still there. */
static void *grown(void *at, size_t n, size_t *capacity, size_t size)
{
    if (n < *capacity) {
        return at;
    }
    const size_t wanted = *capacity > 0 ? 2 * *capacity : 64;
    void *bigger = realloc(at, wanted * size);
    *capacity = bigger != NULL ? wanted : *capacity;
    return bigger;
}

slc_bench_cell *slc_bench_add(slc_bench_rows *rows)
{
    static _Thread_local slc_bench_cell spare[256];
    slc_bench_cell *cells = grown(rows->cells, rows->n, &rows->capacity, rows->n_columns * sizeof *cells);
    if (cells == NULL) {
        rows->failed = true;
        return spare;
    }
    rows->cells = cells;
    cells += rows->n++ * rows->n_columns;
    memset(cells, 0, rows->n_columns * sizeof *cells);
    return cells;
}

slc_bench_cell *slc_bench_row(const slc_bench_rows *rows, size_t row)
{
    return rows->cells + row * rows->n_columns;
}

void slc_bench_rows_clear(slc_bench_rows *rows)
{
    for (size_t i = 0; i < rows->n_texts; i++) {
        free(rows->texts[i]);
    }
    free(rows->texts);
    free(rows->cells);
    *rows = (slc_bench_rows){.columns = NULL};
}

/* ---- values ------------------------------------------------------------------------------------ */

slc_bench_cell slc_bench_number(double number)
{
    return (slc_bench_cell){.there = isfinite(number), .number = number};
}

slc_bench_cell slc_bench_count(uint64_t count)
{
    return (slc_bench_cell){.there = true, .number = (double)count};
}

slc_bench_cell slc_bench_flag(bool flag)
{
    return (slc_bench_cell){.there = true, .number = flag};
}

slc_bench_cell slc_bench_text(const char *text)
{
    return (slc_bench_cell){.there = text != NULL, .text = text};
}

slc_bench_cell slc_bench_textf(slc_bench_rows *rows, const char *format, ...)
{
    char text[256];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    char **texts = realloc(rows->texts, (rows->n_texts + 1) * sizeof *texts);
    if (texts == NULL || (texts[rows->n_texts] = strdup(text)) == NULL) {
        rows->texts = texts != NULL ? texts : rows->texts;
        rows->failed = true;
        return slc_bench_text(NULL);
    }
    rows->texts = texts;
    return slc_bench_text(texts[rows->n_texts++]);
}

/* ---- templates --------------------------------------------------------------------------------- */

/* The column of the name that ends at `end`. */
static size_t column_of(const slc_bench_rows *rows, const char *name, size_t size)
{
    size_t i = 0;
    while (i < rows->n_columns &&
           (strncmp(rows->columns[i].name, name, size) != 0 || rows->columns[i].name[size] != '\0')) {
        i++;
    }
    return i;
}

static bool is_text(slc_bench_kind kind)
{
    return kind == SLC_BENCH_TEXT || kind == SLC_BENCH_QUOTED;
}

/* What stands between braces: name, format, what follows, width without a value. */
static void print_cell(FILE *out, const slc_bench_rows *rows, size_t row, const char *name, size_t size)
{
    const char *colon = memchr(name, ':', size), *end = name + size;
    const char *bar = colon != NULL ? memchr(colon, '|', (size_t)(end - colon)) : NULL;
    const size_t column = column_of(rows, name, colon != NULL ? (size_t)(colon - name) : size);
    const slc_bench_cell *cell = column < rows->n_columns ? slc_bench_row(rows, row) + column : NULL;
    const bool text = cell != NULL && is_text(rows->columns[column].kind);
    const char *spec = colon != NULL ? colon + 1 : end, *suffix = spec;
    while (suffix < (bar != NULL ? bar : end) && strchr("-+#.0123456789", *suffix) != NULL) {
        suffix++;
    }
    char format[32];
    const char letter = suffix < end && strchr("fge", *suffix) != NULL ? *suffix++ : '\0';
    const int n = (int)((letter != '\0' ? suffix - 1 : suffix) - spec);
    if (cell == NULL || !cell->there) {
        const int width = bar != NULL ? atoi(bar + 1) : atoi(spec);
        (void)fprintf(out, "%*s", width, "-");
        return;
    }
    if (text) {
        (void)snprintf(format, sizeof format, "%%%.*ss", n, spec);
    } else {
        (void)snprintf(format, sizeof format, "%%%.*s%s", n, spec,
                       letter == 'g'   ? "g"
                       : letter == 'e' ? "e"
                       : letter == 'f' ? "f"
                                       : ".0f");
    }
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
    if (text) {
        (void)fprintf(out, format, cell->text);
    } else {
        (void)fprintf(out, format, cell->number);
    }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
    (void)fwrite(suffix, 1, (size_t)((bar != NULL ? bar : end) - suffix), out);
}

void slc_bench_print(FILE *out, const slc_bench_rows *rows, size_t row, const char *format)
{
    for (const char *at = format; *at != '\0';) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (end == NULL) {
            (void)fputc(*at++, out);
            continue;
        }
        print_cell(out, rows, row, at + 1, (size_t)(end - at - 1));
        at = end + 1;
    }
}

void slc_bench_format(char *text, size_t room, const slc_bench_rows *rows, size_t row, const char *format)
{
    FILE *out = fmemopen(text, room, "w");
    text[0] = '\0';
    if (out != NULL) {
        slc_bench_print(out, rows, row, format);
        (void)fclose(out);
        text[room - 1] = '\0';
    }
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *value_of(const slc_bench_column *column, const slc_bench_cell *cell)
{
    switch (column->kind) {
    case SLC_BENCH_COUNT:
        return json_integer((json_int_t)cell->number);
    case SLC_BENCH_NUMBER:
        return json_real(cell->number);
    case SLC_BENCH_FLAG:
        return json_boolean(cell->number != 0);
    default:
        return json_string(cell->text);
    }
}

json_t *slc_bench_json(const slc_bench_rows *rows, size_t from, size_t n)
{
    json_t *array = json_array();
    int wrong = array == NULL;
    for (size_t i = from; i < from + n && wrong == 0; i++) {
        json_t *object = json_object();
        for (size_t k = 0; k < rows->n_columns && object != NULL && wrong == 0; k++) {
            const slc_bench_cell *cell = slc_bench_row(rows, i) + k;
            if ((rows->columns[k].in & SLC_BENCH_JSON) != 0 && cell->there) {
                wrong = json_object_set_new(object, rows->columns[k].name, value_of(&rows->columns[k], cell));
            }
        }
        wrong = json_array_append_new(array, object) != 0 || wrong != 0;
    }
    if (wrong != 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}
