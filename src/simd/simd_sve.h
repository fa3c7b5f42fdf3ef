/* SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary on SVE: as many lanes as the processor has, known at run time. Vectors and masks are sizeless types.
 * SVE1 alone, as the first processors with SVE (A64FX, Neoverse V1) have no more.
 *
 * A mask32 is a predicate in which the first of a lane's four bits says whether it is set and the others are 0; a mask8
 * uses every bit, so that its bytes in memory are a row of bits. Minimum, maximum and conversions differ from
 * the instructions of these names just as on NEON: see simd_neon.h.
 */
#ifndef SLUICE_SIMD_SVE_H
#define SLUICE_SIMD_SVE_H

#include <arm_sve.h>

#define SIMD_TARGET sve
#define SIMD_MAX_LANES 64
#define SIMD_LANES ((size_t)svcntw())
#define SIMD_LANES8 ((size_t)svcntb())

typedef svfloat32_t f32v;
typedef svint32_t i32v;
typedef svuint32_t u32v;
typedef svbool_t mask32;
typedef svuint8_t u8v;
typedef svbool_t mask8;

#define SIMD_SVE_ALL svptrue_b32()
#define SIMD_SVE_LANE svindex_u32(0, 1)

/* There is no prefix sum: log2(lanes) additions of the vector moved up; svtbl gives 0 for what comes in from outside. */
static inline u32v simd_sve_running_sum(u32v sum)
{
    for (uint32_t by = 1; by < svcntw(); by *= 2) {
        sum = svadd_u32_x(SIMD_SVE_ALL, sum, svtbl_u32(sum, svindex_u32(0U - by, 1)));
    }
    return sum;
}
/* A shift by 32 and more gives 0: lanes from 32 on are those of the upper half. */
static inline mask32 simd_sve_of_bits(uint64_t bits)
{
    const u32v low = svlsr_u32_x(SIMD_SVE_ALL, svdup_n_u32((uint32_t)bits), SIMD_SVE_LANE);
    const u32v high = svlsr_u32_x(SIMD_SVE_ALL, svdup_n_u32((uint32_t)(bits >> 32)), svindex_u32(0U - 32, 1));
    return svcmpne_n_u32(SIMD_SVE_ALL, svand_n_u32_x(SIMD_SVE_ALL, svorr_u32_x(SIMD_SVE_ALL, low, high), 1), 0);
}
/* For every lane in m how many lanes in m are before it, and an index beyond the vector for all others. */
static inline u32v simd_sve_rank(mask32 m)
{
    const u32v sum = simd_sve_running_sum(svdup_n_u32_z(m, 1));
    return svsel_u32(m, svsub_n_u32_x(SIMD_SVE_ALL, sum, 1), svdup_n_u32(UINT32_MAX));
}

/* ---- masks of 32-bit lanes --------------------------------------------------------------------- */

static inline mask32 mask32_none(void) { return svpfalse_b(); } /* pfalse */
static inline mask32 mask32_all(void) { return SIMD_SVE_ALL; } /* ptrue */
static inline mask32 mask32_first(size_t n) { return svwhilelt_b32_u64(0, n); } /* whilelo */
static inline mask32 mask32_and(mask32 a, mask32 b) { return svand_b_z(SIMD_SVE_ALL, a, b); } /* and */
static inline mask32 mask32_or(mask32 a, mask32 b) { return svorr_b_z(SIMD_SVE_ALL, a, b); } /* orr */
static inline mask32 mask32_xor(mask32 a, mask32 b) { return sveor_b_z(SIMD_SVE_ALL, a, b); } /* eor */
static inline mask32 mask32_andnot(mask32 a, mask32 b) { return svbic_b_z(SIMD_SVE_ALL, a, b); } /* bic */
static inline mask32 mask32_not(mask32 a) { return svnot_b_z(SIMD_SVE_ALL, a); } /* not */
static inline bool mask32_any(mask32 m) { return svptest_any(SIMD_SVE_ALL, m); } /* ptest */
static inline bool mask32_every(mask32 m) { return !svptest_any(SIMD_SVE_ALL, mask32_not(m)); } /* not, ptest */
static inline size_t mask32_count(mask32 m) { return svcntp_b32(SIMD_SVE_ALL, m); } /* cntp */
static inline size_t mask32_lowest(mask32 m) { return svcntp_b32(SIMD_SVE_ALL, svbrkb_b_z(SIMD_SVE_ALL, m)); } /* brkb, cntp */
/* The sum of 1 << lane, first of the lanes below 32, then of those above; a shift by 32 and more gives 0. */
static inline uint64_t mask32_bits(mask32 m) { return svaddv_u32(m, svlsl_u32_x(SIMD_SVE_ALL, svdup_n_u32(1), SIMD_SVE_LANE)) | svaddv_u32(m, svlsl_u32_x(SIMD_SVE_ALL, svdup_n_u32(1), svindex_u32(0U - 32, 1))) << 32; } /* emulated: index, lsl, uaddv, twice */
static inline mask32 mask32_of_bits(uint64_t bits) { return simd_sve_of_bits(bits); } /* emulated: lsr by lane numbers, cmpne */

