/* SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary in AVX-512 (F, VL, BW, DQ, CD: what every such processor since Skylake-SP has) on vectors of
 * 128, 256 or 512 bits: 4, 8 or 16 lanes of 32 bits, 16, 32 or 64 of 8. Masks are mask registers. The meaning
 * of every operation stands in simd_c.h; here the comment after it names the instruction, or how it is
 * emulated.
 *
 * avx512icl has what came with Ice Lake and Zen 4 besides: VPOPCNTDQ counts bits, VBMI2 compresses bytes.
 *
 * The narrow forms are targets of their own because wide registers can cost clock frequency (A. Hennequin's
 * thesis, section 2.3.2), and because the new instructions are useful on any width.
 */
#ifndef SLUICE_SIMD_AVX512_H
#define SLUICE_SIMD_AVX512_H

#include "simd/simd_x86.h"

/* The names of this width, until the end of this file: MM(add_ps) is _mm512_add_ps, SI(and) is
 * _mm512_and_si512, K(kand) is _kand_mask16. ALL is the mask of every lane. */
#if defined(SIMD_AVX512) || defined(SIMD_AVX512ICL)
#if defined(SIMD_AVX512ICL)
#define SIMD_TARGET                         avx512icl
#else
#define SIMD_TARGET                         avx512
#endif
#define SIMD_MAX_LANES                      16
#define MM(operation)                       _mm512_##operation
#define SI(operation)                       _mm512_##operation##_si512
#define K(operation)                        _##operation##_mask16
#define K_MOVE                              "kmovw"
#define ALL                                 0xffff
#define AVX512_LANES _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define AVX512_PS(v)                        _mm512_castsi512_ps(v)
#define AVX512_SI(v)                        _mm512_castps_si512(v)
#define AVX512_GATHER(type, other, m, i, p) _mm512_mask_i32gather_##type(other, m, i, p, 4)
#define AVX512_OF_16_BYTES(v)               _mm512_broadcast_i32x4(v)
typedef __m512 f32v;
typedef __m512i i32v;
typedef __m512i u32v;
typedef __mmask16 mask32;
typedef __m512i u8v;
typedef __mmask64 mask8;
#elif defined(SIMD_AVX512VL256)
#define SIMD_TARGET                         avx512vl256
#define SIMD_MAX_LANES                      8
#define MM(operation)                       _mm256_##operation
#define SI(operation)                       _mm256_##operation##_si256
#define K(operation)                        _##operation##_mask8
#define K_MOVE                              "kmovb"
#define ALL                                 0xff
#define AVX512_LANES _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)
#define AVX512_PS(v)                        _mm256_castsi256_ps(v)
#define AVX512_SI(v)                        _mm256_castps_si256(v)
#define AVX512_GATHER(type, other, m, i, p) _mm256_mmask_i32gather_##type(other, m, i, p, 4)
#define AVX512_OF_16_BYTES(v)               _mm256_broadcastsi128_si256(v)
typedef __m256 f32v;
typedef __m256i i32v;
typedef __m256i u32v;
typedef __mmask8 mask32;
typedef __m256i u8v;
typedef __mmask32 mask8;
#else
#define SIMD_TARGET                         avx512vl128
#define SIMD_MAX_LANES                      4
#define MM(operation)                       _mm_##operation
#define SI(operation)                       _mm_##operation##_si128
#define K(operation)                        _##operation##_mask8
#define K_MOVE                              "kmovb"
#define ALL                                 0x0f
#define AVX512_LANES _mm_setr_epi32(0, 1, 2, 3)
#define AVX512_PS(v)                        _mm_castsi128_ps(v)
#define AVX512_SI(v)                        _mm_castps_si128(v)
#define AVX512_GATHER(type, other, m, i, p) _mm_mmask_i32gather_##type(other, m, i, p, 4)
#define AVX512_OF_16_BYTES(v)               (v)
typedef __m128 f32v;
typedef __m128i i32v;
typedef __m128i u32v;
typedef __mmask8 mask32; /* bits 4 to 7 are always 0 */
typedef __m128i u8v;
typedef __mmask16 mask8;
#endif

#define SIMD_LANES  ((size_t)SIMD_MAX_LANES)
#define SIMD_LANES8 ((size_t)4 * SIMD_MAX_LANES)

/* ---- helpers ----------------------------------------------------------------------------------- */

#define AVX512_SIGN MM(set1_epi32)(INT32_MIN)

