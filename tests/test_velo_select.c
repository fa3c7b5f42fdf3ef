/* SPDX-License-Identifier: Apache-2.0
 * Selections: every quantity and every decision against the oracle, events made by hand, limits, memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/near.h"
#include "support/random.h"
#include "support/velo_select_events.h"
#include "support/velo_select_random.h"
#include "velo/velo_select_quantity.h"

#include "oracle/velo_select_oracle.h"

#include <stdio.h>
#include <string.h>

/* ---- quantities -------------------------------------------------------------------------------- */

static void quantities_are_the_oracles(void **state)
{
    (void)state;
    uint64_t seed = 1;
    size_t pairs = 0, damaged = 0;
    for (int e = 0; e < 10000; e++) {
        begin();
        make_event(&seed, 8);
        event.beam_x = rounded(0.1 * random_normal(&seed));
        event.beam_y = rounded(0.1 * random_normal(&seed));
        end_event();
        const slc_velo_select_event seen = {.tracks = &tracks,
                                            .states = &states,
                                            .primaries = &primaries,
                                            .n_tracks = event.n_tracks,
                                            .n_vertices = event.n_vertices,
                                            .beam_x = event.beam_x,
                                            .beam_y = event.beam_y};
        for (size_t t = 0; t < event.n_tracks; t++) {
            for (slc_velo_quantity q = SLC_VELO_Q_IP_MM; q <= SLC_VELO_Q_BEAM_DOCA_MM; q++) {
                expect_same((double)slc_velo_select_track(&seen, q, t), oracle_track_quantity(&event, q, t));
            }
            damaged += isnan(track_memory[t].tx) ? 1 : 0;
            for (size_t u = t + 1; u < event.n_tracks; u++, pairs++) {
                slc_velo_select_pair pair;
                slc_velo_select_begin_pair(&seen, t, u, &pair);
                for (slc_velo_quantity q = SLC_VELO_Q_PAIR_DOCA_MM; q <= SLC_VELO_Q_PAIR_POINTING; q++) {
                    expect_same((double)slc_velo_select_pair_of(&seen, q, &pair),
                                oracle_pair_quantity(&event, q, t, u));
                }
            }
        }
    }
    event.beam_x = event.beam_y = 0;
    assert_true(pairs > 50000 && damaged > 500); /* it was about something */
}

/* Numbers that can be checked on paper: a vertex at the origin, a track that passes it at x = 0.3 mm along z,
 * one that crosses that one at z = 10 mm, one parallel to it, one that flies backwards. */
static void by_hand(void)
{
    begin();
    event.n_vertices = 1;
    event.n_tracks = 4;
    event.n_hits = 12;
    vertex_memory[0] = (oracle_vertex){.cov = {{1e-4, 0, 0}, {0, 1e-4, 0}, {0, 0, 1e-2}}};
    for (size_t t = 0; t < 4; t++) {
        track_memory[t] = (oracle_track){.n_hits = 5, .n_dof = 6, .chi2 = 9};
        set_covariance(&track_memory[t], 0, 0.02, 0.001, 0);
        set_covariance(&track_memory[t], 1, 0.02, 0.001, 0);
    }
    track_memory[0].x = 0.3;
    track_memory[1].x = 0.3 - 0.75 * 10;
    track_memory[1].tx = 0.75;
    track_memory[2].y = 0.4;
    track_memory[3].ty = 1;
    track_memory[3].backward = true;
    end_event();
}

static float pair_value(const slc_velo_select_event *seen, slc_velo_quantity q, size_t a, size_t b)
{
    slc_velo_select_pair pair;
    slc_velo_select_begin_pair(seen, a, b, &pair);
    return slc_velo_select_pair_of(seen, q, &pair);
}

