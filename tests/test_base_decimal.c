/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as decimal text: against the C library. A number with a fraction must read back to its bits; it
 * must be shortest, which is seen by leaving out its last digit: where any number with fewer digits lay
 * between the borders, one of the two next to it would; and it must be the nearest of its length, as "%e"
 * rounds.
 *
 * SLUICE_EVERY_FLOAT=1 looks at all floats instead of at some of them: ten minutes or so.
 */
#include "support/cmocka_all.h"

#include "base/decimal.h"
#include "base/team.h"
#include "support/random.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char text[SLC_DECIMAL_ROOM + 1];

static const char *f32(float value, text to)
{
    memset(to, '#', SLC_DECIMAL_ROOM);
    *slc_decimal_f32(to, value) = '\0';
    return to;
}

static const char *f64(double value, text to)
{
    memset(to, '#', SLC_DECIMAL_ROOM);
    *slc_decimal_f64(to, value) = '\0';
    return to;
}

static const struct {
    double value;
    const char *text;
} doubles[] = {{0, "0"},
               {-0.0, "-0"},
               {1, "1"},
               {-1, "-1"},
               {10, "10"},
               {511.5, "511.5"},
               {0.1, "0.1"},
               {0.3, "0.3"},
               {0.1 + 0.2, "0.30000000000000004"},
               {1.0 / 3, "0.3333333333333333"},
               {0.0001, "0.0001"},
               {0.00012345, "0.00012345"},
               {0.00001, "1e-05"},
               {0.000012345, "1.2345e-05"},
               {123456789012345.6, "123456789012345.6"},
               {1e15, "1000000000000000"},
               {9007199254740992.0, "9007199254740992"},
               {9999999999999998.0, "9999999999999998"},
               {1e16, "1e+16"},
               {12345678901234567e3, "1.2345678901234567e+19"},
               {1e22, "1e+22"},
               {1e23, "1e+23"},
               {9.5e-100, "9.5e-100"},
               {DBL_MAX, "1.7976931348623157e+308"},
               {-DBL_MAX, "-1.7976931348623157e+308"},
               {DBL_MIN, "2.2250738585072014e-308"},
               {-DBL_TRUE_MIN, "-5e-324"},
               {(double)INFINITY, "inf"},
               {-(double)INFINITY, "-inf"},
               {(double)NAN, "nan"},
               {-(double)NAN, "nan"}};
static const struct {
    float value;
    const char *text;
} singles[] = {{0, "0"},
               {-0.0F, "-0"},
               {0.1F, "0.1"},
               {511.12F, "511.12"},
               {16777216.0F, "16777216"},
               {16777218.0F, "16777218"},
               {33554430.0F, "33554430"},
               {1e10F, "10000000000"},
               {1e15F, "1000000000000000"},
               {1e16F, "1e+16"},
               {0.0001F, "0.0001"},
               {1e-5F, "1e-05"},
               {FLT_MAX, "3.4028235e+38"},
               {FLT_MIN, "1.1754944e-38"},
               {FLT_TRUE_MIN, "1e-45"},
               {-1.00000001e-10F, "-1e-10"},
               {-1.17549435e-36F, "-1.17549435e-36"},
               {-(float)INFINITY, "-inf"},
               {(float)NAN, "nan"}};

static void test_forms(void **state)
{
    (void)state;
    text own;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        assert_string_equal(f64(doubles[i].value, own), doubles[i].text);
        assert_true(strlen(own) <= SLC_DECIMAL_F64);
    }
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
        assert_string_equal(f32(singles[i].value, own), singles[i].text);
        assert_true(strlen(own) <= SLC_DECIMAL_F32);
    }
}

