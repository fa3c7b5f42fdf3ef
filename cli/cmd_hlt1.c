/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice hlt1`: raw events of LHCb to tracks of all its trackers; options, and how a run begins and ends.
 */
#include "cmd_hlt1.h"
#include "cli_rows.h"

#include <stdio.h>
#include <stdlib.h>

#define O slc_hlt1_options
static const slc_cli_option table[] = {
    {"geometry", 0, NEEDED | INPUT(O, geometry), "FOLDER",
     "LHCb's geometry and tables: velo_geometry.bin, ut_boards.bin ..."},
    {"settings", 0, CHOICE(O, settings, WORDS("standard", "loose", "full")), "WHICH",
     "of the searches: standard (the default), loose or full"},
    {"fast", 0, FLAG(O, fast), NULL, "tracks of the VELO by a single pass (sluice velo --fast)"},
    {"gec-ut-scifi", 0, COUNT(O, gec, 0, UINT32_MAX), "N",
     "leave out events with more clusters in UT and SciFi; 0: none"},
    {"lines", 0, INPUT(O, lines), "FILE", "decide about events by these lines (JSON)"},
    {"write-accepted", 0, OUTPUT_AS(O, write_accepted, ENDS_OR_NONE(".mdf", ".raw")), "FILE",
     "write the events that a line accepted, unchanged, as MDF"},
    {"decision-bank", 0, FLAG(O, decision_bank), NULL,
     "append to each of these a raw bank with its decision"},
    {"network", 0, INPUT(O, network), "FILE",
     "of TwoTrackMVA; without it the folder's two_track_mva_model.json"},
    {"truth", 0, FLAG(O, truth), NULL, "compare with simulation truth: efficiencies, ghosts, momentum"},
    {"strict", 0, FLAG(O, strict), NULL, "the first fault in the data ends the run; no result is written"},
    {"no-checksum", 0, FLAG(O, no_checksum), NULL, "do not verify the records' checksums"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 20), "N", "events in a batch, at most; results do not depend on it"},
    {"threads", 0, COUNT(O, threads, 0, 1024), "N", "threads that reconstruct; 0: one a processor"},
    {"report", 0, OUTPUT_AS(O, report, ENDS_OR_NONE(".html", ".htm")), "FILE",
     "write a report with an event and plots as HTML"},
    {"display", 0, TEXT(O, display), "N",
     "the event that the report draws, from 0 (default: the first with long tracks)"},
    {"output", 'o', STDOUT_TOO | OUTPUT(O, output), "FILE", "write hits and tracks as HDF5 or Arrow"},
    SLC_CLI_RESULTS(O, results),
    SLC_CLI_PART(O, part),
    SLC_CLI_RESULTS_LIVE(O, results),
    SLC_CLI_SERVE(O, serve),
    {"json", 0, FLAG(O, json), NULL, "print one JSON object instead of a table"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors and what was lost"},
};
#undef O

static void defaults(void *options)
{
    *(slc_hlt1_options *)options = (slc_hlt1_options){.batch = SLC_HLT1_BATCH_EVENTS, .threads = 1};
}

const char *slc_hlt1_settings_name(int settings)
{
    static const char *const names[] = {"standard", "loose", "full"};
    return names[settings];
}

static int set_config(slc_hlt1_job *job)
{
    const slc_hlt1_options *options = job->options;
    int status = slc_cli_display_check(&slc_cmd_hlt1, options->display, options->report,
                                       &job->options->display_event);
    status = status == SLC_CLI_GO_ON
                 ? slc_cli_results_check_name(&slc_cmd_hlt1, options->output, &options->results)
                 : status;
    status = status == SLC_CLI_GO_ON
                 ? slc_cli_results_check(&slc_cmd_hlt1, "output", true, options->output, &options->results)
                 : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (options->write_accepted != NULL && options->lines == NULL) {
        return slc_cli_wrong(&slc_cmd_hlt1, "--write-accepted needs --lines");
    }
    if (options->decision_bank && options->write_accepted == NULL) {
        return slc_cli_wrong(&slc_cmd_hlt1, "--decision-bank needs --write-accepted");
    }
    slc_hlt1_config_default(&job->config);
    slc_velo_config_default(&job->velo);
    slc_status made = slc_hlt1_config_preset(&job->config, slc_hlt1_settings_name(options->settings),
                                             &job->error);
    made = made == SLC_OK && options->fast ? slc_velo_config_preset(&job->velo, "fast", &job->error) : made;
    made = made == SLC_OK ? slc_simd_choose(NULL, &job->config.exec.target, &job->error) : made;
    job->velo.gec.max_ut_scifi = (uint32_t)options->gec;
    job->config.velo = &job->velo;
    return made == SLC_OK ? SLC_CLI_GO_ON : slc_cli_wrong(&slc_cmd_hlt1, "%s", job->error.text);
}

/* Lines, and the network that their quantity `network` is the answer of: the folder's, if none is named. */
static slc_status open_lines(slc_hlt1_job *job)
{
    const slc_hlt1_options *options = job->options;
    bool has_network;
    const slc_status status = slc_io_hlt1_selection_read(options->geometry, options->lines, options->network,
                                                         &job->lines, &job->network, &has_network,
                                                         &job->error);
    job->config.network = has_network ? &job->network : NULL;
    job->config.lines = options->lines != NULL ? &job->lines : NULL;
    return status;
}

size_t slc_hlt1_not_done(const slc_hlt1_job *job, slc_hlt1_undone undone[SLC_HLT1_UNDONE])
{
    size_t n = 0;
    if (!job->geometry->finds_muons) {
        undone[n++] = (slc_hlt1_undone){"muons",
                                        "no muon_field_of_interest.bin: no track is found to be a muon"};
    }
    if (job->geometry->transport == NULL) {
        undone[n++] = (slc_hlt1_undone){
            "fit", "no kalman_FT6x2: no track is fitted, and there are no particles and no pairs"};
    } else if (job->config.network == NULL) {
        undone[n++] = (slc_hlt1_undone){"network",
                                        "no two_track_mva_model.json: no pair has an answer of its network"};
    }
    return n;
}

static void tell_geometry(const slc_hlt1_job *job)
{
    slc_hlt1_undone undone[SLC_HLT1_UNDONE];
    for (size_t i = 0, n = slc_hlt1_not_done(job, undone); i < n; i++) {
        slc_cli_say("hlt1", "%s has %s", job->options->geometry, undone[i].why);
    }
}

static slc_status open_flow(slc_hlt1_job *job)
{
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)job->inputs;
    config.n_paths = (uint32_t)job->n_inputs;
    config.part = job->options->part.part;
    config.n_parts = job->options->part.n;
    config.io.verify_checksum = !job->options->no_checksum;
    config.batch_events = (uint32_t)job->options->batch;
    config.exec.threads = (uint32_t)job->options->threads;
    config.strict = job->options->strict;
    config.keep_going = config.signals_to_reader = true;
    config.results_alone = job->options->write_accepted == NULL; /* else records are asked for, too */
    config.io.keep_records = job->options->write_accepted != NULL;
    config.stop = slc_cli_stop;
    config.patience = slc_cli_page_patience(&job->page);
    job->setup.geometry = job->geometry;
    job->setup.truth = job->options->truth;
    job->setup.identity = job->options->output != NULL || job->options->json;
    return slc_flow_open(&config, &slc_flow_hlt1, &job->setup, &job->flow, &job->error);
}

/* The names to which numbers in the file refer. */
static slc_status put_names(slc_hlt1_job *job)
{
    const char *lines[SLC_VELO_MAX_LINES];
    const slc_status status = slc_io_results_names(job->results, "events", "inputs", (size_t)job->n_inputs,
                                                   (const char *const *)job->inputs, &job->error);
    for (uint32_t k = 0; k < job->lines.n_lines; k++) {
        lines[k] = job->lines.lines[k].name;
    }
    return status == SLC_OK && job->config.lines != NULL
               ? slc_io_results_names(job->results, "decisions", "lines", job->lines.n_lines, lines,
                                      &job->error)
               : status;
}

static bool begin_json(slc_hlt1_job *job)
{
    bool all = slc_cli_identity_keep(&job->identity);
    for (int i = 0; i < SLC_HLT1_ROWS && all; i++) {
        job->totals.of_event[i] = json_array();
        all = job->totals.of_event[i] != NULL;
    }
    if (!all) {
        slc_cli_say("hlt1", "no memory for the JSON output");
    }
    return all;
}

static bool told(const slc_hlt1_job *job, slc_status status)
{
    if (status != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
    }
    return status == SLC_OK;
}

static slc_status open_results(slc_hlt1_job *job, const char *command_line)
{
    const slc_hlt1_options *options = job->options;
    slc_status status = slc_cli_results_create(options->output, &options->results, options->threads,
                                               command_line, &job->results, &job->error);
    status = status == SLC_OK ? slc_io_results_text(job->results, "settings",
                                                    slc_hlt1_settings_name(options->settings), &job->error)
                              : status;
    return status == SLC_OK ? slc_cli_part_put(&slc_cmd_hlt1, &options->part, job->inputs, job->n_inputs,
                                               NULL, job->results, &job->error)
                            : status;
}

static bool open_outputs(slc_hlt1_job *job, const char *command_line)
{
    const slc_hlt1_options *options = job->options;
    static const slc_flow_hlt1_result none;
    if ((options->json && !begin_json(job)) || !slc_cli_can_create("hlt1", options->report)) {
        return false;
    }
    if (options->write_accepted != NULL &&
        !told(job, slc_io_select_create(options->write_accepted, &job->accepted, &job->error))) {
        return false;
    }
    return options->output == NULL || (told(job, open_results(job, command_line)) &&
                                       slc_hlt1_job_append(job, &none) && told(job, put_names(job)));
}

/* A run that read nothing replaces no earlier result. */
static void finish_outputs(slc_hlt1_job *job, const char *title, const char *command_line)
{
    slc_cli_kept kept = {.n = 0};
    const slc_hlt1_options *options = job->options;
    if (!job->useful && (job->results != NULL || options->report != NULL || job->accepted != NULL)) {
        slc_cli_say("hlt1", "%s: no file was written",
                    job->totals.events == 0 ? "no events were read" : "nothing of these detectors was read");
    }
    if (job->results != NULL && job->useful &&
        slc_cli_part_taken(&slc_cmd_hlt1, &options->part, options->output)) {
        job->failed = true;
    } else if (job->results != NULL && job->useful) {
        const slc_status status = slc_cli_results_end(job->results, &job->totals.checksum, &job->error);
        job->failed |= !slc_cli_kept_judge(&kept, "hlt1", options->output, status, &job->error);
        job->results = NULL;
    }
    if (job->accepted != NULL && job->useful) {
        const slc_status status = slc_io_finish(job->accepted, &job->error);
        job->failed |= !slc_cli_kept_judge(&kept, "hlt1", options->write_accepted, status, &job->error);
        job->accepted = NULL;
    }
    if (options->report != NULL && job->useful && !slc_hlt1_write_report(job, title, command_line)) {
        job->failed = true;
    } else if (job->useful) {
        slc_cli_kept_add(&kept, options->report);
    }
    if (job->partial) {
        slc_cli_tell_partial("hlt1", job->totals.events, "event", &kept);
        job->failed = true;
    }
}

static int begin(slc_hlt1_job *job, int n_inputs, char **inputs)
{
    int status = slc_cli_results_check_series(&slc_cmd_hlt1, job->options, job->options->output,
                                              &job->options->results, inputs, n_inputs);
    job->live = slc_cli_reads_once(inputs, n_inputs);
    status = status == SLC_CLI_GO_ON ? set_config(job) : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (slc_io_hlt1_geometry_open(job->options->geometry, &job->geometry, &job->error) != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    slc_status opened = open_lines(job);
    opened = opened == SLC_OK ? open_flow(job) : opened;
    if (opened == SLC_ERR_USAGE) {
        return slc_cli_wrong(&slc_cmd_hlt1, "%s", job->error.text);
    }
    if (opened != SLC_OK) {
        slc_cli_say("hlt1", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    tell_geometry(job);
    return SLC_CLI_GO_ON;
}

static int process(slc_hlt1_job *job, int n_inputs, char **inputs, const char *command_line)
{
    const int status = begin(job, n_inputs, inputs);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_cli_end_with_signals(inputs, n_inputs);
    slc_cli_catch_signals();
    if (!open_outputs(job, command_line)) {
        return SLC_CLI_FAILED;
    }
    const double began = slc_clock_seconds();
    slc_cli_progress_begin(&job->progress, "hlt1", job->options->quiet);
    const bool go_on = slc_hlt1_job_run(job);
    slc_cli_progress_end(&job->progress);
    if (!go_on) {
        return SLC_CLI_FAILED;
    }
    job->totals.seconds_total = slc_clock_seconds() - began;
    job->error = (slc_error){0};
    job->useful = job->useful || job->options->part.n > 1; /* may have nothing, and is joined all the same */
    char title[256];
    (void)snprintf(title, sizeof title, n_inputs == 1 ? "%s" : "%s and %d more", inputs[0], n_inputs - 1);
    finish_outputs(job, title, command_line);
    if (job->partial) {
        slc_cli_accept_signal();
    }
    if (!job->useful && job->totals.lost_events == 0) {
        return SLC_CLI_FAILED; /* which has been told: a table of zeros would be no result */
    }
    job->failed = !slc_hlt1_print(job) || job->failed;
    return job->failed ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

static void clear(slc_hlt1_job *job)
{
    slc_flow_close(job->flow);
    slc_io_hlt1_geometry_close(job->geometry);
    slc_io_abandon(job->results);
    slc_io_abandon(job->accepted);
    slc_cli_identity_clear(&job->identity);
    slc_hlt1_check_clear(&job->check);
    slc_hlt1_watch_clear(&job->watch);
    slc_cli_tree_clear(&job->doubts);
    slc_hlt1_drawing_clear(&job->drawing);
    for (int i = 0; i < SLC_HLT1_ROWS; i++) {
        json_decref(job->totals.of_event[i]);
    }
    free(job);
}

static int act(const slc_cli_call *call)
{
    slc_hlt1_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("hlt1", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    job->options = call->options;
    job->setup.config = &job->config;
    job->doubts = slc_cli_tree_new("hlt1");
    slc_cli_put_array(&job->doubts, "doubts");
    job->inputs = call->operands;
    job->n_inputs = call->n;
    int status = slc_cli_part_choose(&slc_cmd_hlt1, job->options, &job->options->part);
    status = status == SLC_CLI_GO_ON ? slc_cli_page_open(call, &job->options->serve, job->options->quiet,
                                                         &slc_flow_hlt1, &job->setup, &job->page)
                                     : status;
    status = status == SLC_CLI_GO_ON ? process(job, call->n, call->operands, call->command_line) : status;
    slc_cli_page_close(&job->page, status, job->flow, NULL);
    slc_cli_part_clear(&job->options->part);
    clear(job);
    return status;
}

const slc_cli_command slc_cmd_hlt1 = {
    .name = "hlt1",
    .operands = "INPUT...",
    .summary = "reconstruct tracks through all of LHCb's trackers",
    .description =
        "Reads raw events of LHCb (MDF, MEP), decodes VELO, UT, SciFi and muon stations, finds tracks of "
        "the\n"
        "VELO, of VELO and UT (upstream) and through the magnet to the SciFi (long), with momentum.\n"
        "'-' is standard input.\n"
        "Groups of --output: hits, tracks, track_hits, states_beam, states_end, primaries, ut_hits,\n"
        "scifi_hits, muon_hits, upstream_tracks, upstream_hits, long_tracks, long_hits, muons, "
        "fitted_tracks,\n"
        "particles, secondaries, decisions, events.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = defaults,
    .act = act,
};
