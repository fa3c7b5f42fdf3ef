/* SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary on NEON (AArch64): four 32-bit lanes, sixteen 8-bit lanes. Masks are vectors of all ones and zeros.
 *
 * Where an instruction of the right name has another meaning than simd_c.h, it is not used: fmin and fmax treat NaN in
 * their own way, so minimum and maximum are a comparison and a select; conversions to integers saturate, so what is too
 * large (or NaN) is replaced.
 */
#ifndef SLUICE_SIMD_NEON_H
#define SLUICE_SIMD_NEON_H

#include <arm_neon.h>

#define SIMD_TARGET neon
#define SIMD_MAX_LANES 4
#define SIMD_LANES ((size_t)4)
#define SIMD_LANES8 ((size_t)16)

typedef float32x4_t f32v;
typedef int32x4_t i32v;
typedef uint32x4_t u32v;
typedef uint32x4_t mask32; /* a lane is all ones or 0 */
typedef uint8x16_t u8v;
typedef uint8x16_t mask8; /* a lane is 255 or 0 */

/* Bytes of a 32-bit lane as indices for tbl, which gives 0 for an index beyond the vector. */
#define SIMD_NEON_LANE(k) 4 * (k), 4 * (k) + 1, 4 * (k) + 2, 4 * (k) + 3
#define SIMD_NEON_ZERO 255, 255, 255, 255

/* By mask: which lane moves where. */
static const uint8_t simd_neon_compress[16][16] = {
    {SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(1), SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(2), SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(2), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(1), SIMD_NEON_LANE(2), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_LANE(2), SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(3), SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(3), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(1), SIMD_NEON_LANE(3), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_LANE(3), SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(2), SIMD_NEON_LANE(3), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(2), SIMD_NEON_LANE(3), SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(1), SIMD_NEON_LANE(2), SIMD_NEON_LANE(3), SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_LANE(2), SIMD_NEON_LANE(3)},
};

static const uint8_t simd_neon_expand[16][16] = {
    {SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_ZERO, SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_ZERO, SIMD_NEON_ZERO},
    {SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_LANE(0), SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_LANE(1), SIMD_NEON_ZERO},
    {SIMD_NEON_ZERO, SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_ZERO},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_LANE(2), SIMD_NEON_ZERO},
    {SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_LANE(0)},
    {SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_LANE(1)},
    {SIMD_NEON_ZERO, SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_LANE(1)},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_ZERO, SIMD_NEON_LANE(2)},
    {SIMD_NEON_ZERO, SIMD_NEON_ZERO, SIMD_NEON_LANE(0), SIMD_NEON_LANE(1)},
    {SIMD_NEON_LANE(0), SIMD_NEON_ZERO, SIMD_NEON_LANE(1), SIMD_NEON_LANE(2)},
    {SIMD_NEON_ZERO, SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_LANE(2)},
    {SIMD_NEON_LANE(0), SIMD_NEON_LANE(1), SIMD_NEON_LANE(2), SIMD_NEON_LANE(3)},
};

static const uint32_t simd_neon_lane[4] = {0, 1, 2, 3};
static const uint32_t simd_neon_bit[4] = {1, 2, 4, 8};
static const uint32_t simd_neon_upto[4] = {1, 3, 7, 15};
static const uint8_t simd_neon_bit8[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};

static inline uint32_t simd_neon_bits(mask32 m) { return vaddvq_u32(vandq_u32(m, vld1q_u32(simd_neon_bit))); }
static inline uint8x16_t simd_neon_table(uint8x16_t v, const uint8_t table[16][16], mask32 m) { return vqtbl1q_u8(v, vld1q_u8(table[simd_neon_bits(m)])); }
/* Byte indices for tbl of 32-bit lane indices. */
static inline uint8x16_t simd_neon_bytes(u32v i) { return vreinterpretq_u8_u32(vmlaq_u32(vdupq_n_u32(0x03020100U), i, vdupq_n_u32(0x04040404U))); }

/* Lane by lane, for what NEON has no masked instruction for. */
static inline uint32x4_t simd_neon_load_masked(const void *p, mask32 m)
{
    const uint32_t bits = simd_neon_bits(m);
    uint32_t lane[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        if (bits >> i & 1U) {
            memcpy(&lane[i], (const uint8_t *)p + 4 * i, 4);
        }
    }
    return vld1q_u32(lane);
}

