/* SPDX-License-Identifier: Apache-2.0
 * Residuals and normal equations against what they are by definition: fits without the hit, and derivatives
 * of the chi2 of lines through hits whose modules are moved. */
#include "support/cmocka_all.h"
#include "support/random.h"

#include "velo/velo_alignment.h"
#include "velo/velo_geometry.h"
#include <sluice/velo_residuals.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 3, TRACKS = 12, LAYERS = 10, MOST = 52 };

static slc_velo_result result;
static slc_velo_config config;

/* Lines through modules of both halves, hits off by some 20 µm, of a size or of none. */
static void make_hits(void)
{
    uint64_t random = 5;
    slc_velo_hits *hits = &result.hits;
    assert_int_equal(
        slc_columns_reserve(&slc_velo_hits_schema, hits, (size_t)EVENTS * TRACKS * LAYERS, EVENTS), SLC_OK);
    slc_columns_reset(hits);
    for (uint32_t e = 0; e < EVENTS; e++) {
        float tx[TRACKS], ty[TRACKS];
        for (uint32_t t = 0; t < TRACKS; t++) {
            const float phi = 0.5f * (float)t + slc_random_between(&random, 0, 0.1f);
            const float slope = slc_random_between(&random, 0.04f, 0.14f);
            tx[t] = slope * cosf(phi);
            ty[t] = slope * sinf(phi);
        }
        for (uint32_t l = 0; l < LAYERS; l++) {
            const uint32_t module = 16 + 2 * l + (l % 3 == 1);
            for (uint32_t t = 0; t < TRACKS; t++) {
                if (l == 9 && t % 4 == 0) {
                    continue;
                }
                const size_t h = hits->head.size++;
                const float z = slc_velo_design_module_z_mm[module] + 0.1f * (float)(t % 3);
                hits->x_mm[h] = tx[t] * (z + 40) + slc_random_between(&random, -0.02f, 0.02f);
                hits->y_mm[h] = ty[t] * (z + 40) + slc_random_between(&random, -0.02f, 0.02f);
                hits->z_mm[h] = z;
                hits->n_pixels[h] = (t + l) % 8;
                hits->channel[h] = t == 5 ? 7 : 2U << 28 | (4 * module + t % 4) << 18 | t % 3 << 16;
                hits->module[h] = (uint8_t)module;
            }
        }
        slc_columns_end_event(hits);
    }
}

static void run_chain(void)
{
    slc_velo_chain *chain;
    slc_velo_config_default(&config);
    config.fit.scatter_prior = 0;
    config.fit.noise_slope = 0;
    config.fit.noise_constant = 1e-8f;
    assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_reserve_hits(chain, &result, NULL), SLC_OK);
    assert_int_equal(slc_velo_chain_run_hits(chain, &result, NULL), SLC_OK);
    slc_velo_chain_close(chain);
}

/* ---- by definition ------------------------------------------------------------------------------ */

typedef struct points {
    uint32_t n, module[MOST], size[MOST];
    double at[MOST][3];
} points;

/* In the order of the flight: all lines here go forward from z = -40 mm. */
static points points_of(uint32_t event, size_t row)
{
    points p = {.n = result.tracks.n_hits[row]};
    const uint32_t *list = result.track_hits.hit + result.track_hits.head.event_offset[event] +
                           result.tracks.hit_begin[row];
    assert_int_equal(result.beam.backward[row], 0);
    for (uint32_t i = 0; i < p.n; i++) {
        const size_t h = result.hits.head.event_offset[event] + list[p.n - 1 - i];
        p.at[i][0] = (double)result.hits.x_mm[h];
        p.at[i][1] = (double)result.hits.y_mm[h];
        p.at[i][2] = (double)result.hits.z_mm[h];
        p.module[i] = result.hits.module[h];
        p.size[i] = result.hits.n_pixels[h];
    }
    return p;
}

static double variance_of(uint32_t size)
{
    const float sigma = size == 0 ? config.fit.hit_sigma_mm
                                  : config.fit.size_sigma_mm[size > 6 ? 5 : size - 1];
    return (double)sigma * (double)sigma;
}

