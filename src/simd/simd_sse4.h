/* SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary in SSE4.2 and POPCNT: 4 lanes of 32 bits, 16 of 8. Masks are vectors of 0 and -1. The
 * meaning of every operation stands in simd_c.h; here the comment after it names the instruction, or how it
 * is emulated.
 */
#ifndef SLUICE_SIMD_SSE4_H
#define SLUICE_SIMD_SSE4_H

#include "simd/simd_x86.h"

#define SIMD_TARGET    sse4
#define SIMD_MAX_LANES 4
#define SIMD_LANES     ((size_t)4)
#define SIMD_LANES8    ((size_t)16)

typedef __m128 f32v;
typedef __m128i i32v;
typedef __m128i u32v;
typedef __m128i mask32; /* -1 in the lanes that are set */
typedef __m128i u8v;
typedef __m128i mask8; /* -1 in the lanes that are set */

/* ---- helpers ----------------------------------------------------------------------------------- */

/* Controls of pshufb by mask: which four bytes go to a lane; Z writes zeros. */
#define SSE4_A 0x03020100
#define SSE4_B 0x07060504
#define SSE4_C 0x0b0a0908
#define SSE4_D 0x0f0e0d0c
#define SSE4_Z 0x80808080
static const _Alignas(16) uint32_t sse4_compress[16][4] = {
    {SSE4_Z, SSE4_Z, SSE4_Z, SSE4_Z}, {SSE4_A, SSE4_Z, SSE4_Z, SSE4_Z}, {SSE4_B, SSE4_Z, SSE4_Z, SSE4_Z},
    {SSE4_A, SSE4_B, SSE4_Z, SSE4_Z}, {SSE4_C, SSE4_Z, SSE4_Z, SSE4_Z}, {SSE4_A, SSE4_C, SSE4_Z, SSE4_Z},
    {SSE4_B, SSE4_C, SSE4_Z, SSE4_Z}, {SSE4_A, SSE4_B, SSE4_C, SSE4_Z}, {SSE4_D, SSE4_Z, SSE4_Z, SSE4_Z},
    {SSE4_A, SSE4_D, SSE4_Z, SSE4_Z}, {SSE4_B, SSE4_D, SSE4_Z, SSE4_Z}, {SSE4_A, SSE4_B, SSE4_D, SSE4_Z},
    {SSE4_C, SSE4_D, SSE4_Z, SSE4_Z}, {SSE4_A, SSE4_C, SSE4_D, SSE4_Z}, {SSE4_B, SSE4_C, SSE4_D, SSE4_Z},
    {SSE4_A, SSE4_B, SSE4_C, SSE4_D}};
static const _Alignas(16) uint32_t sse4_expand[16][4] = {
    {SSE4_Z, SSE4_Z, SSE4_Z, SSE4_Z}, {SSE4_A, SSE4_Z, SSE4_Z, SSE4_Z}, {SSE4_Z, SSE4_A, SSE4_Z, SSE4_Z},
    {SSE4_A, SSE4_B, SSE4_Z, SSE4_Z}, {SSE4_Z, SSE4_Z, SSE4_A, SSE4_Z}, {SSE4_A, SSE4_Z, SSE4_B, SSE4_Z},
    {SSE4_Z, SSE4_A, SSE4_B, SSE4_Z}, {SSE4_A, SSE4_B, SSE4_C, SSE4_Z}, {SSE4_Z, SSE4_Z, SSE4_Z, SSE4_A},
    {SSE4_A, SSE4_Z, SSE4_Z, SSE4_B}, {SSE4_Z, SSE4_A, SSE4_Z, SSE4_B}, {SSE4_A, SSE4_B, SSE4_Z, SSE4_C},
    {SSE4_Z, SSE4_Z, SSE4_A, SSE4_B}, {SSE4_A, SSE4_Z, SSE4_B, SSE4_C}, {SSE4_Z, SSE4_A, SSE4_B, SSE4_C},
    {SSE4_A, SSE4_B, SSE4_C, SSE4_D}};
#undef SSE4_A
#undef SSE4_B
#undef SSE4_C
#undef SSE4_D
#undef SSE4_Z

static inline unsigned sse4_bits(__m128i m)
{
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(m));
}
static inline __m128i sse4_table(const uint32_t table[16][4], __m128i m)
{
    return _mm_load_si128((const void *)table[sse4_bits(m)]);
}
static inline __m128 sse4_blend(__m128i m, __m128 a, __m128 b)
{
    return _mm_blendv_ps(b, a, _mm_castsi128_ps(m));
}
static inline __m128i sse4_of_bits(uint64_t bits)
{
    const __m128i lane = _mm_setr_epi32(1, 2, 4, 8);
    return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)(uint32_t)bits), lane), lane);
}
static inline __m128i sse4_running_sum(__m128i v)
{
    const __m128i pairs = _mm_add_epi32(v, _mm_slli_si128(v, 4));
    return _mm_add_epi32(pairs, _mm_slli_si128(pairs, 8));
}
static inline __m128i sse4_flip(__m128i a)
{
    return _mm_xor_si128(a, _mm_set1_epi32(INT32_MIN));
}

