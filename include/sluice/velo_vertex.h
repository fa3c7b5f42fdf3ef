/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 5: states to primary vertices. A histogram of the tracks' z at the beam line, its peaks, and an
 * adaptive fit of all peaks at once: the method of LHCb's "beamline" finder (as in Allen), section 1 of the
 * thesis of A. Hennequin (2022). docs/howto/velo-physics.md.
 */
#ifndef SLUICE_VELO_VERTEX_H
#define SLUICE_VELO_VERTEX_H

#include <sluice/simd.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reconstructed primary vertices of an event, by rising z. */
typedef struct slc_velo_primaries {
    slc_columns head;
    float *x_mm, *y_mm, *z_mm;
    float *cov_xx_mm2, *cov_xy_mm2, *cov_yy_mm2, *cov_xz_mm2, *cov_yz_mm2, *cov_zz_mm2;
    float *chi2;     /* of the tracks, each times its weight */
    float *n_tracks; /* the sum of the tracks' weights */
} slc_velo_primaries;
SLC_API extern const slc_schema slc_velo_primaries_schema;

typedef struct slc_velo_vertex_config {
    float z_min_mm, z_max_mm, bin_mm; /* the histogram; at most 4096 bins */
    float max_track_chi2;             /* of the distance between a track and the beam line, to be counted */
    float max_track_sigma_z_mm;       /* uncertainty of a track's z there, to be counted */
    float min_peak_tracks;            /* integral of a peak */
    float max_dip_per_mm;             /* density between two peaks that separates them */
    uint32_t iterations;              /* of the fit, at most */
    float max_fit_chi2;               /* of a track, to take part in the fit of a vertex */
    float min_tracks;                 /* tracks in a fit, at least */
    float max_beam_distance2_mm2;     /* of a vertex from the beam line, squared */
    float min_separation2;            /* squared distance in z over its variance; the smaller of two goes */
    float beam_x_mm, beam_y_mm;       /* the beam line, parallel to z */
    slc_simd_target target;           /* a result of slc_simd_choose() */
} slc_velo_vertex_config;
/* The values of Allen, where they are not found to be improvable; see docs/howto/velo-physics.md. */
SLC_API void slc_velo_vertex_config_default(slc_velo_vertex_config *config);

/* Working memory, enough for `tracks` tracks in one event; zero-initialise. */
typedef struct slc_velo_vertex_scratch {
    void *block;
    size_t tracks;
} slc_velo_vertex_scratch;
SLC_API slc_status slc_velo_vertex_reserve(slc_velo_vertex_scratch *scratch, size_t tracks);
SLC_API void slc_velo_vertex_clear(slc_velo_vertex_scratch *scratch);

enum { SLC_VELO_MAX_PRIMARIES = 64 }; /* of one event; of more peaks, those with the most tracks are kept */

/* Finds the vertices of all events from the states at the beam line. Same bits on every target. Never
 * allocates. SLC_ERR_CAPACITY where scratch or output (SLC_VELO_MAX_PRIMARIES rows an event always do) is too
 * small, SLC_ERR_USAGE for a configuration that cannot be. A state that is not finite, without a positive
 * variance or outside the histogram takes no part. */
SLC_API slc_status slc_velo_vertex_run(const slc_velo_vertex_config *config, const slc_velo_states *beam,
                                       slc_velo_vertex_scratch *scratch, slc_velo_primaries *primaries);

#ifdef __cplusplus
}
#endif
#endif
