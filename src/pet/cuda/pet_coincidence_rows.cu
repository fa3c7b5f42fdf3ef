/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU: what the policy makes of each window, and the rows of it. A thread has a window;
 * what has many pairs is looked at by its warp.
 */
#include "pet/cuda/pet_coincidence_rows.cuh"

namespace
{
enum { OPENER_ONLY = 128 };
static_assert(static_cast<int>(SLC_PET_CUDA_WINDOWS) == static_cast<int>(THREADS), "a thread has a window");

/* ---- verdicts ------------------------------------------------------------------------------------- */

struct verdict {
    slc_pet_verdict found;
    u64 rows; /* as groups */
};

/* A window of two. */
__device__ __forceinline__ verdict judge_pair(const slc_pet_terms &terms, members w)
{
    const size_t pair[2] = {w.opener, w.a};
    verdict v;
    v.found = slc_pet_verdict_pair(pair, slc_pet_takes(&terms, w.opener, w.a));
    v.rows = v.found.kind == SLC_PET_VERDICT_PAIR;
    return v;
}

/* The rows that a verdict gives; `together`: by a warp. */
template <bool TOGETHER>
__device__ __forceinline__ u64 count_rows(const slc_pet_terms &terms, const slc_pet_verdict &found, members w)
{
    switch (found.kind) {
    case SLC_PET_VERDICT_NOTHING:
        return 0;
    case SLC_PET_VERDICT_GOODS:
        if (TOGETHER) {
            return go_together(terms, w, found.opener_only, false, [](uint32_t, uint32_t, u64) {});
        }
        return count_goods(terms, w, found.opener_only);
    case SLC_PET_VERDICT_NEIGHBOURS:
        return go_along(terms, w, found.opener_only, [](uint32_t, uint32_t, u64) {});
    default:
        return 1;
    }
}

template <bool TOGETHER>
__device__ __forceinline__ verdict judge_window(const slc_pet_terms &terms, slc_pet_asked asked, members w)
{
    slc_pet_look look = slc_pet_look_none();
    if (asked.look) {
        look = TOGETHER ? look_together(terms, asked, w) : slc_pet_look_at(&terms, asked, w.opener, w.a, w.b);
    }
    verdict v;
    v.found = slc_pet_judge(&terms, &look, static_cast<size_t>(w.b) - w.a + 1);
    v.rows = count_rows<TOGETHER>(terms, v.found, w);
    return v;
}

__device__ __forceinline__ members from_lane_of(members w, int lane)
{
    members same;
    same.opener = __shfl_sync(ALL, w.opener, lane);
    same.a = __shfl_sync(ALL, w.a, lane);
    same.b = __shfl_sync(ALL, w.b, lane);
    return same;
}

/* Pairs that a policy looks at or writes; 0 where it does neither. */
__device__ __forceinline__ u64 work_of(const slc_pet_terms &terms, slc_pet_asked asked, members w)
{
    const bool none = terms.policy == SLC_PET_KILL_ALL || terms.policy == SLC_PET_KEEP_ALL ||
                      terms.policy == SLC_PET_REJECT_HIGHER_MULTIPLES ||
                      terms.policy == SLC_PET_MULTIPLES_AS_SEQUENTIAL;
    return none ? 0 : pairs_of(w, asked.opener_only && !terms.compat_gate9);
}

/* The verdict of each lane's window; all lanes are here. */
__device__ __forceinline__ verdict judge_lanes(const slc_pet_terms &terms, members w, bool exists)
{
    const slc_pet_asked asked = slc_pet_ask(&terms);
    verdict v;
    v.found = slc_pet_verdict_of(SLC_PET_VERDICT_NOTHING, false);
    v.rows = 0;
    const bool pair = exists && w.b - w.a == 1;
    const bool large = exists && !pair && work_of(terms, asked, w) >= MANY_PAIRS;
    if (pair) {
        v = judge_pair(terms, w);
    } else if (exists && !large) {
        v = judge_window<false>(terms, asked, w);
    }
    for (unsigned left = __ballot_sync(ALL, large); left != 0; left &= left - 1) {
        const int turn = __ffs(static_cast<int>(left)) - 1;
        const verdict now = judge_window<true>(terms, asked, from_lane_of(w, turn));
        if (static_cast<int>(threadIdx.x % 32) == turn) {
            v = now;
        }
    }
    return v;
}

struct judge_room {
    u64 ticket;
    u64 sums[WARPS];
    u64 before;
};

/* The sum of the rows before this thread's, in all tiles; *all is the tile's and all before it. */
__device__ __forceinline__ u64 number(u64 rows, u64 *states, uint32_t tile, judge_room *s, u64 *all)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u64 running = warp_running(rows, lane);
    if (lane == 31) {
        s->sums[warp] = running;
    }
    __syncthreads();
    u64 earlier = 0, sum = 0;
    for (unsigned k = 0; k < WARPS; k++) {
        earlier += k < warp ? s->sums[k] : 0;
        sum += s->sums[k];
    }
    if (warp == 0) {
        const u64 before = sum_before(states, tile, sum);
        if (lane == 0) {
            s->before = before;
        }
    }
    __syncthreads();
    *all = s->before + sum;
    return s->before + earlier + running - rows;
}

