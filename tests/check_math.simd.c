/* SPDX-License-Identifier: Apache-2.0
 * Loops around the mathematics on vectors, compiled for every target; check_math.c compares them. */
#include "check_math.h"
#include "simd/simd_math.h"
#include "simd/simd_symmetric.h"

#define OVER_ARRAYS(name, expression)                                                                        \
    static void name(const float *x, const float *y, size_t n, float *out)                                   \
    {                                                                                                        \
        for (size_t i = 0; i < n; i += SIMD_LANES) {                                                         \
            const f32v a = f32v_load(x + i), b = f32v_load(y + i);                                           \
            (void)b;                                                                                         \
            f32v_store(out + i, expression);                                                                 \
        }                                                                                                    \
    }

static inline f32v sine_and_cosine(f32v x)
{
    f32v s, c;
    f32v_sincos(x, &s, &c);
    return f32v_add(s, f32v_add(c, c));
}

OVER_ARRAYS(over_sin, f32v_sin(a))
OVER_ARRAYS(over_cos, f32v_cos(a))
OVER_ARRAYS(over_atan2, f32v_atan2(a, b))
OVER_ARRAYS(over_exp, f32v_exp(a))
OVER_ARRAYS(over_log, f32v_log(a))
OVER_ARRAYS(over_hypot, f32v_hypot(a, b))
OVER_ARRAYS(over_rsqrt, f32v_rsqrt(a))
OVER_ARRAYS(over_sincos, sine_and_cosine(a))

/* Column k of the input at row i; a result into column k of the output. */
#define IN(k)         f32v_load(in[k] + i)
#define OUT(k, value) f32v_store(out[k] + i, value)

static void vec3(const float *const *in, size_t n, float *const *out)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const f32v ax = IN(0), ay = IN(1), az = IN(2), bx = IN(3), by = IN(4), bz = IN(5);
        f32v x, y, z;
        OUT(0, vec3_dot(ax, ay, az, bx, by, bz));
        OUT(1, vec3_mag2(ax, ay, az));
        OUT(2, vec3_mag(ax, ay, az));
        vec3_cross(ax, ay, az, bx, by, bz, &x, &y, &z);
        OUT(3, x);
        OUT(4, y);
        OUT(5, z);
        vec3_subtract(ax, ay, az, bx, by, bz, &x, &y, &z);
        OUT(6, x);
        OUT(7, y);
        OUT(8, z);
        vec3_add(ax, ay, az, bx, by, bz, &x, &y, &z);
        OUT(9, x);
        OUT(10, y);
        OUT(11, z);
        vec3_along(ax, ay, az, IN(6), bx, by, bz, &x, &y, &z);
        OUT(12, x);
        OUT(13, y);
        OUT(14, z);
    }
}

static void sym2(const float *const *in, size_t n, float *const *out)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const f32v xx = IN(0), xy = IN(1), yy = IN(2), a = IN(3), b = IN(4), c = IN(5), d = IN(6);
        f32v x, y, z;
        OUT(0, sym2_determinant(xx, xy, yy));
        sym2_multiply(xx, xy, yy, a, b, &x, &y);
        OUT(1, x);
        OUT(2, y);
        OUT(3, sym2_quadratic(xx, xy, yy, a, b));
        OUT(4, sym2_invert(xx, xy, yy, &x, &y, &z));
        OUT(5, x);
        OUT(6, y);
        OUT(7, z);
        sym2_similarity(xx, xy, yy, a, b, c, d, &x, &y, &z);
        OUT(8, x);
        OUT(9, y);
        OUT(10, z);
    }
}

static void sym3(const float *const *in, size_t n, float *const *out)
{
    for (size_t i = 0; i < n; i += SIMD_LANES) {
        const f32v xx = IN(0), xy = IN(1), xz = IN(2), yy = IN(3), yz = IN(4), zz = IN(5);
        f32v a, b, c, d, e, f;
        OUT(0, sym3_determinant(xx, xy, xz, yy, yz, zz));
        sym3_multiply(xx, xy, xz, yy, yz, zz, IN(6), IN(7), IN(8), &a, &b, &c);
        OUT(1, a);
        OUT(2, b);
        OUT(3, c);
        OUT(4, sym3_quadratic(xx, xy, xz, yy, yz, zz, IN(6), IN(7), IN(8)));
        OUT(5, sym3_invert(xx, xy, xz, yy, yz, zz, &a, &b, &c, &d, &e, &f));
        OUT(6, a);
        OUT(7, b);
        OUT(8, c);
        OUT(9, d);
        OUT(10, e);
        OUT(11, f);
        sym3_similarity(xx, xy, xz, yy, yz, zz, IN(6), IN(7), IN(8), IN(9), IN(10), IN(11), IN(12), IN(13),
                        IN(14), &a, &b, &c, &d, &e, &f);
        OUT(12, a);
        OUT(13, b);
        OUT(14, c);
        OUT(15, d);
        OUT(16, e);
        OUT(17, f);
    }
}

const slc_check_math SIMD_TABLE(slc_check_math) = {
    .target = SIMD_TARGET_NAME,
    .function = {over_sin, over_cos, over_atan2, over_exp, over_log, over_hypot, over_rsqrt, over_sincos},
    .sum16 = simd_sum16,
    .vec3 = vec3,
    .sym2 = sym2,
    .sym3 = sym3,
};
