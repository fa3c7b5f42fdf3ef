/* SPDX-License-Identifier: Apache-2.0
 * Track search: each rule of velo_track.h by hand, with the tracks that must come out. Random events are in
 * test_velo_track_random.c, large ones in test_velo_track_large.c, real ones in test_velo_track_data.c,
 * limits and errors in test_velo_track_limits.c. */
#include "velo/velo_track.h"

#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/velo_track_cases.h"
#include "velo/velo_geometry.h"

#include <math.h>
#include <string.h>

enum { MAX_HITS = 4000, ALL_LAYERS = 0x3ffffff };

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

/* z of a layer's even module by design. */
static float layer_z(uint32_t layer)
{
    return slc_velo_design_module_z_mm[2 * layer];
}

/* Ends the event, and every target gives the oracle's tracks for all events. */
static void search(void)
{
    track_run_end_event(&run);
    track_run_expect_oracle(&run, &config);
}

static void search_anew(void)
{
    track_run_expect_oracle(&run, &config);
}

/* The hits of track t are these, counted in the event. */
static void expect_track(uint32_t t, uint32_t n, const uint32_t *hits)
{
    assert_true(t < run.tracks.head.size);
    assert_int_equal(run.tracks.n_hits[t], n);
    assert_memory_equal(run.track_hits.hit + run.tracks.hit_begin[t], hits, n * sizeof *hits);
}

/* One hit in each of the layers of the mask, upstream first, in even modules, on the line through x and y of
 * layer 0 with these slopes. */
static void add_line(uint32_t mask, float x, float y, float tx, float ty)
{
    for (uint32_t layer = 0; layer < SLC_VELO_LAYERS; layer++) {
        if (mask >> layer & 1U) {
            const float z = layer_z(layer), dz = z - layer_z(0);
            track_run_add(&run, 2 * layer, x + tx * dz, y + ty * dz, z);
        }
    }
}

static void line_event(uint32_t mask)
{
    track_run_begin(&run);
    add_line(mask, 6, 4, 0.03f, -0.02f);
    search();
}

/* ---- one pass -------------------------------------------------------------------------------------- */

static void one_line_is_one_track(void **state)
{
    (void)state;
    line_event(ALL_LAYERS);
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 26);
    for (uint32_t i = 0; i < 26; i++) {
        assert_int_equal(run.track_hits.hit[i], 25 - i); /* downstream first */
    }
}

static void three_hits_make_a_track_and_two_do_not(void **state)
{
    (void)state;
    config.missing_layer_mm2 = 0;
    line_event(7U << 10);
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 3);
    line_event(3U << 10);
    assert_int_equal(run.tracks.head.size, 0);
    line_event(7U); /* the most upstream seed, never extended */
    assert_int_equal(run.tracks.head.size, 1);
    line_event(7U << 23); /* the most downstream one */
    assert_int_equal(run.tracks.head.size, 1);
}

static void one_layer_may_be_missed_two_may_not(void **state)
{
    (void)state;
    config.merge_mm2 = 0;
    line_event(0x1f | 0x3f << 6); /* layer 5 is missing */
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 11);
    line_event(0x1f | 0x3f << 7); /* layers 5 and 6 */
    assert_int_equal(run.tracks.head.size, 2);
    assert_int_equal(run.tracks.n_hits[0], 6);
    assert_int_equal(run.tracks.n_hits[1], 5);
    slc_velo_track_config_default(&config);
    search_anew(); /* joined */
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 11);
    config.merge_slope = 0; /* nothing is closer than that */
    search_anew();
    assert_int_equal(run.tracks.head.size, 2);
}

/* A kink of this scatter in the last hit, alone and in a longer track. */
static void thresholds_hold(void **state)
{
    (void)state;
    const struct {
        uint32_t n_layers;
        float scatter;
        uint32_t n_tracks, n_hits;
    } cases[] = {
        {3, 0.0090f, 1, 3},
        {3, 0.0100f, 0, 0}, /* max_scatter_3hits */
        {6, 0.0900f, 1, 6},
        {6, 0.1100f, 1, 5}, /* max_scatter_extending: one hit is lost */
    };
    slc_velo_track_config_fast(&config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        track_run_begin(&run);
        const uint32_t first = 10 - cases[i].n_layers;
        for (uint32_t layer = first; layer < 10; layer++) {
            const float end = layer == first ? sqrtf(cases[i].scatter) : 0;
            track_run_add(&run, 2 * layer, 10, 5 + end, layer_z(layer));
        }
        search();
        assert_int_equal(run.tracks.head.size, cases[i].n_tracks);
        if (cases[i].n_tracks > 0) {
            assert_int_equal(run.tracks.n_hits[0], cases[i].n_hits);
            const double scatter = cases[i].n_hits == cases[i].n_layers ? (double)cases[i].scatter : 0;
            assert_true(fabs((double)run.tracks.scatter_mm2[0] - scatter) < 1e-6);
        }
    }
}

