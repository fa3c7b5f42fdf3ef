/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the VELO: what a warp does together.
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

/* The next event of a kernel: the same for all lanes, n_events where there is none. */
static __device__ __forceinline__ uint32_t velo_next_event(const slc_velo_cuda_job &job, uint32_t kernel)
{
    uint32_t at = 0;
    if (velo_lane() == 0) {
        at = atomicAdd(&job.head->next[kernel], 1U);
    }
    at = __shfl_sync(velo_all_lanes, at, 0);
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
