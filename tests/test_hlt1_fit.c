/* SPDX-License-Identifier: Apache-2.0
 * The fit of long tracks on particles that are flown by the same tables: against the least-squares fit in
 * double precision, against truth with pulls, the same bits on every instruction set and beside whatever
 * other tracks, and what becomes of a track that cannot be flown. */
#include "support/cmocka_all.h"

#include "base/columns.h"
#include "hlt1/hlt1_fit_work.h"
#include "io/lhcb/io_hlt1_transport.h"
#include "oracle/hlt1_fit_oracle.h"
#include "support/assert_ok.h"
#include "support/random.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACKS = 700, MOST = 20 };

static slc_hlt1_transport transport;
static slc_hlt1_fit_config config;
static slc_error error;

/* An event of long tracks in collections as the chain has them, and what they were made of. */
static struct {
    slc_scifi_geometry geometry;
    slc_velo_hits velo_hits;
    slc_velo_tracks velo_tracks;
    slc_velo_track_hits velo_track_hits;
    slc_velo_states beam;
    slc_ut_hits ut;
    slc_scifi_hits scifi;
    slc_hlt1_upstream upstream;
    slc_hlt1_track_hits upstream_hits, long_hits;
    slc_hlt1_long long_tracks;
    slc_hlt1_ray truth[TRACKS]; /* at the origin */
    hlt1_oracle_track track[TRACKS];
} event;

static void fly_with_noise(slc_hlt1_ray *ray, slc_hlt1_step *step, double factor, uint64_t *seed)
{
    double normal[4];
    for (size_t i = 0; i < 4; i++) {
        normal[i] = factor * random_normal(seed);
    }
    slc_hlt1_scatter(ray, step, normal);
}

static void make_velo(slc_hlt1_ray *ray, hlt1_oracle_track *track, uint64_t *seed)
{
    const uint32_t n = 4 + random_below(seed, MOST - 4);
    const double first = 30 + 40 * random_unit(seed), apart = 25;
    slc_hlt1_step step;
    track->n_velo = n;
    for (uint32_t i = 0; i < n; i++) {
        const double sigma = (double)config.velo_sigma_mm[2];
        const bool begins = i == 0;
        (void)slc_hlt1_in_velo(&transport, ray, first + apart * i, &step);
        if (begins) { /* the particle scatters where it is first measured, by its slope alone */
            step.noise[0][0] = step.noise[0][1] = step.noise[1][0] = step.noise[1][1] = 0;
        }
        fly_with_noise(ray, &step, (double)(begins ? config.noise_beam : config.noise_velo), seed);
        track->velo[n - 1 - i].x = ray->x + sigma * random_normal(seed);
        track->velo[n - 1 - i].y = ray->y + sigma * random_normal(seed);
        track->velo[n - 1 - i].z = ray->z;
        track->velo[n - 1 - i].variance = sigma * sigma;
    }
}

