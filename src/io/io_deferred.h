/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: reading a batch in two steps, for threads. The reader only cuts the stream into
 * records; who works on a batch verifies and expands them. Of a regular file the reader sees the headers
 * alone, and who works on the batch reads the bytes, too: copying is then shared by the workers, while the
 * way from record to record and all that is damaged there stay with one thread. Where a format has read bytes
 * ahead into memory that is fit for it, the batch lies in these.
 */
#ifndef SLUICE_IO_DEFERRED_H
#define SLUICE_IO_DEFERRED_H

#include <sluice/io.h>

#include <stdatomic.h>

/* What a batch still lacks: bytes that are not read, checksums that nobody looked at, records that are still
 * compressed. One for each batch that is under way; a worker's time goes into finishing, and the reader's no
 * longer does. */
typedef struct slc_io_deferred slc_io_deferred;
slc_status slc_io_deferred_open(slc_io_deferred **deferred, slc_error *error);
void slc_io_deferred_close(slc_io_deferred *deferred);

/* slc_io_read_batch, but that checksums are not verified, records not expanded, and, of a regular file, not
 * read: the batch is not to be used before slc_io_finish_batch. `max_bytes` is of expanded events. */
slc_status slc_io_read_batch_deferred(slc_io_source *source, uint32_t max_events, size_t max_bytes,
                                      slc_batch *batch, slc_io_deferred *deferred, slc_faults *faults,
                                      slc_error *error);
/* Does the rest, in any thread, and while the source is being read on. Afterwards batch and faults (those of
 * reading it, given again) are what slc_io_read_batch would have made of the same bytes, but for the numbers
 * of events: those lost in earlier batches, which this call cannot know of, are still counted in them. The
 * batch may be without events. Records that a file has no longer, or that the system cannot read, are lost
 * like those that are damaged. SLC_ERR_MEMORY alone ends it. The source must still be open. */
slc_status slc_io_finish_batch(slc_batch *batch, slc_io_deferred *deferred, slc_faults *faults,
                               slc_error *error);

/* Of a batch of packets that is not finished: how many bytes it will have, and how many of these are in it
 * already, at its beginning. 0: it is none of packets. */
size_t slc_io_packets_size(const slc_batch *batch, const slc_io_deferred *deferred, size_t *present);

/* What finishing has come to, for batches in the order of reading: `events` is how many were lost, by which
 * event numbers of later batches are too high. Zero-initialise. */
typedef struct slc_io_losses {
    uint64_t events, compressed, checksums; /* lost; lost that came compressed; verified */
    uint64_t incomplete;                    /* events that lack a source */
    bool told;                              /* there is something to tell: */
    uint64_t offset;                        /* of the first loss in the stream, and its text */
    char text[256];
} slc_io_losses;
void slc_io_losses_add(slc_io_losses *losses, const slc_io_deferred *deferred);
/* Adds them to the source's totals and its first damage. Not while it is being read. */
void slc_io_settle(slc_io_source *source, const slc_io_losses *losses);

/* ---- what formats use ---- */

/* One event of the batch at hand that is to be finished. Its bytes are in the batch as they came, or are to
 * be read into the room that it has there. */
typedef struct slc_io_unfinished {
    uint32_t event; /* index in the batch */
    bool hashed;    /* the checksum is to be compared: of `hash`, which is begun, continued over the bytes */
    uint32_t hash, checksum;
    bool packed;      /* the bytes are ROOT's compressed blocks */
    size_t expanded;  /* that become so many */
    bool absent;      /* they are in the file */
    uint64_t in_file; /* here */
} slc_io_unfinished;
slc_status slc_io_defer(slc_io_deferred *deferred, const slc_io_unfinished *event);
/* Appends an event of so many bytes to a batch, with a place and no memory: they are absent. */
slc_status slc_io_defer_bytes(slc_io_deferred *deferred, slc_batch *batch, size_t size, uint64_t file_offset,
                              slc_io_unfinished *event);
/* Bytes of a file that several batches lie in. Who has them last gives them back. */
typedef struct slc_io_shared {
    uint8_t *bytes;
    size_t capacity;
    atomic_uint users;
    void (*release)(void *bytes);
} slc_io_shared;
/* `release` gets `bytes` in the end; NULL without memory, and they stay the caller's. */
slc_io_shared *slc_io_share(uint8_t *bytes, size_t capacity, void (*release)(void *bytes));
void slc_io_shared_leave(slc_io_shared *shared); /* NULL is allowed */
/* Appends an event to a batch that lies in shared bytes, `at` in them; of an empty one the first such event
 * makes it lie there, and then only these may follow. The batch's own bytes stay as they are. */
slc_status slc_io_defer_shared(slc_io_deferred *deferred, slc_batch *batch, slc_io_shared *shared, size_t at,
                               size_t size, uint64_t file_offset);
/* What the batch at hand lies in; NULL: its own bytes. */
const slc_io_shared *slc_io_deferred_shared(const slc_io_deferred *deferred);
/* The bytes that offsets of such a batch count from, and how many there are. */
uint8_t *slc_io_deferred_bytes(const slc_io_deferred *deferred, size_t *capacity);
void slc_io_deferred_leave(slc_io_deferred *deferred); /* the batch is done with */
/* For a batch of this file (-1: nothing of it can be absent). */
void slc_io_deferred_reset(slc_io_deferred *deferred, int file);
/* What packets of events have for the batch (lhcb/io_mep.h). */
struct slc_mep_plan *slc_io_deferred_packets(slc_io_deferred *deferred);
/* Bytes that the events of the batch grow by. */
size_t slc_io_deferred_growth(const slc_io_deferred *deferred);

#endif
