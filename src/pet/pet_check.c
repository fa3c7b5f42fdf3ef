/* SPDX-License-Identifier: Apache-2.0
 *
 * A check of the cabling (pet_check.h): what is added up, and the sample of pairs that is looked at.
 * pet_check_places.c finds where modules are, pet_check_times.c how late they are, pet_check_words.c names
 * it.
 */
#include "pet/pet_check_work.h"

#include "base/config.h"
#include "pet/pet_scanner.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_defaults(slc_pet_check_config *config)
{
    *config = (slc_pet_check_config){
        .size = sizeof *config, .range_ps = 5000, .bins = 100, .late_ps = 100, .of_pairs = 4096};
    (void)slc_pet_scanner("mouse20", &config->geometry, NULL);
}
SLC_CONFIG_DEFAULT(slc_pet_check_config, set_defaults)

static slc_status check_config(const slc_pet_check_config *c, slc_error *error)
{
    if (!(c->range_ps > 0) || !(c->range_ps <= 1e9)) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_pet_check_config: range_ps is %g, not from 0 to 1e9",
                        c->range_ps);
    }
    if (c->bins < 1 || c->bins > 4096) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_pet_check_config: bins is %u, not from 1 to 4096",
                        c->bins);
    }
    if (!(c->late_ps >= 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_pet_check_config: late_ps is %g", c->late_ps);
    }
    if (c->of_pairs < SLC_PET_CHECK_LEAST || c->of_pairs > 1 << 20) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_pet_check_config: of_pairs is %u, not from %d to 2^20",
                        c->of_pairs, SLC_PET_CHECK_LEAST);
    }
    for (int i = 0; c->has_source && i < 3; i++) {
        if (!isfinite(c->source_mm[i])) {
            return slc_fail(error, SLC_ERR_USAGE, "slc_pet_check_config: source_mm is not finite");
        }
    }
    return slc_pet_geometry_check(&c->geometry, error);
}

/* Where each cell of each module is, and which cell a crystal is. */
static void set_crystals(slc_pet_check *c)
{
    const slc_pet_geometry *g = &c->config.geometry;
    const uint32_t n = slc_pet_crystals(g);
    double direction[3];
    for (uint32_t crystal = 0; crystal < n; crystal++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(g, crystal, &module, &unit, &local);
        const uint32_t y = unit / g->blocks_z * g->crystals_y + local / g->crystals_z;
        const uint32_t z = unit % g->blocks_z * g->crystals_z + local % g->crystals_z;
        const uint32_t cell = y * c->places.columns + z;
        assert(module < c->modules && cell < c->cells);
        c->module_of[crystal] = (uint16_t)module;
        c->unit_of[crystal] = (uint16_t)unit;
        c->cell_of[crystal] = cell;
        double *at = c->position[(size_t)module * c->cells + cell];
        slc_pet_crystal_position(g, crystal, at, direction);
        c->places.reach_mm = fmax(c->places.reach_mm, hypot(at[0], at[1]));
    }
    c->places.step_mm = fmax(c->places.reach_mm / 128, 0.5 * g->pitch_z_mm);
}

static bool make_room(slc_pet_check *c)
{
    const size_t crystals = slc_pet_crystals(&c->config.geometry), modules = c->modules;
    c->module_of = malloc(crystals * sizeof *c->module_of);
    c->unit_of = malloc(crystals * sizeof *c->unit_of);
    c->cell_of = malloc(crystals * sizeof *c->cell_of);
    c->position = malloc(modules * c->cells * sizeof *c->position);
    c->singles = calloc(modules * c->units, sizeof *c->singles);
    c->prompt = calloc(modules * modules, sizeof *c->prompt);
    c->delayed = calloc(modules * modules, sizeof *c->delayed);
    c->times = calloc(modules * modules * c->config.bins, sizeof *c->times);
    c->sampled = calloc(modules, sizeof *c->sampled);
    c->places.place = calloc(modules, sizeof *c->places.place);
    c->places.turn = calloc(modules, sizeof *c->places.turn);
    c->places.odds = calloc(modules, sizeof *c->places.odds);
    c->offset_ps = calloc(modules, sizeof *c->offset_ps);
    c->error_ps = calloc(modules, sizeof *c->error_ps);
    c->finding = calloc(slc_pet_check_most(c), sizeof *c->finding);
    return c->module_of != NULL && c->unit_of != NULL && c->cell_of != NULL && c->position != NULL &&
           c->singles != NULL && c->prompt != NULL && c->delayed != NULL && c->times != NULL &&
           c->sampled != NULL && c->places.place != NULL && c->places.turn != NULL &&
           c->places.odds != NULL && c->offset_ps != NULL && c->error_ps != NULL && c->finding != NULL;
}

