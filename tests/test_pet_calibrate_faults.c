/* SPDX-License-Identifier: Apache-2.0
 *
 * What calibration does with blocks without counts or without structure, dead crystals, spectra without a
 * peak, pairs that are random or not connected, and with what cannot be.
 */
#include <sluice/pet_calibrate.h>

#include "pet/pet_calibrate_parts.h"
#include "pet/pet_scanner.h"
#include "support/cmocka_all.h"
#include "support/pet_sim.h"

#include "support/pet_flood.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, MODULES = 4, UNITS = 2, LOCALS = 36, CRYSTALS = MODULES * UNITS * LOCALS };
enum { DEAD = 14, BAD_MODULE = 1 };

static const slc_pet_geometry geometry = {MODULES, 1, 1, 1, 2, 6, 6, 40, 2, 10, NULL};

static slc_pet_calibrate *open_calibration(void)
{
    slc_error error = {.status = SLC_OK};
    slc_pet_calibrate_config config;
    slc_pet_calibrate *c;
    slc_pet_calibrate_config_default(&config);
    config.geometry = geometry;
    config.position_side = SIDE;
    if (slc_pet_calibrate_open(&config, &c, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return c;
}

/* Frames of a phantom, places bent. */
static void make(pet_made *made)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.geometry = geometry;
    config.source[0] = (slc_sim_pet_source){.radius_mm = 20, .length_mm = 24, .activity_bq = 1e6};
    config.singles_hz = 1e6;
    pet_make(made, &config, 500.0 * CRYSTALS / 1e6);
    pet_warp_frames(made, 3, SIDE, 0.15);
}

/* ---- blocks and crystals --------------------------------------------------------------------------- */

/* Keeps those frames for which it says so; the truth goes with them. */
static void keep_frames(pet_made *made, bool (*keep)(uint32_t module, uint32_t unit, uint32_t local))
{
    size_t kept = 0;
    for (size_t i = 0; i < made->n; i++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(&geometry, made->truth.crystal[i], &module, &unit, &local);
        if (keep(module, unit, local)) {
            made->truth.crystal[kept] = made->truth.crystal[i];
            made->frames[kept++] = made->frames[i];
        }
    }
    made->n = kept;
}

/* Module 1 has no counts; a crystal of module 2, unit 0, has none. */
static bool is_alive(uint32_t module, uint32_t unit, uint32_t local)
{
    return module != BAD_MODULE && !(module == 2 && unit == 0 && local == DEAD);
}

static void dead_blocks_and_crystals_are_told(void **state)
{
    (void)state;
    static uint16_t position[MODULES * UNITS * SIDE * SIDE];
    float gain[CRYSTALS], resolution[CRYSTALS];
    slc_error error = {.status = SLC_OK};
    slc_pet_tables tables = {.geometry = geometry, .position_side = SIDE, .position = position};
    uint32_t unsure = 99;
    pet_made made;
    make(&made);
    keep_frames(&made, is_alive);
    slc_pet_calibrate *c = open_calibration();
    assert_int_equal(slc_pet_calibrate_add_flood(c, made.frames, made.n, &error), SLC_OK);
    assert_int_equal(slc_pet_calibrate_position(c, position, &unsure, &error), SLC_OK);
    assert_int_equal(unsure, 2);
    /* Of the block without counts, the plain grid. */
    slc_pet_grid grid;
    assert_true(slc_pet_calibrate_grid(c, BAD_MODULE, 1, &grid));
    assert_true(!grid.sure && grid.counts == 0 && grid.contrast == 0);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        const uint32_t x = (uint32_t)(2 * (i % SIDE) + 1) * 6 / (2 * SIDE),
                       y = (uint32_t)(2 * (i / SIDE) + 1) * 6 / (2 * SIDE);
        assert_int_equal(position[(size_t)(BAD_MODULE * UNITS + 1) * SIDE * SIDE + i], y * 6 + x);
    }
    /* The dead crystal keeps its place between its neighbours, and they theirs. */
    const pet_warp w = pet_warp_of(3, 2 * UNITS);
    assert_true(slc_pet_calibrate_grid(c, 2, 0, &grid) && grid.sure);
    for (uint32_t local = 0; local < LOCALS; local++) {
        const uint32_t column = local % 6, row = local / 6;
        double x, y;
        pet_warp_place(&w, (column + 0.5) / 6, (row + 0.5) / 6, &x, &y);
        assert_true(fabs((double)grid.x[local] / SIDE - x) * 6 < (local == DEAD ? 0.2 : 0.12));
        assert_true(fabs((double)grid.y[local] / SIDE - y) * 6 < (local == DEAD ? 0.2 : 0.12));
    }
    assert_int_equal(slc_pet_calibrate_add_spectrum(c, &tables, made.frames, made.n, &error), SLC_OK);
    assert_int_equal(slc_pet_calibrate_gain(c, gain, resolution, &unsure, &error), SLC_OK);
    assert_int_equal(unsure, UNITS * LOCALS + 1);
    double sum = 0, all = 0;
    for (uint32_t local = 0; local < LOCALS; local++) {
        sum += local != DEAD ? (double)gain[slc_pet_crystal(&geometry, 2, 0, local)] : 0;
    }
    const uint32_t dead = slc_pet_crystal(&geometry, 2, 0, DEAD), none = slc_pet_crystal(&geometry, 1, 0, 3);
    assert_true(fabs((double)gain[dead] - sum / (LOCALS - 1)) < 1e-6);
    assert_true(resolution[dead] == 0 && resolution[none] == 0);
    for (uint32_t i = 0; i < CRYSTALS; i++) {
        all += resolution[i] > 0 ? (double)gain[i] / (CRYSTALS - unsure) : 0;
    }
    assert_true(fabs((double)gain[none] - all) < 1e-6);
    slc_pet_calibrate_close(c);
    pet_clear(&made);
}

