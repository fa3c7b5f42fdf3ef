/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of a GPU as a picture, after figures 3.3 and 4.21 of A. Hennequin's thesis (2022): bandwidth
 * against stride, and n-half against r-infinity.
 */
#include "report/report_panel.h"

#include "bench/bench_gpu.h"
#include <sluice/image_label.h>
#include <sluice/io.h>

#include <inttypes.h>
#include <math.h>

enum { ELEMENTS = 17, POINTS = 128 }; /* bytes of an element are fewer; points of a curve, at most */

typedef struct picture {
    const slc_bench_gpu_row *rows;
    size_t n;
    const slc_bench_gpu_hockney *hockney;
    size_t n_hockney;
    slc_panels panels;
} picture;

/* ---- bandwidth against stride ------------------------------------------------------------------ */

static double gigabytes(const slc_bench_gpu_row *row)
{
    return 1e-9 * row->bytes / row->median_s;
}

/* The points of one size of element; returns how many. */
static size_t points_of(const picture *p, slc_bench_gpu_test test, uint32_t element, double *x, double *y)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n && n < POINTS; i++) {
        const slc_bench_gpu_row *row = &p->rows[i];
        if (row->test == test && row->element_bytes == element) {
            x[n] = row->stride;
            y[n++] = gigabytes(row);
        }
    }
    return n;
}

static bool has_test(const picture *p, slc_bench_gpu_test test)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->rows[i].test == test) {
            return true;
        }
    }
    return false;
}

static void stride_panel(picture *p, slc_bench_gpu_test test)
{
    static const char *const titles[] = {"Global memory", "Shared memory, copied from global memory",
                                         "Shared memory alone"};
    double x[POINTS], y[POINTS], high = 0, wide = 1;
    char text[64];
    slc_svg svg;
    for (size_t i = 0; i < p->n; i++) {
        if (p->rows[i].test == test) {
            high = fmax(high, gigabytes(&p->rows[i]));
            wide = fmax(wide, p->rows[i].stride);
        }
    }
    slc_panel_begin(&p->panels, &svg, (slc_svg_axis){.low = 0, .high = wide, .label = "stride [elements]"},
                    (slc_svg_axis){.low = 0, .high = 1.05 * high, .label = "effective GB/s"}, titles[test],
                    "bytes of an element");
    for (uint32_t element = 1; element < ELEMENTS; element++) {
        const size_t n = points_of(p, test, element, x, y);
        (void)snprintf(text, sizeof text, "curve c%" PRIu32, element % SLC_SVG_CURVES);
        if (n > 0) {
            slc_svg_line(&svg, x, y, n, text);
        }
    }
    slc_panel_plotted(&p->panels, &svg);
    for (uint32_t element = 1; element < ELEMENTS; element++) {
        const size_t n = points_of(p, test, element, x, y);
        (void)snprintf(text, sizeof text, "%" PRIu32 ": %.0f GB/s at stride 1", element, n > 0 ? y[0] : 0);
        if (n > 0) {
            slc_panel_legend(&p->panels, element, text);
        }
    }
    slc_panel_end(&p->panels);
}

/* ---- n-half against r-infinity ----------------------------------------------------------------- */

/* A line with no slope, and one that begins at or below nothing, have no place on logarithmic axes. */
static bool has_place(const slc_bench_gpu_hockney *h)
{
    return h->r_infinity > 0 && h->n_half > 0;
}

static bool any_place(const picture *p)
{
    for (size_t i = 0; i < p->n_hockney; i++) {
        if (has_place(&p->hockney[i])) {
            return true;
        }
    }
    return false;
}

/* An algorithm's line of the legend, at its first result: r-infinity at each granularity. */
static void hockney_legend(picture *p, size_t first)
{
    const size_t algorithm = p->hockney[first].algorithm;
    char text[160];
    size_t size = (size_t)snprintf(text, sizeof text, "%s:", slc_image_cuda_algorithm_name(algorithm));
    for (size_t i = 0; i < p->n_hockney; i++) {
        const slc_bench_gpu_hockney *h = &p->hockney[i];
        if (h->algorithm != algorithm) {
            continue;
        }
        if (i < first) {
            return;
        }
        if (size < sizeof text) {
            size += (size_t)snprintf(text + size, sizeof text - size, " %.3g", 1e-9 * h->r_infinity);
        }
    }
    slc_panel_legend(&p->panels, algorithm, text);
}

static void hockney_panel(picture *p)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    char text[128];
    slc_svg svg;
    for (size_t i = 0; i < p->n_hockney; i++) {
        const slc_bench_gpu_hockney *h = &p->hockney[i];
        if (has_place(h)) {
            low[0] = fmin(low[0], 1e-9 * h->r_infinity);
            high[0] = fmax(high[0], 1e-9 * h->r_infinity);
            low[1] = fmin(low[1], sqrt(h->n_half));
            high[1] = fmax(high[1], sqrt(h->n_half));
        }
    }
    slc_panel_begin(&p->panels, &svg, slc_panel_decades(low[0], high[0], "r-infinity [Gpixel/s]"),
                    slc_panel_decades(low[1], high[1], "side of n-half [pixels]"),
                    "Labelling: half of the largest throughput",
                    "r-infinity by granularity, 1 the largest ring");
    for (size_t i = 0; i < p->n_hockney; i++) {
        const slc_bench_gpu_hockney *h = &p->hockney[i];
        if (has_place(h)) {
            (void)snprintf(text, sizeof text, "curve c%zu", h->algorithm % SLC_SVG_CURVES);
            slc_svg_ring(&svg, text, 1e-9 * h->r_infinity, sqrt(h->n_half), 2.5 + 6.0 / h->granularity,
                         slc_image_cuda_algorithm_name(h->algorithm));
        }
    }
    slc_panel_plotted(&p->panels, &svg);
    for (size_t i = 0; i < p->n_hockney; i++) {
        hockney_legend(p, i);
    }
    slc_panel_end(&p->panels);
}

slc_status slc_bench_gpu_svg(const char *path, const slc_bench_gpu_row *rows, size_t n,
                             const slc_bench_gpu_hockney *hockney, size_t n_hockney, slc_error *error)
{
    picture p = {.rows = rows, .n = n, .hockney = hockney, .n_hockney = n_hockney};
    slc_io_text_writer *writer = NULL;
    int panels = any_place(&p);
    for (int test = SLC_BENCH_GPU_STRIDE_GLOBAL; test <= SLC_BENCH_GPU_STRIDE_SHARED; test++) {
        panels += has_test(&p, (slc_bench_gpu_test)test);
    }
    if (panels == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is nothing to draw", path);
    }
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_panels_begin(&p.panels, slc_io_text_stream(writer), panels);
    for (int test = SLC_BENCH_GPU_STRIDE_GLOBAL; test <= SLC_BENCH_GPU_STRIDE_SHARED; test++) {
        if (has_test(&p, (slc_bench_gpu_test)test)) {
            stride_panel(&p, (slc_bench_gpu_test)test);
        }
    }
    if (any_place(&p)) {
        hockney_panel(&p);
    }
    slc_panels_end(&p.panels);
    return slc_io_text_finish(writer, error);
}
