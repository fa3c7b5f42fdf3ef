/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of `sluice velo` over inputs and batches: one thread reads, the workers finish what the reader
 * left (checksums, expansion), run the chain and decode truth, and the results are taken in order
 * (cmd_velo_job.c). Memory is bounded by the slots, of which each holds one batch.
 */
#include "cmd_velo.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status read_batch(slc_velo_job *job, slc_velo_slot *slot)
{
    slc_velo_input *input = &job->input;
    slc_error *error = &input->read_error;
    /* Under --strict event by event and at once: the first fault is then the first in the input, whatever
     * the batch. */
    const bool strict = job->options->strict;
    const uint32_t most = strict ? 1 : (uint32_t)job->options->batch;
    if (!input->raw) {
        slc_io_totals before;
        slc_io_totals_of(input->source, &before);
        slot->result.first_event = before.events;
        return slc_io_read_velo_hits(input->source, most, &slot->result.hits,
                                     job->options->truth ? &slot->truth : NULL, &slot->events, &slot->reading,
                                     error);
    }
    return strict ? slc_io_read_batch(input->source, most, SLC_VELO_BATCH_BYTES, &slot->batch, &slot->reading,
                                      error)
                  : slc_io_read_batch_deferred(input->source, most, SLC_VELO_BATCH_BYTES, &slot->batch,
                                               slot->deferred, &slot->reading, error);
}

slc_status slc_velo_job_read(slc_velo_job *job, slc_velo_slot *slot)
{
    slc_velo_input *input = &job->input;
    memset(slot->spent, 0, sizeof slot->spent);
    slot->input = input->index;
    slot->raw = input->raw;
    slot->finished = false;
    slc_faults_reset(&slot->reading);
    slc_faults_reset(&slot->truth_faults);
    const double began = slc_clock_seconds();
    input->read_status = read_batch(job, slot);
    slot->spent[SLC_VELO_TIME_READ] = slc_clock_seconds() - began;
    if (input->read_status != SLC_OK) {
        input->ending = slot->reading;
        return SLC_END;
    }
    const char *damage = job->options->strict ? slc_io_damage(input->source) : NULL;
    (void)snprintf(slot->damage, sizeof slot->damage, "%s", damage != NULL ? damage : "");
    return SLC_OK;
}

/* What cannot be read on ends this input, not the run. */
static slc_status read_slot(void *context, uint32_t index, slc_error *error)
{
    slc_velo_job *job = context;
    (void)error;
    if (job->next_ahead < job->n_ahead && job->ahead[job->next_ahead].ready &&
        job->ahead[job->next_ahead].input == job->input.index) {
        slc_velo_slot *ahead = &job->ahead[job->next_ahead++];
        const slc_velo_slot swapped = job->slots[index];
        job->slots[index] = *ahead;
        *ahead = swapped;
        return SLC_OK;
    }
    /* Without a beam only what was read ahead is gone through, to tell what is wrong with it. */
    return job->input.read_status == SLC_OK && job->beam.settled ? slc_velo_job_read(job, &job->slots[index])
                                                                 : SLC_END;
}

/* ---- working ----------------------------------------------------------------------------------- */

slc_status slc_velo_job_begin(void *context, uint32_t worker, slc_error *error)
{
    slc_velo_job *job = context;
    return job->chains[worker] != NULL
               ? SLC_OK
               : slc_velo_chain_open(&job->config, job->geometry, &job->chains[worker], error);
}

slc_status slc_velo_job_chain(slc_velo_job *job, uint32_t worker, const slc_batch *batch, slc_velo_slot *slot,
                              slc_error *error)
{
    slc_velo_chain *chain = job->chains[worker];
    const slc_status status = batch != NULL ? slc_velo_chain_reserve(chain, batch, &slot->result, error)
                                            : slc_velo_chain_reserve_hits(chain, &slot->result, error);
    if (status != SLC_OK) {
        return status;
    }
    return batch != NULL ? slc_velo_chain_run(chain, batch, &slot->result, error)
                         : slc_velo_chain_run_hits(chain, &slot->result, error);
}

/* Checksums and expansion, once: by the reader where it is far ahead, else by the worker. */
void slc_velo_job_finish(slc_velo_slot *slot)
{
    if (slot->finished) {
        return;
    }
    const double began = slc_clock_seconds();
    slot->finished = true;
    slot->status = slot->raw ? slc_io_finish_batch(&slot->batch, slot->deferred, &slot->reading, &slot->error)
                             : SLC_OK;
    slot->spent[SLC_VELO_TIME_FINISH] = slc_clock_seconds() - began;
}

static void finish_early(void *context, uint32_t index)
{
    slc_velo_job *job = context;
    slc_velo_job_finish(&job->slots[index]);
}

/* A failure is kept in the slot: what of it is told, and whether faults come first, is decided in order. */
static slc_status work_slot(void *context, uint32_t index, uint32_t worker, slc_error *error)
{
    slc_velo_job *job = context;
    slc_velo_slot *slot = &job->slots[index];
    const bool raw = job->input.raw;
    slc_faults_reset(&slot->result.faults);
    slc_velo_job_finish(slot);
    if (slot->status == SLC_OK) {
        slot->status = slc_velo_job_chain(job, worker, raw ? &slot->batch : NULL, slot, &slot->error);
    }
    if (slot->status == SLC_OK) {
        slot->status = slc_velo_identify(job, slot);
    }
    const double time = slc_clock_seconds();
    if (slot->status == SLC_OK && raw && job->options->truth) {
        slot->status = slc_velo_truth_read(&slot->batch, &slot->truth, &slot->truth_faults, &slot->error);
    }
    slot->spent[SLC_VELO_TIME_TRUTH] = slc_clock_seconds() - time;
    (void)error;
    return SLC_OK;
}