static inline u32v avx512_popcount(u32v a)
{
#if defined(__AVX512VPOPCNTDQ__)
    return MM(popcnt_epi32)(a);
#else
    const u32v low = MM(set1_epi8)(15);
    const u32v table = AVX512_OF_16_BYTES(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const u32v lower = MM(shuffle_epi8)(table, SI(and)(a, low));
    const u32v upper = MM(shuffle_epi8)(table, SI(and)(MM(srli_epi32)(a, 4), low));
    const u32v pairs = MM(maddubs_epi16)(MM(add_epi8)(lower, upper), MM(set1_epi8)(1));
    return MM(madd_epi16)(pairs, MM(set1_epi16)(1));
#endif
}
static inline mask32 avx512_of_bits(uint64_t bits)
{
    uint32_t low = (uint32_t)bits & ALL;
    /* In a register for numbers: GCC would shift words in mask registers, which takes longer. */
    __asm__("" : "+r"(low));
    return (mask32)low;
}
static inline uint32_t avx512_number(mask32 m)
{
    /* In a register for numbers before it gets longer: otherwise GCC 12 lets what a comparison wrote be mask and
     * number at once, and where that waits in memory it writes 8 or 16 bits and reads 32. */
    __asm__("" : "+r"(m));
    return m;
}
static inline size_t avx512_count(mask32 m)
{
    uint32_t number;
    /* Otherwise GCC 12 counts 16 bits and makes 32 of them afterwards. */
    __asm__(K_MOVE "\t%1, %0" : "=r"(number) : "k"(m));
    return (size_t)__builtin_popcount(number);
}
static inline u32v avx512_rank(uint64_t bits)
{
    /* The lowest lane + 1 bits of a word: bits beyond the last lane are masked by the last lane's. */
    const u32v upto = MM(sub_epi32)(MM(sllv_epi32)(MM(set1_epi32)(2), AVX512_LANES), MM(set1_epi32)(1));
    return avx512_popcount(SI(and)(MM(set1_epi32)((int)(uint32_t)bits), upto));
}
static inline u32v avx512_running_sum(u32v v)
{
    const u32v zero = MM(set1_epi32)(0);
    v = MM(add_epi32)(v, MM(alignr_epi32)(v, zero, SIMD_MAX_LANES - 1));
    v = MM(add_epi32)(v, MM(alignr_epi32)(v, zero, SIMD_MAX_LANES - 2));
#if SIMD_MAX_LANES > 4
    v = MM(add_epi32)(v, MM(alignr_epi32)(v, zero, SIMD_MAX_LANES - 4));
#endif
#if SIMD_MAX_LANES > 8
    v = MM(add_epi32)(v, MM(alignr_epi32)(v, zero, SIMD_MAX_LANES - 8));
#endif
    return v;
}

static inline f32v avx512_permute_ps(f32v v, u32v i)
{
#if SIMD_MAX_LANES == 4
    return _mm_permutevar_ps(v, i);
#else
    return MM(permutexvar_ps)(i, v);
#endif
}
static inline u32v avx512_permute(u32v v, u32v i)
{
#if SIMD_MAX_LANES == 4
    return AVX512_SI(_mm_permutevar_ps(AVX512_PS(v), i));
#else
    return MM(permutexvar_epi32)(i, v);
#endif
}

/* The wider vectors halved down to 128 bits by the same instruction. */
#if SIMD_MAX_LANES == 16
#define AVX512_HALVE(type, instruction)                                                                      \
    const __m256i half = _mm256_##instruction(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));   \
    const __m128i quarter = _mm_##type(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1))
#elif SIMD_MAX_LANES == 8
#define AVX512_HALVE(type, instruction)                                                                      \
    const __m128i quarter = _mm_##type(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))
#else
#define AVX512_HALVE(type, instruction) const __m128i quarter = v
#endif
static inline uint32_t avx512_sum_u32(u32v v)
{
    AVX512_HALVE(add_epi32, add_epi32);
    return x86_u32_sum(quarter);
}
static inline uint32_t avx512_lowest_u32(u32v v)
{
    AVX512_HALVE(min_epu32, min_epu32);
    return x86_u32_lowest(quarter);
}
static inline uint32_t avx512_highest_u32(u32v v)
{
    AVX512_HALVE(max_epu32, max_epu32);
    return x86_u32_highest(quarter);
}
static inline uint32_t avx512_or(u32v v)
{
    AVX512_HALVE(or_si128, or_si256);
    const uint64_t pairs = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(quarter, _mm_srli_si128(quarter, 8)));
    return (uint32_t)(pairs | pairs >> 32);
}
#undef AVX512_HALVE

/* The lane's earlier equals as bits: lanes in m that have one in m, and those whose bit no lane in m has. */
static inline mask32 avx512_first_of_equals(u32v v, mask32 m)
{
    return MM(mask_testn_epi32_mask)(m, MM(conflict_epi32)(v), MM(broadcastmw_epi32)(m));
}
static inline mask32 avx512_last_of_equals(u32v v, mask32 m)
{
    return K(kandn)((mask32)avx512_or(MM(maskz_conflict_epi32)(m, v)), m);
}