static void takes_the_nearest_in_phi_and_the_smallest_scatter(void **state)
{
    (void)state;
    track_run_add(&run, 16, 10, 0.04f, 0); /* good */
    track_run_add(&run, 16, 10, 0.01f, 0); /* better */
    track_run_add(&run, 18, 10, 0, 30);    /* middle */
    track_run_add(&run, 20, -10, 0, 60);   /* opposite in phi: on no line with the others */
    track_run_add(&run, 20, 10, 0.001f, 60);
    config.pickup_mm2 = 0;
    search();
    assert_int_equal(run.tracks.head.size, 1);
    expect_track(0, 3, (const uint32_t[]){4, 2, 1});
}

/* Two seeds want one hit: the straighter one has it, wherever it comes in the order of hits. */
static void the_straightest_seed_has_the_hit(void **state)
{
    (void)state;
    slc_velo_track_config_fast(&config);
    for (int order = 0; order < 2; order++) {
        track_run_begin(&run);
        track_run_add(&run, 16, 10, 0, layer_z(8));
        track_run_add(&run, 18, 10, order == 0 ? 0.02f : 0, layer_z(9));
        track_run_add(&run, 18, 10, order == 0 ? 0 : 0.02f, layer_z(9));
        track_run_add(&run, 20, 10, 0, layer_z(10));
        search();
        assert_int_equal(run.tracks.head.size, 1);
        expect_track(0, 3, (const uint32_t[]){3, order == 0 ? 2 : 1, 0});
    }
}

/* A seed that is dropped leaves its other hits to the seeds behind it: three seeds, of which neighbours share
 * a hit, make two tracks, those of the first and the last. */
static void a_dropped_seed_leaves_its_hits(void **state)
{
    (void)state;
    const float z[] = {layer_z(8), layer_z(9), layer_z(10)};
    const float up[] = {0, 0.1f}, middle[] = {0.03f, 0.1f, 0.18f}, down[] = {0.06f, 0.2f};
    slc_velo_track_config_fast(&config);
    config.candidates = 1;
    for (uint32_t k = 0; k < 2; k++) {
        track_run_add(&run, 16, 10, up[k], z[0]); /* 0, 1 */
    }
    for (uint32_t k = 0; k < 3; k++) {
        track_run_add(&run, 18, 10, middle[k], z[1]); /* 2, 3, 4 */
    }
    for (uint32_t k = 0; k < 2; k++) {
        track_run_add(&run, 20, 10, down[k], z[2]); /* 5, 6 */
    }
    search();
    assert_int_equal(run.tracks.head.size, 2);
    expect_track(0, 3, (const uint32_t[]){5, 2, 0});
    expect_track(1, 3, (const uint32_t[]){6, 4, 1});
}

/* Two tracks run into one hit: it goes to the one that scatters less, the other goes on without. */
static void the_better_track_has_the_hit(void **state)
{
    (void)state;
    slc_velo_track_config_fast(&config);
    for (int order = 0; order < 2; order++) {
        track_run_begin(&run);
        track_run_add(&run, 10, 10, 0,
                      layer_z(5)); /* wanted by both, 0.05 from one and 0.15 from the other */
        for (uint32_t layer = 6; layer < 10; layer++) {
            track_run_add(&run, 2 * layer, 10, order == 0 ? 0.15f : 0.05f, layer_z(layer));
            track_run_add(&run, 2 * layer, 10, order == 0 ? -0.05f : -0.15f, layer_z(layer));
        }
        search();
        assert_int_equal(run.tracks.head.size, 2);
        const uint32_t with = run.tracks.n_hits[0] == 5 ? 0 : 1;
        expect_track(with, 5,
                     order == 0 ? (const uint32_t[]){8, 6, 4, 2, 0} : (const uint32_t[]){7, 5, 3, 1, 0});
        assert_int_equal(run.tracks.n_hits[1 - with], 4);
    }
}

