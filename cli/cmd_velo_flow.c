/* SPDX-License-Identifier: Apache-2.0
 *
 * The run of `sluice velo` over its inputs, and what is done with results: compare with truth, append to the
 * output, add to the totals. Batches come here in the order of the input and in one thread, whatever threads
 * made them, so that nothing depends on how many there were.
 */
#include "cli_faults.h"
#include "cli_words.h"
#include "cmd_velo.h"

#include <string.h>

/* Functions that return bool return true to go on; on false the reason has been told. */

static bool told(const slc_velo_job *job, slc_status status)
{
    if (status != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return status == SLC_OK;
}

/* ---- the result file --------------------------------------------------------------------------- */

/* The groups of what was found, of those that were wanted; returns how many. */
static size_t put_found(const slc_velo_job *job, const slc_flow_velo_result *result, slc_io_group *groups)
{
    const struct {
        uint32_t bit;
        slc_io_group group;
    } all[] = {
        {UINT32_MAX, {"events", &slc_lhcb_events_schema, &result->events, SLC_IO_ROWS_ONE}},
        {SLC_VELO_WANT_HITS, {"hits", &slc_velo_hits_schema, &result->found.hits, SLC_IO_ROWS_ANY}},
        {SLC_VELO_WANT_TRACKS, {"tracks", &slc_velo_tracks_schema, &result->found.tracks, SLC_IO_ROWS_ANY}},
        {SLC_VELO_WANT_TRACKS,
         {"track_hits", &slc_velo_track_hits_schema, &result->found.track_hits, SLC_IO_ROWS_ANY}},
        {SLC_VELO_WANT_BEAM, {"states_beam", &slc_velo_states_schema, &result->found.beam, SLC_IO_ROWS_ANY}},
        {SLC_VELO_WANT_END, {"states_end", &slc_velo_states_schema, &result->found.end, SLC_IO_ROWS_ANY}},
        {SLC_VELO_WANT_PRIMARIES,
         {"primaries", &slc_velo_primaries_schema, &result->found.primaries, SLC_IO_ROWS_ANY}},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (slc_velo_job_wants(job, all[i].bit)) {
            groups[n++] = all[i].group;
        }
    }
    return n;
}

/* What is not wanted has no tracks to be told which had part. */
static bool has_fired(const slc_velo_job *job)
{
    return job->selecting != NULL && job->options->wanted == NULL;
}

static bool append_all(slc_velo_job *job, const slc_flow_velo_result *result)
{
    const bool truth = job->options->truth;
    const slc_velo_selecting *selecting = job->selecting;
    slc_io_group groups[15];
    size_t n = put_found(job, result, groups);
    if (slc_velo_gec_is_on(job)) {
        groups[n++] = (slc_io_group){"event_cuts", &slc_velo_event_cuts_schema, &result->found.cuts,
                                     SLC_IO_ROWS_ONE};
    }
    if (job->config.impacts) {
        groups[n++] = (slc_io_group){"impacts", &slc_velo_impacts_schema, &result->found.impacts,
                                     SLC_IO_ROWS_ANY};
    }
    if (selecting != NULL) {
        groups[n++] = (slc_io_group){"decisions", &slc_velo_decisions_schema, &selecting->decisions,
                                     SLC_IO_ROWS_ONE};
    }
    if (has_fired(job)) {
        groups[n++] = (slc_io_group){"fired", &slc_velo_fired_schema, &selecting->fired, SLC_IO_ROWS_ANY};
    }
    if (truth) {
        groups[n++] = (slc_io_group){"particles", &slc_velo_particles_schema, &result->truth.particles,
                                     SLC_IO_ROWS_ANY};
        groups[n++] = (slc_io_group){"particle_ids", &slc_velo_particle_ids_schema, &result->truth.ids,
                                     SLC_IO_ROWS_ANY};
        groups[n++] = (slc_io_group){"vertices", &slc_velo_vertices_schema, &result->truth.vertices,
                                     SLC_IO_ROWS_ANY};
        groups[n++] = (slc_io_group){"matches", &slc_velo_matches_schema, &job->matches, SLC_IO_ROWS_ANY};
    }
    slc_status status = slc_io_results_put(job->results, groups, n, &job->error);
    if (status == SLC_OK) {
        status = slc_cli_results_flush(job->results, &job->options->results, job->live, &job->error);
    }
    return told(job, status);
}

bool slc_velo_job_wants(const slc_velo_job *job, uint32_t what)
{
    return job->config.wanted == 0 || (job->config.wanted & what) != 0;
}

/* The names to which numbers in the file refer. */
static bool put_names(slc_velo_job *job)
{
    slc_status status = slc_io_results_names(job->results, "events", "inputs", (size_t)job->n_inputs,
                                             (const char *const *)job->inputs, &job->error);
    if (status == SLC_OK && job->selecting != NULL) {
        const slc_velo_selection *selection = &job->selecting->selection;
        const char *lines[SLC_VELO_MAX_LINES];
        for (uint32_t k = 0; k < selection->n_lines; k++) {
            lines[k] = selection->lines[k].name;
        }
        status = slc_io_results_names(job->results, "decisions", "lines", selection->n_lines, lines,
                                      &job->error);
        status = status == SLC_OK && has_fired(job)
                     ? slc_io_results_names(job->results, "fired", "lines", selection->n_lines, lines,
                                            &job->error)
                     : status;
    }
    return told(job, status);
}

bool slc_velo_job_open_output(slc_velo_job *job, const char *command_line)
{
    static const slc_flow_velo_result nothing;
    slc_error *error = &job->error;
    const char *geometry = job->options->geometry != NULL ? job->options->geometry : "ideal";
    slc_status status = slc_cli_results_create(job->options->output, &job->options->results,
                                               job->options->threads, command_line, &job->results, error);
    status = status == SLC_OK ? slc_io_results_text(job->results, "geometry", geometry, error) : status;
    if (status == SLC_OK && job->options->wanted != NULL) {
        status = slc_io_results_text(job->results, "wanted", job->options->wanted, error);
    }
    status = status == SLC_OK ? slc_cli_part_put(&slc_cmd_velo, &job->options->part, job->inputs,
                                                 job->n_inputs, NULL, job->results, error)
                              : status;
    return told(job, status) && slc_velo_mask_store(job) && append_all(job, &nothing) && put_names(job);
}

/* ---- batches ----------------------------------------------------------------------------------- */

/* Truth that holds nothing, for the spectra of a report on events that came without. */
static slc_status no_truth(slc_flow_velo_result *result)
{
    const uint32_t n_events = result->found.hits.head.n_events;
    slc_velo_truth *truth = &result->truth;
    slc_status status = slc_columns_reserve(&slc_velo_particles_schema, &truth->particles, 0, n_events);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &truth->ids, 0, n_events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_vertices_schema, &truth->vertices, 0, n_events);
    }
    slc_velo_truth_reset(truth);
    for (uint32_t i = 0; i < n_events && status == SLC_OK; i++) {
        slc_velo_truth_end_event(truth);
    }
    return status;
}