static void quantities_are_those_on_paper(void **state)
{
    (void)state;
    by_hand();
    slc_velo_select_event seen = {
        .tracks = &tracks, .states = &states, .primaries = &primaries, .n_tracks = 4, .n_vertices = 1};
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_IP_MM, 0), 0.3, 1e-7);
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_IP_CHI2, 0), 0.09 / 5e-4, 1e-3);
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_CHI2_NDOF, 0), 1.5, 0);
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_HITS, 0), 5, 0);
    assert_true(isinf(slc_velo_select_track(&seen, SLC_VELO_Q_ETA, 0)));
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_BEAM_DOCA_MM, 0), 0.3, 1e-7);
    /* (-7.2, 0, 0) and the direction (3, 0, 4) / 5: 7.2 · 4 / 5 */
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_IP_MM, 1), 5.76, 1e-6);
    /* 0.02² + 0.01² + 0.75² · 0.01 in x */
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_IP_CHI2, 1), 7.2 * 7.2 / (5e-4 + 0.005625), 0.01);
    /* backwards at 45 degrees: eta = -asinh(1), downwards */
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_ETA, 3), -0.881373587, 1e-6);
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_PHI, 3), -1.570796327, 1e-6);
    assert_near(slc_velo_select_track(&seen, SLC_VELO_Q_BACKWARD, 3), 1, 0);

    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_DOCA_MM, 0, 1), 0, 1e-6);
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_VERTEX_Z_MM, 0, 1), 10, 1e-5);
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_FLIGHT_MM, 0, 1), sqrt(100.09), 1e-5);
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, 0, 1), 0.3, 1e-6);
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_OPENING_RAD, 0, 1), 0.643501109, 1e-6);
    /* (0.3, 0, 10) and (0, 0, 1) + (0.6, 0, 0.8) */
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_POINTING, 0, 1), 18.18 / sqrt(100.09 * 3.6), 1e-6);
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_DOCA_MM, 0, 2), 0.5, 1e-6); /* parallel */
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_OPENING_RAD, 0, 2), 0, 0);
    assert_true(isnan(pair_value(&seen, SLC_VELO_Q_PAIR_VERTEX_Z_MM, 0, 2)));
    assert_true(isnan(pair_value(&seen, SLC_VELO_Q_PAIR_FLIGHT_MM, 0, 2)));
    assert_true(isnan(pair_value(&seen, SLC_VELO_Q_PAIR_POINTING, 0, 2)));
    assert_near(pair_value(&seen, SLC_VELO_Q_PAIR_OPENING_RAD, 0, 3), 2.35619449, 1e-6); /* 135 degrees */

    seen.n_vertices = 0;
    assert_true(isinf(slc_velo_select_track(&seen, SLC_VELO_Q_IP_MM, 0)));
    assert_true(isinf(slc_velo_select_track(&seen, SLC_VELO_Q_IP_CHI2, 0)));
    assert_true(isinf(pair_value(&seen, SLC_VELO_Q_PAIR_FLIGHT_MM, 0, 1)));
    assert_true(isinf(pair_value(&seen, SLC_VELO_Q_PAIR_FLIGHT_RHO_MM, 0, 1)));
    assert_true(isnan(pair_value(&seen, SLC_VELO_Q_PAIR_POINTING, 0, 1)));
}

/* ---- decisions --------------------------------------------------------------------------------- */

static slc_status run(const slc_velo_selection *selection, uint64_t first_event)
{
    return slc_velo_select_run(selection, &hits, &tracks, &states, &primaries, first_event, &scratch,
                               &decisions, &fired, NULL);
}

