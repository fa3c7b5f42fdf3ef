/* SPDX-License-Identifier: Apache-2.0
 *
 * Efficiencies from counts: against an oracle that has all pairs in a matrix and divides until nothing
 * changes, with lengths by small steps; and against the known ones of generated data.
 */
#include "support/cmocka_all.h"
#include "support/pet_lines.h"
#include "support/pet_sim.h"

#include "base/splitmix.h"
#include "pet/pet_normalise_work.h"
#include "pet/pet_scanner.h"

#include <sluice/pet_normalise.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(slc_random_u64(state) >> 11) * 0x1p-53;
}

/* ---- the oracle -------------------------------------------------------------------------------- */

/* 72 crystals of 6 modules, which all see each other through a source in the middle. */
static slc_pet_geometry small(void)
{
    slc_pet_geometry g;
    slc_error error;
    assert_int_equal(slc_pet_scanner("channels=6,crystals=4x3,radius=40mm,pitch=4mm,depth=4mm", &g, &error),
                     SLC_OK);
    return g;
}

enum { SMALL = 72, STEPS = 4000 };

/* What is expected of each pair, by the header's words; 0 within `edge` of the source's edge. */
static void expect(const slc_pet_geometry *g, const slc_pet_cylinder *source, double edge,
                   double e[SMALL][SMALL])
{
    for (uint32_t a = 0; a < SMALL; a++) {
        for (uint32_t b = 0; b < SMALL; b++) {
            double p[3], q[3], u[3], v[3];
            slc_pet_crystal_position(g, a, p, u);
            slc_pet_crystal_position(g, b, q, v);
            const double d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
            const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            const double inside = a != b ? share_by_steps(source, p, d, STEPS) * length : 0;
            const double across = hypot(d[0], d[1]);
            const double s = fabs((p[0] - source->x_mm) * d[1] - (p[1] - source->y_mm) * d[0]) / across;
            const bool part = inside > 0 && s < source->radius_mm - edge &&
                              (source->inner_mm <= 0 || fabs(s - source->inner_mm) >= edge);
            const double cosine1 = (u[0] * d[0] + u[1] * d[1] + u[2] * d[2]) / length;
            const double cosine2 = -(v[0] * d[0] + v[1] * d[1] + v[2] * d[2]) / length;
            e[a][b] = part ? inside * exp(-source->mu_per_cm * inside / 10) * cosine1 * cosine2 / length /
                                 length
                           : 0;
        }
    }
}

/* The likelihood's maximum by small steps: no efficiency is changed by more than half of what it asks for. */
static void divide_until_it_rests(double e[SMALL][SMALL], const double fan[SMALL], double *efficiency)
{
    double most = 1;
    for (uint32_t a = 0; a < SMALL; a++) {
        efficiency[a] = fan[a] > 0;
    }
    for (int i = 0; i < 200000 && most > 1e-13; i++) {
        double next[SMALL];
        most = 0;
        for (uint32_t a = 0; a < SMALL; a++) {
            double sum = 0;
            for (uint32_t b = 0; b < SMALL; b++) {
                sum += e[a][b] * efficiency[b];
            }
            next[a] = fan[a] > 0 ? sqrt(efficiency[a] * fan[a] / sum) : 0;
            most = fan[a] > 0 ? fmax(most, fabs(next[a] / efficiency[a] - 1)) : most;
        }
        memcpy(efficiency, next, sizeof next);
    }
    double sum = 0, live = 0;
    for (uint32_t a = 0; a < SMALL; a++) {
        sum += efficiency[a];
        live += efficiency[a] > 0;
    }
    for (uint32_t a = 0; a < SMALL; a++) {
        efficiency[a] *= live / sum;
    }
}

static void put(slc_pet_coincidences *pairs, uint32_t a, uint32_t b, bool delayed, uint64_t times)
{
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, pairs, pairs->head.size + times, 0),
                     SLC_OK);
    for (uint64_t i = 0; i < times; i++) {
        const size_t r = pairs->head.size++;
        pairs->crystal1[r] = a;
        pairs->crystal2[r] = b;
        pairs->delayed[r] = delayed;
    }
}