static inline float avx512_sum(f32v v)
{
#if SIMD_MAX_LANES == 16
    const float first = x86_sum_on(x86_sum(_mm512_castps512_ps128(v)), _mm512_extractf32x4_ps(v, 1));
    return x86_sum_on(x86_sum_on(first, _mm512_extractf32x4_ps(v, 2)), _mm512_extractf32x4_ps(v, 3));
#elif SIMD_MAX_LANES == 8
    return x86_sum_on(x86_sum(_mm256_castps256_ps128(v)), _mm256_extractf128_ps(v, 1));
#else
    return x86_sum(v);
#endif
}
/* NaN in front of the last lane never wins: the last lane's value in its place wins no more than that lane
 * does. */
static inline f32v avx512_without_nan(f32v v)
{
    const f32v last = avx512_permute_ps(v, MM(set1_epi32)(SIMD_MAX_LANES - 1));
    return MM(mask_mov_ps)(last, MM(cmp_ps_mask)(v, v, _CMP_ORD_Q), v);
}
/* Each 128 bits first, then those on the left of what is after them. */
#if SIMD_MAX_LANES == 16
#define AVX512_ACROSS(quarter, pair)                                                                         \
    const __m128 a = quarter(_mm512_castps512_ps128(sure)), b = quarter(_mm512_extractf32x4_ps(sure, 1));    \
    const __m128 c = quarter(_mm512_extractf32x4_ps(sure, 2)), d = quarter(_mm512_extractf32x4_ps(sure, 3)); \
    return _mm_cvtss_f32(pair(pair(a, b), pair(c, d)))
#elif SIMD_MAX_LANES == 8
#define AVX512_ACROSS(quarter, pair)                                                                         \
    const __m128 a = quarter(_mm256_castps256_ps128(sure)), b = quarter(_mm256_extractf128_ps(sure, 1));     \
    return _mm_cvtss_f32(pair(a, b))
#else
#define AVX512_ACROSS(quarter, pair) return _mm_cvtss_f32(quarter(sure))
#endif
static inline float avx512_lowest(f32v v)
{
    const f32v sure = avx512_without_nan(v);
    AVX512_ACROSS(x86_lowest, _mm_min_ss);
}
static inline float avx512_highest(f32v v)
{
    const f32v sure = avx512_without_nan(v);
    AVX512_ACROSS(x86_highest, _mm_max_ss);
}
#undef AVX512_ACROSS

static inline mask8 avx512_mask_of_row(const uint8_t *p)
{
    mask8 bits;
    memcpy(&bits, p, sizeof bits);
    return bits;
}

/* vpcompressd into a register and a plain store: the form that writes to memory is far slower on some
 * processors. */
static inline size_t avx512_pack(void *p, u32v v, mask32 m)
{
    SI(storeu)(p, MM(maskz_compress_epi32)(m, v));
    return (size_t)__builtin_popcount(avx512_number(m));
}

static inline u32v avx512_gather(const void *p, u32v i)
{
    uint32_t index[SIMD_MAX_LANES];
    SI(storeu)((void *)index, i);
#if SIMD_MAX_LANES < 16
    /* The indices are to be read back from memory: GCC 12 takes them out of the register else, and the first one of
     * a register above 15 by an instruction of 512 bits, which these targets avoid. With 16 lanes some loops
     * gain by it (the search for tracks) and some lose more (the fit). */
    __asm__("" : "+m"(index));
#endif
#if SIMD_MAX_LANES == 16
    const __m256i low = _mm256_setr_m128i(x86_gather(p, index), x86_gather(p, index + 4));
    const __m256i high = _mm256_setr_m128i(x86_gather(p, index + 8), x86_gather(p, index + 12));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
#elif SIMD_MAX_LANES == 8
    return _mm256_setr_m128i(x86_gather(p, index), x86_gather(p, index + 4));
#else
    return x86_gather(p, index);
#endif
}

