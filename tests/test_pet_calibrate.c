/* SPDX-License-Identifier: Apache-2.0
 *
 * Calibration of generated scanners whose flood maps are shifted, scaled, bent and turned, whose crystals
 * have gains and time offsets: all is found again, for several seeds and scanners. Blocks without counts or
 * without structure, dead crystals, odd spectra, and what cannot be.
 */
#include <sluice/pet_calibrate.h>
#include <sluice/pet_chain.h>

#include "pet/pet_calibrate_parts.h"
#include "pet/pet_scanner.h"
#include "support/cmocka_all.h"
#include "support/pet_sim.h"

#include "support/pet_flood.h"
#include "support/sanitized.h"

#include <stdlib.h>
#include <string.h>

/* Channels, modules, rows of modules, blocks y and z, crystals y and z, radius, pitch, depth. */
static const slc_pet_geometry mouse = {4, 1, 1, 2, 1, 13, 13, 40, 1.6, 13, NULL}; /* blocks of mouse20 */
static const slc_pet_geometry body = {6, 1, 1, 1, 2, 7, 14, 60, 2.85, 18, NULL};  /* blocks of explorer */
static const slc_pet_geometry coarse = {6, 1, 1, 1, 2, 8, 8, 40, 2, 10, NULL};

typedef struct calibration {
    slc_pet_calibrate *c;
    slc_pet_tables tables;
    uint16_t *position;
    float *gain, *resolution;
    int32_t *offset;
    uint32_t unsure_blocks, unsure_crystals;
} calibration;

/* ---- what is calibrated ---------------------------------------------------------------------------- */

/* About so many frames of each crystal, a phantom of half the ring's radius. */
static void make(pet_made *made, const slc_pet_geometry *geometry, uint64_t seed, double counts)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.seed = seed;
    config.geometry = *geometry;
    config.source[0] = (slc_sim_pet_source){.radius_mm = 0.5 * geometry->radius_mm,
                                            .length_mm = slc_pet_rings(geometry) * geometry->pitch_z_mm,
                                            .activity_bq = 1e6};
    config.singles_hz = 1e6;
    config.time_offset_sigma_ps = 500;
    config.gain_spread = 0.1;
    pet_make(made, &config, counts * slc_pet_crystals(geometry) / config.singles_hz);
}

