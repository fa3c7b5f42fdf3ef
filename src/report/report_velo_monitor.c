/* SPDX-License-Identifier: Apache-2.0
 *
 * The report's part for shifters: where the detector is hit, how large clusters are, where collisions are
 * minute by minute, what each bunch crossing has, and pixels that stand out.
 */
#include "report/report_velo_plots.h"

#include "report/report_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double per(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static void figure_end(FILE *out)
{
    (void)fputs("</figure>\n", out);
}

/* ---- occupancies ------------------------------------------------------------------------------- */

/* A value of each sensor against its module, a line for each of the four places in a module: two are beside
 * the beam and two outside, so that neighbours in number have little in common. */
static void sensor_figure(FILE *out, const double *values, const char *title, const char *remark,
                          const char *label)
{
    double top = 0, x[2 * SLC_VELO_MODULES], y[2 * SLC_VELO_MODULES];
    char text[256], class_name[16];
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        top = fmax(top, values[s]);
    }
    if (!(top > 0)) {
        return;
    }
    slc_svg svg;
    (void)snprintf(text, sizeof text,
                   "%s; sensors 4m, 4m + 1, 4m + 2, 4m + 3 of module m: blue, red, green, violet", remark);
    slc_report_figure_begin(out, title, text);
    slc_svg_begin(&svg, out, (slc_svg_axis){0, SLC_VELO_MODULES, false, "module m"},
                  (slc_svg_axis){0, 1.15 * top, false, label}, title);
    for (uint32_t place = 0; place < 4; place++) {
        for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
            x[2 * (size_t)module] = module;
            x[2 * (size_t)module + 1] = module + 1;
            y[2 * (size_t)module] = y[2 * (size_t)module + 1] = values[4 * module + place];
        }
        (void)snprintf(class_name, sizeof class_name, "place s%u", (unsigned)place);
        slc_svg_line(&svg, x, y, sizeof x / sizeof *x, class_name);
    }
    slc_svg_end(&svg);
    figure_end(out);
}

static void sensors(FILE *out, const slc_velo_monitor *m)
{
    double values[SLC_VELO_SENSORS];
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        values[s] = per((double)(m->hits[s][0] + m->hits[s][1] + m->hits[s][2]), (double)m->placed_events);
    }
    sensor_figure(out, values, "Clusters by sensor", "mean of an event", "clusters per event");
}

/* Shades, of so many columns a cell. Each shade is twice the one below it, as occupancy falls by a hundred
 * from the beam outwards. */
enum { SHADES = 9, CELL = 16, CELLS = SLC_VELO_COLUMNS / CELL };

static uint64_t cell_of(const slc_velo_monitor *m, uint32_t sensor, uint32_t cell)
{
    uint64_t sum = 0;
    for (uint32_t c = CELL * cell; c < CELL * (cell + 1); c++) {
        sum += m->columns[sensor][c];
    }
    return sum;
}

static int shade_of(uint64_t count, uint64_t top)
{
    int shade = count > 0 ? SHADES : 0;
    for (uint64_t limit = top; shade > 1 && 2 * count <= limit; limit /= 2) {
        shade--;
    }
    return shade;
}

/* Neighbours of one shade are one rectangle; all of a shade are one path. */
static void draw_shade(slc_svg *svg, const slc_velo_monitor *m, int shade, uint64_t top)
{
    char class_name[8];
    (void)snprintf(class_name, sizeof class_name, "q%d", shade);
    slc_svg_dots_begin(svg, class_name);
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        for (uint32_t cell = 0; cell < CELLS;) {
            uint32_t end = cell;
            while (end < CELLS && shade_of(cell_of(m, s, end), top) == shade) {
                end++;
            }
            if (end > cell) {
                slc_svg_path_to(svg, true, s, CELL * cell);
                slc_svg_path_to(svg, false, s + 1.02, CELL * cell);
                slc_svg_path_to(svg, false, s + 1.02, CELL * end);
                slc_svg_path_to(svg, false, s, CELL * end);
            }
            cell = end > cell ? end : cell + 1;
        }
    }
    slc_svg_dots_end(svg);
}

