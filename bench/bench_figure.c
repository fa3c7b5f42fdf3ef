/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as curves in panels. Which rows make a panel and which a curve is told by the values of columns; a
 * curve has the same colour in all panels of its figure, and all panels of a figure have the same axes, so
 * that they can be compared.
 */
#include "bench/bench_figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 192, NONE = -1 };

static size_t find(const slc_bench_rows *rows, const char *name)
{
    size_t i = 0;
    while (name != NULL && i < rows->n_columns && strcmp(rows->columns[i].name, name) != 0) {
        i++;
    }
    return name != NULL ? i : rows->n_columns;
}

/* ---- which rows -------------------------------------------------------------------------------- */

static bool drawn(const slc_bench_drawing *d, size_t row)
{
    const slc_bench_figure *f = d->figure;
    const slc_bench_cell *c = slc_bench_row(f->rows, row);
    const bool meant = f->only == NULL || (d->only < f->rows->n_columns && c[d->only].there &&
                                           strcmp(c[d->only].text, f->is) == 0);
    return meant && c[d->x_column].there && c[d->y_column].there &&
           (f->x.scale != SLC_BENCH_DECADES || c[d->x_column].number > 0) &&
           (f->y.scale != SLC_BENCH_DECADES || c[d->y_column].number > 0);
}

/* Have two rows the same values in these columns? */
static bool same(const slc_bench_rows *rows, size_t a, size_t b, const char *names)
{
    char name[64];
    while (names != NULL && *names != '\0') {
        const size_t size = strcspn(names, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)size, names);
        const size_t column = find(rows, name);
        const slc_bench_cell *x = slc_bench_row(rows, a) + column, *y = slc_bench_row(rows, b) + column;
        if (x->there != y->there || x->number != y->number ||
            (x->text != y->text && (x->text == NULL || y->text == NULL || strcmp(x->text, y->text) != 0))) {
            return false;
        }
        names += size + (names[size] == ',');
    }
    return true;
}

/* The number of the group that a row belongs to by these columns; `firsts` are the groups' first rows. */
static int32_t group_of(const slc_bench_rows *rows, size_t row, const char *names, size_t *firsts, size_t *n)
{
    size_t k = 0;
    while (k < *n && !same(rows, firsts[k], row, names)) {
        k++;
    }
    if (k == *n) {
        firsts[(*n)++] = row;
    }
    return (int32_t)k;
}

slc_status slc_bench_drawing_open(slc_bench_drawing *d, const slc_bench_figure *f)
{
    const size_t n = f->rows->n;
    size_t n_curves = 0;
    *d = (slc_bench_drawing){.figure = f,
                             .x_column = find(f->rows, f->x.column),
                             .y_column = find(f->rows, f->y.column),
                             .ring_column = find(f->rows, f->rings),
                             .only = find(f->rows, f->only)};
    d->x = calloc(n + 1, sizeof *d->x);
    d->y = calloc(n + 1, sizeof *d->y);
    d->panel = calloc(n + 1, sizeof *d->panel);
    d->curve = calloc(n + 1, sizeof *d->curve);
    size_t *firsts = calloc(2 * n + 1, sizeof *firsts);
    const bool good = d->x != NULL && d->y != NULL && d->panel != NULL && d->curve != NULL && firsts != NULL;
    for (size_t i = 0; i < n && good; i++) {
        const bool shown = drawn(d, i);
        d->panel[i] = shown ? group_of(f->rows, i, f->panel, firsts, &d->n_panels) : NONE;
        d->curve[i] = shown ? group_of(f->rows, i, f->curve, firsts + n, &n_curves) : NONE;
    }
    free(firsts);
    return good ? SLC_OK : SLC_ERR_MEMORY;
}

void slc_bench_drawing_close(slc_bench_drawing *d)
{
    free(d->x);
    free(d->y);
    free(d->panel);
    free(d->curve);
}

/* ---- drawing ----------------------------------------------------------------------------------- */

