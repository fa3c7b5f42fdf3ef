/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the time counters of modules, followed in parallel, to know which frames are earlier
 * than the one before of their module. That is mostly a lane of the same warp, otherwise the last one in the
 * warp's table of modules. Tables of warps are joined to one of the tile, those of tiles to one of the chunk,
 * and those to the call's.
 */
#ifndef SLUICE_PET_CLOCKS_CUH
#define SLUICE_PET_CLOCKS_CUH

#include "cuda/cuda_kernel.cuh"
#include "pet/cuda/pet_convert_cuda.h"

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32, MODULES = 256, BITS = MODULES / 32 };
static_assert(THREADS == MODULES, "a thread for each module");
constexpr uint32_t ALL_LANES = 0xffffffffU;

typedef unsigned long long ticks_t;

/* What the warps of a block know of modules. */
struct tracker {
    ticks_t first[WARPS][MODULES], last[WARPS][MODULES];
    uint32_t began[WARPS][BITS];
};

/* The last ticks of a module that the warp has seen; false, and its first, where there are none. */
__device__ __forceinline__ bool look_up(tracker &t, uint32_t module, ticks_t ticks, ticks_t *before)
{
    const uint32_t warp = threadIdx.x / 32, word = module / 32, bit = 1U << module % 32;
    if ((t.began[warp][word] & bit) != 0) {
        *before = t.last[warp][module];
        return true;
    }
    t.first[warp][module] = ticks;
    atomicOr(&t.began[warp][word], bit);
    return false;
}

/* The module of the frames that a warp has just seen, kept in registers: frames come in packets of a module.
 * NO_RUN: none. */
struct run_of {
    uint32_t module;
    ticks_t last;
};
constexpr uint32_t NO_RUN = UINT32_MAX;

/* What is known of the run to the warp's table; all lanes call. */
__device__ __forceinline__ void end_run(tracker &t, const run_of &run)
{
    __syncwarp(); /* the lanes before have written of the same module */
    if (run.module != NO_RUN && threadIdx.x % 32 == 0) {
        t.last[threadIdx.x / 32][run.module] = run.last;
    }
    __syncwarp();
}

/* 32 frames of several modules, or of another than before. */
__device__ __forceinline__ bool follow_mixed(tracker &t, run_of *run, uint32_t key, ticks_t ticks)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool known = key < MODULES;
    end_run(t, *run);
    const uint32_t same = __match_any_sync(ALL_LANES, key), below = same & ((1U << lane) - 1);
    ticks_t before = __shfl_sync(ALL_LANES, ticks, 31 - __clz(static_cast<int>(below | 1)));
    bool has = known;
    if (known && below == 0) {
        has = look_up(t, key, ticks, &before);
    }
    __syncwarp();
    if (known && same >> lane == 1) { /* the last one */
        t.last[warp][key] = ticks;
    }
    const uint32_t last = __shfl_sync(ALL_LANES, key, 31);
    run->module = last < MODULES ? last : NO_RUN;
    run->last = __shfl_sync(ALL_LANES, ticks, 31);
    return has && ticks < before;
}

/* 32 frames; all lanes call. `key`: the module; for frames that are of none, MODULES and the lane. True: it
 * is earlier than the one before of its module. */
__device__ __forceinline__ bool follow(tracker &t, run_of *run, uint32_t key, ticks_t ticks)
{
    if (__all_sync(ALL_LANES, key == run->module) == 0) {
        return follow_mixed(t, run, key, ticks);
    }
    ticks_t before = __shfl_up_sync(ALL_LANES, ticks, 1);
    before = threadIdx.x % 32 == 0 ? run->last : before;
    run->last = __shfl_sync(ALL_LANES, ticks, 31);
    return ticks < before;
}

/* ---- joining ----------------------------------------------------------------------------------- */

/* A module's counter over some frames. */
struct clock_of {
    ticks_t first, last;
    bool began;
    uint32_t backwards; /* where stretches meet */
};

