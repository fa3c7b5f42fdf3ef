/* SPDX-License-Identifier: Apache-2.0
 *
 * Primary vertices on a GPU, a team an event: all warps locate tracks, fill the histogram and fit vertices
 * far apart, and what comes one after the other the first does. Velo_vertex.c has the steps,
 * velo_vertex.simd.c the formulas. Tracks lie in the lanes. Sums have the processor's sixteen accumulators:
 * those of lanes 0 to 15, which get two tracks at a time, one after the other. x and y of a fitted track have
 * the same error.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_peaks.cuh"

namespace
{
template <uint32_t TEAM> using vertex_team = slc_velo_cuda_vertex_team<TEAM>;

/* Blocks on a multiprocessor: as many histograms of near tracks as its shared memory holds; and fewer of
 * teams. */
enum { BLOCKS = 32, TEAM_BLOCKS = SLC_VELO_CUDA_WARPS_THERE / SLC_VELO_CUDA_SMALL_TEAM };

/* ---- windows ----------------------------------------------------------------------------------------- */

__device__ __forceinline__ uint32_t group_of(const slc_velo_cuda_job &job, float place)
{
    const float held = place > 0 ? place : 0;
    return (held < job.vertex.n_bins ? (uint32_t)held : job.vertex.bins - 1) / GROUP;
}

/* Of the seeds from `first` to `n` - 1, one after the other; false where there is no room for shares. */
__device__ __forceinline__ bool open_windows(const slc_velo_cuda_job &job, const finder &f, uint32_t first,
                                             uint32_t n)
{
    const slc_velo_cuda_vertex &cuts = job.vertex;
    uint32_t share = first > 0
                         ? f.s.seeds[first - 1].share + f.s.seeds[first - 1].end - f.s.seeds[first - 1].begin
                         : 0;
    const uint32_t from = share;
#pragma unroll 1
    for (uint32_t base = first; base < n; base += 32) {
        const uint32_t k = base + velo_lane();
        uint32_t begin = 0, end = 0, all;
        if (k < n) {
            const float place = (f.s.seeds[k].peak_z - cuts.z_min) / cuts.bin;
            const uint32_t low = group_of(job, place - cuts.window_bins);
            begin = low > 0 ? f.group_end[low - 1] : 0;
            end = f.group_end[group_of(job, place + cuts.window_bins)];
        }
        const uint32_t at = share + velo_sum_before(end - begin, &all);
        if (k < n) {
            f.s.seeds[k].begin = begin;
            f.s.seeds[k].end = end;
            f.s.seeds[k].share = at;
        }
        share += all;
    }
    if (share > SLC_VELO_CUDA_VERTEX_SHARES) {
        return false;
    }
#pragma unroll 1
    for (uint32_t i = from + velo_lane(); i < share; i += 32) {
        f.s.share[i] = 0;
    }
    __syncwarp();
    return true;
}

/* ---- fit --------------------------------------------------------------------------------------------- */

/* Gives the vertex up, and its tracks to the others. */
__device__ __forceinline__ void drop(const finder &f, seed &s)
{
#pragma unroll 1
    for (uint32_t i = s.begin + velo_lane(); i < s.end; i += 32) {
        const float rest = f.s.shares[i] - f.s.share[s.share + i - s.begin];
        f.s.shares[i] = rest > 0 ? rest : 0;
    }
    __syncwarp();
    if (velo_lane() == 0) {
        s.alive = s.moving = 0;
    }
    __syncwarp();
}

/* The function of simd_math.h. */
__device__ __forceinline__ float exponential(float x)
{
    const float low = -104.0F > x ? -104.0F : x, c = 89.0F < low ? 89.0F : low;
    const int32_t n = __float2int_rn(c * 0x1.715476p+0F);
    const float k = (float)n, r = (c - k * 0x1.62e4p-1F) - k * 0x1.7f7d1cp-20F;
    float p = 0x1.6abbc8p-10F;
    p = p * r + 0x1.123d8cp-7F;
    p = p * r + 0x1.55585ap-5F;
    p = p * r + 0x1.55548cp-3F;
    p = p * r + 0x1.fffffcp-2F;
    const float e = 1.0F + (r + (r * r) * p);
    const int32_t half = n >> 1;
    const float scale1 = __uint_as_float((uint32_t)(half + 127) << 23),
                scale2 = __uint_as_float((uint32_t)(n - half + 127) << 23);
    return (e * scale1) * scale2;
}

