/* SPDX-License-Identifier: Apache-2.0
 *
 * How far hits are from their tracks, by module, sensor and chip, and what a program that aligns the detector
 * needs of the tracks: normal equations. docs/howto/velo-alignment.md.
 */
#ifndef SLUICE_VELO_RESIDUALS_H
#define SLUICE_VELO_RESIDUALS_H

#include <sluice/velo_chain.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_VELO_CHIPS = 3 * SLC_VELO_SENSORS,
    SLC_VELO_MOVES = 6, /* of a module: shifts along, turns about x, y, z */
    SLC_VELO_UNKNOWNS = SLC_VELO_MOVES * SLC_VELO_MODULES, /* 6 m + k: move k of module m */
    SLC_VELO_NORMAL = SLC_VELO_UNKNOWNS * (SLC_VELO_UNKNOWNS + 1) / 2,
    SLC_VELO_RESIDUALS_LEAST = 5, /* hits of a track that counts */
    SLC_VELO_RESIDUALS_CHI2 = 10  /* largest chi2 per degree of freedom of one */
};

/* Sums over hits, in x or in y. Unbiased: the track is fitted without the hit; pulls are of these. */
typedef struct slc_velo_residual {
    double unbiased_mm, unbiased2_mm2, biased_mm, biased2_mm2, pull, pull2;
} slc_velo_residual;
typedef struct slc_velo_residual_pair {
    uint64_t n; /* hits */
    slc_velo_residual x, y;
} slc_velo_residual_pair;

/* Zero-initialise (about 0.5 MB, calloc). Sums of several runs may be added up, member by member. */
typedef struct slc_velo_residuals {
    uint64_t events, tracks;        /* tracks that count */
    uint64_t short_tracks, outside; /* that do not: of fewer hits; of a larger chi2 */
    uint64_t hits, without_sensor;  /* of the tracks; of these such that do not say where they are from */
    uint64_t n_dof;
    double chi2;
    slc_velo_residual_pair module[SLC_VELO_MODULES], sensor[SLC_VELO_SENSORS], chip[SLC_VELO_CHIPS];
    /* The upper triangle of the matrix, row after row, and the right-hand side: matrix · a = vector gives
     * moves a, in mm and mrad, to be added to those of the geometry (docs/formats/velo-alignment.md). */
    double matrix[SLC_VELO_NORMAL], vector[SLC_VELO_UNKNOWNS];
} slc_velo_residuals;

/* Adds the tracks of a result of a chain with this configuration and geometry (NULL: the ideal one), in their
 * order: give results in the order of the run, and the sums are the same bits however it was cut into
 * batches. Of config the fit's numbers count: the errors of hits, and how much a track scatters by its chi2.
 * SLC_ERR_USAGE for a configuration that was never set. Never allocates. */
SLC_API slc_status slc_velo_residuals_add(slc_velo_residuals *sums, const slc_velo_config *config,
                                          const slc_velo_geometry *geometry, const slc_velo_result *result,
                                          slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
