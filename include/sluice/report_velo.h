/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run of the VELO comes to: its report.
 */
#ifndef SLUICE_REPORT_VELO_H
#define SLUICE_REPORT_VELO_H

#include <sluice/velo_check.h>
#include <sluice/velo_monitor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event to be drawn: number `event` of the collections, which stay the caller's. Of the result are needed
 * hits, tracks, track_hits, beam and primaries; truth (with its matches) where the event has particles. */
typedef struct slc_report_velo_display {
    uint64_t number; /* what it is called: its number in the run, from 0 */
    uint32_t event;
    const slc_velo_result *result;
    const slc_velo_truth *truth;     /* or NULL */
    const slc_velo_matches *matches; /* one row per track; NULL only without truth */
} slc_report_velo_display;

/* A part of the time. */
typedef struct slc_report_velo_stage {
    const char *name;
    double seconds;
} slc_report_velo_stage;

/* What the report tells beside the check's totals. */
typedef struct slc_report_velo_summary {
    const char *title;   /* e.g. the names of the inputs */
    const char *command; /* the command line that made it */
    uint64_t events, lost_events;
    uint64_t superpixels, isolated, pixels, hits, tracks, primaries;
    double seconds; /* in the chain, without reading and checking */
    bool has_truth;
    slc_faults faults;
    const char *configuration; /* of the track search; NULL: not told */
    const char *beam; /* the beam line and where it came from; NULL: not told. Pictures are about that
                         of the check's configuration. */
    const slc_report_velo_stage *stages; /* summed over the threads; NULL: not told */
    size_t n_stages;
    uint64_t staged_events;                 /* that these times are of */
    const slc_report_velo_display *display; /* NULL: no event is drawn */
    const slc_velo_monitor *monitor;        /* judged; NULL: nothing of it is told */
} slc_report_velo_summary;

/* Writes a self-contained HTML page (inline SVG, no script, nothing loaded from elsewhere; well-formed XML
 * too): an event, the detector for shifters, the physics tables with uncertainties, efficiencies, impact
 * parameters, vertices, residuals, pulls, spectra, times, faults. Some 40 bytes for each hit of the event.
 * SLC_ERR_IO where the file cannot be written, SLC_ERR_MEMORY if there is none to sort out the event's truth.
 */
SLC_API slc_status slc_report_velo_html(const char *path, const slc_report_velo_summary *summary,
                                        const slc_velo_check *check, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