/* Adds what two tracks, of this lane and of the one 16 higher, give to a sum. */
__device__ __forceinline__ void add(float &sum, float value)
{
    const float later = __shfl_xor_sync(velo_all_lanes, value, 16);
    sum = (sum + value) + later;
}

/* Half a fold of two sums at once: lanes that are `apart`, of a where that bit of the lane is not set, and of
 * b where it is. */
__device__ __forceinline__ float fold_two(float a, float b, uint32_t apart)
{
    const bool of_b = (velo_lane() & apart) != 0;
    const float own = of_b ? b : a, other = of_b ? a : b;
    return own + __shfl_xor_sync(velo_all_lanes, other, (int)apart);
}

__device__ __forceinline__ float fold_four(float a, float b, float c, float d)
{
    const float four = fold_two(fold_two(a, b, 8), fold_two(c, d, 8), 4), two = fold_two(four, four, 2);
    return fold_two(two, two, 1);
}

struct sums {
    float xx, yy, xz, yz, zz, x, y, z, chi2, weight, weight2, tracks;
};

/* A track's part in the sums; nothing of a lane that is not `in`. */
__device__ __forceinline__ void add_track(const slc_velo_cuda_job &job, const finder &f, const seed &s,
                                          const float at[3], uint32_t i, bool in, sums &sum)
{
    const float tx = f.s.tx[i], ty = f.s.ty[i], weight = f.s.w[i], dz = at[2] - f.s.z[i];
    const float rx = (f.s.x[i] + tx * dz) - at[0], ry = (f.s.y[i] + ty * dz) - at[1];
    const float gx = weight * rx, gy = weight * ry, chi2 = gx * rx + gy * ry;
    const bool part = in && chi2 < job.vertex.max_fit_chi2;
    float *share = f.s.share + s.share + (i - s.begin);
    const float own = part ? exponential(-0.5F * chi2) : 0, rest = f.s.shares[i] - *share;
    const float all = (rest > 0 ? rest : 0) + own, w = part ? own / (all + 0.135335283F) : 0;
    if (in) {
        f.s.shares[i] = all;
        *share = own;
    }
    const float ww = w * weight, xz = ww * tx, yz = ww * ty, wgx = w * (part ? gx : 0),
                wgy = w * (part ? gy : 0);
    const float none = 0;
    add(sum.xx, part ? ww : none);
    add(sum.yy, part ? ww : none);
    add(sum.xz, part ? xz : none);
    add(sum.yz, part ? yz : none);
    add(sum.zz, part ? xz * tx + yz * ty : none);
    add(sum.x, wgx);
    add(sum.y, wgy);
    add(sum.z, part ? wgx * tx + wgy * ty : none);
    add(sum.chi2, part ? w * chi2 : none);
    add(sum.weight, w);
    add(sum.weight2, w * w);
    add(sum.tracks, part ? 1.0F : none);
}

/* All lanes get the sums. */
__device__ __forceinline__ sums folded(const sums &s)
{
    const float a = fold_four(s.xx, s.yy, s.xz, s.yz), b = fold_four(s.zz, s.x, s.y, s.z),
                c = fold_four(s.chi2, s.weight, s.weight2, s.tracks);
    const uint32_t all = velo_all_lanes;
    return {__shfl_sync(all, a, 0), __shfl_sync(all, a, 8), __shfl_sync(all, a, 4), __shfl_sync(all, a, 12),
            __shfl_sync(all, b, 0), __shfl_sync(all, b, 8), __shfl_sync(all, b, 4), __shfl_sync(all, b, 12),
            __shfl_sync(all, c, 0), __shfl_sync(all, c, 8), __shfl_sync(all, c, 4), __shfl_sync(all, c, 12)};
}

/* Lanes 0 to 5 get an element each of the inverse; false where there is none. */
__device__ __forceinline__ bool invert(const sums &s, double *element)
{
    const double xx = (double)s.xx, yy = (double)s.yy, xz = -(double)s.xz, yz = -(double)s.yz,
                 zz = (double)s.zz;
    const double determinant = xx * (yy * zz - yz * yz) - yy * xz * xz;
    const uint32_t lane = velo_lane();
    double above = xx * yy;
    above = lane == 0 ? yy * zz - yz * yz : above;
    above = lane == 1 ? xz * yz : above;
    above = lane == 2 ? xx * zz - xz * xz : above;
    above = lane == 3 ? -xz * yy : above;
    above = lane == 4 ? -yz * xx : above;
    *element = above / determinant;
    return determinant > 1e-5 * xx * yy * zz;
}

