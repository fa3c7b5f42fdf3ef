/* SPDX-License-Identifier: Apache-2.0
 *
 * Mathematics on vectors. On the first target that runs, every function is compared with the C library in
 * double precision, and its largest error in units of the last place with the bound that simd_math.h states;
 * on every target, with the c target bit by bit (all NaN are one).
 *
 *     check_math [--points=20] [--exhaustive[=sin]] [SEED]
 *
 * Points are 2^20 a function, or as many as is said: one half spread over all exponents, one half over the
 * range where the function does its work; special values in addition, crossed for functions of two arguments.
 * Fewer, from 2^12, are for emulators.
 * --exhaustive takes all 2^32 floats as first argument instead, some minutes a function (SLUICE_SIMD=avx2
 * chooses the target that is measured).
 */
#include "check_math.h"
#include "simd/simd_math_bounds.h"
#include "simd_targets.h"
#include "support/check.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(target, TARGET) extern const slc_check_math slc_check_math_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_check_math_kernels_##target,
static const slc_check_math *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

enum { BLOCK_LOG2 = 12, BLOCK = 1 << BLOCK_LOG2, SPARE = 64, COMPARED_LOG2 = 20 };
static unsigned compared_log2 = COMPARED_LOG2; /* points on which a target is compared with c */

static double ref_sin(double x, double y)
{
    (void)y;
    return sin(x);
}

static double ref_cos(double x, double y)
{
    (void)y;
    return cos(x);
}

static double ref_exp(double x, double y)
{
    (void)y;
    return exp(x);
}

static double ref_log(double x, double y)
{
    (void)y;
    return log(x);
}

static double ref_rsqrt(double x, double y)
{
    (void)y;
    return 1.0 / sqrt(x);
}

static const struct {
    const char *name;
    double (*reference)(double x, double y); /* NULL: bit equality alone */
    double bound;                            /* ulp */
    float low, high;                         /* where half of the points lie */
    bool two;                                /* arguments */
} rows[CHECK_MATH_FUNCTIONS] = {
    {"sin", ref_sin, SIMD_ULP_SIN, -100.0f, 100.0f, false},
    {"cos", ref_cos, SIMD_ULP_COS, -100.0f, 100.0f, false},
    {"atan2", atan2, SIMD_ULP_ATAN2, -1.0f, 1.0f, true},
    {"exp", ref_exp, SIMD_ULP_EXP, -105.0f, 90.0f, false},
    {"log", ref_log, SIMD_ULP_LOG, 0.0f, 3.0f, false},
    {"hypot", hypot, SIMD_ULP_HYPOT, -1.0f, 1.0f, true},
    {"rsqrt", ref_rsqrt, SIMD_ULP_RSQRT, 0.0f, 5.0f, false},
    {"sincos", NULL, 0, -10000.0f, 10000.0f, false},
};

static const uint32_t specials[] = {
    0x00000000U, 0x00000001U, 0x007fffffU, 0x00800000U, 0x00800001U, 0x0b000000U, 0x33800000U, 0x39800000U,
    0x3effffffU, 0x3f000000U, 0x3f3504f3U, 0x3f490fdbU, 0x3f7fffffU, 0x3f800000U, 0x3f800001U, 0x3fb504f3U,
    0x3fc90fdbU, 0x40490fdbU, 0x42b17217U, 0x42b17218U, 0x42b17219U, 0x42cff1b5U, 0x42d00000U, 0x45ffffffU,
    0x46000000U, 0x46000001U, 0x5e800000U, 0x6f79be45U, 0x7f000000U, 0x7f7fffffU, 0x7f800000U, 0x7fc00000U,
};
enum { SPECIALS = 2 * sizeof specials / sizeof specials[0] }; /* with both signs */

static float x_in[BLOCK + SPARE], y_in[BLOCK + SPARE], out[BLOCK + SPARE], expected[BLOCK + SPARE];

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- points ------------------------------------------------------------------------------------ */

static float special(size_t i)
{
    return float_of(specials[i / 2] | (uint32_t)(i % 2) << 31);
}

/* A second argument: any float, or one that is as large as the first to a few powers of two. */
static float partner(float x, uint64_t *random)
{
    const uint64_t r = random_u64(random);
    if ((r >> 40 & 1U) == 0) {
        return float_of((uint32_t)r);
    }
    int exponent = 0;
    const float size = frexpf(x, &exponent);
    const float y = ldexpf(0.5f + 0.5f * (float)(r & 0xffffffU) * 0x1p-24f,
                           exponent + (int)(r >> 33 & 7U) - 3);
    return size == size && (r >> 41 & 1U) != 0 ? -y : y;
}