/* ---- making, loading, storing ---------------------------------------------------------------------- */

static inline f32v f32v_set(float x) { return svdup_n_f32(x); } /* dup */
static inline i32v i32v_set(int32_t x) { return svdup_n_s32(x); } /* dup */
static inline u32v u32v_set(uint32_t x) { return svdup_n_u32(x); } /* dup */
static inline u32v u32v_iota(uint32_t first) { return svindex_u32(first, 1); } /* index */
static inline i32v i32v_iota(int32_t first) { return svindex_s32(first, 1); } /* index */

static inline f32v f32v_load(const float *p) { return svld1_f32(SIMD_SVE_ALL, p); } /* ld1w */
static inline i32v i32v_load(const int32_t *p) { return svld1_s32(SIMD_SVE_ALL, p); } /* ld1w */
static inline u32v u32v_load(const uint32_t *p) { return svld1_u32(SIMD_SVE_ALL, p); } /* ld1w */
static inline u32v u32v_load_any(const void *p) { return svreinterpret_u32_u8(svld1_u8(svptrue_b8(), p)); } /* ld1b */
static inline f32v f32v_load_aligned(const float *p) { return svld1_f32(SIMD_SVE_ALL, p); } /* ld1w */
static inline i32v i32v_load_aligned(const int32_t *p) { return svld1_s32(SIMD_SVE_ALL, p); } /* ld1w */
static inline u32v u32v_load_aligned(const uint32_t *p) { return svld1_u32(SIMD_SVE_ALL, p); } /* ld1w */
static inline f32v f32v_load_masked(const float *p, mask32 m) { return svld1_f32(m, p); } /* ld1w, zeroing */
static inline i32v i32v_load_masked(const int32_t *p, mask32 m) { return svld1_s32(m, p); } /* ld1w, zeroing */
static inline u32v u32v_load_masked(const uint32_t *p, mask32 m) { return svld1_u32(m, p); } /* ld1w, zeroing */
static inline void f32v_store(float *p, f32v v) { svst1_f32(SIMD_SVE_ALL, p, v); } /* st1w */
static inline void i32v_store(int32_t *p, i32v v) { svst1_s32(SIMD_SVE_ALL, p, v); } /* st1w */
static inline void u32v_store(uint32_t *p, u32v v) { svst1_u32(SIMD_SVE_ALL, p, v); } /* st1w */
static inline void f32v_store_aligned(float *p, f32v v) { svst1_f32(SIMD_SVE_ALL, p, v); } /* st1w */
static inline void i32v_store_aligned(int32_t *p, i32v v) { svst1_s32(SIMD_SVE_ALL, p, v); } /* st1w */
static inline void u32v_store_aligned(uint32_t *p, u32v v) { svst1_u32(SIMD_SVE_ALL, p, v); } /* st1w */
static inline void u32v_store_far(uint32_t *p, u32v v) { svstnt1_u32(SIMD_SVE_ALL, p, v); } /* stnt1w */
static inline void f32v_store_masked(float *p, f32v v, mask32 m) { svst1_f32(m, p, v); } /* st1w, predicated */
static inline void i32v_store_masked(int32_t *p, i32v v, mask32 m) { svst1_s32(m, p, v); } /* st1w, predicated */
static inline void u32v_store_masked(uint32_t *p, u32v v, mask32 m) { svst1_u32(m, p, v); } /* st1w, predicated */