/* One thread compares, event after event: sums of fractions are then the same for any threads and batches. */
static bool compare(slc_velo_job *job, slc_flow_velo_result *result)
{
    slc_status status = SLC_OK;
    if (!job->options->truth && no_truth(result) != SLC_OK) {
        status = slc_fail(&job->error, SLC_ERR_MEMORY, "no memory to compare with");
    }
    if (status == SLC_OK) {
        status = slc_velo_check_run(&job->check, &result->found, &result->truth, &job->matches, &job->error);
    }
    return told(job, status);
}

static bool add_to_totals(slc_velo_job *job, const slc_velo_result *result)
{
    slc_velo_totals *totals = &job->totals;
    const slc_columns *hits = &result->hits.head;
    totals->events += hits->n_events;
    totals->superpixels += result->n_superpixels;
    totals->isolated += result->n_isolated;
    totals->pixels += result->n_pixels;
    totals->masked += result->n_masked;
    totals->hits += result->n_hits;
    totals->tracks += result->n_tracks;
    totals->primaries += result->primaries.head.size;
    totals->cut_events += result->n_cut_events;
    totals->left_events += result->n_left_events;
    totals->superpixel_events += result->n_superpixel_events;
    totals->retina_events += result->n_retina_events;
    for (uint32_t i = 0; i < hits->n_events && totals->hits_per_event != NULL; i++) {
        const uint32_t n = hits->event_offset[i + 1] - hits->event_offset[i];
        if (json_array_append_new(totals->hits_per_event, json_integer((json_int_t)n)) != 0) {
            slc_cli_say("velo", "no memory for clusters_per_event");
            return false;
        }
    }
    return true;
}

