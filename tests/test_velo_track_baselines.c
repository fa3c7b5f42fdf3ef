/* SPDX-License-Identifier: Apache-2.0
 * The baselines of the track search: known cases by hand, what every track must be, that results do not
 * depend on the order of a module's hits, and the search in a window of phi against a search through all. */
#include "base/columns.h"
#include "velo/velo_track.h"

#include "support/random.h"
#include "velo/velo_geometry.h"
#include "velo/velo_track_pair_hits.h"
#include "velo/velo_track_run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_HITS = 30000, LINES = 600 };
static const slc_velo_track_algorithm baselines[] = {SLC_VELO_TRACK_PAIR_FAST, SLC_VELO_TRACK_PAIR_BEST,
                                                     SLC_VELO_TRACK_TRIPLET};
enum { BASELINES = sizeof baselines / sizeof *baselines };

static slc_velo_hits hits;
static slc_velo_tracks tracks;
static slc_velo_track_hits track_hits;
static slc_velo_track_scratch scratch;
static slc_velo_track_config config;
static slc_faults faults;
static uint32_t line_of[MAX_HITS]; /* of a hit, UINT32_MAX: noise */

static int set_up(void **state)
{
    (void)state;
    slc_velo_track_config_default(&config);
    slc_faults_reset(&faults);
    return slc_columns_reserve(&slc_velo_hits_schema, &hits, MAX_HITS, 4) != SLC_OK ||
           slc_columns_reserve(&slc_velo_tracks_schema, &tracks, MAX_HITS / 3, 4) != SLC_OK ||
           slc_columns_reserve(&slc_velo_track_hits_schema, &track_hits, MAX_HITS, 4) != SLC_OK ||
           slc_velo_track_reserve(&scratch, MAX_HITS) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_columns_clear(&slc_velo_tracks_schema, &tracks);
    slc_columns_clear(&slc_velo_track_hits_schema, &track_hits);
    slc_velo_track_clear(&scratch);
    return 0;
}

static void add_hit(uint32_t module, double x, double y, uint32_t line)
{
    const size_t i = hits.head.size++;
    hits.x_mm[i] = (float)x;
    hits.y_mm[i] = (float)y;
    hits.z_mm[i] = slc_velo_design_module_z_mm[module];
    hits.module[i] = (uint8_t)module;
    hits.channel[i] = (uint32_t)i;
    line_of[i] = line;
}

static void run(void)
{
    assert_int_equal(slc_velo_track_run(&config, &hits, 0, &scratch, &tracks, &track_hits, &faults), SLC_OK);
    assert_int_equal(tracks.head.n_events, hits.head.n_events);
    assert_true(slc_columns_check(&slc_velo_tracks_schema, &tracks, NULL));
    assert_true(slc_columns_check(&slc_velo_track_hits_schema, &track_hits, NULL));
}

/* Hits of a line that leaves the beam line at z = 0, in the modules of one side from first to last; the third
 * of them is off by `kink`. Returns how many. */
static uint32_t line_event(int first, int last, double tx, double ty, double kink)
{
    slc_columns_reset(&hits);
    uint32_t n = 0;
    for (int m = first; m <= last; m += 2, n++) {
        const double z = (double)slc_velo_design_module_z_mm[m];
        add_hit((uint32_t)m, tx * z + (n == 2 ? kink : 0), ty * z, 0);
    }
    slc_columns_end_event(&hits);
    return n;
}

static void names_are_words_of_the_option(void **state)
{
    (void)state;
    assert_string_equal(slc_velo_track_algorithm_name(SLC_VELO_TRACK_LOCAL), "local");
    assert_string_equal(slc_velo_track_algorithm_name(SLC_VELO_TRACK_PAIR_FAST), "pair-fast");
    assert_string_equal(slc_velo_track_algorithm_name(SLC_VELO_TRACK_PAIR_BEST), "pair-best");
    assert_string_equal(slc_velo_track_algorithm_name(SLC_VELO_TRACK_TRIPLET), "triplet");
    assert_null(slc_velo_track_algorithm_name(SLC_VELO_TRACK_ALGORITHMS));
}

static void one_line_is_one_track(void **state)
{
    (void)state;
    for (size_t a = 0; a < BASELINES; a++) {
        config.algorithm = baselines[a];
        const int ranges[][2] = {
            {20, 50}, {21, 51}, {0, 12}, {1, 13}}; /* forward and backward, either side */
        for (size_t r = 0; r < 4; r++) {
            const uint32_t n = line_event(ranges[r][0], ranges[r][1], 0.04, -0.03, 0);
            run();
            assert_int_equal(tracks.head.size, 1);
            assert_int_equal(tracks.n_hits[0], n);
            for (uint32_t i = 0; i < n; i++) {
                assert_int_equal(track_hits.hit[i], n - 1 - i); /* downstream first */
            }
            assert_true(tracks.scatter_mm2[0] < 1e-6f);
        }
    }
}

