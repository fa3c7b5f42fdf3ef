/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of PET: raw files of frames to coincidences. It keeps what windows are open, so there is one,
 * with threads of its own, and an item more after all inputs.
 */
#include "io/pet/io_pet_raw.h"
#include <sluice/io_pet.h>
#include <sluice/run_flow.h>

#include <stdlib.h>

typedef struct frames {
    slc_flow_pet_result result; /* first: it is what the item shows */
    slc_pet_frame *frame;
    uint64_t *received_ns;
    size_t n, capacity;
} frames;

static slc_status open_chain(const void *setup, const slc_flow_config *config, void **chain, slc_error *error)
{
    const slc_flow_pet_setup *pet = setup;
    slc_pet_config own = *pet->config;
    slc_pet_chain *opened = NULL;
    own.threads = config->exec.threads;
    const slc_status status = slc_pet_chain_open(&own, pet->tables, &opened, error);
    *chain = opened;
    return status;
}

static void close_chain(void *chain)
{
    slc_pet_chain_close(chain);
}

static slc_status open_item(const void *setup, slc_flow_item *item, slc_error *error)
{
    (void)setup;
    item->result = calloc(1, sizeof(frames));
    return item->result != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for a result");
}

static void close_item(slc_flow_item *item)
{
    frames *own = item->result;
    slc_pet_result_clear(&own->result.found);
    free(own->frame);
    free(own->received_ns);
    free(own);
}

static slc_status open_raw(const void *setup, const slc_flow_config *config, const char *path, void **input,
                           slc_error *error)
{
    slc_io_pet_raw *raw = NULL;
    (void)setup;
    (void)config;
    const slc_status status = slc_io_pet_raw_open(path, &raw, error);
    *input = raw;
    return status;
}

static void close_raw(void *input)
{
    slc_io_pet_raw_close(input);
}

static slc_status read_frames(void *input, const slc_flow_config *config, slc_flow_item *item,
                              slc_error *error)
{
    frames *own = item->result;
    const size_t each = sizeof *own->frame + sizeof *own->received_ns;
    const size_t most = config->batch_bytes / each > 0 ? config->batch_bytes / each : 1;
    if (own->capacity < most) {
        free(own->frame);
        free(own->received_ns);
        own->capacity = 0;
        own->frame = malloc(most * sizeof *own->frame);
        own->received_ns = malloc(most * sizeof *own->received_ns);
        if (own->frame == NULL || own->received_ns == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu frames", most);
        }
        own->capacity = most;
    }
    return slc_io_pet_raw_read(input, own->frame, own->received_ns, most, &own->n, &item->reading, error);
}

static slc_status run_frames(slc_pet_chain *chain, slc_flow_item *item, bool last, slc_error *error)
{
    frames *own = item->result;
    slc_faults_reset(&own->result.found.faults);
    const slc_status status = slc_pet_chain_run(chain, own->frame, own->received_ns, last ? 0 : own->n, last,
                                                &own->result.found, error);
    if (status == SLC_OK) {
        slc_pet_chain_totals(chain, &own->result.totals);
    }
    return status;
}

static slc_status run(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    (void)setup;
    return run_frames(chain, item, false, error);
}

static slc_status run_last(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    (void)setup;
    return run_frames(chain, item, true, error);
}

/* Frames that datagrams' counters miss are told where the input ends. */
static void settle(void *input, slc_flow_item *item)
{
    if (!item->ended) {
        return;
    }
    const slc_io_pet_module *module = slc_io_pet_raw_modules(input);
    item->totals = (slc_io_totals){.events = 0};
    for (uint32_t k = 0; module != NULL && k < SLC_PET_MAX_MODULES; k++) {
        item->totals.events += module[k].frames;
        item->totals.lost_events += module[k].lost;
    }
}

const slc_flow_chain slc_flow_pet = {.size = sizeof(slc_flow_chain),
                                     .name = "pet",
                                     .ordered = true,
                                     .open = open_chain,
                                     .close = close_chain,
                                     .item_open = open_item,
                                     .item_close = close_item,
                                     .input_open = open_raw,
                                     .read = read_frames,
                                     .input_close = close_raw,
                                     .run = run,
                                     .run_last = run_last,
                                     .settle = settle};
