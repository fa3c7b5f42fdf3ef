/* SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary in AVX2 with FMA, BMI2, LZCNT and POPCNT: 8 lanes of 32 bits, 32 of 8. Masks are vectors of
 * 0 and -1. The meaning of every operation stands in simd_c.h; here the comment after it names the
 * instruction, or how it is emulated.
 */
#ifndef SLUICE_SIMD_AVX2_H
#define SLUICE_SIMD_AVX2_H

#include "simd/simd_x86.h"

#define SIMD_TARGET    avx2
#define SIMD_MAX_LANES 8
#define SIMD_LANES     ((size_t)8)
#define SIMD_LANES8    ((size_t)32)

typedef __m256 f32v;
typedef __m256i i32v;
typedef __m256i u32v;
typedef __m256i mask32; /* -1 in the lanes that are set */
typedef __m256i u8v;
typedef __m256i mask8; /* -1 in the lanes that are set */

/* ---- helpers ----------------------------------------------------------------------------------- */

/* Controls of vpermd by mask, 4 bits a lane from the lowest: 1 KiB each, so that both stay in L1 beside the
 * data. Going down from bit 7, a set bit pushes its position in below those found before; the 8s in which
 * this begins, after the last position, mean a lane to be cleared, and vpermd itself does not look at that
 * bit. */
#define AVX2_BIT0(v) (v), (v) << 4
#define AVX2_BIT1(v) AVX2_BIT0(v), AVX2_BIT0((v) << 4 | 1)
#define AVX2_BIT2(v) AVX2_BIT1(v), AVX2_BIT1((v) << 4 | 2)
#define AVX2_BIT3(v) AVX2_BIT2(v), AVX2_BIT2((v) << 4 | 3)
#define AVX2_BIT4(v) AVX2_BIT3(v), AVX2_BIT3((v) << 4 | 4)
#define AVX2_BIT5(v) AVX2_BIT4(v), AVX2_BIT4((v) << 4 | 5)
#define AVX2_BIT6(v) AVX2_BIT5(v), AVX2_BIT5((v) << 4 | 6)
#define AVX2_BIT7(v) AVX2_BIT6(v), AVX2_BIT6((v) << 4 | 7)
static const uint32_t avx2_compress[256] = {AVX2_BIT7(UINT32_C(0x88888888))};

/* The inverse: lane j takes the number of set bits below j, so each set bit adds one to all lanes above. */
#define AVX2_ABOVE0(v) (v), (v) + 0x11111110
#define AVX2_ABOVE1(v) AVX2_ABOVE0(v), AVX2_ABOVE0((v) + 0x11111100)
#define AVX2_ABOVE2(v) AVX2_ABOVE1(v), AVX2_ABOVE1((v) + 0x11111000)
#define AVX2_ABOVE3(v) AVX2_ABOVE2(v), AVX2_ABOVE2((v) + 0x11110000)
#define AVX2_ABOVE4(v) AVX2_ABOVE3(v), AVX2_ABOVE3((v) + 0x11100000)
#define AVX2_ABOVE5(v) AVX2_ABOVE4(v), AVX2_ABOVE4((v) + 0x11000000)
#define AVX2_ABOVE6(v) AVX2_ABOVE5(v), AVX2_ABOVE5((v) + 0x10000000)
#define AVX2_ABOVE7(v) AVX2_ABOVE6(v), AVX2_ABOVE6(v)
static const uint32_t avx2_expand[256] = {AVX2_ABOVE7(UINT32_C(0))};

/* How many bits up to and with the lane's own: each set bit adds one to its own lane and all above. */
#define AVX2_UPTO0(v) (v), (v) + 0x11111111
#define AVX2_UPTO1(v) AVX2_UPTO0(v), AVX2_UPTO0((v) + 0x11111110)
#define AVX2_UPTO2(v) AVX2_UPTO1(v), AVX2_UPTO1((v) + 0x11111100)
#define AVX2_UPTO3(v) AVX2_UPTO2(v), AVX2_UPTO2((v) + 0x11111000)
#define AVX2_UPTO4(v) AVX2_UPTO3(v), AVX2_UPTO3((v) + 0x11110000)
#define AVX2_UPTO5(v) AVX2_UPTO4(v), AVX2_UPTO4((v) + 0x11100000)
#define AVX2_UPTO6(v) AVX2_UPTO5(v), AVX2_UPTO5((v) + 0x11000000)
#define AVX2_UPTO7(v) AVX2_UPTO6(v), AVX2_UPTO6((v) + 0x10000000)
static const uint32_t avx2_upto[256] = {AVX2_UPTO7(UINT32_C(0))};

