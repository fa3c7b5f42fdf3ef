/* SPDX-License-Identifier: Apache-2.0
 *
 * Calibration (sluice/pet_calibrate.h): frames are counted to flood maps and to spectra; what is looked for
 * in them is found by pet_calibrate_grid.c and pet_calibrate_peak.c. Here is what is kept, and what becomes
 * of blocks and crystals of which nothing can be told.
 */
#include "base/config.h"
#include "pet/pet_calibrate_parts.h"
#include "pet/pet_scanner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENERGIES = 65536 /* that a frame can tell */, NO_BLOCK = UINT16_MAX };

typedef struct block {
    uint64_t counts;
    double contrast;
    bool sure;
} block;

struct slc_pet_calibrate {
    slc_pet_calibrate_config config;
    uint32_t modules, units, locals, crystals;
    slc_pet_calibrate_counts counts;
    uint32_t *flood;    /* [block][place]; NULL before the first frames, and so the others */
    uint64_t *energies; /* of all frames of step 1 */
    block *blocks;
    float *grid; /* [block][x of all crystals, y of all crystals] */
    uint32_t *spectra;
    slc_pet_peak *peaks;
};

/* ---- opening ----------------------------------------------------------------------------------- */

static void pet_calibrate_config_default(slc_pet_calibrate_config *config)
{
    *config = (slc_pet_calibrate_config){.size = sizeof *config,
                                         .position_side = 256,
                                         .spectrum_bins = 256,
                                         .peak_kev = 511,
                                         .flood_counts = 25,
                                         .spectrum_counts = 100};
    (void)slc_pet_scanner("mouse20", &config->geometry, NULL);
}
SLC_CONFIG_DEFAULT(slc_pet_calibrate_config, pet_calibrate_config_default)

static slc_status check(const slc_pet_calibrate_config *c, slc_error *error)
{
    const slc_pet_geometry *g = &c->geometry;
    const slc_status status = slc_pet_geometry_check(g, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t wide = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    if (c->position_side > 256 || c->position_side < wide) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "position_side: %u places for %u x %u crystals, and a frame tells of 256",
                        c->position_side, g->crystals_y, g->crystals_z);
    }
    if (g->crystals_y * g->crystals_z >= SLC_PET_NO_CRYSTAL) {
        return slc_fail(error, SLC_ERR_USAGE, "geometry: %u x %u crystals of a block are too many",
                        g->crystals_y, g->crystals_z);
    }
    if (c->spectrum_bins < 16 || c->spectrum_bins > ENERGIES || c->spectrum_bin > ENERGIES) {
        return slc_fail(error, SLC_ERR_USAGE, "spectra: %u bins of %u units", c->spectrum_bins,
                        c->spectrum_bin);
    }
    if (!(c->peak_kev > 0) || isinf(c->peak_kev)) {
        return slc_fail(error, SLC_ERR_USAGE, "peak_kev: %g", c->peak_kev);
    }
    return SLC_OK;
}

slc_status slc_pet_calibrate_open(const slc_pet_calibrate_config *given, slc_pet_calibrate **calibrate,
                                  slc_error *error)
{
    *calibrate = NULL;
    slc_pet_calibrate_config own;
    const slc_pet_calibrate_config *config = &own;
    slc_pet_calibrate_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_pet_calibrate_config", error);
    status = status == SLC_OK ? check(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_calibrate *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a calibration");
    }
    c->config = *config;
    c->modules = slc_pet_module_count(&config->geometry);
    c->units = config->geometry.blocks_y * config->geometry.blocks_z;
    c->locals = config->geometry.crystals_y * config->geometry.crystals_z;
    c->crystals = slc_pet_crystals(&config->geometry);
    *calibrate = c;
    return SLC_OK;
}

void slc_pet_calibrate_close(slc_pet_calibrate *c)
{
    if (c == NULL) {
        return;
    }
    free(c->flood);
    free(c->energies);
    free(c->blocks);
    free(c->grid);
    free(c->spectra);
    free(c->peaks);
    free(c);
}

const slc_pet_calibrate_config *slc_pet_calibrate_config_of(const slc_pet_calibrate *c)
{
    return &c->config;
}

void slc_pet_calibrate_counts_of(const slc_pet_calibrate *c, slc_pet_calibrate_counts *counts)
{
    *counts = c->counts;
}

/* ---- flood maps -------------------------------------------------------------------------------- */

static size_t places_of(const slc_pet_calibrate *c)
{
    return (size_t)c->config.position_side * c->config.position_side;
}

/* The block of a frame, or NO_BLOCK. */
static uint32_t block_of(const slc_pet_calibrate *c, const slc_pet_frame *frame)
{
    const uint32_t unit = frame->head_unit & 15;
    return frame->module < c->modules && unit < c->units ? frame->module * c->units + unit : NO_BLOCK;
}

