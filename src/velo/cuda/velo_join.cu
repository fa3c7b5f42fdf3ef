/* SPDX-License-Identifier: Apache-2.0
 *
 * Broken tracks joined, and tracks as columns, on a GPU: a team an event. One track after the other looks at
 * all others, which lie in the lanes, if there may be one of like slopes: velo_track_join.h.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
enum { WARPS = 4, NONE = SLC_VELO_CUDA_NONE };

/* Where an event's hits and tracks begin, how many tracks have ended, and which hit is which of the event,
 * where layers are sorted; nothing where they are as they came. */
struct event {
    uint32_t first, tracks, n;
    const uint16_t *origin;
};

__device__ __forceinline__ void set_slopes(const slc_velo_cuda_ended &d, uint32_t t)
{
    const float dz = d.z0[t] - d.z1[t];
    d.tx[t] = (d.x0[t] - d.x1[t]) / dz;
    d.ty[t] = (d.y0[t] - d.y1[t]) / dz;
}

/* How many hits a track has, where nothing will be joined to it. */
__device__ __forceinline__ void set_hits(const slc_velo_cuda_job &job, const event &v, uint32_t t)
{
    const slc_velo_cuda_ended &d = job.ended;
    uint32_t n = d.n[t];
#pragma unroll 1
    for (uint32_t picked = d.picked[t]; picked != NONE; picked = job.before[v.first + picked]) {
        n++;
    }
    d.hits[t] = (uint16_t)n;
    d.next[t] = NONE;
    d.gone[t] = 0;
}

/* Ends, slopes and hits of a track, before anything is joined to it. All is read before anything is written,
 * as the compiler cannot know that it may be. */
__device__ __forceinline__ void set_ends(const slc_velo_cuda_job &job, const event &v, uint32_t t,
                                         slc_velo_cuda_hit first, slc_velo_cuda_hit last, uint32_t n,
                                         uint32_t picked)
{
    const slc_velo_cuda_ended &d = job.ended;
    const slc_velo_cuda_hit *all = job.all + v.first;
#pragma unroll 1
    for (; picked != NONE; picked = job.before[v.first + picked]) {
        const slc_velo_cuda_hit hit = all[picked];
        first = hit.z > first.z ? hit : first;
        last = hit.z < last.z ? hit : last;
        n++;
    }
    d.hits[t] = (uint16_t)n;
    d.next[t] = NONE;
    d.gone[t] = 0;
    const float dz = first.z - last.z, tx = (first.x - last.x) / dz, ty = (first.y - last.y) / dz;
    d.x0[t] = first.x;
    d.y0[t] = first.y;
    d.z0[t] = first.z;
    d.x1[t] = last.x;
    d.y1[t] = last.y;
    d.z1[t] = last.z;
    d.tx[t] = d.own_tx[t] = tx;
    d.ty[t] = d.own_ty[t] = ty;
}

/* All tracks: what one needs takes three looks, one of them for the next track and one for the one behind it.
 */
template <uint32_t TEAM>
__device__ __forceinline__ void set_all_ends(const slc_velo_cuda_job &job, const event &v)
{
    const slc_velo_cuda_ended &d = job.ended;
    const slc_velo_cuda_hit *all = job.all + v.first;
    const uint16_t *list = job.list + v.first;
    const uint32_t end = v.tracks + v.n, step = 32 * TEAM;
    uint32_t t = v.tracks + velo_rank<TEAM>();
    if (t >= end) {
        return;
    }
    if (!(job.settings.merge > 0)) {
#pragma unroll 1
        for (; t < end; t += step) {
            set_hits(job, v, t);
        }
        return;
    }
    uint32_t n = d.n[t], picked = d.picked[t], begin = d.begin[t], at = min(t + step, end - 1);
    uint32_t next_n = d.n[at], next_picked = d.picked[at], next_begin = d.begin[at];
    uint32_t first = list[begin], last = list[begin + n - 1];
#pragma unroll 1
    for (; t < end; t += step) {
        const slc_velo_cuda_hit first_hit = all[first], last_hit = all[last];
        const uint32_t of = n, picked_of = picked;
        first = list[next_begin];
        last = list[next_begin + next_n - 1];
        n = next_n;
        picked = next_picked;
        at = min(t + 2 * step, end - 1);
        next_n = d.n[at];
        next_picked = d.picked[at];
        next_begin = d.begin[at];
        set_ends(job, v, t, first_hit, last_hit, of, picked_of);
    }
}

