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

/* A style sheet for plots that stand in a file of their own, with that many classes of curves, c0 c1 …, and
 * `dashed` for one that may lie on another. */
enum { SLC_SVG_CURVES = 14 };
extern const char slc_svg_curve_style[];

/* Text with the characters that HTML reserves escaped. */
void slc_html_text(FILE *out, const char *text);

#endif