static bool make_track(size_t t, uint64_t *seed)
{
    static const double tilt[4] = {0, 0.087489, -0.087489, 0};
    slc_hlt1_ray ray = {.z = 60 * (2 * random_unit(seed) - 1)};
    slc_hlt1_step step;
    hlt1_oracle_track *track = &event.track[t];
    memset(track, 0, sizeof *track);
    ray.tx = 0.2 * (2 * random_unit(seed) - 1);
    ray.ty = 0.02 + 0.18 * random_unit(seed);
    ray.ty = random_below(seed, 2) == 0 ? ray.ty : -ray.ty;
    ray.q_over_p = (random_below(seed, 2) == 0 ? 1 : -1) / (3000 * exp(2.5 * random_unit(seed)));
    event.truth[t] = track->start = ray;
    track->start.tx += 2e-4 * random_normal(seed);
    track->start.q_over_p *= 1 + 0.01 * random_normal(seed);
    make_velo(&ray, track, seed);
    const double ut_sigma = (double)config.ut_sigma_mm, sigma = (double)config.scifi_sigma_mm;
    const uint32_t missing = random_below(seed, 8);
    for (unsigned layer = 0; layer < SLC_UT_LAYERS; layer++) {
        const double z = transport.ut_z_mm[layer] + 4 * random_below(seed, 2);
        if (!(layer == 0 ? slc_hlt1_velo_to_ut(&transport, &ray, z, &step)
                         : slc_hlt1_in_ut(&transport, &ray, layer, z, &step))) {
            return false;
        }
        fly_with_noise(&ray, &step, (double)(layer == 0 ? config.noise_velo_ut : config.noise_ut), seed);
        track->ut[layer].x = ray.x - (double)slc_ut_dxdy[layer] * ray.y + ut_sigma * random_normal(seed);
        track->ut[layer].z = z;
        track->ut[layer].dxdy = (double)slc_ut_dxdy[layer];
        track->ut[layer].variance = layer == missing ? 0 : ut_sigma * ut_sigma;
    }
    /* The loss of energy that the configuration adds is in the table's. */
    (void)slc_hlt1_about_ut(&transport, &ray, transport.z_begin_mm, NULL);
    if (!slc_hlt1_ut_to_t(&transport, &ray, &step)) {
        return false;
    }
    fly_with_noise(&ray, &step, (double)config.noise_magnet, seed);
    for (unsigned layer = 0; layer < SLC_SCIFI_LAYERS; layer++) {
        const double z0 = transport.t_z_mm[layer] + 0.1 * random_unit(seed), dzdy = 1 / transport.t_dydz;
        const double z = slc_hlt1_meets_plane(&ray, z0, dzdy);
        if (layer == 0) {
            (void)slc_hlt1_about_t(&transport, &ray, z, NULL);
        } else {
            (void)slc_hlt1_in_t(&transport, &ray, layer, z, &step);
            fly_with_noise(&ray, &step, (double)config.noise_scifi, seed);
        }
        track->t[layer].x = ray.x - tilt[layer % 4] * ray.y + sigma * random_normal(seed);
        track->t[layer].z = z0;
        track->t[layer].dxdy = tilt[layer % 4];
        track->t[layer].dzdy = dzdy;
        track->t[layer].variance = random_below(seed, 12) == 0 ? 0 : sigma * sigma;
    }
    return fabs(ray.x) < 3000 && fabs(ray.y) < 2500;
}

/* ---- collections --------------------------------------------------------------------------------- */

static void reserve(void)
{
    const struct {
        const slc_schema *schema;
        void *collection;
    } all[] = {{&slc_velo_hits_schema, &event.velo_hits},
               {&slc_velo_tracks_schema, &event.velo_tracks},
               {&slc_velo_track_hits_schema, &event.velo_track_hits},
               {&slc_velo_states_schema, &event.beam},
               {&slc_ut_hits_schema, &event.ut},
               {&slc_scifi_hits_schema, &event.scifi},
               {&slc_hlt1_upstream_schema, &event.upstream},
               {&slc_hlt1_track_hits_schema, &event.upstream_hits},
               {&slc_hlt1_track_hits_schema, &event.long_hits},
               {&slc_hlt1_long_schema, &event.long_tracks}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ASSERT_OK(slc_columns_reserve(all[i].schema, all[i].collection, (size_t)TRACKS * MOST, TRACKS));
        slc_columns_reset(all[i].collection);
    }
    for (size_t m = 0; m < SLC_SCIFI_LAYERS; m++) {
        event.geometry.dxdy[128 * m] = (float)event.track[0].t[m].dxdy;
        event.geometry.dzdy[128 * m] = (float)event.track[0].t[m].dzdy;
    }
}

/* Of the event at hand: rows count from its first. */
#define ROW(c) ((uint32_t)((c).head.size - (c).head.event_offset[(c).head.n_events]))

