/* SPDX-License-Identifier: Apache-2.0
 *
 * Finishing batches away from their source: checksums and expansion take longer than all else in reading, and
 * the reader is one thread, workers are many. What is lost here has already been given a number by the
 * reader; numbers are mended inside the batch, and the caller knows from slc_io_losses by how much those of
 * later batches are too high.
 */
#define _DEFAULT_SOURCE /* preadv */
#include "io/io_deferred.h"
#include "base/block.h"
#include "base/faults.h"
#include "io/io_source.h"
#include "io/lhcb/io_mdf_blocks.h"
#include "io/lhcb/io_mep.h"
#include "lhcb/lhcb_checksum.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { EVENT_ALIGN = 8 /* as slc_batch_append does */ };

struct slc_io_deferred {
    slc_io_unfinished *events; /* by rising index in the batch */
    uint32_t n, capacity;
    uint32_t n_packed, n_absent;
    int file;             /* that the absent ones are in */
    size_t expanded_size; /* of the packed ones: 0 where all say that they hold nothing */
    bool finished;
    slc_batch spare; /* for batches that are expanded: the two change places */
    slc_mdf_unpacker *unpacker;
    bool *lost; /* by index in `events` */
    slc_fault_code *code;
    slc_simd_target target; /* of checksums */
    slc_mdf_stretch *stretches;
    slc_mep_plan packets;
    slc_io_losses losses;  /* of this batch */
    slc_io_shared *shared; /* that it lies in, from `base` on, or NULL */
    size_t base;
};

slc_status slc_io_deferred_open(slc_io_deferred **deferred, slc_error *error)
{
    slc_simd_target target;
    *deferred = NULL;
    const slc_status status = slc_simd_choose(NULL, &target, error);
    if (status != SLC_OK) {
        return status;
    }
    *deferred = calloc(1, sizeof **deferred);
    if (*deferred == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for reading in steps");
    }
    (*deferred)->target = target;
    return SLC_OK;
}

void slc_io_deferred_close(slc_io_deferred *deferred)
{
    if (deferred == NULL) {
        return;
    }
    slc_io_deferred_leave(deferred);
    slc_mdf_unpacker_close(deferred->unpacker);
    slc_mep_plan_clear(&deferred->packets);
    slc_batch_clear(&deferred->spare);
    free(deferred->events);
    free(deferred->lost);
    free(deferred->code);
    free(deferred->stretches);
    free(deferred);
}

void slc_io_deferred_reset(slc_io_deferred *deferred, int file)
{
    slc_io_deferred_leave(deferred);
    deferred->n = 0;
    deferred->n_packed = 0;
    deferred->n_absent = 0;
    deferred->file = file;
    deferred->expanded_size = 0;
    deferred->finished = false;
    memset(&deferred->losses, 0, sizeof deferred->losses);
    slc_mep_plan_reset(&deferred->packets);
}

slc_mep_plan *slc_io_deferred_packets(slc_io_deferred *deferred)
{
    return &deferred->packets;
}

size_t slc_io_deferred_growth(const slc_io_deferred *deferred)
{
    return deferred->expanded_size;
}

static bool grow(void **pointer, size_t bytes)
{
    void *larger = realloc(*pointer, bytes);
    if (larger != NULL) {
        *pointer = larger;
    }
    return larger != NULL;
}

slc_status slc_io_defer(slc_io_deferred *deferred, const slc_io_unfinished *event)
{
    if (deferred->n == deferred->capacity) {
        const uint32_t capacity = deferred->capacity > 0 ? 2 * deferred->capacity : 64;
        if (!grow((void **)&deferred->events, capacity * sizeof *deferred->events) ||
            !grow((void **)&deferred->lost, capacity * sizeof *deferred->lost) ||
            !grow((void **)&deferred->code, capacity * sizeof *deferred->code) ||
            !grow((void **)&deferred->stretches, capacity * sizeof *deferred->stretches)) {
            return SLC_ERR_MEMORY;
        }
        deferred->capacity = capacity;
    }
    deferred->events[deferred->n++] = *event;
    deferred->n_packed += event->packed;
    deferred->n_absent += event->absent;
    deferred->expanded_size += event->packed ? event->expanded : 0;
    return SLC_OK;
}