static void three_hits_must_be_straight(void **state)
{
    (void)state;
    for (size_t a = 0; a < BASELINES; a++) {
        config.algorithm = baselines[a];
        (void)line_event(20, 24, 0.1, 0.05, 0.02);
        run();
        assert_int_equal(tracks.head.size, 1);
        assert_int_equal(tracks.n_hits[0], 3);
        (void)line_event(20, 24, 0.1, 0.05, 0.25); /* within the scatter, but for chi² */
        run();
        assert_int_equal(tracks.head.size, 0);
        (void)line_event(20, 22, 0.1, 0.05, 0);
        run();
        assert_int_equal(tracks.head.size, 0);
    }
}

/* Search by pair goes on behind two stations without a hit, search by triplet behind one. */
static void stations_may_be_missed(void **state)
{
    (void)state;
    for (size_t a = 0; a < BASELINES; a++) {
        config.algorithm = baselines[a];
        for (int missing = 1; missing <= 3; missing++) {
            slc_columns_reset(&hits);
            for (int m = 16; m <= 40; m += 2) {
                const double z = (double)slc_velo_design_module_z_mm[m] + 150;
                if (m < 26 || m >= 26 + 2 * missing) {
                    add_hit((uint32_t)m, 0.05 * z, 0.02 * z, 0);
                }
            }
            slc_columns_end_event(&hits);
            run();
            const int most = baselines[a] == SLC_VELO_TRACK_TRIPLET ? 1 : 2;
            assert_int_equal(tracks.head.size, missing <= most ? 1 : 2);
        }
    }
}

/* A line whose phi changes by about 9 degrees from one module to the next. */
static void windows_are_as_wide_as_they_are_said(void **state)
{
    (void)state;
    const struct {
        slc_velo_track_algorithm algorithm;
        uint32_t n_tracks;
    } cases[] = {{SLC_VELO_TRACK_PAIR_FAST, 0}, {SLC_VELO_TRACK_PAIR_BEST, 1}};
    slc_columns_reset(&hits);
    for (int m = 30; m <= 36; m += 2) {
        const double z = (double)slc_velo_design_module_z_mm[m] - (double)slc_velo_design_module_z_mm[30];
        add_hit((uint32_t)m, 10, 0.06 * z + 1, 0);
    }
    slc_columns_end_event(&hits);
    for (size_t i = 0; i < 2; i++) {
        config.algorithm = cases[i].algorithm;
        run();
        assert_int_equal(tracks.head.size, cases[i].n_tracks);
    }
}

/* A line that crosses phi = 0, with a hit that it does not want on the near side of the seam. */
static void phi_has_no_seam(void **state)
{
    (void)state;
    for (size_t a = 0; a < BASELINES; a++) {
        for (int side = -1; side <= 1; side += 2) {
            config.algorithm = baselines[a];
            slc_columns_reset(&hits);
            for (int k = 3; k >= 0; k--) {
                add_hit((uint32_t)(26 - 2 * k), 20 - k, side * (0.6 * k - 0.2), 0);
            }
            for (int k = 0; k < 6; k++) {
                add_hit(26, 20, side * (k == 0 ? 0.2 : 3.0 + k), UINT32_MAX);
            }
            slc_columns_end_event(&hits);
            run();
            assert_int_equal(tracks.head.size, 1);
            assert_int_equal(tracks.n_hits[0], 4);
            assert_int_equal(track_hits.hit[0], 3);
        }
    }
}

/* ---- random events ------------------------------------------------------------------------------- */

static void random_event(uint64_t *seed, uint32_t n_lines, uint32_t n_noise)
{
    static double tx[LINES], ty[LINES], z0[LINES];
    for (uint32_t i = 0; i < n_lines; i++) {
        const double phi = 6.2831853 * random_unit(seed), slope = 0.02 + 0.2 * random_unit(seed);
        tx[i] = slope * cos(phi);
        ty[i] = slope * sin(phi);
        z0[i] = 50 * random_normal(seed);
    }
    for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
        const double z = (double)slc_velo_design_module_z_mm[module];
        for (uint32_t i = 0; i < n_lines; i++) {
            const double x = tx[i] * (z - z0[i]) + 0.012 * random_normal(seed);
            const double y = ty[i] * (z - z0[i]) + 0.012 * random_normal(seed);
            const bool here = (x > 0) == (module % 2 == 1) && x * x + y * y > 25 && x * x + y * y < 1600;
            if (here && random_below(seed, 100) < 98) {
                add_hit(module, x, y, i);
            }
        }
        for (uint32_t i = 0; i < n_noise; i++) {
            add_hit(module, 40 * random_unit(seed) * (module % 2 ? 1 : -1), 80 * random_unit(seed) - 40,
                    UINT32_MAX);
        }
    }
    slc_columns_end_event(&hits);
}

