/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of PET: raw files of frames to coincidences. It keeps what windows are open, so there is one,
 * with threads of its own, and an item more after all inputs. The files are one input of the flow's, as those
 * of an acquisition go on in each other (io_pet.h).
 */
#include "base/block.h"
#include "base/config.h"
#include "pet/pet_stages.h"
#include "run/run_flow_part.h"
#include <sluice/io_pet.h>
#include <sluice/run_flow.h>

#include <stdlib.h>

typedef struct frames {
    slc_pet_batch batch; /* first: it is what the item shows */
    slc_pet_result result;
    slc_pet_totals totals;
    slc_pet_converted converted;
    bool is_converted;
    slc_pet_frame *frame;
    slc_pet_marks marks;
    uint64_t *received_ns; /* NULL where nobody asks, as counters do not begin again */
    size_t capacity;
} frames;

/* The chain, and whether who reads converts, too. */
typedef struct pet_chain {
    slc_pet_chain *chain;
    bool split;
} pet_chain;

typedef struct source {
    slc_io_pet_inputs own, *inputs; /* inputs: the caller's, or own */
    bool times;
    size_t seen; /* of its own: their errors are the flow's */
} source;

static slc_status open_chain(const void *setup, const slc_flow_config *config, void **chain, slc_error *error)
{
    const slc_flow_pet_setup *pet = setup;
    slc_pet_config own;
    pet_chain *opened = calloc(1, sizeof *opened);
    *chain = opened;
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain");
    }
    slc_pet_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, pet->config, "slc_pet_config", error);
    if (status == SLC_OK && pet->tables == NULL) {
        status = slc_fail(error, SLC_ERR_USAGE, "slc_flow_pet_setup: no tables");
    }
    own.exec.threads = config->exec.threads;
    own.exec.device = config->exec.device != NULL ? config->exec.device : own.exec.device;
    own.exec.target = config->exec.target != SLC_SIMD_AUTO ? config->exec.target : own.exec.target;
    status = status == SLC_OK ? slc_pet_chain_open(&own, pet->tables, &opened->chain, error) : status;
    opened->split = status == SLC_OK && slc_pet_chain_split(opened->chain);
    return status;
}

static void close_chain(void *chain)
{
    pet_chain *opened = chain;
    slc_pet_chain_close(opened->chain);
    free(opened);
}

static slc_status open_item(const void *setup, slc_flow_item *item, slc_error *error)
{
    frames *own = item->result;
    (void)setup;
    (void)error;
    own->batch.result = &own->result;
    own->batch.totals = &own->totals;
    return SLC_OK;
}

