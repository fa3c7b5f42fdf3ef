/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of mathematics on vectors, written once in the words of simd_c.h. Products and sums have a fixed order and
 * no fma (which would be slow on sse4), so that every target gives the same bits. NaN, infinities, signed zeros and
 * denormal arguments and results are as in the C library; errno and the floating-point flags are not touched.
 *
 *     f32v_sin, f32v_cos, f32v_sincos   all arguments; |x| > 8192 goes through a scalar reduction and is slow
 *     f32v_atan2   f32v_exp   f32v_log   f32v_hypot   f32v_rsqrt   simd_sum16
 *
 * Their largest errors in units of the last place of the result stand in simd_math_bounds.h, and tests/check_math.c
 * asserts them. Coefficients and constants come from tools/minimax.py.
 */
#ifndef SLUICE_SIMD_MATH_H
#define SLUICE_SIMD_MATH_H

#include "simd/simd.h"
#include "simd/simd_math_bounds.h"

static inline mask32 f32v_is_nan(f32v x) { return f32v_ne(x, x); }
static inline f32v f32v_nan(void) { return f32v_from_bits(u32v_set(0x7fc00000U)); }

/* c0 + x·c1, the step of Horner's scheme, rounded twice. */
static inline f32v simd_horner(f32v c1, f32v x, float c0) { return f32v_add(f32v_mul(c1, x), f32v_set(c0)); }

/* ---- sine and cosine --------------------------------------------------------------------------- */

/* Quarter turns in x, |x| > 8192, by the method of Payne and Hanek (1983): x = m·2^e, and of 2/pi only those bits count
 * that change m·2^e·2/pi modulo 4. Returns the quadrant; the rest, at most pi/4, is *high + *low. */
static inline int32_t simd_reduce_large(float x, float *high, float *low)
{
    static const uint32_t two_over_pi[8] = {0, 0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U, 0x3c439041U, 0xfe5163abU};
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t exponent = bits >> 23 & 255U;
    if (exponent == 255) { /* infinity or NaN */
        *high = *low = x - x;
        return 0;
    }
    const uint64_t m = (bits & 0x7fffffU) | 0x800000U;
    /* The window of 96 bits begins at weight 2 of the product; the array has a zero word in front. */
    const uint32_t at = exponent - 150U - 2U + 32U, word = at / 32, shift = at % 32;
    uint64_t w[3];
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t next = word + i + 1 < 8 ? two_over_pi[word + i + 1] : 0;
        w[i] = ((uint64_t)two_over_pi[word + i] << 32 | next) << shift >> 32 & 0xffffffffU;
    }
    const uint64_t turns = (m * w[0] << 32) + m * w[1] + (m * w[2] >> 32); /* units of 2^-62 quarter turns, modulo 4 */
    const uint64_t quadrant = (turns + (1ULL << 61)) >> 62;
    const double rest = (double)(int64_t)(turns - (quadrant << 62)) * 0x1.921fb54442d18p-62;
    const double r = bits >> 31 != 0 ? -rest : rest;
    *high = (float)r;
    *low = (float)(r - (double)*high);
    return bits >> 31 != 0 ? -(int32_t)quadrant : (int32_t)quadrant;
}

/* x = quadrant·pi/2 + r + tail, |r| <= pi/4 (and a rounding), tail below r's last place. Cody and Waite (1980): pi/2 is
 * cut into pieces of 11 bits, so that their products with the quadrant, 13 bits up to |x| = 8192, are exact, and so are
 * the first two differences. */
static inline i32v simd_reduce(f32v x, f32v *r, f32v *tail)
{
    i32v quadrant = i32v_round(f32v_mul(x, f32v_set(0x1.45f306p-1f)));
    const f32v q = f32v_from_i32(quadrant);
    const f32v a = f32v_sub(f32v_sub(x, f32v_mul(q, f32v_set(0x1.92p+0f))), f32v_mul(q, f32v_set(0x1.fb4p-12f)));
    const f32v b = f32v_mul(q, f32v_set(0x1.444p-24f));
    const f32v s = f32v_sub(a, b), a2 = f32v_add(s, b); /* s + e = a - b exactly (Knuth's sum of two) */
    const f32v e = f32v_sub(f32v_sub(a, a2), f32v_sub(b, f32v_sub(a2, s)));
    const f32v u = f32v_sub(e, f32v_mul(q, f32v_set(0x1.68cp-39f)));
    *r = f32v_add(s, u);
    *tail = f32v_sub(f32v_sub(u, f32v_sub(*r, s)), f32v_mul(q, f32v_set(0x1.1a6264p-54f)));
    const mask32 large = mask32_not(f32v_le(f32v_abs(x), f32v_set(8192.0f)));
    if (mask32_any(large)) {
        float xs[SIMD_MAX_LANES], high[SIMD_MAX_LANES], low[SIMD_MAX_LANES];
        int32_t quadrants[SIMD_MAX_LANES];
        f32v_store(xs, x);
        f32v_store(high, *r);
        f32v_store(low, *tail);
        i32v_store(quadrants, quadrant);
        for (size_t i = 0; i < SIMD_LANES; i++) {
            if (!(fabsf(xs[i]) <= 8192.0f)) {
                quadrants[i] = simd_reduce_large(xs[i], &high[i], &low[i]);
            }
        }
        *r = f32v_load(high);
        *tail = f32v_load(low);
        quadrant = i32v_load(quadrants);
    }
    return quadrant;
}

