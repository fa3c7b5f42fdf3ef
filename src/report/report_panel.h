/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a picture of several plots, two in a row, each with a title above and a legend beside
 * it, as a file of its own. The plots are those of report_svg.h.
 */
#ifndef SLUICE_REPORT_PANEL_H
#define SLUICE_REPORT_PANEL_H

#include "report/report_svg.h"

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

#endif