/* Counts anywhere, few and many: no grid is to be seen in them. */
static void noise_has_no_grid(void **state)
{
    (void)state;
    static uint16_t position[MODULES * UNITS * SIDE * SIDE];
    for (uint32_t counts = 30; counts <= 3000; counts *= 10) {
        slc_pet_calibrate *c = open_calibration();
        uint64_t random = counts;
        slc_error error = {.status = SLC_OK};
        for (uint32_t i = 0; i < counts * CRYSTALS; i++) {
            const uint32_t place = slc_random_below(&random, SIDE * SIDE);
            const slc_pet_frame frame = {.module = (uint8_t)(i % MODULES),
                                         .head_unit = (uint8_t)(i / MODULES % UNITS),
                                         .x = (uint8_t)(place % SIDE),
                                         .y = (uint8_t)(place / SIDE)};
            assert_int_equal(slc_pet_calibrate_add_flood(c, &frame, 1, &error), SLC_OK);
        }
        uint32_t unsure = 0;
        assert_int_equal(slc_pet_calibrate_position(c, position, &unsure, &error), SLC_OK);
        assert_int_equal(unsure, MODULES * UNITS);
        slc_pet_calibrate_close(c);
    }
}

static void frames_of_nowhere_are_counted(void **state)
{
    (void)state;
    static const slc_pet_frame frames[] = {
        {.module = 0, .head_unit = 0xa1, .x = 3, .y = 63, .energy = {0x13, 0xf6}},
        {.module = MODULES},
        {.module = 0, .head_unit = UNITS},
        {.module = 0, .x = SIDE},
        {.module = 0, .y = SIDE},
        {.module = 3, .head_unit = 1, .x = 0, .y = 0, .energy = {0xff, 0xff}},
    };
    slc_error error = {.status = SLC_OK};
    slc_pet_calibrate *c = open_calibration();
    slc_pet_calibrate_counts counts;
    assert_null(slc_pet_calibrate_flood(c, 0, 0));
    assert_null(slc_pet_calibrate_spectrum(c, 0));
    assert_int_equal(slc_pet_calibrate_add_flood(c, frames, 6, &error), SLC_OK);
    assert_int_equal(slc_pet_calibrate_flood(c, 0, 1)[63 * SIDE + 3], 1);
    assert_int_equal(slc_pet_calibrate_flood(c, 3, 1)[0], 1);
    assert_null(slc_pet_calibrate_flood(c, MODULES, 0));
    assert_null(slc_pet_calibrate_flood(c, 0, UNITS));
    /* Places are crystals here: only the last frame has one. */
    slc_pet_tables tables = {.geometry = geometry, .position_side = 6};
    assert_int_equal(slc_pet_calibrate_add_spectrum(c, &tables, frames, 6, &error), SLC_OK);
    slc_pet_calibrate_counts_of(c, &counts);
    assert_int_equal(counts.flood, 2);
    assert_int_equal(counts.flood_outside, 4);
    assert_int_equal(counts.spectrum, 1);
    assert_int_equal(counts.spectrum_outside, 5);
    const uint32_t bin = slc_pet_calibrate_config_of(c)->spectrum_bin, bins = 256;
    const uint32_t *spectrum = slc_pet_calibrate_spectrum(c, slc_pet_crystal(&geometry, 3, 1, 0));
    assert_true(bin >= 1 && 65535 / bin < bins && spectrum[65535 / bin] == 1 && counts.beyond == 0);
    float gain[CRYSTALS];
    assert_int_equal(slc_pet_calibrate_gain(c, gain, NULL, NULL, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "no photopeak is found in any of 288 spectra");
    tables.geometry.blocks_z = 1;
    assert_int_equal(slc_pet_calibrate_add_spectrum(c, &tables, frames, 6, &error), SLC_ERR_USAGE);
    slc_pet_calibrate_close(c);
}

static void configurations_are_checked(void **state)
{
    (void)state;
    slc_pet_calibrate_config good, c;
    slc_pet_calibrate *calibrate;
    slc_error error = {.status = SLC_OK};
    slc_pet_calibrate_config_default(&good);
    c = good;
    c.position_side = 12;
    assert_int_equal(slc_pet_calibrate_open(&c, &calibrate, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text,
                        "position_side: 12 places for 13 x 13 crystals, and a frame tells of 256");
    assert_null(calibrate);
    c.position_side = 257;
    assert_int_equal(slc_pet_calibrate_open(&c, &calibrate, &error), SLC_ERR_USAGE);
    c = good;
    c.spectrum_bins = 15;
    assert_int_equal(slc_pet_calibrate_open(&c, &calibrate, &error), SLC_ERR_USAGE);
    c = good;
    c.peak_kev = 0;
    assert_int_equal(slc_pet_calibrate_open(&c, &calibrate, &error), SLC_ERR_USAGE);
    c = good;
    c.geometry.channels = 0;
    assert_int_equal(slc_pet_calibrate_open(&c, &calibrate, &error), SLC_ERR_USAGE);
    slc_pet_calibrate_close(NULL);
}

/* ---- spectra --------------------------------------------------------------------------------------- */

enum { BINS = 200 };

/* Adds counts of a Gaussian, one by one, in bins of `bin` units. */
static void add_peak(uint32_t *spectrum, uint32_t bin, uint32_t counts, double mean, double sigma,
                     uint64_t *random)
{
    for (uint32_t i = 0; i < counts; i++) {
        const double energy = floor(mean + sigma * pet_normal(random) + 0.5);
        if (energy >= 0 && energy < (double)BINS * bin) {
            spectrum[(uint32_t)energy / bin]++;
        }
    }
}

static void peaks_are_found_where_they_are(void **state)
{
    (void)state;
    static const struct {
        uint32_t bin, counts;
        double mean, sigma;
    } cases[] = {{1, 400, 100, 5.1},   {1, 100000, 100, 5.1}, {1, 5000, 30, 2},   {40, 1000, 5110, 260},
                 {40, 150, 5110, 260}, {7, 20000, 1100, 11},  {3, 20000, 400, 48}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t random = i + 1;
        double pulls = 0;
        for (int repeat = 0; repeat < 20; repeat++) {
            uint32_t spectrum[BINS] = {0};
            slc_pet_peak peak;
            add_peak(spectrum, cases[i].bin, cases[i].counts, cases[i].mean, cases[i].sigma, &random);
            /* What scatters below it, evenly, and ends before the fit begins. */
            for (uint32_t k = 0; k < cases[i].counts / 3; k++) {
                spectrum[(uint32_t)pet_uniform(&random, 0.3, 0.6 * cases[i].mean / cases[i].bin)]++;
            }
            if (!slc_pet_peak_fit(spectrum, BINS, cases[i].bin, 40, 0, &peak)) {
                fail_msg("case %zu", i);
            }
            const double off = (peak.mean - cases[i].mean) / peak.mean_error;
            pulls += off * off / 20;
            assert_true(fabs(peak.sigma - cases[i].sigma) <
                        0.1 * cases[i].sigma + 4 * peak.mean_error + 0.3 * cases[i].bin);
        }
        /* Errors are what they say: the mean square of 20 pulls is about 1. */
        if (!(pulls < 3 && pulls > 0.2)) {
            fail_msg("case %zu: pulls of %.2f", i, pulls);
        }
    }
}

/* What a fit with a known width makes least: half the deviance of Poisson's law over the window, and half the
 * square of how many sevenths of `expected` the width is off. */
static double objective(const uint32_t *spectrum, const slc_pet_peak *p, double expected)
{
    const double off = 7 * (p->sigma - expected) / expected;
    double sum = 0.5 * off * off;
    for (double e = p->low; e <= p->high; e++) {
        const double pull = (e - p->mean) / p->sigma, t = (e - p->low) / (p->high - p->low);
        const double n = spectrum[(uint32_t)e],
                     m = fmax(p->height * exp(-0.5 * pull * pull) + p->background_low * (1 - t) +
                                  p->background_high * t,
                              1e-6);
        sum += m - n + (n > 0 ? n * log(n / m) : 0);
    }
    return sum;
}

/* A peak of few counts that is wider, or narrower, than it should be: the width lies between, and no other
 * value near to it is better. The spectrum is symmetric, so that the fit begins at its middle. */
static void a_known_width_pulls(void **state)
{
    (void)state;
    enum { MIDDLE = 100 };
    static const double widths[] = {4, 6, 7, 9, 12};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        uint32_t spectrum[BINS] = {0};
        for (int k = -40; k <= 40; k++) {
            spectrum[MIDDLE + k] = (uint32_t)(40 * exp(-0.5 * k * k / (widths[i] * widths[i])) + 0.5);
        }
        const double fwhm = 2.35482004503094938, expected = 8, resolution = expected * fwhm / (MIDDLE + 0.5);
        slc_pet_peak peak, free_one;
        assert_true(slc_pet_peak_fit(spectrum, BINS, 1, 40, resolution, &peak));
        assert_true(slc_pet_peak_fit(spectrum, BINS, 1, 40, 0, &free_one));
        assert_true(fabs(free_one.sigma - widths[i]) < 0.1 * widths[i]);
        assert_true((peak.sigma - expected) * (free_one.sigma - peak.sigma) > 0);
        const double least = objective(spectrum, &peak, expected);
        for (double by = 0.95; by < 1.06; by += 0.1) {
            slc_pet_peak other = peak;
            other.sigma *= by;
            assert_true(objective(spectrum, &other, expected) > least);
            other.sigma = peak.sigma * (1 + 0.02 * (by - 1));
            assert_true(objective(spectrum, &other, expected) > least - 1e-9);
        }
    }
}

static void spectra_without_a_peak_have_none(void **state)
{
    (void)state;
    slc_pet_peak peak;
    uint32_t spectrum[BINS] = {0};
    uint64_t random = 4;
    assert_false(slc_pet_peak_fit(spectrum, BINS, 1, 1, 0, &peak));
    assert_false(peak.found);
    spectrum[100] = 99; /* too few are asked for */
    assert_false(slc_pet_peak_fit(spectrum, BINS, 1, 100, 0, &peak));
    uint32_t falling[BINS] = {0}, flat[BINS] = {0};
    for (int i = 0; i < 20000; i++) {
        const double at = -30 * log(1 - pet_uniform(&random, 0, 1));
        falling[at < BINS ? (int)at : 0]++;
        flat[slc_random_below(&random, BINS)]++;
    }
    assert_false(slc_pet_peak_fit(falling, BINS, 1, 100, 0, &peak));
    assert_false(slc_pet_peak_fit(flat, BINS, 1, 100, 0, &peak));
    assert_false(slc_pet_peak_fit(flat, 7, 1, 1, 0, &peak));
}

/* ---- times ----------------------------------------------------------------------------------------- */

/* A pair of crystals, the earlier one first, whose true difference is `apart`. */
static void add_pair(slc_pet_coincidences *p, uint32_t a, uint32_t b, const int32_t *offset, int64_t apart)
{
    if (p->head.size == p->head.capacity) {
        assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, p, 2 * p->head.size + 1000, 1),
                         SLC_OK);
    }
    /* What is measured comes early by what is to be added. */
    const int64_t dt = apart - offset[b] + offset[a];
    const size_t row = p->head.size++;
    p->time_ps[row] = 0;
    p->dt_ps[row] = dt < 0 ? -dt : dt;
    p->crystal1[row] = dt < 0 ? b : a;
    p->crystal2[row] = dt < 0 ? a : b;
    p->energy1_kev[row] = p->energy2_kev[row] = 511;
    p->delayed[row] = 0;
}

