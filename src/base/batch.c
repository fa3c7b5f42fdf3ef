/* SPDX-License-Identifier: Apache-2.0
 * Batches of raw events. */
#define _DEFAULT_SOURCE /* madvise */
#include <sluice/base.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EVENT_ALIGN = 8 };

/* Large pages where the system gives them: a batch is megabytes, is filled from end to end and then read in
 * many places at once. What does not begin and end with a page, and where there are none, stays as it is. */
static void prefer_large_pages(void *memory, size_t bytes)
{
    enum { PAGE = 4096, WORTHWHILE = 1 << 22 };
#if defined(MADV_HUGEPAGE)
    if (bytes >= WORTHWHILE) {
        const size_t before = (PAGE - (uintptr_t)memory % PAGE) % PAGE;
        (void)madvise((char *)memory + before, (bytes - before) / PAGE * PAGE, MADV_HUGEPAGE);
    }
#else
    (void)memory;
    (void)bytes;
#endif
}

/* realloc with room for growth; *pointer is unchanged on failure. */
static bool grow(void **pointer, size_t bytes)
{
    void *larger = realloc(*pointer, bytes);
    if (larger != NULL) {
        *pointer = larger;
    }
    return larger != NULL;
}

slc_status slc_batch_reserve(slc_batch *batch, size_t bytes, uint32_t events)
{
    if (bytes > batch->capacity) {
        const size_t half_more = batch->capacity + batch->capacity / 2;
        const size_t capacity = bytes > half_more ? bytes : half_more;
        if (!grow((void **)&batch->bytes, capacity)) {
            return SLC_ERR_MEMORY;
        }
        batch->capacity = capacity;
        prefer_large_pages(batch->bytes, capacity);
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
}

void slc_batch_clear(slc_batch *batch)
{
    free(batch->bytes);
    free(batch->offset);
    free(batch->length);
    free(batch->file_offset);
    free(batch->record);
    memset(batch, 0, sizeof *batch);
}