#if defined(SIMD_AVX512ICL)
/* The numbers 0 to 63 under the word's bits, in front. */
static inline __m512i avx512_positions(uint64_t word)
{
    const __m128i first = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i quarter = _mm512_maskz_set1_epi8(0xffff0000ffff0000, 16);
    const __m512i half = _mm512_maskz_set1_epi8(0xffffffff00000000, 32);
    const __m512i all = _mm512_add_epi8(_mm512_broadcast_i32x4(first), _mm512_add_epi8(quarter, half));
    return _mm512_maskz_compress_epi8(word, all);
}
static inline size_t avx512_positions_u32(uint32_t *p, uint64_t word, uint32_t base)
{
    const size_t n = (size_t)__builtin_popcountll(word);
    const __m512i bytes = avx512_positions(word), bases = _mm512_set1_epi32((int)base);
    const __m128i q0 = _mm512_castsi512_si128(bytes), q1 = _mm512_extracti32x4_epi32(bytes, 1);
    /* More than 32 of 64 are set in noise alone. */
    _mm512_storeu_si512((void *)p, _mm512_add_epi32(_mm512_cvtepu8_epi32(q0), bases));
    _mm512_storeu_si512((void *)(p + 16), _mm512_add_epi32(_mm512_cvtepu8_epi32(q1), bases));
    if (n > 32) {
        const __m128i q2 = _mm512_extracti32x4_epi32(bytes, 2), q3 = _mm512_extracti32x4_epi32(bytes, 3);
        _mm512_storeu_si512((void *)(p + 32), _mm512_add_epi32(_mm512_cvtepu8_epi32(q2), bases));
        _mm512_storeu_si512((void *)(p + 48), _mm512_add_epi32(_mm512_cvtepu8_epi32(q3), bases));
    }
    return n;
}
static inline size_t avx512_positions_u16(uint16_t *p, uint64_t word, uint32_t base)
{
    const size_t n = (size_t)__builtin_popcountll(word);
    const __m512i bytes = avx512_positions(word), bases = _mm512_set1_epi16((short)base);
    const __m256i low = _mm512_castsi512_si256(bytes), high = _mm512_extracti64x4_epi64(bytes, 1);
    _mm512_storeu_si512((void *)p, _mm512_add_epi16(_mm512_cvtepu8_epi16(low), bases));
    if (n > 32) {
        _mm512_storeu_si512((void *)(p + 32), _mm512_add_epi16(_mm512_cvtepu8_epi16(high), bases));
    }
    return n;
}
#else
static inline size_t avx512_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { return x86_positions_u32(p, word, base); }
static inline size_t avx512_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { return x86_positions_u16(p, word, base); }
#endif

/* ---- masks of 32-bit lanes --------------------------------------------------------------------- */

static inline mask32 mask32_none(void) { return 0; } /* kxorw */
static inline mask32 mask32_all(void) { return ALL; } /* kxnorw */
static inline mask32 mask32_first(size_t n) { return (mask32)_bzhi_u32(ALL, (unsigned)(n < SIMD_LANES ? n : SIMD_LANES)); } /* bzhi */
static inline mask32 mask32_and(mask32 a, mask32 b) { return K(kand)(a, b); } /* kandw, kandb */
static inline mask32 mask32_or(mask32 a, mask32 b) { return K(kor)(a, b); } /* korw, korb */
static inline mask32 mask32_xor(mask32 a, mask32 b) { return K(kxor)(a, b); } /* kxorw, kxorb */
static inline mask32 mask32_andnot(mask32 a, mask32 b) { return K(kandn)(b, a); } /* kandnw, kandnb */
static inline mask32 mask32_not(mask32 a) { return K(kxor)(a, ALL); } /* knotw, knotb, kxorb */
static inline bool mask32_any(mask32 m) { return m != 0; } /* kortestw, kortestb */
static inline bool mask32_every(mask32 m) { return m == ALL; } /* kortestw, kortestb */
static inline size_t mask32_count(mask32 m) { return avx512_count(m); } /* kmovw, popcnt */
static inline size_t mask32_lowest(mask32 m) { return (size_t)__builtin_ctz(avx512_number(m) | 1U << SIMD_MAX_LANES); } /* kmovw, tzcnt */
static inline uint64_t mask32_bits(mask32 m) { return avx512_number(m); } /* kmovw */
static inline mask32 mask32_of_bits(uint64_t bits) { return avx512_of_bits(bits); } /* kmovw */

/* ---- making, loading, storing ------------------------------------------------------------------ */

static inline f32v f32v_set(float x) { return MM(set1_ps)(x); } /* vbroadcastss */
static inline i32v i32v_set(int32_t x) { return MM(set1_epi32)(x); } /* vpbroadcastd */
static inline u32v u32v_set(uint32_t x) { return MM(set1_epi32)((int)x); } /* vpbroadcastd */
static inline u32v u32v_iota(uint32_t first) { return MM(add_epi32)(MM(set1_epi32)((int)first), AVX512_LANES); } /* vpaddd of lane numbers */
static inline i32v i32v_iota(int32_t first) { return MM(add_epi32)(MM(set1_epi32)(first), AVX512_LANES); } /* vpaddd of lane numbers */

