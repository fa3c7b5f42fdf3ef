/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates: bins of time whatever the order, randoms of pairs and in all against sums over all pairs, dead time
 * and back, and what cannot be.
 */
#include <sluice/pet_rates.h>

#include "base/splitmix.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second = INT64_C(1000000000000);

static void is_near(double value, double wanted, double by)
{
    if (!(fabs(value - wanted) <= by)) {
        fail_msg("%.17g is not within %.3g of %.17g", value, by, wanted);
    }
}

/* 24 crystals a ring, 10 rings. */
static slc_pet_rates_config small(void)
{
    return (slc_pet_rates_config){.geometry = {.channels = 4,
                                               .modules = 1,
                                               .module_rings = 1,
                                               .blocks_y = 2,
                                               .blocks_z = 2,
                                               .crystals_y = 3,
                                               .crystals_z = 5,
                                               .radius_mm = 60,
                                               .pitch_z_mm = 2,
                                               .depth_mm = 10},
                                  .window_ns = 5,
                                  .bin_s = 1};
}

static slc_pet_rates *open_rates(const slc_pet_rates_config *config)
{
    slc_pet_rates *rates;
    slc_error error = {.status = SLC_OK};
    if (slc_pet_rates_open(config, &rates, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return rates;
}

/* ---- singles --------------------------------------------------------------------------------------- */

enum { SINGLES = 5000 };

typedef struct made {
    int64_t time[SINGLES];
    uint32_t crystal[SINGLES];
    float energy[SINGLES];
} made;

/* Over five seconds from −1.5 s on, in any order; crystals at unequal rates. */
static void make(made *m, uint64_t seed, uint32_t crystals)
{
    for (size_t i = 0; i < SINGLES; i++) {
        m->time[i] = (int64_t)(slc_random_u64(&seed) % (uint64_t)(5 * second)) - second * 3 / 2;
        const uint32_t a = slc_random_below(&seed, crystals), b = slc_random_below(&seed, crystals);
        m->crystal[i] = a < b ? a : b;
        m->energy[i] = 511;
    }
}

static slc_pet_singles part_of(made *m, size_t first, size_t n)
{
    return (slc_pet_singles){.head = {.size = n},
                             .time_ps = m->time + first,
                             .crystal = m->crystal + first,
                             .energy_kev = m->energy + first};
}

static void add(slc_pet_rates *rates, made *m, size_t first, size_t n)
{
    const slc_pet_singles singles = part_of(m, first, n);
    slc_error error;
    assert_int_equal(slc_pet_rates_add_singles(rates, &singles, &error), SLC_OK);
}

static void bins_are_as_counted(void **state)
{
    (void)state;
    static made m;
    const slc_pet_rates_config config = small();
    slc_pet_rates *rates = open_rates(&config);
    double seconds;
    assert_true(slc_pet_rates_singles(rates, &seconds)[0] == 0 && seconds == 0);
    assert_true(slc_pet_rates_randoms(rates) == 0);
    make(&m, 3, 240);
    for (size_t i = 0; i < SINGLES; i += 100) { /* in parts: rows are put in front and behind */
        add(rates, &m, i, 100);
    }
    uint64_t of_bin[6] = {0}, of_crystal[240] = {0};
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < SINGLES; i++) {
        of_bin[(m.time[i] + 2 * second) / second]++;
        of_crystal[m.crystal[i]]++;
        first = m.time[i] < first ? m.time[i] : first;
        last = m.time[i] > last ? m.time[i] : last;
    }
    const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
    assert_int_equal(rows->head.size, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_true(rows->begin_s[i] == (double)i - 2);
        assert_true(rows->singles[i] == of_bin[i]);
    }
    const uint64_t *counts = slc_pet_rates_singles(rates, &seconds);
    assert_memory_equal(counts, of_crystal, sizeof of_crystal);
    is_near(seconds, (double)(last - first) * 1e-12, 1e-12);
    slc_pet_rates_close(rates);
}

static void pairs_and_counts_have_their_bins(void **state)
{
    (void)state;
    const slc_pet_rates_config config = small();
    slc_pet_rates *rates = open_rates(&config);
    int64_t time[] = {second * 5 / 2, second * 7 / 2, second * 5 / 2 + 1, -1};
    uint8_t delayed[] = {0, 1, 0, 0};
    const slc_pet_coincidences pairs = {.head = {.size = 4}, .time_ps = time, .delayed = delayed};
    slc_error error;
    assert_int_equal(slc_pet_rates_add_pairs(rates, &pairs, &error), SLC_OK);
    assert_int_equal(slc_pet_rates_add_counts(rates, 0, 100, 3, 2, &error), SLC_OK);
    assert_int_equal(slc_pet_rates_add_counts(rates, second - 1, 50, 1, 0, &error), SLC_OK);
    const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
    const uint64_t prompts[] = {1, 0, 0, 2, 0}, delayeds[] = {0, 0, 0, 0, 1}, frames[] = {0, 150, 0, 0, 0},
                   lost[] = {0, 4, 0, 0, 0}, multiples[] = {0, 2, 0, 0, 0}, none[5] = {0};
    assert_int_equal(rows->head.size, 5);
    assert_true(rows->begin_s[0] == -1);
    assert_memory_equal(rows->prompts, prompts, sizeof prompts);
    assert_memory_equal(rows->delayeds, delayeds, sizeof delayeds);
    assert_memory_equal(rows->frames, frames, sizeof frames);
    assert_memory_equal(rows->lost, lost, sizeof lost);
    assert_memory_equal(rows->multiples, multiples, sizeof multiples);
    assert_memory_equal(rows->singles, none, sizeof none);
    assert_true(slc_pet_rates_randoms(rates) == 0);
    slc_pet_rates_close(rates);
}

/* ---- randoms --------------------------------------------------------------------------------------- */

/* Two crystals in one second: 2 · W · n1 · n2 / t, t from the first single to the last and a mean gap more at
 * either end; or the whole bin. */
static void randoms_of_two_crystals(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.bin_s = 10;
    slc_pet_rates *rates = open_rates(&config);
    static made m;
    for (size_t i = 0; i < 1001; i++) {
        m.time[i] = second + (int64_t)i * (second / 1000);
        m.crystal[i] = i % 4 == 0 ? 7 : 100;
    }
    add(rates, &m, 0, 1001); /* 251 of one, 750 of the other, 1 s */
    const double wanted = 2 * 5e-9 * 251 * 750 / 1.002;
    is_near(slc_pet_rates_randoms_of(rates, 7, 100), wanted, 1e-12);
    is_near(slc_pet_rates_randoms_of(rates, 100, 7), wanted, 1e-12);
    is_near(slc_pet_rates_randoms(rates), wanted, 1e-12);
    assert_true(slc_pet_rates_randoms_of(rates, 7, 7) == 0); /* not good */
    assert_true(slc_pet_rates_randoms_of(rates, 7, 8) == 0);
    assert_true(slc_pet_rates_randoms_of(rates, 7, 240) == 0); /* there is none */
    slc_pet_rates_close(rates);
    config.whole_bins = true;
    rates = open_rates(&config);
    add(rates, &m, 0, 1001);
    is_near(slc_pet_rates_randoms(rates), 2 * 5e-9 * 251 * 750 / 10, 1e-12);
    slc_pet_rates_close(rates);
}

/* Singles less than a window apart tell nothing of how long was measured: they have the whole bin. */
static void few_singles_are_few_randoms(void **state)
{
    (void)state;
    const struct {
        int64_t time[4];
        size_t n;
        double wanted;
    } cases[] = {
        {{5}, 1, 0},
        {{5, 12}, 2, 2 * 5e-9},                                 /* a pair in a bin of 1 s */
        {{5, 5 + 4999, 5, 9}, 4, 2 * 5e-9 * 4},                 /* a crowd, in any order */
        {{-3, 4}, 2, 0},                                        /* a pair in two bins */
        {{second / 2, second / 2 + 8000}, 2, 2 * 5e-9 / 24e-9}, /* two moments, and a gap at both ends */
        {{second / 4, second / 4 + 7, second / 2, second / 2 + 7}, 4, 2 * 5e-9 * 4 / 0.75},
        {{0, 7, second * 3, second * 3 + 7}, 4, 4 * 5e-9}, /* bins at both ends, a gap of 3 s */
    };
    const slc_pet_rates_config config = small();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_pet_rates *rates = open_rates(&config);
        static made m;
        for (size_t k = 0; k < cases[i].n; k++) {
            m.time[k] = cases[i].time[k];
            m.crystal[k] = k % 2 == 0 ? 7 : 100;
        }
        add(rates, &m, 0, cases[i].n / 2);
        add(rates, &m, cases[i].n / 2, cases[i].n - cases[i].n / 2);
        is_near(slc_pet_rates_randoms(rates), cases[i].wanted, 1e-9 * cases[i].wanted);
        is_near(slc_pet_rates_randoms_of(rates, 7, 100), cases[i].wanted, 1e-9 * cases[i].wanted);
        slc_pet_rates_close(rates);
    }
}

