/* SPDX-License-Identifier: Apache-2.0
 * The generator of PET data, and rates, when memory runs out, at every single allocation: they say so, and
 * nothing is lost or touched that should not be. */
#include <sluice/pet_rates.h>
#include <sluice/sim_pet.h>

#include "sim/sim_pet_event.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

#include <string.h>

static slc_sim_pet_config small_config(void)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.flood_side = 32;
    config.time_offset_sigma_ps = 100;
    config.singles_hz = 1e6;
    return config;
}

static void open_survives_every_failure(void **state)
{
    (void)state;
    slc_sim_pet_config config = small_config();
    config.isotope = "Ga-68";
    config.crystal = "LSO";
    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_sim_pet *sim = NULL;
        slc_error error = {.status = SLC_OK};
        allocations_left = failures;
        const slc_status status = slc_sim_pet_open(&config, &sim, &error);
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        if (!done) {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(error.status, SLC_ERR_MEMORY);
            assert_null(sim);
        }
        slc_sim_pet_close(sim);
    }
    assert_true(failures >
                8); /* the handle, two lists of modules, spectra, four tables, hits of the sample */
}

static void next_survives_every_failure(void **state)
{
    (void)state;
    const slc_sim_pet_config config = small_config();
    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_sim_pet *sim = NULL;
        slc_error error = {.status = SLC_OK};
        slc_pet_frame *frames = NULL;
        size_t n = 0, capacity = 0;
        slc_sim_pet_truth truth = {.head = {0}};
        slc_pet_singles singles = {.head = {0}};
        assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_OK);
        allocations_left = failures;
        slc_status status = slc_sim_pet_next(sim, 0.01, &frames, &n, &capacity, &truth, &error);
        if (status == SLC_OK) {
            status = slc_sim_pet_next_singles(sim, 0.01, &singles, &truth, &error);
        }
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        assert_true(n <= capacity);
        if (done) {
            assert_true(n > 9000);
            assert_true(truth.head.size == n + singles.head.size);
        } else {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(error.status, SLC_ERR_MEMORY);
        }
        slc_sim_pet_close(sim);
        free(frames);
        slc_columns_clear(&slc_sim_pet_truth_schema, &truth);
        slc_columns_clear(&slc_pet_singles_schema, &singles);
    }
    assert_true(failures > 8);
}

/* Adds singles, and pairs long before them; the first failure. */
static slc_status add_all(slc_pet_rates *rates, slc_pet_result *result, slc_error *error)
{
    const slc_pet_totals totals = {.checksum = 0};
    const slc_status status = slc_pet_rates_add(
        rates, &(slc_pet_batch){.result = result, .totals = &totals, .skipped = 2}, error);
    return status == SLC_OK ? slc_pet_rates_finish(rates, NULL, error) : status;
}

static void rates_survive_every_failure(void **state)
{
    (void)state;
    slc_pet_rates_config config = {.size = sizeof config, .window_ns = 4, .bin_s = 1};
    assert_int_equal(slc_pet_scanner("mouse20", &config.geometry, NULL), SLC_OK);
    config.good = (slc_pet_good){
        .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 520, .sectors = 20, .min_sectors = 2};
    int64_t time[] = {0, INT64_C(1000000000000), INT64_C(5000000000000)};
    uint32_t crystal[] = {0, 300, 1};
    float energy[] = {511, 511, 511};
    enum { PAIRS = 100 }; /* and as many rows: more than there is room for at first */
    int64_t pair_time[PAIRS];
    uint8_t delayed[PAIRS] = {0};
    for (int i = 0; i < PAIRS; i++) {
        pair_time[i] = -INT64_C(1000000000000) * (i + 5);
    }
    slc_pet_result result = {
        .singles = {.head = {.size = 3}, .time_ps = time, .crystal = crystal, .energy_kev = energy},
        .pairs = {.head = {.size = PAIRS}, .time_ps = pair_time, .delayed = delayed}};
    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_pet_rates *rates = NULL;
        slc_error error = {.status = SLC_OK};
        allocations_left = failures;
        slc_status status = slc_pet_rates_open(&config, &rates, &error);
        status = status == SLC_OK ? add_all(rates, &result, &error) : status;
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        if (done) {
            assert_int_equal(slc_pet_rates_rows(rates)->head.size, PAIRS + 5);
        } else {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(error.status, SLC_ERR_MEMORY);
        }
        if (rates != NULL && !done) { /* rows are as they were, and more can be added */
            const size_t before = slc_pet_rates_rows(rates)->head.size;
            assert_true(before <= PAIRS + 5);
            assert_int_equal(add_all(rates, &result, &error), SLC_OK);
            /* Losses are spread over the time since the call before, which is none or all of it. */
            assert_in_range(slc_pet_rates_rows(rates)->head.size, PAIRS + 3, PAIRS + 6);
        }
        slc_pet_rates_close(rates);
    }
    assert_true(failures > 8); /* handle, blocks, rule, two tables, rows twice with their numbers */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_survives_every_failure),
        cmocka_unit_test(next_survives_every_failure),
        cmocka_unit_test(rates_survive_every_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
