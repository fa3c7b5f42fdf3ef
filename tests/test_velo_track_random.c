/* SPDX-License-Identifier: Apache-2.0
 * The track search on every instruction set against the plain oracle, hit by hit and the scatter bit by bit:
 * random events of 0 to 400 particles, with everything that may trouble a search, in random configurations.
 */
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/velo_track_cases.h"
#include "velo/velo_track.h"

#include <string.h>

enum { MOST_HITS = 80000, EVENTS = 4, ROUNDS = 500 };

static track_run run;

static int set_up(void **state)
{
    (void)state;
    track_run_reserve(&run, MOST_HITS, EVENTS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    track_run_clear(&run);
    return 0;
}

static void add_random_event(uint64_t *seed, uint32_t features)
{
    /* As many small events as large ones. */
    const uint32_t most = random_below(seed, 2) ? 401 : 40;
    track_run_random_event(&run, seed, random_below(seed, most), random_below(seed, 8), features);
}

/* 2 000 events. */
static void random_events(void **state)
{
    (void)state;
    uint64_t seed = 61;
    const size_t rounds = track_run_count(ROUNDS);
    run.n_tracks = 0;
    for (size_t round = 0; round < rounds; round++) {
        const slc_velo_track_config config = track_run_random_config(&seed);
        track_run_begin(&run);
        for (int e = 0; e < EVENTS; e++) {
            add_random_event(&seed, random_below(&seed, 2) ? TRACK_RUN_NOISE : random_below(&seed, 64));
        }
        track_run_expect_oracle(&run, &config);
    }
    assert_true(run.n_tracks > 50 * rounds);
}

/* Each N of both passes, by itself. */
static void every_number_of_pairs(void **state)
{
    (void)state;
    uint64_t seed = 62;
    slc_velo_track_config config;
    for (uint32_t n = 1; n <= 10; n++) {
        slc_velo_track_config_default(&config);
        track_run_begin(&run);
        add_random_event(&seed, TRACK_RUN_NOISE);
        add_random_event(&seed, TRACK_RUN_NOISE | TRACK_RUN_GRID | TRACK_RUN_DUPLICATES);
        config.candidates = n;
        track_run_expect_oracle(&run, &config);
        config.second_candidates = 11 - n;
        track_run_expect_oracle(&run, &config);
        config.second_candidates = 0;
        track_run_expect_oracle(&run, &config);
    }
}

/* Each feature off by itself, on each strategy: the same events, and none of them is without effect. */
static void every_feature(void **state)
{
    (void)state;
    enum { FEATURES = 8 };
    uint64_t seed = 63;
    slc_velo_track_config defaults, config;
    slc_velo_track_config_default(&defaults);
    track_run_begin(&run);
    for (int e = 0; e < EVENTS; e++) {
        track_run_random_event(&run, &seed, 300, 6, TRACK_RUN_NOISE);
    }
    uint64_t sums[FEATURES];
    for (int f = 0; f < FEATURES; f++) {
        config = defaults;
        config.second_candidates = f == 1 ? 0 : config.second_candidates;
        config.missing_layer_mm2 = f == 2 ? 0 : config.missing_layer_mm2;
        config.trim_mm2 = f == 3 ? 0 : config.trim_mm2;
        config.pickup_mm2 = f == 4 ? 0 : config.pickup_mm2;
        config.merge_mm2 = f == 5 ? 0 : config.merge_mm2;
        config.min_hits = f == 7 ? 4 : config.min_hits;
        if (f == 6) {
            slc_velo_track_config_fast(&config);
        }
        sums[f] = SLC_CHECKSUM_START;
        for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
            config.strategy = (slc_velo_track_strategy)strategy;
            track_run_expect_oracle(&run, &config);
            track_run_expect_falling_z(&run);
            for (uint32_t e = 0; e < EVENTS; e++) {
                sums[f] = slc_columns_checksum(&slc_velo_tracks_schema, &run.tracks, e, sums[f]);
                sums[f] = slc_columns_checksum(&slc_velo_track_hits_schema, &run.track_hits, e, sums[f]);
            }
        }
        for (int g = 0; g < f; g++) {
            assert_true(sums[f] != sums[g]);
        }
    }
}

/* Events of 0, 1, 2 … hits a module, all in one place or a few: every way to fill the last vector. */
static void every_small_layer(void **state)
{
    (void)state;
    uint64_t seed = 64;
    const uint32_t step = track_run_count(100) == 100 ? 1 : 7;
    for (uint32_t n = 0; n <= 140; n += step) { /* to beyond what is sorted */
        const slc_velo_track_config config = track_run_random_config(&seed);
        track_run_begin(&run);
        track_run_random_event(&run, &seed, n, n / 8, TRACK_RUN_NOISE);
        track_run_random_event(&run, &seed, n, n, TRACK_RUN_NOISE | TRACK_RUN_GRID);
        track_run_expect_oracle(&run, &config);
    }
}

/* The oracle must be able to say no. */
static void oracle_sees_one_bit(void **state)
{
    (void)state;
    uint64_t seed = 65;
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    track_run_begin(&run);
    track_run_random_event(&run, &seed, 100, 2, TRACK_RUN_NOISE);
    track_run_search(&run, &config);
    assert_true(run.tracks.head.size > 50);
    assert_int_equal(track_run_difference(&config, &run.hits, &run.tracks, &run.track_hits, NULL),
                     UINT32_MAX);
    uint32_t bits;
    memcpy(&bits, &run.tracks.scatter_mm2[17], sizeof bits);
    bits ^= 1;
    memcpy(&run.tracks.scatter_mm2[17], &bits, sizeof bits);
    assert_int_equal(track_run_difference(&config, &run.hits, &run.tracks, &run.track_hits, NULL), 0);
    track_run_search(&run, &config);
    run.track_hits.hit[31] ^= 1;
    assert_int_equal(track_run_difference(&config, &run.hits, &run.tracks, &run.track_hits, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_pairs), cmocka_unit_test(every_feature),
        cmocka_unit_test(every_small_layer),     cmocka_unit_test(random_events),
        cmocka_unit_test(oracle_sees_one_bit),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
