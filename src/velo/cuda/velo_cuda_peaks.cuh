/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernel of the VELO's vertices: tracks in their order along the beam, their histogram, and its
 * peaks.
 */
#ifndef SLUICE_VELO_CUDA_PEAKS_CUH
#define SLUICE_VELO_CUDA_PEAKS_CUH

#include "velo/cuda/velo_cuda_vertex.cuh"

using seed = slc_velo_cuda_seed;
using finder = slc_velo_cuda_finder;
enum { GROUP = SLC_VELO_CUDA_VERTEX_GROUP };

/* ---- tracks ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ bool within(float v, float bound)
{
    return fabsf(v) < bound;
}

/* Usable tracks move together; the result is how many, more than there is room for at most. */
template <uint32_t TEAM>
static __device__ __forceinline__ uint32_t locate(const slc_velo_cuda_job &job, const finder &f,
                                                  velo_team<TEAM> &team, uint32_t first, uint32_t n_tracks)
{
    enum { STEP = 32 * TEAM };
    const slc_velo_cuda_vertex &cuts = job.vertex;
    const slc_velo_cuda_states &s = job.beam;
    uint32_t n = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < n_tracks && n + STEP <= SLC_VELO_CUDA_VERTEX_TRACKS; base += STEP) {
        const bool in = base + velo_rank<TEAM>() < n_tracks;
        const uint32_t i = first + (in ? base + velo_rank<TEAM>() : base);
        const float x = s.x[i], y = s.y[i], tx = s.tx[i], ty = s.ty[i];
        const float variance = s.pp[i] * cuts.variance_scale, place = (s.z[i] - cuts.z_min) / cuts.bin;
        const bool usable = in && within(x, 1e4F) && within(y, 1e4F) && within(tx, 1e4F) &&
                            within(ty, 1e4F) && within(variance, 1e4F) && variance > 1e-10F && place >= 0 &&
                            place < cuts.n_bins;
        const float w = 1.0F / variance, dx = x - cuts.beam_x, dy = y - cuts.beam_y;
        const float chi2 = (dx * dx) * w + (dy * dy) * w, weight_z = (tx * tx) * w + (ty * ty) * w;
        const float variance_z = 1.0F / weight_z;
        const bool counted = chi2 < cuts.max_chi2 && variance_z < cuts.max_sigma_z * cuts.max_sigma_z;
        const float reach = sqrtf(7.0F * variance_z) / cuts.bin;
        uint32_t all;
        const uint32_t to = n + velo_team_place<TEAM>(team, usable, &all);
        if (usable) {
            f.s.row[to] = (uint16_t)(i - first);
            f.s.place[to] = place;
            f.s.reach[to] = counted ? reach : 0;
        }
        n += all;
        if (base + STEP < n_tracks && n + STEP > SLC_VELO_CUDA_VERTEX_TRACKS) {
            n = SLC_VELO_CUDA_VERTEX_TRACKS + 1;
        }
    }
    velo_team_sync<TEAM>();
    return n;
}

/* f.group_end[g] becomes the end of group g, or, if they are to be filled, its beginning: sums by the first
 * warp, whose lanes have some behind each other. */
template <uint32_t TEAM>
static __device__ __forceinline__ void sum_groups(const slc_velo_cuda_job &job, const finder &f, uint32_t n,
                                                  bool begins)
{
    const uint32_t groups = job.vertex.bins / GROUP + 2, rank = velo_rank<TEAM>();
    velo_team_sync<TEAM>(); /* the histogram was here */
#pragma unroll 1
    for (uint32_t g = rank; g < groups; g += 32 * TEAM) {
        f.group_end[g] = 0;
    }
    velo_team_sync<TEAM>();
#pragma unroll 1
    for (uint32_t i = rank; i < n; i += 32 * TEAM) {
        atomicAdd(&f.group_end[(uint32_t)(int32_t)f.s.place[i] / GROUP], 1U);
    }
    velo_team_sync<TEAM>();
    if (velo_rank_of_warp<TEAM>() == 0) {
        const uint32_t each = (groups + 31) / 32 | 1U; /* odd: each lane has its bank */
        const uint32_t from = min(velo_lane() * each, groups), to = min(from + each, groups);
        uint32_t sum = 0, all;
#pragma unroll 1
        for (uint32_t g = from; g < to; g++) {
            sum += f.group_end[g];
        }
        sum = velo_sum_before(sum, &all);
#pragma unroll 1
        for (uint32_t g = from; g < to; g++) {
            const uint32_t mine = f.group_end[g];
            f.group_end[g] = begins ? sum : sum + mine;
            sum += mine;
        }
        __syncwarp();
    }
}

