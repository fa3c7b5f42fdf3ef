/* SPDX-License-Identifier: Apache-2.0
 *
 * The vocabulary in plain C, one 32-bit lane wide: its meaning for every other target. Where the comment after an
 * operation says nothing else, lanes do not mix and an operation does in each lane what it does here in one.
 *
 * The comment that ends an operation's first line is its entry in docs/simd.md: here its meaning, in the other headers
 * the instruction, or "emulated: how".
 */
#ifndef SLUICE_SIMD_C_H
#define SLUICE_SIMD_C_H

#define SIMD_TARGET c
#define SIMD_MAX_LANES 1 /* an upper bound known to the compiler */
#define SIMD_LANES ((size_t)1)
#define SIMD_LANES8 ((size_t)8)

typedef float f32v;
typedef int32_t i32v;
typedef uint32_t u32v;
typedef uint32_t mask32; /* 0 or 1 */
typedef struct u8v {
    uint8_t lane[8];
} u8v;
typedef struct mask8 {
    uint8_t bits; /* lane i is bit i */
} mask8;

/* ---- masks of 32-bit lanes --------------------------------------------------------------------- */

static inline mask32 mask32_none(void) { return 0; } /* no lane */
static inline mask32 mask32_all(void) { return 1; } /* every lane */
static inline mask32 mask32_first(size_t n) { return n > 0; } /* the first n lanes; all of them if n is larger */
static inline mask32 mask32_and(mask32 a, mask32 b) { return a & b; } /* a and b */
static inline mask32 mask32_or(mask32 a, mask32 b) { return a | b; } /* a or b */
static inline mask32 mask32_xor(mask32 a, mask32 b) { return a ^ b; } /* one of a, b */
static inline mask32 mask32_andnot(mask32 a, mask32 b) { return a & (b ^ 1U); } /* a and not b */
static inline mask32 mask32_not(mask32 a) { return a ^ 1U; } /* not a */
static inline bool mask32_any(mask32 m) { return m != 0; } /* is any lane set */
static inline bool mask32_every(mask32 m) { return m != 0; } /* are all lanes set */
static inline size_t mask32_count(mask32 m) { return m; } /* how many lanes are set */
static inline size_t mask32_lowest(mask32 m) { return m != 0 ? 0 : SIMD_LANES; } /* the first set lane, SIMD_LANES if none */
static inline uint64_t mask32_bits(mask32 m) { return m; } /* lane i as bit i, for counting and tests */
static inline mask32 mask32_of_bits(uint64_t bits) { return (mask32)(bits & 1); } /* bit i as lane i; bits beyond the last lane do not count */

/* ---- making, loading, storing ------------------------------------------------------------------ */

static inline f32v f32v_set(float x) { return x; } /* x in every lane */
static inline i32v i32v_set(int32_t x) { return x; } /* x in every lane */
static inline u32v u32v_set(uint32_t x) { return x; } /* x in every lane */
static inline u32v u32v_iota(uint32_t first) { return first; } /* first + lane */
static inline i32v i32v_iota(int32_t first) { return first; } /* first + lane */