slc_status slc_io_defer_bytes(slc_io_deferred *deferred, slc_batch *batch, size_t size, uint64_t file_offset,
                              slc_io_unfinished *event)
{
    const uint32_t e = batch->n_events;
    slc_status status = e < UINT32_MAX ? slc_batch_reserve(batch, 0, e + 1) : SLC_ERR_CAPACITY;
    event->event = e;
    event->absent = true;
    status = status == SLC_OK ? slc_io_defer(deferred, event) : status;
    if (status == SLC_OK) {
        batch->offset[e] = (batch->size + EVENT_ALIGN - 1) / EVENT_ALIGN * EVENT_ALIGN;
        batch->length[e] = size;
        batch->file_offset[e] = file_offset;
        batch->record[e] = (slc_record){.number = batch->first_event + e};
        batch->size = batch->offset[e] + size;
        batch->n_events++;
    }
    return status;
}

/* ---- shared bytes ------------------------------------------------------------------------------ */

slc_io_shared *slc_io_share(uint8_t *bytes, size_t capacity, void (*release)(void *bytes))
{
    slc_io_shared *shared = malloc(sizeof *shared);
    if (shared != NULL) {
        *shared = (slc_io_shared){.bytes = bytes, .capacity = capacity, .release = release};
        atomic_init(&shared->users, 1);
    }
    return shared;
}

void slc_io_shared_leave(slc_io_shared *shared)
{
    if (shared != NULL && atomic_fetch_sub(&shared->users, 1) == 1) {
        shared->release(shared->bytes);
        free(shared);
    }
}

slc_status slc_io_defer_shared(slc_io_deferred *deferred, slc_batch *batch, slc_io_shared *shared, size_t at,
                               size_t size, uint64_t file_offset)
{
    const uint32_t e = batch->n_events;
    const slc_status status = e < UINT32_MAX ? slc_batch_reserve(batch, 0, e + 1) : SLC_ERR_CAPACITY;
    if (status != SLC_OK) {
        return status;
    }
    if (deferred->shared == NULL) {
        atomic_fetch_add(&shared->users, 1);
        deferred->shared = shared;
        deferred->base = at / SLC_BLOCK_ALIGN * SLC_BLOCK_ALIGN;
    }
    assert(deferred->shared == shared && deferred->n == 0);
    batch->offset[e] = at - deferred->base;
    batch->length[e] = size;
    batch->file_offset[e] = file_offset;
    batch->record[e] = (slc_record){.number = batch->first_event + e};
    batch->size = batch->offset[e] + size;
    batch->n_events++;
    return SLC_OK;
}

const slc_io_shared *slc_io_deferred_shared(const slc_io_deferred *deferred)
{
    return deferred->shared;
}

uint8_t *slc_io_deferred_bytes(const slc_io_deferred *deferred, size_t *capacity)
{
    *capacity = deferred->shared->capacity - deferred->base;
    return deferred->shared->bytes + deferred->base;
}

void slc_io_deferred_leave(slc_io_deferred *deferred)
{
    slc_io_shared_leave(deferred->shared);
    deferred->shared = NULL;
}

/* ---- losses ------------------------------------------------------------------------------------ */

static void lose(slc_io_deferred *deferred, uint32_t i, slc_fault_code code, uint64_t offset, const char *why)
{
    slc_io_losses *losses = &deferred->losses;
    deferred->lost[i] = true;
    deferred->code[i] = code;
    losses->compressed += deferred->events[i].packed;
    losses->events++;
    if (!losses->told || offset < losses->offset) {
        losses->told = true;
        losses->offset = offset;
        (void)snprintf(losses->text, sizeof losses->text, "byte %llu: %s", (unsigned long long)offset, why);
    }
}

void slc_io_losses_add(slc_io_losses *losses, const slc_io_deferred *deferred)
{
    const slc_io_losses *more = &deferred->losses;
    if (!losses->told && more->told) {
        losses->told = true;
        losses->offset = more->offset;
        memcpy(losses->text, more->text, sizeof losses->text);
    }
    losses->events += more->events;
    losses->compressed += more->compressed;
    losses->checksums += more->checksums;
    losses->incomplete += more->incomplete;
}

/* ---- bytes ------------------------------------------------------------------------------------- */

/* Events that lie one after the other in the file, each in its place in the batch. What is between them, a
 * header or two, is read as well and goes nowhere: one call for a whole batch. */