static void changing_rates_are_followed(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.bin_s = 0.5;
    slc_pet_rates *rates = open_rates(&config);
    static made m;
    size_t n = 0;
    /* 3 500 singles in the first half second, 500 in the next, the last at its end. */
    for (int64_t i = 0; i < 4000; i++) {
        m.time[n] = i < 3500 ? i * (second / 7000) : second / 2 + (i - 3499) * (second / 1000) - (i == 3999);
        m.crystal[n++] = i % 2 == 0 ? 7 : 100;
    }
    add(rates, &m, 0, n);
    const double wanted = 2 * 5e-9 * (1750.0 * 1750 / 0.5 + 250.0 * 250 / 0.5);
    is_near(slc_pet_rates_randoms_of(rates, 7, 100), wanted, 1e-9);
    is_near(slc_pet_rates_randoms(rates), wanted, 1e-9);
    slc_pet_rates_close(rates);
}

/* Against the definition, written anew: are two crystals good? */
static bool is_good(const slc_pet_good *good, uint32_t a, uint32_t b)
{
    const double pi = acos(-1);
    if (good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL) {
        return a != b;
    }
    if (good->kind == SLC_PET_GOOD_SECTORS) {
        const int per = (int)(24 / good->sectors);
        const int d = abs((int)(a % 24) / per - (int)(b % 24) / per);
        return (d < (int)good->sectors - d ? d : (int)good->sectors - d) >= (int)good->min_sectors;
    }
    const double across = 2 * good->radius_mm * fabs(sin(pi * ((double)(a % 24) - (double)(b % 24)) / 24));
    const double along = good->pitch_z_mm * abs((int)(a / 24) - (int)(b / 24));
    return across >= good->min_mm && along <= good->max_axial_mm;
}

