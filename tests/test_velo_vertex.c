/* SPDX-License-Identifier: Apache-2.0
 *
 * The vertex finder: against the oracle in double precision on generated events, on every target bit by bit,
 * and on events made by hand whose vertices are known.
 */
#include "base/columns.h"
#include "velo/velo_vertex.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/velo_vertex_oracle.h"
#include "support/random.h"

enum { MOST_TRACKS = 4000, MOST_EVENTS = 64 };

static slc_velo_states states;
static slc_velo_primaries found;
static slc_velo_vertex_scratch scratch;
static slc_velo_vertex_config config;

static int set_up(void **state)
{
    (void)state;
    slc_velo_vertex_config_default(&config);
    return slc_columns_reserve(&slc_velo_states_schema, &states, 20000, MOST_EVENTS) != SLC_OK ||
           slc_columns_reserve(&slc_velo_primaries_schema, &found, MOST_EVENTS * SLC_VELO_MAX_PRIMARIES,
                               MOST_EVENTS) != SLC_OK ||
           slc_velo_vertex_reserve(&scratch, MOST_TRACKS) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_states_schema, &states);
    slc_columns_clear(&slc_velo_primaries_schema, &found);
    slc_velo_vertex_clear(&scratch);
    return 0;
}

/* A track of the given direction through the point, given where it is nearest to the beam line. */
static void add_track(double x, double y, double z, double tx, double ty, double sigma)
{
    const size_t row = states.head.size++;
    const double along = -(x * tx + y * ty) / (tx * tx + ty * ty);
    states.x_mm[row] = (float)(x + along * tx);
    states.y_mm[row] = (float)(y + along * ty);
    states.z_mm[row] = (float)(z + along);
    states.tx[row] = (float)tx;
    states.ty[row] = (float)ty;
    states.cov_xx_mm2[row] = states.cov_yy_mm2[row] = (float)(sigma * sigma);
    states.cov_txtx[row] = states.cov_tyty[row] = 1e-8f;
}

/* n tracks from a point: all around the beam, smeared by a normal distribution of their sigma, times `smear`.
 */
static void add_vertex(uint64_t *random, double x, double y, double z, size_t n, double smear)
{
    for (size_t i = 0; i < n; i++) {
        const double phi = 6.283185307 * random_unit(random);
        const double slope = 0.03 + 0.25 * random_unit(random) * random_unit(random);
        const double sigma = 0.015 + 0.001 / slope;
        add_track(x + smear * sigma * random_normal(random), y + smear * sigma * random_normal(random), z,
                  slope * cos(phi), slope * sin(phi), sigma);
    }
}

static void end_event(void)
{
    slc_columns_end_event(&states);
}

static void run(void)
{
    assert_int_equal(slc_velo_vertex_run(&config, &states, &scratch, &found), SLC_OK);
    assert_int_equal(found.head.n_events, states.head.n_events);
    assert_true(slc_columns_check(&slc_velo_primaries_schema, &found, NULL));
}

static size_t vertices_of(uint32_t event)
{
    return found.head.event_offset[event + 1] - found.head.event_offset[event];
}

/* Events of 0 to 12 vertices with tracks in proportion, and strays. */
static void add_random_events(uint64_t *random, uint32_t n)
{
    for (uint32_t e = 0; e < n; e++) {
        const uint32_t vertices = e == 0 ? 0 : random_below(random, 13);
        for (uint32_t v = 0; v < vertices; v++) {
            add_vertex(random, 0.03 * random_normal(random), 0.03 * random_normal(random),
                       60 * random_normal(random), 3 + random_below(random, 60), 1);
        }
        for (uint32_t s = 0; s < 10; s++) {
            add_vertex(random, random_normal(random), random_normal(random), 100 * random_normal(random), 1,
                       3);
        }
        end_event();
    }
}

