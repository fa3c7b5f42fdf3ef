/* SPDX-License-Identifier: Apache-2.0
 *
 * Every operation of the vocabulary with its shape, once: the wrappers of check_simd.simd.c, the formulas of
 * oracle/simd_oracle.c and the inputs of check_simd.c all follow this list, so that a new operation is one
 * row here and one formula there. A test holds the list against simd_c.h.
 *
 * X(name, form, result, arguments): forms are
 *   V  a vector or a scalar comes back and is stored     C  a count, a bool or a word comes back
 *   S  the first argument is where it stores             T  the same, a table that all vectors share
 *   P  stores, and a count comes back: what lies behind the count may be anything
 * with the number of arguments behind the letter. Kinds of a vector: f floats, g floats whose NaN keep their
 * bits, i and u integers, m a mask, b bytes, w a mask of bytes. Of u also: d often equal, j an index of a
 * table, k the same where the mask is set and outside of everything where not, l a lane, q one of two
 * vectors' lanes. Scalars: sf si su sb, sh a shift, sn a size, sw a word. px a pointer to a vector of x, tx a
 * table of x. Results of P: pu, p32 and p16 (64 numbers).
 */
#ifndef TESTS_CHECK_SIMD_LIST_H
#define TESTS_CHECK_SIMD_LIST_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define CHECK_SIMD_MASKS(X) \
    X(mask32_none, V0, m, _, _, _, _) X(mask32_all, V0, m, _, _, _, _) X(mask32_first, V1, m, sn, _, _, _) \
    X(mask32_and, V2, m, m, m, _, _) X(mask32_or, V2, m, m, m, _, _) X(mask32_xor, V2, m, m, m, _, _) \
    X(mask32_andnot, V2, m, m, m, _, _) X(mask32_not, V1, m, m, _, _, _) X(mask32_any, C1, n, m, _, _, _) \
    X(mask32_every, C1, n, m, _, _, _) X(mask32_count, C1, n, m, _, _, _) X(mask32_lowest, C1, n, m, _, _, _) \
    X(mask32_bits, C1, n, m, _, _, _) X(mask32_of_bits, V1, m, sw, _, _, _)

#define CHECK_SIMD_MEMORY(X) \
    X(f32v_set, V1, g, sf, _, _, _) X(i32v_set, V1, i, si, _, _, _) X(u32v_set, V1, u, su, _, _, _) \
    X(u32v_iota, V1, u, su, _, _, _) X(i32v_iota, V1, i, si, _, _, _) \
    X(f32v_load, V1, g, pf, _, _, _) X(i32v_load, V1, i, pi, _, _, _) X(u32v_load, V1, u, pu, _, _, _) \
    X(u32v_load_any, V1, u, pu, _, _, _) \
    X(f32v_load_aligned, V1, g, pf, _, _, _) X(i32v_load_aligned, V1, i, pi, _, _, _) \
    X(u32v_load_aligned, V1, u, pu, _, _, _) X(f32v_load_masked, V2, g, pf, m, _, _) \
    X(i32v_load_masked, V2, i, pi, m, _, _) X(u32v_load_masked, V2, u, pu, m, _, _) \
    X(f32v_store, S1, g, f, _, _, _) X(i32v_store, S1, i, i, _, _, _) X(u32v_store, S1, u, u, _, _, _) \
    X(f32v_store_aligned, S1, g, f, _, _, _) X(i32v_store_aligned, S1, i, i, _, _, _) \
    X(u32v_store_far, S1, u, u, _, _, _) \
    X(u32v_store_aligned, S1, u, u, _, _, _) X(f32v_store_masked, S2, g, f, m, _, _) \
    X(i32v_store_masked, S2, i, i, m, _, _) X(u32v_store_masked, S2, u, u, m, _, _)