/* p[lane] where m, else other: lane by lane, so that memory of other lanes is never read. */
static inline __m128i sse4_load_lanes(const void *p, __m128i m, __m128i other)
{
    const unsigned bits = sse4_bits(m);
    if (bits == 15) {
        return _mm_loadu_si128(p);
    }
    uint32_t lane[4];
    _mm_storeu_si128((void *)lane, other);
    for (unsigned i = 0; i < 4; i++) {
        if ((bits >> i & 1U) != 0) {
            memcpy(lane + i, (const char *)p + 4 * i, 4);
        }
    }
    return _mm_loadu_si128((const void *)lane);
}
/* Not maskmovdqu: its stores go past the caches. */
static inline void sse4_store_lanes(void *p, __m128i v, __m128i m)
{
    const unsigned bits = sse4_bits(m);
    if (bits == 15) {
        _mm_storeu_si128(p, v);
        return;
    }
    uint32_t lane[4];
    _mm_storeu_si128((void *)lane, v);
    for (unsigned i = 0; i < 4; i++) {
        if ((bits >> i & 1U) != 0) {
            memcpy((char *)p + 4 * i, lane + i, 4);
        }
    }
}
static inline __m128i sse4_gather(const void *p, __m128i i)
{
    uint32_t index[4];
    _mm_storeu_si128((void *)index, i);
    return x86_gather(p, index);
}
static inline __m128i sse4_gather_lanes(const void *p, __m128i i, __m128i m, __m128i other)
{
    const unsigned bits = sse4_bits(m);
    uint32_t index[4];
    int32_t lane[4];
    _mm_storeu_si128((void *)index, i);
    _mm_storeu_si128((void *)lane, other);
    for (unsigned k = 0; k < 4; k++) {
        if ((bits >> k & 1U) != 0) {
            lane[k] = x86_lane(p, index[k]);
        }
    }
    return _mm_loadu_si128((const void *)lane);
}
static inline void sse4_scatter_lanes(void *p, __m128i i, __m128i v, __m128i m)
{
    uint32_t index[4], lane[4];
    _mm_storeu_si128((void *)index, i);
    _mm_storeu_si128((void *)lane, v);
    for (unsigned bits = sse4_bits(m); bits != 0; bits &= bits - 1) {
        const unsigned k = (unsigned)__builtin_ctz(bits);
        memcpy((char *)p + 4 * (size_t)index[k], lane + k, 4);
    }
}

/* a · b + c in double precision rounded to odd, whose rounding to float is then that of the exact value
 * (Boldo and Melquiond, 2008). a · b is exact; `rest` is what the sum lost; where it is not 0 the sum is cut
 * off towards zero and its last bit set. Infinities and NaN make the rest NaN and are left alone. */
static inline __m128d sse4_fma_odd(__m128d a, __m128d b, __m128d c)
{
    const __m128d product = _mm_mul_pd(a, b), sum = _mm_add_pd(product, c), part = _mm_sub_pd(sum, product);
    const __m128d rest = _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, part)), _mm_sub_pd(c, part));
    const __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), rest);
    const __m128i inexact = _mm_castpd_si128(_mm_cmplt_pd(_mm_setzero_pd(), size));
    const __m128i signs = _mm_srai_epi32(_mm_castpd_si128(_mm_xor_pd(rest, sum)), 31);
    const __m128i beyond = _mm_and_si128(_mm_shuffle_epi32(signs, 0xf5),
                                         inexact); /* -1: rounded away from zero */
    const __m128i cut = _mm_add_epi64(_mm_castpd_si128(sum), beyond);
    return _mm_castsi128_pd(_mm_or_si128(cut, _mm_srli_epi64(inexact, 63)));
}
static inline __m128 sse4_fma(__m128 a, __m128 b, __m128 c)
{
    const __m128d low = sse4_fma_odd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
    const __m128d high = sse4_fma_odd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), _mm_cvtps_pd(_mm_movehl_ps(b, b)),
                                      _mm_cvtps_pd(_mm_movehl_ps(c, c)));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