/* The largest difference between what was found and the oracle, in units of the tolerances: 2 µm across the
 * beam, 10 µm along it, 1 % of the weights, chi2 and variances: what single precision and the cut at
 * max_fit_chi2, on whose other side a track may fall, make of it. */
static double compare_event(uint32_t event, size_t *n_oracle)
{
    oracle_vertex expected[SLC_VELO_MAX_PRIMARIES];
    const size_t n = oracle_vertices(&config, &states, event, expected);
    *n_oracle += n;
    assert_int_equal(vertices_of(event), n);
    double worst = 0;
    for (size_t k = 0; k < n; k++) {
        const size_t row = found.head.event_offset[event] + k;
        const oracle_vertex *o = &expected[k];
        const double sum = o->weight;
        worst = fmax(worst, fabs((double)found.x_mm[row] - o->x) / 0.002);
        worst = fmax(worst, fabs((double)found.y_mm[row] - o->y) / 0.002);
        worst = fmax(worst, fabs((double)found.z_mm[row] - o->z) / 0.010);
        worst = fmax(worst, fabs((double)found.n_tracks[row] - o->weight) / (0.01 * sum));
        worst = fmax(worst, fabs((double)found.chi2[row] - o->chi2) / (0.01 * sum));
        worst = fmax(worst, fabs((double)found.cov_xx_mm2[row] - o->xx) / (0.01 * o->xx));
        worst = fmax(worst, fabs((double)found.cov_yy_mm2[row] - o->yy) / (0.01 * o->yy));
        worst = fmax(worst, fabs((double)found.cov_zz_mm2[row] - o->zz) / (0.01 * o->zz));
        worst = fmax(worst, fabs((double)found.cov_xy_mm2[row] - o->xy) / (0.01 * sqrt(o->xx * o->yy)));
        worst = fmax(worst, fabs((double)found.cov_xz_mm2[row] - o->xz) / (0.01 * sqrt(o->xx * o->zz)));
        worst = fmax(worst, fabs((double)found.cov_yz_mm2[row] - o->yz) / (0.01 * sqrt(o->yy * o->zz)));
    }
    return worst;
}

static void equals_the_oracle(void **state)
{
    (void)state;
    uint64_t random = 6;
    size_t n = 0;
    add_random_events(&random, MOST_EVENTS);
    run();
    for (uint32_t e = 0; e < MOST_EVENTS; e++) {
        assert_true(compare_event(e, &n) < 1);
    }
    assert_true(n > 4 * MOST_EVENTS);
}

static void same_bits_on_every_target(void **state)
{
    (void)state;
    uint64_t random = 7, sum[SLC_SIMD_TARGETS];
    add_random_events(&random, MOST_EVENTS);
    add_vertex(&random, 0, 0, 10, 1, 1); /* rows behind the last event belong to none */
    uint64_t first = 0;
    size_t targets = 0;
    for (int t = SLC_SIMD_C; t < SLC_SIMD_TARGETS; t++) {
        if (!slc_simd_runs((slc_simd_target)t)) {
            continue;
        }
        config.target = (slc_simd_target)t;
        run();
        sum[t] = SLC_CHECKSUM_START;
        for (uint32_t e = 0; e < found.head.n_events; e++) {
            sum[t] = slc_columns_checksum(&slc_velo_primaries_schema, &found, e, sum[t]);
        }
        first = targets++ == 0 ? sum[t] : first;
        assert_true(sum[t] == first);
    }
    assert_true(targets >= 1);
    assert_true(found.head.size > 4 * MOST_EVENTS);
}

/* An event's vertices do not depend on the events before it. */
static void events_do_not_touch(void **state)
{
    (void)state;
    uint64_t random = 8;
    add_random_events(&random, 3);
    run();
    const uint64_t alone = slc_columns_checksum(&slc_velo_primaries_schema, &found, 2, 1);
    const slc_velo_states all = states;
    slc_velo_states last = states;
    uint32_t offsets[2] = {0, 0};
    assert_int_equal(slc_columns_view(&slc_velo_states_schema, &all, 2, 1, offsets, &last), SLC_OK);
    assert_int_equal(slc_velo_vertex_run(&config, &last, &scratch, &found), SLC_OK);
    assert_true(found.head.size > 0);
    assert_true(slc_columns_checksum(&slc_velo_primaries_schema, &found, 0, 1) == alone);
}

