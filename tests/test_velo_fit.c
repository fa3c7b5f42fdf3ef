/* SPDX-License-Identifier: Apache-2.0
 * The fit against the textbook's filter in double precision, and its pulls on lines with known errors. */
#include "velo/velo_fit.h"

#include "oracle/velo_fit_oracle.h"
#include "support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/near.h"

enum { MAX_TRACKS = 20000, MAX_ROWS = 26 * MAX_TRACKS };

static slc_velo_hits hits;
static slc_velo_tracks tracks;
static slc_velo_track_hits track_hits;
static slc_velo_states beam, end;
static slc_velo_fit_config config;

/* The filter of the textbook: the same noise for every track. Soft particles': it is larger than the errors
 * of the hits, so that tests see it. */
static void fix_noise(void)
{
    slc_velo_fit_config_default(&config);
    config.noise_slope = config.second_noise_slope = 7e-5f;
    config.scatter_prior = 0;
}

static int set_up(void **state)
{
    (void)state;
    fix_noise();
    return slc_columns_reserve(&slc_velo_hits_schema, &hits, MAX_ROWS, 1) != SLC_OK ||
           slc_columns_reserve(&slc_velo_tracks_schema, &tracks, MAX_TRACKS, 1) != SLC_OK ||
           slc_columns_reserve(&slc_velo_track_hits_schema, &track_hits, MAX_ROWS, 1) != SLC_OK ||
           slc_columns_reserve(&slc_velo_states_schema, &beam, MAX_TRACKS, 1) != SLC_OK ||
           slc_columns_reserve(&slc_velo_states_schema, &end, MAX_TRACKS, 1) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_columns_clear(&slc_velo_tracks_schema, &tracks);
    slc_columns_clear(&slc_velo_track_hits_schema, &track_hits);
    slc_columns_clear(&slc_velo_states_schema, &beam);
    slc_columns_clear(&slc_velo_states_schema, &end);
    return 0;
}

static void begin(void)
{
    slc_columns_reset(&hits);
    slc_columns_reset(&tracks);
    slc_columns_reset(&track_hits);
}

/* A true line; hits are smeared, and the direction scatters by `kick` (rms, per projection) at each hit. */
typedef struct line {
    double x, y, z, tx, ty;
} line;

/* Adds a track with its hits from downstream to upstream; the particle flies from the line's point outwards.
 */
static void add_track(line l, double z_first, double step, uint32_t n, double sigma, double kick,
                      uint64_t *seed)
{
    const size_t t = tracks.head.size++;
    tracks.hit_begin[t] = (uint32_t)track_hits.head.size;
    tracks.n_hits[t] = n;
    const size_t first = hits.head.size;
    for (uint32_t i = 0; i < n; i++) {
        const double z = z_first + i * step;
        l.x += l.tx * (z - l.z);
        l.y += l.ty * (z - l.z);
        l.z = z;
        const size_t h = hits.head.size++;
        hits.x_mm[h] = (float)(l.x + sigma * random_normal(seed));
        hits.y_mm[h] = (float)(l.y + sigma * random_normal(seed));
        hits.z_mm[h] = (float)z;
        hits.n_pixels[h] = 0;
        l.tx += kick * random_normal(seed);
        l.ty += kick * random_normal(seed);
    }
    for (uint32_t i = 0; i < n; i++) {
        const size_t h = step > 0 ? first + n - 1 - i : first + i;
        track_hits.hit[track_hits.head.size++] = (uint32_t)h;
    }
}

static void run(void)
{
    slc_columns_end_event(&hits);
    slc_columns_end_event(&tracks);
    slc_columns_end_event(&track_hits);
    assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &beam, &end), SLC_OK);
    assert_int_equal(beam.head.size, tracks.head.size);
    assert_int_equal(end.head.size, tracks.head.size);
}

