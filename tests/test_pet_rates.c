/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates beside their definition (tests/oracle/pet_rates_oracle.c): bins and randoms for every kind of good
 * pairs, any batch, few singles and changing rates; dead time and back; what cannot be.
 */
#include "pet/pet_rates_sum.h"

#include "base/splitmix.h"
#include "oracle/pet_rates_oracle.h"
#include "support/cmocka_all.h"
#include "support/near.h"
#include "support/pet_small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second = INT64_C(1000000000000);

static slc_pet_rates_config small(void)
{
    return (slc_pet_rates_config){
        .size = sizeof(slc_pet_rates_config), .geometry = pet_small, .window_ns = 5, .bin_s = 1};
}

/* ---- singles ----------------------------------------------------------------------------------- */

enum { SINGLES = 5000, ALL = 240 };

typedef struct made {
    int64_t time[SINGLES];
    uint32_t crystal[SINGLES];
    float energy[SINGLES];
} made;

static int by_time(const void *a, const void *b)
{
    const int64_t s = *(const int64_t *)a, t = *(const int64_t *)b;
    return (s > t) - (s < t);
}

/* Over five seconds from −1.5 s on, in order; crystals at unequal rates. */
static void make(made *m, uint64_t seed, uint32_t crystals)
{
    for (size_t i = 0; i < SINGLES; i++) {
        m->time[i] = (int64_t)(slc_random_u64(&seed) % (uint64_t)(5 * second)) - second * 3 / 2;
        const uint32_t a = slc_random_below(&seed, crystals), b = slc_random_below(&seed, crystals);
        m->crystal[i] = a < b ? a : b;
        m->energy[i] = 511;
    }
    qsort(m->time, SINGLES, sizeof *m->time, by_time);
}

static slc_pet_singles part_of(made *m, size_t first, size_t n)
{
    return (slc_pet_singles){.head = {.size = n},
                             .time_ps = m->time + first,
                             .crystal = m->crystal + first,
                             .energy_kev = m->energy + first};
}

/* The rates of the first n singles, in batches. */
static slc_pet_rates *rates_of(const slc_pet_rates_config *config, made *m, size_t n, size_t batch)
{
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_rates *rates = NULL;
    slc_error error = {.status = SLC_OK};
    if (slc_pet_rates_open(config, &rates, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    for (size_t at = 0; at < n; at += batch) {
        const slc_pet_result result = {.singles = part_of(m, at, n - at < batch ? n - at : batch)};
        assert_int_equal(
            slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, &error), SLC_OK);
    }
    assert_int_equal(slc_pet_rates_finish(rates, NULL, &error), SLC_OK);
    return rates;
}

static double randoms_of(const slc_pet_rates_config *config, made *m, size_t n, size_t batch)
{
    slc_pet_rates_totals totals;
    slc_pet_rates *rates = rates_of(config, m, n, batch);
    slc_pet_rates_totals_of(rates, &totals);
    slc_pet_rates_close(rates);
    return totals.randoms;
}

static void bins_are_as_counted(void **state)
{
    (void)state;
    static made m;
    slc_pet_rates_config config = small();
    make(&m, 3, ALL);
    const slc_pet_singles all = part_of(&m, 0, SINGLES);
    size_t n = 0;
    double seconds = 0;
    oracle_pet_bin *wanted = oracle_pet_rates(&config, &all, NULL, &n, &seconds);
    assert_int_equal(n, 6);
    const size_t batches[] = {SINGLES, 100, 1};
    for (size_t b = 0; b < 3; b++) {
        slc_pet_rates *rates = rates_of(&config, &m, SINGLES, batches[b]);
        const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
        slc_pet_rates_totals totals;
        slc_pet_rates_totals_of(rates, &totals);
        assert_int_equal(rows->head.size, n);
        for (size_t i = 0; i < n; i++) {
            assert_near(rows->begin_s[i], wanted[i].begin_s, 1e-12);
            assert_near(rows->length_s[i], wanted[i].length_s, 1e-9);
            assert_int_equal(rows->singles[i], wanted[i].singles);
            assert_near(rows->randoms[i], wanted[i].randoms, 1e-9 * wanted[i].randoms);
        }
        assert_near(totals.seconds, seconds, 1e-12);
        slc_pet_rates_close(rates);
    }
    free(wanted);
}

static void pairs_and_counts_have_their_bins(void **state)
{
    (void)state;
    const slc_pet_rates_config config = small();
    slc_pet_rates *rates = NULL;
    int64_t time[] = {second * 5 / 2, second * 7 / 2, second * 5 / 2 + 1, -1}, single = second / 2;
    uint8_t delayed[] = {0, 1, 0, 0};
    uint32_t crystal = 3;
    float energy = 511;
    slc_pet_result result = {.pairs = {.head = {.size = 4}, .time_ps = time, .delayed = delayed}};
    slc_pet_totals totals = {.checksum = 0};
    slc_error error;
    assert_int_equal(slc_pet_rates_open(&config, &rates, &error), SLC_OK);
    assert_int_equal(slc_pet_rates_add(
                         rates, &(slc_pet_batch){.result = &result, .totals = &totals, .skipped = 3}, &error),
                     SLC_OK);
    /* What has no time of its own goes to the first single's. */
    result.pairs.head.size = 0;
    result.singles = (slc_pet_singles){
        .head = {.size = 1}, .time_ps = &single, .crystal = &crystal, .energy_kev = &energy};
    totals.prompt.multiplicity[3] = 2;
    totals.sort.late = 1;
    assert_int_equal(slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, &error),
                     SLC_OK);
    assert_int_equal(slc_pet_rates_finish(rates, NULL, &error), SLC_OK);
    const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
    const uint64_t prompts[] = {1, 0, 2, 0}, delayeds[] = {0, 0, 0, 1}, lost[] = {0, 4, 0, 0},
                   multiples[] = {0, 2, 0, 0}, singles[] = {0, 1, 0, 0};
    const double begin_s[] = {-1, 0, 2, 3};
    assert_int_equal(rows->head.size, 4); /* none for a bin without anything */
    assert_memory_equal(rows->begin_s, begin_s, sizeof begin_s);
    assert_memory_equal(rows->prompts, prompts, sizeof prompts);
    assert_memory_equal(rows->delayeds, delayeds, sizeof delayeds);
    assert_memory_equal(rows->lost, lost, sizeof lost);
    assert_memory_equal(rows->multiples, multiples, sizeof multiples);
    assert_memory_equal(rows->singles, singles, sizeof singles);
    slc_pet_rates_close(rates);
}