/* Does b, which is like a in both slopes, go on upstream of it? */
__device__ __forceinline__ bool goes_on(const slc_velo_cuda_job &job, uint32_t a, uint32_t b)
{
    const slc_velo_cuda_ended &d = job.ended;
    const float reach = job.settings.merge;
    const float ex = d.x0[b] - d.x1[a], ey = d.y0[b] - d.y1[a], ez = d.z0[b] - d.z1[a];
    return d.gone[b] == 0 && ez < 0 && velo_scatter(ex, ey, ez, d.tx[a], d.ty[a]) < reach &&
           velo_scatter(ex, ey, ez, d.own_tx[b], d.own_ty[b]) < reach;
}

/* The first track from `from` on that goes on upstream of a; n where there is none. */
__device__ __forceinline__ uint32_t partner(const slc_velo_cuda_job &job, const event &v, uint32_t a,
                                            uint32_t from)
{
    const slc_velo_cuda_ended &d = job.ended;
    const float tx = d.tx[v.tracks + a], ty = d.ty[v.tracks + a], slope = job.settings.merge_slope;
#pragma unroll 1
    for (uint32_t base = from; base < v.n; base += 32) {
        const uint32_t b = base + velo_lane(), at = v.tracks + (b < v.n ? b : base);
        const bool alike = b < v.n && fabsf(tx - d.own_tx[at]) < slope && fabsf(ty - d.own_ty[at]) < slope;
        if (__any_sync(velo_all_lanes, alike)) {
            const bool good = alike && goes_on(job, v.tracks + a, at);
            const uint32_t bits = __ballot_sync(velo_all_lanes, good);
            if (bits != 0) {
                return base + (uint32_t)__ffs((int)bits) - 1;
            }
        }
    }
    return v.n;
}

/* Track b becomes the end of a: by one lane. */
__device__ __forceinline__ void append(const slc_velo_cuda_ended &d, uint32_t tracks, uint32_t a, uint32_t b)
{
    uint32_t end = tracks + a;
    while (d.next[end] != NONE) {
        end = tracks + d.next[end];
    }
    d.next[end] = (uint16_t)b;
    a += tracks;
    b += tracks;
    d.gone[b] = 1;
    d.hits[a] = (uint16_t)(d.hits[a] + d.hits[b]);
    d.x1[a] = d.x1[b];
    d.y1[a] = d.y1[b];
    d.z1[a] = d.z1[b];
    set_slopes(d, a);
}

__device__ __forceinline__ void join(const slc_velo_cuda_job &job, const event &v, uint32_t a)
{
    const slc_velo_cuda_ended &d = job.ended;
    uint32_t b = d.gone[v.tracks + a] != 0 ? v.n : partner(job, v, a, 0);
    while (b < v.n) {
        if (b != a && d.hits[v.tracks + a] + d.hits[v.tracks + b] <= SLC_VELO_MAX_TRACK_HITS) {
            __syncwarp();
            if (velo_lane() == 0) {
                append(d, v.tracks, a, b);
            }
            __syncwarp();
        }
        b = partner(job, v, a, b + 1);
    }
}

/* Cells of slopes that are as wide as slopes may differ, as bits of a table: is there a track, are there two?
 */
enum { CELLS = 1 << 14, FARTHEST = 4096 };
template <uint32_t TEAM> struct cells : velo_team<TEAM> {
    uint32_t one[CELLS / 32], two[CELLS / 32];
};

__device__ __forceinline__ int32_t cell_of(float slope, float cells)
{
    const float at = slope * cells;
    return fabsf(at) < (float)FARTHEST ? (int32_t)floorf(at) : at < 0 ? -FARTHEST : FARTHEST;
}

