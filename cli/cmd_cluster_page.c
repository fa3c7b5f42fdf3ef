/* SPDX-License-Identifier: Apache-2.0
 * The live page of `sluice cluster`. */
#include "cmd_cluster.h"

int slc_cluster_page_open(slc_cluster_job *job, const slc_cli_call *call)
{
    const int status = slc_cli_serve_open(call, &job->options->serve, job->options->quiet, &job->page);
    if (status == SLC_CLI_GO_ON && slc_live_pixel_open(job->page, &job->page_pixel, &job->error) != SLC_OK) {
        slc_cli_say("cluster", "%s", job->error.text);
        return SLC_CLI_FAILED;
    }
    return status;
}

void slc_cluster_page_take(slc_cluster_job *job, const slc_flow_item *item)
{
    slc_live_pixel_add(job->page_pixel, item->result);
}

static void publish(slc_cluster_job *job, slc_live_state state, const char *input)
{
    slc_live_pixel_state now = {.input = input};
    for (int i = 0; i < job->n_inputs; i++) {
        const slc_io_pixels_counts *c = &job->done[i].counts;
        const slc_flow_pixel_totals *t = &job->done[i].totals;
        now.pixels += c->pixels;
        now.bytes += c->bytes;
        now.damaged += c->damaged;
        now.dropped += c->dropped;
        now.heartbeats += c->heartbeats;
        now.edges += c->edges[0] + c->edges[1] + c->edges[2] + c->edges[3];
        now.clusters += t->clusters;
        now.frames += t->frames;
        now.outside += t->outside;
    }
    (void)slc_live_pixel_publish(job->page_pixel, state, &now);
}

void slc_cluster_page_tick(slc_cluster_job *job, const slc_flow_item *item)
{
    if (slc_live_due(job->page)) {
        publish(job, slc_cli_interrupted() ? SLC_LIVE_ENDING : SLC_LIVE_RUNNING,
                item != NULL ? item->path : NULL);
        slc_cli_serve_tell(job->page);
    }
}

void slc_cluster_page_close(slc_cluster_job *job, int status)
{
    if (job->page != NULL) {
        publish(job, status == SLC_CLI_DONE ? SLC_LIVE_FINISHED : SLC_LIVE_FAILED, NULL);
        slc_cli_serve_close(&job->options->serve, job->page);
        job->page = NULL;
    }
    slc_live_pixel_close(job->page_pixel);
    job->page_pixel = NULL;
}