static calibration begin(const slc_pet_geometry *geometry, uint32_t side)
{
    slc_error error = {.status = SLC_OK};
    slc_pet_calibrate_config config;
    slc_pet_calibrate_config_default(&config);
    config.geometry = *geometry;
    config.position_side = side;
    calibration k = {.tables = {.geometry = *geometry, .position_side = side}};
    if (slc_pet_calibrate_open(&config, &k.c, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    const size_t crystals = slc_pet_crystals(geometry);
    k.position = malloc(slc_pet_position_elements(&k.tables) * sizeof *k.position);
    k.gain = calloc(crystals, sizeof *k.gain);
    k.resolution = calloc(crystals, sizeof *k.resolution);
    k.offset = calloc(crystals, sizeof *k.offset);
    assert_true(k.position != NULL && k.gain != NULL && k.resolution != NULL && k.offset != NULL);
    return k;
}

static void find_positions(calibration *k, const slc_pet_frame *frames, size_t n)
{
    slc_error error = {.status = SLC_OK};
    /* In two parts, as a reader gives them. */
    assert_int_equal(slc_pet_calibrate_add_flood(k->c, frames, n / 3, &error), SLC_OK);
    assert_int_equal(slc_pet_calibrate_add_flood(k->c, frames + n / 3, n - n / 3, &error), SLC_OK);
    assert_int_equal(slc_pet_calibrate_position(k->c, k->position, &k->unsure_blocks, &error), SLC_OK);
    k->tables.position = k->position;
    assert_int_equal(slc_pet_tables_check(&k->tables, &error), SLC_OK);
}

static slc_status find_gains(calibration *k, const slc_pet_frame *frames, size_t n)
{
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_pet_calibrate_add_spectrum(k->c, &k->tables, frames, n, &error), SLC_OK);
    const slc_status status = slc_pet_calibrate_gain(k->c, k->gain, k->resolution, &k->unsure_crystals,
                                                     &error);
    k->tables.gain = status == SLC_OK ? k->gain : NULL;
    return status;
}

static void end(calibration *k)
{
    slc_pet_calibrate_close(k->c);
    free(k->position);
    free(k->gain);
    free(k->resolution);
    free(k->offset);
}

/* ---- flood maps ------------------------------------------------------------------------------------ */

static uint32_t block_of(const calibration *k, const slc_pet_frame *frame)
{
    return frame->module * k->tables.geometry.blocks_y * k->tables.geometry.blocks_z +
           (frame->head_unit & 15);
}

/* Share of frames whose place is given to their crystal. */
static double share_right(const calibration *k, const pet_made *made)
{
    const size_t side = k->tables.position_side;
    size_t right = 0;
    for (size_t i = 0; i < made->n; i++) {
        const slc_pet_frame *f = &made->frames[i];
        uint32_t module, unit, local;
        slc_pet_crystal_place(&k->tables.geometry, made->truth.crystal[i], &module, &unit, &local);
        right += k->position[(block_of(k, f) * side + f->y) * side + f->x] == local;
    }
    return (double)right / (double)made->n;
}

/* The farthest that a peak is from where its crystal was put, in crystals. */
static double farthest(const calibration *k, uint64_t seed)
{
    const slc_pet_geometry *g = &k->tables.geometry;
    const uint32_t units = g->blocks_y * g->blocks_z;
    double most = 0;
    for (uint32_t block = 0; block < slc_pet_module_count(g) * units; block++) {
        slc_pet_grid grid;
        assert_true(slc_pet_calibrate_grid(k->c, block / units, block % units, &grid));
        if (!(grid.sure && grid.contrast > 0.5)) {
            fail_msg("block %u: %d, contrast %.3f", block, grid.sure, grid.contrast);
        }
        const pet_warp w = pet_warp_of(seed, block);
        for (uint32_t local = 0; local < g->crystals_y * g->crystals_z; local++) {
            const uint32_t column = local % g->crystals_z, row = local / g->crystals_z;
            double x, y;
            pet_warp_place(&w, (column + 0.5) / g->crystals_z, (row + 0.5) / g->crystals_y, &x, &y);
            const double off_x = fabs((double)grid.x[local] / k->tables.position_side - x) * g->crystals_z,
                         off_y = fabs((double)grid.y[local] / k->tables.position_side - y) * g->crystals_y;
            most = fmax(most, fmax(off_x, off_y));
        }
    }
    return most;
}

/* ---- gains, times ---------------------------------------------------------------------------------- */

/* Gains found over true ones, of crystals that were sure: mean and width, both without unit. */
static void compare_gains(const calibration *k, const pet_made *made, double *mean, double *width)
{
    const float *truth = slc_sim_pet_tables(made->sim)->gain;
    double sum = 0, squares = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < slc_pet_crystals(&k->tables.geometry); i++) {
        slc_pet_peak peak;
        slc_pet_calibrate_peak(k->c, i, &peak);
        const double ratio = (double)k->gain[i] / (double)truth[i] - 1;
        assert_true(peak.found == (k->resolution[i] > 0));
        sum += peak.found ? ratio : 0;
        squares += peak.found ? ratio * ratio : 0;
        n += peak.found;
    }
    *mean = sum / n;
    *width = sqrt(squares / n - *mean * *mean);
}

static void find_pairs(const calibration *k, const pet_made *made, slc_pet_result *result)
{
    slc_error error = {.status = SLC_OK};
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.convert.low_kev = 420;
    config.convert.high_kev = 600;
    config.prompt.window_ns = 6;
    slc_pet_chain *chain;
    assert_int_equal(slc_pet_chain_open(&config, &k->tables, &chain, &error), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, made->frames, NULL, made->n, true, result, &error), SLC_OK);
    slc_pet_chain_close(chain);
}

