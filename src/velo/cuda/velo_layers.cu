/* SPDX-License-Identifier: Apache-2.0
 *
 * Hits of events to the layers in which they are searched, a team an event: where layers begin, directions,
 * and the hits of a layer sorted by these where one of the event's has many, as velo_track_run.c does it.
 * Events that are too much for these kernels are told.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
enum { WARPS = 4, LAYERS = SLC_VELO_LAYERS, MODULES = SLC_VELO_MODULES, BINS = 256, BIN_AT = 24 };

/* Of a warp, of a layer: directions of its hits in the order of numbers, and the hits by bins of these. */
struct memory {
    uint32_t key[SLC_VELO_CUDA_LAYER], bin_begin[BINS + 1];
    uint16_t of_bins[SLC_VELO_CUDA_LAYER];
};

/* Of a team: where the hits of modules begin, too, and how much farther on they are among the clusters. */
template <uint32_t TEAM> struct team_memory : velo_team<TEAM> {
    memory of_layer[TEAM];
    uint32_t begin[MODULES + 1], raw[MODULES];
};

/* The direction of a hit: velo_track_tools.simd.c. */
__device__ __forceinline__ int32_t direction(float x, float y)
{
    const float sum = fabsf(x) + fabsf(y), part = sum > 0 ? y / sum : 0;
    const float angle = x >= 0 ? part : (y >= 0 ? 2.0F : -2.0F) - part;
    return (int32_t)((uint32_t)(int32_t)(angle * 262144.0F) << 12);
}

/* Counts the hits of modules. False where modules of hits that came as such fall, or there is no such one. */
template <uint32_t TEAM>
__device__ __forceinline__ bool count_modules(const slc_velo_cuda_job &job, uint32_t e, uint32_t first,
                                              uint32_t n, uint32_t *count, uint32_t *raw)
{
    bool sound = true;
    for (uint32_t m = velo_rank<TEAM>(); m < MODULES; m += 32 * TEAM) {
        const bool is = job.from_words != 0 && n > 0;
        const size_t of = (size_t)e * MODULES + m;
        const uint32_t hits = is ? job.module_hits[of] : 0, words = is ? job.sensor_begin[4 * of] : 0;
        count[m] = hits;
        raw[m] = 2 * words;
    }
    velo_team_sync<TEAM>();
    for (uint32_t i = velo_rank<TEAM>(); i < n && job.from_words == 0; i += 32 * TEAM) {
        const uint32_t m = job.module[first + i];
        sound = sound && m < MODULES && (i == 0 || job.module[first + i - 1] <= m);
        if (m < MODULES) {
            atomicAdd(&count[m], 1U);
        }
    }
    velo_team_sync<TEAM>();
    return !velo_team_any<TEAM>(!sound);
}

/* Hit i of the event as it came, with its pixels; *m becomes its module, which is that one or one behind it.
 * What came as hits is put where others are. */
template <uint32_t TEAM>
__device__ __forceinline__ slc_velo_cuda_hit hit_at(const slc_velo_cuda_job &job, const team_memory<TEAM> &s,
                                                    uint32_t first, uint32_t i, uint32_t *m)
{
    while (s.begin[*m + 1] <= i) {
        *m += 1;
    }
    if (job.from_words != 0) {
        return job.raw[s.raw[*m] + i];
    }
    const uint32_t at = first + i;
    const slc_velo_cuda_hit hit = {job.x[at], job.y[at], job.z[at], (int32_t)job.n_pixels[at]};
    job.raw[at] = hit;
    return hit;
}

__device__ __forceinline__ void put(const slc_velo_cuda_job &job, uint32_t first, uint32_t to,
                                    uint32_t module, const slc_velo_cuda_hit &hit)
{
    job.all[first + to] = hit;
    job.place[first + to] = (uint8_t)module;
    job.used[first + to] = 0;
}

