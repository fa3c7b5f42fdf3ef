/* SPDX-License-Identifier: Apache-2.0
 *
 * Hits that tracks missed, on a GPU: a team an event. What a track finds in a layer does not depend on other
 * layers, but what one of them takes is none of the later tracks': velo_track_pick.h. Tracks lie in the lanes
 * first, and ask layer after layer whether a cell near them has a hit that is left: few do. These pairs of a
 * track and a layer lie in the lanes then, in the order of the tracks in each layer; of those that want the
 * same hit the first gets it, and the others look again. Each warp of a team has layers of its own.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
enum {
    WARPS = 2,
    LAYERS = SLC_VELO_LAYERS,
    BEYOND = 3,
    NONE = SLC_VELO_CUDA_NONE,
    ROWS = 32, /* of cells, in a layer: of y; and of x, as bits */
    ALL_ROWS = LAYERS * ROWS,
    PAIRS = 64,
    LAYER_BITS = 5, /* of a pair, below its track */
    AT_ONCE = 4,    /* hits that are read */
    BLOCKS = 16,
    TEAM_BLOCKS = 8 /* on a multiprocessor, of teams four at a time */
};
constexpr float NEAR = 0.5F, CELL = 2;

struct event {
    uint32_t first, tracks;
    const uint16_t *begin;
};

/* Of a team: where the hits of a layer's row begin, which of the row's cells have any, and between which z
 * the hits of a layer lie, in ordered numbers; and the pairs of each warp. Rows are counted two in a number,
 * the even one below the odd one. */
struct left_rows {
    union {
        uint32_t two[ALL_ROWS / 2 + 1];
        uint16_t begin[ALL_ROWS + 2];
    };
    uint32_t cells[ALL_ROWS];
    int32_t low_z[LAYERS], high_z[LAYERS];
};
template <uint32_t TEAM_OF> struct left_hits : left_rows, velo_team<TEAM_OF> {
    uint32_t pair[TEAM_OF][PAIRS];
};

/* The squared distance between a hit and the line through the nearest hits of the track on both sides of its
 * layer, beyond an end through the last two. Infinite for a module that has a hit of the track. Hits are
 * numbered layer by layer. */
