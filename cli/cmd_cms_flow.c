/* SPDX-License-Identifier: Apache-2.0
 *
 * What `sluice cms` does with what comes out of the flow: results are written and added up, inputs judged.
 */
#include "cli_faults.h"
#include "cmd_cms.h"

#include <string.h>

static bool append_table(slc_cms_job *job, const slc_flow_cms_result *result)
{
    const slc_exec exec = {.threads = (uint32_t)job->options->threads};
    const slc_io_text_form form = {.schema = &job->table_schema,
                                   .events = true,
                                   .first_event = job->first_event + job->totals.events,
                                   .exec = &exec};
    const slc_cms_table_rows *rows = slc_cms_rows_of_table(job, result);
    const slc_status status = rows != NULL
                                  ? slc_io_text_rows(job->table, &form, rows, &job->error)
                                  : slc_fail(&job->error, SLC_ERR_MEMORY, "no memory for rows of the table");
    if (status != SLC_OK) {
        slc_cli_say("cms", "%s", job->error.text);
    }
    return status == SLC_OK;
}

bool slc_cms_job_append(slc_cms_job *job, const slc_flow_cms_result *of)
{
    const slc_cms_result *result = &of->found;
    const slc_cms_event_rows *events = job->results != NULL ? slc_cms_rows_of_events(job, of) : NULL;
    if (job->results != NULL && events == NULL) {
        slc_cli_say("cms", "no memory for which events they are");
        return false;
    }
    const slc_io_group groups[] = {
        {"digis", &slc_cms_digis_schema, &result->digis, SLC_IO_ROWS_ANY},
        {"modules", &slc_cms_modules_schema, &result->modules, SLC_IO_ROWS_ANY},
        {"clusters", &slc_cms_clusters_schema, &result->clusters, SLC_IO_ROWS_ANY},
        {"events", &job->event_schema, events, SLC_IO_ROWS_ANY},
        {"places", &slc_cms_places_schema, &result->places, SLC_IO_ROWS_ANY},
    };
    const size_t n_groups = sizeof groups / sizeof groups[0] - (job->options->geometry == NULL ? 1 : 0);
    slc_status status = SLC_OK;
    if (job->results != NULL) {
        status = slc_io_results_put(job->results, groups, n_groups, &job->error);
        status = status == SLC_OK
                     ? slc_cli_results_flush(job->results, &job->options->results, job->live, &job->error)
                     : status;
    }
    if (status != SLC_OK) {
        slc_cli_say("cms", "%s", job->error.text);
    }
    return status == SLC_OK;
}

static void add_to_totals(slc_cms_job *job, const slc_cms_result *result, const slc_cms_events *events)
{
    slc_cms_totals *totals = &job->totals;
    for (size_t i = 0; i < events->head.size; i++) {
        job->input.others += events->others[i];
        job->input.mixed += events->others[i] > 0;
    }
    totals->events += result->digis.head.n_events;
    totals->words.words += result->words.words;
    totals->words.empty += result->words.empty;
    totals->words.errors += result->words.errors;
    totals->words.invalid += result->words.invalid;
    totals->words.bad_roc += result->words.bad_roc;
    totals->words.digis += result->words.digis;
    totals->columns.dead += result->columns.dead;
    totals->columns.noisy += result->columns.noisy;
    totals->columns.beyond += result->columns.beyond;
    totals->modules += result->n_modules;
    totals->clusters += result->n_clusters;
    totals->pixels += result->n_pixels;
    job->input.fragments += result->n_fragments;
    job->input.data += result->words.words - result->words.empty - result->words.errors;
    job->input.digis += result->words.digis + result->words.bad_roc;
    job->input.beyond += result->columns.beyond + result->words.bad_roc;
    for (size_t i = 0; i < SLC_CMS_STAGES; i++) {
        totals->seconds[i] += result->seconds[i];
    }
}

/* Under --strict the first fault ends the run. */
static bool judge(slc_cms_job *job, const char *path, const slc_faults *faults)
{
    slc_faults_merge(&job->input_faults, faults);
    if (!job->options->strict || slc_faults_total(faults) == 0) {
        return true;
    }
    slc_cli_tell_first_fault("cms", path, "FED", faults);
    return false;
}

