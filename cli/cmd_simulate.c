/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice simulate velo`: generated events with truth, as an MDF file.
 */
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct simulate_options {
    const char *geometry, *output;
    double beam[2];
    uint64_t events, seed;
    double vertices, gas, noise, dead, inefficiency;
    bool no_scattering, compress, quiet;
} simulate_options;

#define O simulate_options
static const slc_cli_option options_table[] = {
    {"events", 0, NEEDED | COUNT(O, events, 0, 0), "N", "how many events"},
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT_AS(O, output, ENDS_OR_NONE(".mdf", ".raw")), "FILE",
     "where to write them (MDF); '-' is standard output"},
    {"seed", 0, COUNT(O, seed, 0, 0), "S", "same seed, same events"},
    {"vertices", 0, NUMBER(O, vertices, 0, 100), "X", "mean number of visible collisions in an event"},
    {"gas", 0, NUMBER(O, gas, 0, 100), "X", "mean number of collisions with gas, z from -541 to -341 mm"},
    {"no-scattering", 0, FLAG(O, no_scattering), NULL, "no multiple scattering in sensors and RF foil"},
    {"noise", 0, NUMBER(O, noise, 0, 1e6), "X", "mean number of noise pixels in an event"},
    {"dead", 0, NUMBER(O, dead, 0, 1), "X", "fraction of dead pixels"},
    {"inefficiency", 0, NUMBER(O, inefficiency, 0, 1), "X",
     "probability that a crossing of a sensor leaves nothing"},
    {"beam", 0, POINT(O, beam, "is X,Y in mm"), "X,Y",
     "where the beam is, in mm; the detector stays (default 0,0)"},
    {"geometry", 0, INPUTS(O, geometry, slc_cli_geometry_files), "FILE",
     "LHCb's velo_geometry.bin, or moves as JSON; without it the ideal geometry"},
    {"compress", 0, FLAG(O, compress), NULL, "write compressed records"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress and no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    simulate_options *options = at;
    *options = (simulate_options){.seed = config.seed,
                                  .vertices = (double)config.visible_vertices,
                                  .noise = (double)config.noise_pixels,
                                  .dead = (double)config.dead_fraction,
                                  .inefficiency = (double)config.inefficiency};
}

static bool open_generator(const simulate_options *options, slc_sim_velo **sim)
{
    slc_error error = {.status = SLC_OK};
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    config.seed = options->seed;
    config.visible_vertices = (float)options->vertices;
    config.gas_collisions = (float)options->gas;
    config.scattering = !options->no_scattering;
    config.noise_pixels = (float)options->noise;
    config.dead_fraction = (float)options->dead;
    config.inefficiency = (float)options->inefficiency;
    config.beam_x_mm = (float)options->beam[0];
    config.beam_y_mm = (float)options->beam[1];
    slc_velo_geometry *geometry = NULL;
    slc_status status = SLC_OK;
    if (options->geometry != NULL) {
        geometry = malloc(sizeof *geometry);
        status = geometry != NULL ? slc_io_read_velo_geometry(options->geometry, geometry, &error)
                                  : slc_fail(&error, SLC_ERR_MEMORY, "no memory for the geometry");
    }
    if (status == SLC_OK) {
        status = slc_sim_velo_open(&config, geometry, sim, &error);
    }
    free(geometry);
    if (status != SLC_OK) {
        slc_cli_say("simulate velo", "%s", error.text);
    }
    return status == SLC_OK;
}

/* One event at a time: memory does not grow with their number. */
static slc_status write_events(const simulate_options *options, slc_sim_velo *sim, slc_io_writer *writer,
                               slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_cli_progress progress;
    slc_cli_progress_begin(&progress, "simulate velo", options->quiet);
    slc_status status = SLC_OK;
    for (uint64_t i = 0; i < options->events && status == SLC_OK && !slc_cli_interrupted(); i++) {
        slc_batch_reset(&batch);
        status = slc_sim_velo_event(sim, i, &batch, NULL, error);
        if (status == SLC_OK) {
            status = slc_io_mdf_write(writer, batch.bytes + batch.offset[0], batch.length[0], error);
        }
        slc_cli_progress_show(&progress, i + 1, options->events);
    }
    slc_cli_progress_end(&progress);
    slc_batch_clear(&batch);
    return status;
}

static int simulate(const simulate_options *options)
{
    slc_error error = {.status = SLC_OK};
    slc_sim_velo *sim = NULL;
    slc_io_writer *writer = NULL;
    const double began = slc_clock_seconds();
    if (!open_generator(options, &sim)) {
        return SLC_CLI_FAILED;
    }
    slc_cli_catch_signals();
    const slc_io_mdf_config config = {.compress = options->compress, .run_number = (uint32_t)options->seed};
    slc_status status = slc_io_mdf_create(options->output, &config, &writer, &error);
    if (status == SLC_OK) {
        status = write_events(options, sim, writer, &error);
        if (status == SLC_OK && !slc_cli_interrupted()) {
            status = slc_io_finish(writer, &error);
        } else {
            slc_io_abandon(writer);
        }
    }
    slc_sim_velo_close(sim);
    if (status != SLC_OK) {
        slc_cli_say("simulate velo", "%s", error.text);
    }
    if (status != SLC_OK || slc_cli_interrupted()) {
        return SLC_CLI_FAILED;
    }
    if (!options->quiet) {
        slc_cli_say("simulate velo", "%s: %" PRIu64 " events with seed %" PRIu64 " in %.1f s",
                    strcmp(options->output, "-") == 0 ? "standard output" : options->output, options->events,
                    options->seed, slc_clock_seconds() - began);
    }
    return SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    return simulate(call->options);
}

const slc_cli_command slc_cmd_simulate_velo = {
    .name = "simulate velo",
    .operands = "",
    .summary = "generate proton-proton events with truth",
    .description =
        "Generates proton-proton collisions in LHCb's upgraded vertex detector and writes the raw data that\n"
        "the detector would send, with the simulation truth, as MDF. An event depends on the seed and its\n"
        "number alone.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
