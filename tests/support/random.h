/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded random numbers for tests: the library's own under short names, and a normal distribution.
 */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include "base/splitmix.h"

static inline uint64_t random_u64(uint64_t *state)
{
    return slc_random_u64(state);
}

/* 0 … n - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return slc_random_below(state, n);
}

/* [0, 1). */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_u64(state) >> 11) * 0x1p-53;
}

/* Unit normal, from the sum of twelve uniform numbers: bounded at ±6, exact enough for widths. */
static inline double random_normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        sum += random_unit(state);
    }
    return sum;
}

#endif
