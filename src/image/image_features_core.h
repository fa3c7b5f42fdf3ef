/* SPDX-License-Identifier: Apache-2.0
 *
 * Derived features of one component, from its exact sums: the formulas that the processor and GPUs share, so
 * that their results are the same to the last bit. Every operation on floating-point numbers is rounded by
 * itself (-ffp-contract=off, -fmad=false), in the order written here. The shape is not among them: its
 * functions are the C library's (image_shape.c).
 */
#ifndef SLUICE_IMAGE_FEATURES_CORE_H
#define SLUICE_IMAGE_FEATURES_CORE_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define SLC_IMAGE_CORE static __host__ __device__ inline
#else
#define SLC_IMAGE_CORE static inline
#endif

/* (double)n, in operations that compilers make vectors of: both halves become the fractions of doubles whose
 * last bits are worth 2^32 and 1; the last addition is the only one that rounds. */
SLC_IMAGE_CORE double slc_image_rounded(uint64_t n)
{
    const uint64_t high = n >> 32 | UINT64_C(0x4530000000000000);
    const uint64_t low = (n & UINT32_MAX) | UINT64_C(0x4330000000000000);
    double a, b;
    memcpy(&a, &high, sizeof a);
    memcpy(&b, &low, sizeof b);
    return a - (0x1p84 + 0x1p52) + b;
}

/* A coordinate's mean: both are rounded before they are divided. */
SLC_IMAGE_CORE double slc_image_mean_of(uint64_t sum, uint64_t n)
{
    return slc_image_rounded(sum) / slc_image_rounded(n);
}

/* A coordinate's mean weighted by grey values; not a number where all of them are 0. */
SLC_IMAGE_CORE double slc_image_weighted_of(double moment, double mass)
{
    const uint64_t bits = UINT64_C(0x7ff8000000000000);
    double none;
    memcpy(&none, &bits, sizeof none);
    return mass != 0 ? moment / mass : none;
}

#endif