static inline f32v f32v_load(const float *p) { return *p; } /* p[lane], any alignment */
static inline i32v i32v_load(const int32_t *p) { return *p; } /* p[lane], any alignment */
static inline u32v u32v_load(const uint32_t *p) { return *p; } /* p[lane], any alignment */
static inline u32v u32v_load_any(const void *p) { uint32_t v; memcpy(&v, p, sizeof v); return v; } /* the 4 · SIMD_LANES bytes at p, of whatever type, any alignment */
static inline f32v f32v_load_aligned(const float *p) { return *p; } /* p[lane], p a multiple of the vector */
static inline i32v i32v_load_aligned(const int32_t *p) { return *p; } /* p[lane], p a multiple of the vector */
static inline u32v u32v_load_aligned(const uint32_t *p) { return *p; } /* p[lane], p a multiple of the vector */
static inline f32v f32v_load_masked(const float *p, mask32 m) { return m ? *p : 0.0f; } /* p[lane] where m, else 0; memory of other lanes is not touched */
static inline i32v i32v_load_masked(const int32_t *p, mask32 m) { return m ? *p : 0; } /* p[lane] where m, else 0; memory of other lanes is not touched */
static inline u32v u32v_load_masked(const uint32_t *p, mask32 m) { return m ? *p : 0; } /* p[lane] where m, else 0; memory of other lanes is not touched */
static inline void f32v_store(float *p, f32v v) { *p = v; } /* p[lane], any alignment */
static inline void i32v_store(int32_t *p, i32v v) { *p = v; } /* p[lane], any alignment */
static inline void u32v_store(uint32_t *p, u32v v) { *p = v; } /* p[lane], any alignment */
static inline void f32v_store_aligned(float *p, f32v v) { *p = v; } /* p[lane], p a multiple of the vector */
static inline void i32v_store_aligned(int32_t *p, i32v v) { *p = v; } /* p[lane], p a multiple of the vector */
static inline void u32v_store_aligned(uint32_t *p, u32v v) { *p = v; } /* p[lane], p a multiple of the vector */
static inline void u32v_store_far(uint32_t *p, u32v v) { *p = v; } /* p[lane], p a multiple of the vector; past the caches where there is a way, for rows that nobody reads soon. Other threads see it after bits_fence */
static inline void f32v_store_masked(float *p, f32v v, mask32 m) { if (m) *p = v; } /* p[lane] where m; other memory is not touched */
static inline void i32v_store_masked(int32_t *p, i32v v, mask32 m) { if (m) *p = v; } /* p[lane] where m; other memory is not touched */
static inline void u32v_store_masked(uint32_t *p, u32v v, mask32 m) { if (m) *p = v; } /* p[lane] where m; other memory is not touched */

/* ---- arithmetic -------------------------------------------------------------------------------- */

static inline f32v f32v_add(f32v a, f32v b) { return a + b; } /* a + b */
static inline f32v f32v_sub(f32v a, f32v b) { return a - b; } /* a - b */
static inline f32v f32v_mul(f32v a, f32v b) { return a * b; } /* a · b, rounded */
static inline f32v f32v_div(f32v a, f32v b) { return a / b; } /* a / b, correctly rounded */
static inline f32v f32v_fma(f32v a, f32v b, f32v c) { return fmaf(a, b, c); } /* a · b + c, rounded once */
static inline f32v f32v_sqrt(f32v a) { return sqrtf(a); } /* square root, correctly rounded */
static inline f32v f32v_min(f32v a, f32v b) { return a < b ? a : b; } /* a < b ? a : b, so b if either is NaN */
static inline f32v f32v_max(f32v a, f32v b) { return a > b ? a : b; } /* a > b ? a : b, so b if either is NaN */
static inline f32v f32v_abs(f32v a) { return fabsf(a); } /* sign bit cleared */
static inline f32v f32v_neg(f32v a) { return -a; } /* sign bit flipped */
static inline f32v f32v_copysign(f32v a, f32v s) { return copysignf(a, s); } /* a with the sign of s */
static inline i32v i32v_add(i32v a, i32v b) { return (int32_t)((uint32_t)a + (uint32_t)b); } /* a + b modulo 2^32 */
static inline i32v i32v_sub(i32v a, i32v b) { return (int32_t)((uint32_t)a - (uint32_t)b); } /* a - b modulo 2^32 */
static inline i32v i32v_mul(i32v a, i32v b) { return (int32_t)((uint32_t)a * (uint32_t)b); } /* a · b modulo 2^32 */
static inline i32v i32v_min(i32v a, i32v b) { return a < b ? a : b; } /* the smaller */
static inline i32v i32v_max(i32v a, i32v b) { return a > b ? a : b; } /* the larger */
static inline i32v i32v_abs(i32v a) { return a < 0 ? (int32_t)(0U - (uint32_t)a) : a; } /* |a|; INT32_MIN stays */
static inline u32v u32v_add(u32v a, u32v b) { return a + b; } /* a + b modulo 2^32 */
static inline u32v u32v_sub(u32v a, u32v b) { return a - b; } /* a - b modulo 2^32 */
static inline u32v u32v_mul(u32v a, u32v b) { return a * b; } /* a · b modulo 2^32 */
static inline u32v u32v_min(u32v a, u32v b) { return a < b ? a : b; } /* the smaller */
static inline u32v u32v_max(u32v a, u32v b) { return a > b ? a : b; } /* the larger */

/* ---- bits -------------------------------------------------------------------------------------- */