static inline void simd_neon_store_masked(void *p, uint32x4_t v, mask32 m)
{
    const uint32_t bits = simd_neon_bits(m);
    uint32_t lane[4];
    vst1q_u32(lane, v);
    for (size_t i = 0; i < 4; i++) {
        if (bits >> i & 1U) {
            memcpy((uint8_t *)p + 4 * i, &lane[i], 4);
        }
    }
}

static inline uint32x4_t simd_neon_gather(const void *p, u32v index)
{
    uint32_t i[4], lane[4];
    vst1q_u32(i, index);
    for (size_t k = 0; k < 4; k++) {
        memcpy(&lane[k], (const uint8_t *)p + 4 * (size_t)i[k], 4);
    }
    return vld1q_u32(lane);
}

static inline uint32x4_t simd_neon_gather_masked(const void *p, u32v index, mask32 m, uint32x4_t other)
{
    const uint32_t bits = simd_neon_bits(m);
    uint32_t i[4], lane[4];
    vst1q_u32(i, index);
    vst1q_u32(lane, other);
    for (size_t k = 0; k < 4; k++) {
        if (bits >> k & 1U) {
            memcpy(&lane[k], (const uint8_t *)p + 4 * (size_t)i[k], 4);
        }
    }
    return vld1q_u32(lane);
}

static inline void simd_neon_scatter_masked(void *p, u32v index, uint32x4_t v, mask32 m)
{
    const uint32_t bits = simd_neon_bits(m);
    uint32_t i[4], lane[4];
    vst1q_u32(i, index);
    vst1q_u32(lane, v);
    for (size_t k = 0; k < 4; k++) {
        if (bits >> k & 1U) {
            memcpy((uint8_t *)p + 4 * (size_t)i[k], &lane[k], 4);
        }
    }
}

/* A lane of e is set where the same lane of v equals that of w, both in their masks. */
static inline mask32 simd_neon_equals(u32v v, mask32 m, u32v w, mask32 n) { return vandq_u32(vceqq_u32(v, w), vandq_u32(m, n)); }

/* ---- masks of 32-bit lanes --------------------------------------------------------------------- */

static inline mask32 mask32_none(void) { return vdupq_n_u32(0); } /* movi */
static inline mask32 mask32_all(void) { return vdupq_n_u32(UINT32_MAX); } /* mvni */
static inline mask32 mask32_first(size_t n) { return vcltq_u32(vld1q_u32(simd_neon_lane), vdupq_n_u32(n < 4 ? (uint32_t)n : 4)); } /* dup, cmhi */
static inline mask32 mask32_and(mask32 a, mask32 b) { return vandq_u32(a, b); } /* and */
static inline mask32 mask32_or(mask32 a, mask32 b) { return vorrq_u32(a, b); } /* orr */
static inline mask32 mask32_xor(mask32 a, mask32 b) { return veorq_u32(a, b); } /* eor */
static inline mask32 mask32_andnot(mask32 a, mask32 b) { return vbicq_u32(a, b); } /* bic */
static inline mask32 mask32_not(mask32 a) { return vmvnq_u32(a); } /* not */
static inline bool mask32_any(mask32 m) { return vmaxvq_u32(m) != 0; } /* umaxv */
static inline bool mask32_every(mask32 m) { return vminvq_u32(m) != 0; } /* uminv */
static inline size_t mask32_count(mask32 m) { return vaddvq_u32(vshrq_n_u32(m, 31)); } /* ushr, addv */
static inline size_t mask32_lowest(mask32 m) { return (size_t)__builtin_ctz(simd_neon_bits(m) | 16U); } /* and, addv, rbit, clz */
static inline uint64_t mask32_bits(mask32 m) { return simd_neon_bits(m); } /* and, addv */
static inline mask32 mask32_of_bits(uint64_t bits) { return vtstq_u32(vdupq_n_u32((uint32_t)bits), vld1q_u32(simd_neon_bit)); } /* emulated: dup, cmtst of single bits */

/* ---- making, loading, storing ------------------------------------------------------------------ */

static inline f32v f32v_set(float x) { return vdupq_n_f32(x); } /* dup */
static inline i32v i32v_set(int32_t x) { return vdupq_n_s32(x); } /* dup */
static inline u32v u32v_set(uint32_t x) { return vdupq_n_u32(x); } /* dup */
static inline u32v u32v_iota(uint32_t first) { return vaddq_u32(vld1q_u32(simd_neon_lane), vdupq_n_u32(first)); } /* dup, add */
static inline i32v i32v_iota(int32_t first) { return vreinterpretq_s32_u32(u32v_iota((uint32_t)first)); } /* dup, add */

