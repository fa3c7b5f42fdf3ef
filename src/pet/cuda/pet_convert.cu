/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames to singles on a GPU: the twin of pet_convert.c, with the same rows in the same order.
 *
 *   convert        a block per tile of frames: converts them, counts those kept, learns from the tiles before
 *                  how many are kept there (decoupled look-back: D. Merrill and M. Garland, NVR-2016-002),
 *                  and writes them behind those
 *   join_chunks    clocks of modules over the tiles of a chunk, join_all over all chunks (pet_clocks.cuh)
 *
 * A frame is read once and a single written once. Counters of fewer than 64 bits have been followed before,
 * on the host (pet_clock.c), which marks frames that it refuses.
 */
#include "cuda/cuda_device.h"
#include "pet/cuda/pet_clocks.cuh"

namespace
{
/* BLOCKS: of a multiprocessor at a time, so that loads of one are on the way while another converts. */
enum { ITEMS = SLC_PET_CUDA_FRAMES / THREADS, BLOCKS = 3 };
static_assert(ITEMS * 32 < 1 << 10, "counts of a warp have 10 bits each");

constexpr uint64_t OF_TILE = 1ULL << 62, OF_ALL = 2ULL << 62, VALUE = OF_TILE - 1;

/* What is wrong with a frame. */
enum kind { MODULE, UNIT, POSITION, NO_CRYSTAL, CLOCK };

struct frame {
    uint32_t module, unit, x, y, energy, mark;
    ticks_t ticks;
};

__device__ __forceinline__ frame frame_of(const uint4 &w)
{
    frame f;
    f.module = w.x >> 8 & 0xff;
    f.unit = w.x & 15;
    f.ticks = static_cast<ticks_t>(__byte_perm(w.x, w.y, 0x2345)) << 32 | __byte_perm(w.y, w.z, 0x2345);
    f.x = w.z >> 16 & 0xff;
    f.y = w.z >> 24;
    f.energy = __byte_perm(w.w, 0, 0x4401);
    f.mark = w.w >> 24;
    return f;
}

struct place {
    uint32_t crystal;
    bool known, good; /* known: of a block that there is */
};

/* Straight through, as nearly all frames are good. */
__device__ __forceinline__ place place_of(const slc_pet_cuda_conversion &job, const frame &f)
{
    const uint2 slot = __ldg(reinterpret_cast<const uint2 *>(job.slot) + (f.module * 16 + f.unit));
    const bool known = slot.x != UINT32_MAX, inside = known && f.x < job.side && f.y < job.side;
    const uint32_t at = f.y * job.side + f.x;
    uint32_t add = UINT32_MAX;
    if (job.places != nullptr) {
        add = inside ? __ldg(job.places + at) : UINT32_MAX;
    } else if (inside) {
        const uint32_t local = __ldg(job.map + (slot.y * job.map_stride + at));
        add = local < job.locals ? __ldg(job.add + (slot.y * job.add_stride + local)) : UINT32_MAX;
    }
    return {slot.x + add, known, add != UINT32_MAX};
}

/* Does the clock refuse it? (pet_clock.h) */
__device__ __forceinline__ bool refused(const slc_pet_cuda_conversion &job, const frame &f)
{
    return job.tick_bits < 64 && f.mark != 0;
}

/* Of a frame that is not good. */
__device__ __forceinline__ kind kind_of(const slc_pet_cuda_conversion &job, const frame &f)
{
    return refused(job, f)                      ? CLOCK
           : f.module >= job.modules            ? MODULE
           : f.unit >= job.units                ? UNIT
           : f.x >= job.side || f.y >= job.side ? POSITION
                                                : NO_CRYSTAL;
}

/* As in pet_convert.c: rounded down, and below 0 where a counter of fewer bits went back beyond its first
 * turn. */
template <bool PLAIN>
__device__ __forceinline__ uint64_t picoseconds(const slc_pet_cuda_conversion &job, uint64_t ticks)
{
    if (PLAIN) {
        return ticks * job.tick_numerator;
    }
    const uint64_t denominator = job.tick_denominator;
    uint64_t whole = ticks / denominator;
    if (job.tick_bits < 64 && ticks > INT64_MAX) {
        whole = ~(~ticks / denominator);
    }
    const uint64_t rest = ticks - whole * denominator;
    return whole * job.tick_numerator + rest * job.tick_numerator / denominator;
}

__device__ __forceinline__ float energy_of(const slc_pet_cuda_conversion &job, uint32_t crystal, float energy)
{
    const float bin = energy * job.bins_per_kev, last = static_cast<float>(job.energy_bins - 1);
    const uint32_t at = bin < last ? static_cast<uint32_t>(bin) : job.energy_bins - 1;
    return energy * __ldg(job.energy + (static_cast<uint64_t>(crystal) * job.energy_bins + at));
}

/* ---- counts ------------------------------------------------------------------------------------ */

/* Of a lane, 10 bits each: below, above, backwards; module, unit, position; none of a crystal, of no time. */
struct packed_counts {
    uint32_t a, b, c;
};

__device__ __forceinline__ void count_kind(packed_counts *counts, kind is)
{
    counts->b += is <= POSITION ? 1U << 10 * is : 0U;
    counts->c += is == NO_CRYSTAL ? 1U : is == CLOCK ? 1U << 10 : 0U;
}

enum { COUNTS = 8 }; /* the members of slc_pet_cuda_converted before `singles`, in their order */

__device__ void add_counts(const packed_counts &counts, uint32_t lane, uint32_t *sums)
{
    const uint32_t a = slc_warp_sum(counts.a), b = slc_warp_sum(counts.b);
    const uint32_t c = slc_warp_sum(counts.c);
    if (lane < COUNTS) {
        const uint32_t sum = (lane < 3 ? a : lane < 6 ? b : c) >> 10 * (lane % 3) & 1023;
        if (sum > 0) {
            atomicAdd(&sums[lane], sum);
        }
    }
}

/* ---- the tiles before -------------------------------------------------------------------------- */

__device__ __forceinline__ uint64_t warp_sum(uint64_t value)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(ALL_LANES, static_cast<unsigned long long>(value), step);
    }
    return value;
}

