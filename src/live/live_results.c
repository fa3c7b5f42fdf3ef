/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of finished results. Everything is read once, column by column, and kept as what is put: a page
 * that is looked at for a day costs its answers alone.
 */
#include <sluice/live_results.h>

#include "io/io_results_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 1 << 20, /* rows that are looked at */
    STRETCHES = 16,
    BINS = 120,
    FEW = 4096, /* rows that say where most values are */
    SIDE = 128,
    MAPS = 16,
    TEXT = 160
};

typedef struct summary {
    double mean, least, largest, low, high; /* low, high: of the histogram; low = high: none */
    uint64_t looked, unknown, outside;      /* unknown: not a number; outside: of the histogram */
    uint64_t bins[BINS];
    uint32_t n_bins;
} summary;

typedef struct map {
    size_t x, y; /* columns */
    double low[2], high[2];
    uint32_t cells[SIDE * SIDE];
} map;

struct slc_live_results {
    slc_live *live;
    slc_io_reading *reading;
    summary *summaries;
    map *maps;
    size_t n_maps;
    uint32_t shown; /* bits of maps whose cells are in the last snapshot */
    bool begun;
    double *values, *others; /* MOST each */
};

/* ---- reading ----------------------------------------------------------------------------------- */

/* The same rows for every column of a group. */
static slc_status read_some(const slc_live_results *r, size_t column, double *values, size_t *n,
                            slc_error *error)
{
    const uint64_t rows = r->reading->columns[column].rows;
    const size_t stretch = MOST / STRETCHES;
    slc_status status = SLC_OK;
    *n = 0;
    if (rows <= MOST) {
        *n = (size_t)rows;
        return slc_io_reading_rows(r->reading, column, 0, *n, values, error);
    }
    for (uint64_t k = 0; k < STRETCHES && status == SLC_OK; k++) {
        const uint64_t at = (rows - stretch) / (STRETCHES - 1) * k;
        status = slc_io_reading_rows(r->reading, column, at, stretch, values + *n, error);
        *n += stretch;
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Where all of it is, or, where a few lie far off, most. Whole numbers get bins of whole numbers. */
static void choose_range(summary *s, const double *values, size_t n, bool whole)
{
    double few[FEW];
    size_t n_few = 0;
    const size_t step = n / FEW + 1;
    for (size_t i = 0; i < n && n_few < FEW; i += step) {
        if (isfinite(values[i])) {
            few[n_few++] = values[i];
        }
    }
    if (n_few == 0 || !(s->largest > s->least)) {
        return;
    }
    qsort(few, n_few, sizeof few[0], by_size);
    const double low = few[n_few / 200], high = few[n_few - 1 - n_few / 200];
    const bool far = high > low && s->largest - s->least > 3 * (high - low);
    s->low = far ? fmax(s->least, low - 0.3 * (high - low)) : s->least;
    s->high = far ? fmin(s->largest, high + 0.3 * (high - low)) : s->largest;
    s->n_bins = BINS;
    if (whole) {
        const double width = fmax(1, ceil((s->high - s->low + 1) / BINS));
        s->low = floor(s->low);
        s->n_bins = (uint32_t)fmin(BINS, fmax(1, ceil((s->high - s->low + 1) / width)));
        s->high = s->low + width * s->n_bins;
    }
}

static uint32_t bin_of(double value, double low, double high, uint32_t n)
{
    const double bin = (value - low) / (high - low) * n;
    return value >= low && value <= high ? (bin < n ? (uint32_t)bin : n - 1) : UINT32_MAX;
}

static void summarise(summary *s, const double *values, size_t n, bool whole)
{
    double sum = 0;
    uint64_t known = 0;
    s->least = INFINITY;
    s->largest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(values[i])) {
            s->least = fmin(s->least, values[i]);
            s->largest = fmax(s->largest, values[i]);
            sum += values[i];
            known++;
        }
    }
    s->looked = n;
    s->unknown = n - known;
    s->mean = known > 0 ? sum / (double)known : NAN;
    if (known == 0) {
        s->least = s->largest = NAN;
    }
    choose_range(s, values, n, whole);
    for (size_t i = 0; i < n && s->low < s->high; i++) {
        const uint32_t bin = isfinite(values[i]) ? bin_of(values[i], s->low, s->high, s->n_bins) : UINT32_MAX;
        if (bin < s->n_bins) {
            s->bins[bin]++;
        } else {
            s->outside += isfinite(values[i]) != 0;
        }
    }
}

/* ---- maps -------------------------------------------------------------------------------------- */

static size_t find(const slc_live_results *r, size_t like, const char *name)
{
    const slc_io_reading *reading = r->reading;
    for (size_t i = 0; i < reading->n_columns; i++) {
        const slc_io_reading_column *c = &reading->columns[i];
        if (strcmp(c->group, reading->columns[like].group) == 0 && strcmp(c->name, name) == 0 &&
            c->rows == reading->columns[like].rows) {
            return i;
        }
    }
    return SIZE_MAX;
}

