/* SPDX-License-Identifier: Apache-2.0
 * Particles, pairs and lines, on two tracks whose vertex, mass and flight are known, and on crowds. */
#include "support/cmocka_all.h"

#include "base/columns.h"
#include "hlt1/hlt1_secondaries.h"
#include "support/assert_ok.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

static slc_hlt1_fitted fitted;
static slc_velo_primaries primaries;
static slc_muon_ids muons;
static slc_hlt1_particles particles;
static slc_hlt1_secondaries secondaries;
static slc_velo_decisions decisions;
static slc_hlt1_secondaries_config config;
static slc_error error;

static void begin(void)
{
    const struct {
        const slc_schema *schema;
        void *collection;
    } all[] = {{&slc_hlt1_fitted_schema, &fitted},
               {&slc_velo_primaries_schema, &primaries},
               {&slc_muon_ids_schema, &muons},
               {&slc_hlt1_particles_schema, &particles},
               {&slc_hlt1_secondaries_schema, &secondaries},
               {&slc_velo_decisions_schema, &decisions}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ASSERT_OK(slc_columns_reserve(all[i].schema, all[i].collection, 2048, 8));
        slc_columns_reset(all[i].collection);
    }
    slc_hlt1_secondaries_config_default(&config);
}

/* A particle from a point, with errors of 0.02 mm and 1e-4, as its fit has it at z = 0. */
static void add_track(const double from[3], double px, double py, double pz, int charge)
{
    const size_t t = fitted.head.size++;
    const double tx = px / pz, ty = py / pz;
    for (size_t c = 0; c < slc_hlt1_fitted_schema.n_columns; c++) { /* covariances */
        const slc_column *column = &slc_hlt1_fitted_schema.columns[c];
        float *values;
        memcpy(&values, (const char *)&fitted + column->member, sizeof values);
        values[t] = 0;
    }
    fitted.x_mm[t] = (float)(from[0] - from[2] * tx);
    fitted.y_mm[t] = (float)(from[1] - from[2] * ty);
    fitted.tx[t] = (float)tx;
    fitted.ty[t] = (float)ty;
    fitted.q_over_p[t] = (float)(charge / sqrt(px * px + py * py + pz * pz));
    fitted.cov_xx[t] = fitted.cov_yy[t] = 4e-4f;
    fitted.cov_txtx[t] = fitted.cov_tyty[t] = 1e-8f;
    fitted.chi2[t] = 30;
    fitted.n_dof[t] = 30;
    muons.is_muon[muons.head.size] = 0;
    muons.head.size++;
}

static void add_vertex(double x, double y, double z)
{
    const size_t v = primaries.head.size++;
    primaries.x_mm[v] = (float)x;
    primaries.y_mm[v] = (float)y;
    primaries.z_mm[v] = (float)z;
    primaries.cov_xx_mm2[v] = primaries.cov_yy_mm2[v] = 1e-4f;
    primaries.cov_zz_mm2[v] = 4e-3f;
    primaries.cov_xy_mm2[v] = primaries.cov_xz_mm2[v] = primaries.cov_yz_mm2[v] = 0;
    primaries.chi2[v] = 1;
    primaries.n_tracks[v] = 30;
}

static bool run(const slc_hlt1_network *network)
{
    slc_columns_end_event(&fitted);
    slc_columns_end_event(&primaries);
    slc_columns_end_event(&muons);
    const slc_hlt1_found found = {&fitted, &primaries, &muons, fitted.head.n_events - 1};
    slc_hlt1_particles_run(&found, &particles);
    return slc_hlt1_secondaries_run(&config, network, &found, &particles, &secondaries);
}

