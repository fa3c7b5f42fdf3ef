/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stage of coincidences refuses, by which words, and inputs at the limits of what it takes: a
 * million singles at once, a chain of a million, a window of a second. Work that grew with their square would
 * not end here in an hour.
 */
#include "support/cmocka_all.h"
#include "support/pet_cases.h"
#include "support/sanitized.h"

#include <sluice/pet_coincidence.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000 };

static slc_pet_coincidence_config defaults(void)
{
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    return config;
}

static slc_pet_coincidence *open_stage(const slc_pet_coincidence_config *config)
{
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = NULL;
    if (slc_pet_coincidence_open(config, &stage, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return stage;
}

/* ---- what is refused --------------------------------------------------------------------------- */

static void assert_refused(const slc_pet_coincidence_config *config, const char *text)
{
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = (void *)&error;
    assert_int_equal(slc_pet_coincidence_open(config, &stage, &error), SLC_ERR_USAGE);
    assert_null(stage);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s' does not say '%s'", error.text, text);
    }
}

#define REFUSED(change, text)                                                                                \
    do {                                                                                                     \
        slc_pet_coincidence_config c = defaults();                                                           \
        c.good = pet_cases_good(SLC_PET_GOOD_DIFFERENT_CRYSTAL);                                             \
        change;                                                                                              \
        assert_refused(&c, text);                                                                            \
    } while (0)

static void configurations_that_cannot_be_are_refused(void **state)
{
    (void)state;
    REFUSED(c.window_ns = 0, "window:");
    REFUSED(c.window_ns = -4, "window:");
    REFUSED(c.window_ns = NAN, "window:");
    REFUSED(c.window_ns = INFINITY, "window:");
    REFUSED(c.offset_ns = -1, "offset:");
    REFUSED(c.offset_ns = NAN, "offset:");
    REFUSED(c.offset_ns = 1e16, "offset:");
    REFUSED(c.policy = SLC_PET_POLICIES, "policy:");
    REFUSED((c.policy = SLC_PET_OPENGATE_TAKE_ALL_GOODS, c.offset_ns = 100),
            "opengate:TakeAllGoods has no delayed windows");
    REFUSED((c.low_kev = 650, c.high_kev = 350), "energies:");
    REFUSED(c.low_kev = NAN, "energies:");
    REFUSED(c.exec.target = (slc_simd_target)99, "target:");
    REFUSED(c.good.kind = SLC_PET_GOOD_KINDS, "good:");
    REFUSED((c.good.kind = SLC_PET_GOOD_SECTORS, c.good.sectors = 0), "good.sectors:");
    REFUSED((c.good.kind = SLC_PET_GOOD_SECTORS, c.good.sectors = 25), "good.sectors:");
    REFUSED((c.good.kind = SLC_PET_GOOD_SECTORS, c.good.min_sectors = 13), "good.min_sectors:");
    REFUSED((c.good.kind = SLC_PET_GOOD_SECTORS, c.good.crystals_per_ring = 0), "good.crystals_per_ring:");
    REFUSED((c.good.kind = SLC_PET_GOOD_DISTANCE, c.good.radius_mm = 0), "good");
    REFUSED((c.good.kind = SLC_PET_GOOD_DISTANCE, c.good.pitch_z_mm = NAN), "good");
    REFUSED((c.good.kind = SLC_PET_GOOD_DISTANCE, c.good.min_mm = -1), "good");
    REFUSED((c.good.kind = SLC_PET_GOOD_DISTANCE, c.good.max_axial_mm = NAN), "good");
}

static void run_times(slc_pet_coincidence *stage, const int64_t *times, size_t n, slc_status wanted,
                      const char *text)
{
    static uint32_t crystals[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static float energies[8];
    int64_t copy[8];
    memcpy(copy, times, n * sizeof *times);
    const slc_pet_singles some = {
        .head = {.size = n}, .time_ps = copy, .crystal = crystals, .energy_kev = energies};
    slc_pet_groups rows = {0};
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_pet_coincidence_run(stage, &some, false, &rows, &error), wanted);
    if (text != NULL) {
        assert_string_equal(error.text, text);
        assert_int_equal(rows.head.size, 0);
    }
    slc_columns_clear(&slc_pet_groups_schema, &rows);
}

static slc_status run_f64(slc_pet_coincidence *stage, double a, double b, slc_error *error)
{
    double times[] = {a, b};
    uint32_t crystals[] = {1, 2};
    float energies[] = {511, 511};
    const slc_pet_singles_f64 some = {
        .head = {.size = 2}, .time_ns = times, .crystal = crystals, .energy_kev = energies};
    slc_pet_groups rows = {0};
    const slc_status status = slc_pet_coincidence_run_f64(stage, &some, true, &rows, error);
    assert_true(status == SLC_OK || rows.head.size == 0);
    slc_columns_clear(&slc_pet_groups_schema, &rows);
    return status;
}

/* And nothing is taken, so that the input can go on with what is right. */
static void disorder_is_named(void **state)
{
    (void)state;
    const slc_pet_coincidence_config config = defaults();
    slc_pet_coincidence *stage = open_stage(&config);
    run_times(stage, (int64_t[]){1000, 2000, 1999}, 3, SLC_ERR_FORMAT,
              "singles: number 2 is at 1.999 ns, behind one at 2.000 ns: not in time order");
    run_times(stage, (int64_t[]){1000, 2000, 2000}, 3, SLC_OK, NULL);
    run_times(stage, (int64_t[]){1000}, 1, SLC_ERR_FORMAT,
              "singles: number 3 is at 1.000 ns, behind one at 2.000 ns: not in time order");
    run_times(stage, (int64_t[]){2000, 500000, 7}, 3, SLC_ERR_FORMAT,
              "singles: number 5 is at 0.007 ns, behind one at 500.000 ns: not in time order");
    run_times(stage, (int64_t[]){2000, 500000, 500001}, 3, SLC_OK, NULL);
    slc_pet_coincidence_counts counts;
    slc_pet_coincidence_counts_of(stage, &counts);
    assert_int_equal(counts.singles, 6);
    slc_error error = {SLC_OK, ""};
    assert_int_equal(run_f64(stage, 600000, 600001, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "singles: the input began with times of the other type");
    slc_pet_coincidence_close(stage);
}

static void times_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    const slc_pet_coincidence_config config = defaults();
    slc_pet_coincidence *stage = open_stage(&config);
    slc_error error = {SLC_OK, ""};
    assert_int_equal(run_f64(stage, NAN, 1, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "number 0"));
    assert_int_equal(run_f64(stage, 1, NAN, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "number 1"));
    assert_int_equal(run_f64(stage, 2, 1, &error), SLC_ERR_FORMAT);
    assert_int_equal(run_f64(stage, 1, 2, &error), SLC_OK);
    slc_pet_coincidence_close(stage);
}

static void integer_times_need_whole_picoseconds(void **state)
{
    (void)state;
    slc_pet_coincidence_config config = defaults();
    config.window_ns = 0.0005;
    slc_pet_coincidence *stage = open_stage(&config);
    slc_error error = {SLC_OK, ""};
    run_times(stage, (int64_t[]){1, 2}, 2, SLC_ERR_USAGE,
              "window 0.0005 ns, offset 0 ns: not whole picoseconds, which the times are");
    assert_int_equal(run_f64(stage, 1, 2, &error), SLC_OK);
    slc_pet_coincidence_close(stage);
    config.window_ns = 4.3;
    config.offset_ns = 0.1 + 0.2; /* 300 ps as well as floating point can say it */
    stage = open_stage(&config);
    run_times(stage, (int64_t[]){1, 2}, 2, SLC_OK, NULL);
    slc_pet_coincidence_close(stage);
}

static void times_may_be_as_far_apart_as_they_can(void **state)
{
    (void)state;
    slc_pet_coincidence_config config = defaults();
    for (int mode = 0; mode < 4; mode++) {
        config.all_open = mode % 2;
        config.offset_ns = mode / 2 ? 5 : 0;
        slc_pet_coincidence *stage = open_stage(&config);
        run_times(stage, (int64_t[]){INT64_MIN, INT64_MIN + 6000, -1, INT64_MAX - 6000, INT64_MAX}, 5, SLC_OK,
                  NULL);
        slc_pet_groups rows = {0};
        slc_error error = {SLC_OK, ""};
        const slc_pet_singles none = {.head = {.size = 0}};
        assert_int_equal(slc_pet_coincidence_run(stage, &none, true, &rows, &error), SLC_OK);
        slc_pet_coincidence_counts counts;
        slc_pet_coincidence_counts_of(stage, &counts);
        assert_int_equal(counts.pairs, 2);
        slc_columns_clear(&slc_pet_groups_schema, &rows);
        slc_pet_coincidence_close(stage);
    }
}

/* ---- a million --------------------------------------------------------------------------------- */

static int64_t *times;
static uint32_t *crystals;
static float *energies;

static int make_million(void **state)
{
    (void)state;
    times = calloc(MILLION, sizeof *times);
    crystals = calloc(MILLION, sizeof *crystals);
    energies = calloc(MILLION, sizeof *energies);
    for (uint32_t i = 0; i < MILLION && crystals != NULL; i++) {
        crystals[i] = i;
    }
    return times != NULL && crystals != NULL && energies != NULL ? 0 : -1;
}

static int free_million(void **state)
{
    (void)state;
    free(times);
    free(crystals);
    free(energies);
    return 0;
}

/* All singles in batches; the counts, and as many rows as they say. */
static slc_pet_coincidence_counts run_million(const slc_pet_coincidence_config *config, size_t batch)
{
    slc_pet_coincidence *stage = open_stage(config);
    slc_pet_groups rows = {0};
    slc_error error = {SLC_OK, ""};
    for (size_t at = 0, n = 0; at < MILLION; at += n) {
        n = MILLION - at < batch ? MILLION - at : batch;
        const slc_pet_singles some = {.head = {.size = n},
                                      .time_ps = times + at,
                                      .crystal = crystals + at,
                                      .energy_kev = energies + at};
        if (slc_pet_coincidence_run(stage, &some, at + n == MILLION, &rows, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
    }
    slc_pet_coincidence_counts counts;
    slc_pet_coincidence_counts_of(stage, &counts);
    assert_int_equal(rows.head.size, counts.pairs + counts.groups);
    slc_columns_clear(&slc_pet_groups_schema, &rows);
    slc_pet_coincidence_close(stage);
    return counts;
}

static void set_times(int64_t step)
{
    for (int64_t i = 0; i < MILLION; i++) {
        times[i] = i * step;
    }
}

/* The configuration by number: windows, delay, threads. */
static slc_pet_coincidence_config numbered(int number, double window_ns)
{
    slc_pet_coincidence_config config = defaults();
    config.window_ns = window_ns;
    config.all_open = number & 1;
    config.offset_ns = number & 2 ? window_ns : 0;
    config.exec.threads = number & 4 ? 4 : 1;
    return config;
}

static const size_t batches[] = {MILLION, 100000, 1000, 10};
enum { BATCHES = sizeof batches / sizeof *batches };

static void a_million_at_once_are_one_window(void **state)
{
    (void)state;
    set_times(0);
    for (int number = 0; number < 8; number++) {
        const slc_pet_coincidence_config config = numbered(number, 4);
        for (size_t b = test_small() ? (size_t)number % 2 : 0; b < BATCHES; b += (size_t)test_step(2)) {
            const slc_pet_coincidence_counts counts = run_million(&config, batches[b]);
            assert_int_equal(counts.singles, MILLION);
            assert_int_equal(counts.windows, number & 2 ? 0 : number & 1 ? MILLION - 1 : 1);
            /* The last but one to open sees one other. */
            assert_int_equal(counts.pairs, (number & 3) == 1);
        }
    }
}

static void a_chain_of_a_million_is_cut_by_its_windows(void **state)
{
    (void)state;
    set_times(1000);
    for (int number = 0; number < 8; number++) {
        slc_pet_coincidence_config config = numbered(number, 4);
        config.closed = false;
        for (size_t b = test_small() ? (size_t)number % 2 : 0; b < BATCHES; b += (size_t)test_step(2)) {
            const slc_pet_coincidence_counts counts = run_million(&config, batches[b]);
            /* Delayed: four open windows, the seven that these reach lie in them, and so on. */
            const uint64_t wanted[] = {MILLION / 4, MILLION - 1, MILLION / 11 * 4, MILLION - 4};
            assert_int_equal(counts.windows, wanted[number & 3]);
        }
    }
}

static void a_window_of_a_second_holds_a_million(void **state)
{
    (void)state;
    set_times(1500000); /* 1.5 s in all */
    for (int number = 0; number < 8; number++) {
        slc_pet_coincidence_config config = numbered(number, 1e9);
        for (size_t b = test_small() ? (size_t)number % 2 : 0; b < BATCHES; b += (size_t)test_step(2)) {
            const slc_pet_coincidence_counts counts = run_million(&config, batches[b]);
            const uint64_t inside = 666666;               /* behind the first, to 1 s */
            const uint64_t beyond = MILLION - 1 - inside; /* that come later than 1 s behind the first */
            const uint64_t wanted[] = {2, MILLION - 1, beyond, beyond};
            assert_int_equal(counts.windows, wanted[number & 3]);
            assert_int_equal(counts.multiplicity[15], (number & 3) == 0   ? 2
                                                      : (number & 3) == 1 ? MILLION - 14
                                                                          : beyond - 13);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_that_cannot_be_are_refused),
        cmocka_unit_test(disorder_is_named),
        cmocka_unit_test(times_that_are_no_numbers_are_refused),
        cmocka_unit_test(integer_times_need_whole_picoseconds),
        cmocka_unit_test(times_may_be_as_far_apart_as_they_can),
        cmocka_unit_test(a_million_at_once_are_one_window),
        cmocka_unit_test(a_chain_of_a_million_is_cut_by_its_windows),
        cmocka_unit_test(a_window_of_a_second_holds_a_million),
    };
    return cmocka_run_group_tests(tests, make_million, free_million);
}
