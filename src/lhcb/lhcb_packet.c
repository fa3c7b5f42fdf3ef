/* SPDX-License-Identifier: Apache-2.0
 * Heads and tables of multi-event packets, and of their blocks. */
#include "lhcb/lhcb_packet.h"
#include "base/bytes.h"

static uint64_t up4(uint64_t size)
{
    return slc_packet_padded(size, 2);
}

static bool no(const char **why, const char *reason)
{
    *why = reason;
    return false;
}

static uint64_t tables_2019(uint32_t n_blocks)
{
    return SLC_PACKET_HEAD + 2 * up4(2 * (uint64_t)n_blocks) + 4 * (uint64_t)n_blocks;
}

static bool read_2019(const uint8_t *bytes, uint64_t within, slc_packet *packet, const char **why)
{
    const uint64_t blocks = slc_load_u64(bytes + 8);
    *packet = (slc_packet){.n_blocks = slc_load_u16(bytes), .n_events = slc_load_u16(bytes + 2)};
    packet->directory = tables_2019(packet->n_blocks);
    if (packet->n_blocks == 0 || packet->n_events == 0) {
        return no(why, "no packet: it has no block or no event");
    }
    if (packet->directory > within) {
        return no(why, "the table of a packet's blocks is longer than its record");
    }
    /* Two numbers say how long it is, and the record's stands there three times. */
    packet->size = within;
    if (slc_load_u32(bytes + 4) != 0 && blocks != within - packet->directory) {
        return no(why, "no packet: its head is not one");
    }
    return true;
}

static bool read_mfp(const uint8_t *bytes, slc_packet *packet, const char **why)
{
    const uint32_t n = slc_load_u16(bytes + 2);
    *packet = (slc_packet){.mfp = true, .n_blocks = n, .size = 4 * (uint64_t)slc_load_u32(bytes + 4)};
    packet->directory = 8 + up4(2 * (uint64_t)n) + 4 * (uint64_t)n;
    if (n == 0) {
        return no(why, "no packet: it has no block");
    }
    return packet->size > packet->directory || no(why, "the table of a packet's blocks is longer than it");
}

bool slc_packet_read(const uint8_t *bytes, size_t size, uint64_t within, slc_packet *packet, const char **why)
{
    if (size < SLC_PACKET_HEAD) {
        return no(why, "the head of a packet is not all there");
    }
    const bool magic = slc_load_u16(bytes) == SLC_PACKET_MAGIC;
    if (within == 0) {
        return magic ? read_mfp(bytes, packet, why) : no(why, "no packet begins here");
    }
    /* In an envelope, two bytes may be a number of blocks as well. */
    if (magic && (within < tables_2019(SLC_PACKET_MAGIC) ||
                  slc_load_u64(bytes + 8) != within - tables_2019(SLC_PACKET_MAGIC))) {
        return read_mfp(bytes, packet, why) &&
               (packet->size <= within || no(why, "a packet overruns its record"));
    }
    return read_2019(bytes, within, packet, why);
}

slc_packet_row slc_packet_row_of(const slc_packet *packet, const uint8_t *directory, uint32_t i)
{
    const uint64_t numbers = up4(2 * (uint64_t)packet->n_blocks);
    if (packet->mfp) {
        return (slc_packet_row){.source = slc_load_u16(directory + 8 + 2 * (size_t)i),
                                .offset = 4 *
                                          (uint64_t)slc_load_u32(directory + 8 + numbers + 4 * (size_t)i)};
    }
    const uint8_t *at = directory + SLC_PACKET_HEAD;
    return (slc_packet_row){.source = slc_load_u16(at + 2 * (size_t)i),
                            .version = (uint8_t)slc_load_u16(at + numbers + 2 * (size_t)i),
                            .offset = packet->directory + slc_load_u32(at + 2 * numbers + 4 * (size_t)i)};
}

