/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of `sluice pet run`: a thread reads ahead, the chain works on one batch after the other (it is a
 * stream: its threads are inside), and the outputs take the results. Memory is bounded by the slots, by the
 * singles of a horizon, and by the pairs of a window's reach.
 */
#include "cmd_pet_run.h"

#include <stdlib.h>

static slc_status read_slot(void *context, uint32_t index, slc_error *error)
{
    slc_pet_run_job *job = context;
    slc_pet_run_slot *slot = &job->slot[index];
    (void)error; /* what is wrong with an input ends that input, and is told at the end */
    return slc_io_pet_inputs_read(&job->inputs, slot->frames, slot->received_ns, (size_t)job->options->batch,
                                  &slot->n);
}

static slc_status work_slot(void *context, uint32_t index, uint32_t worker, slc_error *error)
{
    slc_pet_run_job *job = context;
    slc_pet_run_slot *slot = &job->slot[index];
    (void)worker;
    const slc_status status = slc_pet_chain_run(job->chain, slot->frames, slot->received_ns, slot->n, false,
                                                &slot->result, error);
    slc_pet_chain_totals(job->chain, &slot->totals);
    return status;
}

static slc_status take(slc_pet_run_job *job, const slc_pet_run_slot *slot, bool last)
{
    slc_faults_merge(&job->faults, &slot->result.faults);
    for (int s = 0; s < SLC_PET_STAGES; s++) {
        job->seconds[s] += slot->result.seconds[s];
    }
    job->totals = slot->totals;
    slc_cli_progress_show(&job->progress, slot->totals.convert.frames, 0);
    const slc_pet_batch batch = {
        .frames = slot->frames, .n = slot->n, .result = &slot->result, .totals = &slot->totals, .last = last};
    return slc_pet_run_outputs_take(job, &batch);
}

static slc_status write_slot(void *context, uint32_t index, slc_error *error)
{
    slc_pet_run_job *job = context;
    const slc_status status = take(job, &job->slot[index], false);
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s", job->error.text);
}

static slc_status reserve(slc_pet_run_job *job, uint32_t slots)
{
    for (uint32_t i = 0; i < slots; i++) {
        job->slot[i].frames = malloc((size_t)job->options->batch * sizeof *job->slot[i].frames);
        if (job->slot[i].frames == NULL ||
            !slc_pet_received_room(&job->options->frames, (size_t)job->options->batch,
                                   &job->slot[i].received_ns)) {
            return slc_fail(&job->error, SLC_ERR_MEMORY, "no memory for %u times %llu frames", slots,
                            (unsigned long long)job->options->batch);
        }
    }
    return SLC_OK;
}

slc_status slc_pet_run_flow(slc_pet_run_job *job)
{
    const slc_run_pipeline_config alone = {.threads = 1};
    /* Reading ahead is of use where there is a processor for it. */
    const uint32_t slots = slc_run_pipeline_slots(&alone) == 1 ? 1 : SLC_PET_RUN_SLOTS;
    const slc_run_pipeline_config config = {.threads = 1, .slots = slots};
    const slc_run_stages stages = {
        .context = job, .read = read_slot, .work = work_slot, .write = write_slot, .stop = slc_cli_stop};
    slc_status status = reserve(job, slots);
    slc_error error = {0};
    if (status == SLC_OK) {
        status = slc_run_pipeline(&config, &stages, NULL, &error);
        if (status != SLC_OK) {
            job->error = error;
        }
    }
    if (status == SLC_OK && slc_cli_interrupted()) {
        return SLC_END;
    }
    if (status == SLC_OK) {
        slc_pet_run_slot *slot = &job->slot[0];
        slot->n = 0;
        status = slc_pet_chain_run(job->chain, slot->frames, NULL, 0, true, &slot->result, &job->error);
        slc_pet_chain_totals(job->chain, &slot->totals);
        status = status == SLC_OK ? take(job, slot, true) : status;
    }
    return status;
}