/* A step of the fit of a vertex; is it still moving? */
__device__ __forceinline__ bool step(const slc_velo_cuda_job &job, const finder &f, seed &s)
{
    const float at[3] = {s.at[0], s.at[1], s.at[2]};
    sums sum = {};
#pragma unroll 1
    for (uint32_t base = s.begin; base < s.end; base += 32) {
        const uint32_t i = base + velo_lane();
        add_track(job, f, s, at, i < s.end ? i : base, i < s.end, sum);
    }
    sum = folded(sum);
    double element;
    const bool inverted = invert(sum, &element);
    if (!(sum.tracks >= job.vertex.min_tracks) || !inverted) {
        drop(f, s);
        return false;
    }
    double cov[6];
    for (uint32_t c = 0; c < 6; c++) {
        cov[c] = __shfl_sync(velo_all_lanes, element, (int)c);
    }
    const double gx = (double)sum.x, gy = (double)sum.y, gz = -(double)sum.z;
    const double dz = cov[3] * gx + cov[4] * gy + cov[5] * gz;
    const float x = at[0] + (float)(cov[0] * gx + cov[1] * gy + cov[3] * gz);
    const float y = at[1] + (float)(cov[1] * gx + cov[2] * gy + cov[4] * gz);
    const float z = at[2] + (float)dz;
    const bool moving = !(fabs(dz) < 0.002);
    __syncwarp();
    if (velo_lane() < 6) {
        s.cov[velo_lane()] = element;
    }
    if (velo_lane() == 0) {
        s.at[0] = x;
        s.at[1] = y;
        s.at[2] = z;
        s.weight = sum.weight;
        s.chi2 = sum.chi2;
        s.cov_scale = sum.weight > 0 ? (double)sum.weight2 / (double)sum.weight : 1;
        s.moving = moving;
    }
    __syncwarp();
    if (!(fabsf(z - s.peak_z) < job.vertex.window)) {
        drop(f, s);
        return false;
    }
    return moving;
}

/* Of a team, each warp has its vertices: those of one group are fitted one after the other. */
template <uint32_t TEAM>
__device__ __forceinline__ void fit_own(const slc_velo_cuda_job &job, const finder &f,
                                        const vertex_team<TEAM> &team, uint32_t n)
{
    bool moving = true;
#pragma unroll 1
    for (uint32_t i = 0; i < job.vertex.iterations && moving; i++) {
        moving = false;
#pragma unroll 1
        for (uint32_t k = 0; k < n; k++) {
            if constexpr (TEAM > 1) {
                if (team.group[k] % TEAM != velo_warp<TEAM>()) {
                    continue;
                }
            }
            if (f.s.seeds[k].moving != 0) {
                moving = step(job, f, f.s.seeds[k]) || moving;
            }
        }
    }
}

/* ---- which vertices stay ----------------------------------------------------------------------------- */

/* Sets those vertices going again whose windows meet that of a change. */
__device__ __forceinline__ void disturb(const finder &f, uint32_t n, const seed &change)
{
#pragma unroll 1
    for (uint32_t k = velo_lane(); k < n; k += 32) {
        seed &s = f.s.seeds[k];
        if (s.alive != 0 && s.begin < change.end && change.begin < s.end) {
            s.moving = 1;
        }
    }
    __syncwarp();
}

__device__ __forceinline__ bool is_far(const slc_velo_cuda_job &job, const seed &s)
{
    const float dx = s.at[0] - job.vertex.beam_x, dy = s.at[1] - job.vertex.beam_y;
    return !(dx * dx + dy * dy < job.vertex.max_beam_distance2);
}

/* Is there a stronger vertex that cannot be told from this one? */
__device__ __forceinline__ bool is_weaker(const slc_velo_cuda_job &job, const finder &f, uint32_t n,
                                          uint32_t k)
{
    const seed &s = f.s.seeds[k];
    bool weaker = false;
#pragma unroll 1
    for (uint32_t j = velo_lane(); j < n; j += 32) {
        const seed &o = f.s.seeds[j];
        const bool stronger = o.weight > s.weight || (o.weight == s.weight && j < k);
        if (j != k && o.alive != 0 && stronger) {
            const double dz = (double)o.at[2] - (double)s.at[2];
            weaker = weaker || dz * dz < (double)job.vertex.min_separation2 *
                                             (o.cov_scale * o.cov[5] + s.cov_scale * s.cov[5]);
        }
    }
    return __any_sync(velo_all_lanes, weaker);
}