static void test_thousandths(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } some[] = {{0, "0"},
                {1, "0.001"},
                {-1, "-0.001"},
                {500, "0.5"},
                {511, "0.511"},
                {511.12F, "0.51112"},
                {1000, "1"},
                {16777216.0F, "16777.216"},
                {12345678.0F, "12345.678"},
                {0.1F, "0.0001"},
                {0.01F, "1e-05"},
                {3e10F, "30000000"},
                {FLT_MAX, "3.4028235e+35"},
                {(float)INFINITY, "inf"}};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        text own;
        memset(own, '#', SLC_DECIMAL_ROOM);
        *slc_decimal_f32_milli(own, some[i].value) = '\0';
        assert_string_equal(own, some[i].text);
    }
}

/* ---- whole numbers ----------------------------------------------------------------------------- */

static void check_whole(uint64_t value)
{
    text own;
    char printed[32];
    *slc_decimal_u64(own, value) = '\0';
    (void)snprintf(printed, sizeof printed, "%" PRIu64, value);
    assert_string_equal(own, printed);
    *slc_decimal_i64(own, (int64_t)value) = '\0';
    (void)snprintf(printed, sizeof printed, "%" PRId64, (int64_t)value);
    assert_string_equal(own, printed);
}

static void test_whole_numbers(void **state)
{
    (void)state;
    uint64_t random = 20;
    for (uint64_t i = 0; i < 30000; i++) {
        check_whole(i);
        check_whole(99990000 + i);
        check_whole(-i);
    }
    for (uint64_t ten = 1, i = 0; i < 20; ten *= 10, i++) {
        for (uint64_t near = 0; near < 5; near++) {
            check_whole(ten * 9 - 2 + near);
            check_whole(ten - 2 + near);
        }
    }
    for (int i = 0; i < 300000; i++) {
        const uint64_t bits = random_u64(&random);
        check_whole(bits >> (random_u64(&random) & 63));
    }
    check_whole(UINT64_MAX);
    check_whole((uint64_t)INT64_MIN);
    check_whole(INT64_MAX);
}

/* ---- numbers with a fraction ------------------------------------------------------------------- */

/* The digits of a text, without zeros at either end, and its exponent: 0.DIGITS · 10^exponent. */
typedef struct digits {
    char digit[24];
    int n, exponent;
} digits;

static digits digits_of(const char *from)
{
    digits d = {.n = 0};
    bool point = false;
    for (from += *from == '-'; *from != '\0' && *from != 'e'; from++) {
        if (*from == '.') {
            point = true;
            continue;
        }
        if (d.n > 0 || *from != '0') {
            d.digit[d.n++] = *from;
            d.exponent += !point;
        } else {
            d.exponent -= point;
        }
    }
    d.exponent += *from == 'e' ? atoi(from + 1) : 0;
    while (d.n > 0 && d.digit[d.n - 1] == '0') {
        d.n--;
    }
    d.digit[d.n] = '\0';
    return d;
}

/* The digits without the last, and with `up` the next number of so many. */
static void without_last(const digits *d, bool up, char *to)
{
    const unsigned long long cut = strtoull(d->digit, NULL, 10) / 10 + up;
    (void)sprintf(to, "%llue%d", cut, d->exponent - d->n + 1);
}

static bool is_right_f64(double value)
{
    text own;
    char shorter[64], printed[64];
    const digits d = digits_of(f64(value, own));
    const double back = strtod(own, NULL);
    if (memcmp(&back, &value, sizeof back) != 0 || strlen(own) > SLC_DECIMAL_F64 || d.n > 17) {
        return false;
    }
    for (int up = 0; up < 2 && d.n > 1; up++) {
        without_last(&d, up != 0, shorter);
        if (strtod(shorter, NULL) == fabs(value)) {
            return false;
        }
    }
    int exponent;
    (void)snprintf(printed, sizeof printed, "%.*e", d.n > 0 ? d.n - 1 : 0, fabs(value));
    const digits nearest = digits_of(printed);
    /* Borders of powers of two lie askew: the nearest of a length need not be between them. */
    return strcmp(nearest.digit, d.digit) == 0 || fabs(frexp(value, &exponent)) == 0.5;
}