/* By rising group of bins, as they come in each: count, sum, fill, which the first warp does. */
template <uint32_t TEAM>
static __device__ __forceinline__ void order_tracks(const slc_velo_cuda_job &job, const finder &f, uint32_t n)
{
    sum_groups<TEAM>(job, f, n, true);
#pragma unroll 1
    for (uint32_t base = velo_rank_of_warp<TEAM>() == 0 ? 0 : n; base < n; base += 32) {
        const uint32_t i = base + velo_lane();
        const uint32_t group = i < n ? (uint32_t)(int32_t)f.s.place[i] / GROUP : ~0U;
        const uint32_t same = __match_any_sync(velo_all_lanes, group);
        const uint32_t rank = (uint32_t)__popc(same & velo_lanes_below());
        const uint32_t at = i < n ? f.group_end[group] : 0;
        __syncwarp();
        if (i < n) {
            f.s.order[at + rank] = (uint16_t)i;
            if (rank == 0) {
                f.group_end[group] = at + (uint32_t)__popc(same);
            }
        }
        __syncwarp();
    }
}

template <uint32_t TEAM>
static __device__ __forceinline__ void collect(const slc_velo_cuda_job &job, const finder &f, uint32_t first,
                                               uint32_t n)
{
    const slc_velo_cuda_states &s = job.beam;
    velo_team_sync<TEAM>(); /* the order is there */
#pragma unroll 1
    for (uint32_t i = velo_rank<TEAM>(); i < n; i += 32 * TEAM) {
        const uint32_t from = first + f.s.row[f.s.order[i]];
        /* Read before anything is written. */
        const float x = s.x[from], y = s.y[from], z = s.z[from], tx = s.tx[from], ty = s.ty[from];
        const float pp = s.pp[from];
        f.s.x[i] = x;
        f.s.y[i] = y;
        f.s.z[i] = z;
        f.s.tx[i] = tx;
        f.s.ty[i] = ty;
        f.s.w[i] = 1.0F / (pp * job.vertex.variance_scale);
        f.s.shares[i] = 0;
    }
    velo_team_sync<TEAM>();
}

/* ---- the histogram ----------------------------------------------------------------------------------- */

/* The integral of the parabola 3/4 (1 - u²) from the middle to u, held at its ends ±1. */
static __device__ __forceinline__ float integral(float u)
{
    const float low = u < 1.0F ? u : 1.0F, held = low > -1.0F ? low : -1.0F;
    return held * (0.75F - 0.25F * (held * held));
}

/* The bins that tracks reach, with one more on both sides; `end` is less where they reach none. */
struct reached {
    uint32_t low, end;
};

static __device__ __forceinline__ reached reach_of(const slc_velo_cuda_job &job, const float *places,
                                                   const float *reaches, uint32_t n)
{
    const float bins = (float)job.vertex.bins;
    float low = bins, high = 0;
#pragma unroll 1
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        const float place = places[i], half = reaches[i];
        low = half > 0 ? min(low, place - half) : low;
        high = half > 0 ? max(high, place + half) : high;
    }
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2) {
        low = min(low, __shfl_xor_sync(velo_all_lanes, low, (int)step));
        high = max(high, __shfl_xor_sync(velo_all_lanes, high, (int)step));
    }
    const uint32_t first = (uint32_t)(int32_t)(low > 1 ? low - 1 : 0);
    return {min(first, job.vertex.bins), high < bins - 2 ? (uint32_t)(int32_t)high + 2 : job.vertex.bins};
}

/* Adds a track of each lane, with no reach where there is none, to its bins: as tracks reach few or many, it
 * is their bins that lie in the lanes. */
