/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures what `sluice cms` does with files on GPUs: the flow, from a file that the system has in memory to
 * results that are handed out. Opening (memory of devices, graphs, memory that is page-locked) is left out:
 * time is taken from an item on by which every slot has been used more than once.
 */
#include "bench/bench_cms_events.h"
#include "cuda/cuda_choose.h"

#include <sluice/run_flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LEAST_ITEMS = 64,
    TURNS = 40 /* of all slots */,
    WARM = 4 /* of these, whose time is not taken */,
    REPEATED = 8 /* the events, in the file */
};

typedef struct files {
    const slc_bench_cms_flow *job;
    const char **paths;
    char path[4096];
    uint32_t n_paths;
    uint64_t digis; /* of the items whose time was taken */
    uint64_t checksum;
    bool summed;
} files;

/* The events as a file in the folder for temporary ones. */
static slc_status write_file(files *f, slc_error *error)
{
    const slc_batch *batch = &f->job->events->batch;
    const char *folder = getenv("TMPDIR");
    (void)snprintf(f->path, sizeof f->path, "%s/sluice-bench-cms-XXXXXX", folder != NULL ? folder : "/tmp");
    const int file = mkstemp(f->path);
    FILE *out = file >= 0 ? fdopen(file, "wb") : NULL;
    if (out == NULL) {
        (void)slc_fail(error, SLC_ERR_IO, "%s: cannot be written", f->path);
        f->path[0] = '\0';
        return SLC_ERR_IO;
    }
    bool good = true;
    for (uint32_t i = 0; i < REPEATED * batch->n_events; i++) {
        const uint32_t e = i % batch->n_events;
        good = fwrite(batch->bytes + batch->offset[e], 1, batch->length[e], out) == batch->length[e] && good;
    }
    good = fclose(out) == 0 && good;
    return good ? SLC_OK : slc_fail(error, SLC_ERR_IO, "%s: cannot be written", f->path);
}

static slc_status open_flow(files *f, slc_flow **flow, slc_cms_config *chain, slc_flow_cms_setup *setup,
                            slc_error *error)
{
    const slc_bench_cms_flow *job = f->job;
    slc_flow_config config;
    slc_flow_config_default(&config);
    slc_cms_config_default(chain, SLC_CMS_PHASE1);
    chain->exec.device = job->device;
    chain->wanted = job->wanted;
    *setup = (slc_flow_cms_setup){chain, slc_sim_cms_cabling(job->events->sim),
                                  slc_sim_cms_gains(job->events->sim)};
    config.paths = f->paths;
    config.n_paths = f->n_paths;
    config.batch_events = job->batch;
    config.batch_bytes = job->batch_bytes;
    config.exec.threads = job->streams;
    config.keep_going = config.results_alone = true;
    return slc_flow_open(&config, &slc_flow_cms, setup, flow, error);
}

/* Takes all items; *seconds: from the time when every slot had been used. */
static slc_status take_items(files *f, slc_flow *flow, uint32_t warm, double *seconds, slc_error *error)
{
    double began = 0;
    slc_flow_item *item = NULL;
    slc_status status;
    uint32_t n = 0;
    f->digis = 0;
    while ((status = slc_flow_next(flow, &item, error)) == SLC_OK) {
        if (item != NULL && item->status < 0) {
            *error = item->error;
            return item->status;
        }
        if (item != NULL && !item->ended) {
            f->digis += n > warm ? ((const slc_flow_cms_result *)item->result)->found.words.digis : 0;
            began = n++ == warm ? slc_clock_seconds() : began;
        }
        slc_flow_release(flow, item);
    }
    *seconds = slc_clock_seconds() - began;
    return status == SLC_END ? SLC_OK : status;
}

static slc_status run_files(void *self, double *seconds, slc_error *error)
{
    files *f = self;
    slc_flow *flow = NULL;
    slc_cms_config chain;
    slc_flow_cms_setup setup;
    slc_flow_totals totals = {.checksum = 0};
    slc_status status = open_flow(f, &flow, &chain, &setup, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_flow_totals_of(flow, &totals);
    status = take_items(f, flow, WARM * (2 * totals.workers + 2), seconds, error);
    slc_flow_totals_of(flow, &totals);
    slc_flow_close(flow);
    if (status == SLC_OK && f->summed && f->checksum != totals.checksum) {
        return slc_fail(error, SLC_ERR_FORMAT, "the flow's checksum is %016llx, and was %016llx",
                        (unsigned long long)totals.checksum, (unsigned long long)f->checksum);
    }
    f->checksum = totals.checksum;
    f->summed = true;
    return status;
}

slc_status slc_bench_cms_flow_run(const slc_bench_cms_flow *job, const slc_bench_plan *plan,
                                  slc_bench_time *time, uint64_t *digis, slc_error *error)
{
    slc_cuda_list devices;
    files f = {.job = job};
    slc_status status = slc_cuda_list_read(job->device, false, &devices, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t slots = 2 * job->streams * devices.n + 2;
    const uint64_t by_events = REPEATED * job->events->batch.n_events / job->batch,
                   by_bytes = REPEATED * job->events->batch.size / job->batch_bytes;
    const uint32_t batches = (uint32_t)(by_events > by_bytes ? by_events : by_bytes) + 1;
    const uint32_t items = TURNS * slots > LEAST_ITEMS ? TURNS * slots : LEAST_ITEMS;
    f.n_paths = (items + batches - 1) / batches;
    f.paths = calloc(f.n_paths, sizeof *f.paths);
    if (f.paths == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u inputs", f.n_paths);
    }
    status = write_file(&f, error);
    for (uint32_t i = 0; i < f.n_paths && status == SLC_OK; i++) {
        f.paths[i] = f.path;
    }
    slc_bench_contestant c = {.self = &f, .run = run_files};
    status = status == SLC_OK ? slc_bench_measure(plan, &c, 1, error) : status;
    if (status == SLC_OK) {
        *time = c.time[0];
        *digis = f.digis;
    }
    if (f.path[0] != '\0') {
        (void)unlink(f.path);
    }
    free(f.paths);
    return status;
}
