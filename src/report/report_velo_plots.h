/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the figures of a run's report, each a section of HTML. Figures without entries are left
 * out.
 */
#ifndef SLUICE_REPORT_VELO_PLOTS_H
#define SLUICE_REPORT_VELO_PLOTS_H

#include <sluice/velo_check.h>
#include <sluice/velo_monitor.h>

#include <stdio.h>

/* A figure, which ends with "</figure>", and a row of them. */
void slc_report_figure_begin(FILE *out, const char *title, const char *remark);
void slc_report_section_begin(FILE *out, const char *title);
void slc_report_section_end(FILE *out);

/* Efficiency in bins, points with bars, and behind them where the particles are. */
typedef struct slc_report_efficiency_view {
    const char *title, *remark, *x_label;
    bool exponents; /* the bins are in log10(p / MeV): drawn in GeV on a logarithmic axis */
    double unit;    /* axis = bin edge · unit, e.g. radians to degrees */
} slc_report_efficiency_view;
void slc_report_efficiency_figure(FILE *out, const slc_velo_efficiency_plot *plot,
                                  const slc_report_efficiency_view *view);
/* A distribution about zero; axis and numbers are values · scale. */
typedef struct slc_report_spread_view {
    const char *title, *remark, *x_label, *unit;
    double scale;
    bool unit_gaussian; /* what it would be if errors were right */
} slc_report_spread_view;
void slc_report_spread_figure(FILE *out, const slc_histogram *histogram, const slc_report_spread_view *view);

/* What a shifter looks at; the monitor has been judged. */
void slc_report_velo_monitor(FILE *out, const slc_velo_monitor *monitor);
/* Efficiencies, impact parameters, residuals, pulls. */
void slc_report_velo_truth_plots(FILE *out, const slc_velo_check *check);
/* Residuals and pulls of vertices. */
void slc_report_velo_vertex_plots(FILE *out, const slc_velo_check *check);
/* Clusters, hits and tracks: these need no truth. */
void slc_report_velo_spectra(FILE *out, const slc_velo_check *check);

#endif