/* ---- randoms ----------------------------------------------------------------------------------- */

/* Two crystals in one second: 2 · W · n1 · n2 / t, t from the first single to the last and a mean gap more at
 * either end. */
static void randoms_of_two_crystals(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.bin_s = 10;
    static made m;
    for (size_t i = 0; i < 1001; i++) {
        m.time[i] = second + (int64_t)i * (second / 1000);
        m.crystal[i] = i % 4 == 0 ? 7 : 100;
    }
    /* 251 of one, 750 of the other, 1 s */
    assert_near(randoms_of(&config, &m, 1001, 1001), 2 * 5e-9 * 251 * 750 / 1.002, 1e-12);
    assert_near(randoms_of(&config, &m, 1001, 10), 2 * 5e-9 * 251 * 750 / 1.002, 1e-12);
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
        {{5, 5, 9, 5 + 4999}, 4, 2 * 5e-9 * 4},                 /* a crowd */
        {{-3, 4}, 2, 0},                                        /* a pair in two bins */
        {{second / 2, second / 2 + 8000}, 2, 2 * 5e-9 / 24e-9}, /* two moments, and a gap at both ends */
        {{second / 4, second / 4 + 7, second / 2, second / 2 + 7}, 4, 2 * 5e-9 * 4 / 0.75},
        {{0, 7, second * 3, second * 3 + 7}, 4, 4 * 5e-9}, /* bins at both ends, a gap of 3 s */
    };
    const slc_pet_rates_config config = small();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static made m;
        for (size_t k = 0; k < cases[i].n; k++) {
            m.time[k] = cases[i].time[k];
            m.crystal[k] = k % 2 == 0 ? 7 : 100;
        }
        const slc_pet_singles singles = part_of(&m, 0, cases[i].n);
        assert_near(oracle_pet_randoms(&config, &singles, NULL), cases[i].wanted, 1e-9 * cases[i].wanted);
        assert_near(randoms_of(&config, &m, cases[i].n, 4), cases[i].wanted, 1e-9 * cases[i].wanted);
        assert_near(randoms_of(&config, &m, cases[i].n, (cases[i].n + 1) / 2), cases[i].wanted,
                    1e-9 * cases[i].wanted);
    }
}

