/* SPDX-License-Identifier: Apache-2.0
 * Track search: events that are not searched, calls that are refused, and memory, which a search never asks
 * for. */
#include "velo/velo_track.h"

#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/velo_track_cases.h"
#include "velo/velo_geometry.h"

enum { MAX_HITS = 4000 };

static track_run run;
static slc_velo_track_config config;

static int set_up(void **state)
{
    (void)state;
    track_run_reserve(&run, MAX_HITS, 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    track_run_clear(&run);
    return 0;
}

static int set_defaults(void **state)
{
    (void)state;
    slc_velo_track_config_default(&config);
    track_run_begin(&run);
    return 0;
}

/* Three events of five hits in each of four layers, in the second one layer has one more. */
static void three_events(void)
{
    track_run_begin(&run);
    for (uint32_t e = 0; e < 3; e++) {
        for (uint32_t layer = 3; layer < 7; layer++) {
            const uint32_t n = e == 1 && layer == 5 ? 6 : 5;
            for (uint32_t i = 0; i < n; i++) {
                track_run_add(&run, 2 * layer, 10 + 5 * (float)i, 3, slc_velo_design_module_z_mm[2 * layer]);
            }
        }
        track_run_end_event(&run);
    }
}

/* A layer over the limit costs its event the search, and no other event. */
static void crowded_events_are_left_alone(void **state)
{
    (void)state;
    config.max_layer_hits = 5;
    three_events();
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
        config.strategy = (slc_velo_track_strategy)strategy;
        track_run_expect_oracle(&run, &config);
        track_run_search(&run, &config);
        if (strategy != SLC_VELO_TRACK_FULL) { /* where all hits are in every other layer */
            assert_int_equal(run.tracks.head.event_offset[1], 5);
            assert_int_equal(run.tracks.head.event_offset[2], 5);
            assert_int_equal(run.tracks.head.event_offset[3], 10);
        }
        assert_int_equal(slc_faults_total(&run.faults), 1);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_EVENT_CROWDED), 1);
        assert_int_equal(run.faults.kept[0].event, 1);
    }
}

/* The global event cut is no fault. */
static void large_events_are_cut(void **state)
{
    (void)state;
    three_events();
    config.max_event_hits = 20;
    track_run_expect_oracle(&run, &config);
    track_run_search(&run, &config);
    assert_int_equal(run.tracks.head.event_offset[1], 5);
    assert_int_equal(run.tracks.head.event_offset[2], 5);
    assert_int_equal(run.tracks.head.event_offset[3], 10);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    config.max_event_hits = 21;
    track_run_expect_oracle(&run, &config);
    assert_true(run.tracks.head.event_offset[2] > 5);
}

static slc_status attempt(const slc_velo_track_config *with, slc_velo_track_scratch *scratch,
                          slc_velo_tracks *tracks, slc_velo_track_hits *track_hits)
{
    return slc_velo_track_run(with, &run.hits, 0, scratch, tracks, track_hits, &run.faults);
}

static void refuses_misuse(void **state)
{
    (void)state;
    slc_velo_track_config wrong = config;
    slc_velo_tracks none = {0};
    slc_velo_track_hits no_hits = {0};
    slc_velo_track_scratch small = {0};
    track_run_add(&run, 5, 1, 1, 1);
    track_run_add(&run, 2, 1, 1, 1); /* not sorted */
    track_run_end_event(&run);
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy += 2) {
        wrong.strategy = (slc_velo_track_strategy)strategy;
        assert_int_equal(attempt(&wrong, &run.scratch, &run.tracks, &run.track_hits), SLC_ERR_USAGE);
    }
    track_run_begin(&run);
    track_run_add(&run, SLC_VELO_MODULES, 1, 1, 1); /* there is no such module */
    track_run_end_event(&run);
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
        wrong.strategy = (slc_velo_track_strategy)strategy;
        assert_int_equal(attempt(&wrong, &run.scratch, &run.tracks, &run.track_hits), SLC_ERR_USAGE);
    }
    const uint32_t numbers[][2] = {{0, 4}, {11, 4}, {UINT32_MAX, 4}, {3, 11}, {3, UINT32_MAX}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        wrong = config;
        wrong.candidates = numbers[i][0];
        wrong.second_candidates = numbers[i][1];
        assert_int_equal(attempt(&wrong, &run.scratch, &run.tracks, &run.track_hits), SLC_ERR_USAGE);
    }
    track_run_begin(&run);
    three_events();
    assert_int_equal(attempt(&config, &run.scratch, &none, &run.track_hits), SLC_ERR_CAPACITY);
    assert_int_equal(attempt(&config, &run.scratch, &run.tracks, &no_hits), SLC_ERR_CAPACITY);
    assert_int_equal(attempt(&config, &small, &run.tracks, &run.track_hits), SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_track_reserve(&small, 20), SLC_OK); /* the second event has 21 */
    assert_int_equal(attempt(&config, &small, &run.tracks, &run.track_hits), SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_track_reserve(&small, 21), SLC_OK);
    assert_int_equal(attempt(&config, &small, &run.tracks, &run.track_hits), SLC_OK);
    slc_velo_track_clear(&small);
    slc_velo_track_clear(&small); /* twice is no harm */
}

/* A search never allocates; a reservation without memory says so and leaves what was there. */
static void memory(void **state)
{
    (void)state;
    uint64_t seed = 5;
    slc_velo_track_scratch scratch = {0};
    track_run_random_event(&run, &seed, 200, 2, TRACK_RUN_NOISE);
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
        config.strategy = (slc_velo_track_strategy)strategy;
        allocator_calls = 0;
        assert_int_equal(attempt(&config, &run.scratch, &run.tracks, &run.track_hits), SLC_OK);
        assert_int_equal(allocator_calls, 0);
        assert_true(run.tracks.head.size > 100);
    }
    allocations_left = 0;
    assert_int_equal(slc_velo_track_reserve(&scratch, 100), SLC_ERR_MEMORY);
    allocations_left = LONG_MAX;
    assert_null(scratch.block);
    assert_int_equal(slc_velo_track_reserve(&scratch, MAX_HITS), SLC_OK);
    allocations_left = 0;
    assert_int_equal(slc_velo_track_reserve(&scratch, MAX_HITS), SLC_OK); /* there is enough */
    assert_int_equal(slc_velo_track_reserve(&scratch, MAX_HITS + 1), SLC_ERR_MEMORY);
    allocations_left = LONG_MAX;
    assert_int_equal(scratch.hits, MAX_HITS);
    assert_int_equal(attempt(&config, &scratch, &run.tracks, &run.track_hits), SLC_OK);
    slc_velo_track_clear(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(crowded_events_are_left_alone, set_defaults),
        cmocka_unit_test_setup(large_events_are_cut, set_defaults),
        cmocka_unit_test_setup(refuses_misuse, set_defaults),
        cmocka_unit_test_setup(memory, set_defaults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
