/* SPDX-License-Identifier: Apache-2.0
 *
 * The impact-parameter filter of section 2.4.1 of the thesis: vectors over tracks, a loop over the few
 * points, and the tracks that pass are packed one behind the other.
 */
#include "simd/simd_vec3.h"
#include "velo/velo_kernels.h"

/* The square of the distance between the point and the line through (x, y, z) along (tx, ty, 1), times the
 * square of that direction's length: |(line - point) × direction|². */
static inline f32v distance2(f32v x, f32v y, f32v z, f32v tx, f32v ty, const slc_velo_ip_in *in, size_t k)
{
    f32v dx, dy, dz, cx, cy, cz;
    vec3_subtract(x, y, z, f32v_set(in->point_x[k]), f32v_set(in->point_y[k]), f32v_set(in->point_z[k]), &dx,
                  &dy, &dz);
    vec3_cross(dx, dy, dz, tx, ty, f32v_set(1.0f), &cx, &cy, &cz);
    return vec3_mag2(cx, cy, cz);
}

static size_t ip_filter(const slc_velo_ip_in *in, float min_ip, uint32_t *track, float *ip)
{
    const f32v cut = f32v_set(min_ip), one = f32v_set(1.0f);
    size_t kept = 0;
    for (size_t i = 0; i < in->n_tracks; i += SIMD_LANES) {
        const f32v x = f32v_load(in->x + i), y = f32v_load(in->y + i), z = f32v_load(in->z + i);
        const f32v tx = f32v_load(in->tx + i), ty = f32v_load(in->ty + i);
        f32v nearest = f32v_set(INFINITY);
        for (size_t k = 0; k < in->n_points; k++) {
            nearest = f32v_min(distance2(x, y, z, tx, ty, in, k), nearest);
        }
        /* The minimum passes over NaN, so that a damaged state is looked for here: a sum with NaN is NaN. */
        const f32v sum = f32v_add(f32v_add(f32v_add(x, y), f32v_add(z, tx)), ty);
        const mask32 sound = mask32_and(mask32_first(in->n_tracks - i), f32v_eq(sum, sum));
        const f32v distance = f32v_sqrt(f32v_div(nearest, vec3_mag2(tx, ty, one)));
        const mask32 pass = mask32_and(f32v_lt(cut, distance), sound);
        (void)f32v_pack(ip + kept, distance, pass);
        kept += u32v_pack(track + kept, u32v_iota((uint32_t)i), pass);
    }
    return kept;
}

const slc_velo_kernels SIMD_TABLE(slc_velo) = {.target = SIMD_TARGET_NAME, .ip_filter = ip_filter};
