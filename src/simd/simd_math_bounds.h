/* SPDX-License-Identifier: Apache-2.0
 *
 * The largest errors of simd_math.h, in units of the last place of the result; apart from it, so that a test can read
 * them without being compiled for a target. "Measured" is the largest over all 2^32 arguments (of two arguments: over all
 * first ones, each with one random second) that SLUICE_SIMD=avx512 check_math --exhaustive found.
 */
#ifndef SLUICE_SIMD_MATH_BOUNDS_H
#define SLUICE_SIMD_MATH_BOUNDS_H

#define SIMD_ULP_SIN 1.25 /* measured: 1.018 */
#define SIMD_ULP_COS 1.25 /* measured: 1.020 */
#define SIMD_ULP_ATAN2 2.0 /* measured: 1.589 */
#define SIMD_ULP_EXP 1.0 /* measured: 0.989 */
#define SIMD_ULP_LOG 1.0 /* measured: 0.889 */
#define SIMD_ULP_HYPOT 1.5 /* measured: 1.206 */
#define SIMD_ULP_RSQRT 1.5 /* measured: 1.490 */

#endif
