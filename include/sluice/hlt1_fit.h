/* SPDX-License-Identifier: Apache-2.0
 *
 * The fit of long tracks: a Kalman filter over their hits in VELO, UT and SciFi, by the tables of LHCb's
 * parametrised transport.
 */
#ifndef SLUICE_HLT1_FIT_H
#define SLUICE_HLT1_FIT_H

#include <sluice/hlt1_types.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_HLT1_FIT_SIZES = 6 };

/* Errors of hits in mm; factors are on the tables' errors by multiple scattering. */
typedef struct slc_hlt1_fit_config {
    float velo_sigma_mm[SLC_HLT1_FIT_SIZES + 1]; /* of clusters of unknown size, 1, 2 … 6 pixels and more */
    float ut_sigma_mm, scifi_sigma_mm;
    float noise_beam;    /* between beam and first hit, of a step in the VELO */
    float noise_velo;    /* from hit to hit in the VELO */
    float noise_velo_ut; /* from there to the UT */
    float noise_ut;
    float noise_magnet; /* from the UT to the SciFi */
    float noise_scifi;
    float energy_loss_mev; /* before the magnet, beside the tables' */
    uint32_t passes;       /* trajectories, each from what the one before found; 1 … 4 */
    slc_simd_target target;
} slc_hlt1_fit_config;
SLC_API void slc_hlt1_fit_config_default(slc_hlt1_fit_config *config);

/* A row a long track: its state where it comes nearest to the beam line, with the covariance of x, y (mm),
 * tx, ty and q_over_p (1/MeV); chi2 of n_dof degrees of freedom. A track that cannot be flown, because its
 * momentum and place turn it round in the field, has NaN everywhere and n_dof 0. */
typedef struct slc_hlt1_fitted {
    slc_columns head;
    float *x_mm;
    float *y_mm;
    float *z_mm;
    float *tx;
    float *ty;
    float *q_over_p;
    float *cov_xx;
    float *cov_xy;
    float *cov_yy;
    float *cov_xtx;
    float *cov_ytx;
    float *cov_txtx;
    float *cov_xty;
    float *cov_yty;
    float *cov_txty;
    float *cov_tyty;
    float *cov_xq;
    float *cov_yq;
    float *cov_txq;
    float *cov_tyq;
    float *cov_qq;
    float *chi2;
    uint32_t *n_dof;
} slc_hlt1_fitted;
SLC_API extern const slc_schema slc_hlt1_fitted_schema;

#ifdef __cplusplus
}
#endif
#endif
