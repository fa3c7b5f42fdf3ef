/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the VELO: hits by y, so that a line is held against those alone that may be near. What
 * is left out is farther away than any distance that counts, rounding included; so results do not depend on
 * bins.
 */
#ifndef SLUICE_VELO_CUDA_BINS_CUH
#define SLUICE_VELO_CUDA_BINS_CUH

#include "velo/cuda/velo_cuda_warp.cuh"

enum { VELO_BINS = 128, VELO_BINS_OF_LANE = VELO_BINS / 32 };

/* The hits of a layer by y, with their places in it as keys: those of bin b are begin[b] … begin[b + 1] - 1,
 * in any order. */
template <uint32_t MOST> struct velo_bins {
    slc_velo_cuda_hit hit[MOST];
    alignas(16) uint32_t begin[VELO_BINS + 1];
    float low_z, high_z;
};

struct __attribute__((aligned(16))) velo_four {
    uint32_t at[4];
};

/* A number's bits, in the order of numbers; and back. */
static __device__ __forceinline__ int32_t velo_ordered(float number)
{
    const int32_t bits = __float_as_int(number);
    return bits ^ (bits >> 31 & 0x7fffffff);
}

static __device__ __forceinline__ float velo_unordered(int32_t ordered)
{
    return __int_as_float(ordered ^ (ordered >> 31 & 0x7fffffff));
}

/* Never falls as y rises, whatever y is: of half millimetres around the beam. Where it is no number, the
 * first one, or with `last` the last. */
static __device__ __forceinline__ uint32_t velo_bin_of(float y, bool last = false)
{
    const float at = y * 2 + (float)(VELO_BINS / 2), top = (float)(VELO_BINS - 1);
    return (uint32_t)(last ? fmaxf(fminf(at, top), 0) : fminf(fmaxf(at, 0), top));
}

/* Counts become ends: by one warp. */
template <typename Bins> static __device__ __forceinline__ void velo_sum_bins(Bins &b, float low, float high)
{
    const uint32_t lane = velo_lane();
    uint32_t mine[VELO_BINS_OF_LANE], sum = 0, all;
#pragma unroll
    for (uint32_t j = 0; j < VELO_BINS_OF_LANE; j++) {
        mine[j] = sum += b.begin[VELO_BINS_OF_LANE * lane + j];
    }
    const uint32_t before = velo_sum_before(sum, &all);
#pragma unroll
    for (uint32_t j = 0; j < VELO_BINS_OF_LANE; j++) {
        b.begin[VELO_BINS_OF_LANE * lane + j] = before + mine[j]; /* ends, which become beginnings */
    }
    if (lane == 0) {
        b.begin[VELO_BINS] = all;
        b.low_z = low;
        b.high_z = high;
    }
}

template <uint32_t WARPS_OF, typename Bins, typename Hits>
static __device__ __noinline__ void velo_make_bins(velo_team<WARPS_OF> &team, Bins &b, Hits hits)
{
    /* The first two of each thread are mostly all: read once, and both at the same time. */
    enum { STEP = 32 * WARPS_OF };
    const uint32_t rank = velo_rank<WARPS_OF>(), lane = velo_lane(), n = hits.n;
    const slc_velo_cuda_hit first_hit = hits.hit(rank < n ? rank : 0),
                            second_hit = hits.hit(rank + STEP < n ? rank + STEP : 0);
    float low = INFINITY, high = -INFINITY;
    velo_team_sync<WARPS_OF>(); /* nobody looks at those of the layer before */
    if (rank < VELO_BINS / 4) { /* four at once; the one behind them is written later */
        *(velo_four *)(b.begin + 4 * rank) = {{0, 0, 0, 0}};
    }
    velo_team_sync<WARPS_OF>();
#pragma unroll 1
    for (uint32_t k = rank; k < n; k += STEP) {
        const slc_velo_cuda_hit hit = k < STEP ? first_hit : k < 2 * STEP ? second_hit : hits.hit(k);
        atomicAdd(&b.begin[velo_bin_of(hit.y)], 1U);
        low = min(low, hit.z);
        high = max(high, hit.z);
    }
    __syncwarp();
    low = velo_unordered(slc_warp_least(velo_ordered(low)));
    high = velo_unordered(slc_warp_greatest(velo_ordered(high)));
    if constexpr (WARPS_OF > 1) {
        if (lane == 0) {
            team.of_warp[threadIdx.x / 32] = __float_as_uint(low);
            team.other_of_warp[threadIdx.x / 32] = __float_as_uint(high);
        }
        __syncthreads();
#pragma unroll 1
        for (uint32_t w = 0; w < WARPS_OF; w++) {
            low = min(low, __uint_as_float(team.of_warp[w]));
            high = max(high, __uint_as_float(team.other_of_warp[w]));
        }
    }
    if (velo_rank_of_warp<WARPS_OF>() == 0) {
        velo_sum_bins(b, low, high);
    }
    velo_team_sync<WARPS_OF>();
#pragma unroll 1
    for (uint32_t k = rank; k < n; k += STEP) {
        slc_velo_cuda_hit hit = k < STEP ? first_hit : k < 2 * STEP ? second_hit : hits.hit(k);
        const uint32_t at = atomicSub(&b.begin[velo_bin_of(hit.y)], 1U) - 1;
        hit.key = (int32_t)k;
        b.hit[at] = hit;
    }
    velo_team_sync<WARPS_OF>();
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
    return {b.begin[velo_bin_of(low)], b.begin[velo_bin_of(high, true) + 1]}; /* all, of no numbers */
}

#endif
