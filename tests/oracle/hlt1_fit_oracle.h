/* SPDX-License-Identifier: Apache-2.0
 *
 * The fit of a long track as a least-squares problem in double precision, by the transport's own functions:
 * a trajectory from the first hit on, and the information (the inverse covariance) that hits and multiple
 * scattering leave about its begin, collected from the last hit backwards.
 */
#ifndef HLT1_FIT_ORACLE_H
#define HLT1_FIT_ORACLE_H

#include "hlt1/hlt1_transport.h"

enum { HLT1_ORACLE_VELO_HITS = 64 };

/* Hits; a variance of 0 is none. VELO: downstream first. */
typedef struct hlt1_oracle_track {
    size_t n_velo;
    struct {
        double x, y, z, variance;
    } velo[HLT1_ORACLE_VELO_HITS];
    struct {
        double x, z, dxdy, dzdy, variance; /* x and z at y = 0 */
    } ut[SLC_HLT1_UT_LAYERS], t[SLC_HLT1_T_LAYERS];
    slc_hlt1_ray start; /* somewhere on the track in the VELO; q_over_p of a momentum that is about right */
} hlt1_oracle_track;

typedef struct hlt1_oracle_fit {
    slc_hlt1_ray ray; /* at the most upstream hit */
    double covariance[5][5];
    double chi2;
    int n_dof;
} hlt1_oracle_fit;

/* How much larger than the tables' the noise is taken for, by region (errors, not variances). */
typedef struct hlt1_oracle_noise {
    double velo, velo_ut, ut, ut_t, t;
} hlt1_oracle_noise;

/* False where the track cannot be flown. */
bool hlt1_oracle_run(const slc_hlt1_transport *t, const hlt1_oracle_noise *noise,
                     const hlt1_oracle_track *track, unsigned passes, hlt1_oracle_fit *fit);

#endif
