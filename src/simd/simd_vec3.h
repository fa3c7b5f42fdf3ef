/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of three components, each component a vector of lanes. Vectors of lanes may not be members of structs, so a
 * point is three arguments; results with three components go to three locals of the caller, which may be the arguments.
 * Sums go from x to z, products are rounded: the same bits on every target.
 */
#ifndef SLUICE_SIMD_VEC3_H
#define SLUICE_SIMD_VEC3_H

#include "simd/simd.h"

/* a · b */
static inline f32v vec3_dot(f32v ax, f32v ay, f32v az, f32v bx, f32v by, f32v bz) { return f32v_add(f32v_add(f32v_mul(ax, bx), f32v_mul(ay, by)), f32v_mul(az, bz)); }

/* The square of a's length, and the length. */
static inline f32v vec3_mag2(f32v ax, f32v ay, f32v az) { return vec3_dot(ax, ay, az, ax, ay, az); }
static inline f32v vec3_mag(f32v ax, f32v ay, f32v az) { return f32v_sqrt(vec3_mag2(ax, ay, az)); }

/* a + b, a - b, a + t·b (the point at t on the line through a along b) */
static inline void vec3_add(f32v ax, f32v ay, f32v az, f32v bx, f32v by, f32v bz, f32v *x, f32v *y, f32v *z) { *x = f32v_add(ax, bx); *y = f32v_add(ay, by); *z = f32v_add(az, bz); }
static inline void vec3_subtract(f32v ax, f32v ay, f32v az, f32v bx, f32v by, f32v bz, f32v *x, f32v *y, f32v *z) { *x = f32v_sub(ax, bx); *y = f32v_sub(ay, by); *z = f32v_sub(az, bz); }
static inline void vec3_along(f32v ax, f32v ay, f32v az, f32v t, f32v bx, f32v by, f32v bz, f32v *x, f32v *y, f32v *z) { vec3_add(ax, ay, az, f32v_mul(t, bx), f32v_mul(t, by), f32v_mul(t, bz), x, y, z); }

/* a × b */
static inline void vec3_cross(f32v ax, f32v ay, f32v az, f32v bx, f32v by, f32v bz, f32v *x, f32v *y, f32v *z)
{
    *x = f32v_sub(f32v_mul(ay, bz), f32v_mul(az, by));
    *y = f32v_sub(f32v_mul(az, bx), f32v_mul(ax, bz));
    *z = f32v_sub(f32v_mul(ax, by), f32v_mul(ay, bx));
}

#endif
