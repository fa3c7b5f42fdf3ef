/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors for kernels. A kernel file (*.simd.c) includes this header, is compiled once for every target, and exports one
 * table, SIMD_TABLE(module); everything else in it is static. The meaning of every operation stands in simd_c.h; how each
 * target does it, in docs/simd.md.
 *
 * Rules: vectors are opaque local variables, never members of structs or arrays, never under sizeof (on SVE they have no
 * size). SIMD_LANES may be a run-time value. Loops go over whole vectors with mask32_first(n - i); columns have a spare
 * vector after them for this. No intrinsics outside of src/simd/.
 */
#ifndef SLUICE_SIMD_SIMD_H
#define SLUICE_SIMD_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For targets that cannot extract bits: those in even places move together, by one place, two, four … */
static inline uint64_t simd_evens(uint64_t word)
{
    word &= UINT64_C(0x5555555555555555);
    word = (word | word >> 1) & UINT64_C(0x3333333333333333);
    word = (word | word >> 2) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    word = (word | word >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word | word >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (word | word >> 16) & UINT64_C(0x00000000ffffffff);
}

#if defined(SIMD_C)
#include "simd/simd_c.h"
#elif defined(SIMD_SSE4)
#include "simd/simd_sse4.h"
#elif defined(SIMD_AVX2)
#include "simd/simd_avx2.h"
#elif defined(SIMD_AVX512VL128) || defined(SIMD_AVX512VL256) || defined(SIMD_AVX512) || defined(SIMD_AVX512ICL)
#include "simd/simd_avx512.h"
#elif defined(SIMD_NEON)
#include "simd/simd_neon.h"
#elif defined(SIMD_SVE)
#include "simd/simd_sve.h"
#else
#error "compile this file through sluice_kernels() of cmake/SluiceSimd.cmake, which defines SIMD_<TARGET>"
#endif

#define SIMD_PASTE_(a, b) a##_kernels_##b
#define SIMD_PASTE(a, b) SIMD_PASTE_(a, b)
#define SIMD_TEXT_(a) #a
#define SIMD_TEXT(a) SIMD_TEXT_(a)

/* "avx2", and slc_image_kernels_avx2 for SIMD_TABLE(slc_image). */
#define SIMD_TARGET_NAME SIMD_TEXT(SIMD_TARGET)
#define SIMD_TABLE(module) SIMD_PASTE(module, SIMD_TARGET)

#include "simd/simd_bits.h"
#include "simd/simd_rows.h"

#endif