static void assert_vertex(size_t row, double x, double y, double z, double away)
{
    assert_true(fabs((double)found.x_mm[row] - x) < away);
    assert_true(fabs((double)found.y_mm[row] - y) < away);
    assert_true(fabs((double)found.z_mm[row] - z) < away);
}

static void two_vertices_a_millimetre_apart(void **state)
{
    (void)state;
    config.error_scale = 1; /* their errors are what the tracks say */
    uint64_t random = 9;
    add_vertex(&random, 0.02, -0.01, 10, 60, 0);
    add_vertex(&random, -0.03, 0.04, 11, 40, 0);
    end_event();
    run();
    assert_int_equal(vertices_of(0), 2);
    assert_vertex(0, 0.02, -0.01, 10, 0.003);
    assert_vertex(1, -0.03, 0.04, 11, 0.003);
    assert_true(found.n_tracks[0] > 45 && found.n_tracks[0] < 60);
    assert_true(found.n_tracks[1] > 30 && found.n_tracks[1] < 40);
}

/* A small one on the shoulder of a large one makes no peak of its own. */
static void small_vertex_beside_a_large_one(void **state)
{
    (void)state;
    config.error_scale = 1; /* their errors are what the tracks say */
    uint64_t random = 10;
    config.max_dip_per_mm = 1000; /* nothing is split */
    add_vertex(&random, 0, 0, -20, 90, 0);
    add_vertex(&random, 0.01, 0, -18.5, 12, 0);
    end_event();
    run();
    assert_int_equal(vertices_of(0), 2);
    assert_vertex(0, 0, 0, -20, 0.003);
    assert_vertex(1, 0.01, 0, -18.5, 0.15); /* drawn by the large one's nearest tracks */
}

static void too_little_for_a_vertex(void **state)
{
    (void)state;
    uint64_t random = 11;
    end_event(); /* no tracks */
    add_vertex(&random, 0, 0, 5, 1, 0);
    end_event();
    for (int i = 0; i < 40; i++) { /* each from elsewhere */
        add_vertex(&random, 0, 0, -120 + 7 * i, 1, 0);
    }
    end_event();
    for (int i = 0; i < 50; i++) { /* the same track again and again: no z */
        add_track(0, 0, 30, 0.1, 0.05, 0.03);
    }
    end_event();
    add_vertex(&random, 0, 0, 0, 3, 0); /* three tracks, one less than needed */
    end_event();
    add_vertex(&random, 2, 2, 0, 30, 0); /* far from the beam line */
    end_event();
    add_vertex(&random, 0, 0, 400, 30, 0); /* beyond the histogram */
    end_event();
    run();
    assert_int_equal(found.head.size, 0);
}

/* Twelve tracks of one steepness all around a point, so uncertain (0.2 mm) that they count although they pass
 * the beam line at half a millimetre. */
static void add_wide_vertex(double x, double y, double z)
{
    for (int i = 0; i < 12; i++) {
        const double phi = 6.283185307 * i / 12;
        add_track(x, y, z, 0.25 * cos(phi), 0.25 * sin(phi), 0.2);
    }
    end_event();
}

/* Distance to the beam line is of x and y together: 0.69 mm at 45 degrees is too far, though x and y are as
 * far each; 0.52 mm is not. The same about another beam line. */
