/* SPDX-License-Identifier: Apache-2.0
 * The generator of CMS's events when memory runs out, at every single allocation: it says so, adds nothing to
 * the batch or the truth, and the next try makes the same event as if nothing had happened. */
#include <sluice/sim_cms.h>

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

#include <string.h>

static slc_sim_cms_config small_config(void)
{
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.seed = 4;
    config.tracks = 100;
    config.corrupt = 0.05f;
    config.duplicates = 0.05f;
    return config;
}

static void open_survives_every_failure(void **state)
{
    (void)state;
    const slc_sim_cms_config config = small_config();
    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_sim_cms *sim = NULL;
        slc_error error = {0};
        allocations_left = failures;
        const slc_status status = slc_sim_cms_open(&config, &sim, &error);
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        if (!done) {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(error.status, SLC_ERR_MEMORY);
            assert_null(sim);
        }
        slc_sim_cms_close(sim);
    }
    assert_true(failures >
                8); /* the handle, six tables and the gains failed, and the list of noisy columns */
}

static void event_survives_every_failure(void **state)
{
    (void)state;
    const slc_sim_cms_config config = small_config();
    slc_sim_cms *sim;
    slc_batch wanted = {0};
    slc_error error = {0};
    assert_int_equal(slc_sim_cms_open(&config, &sim, &error), SLC_OK);
    assert_int_equal(slc_sim_cms_event(sim, 1, &wanted, NULL, &error), SLC_OK);
    assert_true(wanted.length[0] > 8000); /* not an empty event */
    slc_sim_cms_close(sim);

    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_batch batch = {0};
        slc_sim_cms_truth truth = {.faults = {.n_kept = 0}};
        assert_int_equal(slc_sim_cms_open(&config, &sim, &error), SLC_OK);
        allocations_left = failures;
        const slc_status status = slc_sim_cms_event(sim, 1, &batch, &truth, &error);
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        if (!done) {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(batch.n_events, 0);
            assert_int_equal(truth.digis.head.n_events, 0);
            assert_int_equal(truth.crossings.head.n_events, 0);
            assert_int_equal(slc_faults_total(&truth.faults), 0);
            assert_int_equal(slc_sim_cms_event(sim, 1, &batch, &truth, &error), SLC_OK);
        }
        assert_int_equal(batch.n_events, 1);
        assert_int_equal(truth.digis.head.n_events, 1);
        assert_int_equal(truth.crossings.head.n_events, 1);
        assert_int_equal(batch.length[0], wanted.length[0]);
        assert_memory_equal(batch.bytes + batch.offset[0], wanted.bytes + wanted.offset[0], wanted.length[0]);
        slc_sim_cms_close(sim);
        slc_batch_clear(&batch);
        slc_sim_cms_truth_clear(&truth);
    }
    assert_true(failures > 20);
    slc_batch_clear(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_survives_every_failure),
        cmocka_unit_test(event_survives_every_failure),
    };
    return cmocka_run_group_tests_name("sim_cms_memory", tests, NULL, NULL);
}
