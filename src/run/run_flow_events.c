/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of events, and the chain of the VELO's. The reader only cuts the stream into records; the worker
 * reads them (of a regular file), verifies and expands them. Which events turn out to be lost there shifts
 * the numbers of those after them, which is mended in order.
 */
#include "run/run_flow_events.h"
#include "base/config.h"
#include "cuda/cuda_lend.h"
#include "io/io_part.h"
#include "lhcb/lhcb_identity.h"

#include <sluice/run_flow.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------- */

/* Of the VELO's inputs the reader refuses what is none. */
slc_status slc_flow_events_open(const slc_flow_config *config, const char *path, bool cms, void **input,
                                slc_error *error)
{
    slc_flow_events *in = calloc(1, sizeof *in);
    if (in == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for an input");
    }
    slc_status status = slc_io_open(path, &config->io, &in->source, error);
    if (status == SLC_OK && cms && slc_io_content_of(in->source) != SLC_IO_CMS_EVENTS) {
        status = slc_fail(error, SLC_ERR_FORMAT,
                          "%s: format %s, but events of CMS's pixel detector (cms-raw) are needed", path,
                          slc_io_format(in->source));
    }
    if (status == SLC_OK) {
        status = slc_io_cut(in->source, config->from, config->until, &in->before, error);
    }
    if (status != SLC_OK) {
        slc_io_close(in->source);
        free(in);
        return status;
    }
    in->raw = slc_io_content_of(in->source) == SLC_IO_RAW_EVENTS;
    *input = in;
    return SLC_OK;
}

void slc_flow_events_close(void *input)
{
    slc_flow_events *in = input;
    slc_io_close(in->source);
    free(in);
}

/* The line on the damage so far, as the reader is ahead of who tells it. */
static void note_damage(const slc_flow_events *in, slc_flow_item *item)
{
    const char *damage = slc_io_damage(in->source);
    (void)snprintf(item->damage, sizeof item->damage, "%s", damage != NULL ? damage : "");
}

slc_status slc_flow_events_read(const slc_flow_events *in, const slc_flow_config *config, slc_flow_item *item,
                                slc_io_deferred *deferred, slc_error *error)
{
    const uint32_t most = config->strict ? 1 : config->batch_events;
    const slc_status status = deferred != NULL
                                  ? slc_io_read_batch_deferred(in->source, most, config->batch_bytes,
                                                               &item->batch, deferred, &item->reading, error)
                                  : slc_io_read_batch(in->source, most, config->batch_bytes, &item->batch,
                                                      &item->reading, error);
    if (status == SLC_OK && config->strict) {
        note_damage(in, item);
    }
    return status;
}

void slc_flow_events_settle(void *input, slc_flow_item *item)
{
    slc_flow_events *in = input;
    if (item->ended) {
        slc_io_settle(in->source, &in->losses);
        slc_io_totals_of(in->source, &item->totals);
        item->totals.events -= in->before.events;
        item->totals.lost_events -= in->before.lost_events;
        item->totals.bytes -= in->before.bytes;
        item->totals.compressed -= in->before.compressed;
        item->totals.checksums -= in->before.checksums;
        item->totals.incomplete_events -= in->before.incomplete_events;
        note_damage(in, item);
    }
}

void slc_flow_events_renumber(slc_faults *faults, uint64_t lost)
{
    for (uint32_t i = 0; i < faults->n_kept; i++) {
        faults->kept[i].event -= lost;
    }
}

/* A walk over the banks of an event costs as much as its smallest stage: it is shared by the workers. */
slc_status slc_flow_events_identify(const slc_flow_item *item, slc_lhcb_events *events, slc_error *error)
{
    const uint32_t n = item->batch.n_events;
    slc_status status = slc_columns_reserve(&slc_lhcb_events_schema, events, n > 0 ? n : 1, n);
    status = status == SLC_OK ? slc_lhcb_identity_run(&item->batch, item->input, events, NULL) : status;
    return status == SLC_OK ? SLC_OK
                            : slc_fail(error, status, "identity of events: %s", slc_status_name(status));
}

/* ---- loans ------------------------------------------------------------------------------------- */

void slc_flow_lend(slc_flow_loan *loan, slc_batch *batch, uint8_t *bytes, size_t size, size_t kept)
{
    if (kept > 0) {
        memcpy(bytes, batch->bytes, kept);
    }
    loan->waiting = batch->bytes;
    loan->waiting_size = batch->capacity;
    batch->bytes = bytes;
    batch->capacity = size;
    loan->lent = true;
}

void slc_flow_take_back(slc_flow_loan *loan, slc_batch *batch)
{
    if (loan->lent) {
        batch->bytes = loan->waiting;
        batch->capacity = loan->waiting_size;
        batch->n_events = 0; /* they are not there any more */
    }
    slc_cuda_give_back(loan->block);
    *loan = (slc_flow_loan){.lent = false};
}

/* ---- VELO -------------------------------------------------------------------------------------- */

