/* SPDX-License-Identifier: Apache-2.0
 * Track search: known cases by hand, and random events against the plain oracle. */
#include <sluice/velo_track.h>

#include "oracle/velo_track_oracle.h"
#include "support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_HITS = 4000 };

static slc_velo_hits hits;
static slc_velo_tracks tracks;
static slc_velo_track_hits track_hits;
static slc_velo_track_scratch scratch;
static slc_velo_track_config config;
static slc_faults faults;

static int set_up(void **state)
{
    (void)state;
    slc_velo_track_config_default(&config);
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

static void add_hit(uint32_t module, float x, float y, float z)
{
    const size_t i = hits.head.size++;
    hits.x_mm[i] = x;
    hits.y_mm[i] = y;
    hits.z_mm[i] = z;
    hits.module[i] = (uint8_t)module;
    hits.channel[i] = (uint32_t)i;
}

/* z of a layer in these tests: evenly spaced. */
static float layer_z(uint32_t layer)
{
    return 30.0f * (float)layer;
}

static void run(void)
{
    slc_columns_end_event(&hits);
    assert_int_equal(slc_velo_track_run(&config, &hits, 0, &scratch, &tracks, &track_hits, &faults), SLC_OK);
    assert_int_equal(tracks.head.n_events, hits.head.n_events);
    assert_true(slc_columns_check(&slc_velo_tracks_schema, &tracks, NULL));
    assert_true(slc_columns_check(&slc_velo_track_hits_schema, &track_hits, NULL));
}

/* A line with one hit in each of the layers of the mask, in even modules. */
static void line_event(uint32_t mask, float tx, float ty)
{
    slc_columns_reset(&hits);
    for (uint32_t layer = 0; layer < SLC_VELO_LAYERS; layer++) {
        if (mask >> layer & 1U) {
            add_hit(2 * layer, tx * (layer_z(layer) + 50), ty * (layer_z(layer) + 50), layer_z(layer));
        }
    }
    run();
}

static void one_line_is_one_track(void **state)
{
    (void)state;
    line_event(0x3ffffff, 0.05f, -0.03f);
    assert_int_equal(tracks.head.size, 1);
    assert_int_equal(tracks.n_hits[0], 26);
    for (uint32_t i = 0; i < 26; i++) {
        assert_int_equal(track_hits.hit[i], 25 - i); /* downstream first */
    }
}

static void three_hits_make_a_track_and_two_do_not(void **state)
{
    (void)state;
    line_event(7U << 10, 0.05f, 0.03f);
    assert_int_equal(tracks.head.size, 1);
    assert_int_equal(tracks.n_hits[0], 3);
    line_event(3U << 10, 0.05f, 0.03f);
    assert_int_equal(tracks.head.size, 0);
    line_event(7U, 0.05f, 0.03f); /* the most upstream seed, never extended */
    assert_int_equal(tracks.head.size, 1);
}

static void one_layer_may_be_missed_two_may_not(void **state)
{
    (void)state;
    line_event(0x1f | 0x3f << 6, 0.04f, 0.04f); /* layer 5 is missing */
    assert_int_equal(tracks.head.size, 1);
    assert_int_equal(tracks.n_hits[0], 11);
    line_event(0x1f | 0x3f << 7, 0.04f, 0.04f); /* layers 5 and 6 */
    assert_int_equal(tracks.head.size, 2);
    assert_int_equal(tracks.n_hits[0], 6);
    assert_int_equal(tracks.n_hits[1], 5);
}

/* A kink of this scatter in the third hit, alone and in a longer track. */
static void thresholds_hold(void **state)
{
    (void)state;
    const struct {
        uint32_t n_layers, kink_layer;
        float scatter;
        uint32_t n_tracks, n_hits;
    } cases[] = {
        {3, 7, 0.0090f, 1, 3},
        {3, 7, 0.0100f, 0, 0}, /* max_scatter_3hits */
        {6, 4, 0.0900f, 1, 6},
        {6, 4, 0.1100f, 1, 5}, /* max_scatter_extending: one hit is lost */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_columns_reset(&hits);
        const uint32_t first = 10 - cases[i].n_layers;
        for (uint32_t layer = first; layer < 10; layer++) {
            const float kink = layer == cases[i].kink_layer && i < 2 ? sqrtf(cases[i].scatter) : 0;
            /* A single displaced hit at the end, so that nothing after it is affected. */
            const float end = layer == first && i >= 2 ? sqrtf(cases[i].scatter) : 0;
            add_hit(2 * layer, 10 + kink, 5 + end, layer_z(layer));
        }
        run();
        assert_int_equal(tracks.head.size, cases[i].n_tracks);
        if (cases[i].n_tracks > 0) {
            assert_int_equal(tracks.n_hits[0], cases[i].n_hits);
        }
    }
}

static void takes_the_nearest_in_phi_and_the_smallest_scatter(void **state)
{
    (void)state;
    slc_columns_reset(&hits);
    add_hit(16, 10, 0.04f, 0); /* good */
    add_hit(16, 10, 0.01f, 0); /* better */
    add_hit(18, 10, 0, 30);    /* middle */
    add_hit(20, -10, 0, 60);   /* opposite in phi: on no line with the others */
    add_hit(20, 10, 0.001f, 60);
    run();
    assert_int_equal(tracks.head.size, 1);
    assert_int_equal(track_hits.hit[0], 4);
    assert_int_equal(track_hits.hit[1], 2);
    assert_int_equal(track_hits.hit[2], 1);
}

/* Every hit is used once at most, and a track holds one hit of a layer at most. */
static void check_disjoint(uint32_t e)
{
    static bool used[MAX_HITS];
    memset(used, 0, sizeof used);
    for (uint32_t t = tracks.head.event_offset[e]; t < tracks.head.event_offset[e + 1]; t++) {
        int layer = SLC_VELO_LAYERS;
        for (uint32_t i = 0; i < tracks.n_hits[t]; i++) {
            const uint32_t hit = track_hits.hit[track_hits.head.event_offset[e] + tracks.hit_begin[t] + i];
            assert_false(used[hit]);
            used[hit] = true;
            const int here = hits.module[hits.head.event_offset[e] + hit] / 2;
            assert_true(here < layer);
            layer = here;
        }
    }
}

/* A random event: lines from near the origin with some scatter, and noise; sorted by module. */
static void random_event(uint64_t *seed, uint32_t n_lines, uint32_t n_noise)
{
    static float tx[400], ty[400], x0[400];
    for (uint32_t i = 0; i < n_lines; i++) {
        const double phi = 6.2831853 * random_unit(seed), slope = 0.02 + 0.25 * random_unit(seed);
        tx[i] = (float)(slope * cos(phi));
        ty[i] = (float)(slope * sin(phi));
        x0[i] = (float)(0.5 * random_normal(seed));
    }
    for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
        const float z = layer_z(module / 2) + 12.5f * (float)(module % 2) - 200;
        for (uint32_t i = 0; i < n_lines; i++) {
            const float x = x0[i] + tx[i] * z + (float)(0.02 * random_normal(seed));
            const float y = ty[i] * z + (float)(0.02 * random_normal(seed));
            const bool this_half = (x > 0) == (module % 2 == 1);
            if (this_half && fabsf(x) < 40 && fabsf(y) < 40 && random_below(seed, 100) < 97) {
                add_hit(module, x, y, z);
            }
        }
        for (uint32_t i = 0; i < n_noise; i++) {
            add_hit(module, (float)(40 * random_unit(seed) * (module % 2 ? 1 : -1)),
                    (float)(80 * random_unit(seed) - 40), z);
        }
    }
}

