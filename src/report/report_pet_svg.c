/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates of a PET scanner against time as a picture: what came and what was lost of it beside what was made of
 * it. Steps, as a bin's rate is a mean over the bin; bins without a row had nothing. Rates that differ by
 * orders of magnitude, as singles and delayeds do, are drawn in decades, where nothing is at the frame's
 * lower edge; others from zero.
 */
#include "report/report_svg.h"

#include <sluice/io.h>
#include <sluice/report_pet.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_STEPS = 400,
    CURVES = 7,
    FIRST_PANEL = 3 /* curves of the first panel */,
    DECADES_FROM = 20 /* largest over smallest rate */
};

static const char *const names[CURVES] = {
    "frames", "singles", "lost", "prompts", "delayeds", "randoms from singles", "multiples",
};
/* Delayeds and randoms estimate the same, and often lie on each other. */
static const char *const classes[CURVES] = {"curve c7", "curve c0",        "curve c3", "curve c0",
                                            "curve c1", "curve c2 dashed", "curve c4"};

/* Sums over stretches of time of one length, all that is drawn. */
typedef struct steps {
    size_t n;
    double width_s;
    double seconds[MOST_STEPS];
    double sum[CURVES][MOST_STEPS];
    double total[CURVES], total_s;
} steps;

static double value_of(const slc_pet_rate_rows *rows, size_t row, int curve)
{
    const uint64_t *const counts[] = {rows->frames,   rows->singles, rows->lost,     rows->prompts,
                                      rows->delayeds, NULL,          rows->multiples};
    return counts[curve] != NULL ? (double)counts[curve][row] : rows->randoms[row];
}

static void add_up(const slc_pet_rate_rows *rows, double bin_s, steps *s)
{
    const size_t n = rows->head.size;
    const double bins = floor((rows->begin_s[n - 1] - rows->begin_s[0]) / bin_s + 0.5) + 1;
    const double together = ceil(bins / MOST_STEPS);
    s->n = (size_t)ceil(bins / together);
    s->width_s = together * bin_s;
    for (size_t i = 0; i < s->n; i++) {
        s->seconds[i] = fmin(together, bins - (double)i * together) * bin_s;
    }
    for (size_t row = 0; row < n; row++) {
        const double bin = floor((rows->begin_s[row] - rows->begin_s[0]) / bin_s + 0.5);
        const size_t i = (size_t)(bin / together);
        s->seconds[i] -= bin_s - rows->length_s[row];
        for (int c = 0; c < CURVES; c++) {
            s->sum[c][i] += value_of(rows, row, c);
            s->total[c] += value_of(rows, row, c);
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        /* A bin with one single has no length. */
        s->seconds[i] = s->seconds[i] > 0 ? s->seconds[i] : s->width_s;
        s->total_s += s->seconds[i];
    }
}

/* "19.8 M" of 19 800 000. */
static void short_number(char *to, size_t size, double value)
{
    static const char *const prefixes[] = {"", " k", " M", " G"};
    int i = 0;
    for (; value >= 999.5 && i < 3; i++) {
        value /= 1000;
    }
    (void)snprintf(to, size, "%.3g%s", value, prefixes[i]);
}

/* The largest and the smallest rate of some curves, zeros apart; 0 where there is none. */
static void find_range(const steps *s, int first, int end, double *lowest, double *highest)
{
    *lowest = *highest = 0;
    for (int c = first; c < end; c++) {
        for (size_t i = 0; i < s->n; i++) {
            const double rate = s->sum[c][i] / s->seconds[i];
            *highest = fmax(*highest, rate);
            *lowest = rate > 0 && (*lowest == 0 || rate < *lowest) ? rate : *lowest;
        }
    }
}

/* The axis of those rates, and what they are multiplied by for it. */
static slc_svg_axis rate_axis(double lowest, double highest, double *scale)
{
    if (highest > DECADES_FROM * lowest) {
        /* Not whole decades: curves that are near the next one would leave most of it empty. */
        *scale = 1;
        return (slc_svg_axis){fmax(lowest / 1.5, highest * 1e-9), 1.5 * highest, true,
                              "a second; none: at the lower edge"};
    }
    *scale = highest >= 1e6 ? 1e-6 : highest >= 1e3 ? 1e-3 : 1;
    return (slc_svg_axis){0, highest > 0 ? 1.08 * highest * *scale : 1, false,
                          *scale < 1e-3 ? "millions a second"
                          : *scale < 1  ? "thousands a second"
                                        : "a second"};
}

static void draw_curve(slc_svg *svg, const steps *s, int curve, double x_scale, double y_scale)
{
    slc_svg_path_begin(svg, classes[curve]);
    for (size_t i = 0; i < s->n; i++) {
        const double y = s->sum[curve][i] / s->seconds[i] * y_scale;
        slc_svg_path_to(svg, i == 0, (double)i * s->width_s * x_scale, y);
        slc_svg_path_to(svg, false, (double)(i + 1) * s->width_s * x_scale, y);
    }
    slc_svg_path_end(svg, names[curve]);
}

static void draw_panel(slc_panels *panels, const steps *s, int first, int end, const char *title)
{
    const double span = (double)s->n * s->width_s;
    const double x_scale = span < 2e-3 ? 1e6 : span < 2 ? 1e3 : 1;
    const char *unit = x_scale > 1e3 ? "time from the first bin, µs"
                       : x_scale > 1 ? "time from the first bin, ms"
                                     : "time from the first bin, s";
    double lowest, highest, y_scale;
    slc_svg svg;
    find_range(s, first, end, &lowest, &highest);
    const slc_svg_axis x = {0, 1.03 * span * x_scale, false, unit}; /* room for the last tick's label */
    const slc_svg_axis y = rate_axis(lowest, highest, &y_scale);
    slc_panel_begin(panels, &svg, x, y, title, "mean a second");
    for (int c = first; c < end; c++) {
        draw_curve(&svg, s, c, x_scale, y_scale);
    }
    slc_panel_plotted(panels, &svg);
    for (int c = first; c < end; c++) {
        char number[24], text[64];
        short_number(number, sizeof number, s->total[c] / s->total_s);
        (void)snprintf(text, sizeof text, "%s: %s", names[c], number);
        slc_panel_legend_of(panels, classes[c], text);
    }
    slc_panel_end(panels);
}

slc_status slc_report_pet_rates_svg(const char *path, const slc_pet_rate_rows *rows, double bin_s,
                                    slc_error *error)
{
    slc_io_writer *writer = NULL;
    if (rows->head.size == 0 || !(bin_s > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there are no rates to draw", path);
    }
    steps *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the picture", path);
    }
    add_up(rows, bin_s, s);
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status == SLC_OK) {
        slc_panels panels;
        slc_panels_begin(&panels, slc_io_text_stream(writer), 2);
        draw_panel(&panels, s, 0, FIRST_PANEL, "frames and singles");
        draw_panel(&panels, s, FIRST_PANEL, CURVES, "coincidences");
        slc_panels_end(&panels);
    }
    free(s);
    return status == SLC_OK ? slc_io_finish(writer, error) : status;
}