static bool judge(slc_velo_job *job, const slc_flow_item *item, const slc_faults *faults)
{
    slc_faults_merge(&job->input.faults, faults);
    return slc_velo_judge(job, item->path, item->damage, faults);
}

/* Faults and failures of the batch, in the order in which one thread alone would meet them. */
static bool judge_all(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_flow_velo_result *result = item->result;
    if (!judge(job, item, &item->reading) || !judge(job, item, &result->found.faults)) {
        return false;
    }
    if (item->status != SLC_OK) {
        slc_cli_say("velo", "%s: %s", item->path, item->error.text);
        return false;
    }
    return judge(job, item, &result->truth_faults);
}

static bool use_result(slc_velo_job *job, const slc_flow_item *item, double *spent)
{
    const slc_velo_options *options = job->options;
    slc_flow_velo_result *result = item->result;
    const double began = slc_clock_seconds();
    slc_velo_beam_look(job, item);
    if (((options->truth || options->report != NULL) && !compare(job, result)) ||
        (options->report != NULL && !slc_velo_drawing_take(job, result))) {
        return false;
    }
    const double checked = slc_clock_seconds();
    spent[SLC_VELO_TIME_CHECK] = checked - began;
    if ((job->selecting != NULL && !slc_velo_selecting_take(job->selecting, item->path, &result->found,
                                                            result->raw ? &item->batch : NULL)) ||
        (job->results != NULL && !append_all(job, result)) || !add_to_totals(job, &result->found) ||
        !slc_cli_identity_take(&job->identity, job->input.identity_from, "velo", &result->events) ||
        !slc_velo_monitor_take(job, item) ||
        (job->residuals != NULL && !slc_velo_residuals_take(job, &result->found)) ||
        (options->repeat > 0 && !slc_velo_hold(job, item))) {
        return false;
    }
    spent[SLC_VELO_TIME_WRITE] = slc_clock_seconds() - checked;
    return true;
}

static bool take_batch(slc_velo_job *job, const slc_flow_item *item)
{
    const slc_flow_velo_result *result = item->result;
    double spent[SLC_VELO_TIMES] = {[SLC_VELO_TIME_READ] = item->seconds_reading,
                                    [SLC_VELO_TIME_FINISH] = item->seconds_finishing,
                                    [SLC_VELO_TIME_CHECKSUM] = result->seconds_checksum,
                                    [SLC_VELO_TIME_TRUTH] = result->seconds_truth};
    if (!judge_all(job, item) || !use_result(job, item, spent)) {
        return false;
    }
    for (int stage = 0; stage < SLC_VELO_STAGES; stage++) {
        spent[stage] = result->found.seconds[stage];
        job->totals.seconds += spent[stage];
    }
    job->input.raw = result->raw;
    job->input.retina_events += result->found.n_retina_events;
    slc_velo_gec_take(job, result);
    job->input.has_truth = job->input.has_truth || result->truth.particles.head.size > 0;
    slc_velo_timing_mark(&job->timing, result->found.hits.head.n_events, item->batch.size, spent);
    slc_cli_progress_show(&job->progress, job->totals.events, 0);
    return true;
}

/* ---- inputs ------------------------------------------------------------------------------------ */

/* The end of an input: what was wrong after its last event, and why it ended. What cannot be read on ends
 * this input, not the run: what was read of it counts, and others may be better. */