/* ---- arithmetic ------------------------------------------------------------------------------------ */

static inline f32v f32v_add(f32v a, f32v b) { return svadd_f32_x(SIMD_SVE_ALL, a, b); } /* fadd */
static inline f32v f32v_sub(f32v a, f32v b) { return svsub_f32_x(SIMD_SVE_ALL, a, b); } /* fsub */
static inline f32v f32v_mul(f32v a, f32v b) { return svmul_f32_x(SIMD_SVE_ALL, a, b); } /* fmul */
static inline f32v f32v_div(f32v a, f32v b) { return svdiv_f32_x(SIMD_SVE_ALL, a, b); } /* fdiv */
static inline f32v f32v_fma(f32v a, f32v b, f32v c) { return svmla_f32_x(SIMD_SVE_ALL, c, a, b); } /* fmla */
static inline f32v f32v_sqrt(f32v a) { return svsqrt_f32_x(SIMD_SVE_ALL, a); } /* fsqrt */
static inline f32v f32v_min(f32v a, f32v b) { return svsel_f32(svcmplt_f32(SIMD_SVE_ALL, a, b), a, b); } /* fcmgt, sel */
static inline f32v f32v_max(f32v a, f32v b) { return svsel_f32(svcmpgt_f32(SIMD_SVE_ALL, a, b), a, b); } /* fcmgt, sel */
static inline f32v f32v_abs(f32v a) { return svabs_f32_x(SIMD_SVE_ALL, a); } /* fabs */
static inline f32v f32v_neg(f32v a) { return svneg_f32_x(SIMD_SVE_ALL, a); } /* fneg */
static inline f32v f32v_copysign(f32v a, f32v s) { return svreinterpret_f32_u32(svorr_u32_x(SIMD_SVE_ALL, svand_n_u32_x(SIMD_SVE_ALL, svreinterpret_u32_f32(s), 0x80000000U), svand_n_u32_x(SIMD_SVE_ALL, svreinterpret_u32_f32(a), 0x7fffffffU))); } /* and, and, orr */
static inline i32v i32v_add(i32v a, i32v b) { return svadd_s32_x(SIMD_SVE_ALL, a, b); } /* add */
static inline i32v i32v_sub(i32v a, i32v b) { return svsub_s32_x(SIMD_SVE_ALL, a, b); } /* sub */
static inline i32v i32v_mul(i32v a, i32v b) { return svmul_s32_x(SIMD_SVE_ALL, a, b); } /* mul */
static inline i32v i32v_min(i32v a, i32v b) { return svmin_s32_x(SIMD_SVE_ALL, a, b); } /* smin */
static inline i32v i32v_max(i32v a, i32v b) { return svmax_s32_x(SIMD_SVE_ALL, a, b); } /* smax */
static inline i32v i32v_abs(i32v a) { return svabs_s32_x(SIMD_SVE_ALL, a); } /* abs */
static inline u32v u32v_add(u32v a, u32v b) { return svadd_u32_x(SIMD_SVE_ALL, a, b); } /* add */
static inline u32v u32v_sub(u32v a, u32v b) { return svsub_u32_x(SIMD_SVE_ALL, a, b); } /* sub */
static inline u32v u32v_mul(u32v a, u32v b) { return svmul_u32_x(SIMD_SVE_ALL, a, b); } /* mul */
static inline u32v u32v_min(u32v a, u32v b) { return svmin_u32_x(SIMD_SVE_ALL, a, b); } /* umin */
static inline u32v u32v_max(u32v a, u32v b) { return svmax_u32_x(SIMD_SVE_ALL, a, b); } /* umax */

/* ---- bits ------------------------------------------------------------------------------------------ */