/* The shift instructions have one count for all lanes: four shifts, one for each lane, blended. */
static inline __m128i sse4_count(__m128i n, int lane)
{
    const __m128i low = _mm_setr_epi32(-1, 0, 0, 0);
    return lane == 0   ? _mm_and_si128(n, low)
           : lane == 1 ? _mm_srli_epi64(n, 32)
           : lane == 2 ? _mm_and_si128(_mm_srli_si128(n, 8), low)
                       : _mm_srli_si128(n, 12);
}
static inline __m128i sse4_blend_lanes(__m128i a, __m128i b, __m128i c, __m128i d)
{
    return _mm_blend_epi16(_mm_blend_epi16(a, b, 0x0c), _mm_blend_epi16(c, d, 0xc0), 0xf0);
}
static inline __m128i sse4_shlv(__m128i a, __m128i n)
{
    return sse4_blend_lanes(_mm_sll_epi32(a, sse4_count(n, 0)), _mm_sll_epi32(a, sse4_count(n, 1)),
                            _mm_sll_epi32(a, sse4_count(n, 2)), _mm_sll_epi32(a, sse4_count(n, 3)));
}
static inline __m128i sse4_shrv(__m128i a, __m128i n)
{
    return sse4_blend_lanes(_mm_srl_epi32(a, sse4_count(n, 0)), _mm_srl_epi32(a, sse4_count(n, 1)),
                            _mm_srl_epi32(a, sse4_count(n, 2)), _mm_srl_epi32(a, sse4_count(n, 3)));
}

static inline __m128i sse4_popcount(__m128i a)
{
    const __m128i table = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4),
                  low = _mm_set1_epi8(15);
    const __m128i bytes = _mm_add_epi8(_mm_shuffle_epi8(table, _mm_and_si128(a, low)),
                                       _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi32(a, 4), low)));
    return _mm_madd_epi16(_mm_maddubs_epi16(bytes, _mm_set1_epi8(1)), _mm_set1_epi16(1));
}
/* The exponent of the lane as a float. Every bit below a set one is cleared first, so that rounding cannot
 * carry into the next power of two; negative numbers come out below 0, zero above 32. */
static inline __m128i sse4_clz(__m128i a)
{
    const __m128i tops = _mm_andnot_si128(_mm_srli_epi32(a, 1), a);
    const __m128i exponent = _mm_srli_epi32(_mm_castps_si128(_mm_cvtepi32_ps(tops)), 23);
    const __m128i zeros = _mm_sub_epi32(_mm_set1_epi32(158), exponent);
    return _mm_min_epi32(_mm_max_epi32(zeros, _mm_setzero_si128()), _mm_set1_epi32(32));
}
/* Two exact halves around 2^39 and 2^23, added with one rounding. */
static inline __m128 sse4_from_u32(__m128i a)
{
    const __m128i low = _mm_blend_epi16(a, _mm_set1_epi32(0x4b000000), 0xaa);
    const __m128i high = _mm_or_si128(_mm_srli_epi32(a, 16), _mm_set1_epi32(0x53000000));
    return _mm_add_ps(_mm_sub_ps(_mm_castsi128_ps(high), _mm_set1_ps(0x1.0001p39f)), _mm_castsi128_ps(low));
}
static inline __m128i sse4_permute(__m128i v, __m128i i)
{
    const __m128i first = _mm_shuffle_epi8(_mm_slli_epi32(i, 2),
                                           _mm_set_epi64x(0x0c0c0c0c08080808, 0x0404040400000000));
    return _mm_shuffle_epi8(v, _mm_or_si128(first, _mm_set1_epi32(0x03020100)));
}

/* Lanes in m that equal an earlier (a later) lane in m: what is shifted in is in no mask. */
#define SSE4_EQUALS(v, m, shift, bytes) _mm_and_si128(_mm_cmpeq_epi32(v, shift(v, bytes)), shift(m, bytes))
static inline __m128i sse4_equals_before(__m128i v, __m128i m)
{
    const __m128i near = SSE4_EQUALS(v, m, _mm_slli_si128, 4), far = SSE4_EQUALS(v, m, _mm_slli_si128, 8);
    return _mm_or_si128(_mm_or_si128(near, far), SSE4_EQUALS(v, m, _mm_slli_si128, 12));
}
static inline __m128i sse4_equals_behind(__m128i v, __m128i m)
{
    const __m128i near = SSE4_EQUALS(v, m, _mm_srli_si128, 4), far = SSE4_EQUALS(v, m, _mm_srli_si128, 8);
    return _mm_or_si128(_mm_or_si128(near, far), SSE4_EQUALS(v, m, _mm_srli_si128, 12));
}
#undef SSE4_EQUALS

/* NaN in front of the last lane never wins: the last lane's value in its place wins no more than that lane
 * does. */
static inline __m128 sse4_without_nan(__m128 v)
{
    return _mm_blendv_ps(_mm_shuffle_ps(v, v, 0xff), v, _mm_cmpord_ps(v, v));
}

