/* SPDX-License-Identifier: Apache-2.0
 *
 * What a flow is asked for: checked, with the part of the inputs and the devices that follow from it, and how
 * many workers and batches in flight there are to be.
 */
#include "base/config.h"
#include "base/team.h"
#include "run/run_flow_part.h"

#include <sys/stat.h>

static void flow_config_default(slc_flow_config *config)
{
    *config = (slc_flow_config){.size = sizeof *config, .batch_events = 64, .batch_bytes = (size_t)16 << 20};
    slc_io_config_default(&config->io);
    config->exec.target = SLC_SIMD_AUTO;
}
SLC_CONFIG_DEFAULT(slc_flow_config, flow_config_default)

static slc_status check(const slc_flow_config *config, const slc_flow_chain *chain, slc_error *error)
{
    if (chain == NULL || chain->size != sizeof *chain || chain->result_bytes == 0 || chain->run == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_flow_open: not a chain of this library's version");
    }
    if (config->read == NULL && config->n_paths == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_flow_config: neither paths nor a function that reads");
    }
    if (config->read == NULL &&
        (chain->input_open == NULL || chain->read == NULL || chain->input_close == NULL)) {
        return slc_fail(error, SLC_ERR_USAGE, "the chain \"%s\" reads no files", chain->name);
    }
    if (chain->open != NULL && chain->close == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "the chain \"%s\" opens and does not close", chain->name);
    }
    if (config->read != NULL && chain->files_alone) {
        return slc_fail(error, SLC_ERR_USAGE, "the chain \"%s\" takes files alone, not a function that reads",
                        chain->name);
    }
    if (config->batch_events == 0 || config->batch_bytes == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_flow_config: batches of no events or no bytes");
    }
    return SLC_OK;
}

uint32_t slc_flow_slots(uint32_t wanted, uint32_t workers)
{
    if (wanted > 0) {
        return wanted;
    }
    if (workers == 1 && slc_team_processors() == 1) {
        return 1; /* who would read ahead would take the processor from who works, and the caches */
    }
    if (workers == 1) {
        return 3; /* one worked on, one ready, one being read: a fourth only takes room in the caches */
    }
    return workers < UINT32_MAX / 2 - 1 ? 2 * workers + 2 : workers;
}

slc_status slc_flow_take_config(const slc_flow_config *config, const slc_flow_chain *chain, const void *setup,
                                slc_flow_config *own, slc_run_part *part, slc_run_devices *devices,
                                slc_error *error)
{
    flow_config_default(own);
    slc_status status = slc_config_take(own, sizeof *own, config, "slc_flow_config", error);
    status = status == SLC_OK ? check(own, chain, error) : status;
    status = status == SLC_OK ? slc_run_part_of(own, chain, part, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    return slc_run_devices_of(chain->device != NULL ? chain->device(setup, own) : NULL, devices, error);
}

bool slc_flow_works_itself(const slc_flow *f)
{
    return f->n_workers == 1 && !(f->chain->apart && f->config.exec.threads > 1);
}

/* Regular files alone, whose reading ends without signals; and whether all are small. */
static bool are_files(const slc_flow_config *config, bool *small)
{
    enum { SMALL = 1 << 16 };
    struct stat about;
    bool all = config->read == NULL;
    *small = true;
    for (uint32_t i = 0; i < config->n_paths && all; i++) {
        all = stat(config->paths[i], &about) == 0 && S_ISREG(about.st_mode);
        *small = *small && all && about.st_size <= SMALL;
    }
    return all;
}

bool slc_flow_is_due(const slc_flow *f)
{
    return f->head != NULL && f->head->state == SLC_FLOW_DONE &&
           (!f->small || f->at_end || 2 * f->n_flying >= f->n_slots);
}

void slc_flow_count_workers(slc_flow *f)
{
    const slc_flow_chain *chain = f->chain;
    const uint32_t slots = f->config.n_slots;
    if (f->config.exec.threads == 0) {
        f->config.exec.threads = slc_run_devices_threads(&f->devices, slc_team_processors());
    }
    const uint32_t threads = f->config.exec.threads;
    f->n_workers = chain->ordered           ? 1
                   : chain->workers != NULL ? chain->workers(f->setup, &f->config)
                                            : threads;
    f->n_workers = chain->ordered ? 1 : slc_run_devices_workers(&f->devices, f->n_workers);
    f->n_slots = slc_flow_slots(slots, f->n_workers);
    bool small = false;
    f->by_workers = chain->read_by_workers && f->n_workers > 1 && f->devices.list.n == 0 &&
                    are_files(&f->config, &small);
    if (slots == 0 && f->by_workers) {
        /* Every second one is the end of a file. Small ones are done sooner than the caller is awake. */
        f->n_slots = (small ? 16 : 4) * (f->n_workers + 1);
    }
    f->small = f->by_workers && small;
    f->n_slots = f->n_slots < 2 && slc_flow_has_to_read_ahead(&f->config) ? 2 : f->n_slots;
    if (slots == 0 && chain->ordered && f->n_slots > 2 && slc_flow_works_itself(f)) {
        f->n_slots = 2; /* one is worked on while the next is read; else the caller takes one, too */
    }
}
