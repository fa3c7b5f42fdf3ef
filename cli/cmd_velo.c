/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice velo`: raw events or lists of hits to VELO tracks; how a run begins and ends.
 */
#include "cmd_velo.h"
#include "cli_rows.h"
#include "cli_words.h"

#include <stdlib.h>
#include <string.h>

int slc_velo_job_open_chain(slc_velo_job *job)
{
    slc_velo_options *options = job->options;
    int usage = slc_velo_options_config(options, &job->config);
    if (usage == SLC_CLI_GO_ON) {
        usage = slc_velo_beam_open(job);
    }
    if (usage != SLC_CLI_GO_ON) {
        return usage;
    }
    if (!slc_velo_selecting_open(options->select, &job->selecting)) {
        return SLC_CLI_FAILED;
    }
    if (job->selecting != NULL) {
        job->selecting->wants_fired = options->output != NULL && options->wanted == NULL &&
                                      slc_cli_results_have(&options->results, "fired");
        job->selecting->by_chain = !job->selecting->wants_fired;
        job->config.selection = job->selecting->by_chain ? &job->selecting->selection : NULL;
    }
    if (slc_simd_choose(NULL, &job->config.exec.target, &job->error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_velo, "%s", job->error.text);
    }
    if (options->geometry != NULL) {
        job->geometry = malloc(sizeof *job->geometry);
        if (job->geometry == NULL) {
            slc_cli_say("velo", "no memory for the geometry");
            return SLC_CLI_FAILED;
        }
        if (slc_io_read_velo_geometry(options->geometry, job->geometry, &job->error) != SLC_OK) {
            slc_cli_say("velo", "%s", job->error.text);
            return SLC_CLI_FAILED;
        }
    }
    if (options->mask != NULL) {
        job->config.mask = job->mask = malloc(sizeof *job->mask);
        if (job->mask == NULL) {
            slc_cli_say("velo", "no memory for a mask");
            return SLC_CLI_FAILED;
        }
        if (slc_io_velo_mask_read(options->mask, job->mask, &job->error) != SLC_OK) {
            slc_cli_say("velo", "%s", job->error.text);
            return SLC_CLI_FAILED;
        }
    }
    const slc_status status = slc_velo_job_open(job, &slc_flow_velo, NULL);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(&slc_cmd_velo, "%s", job->error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

static bool open_outputs(slc_velo_job *job, const char *command_line)
{
    const slc_velo_options *options = job->options;
    if (!slc_velo_selecting_create(job->selecting, options->write_accepted) ||
        !slc_cli_can_create("velo", options->table) || !slc_cli_can_create("velo", options->report) ||
        !slc_cli_can_create("velo", options->residuals) || !slc_velo_residuals_open(job) ||
        !slc_cli_can_create("velo", options->monitor) || !slc_velo_monitor_begin(job)) {
        return false;
    }
    if (options->json && ((slc_velo_job_wants(job, SLC_VELO_WANT_HITS) &&
                           (job->totals.hits_per_event = json_array()) == NULL) ||
                          !slc_cli_identity_keep(&job->identity))) {
        slc_cli_say("velo", "no memory for the JSON output");
        return false;
    }
    if (job->selecting != NULL) {
        slc_flow_totals totals;
        job->selecting->with_bank = options->decision_bank;
        slc_flow_totals_of(job->flow, &totals);
        job->selecting->first_event = totals.first_event;
    }
    return (options->output == NULL || slc_velo_job_open_output(job, command_line)) && slc_velo_beam_use(job);
}

bool slc_velo_job_keeps(const slc_velo_job *job)
{
    return job->totals.events > slc_faults_of(&job->totals.faults, SLC_FAULT_EVENT_NO_VP) ||
           job->options->part.n > 1; /* a part may have nothing, and is joined all the same */
}

void slc_velo_job_write(slc_velo_job *job, const char *title, const char *command_line)
{
    const slc_velo_options *options = job->options;
    slc_cli_kept kept = {.n = 0};
    const bool keep = slc_velo_job_keeps(job);
    if (!keep &&
        (options->output != NULL || options->table != NULL || options->report != NULL ||
         options->residuals != NULL || options->write_accepted != NULL || options->monitor != NULL)) {
        slc_cli_say("velo", "%s: no file was written",
                    job->totals.events == 0 ? "no events were read" : "no event has VELO banks");
    }
    if (job->results != NULL && keep && slc_cli_part_taken(&slc_cmd_velo, &options->part, options->output)) {
        job->failed = true;
    } else if (job->results != NULL && keep) {
        const slc_status status = slc_velo_results_end(job);
        job->failed |= !slc_cli_kept_judge(&kept, "velo", options->output, status, &job->error);
        job->results = NULL;
    }
    if (job->selecting != NULL && !slc_velo_selecting_finish(job->selecting, keep)) {
        job->failed = true;
    } else if (keep) {
        slc_cli_kept_add(&kept, options->write_accepted);
    }
    job->failed |= !slc_velo_monitor_finish(job, keep, &kept);
    slc_cli_tree tree = slc_velo_tree(job);
    if (options->table != NULL && keep) {
        const slc_status status = slc_velo_write_csv(job, &tree, &job->error);
        job->failed |= !slc_cli_kept_judge(&kept, "velo", options->table, status, &job->error);
    }
    if (options->residuals != NULL && keep) {
        const slc_status status = slc_velo_write_residuals(job, &job->error);
        job->failed |= !slc_cli_kept_judge(&kept, "velo", options->residuals, status, &job->error);
    }
    if (options->report != NULL && keep && !slc_velo_write_report(job, title, command_line)) {
        job->failed = true;
    } else if (keep) {
        slc_cli_kept_add(&kept, options->report);
    }
    if (job->partial) {
        slc_cli_tell_partial("velo", job->totals.events, "event", &kept);
        job->failed = true;
    }
    /* Nothing could be read, which has been told: a table of zeros would be no result. What was lost is
     * counted in the JSON. */
    if (!keep && (job->totals.lost_events > 0 ? !options->json : job->failed)) {
        slc_cli_tree_clear(&tree);
    } else if (!slc_velo_print(job, &tree)) {
        job->failed = true;
    }
}

/* All inputs, and the repetitions. */
static bool go_through(slc_velo_job *job)
{
    slc_cli_progress_begin(&job->progress, "velo", job->options->quiet);
    bool go_on = slc_velo_beam_settle(job) && slc_velo_job_run(job, slc_velo_job_take);
    if (go_on && job->beam.settled) {
        slc_velo_beam_end_all(job);
    } else if (go_on) {
        slc_velo_beam_tell_unsettled(job);
        go_on = false;
    }
    job->partial = slc_cli_cut();
    if (go_on && job->options->repeat > 0 && !job->partial) {
        go_on = slc_velo_measure(job) && !slc_cli_cut(); /* the time of some is none */
    }
    slc_cli_progress_end(&job->progress);
    if (!go_on && slc_cli_interrupted() && !job->options->quiet) {
        slc_cli_say("velo", "interrupted: %llu events, %llu tracks so far; no file was written",
                    (unsigned long long)job->totals.events, (unsigned long long)job->totals.tracks);
    }
    return go_on;
}

static int process(slc_velo_job *job, int n_inputs, char **inputs, const char *command_line)
{
    job->inputs = inputs;
    job->n_inputs = n_inputs;
    job->live = slc_cli_reads_once(inputs, n_inputs);
    int status = slc_cli_results_check_series(&slc_cmd_velo, job->options, job->options->output,
                                              &job->options->results, inputs, n_inputs);
    status = status == SLC_CLI_GO_ON ? slc_velo_job_open_chain(job) : status;
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_cli_end_with_signals(inputs, n_inputs);
    slc_cli_catch_signals();
    if (!open_outputs(job, command_line)) {
        return SLC_CLI_FAILED;
    }
    const double began = slc_clock_seconds();
    if (!go_through(job)) {
        return SLC_CLI_FAILED;
    }
    job->totals.seconds_total = slc_clock_seconds() - began;
    char title[256];
    (void)snprintf(title, sizeof title, n_inputs == 1 ? "%s" : "%s and %d more", inputs[0], n_inputs - 1);
    slc_velo_job_write(job, title, command_line);
    if (job->partial) {
        slc_cli_accept_signal();
    }
    return job->failed || job->totals.lost_events > 0 ? SLC_CLI_FAILED : SLC_CLI_DONE;
}

void slc_velo_job_clear(slc_velo_job *job)
{
    slc_io_abandon(job->results);
    slc_velo_selecting_clear(job->selecting);
    slc_flow_close(job->flow);
    slc_velo_held_clear(job);
    free(job->geometry);
    free(job->residuals);
    free(job->mask);
    slc_velo_monitor_close(job->monitor);
    slc_columns_clear(&slc_velo_matches_schema, &job->matches);
    slc_velo_drawing_clear(&job->drawing);
    slc_velo_beam_close(job);
    slc_velo_check_clear(&job->check);
    json_decref(job->totals.hits_per_event);
    slc_cli_identity_clear(&job->identity);
}

void slc_velo_job_init(slc_velo_job *job, slc_velo_options *options)
{
    slc_velo_check_config check_config;
    slc_velo_check_config_default(&check_config);
    slc_velo_check_init(&job->check, &check_config);
    job->options = options;
}

static int act(const slc_cli_call *call)
{
    slc_velo_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        slc_cli_say("velo", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    slc_velo_job_init(job, call->options);
    if (job->options->print_config || call->n == 0) {
        const int printed = job->options->print_config
                                ? slc_velo_config_print(job)
                                : slc_cli_wrong(&slc_cmd_velo, "%s is missing", slc_cmd_velo.operands);
        slc_velo_job_clear(job);
        free(job);
        return printed;
    }
    int status = slc_cli_part_choose(&slc_cmd_velo, job->options, &job->options->part);
    status = status == SLC_CLI_GO_ON ? slc_velo_page_open(job, call) : status;
    status = status == SLC_CLI_GO_ON ? process(job, call->n, call->operands, call->command_line) : status;
    slc_velo_page_close(job, status);
    slc_cli_part_clear(&job->options->part);
    slc_velo_job_clear(job);
    free(job);
    return status;
}

const slc_cli_command slc_cmd_velo = {
    .name = "velo",
    .operands = "INPUT...",
    .summary = "reconstruct tracks in LHCb's pixel vertex detector",
    .description =
        "Reads events of LHCb's pixel vertex detector (VELO), raw (MDF, MEP) or as lists of hits "
        "(JSON), finds\n"
        "clusters, tracks and vertices. '-' is standard input. The format of an input is found by looking "
        "at it.\n"
        "Groups of --output: events, hits, tracks, track_hits, states_beam, states_end, "
        "primaries; with --impacts\n"
        "impacts; with --select impacts, decisions, fired; with --gec-... event_cuts; with "
        "--truth particles,\n"
        "particle_ids, vertices, matches.\n",
    .options = slc_velo_options_table,
    .n_options = SLC_VELO_OPTIONS,
    .min_operands = 0, /* with --print-config */
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = slc_velo_options_defaults,
    .act = act,
};