static void put_beyond(const hlt1_oracle_track *track)
{
    slc_hlt1_upstream *up = &event.upstream;
    slc_hlt1_long *to = &event.long_tracks;
    const size_t u = up->head.size, l = to->head.size;
    up->hit_begin[u] = ROW(event.upstream_hits);
    to->hit_begin[l] = ROW(event.long_hits);
    for (size_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        if (track->ut[layer].variance > 0) {
            event.upstream_hits.hit[event.upstream_hits.head.size++] = ROW(event.ut);
            const size_t h = event.ut.head.size++;
            event.ut.x_mm[h] = (float)track->ut[layer].x;
            event.ut.z_mm[h] = (float)track->ut[layer].z;
            event.ut.layer[h] = (uint8_t)layer;
        }
    }
    for (size_t layer = 0; layer < SLC_SCIFI_LAYERS; layer++) {
        if (track->t[layer].variance > 0) {
            event.long_hits.hit[event.long_hits.head.size++] = ROW(event.scifi);
            const size_t h = event.scifi.head.size++;
            event.scifi.x_mm[h] = (float)track->t[layer].x;
            event.scifi.z_mm[h] = (float)track->t[layer].z;
            event.scifi.zone[h] = (uint8_t)(2 * layer + 1);
            event.scifi.channel[h] = (uint32_t)(512 + 128 * layer) << 9;
        }
    }
    up->n_hits[u] = ROW(event.upstream_hits) - up->hit_begin[u];
    to->n_hits[l] = ROW(event.long_hits) - to->hit_begin[l];
    to->upstream_track[l] = ROW(event.upstream);
    to->velo_track[l] = ROW(event.velo_tracks) - 1;
    to->q_over_p[l] = (float)track->start.q_over_p;
    up->head.size++;
    to->head.size++;
}

static void put_track(const hlt1_oracle_track *track)
{
    const size_t v = event.velo_tracks.head.size++;
    event.velo_tracks.hit_begin[v] = ROW(event.velo_track_hits);
    event.velo_tracks.n_hits[v] = (uint32_t)track->n_velo;
    for (size_t i = 0; i < track->n_velo; i++) {
        event.velo_track_hits.hit[event.velo_track_hits.head.size++] = ROW(event.velo_hits);
        const size_t h = event.velo_hits.head.size++;
        event.velo_hits.x_mm[h] = (float)track->velo[i].x;
        event.velo_hits.y_mm[h] = (float)track->velo[i].y;
        event.velo_hits.z_mm[h] = (float)track->velo[i].z;
        event.velo_hits.n_pixels[h] = 2;
    }
    event.beam.x_mm[v] = (float)track->start.x;
    event.beam.y_mm[v] = (float)track->start.y;
    event.beam.z_mm[v] = (float)track->start.z;
    event.beam.tx[v] = (float)track->start.tx;
    event.beam.ty[v] = (float)track->start.ty;
    event.beam.head.size++;
    put_beyond(track);
}

static void end_event(void)
{
    void *const all[] = {&event.velo_hits, &event.velo_tracks, &event.velo_track_hits, &event.beam,
                         &event.ut,        &event.scifi,       &event.upstream,        &event.upstream_hits,
                         &event.long_hits, &event.long_tracks};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_columns_end_event(all[i]);
    }
}