static uint32_t energy_of(const slc_pet_frame *frame)
{
    return (uint32_t)frame->energy[0] << 8 | frame->energy[1];
}

static slc_status room_for_floods(slc_pet_calibrate *c, slc_error *error)
{
    const size_t blocks = (size_t)c->modules * c->units;
    if (c->flood != NULL) {
        return SLC_OK;
    }
    c->energies = c->energies != NULL ? c->energies : calloc(ENERGIES, sizeof *c->energies);
    c->blocks = c->blocks != NULL ? c->blocks : calloc(blocks, sizeof *c->blocks);
    c->flood = c->energies != NULL && c->blocks != NULL ? calloc(blocks * places_of(c), sizeof *c->flood)
                                                        : NULL;
    return c->flood != NULL
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for flood maps of %zu blocks", blocks);
}

slc_status slc_pet_calibrate_add_flood(slc_pet_calibrate *c, const slc_pet_frame *frames, size_t n,
                                       slc_error *error)
{
    const uint32_t side = c->config.position_side;
    const slc_status status = room_for_floods(c, error);
    if (status != SLC_OK || c->flood == NULL) {
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        const slc_pet_frame *frame = &frames[i];
        const uint32_t at = block_of(c, frame);
        if (at == NO_BLOCK || frame->x >= side || frame->y >= side) {
            c->counts.flood_outside++;
            continue;
        }
        uint32_t *place = &c->flood[at * places_of(c) + (size_t)frame->y * side + frame->x];
        *place += *place < UINT32_MAX;
        c->blocks[at].counts++;
        c->energies[energy_of(frame)]++;
        c->counts.flood++;
    }
    return SLC_OK;
}

const uint32_t *slc_pet_calibrate_flood(const slc_pet_calibrate *c, uint32_t module, uint32_t unit)
{
    if (c->flood == NULL || module >= c->modules || unit >= c->units) {
        return NULL;
    }
    return c->flood + ((size_t)module * c->units + unit) * places_of(c);
}

/* ---- positions --------------------------------------------------------------------------------- */

/* Rows of crystals are y, and x is z. */
static void position_block(slc_pet_calibrate *c, slc_pet_grid_work *work, float *distances, size_t at,
                           uint16_t *position)
{
    const slc_pet_geometry *g = &c->config.geometry;
    const slc_pet_flood flood = {.counts = c->flood + at * places_of(c),
                                 .side = c->config.position_side,
                                 .across = g->crystals_z,
                                 .along = g->crystals_y,
                                 .total = c->blocks[at].counts};
    float *x = c->grid + 2 * at * c->locals, *y = x + c->locals;
    block *b = &c->blocks[at];
    b->contrast = 0;
    b->sure = b->counts >= (uint64_t)c->config.flood_counts * c->locals &&
              slc_pet_grid_find(work, &flood, x, y, &b->contrast);
    if (!b->sure) {
        slc_pet_grid_plain(flood.side, flood.across, flood.along, x, y);
    }
    slc_pet_grid_nearest(flood.side, flood.across, flood.along, x, y, distances,
                         position + at * places_of(c));
}