static void far_from_the_beam_line(void **state)
{
    (void)state;
    add_wide_vertex(0.49, 0.49, 5);
    add_wide_vertex(0.49, -0.49, 5);
    add_wide_vertex(0.37, -0.37, 5);
    add_wide_vertex(0.7, -0.7, 5);
    run();
    assert_int_equal(vertices_of(0), 0);
    assert_int_equal(vertices_of(1), 0);
    assert_int_equal(vertices_of(2), 1);
    assert_int_equal(vertices_of(3), 0);
    assert_vertex(0, 0.37, -0.37, 5, 0.01);
    config.beam_x_mm = 0.8f;
    config.beam_y_mm = -0.8f;
    run();
    assert_int_equal(vertices_of(0), 0);
    assert_int_equal(vertices_of(1), 1);
    assert_int_equal(vertices_of(2), 0);
    assert_int_equal(vertices_of(3), 1);
    assert_vertex(1, 0.7, -0.7, 5, 0.01);
}

/* Two vertices that cannot be told apart and have the same weight, bit for bit: the one found later, that of
 * larger z, goes, and only that one. All tracks of a vertex go exactly through the place where the search for
 * peaks puts it, the middle of a bin, and share nothing with the other. */
static void of_equal_weights_the_later_goes(void **state)
{
    (void)state;
    const double z[2] = {-4.125, 0.875}; /* 5 sigma of a track's z apart: chi2 25 */
    config.z_min_mm = -512;              /* bins of 1/4 mm from there: z is the middle of one */
    config.z_max_mm = 512;
    for (int event = 0; event < 2; event++) {
        config.min_separation2 = event == 0 ? 0 : 100; /* first that there are two of equal weight */
        slc_columns_reset(&states);
        for (int v = 0; v < 2; v++) {
            for (int i = 0; i < 6; i++) {
                const double phi = 6.283185307 * i / 6;
                add_track(0, 0, z[v], 0.1 * cos(phi), 0.1 * sin(phi), 0.1);
            }
        }
        end_event();
        run();
        if (event == 0) {
            assert_int_equal(vertices_of(0), 2);
            assert_memory_equal(&found.n_tracks[0], &found.n_tracks[1], sizeof(float));
        }
    }
    assert_int_equal(vertices_of(0), 1);
    assert_vertex(0, 0, 0, z[0], 1e-4);
}

static void damaged_states_do_not_count(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
    uint64_t random = 12;
    add_vertex(&random, 0, 0, 42, 30, 0);
    end_event();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        float *const columns[] = {states.x_mm, states.y_mm,       states.z_mm,      states.tx,
                                  states.ty,   states.cov_xx_mm2, states.cov_yy_mm2};
        uint64_t again = 12;
        add_vertex(&again, 0, 0, 42, 30, 0);
        for (size_t c = 0; c < 7; c++) {
            add_vertex(&random, 0, 0, 42, 1, 0);
            columns[c][states.head.size - 1] = bad[k];
        }
        add_vertex(&random, 0, 0, 42, 2, 0);
        states.cov_xx_mm2[states.head.size - 2] = 0;
        states.cov_yy_mm2[states.head.size - 1] = -1;
        end_event();
    }
    run();
    for (uint32_t e = 0; e < found.head.n_events; e++) {
        assert_int_equal(vertices_of(e), 1);
        assert_memory_equal(&found.z_mm[e], &found.z_mm[0], sizeof(float));
        assert_memory_equal(&found.n_tracks[e], &found.n_tracks[0], sizeof(float));
    }
}

static void crowded_events(void **state)
{
    (void)state;
    uint64_t random = 13;
    for (int v = 0; v < 30; v++) {
        add_vertex(&random, 0, 0, -150 + 10 * v, 100, 0);
    }
    end_event();
    add_vertex(&random, 0.01, 0.02, 3, MOST_TRACKS - 5, 0); /* everything in one point */
    end_event();
    run();
    assert_int_equal(vertices_of(0), 30);
    for (size_t v = 0; v < 30; v++) {
        assert_vertex(v, 0, 0, -150 + 10 * (double)v, 0.01);
    }
    assert_int_equal(vertices_of(1), 1);
    assert_vertex(30, 0.01, 0.02, 3, 0.001);
}

