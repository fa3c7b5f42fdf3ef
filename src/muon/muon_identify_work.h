/* SPDX-License-Identifier: Apache-2.0
 *
 * isMuon's kernels: the windows of a track of some momentum, and of a station's hits in them the one that
 * fits a track best, with hits in the lanes.
 */
#ifndef SLUICE_MUON_IDENTIFY_WORK_H
#define SLUICE_MUON_IDENTIFY_WORK_H

#include "simd/simd_kernel.h"
#include <sluice/muon_types.h>

enum {
    SLC_MUON_AREAS = SLC_MUON_STATIONS * SLC_MUON_REGIONS,
    SLC_MUON_SPARE = 64 /* lanes of the widest vector */
};

/* a, b, c of x and of y, by 4 · station + region. */
typedef struct slc_muon_foi {
    float of[3][2][SLC_MUON_AREAS + SLC_MUON_SPARE];
} slc_muon_foi;

/* Half sizes of the windows over those of the pads, for a momentum; likewise. */
typedef struct slc_muon_windows {
    float of[2][SLC_MUON_AREAS + SLC_MUON_SPARE];
} slc_muon_windows;

/* A track on its way: place and slope in x and in y, with covariances. */
typedef struct slc_muon_line {
    float at, slope, cov[3]; /* of at at, at slope, slope slope */
} slc_muon_line;

/* Where hits of a station are looked for: the track's straight continuation begins at x, y, z. Hits of region
 * r of station s are begin[4 s + r] and on, before those of the next. */
typedef struct slc_muon_look {
    const slc_muon_hits *hits;
    const size_t *begin;
    const slc_muon_windows *windows;
    float x, y, z, tx, ty;
} slc_muon_look;

typedef struct slc_muon_kernels {
    const char *target;
    void (*windows)(const slc_muon_foi *foi, float p_mev, slc_muon_windows *windows);
    /* The hit of the station that is nearest to the two lines, which are at z, by their errors and the hits';
     * the first of those that are as near. False where there is none in the windows. */
    bool (*best)(const slc_muon_look *look, uint32_t station, const slc_muon_line lines[2], float z,
                 size_t *best);
} slc_muon_kernels;

/* The table of a target that is compiled in. */
const slc_muon_kernels *slc_muon_kernels_of(slc_simd_target target);
extern const slc_simd_kernel slc_muon_kernel_rows[2]; /* ends with a row whose name is NULL */

#endif