/* The n hits of a layer from `from` on by bins of their directions: count, sum, fill. */
__device__ __forceinline__ void fill_bins(memory &s, const slc_velo_cuda_hit *from, uint32_t n)
{
    enum { EACH = BINS / 32 };
    for (uint32_t b = velo_lane(); b <= BINS; b += 32) {
        s.bin_begin[b] = 0;
    }
    __syncwarp();
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        s.key[i] = (uint32_t)from[i].key ^ 0x80000000U;
        atomicAdd(&s.bin_begin[s.key[i] >> BIN_AT], 1U);
    }
    __syncwarp();
    uint32_t sum = 0, all;
    for (uint32_t b = 0; b < EACH; b++) {
        sum += s.bin_begin[EACH * velo_lane() + b];
    }
    uint32_t before = velo_sum_before(sum, &all);
    for (uint32_t b = 0; b < EACH; b++) {
        before += s.bin_begin[EACH * velo_lane() + b];
        s.bin_begin[EACH * velo_lane() + b] = before; /* ends, which become beginnings */
    }
    if (velo_lane() == 0) {
        s.bin_begin[BINS] = n;
    }
    __syncwarp();
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        s.of_bins[atomicSub(&s.bin_begin[s.key[i] >> BIN_AT], 1U) - 1] = (uint16_t)i;
    }
    __syncwarp();
}

/* A layer whose hits go to the places that are the numbers of those with a smaller key, of equal ones of
 * those before them. `left` has the hits as they came; those from `odd` on are of the layer's second module.
 */
__device__ __forceinline__ void sort_layer(const slc_velo_cuda_job &job, memory &s, uint32_t first,
                                           uint32_t layer, uint32_t begin, uint32_t odd, uint32_t end)
{
    const slc_velo_cuda_hit *from = job.left + first + begin;
    const uint32_t n = end - begin;
    fill_bins(s, from, n);
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        const uint32_t mine = s.key[i], bin = mine >> BIN_AT, bin_end = s.bin_begin[bin + 1];
        uint32_t place = s.bin_begin[bin];
        for (uint32_t k = s.bin_begin[bin]; k < bin_end; k++) {
            const uint32_t other = s.of_bins[k], key = s.key[other];
            place += key < mine || (key == mine && other < i);
        }
        put(job, first, begin + place, 2 * layer + (begin + i >= odd), from[i]);
        job.origin[first + begin + place] = (uint16_t)(begin + i);
    }
    __syncwarp();
}

/* Hits of an event to their places; those of a layer that is sorted later to the side. The next one is read
 * before one is looked at. */
template <uint32_t TEAM>
__device__ __forceinline__ void place_hits(const slc_velo_cuda_job &job, const team_memory<TEAM> &s,
                                           uint32_t first, uint32_t n, bool sorted)
{
    const slc_velo_cuda_settings &settings = job.settings;
    uint32_t next_m = 0;
    slc_velo_cuda_hit next = {};
    if (velo_rank<TEAM>() < n) {
        next = hit_at<TEAM>(job, s, first, velo_rank<TEAM>(), &next_m);
    }
#pragma unroll 1
    for (uint32_t i = velo_rank<TEAM>(); i < n; i += 32 * TEAM) {
        const uint32_t m = next_m;
        slc_velo_cuda_hit hit = next;
        if (i + 32 * TEAM < n) {
            next = hit_at<TEAM>(job, s, first, i + 32 * TEAM, &next_m);
        }
        hit.x -= settings.beam_x;
        hit.y -= settings.beam_y;
        hit.key = direction(hit.x, hit.y);
        if (sorted) {
            job.left[first + i] = hit;
            job.module[first + i] = (uint8_t)m;
        } else {
            put(job, first, i, m, hit);
        }
    }
    velo_team_sync<TEAM>();
}