static inline u32v u32v_and(u32v a, u32v b) { return a & b; } /* a and b */
static inline u32v u32v_or(u32v a, u32v b) { return a | b; } /* a or b */
static inline u32v u32v_xor(u32v a, u32v b) { return a ^ b; } /* a exclusive-or b */
static inline u32v u32v_andnot(u32v a, u32v b) { return a & ~b; } /* a and not b */
static inline u32v u32v_not(u32v a) { return ~a; } /* all bits flipped */
static inline u32v u32v_shl(u32v a, unsigned n) { return a << n; } /* a << n, n < 32 */
static inline u32v u32v_shr(u32v a, unsigned n) { return a >> n; } /* a >> n, zeros from above, n < 32 */
static inline i32v i32v_sar(i32v a, unsigned n) { return a >> n; } /* a >> n, signs from above, n < 32 */
static inline u32v u32v_shlv(u32v a, u32v n) { return n < 32 ? a << n : 0; } /* a << n by lane; 0 from n = 32 */
static inline u32v u32v_shrv(u32v a, u32v n) { return n < 32 ? a >> n : 0; } /* a >> n by lane; 0 from n = 32 */
static inline u32v u32v_popcount(u32v a) { return (uint32_t)__builtin_popcount(a); } /* bits set */
static inline u32v u32v_clz(u32v a) { return a != 0 ? (uint32_t)__builtin_clz(a) : 32; } /* zeros above the highest bit; 32 of 0 */

/* ---- comparisons, select, conversions ---------------------------------------------------------- */

static inline mask32 f32v_eq(f32v a, f32v b) { return a == b; } /* a = b; false with NaN */
static inline mask32 f32v_ne(f32v a, f32v b) { return a != b; } /* not a = b; true with NaN */
static inline mask32 f32v_lt(f32v a, f32v b) { return a < b; } /* a < b; false with NaN */
static inline mask32 f32v_le(f32v a, f32v b) { return a <= b; } /* a <= b; false with NaN */
static inline mask32 f32v_gt(f32v a, f32v b) { return a > b; } /* a > b; false with NaN */
static inline mask32 f32v_ge(f32v a, f32v b) { return a >= b; } /* a >= b; false with NaN */
static inline mask32 i32v_eq(i32v a, i32v b) { return a == b; } /* a = b */
static inline mask32 i32v_ne(i32v a, i32v b) { return a != b; } /* a != b */
static inline mask32 i32v_lt(i32v a, i32v b) { return a < b; } /* a < b, signed */
static inline mask32 i32v_le(i32v a, i32v b) { return a <= b; } /* a <= b, signed */
static inline mask32 i32v_gt(i32v a, i32v b) { return a > b; } /* a > b, signed */
static inline mask32 i32v_ge(i32v a, i32v b) { return a >= b; } /* a >= b, signed */
static inline mask32 u32v_eq(u32v a, u32v b) { return a == b; } /* a = b */
static inline mask32 u32v_ne(u32v a, u32v b) { return a != b; } /* a != b */
static inline mask32 u32v_lt(u32v a, u32v b) { return a < b; } /* a < b, unsigned */
static inline mask32 u32v_le(u32v a, u32v b) { return a <= b; } /* a <= b, unsigned */
static inline mask32 u32v_gt(u32v a, u32v b) { return a > b; } /* a > b, unsigned */
static inline mask32 u32v_ge(u32v a, u32v b) { return a >= b; } /* a >= b, unsigned */
static inline f32v f32v_select(mask32 m, f32v a, f32v b) { return m ? a : b; } /* a where m, else b */
static inline i32v i32v_select(mask32 m, i32v a, i32v b) { return m ? a : b; } /* a where m, else b */
static inline u32v u32v_select(mask32 m, u32v a, u32v b) { return m ? a : b; } /* a where m, else b */
static inline i32v i32v_from_u32(u32v a) { return (int32_t)a; } /* the same bits */
static inline u32v u32v_from_i32(i32v a) { return (uint32_t)a; } /* the same bits */
static inline u32v u32v_bits_of_f32(f32v a) { uint32_t u; memcpy(&u, &a, sizeof u); return u; } /* the same bits */
static inline f32v f32v_from_bits(u32v a) { float f; memcpy(&f, &a, sizeof f); return f; } /* the same bits */
static inline f32v f32v_from_i32(i32v a) { return (float)a; } /* nearest float */
static inline f32v f32v_from_u32(u32v a) { return (float)a; } /* nearest float, correctly rounded */
static inline i32v i32v_truncate(f32v a) { return a >= -0x1p31f && a < 0x1p31f ? (int32_t)a : INT32_MIN; } /* towards zero; INT32_MIN where it does not fit, also for NaN */
static inline i32v i32v_round(f32v a) { return a >= -0x1p31f && a < 0x1p31f ? (int32_t)rintf(a) : INT32_MIN; } /* to nearest, ties to even; INT32_MIN where it does not fit, also for NaN */