constexpr uint32_t MIX_X = 73856093U, MIX_Y = 19349663U;
__device__ __forceinline__ uint32_t place_of(uint32_t x, uint32_t y) /* times MIX_X, MIX_Y */
{
    const uint32_t mixed = x ^ y;
    return (mixed ^ mixed >> 15) % CELLS;
}

/* Marks tracks that may have another one with like slopes: all others need not be looked at. */
template <uint32_t TEAM>
__device__ __forceinline__ void mark_alike(const slc_velo_cuda_job &job, const event &v, cells<TEAM> &s)
{
    const slc_velo_cuda_ended &d = job.ended;
    const float per_slope = 1.0F / (job.settings.merge_slope * 1.001F);
#pragma unroll 4
    for (uint32_t k = velo_rank<TEAM>(); k < CELLS / 32; k += 32 * TEAM) {
        s.one[k] = s.two[k] = 0;
    }
    velo_team_sync<TEAM>();
#pragma unroll 1
    for (uint32_t t = velo_rank<TEAM>(); t < v.n; t += 32 * TEAM) {
        const uint32_t at = v.tracks + t;
        const uint32_t place = place_of((uint32_t)cell_of(d.own_tx[at], per_slope) * MIX_X,
                                        (uint32_t)cell_of(d.own_ty[at], per_slope) * MIX_Y);
        const uint32_t bit = 1U << place % 32;
        if ((atomicOr(&s.one[place / 32], bit) & bit) != 0) {
            atomicOr(&s.two[place / 32], bit);
        }
    }
    velo_team_sync<TEAM>();
#pragma unroll 1
    for (uint32_t base = velo_rank_of_warp<TEAM>(); base < v.n; base += 32 * TEAM) {
        const uint32_t at = v.tracks + min(base + velo_lane(), v.n - 1);
        const uint32_t x = (uint32_t)cell_of(d.own_tx[at], per_slope) * MIX_X;
        const uint32_t y = (uint32_t)cell_of(d.own_ty[at], per_slope) * MIX_Y;
        uint32_t near = 0, row = y - MIX_Y;
        __syncwarp(); /* else lanes go on by themselves */
#pragma unroll 1
        for (uint32_t k = 0; k < 3; k++, row += MIX_Y) {
            const uint32_t low = place_of(x - MIX_X, row), mid = place_of(x, row),
                           high = place_of(x + MIX_X, row);
            const uint32_t *middle = k == 1 ? s.two : s.one;
            near |= s.one[low / 32] >> low % 32 | middle[mid / 32] >> mid % 32 |
                    s.one[high / 32] >> high % 32;
        }
        d.alike[at] = near & 1;
    }
    velo_team_sync<TEAM>();
}

/* Those of the marked tracks, in their order, on the device: where hits of tracks are written later. */
template <uint32_t TEAM>
__device__ __forceinline__ uint32_t list_alike(const slc_velo_cuda_job &job, const event &v, cells<TEAM> &s)
{
    uint16_t *list = job.loose_hit + v.first;
    uint32_t n = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < v.n; base += 32 * TEAM) {
        const uint32_t t = base + velo_rank<TEAM>();
        const bool alike = t < v.n && job.ended.alike[v.tracks + t] != 0;
        uint32_t all;
        const uint32_t at = n + velo_team_place<TEAM>(s, alike, &all);
        if (alike) {
            list[at] = (uint16_t)t;
        }
        n += all;
    }
    velo_team_sync<TEAM>();
    return n;
}

