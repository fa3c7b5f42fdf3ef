/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts on clusters in the chain of sparse pixels: "size>=3,mass>50". A term is a column of the clusters, a
 * comparison and a number; clusters of which all terms hold are kept.
 */
#include "base/columns.h"
#include "run/run_flow_pixel_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 32 };

static bool take_comparison(const char **at, slc_pixel_term *term)
{
    static const struct {
        const char *text;
        slc_pixel_comparison comparison;
    } all[] = {{">=", SLC_PIXEL_AT_LEAST}, {"<=", SLC_PIXEL_AT_MOST}, {"!=", SLC_PIXEL_NOT},
               {"==", SLC_PIXEL_IS},       {">", SLC_PIXEL_ABOVE},    {"<", SLC_PIXEL_BELOW},
               {"=", SLC_PIXEL_IS}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strncmp(*at, all[i].text, strlen(all[i].text)) == 0) {
            term->comparison = all[i].comparison;
            *at += strlen(all[i].text);
            return true;
        }
    }
    return false;
}

static const slc_column *find_column(const slc_schema *schema, const char *name, size_t n)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        if (strlen(schema->columns[i].name) == n && memcmp(schema->columns[i].name, name, n) == 0) {
            return &schema->columns[i];
        }
    }
    return NULL;
}

slc_status slc_pixel_filter_parse(const char *text, const slc_schema *schema, bool energies,
                                  slc_pixel_filter *filter, slc_error *error)
{
    const char *at = text;
    filter->n = 0;
    for (;;) {
        const size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
        slc_pixel_term *term = &filter->term[filter->n];
        if (n == 0 || n > LONGEST || filter->n == SLC_PIXEL_TERMS) {
            break;
        }
        static const char kev[] = "energy_kev";
        const bool is_kev = energies && n == sizeof kev - 1 && memcmp(at, kev, n) == 0;
        const slc_column *column = is_kev ? find_column(schema, "mass", 4) : find_column(schema, at, n);
        if (column == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "the filter '%.200s': the clusters have no column '%.*s'",
                            text, (int)n, at);
        }
        *term = (slc_pixel_term){.column = *column, .is_kev = is_kev};
        at += n;
        char *end = NULL;
        if (!take_comparison(&at, term)) {
            break;
        }
        term->value = strtod(at, &end);
        if (end == at || !isfinite(term->value) || (*end != 0 && *end != ',')) {
            break;
        }
        filter->n++;
        if (*end == 0) {
            return SLC_OK;
        }
        at = end + 1;
    }
    return slc_fail(
        error, SLC_ERR_USAGE,
        "the filter '%.200s' is not up to %d terms as size>=3, with commas: a column, one of >= <= > < = "
        "!=, a number",
        text, SLC_PIXEL_TERMS);
}

/* Whole numbers beyond 2^53 are rounded. */
static double value_of(const slc_pixel_clusters *clusters, const slc_pixel_term *term, size_t row)
{
    const slc_column *column = &term->column;
    const char *data = slc_column_data(clusters, column);
    switch (column->type) {
    case SLC_TYPE_U16:
        return ((const uint16_t *)(const void *)data)[row];
    case SLC_TYPE_U32:
        return ((const uint32_t *)(const void *)data)[row];
    case SLC_TYPE_U64:
        return term->is_kev ? (double)((const uint64_t *)(const void *)data)[row] / 1000
                            : (double)((const uint64_t *)(const void *)data)[row];
    case SLC_TYPE_I64:
        return (double)((const int64_t *)(const void *)data)[row];
    default:
        return ((const double *)(const void *)data)[row];
    }
}

/* Not a number passes nothing. */
static bool holds(const slc_pixel_term *term, double value)
{
    switch (term->comparison) {
    case SLC_PIXEL_AT_LEAST:
        return value >= term->value;
    case SLC_PIXEL_AT_MOST:
        return value <= term->value;
    case SLC_PIXEL_ABOVE:
        return value > term->value;
    case SLC_PIXEL_BELOW:
        return value < term->value;
    case SLC_PIXEL_IS:
        return value == term->value;
    default:
        return value < term->value || value > term->value;
    }
}

void slc_pixel_keep_row(const slc_schema *schema, slc_pixel_clusters *clusters, size_t row, size_t kept)
{
    for (size_t i = 0; i < schema->n_columns && kept != row; i++) {
        char *data = *slc_column_pointer(clusters, &schema->columns[i]);
        const size_t width = slc_type_size(schema->columns[i].type);
        memcpy(data + kept * width, data + row * width, width);
    }
}

uint64_t slc_pixel_filter_run(const slc_pixel_filter *filter, const slc_schema *schema,
                              slc_pixel_clusters *clusters)
{
    slc_columns *head = &clusters->head;
    const size_t n = head->size;
    size_t kept = 0;
    uint32_t event = 0;
    for (size_t row = 0; row < n; row++) {
        for (; event < head->n_events && head->event_offset[event + 1] <= row; event++) {
            head->event_offset[event + 1] = (uint32_t)kept;
        }
        bool all = true;
        for (uint32_t i = 0; i < filter->n && all; i++) {
            all = holds(&filter->term[i], value_of(clusters, &filter->term[i], row));
        }
        if (all) {
            slc_pixel_keep_row(schema, clusters, row, kept++);
        }
    }
    for (; event < head->n_events; event++) {
        head->event_offset[event + 1] = (uint32_t)kept;
    }
    head->size = kept;
    return n - kept;
}