/* Fits tracks first … first + n - 1 in events of `each` tracks. */
static void fit_events(slc_simd_target target, size_t first, size_t n, size_t each, slc_hlt1_fitted *fitted)
{
    slc_hlt1_fit_config with = config;
    slc_hlt1_fitter *fitter;
    with.target = target;
    reserve();
    for (size_t t = first; t < first + n; t++) {
        put_track(&event.track[t]);
        if ((t + 1 - first) % each == 0 || t + 1 == first + n) {
            end_event();
        }
    }
    if (n == 0) {
        end_event();
    }
    ASSERT_OK(slc_columns_reserve(&slc_hlt1_fitted_schema, fitted, TRACKS, TRACKS));
    slc_columns_reset(fitted);
    ASSERT_OK(slc_hlt1_fitter_open(&with, &transport, 0, 0, &fitter, &error));
    const slc_hlt1_fit_events e = {.n_events = event.long_tracks.head.n_events,
                                   .scifi_geometry = &event.geometry,
                                   .velo_hits = &event.velo_hits,
                                   .velo_tracks = &event.velo_tracks,
                                   .velo_track_hits = &event.velo_track_hits,
                                   .beam = &event.beam,
                                   .ut = &event.ut,
                                   .scifi = &event.scifi,
                                   .upstream = &event.upstream,
                                   .upstream_hits = &event.upstream_hits,
                                   .long_tracks = &event.long_tracks,
                                   .long_hits = &event.long_hits};
    slc_hlt1_fitter_run(fitter, &e, fitted);
    assert_int_equal(fitted->head.size, n);
    assert_int_equal(fitted->head.n_events, event.long_tracks.head.n_events);
    slc_hlt1_fitter_close(fitter);
}

static void fit(slc_simd_target target, size_t first, size_t n, slc_hlt1_fitted *fitted)
{
    fit_events(target, first, n, n, fitted);
}

/* ---- tests --------------------------------------------------------------------------------------- */

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The `part` of the values that is not above what is returned. */
static double quantile(double *values, size_t n, double part)
{
    qsort(values, n, sizeof *values, rising);
    return values[(size_t)(part * (double)(n - 1))];
}

/* What differs are the derivatives that the kernel leaves out (hlt1_fly.simd.c), which momenta see. */
static void is_the_least_squares_fit(void **state)
{
    (void)state;
    const hlt1_oracle_noise noise = {(double)config.noise_velo, (double)config.noise_velo_ut,
                                     (double)config.noise_ut, (double)config.noise_magnet,
                                     (double)config.noise_scifi};
    static double off[5][TRACKS], error_off[TRACKS], chi2_off[TRACKS];
    slc_hlt1_fitted got = {0};
    fit(SLC_SIMD_AUTO, 0, TRACKS, &got);
    for (size_t t = 0; t < TRACKS; t++) {
        hlt1_oracle_fit want;
        assert_true(hlt1_oracle_run(&transport, &noise, &event.track[t], config.passes, &want));
        slc_hlt1_ray ray = want.ray;
        const double z = (double)got.z_mm[t];
        ray.x += (z - ray.z) * ray.tx;
        ray.y += (z - ray.z) * ray.ty;
        const double have[5] = {(double)got.x_mm[t], (double)got.y_mm[t], (double)got.tx[t],
                                (double)got.ty[t], (double)got.q_over_p[t]};
        const double wanted[5] = {ray.x, ray.y, ray.tx, ray.ty, ray.q_over_p};
        for (size_t i = 0; i < 5; i++) {
            off[i][t] = fabs(have[i] - wanted[i]) / sqrt(want.covariance[i][i]);
        }
        error_off[t] = fabs(sqrt((double)got.cov_qq[t] / want.covariance[4][4]) - 1);
        chi2_off[t] = fabs((double)got.chi2[t] - want.chi2);
        assert_int_equal(got.n_dof[t], want.n_dof);
    }
    for (size_t i = 0; i < 5; i++) {
        print_message("coordinate %zu: off by %.2g errors in the middle, %.2g of 99 %%\n", i,
                      quantile(off[i], TRACKS, 0.5), quantile(off[i], TRACKS, 0.99));
        assert_true(quantile(off[i], TRACKS, 0.5) < (i < 4 ? 2e-4 : 0.03));
        assert_true(quantile(off[i], TRACKS, 0.99) < (i < 4 ? 5e-3 : 0.4));
    }
    assert_true(quantile(error_off, TRACKS, 0.99) < 5e-3);
    assert_true(quantile(chi2_off, TRACKS, 0.5) < 0.05 && quantile(chi2_off, TRACKS, 0.99) < 1);
    slc_columns_clear(&slc_hlt1_fitted_schema, &got);
}

