/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernel of the VELO's vertices: what a warp has of an event. The histogram lies in shared memory,
 * the rest in memory of the warp's own, which the caches hold.
 */
#ifndef SLUICE_VELO_CUDA_VERTEX_CUH
#define SLUICE_VELO_CUDA_VERTEX_CUH

#include "velo/cuda/velo_cuda_warp.cuh"

/* A vertex from its peak to its end: velo_vertex.c. */
struct slc_velo_cuda_seed {
    double cov[6], cov_scale;
    float at[3], peak_z, weight, chi2;
    uint32_t begin, end, share, integral, moving, alive;
};

struct slc_velo_cuda_vertex_scratch {
    slc_velo_cuda_seed seeds[SLC_VELO_MAX_PRIMARIES];
    float place[SLC_VELO_CUDA_VERTEX_TRACKS], reach[SLC_VELO_CUDA_VERTEX_TRACKS];
    float x[SLC_VELO_CUDA_VERTEX_TRACKS], y[SLC_VELO_CUDA_VERTEX_TRACKS], z[SLC_VELO_CUDA_VERTEX_TRACKS];
    float tx[SLC_VELO_CUDA_VERTEX_TRACKS], ty[SLC_VELO_CUDA_VERTEX_TRACKS], w[SLC_VELO_CUDA_VERTEX_TRACKS];
    float shares[SLC_VELO_CUDA_VERTEX_TRACKS];
    float left_place[SLC_VELO_CUDA_VERTEX_TRACKS], left_reach[SLC_VELO_CUDA_VERTEX_TRACKS];
    float share[SLC_VELO_CUDA_VERTEX_SHARES];
    uint16_t row[SLC_VELO_CUDA_VERTEX_TRACKS], order[SLC_VELO_CUDA_VERTEX_TRACKS];
    uint16_t list[SLC_VELO_CUDA_VERTEX_BINS];
};

struct slc_velo_cuda_finder {
    slc_velo_cuda_vertex_scratch &s;
    uint32_t *histogram, *above, *starts, *group_end;
};

#endif