/* Drops vertices far from the beam, then the weaker of two that are the same. True where any went. */
__device__ __forceinline__ bool clean_up(const slc_velo_cuda_job &job, const finder &f, uint32_t n)
{
    bool any = false;
#pragma unroll 1
    for (uint32_t i = 0; i < 2 * n; i++) {
        const uint32_t k = i < n ? i : i - n;
        seed &s = f.s.seeds[k];
        if (s.alive != 0 && (i < n ? is_far(job, s) : is_weaker(job, f, n, k))) {
            drop(f, s);
            disturb(f, n, s);
            any = true;
        }
    }
    return any;
}

/* Vertices by rising z, where they are gathered from; returns how many. */
__device__ __forceinline__ uint32_t store(const slc_velo_cuda_job &job, const finder &f, uint32_t n,
                                          uint32_t e)
{
    uint32_t kept = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t k = base + velo_lane();
        const bool alive = k < n && f.s.seeds[k].alive != 0;
        if (alive) {
            const seed &s = f.s.seeds[k];
            uint32_t rank = 0;
#pragma unroll 1
            for (uint32_t j = 0; j < n; j++) {
                const seed &o = f.s.seeds[j];
                rank += o.alive != 0 && (o.at[2] < s.at[2] || (o.at[2] == s.at[2] && j < k));
            }
            float *to = job.loose_primaries +
                        ((size_t)e * SLC_VELO_MAX_PRIMARIES + rank) * SLC_VELO_CUDA_PRIMARY;
            for (uint32_t c = 0; c < 3; c++) {
                to[c] = s.at[c];
            }
            for (uint32_t c = 0; c < 6; c++) {
                to[3 + c] = (float)(s.cov_scale * s.cov[c]);
            }
            to[9] = s.chi2;
            to[10] = s.weight;
        }
        kept += (uint32_t)__popc(__ballot_sync(velo_all_lanes, alive));
    }
    return kept;
}

/* ---- an event ---------------------------------------------------------------------------------------- */

/* Places and reaches of tracks with chi2 > 9 to every vertex; returns how many. */
template <uint32_t TEAM>
__device__ __forceinline__ uint32_t leave(const finder &f, vertex_team<TEAM> &team, uint32_t n)
{
    uint32_t left = 0;
    velo_team_sync<TEAM>(); /* shares are as they stay */
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32 * TEAM) {
        const uint32_t i = base + velo_rank<TEAM>();
        const bool in = i < n;
        const uint32_t at = f.s.order[in ? i : base];
        const float reach = f.s.reach[at];
        const bool free = in && f.s.shares[i] < 0.0111089965F && reach > 0;
        uint32_t all;
        const uint32_t to = left + velo_team_place<TEAM>(team, free, &all);
        if (free) {
            f.s.left_place[to] = f.s.place[at];
            f.s.left_reach[to] = reach;
        }
        left += all;
    }
    velo_team_sync<TEAM>();
    return left;
}

/* Of an event, how far its vertices are: of how many tracks, how many are in seeds; NO_ROOM where the event
 * is the processor's, TOO_WIDE where its histogram has no room here. */
enum { NO_ROOM = 0xffff, TOO_WIDE = 0xfffe };
constexpr uint32_t LATER = 0xffffffffU; /* that many vertices: of an event that is too wide */
struct progress {
    uint32_t n, seeds;
    bool later, again; /* later: the second look, at tracks that are left over; again: vertices move */
};

/* What comes before a fit: looks for peaks, at all tracks or at those that are left over. Is there a fit? The
 * first warp of a team knows; a team has room for all bins. */
