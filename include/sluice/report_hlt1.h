/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run of LHCb's first trigger level comes to: its report.
 */
#ifndef SLUICE_REPORT_HLT1_H
#define SLUICE_REPORT_HLT1_H

#include <sluice/hlt1_check.h>
#include <sluice/report_velo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event to be drawn: number `event` of the collections, which stay the caller's. Of the result are needed
 * velo.hits, velo.beam, ut, scifi, muon, upstream, long_tracks and muons. */
typedef struct slc_report_hlt1_display {
    uint64_t number; /* what it is called: its number in the run, from 0 */
    uint32_t event;
    const slc_hlt1_result *result;
    const int32_t *long_particle; /* a row for each long track, below 0 for a ghost; NULL: not known */
} slc_report_hlt1_display;

/* A line of the selection, and how many events it accepted. */
typedef struct slc_report_hlt1_line {
    const char *name;
    uint64_t accepted;
} slc_report_hlt1_line;

typedef struct slc_report_hlt1_summary {
    const char *title;   /* e.g. the names of the inputs */
    const char *command; /* the command line that made it */
    const char *settings;
    uint64_t events, lost_events, cut_events; /* cut: of those, left out for too many clusters */
    uint64_t clusters, velo_tracks, vertices; /* of the VELO */
    uint64_t ut_hits, scifi_hits, muon_hits, upstream_tracks, long_tracks, pairs;
    double seconds; /* in the chain, without reading and checking */
    slc_faults faults;
    const slc_report_velo_stage *stages; /* summed over the threads */
    size_t n_stages;
    const slc_report_hlt1_line *lines; /* NULL: nothing was decided */
    size_t n_lines;
    uint64_t accepted;                      /* events, by any line */
    const slc_hlt1_check *check;            /* NULL: no truth */
    const slc_report_hlt1_display *display; /* NULL: no event is drawn */
    const char *const *notes; /* lines of their own under the settings: what was not done, what is doubtful */
    size_t n_notes;
} slc_report_hlt1_summary;

/* Writes a self-contained HTML page, as slc_report_velo_html does: an event with its bent tracks, lines,
 * efficiencies, ghosts, momentum with pulls, muons, times, faults. SLC_ERR_IO where the file cannot be
 * written. */
SLC_API slc_status slc_report_hlt1_html(const char *path, const slc_report_hlt1_summary *summary,
                                        slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