/* B -> two pions of 20 GeV each side by side, 8 mm from the vertex; a prompt track does not pair. */
static void finds_a_decay(void **state)
{
    (void)state;
    const double origin[3] = {0, 0, -20}, decay[3] = {0.3, 0.2, -12};
    begin();
    add_vertex(0, 0, -20);
    add_vertex(0, 0, 60);
    add_track(decay, 2100, 300, 20000, 1);
    add_track(origin, 1000, -2000, 30000, -1);
    add_track(decay, -1300, 900, 20000, -1);
    assert_false(run(NULL));
    assert_int_equal(particles.head.size, 3);
    assert_int_equal(particles.vertex[0], 0);
    assert_true(particles.ip_mm[1] < 1e-4f && particles.ip_chi2[1] < 1e-3f);
    assert_true(particles.ip_mm[0] > 0.2f && particles.ip_chi2[0] > 50 && particles.track_mva[1] < 0);
    assert_true(fabsf(particles.pt_mev[0] - 2121.3f) < 1 && particles.charge[2] == -1);
    /* ip chi2 by hand: the residual at z of the vertex over 4e-4 + 1e-8 z² + 1e-4 in x and y alike */
    const double dz = -8, x = decay[0] + dz * 0.105, y = decay[1] + dz * 0.015;
    assert_true(fabs((double)particles.ip_chi2[0] / ((x * x + y * y) / (5e-4 + 1e-8 * 400)) - 1) < 1e-3);
    assert_int_equal(secondaries.head.size, 1);
    assert_true(secondaries.track_a[0] == 0 && secondaries.track_b[0] == 2 && secondaries.vertex[0] == 0);
    assert_true(secondaries.displaced[0] == 1 && secondaries.dimuon[0] == 0);
    assert_true(fabs((double)secondaries.x_mm[0] - 0.3) < 1e-3 &&
                fabs((double)secondaries.y_mm[0] - 0.2) < 1e-3);
    assert_true(fabs((double)secondaries.z_mm[0] + 12) < 1e-2 && secondaries.chi2[0] < 1e-3f);
    assert_true(secondaries.doca_mm[0] < 1e-3f && secondaries.charge[0] == 0 &&
                isnan(secondaries.network[0]));
    const double flight = sqrt(0.09 + 0.04 + 64), m = 139.57039;
    assert_true(fabs((double)secondaries.flight_mm[0] - flight) < 1e-2);
    const double e0 = sqrt(m * m + 2100 * 2100 + 300 * 300 + 4e8),
                 e1 = sqrt(m * m + 1300 * 1300 + 900 * 900 + 4e8);
    const double mass = sqrt((e0 + e1) * (e0 + e1) - 800 * 800 - 1200 * 1200 - 16e8);
    assert_true(fabs((double)secondaries.mass_mev[0] / mass - 1) < 1e-4);
    const double along = (800 * 0.3 + 1200 * 0.2 + 40000 * 8) / flight;
    const double across = sqrt(800 * 800 + 1200 * 1200 + 16e8 - along * along);
    assert_true(fabs((double)secondaries.mcor_mev[0] / (sqrt(mass * mass + across * across) + across) - 1) <
                1e-2);
    assert_true(fabs((double)secondaries.eta[0] - asinh(8 / hypot(0.3, 0.2))) < 1e-2);
    assert_true(secondaries.flight_chi2[0] > 100 && secondaries.pointing[0] > 0.999f);
}

/* The point's errors against the spread of points from smeared tracks. */
static void errors_of_the_point(void **state)
{
    (void)state;
    enum { N = 3000 };
    uint64_t seed = 1;
    double square[3] = {0}, chi2 = 0;
    for (int n = 0; n < N; n++) {
        const double decay[3] = {1, 0.5, 0};
        begin();
        add_vertex(0, 0, -40);
        add_track(decay, 3000, 300, 20000, 1);
        add_track(decay, -1300, 2900, 20000, -1);
        for (size_t t = 0; t < 2; t++) {
            fitted.x_mm[t] += (float)(0.02 * random_normal(&seed));
            fitted.y_mm[t] += (float)(0.02 * random_normal(&seed));
        }
        assert_false(run(NULL));
        assert_int_equal(secondaries.head.size, 1);
        const double pull[3] = {((double)secondaries.x_mm[0] - 1) / sqrt((double)secondaries.cov_xx_mm2[0]),
                                ((double)secondaries.y_mm[0] - 0.5) / sqrt((double)secondaries.cov_yy_mm2[0]),
                                (double)secondaries.z_mm[0] / sqrt((double)secondaries.cov_zz_mm2[0])};
        for (size_t i = 0; i < 3; i++) {
            square[i] += pull[i] * pull[i] / N;
        }
        chi2 += (double)secondaries.chi2[0] / N;
    }
    for (size_t i = 0; i < 3; i++) {
        assert_true(fabs(square[i] - 1) < 0.1);
    }
    assert_true(fabs(chi2 - 1) < 0.1);
}