template <uint32_t TEAM>
__device__ __forceinline__ bool look(const slc_velo_cuda_job &job, const finder &f, vertex_team<TEAM> &team,
                                     uint32_t first, uint32_t n_tracks, progress &p)
{
    const uint32_t before = p.seeds;
    const bool later = p.later, is_first = velo_rank_of_warp<TEAM>() == 0;
    if (!later) {
        p.n = locate<TEAM>(job, f, team, first, n_tracks);
        if (p.n > SLC_VELO_CUDA_VERTEX_TRACKS) {
            p.seeds = NO_ROOM;
            return false;
        }
    }
    const uint32_t in_histogram = later ? leave<TEAM>(f, team, p.n) : p.n;
    const bool looks = later ? (float)in_histogram > job.vertex.min_tracks && before < SLC_VELO_MAX_PRIMARIES
                             : p.n > 0;
    if (looks) {
        const float *places = later ? f.s.left_place : f.s.place;
        const float *reaches = later ? f.s.left_reach : f.s.reach;
        const reached range = TEAM == 1 ? reach_of(job, places, reaches, in_histogram)
                                        : reached{0, job.vertex.bins};
        if (TEAM == 1 && range.end > range.low + f.room) { /* never later, as those are some of all */
            p.seeds = TOO_WIDE;
            return false;
        }
        finder at = f;
        at.low = range.low;
        fill<TEAM>(job, at, range, places, reaches, in_histogram);
        if (is_first) {
            p.seeds = find_peaks(job, at, before, later ? job.vertex.min_tracks : job.vertex.min_peak);
        }
        p.seeds = velo_team_told<TEAM>(team, p.seeds);
    }
    if (!later) {
        if (p.seeds == 0) {
            return false;
        }
        order_tracks<TEAM>(job, f, p.n);
        collect<TEAM>(job, f, first, p.n);
    }
    if (later && p.seeds > before) {
        sum_groups<TEAM>(job, f, p.n, false); /* which lay where the histogram is */
    }
    if (!is_first) {
        return false;
    }
    if (p.seeds > before && !open_windows(job, f, before, p.seeds)) {
        p.seeds = NO_ROOM;
        return false;
    }
#pragma unroll 1
    for (uint32_t k = before; k < p.seeds && later; k++) {
        disturb(f, p.seeds, f.s.seeds[k]);
    }
    p.again = !later || p.again || p.seeds > before;
    return p.again;
}

/* Looks twice: at all tracks, and at those that are left over. All warps of a team come here; what one of
 * them does alone, the first does, and it alone knows whether there was room in the end. */
template <uint32_t TEAM>
__device__ __forceinline__ uint32_t find_vertices(const slc_velo_cuda_job &job, const finder &f,
                                                  vertex_team<TEAM> &team, uint32_t first, uint32_t n_tracks)
{
    const bool is_first = velo_rank_of_warp<TEAM>() == 0;
    progress p = {};
    bool looks = true;
    uint32_t fits = 0; /* behind the second look */
#pragma unroll 1
    for (;;) {
        bool fit = is_first && p.again && fits < 2;
        if (looks) {
            fit = look<TEAM>(job, f, team, first, n_tracks, p);
        }
        uint32_t n = p.seeds;
        if constexpr (TEAM > 1) {
            if (is_first && fit) {
                group_vertices<TEAM>(f, team, n);
            }
            if (is_first) {
                team.n = fit ? n : 0;
            }
            velo_team_sync<TEAM>();
            n = team.n;
            fit = n > 0;
        }
        if (!fit) {
            return p.seeds;
        }
        fit_own<TEAM>(job, f, team, n);
        velo_team_sync<TEAM>();
        if (is_first) {
            p.again = clean_up(job, f, n);
        }
        fits = p.later ? fits + 1 : 0;
        looks = !p.later;
        p.later = true;
    }
}

