/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines through voxels, as functions that the processor and GPUs share. A line is walked from plane to plane
 * of voxels along the axis that it is nearest to (P. Joseph, 1982); in each plane it is among four voxels,
 * which share it by their distances. Everything is float in one order, without contraction, so that both
 * come to the same bits.
 */
#ifndef SLUICE_PET_LOOK_CORE_H
#define SLUICE_PET_LOOK_CORE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Functions that run on the host and on a GPU. */
#ifdef __CUDACC__
#define SLC_PET_LOOK_CORE static __host__ __device__ inline
#else
#define SLC_PET_LOOK_CORE static inline
#endif

/* The Gaussian of times of flight, 128 values a width up to 3.5 widths. */
enum { SLC_PET_LOOK_OF_WIDTH = 128, SLC_PET_LOOK_TABLE = 449 };

typedef struct slc_pet_look_grid {
    uint32_t n[3];
    float first_mm[3], voxel_mm;
    float tof_mm; /* width along the line; 0: no times of flight */
    float scale;  /* by which what is summed up is multiplied to be whole */
} slc_pet_look_grid;

typedef struct slc_pet_look_event {
    uint32_t crystal[2];
    float middle_mm; /* from the middle of the line towards crystal 2 */
} slc_pet_look_event;

/* A line between two crystals as it goes through the planes first … last of an axis; its place in plane k, in
 * voxels along the two others, is u + k · du and w + k · dw; s + k · ds is how many widths of the time's
 * resolution it is from the measured place. */
typedef struct slc_pet_look_ray {
    int32_t first, last;
    uint32_t stride, stride_u, stride_w; /* of voxels along the three */
    int32_t n_u, n_w;
    float u, du, w, dw, s, ds;
    float step_mm, length_mm; /* along the line: from plane to plane, and in all */
} slc_pet_look_ray;

/* Leaves of [*low, *high] what has f + k · df between `from` and `to`. */
SLC_PET_LOOK_CORE void slc_pet_look_clip(float f, float df, float from, float to, float *low, float *high)
{
    if (fabsf(df) < 1e-9F) {
        *high = f > from && f < to ? *high : -1;
        return;
    }
    const float a = (from - f) / df, b = (to - f) / df;
    *low = fmaxf(*low, fminf(a, b));
    *high = fminf(*high, fmaxf(a, b));
}

/* False where it misses all planes. */
SLC_PET_LOOK_CORE bool slc_pet_look_ray_of(const slc_pet_look_grid *g, const float a[3], const float b[3],
                                           float middle_mm, slc_pet_look_ray *r)
{
    const float d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);
    const int m = x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2);
    const int u = m == 0 ? 1 : 0, w = m == 2 ? 1 : 2;
    const uint32_t stride[3] = {1, g->n[0], g->n[0] * g->n[1]};
    if (!(fabsf(d[m]) > 0)) {
        return false;
    }
    const float inverse = 1 / d[m], t = (g->first_mm[m] - a[m]) * inverse, dt = g->voxel_mm * inverse;
    r->length_mm = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    r->step_mm = r->length_mm * fabsf(dt);
    r->stride = stride[m];
    r->stride_u = stride[u];
    r->stride_w = stride[w];
    r->n_u = (int32_t)g->n[u];
    r->n_w = (int32_t)g->n[w];
    r->u = (a[u] + t * d[u] - g->first_mm[u]) / g->voxel_mm;
    r->w = (a[w] + t * d[w] - g->first_mm[w]) / g->voxel_mm;
    r->du = d[u] * inverse;
    r->dw = d[w] * inverse;
    r->s = g->tof_mm > 0 ? ((t - 0.5F) * r->length_mm - middle_mm) / g->tof_mm : 0;
    r->ds = g->tof_mm > 0 ? dt * r->length_mm / g->tof_mm : 0;
    float low = 0, high = (float)(g->n[m] - 1);
    slc_pet_look_clip(r->u, r->du, -1, (float)g->n[u], &low, &high);
    slc_pet_look_clip(r->w, r->dw, -1, (float)g->n[w], &low, &high);
    if (g->tof_mm > 0) {
        slc_pet_look_clip(r->s, r->ds, -3.5F, 3.5F, &low, &high);
    }
    if (!(low <= high)) {
        return false;
    }
    r->first = (int32_t)ceilf(low);
    r->last = (int32_t)floorf(high);
    return r->first <= r->last;
}

