/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of this folder: one table a target, and what benchmark and checks know of them.
 */
#ifndef SLUICE_VELO_KERNELS_H
#define SLUICE_VELO_KERNELS_H

#include "simd/simd_kernel.h"

/* Columns of one event. Each has a spare vector behind it, which may be read (inputs) and overwritten
 * (outputs). */
typedef struct slc_velo_ip_in {
    const float *x, *y, *z, *tx, *ty;         /* tracks */
    const float *point_x, *point_y, *point_z; /* no spare vector needed */
    size_t n_tracks, n_points;
} slc_velo_ip_in;

typedef struct slc_velo_kernels {
    const char *target;
    /* Tracks whose distance to the nearest point is larger than min_ip; returns how many. */
    size_t (*ip_filter)(const slc_velo_ip_in *in, float min_ip, uint32_t *track, float *ip);
} slc_velo_kernels;

/* The table of a target that is compiled in. */
const slc_velo_kernels *slc_velo_kernels_of(slc_simd_target target);

enum {
    SLC_VELO_KERNEL_IP_FILTER = 0,
    SLC_VELO_KERNEL_CLUSTER,
    SLC_VELO_KERNEL_FIT,
    SLC_VELO_KERNEL_VERTEX,
    SLC_VELO_KERNEL_TRACK,
    SLC_VELO_KERNEL_COUNT
};
extern const slc_simd_kernel
    slc_velo_kernel_rows[SLC_VELO_KERNEL_COUNT + 1]; /* ends with a row whose name is NULL */

/* The scratch of velo.ip_filter's case: a crowded event. */
enum { SLC_VELO_IP_TRACKS = 1024, SLC_VELO_IP_POINTS = 8, SLC_VELO_IP_SPARE = 64 };
typedef struct slc_velo_ip_scratch {
    float state[5][SLC_VELO_IP_TRACKS + SLC_VELO_IP_SPARE]; /* x, y, z, tx, ty */
    float point[3][SLC_VELO_IP_POINTS];
    float ip[SLC_VELO_IP_TRACKS + SLC_VELO_IP_SPARE];
    uint32_t track[SLC_VELO_IP_TRACKS + SLC_VELO_IP_SPARE];
    size_t n_kept;
} slc_velo_ip_scratch;

#endif