/* Pulls at the origin, and chi2, of particles that scatter as is expected. */
static void errors_are_what_they_say(void **state)
{
    (void)state;
    double mean[5] = {0}, square[5] = {0}, chi2 = 0, n_dof = 0;
    slc_hlt1_fitted got = {0};
    fit(SLC_SIMD_AUTO, 0, TRACKS, &got);
    for (size_t t = 0; t < TRACKS; t++) {
        const slc_hlt1_ray *truth = &event.truth[t];
        const double dz = truth->z - (double)got.z_mm[t];
        const double xx = (double)got.cov_xx[t] + 2 * dz * (double)got.cov_xtx[t] +
                          dz * dz * (double)got.cov_txtx[t];
        const double yy = (double)got.cov_yy[t] + 2 * dz * (double)got.cov_yty[t] +
                          dz * dz * (double)got.cov_tyty[t];
        const double pull[5] = {((double)got.x_mm[t] + dz * (double)got.tx[t] - truth->x) / sqrt(xx),
                                ((double)got.y_mm[t] + dz * (double)got.ty[t] - truth->y) / sqrt(yy),
                                ((double)got.tx[t] - truth->tx) / sqrt((double)got.cov_txtx[t]),
                                ((double)got.ty[t] - truth->ty) / sqrt((double)got.cov_tyty[t]),
                                ((double)got.q_over_p[t] - truth->q_over_p) / sqrt((double)got.cov_qq[t])};
        for (size_t i = 0; i < 5; i++) {
            mean[i] += pull[i] / TRACKS;
            square[i] += pull[i] * pull[i] / TRACKS;
        }
        chi2 += (double)got.chi2[t];
        n_dof += got.n_dof[t];
    }
    print_message("chi2/ndof %.3f\n", chi2 / n_dof);
    assert_true(fabs(chi2 / n_dof - 1) < 0.04);
    for (size_t i = 0; i < 5; i++) {
        const double width = sqrt(square[i] - mean[i] * mean[i]);
        print_message("pull %zu: %+.3f, %.3f wide\n", i, mean[i], width);
        assert_true(fabs(mean[i]) < 0.15 && fabs(width - 1) < 0.1);
    }
    slc_columns_clear(&slc_hlt1_fitted_schema, &got);
}

static void same_bits_on_every_target_in_any_company(void **state)
{
    (void)state;
    slc_hlt1_fitted want = {0}, got = {0};
    uint64_t sum = 0;
    fit(SLC_SIMD_C, 0, TRACKS, &want);
    const uint64_t all = slc_columns_checksum(&slc_hlt1_fitted_schema, &want, 0, 0);
    for (int k = 0; k < SLC_SIMD_TARGETS; k++) {
        const slc_simd_target target = (slc_simd_target)k;
        if (slc_simd_runs(target)) {
            print_message("%s\n", slc_simd_name(target));
            fit(target, 0, TRACKS, &got);
            assert_true(slc_columns_checksum(&slc_hlt1_fitted_schema, &got, 0, 0) == all);
            for (size_t each = 1; each < TRACKS; each = 3 * each + 2) { /* with tracks of other events */
                fit_events(target, 0, TRACKS, each, &got);
                for (size_t i = 0; i < slc_hlt1_fitted_schema.n_columns; i++) {
                    const slc_column *column = &slc_hlt1_fitted_schema.columns[i];
                    assert_memory_equal(slc_column_data(&got, column), slc_column_data(&want, column),
                                        TRACKS * slc_type_size(column->type));
                }
            }
            for (size_t n = 1; n < 40; n += 7) { /* alone, and with few */
                fit(target, 100, n, &got);
                for (size_t t = 0; t < n; t++) {
                    assert_memory_equal(&got.q_over_p[t], &want.q_over_p[100 + t], sizeof(float));
                    assert_memory_equal(&got.cov_qq[t], &want.cov_qq[100 + t], sizeof(float));
                    assert_memory_equal(&got.cov_xx[t], &want.cov_xx[100 + t], sizeof(float));
                    assert_memory_equal(&got.chi2[t], &want.chi2[100 + t], sizeof(float));
                    sum += got.n_dof[t];
                }
            }
        }
    }
    assert_true(sum > 0);
    fit(SLC_SIMD_AUTO, 0, 0, &got);
    slc_columns_clear(&slc_hlt1_fitted_schema, &want);
    slc_columns_clear(&slc_hlt1_fitted_schema, &got);
}

