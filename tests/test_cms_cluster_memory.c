/* SPDX-License-Identifier: Apache-2.0
 *
 * Calibration, clustering and positions never allocate while they run: the allocator's calls are counted, for
 * events whose modules are grouped, mixed, crowded and damaged. A `reserve` that runs out of memory says so,
 * keeps what was there, and works when there is memory again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cms/cms_stages.h"
#include "support/failing_allocator.h"
#include "support/random.h"

enum { DIGIS = 4000, EVENTS = 3 };

typedef struct fixture {
    slc_cms_digis digis;
    slc_cms_gains gains;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_cms_cluster_scratch scratch;
    slc_faults faults;
} fixture;

/* Grouped by module in the first event, mixed in the others; some places twice, some outside. */
static int open_fixture(void **state)
{
    static fixture f;
    uint64_t seed = 5;
    f = (fixture){0};
    *state = &f;
    if (slc_columns_reserve(&slc_cms_digis_schema, &f.digis, (size_t)DIGIS * EVENTS, EVENTS) != SLC_OK ||
        slc_columns_reserve(&slc_cms_modules_schema, &f.modules, (size_t)DIGIS * EVENTS, EVENTS) != SLC_OK ||
        slc_columns_reserve(&slc_cms_clusters_schema, &f.clusters, (size_t)DIGIS * EVENTS, EVENTS) !=
            SLC_OK ||
        slc_cms_gains_reserve(&f.gains, 20) != SLC_OK) {
        return -1;
    }
    f.gains.gain_low = 1;
    f.gains.dead = 255;
    f.gains.noisy = 254;
    for (uint32_t e = 0; e < EVENTS; e++) {
        for (uint32_t i = 0; i < DIGIS; i++) {
            const size_t row = f.digis.head.size++;
            f.digis.module[row] = (uint16_t)(e == 0 ? i / 200 : random_below(&seed, 22));
            f.digis.x[row] = (uint16_t)random_below(&seed, 50);
            f.digis.y[row] = (uint16_t)random_below(&seed, i % 100 == 0 ? 832 : 50);
            f.digis.adc[row] = (uint16_t)random_below(&seed, 1024);
        }
        slc_columns_end_event(&f.digis);
    }
    return 0;
}

static int close_fixture(void **state)
{
    fixture *f = *state;
    slc_columns_clear(&slc_cms_digis_schema, &f->digis);
    slc_columns_clear(&slc_cms_modules_schema, &f->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &f->clusters);
    slc_cms_gains_clear(&f->gains);
    slc_cms_cluster_clear(&f->scratch);
    return 0;
}

static void test_runs_do_not_allocate(void **state)
{
    fixture *f = *state;
    slc_cms_calibrate_config calibrate;
    slc_cms_cluster_config config;
    slc_cms_position_config position;
    slc_cms_calibrate_counts counts;
    slc_cms_calibrate_config_default(&calibrate, SLC_CMS_PHASE1);
    slc_cms_cluster_config_default(&config);
    slc_cms_position_config_default(&position);
    allocator_calls = 0;
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, DIGIS, &f->scratch, NULL), SLC_OK);
    assert_true(allocator_calls > 0); /* the counter counts */
    allocator_calls = 0;
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, DIGIS, &f->scratch, NULL), SLC_OK);
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, DIGIS / 2, &f->scratch, NULL), SLC_OK);
    assert_int_equal(slc_cms_calibrate_run(&calibrate, &f->gains, 0, &f->digis, &counts, &f->faults), SLC_OK);
    for (int policy = 0; policy < SLC_PIXEL_DUPLICATES; policy++) {
        config.duplicates = (slc_pixel_duplicates)policy;
        config.truncate = policy % 2 != 0;
        config.max_module_digis = 150;
        assert_int_equal(
            slc_cms_cluster_run(&config, 0, &f->scratch, &f->digis, &f->modules, &f->clusters, &f->faults),
            SLC_OK);
        slc_cms_position_run(&position, &f->clusters);
        assert_true(f->clusters.head.size > 100);
    }
    assert_int_equal(allocator_calls, 0);
    assert_true(slc_faults_of(&f->faults, SLC_FAULT_CMS_MODULE_CROWDED) > 0);
    assert_true(slc_faults_of(&f->faults, SLC_FAULT_CMS_PIXEL) > 0);
}

static void test_reserve_out_of_memory(void **state)
{
    fixture *f = *state;
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, DIGIS, &f->scratch, &error), SLC_OK);
    uint32_t failures = 0;
    slc_status status = SLC_ERR_MEMORY;
    while (status == SLC_ERR_MEMORY && failures < 10) {
        allocations_left = failures;
        status = slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, 2 * (size_t)DIGIS, &f->scratch, &error);
        allocations_left = LONG_MAX;
        if (status == SLC_ERR_MEMORY) {
            failures++;
            assert_true(error.text[0] != '\0');
            assert_int_equal(slc_cms_cluster_run(&config, 0, &f->scratch, &f->digis, &f->modules,
                                                 &f->clusters, &f->faults),
                             SLC_OK);
        }
    }
    assert_int_equal(status, SLC_OK);
    assert_true(failures >= 2);
    slc_cms_gains gains = {0};
    allocations_left = 0;
    assert_int_equal(slc_cms_gains_reserve(&gains, 10), SLC_ERR_MEMORY);
    allocations_left = LONG_MAX;
    assert_null(gains.gain);
    assert_int_equal(slc_cms_gains_reserve(&gains, 10), SLC_OK);
    assert_int_equal(slc_cms_gains_reserve(&gains, 20), SLC_OK);
    assert_int_equal(gains.n_modules, 20);
    slc_cms_gains_clear(&gains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs_do_not_allocate, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_reserve_out_of_memory, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
