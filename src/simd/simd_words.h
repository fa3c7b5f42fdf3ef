/* SPDX-License-Identifier: Apache-2.0
 *
 * Beside the vocabulary, for kernels that include it: BITS_WORDS_N words of a row of bits at once.
 */
#ifndef SLUICE_SIMD_WORDS_H
#define SLUICE_SIMD_WORDS_H

#include "simd/simd.h"

/* Eight words, as many as compilers make of the registers there are. With AVX-512 they would take its widest for that, which a
 * target of fewer lanes is there to leave alone. */
#if defined(__AVX512VL__) && SIMD_MAX_LANES < 16
#define BITS_WORDS_N (SIMD_MAX_LANES / 2)
#else
#define BITS_WORDS_N 8
#endif

/* BITS_WORDS_N words of a row as one vector, of the compiler's own kind: &, |, ^, ~, + and shifts by a number go word by word, on
 * every target. They are read and written at any word. */
typedef uint64_t bits_words __attribute__((vector_size(8 * BITS_WORDS_N)));
typedef uint64_t bits_words_near __attribute__((vector_size(8 * BITS_WORDS_N), aligned(8), may_alias));
#define BITS_WORDS(p)          (*(const bits_words_near *)(const void *)(p))
#define BITS_WORDS_STORE(p, v) (*(bits_words_near *)(void *)(p) = (v))
/* The same moved by one column, from their neighbours in the row: what is in the column before, and after. */
#define BITS_WORDS_LEFT(p)  (BITS_WORDS(p) << 1 | BITS_WORDS((p)-1) >> 63)
#define BITS_WORDS_RIGHT(p) (BITS_WORDS(p) >> 1 | BITS_WORDS((p) + 1) << 63)

/* a += b as one number, with a carry in; returns the carry out. */
#if defined(__AVX512F__) && SIMD_MAX_LANES == 16
static inline unsigned bits_add_words(bits_words *a, const bits_words *b, unsigned carry)
{
    const __m512i ones = _mm512_set1_epi64(-1), x = (__m512i)*a, sum = _mm512_add_epi64(x, (__m512i)*b);
    __mmask8 wrapped = _mm512_cmplt_epu64_mask(sum, x), passes = _mm512_cmpeq_epi64_mask(sum, ones);
    __asm__("" : "+r"(wrapped), "+r"(passes)); /* as in avx512_number() */
    const unsigned carries = 2U * wrapped + carry + passes;
    *a = (bits_words)_mm512_mask_sub_epi64(sum, (__mmask8)(carries ^ passes), sum, ones);
    return carries >> 8 & 1U;
}
#elif defined(__AVX2__) && BITS_WORDS_N == 8
static inline unsigned bits_add_words(bits_words *a, const bits_words *b, unsigned carry)
{
    const __m256i place = _mm256_setr_epi64x(1, 2, 4, 8), ones = _mm256_set1_epi64x(-1);
    __m256i sum[2], x[2], y[2];
    unsigned wrapped = 0, passes = 0;
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    for (unsigned half = 0; half < 2; half++) {
        sum[half] = _mm256_add_epi64(x[half], y[half]);
        /* A carry comes out at the top where both have it, or one has and the sum does not. */
        const __m256i out = _mm256_or_si256(_mm256_and_si256(x[half], y[half]),
                                            _mm256_andnot_si256(sum[half], _mm256_or_si256(x[half], y[half])));
        wrapped |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(out)) << 4 * half;
        passes |= (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(sum[half], ones))) << 4 * half;
    }
    const unsigned carries = 2U * wrapped + carry + passes, into = carries ^ passes;
    for (unsigned half = 0; half < 2; half++) {
        const __m256i all = _mm256_set1_epi64x((long long)(into >> 4 * half));
        sum[half] = _mm256_sub_epi64(sum[half], _mm256_cmpeq_epi64(_mm256_and_si256(all, place), place));
    }
    memcpy(a, sum, sizeof sum);
    return carries >> 8 & 1U;
}
#else
static inline unsigned bits_add_words(bits_words *a, const bits_words *b, unsigned carry)
{
    for (unsigned i = 0; i < BITS_WORDS_N; i++) {
        const uint64_t x = (*a)[i] + carry, sum = x + (*b)[i];
        carry = (unsigned)(x < carry) | (unsigned)(sum < x);
        (*a)[i] = sum;
    }
    return carry;
}
#endif

#endif
