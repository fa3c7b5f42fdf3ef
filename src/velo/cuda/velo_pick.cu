/* SPDX-License-Identifier: Apache-2.0
 *
 * Hits that tracks missed, on a GPU: a warp an event, one track after the other, as what one of them takes is
 * none of the others'. Layers lie in the lanes: what a track finds in one of them does not depend on the
 * others. Hits that are left are those of a layer by y, so that few of them are looked at: velo_track_pick.h.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
enum {
    WARPS = 4,
    LAYERS = SLC_VELO_LAYERS,
    BEYOND = 3,
    NONE = SLC_VELO_CUDA_NONE,
    BINS = 16, /* of y, in a layer */
    ALL_BINS = LAYERS * BINS
};
constexpr float NEAR = 0.5F, BIN = 4;

struct event {
    uint32_t first, tracks;
    const uint16_t *begin;
};

/* Of a warp: where the hits of layer l and bin b begin. */
struct left_hits {
    uint32_t begin[ALL_BINS + 1];
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

/* Never falls as y rises. */
__device__ __forceinline__ uint32_t bin_of(float y)
{
    const float at = y * (1 / BIN) + (float)(BINS / 2), held = at > 0 ? at : 0;
    return held < (float)(BINS - 1) ? (uint32_t)held : (uint32_t)(BINS - 1);
}

/* What is left of all layers, by layer and bin: count, sum, fill. */
__device__ __forceinline__ void list_left(const slc_velo_cuda_job &job, const event &v, left_hits &s)
{
    const uint32_t n = v.begin[LAYERS];
    const slc_velo_cuda_hit *all = job.all + v.first;
    const uint8_t *used = job.used + v.first, *place = job.place + v.first;
    for (uint32_t b = velo_lane(); b <= ALL_BINS; b += 32) {
        s.begin[b] = 0;
    }
    __syncwarp();
    for (uint32_t k = velo_lane(); k < n; k += 32) {
        if (used[k] == 0) {
            atomicAdd(&s.begin[place[k] / 2U * BINS + bin_of(all[k].y)], 1U);
        }
    }
    __syncwarp();
    uint32_t before = 0;
    for (uint32_t base = 0; base <= ALL_BINS; base += 32) {
        const uint32_t b = base + velo_lane(), mine = b <= ALL_BINS ? s.begin[b] : 0;
        uint32_t sum;
        const uint32_t at = before + velo_sum_before(mine, &sum) + mine;
        if (b <= ALL_BINS) {
            s.begin[b] = at; /* ends, which become beginnings */
        }
        before += sum;
    }
    __syncwarp();
    for (uint32_t k = velo_lane(); k < n; k += 32) {
        if (used[k] == 0) {
            const slc_velo_cuda_hit hit = all[k];
            const uint32_t at = atomicSub(&s.begin[place[k] / 2U * BINS + bin_of(hit.y)], 1U) - 1;
            job.left[v.first + at] = hit;
            job.left_id[v.first + at] = (uint16_t)k;
        }
    }
    __syncwarp();
}

/* Between which z the hits of a lane's layer lie. */
struct depth {
    float low, high;
};

__device__ __forceinline__ depth depth_of(const slc_velo_cuda_job &job, const event &v, const left_hits &s)
{
    depth d = {INFINITY, -INFINITY};
    const uint32_t layer = velo_lane() < LAYERS ? velo_lane() : 0;
    const uint32_t end = velo_lane() < LAYERS ? s.begin[(layer + 1) * BINS] : 0;
    for (uint32_t k = s.begin[layer * BINS]; k < end; k++) {
        const float z = job.left[v.first + k].z;
        d.low = min(d.low, z);
        d.high = max(d.high, z);
    }
    return d;
}

/* The hit that a track finds in the lane's layer; NONE without any. */
__device__ __forceinline__ uint32_t find(const slc_velo_cuda_job &job, const event &v, const left_hits &s,
                                         const depth &d, uint32_t t)
{
    const slc_velo_cuda_hit *all = job.all + v.first, *left = job.left + v.first;
    const uint16_t *hits = job.list + v.first + job.ended.begin[t], *ids = job.left_id + v.first;
    const uint8_t *place = job.place + v.first;
    const uint32_t n = job.ended.n[t], top = place[hits[0]] / 2U + BEYOND, bottom = place[hits[n - 1]] / 2U;
    const uint32_t layer = velo_lane();
    const slc_velo_cuda_hit a = all[hits[0]], b = all[hits[n - 1]];
    const float length = a.z - b.z, tx = (a.x - b.x) / length, ty = (a.y - b.y) / length;
    if (layer >= LAYERS || layer > top || layer + BEYOND < bottom) {
        return NONE;
    }
    const float one = ty * (d.low - b.z), other = ty * (d.high - b.z);
    const float room = NEAR + 1e-5F * (fabsf(b.y) + fabsf(one) + fabsf(other)) + 1e-4F;
    const float low = (b.y + min(one, other)) - room, high = (b.y + max(one, other)) + room;
    const bool known = low <= high; /* not of no numbers */
    const uint32_t end = s.begin[layer * BINS + (known ? bin_of(high) : (uint32_t)(BINS - 1)) + 1];
    float best = job.settings.pickup;
    uint32_t found = 0;
    for (uint32_t k = s.begin[layer * BINS + (known ? bin_of(low) : 0)]; k < end; k++) {
        const slc_velo_cuda_hit hit = left[k];
        if (velo_scatter(hit.x - b.x, hit.y - b.y, hit.z - b.z, tx, ty) < NEAR * NEAR) {
            const uint32_t id = ids[k];
            const float distance = job.used[v.first + id] != 0 ? INFINITY : distance2(job, v, hits, n, id);
            if (distance < best || (distance == best && id < found)) {
                best = distance;
                found = id;
            }
        }
    }
    return best < job.settings.pickup ? found : (uint32_t)NONE;
}

/* What was found becomes a list, the last layer's first. */
__device__ __forceinline__ void take(const slc_velo_cuda_job &job, const event &v, uint32_t t, uint32_t hit)
{
    const bool found = hit != NONE;
    const uint32_t bits = __ballot_sync(velo_all_lanes, found), below = bits & velo_lanes_below();
    const uint32_t before = __shfl_sync(velo_all_lanes, hit, below != 0 ? 31 - __clz((int)below) : 0);
    if (found) {
        job.used[v.first + hit] = 1;
        job.before[v.first + hit] = (uint16_t)(below != 0 ? before : (uint32_t)NONE);
        if (bits >> velo_lane() == 1) {
            job.ended.picked[t] = (uint16_t)hit;
        }
    }
    __syncwarp();
}

__global__ void __launch_bounds__(32 * WARPS) pick_up_events(const slc_velo_cuda_job job)
{
    __shared__ left_hits shared[WARPS];
    left_hits &s = shared[threadIdx.x / 32];
    const uint32_t n = job.head->n_events;
    for (uint32_t e = velo_next_event(job, 3); e < n; e = velo_next_event(job, 3)) {
        if (job.searched[e] == 0) {
            continue;
        }
        event v;
        v.first = job.hit_offset[e];
        v.tracks = v.first / 3;
        v.begin = job.layer_begin + (size_t)e * (LAYERS + 1);
        list_left(job, v, s);
        const depth d = depth_of(job, v, s);
        const uint32_t n_ended = job.n_ended[e];
        for (uint32_t t = 0; t < n_ended; t++) {
            take(job, v, v.tracks + t, find(job, v, s, d, v.tracks + t));
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