static void map(FILE *out, const slc_velo_monitor *m)
{
    uint64_t top = 0;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        for (uint32_t cell = 0; cell < CELLS; cell++) {
            const uint64_t n = cell_of(m, s, cell);
            top = n > top ? n : top;
        }
    }
    if (top == 0) {
        return;
    }
    slc_svg svg;
    char remark[192];
    (void)snprintf(
        remark, sizeof remark,
        "darkest: up to %.3g clusters in %d columns of an event, half as many a shade lighter; white: none. "
        "Chips end at columns 256 and 512",
        per((double)top, (double)m->placed_events), (int)CELL);
    slc_report_figure_begin(out, "Clusters by sensor and column", remark);
    slc_svg_begin_sized(&svg, out, (slc_svg_axis){0, SLC_VELO_SENSORS, false, "sensor"},
                        (slc_svg_axis){0, SLC_VELO_COLUMNS, false, "column"}, "clusters by sensor and column",
                        1000, 330);
    for (int shade = 1; shade <= SHADES; shade++) {
        draw_shade(&svg, m, shade, top);
    }
    slc_svg_end(&svg);
    figure_end(out);
}

/* ---- clusters ---------------------------------------------------------------------------------- */

/* A sensor that loses charge has smaller ones. How many there are of each size is among the spectra. */
static void mean_sizes(FILE *out, const slc_velo_monitor *m)
{
    double values[SLC_VELO_SENSORS];
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        double n = 0, pixels = 0;
        for (uint32_t k = 1; k < SLC_VELO_MONITOR_SIZES; k++) {
            n += (double)m->sizes[s][k];
            pixels += k * (double)m->sizes[s][k];
        }
        values[s] = per(pixels, n);
    }
    sensor_figure(out, values, "Mean size of clusters by sensor", "those of 32 pixels and more count as 32",
                  "pixels in a cluster");
}

/* ---- minutes ----------------------------------------------------------------------------------- */

typedef struct minute_view {
    const char *title, *remark, *y_label;
    double unit;
    double (*value)(const slc_velo_minute *minute), (*error)(const slc_velo_minute *minute);
} minute_view;

/* By the events in which tracks were looked for: the others cannot have any. */
static double mean(double sum, uint64_t events, uint64_t cut, uint64_t crowded)
{
    const uint64_t searched = events - cut - crowded;
    return searched > 0 ? sum / (double)searched : (double)NAN;
}

static double x_of(const slc_velo_minute *m)
{
    return m->region.x_mm;
}
static double x_error(const slc_velo_minute *m)
{
    return m->region.x_rms_mm / sqrt((double)m->n);
}
static double y_of(const slc_velo_minute *m)
{
    return m->region.y_mm;
}
static double y_error(const slc_velo_minute *m)
{
    return m->region.y_rms_mm / sqrt((double)m->n);
}
static double z_of(const slc_velo_minute *m)
{
    return m->region.z_mm;
}
static double z_error(const slc_velo_minute *m)
{
    return m->region.z_rms_mm / sqrt((double)m->n);
}
static double length_of(const slc_velo_minute *m)
{
    return m->region.z_rms_mm;
}
static double length_error(const slc_velo_minute *m)
{
    return m->region.z_rms_mm / sqrt(2 * (double)m->n);
}
static double vertices_of(const slc_velo_minute *m)
{
    return mean((double)m->primaries, m->events, m->cut, m->crowded);
}
static double vertices_error(const slc_velo_minute *m)
{
    return mean(sqrt((double)m->primaries), m->events, m->cut, m->crowded);
}

static void minute_figure(FILE *out, const slc_velo_minute *minutes, uint32_t n, const minute_view *view)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        const double value = view->unit * view->value(&minutes[i]),
                     error = view->unit * view->error(&minutes[i]);
        if (isfinite(value) && isfinite(error)) {
            low = fmin(low, value - error);
            high = fmax(high, value + error);
        }
    }
    if (!(low < high)) {
        return;
    }
    const double margin = 0.15 * (high - low), first = (double)minutes[0].minute;
    slc_svg svg;
    char label[96];
    (void)snprintf(label, sizeof label, "minutes after GPS minute %" PRIu64, minutes[0].minute);
    slc_report_figure_begin(out, view->title, view->remark);
    slc_svg_begin(&svg, out, (slc_svg_axis){-0.5, (double)minutes[n - 1].minute - first + 1.5, false, label},
                  (slc_svg_axis){low - margin, high + margin, false, view->y_label}, view->title);
    for (uint32_t i = 0; i < n; i++) {
        const double value = view->unit * view->value(&minutes[i]),
                     error = view->unit * view->error(&minutes[i]);
        const double at = (double)minutes[i].minute - first;
        if (isfinite(value) && isfinite(error)) {
            slc_svg_point(&svg, at + 0.5, at, at + 1, value, value - error, value + error);
        }
    }
    slc_svg_end(&svg);
    figure_end(out);
}