static inline f32v f32v_load(const float *p) { return MM(loadu_ps)(p); } /* vmovups */
static inline i32v i32v_load(const int32_t *p) { return SI(loadu)((const void *)p); } /* vmovdqu32 */
static inline u32v u32v_load(const uint32_t *p) { return SI(loadu)((const void *)p); } /* vmovdqu32 */
static inline u32v u32v_load_any(const void *p) { return SI(loadu)(p); } /* vmovdqu32 */
static inline f32v f32v_load_aligned(const float *p) { return MM(load_ps)(p); } /* vmovaps */
static inline i32v i32v_load_aligned(const int32_t *p) { return SI(load)((const void *)p); } /* vmovdqa32 */
static inline u32v u32v_load_aligned(const uint32_t *p) { return SI(load)((const void *)p); } /* vmovdqa32 */
static inline f32v f32v_load_masked(const float *p, mask32 m) { return MM(maskz_loadu_ps)(m, p); } /* vmovups, masked */
static inline i32v i32v_load_masked(const int32_t *p, mask32 m) { return MM(maskz_loadu_epi32)(m, p); } /* vmovdqu32, masked */
static inline u32v u32v_load_masked(const uint32_t *p, mask32 m) { return MM(maskz_loadu_epi32)(m, p); } /* vmovdqu32, masked */
static inline void f32v_store(float *p, f32v v) { MM(storeu_ps)(p, v); } /* vmovups */
static inline void i32v_store(int32_t *p, i32v v) { SI(storeu)((void *)p, v); } /* vmovdqu32 */
static inline void u32v_store(uint32_t *p, u32v v) { SI(storeu)((void *)p, v); } /* vmovdqu32 */
static inline void f32v_store_aligned(float *p, f32v v) { MM(store_ps)(p, v); } /* vmovaps */
static inline void i32v_store_aligned(int32_t *p, i32v v) { SI(store)((void *)p, v); } /* vmovdqa32 */
static inline void u32v_store_aligned(uint32_t *p, u32v v) { SI(store)((void *)p, v); } /* vmovdqa32 */
static inline void u32v_store_far(uint32_t *p, u32v v) { SI(stream)((void *)p, v); } /* vmovntdq */
static inline void f32v_store_masked(float *p, f32v v, mask32 m) { MM(mask_storeu_ps)(p, m, v); } /* vmovups, masked */
static inline void i32v_store_masked(int32_t *p, i32v v, mask32 m) { MM(mask_storeu_epi32)(p, m, v); } /* vmovdqu32, masked */
static inline void u32v_store_masked(uint32_t *p, u32v v, mask32 m) { MM(mask_storeu_epi32)(p, m, v); } /* vmovdqu32, masked */

/* ---- arithmetic -------------------------------------------------------------------------------- */

static inline f32v f32v_add(f32v a, f32v b) { return MM(add_ps)(a, b); } /* vaddps */
static inline f32v f32v_sub(f32v a, f32v b) { return MM(sub_ps)(a, b); } /* vsubps */
static inline f32v f32v_mul(f32v a, f32v b) { return MM(mul_ps)(a, b); } /* vmulps */
static inline f32v f32v_div(f32v a, f32v b) { return MM(div_ps)(a, b); } /* vdivps */
static inline f32v f32v_fma(f32v a, f32v b, f32v c) { return MM(fmadd_ps)(a, b, c); } /* vfmadd231ps */
static inline f32v f32v_sqrt(f32v a) { return MM(sqrt_ps)(a); } /* vsqrtps */
static inline f32v f32v_min(f32v a, f32v b) { return MM(min_ps)(a, b); } /* vminps */
static inline f32v f32v_max(f32v a, f32v b) { return MM(max_ps)(a, b); } /* vmaxps */
static inline f32v f32v_abs(f32v a) { return AVX512_PS(SI(andnot)(AVX512_SIGN, AVX512_SI(a))); } /* vpandnd */
static inline f32v f32v_neg(f32v a) { return AVX512_PS(SI(xor)(AVX512_SI(a), AVX512_SIGN)); } /* vpxord */
static inline f32v f32v_copysign(f32v a, f32v s) { return AVX512_PS(MM(ternarylogic_epi32)(AVX512_SIGN, AVX512_SI(s), AVX512_SI(a), 0xca)); } /* vpternlogd */
static inline i32v i32v_add(i32v a, i32v b) { return MM(add_epi32)(a, b); } /* vpaddd */
static inline i32v i32v_sub(i32v a, i32v b) { return MM(sub_epi32)(a, b); } /* vpsubd */
static inline i32v i32v_mul(i32v a, i32v b) { return MM(mullo_epi32)(a, b); } /* vpmulld */
static inline i32v i32v_min(i32v a, i32v b) { return MM(min_epi32)(a, b); } /* vpminsd */
static inline i32v i32v_max(i32v a, i32v b) { return MM(max_epi32)(a, b); } /* vpmaxsd */
static inline i32v i32v_abs(i32v a) { return MM(abs_epi32)(a); } /* vpabsd */
static inline u32v u32v_add(u32v a, u32v b) { return MM(add_epi32)(a, b); } /* vpaddd */
static inline u32v u32v_sub(u32v a, u32v b) { return MM(sub_epi32)(a, b); } /* vpsubd */
static inline u32v u32v_mul(u32v a, u32v b) { return MM(mullo_epi32)(a, b); } /* vpmulld */
static inline u32v u32v_min(u32v a, u32v b) { return MM(min_epu32)(a, b); } /* vpminud */
static inline u32v u32v_max(u32v a, u32v b) { return MM(max_epu32)(a, b); } /* vpmaxud */