static inline u32v u32v_and(u32v a, u32v b) { return svand_u32_x(SIMD_SVE_ALL, a, b); } /* and */
static inline u32v u32v_or(u32v a, u32v b) { return svorr_u32_x(SIMD_SVE_ALL, a, b); } /* orr */
static inline u32v u32v_xor(u32v a, u32v b) { return sveor_u32_x(SIMD_SVE_ALL, a, b); } /* eor */
static inline u32v u32v_andnot(u32v a, u32v b) { return svbic_u32_x(SIMD_SVE_ALL, a, b); } /* bic */
static inline u32v u32v_not(u32v a) { return svnot_u32_x(SIMD_SVE_ALL, a); } /* not */
static inline u32v u32v_shl(u32v a, unsigned n) { return svlsl_n_u32_x(SIMD_SVE_ALL, a, n); } /* lsl */
static inline u32v u32v_shr(u32v a, unsigned n) { return svlsr_n_u32_x(SIMD_SVE_ALL, a, n); } /* lsr */
static inline i32v i32v_sar(i32v a, unsigned n) { return svasr_n_s32_x(SIMD_SVE_ALL, a, n); } /* asr */
static inline u32v u32v_shlv(u32v a, u32v n) { return svlsl_u32_x(SIMD_SVE_ALL, a, n); } /* lsl */
static inline u32v u32v_shrv(u32v a, u32v n) { return svlsr_u32_x(SIMD_SVE_ALL, a, n); } /* lsr */
static inline u32v u32v_popcount(u32v a) { return svcnt_u32_x(SIMD_SVE_ALL, a); } /* cnt */
static inline u32v u32v_clz(u32v a) { return svclz_u32_x(SIMD_SVE_ALL, a); } /* clz */

/* ---- comparisons, select, conversions -------------------------------------------------------------- */

static inline mask32 f32v_eq(f32v a, f32v b) { return svcmpeq_f32(SIMD_SVE_ALL, a, b); } /* fcmeq */
static inline mask32 f32v_ne(f32v a, f32v b) { return svcmpne_f32(SIMD_SVE_ALL, a, b); } /* fcmne */
static inline mask32 f32v_lt(f32v a, f32v b) { return svcmplt_f32(SIMD_SVE_ALL, a, b); } /* fcmgt */
static inline mask32 f32v_le(f32v a, f32v b) { return svcmple_f32(SIMD_SVE_ALL, a, b); } /* fcmge */
static inline mask32 f32v_gt(f32v a, f32v b) { return svcmpgt_f32(SIMD_SVE_ALL, a, b); } /* fcmgt */
static inline mask32 f32v_ge(f32v a, f32v b) { return svcmpge_f32(SIMD_SVE_ALL, a, b); } /* fcmge */
static inline mask32 i32v_eq(i32v a, i32v b) { return svcmpeq_s32(SIMD_SVE_ALL, a, b); } /* cmpeq */
static inline mask32 i32v_ne(i32v a, i32v b) { return svcmpne_s32(SIMD_SVE_ALL, a, b); } /* cmpne */
static inline mask32 i32v_lt(i32v a, i32v b) { return svcmplt_s32(SIMD_SVE_ALL, a, b); } /* cmpgt */
static inline mask32 i32v_le(i32v a, i32v b) { return svcmple_s32(SIMD_SVE_ALL, a, b); } /* cmpge */
static inline mask32 i32v_gt(i32v a, i32v b) { return svcmpgt_s32(SIMD_SVE_ALL, a, b); } /* cmpgt */
static inline mask32 i32v_ge(i32v a, i32v b) { return svcmpge_s32(SIMD_SVE_ALL, a, b); } /* cmpge */
static inline mask32 u32v_eq(u32v a, u32v b) { return svcmpeq_u32(SIMD_SVE_ALL, a, b); } /* cmpeq */
static inline mask32 u32v_ne(u32v a, u32v b) { return svcmpne_u32(SIMD_SVE_ALL, a, b); } /* cmpne */
static inline mask32 u32v_lt(u32v a, u32v b) { return svcmplt_u32(SIMD_SVE_ALL, a, b); } /* cmphi */
static inline mask32 u32v_le(u32v a, u32v b) { return svcmple_u32(SIMD_SVE_ALL, a, b); } /* cmphs */
static inline mask32 u32v_gt(u32v a, u32v b) { return svcmpgt_u32(SIMD_SVE_ALL, a, b); } /* cmphi */
static inline mask32 u32v_ge(u32v a, u32v b) { return svcmpge_u32(SIMD_SVE_ALL, a, b); } /* cmphs */
static inline f32v f32v_select(mask32 m, f32v a, f32v b) { return svsel_f32(m, a, b); } /* sel */
static inline i32v i32v_select(mask32 m, i32v a, i32v b) { return svsel_s32(m, a, b); } /* sel */
static inline u32v u32v_select(mask32 m, u32v a, u32v b) { return svsel_u32(m, a, b); } /* sel */
static inline i32v i32v_from_u32(u32v a) { return svreinterpret_s32_u32(a); } /* nothing */
static inline u32v u32v_from_i32(i32v a) { return svreinterpret_u32_s32(a); } /* nothing */
static inline u32v u32v_bits_of_f32(f32v a) { return svreinterpret_u32_f32(a); } /* nothing */
static inline f32v f32v_from_bits(u32v a) { return svreinterpret_f32_u32(a); } /* nothing */
static inline f32v f32v_from_i32(i32v a) { return svcvt_f32_s32_x(SIMD_SVE_ALL, a); } /* scvtf */
static inline f32v f32v_from_u32(u32v a) { return svcvt_f32_u32_x(SIMD_SVE_ALL, a); } /* ucvtf */
static inline i32v i32v_truncate(f32v a) { return svsel_s32(svcmplt_n_f32(SIMD_SVE_ALL, a, 0x1p31f), svcvt_s32_f32_x(SIMD_SVE_ALL, a), svdup_n_s32(INT32_MIN)); } /* fcvtzs, fcmgt, sel */
static inline i32v i32v_round(f32v a) { return svsel_s32(svcmplt_n_f32(SIMD_SVE_ALL, a, 0x1p31f), svcvt_s32_f32_x(SIMD_SVE_ALL, svrintn_f32_x(SIMD_SVE_ALL, a)), svdup_n_s32(INT32_MIN)); } /* frintn, fcvtzs, fcmgt, sel */

