/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of files of CMS's events. For a core they are read as they come. For a GPU the reader has scouts
 * (io/cms/io_cms_scout.h), who read pieces of the file into page-locked memory, which a GPU copies from at
 * once: a batch lies in such a piece. Where the caller looks at batches, or scouts do not know where an event
 * ends, it is read by the worker.
 */
#include "base/config.h"
#include "base/team.h"
#include "cms/cuda/cms_chain_cuda.h"
#include "cuda/cuda_lend.h"
#include "io/cms/io_cms_scout.h"
#include "run/run_flow_events.h"

#include <sluice/run_flow.h>

#include <string.h>

/* The caller's configuration, whatever version of the library it is of. */
static slc_status take_cms(const void *setup, slc_cms_config *own, slc_error *error)
{
    slc_cms_config_default(own, SLC_CMS_PHASE1);
    return slc_config_take(own, sizeof *own, ((const slc_flow_cms_setup *)setup)->config, "slc_cms_config",
                           error);
}

static const char *device_of_cms(const void *setup, const slc_flow_config *config)
{
    slc_cms_config own;
    const bool good = take_cms(setup, &own, NULL) == SLC_OK; /* if not, it is told by who opens the chain */
    return config->exec.device != NULL ? config->exec.device : good ? own.exec.device : NULL;
}

static slc_status open_cms(const void *setup, const slc_flow_config *config, void **chain, slc_error *error)
{
    const slc_flow_cms_setup *cms = setup;
    slc_cms_config own;
    slc_cms_chain *opened = NULL;
    slc_status status = take_cms(setup, &own, error);
    if (status == SLC_OK) {
        own.exec.device = config->exec.device != NULL ? config->exec.device : own.exec.device;
        own.checksum = true;
        status = slc_cms_chain_open(&own, cms->cabling, cms->gains, &opened, error);
    }
    if (status == SLC_OK) {
        slc_cms_chain_lock_results(opened);
    }
    *chain = opened;
    return status;
}

static void close_cms(void *chain)
{
    slc_cms_chain_close(chain);
}

/* What an item has besides what it shows. */
typedef struct cms_item {
    slc_flow_cms_result result; /* first: it is what the item shows */
    slc_io_deferred *deferred;
    bool is_deferred, results_alone;
    bool on_device;     /* it was: its results are page-locked */
    slc_flow_loan loan; /* of a piece of the file, or of a block for a batch that is read by a worker */
} cms_item;

/* Returns the block that they are in. A batch that could not have one has its own bytes: NULL. */
static void *lend_bytes(cms_item *own, slc_batch *batch)
{
    const slc_io_shared *shared = slc_io_deferred_shared(own->deferred);
    size_t size = batch->size;
    void *block = shared != NULL ? shared->bytes : slc_cuda_lend(size);
    if (block == NULL) {
        return NULL;
    }
    if (shared != NULL) {
        uint8_t *bytes = slc_io_deferred_bytes(own->deferred, &size);
        slc_flow_lend(&own->loan, batch, bytes, size, 0);
    } else { /* an event at the end of its file has been read already */
        slc_flow_lend(&own->loan, batch, block, size, size < batch->capacity ? size : batch->capacity);
        own->loan.block = block;
    }
    return block;
}

static void take_back_bytes(cms_item *own, slc_batch *batch)
{
    slc_flow_take_back(&own->loan, batch);
    slc_io_deferred_leave(own->deferred);
}

static slc_status open_cms_item(const void *setup, slc_flow_item *item, slc_error *error)
{
    (void)setup;
    return slc_io_deferred_open(&((cms_item *)item->result)->deferred, error);
}

static void close_cms_item(slc_flow_item *item)
{
    cms_item *own = item->result;
    take_back_bytes(own, &item->batch);
    slc_io_deferred_close(own->deferred);
    if (own->on_device) {
        slc_cms_chain_unlock_result(&own->result.found);
    }
    slc_cms_result_clear(&own->result.found);
    slc_columns_clear(&slc_cms_events_schema, &own->result.events);
}

/* Scouts for a GPU. The pieces are batches as large as they may be. */
static slc_status look_ahead(slc_flow_events *in, const slc_flow_config *config, slc_error *error)
{
    /* One reads some 5 GB/s, and a GPU takes 30; the workers do little meanwhile. */
    enum { SCOUTS = 8, LEAST = 1 << 16, MOST = 16 << 20 };
    const uint32_t half = slc_team_processors() / 2;
    const size_t piece = config->batch_bytes < LEAST ? LEAST : config->batch_bytes / LEAST * LEAST;
    slc_cms_looking how = {.threads = half < SCOUTS ? half : SCOUTS,
                           .piece_bytes = piece < MOST ? piece : MOST};
    if (config->results_alone) { /* else the caller has the batch as long as he likes */
        how.allocate = slc_cuda_lend;
        how.release = slc_cuda_give_back;
    }
    in->defers = true;
    return how.threads > 0 ? slc_io_cms_look_ahead(in->source, &how, error) : SLC_OK;
}