/* The four voxels of plane k and their weights; those outside of the image have the weight 0 and are voxel 0.
 */
SLC_PET_LOOK_CORE void slc_pet_look_plane(const slc_pet_look_ray *r, const float *gauss, int32_t k,
                                          uint32_t voxel[4], float weight[4])
{
    const float u = r->u + (float)k * r->du, w = r->w + (float)k * r->dw;
    /* Both are above -1, but for rounding: a conversion is then the floor, and no library is asked for it. */
    const int32_t iu = (int32_t)(u + 1) - 1, iw = (int32_t)(w + 1) - 1;
    const float au = fmaxf(u - (float)iu, 0), aw = fmaxf(w - (float)iw, 0);
    const int32_t at = (int32_t)(fabsf(r->s + (float)k * r->ds) * (float)SLC_PET_LOOK_OF_WIDTH + 0.5F);
    const float height = r->ds != 0 ? gauss[at < SLC_PET_LOOK_TABLE ? at : SLC_PET_LOOK_TABLE - 1] : 1;
    const float high = height * aw, low = height - high;
    weight[1] = au * low;
    weight[0] = low - weight[1];
    weight[3] = au * high;
    weight[2] = high - weight[3];
    /* Modulo 2^32: below 0 only where it is outside. */
    voxel[0] = (uint32_t)k * r->stride + (uint32_t)iu * r->stride_u + (uint32_t)iw * r->stride_w;
    voxel[1] = voxel[0] + r->stride_u;
    voxel[2] = voxel[0] + r->stride_w;
    voxel[3] = voxel[1] + r->stride_w;
    if (iu >= 0 && iw >= 0 && iu + 1 < r->n_u && iw + 1 < r->n_w) {
        return;
    }
    for (int c = 0; c < 4; c++) {
        const int32_t cu = iu + (c & 1), cw = iw + (c >> 1);
        const bool inside = cu >= 0 && cu < r->n_u && cw >= 0 && cw < r->n_w;
        voxel[c] = inside ? voxel[c] : 0;
        weight[c] = inside ? weight[c] : 0;
    }
}

/* What the image has along the line. */
SLC_PET_LOOK_CORE float slc_pet_look_forward(const slc_pet_look_ray *r, const float *gauss,
                                             const float *image)
{
    float sum = 0;
    for (int32_t k = r->first; k <= r->last; k++) {
        uint32_t voxel[4];
        float weight[4];
        slc_pet_look_plane(r, gauss, k, voxel, weight);
        sum += (weight[0] * image[voxel[0]] + weight[1] * image[voxel[1]]) +
               (weight[2] * image[voxel[2]] + weight[3] * image[voxel[3]]);
    }
    return sum;
}

/* ---- sensitivity ------------------------------------------------------------------------------- */

/* Of a line between two crystals: how much of what is on it both see, as cosines over the distance squared,
 * times the way from plane to plane; 0 where they do not look at each other. `wide`: about the scanner's
 * diameter. */
SLC_PET_LOOK_CORE float slc_pet_look_seen(const slc_pet_look_ray *r, const float a[3], const float b[3],
                                          const float look_a[3], const float look_b[3], float wide_mm,
                                          float voxel_mm)
{
    float from_a = 0, from_b = 0;
    for (int i = 0; i < 3; i++) {
        from_a += (b[i] - a[i]) * look_a[i];
        from_b += (a[i] - b[i]) * look_b[i];
    }
    if (!(from_a > 0) || !(from_b > 0)) {
        return 0;
    }
    const float length = r->length_mm, share = wide_mm / length;
    return fminf(from_a / length * (from_b / length) * share * share, 4) * r->step_mm / voxel_mm;
}

/* Line number i of those that are drawn: two crystals of n (splitmix64 of its number). */
SLC_PET_LOOK_CORE void slc_pet_look_draw(uint32_t i, uint32_t n, uint32_t crystal[2])
{
    uint64_t z = ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z = z ^ z >> 31;
    crystal[0] = (uint32_t)((z >> 32) * n >> 32);
    crystal[1] = (uint32_t)((z & 0xffffffff) * n >> 32);
}

/* ---- the image --------------------------------------------------------------------------------- */

/* A voxel's next value by what lines ask for. */
SLC_PET_LOOK_CORE float slc_pet_look_next(uint64_t sum, float scale, float sensitivity)
{
    return sensitivity > 0 ? (float)((double)sum / (double)scale / (double)sensitivity) : 0;
}

#endif
