/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of coincidences share: times of both types, searches in them, and running sums over tiles
 * in the order of their numbers, by the decoupled look-back of D. Merrill and M. Garland (NVIDIA
 * NVR-2016-002). Blocks begin in the order of their numbers, so that those that are waited for have begun.
 */
#ifndef SLUICE_PET_COINCIDENCE_DEVICE_CUH
#define SLUICE_PET_COINCIDENCE_DEVICE_CUH

#define SLC_PET_SPLIT
#include "cuda/cuda_device.h"
#include "cuda/cuda_kernel.cuh"
#include "pet/cuda/pet_coincidence_cuda.h"

namespace
{
typedef unsigned long long u64;
constexpr unsigned ALL = ~0U;

/* ---- times ---------------------------------------------------------------------------------------- */

/* Integers are apart as unsigned numbers, which no two of them overflow. */
__device__ __forceinline__ uint64_t apart(int64_t later, int64_t earlier)
{
    return static_cast<uint64_t>(later) - static_cast<uint64_t>(earlier);
}
__device__ __forceinline__ double apart(double later, double earlier)
{
    return later - earlier;
}

template <class T> struct span_of;
template <> struct span_of<int64_t> {
    typedef uint64_t type;
};
template <> struct span_of<double> {
    typedef double type;
};

template <class T> struct times {
    const T *here, *before;
    uint32_t split, n;
    typename span_of<T>::type low, high;

    __device__ __forceinline__ T operator[](uint32_t i) const
    {
        return i < split ? before[i] : here[i - split];
    }
};

__device__ __forceinline__ void set_limits(const slc_pet_cuda_limits &from, times<int64_t> *t)
{
    t->low = from.low;
    t->high = from.high;
}
__device__ __forceinline__ void set_limits(const slc_pet_cuda_limits &from, times<double> *t)
{
    t->low = from.low_ns;
    t->high = from.high_ns;
}

template <class T> __device__ __forceinline__ times<T> times_of(const slc_pet_cuda_job &job)
{
    times<T> t;
    t.here = static_cast<const T *>(job.time);
    t.before = static_cast<const T *>(job.time_before);
    t.split = job.split;
    t.n = job.n;
    set_limits(job.limits, &t);
    return t;
}

/* The first place from `from` on, before `end`, for which `is` holds, which then holds up to the end; `end`
 * where there is none. In strides that double, as most are near. */
template <class Is> __device__ __forceinline__ uint32_t first_where(uint32_t from, uint32_t end, Is is)
{
    uint32_t stride = 1;
    while (from < end) {
        const uint32_t at = end - from > stride ? from + stride - 1 : end - 1;
        if (is(at)) {
            end = at;
            break;
        }
        from = at + 1;
        stride *= 2;
    }
    while (from < end) {
        const uint32_t middle = from + (end - from) / 2;
        if (is(middle)) {
            end = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}

/* The same from the back: the first place before `end` for which `is` holds, most of which are near the end;
 * `end` where there is none. */
template <class Is> __device__ __forceinline__ uint32_t first_where_back(uint32_t end, Is is)
{
    uint32_t stride = 1, from = 0;
    while (end > 0) {
        const uint32_t at = end > stride ? end - stride : 0;
        if (!is(at)) {
            from = at + 1;
            break;
        }
        end = at;
        stride *= 2;
    }
    while (from < end) {
        const uint32_t middle = from + (end - from) / 2;
        if (is(middle)) {
            end = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}

/* From `from` on, the first single behind the window of one at `opener`; n where there is none. */
template <class T>
__device__ __forceinline__ uint32_t first_beyond(const times<T> &t, uint32_t from, T opener)
{
    return first_where(from, t.n, [&](uint32_t i) { return !(apart(t[i], opener) <= t.high); });
}

/* ---- sums ----------------------------------------------------------------------------------------- */

__device__ __forceinline__ u64 warp_sum(u64 value)
{
#pragma unroll
    for (unsigned step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(ALL, value, static_cast<int>(step));
    }
    return value;
}

/* Of the lanes up to and with this one. */
__device__ __forceinline__ u64 warp_running(u64 value, unsigned lane)
{
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        const u64 other = __shfl_up_sync(ALL, value, step);
        value += lane >= step ? other : 0;
    }
    return value;
}

/* What a tile has published: a sum << 2, and what it is of. */
constexpr u64 OF_TILE = 1, OF_ALL = 2;

__device__ __forceinline__ u64 published(const u64 *state)
{
    u64 value = __ldcv(state);
    while (value == 0) {
        __nanosleep(20);
        value = __ldcv(state);
    }
    return value;
}

/* Publishes a tile's sum, and returns that of all tiles before it. By a whole warp. */
__device__ __forceinline__ u64 sum_before(u64 *states, uint32_t tile, u64 sum)
{
    const unsigned lane = threadIdx.x % 32;
    if (lane == 0) {
        atomicExch(states + tile, sum << 2 | (tile == 0 ? OF_ALL : OF_TILE));
    }
    u64 before = 0;
    for (uint32_t end = tile; end > 0;) { /* tiles end - 1, end - 2, … */
        const u64 state = lane < end ? published(states + (end - 1 - lane)) : OF_ALL;
        const unsigned complete = __ballot_sync(ALL, (state & 3) == OF_ALL);
        const unsigned last = complete != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(complete))) - 1
                                            : 31;
        before += warp_sum(lane <= last ? state >> 2 : 0);
        end = complete != 0 || end < 32 ? 0 : end - 32;
    }
    if (lane == 0 && tile > 0) {
        atomicExch(states + tile, (before + sum) << 2 | OF_ALL);
    }
    return before;
}

/* The counters that this block adds to. */
__device__ __forceinline__ slc_pet_cuda_sums *sums_of(const slc_pet_cuda_job &job)
{
    return &job.told->sums[blockIdx.x % SLC_PET_CUDA_SPREAD];
}

/* Which lanes before this one are in a mask. */
__device__ __forceinline__ unsigned lanes_before(unsigned mask, unsigned lane)
{
    return static_cast<unsigned>(__popc(mask & ((1U << lane) - 1U)));
}

enum { ROWS = 8, WARPS = 8, THREADS = 32 * WARPS }; /* a tile of SLC_PET_CUDA_TILE: a warp has 8 rows of 32 */
static_assert(static_cast<int>(ROWS * THREADS) == static_cast<int>(SLC_PET_CUDA_TILE),
              "a tile is what its threads have");

/* Shared memory of number_rows. */
struct number_room {
    u64 before;
    uint32_t sum;
};

/* Where a row of each warp begins in the tile's output: counts[warp * ROWS + row] become the sums of those
 * before, and *base is the sum over all tiles before. Returns the tile's own sum. By all threads. */
__device__ __forceinline__ uint32_t number_rows(uint32_t *counts, u64 *states, uint32_t tile,
                                                number_room *room, u64 *base)
{
    __syncthreads();
    if (threadIdx.x < 32) {
        const unsigned lane = threadIdx.x;
        const uint32_t a = counts[2 * lane], b = counts[2 * lane + 1];
        const uint32_t running = static_cast<uint32_t>(warp_running(a + b, lane));
        const uint32_t all = __shfl_sync(ALL, running, 31);
        counts[2 * lane] = running - a - b;
        counts[2 * lane + 1] = running - b;
        const u64 earlier = sum_before(states, tile, all);
        if (lane == 0) {
            room->before = earlier;
            room->sum = all;
        }
    }
    __syncthreads();
    *base = room->before;
    return room->sum;
}
} // namespace

#endif
