/* SPDX-License-Identifier: Apache-2.0
 * Pictures of several plots with legends (report_panel.h). */
#include "report/report_panel.h"

#include <math.h>

/* Two panels in a row. */
enum { PANEL_WIDTH = 690, PANEL_HEIGHT = 340, PLOT_WIDTH = 460, PLOT_HEIGHT = 290, ACROSS = 2, FIRST = 20 };

void slc_panels_begin(slc_panels *panels, FILE *out, int n)
{
    const int width = PANEL_WIDTH * (n < ACROSS ? n : ACROSS);
    const int height = FIRST + PANEL_HEIGHT * ((n + ACROSS - 1) / ACROSS);
    *panels = (slc_panels){.out = out};
    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
        "<style>%s</style>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, slc_svg_curve_style, width, height);
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