/* Block b of the points of a function: the n_log2 highest bits of a float count through all of them. */
static void fill_points(size_t f, uint64_t b, unsigned n_log2, uint64_t *random)
{
    for (uint64_t i = 0; i < BLOCK; i++) {
        const uint64_t point = b * BLOCK + i, r = random_u64(random);
        const unsigned low_bits = 33 - n_log2;
        if (n_log2 == 32) {
            x_in[i] = float_of((uint32_t)point);
        } else if (point % 2 == 0) {
            x_in[i] = float_of((uint32_t)(point / 2 << low_bits | (r & ((1ULL << low_bits) - 1))));
        } else {
            const double unit = (double)(r >> 11) * 0x1p-53;
            x_in[i] = (float)((double)rows[f].low + unit * ((double)rows[f].high - (double)rows[f].low));
        }
        y_in[i] = rows[f].two ? partner(x_in[i], random) : 0.0f;
    }
}

/* Block b of the special values, alone or crossed; returns how many. The rest is zeros. */
static size_t fill_specials(size_t f, size_t b)
{
    const size_t all = rows[f].two ? SPECIALS * SPECIALS : SPECIALS;
    size_t n = 0;
    memset(x_in, 0, sizeof x_in);
    memset(y_in, 0, sizeof y_in);
    for (; n < BLOCK && b * BLOCK + n < all; n++) {
        const size_t i = b * BLOCK + n;
        x_in[n] = special(i % SPECIALS);
        y_in[n] = rows[f].two ? special(i / SPECIALS) : 0.0f;
    }
    return n;
}

/* Where quarter turns cancel, which few points hit: the float nearest to each multiple of pi/2 up to 8192,
 * and the one float of all that is closest to a multiple for its size (J.-M. Muller, Elementary Functions,
 * section 11). */
static size_t fill_hard(size_t b)
{
    enum { MULTIPLES = 5216 };
    size_t n = 0;
    memset(y_in, 0, sizeof y_in);
    for (size_t k = b * BLOCK; n < BLOCK && k <= MULTIPLES; k++) {
        x_in[n++] = k == 0 ? 16367173.0f * 0x1p+72f : (float)((double)k * 0x1.921fb54442d18p+0);
    }
    for (size_t k = n; k < BLOCK; k++) {
        x_in[k] = 0.0f;
    }
    return n;
}

/* ---- comparing --------------------------------------------------------------------------------- */

typedef struct worst {
    double ulp;
    float x, y;
} worst;

/* The error in units of the last place that a float has at the true value; infinite where the kind is wrong.
 */
static double ulp_error(float result, double truth)
{
    if (isnan(truth) || isnan(result)) {
        return isnan(truth) && isnan(result) ? 0 : (double)INFINITY;
    }
    if ((signbit(truth) != 0) != (signbit(result) != 0) || (isinf(truth) && !isinf(result))) {
        return (double)INFINITY;
    }
    const double size = fabs(truth);
    /* What exceeds the largest float is infinite: its distance is that of the next float there would be. */
    const double got = isinf(result) ? 0x1p128 : fabs((double)result);
    if (size >= 0x1p128) {
        return got >= 0x1p128 ? 0 : (0x1p128 - got) * 0x1p-104;
    }
    int exponent = -125;
    if (size >= 0x1p-126) {
        (void)frexp(size, &exponent);
    }
    return fabs(got - size) * ldexp(1.0, 24 - exponent);
}

static void measure(size_t f, size_t n, worst *most)
{
    for (size_t i = 0; i < n; i++) {
        const double error = ulp_error(out[i], rows[f].reference((double)x_in[i], (double)y_in[i]));
        if (!(error <= most->ulp)) {
            *most = (worst){error, x_in[i], y_in[i]};
        }
        if (!(error <= rows[f].bound)) {
            slc_check_fail("%s(%a, %a) = %a: %.3f ulp, the bound is %.2f", rows[f].name, (double)x_in[i],
                           (double)y_in[i], (double)out[i], error, rows[f].bound);
        }
    }
    slc_check_values(n);
}

static void compare(size_t f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bits_of(out[i]) != bits_of(expected[i]) && !(isnan(out[i]) && isnan(expected[i]))) {
            slc_check_fail("%s(%a, %a) = %a, c says %a", rows[f].name, (double)x_in[i], (double)y_in[i],
                           (double)out[i], (double)expected[i]);
        }
    }
    slc_check_values(n);
}

/* What is in x_in and y_in, on one target. */
static void check_block(slc_simd_target target, size_t f, size_t n, bool with_c, worst *most)
{
    tables[target]->function[f](x_in, y_in, BLOCK, out);
    if (with_c) {
        tables[SLC_SIMD_C]->function[f](x_in, y_in, BLOCK, expected);
        compare(f, n);
    }
    if (most != NULL && rows[f].reference != NULL) {
        measure(f, n, most);
    }
}