static bool is_right_f32(float value)
{
    text own;
    char shorter[64];
    const digits d = digits_of(f32(value, own));
    const float back = strtof(own, NULL);
    if (memcmp(&back, &value, sizeof back) != 0 || strlen(own) > SLC_DECIMAL_F32 || d.n > 9) {
        return false;
    }
    for (int up = 0; up < 2 && d.n > 1; up++) {
        without_last(&d, up != 0, shorter);
        if (strtof(shorter, NULL) == fabsf(value)) {
            return false;
        }
    }
    return true;
}

static void check_f64(double value)
{
    if (!is_right_f64(value) || !is_right_f64(-value)) {
        text own;
        fail_msg("%a is %s", value, f64(value, own));
    }
}

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Each with its neighbours. */
static void test_powers_of_two_and_ten(void **state)
{
    (void)state;
    for (int e = -1074; e <= 1023; e++) {
        const double power = ldexp(1, e);
        check_f64(power);
        check_f64(nextafter(power, 0));
        check_f64(nextafter(power, (double)INFINITY) < (double)INFINITY ? nextafter(power, (double)INFINITY)
                                                                        : 1);
        check_f64(e < 1023 ? power * 1.5 : 1);
    }
    for (int e = -323; e <= 308; e++) {
        char word[16];
        for (int digit = 1; digit < 10; digit++) {
            (void)snprintf(word, sizeof word, "%de%d", digit, e);
            const double value = strtod(word, NULL);
            if (isfinite(value)) {
                check_f64(value);
                check_f64(nextafter(value, 0));
            }
        }
    }
}

static void test_doubles(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 250000; i++) {
        const uint64_t bits = random_u64(&random);
        const double value = of_bits(bits);
        if (isfinite(value)) {
            check_f64(value);
        }
        check_f64(of_bits(bits & (UINT64_MAX >> 12) >> (random_u64(&random) % 52))); /* subnormal */
        check_f64((double)(bits >> 40) / 2);                                         /* halves */
        check_f64((double)(bits >> 11));                                             /* whole */
        check_f64((double)(bits >> 34) / 1000);                                      /* of few digits */
        check_f64((double)(int64_t)(bits >> 20) * 1e-6);
    }
}

enum { PARTS = 256 };

typedef struct floats {
    uint32_t stride;
    uint32_t wrong[PARTS]; /* bits of one; 0: none, as 0 is right */
} floats;

/* Finite ones above 0: the others differ in the sign alone. */
static void look_at_floats(void *context, uint32_t part)
{
    floats *f = context;
    const uint64_t all = UINT32_C(0x7f800000), end = all * (part + 1) / PARTS;
    uint64_t bits = all * part / PARTS;
    bits += f->stride - bits % f->stride;
    for (; bits < end; bits += f->stride) {
        const uint32_t of_value = (uint32_t)bits;
        float value;
        memcpy(&value, &of_value, sizeof value);
        if (!is_right_f32(value)) {
            f->wrong[part] = of_value;
        }
    }
}

static void test_floats(void **state)
{
    (void)state;
    const char *every = getenv("SLUICE_EVERY_FLOAT");
    floats f = {.stride = every != NULL && *every == '1' ? 1 : 1999};
    slc_team *team = NULL;
    assert_int_equal(slc_team_open(slc_team_processors(), &team), SLC_OK);
    slc_team_run(team, PARTS, look_at_floats, &f);
    slc_team_close(team);
    for (size_t i = 0; i < PARTS; i++) {
        assert_int_equal(f.wrong[i], 0);
    }
    for (int e = -149; e <= 127; e++) { /* borders askew */
        const float power = ldexpf(1, e);
        assert_true(is_right_f32(power) && is_right_f32(-power) && is_right_f32(nextafterf(power, 0)));
    }
}

static int prepare(void **state)
{
    (void)state;
    slc_decimal_prepare();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_thousandths),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_powers_of_two_and_ten),
        cmocka_unit_test(test_floats),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
