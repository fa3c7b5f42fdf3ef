/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the kernel that fits the long tracks of events, and its scratch. How it works stands
 * in hlt1_fit.simd.c.
 */
#ifndef SLUICE_HLT1_FIT_WORK_H
#define SLUICE_HLT1_FIT_WORK_H

#include "hlt1/hlt1_fitter.h"
#include "simd/simd_kernel.h"

enum {
    SLC_HLT1_FIT_LANES = 64, /* of SVE at most */
    SLC_HLT1_FIT_PLACES = SLC_VELO_MAX_TRACK_HITS + SLC_UT_LAYERS + SLC_SCIFI_LAYERS,
    SLC_HLT1_FIT_ROWS = 25, /* of a place: hit, step, noise, residuals */
    SLC_HLT1_FIT_CELL = SLC_HLT1_CELL +
                        SLC_HLT1_FIT_LANES, /* a whole vector may be written behind the cell's */
    SLC_HLT1_FIT_TRACKS = 256,              /* that are put in order together */
    SLC_HLT1_FIT_TRIANGLE = 30              /* five rows of six */
};

typedef struct slc_hlt1_fit_track {
    uint32_t event, track; /* of the events at hand, of the event */
} slc_hlt1_fit_track;

/* Two vectors of tracks. Rows of a lane's number of floats each. */
struct slc_hlt1_fit_work {
    float row[2 * SLC_HLT1_FIT_PLACES * SLC_HLT1_FIT_ROWS * SLC_HLT1_FIT_LANES];
    float triangle[2 * SLC_HLT1_FIT_TRIANGLE * SLC_HLT1_FIT_LANES];
    float cell[SLC_HLT1_FIT_LANES * SLC_HLT1_FIT_CELL]; /* coefficients of each lane */
    float ray[2][6][SLC_HLT1_FIT_LANES];                /* x y tx ty q z where the fit ends */
    float chi2[2][SLC_HLT1_FIT_LANES];
    float per_sigma[SLC_HLT1_FIT_SIZES + 1];       /* of hits of the VELO, by size */
    slc_hlt1_fit_track order[SLC_HLT1_FIT_TRACKS]; /* by rising length */
    slc_hlt1_fit_track next[SLC_HLT1_FIT_TRACKS];  /* before they are in order */
    float covariance[15][SLC_HLT1_FIT_LANES];      /* of one vector, in the order of slc_hlt1_fitted's */
};

/* The tables as the kernel has them: in single precision, powers of ten multiplied in. Members are the
 * transport's. */
typedef struct slc_hlt1_fit_tables {
    float v[2][21], v_ut[30], ut[3][18], ut_fixed, ut_t[21], t_fixed[2][18], t[22][18];
    float ut_z[SLC_UT_LAYERS], ut_dxdy[SLC_UT_LAYERS], t_z[SLC_SCIFI_LAYERS], t_dzdy;
    float z_begin, z_end, p_min, bend_x, bend_xx, bend_yy, bend_xy, per_x, per_y, step, sign;
    const float *cells;
} slc_hlt1_fit_tables;

/* One event, its rows from 0. */
typedef struct slc_hlt1_fit_in {
    const float *velo_x, *velo_y, *velo_z;
    const uint32_t *velo_pixels, *velo_hit, *velo_begin, *velo_n; /* hits, lists, tracks of the VELO */
    const float *beam_x, *beam_y, *beam_z, *beam_tx, *beam_ty;    /* states of these */
    const float *ut_x, *ut_z;
    const uint8_t *ut_layer;
    const uint32_t *ut_hit, *upstream_begin, *upstream_n;
    const float *scifi_x, *scifi_z;
    const uint32_t *scifi_channel;
    const uint32_t *scifi_hit, *long_begin, *long_n, *velo_track, *upstream_track;
    const float *q_over_p;
    const float *mat_dxdy, *mat_dzdy; /* by channel */
    float beam_line_x, beam_line_y;
    size_t n_tracks;
    size_t row; /* of the first one, in the columns */
} slc_hlt1_fit_in;

/* Columns; `covariance` in the order of slc_hlt1_fitted's. */
typedef struct slc_hlt1_fit_out {
    float *x, *y, *z, *tx, *ty, *q_over_p, *chi2, *covariance[15];
    uint32_t *n_dof;
} slc_hlt1_fit_out;

/* Flies the tracks of a vector, 0 or 1, from work->ray to the last layer, with `velo` places in the VELO;
 * work->ray is at the first hit afterwards. */
typedef struct slc_hlt1_fly_kernels {
    const char *target;
    void (*fly)(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *tables, slc_hlt1_fit_work *work,
                size_t vec, size_t velo);
} slc_hlt1_fly_kernels;

typedef struct slc_hlt1_fit_kernels {
    const char *target;
    void (*fit)(const slc_hlt1_fit_config *config, const slc_hlt1_fit_tables *tables,
                const slc_hlt1_fly_kernels *fly, const slc_hlt1_fit_in *in, size_t n_events,
                slc_hlt1_fit_work *work, const slc_hlt1_fit_out *out);
} slc_hlt1_fit_kernels;

/* The tables of a target that is compiled in. */
const slc_hlt1_fit_kernels *slc_hlt1_fit_kernels_of(slc_simd_target target);
const slc_hlt1_fly_kernels *slc_hlt1_fly_kernels_of(slc_simd_target target);
extern const slc_simd_kernel slc_hlt1_fit_kernel_rows[2]; /* ends with a row whose name is NULL */

#endif
