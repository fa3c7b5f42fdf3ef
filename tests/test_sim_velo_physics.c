/* SPDX-License-Identifier: Apache-2.0
 * The VELO generator's events as physics: numbers of vertices, sizes of clusters, displaced decays, and the
 * resolution that the reconstruction sees. Ranges are wide enough for the spread between seeds, and narrow
 * enough that a wrong unit, sign or geometry does not fit. docs/howto/simulate-velo.md has the comparison
 * with LHCb's simulation. */
#include <sluice/sim.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_check.h>

#include "support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>

typedef struct sample {
    slc_batch batch;
    slc_velo_truth truth;
    slc_velo_result result;
    slc_velo_matches matches;
    slc_velo_check check;
} sample;

static void generate(const slc_sim_velo_config *config, uint32_t n, sample *s)
{
    slc_sim_velo *sim;
    slc_error error = {0};
    *s = (sample){.batch = {0}};
    assert_int_equal(slc_sim_velo_open(config, NULL, &sim, &error), SLC_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(slc_sim_velo_event(sim, i, &s->batch, &s->truth, &error), SLC_OK);
    }
    slc_sim_velo_close(sim);
}

static void reconstruct(const slc_velo_config *config, sample *s)
{
    slc_velo_chain *chain;
    slc_velo_check_config check;
    slc_error error = {0};
    slc_velo_check_config_default(&check);
    slc_velo_check_init(&s->check, &check);
    assert_int_equal(slc_velo_chain_open(config, NULL, &chain, &error), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve(chain, &s->batch, &s->result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run(chain, &s->batch, &s->result, &error), SLC_OK);
    assert_int_equal(slc_velo_check_run(&s->check, &s->result, &s->truth, &s->matches, NULL), SLC_OK);
    slc_velo_chain_close(chain);
}

static void forget(sample *s)
{
    slc_batch_clear(&s->batch);
    slc_velo_truth_clear(&s->truth);
    slc_velo_result_clear(&s->result);
    slc_columns_clear(&slc_velo_matches_schema, &s->matches);
    if (s->check.scratch != NULL) {
        slc_velo_check_clear(&s->check);
    }
}

static slc_sim_velo_config default_config(void)
{
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    config.seed = 20;
    return config;
}

static void assert_between(double value, double low, double high)
{
    if (!(value >= low && value <= high)) {
        fail_msg("%g is not between %g and %g", value, low, high);
    }
}

static void visible_vertices_are_poisson(void **state)
{
    (void)state;
    enum { EVENTS = 600 };
    slc_sim_velo_config config = default_config();
    config.visible_vertices = 2.5f;
    sample s;
    generate(&config, EVENTS, &s);
    double sum = 0, squares = 0, z = 0, zz = 0;
    for (uint32_t e = 0; e < EVENTS; e++) {
        const uint32_t *offset = s.truth.vertices.head.event_offset;
        double n = 0;
        for (uint32_t v = offset[e]; v < offset[e + 1]; v++) {
            n += s.truth.vertices.n_tracks[v] >= 4;
            z += s.truth.vertices.z_mm[v];
            zz += s.truth.vertices.z_mm[v] * s.truth.vertices.z_mm[v];
            assert_between(s.truth.vertices.x_mm[v], -0.2, 0.2);
            assert_between(s.truth.vertices.y_mm[v], -0.2, 0.2);
        }
        sum += n;
        squares += n * n;
    }
    const double mean = sum / EVENTS, variance = squares / EVENTS - mean * mean;
    const double n = (double)s.truth.vertices.head.size;
    assert_between(mean, 2.5 - 0.28, 2.5 + 0.28); /* four standard errors, and the tuning of "visible" */
    assert_between(variance / mean, 0.75, 1.25);
    assert_between(z / n, -7, 7);
    assert_between(sqrt(zz / n), 55, 65);
    forget(&s);
}

static void no_collisions_no_particles(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config();
    config.visible_vertices = 0;
    config.noise_pixels = 0;
    sample s;
    slc_velo_config chain;
    generate(&config, 3, &s);
    slc_velo_config_default(&chain);
    reconstruct(&chain, &s);
    assert_int_equal(s.truth.particles.head.size, 0);
    assert_int_equal(s.truth.vertices.head.size, 0);
    assert_int_equal(s.result.hits.head.size, 0);
    forget(&s);
}

static void events_look_like_the_detector(void **state)
{
    (void)state;
    enum { EVENTS = 100 };
    const slc_sim_velo_config config = default_config();
    slc_velo_config chain;
    sample s;
    slc_velo_config_default(&chain);
    chain.keep_superpixels = true;
    generate(&config, EVENTS, &s);
    reconstruct(&chain, &s);
    const slc_velo_particles *p = &s.truth.particles;
    double velo = 0, longs = 0, electrons = 0, strange = 0, forward = 0, visible = 0, single = 0;
    for (size_t i = 0; i < p->head.size; i++) {
        if (p->flags[i] & SLC_VELO_HAS_VELO) {
            velo++;
            longs += (p->flags[i] & SLC_VELO_IS_LONG) != 0;
            electrons += abs(p->pid[i]) == 11;
            strange += (p->flags[i] & SLC_VELO_FROM_STRANGE) != 0;
            forward += p->eta[i] > 0;
        }
    }
    for (size_t i = 0; i < s.truth.vertices.head.size; i++) {
        visible += s.truth.vertices.n_tracks[i] >= 4;
    }
    const double hits = (double)s.result.hits.head.size;
    for (size_t i = 0; i < s.result.hits.head.size; i++) {
        single += s.result.hits.n_pixels[i] == 1;
    }
    assert_between(hits / visible, 290, 420);
    assert_between(velo / visible, 40, 60);
    assert_between(longs / velo, 0.20, 0.32);
    assert_between(electrons / velo, 0.08, 0.17);
    assert_between(strange / velo, 0.025, 0.07);
    assert_between(forward / velo, 0.53, 0.66);
    assert_between((double)s.result.n_pixels / hits, 1.9, 2.2);
    assert_between(single / hits, 0.40, 0.52);
    assert_between((double)s.result.superpixels.head.size / hits, 1.30, 1.45);
    assert_between((double)s.result.n_isolated / (double)s.result.superpixels.head.size, 0.47, 0.58);
    assert_between((double)s.truth.ids.head.size / hits, 1.005, 1.04);
    assert_int_equal(s.check.mc_hits, s.truth.ids.head.size);
    assert_int_equal(s.check.mc_hits_found, s.check.mc_hits);
    forget(&s);
}

/* The heaviest quark of a hadron, from its PDG code. */
static int heaviest_quark(int32_t pid)
{
    const int code = abs(pid);
    return code >= 1000 ? code / 1000 : code / 100;
}

/* Mean distance (mm) from the nearest collision at which hadrons with a quark decay; *n is how many products
 * there are, which must all carry `flag`. */
static double mean_flight(const sample *s, int quark, uint32_t flag, double *n)
{
    const slc_velo_particles *p = &s->truth.particles;
    const slc_velo_vertices *v = &s->truth.vertices;
    double sum = 0;
    *n = 0;
    for (uint32_t e = 0; e < p->head.n_events; e++) {
        for (uint32_t i = p->head.event_offset[e]; i < p->head.event_offset[e + 1]; i++) {
            double nearest = INFINITY;
            if (heaviest_quark(p->mother_pid[i]) != quark || p->mother_pid[i] == 321 ||
                p->mother_pid[i] == -321) {
                continue;
            }
            assert_true(p->flags[i] & flag);
            for (uint32_t k = v->head.event_offset[e]; k < v->head.event_offset[e + 1]; k++) {
                const double x = (double)p->origin_x_mm[i] - v->x_mm[k],
                             y = (double)p->origin_y_mm[i] - v->y_mm[k];
                const double z = (double)p->origin_z_mm[i] - v->z_mm[k];
                nearest = fmin(nearest, sqrt(x * x + y * y + z * z));
            }
            sum += nearest;
            (*n)++;
        }
    }
    return sum / *n;
}

static void heavy_hadrons_fly_before_they_decay(void **state)
{
    (void)state;
    enum { EVENTS = 150 };
    slc_sim_velo_config config = default_config();
    sample s;
    double beauty, charm, strange;
    config.visible_vertices = 1;
    config.b_fraction = 1;
    config.d_fraction = 0;
    generate(&config, EVENTS, &s);
    const double beauty_mm = mean_flight(&s, 5, SLC_VELO_FROM_BEAUTY, &beauty);
    assert_true(beauty > 200);
    assert_between(beauty_mm, 3, 12); /* lifetimes of 0.45 mm, boosted */
    forget(&s);
    config.b_fraction = 0;
    config.d_fraction = 1;
    generate(&config, EVENTS, &s);
    const double charm_mm = mean_flight(&s, 4, SLC_VELO_FROM_CHARM, &charm);
    const double strange_mm = mean_flight(&s, 3, SLC_VELO_FROM_STRANGE, &strange);
    assert_true(charm > 200 && strange > 200);
    assert_between(charm_mm, 1, 6);      /* 0.1 to 0.3 mm */
    assert_between(strange_mm, 30, 200); /* 27 mm and more, most of it within the detector */
    (void)mean_flight(&s, 5, SLC_VELO_FROM_BEAUTY, &beauty);
    assert_true(beauty == 0);
    forget(&s);
    config.d_fraction = config.s_fraction = 0;
    generate(&config, EVENTS, &s);
    (void)mean_flight(&s, 4, SLC_VELO_FROM_CHARM, &charm);
    assert_true(charm == 0);
    assert_true(s.truth.particles.head.size > 5000);
    forget(&s);
}

static void assert_pull(const slc_histogram *pull, double width)
{
    /* The central 68 %: a few particles that interact or scatter far do not count. */
    const double low = slc_histogram_quantile(pull, 0.1587), high = slc_histogram_quantile(pull, 0.8413);
    assert_true(pull->inside > 3000);
    assert_between(slc_histogram_mean(pull), -0.1, 0.1);
    assert_between((high - low) / 2, width - 0.1, width + 0.1);
}

static void straight_tracks_have_unit_pulls_without_noise_terms(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config();
    slc_velo_config chain;
    sample s;
    config.scattering = false;
    slc_velo_config_default(&chain);
    chain.fit.noise_constant = chain.fit.noise_slope = chain.fit.second_noise_slope = 0;
    generate(&config, 60, &s);
    reconstruct(&chain, &s);
    assert_pull(&s.check.pull_x, 1);
    assert_pull(&s.check.pull_y, 1);
    assert_pull(&s.check.pull_tx, 1);
    assert_pull(&s.check.pull_ty, 1);
    forget(&s);
}

static void scattering_bends_slow_particles(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config();
    slc_velo_config chain;
    double width[2];
    slc_velo_config_default(&chain);
    chain.fit.noise_constant = chain.fit.noise_slope = chain.fit.second_noise_slope = 0;
    for (int i = 0; i < 2; i++) {
        sample s;
        config.scattering = i == 1;
        generate(&config, 20, &s);
        reconstruct(&chain, &s);
        width[i] = slc_histogram_rms(&s.check.pull_tx);
        forget(&s);
    }
    assert_true(width[1] > 1.5 * width[0]);
}

static void scattered_tracks_have_unit_pulls(void **state)
{
    (void)state;
    const slc_sim_velo_config config = default_config();
    slc_velo_config chain;
    sample s;
    slc_velo_config_default(&chain);
    generate(&config, 60, &s);
    reconstruct(&chain, &s);
    const slc_velo_momentum_range *fast = &s.check.momentum[0]; /* above 2 GeV */
    assert_pull(&fast->pull_x, 1);
    assert_pull(&fast->pull_y, 1);
    assert_pull(&fast->pull_tx, 1);
    assert_pull(&fast->pull_ty, 1);
    assert_true(s.check.residual_x_um.inside > 3000 && s.check.residual_y_um.inside > 3000);
    assert_between(slc_histogram_rms(&s.check.residual_x_um), 12, 15);
    assert_between(slc_histogram_rms(&s.check.residual_y_um), 12, 15);
    assert_between(slc_histogram_mean(&s.check.residual_x_um), -0.5, 0.5);
    assert_between(slc_histogram_mean(&s.check.residual_y_um), -0.5, 0.5);
    forget(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(visible_vertices_are_poisson),
        cmocka_unit_test(no_collisions_no_particles),
        cmocka_unit_test(events_look_like_the_detector),
        cmocka_unit_test(heavy_hadrons_fly_before_they_decay),
        cmocka_unit_test(straight_tracks_have_unit_pulls_without_noise_terms),
        cmocka_unit_test(scattering_bends_slow_particles),
        cmocka_unit_test(scattered_tracks_have_unit_pulls),
    };
    return cmocka_run_group_tests_name("sim_velo_physics", tests, NULL, NULL);
}
