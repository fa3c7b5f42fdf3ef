/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of labelling as a picture, after figure 4.27 of A. Hennequin's thesis (2022): cycles per pixel
 * against density. The axis is logarithmic because a flood fill and a vectorised algorithm are two orders of
 * magnitude apart.
 */
#include "report/report_svg.h"

#include "bench/bench_label.h"
#include <sluice/io.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A panel is a plot with its legend beside it; two of them in a row. */
enum { PANEL_WIDTH = 690, PANEL_HEIGHT = 340, PLOT_WIDTH = 460, PLOT_HEIGHT = 290, ACROSS = 2 };

typedef struct plot {
    const slc_bench_label_row *rows;
    size_t n;
    slc_bench_label_average *averages;
    size_t n_averages;
    double *x, *y; /* room for all rows */
    double low, high;
} plot;

static double cycles_per_pixel(const slc_bench_label_row *row)
{
    return row->minimum_s * row->hertz / ((double)row->size * (double)row->size);
}

static bool same_panel(const slc_bench_label_average *a, const slc_bench_label_average *b)
{
    return a->size == b->size && a->granularity == b->granularity;
}

/* The first average of its panel opens it. */
static bool opens_panel(const plot *p, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (same_panel(&p->averages[k], &p->averages[i])) {
            return false;
        }
    }
    return true;
}

/* Is it the fastest target of its algorithm in its panel, the first of equals? */
static bool is_best(const plot *p, size_t i)
{
    const slc_bench_label_average *a = &p->averages[i];
    for (size_t k = 0; k < p->n_averages; k++) {
        const slc_bench_label_average *b = &p->averages[k];
        if (k != i && same_panel(a, b) && a->algorithm == b->algorithm &&
            (b->cycles / b->pixels < a->cycles / a->pixels ||
             (b->cycles / b->pixels == a->cycles / a->pixels && k < i))) {
            return false;
        }
    }
    return true;
}

static void curve(const plot *p, slc_svg *svg, const slc_bench_label_average *a)
{
    size_t n = 0;
    char class_name[24];
    for (size_t i = 0; i < p->n; i++) {
        const slc_bench_label_row *row = &p->rows[i];
        if (row->size == a->size && row->algorithm == a->algorithm && row->target == a->target &&
            row->granularity == a->granularity) {
            p->x[n] = 100 * row->density;
            p->y[n++] = cycles_per_pixel(row);
        }
    }
    (void)snprintf(class_name, sizeof class_name, "curve c%zu", a->algorithm % SLC_SVG_CURVES);
    slc_svg_line(svg, p->x, p->y, n, class_name);
}

static void legend(FILE *out, const slc_bench_label_average *a, int line)
{
    const int y = 30 + 17 * line;
    (void)fprintf(out, "<path class=\"curve c%zu\" d=\"M%d %dh18\"/><text x=\"%d\" y=\"%d\">%s",
                  a->algorithm % SLC_SVG_CURVES, PLOT_WIDTH + 8, y - 4, PLOT_WIDTH + 32, y,
                  slc_image_algorithm_name(a->algorithm));
    if (slc_image_algorithm_simd(a->algorithm)) {
        (void)fprintf(out, ", %s", slc_simd_name(a->target));
    }
    (void)fprintf(out, ": %.3g</text>\n", a->cycles / a->pixels);
}

static void panel(const plot *p, FILE *out, size_t first, int number)
{
    const slc_bench_label_average *a = &p->averages[first];
    slc_svg svg;
    char title[96];
    (void)snprintf(title, sizeof title, "%zu x %zu pixels, granularity %" PRIu32, a->size, a->size,
                   a->granularity);
    (void)fprintf(out, "<g transform=\"translate(%d %d)\"><text class=\"title\" x=\"54\" y=\"12\">%s</text>",
                  number % ACROSS * PANEL_WIDTH, 20 + number / ACROSS * PANEL_HEIGHT, title);
    (void)fprintf(out, "<text x=\"%d\" y=\"12\">average over the densities</text>\n", PLOT_WIDTH + 8);
    (void)fprintf(out, "<svg y=\"16\" width=\"%d\" height=\"%d\">", PLOT_WIDTH, PLOT_HEIGHT);
    slc_svg_begin(
        &svg, out, (slc_svg_axis){.low = 0, .high = 100, .label = "density [%]"},
        (slc_svg_axis){.low = p->low, .high = p->high, .logarithmic = true, .label = "cycles per pixel"},
        title);
    for (size_t i = first; i < p->n_averages; i++) {
        if (same_panel(a, &p->averages[i]) && is_best(p, i)) {
            curve(p, &svg, &p->averages[i]);
        }
    }
    slc_svg_end(&svg);
    (void)fputs("</svg>\n", out);
    int line = 0;
    for (size_t i = first; i < p->n_averages; i++) {
        if (same_panel(a, &p->averages[i]) && is_best(p, i)) {
            legend(out, &p->averages[i], line++);
        }
    }
    (void)fputs("</g>\n", out);
}

/* Whole decades around all curves. */
static void find_range(plot *p)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double value = cycles_per_pixel(&p->rows[i]);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    p->low = pow(10, floor(log10(low)));
    p->high = pow(10, ceil(log10(high)));
    p->high = p->high > p->low ? p->high : 10 * p->low;
}

static void draw(plot *p, FILE *out)
{
    int panels = 0;
    for (size_t i = 0; i < p->n_averages; i++) {
        panels += opens_panel(p, i);
    }
    const int width = PANEL_WIDTH * (panels < ACROSS ? panels : ACROSS);
    const int height = 20 + PANEL_HEIGHT * ((panels + ACROSS - 1) / ACROSS);
    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>%s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, slc_svg_curve_style, width, height);
    int number = 0;
    for (size_t i = 0; i < p->n_averages; i++) {
        if (opens_panel(p, i)) {
            panel(p, out, i, number++);
        }
    }
    (void)fputs("</svg>\n", out);
}

slc_status slc_bench_label_svg(const char *path, const slc_bench_label_row *rows, size_t n, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    if (n == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is nothing to draw", path);
    }
    plot p = {.rows = rows, .n = n};
    p.averages = calloc(n, sizeof *p.averages);
    p.x = calloc(n, sizeof *p.x);
    p.y = calloc(n, sizeof *p.y);
    slc_status status = SLC_OK;
    if (p.averages == NULL || p.x == NULL || p.y == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the plot", path);
    } else if ((status = slc_io_text_create(path, &writer, error)) == SLC_OK) {
        p.n_averages = slc_bench_label_averages(rows, n, p.averages, n);
        find_range(&p);
        draw(&p, slc_io_text_stream(writer));
        status = slc_io_text_finish(writer, error);
    }
    free(p.averages);
    free(p.x);
    free(p.y);
    return status;
}
