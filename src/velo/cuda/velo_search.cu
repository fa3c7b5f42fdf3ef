/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass of the search for tracks on a GPU, a warp an event: velo_track.c has its steps, velo_track.simd.c
 * the formulas. Lines lie in the lanes; of a layer that they are extended to they look at the hits whose y
 * may be near enough, by bins that are made anew for each step, and of equals at the one that comes first.
 * The greedy choice of seeds is made in rounds: a seed that comes first at both of its outer hits is taken,
 * one whose hit is taken is dropped, and the others go on; so the same are chosen as one by one. What is left
 * of layers moves together as on the processor, so that of equals the same one is the first.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_bins.cuh"
#include "velo/cuda/velo_cuda_kernels.h"

namespace
{
enum {
    LAYERS = SLC_VELO_LAYERS,
    WARPS = 2,
    PLACES = 4095, /* of a seed's or a neighbour's code */
    SKIP = 1 << 16,
    HITS_OF = SKIP - 1,
    NONE = SLC_VELO_CUDA_NONE
};
constexpr uint32_t FREE = 0xffffffffU, TAKEN = 0;

/* Of a warp, for layers of so many hits. Owners are of places in layers, of a step that seeds or that
 * extends.
 */
template <uint32_t MOST> struct step_memory {
    union {
        struct {
            uint32_t down[MOST], up[MOST];
        } seed;
        unsigned long long extend[MOST];
    } owner;
    velo_bins<MOST> bins;
    float scatter[MOST];
    uint16_t down[MOST], middle[MOST], up[MOST];
    uint8_t state[MOST]; /* of a seed */
    uint8_t taken_middle[MOST];
    uint32_t n_left[LAYERS];
};
enum { WAITS = 0, CHOSEN, DROPPED };

/* An event in the hands of a warp. */
struct event {
    uint32_t e, first, tracks; /* where its hits and its tracks begin */
    const uint16_t *begin;     /* of layers */
    uint32_t n_candidates, n_ended, n_listed;
};

__device__ __forceinline__ slc_velo_cuda_hit *layer_of(const slc_velo_cuda_job &job, const event &v,
                                                       uint32_t l)
{
    return job.left + v.first + v.begin[l];
}

__device__ __forceinline__ uint16_t *ids_of(const slc_velo_cuda_job &job, const event &v, uint32_t l)
{
    return job.left_id + v.first + v.begin[l];
}

/* ---- seeds ------------------------------------------------------------------------------------------- */

/* The free hits of the layer that are nearest in direction: code of the difference, above the place. */
template <uint32_t N>
__device__ __forceinline__ void find_nearest(const slc_velo_cuda_hit *down, uint32_t n_down, int32_t key,
                                             uint32_t (&code)[N])
{
#pragma unroll
    for (uint32_t r = 0; r < N; r++) {
        code[r] = FREE;
    }
    for (uint32_t k = 0; k < n_down; k++) {
        const uint32_t apart = (uint32_t)down[k].key - (uint32_t)key;
        uint32_t mine = ((int32_t)apart < 0 ? 0U - apart : apart) | k;
#pragma unroll
        for (uint32_t r = 0; r < N; r++) {
            const uint32_t smaller = min(code[r], mine);
            mine = max(code[r], mine);
            code[r] = smaller;
        }
    }
}

struct best_seed {
    float scatter;
    uint32_t down, up;
};

/* The straightest seed through a hit of the middle layer, of the first n pairs. */
template <uint32_t N, typename Bins>
__device__ __forceinline__ best_seed straightest(const slc_velo_cuda_hit &hit, const slc_velo_cuda_hit *down,
                                                 const uint32_t (&code)[N], uint32_t n, const Bins &up,
                                                 float limit, float reach)
{
    best_seed best = {limit, 0, 0};
#pragma unroll
    for (uint32_t r = 0; r < N; r++) {
        if (code[r] == FREE || r >= n) {
            continue;
        }
        const slc_velo_cuda_hit from = down[code[r] & PLACES];
        const float length = hit.z - from.z, tx = (hit.x - from.x) / length, ty = (hit.y - from.y) / length;
        const velo_span near = velo_near_line(up, hit.y, hit.z, ty, reach);
        float least = limit;
        uint32_t of = 0;
#pragma unroll 1
        for (uint32_t k = near.begin; k < near.end; k++) {
            const float scatter = velo_scatter(up.x[k] - hit.x, up.y[k] - hit.y, up.z[k] - hit.z, tx, ty);
            const uint32_t place = up.place[k];
            const bool better = scatter < least || (scatter == least && place < of);
            of = better ? place : of;
            least = better ? scatter : least;
        }
        if (least < best.scatter) {
            best = {least, code[r] & PLACES, of};
        }
    }
    return best;
}

template <uint32_t N, typename Memory>
__device__ __forceinline__ uint32_t find_seeds(const slc_velo_cuda_job &job, const event &v, Memory &s,
                                               uint32_t d, uint32_t m, uint32_t u, uint32_t n, float limit)
{
    const slc_velo_cuda_hit *down = layer_of(job, v, d), *middle = layer_of(job, v, m);
    const uint32_t n_middle = s.n_left[m];
    const float reach = sqrtf(limit);
    uint32_t seeds = 0;
    velo_make_bins(s.bins, layer_of(job, v, u), s.n_left[u]);
#pragma unroll 1
    for (uint32_t base = 0; base < n_middle; base += 32) {
        const uint32_t i = base + velo_lane();
        const slc_velo_cuda_hit hit = middle[i < n_middle ? i : base];
        uint32_t code[N];
        find_nearest<N>(down, s.n_left[d], hit.key, code);
        const best_seed best = straightest<N>(hit, down, code, n, s.bins, limit, reach);
        const bool found = i < n_middle && best.scatter < limit;
        const uint32_t bits = __ballot_sync(velo_all_lanes, found);
        if (found) {
            const uint32_t at = seeds + (uint32_t)__popc(bits & velo_lanes_below());
            s.scatter[at] = best.scatter;
            s.down[at] = (uint16_t)best.down;
            s.middle[at] = (uint16_t)i;
            s.up[at] = (uint16_t)best.up;
            s.state[at] = WAITS;
        }
        seeds += (uint32_t)__popc(bits);
    }
    return seeds;
}

/* What comes first is smallest: scatter without its last bits, then as seeds come. Never FREE nor TAKEN. */
template <typename Memory> __device__ __forceinline__ uint32_t rank_of(const Memory &s, uint32_t seed)
{
    return ((__float_as_uint(s.scatter[seed]) & ~(uint32_t)PLACES) | seed) + 1;
}

/* A hit that is taken has TAKEN as its owner. */
template <typename Memory> __device__ __forceinline__ void choose_seeds(Memory &s, uint32_t seeds)
{
#pragma unroll 1
    for (bool more = true; more;) {
#pragma unroll 1
        for (uint32_t k = velo_lane(); k < seeds; k += 32) {
            if (s.state[k] == WAITS) {
                atomicMin(&s.owner.seed.down[s.down[k]], rank_of(s, k));
                atomicMin(&s.owner.seed.up[s.up[k]], rank_of(s, k));
            }
        }
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = velo_lane(); k < seeds; k += 32) {
            const uint32_t rank = rank_of(s, k);
            if (s.state[k] == WAITS && s.owner.seed.down[s.down[k]] == rank &&
                s.owner.seed.up[s.up[k]] == rank) {
                s.state[k] = CHOSEN; /* nobody else has this rank: these two places are its own */
            }
        }
        __syncwarp();
#pragma unroll 1
        for (uint32_t k = velo_lane(); k < seeds; k += 32) {
            if (s.state[k] == CHOSEN) {
                s.owner.seed.down[s.down[k]] = s.owner.seed.up[s.up[k]] = TAKEN;
            }
        }
        __syncwarp();
        bool waits = false;
#pragma unroll 1
        for (uint32_t k = velo_lane(); k < seeds; k += 32) {
            if (s.state[k] != WAITS) {
                continue;
            }
            if (s.owner.seed.down[s.down[k]] == TAKEN || s.owner.seed.up[s.up[k]] == TAKEN) {
                s.state[k] = DROPPED;
            } else {
                waits = true;
            }
        }
        __syncwarp();
        more = __any_sync(velo_all_lanes, waits);
#pragma unroll 1
        for (uint32_t k = velo_lane(); k < seeds && more; k += 32) {
            if (s.state[k] == WAITS) {
                s.owner.seed.down[s.down[k]] = s.owner.seed.up[s.up[k]] = FREE;
            }
        }
        __syncwarp();
    }
}