static void minute_figures(FILE *out, const slc_velo_minute *minutes, uint32_t n)
{
    static const minute_view views[] = {
        {"Beam, x", "mean of the vertices of a minute", "x [µm]", 1e3, x_of, x_error},
        {"Beam, y", "mean of the vertices of a minute", "y [µm]", 1e3, y_of, y_error},
        {"Luminous region, z", "mean of the vertices of a minute", "z [mm]", 1, z_of, z_error},
        {"Luminous region, length", "rms of the vertices of a minute in z", "rms of z [mm]", 1, length_of,
         length_error},
        {"Vertices in a crossing", "mean of the events of a minute that were searched", "vertices per event",
         1, vertices_of, vertices_error},
    };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        minute_figure(out, minutes, n, &views[i]);
    }
}

static void cell(FILE *out, double value, double unit, int digits)
{
    if (isfinite(value)) {
        (void)fprintf(out, "<td>%.*f</td>", digits, unit * value);
    } else {
        (void)fputs("<td>–</td>", out);
    }
}

/* The last minutes as numbers, which is what a shifter writes down. */
static void minute_table(FILE *out, const slc_velo_monitor *m)
{
    enum { ROWS = 10 };
    const uint32_t first = m->n_minutes > ROWS ? m->n_minutes - ROWS : 0;
    (void)fprintf(
        out,
        "<h2>Where collisions are</h2>\n<div class=\"table\"><table>\n<tr><th>GPS minute</th><th>events</th>"
        "<th>vertices used</th><th>x, µm</th><th>y, µm</th><th>z, mm</th><th>rms x, µm</th><th>rms y, µm</th>"
        "<th>rms z, mm</th><th>slope x, 10<sup>−6</sup></th><th>slope y, 10<sup>−6</sup></th></tr>\n");
    for (uint32_t i = first; i < m->n_minutes; i++) {
        const slc_velo_minute *minute = &m->minutes[i];
        const slc_velo_luminous *at = &minute->region;
        if (minute->minute > 0) {
            (void)fprintf(out, "<tr><td>%" PRIu64 "</td>", minute->minute);
        } else {
            (void)fputs("<tr><td>not told</td>", out);
        }
        (void)fprintf(out, "<td>%" PRIu64 "</td><td>%" PRIu64 "</td>", minute->events, minute->n);
        cell(out, at->x_mm, 1e3, 1);
        cell(out, at->y_mm, 1e3, 1);
        cell(out, at->z_mm, 1, 2);
        cell(out, at->x_rms_mm, 1e3, 1);
        cell(out, at->y_rms_mm, 1e3, 1);
        cell(out, at->z_rms_mm, 1, 2);
        cell(out, at->slope_x, 1e6, 1);
        cell(out, at->slope_y, 1e6, 1);
        (void)fputs("</tr>\n", out);
    }
    (void)fprintf(
        out,
        "</table></div>\n<p class=\"foot\">By vertices of %g tracks and more%s. rms of x and y include the "
        "resolution of vertices.</p>\n",
        (double)SLC_VELO_MONITOR_TRACKS, first > 0 ? "; the last minutes" : "");
}

/* ---- bunch crossings --------------------------------------------------------------------------- */