static bool read_block_mfp(const slc_packet *packet, const slc_packet_row *row, const uint8_t *bytes,
                           slc_packet_block *block, const char **why)
{
    *block = (slc_packet_block){.offset = row->offset,
                                .n = slc_load_u16(bytes + 2),
                                .end = row->offset + slc_load_u32(bytes + 4),
                                .event_id = slc_load_u64(bytes + 8),
                                .source = slc_load_u16(bytes + 16),
                                .align = bytes[18],
                                .version = bytes[19]};
    block->types = row->offset + SLC_PACKET_BLOCK_HEAD;
    block->sizes = block->types + up4(block->n);
    block->data = block->sizes + up4(2 * (uint64_t)block->n);
    if (slc_load_u16(bytes) != SLC_PACKET_BLOCK_MAGIC) {
        return no(why, "no magic where its block must begin");
    }
    if (block->source != row->source) {
        return no(why, "its block says that it is of another source");
    }
    if (block->align > 15) {
        return no(why, "its fragments are aligned to more than 32 KiB");
    }
    return packet->n_events == 0 || block->event_id == packet->event_id ||
           no(why, "its block begins with another event than the others");
}

bool slc_packet_block_read(const slc_packet *packet, const slc_packet_row *row, const uint8_t *bytes,
                           size_t size, slc_packet_block *block, const char **why)
{
    *block = (slc_packet_block){.source = row->source};
    if (row->offset < packet->directory || row->offset >= packet->size) {
        return no(why, "its block begins outside the packet");
    }
    if (size < (packet->mfp ? SLC_PACKET_BLOCK_HEAD : SLC_PACKET_HEAD)) {
        return no(why, "its block is not there");
    }
    if (packet->mfp) {
        if (!read_block_mfp(packet, row, bytes, block, why)) {
            return false;
        }
    } else {
        *block = (slc_packet_block){.offset = row->offset,
                                    .n = slc_load_u16(bytes + 8),
                                    .source = row->source,
                                    .version = row->version,
                                    .align = 2};
        block->types = row->offset + SLC_PACKET_HEAD;
        block->sizes = block->types + up4(block->n);
        block->data = block->sizes + up4(2 * (uint64_t)block->n);
        block->end = block->data + slc_load_u32(bytes + 12);
    }
    if (block->n == 0 || (packet->n_events != 0 && block->n != packet->n_events)) {
        return no(why, "its block has another number of fragments than the packet has events");
    }
    return (block->end >= block->data && block->end <= packet->size) ||
           no(why, "its block does not end inside the packet");
}

bool slc_packet_block_sums(const slc_packet_block *block, const uint8_t *sizes, const char **why)
{
    uint64_t sum = 0, last = 0;
    for (uint32_t k = 0; k < block->n; k++) {
        last = slc_load_u16(sizes + 2 * (size_t)k);
        sum += slc_packet_padded(last, block->align);
    }
    /* The last fragment may come without its padding. */
    const uint64_t least = sum - slc_packet_padded(last, block->align) + last;
    const uint64_t has = block->end - block->data;
    return (has >= least && has <= sum) ||
           no(why, "the sizes of its fragments do not come to that of its block");
}

bool slc_packet_block_fits(slc_packet_walk *walk, const slc_packet_block *block, uint64_t next)
{
    const bool after = walk->end != 0 && block->offset >= walk->end &&
                       block->offset - walk->end < SLC_PACKET_SLACK;
    const bool before = next >= block->end && next - block->end < SLC_PACKET_SLACK;
    const bool fits = (after || before) && block->offset >= walk->high;
    walk->end = fits ? block->end : 0;
    walk->high = fits ? block->end : walk->high;
    return fits;
}

/* ---- events in memory -------------------------------------------------------------------------- */

size_t slc_packet_event_size(const slc_batch *batch, uint32_t event)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_lhcb_bank bank;
    size_t size = 0;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        size += slc_lhcb_bank_bound(bank.size);
    }
    return size;
}

size_t slc_packet_event_gather(const slc_batch *batch, uint32_t event, uint8_t *to, size_t capacity)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_lhcb_bank bank;
    size_t used = 0;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        const size_t n = slc_lhcb_bank_write(to + used, capacity - used, bank.type, bank.version, bank.source,
                                             bank.payload, bank.size);
        if (n == 0) {
            return 0;
        }
        used += n;
    }
    return used;
}

const slc_packet_table *slc_packet_table_of(const slc_batch *batch)
{
    slc_packet_end end = {.magic = 0};
    if (batch->scattered && batch->size >= sizeof(slc_packet_table) + sizeof end) {
        memcpy(&end, batch->bytes + batch->size - sizeof end, sizeof end);
    }
    return end.magic == SLC_PACKET_TABLE_MAGIC && end.table % 8 == 0 &&
                   end.table <= batch->size - sizeof(slc_packet_table) - sizeof end
               ? (const slc_packet_table *)(const void *)(batch->bytes + end.table)
               : NULL;
}
