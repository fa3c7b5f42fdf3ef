/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the figures of a run's report, each a section of HTML. Figures without entries are left
 * out.
 */
#ifndef SLUICE_REPORT_VELO_PLOTS_H
#define SLUICE_REPORT_VELO_PLOTS_H

#include <sluice/velo_check.h>

#include <stdio.h>

/* Efficiencies, impact parameters, residuals, pulls. */
void slc_report_velo_truth_plots(FILE *out, const slc_velo_check *check);
/* Residuals and pulls of vertices. */
void slc_report_velo_vertex_plots(FILE *out, const slc_velo_check *check);
/* Clusters, hits and tracks: these need no truth. */
void slc_report_velo_spectra(FILE *out, const slc_velo_check *check);

#endif