__device__ __forceinline__ uint64_t published(const unsigned long long *state)
{
    unsigned long long value = *static_cast<const volatile unsigned long long *>(state);
    while (value == 0) {
        __nanosleep(20);
        value = *static_cast<const volatile unsigned long long *>(state);
    }
    return value;
}

/* A warp: the sum over all tiles before this one, as far back as the next that knows its own. */
__device__ uint64_t look_back(const unsigned long long *states, uint32_t tile, uint32_t lane)
{
    uint64_t sum = 0;
    for (int64_t before = static_cast<int64_t>(tile) - 1;; before -= 32) {
        const int64_t at = before - lane;
        const uint64_t state = at >= 0 ? published(states + at) : OF_ALL;
        __syncwarp();
        const uint32_t all = __ballot_sync(ALL_LANES, (state & OF_ALL) != 0);
        const bool counts = all == 0 || lane <= static_cast<uint32_t>(__ffs(static_cast<int>(all)) - 1);
        sum += warp_sum(counts ? state & VALUE : 0);
        if (all != 0) {
            return sum;
        }
    }
}

/* ---- a tile ------------------------------------------------------------------------------------ */

/* A lane's singles. Bit k of `keep`: of frame k there is one. `time` is in ticks until clocks have been
 * followed. */
struct lane_singles {
    uint64_t time[ITEMS];
    uint32_t crystal[ITEMS];
    float energy[ITEMS];
    int32_t offset[ITEMS];
    uint32_t keep;
};

struct shared_tile {
    tracker clocks;
    uint32_t kept[WARPS], counts[COUNTS];
    uint32_t tile;
    uint64_t before;
};

/* The frames that this lane has of a tile, every 32nd of its warp's stretch: number k is there if 32 · k is
 * below `left`. */