/* Both at once, for little more than the price of one. */
static inline void f32v_sincos(f32v x, f32v *sine, f32v *cosine)
{
    f32v r, tail;
    const u32v quadrant = u32v_from_i32(simd_reduce(x, &r, &tail));
    const f32v s = f32v_mul(r, r);
    const f32v p = simd_horner(simd_horner(f32v_set(-0x1.9952fap-13f), s, 0x1.110776p-7f), s, -0x1.555546p-3f);
    const f32v q = simd_horner(simd_horner(f32v_set(0x1.99e80cp-16f), s, -0x1.6c0c28p-10f), s, 0x1.55554ap-5f);
    /* sin(r + t) = r + (r³·P(r²) + t); cos(r + t) = 1 - (r²/2 - (r⁴·Q(r²) - r·t)). */
    const f32v sin_r = f32v_add(r, f32v_add(f32v_mul(f32v_mul(r, s), p), tail));
    const f32v rest = f32v_sub(f32v_mul(f32v_mul(s, s), q), f32v_mul(r, tail));
    const f32v cos_r = f32v_sub(f32v_set(1.0f), f32v_sub(f32v_mul(s, f32v_set(0.5f)), rest));
    const mask32 odd = u32v_ne(u32v_and(quadrant, u32v_set(1)), u32v_set(0));
    const u32v sign_s = u32v_shl(u32v_and(quadrant, u32v_set(2)), 30);
    const u32v sign_c = u32v_shl(u32v_and(u32v_add(quadrant, u32v_set(1)), u32v_set(2)), 30);
    const f32v turned = f32v_from_bits(u32v_xor(u32v_bits_of_f32(f32v_select(odd, cos_r, sin_r)), sign_s));
    /* So small an x is its own sine; this keeps -0 and denormals as they are. */
    *sine = f32v_select(f32v_lt(f32v_abs(x), f32v_set(0x1p-12f)), x, turned);
    *cosine = f32v_from_bits(u32v_xor(u32v_bits_of_f32(f32v_select(odd, sin_r, cos_r)), sign_c));
}

static inline f32v f32v_sin(f32v x)
{
    f32v sine, cosine;
    f32v_sincos(x, &sine, &cosine);
    return sine;
}

static inline f32v f32v_cos(f32v x)
{
    f32v sine, cosine;
    f32v_sincos(x, &sine, &cosine);
    return cosine;
}

/* ---- arc tangent ------------------------------------------------------------------------------- */

/* The angle of the point (x, y), -pi … pi, all four quadrants and the signs of zeros as in atan2f. */
static inline f32v f32v_atan2(f32v y, f32v x)
{
    const f32v ax = f32v_abs(x), ay = f32v_abs(y), zero = f32v_set(0.0f);
    const mask32 steep = f32v_gt(ay, ax);
    const mask32 left = u32v_ne(u32v_shr(u32v_bits_of_f32(x), 31), u32v_set(0));
    const f32v least = f32v_select(steep, ax, ay), most = f32v_select(steep, ay, ax);
    f32v q = f32v_div(least, most);
    q = f32v_select(f32v_eq(most, zero), zero, q);
    q = f32v_select(f32v_eq(least, f32v_set(INFINITY)), f32v_set(1.0f), q);
    const f32v s = f32v_mul(q, q);
    f32v p = f32v_set(-0x1.d44ef6p-10f);
    p = simd_horner(p, s, 0x1.64e3ep-7f);
    p = simd_horner(p, s, -0x1.fe43fp-6f);
    p = simd_horner(p, s, 0x1.da870ep-5f);
    p = simd_horner(p, s, -0x1.581e1ap-4f);
    p = simd_horner(p, s, 0x1.c0907ep-4f);
    p = simd_horner(p, s, -0x1.2420aap-3f);
    p = simd_horner(p, s, 0x1.9991e4p-3f);
    p = simd_horner(p, s, -0x1.55553ep-2f);
    const f32v a = f32v_add(q, f32v_mul(f32v_mul(q, s), p));
    /* The octants: a, pi/2 - a, pi/2 + a, pi - a, with the quarter turns in two pieces. */
    const f32v high = f32v_select(steep, f32v_set(0x1.921fb6p+0f), f32v_select(left, f32v_set(0x1.921fb6p+1f), zero));
    const f32v low = f32v_select(steep, f32v_set(-0x1.777a5cp-25f), f32v_select(left, f32v_set(-0x1.777a5cp-24f), zero));
    const f32v signed_a = f32v_select(mask32_xor(steep, left), f32v_neg(a), a);
    const f32v angle = f32v_copysign(f32v_add(high, f32v_add(low, signed_a)), y);
    return f32v_select(mask32_or(f32v_is_nan(x), f32v_is_nan(y)), f32v_nan(), angle);
}

