/* SPDX-License-Identifier: Apache-2.0
 *
 * For the kernels of the track search: the scatter of a hit. Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_SCATTER_H
#define SLUICE_VELO_TRACK_SCATTER_H

/* The squared distance between a hit and a line: the hit lies at (ex, ey, dz) from the line's start. */
static inline f32v scatter_of(f32v ex, f32v ey, f32v dz, f32v tx, f32v ty)
{
    const f32v dx = f32v_sub(ex, f32v_mul(tx, dz)), dy = f32v_sub(ey, f32v_mul(ty, dz));
    return f32v_add(f32v_mul(dx, dx), f32v_mul(dy, dy));
}

#endif
