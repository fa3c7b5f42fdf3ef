/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the stage that fits long tracks, on collections of one event or many.
 */
#ifndef SLUICE_HLT1_FITTER_H
#define SLUICE_HLT1_FITTER_H

#include "hlt1/hlt1_transport.h"
#include <sluice/hlt1_fit.h>
#include <sluice/velo_chain.h>

typedef struct slc_hlt1_fit_work slc_hlt1_fit_work;

typedef struct slc_hlt1_fitter slc_hlt1_fitter;
/* The transport is copied, but for its table, which is the caller's until _close. SLC_ERR_USAGE for a
 * configuration that is none, an incomplete transport, or a target that does not run here. */
slc_status slc_hlt1_fitter_open(const slc_hlt1_fit_config *config, const slc_hlt1_transport *transport,
                                float beam_x_mm, float beam_y_mm, slc_hlt1_fitter **fitter, slc_error *error);
void slc_hlt1_fitter_close(slc_hlt1_fitter *fitter);

/* What events have found. */
typedef struct slc_hlt1_fit_events {
    uint32_t first_event, n_events; /* in all collections */
    const slc_scifi_geometry *scifi_geometry;
    const slc_velo_hits *velo_hits;
    const slc_velo_tracks *velo_tracks;
    const slc_velo_track_hits *velo_track_hits;
    const slc_velo_states *beam;
    const slc_ut_hits *ut;
    const slc_scifi_hits *scifi;
    const slc_hlt1_upstream *upstream;
    const slc_hlt1_track_hits *upstream_hits;
    const slc_hlt1_long *long_tracks;
    const slc_hlt1_track_hits *long_hits;
} slc_hlt1_fit_events;

/* Appends a row for each long track of the events and ends these. `fitted` must have room; never allocates.
 * The same bits on every target, whatever else is in the events: tracks of several fill vectors better. */
void slc_hlt1_fitter_run(slc_hlt1_fitter *fitter, const slc_hlt1_fit_events *events, slc_hlt1_fitted *fitted);

#endif