static void crowds_have_an_end(void **state)
{
    (void)state;
    begin();
    add_vertex(0, 0, 0);
    for (int i = 0; i < 60; i++) {
        const double from[3] = {1, 1, 10};
        add_track(from, 1000 + 10 * i, 500 - 20 * i, 20000, i % 2 == 0 ? 1 : -1);
    }
    assert_true(run(NULL));
    assert_int_equal(secondaries.head.size, SLC_HLT1_MAX_SECONDARIES);
    slc_hlt1_lines lines = {.n_lines = 1,
                            .lines = {{.name = "none",
                                       .of = SLC_HLT1_OF_PAIR,
                                       .n_cuts = 1,
                                       .min_count = 1,
                                       .prescale = 1,
                                       .cuts = {{SLC_HLT1_OF_PAIR, 0, 1e6f, 1e7f}}}}};
    const slc_hlt1_found found = {&fitted, &primaries, &muons, 0};
    slc_hlt1_lines_run(&lines, &found, &particles, &secondaries, 0, true, &decisions);
    assert_true(decisions.lines[0] == 0 && decisions.limited[0] == 1);
}

/* Without a vertex, without a fit, without tracks. */
static void what_is_not_there(void **state)
{
    (void)state;
    const double from[3] = {1, 1, 10};
    begin();
    add_track(from, 1000, 500, 20000, 1);
    add_track(from, -1000, 500, 20000, -1);
    fitted.q_over_p[1] = NAN;
    fitted.n_dof[1] = 0;
    assert_false(run(NULL));
    assert_true(isinf(particles.ip_mm[0]) && particles.vertex[0] == SLC_VELO_NO_VERTEX &&
                isnan(particles.ip_mm[1]));
    assert_true(isnan(particles.p_mev[1]) && isnan(particles.charge[1]) && isnan(particles.track_mva[1]));
    assert_int_equal(secondaries.head.size, 0);
    assert_false(run(NULL));
    assert_int_equal(particles.head.n_events, 2);
    assert_int_equal(particles.head.size, 2);
}

static uint32_t quantity(slc_hlt1_object of, const char *name)
{
    for (uint32_t q = 0; slc_hlt1_quantity_name(of, q) != NULL; q++) {
        if (strcmp(slc_hlt1_quantity_name(of, q), name) == 0) {
            return q;
        }
    }
    fail_msg("no quantity %s", name);
    return 0;
}