static void total_is_the_sum_over_pairs(const slc_pet_good *good)
{
    slc_pet_rates_config config = small();
    config.good = *good;
    config.good.crystals_per_ring = 24;
    slc_pet_rates *rates = open_rates(&config);
    static made m;
    make(&m, 17, 240);
    add(rates, &m, 0, SINGLES);
    double sum = 0;
    for (uint32_t a = 0; a < 240; a++) {
        for (uint32_t b = a; b < 240; b++) {
            const double of = slc_pet_rates_randoms_of(rates, a, b);
            assert_true(of >= 0);
            /* every crystal has singles in some bin; of one that has one in each, there is no pair */
            assert_true(is_good(&config.good, a, b) || of == 0);
            sum += of;
        }
    }
    const double total = slc_pet_rates_randoms(rates);
    is_near(total, sum, 1e-12 * sum);
    slc_pet_rates_close(rates);
}

static void totals_of_all_kinds_of_good(void **state)
{
    (void)state;
    total_is_the_sum_over_pairs(&(slc_pet_good){.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL});
    const uint32_t sectors[] = {1, 2, 3, 4, 8, 12, 24};
    for (size_t i = 0; i < sizeof sectors / sizeof *sectors; i++) {
        for (uint32_t least = 0; least <= sectors[i] / 2; least++) {
            total_is_the_sum_over_pairs(
                &(slc_pet_good){.kind = SLC_PET_GOOD_SECTORS, .sectors = sectors[i], .min_sectors = least});
        }
    }
    const double across[] = {0, 1, 40, 59, 119.9, 130}, along[] = {0, 1.9, 2, 7, 18, 1e9};
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            total_is_the_sum_over_pairs(&(slc_pet_good){.kind = SLC_PET_GOOD_DISTANCE,
                                                        .radius_mm = 60,
                                                        .pitch_z_mm = 2,
                                                        .min_mm = across[i],
                                                        .max_axial_mm = along[k]});
        }
    }
}

/* Each good pair counts: without zeros by an accident of the rule, singles of all crystals. */
static void every_good_pair_counts(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.bin_s = 100;
    config.good = (slc_pet_good){
        .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 24, .sectors = 8, .min_sectors = 3};
    slc_pet_rates *rates = open_rates(&config);
    static made m;
    for (size_t i = 0; i < 480; i++) { /* two of each crystal in 1 s */
        m.time[i] = (int64_t)i * second / 479;
        m.crystal[i] = (uint32_t)i % 240;
    }
    add(rates, &m, 0, 480);
    double pairs = 0;
    for (uint32_t a = 0; a < 240; a++) {
        for (uint32_t b = 0; b < 240; b++) {
            pairs += is_good(&config.good, a, b);
        }
    }
    is_near(slc_pet_rates_randoms(rates), 5e-9 * 4 * pairs / (1 + 1.0 / 479),
            1e-9);                        /* its bin begins with it */
    assert_true(pairs == 240.0 * 3 * 30); /* sectors 3, 4 and 5 away, of 30 crystals each */
    slc_pet_rates_close(rates);
}

/* ---- dead time ------------------------------------------------------------------------------------- */

