/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of `sluice cms` over inputs and batches: one thread reads, the workers run the chain, each on a
 * core or on a stream of a GPU, and the results are taken in order. Memory is bounded by the slots.
 */
#include "cli_faults.h"
#include "cli_rows.h"
#include "cmd_cms.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading, working, writing ------------------------------------------------------------------------- */

static slc_status read_slot(void *context, uint32_t index, slc_error *error)
{
    slc_cms_job *job = context;
    slc_cms_slot *slot = &job->slots[index];
    /* Under --strict event by event: the first fault is then the first in the input, whatever the batch. */
    const uint32_t most = job->options->strict ? 1 : (uint32_t)job->options->batch;
    (void)error; /* what cannot be read on ends this input, not the run */
    slc_faults_reset(&slot->reading);
    job->read_status = slc_io_read_batch(job->source, most, SLC_CMS_BATCH_BYTES, &slot->batch, &slot->reading,
                                         &job->read_error);
    if (job->read_status != SLC_OK) {
        job->ending = slot->reading;
        return SLC_END;
    }
    return SLC_OK;
}

slc_status slc_cms_job_begin(void *context, uint32_t worker, slc_error *error)
{
    slc_cms_job *job = context;
    return job->chains[worker] != NULL
               ? SLC_OK
               : slc_cms_chain_open(&job->config, job->cabling, &job->gains, &job->chains[worker], error);
}

static slc_status work_slot(void *context, uint32_t index, uint32_t worker, slc_error *error)
{
    slc_cms_job *job = context;
    slc_cms_slot *slot = &job->slots[index];
    slc_cms_chain *chain = job->chains[worker];
    (void)error; /* told when it is the slot's turn */
    slot->status = slc_cms_chain_reserve(chain, &slot->batch, &slot->result, &slot->error);
    if (slot->status == SLC_OK) {
        slot->status = slc_cms_chain_run(chain, &slot->batch, &slot->result, &slot->error);
    }
    return SLC_OK;
}

bool slc_cms_job_append(slc_cms_job *job, const slc_cms_result *result)
{
    const struct {
        const char *name;
        const slc_schema *schema;
        const void *collection;
    } groups[] = {
        {"digis", &slc_cms_digis_schema, &result->digis},
        {"modules", &slc_cms_modules_schema, &result->modules},
        {"clusters", &slc_cms_clusters_schema, &result->clusters},
    };
    for (size_t i = 0; i < sizeof groups / sizeof groups[0] && job->hdf5 != NULL; i++) {
        if (slc_io_hdf5_append(job->hdf5, groups[i].name, groups[i].schema, groups[i].collection,
                               &job->error) != SLC_OK) {
            slc_cli_say("cms", "%s", job->error.text);
            return false;
        }
    }
    return true;
}

static void add_to_totals(slc_cms_job *job, const slc_cms_result *result)
{
    slc_cms_totals *totals = &job->totals;
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
    totals->modules += result->modules.head.size;
    totals->clusters += result->clusters.head.size;
    for (size_t i = 0; i < result->clusters.head.size; i++) {
        totals->pixels += result->clusters.n_pixels[i];
    }
    job->input.fragments += result->n_fragments;
    job->input.data += result->words.words - result->words.empty - result->words.errors;
    job->input.digis += result->words.digis + result->words.bad_roc;
    job->input.beyond += result->columns.beyond + result->words.bad_roc;
    for (size_t i = 0; i < SLC_CMS_STAGES; i++) {
        totals->seconds[i] += result->seconds[i];
    }
    if (job->options->json) { /* the one place where it is shown, and it is no small work */
        totals->checksum = slc_cms_result_checksum(result, totals->checksum);
    }
}

/* Under --strict the first fault ends the run. */
static bool judge(slc_cms_job *job, const slc_faults *faults)
{
    slc_faults_merge(&job->input_faults, faults);
    if (!job->options->strict || slc_faults_total(faults) == 0) {
        return true;
    }
    slc_cli_tell_first_fault("cms", job->path, "FED", faults);
    return false;
}

static bool take(slc_cms_job *job, slc_cms_slot *slot)
{
    if (!judge(job, &slot->reading) || !judge(job, &slot->result.faults)) {
        return false;
    }
    if (slot->status != SLC_OK) {
        slc_cli_say("cms", "%s: %s", job->path, slot->error.text);
        return false;
    }
    if (!slc_cms_job_append(job, &slot->result)) {
        return false;
    }
    if (job->table != NULL) {
        slc_cli_csv_events(slc_io_text_stream(job->table), &slc_cms_clusters_schema, &slot->result.clusters,
                           job->totals.events);
    }
    add_to_totals(job, &slot->result);
    slc_cli_progress_show(&job->progress, job->totals.events, 0);
    return true;
}

