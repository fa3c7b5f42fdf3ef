/* SPDX-License-Identifier: Apache-2.0
 * The truth check on small events whose answer can be counted by hand. */
#include <sluice/velo_check.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/near.h"

static slc_velo_result result;
static slc_velo_truth truth;
static slc_velo_matches matches;
static slc_velo_check check;

static int set_up(void **state)
{
    (void)state;
    slc_velo_check_config config;
    slc_velo_check_config_default(&config);
    slc_velo_check_init(&check, &config);
    return slc_columns_reserve(&slc_velo_superpixels_schema, &result.superpixels, 0, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_hits_schema, &result.hits, 1000, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_tracks_schema, &result.tracks, 100, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_track_hits_schema, &result.track_hits, 1000, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_states_schema, &result.beam, 100, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_particles_schema, &truth.particles, 100, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_particle_ids_schema, &truth.ids, 1000, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_vertices_schema, &truth.vertices, 20, 8) != SLC_OK ||
           slc_columns_reserve(&slc_velo_primaries_schema, &result.primaries, 20, 8) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_velo_result_clear(&result);
    slc_velo_truth_clear(&truth);
    slc_columns_clear(&slc_velo_matches_schema, &matches);
    slc_velo_check_clear(&check);
    return 0;
}

/* n hits of the event, channels 100, 101, … with detector bits and rounding bits that must be ignored. */
static void add_hits(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const size_t row = result.hits.head.size++;
        result.hits.channel[row] = 2U << 28 | (100 + i);
        result.hits.n_pixels[row] = 1 + i % 3;
        result.hits.z_mm[row] = 25.0f * (float)i;
        result.hits.module[row] = (uint8_t)i;
        result.hits.x_mm[row] = 0.01f * (float)(i % 2);
    }
}

static void add_particle(int32_t pid, float eta, float p, uint32_t flags, uint32_t first, uint32_t n)
{
    const size_t row = truth.particles.head.size++;
    truth.particles.pid[row] = pid;
    truth.particles.eta[row] = eta;
    truth.particles.phi_rad[row] = 0;
    truth.particles.p_mev[row] = p;
    truth.particles.flags[row] = flags;
    truth.particles.origin_x_mm[row] = truth.particles.origin_y_mm[row] = 0;
    truth.particles.origin_z_mm[row] = NAN;
    truth.particles.id_begin[row] = (uint32_t)(truth.ids.head.size -
                                               truth.ids.head.event_offset[truth.ids.head.n_events]);
    truth.particles.n_ids[row] = n;
    for (uint32_t i = 0; i < n; i++) {
        truth.ids.id[truth.ids.head.size++] = 8U << 28 | 3U << 26 | (100 + first + i);
    }
}

static void add_track(const uint32_t *hits, uint32_t n)
{
    const size_t row = result.tracks.head.size++;
    slc_velo_track_hits *list = &result.track_hits;
    result.tracks.hit_begin[row] = (uint32_t)list->head.size - list->head.event_offset[list->head.n_events];
    result.tracks.n_hits[row] = n;
    memcpy(list->hit + list->head.size, hits, n * sizeof *hits);
    list->head.size += n;
    result.beam.head.size++;
}

static void end_event(void)
{
    slc_columns_end_event(&result.superpixels);
    slc_columns_end_event(&result.hits);
    slc_columns_end_event(&result.tracks);
    slc_columns_end_event(&result.track_hits);
    slc_columns_end_event(&result.beam);
    slc_columns_end_event(&result.primaries);
    slc_velo_truth_end_event(&truth);
}

static const uint32_t velo_long = SLC_VELO_HAS_VELO | SLC_VELO_IS_LONG;

/* Efficiency against the distance to the beam line, wherever that is. */
static void distance_to_the_beam_line(void **state)
{
    (void)state;
    for (int moved = 0; moved < 2; moved++) {
        slc_velo_check_config config = check.config;
        config.beam_x_mm = moved ? 1 : 0;
        config.beam_y_mm = moved ? -0.5f : 0;
        slc_velo_check_clear(&check);
        slc_velo_check_init(&check, &config);
        slc_columns_reset(&result.hits);
        slc_velo_truth_reset(&truth);
        add_hits(10);
        add_particle(211, 3, 20000, velo_long, 0, 5);
        truth.particles.phi_rad[0] = 0.7f; /* from 0.25 mm beside the beam line, at right angles */
        truth.particles.origin_x_mm[0] = config.beam_x_mm - 0.25f * sinf(0.7f);
        truth.particles.origin_y_mm[0] = config.beam_y_mm + 0.25f * cosf(0.7f);
        slc_columns_reset(&result.superpixels);
        slc_columns_reset(&result.tracks);
        slc_columns_reset(&result.track_hits);
        slc_columns_reset(&result.beam);
        slc_columns_reset(&result.primaries);
        end_event();
        assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
        const slc_histogram *seen = &check.against_docaz.reconstructible;
        assert_int_equal(seen->inside, 1);
        assert_near(slc_histogram_mean(seen), 0.25, 1e-5);
    }
}