static inline __m128i sse4_mask_of_row(const uint8_t *p)
{
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);
    const __m128i bytes = _mm_shuffle_epi8(_mm_cvtsi32_si128(bits), _mm_set_epi64x(0x0101010101010101, 0));
    const __m128i own = _mm_set1_epi64x((long long)0x8040201008040201);
    return _mm_cmpeq_epi8(_mm_and_si128(bytes, own), own);
}
static inline void sse4_row_of_mask(uint8_t *p, __m128i m)
{
    const uint16_t bits = (uint16_t)_mm_movemask_epi8(m);
    memcpy(p, &bits, sizeof bits);
}

/* ---- masks of 32-bit lanes --------------------------------------------------------------------- */

static inline mask32 mask32_none(void) { return _mm_setzero_si128(); } /* pxor */
static inline mask32 mask32_all(void) { return _mm_set1_epi32(-1); } /* pcmpeqd */
static inline mask32 mask32_first(size_t n) { return _mm_cmpgt_epi32(_mm_set1_epi32(n < 4 ? (int)n : 4), _mm_setr_epi32(0, 1, 2, 3)); } /* emulated: pcmpgtd with lane numbers */
static inline mask32 mask32_and(mask32 a, mask32 b) { return _mm_and_si128(a, b); } /* pand */
static inline mask32 mask32_or(mask32 a, mask32 b) { return _mm_or_si128(a, b); } /* por */
static inline mask32 mask32_xor(mask32 a, mask32 b) { return _mm_xor_si128(a, b); } /* pxor */
static inline mask32 mask32_andnot(mask32 a, mask32 b) { return _mm_andnot_si128(b, a); } /* pandn */
static inline mask32 mask32_not(mask32 a) { return _mm_xor_si128(a, _mm_set1_epi32(-1)); } /* pxor with ones */
static inline bool mask32_any(mask32 m) { return sse4_bits(m) != 0; } /* movmskps */
static inline bool mask32_every(mask32 m) { return sse4_bits(m) == 15; } /* movmskps */
static inline size_t mask32_count(mask32 m) { return (size_t)__builtin_popcount(sse4_bits(m)); } /* movmskps, popcnt */
static inline size_t mask32_lowest(mask32 m) { return (size_t)__builtin_ctz(sse4_bits(m) | 16U); } /* movmskps, bsf */
static inline uint64_t mask32_bits(mask32 m) { return sse4_bits(m); } /* movmskps */
static inline mask32 mask32_of_bits(uint64_t bits) { return sse4_of_bits(bits); } /* emulated: pshufd, pand and pcmpeqd of single bits */

/* ---- making, loading, storing ------------------------------------------------------------------ */

static inline f32v f32v_set(float x) { return _mm_set1_ps(x); } /* shufps */
static inline i32v i32v_set(int32_t x) { return _mm_set1_epi32(x); } /* movd, pshufd */
static inline u32v u32v_set(uint32_t x) { return _mm_set1_epi32((int)x); } /* movd, pshufd */
static inline u32v u32v_iota(uint32_t first) { return _mm_add_epi32(_mm_set1_epi32((int)first), _mm_setr_epi32(0, 1, 2, 3)); } /* paddd of lane numbers */
static inline i32v i32v_iota(int32_t first) { return _mm_add_epi32(_mm_set1_epi32(first), _mm_setr_epi32(0, 1, 2, 3)); } /* paddd of lane numbers */

static inline f32v f32v_load(const float *p) { return _mm_loadu_ps(p); } /* movups */
static inline i32v i32v_load(const int32_t *p) { return _mm_loadu_si128((const void *)p); } /* movdqu */
static inline u32v u32v_load(const uint32_t *p) { return _mm_loadu_si128((const void *)p); } /* movdqu */
static inline u32v u32v_load_any(const void *p) { return _mm_loadu_si128(p); } /* movdqu */
static inline f32v f32v_load_aligned(const float *p) { return _mm_load_ps(p); } /* movaps */
static inline i32v i32v_load_aligned(const int32_t *p) { return _mm_load_si128((const void *)p); } /* movdqa */
static inline u32v u32v_load_aligned(const uint32_t *p) { return _mm_load_si128((const void *)p); } /* movdqa */
static inline f32v f32v_load_masked(const float *p, mask32 m) { return _mm_castsi128_ps(sse4_load_lanes(p, m, _mm_setzero_si128())); } /* emulated: movups if every lane is set, else lane by lane */
static inline i32v i32v_load_masked(const int32_t *p, mask32 m) { return sse4_load_lanes(p, m, _mm_setzero_si128()); } /* emulated: movdqu if every lane is set, else lane by lane */
static inline u32v u32v_load_masked(const uint32_t *p, mask32 m) { return sse4_load_lanes(p, m, _mm_setzero_si128()); } /* emulated: movdqu if every lane is set, else lane by lane */
static inline void f32v_store(float *p, f32v v) { _mm_storeu_ps(p, v); } /* movups */
static inline void i32v_store(int32_t *p, i32v v) { _mm_storeu_si128((void *)p, v); } /* movdqu */
static inline void u32v_store(uint32_t *p, u32v v) { _mm_storeu_si128((void *)p, v); } /* movdqu */
static inline void f32v_store_aligned(float *p, f32v v) { _mm_store_ps(p, v); } /* movaps */
static inline void i32v_store_aligned(int32_t *p, i32v v) { _mm_store_si128((void *)p, v); } /* movdqa */
static inline void u32v_store_aligned(uint32_t *p, u32v v) { _mm_store_si128((void *)p, v); } /* movdqa */
static inline void u32v_store_far(uint32_t *p, u32v v) { _mm_stream_si128((void *)p, v); } /* movntdq */
static inline void f32v_store_masked(float *p, f32v v, mask32 m) { sse4_store_lanes(p, _mm_castps_si128(v), m); } /* emulated: movdqu if every lane is set, else lane by lane */
static inline void i32v_store_masked(int32_t *p, i32v v, mask32 m) { sse4_store_lanes(p, v, m); } /* emulated: movdqu if every lane is set, else lane by lane */
static inline void u32v_store_masked(uint32_t *p, u32v v, mask32 m) { sse4_store_lanes(p, v, m); } /* emulated: movdqu if every lane is set, else lane by lane */