/* Solves m · x = b by Gauss' elimination; m and b are spoiled. */
static void solve(double *m, double *b, uint32_t n)
{
    for (uint32_t p = 0; p < n; p++) {
        for (uint32_t i = p + 1; i < n; i++) {
            const double factor = m[i * n + p] / m[p * n + p];
            for (uint32_t j = p; j < n; j++) {
                m[i * n + j] -= factor * m[p * n + j];
            }
            b[i] -= factor * b[p];
        }
    }
    for (uint32_t p = n; p-- > 0;) {
        for (uint32_t j = p + 1; j < n; j++) {
            b[p] -= m[p * n + j] * b[j];
        }
        b[p] /= m[p * n + p];
    }
}

/* A Kalman-free fit of a line with a kink at every layer but the last: unknowns are position, slope and
 * kinks, each kink measured as 0 with its variance. Hit `without` has no weight. Returns chi2, and the
 * distance of each hit to the trajectory. `one`: the coordinate. z of the layers for scattering are those of
 * `kinks`. */
static double fit_line(const points *p, const points *kinks, int one, uint32_t without, double *away)
{
    const uint32_t n = p->n + 1; /* position, slope, n - 1 kinks */
    const double noise = (double)config.fit.noise_constant;
    double m[(MOST + 1) * (MOST + 1)] = {0}, b[MOST + 1] = {0}, chi2 = 0;
    double row[MOST][MOST + 1] = {{0}};
    for (uint32_t i = 0; i < p->n; i++) {
        row[i][0] = 1;
        row[i][1] = p->at[i][2];
        for (uint32_t k = 0; k + 1 < p->n; k++) {
            row[i][2 + k] = k < i ? kinks->at[i][2] - kinks->at[k][2] : 0;
        }
        const double weight = i == without ? 0 : 1 / variance_of(p->size[i]);
        for (uint32_t a = 0; a < n; a++) {
            for (uint32_t c = 0; c < n; c++) {
                m[a * n + c] += weight * row[i][a] * row[i][c];
            }
            b[a] += weight * row[i][a] * p->at[i][one];
        }
    }
    for (uint32_t k = 2; k < n; k++) {
        m[k * n + k] += 1 / noise;
    }
    solve(m, b, n);
    for (uint32_t i = 0; i < p->n; i++) {
        double line = 0;
        for (uint32_t a = 0; a < n; a++) {
            line += row[i][a] * b[a];
        }
        away[i] = p->at[i][one] - line;
        chi2 += i == without ? 0 : away[i] * away[i] / variance_of(p->size[i]);
    }
    for (uint32_t k = 2; k < n; k++) {
        chi2 += b[k] * b[k] / noise;
    }
    return chi2;
}

/* chi2 of all tracks with modules moved. */
static double chi2_of(const slc_velo_alignment *alignment)
{
    double sum = 0, away[MOST];
    for (uint32_t e = 0; e < EVENTS; e++) {
        for (size_t t = result.tracks.head.event_offset[e]; t < result.tracks.head.event_offset[e + 1]; t++) {
            const points here = points_of(e, t);
            points there = here;
            for (uint32_t i = 0; i < here.n; i++) {
                const slc_velo_move *move = &alignment->modules[here.module[i]];
                const double c = (double)slc_velo_design_module_z_mm[here.module[i]];
                double q[3] = {here.at[i][0], here.at[i][1], here.at[i][2] - c};
                for (int axis = 0; axis < 3; axis++) {
                    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
                    const double angle = move->rotation_mrad[axis] / 1000, u = q[a], v = q[b];
                    q[a] = u * cos(angle) - v * sin(angle);
                    q[b] = u * sin(angle) + v * cos(angle);
                }
                for (int k = 0; k < 3; k++) {
                    there.at[i][k] = q[k] + move->shift_mm[k] + (k == 2 ? c : 0);
                }
            }
            sum += fit_line(&there, &here, 0, MOST, away) + fit_line(&there, &here, 1, MOST, away);
        }
    }
    return sum;
}

/* ---- tests -------------------------------------------------------------------------------------- */

static slc_velo_residuals *sums_of(void)
{
    slc_velo_residuals *sums = calloc(1, sizeof *sums);
    assert_non_null(sums);
    assert_int_equal(slc_velo_residuals_add(sums, &config, NULL, &result, NULL), SLC_OK);
    return sums;
}