static inline f32v f32v_load(const float *p) { return vld1q_f32(p); } /* ldr */
static inline i32v i32v_load(const int32_t *p) { return vld1q_s32(p); } /* ldr */
static inline u32v u32v_load(const uint32_t *p) { return vld1q_u32(p); } /* ldr */
static inline u32v u32v_load_any(const void *p) { return vreinterpretq_u32_u8(vld1q_u8(p)); } /* ld1 */
static inline f32v f32v_load_aligned(const float *p) { return vld1q_f32(p); } /* ldr */
static inline i32v i32v_load_aligned(const int32_t *p) { return vld1q_s32(p); } /* ldr */
static inline u32v u32v_load_aligned(const uint32_t *p) { return vld1q_u32(p); } /* ldr */
static inline f32v f32v_load_masked(const float *p, mask32 m) { return vreinterpretq_f32_u32(simd_neon_load_masked(p, m)); } /* emulated: lane by lane */
static inline i32v i32v_load_masked(const int32_t *p, mask32 m) { return vreinterpretq_s32_u32(simd_neon_load_masked(p, m)); } /* emulated: lane by lane */
static inline u32v u32v_load_masked(const uint32_t *p, mask32 m) { return simd_neon_load_masked(p, m); } /* emulated: lane by lane */
static inline void f32v_store(float *p, f32v v) { vst1q_f32(p, v); } /* str */
static inline void i32v_store(int32_t *p, i32v v) { vst1q_s32(p, v); } /* str */
static inline void u32v_store(uint32_t *p, u32v v) { vst1q_u32(p, v); } /* str */
static inline void f32v_store_aligned(float *p, f32v v) { vst1q_f32(p, v); } /* str */
static inline void i32v_store_aligned(int32_t *p, i32v v) { vst1q_s32(p, v); } /* str */
static inline void u32v_store_aligned(uint32_t *p, u32v v) { vst1q_u32(p, v); } /* str */
static inline void u32v_store_far(uint32_t *p, u32v v) { vst1q_u32(p, v); } /* st1 */
static inline void f32v_store_masked(float *p, f32v v, mask32 m) { simd_neon_store_masked(p, vreinterpretq_u32_f32(v), m); } /* emulated: lane by lane */
static inline void i32v_store_masked(int32_t *p, i32v v, mask32 m) { simd_neon_store_masked(p, vreinterpretq_u32_s32(v), m); } /* emulated: lane by lane */
static inline void u32v_store_masked(uint32_t *p, u32v v, mask32 m) { simd_neon_store_masked(p, v, m); } /* emulated: lane by lane */

/* ---- arithmetic -------------------------------------------------------------------------------- */

static inline f32v f32v_add(f32v a, f32v b) { return vaddq_f32(a, b); } /* fadd */
static inline f32v f32v_sub(f32v a, f32v b) { return vsubq_f32(a, b); } /* fsub */
static inline f32v f32v_mul(f32v a, f32v b) { return vmulq_f32(a, b); } /* fmul */
static inline f32v f32v_div(f32v a, f32v b) { return vdivq_f32(a, b); } /* fdiv */
static inline f32v f32v_fma(f32v a, f32v b, f32v c) { return vfmaq_f32(c, a, b); } /* fmla */
static inline f32v f32v_sqrt(f32v a) { return vsqrtq_f32(a); } /* fsqrt */
static inline f32v f32v_min(f32v a, f32v b) { return vbslq_f32(vcltq_f32(a, b), a, b); } /* fcmgt, bsl */
static inline f32v f32v_max(f32v a, f32v b) { return vbslq_f32(vcgtq_f32(a, b), a, b); } /* fcmgt, bsl */
static inline f32v f32v_abs(f32v a) { return vabsq_f32(a); } /* fabs */
static inline f32v f32v_neg(f32v a) { return vnegq_f32(a); } /* fneg */
static inline f32v f32v_copysign(f32v a, f32v s) { return vbslq_f32(vdupq_n_u32(0x80000000U), s, a); } /* bsl */
static inline i32v i32v_add(i32v a, i32v b) { return vaddq_s32(a, b); } /* add */
static inline i32v i32v_sub(i32v a, i32v b) { return vsubq_s32(a, b); } /* sub */
static inline i32v i32v_mul(i32v a, i32v b) { return vmulq_s32(a, b); } /* mul */
static inline i32v i32v_min(i32v a, i32v b) { return vminq_s32(a, b); } /* smin */
static inline i32v i32v_max(i32v a, i32v b) { return vmaxq_s32(a, b); } /* smax */
static inline i32v i32v_abs(i32v a) { return vabsq_s32(a); } /* abs */
static inline u32v u32v_add(u32v a, u32v b) { return vaddq_u32(a, b); } /* add */
static inline u32v u32v_sub(u32v a, u32v b) { return vsubq_u32(a, b); } /* sub */
static inline u32v u32v_mul(u32v a, u32v b) { return vmulq_u32(a, b); } /* mul */
static inline u32v u32v_min(u32v a, u32v b) { return vminq_u32(a, b); } /* umin */
static inline u32v u32v_max(u32v a, u32v b) { return vmaxq_u32(a, b); } /* umax */