/* The seeds that are chosen become candidates, in their order. */
template <typename Memory>
__device__ __forceinline__ void start(const slc_velo_cuda_job &job, event &v, Memory &s, uint32_t seeds,
                                      uint32_t d, uint32_t m, uint32_t u)
{
    const slc_velo_cuda_candidates &c = job.candidates;
    uint16_t *before = job.before + v.first;
#pragma unroll 1
    for (uint32_t base = 0; base < seeds; base += 32) {
        const uint32_t k = base + velo_lane();
        const bool taken = k < seeds && s.state[k] == CHOSEN;
        const uint32_t bits = __ballot_sync(velo_all_lanes, taken);
        if (taken) {
            const uint32_t at = v.tracks + v.n_candidates + (uint32_t)__popc(bits & velo_lanes_below());
            const slc_velo_cuda_hit to = layer_of(job, v, u)[s.up[k]],
                                    from = layer_of(job, v, m)[s.middle[k]];
            const uint16_t up = ids_of(job, v, u)[s.up[k]], middle = ids_of(job, v, m)[s.middle[k]];
            const uint16_t down = ids_of(job, v, d)[s.down[k]];
            const float dz = to.z - from.z;
            c.x[at] = to.x;
            c.y[at] = to.y;
            c.z[at] = to.z;
            c.tx[at] = (to.x - from.x) / dz;
            c.ty[at] = (to.y - from.y) / dz;
            c.scatter[at] = c.last[at] = s.scatter[k];
            c.count[at] = 3;
            c.hit[at] = up;
            before[up] = middle;
            before[middle] = down;
            before[down] = down;
            s.taken_middle[s.middle[k]] = 1;
        }
        v.n_candidates += (uint32_t)__popc(bits);
    }
    __syncwarp();
}