/* Offsets found less true ones: their width in picoseconds. */
static double compare_times(const calibration *k, const pet_made *made)
{
    const int32_t *truth = slc_sim_pet_tables(made->sim)->time_offset_ps;
    const uint32_t n = slc_pet_crystals(&k->tables.geometry);
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) {
        const double off = (double)k->offset[i] - truth[i];
        sum += off;
        squares += off * off;
    }
    return sqrt(squares / n - sum / n * (sum / n));
}

static double median_resolution(const calibration *k)
{
    slc_histogram h;
    slc_histogram_init(&h, 0, 0.5, 100);
    for (uint32_t i = 0; i < slc_pet_crystals(&k->tables.geometry); i++) {
        slc_histogram_add(&h, (double)k->resolution[i]);
    }
    return slc_histogram_quantile(&h, 0.5);
}

/* What a scanner's calibration must come to. The widths are those of the counts: a peak of 12 % is 5.1 %
 * wide, and of so many frames about half are in it; times of pairs are 283 ps wide. */
typedef struct wanted {
    const slc_pet_geometry *geometry;
    uint32_t side;
    double sigma, counts;
    double right, near, gain_width, time_width;
} wanted;

static void scanner_is_found(const wanted *w, uint64_t seed)
{
    slc_error error = {.status = SLC_OK};
    pet_made made;
    make(&made, w->geometry, seed, w->counts);
    pet_warp_frames(&made, seed, w->side, w->sigma);
    calibration k = begin(w->geometry, w->side);
    find_positions(&k, made.frames, made.n);
    assert_int_equal(k.unsure_blocks, 0);
    const double right = share_right(&k, &made), off = farthest(&k, seed);
    assert_int_equal(find_gains(&k, made.frames, made.n), SLC_OK);
    double bias, width;
    compare_gains(&k, &made, &bias, &width);
    slc_pet_result result = {.faults = {.n_kept = 0}};
    slc_pet_time_fit fit;
    find_pairs(&k, &made, &result);
    assert_int_equal(slc_pet_calibrate_time(w->geometry, &result.pairs, 200, k.offset, &fit, &error), SLC_OK);
    const double times = compare_times(&k, &made);
    print_message(
        "%u x %u crystals, seed %u: %.4f of places right, peaks within %.3f; gains %+.4f, width %.4f, "
        "%u unsure, %.3f FWHM; times within %.0f ps, %u unsure, %u rounds, %.0f to %.0f ps\n",
        w->geometry->crystals_y, w->geometry->crystals_z, (unsigned)seed, right, off, bias, width,
        k.unsure_crystals, median_resolution(&k), times, fit.unsure, fit.rounds, fit.before_ps, fit.after_ps);
    assert_true(right >= w->right && off <= w->near);
    assert_true(fabs(bias) < 0.01 && width < w->gain_width);
    assert_true(k.unsure_crystals * 100 < slc_pet_crystals(w->geometry));
    assert_true(fabs(median_resolution(&k) - 0.12) < 0.02);
    assert_true(times < w->time_width && fit.after_ps < 0.6 * fit.before_ps);
    slc_pet_result_clear(&result);
    end(&k);
    pet_clear(&made);
}

static void bent_scanners_are_found(void **state)
{
    static const wanted cases[] = {
        {&coarse, 256, 0.15, 300, 0.99, 0.1, 0.01, 100},
        {&coarse, 64, 0.15, 300, 0.99, 0.1, 0.01, 100},
        {&mouse, 256, 0.18, 300, 0.97, 0.12, 0.01, 100},
        {&body, 200, 0.2, 300, 0.96, 0.12, 0.01, 100},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t seed = 1; seed <= (SANITIZED ? 1 : 2); seed++) {
            scanner_is_found(&cases[i], 10 * i + seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bent_scanners_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