#define CHECK_SIMD_ARITHMETIC(X) \
    X(f32v_add, V2, f, f, f, _, _) X(f32v_sub, V2, f, f, f, _, _) X(f32v_mul, V2, f, f, f, _, _) \
    X(f32v_div, V2, f, f, f, _, _) X(f32v_fma, V3, f, f, f, f, _) X(f32v_sqrt, V1, f, f, _, _, _) \
    X(f32v_min, V2, f, f, f, _, _) X(f32v_max, V2, f, f, f, _, _) X(f32v_abs, V1, g, f, _, _, _) \
    X(f32v_neg, V1, g, f, _, _, _) X(f32v_copysign, V2, g, f, f, _, _) \
    X(i32v_add, V2, i, i, i, _, _) X(i32v_sub, V2, i, i, i, _, _) X(i32v_mul, V2, i, i, i, _, _) \
    X(i32v_min, V2, i, i, i, _, _) X(i32v_max, V2, i, i, i, _, _) X(i32v_abs, V1, i, i, _, _, _) \
    X(u32v_add, V2, u, u, u, _, _) X(u32v_sub, V2, u, u, u, _, _) X(u32v_mul, V2, u, u, u, _, _) \
    X(u32v_min, V2, u, u, u, _, _) X(u32v_max, V2, u, u, u, _, _) \
    X(u32v_and, V2, u, u, u, _, _) X(u32v_or, V2, u, u, u, _, _) X(u32v_xor, V2, u, u, u, _, _) \
    X(u32v_andnot, V2, u, u, u, _, _) X(u32v_not, V1, u, u, _, _, _) X(u32v_shl, V2, u, u, sh, _, _) \
    X(u32v_shr, V2, u, u, sh, _, _) X(i32v_sar, V2, i, i, sh, _, _) X(u32v_shlv, V2, u, u, u, _, _) \
    X(u32v_shrv, V2, u, u, u, _, _) X(u32v_popcount, V1, u, u, _, _, _) X(u32v_clz, V1, u, u, _, _, _)

#define CHECK_SIMD_COMPARE(X) \
    X(f32v_eq, V2, m, f, f, _, _) X(f32v_ne, V2, m, f, f, _, _) X(f32v_lt, V2, m, f, f, _, _) \
    X(f32v_le, V2, m, f, f, _, _) X(f32v_gt, V2, m, f, f, _, _) X(f32v_ge, V2, m, f, f, _, _) \
    X(i32v_eq, V2, m, i, i, _, _) X(i32v_ne, V2, m, i, i, _, _) X(i32v_lt, V2, m, i, i, _, _) \
    X(i32v_le, V2, m, i, i, _, _) X(i32v_gt, V2, m, i, i, _, _) X(i32v_ge, V2, m, i, i, _, _) \
    X(u32v_eq, V2, m, u, u, _, _) X(u32v_ne, V2, m, u, u, _, _) X(u32v_lt, V2, m, u, u, _, _) \
    X(u32v_le, V2, m, u, u, _, _) X(u32v_gt, V2, m, u, u, _, _) X(u32v_ge, V2, m, u, u, _, _) \
    X(f32v_select, V3, g, m, f, f, _) X(i32v_select, V3, i, m, i, i, _) X(u32v_select, V3, u, m, u, u, _) \
    X(i32v_from_u32, V1, i, u, _, _, _) X(u32v_from_i32, V1, u, i, _, _, _) X(u32v_bits_of_f32, V1, u, f, _, _, _) \
    X(f32v_from_bits, V1, g, u, _, _, _) X(f32v_from_i32, V1, f, i, _, _, _) X(f32v_from_u32, V1, f, u, _, _, _) \
    X(i32v_truncate, V1, i, f, _, _, _) X(i32v_round, V1, i, f, _, _, _)

