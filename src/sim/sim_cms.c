/* SPDX-License-Identifier: Apache-2.0
 *
 * The generator of CMS's pixel events: one event in order (tracks, charge, words), configuration and truth.
 * The physics is in the files beside this one; README.md tells what is modelled.
 */
#include "base/columns.h"
#include "base/config.h"
#include "cms/cms_stages.h"
#include "sim/sim_cms_event.h"
#include "sim/sim_cms_synthetic.h"

#include <stdlib.h>
#include <string.h>

static const slc_column crossing_columns[] = {
    SOA_COLUMN(slc_sim_cms_crossings, module, "index"), SOA_COLUMN(slc_sim_cms_crossings, x_um, "um"),
    SOA_COLUMN(slc_sim_cms_crossings, y_um, "um"),      SOA_COLUMN(slc_sim_cms_crossings, charge_e, "e"),
    SOA_COLUMN(slc_sim_cms_crossings, n_digis, "1"),
};
SOA_SCHEMA(slc_sim_cms_crossings, slc_sim_cms_crossings_schema, "crossings", crossing_columns);

static void sim_cms_config_default(slc_sim_cms_config *config)
{
    *config = (slc_sim_cms_config){.size = sizeof *config,
                                   .seed = 1,
                                   .tracks = 1500,
                                   .noise_digis = 50,
                                   .duplicates = 0,
                                   .dead_columns = 0.001f,
                                   .noisy_columns = 0.0001f,
                                   .bad_rocs = 0.005f,
                                   .corrupt = 0,
                                   .shuffled = false};
}
SLC_CONFIG_DEFAULT(slc_sim_cms_config, sim_cms_config_default)

/* ---- open and close ------------------------------------------------------------------------------ */

static slc_status check(const slc_sim_cms_config *config, slc_error *error)
{
    const struct {
        const char *name;
        float value;
        double high;
    } limits[] = {{"tracks", config->tracks, 1e6},
                  {"noise_digis", config->noise_digis, 1e6},
                  {"duplicates", config->duplicates, 1},
                  {"dead_columns", config->dead_columns, 1},
                  {"noisy_columns", config->noisy_columns, 1},
                  {"bad_rocs", config->bad_rocs, 1},
                  {"corrupt", config->corrupt, 1}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        const double value = (double)limits[i].value;
        if (!(value >= 0 && value <= limits[i].high)) { /* not a number is neither */
            return slc_fail(error, SLC_ERR_USAGE, "simulation of CMS: %s is %g, allowed are 0 to %g",
                            limits[i].name, value, limits[i].high);
        }
    }
    return SLC_OK;
}

static slc_status prepare(slc_sim_cms *sim, slc_error *error)
{
    const size_t pixels = (size_t)SLC_CMS_ROWS * SLC_CMS_COLUMNS;
    sim->cabling = calloc(1, sizeof *sim->cabling);
    sim->planes = calloc(SLC_CMS_MODULES_PHASE1, sizeof *sim->planes);
    sim->places = calloc((size_t)SLC_CMS_MODULES_PHASE1 * SLC_CMS_ROCS, sizeof *sim->places);
    sim->link_chips = calloc((size_t)SLC_CMS_FEDS * SLC_CMS_LINKS, sizeof *sim->link_chips);
    sim->charge = calloc(pixels, sizeof *sim->charge);
    sim->stamp = calloc(pixels, sizeof *sim->stamp);
    if (sim->cabling == NULL || sim->planes == NULL || sim->places == NULL || sim->link_chips == NULL ||
        sim->charge == NULL || sim->stamp == NULL ||
        slc_cms_gains_reserve(&sim->gains, SLC_CMS_MODULES_PHASE1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "simulation of CMS: no memory");
    }
    /* Of a stream that no event has. */
    random_seed(&sim->random, sim->config.seed, UINT64_MAX);
    slc_sim_cms_make_planes(sim->planes);
    slc_sim_cms_make_cabling(sim);
    slc_sim_cms_make_gains(sim);
    return sim->failed ? slc_fail(error, SLC_ERR_MEMORY, "simulation of CMS: no memory") : SLC_OK;
}

