/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice velo`: raw events or lists of hits to VELO tracks; what may be asked for, and how a run begins and
 * ends.
 */
#include "cmd_velo.h"
#include "cli_options.h"
#include "cli_words.h"

#include <stdlib.h>
#include <string.h>

static const slc_cli_option options_table[] = {
    {.name = "geometry",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, geometry),
     .help = "LHCb's velo_geometry.bin; without it the ideal geometry"},
    {.name = "candidates",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, candidates),
     .low = 1,
     .high = 32,
     .help = "partners nearest in phi that a seed tries"},
    {.name = "max-scatter-seeding",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, max_scatter_seeding),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a seed's third hit, mm²"},
    {.name = "max-scatter-extending",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, max_scatter_extending),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a further hit, mm²"},
    {.name = "max-scatter-3hits",
     .value = "X",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(slc_velo_options, max_scatter_3hits),
     .low = 0,
     .high = 1e6,
     .help = "scatter of a track of three hits, mm²"},
    {.name = "max-layer-hits",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, max_layer_hits),
     .low = 1,
     .high = UINT32_MAX,
     .help = "no track search in an event with more hits in a layer"},
    {.name = "truth",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, truth),
     .help = "compare with the simulation truth in the input"},
    {.name = "strict",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, strict),
     .help = "the first fault in the data ends the run; no result is written"},
    {.name = "batch",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_velo_options, batch),
     .low = 1,
     .high = 1 << 20,
     .help = "events in a batch, at most; results do not depend on it"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, json),
     .help = "print one JSON object instead of tables"},
    {.name = "table",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, table),
     .help = "write the tables as CSV"},
    {.name = "report",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, report),
     .help = "write a report with plots as HTML"},
    {.name = "output",
     .letter = 'o',
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_velo_options, output),
     .help = "write hits, tracks and states as HDF5"},
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_velo_options, quiet),
     .help = "no progress and no notes on standard error, only errors"},
};

static void set_defaults(void *at)
{
    slc_velo_track_config track;
    slc_velo_track_config_default(&track);
    slc_velo_options *options = at;
    *options = (slc_velo_options){.candidates = track.candidates,
                                  .max_layer_hits = track.max_layer_hits,
                                  .batch = 256,
                                  .max_scatter_seeding = (double)track.max_scatter_seeding_mm2,
                                  .max_scatter_extending = (double)track.max_scatter_extending_mm2,
                                  .max_scatter_3hits = (double)track.max_scatter_3hits_mm2};
}

static int check_same_files(const slc_velo_options *options, int n_inputs, char **inputs)
{
    const char *const names[] = {options->output, options->table, options->report};
    static const char *const flags[] = {"--output", "--table", "--report"};
    return slc_cli_check_files(&slc_cmd_velo, flags, names, 3, inputs, n_inputs);
}

static int check_outputs(const slc_velo_options *options)
{
    const char *const names[] = {options->output, options->table, options->report};
    static const char *const flags[] = {"--output", "--table", "--report"};
    for (size_t i = 0; i < 3; i++) {
        if (names[i] != NULL && strcmp(names[i], "-") == 0) {
            return slc_cli_wrong(&slc_cmd_velo, "%s needs the name of a file, not '-'", flags[i]);
        }
    }
    if (options->output != NULL && slc_cli_ends_with(options->output, ".csv")) {
        return slc_cli_wrong(&slc_cmd_velo, "-o writes HDF5, not CSV: use --table %s", options->output);
    }
    return SLC_CLI_GO_ON;
}

static int open_chain(slc_velo_job *job)
{
    const slc_velo_options *options = job->options;
    slc_velo_config config;
    slc_velo_geometry *geometry = NULL;
    slc_velo_config_default(&config);
    config.track.candidates = (uint32_t)options->candidates;
    config.track.max_layer_hits = (uint32_t)options->max_layer_hits;
    config.track.max_scatter_seeding_mm2 = (float)options->max_scatter_seeding;
    config.track.max_scatter_extending_mm2 = (float)options->max_scatter_extending;
    config.track.max_scatter_3hits_mm2 = (float)options->max_scatter_3hits;
    config.strict = options->strict;
    /* The checksum, which only --json prints, is over super-pixels too, and the report has their spectrum. */
    config.keep_superpixels = options->json || options->report != NULL;
    if (slc_simd_choose(NULL, &config.target, &job->error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_velo, "%s", job->error.text);
    }
    if (options->geometry != NULL) {
        geometry = malloc(sizeof *geometry);
        if (geometry == NULL) {
            slc_cli_say("velo", "no memory for the geometry");
            return SLC_CLI_FAILED;
        }
        if (slc_io_read_velo_geometry(options->geometry, geometry, &job->error) != SLC_OK) {
            slc_cli_say("velo", "%s", job->error.text);
            free(geometry);
            return SLC_CLI_FAILED;
        }
    }
    const slc_status status = slc_velo_chain_open(&config, geometry, &job->chain, &job->error);
    free(geometry);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(&slc_cmd_velo, "%s", job->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

/* Outputs that are written at the end are tried at the beginning: a wrong folder should not cost a long run.
 */
static bool can_create(slc_velo_job *job, const char *path)
{
    slc_io_text_writer *writer = NULL;
    if (path != NULL && slc_io_text_create(path, &writer, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return false;
    }
    slc_io_text_abandon(writer);
    return true;
}

static bool open_outputs(slc_velo_job *job, const char *command_line)
{
    const slc_velo_options *options = job->options;
    if (!can_create(job, options->table) || !can_create(job, options->report)) {
        return false;
    }
    if (options->json && (job->totals.hits_per_event = json_array()) == NULL) {
        slc_cli_say("velo", "no memory for the JSON output");
        return false;
    }
    return options->output == NULL || slc_velo_job_open_output(job, command_line);
}

static bool write_report(slc_velo_job *job, const char *title, const char *command_line)
{
    const slc_velo_totals *totals = &job->totals;
    const slc_run_summary summary = {
        .title = title,
        .command = command_line,
        .events = totals->events,
        .lost_events = totals->lost_events,
        .superpixels = totals->superpixels,
        .isolated = totals->isolated,
        .pixels = totals->pixels,
        .hits = totals->hits,
        .tracks = totals->tracks,
        .seconds = totals->seconds,
        .has_truth = job->options->truth && job->check.events > 0,
        .faults = totals->faults,
    };
    return slc_run_report_html(job->options->report, &summary, &job->check, &job->error) == SLC_OK;
}

/* What is written once all events are through. Each output stands for itself: one that fails does not undo
 * another. */
static void write_outputs(slc_velo_job *job, const char *title, const char *command_line)
{
    const slc_velo_options *options = job->options;
    const bool keep = job->totals.events > 0; /* a run that read nothing replaces no earlier result */
    if (!keep && (options->output != NULL || options->table != NULL || options->report != NULL)) {
        slc_cli_say("velo", "no events were read: no file was written");
    }
    if (job->hdf5 != NULL && keep) {
        const slc_status status = slc_io_hdf5_finish(job->hdf5, &job->error);
        job->hdf5 = NULL;
        if (status != SLC_OK) {
            slc_cli_say("velo", "%s", job->error.text);
            job->failed = true;
        }
    }
    if (options->table != NULL && keep && slc_velo_print_csv(job, options->table, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        job->failed = true;
    }
    if (options->report != NULL && keep && !write_report(job, title, command_line)) {
        slc_cli_say("velo", "%s", job->error.text);
        job->failed = true;
    }
    if (!options->json) {
        slc_velo_print_text(job);
    } else if (!slc_velo_print_json(job)) {
        job->failed = true;
    }
}

static int process(slc_velo_job *job, int n_inputs, char **inputs, const char *command_line)
{
    int status = open_chain(job);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_cli_catch_signals();
    if (!open_outputs(job, command_line)) {
        return SLC_CLI_FAILED;
    }
    const double began = slc_clock_seconds();
    slc_cli_progress_begin(&job->progress, "velo", job->options->quiet);
    for (int i = 0; i < n_inputs; i++) {
        if (!slc_velo_job_input(job, inputs[i])) {
            slc_cli_progress_end(&job->progress);
            return SLC_CLI_FAILED;
        }
    }
    slc_cli_progress_end(&job->progress);
    job->totals.seconds_total = slc_clock_seconds() - began;
    char title[256];
    (void)snprintf(title, sizeof title, n_inputs == 1 ? "%s" : "%s and %d more", inputs[0], n_inputs - 1);
    write_outputs(job, title, command_line);
    return job->failed || job->totals.lost_events > 0 ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static void clear(slc_velo_job *job)
{
    slc_io_hdf5_abandon(job->hdf5);
    slc_velo_chain_close(job->chain);
    slc_batch_clear(&job->batch);
    slc_velo_result_clear(&job->result);
    slc_velo_truth_clear(&job->truth);
    slc_columns_clear(&slc_velo_matches_schema, &job->matches);
    slc_velo_check_clear(&job->check);
    json_decref(job->totals.hits_per_event);
    free(job);
}

static int run(int argc, char **argv)
{
    slc_velo_options options;
    int first = 0;
    char *command_line = slc_cli_command_line("velo", argc, argv); /* before getopt moves the words about */
    slc_velo_job *job = calloc(1, sizeof *job);
    int status = SLC_CLI_FAILED;
    if (job == NULL || command_line == NULL) {
        slc_cli_say("velo", "no memory to begin with");
        free(job);
        free(command_line);
        return status;
    }
    job->options = &options;
    job->totals.checksum = SLC_CHECKSUM_START;
    slc_velo_check_config check_config;
    slc_velo_check_config_default(&check_config);
    slc_velo_check_init(&job->check, &check_config);
    status = slc_cli_parse(&slc_cmd_velo, argc, argv, &options, &first);
    if (status == SLC_CLI_GO_ON) {
        status = check_outputs(&options);
    }
    if (status == SLC_CLI_GO_ON) {
        status = check_same_files(&options, argc - first, argv + first);
    }
    if (status == SLC_CLI_GO_ON) {
        status = process(job, argc - first, argv + first, command_line);
    }
    clear(job);
    free(command_line);
    return status;
}

const slc_cli_command slc_cmd_velo = {
    .name = "velo",
    .operands = "INPUT...",
    .summary = "reconstruct tracks in LHCb's pixel vertex detector",
    .description = "Reads events of LHCb's pixel vertex detector (VELO), raw (MDF) or as lists of hits "
                   "(JSON), finds clusters\n"
                   "and tracks and fits them. '-' is standard input. The format of an input is found by "
                   "looking at it.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .run = run,
};