/* The next stretch. */
__device__ __forceinline__ void append(clock_of *c, ticks_t first, ticks_t last)
{
    if (!c->began) {
        c->began = true;
        c->first = first;
    } else {
        c->backwards += first < c->last;
    }
    c->last = last;
}

__device__ __forceinline__ bool bit_of(const uint32_t *words, uint64_t row, uint32_t module)
{
    return (words[row * BITS + module / 32] >> module % 32 & 1) != 0;
}

/* All threads; bits of 32 modules by each warp. */
__device__ __forceinline__ void set_bits(uint32_t *words, uint64_t row, bool is)
{
    const uint32_t bits = __ballot_sync(ALL_LANES, is);
    if (threadIdx.x % 32 == 0) {
        words[row * BITS + threadIdx.x / 32] = bits;
    }
}

/* A thread for each module: the block's warps in their order, behind `c`. */
__device__ __forceinline__ void join_warps(const tracker &t, clock_of *c)
{
    const uint32_t m = threadIdx.x;
    for (uint32_t w = 0; w < WARPS; w++) {
        if ((t.began[w][m / 32] >> m % 32 & 1) != 0) {
            append(c, t.first[w][m], t.last[w][m]);
        }
    }
}

__device__ __forceinline__ void store_row(const slc_pet_cuda_clocks &clocks, uint64_t row, uint32_t modules,
                                          const clock_of &c)
{
    if (c.began) {
        const uint64_t at = row * modules + threadIdx.x;
        clocks.first[at] = c.first;
        clocks.last[at] = c.last;
    }
    set_bits(clocks.began, row, c.began);
}

/* Appends rows [begin, end) of clocks to this thread's module. Loads of AT_ONCE rows are on the way at a
 * time, also of those that turn out to have nothing of the module. */
template <uint32_t AT_ONCE>
__device__ __forceinline__ void walk(const slc_pet_cuda_clocks &rows, uint32_t begin, uint32_t end,
                                     uint32_t modules, clock_of *c)
{
    const uint32_t m = threadIdx.x;
    for (uint32_t i = begin; i < end; i += AT_ONCE) {
        ticks_t first[AT_ONCE], last[AT_ONCE];
        bool is[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint64_t at = static_cast<uint64_t>(i + k) * modules + m;
            const bool there = i + k < end && m < modules;
            is[k] = there && bit_of(rows.began, i + k, m);
            first[k] = there ? rows.first[at] : 0;
            last[k] = there ? rows.last[at] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            if (is[k]) {
                append(c, first[k], last[k]);
            }
        }
    }
}

__device__ __forceinline__ void add_crossings(const clock_of &c, slc_pet_cuda_converted *totals)
{
    if (c.backwards > 0) {
        atomicAdd(reinterpret_cast<unsigned long long *>(&totals->backwards),
                  static_cast<unsigned long long>(c.backwards));
    }
}

/* A block for each chunk of tiles. */
__global__ void __launch_bounds__(THREADS) join_chunks(const slc_pet_cuda_conversion job)
{
    const uint32_t begin = blockIdx.x * SLC_PET_CUDA_CHUNK, left = job.tiles - begin;
    clock_of c = {0, 0, false, 0};
    walk<16>(job.tile, begin, begin + min(left, static_cast<uint32_t>(SLC_PET_CUDA_CHUNK)), job.modules, &c);
    store_row(job.chunk, blockIdx.x, job.modules, c);
    add_crossings(c, job.totals);
}

/* One block, behind what the call before has left. */
__global__ void __launch_bounds__(THREADS) join_all(const slc_pet_cuda_conversion job)
{
    const uint32_t m = threadIdx.x;
    clock_of c = {0, 0, false, 0};
    if (m < job.modules && bit_of(job.clock.began, 0, m)) {
        c.began = true;
        c.last = job.clock.last[m];
    }
    walk<32>(job.chunk, 0, job.chunks, job.modules, &c);
    __syncwarp();
    store_row(job.clock, 0, job.modules, c);
    add_crossings(c, job.totals);
}
} // namespace

#endif