__global__ void __launch_bounds__(THREADS) judge(const slc_pet_cuda_job job)
{
    __shared__ judge_room s;
    const u64 n = job.told->windows < job.window_capacity ? job.told->windows : job.window_capacity;
    u64 pairs = 0, groups = 0;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            s.ticket = atomicAdd(&job.told->judged, static_cast<u64>(1));
        }
        __syncthreads();
        const uint32_t tile = static_cast<uint32_t>(s.ticket);
        const u64 i = static_cast<u64>(tile) * THREADS + threadIdx.x;
        if (static_cast<u64>(tile) * THREADS >= n) {
            break;
        }
        members w = {0, 0, 0};
        if (i < n) {
            w.opener = job.windows.opener[i];
            w.a = job.windows.first[i];
            w.b = job.windows.end[i];
        }
        const verdict v = judge_lanes(job.terms, w, i < n);
        const bool group = v.found.kind == SLC_PET_VERDICT_GROUP;
        groups += group;
        pairs += group ? 0 : v.rows;
        const u64 rows = group && job.as_pairs ? pairs_of(w, job.terms.delayed) : v.rows;
        u64 all = 0;
        const u64 row = number(rows, job.states_judge, tile, &s, &all);
        if (i < n) {
            job.windows.kind[i] = static_cast<uint8_t>(v.found.kind |
                                                       (v.found.opener_only ? OPENER_ONLY : 0));
            job.windows.pair_first[i] = static_cast<uint32_t>(v.found.first);
            job.windows.pair_second[i] = static_cast<uint32_t>(v.found.second);
            job.windows.row[i] = static_cast<uint32_t>(row);
        }
        if (i == n - 1) {
            job.told->rows = all;
        }
    }
    pairs = warp_sum(pairs);
    groups = warp_sum(groups);
    if (threadIdx.x % 32 == 0 && pairs + groups != 0) {
        atomicAdd(&sums_of(job)->pairs, pairs);
        atomicAdd(&sums_of(job)->groups, groups);
    }
}

/* ---- rows ----------------------------------------------------------------------------------------- */

/* All pairs of a window, or those that are good, by one thread. */
__device__ __forceinline__ void write_walk(const slc_pet_cuda_job &job, u64 row, members w, bool opener_only,
                                           bool all)
{
    slc_pet_walk walk = slc_pet_walk_of(w.opener, w.a, w.b, opener_only);
    size_t first = 0, second = 0;
    while (slc_pet_walk_next(&walk, &first, &second)) {
        if (all || slc_pet_takes(&job.terms, first, second)) {
            write_row(job, row++, static_cast<uint32_t>(first), static_cast<uint32_t>(second));
        }
    }
}

struct task {
    members w;
    u64 row;
    bool opener_only, all; /* which pairs are rows */
};

__device__ __forceinline__ void write_lanes(const slc_pet_cuda_job &job, const task &mine, bool walks)
{
    const bool large = walks && pairs_of(mine.w, mine.opener_only) >= MANY_PAIRS;
    if (walks && !large) {
        write_walk(job, mine.row, mine.w, mine.opener_only, mine.all);
    }
    for (unsigned left = __ballot_sync(ALL, large); left != 0; left &= left - 1) {
        const int turn = __ffs(static_cast<int>(left)) - 1;
        const members w = from_lane_of(mine.w, turn);
        const u64 row = __shfl_sync(ALL, mine.row, turn);
        const bool opener_only = __shfl_sync(ALL, static_cast<int>(mine.opener_only), turn) != 0;
        const bool all = __shfl_sync(ALL, static_cast<int>(mine.all), turn) != 0;
        (void)go_together(job.terms, w, opener_only, all, [&](uint32_t first, uint32_t second, u64 k) {
            write_row(job, row + k, first, second);
        });
    }
}

__global__ void __launch_bounds__(THREADS) write_rows(const slc_pet_cuda_job job)
{
    const u64 n = job.told->windows;
    if (job.told->rows > job.row_capacity || n > job.window_capacity) {
        return; /* the host makes room, and comes back */
    }
    for (u64 begin = static_cast<u64>(blockIdx.x) * THREADS; begin < n;
         begin += static_cast<u64>(gridDim.x) * THREADS) {
        const u64 i = begin + threadIdx.x;
        task mine = {{0, 0, 0}, 0, false, false};
        int kind = SLC_PET_VERDICT_NOTHING;
        if (i < n) {
            mine.w.opener = job.windows.opener[i];
            mine.w.a = job.windows.first[i];
            mine.w.b = job.windows.end[i];
            mine.row = job.windows.row[i];
            kind = job.windows.kind[i] & (OPENER_ONLY - 1);
            mine.opener_only = (job.windows.kind[i] & OPENER_ONLY) != 0;
        }
        bool walks = kind == SLC_PET_VERDICT_GOODS;
        if (kind == SLC_PET_VERDICT_PAIR) {
            write_row(job, mine.row, job.windows.pair_first[i], job.windows.pair_second[i]);
        } else if (kind == SLC_PET_VERDICT_NEIGHBOURS) {
            (void)go_along(job.terms, mine.w, mine.opener_only,
                           [&](uint32_t a, uint32_t b, u64 k) { write_row(job, mine.row + k, a, b); });
        } else if (kind == SLC_PET_VERDICT_GROUP && job.as_pairs) {
            walks = mine.all = true;
            mine.opener_only = job.terms.delayed;
        } else if (kind == SLC_PET_VERDICT_GROUP) {
            write_group(job, mine.row, mine.w.opener, mine.w.a, mine.w.b - mine.w.a + 1);
        }
        write_lanes(job, mine, walks);
    }
}
} // namespace

extern "C" int slc_pet_cuda_judge(const slc_pet_cuda_job *job, uint32_t blocks, void *stream)
{
    SLC_LAUNCH(judge, blocks, THREADS, 0, static_cast<cudaStream_t>(stream), *job);
    return static_cast<int>(cudaGetLastError());
}

extern "C" int slc_pet_cuda_write(const slc_pet_cuda_job *job, uint32_t blocks, void *stream)
{
    SLC_LAUNCH(write_rows, blocks, THREADS, 0, static_cast<cudaStream_t>(stream), *job);
    return static_cast<int>(cudaGetLastError());
}
