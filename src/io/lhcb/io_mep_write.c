/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing packets. A block is opened for each bank that differs in type, version and source, or is one more
 * of the same in its event; where an event has none, a filler stands. Blocks stand in the order of the banks
 * of the packet's events, or, of Run 3, by source.
 */
#include "io/lhcb/io_mep_write.h"
#include "base/bytes.h"
#include "io/io_output.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_record.h"

#include <stdlib.h>
#include <string.h>

#define NONE (UINT32_MAX - 1)
enum { BLOCKS_MAX = 65535, ALIGN = 2 };

typedef struct block {
    uint16_t source;
    uint8_t type, version;
    uint32_t next;   /* in the order of writing; NONE: the last */
    uint64_t bytes;  /* of fragments, padded */
    uint64_t *begin; /* of the bank of each event in `banks`, and 1; 0: it has none */
} block;

struct slc_mep_packer {
    uint32_t packing;
    bool mfp;
    uint64_t most;
    uint32_t n_events, n_blocks, block_capacity, first;
    block *blocks;
    uint8_t *banks; /* of all events at hand */
    size_t size, capacity;
    uint64_t bytes; /* of all fragments, padded */
    uint64_t event_id;
    uint8_t *scratch;
    size_t scratch_capacity;
};

slc_mep_packer *slc_mep_packer_open(const slc_io_mdf_config *config, uint64_t most)
{
    slc_mep_packer *p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->packing = config->packing;
        p->mfp = config->packets == SLC_IO_PACKETS_MFP;
        p->most = most != 0 ? most : p->mfp ? 4 * (uint64_t)UINT32_MAX : UINT32_MAX;
        p->first = NONE;
    }
    return p;
}

static void forget_blocks(slc_mep_packer *p)
{
    for (uint32_t i = 0; i < p->n_blocks; i++) {
        free(p->blocks[i].begin);
    }
    p->n_blocks = p->n_events = 0;
    p->first = NONE;
    p->size = 0;
    p->bytes = 0;
}

void slc_mep_packer_close(slc_mep_packer *p)
{
    if (p != NULL) {
        forget_blocks(p);
        free(p->blocks);
        free(p->banks);
        free(p->scratch);
        free(p);
    }
}

static bool reserve(uint8_t **memory, size_t *capacity, size_t bytes)
{
    if (bytes > *capacity) {
        const size_t more = *capacity + *capacity / 2, want = bytes > more ? bytes : more;
        uint8_t *larger = realloc(*memory, want);
        if (larger == NULL) {
            return false;
        }
        *memory = larger;
        *capacity = want;
    }
    return true;
}

/* ---- sizes ------------------------------------------------------------------------------------- */

static uint64_t tables(uint64_t n_events)
{
    return slc_packet_padded(n_events, 2) + slc_packet_padded(2 * n_events, 2);
}

static uint64_t directory(const slc_mep_packer *p)
{
    const uint64_t numbers = slc_packet_padded(2 * (uint64_t)p->n_blocks, 2);
    return (p->mfp ? 8 + numbers : SLC_PACKET_HEAD + 2 * numbers) + 4 * (uint64_t)p->n_blocks;
}

/* Of a packet of the banks at hand with so many events: not more than that. */
static uint64_t packet_bytes(const slc_mep_packer *p, uint64_t n_events)
{
    const uint64_t head = p->mfp ? SLC_PACKET_BLOCK_HEAD + 7 : SLC_PACKET_HEAD;
    return (p->mfp ? 0 : SLC_MDF_HEADER) + directory(p) + p->n_blocks * (head + tables(n_events)) + p->bytes;
}

static bool fits(const slc_mep_packer *p)
{
    bool all = p->n_blocks <= BLOCKS_MAX && packet_bytes(p, (uint64_t)p->n_events + 1) <= p->most;
    for (uint32_t i = 0; i < p->n_blocks && p->mfp && p->bytes > UINT32_MAX / 2; i++) {
        all = all && p->blocks[i].bytes + SLC_PACKET_BLOCK_HEAD + tables(p->n_events + 1) <= UINT32_MAX;
    }
    return all;
}

/* ---- an event ---------------------------------------------------------------------------------- */

static bool is_of(const slc_mep_packer *p, uint32_t i, const slc_lhcb_bank *bank)
{
    const block *b = &p->blocks[i];
    return b->type == bank->type && b->source == (uint16_t)bank->source && b->version == bank->version &&
           b->begin[p->n_events] == 0;
}

/* The block of a bank that follows one of block `before` (NONE: it is the first of its event): after it, if
 * there is one, so that banks keep their order; else any; else a new one, right after it. NONE: no memory. */