static slc_status open_cms_input(const void *setup, const slc_flow_config *config, const char *path,
                                 void **input, slc_error *error)
{
    slc_status status = slc_flow_events_open(config, path, true, input, error);
    const char *device = device_of_cms(setup, config);
    /* A core is slower than the reader, whose caches have the bytes; a GPU waits for bytes. */
    if (status == SLC_OK && device != NULL && strcmp(device, "cpu") != 0 && !config->strict) {
        status = look_ahead(*input, config, error);
        if (status != SLC_OK) {
            slc_flow_events_close(*input);
            *input = NULL;
        }
    }
    return status;
}

bool slc_flow_cms_looked(const void *input)
{
    return slc_io_cms_looked(((const slc_flow_events *)input)->source);
}

/* Is the last event one that the end of the input has cut? */
static bool ends_cut(const slc_flow_item *item)
{
    const slc_batch *batch = &item->batch;
    const uint64_t last = batch->n_events > 0 ? batch->file_offset[batch->n_events - 1] : UINT64_MAX;
    for (uint32_t i = 0; i < item->reading.n_kept; i++) {
        const slc_fault *fault = &item->reading.kept[i];
        if (fault->code == SLC_FAULT_RECORD_TRUNCATED && fault->offset == last) {
            return true;
        }
    }
    return false;
}

/* Of an event that its file cuts there may be something to find; one that was cut as the reading was to stop
 * is left out, and counted as lost. */
static slc_status read_cms(void *input, const slc_flow_config *config, slc_flow_item *item, slc_error *error)
{
    slc_flow_events *in = input;
    slc_batch *batch = &item->batch;
    cms_item *own = item->result;
    take_back_bytes(own, batch);
    own->is_deferred = in->defers && !config->strict;
    own->results_alone = config->results_alone;
    const slc_status status = slc_flow_events_read(in, config, item, own->is_deferred ? own->deferred : NULL,
                                                   error);
    if (status != SLC_OK || config->stop == NULL || !ends_cut(item) || !config->stop(config->context)) {
        return status;
    }
    batch->n_events--;
    batch->size = batch->offset[batch->n_events];
    in->cut = 1; /* losses are those of batches that were handed out */
    return batch->n_events > 0 ? SLC_OK : SLC_END;
}

static slc_status finish_cms(slc_flow_item *item, slc_error *error)
{
    cms_item *own = item->result;
    if (!own->is_deferred) {
        return SLC_OK;
    }
    void *block = lend_bytes(own, &item->batch);
    const slc_status status = slc_io_finish_batch(&item->batch, own->deferred, &item->reading, error);
    if (status != SLC_OK) {
        take_back_bytes(own, &item->batch);
    } else if (block != NULL) { /* which is full now */
        slc_cuda_lend_lock(block, 1);
    }
    return status;
}

static void settle_cms(void *input, slc_flow_item *item)
{
    slc_flow_events *in = input;
    slc_flow_events_renumber(&item->reading, in->losses.events);
    if (item->ended) {
        in->losses.events += in->cut;
        slc_flow_events_settle(in, item);
        return;
    }
    cms_item *own = item->result;
    slc_flow_events_renumber(&own->result.found.faults, in->losses.events);
    own->result.found.first_event -= in->losses.events;
    if (own->is_deferred) {
        slc_io_losses_add(&in->losses, own->deferred);
    }
}

static slc_status run_events(slc_cms_chain *chain, slc_flow_item *item, slc_error *error)
{
    slc_flow_cms_result *result = item->result;
    slc_status status = slc_cms_chain_reserve(chain, &item->batch, &result->found, error);
    status = status == SLC_OK ? slc_cms_chain_run(chain, &item->batch, &result->found, error) : status;
    if (status == SLC_OK && slc_columns_reserve(&slc_cms_events_schema, &result->events, item->batch.n_events,
                                                item->batch.n_events) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for which events they are");
    }
    if (status == SLC_OK) {
        (void)slc_cms_identify(&item->batch, &result->events);
        item->checksum = result->found.checksum;
        item->n_summed = result->found.digis.head.n_events;
    }
    return status;
}

static slc_status run_cms(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    cms_item *own = item->result;
    (void)setup;
    own->on_device = slc_cms_chain_cuda(chain) != NULL;
    const slc_status status = run_events(chain, item, error);
    if (own->results_alone) { /* the bytes of the batch go to another one */
        take_back_bytes(own, &item->batch);
    }
    return status;
}

const slc_flow_chain slc_flow_cms = {.size = sizeof(slc_flow_chain),
                                     .name = "cms",
                                     .device = device_of_cms,
                                     .open = open_cms,
                                     .close = close_cms,
                                     .result_bytes = sizeof(cms_item),
                                     .item_open = open_cms_item,
                                     .item_close = close_cms_item,
                                     .input_open = open_cms_input,
                                     .read = read_cms,
                                     .input_close = slc_flow_events_close,
                                     .finish = finish_cms,
                                     .run = run_cms,
                                     .settle = settle_cms};
