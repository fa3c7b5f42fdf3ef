/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the kernel that fits the tracks of one event, its scratch and its input for the
 * benchmark. How it works stands in velo_fit.simd.c.
 */
#ifndef SLUICE_VELO_FIT_WORK_H
#define SLUICE_VELO_FIT_WORK_H

#include "simd/simd_kernel.h"

#include "velo/velo_fit.h"

/* Tracks are fitted in blocks: a whole number of pairs of vectors on every target (SVE has up to 64 lanes).
 */
enum { SLC_VELO_FIT_BLOCK = 128, SLC_VELO_FIT_LANES = 64 };

/* The states of a block. */
typedef struct slc_velo_fit_states {
    float x[SLC_VELO_FIT_BLOCK], y[SLC_VELO_FIT_BLOCK], z[SLC_VELO_FIT_BLOCK];
    float tx[SLC_VELO_FIT_BLOCK], ty[SLC_VELO_FIT_BLOCK];
    float pp[SLC_VELO_FIT_BLOCK], ps[SLC_VELO_FIT_BLOCK], ss[SLC_VELO_FIT_BLOCK]; /* of x and of y */
} slc_velo_fit_states;

/* The scratch of a block. Rows of usual tracks are about 25 kilobytes, in the first-level cache. As many rows
 * as the longest track has hits must be zero before the first use, because lanes of short tracks compute with
 * what longer ones left, and throw the result away; nothing else but `variance` need be set. */
typedef struct slc_velo_fit_work {
    /* x, y, z and the pixels of the hits, of which the first pass makes their variance, in the order of the
     * filter towards the beam line: the first hit of every track, the second, and so on. */
    float row[SLC_VELO_MAX_TRACK_HITS][4][SLC_VELO_FIT_BLOCK];
    float variance[SLC_VELO_FIT_LANES]; /* of a hit, by its pixels; 0: unknown. Set before the first use */
    uint32_t order[SLC_VELO_FIT_BLOCK]; /* which track of the block is in this place: long ones first */
    uint32_t place[SLC_VELO_FIT_BLOCK]; /* the inverse */
    uint32_t n_hits[SLC_VELO_FIT_BLOCK];
    uint32_t
        first[SLC_VELO_FIT_BLOCK]; /* place in the list of hits, of a track's first one in the order of the */
    int32_t step[SLC_VELO_FIT_BLOCK]; /* filter; the following ones are `step` on, 1 or -1 */
    float tx[SLC_VELO_FIT_BLOCK], ty[SLC_VELO_FIT_BLOCK]; /* slopes that the next filter starts with */
    float x_last[SLC_VELO_FIT_BLOCK], y_last[SLC_VELO_FIT_BLOCK];
    float z_last[SLC_VELO_FIT_BLOCK]; /* of the hit nearest to the beam line */
    float noise[SLC_VELO_FIT_BLOCK];  /* what a layer adds to the variance of a slope */
    float
        second[SLC_VELO_FIT_BLOCK]; /* the same in the second pass, of a track that scatters as is typical */
    float chi2[SLC_VELO_FIT_BLOCK];
    uint32_t backward[SLC_VELO_FIT_BLOCK]; /* 0 or 1 */
    slc_velo_fit_states beam, end;
} slc_velo_fit_work;

/* One event. The columns of tracks and hits have a spare vector behind them; every track has 2 to
 * SLC_VELO_MAX_TRACK_HITS hits. */
typedef struct slc_velo_fit_in {
    const float *x, *y, *z;             /* hits */
    const uint32_t *n_pixels;           /* of them; 0: unknown */
    const uint32_t *hit;                /* of the tracks, downstream first */
    const uint32_t *hit_begin, *n_hits; /* tracks */
    size_t n_tracks;
} slc_velo_fit_in;

/* Columns of states, from the event's first row on. Rows behind the last track stay as they are. */
typedef struct slc_velo_fit_out {
    float *x, *y, *z, *tx, *ty, *xx, *xtx, *txtx, *yy, *yty, *tyty, *chi2;
    uint32_t *n_dof;
    uint8_t *backward;
} slc_velo_fit_out;

typedef struct slc_velo_fit_kernels {
    const char *target;
    void (*fit)(const slc_velo_fit_config *config, const slc_velo_fit_in *in, slc_velo_fit_work *work,
                const slc_velo_fit_out *beam, const slc_velo_fit_out *end);
} slc_velo_fit_kernels;

/* The table of a target that is compiled in. */
const slc_velo_fit_kernels *slc_velo_fit_kernels_of(slc_simd_target target);

/* The standard input of the benchmark. */
extern const slc_simd_case slc_velo_fit_case;

#endif