template <typename Memory, typename Stays>
__device__ __forceinline__ void compact(const slc_velo_cuda_job &job, const event &v, Memory &s, uint32_t l,
                                        const Stays &stays)
{
    slc_velo_cuda_hit *hits = layer_of(job, v, l);
    uint16_t *ids = ids_of(job, v, l);
    const uint32_t kept = velo_compact(hits, ids, hits, s.n_left[l], [&](uint32_t k, uint16_t *id) {
        *id = ids[k];
        return stays(k);
    });
    __syncwarp(); /* all have read how many there were */
    if (velo_lane() == 0) {
        s.n_left[l] = kept;
    }
    __syncwarp();
}

template <uint32_t N, typename Memory>
__device__ __forceinline__ void seed(const slc_velo_cuda_job &job, event &v, Memory &s, uint32_t i,
                                     uint32_t u, const slc_velo_cuda_pass &p, bool last)
{
    const uint32_t d = i + 1, n_down = s.n_left[d], n_middle = s.n_left[i], n_up = s.n_left[u];
    if (n_down == 0 || n_middle == 0 || n_up == 0 || !(p.seeding > 0)) {
        return;
    }
    const uint32_t seeds = find_seeds<N>(job, v, s, d, i, u, p.n, p.seeding);
    if (seeds == 0) {
        return;
    }
#pragma unroll 1
    for (uint32_t k = velo_lane(); k < max(n_down, max(n_middle, n_up)); k += 32) {
        s.owner.seed.down[k] = s.owner.seed.up[k] = FREE;
        s.taken_middle[k] = 0;
    }
    __syncwarp();
    choose_seeds(s, seeds);
    start(job, v, s, seeds, d, i, u);
    /* In one place, for the instruction cache. */
#pragma unroll 1
    for (uint32_t of = last ? 1 : 0; of < 3; of++) {
        const uint32_t *owner = of == 0 ? s.owner.seed.down : s.owner.seed.up;
        compact(job, v, s,
                of == 0   ? d
                : of == 1 ? i
                          : u,
                [&](uint32_t k) { return of == 1 ? s.taken_middle[k] == 0 : owner[k] != TAKEN; });
    }
}

/* ---- the end of a candidate -------------------------------------------------------------------------- */