typedef struct solved {
    float efficiency[SMALL], radial[64], axial[64];
    slc_pet_normalise_found found;
} solved;

static void solve(const slc_pet_normalise_config *config, const slc_pet_coincidences *pairs, solved *s)
{
    slc_pet_normalise *n;
    slc_error error;
    assert_int_equal(slc_pet_normalise_open(config, &n, &error), SLC_OK);
    assert_int_equal(slc_pet_normalise_add(n, pairs, &error), SLC_OK);
    assert_int_equal(slc_pet_normalise_solve(n, s->efficiency, &s->found, &error), SLC_OK);
    assert_true(s->found.n_radial <= 64 && s->found.n_axial <= 64);
    for (uint32_t i = 0; i < s->found.n_radial; i++) {
        s->radial[i] = s->found.radial[i];
    }
    for (uint32_t i = 0; i < s->found.n_axial; i++) {
        s->axial[i] = s->found.axial[i];
    }
    slc_pet_normalise_close(n);
}

/* Counts by chance around what is expected, delayeds among them, three dead crystals, and sources full,
 * shells, off the axis, short, and of water. */
static void efficiencies_are_the_oracles(void **state)
{
    (void)state;
    static const slc_pet_cylinder sources[] = {
        {.radius_mm = 30},
        {.radius_mm = 30, .inner_mm = 24, .length_mm = 40},
        {.radius_mm = 20, .x_mm = 8, .y_mm = -5, .length_mm = 9, .z_mm = 1},
        {.radius_mm = 25, .length_mm = 60, .mu_per_cm = 0.3},
    };
    static double e[SMALL][SMALL];
    const slc_pet_geometry g = small();
    assert_int_equal(slc_pet_crystals(&g), SMALL);
    for (size_t which = 0; which < sizeof sources / sizeof *sources; which++) {
        uint64_t random = 10 + which;
        slc_pet_normalise_config config;
        slc_pet_normalise_config_default(&config);
        config.geometry = g;
        config.source = sources[which];
        config.edge_mm = 2.9;
        expect(&g, &sources[which], config.edge_mm, e);
        double scale = 0, fan[SMALL] = {0}, wanted[SMALL], by_oracle[SMALL];
        slc_pet_coincidences pairs = {.head = {0}};
        for (uint32_t a = 0; a < SMALL; a++) {
            wanted[a] = a % 29 == 7 ? 0 : uniform(&random, 0.5, 1.5);
            for (uint32_t b = 0; b < a; b++) {
                scale += e[a][b];
            }
        }
        for (uint32_t a = 0; a < SMALL; a++) {
            for (uint32_t b = 0; b < a; b++) {
                const double mean = 4e6 / scale * e[a][b] * wanted[a] * wanted[b];
                const double counts = floor(mean + sqrt(mean) * uniform(&random, -1.7, 1.7) + 0.5);
                const uint64_t n = counts > 0 ? (uint64_t)counts : 0, delayed = n / 10;
                put(&pairs, a, b, false, n);
                put(&pairs, b, a, true, delayed);
                fan[a] += (double)(n - delayed);
                fan[b] += (double)(n - delayed);
            }
        }
        divide_until_it_rests(e, fan, by_oracle);
        solved s;
        solve(&config, &pairs, &s);
        double off = 0;
        for (uint32_t a = 0; a < SMALL; a++) {
            assert_true((s.efficiency[a] == 0) == (wanted[a] == 0));
            const double error = fan[a] > 0 ? by_oracle[a] / sqrt(fan[a]) : 1;
            off = fmax(off, fabs((double)s.efficiency[a] - by_oracle[a]) / error);
        }
        print_message("source %zu: off by %.3f of a crystal's error, %u passes, spread %.3f, chance %.4f\n",
                      which, off, s.found.passes, s.found.spread, s.found.error);
        assert_true(off < 0.25); /* 0.1 by the rule of its end, and what steps in place of lengths are off */
        assert_true(s.found.converged && s.found.outside == 0);
        assert_int_equal(s.found.dead, 3);
        assert_int_equal(s.found.prompts, pairs.head.size - s.found.delayeds);
        slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    }
}