struct stretch {
    const uint4 *frames;
    uint32_t left;
};

__device__ __forceinline__ void load(const stretch &s, uint4 *words)
{
#pragma unroll
    for (uint32_t k = 0; k < ITEMS; k++) {
        words[k] = 32 * k < s.left ? __ldcs(s.frames + 32 * k) : make_uint4(0, 0, 0, 0);
    }
}

__device__ __forceinline__ stretch start(const slc_pet_cuda_conversion &job, shared_tile &tile,
                                         uint32_t number)
{
    for (uint32_t i = threadIdx.x; i < WARPS * BITS; i += THREADS) {
        tile.clocks.began[i / BITS][i % BITS] = 0;
    }
    if (threadIdx.x < COUNTS) {
        tile.counts[threadIdx.x] = 0;
    }
    __syncthreads();
    const uint64_t first = static_cast<uint64_t>(number) * SLC_PET_CUDA_FRAMES +
                           threadIdx.x / 32 * (32 * ITEMS) + threadIdx.x % 32;
    const uint64_t left = first < job.n ? job.n - first : 0, most = SLC_PET_CUDA_FRAMES;
    return {static_cast<const uint4 *>(job.frames) + first, static_cast<uint32_t>(left < most ? left : most)};
}

/* Crystals and energies of a lane's frames, and whether those keep them; ticks, and keys of modules. No lane
 * waits for another here, so that all loads are on the way at a time. */
__device__ __forceinline__ void find(const slc_pet_cuda_conversion &job, const stretch &frames,
                                     const uint4 *words, lane_singles *s, uint32_t *keys,
                                     packed_counts *counts)
{
    s->keep = 0;
#pragma unroll
    for (uint32_t k = 0; k < ITEMS; k++) {
        const bool there = 32 * k < frames.left;
        const frame f = frame_of(words[k]);
        const place p = place_of(job, f);
        const bool good = there && p.good && !refused(job, f);
        float energy = static_cast<float>(f.energy);
        s->offset[k] = 0;
        if (job.cell != nullptr && good) {
            const uint2 cell = __ldg(reinterpret_cast<const uint2 *>(job.cell) + p.crystal);
            energy *= __uint_as_float(cell.x);
            s->offset[k] = static_cast<int32_t>(cell.y);
        }
        if (job.energy != nullptr && good) {
            energy = energy_of(job, p.crystal, energy);
        }
        const bool keep = good && energy >= job.low_kev && energy < job.high_kev;
        if (good && !keep) { /* what is not a number is above */
            counts->a += energy < job.low_kev ? 1U : 1U << 10;
        }
        if (there && !good) {
            count_kind(counts, kind_of(job, f));
        }
        s->keep |= keep ? 1U << k : 0U;
        s->time[k] = f.ticks;
        s->crystal[k] = p.crystal;
        s->energy[k] = energy;
        keys[k] = there && p.known && !refused(job, f) ? f.module : MODULES + threadIdx.x % 32;
    }
}

/* Ticks followed through the warp's stretch; then they are times. */
template <bool PLAIN>
__device__ __forceinline__ void follow_all(const slc_pet_cuda_conversion &job, tracker &clocks,
                                           const uint32_t *keys, lane_singles *s, packed_counts *counts)
{
    run_of run = {NO_RUN, 0};
#pragma unroll
    for (uint32_t k = 0; k < ITEMS; k++) {
        counts->a += follow(clocks, &run, keys[k], s->time[k]) ? 1U << 20 : 0U;
        s->time[k] = picoseconds<PLAIN>(job, s->time[k]) +
                     static_cast<uint64_t>(static_cast<int64_t>(s->offset[k]));
    }
    end_run(clocks, run);
}