static inline __m256i avx2_rank(uint64_t bits)
{
    const __m256i all = _mm256_set1_epi32((int)avx2_upto[bits & 255]);
    const __m256i shifted = _mm256_srlv_epi32(all, _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
    return _mm256_and_si256(shifted, _mm256_set1_epi32(15));
}
static inline __m256i avx2_of_bits(uint64_t bits)
{
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(uint32_t)bits), lane), lane);
}
static inline __m256i avx2_running_sum(__m256i v)
{
    const __m256i pairs = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    const __m256i halves = _mm256_add_epi32(pairs, _mm256_slli_si256(pairs, 8));
    const __m256i low = _mm256_permutevar8x32_epi32(halves, _mm256_set1_epi32(3));
    return _mm256_add_epi32(halves, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xf0));
}
static inline __m256i avx2_unzip(__m256i a, __m256i b, int odd)
{
    const __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    const __m256 halves = odd != 0 ? _mm256_shuffle_ps(x, y, 0xdd) : _mm256_shuffle_ps(x, y, 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(halves), 0xd8);
}
static inline unsigned avx2_bits(__m256i m)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(m));
}
static inline __m256i avx2_table(const uint32_t table[256], __m256i m)
{
    const __m256i all = _mm256_set1_epi32((int)table[avx2_bits(m)]);
    return _mm256_srlv_epi32(all, _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
}
/* The lanes in m in front; after them anything. */
static inline __m256i avx2_pack(__m256i v, __m256i m)
{
    return _mm256_permutevar8x32_epi32(v, avx2_table(avx2_compress, m));
}
static inline __m256i avx2_compress_zeros(__m256i v, __m256i m)
{
    const __m256i control = avx2_table(avx2_compress, m);
    const __m256i behind = _mm256_srai_epi32(_mm256_slli_epi32(control, 28), 31);
    return _mm256_andnot_si256(behind, _mm256_permutevar8x32_epi32(v, control));
}
static inline __m256i avx2_expand_zeros(__m256i v, __m256i m)
{
    return _mm256_and_si256(m, _mm256_permutevar8x32_epi32(v, avx2_table(avx2_expand, m)));
}

static inline __m256i avx2_flip(__m256i a)
{
    return _mm256_xor_si256(a, _mm256_set1_epi32(INT32_MIN));
}

static inline __m256i avx2_gather(const void *p, __m256i i)
{
    uint32_t index[8];
    _mm256_storeu_si256((void *)index, i);
    return _mm256_setr_m128i(x86_gather(p, index), x86_gather(p, index + 4));
}
static inline void avx2_scatter_lanes(void *p, __m256i i, __m256i v, __m256i m)
{
    uint32_t index[8], lane[8];
    _mm256_storeu_si256((void *)index, i);
    _mm256_storeu_si256((void *)lane, v);
    for (unsigned bits = avx2_bits(m); bits != 0; bits &= bits - 1) {
        const unsigned k = (unsigned)__builtin_ctz(bits);
        memcpy((char *)p + 4 * (size_t)index[k], lane + k, 4);
    }
}

static inline __m256i avx2_popcount(__m256i a)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i table = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i bytes = _mm256_add_epi8(
        _mm256_shuffle_epi8(table, _mm256_and_si256(a, low)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi32(a, 4), low)));
    return _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
}
/* The exponent of the lane as a float. Every bit below a set one is cleared first, so that rounding cannot
 * carry into the next power of two; negative numbers come out below 0, zero above 32. */
static inline __m256i avx2_clz(__m256i a)
{
    const __m256i tops = _mm256_andnot_si256(_mm256_srli_epi32(a, 1), a);
    const __m256i exponent = _mm256_srli_epi32(_mm256_castps_si256(_mm256_cvtepi32_ps(tops)), 23);
    const __m256i zeros = _mm256_sub_epi32(_mm256_set1_epi32(158), exponent);
    return _mm256_min_epi32(_mm256_max_epi32(zeros, _mm256_setzero_si256()), _mm256_set1_epi32(32));
}
/* Two exact halves around 2^39 and 2^23, added with one rounding. */
static inline __m256 avx2_from_u32(__m256i a)
{
    const __m256i low = _mm256_blend_epi16(a, _mm256_set1_epi32(0x4b000000), 0xaa);
    const __m256i high = _mm256_or_si256(_mm256_srli_epi32(a, 16), _mm256_set1_epi32(0x53000000));
    return _mm256_add_ps(_mm256_sub_ps(_mm256_castsi256_ps(high), _mm256_set1_ps(0x1.0001p39f)),
                         _mm256_castsi256_ps(low));
}