template <uint32_t TEAM>
__device__ __forceinline__ void take_event(const slc_velo_cuda_job &job, uint32_t e, team_memory<TEAM> &s)
{
    uint32_t *begin = s.begin;
    const uint32_t first = job.hit_offset[e], n = job.hit_offset[e + 1] - first, lane = velo_lane();
    const slc_velo_cuda_settings &settings = job.settings;
    bool searched = n > 0 && (settings.max_event_hits == 0 || n <= settings.max_event_hits);
    const bool sound = count_modules<TEAM>(job, e, first, n, begin, s.raw);
    const uint32_t even = lane < LAYERS ? begin[2 * lane] : 0, odd = lane < LAYERS ? begin[2 * lane + 1] : 0;
    const uint32_t mine = even + odd;
    const bool crowded = __any_sync(velo_all_lanes,
                                    mine > SLC_VELO_CUDA_LAYER || mine > settings.max_layer_hits);
    const bool sorted = __any_sync(velo_all_lanes, mine > SLC_VELO_CUDA_SMALL);
    const bool large = __any_sync(velo_all_lanes, mine > SLC_VELO_CUDA_MIDDLE);
    const bool is_first = velo_rank_of_warp<TEAM>() == 0; /* all warps know what this one writes */
    velo_team_sync<TEAM>();
    if (searched && (!sound || crowded)) {
        searched = false;
        if (is_first && lane == 0) {
            job.flags[e] |= (uint32_t)SLC_VELO_CUDA_CROWDED;
        }
    }
    uint32_t all;
    const uint32_t before = velo_sum_before(mine, &all);
    if (is_first && lane <= LAYERS) {
        job.layer_begin[(size_t)e * (LAYERS + 1) + lane] = (uint16_t)(searched ? before : 0);
        begin[2 * lane] = before;
    }
    if (is_first && lane < LAYERS) {
        begin[2 * lane + 1] = before + even;
        const uint32_t raw = job.from_words != 0 ? s.raw[2 * lane] - before : first;
        const uint32_t odd_raw = job.from_words != 0 ? s.raw[2 * lane + 1] - (before + even) : first;
        uint32_t *to = job.module_raw + (size_t)e * MODULES + 2 * lane;
        to[0] = s.raw[2 * lane] = raw;
        to[1] = s.raw[2 * lane + 1] = odd_raw;
    }
    if (is_first && lane == 0) {
        job.searched[e] = (uint8_t)(!searched ? 0
                                    : large   ? SLC_VELO_CUDA_IS_LARGE
                                    : sorted  ? SLC_VELO_CUDA_IS_MIDDLE
                                              : SLC_VELO_CUDA_IS_SMALL);
        job.n_ended[e] = job.n_listed[e] = job.n_tracks[e] = job.n_track_hits[e] = 0;
    }
    velo_team_sync<TEAM>();
    if (searched) {
        place_hits<TEAM>(job, s, first, n, sorted);
    }
    const uint32_t warp = velo_warp<TEAM>();
    for (uint32_t l = warp; l < LAYERS && searched && sorted; l += TEAM) {
        sort_layer(job, s.of_layer[warp], first, l, begin[2 * l], begin[2 * l + 1], begin[2 * l + 2]);
    }
    velo_team_sync<TEAM>();
}

template <uint32_t TEAM> constexpr uint32_t threads_of = 32 * (TEAM > 1 ? TEAM : (uint32_t)WARPS);

template <uint32_t TEAM>
__global__ void __launch_bounds__(threads_of<TEAM>) make_layers(const slc_velo_cuda_job job)
{
    __shared__ team_memory<TEAM> shared[TEAM > 1 ? 1 : WARPS];
    team_memory<TEAM> &s = shared[TEAM > 1 ? 0 : threadIdx.x / 32];
    const uint32_t n = job.head->n_events;
    for (uint32_t e = velo_next_event<TEAM>(s, job, SLC_VELO_CUDA_NEXT_LAYERS); e < n;
         e = velo_next_event<TEAM>(s, job, SLC_VELO_CUDA_NEXT_LAYERS)) {
        take_event<TEAM>(job, e, s);
    }
}

/* ---- offsets ----------------------------------------------------------------------------------------- */

enum { SCAN = 1024, EACH = 4 /* events of a thread */ };

