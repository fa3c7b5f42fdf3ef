/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass of the search for tracks on a GPU, a team an event: velo_track.c has its steps, velo_track.simd.c
 * the formulas. Lines lie in the lanes; of a layer that they are extended to they look at the hits whose y
 * may be near enough, by bins that are made anew for each step, and of equals at the one that comes first.
 * The greedy choice of seeds is made in rounds: a seed that comes first at both of its outer hits is taken,
 * one whose hit is taken is dropped, and the others go on; so the same are chosen as one by one. What is left
 * of layers moves together as on the processor, so that of equals the same one is the first.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_search.cuh"

namespace
{
/* ---- seeds ------------------------------------------------------------------------------------------- */

/* The free hits of the layer that are nearest in direction: code of the difference, above the place. */
template <uint32_t N> __device__ __forceinline__ void put_nearest(uint32_t mine, uint32_t (&code)[N])
{
#pragma unroll
    for (uint32_t r = 0; r < N; r++) {
        const uint32_t smaller = min(code[r], mine);
        mine = max(code[r], mine);
        code[r] = smaller;
    }
}

__device__ __forceinline__ uint32_t apart(int32_t other, int32_t key)
{
    const uint32_t way = (uint32_t)other - (uint32_t)key;
    return (int32_t)way < 0 ? 0U - way : way;
}

struct __attribute__((aligned(16))) four_keys {
    int32_t of[4];
};

/* Those of a lane, four at a time; of two nearest then those of all lanes with the same hit. */
template <uint32_t N>
__device__ __forceinline__ void find_nearest(const int32_t *down, uint32_t n_down, int32_t key,
                                             const velo_lot &own, uint32_t (&code)[N])
{
#pragma unroll
    for (uint32_t r = 0; r < N; r++) {
        code[r] = FREE;
    }
    const uint32_t fours = n_down & ~3U;
#pragma unroll 1
    for (uint32_t k = 4 * own.mine; k < fours; k += 4 * own.lanes) {
        const four_keys keys = *(const four_keys *)(down + k);
#pragma unroll
        for (uint32_t j = 0; j < 4; j++) {
            put_nearest<N>(apart(keys.of[j], key) | k | j, code);
        }
    }
#pragma unroll 1
    for (uint32_t k = fours + own.mine; k < n_down; k += own.lanes) {
        put_nearest<N>(apart(down[k], key) | k, code);
    }
    if constexpr (N == 2) {
#pragma unroll 1
        for (uint32_t apart = 32 / own.lanes; apart < 32; apart *= 2) {
            const uint32_t first = __shfl_xor_sync(velo_all_lanes, code[0], (int)apart);
            const uint32_t second = __shfl_xor_sync(velo_all_lanes, code[1], (int)apart);
            put_nearest<N>(first, code);
            put_nearest<N>(second, code);
        }
    }
}

/* Distance of the best seed; its pair, above the places of the hit downstream and of the one upstream: of
 * equals the one whose number is lowest comes first. */
struct best_seed {
    float scatter;
    uint32_t code;
};
enum { PAIR_AT = 24, DOWN_AT = 12 };

/* An element of what registers hold. */
template <uint32_t N> __device__ __forceinline__ uint32_t code_at(const uint32_t (&code)[N], uint32_t r)
{
    uint32_t at = code[0];
#pragma unroll
    for (uint32_t j = 1; j < N; j++) {
        at = r == j ? code[j] : at;
    }
    return at;
}

/* The straightest seed through a hit of the middle layer, of the first n pairs: those of a lane, and of these
 * the hits upstream that are its. */
template <uint32_t N, typename Down, typename Bins>
__device__ __forceinline__ best_seed straightest(const slc_velo_cuda_hit &hit, const Down &down,
                                                 const uint32_t (&code)[N], uint32_t n, const Bins &up,
                                                 float limit, float reach, const velo_lot &pairs,
                                                 const velo_lot &hits)
{
    best_seed best = {limit, 0};
    /* One pair after the other in one place, for the instruction cache. */
#pragma unroll 1
    for (uint32_t r = pairs.mine; r < n; r += pairs.lanes) {
        const uint32_t nearest = code_at(code, r), place = nearest & PLACES;
        if (nearest == FREE) {
            break;
        }
        const slc_velo_cuda_hit from = down.hit(place);
        const float length = hit.z - from.z, tx = (hit.x - from.x) / length, ty = (hit.y - from.y) / length;
        const velo_span near = velo_near_line(up, hit.y, hit.z, ty, reach);
        unsigned long long least = velo_first_of(limit, 0);
#pragma unroll 1
        for (const slc_velo_cuda_hit *at = up.hit + near.begin + hits.mine, *end = up.hit + near.end;
             at < end; at += hits.lanes) {
            const slc_velo_cuda_hit to = *at;
            const float scatter = velo_scatter(to.x - hit.x, to.y - hit.y, to.z - hit.z, tx, ty);
            least = min(least, velo_first_of(scatter, (uint32_t)to.key));
        }
        const float scatter = velo_number_of(least);
        if (scatter < best.scatter) {
            best = {scatter, r << PAIR_AT | place << DOWN_AT | (uint32_t)least};
        }
    }
    velo_least_of_lanes(32 / (pairs.lanes * hits.lanes), best.scatter, best.code);
    return best;
}

/* Where a step has few hits, as many have in the second pass, several lanes look for a hit's seed: at
 * different pairs, and where there are more lanes than pairs, at different hits. Of a team, warps that would
 * have none are the others'. */
template <uint32_t N, typename Memory>
__device__ __forceinline__ uint32_t find_seeds(const slc_velo_cuda_job &job, const event &v, Memory &s,
                                               uint32_t d, uint32_t m, uint32_t u, uint32_t n, float limit)
{
    const auto down = free_of(job, v, s, d), middle = free_of(job, v, s, m);
    constexpr uint32_t TEAM = Memory::TEAM, OF_PAIRS = N <= 2 ? 2 : N <= 3 ? 4 : 8;
    const float reach = sqrtf(limit);
    uint32_t seeds = 0;
    velo_team_sync<TEAM>(); /* nobody looks at those of the step before */
#pragma unroll 1
    for (uint32_t k = velo_rank<TEAM>(); k < down.n; k += 32 * TEAM) {
        s.key[k] = down.hit(k).key;
    }
    velo_team_sync<TEAM>();
    velo_make_bins<TEAM>(s, s.table.bins, free_of(job, v, s, u));
    velo_team_sync<TEAM>();
#pragma unroll 1
    for (uint32_t base = 0; base < middle.n; base += 32 * TEAM) {
        const uint32_t lanes = TEAM > 1 ? 1 : velo_lanes_for(middle.n - base), each = 32 / lanes;
        const uint32_t first = base + velo_warp<TEAM>() * each, i = first + velo_lane() % each;
        const uint32_t mine = velo_lane() / each, of_pairs = min(lanes, OF_PAIRS);
        best_seed best = {limit, 0};
        if (first < middle.n) { /* else none of the warp has one */
            const slc_velo_cuda_hit hit = middle.hit(i < middle.n ? i : first);
            uint32_t code[N];
            find_nearest<N>(s.key, down.n, hit.key, N == 2 ? velo_lot{mine, lanes} : velo_lot{0, 1}, code);
            best = straightest<N>(hit, down, code, n, s.table.bins, limit, reach, {mine % of_pairs, of_pairs},
                                  {mine / of_pairs, lanes / of_pairs});
        }
        const bool found = mine == 0 && i < middle.n && best.scatter < limit;
        uint32_t all;
        const uint32_t at = seeds + velo_team_place<TEAM>(s, found, &all);
        if (found) {
            s.lines.seed.scatter[at] = best.scatter;
            s.lines.seed.down[at] = (typename Memory::place)(best.code >> DOWN_AT & PLACES);
            s.lines.seed.middle[at] = (typename Memory::place)i;
            s.lines.seed.up[at] = (typename Memory::place)(best.code & PLACES);
            s.lines.seed.state[at] = WAITS;
        }
        seeds += all;
    }
    return seeds;
}

/* What comes first is smallest: scatter without its last bits, then as seeds come. Never FREE nor TAKEN. */
template <typename Memory> __device__ __forceinline__ uint32_t rank_of(const Memory &s, uint32_t seed)
{
    return ((__float_as_uint(s.lines.seed.scatter[seed]) & ~(uint32_t)PLACES) | seed) + 1;
}

/* A hit that is taken has TAKEN as its owner. */
template <typename Memory> __device__ __forceinline__ void choose_seeds(Memory &s, uint32_t seeds)
{
    constexpr uint32_t TEAM = Memory::TEAM;
#pragma unroll 1
    for (bool more = true; more;) {
#pragma unroll 1
        for (uint32_t k = velo_rank<TEAM>(); k < seeds; k += 32 * TEAM) {
            if (s.lines.seed.state[k] == WAITS) {
                atomicMin(&s.table.owner.down[s.lines.seed.down[k]], rank_of(s, k));
                atomicMin(&s.table.owner.up[s.lines.seed.up[k]], rank_of(s, k));
            }
        }
        velo_team_sync<TEAM>();
#pragma unroll 1
        for (uint32_t k = velo_rank<TEAM>(); k < seeds; k += 32 * TEAM) {
            const uint32_t rank = rank_of(s, k);
            if (s.lines.seed.state[k] == WAITS && s.table.owner.down[s.lines.seed.down[k]] == rank &&
                s.table.owner.up[s.lines.seed.up[k]] == rank) {
                s.lines.seed.state[k] = CHOSEN; /* nobody else has this rank: these two places are its own */
            }
        }
        velo_team_sync<TEAM>();
#pragma unroll 1
        for (uint32_t k = velo_rank<TEAM>(); k < seeds; k += 32 * TEAM) {
            if (s.lines.seed.state[k] == CHOSEN) {
                s.table.owner.down[s.lines.seed.down[k]] = s.table.owner.up[s.lines.seed.up[k]] = TAKEN;
            }
        }
        velo_team_sync<TEAM>();
        bool waits = false;
#pragma unroll 1
        for (uint32_t k = velo_rank<TEAM>(); k < seeds; k += 32 * TEAM) {
            if (s.lines.seed.state[k] != WAITS) {
                continue;
            }
            if (s.table.owner.down[s.lines.seed.down[k]] == TAKEN ||
                s.table.owner.up[s.lines.seed.up[k]] == TAKEN) {
                s.lines.seed.state[k] = DROPPED;
            } else {
                waits = true;
            }
        }
        velo_team_sync<TEAM>();
        more = velo_team_any<TEAM>(waits);
#pragma unroll 1
        for (uint32_t k = velo_rank<TEAM>(); k < seeds && more; k += 32 * TEAM) {
            if (s.lines.seed.state[k] == WAITS) {
                s.table.owner.down[s.lines.seed.down[k]] = s.table.owner.up[s.lines.seed.up[k]] = FREE;
            }
        }
        velo_team_sync<TEAM>();
    }
}

/* The seeds that are chosen become candidates, in their order. */
template <typename Memory>
__device__ __forceinline__ void start(const slc_velo_cuda_job &job, event &v, Memory &s, uint32_t seeds,
                                      uint32_t d, uint32_t m, uint32_t u)
{
    constexpr uint32_t TEAM = Memory::TEAM;
    const auto down_hits = free_of(job, v, s, d), middle_hits = free_of(job, v, s, m),
               up_hits = free_of(job, v, s, u);
    uint16_t *before = job.before + v.first;
#pragma unroll 1
    for (uint32_t base = 0; base < seeds; base += 32 * TEAM) {
        const uint32_t k = base + velo_rank<TEAM>();
        const bool taken = k < seeds && s.lines.seed.state[k] == CHOSEN;
        uint32_t all;
        const uint32_t at = v.tracks + v.n_candidates + velo_team_place<TEAM>(s, taken, &all);
        if (taken) {
            const slc_velo_cuda_hit to = up_hits.hit(s.lines.seed.up[k]),
                                    from = middle_hits.hit(s.lines.seed.middle[k]);
            const uint32_t up = up_hits.id(s.lines.seed.up[k]),
                           middle = middle_hits.id(s.lines.seed.middle[k]);
            const uint32_t down = down_hits.id(s.lines.seed.down[k]);
            const float dz = to.z - from.z;
            job.candidates[at] = {to.x,
                                  to.y,
                                  to.z,
                                  s.lines.seed.scatter[k],
                                  (to.x - from.x) / dz,
                                  (to.y - from.y) / dz,
                                  s.lines.seed.scatter[k],
                                  (uint16_t)up,
                                  3};
            before[up] = (uint16_t)middle;
            before[middle] = (uint16_t)down;
            before[down] = (uint16_t)down;
            s.key[s.lines.seed.middle[k]] = 1;
        }
        v.n_candidates += all;
    }
    velo_team_sync<TEAM>();
}

template <typename Memory, typename Stays>
__device__ __forceinline__ void compact(Memory &s, uint32_t l, const Stays &stays)
{
    const typename Memory::place *place = s.free[l % ACTIVE];
    keep_free(s, l, s.n_left[l], [&](uint32_t k, uint32_t *at) {
        *at = place[k];
        return stays(k);
    });
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
    constexpr uint32_t TEAM = Memory::TEAM;
    velo_team_sync<TEAM>(); /* nobody looks at bins any more */
#pragma unroll 1
    for (uint32_t k = velo_rank<TEAM>(); k < max(n_down, max(n_middle, n_up)); k += 32 * TEAM) {
        s.table.owner.down[k] = s.table.owner.up[k] = FREE;
        s.key[k] = 0;
    }
    velo_team_sync<TEAM>();
    choose_seeds(s, seeds);
    start(job, v, s, seeds, d, i, u);
    /* In one place, for the instruction cache; each layer by a warp of the team. */
#pragma unroll 1
    for (uint32_t of = velo_warp<TEAM>() + (last ? 1 : 0); of < 3; of += TEAM) {
        const uint32_t *owner = of == 0 ? s.table.owner.down : s.table.owner.up;
        compact(s,
                of == 0   ? d
                : of == 1 ? i
                          : u,
                [&](uint32_t k) { return of == 1 ? s.key[k] == 0 : owner[k] != TAKEN; });
    }
    if constexpr (TEAM > 1) {
        __syncthreads();
    }
}

/* ---- candidates -------------------------------------------------------------------------------------- */

/* What each candidate wants, and who gets a hit: the one that it fits best, of equal ones the first. */
template <typename Memory>
__device__ __forceinline__ void want(const slc_velo_cuda_job &job, const event &v, Memory &s, uint32_t layer,
                                     float max_scatter)
{
    constexpr uint32_t TEAM = Memory::TEAM;
    const float reach = sqrtf(max_scatter);
    const bool looks = max_scatter > 0 && s.n_left[layer] > 0;
    if (looks) {
        velo_make_bins<TEAM>(s, s.table.bins, free_of(job, v, s, layer));
    }
#pragma unroll 1
    for (uint32_t i = velo_rank<TEAM>(); i < v.n_candidates; i += 32 * TEAM) {
        const uint32_t at = v.tracks + i;
        const slc_velo_cuda_candidate c = job.candidates[at];
        const velo_span near = looks ? velo_near_line(s.table.bins, c.y, c.z, c.ty, reach) : velo_span{0, 0};
        unsigned long long first = velo_first_of(max_scatter, 0);
#pragma unroll 1
        for (const slc_velo_cuda_hit *of = s.table.bins.hit + near.begin, *end = s.table.bins.hit + near.end;
             of < end; of++) {
            const slc_velo_cuda_hit hit = *of;
            const float scatter = velo_scatter(hit.x - c.x, hit.y - c.y, hit.z - c.z, c.tx, c.ty);
            first = min(first, velo_first_of(scatter, (uint32_t)hit.key));
        }
        const float best = velo_number_of(first);
        const uint32_t wanted = best < max_scatter ? (uint32_t)first : (uint32_t)NONE;
        job.best[at] = best;
        job.wanted[at] = (uint16_t)wanted;
        if (wanted != NONE) {
            atomicMin(&s.lines.extend[wanted], velo_first_of(best, i));
        }
    }
    velo_team_sync<TEAM>();
}

/* A candidate takes what it wants, or has skipped a layer. */
template <typename Memory>
__device__ __forceinline__ slc_velo_cuda_candidate advanced(const slc_velo_cuda_job &job, const event &v,
                                                            const Memory &s, uint32_t layer, uint32_t i)
{
    const uint32_t at = v.tracks + i, wanted = job.wanted[at];
    slc_velo_cuda_candidate next = job.candidates[at];
    if (wanted == NONE || (uint32_t)s.lines.extend[wanted] != i) {
        next.count = (uint16_t)(next.count + SKIP);
        return next;
    }
    const auto hits = free_of(job, v, s, layer);
    const slc_velo_cuda_hit hit = hits.hit(wanted);
    const uint32_t id = hits.id(wanted);
    const float dz = hit.z - next.z;
    next.tx = (hit.x - next.x) / dz;
    next.ty = (hit.y - next.y) / dz;
    next.x = hit.x;
    next.y = hit.y;
    next.z = hit.z;
    next.last = job.best[at];
    next.scatter += next.last;
    next.count = (uint16_t)((next.count & HITS_OF) + 1);
    job.before[v.first + id] = next.hit;
    next.hit = (uint16_t)id;
    return next;
}

/* `last`: there is no layer any more, and all end. */
template <typename Memory>
__device__ __forceinline__ void extend(const slc_velo_cuda_job &job, event &v, Memory &s, uint32_t layer,
                                       const slc_velo_cuda_pass &p, bool last)
{
    constexpr uint32_t TEAM = Memory::TEAM;
    if (v.n_candidates == 0) {
        return;
    }
#pragma unroll 1
    for (uint32_t k = velo_rank<TEAM>(); k < s.n_left[layer]; k += 32 * TEAM) {
        s.lines.extend[k] = ~0ULL;
    }
    velo_team_sync<TEAM>();
    want(job, v, s, layer, last ? 0 : p.extending);
    uint32_t kept = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < v.n_candidates; base += 32 * TEAM) {
        const uint32_t i = base + velo_rank<TEAM>();
        slc_velo_cuda_candidate next = {};
        if (i < v.n_candidates) {
            next = advanced(job, v, s, layer, i);
        }
        const bool ends = i < v.n_candidates && (last || next.count >= 2 * SKIP);
        const bool stays = i < v.n_candidates && !ends;
        uint32_t all;
        const uint32_t to = v.tracks + kept + velo_team_place<TEAM>(s, stays, &all);
        if (velo_team_any<TEAM>(ends)) {
            const ending end = {next.hit, next.count & (uint32_t)HITS_OF, next.scatter, next.last};
            finish(job, v, s, ends, end, p.max_3hits);
        }
        velo_team_sync<TEAM>();
        if (stays) {
            job.candidates[to] = next;
        }
        kept += all;
        velo_team_sync<TEAM>();
    }
    v.n_candidates = kept;
    if (velo_warp<TEAM>() == 0) {
        compact(s, layer, [&](uint32_t k) { return s.lines.extend[k] == ~0ULL; });
    }
    if constexpr (TEAM > 1) {
        __syncthreads();
    }
}

