/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: which of the hits right before it, in the order of time, a hit is adjacent to. A window
 * of time mostly holds few hits, so that comparing with all of them is cheaper than looking where they are.
 */
#ifndef SLUICE_PIXEL_NEAR_H
#define SLUICE_PIXEL_NEAR_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

enum {
    SLC_PIXEL_NEAR_FRONT = 32, /* hits that are known in front of the first */
    SLC_PIXEL_NEAR_ROOM = 512, /* that are compared at once */
    SLC_PIXEL_NEAR_SPARE = 64  /* the longest vector */
};

/* Columns of SLC_PIXEL_NEAR_FRONT hits, up to SLC_PIXEL_NEAR_ROOM more, and SLC_PIXEL_NEAR_SPARE. */
typedef struct slc_pixel_near {
    const uint32_t *yx; /* y above x, both at least `radius` below 65536 */
    const uint32_t
        *time; /* low bits: from the first in front to the last is less than 2^32 less the window */
    uint32_t window;
    uint32_t radius; /* 1 to 8; 0: 1, and not at corners */
    uint32_t *near;  /* out: bit k - 1 of a hit: the one k before it is adjacent and in the window */
} slc_pixel_near;

typedef struct slc_pixel_near_kernels {
    const char *target;
    /* Of the n hits from SLC_PIXEL_NEAR_FRONT on. False where the window of one of them may reach beyond the
     * hits in front of it that it is compared with. */
    bool (*find)(const slc_pixel_near *hits, size_t n);
} slc_pixel_near_kernels;

#define SLC_PIXEL_NEAR_DECLARE(target, TARGET)                                                               \
    extern const slc_pixel_near_kernels slc_pixel_near_kernels_##target;
SIMD_FOR_EACH(SLC_PIXEL_NEAR_DECLARE)
#undef SLC_PIXEL_NEAR_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_pixel_near_kernels *slc_pixel_near_kernels_of(slc_simd_target target);

#endif
