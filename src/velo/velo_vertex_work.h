/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the loops of the vertex finder over tracks and bins, one table a target, and the
 * scratch that they share with velo_vertex.c. How it works stands there.
 */
#ifndef SLUICE_VELO_VERTEX_WORK_H
#define SLUICE_VELO_VERTEX_WORK_H

#include "simd/simd_kernel.h"

enum {
    SLC_VELO_VERTEX_BINS = 4096,
    SLC_VELO_VERTEX_GROUP = 4, /* bins by which the tracks are ordered */
    SLC_VELO_VERTEX_GROUPS = SLC_VELO_VERTEX_BINS / SLC_VELO_VERTEX_GROUP,
    SLC_VELO_VERTEX_SPARE = 64,     /* elements behind a column, at least a vector */
    SLC_VELO_VERTEX_UNITS = 1 << 14 /* a track's whole weight in the histogram, which holds integers */
};

/* The sums that a step of the fit needs: the symmetric matrix of the normal equations (xy is zero as x and y
 * of a track are uncorrelated), the right-hand side, chi2, weights, their squares, and how many tracks have
 * one. */
enum {
    SLC_VELO_SUM_XX = 0,
    SLC_VELO_SUM_YY,
    SLC_VELO_SUM_XZ,
    SLC_VELO_SUM_YZ,
    SLC_VELO_SUM_ZZ,
    SLC_VELO_SUM_X,
    SLC_VELO_SUM_Y,
    SLC_VELO_SUM_Z,
    SLC_VELO_SUM_CHI2,
    SLC_VELO_SUM_WEIGHT,
    SLC_VELO_SUM_WEIGHT2,
    SLC_VELO_SUM_TRACKS,
    SLC_VELO_SUMS
};

/* Columns of one event's states, with a spare vector behind each. */
typedef struct slc_velo_vertex_in {
    const float *x, *y, *z, *tx, *ty, *xx, *yy; /* xx, yy: variances */
    size_t n;
} slc_velo_vertex_in;

typedef struct slc_velo_vertex_cuts {
    float z_min, bin, n_bins; /* the histogram */
    float beam_x, beam_y;
    float variance_scale;        /* of the states, to be those that count */
    float max_chi2, max_sigma_z; /* for tracks to be counted in it */
    float max_fit_chi2;
} slc_velo_vertex_cuts;

/* Columns with SLC_VELO_VERTEX_SPARE elements behind the last track. */
typedef struct slc_velo_vertex_columns {
    /* Usable tracks in the order of the input: row, group of bins, place in the histogram in bins, half-width
     * there (0: not counted). */
    uint32_t *row, *group;
    float *place, *reach;
    uint32_t *order; /* places in those three columns, by rising group */
    /* Tracks in that order; weights 1 / variance; sum of exp(-chi2 / 2) over the vertices. */
    float *x, *y, *z, *tx, *ty, *wx, *wy, *shares;
    float *left_place, *left_reach; /* of the tracks that no vertex has taken */
    float *share;                   /* exp(-chi2 / 2) of pairs of a vertex and a track in its window */
    uint32_t *histogram;
    uint64_t *above;       /* bit per bin: above the threshold */
    uint32_t *group_begin; /* per group the first track in the order; one more at the end */
} slc_velo_vertex_columns;

typedef struct slc_velo_vertex_kernels {
    const char *target;
    /* Fills row, group, place and reach; returns how many. */
    size_t (*locate)(const slc_velo_vertex_in *in, const slc_velo_vertex_cuts *cuts,
                     const slc_velo_vertex_columns *columns);
    /* Adds n tracks to the histogram of so many bins, which is emptied first, and marks the bins above. */
    void (*fill)(const slc_velo_vertex_columns *columns, const float *place, const float *reach, size_t n,
                 size_t bins, uint32_t threshold);
    /* Fills order and group_begin: tracks by rising group, so that those near a vertex lie together. */
    void (*order)(const slc_velo_vertex_columns *columns, size_t n, size_t groups);
    /* Fills left_place and left_reach with those of the n tracks that count in the histogram and whose shares
     * are smaller than max_shares; returns how many. */
    size_t (*leave)(const slc_velo_vertex_columns *columns, size_t n, float max_shares);
    /* Fills x … wy by `order`; shares with zeros. */
    void (*collect)(const slc_velo_vertex_in *in, const slc_velo_vertex_cuts *cuts,
                    const slc_velo_vertex_columns *columns, size_t n);
    /* One step for the vertex at `at`, x y z: tracks begin … end - 1, whose shares so far are share[0 …]
     * and become the new ones. */
    void (*step)(const slc_velo_vertex_columns *columns, size_t begin, size_t end, const float at[3],
                 float max_chi2, float *share, float sums[SLC_VELO_SUMS]);
} slc_velo_vertex_kernels;

/* The table of a target that is compiled in. */
const slc_velo_vertex_kernels *slc_velo_vertex_kernels_of(slc_simd_target target);

/* The standard input of the benchmark. */
extern const slc_simd_case slc_velo_vertex_case;

#endif