/* Particle 0: hits 0-9, found twice (10 of 10 by parts 7 + 3). Particle 1, from beauty: 10-15, track with 4
 * of 5. Particle 2, an electron: 16-19, missed. Particle 3, eta 6: 20-23, found. A ghost of 2 + 2 + 1 hits.
 */
static void counts_by_hand(void **state)
{
    (void)state;
    add_hits(30);
    add_particle(211, 3, 20000, velo_long, 0, 10);
    add_particle(-321, 4, 4000, velo_long | SLC_VELO_FROM_BEAUTY, 10, 6);
    add_particle(11, 3, 8000, velo_long, 16, 4);
    add_particle(13, 6, 8000, velo_long | SLC_VELO_FROM_CHARM, 20, 4);
    add_track((const uint32_t[]){0, 1, 2, 3, 4, 5, 6}, 7);
    add_track((const uint32_t[]){7, 8, 9}, 3);
    add_track((const uint32_t[]){10, 11, 12, 13, 29}, 5);
    add_track((const uint32_t[]){20, 21, 22, 23}, 4);
    add_track((const uint32_t[]){14, 15, 16, 17, 28}, 5);
    end_event();
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);

    assert_int_equal(check.events, 1);
    assert_int_equal(check.tracks, 5);
    assert_int_equal(check.ghosts, 1);
    assert_int_equal(check.mc_hits, 24);
    assert_int_equal(check.mc_hits_found, 24);
    const int32_t expected[] = {0, 0, 1, 3, -1};
    assert_memory_equal(matches.particle, expected, sizeof expected);
    assert_near(matches.purity[2], 0.8, 1e-6);

    const slc_velo_category_counts *velo = check.counts[SLC_VELO_CATEGORY_VELO];
    assert_int_equal(velo[0].reconstructible, 3);
    assert_int_equal(velo[0].found, 3);
    assert_int_equal(velo[0].clones, 1);
    assert_int_equal(velo[0].matched, 4);
    assert_int_equal(velo[1].reconstructible, 2); /* without eta 6 */
    assert_int_equal(velo[1].found, 2);
    assert_near(velo[1].purity_sum, 1 + 1 + 0.8, 1e-9);
    assert_near(velo[1].hit_efficiency_sum, 0.7 + 0.3 + 4.0 / 6, 1e-9);
    /* Ends: of particle 0 the first three are on one track and the last three on the other; of particle 1 the
     * first three and one of the last; of particle 3, with eta 6, all. */
    assert_near(velo[1].first_hits_sum, 1 + 0 + 1, 1e-9);
    assert_near(velo[1].last_hits_sum, 0 + 1 + 1.0 / 3, 1e-9);
    assert_near(velo[0].last_hits_sum, 0 + 1 + 1.0 / 3 + 1, 1e-9);
    assert_int_equal(check.against_hits.reconstructible.bin[6], 1);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_LONG_P5][0].reconstructible, 2);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_FROM_B][1].found, 1);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_FROM_D][0].found, 1);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_FROM_D][1].reconstructible, 0);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_STRANGE][0].reconstructible, 0);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_ELECTRONS][1].reconstructible, 1);
    assert_int_equal(check.counts[SLC_VELO_CATEGORY_ELECTRONS][1].found, 0);
    assert_int_equal(check.against_eta.reconstructible.inside + check.against_eta.reconstructible.over, 3);
    assert_int_equal(check.cluster_pixels.bin[1], 10);
    assert_int_equal(check.pull_x.inside, 0); /* no origins */
    assert_int_equal(check.residual_x_um.inside,
                     7); /* the one particle above 10 GeV with five hits on a track */
}

/* 70 % is enough, less is not; a hit of two particles counts for both; an id listed twice counts once. */
static void edges_of_matching(void **state)
{
    (void)state;
    add_hits(20);
    add_particle(211, 3, 2000, velo_long, 0, 7);
    add_particle(211, 3, 2000, velo_long, 4, 3); /* shares 4, 5, 6 */
    add_particle(211, 3, 2000, velo_long, 10, 2);
    truth.particles.n_ids[2] = 4; /* ids 110, 111 again */
    truth.ids.id[truth.ids.head.size++] = 110;
    truth.ids.id[truth.ids.head.size++] = 111;
    add_particle(211, 3, 2000, velo_long, 50, 3);                       /* ids without a hit */
    add_track((const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 17, 18, 19}, 10); /* 7 of 10 */
    add_track((const uint32_t[]){4, 5, 6}, 3);                          /* of particles 0 and 1 */
    add_track((const uint32_t[]){10, 11, 16}, 3);                       /* 2 of 3: a ghost, not 4 of 3 */
    end_event();
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    const int32_t expected[] = {0, 0, -1};
    assert_memory_equal(matches.particle, expected, sizeof expected);
    assert_int_equal(check.mc_hits, 17);
    assert_int_equal(check.mc_hits_found, 14);
    const slc_velo_category_counts *velo = &check.counts[SLC_VELO_CATEGORY_VELO][1];
    assert_int_equal(velo->reconstructible, 4);
    assert_int_equal(velo->found, 2);
    assert_int_equal(velo->clones, 1);
    assert_int_equal(check.ghosts, 1);
}

