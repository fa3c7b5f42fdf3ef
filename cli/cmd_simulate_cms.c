/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice simulate cms`: generated events of CMS's pixel detector as raw data, with the cabling and the gains
 * that belong to them, and the truth.
 */
#include "cli_options.h"
#include "cli_results.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_simulate_cms)

typedef struct simulate_options {
    const char *output, *cabling, *gains, *truth;
    uint64_t events, seed;
    double tracks, noise, duplicates, dead, noisy, bad_rocs, corrupt;
    bool crowded, shuffle, quiet;
} simulate_options;

#define O simulate_options
static const slc_cli_option options_table[] = {
    {"events", 0, NEEDED | COUNT(O, events, 0, 0), "N", "how many events"},
    {"output", 'o', NEEDED | STDOUT_TOO | OUTPUT(O, output), "FILE",
     "where to write their raw data; '-' is standard output"},
    {"cabling", 0, OUTPUT(O, cabling), "FILE", "where to write which chip is read out where"},
    {"gains", 0, OUTPUT(O, gains), "FILE", "where to write gains and pedestals"},
    {"truth", 0, OUTPUT(O, truth), "FILE", "where to write digis and crossings of tracks (HDF5)"},
    {"seed", 0, COUNT(O, seed, 0, 0), "S", "same seed, same events"},
    {"tracks", 0, NUMBER(O, tracks, 0, 1e6), "X", "mean number of tracks through the first layer"},
    {"crowded", 0, FLAG(O, crowded), NULL, "as many tracks as make about 175000 digis an event"},
    {"noise", 0, NUMBER(O, noise, 0, 1e6), "X", "mean number of noise digis in an event"},
    {"duplicates", 0, NUMBER(O, duplicates, 0, 1), "X", "fraction of digis that are sent twice"},
    {"dead", 0, NUMBER(O, dead, 0, 1), "X", "fraction of columns that the gains mark as dead"},
    {"noisy", 0, NUMBER(O, noisy, 0, 1), "X", "fraction of columns that are noisy, and marked so"},
    {"bad-rocs", 0, NUMBER(O, bad_rocs, 0, 1), "X", "fraction of chips that the cabling marks as bad"},
    {"corrupt", 0, NUMBER(O, corrupt, 0, 1), "X",
     "fraction of words and fragments damaged, in every way in turn"},
    {"shuffle", 0, FLAG(O, shuffle), NULL, "fragments of an event and links of a fragment in random order"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress and no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    simulate_options *options = at;
    *options = (simulate_options){.seed = config.seed,
                                  .tracks = (double)config.tracks,
                                  .noise = (double)config.noise_digis,
                                  .duplicates = (double)config.duplicates,
                                  .dead = (double)config.dead_columns,
                                  .noisy = (double)config.noisy_columns,
                                  .bad_rocs = (double)config.bad_rocs,
                                  .corrupt = (double)config.corrupt};
}

static slc_status open_generator(const simulate_options *options, slc_sim_cms **sim, slc_error *error)
{
    const slc_sim_cms_config config = {
        .size = sizeof config,
        .seed = options->seed,
        .tracks = options->crowded ? (float)SLC_SIM_CMS_CROWDED_TRACKS : (float)options->tracks,
        .noise_digis = (float)options->noise,
        .duplicates = (float)options->duplicates,
        .dead_columns = (float)options->dead,
        .noisy_columns = (float)options->noisy,
        .bad_rocs = (float)options->bad_rocs,
        .corrupt = (float)options->corrupt,
        .shuffled = options->shuffle,
        .whole = true, /* events of a file do not say how long they are */
    };
    return slc_sim_cms_open(&config, sim, error);
}

/* ---- outputs ------------------------------------------------------------------------------------- */

typedef struct outputs {
    slc_io_writer *events;
    slc_io_writer *truth; /* NULL: not asked for */
} outputs;

static slc_status open_outputs(const simulate_options *options, const char *command_line, outputs *out,
                               slc_error *error)
{
    slc_status status = slc_io_cms_create(options->output, &out->events, error);
    if (status == SLC_OK && options->truth != NULL) {
        status = slc_cli_results_create(options->truth, &(slc_cli_results){0}, 1, command_line, &out->truth,
                                        error);
    }
    return status;
}

/* What a right decoder complains of, as attributes: cms_gap, cms_crc … */
static slc_status write_faults(slc_io_writer *writer, const slc_faults *faults, slc_error *error)
{
    slc_status status = SLC_OK;
    for (slc_fault_code code = SLC_FAULT_CMS_ROC_INVALID; code <= SLC_FAULT_CMS_EVENT && status == SLC_OK;
         code++) {
        status = slc_io_results_number(writer, slc_fault_name(code), (double)slc_faults_of(faults, code),
                                       error);
    }
    return status;
}

static slc_status finish_outputs(outputs *out, const slc_faults *faults, slc_error *error)
{
    slc_status status = SLC_OK;
    if (out->truth != NULL) {
        status = write_faults(out->truth, faults, error);
        if (status == SLC_OK) {
            status = slc_io_finish(out->truth, error);
            out->truth = NULL;
        }
    }
    if (status == SLC_OK) {
        status = slc_io_finish(out->events, error);
        out->events = NULL;
    }
    return status;
}

static void abandon_outputs(outputs *out)
{
    slc_io_abandon(out->events);
    slc_io_abandon(out->truth);
}

static slc_status write_payloads(const simulate_options *options, const slc_sim_cms *sim, slc_error *error)
{
    slc_status status = SLC_OK;
    if (options->cabling != NULL) {
        status = slc_io_write_cms_cabling(options->cabling, slc_sim_cms_cabling(sim), error);
    }
    if (status == SLC_OK && options->gains != NULL) {
        status = slc_io_write_cms_gains(options->gains, slc_sim_cms_gains(sim), error);
    }
    return status;
}

/* ---- the run ------------------------------------------------------------------------------------- */

/* One event, into the files. The truth's faults add up, its rows are forgotten. */
static slc_status write_event(slc_sim_cms *sim, uint64_t event, outputs *out, slc_batch *batch,
                              slc_sim_cms_truth *truth, slc_error *error)
{
    slc_batch_reset(batch);
    slc_columns_reset(&truth->digis);
    slc_columns_reset(&truth->crossings);
    slc_status status = slc_sim_cms_event(sim, event, batch, truth, error);
    if (status == SLC_OK) {
        status = slc_io_cms_write(out->events, batch->bytes + batch->offset[0], batch->length[0], error);
    }
    if (status == SLC_OK && out->truth != NULL) {
        const slc_io_group groups[] = {
            {"digis", &slc_cms_digis_schema, &truth->digis, SLC_IO_ROWS_ANY},
            {"crossings", &slc_sim_cms_crossings_schema, &truth->crossings, SLC_IO_ROWS_ANY}};
        status = slc_io_results_put(out->truth, groups, 2, error);
    }
    return status;
}

/* An event at a time: memory does not grow with their number. */
static slc_status write_events(const simulate_options *options, slc_sim_cms *sim, outputs *out,
                               uint64_t *digis, slc_error *error)
{
    slc_batch batch = {.n_events = 0};
    slc_sim_cms_truth truth = {.faults = {.n_kept = 0}};
    slc_cli_progress progress;
    slc_status status = SLC_OK;
    slc_cli_progress_begin(&progress, "simulate cms", options->quiet);
    for (uint64_t i = 0; i < options->events && status == SLC_OK && !slc_cli_interrupted(); i++) {
        status = write_event(sim, i, out, &batch, &truth, error);
        *digis += truth.digis.head.size;
        slc_cli_progress_show(&progress, i + 1, options->events);
    }
    slc_cli_progress_end(&progress);
    if (status == SLC_OK && !slc_cli_interrupted()) {
        status = finish_outputs(out, &truth.faults, error);
    }
    slc_batch_clear(&batch);
    slc_sim_cms_truth_clear(&truth);
    return status;
}

static int simulate(const simulate_options *options, const char *command_line)
{
    slc_error error = {.status = SLC_OK};
    slc_sim_cms *sim = NULL;
    outputs out = {.events = NULL};
    uint64_t digis = 0;
    const double began = slc_clock_seconds();
    slc_cli_catch_signals();
    slc_status status = open_generator(options, &sim, &error);
    status = status == SLC_OK ? open_outputs(options, command_line, &out, &error) : status;
    status = status == SLC_OK ? write_events(options, sim, &out, &digis, &error) : status;
    abandon_outputs(&out); /* what has been finished is not there any more */
    const bool interrupted = slc_cli_interrupted();
    status = status == SLC_OK && !interrupted ? write_payloads(options, sim, &error) : status;
    slc_sim_cms_close(sim);
    if (status != SLC_OK) {
        slc_cli_say("simulate cms", "%s", error.text);
    }
    if (status != SLC_OK || interrupted) {
        return SLC_CLI_FAILED;
    }
    if (!options->quiet) {
        slc_cli_say("simulate cms",
                    "%s: %" PRIu64 " events with seed %" PRIu64 ", %.0f digis an event, in %.1f s",
                    strcmp(options->output, "-") == 0 ? "standard output" : options->output, options->events,
                    options->seed, options->events > 0 ? (double)digis / (double)options->events : 0.0,
                    slc_clock_seconds() - began);
    }
    return SLC_CLI_DONE;
}

static int act(const slc_cli_call *call)
{
    return simulate(call->options, call->command_line);
}

const slc_cli_command slc_cmd_simulate_cms = {
    .name = "simulate cms",
    .operands = "",
    .summary = "generate events of CMS's pixels with truth",
    .description = "Generates tracks through CMS's pixel detector of 1856 modules and writes the raw data "
                   "that its read-out\n"
                   "would send, as sluice cms reads them, with the cabling and the gains that it needs for "
                   "that. An event\n"
                   "depends on the options and its number alone.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
