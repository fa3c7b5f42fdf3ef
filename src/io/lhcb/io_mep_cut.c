/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reader of packets puts into batches: events with their numbers, and, of packets that have more
 * events than a batch takes, of each block the fragments of the next ones. A block's place moves on with
 * them.
 */
#include "base/bytes.h"
#include "io/lhcb/io_mep.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 256, /* events whose types and sizes are at hand */
    GAP_MAX = 512 /* bytes that nobody wants are read with what is around them */
};

/* The memory, or larger one; NULL: there is none, and the old one stays. */
void *slc_mep_grown(void *memory, size_t *capacity, size_t bytes)
{
    if (bytes <= *capacity) {
        return memory;
    }
    void *larger = realloc(memory, bytes);
    *capacity = larger != NULL ? bytes : *capacity;
    return larger;
}

slc_status slc_mep_no_memory(const slc_io_source *source, slc_error *error)
{
    return slc_io_stream_fail(&source->stream, error, SLC_ERR_MEMORY, source->stream.offset,
                              "no memory for a packet");
}

slc_status slc_mep_append_events(slc_io_source *source, const slc_mep_reader *r, uint32_t n, slc_batch *batch)
{
    const uint32_t first = batch->n_events;
    const slc_status status = n <= UINT32_MAX - first ? slc_batch_reserve(batch, 0, first + n)
                                                      : SLC_ERR_CAPACITY;
    for (uint32_t k = 0; k < n && status == SLC_OK; k++) {
        batch->offset[first + k] = 0;
        batch->length[first + k] = 0;
        batch->file_offset[first + k] = r->record;
        batch->record[first + k] = (slc_record){.number = source->totals.events + source->totals.lost_events +
                                                          k};
    }
    return status;
}

slc_mep_part slc_mep_begin_part(const slc_io_source *source, const slc_mep_reader *r, uint32_t n,
                                const slc_batch *batch)
{
    return (slc_mep_part){.packet = r->packet,
                          .first = batch->n_events,
                          .n = n,
                          .absent = source->stream.placed,
                          .offset = r->at,
                          .record = r->record,
                          .in_file = r->from.in_file,
                          .at = slc_packet_padded(batch->size, 3),
                          .here = r->from.here};
}

uint32_t slc_mep_references(const slc_packet *packet, uint64_t here)
{
    const uint64_t most = here / slc_packet_least(packet, packet->n_events) + 1;
    return most < packet->n_blocks ? (uint32_t)most : packet->n_blocks;
}

/* ---- packets that are cut ---------------------------------------------------------------------- */

/* Which blocks are good; the others are told, once a packet. */
slc_status slc_mep_cut(slc_io_source *source, slc_mep_reader *r, slc_faults *faults, slc_error *error)
{
    slc_packet_walk walk = {.end = r->packet.directory};
    slc_packet_block *blocks = slc_mep_grown(r->blocks, &r->block_capacity,
                                             slc_mep_references(&r->packet, r->from.here) * sizeof *blocks);
    if (blocks == NULL) {
        return slc_mep_no_memory(source, error);
    }
    r->blocks = blocks;
    r->n_blocks = 0;
    for (uint32_t i = 0; i < r->packet.n_blocks; i++) {
        const char *why;
        slc_packet_block block;
        if (slc_mep_block(&r->from, &r->packet, r->directory, i, &walk, &block, &why)) {
            r->blocks[r->n_blocks++] = block;
            continue;
        }
        char text[256];
        slc_mep_tell_block(text, sizeof text, r->at + block.offset, block.source, r->packet.n_events,
                           r->record, why);
        slc_io_note_source(source, faults, SLC_FAULT_PACKET_BLOCK, block.source, r->at + block.offset, "%s",
                           text);
    }
    r->window_from = r->window_to = 0;
    r->cut = true;
    return SLC_OK;
}

/* Types and sizes of the next events, from all blocks. What cannot be read is a fragment of no bytes. */
slc_status slc_mep_load_window(const slc_io_source *source, slc_mep_reader *r, slc_error *error)
{
    const uint32_t left = r->packet.n_events - r->next, n = left < WINDOW ? left : WINDOW;
    uint8_t *window = slc_mep_grown(r->window, &r->window_capacity, (size_t)r->n_blocks * 3 * WINDOW + 1);
    if (window == NULL) {
        return slc_mep_no_memory(source, error);
    }
    r->window = window;
    for (uint32_t i = 0; i < r->n_blocks; i++) {
        const slc_packet_block *block = &r->blocks[i];
        uint8_t *to = r->window + (size_t)i * 3 * WINDOW;
        memset(to, 0, (size_t)3 * WINDOW);
        const uint8_t *types = slc_mep_get(&r->from, block->types + r->next, n);
        if (types != NULL) {
            memcpy(to, types, n);
        }
        const uint8_t *sizes = slc_mep_get(&r->from, block->sizes + 2 * (uint64_t)r->next, 2 * (size_t)n);
        if (sizes != NULL) {
            memcpy(to + WINDOW, sizes, 2 * (size_t)n);
        }
    }
    r->window_from = r->next;
    r->window_to = r->next + n;
    return SLC_OK;
}

