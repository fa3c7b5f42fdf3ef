/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the VELO as a picture: throughput against threads by algorithm and by instruction set,
 * throughput and efficiency against the number of candidates, and cost against hits. Figures 5.6 to 5.8
 * and 5.10 of A. Hennequin's thesis (2022), and what it says of occupancy in section 5.4.2.
 */
#include "report/report_svg.h"

#include "bench/bench_velo.h"
#include <sluice/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A panel is a plot with its legend beside it; two of them in a row. */
enum {
    PANEL_WIDTH = 690,
    PANEL_HEIGHT = 340,
    PLOT_WIDTH = 460,
    PLOT_HEIGHT = 290,
    ACROSS = 2,
    MOST_CURVES = 64
};

/* A curve: the rows of one name and target, and a value of each. */
typedef struct curve {
    const char *name;
    slc_simd_target target;
    int category; /* of an efficiency */
} curve;

typedef enum kind { THROUGHPUT = 0, EFFICIENCY, GHOSTS, COST } kind;

typedef struct panel {
    const char *title, *x_label, *y_label, *only; /* rows of that name; NULL: of all */
    slc_bench_velo_what what;
    kind shows;
    bool by_target, logarithmic;
} panel;

#define RATE "events to vertices per second, fastest"
static const panel panels[] = {
    {"algorithms", "threads", RATE, NULL, SLC_BENCH_VELO_THREADS, THROUGHPUT, false, false},
    {"instruction sets", "threads", RATE, NULL, SLC_BENCH_VELO_TARGETS, THROUGHPUT, true, false},
    {"candidates", "N", RATE, NULL, SLC_BENCH_VELO_CANDIDATES, THROUGHPUT, false, false},
    {"ghosts", "N", "percent of tracks", NULL, SLC_BENCH_VELO_CANDIDATES, GHOSTS, false, false},
    {"efficiencies of the default, eta from 2 to 5", "N", "percent", "default", SLC_BENCH_VELO_CANDIDATES,
     EFFICIENCY, false, false},
    {"efficiencies of the single pass, eta from 2 to 5", "N", "percent", "fast", SLC_BENCH_VELO_CANDIDATES,
     EFFICIENCY, false, false},
    {"cost of an event, track search", "hits", "microseconds", NULL, SLC_BENCH_VELO_SCALING, COST, false,
     true},
};
enum { N_PANELS = sizeof panels / sizeof *panels };

typedef struct picture {
    const slc_bench_velo_row *rows;
    size_t n;
    double *x, *y; /* room for all rows and one more */
    FILE *out;
} picture;

/* ---- values ------------------------------------------------------------------------------------ */

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : NAN;
}

/* NaN where the row has no such value. */
static double value_of(const panel *p, const curve *c, const slc_bench_velo_row *row)
{
    switch (p->shows) {
    case THROUGHPUT:
        return 1 / row->until[SLC_BENCH_VELO_VERTICES].minimum;
    case COST:
        return 1e6 * row->stage[SLC_VELO_STAGE_TRACK].minimum;
    case EFFICIENCY:
        return row->checked
                   ? percent(row->counts[c->category].found, row->counts[c->category].reconstructible)
                   : NAN;
    case GHOSTS:
        return row->checked ? percent(row->ghosts, row->checked_tracks) : NAN;
    default:
        return NAN;
    }
}

static double place_of(const panel *p, const slc_bench_velo_row *row)
{
    return p->shows == COST                       ? (double)row->hits
           : p->what == SLC_BENCH_VELO_CANDIDATES ? row->candidates
                                                  : row->threads;
}

static bool belongs(const panel *p, const curve *c, const slc_bench_velo_row *row)
{
    return row->what == p->what && strcmp(row->name, c->name) == 0 && row->target == c->target;
}