/* Bit j where the lane equals lane j of v, j = `at` being lane `lane` of a half that is in both halves of
 * `half`. */
#define AVX2_EQUAL(half, lane, at)                                                                           \
    _mm256_and_si256(_mm256_cmpeq_epi32(v, _mm256_shuffle_epi32(half, (lane)*0x55)),                         \
                     _mm256_set1_epi32(1 << (at)))
/* In every lane the lanes of v that equal it, as bits. */
static inline __m256i avx2_equals(__m256i v)
{
    const __m256i low = _mm256_permute2x128_si256(v, v, 0x00), high = _mm256_permute2x128_si256(v, v, 0x11);
    const __m256i e01 = _mm256_or_si256(AVX2_EQUAL(low, 0, 0), AVX2_EQUAL(low, 1, 1));
    const __m256i e23 = _mm256_or_si256(AVX2_EQUAL(low, 2, 2), AVX2_EQUAL(low, 3, 3));
    const __m256i e45 = _mm256_or_si256(AVX2_EQUAL(high, 0, 4), AVX2_EQUAL(high, 1, 5));
    const __m256i e67 = _mm256_or_si256(AVX2_EQUAL(high, 2, 6), AVX2_EQUAL(high, 3, 7));
    return _mm256_or_si256(_mm256_or_si256(e01, e23), _mm256_or_si256(e45, e67));
}
#undef AVX2_EQUAL
/* Lanes in m that equal none of the lanes in m of which their entry in `others` has the bit. */
static inline __m256i avx2_equals_none(__m256i v, __m256i m, __m256i others)
{
    const __m256i looked_at = _mm256_and_si256(others, _mm256_set1_epi32((int)avx2_bits(m)));
    const __m256i found = _mm256_and_si256(avx2_equals(v), looked_at);
    return _mm256_and_si256(m, _mm256_cmpeq_epi32(found, _mm256_setzero_si256()));
}

static inline float avx2_sum(__m256 v)
{
    return x86_sum_on(x86_sum(_mm256_castps256_ps128(v)), _mm256_extractf128_ps(v, 1));
}
/* NaN in front of the last lane never wins: the last lane's value in its place wins no more than that lane
 * does. */
static inline __m256 avx2_without_nan(__m256 v)
{
    const __m256 last = _mm256_permutevar8x32_ps(v, _mm256_set1_epi32(7));
    return _mm256_blendv_ps(last, v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
}
static inline float avx2_lowest(__m256 v)
{
    const __m256 sure = avx2_without_nan(v);
    const __m128 low = x86_lowest(_mm256_castps256_ps128(sure)),
                 high = x86_lowest(_mm256_extractf128_ps(sure, 1));
    return _mm_cvtss_f32(_mm_min_ss(low, high));
}
static inline float avx2_highest(__m256 v)
{
    const __m256 sure = avx2_without_nan(v);
    const __m128 low = x86_highest(_mm256_castps256_ps128(sure)),
                 high = x86_highest(_mm256_extractf128_ps(sure, 1));
    return _mm_cvtss_f32(_mm_max_ss(low, high));
}

static inline __m256i avx2_load_first(const uint8_t *p, size_t n)
{
    if (n >= 32) {
        return _mm256_loadu_si256((const void *)p);
    }
    const bool half = n >= 16;
    const __m128i low = half ? _mm_loadu_si128((const void *)p) : x86_load_first(p, n);
    return _mm256_setr_m128i(low, half ? x86_load_first(p + 16, n - 16) : _mm_setzero_si128());
}
static inline __m256i avx2_mask_of_row(const uint8_t *p)
{
    int bits;
    memcpy(&bits, p, sizeof bits);
    const __m256i spread = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i own = _mm256_set1_epi64x((long long)0x8040201008040201);
    return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), spread), own),
                             own);
}
static inline void avx2_row_of_mask(uint8_t *p, __m256i m)
{
    const int bits = _mm256_movemask_epi8(m);
    memcpy(p, &bits, sizeof bits);
}

/* ---- masks of 32-bit lanes --------------------------------------------------------------------- */

