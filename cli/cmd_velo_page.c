/* SPDX-License-Identifier: Apache-2.0
 * The live page of `sluice velo`: a flow's, and lines of a selection. */
#include "cmd_velo.h"

int slc_velo_page_open(slc_velo_job *job, const slc_cli_call *call)
{
    return slc_cli_page_open(call, &job->options->serve, job->options->quiet, &slc_flow_velo, NULL,
                             &job->page);
}

static slc_live_flow_state lines_of(const slc_velo_job *job, const char *names[SLC_VELO_MAX_LINES])
{
    const slc_velo_selecting *s = job->selecting;
    const uint32_t n = s != NULL ? s->selection.n_lines : 0;
    for (uint32_t k = 0; k < n; k++) {
        names[k] = s->selection.lines[k].name;
    }
    return (slc_live_flow_state){.flow = &job->timing.flow,
                                 .lines = names,
                                 .accepted = s != NULL ? s->line_accepted : NULL,
                                 .n_lines = n};
}

void slc_velo_page_tick(slc_velo_job *job, const slc_flow_item *item)
{
    if (slc_live_due(job->page.live)) {
        const char *names[SLC_VELO_MAX_LINES];
        const slc_live_flow_state more = lines_of(job, names);
        slc_cli_page_tick(&job->page, job->flow, item != NULL ? item->path : NULL, &more);
    }
}

void slc_velo_page_close(slc_velo_job *job, int status)
{
    const char *names[SLC_VELO_MAX_LINES];
    const slc_live_flow_state more = lines_of(job, names);
    slc_cli_page_close(&job->page, status, NULL, &more);
}
