/* SPDX-License-Identifier: Apache-2.0
 *
 * The beam line from tracks: against a search for the least of what it minimises; on simulated events of a
 * detector that was moved, from no knowledge of where it went; and the track search about a beam line, which
 * is the search in hits that are moved back.
 */
#include "base/columns.h"
#include "velo/velo_geometry.h"
#include <sluice/sim.h>
#include <sluice/velo_beam.h>
#include <sluice/velo_chain.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/random.h"

enum { MOST_TRACKS = 20000, MOST_EVENTS = 2048 };

static slc_velo_states states;
static slc_velo_beam_sample sample;

static int set_up(void **state)
{
    (void)state;
    return slc_columns_reserve(&slc_velo_states_schema, &states, MOST_TRACKS, MOST_EVENTS) != SLC_OK ||
           slc_velo_beam_reserve(&sample, NULL) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_states_schema, &states);
    slc_velo_beam_clear(&sample);
    return 0;
}

/* A track through the point, given at some other point of its line. */
static void add_track(uint64_t *random, double x, double y, double z)
{
    const size_t row = states.head.size++;
    const double phi = 6.283185307 * random_unit(random), slope = 0.02 + 0.25 * random_unit(random);
    const double tx = slope * cos(phi), ty = slope * sin(phi), way = 100 * random_unit(random);
    states.x_mm[row] = (float)(x + way * tx);
    states.y_mm[row] = (float)(y + way * ty);
    states.z_mm[row] = (float)(z + way);
    states.tx[row] = (float)tx;
    states.ty[row] = (float)ty;
}

/* Events of a few collisions at (x, y), and tracks from elsewhere: every third. */
static void add_events(uint64_t *random, uint32_t n, double x, double y)
{
    for (uint32_t e = 0; e < n; e++) {
        for (int v = 0; v < 4; v++) {
            const double vx = x + 0.04 * random_normal(random), vy = y + 0.04 * random_normal(random);
            for (int t = 0; t < 10; t++) {
                add_track(random, vx + 0.04 * random_normal(random), vy + 0.04 * random_normal(random), 10);
                if (t % 3 == 0) { /* all on one side */
                    add_track(random, x + 8 * random_unit(random), y + 3 * random_unit(random), 40);
                }
            }
        }
        slc_columns_end_event(&states);
    }
}

/* ---- the estimate ------------------------------------------------------------------------------ */