/* The sum over the threads before this one; *all gets that of all. */
__device__ __forceinline__ uint32_t sum_before(uint32_t value, uint32_t *of_warps, uint32_t *all)
{
    const uint32_t warp = threadIdx.x / 32;
    uint32_t of_warp, of_all;
    const uint32_t before = velo_sum_before(value, &of_warp);
    if (velo_lane() == 0) {
        of_warps[warp] = of_warp;
    }
    __syncthreads();
    const uint32_t warps = velo_sum_before(of_warps[velo_lane()], &of_all);
    const uint32_t mine = __shfl_sync(velo_all_lanes, warps, (int)warp);
    __syncthreads();
    *all = of_all;
    return mine + before;
}

/* One block: offsets of so many rows of each event, of those that are the processor's none; returns all. */
template <typename Count>
__device__ __forceinline__ uint32_t sum_rows(const slc_velo_cuda_job &job, uint32_t *of_warps, uint32_t *to,
                                             const Count &count)
{
    const uint32_t n = job.head->n_events;
    uint32_t rows = 0, all;
    for (uint32_t base = 0; base < n; base += SCAN * EACH) {
        const uint32_t first = base + threadIdx.x * EACH;
        uint32_t flags[EACH], of[EACH], sum = 0;
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) { /* all are read before one is looked at */
            const bool is = first + j < n;
            flags[j] = is ? job.flags[first + j] : 1;
            of[j] = is ? count(first + j) : 0;
        }
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) {
            of[j] = flags[j] == 0 ? of[j] : 0;
            sum += of[j];
        }
        uint32_t at = rows + sum_before(sum, of_warps, &all);
        rows += all;
#pragma unroll
        for (uint32_t j = 0; j < EACH; j++) {
            if (first + j < n) {
                to[first + j] = at;
            }
            at += of[j];
        }
    }
    if (threadIdx.x == 0) {
        to[n] = rows;
    }
    return rows;
}

__global__ void __launch_bounds__(SCAN) sum_offsets(const slc_velo_cuda_job job, slc_velo_cuda_of of)
{
    __shared__ uint32_t of_warps[SCAN / 32];
    uint32_t rows, hits = 0;
    if (of == SLC_VELO_CUDA_OF_HITS) {
        rows = sum_rows(job, of_warps, job.hit_offset,
                        [&](uint32_t e) { return (uint32_t)(job.sums[e] >> SLC_VELO_CUDA_HITS_AT); });
    } else if (of == SLC_VELO_CUDA_OF_TRACKS) {
        rows = sum_rows(job, of_warps, job.track_offset, [&](uint32_t e) { return job.n_tracks[e]; });
        hits = sum_rows(job, of_warps, job.track_hit_offset, [&](uint32_t e) { return job.n_track_hits[e]; });
    } else {
        rows = sum_rows(job, of_warps, job.primary_offset, [&](uint32_t e) { return job.n_primaries[e]; });
    }
    if (threadIdx.x == 0) {
        slc_velo_cuda_head *head = job.head;
        *(of == SLC_VELO_CUDA_OF_HITS     ? &head->n_hits
          : of == SLC_VELO_CUDA_OF_TRACKS ? &head->n_tracks
                                          : &head->n_primaries) = rows;
        head->n_track_hits = of == SLC_VELO_CUDA_OF_TRACKS ? hits : head->n_track_hits;
    }
}
} // namespace

slc_status slc_velo_cuda_offsets(const slc_velo_cuda_job *job, slc_velo_cuda_of of,
                                 struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(sum_offsets, 1, SCAN, 0, stream, *job, of);
    return slc_cuda_check(cudaGetLastError(), "summing the VELO's rows", error);
}

slc_status slc_velo_cuda_layers(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                struct CUstream_st *stream, slc_error *error)
{
    if (job->teams != 0) {
        SLC_LAUNCH((make_layers<SLC_VELO_CUDA_TEAM>), 6 * multiprocessors, threads_of<SLC_VELO_CUDA_TEAM>, 0,
                   stream, *job);
    } else {
        SLC_LAUNCH((make_layers<1>), 12 * multiprocessors, threads_of<1>, 0, stream, *job);
    }
    return slc_cuda_check(cudaGetLastError(), "making the VELO's layers", error);
}