/* Single precision against the textbook in double: the stable form must hold 4 digits of every covariance. */
static void equals_the_textbook(void **state)
{
    (void)state;
    uint64_t seed = 3;
    begin();
    for (int t = 0; t < 2000; t++) {
        const line l = {0.05 * random_normal(&seed), 0.05 * random_normal(&seed), 60 * random_normal(&seed),
                        0.2 * random_normal(&seed), 0.2 * random_normal(&seed)};
        add_track(l, l.z + 20 + 50 * random_unit(&seed), 25, 3 + random_below(&seed, 24), 0.0125, 5e-4,
                  &seed);
    }
    run();
    const double variance = (double)config.hit_sigma_mm * (double)config.hit_sigma_mm;
    for (size_t t = 0; t < tracks.head.size; t++) {
        double z[26], x[26], y[26];
        const uint32_t n = tracks.n_hits[t];
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t h = track_hits.hit[tracks.hit_begin[t] + i];
            z[i] = (double)hits.z_mm[h];
            x[i] = (double)hits.x_mm[h];
            y[i] = (double)hits.y_mm[h];
        }
        const double tx = (x[n - 1] - x[0]) / (z[n - 1] - z[0]), ty = (y[n - 1] - y[0]) / (z[n - 1] - z[0]);
        const double noise = (double)config.noise_constant + (double)config.noise_slope * (tx * tx + ty * ty);
        oracle_state sx = oracle_velo_fit(z, x, n, tx, variance, noise);
        oracle_state sy = oracle_velo_fit(z, y, n, ty, variance, noise);
        assert_near(beam.cov_txtx[t], sx.ss, 1e-4 * fabs(sx.ss));
        assert_near(beam.cov_tyty[t], sy.ss, 1e-4 * fabs(sy.ss));
        const double dz = (double)beam.z_mm[t] - z[n - 1];
        sx = oracle_velo_propagate(sx, dz);
        sy = oracle_velo_propagate(sy, dz);
        assert_near(beam.cov_xx_mm2[t], sx.pp, 1e-3 * fabs(sx.pp));
        assert_near(beam.cov_yy_mm2[t], sy.pp, 1e-3 * fabs(sy.pp));
        assert_near(beam.cov_xtx_mm[t], sx.ps, 2e-3 * fabs(sx.ps));
        assert_near(beam.x_mm[t], sx.position, 2e-3 * sqrt(sx.pp) + 2e-5);
        assert_near(beam.y_mm[t], sy.position, 2e-3 * sqrt(sy.pp) + 2e-5);
        assert_near(beam.tx[t], sx.slope, 2e-3 * sqrt(sx.ss));
        assert_near(beam.chi2[t], sx.chi2 + sy.chi2, 2e-3 * (sx.chi2 + sy.chi2) + 0.02);
        assert_int_equal(beam.n_dof[t], 2 * n - 4);
        /* The beam-line state is where the line passes the beam line. */
        const double approach = (double)beam.x_mm[t] * (double)beam.tx[t] +
                                (double)beam.y_mm[t] * (double)beam.ty[t];
        assert_near(approach, 0, 1e-3);
    }
}

typedef struct moments {
    double n, sum, squares;
} moments;

static void add_moment(moments *m, double value)
{
    m->n++;
    m->sum += value;
    m->squares += value * value;
}

static void expect_unit(const moments *m)
{
    const double mean = m->sum / m->n;
    assert_near(mean, 0, 0.05);
    assert_near(sqrt(m->squares / m->n - mean * mean), 1, 0.05);
}

/* Lines with the resolution and the scattering that the filter assumes: pulls of all four parameters at the
 * beam line have mean 0 and width 1, chi2 is as large as its degrees of freedom. `direction` -1: backward
 * tracks. */
static void expect_unit_pulls(double kick, int direction)
{
    uint64_t seed = 11;
    static line truth[MAX_TRACKS];
    begin();
    const double slope = 0.1;
    for (int t = 0; t < 10000; t++) {
        const double phi = 6.28318530718 * random_unit(&seed);
        truth[t] = (line){0, 0, 0, slope * cos(phi), slope * sin(phi)};
        const double first = direction * 50.0;
        add_track(truth[t], first, direction * 25.0, 8, (double)config.hit_sigma_mm, kick, &seed);
    }
    run();
    moments x = {0}, y = {0}, tx = {0}, ty = {0}, chi2 = {0};
    for (size_t t = 0; t < tracks.head.size; t++) {
        assert_int_equal(beam.backward[t], direction < 0);
        const double z = (double)beam.z_mm[t];
        add_moment(&x, ((double)beam.x_mm[t] - truth[t].tx * z) / sqrt((double)beam.cov_xx_mm2[t]));
        add_moment(&y, ((double)beam.y_mm[t] - truth[t].ty * z) / sqrt((double)beam.cov_yy_mm2[t]));
        add_moment(&tx, ((double)beam.tx[t] - truth[t].tx) / sqrt((double)beam.cov_txtx[t]));
        add_moment(&ty, ((double)beam.ty[t] - truth[t].ty) / sqrt((double)beam.cov_tyty[t]));
        add_moment(&chi2, (double)beam.chi2[t] / beam.n_dof[t]);
    }
    expect_unit(&x);
    expect_unit(&y);
    expect_unit(&tx);
    expect_unit(&ty);
    assert_near(chi2.sum / chi2.n, 1, 0.05);
}

static void pulls_without_scattering(void **state)
{
    (void)state;
    fix_noise();
    config.noise_constant = config.noise_slope = 0;
    expect_unit_pulls(0, 1);
    expect_unit_pulls(0, -1);
    fix_noise();
}

static void pulls_with_scattering(void **state)
{
    (void)state;
    const double kick = sqrt((double)config.noise_constant + (double)config.noise_slope * 0.01);
    expect_unit_pulls(kick, 1);
    expect_unit_pulls(kick, -1);
}

/* Hits of every size with the resolution that the filter gives that size, and no scattering: unit pulls, chi2
 * as large as its degrees of freedom. With one resolution for all they would be neither. */