enum { RUN = 128, GAP_MAX = 512 };
typedef struct run {
    struct iovec parts[2 * RUN];
    int n_parts;
    uint32_t first, n; /* events, by index in the list; those that are not absent are left out */
    uint64_t begin, end;
} run;

/* One event by itself: what is wrong with it is then known. */
static void read_alone(slc_io_deferred *deferred, const slc_batch *batch, uint32_t i)
{
    const slc_io_unfinished *event = &deferred->events[i];
    const size_t size = batch->length[event->event];
    uint8_t *to = batch->bytes + batch->offset[event->event];
    char why[128];
    for (size_t have = 0; have < size;) {
        const ssize_t n = pread(deferred->file, to + have, size - have, (off_t)(event->in_file + have));
        if (n > 0) {
            have += (size_t)n;
        } else if (n == 0) {
            (void)snprintf(why, sizeof why, "a record has become shorter while it was read: %zu bytes of %zu",
                           have, size);
            lose(deferred, i, SLC_FAULT_RECORD_TRUNCATED, batch->file_offset[event->event], why);
            return;
        } else if (errno != EINTR) {
            (void)snprintf(why, sizeof why, "cannot read: %s", strerror(errno));
            lose(deferred, i, SLC_FAULT_RECORD_UNREADABLE, batch->file_offset[event->event], why);
            return;
        }
    }
}

static void read_run(slc_io_deferred *deferred, const slc_batch *batch, const run *r)
{
    const ssize_t n = preadv(deferred->file, r->parts, r->n_parts, (off_t)r->begin);
    const uint64_t end = n > 0 ? r->begin + (uint64_t)n : r->begin;
    for (uint32_t i = r->first; end < r->end && i < r->first + r->n; i++) {
        const slc_io_unfinished *event = &deferred->events[i];
        if (event->absent && event->in_file + batch->length[event->event] > end) {
            read_alone(deferred, batch, i);
        }
    }
}

/* All bytes that are absent. */
static slc_status read_absent(slc_io_deferred *deferred, slc_batch *batch)
{
    static const uint8_t zeros[EVENT_ALIGN];
    uint8_t between[GAP_MAX];
    run r = {.n = 0};
    const size_t size = batch->size;
    batch->size = deferred->n_absent == batch->n_events ? 0 : size; /* nothing is there that is to be kept */
    const slc_status status = slc_batch_reserve(batch, size, batch->n_events);
    batch->size = size;
    for (uint32_t i = 0; i < deferred->n && status == SLC_OK; i++) {
        const slc_io_unfinished *event = &deferred->events[i];
        if (!event->absent) {
            continue;
        }
        const uint32_t e = event->event;
        const size_t before = e > 0 ? batch->offset[e - 1] + batch->length[e - 1] : batch->offset[e];
        memcpy(batch->bytes + before, zeros, batch->offset[e] - before);
        if (r.n > 0 && (r.n_parts + 2 > 2 * RUN || event->in_file - r.end > GAP_MAX)) {
            read_run(deferred, batch, &r);
            r.n = 0;
        }
        if (r.n == 0) {
            r = (run){.first = i, .begin = event->in_file, .end = event->in_file};
        } else if (event->in_file > r.end) {
            r.parts[r.n_parts++] = (struct iovec){.iov_base = between, .iov_len = event->in_file - r.end};
        }
        r.parts[r.n_parts++] = (struct iovec){.iov_base = batch->bytes + batch->offset[e],
                                              .iov_len = batch->length[e]};
        r.end = event->in_file + batch->length[e];
        r.n = i - r.first + 1;
    }
    if (r.n > 0) {
        read_run(deferred, batch, &r);
    }
    return status;
}

/* ---- checksums --------------------------------------------------------------------------------- */

static void compare_checksum(slc_io_deferred *deferred, const slc_batch *batch, uint32_t i, uint32_t hash)
{
    const slc_io_unfinished *event = &deferred->events[i];
    const uint32_t found = slc_mdf_hash_end(hash);
    if (found == event->checksum) {
        deferred->losses.checksums++;
        return;
    }
    char why[96];
    (void)snprintf(why, sizeof why, "the record's checksum is %08x, its bytes give %08x", event->checksum,
                   found);
    lose(deferred, i, SLC_FAULT_RECORD_CHECKSUM, batch->file_offset[event->event], why);
}

