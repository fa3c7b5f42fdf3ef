/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of a selection on a GPU, a warp an event, by the formulas of velo_select_core.h. Quantities of
 * tracks that a line asks for are worked out once, of small batches by a team of warps of which the first
 * then goes on alone, and lie where the search had its candidates; tracks that pass a line are listed where
 * it had what they wanted. Pairs are looked at in their order, 32 at a time: which of them are, and so what
 * is decided and what was cut short, is as it is one after the other.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"
#include "velo/velo_select_core.h"

namespace
{
enum { WARPS = 4, BLOCKS = 8 };
template <uint32_t TEAM> constexpr uint32_t threads_of = 32 * (TEAM > 1 ? TEAM : (uint32_t)WARPS);
static_assert(sizeof(slc_velo_cuda_candidate) == SLC_VELO_TRACK_QUANTITIES * sizeof(float),
              "a track's quantities lie in its candidate");

struct asked {
    slc_velo_select_vertices vertices;
    uint32_t first, n_tracks, n_hits; /* first: row of the first track */
    float *value;                     /* of quantity q and track t at [q * n_tracks + t] */
    uint16_t *passed;
};

__device__ __forceinline__ slc_velo_select_state state_of(const slc_velo_cuda_job &job, uint32_t t)
{
    const slc_velo_cuda_states &s = job.beam;
    slc_velo_select_state to;
    to.x = s.x[t];
    to.y = s.y[t];
    to.z = s.z[t];
    to.tx = s.tx[t];
    to.ty = s.ty[t];
    to.xx = to.yy = s.pp[t];
    to.xtx = to.yty = s.ps[t];
    to.txtx = to.tyty = s.ss[t];
    to.chi2 = job.chi2[t];
    to.n_hits = job.track_n[t];
    to.n_dof = 2 * to.n_hits - 4;
    to.backward = job.backward[t] != 0;
    return to;
}

__device__ __forceinline__ asked look_at(const slc_velo_cuda_job &job, uint32_t e)
{
    const uint32_t begin = job.primary_offset[e], loose = job.hit_offset[e] / 3;
    const float *v = job.primaries + (size_t)begin * SLC_VELO_CUDA_PRIMARY;
    asked a;
    a.vertices = {v,
                  v + 1,
                  v + 2,
                  v + 3,
                  v + 4,
                  v + 5,
                  v + 6,
                  v + 7,
                  v + 8,
                  SLC_VELO_CUDA_PRIMARY,
                  job.primary_offset[e + 1] - begin};
    a.first = job.track_offset[e];
    a.n_tracks = job.track_offset[e + 1] - a.first;
    a.n_hits = job.hit_offset[e + 1] - job.hit_offset[e];
    a.value = (float *)(void *)(job.candidates + loose);
    a.passed = job.wanted + loose;
    return a;
}

/* Of all tracks what some line asks for. */
template <uint32_t TEAM>
__device__ __forceinline__ void work_out(const slc_velo_cuda_job &job, const asked &a)
{
    const slc_velo_sorted_selection &selection = *job.selection;
#pragma unroll 1
    for (uint32_t t = velo_rank<TEAM>(); t < a.n_tracks; t += 32 * TEAM) {
        const slc_velo_select_state s = state_of(job, a.first + t);
#pragma unroll 1
        for (uint32_t q = 0; q < SLC_VELO_TRACK_QUANTITIES; q++) {
            if (selection.asked >> q & 1U) {
                a.value[q * a.n_tracks + t] = slc_velo_track_quantity(&s, &a.vertices, selection.beam_x,
                                                                      selection.beam_y, (slc_velo_quantity)q);
            }
        }
    }
    velo_team_sync<TEAM>();
}

__device__ __forceinline__ bool event_passes(const asked &a, const slc_velo_sorted_line &line)
{
    bool passes = true;
#pragma unroll 1
    for (uint32_t c = 0; c < line.end[0] && passes; c++) {
        const slc_velo_quantity q = line.cuts[c].quantity;
        const uint32_t n = q == SLC_VELO_Q_EVENT_HITS     ? a.n_hits
                           : q == SLC_VELO_Q_EVENT_TRACKS ? a.n_tracks
                                                          : (uint32_t)a.vertices.n;
        passes = slc_velo_cut_holds(&line.cuts[c], (float)n);
    }
    return passes;
}

__device__ __forceinline__ bool track_passes(const asked &a, const slc_velo_sorted_line &line, uint32_t t)
{
    bool passes = true;
#pragma unroll 1
    for (uint32_t c = line.end[0]; c < line.end[1] && passes; c++) {
        passes = slc_velo_cut_holds(&line.cuts[c], a.value[(uint32_t)line.cuts[c].quantity * a.n_tracks + t]);
    }
    return passes;
}

__device__ __forceinline__ bool pair_passes(const slc_velo_cuda_job &job, const asked &a,
                                            const slc_velo_sorted_line &line, uint32_t first, uint32_t second)
{
    const slc_velo_select_state s = state_of(job, a.first + first), o = state_of(job, a.first + second);
    slc_velo_select_pair pair;
    slc_velo_pair_begin(&s, &o, &pair);
    bool passes = true;
#pragma unroll 1
    for (uint32_t c = line.end[1]; c < line.end[2] && passes; c++) {
        passes = slc_velo_cut_holds(&line.cuts[c],
                                    slc_velo_pair_quantity(&a.vertices, line.cuts[c].quantity, &pair));
    }
    return passes;
}

/* Are there min_count pairs among the n tracks that are listed, of those that may be looked at? Each lane has
 * a pair, i and k, and goes on by 32. */
__device__ __forceinline__ bool enough_pairs(const slc_velo_cuda_job &job, const asked &a,
                                             const slc_velo_sorted_line &line, uint32_t n, bool *limited)
{
    const uint32_t all = n > 0 ? n * (n - 1) / 2 : 0, most = min(all, (uint32_t)SLC_VELO_MAX_PAIRS);
    uint32_t count = 0, i = 0, k = 1 + velo_lane();
#pragma unroll 1
    for (uint32_t base = 0; base < most; base += 32) {
        while (k >= n && i + 1 < n) {
            i++;
            k -= n - (i + 1);
        }
        const bool passes = base + velo_lane() < most && pair_passes(job, a, line, a.passed[i], a.passed[k]);
        count += (uint32_t)__popc(__ballot_sync(velo_all_lanes, passes));
        if (count >= line.min_count) {
            return true;
        }
        k += 32;
    }
    *limited = all > most;
    return false;
}

__device__ __forceinline__ bool line_passes(const slc_velo_cuda_job &job, const asked &a,
                                            const slc_velo_sorted_line &line, bool *limited)
{
    if (!event_passes(a, line)) {
        return false;
    }
    const bool pairs = line.end[2] > line.end[1];
    uint32_t n = 0;
#pragma unroll 1
    for (uint32_t base = 0; base < a.n_tracks && line.min_count > 0; base += 32) {
        const uint32_t t = base + velo_lane();
        const bool passes = t < a.n_tracks && track_passes(a, line, t);
        const uint32_t bits = __ballot_sync(velo_all_lanes, passes);
        if (pairs && passes) {
            a.passed[n + (uint32_t)__popc(bits & velo_lanes_below())] = (uint16_t)t;
        }
        n += (uint32_t)__popc(bits);
        if (!pairs && n >= line.min_count) {
            return true;
        }
    }
    __syncwarp();
    return line.min_count == 0 || (pairs && enough_pairs(job, a, line, n, limited));
}

template <uint32_t TEAM>
__global__ void __launch_bounds__(threads_of<TEAM>, BLOCKS / 2) decide(const slc_velo_cuda_job job)
{
    __shared__ velo_team<TEAM> team;
    const slc_velo_sorted_selection &selection = *job.selection;
    const uint32_t n = job.head->n_events;
    const bool is_first = velo_rank_of_warp<TEAM>() == 0;
    for (uint32_t e = velo_next_event<TEAM>(team, job, SLC_VELO_CUDA_NEXT_DECIDE); e < n;
         e = velo_next_event<TEAM>(team, job, SLC_VELO_CUDA_NEXT_DECIDE)) {
        unsigned long long lines = 0, limited = 0;
        if (job.flags[e] == 0) {
            const asked a = look_at(job, e);
            work_out<TEAM>(job, a);
#pragma unroll 1
            for (uint32_t k = 0; is_first && k < selection.n_lines; k++) {
                bool cut_short = false;
                lines |= (unsigned long long)line_passes(job, a, selection.lines[k], &cut_short) << k;
                limited |= (unsigned long long)cut_short << k;
                __syncwarp(); /* the list is that of the next line */
            }
        }
        if (velo_rank<TEAM>() == 0) {
            job.decided[e] = {lines, limited};
        }
    }
}
} // namespace

slc_status slc_velo_cuda_decide(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                struct CUstream_st *stream, slc_error *error)
{
    if (job->teams != 0) {
        SLC_LAUNCH((decide<SLC_VELO_CUDA_SMALL_TEAM>), BLOCKS * multiprocessors,
                   threads_of<SLC_VELO_CUDA_SMALL_TEAM>, 0, stream, *job);
    } else {
        SLC_LAUNCH((decide<1>), BLOCKS * multiprocessors, threads_of<1>, 0, stream, *job);
    }
    return slc_cuda_check(cudaGetLastError(), "deciding about the VELO's events", error);
}