static void near(double got, double wanted, double scale)
{
    if (!(fabs(got - wanted) <= scale)) {
        print_error("%.9g, not %.9g\n", got, wanted);
    }
    assert_true(fabs(got - wanted) <= scale);
}

static void residuals_are_those_of_fits_without_the_hit(void **state)
{
    (void)state;
    slc_velo_residuals *sums = sums_of();
    slc_velo_residual_pair module[SLC_VELO_MODULES] = {{0}};
    uint64_t n_hits = 0;
    double chi2 = 0;
    for (uint32_t e = 0; e < EVENTS; e++) {
        for (size_t t = result.tracks.head.event_offset[e]; t < result.tracks.head.event_offset[e + 1]; t++) {
            const points p = points_of(e, t);
            double all[MOST], away[MOST];
            for (int one = 0; one < 2; one++) {
                const double full = fit_line(&p, &p, one, MOST, all);
                chi2 += full;
                for (uint32_t i = 0; i < p.n; i++) {
                    slc_velo_residual *to = one == 0 ? &module[p.module[i]].x : &module[p.module[i]].y;
                    /* the hit's part of chi2 is unbiased² / its variance */
                    const double part = full - fit_line(&p, &p, one, i, away);
                    to->unbiased_mm += away[i];
                    to->unbiased2_mm2 += away[i] * away[i];
                    to->biased_mm += all[i];
                    to->biased2_mm2 += all[i] * all[i];
                    to->pull2 += part;
                    module[p.module[i]].n += one == 0;
                }
            }
            n_hits += p.n;
        }
    }
    assert_true(n_hits > 250);
    assert_int_equal(sums->hits, n_hits);
    assert_int_equal(sums->tracks, result.tracks.head.size);
    assert_int_equal(sums->n_dof, 2 * n_hits - 4 * sums->tracks);
    near(sums->chi2, chi2, 1e-4 * chi2);
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        const slc_velo_residual *got[2] = {&sums->module[m].x, &sums->module[m].y};
        const slc_velo_residual *want[2] = {&module[m].x, &module[m].y};
        assert_int_equal(sums->module[m].n, module[m].n);
        for (int one = 0; one < 2; one++) {
            near(got[one]->unbiased_mm, want[one]->unbiased_mm, 1e-6);
            near(got[one]->unbiased2_mm2, want[one]->unbiased2_mm2, 1e-6);
            near(got[one]->biased_mm, want[one]->biased_mm, 1e-6);
            near(got[one]->biased2_mm2, want[one]->biased2_mm2, 1e-6);
            near(got[one]->pull2, want[one]->pull2, 1e-4 * (1 + want[one]->pull2));
        }
    }
    free(sums);
}

static double entry(const slc_velo_residuals *sums, size_t i, size_t j)
{
    size_t at = 0;
    for (size_t row = 0; row < i; row++) {
        at += SLC_VELO_UNKNOWNS - row;
    }
    return sums->matrix[at + j - i];
}

static void set(slc_velo_alignment *alignment, size_t unknown, double value)
{
    slc_velo_move *move = &alignment->modules[unknown / SLC_VELO_MOVES];
    const size_t k = unknown % SLC_VELO_MOVES;
    *(k < 3 ? &move->shift_mm[k] : &move->rotation_mrad[k - 3]) += value;
}

/* By central differences of chi2, of which the linear equations are the derivatives at 0: slopes are the
 * fit's there and here those of lines with other errors, so that they agree to a part in some hundred. */