/* ---- in order ---------------------------------------------------------------------------------- */

static slc_status write_slot(void *context, uint32_t index, slc_error *error)
{
    slc_velo_job *job = context;
    if (slc_velo_job_take(job, &job->slots[index])) {
        return SLC_OK;
    }
    job->told = true;
    return slc_fail(error, SLC_ERR_USAGE, "told");
}

/* ---- one input --------------------------------------------------------------------------------- */

/* The end of an input: what was wrong behind its last event, and why it ended. */
static bool take_end(slc_velo_job *job)
{
    slc_velo_input *input = &job->input;
    for (uint32_t i = 0; i < input->ending.n_kept; i++) {
        input->ending.kept[i].event -= input->losses.events;
    }
    slc_io_settle(input->source, &input->losses);
    slc_faults_merge(&input->faults, &input->ending);
    if (slc_cli_interrupted()) {
        return false;
    }
    if (input->read_status < 0) {
        /* The input cannot be read on; what was read of it counts, and other inputs may be better. */
        slc_cli_say("velo", "%s", input->read_error.text);
        job->failed = true;
        return !job->options->strict && input->read_status != SLC_ERR_MEMORY;
    }
    const char *damage = slc_io_damage(input->source);
    return slc_velo_judge(job, input->path, damage != NULL ? damage : "", &input->ending);
}

static bool run_input(slc_velo_job *job)
{
    const slc_run_stages stages = {.context = job,
                                   .read = read_slot,
                                   .work = work_slot,
                                   .write = write_slot,
                                   .begin = slc_velo_job_begin,
                                   .stop = slc_cli_stop,
                                   .early = finish_early};
    slc_run_pipeline_times times;
    const slc_status status = slc_run_pipeline(&job->pipeline, &stages, &times, &job->error);
    if (status != SLC_OK) {
        if (!job->told) {
            slc_cli_say("velo", "%s", job->error.text);
        }
        return false;
    }
    slc_run_pipeline_times *sum = &job->timing.pipeline;
    sum->total += times.total;
    sum->reading += times.reading;
    sum->writing += times.writing;
    sum->working += times.working;
    sum->starving += times.starving;
    sum->slots += times.slots;
    return take_end(job);
}

slc_status slc_velo_job_open(slc_velo_job *job, uint32_t index)
{
    slc_velo_input *input = &job->input;
    slc_io_config config;
    slc_io_config_default(&config);
    config.verify_checksum = !job->options->no_checksum;
    *input = (slc_velo_input){.path = job->inputs[index], .index = index};
    const slc_status status = slc_io_open(input->path, &config, &input->source, &job->error);
    input->raw = status == SLC_OK && slc_io_content_of(input->source) == SLC_IO_RAW_EVENTS;
    return status;
}

bool slc_velo_job_input(slc_velo_job *job, uint32_t index)
{
    slc_velo_input *input = &job->input;
    if (index < job->n_opened && job->opened[index].source != NULL) {
        *input = job->opened[index];
        job->opened[index].source = NULL;
    } else if (slc_velo_job_open(job, index) != SLC_OK) {
        if (slc_cli_interrupted()) {
            return false;
        }
        slc_cli_say("velo", "%s", job->error.text);
        job->failed = true;
        return !job->options->strict;
    }
    slc_velo_beam_reset(&job->beam.sample);
    const bool go_on = run_input(job);
    slc_faults_merge(&job->totals.faults, &input->faults);
    if (go_on) {
        slc_velo_beam_end(job);
        slc_velo_tell_input(job, input);
    }
    slc_io_close(input->source);
    return go_on;
}

/* ---- opening and closing ----------------------------------------------------------------------- */

slc_status slc_velo_job_open_slots(slc_velo_job *job, slc_error *error)
{
    job->n_workers = slc_run_pipeline_workers(&job->pipeline);
    job->n_slots = slc_run_pipeline_slots(&job->pipeline);
    job->chains = calloc(job->n_workers, sizeof *job->chains);
    job->slots = calloc(job->n_slots, sizeof *job->slots);
    if (job->chains == NULL || job->slots == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u threads", job->n_workers);
    }
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < job->n_slots && status == SLC_OK; i++) {
        status = slc_io_deferred_open(&job->slots[i].deferred, error);
    }
    return status;
}

static void clear_slot(slc_velo_slot *slot)
{
    slc_batch_clear(&slot->batch);
    slc_io_deferred_close(slot->deferred);
    slc_velo_result_clear(&slot->result);
    slc_velo_truth_clear(&slot->truth);
    slc_columns_clear(&slc_lhcb_events_schema, &slot->events);
}

void slc_velo_job_clear(slc_velo_job *job)
{
    for (uint32_t i = 0; job->chains != NULL && i < job->n_workers; i++) {
        slc_velo_chain_close(job->chains[i]);
    }
    for (uint32_t i = 0; job->slots != NULL && i < job->n_slots; i++) {
        clear_slot(&job->slots[i]);
    }
    for (size_t i = 0; i < job->n_ahead; i++) {
        clear_slot(&job->ahead[i]);
    }
    for (uint32_t i = 0; i < job->n_opened; i++) {
        slc_io_close(job->opened[i].source);
    }
    free(job->opened);
    for (size_t i = 0; i < job->n_held; i++) {
        slc_batch_clear(&job->held[i].batch);
        slc_columns_clear(&slc_velo_hits_schema, &job->held[i].hits);
    }
    free(job->held);
    free(job->ahead);
    free(job->slots);
    free(job->chains);
    free(job->geometry);
}