static inline mask32 mask32_none(void) { return _mm256_setzero_si256(); } /* vpxor */
static inline mask32 mask32_all(void) { return _mm256_set1_epi32(-1); } /* vpcmpeqd */
static inline mask32 mask32_first(size_t n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n < 8 ? (int)n : 8), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); } /* emulated: vpcmpgtd with lane numbers */
static inline mask32 mask32_and(mask32 a, mask32 b) { return _mm256_and_si256(a, b); } /* vpand */
static inline mask32 mask32_or(mask32 a, mask32 b) { return _mm256_or_si256(a, b); } /* vpor */
static inline mask32 mask32_xor(mask32 a, mask32 b) { return _mm256_xor_si256(a, b); } /* vpxor */
static inline mask32 mask32_andnot(mask32 a, mask32 b) { return _mm256_andnot_si256(b, a); } /* vpandn */
static inline mask32 mask32_not(mask32 a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); } /* vpxor with ones */
static inline bool mask32_any(mask32 m) { return avx2_bits(m) != 0; } /* vmovmskps */
static inline bool mask32_every(mask32 m) { return avx2_bits(m) == 255; } /* vmovmskps */
static inline size_t mask32_count(mask32 m) { return (size_t)__builtin_popcount(avx2_bits(m)); } /* vmovmskps, popcnt */
static inline size_t mask32_lowest(mask32 m) { return (size_t)__builtin_ctz(avx2_bits(m) | 256U); } /* vmovmskps, tzcnt */
static inline uint64_t mask32_bits(mask32 m) { return avx2_bits(m); } /* vmovmskps */
static inline mask32 mask32_of_bits(uint64_t bits) { return avx2_of_bits(bits); } /* emulated: vpbroadcastd, vpand and vpcmpeqd of single bits */

/* ---- making, loading, storing ------------------------------------------------------------------ */

static inline f32v f32v_set(float x) { return _mm256_set1_ps(x); } /* vbroadcastss */
static inline i32v i32v_set(int32_t x) { return _mm256_set1_epi32(x); } /* vmovd, vpbroadcastd */
static inline u32v u32v_set(uint32_t x) { return _mm256_set1_epi32((int)x); } /* vmovd, vpbroadcastd */
static inline u32v u32v_iota(uint32_t first) { return _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); } /* vpaddd of lane numbers */
static inline i32v i32v_iota(int32_t first) { return _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); } /* vpaddd of lane numbers */

static inline f32v f32v_load(const float *p) { return _mm256_loadu_ps(p); } /* vmovups */
static inline i32v i32v_load(const int32_t *p) { return _mm256_loadu_si256((const void *)p); } /* vmovdqu */
static inline u32v u32v_load(const uint32_t *p) { return _mm256_loadu_si256((const void *)p); } /* vmovdqu */
static inline u32v u32v_load_any(const void *p) { return _mm256_loadu_si256(p); } /* vmovdqu */
static inline f32v f32v_load_aligned(const float *p) { return _mm256_load_ps(p); } /* vmovaps */
static inline i32v i32v_load_aligned(const int32_t *p) { return _mm256_load_si256((const void *)p); } /* vmovdqa */
static inline u32v u32v_load_aligned(const uint32_t *p) { return _mm256_load_si256((const void *)p); } /* vmovdqa */
static inline f32v f32v_load_masked(const float *p, mask32 m) { return _mm256_maskload_ps(p, m); } /* vmaskmovps */
static inline i32v i32v_load_masked(const int32_t *p, mask32 m) { return _mm256_maskload_epi32((const void *)p, m); } /* vpmaskmovd */
static inline u32v u32v_load_masked(const uint32_t *p, mask32 m) { return _mm256_maskload_epi32((const void *)p, m); } /* vpmaskmovd */
static inline void f32v_store(float *p, f32v v) { _mm256_storeu_ps(p, v); } /* vmovups */
static inline void i32v_store(int32_t *p, i32v v) { _mm256_storeu_si256((void *)p, v); } /* vmovdqu */
static inline void u32v_store(uint32_t *p, u32v v) { _mm256_storeu_si256((void *)p, v); } /* vmovdqu */
static inline void f32v_store_aligned(float *p, f32v v) { _mm256_store_ps(p, v); } /* vmovaps */
static inline void i32v_store_aligned(int32_t *p, i32v v) { _mm256_store_si256((void *)p, v); } /* vmovdqa */
static inline void u32v_store_aligned(uint32_t *p, u32v v) { _mm256_store_si256((void *)p, v); } /* vmovdqa */
static inline void u32v_store_far(uint32_t *p, u32v v) { _mm256_stream_si256((void *)p, v); } /* vmovntdq */
static inline void f32v_store_masked(float *p, f32v v, mask32 m) { _mm256_maskstore_ps(p, m, v); } /* vmaskmovps */
static inline void i32v_store_masked(int32_t *p, i32v v, mask32 m) { _mm256_maskstore_epi32((void *)p, m, v); } /* vpmaskmovd */
static inline void u32v_store_masked(uint32_t *p, u32v v, mask32 m) { _mm256_maskstore_epi32((void *)p, m, v); } /* vpmaskmovd */