static void equations_are_the_derivatives_of_chi2(void **state)
{
    (void)state;
    slc_velo_residuals *sums = sums_of();
    const double h = 1e-3;
    double largest = 0;
    for (size_t m = 16; m < 36; m += 3) {
        for (size_t k = 0; k < SLC_VELO_MOVES; k++) {
            const size_t i = SLC_VELO_MOVES * m + k;
            slc_velo_alignment up = {0}, down = {0}, zero = {0};
            set(&up, i, h);
            set(&down, i, -h);
            const double plus = chi2_of(&up), minus = chi2_of(&down), none = chi2_of(&zero);
            const double second = (plus - 2 * none + minus) / (2 * h * h);
            near(entry(sums, i, i), second, 0.02 * second + 1e-3);
            near(sums->vector[i], -(plus - minus) / (4 * h),
                 0.02 * fabs(sums->vector[i]) + 0.02 * sqrt(second));
            for (size_t j = i + 1; j < SLC_VELO_MOVES * 36; j += 7) {
                slc_velo_alignment both = up, other = {0};
                set(&both, j, h);
                set(&other, j, h);
                const double mixed = (chi2_of(&both) - plus - chi2_of(&other) + none) / (2 * h * h);
                near(entry(sums, i, j), mixed, 0.02 * sqrt(second * (entry(sums, j, j) + 1)) + 1e-3);
                largest = fmax(largest, fabs(mixed));
            }
        }
    }
    assert_true(largest > 100); /* modules are coupled */
    free(sums);
}

/* All modules moved alike: lines move with them. */
static void common_shifts_cost_nothing(void **state)
{
    (void)state;
    slc_velo_residuals *sums = sums_of();
    for (size_t k = 0; k < 3; k++) {
        double total = 0;
        for (size_t m = 0; m < SLC_VELO_MODULES; m++) {
            const size_t i = SLC_VELO_MOVES * m + k;
            double row = 0;
            for (size_t n = 0; n < SLC_VELO_MODULES; n++) {
                const size_t j = SLC_VELO_MOVES * n + k;
                row += i <= j ? entry(sums, i, j) : entry(sums, j, i);
            }
            near(row, 0, 1e-7 * (1 + entry(sums, i, i)));
            total += entry(sums, i, i);
        }
        assert_true(total > 1000);
    }
    free(sums);
}

static void sums_by_sensor_and_chip_add_up(void **state)
{
    (void)state;
    slc_velo_residuals *sums = sums_of();
    uint64_t sensors = 0, chips = 0, modules = 0;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        uint64_t of_sensor = 0;
        for (uint32_t c = 0; c < 3; c++) {
            of_sensor += sums->chip[3 * s + c].n;
        }
        assert_int_equal(of_sensor, sums->sensor[s].n);
        sensors += sums->sensor[s].n;
        chips += of_sensor;
    }
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        modules += sums->module[m].n;
    }
    assert_true(sums->without_sensor > 0 && sensors > 0);
    assert_int_equal(modules, sums->hits);
    assert_int_equal(sensors + sums->without_sensor, sums->hits);
    assert_int_equal(chips, sensors);
    free(sums);
}

static void what_does_not_count_is_counted(void **state)
{
    (void)state;
    slc_velo_residuals *sums = sums_of();
    const uint64_t all = sums->tracks;
    slc_velo_config strict = config;
    memset(sums, 0, sizeof *sums);
    for (uint32_t i = 0; i < SLC_VELO_FIT_SIZES; i++) {
        strict.fit.size_sigma_mm[i] = 1e-4f; /* so that no track is straight */
    }
    strict.fit.hit_sigma_mm = 1e-4f;
    strict.fit.noise_constant = 0;
    assert_int_equal(slc_velo_residuals_add(sums, &strict, NULL, &result, NULL), SLC_OK);
    assert_int_equal(sums->outside, all);
    assert_int_equal(sums->tracks + sums->hits, 0);
    assert_true(sums->chi2 == 0 && sums->matrix[0] == 0);
    const uint32_t n = result.tracks.n_hits[0];
    result.tracks.n_hits[0] = 4;
    assert_int_equal(slc_velo_residuals_add(sums, &config, NULL, &result, NULL), SLC_OK);
    assert_int_equal(sums->short_tracks, 1);
    assert_int_equal(sums->tracks, all - 1);
    result.tracks.n_hits[0] = n;
    strict.size = 0;
    assert_int_equal(slc_velo_residuals_add(sums, &strict, NULL, &result, NULL), SLC_ERR_USAGE);
    free(sums);
}

int main(void)
{
    make_hits();
    run_chain();

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_are_those_of_fits_without_the_hit),
        cmocka_unit_test(equations_are_the_derivatives_of_chi2),
        cmocka_unit_test(common_shifts_cost_nothing),
        cmocka_unit_test(sums_by_sensor_and_chip_add_up),
        cmocka_unit_test(what_does_not_count_is_counted),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_velo_result_clear(&result);
    return failed;
}
