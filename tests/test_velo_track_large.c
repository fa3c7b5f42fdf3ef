/* SPDX-License-Identifier: Apache-2.0
 * The track search in large events, on every instruction set against the plain oracle: 3 000 to 20 000 hits,
 * where layers are sorted and only a window of each is looked at; layers as full as they may be; and the
 * limits beyond which an event is not searched. */
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/velo_track_cases.h"
#include "velo/velo_geometry.h"
#include "velo/velo_track.h"

enum { MOST_HITS = 40000, FULL_LAYER = 4096 };

static track_run run;

static int set_up(void **state)
{
    (void)state;
    track_run_reserve(&run, MOST_HITS, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    track_run_clear(&run);
    return 0;
}

/* All strategies, the single pass and a random configuration. */
static void expect_oracle(uint64_t *seed)
{
    slc_velo_track_config config;
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
        slc_velo_track_config_default(&config);
        config.strategy = (slc_velo_track_strategy)strategy;
        track_run_expect_oracle(&run, &config);
    }
    slc_velo_track_config_fast(&config);
    track_run_expect_oracle(&run, &config);
    config = track_run_random_config(seed);
    track_run_expect_oracle(&run, &config);
}

/* About 3 000, 5 000 … 20 000 hits; every second event has what troubles windows: hits on the beam line, in
 * one direction, far outside. */
static void growing_events(void **state)
{
    (void)state;
    uint64_t seed = 71;
    const uint32_t particles[] = {400, 800, 1500, 3000};
    const size_t n = track_run_count(4);
    for (size_t i = 0; i < n; i++) {
        track_run_begin(&run);
        track_run_random_event(&run, &seed, particles[i], 4 * (uint32_t)i, TRACK_RUN_NOISE);
        expect_oracle(&seed);
        track_run_begin(&run);
        track_run_random_event(&run, &seed, particles[i] / 2, 20, 63);
        expect_oracle(&seed);
    }
}

/* So many hits in one module, in a square of the detector's size or in a narrow sector. */
static void add_noise(uint64_t *seed, uint32_t module, uint32_t n, bool sector)
{
    for (uint32_t i = 0; i < n; i++) {
        const double x = sector ? 10 + 20 * random_unit(seed) : 42 * random_unit(seed) - 2;
        const double y = sector ? 0.01 * x * random_unit(seed) : 80 * random_unit(seed) - 40;
        track_run_add(&run, module, (float)(module % 2 ? x : -x), (float)y,
                      slc_velo_design_module_z_mm[module]);
    }
}

/* Four layers of 4096 hits, which is the most that can be told apart, among sparse ones. */
static void full_layers(void **state)
{
    (void)state;
    uint64_t seed = 72;
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    config.max_layer_hits = 5000;
    config.missing_layer_mm2 = 0; /* short tracks are what noise makes */
    config.max_scatter_3hits_mm2 = config.second_3hits_mm2 = 0.1f;
    for (int sector = 0; sector < 2; sector++) {
        track_run_begin(&run);
        for (uint32_t module = 16; module < 32; module++) {
            const bool full = module >= 20 && module < 28;
            add_noise(&seed, module, full ? FULL_LAYER / 2 : 30, sector);
        }
        track_run_end_event(&run);
        run.n_tracks = 0;
        track_run_expect_oracle(&run, &config);
        assert_int_equal(slc_faults_total(&run.faults), 0);
        assert_true(run.n_tracks > 1000);
        if (track_run_count(100) < 100) {
            break;
        }
    }
}

/* One hit more, and the event is left alone, whatever the configuration allows. */
static void layers_that_are_too_full(void **state)
{
    (void)state;
    uint64_t seed = 73;
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    config.max_layer_hits = UINT32_MAX;
    track_run_begin(&run);
    add_noise(&seed, 20, FULL_LAYER / 2, false);
    add_noise(&seed, 21, FULL_LAYER / 2 + 1, false);
    track_run_end_event(&run);
    track_run_random_event(&run, &seed, 100, 0, 0); /* the next event is not harmed */
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
        const bool crowded = strategy ==
                             SLC_VELO_TRACK_STANDARD; /* the others have half as much in a layer */
        config.strategy = (slc_velo_track_strategy)strategy;
        track_run_expect_oracle(&run, &config);
        track_run_search(&run, &config);
        assert_int_equal(slc_faults_of(&run.faults, SLC_FAULT_EVENT_CROWDED), crowded ? 1 : 0);
        assert_int_equal(run.tracks.head.event_offset[1], 0);
        assert_true(run.tracks.head.event_offset[2] > 50);
    }
    config.strategy = SLC_VELO_TRACK_STANDARD;
    config.max_event_hits = 4000; /* then it is cut before anybody looks at its layers */
    track_run_search(&run, &config);
    assert_int_equal(slc_faults_total(&run.faults), 0);
    assert_true(run.tracks.head.event_offset[2] > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_events),
        cmocka_unit_test(full_layers),
        cmocka_unit_test(layers_that_are_too_full),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