slc_status slc_sim_cms_open(const slc_sim_cms_config *given, slc_sim_cms **sim, slc_error *error)
{
    *sim = NULL;
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_sim_cms_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_sim_cms *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "simulation of CMS: no memory");
    }
    opened->config = config;
    status = prepare(opened, error);
    if (status != SLC_OK) {
        slc_sim_cms_close(opened);
        return status;
    }
    *sim = opened;
    return SLC_OK;
}

void slc_sim_cms_close(slc_sim_cms *sim)
{
    if (sim == NULL) {
        return;
    }
    sim_list *lists[] = {&sim->noisy,  &sim->crossings, &sim->noise,   &sim->sorted, &sim->touched,
                         &sim->pixels, &sim->words,     &sim->ordered, &sim->bytes};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        free(lists[i]->rows);
    }
    slc_cms_gains_clear(&sim->gains);
    free(sim->cabling);
    free(sim->planes);
    free(sim->places);
    free(sim->link_chips);
    free(sim->charge);
    free(sim->stamp);
    free(sim);
}

const slc_cms_cabling *slc_sim_cms_cabling(const slc_sim_cms *sim)
{
    return sim->cabling;
}

const slc_cms_gains *slc_sim_cms_gains(const slc_sim_cms *sim)
{
    return &sim->gains;
}

const slc_cms_plane *slc_sim_cms_planes(const slc_sim_cms *sim)
{
    return sim->planes;
}

/* ---- truth --------------------------------------------------------------------------------------- */

void slc_sim_cms_truth_clear(slc_sim_cms_truth *truth)
{
    slc_columns_clear(&slc_cms_digis_schema, &truth->digis);
    slc_columns_clear(&slc_sim_cms_crossings_schema, &truth->crossings);
    slc_faults_reset(&truth->faults);
}

/* Room for one more event of so many rows. Events grow by half, so that appending stays linear. */
static slc_status make_room(const slc_schema *schema, void *collection, size_t rows)
{
    const slc_columns *head = collection;
    const bool full = head->n_events >= head->event_capacity;
    const uint32_t events = full ? head->n_events + head->n_events / 2 + 1 : head->event_capacity;
    return slc_columns_reserve(schema, collection, head->size + rows, events);
}

static void fill_crossings(const slc_sim_cms *sim, slc_sim_cms_crossings *out)
{
    const sim_cms_crossing *crossings = sim->crossings.rows;
    for (size_t i = 0; i < sim->crossings.size; i++) {
        const size_t row = out->head.size++;
        out->module[row] = crossings[i].module;
        out->x_um[row] = crossings[i].x_um;
        out->y_um[row] = crossings[i].y_um;
        out->charge_e[row] = crossings[i].charge_e;
        out->n_digis[row] = crossings[i].n_digis;
    }
    slc_columns_end_event(out);
}

/* ---- one event ----------------------------------------------------------------------------------- */

slc_status slc_sim_cms_event(slc_sim_cms *sim, uint64_t event, slc_batch *batch, slc_sim_cms_truth *truth,
                             slc_error *error)
{
    sim->failed = false;
    random_seed(&sim->random, sim->config.seed, event);
    slc_sim_cms_tracks(sim);
    slc_sim_cms_pixels(sim);
    slc_sim_cms_words(sim, event);
    slc_status status = sim->failed ? SLC_ERR_MEMORY : SLC_OK;
    if (status == SLC_OK && truth != NULL) {
        status = make_room(&slc_cms_digis_schema, &truth->digis, sim->words.size);
    }
    if (status == SLC_OK && truth != NULL) {
        status = make_room(&slc_sim_cms_crossings_schema, &truth->crossings, sim->crossings.size);
    }
    if (status == SLC_OK) {
        status = slc_batch_append(batch, sim->bytes.rows, sim->bytes.size, 0);
    }
    if (status != SLC_OK) {
        return slc_fail(error, status, "simulation of CMS: no memory for event %llu",
                        (unsigned long long)event);
    }
    if (truth != NULL) {
        slc_sim_cms_fill_digis(sim, event, truth);
        fill_crossings(sim, &truth->crossings);
    }
    return SLC_OK;
}