static void bunch_figure(FILE *out, const slc_velo_monitor *m, bool tracks)
{
    double top = 0;
    for (uint32_t b = 0; b < SLC_VELO_BUNCHES; b++) {
        const slc_velo_bunch *of = &m->bunch[b];
        top = fmax(top,
                   mean((double)(tracks ? of->tracks : of->primaries), of->events, of->cut, of->crowded));
    }
    if (!(top > 0)) {
        return;
    }
    slc_svg svg;
    slc_report_figure_begin(out, tracks ? "Tracks by bunch crossing" : "Vertices by bunch crossing",
                            "mean of the events of a crossing that were searched");
    slc_svg_begin(&svg, out, (slc_svg_axis){0, SLC_VELO_BUNCHES, false, "bunch crossing"},
                  (slc_svg_axis){0, 1.15 * top, false, tracks ? "tracks per event" : "vertices per event"},
                  tracks ? "tracks by bunch crossing" : "vertices by bunch crossing");
    slc_svg_dots_begin(&svg, "spot");
    for (uint32_t b = 0; b < SLC_VELO_BUNCHES; b++) {
        const slc_velo_bunch *of = &m->bunch[b];
        if (of->events > of->cut + of->crowded) {
            slc_svg_dot(
                &svg, b,
                mean((double)(tracks ? of->tracks : of->primaries), of->events, of->cut, of->crowded));
        }
    }
    slc_svg_dots_end(&svg);
    slc_svg_end(&svg);
    figure_end(out);
}

/* ---- pixels ------------------------------------------------------------------------------------ */

/* Most over what is expected first. */
static int by_excess(const void *a, const void *b)
{
    const slc_velo_odd_pixel *p = a, *q = b;
    const double x = p->count - (double)p->expected, y = q->count - (double)q->expected;
    return x > y ? -1 : x < y ? 1 : 0;
}

static void pixel_table(FILE *out, const slc_velo_monitor *m)
{
    enum { ROWS = 20 };
    (void)fprintf(out,
                  "<h2>Hot and dead pixels</h2>\n<p class=\"foot\">Of %" PRIu64 " events: %" PRIu64
                  " pixels are hot, %" PRIu64 " are dead, of %" PRIu64
                  " that can be judged dead by now. Hot: more than %g times what the %d × %d around make one "
                  "expect, by "
                  "chance with less than %g; dead: none where %g are expected.</p>\n",
                  m->pixel_events, m->n_hot, m->n_dead, m->judged, SLC_VELO_HOT_FACTOR,
                  2 * SLC_VELO_MONITOR_AROUND + 1, 2 * SLC_VELO_MONITOR_AROUND + 1, SLC_VELO_HOT_CHANCE,
                  SLC_VELO_DEAD_EXPECTED);
    slc_velo_odd_pixel *sorted = m->n_hot > 0 ? malloc(m->n_hot * sizeof *sorted) : NULL;
    if (sorted == NULL) {
        return; /* without memory the numbers above have to do */
    }
    for (uint64_t i = 0; i < m->n_hot; i++) {
        sorted[i] = m->hot[i];
    }
    qsort(sorted, m->n_hot, sizeof *sorted, by_excess);
    (void)fputs("<div class=\"table\"><table>\n<tr><th>sensor</th><th>column</th><th>row</th><th>hits</th>"
                "<th>per event</th><th>expected</th></tr>\n",
                out);
    for (uint64_t i = 0; i < m->n_hot && i < ROWS; i++) {
        (void)fprintf(
            out, "<tr><td>%u</td><td>%u</td><td>%u</td><td>%" PRIu32 "</td><td>%.3g</td><td>%.3g</td></tr>\n",
            sorted[i].sensor, sorted[i].column, sorted[i].row, sorted[i].count,
            per(sorted[i].count, (double)m->pixel_events), (double)sorted[i].expected);
    }
    (void)fputs("</table></div>\n", out);
    if (m->n_hot > ROWS) {
        (void)fprintf(out, "<p class=\"foot\">And %" PRIu64 " more.</p>\n", m->n_hot - ROWS);
    }
    free(sorted);
}

void slc_report_velo_monitor(FILE *out, const slc_velo_monitor *m)
{
    uint32_t first = 0; /* events without a time come first */
    while (first < m->n_minutes && m->minutes[first].minute == 0) {
        first++;
    }
    slc_report_section_begin(out, "Detector");
    sensors(out, m);
    mean_sizes(out, m);
    slc_report_section_end(out);
    (void)fputs("<div class=\"event\">\n", out);
    map(out, m);
    (void)fputs("</div>\n", out);
    if (m->n_minutes > 0) {
        minute_table(out, m);
    }
    (void)fputs("<div class=\"plots event\">\n", out);
    if (m->n_minutes - first > 1) {
        minute_figures(out, m->minutes + first, m->n_minutes - first);
    }
    bunch_figure(out, m, true);
    bunch_figure(out, m, false);
    slc_report_section_end(out);
    if (m->pixel != NULL) {
        pixel_table(out, m);
    }
}