/* Clusters in three modules make a particle count there, whatever its flags say; neither two modules, with
 * however many hits, do, nor hits that are no clusters. Of an electron only what is not known to be one does.
 */
static void three_modules(void **state)
{
    (void)state;
    add_hits(30);
    result.hits.module[3] = result.hits.module[4] = result.hits.module[5] = 50;
    result.hits.module[6] = result.hits.module[7] = result.hits.module[8] = 51;
    add_particle(0, NAN, NAN, 0, 0, 3);          /* found */
    add_particle(0, NAN, NAN, velo_long, 3, 6);  /* two modules */
    add_particle(0, NAN, NAN, velo_long, 28, 3); /* two of three are clusters */
    add_particle(11, 3, 2000, velo_long, 10, 4); /* an electron */
    add_particle(-211, 3, 2000, 0, 14, 3);       /* missed */
    add_track((const uint32_t[]){0, 1, 2}, 3);
    add_track((const uint32_t[]){3, 6, 7}, 3);
    add_track((const uint32_t[]){10, 11, 12}, 3);
    end_event();
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    const slc_velo_category_counts *all = check.counts[SLC_VELO_CATEGORY_THREE_MODULES];
    assert_int_equal(all[0].reconstructible, 2);
    assert_int_equal(all[0].found, 1);
    assert_near(all[0].hit_efficiency_sum, 1, 1e-9);
    assert_int_equal(all[1].reconstructible, 1); /* eta is known of one alone */
    assert_int_equal(all[1].found, 0);
    assert_int_equal(check.ghosts, 0);
    assert_string_equal(slc_velo_category_name(SLC_VELO_CATEGORY_THREE_MODULES, true), "modules3_eta25");
}

/* Events without truth leave every rate alone. */
static void events_without_truth(void **state)
{
    (void)state;
    add_hits(10);
    add_track((const uint32_t[]){0, 1, 2}, 3);
    end_event();
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    assert_int_equal(check.events, 0);
    assert_int_equal(check.tracks, 0);
    assert_int_equal(matches.head.size, 1);
    assert_int_equal(matches.particle[0], -1);
}

/* Residuals of a known zigzag of ±5 µm about a line, and pulls of a state off by two sigma. */
static void residuals_and_pulls(void **state)
{
    (void)state;
    add_hits(8);
    add_particle(211, 3, 20000, velo_long, 0, 8);
    truth.particles.origin_z_mm[0] = 10;
    truth.particles.pt_mev[0] = 1000;
    add_track((const uint32_t[]){7, 6, 5, 4, 3, 2, 1, 0}, 8);
    const double tx = 1 / sinh(3.0);
    result.beam.z_mm[0] = 110;
    result.beam.x_mm[0] = (float)(100 * tx + 0.02);
    result.beam.cov_xx_mm2[0] = 1e-4f;
    result.beam.tx[0] = (float)(tx - 1e-3);
    result.beam.cov_txtx[0] = 1e-6f;
    result.beam.cov_yy_mm2[0] = result.beam.cov_tyty[0] = 1;
    result.beam.chi2[0] = 18.7f; /* more than 18.55: as probable as a tenth and less */
    result.beam.n_dof[0] = 12;
    end_event();
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    assert_int_equal(check.residual_x_um.inside, 8);
    assert_near(slc_histogram_mean(&check.residual_x_um), 0, 1e-3);
    assert_near(slc_histogram_rms(&check.residual_x_um), 4.88, 0.01); /* 5 µm less the fitted slope's share */
    assert_near(slc_histogram_rms(&check.residual_y_um), 0, 1e-6);
    assert_near(check.pull_x.sum, 2, 1e-3);
    assert_near(check.pull_tx.sum, -1, 1e-3);
    assert_near(check.pull_y.sum, 0, 1e-3);
    /* 20 GeV: above 2, above 5, and 20 to 50. */
    for (size_t k = 0; k < SLC_VELO_MOMENTUM_RANGES; k++) {
        const bool in = k < 2 || k == 8;
        assert_int_equal(check.momentum[k].pull_ty.inside, in);
        assert_int_equal(check.momentum[k].probability.bin[0], in);
        assert_near(check.momentum[k].pull_x.sum, in ? 2 : 0, 1e-3);
    }
    assert_true(check.momentum[8].p_low_mev == 20000 && check.momentum[8].p_high_mev == 50000);
    /* The line passes the origin's z at x = 0.12 mm; the shortest way to it is a little less. */
    const double slope = tx - 1e-3;
    assert_int_equal(check.impact_um[2].inside, 2); /* x and y; 1 / GeV */
    assert_near(check.impact_um[2].sum, 120 / (1 + slope * slope), 0.02);
}

