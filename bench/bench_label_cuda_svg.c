/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of labelling on a GPU as a picture, after figures 4.14 and 4.20 of A. Hennequin's thesis
 * (2022): the time of an image against its density, and the throughput against its size.
 */
#include "report/report_panel.h"

#include "bench/bench_label.h"
#include <sluice/image_label.h>
#include <sluice/io.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct picture {
    const slc_bench_label_cuda_row *rows;
    size_t n;
    slc_bench_label_cuda_average *averages;
    size_t n_averages;
    double *x, *y; /* room for all rows */
    slc_panels panels;
} picture;

static double gigapixels(const slc_bench_label_cuda_average *a)
{
    return 1e-9 * a->pixels / a->seconds;
}

static bool same_panel(const slc_bench_label_cuda_average *a, const slc_bench_label_cuda_average *b,
                       bool of_all_sizes)
{
    return a->granularity == b->granularity && (of_all_sizes || a->size == b->size);
}

/* The first average of its panel opens it. */
static bool opens_panel(const picture *p, size_t i, bool of_all_sizes)
{
    for (size_t k = 0; k < i; k++) {
        if (same_panel(&p->averages[k], &p->averages[i], of_all_sizes)) {
            return false;
        }
    }
    return true;
}

static bool has_sizes(const picture *p)
{
    for (size_t i = 1; i < p->n_averages; i++) {
        if (p->averages[i].size != p->averages[0].size) {
            return true;
        }
    }
    return false;
}

static void draw_curve(picture *p, slc_svg *svg, size_t points, size_t algorithm)
{
    char class_name[24];
    (void)snprintf(class_name, sizeof class_name, "curve c%zu", algorithm % SLC_SVG_CURVES);
    slc_svg_line(svg, p->x, p->y, points, class_name);
}

static void legend(picture *p, const slc_bench_label_cuda_average *a, double number)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%s: %.3g", slc_image_cuda_algorithm_name(a->algorithm), number);
    slc_panel_legend(&p->panels, a->algorithm, text);
}

/* ---- time against density ---------------------------------------------------------------------- */

static void density_curve(picture *p, slc_svg *svg, const slc_bench_label_cuda_average *a)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const slc_bench_label_cuda_row *row = &p->rows[i];
        if (row->size == a->size && row->algorithm == a->algorithm && row->granularity == a->granularity) {
            p->x[n] = 100 * row->density;
            p->y[n++] = 1e3 * row->median_s;
        }
    }
    draw_curve(p, svg, n, a->algorithm);
}

static slc_svg_axis time_axis(const picture *p, size_t size)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->rows[i].size == size) {
            low = fmin(low, 1e3 * p->rows[i].median_s);
            high = fmax(high, 1e3 * p->rows[i].median_s);
        }
    }
    return slc_panel_decades(low, high, "time of an image [ms]");
}

static void density_panel(picture *p, size_t first)
{
    const slc_bench_label_cuda_average *a = &p->averages[first];
    slc_svg svg;
    char title[96];
    (void)snprintf(title, sizeof title, "%zu x %zu pixels, granularity %" PRIu32, a->size, a->size,
                   a->granularity);
    slc_panel_begin(&p->panels, &svg, (slc_svg_axis){.low = 0, .high = 100, .label = "density [%]"},
                    time_axis(p, a->size), title, "Gpixel/s, all pixels / all time");
    for (size_t i = first; i < p->n_averages; i++) {
        if (same_panel(a, &p->averages[i], false)) {
            density_curve(p, &svg, &p->averages[i]);
        }
    }
    slc_panel_plotted(&p->panels, &svg);
    for (size_t i = first; i < p->n_averages; i++) {
        if (same_panel(a, &p->averages[i], false)) {
            legend(p, &p->averages[i], gigapixels(&p->averages[i]));
        }
    }
    slc_panel_end(&p->panels);
}

/* ---- throughput against size ------------------------------------------------------------------- */