/* ---- bits -------------------------------------------------------------------------------------- */

static inline u32v u32v_and(u32v a, u32v b) { return SI(and)(a, b); } /* vpandd */
static inline u32v u32v_or(u32v a, u32v b) { return SI(or)(a, b); } /* vpord */
static inline u32v u32v_xor(u32v a, u32v b) { return SI(xor)(a, b); } /* vpxord */
static inline u32v u32v_andnot(u32v a, u32v b) { return SI(andnot)(b, a); } /* vpandnd */
static inline u32v u32v_not(u32v a) { return MM(ternarylogic_epi32)(a, a, a, 0x55); } /* vpternlogd */
static inline u32v u32v_shl(u32v a, unsigned n) { return MM(sll_epi32)(a, _mm_cvtsi32_si128((int)n)); } /* vpslld */
static inline u32v u32v_shr(u32v a, unsigned n) { return MM(srl_epi32)(a, _mm_cvtsi32_si128((int)n)); } /* vpsrld */
static inline i32v i32v_sar(i32v a, unsigned n) { return MM(sra_epi32)(a, _mm_cvtsi32_si128((int)n)); } /* vpsrad */
static inline u32v u32v_shlv(u32v a, u32v n) { return MM(sllv_epi32)(a, n); } /* vpsllvd */
static inline u32v u32v_shrv(u32v a, u32v n) { return MM(srlv_epi32)(a, n); } /* vpsrlvd */
static inline u32v u32v_popcount(u32v a) { return avx512_popcount(a); } /* emulated: vpshufb of both nibbles, vpmaddubsw, vpmaddwd */
static inline u32v u32v_clz(u32v a) { return MM(lzcnt_epi32)(a); } /* vplzcntd */

/* ---- comparisons, select, conversions ---------------------------------------------------------- */

static inline mask32 f32v_eq(f32v a, f32v b) { return MM(cmp_ps_mask)(a, b, _CMP_EQ_OQ); } /* vcmpps */
static inline mask32 f32v_ne(f32v a, f32v b) { return MM(cmp_ps_mask)(a, b, _CMP_NEQ_UQ); } /* vcmpps */
static inline mask32 f32v_lt(f32v a, f32v b) { return MM(cmp_ps_mask)(a, b, _CMP_LT_OQ); } /* vcmpps */
static inline mask32 f32v_le(f32v a, f32v b) { return MM(cmp_ps_mask)(a, b, _CMP_LE_OQ); } /* vcmpps */
static inline mask32 f32v_gt(f32v a, f32v b) { return MM(cmp_ps_mask)(a, b, _CMP_GT_OQ); } /* vcmpps */
static inline mask32 f32v_ge(f32v a, f32v b) { return MM(cmp_ps_mask)(a, b, _CMP_GE_OQ); } /* vcmpps */
static inline mask32 i32v_eq(i32v a, i32v b) { return MM(cmpeq_epi32_mask)(a, b); } /* vpcmpd */
static inline mask32 i32v_ne(i32v a, i32v b) { return MM(cmpneq_epi32_mask)(a, b); } /* vpcmpd */
static inline mask32 i32v_lt(i32v a, i32v b) { return MM(cmplt_epi32_mask)(a, b); } /* vpcmpd */
static inline mask32 i32v_le(i32v a, i32v b) { return MM(cmple_epi32_mask)(a, b); } /* vpcmpd */
static inline mask32 i32v_gt(i32v a, i32v b) { return MM(cmpgt_epi32_mask)(a, b); } /* vpcmpd */
static inline mask32 i32v_ge(i32v a, i32v b) { return MM(cmpge_epi32_mask)(a, b); } /* vpcmpd */
static inline mask32 u32v_eq(u32v a, u32v b) { return MM(cmpeq_epu32_mask)(a, b); } /* vpcmpud */
static inline mask32 u32v_ne(u32v a, u32v b) { return MM(cmpneq_epu32_mask)(a, b); } /* vpcmpud */
static inline mask32 u32v_lt(u32v a, u32v b) { return MM(cmplt_epu32_mask)(a, b); } /* vpcmpud */
static inline mask32 u32v_le(u32v a, u32v b) { return MM(cmple_epu32_mask)(a, b); } /* vpcmpud */
static inline mask32 u32v_gt(u32v a, u32v b) { return MM(cmpgt_epu32_mask)(a, b); } /* vpcmpud */
static inline mask32 u32v_ge(u32v a, u32v b) { return MM(cmpge_epu32_mask)(a, b); } /* vpcmpud */
static inline f32v f32v_select(mask32 m, f32v a, f32v b) { return MM(mask_blend_ps)(m, b, a); } /* vblendmps */
static inline i32v i32v_select(mask32 m, i32v a, i32v b) { return MM(mask_blend_epi32)(m, b, a); } /* vpblendmd */
static inline u32v u32v_select(mask32 m, u32v a, u32v b) { return MM(mask_blend_epi32)(m, b, a); } /* vpblendmd */
static inline i32v i32v_from_u32(u32v a) { return a; } /* nothing */
static inline u32v u32v_from_i32(i32v a) { return a; } /* nothing */
static inline u32v u32v_bits_of_f32(f32v a) { return AVX512_SI(a); } /* nothing */
static inline f32v f32v_from_bits(u32v a) { return AVX512_PS(a); } /* nothing */
static inline f32v f32v_from_i32(i32v a) { return MM(cvtepi32_ps)(a); } /* vcvtdq2ps */
static inline f32v f32v_from_u32(u32v a) { return MM(cvtepu32_ps)(a); } /* vcvtudq2ps */
static inline i32v i32v_truncate(f32v a) { return MM(cvttps_epi32)(a); } /* vcvttps2dq */
static inline i32v i32v_round(f32v a) { return MM(cvtps_epi32)(a); } /* vcvtps2dq */

