/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes are hits that follow each other; step k compares all of them with those k before, until the window of
 * none reaches so far. Both coordinates are in one number, where a subtraction that is off by the radius
 * leaves two numbers from 0 to twice the radius just for neighbours.
 */
#include "pixel/pixel_near.h"

#include "simd/simd.h"

enum { HALVES = 0x10001, FRONT = SLC_PIXEL_NEAR_FRONT };

/* Where the lower half is larger than `reach`, what it borrows from the upper one no longer matters. */
static inline mask32 is_near(u32v apart, u32v beyond)
{
    const u32v over = u32v_or(apart, u32v_add(apart, beyond));
    return u32v_eq(u32v_and(over, u32v_set(0x80008000)), u32v_set(0));
}

static inline mask32 is_straight(u32v apart)
{
    const u32v one = u32v_set(1);
    return mask32_or(u32v_eq(u32v_and(apart, u32v_set(0xffff)), one), u32v_eq(u32v_shr(apart, 16), one));
}

static bool find(const slc_pixel_near *hits, size_t n)
{
    const uint32_t reach = hits->radius > 0 ? hits->radius : 1;
    const u32v window = u32v_set(hits->window), beyond = u32v_set((0x7fff - 2 * reach) * HALVES);
    const uint32_t *yx = hits->yx + FRONT, *time = hits->time + FRONT;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v from = u32v_add(u32v_load(yx + i), u32v_set(reach * HALVES)), now = u32v_load(time + i);
        const mask32 here = mask32_first(n - i);
        u32v near = u32v_set(0);
        for (size_t k = 1; k <= FRONT; k++) {
            const u32v passed = u32v_sub(now, u32v_load(time + i - k));
            const mask32 in = mask32_and(u32v_le(passed, window), here);
            if (!mask32_any(in)) {
                break;
            }
            const u32v apart = u32v_sub(from, u32v_load(yx + i - k));
            const mask32 joins = mask32_and(is_near(apart, beyond), in);
            const mask32 kept = hits->radius > 0 ? joins : mask32_and(joins, is_straight(apart));
            near = u32v_or(near, u32v_select(kept, u32v_set(1U << (k - 1)), u32v_set(0)));
            if (k == FRONT) {
                return false;
            }
        }
        u32v_store(hits->near + FRONT + i, near);
    }
    return true;
}

const slc_pixel_near_kernels SIMD_TABLE(slc_pixel_near) = {.target = SIMD_TARGET_NAME, .find = find};