/* A particle that flies backward begins at its largest z. */
static void ends_of_a_backward_particle(void **state)
{
    (void)state;
    add_hits(8);
    add_particle(211, -3, 20000, velo_long, 0, 8);
    add_track((const uint32_t[]){7, 6, 5, 4, 3}, 5);
    end_event();
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    const slc_velo_category_counts *velo = &check.counts[SLC_VELO_CATEGORY_VELO][0];
    assert_near(velo->first_hits_sum, 1, 1e-9);
    assert_near(velo->last_hits_sum, 0, 1e-9);
}

static void add_collision(double z, int32_t n_tracks)
{
    const size_t row = truth.vertices.head.size++;
    truth.vertices.x_mm[row] = truth.vertices.y_mm[row] = 0;
    truth.vertices.z_mm[row] = z;
    truth.vertices.n_tracks[row] = n_tracks;
}

static void add_primary(float z, float sigma)
{
    const size_t row = result.primaries.head.size++;
    result.primaries.x_mm[row] = 0.03f;
    result.primaries.y_mm[row] = -0.01f;
    result.primaries.z_mm[row] = z;
    result.primaries.cov_xx_mm2[row] = result.primaries.cov_yy_mm2[row] = 1e-4f;
    result.primaries.cov_zz_mm2[row] = sigma * sigma;
}

/* Collisions at 0 and 5 mm (close; the second is missed), at 50 (found twice, and a vertex ten sigma away is
 * false), at 100 with too few tracks (matched, so not false), and a vertex at 80 that is nobody's. */
static void vertices_by_hand(void **state)
{
    (void)state;
    add_hits(3);
    add_particle(211, 3, 20000, velo_long, 0, 3);
    add_collision(0, 10);
    add_collision(5, 8);
    add_collision(50, 20);
    add_collision(100, 3);
    add_primary(0.02f, 0.05f);
    add_primary(50.02f, 0.05f);
    add_primary(50.04f, 0.05f);
    add_primary(50.10f, 0.01f);
    add_primary(80, 0.05f);
    add_primary(100, 0.05f);
    end_event();
    end_event(); /* without truth: counts nowhere */
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    assert_int_equal(check.vertices[SLC_VELO_VERTICES_ALL].reconstructible, 3);
    assert_int_equal(check.vertices[SLC_VELO_VERTICES_ALL].found, 2);
    assert_int_equal(check.vertices[SLC_VELO_VERTICES_ISOLATED].reconstructible, 1);
    assert_int_equal(check.vertices[SLC_VELO_VERTICES_ISOLATED].found, 1);
    assert_int_equal(check.vertices[SLC_VELO_VERTICES_CLOSE].reconstructible, 2);
    assert_int_equal(check.vertices[SLC_VELO_VERTICES_CLOSE].found, 1);
    assert_int_equal(check.vertices_found, 6);
    assert_int_equal(check.vertices_false, 2);
    assert_int_equal(check.vertex_clones, 1);
    const slc_velo_vertex_resolution *set = &check.vertex_resolution;
    assert_int_equal(set->z_um.inside, 2);
    assert_near(slc_histogram_mean(&set->x_um), 30, 1e-3);
    assert_near(slc_histogram_mean(&set->y_um), -10, 1e-3);
    assert_near(slc_histogram_mean(&set->z_um), 20, 0.01);
    assert_near(slc_histogram_mean(&set->pull_x), 3, 1e-3);
    assert_near(slc_histogram_mean(&set->pull_z), 0.4, 1e-3);
}

static void normal_approximation(void **state)
{
    (void)state;
    const slc_fraction f = slc_fraction_of(98, 100);
    assert_near(f.value, 0.98, 1e-12);
    assert_near(f.sigma, 0.014, 1e-12);
    assert_true(slc_fraction_of(0, 0).value == 0 && slc_fraction_of(0, 0).sigma == 0);
    assert_true(slc_fraction_of(5, 5).sigma == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(distance_to_the_beam_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(edges_of_matching, set_up, tear_down),
        cmocka_unit_test_setup_teardown(three_modules, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_without_truth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(residuals_and_pulls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ends_of_a_backward_particle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vertices_by_hand, set_up, tear_down),
        cmocka_unit_test(normal_approximation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