/* ---- arithmetic -------------------------------------------------------------------------------- */

static inline f32v f32v_add(f32v a, f32v b) { return _mm_add_ps(a, b); } /* addps */
static inline f32v f32v_sub(f32v a, f32v b) { return _mm_sub_ps(a, b); } /* subps */
static inline f32v f32v_mul(f32v a, f32v b) { return _mm_mul_ps(a, b); } /* mulps */
static inline f32v f32v_div(f32v a, f32v b) { return _mm_div_ps(a, b); } /* divps */
static inline f32v f32v_fma(f32v a, f32v b, f32v c) { return sse4_fma(a, b, c); } /* emulated: in double precision, rounded to odd and then to float */
static inline f32v f32v_sqrt(f32v a) { return _mm_sqrt_ps(a); } /* sqrtps */
static inline f32v f32v_min(f32v a, f32v b) { return _mm_min_ps(a, b); } /* minps */
static inline f32v f32v_max(f32v a, f32v b) { return _mm_max_ps(a, b); } /* maxps */
static inline f32v f32v_abs(f32v a) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), a); } /* andnps */
static inline f32v f32v_neg(f32v a) { return _mm_xor_ps(a, _mm_set1_ps(-0.0f)); } /* xorps */
static inline f32v f32v_copysign(f32v a, f32v s) { return _mm_or_ps(_mm_andnot_ps(_mm_set1_ps(-0.0f), a), _mm_and_ps(_mm_set1_ps(-0.0f), s)); } /* andnps, andps, orps */
static inline i32v i32v_add(i32v a, i32v b) { return _mm_add_epi32(a, b); } /* paddd */
static inline i32v i32v_sub(i32v a, i32v b) { return _mm_sub_epi32(a, b); } /* psubd */
static inline i32v i32v_mul(i32v a, i32v b) { return _mm_mullo_epi32(a, b); } /* pmulld */
static inline i32v i32v_min(i32v a, i32v b) { return _mm_min_epi32(a, b); } /* pminsd */
static inline i32v i32v_max(i32v a, i32v b) { return _mm_max_epi32(a, b); } /* pmaxsd */
static inline i32v i32v_abs(i32v a) { return _mm_abs_epi32(a); } /* pabsd */
static inline u32v u32v_add(u32v a, u32v b) { return _mm_add_epi32(a, b); } /* paddd */
static inline u32v u32v_sub(u32v a, u32v b) { return _mm_sub_epi32(a, b); } /* psubd */
static inline u32v u32v_mul(u32v a, u32v b) { return _mm_mullo_epi32(a, b); } /* pmulld */
static inline u32v u32v_min(u32v a, u32v b) { return _mm_min_epu32(a, b); } /* pminud */
static inline u32v u32v_max(u32v a, u32v b) { return _mm_max_epu32(a, b); } /* pmaxud */

/* ---- bits -------------------------------------------------------------------------------------- */

