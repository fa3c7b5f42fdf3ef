/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernel of the search: what a team has of an event in shared memory, and what becomes of candidates
 * that have ended. Hits stay where they are; what moves is which of a layer are free: their places in it, of
 * the four layers that a step looks at.
 */
#ifndef SLUICE_VELO_CUDA_SEARCH_CUH
#define SLUICE_VELO_CUDA_SEARCH_CUH

#include "velo/cuda/velo_cuda_bins.cuh"
#include "velo/cuda/velo_cuda_kernels.h"

#include <type_traits>

namespace
{
enum {
    LAYERS = SLC_VELO_LAYERS,
    WARPS = 2,
    ACTIVE = 4,    /* layers that are looked at: down, middle, up, and the one above it */
    PLACES = 4095, /* of a seed's or a neighbour's code */
    SKIP = 1 << 8, /* of a candidate's count: layers skipped, above its hits */
    HITS_OF = SKIP - 1,
    NONE = SLC_VELO_CUDA_NONE
};
constexpr uint32_t FREE = 0xffffffffU, TAKEN = 0;
enum { WAITS = 0, CHOSEN, DROPPED };

/* Of a team of warps, for layers of so many hits: what is not needed at the same time lies in one place.
 * Owners are of places among the free hits of a layer, of a step that seeds or that extends. */
template <uint32_t MOST, uint32_t TEAM_OF> struct step_memory : velo_team<TEAM_OF> {
    static constexpr uint32_t TEAM = TEAM_OF;
    using place = std::conditional_t<MOST <= 256, uint8_t, uint16_t>;
    union {
        velo_bins<MOST> bins;
        struct {
            uint32_t down[MOST], up[MOST];
        } owner;
    } table;
    union {
        struct {
            float scatter[MOST];
            place down[MOST], middle[MOST], up[MOST];
            uint8_t state[MOST];
        } seed;
        unsigned long long extend[MOST];
    } lines;
    alignas(
        16) int32_t key[MOST]; /* directions of the free hits downstream; then, which middle ones are taken */
    place free[ACTIVE][MOST];
    uint16_t n_left[LAYERS], begin[LAYERS + 1];
};

/* An event in the hands of a team. */
struct event {
    uint32_t e, first, tracks; /* where its hits and its tracks begin */
    uint32_t n_candidates, n_ended, n_listed;
    float layer_z; /* of the lane's layer */
};

/* The free hits of a layer, in their order. */
template <typename Place> struct free_hits {
    const slc_velo_cuda_hit *all; /* of the layer */
    const Place *place;
    uint32_t begin, n;

    __device__ __forceinline__ slc_velo_cuda_hit hit(uint32_t k) const
    {
        return all[place[k]];
    }
    /* Which of the event it is. */
    __device__ __forceinline__ uint32_t id(uint32_t k) const
    {
        return begin + place[k];
    }
};

template <typename Memory>
__device__ __forceinline__ free_hits<typename Memory::place>
free_of(const slc_velo_cuda_job &job, const event &v, const Memory &s, uint32_t l)
{
    const uint32_t begin = s.begin[l];
    return {job.all + v.first + begin, s.free[l % ACTIVE], begin, s.n_left[l]};
}

/* Those of a layer that stay, by their places, 64 at a time: by one warp, as others wait less than they would
 * for each other. */
template <typename Memory, typename Stays>
__device__ __forceinline__ void keep_free(Memory &s, uint32_t l, uint32_t n, const Stays &stays)
{
    typename Memory::place *place = s.free[l % ACTIVE];
    uint32_t kept = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 64) {
        const uint32_t k = base + velo_lane(), later = k + 32;
        uint32_t at = 0, at_later = 0;
        const bool is = k < n && stays(k, &at), is_later = later < n && stays(later, &at_later);
        const uint32_t bits = __ballot_sync(velo_all_lanes, is);
        const uint32_t bits_later = __ballot_sync(velo_all_lanes, is_later);
        __syncwarp(); /* all have read where they stood */
        if (is) {
            place[kept + (uint32_t)__popc(bits & velo_lanes_below())] = (typename Memory::place)at;
        }
        kept += (uint32_t)__popc(bits);
        if (is_later) {
            place[kept + (uint32_t)__popc(bits_later & velo_lanes_below())] =
                (typename Memory::place)at_later;
        }
        kept += (uint32_t)__popc(bits_later);
        __syncwarp();
    }
    __syncwarp(); /* all have read how many there were */
    if (velo_lane() == 0) {
        s.n_left[l] = (uint16_t)kept;
    }
    __syncwarp();
}

/* ---- the end of a candidate -------------------------------------------------------------------------- */

/* A track of three hits: where it should have others, too. */
struct course {
    float x, y, z, tx, ty, from, to;
    uint32_t have; /* layers, as bits */
};

__device__ __forceinline__ course course_of(const slc_velo_cuda_job &job, const event &v, uint32_t hit,
                                            uint32_t middle, uint32_t down)
{
    const slc_velo_cuda_hit b = job.all[v.first + hit], a = job.all[v.first + down];
    const uint8_t *place = job.place + v.first;
    const float dz = a.z - b.z, tx = (a.x - b.x) / dz, ty = (a.y - b.y) / dz;
    const float closest = b.z - (tx * b.x + ty * b.y) / (tx * tx + ty * ty);
    const bool forward = b.z > closest;
    return {b.x,
            b.y,
            b.z,
            tx,
            ty,
            forward ? b.z : -INFINITY,
            forward         ? INFINITY
            : closest < a.z ? closest
                            : a.z,
            1U << place[hit] / 2U | 1U << place[middle] / 2U | 1U << place[down] / 2U};
}

