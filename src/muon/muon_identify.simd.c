/* SPDX-License-Identifier: Apache-2.0
 * Windows of isMuon, and hits in them. */
#include "muon/muon_identify_work.h"
#include "simd/simd.h"

#include <float.h>

static const float window_scale = 1.2f;

/* exp(-x) for x >= 0, to a few units in the last place: the same bits wherever it is computed, unlike a
 * library's. */
static inline f32v decay(f32v x)
{
    const f32v c = f32v_min(x, f32v_set(80)), one = f32v_set(1);
    const i32v n = i32v_truncate(f32v_add(f32v_mul(c, f32v_set(1.44269504f)), f32v_set(0.5f)));
    const f32v r = f32v_sub(f32v_mul(f32v_from_i32(n), f32v_set(0.693147182f)), c);
    f32v power = f32v_add(f32v_set(1.0f / 24), f32v_mul(r, f32v_set(1.0f / 120)));
    power = f32v_add(f32v_set(1.0f / 6), f32v_mul(r, power));
    power = f32v_add(f32v_set(0.5f), f32v_mul(r, power));
    power = f32v_add(one, f32v_mul(r, power));
    power = f32v_add(one, f32v_mul(r, power));
    const u32v bits = u32v_shl(u32v_sub(u32v_set(127), u32v_from_i32(n)), 23); /* 2^-n */
    return f32v_mul(power, f32v_from_bits(bits));
}

static void windows(const slc_muon_foi *foi, float p_mev, slc_muon_windows *to)
{
    const f32v p_gev = f32v_set(p_mev / 1000);
    for (size_t axis = 0; axis < 2; axis++) {
        for (size_t i = 0; i < SLC_MUON_AREAS; i += SIMD_LANES) {
            const f32v at_p = decay(f32v_mul(f32v_load(foi->of[2][axis] + i), p_gev));
            const f32v size = f32v_add(f32v_load(foi->of[0][axis] + i),
                                       f32v_mul(f32v_load(foi->of[1][axis] + i), at_p));
            f32v_store(to->of[axis] + i, f32v_mul(f32v_set(window_scale), size));
        }
    }
}

/* The lanes whose hits, from `at` on, are in windows. */
static inline mask32 inside(const slc_muon_look *l, size_t at, f32v window_x, f32v window_y)
{
    const slc_muon_hits *h = l->hits;
    const f32v dz = f32v_sub(f32v_load(h->z_mm + at), f32v_set(l->z));
    const f32v x = f32v_add(f32v_set(l->x), f32v_mul(f32v_set(l->tx), dz));
    const f32v y = f32v_add(f32v_set(l->y), f32v_mul(f32v_set(l->ty), dz));
    const f32v dx = f32v_abs(f32v_sub(f32v_load(h->x_mm + at), x));
    const f32v dy = f32v_abs(f32v_sub(f32v_load(h->y_mm + at), y));
    return mask32_and(f32v_lt(dx, f32v_mul(f32v_load(h->dx_mm + at), window_x)),
                      f32v_lt(dy, f32v_mul(f32v_load(h->dy_mm + at), window_y)));
}

static inline float distance(const slc_muon_hits *h, size_t i, const slc_muon_line l[2], float z)
{
    const float dz = h->z_mm[i] - z;
    const float dx = h->x_mm[i] - (l[0].at + l[0].slope * dz), dy = h->y_mm[i] - (l[1].at + l[1].slope * dz);
    return dx * dx / (l[0].cov[0] + h->dx_mm[i] * h->dx_mm[i] / 3) +
           dy * dy / (l[1].cov[0] + h->dy_mm[i] * h->dy_mm[i] / 3);
}

/* A window's factors in the regions that lanes are in: beyond where regions 1, 2, 3 begin. */
static inline f32v of_regions(const float *window, mask32 r1, mask32 r2, mask32 r3)
{
    const f32v inner = f32v_select(r1, f32v_set(window[1]), f32v_set(window[0]));
    return f32v_select(r3, f32v_set(window[3]), f32v_select(r2, f32v_set(window[2]), inner));
}

static bool best(const slc_muon_look *l, uint32_t station, const slc_muon_line lines[2], float z, size_t *to)
{
    const size_t area = SLC_MUON_REGIONS * (size_t)station, *begin = l->begin + area;
    const size_t first = begin[0], n = begin[SLC_MUON_REGIONS] - first;
    const i32v last0 = i32v_set((int32_t)(begin[1] - first) - 1),
               last1 = i32v_set((int32_t)(begin[2] - first) - 1),
               last2 = i32v_set((int32_t)(begin[3] - first) - 1);
    float least = FLT_MAX;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const i32v at = i32v_iota((int32_t)i);
        const mask32 r1 = i32v_gt(at, last0), r2 = i32v_gt(at, last1), r3 = i32v_gt(at, last2);
        const f32v wide_x = of_regions(l->windows->of[0] + area, r1, r2, r3);
        const f32v wide_y = of_regions(l->windows->of[1] + area, r1, r2, r3);
        const mask32 lanes = mask32_and(inside(l, first + i, wide_x, wide_y), mask32_first(n - i));
        for (uint64_t left = mask32_bits(lanes); left != 0; left &= left - 1) {
            const size_t row = first + i + (size_t)__builtin_ctzll(left);
            const float d = distance(l->hits, row, lines, z);
            if (d < least) {
                least = d;
                *to = row;
            }
        }
    }
    return least < FLT_MAX;
}

const slc_muon_kernels SIMD_TABLE(slc_muon) = {SIMD_TARGET_NAME, windows, best};
