/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: LHCb's multi-event packets, shared by reader and writer. A packet holds a block for
 * each source, and a block that source's fragments of many events: event k is fragment k of every block. Two
 * layouts, of 2019 and of Run 3 (whose blocks are MFPs): docs/formats/mep.md. Everything here is of memory;
 * nothing that bytes say is believed before it was held against their number.
 */
#ifndef SLUICE_LHCB_PACKET_H
#define SLUICE_LHCB_PACKET_H

#include <sluice/lhcb.h>

enum {
    SLC_PACKET_MAGIC = 0xCEFA, /* of Run 3, and of its blocks */
    SLC_PACKET_BLOCK_MAGIC = 0x40CE,
    SLC_PACKET_HEAD = 16, /* the longer head of the two layouts, and the longer one of their blocks */
    SLC_PACKET_BLOCK_HEAD = 20,
    SLC_PACKET_EVENTS = 65535,
    SLC_PACKET_SLACK = 64 /* fewer bytes than that may lie between blocks, to align them */
};

typedef struct slc_packet {
    bool mfp; /* Run 3 */
    uint32_t n_blocks, n_events;
    uint64_t size;      /* all of it, as it says itself */
    uint64_t directory; /* its head and the tables of blocks; offsets of 2019 count from their end */
    uint64_t event_id;  /* of its first event, of Run 3 */
} slc_packet;

/* The head of a packet whose first bytes are seen, SLC_PACKET_HEAD of them unless it ends before. Of Run 3
 * n_events and event_id are yet to be found in a block. `within`: bytes that an envelope gives it, 0: there
 * is none, and it must be Run 3's. False, with *why, if it is no packet. */
bool slc_packet_read(const uint8_t *bytes, size_t size, uint64_t within, slc_packet *packet,
                     const char **why);

/* The fewest bytes that a block of so many events takes: they have a type and a size each. */
static inline uint64_t slc_packet_least(const slc_packet *packet, uint32_t n_events)
{
    return (packet->mfp ? SLC_PACKET_BLOCK_HEAD : SLC_PACKET_HEAD) + 3 * (uint64_t)n_events;
}

/* Bytes of one of a packet's fragments with what fills them up. */
static inline uint64_t slc_packet_padded(uint64_t size, unsigned align)
{
    const uint64_t step = (uint64_t)1 << align;
    return (size + step - 1) & ~(step - 1);
}

/* Row i of the tables, which are the `directory` bytes of the packet. */
typedef struct slc_packet_row {
    uint16_t source;
    uint8_t version; /* of 2019 */
    uint64_t offset; /* of the block, from the beginning of the packet */
} slc_packet_row;
slc_packet_row slc_packet_row_of(const slc_packet *packet, const uint8_t *directory, uint32_t i);

/* A block. Places are from the beginning of the packet. */
typedef struct slc_packet_block {
    uint64_t offset, types, sizes, data, end;
    uint64_t event_id;
    uint16_t source;
    uint8_t version, align; /* fragments are padded to 1 << align bytes */
    uint32_t n;
} slc_packet_block;
/* From its first bytes, SLC_PACKET_BLOCK_HEAD of them unless the packet ends before, and its row. Whether the
 * sizes of its fragments agree, slc_packet_block_sums tells. */
bool slc_packet_block_read(const slc_packet *packet, const slc_packet_row *row, const uint8_t *bytes,
                           size_t size, slc_packet_block *block, const char **why);
bool slc_packet_block_sums(const slc_packet_block *block, const uint8_t *sizes, const char **why);

/* Goes through the blocks of a packet in order, to tell those that are where they belong. */
typedef struct slc_packet_walk {
    uint64_t end;  /* of the block before, at first of the directory; 0: it is damaged */
    uint64_t high; /* of the last that was where it belongs: blocks share no bytes */
} slc_packet_walk;
/* Whether a block that is sound in itself lies where the one before it ends, or ends where the next one
 * begins (`next`: its offset, or the packet's end). An offset that is damaged may well lead to a block, but
 * to somebody else's. */
bool slc_packet_block_fits(slc_packet_walk *walk, const slc_packet_block *block, uint64_t next);

/* Whether an event builder's error stands in the place of a source's data. */
static inline bool slc_packet_is_error(uint8_t type)
{
    return (type >= 89 && type <= 96) || type == 100 || type == 101;
}
/* Whether nothing does: the event has no such source. */
static inline bool slc_packet_is_filler(uint8_t type, uint32_t size)
{
    return type == 0 && size == 0;
}

/* ---- events in memory -------------------------------------------------------------------------- */

/* What an event of a scattered batch consists of: a reference to each of its banks, which lie in the blocks
 * of their sources. */
typedef struct slc_bank_reference {
    uint64_t at; /* of the payload, in the batch's bytes */
    uint16_t size;
    uint8_t type, version;
    int16_t source;
    uint16_t spare;
} slc_bank_reference;

/* Behind the references: the packets whose events all have all that they should, and how their blocks lie.
 * Event k of one has its references at references + k * step, and of each block fragment k. Places are in the
 * batch's bytes; `type` is that of all fragments that are not empty, SLC_PACKET_MIXED of blocks with several.
 */
enum { SLC_PACKET_MIXED = 256 };
typedef struct slc_packet_place {
    uint64_t types, sizes, data;
    uint16_t source, type;
    uint8_t version, align;
} slc_packet_place;
typedef struct slc_packet_part {
    uint64_t references, step, places; /* places: slc_packet_place, n_blocks of them */
    uint32_t n_events, n_blocks;
} slc_packet_part;
typedef struct slc_packet_table {
    uint64_t n;
    slc_packet_part part[];
} slc_packet_table;
/* The last bytes of a batch that has such a table. */
#define SLC_PACKET_TABLE_MAGIC UINT64_C(0x7361636b65745461)
typedef struct slc_packet_end {
    uint64_t table, magic; /* where it is */
} slc_packet_end;
/* NULL: there is none. */
const slc_packet_table *slc_packet_table_of(const slc_batch *batch);

/* How many bytes an event's banks take one after the other, and these bytes at `to`. 0 if one of them is too
 * large for a bank. */
size_t slc_packet_event_size(const slc_batch *batch, uint32_t event);
size_t slc_packet_event_gather(const slc_batch *batch, uint32_t event, uint8_t *to, size_t capacity);

#endif
