/* SPDX-License-Identifier: Apache-2.0
 * Cuts on rows, as users write them. */
#include "base/columns_filter.h"

#include "base/columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 };

static void pass_blanks(const char **at)
{
    *at += strspn(*at, " ");
}

static bool take_comparison(const char **at, slc_columns_term *term)
{
    static const struct {
        const char *text;
        slc_columns_comparison comparison;
    } all[] = {{">=", SLC_COLUMNS_AT_LEAST}, {"<=", SLC_COLUMNS_AT_MOST}, {"!=", SLC_COLUMNS_NOT},
               {"==", SLC_COLUMNS_IS},       {">", SLC_COLUMNS_ABOVE},    {"<", SLC_COLUMNS_BELOW},
               {"=", SLC_COLUMNS_IS}};
    pass_blanks(at);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strncmp(*at, all[i].text, strlen(all[i].text)) == 0) {
            term->comparison = all[i].comparison;
            *at += strlen(all[i].text);
            return true;
        }
    }
    return false;
}

/* A number that is finite. */
static bool take_number(const char **at, double *value)
{
    char *end = NULL;
    pass_blanks(at);
    *value = strtod(*at, &end);
    const bool good = end != *at && isfinite(*value);
    *at = end;
    pass_blanks(at);
    return good;
}

/* What stands between terms, "," or "&&". */
static bool take_and(const char **at)
{
    const size_t n = **at == ',' ? 1 : strncmp(*at, "&&", 2) == 0 ? 2 : 0;
    *at += n;
    return n > 0;
}

static bool is_name(const char *name, const char *text, size_t n)
{
    return strlen(name) == n && memcmp(name, text, n) == 0;
}

static const slc_column *find_column(const slc_schema *schema, const char *name, size_t n)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        if (is_name(schema->columns[i].name, name, n)) {
            return &schema->columns[i];
        }
    }
    return NULL;
}

/* Which columns there are, as many as fit behind what the error says. */
static slc_status list_columns(const slc_schema *schema, const slc_columns_alias *alias, slc_error *error)
{
    const size_t room = error != NULL ? sizeof error->text : 0;
    size_t used = room > 0 ? strlen(error->text) : 0;
    for (size_t i = 0; i < schema->n_columns + (alias != NULL ? 1 : 0) && room > 0; i++) {
        const char *name = i < schema->n_columns ? schema->columns[i].name : alias->name;
        if (used + strlen(name) + 16 > room) {
            (void)snprintf(error->text + used, room - used, ", ...");
            break;
        }
        used += (size_t)snprintf(error->text + used, room - used, "%s%s", i == 0 ? "; they have " : ", ",
                                 name);
    }
    return SLC_ERR_USAGE;
}

slc_status slc_columns_filter_parse(const char *text, const slc_schema *schema,
                                    const slc_columns_alias *alias, const char *rows,
                                    slc_columns_filter *filter, slc_error *error)
{
    const char *at = text;
    filter->n = 0;
    while (filter->n < SLC_COLUMNS_TERMS) {
        slc_columns_term *term = &filter->term[filter->n];
        pass_blanks(&at);
        const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
        if (n == 0 || n > LONGEST) {
            break;
        }
        const bool other = alias != NULL && is_name(alias->name, at, n);
        const slc_column *column = other ? find_column(schema, alias->column, strlen(alias->column))
                                         : find_column(schema, at, n);
        if (column == NULL) {
            (void)slc_fail(error, SLC_ERR_USAGE, "the filter '%.200s': the %s have no column '%.*s'", text,
                           rows, (int)n, at);
            return list_columns(schema, alias, error);
        }
        *term = (slc_columns_term){.column = *column, .divisor = other ? alias->divisor : 1};
        at += n;
        if (!take_comparison(&at, term) || !take_number(&at, &term->value)) {
            break;
        }
        filter->n++;
        if (*at == '\0') {
            return SLC_OK;
        }
        if (!take_and(&at)) {
            break;
        }
    }
    return slc_fail(error, SLC_ERR_USAGE,
                    "the filter '%.200s' is not up to %d terms as size>=3, with commas or && between them: a "
                    "column, one of >= <= > < = !=, a number",
                    text, SLC_COLUMNS_TERMS);
}

static double value_of(const void *collection, const slc_column *column, size_t row)
{
    const void *data = slc_column_data(collection, column);
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
    case SLC_TYPE_U64:
        return (double)((const uint64_t *)data)[row];
    case SLC_TYPE_I64:
        return (double)((const int64_t *)data)[row];
    case SLC_TYPE_F32:
        return (double)((const float *)data)[row];
    default:
        return ((const double *)data)[row];
    }
}

static bool holds(const slc_columns_term *term, double value)
{
    switch (term->comparison) {
    case SLC_COLUMNS_AT_LEAST:
        return value >= term->value;
    case SLC_COLUMNS_AT_MOST:
        return value <= term->value;
    case SLC_COLUMNS_ABOVE:
        return value > term->value;
    case SLC_COLUMNS_BELOW:
        return value < term->value;
    case SLC_COLUMNS_IS:
        return value == term->value;
    default:
        return value < term->value || value > term->value;
    }
}

bool slc_columns_filter_holds(const slc_columns_filter *filter, const void *collection, size_t row)
{
    for (uint32_t i = 0; i < filter->n; i++) {
        const slc_columns_term *term = &filter->term[i];
        if (!holds(term, value_of(collection, &term->column, row) / term->divisor)) {
            return false;
        }
    }
    return true;
}