/* A momentum with which a particle turns round before the UT; its neighbours do not notice. */
static void what_cannot_be_flown_is_no_number(void **state)
{
    (void)state;
    slc_hlt1_fitted want = {0}, got = {0};
    fit(SLC_SIMD_AUTO, 0, 3, &want);
    const double q = event.track[1].start.q_over_p;
    event.track[1].start.q_over_p = 0.1;
    fit(SLC_SIMD_AUTO, 0, 3, &got);
    event.track[1].start.q_over_p = q;
    assert_true(isnan(got.q_over_p[1]) && isnan(got.x_mm[1]) && isnan(got.cov_qq[1]) && isnan(got.chi2[1]));
    assert_int_equal(got.n_dof[1], 0);
    for (size_t t = 0; t < 3; t += 2) {
        assert_true(got.q_over_p[t] == want.q_over_p[t] && got.cov_qq[t] == want.cov_qq[t]);
    }
    slc_columns_clear(&slc_hlt1_fitted_schema, &want);
    slc_columns_clear(&slc_hlt1_fitted_schema, &got);
}

static void wrong_settings_are_told(void **state)
{
    (void)state;
    slc_hlt1_fitter *fitter;
    slc_hlt1_fit_config c = config;
    slc_hlt1_transport none = {.cells = NULL};
    assert_int_equal(slc_hlt1_fitter_open(&c, &none, 0, 0, &fitter, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "fit of long tracks: the transport's tables are not complete");
    c.passes = 0;
    assert_int_equal(slc_hlt1_fitter_open(&c, &transport, 0, 0, &fitter, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "fit of long tracks: passes must be from 1 to 4, not 0");
    c = config;
    c.noise_scifi = NAN;
    assert_int_equal(slc_hlt1_fitter_open(&c, &transport, 0, 0, &fitter, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "noise_scifi must be from"));
    c = config;
    c.energy_loss_mev = 2000;
    assert_int_equal(slc_hlt1_fitter_open(&c, &transport, 0, 0, &fitter, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text,
                        "fit of long tracks: energy_loss_mev must be from -1000 to 1000, not 2000");
    c = config;
    c.velo_sigma_mm[6] = 0;
    assert_int_equal(slc_hlt1_fitter_open(&c, &transport, 0, 0, &fitter, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "fit of long tracks: velo_sigma_mm[6] must be from 1e-06 to 1000, not 0");
    assert_null(fitter);
    slc_hlt1_fitter_close(fitter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_least_squares_fit),
        cmocka_unit_test(errors_are_what_they_say),
        cmocka_unit_test(same_bits_on_every_target_in_any_company),
        cmocka_unit_test(what_cannot_be_flown_is_no_number),
        cmocka_unit_test(wrong_settings_are_told),
    };
    const int skip = support_skip_without("lhcb_hlt1/kalman_FT6x2/v5r0_7957.tab");
    if (skip != 0) {
        return skip;
    }
    if (slc_io_hlt1_transport_read(support_data("lhcb_hlt1/kalman_FT6x2"), &transport, &error) != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    slc_hlt1_fit_config_default(&config);
    config.energy_loss_mev = 0;
    uint64_t seed = 5;
    for (size_t t = 0; t < TRACKS;) {
        t += make_track(t, &seed) ? 1 : 0;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_hlt1_transport_clear(&transport);
    return failed;
}