/* Where the next n fragments of a block go to: their types and sizes in front, their data after those of the
 * block before. Moves the block on. */
static void place_span(const slc_io_source *source, const slc_mep_reader *r, uint32_t i, uint32_t n,
                       uint64_t *front, slc_mep_span *span, uint64_t *data, uint64_t *in_file)
{
    slc_packet_block *block = &r->blocks[i];
    const uint8_t *window = r->window + (size_t)i * 3 * WINDOW;
    const uint8_t *sizes = window + WINDOW + 2 * (size_t)(r->next - r->window_from);
    uint64_t size = 0;
    for (uint32_t k = 0; k < n; k++) {
        size += slc_packet_padded(slc_load_u16(sizes + 2 * (size_t)k), block->align);
    }
    const uint64_t end = block->data + size < block->end ? block->data + size : block->end;
    const uint64_t place = r->from.in_file + block->data;
    const bool near = source->stream.placed && i > 0 && place >= *in_file && place - *in_file <= GAP_MAX;
    *data = near ? *data + (place - *in_file) : slc_packet_padded(*data, 3);
    *span = (slc_mep_span){.types = *front,
                           .sizes = *front + n,
                           .data = *data,
                           .end = *data + (end > block->data ? end - block->data : 0),
                           .in_file = place,
                           .source = block->source,
                           .version = block->version,
                           .align = block->align,
                           .good = true};
    *front += 3 * (uint64_t)n;
    *data = span->end;
    *in_file = place + (span->end - span->data);
}

static void copy_span(slc_mep_reader *r, uint32_t i, uint32_t n, const slc_mep_span *span, slc_batch *batch)
{
    slc_packet_block *block = &r->blocks[i];
    const uint8_t *window = r->window + (size_t)i * 3 * WINDOW, *types = window + (r->next - r->window_from);
    const uint8_t *sizes = window + WINDOW + 2 * (size_t)(r->next - r->window_from);
    memcpy(batch->bytes + span->types, types, n);
    memcpy(batch->bytes + span->sizes, sizes, 2 * (size_t)n);
    if (r->from.bytes != NULL) {
        memcpy(batch->bytes + span->data, r->from.bytes + block->data, span->end - span->data);
    }
    for (uint32_t k = 0; k < n; k++) {
        block->data += slc_packet_padded(slc_load_u16(sizes + 2 * (size_t)k), block->align);
    }
    block->data = block->data < block->end ? block->data : block->end;
}

/* The next n events, into an empty batch. */
slc_status slc_mep_take_some(slc_io_source *source, slc_mep_reader *r, uint32_t n, slc_batch *batch,
                             slc_error *error)
{
    slc_mep_plan *plan = slc_io_deferred_packets(source->deferred);
    slc_mep_part *part = slc_mep_plan_part(plan);
    slc_mep_span *spans = slc_mep_plan_spans(plan, r->n_blocks);
    if (part == NULL || spans == NULL || slc_mep_append_events(source, r, n, batch) != SLC_OK) {
        return slc_mep_no_memory(source, error);
    }
    *part = slc_mep_begin_part(source, r, n, batch);
    part->span = plan->n_spans - r->n_blocks;
    part->n_spans = part->n_references = r->n_blocks;
    uint64_t front = part->at, data = front + 3 * (uint64_t)n * r->n_blocks, in_file = 0;
    const uint64_t data_begin = data;
    for (uint32_t i = 0; i < r->n_blocks; i++) {
        place_span(source, r, i, n, &front, &spans[i], &data, &in_file);
    }
    plan->present = part->absent ? data_begin : data;
    if (slc_batch_reserve(batch, plan->present, 0) != SLC_OK) {
        return slc_mep_no_memory(source, error);
    }
    for (uint32_t i = 0; i < r->n_blocks; i++) {
        copy_span(r, i, n, &spans[i], batch);
    }
    batch->size = data;
    batch->n_events += n;
    return SLC_OK;
}
