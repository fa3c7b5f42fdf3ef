/* SPDX-License-Identifier: Apache-2.0
 * The one plot module: axes with round tick values, steps, points with error bars, curves, notes; pictures of
 * several plots with legends. */
#include "report/report_svg.h"

#include <math.h>

static const char curve_style[] =
    "text{font:11px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}.grid{stroke:#ddd;fill:none}"
    ".minor{stroke:#f2f2f2}.frame{stroke:#888;fill:none}.curve{fill:none;stroke-width:1.6}.dashed{stroke-"
    "dasharray:6 4}"
    ".c0{stroke:#1f77b4}.c1{stroke:#ff7f0e}.c2{stroke:#2ca02c}.c3{stroke:#d62728}.c4{stroke:#9467bd}"
    ".c5{stroke:#8c564b}.c6{stroke:#e377c2}.c7{stroke:#7f7f7f}.c8{stroke:#bcbd22}.c9{stroke:#17becf}"
    ".c10{stroke:#000}.c11{stroke:#00a878}.c12{stroke:#8a2be2}.c13{stroke:#a0522d}";

/* The picture's coordinates, in the units of its viewBox. */
enum { WIDTH = 460, HEIGHT = 290, LEFT = 54, RIGHT = 12, TOP = 12, BOTTOM = 44 };

static double width_of(const slc_svg *svg)
{
    return svg->width - LEFT - RIGHT;
}

static double height_of(const slc_svg *svg)
{
    return svg->height - TOP - BOTTOM;
}

void slc_html_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        case '\'':
            (void)fputs("&#39;", out);
            break;
        default:
            /* Control characters are not allowed in HTML; a file's name may hold them. */
            (void)fputc((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t' ? '?' : *text, out);
        }
    }
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* Where a value lies on an axis: 0 at its low end, 1 at its high end; far outside is pulled in, as it is
 * clipped. */
static double fraction_of(const slc_svg_axis *axis, double value)
{
    double fraction;
    if (axis->logarithmic) {
        fraction = value > 0 ? log(value / axis->low) / log(axis->high / axis->low) : -1;
    } else {
        fraction = (value - axis->low) / (axis->high - axis->low);
    }
    return fmin(fmax(fraction, -1), 2);
}

/* Inside the clipped frame, whose origin is its upper left corner. */
static double at_x(const slc_svg *svg, double value)
{
    return width_of(svg) * fraction_of(&svg->x, value);
}

static double at_y(const slc_svg *svg, double value)
{
    return height_of(svg) * (1 - fraction_of(&svg->y, value));
}

/* 1, 2 or 5 times a power of ten, for about `wanted` steps. */
static double round_step(double range, double wanted)
{
    const double rough = range / wanted;
    const double power = pow(10, floor(log10(rough)));
    const double mantissa = rough / power;
    return power * (mantissa < 1.5 ? 1 : mantissa < 3.5 ? 2 : mantissa < 7.5 ? 5 : 10);
}

/* All values of an axis get the same suffix, chosen by its largest: 0, 5k, 10k. On a logarithmic axis each
 * decade has its own. */
static void print_tick_value(const slc_svg *svg, const slc_svg_axis *axis, double value, double step)
{
    const double size = fabs(value);
    const double largest = axis->logarithmic ? size : fmax(fabs(axis->low), fabs(axis->high));
    const char *sign = value < 0 ? "−" : "";
    if (size < step * 1e-6) {
        (void)fputs("0", svg->out);
    } else if (largest >= 1e9) {
        (void)fprintf(svg->out, "%s%gG", sign, size / 1e9);
    } else if (largest >= 1e6) {
        (void)fprintf(svg->out, "%s%gM", sign, size / 1e6);
    } else if (largest >= 1e4) {
        (void)fprintf(svg->out, "%s%gk", sign, size / 1e3);
    } else {
        (void)fprintf(svg->out, "%s%.6g", sign, size);
    }
}

