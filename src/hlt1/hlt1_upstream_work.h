/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the kernel that looks for what tracks of the VELO have in the UT, and its scratch. How
 * it works stands in hlt1_upstream.simd.c.
 */
#ifndef SLUICE_HLT1_UPSTREAM_WORK_H
#define SLUICE_HLT1_UPSTREAM_WORK_H

#include "hlt1/hlt1_upstream.h"
#include "simd/simd_kernel.h"

enum {
    SLC_HLT1_UPSTREAM_SPARE = 64,    /* of the longest vectors */
    SLC_HLT1_UPSTREAM_TRACKS = 256,  /* at a time */
    SLC_HLT1_UPSTREAM_WINDOW = 64,   /* hits of a layer that a track takes */
    SLC_HLT1_UPSTREAM_PAIRS = 512,   /* at a time */
    SLC_HLT1_UPSTREAM_ASKED = 256,   /* hits near a track: from so many on nothing is ruled out */
    SLC_HLT1_UPSTREAM_BUCKETS = 512, /* of x in a layer */
    SLC_HLT1_UPSTREAM_ROWS = SLC_HLT1_UPSTREAM_TRACKS + SLC_HLT1_UPSTREAM_SPARE,
    SLC_HLT1_UPSTREAM_HITS = SLC_HLT1_UPSTREAM_TRACKS * SLC_UT_LAYERS * SLC_HLT1_UPSTREAM_WINDOW +
                             2 * SLC_HLT1_UPSTREAM_SPARE
};

/* Straight lines of the VELO, n of them, with their rows in the event. */
typedef struct slc_hlt1_upstream_lines {
    uint32_t n;
    uint32_t velo_track[SLC_HLT1_UPSTREAM_ROWS];
    float x[SLC_HLT1_UPSTREAM_ROWS], y[SLC_HLT1_UPSTREAM_ROWS], z[SLC_HLT1_UPSTREAM_ROWS];
    float tx[SLC_HLT1_UPSTREAM_ROWS], ty[SLC_HLT1_UPSTREAM_ROWS];
} slc_hlt1_upstream_lines;

/* What was found: which line, its hits (row in the event, SLC_HLT1_NONE without one), the line in the UT, and
 * chi2 by degree of freedom. */
typedef struct slc_hlt1_upstream_found {
    uint32_t n;
    uint32_t line[SLC_HLT1_UPSTREAM_ROWS], n_hits[SLC_HLT1_UPSTREAM_ROWS];
    uint32_t hit[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS];
    float x[SLC_HLT1_UPSTREAM_ROWS], tx[SLC_HLT1_UPSTREAM_ROWS];
    float q_over_p[SLC_HLT1_UPSTREAM_ROWS], chi2[SLC_HLT1_UPSTREAM_ROWS];
} slc_hlt1_upstream_found;

typedef struct slc_hlt1_upstream_work {
    /* slc_ut_dxdy and slc_hlt1_ut_z_mm: set by who calls, as objects of kernels need no others. */
    float dxdy[SLC_UT_LAYERS], plane_z[SLC_UT_LAYERS];
    uint32_t upto[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_BUCKETS +
                                 SLC_HLT1_UPSTREAM_SPARE]; /* hits of the layer in buckets up to this one */
    slc_hlt1_upstream_lines lines;
    slc_hlt1_upstream_found found;
    /* Of lines: how far hits may be away; rows of hits that are looked at; those that are near enough, in the
     * pool; whether there were more. */
    float most[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS], norm[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS];
    uint32_t begin[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS], end[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS];
    uint32_t first[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS], count[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS];
    bool full[SLC_HLT1_UPSTREAM_ROWS];
    float per_q[SLC_HLT1_UPSTREAM_ROWS], range[2][SLC_HLT1_UPSTREAM_ROWS];
    /* Hits near a line ask for slopes between these; the layer's bit. */
    float asked[2][SLC_HLT1_UPSTREAM_ASKED + 2 * SLC_HLT1_UPSTREAM_SPARE];
    uint32_t asked_layer[SLC_HLT1_UPSTREAM_ASKED + 2 * SLC_HLT1_UPSTREAM_SPARE];
    /* Near hits: residual to the line, z from SLC_HLT1_UT_Z_MM, row in the event. */
    float near_r[SLC_HLT1_UPSTREAM_HITS], near_dz[SLC_HLT1_UPSTREAM_HITS];
    uint32_t near_row[SLC_HLT1_UPSTREAM_HITS];
    /* Of lines: the best candidate so far, with rows of the pool. */
    uint32_t best_n[SLC_HLT1_UPSTREAM_ROWS], best_hit[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_ROWS];
    float best_b[SLC_HLT1_UPSTREAM_ROWS], best_chi2[SLC_HLT1_UPSTREAM_ROWS];
    /* Pairs: line and two rows of the pool. */
    uint32_t pair_line[SLC_HLT1_UPSTREAM_PAIRS + SLC_HLT1_UPSTREAM_SPARE];
    uint32_t pair_hit[2][SLC_HLT1_UPSTREAM_PAIRS + SLC_HLT1_UPSTREAM_SPARE];
    size_t n_pairs;
    /* A vector of candidates: hits by layer (0 where there is none, so that they add nothing to a sum). */
    uint32_t hit[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_SPARE], n_hits[SLC_HLT1_UPSTREAM_SPARE];
    float r[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_SPARE], dz[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_SPARE];
    float weight[SLC_UT_LAYERS][SLC_HLT1_UPSTREAM_SPARE];
    float b[SLC_HLT1_UPSTREAM_SPARE], chi2[SLC_HLT1_UPSTREAM_SPARE];
} slc_hlt1_upstream_work;

typedef struct slc_hlt1_upstream_kernels {
    const char *target;
    /* Makes work->upto of the event. */
    void (*index)(const slc_hlt1_event *event, slc_hlt1_upstream_work *work);
    /* As many lines as there is room for of tracks that can be in the UT, from track t on, to work->lines;
     * returns the track behind them. */
    uint32_t (*lines)(const slc_hlt1_event *event, uint32_t t, slc_hlt1_upstream_work *work);
    /* What work->lines have in the UT, in their order, to work->found. */
    void (*search)(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                   slc_hlt1_upstream_work *work);
    /* work->range of work->lines, as slc_hlt1_upstream_ranges; after index. */
    void (*ranges)(const slc_hlt1_upstream_ask *ask, const slc_hlt1_event *event,
                   slc_hlt1_upstream_work *work);
} slc_hlt1_upstream_kernels;

/* The table of a target that is compiled in. */
const slc_hlt1_upstream_kernels *slc_hlt1_upstream_kernels_of(slc_simd_target target);
extern const slc_simd_kernel slc_hlt1_upstream_kernel_rows[2]; /* ends with a row whose name is NULL */

#endif
