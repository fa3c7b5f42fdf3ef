/* SPDX-License-Identifier: Apache-2.0
 * The live page of `sluice pet run` and `sluice pet acquire`. */
#include "cmd_pet_run.h"

int slc_pet_page_open(const slc_cli_call *call, const slc_pet_run_options *options, slc_pet_run_job *job,
                      bool chain)
{
    const bool quiet = slc_cli_word(call->command, "quiet") != NULL;
    const int status = slc_cli_serve_open(call, &options->serve, quiet, &job->page);
    if (status == SLC_CLI_GO_ON &&
        slc_live_pet_open(job->page, chain ? &job->config : NULL, chain ? &job->tables : NULL, &job->page_pet,
                          &job->error) != SLC_OK) {
        slc_cli_say(call->command->name, "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return status;
}

void slc_pet_page_take(slc_pet_run_job *job, const slc_pet_batch *batch)
{
    slc_live_pet_batch(job->page_pet, batch);
}

void slc_pet_page_tick(slc_pet_run_job *job, const slc_live_pet_state *now, bool ending)
{
    if (now->daq != NULL || slc_live_due(job->page)) { /* an acquisition tells once a second */
        (void)slc_live_pet_publish(job->page_pet, ending ? SLC_LIVE_ENDING : SLC_LIVE_RUNNING, now);
        slc_cli_serve_tell(job->page);
    }
}

void slc_pet_page_close(slc_pet_run_job *job, const slc_cli_serve *options, const slc_live_pet_state *now,
                        int status)
{
    if (job->page != NULL) {
        (void)slc_live_pet_publish(job->page_pet,
                                   status == SLC_CLI_DONE ? SLC_LIVE_FINISHED : SLC_LIVE_FAILED, now);
        slc_cli_serve_close(options, job->page);
    }
    slc_live_pet_close(job->page_pet);
    job->page = NULL;
    job->page_pet = NULL;
}