static void sizes_have_their_resolutions(void **state)
{
    (void)state;
    uint64_t seed = 13;
    fix_noise();
    config.noise_constant = config.noise_slope = 0;
    begin();
    const double tx = 0.08;
    for (int t = 0; t < 10000; t++) {
        add_track((line){0, 0, 0, tx, 0}, 50, 25, 8, 0, 0, &seed);
        for (uint32_t i = 0; i < 8; i++) {
            const size_t h = hits.head.size - 8 + i;
            const uint32_t size = random_below(&seed, 9);
            const float sigma = size == 0 ? config.hit_sigma_mm
                                          : config.size_sigma_mm[size < 6 ? size - 1 : 5];
            hits.n_pixels[h] = size;
            hits.x_mm[h] += (float)((double)sigma * random_normal(&seed));
            hits.y_mm[h] += (float)((double)sigma * random_normal(&seed));
        }
    }
    run();
    moments x = {0}, slope = {0}, chi2 = {0};
    for (size_t t = 0; t < tracks.head.size; t++) {
        const double z = (double)beam.z_mm[t];
        add_moment(&x, ((double)beam.x_mm[t] - tx * z) / sqrt((double)beam.cov_xx_mm2[t]));
        add_moment(&slope, ((double)beam.tx[t] - tx) / sqrt((double)beam.cov_txtx[t]));
        add_moment(&chi2, (double)beam.chi2[t] / beam.n_dof[t]);
    }
    expect_unit(&x);
    expect_unit(&slope);
    assert_near(chi2.sum / chi2.n, 1, 0.05);
    fix_noise();
}

/* A mixture of soft and hard particles, as in nature: the adapted noise has to bring both nearer to unit
 * pulls than the fixed one does. Returns the standard deviation of the pull of tx. */
static double pull_width(double scale, float prior)
{
    uint64_t seed = 21;
    slc_velo_fit_config_default(&config);
    config.scatter_prior = prior;
    const double tx = 0.15, noise = (double)config.second_noise_slope * tx * tx;
    begin();
    for (int t = 0; t < 5000; t++) {
        const line truth = {0, 0, 0, tx, 0};
        add_track(truth, 50, 25, 9, (double)config.hit_sigma_mm, sqrt(scale * noise), &seed);
    }
    run();
    moments pull = {0};
    for (size_t t = 0; t < tracks.head.size; t++) {
        add_moment(&pull, ((double)beam.tx[t] - tx) / sqrt((double)beam.cov_txtx[t]));
    }
    fix_noise();
    return sqrt(pull.squares / pull.n);
}

static void adapts_to_the_scattering(void **state)
{
    (void)state;
    const double soft = pull_width(20, 0), hard = pull_width(0.02, 0);
    const double soft_adapted = pull_width(20, 8), hard_adapted = pull_width(0.02, 8);
    assert_true(soft > 3 && hard < 0.6); /* the fixed noise is wrong for both */
    assert_near(soft_adapted, 1, 0.35);
    assert_true(hard_adapted > hard && hard_adapted < 1); /* the hits' own errors hide how straight it is */
    assert_near(pull_width(1, 8), 1, 0.2);
}

/* The downstream state: at its plane, and unbiased there for straight lines. */
static void end_state_is_at_its_plane(void **state)
{
    (void)state;
    uint64_t seed = 12;
    fix_noise();
    config.noise_constant = config.noise_slope = 0;
    begin();
    const line truth = {0.02, -0.01, 5, 0.03, -0.05};
    for (int t = 0; t < 10000; t++) {
        add_track(truth, 100, 25, 10, (double)config.hit_sigma_mm, 0, &seed);
    }
    run();
    moments x = {0}, ty = {0};
    for (size_t t = 0; t < tracks.head.size; t++) {
        assert_true(end.z_mm[t] == 770.0f);
        const double true_x = truth.x + truth.tx * (770 - truth.z);
        add_moment(&x, ((double)end.x_mm[t] - true_x) / sqrt((double)end.cov_xx_mm2[t]));
        add_moment(&ty, ((double)end.ty[t] - truth.ty) / sqrt((double)end.cov_tyty[t]));
    }
    expect_unit(&x);
    expect_unit(&ty);
    fix_noise();
}

static void says_when_there_is_no_room(void **state)
{
    (void)state;
    uint64_t seed = 1;
    begin();
    add_track((line){0, 0, 0, 0.1, 0.1}, 30, 25, 3, 0.01, 0, &seed);
    run();
    slc_velo_states none = {0};
    assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &none, &end), SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_fit_run(&config, &hits, &tracks, &track_hits, &beam, &none), SLC_ERR_CAPACITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_textbook),          cmocka_unit_test(pulls_without_scattering),
        cmocka_unit_test(pulls_with_scattering),        cmocka_unit_test(adapts_to_the_scattering),
        cmocka_unit_test(sizes_have_their_resolutions), cmocka_unit_test(end_state_is_at_its_plane),
        cmocka_unit_test(says_when_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