template <uint32_t TEAM>
__global__ void __launch_bounds__(32 * TEAM, slc_blocks_there<32 * TEAM, (TEAM > 1 ? TEAM_BLOCKS : BLOCKS)>)
    find_primaries(const slc_velo_cuda_job job, uint32_t room, uint32_t only_later)
{
    SLC_DYNAMIC_SHARED(uint32_t, shared);
    __shared__ vertex_team<TEAM> team;
    const uint32_t n = job.head->n_events, words = job.vertex.bins / 32 + 2;
    const finder f = {job.vertex_scratch[blockIdx.x],
                      shared,
                      shared + room + 1,
                      shared + room + 1 + words,
                      shared,
                      room,
                      0};
    const uint32_t kernel = only_later != 0 ? SLC_VELO_CUDA_NEXT_WIDE : SLC_VELO_CUDA_NEXT_VERTICES;
#pragma unroll 1
    for (;;) {
        const uint32_t e = velo_next_event<TEAM>(team, job, kernel);
        if (e >= n) {
            break;
        }
        if (TEAM == 1 && only_later != 0 && job.n_primaries[e] != LATER) {
            continue;
        }
        const uint32_t first = job.track_offset[e], n_tracks = job.track_offset[e + 1] - first;
        const bool is_first = velo_rank_of_warp<TEAM>() == 0;
        uint32_t kept = 0;
        if (job.flags[e] == 0 && n_tracks > 0) {
            const uint32_t seeds = find_vertices<TEAM>(job, f, team, first, n_tracks);
            velo_team_sync<TEAM>(); /* all have read the flags */
            kept = seeds == TOO_WIDE ? LATER : !is_first || seeds == NO_ROOM ? 0 : store(job, f, seeds, e);
            __syncwarp();
            if (is_first && seeds == NO_ROOM && velo_lane() == 0) {
                job.flags[e] |= (uint32_t)SLC_VELO_CUDA_FIT;
            }
        }
        if (is_first && velo_lane() == 0) {
            job.n_primaries[e] = kept;
        }
        __syncwarp();
    }
}

/* A row after the other in an event, a lane a number. */
__global__ void __launch_bounds__(SLC_VELO_CUDA_THREADS) gather_primaries(const slc_velo_cuda_job job)
{
    const uint32_t n_events = job.head->n_events, warps = SLC_VELO_CUDA_THREADS / 32;
    for (uint32_t e = blockIdx.x * warps + threadIdx.x / 32; e < n_events; e += gridDim.x * warps) {
        const uint32_t to = job.primary_offset[e];
        const uint32_t n = (job.primary_offset[e + 1] - to) * SLC_VELO_CUDA_PRIMARY;
        const float *from = job.loose_primaries + (size_t)e * SLC_VELO_MAX_PRIMARIES * SLC_VELO_CUDA_PRIMARY;
#pragma unroll 1
        for (uint32_t k = velo_lane(); k < n; k += 32) {
            job.primaries[(size_t)to * SLC_VELO_CUDA_PRIMARY + k] = from[k];
        }
    }
}
} // namespace

/* What a block has in shared memory, with a histogram of so many of all bins. */
static size_t vertex_shared(uint32_t room, uint32_t bins)
{
    const size_t words = bins / 32 + 2;
    return ((size_t)room + 1 + 2 * words) * sizeof(uint32_t);
}

uint32_t slc_velo_cuda_vertex_blocks(uint32_t multiprocessors)
{
    return BLOCKS * multiprocessors;
}

size_t slc_velo_cuda_vertex_bytes(uint32_t multiprocessors)
{
    return slc_velo_cuda_vertex_blocks(multiprocessors) * sizeof(slc_velo_cuda_vertex_scratch);
}

slc_status slc_velo_cuda_vertices(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                  struct CUstream_st *stream, slc_error *error)
{
    const uint32_t bins = job->vertex.bins, most = SLC_VELO_CUDA_VERTEX_NEAR,
                   near = bins < most ? bins : most;
    if (job->teams != 0) {
        SLC_LAUNCH((find_primaries<SLC_VELO_CUDA_SMALL_TEAM>), TEAM_BLOCKS * multiprocessors,
                   32 * SLC_VELO_CUDA_SMALL_TEAM, vertex_shared(bins, bins), stream, *job, bins, 0U);
    } else {
        const uint32_t blocks = slc_velo_cuda_vertex_blocks(multiprocessors);
        SLC_LAUNCH((find_primaries<1>), blocks, 32, vertex_shared(near, bins), stream, *job, near, 0U);
        if (near < bins) { /* those that this has left */
            SLC_LAUNCH((find_primaries<1>), blocks / 2, 32, vertex_shared(bins, bins), stream, *job, bins,
                       1U);
        }
    }
    slc_status status = slc_cuda_check(cudaGetLastError(), "finding primary vertices", error);
    status = status == SLC_OK ? slc_velo_cuda_offsets(job, SLC_VELO_CUDA_OF_PRIMARIES, stream, error)
                              : status;
    if (status == SLC_OK) {
        SLC_LAUNCH(gather_primaries, 8 * multiprocessors, SLC_VELO_CUDA_THREADS, 0, stream, *job);
        status = slc_cuda_check(cudaGetLastError(), "gathering primary vertices", error);
    }
    return status;
}