/* ---- exponential and logarithm ----------------------------------------------------------------- */

static inline f32v f32v_exp(f32v x)
{
    /* Beyond these ends the result is infinite or zero. The order of the arguments lets NaN through. */
    const f32v c = f32v_min(f32v_set(89.0f), f32v_max(f32v_set(-104.0f), x));
    const i32v n = i32v_round(f32v_mul(c, f32v_set(0x1.715476p+0f)));
    const f32v k = f32v_from_i32(n);
    const f32v r = f32v_sub(f32v_sub(c, f32v_mul(k, f32v_set(0x1.62e4p-1f))), f32v_mul(k, f32v_set(0x1.7f7d1cp-20f)));
    f32v p = f32v_set(0x1.6abbc8p-10f);
    p = simd_horner(p, r, 0x1.123d8cp-7f);
    p = simd_horner(p, r, 0x1.55585ap-5f);
    p = simd_horner(p, r, 0x1.55548cp-3f);
    p = simd_horner(p, r, 0x1.fffffcp-2f);
    const f32v e = f32v_add(f32v_set(1.0f), f32v_add(r, f32v_mul(f32v_mul(r, r), p)));
    /* 2^n in two factors: the first never leaves the normal range, the second rounds once, also to denormals. */
    const i32v half = i32v_sar(n, 1);
    const f32v scale1 = f32v_from_bits(u32v_shl(u32v_from_i32(i32v_add(half, i32v_set(127))), 23));
    const f32v scale2 = f32v_from_bits(u32v_shl(u32v_from_i32(i32v_add(i32v_sub(n, half), i32v_set(127))), 23));
    return f32v_select(f32v_is_nan(x), f32v_nan(), f32v_mul(f32v_mul(e, scale1), scale2));
}

/* The natural logarithm: -infinity of ±0, NaN below. */
static inline f32v f32v_log(f32v x)
{
    const mask32 denormal = f32v_lt(x, f32v_set(0x1p-126f));
    const u32v bits = u32v_bits_of_f32(f32v_select(denormal, f32v_mul(x, f32v_set(0x1p+23f)), x));
    /* x = 2^n·(1 + f) with 1 + f between the roots of 1/2 and 2. */
    const i32v n = i32v_sar(i32v_from_u32(u32v_sub(bits, u32v_set(0x3f3504f3U))), 23);
    const f32v f = f32v_sub(f32v_from_bits(u32v_sub(bits, u32v_shl(u32v_from_i32(n), 23))), f32v_set(1.0f));
    const f32v k = f32v_from_i32(i32v_sub(n, i32v_select(denormal, i32v_set(23), i32v_set(0))));
    f32v p = f32v_set(0x1.b22584p-5f);
    p = simd_horner(p, f, -0x1.beacb2p-4f);
    p = simd_horner(p, f, 0x1.f00828p-4f);
    p = simd_horner(p, f, -0x1.01040ep-3f);
    p = simd_horner(p, f, 0x1.23036cp-3f);
    p = simd_horner(p, f, -0x1.552f16p-3f);
    p = simd_horner(p, f, 0x1.99a54p-3f);
    p = simd_horner(p, f, -0x1.00007p-2f);
    p = simd_horner(p, f, 0x1.555548p-2f);
    const f32v s = f32v_mul(f, f);
    const f32v rest = f32v_sub(f32v_mul(f32v_mul(f, s), p), f32v_mul(s, f32v_set(0.5f)));
    const f32v fraction = f32v_add(f, f32v_add(rest, f32v_mul(k, f32v_set(0x1.7f7d1cp-20f))));
    f32v y = f32v_add(f32v_mul(k, f32v_set(0x1.62e4p-1f)), fraction);
    y = f32v_select(f32v_eq(x, f32v_set(INFINITY)), x, y);
    y = f32v_select(f32v_eq(x, f32v_set(0.0f)), f32v_set(-INFINITY), y);
    return f32v_select(f32v_ge(x, f32v_set(0.0f)), y, f32v_nan());
}

