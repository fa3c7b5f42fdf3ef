/* SPDX-License-Identifier: Apache-2.0
 * The fit on every instruction set against the scalar oracle, bit by bit: random tracks of 2 hits and more in
 * events of 0 to 2000 tracks, forward and backward ones, hits of equal z, several configurations. */
#include "oracle/velo_fit_oracle.h"
#include "support/random.h"
#include "velo/velo_fit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_EVENTS = 256, MOST_TRACKS = 2000, MOST_HITS = SLC_VELO_MAX_TRACK_HITS };

static slc_velo_hits hits;
static slc_velo_tracks tracks;
static slc_velo_track_hits track_hits;
static slc_velo_states beam, end;

/* SLUICE_TEST_PERCENT of n, and less where a sanitizer slows everything down. */
static size_t test_count(size_t n)
{
    const char *percent = getenv("SLUICE_TEST_PERCENT");
    size_t part = percent == NULL ? 100 : strtoul(percent, NULL, 10);
#if defined(__SANITIZE_ADDRESS__)
    part = percent == NULL ? 10 : part;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    part = percent == NULL ? 10 : part;
#endif
#endif
    return n * part / 100 > 0 ? n * part / 100 : 1;
}

static void reserve(size_t n_tracks, uint32_t n_events)
{
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &hits, MOST_HITS * n_tracks, n_events),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_tracks_schema, &tracks, n_tracks, n_events), SLC_OK);
    assert_int_equal(
        slc_columns_reserve(&slc_velo_track_hits_schema, &track_hits, MOST_HITS * n_tracks, n_events),
        SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_states_schema, &beam, n_tracks, n_events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_states_schema, &end, n_tracks, n_events), SLC_OK);
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_columns_clear(&slc_velo_tracks_schema, &tracks);
    slc_columns_clear(&slc_velo_track_hits_schema, &track_hits);
    slc_columns_clear(&slc_velo_states_schema, &beam);
    slc_columns_clear(&slc_velo_states_schema, &end);
    return 0;
}

static void begin(void)
{
    slc_columns_reset(&hits);
    slc_columns_reset(&tracks);
    slc_columns_reset(&track_hits);
}

static void end_event(void)
{
    slc_columns_end_event(&hits);
    slc_columns_end_event(&tracks);
    slc_columns_end_event(&track_hits);
}

/* A track with its hits in a row, downstream first, as a straight line with errors; one in sixteen has
 * something odd. `first` is the number of the event's first row of hits. */
static void add_track(size_t first, size_t first_of_tracks, uint32_t n, uint64_t *seed)
{
    const double tx = 0.3 * random_normal(seed), ty = 0.3 * random_normal(seed),
                 z0 = 60 * random_normal(seed);
    const double side = random_below(seed, 3) == 0 ? -1 : 1, step = 12.5 * (1 + random_below(seed, 4));
    const uint32_t odd = random_below(seed, 16);
    const size_t t = tracks.head.size++;
    tracks.n_hits[t] = n;
    tracks.hit_begin[t] = (uint32_t)(track_hits.head.size - first_of_tracks);
    for (uint32_t k = 0; k < n; k++) {
        const size_t h = hits.head.size++;
        const double dz = side > 0 ? 20 + step * (n - 1 - k) : -20 - step * k;
        hits.x_mm[h] = (float)(tx * dz + 0.0125 * random_normal(seed));
        hits.y_mm[h] = (float)(ty * dz + 0.0125 * random_normal(seed));
        hits.z_mm[h] = (float)(z0 + dz);
        hits.n_pixels[h] = random_below(seed, 9);
        if (odd == 0) { /* all in one plane */
            hits.z_mm[h] = 100;
        } else if (odd == 1) { /* pairs in one plane */
            hits.z_mm[h] = (float)(z0 + side * step * (double)(k / 2));
        } else if (odd == 2) { /* along the beam line */
            hits.x_mm[h] = hits.y_mm[h] = 1;
        } else if (odd == 3) { /* on the beam line */
            hits.x_mm[h] = hits.y_mm[h] = 0;
        } else if (odd == 4) { /* hits in no order */
            hits.z_mm[h] = (float)(200 * random_normal(seed));
        }
        track_hits.hit[track_hits.head.size++] = (uint32_t)(h - first);
    }
}

static void add_event(size_t n_tracks, uint32_t shortest, uint32_t longest, uint64_t *seed)
{
    const size_t first = hits.head.size, first_of_tracks = track_hits.head.size;
    for (size_t t = 0; t < n_tracks; t++) {
        add_track(first, first_of_tracks, shortest + random_below(seed, longest - shortest + 1), seed);
    }
    end_event();
}