static void changing_rates_are_followed(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.bin_s = 0.5;
    static made m;
    size_t n = 0;
    /* 3 500 singles in the first half second, 500 in the next, the last at its end. */
    for (int64_t i = 0; i < 4000; i++) {
        m.time[n] = i < 3500 ? i * (second / 7000) : second / 2 + (i - 3499) * (second / 1000) - (i == 3999);
        m.crystal[n++] = i % 2 == 0 ? 7 : 100;
    }
    const double wanted = 2 * 5e-9 * (1750.0 * 1750 / 0.5 + 250.0 * 250 / 0.5);
    assert_near(randoms_of(&config, &m, n, 700), wanted, 1e-9);
}

static void total_is_the_sum_over_pairs(const slc_pet_good *good)
{
    slc_pet_rates_config config = small();
    config.good = *good;
    config.good.crystals_per_ring = 24;
    config.good.scanner = &config.geometry;
    static made m;
    make(&m, 17, ALL);
    const slc_pet_singles singles = part_of(&m, 0, SINGLES);
    const double wanted = oracle_pet_randoms(&config, &singles, NULL);
    assert_near(randoms_of(&config, &m, SINGLES, SINGLES), wanted, 1e-9 * wanted);
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

/* Each pair by itself, of those that may be good and of those that may not. */
static void single_pairs(void **state)
{
    (void)state;
    slc_pet_rates_config config = small();
    config.bin_s = 100;
    config.good = (slc_pet_good){
        .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 24, .sectors = 8, .min_sectors = 3};
    slc_pet_rates_sum sum;
    uint32_t count[ALL] = {0};
    size_t good = 0;
    assert_int_equal(slc_pet_rates_sum_open(&config.geometry, &config.good, &sum, NULL), SLC_OK);
    for (uint32_t a = 0; a < ALL; a++) {
        for (uint32_t b = 0; b < a; b++) {
            const bool wanted = oracle_pet_good(&config.good, 24, a, b);
            count[a] = 3;
            count[b] = 2;
            assert_true(slc_pet_rates_products(&sum, count) == (wanted ? 12 : 0));
            count[a] = count[b] = 0;
            good += wanted;
        }
    }
    assert_int_equal(2 * good, 240 * 3 * 30); /* sectors 3, 4 and 5 away, of 30 crystals each */
    slc_pet_rates_sum_close(&sum);
}

/* Limits of each kind alone and of all together, none of which any pair meets exactly. */
static const slc_pet_good by_geometry[] = {
    {.kind = SLC_PET_GOOD_GEOMETRY, .min_degrees = 61.3},
    {.kind = SLC_PET_GOOD_GEOMETRY, .min_degrees = 179},
    {.kind = SLC_PET_GOOD_GEOMETRY, .fov_mm = 33.3},
    {.kind = SLC_PET_GOOD_GEOMETRY, .max_axial_mm = 7.1},
    {.kind = SLC_PET_GOOD_GEOMETRY, .min_modules = 2},
    {.kind = SLC_PET_GOOD_GEOMETRY,
     .min_degrees = 47.7,
     .fov_mm = 48.3,
     .max_axial_mm = 11.3,
     .min_modules = 1},
};

/* Each pair of a scanner's crystals by itself, and the sum over all of them. */
static void pairs_of_scanner(const slc_pet_geometry *g)
{
    const uint32_t n = slc_pet_crystals(g);
    for (size_t i = 0; i < sizeof by_geometry / sizeof *by_geometry; i++) {
        slc_pet_good good = by_geometry[i];
        slc_pet_rates_sum sum;
        uint32_t *count = calloc(n, sizeof *count), all = 0;
        double wanted_sum = 0;
        good.scanner = g;
        assert_non_null(count);
        assert_int_equal(slc_pet_rates_sum_open(g, &good, &sum, NULL), SLC_OK);
        for (uint32_t a = 0; a < n; a++) {
            for (uint32_t b = 0; b < a; b++) {
                const bool wanted = oracle_pet_good(&good, 0, a, b);
                all += wanted;
                wanted_sum += wanted ? 2.0 * (a % 5) * (b % 5) : 0;
                if ((a + b) % 7 == 0) { /* each costs a pass over all crystals */
                    count[a] = 3;
                    count[b] = 2;
                    if (slc_pet_rates_products(&sum, count) != (wanted ? 12 : 0)) {
                        fail_msg("rule %zu: crystals %u and %u are %sgood", i, a, b, wanted ? "" : "not ");
                    }
                    count[a] = count[b] = 0;
                }
            }
        }
        for (uint32_t a = 0; a < n; a++) {
            count[a] = a % 5;
        }
        assert_true(slc_pet_rates_products(&sum, count) == wanted_sum);
        assert_true(all > 0 && all < n * (n - 1) / 2);
        slc_pet_rates_sum_close(&sum);
        free(count);
    }
}

static void good_pairs_by_geometry(void **state)
{
    static const char *const panels = "channels=6,blocks=2x1,crystals=3x5,radius=40mm,pitch=2.3mm,depth=6mm,"
                                      "flat=module,pitch-y=3.1mm,block-gap=1x0mm,turn=13deg,layers=2";
    const slc_pet_rates_config config = small();
    slc_pet_geometry g;
    (void)state;
    pairs_of_scanner(&config.geometry);
    assert_int_equal(slc_pet_scanner(panels, &g, NULL), SLC_OK);
    pairs_of_scanner(&g);
    slc_pet_geometry_clear(&g);
    for (size_t i = 0; i < sizeof by_geometry / sizeof *by_geometry; i++) {
        total_is_the_sum_over_pairs(&by_geometry[i]);
    }
}

/* ---- dead time --------------------------------------------------------------------------------- */

/* The rate that is seen of a true one. */
static double measured_rate(double true_hz, double dead_time_s, bool paralysable)
{
    return paralysable ? true_hz * exp(-true_hz * dead_time_s) : true_hz / (1 + true_hz * dead_time_s);
}

static void dead_time_and_back(void **state)
{
    (void)state;
    for (int paralysable = 0; paralysable < 2; paralysable++) {
        assert_true(slc_pet_true_rate(0, 1e-6, paralysable != 0) == 0);
        for (int i = 0; i < 138; i++) { /* up to 0.88e6 */
            const double rate = pow(10, 0.0434 * i);
            const double measured = measured_rate(rate, 1e-6, paralysable != 0);
            assert_near(slc_pet_true_rate(measured, 1e-6, paralysable != 0), rate, 1e-9 * rate);
        }
        assert_near(slc_pet_true_rate(1234, 0, paralysable != 0), 1234, 0);
        assert_true(isnan(slc_pet_true_rate(-1, 1e-6, paralysable != 0)));
        assert_true(isnan(slc_pet_true_rate(NAN, 1e-6, paralysable != 0)));
        assert_true(isnan(slc_pet_true_rate(1, -1e-6, paralysable != 0)));
    }
    assert_near(slc_pet_true_rate(1e6 * exp(-1), 1e-6, true), 1e6, 1e-6 * 1e6); /* the most there is */
    assert_true(isnan(slc_pet_true_rate(1.001e6 * exp(-1), 1e-6, true)));
    assert_true(isnan(slc_pet_true_rate(1e6, 1e-6, false)));
    assert_true(isnan(slc_pet_true_rate(2e6, 1e-6, false)));
}

/* ---- what cannot be ---------------------------------------------------------------------------- */

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
    config.window_ns = NAN;
    refuse(&config, "window_ns");
    config = small();
    config.bin_s = NAN;
    refuse(&config, "bins of nan s");
    config.bin_s = 3601;
    refuse(&config, "bins of 3601 s");
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
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_rates *rates = NULL;
    slc_error error = {.status = SLC_OK};
    int64_t time[] = {0, 1, 2};
    uint32_t crystal[] = {0, 1, 240};
    float energy[3] = {0};
    const slc_pet_result result = {
        .singles = {.head = {.size = 3}, .time_ps = time, .crystal = crystal, .energy_kev = energy}};
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_OK);
    assert_int_equal(slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, &error),
                     SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "single 2 is of crystal 240"));
    crystal[2] = 2;
    assert_int_equal(slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, &error),
                     SLC_OK);
    assert_int_equal(slc_pet_rates_rows(rates)->singles[0], 3);
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
        cmocka_unit_test(good_pairs_by_geometry),
        cmocka_unit_test(single_pairs),
        cmocka_unit_test(dead_time_and_back),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(wrong_rows_are_named_and_nothing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