/* ---- gather, scatter, pack, permute ------------------------------------------------------------ */

static inline f32v f32v_gather(const float *p, u32v i) { return AVX512_PS(avx512_gather(p, i)); } /* emulated: vmovd and vpinsrd by lane */
static inline i32v i32v_gather(const int32_t *p, u32v i) { return avx512_gather(p, i); } /* emulated: vmovd and vpinsrd by lane */
static inline u32v u32v_gather(const uint32_t *p, u32v i) { return avx512_gather(p, i); } /* emulated: vmovd and vpinsrd by lane */
/* GCC's forms of these without optimisation are macros that hand the mask on as a signed number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline f32v f32v_gather_masked(const float *p, u32v i, mask32 m, f32v other) { return AVX512_GATHER(ps, other, m, i, p); } /* vgatherdps */
static inline u32v u32v_gather_masked(const uint32_t *p, u32v i, mask32 m, u32v other) { return AVX512_GATHER(epi32, other, m, i, (const void *)p); } /* vpgatherdd */
static inline void f32v_scatter_masked(float *p, u32v i, f32v v, mask32 m) { MM(mask_i32scatter_ps)(p, m, i, v, 4); } /* vscatterdps */
static inline void u32v_scatter_masked(uint32_t *p, u32v i, u32v v, mask32 m) { MM(mask_i32scatter_epi32)(p, m, i, v, 4); } /* vpscatterdd */
#pragma GCC diagnostic pop
static inline size_t f32v_pack(float *p, f32v v, mask32 m) { MM(storeu_ps)(p, MM(maskz_compress_ps)(m, v)); return mask32_count(m); } /* vcompressps, vmovups, popcnt */
static inline size_t i32v_pack(int32_t *p, i32v v, mask32 m) { return avx512_pack(p, v, m); } /* vpcompressd, vmovdqu32, popcnt */
static inline size_t u32v_pack(uint32_t *p, u32v v, mask32 m) { return avx512_pack(p, v, m); } /* vpcompressd, vmovdqu32, popcnt */
static inline f32v f32v_compress(f32v v, mask32 m) { return MM(maskz_compress_ps)(m, v); } /* vcompressps */
static inline u32v u32v_compress(u32v v, mask32 m) { return MM(maskz_compress_epi32)(m, v); } /* vpcompressd */
static inline f32v f32v_expand(f32v v, mask32 m) { return MM(maskz_expand_ps)(m, v); } /* vexpandps */
static inline u32v u32v_expand(u32v v, mask32 m) { return MM(maskz_expand_epi32)(m, v); } /* vpexpandd */
static inline f32v f32v_permute(f32v v, u32v i) { return avx512_permute_ps(v, i); } /* vpermps; vpermilps of 4 lanes */
static inline u32v u32v_permute(u32v v, u32v i) { return avx512_permute(v, i); } /* vpermd; vpermilps of 4 lanes */
static inline f32v f32v_permute2(f32v a, f32v b, u32v i) { return MM(permutex2var_ps)(a, i, b); } /* vpermt2ps */
static inline f32v f32v_previous(f32v a, f32v b) { return AVX512_PS(MM(alignr_epi32)(AVX512_SI(b), AVX512_SI(a), SIMD_MAX_LANES - 1)); } /* valignd */
static inline u32v u32v_previous(u32v a, u32v b) { return MM(alignr_epi32)(b, a, SIMD_MAX_LANES - 1); } /* valignd */
static inline f32v f32v_next(f32v b, f32v c) { return AVX512_PS(MM(alignr_epi32)(AVX512_SI(c), AVX512_SI(b), 1)); } /* valignd */
static inline u32v u32v_next(u32v b, u32v c) { return MM(alignr_epi32)(c, b, 1); } /* valignd */
static inline u32v u32v_even(u32v a, u32v b) { return MM(permutex2var_epi32)(a, MM(slli_epi32)(AVX512_LANES, 1), b); } /* vpermt2d */
static inline u32v u32v_odd(u32v a, u32v b) { return MM(permutex2var_epi32)(a, MM(add_epi32)(MM(slli_epi32)(AVX512_LANES, 1), MM(set1_epi32)(1)), b); } /* vpermt2d */
static inline mask32 u32v_first_of_equals(u32v v, mask32 m) { return avx512_first_of_equals(v, m); } /* vpconflictd, vpbroadcastmw2d, vptestnmd */
static inline mask32 u32v_last_of_equals(u32v v, mask32 m) { return avx512_last_of_equals(v, m); } /* vpconflictd, halving by vpor, kandn */