/* ---- arithmetic -------------------------------------------------------------------------------- */

static inline f32v f32v_add(f32v a, f32v b) { return _mm256_add_ps(a, b); } /* vaddps */
static inline f32v f32v_sub(f32v a, f32v b) { return _mm256_sub_ps(a, b); } /* vsubps */
static inline f32v f32v_mul(f32v a, f32v b) { return _mm256_mul_ps(a, b); } /* vmulps */
static inline f32v f32v_div(f32v a, f32v b) { return _mm256_div_ps(a, b); } /* vdivps */
static inline f32v f32v_fma(f32v a, f32v b, f32v c) { return _mm256_fmadd_ps(a, b, c); } /* vfmadd231ps */
static inline f32v f32v_sqrt(f32v a) { return _mm256_sqrt_ps(a); } /* vsqrtps */
static inline f32v f32v_min(f32v a, f32v b) { return _mm256_min_ps(a, b); } /* vminps */
static inline f32v f32v_max(f32v a, f32v b) { return _mm256_max_ps(a, b); } /* vmaxps */
static inline f32v f32v_abs(f32v a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); } /* vandnps */
static inline f32v f32v_neg(f32v a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); } /* vxorps */
static inline f32v f32v_copysign(f32v a, f32v s) { return _mm256_or_ps(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a), _mm256_and_ps(_mm256_set1_ps(-0.0f), s)); } /* vandnps, vandps, vorps */
static inline i32v i32v_add(i32v a, i32v b) { return _mm256_add_epi32(a, b); } /* vpaddd */
static inline i32v i32v_sub(i32v a, i32v b) { return _mm256_sub_epi32(a, b); } /* vpsubd */
static inline i32v i32v_mul(i32v a, i32v b) { return _mm256_mullo_epi32(a, b); } /* vpmulld */
static inline i32v i32v_min(i32v a, i32v b) { return _mm256_min_epi32(a, b); } /* vpminsd */
static inline i32v i32v_max(i32v a, i32v b) { return _mm256_max_epi32(a, b); } /* vpmaxsd */
static inline i32v i32v_abs(i32v a) { return _mm256_abs_epi32(a); } /* vpabsd */
static inline u32v u32v_add(u32v a, u32v b) { return _mm256_add_epi32(a, b); } /* vpaddd */
static inline u32v u32v_sub(u32v a, u32v b) { return _mm256_sub_epi32(a, b); } /* vpsubd */
static inline u32v u32v_mul(u32v a, u32v b) { return _mm256_mullo_epi32(a, b); } /* vpmulld */
static inline u32v u32v_min(u32v a, u32v b) { return _mm256_min_epu32(a, b); } /* vpminud */
static inline u32v u32v_max(u32v a, u32v b) { return _mm256_max_epu32(a, b); } /* vpmaxud */

/* ---- bits -------------------------------------------------------------------------------------- */

static inline u32v u32v_and(u32v a, u32v b) { return _mm256_and_si256(a, b); } /* vpand */
static inline u32v u32v_or(u32v a, u32v b) { return _mm256_or_si256(a, b); } /* vpor */
static inline u32v u32v_xor(u32v a, u32v b) { return _mm256_xor_si256(a, b); } /* vpxor */
static inline u32v u32v_andnot(u32v a, u32v b) { return _mm256_andnot_si256(b, a); } /* vpandn */
static inline u32v u32v_not(u32v a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); } /* vpxor with ones */
static inline u32v u32v_shl(u32v a, unsigned n) { return _mm256_sll_epi32(a, _mm_cvtsi32_si128((int)n)); } /* vpslld */
static inline u32v u32v_shr(u32v a, unsigned n) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128((int)n)); } /* vpsrld */
static inline i32v i32v_sar(i32v a, unsigned n) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128((int)n)); } /* vpsrad */
static inline u32v u32v_shlv(u32v a, u32v n) { return _mm256_sllv_epi32(a, n); } /* vpsllvd */
static inline u32v u32v_shrv(u32v a, u32v n) { return _mm256_srlv_epi32(a, n); } /* vpsrlvd */
static inline u32v u32v_popcount(u32v a) { return avx2_popcount(a); } /* emulated: vpshufb of both nibbles, vpmaddubsw, vpmaddwd */
static inline u32v u32v_clz(u32v a) { return avx2_clz(a); } /* emulated: exponent after vcvtdq2ps */