static inline u32v u32v_and(u32v a, u32v b) { return _mm_and_si128(a, b); } /* pand */
static inline u32v u32v_or(u32v a, u32v b) { return _mm_or_si128(a, b); } /* por */
static inline u32v u32v_xor(u32v a, u32v b) { return _mm_xor_si128(a, b); } /* pxor */
static inline u32v u32v_andnot(u32v a, u32v b) { return _mm_andnot_si128(b, a); } /* pandn */
static inline u32v u32v_not(u32v a) { return _mm_xor_si128(a, _mm_set1_epi32(-1)); } /* pxor with ones */
static inline u32v u32v_shl(u32v a, unsigned n) { return _mm_sll_epi32(a, _mm_cvtsi32_si128((int)n)); } /* pslld */
static inline u32v u32v_shr(u32v a, unsigned n) { return _mm_srl_epi32(a, _mm_cvtsi32_si128((int)n)); } /* psrld */
static inline i32v i32v_sar(i32v a, unsigned n) { return _mm_sra_epi32(a, _mm_cvtsi32_si128((int)n)); } /* psrad */
static inline u32v u32v_shlv(u32v a, u32v n) { return sse4_shlv(a, n); } /* emulated: pslld by each lane's count, pblendw */
static inline u32v u32v_shrv(u32v a, u32v n) { return sse4_shrv(a, n); } /* emulated: psrld by each lane's count, pblendw */
static inline u32v u32v_popcount(u32v a) { return sse4_popcount(a); } /* emulated: pshufb of both nibbles, pmaddubsw, pmaddwd */
static inline u32v u32v_clz(u32v a) { return sse4_clz(a); } /* emulated: exponent after cvtdq2ps */

/* ---- comparisons, select, conversions ---------------------------------------------------------- */

static inline mask32 f32v_eq(f32v a, f32v b) { return _mm_castps_si128(_mm_cmpeq_ps(a, b)); } /* cmpeqps */
static inline mask32 f32v_ne(f32v a, f32v b) { return _mm_castps_si128(_mm_cmpneq_ps(a, b)); } /* cmpneqps */
static inline mask32 f32v_lt(f32v a, f32v b) { return _mm_castps_si128(_mm_cmplt_ps(a, b)); } /* cmpltps */
static inline mask32 f32v_le(f32v a, f32v b) { return _mm_castps_si128(_mm_cmple_ps(a, b)); } /* cmpleps */
static inline mask32 f32v_gt(f32v a, f32v b) { return _mm_castps_si128(_mm_cmplt_ps(b, a)); } /* cmpltps, operands swapped */
static inline mask32 f32v_ge(f32v a, f32v b) { return _mm_castps_si128(_mm_cmple_ps(b, a)); } /* cmpleps, operands swapped */
static inline mask32 i32v_eq(i32v a, i32v b) { return _mm_cmpeq_epi32(a, b); } /* pcmpeqd */
static inline mask32 i32v_ne(i32v a, i32v b) { return mask32_not(_mm_cmpeq_epi32(a, b)); } /* pcmpeqd, pxor */
static inline mask32 i32v_lt(i32v a, i32v b) { return _mm_cmpgt_epi32(b, a); } /* pcmpgtd, operands swapped */
static inline mask32 i32v_le(i32v a, i32v b) { return mask32_not(_mm_cmpgt_epi32(a, b)); } /* pcmpgtd, pxor */
static inline mask32 i32v_gt(i32v a, i32v b) { return _mm_cmpgt_epi32(a, b); } /* pcmpgtd */
static inline mask32 i32v_ge(i32v a, i32v b) { return mask32_not(_mm_cmpgt_epi32(b, a)); } /* pcmpgtd, pxor */
static inline mask32 u32v_eq(u32v a, u32v b) { return _mm_cmpeq_epi32(a, b); } /* pcmpeqd */
static inline mask32 u32v_ne(u32v a, u32v b) { return mask32_not(_mm_cmpeq_epi32(a, b)); } /* pcmpeqd, pxor */
static inline mask32 u32v_lt(u32v a, u32v b) { return _mm_cmpgt_epi32(sse4_flip(b), sse4_flip(a)); } /* emulated: signs flipped, pcmpgtd */
static inline mask32 u32v_le(u32v a, u32v b) { return _mm_cmpeq_epi32(_mm_min_epu32(a, b), a); } /* emulated: pminud, pcmpeqd */
static inline mask32 u32v_gt(u32v a, u32v b) { return _mm_cmpgt_epi32(sse4_flip(a), sse4_flip(b)); } /* emulated: signs flipped, pcmpgtd */
static inline mask32 u32v_ge(u32v a, u32v b) { return _mm_cmpeq_epi32(_mm_max_epu32(a, b), a); } /* emulated: pmaxud, pcmpeqd */
static inline f32v f32v_select(mask32 m, f32v a, f32v b) { return sse4_blend(m, a, b); } /* blendvps */
static inline i32v i32v_select(mask32 m, i32v a, i32v b) { return _mm_blendv_epi8(b, a, m); } /* pblendvb */
static inline u32v u32v_select(mask32 m, u32v a, u32v b) { return _mm_blendv_epi8(b, a, m); } /* pblendvb */
static inline i32v i32v_from_u32(u32v a) { return a; } /* nothing */
static inline u32v u32v_from_i32(i32v a) { return a; } /* nothing */
static inline u32v u32v_bits_of_f32(f32v a) { return _mm_castps_si128(a); } /* nothing */
static inline f32v f32v_from_bits(u32v a) { return _mm_castsi128_ps(a); } /* nothing */
static inline f32v f32v_from_i32(i32v a) { return _mm_cvtepi32_ps(a); } /* cvtdq2ps */
static inline f32v f32v_from_u32(u32v a) { return sse4_from_u32(a); } /* emulated: two exact halves, one rounded addps */
static inline i32v i32v_truncate(f32v a) { return _mm_cvttps_epi32(a); } /* cvttps2dq */
static inline i32v i32v_round(f32v a) { return _mm_cvtps_epi32(a); } /* cvtps2dq */

