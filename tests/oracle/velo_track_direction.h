/* SPDX-License-Identifier: Apache-2.0
 * Directions of hits as whole numbers, and how near two of them are: for the oracle of the track search. */
#ifndef VELO_TRACK_DIRECTION_H
#define VELO_TRACK_DIRECTION_H

#include <math.h>
#include <stdint.h>

/* The diamond angle in steps; the full turn is 2^32. */
static inline int32_t direction(float x, float y)
{
    const float sum = fabsf(x) + fabsf(y), part = sum > 0 ? y / sum : 0;
    const float angle = x >= 0 ? part : (y >= 0 ? 2.0f : -2.0f) - part;
    return (int32_t)((uint32_t)(int32_t)(angle * 262144.0f) << 12);
}

static inline uint32_t nearness(int32_t a, int32_t b)
{
    const uint32_t d = (uint32_t)a - (uint32_t)b;
    return d > UINT32_C(0x80000000) ? 0 - d : d;
}

#endif