/* ---- comparisons, select, conversions ---------------------------------------------------------- */

static inline mask32 f32v_eq(f32v a, f32v b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); } /* vcmpeqps */
static inline mask32 f32v_ne(f32v a, f32v b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_NEQ_UQ)); } /* vcmpneqps */
static inline mask32 f32v_lt(f32v a, f32v b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); } /* vcmpltps */
static inline mask32 f32v_le(f32v a, f32v b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ)); } /* vcmpleps */
static inline mask32 f32v_gt(f32v a, f32v b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GT_OQ)); } /* vcmpgtps */
static inline mask32 f32v_ge(f32v a, f32v b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); } /* vcmpgeps */
static inline mask32 i32v_eq(i32v a, i32v b) { return _mm256_cmpeq_epi32(a, b); } /* vpcmpeqd */
static inline mask32 i32v_ne(i32v a, i32v b) { return mask32_not(_mm256_cmpeq_epi32(a, b)); } /* vpcmpeqd, vpxor */
static inline mask32 i32v_lt(i32v a, i32v b) { return _mm256_cmpgt_epi32(b, a); } /* vpcmpgtd, operands swapped */
static inline mask32 i32v_le(i32v a, i32v b) { return mask32_not(_mm256_cmpgt_epi32(a, b)); } /* vpcmpgtd, vpxor */
static inline mask32 i32v_gt(i32v a, i32v b) { return _mm256_cmpgt_epi32(a, b); } /* vpcmpgtd */
static inline mask32 i32v_ge(i32v a, i32v b) { return mask32_not(_mm256_cmpgt_epi32(b, a)); } /* vpcmpgtd, vpxor */
static inline mask32 u32v_eq(u32v a, u32v b) { return _mm256_cmpeq_epi32(a, b); } /* vpcmpeqd */
static inline mask32 u32v_ne(u32v a, u32v b) { return mask32_not(_mm256_cmpeq_epi32(a, b)); } /* vpcmpeqd, vpxor */
static inline mask32 u32v_lt(u32v a, u32v b) { return _mm256_cmpgt_epi32(avx2_flip(b), avx2_flip(a)); } /* emulated: signs flipped, vpcmpgtd */
static inline mask32 u32v_le(u32v a, u32v b) { return _mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a); } /* emulated: vpminud, vpcmpeqd */
static inline mask32 u32v_gt(u32v a, u32v b) { return _mm256_cmpgt_epi32(avx2_flip(a), avx2_flip(b)); } /* emulated: signs flipped, vpcmpgtd */
static inline mask32 u32v_ge(u32v a, u32v b) { return _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a); } /* emulated: vpmaxud, vpcmpeqd */
static inline f32v f32v_select(mask32 m, f32v a, f32v b) { return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m)); } /* vblendvps */
static inline i32v i32v_select(mask32 m, i32v a, i32v b) { return _mm256_blendv_epi8(b, a, m); } /* vpblendvb */
static inline u32v u32v_select(mask32 m, u32v a, u32v b) { return _mm256_blendv_epi8(b, a, m); } /* vpblendvb */
static inline i32v i32v_from_u32(u32v a) { return a; } /* nothing */
static inline u32v u32v_from_i32(i32v a) { return a; } /* nothing */
static inline u32v u32v_bits_of_f32(f32v a) { return _mm256_castps_si256(a); } /* nothing */
static inline f32v f32v_from_bits(u32v a) { return _mm256_castsi256_ps(a); } /* nothing */
static inline f32v f32v_from_i32(i32v a) { return _mm256_cvtepi32_ps(a); } /* vcvtdq2ps */
static inline f32v f32v_from_u32(u32v a) { return avx2_from_u32(a); } /* emulated: two exact halves, one rounded vaddps */
static inline i32v i32v_truncate(f32v a) { return _mm256_cvttps_epi32(a); } /* vcvttps2dq */
static inline i32v i32v_round(f32v a) { return _mm256_cvtps_epi32(a); } /* vcvtps2dq */

/* ---- gather, scatter, pack, permute ------------------------------------------------------------ */