/* A tick at `value`: its grid line, and its label unless it is a minor one. */
static void tick(slc_svg *svg, bool along_x, double value, double step, bool major)
{
    const slc_svg_axis *axis = along_x ? &svg->x : &svg->y;
    const double fraction = fraction_of(axis, value);
    const char *line = major ? "grid" : "grid minor";
    if (fraction < -1e-9 || fraction > 1 + 1e-9) {
        return;
    }
    if (along_x) {
        const double x = LEFT + width_of(svg) * fraction;
        (void)fprintf(svg->out, "<path class=\"%s\" d=\"M%.1f %d v%.0f\"/>", line, x, TOP, height_of(svg));
        if (major) {
            (void)fprintf(svg->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x,
                          svg->height - BOTTOM + 15);
        }
    } else {
        const double y = TOP + height_of(svg) * (1 - fraction);
        (void)fprintf(svg->out, "<path class=\"%s\" d=\"M%d %.1f h%.0f\"/>", line, LEFT, y, width_of(svg));
        if (major) {
            (void)fprintf(svg->out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 6, y + 3.5);
        }
    }
    if (major) {
        print_tick_value(svg, axis, value, step);
        (void)fputs("</text>", svg->out);
    }
}

static void logarithmic_ticks(slc_svg *svg, bool along_x)
{
    const slc_svg_axis *axis = along_x ? &svg->x : &svg->y;
    const int first = (int)floor(log10(axis->low) + 1e-9), last = (int)ceil(log10(axis->high) - 1e-9);
    for (int decade = first; decade <= last; decade++) {
        const double power = pow(10, decade);
        for (int i = 1; i < 10; i++) {
            tick(svg, along_x, i * power, power, i == 1);
        }
    }
}

static void ticks(slc_svg *svg, bool along_x)
{
    const slc_svg_axis *axis = along_x ? &svg->x : &svg->y;
    if (axis->logarithmic) {
        logarithmic_ticks(svg, along_x);
        return;
    }
    const double step = round_step(axis->high - axis->low, along_x ? svg->width / 75 : svg->height / 55);
    const double first = ceil(axis->low / step - 1e-9);
    for (int i = 0; (first + i) * step <= axis->high + 1e-9 * step; i++) {
        tick(svg, along_x, (first + i) * step, step, true);
    }
}

static void axis_labels(slc_svg *svg)
{
    (void)fprintf(svg->out, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"end\">",
                  svg->width - RIGHT, svg->height - 8);
    slc_html_text(svg->out, svg->x.label);
    (void)fprintf(
        svg->out,
        "</text><text class=\"label\" transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"end\">", TOP);
    slc_html_text(svg->out, svg->y.label);
    (void)fputs("</text>\n", svg->out);
}

/* ---- the plot -------------------------------------------------------------------------------- */

void slc_svg_begin(slc_svg *svg, FILE *out, slc_svg_axis x, slc_svg_axis y, const char *description)
{
    slc_svg_begin_sized(svg, out, x, y, description, WIDTH, HEIGHT);
}

void slc_svg_begin_sized(slc_svg *svg, FILE *out, slc_svg_axis x, slc_svg_axis y, const char *description,
                         int width, int height)
{
    *svg = (slc_svg){.out = out, .x = x, .y = y, .width = width, .height = height};
    (void)fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", width, height);
    slc_html_text(out, description);
    (void)fputs("\">", out);
    ticks(svg, true);
    ticks(svg, false);
    axis_labels(svg);
    (void)fprintf(out, "<svg x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%.0f\" overflow=\"hidden\">\n", LEFT,
                  TOP, width_of(svg), height_of(svg));
}

void slc_svg_end(slc_svg *svg)
{
    (void)fprintf(svg->out,
                  "</svg><rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%.0f\"/></svg>\n",
                  LEFT, TOP, width_of(svg), height_of(svg));
}

void slc_svg_steps(slc_svg *svg, const double *edges, const double *values, size_t n, const char *class_name)
{
    if (n == 0) {
        return;
    }
    const double bottom = height_of(svg) +
                          2; /* just below the frame, so that the base line is clipped away */
    (void)fprintf(svg->out, "<path class=\"%s\" d=\"M%.2f %.2f", class_name, at_x(svg, edges[0]), bottom);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(svg->out, "V%.2fH%.2f", fmin(at_y(svg, values[i]), bottom), at_x(svg, edges[i + 1]));
    }
    (void)fprintf(svg->out, "V%.2fZ\"/>\n", bottom);
}