static void decisions_are_the_oracles(void **state)
{
    (void)state;
    uint64_t seed = 2;
    size_t compared = 0, accepted = 0, near_a_cut = 0;
    slc_velo_selection selection;
    for (uint64_t e = 0; e < 10000; e++) {
        begin();
        make_event(&seed, 20);
        end_event();
        random_selection(&seed, &selection);
        assert_int_equal(run(&selection, e), SLC_OK);
        assert_int_equal(decisions.head.size, 1);
        for (uint32_t k = 0; k < selection.n_lines; k++) {
            bool close = false;
            const bool expected = oracle_line(&event, &selection.lines[k], e, &close);
            if (close) {
                near_a_cut++;
                continue;
            }
            assert_int_equal(decisions.lines[0] >> k & 1, expected);
            compared++;
            accepted += expected;
        }
        assert_int_equal(decisions.lines[0] >> selection.n_lines, 0);
        assert_int_equal(decisions.limited[0], 0);
    }
    print_message("%zu decisions compared, %zu accepted, %zu too near to a cut\n", compared, accepted,
                  near_a_cut);
    assert_true(compared > 30000 && accepted > compared / 10 && accepted < compared * 9 / 10);
    assert_true(near_a_cut < compared / 20);
}

/* Of every track the lines in which it has part, which are lines that have accepted. */
static void tracks_are_the_oracles(void **state)
{
    (void)state;
    uint64_t seed = 12;
    size_t compared = 0, marked = 0, near_a_cut = 0, by_pairs = 0;
    slc_velo_selection selection;
    for (uint64_t e = 0; e < 4000; e++) {
        begin();
        make_event(&seed, 20);
        end_event();
        random_selection(&seed, &selection);
        assert_int_equal(run(&selection, e), SLC_OK);
        assert_true(slc_columns_zip(&tracks, &fired, NULL));
        for (uint32_t k = 0; k < selection.n_lines; k++) {
            const slc_velo_line *line = &selection.lines[k];
            const bool accepted = decisions.lines[0] >> k & 1;
            bool pairs = false;
            for (uint32_t c = 0; c < line->n_cuts; c++) {
                pairs = pairs || slc_velo_quantity_of(line->cuts[c].quantity) == 2;
            }
            for (size_t t = 0; t < event.n_tracks; t++) {
                bool close = false;
                const bool expected = accepted && oracle_fired(&event, line, t, &close);
                const bool got = fired.lines[t] >> k & 1;
                near_a_cut += close;
                if (!close) {
                    assert_int_equal(got, expected);
                    compared++;
                    marked += got;
                    by_pairs += got && pairs;
                }
            }
        }
    }
    print_message("%zu tracks and lines compared, %zu marked, %zu of them by pairs, %zu too near to a cut\n",
                  compared, marked, by_pairs, near_a_cut);
    assert_true(compared > 50000 && marked > 5000 && by_pairs > 1000 && near_a_cut < compared / 10);
}

/* The same events one by one and all at once. */
static void decisions_do_not_depend_on_batches(void **state)
{
    (void)state;
    slc_velo_selection selection;
    uint64_t seed = 3, together[MAX_EVENTS];
    random_selection(&seed, &selection);
    selection.lines[0] = (slc_velo_line){
        .prescale = 3, .min_count = 1, .n_cuts = 1, .cuts = {{SLC_VELO_Q_PAIR_DOCA_MM, 0, 0.3f}}};
    const uint64_t events = seed;
    begin();
    for (int e = 0; e < MAX_EVENTS; e++) {
        make_event(&seed, 20);
        end_event();
    }
    assert_int_equal(run(&selection, 1000), SLC_OK);
    assert_int_equal(decisions.head.n_events, MAX_EVENTS);
    memcpy(together, decisions.lines, sizeof together);
    seed = events;
    uint64_t some = 0;
    for (uint64_t e = 0; e < MAX_EVENTS; e++) {
        begin();
        make_event(&seed, 20);
        end_event();
        assert_int_equal(run(&selection, 1000 + e), SLC_OK);
        assert_int_equal(decisions.lines[0], together[e]);
        some |= decisions.lines[0];
    }
    assert_true(some != 0);
}

