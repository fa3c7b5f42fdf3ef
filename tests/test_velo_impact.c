/* SPDX-License-Identifier: Apache-2.0
 * Impact parameters of all tracks against the oracle of selections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/velo_select_events.h"
#include "velo/velo_impact.h"

/* All tracks of several events at once: the same numbers as cuts are applied to, and the vertex by distances
 * to all of them. */
static void impacts_are_the_oracles(void **state)
{
    (void)state;
    uint64_t seed = 21, first = 0;
    size_t compared = 0, none = 0;
    for (int round = 0; round < 500; round++) {
        begin();
        const uint64_t again = seed;
        for (int e = 0; e < 8; e++) {
            make_event(&seed, 20);
            end_event();
        }
        assert_int_equal(slc_velo_impact_run(&states, &primaries, 0.25f, -0.5f, &impacts), SLC_OK);
        assert_true(slc_columns_zip(&tracks, &impacts, NULL));
        seed = again;
        first = 0;
        event.beam_x = 0.25;
        event.beam_y = -0.5;
        for (int e = 0; e < 8; e++, first += event.n_tracks) {
            make_event(&seed, 20);
            for (size_t t = 0; t < event.n_tracks; t++, compared++) {
                const size_t row = first + t;
                size_t nearest = SLC_VELO_NO_VERTEX;
                double ip = INFINITY;
                for (size_t k = 0; k < event.n_vertices; k++) {
                    const oracle_event one = {.tracks = track_memory,
                                              .vertices = &vertex_memory[k],
                                              .n_tracks = event.n_tracks,
                                              .n_vertices = 1};
                    const double distance = oracle_track_quantity(&one, SLC_VELO_Q_IP_MM, t);
                    nearest = distance < ip ? k : nearest;
                    ip = distance < ip ? distance : ip;
                }
                none += nearest == SLC_VELO_NO_VERTEX;
                assert_int_equal(impacts.vertex[row], nearest);
                expect_same((double)impacts.ip_mm[row], oracle_track_quantity(&event, SLC_VELO_Q_IP_MM, t));
                expect_same((double)impacts.ip_chi2[row],
                            oracle_track_quantity(&event, SLC_VELO_Q_IP_CHI2, t));
                expect_same((double)impacts.beam_doca_mm[row],
                            oracle_track_quantity(&event, SLC_VELO_Q_BEAM_DOCA_MM, t));
            }
        }
    }
    event.beam_x = event.beam_y = 0;
    assert_true(compared > 30000 && none > 1000 && none < compared / 2);
    slc_velo_impacts small = {.vertex = NULL};
    assert_int_equal(slc_velo_impact_run(&states, &primaries, 0, 0, &small), SLC_ERR_CAPACITY);
    slc_columns_end_event(&primaries);
    assert_int_equal(slc_velo_impact_run(&states, &primaries, 0, 0, &impacts), SLC_ERR_USAGE);
    assert_int_equal(impacts.head.size, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impacts_are_the_oracles),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