/* ---- bits -------------------------------------------------------------------------------------- */

static inline u32v u32v_and(u32v a, u32v b) { return vandq_u32(a, b); } /* and */
static inline u32v u32v_or(u32v a, u32v b) { return vorrq_u32(a, b); } /* orr */
static inline u32v u32v_xor(u32v a, u32v b) { return veorq_u32(a, b); } /* eor */
static inline u32v u32v_andnot(u32v a, u32v b) { return vbicq_u32(a, b); } /* bic */
static inline u32v u32v_not(u32v a) { return vmvnq_u32(a); } /* not */
/* Written with operators, which become shifts by an immediate where n is known. */
static inline u32v u32v_shl(u32v a, unsigned n) { return a << n; } /* shl; n not constant: dup, ushl */
static inline u32v u32v_shr(u32v a, unsigned n) { return a >> n; } /* ushr; n not constant: dup, neg, ushl */
static inline i32v i32v_sar(i32v a, unsigned n) { return a >> (int32_t)n; } /* sshr; n not constant: dup, neg, sshl */
/* ushl looks at the lowest byte of n alone. */
static inline u32v u32v_shlv(u32v a, u32v n) { return vandq_u32(vshlq_u32(a, vreinterpretq_s32_u32(n)), vcltq_u32(n, vdupq_n_u32(32))); } /* ushl, cmhi, and */
static inline u32v u32v_shrv(u32v a, u32v n) { return vandq_u32(vshlq_u32(a, vnegq_s32(vreinterpretq_s32_u32(n))), vcltq_u32(n, vdupq_n_u32(32))); } /* neg, ushl, cmhi, and */
static inline u32v u32v_popcount(u32v a) { return vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(a)))); } /* cnt, uaddlp, uaddlp */
static inline u32v u32v_clz(u32v a) { return vclzq_u32(a); } /* clz */

/* ---- comparisons, select, conversions ---------------------------------------------------------- */