slc_status slc_pet_calibrate_position(slc_pet_calibrate *c, uint16_t *position, uint32_t *unsure,
                                      slc_error *error)
{
    const slc_pet_geometry *g = &c->config.geometry;
    const size_t blocks = (size_t)c->modules * c->units;
    uint32_t doubtful = 0;
    const slc_status status = room_for_floods(c, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_grid_work *work = slc_pet_grid_open(c->config.position_side, g->crystals_z, g->crystals_y);
    float *distances = malloc(places_of(c) * sizeof *distances);
    c->grid = c->grid != NULL ? c->grid : malloc(2 * blocks * c->locals * sizeof *c->grid);
    if (work == NULL || distances == NULL || c->grid == NULL) {
        slc_pet_grid_close(work);
        free(distances);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the grids of %zu blocks", blocks);
    }
    for (size_t at = 0; at < blocks; at++) {
        position_block(c, work, distances, at, position);
        doubtful += !c->blocks[at].sure;
    }
    slc_pet_grid_close(work);
    free(distances);
    if (unsure != NULL) {
        *unsure = doubtful;
    }
    return SLC_OK;
}

bool slc_pet_calibrate_grid(const slc_pet_calibrate *c, uint32_t module, uint32_t unit, slc_pet_grid *grid)
{
    if (c->grid == NULL || module >= c->modules || unit >= c->units) {
        return false;
    }
    const size_t at = (size_t)module * c->units + unit;
    const float *x = c->grid + 2 * at * c->locals;
    *grid = (slc_pet_grid){.x = x,
                           .y = x + c->locals,
                           .sure = c->blocks[at].sure,
                           .counts = c->blocks[at].counts,
                           .contrast = c->blocks[at].contrast};
    return true;
}

/* ---- spectra ----------------------------------------------------------------------------------- */

/* A bin such that nearly all energies of step 1 are below three quarters of the spectrum: crystals differ. */
static uint32_t choose_bin(const slc_pet_calibrate *c)
{
    uint64_t above = 0;
    uint32_t reach = ENERGIES;
    while (c->energies != NULL && reach > 1 && (above + c->energies[reach - 1]) * 200 <= c->counts.flood) {
        above += c->energies[--reach];
    }
    const uint32_t bin = (reach + reach / 3 + c->config.spectrum_bins - 1) / c->config.spectrum_bins;
    const uint32_t all = (ENERGIES + c->config.spectrum_bins - 1) / c->config.spectrum_bins;
    return bin < 1 ? 1 : bin < all ? bin : all;
}

static slc_status room_for_spectra(slc_pet_calibrate *c, slc_error *error)
{
    if (c->spectra != NULL) {
        return SLC_OK;
    }
    c->peaks = c->peaks != NULL ? c->peaks : calloc(c->crystals, sizeof *c->peaks);
    c->spectra = c->peaks != NULL ? calloc((size_t)c->crystals * c->config.spectrum_bins, sizeof *c->spectra)
                                  : NULL;
    if (c->spectra == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for spectra of %u crystals", c->crystals);
    }
    c->config.spectrum_bin = c->config.spectrum_bin == 0 ? choose_bin(c) : c->config.spectrum_bin;
    return SLC_OK;
}

static bool same_blocks(const slc_pet_geometry *a, const slc_pet_geometry *b)
{
    return a->channels == b->channels && a->modules == b->modules && a->module_rings == b->module_rings &&
           a->blocks_y == b->blocks_y && a->blocks_z == b->blocks_z && a->crystals_y == b->crystals_y &&
           a->crystals_z == b->crystals_z;
}

/* The crystal of a frame in its block, SLC_PET_NO_CRYSTAL where it has none. */
static uint32_t local_of(const slc_pet_tables *t, uint32_t at, const slc_pet_frame *frame)
{
    if (t->position == NULL) {
        const bool there = frame->x < t->geometry.crystals_z && frame->y < t->geometry.crystals_y;
        return there ? frame->y * t->geometry.crystals_z + frame->x : SLC_PET_NO_CRYSTAL;
    }
    const size_t side = t->position_side;
    return frame->x < side && frame->y < side ? t->position[(at * side + frame->y) * side + frame->x]
                                              : SLC_PET_NO_CRYSTAL;
}

slc_status slc_pet_calibrate_add_spectrum(slc_pet_calibrate *c, const slc_pet_tables *tables,
                                          const slc_pet_frame *frames, size_t n, slc_error *error)
{
    if (!same_blocks(&tables->geometry, &c->config.geometry)) {
        return slc_fail(error, SLC_ERR_USAGE, "tables: their scanner has other blocks");
    }
    const slc_status status = room_for_spectra(c, error);
    const uint32_t bins = c->config.spectrum_bins;
    for (size_t i = 0; i < n && status == SLC_OK && c->spectra != NULL; i++) {
        const uint32_t at = block_of(c, &frames[i]);
        const uint32_t local = at != NO_BLOCK ? local_of(tables, at, &frames[i]) : SLC_PET_NO_CRYSTAL;
        if (local >= c->locals) {
            c->counts.spectrum_outside++;
            continue;
        }
        const uint32_t bin = energy_of(&frames[i]) / c->config.spectrum_bin;
        const size_t crystal = slc_pet_crystal(&c->config.geometry, at / c->units, at % c->units, local);
        c->counts.spectrum++;
        if (bin < bins) {
            c->spectra[crystal * bins + bin]++;
        } else {
            c->counts.beyond++;
        }
    }
    return status;
}

const uint32_t *slc_pet_calibrate_spectrum(const slc_pet_calibrate *c, uint32_t crystal)
{
    return c->spectra != NULL && crystal < c->crystals
               ? c->spectra + (size_t)crystal * c->config.spectrum_bins
               : NULL;
}

void slc_pet_calibrate_peak(const slc_pet_calibrate *c, uint32_t crystal, slc_pet_peak *peak)
{
    *peak = c->peaks != NULL && crystal < c->crystals ? c->peaks[crystal] : (slc_pet_peak){.found = false};
}

/* ---- gains ------------------------------------------------------------------------------------- */

/* 2.3548 widths of a Gaussian are its full width at half maximum. */
static double resolution_of(const slc_pet_peak *peak)
{
    return peak->found ? 2.35482004503094938 * peak->sigma / peak->mean : 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool fit(slc_pet_calibrate *c, uint32_t crystal, double resolution)
{
    const uint32_t bins = c->config.spectrum_bins;
    return slc_pet_peak_fit(c->spectra + (size_t)crystal * bins, bins, c->config.spectrum_bin,
                            c->config.spectrum_counts, resolution, &c->peaks[crystal]);
}

/* Fits all crystals of a block; those without a peak, or with one much narrower than usual, which is a
 * fluctuation of few counts, once more: about the width that the others have, as counts tell a peak's width
 * worse than its place. `room` is for a number of each. Returns how many have none. */
static uint32_t fit_block(slc_pet_calibrate *c, uint32_t at, double *room)
{
    uint32_t found = 0, missing = 0;
    for (uint32_t local = 0; local < c->locals; local++) {
        const uint32_t crystal = slc_pet_crystal(&c->config.geometry, at / c->units, at % c->units, local);
        if (fit(c, crystal, 0)) {
            room[found++] = resolution_of(&c->peaks[crystal]);
        }
    }
    if (found < 8) {
        return c->locals - found;
    }
    qsort(room, found, sizeof *room, by_value);
    const double usual = room[found / 2];
    for (uint32_t local = 0; local < c->locals; local++) {
        const uint32_t crystal = slc_pet_crystal(&c->config.geometry, at / c->units, at % c->units, local);
        const slc_pet_peak first = c->peaks[crystal];
        if ((!first.found || resolution_of(&first) < 0.65 * usual) && !fit(c, crystal, usual)) {
            c->peaks[crystal] = first;
        }
        missing += !c->peaks[crystal].found;
    }
    return missing;
}

/* Gains of a block; crystals without a peak get the mean of the others, or that of the scanner. */
static void fill_block(const slc_pet_calibrate *c, uint32_t at, double of_scanner, float *gain)
{
    double sum = 0;
    uint32_t found = 0;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t local = 0; local < c->locals; local++) {
            const uint32_t crystal = slc_pet_crystal(&c->config.geometry, at / c->units, at % c->units,
                                                     local);
            const slc_pet_peak *peak = &c->peaks[crystal];
            if (fill == 0 && peak->found) {
                gain[crystal] = (float)(c->config.peak_kev / peak->mean);
                sum += (double)gain[crystal];
                found++;
            } else if (fill == 1 && !peak->found) {
                gain[crystal] = (float)(found > 0 ? sum / found : of_scanner);
            }
        }
    }
}