static void counts_and_prescales(void **state)
{
    (void)state;
    by_hand();
    slc_velo_selection selection = {.n_lines = 6};
    for (uint32_t k = 0; k < 5; k++) { /* four tracks: at least 0, 1, … 4, then 5 */
        selection.lines[k] = (slc_velo_line){.min_count = k, .prescale = 1};
    }
    selection.lines[5] = (slc_velo_line){.min_count = 5, .prescale = 1};
    assert_int_equal(run(&selection, 7), SLC_OK);
    assert_int_equal(decisions.lines[0], 0x1f);
    selection.n_lines = 3;
    for (uint32_t k = 0; k < 3; k++) {
        selection.lines[k] = (slc_velo_line){.prescale = k + 2};
    }
    for (uint64_t number = 0; number < 24; number++) {
        assert_int_equal(run(&selection, number), SLC_OK);
        const uint64_t expected = (number % 2 == 0) | (uint64_t)(number % 3 == 0) << 1 |
                                  (uint64_t)(number % 4 == 0) << 2;
        assert_int_equal(decisions.lines[0], expected);
    }
}

/* A state that is not a number passes no cut, however wide, and counts where there is none. */
static void damaged_states_pass_nothing(void **state)
{
    (void)state;
    by_hand();
    for (size_t t = 0; t < 4; t++) {
        states.x_mm[t] = NAN;
    }
    slc_velo_selection selection = {.n_lines = 2};
    selection.lines[0] = (slc_velo_line){.min_count = 1, .prescale = 1};
    selection.lines[1] = (slc_velo_line){
        .min_count = 1, .prescale = 1, .n_cuts = 1, .cuts = {{SLC_VELO_Q_IP_MM, -INFINITY, INFINITY}}};
    for (slc_velo_quantity q = SLC_VELO_Q_PAIR_DOCA_MM; q <= SLC_VELO_Q_PAIR_POINTING; q++) {
        if (q != SLC_VELO_Q_PAIR_OPENING_RAD) { /* of slopes alone */
            selection.lines[1].cuts[0].quantity = q;
            assert_int_equal(run(&selection, 0), SLC_OK);
            assert_int_equal(decisions.lines[0], 1);
        }
    }
}

/* Tracks of which all pass and no pair does: the work has an end, and the end is told. */
static void crowded_events_are_cut_short(void **state)
{
    (void)state;
    begin();
    event.n_vertices = 0;
    event.n_hits = 0;
    event.n_tracks = 1024; /* 523776 pairs: just what a line may look at */
    for (size_t t = 0; t <= 1024; t++) {
        track_memory[t] = (oracle_track){.x = (double)t, .tx = 0.001 * (double)t, .n_hits = 3, .n_dof = 2};
    }
    end_event();
    event.n_tracks = 1025;
    end_event();
    slc_velo_selection selection = {.n_lines = 2};
    selection.lines[0] = (slc_velo_line){
        .min_count = 1, .prescale = 1, .n_cuts = 1, .cuts = {{SLC_VELO_Q_PAIR_VERTEX_Z_MM, 1, 2}}};
    selection.lines[1] = selection.lines[0];
    selection.lines[1].cuts[0] = (slc_velo_cut){SLC_VELO_Q_PAIR_DOCA_MM, 0, 1e-3f};
    assert_int_equal(run(&selection, 0), SLC_OK);
    assert_int_equal(decisions.limited[0], 0);
    assert_int_equal(decisions.lines[0], 2);
    assert_int_equal(decisions.limited[1], 1);
    assert_int_equal(decisions.lines[1], 2); /* enough pairs were found before */
}

