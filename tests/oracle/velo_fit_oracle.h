/* SPDX-License-Identifier: Apache-2.0
 *
 * The filter of one projection with the textbook's equations, in double precision and in single; and the
 * whole fit of a track in single precision, one operation after the other, in the stable form of section
 * 5.4.4 of A. Hennequin's thesis (2022): what the kernels have to give bit by bit.
 */
#ifndef VELO_FIT_ORACLE_H
#define VELO_FIT_ORACLE_H

#include "velo/velo_fit.h"

typedef struct oracle_state {
    double position, slope, pp, ps, ss, chi2;
} oracle_state;

/* Hits in the order of the filter, from a first slope with variance 1; noise before each hit and after the
 * last. */
oracle_state oracle_velo_fit(const double *z, const double *measured, size_t n, double slope, double variance,
                             double noise);
/* The same equations, every operation rounded to single precision: the original form of the thesis. */
oracle_state oracle_velo_fit_unstable(const float *z, const float *measured, size_t n, float slope,
                                      float variance, float noise);
/* The stable form in single precision. */
oracle_state oracle_velo_fit_stable(const float *z, const float *measured, size_t n, float slope,
                                    float variance, float noise);
/* Straight transport over dz. */
oracle_state oracle_velo_propagate(oracle_state state, double dz);

/* Fits all tracks and counts those of which a value of `beam` or `end` is not the oracle's in every bit; or
 * SIZE_MAX where the events or sizes differ. */
size_t oracle_velo_fit_differences(const slc_velo_fit_config *config, const slc_velo_hits *hits,
                                   const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                                   const slc_velo_states *beam, const slc_velo_states *end);

#endif