/* Layers without a hit in which a track of three hits should have one. */
__device__ __forceinline__ uint32_t missing(const slc_velo_cuda_job &job, const event &v, uint32_t hit,
                                            uint32_t middle, uint32_t down)
{
    const slc_velo_cuda_settings &settings = job.settings;
    const slc_velo_cuda_hit b = job.all[v.first + hit], a = job.all[v.first + down];
    const uint8_t *place = job.place + v.first;
    const uint32_t have = 1U << place[hit] / 2U | 1U << place[middle] / 2U | 1U << place[down] / 2U;
    const float dz = a.z - b.z, tx = (a.x - b.x) / dz, ty = (a.y - b.y) / dz;
    const float closest = b.z - (tx * b.x + ty * b.y) / (tx * tx + ty * ty);
    const bool forward = b.z > closest;
    const float from = forward ? b.z : -INFINITY;
    const float to = forward ? INFINITY : closest < a.z ? closest : a.z;
    uint32_t n = 0;
#pragma unroll 1
    for (uint32_t l = 0; l < LAYERS; l++) {
        const float z = settings.layer_z[l], way = z - b.z, x = b.x + tx * way, y = b.y + ty * way;
        const float r2 = x * x + y * y;
        n += (have >> l & 1U) == 0 && r2 > settings.missing_low2 && r2 < settings.missing_high2 && z > from &&
             z < to;
    }
    return n;
}

/* A candidate that has ended. */
struct ending {
    uint32_t hit, n;
    float scatter, last;
};

/* Those of the lanes that have one: tracks, in the order of the lanes. */
__device__ __forceinline__ void finish(const slc_velo_cuda_job &job, event &v, bool ends, ending end,
                                       float max_3hits)
{
    const slc_velo_cuda_settings &settings = job.settings;
    uint16_t *before = job.before + v.first;
    uint8_t *used = job.used + v.first;
    bool is_track = ends;
    if (ends && end.n == 3) {
        const uint32_t middle = before[end.hit], down = before[middle];
        is_track = end.scatter < max_3hits;
        if (is_track && settings.missing_layer > 0) {
            const float n = (float)missing(job, v, end.hit, middle, down);
            is_track = end.scatter + settings.missing_layer * n < max_3hits;
        }
    } else if (ends && end.n >= 5 && settings.trim > 0 && end.last > settings.trim) {
        used[end.hit] = 1;
        end.hit = before[end.hit];
        end.scatter -= end.last;
        end.n--;
    }
    const uint32_t bits = __ballot_sync(velo_all_lanes, is_track);
    uint32_t listed;
    const uint32_t at = v.n_listed + velo_sum_before(is_track ? end.n : 0, &listed);
    if (is_track) {
        const uint32_t t = v.tracks + v.n_ended + (uint32_t)__popc(bits & velo_lanes_below());
        job.ended.begin[t] = (uint16_t)at;
        job.ended.n[t] = (uint16_t)end.n;
        job.ended.scatter[t] = end.scatter;
        job.ended.picked[t] = NONE;
        uint32_t hit = end.hit;
#pragma unroll 1
        for (uint32_t k = end.n; k-- > 0;) {
            job.list[v.first + at + k] = (uint16_t)hit;
            used[hit] = 1;
            hit = before[hit];
        }
    }
    v.n_ended += (uint32_t)__popc(bits);
    v.n_listed += listed;
    __syncwarp();
}

/* ---- candidates -------------------------------------------------------------------------------------- */

/* What each candidate wants, and who gets a hit: the one that it fits best, of equal ones the first. */
template <typename Memory>
__device__ __forceinline__ void want(const slc_velo_cuda_job &job, const event &v, Memory &s, uint32_t layer,
                                     float max_scatter)
{
    const slc_velo_cuda_candidates &c = job.candidates;
    const float reach = sqrtf(max_scatter);
    const bool looks = max_scatter > 0 && s.n_left[layer] > 0;
    if (looks) {
        velo_make_bins(s.bins, layer_of(job, v, layer), s.n_left[layer]);
    }
#pragma unroll 1
    for (uint32_t i = velo_lane(); i < v.n_candidates; i += 32) {
        const uint32_t at = v.tracks + i;
        const float x = c.x[at], y = c.y[at], z = c.z[at], tx = c.tx[at], ty = c.ty[at];
        const velo_span near = looks ? velo_near_line(s.bins, y, z, ty, reach) : velo_span{0, 0};
        float best = max_scatter;
        uint32_t wanted = 0;
#pragma unroll 1
        for (uint32_t k = near.begin; k < near.end; k++) {
            const float scatter = velo_scatter(s.bins.x[k] - x, s.bins.y[k] - y, s.bins.z[k] - z, tx, ty);
            const uint32_t place = s.bins.place[k];
            const bool better = scatter < best || (scatter == best && place < wanted);
            wanted = better ? place : wanted;
            best = better ? scatter : best;
        }
        wanted = best < max_scatter ? wanted : (uint32_t)NONE;
        c.best[at] = best;
        c.wanted[at] = (uint16_t)wanted;
        if (wanted != NONE) {
            atomicMin(&s.owner.extend[wanted], (unsigned long long)__float_as_uint(best) << 32 | i);
        }
    }
    __syncwarp();
}

