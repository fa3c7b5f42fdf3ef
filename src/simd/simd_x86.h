/* SPDX-License-Identifier: Apache-2.0
 *
 * What the x86 targets share: tables and helpers that need no register wider than the narrowest of their
 * users has.
 */
#ifndef SLUICE_SIMD_X86_H
#define SLUICE_SIMD_X86_H

#include <immintrin.h>

/* Positions of the set bits of a byte, one a byte, rising from the lowest. Going down from bit 7, a set bit
 * pushes its position in below those found before, so the macros need no count and leave the entries in
 * order. 2 KiB: fits in L1. */
#define X86_BIT0(v) (v), (v) << 8
#define X86_BIT1(v) X86_BIT0(v), X86_BIT0((v) << 8 | 1)
#define X86_BIT2(v) X86_BIT1(v), X86_BIT1((v) << 8 | 2)
#define X86_BIT3(v) X86_BIT2(v), X86_BIT2((v) << 8 | 3)
#define X86_BIT4(v) X86_BIT3(v), X86_BIT3((v) << 8 | 4)
#define X86_BIT5(v) X86_BIT4(v), X86_BIT4((v) << 8 | 5)
#define X86_BIT6(v) X86_BIT5(v), X86_BIT5((v) << 8 | 6)
#define X86_BIT7(v) X86_BIT6(v), X86_BIT6((v) << 8 | 7)
static const uint64_t x86_positions[256] = {X86_BIT7(UINT64_C(0))};

/* bits_positions_u32 and _u16. Eight positions are written for every byte, and the next byte's go after
 * those that count: the same time for any number of bits, and no branch to guess wrong. AVX-512 takes this
 * way too: vpcompressd of 16 lane numbers at a time (4.7 ns a word) and VBMI2's vpcompressb of all 64 at once
 * (4.1) were no faster where they were measured (EPYC with AVX-512, half of the bits set: 3.8). */
static inline size_t x86_positions_u32(uint32_t *p, uint64_t word, uint32_t base)
{
    size_t n = 0;
#if !defined(__AVX2__) || defined(SIMD_AVX512VL128)
    __m128i first = _mm_set1_epi32((int)base);
#else
    __m256i first = _mm256_set1_epi32((int)base);
#endif
    for (unsigned at = 0; at < 64; at += 8) {
        const unsigned byte = (unsigned)(word >> at) & 255U;
        const __m128i bytes = _mm_loadl_epi64((const void *)(x86_positions + byte));
#if !defined(__AVX2__) || defined(SIMD_AVX512VL128)
        _mm_storeu_si128((void *)(p + n), _mm_add_epi32(first, _mm_cvtepu8_epi32(bytes)));
        _mm_storeu_si128((void *)(p + n + 4),
                         _mm_add_epi32(first, _mm_cvtepu8_epi32(_mm_srli_epi64(bytes, 32))));
        first = _mm_add_epi32(first, _mm_set1_epi32(8));
#else
        _mm256_storeu_si256((void *)(p + n), _mm256_add_epi32(first, _mm256_cvtepu8_epi32(bytes)));
        first = _mm256_add_epi32(first, _mm256_set1_epi32(8));
#endif
        n += (size_t)__builtin_popcount(byte);
    }
    return n;
}
static inline size_t x86_positions_u16(uint16_t *p, uint64_t word, uint32_t base)
{
    size_t n = 0;
    __m128i first = _mm_set1_epi16((short)base);
    for (unsigned at = 0; at < 64; at += 8) {
        const unsigned byte = (unsigned)(word >> at) & 255U;
        const __m128i bytes = _mm_loadl_epi64((const void *)(x86_positions + byte));
        _mm_storeu_si128((void *)(p + n), _mm_add_epi16(first, _mm_cvtepu8_epi16(bytes)));
        n += (size_t)__builtin_popcount(byte);
        first = _mm_add_epi16(first, _mm_set1_epi16(8));
    }
    return n;
}

/* 32 bits at p[i], whatever type they have there. */
static inline int32_t x86_lane(const void *p, size_t i)
{
    int32_t lane;
    memcpy(&lane, (const char *)p + 4 * i, 4);
    return lane;
}

/* Four lanes of a gather. Also where there is an instruction: on the EPYC it was measured on, vpgatherdd
 * takes twice as long as loads of the single lanes (0.36 against 0.17 ns a lane with 256 bits), and on
 * Intel's up to Ice Lake it is slow since the mitigation of "gather data sampling" (2023). */
static inline __m128i x86_gather(const void *p, const uint32_t *index)
{
    return _mm_setr_epi32(x86_lane(p, index[0]), x86_lane(p, index[1]), x86_lane(p, index[2]),
                          x86_lane(p, index[3]));
}

/* The first n < 16 bytes at p, then zeros. Loads overlap instead of reaching beyond p[n - 1]: that byte may
 * be the last one of a page, and a sanitizer would complain even where it is not. */
static inline __m128i x86_load_first(const uint8_t *p, size_t n)
{
    uint64_t low = 0, high = 0;
    if (n >= 8) {
        memcpy(&low, p, 8);
        memcpy(&high, p + n - 8, 8);
        high = high >> 8 * (15 - n) >> 8; /* in two steps: n = 8 shifts by 64 */
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, p, 4);
        memcpy(&last, p + n - 4, 4);
        low = first | (uint64_t)last << 8 * (n - 4);
    } else if (n > 0) {
        low = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return _mm_set_epi64x((long long)high, (long long)low);
}

/* ((v0 + v1) + v2) + v3, and the same that goes on from a sum. */
static inline float x86_sum_on(float sum, __m128 v)
{
    __m128 s = _mm_add_ss(_mm_set_ss(sum), v);
    s = _mm_add_ss(s, _mm_movehdup_ps(v));
    s = _mm_add_ss(s, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(v, v, 0xff)));
}
static inline float x86_sum(__m128 v)
{
    __m128 s = _mm_add_ss(v, _mm_movehdup_ps(v));
    s = _mm_add_ss(s, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(v, v, 0xff)));
}

/* min(v0, min(v1, min(v2, v3))) and max, for vectors without NaN but where lane 3 is one: neighbours first
 * and the lower lanes on the left of every step, so that of equal zeros the highest lane's is taken as in the
 * sequence. */
static inline __m128 x86_lowest(__m128 v)
{
    const __m128 pairs = _mm_min_ps(v, _mm_movehdup_ps(v));
    return _mm_min_ps(pairs, _mm_movehl_ps(pairs, pairs));
}
static inline __m128 x86_highest(__m128 v)
{
    const __m128 pairs = _mm_max_ps(v, _mm_movehdup_ps(v));
    return _mm_max_ps(pairs, _mm_movehl_ps(pairs, pairs));
}

static inline uint32_t x86_u32_sum(__m128i v)
{
    const __m128i pairs = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32(pairs, 0xb1)));
}
static inline uint32_t x86_u32_lowest(__m128i v)
{
    const __m128i pairs = _mm_min_epu32(v, _mm_shuffle_epi32(v, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(pairs, _mm_shuffle_epi32(pairs, 0xb1)));
}
static inline uint32_t x86_u32_highest(__m128i v)
{
    const __m128i pairs = _mm_max_epu32(v, _mm_shuffle_epi32(v, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(pairs, _mm_shuffle_epi32(pairs, 0xb1)));
}

#endif
