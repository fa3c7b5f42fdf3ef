/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch on its way to a GPU and back: as one, or where few chains keep the device busy as two parts, each
 * with an engine of its own, so that the device works on one while the other is packed.
 */
#include "cuda/cuda_engines.h"
#include "velo/velo_chain_part.h"
#include "velo/velo_decode_event.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FEWEST = 1024, SOME_CHAINS = 4 }; /* events of a part; chains that have several */

/* Chains that are open, with whatever devices. */
static atomic_uint n_chains;

slc_status slc_velo_parts_open(slc_velo_device *d, const slc_velo_geometry *geometry, uint32_t number,
                               slc_error *error)
{
    d->number = number;
    d->geometry = geometry;
    d->few_events = SLC_VELO_CUDA_FEW_EVENTS;
    d->most_parts = SLC_VELO_DEVICE_PARTS;
    d->fewest = FEWEST;
    d->calls = slc_cuda_engines_of(NULL)->velo; /* there is a device, hence a table */
    atomic_fetch_add(&n_chains, 1);
    return d->calls->open(geometry, number, &d->part[0].engine, error);
}

/* Parts from one on have no engine any more. */
static void close_from(slc_velo_device *d, uint32_t first)
{
    for (uint32_t i = first; i < SLC_VELO_DEVICE_PARTS; i++) {
        if (d->part[i].engine != NULL) {
            d->calls->close(d->part[i].engine);
            d->part[i] = (slc_velo_part){.n = 0};
        }
    }
}

void slc_velo_parts_close(slc_velo_device *d)
{
    close_from(d, 0);
    if (d->calls != NULL) {
        atomic_fetch_sub(&n_chains, 1);
    }
}

slc_status slc_velo_part_end(const slc_velo_device *d, slc_velo_part *part, slc_error *error)
{
    const bool begun = part->begun;
    part->begun = false;
    return begun ? d->calls->end(part->engine, &part->out, error) : SLC_OK;
}

slc_status slc_velo_part_begin(slc_velo_chain *chain, slc_velo_part *part, bool words, slc_error *error)
{
    const slc_velo_device *d = chain->device;
    const slc_velo_cuda_config config = {.track = &chain->config.track,
                                         .fit = &chain->config.fit,
                                         .vertex = &chain->config.vertex,
                                         .wanted = chain->config.wanted,
                                         .selection = slc_velo_decide_lines(chain),
                                         .few_events = d->few_events * d->n_parts}; /* an engine's */
    const slc_status status = d->calls->begin(part->engine, &config, &part->in, words, error);
    part->begun = status == SLC_OK;
    return status;
}

/* ---- room ---------------------------------------------------------------------------------------------- */

slc_status slc_velo_device_events(slc_velo_device *d, uint32_t events, slc_error *error)
{
    if (events <= d->events && d->own != NULL) {
        return SLC_OK;
    }
    free(d->own);
    free(d->skip);
    free(d->superpixels);
    free(d->n_hits);
    d->events = events;
    d->own = malloc((size_t)events + 1);
    d->skip = malloc((size_t)events + 1);
    d->superpixels = malloc(((size_t)events + 1) * sizeof *d->superpixels);
    d->n_hits = malloc(((size_t)events + 1) * sizeof *d->n_hits);
    return d->own != NULL && d->skip != NULL && d->superpixels != NULL && d->n_hits != NULL
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for a batch of %u events for a GPU", events);
}

slc_status slc_velo_part_reserve(slc_velo_device *d, slc_velo_part *part, size_t rows, bool words,
                                 slc_error *error)
{
    slc_status status = slc_velo_part_end(d, part, error); /* one that nobody wants any more */
    if (status == SLC_OK && part->engine == NULL) {
        status = d->calls->open(d->geometry, d->number, &part->engine, error);
    }
    status = status == SLC_OK ? d->calls->reserve(part->engine, part->n, rows, words, &part->in, error)
                              : status;
    part->room = status != SLC_OK || !words ? 0
                 : rows > part->room        ? rows + rows / 4
                                            : part->room; /* as the engine makes it */
    return status;
}

slc_status slc_velo_part_grow(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                              slc_velo_part *part, slc_error *error)
{
    slc_batch events = *batch;
    events.n_events = part->n;
    events.offset += part->first;
    events.length += part->first;
    const size_t bound = slc_velo_event_bound(&events, chain->config.banks,
                                              cut != NULL ? cut + part->first : NULL, NULL, NULL);
    return slc_velo_part_reserve(chain->device, part, bound, true, error);
}

/* ---- batches ------------------------------------------------------------------------------------------- */

/* Parts of as many events, or one fewer. Of several chains each has one, as they keep the device busy for
 * each other, and may want the memory. */
static void split(slc_velo_device *d, uint32_t events)
{
    const uint32_t most = atomic_load(&n_chains) <= SOME_CHAINS ? d->most_parts : 1;
    uint32_t n = events / d->fewest;
    n = n < 1 ? 1 : n < most ? n : most;
    close_from(d, most);
    for (uint32_t i = 0, first = 0; i < n; i++) {
        d->part[i].first = first;
        d->part[i].n = events / n + (i < events % n);
        first += d->part[i].n;
    }
    d->n_parts = n;
}

slc_status slc_velo_device_pack(slc_velo_chain *chain, const slc_batch *batch, const uint8_t *cut,
                                size_t *words, size_t *largest, slc_error *error)
{
    slc_velo_device *d = chain->device;
    slc_velo_packed sum = {.words = 0};
    const double began = slc_clock_seconds();
    d->packed = NULL;
    split(d, batch->n_events);
    slc_status status = slc_velo_device_events(d, batch->n_events, error);
    status = status == SLC_OK ? slc_velo_pack(chain, batch, cut, &sum, error) : status;
    if (status == SLC_OK) {
        d->packed = batch;
        d->packed_as = *batch;
    }
    *words = sum.words;
    *largest = sum.largest;
    d->seconds_packing += slc_clock_seconds() - began;
    return status;
}

bool slc_velo_device_is_packed(const slc_velo_device *d, const slc_batch *batch)
{
    const slc_batch *as = &d->packed_as;
    return d->packed == batch && as->bytes == batch->bytes && as->size == batch->size &&
           as->n_events == batch->n_events && as->offset == batch->offset &&
           as->first_event == batch->first_event && as->sequence == batch->sequence &&
           as->scattered == batch->scattered;
}

double slc_velo_device_packing(slc_velo_device *device)
{
    const double seconds = device != NULL ? device->seconds_packing : 0;
    if (device != NULL) {
        device->seconds_packing = 0;
    }
    return seconds;
}