/* An algorithm's averages at all sizes; returns the largest throughput. */
static double size_curve(picture *p, slc_svg *svg, const slc_bench_label_cuda_average *a)
{
    size_t n = 0;
    double best = 0;
    for (size_t i = 0; i < p->n_averages; i++) {
        const slc_bench_label_cuda_average *b = &p->averages[i];
        if (b->algorithm == a->algorithm && b->granularity == a->granularity) {
            p->x[n] = (double)b->size;
            p->y[n++] = gigapixels(b);
            best = fmax(best, gigapixels(b));
        }
    }
    if (svg != NULL) {
        draw_curve(p, svg, n, a->algorithm);
    }
    return best;
}

/* Is no average before it of its algorithm, in its panel of all sizes? */
static bool opens_curve(const picture *p, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        if (same_panel(&p->averages[k], &p->averages[i], true) &&
            p->averages[k].algorithm == p->averages[i].algorithm) {
            return false;
        }
    }
    return true;
}

static void size_panel(picture *p, size_t first)
{
    const slc_bench_label_cuda_average *a = &p->averages[first];
    double low = INFINITY, high = 0, small = INFINITY, large = 0;
    for (size_t i = 0; i < p->n_averages; i++) {
        low = fmin(low, gigapixels(&p->averages[i]));
        high = fmax(high, gigapixels(&p->averages[i]));
        small = fmin(small, (double)p->averages[i].size);
        large = fmax(large, (double)p->averages[i].size);
    }
    slc_svg svg;
    char title[96];
    (void)snprintf(title, sizeof title, "all sizes, granularity %" PRIu32, a->granularity);
    slc_panel_begin(
        &p->panels, &svg,
        (slc_svg_axis){.low = small, .high = large, .logarithmic = true, .label = "side [pixels]"},
        slc_panel_decades(low, high, "Gpixel/s, all pixels / all time"), title, "largest Gpixel/s");
    for (size_t i = first; i < p->n_averages; i++) {
        if (same_panel(a, &p->averages[i], true) && opens_curve(p, i)) {
            (void)size_curve(p, &svg, &p->averages[i]);
        }
    }
    slc_panel_plotted(&p->panels, &svg);
    for (size_t i = first; i < p->n_averages; i++) {
        if (same_panel(a, &p->averages[i], true) && opens_curve(p, i)) {
            legend(p, &p->averages[i], size_curve(p, NULL, &p->averages[i]));
        }
    }
    slc_panel_end(&p->panels);
}

/* ---- the file ---------------------------------------------------------------------------------- */

static void draw(picture *p, FILE *out)
{
    const bool sizes = has_sizes(p);
    int panels = 0;
    for (size_t i = 0; i < p->n_averages; i++) {
        panels += opens_panel(p, i, false);
        panels += sizes && opens_panel(p, i, true);
    }
    slc_panels_begin(&p->panels, out, panels);
    for (size_t i = 0; i < p->n_averages; i++) {
        if (opens_panel(p, i, false)) {
            density_panel(p, i);
        }
    }
    for (size_t i = 0; i < p->n_averages && sizes; i++) {
        if (opens_panel(p, i, true)) {
            size_panel(p, i);
        }
    }
    slc_panels_end(&p->panels);
}

slc_status slc_bench_label_cuda_svg(const char *path, const slc_bench_label_cuda_row *rows, size_t n,
                                    slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    if (n == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is nothing to draw", path);
    }
    picture p = {.rows = rows, .n = n};
    p.averages = calloc(n, sizeof *p.averages);
    p.x = calloc(n, sizeof *p.x);
    p.y = calloc(n, sizeof *p.y);
    slc_status status = SLC_OK;
    if (p.averages == NULL || p.x == NULL || p.y == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the plot", path);
    } else if ((status = slc_io_text_create(path, &writer, error)) == SLC_OK) {
        p.n_averages = slc_bench_label_cuda_averages(rows, n, p.averages, n);
        draw(&p, slc_io_text_stream(writer));
        status = slc_io_text_finish(writer, error);
    }
    free(p.averages);
    free(p.x);
    free(p.y);
    return status;
}