__device__ __forceinline__ void write(const slc_pet_cuda_conversion &job, const lane_singles &s, uint64_t at,
                                      uint32_t lane)
{
    const uint32_t below = (1U << lane) - 1;
#pragma unroll
    for (uint32_t k = 0; k < ITEMS; k++) {
        const bool keep = (s.keep >> k & 1) != 0;
        const uint32_t kept = __ballot_sync(ALL_LANES, keep);
        if (keep) {
            const uint64_t to = at + static_cast<uint32_t>(__popc(kept & below));
            job.time_ps[to] = static_cast<int64_t>(s.time[k]);
            job.crystal[to] = s.crystal[k];
            job.energy_kev[to] = s.energy[k];
        }
        at += static_cast<uint32_t>(__popc(kept));
    }
}

/* Singles of the warps before this one; *sum: of the tile. */
__device__ __forceinline__ uint32_t before_warp(const uint32_t *kept, uint32_t *sum)
{
    uint32_t before = 0, all = 0;
#pragma unroll
    for (uint32_t w = 0; w < WARPS; w++) {
        before += w < threadIdx.x / 32 ? kept[w] : 0;
        all += kept[w];
    }
    *sum = all;
    return before;
}

__device__ __forceinline__ void add_totals(const slc_pet_cuda_conversion &job, uint32_t tile,
                                           const uint32_t *counts)
{
    if (threadIdx.x < COUNTS && counts[threadIdx.x] > 0) {
        atomicAdd(reinterpret_cast<unsigned long long *>(job.totals) + threadIdx.x,
                  static_cast<unsigned long long>(counts[threadIdx.x]));
    }
    if (threadIdx.x == 0) {
        job.bad_of_tile[tile] = counts[3] + counts[4] + counts[5] + counts[7];
    }
}

/* Joins the clocks of the tile's warps. */
__device__ __forceinline__ void join_tile(const slc_pet_cuda_conversion &job, const tracker &clocks,
                                          uint32_t tile, packed_counts *counts)
{
    clock_of c = {0, 0, false, 0};
    join_warps(clocks, &c);
    counts->a += c.backwards << 20;
    store_row(job.tile, tile, job.modules, c);
}

template <bool PLAIN>
__global__ void __launch_bounds__(THREADS, BLOCKS) convert(const slc_pet_cuda_conversion job)
{
    __shared__ shared_tile shared;
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        shared.tile = atomicAdd(job.next_tile, 1U);
    }
    __syncthreads();
    const uint32_t tile = shared.tile;
    const stretch frames = start(job, shared, tile);
    uint4 words[ITEMS];
    uint32_t keys[ITEMS];
    lane_singles singles;
    packed_counts counts = {0, 0, 0};
    load(frames, words);
    find(job, frames, words, &singles, keys, &counts);
    const uint32_t kept_here = slc_warp_sum(static_cast<unsigned>(__popc(singles.keep)));
    if (lane == 0) {
        shared.kept[warp] = kept_here;
    }
    __syncthreads();
    uint32_t sum;
    const uint32_t before = before_warp(shared.kept, &sum);
    if (threadIdx.x == 0) { /* as early as can be: others wait for it */
        atomicExch(&job.states[tile], (tile == 0 ? OF_ALL : OF_TILE) | sum);
    }
    follow_all<PLAIN>(job, shared.clocks, keys, &singles, &counts);
    __syncthreads();
    join_tile(job, shared.clocks, tile, &counts);
    add_counts(counts, lane, shared.counts);
    if (warp == 0 && tile > 0) {
        const uint64_t all = look_back(job.states, tile, lane);
        if (lane == 0) {
            shared.before = all;
            atomicExch(&job.states[tile], OF_ALL | (all + sum));
        }
    }
    __syncthreads();
    write(job, singles, (tile > 0 ? shared.before : 0) + before, lane);
    add_totals(job, tile, shared.counts);
    if (threadIdx.x == 0 && tile + 1 == job.tiles) {
        job.totals->singles = (tile > 0 ? shared.before : 0) + sum;
    }
}

/* ---- the first faults -------------------------------------------------------------------------- */