/* ---- gather, scatter, pack, permute ---------------------------------------------------------------- */

static inline f32v f32v_gather(const float *p, u32v i) { return svld1_gather_u32index_f32(SIMD_SVE_ALL, p, i); } /* ld1w (gather) */
static inline i32v i32v_gather(const int32_t *p, u32v i) { return svld1_gather_u32index_s32(SIMD_SVE_ALL, p, i); } /* ld1w (gather) */
static inline u32v u32v_gather(const uint32_t *p, u32v i) { return svld1_gather_u32index_u32(SIMD_SVE_ALL, p, i); } /* ld1w (gather) */
static inline f32v f32v_gather_masked(const float *p, u32v i, mask32 m, f32v other) { return svsel_f32(m, svld1_gather_u32index_f32(m, p, i), other); } /* ld1w (gather), sel */
static inline u32v u32v_gather_masked(const uint32_t *p, u32v i, mask32 m, u32v other) { return svsel_u32(m, svld1_gather_u32index_u32(m, p, i), other); } /* ld1w (gather), sel */
/* The elements of a scatter are stored in the order of the lanes: GCC's and LLVM's vectorisers, too, turn a loop whose
 * indices may repeat into this instruction. */
static inline void f32v_scatter_masked(float *p, u32v i, f32v v, mask32 m) { svst1_scatter_u32index_f32(m, p, i, v); } /* st1w (scatter) */
static inline void u32v_scatter_masked(uint32_t *p, u32v i, u32v v, mask32 m) { svst1_scatter_u32index_u32(m, p, i, v); } /* st1w (scatter) */
static inline size_t f32v_pack(float *p, f32v v, mask32 m) { const size_t n = mask32_count(m); svst1_f32(mask32_first(n), p, svcompact_f32(m, v)); return n; } /* compact, cntp, whilelo, st1w */
static inline size_t i32v_pack(int32_t *p, i32v v, mask32 m) { const size_t n = mask32_count(m); svst1_s32(mask32_first(n), p, svcompact_s32(m, v)); return n; } /* compact, cntp, whilelo, st1w */
static inline size_t u32v_pack(uint32_t *p, u32v v, mask32 m) { const size_t n = mask32_count(m); svst1_u32(mask32_first(n), p, svcompact_u32(m, v)); return n; } /* compact, cntp, whilelo, st1w */
static inline f32v f32v_compress(f32v v, mask32 m) { return svcompact_f32(m, v); } /* compact */
static inline u32v u32v_compress(u32v v, mask32 m) { return svcompact_u32(m, v); } /* compact */
static inline f32v f32v_expand(f32v v, mask32 m) { return svtbl_f32(v, simd_sve_rank(m)); } /* emulated: prefix sum of the mask, tbl */
static inline u32v u32v_expand(u32v v, mask32 m) { return svtbl_u32(v, simd_sve_rank(m)); } /* emulated: prefix sum of the mask, tbl */
static inline f32v f32v_permute(f32v v, u32v i) { return svtbl_f32(v, i); } /* tbl */
static inline u32v u32v_permute(u32v v, u32v i) { return svtbl_u32(v, i); } /* tbl */
static inline f32v f32v_permute2(f32v a, f32v b, u32v i) { return f32v_select(u32v_lt(i, u32v_set((uint32_t)SIMD_LANES)), svtbl_f32(a, i), svtbl_f32(b, u32v_sub(i, u32v_set((uint32_t)SIMD_LANES)))); } /* emulated: tbl of both, sel */
static inline f32v f32v_previous(f32v a, f32v b) { return svinsr_n_f32(b, svlastb_f32(SIMD_SVE_ALL, a)); } /* lastb, insr */
static inline u32v u32v_previous(u32v a, u32v b) { return svinsr_n_u32(b, svlastb_u32(SIMD_SVE_ALL, a)); } /* lastb, insr */
static inline f32v f32v_next(f32v b, f32v c) { return svext_f32(b, c, 1); } /* ext */
static inline u32v u32v_next(u32v b, u32v c) { return svext_u32(b, c, 1); } /* ext */
static inline u32v u32v_even(u32v a, u32v b) { return svuzp1_u32(a, b); } /* uzp1 */
static inline u32v u32v_odd(u32v a, u32v b) { return svuzp2_u32(a, b); } /* uzp2 */
/* One round per different value, not per lane: the lanes of a value leave `rest` together. */
static inline mask32 u32v_first_of_equals(u32v v, mask32 m) /* emulated: a round per value of pfirst, lastb, cmpeq */
{
    mask32 first = svpfalse_b();
    for (mask32 rest = m; svptest_any(SIMD_SVE_ALL, rest);) {
        const mask32 lane = svpfirst_b(rest, svpfalse_b());
        first = svorr_b_z(SIMD_SVE_ALL, first, lane);
        rest = svbic_b_z(SIMD_SVE_ALL, rest, svcmpeq_n_u32(rest, v, svlastb_u32(lane, v)));
    }
    return first;
}
static inline mask32 u32v_last_of_equals(u32v v, mask32 m) /* emulated: a round per value of lastb, cmpeq */
{
    mask32 last = svpfalse_b();
    for (mask32 rest = m; svptest_any(SIMD_SVE_ALL, rest);) {
        const mask32 lane = svcmpeq_n_u32(rest, SIMD_SVE_LANE, svlastb_u32(rest, SIMD_SVE_LANE));
        last = svorr_b_z(SIMD_SVE_ALL, last, lane);
        rest = svbic_b_z(SIMD_SVE_ALL, rest, svcmpeq_n_u32(rest, v, svlastb_u32(rest, v)));
    }
    return last;
}