/* ---- geometric factors ------------------------------------------------------------------------- */

static double true_radial(double s)
{
    return 1 + 0.3 * cos(s / 4);
}

static double true_axial(double z)
{
    return z > 6 ? 0.7 : z > 2 ? 0.9 : 1;
}

/* Counts that are what is expected, with factors that change with the distance from the axis and along it. */
static void geometric_factors_are_found(void **state)
{
    (void)state;
    static double e[SMALL][SMALL];
    const slc_pet_geometry g = small();
    slc_pet_normalise_config config;
    slc_pet_normalise_config_default(&config);
    config.geometry = g;
    config.source = (slc_pet_cylinder){.radius_mm = 30};
    config.edge_mm = 2.9;
    config.geometric = true;
    expect(&g, &config.source, config.edge_mm, e);
    double scale = 0, wanted[SMALL], sum = 0;
    uint64_t random = 4;
    const double bin_mm = 6.283185307179586 * g.radius_mm / 24 / 2;
    for (uint32_t a = 0; a < SMALL; a++) {
        wanted[a] = uniform(&random, 0.7, 1.3);
        sum += wanted[a];
        for (uint32_t b = 0; b < a; b++) {
            scale += e[a][b];
        }
    }
    slc_pet_coincidences pairs = {.head = {0}};
    for (uint32_t a = 0; a < SMALL; a++) {
        for (uint32_t b = 0; b < a; b++) {
            double p[3], q[3], u[3];
            slc_pet_crystal_position(&g, a, p, u);
            slc_pet_crystal_position(&g, b, q, u);
            const double s = fabs(p[0] * (q[1] - p[1]) - p[1] * (q[0] - p[0])) /
                             hypot(q[0] - p[0], q[1] - p[1]);
            const double factor = true_radial((floor(s / bin_mm) + 0.5) * bin_mm) *
                                  true_axial(fabs(q[2] - p[2]));
            const double mean = e[a][b] > 0 ? 2e7 / scale * e[a][b] * wanted[a] * wanted[b] * factor : 0;
            put(&pairs, a, b, false, (uint64_t)(mean + 0.5));
        }
    }
    solved s;
    solve(&config, &pairs, &s);
    assert_true(s.found.converged);
    assert_true(fabs(s.found.radial_mm - bin_mm) < 1e-9 && s.found.axial_mm == 4);
    assert_int_equal(s.found.n_axial, 3);
    for (uint32_t a = 0; a < SMALL; a++) {
        assert_true(fabs((double)s.efficiency[a] * sum / SMALL / wanted[a] - 1) < 0.003);
    }
    for (uint32_t z = 1; z < 3; z++) {
        const double ratio = (double)s.axial[z] / (double)s.axial[0];
        print_message("axial %u: %.4f of %.1f\n", z, ratio, true_axial(4 * z));
        assert_true(fabs(ratio / true_axial(4 * z) - 1) < 0.003);
    }
    for (uint32_t r = 1; r < (uint32_t)(27 / bin_mm); r++) {
        const double ratio = (double)s.radial[r] / (double)s.radial[0];
        assert_true(fabs(ratio * true_radial(bin_mm / 2) / true_radial((r + 0.5) * bin_mm) - 1) < 0.003);
    }
    /* Blocks and places: means of efficiencies. */
    assert_int_equal(s.found.n_blocks, 6);
    assert_int_equal(s.found.n_places, 12);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* ---- generated data ---------------------------------------------------------------------------- */

/* True pairs of generated singles: both photons of an annihilation. */
static void pairs_of(slc_sim_pet *sim, double seconds, slc_pet_coincidences *pairs)
{
    enum { WAIT = 1 << 16 };
    static uint64_t event[WAIT];
    static uint32_t crystal[WAIT];
    slc_pet_singles singles = {.head = {0}};
    slc_sim_pet_truth truth = {.head = {0}};
    slc_error error;
    assert_int_equal(slc_sim_pet_next_singles(sim, seconds, &singles, &truth, &error), SLC_OK);
    memset(event, 0xff, sizeof event);
    pairs->head.size = 0;
    for (size_t i = 0; i < singles.head.size; i++) {
        const size_t at = (truth.event[i] ^ truth.event[i] >> 32) % WAIT;
        if (event[at] == truth.event[i]) {
            put(pairs, crystal[at], truth.crystal[i], false, 1);
        }
        event[at] = truth.event[i];
        crystal[at] = truth.crystal[i];
    }
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_columns_clear(&slc_sim_pet_truth_schema, &truth);
}

static slc_sim_pet_config generated(void)
{
    slc_sim_pet_config config;
    slc_error error;
    slc_sim_pet_config_default(&config);
    assert_int_equal(slc_pet_scanner("channels=12,blocks=1x2,crystals=8x6,radius=60mm,pitch=4mm,depth=10mm",
                                     &config.geometry, &error),
                     SLC_OK);
    config.n_sources = 1;
    config.source[0] = (slc_sim_pet_source){.radius_mm = 35, .length_mm = 70, .activity_bq = 2e7};
    config.efficiency = 0.6;
    config.efficiency_spread = 0.15;
    config.dead_time_ns = config.scatter_fraction = config.lso_hz = config.threshold_kev = 0;
    return config;
}

/* What is off may be what chance makes of so many counts and a quarter of a percent: 1.5 % at 1e8 pairs of
 * mouse20, of which chance alone is 0.8 (tools/pet-normalise.sh). */
static double rms_bound(double chance)
{
    return sqrt(1.2 * chance * chance + 0.0025 * 0.0025);
}

static void efficiencies_are_those_of_the_generator(void **state)
{
    (void)state;
    slc_sim_pet_config config = generated();
    slc_pet_normalise_config how;
    slc_pet_normalise_config_default(&how);
    how.geometry = config.geometry;
    how.source = (slc_pet_cylinder){.radius_mm = 35, .length_mm = 70};
    how.exec.threads = 2;
    slc_sim_pet *sim;
    slc_pet_normalise *n;
    slc_error error;
    assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_OK);
    assert_int_equal(slc_pet_normalise_open(&how, &n, &error), SLC_OK);
    slc_pet_coincidences pairs = {.head = {0}};
    for (int i = 0; i < 10; i++) {
        pairs_of(sim, 0.05, &pairs);
        assert_int_equal(slc_pet_normalise_add(n, &pairs, &error), SLC_OK);
    }
    const uint32_t crystals = slc_pet_crystals(&config.geometry);
    float *efficiency = malloc(crystals * sizeof *efficiency);
    assert_non_null(efficiency);
    slc_pet_normalise_found found;
    assert_int_equal(slc_pet_normalise_solve(n, efficiency, &found, &error), SLC_OK);
    const float *truth = slc_sim_pet_tables(sim)->efficiency;
    double squares = 0, ring[12] = {0};
    for (uint32_t i = 0; i < crystals; i++) {
        const double off = (double)efficiency[i] / (double)truth[i] - 1;
        squares += off * off;
        ring[i / 96] += off / 96;
    }
    const double rms = sqrt(squares / crystals);
    print_message("%llu pairs, %llu outside: rms %.4f, of which chance %.4f; spread %.4f; %u passes\n",
                  (unsigned long long)found.prompts, (unsigned long long)found.outside, rms, found.error,
                  found.spread, found.passes);
    assert_true(found.converged && found.dead == 0 && found.unseen == 0);
    assert_true(rms < rms_bound(found.error));
    /* No slope along the axis: of a ring, where chance is a tenth of that. */
    for (int i = 0; i < 12; i++) {
        assert_true(fabs(ring[i]) < 4 * found.error / sqrt(96) + 0.0025);
    }
    /* And without the source's expectation, plain fan sums would be off: rings at the ends have few. */
    slc_pet_normalise_close(n);
    slc_sim_pet_close(sim);
    free(efficiency);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* Whether what is expected stands in a table, or is computed for each pair, as with a source that is not
 * quite in the middle. */
static void tables_are_as_pairs(void **state)
{
    (void)state;
    slc_sim_pet_config config = generated();
    slc_sim_pet *sim;
    slc_error error;
    assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_OK);
    slc_pet_coincidences pairs = {.head = {0}};
    pairs_of(sim, 0.02, &pairs);
    const uint32_t crystals = slc_pet_crystals(&config.geometry);
    float *efficiency[2];
    slc_pet_normalise_found found[2];
    for (int i = 0; i < 2; i++) {
        slc_pet_normalise_config how;
        slc_pet_normalise *n;
        slc_pet_normalise_config_default(&how);
        how.geometry = config.geometry;
        how.source = (slc_pet_cylinder){.radius_mm = 35, .length_mm = 70, .x_mm = i * 1e-7};
        how.edge_mm = 3.9;
        how.ring_difference = 7;
        how.geometric = true;
        efficiency[i] = malloc(crystals * sizeof **efficiency);
        assert_non_null(efficiency[i]);
        assert_int_equal(slc_pet_normalise_open(&how, &n, &error), SLC_OK);
        assert_true((n->table != NULL) == (i == 0));
        assert_int_equal(slc_pet_normalise_add(n, &pairs, &error), SLC_OK);
        assert_int_equal(slc_pet_normalise_solve(n, efficiency[i], &found[i], &error), SLC_OK);
        slc_pet_normalise_close(n);
    }
    assert_int_equal(found[0].prompts, found[1].prompts);
    assert_int_equal(found[0].outside, found[1].outside);
    for (uint32_t i = 0; i < crystals; i++) {
        assert_true(fabsf(efficiency[0][i] - efficiency[1][i]) < 1e-4F);
    }
    free(efficiency[0]);
    free(efficiency[1]);
    slc_sim_pet_close(sim);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

static void the_same_by_any_threads_and_batches(void **state)
{
    (void)state;
    slc_sim_pet_config config = generated();
    slc_sim_pet *sim;
    slc_error error;
    assert_int_equal(slc_sim_pet_open(&config, &sim, &error), SLC_OK);
    slc_pet_coincidences pairs = {.head = {0}};
    pairs_of(sim, 0.02, &pairs);
    const uint32_t crystals = slc_pet_crystals(&config.geometry);
    float *efficiency[2];
    for (int i = 0; i < 2; i++) {
        slc_pet_normalise_config how;
        slc_pet_normalise *n;
        slc_pet_normalise_found found;
        slc_pet_normalise_config_default(&how);
        how.geometry = config.geometry;
        how.source = (slc_pet_cylinder){.radius_mm = 35, .length_mm = 70};
        how.geometric = true;
        how.exec.threads = i == 0 ? 1 : 3;
        efficiency[i] = malloc(crystals * sizeof **efficiency);
        assert_non_null(efficiency[i]);
        assert_int_equal(slc_pet_normalise_open(&how, &n, &error), SLC_OK);
        for (size_t at = 0, step = i == 0 ? pairs.head.size : 1000; at < pairs.head.size; at += step) {
            slc_pet_coincidences part = {.crystal1 = pairs.crystal1 + at,
                                         .crystal2 = pairs.crystal2 + at,
                                         .delayed = pairs.delayed + at};
            part.head.size = pairs.head.size - at < step ? pairs.head.size - at : step;
            assert_int_equal(slc_pet_normalise_add(n, &part, &error), SLC_OK);
        }
        assert_int_equal(slc_pet_normalise_solve(n, efficiency[i], &found, &error), SLC_OK);
        /* Solving twice is solving once. */
        assert_int_equal(slc_pet_normalise_solve(n, efficiency[i], &found, &error), SLC_OK);
        slc_pet_normalise_close(n);
    }
    assert_memory_equal(efficiency[0], efficiency[1], crystals * sizeof **efficiency);
    free(efficiency[0]);
    free(efficiency[1]);
    slc_sim_pet_close(sim);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* ---- what is wrong ----------------------------------------------------------------------------- */

static void wrong_sources_are_refused(void **state)
{
    (void)state;
    static const struct {
        slc_pet_cylinder source;
        const char *text;
    } cases[] = {
        {{.radius_mm = 0}, "source: a cylinder of radius 0 mm (inner 0), length 0 mm, attenuation 0 / cm"},
        {{.radius_mm = 50}, "source: reaches 50 mm from the axis, and the scanner's radius is 40 mm"},
        {{.radius_mm = 30, .x_mm = 12}, "source: reaches 42 mm from the axis"},
        {{.radius_mm = 5},
         "source: pairs within 10.472 mm of its edge are left out, and radius 5 mm, inner 0 mm "
         "leave none"},
    };
    slc_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_pet_normalise_config config;
        slc_pet_normalise *n;
        slc_pet_normalise_config_default(&config);
        config.geometry = small();
        config.source = cases[i].source;
        assert_int_equal(slc_pet_normalise_open(&config, &n, &error), SLC_ERR_USAGE);
        assert_null(n);
        if (strncmp(error.text, cases[i].text, strlen(cases[i].text)) != 0) {
            fail_msg("%s", error.text);
        }
    }
}

static void crystals_that_are_not_seen_are_told(void **state)
{
    (void)state;
    slc_pet_normalise_config config;
    slc_pet_normalise *n;
    slc_pet_normalise_found found;
    slc_error error;
    float efficiency[SMALL];
    slc_pet_normalise_config_default(&config);
    config.geometry = small();
    /* Of three rings, the source is in the first alone, and so are the pairs that are allowed. */
    config.source = (slc_pet_cylinder){.radius_mm = 30, .z_mm = -4, .length_mm = 2};
    config.ring_difference = 0;
    assert_int_equal(slc_pet_normalise_open(&config, &n, &error), SLC_OK);
    slc_pet_coincidences pairs = {.head = {0}};
    assert_int_equal(slc_pet_normalise_solve(n, efficiency, &found, &error), SLC_ERR_FORMAT);
    for (uint32_t a = 0; a < 12; a++) {
        put(&pairs, a, a + 12, false, 1000);
        put(&pairs, a, (a + 11) % 24, false, 1000);
    }
    put(&pairs, 24, 36, false, 10); /* not in the source */
    assert_int_equal(slc_pet_normalise_add(n, &pairs, &error), SLC_OK);
    assert_int_equal(slc_pet_normalise_solve(n, efficiency, &found, &error), SLC_OK);
    assert_int_equal(found.unseen, 48);
    assert_int_equal(found.outside, 10);
    assert_true(efficiency[24] == 0 && efficiency[71] == 0 && efficiency[0] > 0);
    pairs.head.size = 0;
    put(&pairs, 0, SMALL, false, 1);
    assert_int_equal(slc_pet_normalise_add(n, &pairs, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "pair 0 of crystals 0 and 72; the scanner has 72");
    slc_pet_normalise_close(n);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efficiencies_are_the_oracles),
        cmocka_unit_test(geometric_factors_are_found),
        cmocka_unit_test(efficiencies_are_those_of_the_generator),
        cmocka_unit_test(tables_are_as_pairs),
        cmocka_unit_test(the_same_by_any_threads_and_batches),
        cmocka_unit_test(wrong_sources_are_refused),
        cmocka_unit_test(crystals_that_are_not_seen_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
