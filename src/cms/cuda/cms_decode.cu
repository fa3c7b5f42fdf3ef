/* SPDX-License-Identifier: Apache-2.0
 *
 * Data words to digis on a GPU, the CUDA twin of cms_decode.c: sorted by module, those of a module in the
 * order of the words. Words of a link follow each other, so what is sorted is not digis but runs of digis of
 * one module, of which an event has some thousand.
 *
 *   count_words   a warp per tile: how many digis, runs and faults          (reads the words)
 *   scan_tiles    a block per event, scan_events one block: where each tile's begin
 *   write_runs    a warp per tile: packed digis, runs, the first faults     (reads the words again)
 *   place_runs    a block per event: a stable counting sort of its runs, to the order of the result
 *   write_digis   a warp per 8 runs in that order: all columns, calibrated on the way
 *
 * Reading the words twice costs 4 bytes a word; keeping what they were judged to be would cost more.
 */
#include "cms/cms_calibrate_core.h"
#include "cms/cms_decode_core.h"
#include "cms/cuda/cms_decode_cuda.h"
#include "cuda/cuda_device.h"

#include <cub/block/block_scan.cuh>

enum { THREADS = 256, WARP = 32, RUN_CHUNK = 512, GRID_BLOCKS = 16 };
enum { WARP_RUNS = 8, LANE_DIGIS = 4 }; /* of write_digis */
static const uint32_t all_lanes = 0xffffffffU;
static const uint32_t no_module = 0xffffffffU;

/* Digis, runs and faults, of a tile or an event, or before it. */
typedef uint4 counts;

/* What is between the kernels. */
struct workspace {
    counts *tile;        /* counts of each tile; then those before it in its event */
    counts *event;       /* of each event */
    counts *event_begin; /* before each event; events + 1 */
    uint32_t *packed;    /* of digis in the order of the words */
    uint32_t *run_first; /* first digi of a run in that order */
    uint32_t *run_raw;   /* its detector id */
    uint16_t *run_module;
    /* The same in the order of the result, and where a run begins in it. */
    uint32_t *sorted_first, *sorted_raw, *sorted_to;
    uint16_t *sorted_module;
};