static slc_status add_map(slc_live_results *r, size_t x, size_t y, slc_error *error)
{
    const summary *sx = &r->summaries[x], *sy = &r->summaries[y];
    map *m = &r->maps[r->n_maps];
    size_t n = 0;
    if (!(sx->low < sx->high) || !(sy->low < sy->high)) {
        return SLC_OK;
    }
    slc_status status = read_some(r, x, r->values, &n, error);
    status = status == SLC_OK ? read_some(r, y, r->others, &n, error) : status;
    *m = (map){.x = x, .y = y, .low = {sx->low, sy->low}, .high = {sx->high, sy->high}};
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        const uint32_t a = bin_of(r->values[i], m->low[0], m->high[0], SIDE),
                       b = bin_of(r->others[i], m->low[1], m->high[1], SIDE);
        if (a < SIDE && b < SIDE) {
            m->cells[(size_t)b * SIDE + a]++;
        }
    }
    r->n_maps += status == SLC_OK;
    return status;
}

/* Columns whose names say that they are two coordinates, or two of a kind. */
static slc_status find_maps(slc_live_results *r, slc_error *error)
{
    static const char *const pairs[][2] = {
        {"x_mm", "y_mm"},
        {"z_mm", "x_mm"},
        {"x_um", "y_um"},
        {"x", "y"},
        {"centroid_x", "centroid_y"},
        {"mean_x", "mean_y"},
        {"first_x", "first_y"},
        {"crystal1", "crystal2"},
        {"energy1_kev", "energy2_kev"},
        {"energy1", "energy2"},
        {"eta", "phi_rad"},
    };
    slc_status status = SLC_OK;
    for (size_t i = 0; i < r->reading->n_columns; i++) {
        for (size_t k = 0; k < sizeof pairs / sizeof pairs[0] && status == SLC_OK; k++) {
            const size_t other = strcmp(r->reading->columns[i].name, pairs[k][0]) == 0
                                     ? find(r, i, pairs[k][1])
                                     : SIZE_MAX;
            if (other != SIZE_MAX && r->n_maps < MAPS) {
                status = add_map(r, i, other, error);
            }
        }
    }
    return status;
}

static slc_status look(slc_live_results *r, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < r->reading->n_columns && status == SLC_OK; i++) {
        size_t n = 0;
        status = read_some(r, i, r->values, &n, error);
        if (status == SLC_OK) {
            summarise(&r->summaries[i], r->values, n, r->reading->columns[i].whole);
        }
    }
    return status == SLC_OK ? find_maps(r, error) : status;
}

slc_status slc_live_results_open(slc_live *live, const char *path, slc_live_results **out, slc_error *error)
{
    slc_live_results *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its page", path);
    }
    r->live = live;
    slc_status status = slc_io_reading_open(path, &r->reading, error);
    if (status == SLC_OK) {
        r->summaries = calloc(r->reading->n_columns, sizeof *r->summaries);
        r->maps = calloc(MAPS, sizeof *r->maps);
        r->values = malloc(MOST * sizeof *r->values);
        r->others = malloc(MOST * sizeof *r->others);
        const bool all = r->summaries != NULL && r->maps != NULL && r->values != NULL && r->others != NULL;
        status = all ? look(r, error) : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its page", path);
    }
    free(r->values);
    free(r->others);
    r->values = r->others = NULL;
    if (status != SLC_OK) {
        slc_live_results_close(r);
        return status;
    }
    *out = r;
    return SLC_OK;
}

void slc_live_results_close(slc_live_results *r)
{
    if (r != NULL) {
        slc_io_reading_close(r->reading);
        free(r->summaries);
        free(r->maps);
        free(r);
    }
}

/* ---- what is put ------------------------------------------------------------------------------- */

static void cell(const slc_live_results *r, const char *group, const char *title, const char *label,
                 const char *is, double value)
{
    slc_live_put_value(
        r->live, &(slc_live_value){.group = group, .title = title, .label = label, .is = is, .value = value});
}

static const char *group_of(const slc_live_results *r, size_t i)
{
    return r->reading->columns[i].group[0] != '\0' ? r->reading->columns[i].group : "rows";
}

static void put_groups(const slc_live_results *r)
{
    const slc_io_reading_column *columns = r->reading->columns;
    for (size_t i = 0; i < r->reading->n_columns; i++) {
        if (i > 0 && strcmp(columns[i].group, columns[i - 1].group) == 0) {
            continue;
        }
        slc_live_put_value(r->live, &(slc_live_value){.metric = "sluice_results_rows",
                                                      .help = "Rows of the groups of a file of results.",
                                                      .group = "File",
                                                      .title = "rows",
                                                      .label = "group",
                                                      .is = group_of(r, i),
                                                      .value = (double)columns[i].rows});
        cell(r, "File", "events", "group", group_of(r, i),
             columns[i].events > 0 ? (double)columns[i].events : NAN);
        cell(r, "File", "rows that are looked at", "group", group_of(r, i), (double)r->summaries[i].looked);
    }
}