/* ---- gather, scatter, pack, permute ------------------------------------------------------------ */

static inline f32v f32v_gather(const float *p, u32v i) { return _mm_castsi128_ps(sse4_gather(p, i)); } /* emulated: movd and pinsrd by lane */
static inline i32v i32v_gather(const int32_t *p, u32v i) { return sse4_gather(p, i); } /* emulated: movd and pinsrd by lane */
static inline u32v u32v_gather(const uint32_t *p, u32v i) { return sse4_gather(p, i); } /* emulated: movd and pinsrd by lane */
static inline f32v f32v_gather_masked(const float *p, u32v i, mask32 m, f32v other) { return _mm_castsi128_ps(sse4_gather_lanes(p, i, m, _mm_castps_si128(other))); } /* emulated: lane by lane */
static inline u32v u32v_gather_masked(const uint32_t *p, u32v i, mask32 m, u32v other) { return sse4_gather_lanes(p, i, m, other); } /* emulated: lane by lane */
static inline void f32v_scatter_masked(float *p, u32v i, f32v v, mask32 m) { sse4_scatter_lanes(p, i, _mm_castps_si128(v), m); } /* emulated: lane by lane */
static inline void u32v_scatter_masked(uint32_t *p, u32v i, u32v v, mask32 m) { sse4_scatter_lanes(p, i, v, m); } /* emulated: lane by lane */
static inline size_t f32v_pack(float *p, f32v v, mask32 m) { _mm_storeu_ps(p, _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(v), sse4_table(sse4_compress, m)))); return mask32_count(m); } /* emulated: pshufb by a table of 16 entries, movups */
static inline size_t i32v_pack(int32_t *p, i32v v, mask32 m) { _mm_storeu_si128((void *)p, _mm_shuffle_epi8(v, sse4_table(sse4_compress, m))); return mask32_count(m); } /* emulated: pshufb by a table of 16 entries, movdqu */
static inline size_t u32v_pack(uint32_t *p, u32v v, mask32 m) { _mm_storeu_si128((void *)p, _mm_shuffle_epi8(v, sse4_table(sse4_compress, m))); return mask32_count(m); } /* emulated: pshufb by a table of 16 entries, movdqu */
static inline f32v f32v_compress(f32v v, mask32 m) { return _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(v), sse4_table(sse4_compress, m))); } /* emulated: pshufb by a table of 16 entries */
static inline u32v u32v_compress(u32v v, mask32 m) { return _mm_shuffle_epi8(v, sse4_table(sse4_compress, m)); } /* emulated: pshufb by a table of 16 entries */
static inline f32v f32v_expand(f32v v, mask32 m) { return _mm_castsi128_ps(_mm_shuffle_epi8(_mm_castps_si128(v), sse4_table(sse4_expand, m))); } /* emulated: pshufb by a table of 16 entries */
static inline u32v u32v_expand(u32v v, mask32 m) { return _mm_shuffle_epi8(v, sse4_table(sse4_expand, m)); } /* emulated: pshufb by a table of 16 entries */
static inline f32v f32v_permute(f32v v, u32v i) { return _mm_castsi128_ps(sse4_permute(_mm_castps_si128(v), i)); } /* emulated: two pshufb, the first to make byte indices */
static inline u32v u32v_permute(u32v v, u32v i) { return sse4_permute(v, i); } /* emulated: two pshufb, the first to make byte indices */
static inline f32v f32v_permute2(f32v a, f32v b, u32v i) { return f32v_select(u32v_lt(i, u32v_set(4)), f32v_permute(a, u32v_and(i, u32v_set(3))), f32v_permute(b, u32v_and(i, u32v_set(3)))); } /* emulated: both permuted, blendvps */
static inline f32v f32v_previous(f32v a, f32v b) { return _mm_castsi128_ps(_mm_alignr_epi8(_mm_castps_si128(b), _mm_castps_si128(a), 12)); } /* palignr */
static inline u32v u32v_previous(u32v a, u32v b) { return _mm_alignr_epi8(b, a, 12); } /* palignr */
static inline f32v f32v_next(f32v b, f32v c) { return _mm_castsi128_ps(_mm_alignr_epi8(_mm_castps_si128(c), _mm_castps_si128(b), 4)); } /* palignr */
static inline u32v u32v_next(u32v b, u32v c) { return _mm_alignr_epi8(c, b, 4); } /* palignr */
static inline u32v u32v_even(u32v a, u32v b) { return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88)); } /* shufps */
static inline u32v u32v_odd(u32v a, u32v b) { return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0xdd)); } /* shufps */
static inline mask32 u32v_first_of_equals(u32v v, mask32 m) { return _mm_andnot_si128(sse4_equals_before(v, m), m); } /* emulated: three byte shifts and pcmpeqd */
static inline mask32 u32v_last_of_equals(u32v v, mask32 m) { return _mm_andnot_si128(sse4_equals_behind(v, m), m); } /* emulated: three byte shifts and pcmpeqd */