static slc_status write_slot(void *context, uint32_t index, slc_error *error)
{
    slc_cms_job *job = context;
    if (take(job, &job->slots[index])) {
        return SLC_OK;
    }
    job->told = true;
    return slc_fail(error, SLC_ERR_USAGE, "told");
}

/* ---- one input ----------------------------------------------------------------------------------------- */

/* The end of an input: what was wrong behind its last event, and why it ended. */
static bool take_end(slc_cms_job *job)
{
    if (slc_cli_interrupted()) {
        return false;
    }
    if (job->read_status < 0) {
        slc_cli_say("cms", "%s", job->read_error.text);
        job->failed = true;
        return !job->options->strict && job->read_status != SLC_ERR_MEMORY;
    }
    return judge(job, &job->ending);
}

/* An input without digis is a quiet detector; one whose fragments or words are none of this detector, of this
 * cabling or of these gains, is the wrong file. */
static void judge_input(slc_cms_job *job, uint64_t events)
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
        slc_cli_say("cms", "%s: none of its %llu events has %s", job->path, (unsigned long long)events,
                    missing);
        job->failed = true;
    }
    job->useful = job->useful || (missing == NULL && events > 0);
}

static void tell_input(slc_cms_job *job)
{
    slc_io_totals read;
    slc_io_totals_of(job->source, &read);
    job->totals.lost_events += read.lost_events;
    const char *damage = slc_io_damage(job->source);
    if (damage != NULL || read.lost_events > 0) {
        /* Of a file that ends early the last event may be there in part. */
        slc_cli_say("cms", "%s; %llu event%s lost, %llu read", damage != NULL ? damage : job->path,
                    (unsigned long long)read.lost_events, read.lost_events == 1 ? "" : "s",
                    (unsigned long long)read.events);
        job->failed = true;
    }
    judge_input(job, read.events);
    slc_cli_tell_faults("cms", job->path, "FED", &job->input_faults); /* with --quiet, too: digis were lost */
}

static bool run_input(slc_cms_job *job)
{
    const slc_run_stages stages = {.context = job,
                                   .read = read_slot,
                                   .work = work_slot,
                                   .write = write_slot,
                                   .begin = slc_cms_job_begin,
                                   .stop = slc_cli_stop};
    job->read_status = SLC_OK;
    memset(&job->input, 0, sizeof job->input);
    slc_faults_reset(&job->input_faults);
    slc_faults_reset(&job->ending);
    if (slc_run_pipeline(&job->pipeline, &stages, NULL, &job->error) != SLC_OK) {
        if (!job->told) {
            slc_cli_say("cms", "%s", job->error.text);
        }
        return false;
    }
    return take_end(job);
}

bool slc_cms_job_input(slc_cms_job *job, const char *path)
{
    job->path = path;
    if (slc_io_open(path, NULL, &job->source, &job->error) != SLC_OK) {
        slc_cli_say("cms", "%s", job->error.text);
        job->failed = true;
        return !job->options->strict && !slc_cli_interrupted();
    }
    bool go_on;
    if (slc_io_content_of(job->source) != SLC_IO_CMS_EVENTS) {
        slc_cli_say("cms", "%s: format %s, but events of CMS's pixel detector (cms-raw) are needed", path,
                    slc_io_format(job->source));
        job->failed = true;
        go_on = !job->options->strict;
    } else {
        go_on = run_input(job);
        slc_faults_merge(&job->totals.faults, &job->input_faults);
        if (go_on) {
            tell_input(job);
        }
    }
    slc_io_close(job->source);
    job->source = NULL;
    return go_on;
}

/* ---- opening and closing ------------------------------------------------------------------------------- */

slc_status slc_cms_job_open(slc_cms_job *job, slc_error *error)
{
    job->n_workers = slc_run_pipeline_workers(&job->pipeline);
    job->n_slots = slc_run_pipeline_slots(&job->pipeline);
    job->chains = calloc(job->n_workers, sizeof *job->chains);
    job->slots = calloc(job->n_slots, sizeof *job->slots);
    if (job->chains == NULL || job->slots == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u threads", job->n_workers);
    }
    /* The first worker's chain now, so that what is wrong with the configuration is told before reading. */
    return slc_cms_job_begin(job, 0, error);
}

void slc_cms_job_clear(slc_cms_job *job)
{
    for (uint32_t i = 0; job->chains != NULL && i < job->n_workers; i++) {
        slc_cms_chain_close(job->chains[i]);
    }
    for (uint32_t i = 0; job->slots != NULL && i < job->n_slots; i++) {
        slc_batch_clear(&job->slots[i].batch);
        slc_cms_result_clear(&job->slots[i].result);
    }
    slc_cms_gains_clear(&job->gains);
    slc_io_hdf5_abandon(job->hdf5);
    slc_io_text_abandon(job->table);
    free(job->cabling);
    free(job->slots);
    free(job->chains);
    free(job);
}
