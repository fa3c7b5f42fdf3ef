/* SPDX-License-Identifier: Apache-2.0
 *
 * Symmetric matrices of 2 × 2 and 3 × 3 numbers, one matrix a lane: covariances and weights, for Kalman filters and
 * vertex fits. A matrix is its upper triangle, row by row: xx, xy, yy and xx, xy, xz, yy, yz, zz. Results go to locals
 * of the caller; arguments are taken by value, so these locals may also be arguments. Sums go from left to right,
 * products are rounded: the same bits on every target.
 *
 * Inverses are by cofactors, without pivots: of a matrix whose determinant is 0 (or is lost to rounding) they are
 * infinite or NaN. They serve matrices that are well conditioned, as covariances in units near their errors are: the
 * relative error grows with the condition number, which tests/check_math.c measures.
 */
#ifndef SLUICE_SIMD_SYMMETRIC_H
#define SLUICE_SIMD_SYMMETRIC_H

#include "simd/simd_vec3.h"

/* a·b - c·d and a·b + c·d */
static inline f32v simd_minor(f32v a, f32v b, f32v c, f32v d) { return f32v_sub(f32v_mul(a, b), f32v_mul(c, d)); }
static inline f32v simd_dot2(f32v a, f32v b, f32v c, f32v d) { return f32v_add(f32v_mul(a, b), f32v_mul(c, d)); }

/* ---- 2 × 2 ------------------------------------------------------------------------------------- */

static inline f32v sym2_determinant(f32v xx, f32v xy, f32v yy) { return simd_minor(xx, yy, xy, xy); }

/* M·v */
static inline void sym2_multiply(f32v xx, f32v xy, f32v yy, f32v vx, f32v vy, f32v *x, f32v *y)
{
    *x = simd_dot2(xx, vx, xy, vy);
    *y = simd_dot2(xy, vx, yy, vy);
}

/* v'·M·v: a chi², where M is a weight */
static inline f32v sym2_quadratic(f32v xx, f32v xy, f32v yy, f32v vx, f32v vy)
{
    f32v x, y;
    sym2_multiply(xx, xy, yy, vx, vy, &x, &y);
    return simd_dot2(vx, x, vy, y);
}

/* The inverse; returns the determinant of M. */
static inline f32v sym2_invert(f32v xx, f32v xy, f32v yy, f32v *ixx, f32v *ixy, f32v *iyy)
{
    const f32v determinant = sym2_determinant(xx, xy, yy);
    const f32v factor = f32v_div(f32v_set(1.0f), determinant);
    *ixx = f32v_mul(yy, factor);
    *ixy = f32v_neg(f32v_mul(xy, factor));
    *iyy = f32v_mul(xx, factor);
    return determinant;
}

/* A·M·A', A = (a b; c d): how a covariance is carried along. */
static inline void sym2_similarity(f32v xx, f32v xy, f32v yy, f32v a, f32v b, f32v c, f32v d, f32v *sxx, f32v *sxy, f32v *syy)
{
    f32v px, py, qx, qy; /* M·(a b) and M·(c d) */
    sym2_multiply(xx, xy, yy, a, b, &px, &py);
    sym2_multiply(xx, xy, yy, c, d, &qx, &qy);
    *sxx = simd_dot2(a, px, b, py);
    *sxy = simd_dot2(a, qx, b, qy);
    *syy = simd_dot2(c, qx, d, qy);
}

/* ---- 3 × 3 ------------------------------------------------------------------------------------- */

static inline f32v sym3_determinant(f32v xx, f32v xy, f32v xz, f32v yy, f32v yz, f32v zz)
{
    return vec3_dot(xx, xy, xz, simd_minor(yy, zz, yz, yz), simd_minor(yz, xz, xy, zz), simd_minor(xy, yz, yy, xz));
}

/* M·v */
static inline void sym3_multiply(f32v xx, f32v xy, f32v xz, f32v yy, f32v yz, f32v zz, f32v vx, f32v vy, f32v vz, f32v *x, f32v *y, f32v *z)
{
    *x = vec3_dot(xx, xy, xz, vx, vy, vz);
    *y = vec3_dot(xy, yy, yz, vx, vy, vz);
    *z = vec3_dot(xz, yz, zz, vx, vy, vz);
}

/* v'·M·v */
static inline f32v sym3_quadratic(f32v xx, f32v xy, f32v xz, f32v yy, f32v yz, f32v zz, f32v vx, f32v vy, f32v vz)
{
    f32v x, y, z;
    sym3_multiply(xx, xy, xz, yy, yz, zz, vx, vy, vz, &x, &y, &z);
    return vec3_dot(vx, vy, vz, x, y, z);
}

/* The inverse; returns the determinant of M. */
static inline f32v sym3_invert(f32v xx, f32v xy, f32v xz, f32v yy, f32v yz, f32v zz, f32v *ixx, f32v *ixy, f32v *ixz, f32v *iyy, f32v *iyz, f32v *izz)
{
    const f32v cxx = simd_minor(yy, zz, yz, yz), cxy = simd_minor(yz, xz, xy, zz), cxz = simd_minor(xy, yz, yy, xz);
    const f32v determinant = vec3_dot(xx, xy, xz, cxx, cxy, cxz);
    const f32v factor = f32v_div(f32v_set(1.0f), determinant);
    *ixx = f32v_mul(cxx, factor);
    *ixy = f32v_mul(cxy, factor);
    *ixz = f32v_mul(cxz, factor);
    *iyy = f32v_mul(simd_minor(xx, zz, xz, xz), factor);
    *iyz = f32v_mul(simd_minor(xy, xz, xx, yz), factor);
    *izz = f32v_mul(simd_minor(xx, yy, xy, xy), factor);
    return determinant;
}

/* A·M·A', A = (ax ay az; bx by bz; cx cy cz) by rows. */
static inline void sym3_similarity(f32v xx, f32v xy, f32v xz, f32v yy, f32v yz, f32v zz, f32v ax, f32v ay, f32v az, f32v bx, f32v by, f32v bz, f32v cx, f32v cy, f32v cz,
                                   f32v *sxx, f32v *sxy, f32v *sxz, f32v *syy, f32v *syz, f32v *szz)
{
    f32v px, py, pz, qx, qy, qz, rx, ry, rz; /* M times each row of A */
    sym3_multiply(xx, xy, xz, yy, yz, zz, ax, ay, az, &px, &py, &pz);
    sym3_multiply(xx, xy, xz, yy, yz, zz, bx, by, bz, &qx, &qy, &qz);
    sym3_multiply(xx, xy, xz, yy, yz, zz, cx, cy, cz, &rx, &ry, &rz);
    *sxx = vec3_dot(ax, ay, az, px, py, pz);
    *sxy = vec3_dot(ax, ay, az, qx, qy, qz);
    *sxz = vec3_dot(ax, ay, az, rx, ry, rz);
    *syy = vec3_dot(bx, by, bz, qx, qy, qz);
    *syz = vec3_dot(bx, by, bz, rx, ry, rz);
    *szz = vec3_dot(cx, cy, cz, rx, ry, rz);
}

#endif
