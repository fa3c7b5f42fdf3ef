/* SPDX-License-Identifier: Apache-2.0
 * isMuon by its definition, in double precision and station by station; and the chi2 of one hit a station by
 * the covariance of all stations at once. */
#include "base/columns.h"
#include "muon/muon_identify.h"

#include "support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_HITS = 400, TRACKS = 60, EVENTS = 40 };
static const double station_z[SLC_MUON_STATIONS] = {15205, 16400, 17700, 18850};

static slc_muon_geometry geometry; /* of which windows alone are asked for */
static slc_muon_hits hits;
static slc_muon_ids ids;
static slc_muon_identifier *identifier;
static float state[6][TRACKS];

static int set_up(void **state_)
{
    (void)state_;
    uint64_t random = 5;
    for (size_t s = 0; s < SLC_MUON_STATIONS; s++) {
        for (size_t axis = 0; axis < 2; axis++) {
            for (size_t r = 0; r < SLC_MUON_REGIONS; r++) {
                geometry.field_of_interest[s][0][axis][r] = (float)(2 + 3 * random_unit(&random));
                geometry.field_of_interest[s][1][axis][r] = (float)(10 + 40 * random_unit(&random));
                geometry.field_of_interest[s][2][axis][r] = (float)(0.05 + 0.4 * random_unit(&random));
            }
        }
    }
    geometry.has_field_of_interest = true;
    identifier = slc_muon_identifier_open(&geometry, SLC_SIMD_AUTO);
    return identifier == NULL || slc_columns_reserve(&slc_muon_hits_schema, &hits, MAX_HITS, 1) != SLC_OK ||
           slc_columns_reserve(&slc_muon_ids_schema, &ids, TRACKS, 1) != SLC_OK;
}

static int tear_down(void **state_)
{
    (void)state_;
    slc_columns_clear(&slc_muon_hits_schema, &hits);
    slc_columns_clear(&slc_muon_ids_schema, &ids);
    slc_muon_identifier_close(identifier);
    return 0;
}

static void make_tracks(uint64_t *random)
{
    for (size_t t = 0; t < TRACKS; t++) {
        const double p = exp(log(1500) + random_unit(random) * log(40));
        state[0][t] = (float)(1000 * (random_unit(random) - 0.5));
        state[1][t] = (float)(1000 * (random_unit(random) - 0.5));
        state[2][t] = 9410;
        state[3][t] = (float)(0.4 * (random_unit(random) - 0.5));
        state[4][t] = (float)(0.4 * (random_unit(random) - 0.5));
        state[5][t] = (float)((random_unit(random) < 0.5 ? -1 : 1) / p);
    }
}

static slc_muon_states states(void)
{
    return (slc_muon_states){state[0], state[1], state[2], state[3], state[4], state[5], TRACKS};
}

static bool is_before(size_t a, size_t b)
{
    return hits.station[a] != hits.station[b] ? hits.station[a] < hits.station[b]
                                              : hits.region[a] < hits.region[b];
}

static void swap_hits(size_t a, size_t b)
{
    float *const columns[] = {hits.x_mm, hits.y_mm, hits.z_mm, hits.dx_mm, hits.dy_mm};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const float value = columns[c][a];
        columns[c][a] = columns[c][b];
        columns[c][b] = value;
    }
    const uint8_t station = hits.station[a], region = hits.region[a];
    hits.station[a] = hits.station[b];
    hits.region[a] = hits.region[b];
    hits.station[b] = station;
    hits.region[b] = region;
}

/* By station and region, as decoders leave them. */
static void add_hit(uint32_t station, uint32_t region, double x, double y)
{
    size_t row = hits.head.size++;
    const float dx[] = {3.2f, 6.3f, 12.5f, 25.0f}, dy[] = {15.6f, 31.2f, 62.5f, 125.0f};
    hits.x_mm[row] = (float)x;
    hits.y_mm[row] = (float)y;
    hits.z_mm[row] = (float)station_z[station] + (float)(row % 3) * 40 - 40;
    hits.dx_mm[row] = dx[region];
    hits.dy_mm[row] = dy[region];
    hits.station[row] = (uint8_t)station;
    hits.region[row] = (uint8_t)region;
    for (; row > 0 && is_before(row, row - 1); row--) {
        swap_hits(row, row - 1);
    }
}

