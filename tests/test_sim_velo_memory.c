/* SPDX-License-Identifier: Apache-2.0
 * The VELO generator when memory runs out, at every single allocation: it says so, adds nothing to the batch
 * or the truth, and the next try makes the same event as if nothing had happened. */
#include <sluice/sim.h>

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

#include <string.h>

static slc_sim_velo_config small_config(void)
{
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    config.seed = 4;
    config.visible_vertices = 8;
    return config;
}

static void open_survives_every_failure(void **state)
{
    (void)state;
    const slc_sim_velo_config config = small_config();
    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_sim_velo *sim = NULL;
        slc_error error = {0};
        allocations_left = failures;
        const slc_status status = slc_sim_velo_open(&config, NULL, &sim, &error);
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        if (!done) {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(error.status, SLC_ERR_MEMORY);
            assert_null(sim);
        }
        slc_sim_velo_close(sim);
    }
    assert_int_equal(failures, 5); /* the handle and three maps failed, then all went well */
}

static void event_survives_every_failure(void **state)
{
    (void)state;
    const slc_sim_velo_config config = small_config();
    slc_sim_velo *sim;
    slc_batch wanted = {0};
    slc_error error = {0};
    assert_int_equal(slc_sim_velo_open(&config, NULL, &sim, &error), SLC_OK);
    assert_int_equal(slc_sim_velo_event(sim, 1, &wanted, NULL, &error), SLC_OK);
    assert_true(wanted.length[0] > 20000); /* not an empty event */
    slc_sim_velo_close(sim);

    long failures = 0;
    for (bool done = false; !done; failures++) {
        slc_batch batch = {0};
        slc_velo_truth truth = {.vertices = {.head = {0}}};
        assert_int_equal(slc_sim_velo_open(&config, NULL, &sim, &error), SLC_OK);
        allocations_left = failures;
        const slc_status status = slc_sim_velo_event(sim, 1, &batch, &truth, &error);
        allocations_left = LONG_MAX;
        done = status == SLC_OK;
        if (!done) {
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_int_equal(batch.n_events, 0);
            assert_int_equal(truth.particles.head.n_events, 0);
            assert_int_equal(slc_sim_velo_event(sim, 1, &batch, &truth, &error), SLC_OK);
        }
        assert_int_equal(batch.n_events, 1);
        assert_int_equal(truth.particles.head.n_events, 1);
        assert_int_equal(batch.length[0], wanted.length[0]);
        assert_memory_equal(batch.bytes + batch.offset[0], wanted.bytes + wanted.offset[0], wanted.length[0]);
        slc_sim_velo_close(sim);
        slc_batch_clear(&batch);
        slc_velo_truth_clear(&truth);
    }
    assert_true(failures > 30);
    slc_batch_clear(&wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_survives_every_failure),
        cmocka_unit_test(event_survives_every_failure),
    };
    return cmocka_run_group_tests_name("sim_velo_memory", tests, NULL, NULL);
}