/* ---- across a vector, in the order of the lanes ------------------------------------------------ */

static inline float f32v_sum(f32v v) { return x86_sum(v); } /* emulated: addss in turn */
static inline float f32v_lowest(f32v v) { return _mm_cvtss_f32(x86_lowest(sse4_without_nan(v))); } /* emulated: cmpordps, blendvps, halving by minps */
static inline float f32v_highest(f32v v) { return _mm_cvtss_f32(x86_highest(sse4_without_nan(v))); } /* emulated: cmpordps, blendvps, halving by maxps */
static inline uint32_t u32v_sum(u32v v) { return x86_u32_sum(v); } /* emulated: halving by paddd */
static inline uint32_t u32v_lowest(u32v v) { return x86_u32_lowest(v); } /* emulated: halving by pminud */
static inline uint32_t u32v_highest(u32v v) { return x86_u32_highest(v); } /* emulated: halving by pmaxud */
static inline u32v u32v_rank(uint64_t bits) { return u32v_popcount(_mm_and_si128(_mm_set1_epi32((int)bits), _mm_setr_epi32(1, 3, 7, 15))); } /* emulated: pand of the bits up to the lane, popcount */
static inline u32v u32v_running_sum(u32v v) { return sse4_running_sum(v); } /* emulated: log2(lanes) times pslldq, paddd */

/* ---- 8-bit lanes: SIMD_LANES8 of them ---------------------------------------------------------- */

static inline u8v u8v_set(uint8_t x) { return _mm_set1_epi8((char)x); } /* movd, pshufb */
static inline u8v u8v_load(const uint8_t *p) { return _mm_loadu_si128((const void *)p); } /* movdqu */
static inline u8v u8v_load_first(const uint8_t *p, size_t n) { return n < 16 ? x86_load_first(p, n) : _mm_loadu_si128((const void *)p); } /* emulated: overlapping loads of 8, 4 and 1 bytes */
static inline void u8v_store(uint8_t *p, u8v v) { _mm_storeu_si128((void *)p, v); } /* movdqu */
static inline mask8 u8v_eq(u8v a, u8v b) { return _mm_cmpeq_epi8(a, b); } /* pcmpeqb */
static inline mask8 u8v_ge(u8v a, u8v b) { return _mm_cmpeq_epi8(_mm_max_epu8(a, b), a); } /* emulated: pmaxub, pcmpeqb */
static inline mask8 u8v_gt(u8v a, u8v b) { return _mm_cmpgt_epi8(_mm_xor_si128(a, _mm_set1_epi8(INT8_MIN)), _mm_xor_si128(b, _mm_set1_epi8(INT8_MIN))); } /* emulated: signs flipped, pcmpgtb */
static inline void mask8_store(uint8_t *p, mask8 m) { sse4_row_of_mask(p, m); } /* pmovmskb */
static inline mask8 mask8_load(const uint8_t *p) { return sse4_mask_of_row(p); } /* emulated: pshufb to spread the bytes, pand, pcmpeqb */
static inline u8v u8v_from_mask(mask8 m) { return m; } /* nothing */

/* ---- bit rows: words of 64 ---------------------------------------------------------------------- */

static inline size_t bits_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { return x86_positions_u32(p, word, base); } /* emulated: by bytes, from a table of 256 entries by pmovzxbd */
static inline size_t bits_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { return x86_positions_u16(p, word, base); } /* emulated: by bytes, from a table of 256 entries by pmovzxbw */
static inline uint64_t bits_extract(uint64_t word, uint64_t mask) { uint64_t r = 0; for (unsigned k = 0; mask != 0; mask &= mask - 1, k++) r |= (word >> __builtin_ctzll(mask) & 1) << k; return r; } /* emulated: bit by bit */
static inline uint64_t bits_evens(uint64_t word) { return simd_evens(word); } /* emulated: halves moved together in five steps */

#endif