slc_status slc_pet_check_open(const slc_pet_check_config *given, slc_pet_check **check, slc_error *error)
{
    slc_pet_check_config config;
    set_defaults(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_pet_check_config", error);
    status = status == SLC_OK ? check_config(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const slc_pet_geometry *g = &config.geometry;
    slc_pet_check *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->config = config;
        c->modules = slc_pet_module_count(g);
        c->units = g->blocks_y * g->blocks_z;
        c->places = (slc_pet_places){.modules = c->modules,
                                     .rows = g->blocks_y * g->crystals_y,
                                     .columns = g->blocks_z * g->crystals_z};
        /* Layers, and crystals without rows, are turned in no way that is known. */
        const bool grid = g->layout == NULL || (g->layout->grid && g->layout->layers == 1);
        c->places.turns = !grid ? 1 : c->places.rows == c->places.columns ? SLC_PET_TURNS : 4;
        c->cells = c->places.rows * c->places.columns;
    }
    if (c == NULL || !make_room(c)) {
        slc_pet_check_close(c);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a check of %u modules",
                        slc_pet_module_count(g));
    }
    set_crystals(c);
    *check = c;
    return SLC_OK;
}

void slc_pet_check_close(slc_pet_check *c)
{
    if (c == NULL) {
        return;
    }
    void *const all[] = {c->module_of,
                         c->unit_of,
                         c->cell_of,
                         c->position,
                         c->singles,
                         c->prompt,
                         c->delayed,
                         c->times,
                         c->sampled,
                         c->places.place,
                         c->places.turn,
                         c->places.odds,
                         c->offset_ps,
                         c->error_ps,
                         c->finding,
                         c->sample,
                         c->of_module,
                         c->from_module,
                         c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* ---- what is added ----------------------------------------------------------------------------- */

void slc_pet_check_add_singles(slc_pet_check *c, const slc_pet_singles *singles)
{
    const uint32_t crystals = slc_pet_crystals(&c->config.geometry);
    c->has_singles = true;
    for (size_t i = 0; i < singles->head.size; i++) {
        const uint32_t crystal = singles->crystal[i];
        if (crystal < crystals) {
            c->singles[(size_t)c->module_of[crystal] * c->units + c->unit_of[crystal]]++;
        } else {
            c->outside++;
        }
    }
}

static void add_time(slc_pet_check *c, uint32_t i, uint32_t j, int64_t dt_ps)
{
    const double range = c->config.range_ps, bins = c->config.bins;
    for (int side = 0; side < 2; side++) {
        const double at = ((side == 0 ? (double)dt_ps : -(double)dt_ps) + range) * bins / (2 * range);
        if (at >= 0 && at < bins) {
            const size_t pair = side == 0 ? (size_t)i * c->modules + j : (size_t)j * c->modules + i;
            c->times[pair * c->config.bins + (size_t)at]++;
        }
    }
}

static slc_status add_sample(slc_pet_check *c, uint32_t a, uint32_t b, int64_t dt_ps, slc_error *error)
{
    if (c->places.n == c->capacity) {
        const size_t capacity = 2 * c->capacity + 4096;
        slc_pet_sample *sample = realloc(c->sample, capacity * sizeof *sample);
        if (sample == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for a sample of %zu pairs", capacity);
        }
        c->sample = sample;
        c->capacity = capacity;
    }
    c->sample[c->places.n++] = (slc_pet_sample){.module = {c->module_of[a], c->module_of[b]},
                                                .cell = {c->cell_of[a], c->cell_of[b]},
                                                .dt_ps = (float)dt_ps};
    c->sampled[c->module_of[a]]++;
    c->sampled[c->module_of[b]]++;
    return SLC_OK;
}

slc_status slc_pet_check_add(slc_pet_check *c, const slc_pet_coincidences *pairs, slc_error *error)
{
    const uint32_t crystals = slc_pet_crystals(&c->config.geometry);
    slc_status status = SLC_OK;
    for (size_t k = 0; k < pairs->head.size && status == SLC_OK; k++) {
        const uint32_t a = pairs->crystal1[k], b = pairs->crystal2[k];
        if (a >= crystals || b >= crystals) {
            c->outside++;
            continue;
        }
        const uint32_t i = c->module_of[a], j = c->module_of[b];
        uint64_t *matrix = pairs->delayed[k] != 0 ? c->delayed : c->prompt;
        matrix[(size_t)i * c->modules + j]++;
        if (i != j) {
            matrix[(size_t)j * c->modules + i]++;
        }
        if (pairs->delayed[k] != 0) {
            c->delayeds++;
            continue;
        }
        c->pairs++;
        if (i == j) {
            c->same_module++;
            continue;
        }
        add_time(c, i, j, pairs->dt_ps[k]);
        if (c->sampled[i] < c->config.of_pairs || c->sampled[j] < c->config.of_pairs) {
            status = add_sample(c, a, b, pairs->dt_ps[k], error);
        }
    }
    return status;
}

/* ---- what is found ----------------------------------------------------------------------------- */

/* Numbers of samples by module. */
static bool index_sample(slc_pet_check *c)
{
    slc_pet_places *p = &c->places;
    free(c->of_module);
    free(c->from_module);
    c->of_module = malloc((2 * p->n + 1) * sizeof *c->of_module);
    c->from_module = calloc(c->modules + 2, sizeof *c->from_module);
    if (c->of_module == NULL || c->from_module == NULL) {
        return false;
    }
    /* Two places on: after the filling, module m begins at from_module[m]. */
    for (size_t i = 0; i < p->n; i++) {
        for (int end = 0; end < 2; end++) {
            const uint32_t after = c->sample[i].module[end] + 2;
            c->from_module[after] += after < c->modules + 2;
        }
    }
    for (uint32_t m = 2; m < c->modules + 2; m++) {
        c->from_module[m] += c->from_module[m - 1];
    }
    for (size_t i = 0; i < p->n; i++) {
        for (int end = 0; end < 2; end++) {
            c->of_module[c->from_module[c->sample[i].module[end] + 1]++] = (uint32_t)i;
        }
    }
    p->sample = c->sample;
    p->of_module = c->of_module;
    p->from_module = c->from_module;
    p->position_mm = (const double(*)[3])c->position;
    return true;
}

slc_status slc_pet_check_find(slc_pet_check *c, slc_pet_checked *checked, slc_error *error)
{
    if (!index_sample(c) || !slc_pet_places_find(&c->places) ||
        !slc_pet_module_times(&c->places, c->offset_ps, c->error_ps)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a check of %zu pairs", c->places.n);
    }
    slc_pet_check_name(c);
    *checked = (slc_pet_checked){.modules = c->modules,
                                 .units = c->units,
                                 .pairs = c->pairs,
                                 .delayeds = c->delayeds,
                                 .same_module = c->same_module,
                                 .outside = c->outside,
                                 .singles = c->has_singles ? c->singles : NULL,
                                 .prompt = c->prompt,
                                 .delayed = c->delayed,
                                 .times = c->times,
                                 .offset_ps = c->offset_ps,
                                 .place = c->places.place,
                                 .finding = c->finding,
                                 .n_findings = c->n_findings,
                                 .n_errors = c->n_errors};
    memcpy(checked->source_mm, c->places.source_mm, sizeof checked->source_mm);
    return SLC_OK;
}