/* 100 vertices: the 64 with the most tracks stay. */
static void more_peaks_than_vertices(void **state)
{
    (void)state;
    uint64_t random = 14;
    for (int v = 0; v < 100; v++) {
        add_vertex(&random, 0, 0, -500 + 8 * v, v % 3 == 0 ? 10 : 30, 0);
    }
    end_event();
    run();
    assert_int_equal(vertices_of(0), SLC_VELO_MAX_PRIMARIES);
    for (size_t row = 0; row < found.head.size; row++) {
        assert_true(found.n_tracks[row] > 15);
        assert_true(row == 0 || found.z_mm[row] > found.z_mm[row - 1]);
    }
}

/* Pulls of generated vertices: what the covariance is worth. That weights fall with the distance makes the
 * position somewhat less certain than it says, where tracks are exactly normal as here. */
static void covariance_is_right(void **state)
{
    (void)state;
    config.error_scale = 1; /* their errors are what the tracks say */
    uint64_t random = 15;
    double squares[3] = {0};
    const size_t events = 1000;
    for (size_t e = 0; e < events; e++) {
        slc_columns_reset(&states);
        add_vertex(&random, 0, 0, 20, 25, 1);
        end_event();
        run();
        assert_int_equal(vertices_of(0), 1);
        squares[0] += pow((double)found.x_mm[0], 2) / (double)found.cov_xx_mm2[0];
        squares[1] += pow((double)found.y_mm[0], 2) / (double)found.cov_yy_mm2[0];
        squares[2] += pow((double)found.z_mm[0] - 20, 2) / (double)found.cov_zz_mm2[0];
    }
    for (int c = 0; c < 3; c++) {
        const double width = sqrt(squares[c] / (double)events);
        assert_true(width > 0.97 && width < 1.17);
    }
}

static void refusals(void **state)
{
    (void)state;
    uint64_t random = 16;
    slc_velo_vertex_scratch none = {0};
    slc_velo_primaries no_room = {0};
    add_vertex(&random, 0, 0, 0, 10, 0);
    end_event();
    assert_int_equal(slc_velo_vertex_run(&config, &states, &none, &found), SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_vertex_run(&config, &states, &scratch, &no_room), SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_vertex_reserve(&none, 9), SLC_OK);
    assert_int_equal(slc_velo_vertex_run(&config, &states, &none, &found), SLC_ERR_CAPACITY);
    assert_int_equal(found.head.size, 0);
    slc_velo_vertex_clear(&none);
    assert_int_equal(slc_columns_reserve(&slc_velo_primaries_schema, &no_room, 10, 1), SLC_OK);
    assert_int_equal(slc_velo_vertex_run(&config, &states, &scratch, &no_room), SLC_ERR_CAPACITY);
    slc_columns_clear(&slc_velo_primaries_schema, &no_room);
    config.bin_mm = 0.1f; /* 8480 bins */
    assert_int_equal(slc_velo_vertex_run(&config, &states, &scratch, &found), SLC_ERR_USAGE);
    config.bin_mm = 0;
    assert_int_equal(slc_velo_vertex_run(&config, &states, &scratch, &found), SLC_ERR_USAGE);
    slc_velo_vertex_config_default(&config);
    config.target = SLC_SIMD_TARGETS;
    assert_int_equal(slc_velo_vertex_run(&config, &states, &scratch, &found), SLC_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equals_the_oracle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(same_bits_on_every_target, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_do_not_touch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_vertices_a_millimetre_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_vertex_beside_a_large_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_little_for_a_vertex, set_up, tear_down),
        cmocka_unit_test_setup_teardown(far_from_the_beam_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_equal_weights_the_later_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_states_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(crowded_events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_peaks_than_vertices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(covariance_is_right, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
