/* SPDX-License-Identifier: Apache-2.0
 * Section 5.4.4 of A. Hennequin's thesis (2022) in numbers: the textbook's updates in single precision lose
 * the small terms beside large ones that cancel; the stable form does not. Both are held against double
 * precision on the tracks of a VELO. */
#include "oracle/velo_fit_oracle.h"
#include "support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TRACKS = 20000, MOST_HITS = 26 };

/* Errors of the form in the oracle's double precision; relative ones of variances, and of the estimates in
 * standard deviations. */
typedef struct errors {
    double pp[TRACKS], ss[TRACKS], position[TRACKS], slope[TRACKS];
    size_t negative; /* tracks with a variance below zero, or NaN */
} errors;

static errors stable, unstable;

static void note(errors *e, size_t t, const oracle_state *found, const oracle_state *truth)
{
    e->pp[t] = fabs(found->pp / truth->pp - 1);
    e->ss[t] = fabs(found->ss / truth->ss - 1);
    e->position[t] = fabs(found->position - truth->position) / sqrt(truth->pp);
    e->slope[t] = fabs(found->slope - truth->slope) / sqrt(truth->ss);
    e->negative += !(found->pp > 0 && found->ss > 0);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median and the 99th of a hundred; sorts. */
static double quantile(double *values, double q)
{
    qsort(values, TRACKS, sizeof *values, by_value);
    return values[(size_t)(q * (TRACKS - 1))];
}

/* A straight track of a VELO in one projection: hits at the modules' distances, resolution of 12.5 µm. */
static void fit_random_track(size_t t, uint64_t *seed)
{
    const float variance = 0.0125f * 0.0125f;
    float z[MOST_HITS], x[MOST_HITS];
    double z_wide[MOST_HITS], x_wide[MOST_HITS];
    const uint32_t n = 3 + random_below(seed, MOST_HITS - 2);
    const double slope = 0.15 * random_normal(seed);
    double at = 750 - 12.5 * random_below(seed, 40);
    for (uint32_t k = 0; k < n; k++) {
        z[k] = (float)at;
        x[k] = (float)(slope * at + 0.0125 * random_normal(seed));
        z_wide[k] = (double)z[k];
        x_wide[k] = (double)x[k];
        at -= random_below(seed, 4) == 0 ? 50 : 25;
    }
    const float chord = (x[n - 1] - x[0]) / (z[n - 1] - z[0]);
    const float noise = 1e-8f + 7e-5f * chord * chord;
    const oracle_state truth = oracle_velo_fit(z_wide, x_wide, n, (double)chord, (double)variance,
                                               (double)noise);
    const oracle_state a = oracle_velo_fit_stable(z, x, n, chord, variance, noise);
    const oracle_state b = oracle_velo_fit_unstable(z, x, n, chord, variance, noise);
    note(&stable, t, &a, &truth);
    note(&unstable, t, &b, &truth);
}

/* `factor`: so many times the textbook's error is at least; what was measured is two to fifty times that. */
static void compare(const char *what, double *good, double *bad, double q, double factor)
{
    const double a = quantile(good, q), b = quantile(bad, q);
    print_message("%-28s %3.0f %%: stable %.2e, textbook %.2e, %.0f times\n", what, 100 * q, a, b, b / a);
    assert_true(b >= factor * a);
}

static void stable_form_keeps_what_the_textbook_loses(void **state)
{
    (void)state;
    uint64_t seed = 544;
    for (size_t t = 0; t < TRACKS; t++) {
        fit_random_track(t, &seed);
    }
    print_message(
        "%d tracks, single precision against double; variances below zero: stable %zu, textbook %zu\n",
        TRACKS, stable.negative, unstable.negative);
    assert_int_equal(stable.negative, 0);
    compare("variance of position", stable.pp, unstable.pp, 0.5, 5);
    compare("variance of position", stable.pp, unstable.pp, 0.99, 10000);
    compare("variance of slope", stable.ss, unstable.ss, 0.5, 2);
    compare("variance of slope", stable.ss, unstable.ss, 0.99, 10000);
    /* What is left of single precision's 24 bits after up to 25 updates. */
    assert_true(quantile(stable.pp, 1) < 2e-6);
    assert_true(quantile(stable.ss, 1) < 2e-6);
    compare("position / its deviation", stable.position, unstable.position, 0.99, 50);
    compare("slope / its deviation", stable.slope, unstable.slope, 0.99, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stable_form_keeps_what_the_textbook_loses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