/* Hits are used once at most, fall in z, and have the scatter that is said; returns tracks that are of one
 * line. */
static uint32_t check_tracks(uint32_t e)
{
    static bool used[MAX_HITS];
    const uint32_t first = hits.head.event_offset[e];
    uint32_t pure = 0;
    memset(used, 0, sizeof used);
    for (uint32_t t = tracks.head.event_offset[e]; t < tracks.head.event_offset[e + 1]; t++) {
        const uint32_t *list = track_hits.hit + track_hits.head.event_offset[e] + tracks.hit_begin[t];
        double scatter = 0;
        bool same = true;
        assert_true(tracks.n_hits[t] >= 3);
        for (uint32_t i = 0; i < tracks.n_hits[t]; i++) {
            const uint32_t hit = first + list[i];
            assert_false(used[hit]);
            used[hit] = true;
            same = same && line_of[hit] == line_of[first + list[0]];
            assert_true(i == 0 || hits.z_mm[hit] < hits.z_mm[first + list[i - 1]]);
            if (i >= 2) {
                const uint32_t a = first + list[i - 2], b = first + list[i - 1];
                const double f = (double)(hits.z_mm[hit] - hits.z_mm[b]) /
                                 (double)(hits.z_mm[b] - hits.z_mm[a]);
                const double dx = (double)hits.x_mm[hit] - (double)hits.x_mm[b] -
                                  f * (double)(hits.x_mm[b] - hits.x_mm[a]);
                const double dy = (double)hits.y_mm[hit] - (double)hits.y_mm[b] -
                                  f * (double)(hits.y_mm[b] - hits.y_mm[a]);
                scatter += dx * dx + dy * dy;
            }
        }
        assert_true(fabs(scatter - (double)tracks.scatter_mm2[t]) < 1e-3 * scatter + 1e-6);
        pure += same && line_of[first + list[0]] != UINT32_MAX;
    }
    return pure;
}

/* Lines with three hits or more. */
static uint32_t lines_to_find(uint32_t e)
{
    uint32_t n = 0, count[LINES] = {0};
    for (uint32_t i = hits.head.event_offset[e]; i < hits.head.event_offset[e + 1]; i++) {
        n += line_of[i] != UINT32_MAX && ++count[line_of[i]] == 3;
    }
    return n;
}

static void random_lines_are_found(void **state)
{
    (void)state;
    uint64_t seed = 77;
    slc_columns_reset(&hits);
    random_event(&seed, 150, 5);
    random_event(&seed, 0, 3);
    random_event(&seed, LINES, 20); /* modules of more than a hundred hits */
    for (size_t a = 0; a < BASELINES; a++) {
        config.algorithm = baselines[a];
        run();
        for (uint32_t e = 0; e < 3; e++) {
            const uint32_t pure = check_tracks(e), all = lines_to_find(e);
            assert_true(10 * pure >= 9 * all);
            if (e == 0) {
                assert_true(50 * pure >= 49 * all);
            }
        }
        assert_int_equal(slc_faults_total(&faults), 0);
    }
}

/* A number for the set of tracks that does not depend on the order of the hits. */
static uint64_t sum_of_tracks(void)
{
    uint64_t sum = 0;
    for (uint32_t t = 0; t < tracks.head.size; t++) {
        uint64_t track = 1;
        for (uint32_t i = 0; i < tracks.n_hits[t]; i++) {
            uint32_t bits[2];
            const uint32_t hit = track_hits.hit[tracks.hit_begin[t] + i];
            memcpy(bits, &hits.x_mm[hit], 4);
            memcpy(bits + 1, &hits.y_mm[hit], 4);
            track = (track * 1099511628211ULL + bits[0]) * 1099511628211ULL + bits[1];
        }
        sum += track * track;
    }
    return sum;
}

