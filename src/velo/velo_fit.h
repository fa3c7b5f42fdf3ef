/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 4: tracks to states. Two independent Kalman filters, (x, tx) and (y, ty), in the single-precision
 * form of section 5.4.4 of the thesis of A. Hennequin (2022), in which no two large terms cancel.
 */
#ifndef SLUICE_VELO_FIT_H
#define SLUICE_VELO_FIT_H

#include <sluice/velo_chain.h>

void slc_velo_fit_config_default(slc_velo_fit_config *config);

/* Fits every track twice: towards the beam line (state `beam`, at the point of closest approach to the beam
 * line) and away from it (state `end`, at end_z_mm). chi2 is the sum over the hits in both
 * projections with the typical variance (so that it still tells straight tracks from others), n_dof is 2 ·
 * hits − 4. A track is backward where its point of closest approach lies downstream of its hits; the filter
 * towards the beam line then runs downstream, and `end` is the same line at end_z_mm. Both outputs need room
 * for as many rows as there are tracks (SLC_ERR_CAPACITY). SLC_ERR_USAGE for a track of less than 2 or more
 * than SLC_VELO_MAX_TRACK_HITS hits, and for a target that does not run here; the outputs are then empty.
 * Results are the same bits on every target. Never allocates; needs 100 kilobytes of stack. Several
 * threads may use one configuration. */
slc_status slc_velo_fit_run(const slc_velo_fit_config *config, const slc_velo_hits *hits,
                            const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                            slc_velo_states *beam, slc_velo_states *end);

#endif
