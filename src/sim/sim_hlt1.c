/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of LHCb's first trigger level: one event in order. Collisions, particles and what they leave in the
 * VELO are sim_velo's, of the same numbers for the same seed; what is beyond has random numbers of its own.
 */
#include "sim/sim_hlt1_event.h"

#include "base/config.h"

#include <stdlib.h>
#include <string.h>

static void sim_hlt1_config_default(slc_sim_hlt1_config *config)
{
    *config = (slc_sim_hlt1_config){.size = sizeof *config,
                                    .seed = 1,
                                    .visible_vertices = 5.2f,
                                    .scattering = true,
                                    .b_fraction = 0.01f,
                                    .d_fraction = 0.18f,
                                    .s_fraction = 6.5f,
                                    .jpsi_fraction = 0,
                                    .secondaries = 1,
                                    .ut_inefficiency = 0.01f,
                                    .scifi_inefficiency = 0.012f,
                                    .muon_inefficiency = 0.01f,
                                    .ut_noise = 0.052f,
                                    .scifi_noise = 0.12f};
}
SLC_CONFIG_DEFAULT(slc_sim_hlt1_config, sim_hlt1_config_default)

static slc_status check(const slc_sim_hlt1_config *config, slc_error *error)
{
    const struct {
        const char *name;
        float value;
        double high;
    } limits[] = {{"visible_vertices", config->visible_vertices, 200},
                  {"b_fraction", config->b_fraction, 1},
                  {"d_fraction", config->d_fraction, 1},
                  {"s_fraction", config->s_fraction, 100},
                  {"jpsi_fraction", config->jpsi_fraction, 1},
                  {"secondaries", config->secondaries, 10},
                  {"ut_inefficiency", config->ut_inefficiency, 1},
                  {"scifi_inefficiency", config->scifi_inefficiency, 1},
                  {"muon_inefficiency", config->muon_inefficiency, 1},
                  {"ut_noise", config->ut_noise, 10},
                  {"scifi_noise", config->scifi_noise, 10}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!((double)limits[i].value >= 0 && (double)limits[i].value <= limits[i].high)) {
            return slc_fail(error, SLC_ERR_USAGE, "simulation of HLT1: %s is %g, allowed are 0 to %g",
                            limits[i].name, (double)limits[i].value, limits[i].high);
        }
    }
    return SLC_OK;
}

static slc_status check_geometry(const slc_hlt1_geometry *geometry, slc_error *error)
{
    const char *lacks = geometry->velo == NULL        ? "VELO"
                        : geometry->ut == NULL        ? "UT"
                        : geometry->scifi == NULL     ? "SciFi"
                        : geometry->muon == NULL      ? "muon stations"
                        : geometry->transport == NULL ? "transport"
                                                      : NULL;
    if (lacks != NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "simulation of HLT1: the geometry has no %s", lacks);
    }
    if (geometry->scifi->version != 0) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "simulation of HLT1: the SciFi's geometry is of version %u; banks are written for "
                        "version 0 alone",
                        geometry->scifi->version);
    }
    return SLC_OK;
}

/* ---- open and close ------------------------------------------------------------------------------ */

/* Banks of the SciFi by the channel at which they begin. */
static void order_banks(slc_sim_hlt1 *sim)
{
    const slc_scifi_geometry *g = sim->geometry->scifi;
    for (uint32_t i = 0; i < g->n_banks; i++) {
        uint32_t at = i;
        for (; at > 0 && g->first_channel[sim->scifi_order[at - 1]] > g->first_channel[i]; at--) {
            sim->scifi_order[at] = sim->scifi_order[at - 1];
        }
        sim->scifi_order[at] = i;
    }
}

static slc_status open_velo(slc_sim_hlt1 *sim, slc_error *error)
{
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    config.seed = sim->config.seed;
    config.visible_vertices = sim->config.visible_vertices;
    config.scattering = sim->config.scattering;
    config.b_fraction = sim->config.b_fraction;
    config.d_fraction = sim->config.d_fraction;
    config.s_fraction = sim->config.s_fraction;
    config.beam_x_mm = sim->geometry->beam_x_mm;
    config.beam_y_mm = sim->geometry->beam_y_mm;
    const slc_status status = slc_sim_velo_open(&config, sim->geometry->velo, &sim->velo, error);
    if (status == SLC_OK) {
        sim->velo->beyond = true;
        sim->velo->jpsi_fraction = (double)sim->config.jpsi_fraction;
    }
    return status;
}

slc_status slc_sim_hlt1_open(const slc_sim_hlt1_config *given, const slc_hlt1_geometry *geometry,
                             slc_sim_hlt1 **sim, slc_error *error)
{
    *sim = NULL;
    slc_sim_hlt1_config config;
    slc_sim_hlt1_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_sim_hlt1_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    status = status == SLC_OK ? check_geometry(geometry, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_sim_hlt1 *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "simulation of HLT1: no memory");
    }
    opened->config = config;
    opened->geometry = geometry;
    order_banks(opened);
    status = open_velo(opened, error);
    status = status == SLC_OK ? slc_sim_hlt1_places(opened, error) : status;
    if (status != SLC_OK) {
        slc_sim_hlt1_close(opened);
        return status;
    }
    *sim = opened;
    return SLC_OK;
}

void slc_sim_hlt1_close(slc_sim_hlt1 *sim)
{
    if (sim == NULL) {
        return;
    }
    sim_list *lists[] = {&sim->ut_marks,  &sim->scifi_marks,  &sim->muon_marks,
                         &sim->ut_points, &sim->scifi_points, &sim->words};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        free(lists[i]->rows);
    }
    for (size_t i = 0; i < SLC_UT_LAYERS; i++) {
        free(sim->ut[i].place);
    }
    for (size_t i = 0; i < SLC_SCIFI_LAYERS; i++) {
        free(sim->scifi[i].place);
    }
    for (size_t i = 0; i < SLC_MUON_STATIONS; i++) {
        free(sim->muon[i].place);
    }
    slc_sim_velo_close(sim->velo);
    free(sim);
}

/* ---- an event ------------------------------------------------------------------------------------- */

slc_status slc_sim_hlt1_event(slc_sim_hlt1 *sim, uint64_t index, slc_batch *batch, slc_velo_truth *truth,
                              slc_velo_beyond *beyond, slc_error *error)
{
    static const uint64_t other_numbers = 0x6d75546c48ULL;
    sim->ut_marks.size = sim->scifi_marks.size = sim->muon_marks.size = sim->ut_points.size =
        sim->scifi_points.size = 0;
    sim->failed = false;
    random_seed(&sim->random, sim->config.seed ^ other_numbers, index);
    slc_sim_begin(sim->velo, index);
    slc_sim_hlt1_fly(sim);
    slc_sim_hlt1_secondaries(sim);
    slc_sim_read_out(sim->velo, index);
    slc_sim_hlt1_banks(sim);
    sim->velo->failed = sim->velo->failed || sim->failed;
    return slc_sim_finish(sim->velo, index, batch, truth, beyond, error);
}