static void close_item(slc_flow_item *item)
{
    frames *own = item->result;
    slc_pet_result_clear(&own->result);
    slc_pet_converted_clear(&own->converted);
    slc_columns_clear(&slc_pet_marks_schema, &own->marks);
    free(own->frame);
    free(own->received_ns);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status open_inputs(const void *setup, const slc_flow_config *config, const char *path,
                              void **input, slc_error *error)
{
    const slc_flow_pet_setup *pet = setup;
    source *s = calloc(1, sizeof *s);
    (void)path;
    *input = s;
    if (s == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for inputs");
    }
    s->times = pet->config->convert.tick_bits < 64;
    s->inputs = pet->inputs != NULL ? pet->inputs : &s->own;
    const slc_status status = slc_io_pet_inputs_open(config->paths, config->n_paths, s->inputs, error);
    s->inputs->format = pet->format;
    s->inputs->own_formats = pet->own_formats;
    s->inputs->keep_marks = pet->keep_marks;
    return status;
}

static void close_inputs(void *input)
{
    source *s = input;
    slc_io_pet_inputs_close(&s->own);
    free(s);
}

static slc_status reserve(frames *own, size_t most, bool times, slc_error *error)
{
    if (own->capacity == most) {
        return SLC_OK;
    }
    own->frame = slc_block_alloc(most * sizeof *own->frame);
    own->received_ns = times ? slc_block_alloc(most * sizeof *own->received_ns) : NULL;
    if (own->frame == NULL || (times && own->received_ns == NULL)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu frames", most);
    }
    own->capacity = most;
    own->batch.frames = own->frame;
    return SLC_OK;
}

/* What has been found with these frames goes with them, and its room comes back. */
static void take_marks(slc_io_pet_inputs *inputs, frames *own)
{
    const slc_pet_marks found = inputs->marks;
    inputs->marks = own->marks;
    own->marks = found;
    slc_columns_reset(&inputs->marks);
    own->batch.marks = &own->marks;
}

static slc_status read_frames(void *input, const slc_flow_config *config, slc_flow_item *item,
                              slc_error *error)
{
    source *s = input;
    frames *own = item->result;
    const size_t wanted = config->batch_bytes / sizeof *own->frame, most = wanted > 0 ? wanted : 1;
    slc_status status = reserve(own, most, s->times, error);
    if (status == SLC_OK) {
        status = slc_io_pet_inputs_read(s->inputs, own->frame, own->received_ns, most, &own->batch.n);
    }
    for (; s->inputs == &s->own && s->seen < s->own.at && status >= 0; s->seen++) {
        const slc_io_pet_input *ended = &s->own.input[s->seen];
        if (ended->error.status != SLC_OK) {
            *error = ended->error;
            status = ended->error.status;
        }
    }
    if (status == SLC_OK && s->inputs->keep_marks) {
        take_marks(s->inputs, own);
    }
    own->batch.last = false;
    own->is_converted = false;
    if (status == SLC_OK) {
        const pet_chain *chain = ((const slc_flow_slot *)(const void *)item)->flow->workers[0].chain;
        if (chain->split) {
            own->is_converted = true;
            status = slc_pet_chain_convert(chain->chain, own->frame, own->received_ns, own->batch.n, false,
                                           &own->converted, error);
        }
        item->input = (uint32_t)s->inputs->at;
        item->path = s->inputs->input[s->inputs->at].path;
    }
    return status;
}

/* What reading has found, and the frames that datagrams' counters miss, are told at the end. */
static void settle(void *input, slc_flow_item *item)
{
    const slc_io_pet_inputs *inputs = ((source *)input)->inputs;
    if (item->ended) {
        slc_faults_merge(&item->reading, &inputs->faults);
        item->totals = (slc_io_totals){.events = inputs->frames,
                                       .lost_events = (uint64_t)(inputs->losses.lost_frames + 0.5)};
    }
}

/* ---- running ----------------------------------------------------------------------------------- */

static slc_status run(void *opened, const void *setup, slc_flow_item *item, slc_error *error)
{
    slc_pet_chain *chain = ((const pet_chain *)opened)->chain;
    frames *own = item->result;
    (void)setup;
    slc_pet_chain_totals(chain, &own->totals);
    const uint64_t before = own->totals.checksum;
    const slc_status status = own->is_converted
                                  ? slc_pet_chain_run_converted(chain, &own->converted, &own->result, error)
                                  : slc_pet_chain_run(chain, own->frame, own->received_ns, own->batch.n,
                                                      own->batch.last, &own->result, error);
    slc_pet_chain_totals(chain, &own->totals);
    item->checksum = own->totals.checksum - before; /* the chain counts its rows from the beginning */
    return status;
}

static slc_status run_last(void *chain, const void *setup, slc_flow_item *item, slc_error *error)
{
    frames *own = item->result;
    own->batch.n = 0;
    own->batch.last = true;
    own->batch.marks = NULL;
    own->is_converted = ((const pet_chain *)chain)->split;
    slc_status status = SLC_OK;
    if (own->is_converted) { /* nobody reads any more */
        status = slc_pet_chain_convert(((const pet_chain *)chain)->chain, NULL, NULL, 0, true,
                                       &own->converted, error);
    }
    return status == SLC_OK ? run(chain, setup, item, error) : status;
}

const slc_flow_chain slc_flow_pet = {.size = sizeof(slc_flow_chain),
                                     .name = "pet",
                                     .ordered = true,
                                     .apart = true,
                                     .files_alone = true,
                                     .joined = true,
                                     .open = open_chain,
                                     .close = close_chain,
                                     .result_bytes = sizeof(frames),
                                     .item_open = open_item,
                                     .item_close = close_item,
                                     .input_open = open_inputs,
                                     .read = read_frames,
                                     .input_close = close_inputs,
                                     .run = run,
                                     .run_last = run_last,
                                     .settle = settle};
