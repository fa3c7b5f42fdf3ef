/* SPDX-License-Identifier: Apache-2.0
 *
 * The Kalman filter on a GPU, a thread a track: the operations of velo_fit.simd.c in their order. A track
 * whose states are no numbers makes its event the processor's, as what they are has other bits there.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
/* x and y with their slopes, and the covariance that both have. */
struct line {
    float x, tx, y, ty, pp, ps, ss;
};

enum { THREADS = SLC_VELO_CUDA_THREADS, KEPT = 14, AT_ONCE = 7, BLOCKS = 7 /* on a multiprocessor */ };

/* A track: its hits among all, downstream first; the first KEPT of them in shared memory, a column for each
 * thread. */
struct track {
    slc_velo_cuda_hit *kept;
    const slc_velo_cuda_hit *all;
    const uint32_t *hit;
    uint32_t n;
};

/* A hit, by its place in the track. */
struct measured {
    float x, y, z, variance;
};

__device__ __forceinline__ slc_velo_cuda_hit hit_at(const track &t, uint32_t k)
{
    return k < KEPT ? t.kept[k * THREADS] : t.all[t.hit[k]];
}

__device__ __forceinline__ measured hit_of(const slc_velo_cuda_fit &fit, const track &t, uint32_t k)
{
    const slc_velo_cuda_hit hit = hit_at(t, k);
    return {hit.x, hit.y, hit.z, fit.variance[min((uint32_t)hit.key, (uint32_t)SLC_VELO_FIT_SIZES)]};
}

/* Reads some at once, as each takes long; they are looked at three times. */
__device__ __forceinline__ void keep_hits(const track &t)
{
#pragma unroll 1
    for (uint32_t k = 0; k < min(t.n, (uint32_t)KEPT); k += AT_ONCE) {
        slc_velo_cuda_hit hit[AT_ONCE];
#pragma unroll
        for (uint32_t j = 0; j < AT_ONCE; j++) {
            hit[j] = t.all[t.hit[min(k + j, t.n - 1)]];
        }
#pragma unroll
        for (uint32_t j = 0; j < AT_ONCE; j++) {
            t.kept[(k + j) * THREADS] = hit[j];
        }
    }
}

/* Transports over dz and adds the hit; what the residuals add to chi2 comes first of x, then of y. */
__device__ __forceinline__ void add_hit(line &l, const measured &hit, float dz, float noise, float *chi2)
{
    const float ss = l.ss + noise;
    const float numerator = ss * (hit.variance + l.pp) - l.ps * l.ps;
    const float turn = dz * ss;
    const float far_pp = l.pp + dz * ((l.ps + l.ps) + turn), far_ps = l.ps + turn;
    const float weight = 1.0F / (hit.variance + far_pp);
    const float gain_p = far_pp * weight, gain_s = far_ps * weight;
    l.ss = numerator * weight;
    l.ps = hit.variance * gain_s;
    l.pp = hit.variance * gain_p;
    const float x = l.x + dz * l.tx, y = l.y + dz * l.ty, rx = hit.x - x, ry = hit.y - y;
    l.x = x + gain_p * rx;
    l.tx = l.tx + gain_s * rx;
    l.y = y + gain_p * ry;
    l.ty = l.ty + gain_s * ry;
    *chi2 = (*chi2 + (rx * rx) * weight) + (ry * ry) * weight;
}

/* Over all hits of the track, from the last one on (upstream) or from the first; z of the last comes out. */
__device__ __forceinline__ float pass(const slc_velo_cuda_fit &fit, const track &t, bool from_last,
                                      float noise, line &l, float *chi2)
{
    const measured first = hit_of(fit, t, from_last ? t.n - 1 : 0);
    float z = first.z;
    l = {first.x, l.tx, first.y, l.ty, first.variance, 0, 1.0F};
    *chi2 = 0;
#pragma unroll 1
    for (uint32_t j = 1; j < t.n; j++) {
        const measured hit = hit_of(fit, t, from_last ? t.n - 1 - j : j);
        add_hit(l, hit, hit.z - z, noise, chi2);
        z = hit.z;
    }
    return z;
}