/* ---- what comes on top of it -------------------------------------------------------------------------- */

/* Short tracks where layers have no hit although the particle must have gone through them. */
static void missing_layers_count(void **state)
{
    (void)state;
    slc_velo_track_config_fast(&config);
    config.missing_layer_mm2 = 0.002f;
    config.missing_r_low_mm = 14;
    config.missing_r_high_mm = 15.5f; /* two layers */
    line_event(7U << 4);
    assert_int_equal(run.tracks.head.size, 1);
    config.missing_layer_mm2 = 0.02f;
    search_anew();
    assert_int_equal(run.tracks.head.size, 0);
    line_event(15U << 4); /* four hits are enough */
    assert_int_equal(run.tracks.head.size, 1);
    config.missing_r_low_mm = 50; /* nowhere */
    config.missing_r_high_mm = 51;
    line_event(7U << 4);
    assert_int_equal(run.tracks.head.size, 1);
}

static void the_last_hit_is_trimmed(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        for (uint32_t n = 4; n <= 6; n++) {
            track_run_begin(&run);
            for (uint32_t layer = 10 - n; layer < 10; layer++) {
                track_run_add(&run, 2 * layer, 10, layer == 10 - n ? 5.2f : 5, layer_z(layer)); /* 0.04 */
            }
            slc_velo_track_config_default(&config);
            config.trim_mm2 = with ? 0.02f : 0;
            search();
            assert_int_equal(run.tracks.head.size, 1);
            assert_int_equal(run.tracks.n_hits[0], with && n >= 5 ? n - 1 : n);
            assert_true(fabsf(run.tracks.scatter_mm2[0] - (with && n >= 5 ? 0 : 0.04f)) < 1e-4f);
        }
    }
}

/* In the other module of a layer, and in up to three layers beyond both ends; not farther, not too far off.
 */
static void missed_hits_are_picked_up(void **state)
{
    (void)state;
    track_run_add(&run, 2 * 3, 10, 5, layer_z(3));    /* 0: four layers beyond */
    track_run_add(&run, 2 * 4, 10, 5.1f, layer_z(4)); /* 1: three */
    for (uint32_t layer = 7; layer < 12; layer++) {
        track_run_add(&run, 2 * layer, 10, 5, layer_z(layer)); /* 2, 3, 4, 6, 7 */
        if (layer == 9) {
            track_run_add(&run, 2 * layer + 1, 10, 5.1f, slc_velo_design_module_z_mm[2 * layer + 1]); /* 5 */
        }
    }
    track_run_add(&run, 2 * 14, 10.3f, 5, layer_z(14)); /* 8: too far off */
    track_run_add(&run, 2 * 14, 10, 5.1f, layer_z(14)); /* 9 */
    track_run_add(&run, 2 * 15, 10, 5, layer_z(15));    /* 10: four beyond */
    search();
    assert_int_equal(run.tracks.head.size, 1);
    expect_track(0, 8, (const uint32_t[]){9, 7, 6, 5, 4, 3, 2, 1});
    track_run_expect_falling_z(&run);
    assert_true(run.tracks.scatter_mm2[0] < 1e-9f); /* those of the search alone */
    config.pickup_mm2 = 0;
    search_anew();
    assert_int_equal(run.tracks.n_hits[0], 5);
}

