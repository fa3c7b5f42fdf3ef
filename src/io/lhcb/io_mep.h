/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: events of packets on their way into a batch. The reader (io_mep.c) goes from packet to
 * packet and says which events of which packet a batch gets; who finishes the batch (io_mep_finish.c) reads
 * their bytes and makes the references. Fragments are never copied together: they stay in the blocks of
 * their sources, and the references of an event point there.
 */
#ifndef SLUICE_IO_MEP_H
#define SLUICE_IO_MEP_H

#include "io/io_source.h"
#include "lhcb/lhcb_packet.h"

/* The fragments of a block that are in a batch. Places are in the batch's bytes. */
typedef struct slc_mep_span {
    uint64_t types, sizes, data;
    uint64_t end;     /* of what there is of the data: fragments beyond are lost */
    uint64_t in_file; /* of the data, if they are absent */
    uint16_t source;
    uint8_t version, align;
    bool good; /* always, of a packet that is not whole */
} slc_mep_span;

/* Events of one packet in a batch: a whole packet, whose blocks are looked at when its bytes are there, or
 * some of the events of a large one, whose blocks the reader has looked at. */
typedef struct slc_mep_part {
    slc_packet packet;
    uint32_t first, n;       /* events, by index in the batch */
    bool whole, absent;      /* the batch has all of it; its bytes are in the file */
    uint64_t offset, record; /* of the packet in the stream, and of its record, for messages */
    uint64_t in_file;        /* and in the file */
    uint64_t at;             /* of its bytes in the batch, if it is whole */
    uint64_t here;           /* how many there are of them */
    uint32_t span, n_spans;  /* the good ones, if it is not */
    uint32_t n_references;   /* that an event has at most */
} slc_mep_part;

/* All that a batch gets. Zero-initialise. */
typedef struct slc_mep_plan {
    slc_mep_part *parts;
    slc_mep_span *spans;
    uint32_t n_parts, part_capacity;
    uint32_t n_spans, span_capacity;
    uint64_t present; /* bytes at the beginning of the batch that are there */
} slc_mep_plan;

void slc_mep_plan_clear(slc_mep_plan *plan);
void slc_mep_plan_reset(slc_mep_plan *plan);
/* One more of each; NULL: no memory. */
slc_mep_part *slc_mep_plan_part(slc_mep_plan *plan);
slc_mep_span *slc_mep_plan_spans(slc_mep_plan *plan, uint32_t n);

/* What is told of finishing: damage by its place, and events that lack a source. */
typedef struct slc_mep_report {
    slc_faults *faults; /* may be NULL */
    slc_io_losses *losses;
    uint64_t first_event;
} slc_mep_report;
/* Reads what is absent from `file` and makes the references. SLC_ERR_MEMORY alone is an error. */
slc_status slc_mep_finish(slc_mep_plan *plan, slc_batch *batch, int file, const slc_mep_report *report);
/* Where things of a batch are when it is finished. */
typedef struct slc_mep_layout {
    uint64_t references, table, places, size;
} slc_mep_layout;
slc_mep_layout slc_mep_lay(const slc_mep_plan *plan, const slc_batch *batch);

/* "byte 4160: source 17: its block is not there; 10 events lack it (packet at byte 0)". */
void slc_mep_tell_block(char *text, size_t size, uint64_t at, uint16_t source, uint32_t n_events,
                        uint64_t packet_at, const char *why);

/* The bytes of a packet, in memory or in a file. */
typedef struct slc_mep_bytes {
    const uint8_t *bytes; /* NULL: in the file */
    uint64_t here;        /* so many are there */
    int file;
    uint64_t in_file;
    uint8_t *scratch; /* for what is read from the file: SLC_MEP_SCRATCH bytes */
} slc_mep_bytes;
enum { SLC_MEP_SCRATCH = 1 << 17 };
/* Some of them, until the next call; NULL: they are not there. */
const uint8_t *slc_mep_get(const slc_mep_bytes *from, uint64_t at, size_t size);
/* Reads `size` bytes at `at` of a file; returns how many there are. */
size_t slc_mep_read(int file, uint64_t at, void *to, size_t size);

/* Block i of a packet, whose table is at `directory` (NULL: it is not there). False, with *why, if it is
 * damaged; of a good one the end is that of what is there. Blocks are asked for in order. */
bool slc_mep_block(const slc_mep_bytes *from, const slc_packet *packet, const uint8_t *directory, uint32_t i,
                   slc_packet_walk *walk, slc_packet_block *block, const char **why);

/* ---- the reader's state ------------------------------------------------------------------------ */

typedef struct slc_mep_reader {
    bool open;           /* there is a packet at hand */
    uint64_t record, at; /* where its record begins in the stream, and itself */
    uint64_t end;        /* where the next one does */
    slc_packet packet;
    slc_mep_bytes from;
    uint32_t next; /* event */
    uint8_t *scratch, *directory;
    size_t directory_capacity;
    /* Of one that is cut: its good blocks, whose data begin with the next event's. */
    bool cut;
    slc_packet_block *blocks;
    uint32_t n_blocks;
    uint8_t *window;                        /* of each block: types, then sizes */
    size_t block_capacity, window_capacity; /* bytes */
    uint32_t window_from, window_to;
} slc_mep_reader;

/* The memory, or larger one; NULL: there is none, and the old one stays. */
void *slc_mep_grown(void *memory, size_t *capacity, size_t bytes);
slc_status slc_mep_no_memory(const slc_io_source *source, slc_error *error);
/* The next n events, without bytes; the caller counts them. */
slc_status slc_mep_append_events(slc_io_source *source, const slc_mep_reader *r, uint32_t n,
                                 slc_batch *batch);
slc_mep_part slc_mep_begin_part(const slc_io_source *source, const slc_mep_reader *r, uint32_t n,
                                const slc_batch *batch);
/* How many banks an event has at most, if so many bytes of the packet are there. */
uint32_t slc_mep_references(const slc_packet *packet, uint64_t here);

/* Finds the good blocks of a packet; the others are told, once. */
slc_status slc_mep_cut(slc_io_source *source, slc_mep_reader *r, slc_faults *faults, slc_error *error);
/* Types and sizes of the next events, from all blocks: up to window_to. */
slc_status slc_mep_load_window(const slc_io_source *source, slc_mep_reader *r, slc_error *error);
/* The next n events, of those at hand, into an empty batch. */
slc_status slc_mep_take_some(slc_io_source *source, slc_mep_reader *r, uint32_t n, slc_batch *batch,
                             slc_error *error);

#endif
