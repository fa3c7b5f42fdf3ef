/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 4: tracks to states. Two independent Kalman filters, (x, tx) and (y, ty), in the single-precision
 * form of section 5.4.4 of the thesis of A. Hennequin (2022), in which no two large terms cancel.
 */
#ifndef SLUICE_VELO_FIT_H
#define SLUICE_VELO_FIT_H

#include <sluice/simd.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Variance of a slope from scattering in one layer: noise_constant + noise_slope · (tx² + ty²), for a
 * particle of typical momentum. The VELO has no field and cannot tell the momentum, but the track's own chi2
 * tells how much it scatters: with scatter_prior > 0 a second pass takes that variance times ((prior + chi2)
 * / (prior + n_dof))², within 0.1 … 100. The prior counts as so many degrees of freedom; 0 keeps the
 * fixed variance, which is the filter of the thesis. */
typedef struct slc_velo_fit_config {
    float hit_sigma_mm; /* resolution of a hit in x and in y */
    float noise_constant;
    float noise_slope;
    float scatter_prior;
    float beam_x_mm, beam_y_mm; /* the beam line, parallel to z */
    float end_z_mm;             /* where the downstream state is given */
    slc_simd_target target;     /* a result of slc_simd_choose(); default SLC_SIMD_AUTO */
} slc_velo_fit_config;
SLC_API void slc_velo_fit_config_default(slc_velo_fit_config *config);

/* Fits every track twice: towards the beam line (state `beam`, at the point of closest approach to the beam
 * line) and away from it (state `end`, at end_z_mm). chi2 is the sum over the hits in both
 * projections with the typical variance (so that it still tells straight tracks from others), n_dof is 2 ·
 * hits − 4. A track is backward where its point of closest approach lies downstream of its hits; the filter
 * towards the beam line then runs downstream, and `end` is the same line at end_z_mm. Both outputs need room
 * for as many rows as there are tracks (SLC_ERR_CAPACITY). SLC_ERR_USAGE for a track of less than 2 or more
 * than SLC_VELO_MAX_TRACK_HITS hits, and for a target that does not run here; the outputs are then empty.
 * Results are the same bits on every target. Never allocates; needs 100 kilobytes of stack. Several
 * threads may use one configuration. */
SLC_API slc_status slc_velo_fit_run(const slc_velo_fit_config *config, const slc_velo_hits *hits,
                                    const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                                    slc_velo_states *beam, slc_velo_states *end);

#ifdef __cplusplus
}
#endif
#endif
