/* SPDX-License-Identifier: Apache-2.0
 *
 * Every operation of the vocabulary as a loop over arrays, once for each target. Masks come from words (0 or
 * not) and go back as 0 and 1; what the operations mean is not known here.
 */
#include "check_simd_list.h"
#include "simd/simd.h"

/* Where vector v begins. */
#define AT_f(p, v)   ((float *)(p) + (v)*SIMD_LANES)
#define AT_g(p, v)   AT_f(p, v)
#define AT_i(p, v)   ((int32_t *)(p) + (v)*SIMD_LANES)
#define AT_u(p, v)   ((uint32_t *)(p) + (v)*SIMD_LANES)
#define AT_b(p, v)   ((uint8_t *)(p) + (v)*SIMD_LANES8)
#define AT_w(p, v)   ((uint8_t *)(p) + (v) * (SIMD_LANES8 / 8))
#define AT_p32(p, v) ((uint32_t *)(p) + (v)*64)
#define AT_p16(p, v) ((uint16_t *)(p) + (v)*64)
#define AT_tf(p, v)  ((float *)(p))
#define AT_tu(p, v)  ((uint32_t *)(p))

/* Arguments by kind. */
#define IN_f(p, v)  f32v_load((const float *)(p) + (v)*SIMD_LANES)
#define IN_i(p, v)  i32v_load((const int32_t *)(p) + (v)*SIMD_LANES)
#define IN_u(p, v)  u32v_load((const uint32_t *)(p) + (v)*SIMD_LANES)
#define IN_m(p, v)  u32v_ne(IN_u(p, v), u32v_set(0))
#define IN_d(p, v)  IN_u(p, v)
#define IN_j(p, v)  IN_u(p, v)
#define IN_k(p, v)  IN_u(p, v)
#define IN_l(p, v)  IN_u(p, v)
#define IN_q(p, v)  IN_u(p, v)
#define IN_b(p, v)  u8v_load((const uint8_t *)(p) + (v)*SIMD_LANES8)
#define IN_w(p, v)  mask8_load((const uint8_t *)(p) + (v) * (SIMD_LANES8 / 8))
#define IN_sf(p, v) ((const float *)(p))[v]
#define IN_si(p, v) ((const int32_t *)(p))[v]
#define IN_su(p, v) ((const uint32_t *)(p))[v]
#define IN_sh(p, v) IN_su(p, v)
#define IN_sb(p, v) ((const uint8_t *)(p))[v]
#define IN_sn(p, v) ((size_t)((const uint64_t *)(p))[v])
#define IN_sw(p, v) ((const uint64_t *)(p))[v]
#define IN_pf(p, v) ((const float *)(p) + (v)*SIMD_LANES)
#define IN_pi(p, v) ((const int32_t *)(p) + (v)*SIMD_LANES)
#define IN_pu(p, v) ((const uint32_t *)(p) + (v)*SIMD_LANES)
#define IN_pb(p, v) ((const uint8_t *)(p) + (v)*SIMD_LANES8)
#define IN_pw(p, v) ((const uint8_t *)(p) + (v) * (SIMD_LANES8 / 8))
#define IN_tf(p, v) ((const float *)(p))
#define IN_ti(p, v) ((const int32_t *)(p))
#define IN_tu(p, v) ((const uint32_t *)(p))

/* Does every way of looking at a mask say that these lanes are set? */
static inline bool reads_as(mask32 m, uint64_t lanes)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - SIMD_LANES);
    return mask32_bits(m) == lanes && mask32_count(m) == bits_count(lanes) && mask32_any(m) == (lanes != 0) &&
           mask32_every(m) == (lanes == all) &&
           mask32_lowest(m) == (lanes != 0 ? bits_lowest(lanes) : SIMD_LANES);
}

/* A mask as lanes of 0 and 1. Spoiled where the mask, or what is not in it, holds more than its lanes show:
 * such bits do no harm in a select, and all the more in what is done with the mask next. */
static inline void store_mask(uint32_t *to, mask32 m)
{
    u32v_store(to, u32v_select(m, u32v_set(1), u32v_set(0)));
    uint64_t lanes = 0;
    for (size_t i = 0; i < SIMD_LANES; i++) {
        lanes |= (uint64_t)(to[i] & 1U) << i;
    }
    if (!reads_as(m, lanes) || !reads_as(mask32_not(m), ~lanes & (~(uint64_t)0 >> (64 - SIMD_LANES)))) {
        to[0] ^= 2;
    }
}