typedef struct velo_item {
    slc_flow_velo_result result; /* first: it is what the item shows */
    slc_io_deferred *deferred;
    bool is_deferred, locks, results_alone;
    slc_flow_loan loan;
    size_t *length; /* of events, as far as they are not cut */
    uint32_t length_capacity;
} velo_item;

/* The caller's configuration, whatever version of the library it is of. */
static slc_status take_velo(const void *setup, slc_velo_config *own, slc_error *error)
{
    slc_velo_config_default(own);
    return slc_config_take(own, sizeof *own, ((const slc_flow_velo_setup *)setup)->config, "slc_velo_config",
                           error);
}

static const char *device_of_velo(const void *setup, const slc_flow_config *config)
{
    slc_velo_config own;
    const bool good = take_velo(setup, &own, NULL) == SLC_OK; /* if not, it is told by who opens the chain */
    return config->exec.device != NULL ? config->exec.device : good ? own.exec.device : NULL;
}

static slc_status open_velo(const void *setup, const slc_flow_config *config, void **chain, slc_error *error)
{
    const slc_flow_velo_setup *velo = setup;
    slc_velo_config own;
    slc_velo_chain *opened = NULL;
    slc_status status = take_velo(setup, &own, error);
    if (status == SLC_OK) {
        own.exec.device = config->exec.device != NULL ? config->exec.device : own.exec.device;
        status = slc_velo_chain_open(&own, velo->geometry, &opened, error);
    }
    *chain = opened;
    return status;
}

static void close_velo(void *chain)
{
    slc_velo_chain_close(chain);
}

static slc_status open_velo_item(const void *setup, slc_flow_item *item, slc_error *error)
{
    velo_item *own = item->result;
    (void)setup;
    own->result.raw = true;
    return slc_io_deferred_open(&own->deferred, error);
}

static void close_velo_item(slc_flow_item *item)
{
    velo_item *own = item->result;
    slc_flow_take_back(&own->loan, &item->batch);
    slc_io_deferred_close(own->deferred);
    free(own->length);
    slc_velo_result_clear(&own->result.found);
    slc_velo_truth_clear(&own->result.truth);
    slc_columns_clear(&slc_lhcb_events_schema, &own->result.events);
}

static slc_status open_velo_input(const void *setup, const slc_flow_config *config, const char *path,
                                  void **input, slc_error *error)
{
    const slc_status status = slc_flow_events_open(config, path, false, input, error);
    if (status == SLC_OK) {
        const char *device = device_of_velo(setup, config);
        slc_flow_events *in = *input;
        in->velo = setup;
        in->locks = device != NULL && strcmp(device, "cpu") != 0;
    }
    return status;
}

static slc_status read_velo(void *input, const slc_flow_config *config, slc_flow_item *item, slc_error *error)
{
    const slc_flow_events *in = input;
    velo_item *own = item->result;
    slc_flow_take_back(&own->loan, &item->batch);
    own->locks = in->locks;
    own->results_alone = config->results_alone;
    slc_faults_reset(&own->result.found.faults);
    slc_faults_reset(&own->result.truth_faults);
    own->result.raw = in->raw;
    own->is_deferred = in->raw && !config->strict;
    if (in->raw) {
        return slc_flow_events_read(in, config, item, own->is_deferred ? own->deferred : NULL, error);
    }
    slc_io_totals before;
    slc_io_totals_of(in->source, &before);
    own->result.found.first_event = before.events;
    const slc_status status = slc_io_read_velo_hits(
        in->source, config->strict ? 1 : config->batch_events, &own->result.found.hits,
        in->velo->truth ? &own->result.truth : NULL, in->velo->identity ? &own->result.events : NULL,
        &item->reading, error);
    if (status == SLC_OK && config->strict) {
        note_damage(in, item);
    }
    return status;
}

/* Blocks of packets go to a GPU as they lie, so that they are read into memory that it copies from. Other
 * banks are packed first. */
enum { LOCKED_AT = 2 }; /* the second time that a block is used: few batches of large events take no gain */

static void lend_block(velo_item *own, slc_batch *batch)
{
    size_t kept = 0;
    const size_t size = slc_io_packets_size(batch, own->deferred, &kept);
    void *block = size > 0 ? slc_cuda_lend(size + size / 8) : NULL; /* for batches of about this size, too */
    if (block != NULL) {
        slc_flow_lend(&own->loan, batch, block, size, kept);
        own->loan.block = block;
    }
}

static slc_status finish_velo(slc_flow_item *item, slc_error *error)
{
    velo_item *own = item->result;
    if (!own->is_deferred) {
        return SLC_OK;
    }
    if (own->locks) {
        lend_block(own, &item->batch);
    }
    const slc_status status = slc_io_finish_batch(&item->batch, own->deferred, &item->reading, error);
    if (status != SLC_OK) {
        slc_flow_take_back(&own->loan, &item->batch);
    } else if (own->loan.lent) {
        slc_cuda_lend_lock(own->loan.block, LOCKED_AT);
    }
    return status;
}