/* A candidate takes what it wants, or has skipped a layer. */
struct candidate {
    float x, y, z, tx, ty, scatter, last;
    uint32_t count, hit;
};

template <typename Memory>
__device__ __forceinline__ candidate advanced(const slc_velo_cuda_job &job, const event &v, const Memory &s,
                                              uint32_t layer, uint32_t i)
{
    const slc_velo_cuda_candidates &c = job.candidates;
    const uint32_t at = v.tracks + i, wanted = c.wanted[at];
    candidate next = {c.x[at],       c.y[at],    c.z[at],     c.tx[at], c.ty[at],
                      c.scatter[at], c.last[at], c.count[at], c.hit[at]};
    if (wanted == NONE || (uint32_t)s.owner.extend[wanted] != i) {
        next.count += SKIP;
        return next;
    }
    const slc_velo_cuda_hit hit = layer_of(job, v, layer)[wanted];
    const uint32_t id = ids_of(job, v, layer)[wanted];
    const float dz = hit.z - next.z;
    next.tx = (hit.x - next.x) / dz;
    next.ty = (hit.y - next.y) / dz;
    next.x = hit.x;
    next.y = hit.y;
    next.z = hit.z;
    next.last = c.best[at];
    next.scatter += next.last;
    next.count = (next.count & HITS_OF) + 1;
    job.before[v.first + id] = (uint16_t)next.hit;
    next.hit = id;
    return next;
}

__device__ __forceinline__ void keep(const slc_velo_cuda_job &job, uint32_t at, const candidate &next)
{
    const slc_velo_cuda_candidates &c = job.candidates;
    c.x[at] = next.x;
    c.y[at] = next.y;
    c.z[at] = next.z;
    c.tx[at] = next.tx;
    c.ty[at] = next.ty;
    c.scatter[at] = next.scatter;
    c.last[at] = next.last;
    c.count[at] = next.count;
    c.hit[at] = (uint16_t)next.hit;
}

/* `last`: there is no layer any more, and all end. */
template <typename Memory>
__device__ __forceinline__ void extend(const slc_velo_cuda_job &job, event &v, Memory &s, uint32_t layer,
                                       const slc_velo_cuda_pass &p, bool last)
{
    if (v.n_candidates == 0) {
        return;
    }
#pragma unroll 1
    for (uint32_t k = velo_lane(); k < s.n_left[layer]; k += 32) {
        s.owner.extend[k] = ~0ULL;
    }
    __syncwarp();
    want(job, v, s, layer, last ? 0 : p.extending);
    uint32_t kept = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < v.n_candidates; base += 32) {
        const uint32_t i = base + velo_lane();
        candidate next = {};
        if (i < v.n_candidates) {
            next = advanced(job, v, s, layer, i);
        }
        const bool ends = i < v.n_candidates && (last || next.count >= 2 * SKIP);
        const bool stays = i < v.n_candidates && !ends;
        const uint32_t bits = __ballot_sync(velo_all_lanes, stays);
        if (__any_sync(velo_all_lanes, ends)) {
            const ending end = {next.hit, next.count & HITS_OF, next.scatter, next.last};
            finish(job, v, ends, end, p.max_3hits);
        }
        __syncwarp();
        if (stays) {
            keep(job, v.tracks + kept + (uint32_t)__popc(bits & velo_lanes_below()), next);
        }
        kept += (uint32_t)__popc(bits);
        __syncwarp();
    }
    v.n_candidates = kept;
    compact(job, v, s, layer, [&](uint32_t k) { return s.owner.extend[k] == ~0ULL; });
}

/* ---- a pass ------------------------------------------------------------------------------------------ */