/* Writes the state moved over dz, to z. The result is 0 where all of it are numbers. */
__device__ __forceinline__ float keep(const slc_velo_cuda_states &s, uint32_t at, const line &l, float z,
                                      float dz, float noise)
{
    const float ss = l.ss + noise, turn = dz * ss;
    const float x = l.x + dz * l.tx, y = l.y + dz * l.ty;
    const float pp = l.pp + dz * ((l.ps + l.ps) + turn), ps = l.ps + turn;
    s.x[at] = x;
    s.y[at] = y;
    if (s.z != nullptr) {
        s.z[at] = z;
    }
    s.tx[at] = l.tx;
    s.ty[at] = l.ty;
    s.pp[at] = pp;
    s.ps[at] = ps;
    s.ss[at] = ss;
    return ((x * 0 + y * 0) + (z * 0 + l.tx * 0)) + ((l.ty * 0 + pp * 0) + (ps * 0 + ss * 0));
}

__device__ __forceinline__ float closest_z(const slc_velo_cuda_fit &fit, const line &l, float z)
{
    const float slope2 = l.tx * l.tx + l.ty * l.ty;
    const float along = l.tx * (fit.beam_x - l.x) + l.ty * (fit.beam_y - l.y);
    return slope2 > 0 ? z + along / slope2 : z;
}

/* How much more than typical a track scatters. */
__device__ __forceinline__ float scatter_scale(float prior, float chi2, uint32_t n)
{
    const float ratio = (prior + chi2) / (prior + (float)(int32_t)(n + n - 4));
    const float scale = (ratio * ratio) * ratio;
    const float held = scale > 0.1F ? scale : 0.1F;
    return held < 1000.0F ? held : 1000.0F;
}

__device__ __forceinline__ void fit_track(const slc_velo_cuda_job &job, slc_velo_cuda_hit *kept, uint32_t at)
{
    const slc_velo_cuda_fit &fit = job.fit;
    const uint32_t e = job.track_event[at];
    const track t = {kept, job.raw, job.hit_raw + job.track_hit_offset[e] + job.hit_begin[at],
                     job.track_n[at]};
    keep_hits(t);
    const slc_velo_cuda_hit a = hit_at(t, 0), b = hit_at(t, t.n - 1);
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    const float along = dx * (fit.beam_x - a.x) + dy * (fit.beam_y - a.y);
    const bool back = (along > 0 && dz > 0) || (along < 0 && dz < 0);
    dx = back ? a.x - b.x : dx;
    dy = back ? a.y - b.y : dy;
    dz = back ? a.z - b.z : dz;
    line l = {};
    l.tx = dz != 0 ? dx / dz : 0;
    l.ty = dz != 0 ? dy / dz : 0;
    const float tx = l.tx, ty = l.ty, slope2 = tx * tx + ty * ty;
    float noise = fit.noise_constant + fit.noise_slope * slope2, chi2, none;
    float z = pass(fit, t, back, noise, l, &chi2);
    if (fit.scatter_prior > 0) {
        const float second = fit.noise_constant + fit.second_noise_slope * slope2;
        noise = second * scatter_scale(fit.scatter_prior, chi2, t.n);
        l.tx = tx;
        l.ty = ty;
        z = pass(fit, t, back, noise, l, &none);
    }
    const float z_beam = closest_z(fit, l, z);
    float odd = keep(job.beam, at, l, z_beam, z_beam - z, noise) + chi2 * 0;
    job.chi2[at] = chi2;
    job.backward[at] = (uint8_t)back;
    if (job.ends != 0) {
        z = pass(fit, t, true, noise, l, &none);
        odd += keep(job.end, at, l, fit.end_z, fit.end_z - z, noise);
    }
    if (!(odd == 0)) {
        atomicOr(&job.flags[e], (uint32_t)SLC_VELO_CUDA_FIT);
    }
}

__global__ void __launch_bounds__(THREADS) fit_tracks(const slc_velo_cuda_job job)
{
    __shared__ slc_velo_cuda_hit kept[KEPT * THREADS];
    const uint32_t n = job.head->n_tracks;
    for (uint32_t t = blockIdx.x * THREADS + threadIdx.x; t < n; t += gridDim.x * THREADS) {
        fit_track(job, kept + threadIdx.x, t);
    }
}
} // namespace

slc_status slc_velo_cuda_fit_tracks(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                    struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(fit_tracks, BLOCKS * multiprocessors, THREADS, 0, stream, *job);
    return slc_cuda_check(cudaGetLastError(), "fitting the VELO's tracks", error);
}