/* The curves of a panel, in the order in which they occur first. */
static size_t curves_of(const picture *pic, const panel *p, curve *curves)
{
    static const int categories[] = {SLC_VELO_CATEGORY_VELO, SLC_VELO_CATEGORY_LONG, SLC_VELO_CATEGORY_FROM_B,
                                     SLC_VELO_CATEGORY_FROM_D, SLC_VELO_CATEGORY_STRANGE};
    size_t n = 0;
    for (size_t i = 0; i < pic->n; i++) {
        const slc_bench_velo_row *row = &pic->rows[i];
        bool known = row->what != p->what || (p->only != NULL && strcmp(row->name, p->only) != 0);
        for (size_t k = 0; k < n && !known; k++) {
            known = belongs(p, &curves[k], row);
        }
        if (known || n + 8 > MOST_CURVES) {
            continue;
        }
        if (p->shows == GHOSTS && !row->checked) {
            continue;
        }
        if (p->shows != EFFICIENCY) {
            curves[n++] = (curve){.name = row->name, .target = row->target};
        } else if (row->checked) {
            for (size_t c = 0; c < sizeof categories / sizeof *categories; c++) {
                if (row->counts[categories[c]].reconstructible > 0) {
                    curves[n++] = (curve){row->name, row->target, categories[c]};
                }
            }
        }
    }
    return n;
}

/* Points of a curve by rising x; returns how many. */
static size_t points_of(const picture *pic, const panel *p, const curve *c)
{
    size_t n = 0;
    for (size_t i = 0; i < pic->n; i++) {
        const slc_bench_velo_row *row = &pic->rows[i];
        const double x = place_of(p, row), y = belongs(p, c, row) ? value_of(p, c, row) : NAN;
        if (!isfinite(y)) {
            continue;
        }
        size_t k = n++;
        for (; k > 0 && pic->x[k - 1] > x; k--) {
            pic->x[k] = pic->x[k - 1];
            pic->y[k] = pic->y[k - 1];
        }
        pic->x[k] = x;
        pic->y[k] = y;
    }
    return n;
}

/* ---- drawing ----------------------------------------------------------------------------------- */

/* Around all points: from 0 for throughput, whole decades where logarithmic. */
static void find_axes(const picture *pic, const panel *p, const curve *curves, size_t n, slc_svg_axis *x,
                      slc_svg_axis *y)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t k = 0; k < n; k++) {
        const size_t points = points_of(pic, p, &curves[k]);
        for (size_t i = 0; i < points; i++) {
            low[0] = fmin(low[0], pic->x[i]);
            high[0] = fmax(high[0], pic->x[i]);
            low[1] = fmin(low[1], pic->y[i]);
            high[1] = fmax(high[1], pic->y[i]);
        }
    }
    for (int d = 0; d < 2; d++) {
        if (p->logarithmic) {
            low[d] = pow(10, floor(log10(low[d])));
            high[d] = pow(10, ceil(log10(high[d])));
            high[d] = high[d] > low[d] ? high[d] : 10 * low[d];
        }
    }
    if (!p->logarithmic) {
        low[0] = 0;
        high[0] += 1;
        const double margin = 0.1 * (high[1] - low[1]) + 0.1;
        low[1] = p->shows == THROUGHPUT ? 0 : low[1] - margin;
        high[1] = p->shows == THROUGHPUT ? 1.1 * high[1] : fmin(high[1] + margin, 100);
    }
    *x = (slc_svg_axis){low[0], high[0], p->logarithmic, p->x_label};
    *y = (slc_svg_axis){low[1], high[1], p->logarithmic, p->y_label};
}