static inline mask32 f32v_eq(f32v a, f32v b) { return vceqq_f32(a, b); } /* fcmeq */
static inline mask32 f32v_ne(f32v a, f32v b) { return vmvnq_u32(vceqq_f32(a, b)); } /* fcmeq, not */
static inline mask32 f32v_lt(f32v a, f32v b) { return vcltq_f32(a, b); } /* fcmgt */
static inline mask32 f32v_le(f32v a, f32v b) { return vcleq_f32(a, b); } /* fcmge */
static inline mask32 f32v_gt(f32v a, f32v b) { return vcgtq_f32(a, b); } /* fcmgt */
static inline mask32 f32v_ge(f32v a, f32v b) { return vcgeq_f32(a, b); } /* fcmge */
static inline mask32 i32v_eq(i32v a, i32v b) { return vceqq_s32(a, b); } /* cmeq */
static inline mask32 i32v_ne(i32v a, i32v b) { return vmvnq_u32(vceqq_s32(a, b)); } /* cmeq, not */
static inline mask32 i32v_lt(i32v a, i32v b) { return vcltq_s32(a, b); } /* cmgt */
static inline mask32 i32v_le(i32v a, i32v b) { return vcleq_s32(a, b); } /* cmge */
static inline mask32 i32v_gt(i32v a, i32v b) { return vcgtq_s32(a, b); } /* cmgt */
static inline mask32 i32v_ge(i32v a, i32v b) { return vcgeq_s32(a, b); } /* cmge */
static inline mask32 u32v_eq(u32v a, u32v b) { return vceqq_u32(a, b); } /* cmeq */
static inline mask32 u32v_ne(u32v a, u32v b) { return vmvnq_u32(vceqq_u32(a, b)); } /* cmeq, not */
static inline mask32 u32v_lt(u32v a, u32v b) { return vcltq_u32(a, b); } /* cmhi */
static inline mask32 u32v_le(u32v a, u32v b) { return vcleq_u32(a, b); } /* cmhs */
static inline mask32 u32v_gt(u32v a, u32v b) { return vcgtq_u32(a, b); } /* cmhi */
static inline mask32 u32v_ge(u32v a, u32v b) { return vcgeq_u32(a, b); } /* cmhs */
static inline f32v f32v_select(mask32 m, f32v a, f32v b) { return vbslq_f32(m, a, b); } /* bsl */
static inline i32v i32v_select(mask32 m, i32v a, i32v b) { return vbslq_s32(m, a, b); } /* bsl */
static inline u32v u32v_select(mask32 m, u32v a, u32v b) { return vbslq_u32(m, a, b); } /* bsl */
static inline i32v i32v_from_u32(u32v a) { return vreinterpretq_s32_u32(a); } /* nothing */
static inline u32v u32v_from_i32(i32v a) { return vreinterpretq_u32_s32(a); } /* nothing */
static inline u32v u32v_bits_of_f32(f32v a) { return vreinterpretq_u32_f32(a); } /* nothing */
static inline f32v f32v_from_bits(u32v a) { return vreinterpretq_f32_u32(a); } /* nothing */
static inline f32v f32v_from_i32(i32v a) { return vcvtq_f32_s32(a); } /* scvtf */
static inline f32v f32v_from_u32(u32v a) { return vcvtq_f32_u32(a); } /* ucvtf */
/* Below -2^31 the conversion saturates to INT32_MIN, as wanted; what is above 2^31 or NaN is not < 2^31. */
static inline i32v i32v_truncate(f32v a) { return vbslq_s32(vcltq_f32(a, vdupq_n_f32(0x1p31f)), vcvtq_s32_f32(a), vdupq_n_s32(INT32_MIN)); } /* fcvtzs, fcmgt, bsl */
static inline i32v i32v_round(f32v a) { return vbslq_s32(vcltq_f32(a, vdupq_n_f32(0x1p31f)), vcvtnq_s32_f32(a), vdupq_n_s32(INT32_MIN)); } /* fcvtns, fcmgt, bsl */

/* ---- gather, scatter, pack, permute ------------------------------------------------------------ */

