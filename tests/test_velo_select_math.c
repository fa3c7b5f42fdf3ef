/* SPDX-License-Identifier: Apache-2.0
 * The functions of selections against the C library's in long double, and as floats against its doubles. */
#include "support/cmocka_all.h"
#include "support/random.h"
#include "velo/velo_select_math.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>

static const double special[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 0.5,
                                 2,
                                 1e-8,
                                 3e-5,
                                 0.35,
                                 1.2,
                                 -1.2,
                                 1e9,
                                 1.1e9,
                                 1e30,
                                 1e200,
                                 1e-200,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 FLT_MAX,
                                 FLT_MIN,
                                 DBL_MAX,
                                 DBL_MIN,
                                 5e-324,
                                 1e-45,
                                 -1e-45,
                                 M_SQRT1_2,
                                 M_SQRT2,
                                 0.35355339,
                                 0.4142135623,
                                 -0.4142135623};
enum { N_SPECIAL = sizeof special / sizeof *special };

/* Any exponent of a float, or numbers like slopes. */
static double any(uint64_t *seed)
{
    const double unit = random_unit(seed) * (random_below(seed, 2) ? 1 : -1);
    const uint32_t kind = random_below(seed, 4);
    return kind == 0 ? ldexp(unit, (int)random_below(seed, 280) - 150) : kind == 1 ? unit * 0.4 : unit * 4;
}

/* Units in the last place of the reference; a denormal's are those of the least normal number. */
static double off_by(double got, long double expected)
{
    if (isnan(expected) || isnan(got)) {
        return isnan(expected) && isnan(got) ? 0 : INFINITY;
    }
    const double nearest = (double)expected;
    if (isinf(nearest) || nearest == 0) {
        return got == nearest && signbit(got) == signbit(nearest) ? 0 : INFINITY;
    }
    int exponent;
    (void)frexpl(expected, &exponent);
    exponent = exponent > DBL_MIN_EXP ? exponent : DBL_MIN_EXP;
    return (double)(fabsl((long double)got - expected) / ldexpl(1, exponent - DBL_MANT_DIG));
}

static bool same_float(double a, double b)
{
    const float x = (float)a, y = (float)b;
    return x == y || (x != x && y != y);
}

typedef struct seen {
    double worst;
    size_t floats; /* that are others than those of the C library */
} seen;

static void look(seen *s, double got, long double expected, double library)
{
    const double off = off_by(got, expected);
    s->worst = off > s->worst ? off : s->worst;
    s->floats += !same_float(got, library);
}

static void expect(const char *name, const seen *s, double most)
{
    print_message("%s: %.3f units in the last place, %zu floats differ\n", name, s->worst, s->floats);
    assert_true(s->worst <= most);
    assert_true(s->floats <= 4);
}

static size_t rounds(void)
{
    return getenv("SLUICE_TEST_SMALL") != NULL ? 100000 : 2000000;
}

static void atan2_is_the_librarys(void **state)
{
    (void)state;
    uint64_t seed = 1;
    seen s = {0, 0};
    for (size_t i = 0; i < N_SPECIAL; i++) {
        for (size_t k = 0; k < N_SPECIAL; k++) {
            const double y = special[i], x = special[k];
            look(&s, slc_velo_atan2(y, x), atan2l(y, x), atan2(y, x));
        }
    }
    for (size_t i = 0; i < rounds(); i++) {
        const double y = any(&seed), x = i % 16 == 0 ? y * (1 + 1e-3 * random_unit(&seed)) : any(&seed);
        look(&s, slc_velo_atan2(y, x), atan2l(y, x), atan2(y, x));
    }
    expect("atan2", &s, 3);
}

static void asinh_is_the_librarys(void **state)
{
    (void)state;
    uint64_t seed = 2;
    seen s = {0, 0};
    for (size_t i = 0; i < N_SPECIAL; i++) {
        look(&s, slc_velo_asinh(special[i]), asinhl(special[i]), asinh(special[i]));
    }
    for (size_t i = 0; i < rounds(); i++) {
        const double x = i % 2 == 0 ? any(&seed) : 1 / any(&seed);
        look(&s, slc_velo_asinh(x), asinhl(x), asinh(x));
    }
    expect("asinh", &s, 3);
}

static void hypot_is_the_librarys(void **state)
{
    (void)state;
    uint64_t seed = 3;
    seen s = {0, 0};
    assert_true(slc_velo_hypot(INFINITY, 1) == INFINITY && slc_velo_hypot(1, -INFINITY) == INFINITY);
    assert_true(slc_velo_hypot(0, -0.0) == 0 && isnan(slc_velo_hypot(NAN, 1)));
    for (size_t i = 0; i < rounds(); i++) {
        const double x = (double)(float)any(&seed), y = (double)(float)any(&seed);
        look(&s, slc_velo_hypot(x, y), hypotl(x, y), hypot(x, y));
    }
    expect("hypot", &s, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atan2_is_the_librarys),
        cmocka_unit_test(asinh_is_the_librarys),
        cmocka_unit_test(hypot_is_the_librarys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
