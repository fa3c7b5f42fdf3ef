/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernel of the VELO's vertices: what a team has of an event, and how its warps share vertices. The
 * histogram lies in shared memory, the rest in memory of the warp's own, which the caches hold.
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
    uint32_t room, low; /* bins that the histogram has, from `low` on */

    __device__ __forceinline__ uint32_t &bin(uint32_t b) const
    {
        return histogram[b - low];
    }
};

/* What the first warp of a team tells the others: how many vertices are to be fitted, 0 at the end of the
 * event; and which vertices share tracks with each other. */
template <uint32_t TEAM> struct slc_velo_cuda_vertex_team : velo_team<TEAM> {
    uint32_t n;
    uint16_t group[SLC_VELO_MAX_PRIMARIES];
};
template <> struct slc_velo_cuda_vertex_team<1> : velo_team<1> {
};

/* Which vertices that move have windows that meet, or meet those of others that do: by one warp. Groups are
 * numbered as they come, so that warps have as many of them. */
template <uint32_t TEAM>
static __device__ __forceinline__ void group_vertices(const slc_velo_cuda_finder &f,
                                                      slc_velo_cuda_vertex_team<TEAM> &team, uint32_t n)
{
#pragma unroll 1
    for (uint32_t k = velo_lane(); k < n; k += 32) {
        team.group[k] = (uint16_t)k;
    }
    __syncwarp();
#pragma unroll 1
    for (bool changes = true; changes;) {
        bool change = false;
#pragma unroll 1
        for (uint32_t base = 0; base < n; base += 32) {
            const uint32_t k = base + velo_lane();
            uint32_t least = k < n ? team.group[k] : 0;
#pragma unroll 1
            for (uint32_t j = 0; j < n && k < n && f.s.seeds[k].moving != 0; j++) {
                const slc_velo_cuda_seed &o = f.s.seeds[j], &s = f.s.seeds[k];
                if (o.moving != 0 && s.begin < o.end && o.begin < s.end) {
                    least = min(least, (uint32_t)team.group[j]);
                }
            }
            __syncwarp();
            if (k < n && least < team.group[k]) {
                team.group[k] = (uint16_t)least;
                change = true;
            }
            __syncwarp();
        }
        changes = __any_sync(velo_all_lanes, change);
    }
    uint32_t groups = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < n;
         k++) { /* by all lanes: a group's number is that of its first, which comes first */
        const uint32_t first = team.group[k];
        const bool is_new = first == k && f.s.seeds[k].moving != 0;
        const uint32_t number = is_new ? groups : first == k ? 0 : team.group[first];
        __syncwarp();
        if (velo_lane() == 0) {
            team.group[k] = (uint16_t)number;
        }
        __syncwarp();
        groups += is_new;
    }
}

#endif