static void legend(const picture *pic, const panel *p, const curve *c, size_t number, size_t line)
{
    const int y = 30 + 17 * (int)line;
    (void)fprintf(pic->out, "<path class=\"curve c%zu\" d=\"M%d %dh18\"/><text x=\"%d\" y=\"%d\">",
                  number % SLC_SVG_CURVES, PLOT_WIDTH + 8, y - 4, PLOT_WIDTH + 32, y);
    if (p->shows == EFFICIENCY) {
        (void)fputs(slc_velo_category_name((slc_velo_category)c->category, false), pic->out);
    } else {
        (void)fputs(p->by_target ? slc_simd_name(c->target) : c->name, pic->out);
    }
    slc_bench_velo_law law;
    if (p->shows == COST && slc_bench_velo_fit_law(pic->rows, pic->n, c->name, SLC_VELO_STAGE_TRACK, &law)) {
        (void)fprintf(pic->out, ": hits to the %.2f", law.exponent);
    }
    (void)fputs("</text>\n", pic->out);
}

static void draw_panel(const picture *pic, const panel *p, const curve *curves, size_t n, int number)
{
    slc_svg svg;
    slc_svg_axis x, y;
    find_axes(pic, p, curves, n, &x, &y);
    (void)fprintf(pic->out,
                  "<g transform=\"translate(%d %d)\"><text class=\"title\" x=\"54\" y=\"12\">%s</text>\n",
                  number % ACROSS * PANEL_WIDTH, 20 + number / ACROSS * PANEL_HEIGHT, p->title);
    (void)fprintf(pic->out, "<svg y=\"16\" width=\"%d\" height=\"%d\">", PLOT_WIDTH, PLOT_HEIGHT);
    slc_svg_begin(&svg, pic->out, x, y, p->title);
    for (size_t k = 0; k < n; k++) {
        char class_name[24];
        size_t points = points_of(pic, p, &curves[k]);
        (void)snprintf(class_name, sizeof class_name, "curve c%zu", k % SLC_SVG_CURVES);
        if (points == 1) { /* a single point becomes a dash, to be seen; there is room for two */
            const double half = 0.02 * (x.high - x.low);
            pic->x[1] = pic->x[0] + half;
            pic->x[0] -= half;
            pic->y[1] = pic->y[0];
            points = 2;
        }
        slc_svg_line(&svg, pic->x, pic->y, points, class_name);
    }
    slc_svg_end(&svg);
    (void)fputs("</svg>\n", pic->out);
    for (size_t k = 0; k < n; k++) {
        legend(pic, p, &curves[k], k, k);
    }
    (void)fputs("</g>\n", pic->out);
}

static void draw(const picture *pic)
{
    curve curves[MOST_CURVES];
    int shown = 0;
    for (size_t k = 0; k < N_PANELS; k++) {
        shown += curves_of(pic, &panels[k], curves) > 0;
    }
    const int width = PANEL_WIDTH * (shown < ACROSS ? shown : ACROSS);
    const int height = 20 + PANEL_HEIGHT * ((shown + ACROSS - 1) / ACROSS);
    (void)fprintf(
        pic->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>%s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, slc_svg_curve_style, width, height);
    int number = 0;
    for (size_t k = 0; k < N_PANELS; k++) {
        const size_t n = curves_of(pic, &panels[k], curves);
        if (n > 0) {
            draw_panel(pic, &panels[k], curves, n, number++);
        }
    }
    (void)fputs("</svg>\n", pic->out);
}

slc_status slc_bench_velo_svg(const char *path, const slc_bench_velo_row *rows, size_t n, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    curve curves[MOST_CURVES];
    picture pic = {.rows = rows, .n = n};
    size_t shown = 0;
    for (size_t k = 0; k < N_PANELS; k++) {
        shown += curves_of(&pic, &panels[k], curves);
    }
    if (shown == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: what was measured makes no figure", path);
    }
    pic.x = calloc(n + 1, sizeof *pic.x);
    pic.y = calloc(n + 1, sizeof *pic.y);
    slc_status status = SLC_OK;
    if (pic.x == NULL || pic.y == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the figures", path);
    } else if ((status = slc_io_text_create(path, &writer, error)) == SLC_OK) {
        pic.out = slc_io_text_stream(writer);
        draw(&pic);
        status = slc_io_text_finish(writer, error);
    }
    free(pic.x);
    free(pic.y);
    return status;
}