/* One block: the faults of a tile behind the `found` that there are. Returns how many there are then. */
__device__ uint32_t find_in_tile(const slc_pet_cuda_conversion &job, uint32_t tile, uint32_t found,
                                 uint32_t *bad_of_warp)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (uint32_t k = 0; k < ITEMS && found < SLC_FAULTS_KEPT; k++) {
        const uint64_t i = static_cast<uint64_t>(tile) * SLC_PET_CUDA_FRAMES + k * THREADS + threadIdx.x;
        kind is = NO_CRYSTAL;
        uint32_t module = 0;
        if (i < job.n) {
            const frame f = frame_of(static_cast<const uint4 *>(job.frames)[i]);
            is = kind_of(job, f);
            module = f.module;
        }
        const bool bad = is != NO_CRYSTAL;
        const uint32_t mask = __ballot_sync(ALL_LANES, bad);
        if (lane == 0) {
            bad_of_warp[warp] = static_cast<uint32_t>(__popc(mask));
        }
        __syncthreads();
        uint32_t sum;
        const uint32_t at = found + before_warp(bad_of_warp, &sum) +
                            static_cast<uint32_t>(__popc(mask & ((1U << lane) - 1)));
        if (bad && at < SLC_FAULTS_KEPT) {
            job.bad->frame[at] = i;
            job.bad->module[at] = module;
            job.bad->code[at] = is == MODULE  ? SLC_FAULT_PET_MODULE
                                : is == UNIT  ? SLC_FAULT_PET_UNIT
                                : is == CLOCK ? SLC_FAULT_PET_CLOCK
                                              : SLC_FAULT_PET_POSITION;
        }
        found += sum;
        __syncthreads();
    }
    return found;
}

/* One block: looks through the tiles' numbers for those with faults. */
__global__ void __launch_bounds__(THREADS) find_bad(const slc_pet_cuda_conversion job)
{
    __shared__ uint32_t bad_of_warp[WARPS], has[WARPS];
    uint32_t found = 0;
    for (uint32_t tiles = 0; tiles < job.tiles && found < SLC_FAULTS_KEPT; tiles += THREADS) {
        const uint32_t tile = tiles + threadIdx.x;
        const uint32_t mask = __ballot_sync(ALL_LANES, tile < job.tiles && job.bad_of_tile[tile] > 0);
        if (threadIdx.x % 32 == 0) {
            has[threadIdx.x / 32] = mask;
        }
        __syncthreads();
        for (uint32_t w = 0; w < WARPS; w++) {
            for (uint32_t left = has[w]; left != 0 && found < SLC_FAULTS_KEPT; left &= left - 1) {
                const uint32_t bit = static_cast<uint32_t>(__ffs(static_cast<int>(left)) - 1);
                found = find_in_tile(job, tiles + 32 * w + bit, found, bad_of_warp);
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        job.bad->n = min(found, static_cast<uint32_t>(SLC_FAULTS_KEPT));
    }
}

} // namespace

slc_status slc_pet_cuda_convert(const slc_pet_cuda_conversion *job, void *native, slc_error *error)
{
    cudaStream_t stream = static_cast<cudaStream_t>(native);
    if (job->tick_denominator == 1) {
        SLC_LAUNCH(convert<true>, job->tiles, THREADS, 0, stream, *job);
    } else {
        SLC_LAUNCH(convert<false>, job->tiles, THREADS, 0, stream, *job);
    }
    SLC_LAUNCH(join_chunks, job->chunks, THREADS, 0, stream, *job);
    SLC_LAUNCH(join_all, 1, THREADS, 0, stream, *job);
    return slc_cuda_check(cudaGetLastError(), "launching the conversion of frames", error);
}

slc_status slc_pet_cuda_find_bad(const slc_pet_cuda_conversion *job, void *native, slc_error *error)
{
    SLC_LAUNCH(find_bad, 1, THREADS, 0, static_cast<cudaStream_t>(native), *job);
    return slc_cuda_check(cudaGetLastError(), "launching the search for bad frames", error);
}
