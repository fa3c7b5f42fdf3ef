/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice simulate hlt1`: generated events of VELO, UT, SciFi and muon stations with truth, as an MDF file.
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
    uint64_t events, seed, first;
    double vertices, beauty, charm, jpsi, secondaries;
    bool no_scattering, compress, quiet;
} simulate_options;

#define O simulate_options
static const slc_cli_option options_table[] = {
    {"events", 0, NEEDED | COUNT(O, events, 0, 0), "N", "how many events"},
    {"geometry", 0, NEEDED | INPUT(O, geometry), "FOLDER",
     "LHCb's geometry and tables, and kalman_FT6x2 in it"},
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT_AS(O, output, ENDS_OR_NONE(".mdf", ".raw")), "FILE",
     "where to write them (MDF); '-' is standard output"},
    {"seed", 0, COUNT(O, seed, 0, 0), "S", "same seed, same events"},
    {"first", 0, COUNT(O, first, 0, 0), "N", "number of the first event: runs can be made in pieces"},
    {"vertices", 0, NUMBER(O, vertices, 0, 100), "X", "mean number of visible collisions in an event"},
    {"beauty", 0, NUMBER(O, beauty, 0, 1), "X", "fraction of collisions with a pair of beauty hadrons"},
    {"charm", 0, NUMBER(O, charm, 0, 1), "X", "fraction of collisions with a pair of charm hadrons"},
    {"jpsi", 0, NUMBER(O, jpsi, 0, 1), "X", "fraction of collisions with a J/psi, of two muons"},
    {"secondaries", 0, NUMBER(O, secondaries, 0, 10), "X", "how much matter adds; 1 as in LHCb's simulation"},
    {"no-scattering", 0, FLAG(O, no_scattering), NULL, "no multiple scattering"},
    {"compress", 0, FLAG(O, compress), NULL, "write compressed records"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress and no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    slc_sim_hlt1_config config;
    slc_sim_hlt1_config_default(&config);
    simulate_options *options = at;
    *options = (simulate_options){.seed = config.seed,
                                  .vertices = (double)config.visible_vertices,
                                  .beauty = (double)config.b_fraction,
                                  .charm = (double)config.d_fraction,
                                  .jpsi = (double)config.jpsi_fraction,
                                  .secondaries = (double)config.secondaries};
}

static slc_status open_generator(const simulate_options *options, slc_hlt1_geometry **geometry,
                                 slc_sim_hlt1 **sim, slc_error *error)
{
    slc_sim_hlt1_config config;
    slc_sim_hlt1_config_default(&config);
    config.seed = options->seed;
    config.visible_vertices = (float)options->vertices;
    config.b_fraction = (float)options->beauty;
    config.d_fraction = (float)options->charm;
    config.jpsi_fraction = (float)options->jpsi;
    config.secondaries = (float)options->secondaries;
    config.scattering = !options->no_scattering;
    const slc_status status = slc_io_hlt1_geometry_open(options->geometry, geometry, error);
    return status == SLC_OK ? slc_sim_hlt1_open(&config, *geometry, sim, error) : status;
}

/* One event at a time: memory does not grow with their number. */
static slc_status write_events(const simulate_options *options, slc_sim_hlt1 *sim, slc_io_writer *writer,
                               slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_cli_progress progress;
    slc_cli_progress_begin(&progress, "simulate hlt1", options->quiet);
    slc_status status = SLC_OK;
    for (uint64_t i = 0; i < options->events && status == SLC_OK && !slc_cli_interrupted(); i++) {
        slc_batch_reset(&batch);
        status = slc_sim_hlt1_event(sim, options->first + i, &batch, NULL, NULL, error);
        if (status == SLC_OK) {
            status = slc_io_mdf_write(writer, batch.bytes + batch.offset[0], batch.length[0], error);
        }
        slc_cli_progress_show(&progress, i + 1, options->events);
    }
    slc_cli_progress_end(&progress);
    slc_batch_clear(&batch);
    return status;
}

static slc_status write_file(const simulate_options *options, slc_sim_hlt1 *sim, slc_error *error)
{
    slc_io_writer *writer = NULL;
    const slc_io_mdf_config config = {.compress = options->compress, .run_number = (uint32_t)options->seed};
    slc_status status = slc_io_mdf_create(options->output, &config, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    status = write_events(options, sim, writer, error);
    if (status == SLC_OK && !slc_cli_interrupted()) {
        return slc_io_finish(writer, error);
    }
    slc_io_abandon(writer);
    return status;
}

static int act(const slc_cli_call *call)
{
    const simulate_options *options = call->options;
    slc_error error = {.status = SLC_OK};
    slc_hlt1_geometry *geometry = NULL;
    slc_sim_hlt1 *sim = NULL;
    const double began = slc_clock_seconds();
    slc_cli_catch_signals();
    slc_status status = open_generator(options, &geometry, &sim, &error);
    status = status == SLC_OK ? write_file(options, sim, &error) : status;
    slc_sim_hlt1_close(sim);
    slc_io_hlt1_geometry_close(geometry);
    if (status != SLC_OK) {
        slc_cli_say("simulate hlt1", "%s", error.text);
    }
    if (status != SLC_OK || slc_cli_interrupted()) {
        return SLC_CLI_FAILED;
    }
    if (!options->quiet) {
        slc_cli_say("simulate hlt1", "%s: %" PRIu64 " events with seed %" PRIu64 " in %.1f s",
                    strcmp(options->output, "-") == 0 ? "standard output" : options->output, options->events,
                    options->seed, slc_clock_seconds() - began);
    }
    return SLC_CLI_DONE;
}

const slc_cli_command slc_cmd_simulate_hlt1 = {
    .name = "simulate hlt1",
    .operands = "",
    .summary = "generate events of VELO, UT, SciFi and muon stations with truth",
    .description =
        "Generates proton-proton collisions and what their particles leave in LHCb's VELO, UT, SciFi and "
        "muon\n"
        "stations, and writes the raw data that these would send, with the simulation truth, as MDF, for\n"
        "'sluice hlt1'. An event depends on the seed and its number alone.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