void slc_svg_line(slc_svg *svg, const double *x, const double *y, size_t n, const char *class_name)
{
    (void)fprintf(svg->out, "<path class=\"%s\" d=\"", class_name);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(svg->out, "%c%.2f %.2f", i == 0 ? 'M' : 'L', at_x(svg, x[i]), at_y(svg, y[i]));
    }
    (void)fputs("\"/>\n", svg->out);
}

void slc_svg_point(slc_svg *svg, double x, double x_low, double x_high, double y, double y_low, double y_high)
{
    (void)fprintf(svg->out, "<path class=\"bar\" d=\"M%.2f %.2fH%.2fM%.2f %.2fV%.2f\"/>", at_x(svg, x_low),
                  at_y(svg, y), at_x(svg, x_high), at_x(svg, x), at_y(svg, y_low), at_y(svg, y_high));
    (void)fprintf(svg->out, "<circle class=\"point\" cx=\"%.2f\" cy=\"%.2f\" r=\"2.4\"/>\n", at_x(svg, x),
                  at_y(svg, y));
}

void slc_svg_gaussian(slc_svg *svg, double mean, double sigma, double amplitude)
{
    enum { STEPS = 160 };
    (void)fputs("<path class=\"curve\" d=\"", svg->out);
    for (int i = 0; i <= STEPS; i++) {
        const double x = svg->x.low + (svg->x.high - svg->x.low) * i / STEPS;
        const double pull = (x - mean) / sigma;
        (void)fprintf(svg->out, "%c%.2f %.2f", i == 0 ? 'M' : 'L', at_x(svg, x),
                      at_y(svg, amplitude * exp(-0.5 * pull * pull)));
    }
    (void)fputs("\"/>\n", svg->out);
}

void slc_svg_note(slc_svg *svg, int row, const char *text)
{
    (void)fprintf(svg->out, "<text class=\"note\" x=\"%.0f\" y=\"%d\" text-anchor=\"end\">",
                  width_of(svg) - 8, 18 + 14 * row);
    slc_html_text(svg->out, text);
    (void)fputs("</text>\n", svg->out);
}

/* ---- pictures of events ---------------------------------------------------------------------- */

void slc_svg_dots_begin(slc_svg *svg, const char *class_name)
{
    (void)fprintf(svg->out, "<path class=\"%s\" d=\"", class_name);
}

void slc_svg_dot(slc_svg *svg, double x, double y)
{
    (void)fprintf(svg->out, "M%.1f %.1fh0", at_x(svg, x), at_y(svg, y));
}

void slc_svg_dots_end(slc_svg *svg)
{
    (void)fputs("\"/>\n", svg->out);
}

void slc_svg_path_begin(slc_svg *svg, const char *class_name)
{
    (void)fprintf(svg->out, "<path class=\"%s\" d=\"", class_name);
}

void slc_svg_path_to(slc_svg *svg, bool move, double x, double y)
{
    (void)fprintf(svg->out, "%c%.1f %.1f", move ? 'M' : 'L', at_x(svg, x), at_y(svg, y));
}

void slc_svg_path_end(slc_svg *svg, const char *title)
{
    (void)fputs("\"><title>", svg->out);
    slc_html_text(svg->out, title);
    (void)fputs("</title></path>\n", svg->out);
}

/* Narrows [low, high] of the segment's parameter to where from + t · step lies between the edges; false where
 * nothing is left of it (Liang and Barsky). */
static bool narrow(double from, double step, double low_edge, double high_edge, double *low, double *high)
{
    if (fabs(step) < 1e-12) {
        return from >= low_edge && from <= high_edge;
    }
    const double a = (low_edge - from) / step, b = (high_edge - from) / step;
    *low = fmax(*low, fmin(a, b));
    *high = fmin(*high, fmax(a, b));
    return *low < *high;
}

bool slc_svg_segment(slc_svg *svg, const char *class_name, const double *from, const double *to,
                     const char *title)
{
    double low = 0, high = 1;
    const double step[2] = {to[0] - from[0], to[1] - from[1]};
    if (!isfinite(from[0] + from[1] + to[0] + to[1]) ||
        !narrow(from[0], step[0], svg->x.low, svg->x.high, &low, &high) ||
        !narrow(from[1], step[1], svg->y.low, svg->y.high, &low, &high)) {
        return false;
    }
    slc_svg_path_begin(svg, class_name);
    slc_svg_path_to(svg, true, from[0] + low * step[0], from[1] + low * step[1]);
    slc_svg_path_to(svg, false, from[0] + high * step[0], from[1] + high * step[1]);
    slc_svg_path_end(svg, title);
    return true;
}

