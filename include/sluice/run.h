/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run comes to: its report.
 */
#ifndef SLUICE_RUN_H
#define SLUICE_RUN_H

#include <sluice/velo_check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the report tells beside the check's totals. */
typedef struct slc_run_summary {
    const char *title;   /* e.g. the names of the inputs */
    const char *command; /* the command line that made it */
    uint64_t events, lost_events;
    uint64_t superpixels, isolated, pixels, hits, tracks;
    double seconds; /* in the chain, without reading and checking */
    bool has_truth;
    slc_faults faults;
} slc_run_summary;

/* Writes a self-contained HTML page (inline SVG, no script, nothing loaded from elsewhere): the physics table
 * with uncertainties, efficiency plots, residuals, pulls, spectra, faults. SLC_ERR_IO where the file cannot
 * be written. */
slc_status slc_run_report_html(const char *path, const slc_run_summary *summary, const slc_velo_check *check,
                               slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
