/* SPDX-License-Identifier: Apache-2.0
 *
 * Histograms against brute force on seeded random values: moments over the values inside, quantiles over all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/base.h>

#include <math.h>
#include <stdlib.h>

enum { VALUES = 5000 };

/* A 64-bit linear congruential generator; the sum of three uniform numbers is bell-shaped enough. */
static double next_value(uint64_t *seed)
{
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
        sum += (double)(*seed >> 11) / 9007199254740992.0;
    }
    return 4 * sum - 6; /* -6 … 6, mean 0, variance 4 */
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_counts_and_moments(void **state)
{
    (void)state;
    slc_histogram h;
    slc_histogram_init(&h, -2.0, 3.0, 50);
    uint64_t seed = 7, under = 0, over = 0, inside = 0, bins[50] = {0};
    double sum = 0, squares = 0;
    for (int i = 0; i < VALUES; i++) {
        const double value = next_value(&seed);
        slc_histogram_add(&h, value);
        if (value < -2) {
            under++;
        } else if (value >= 3) {
            over++;
        } else {
            inside++;
            sum += value;
            squares += value * value;
            bins[(int)floor((value + 2) * 10)]++;
        }
    }
    slc_histogram_add(&h, nan(""));
    assert_true(under > 100 && over > 100 && inside > 1000);
    assert_int_equal(h.under, under);
    assert_int_equal(h.over, over);
    assert_int_equal(h.inside, inside);
    uint64_t misplaced = 0, total = 0;
    for (int i = 0; i < 50; i++) {
        misplaced += h.bin[i] > bins[i] ? h.bin[i] - bins[i] : bins[i] - h.bin[i];
        total += h.bin[i];
    }
    assert_int_equal(total, inside);
    assert_int_equal(misplaced, 0);
    const double mean = sum / (double)inside;
    assert_true(fabs(slc_histogram_mean(&h) - mean) < 1e-9);
    assert_true(fabs(slc_histogram_rms(&h) - sqrt(squares / (double)inside - mean * mean)) < 1e-9);
}

/* The quantile lies within a bin's width of the value of that rank. */
static void test_quantiles(void **state)
{
    (void)state;
    slc_histogram h;
    slc_histogram_init(&h, -6.0, 6.0, SLC_HISTOGRAM_BINS);
    static double values[VALUES];
    uint64_t seed = 11;
    for (int i = 0; i < VALUES; i++) {
        values[i] = next_value(&seed);
        slc_histogram_add(&h, values[i]);
    }
    qsort(values, VALUES, sizeof values[0], by_value);
    double before = -6;
    for (int percent = 1; percent < 100; percent++) {
        const double q = percent / 100.0, found = slc_histogram_quantile(&h, q);
        assert_true(fabs(found - values[(int)(q * VALUES)]) <= 12.0 / SLC_HISTOGRAM_BINS);
        assert_true(found >= before);
        before = found;
    }
}

/* Half of the entries lie outside: quantiles there are the edges, and the others are not shifted. */
static void test_quantiles_with_overflow(void **state)
{
    (void)state;
    slc_histogram h;
    slc_histogram_init(&h, 0.0, 10.0, 10);
    for (int i = 0; i < 100; i++) {
        slc_histogram_add(&h, -1.0);
        slc_histogram_add(&h, 99.0);
        slc_histogram_add(&h, 0.05 + 0.1 * i);
        slc_histogram_add(&h, 0.05 + 0.1 * i);
    }
    assert_true(slc_histogram_quantile(&h, 0.1) == 0.0);
    assert_true(slc_histogram_quantile(&h, 0.9) == 10.0);
    assert_true(fabs(slc_histogram_quantile(&h, 0.5) - 5.0) < 1e-9);
    assert_true(fabs(slc_histogram_quantile(&h, 0.375) - 2.5) < 1e-9);
}

static void test_edges_and_emptiness(void **state)
{
    (void)state;
    slc_histogram h;
    slc_histogram_init(&h, 1.0, 2.0, 3);
    assert_true(slc_histogram_mean(&h) == 0);
    assert_true(slc_histogram_rms(&h) == 0);
    assert_true(slc_histogram_quantile(&h, 0.5) == 0 && slc_histogram_half_width(&h) == 0);
    slc_histogram_add(&h, 1.0);
    slc_histogram_add(&h, 2.0);
    slc_histogram_add(&h, nextafter(2.0, 0.0));
    slc_histogram_add(&h, nextafter(1.0, 0.0));
    assert_int_equal(h.under, 1);
    assert_int_equal(h.over, 1);
    assert_int_equal(h.bin[0], 1);
    assert_int_equal(h.bin[2], 1);
    slc_histogram_init(&h, 0.0, 1.0, 10 * SLC_HISTOGRAM_BINS);
    assert_int_equal(h.n_bins, SLC_HISTOGRAM_BINS);
}

/* A Gaussian's half-width is its sigma, and far entries hardly move it. */
static void test_half_width(void **state)
{
    (void)state;
    slc_histogram h;
    slc_histogram_init(&h, -6, 6, 120);
    assert_true(slc_histogram_half_width(&h) == 0);
    const double sigma = 1.3;
    for (int i = 0; i < 120; i++) {
        const double low = (-6 + 0.1 * i) / (sigma * sqrt(2)),
                     high = (-6 + 0.1 * (i + 1)) / (sigma * sqrt(2));
        const int n = (int)lround(50000 * (erf(high) - erf(low)));
        for (int k = 0; k < n; k++) {
            slc_histogram_add(&h, -5.95 + 0.1 * i);
        }
    }
    assert_true(fabs(slc_histogram_half_width(&h) - sigma) < 0.005);
    for (int k = 0; k < 500; k++) {
        slc_histogram_add(&h, 1e9);
    }
    assert_true(fabs(slc_histogram_half_width(&h) - sigma) < 0.03);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_and_moments),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_quantiles_with_overflow),
        cmocka_unit_test(test_edges_and_emptiness),
        cmocka_unit_test(test_half_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
