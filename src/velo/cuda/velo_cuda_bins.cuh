/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the VELO: hits by y, so that a line is held against those alone that may be near. What
 * is left out is farther away than any distance that counts, rounding included; so results do not depend on
 * bins.
 */
#ifndef SLUICE_VELO_CUDA_BINS_CUH
#define SLUICE_VELO_CUDA_BINS_CUH

#include "velo/cuda/velo_cuda_warp.cuh"

enum { VELO_BINS = 64 };

/* The hits of a layer by y: those of bin b are begin[b] … begin[b + 1] - 1 of the columns, in any order. */
template <uint32_t MOST> struct velo_bins {
    float x[MOST], y[MOST], z[MOST];
    uint16_t place[MOST];
    uint32_t begin[VELO_BINS + 1];
    float low_z, high_z;
};

/* Never falls as y rises, whatever y is: of millimetres around the beam. */
static __device__ __forceinline__ uint32_t velo_bin_of(float y)
{
    const float at = y + (float)(VELO_BINS / 2), held = at > 0 ? at : 0;
    return held < (float)(VELO_BINS - 1) ? (uint32_t)held : (uint32_t)(VELO_BINS - 1);
}

template <typename Bins>
static __device__ __noinline__ void velo_make_bins(Bins &b, const slc_velo_cuda_hit *hits, uint32_t n)
{
    float low = INFINITY, high = -INFINITY;
    __syncwarp(); /* nobody looks at those of the layer before */
#pragma unroll 1
    for (uint32_t k = velo_lane(); k <= VELO_BINS; k += 32) {
        b.begin[k] = 0;
    }
    __syncwarp();
#pragma unroll 1
    for (uint32_t k = velo_lane(); k < n; k += 32) {
        atomicAdd(&b.begin[velo_bin_of(hits[k].y)], 1U);
        low = min(low, hits[k].z);
        high = max(high, hits[k].z);
    }
    __syncwarp();
    const uint32_t two = 2 * velo_lane(), first = b.begin[two], second = b.begin[two + 1];
    uint32_t all;
    const uint32_t before = velo_sum_before(first + second, &all);
    for (uint32_t step = 16; step > 0; step /= 2) {
        low = min(low, __shfl_xor_sync(velo_all_lanes, low, (int)step));
        high = max(high, __shfl_xor_sync(velo_all_lanes, high, (int)step));
    }
    __syncwarp();
    b.begin[two] = before + first; /* ends, which become beginnings */
    b.begin[two + 1] = before + first + second;
    if (velo_lane() == 0) {
        b.begin[VELO_BINS] = all;
        b.low_z = low;
        b.high_z = high;
    }
    __syncwarp();
#pragma unroll 1
    for (uint32_t k = velo_lane(); k < n; k += 32) {
        const slc_velo_cuda_hit hit = hits[k];
        const uint32_t at = atomicSub(&b.begin[velo_bin_of(hit.y)], 1U) - 1;
        b.x[at] = hit.x;
        b.y[at] = hit.y;
        b.z[at] = hit.z;
        b.place[at] = (uint16_t)k;
    }
    __syncwarp();
}

struct velo_span {
    uint32_t begin, end;
};

/* The hits that may lie within `reach` of a line: what is left out is farther away in y, rounded or not. */
template <typename Bins>
static __device__ __forceinline__ velo_span velo_near_line(const Bins &b, float y, float z, float ty,
                                                           float reach)
{
    const float one = ty * (b.low_z - z), other = ty * (b.high_z - z);
    const float room = reach + 1e-5F * (fabsf(y) + fabsf(one) + fabsf(other)) + 1e-4F;
    const float low = (y + min(one, other)) - room, high = (y + max(one, other)) + room;
    const bool known = low <= high; /* not of no numbers */
    return {b.begin[known ? velo_bin_of(low) : 0],
            b.begin[known ? velo_bin_of(high) + 1 : (uint32_t)VELO_BINS]};
}

#endif
