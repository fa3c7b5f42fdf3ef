/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: small plots as inline SVG. A plot has two axes in natural units, linear or logarithmic;
 * what is drawn is clipped to the frame. Colours and fonts come from the page's style sheet through classes.
 */
#ifndef SLUICE_REPORT_SVG_H
#define SLUICE_REPORT_SVG_H

#include <sluice/base.h>

#include <stdio.h>

typedef struct slc_svg_axis {
    double low, high;
    bool logarithmic; /* low > 0 */
    const char *label;
} slc_svg_axis;

typedef struct slc_svg {
    FILE *out;
    slc_svg_axis x, y;
    int width, height; /* of the whole picture, axes included */
} slc_svg;

/* Starts a plot with its grid and tick labels; `description` is for readers who cannot see it. */
void slc_svg_begin(slc_svg *svg, FILE *out, slc_svg_axis x, slc_svg_axis y, const char *description);
void slc_svg_begin_sized(slc_svg *svg, FILE *out, slc_svg_axis x, slc_svg_axis y, const char *description,
                         int width, int height);
void slc_svg_end(slc_svg *svg);

/* Area under steps: value i over [edge i, edge i + 1]. */
void slc_svg_steps(slc_svg *svg, const double *edges, const double *values, size_t n, const char *class_name);
/* A line through points. */
void slc_svg_line(slc_svg *svg, const double *x, const double *y, size_t n, const char *class_name);
/* A point with error bars in both directions. */
void slc_svg_point(slc_svg *svg, double x, double x_low, double x_high, double y, double y_low,
                   double y_high);
/* amplitude · exp(−(x − mean)² / 2 sigma²) */
void slc_svg_gaussian(slc_svg *svg, double mean, double sigma, double amplitude);
/* A line of text in the upper right corner; row 0 is the first. */
void slc_svg_note(slc_svg *svg, int row, const char *text);

/* Many dots in one element of few bytes a dot: lines of no length, which a style with round caps shows. */
void slc_svg_dots_begin(slc_svg *svg, const char *class_name);
void slc_svg_dot(slc_svg *svg, double x, double y);
void slc_svg_dots_end(slc_svg *svg);
/* A line drawn point by point; `move` lifts the pen. The title is what a reader sees who points at it. */
void slc_svg_path_begin(slc_svg *svg, const char *class_name);
void slc_svg_path_to(slc_svg *svg, bool move, double x, double y);
void slc_svg_path_end(slc_svg *svg, const char *title);
/* The part of a straight line (x, y to x, y) that is inside the frame; false where there is none. Axes must
 * be linear. */
bool slc_svg_segment(slc_svg *svg, const char *class_name, const double *from, const double *to,
                     const char *title);
/* Marks, sizes in the units of the picture. */
void slc_svg_diamond(slc_svg *svg, const char *class_name, double x, double y, double size,
                     const char *title);
void slc_svg_ring(slc_svg *svg, const char *class_name, double x, double y, double radius, const char *title);

/* ---- pictures that are files of their own ------------------------------------------------------- */

/* Their style sheet has so many classes of curves, c0 c1 …, and `dashed` for one that may lie on another. */
enum { SLC_SVG_CURVES = 14 };
/* The file's element, with what the style sheet is to have besides ("" or rules), and a white ground; it ends
 * with "</svg>". */
void slc_svg_picture_begin(FILE *out, int width, int height, const char *more_style);

/* Several plots, two in a row, each with a title above and a legend beside it. */
typedef struct slc_panels {
    FILE *out;
    int next; /* number of the panel that comes next */
    int line; /* of its legend */
} slc_panels;

/* The picture for so many panels; slc_panels_end completes it. */
void slc_panels_begin(slc_panels *panels, FILE *out, int n);
void slc_panels_end(slc_panels *panels);

/* Begins the next panel: its title, what its legend tells, and its plot, into which curves are drawn; then
 * _plotted, lines of the legend, and _end. */
void slc_panel_begin(slc_panels *panels, slc_svg *svg, slc_svg_axis x, slc_svg_axis y, const char *title,
                     const char *legend);
void slc_panel_plotted(slc_panels *panels, slc_svg *svg);
/* A line of the legend with the colour of curve `colour`. */
void slc_panel_legend(slc_panels *panels, size_t colour, const char *text);
/* The same for a curve of these classes: "curve c2 dashed". */
void slc_panel_legend_of(slc_panels *panels, const char *class_name, const char *text);
void slc_panel_end(slc_panels *panels);

/* A logarithmic axis of the whole decades around two values above 0. */
slc_svg_axis slc_panel_decades(double low, double high, const char *label);

/* ---- text ---- */

/* Text with the characters that HTML reserves escaped. */
void slc_html_text(FILE *out, const char *text);

#endif