static int by_index(const void *a, const void *b)
{
    const slc_mdf_stretch *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void verify(slc_io_deferred *deferred, const slc_batch *batch)
{
    slc_mdf_stretch *stretches = deferred->stretches;
    uint32_t n = 0;
    for (uint32_t i = 0; i < deferred->n; i++) {
        const slc_io_unfinished *event = &deferred->events[i];
        if (event->hashed && !deferred->lost[i]) {
            stretches[n++] = (slc_mdf_stretch){.bytes = batch->bytes + batch->offset[event->event],
                                               .size = batch->length[event->event],
                                               .hash = event->hash,
                                               .index = i};
        }
    }
    slc_mdf_hash_all(deferred->target, stretches, n);
    /* In the order of the stream: the first loss is the one that is told. */
    qsort(stretches, n, sizeof *stretches, by_index);
    for (uint32_t i = 0; i < n; i++) {
        compare_checksum(deferred, batch, stretches[i].index, stretches[i].hash);
    }
}

/* ---- expansion --------------------------------------------------------------------------------- */

/* Room for an event of `size` bytes that the caller fills. */
static uint8_t *append_room(slc_batch *batch, size_t size, uint64_t file_offset)
{
    if (slc_batch_append(batch, NULL, 0, file_offset) != SLC_OK ||
        slc_batch_reserve(batch, batch->size + size, batch->n_events) != SLC_OK) {
        return NULL;
    }
    batch->length[batch->n_events - 1] = size;
    batch->size += size;
    return batch->bytes + batch->size - size;
}

static slc_status take_event(slc_io_deferred *deferred, const slc_batch *batch, uint32_t event, uint32_t i)
{
    slc_batch *spare = &deferred->spare;
    const uint8_t *bytes = batch->bytes + batch->offset[event];
    const size_t length = batch->length[event];
    const uint64_t offset = batch->file_offset[event];
    const bool listed = i < deferred->n && deferred->events[i].event == event;
    if (listed && deferred->lost[i]) {
        return SLC_OK;
    }
    if (!listed || !deferred->events[i].packed) {
        return slc_batch_append(spare, bytes, length, offset);
    }
    const size_t size_before = spare->size, expanded = deferred->events[i].expanded;
    const char *why = NULL;
    size_t now = 0; /* of bytes that were absent the reader has seen the beginning, and a file may change */
    if (slc_mdf_blocks_size(bytes, length, expanded, &now, &why) != SLC_OK || now != expanded) {
        lose(deferred, i, SLC_FAULT_RECORD_COMPRESSION, offset, why != NULL ? why : "a block has changed");
        return SLC_OK;
    }
    uint8_t *room = append_room(spare, expanded, offset);
    if (room == NULL) {
        return SLC_ERR_MEMORY;
    }
    if (slc_mdf_blocks_expand(deferred->unpacker, bytes, length, room, &why) != SLC_OK) {
        spare->n_events--;
        spare->size = size_before;
        lose(deferred, i, SLC_FAULT_RECORD_COMPRESSION, offset, why);
    }
    return SLC_OK;
}

/* The batch anew in the spare one, which then takes its place. */
static slc_status rebuild(slc_io_deferred *deferred, slc_batch *batch)
{
    slc_batch *spare = &deferred->spare;
    slc_batch_reset(spare);
    if (deferred->unpacker == NULL && (deferred->unpacker = slc_mdf_unpacker_open()) == NULL) {
        return SLC_ERR_MEMORY;
    }
    slc_status status = slc_batch_reserve(spare, deferred->expanded_size + 8 * (size_t)deferred->n + 1,
                                          batch->n_events);
    uint32_t i = 0;
    for (uint32_t e = 0; e < batch->n_events && status == SLC_OK; e++) {
        const uint32_t kept = spare->n_events;
        status = take_event(deferred, batch, e, i);
        if (status == SLC_OK && spare->n_events > kept) {
            spare->record[kept] = batch->record[e];
        }
        i += i < deferred->n && deferred->events[i].event == e;
    }
    if (status == SLC_OK) {
        const slc_batch filled = *spare;
        *spare = *batch;
        batch->bytes = filled.bytes;
        batch->size = filled.size;
        batch->capacity = filled.capacity;
        batch->n_events = filled.n_events;
        batch->event_capacity = filled.event_capacity;
        batch->offset = filled.offset;
        batch->length = filled.length;
        batch->file_offset = filled.file_offset;
        batch->record = filled.record; /* batch->kept stays: records of the new ones point there */
        spare->kept = NULL;
        spare->kept_used = spare->kept_capacity = 0;
    }
    return status;
}

/* Takes lost events out of a batch in which all others are as they should be; bytes stay where they are. */
static void drop_lost(const slc_io_deferred *deferred, slc_batch *batch)
{
    uint32_t kept = 0, i = 0;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const bool listed = i < deferred->n && deferred->events[i].event == e;
        if (!listed || !deferred->lost[i]) {
            batch->offset[kept] = batch->offset[e];
            batch->length[kept] = batch->length[e];
            batch->file_offset[kept] = batch->file_offset[e];
            batch->record[kept++] = batch->record[e];
        }
        i += listed;
    }
    batch->n_events = kept;
}

