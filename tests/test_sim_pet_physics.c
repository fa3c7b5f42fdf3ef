/* SPDX-License-Identifier: Apache-2.0
 *
 * The physics of generated PET data against what can be computed: how many photons meet the scanner, where
 * annihilations were, energies and times with their widths, what threshold and dead time take away, the
 * background of LSO.
 */
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "sim/sim_pet_event.h"
#include "support/cmocka_all.h"
#include "support/near.h"
#include "support/pet_sim.h"

#include <math.h>
#include <stdlib.h>

static const double electron = 510.99895;

/* Everything is seen: no threshold, no dead time. */
static slc_sim_pet_config open_config(void)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.threshold_kev = 0;
    config.dead_time_ns = 0;
    config.seed = 3;
    return config;
}

/* ---- where ----------------------------------------------------------------------------------------- */

/* Of photons of a point in the middle, those go by a cylinder of half length h and radius r that are less
 * steep than h / sqrt(h² + r²). */
static void photons_by_solid_angle(void **state)
{
    (void)state;
    const double scatter[] = {0, 0.3}; /* which turns photons in as it turns them out */
    for (size_t i = 0; i < 2; i++) {
        slc_sim_pet_config config = open_config();
        config.source[0].activity_bq = 4e6;
        config.scatter_fraction = scatter[i];
        pet_made made;
        pet_make(&made, &config, 0.2);
        const double h = 0.5 * 26 * 1.6, r = 75 + 6.5;
        const double wanted = 4e6 * 0.2 * 2 * 0.5 * h / sqrt(h * h + r * r);
        assert_near((double)made.n, wanted, 4 * sqrt(1.5 * wanted)); /* some come in pairs */
        pet_clear(&made);
    }
}

typedef struct pair {
    size_t first, second; /* rows */
} pair;

static const slc_sim_pet_truth *sorted_truth;