static uint32_t find_block(slc_mep_packer *p, uint32_t before, const slc_lhcb_bank *bank)
{
    for (uint32_t i = before == NONE ? p->first : p->blocks[before].next; i != NONE; i = p->blocks[i].next) {
        if (is_of(p, i, bank)) {
            return i;
        }
    }
    for (uint32_t i = 0; i < p->n_blocks; i++) {
        if (is_of(p, i, bank)) {
            return i;
        }
    }
    if (p->n_blocks == p->block_capacity) {
        const uint32_t capacity = 2 * p->block_capacity + 256;
        block *larger = realloc(p->blocks, capacity * sizeof *larger);
        if (larger == NULL) {
            return NONE;
        }
        p->blocks = larger;
        p->block_capacity = capacity;
    }
    uint64_t *begin = calloc(p->packing, sizeof *begin);
    if (begin == NULL) {
        return NONE;
    }
    uint32_t *link = before == NONE ? &p->first : &p->blocks[before].next;
    p->blocks[p->n_blocks] = (block){.source = (uint16_t)bank->source,
                                     .type = bank->type,
                                     .version = bank->version,
                                     .next = *link,
                                     .begin = begin};
    *link = p->n_blocks;
    return p->n_blocks++;
}

static slc_status refuse(const slc_mep_packer *p, const char *path, slc_error *error)
{
    if (p->n_events == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: an event is larger than a packet can be", path);
    }
    return slc_fail(error, SLC_ERR_USAGE,
                    p->mfp
                        ? "%s: a packet of %u events is larger than its layout can have: the largest "
                          "packing that fits these events is %u"
                        : "%s: a packet of %u events is larger than the 2^32 bytes of a record: the largest "
                          "packing that fits these events is %u",
                    path, p->packing, p->n_events);
}

static slc_status add_banks(slc_mep_packer *p, const char *path, size_t begin, size_t end, slc_error *error)
{
    slc_lhcb_bank_cursor cursor = {.bytes = p->banks + begin, .size = end - begin};
    slc_lhcb_bank bank;
    slc_status status;
    uint32_t at = NONE;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) == SLC_OK) {
        if (slc_packet_is_filler(bank.type, bank.size)) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: an empty bank of type 0 (source %d) cannot be told from none in a packet",
                            path, bank.source);
        }
        at = find_block(p, at, &bank);
        if (at == NONE) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a packet", path);
        }
        const uint64_t padded = slc_packet_padded(bank.size, ALIGN);
        p->blocks[at].begin[p->n_events] = begin + bank.offset + 1;
        p->blocks[at].bytes += padded;
        p->bytes += padded;
    }
    return status == SLC_END
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT, "%s: byte %zu of an event: no raw bank: it cannot be packed",
                          path, cursor.at);
}

slc_status slc_mep_packer_add(slc_mep_packer *p, slc_io_writer *to, const void *banks, size_t size,
                              slc_error *error)
{
    const char *path = to->output.path;
    if (!reserve(&p->banks, &p->capacity, p->size + size + 1)) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a packet of %u events", path, p->packing);
    }
    if (size > 0) {
        memcpy(p->banks + p->size, banks, size);
    }
    slc_status status = add_banks(p, path, p->size, p->size + size, error);
    if (status == SLC_OK && !fits(p)) {
        status = refuse(p, path, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    p->size += size;
    p->n_events++;
    return p->n_events == p->packing ? slc_mep_packer_flush(p, to, error) : SLC_OK;
}

/* ---- a packet ---------------------------------------------------------------------------------- */

static uint32_t bank_size(const slc_mep_packer *p, const block *b, uint32_t k)
{
    return b->begin[k] == 0 ? 0
                            : (uint32_t)slc_load_u16(p->banks + b->begin[k] - 1 + 2) - SLC_LHCB_BANK_HEADER;
}

/* Bytes of a block in the file. */
static uint64_t block_bytes(const slc_mep_packer *p, const block *b)
{
    return p->mfp ? slc_packet_padded(SLC_PACKET_BLOCK_HEAD + tables(p->n_events) + b->bytes, 3)
                  : SLC_PACKET_HEAD + tables(p->n_events) + b->bytes;
}

/* Types, sizes and fragments. */
static void fill_block(const slc_mep_packer *p, const block *b, uint8_t *at)
{
    const uint32_t n = p->n_events;
    uint8_t *sizes = at + slc_packet_padded(n, 2), *data = at + tables(n);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t size = bank_size(p, b, k);
        at[k] = b->begin[k] == 0 ? 0 : b->type;
        slc_store_u16(sizes + 2 * (size_t)k, (uint16_t)size);
        if (size > 0) {
            memcpy(data, p->banks + b->begin[k] - 1 + SLC_LHCB_BANK_HEADER, size);
        }
        data += slc_packet_padded(size, ALIGN);
    }
}