static size_t rounded(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* Lays the arrays out from `work` on; returns the bytes they take. */
static size_t lay_out(void *work, uint32_t events, uint32_t tiles, size_t words, workspace *w)
{
    size_t at = 0;
    const auto take = [&](size_t bytes) {
        char *array = static_cast<char *>(work) + at;
        at += rounded(bytes);
        return array;
    };
    w->tile = reinterpret_cast<counts *>(take(tiles * sizeof(counts)));
    w->event = reinterpret_cast<counts *>(take(events * sizeof(counts)));
    w->event_begin = reinterpret_cast<counts *>(take((static_cast<size_t>(events) + 1) * sizeof(counts)));
    w->packed = reinterpret_cast<uint32_t *>(take(words * sizeof(uint32_t)));
    w->run_first = reinterpret_cast<uint32_t *>(take(words * sizeof(uint32_t)));
    w->run_raw = reinterpret_cast<uint32_t *>(take(words * sizeof(uint32_t)));
    w->run_module = reinterpret_cast<uint16_t *>(take(words * sizeof(uint16_t)));
    w->sorted_first = reinterpret_cast<uint32_t *>(take(words * sizeof(uint32_t)));
    w->sorted_raw = reinterpret_cast<uint32_t *>(take(words * sizeof(uint32_t)));
    w->sorted_to = reinterpret_cast<uint32_t *>(take(words * sizeof(uint32_t)));
    w->sorted_module = reinterpret_cast<uint16_t *>(take(words * sizeof(uint16_t)));
    return at;
}

static __device__ uint32_t lanes_below(uint32_t lane)
{
    return (1U << lane) - 1;
}

static __device__ void add_total(uint64_t *total, uint64_t more)
{
    if (more > 0) {
        atomicAdd(reinterpret_cast<unsigned long long *>(total), static_cast<unsigned long long>(more));
    }
}

struct add_counts {
    __device__ counts operator()(counts a, counts b) const
    {
        return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
};

/* ---- words ------------------------------------------------------------------------------------- */

/* Where a warp is in its tile: the counts so far, and the last digi. */
struct tile_walk {
    counts at;
    uint32_t module, raw_id;
};

/* What 32 words are to the warp: this lane's, and masks of lanes. */
struct warp_words {
    slc_cms_word word;
    uint32_t digis, starts, faults;
};

/* Judges 32 words. A run starts at a digi of another module than the digi before, and at a tile's first. */
static __device__ warp_words judge(const slc_cms_cuda_decode &job, const slc_cms_cuda_tile &tile,
                                   uint32_t first, uint32_t lane, tile_walk *walk)
{
    const uint32_t i = first + lane;
    const uint32_t *at = job.batch + tile.word + i;
    const bool inside = i < tile.n_words;
    const uint32_t word = inside ? at[0] : 0;
    const uint32_t before = inside && (i > 0 || tile.first == 0) ? at[-1] : 0;
    warp_words w;
    w.word = slc_cms_judge_word(word, before, job.cables + tile.fed * (uint32_t)SLC_CMS_FED_CABLES,
                                job.modules, job.unpack);
    const bool digi = w.word.kind == SLC_CMS_WORD_DIGI;
    w.digis = __ballot_sync(all_lanes, digi);
    const uint32_t below = w.digis & lanes_below(lane);
    const int previous = below != 0 ? 31 - __clz(static_cast<int>(below)) : 0;
    uint32_t module = __shfl_sync(all_lanes, w.word.module, previous);
    uint32_t raw_id = __shfl_sync(all_lanes, w.word.raw_id, previous);
    if (below == 0) {
        module = walk->module;
        raw_id = walk->raw_id;
    }
    w.starts = __ballot_sync(all_lanes, digi && (module != w.word.module || raw_id != w.word.raw_id));
    w.faults = __ballot_sync(all_lanes, w.word.fault != SLC_FAULT_NONE);
    if (w.digis != 0) {
        const int last = 31 - __clz(static_cast<int>(w.digis));
        walk->module = __shfl_sync(all_lanes, w.word.module, last);
        walk->raw_id = __shfl_sync(all_lanes, w.word.raw_id, last);
    }
    return w;
}

static __device__ void advance(tile_walk *walk, const warp_words &w)
{
    walk->at.x += static_cast<uint32_t>(__popc(w.digis));
    walk->at.y += static_cast<uint32_t>(__popc(w.starts));
    walk->at.z += static_cast<uint32_t>(__popc(w.faults));
}

/* Kinds of words, and faults by code, of a block. */
struct block_totals {
    uint32_t kind[SLC_CMS_WORD_BAD + 1];
    uint32_t fault[SLC_CMS_FAULTS];
};

static __device__ void clear_totals(block_totals *totals)
{
    uint32_t *all = reinterpret_cast<uint32_t *>(totals);
    for (uint32_t i = threadIdx.x; i < sizeof *totals / sizeof *all; i += blockDim.x) {
        all[i] = 0;
    }
    __syncthreads();
}

static __device__ void flush_totals(const block_totals *block, slc_cms_cuda_totals *totals)
{
    __syncthreads();
    if (threadIdx.x < SLC_CMS_FAULTS) {
        add_total(&totals->faults[threadIdx.x], block->fault[threadIdx.x]);
    }
    if (threadIdx.x == 0) {
        add_total(&totals->empty, block->kind[SLC_CMS_WORD_EMPTY]);
        add_total(&totals->errors, block->kind[SLC_CMS_WORD_ERROR]);
        add_total(&totals->invalid, block->kind[SLC_CMS_WORD_INVALID]);
        add_total(&totals->bad, block->kind[SLC_CMS_WORD_BAD]);
    }
}

static __global__ void __launch_bounds__(THREADS)
    count_words(const slc_cms_cuda_decode job, const workspace work)
{
    __shared__ block_totals totals;
    clear_totals(&totals);
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t n_tiles = job.tile_begin[job.events];
    for (uint32_t t = (blockIdx.x * THREADS + threadIdx.x) / WARP; t < n_tiles;
         t += gridDim.x * THREADS / WARP) {
        const slc_cms_cuda_tile tile = job.tile[t];
        tile_walk walk = {make_uint4(0, 0, 0, 0), no_module, 0};
        for (uint32_t first = 0; first < tile.n_words; first += WARP) {
            const warp_words w = judge(job, tile, first, lane, &walk);
            if (w.word.kind != SLC_CMS_WORD_DIGI && first + lane < tile.n_words) {
                atomicAdd(&totals.kind[w.word.kind], 1U);
            }
            if (w.word.fault != SLC_FAULT_NONE) {
                atomicAdd(&totals.fault[w.word.fault & 0xff], 1U);
            }
            advance(&walk, w);
        }
        if (lane == 0) {
            work.tile[t] = walk.at;
        }
    }
    flush_totals(&totals, job.totals);
}

static __global__ void __launch_bounds__(THREADS)
    write_runs(const slc_cms_cuda_decode job, const workspace work)
{
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t n_tiles = job.tile_begin[job.events];
    for (uint32_t t = (blockIdx.x * THREADS + threadIdx.x) / WARP; t < n_tiles;
         t += gridDim.x * THREADS / WARP) {
        const slc_cms_cuda_tile tile = job.tile[t];
        tile_walk walk = {add_counts()(work.event_begin[tile.event], work.tile[t]), no_module, 0};
        for (uint32_t first = 0; first < tile.n_words; first += WARP) {
            const uint32_t below = lanes_below(lane);
            const warp_words w = judge(job, tile, first, lane, &walk);
            const uint32_t digi = walk.at.x + static_cast<uint32_t>(__popc(w.digis & below));
            if (w.word.kind == SLC_CMS_WORD_DIGI) {
                work.packed[digi] = w.word.packed;
            }
            if ((w.starts >> lane & 1U) != 0) {
                const uint32_t run = walk.at.y + static_cast<uint32_t>(__popc(w.starts & below));
                work.run_first[run] = digi;
                work.run_raw[run] = w.word.raw_id;
                work.run_module[run] = static_cast<uint16_t>(w.word.module);
            }
            const uint32_t fault = walk.at.z + static_cast<uint32_t>(__popc(w.faults & below));
            if (w.word.fault != SLC_FAULT_NONE && fault < SLC_FAULTS_KEPT) {
                slc_cms_cuda_place *kept = &job.totals->kept[fault];
                kept->event = tile.event;
                kept->byte = tile.byte + 4 * (first + lane);
                kept->fed = static_cast<uint16_t>(tile.fed + SLC_CMS_FED_FIRST);
                kept->code = static_cast<uint16_t>(w.word.fault & 0xff);
            }
            advance(&walk, w);
        }
    }
}

/* ---- where tiles, events and runs begin -------------------------------------------------------- */

/* Replaces values[begin … end - 1] by the sums before them, with a block; returns the sum of all. */
template <int N>
static __device__ counts scan(const counts *values, uint32_t begin, uint32_t end, counts *sums)
{
    typedef cub::BlockScan<counts, N> block_scan;
    __shared__ typename block_scan::TempStorage shared;
    const counts zero = make_uint4(0, 0, 0, 0);
    const add_counts add = add_counts();
    counts running = zero;
    for (uint32_t first = begin; first < end; first += N) {
        const uint32_t i = first + threadIdx.x;
        counts sum, all;
        block_scan(shared).ExclusiveScan(i < end ? values[i] : zero, sum, zero, add, all);
        if (i < end) {
            sums[i] = add(running, sum);
        }
        running = add(running, all);
        __syncthreads();
    }
    return running;
}

static __global__ void __launch_bounds__(THREADS)
    scan_tiles(const slc_cms_cuda_decode job, const workspace work)
{
    const uint32_t event = blockIdx.x;
    const counts all = scan<THREADS>(work.tile, job.tile_begin[event], job.tile_begin[event + 1], work.tile);
    if (threadIdx.x == 0) {
        work.event[event] = all;
    }
}

static __global__ void __launch_bounds__(THREADS)
    scan_events(const slc_cms_cuda_decode job, const workspace work)
{
    const counts all = scan<THREADS>(work.event, 0, job.events, work.event_begin);
    if (threadIdx.x == 0) {
        work.event_begin[job.events] = all;
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e <= job.events; e += THREADS) {
        job.digis.head.event_offset[e] = work.event_begin[e].x;
    }
}

/* Digis of run r, whose event ends with run `runs_end` and digi `digis_end`. */
static __device__ uint32_t run_length(const workspace &work, uint32_t r, uint32_t runs_end,
                                      uint32_t digis_end)
{
    return (r + 1 < runs_end ? work.run_first[r + 1] : digis_end) - work.run_first[r];
}

/* Of a module: its next digi, and its next run, in the order of the result. */
typedef uint2 next_place;

/* A thread takes MODULES_EACH modules; each of these stretches has a place more, so that threads do not meet
 * in one bank of the shared memory. */
enum {
    MODULES_EACH = SLC_CMS_CUDA_DECODE_MODULES / THREADS,
    MODULE_SLOTS = SLC_CMS_CUDA_DECODE_MODULES + THREADS
};

static __device__ uint32_t slot_of(uint32_t module)
{
    return module + module / MODULES_EACH;
}

/* One warp, 32 runs in their order: each goes where its module's next digi goes. `next`: by slot. */
static __device__ next_place place_warp(next_place *next, bool inside, uint32_t module, uint32_t length,
                                        uint32_t lane)
{
    const uint32_t peers = __match_any_sync(all_lanes, inside ? module : no_module);
    next_place before = make_uint2(0, 0);
    uint32_t left = inside ? peers & lanes_below(lane) : 0;
    while (__any_sync(all_lanes, left != 0)) { /* as often as the most frequent module has runs here */
        const uint32_t other = __shfl_sync(all_lanes, length,
                                           left != 0 ? __ffs(static_cast<int>(left)) - 1 : 0);
        before.x += left != 0 ? other : 0;
        before.y += left != 0 ? 1 : 0;
        left &= left - 1;
    }
    const next_place base = inside ? next[slot_of(module)] : make_uint2(0, 0);
    const next_place place = make_uint2(base.x + before.x, base.y + before.y);
    __syncwarp();
    if (inside && peers >> lane == 1) { /* the last of its module */
        next[slot_of(module)] = make_uint2(place.x + length, place.y + 1);
    }
    __syncwarp();
    return place;
}

/* Makes of the numbers of digis and runs in each module where the first one goes. */
static __device__ void begin_modules(next_place *next, counts begin)
{
    typedef cub::BlockScan<uint32_t, THREADS> block_scan;
    __shared__ typename block_scan::TempStorage shared;
    uint32_t digis[MODULES_EACH], runs[MODULES_EACH];
    next_place *own = &next[slot_of(threadIdx.x * MODULES_EACH)];
    for (uint32_t k = 0; k < MODULES_EACH; k++) {
        digis[k] = own[k].x;
        runs[k] = own[k].y;
    }
    block_scan(shared).ExclusiveSum(digis, digis);
    __syncthreads();
    block_scan(shared).ExclusiveSum(runs, runs);
    for (uint32_t k = 0; k < MODULES_EACH; k++) {
        own[k] = make_uint2(begin.x + digis[k], begin.y + runs[k]);
    }
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS)
    place_runs(const slc_cms_cuda_decode job, const workspace work)
{
    __shared__ next_place next[MODULE_SLOTS];
    __shared__ uint32_t length[RUN_CHUNK];
    __shared__ uint16_t module[RUN_CHUNK];
    __shared__ next_place place[RUN_CHUNK];
    const counts begin = work.event_begin[blockIdx.x], end = work.event_begin[blockIdx.x + 1];
    if (begin.y == end.y) {
        return;
    }
    for (uint32_t m = threadIdx.x; m < MODULE_SLOTS; m += THREADS) {
        next[m] = make_uint2(0, 0);
    }
    __syncthreads();
    for (uint32_t r = begin.y + threadIdx.x; r < end.y; r += THREADS) {
        next_place *of_module = &next[slot_of(work.run_module[r])];
        atomicAdd(&of_module->x, run_length(work, r, end.y, end.x));
        atomicAdd(&of_module->y, 1U);
    }
    __syncthreads();
    begin_modules(next, begin);
    for (uint32_t first = begin.y; first < end.y; first += RUN_CHUNK) {
        const uint32_t n = min(end.y - first, static_cast<uint32_t>(RUN_CHUNK));
        for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
            module[i] = work.run_module[first + i];
            length[i] = run_length(work, first + i, end.y, end.x);
        }
        __syncthreads();
        /* What goes before depends on all runs before: one warp after the other is one warp. */
        for (uint32_t i = threadIdx.x; threadIdx.x < WARP && i - threadIdx.x < n; i += WARP) {
            const bool inside = i < n;
            const next_place to = place_warp(next, inside, inside ? module[i] : 0U, inside ? length[i] : 0U,
                                             threadIdx.x);
            if (inside) {
                place[i] = to;
            }
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
            const next_place to = place[i];
            work.sorted_to[to.y] = to.x;
            work.sorted_first[to.y] = work.run_first[first + i];
            work.sorted_raw[to.y] = work.run_raw[first + i];
            work.sorted_module[to.y] = module[i];
        }
        __syncthreads();
    }
}

/* ---- columns ----------------------------------------------------------------------------------- */

/* One digi on its way: where it is, and what it is. */
struct moved_digi {
    uint32_t source, packed, raw_id, module;
    slc_cms_calibrated became;
    uint16_t adc;
};

static __device__ void calibrate(const slc_cms_cuda_calibration &calibration, moved_digi *digi)
{
    digi->adc = static_cast<uint16_t>(digi->packed >> 22);
    digi->became = SLC_CMS_CALIBRATED_GOOD;
    if (!calibration.wanted) {
        return;
    }
    if (calibration.config.phase == SLC_CMS_PHASE2) {
        digi->adc = slc_cms_electrons_phase2(&calibration.config, digi->adc);
        return;
    }
    digi->became = slc_cms_calibrate_phase1(&calibration.config, &calibration.gains, digi->module,
                                            digi->packed & 2047U, digi->packed >> 11 & 2047U, &digi->adc);
    if (digi->became > SLC_CMS_CALIBRATED_NONE) {
        digi->module = SLC_CMS_NO_MODULE;
        digi->adc = 0;
    }
}

static __device__ void write_digi(const slc_cms_digis &digis, uint32_t to, const moved_digi &digi)
{
    digis.packed[to] = digi.packed;
    digis.raw_id[to] = digi.raw_id;
    digis.adc[to] = digi.adc;
    digis.x[to] = static_cast<uint16_t>(digi.packed & 2047U);
    digis.y[to] = static_cast<uint16_t>(digi.packed >> 11 & 2047U);
    digis.module[to] = static_cast<uint16_t>(digi.module);
}

/* A lane's run: first digi, where it goes, and where it begins among the digis of the warp's runs. */
struct lane_run {
    uint32_t first, to, raw_id, module, begin, length;
};

static __device__ lane_run load_run(const workspace &work, uint32_t r, uint32_t n_runs, uint32_t n_digis,
                                    uint32_t lane)
{
    lane_run run = {0, 0, 0, 0, 0, 0};
    if (lane < WARP_RUNS && r < n_runs) {
        run.first = work.sorted_first[r];
        run.to = work.sorted_to[r];
        run.raw_id = work.sorted_raw[r];
        run.module = work.sorted_module[r];
        run.length = (r + 1 < n_runs ? work.sorted_to[r + 1] : n_digis) - run.to;
    }
    uint32_t sum = run.length;
    for (uint32_t step = 1; step < WARP; step *= 2) {
        const uint32_t other = __shfl_up_sync(all_lanes, sum, step);
        sum += lane >= step ? other : 0;
    }
    run.begin = sum - run.length;
    return run;
}

/* Digi t of the warp: it is of the last run that begins at or before it (those behind the last begin at n).
 */
static __device__ moved_digi find_digi(const lane_run &run, uint32_t t)
{
    int from = 0;
    for (int step = WARP_RUNS / 2; step > 0; step /= 2) {
        const uint32_t begin = __shfl_sync(all_lanes, run.begin, from + step);
        from += begin <= t ? step : 0;
    }
    const uint32_t inside = t - __shfl_sync(all_lanes, run.begin, from);
    moved_digi digi;
    digi.source = __shfl_sync(all_lanes, run.first, from) + inside;
    digi.raw_id = __shfl_sync(all_lanes, run.raw_id, from);
    digi.module = __shfl_sync(all_lanes, run.module, from);
    return digi;
}

/* A warp takes few runs at a time, so that there is work for all, and of their digis several for each lane,
 * so that it waits for several loads at once. Runs are in the order of the result, so that what is written is
 * in one piece, and only what is read is scattered. */
static __global__ void __launch_bounds__(THREADS)
    write_digis(const slc_cms_cuda_decode job, const workspace work)
{
    __shared__ block_totals totals;
    clear_totals(&totals);
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t n_runs = work.event_begin[job.events].y, n_digis = work.event_begin[job.events].x;
    const uint32_t stride = gridDim.x * (THREADS / WARP) * WARP_RUNS;
    for (uint32_t first = (blockIdx.x * THREADS + threadIdx.x) / WARP * WARP_RUNS; first < n_runs;
         first += stride) {
        const lane_run run = load_run(work, first + lane, n_runs, n_digis, lane);
        const uint32_t n = __shfl_sync(all_lanes, run.begin + run.length, WARP - 1);
        const uint32_t to = __shfl_sync(all_lanes, run.to, 0);
        for (uint32_t t0 = 0; t0 < n; t0 += LANE_DIGIS * WARP) {
            moved_digi digi[LANE_DIGIS];
#pragma unroll
            for (uint32_t k = 0; k < LANE_DIGIS; k++) {
                digi[k] = find_digi(run, t0 + k * WARP + lane);
                digi[k].packed = t0 + k * WARP + lane < n ? work.packed[digi[k].source] : 0;
            }
#pragma unroll
            for (uint32_t k = 0; k < LANE_DIGIS; k++) {
                calibrate(job.calibration, &digi[k]);
            }
#pragma unroll
            for (uint32_t k = 0; k < LANE_DIGIS; k++) {
                if (t0 + k * WARP + lane < n) {
                    write_digi(job.digis, to + t0 + k * WARP + lane, digi[k]);
                    if (digi[k].became > SLC_CMS_CALIBRATED_NONE) {
                        atomicAdd(&totals.fault[digi[k].became], 1U);
                    }
                }
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        add_total(&job.totals->dead, totals.fault[SLC_CMS_CALIBRATED_DEAD]);
        add_total(&job.totals->noisy, totals.fault[SLC_CMS_CALIBRATED_NOISY]);
        add_total(&job.totals->beyond, totals.fault[SLC_CMS_CALIBRATED_BEYOND]);
    }
}

size_t slc_cms_cuda_decode_bound(uint32_t events, uint32_t tiles, size_t words)
{
    workspace work;
    return lay_out(nullptr, events, tiles, words, &work);
}

slc_status slc_cms_cuda_decode_run(const slc_cms_cuda_decode *job, uint32_t multiprocessors,
                                   struct CUstream_st *stream, slc_error *error)
{
    if (job->modules > SLC_CMS_CUDA_DECODE_MODULES) {
        return slc_fail(error, SLC_ERR_USAGE, "decode.modules is %u, must be at most %d", job->modules,
                        SLC_CMS_CUDA_DECODE_MODULES);
    }
    workspace work;
    (void)lay_out(job->work, job->events, job->tiles, job->words, &work);
    const uint32_t grid = multiprocessors * GRID_BLOCKS;
    count_words<<<grid, THREADS, 0, stream>>>(*job, work);
    if (job->events > 0) {
        scan_tiles<<<job->events, THREADS, 0, stream>>>(*job, work);
    }
    scan_events<<<1, THREADS, 0, stream>>>(*job, work);
    write_runs<<<grid, THREADS, 0, stream>>>(*job, work);
    if (job->events > 0) {
        place_runs<<<job->events, THREADS, 0, stream>>>(*job, work);
    }
    write_digis<<<grid, THREADS, 0, stream>>>(*job, work);
    return slc_cuda_check(cudaGetLastError(), "launching the decoder", error);
}
