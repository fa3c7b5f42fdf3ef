/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the time counters of modules, followed in parallel. What a frame's counter has done is
 * known from the frame before it of the same module: mostly a lane of the same warp, otherwise the last one
 * in the warp's table of modules. Tables of warps are joined to one of the tile, those of tiles to one of the
 * chunk, and those to the call's. Turns add up, so that all of that is a running sum for each module.
 */
#ifndef SLUICE_PET_CLOCKS_CUH
#define SLUICE_PET_CLOCKS_CUH

#include "cuda/cuda_kernel.cuh"
#include "pet/pet_convert_cuda.h"

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32, MODULES = 256, BITS = MODULES / 32 };
static_assert(THREADS == MODULES, "a thread for each module");
constexpr uint32_t ALL_LANES = 0xffffffffU;

typedef unsigned long long ticks_t;

/* What the warps of a block know of modules. `turns` is what a counter of fewer than 64 bits has made since
 * the warp's first frame of the module. */
template <bool NARROW> struct tracker {
    ticks_t first[WARPS][MODULES], last[WARPS][MODULES];
    int32_t turns[WARPS][NARROW ? MODULES : 1];
    uint32_t began[WARPS][BITS];
};

__device__ __forceinline__ ticks_t mask_of(uint32_t tick_bits)
{
    return ~0ULL >> (64 - tick_bits);
}

/* From one frame of a module to the next. */
struct change {
    bool back;
    int32_t turns; /* 1, 0, -1 */
};

template <bool NARROW>
__device__ __forceinline__ change change_of(uint32_t tick_bits, ticks_t before, ticks_t ticks)
{
    if (!NARROW) {
        return {ticks < before, 0};
    }
    /* How far it is to the new number, the shorter way around. */
    const uint32_t unused = 64 - tick_bits;
    const int64_t step = static_cast<int64_t>((ticks - before) << unused) >> unused;
    const bool up = step > 0 && ticks < before, down = step < 0 && ticks > before;
    return {step < 0, up ? 1 : down ? -1 : 0};
}

struct step_of {
    ticks_t ticks; /* with the turns since the warp's first frame of the module */
    bool back, turned;
};

/* The last ticks of a module that the warp has seen; false, and its first, where there are none. */
template <bool NARROW>
__device__ __forceinline__ bool look_up(tracker<NARROW> &t, uint32_t module, ticks_t ticks, ticks_t *before)
{
    const uint32_t warp = threadIdx.x / 32, word = module / 32, bit = 1U << module % 32;
    if ((t.began[warp][word] & bit) != 0) {
        *before = t.last[warp][module];
        return true;
    }
    t.first[warp][module] = ticks;
    if (NARROW) {
        t.turns[warp][module] = 0;
    }
    atomicOr(&t.began[warp][word], bit);
    return false;
}

/* The module of the frames that a warp has just seen, kept in registers: frames come in packets of a module.
 * NO_RUN: none. */
struct run_of {
    uint32_t module;
    ticks_t last;
    int32_t turns;
};
constexpr uint32_t NO_RUN = UINT32_MAX;

/* What is known of the run to the warp's table; all lanes call. */
template <bool NARROW> __device__ __forceinline__ void end_run(tracker<NARROW> &t, const run_of &run)
{
    __syncwarp(); /* the lanes before have written of the same module */
    if (run.module != NO_RUN && threadIdx.x % 32 == 0) {
        t.last[threadIdx.x / 32][run.module] = run.last;
        if (NARROW) {
            t.turns[threadIdx.x / 32][run.module] = run.turns;
        }
    }
    __syncwarp();
}

/* What lanes see from the frame before each; `same`: lanes with the same module; `turns`: before these. */
template <bool NARROW>
__device__ __forceinline__ step_of step_to(uint32_t tick_bits, bool has, uint32_t same, ticks_t before,
                                           ticks_t ticks, int32_t *turns)
{
    const change c = change_of<NARROW>(tick_bits, before, ticks);
    step_of step = {ticks, has && c.back, has && c.turns > 0};
    if (NARROW) {
        const uint32_t self = 1U << threadIdx.x % 32, upto = same & (self | (self - 1));
        const uint32_t ups = __ballot_sync(ALL_LANES, has && c.turns > 0);
        const uint32_t downs = __ballot_sync(ALL_LANES, has && c.turns < 0);
        *turns += __popc(ups & upto) - __popc(downs & upto);
        step.ticks += static_cast<ticks_t>(static_cast<int64_t>(*turns)) << tick_bits;
    }
    return step;
}