static void equals_the_oracle(void **state)
{
    (void)state;
    static oracle_track expected[MAX_HITS];
    uint64_t seed = 2024;
    size_t n_tracks = 0;
    for (uint32_t round = 0; round < 60; round++) {
        config.candidates = round % 3 == 2 ? 1 + random_below(&seed, 8) : 3;
        slc_columns_reset(&hits);
        random_event(&seed, round * 2 / 3, round % 7);
        slc_columns_end_event(&hits);
        random_event(&seed, round / 3, round % 5);
        run();
        for (uint32_t e = 0; e < 2; e++) {
            const size_t n = oracle_velo_track(&config, &hits, e, expected);
            assert_int_equal(tracks.head.event_offset[e + 1] - tracks.head.event_offset[e], n);
            for (size_t t = 0; t < n; t++) {
                const size_t row = tracks.head.event_offset[e] + t;
                assert_int_equal(tracks.n_hits[row], expected[t].n_hits);
                assert_memory_equal(track_hits.hit + track_hits.head.event_offset[e] + tracks.hit_begin[row],
                                    expected[t].hits, expected[t].n_hits * sizeof(uint32_t));
            }
            check_disjoint(e);
            n_tracks += n;
        }
    }
    config.candidates = 3;
    assert_true(n_tracks > 1000);
}

