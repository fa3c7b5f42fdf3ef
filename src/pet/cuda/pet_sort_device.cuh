/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of the sort share: singles in two pieces, keys, and sums of a block. A key is a time with
 * its highest bit turned, an unsigned number of the same order.
 */
#ifndef SLUICE_PET_SORT_DEVICE_CUH
#define SLUICE_PET_SORT_DEVICE_CUH

#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"
#include "pet/cuda/pet_sort_cuda.h"

constexpr uint64_t SIGN = 1ULL << 63;
constexpr uint32_t ALL_LANES = ~0U;
/* Threads of a multiprocessor for which there shall be registers; one of compute capability 7.5 has no more.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int RESIDENT = 1024;
#else
constexpr int RESIDENT = 1536;
#endif

__device__ __forceinline__ uint64_t key_of(int64_t time)
{
    return static_cast<uint64_t>(time) ^ SIGN;
}

__device__ __forceinline__ int64_t time_of(uint64_t key)
{
    return static_cast<int64_t>(key ^ SIGN);
}

/* A single's time, crystal and the bits of its energy, by its number in the order of arrival. */
struct columns {
    const int64_t *time[2];
    const uint32_t *crystal[2], *energy[2];
    uint32_t first; /* singles of the first piece */
};

inline columns columns_of(const slc_pet_sort_source &from)
{
    columns c;
    for (int i = 0; i < 2; i++) {
        c.time[i] = from.part[i].time_ps;
        c.crystal[i] = from.part[i].crystal;
        c.energy[i] = reinterpret_cast<const uint32_t *>(from.part[i].energy_kev);
    }
    c.first = static_cast<uint32_t>(from.part[0].n);
    return c;
}

__device__ __forceinline__ uint64_t key_at(const columns &from, uint32_t i)
{
    return key_of(i < from.first ? from.time[0][i] : from.time[1][i - from.first]);
}

__device__ __forceinline__ uint32_t crystal_at(const columns &from, uint32_t i)
{
    return i < from.first ? from.crystal[0][i] : from.crystal[1][i - from.first];
}

__device__ __forceinline__ uint32_t energy_at(const columns &from, uint32_t i)
{
    return i < from.first ? from.energy[0][i] : from.energy[1][i - from.first];
}

/* The sum over this lane and those before it. */
__device__ __forceinline__ uint32_t sum_up_to(uint32_t value)
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(ALL_LANES, value, step);
        value += lane >= step ? other : 0;
    }
    return value;
}

/* The sum over the threads before this one, and *all of all. `warps` is a word for each warp; who calls again
 * with the same synchronises in between. */
template <int THREADS>
__device__ __forceinline__ uint32_t sum_before(uint32_t value, uint32_t *warps, uint32_t *all)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = sum_up_to(value);
    if (lane == 31) {
        warps[warp] = sum;
    }
    __syncthreads();
    uint32_t before = 0, total = 0;
#pragma unroll
    for (uint32_t i = 0; i < THREADS / 32; i++) {
        const uint32_t part = warps[i];
        before += i < warp ? part : 0;
        total += part;
    }
    *all = total;
    return before + sum - value;
}

inline uint32_t blocks_for(uint64_t n, uint32_t each)
{
    return static_cast<uint32_t>((n + each - 1) / each);
}

#endif