static slc_status identify(const slc_flow_item *item, slc_flow_velo_result *result, slc_error *error)
{
    slc_lhcb_events *events = &result->events;
    for (size_t i = 0; i < events->head.size && !result->raw; i++) {
        events->input[i] = item->input;
    }
    return result->raw ? slc_flow_events_identify(item, events, error) : SLC_OK;
}

static slc_status run_chain(slc_velo_chain *chain, const slc_batch *batch, slc_flow_velo_result *result,
                            slc_error *error)
{
    slc_status status;
    if (!result->raw) {
        status = slc_velo_chain_reserve_hits(chain, &result->found, error);
        return status == SLC_OK ? slc_velo_chain_run_hits(chain, &result->found, error) : status;
    }
    status = slc_velo_chain_reserve(chain, batch, &result->found, error);
    return status == SLC_OK ? slc_velo_chain_run(chain, batch, &result->found, error) : status;
}

/* The batch without the bytes of events that the global event cut leaves out. */
static slc_status view_uncut(velo_item *own, const slc_batch *batch, slc_batch *view, slc_error *error)
{
    *view = *batch;
    if (own->result.found.n_gec_events == 0) {
        return SLC_OK;
    }
    if (own->length_capacity < batch->n_events) {
        size_t *length = realloc(own->length, batch->n_events * sizeof *length);
        if (length == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "truth: no memory for %u events", batch->n_events);
        }
        own->length = length;
        own->length_capacity = batch->n_events;
    }
    for (uint32_t e = 0; e < batch->n_events; e++) {
        own->length[e] = own->result.found.cuts.cut[e] == 0 ? batch->length[e] : 0;
    }
    view->length = own->length;
    return SLC_OK;
}

/* Its faults are those of the event, as the chain's are. Nobody looks for the particles of what is cut. */
static slc_status read_truth(velo_item *own, const slc_batch *all, slc_error *error)
{
    const double began = slc_clock_seconds();
    slc_flow_velo_result *result = &own->result;
    slc_faults *faults = &result->truth_faults;
    slc_batch batch;
    if (view_uncut(own, all, &batch, error) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    slc_faults_reset(faults);
    faults->of_event = result->found.counts.faults;
    faults->first_event = batch.first_event;
    faults->n_events = batch.n_events;
    const slc_status status = slc_velo_truth_read(&batch, &result->truth, faults, error);
    faults->of_event = NULL;
    result->seconds_truth = slc_clock_seconds() - began;
    return status;
}

static slc_status run_events(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    const slc_flow_velo_setup *velo = setup;
    slc_flow_velo_result *result = item->result;
    slc_faults_reset(&result->found.faults);
    result->seconds_truth = result->seconds_checksum = 0;
    if (velo->identity_alone) {
        return identify(item, result, error);
    }
    slc_status status = run_chain(chain, &item->batch, result, error);
    if (status == SLC_OK) {
        const double began = slc_clock_seconds();
        item->checksum = slc_velo_result_checksum(&result->found, 0);
        item->n_summed = result->found.hits.head.n_events;
        result->seconds_checksum = slc_clock_seconds() - began;
    }
    if (status == SLC_OK && velo->truth && result->raw) {
        status = read_truth(item->result, &item->batch, error);
    }
    if (status == SLC_OK && velo->identity) {
        status = identify(item, result, error);
    }
    if (status == SLC_OK && velo->identity && result->events.head.size > 0) {
        memcpy(result->events.faults, result->found.counts.faults,
               result->events.head.size * sizeof *result->events.faults);
    }
    return status;
}

static slc_status run_velo(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    velo_item *own = item->result;
    const slc_status status = run_events(chain, setup, item, error);
    if (own->results_alone) { /* the bytes of the batch go to another one */
        slc_flow_take_back(&own->loan, &item->batch);
    }
    return status;
}

static void settle_velo(void *input, slc_flow_item *item)
{
    slc_flow_events *in = input;
    slc_flow_events_renumber(&item->reading, in->losses.events);
    if (item->ended) {
        slc_flow_events_settle(in, item);
        return;
    }
    velo_item *own = item->result;
    slc_flow_events_renumber(&own->result.found.faults, in->losses.events);
    slc_flow_events_renumber(&own->result.truth_faults, in->losses.events);
    own->result.found.first_event -= in->losses.events;
    if (own->is_deferred) {
        slc_io_losses_add(&in->losses, own->deferred);
    }
}

const slc_flow_chain slc_flow_velo = {.size = sizeof(slc_flow_chain),
                                      .name = "velo",
                                      .device = device_of_velo,
                                      .open = open_velo,
                                      .close = close_velo,
                                      .result_bytes = sizeof(velo_item),
                                      .item_open = open_velo_item,
                                      .item_close = close_velo_item,
                                      .input_open = open_velo_input,
                                      .read = read_velo,
                                      .input_close = slc_flow_events_close,
                                      .finish = finish_velo,
                                      .run = run_velo,
                                      .settle = settle_velo};