/* A function on a target; measured against the C library where n_log2 > 0. */
static void check_function(slc_simd_target target, size_t f, unsigned n_log2)
{
    worst most = {-1, 0, 0};
    uint64_t random = slc_check_seed() + f;
    worst *measured = n_log2 > 0 ? &most : NULL;
    slc_check_doing(rows[f].name);
    for (size_t b = 0; b == 0 || (rows[f].two && b * BLOCK < SPECIALS * SPECIALS); b++) {
        check_block(target, f, fill_specials(f, b), true, measured);
    }
    for (size_t b = 0, n = 1; b == 0 || n == BLOCK; b++) {
        n = fill_hard(b);
        check_block(target, f, n, true, measured);
    }
    const unsigned points_log2 = n_log2 > compared_log2 ? n_log2 : compared_log2;
    const uint64_t compared = (1ULL << compared_log2) / BLOCK;
    for (uint64_t b = 0; b < (1ULL << points_log2) / BLOCK; b++) {
        fill_points(f, b, points_log2, &random);
        check_block(target, f, BLOCK,
                    points_log2 < 32 ? b % ((1ULL << points_log2) / BLOCK / compared) == 0 : b % 16 == 0,
                    measured);
    }
    if (measured != NULL && rows[f].reference != NULL) {
        (void)printf("  %-6s largest error %.3f ulp of 2^%u points (bound %.2f), at %a", rows[f].name,
                     most.ulp, points_log2, rows[f].bound, (double)most.x);
        (void)printf(rows[f].two ? ", %a\n" : "\n", (double)most.y);
        (void)fflush(stdout);
    }
}

/* ---- the sum ----------------------------------------------------------------------------------- */

/* The order of simd_sum16 in as many words. */
static float sum16(const float *p, size_t n)
{
    float a[16] = {0};
    for (size_t i = 0; i < n; i++) {
        a[i & 15U] += p[i];
    }
    const float e0 = a[0] + a[8], e1 = a[1] + a[9], e2 = a[2] + a[10], e3 = a[3] + a[11];
    const float e4 = a[4] + a[12], e5 = a[5] + a[13], e6 = a[6] + a[14], e7 = a[7] + a[15];
    return ((e0 + e4) + (e2 + e6)) + ((e1 + e5) + (e3 + e7));
}

static void check_sum(const slc_check_math *table)
{
    enum { LENGTHS = 201 };
    slc_check_doing("simd_sum16");
    slc_check_memory memory = slc_check_map(LENGTHS * sizeof(float));
    uint64_t random = slc_check_seed();
    for (size_t n = 0; n < LENGTHS; n++) {
        float *p = (float *)(void *)memory.end - n;
        for (size_t i = 0; i < n; i++) {
            p[i] = (float)(random_normal(&random) * ldexp(1.0, (int)random_below(&random, 20)));
        }
        const float sum = table->sum16(p, n), truth = sum16(p, n);
        if (bits_of(sum) != bits_of(truth)) {
            slc_check_fail("simd_sum16 of %zu numbers is %a, not %a", n, (double)sum, (double)truth);
        }
    }
    slc_check_values(LENGTHS);
    slc_check_unmap(&memory);
}

int main(int argc, char **argv)
{
    unsigned points = COMPARED_LOG2;
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--points=", 9) == 0) {
            points = (unsigned)strtoul(argv[i] + 9, NULL, 10);
        } else if (strncmp(argv[i], "--exhaustive", 12) == 0) {
            points = 32;
            only = argv[i][12] == '=' ? argv[i] + 13 : NULL;
        }
    }
    if (points < BLOCK_LOG2 || points > 32) {
        (void)fprintf(stderr, "check_math: --points is from %d to 32\n", BLOCK_LOG2);
        return EXIT_FAILURE;
    }
    compared_log2 = points < COMPARED_LOG2 ? points : COMPARED_LOG2;
    slc_check_begin(argc, argv);
    bool measured = false;
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        const slc_simd_target target = (slc_simd_target)t;
        if (!slc_check_target(target)) {
            continue;
        }
        int functions = 0;
        for (size_t f = 0; f < CHECK_MATH_FUNCTIONS; f++) {
            if (only == NULL || strcmp(only, rows[f].name) == 0) {
                check_function(target, f, measured ? 0 : points);
                functions++;
            }
        }
        check_sum(tables[target]);
        slc_check_algebra(tables[target], tables[SLC_SIMD_C], slc_check_seed());
        slc_check_passed("%d functions%s, sum16, 3-vectors, symmetric matrices", functions,
                         measured ? "" : " against libm");
        measured = true;
    }
    return slc_check_end();
}