/* ---- across a vector, in the order of the lanes ------------------------------------------------ */

static inline float f32v_sum(f32v v) { return avx512_sum(v); } /* emulated: vaddss in turn */
static inline float f32v_lowest(f32v v) { return avx512_lowest(v); } /* emulated: vcmpps, vblendmps, halving by vminps */
static inline float f32v_highest(f32v v) { return avx512_highest(v); } /* emulated: vcmpps, vblendmps, halving by vmaxps */
static inline uint32_t u32v_sum(u32v v) { return avx512_sum_u32(v); } /* emulated: halving by vpaddd */
static inline uint32_t u32v_lowest(u32v v) { return avx512_lowest_u32(v); } /* emulated: halving by vpminud */
static inline uint32_t u32v_highest(u32v v) { return avx512_highest_u32(v); } /* emulated: halving by vpmaxud */
static inline u32v u32v_rank(uint64_t bits) { return avx512_rank(bits); } /* vpandd of the bits up to the lane, vpopcntd; emulated without VPOPCNTDQ */
static inline u32v u32v_running_sum(u32v v) { return avx512_running_sum(v); } /* emulated: log2(lanes) times valignd, vpaddd */

/* ---- 8-bit lanes: SIMD_LANES8 of them ---------------------------------------------------------- */

static inline u8v u8v_set(uint8_t x) { return MM(set1_epi8)((char)x); } /* vpbroadcastb */
static inline u8v u8v_load(const uint8_t *p) { return SI(loadu)((const void *)p); } /* vmovdqu8 */
static inline u8v u8v_load_first(const uint8_t *p, size_t n) { return MM(maskz_loadu_epi8)((mask8)_bzhi_u64(UINT64_MAX, (unsigned)(n < SIMD_LANES8 ? n : SIMD_LANES8)), p); } /* bzhi, vmovdqu8, masked */
static inline void u8v_store(uint8_t *p, u8v v) { SI(storeu)((void *)p, v); } /* vmovdqu8 */
static inline mask8 u8v_eq(u8v a, u8v b) { return MM(cmpeq_epu8_mask)(a, b); } /* vpcmpeqb */
static inline mask8 u8v_ge(u8v a, u8v b) { return MM(cmpge_epu8_mask)(a, b); } /* vpcmpub */
static inline mask8 u8v_gt(u8v a, u8v b) { return MM(cmpgt_epu8_mask)(a, b); } /* vpcmpub */
static inline void mask8_store(uint8_t *p, mask8 m) { memcpy(p, &m, sizeof m); } /* kmovw, kmovd, kmovq */
static inline mask8 mask8_load(const uint8_t *p) { return avx512_mask_of_row(p); } /* kmovw, kmovd, kmovq */
static inline u8v u8v_from_mask(mask8 m) { return MM(movm_epi8)(m); } /* vpmovm2b */

/* ---- bit rows: words of 64 ---------------------------------------------------------------------- */

static inline size_t bits_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { return avx512_positions_u32(p, word, base); } /* vpcompressb, vpmovzxbd; emulated without VBMI2: by bytes, from a table of 256 entries by vpmovzxbd */
static inline size_t bits_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { return avx512_positions_u16(p, word, base); } /* vpcompressb, vpmovzxbw; emulated without VBMI2: by bytes, from a table of 256 entries by vpmovzxbw */
static inline uint64_t bits_extract(uint64_t word, uint64_t mask) { return _pext_u64(word, mask); } /* pext */
static inline uint64_t bits_evens(uint64_t word) { return _pext_u64(word, UINT64_C(0x5555555555555555)); } /* pext */

#undef MM
#undef SI
#undef K
#undef ALL
#undef AVX512_LANES
#undef AVX512_PS
#undef AVX512_SI
#undef AVX512_GATHER
#undef AVX512_OF_16_BYTES
#undef AVX512_SIGN

#endif
