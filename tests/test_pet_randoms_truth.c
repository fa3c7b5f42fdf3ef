/* SPDX-License-Identifier: Apache-2.0
 *
 * The estimate of randoms against the truth of generated data: prompts of two annihilations. Policies that
 * kill or choose, windows of both kinds and two lengths, 0.5 to 20 million singles a second, where delayeds
 * alone are wrong by up to 30 %.
 *
 * Tolerances are four standard deviations of the difference, and 1.2 % for what the estimate leaves out
 * (pet_rates.h). Two annihilations of which both photons are seen make up to four random pairs at once: the
 * variance of the true ones is the sum, over pairs of annihilations, of the square of their pairs, and that
 * of the estimate, which comes from twice as many, is no larger.
 *
 * It prints the table of docs/howto/pet-coincidences.md, for which SLUICE_TEST_TIMES=10 measures longer.
 */
#include "support/cmocka_all.h"
#include "support/pet_sim.h"

#include "pet/pet_randoms_mix.h"

#include <sluice/pet_rates.h>

#include <math.h>
#include <stdlib.h>

static const double delay_ns = 1000;

typedef struct both {
    uint64_t low, high; /* annihilations of a pair */
} both;

static int by_both(const void *a, const void *b)
{
    const both *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    return x->high < y->high ? -1 : x->high > y->high;
}

/* Pairs of windows that begin so late; those of two annihilations, and their variance. */
static double count(const pet_ordered *o, slc_pet_coincidence_config config, double offset_ns,
                    double *variance)
{
    slc_pet_coincidence *stage;
    slc_pet_groups groups = {.head = {0}};
    slc_error error;
    config.offset_ns = offset_ns;
    assert_int_equal(slc_pet_coincidence_open(&config, &stage, &error), SLC_OK);
    assert_int_equal(slc_pet_coincidence_run(stage, &o->singles, true, &groups, &error), SLC_OK);
    slc_pet_coincidence_close(stage);
    both *pairs = malloc((groups.head.size + 1) * sizeof *pairs);
    assert_non_null(pairs);
    size_t n = 0;
    for (size_t i = 0; i < groups.head.size; i++) {
        const uint64_t a = o->event[groups.first[i]], b = o->event[groups.second[i]];
        if (a != b || a == UINT64_MAX) {
            pairs[n++] = (both){a < b ? a : b, a < b ? b : a};
        }
    }
    qsort(pairs, n, sizeof *pairs, by_both);
    *variance = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_both(&pairs[i], &pairs[end]) == 0; end++) {
        }
        *variance += (double)((end - i) * (end - i));
    }
    free(pairs);
    slc_columns_clear(&slc_pet_groups_schema, &groups);
    return (double)n;
}

static double estimate(const pet_ordered *o, const slc_pet_coincidence_config *config, double *sigma)
{
    slc_pet_randoms *stage;
    slc_error error;
    slc_pet_randoms_counts counts;
    assert_int_equal(slc_pet_randoms_open(config, delay_ns, &stage, &error), SLC_OK);
    assert_int_equal(slc_pet_randoms_run(stage, &o->singles, true, &error), SLC_OK);
    slc_pet_randoms_counts_of(stage, &counts);
    slc_pet_randoms_close(stage);
    return slc_pet_randoms_of(&counts, sigma);
}

/* What the rates of crystals foretell, whatever the policy. */
static double from_singles(const pet_ordered *o, const slc_pet_geometry *geometry, double window_ns)
{
    const slc_pet_rates_config config = {
        .size = sizeof config, .geometry = *geometry, .window_ns = window_ns, .bin_s = 1};
    return pet_randoms_from_singles(&config, &o->singles);
}

/* Of one input, every policy and window. */
static void check(const pet_ordered *o, const slc_pet_geometry *geometry, double singles_hz)
{
    static const slc_pet_policy policies[] = {SLC_PET_KILL_ALL, SLC_PET_TAKE_WINNER_OF_GOODS,
                                              SLC_PET_TAKE_ALL_GOODS};
    for (int number = 0; number < 12; number++) {
        slc_pet_coincidence_config config;
        slc_pet_coincidence_config_default(&config);
        config.policy = policies[number % 3];
        config.all_open = number / 3 % 2;
        config.window_ns = number < 6 ? 4 : 6;
        double variance, of_delayed, sigma;
        const double randoms = count(o, config, 0, &variance);
        const double delayeds = count(o, config, delay_ns, &of_delayed);
        const double found = estimate(o, &config, &sigma);
        print_message("%4g MHz, %g ns, %-8s %-18s %6.0f randoms, estimate %.3f +- %.3f, delayeds %.3f, "
                      "singles %.3f\n",
                      singles_hz * 1e-6, config.window_ns, config.all_open ? "all-open" : "single",
                      slc_pet_policy_name(config.policy), randoms, found / randoms, sigma / randoms,
                      delayeds / randoms, from_singles(o, geometry, config.window_ns) / randoms);
        assert_true(fabs(found - randoms) < 4 * sqrt(2 * variance) + 0.012 * randoms);
        assert_true(sigma > 0.4 * sqrt(variance) && sigma < sqrt(variance));
        if (config.policy == SLC_PET_KILL_ALL && !config.all_open) { /* so that delayeds would fail */
            assert_true(delayeds - randoms > 4 * sqrt(2 * variance) + 0.012 * randoms);
        }
    }
}

static void the_estimate_is_the_truth(void **state)
{
    (void)state;
    static const struct {
        double singles_hz, seconds;
    } cases[] = {{5e5, 1.0}, {2e6, 0.3}, {5e6, 0.1}, {2e7, 0.025}};
    const char *word = getenv("SLUICE_TEST_TIMES");
    const double longer = word != NULL ? strtod(word, NULL) : 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_sim_pet_config config;
        slc_sim_pet_config_default(&config);
        config.seed = 1 + i;
        config.singles_hz = cases[i].singles_hz;
        config.efficiency = 0.8; /* most partners are seen, too */
        config.dead_time_ns = 0; /* with it no two of a block are together: 1 in 80 random pairs of all */
        config.source[0] = (slc_sim_pet_source){.radius_mm = 12, .length_mm = 30, .activity_bq = 1};
        pet_made made;
        pet_make(&made, &config, cases[i].seconds * longer);
        pet_convert(&made);
        pet_ordered o;
        pet_in_order(&made, &o);
        check(&o, &config.geometry, cases[i].singles_hz);
        pet_ordered_clear(&o);
        pet_clear(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_estimate_is_the_truth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