/* ---- calls that fail ---------------------------------------------------------------------------- */

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    by_hand();
    static slc_velo_selection selection;
    selection = (slc_velo_selection){.n_lines = 1};
    selection.lines[0] = (slc_velo_line){.prescale = 0};
    assert_int_equal(run(&selection, 0), SLC_ERR_USAGE);
    selection.lines[0] = (slc_velo_line){.prescale = 1, .n_cuts = SLC_VELO_MAX_CUTS + 1};
    assert_int_equal(run(&selection, 0), SLC_ERR_USAGE);
    selection.lines[0] = (slc_velo_line){.prescale = 1, .n_cuts = 1, .cuts = {{SLC_VELO_QUANTITIES, 0, 1}}};
    assert_int_equal(run(&selection, 0), SLC_ERR_USAGE);
    selection.lines[0] = (slc_velo_line){.prescale = 1};
    selection.n_lines = SLC_VELO_MAX_LINES + 1;
    assert_int_equal(run(&selection, 0), SLC_ERR_USAGE);
    selection.n_lines = 1;
    assert_int_equal(run(&selection, 0), SLC_OK);
    slc_velo_select_scratch small = {.block = scratch.block, .tracks = 3};
    assert_int_equal(slc_velo_select_run(&selection, &hits, &tracks, &states, &primaries, 0, &small,
                                         &decisions, NULL, NULL),
                     SLC_ERR_CAPACITY);
    slc_velo_decisions none = {.lines = NULL};
    assert_int_equal(
        slc_velo_select_run(&selection, &hits, &tracks, &states, &primaries, 0, &scratch, &none, NULL, NULL),
        SLC_ERR_CAPACITY);
    slc_velo_fired nowhere = {.lines = NULL};
    assert_int_equal(slc_velo_select_run(&selection, &hits, &tracks, &states, &primaries, 0, &scratch,
                                         &decisions, &nowhere, NULL),
                     SLC_ERR_CAPACITY);
    slc_columns_end_event(&primaries);
    assert_int_equal(run(&selection, 0), SLC_ERR_USAGE);
    assert_int_equal(decisions.head.size, 0);
}

static void run_does_not_allocate(void **state)
{
    (void)state;
    uint64_t seed = 5;
    slc_velo_selection selection;
    slc_velo_select_scratch own = {.block = NULL};
    allocations_left = 0;
    assert_int_equal(slc_velo_select_reserve(&own, 100, NULL), SLC_ERR_MEMORY);
    allocations_left = LONG_MAX;
    assert_int_equal(slc_velo_select_reserve(&own, 100, NULL), SLC_OK);
    allocator_calls = 0;
    assert_int_equal(slc_velo_select_reserve(&own, 50, NULL), SLC_OK);
    assert_int_equal(own.tracks, 100);
    for (int e = 0; e < 100; e++) {
        begin();
        make_event(&seed, 40);
        end_event();
        random_selection(&seed, &selection);
        assert_int_equal(slc_velo_select_run(&selection, &hits, &tracks, &states, &primaries, 0, &own,
                                             &decisions, &fired, NULL),
                         SLC_OK);
    }
    assert_int_equal(allocator_calls, 0);
    slc_velo_select_clear(&own);
    assert_true(allocator_calls > 0);
}

static void names_are_those_of_the_quantities(void **state)
{
    (void)state;
    for (slc_velo_quantity q = 0; q < SLC_VELO_QUANTITIES; q++) {
        const char *name = slc_velo_quantity_name(q);
        const uint32_t of = strncmp(name, "event_", 6) == 0 ? 0 : strncmp(name, "pair_", 5) == 0 ? 2 : 1;
        assert_int_equal(slc_velo_quantity_of(q), of);
        for (slc_velo_quantity other = 0; other < q; other++) {
            assert_string_not_equal(name, slc_velo_quantity_name(other));
        }
    }
    assert_null(slc_velo_quantity_name(SLC_VELO_QUANTITIES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities_are_the_oracles),
        cmocka_unit_test(quantities_are_those_on_paper),
        cmocka_unit_test(decisions_are_the_oracles),
        cmocka_unit_test(decisions_do_not_depend_on_batches),
        cmocka_unit_test(tracks_are_the_oracles),
        cmocka_unit_test(counts_and_prescales),
        cmocka_unit_test(damaged_states_pass_nothing),
        cmocka_unit_test(crowded_events_are_cut_short),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(run_does_not_allocate),
        cmocka_unit_test(names_are_those_of_the_quantities),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