/* ---- faults ------------------------------------------------------------------------------------ */

/* A fault that is counted already. */
static void keep_fault(slc_faults *faults, const slc_fault *fault, uint64_t lost)
{
    slc_faults_keep(faults, &(slc_fault){fault->event - lost, fault->offset, fault->module, fault->code});
}

/* The faults of reading and those found here, in the order of the stream, with the numbers that events would
 * have, had the lost ones never had one. */
static void merge_faults(const slc_io_deferred *deferred, uint64_t first_event, const uint64_t *offset_of,
                         slc_faults *faults)
{
    const slc_faults read = *faults;
    uint32_t taken = 0;
    uint64_t lost = 0;
    faults->n_kept = 0;
    for (uint32_t i = 0; i < deferred->n; i++) {
        if (!deferred->lost[i]) {
            continue;
        }
        const uint32_t event = deferred->events[i].event;
        for (; taken < read.n_kept && read.kept[taken].offset < offset_of[i]; taken++) {
            keep_fault(faults, &read.kept[taken], lost);
        }
        slc_faults_add(faults, deferred->code[i], first_event + event - lost, -1, offset_of[i]);
        lost++;
    }
    for (; taken < read.n_kept; taken++) {
        keep_fault(faults, &read.kept[taken], lost);
    }
}

size_t slc_io_packets_size(const slc_batch *batch, const slc_io_deferred *deferred, size_t *present)
{
    const slc_mep_plan *plan = &deferred->packets;
    *present = plan->present;
    return plan->n_parts > 0 && !deferred->finished ? slc_mep_lay(plan, batch).size : 0;
}

slc_status slc_io_finish_batch(slc_batch *batch, slc_io_deferred *deferred, slc_faults *faults,
                               slc_error *error)
{
    if ((deferred->n == 0 && deferred->packets.n_parts == 0) || deferred->finished) {
        return SLC_OK;
    }
    deferred->finished = true;
    if (deferred->packets.n_parts > 0) {
        const slc_mep_report report = {faults, &deferred->losses, batch->first_event};
        const slc_status made = slc_mep_finish(&deferred->packets, batch, deferred->file, &report);
        return made == SLC_OK ? SLC_OK : slc_fail(error, made, "no memory to finish a batch");
    }
    memset(deferred->lost, 0, deferred->n * sizeof *deferred->lost);
    slc_status status = deferred->n_absent > 0 ? read_absent(deferred, batch) : SLC_OK;
    if (status == SLC_OK) {
        verify(deferred, batch);
    }
    if (status == SLC_OK && (deferred->n_packed > 0 || deferred->losses.events > 0)) {
        uint64_t *offset_of = calloc(deferred->n, sizeof *offset_of);
        status = offset_of != NULL ? SLC_OK : SLC_ERR_MEMORY;
        for (uint32_t i = 0; i < deferred->n && status == SLC_OK; i++) {
            offset_of[i] = batch->file_offset[deferred->events[i].event];
        }
        if (status == SLC_OK && deferred->n_packed > 0) {
            status = rebuild(deferred, batch);
        } else if (status == SLC_OK) {
            drop_lost(deferred, batch);
        }
        if (status == SLC_OK && faults != NULL && deferred->losses.events > 0) {
            merge_faults(deferred, batch->first_event, offset_of, faults);
        }
        free(offset_of);
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory to finish a batch");
}
