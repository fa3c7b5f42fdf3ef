/* SPDX-License-Identifier: Apache-2.0
 *
 * `run` never allocates: the allocator's calls are counted while the chain works on simulated events, whole
 * and damaged. And `reserve` that runs out of memory says so, and works when there is memory again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include <sluice/sim.h>
#include <sluice/velo_chain.h>

#include <string.h>

enum { EVENTS = 4 };

typedef struct fixture {
    slc_batch batch;
    slc_velo_chain *chain;
    slc_velo_result result;
} fixture;

static int open_fixture(void **state)
{
    static fixture f;
    slc_sim_velo_config sim_config;
    slc_velo_config config;
    slc_sim_velo *sim = NULL;
    slc_error error = {SLC_OK, ""};
    memset(&f, 0, sizeof f);
    slc_sim_velo_config_default(&sim_config);
    slc_velo_config_default(&config);
    bool good = slc_sim_velo_open(&sim_config, NULL, &sim, &error) == SLC_OK;
    for (uint64_t event = 0; good && event < EVENTS; event++) {
        good = slc_sim_velo_event(sim, event, &f.batch, NULL, &error) == SLC_OK;
    }
    slc_sim_velo_close(sim);
    good = good && slc_velo_chain_open(&config, NULL, &f.chain, &error) == SLC_OK;
    *state = &f;
    return good ? 0 : -1;
}

static int close_fixture(void **state)
{
    fixture *f = *state;
    slc_velo_result_clear(&f->result);
    slc_velo_chain_close(f->chain);
    slc_batch_clear(&f->batch);
    return 0;
}

/* The counter counts the library's own calls: growing a batch allocates, clearing it frees. */
static void test_counter_sees_the_library(void **state)
{
    (void)state;
    slc_batch batch = {0};
    allocator_calls = 0;
    assert_int_equal(slc_batch_reserve(&batch, 1000, 1), SLC_OK);
    assert_true(allocator_calls >= 1);
    allocator_calls = 0;
    slc_batch_clear(&batch);
    assert_true(allocator_calls >= 1);
}

static void test_reserve_allocates_and_run_does_not(void **state)
{
    fixture *f = *state;
    slc_error error;
    allocator_calls = 0;
    assert_int_equal(slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL), SLC_OK);
    assert_true(allocator_calls > 0);
    allocator_calls = 0;
    assert_int_equal(slc_velo_chain_run(f->chain, &f->batch, &f->result, &error), SLC_OK);
    assert_int_equal(allocator_calls, 0);
    assert_int_equal(f->result.hits.head.n_events, EVENTS);
    assert_true(f->result.tracks.head.size > 0);
}

/* A second batch of the same size must not allocate even in reserve. */
static void test_same_batch_again_reserves_nothing(void **state)
{
    fixture *f = *state;
    slc_error error;
    assert_int_equal(slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL), SLC_OK);
    allocator_calls = 0;
    assert_int_equal(slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(f->chain, &f->batch, &f->result, &error), SLC_OK);
    assert_int_equal(allocator_calls, 0);
}

static void test_damaged_events_allocate_nothing(void **state)
{
    fixture *f = *state;
    slc_error error;
    for (size_t i = 5; i < f->batch.size; i += 997) {
        f->batch.bytes[i] ^= 0x5a;
    }
    assert_int_equal(slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL), SLC_OK);
    allocator_calls = 0;
    assert_int_equal(slc_velo_chain_run(f->chain, &f->batch, &f->result, &error), SLC_OK);
    assert_int_equal(allocator_calls, 0);
    assert_true(slc_faults_total(&f->result.faults) > 0);
}

static void test_hits_as_input_allocate_nothing(void **state)
{
    fixture *f = *state;
    slc_error error;
    assert_int_equal(slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(f->chain, &f->batch, &f->result, &error), SLC_OK);
    const size_t tracks = f->result.tracks.head.size;
    assert_int_equal(slc_velo_chain_reserve_hits(f->chain, &f->result, NULL), SLC_OK);
    allocator_calls = 0;
    assert_int_equal(slc_velo_chain_run_hits(f->chain, &f->result, &error), SLC_OK);
    assert_int_equal(allocator_calls, 0);
    assert_int_equal(f->result.tracks.head.size, tracks);
}

/* Fails at the first allocation, then at the second, … until all succeed: each time an answer, never a crash.
 */
static void test_reserve_out_of_memory(void **state)
{
    fixture *f = *state;
    slc_error error;
    long failures = 0;
    slc_status status = SLC_ERR_MEMORY;
    while (status == SLC_ERR_MEMORY && failures < 100) {
        allocations_left = failures;
        status = slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL);
        allocations_left = LONG_MAX;
        failures += status == SLC_ERR_MEMORY;
        slc_velo_result_clear(&f->result);
    }
    assert_int_equal(status, SLC_OK);
    assert_true(failures >= 2);
    assert_int_equal(slc_velo_chain_reserve(f->chain, &f->batch, &f->result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(f->chain, &f->batch, &f->result, &error), SLC_OK);
    assert_true(f->result.tracks.head.size > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counter_sees_the_library),
        cmocka_unit_test_setup_teardown(test_reserve_allocates_and_run_does_not, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_same_batch_again_reserves_nothing, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_damaged_events_allocate_nothing, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_hits_as_input_allocate_nothing, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(test_reserve_out_of_memory, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
