/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: products of 64-bit integers, their sums and differences, exact in 128 bits. Variances
 * are small differences of large products: they are taken before anything is rounded. C has no such integers
 * of its own.
 */
#ifndef SLUICE_BASE_WIDE_H
#define SLUICE_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct slc_wide {
    uint64_t high, low;
} slc_wide;

/* a · b, from four products of halves. */
static inline slc_wide slc_wide_product(uint64_t a, uint64_t b)
{
    const uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    return (slc_wide){a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (low & UINT32_MAX)};
}

/* Below 2^128. */
static inline slc_wide slc_wide_sum(slc_wide a, slc_wide b)
{
    const uint64_t low = a.low + b.low;
    return (slc_wide){a.high + b.high + (low < a.low), low};
}

/* Rounded twice: of the upper half, and of the sum. */
static inline double slc_wide_value(slc_wide a)
{
    return (double)a.high * 0x1p64 + (double)a.low;
}

static inline bool slc_wide_less(slc_wide a, slc_wide b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* a - b, rounded once its size is known exactly (in two steps: of the upper half, and of the sum). Never a
 * negative zero. */
static inline double slc_wide_difference(slc_wide a, slc_wide b)
{
    const bool negative = slc_wide_less(a, b);
    const slc_wide large = negative ? b : a, small = negative ? a : b;
    const uint64_t low = large.low - small.low, high = large.high - small.high - (large.low < small.low);
    const double size = (double)high * 0x1p64 + (double)low;
    return negative ? -size : size;
}

#endif