/* ---- across a vector, in the order of the lanes ---------------------------------------------------- */

/* Begun with -0, which leaves the first lane as it is, also if that is -0. */
static inline float f32v_sum(f32v v) { return svadda_f32(SIMD_SVE_ALL, -0.0f, v); } /* fadda */
static inline float f32v_lowest(f32v v) /* emulated: stored, lane by lane */
{
    float lane[SIMD_MAX_LANES];
    svst1_f32(SIMD_SVE_ALL, lane, v);
    size_t i = svcntw() - 1;
    float lowest = lane[i];
    while (i-- > 0) {
        lowest = lane[i] < lowest ? lane[i] : lowest;
    }
    return lowest;
}
static inline float f32v_highest(f32v v) /* emulated: stored, lane by lane */
{
    float lane[SIMD_MAX_LANES];
    svst1_f32(SIMD_SVE_ALL, lane, v);
    size_t i = svcntw() - 1;
    float highest = lane[i];
    while (i-- > 0) {
        highest = lane[i] > highest ? lane[i] : highest;
    }
    return highest;
}
static inline uint32_t u32v_sum(u32v v) { return (uint32_t)svaddv_u32(SIMD_SVE_ALL, v); } /* uaddv */
static inline uint32_t u32v_lowest(u32v v) { return svminv_u32(SIMD_SVE_ALL, v); } /* uminv */
static inline uint32_t u32v_highest(u32v v) { return svmaxv_u32(SIMD_SVE_ALL, v); } /* umaxv */
static inline u32v u32v_rank(uint64_t bits) { return simd_sve_running_sum(svdup_n_u32_z(simd_sve_of_bits(bits), 1)); } /* emulated: prefix sum of the mask */
static inline u32v u32v_running_sum(u32v v) { return simd_sve_running_sum(v); } /* emulated: log2(lanes) times tbl, add */