__device__ __forceinline__ float distance2(const slc_velo_cuda_job &job, const event &v, const uint16_t *hits,
                                           uint32_t n, uint32_t layer, uint32_t hit)
{
    const slc_velo_cuda_hit *all = job.all + v.first;
    const uint8_t *place = job.place + v.first;
    const uint32_t begin = v.begin[layer], end = v.begin[layer + 1];
    uint32_t down = 0;
#pragma unroll 1
    while (down < n && hits[down] >= end) {
        down++;
    }
    uint32_t up = down;
    if (up < n && hits[up] >= begin) {
        if (place[hits[up]] == place[hit]) {
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

/* Never falls as x or y rises. */
__device__ __forceinline__ uint32_t row_of(float y)
{
    const float at = y * (1 / CELL) + (float)(ROWS / 2), held = at > 0 ? at : 0;
    return held < (float)(ROWS - 1) ? (uint32_t)held : (uint32_t)(ROWS - 1);
}

/* One of a row, in the number of two rows. */
__device__ __forceinline__ uint32_t one_of(uint32_t row)
{
    return row % 2 != 0 ? 1U << 16 : 1U;
}

/* A number's bits, in the order of numbers; and back. */
__device__ __forceinline__ int32_t ordered(int32_t bits)
{
    return bits ^ (bits >> 31 & 0x7fffffff);
}

/* The hits that no track has, in their order, where hits of tracks are written later; returns how many. */
__device__ __forceinline__ uint32_t list_free(const slc_velo_cuda_job &job, const event &v, left_hits<1> &)
{
    const uint32_t n = v.begin[LAYERS];
    const uint8_t *used = job.used + v.first;
    uint16_t *list = job.loose_hit + v.first;
    uint32_t free = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 64) {
        const uint32_t k = base + velo_lane(), later = k + 32;
        const bool is_later = later < n && used[later] == 0, is = k < n && used[k] == 0;
        const uint32_t bits = __ballot_sync(velo_all_lanes, is);
        const uint32_t bits_later = __ballot_sync(velo_all_lanes, is_later);
        if (is) {
            list[free + (uint32_t)__popc(bits & velo_lanes_below())] = (uint16_t)k;
        }
        free += (uint32_t)__popc(bits);
        if (is_later) {
            list[free + (uint32_t)__popc(bits_later & velo_lanes_below())] = (uint16_t)later;
        }
        free += (uint32_t)__popc(bits_later);
    }
    __syncwarp();
    return free;
}

template <uint32_t TEAM>
__device__ __forceinline__ uint32_t list_free(const slc_velo_cuda_job &job, const event &v,
                                              left_hits<TEAM> &s)
{
    const uint32_t n = v.begin[LAYERS];
    uint32_t free = 0, all;
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32 * TEAM) {
        const uint32_t k = base + velo_rank<TEAM>();
        const bool is = k < n && job.used[v.first + k] == 0;
        const uint32_t at = free + velo_team_place<TEAM>(s, is, &all);
        if (is) {
            job.loose_hit[v.first + at] = (uint16_t)k;
        }
        free += all;
    }
    __syncthreads();
    return free;
}

/* A hit that is left: which of the event it is, its row, and its layer. */
struct left_hit {
    uint32_t id, layer, row;
    slc_velo_cuda_hit hit;
};

__device__ __forceinline__ left_hit left_at(const slc_velo_cuda_job &job, const event &v, uint32_t i,
                                            uint32_t n)
{
    const uint32_t id = n > 0 ? job.loose_hit[v.first + min(i, n - 1)] : 0;
    const slc_velo_cuda_hit hit = job.all[v.first + id];
    const uint32_t layer = job.place[v.first + id] / 2U;
    return {id, layer, layer * ROWS + row_of(hit.y), hit};
}

/* Counts become ends: by one warp. */
__device__ __forceinline__ void sum_rows(left_rows &s)
{
    uint32_t before = 0;
#pragma unroll 1
    for (uint32_t b = velo_lane(); b < ALL_ROWS / 2; b += 32) {
        const uint32_t mine = s.two[b], even = mine & 0xffffU;
        uint32_t sum;
        const uint32_t end = before + velo_sum_before(even + (mine >> 16), &sum) + even;
        s.two[b] = (end + (mine >> 16)) << 16 | end; /* ends, which become beginnings */
        before += sum;
    }
    if (velo_lane() == 0) {
        s.begin[ALL_ROWS] = (uint16_t)before;
    }
}

/* What is left of all layers, by layer and row: count, sum, fill. The next hit is read before one is looked
 * at. */
template <uint32_t TEAM>
__device__ __forceinline__ void list_left(const slc_velo_cuda_job &job, const event &v, left_hits<TEAM> &s)
{
    const uint32_t n = list_free(job, v, s), rank = velo_rank<TEAM>();
#pragma unroll 1
    for (uint32_t b = rank; b < ALL_ROWS; b += 32 * TEAM) {
        s.cells[b] = 0;
        if (b < ALL_ROWS / 2) {
            s.two[b] = 0;
        }
    }
    if (rank < LAYERS) {
        s.low_z[rank] = INT32_MAX;
        s.high_z[rank] = INT32_MIN;
    }
    velo_team_sync<TEAM>();
    left_hit next = left_at(job, v, rank, n);
#pragma unroll 1
    for (uint32_t i = rank; i < n; i += 32 * TEAM) {
        const left_hit now = next;
        next = left_at(job, v, i + 32 * TEAM, n);
        const int32_t z = ordered(__float_as_int(now.hit.z));
        atomicAdd(&s.two[now.row / 2], one_of(now.row));
        atomicOr(&s.cells[now.row], 1U << row_of(now.hit.x));
        atomicMin(&s.low_z[now.layer], z);
        atomicMax(&s.high_z[now.layer], z);
    }
    velo_team_sync<TEAM>();
    if (velo_rank_of_warp<TEAM>() == 0) {
        sum_rows(s);
    }
    velo_team_sync<TEAM>();
    next = left_at(job, v, rank, n);
#pragma unroll 1
    for (uint32_t i = rank; i < n; i += 32 * TEAM) {
        const left_hit now = next;
        next = left_at(job, v, i + 32 * TEAM, n);
        const uint32_t ends = atomicSub(&s.two[now.row / 2], one_of(now.row)) - one_of(now.row);
        const uint32_t at = now.row % 2 != 0 ? ends >> 16 : ends & 0xffffU;
        job.left[v.first + at] = now.hit;
        job.left_id[v.first + at] = (uint16_t)now.id;
    }
    velo_team_sync<TEAM>();
}

/* The line between the ends of a track, and the layers in which it may have missed a hit. */
struct line {
    slc_velo_cuda_hit b;
    float tx, ty;
    uint32_t bottom, top;
};

__device__ __forceinline__ line line_of(const slc_velo_cuda_job &job, const event &v, uint32_t t)
{
    const slc_velo_cuda_hit *all = job.all + v.first;
    const uint16_t *hits = job.list + v.first + job.ended.begin[t];
    const uint8_t *place = job.place + v.first;
    const uint32_t first = hits[0], last = hits[job.ended.n[t] - 1U], bottom = place[last] / 2U;
    const slc_velo_cuda_hit a = all[first], b = all[last];
    const float length = a.z - b.z;
    return {b, (a.x - b.x) / length, (a.y - b.y) / length, bottom > BEYOND ? bottom - BEYOND : 0U,
            place[first] / 2U + BEYOND};
}

/* Rows that may have a hit near a line which passes x or y and has a slope, between two z from there on. */
struct rows {
    uint32_t low, high;
};

__device__ __forceinline__ rows rows_near(float y, float slope, float low_z, float high_z)
{
    const float one = slope * low_z, other = slope * high_z;
    const float room = NEAR + 1e-5F * (fabsf(y) + fabsf(one) + fabsf(other)) + 1e-4F;
    const float low = (y + min(one, other)) - room, high = (y + max(one, other)) + room;
    const bool known = low <= high; /* not of no numbers */
    return {known ? row_of(low) : 0, known ? row_of(high) : (uint32_t)(ROWS - 1)};
}

__device__ __forceinline__ rows rows_of_layer(const left_rows &s, uint32_t layer, float y, float slope,
                                              float z)
{
    return rows_near(y, slope, __int_as_float(ordered(s.low_z[layer])) - z,
                     __int_as_float(ordered(s.high_z[layer])) - z);
}

/* May a hit that is left lie near the line? */
__device__ __forceinline__ bool may_find(const left_rows &s, const line &l, uint32_t layer)
{
    const rows y = rows_of_layer(s, layer, l.b.y, l.ty, l.b.z),
               x = rows_of_layer(s, layer, l.b.x, l.tx, l.b.z);
    uint32_t cells = 0;
#pragma unroll 1
    for (uint32_t row = y.low; row <= y.high; row++) {
        cells |= s.cells[layer * ROWS + row];
    }
    return (cells >> x.low & ((2U << (x.high - x.low)) - 1)) != 0;
}

/* The hit that a track finds in a layer; NONE without any. */
__device__ __forceinline__ uint32_t find(const slc_velo_cuda_job &job, const event &v, const left_rows &s,
                                         uint32_t t, uint32_t layer)
{
    const slc_velo_cuda_hit *left = job.left + v.first;
    const uint16_t *ids = job.left_id + v.first;
    const line l = line_of(job, v, t);
    const rows near = rows_of_layer(s, layer, l.b.y, l.ty, l.b.z);
    const uint32_t end = s.begin[layer * ROWS + near.high + 1];
    float best = job.settings.pickup;
    uint32_t found = 0;
#pragma unroll 1
    for (uint32_t k = s.begin[layer * ROWS + near.low]; k < end; k += AT_ONCE) {
        slc_velo_cuda_hit hit[AT_ONCE];
        uint32_t bits = 0;
#pragma unroll
        for (uint32_t j = 0; j < AT_ONCE; j++) { /* all are read before one is looked at */
            hit[j] = left[min(k + j, end - 1)];
        }
#pragma unroll
        for (uint32_t j = 0; j < AT_ONCE; j++) {
            const float scatter = velo_scatter(hit[j].x - l.b.x, hit[j].y - l.b.y, hit[j].z - l.b.z, l.tx,
                                               l.ty);
            bits |= (k + j < end && scatter < NEAR * NEAR ? 1U : 0U) << j;
        }
#pragma unroll 1
        for (; bits != 0; bits &= bits - 1) {
            const uint32_t id = ids[k + (uint32_t)__ffs((int)bits) - 1];
            const uint16_t *hits = job.list + v.first + job.ended.begin[t];
            const float distance = job.used[v.first + id] != 0
                                       ? INFINITY
                                       : distance2(job, v, hits, job.ended.n[t], layer, id);
            if (distance < best || (distance == best && id < found)) {
                best = distance;
                found = id;
            }
        }
    }
    return best < job.settings.pickup ? found : (uint32_t)NONE;
}

/* What the first n pairs find: of those that want the same hit the first gets it, the others look again, and
 * so may those behind them. */
__device__ __forceinline__ uint32_t find_all(const slc_velo_cuda_job &job, const event &v, const left_rows &s,
                                             uint32_t pair, uint32_t n)
{
    uint8_t *used = job.used + v.first;
    uint32_t found = NONE;
    bool looks = velo_lane() < n;
#pragma unroll 1
    for (uint32_t lost = 1; lost != 0;) {
        if (looks) {
            found = find(job, v, s, v.tracks + (pair >> LAYER_BITS), pair & ((1U << LAYER_BITS) - 1));
        }
        __syncwarp();
        const uint32_t same = __match_any_sync(velo_all_lanes, found);
        const bool loses = found != NONE && (same & velo_lanes_below()) != 0;
        lost = __ballot_sync(velo_all_lanes, loses);
        const bool settled = lost == 0 || velo_lane() < (uint32_t)__ffs((int)lost) - 1;
        if (found != NONE && settled) {
            used[found] = 1;
        }
        __syncwarp();
        looks = found != NONE && !settled && used[found] != 0;
    }
    return found;
}

/* What was found goes to the front of the tracks' lists: the last layer's is the first. */
__device__ __forceinline__ void put_in_front(const slc_velo_cuda_job &job, const event &v, uint32_t track,
                                             uint32_t hit)
{
    const bool found = hit != NONE;
    const uint32_t t = v.tracks + track;
    const uint32_t same = __match_any_sync(velo_all_lanes, found ? track : ~0U);
    const uint32_t below = same & velo_lanes_below();
    const uint32_t before = __shfl_sync(velo_all_lanes, hit, below != 0 ? 31 - __clz((int)below) : 0);
    if (found) {
        job.before[v.first + hit] = (uint16_t)(below != 0 ? before : job.ended.picked[t]);
    }
    __syncwarp();
    if (found && same >> velo_lane() == 1) {
        job.ended.picked[t] = (uint16_t)hit;
    }
    __syncwarp();
}

/* Warps that find hits of a track at the same time list them as they come, from where its column will be on.
 */
__device__ __forceinline__ uint32_t *chain_of(const slc_velo_cuda_job &job, uint32_t t)
{
    return &job.hit_begin[t];
}

template <uint32_t TEAM>
__device__ __forceinline__ void take(const slc_velo_cuda_job &job, const event &v, const left_rows &s,
                                     const uint32_t *pairs, uint32_t n)
{
    const uint32_t pair = velo_lane() < n ? pairs[velo_lane()] : 0, track = pair >> LAYER_BITS;
    const uint32_t hit = find_all(job, v, s, pair, n);
    if constexpr (TEAM == 1) {
        put_in_front(job, v, track, hit);
    } else if (hit != NONE) {
        job.before[v.first + hit] = (uint16_t)atomicExch(chain_of(job, v.tracks + track), hit);
    }
    __syncwarp();
}

/* Lists of what warps have found, the last layer's first: the one whose number is the highest. */
template <uint32_t TEAM>
__device__ __forceinline__ void order_picked(const slc_velo_cuda_job &job, const event &v, uint32_t n)
{
    uint16_t *before = job.before + v.first;
#pragma unroll 1
    for (uint32_t t = v.tracks + velo_rank<TEAM>(); t < v.tracks + n; t += 32 * TEAM) {
        uint32_t rest = *chain_of(job, t), sorted = NONE;
#pragma unroll 1
        while (rest != NONE) {
            const uint32_t hit = rest;
            rest = before[hit];
            if (sorted == NONE || hit > sorted) {
                before[hit] = (uint16_t)sorted;
                sorted = hit;
                continue;
            }
            uint32_t at = sorted;
#pragma unroll 1
            while (before[at] != NONE && before[at] > hit) {
                at = before[at];
            }
            before[hit] = before[at];
            before[at] = (uint16_t)hit;
        }
        job.ended.picked[t] = (uint16_t)sorted;
    }
}

/* All tracks, 32 at a time, layer after layer; of a team, each warp some layers. */
template <uint32_t TEAM>
__device__ __forceinline__ void pick_up(const slc_velo_cuda_job &job, const event &v, left_hits<TEAM> &s,
                                        uint32_t n)
{
    const uint32_t warp = velo_warp<TEAM>();
    uint32_t *pair = s.pair[warp], pairs = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t t = base + velo_lane();
        const line l = line_of(job, v, v.tracks + (t < n ? t : base));
#pragma unroll 1
        for (uint32_t layer = warp; layer < LAYERS; layer += TEAM) {
            const bool looks = s.low_z[layer] <= s.high_z[layer] && t < n && layer >= l.bottom &&
                               layer <= l.top && may_find(s, l, layer);
            const uint32_t bits = __ballot_sync(velo_all_lanes, looks);
            if (looks) {
                pair[pairs + (uint32_t)__popc(bits & velo_lanes_below())] = t << LAYER_BITS | layer;
            }
            pairs += (uint32_t)__popc(bits);
            __syncwarp();
            const bool ends = base + 32 >= n && layer + TEAM >= LAYERS;
#pragma unroll 1
            while (pairs >= 32 || (ends && pairs > 0)) {
                const uint32_t taken = min(pairs, 32U);
                take<TEAM>(job, v, s, pair, taken);
                pairs -= taken;
                const uint32_t rest = pair[32 + velo_lane()];
                __syncwarp();
                pair[velo_lane()] = rest;
                __syncwarp();
            }
        }
    }
}

