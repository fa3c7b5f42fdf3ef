/* SPDX-License-Identifier: Apache-2.0
 * The chain of LHCb's first trigger level in the flow. */
#include "base/config.h"
#include "io/io_deferred.h"
#include "io/io_part.h"
#include "run/run_flow_events.h"

#include <sluice/run_flow_hlt1.h>

#include <string.h>

typedef struct hlt1_item {
    slc_flow_hlt1_result result; /* first: it is what the item shows */
    slc_io_deferred *deferred;
    bool is_deferred;
} hlt1_item;

static slc_status open_hlt1(const void *setup, const slc_flow_config *config, void **chain, slc_error *error)
{
    const slc_flow_hlt1_setup *hlt1 = setup;
    slc_hlt1_chain *opened = NULL;
    (void)config;
    const slc_status status = slc_hlt1_chain_open(hlt1->config, hlt1->geometry, &opened, error);
    *chain = opened;
    return status;
}

static void close_hlt1(void *chain)
{
    slc_hlt1_chain_close(chain);
}

static slc_status open_item(const void *setup, slc_flow_item *item, slc_error *error)
{
    hlt1_item *own = item->result;
    (void)setup;
    return slc_io_deferred_open(&own->deferred, error);
}

static void close_item(slc_flow_item *item)
{
    hlt1_item *own = item->result;
    slc_io_deferred_close(own->deferred);
    slc_hlt1_result_clear(&own->result.found);
    slc_velo_truth_clear(&own->result.truth);
    slc_velo_beyond_clear(&own->result.beyond);
    slc_columns_clear(&slc_lhcb_events_schema, &own->result.events);
}

static slc_status open_input(const void *setup, const slc_flow_config *config, const char *path, void **input,
                             slc_error *error)
{
    (void)setup;
    const slc_status status = slc_flow_events_open(config, path, false, input, error);
    if (status == SLC_OK && !((const slc_flow_events *)*input)->raw) {
        slc_flow_events_close(*input);
        *input = NULL;
        return slc_fail(error, SLC_ERR_FORMAT, "%s: hits of the VELO, but raw events (MDF, MEP) are needed",
                        path);
    }
    return status;
}

static slc_status read_events(void *input, const slc_flow_config *config, slc_flow_item *item,
                              slc_error *error)
{
    hlt1_item *own = item->result;
    slc_faults_reset(&own->result.found.faults);
    slc_faults_reset(&own->result.found.velo.faults);
    slc_faults_reset(&own->result.truth_faults);
    own->is_deferred = !config->strict;
    return slc_flow_events_read(input, config, item, own->is_deferred ? own->deferred : NULL, error);
}

static slc_status finish(slc_flow_item *item, slc_error *error)
{
    hlt1_item *own = item->result;
    return own->is_deferred ? slc_io_finish_batch(&item->batch, own->deferred, &item->reading, error)
                            : SLC_OK;
}

static slc_status run_hlt1(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    const slc_flow_hlt1_setup *hlt1 = setup;
    slc_flow_hlt1_result *result = item->result;
    slc_faults_reset(&result->truth_faults);
    slc_status status = slc_hlt1_chain_reserve(chain, &item->batch, &result->found, error);
    status = status == SLC_OK ? slc_hlt1_chain_run(chain, &item->batch, &result->found, error) : status;
    if (status == SLC_OK) {
        item->checksum = slc_hlt1_result_checksum(&result->found, 0);
        item->n_summed = result->found.ut.head.n_events;
    }
    if (status == SLC_OK && hlt1->truth) {
        status = slc_hlt1_truth_read(&item->batch, &result->truth, &result->beyond, &result->truth_faults,
                                     error);
    }
    if (status == SLC_OK && hlt1->identity) {
        status = slc_flow_events_identify(item, &result->events, error);
    }
    if (status == SLC_OK && hlt1->identity && result->events.head.size > 0) {
        memcpy(result->events.faults, result->found.velo.counts.faults,
               result->events.head.size * sizeof *result->events.faults);
    }
    return status;
}

static void settle(void *input, slc_flow_item *item)
{
    slc_flow_events *in = input;
    hlt1_item *own = item->result;
    slc_flow_events_renumber(&item->reading, in->losses.events);
    if (item->ended) {
        slc_flow_events_settle(in, item);
        return;
    }
    slc_flow_events_renumber(&own->result.found.faults, in->losses.events);
    slc_flow_events_renumber(&own->result.found.velo.faults, in->losses.events);
    slc_flow_events_renumber(&own->result.truth_faults, in->losses.events);
    own->result.found.velo.first_event -= in->losses.events;
    if (own->is_deferred) {
        slc_io_losses_add(&in->losses, own->deferred);
    }
}

const slc_flow_chain slc_flow_hlt1 = {.size = sizeof(slc_flow_chain),
                                      .name = "hlt1",
                                      .open = open_hlt1,
                                      .close = close_hlt1,
                                      .result_bytes = sizeof(hlt1_item),
                                      .item_open = open_item,
                                      .item_close = close_item,
                                      .input_open = open_input,
                                      .read = read_events,
                                      .input_close = slc_flow_events_close,
                                      .finish = finish,
                                      .run = run_hlt1,
                                      .settle = settle};