static __device__ __forceinline__ void add_tracks(const finder &f, uint32_t bins, float place, float half)
{
    const float low = place - half, high = place + half, scale = 1.0F / half;
    const uint32_t begin = (uint32_t)(int32_t)(low > 0 ? low : 0);
    const uint32_t end = high < (float)bins ? (uint32_t)(int32_t)high + 1 : bins;
    uint32_t all;
    const uint32_t before = velo_sum_before(half > 0 && begin < end ? end - begin : 0, &all);
#pragma unroll 1
    for (uint32_t first = 0; first < all; first += 32) {
        const uint32_t at = first + velo_lane();
        uint32_t owner = 0; /* the last one whose bins begin here or before */
#pragma unroll
        for (uint32_t step = 16; step > 0; step /= 2) {
            owner += __shfl_sync(velo_all_lanes, before, (int)(owner + step)) <= at ? step : 0;
        }
        const uint32_t b = __shfl_sync(velo_all_lanes, begin - before, (int)owner) + at;
        const float from = (float)(int32_t)b - __shfl_sync(velo_all_lanes, place, (int)owner);
        const float of = __shfl_sync(velo_all_lanes, scale, (int)owner);
        const float share = integral((from + 1.0F) * of) - integral(from * of);
        if (at < all) {
            atomicAdd(&f.bin(b), (uint32_t)__float2int_rn(share * (float)SLC_VELO_CUDA_VERTEX_UNITS));
        }
    }
}

template <uint32_t TEAM>
static __device__ __forceinline__ void fill(const slc_velo_cuda_job &job, const finder &f,
                                            const reached &range, const float *places, const float *reaches,
                                            uint32_t n)
{
    enum { STEP = 32 * TEAM };
    const uint32_t bins = job.vertex.bins, of_warp = velo_rank_of_warp<TEAM>();
    velo_team_sync<TEAM>(); /* nobody looks at the one before any more */
#pragma unroll 1
    for (uint32_t b = range.low + velo_rank<TEAM>(); b < range.end; b += STEP) {
        f.bin(b) = 0;
    }
#pragma unroll 1
    for (uint32_t w = velo_rank<TEAM>(); w < bins / 32 + 2; w += STEP) { /* a word without bits at the end */
        f.above[w] = f.starts[w] = 0;
    }
    velo_team_sync<TEAM>();
#pragma unroll 1
    for (uint32_t base = of_warp; base < n; base += STEP) {
        const bool in = base + velo_lane() < n;
        add_tracks(f, bins, in ? places[base + velo_lane()] : 0, in ? reaches[base + velo_lane()] : 0);
    }
    velo_team_sync<TEAM>();
#pragma unroll 1
    for (uint32_t base = range.low / 32 * 32 + of_warp; base < range.end; base += STEP) {
        const uint32_t b = base + velo_lane();
        const bool above = b >= range.low && b < range.end && f.bin(b) > job.vertex.threshold;
        const uint32_t bits = __ballot_sync(velo_all_lanes, above);
        if (velo_lane() == 0) {
            f.above[base / 32] = bits;
        }
    }
    velo_team_sync<TEAM>();
}

/* ---- peaks ------------------------------------------------------------------------------------------- */

static __device__ __forceinline__ bool is_set(const uint32_t *bits, uint32_t b)
{
    return (bits[b / 32] >> b % 32 & 1U) != 0;
}

/* Marks where peaks begin in the stretch from `begin` on: at its start, and behind deep dips. */
static __device__ __forceinline__ void split_stretch(const slc_velo_cuda_job &job, const finder &f,
                                                     uint32_t begin)
{
    const float dip = job.vertex.dip;
    uint32_t bottom = begin, top = f.bin(begin), low = top;
    atomicOr(&f.starts[begin / 32], 1U << begin % 32);
#pragma unroll 1
    for (uint32_t b = begin; b < job.vertex.bins && is_set(f.above, b); b++) {
        const uint32_t here = f.bin(b);
        const bool deep = !((float)top - (float)low <= dip);
        if (here < low) {
            bottom = b;
            low = here;
        } else if (!deep && here > top) {
            bottom = b;
            top = low = here;
        } else if (deep && (float)here - (float)low > dip) {
            atomicOr(&f.starts[bottom / 32], 1U << bottom % 32);
            bottom = b;
            top = low = here;
        }
    }
}

/* The place of set bit number k of words, from 0 on; `before`: of the words before each lane's, of which
 * there are `words`. All lanes ask for their own. */
static __device__ __forceinline__ uint32_t list_bits(const uint32_t *bits, const uint32_t *less,
                                                     uint32_t words, uint16_t *list)
{
    uint32_t n = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < words; base += 32) {
        const uint32_t w = base + velo_lane();
        uint32_t mine = w < words ? bits[w] : 0, all;
        if (less != nullptr && mine != 0) { /* those whose neighbour below is not set */
            mine &= ~(less[w] << 1 | (w > 0 ? less[w - 1] >> 31 : 0));
        }
        uint32_t at = n + velo_sum_before((uint32_t)__popc(mine), &all);
        for (; mine != 0; mine &= mine - 1) {
            list[at++] = (uint16_t)(32 * w + (uint32_t)__ffs((int)mine) - 1);
        }
        n += all;
    }
    __syncwarp();
    return n;
}