template <uint32_t TEAM> constexpr uint32_t threads_of = 32 * (TEAM > 1 ? TEAM : (uint32_t)WARPS);

template <uint32_t TEAM>
__global__ void __launch_bounds__(threads_of<TEAM>, TEAM > 1 ? TEAM_BLOCKS / 2 : BLOCKS)
    pick_up_events(const slc_velo_cuda_job job)
{
    __shared__ left_hits<TEAM> shared[TEAM > 1 ? 1 : WARPS];
    left_hits<TEAM> &s = shared[TEAM > 1 ? 0 : threadIdx.x / 32];
    const uint32_t n = job.head->n_events, warp = velo_warp<TEAM>();
    s.pair[warp][velo_lane()] = s.pair[warp][32 + velo_lane()] = 0;
    for (uint32_t e = velo_next_event<TEAM>(s, job, SLC_VELO_CUDA_NEXT_PICK); e < n;
         e = velo_next_event<TEAM>(s, job, SLC_VELO_CUDA_NEXT_PICK)) {
        if (job.searched[e] == 0) {
            continue;
        }
        event v;
        v.first = job.hit_offset[e];
        v.tracks = v.first / 3;
        v.begin = job.layer_begin + (size_t)e * (LAYERS + 1);
        const uint32_t ended = job.n_ended[e];
#pragma unroll 1
        for (uint32_t t = velo_rank<TEAM>(); t < ended && TEAM > 1; t += 32 * TEAM) {
            *chain_of(job, v.tracks + t) = NONE;
        }
        list_left<TEAM>(job, v, s);
        pick_up<TEAM>(job, v, s, ended);
        velo_team_sync<TEAM>();
        if constexpr (TEAM > 1) {
            order_picked<TEAM>(job, v, ended);
        }
    }
}
} // namespace

slc_status slc_velo_cuda_pick_up(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                 struct CUstream_st *stream, slc_error *error)
{
    if (job->teams != 0) {
        SLC_LAUNCH((pick_up_events<SLC_VELO_CUDA_TEAM>), TEAM_BLOCKS * multiprocessors,
                   threads_of<SLC_VELO_CUDA_TEAM>, 0, stream, *job);
    } else {
        SLC_LAUNCH((pick_up_events<1>), BLOCKS * multiprocessors, threads_of<1>, 0, stream, *job);
    }
    return slc_cuda_check(cudaGetLastError(), "picking up the VELO's hits", error);
}