static bool take_batch(slc_cms_job *job, const slc_flow_item *item)
{
    const slc_flow_cms_result *result = item->result;
    if (!judge(job, item->path, &item->reading) || !judge(job, item->path, &result->found.faults)) {
        return false;
    }
    if (item->status != SLC_OK) {
        slc_cli_say("cms", "%s: %s", item->path, item->error.text);
        return false;
    }
    if (!slc_cms_job_append(job, result) || (job->table != NULL && !append_table(job, result))) {
        return false;
    }
    add_to_totals(job, &result->found, &result->events);
    slc_cli_progress_show(&job->progress, job->totals.events, 0);
    return true;
}

/* ---- the end of an input ------------------------------------------------------------------------------- */

/* An input without digis is a quiet detector; one whose fragments or words are none of this detector, of this
 * cabling or of these gains, is the wrong file. */
static void judge_input(slc_cms_job *job, const char *path, uint64_t events)
{
    const char *missing = NULL;
    if (job->input.fragments == 0) {
        missing = "a sound fragment of the pixel detector (FED 1200 to 1349)";
    } else if (job->input.data > 0 && job->input.digis == 0) {
        missing = "a digi of a chip that the cabling has";
    } else if (job->input.digis > 0 && job->input.beyond == job->input.digis) {
        missing = "a digi of a module that is unpacked and that the gains have";
    }
    if (missing != NULL && events > 0) {
        slc_cli_say("cms", "%s: none of its %llu events has %s", path, (unsigned long long)events, missing);
        job->failed = true;
    }
    job->useful = job->useful || (missing == NULL && events > 0);
}

/* `cut` events are counted as lost and are not, as a signal ended their reading. */
static void tell_input(slc_cms_job *job, const slc_flow_item *end, uint64_t cut)
{
    const slc_io_totals *read = &end->totals;
    const uint64_t lost = read->lost_events - cut;
    const bool damaged = end->damage[0] != '\0' && (lost > 0 || cut == 0);
    job->totals.lost_events += lost;
    if (damaged || lost > 0) {
        /* Of a file that ends early the last event may be there in part. */
        slc_cli_say("cms", "%s; %llu event%s lost, %llu read", damaged ? end->damage : end->path,
                    (unsigned long long)lost, lost == 1 ? "" : "s", (unsigned long long)read->events);
        job->failed = true;
    }
    judge_input(job, end->path, read->events);
    if (job->input.others > 0) {
        slc_cli_say("cms", "%s: %llu events have %llu fragments of another event, by their headers",
                    end->path, (unsigned long long)job->input.mixed, (unsigned long long)job->input.others);
    }
    slc_cli_tell_faults("cms", end->path, "FED", &job->input_faults); /* with --quiet, too: digis were lost */
}

/* What was wrong after the last event, and why the input ended: what cannot be read on ends this input, not
 * the run. */
static bool take_end(slc_cms_job *job, const slc_flow_item *end)
{
    bool go_on = true;
    if (slc_cli_interrupted() && !end->opened) {
        return !slc_cli_broken(); /* its opening waited for bytes that do not come any more */
    }
    if (end->status < 0) {
        slc_cli_say("cms", "%s", end->error.text);
        job->failed = true;
        go_on = !job->options->strict && end->status != SLC_ERR_MEMORY;
    } else {
        go_on = judge(job, end->path, &end->reading);
    }
    const uint64_t cut = slc_cli_take_back_cut(end->path, &job->input_faults);
    slc_faults_merge(&job->totals.faults, &job->input_faults);
    if (go_on) {
        tell_input(job, end, cut);
    }
    memset(&job->input, 0, sizeof job->input);
    slc_faults_reset(&job->input_faults);
    return go_on;
}

bool slc_cms_job_run(slc_cms_job *job)
{
    slc_flow_item *item = NULL;
    slc_status status;
    while ((status = slc_flow_next(job->flow, &item, &job->error)) == SLC_OK) {
        if (item != NULL && item->ended && slc_cli_broken()) {
            return false;
        }
        if (item != NULL) {
            slc_live_flow_add(job->page.flow, item);
            if (!(item->ended ? take_end(job, item) : take_batch(job, item))) {
                return false;
            }
        }
        slc_cli_page_tick(&job->page, job->flow, item != NULL ? item->path : NULL, NULL);
        slc_flow_release(job->flow, item);
    }
    if (status != SLC_END) {
        slc_cli_say("cms", "%s", job->error.text);
    }
    slc_flow_totals totals;
    slc_flow_totals_of(job->flow, &totals);
    job->totals.checksum = totals.checksum;
    job->totals.unlocked_bytes = totals.unlocked_bytes;
    slc_cli_tell_unlocked("cms", totals.unlocked_bytes);
    job->partial = slc_cli_cut();
    return status == SLC_END && !slc_cli_broken();
}