/* About a track, or anywhere. */
static void hit_near(uint64_t *random, uint32_t station, size_t t, double width)
{
    const double dz = station_z[station] - (double)state[2][t];
    add_hit(station, random_below(random, 4),
            (double)(state[0][t]) + (double)state[3][t] * dz + width * random_normal(random),
            (double)state[1][t] + (double)state[4][t] * dz + width * random_normal(random));
}

/* ---- the definition ----------------------------------------------------------------------------- */

static bool in_window(size_t i, size_t t)
{
    const uint32_t s = hits.station[i], r = hits.region[i];
    const double p = 1e-3 / fabs((double)state[5][t]), dz = (double)hits.z_mm[i] - (double)state[2][t];
    double foi[2];
    for (int axis = 0; axis < 2; axis++) {
        foi[axis] = (double)geometry.field_of_interest[s][0][axis][r] +
                    (double)geometry.field_of_interest[s][1][axis][r] *
                        exp(-(double)geometry.field_of_interest[s][2][axis][r] * p);
    }
    return fabs((double)hits.x_mm[i] - ((double)state[0][t] + (double)state[3][t] * dz)) <
               1.2 * (double)hits.dx_mm[i] * foi[0] &&
           fabs((double)hits.y_mm[i] - ((double)state[1][t] + (double)state[4][t] * dz)) <
               1.2 * (double)hits.dy_mm[i] * foi[1];
}

static uint32_t stations_of(size_t t)
{
    uint32_t found = 0;
    for (size_t i = 0; i < hits.head.size; i++) {
        found |= in_window(i, t) ? 1U << hits.station[i] : 0;
    }
    return found;
}

/* Stations that a muon of the momentum must reach and that have no hit. */
static int missing(size_t t, uint32_t found)
{
    const double p = 1 / fabs((double)state[5][t]);
    const uint32_t expected = p < 3000 ? 0 : p < 6000 ? 3 : p < 10000 ? 7 : 15;
    return __builtin_popcount(expected & ~found);
}

static bool is_muon(size_t t, uint32_t found)
{
    const double p = 1 / fabs((double)state[5][t]);
    const uint32_t inner = found & 3, outer = found >> 2;
    return p > 3000 && inner == 3 && (p < 6000 || (p < 10000 ? outer != 0 : outer == 3));
}

static void is_what_is_defined(void **state_)
{
    (void)state_;
    uint64_t random = 11;
    size_t muons = 0, others = 0;
    for (int event = 0; event < EVENTS; event++) {
        slc_columns_reset(&hits);
        slc_columns_reset(&ids);
        make_tracks(&random);
        for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
            for (size_t t = 0; t < TRACKS; t++) {
                if (random_unit(&random) < 0.7) {
                    hit_near(&random, s, t, t % 4 == 0 ? 300 : 40);
                }
            }
        }
        const slc_muon_states in = states();
        slc_muon_identify(identifier, &hits, 0, hits.head.size, &in, &ids);
        assert_int_equal(ids.head.size, TRACKS);
        for (size_t t = 0; t < TRACKS; t++) {
            const uint32_t found = 1 / fabs((double)state[5][t]) >= 3000 ? stations_of(t) : 0;
            assert_int_equal(ids.stations[t], found);
            assert_int_equal(ids.is_muon[t], is_muon(t, found));
            assert_int_equal(ids.n_dof[t], 2 * (__builtin_popcount(found) + missing(t, found)));
            assert_true(ids.n_dof[t] > 0 ? ids.chi2[t] > 0 : ids.chi2[t] == 0);
            muons += ids.is_muon[t];
            others += !ids.is_muon[t];
        }
    }
    assert_true(muons > 200 && others > 200);
}

/* ---- the chi2 ------------------------------------------------------------------------------------ */

/* x' C^-1 x by Cholesky's method. */
static double chi2_of(double c[4][4], const double *x, size_t n)
{
    double l[4][4] = {{0}}, solved[4], sum = 0;
    for (size_t i = 0; i < n; i++) {
        double value = x[i];
        for (size_t k = 0; k <= i; k++) {
            double rest = c[i][k];
            for (size_t m = 0; m < k; m++) {
                rest -= l[i][m] * l[k][m];
            }
            l[i][k] = i == k ? sqrt(rest) : rest / l[k][k];
        }
        for (size_t k = 0; k < i; k++) {
            value -= l[i][k] * solved[k];
        }
        solved[i] = value / l[i][i];
        sum += solved[i] * solved[i];
    }
    return sum;
}