static slc_svg_axis axis_of(const slc_bench_drawing *d, const slc_bench_axis *axis, size_t column)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < d->figure->rows->n; i++) {
        if (d->panel[i] != NONE) {
            low = fmin(low, slc_bench_row(d->figure->rows, i)[column].number);
            high = fmax(high, slc_bench_row(d->figure->rows, i)[column].number);
        }
    }
    const double margin = 0.1 * (high - low) + 0.1;
    switch (axis->scale) {
    case SLC_BENCH_DECADES:
        return slc_panel_decades(low, high, axis->label);
    case SLC_BENCH_PERCENT:
        return (slc_svg_axis){.low = 0, .high = 100, .label = axis->label};
    case SLC_BENCH_AROUND:
        return (slc_svg_axis){.low = low - margin, .high = fmin(high + margin, 100), .label = axis->label};
    default:
        return (slc_svg_axis){.low = 0, .high = high > 0 ? 1.08 * high : 1, .label = axis->label};
    }
}

/* Points of a curve by rising x. */
static size_t points_of(slc_bench_drawing *d, size_t first)
{
    size_t n = 0;
    for (size_t i = first; i < d->figure->rows->n; i++) {
        if (d->panel[i] != d->panel[first] || d->curve[i] != d->curve[first]) {
            continue;
        }
        const slc_bench_cell *c = slc_bench_row(d->figure->rows, i);
        size_t k = n++;
        for (; k > 0 && d->x[k - 1] > c[d->x_column].number; k--) {
            d->x[k] = d->x[k - 1];
            d->y[k] = d->y[k - 1];
        }
        d->x[k] = c[d->x_column].number;
        d->y[k] = c[d->y_column].number;
    }
    return n;
}

static void draw_curve(slc_bench_drawing *d, slc_svg *svg, size_t first, const char *class_name)
{
    size_t n = points_of(d, first);
    if (n == 1) { /* a single point becomes a dash, to be seen */
        const double half = 0.02 * (svg->x.high - svg->x.low);
        d->x[1] = d->x[0] + half;
        d->x[0] -= svg->x.logarithmic ? 0 : half;
        d->y[n++] = d->y[0];
    }
    slc_svg_line(svg, d->x, d->y, n, class_name);
}

static void draw_ring(const slc_bench_drawing *d, slc_svg *svg, size_t row, const char *class_name)
{
    char title[TEXT];
    const slc_bench_cell *c = slc_bench_row(d->figure->rows, row);
    slc_bench_format(title, sizeof title, d->figure->rows, row, d->figure->legend);
    slc_svg_ring(svg, class_name, c[d->x_column].number, c[d->y_column].number, c[d->ring_column].number,
                 title);
}

/* Has the panel no row before it of the same curve? */
static bool opens(const slc_bench_drawing *d, size_t first, size_t row)
{
    size_t i = first;
    while (d->panel[i] != d->panel[row] || d->curve[i] != d->curve[row]) {
        i++;
    }
    return i == row;
}

static void draw_panel(slc_bench_drawing *d, slc_panels *picture, size_t first)
{
    const slc_bench_figure *f = d->figure;
    char text[TEXT], class_name[24];
    slc_svg svg;
    slc_bench_format(text, sizeof text, f->rows, first, f->title);
    slc_panel_begin(picture, &svg, axis_of(d, &f->x, d->x_column), axis_of(d, &f->y, d->y_column), text,
                    f->note != NULL ? f->note : "");
    for (size_t i = first; i < f->rows->n; i++) {
        (void)snprintf(class_name, sizeof class_name, "curve c%d", (int)(d->curve[i] % SLC_SVG_CURVES));
        if (d->panel[i] == d->panel[first] && f->rings != NULL) {
            draw_ring(d, &svg, i, class_name);
        } else if (d->panel[i] == d->panel[first] && opens(d, first, i)) {
            draw_curve(d, &svg, i, class_name);
        }
    }
    slc_panel_plotted(picture, &svg);
    for (size_t i = first; i < f->rows->n; i++) {
        if (d->panel[i] == d->panel[first] && opens(d, first, i)) {
            slc_bench_format(text, sizeof text, f->rows, i, f->legend);
            slc_panel_legend(picture, (size_t)d->curve[i], text);
        }
    }
    slc_panel_end(picture);
}

void slc_bench_drawing_draw(slc_bench_drawing *d, slc_panels *picture)
{
    for (int32_t panel = 0; panel < (int32_t)d->n_panels; panel++) {
        size_t first = 0;
        while (d->panel[first] != panel) {
            first++;
        }
        draw_panel(d, picture, first);
    }
}