template <typename Memory>
__device__ __forceinline__ void refill(const slc_velo_cuda_job &job, const event &v, Memory &s)
{
#pragma unroll 1
    for (uint32_t l = 0; l < LAYERS; l++) {
        const uint32_t begin = v.begin[l], n = v.begin[l + 1] - begin;
        const uint8_t *used = job.used + v.first + begin;
        const uint32_t kept = velo_compact(layer_of(job, v, l), ids_of(job, v, l), job.all + v.first + begin,
                                           n, [&](uint32_t k, uint16_t *id) {
                                               *id = (uint16_t)(begin + k);
                                               return used[k] == 0;
                                           });
        if (velo_lane() == 0) {
            s.n_left[l] = kept;
        }
    }
    __syncwarp();
}

/* Each step is in one place, for the instruction cache: a seed, an extension, in the second pass a wider
 * seed; and behind the last one everything ends. */
template <uint32_t N, typename Memory>
__device__ __forceinline__ void search_event(const slc_velo_cuda_job &job, event &v, Memory &s,
                                             const slc_velo_cuda_pass &p)
{
    enum { SEED, EXTEND, WIDE_SEED };
    uint32_t i = LAYERS - 2, action = SEED;
    refill(job, v, s);
    while (i > 0) {
        if (action != EXTEND) {
            const uint32_t up = i - (action == SEED ? 1 : 2);
            seed<N>(job, v, s, i, up, p, action != SEED || p.second == 0 || i < 2);
        } else {
            extend(job, v, s, i >= 2 ? i - 2 : 0, p, i < 2);
        }
        const bool goes_on = action == SEED || (action == EXTEND && p.second != 0 && i >= 2);
        action = goes_on ? action + 1 : (uint32_t)SEED;
        i -= goes_on ? 0 : 1;
    }
}

template <uint32_t N, uint32_t MOST>
__global__ void __launch_bounds__(32 * WARPS)
    search_events(const slc_velo_cuda_job job, const slc_velo_cuda_pass p)
{
    __shared__ step_memory<MOST> shared[WARPS];
    step_memory<MOST> &s = shared[threadIdx.x / 32];
    const bool is_small = MOST == SLC_VELO_CUDA_SMALL;
    const uint32_t n = job.head->n_events, kernel = 1 + p.second + (is_small ? 0 : 4);
    for (uint32_t e = velo_next_event(job, kernel); e < n; e = velo_next_event(job, kernel)) {
        if (job.searched[e] != (is_small ? SLC_VELO_CUDA_IS_SMALL : SLC_VELO_CUDA_IS_LARGE)) {
            continue;
        }
        event v;
        v.e = e;
        v.first = job.hit_offset[e];
        v.tracks = v.first / 3;
        v.begin = job.layer_begin + (size_t)e * (LAYERS + 1);
        v.n_candidates = 0;
        v.n_ended = job.n_ended[e];
        v.n_listed = job.n_listed[e];
        search_event<N>(job, v, s, p);
        if (velo_lane() == 0) {
            job.n_ended[e] = v.n_ended;
            job.n_listed[e] = v.n_listed;
        }
        __syncwarp();
    }
}

template <uint32_t N>
void launch(const slc_velo_cuda_job *job, const slc_velo_cuda_pass *pass, bool large,
            uint32_t multiprocessors, struct CUstream_st *stream)
{
    if (large) {
        SLC_LAUNCH((search_events<N, SLC_VELO_CUDA_LAYER>), 8 * multiprocessors, 32 * WARPS, 0, stream, *job,
                   *pass);
    } else {
        SLC_LAUNCH((search_events<N, SLC_VELO_CUDA_SMALL>), 16 * multiprocessors, 32 * WARPS, 0, stream, *job,
                   *pass);
    }
}
} // namespace

slc_status slc_velo_cuda_search(const slc_velo_cuda_job *job, const slc_velo_cuda_pass *pass, bool large,
                                uint32_t multiprocessors, struct CUstream_st *stream, slc_error *error)
{
    if (pass->n <= 2) {
        launch<2>(job, pass, large, multiprocessors, stream);
    } else if (pass->n == 3) {
        launch<3>(job, pass, large, multiprocessors, stream);
    } else if (pass->n <= 5) {
        launch<5>(job, pass, large, multiprocessors, stream);
    } else {
        launch<10>(job, pass, large, multiprocessors, stream);
    }
    return slc_cuda_check(cudaGetLastError(), "searching the VELO's tracks", error);
}