static inline f32v f32v_gather(const float *p, u32v i) { return _mm256_castsi256_ps(avx2_gather(p, i)); } /* emulated: vmovd and vpinsrd by lane */
static inline i32v i32v_gather(const int32_t *p, u32v i) { return avx2_gather(p, i); } /* emulated: vmovd and vpinsrd by lane */
static inline u32v u32v_gather(const uint32_t *p, u32v i) { return avx2_gather(p, i); } /* emulated: vmovd and vpinsrd by lane */
static inline f32v f32v_gather_masked(const float *p, u32v i, mask32 m, f32v other) { return _mm256_mask_i32gather_ps(other, p, i, _mm256_castsi256_ps(m), 4); } /* vgatherdps */
static inline u32v u32v_gather_masked(const uint32_t *p, u32v i, mask32 m, u32v other) { return _mm256_mask_i32gather_epi32(other, (const void *)p, i, m, 4); } /* vpgatherdd */
static inline void f32v_scatter_masked(float *p, u32v i, f32v v, mask32 m) { avx2_scatter_lanes(p, i, _mm256_castps_si256(v), m); } /* emulated: lane by lane */
static inline void u32v_scatter_masked(uint32_t *p, u32v i, u32v v, mask32 m) { avx2_scatter_lanes(p, i, v, m); } /* emulated: lane by lane */
static inline size_t f32v_pack(float *p, f32v v, mask32 m) { _mm256_storeu_ps(p, _mm256_castsi256_ps(avx2_pack(_mm256_castps_si256(v), m))); return mask32_count(m); } /* emulated: vpermd by a table of 256 entries, vmovups, popcnt */
static inline size_t i32v_pack(int32_t *p, i32v v, mask32 m) { _mm256_storeu_si256((void *)p, avx2_pack(v, m)); return mask32_count(m); } /* emulated: vpermd by a table of 256 entries, vmovdqu, popcnt */
static inline size_t u32v_pack(uint32_t *p, u32v v, mask32 m) { _mm256_storeu_si256((void *)p, avx2_pack(v, m)); return mask32_count(m); } /* emulated: vpermd by a table of 256 entries, vmovdqu, popcnt */
static inline f32v f32v_compress(f32v v, mask32 m) { return _mm256_castsi256_ps(avx2_compress_zeros(_mm256_castps_si256(v), m)); } /* emulated: vpermd by a table of 256 entries, vpandn */
static inline u32v u32v_compress(u32v v, mask32 m) { return avx2_compress_zeros(v, m); } /* emulated: vpermd by a table of 256 entries, vpandn */
static inline f32v f32v_expand(f32v v, mask32 m) { return _mm256_castsi256_ps(avx2_expand_zeros(_mm256_castps_si256(v), m)); } /* emulated: vpermd by a table of 256 entries, vpand */
static inline u32v u32v_expand(u32v v, mask32 m) { return avx2_expand_zeros(v, m); } /* emulated: vpermd by a table of 256 entries, vpand */
static inline f32v f32v_permute(f32v v, u32v i) { return _mm256_permutevar8x32_ps(v, i); } /* vpermps */
static inline u32v u32v_permute(u32v v, u32v i) { return _mm256_permutevar8x32_epi32(v, i); } /* vpermd */
static inline f32v f32v_permute2(f32v a, f32v b, u32v i) { return f32v_select(u32v_lt(i, u32v_set(8)), f32v_permute(a, i), f32v_permute(b, i)); } /* emulated: vpermps of both, vblendvps */
static inline f32v f32v_previous(f32v a, f32v b) { return _mm256_castsi256_ps(_mm256_alignr_epi8(_mm256_castps_si256(b), _mm256_permute2x128_si256(_mm256_castps_si256(a), _mm256_castps_si256(b), 0x21), 12)); } /* vperm2i128, vpalignr */
static inline u32v u32v_previous(u32v a, u32v b) { return _mm256_alignr_epi8(b, _mm256_permute2x128_si256(a, b, 0x21), 12); } /* vperm2i128, vpalignr */
static inline f32v f32v_next(f32v b, f32v c) { return _mm256_castsi256_ps(_mm256_alignr_epi8(_mm256_permute2x128_si256(_mm256_castps_si256(b), _mm256_castps_si256(c), 0x21), _mm256_castps_si256(b), 4)); } /* vperm2i128, vpalignr */
static inline u32v u32v_next(u32v b, u32v c) { return _mm256_alignr_epi8(_mm256_permute2x128_si256(b, c, 0x21), b, 4); } /* vperm2i128, vpalignr */
static inline u32v u32v_even(u32v a, u32v b) { return avx2_unzip(a, b, 0); } /* vshufps, vpermq */
static inline u32v u32v_odd(u32v a, u32v b) { return avx2_unzip(a, b, 1); } /* vshufps, vpermq */
static inline mask32 u32v_first_of_equals(u32v v, mask32 m) { return avx2_equals_none(v, m, _mm256_setr_epi32(0x00, 0x01, 0x03, 0x07, 0x0f, 0x1f, 0x3f, 0x7f)); } /* emulated: vpcmpeqd with every lane in turn */
static inline mask32 u32v_last_of_equals(u32v v, mask32 m) { return avx2_equals_none(v, m, _mm256_setr_epi32(0xfe, 0xfc, 0xf8, 0xf0, 0xe0, 0xc0, 0x80, 0x00)); } /* emulated: vpcmpeqd with every lane in turn */