static inline f32v f32v_gather(const float *p, u32v i) { return vreinterpretq_f32_u32(simd_neon_gather(p, i)); } /* emulated: lane by lane */
static inline i32v i32v_gather(const int32_t *p, u32v i) { return vreinterpretq_s32_u32(simd_neon_gather(p, i)); } /* emulated: lane by lane */
static inline u32v u32v_gather(const uint32_t *p, u32v i) { return simd_neon_gather(p, i); } /* emulated: lane by lane */
static inline f32v f32v_gather_masked(const float *p, u32v i, mask32 m, f32v other) { return vreinterpretq_f32_u32(simd_neon_gather_masked(p, i, m, vreinterpretq_u32_f32(other))); } /* emulated: lane by lane */
static inline u32v u32v_gather_masked(const uint32_t *p, u32v i, mask32 m, u32v other) { return simd_neon_gather_masked(p, i, m, other); } /* emulated: lane by lane */
static inline void f32v_scatter_masked(float *p, u32v i, f32v v, mask32 m) { simd_neon_scatter_masked(p, i, vreinterpretq_u32_f32(v), m); } /* emulated: lane by lane */
static inline void u32v_scatter_masked(uint32_t *p, u32v i, u32v v, mask32 m) { simd_neon_scatter_masked(p, i, v, m); } /* emulated: lane by lane */
static inline f32v f32v_compress(f32v v, mask32 m) { return vreinterpretq_f32_u8(simd_neon_table(vreinterpretq_u8_f32(v), simd_neon_compress, m)); } /* emulated: 16-entry table, tbl */
static inline u32v u32v_compress(u32v v, mask32 m) { return vreinterpretq_u32_u8(simd_neon_table(vreinterpretq_u8_u32(v), simd_neon_compress, m)); } /* emulated: 16-entry table, tbl */
static inline size_t f32v_pack(float *p, f32v v, mask32 m) { vst1q_f32(p, f32v_compress(v, m)); return mask32_count(m); } /* emulated: 16-entry table, tbl, str */
static inline size_t u32v_pack(uint32_t *p, u32v v, mask32 m) { vst1q_u32(p, u32v_compress(v, m)); return mask32_count(m); } /* emulated: 16-entry table, tbl, str */
static inline size_t i32v_pack(int32_t *p, i32v v, mask32 m) { vst1q_s32(p, vreinterpretq_s32_u32(u32v_compress(vreinterpretq_u32_s32(v), m))); return mask32_count(m); } /* emulated: 16-entry table, tbl, str */
static inline f32v f32v_expand(f32v v, mask32 m) { return vreinterpretq_f32_u8(simd_neon_table(vreinterpretq_u8_f32(v), simd_neon_expand, m)); } /* emulated: 16-entry table, tbl */
static inline u32v u32v_expand(u32v v, mask32 m) { return vreinterpretq_u32_u8(simd_neon_table(vreinterpretq_u8_u32(v), simd_neon_expand, m)); } /* emulated: 16-entry table, tbl */
static inline f32v f32v_permute(f32v v, u32v i) { return vreinterpretq_f32_u8(vqtbl1q_u8(vreinterpretq_u8_f32(v), simd_neon_bytes(i))); } /* mla, tbl */
static inline u32v u32v_permute(u32v v, u32v i) { return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(v), simd_neon_bytes(i))); } /* mla, tbl */
static inline f32v f32v_permute2(f32v a, f32v b, u32v i) { return vreinterpretq_f32_u8(vqtbl2q_u8((uint8x16x2_t){{vreinterpretq_u8_f32(a), vreinterpretq_u8_f32(b)}}, simd_neon_bytes(i))); } /* mla, tbl of two registers */
static inline f32v f32v_previous(f32v a, f32v b) { return vextq_f32(a, b, 3); } /* ext */
static inline u32v u32v_previous(u32v a, u32v b) { return vextq_u32(a, b, 3); } /* ext */
static inline f32v f32v_next(f32v b, f32v c) { return vextq_f32(b, c, 1); } /* ext */
static inline u32v u32v_next(u32v b, u32v c) { return vextq_u32(b, c, 1); } /* ext */
static inline u32v u32v_even(u32v a, u32v b) { return vuzp1q_u32(a, b); } /* uzp1 */
static inline u32v u32v_odd(u32v a, u32v b) { return vuzp2q_u32(a, b); } /* uzp2 */
static inline mask32 u32v_first_of_equals(u32v v, mask32 m) /* emulated: compared with itself moved by 1, 2, 3 lanes */
{
    const uint32x4_t zero = vdupq_n_u32(0); /* lanes that come in from outside are in no mask */
    const mask32 by1 = simd_neon_equals(v, m, vextq_u32(zero, v, 3), vextq_u32(zero, m, 3));
    const mask32 by2 = simd_neon_equals(v, m, vextq_u32(zero, v, 2), vextq_u32(zero, m, 2));
    const mask32 by3 = simd_neon_equals(v, m, vextq_u32(zero, v, 1), vextq_u32(zero, m, 1));
    return vbicq_u32(m, vorrq_u32(by1, vorrq_u32(by2, by3)));
}
static inline mask32 u32v_last_of_equals(u32v v, mask32 m) /* emulated: compared with itself moved by 1, 2, 3 lanes */
{
    const uint32x4_t zero = vdupq_n_u32(0);
    const mask32 by1 = simd_neon_equals(v, m, vextq_u32(v, zero, 1), vextq_u32(m, zero, 1));
    const mask32 by2 = simd_neon_equals(v, m, vextq_u32(v, zero, 2), vextq_u32(m, zero, 2));
    const mask32 by3 = simd_neon_equals(v, m, vextq_u32(v, zero, 3), vextq_u32(m, zero, 3));
    return vbicq_u32(m, vorrq_u32(by1, vorrq_u32(by2, by3)));
}

/* ---- across a vector, in the order of the lanes ------------------------------------------------ */

