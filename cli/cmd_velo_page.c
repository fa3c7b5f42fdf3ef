/* SPDX-License-Identifier: Apache-2.0
 * The live page of `sluice velo`. */
#include "cmd_velo.h"

int slc_velo_page_open(slc_velo_job *job, const slc_cli_call *call)
{
    const slc_velo_options *options = job->options;
    const int status = slc_cli_serve_open(call, &options->serve, options->quiet, &job->page);
    if (status == SLC_CLI_GO_ON && slc_live_velo_open(job->page, &job->page_velo, &job->error) != SLC_OK) {
        slc_cli_say("velo", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return status;
}

void slc_velo_page_take(slc_velo_job *job, const slc_flow_item *item)
{
    if (job->page_velo != NULL) {
        const slc_flow_velo_result *result = item->ended || item->status != SLC_OK ? NULL : item->result;
        slc_live_velo_add(job->page_velo, result != NULL ? &result->found : NULL, &item->reading,
                          item->batch.size);
    }
}

static void publish(slc_velo_job *job, slc_live_state state, const slc_flow_totals *flow, const char *input)
{
    const char *lines[SLC_VELO_MAX_LINES];
    const slc_velo_selecting *s = job->selecting;
    const uint32_t n = s != NULL ? s->selection.n_lines : 0;
    for (uint32_t k = 0; k < n; k++) {
        lines[k] = s->selection.lines[k].name;
    }
    const slc_live_velo_state more = {.flow = flow,
                                      .lines = lines,
                                      .accepted = s != NULL ? s->line_accepted : NULL,
                                      .n_lines = n,
                                      .input = input};
    (void)slc_live_velo_publish(job->page_velo, state, &more);
}

void slc_velo_page_tick(slc_velo_job *job, const slc_flow_item *item)
{
    if (slc_live_due(job->page)) {
        slc_flow_totals flow;
        slc_flow_totals_of(job->flow, &flow);
        publish(job, slc_cli_interrupted() ? SLC_LIVE_ENDING : SLC_LIVE_RUNNING, &flow,
                item != NULL ? item->path : NULL);
        slc_cli_serve_tell(job->page);
    }
}

void slc_velo_page_close(slc_velo_job *job, int status)
{
    if (job->page != NULL) {
        publish(job, status == SLC_CLI_DONE ? SLC_LIVE_FINISHED : SLC_LIVE_FAILED, &job->timing.flow, NULL);
        slc_cli_serve_close(&job->options->serve, job->page);
        job->page = NULL;
    }
    slc_live_velo_close(job->page_velo);
    job->page_velo = NULL;
}