static void order_in_a_module_does_not_matter(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (uint32_t round = 0; round < 6; round++) {
        uint64_t sums[2][BASELINES];
        slc_columns_reset(&hits);
        random_event(&seed, round < 5 ? 60 * round : LINES, 8);
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            for (size_t a = 0; a < BASELINES; a++) {
                config.algorithm = baselines[a];
                run();
                sums[shuffled][a] = sum_of_tracks();
            }
            for (uint32_t i = 0; i + 1 < hits.head.size; i++) { /* swaps neighbours of a module at random */
                if (hits.module[i] == hits.module[i + 1] && random_below(&seed, 2) == 0) {
                    const float x = hits.x_mm[i], y = hits.y_mm[i];
                    hits.x_mm[i] = hits.x_mm[i + 1];
                    hits.y_mm[i] = hits.y_mm[i + 1];
                    hits.x_mm[i + 1] = x;
                    hits.y_mm[i + 1] = y;
                }
            }
        }
        assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
        assert_true(round == 0 || sums[0][0] != 0);
    }
}

/* ---- the parts ----------------------------------------------------------------------------------- */

static void angles_are_phi(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        const double phi = 6.283185307179586 * i / 100000, r = 5 + i % 37;
        const uint32_t angle = slc_pair_angle((float)(r * cos(phi)), (float)(r * sin(phi)));
        const uint32_t wanted = (uint32_t)(uint64_t)(phi * 683565275.5764316);
        assert_true(fabs((double)(int32_t)(angle - wanted)) < 2e-5 * 683565275.0);
    }
    assert_int_equal(slc_pair_angle(0, 0), 0);
    assert_int_equal(slc_pair_angle(NAN, 1), 0);
    assert_int_equal(slc_pair_angle(1, NAN), 0);
    assert_int_equal(slc_pair_angle(INFINITY, INFINITY), 0);
}

/* Groups of modules and of layers, against a look at every hit. */
static void the_closest_is_the_closest(void **state)
{
    (void)state;
    uint64_t seed = 31;
    static slc_pair_hits h;
    slc_track_work *work = scratch.block;
    slc_columns_reset(&hits);
    random_event(&seed, 250, 30);
    work->config = &config;
    for (uint32_t modules = 1; modules <= 2; modules++) {
        bool crowded = true;
        uint32_t found = 0;
        assert_int_equal(slc_pair_take_hits(work, &hits, 0, modules, &h, &crowded), SLC_OK);
        assert_false(crowded);
        for (uint32_t i = 0; i < 20000; i++) {
            const uint32_t group = random_below(&seed, h.n_groups);
            const float limit = (float)(2 * random_unit(&seed));
            const slc_pair_line line = {.x = (float)(60 * random_unit(&seed) - 30),
                                        .y = (float)(60 * random_unit(&seed) - 30),
                                        .z = (float)(700 * random_unit(&seed) - 200),
                                        .tx = (float)(0.6 * random_unit(&seed) - 0.3),
                                        .ty = (float)(0.6 * random_unit(&seed) - 0.3)};
            float best = limit;
            uint32_t wanted = UINT32_MAX;
            h.used[random_below(&seed, h.n)] ^= 1;
            for (uint32_t k = h.begin[group]; k < h.begin[group + 1]; k++) {
                const float scatter = slc_pair_scatter(&h, k, &line);
                if (scatter < best && h.used[k] == 0) {
                    best = scatter;
                    wanted = k;
                }
            }
            assert_int_equal(slc_pair_closest(&h, group, &line, limit), wanted);
            found += wanted != UINT32_MAX;
        }
        assert_true(found > 100);
    }
}

static void crowded_and_unsorted_events_are_told(void **state)
{
    (void)state;
    for (size_t a = 0; a < BASELINES; a++) {
        config.algorithm = baselines[a];
        slc_faults_reset(&faults);
        (void)line_event(20, 50, 0.04, -0.03, 0);
        for (int i = 0; i < 12; i++) {
            add_hit(51, 10 + i, 5, UINT32_MAX);
        }
        slc_columns_end_event(&hits);
        config.max_layer_hits = 11;
        run();
        assert_int_equal(tracks.head.size, 1); /* that of the first event */
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_EVENT_CROWDED), 1);
        config.max_layer_hits = 12;
        (void)line_event(20, 50, 0.04, -0.03, 0);
        hits.module[3] = 10;
        assert_int_equal(slc_velo_track_run(&config, &hits, 0, &scratch, &tracks, &track_hits, &faults),
                         SLC_ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_are_words_of_the_option, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_line_is_one_track, set_up, tear_down),
        cmocka_unit_test_setup_teardown(three_hits_must_be_straight, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stations_may_be_missed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_are_as_wide_as_they_are_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(phi_has_no_seam, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_lines_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(order_in_a_module_does_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(angles_are_phi, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_closest_is_the_closest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(crowded_and_unsorted_events_are_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