/* Which of the 32 tracks from `base` of the list on are like the lane's in both slopes, as bits. */
__device__ __forceinline__ uint32_t alike_of(const slc_velo_cuda_job &job, const event &v, uint32_t base,
                                             uint32_t n, float tx, float ty)
{
    const uint32_t at = v.tracks + job.loose_hit[v.first + min(base + velo_lane(), n - 1)];
    const float of_tx = job.ended.own_tx[at], of_ty = job.ended.own_ty[at], slope = job.settings.merge_slope;
    const uint32_t most = min(n - base, 32U);
    uint32_t bits = 0;
#pragma unroll 4
    for (uint32_t k = 0; k < most; k++) {
        const float x = __shfl_sync(velo_all_lanes, of_tx, (int)k),
                    y = __shfl_sync(velo_all_lanes, of_ty, (int)k);
        bits |= (fabsf(tx - x) < slope && fabsf(ty - y) < slope ? 1U : 0U) << k;
    }
    return bits;
}

/* Leaves marks of those alone that some track goes on upstream of, as all are before any is joined: what a
 * track finds first does not depend on others' joining but for those that are gone by then. */
template <uint32_t TEAM>
__device__ __forceinline__ void mark_broken(const slc_velo_cuda_job &job, const event &v, cells<TEAM> &s)
{
    const uint16_t *list = job.loose_hit + v.first;
    const uint32_t n = list_alike<TEAM>(job, v, s);
#pragma unroll 1
    for (uint32_t base = velo_rank_of_warp<TEAM>(); base < n; base += 32 * TEAM) {
        const uint32_t t = list[min(base + velo_lane(), n - 1)], at = v.tracks + t;
        const float tx = job.ended.tx[at], ty = job.ended.ty[at];
        bool broken = false;
#pragma unroll 1
        for (uint32_t other = 0; other < n; other += 32) {
            uint32_t bits = alike_of(job, v, other, n, tx, ty);
#pragma unroll 1
            for (; bits != 0 && !broken; bits &= bits - 1) {
                const uint32_t b = list[other + (uint32_t)__ffs((int)bits) - 1];
                broken = b != t && goes_on(job, at, v.tracks + b);
            }
            __syncwarp();
        }
        job.ended.alike[at] = broken;
    }
    velo_team_sync<TEAM>();
}

/* ---- columns ----------------------------------------------------------------------------------------- */

/* The numbers of a track's hits, as they are in layers, or with `origin` in the event: four are read at a
 * time, before they are written. */
__device__ __forceinline__ void write_hits(const uint16_t *list, const uint16_t *origin, uint32_t n,
                                           uint16_t *to)
{
#pragma unroll 1
    for (uint32_t k = 0; k < n; k += 4) {
        uint16_t hit[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            hit[j] = list[min(k + j, n - 1)];
            hit[j] = origin != nullptr ? origin[hit[j]] : hit[j];
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            if (k + j < n) {
                to[k + j] = hit[j];
            }
        }
    }
}

/* A hit goes in front of those of the n behind each other at the end that have a smaller z: four are read at
 * a time. */
__device__ __forceinline__ void put_in(const slc_velo_cuda_hit *all, uint32_t n, uint32_t hit, uint16_t *to)
{
    const float z = all[hit].z;
    uint32_t at = n;
#pragma unroll 1
    for (bool goes_on = true; goes_on;) {
        uint16_t before[4];
        float of[4];
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            before[j] = to[at > j ? at - 1 - j : 0];
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            of[j] = all[before[j]].z;
        }
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            goes_on = goes_on && at > 0 && of[j] < z;
            if (goes_on) {
                to[at--] = before[j];
            }
        }
    }
    to[at] = (uint16_t)hit;
}

/* A track's hits, in its parts one after the other; those picked up are put in by falling z. */
__device__ __forceinline__ void write_parts(const slc_velo_cuda_job &job, const event &v, uint32_t t,
                                            uint16_t *to, float *scatter)
{
    const slc_velo_cuda_ended &d = job.ended;
    const slc_velo_cuda_hit *all = job.all + v.first;
    uint32_t n = 0;
    *scatter = 0;
#pragma unroll 1
    for (uint32_t part = t; part != NONE; part = d.next[v.tracks + part]) {
        const uint32_t of = v.tracks + part, n_list = d.n[of];
        const uint16_t *list = job.list + v.first + d.begin[of];
        write_hits(list, nullptr, n_list, to + n);
        n += n_list;
#pragma unroll 1
        for (uint32_t hit = d.picked[of]; hit != NONE; hit = job.before[v.first + hit]) {
            put_in(all, n++, hit, to);
        }
        *scatter += d.scatter[of];
    }
#pragma unroll 1
    for (uint32_t k = 0; k < n && v.origin != nullptr; k++) {
        to[k] = v.origin[to[k]];
    }
}