/* Results by kind. */
#define OUT_f(p, v, value)  f32v_store(AT_f(p, v), value)
#define OUT_g(p, v, value)  OUT_f(p, v, value)
#define OUT_i(p, v, value)  i32v_store(AT_i(p, v), value)
#define OUT_u(p, v, value)  u32v_store(AT_u(p, v), value)
#define OUT_m(p, v, value)  store_mask(AT_u(p, v), value)
#define OUT_b(p, v, value)  u8v_store(AT_b(p, v), value)
#define OUT_w(p, v, value)  mask8_store(AT_w(p, v), value)
#define OUT_sf(p, v, value) ((void)(((float *)(p))[v] = (value)))
#define OUT_su(p, v, value) ((void)(((uint32_t *)(p))[v] = (value)))

#define ARGUMENTS_1(a, b, c, d) IN_##a(x[0], v)
#define ARGUMENTS_2(a, b, c, d) IN_##a(x[0], v), IN_##b(x[1], v)
#define ARGUMENTS_3(a, b, c, d) IN_##a(x[0], v), IN_##b(x[1], v), IN_##c(x[2], v)
#define ARGUMENTS_4(a, b, c, d) IN_##a(x[0], v), IN_##b(x[1], v), IN_##c(x[2], v), IN_##d(x[3], v)

#define LOOP(name, statement)                                                                                \
    static void name##_all(void *out, uint64_t *count, const void *const *x, size_t vectors)                 \
    {                                                                                                        \
        (void)out, (void)count, (void)x;                                                                     \
        for (size_t v = 0; v < vectors; v++) {                                                               \
            statement;                                                                                       \
        }                                                                                                    \
    }
#define FORM_V0(name, r, a, b, c, d)       LOOP(name, OUT_##r(out, v, name()))
#define FORM_V1(name, r, a, b, c, d)       LOOP(name, OUT_##r(out, v, name(ARGUMENTS_1(a, b, c, d))))
#define FORM_V2(name, r, a, b, c, d)       LOOP(name, OUT_##r(out, v, name(ARGUMENTS_2(a, b, c, d))))
#define FORM_V3(name, r, a, b, c, d)       LOOP(name, OUT_##r(out, v, name(ARGUMENTS_3(a, b, c, d))))
#define FORM_V4(name, r, a, b, c, d)       LOOP(name, OUT_##r(out, v, name(ARGUMENTS_4(a, b, c, d))))
#define FORM_C1(name, r, a, b, c, d)       LOOP(name, count[v] = name(ARGUMENTS_1(a, b, c, d)))
#define FORM_C2(name, r, a, b, c, d)       LOOP(name, count[v] = name(ARGUMENTS_2(a, b, c, d)))
#define FORM_S1(name, r, a, b, c, d)       LOOP(name, name(AT_##r(out, v), ARGUMENTS_1(a, b, c, d)))
#define FORM_S2(name, r, a, b, c, d)       LOOP(name, name(AT_##r(out, v), ARGUMENTS_2(a, b, c, d)))
#define FORM_T3(name, r, a, b, c, d)       LOOP(name, name(AT_##r(out, v), ARGUMENTS_3(a, b, c, d)))
#define FORM_P2(name, r, a, b, c, d)       LOOP(name, count[v] = name(AT_##r(out, v), ARGUMENTS_2(a, b, c, d)))
#define WRAPPER(name, form, r, a, b, c, d) FORM_##form(name, r, a, b, c, d)
CHECK_SIMD_LIST(WRAPPER)

static size_t lanes(void)
{
    return SIMD_LANES;
}

static size_t lanes8(void)
{
    return SIMD_LANES8;
}

static size_t max_lanes(void)
{
    return SIMD_MAX_LANES;
}

static void increment(uint32_t *out, const uint32_t *in, size_t n)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const mask32 inside = mask32_first(n - i);
        u32v_store_masked(out + i, u32v_add(u32v_load_masked(in + i, inside), u32v_set(1)), inside);
    }
}

static size_t odd(uint32_t *out, const uint32_t *in, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const u32v v = u32v_load(in + i);
        const mask32 wanted = u32v_ne(u32v_and(v, u32v_set(1)), u32v_set(0));
        kept += u32v_pack(out + kept, v, mask32_and(wanted, mask32_first(n - i)));
    }
    return kept;
}

#define ROW(name, form, r, a, b, c, d) name##_all,
static slc_check_simd_operation *const operations[] = {CHECK_SIMD_LIST(ROW)};

extern const slc_check_simd SIMD_TABLE(slc_check_simd);
const slc_check_simd SIMD_TABLE(slc_check_simd) = {
    .target = SIMD_TARGET_NAME,
    .lanes = lanes,
    .lanes8 = lanes8,
    .max_lanes = max_lanes,
    .operation = operations,
    .increment = increment,
    .odd = odd,
};
