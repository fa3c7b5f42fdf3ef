/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: seeded random numbers for the standard inputs of kernels and for tests (splitmix64):
 * the same on every machine.
 */
#ifndef SLUICE_BASE_SPLITMIX_H
#define SLUICE_BASE_SPLITMIX_H

#include <stdint.h>

static inline uint64_t slc_random_u64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
}

/* 0 … n - 1. */
static inline uint32_t slc_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((slc_random_u64(state) >> 32) * n >> 32);
}

/* low … high, in steps of 2^-24 of the way. */
static inline float slc_random_between(uint64_t *state, float low, float high)
{
    return low + (high - low) * (float)(slc_random_u64(state) >> 40) * 0x1p-24f;
}

#endif