__device__ __forceinline__ void write_track(const slc_velo_cuda_job &job, const event &v, uint32_t t,
                                            uint16_t *to, float *scatter)
{
    const slc_velo_cuda_ended &d = job.ended;
    const uint32_t at = v.tracks + t;
    if (d.next[at] == NONE && d.picked[at] == NONE) {
        *scatter = d.scatter[at];
        write_hits(job.list + v.first + d.begin[at], v.origin, d.n[at], to);
    } else {
        write_parts(job, v, t, to, scatter);
    }
}

template <uint32_t TEAM>
__device__ __forceinline__ void write_tracks(const slc_velo_cuda_job &job, const event &v, cells<TEAM> &s,
                                             uint32_t e)
{
    enum { TRACK = 1 << 16 }; /* above the hits, of which a track has 255 at most */
    uint32_t tracks = 0, hits = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < v.n; base += 32 * TEAM) {
        const uint32_t t = base + velo_rank<TEAM>();
        const bool kept = t < v.n && job.ended.gone[v.tracks + t] == 0;
        const uint32_t n = kept ? job.ended.hits[v.tracks + t] : 0;
        uint32_t more;
        const uint32_t at = velo_team_sum_before<TEAM>(s, kept ? TRACK | n : 0, &more);
        if (kept) {
            const uint32_t to = v.tracks + tracks + at / TRACK;
            job.loose_n[to] = (uint16_t)n;
            write_track(job, v, t, job.loose_hit + v.first + hits + at % TRACK, &job.loose_scatter[to]);
        }
        tracks += more / TRACK;
        hits += more % TRACK;
    }
    if (velo_rank<TEAM>() == 0) {
        job.n_tracks[e] = tracks;
        job.n_track_hits[e] = hits;
    }
}

/* Marked tracks one after the other: by one warp. */
__device__ __forceinline__ void join_broken(const slc_velo_cuda_job &job, const event &v)
{
#pragma unroll 1
    for (uint32_t base = 0; base < v.n; base += 32) {
        const uint32_t t = base + velo_lane();
        const bool alike = t < v.n && job.ended.alike[v.tracks + t] != 0;
        for (uint32_t bits = __ballot_sync(velo_all_lanes, alike); bits != 0; bits &= bits - 1) {
            join(job, v, base + (uint32_t)__ffs((int)bits) - 1);
        }
    }
}

template <uint32_t TEAM> constexpr uint32_t threads_of = 32 * (TEAM > 1 ? TEAM : (uint32_t)WARPS);

template <uint32_t TEAM>
__global__ void __launch_bounds__(threads_of<TEAM>) join_events(const slc_velo_cuda_job job)
{
    __shared__ cells<TEAM> shared[TEAM > 1 ? 1 : WARPS];
    cells<TEAM> &s = shared[TEAM > 1 ? 0 : threadIdx.x / 32];
    const uint32_t n = job.head->n_events;
    for (uint32_t e = velo_next_event<TEAM>(s, job, SLC_VELO_CUDA_NEXT_JOIN); e < n;
         e = velo_next_event<TEAM>(s, job, SLC_VELO_CUDA_NEXT_JOIN)) {
        if (job.searched[e] == 0) {
            continue;
        }
        event v;
        v.first = job.hit_offset[e];
        v.tracks = v.first / 3;
        v.n = job.n_ended[e];
        v.origin = job.searched[e] == SLC_VELO_CUDA_IS_SMALL ? nullptr : job.origin + v.first;
        set_all_ends<TEAM>(job, v);
        velo_team_sync<TEAM>();
        if (job.settings.merge > 0) {
            mark_alike<TEAM>(job, v, s);
            mark_broken<TEAM>(job, v, s);
            if (velo_rank_of_warp<TEAM>() == 0) {
                join_broken(job, v);
            }
        }
        velo_team_sync<TEAM>();
        write_tracks<TEAM>(job, v, s, e);
        velo_team_sync<TEAM>();
    }
}

