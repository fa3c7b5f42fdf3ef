/* SPDX-License-Identifier: Apache-2.0
 * The functions of simd_math.h, simd_vec3.h and simd_symmetric.h over arrays, one table a target. Arrays hold
 * n elements, n a multiple of 64. */
#ifndef SLUICE_TESTS_CHECK_MATH_H
#define SLUICE_TESTS_CHECK_MATH_H

#include <stddef.h>
#include <stdint.h>

enum { CHECK_MATH_FUNCTIONS = 8 };

typedef struct slc_check_math {
    const char *target;
    /* out = f(x) or f(x, y); in the order of the rows of check_math.c: sin cos atan2 exp log hypot rsqrt, and
     * sincos, of which sine + 2·cosine comes out (the parts are checked alone). */
    void (*function[CHECK_MATH_FUNCTIONS])(const float *x, const float *y, size_t n, float *out);
    float (*sum16)(const float *p, size_t n);
    /* Columns of the input and the output; see the tables of check_math_algebra.c. */
    void (*vec3)(const float *const *in, size_t n, float *const *out);
    void (*sym2)(const float *const *in, size_t n, float *const *out);
    void (*sym3)(const float *const *in, size_t n, float *const *out);
} slc_check_math;

/* check_math_algebra.c: vec3, sym2 and sym3 of a target against formulas in double, and against c bit by bit.
 */
void slc_check_algebra(const slc_check_math *table, const slc_check_math *reference, uint64_t seed);

#endif