static inline float f32v_sum(f32v v) { return ((vgetq_lane_f32(v, 0) + vgetq_lane_f32(v, 1)) + vgetq_lane_f32(v, 2)) + vgetq_lane_f32(v, 3); } /* dup, fadd by lane */
static inline float simd_neon_smaller(float a, float b) { return a < b ? a : b; }
static inline float simd_neon_larger(float a, float b) { return a > b ? a : b; }
static inline float f32v_lowest(f32v v) { return simd_neon_smaller(vgetq_lane_f32(v, 0), simd_neon_smaller(vgetq_lane_f32(v, 1), simd_neon_smaller(vgetq_lane_f32(v, 2), vgetq_lane_f32(v, 3)))); } /* fcmp, fcsel by lane */
static inline float f32v_highest(f32v v) { return simd_neon_larger(vgetq_lane_f32(v, 0), simd_neon_larger(vgetq_lane_f32(v, 1), simd_neon_larger(vgetq_lane_f32(v, 2), vgetq_lane_f32(v, 3)))); } /* fcmp, fcsel by lane */
static inline uint32_t u32v_sum(u32v v) { return vaddvq_u32(v); } /* addv */
static inline uint32_t u32v_lowest(u32v v) { return vminvq_u32(v); } /* uminv */
static inline uint32_t u32v_highest(u32v v) { return vmaxvq_u32(v); } /* umaxv */
static inline u32v u32v_rank(uint64_t bits) { return u32v_popcount(vandq_u32(vdupq_n_u32((uint32_t)bits), vld1q_u32(simd_neon_upto))); } /* emulated: and of the bits up to the lane, popcount */
static inline u32v u32v_running_sum(u32v v) { v = vaddq_u32(v, vextq_u32(vdupq_n_u32(0), v, 3)); return vaddq_u32(v, vextq_u32(vdupq_n_u32(0), v, 2)); } /* emulated: log2(lanes) times ext, add */

/* ---- 8-bit lanes: SIMD_LANES8 of them ---------------------------------------------------------- */

static inline u8v u8v_set(uint8_t x) { return vdupq_n_u8(x); } /* dup */
static inline u8v u8v_load(const uint8_t *p) { return vld1q_u8(p); } /* ldr */
static inline u8v u8v_load_first(const uint8_t *p, size_t n) { uint8_t lane[16] = {0}; if (n >= 16) return vld1q_u8(p); memcpy(lane, p, n); return vld1q_u8(lane); } /* emulated: copied before the load */
static inline void u8v_store(uint8_t *p, u8v v) { vst1q_u8(p, v); } /* str */
static inline mask8 u8v_eq(u8v a, u8v b) { return vceqq_u8(a, b); } /* cmeq */
static inline mask8 u8v_ge(u8v a, u8v b) { return vcgeq_u8(a, b); } /* cmhs */
static inline mask8 u8v_gt(u8v a, u8v b) { return vcgtq_u8(a, b); } /* cmhi */
static inline void mask8_store(uint8_t *p, mask8 m) { const uint8x16_t bit = vandq_u8(m, vld1q_u8(simd_neon_bit8)); p[0] = vaddv_u8(vget_low_u8(bit)); p[1] = vaddv_u8(vget_high_u8(bit)); } /* emulated: and with 1, 2, 4 …, addv of each half */
static inline mask8 mask8_load(const uint8_t *p) { return vtstq_u8(vcombine_u8(vdup_n_u8(p[0]), vdup_n_u8(p[1])), vld1q_u8(simd_neon_bit8)); } /* emulated: dup, cmtst with 1, 2, 4 … */
static inline u8v u8v_from_mask(mask8 m) { return m; } /* nothing */

/* ---- bit rows: words of 64 ---------------------------------------------------------------------- */

static inline size_t bits_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { size_t n = 0; for (; word != 0; word &= word - 1) p[n++] = base + (uint32_t)__builtin_ctzll(word); return n; } /* emulated: rbit, clz, one bit after the other */
static inline size_t bits_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { size_t n = 0; for (; word != 0; word &= word - 1) p[n++] = (uint16_t)(base + (uint32_t)__builtin_ctzll(word)); return n; } /* emulated: rbit, clz, one bit after the other */
static inline uint64_t bits_extract(uint64_t word, uint64_t mask) { uint64_t r = 0; for (unsigned k = 0; mask != 0; mask &= mask - 1, k++) r |= (word >> __builtin_ctzll(mask) & 1) << k; return r; } /* emulated: bit by bit */
static inline uint64_t bits_evens(uint64_t word) { return simd_evens(word); } /* emulated: halves moved together in five steps */

#endif
