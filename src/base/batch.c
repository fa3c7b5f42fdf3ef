/* SPDX-License-Identifier: Apache-2.0
 * Batches of raw events. */
#include <sluice/base.h>

#include "base/block.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_ALIGN = 8 };

/* realloc with room for growth; *pointer is unchanged on failure. */
static bool grow(void **pointer, size_t bytes)
{
    void *larger = realloc(*pointer, bytes);
    if (larger != NULL) {
        *pointer = larger;
    }
    return larger != NULL;
}

static bool grow_bytes(slc_batch *batch, size_t capacity)
{
    /* What realloc() moves has been touched. */
    if (capacity < SLC_BLOCK_LARGE) {
        return grow((void **)&batch->bytes, capacity) && (batch->capacity = capacity, true);
    }
    const size_t pages = capacity / SLC_BLOCK_PAGE + (capacity % SLC_BLOCK_PAGE > 0);
    uint8_t *larger = pages <= SIZE_MAX / SLC_BLOCK_PAGE ? slc_block_pages(pages * SLC_BLOCK_PAGE) : NULL;
    const size_t kept = batch->size < batch->capacity ? batch->size : batch->capacity;
    if (larger == NULL) {
        return false;
    }
    if (kept > 0) {
        memcpy(larger, batch->bytes, kept);
    }
    free(batch->bytes);
    batch->bytes = larger;
    batch->capacity = pages * SLC_BLOCK_PAGE;
    return true;
}

slc_status slc_batch_reserve(slc_batch *batch, size_t bytes, uint32_t events)
{
    if (bytes > batch->capacity) {
        const size_t half_more = batch->capacity + batch->capacity / 2;
        if (!grow_bytes(batch, bytes > half_more ? bytes : half_more)) {
            return SLC_ERR_MEMORY;
        }
    }
    if (events > batch->event_capacity) {
        const uint32_t half_more = batch->event_capacity + batch->event_capacity / 2;
        const uint32_t capacity = events > half_more ? events : half_more;
        if (!grow((void **)&batch->offset, capacity * sizeof *batch->offset) ||
            !grow((void **)&batch->length, capacity * sizeof *batch->length) ||
            !grow((void **)&batch->file_offset, capacity * sizeof *batch->file_offset) ||
            !grow((void **)&batch->record, capacity * sizeof *batch->record)) {
            return SLC_ERR_MEMORY;
        }
        batch->event_capacity = capacity;
    }
    return SLC_OK;
}

slc_status slc_batch_append(slc_batch *batch, const void *bytes, size_t size, uint64_t file_offset)
{
    const size_t begin = (batch->size + EVENT_ALIGN - 1) / EVENT_ALIGN * EVENT_ALIGN;
    const slc_status status = slc_batch_reserve(batch, begin + size, batch->n_events + 1);
    if (status != SLC_OK) {
        return status;
    }
    if (begin > batch->size) {
        memset(batch->bytes + batch->size, 0, begin - batch->size);
    }
    if (size > 0) {
        memcpy(batch->bytes + begin, bytes, size);
    }
    batch->offset[batch->n_events] = begin;
    batch->length[batch->n_events] = size;
    batch->file_offset[batch->n_events] = file_offset;
    batch->record[batch->n_events] = (slc_record){.number = batch->first_event + batch->n_events};
    batch->n_events++;
    batch->size = begin + size;
    return SLC_OK;
}

void slc_batch_reset(slc_batch *batch)
{
    batch->size = 0;
    batch->n_events = 0;
    batch->kept_used = 0;
    batch->scattered = false;
}

void slc_batch_clear(slc_batch *batch)
{
    free(batch->bytes);
    free(batch->offset);
    free(batch->length);
    free(batch->file_offset);
    free(batch->record);
    free(batch->kept);
    memset(batch, 0, sizeof *batch);
}