/* 32 frames of several modules, or of another than before. */
template <bool NARROW>
__device__ __forceinline__ step_of follow_mixed(uint32_t tick_bits, tracker<NARROW> &t, run_of *run,
                                                uint32_t key, ticks_t ticks)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool known = key < MODULES;
    end_run<NARROW>(t, *run);
    const uint32_t same = __match_any_sync(ALL_LANES, key), below = same & ((1U << lane) - 1);
    ticks_t before = __shfl_sync(ALL_LANES, ticks, 31 - __clz(static_cast<int>(below | 1)));
    bool has = known;
    if (known && below == 0) {
        has = look_up(t, key, ticks, &before);
    }
    __syncwarp();
    int32_t turns = NARROW && known ? t.turns[warp][NARROW ? key : 0] : 0;
    __syncwarp();
    const step_of step = step_to<NARROW>(tick_bits, has, same, before, ticks, &turns);
    if (known && same >> lane == 1) { /* the last one */
        t.last[warp][key] = ticks;
        if (NARROW) {
            t.turns[warp][key] = turns;
        }
    }
    const uint32_t last = __shfl_sync(ALL_LANES, key, 31);
    run->module = last < MODULES ? last : NO_RUN;
    run->last = __shfl_sync(ALL_LANES, ticks, 31);
    run->turns = NARROW ? __shfl_sync(ALL_LANES, turns, 31) : 0;
    return step;
}

/* 32 frames; all lanes call. `key`: the module; for frames that are of none, MODULES and the lane. */
template <bool NARROW>
__device__ __forceinline__ step_of follow(uint32_t tick_bits, tracker<NARROW> &t, run_of *run, uint32_t key,
                                          ticks_t ticks)
{
    if (NARROW) {
        ticks &= mask_of(tick_bits);
    }
    if (__all_sync(ALL_LANES, key == run->module) == 0) {
        return follow_mixed<NARROW>(tick_bits, t, run, key, ticks);
    }
    ticks_t before = __shfl_up_sync(ALL_LANES, ticks, 1);
    before = threadIdx.x % 32 == 0 ? run->last : before;
    int32_t turns = run->turns;
    const step_of step = step_to<NARROW>(tick_bits, true, ALL_LANES, before, ticks, &turns);
    run->last = __shfl_sync(ALL_LANES, ticks, 31);
    run->turns = NARROW ? __shfl_sync(ALL_LANES, turns, 31) : 0;
    return step;
}

/* ---- joining ----------------------------------------------------------------------------------- */

/* A module's counter over some frames. */
struct clock_of {
    ticks_t first, last;
    int64_t turns;
    bool began;
    uint32_t backwards, turned; /* where stretches meet */
};

