/* SPDX-License-Identifier: Apache-2.0
 *
 * Beside the vocabulary, for kernels that include it, on targets of vectors of eight words (SIMD_BIT_SUMS): sums over the bits
 * that are set in words. Of each word how many there are, the sum of their numbers (0 to 63), and of the squares of these. Bytes
 * of a word are summed up first; what bytes of up to four words have may be added before the rest is done.
 */
#ifndef SLUICE_SIMD_BIT_SUMS_H
#define SLUICE_SIMD_BIT_SUMS_H

#include "simd/simd_words.h"

#if defined(__AVX512BW__) && SIMD_MAX_LANES == 16
#define SIMD_BIT_SUMS

/* Of each byte: bits that are set, the sum of their numbers in it; and of each pair of bytes, 16 bits, that of the squares. */
typedef struct bits_bytes {
    bits_words n, x, xx;
} bits_bytes;

/* Of both halves of a byte, each looked up in a table of its own and added. */
static inline __m512i bits_look_up(bits_words word, __m128i low, __m128i high)
{
    const __m512i nibble = _mm512_set1_epi8(15), in_low = _mm512_and_si512((__m512i)word, nibble),
                  in_high = _mm512_and_si512((__m512i)(word >> 4), nibble);
    return _mm512_add_epi8(_mm512_shuffle_epi8(_mm512_broadcast_i32x4(low), in_low),
                           _mm512_shuffle_epi8(_mm512_broadcast_i32x4(high), in_high));
}

static inline bits_bytes bits_bytes_of(bits_words word)
{
    const __m128i n = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4),
                  low_x = _mm_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6),
                  high_x = _mm_setr_epi8(0, 4, 5, 9, 6, 10, 11, 15, 7, 11, 12, 16, 13, 17, 18, 22),
                  low_xx = _mm_setr_epi8(0, 0, 1, 1, 4, 4, 5, 5, 9, 9, 10, 10, 13, 13, 14, 14),
                  high_xx = _mm_setr_epi8(0, 16, 25, 41, 36, 52, 61, 77, 49, 65, 74, 90, 85, 101, 110, 126);
    return (bits_bytes){(bits_words)bits_look_up(word, n, n), (bits_words)bits_look_up(word, low_x, high_x),
                        (bits_words)_mm512_maddubs_epi16(bits_look_up(word, low_xx, high_xx), _mm512_set1_epi8(1))};
}

/* Of each word, the sum of its bytes. */
static inline bits_words bits_sum_bytes(bits_words bytes)
{
    return (bits_words)_mm512_sad_epu8((__m512i)bytes, _mm512_setzero_si512());
}

/* Of both halves of a word, which are added, the sum of the bytes, times a weight of each of the eight. */
static inline bits_words bits_sum_weighted(bits_words bytes, uint64_t weights)
{
    const __m512i pairs = _mm512_maddubs_epi16((__m512i)bytes, _mm512_set1_epi64((long long)weights));
    const bits_words halves = (bits_words)_mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
    return (halves & 0xffffffff) + (halves >> 32);
}

/* Byte i times i, and times i². */
static inline bits_words bits_sum_by_at(bits_words bytes)
{
    return bits_sum_weighted(bytes, UINT64_C(0x0706050403020100));
}

static inline bits_words bits_sum_by_at2(bits_words bytes)
{
    return bits_sum_weighted(bytes, UINT64_C(0x3124191009040100));
}

/* Of each word: the sum of the numbers of its bits, from what its bytes have; and that of their squares. */
static inline bits_words bits_sum_numbers(bits_words n, bits_words x)
{
    return bits_sum_bytes(x) + 8 * bits_sum_by_at(n);
}

static inline bits_words bits_sum_squares(const bits_bytes *of)
{
    const bits_words halves = (bits_words)_mm512_madd_epi16((__m512i)of->xx, _mm512_set1_epi16(1));
    return (halves & 0xffffffff) + (halves >> 32) + 16 * bits_sum_by_at(of->x) + 64 * bits_sum_by_at2(of->n);
}

/* Eight rows of eight words become columns. */
static inline void bits_transpose(bits_words rows[8])
{
    __m512i a[8], b[8];
    for (size_t i = 0; i < 8; i += 2) { /* pairs of words, then of pairs, then of halves */
        a[i] = _mm512_unpacklo_epi64((__m512i)rows[i], (__m512i)rows[i + 1]);
        a[i + 1] = _mm512_unpackhi_epi64((__m512i)rows[i], (__m512i)rows[i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        for (size_t k = i; k < i + 2; k++) {
            b[k] = _mm512_shuffle_i64x2(a[k], a[k + 2], 0x88);
            b[k + 2] = _mm512_shuffle_i64x2(a[k], a[k + 2], 0xdd);
        }
    }
    for (size_t k = 0; k < 4; k++) {
        rows[k] = (bits_words)_mm512_shuffle_i64x2(b[k], b[k + 4], 0x88);
        rows[k + 4] = (bits_words)_mm512_shuffle_i64x2(b[k], b[k + 4], 0xdd);
    }
}

/* The low halves of words, and the high ones. */
static inline void bits_store_low(uint32_t *p, bits_words v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi64_epi32((__m512i)v));
}

static inline void bits_store_high(uint32_t *p, bits_words v)
{
    bits_store_low(p, v >> 32);
}

/* a / b, of numbers. */
static inline void bits_store_quotient(double *p, bits_words a, bits_words b)
{
    _mm512_storeu_pd(p, _mm512_div_pd(_mm512_cvtepu64_pd((__m512i)a), _mm512_cvtepu64_pd((__m512i)b)));
}

/* Of two numbers in each word, the high half and the low one: the smaller of a's and b's, and the larger. */
static inline bits_words bits_least_halves(bits_words a, bits_words b)
{
    return (bits_words)_mm512_min_epu32((__m512i)a, (__m512i)b);
}

static inline bits_words bits_largest_halves(bits_words a, bits_words b)
{
    return (bits_words)_mm512_max_epu32((__m512i)a, (__m512i)b);
}
#endif

#endif