/* With four hits at least, one that was picked up counts; what is too short makes way for the second pass. */
static void short_tracks_make_way(void **state)
{
    (void)state;
    const float z[] = {layer_z(8), layer_z(9), layer_z(10)};
    config.min_hits = 4;
    for (uint32_t k = 0; k < 3; k++) {
        track_run_add(&run, 16 + 2 * k, 10, 5, z[k]);
    }
    search();
    assert_int_equal(run.tracks.head.size, 0);
    track_run_begin(&run);
    track_run_add(&run, 2 * 5, 10, 5, layer_z(5)); /* two layers are skipped, but it is picked up */
    for (uint32_t k = 0; k < 3; k++) {
        track_run_add(&run, 16 + 2 * k, 10, 5, z[k]);
    }
    search();
    assert_int_equal(run.tracks.head.size, 1);
    expect_track(0, 4, (const uint32_t[]){3, 2, 1, 0});
    config.min_hits = 5;
    search_anew();
    assert_int_equal(run.tracks.head.size, 0);
    /* Three hits with a fourth that only the second pass takes. */
    track_run_begin(&run);
    const float bent[] = {5.36f, 5, 5, 5};
    for (uint32_t k = 0; k < 4; k++) {
        track_run_add(&run, 2 * (8 + k), 10, bent[k], layer_z(8 + k)); /* 0.13: more than the first extends */
    }
    slc_velo_track_config_default(&config);
    search();
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 3);
    config.min_hits = 4;
    search_anew();
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 4);
    /* What the second pass finds picks up, too: the first one wants straighter seeds. */
    track_run_begin(&run);
    const float wide[] = {5.28f, 5, 5};
    track_run_add(&run, 2 * 5, 10, 5 + 0.28f * 4, layer_z(5));
    for (uint32_t k = 0; k < 3; k++) {
        track_run_add(&run, 2 * (8 + k), 10, wide[k], layer_z(8 + k));
    }
    config.second_3hits_mm2 = 1;
    search();
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 4);
}

/* Wider seeds, and seeds with a layer between the second hit and the third. */
static void the_second_pass_finds_more(void **state)
{
    (void)state;
    const float bent[] = {5.84f, 5.28f, 5, 5}; /* each 0.28 off the line of the two before */
    for (uint32_t k = 0; k < 4; k++) {
        track_run_add(&run, 2 * (10 + k), 10, bent[k], layer_z(10 + k));
    }
    search();
    assert_int_equal(run.tracks.head.size, 1);
    config.second_candidates = 0;
    search_anew();
    assert_int_equal(run.tracks.head.size, 0);
    slc_velo_track_config_default(&config);
    line_event(1U << 10 | 3U << 12);
    assert_int_equal(run.tracks.head.size, 1);
    line_event(3U << 10 | 1U << 13); /* a layer between the first and the second is not tried */
    assert_int_equal(run.tracks.head.size, 0);
}

static void strategies(void **state)
{
    (void)state;
    for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
        if (module % 2 == 0 || module == 17 || module == 33) {
            track_run_add(&run, module, 10, 5, slc_velo_design_module_z_mm[module]);
        }
    }
    track_run_end_event(&run);
    const uint32_t hits[] = {28, 26, 28}; /* of the other half: picked up, too few, found */
    for (int strategy = SLC_VELO_TRACK_STANDARD; strategy <= SLC_VELO_TRACK_FULL; strategy++) {
        config.strategy = (slc_velo_track_strategy)strategy;
        search_anew();
        assert_int_equal(run.tracks.head.size, 1);
        assert_int_equal(run.tracks.n_hits[0], hits[strategy]);
        track_run_expect_falling_z(&run);
    }
    track_run_begin(&run);
    for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
        track_run_add(&run, module, 10, 5, slc_velo_design_module_z_mm[module]);
    }
    config.strategy = SLC_VELO_TRACK_SPLIT;
    search();
    assert_int_equal(run.tracks.head.size, 2);
    for (uint32_t k = 0; k < 52; k++) {
        assert_int_equal(run.track_hits.hit[k], k < 26 ? 50 - 2 * k : 103 - 2 * k);
    }
    config.strategy = SLC_VELO_TRACK_FULL;
    search_anew();
    assert_int_equal(run.tracks.head.size, 1);
    assert_int_equal(run.tracks.n_hits[0], 52);
}

static void full_skips_three_modules(void **state)
{
    (void)state;
    config.strategy = SLC_VELO_TRACK_FULL;
    config.merge_mm2 = config.missing_layer_mm2 = 0;
    for (uint32_t skipped = 3; skipped <= 4; skipped++) {
        track_run_begin(&run);
        for (uint32_t module = 20; module < 28 + skipped; module++) {
            if (module < 24 || module >= 24 + skipped) {
                track_run_add(&run, module, 10, 5, slc_velo_design_module_z_mm[module]);
            }
        }
        search();
        assert_int_equal(run.tracks.head.size, skipped - 2);
    }
}

/* ---- odd events -----------------------------------------------------------------------------------------
 */