/* ---- 8-bit lanes: SIMD_LANES8 of them -------------------------------------------------------------- */

static inline u8v u8v_set(uint8_t x) { return svdup_n_u8(x); } /* dup */
static inline u8v u8v_load(const uint8_t *p) { return svld1_u8(svptrue_b8(), p); } /* ld1b */
static inline u8v u8v_load_first(const uint8_t *p, size_t n) { return svld1_u8(svwhilelt_b8_u64(0, n), p); } /* whilelo, ld1b, zeroing */
static inline void u8v_store(uint8_t *p, u8v v) { svst1_u8(svptrue_b8(), p, v); } /* st1b */
static inline mask8 u8v_eq(u8v a, u8v b) { return svcmpeq_u8(svptrue_b8(), a, b); } /* cmpeq */
static inline mask8 u8v_ge(u8v a, u8v b) { return svcmpge_u8(svptrue_b8(), a, b); } /* cmphs */
static inline mask8 u8v_gt(u8v a, u8v b) { return svcmpgt_u8(svptrue_b8(), a, b); } /* cmphi */
/* In assembly because ACLE has no intrinsic for it, and a pointer to svbool_t would promise alignment and a type that the
 * bytes of a bit row do not have. */
static inline void mask8_store(uint8_t *p, mask8 m) { __asm__ volatile("str %1, [%0]" : : "r"(p), "Upa"(m) : "memory"); } /* str (predicate) */
static inline mask8 mask8_load(const uint8_t *p) { mask8 m; __asm__ volatile("ldr %0, [%1]" : "=Upa"(m) : "r"(p) : "memory"); return m; } /* ldr (predicate) */
static inline u8v u8v_from_mask(mask8 m) { return svdup_n_u8_z(m, 255); } /* mov, zeroing */

/* ---- bit rows: words of 64 ---------------------------------------------------------------------- */

static inline size_t bits_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { size_t n = 0; for (; word != 0; word &= word - 1) p[n++] = base + (uint32_t)__builtin_ctzll(word); return n; } /* emulated: rbit, clz, one bit after the other */
static inline size_t bits_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { size_t n = 0; for (; word != 0; word &= word - 1) p[n++] = (uint16_t)(base + (uint32_t)__builtin_ctzll(word)); return n; } /* emulated: rbit, clz, one bit after the other */
static inline uint64_t bits_extract(uint64_t word, uint64_t mask) { uint64_t r = 0; for (unsigned k = 0; mask != 0; mask &= mask - 1, k++) r |= (word >> __builtin_ctzll(mask) & 1) << k; return r; } /* emulated: bit by bit */
static inline uint64_t bits_evens(uint64_t word) { return simd_evens(word); } /* emulated: halves moved together in five steps */

#endif