static slc_status put_block(slc_mep_packer *p, const block *b, slc_io_writer *to, slc_error *error)
{
    const uint64_t size = block_bytes(p, b);
    if (!reserve(&p->scratch, &p->scratch_capacity, size)) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a block of %llu bytes", to->output.path,
                        (unsigned long long)size);
    }
    uint8_t *at = p->scratch;
    memset(at, 0, size);
    if (p->mfp) {
        slc_store_u16(at, SLC_PACKET_BLOCK_MAGIC);
        slc_store_u16(at + 2, (uint16_t)p->n_events);
        slc_store_u32(at + 4, (uint32_t)(SLC_PACKET_BLOCK_HEAD + tables(p->n_events) + b->bytes));
        slc_store_u64(at + 8, p->event_id);
        slc_store_u16(at + 16, b->source);
        at[18] = ALIGN;
        at[19] = b->version;
        fill_block(p, b, at + SLC_PACKET_BLOCK_HEAD);
    } else {
        slc_store_u16(at + 8, (uint16_t)p->n_events);
        slc_store_u32(at + 12, (uint32_t)b->bytes);
        fill_block(p, b, at + SLC_PACKET_HEAD);
    }
    return slc_io_writer_put(to, at, size, error);
}

static void fill_envelope(uint8_t *at, uint64_t size)
{
    memset(at, 0, SLC_MDF_HEADER);
    for (size_t i = 0; i < 3; i++) {
        slc_store_u32(at + 4 * i, (uint32_t)size);
    }
    at[17] = 0x37; /* version 3, a sub-header of seven words */
    at[18] = SLC_MDF_MEP;
}

/* The head of the packet and its tables; `order` has the blocks. */
static slc_status put_directory(slc_mep_packer *p, const uint32_t *order, slc_io_writer *to, slc_error *error)
{
    const uint64_t envelope = p->mfp ? 0 : SLC_MDF_HEADER, size = envelope + directory(p);
    const uint64_t numbers = slc_packet_padded(2 * (uint64_t)p->n_blocks, 2);
    if (!reserve(&p->scratch, &p->scratch_capacity, size)) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a packet's table", to->output.path);
    }
    memset(p->scratch, 0, size);
    uint8_t *head = p->scratch + envelope, *sources = head + (p->mfp ? 8 : SLC_PACKET_HEAD);
    uint8_t *versions = sources + numbers, *offsets = p->mfp ? versions : versions + numbers;
    uint64_t offset = p->mfp ? directory(p) : 0;
    for (uint32_t i = 0; i < p->n_blocks; i++) {
        const block *b = &p->blocks[order[i]];
        slc_store_u16(sources + 2 * (size_t)i, b->source);
        if (!p->mfp) {
            slc_store_u16(versions + 2 * (size_t)i, b->version);
        }
        slc_store_u32(offsets + 4 * (size_t)i, (uint32_t)(p->mfp ? offset / 4 : offset));
        offset += block_bytes(p, b);
    }
    if (p->mfp) {
        slc_store_u16(head, SLC_PACKET_MAGIC);
        slc_store_u16(head + 2, (uint16_t)p->n_blocks);
        slc_store_u32(head + 4, (uint32_t)(offset / 4));
    } else {
        fill_envelope(p->scratch, size + offset);
        slc_store_u16(head, (uint16_t)p->n_blocks);
        slc_store_u16(head + 2, (uint16_t)p->n_events);
        slc_store_u64(head + 8, offset);
    }
    return slc_io_writer_put(to, p->scratch, size, error);
}

/* Run 3 sorts by source, and ODIN is first. Blocks of a source stay as they are. */
static void sort_blocks(const slc_mep_packer *p, uint32_t *order, uint32_t *spare)
{
    enum { KEYS = 65536 + 1 };
    uint32_t *count = calloc(KEYS + 1, sizeof *count);
    if (count == NULL) {
        return;
    }
    for (uint32_t i = 0; i < p->n_blocks; i++) {
        const block *b = &p->blocks[order[i]];
        count[(b->type == SLC_LHCB_BANK_ODIN ? 0 : 1 + (uint32_t)b->source) + 1]++;
    }
    for (uint32_t k = 1; k <= KEYS; k++) {
        count[k] += count[k - 1];
    }
    for (uint32_t i = 0; i < p->n_blocks; i++) {
        const block *b = &p->blocks[order[i]];
        spare[count[b->type == SLC_LHCB_BANK_ODIN ? 0 : 1 + (uint32_t)b->source]++] = order[i];
    }
    memcpy(order, spare, p->n_blocks * sizeof *order);
    free(count);
}

slc_status slc_mep_packer_flush(slc_mep_packer *p, slc_io_writer *to, slc_error *error)
{
    if (p->n_events == 0) {
        return SLC_OK;
    }
    if (p->n_blocks == 0) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: events without any bank cannot be packed",
                        to->output.path);
    }
    uint32_t *order = calloc(2 * (size_t)p->n_blocks, sizeof *order);
    if (order == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a packet", to->output.path);
    }
    uint32_t n = 0;
    for (uint32_t i = p->first; i != NONE; i = p->blocks[i].next) {
        order[n++] = i;
    }
    if (p->mfp) {
        sort_blocks(p, order, order + p->n_blocks);
    }
    slc_status status = put_directory(p, order, to, error);
    for (uint32_t i = 0; i < p->n_blocks && status == SLC_OK; i++) {
        status = put_block(p, &p->blocks[order[i]], to, error);
    }
    free(order);
    p->event_id += p->n_events;
    forget_blocks(p);
    return status;
}