/* What scatterers do to the places in two stations, at a slope. */
static double covariance(double p, double slope, double z_a, double z_b)
{
    double left = p, sum = 1 + 1e-8 * (z_a - 9410) * (z_b - 9410);
    for (size_t k = 0; k < SLC_MUON_SCATTERERS; k++) {
        const double z = (double)slc_muon_scatterers[k].z_mm, loss = (double)slc_muon_scatterers[k].loss_mev;
        const double here = fmax(left - loss / 2, 800);
        const double sigma = 13.6 / here * sqrt((double)slc_muon_scatterers[k].radiation_lengths) *
                             (1 + slope * slope);
        left -= loss;
        if (z < z_a && z < z_b) {
            sum += sigma * sigma * (z_a - z) * (z_b - z);
        }
    }
    return sum;
}

static void chi2_is_that_of_all_stations(void **state_)
{
    (void)state_;
    uint64_t random = 17;
    double worst = 0;
    int compared = 0;
    for (int trial = 0; trial < 2000; trial++) {
        slc_columns_reset(&hits);
        slc_columns_reset(&ids);
        make_tracks(&random);
        state[3][0] = state[4][0] = 0; /* slopes do not change, so that one angle is the other */
        for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
            if (trial % 5 != (int)s) {
                hit_near(&random, s, 0, 15);
            }
        }
        slc_muon_states in = states();
        in.n = 1;
        slc_muon_identify(identifier, &hits, 0, hits.head.size, &in, &ids);
        const double p = 1 / fabs((double)state[5][0]);
        double expected = 0;
        size_t n = 0;
        for (int axis = 0; axis < 2; axis++) {
            double c[4][4], residual[4];
            size_t used[4];
            n = 0;
            for (size_t i = 0; i < hits.head.size; i++) {
                if (p >= 3000 && in_window(i, 0)) {
                    used[n++] = i;
                }
            }
            for (size_t i = 0; i < n; i++) {
                const double half = (double)(axis == 0 ? hits.dx_mm : hits.dy_mm)[used[i]];
                residual[i] = (double)(axis == 0 ? hits.x_mm : hits.y_mm)[used[i]] - (double)state[axis][0];
                for (size_t k = 0; k <= i; k++) {
                    c[i][k] = covariance(p, 0, (double)hits.z_mm[used[i]], (double)hits.z_mm[used[k]]) +
                              (i == k ? half * half / 3 : 0);
                }
            }
            expected += chi2_of(c, residual, n);
        }
        assert_int_equal(ids.n_dof[0], 2 * (n + (size_t)missing(0, stations_of(0))));
        expected += 20 * missing(0, stations_of(0));
        if (n > 0) {
            worst = fmax(worst, fabs((double)ids.chi2[0] - expected) / (expected + 1));
            compared++;
        }
    }
    assert_true(compared > 800);
    assert_true(worst < 2e-2); /* slopes that scattering has turned widen the next angles a little */
}

/* Hits of a track as a muon leaves them: chi2 per degree of freedom is one. */
static void the_best_hit_counts(void **state_)
{
    (void)state_;
    uint64_t random = 23;
    for (int trial = 0; trial < 200; trial++) {
        slc_columns_reset(&hits);
        slc_columns_reset(&ids);
        make_tracks(&random);
        state[5][0] = 1.0f / 20000;
        for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
            const double dz = station_z[s] - 9410;
            const double x = (double)state[0][0] + (double)state[3][0] * dz,
                         y = (double)state[1][0] + (double)state[4][0] * dz;
            add_hit(s, 3, x + 2, y + 2);
            if (trial % 2 == 1) { /* a worse one beside it */
                add_hit(s, 3, x + 30, y + 30);
            }
        }
        slc_muon_states in = states();
        in.n = 1;
        slc_muon_identify(identifier, &hits, 0, hits.head.size, &in, &ids);
        assert_int_equal(ids.stations[0], 15);
        assert_int_equal(ids.is_muon[0], 1);
        assert_true(ids.chi2[0] < 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_is_defined),
        cmocka_unit_test(chi2_is_that_of_all_stations),
        cmocka_unit_test(the_best_hit_counts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