static void dead_time_and_back(void **state)
{
    (void)state;
    is_near(slc_pet_measured_rate(1e5, 1e-6, false), 1e5 / 1.1, 1e-9);
    is_near(slc_pet_measured_rate(1e5, 1e-6, true), 1e5 * exp(-0.1), 1e-9);
    for (int paralysable = 0; paralysable < 2; paralysable++) {
        assert_true(slc_pet_true_rate(0, 1e-6, paralysable != 0) == 0);
        for (int i = 0; i < 138; i++) { /* up to 0.88e6 */
            const double rate = pow(10, 0.0434 * i);
            const double measured = slc_pet_measured_rate(rate, 1e-6, paralysable != 0);
            is_near(slc_pet_true_rate(measured, 1e-6, paralysable != 0), rate, 1e-9 * rate);
        }
        is_near(slc_pet_true_rate(1234, 0, paralysable != 0), 1234, 0);
        assert_true(isnan(slc_pet_true_rate(-1, 1e-6, paralysable != 0)));
        assert_true(isnan(slc_pet_true_rate(NAN, 1e-6, paralysable != 0)));
        assert_true(isnan(slc_pet_true_rate(1, -1e-6, paralysable != 0)));
        assert_true(isnan(slc_pet_measured_rate(-1, 1e-6, paralysable != 0)));
    }
    is_near(slc_pet_true_rate(1e6 * exp(-1), 1e-6, true), 1e6, 1e-6 * 1e6); /* the most there is */
    assert_true(isnan(slc_pet_true_rate(1.001e6 * exp(-1), 1e-6, true)));
    assert_true(isnan(slc_pet_true_rate(1e6, 1e-6, false)));
    assert_true(isnan(slc_pet_true_rate(2e6, 1e-6, false)));
}

/* ---- what cannot be -------------------------------------------------------------------------------- */

static void refuse(const slc_pet_rates_config *config, const char *word)
{
    char other;
    slc_pet_rates *rates = (void *)&other; /* which must become NULL */
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_pet_rates_open(config, &rates, &error), SLC_ERR_USAGE);
    assert_null(rates);
    if (strstr(error.text, word) == NULL) {
        fail_msg("\"%s\" does not name %s", error.text, word);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.window_ns = 0;
    refuse(&config, "window_ns");
    config = small();
    config.bin_s = NAN;
    refuse(&config, "bin_s");
    config.bin_s = 3601;
    refuse(&config, "bin_s");
    config = small();
    config.geometry.blocks_y = 0;
    refuse(&config, "blocks_y");
    config = small();
    config.good = (slc_pet_good){.kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 25, .sectors = 5};
    refuse(&config, "crystals_per_ring");
    config.good.crystals_per_ring = 24;
    refuse(&config, "sectors");
    slc_pet_rates_close(NULL);
}

static void wrong_rows_are_named_and_nothing_is_taken(void **state)
{
    (void)state;
    const slc_pet_rates_config config = small();
    slc_pet_rates *rates = open_rates(&config);
    slc_error error = {.status = SLC_OK};
    int64_t time[] = {0, 1, 2};
    uint32_t crystal[] = {0, 1, 240};
    float energy[3] = {0};
    const slc_pet_singles singles = {
        .head = {.size = 3}, .time_ps = time, .crystal = crystal, .energy_kev = energy};
    assert_int_equal(slc_pet_rates_add_singles(rates, &singles, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "single 2 is of crystal 240"));
    crystal[2] = 2;
    time[1] = INT64_MAX;
    time[2] = INT64_MIN;
    assert_int_equal(slc_pet_rates_add_singles(rates, &singles, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "bins"));
    assert_int_equal(slc_pet_rates_rows(rates)->head.size, 0);
    time[1] = time[2] = INT64_MIN; /* far, but together */
    time[0] = INT64_MIN + 2 * second;
    assert_int_equal(slc_pet_rates_add_singles(rates, &singles, &error), SLC_OK);
    assert_int_equal(slc_pet_rates_rows(rates)->head.size, 3);
    assert_int_equal(slc_pet_rates_add_counts(rates, 0, 1, 1, 1, &error), SLC_ERR_FORMAT);
    assert_int_equal(slc_pet_rates_rows(rates)->head.size, 3);
    assert_true(slc_pet_rates_singles(rates, NULL)[2] == 1);
    slc_pet_rates_close(rates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_as_counted),
        cmocka_unit_test(pairs_and_counts_have_their_bins),
        cmocka_unit_test(randoms_of_two_crystals),
        cmocka_unit_test(few_singles_are_few_randoms),
        cmocka_unit_test(changing_rates_are_followed),
        cmocka_unit_test(totals_of_all_kinds_of_good),
        cmocka_unit_test(every_good_pair_counts),
        cmocka_unit_test(dead_time_and_back),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(wrong_rows_are_named_and_nothing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