static int by_event(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (sorted_truth->event[x] != sorted_truth->event[y]) {
        return sorted_truth->event[x] < sorted_truth->event[y] ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

/* Rows that are the two photons of one annihilation. */
static size_t find_pairs(const pet_made *made, pair *pairs)
{
    size_t *row = malloc(made->n * sizeof *row), n = 0;
    assert_non_null(row);
    for (size_t i = 0; i < made->n; i++) {
        row[i] = i;
    }
    sorted_truth = &made->truth;
    qsort(row, made->n, sizeof *row, by_event);
    for (size_t i = 1; i < made->n; i++) {
        if (made->truth.event[row[i - 1]] == made->truth.event[row[i]]) {
            pairs[n++] = (pair){row[i - 1], row[i]};
        }
    }
    free(row);
    return n;
}

/* Where two photons come from: between their crystals, as the difference of their times says. */
static void origin_of(const pet_made *made, pair p, double origin[3])
{
    double a[3], b[3], direction[3], length = 0;
    const slc_pet_geometry *g = &made->config.geometry;
    slc_pet_crystal_position(g, made->truth.crystal[p.first], a, direction);
    slc_pet_crystal_position(g, made->truth.crystal[p.second], b, direction);
    for (int i = 0; i < 3; i++) {
        length += (b[i] - a[i]) * (b[i] - a[i]);
    }
    const double dt = (double)(made->truth.time_ps[p.first] - made->truth.time_ps[p.second]);
    const double part = 0.5 + 0.5 * 0.299792458 * dt / sqrt(length);
    for (int i = 0; i < 3; i++) {
        origin[i] = a[i] + part * (b[i] - a[i]);
    }
}

static void pairs_come_from_the_source(void **state)
{
    (void)state;
    slc_sim_pet_config config = open_config();
    config.scatter_fraction = 0;
    config.efficiency = 1;
    config.source[0] = (slc_sim_pet_source){20, -10, 4, 8, 10, 4e6};
    pet_made made;
    pet_make(&made, &config, 0.1);
    pair *pairs = malloc(made.n * sizeof *pairs);
    assert_non_null(pairs);
    const size_t n = find_pairs(&made, pairs);
    assert_true(n > 50000);
    double sum[3] = {0}, squares[3] = {0};
    for (size_t i = 0; i < n; i++) {
        double o[3];
        origin_of(&made, pairs[i], o);
        const double d[3] = {o[0] - 20, o[1] + 10, o[2] - 4};
        /* half a crystal along, half one around, and a picosecond */
        assert_true(sqrt(d[0] * d[0] + d[1] * d[1]) < 8 + 0.9);
        assert_true(fabs(d[2]) < 5 + 1);
        for (int k = 0; k < 3; k++) {
            sum[k] += d[k];
            squares[k] += d[k] * d[k];
        }
    }
    assert_near(sum[0] / (double)n, 0, 4 * 4 / sqrt((double)n) + 0.1); /* nearer to one side of the ring */
    assert_near(sum[1] / (double)n, 0, 4 * 4 / sqrt((double)n) + 0.1);
    assert_near(squares[0] / (double)n, 8.0 * 8 / 4, 0.5);
    assert_near(squares[1] / (double)n, 8.0 * 8 / 4, 0.5);
    /* Along the axis the middle is seen better, by the solid angle. */
    assert_true(sum[2] / (double)n < 0 && sum[2] / (double)n > -1);
    assert_near(squares[2] / (double)n, 10.0 * 10 / 12, 0.8);
    free(pairs);
    pet_clear(&made);
}

static void scattered_photons_miss_the_source(void **state)
{
    (void)state;
    slc_sim_pet_config config = open_config();
    pet_made made;
    pet_make(&made, &config, 0.5);
    pair *pairs = malloc(made.n * sizeof *pairs);
    assert_non_null(pairs);
    const size_t n = find_pairs(&made, pairs);
    size_t opposite = 0, clean = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = made.truth.crystal[pairs[i].first] % 520;
        const uint32_t b = made.truth.crystal[pairs[i].second] % 520;
        const bool straight = (a > b ? a - b : b - a) == 260;
        if (made.truth.scattered[pairs[i].first] + made.truth.scattered[pairs[i].second] == 0) {
            assert_true(straight);
            clean++;
        } else {
            opposite += straight;
        }
    }
    assert_true(clean > 10000 && n - clean > 1000);
    assert_true((double)opposite < 0.05 * (double)(n - clean));
    free(pairs);
    pet_clear(&made);
}

/* ---- energy, and what the threshold takes ---------------------------------------------------------- */

/* The density of Klein and Nishina in the cosine, not normalised. */
static double klein_nishina(double cosine)
{
    const double p = 1 / (2 - cosine);
    return p * p * (p + 1 / p - 1 + cosine * cosine);
}

static double width_of(const slc_sim_pet_config *config, double energy)
{
    return config->energy_resolution * 511 / 2.3548200450309493 * sqrt(energy / 511);
}

/* The share of scattered photons that are seen below a threshold; their mean energy. */
static double scattered_below(const slc_sim_pet_config *config, double threshold, double *mean)
{
    double all = 0, below = 0, energy_sum = 0;
    for (int i = 0; i < 20000; i++) {
        const double cosine = -1 + (i + 0.5) / 10000, w = klein_nishina(cosine);
        const double energy = electron / (2 - cosine);
        all += w;
        energy_sum += w * energy;
        below += w * 0.5 * erfc((energy - threshold) / (sqrt(2) * width_of(config, energy)));
    }
    *mean = energy_sum / all;
    return below / all;
}

static void energies_are_those_of_compton(void **state)
{
    (void)state;
    const slc_sim_pet_config config = open_config();
    pet_made made;
    pet_make(&made, &config, 1);
    pet_convert(&made);
    double n[2] = {0}, sum[2] = {0}, squares[2] = {0}, mean;
    for (size_t i = 0; i < made.n; i++) {
        const double e = (double)made.singles.energy_kev[i];
        const int kind = made.truth.scattered[i];
        n[kind]++;
        sum[kind] += e;
        squares[kind] += e * e;
    }
    const double width = width_of(&config, electron), mean0 = sum[0] / n[0];
    assert_near(n[1] / (n[0] + n[1]), 0.2, 4 * sqrt(0.2 * 0.8 / (n[0] + n[1])));
    assert_near(mean0, electron, 4 * width / sqrt(n[0]));
    assert_near(sqrt(squares[0] / n[0] - mean0 * mean0), width, 4 * width / sqrt(2 * n[0]));
    (void)scattered_below(&config, 0, &mean);
    assert_near(sum[1] / n[1], mean, 4 * 110 / sqrt(n[1]));
    pet_clear(&made);
}

static void threshold_takes_what_is_computed(void **state)
{
    (void)state;
    const double thresholds[] = {250, 425, 500};
    for (size_t i = 0; i < 3; i++) {
        slc_sim_pet_config config = open_config();
        config.threshold_kev = thresholds[i];
        config.source[0].activity_bq = 2e6;
        pet_made made;
        pet_make(&made, &config, 0.5);
        double mean;
        const double width = width_of(&config, electron);
        const double clean = 0.5 * erfc((electron - thresholds[i]) / (sqrt(2) * width));
        const double below = 0.8 * clean + 0.2 * scattered_below(&config, thresholds[i], &mean);
        const double photons = (double)made.counts.photons;
        print_message("below %g keV: %.5f, computed %.5f\n", thresholds[i],
                      (double)made.counts.below / photons, below);
        assert_near((double)made.counts.below / photons, below, 4 * sqrt(below * (1 - below) / photons));
        pet_clear(&made);
    }
}

/* The stage that converts keeps what is in its energy window: of the unscattered an area of a normal
 * distribution, of the scattered that of the smeared spectrum. */
static void window_keeps_what_is_computed(void **state)
{
    (void)state;
    slc_sim_pet_config config = open_config();
    config.source[0].activity_bq = 2e6;
    pet_made made;
    pet_make(&made, &config, 0.5);
    slc_pet_convert_config window = config.clock;
    window.low_kev = 425;
    window.high_kev = 550;
    slc_pet_convert *stage;
    slc_pet_convert_counts counts;
    slc_error error;
    assert_int_equal(slc_pet_convert_open(&window, slc_sim_pet_tables(made.sim), &stage, &error), SLC_OK);
    assert_int_equal(
        slc_pet_convert_run(stage, made.frames, NULL, made.n, false, &made.singles, NULL, &error), SLC_OK);
    slc_pet_convert_counts_of(stage, &counts);
    slc_pet_convert_close(stage);
    double mean;
    const double width = sqrt(2) * width_of(&config, electron), n = (double)made.n;
    const double low = 0.8 * 0.5 * erfc((electron - 425) / width) +
                       0.2 * scattered_below(&config, 425, &mean);
    const double high = 0.8 * 0.5 * erfc((electron - 550) / width) +
                        0.2 * scattered_below(&config, 550, &mean);
    print_message("in 425 to 550 keV: %.5f, computed %.5f\n", (double)counts.singles / n, high - low);
    assert_near((double)counts.singles / n, high - low, 4 * sqrt((high - low) * (1 - high + low) / n));
    assert_near((double)counts.below / n, low, 4 * sqrt(low * (1 - low) / n));
    assert_true(counts.singles + counts.below + counts.above == made.n);
    pet_clear(&made);
}

/* ---- rate and dead time ---------------------------------------------------------------------------- */

static void singles_come_at_the_rate(void **state)
{
    (void)state;
    slc_sim_pet_config config = open_config();
    config.threshold_kev = 350;
    config.lso_hz = 40;
    config.singles_hz = 3e6;
    pet_made made;
    pet_make(&made, &config, 0.3);
    assert_near((double)made.n, 9e5, 0.005 * 9e5);
    assert_true(slc_sim_pet_activity(made.sim) > 3e6);
    pet_clear(&made);
}

/* A block of true rate n with a dead time t after each single that it takes sees n / (1 + n · t). */
static void dead_time_takes_what_is_computed(void **state)
{
    (void)state;
    const double dead_ns[] = {200, 2000, 10000};
    for (size_t i = 0; i < 3; i++) {
        slc_sim_pet_config config = open_config();
        config.singles_hz = 8e6; /* 100 kHz for each of the 80 blocks, which are all alike */
        config.dead_time_ns = dead_ns[i];
        pet_made made;
        pet_make(&made, &config, 0.1);
        const double seen = (double)(made.counts.frames + made.counts.dead),
                     load = seen / 0.1 / 80 * dead_ns[i] * 1e-9;
        const double wanted = 1 / (1 + load), kept = (double)made.counts.frames / seen;
        print_message("dead time %g ns: %.5f kept, computed %.5f\n", dead_ns[i], kept, wanted);
        assert_near(kept, wanted, 0.003 * wanted);
        int64_t last[SLC_PET_MAX_MODULES][SLC_PET_MAX_UNITS] = {{0}};
        for (size_t k = 0; k < made.n; k++) {
            const slc_pet_frame *frame = &made.frames[k];
            int64_t *at = &last[frame->module][frame->head_unit & 15];
            const int64_t time = (int64_t)pet_ticks(frame);
            assert_true(*at == 0 || time - *at >= (int64_t)(dead_ns[i] * 1000));
            *at = time;
        }
        pet_clear(&made);
    }
}

/* ---- background ------------------------------------------------------------------------------------ */

static double mean_of_beta(void)
{
    double all = 0, sum = 0;
    for (int i = 0; i < 59300; i++) {
        const double t = (i + 0.5) / 100, q = 593 - t;
        const double w = sqrt(t * t + 2 * t * electron) * (t + electron) * q * q;
        all += w;
        sum += w * t;
    }
    return sum / all;
}

static void background_is_that_of_lso(void **state)
{
    (void)state;
    slc_sim_pet_config config = open_config();
    config.n_sources = 0;
    config.lso_hz = 500;
    pet_made made;
    pet_make(&made, &config, 0.1);
    pet_convert(&made);
    const double n = (double)made.n, wanted = 13520 * 500 * 0.1;
    assert_near(n, wanted, 4 * sqrt(wanted));
    double sum = 0;
    enum { BINS = 10000 };
    uint32_t count[BINS] = {0};
    for (size_t i = 0; i < made.n; i++) {
        assert_true(made.truth.event[i] == UINT64_MAX);
        sum += (double)made.singles.energy_kev[i];
        count[(size_t)(made.truth.time_ps[i] / (INT64_C(100000000000) / BINS)) % BINS]++;
    }
    const double gammas = 307 * 0.94 * 0.5 + 202 * 0.78 * 0.6 + 88 * 0.15 * 0.9;
    assert_near(sum / n, mean_of_beta() + gammas, 4 * 230 / sqrt(n));
    /* Decays know nothing of each other: counts in bins of time have their mean as variance. */
    double variance = 0;
    for (size_t i = 0; i < BINS; i++) {
        variance += (count[i] - n / BINS) * (count[i] - n / BINS) / BINS;
    }
    assert_near(variance / (n / BINS), 1, 4 * sqrt(2.0 / BINS));
    pet_clear(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(photons_by_solid_angle),
        cmocka_unit_test(pairs_come_from_the_source),
        cmocka_unit_test(scattered_photons_miss_the_source),
        cmocka_unit_test(energies_are_those_of_compton),
        cmocka_unit_test(threshold_takes_what_is_computed),
        cmocka_unit_test(window_keeps_what_is_computed),
        cmocka_unit_test(singles_come_at_the_rate),
        cmocka_unit_test(dead_time_takes_what_is_computed),
        cmocka_unit_test(background_is_that_of_lso),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