static bool take_end(slc_velo_job *job, const slc_flow_item *item)
{
    bool go_on = !slc_cli_broken();
    if (slc_cli_interrupted() && !item->opened) {
        return go_on; /* its opening waited for bytes that do not come any more */
    }
    if (item->status >= 0) {
        go_on = judge(job, item, &item->reading) && go_on;
    } else {
        slc_faults_merge(&job->input.faults, &item->reading);
        slc_cli_say("velo", "%s", item->error.text);
        job->failed = true;
        go_on = !job->options->strict && (!item->opened || item->status != SLC_ERR_MEMORY);
    }
    job->input.cut = slc_cli_take_back_cut(item->path, &job->input.faults);
    slc_faults_merge(&job->totals.faults, &job->input.faults);
    if (go_on && item->opened) {
        slc_velo_beam_end(job, item);
        slc_velo_tell_input(job, item);
    }
    job->input = (slc_velo_input){.raw = false};
    slc_velo_beam_reset(&job->beam.sample);
    return go_on;
}

bool slc_velo_job_take(slc_velo_job *job, const slc_flow_item *item)
{
    slc_live_flow_add(job->page.flow, item);
    return item->ended ? take_end(job, item) : take_batch(job, item);
}

bool slc_velo_job_run(slc_velo_job *job, bool (*take)(slc_velo_job *, const slc_flow_item *))
{
    slc_flow_item *item;
    slc_status status = SLC_OK;
    bool go_on = true;
    while (go_on && (status = slc_flow_next(job->flow, &item, &job->error)) == SLC_OK) {
        go_on = item == NULL || take(job, item);
        slc_velo_page_tick(job, item);
        slc_flow_release(job->flow, item);
    }
    slc_flow_totals_of(job->flow, &job->timing.flow);
    if (take == slc_velo_job_take) { /* and not again over what was kept */
        job->totals.checksum = job->timing.flow.checksum;
        slc_cli_tell_unlocked("velo", job->timing.flow.unlocked_bytes);
    }
    slc_flow_close(job->flow);
    job->flow = NULL;
    if (go_on && status < 0) {
        slc_cli_say("velo", "%s", job->error.text);
    }
    return go_on && status >= 0 && !slc_cli_broken();
}

static bool stop(void *context)
{
    const slc_velo_job *job = context;
    return job->no_more || slc_cli_stop(NULL);
}

slc_status slc_velo_job_open(slc_velo_job *job, const slc_flow_chain *chain, slc_velo_read *read)
{
    const slc_velo_options *options = job->options;
    slc_flow_config config;
    slc_flow_config_default(&config);
    config.paths = (const char *const *)job->inputs;
    config.n_paths = (uint32_t)job->n_inputs;
    config.part = read == NULL ? options->part.part : 0;
    config.n_parts = read == NULL ? options->part.n : 0;
    config.count_before = config.n_parts > 1 && slc_velo_selecting_counts(options->select);
    config.io.verify_checksum = !options->no_checksum;
    config.io.keep_records = options->write_accepted != NULL;
    config.batch_events = (uint32_t)options->batch;
    /* A GPU is as fast as it can be where it has many events at a time. */
    if (options->device != NULL && strcmp(options->device, "cpu") != 0 &&
        slc_cli_word(&slc_cmd_velo, "batch") == NULL) {
        config.batch_events = 1024;
        config.batch_bytes = (size_t)256 << 20;
    }
    config.exec = job->config.exec;
    config.exec.threads = (uint32_t)options->threads;
    config.exec.bind = (slc_bind)options->bind;
    config.strict = options->strict;
    config.keep_going = config.signals_to_reader = true;
    config.results_alone = options->select == NULL && options->repeat == 0 && !slc_velo_monitor_on(options);
    config.patience = slc_cli_page_patience(&job->page);
    config.stop = stop;
    config.read = read;
    config.context = job;
    job->setup = (slc_flow_velo_setup){
        .config = &job->config,
        .geometry = job->geometry,
        .truth = options->truth && read == NULL,
        .identity = read == NULL &&
                    (options->output != NULL || options->json || slc_velo_monitor_on(options))};
    return slc_flow_open(&config, chain, &job->setup, &job->flow, &job->error);
}