void slc_svg_diamond(slc_svg *svg, const char *class_name, double x, double y, double size, const char *title)
{
    (void)fprintf(svg->out, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz", class_name,
                  at_x(svg, x), at_y(svg, y) - size, size, size, -size, size, -size, -size);
    slc_svg_path_end(svg, title);
}

void slc_svg_ring(slc_svg *svg, const char *class_name, double x, double y, double radius, const char *title)
{
    (void)fprintf(svg->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>", class_name,
                  at_x(svg, x), at_y(svg, y), radius);
    slc_html_text(svg->out, title);
    (void)fputs("</title></circle>\n", svg->out);
}

/* ---- pictures that are files of their own ------------------------------------------------------- */

void slc_svg_picture_begin(FILE *out, int width, int height, const char *more_style)
{
    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>%s%s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, curve_style, more_style, width, height);
}

/* Two panels in a row. */
enum { PANEL_WIDTH = 690, PANEL_HEIGHT = 340, PLOT_WIDTH = 460, PLOT_HEIGHT = 290, ACROSS = 2, FIRST = 20 };

void slc_panels_begin(slc_panels *panels, FILE *out, int n)
{
    const int width = PANEL_WIDTH * (n < ACROSS ? n : ACROSS);
    const int height = FIRST + PANEL_HEIGHT * ((n + ACROSS - 1) / ACROSS);
    *panels = (slc_panels){.out = out};
    slc_svg_picture_begin(out, width, height, "");
}

void slc_panels_end(slc_panels *panels)
{
    (void)fputs("</svg>\n", panels->out);
}

void slc_panel_begin(slc_panels *panels, slc_svg *svg, slc_svg_axis x, slc_svg_axis y, const char *title,
                     const char *legend)
{
    FILE *out = panels->out;
    const int left = panels->next % ACROSS * PANEL_WIDTH;
    const int top = FIRST + panels->next / ACROSS * PANEL_HEIGHT;
    (void)fprintf(out, "<g transform=\"translate(%d %d)\"><text class=\"title\" x=\"54\" y=\"12\">", left,
                  top);
    slc_html_text(out, title);
    (void)fprintf(out, "</text><text x=\"%d\" y=\"12\">", PLOT_WIDTH + 8);
    slc_html_text(out, legend);
    (void)fprintf(out, "</text>\n<svg y=\"16\" width=\"%d\" height=\"%d\">", PLOT_WIDTH, PLOT_HEIGHT);
    slc_svg_begin(svg, out, x, y, title);
    panels->next++;
    panels->line = 0;
}

void slc_panel_plotted(slc_panels *panels, slc_svg *svg)
{
    slc_svg_end(svg);
    (void)fputs("</svg>\n", panels->out);
}

void slc_panel_legend(slc_panels *panels, size_t colour, const char *text)
{
    char class_name[24];
    (void)snprintf(class_name, sizeof class_name, "curve c%zu", colour % SLC_SVG_CURVES);
    slc_panel_legend_of(panels, class_name, text);
}

void slc_panel_legend_of(slc_panels *panels, const char *class_name, const char *text)
{
    const int y = 30 + 17 * panels->line++;
    (void)fprintf(panels->out, "<path class=\"%s\" d=\"M%d %dh18\"/><text x=\"%d\" y=\"%d\">", class_name,
                  PLOT_WIDTH + 8, y - 4, PLOT_WIDTH + 32, y);
    slc_html_text(panels->out, text);
    (void)fputs("</text>\n", panels->out);
}

void slc_panel_end(slc_panels *panels)
{
    (void)fputs("</g>\n", panels->out);
}

slc_svg_axis slc_panel_decades(double low, double high, const char *label)
{
    slc_svg_axis axis = {.logarithmic = true, .label = label};
    axis.low = pow(10, floor(log10(low) + 1e-9));
    axis.high = pow(10, ceil(log10(high) - 1e-9));
    axis.high = axis.high > axis.low ? axis.high : 10 * axis.low;
    return axis;
}