/* ---- a pass ------------------------------------------------------------------------------------------ */

/* A layer comes into reach: its hits that no earlier pass has used. */
template <typename Memory>
__device__ __forceinline__ void enter(const slc_velo_cuda_job &job, const event &v, Memory &s, uint32_t l,
                                      bool all_free)
{
    const uint32_t begin = s.begin[l];
    const uint8_t *used = job.used + v.first + begin;
    keep_free(s, l, s.begin[l + 1] - begin, [&](uint32_t k, uint32_t *at) {
        *at = k;
        return all_free || used[k] == 0;
    });
}

/* Each step is in one place, for the instruction cache: a seed, an extension, in the second pass a wider
 * seed; and behind the last one everything ends. */
template <uint32_t N, typename Memory>
__device__ __forceinline__ void search_event(const slc_velo_cuda_job &job, event &v, Memory &s,
                                             const slc_velo_cuda_pass &p)
{
    enum { SEED, EXTEND, WIDE_SEED };
    uint32_t i = LAYERS - 2, action = SEED;
    const uint16_t *begin = job.layer_begin + (size_t)v.e * (LAYERS + 1);
    if (velo_rank<Memory::TEAM>() <= LAYERS) {
        s.begin[velo_rank<Memory::TEAM>()] = begin[velo_rank<Memory::TEAM>()];
    }
    velo_team_sync<Memory::TEAM>();
    uint32_t entered = LAYERS; /* this and all above */
    while (i > 0) {
#pragma unroll 1
        while (entered > (action == SEED ? i - 1 : i >= 2 ? i - 2 : 0)) {
            entered--;
            if (velo_warp<Memory::TEAM>() == entered % Memory::TEAM) {
                enter(job, v, s, entered, p.second == 0);
            }
        }
        if constexpr (Memory::TEAM > 1) {
            __syncthreads();
        }
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

/* Blocks on a multiprocessor: as many as its shared memory holds, or its registers. */
template <uint32_t MOST, uint32_t TEAM>
constexpr uint32_t blocks_of = TEAM > 1                       ? SLC_VELO_CUDA_WARPS_THERE / TEAM
                               : MOST <= SLC_VELO_CUDA_SMALL  ? 16
                               : MOST <= SLC_VELO_CUDA_MIDDLE ? 12
                                                              : 7;
template <uint32_t MOST>
constexpr slc_velo_cuda_size size_of = MOST <= SLC_VELO_CUDA_SMALL    ? SLC_VELO_CUDA_IS_SMALL
                                       : MOST <= SLC_VELO_CUDA_MIDDLE ? SLC_VELO_CUDA_IS_MIDDLE
                                                                      : SLC_VELO_CUDA_IS_LARGE;
template <uint32_t TEAM> constexpr uint32_t teams_of = TEAM > 1 ? 1 : (uint32_t)WARPS;

/* A team of one warp takes events of one size, a larger one all. */
template <uint32_t N, uint32_t MOST, uint32_t TEAM>
__global__ void __launch_bounds__(32 * TEAM * teams_of<TEAM>, blocks_of<MOST, TEAM>)
    search_events(const slc_velo_cuda_job job, const slc_velo_cuda_pass p)
{
    __shared__ step_memory<MOST, TEAM> shared[teams_of<TEAM>];
    step_memory<MOST, TEAM> &s = shared[TEAM > 1 ? 0 : threadIdx.x / 32];
    constexpr slc_velo_cuda_size size = size_of<MOST>;
    const uint32_t n = job.head->n_events;
    const uint32_t kernel = (p.second != 0 ? SLC_VELO_CUDA_NEXT_SECOND : SLC_VELO_CUDA_NEXT_FIRST) + size -
                            SLC_VELO_CUDA_IS_SMALL;
    for (uint32_t e = velo_next_event<TEAM>(s, job, kernel); e < n;
         e = velo_next_event<TEAM>(s, job, kernel)) {
        if (TEAM > 1 ? job.searched[e] == 0 : job.searched[e] != size) {
            continue;
        }
        event v;
        v.e = e;
        v.first = job.hit_offset[e];
        v.tracks = v.first / 3;
        v.n_candidates = 0;
        v.layer_z = job.settings.layer_z[min(velo_lane(), (uint32_t)LAYERS - 1)];
        v.n_ended = job.n_ended[e];
        v.n_listed = job.n_listed[e];
        const uint32_t ended = v.n_ended;
        search_event<N>(job, v, s, p);
        list_hits<TEAM>(job, v, ended);
        if (velo_rank<TEAM>() == 0) {
            job.n_ended[e] = v.n_ended;
            job.n_listed[e] = v.n_listed;
        }
        velo_team_sync<TEAM>();
    }
}

template <uint32_t N, uint32_t MOST, uint32_t TEAM>
void launch(const slc_velo_cuda_job *job, const slc_velo_cuda_pass *pass, uint32_t multiprocessors,
            struct CUstream_st *stream)
{
    SLC_LAUNCH((search_events<N, MOST, TEAM>), (blocks_of<MOST, TEAM> * multiprocessors),
               32 * TEAM * teams_of<TEAM>, 0, stream, *job, *pass);
}

template <uint32_t N>
void launch_size(const slc_velo_cuda_job *job, const slc_velo_cuda_pass *pass, slc_velo_cuda_size size,
                 uint32_t multiprocessors, struct CUstream_st *stream)
{
    if (size == SLC_VELO_CUDA_IS_SMALL) {
        launch<N, SLC_VELO_CUDA_SMALL, 1>(job, pass, multiprocessors, stream);
    } else if (size == SLC_VELO_CUDA_IS_MIDDLE) {
        launch<N, SLC_VELO_CUDA_MIDDLE, 1>(job, pass, multiprocessors, stream);
    } else if (size == SLC_VELO_CUDA_IS_LARGE) {
        launch<N, SLC_VELO_CUDA_LAYER, 1>(job, pass, multiprocessors, stream);
    } else {
        launch<N, SLC_VELO_CUDA_LAYER, SLC_VELO_CUDA_SMALL_TEAM>(job, pass, multiprocessors, stream);
    }
}
} // namespace

slc_status slc_velo_cuda_search(const slc_velo_cuda_job *job, const slc_velo_cuda_pass *pass,
                                slc_velo_cuda_size size, uint32_t multiprocessors, struct CUstream_st *stream,
                                slc_error *error)
{
    if (pass->n <= 2) {
        launch_size<2>(job, pass, size, multiprocessors, stream);
    } else if (pass->n == 3) {
        launch_size<3>(job, pass, size, multiprocessors, stream);
    } else if (pass->n <= 5) {
        launch_size<5>(job, pass, size, multiprocessors, stream);
    } else {
        launch_size<10>(job, pass, size, multiprocessors, stream);
    }
    return slc_cuda_check(cudaGetLastError(), "searching the VELO's tracks", error);
}