/* Hits in one place, on the beam line, at one z, not finite: no crash, and no hit used twice. */
static void degenerate_hits(void **state)
{
    (void)state;
    const float values[] = {0, -0.0f, 1e30f, -1e30f, INFINITY, NAN, 10};
    uint64_t seed = 4;
    const size_t rounds = track_run_count(300);
    for (size_t round = 0; round < rounds; round++) {
        config = track_run_random_config(&seed);
        track_run_begin(&run);
        for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
            for (uint32_t i = 0; i < 4 + 60 * (round % 2); i++) { /* sorted layers as well */
                track_run_add(&run, module, values[random_below(&seed, 7)], values[random_below(&seed, 7)],
                              values[random_below(&seed, 7)]);
            }
        }
        track_run_end_event(&run);
        for (int target = SLC_SIMD_AUTO; target < SLC_SIMD_TARGETS; target++) {
            config.target = (slc_simd_target)target;
            if (target == SLC_SIMD_AUTO || slc_simd_runs(config.target)) {
                track_run_search(&run, &config);
                track_run_expect_disjoint(&run);
            }
        }
    }
    slc_velo_track_config_default(&config);
    track_run_begin(&run);
    search(); /* an empty event */
    assert_int_equal(run.tracks.head.size, 0);
}

/* Layers whose z falls where it should rise: a track that seems to go on upstream of itself is not joined to
 * itself, and nothing runs in a circle. */
static void layers_in_the_wrong_order(void **state)
{
    (void)state;
    const float shift[] = {0, 5, -5};
    for (uint32_t lines = 1; lines <= 3; lines++) {
        track_run_begin(&run);
        for (uint32_t layer = 0; layer < SLC_VELO_LAYERS; layer++) {
            for (uint32_t k = 0; k < lines; k++) {
                track_run_add(&run, 2 * layer, 10 + shift[k], 5, -layer_z(layer));
            }
        }
        search();
        assert_int_equal(run.tracks.head.size, lines);
    }
}

/* Lists of hits may claim any z: pieces that lie one upstream of the other by it, but share modules, make no
 * track that is longer than any may be. */
static void no_track_has_too_many_hits(void **state)
{
    (void)state;
    enum { PIECES = 4 };
    for (uint32_t layer = 0; layer < SLC_VELO_LAYERS; layer++) {
        for (uint32_t piece = 0; piece < PIECES; piece++) {
            const float z = layer_z(layer) - 2000 * (float)piece;
            track_run_add(&run, 2 * layer, 10, 5, z);
        }
    }
    search();
    uint32_t n = 0, longest = 0;
    for (uint32_t t = 0; t < run.tracks.head.size; t++) {
        longest = run.tracks.n_hits[t] > longest ? run.tracks.n_hits[t] : longest;
        n += run.tracks.n_hits[t];
    }
    assert_true(longest > SLC_VELO_LAYERS); /* joined, but */
    assert_true(longest <= SLC_VELO_MAX_TRACK_HITS);
    assert_int_equal(n, run.hits.head.size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_line_is_one_track, set_defaults),
        cmocka_unit_test_setup(three_hits_make_a_track_and_two_do_not, set_defaults),
        cmocka_unit_test_setup(one_layer_may_be_missed_two_may_not, set_defaults),
        cmocka_unit_test_setup(thresholds_hold, set_defaults),
        cmocka_unit_test_setup(takes_the_nearest_in_phi_and_the_smallest_scatter, set_defaults),
        cmocka_unit_test_setup(the_straightest_seed_has_the_hit, set_defaults),
        cmocka_unit_test_setup(a_dropped_seed_leaves_its_hits, set_defaults),
        cmocka_unit_test_setup(the_better_track_has_the_hit, set_defaults),
        cmocka_unit_test_setup(missing_layers_count, set_defaults),
        cmocka_unit_test_setup(the_last_hit_is_trimmed, set_defaults),
        cmocka_unit_test_setup(missed_hits_are_picked_up, set_defaults),
        cmocka_unit_test_setup(short_tracks_make_way, set_defaults),
        cmocka_unit_test_setup(the_second_pass_finds_more, set_defaults),
        cmocka_unit_test_setup(strategies, set_defaults),
        cmocka_unit_test_setup(full_skips_three_modules, set_defaults),
        cmocka_unit_test_setup(degenerate_hits, set_defaults),
        cmocka_unit_test_setup(layers_in_the_wrong_order, set_defaults),
        cmocka_unit_test_setup(no_track_has_too_many_hits, set_defaults),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