static void put_texts(const slc_live_results *r)
{
    slc_live_put_text(r->live, "File", "Format", r->reading->format, 0);
    for (size_t i = 0; i < r->reading->n_texts; i++) {
        const slc_io_reading_text *t = &r->reading->texts[i];
        const bool partial = strcmp(t->name, "partial") == 0;
        char text[TEXT + 8];
        (void)snprintf(text, sizeof text, "%.*s%s", TEXT, t->value, strlen(t->value) > TEXT ? " …" : "");
        slc_live_put_text(r->live, "File", t->name, partial ? "the run was interrupted" : text,
                          partial ? SLC_LIVE_ALARM : 0);
    }
}

/* Places of rows elsewhere, and covariances, are numbers that a histogram says nothing of. */
static bool is_drawn(const slc_live_results *r, size_t i)
{
    const slc_io_reading_column *c = &r->reading->columns[i];
    return r->summaries[i].low < r->summaries[i].high && strcmp(c->unit, "index") != 0 &&
           strncmp(c->name, "cov_", 4) != 0;
}

static void put_column(const slc_live_results *r, size_t i)
{
    const slc_io_reading_column *c = &r->reading->columns[i];
    const summary *s = &r->summaries[i];
    const char *group = group_of(r, i);
    const bool unit = c->unit[0] != '\0' && strcmp(c->unit, "1") != 0;
    char x[2 * SLC_IO_READING_NAME + 4];
    if (unit) {
        (void)snprintf(x, sizeof x, "%s (%s)", c->name, c->unit);
    } else {
        (void)snprintf(x, sizeof x, "%s", c->name);
    }
    cell(r, group, "mean", "column", x, s->mean);
    cell(r, group, "least", "column", x, s->least);
    cell(r, group, "largest", "column", x, s->largest);
    cell(r, group, "not a number", "column", x, (double)s->unknown);
    cell(r, group, "outside of the picture", "column", x, (double)s->outside);
    if (is_drawn(r, i)) {
        slc_live_put_plot(r->live, &(slc_live_plot){.group = group,
                                                    .title = c->name,
                                                    .x = unit ? c->unit : c->name,
                                                    .y = "rows",
                                                    .low = s->low,
                                                    .high = s->high,
                                                    .counts = s->bins,
                                                    .n = s->n_bins});
    }
}

static uint32_t wanted(const slc_live_results *r)
{
    uint32_t bits = 0;
    for (size_t k = 0; k < r->n_maps; k++) {
        bits |= slc_live_wants(r->live, (uint32_t)k) ? 1U << k : 0U;
    }
    return bits;
}

static void put_maps(const slc_live_results *r)
{
    for (size_t k = 0; k < r->n_maps; k++) {
        const map *m = &r->maps[k];
        const slc_io_reading_column *x = &r->reading->columns[m->x], *y = &r->reading->columns[m->y];
        char title[3 * SLC_IO_READING_NAME];
        (void)snprintf(title, sizeof title, "%s against %s", y->name, x->name);
        slc_live_put_map(r->live, &(slc_live_map){.group = group_of(r, m->x),
                                                  .title = title,
                                                  .x = x->name,
                                                  .y = y->name,
                                                  .unit = "rows",
                                                  .number = (uint32_t)k,
                                                  .count = 1,
                                                  .x_low = m->low[0],
                                                  .x_high = m->high[0],
                                                  .y_low = m->low[1],
                                                  .y_high = m->high[1]});
        slc_live_put_cells(r->live, (uint32_t)k, SIDE, SIDE, m->cells);
    }
}

bool slc_live_results_publish(slc_live_results *r)
{
    const uint32_t bits = wanted(r);
    if (r->begun && (bits & ~r->shown) == 0) {
        return true;
    }
    put_groups(r);
    put_texts(r);
    for (size_t i = 0; i < r->reading->n_columns; i++) {
        put_column(r, i);
    }
    put_maps(r);
    if (r->reading->left_out > 0) {
        slc_live_put_value(r->live,
                           &(slc_live_value){.metric = "sluice_results_left_out",
                                             .help = "Objects of the file that are no columns of numbers.",
                                             .group = "File",
                                             .title = "Not shown: no columns of numbers",
                                             .value = (double)r->reading->left_out});
    }
    r->shown = bits;
    r->begun = true;
    return slc_live_publish(r->live, SLC_LIVE_FINISHED);
}