/* Hits in one place, on the beam line, at one z, not finite: no crash, and no hit used twice. */
static void degenerate_hits(void **state)
{
    (void)state;
    const float values[] = {0, -0.0f, 1e30f, -1e30f, INFINITY, NAN, 10};
    uint64_t seed = 4;
    for (int round = 0; round < 300; round++) {
        slc_columns_reset(&hits);
        for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
            for (uint32_t i = 0; i < 4; i++) {
                add_hit(module, values[random_below(&seed, 7)], values[random_below(&seed, 7)],
                        values[random_below(&seed, 7)]);
            }
        }
        run();
        check_disjoint(0);
    }
    slc_columns_reset(&hits);
    run(); /* an empty event */
    assert_int_equal(tracks.head.size, 0);
}

/* A layer over the limit costs its event the search, and no other event. */
static void crowded_events_are_left_alone(void **state)
{
    (void)state;
    config.max_layer_hits = 5;
    slc_columns_reset(&hits);
    for (uint32_t e = 0; e < 3; e++) {
        for (uint32_t layer = 3; layer < 7; layer++) {
            const uint32_t n = e == 1 && layer == 5 ? 6 : 5;
            for (uint32_t i = 0; i < n; i++) {
                add_hit(2 * layer, 10 + 5 * (float)i, 3, layer_z(layer));
            }
        }
        if (e < 2) {
            slc_columns_end_event(&hits);
        }
    }
    slc_faults_reset(&faults);
    run();
    assert_int_equal(tracks.head.event_offset[1], 5);
    assert_int_equal(tracks.head.event_offset[2], 5);
    assert_int_equal(tracks.head.event_offset[3], 10);
    assert_int_equal(slc_faults_total(&faults), 1);
    assert_int_equal(faults.count[SLC_FAULT_EVENT_CROWDED], 1);
    assert_int_equal(faults.kept[0].event, 1);
    slc_velo_track_config_default(&config);
}

static void refuses_misuse(void **state)
{
    (void)state;
    slc_columns_reset(&hits);
    add_hit(5, 1, 1, 1);
    add_hit(2, 1, 1, 1); /* not sorted */
    slc_columns_end_event(&hits);
    assert_int_equal(slc_velo_track_run(&config, &hits, 0, &scratch, &tracks, &track_hits, &faults),
                     SLC_ERR_USAGE);
    slc_velo_track_config wrong = config;
    wrong.candidates = 33;
    assert_int_equal(slc_velo_track_run(&wrong, &hits, 0, &scratch, &tracks, &track_hits, &faults),
                     SLC_ERR_USAGE);
    slc_velo_tracks none = {0};
    assert_int_equal(slc_velo_track_run(&config, &hits, 0, &scratch, &none, &track_hits, &faults),
                     SLC_ERR_CAPACITY);
    slc_velo_track_scratch small = {0};
    assert_int_equal(slc_velo_track_run(&config, &hits, 0, &small, &tracks, &track_hits, &faults),
                     SLC_ERR_CAPACITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_is_one_track),
        cmocka_unit_test(three_hits_make_a_track_and_two_do_not),
        cmocka_unit_test(one_layer_may_be_missed_two_may_not),
        cmocka_unit_test(thresholds_hold),
        cmocka_unit_test(takes_the_nearest_in_phi_and_the_smallest_scatter),
        cmocka_unit_test(equals_the_oracle),
        cmocka_unit_test(degenerate_hits),
        cmocka_unit_test(crowded_events_are_left_alone),
        cmocka_unit_test(refuses_misuse),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