/* ---- roots ------------------------------------------------------------------------------------- */

/* sqrt(x² + y²) without overflow or underflow on the way; infinite if either is, also beside NaN. */
static inline f32v f32v_hypot(f32v x, f32v y)
{
    const f32v ax = f32v_abs(x), ay = f32v_abs(y), one = f32v_set(1.0f), infinity = f32v_set(INFINITY);
    const f32v most = f32v_max(ax, ay);
    const mask32 huge = f32v_gt(most, f32v_set(0x1p+62f)), tiny = f32v_lt(most, f32v_set(0x1p-50f));
    const f32v down = f32v_select(huge, f32v_set(0x1p-66f), f32v_select(tiny, f32v_set(0x1p+100f), one));
    const f32v up = f32v_select(huge, f32v_set(0x1p+66f), f32v_select(tiny, f32v_set(0x1p-100f), one));
    const f32v a = f32v_mul(ax, down), b = f32v_mul(ay, down);
    const f32v root = f32v_mul(f32v_sqrt(f32v_add(f32v_mul(a, a), f32v_mul(b, b))), up);
    return f32v_select(mask32_or(f32v_eq(ax, infinity), f32v_eq(ay, infinity)), infinity, root);
}

/* 1 / sqrt(x) by a root and a division, as the estimates of the processors differ from each other. ±0 gives ±infinity. */
static inline f32v f32v_rsqrt(f32v x) { return f32v_div(f32v_set(1.0f), f32v_sqrt(x)); }

/* ---- a sum that does not depend on the vector -------------------------------------------------- */

/* The sum of p[0 … n - 1] in 16 accumulators, element i in the (i mod 16)-th, which are then added pairwise, those 8, 4,
 * 2 and 1 apart. The order is the same for every SIMD_LANES. No memory after p[n - 1] is read. */
static inline float simd_sum16(const float *p, size_t n)
{
    float part[16] = {0};
    const size_t lanes = SIMD_LANES;
    if (lanes == 4 || lanes == 8 || lanes == 16) {
        /* One to four vectors are the accumulators; what is left of the last 16 elements is masked. */
        const size_t second = lanes % 16, third = 2 * lanes % 16, fourth = 3 * lanes % 16;
        f32v a = f32v_set(0.0f), b = a, c = a, d = a;
        (void)b, (void)c, (void)d; /* wide vectors do without */
        for (size_t i = 0; i < n; i += 16) {
            const size_t left = n - i;
            if (left >= 16) {
                a = f32v_add(a, f32v_load(p + i));
                if (lanes <= 8) b = f32v_add(b, f32v_load(p + i + second));
                if (lanes == 4) c = f32v_add(c, f32v_load(p + i + third));
                if (lanes == 4) d = f32v_add(d, f32v_load(p + i + fourth));
            } else {
                a = f32v_add(a, f32v_load_masked(p + i, mask32_first(left)));
                if (lanes <= 8 && left > second) b = f32v_add(b, f32v_load_masked(p + i + second, mask32_first(left - second)));
                if (lanes == 4 && left > third) c = f32v_add(c, f32v_load_masked(p + i + third, mask32_first(left - third)));
                if (lanes == 4 && left > fourth) d = f32v_add(d, f32v_load_masked(p + i + fourth, mask32_first(left - fourth)));
            }
        }
        f32v_store(part, a);
        if (lanes <= 8) f32v_store(part + second, b);
        if (lanes == 4) f32v_store(part + third, c);
        if (lanes == 4) f32v_store(part + fourth, d);
    } else if (lanes > 16) {
        const mask32 sixteen = mask32_first(16);
        f32v a = f32v_set(0.0f);
        for (size_t i = 0; i < n; i += 16) {
            a = f32v_add(a, f32v_load_masked(p + i, mask32_and(sixteen, mask32_first(n - i))));
        }
        f32v_store_masked(part, a, sixteen);
    } else {
        for (size_t i = 0; i < n; i++) {
            part[i % 16] += p[i];
        }
    }
    for (size_t apart = 8; apart > 0; apart /= 2) {
        for (size_t i = 0; i < apart; i++) {
            part[i] += part[i + apart];
        }
    }
    return part[0];
}

#endif
