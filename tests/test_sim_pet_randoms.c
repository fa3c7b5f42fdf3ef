/* SPDX-License-Identifier: Apache-2.0
 *
 * Randoms, from frames to coincidences, over 20 seeds: the delayed window counts as many pairs as there are
 * unrelated pairs among the prompts, which the truth tells, and singles' rates foretell them. Two
 * annihilations of which both photons are seen make up to four random pairs at once, so that counts vary more
 * than Poisson's: their variance is the sum, over pairs of annihilations, of the square of their pairs.
 */
#include "support/cmocka_all.h"
#include "support/pet_sim.h"

#include <sluice/pet_rates.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 20, SINGLES_HZ = 5000000 };
static const double seconds = 0.04, window_ns = 4, delay_ns = 500;

/* ---- pairs ----------------------------------------------------------------------------------------- */

typedef struct both {
    uint64_t low, high; /* events of a pair */
} both;

static int by_both(const void *a, const void *b)
{
    const both *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    return x->high < y->high ? -1 : x->high > y->high;
}

/* All pairs of one window, offset or not: those of different annihilations, how much their number varies, and
 * those of one. */
static void count(const pet_ordered *o, const slc_pet_good *good, double offset_ns, double *randoms,
                  double *variance, double *trues)
{
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    config.window_ns = window_ns;
    config.offset_ns = offset_ns;
    config.closed = false;
    config.all_open = true;
    config.policy = SLC_PET_TAKE_ALL_GOODS;
    config.good = *good;
    slc_pet_coincidence *stage;
    slc_pet_groups groups = {.head = {0}};
    slc_error error;
    assert_int_equal(slc_pet_coincidence_open(&config, &stage, &error), SLC_OK);
    assert_int_equal(slc_pet_coincidence_run(stage, &o->singles, true, &groups, &error), SLC_OK);
    slc_pet_coincidence_close(stage);
    both *pairs = malloc((groups.head.size + 1) * sizeof *pairs);
    assert_non_null(pairs);
    size_t n = 0;
    for (size_t i = 0; i < groups.head.size; i++) {
        const uint64_t a = o->event[groups.first[i]], b = o->event[groups.second[i]];
        if (a != b) {
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
    *randoms = (double)n;
    *trues = (double)(groups.head.size - n);
    free(pairs);
    slc_columns_clear(&slc_pet_groups_schema, &groups);
}

static double from_singles(const pet_ordered *o, const slc_pet_geometry *geometry, const slc_pet_good *good)
{
    const slc_pet_rates_config config = {
        .size = sizeof config, .geometry = *geometry, .good = *good, .window_ns = window_ns, .bin_s = 0.01};
    return pet_randoms_from_singles(&config, &o->singles);
}

/* ---- over seeds ------------------------------------------------------------------------------------ */

typedef struct sums {
    double randoms, delayed, variance, expected, trues, pulls, squares;
} sums;

static const slc_pet_good sectors = {
    .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 520, .sectors = 20, .min_sectors = 4};
static const slc_pet_good distance = {.kind = SLC_PET_GOOD_DISTANCE,
                                      .crystals_per_ring = 520,
                                      .radius_mm = 75,
                                      .pitch_z_mm = 1.6,
                                      .min_mm = 90,
                                      .max_axial_mm = 24};

static void add_counts(const pet_ordered *o, const slc_pet_geometry *geometry, const slc_pet_good *good,
                       sums *all)
{
    double randoms, delayed, variance[2], trues, none;
    count(o, good, 0, &randoms, &variance[0], &trues);
    count(o, good, delay_ns, &delayed, &variance[1], &none);
    assert_true(none == 0);
    const double pull = (delayed - randoms) / sqrt(variance[0] + variance[1]);
    all->randoms += randoms;
    all->delayed += delayed;
    all->variance += variance[0] + variance[1];
    all->expected += from_singles(o, geometry, good);
    all->trues += trues;
    all->pulls += pull;
    all->squares += pull * pull;
}

/* Sums by sectors and by distance. */
static void over_seeds(double dead_time_ns, sums all[2])
{
    memset(all, 0, 2 * sizeof *all);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        slc_sim_pet_config config;
        slc_sim_pet_config_default(&config);
        config.seed = seed;
        config.singles_hz = SINGLES_HZ;
        config.dead_time_ns = dead_time_ns;
        config.source[0] = (slc_sim_pet_source){.radius_mm = 12, .length_mm = 30, .activity_bq = 1};
        pet_made made;
        pet_make(&made, &config, seconds);
        pet_convert(&made);
        pet_ordered o;
        pet_in_order(&made, &o);
        add_counts(&o, &config.geometry, &sectors, &all[0]);
        add_counts(&o, &config.geometry, &distance, &all[1]);
        pet_ordered_clear(&o);
        pet_clear(&made);
    }
}

static void check_sums(const sums *all, const char *name)
{
    const double pull = (all->delayed - all->randoms) / sqrt(all->variance), mean = all->pulls / SEEDS;
    const double width = sqrt(all->squares / SEEDS - mean * mean);
    print_message("%s: %g true pairs, %g randoms, %g delayed (%+.2f sigma, width of pulls %.2f), %.0f from "
                  "singles (%+.2f %%)\n",
                  name, all->trues, all->randoms, all->delayed, pull, width, all->expected,
                  100 * (all->expected / all->randoms - 1));
    assert_true(all->randoms > 20000 && all->trues > 20000);
    assert_true(fabs(pull) < 3);
    /* The width of 20 pulls is known within 1 / sqrt(40). */
    assert_true(width > 1 - 3 * 0.16 && width < 1 + 3 * 0.16);
    assert_true(fabs(all->expected / all->randoms - 1) < 0.02);
}

static void delayeds_and_singles_tell_the_randoms(void **state)
{
    (void)state;
    sums all[2];
    over_seeds(0, all);
    check_sums(&all[0], "sectors");
    check_sums(&all[1], "distance");
}

/* With dead time there are some tenths of a percent less randoms than delayeds: a photon that meets a block
 * just behind a partner of the other is not seen, half a microsecond later it is. */
static void so_they_do_with_dead_time(void **state)
{
    (void)state;
    sums all[2];
    over_seeds(200, all);
    check_sums(&all[0], "sectors, dead time 200 ns");
    check_sums(&all[1], "distance, dead time 200 ns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delayeds_and_singles_tell_the_randoms),
        cmocka_unit_test(so_they_do_with_dead_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