#define CHECK_SIMD_MOVES(X) \
    X(f32v_gather, V2, g, tf, j, _, _) X(i32v_gather, V2, i, ti, j, _, _) X(u32v_gather, V2, u, tu, j, _, _) \
    X(f32v_gather_masked, V4, g, tf, k, m, f) X(u32v_gather_masked, V4, u, tu, k, m, u) \
    X(f32v_scatter_masked, T3, tf, k, f, m, _) X(u32v_scatter_masked, T3, tu, k, u, m, _) \
    X(f32v_pack, P2, g, f, m, _, _) X(i32v_pack, P2, i, i, m, _, _) X(u32v_pack, P2, u, u, m, _, _) \
    X(f32v_compress, V2, g, f, m, _, _) X(u32v_compress, V2, u, u, m, _, _) X(f32v_expand, V2, g, f, m, _, _) \
    X(u32v_expand, V2, u, u, m, _, _) X(f32v_permute, V2, g, f, l, _, _) X(u32v_permute, V2, u, u, l, _, _) \
    X(f32v_permute2, V3, g, f, f, q, _) \
    X(f32v_previous, V2, g, f, f, _, _) X(u32v_previous, V2, u, u, u, _, _) X(f32v_next, V2, g, f, f, _, _) \
    X(u32v_next, V2, u, u, u, _, _) X(u32v_even, V2, u, u, u, _, _) \
    X(u32v_odd, V2, u, u, u, _, _) X(u32v_first_of_equals, V2, m, d, m, _, _) X(u32v_last_of_equals, V2, m, d, m, _, _) \
    X(f32v_sum, V1, sf, f, _, _, _) X(f32v_lowest, V1, sf, f, _, _, _) X(f32v_highest, V1, sf, f, _, _, _) \
    X(u32v_sum, V1, su, u, _, _, _) X(u32v_lowest, V1, su, u, _, _, _) X(u32v_highest, V1, su, u, _, _, _) \
    X(u32v_rank, V1, u, sw, _, _, _) X(u32v_running_sum, V1, u, u, _, _, _)

#define CHECK_SIMD_BYTES(X) \
    X(u8v_set, V1, b, sb, _, _, _) X(u8v_load, V1, b, pb, _, _, _) X(u8v_load_first, V2, b, pb, sn, _, _) \
    X(u8v_store, S1, b, b, _, _, _) X(u8v_eq, V2, w, b, b, _, _) X(u8v_ge, V2, w, b, b, _, _) X(u8v_gt, V2, w, b, b, _, _) \
    X(mask8_store, S1, w, w, _, _, _) X(mask8_load, V1, w, pw, _, _, _) X(u8v_from_mask, V1, b, w, _, _, _) \
    X(bits_positions_u32, P2, p32, sw, su, _, _) X(bits_positions_u16, P2, p16, sw, su, _, _) \
    X(bits_extract, C2, n, sw, sw, _, _) X(bits_evens, C1, n, sw, _, _, _) \
    X(bits_starts, C2, n, sw, sw, _, _) X(bits_ends, C2, n, sw, sw, _, _) X(bits_edges, C2, n, sw, sw, _, _) \
    X(bits_count, C1, n, sw, _, _, _) X(bits_lowest, C1, n, sw, _, _, _) X(bits_highest, C1, n, sw, _, _, _)

#define CHECK_SIMD_LIST(X) CHECK_SIMD_MASKS(X) CHECK_SIMD_MEMORY(X) CHECK_SIMD_ARITHMETIC(X) \
    CHECK_SIMD_COMPARE(X) CHECK_SIMD_MOVES(X) CHECK_SIMD_BYTES(X)
/* clang-format on */

#define CHECK_SIMD_NUMBER(name, form, r, a, b, c, d) CHECK_SIMD_##name,
enum { CHECK_SIMD_LIST(CHECK_SIMD_NUMBER) CHECK_SIMD_OPERATIONS };

/* Elements of a table for gather and scatter; few, so that scatters collide. */
enum { CHECK_SIMD_TABLE = 256 };

/* Applies an operation to vectors 0 … vectors - 1 of the arrays x; results go to `out`, counts to `count`. */
typedef void slc_check_simd_operation(void *out, uint64_t *count, const void *const *x, size_t vectors);

/* What check_simd.simd.c exports for a target. */
typedef struct slc_check_simd {
    const char *target;
    size_t (*lanes)(void), (*lanes8)(void), (*max_lanes)(void);
    slc_check_simd_operation *const *operation;
    /* Loops over n elements in the manner of a kernel: out[i] = in[i] + 1 with masked loads and stores; the
     * odd ones of in[] packed into out[], with whole loads; returns how many. */
    void (*increment)(uint32_t *out, const uint32_t *in, size_t n);
    size_t (*odd)(uint32_t *out, const uint32_t *in, size_t n);
} slc_check_simd;

#endif