static void lines_count_and_cut(void **state)
{
    (void)state;
    const double decay[3] = {0.3, 0.2, -12};
    begin();
    add_vertex(0, 0, -20);
    add_track(decay, 2100, 300, 20000, 1);
    add_track(decay, -1300, 900, 20000, -1);
    muons.is_muon[0] = 1;
    assert_false(run(NULL));
    slc_hlt1_lines lines = {.n_lines = 0};
    const struct {
        const char *name;
        slc_hlt1_object of;
        float low, high;
        uint32_t min_count;
        bool passes;
    } cases[] = {{"pt_mev", SLC_HLT1_OF_TRACK, 2000, 1e9f, 1, true},
                 {"pt_mev", SLC_HLT1_OF_TRACK, 2000, 1e9f, 2, false},
                 {"pt_mev", SLC_HLT1_OF_TRACK, 1500, 1e9f, 2, true},
                 {"is_muon", SLC_HLT1_OF_TRACK, 1, 1, 1, true},
                 {"is_muon", SLC_HLT1_OF_TRACK, 1, 1, 2, false},
                 {"muons", SLC_HLT1_OF_PAIR, 1, 1, 1, true},
                 {"displaced", SLC_HLT1_OF_PAIR, 1, 1, 1, true},
                 {"network", SLC_HLT1_OF_PAIR, -1e9f, 1e9f, 1, false},
                 {"vertex", SLC_HLT1_OF_PAIR, 0, 0, 1, true},
                 {"track_b", SLC_HLT1_OF_PAIR, 1, 1, 1, true},
                 {"event_tracks", SLC_HLT1_OF_EVENT, 2, 2, 0, true},
                 {"event_pairs", SLC_HLT1_OF_EVENT, 2, 9, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_hlt1_select_line *line = &lines.lines[lines.n_lines++];
        line->of = cases[i].of;
        line->n_cuts = 1;
        line->min_count = cases[i].min_count;
        line->prescale = 1;
        line->cuts[0] = (slc_hlt1_cut){cases[i].of, quantity(cases[i].of, cases[i].name), cases[i].low,
                                       cases[i].high};
    }
    const slc_hlt1_found found = {&fitted, &primaries, &muons, 0};
    slc_hlt1_lines_run(&lines, &found, &particles, &secondaries, 0, false, &decisions);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(decisions.lines[0] >> i & 1, cases[i].passes);
    }
    assert_null(slc_hlt1_quantity_name(SLC_HLT1_OF_EVENT, 99));
}

/* Of many events the fraction, the same ones each time, and others for another name. */
static void prescales_are_fractions(void **state)
{
    (void)state;
    enum { EVENTS = 20000 };
    slc_hlt1_lines lines = {
        .n_lines = 3,
        .lines = {{.name = "a", .prescale = 0.1}, {.name = "b", .prescale = 0.1}, {.name = "c"}}};
    uint32_t n[3] = {0}, both = 0;
    begin();
    assert_false(run(NULL));
    const slc_hlt1_found found = {&fitted, &primaries, &muons, 0};
    for (uint64_t e = 0; e < EVENTS; e++) {
        uint64_t bits[2];
        for (size_t k = 0; k < 2; k++) {
            slc_columns_reset(&decisions);
            slc_hlt1_lines_run(&lines, &found, &particles, &secondaries, slc_hlt1_event_key(7, e), false,
                               &decisions);
            bits[k] = decisions.lines[0];
        }
        assert_true(bits[0] == bits[1]);
        for (uint32_t k = 0; k < 3; k++) {
            n[k] += bits[0] >> k & 1;
        }
        both += (bits[0] & 3) == 3;
    }
    assert_true(n[0] > 1850 && n[0] < 2150 && n[1] > 1850 && n[1] < 2150 && n[2] == 0);
    assert_true(both > 140 && both < 260);
}

/* A network that sorts: its answer is that of the larger of two neighbours. */
static void network_sorts_neighbours(void **state)
{
    (void)state;
    static slc_hlt1_network n;
    memset(&n, 0, sizeof n);
    n.weight_0[0][0] = n.weight_0[1][1] = 1; /* nodes 0 and 1 are the first two inputs */
    n.weight_1[3][1] = 2;                    /* twice the larger one */
    n.weight_2[3] = 1;
    n.bias_2 = -1;
    const float a[4] = {3, 1, 5, 0}, b[4] = {1, 3, 0, 9};
    assert_true(fabsf(slc_hlt1_network_value(&n, a) - 1 / (1 + expf(-5))) < 1e-6f);
    assert_true(slc_hlt1_network_value(&n, a) == slc_hlt1_network_value(&n, b));
    n.slope = 0.5f;
    assert_true(fabsf(slc_hlt1_network_value(&n, a) - 1 / (1 + expf(-7))) < 1e-6f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_decay),
        cmocka_unit_test(errors_of_the_point),
        cmocka_unit_test(crowds_have_an_end),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(lines_count_and_cut),
        cmocka_unit_test(prescales_are_fractions),
        cmocka_unit_test(network_sorts_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