slc_status slc_pet_calibrate_energy_fwhm(const slc_pet_calibrate *c, double *fwhm, slc_error *error)
{
    *fwhm = 0;
    double *room = malloc(c->crystals * sizeof *room);
    uint32_t found = 0;
    if (room == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for resolutions of %u crystals", c->crystals);
    }
    for (uint32_t i = 0; c->peaks != NULL && i < c->crystals; i++) {
        if (c->peaks[i].found) {
            room[found++] = resolution_of(&c->peaks[i]);
        }
    }
    if (found > 0) {
        qsort(room, found, sizeof *room, by_value);
        const double median = (room[found / 2] + room[(found - 1) / 2]) / 2;
        *fwhm = median * sqrt(c->config.peak_kev / 511);
    }
    free(room);
    return SLC_OK;
}

slc_status slc_pet_calibrate_gain(slc_pet_calibrate *c, float *gain, float *resolution, uint32_t *unsure,
                                  slc_error *error)
{
    const slc_status status = room_for_spectra(c, error);
    double *room = status == SLC_OK ? malloc(c->locals * sizeof *room) : NULL;
    if (room == NULL) {
        return status != SLC_OK
                   ? status
                   : slc_fail(error, SLC_ERR_MEMORY, "no memory for fits of %u crystals", c->locals);
    }
    uint32_t doubtful = 0;
    for (uint32_t at = 0; at < c->modules * c->units; at++) {
        doubtful += fit_block(c, at, room);
    }
    free(room);
    if (doubtful == c->crystals) {
        return slc_fail(error, SLC_ERR_FORMAT, "no photopeak is found in any of %u spectra", c->crystals);
    }
    double sum = 0;
    for (uint32_t i = 0; i < c->crystals; i++) {
        const slc_pet_peak *peak = &c->peaks[i];
        sum += peak->found ? c->config.peak_kev / peak->mean : 0;
        if (resolution != NULL) {
            resolution[i] = (float)resolution_of(peak);
        }
    }
    for (uint32_t at = 0; at < c->modules * c->units; at++) {
        fill_block(c, at, sum / (c->crystals - doubtful), gain);
    }
    if (unsure != NULL) {
        *unsure = doubtful;
    }
    return SLC_OK;
}