struct peak {
    float z;
    uint32_t integral;
    bool good;
};

/* The peak that begins at a bin. */
static __device__ __forceinline__ peak peak_at(const slc_velo_cuda_job &job, const finder &f, uint32_t begin,
                                               float min_peak)
{
    const slc_velo_cuda_vertex &cuts = job.vertex;
    unsigned long long sum = 0;
    uint32_t highest = begin, top = f.bin(begin);
#pragma unroll 1
    for (uint32_t b = begin; b < cuts.bins && is_set(f.above, b) && (b == begin || !is_set(f.starts, b));
         b++) {
        const uint32_t here = f.bin(b);
        sum += here;
        highest = here > top ? b : highest;
        top = here > top ? here : top;
    }
    const float left = highest > 0 ? (float)f.bin(highest - 1) : 0, middle = (float)f.bin(highest),
                right = highest + 1 < cuts.bins ? (float)f.bin(highest + 1) : 0;
    const float bend = 2 * middle - left - right, shift = bend > 0 ? 0.5F * (right - left) / bend : 0;
    peak p;
    p.z = cuts.z_min + cuts.bin * ((float)highest + 0.5F + shift);
    p.good = (float)sum > min_peak * (float)SLC_VELO_CUDA_VERTEX_UNITS;
    p.integral = sum < 0xffffffffULL ? (uint32_t)sum : 0xffffffffU;
    return p;
}

static __device__ __forceinline__ void put_seed(const slc_velo_cuda_job &job, const finder &f, uint32_t k,
                                                float z, uint32_t sum)
{
    seed &s = f.s.seeds[k];
    s.at[0] = job.vertex.beam_x;
    s.at[1] = job.vertex.beam_y;
    s.at[2] = s.peak_z = z;
    s.weight = s.chi2 = 0;
    s.begin = s.end = s.share = 0;
    for (uint32_t c = 0; c < 6; c++) {
        s.cov[c] = 0;
    }
    s.cov_scale = 0;
    s.integral = sum;
    s.moving = s.alive = 1;
}

/* Where there are too many seeds, the weakest of those from `first` on goes, of equals the later one. By one
 * lane. */
static __device__ __forceinline__ void keep_seed(const slc_velo_cuda_job &job, const finder &f,
                                                 uint32_t first, uint32_t *n, const peak &p)
{
    uint32_t place = *n;
    if (place < SLC_VELO_MAX_PRIMARIES) {
        *n += 1;
    } else {
#pragma unroll 1
        for (uint32_t k = first; k < SLC_VELO_MAX_PRIMARIES; k++) {
            place = place == *n || f.s.seeds[k].integral <= f.s.seeds[place].integral ? k : place;
        }
        if (place == *n || f.s.seeds[place].integral >= p.integral) {
            return;
        }
    }
    put_seed(job, f, place, p.z, p.integral);
}

/* Peaks become seeds behind the first `have`; returns how many seeds there are. */
static __device__ __forceinline__ uint32_t find_peaks(const slc_velo_cuda_job &job, const finder &f,
                                                      uint32_t have, float min_peak)
{
    const uint32_t words = job.vertex.bins / 32 + 1;
    uint32_t n = list_bits(f.above, f.above, words, f.s.list), seeds = have;
#pragma unroll 1
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        split_stretch(job, f, f.s.list[i]);
    }
    __syncwarp();
    n = list_bits(f.starts, nullptr, words, f.s.list);
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t i = base + velo_lane();
        peak p = {};
        if (i < n) {
            p = peak_at(job, f, f.s.list[i], min_peak);
        }
        const uint32_t bits = __ballot_sync(velo_all_lanes, p.good), more = (uint32_t)__popc(bits);
        if (seeds + more <= SLC_VELO_MAX_PRIMARIES) {
            if (p.good) {
                put_seed(job, f, seeds + (uint32_t)__popc(bits & velo_lanes_below()), p.z, p.integral);
            }
            seeds += more;
        } else {
#pragma unroll 1
            for (uint32_t lane = 0; lane < 32; lane++) { /* one after the other */
                if (velo_lane() == lane && p.good) {
                    keep_seed(job, f, have, &seeds, p);
                }
                seeds = __shfl_sync(velo_all_lanes, seeds, (int)lane);
            }
        }
        __syncwarp();
    }
    return seeds;
}

#endif