/* Every target that runs here gives the oracle's bits. */
static void expect_oracle(const slc_velo_fit_config *config)
{
    slc_velo_fit_config with = *config;
    int ran = 0;
    for (int target = SLC_SIMD_AUTO; target < SLC_SIMD_TARGETS; target++) {
        with.target = (slc_simd_target)target;
        if (target != SLC_SIMD_AUTO && !slc_simd_runs(with.target)) {
            continue;
        }
        assert_int_equal(slc_velo_fit_run(&with, &hits, &tracks, &track_hits, &beam, &end), SLC_OK);
        const size_t wrong = oracle_velo_fit_differences(&with, &hits, &tracks, &track_hits, &beam, &end);
        if (wrong != 0) {
            fail_msg("%s: %zu of %zu tracks are not the oracle's", slc_simd_name(with.target), wrong,
                     tracks.head.size);
        }
        ran++;
    }
    assert_true(ran >= 2); /* auto and c at least */
}

static void random_tracks(void **state)
{
    (void)state;
    uint64_t seed = 20;
    slc_velo_fit_config config;
    slc_velo_fit_config_default(&config);
    const size_t n = test_count(100000);
    for (size_t done = 0; done < n;) {
        reserve(3 * MOST_TRACKS, 4);
        begin();
        for (int e = 0; e < 3; e++) {
            add_event(random_below(&seed, MOST_TRACKS + 1), 3, MOST_HITS, &seed);
        }
        expect_oracle(&config);
        done += tracks.head.size;
    }
}

/* Events of 0, 1, 2 … tracks: every way in which the last vectors and blocks can be filled. */
static void every_small_event(void **state)
{
    (void)state;
    uint64_t seed = 21;
    slc_velo_fit_config config;
    slc_velo_fit_config_default(&config);
    reserve(MOST_EVENTS * MOST_EVENTS / 2, MOST_EVENTS);
    begin();
    const uint32_t step = test_count(100) == 100 ? 1 : 7;
    for (uint32_t e = 0; e < MOST_EVENTS; e += step) {
        add_event(e, 2, e % 3 == 0 ? 4 : MOST_HITS, &seed);
    }
    expect_oracle(&config);
}

/* One pass, other beam lines, no scattering: all branches of the configuration. */
static void configurations(void **state)
{
    (void)state;
    uint64_t seed = 22;
    reserve(4 * MOST_TRACKS, 4);
    begin();
    for (int e = 0; e < 3; e++) {
        add_event(333, 3, MOST_HITS, &seed);
    }
    slc_velo_fit_config config;
    slc_velo_fit_config_default(&config);
    config.scatter_prior = 0;
    expect_oracle(&config);
    config.size_sigma_mm[0] = 0.02f;
    config.second_noise_slope = 1e-3f;
    config.beam_x_mm = 1.5f;
    config.beam_y_mm = -0.5f;
    config.end_z_mm = -300;
    expect_oracle(&config);
    config.scatter_prior = 100;
    config.noise_constant = config.noise_slope = 0;
    expect_oracle(&config);
}

/* The oracle must be able to say no: one bit of one value. */
static void oracle_sees_one_bit(void **state)
{
    (void)state;
    uint64_t seed = 23;
    slc_velo_fit_config config;
    slc_velo_fit_config_default(&config);
    reserve(100, 1);
    begin();
    add_event(100, 3, MOST_HITS, &seed);
    assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &beam, &end), SLC_OK);
    assert_int_equal(oracle_velo_fit_differences(&config, &hits, &tracks, &track_hits, &beam, &end), 0);
    uint32_t bits;
    memcpy(&bits, &end.cov_tyty[57], sizeof bits);
    bits ^= 1;
    memcpy(&end.cov_tyty[57], &bits, sizeof bits);
    assert_int_equal(oracle_velo_fit_differences(&config, &hits, &tracks, &track_hits, &beam, &end), 1);
}

static void bad_calls(void **state)
{
    (void)state;
    uint64_t seed = 24;
    slc_velo_fit_config config;
    slc_velo_fit_config_default(&config);
    assert_int_equal(config.target, SLC_SIMD_AUTO);
    reserve(100, 1);
    begin();
    add_event(100, 3, MOST_HITS, &seed);
    config.target = SLC_SIMD_TARGETS;
    assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &beam, &end), SLC_ERR_USAGE);
    config.target = SLC_SIMD_AUTO;
    const uint32_t n = tracks.n_hits[40];
    const uint32_t wrong[] = {0, 1, MOST_HITS + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        tracks.n_hits[40] = wrong[i];
        assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &beam, &end), SLC_ERR_USAGE);
        assert_int_equal(beam.head.size, 0);
        assert_int_equal(end.head.size, 0);
    }
    tracks.n_hits[40] = n;
    assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &beam, &end), SLC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tracks),  cmocka_unit_test(every_small_event),
        cmocka_unit_test(configurations), cmocka_unit_test(oracle_sees_one_bit),
        cmocka_unit_test(bad_calls),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
