/* SPDX-License-Identifier: Apache-2.0
 *
 * Hits of events to the layers in which they are searched, a warp an event: where layers begin, directions,
 * and the hits of a layer sorted by these where one of the event's has many, as velo_track_run.c does it.
 * Events that are too much for these kernels are told.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
enum { WARPS = 4, LAYERS = SLC_VELO_LAYERS };

/* The direction of a hit: velo_track_tools.simd.c. */
__device__ __forceinline__ int32_t direction(float x, float y)
{
    const float sum = fabsf(x) + fabsf(y), part = sum > 0 ? y / sum : 0;
    const float angle = x >= 0 ? part : (y >= 0 ? 2.0F : -2.0F) - part;
    return (int32_t)((uint32_t)(int32_t)(angle * 262144.0F) << 12);
}

/* Counts the hits of layers. False where modules fall, or there is no such module. */
__device__ __forceinline__ bool count_layers(const uint8_t *module, uint32_t n, uint32_t *count)
{
    bool sound = true;
    if (velo_lane() < LAYERS) {
        count[velo_lane()] = 0;
    }
    __syncwarp();
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        const uint32_t m = module[i];
        sound = sound && m < SLC_VELO_MODULES && (i == 0 || module[i - 1] <= m);
        if (m < SLC_VELO_MODULES) {
            atomicAdd(&count[m / 2], 1U);
        }
    }
    __syncwarp();
    return __all_sync(velo_all_lanes, sound);
}

/* The hit at place i of the event, as it is seen from the beam line. */
__device__ __forceinline__ slc_velo_cuda_hit hit_at(const slc_velo_cuda_job &job, uint32_t i)
{
    slc_velo_cuda_hit hit;
    hit.x = job.x[i] - job.settings.beam_x;
    hit.y = job.y[i] - job.settings.beam_y;
    hit.z = job.z[i];
    hit.key = direction(hit.x, hit.y);
    return hit;
}

__device__ __forceinline__ void put(const slc_velo_cuda_job &job, uint32_t first, uint32_t to, uint32_t from,
                                    const slc_velo_cuda_hit &hit)
{
    job.all[first + to] = hit;
    job.origin[first + to] = (uint16_t)from;
    job.place[first + to] = job.module[first + from];
    job.used[first + to] = 0;
}

/* A layer whose hits go to the places that are the numbers of those with a smaller key, of equal ones of
 * those before them. `left` has the hits as they came. */
__device__ __forceinline__ void sort_layer(const slc_velo_cuda_job &job, uint32_t first, uint32_t begin,
                                           uint32_t end)
{
    const slc_velo_cuda_hit *from = job.left + first;
    for (uint32_t i = begin + velo_lane(); i < end; i += 32) {
        const int32_t key = from[i].key;
        uint32_t place = begin;
        for (uint32_t k = begin; k < end; k++) {
            const int32_t other = from[k].key;
            place += other < key || (other == key && k < i);
        }
        put(job, first, place, i, from[i]);
    }
}

__device__ __forceinline__ void take_event(const slc_velo_cuda_job &job, uint32_t e, uint32_t *count)
{
    const uint32_t first = job.hit_offset[e], n = job.hit_offset[e + 1] - first;
    const slc_velo_cuda_settings &settings = job.settings;
    bool searched = n > 0 && (settings.max_event_hits == 0 || n <= settings.max_event_hits);
    const bool sound = count_layers(job.module + first, n, count);
    const uint32_t mine = velo_lane() < LAYERS ? count[velo_lane()] : 0;
    const bool crowded = __any_sync(velo_all_lanes,
                                    mine > SLC_VELO_CUDA_LAYER || mine > settings.max_layer_hits);
    const bool sorted = __any_sync(velo_all_lanes, mine > SLC_VELO_CUDA_SMALL);
    if (searched && (!sound || crowded)) {
        searched = false;
        if (velo_lane() == 0) {
            job.flags[e] |= (uint32_t)SLC_VELO_CUDA_CROWDED;
        }
    }
    uint32_t all;
    const uint32_t begin = velo_sum_before(mine, &all);
    if (velo_lane() <= LAYERS) {
        job.layer_begin[(size_t)e * (LAYERS + 1) + velo_lane()] = (uint16_t)(searched ? begin : 0);
    }
    if (velo_lane() == 0) {
        job.searched[e] = (uint8_t)(!searched ? 0 : sorted ? SLC_VELO_CUDA_IS_LARGE : SLC_VELO_CUDA_IS_SMALL);
        job.n_ended[e] = job.n_listed[e] = job.n_tracks[e] = job.n_track_hits[e] = 0;
    }
    for (uint32_t i = velo_lane(); i < n && searched; i += 32) {
        const slc_velo_cuda_hit hit = hit_at(job, first + i);
        job.whole[first + i] = {job.x[first + i], job.y[first + i], hit.z, (int32_t)job.n_pixels[first + i]};
        if (sorted) {
            job.left[first + i] = hit;
        } else {
            put(job, first, i, i, hit);
        }
    }
    __syncwarp();
    for (uint32_t l = 0; l < LAYERS && searched && sorted; l++) {
        const uint32_t at = __shfl_sync(velo_all_lanes, begin, (int)l);
        sort_layer(job, first, at, at + __shfl_sync(velo_all_lanes, mine, (int)l));
    }
    __syncwarp();
}

__global__ void __launch_bounds__(32 * WARPS) make_layers(const slc_velo_cuda_job job)
{
    __shared__ uint32_t count[WARPS][LAYERS];
    const uint32_t n = job.head->n_events;
    for (uint32_t e = velo_next_event(job, 0); e < n; e = velo_next_event(job, 0)) {
        take_event(job, e, count[threadIdx.x / 32]);
    }
}

/* ---- offsets ----------------------------------------------------------------------------------------- */

enum { SCAN = 1024 };

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
    for (uint32_t base = 0; base < n; base += SCAN) {
        const uint32_t e = base + threadIdx.x;
        const uint32_t at = rows + sum_before(e < n && job.flags[e] == 0 ? count(e) : 0, of_warps, &all);
        rows += all;
        if (e < n) {
            to[e] = at;
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
    SLC_LAUNCH(make_layers, 12 * multiprocessors, 32 * WARPS, 0, stream, *job);
    return slc_cuda_check(cudaGetLastError(), "making the VELO's layers", error);
}
