/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of clustering as a picture, after figure 4.33 of A. Hennequin's thesis (2022): cycles for each
 * active pixel against density.
 */
#include "report/report_svg.h"

#include "bench/bench_cluster.h"
#include <sluice/io.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A panel is a plot with its legend beside it; two of them in a row. */
enum { PANEL_WIDTH = 640, PANEL_HEIGHT = 340, PLOT_WIDTH = 460, PLOT_HEIGHT = 290, ACROSS = 2 };

typedef struct plot {
    const slc_bench_cluster_row *rows;
    size_t n;
    double *x, *y; /* room for all rows */
    double low, high, densest;
} plot;

static double cycles_per_pixel(const slc_bench_cluster_row *row)
{
    return row->pixels > 0 ? row->minimum_s * row->hertz / (double)row->pixels : 0;
}

static bool same_panel(const slc_bench_cluster_row *a, const slc_bench_cluster_row *b)
{
    return a->granularity == b->granularity && a->shuffled == b->shuffled;
}

/* Is it the first row of its panel and, with `algorithm`, of its curve? */
static bool is_first(const plot *p, size_t i, bool algorithm)
{
    for (size_t k = 0; k < i; k++) {
        if (same_panel(&p->rows[k], &p->rows[i]) &&
            (!algorithm || p->rows[k].algorithm == p->rows[i].algorithm)) {
            return false;
        }
    }
    return true;
}

static void curve(const plot *p, slc_svg *svg, const slc_bench_cluster_row *a)
{
    size_t n = 0;
    char class_name[24];
    for (size_t i = 0; i < p->n; i++) {
        const slc_bench_cluster_row *row = &p->rows[i];
        if (same_panel(row, a) && row->algorithm == a->algorithm && row->pixels > 0) {
            p->x[n] = 100 * row->density;
            p->y[n++] = cycles_per_pixel(row);
        }
    }
    (void)snprintf(class_name, sizeof class_name, "curve c%zu", a->algorithm % SLC_SVG_CURVES);
    slc_svg_line(svg, p->x, p->y, n, class_name);
}

static void legend(FILE *out, size_t algorithm, int line)
{
    const int y = 30 + 17 * line;
    (void)fprintf(out, "<path class=\"curve c%zu\" d=\"M%d %dh18\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
                  algorithm % SLC_SVG_CURVES, PLOT_WIDTH + 8, y - 4, PLOT_WIDTH + 32, y,
                  slc_bench_cluster_algorithm(algorithm));
}

static void panel(const plot *p, FILE *out, size_t first, int number)
{
    const slc_bench_cluster_row *a = &p->rows[first];
    slc_svg svg;
    char title[96];
    int line = 0;
    (void)snprintf(title, sizeof title, "%s lists, granularity %" PRIu32,
                   a->shuffled ? "shuffled" : "ordered", a->granularity);
    (void)fprintf(out,
                  "<g transform=\"translate(%d %d)\"><text class=\"title\" x=\"54\" y=\"12\">%s</text>\n",
                  number % ACROSS * PANEL_WIDTH, 20 + number / ACROSS * PANEL_HEIGHT, title);
    (void)fprintf(out, "<svg y=\"16\" width=\"%d\" height=\"%d\">", PLOT_WIDTH, PLOT_HEIGHT);
    slc_svg_begin(
        &svg, out, (slc_svg_axis){.low = 0, .high = p->densest, .label = "density [%]"},
        (slc_svg_axis){
            .low = p->low, .high = p->high, .logarithmic = true, .label = "cycles per active pixel"},
        title);
    for (size_t i = first; i < p->n; i++) {
        if (same_panel(a, &p->rows[i]) && is_first(p, i, true)) {
            curve(p, &svg, &p->rows[i]);
        }
    }
    slc_svg_end(&svg);
    (void)fputs("</svg>\n", out);
    for (size_t i = first; i < p->n; i++) {
        if (same_panel(a, &p->rows[i]) && is_first(p, i, true)) {
            legend(out, p->rows[i].algorithm, line++);
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
        low = value > 0 ? fmin(low, value) : low;
        high = fmax(high, value);
        p->densest = fmax(p->densest, 100 * p->rows[i].density);
    }
    p->low = high > 0 ? pow(10, floor(log10(low))) : 1;
    p->high = high > 0 ? pow(10, ceil(log10(high))) : 10;
    p->high = p->high > p->low ? p->high : 10 * p->low;
    p->densest = p->densest > 0 ? p->densest : 1;
}

static void draw(const plot *p, FILE *out)
{
    int panels = 0, number = 0;
    for (size_t i = 0; i < p->n; i++) {
        panels += is_first(p, i, false);
    }
    const int width = PANEL_WIDTH * (panels < ACROSS ? panels : ACROSS);
    const int height = 20 + PANEL_HEIGHT * ((panels + ACROSS - 1) / ACROSS);
    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>%s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, slc_svg_curve_style, width, height);
    for (size_t i = 0; i < p->n; i++) {
        if (is_first(p, i, false)) {
            panel(p, out, i, number++);
        }
    }
    (void)fputs("</svg>\n", out);
}

slc_status slc_bench_cluster_svg(const char *path, const slc_bench_cluster_row *rows, size_t n,
                                 slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    if (n == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is nothing to draw", path);
    }
    plot p = {.rows = rows, .n = n};
    p.x = calloc(n, sizeof *p.x);
    p.y = calloc(n, sizeof *p.y);
    slc_status status = SLC_OK;
    if (p.x == NULL || p.y == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the plot", path);
    } else if ((status = slc_io_text_create(path, &writer, error)) == SLC_OK) {
        find_range(&p);
        draw(&p, slc_io_text_stream(writer));
        status = slc_io_text_finish(writer, error);
    }
    free(p.x);
    free(p.y);
    return status;
}