/* ---- across a vector, in the order of the lanes ------------------------------------------------ */

static inline float f32v_sum(f32v v) { return avx2_sum(v); } /* emulated: vaddss in turn */
static inline float f32v_lowest(f32v v) { return avx2_lowest(v); } /* emulated: vcmpordps, vblendvps, halving by vminps */
static inline float f32v_highest(f32v v) { return avx2_highest(v); } /* emulated: vcmpordps, vblendvps, halving by vmaxps */
static inline uint32_t u32v_sum(u32v v) { return x86_u32_sum(_mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))); } /* emulated: halving by vpaddd */
static inline uint32_t u32v_lowest(u32v v) { return x86_u32_lowest(_mm_min_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))); } /* emulated: halving by vpminud */
static inline uint32_t u32v_highest(u32v v) { return x86_u32_highest(_mm_max_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1))); } /* emulated: halving by vpmaxud */
static inline u32v u32v_rank(uint64_t bits) { return avx2_rank(bits); } /* emulated: table of 256 entries, vpsrlvd, vpand */
static inline u32v u32v_running_sum(u32v v) { return avx2_running_sum(v); } /* emulated: vpslldq, vpaddd in each half, the lower half's sum by vpermd */

/* ---- 8-bit lanes: SIMD_LANES8 of them ---------------------------------------------------------- */

static inline u8v u8v_set(uint8_t x) { return _mm256_set1_epi8((char)x); } /* vmovd, vpbroadcastb */
static inline u8v u8v_load(const uint8_t *p) { return _mm256_loadu_si256((const void *)p); } /* vmovdqu */
static inline u8v u8v_load_first(const uint8_t *p, size_t n) { return avx2_load_first(p, n); } /* emulated: overlapping loads of 16, 8, 4 and 1 bytes */
static inline void u8v_store(uint8_t *p, u8v v) { _mm256_storeu_si256((void *)p, v); } /* vmovdqu */
static inline mask8 u8v_eq(u8v a, u8v b) { return _mm256_cmpeq_epi8(a, b); } /* vpcmpeqb */
static inline mask8 u8v_ge(u8v a, u8v b) { return _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a); } /* emulated: vpmaxub, vpcmpeqb */
static inline mask8 u8v_gt(u8v a, u8v b) { return _mm256_cmpgt_epi8(_mm256_xor_si256(a, _mm256_set1_epi8(INT8_MIN)), _mm256_xor_si256(b, _mm256_set1_epi8(INT8_MIN))); } /* emulated: signs flipped, vpcmpgtb */
static inline void mask8_store(uint8_t *p, mask8 m) { avx2_row_of_mask(p, m); } /* vpmovmskb */
static inline mask8 mask8_load(const uint8_t *p) { return avx2_mask_of_row(p); } /* emulated: vpshufb to spread the bytes, vpand, vpcmpeqb */
static inline u8v u8v_from_mask(mask8 m) { return m; } /* nothing */

/* ---- bit rows: words of 64 ---------------------------------------------------------------------- */

static inline size_t bits_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { return x86_positions_u32(p, word, base); } /* emulated: by bytes, from a table of 256 entries by vpmovzxbd */
static inline size_t bits_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { return x86_positions_u16(p, word, base); } /* emulated: by bytes, from a table of 256 entries by vpmovzxbw */
static inline uint64_t bits_extract(uint64_t word, uint64_t mask) { return _pext_u64(word, mask); } /* pext */
static inline uint64_t bits_evens(uint64_t word) { return _pext_u64(word, UINT64_C(0x5555555555555555)); } /* pext */

#endif