/* The next stretch, of which `turns` are inside. */
template <bool NARROW>
__device__ __forceinline__ void append(uint32_t tick_bits, clock_of *c, ticks_t first, ticks_t last,
                                       int64_t turns)
{
    if (!c->began) {
        c->began = true;
        c->first = first;
    } else {
        const change at = change_of<NARROW>(tick_bits, c->last, first);
        c->backwards += at.back;
        c->turned += at.turns > 0;
        c->turns += at.turns;
    }
    c->turns += turns;
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

/* What was before a row of clocks, once that is known (slc_pet_cuda_clocks). */
__device__ __forceinline__ clock_of before_row(const slc_pet_cuda_clocks &clocks, uint64_t row,
                                               uint32_t modules)
{
    clock_of c = {0, 0, 0, false, 0, 0};
    if (threadIdx.x < modules && bit_of(clocks.had, row, threadIdx.x)) {
        c.began = true;
        c.last = clocks.first[row * modules + threadIdx.x];
        c.turns = static_cast<int64_t>(clocks.last[row * modules + threadIdx.x]);
    }
    return c;
}

/* A thread for each module: the block's warps in their order, behind `c`. With NARROW, `first` of a warp and
 * module becomes the ticks of all turns before it. */
template <bool NARROW>
__device__ __forceinline__ void join_warps(uint32_t tick_bits, tracker<NARROW> &t, clock_of *c)
{
    const uint32_t m = threadIdx.x;
    for (uint32_t w = 0; w < WARPS; w++) {
        if ((t.began[w][m / 32] >> m % 32 & 1) != 0) {
            const int32_t turns = NARROW ? t.turns[w][NARROW ? m : 0] : 0;
            append<NARROW>(tick_bits, c, t.first[w][m], t.last[w][m], turns);
            if (NARROW) {
                t.first[w][m] = static_cast<ticks_t>(c->turns - turns) << tick_bits;
            }
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
        clocks.turns[at] = c.turns;
    }
    set_bits(clocks.began, row, c.began);
}

/* Appends rows [begin, end) of clocks to this thread's module. Loads of AT_ONCE rows are on the way at a
 * time, also of those that turn out to have nothing of the module. With KEEP each row is replaced by what was
 * before it. */
template <bool NARROW, bool KEEP, uint32_t AT_ONCE>
__device__ __forceinline__ void walk(uint32_t tick_bits, const slc_pet_cuda_clocks &rows, uint32_t begin,
                                     uint32_t end, uint32_t modules, clock_of *c)
{
    const uint32_t m = threadIdx.x;
    for (uint32_t i = begin; i < end; i += AT_ONCE) {
        ticks_t first[AT_ONCE], last[AT_ONCE];
        int64_t turns[AT_ONCE];
        bool is[AT_ONCE];
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint64_t at = static_cast<uint64_t>(i + k) * modules + m;
            const bool there = i + k < end && m < modules;
            is[k] = there && bit_of(rows.began, i + k, m);
            first[k] = there ? rows.first[at] : 0;
            last[k] = there ? rows.last[at] : 0;
            turns[k] = NARROW && there ? rows.turns[at] : 0;
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            if (KEEP && i + k < end) {
                const uint64_t at = static_cast<uint64_t>(i + k) * modules + m;
                set_bits(rows.had, i + k, c->began);
                if (m < modules) {
                    rows.first[at] = c->last;
                    rows.last[at] = static_cast<ticks_t>(c->turns);
                }
            }
            if (is[k]) {
                append<NARROW>(tick_bits, c, first[k], last[k], turns[k]);
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
template <bool NARROW>
__global__ void __launch_bounds__(THREADS) join_chunks(const slc_pet_cuda_conversion job)
{
    const uint32_t begin = blockIdx.x * SLC_PET_CUDA_CHUNK, left = job.tiles - begin;
    clock_of c = {0, 0, 0, false, 0, 0};
    walk<NARROW, false, 16>(job.tick_bits, job.tile, begin,
                            begin + min(left, static_cast<uint32_t>(SLC_PET_CUDA_CHUNK)), job.modules, &c);
    store_row(job.chunk, blockIdx.x, job.modules, c);
    if (!NARROW) { /* otherwise tiles count, as they know what was before them */
        add_crossings(c, job.totals);
    }
}

/* One block, behind what the call before has left. */
template <bool NARROW> __global__ void __launch_bounds__(THREADS) join_all(const slc_pet_cuda_conversion job)
{
    const uint32_t m = threadIdx.x;
    clock_of c = {0, 0, 0, false, 0, 0};
    if (m < job.modules && bit_of(job.clock.began, 0, m)) {
        c.began = true;
        c.last = job.clock.last[m];
        c.turns = job.clock.turns[m];
    }
    walk<NARROW, NARROW, NARROW ? 8 : 32>(job.tick_bits, job.chunk, 0, job.chunks, job.modules, &c);
    __syncwarp();
    store_row(job.clock, 0, job.modules, c);
    if (!NARROW) {
        add_crossings(c, job.totals);
    }
}

/* A block for each chunk of tiles: what was before each of them. */
__global__ void __launch_bounds__(THREADS) spread_chunks(const slc_pet_cuda_conversion job)
{
    const uint32_t begin = blockIdx.x * SLC_PET_CUDA_CHUNK, left = job.tiles - begin;
    clock_of c = before_row(job.chunk, blockIdx.x, job.modules);
    walk<true, true, 8>(job.tick_bits, job.tile, begin,
                        begin + min(left, static_cast<uint32_t>(SLC_PET_CUDA_CHUNK)), job.modules, &c);
}
} // namespace

#endif
