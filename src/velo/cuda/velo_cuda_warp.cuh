/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the VELO: what a warp does together; and a team of warps, which is one warp of a block
 * where there are many events, and all warps of a block where few would leave most of the device idle.
 */
#ifndef SLUICE_VELO_CUDA_WARP_CUH
#define SLUICE_VELO_CUDA_WARP_CUH

#include "cuda/cuda_kernel.cuh"
#include "velo/cuda/velo_cuda_job.h"

static constexpr uint32_t velo_all_lanes = 0xffffffffU;

static __device__ __forceinline__ uint32_t velo_lane()
{
    return threadIdx.x % 32;
}

static __device__ __forceinline__ uint32_t velo_lanes_below()
{
    return (1U << velo_lane()) - 1;
}

/* The sum over the lanes before this one; *all gets that of all. */
static __device__ __forceinline__ uint32_t velo_sum_before(uint32_t value, uint32_t *all)
{
    uint32_t sum = value;
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(velo_all_lanes, sum, step);
        sum += velo_lane() >= step ? other : 0;
    }
    *all = __shfl_sync(velo_all_lanes, sum, 31);
    return sum - value;
}

/* ---- teams ------------------------------------------------------------------------------------------- */

/* What the warps of a team tell each other, in shared memory; one alone has nothing to tell. */
template <uint32_t WARPS_OF> struct velo_team {
    uint32_t of_warp[WARPS_OF], other_of_warp[WARPS_OF], next;
};
template <> struct velo_team<1> {
};

/* Which thread of the team this is, and which is the first of its warp. */
template <uint32_t WARPS_OF> static __device__ __forceinline__ uint32_t velo_rank()
{
    return WARPS_OF == 1 ? velo_lane() : threadIdx.x;
}

template <uint32_t WARPS_OF> static __device__ __forceinline__ uint32_t velo_rank_of_warp()
{
    return WARPS_OF == 1 ? 0 : threadIdx.x - velo_lane();
}

template <uint32_t WARPS_OF> static __device__ __forceinline__ uint32_t velo_warp()
{
    return WARPS_OF == 1 ? 0 : threadIdx.x / 32;
}

template <uint32_t WARPS_OF> static __device__ __forceinline__ void velo_team_sync()
{
    if constexpr (WARPS_OF == 1) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

template <uint32_t WARPS_OF> static __device__ __forceinline__ bool velo_team_any(bool is)
{
    if constexpr (WARPS_OF == 1) {
        return __any_sync(velo_all_lanes, is);
    } else {
        return __syncthreads_or(is) != 0;
    }
}

/* Of what several lanes share, a lane has every `lanes`-th one from `mine` on. */
struct velo_lot {
    uint32_t mine, lanes;
};

/* How many lanes of a warp each of n things gets: 1 to 8. */
static __device__ __forceinline__ uint32_t velo_lanes_for(uint32_t n)
{
    return n > 16 ? 1 : n > 8 ? 2 : n > 4 ? 4 : 8;
}

/* A number that is no less than 0, above a code: what comes first is the least, numbers that are none last.
 */
static __device__ __forceinline__ unsigned long long velo_first_of(float number, uint32_t code)
{
    return (unsigned long long)__float_as_uint(number) << 32 | code;
}

static __device__ __forceinline__ float velo_number_of(unsigned long long first)
{
    return __uint_as_float((uint32_t)(first >> 32));
}

/* Lanes that are `apart`, 2 * apart, ... from each other get the least number of theirs, and the least code
 * of those that have it. */
static __device__ __forceinline__ void velo_least_of_lanes(uint32_t apart, float &number, uint32_t &code)
{
#pragma unroll 1
    for (; apart < 32; apart *= 2) {
        const float other = __shfl_xor_sync(velo_all_lanes, number, (int)apart);
        const uint32_t other_code = __shfl_xor_sync(velo_all_lanes, code, (int)apart);
        const bool less = other < number || (other == number && other_code < code);
        number = less ? other : number;
        code = less ? other_code : code;
    }
}

/* What the warps before this one come to; *all gets what all of the team do. Nobody reads nor writes
 * what the team shares before all have come here, nor goes on before all have read it. */
template <uint32_t WARPS_OF>
static __device__ __forceinline__ uint32_t velo_warps_before(velo_team<WARPS_OF> &team, uint32_t of_warp,
                                                             uint32_t *all)
{
    const uint32_t warp = threadIdx.x / 32;
    if (velo_lane() == 0) {
        team.of_warp[warp] = of_warp;
    }
    __syncthreads();
    uint32_t before = 0, sum = 0;
#pragma unroll
    for (uint32_t w = 0; w < WARPS_OF; w++) {
        const uint32_t other = team.of_warp[w];
        before += w < warp ? other : 0;
        sum += other;
    }
    __syncthreads();
    *all = sum;
    return before;
}

/* How many threads of the team before this one say yes; *all gets how many do. */
template <uint32_t WARPS_OF>
static __device__ __forceinline__ uint32_t velo_team_place(velo_team<WARPS_OF> &team, bool is, uint32_t *all)
{
    const uint32_t bits = __ballot_sync(velo_all_lanes, is);
    const uint32_t below = (uint32_t)__popc(bits & velo_lanes_below()), mine = (uint32_t)__popc(bits);
    if constexpr (WARPS_OF == 1) {
        *all = mine;
        return below;
    } else {
        return velo_warps_before<WARPS_OF>(team, mine, all) + below;
    }
}

/* The sum over the threads of the team before this one; *all gets that of all. */
template <uint32_t WARPS_OF>
static __device__ __forceinline__ uint32_t velo_team_sum_before(velo_team<WARPS_OF> &team, uint32_t value,
                                                                uint32_t *all)
{
    uint32_t of_warp;
    const uint32_t before = velo_sum_before(value, &of_warp);
    if constexpr (WARPS_OF == 1) {
        *all = of_warp;
        return before;
    } else {
        return velo_warps_before<WARPS_OF>(team, of_warp, all) + before;
    }
}

/* What the first thread says, to all of the team. */
template <uint32_t WARPS_OF>
static __device__ __forceinline__ uint32_t velo_team_told(velo_team<WARPS_OF> &team, uint32_t value)
{
    if constexpr (WARPS_OF > 1) {
        __syncthreads(); /* all have done with what was told before */
        if (threadIdx.x == 0) {
            team.next = value;
        }
        __syncthreads();
        value = team.next;
    }
    return value;
}

/* The next event of a kernel: the same for all of the team, n_events where there is none. */
template <uint32_t WARPS_OF>
static __device__ __forceinline__ uint32_t velo_next_event(velo_team<WARPS_OF> &team,
                                                           const slc_velo_cuda_job &job, uint32_t kernel)
{
    uint32_t at = 0;
    if (velo_rank<WARPS_OF>() == 0) {
        at = atomicAdd(&job.head->next[kernel], 1U);
    }
    if constexpr (WARPS_OF == 1) {
        at = __shfl_sync(velo_all_lanes, at, 0);
    } else {
        at = velo_team_told<WARPS_OF>(team, at);
    }
    const uint32_t n = job.head->n_events;
    return at < n ? job.order[at] : n;
}

/* The squared distance between a hit and a line: the hit lies at (ex, ey, dz) from the line's start. */
static __device__ __forceinline__ float velo_scatter(float ex, float ey, float dz, float tx, float ty)
{
    const float dx = ex - tx * dz, dy = ey - ty * dz;
    return dx * dx + dy * dy;
}

#endif