/* Layers without a hit in which those of the lanes' tracks that ask should have one: layers are in the lanes,
 * one track after the other, as few ask. */
__device__ __forceinline__ uint32_t missing(const slc_velo_cuda_job &job, const event &v, bool asks,
                                            const course &c)
{
    const slc_velo_cuda_settings &settings = job.settings;
    const uint32_t all = velo_all_lanes, lane = velo_lane();
    uint32_t n = 0;
#pragma unroll 1
    for (uint32_t bits = __ballot_sync(all, asks); bits != 0; bits &= bits - 1) {
        const int of = __ffs((int)bits) - 1;
        const float way = v.layer_z - __shfl_sync(all, c.z, of);
        const float x = __shfl_sync(all, c.x, of) + __shfl_sync(all, c.tx, of) * way;
        const float y = __shfl_sync(all, c.y, of) + __shfl_sync(all, c.ty, of) * way, r2 = x * x + y * y;
        const float from = __shfl_sync(all, c.from, of), to = __shfl_sync(all, c.to, of);
        const bool has = (__shfl_sync(all, c.have, of) >> lane & 1U) != 0;
        const bool should = lane < LAYERS && !has && r2 > settings.missing_low2 &&
                            r2 < settings.missing_high2 && v.layer_z > from && v.layer_z < to;
        const uint32_t count = (uint32_t)__popc(__ballot_sync(all, should));
        n = lane == (uint32_t)of ? count : n;
    }
    return n;
}

/* A candidate that has ended. */
struct ending {
    uint32_t hit, n;
    float scatter, last;
};

/* How many tracks and how many of their hits the threads before this one have; and all of the team. */
struct tracks_before {
    uint32_t tracks, hits, all_tracks, all_hits;
};

template <typename Memory>
__device__ __forceinline__ tracks_before count_tracks(Memory &s, bool is_track, uint32_t hits)
{
    tracks_before before;
    if constexpr (Memory::TEAM == 1) {
        const uint32_t bits = __ballot_sync(velo_all_lanes, is_track);
        before.hits = velo_sum_before(is_track ? hits : 0, &before.all_hits);
        before.tracks = (uint32_t)__popc(bits & velo_lanes_below());
        before.all_tracks = (uint32_t)__popc(bits);
    } else { /* both in one sum: 256 tracks of 255 hits */
        uint32_t all;
        const uint32_t sum = velo_team_sum_before<Memory::TEAM>(s, is_track ? 1U << 16 | hits : 0, &all);
        before = {sum >> 16, sum & 0xffffU, all >> 16, all & 0xffffU};
    }
    return before;
}

/* Those of the threads that have one: tracks, in the order of the threads. */
template <typename Memory>
__device__ __forceinline__ void finish(const slc_velo_cuda_job &job, event &v, Memory &s, bool ends,
                                       ending end, float max_3hits)
{
    const slc_velo_cuda_settings &settings = job.settings;
    uint16_t *before = job.before + v.first;
    uint8_t *used = job.used + v.first;
    bool is_track = ends && (end.n != 3 || end.scatter < max_3hits);
    const bool asks = is_track && end.n == 3 && settings.missing_layer > 0;
    if (__any_sync(velo_all_lanes, asks)) {
        course c = {};
        if (asks) {
            const uint32_t middle = before[end.hit];
            c = course_of(job, v, end.hit, middle, before[middle]);
        }
        __syncwarp();
        const float n = (float)missing(job, v, asks, c);
        is_track = is_track && (!asks || end.scatter + settings.missing_layer * n < max_3hits);
    }
    if (ends && end.n >= 5 && settings.trim > 0 && end.last > settings.trim) {
        used[end.hit] = 1;
        end.hit = before[end.hit];
        end.scatter -= end.last;
        end.n--;
    }
    const tracks_before before_me = count_tracks(s, is_track, end.n);
    if (is_track) {
        const uint32_t t = v.tracks + v.n_ended + before_me.tracks;
        job.ended.begin[t] = (uint16_t)(v.n_listed + before_me.hits);
        job.ended.n[t] = (uint16_t)end.n;
        job.ended.scatter[t] = end.scatter;
        job.ended.picked[t] = NONE;
        job.ended.hits[t] = (uint16_t)end.hit;
    }
    v.n_ended += before_me.all_tracks;
    v.n_listed += before_me.all_hits;
    velo_team_sync<Memory::TEAM>();
}

/* The hits of the tracks that have ended from `first` on, behind the pass: each waits for memory from hit to
 * hit, so that as many as there can be do so together. */
template <uint32_t TEAM>
__device__ __forceinline__ void list_hits(const slc_velo_cuda_job &job, const event &v, uint32_t first)
{
#pragma unroll 1
    for (uint32_t t = v.tracks + first + velo_rank<TEAM>(); t < v.tracks + v.n_ended; t += 32 * TEAM) {
        uint16_t *list = job.list + v.first + job.ended.begin[t];
        uint32_t hit = job.ended.hits[t];
#pragma unroll 1
        for (uint32_t k = job.ended.n[t]; k-- > 0;) {
            list[k] = (uint16_t)hit;
            job.used[v.first + hit] = 1;
            hit = job.before[v.first + hit];
        }
    }
    velo_team_sync<TEAM>();
}

} // namespace

#endif