/* ---- gather, scatter, pack, permute ------------------------------------------------------------ */

static inline f32v f32v_gather(const float *p, u32v i) { return p[i]; } /* p[i], i < 2^31 */
static inline i32v i32v_gather(const int32_t *p, u32v i) { return p[i]; } /* p[i], i < 2^31 */
static inline u32v u32v_gather(const uint32_t *p, u32v i) { return p[i]; } /* p[i], i < 2^31 */
static inline f32v f32v_gather_masked(const float *p, u32v i, mask32 m, f32v other) { return m ? p[i] : other; } /* p[i] where m, else other, i < 2^31; other memory is not touched */
static inline u32v u32v_gather_masked(const uint32_t *p, u32v i, mask32 m, u32v other) { return m ? p[i] : other; } /* p[i] where m, else other, i < 2^31; other memory is not touched */
static inline void f32v_scatter_masked(float *p, u32v i, f32v v, mask32 m) { if (m) p[i] = v; } /* p[i] = v where m, i < 2^31; the highest lane wins */
static inline void u32v_scatter_masked(uint32_t *p, u32v i, u32v v, mask32 m) { if (m) p[i] = v; } /* p[i] = v where m, i < 2^31; the highest lane wins */
static inline size_t f32v_pack(float *p, f32v v, mask32 m) { *p = v; return m; } /* the lanes in m one after the other; returns how many; up to SIMD_LANES elements of p are overwritten */
static inline size_t i32v_pack(int32_t *p, i32v v, mask32 m) { *p = v; return m; } /* the lanes in m one after the other; returns how many; up to SIMD_LANES elements of p are overwritten */
static inline size_t u32v_pack(uint32_t *p, u32v v, mask32 m) { *p = v; return m; } /* the lanes in m one after the other; returns how many; up to SIMD_LANES elements of p are overwritten */
static inline f32v f32v_compress(f32v v, mask32 m) { return m ? v : 0.0f; } /* the lanes in m moved to the front, then zeros */
static inline u32v u32v_compress(u32v v, mask32 m) { return m ? v : 0; } /* the lanes in m moved to the front, then zeros */
static inline f32v f32v_expand(f32v v, mask32 m) { return m ? v : 0.0f; } /* lane k goes to the k-th lane in m, others are 0 */
static inline u32v u32v_expand(u32v v, mask32 m) { return m ? v : 0; } /* lane k goes to the k-th lane in m, others are 0 */
static inline f32v f32v_permute(f32v v, u32v i) { (void)i; return v; } /* lane i[lane] of v, i < SIMD_LANES */
static inline u32v u32v_permute(u32v v, u32v i) { (void)i; return v; } /* lane i[lane] of v, i < SIMD_LANES */
static inline f32v f32v_permute2(f32v a, f32v b, u32v i) { return i == 0 ? a : b; } /* lane i[lane] of the lanes of a and then those of b, i < 2 * SIMD_LANES */
static inline f32v f32v_previous(f32v a, f32v b) { (void)b; return a; } /* lanes of b moved up by one, the last of a in front */
static inline u32v u32v_previous(u32v a, u32v b) { (void)b; return a; } /* lanes of b moved up by one, the last of a in front */
static inline f32v f32v_next(f32v b, f32v c) { (void)b; return c; } /* lanes of b moved down by one, then the first of c */
static inline u32v u32v_next(u32v b, u32v c) { (void)b; return c; } /* lanes of b moved down by one, then the first of c */
static inline u32v u32v_even(u32v a, u32v b) { (void)b; return a; } /* lanes 0, 2, 4 … of a, then of b */
static inline u32v u32v_odd(u32v a, u32v b) { (void)a; return b; } /* lanes 1, 3, 5 … of a, then of b */
static inline mask32 u32v_first_of_equals(u32v v, mask32 m) { (void)v; return m; } /* lanes in m whose value no earlier lane in m has */
static inline mask32 u32v_last_of_equals(u32v v, mask32 m) { (void)v; return m; } /* lanes in m whose value no later lane in m has */

