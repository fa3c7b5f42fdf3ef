/* SPDX-License-Identifier: Apache-2.0
 *
 * Hits that tracks missed, on a GPU: a warp an event, one track after the other, as what one of them takes is
 * none of the others'. Hits that are left lie in the lanes; the few that are near a track are looked at one
 * by one, by all lanes alike: velo_track_pick.h.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
enum { WARPS = 4, LAYERS = SLC_VELO_LAYERS, BEYOND = 3, NONE = SLC_VELO_CUDA_NONE };
constexpr float NEAR2 = 0.25F;

struct event {
    uint32_t first, tracks;
    const uint16_t *begin;
};

/* The squared distance between a hit and the line through the nearest hits of the track on both sides of its
 * layer, beyond an end through the last two. Infinite for a module that has a hit of the track. */
__device__ __forceinline__ float distance2(const slc_velo_cuda_job &job, const event &v, const uint16_t *hits,
                                           uint32_t n, uint32_t hit)
{
    const slc_velo_cuda_hit *all = job.all + v.first;
    const uint8_t *place = job.place + v.first;
    const uint32_t module = place[hit], layer = module / 2;
    uint32_t down = 0;
    while (down < n && place[hits[down]] / 2U > layer) {
        down++;
    }
    uint32_t up = down;
    if (up < n && place[hits[up]] / 2U == layer) {
        if (place[hits[up]] == module) {
            return INFINITY;
        }
        up++;
    }
    const slc_velo_cuda_hit a = all[hits[down == 0 ? 0 : up < n ? up : n - 1]];
    const slc_velo_cuda_hit b = all[hits[down == 0 ? 1 : up < n ? down - 1 : n - 2]], h = all[hit];
    const float length = a.z - b.z, dz = h.z - a.z;
    const float tx = (a.x - b.x) / length, ty = (a.y - b.y) / length;
    const float dx = (h.x - a.x) - tx * dz, dy = (h.y - a.y) - ty * dz;
    return dx * dx + dy * dy;
}

/* What a track has found in the layer at hand. */
struct find {
    float best;
    uint32_t hit, layer;
};

__device__ __forceinline__ void pick(const slc_velo_cuda_job &job, const event &v, uint32_t t, uint32_t hit)
{
    if (hit != NONE && velo_lane() == 0) {
        job.used[v.first + hit] = 1;
        job.before[v.first + hit] = job.ended.picked[t];
        job.ended.picked[t] = (uint16_t)hit;
    }
    __syncwarp();
}

__device__ __forceinline__ void pick_up(const slc_velo_cuda_job &job, const event &v,
                                        const uint16_t *left_begin, uint32_t t)
{
    const slc_velo_cuda_hit *all = job.all + v.first, *left = job.left + v.first;
    const uint16_t *hits = job.list + v.first + job.ended.begin[t], *ids = job.left_id + v.first;
    const uint8_t *place = job.place + v.first;
    const uint32_t n = job.ended.n[t], top = place[hits[0]] / 2U + BEYOND, bottom = place[hits[n - 1]] / 2U;
    const slc_velo_cuda_hit a = all[hits[0]], b = all[hits[n - 1]];
    const float length = a.z - b.z, tx = (a.x - b.x) / length, ty = (a.y - b.y) / length;
    const uint32_t end = left_begin[min(top + 1, (uint32_t)LAYERS)];
    find found = {job.settings.pickup, NONE, LAYERS};
    for (uint32_t base = left_begin[bottom > BEYOND ? bottom - BEYOND : 0]; base < end; base += 32) {
        const uint32_t i = base + velo_lane();
        bool near = false;
        if (i < end) {
            const slc_velo_cuda_hit hit = left[i];
            near = velo_scatter(hit.x - b.x, hit.y - b.y, hit.z - b.z, tx, ty) < NEAR2;
        }
        for (uint32_t bits = __ballot_sync(velo_all_lanes, near); bits != 0; bits &= bits - 1) {
            const uint32_t hit = ids[base + (uint32_t)__ffs((int)bits) - 1], layer = place[hit] / 2U;
            const float distance = job.used[v.first + hit] != 0 ? INFINITY : distance2(job, v, hits, n, hit);
            if (layer != found.layer) {
                pick(job, v, t, found.hit);
                found = {job.settings.pickup, NONE, layer};
            }
            if (distance < found.best) {
                found.best = distance;
                found.hit = hit;
            }
        }
    }
    pick(job, v, t, found.hit);
}

/* What is left of all layers, one behind the other. */
__device__ __forceinline__ void list_left(const slc_velo_cuda_job &job, const event &v, uint16_t *left_begin)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < LAYERS; l++) {
        const uint32_t begin = v.begin[l];
        const uint8_t *used = job.used + v.first + begin;
        if (velo_lane() == 0) {
            left_begin[l] = (uint16_t)n;
        }
        n += velo_compact(job.left + v.first + n, job.left_id + v.first + n, job.all + v.first + begin,
                          v.begin[l + 1] - begin, [&](uint32_t k, uint16_t *id) {
                              *id = (uint16_t)(begin + k);
                              return used[k] == 0;
                          });
    }
    if (velo_lane() == 0) {
        left_begin[LAYERS] = (uint16_t)n;
    }
    __syncwarp();
}

__global__ void __launch_bounds__(32 * WARPS) pick_up_events(const slc_velo_cuda_job job)
{
    __shared__ uint16_t shared[WARPS][LAYERS + 1];
    uint16_t *left_begin = shared[threadIdx.x / 32];
    const uint32_t n = job.head->n_events;
    for (uint32_t e = velo_next_event(job, 3); e < n; e = velo_next_event(job, 3)) {
        if (job.searched[e] == 0) {
            continue;
        }
        event v;
        v.first = job.hit_offset[e];
        v.tracks = v.first / 3;
        v.begin = job.layer_begin + (size_t)e * (LAYERS + 1);
        list_left(job, v, left_begin);
        const uint32_t n_ended = job.n_ended[e];
        for (uint32_t t = 0; t < n_ended; t++) {
            pick_up(job, v, left_begin, v.tracks + t);
        }
        __syncwarp();
    }
}
} // namespace

slc_status slc_velo_cuda_pick_up(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                 struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(pick_up_events, 16 * multiprocessors, 32 * WARPS, 0, stream, *job);
    return slc_cuda_check(cudaGetLastError(), "picking up the VELO's hits", error);
}