/* Tracks move together: a team an event. */
template <uint32_t TEAM>
__global__ void __launch_bounds__(threads_of<TEAM>) gather_tracks(const slc_velo_cuda_job job)
{
    __shared__ velo_team<TEAM> shared;
    const uint32_t n_events = job.head->n_events, teams = threads_of<TEAM> / (32 * TEAM);
    for (uint32_t e = blockIdx.x * teams + threadIdx.x / (32 * TEAM); e < n_events; e += gridDim.x * teams) {
        const uint32_t first = job.hit_offset[e], tracks = first / 3;
        const uint32_t to = job.track_offset[e], n = job.track_offset[e + 1] - to;
        const uint32_t hits_to = job.track_hit_offset[e], n_hits = job.track_hit_offset[e + 1] - hits_to;
        const uint8_t *module = job.searched[e] == SLC_VELO_CUDA_IS_SMALL ? job.place : job.module;
        const uint32_t *raw = job.module_raw + (size_t)e * SLC_VELO_MODULES;
        uint32_t begin = 0;
#pragma unroll 1
        for (uint32_t base = 0; base < n; base += 32 * TEAM) {
            const uint32_t t = base + velo_rank<TEAM>();
            const uint32_t mine = t < n ? job.loose_n[tracks + t] : 0;
            uint32_t all;
            const uint32_t at = begin + velo_team_sum_before<TEAM>(shared, mine, &all);
            if (t < n) {
                job.hit_begin[to + t] = at;
                job.track_n[to + t] = mine;
                job.scatter[to + t] = job.loose_scatter[tracks + t];
                job.track_event[to + t] = e;
            }
            begin += all;
        }
        /* Some are read before one is written, as each takes long. */
        enum { STEP = 32 * TEAM, AT_ONCE = 8 };
#pragma unroll 1
        for (uint32_t k = velo_rank<TEAM>(); k < n_hits; k += STEP * AT_ONCE) {
            uint32_t hit[AT_ONCE], at[AT_ONCE];
#pragma unroll
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                hit[j] = job.loose_hit[first + min(k + STEP * j, n_hits - 1)];
            }
#pragma unroll
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                at[j] = module[first + hit[j]];
            }
#pragma unroll
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                at[j] = raw[at[j]] + hit[j];
            }
#pragma unroll
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                if (k + STEP * j < n_hits) {
                    job.hit[hits_to + k + STEP * j] = hit[j];
                    job.hit_raw[hits_to + k + STEP * j] = at[j];
                }
            }
        }
    }
}

template <uint32_t TEAM>
slc_status finish(const slc_velo_cuda_job *job, uint32_t multiprocessors, struct CUstream_st *stream,
                  slc_error *error)
{
    const uint32_t blocks = (TEAM > 1 ? 8 : 16) * multiprocessors;
    SLC_LAUNCH((join_events<TEAM>), blocks, threads_of<TEAM>, 0, stream, *job);
    slc_status status = slc_cuda_check(cudaGetLastError(), "joining the VELO's tracks", error);
    status = status == SLC_OK ? slc_velo_cuda_offsets(job, SLC_VELO_CUDA_OF_TRACKS, stream, error) : status;
    if (status == SLC_OK) {
        SLC_LAUNCH((gather_tracks<TEAM>), blocks, threads_of<TEAM>, 0, stream, *job);
        status = slc_cuda_check(cudaGetLastError(), "gathering the VELO's tracks", error);
    }
    return status;
}
} // namespace

slc_status slc_velo_cuda_finish(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                struct CUstream_st *stream, slc_error *error)
{
    return job->teams != 0 ? finish<SLC_VELO_CUDA_TEAM>(job, multiprocessors, stream, error)
                           : finish<1>(job, multiprocessors, stream, error);
}