/* Offsets with mean 0 over `n` crystals. */
static void draw_offsets(int32_t *offset, uint32_t n, uint64_t *random)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        offset[i] = (int32_t)pet_uniform(random, -2000, 2000);
        sum += offset[i];
    }
    offset[0] -= (int32_t)sum;
}

static void exact_times_are_found_exactly(void **state)
{
    (void)state;
    int32_t offset[CRYSTALS], found[CRYSTALS];
    uint64_t random = 11;
    slc_pet_coincidences pairs = {.time_ps = NULL};
    slc_pet_time_fit fit;
    draw_offsets(offset, CRYSTALS, &random);
    for (uint32_t i = 0; i < 20 * CRYSTALS; i++) {
        add_pair(&pairs, i % CRYSTALS, (i % CRYSTALS + 100 + slc_random_below(&random, 90)) % CRYSTALS,
                 offset, 0);
    }
    /* Delayed pairs, and pairs of one crystal, say nothing. */
    add_pair(&pairs, 1, 2, offset, 100000);
    pairs.delayed[pairs.head.size - 1] = 1;
    add_pair(&pairs, 5, 5, offset, 7000);
    assert_int_equal(slc_pet_calibrate_time(&geometry, &pairs, 500, found, &fit, NULL), SLC_OK);
    for (uint32_t i = 0; i < CRYSTALS; i++) {
        assert_in_range(found[i] - offset[i] + 1, 0, 2);
    }
    assert_int_equal(fit.used, 20 * CRYSTALS);
    assert_int_equal(fit.left_out + fit.unsure, 0);
    assert_true(fit.before_ps > 1000 && fit.after_ps < 1);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* A third of the pairs is random, anywhere in the window; half of the crystals have none with the others. */
static void random_pairs_are_left_out(void **state)
{
    (void)state;
    int32_t offset[CRYSTALS], found[CRYSTALS];
    uint64_t random = 12;
    slc_pet_coincidences pairs = {.time_ps = NULL};
    slc_pet_time_fit fit;
    draw_offsets(offset, CRYSTALS, &random);
    const uint32_t half = CRYSTALS / 2 - 4; /* the last eight crystals have no pairs at all */
    for (uint32_t i = 0; i < 200 * CRYSTALS; i++) {
        const uint32_t side = i % 2 * half, a = slc_random_below(&random, half),
                       b = (a + 30 + slc_random_below(&random, half - 60)) % half;
        const int64_t apart = i % 3 == 0 ? (int64_t)pet_uniform(&random, -10000, 10000)
                                         : (int64_t)(200 * pet_normal(&random));
        add_pair(&pairs, side + a, side + b, offset, apart);
    }
    assert_int_equal(slc_pet_calibrate_time(&geometry, &pairs, 500, found, &fit, NULL), SLC_OK);
    assert_int_equal(fit.unsure, 8);
    assert_true(fit.left_out > 40 * CRYSTALS && fit.left_out < 67 * CRYSTALS);
    for (uint32_t side = 0; side < 2; side++) { /* each half by itself, as nothing relates them */
        double mean = 0, width = 0;
        for (uint32_t i = side * half; i < (side + 1) * half; i++) {
            mean += (double)(found[i] - offset[i]) / half;
        }
        for (uint32_t i = side * half; i < (side + 1) * half; i++) {
            width = fmax(width, fabs(found[i] - offset[i] - mean));
        }
        /* 267 good pairs of a crystal, 200 ps each: 12 ps, and the farthest of many. */
        assert_true(width < 70);
    }
    for (uint32_t i = 2 * half; i < CRYSTALS; i++) {
        assert_int_equal(found[i], 0);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

static void pairs_that_cannot_be_are_told(void **state)
{
    (void)state;
    int32_t offset[CRYSTALS + 1] = {0}, found[CRYSTALS];
    slc_pet_coincidences pairs = {.time_ps = NULL};
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_pet_calibrate_time(&geometry, &pairs, 9, found, NULL, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "there is no prompt pair to find time offsets from");
    add_pair(&pairs, 3, 4, offset, 5);
    add_pair(&pairs, 3, CRYSTALS, offset, 5);
    assert_int_equal(slc_pet_calibrate_time(&geometry, &pairs, 9, found, NULL, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "pair 1: crystal 288, and the scanner has 288");
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dead_blocks_and_crystals_are_told), cmocka_unit_test(noise_has_no_grid),
        cmocka_unit_test(frames_of_nowhere_are_counted),     cmocka_unit_test(configurations_are_checked),
        cmocka_unit_test(peaks_are_found_where_they_are),    cmocka_unit_test(a_known_width_pulls),
        cmocka_unit_test(spectra_without_a_peak_have_none),  cmocka_unit_test(exact_times_are_found_exactly),
        cmocka_unit_test(random_pairs_are_left_out),         cmocka_unit_test(pairs_that_cannot_be_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