static int rising(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double distance(size_t t, double x, double y)
{
    const double tx = (double)states.tx[t], ty = (double)states.ty[t];
    return fabs((x - (double)states.x_mm[t]) * ty - (y - (double)states.y_mm[t]) * tx) / hypot(tx, ty);
}

/* What the estimate minimises: of each track 1 - (1 - (d / cut)²)³, or 1 beyond the cut. */
static double loss(double x, double y, double cut)
{
    double sum = 0;
    for (size_t t = 0; t < states.head.size; t++) {
        const double d = distance(t, x, y);
        sum += d < cut ? 1 - pow(1 - pow(d / cut, 2), 3) : 1;
    }
    return sum;
}

static void is_the_least(void **state)
{
    (void)state;
    uint64_t random = 21;
    add_events(&random, 20, 3.25, -1.5);
    slc_velo_beam beam;
    assert_int_equal(slc_velo_beam_add(&sample, &states, NULL), SLC_OK);
    assert_int_equal(slc_velo_beam_estimate(&sample, &beam, NULL), SLC_OK);
    double x = 3.25, y = -1.5, step = 0.1;
    for (int halved = 0; halved < 20; halved++, step /= 2) {
        for (bool better = true; better;) {
            const double here = loss(x, y, 3 * beam.spread_mm);
            double least = here, at_x = x, at_y = y;
            for (int k = 0; k < 4; k++) {
                const double to_x = x + step * (double[]){1, -1, 0, 0}[k];
                const double to_y = y + step * (double[]){0, 0, 1, -1}[k];
                const double there = loss(to_x, to_y, 3 * beam.spread_mm);
                at_x = there < least ? to_x : at_x;
                at_y = there < least ? to_y : at_y;
                least = fmin(least, there);
            }
            better = least < here;
            x = at_x;
            y = at_y;
        }
    }
    assert_true(fabs(beam.x_mm - x) < 2e-5 && fabs(beam.y_mm - y) < 2e-5);
    assert_true(hypot(beam.x_mm - 3.25, beam.y_mm + 1.5) < 3 * beam.sigma_mm);
    assert_true(beam.sigma_mm < 0.03 && beam.spread_mm < 0.2);
    static double distances[MOST_TRACKS];
    for (size_t t = 0; t < states.head.size; t++) {
        distances[t] = distance(t, beam.x_mm, beam.y_mm);
    }
    qsort(distances, states.head.size, sizeof *distances, rising);
    assert_true(fabs(beam.spread_mm - 1.4826 * distances[states.head.size / 2]) < 1e-9);
    assert_true(fabs(beam.sigma_mm - beam.spread_mm / sqrt(20)) < 1e-9);
    assert_int_equal(beam.events, 20);
    assert_int_equal(beam.tracks, states.head.size);
}

/* Event by event it is the same, and what is beyond the sample's room does not matter. */
static void batches_do_not_matter(void **state)
{
    (void)state;
    uint64_t random = 22;
    add_events(&random, 200, 0.5, 0.5);
    assert_true(states.head.size > SLC_VELO_BEAM_TRACKS);
    slc_velo_beam whole, parts;
    assert_int_equal(slc_velo_beam_add(&sample, &states, NULL), SLC_OK);
    assert_true(sample.full);
    assert_int_equal(slc_velo_beam_estimate(&sample, &whole, NULL), SLC_OK);
    assert_int_equal(whole.tracks, SLC_VELO_BEAM_TRACKS);
    slc_velo_beam_reset(&sample);
    for (uint32_t e = 0; e < states.head.n_events; e++) {
        slc_velo_states one = states;
        uint32_t offsets[2] = {0, 0};
        assert_int_equal(slc_columns_view(&slc_velo_states_schema, &states, e, 1, offsets, &one), SLC_OK);
        assert_int_equal(slc_velo_beam_add(&sample, &one, NULL), SLC_OK);
        if (e == 10) { /* an estimate in between changes nothing */
            assert_int_equal(slc_velo_beam_estimate(&sample, &parts, NULL), SLC_OK);
            assert_int_equal(parts.events, 11);
        }
    }
    assert_int_equal(slc_velo_beam_estimate(&sample, &parts, NULL), SLC_OK);
    assert_memory_equal(&whole, &parts, sizeof whole);
}

static void damaged_and_empty(void **state)
{
    (void)state;
    uint64_t random = 23;
    slc_velo_beam clean, beam;
    slc_error error;
    add_events(&random, 4, -2, 7);
    assert_int_equal(slc_velo_beam_add(&sample, &states, NULL), SLC_OK);
    assert_int_equal(slc_velo_beam_estimate(&sample, &clean, NULL), SLC_OK);
    slc_columns_reset(&states);
    random = 23;
    add_events(&random, 4, -2, 7);
    slc_columns_end_event(&states);
    for (int k = 0; k < 3; k++) {
        add_track(&random, 0, 0, 0);
    }
    states.tx[states.head.size - 3] = NAN;
    states.y_mm[states.head.size - 2] = INFINITY;
    states.tx[states.head.size - 1] = states.ty[states.head.size - 1] = 0; /* along z */
    slc_columns_end_event(&states);
    slc_velo_beam_reset(&sample);
    assert_int_equal(slc_velo_beam_add(&sample, &states, NULL), SLC_OK);
    assert_int_equal(slc_velo_beam_estimate(&sample, &beam, NULL), SLC_OK);
    assert_memory_equal(&beam, &clean, sizeof beam);

    slc_velo_beam_reset(&sample);
    assert_int_equal(slc_velo_beam_estimate(&sample, &beam, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text,
                        "0 tracks in 0 events are too few to tell where the beam is: 20 are needed");
    slc_columns_reset(&states);
    for (int k = 0; k < 100; k++) {
        add_track(&random, 0.1 * k, 1, 0);
        states.tx[k] = 0.1f;
        states.ty[k] = 0.2f;
    }
    slc_columns_end_event(&states);
    assert_int_equal(slc_velo_beam_add(&sample, &states, NULL), SLC_OK);
    assert_int_equal(slc_velo_beam_estimate(&sample, &beam, &error), SLC_ERR_FORMAT);
    assert_true(beam.tracks == 0);

    slc_columns_reset(&states);
    for (int e = 0; e < MOST_EVENTS; e++) {
        slc_columns_end_event(&states);
    }
    slc_velo_beam_reset(&sample);
    assert_int_equal(slc_velo_beam_add(&sample, &states, NULL), SLC_OK);
    assert_true(sample.full && sample.events == SLC_VELO_BEAM_EVENTS && sample.tracks == 0);
    slc_velo_beam_sample none = {0};
    assert_int_equal(slc_velo_beam_add(&none, &states, NULL), SLC_ERR_CAPACITY);
}

static void when_it_differs(void **state)
{
    (void)state;
    slc_velo_beam beam = {.x_mm = 1, .y_mm = -0.5, .sigma_mm = 0.02};
    assert_false(slc_velo_beam_differs(&beam, 1, -0.5f));
    assert_false(slc_velo_beam_differs(&beam, 1.06f, -0.57f)); /* 0.09 mm */
    assert_true(slc_velo_beam_differs(&beam, 1.08f, -0.58f));  /* 0.11 mm */
    assert_true(slc_velo_beam_differs(&beam, 0, 0));
    beam.sigma_mm = 0.04;
    assert_false(slc_velo_beam_differs(&beam, 1.08f, -0.58f)); /* less than three sigma */
    assert_true(fabs(slc_velo_beam_distance(&beam, 1.3f, -0.9f) - 0.5) < 1e-6);
}

/* ---- with a chain ------------------------------------------------------------------------------ */

static slc_batch batch;

/* Some simulated events, whose beam is at x = y = 0. */
static int simulate(void **state)
{
    slc_sim_velo_config config;
    slc_sim_velo *sim;
    slc_sim_velo_config_default(&config);
    config.seed = 31;
    if (set_up(state) != 0 || slc_sim_velo_open(&config, NULL, &sim, NULL) != SLC_OK) {
        return 1;
    }
    slc_status status = SLC_OK;
    slc_batch_reset(&batch);
    for (uint64_t i = 0; i < 12 && status == SLC_OK; i++) {
        status = slc_sim_velo_event(sim, i, &batch, NULL, NULL);
    }
    slc_sim_velo_close(sim);
    return status != SLC_OK;
}

static int forget(void **state)
{
    slc_batch_clear(&batch);
    return tear_down(state);
}

static void run_chain(slc_velo_chain *chain, slc_velo_result *result, bool hits)
{
    if (hits) {
        assert_int_equal(slc_velo_chain_reserve_hits(chain, result, NULL), SLC_OK);
        assert_int_equal(slc_velo_chain_run_hits(chain, result, NULL), SLC_OK);
    } else {
        assert_int_equal(slc_velo_chain_reserve(chain, &batch, result, NULL), SLC_OK);
        assert_int_equal(slc_velo_chain_run(chain, &batch, result, NULL), SLC_OK);
    }
}

/* The detector moved by millimetres, and nothing else known: the recipe of velo_beam.h. */
static void finds_the_beam_of_a_moved_detector(void **state)
{
    (void)state;
    static const double places[][2] = {{0, 0}, {1, -0.5}, {-4, 3}, {0, 8}};
    slc_velo_config config;
    slc_velo_config_default(&config);
    slc_velo_geometry *geometry = malloc(sizeof *geometry);
    assert_non_null(geometry);
    size_t tracks = 0, vertices = 0;
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        slc_velo_geometry_ideal(geometry);
        for (int s = 0; s < SLC_VELO_SENSORS; s++) {
            geometry->to_global[s][9] += (float)places[k][0];
            geometry->to_global[s][10] += (float)places[k][1];
        }
        slc_velo_chain *chain;
        slc_velo_result result = {.first_event = 0};
        slc_velo_beam beam = {.x_mm = 0};
        assert_int_equal(slc_velo_chain_open(&config, geometry, &chain, NULL), SLC_OK);
        double moved = 1;
        int rounds = 0;
        for (; moved > 1e-3 && rounds < 10; rounds++) {
            const double x = beam.x_mm, y = beam.y_mm;
            run_chain(chain, &result, false);
            slc_velo_beam_reset(&sample);
            assert_int_equal(slc_velo_beam_add(&sample, &result.beam, NULL), SLC_OK);
            assert_int_equal(slc_velo_beam_estimate(&sample, &beam, NULL), SLC_OK);
            assert_int_equal(slc_velo_chain_set_beam(chain, (float)beam.x_mm, (float)beam.y_mm, NULL),
                             SLC_OK);
            moved = hypot(beam.x_mm - x, beam.y_mm - y);
        }
        assert_true(rounds < 10);
        assert_true(hypot(beam.x_mm - places[k][0], beam.y_mm - places[k][1]) < 0.02);
        tracks = k == 0 ? result.tracks.head.size : tracks;
        vertices = k == 0 ? result.primaries.head.size : vertices;
        assert_true(vertices > 40);
        /* All is as if the detector had stayed, but for what rounding decides. */
        assert_true(fabs((double)result.tracks.head.size / (double)tracks - 1) < 0.003);
        assert_true(fabs((double)result.primaries.head.size - (double)vertices) <= 1);
        slc_velo_result_clear(&result);
        slc_velo_chain_close(chain);
    }
    free(geometry);
}

static void assert_same_tracks(const slc_velo_result *a, const slc_velo_result *b)
{
    for (uint32_t e = 0; e < a->hits.head.n_events; e++) {
        assert_true(slc_columns_checksum(&slc_velo_tracks_schema, &a->tracks, e, 1) ==
                    slc_columns_checksum(&slc_velo_tracks_schema, &b->tracks, e, 1));
        assert_true(slc_columns_checksum(&slc_velo_track_hits_schema, &a->track_hits, e, 1) ==
                    slc_columns_checksum(&slc_velo_track_hits_schema, &b->track_hits, e, 1));
    }
}

/* Hits in steps of 2^-10 mm can be moved by such steps without rounding: the search, told where the beam is,
 * then finds the same tracks bit for bit, and not told, others. */
static void search_about_a_beam_line(void **state)
{
    (void)state;
    slc_velo_config config;
    slc_velo_chain *chain;
    slc_velo_result here = {.first_event = 0}, there = {.first_event = 0};
    slc_velo_config_default(&config);
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
    run_chain(chain, &here, false);
    const size_t n = here.hits.head.size;
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &there.hits, n, here.hits.head.n_events),
                     SLC_OK);
    assert_int_equal(
        slc_columns_append_events(&slc_velo_hits_schema, &here.hits, 0, here.hits.head.n_events, &there.hits),
        SLC_OK);
    for (size_t i = 0; i < n; i++) {
        here.hits.x_mm[i] = rintf(here.hits.x_mm[i] * 1024) / 1024;
        here.hits.y_mm[i] = rintf(here.hits.y_mm[i] * 1024) / 1024;
        there.hits.x_mm[i] = here.hits.x_mm[i] + 2.5f;
        there.hits.y_mm[i] = here.hits.y_mm[i] - 1.75f;
    }
    slc_velo_chain_close(chain);
    for (int how = 0; how < SLC_VELO_TRACK_ALGORITHMS + 2; how++) {
        const bool other = how >= SLC_VELO_TRACK_ALGORITHMS;
        config.track.algorithm = other ? SLC_VELO_TRACK_LOCAL : (slc_velo_track_algorithm)how;
        config.track.strategy = !other ? SLC_VELO_TRACK_STANDARD
                                       : (slc_velo_track_strategy)(how - SLC_VELO_TRACK_ALGORITHMS + 1);
        assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
        run_chain(chain, &here, true);
        run_chain(chain, &there, true);
        assert_true(here.tracks.head.size > 500);
        assert_true(here.tracks.head.size != there.tracks.head.size ||
                    memcmp(here.track_hits.hit, there.track_hits.hit,
                           here.track_hits.head.size * sizeof *here.track_hits.hit) != 0);
        for (int way = 0; way < 3; way++) { /* both ways, and each alone */
            const float dx = way == 2 ? 0 : 2.5f, dy = way == 1 ? 0 : -1.75f;
            for (size_t i = 0; i < n; i++) {
                there.hits.x_mm[i] = here.hits.x_mm[i] + dx;
                there.hits.y_mm[i] = here.hits.y_mm[i] + dy;
            }
            assert_int_equal(slc_velo_chain_set_beam(chain, dx, dy, NULL), SLC_OK);
            run_chain(chain, &there, true);
            assert_same_tracks(&here, &there);
        }
        slc_error error;
        assert_int_equal(slc_velo_chain_set_beam(chain, NAN, 0, &error), SLC_ERR_USAGE);
        assert_int_equal(slc_velo_chain_set_beam(chain, 0, 2000, &error), SLC_ERR_USAGE);
        assert_string_equal(error.text, "fit.beam_y_mm is 2000, must be from -1000 to 1000");
        slc_velo_chain_close(chain);
    }
    slc_velo_result_clear(&here);
    slc_velo_result_clear(&there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(is_the_least, set_up, tear_down),
        cmocka_unit_test_setup_teardown(batches_do_not_matter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_and_empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(when_it_differs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finds_the_beam_of_a_moved_detector, simulate, forget),
        cmocka_unit_test_setup_teardown(search_about_a_beam_line, simulate, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