/* ---- across a vector, in the order of the lanes ------------------------------------------------ */

static inline float f32v_sum(f32v v) { return v; } /* ((v0 + v1) + v2) + …: depends on SIMD_LANES, see simd_sum16 */
static inline float f32v_lowest(f32v v) { return v; } /* min(v0, min(v1, min(v2, …))), f32v_min's */
static inline float f32v_highest(f32v v) { return v; } /* max(v0, max(v1, max(v2, …))), f32v_max's */
static inline uint32_t u32v_sum(u32v v) { return v; } /* sum modulo 2^32 */
static inline uint32_t u32v_lowest(u32v v) { return v; } /* the smallest lane */
static inline uint32_t u32v_highest(u32v v) { return v; } /* the largest lane */
static inline u32v u32v_rank(uint64_t bits) { return (uint32_t)(bits & 1); } /* lane i: how many of the bits 0 … i are set */
static inline u32v u32v_running_sum(u32v v) { return v; } /* lane i: v0 + … + vi modulo 2^32 */

/* ---- 8-bit lanes: SIMD_LANES8 of them ---------------------------------------------------------- */

static inline u8v u8v_set(uint8_t x) { u8v v; memset(v.lane, x, 8); return v; } /* x in every lane */
static inline u8v u8v_load(const uint8_t *p) { u8v v; memcpy(v.lane, p, 8); return v; } /* p[lane] */
static inline u8v u8v_load_first(const uint8_t *p, size_t n) { u8v v = {{0}}; memcpy(v.lane, p, n < 8 ? n : 8); return v; } /* p[lane] for lane < n, else 0; memory after p[n - 1] is not touched */
static inline void u8v_store(uint8_t *p, u8v v) { memcpy(p, v.lane, 8); } /* p[lane] */
static inline mask8 u8v_eq(u8v a, u8v b) { mask8 m = {0}; for (unsigned i = 0; i < 8; i++) m.bits |= (uint8_t)((a.lane[i] == b.lane[i]) << i); return m; } /* a = b */
static inline mask8 u8v_ge(u8v a, u8v b) { mask8 m = {0}; for (unsigned i = 0; i < 8; i++) m.bits |= (uint8_t)((a.lane[i] >= b.lane[i]) << i); return m; } /* a >= b, unsigned */
static inline mask8 u8v_gt(u8v a, u8v b) { mask8 m = {0}; for (unsigned i = 0; i < 8; i++) m.bits |= (uint8_t)((a.lane[i] > b.lane[i]) << i); return m; } /* a > b, unsigned */
static inline void mask8_store(uint8_t *p, mask8 m) { *p = m.bits; } /* SIMD_LANES8 / 8 bytes: lane i is bit i % 8 of byte i / 8 */
static inline mask8 mask8_load(const uint8_t *p) { return (mask8){*p}; } /* the inverse of mask8_store */
static inline u8v u8v_from_mask(mask8 m) { u8v v; for (unsigned i = 0; i < 8; i++) v.lane[i] = (uint8_t)(0U - (m.bits >> i & 1U)); return v; } /* 255 where m, else 0 */

/* ---- bit rows: words of 64 ---------------------------------------------------------------------- */

static inline size_t bits_positions_u32(uint32_t *p, uint64_t word, uint32_t base) { size_t n = 0; for (; word != 0; word &= word - 1) p[n++] = base + (uint32_t)__builtin_ctzll(word); return n; } /* base + position of every set bit, rising; returns how many; up to 64 elements of p are overwritten */
static inline size_t bits_positions_u16(uint16_t *p, uint64_t word, uint32_t base) { size_t n = 0; for (; word != 0; word &= word - 1) p[n++] = (uint16_t)(base + (uint32_t)__builtin_ctzll(word)); return n; } /* the same in 16 bits */
static inline uint64_t bits_extract(uint64_t word, uint64_t mask) { uint64_t r = 0; for (unsigned k = 0; mask != 0; mask &= mask - 1, k++) r |= (word >> __builtin_ctzll(mask) & 1) << k; return r; } /* the bits of word under mask, one after the other from bit 0 */
static inline uint64_t bits_evens(uint64_t word) { return simd_evens(word); } /* bits 0, 2, 4 … of word, one after the other */

#endif
