/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded random numbers for tests (splitmix64): the same on every machine.
 */
#ifndef SUPPORT_RANDOM_H
#define SUPPORT_RANDOM_H

#include <stdint.h>

static inline uint64_t random_u64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* 0 … n - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((random_u64(state) >> 32) * n >> 32);
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
