/* SPDX-License-Identifier: Apache-2.0
 *
 * Finishing a batch of packets' events, in any thread: bytes, blocks, references. What is damaged here costs
 * no event: those of its packet lack the source.
 */
#define _DEFAULT_SOURCE /* pread */
#include "base/bytes.h"
#include "base/faults.h"
#include "io/lhcb/io_mep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the plan ---------------------------------------------------------------------------------- */

void slc_mep_plan_clear(slc_mep_plan *plan)
{
    free(plan->parts);
    free(plan->spans);
    *plan = (slc_mep_plan){.n_parts = 0};
}

void slc_mep_plan_reset(slc_mep_plan *plan)
{
    plan->n_parts = 0;
    plan->n_spans = 0;
    plan->present = 0;
}

slc_mep_part *slc_mep_plan_part(slc_mep_plan *plan)
{
    if (plan->n_parts == plan->part_capacity) {
        const uint32_t capacity = 2 * plan->part_capacity + 4;
        slc_mep_part *larger = realloc(plan->parts, capacity * sizeof *larger);
        if (larger == NULL) {
            return NULL;
        }
        plan->parts = larger;
        plan->part_capacity = capacity;
    }
    return &plan->parts[plan->n_parts++];
}

slc_mep_span *slc_mep_plan_spans(slc_mep_plan *plan, uint32_t n)
{
    if (plan->span_capacity - plan->n_spans < n) {
        const size_t capacity = plan->n_spans + (size_t)n;
        slc_mep_span *larger = realloc(plan->spans, capacity * sizeof *larger);
        if (larger == NULL) {
            return NULL;
        }
        plan->spans = larger;
        plan->span_capacity = (uint32_t)capacity;
    }
    plan->n_spans += n;
    return &plan->spans[plan->n_spans - n];
}

/* ---- bytes ------------------------------------------------------------------------------------- */

size_t slc_mep_read(int file, uint64_t at, void *to, size_t size)
{
    size_t have = 0;
    while (have < size) {
        const ssize_t n = pread(file, (uint8_t *)to + have, size - have, (off_t)(at + have));
        if (n > 0) {
            have += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            break;
        }
    }
    return have;
}

/* Spans that lie in the batch as they do in the file, in one call; what a file has no longer is no data. */
static void read_spans(slc_mep_span *spans, uint32_t n, slc_batch *batch, int file)
{
    for (uint32_t i = 0, next; i < n; i = next) {
        const slc_mep_span *first = &spans[i];
        uint64_t end = first->end;
        for (next = i + 1; next < n && spans[next].data - first->data == spans[next].in_file - first->in_file;
             next++) {
            end = spans[next].end;
        }
        const uint64_t begin = first->data;
        const size_t have = slc_mep_read(file, first->in_file, batch->bytes + begin, end - begin);
        for (uint32_t k = i; k < next && have < end - begin; k++) {
            const uint64_t there = begin + have > spans[k].data ? begin + have : spans[k].data;
            spans[k].end = spans[k].end < there ? spans[k].end : there;
        }
    }
}

static void read_part(slc_mep_plan *plan, slc_mep_part *part, slc_batch *batch, int file)
{
    if (!part->absent) {
        return;
    }
    if (part->whole) {
        part->here = slc_mep_read(file, part->in_file, batch->bytes + part->at, part->here);
    } else {
        read_spans(plan->spans + part->span, part->n_spans, batch, file);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------ */

void slc_mep_tell_block(char *text, size_t size, uint64_t at, uint16_t source, uint32_t n_events,
                        uint64_t packet_at, const char *why)
{
    (void)snprintf(text, size, "byte %llu: source %u: %s; %u event%s it (packet at byte %llu)",
                   (unsigned long long)at, source, why, n_events, n_events == 1 ? " lacks" : "s lack",
                   (unsigned long long)packet_at);
}

static void tell(const slc_mep_report *report, slc_fault_code code, uint64_t event, uint32_t n_events,
                 const slc_mep_part *part, uint16_t source, uint64_t at, const char *why)
{
    slc_io_losses *losses = report->losses;
    if (report->faults != NULL) {
        slc_faults_add(report->faults, code, event, source, at);
    }
    if (!losses->told) {
        losses->told = true;
        losses->offset = at;
        slc_mep_tell_block(losses->text, sizeof losses->text, at, source, n_events, part->record, why);
    }
}

const uint8_t *slc_mep_get(const slc_mep_bytes *from, uint64_t at, size_t size)
{
    if (at > from->here || size > from->here - at) {
        return NULL;
    }
    if (from->bytes != NULL) {
        return from->bytes + at;
    }
    return slc_mep_read(from->file, from->in_file + at, from->scratch, size) == size ? from->scratch : NULL;
}

static bool is_sound(const slc_mep_bytes *from, const slc_packet *packet, const slc_packet_row *row,
                     slc_packet_block *block, const char **why)
{
    const size_t head = packet->mfp ? SLC_PACKET_BLOCK_HEAD : SLC_PACKET_HEAD;
    const uint8_t *first = slc_mep_get(from, row->offset, head);
    if (!slc_packet_block_read(packet, row, first, first != NULL ? head : 0, block, why)) {
        return false;
    }
    *why = "its block is not there";
    const uint8_t *sizes = block->data <= from->here ? slc_mep_get(from, block->sizes, 2 * (size_t)block->n)
                                                     : NULL;
    return sizes != NULL && slc_packet_block_sums(block, sizes, why);
}

bool slc_mep_block(const slc_mep_bytes *from, const slc_packet *packet, const uint8_t *directory, uint32_t i,
                   slc_packet_walk *walk, slc_packet_block *block, const char **why)
{
    *why = "the table of its packet is not there";
    *block = (slc_packet_block){.source = 0};
    if (directory == NULL) {
        return false;
    }
    const slc_packet_row row = slc_packet_row_of(packet, directory, i);
    if (!is_sound(from, packet, &row, block, why)) {
        *block = (slc_packet_block){.source = row.source,
                                    .offset = row.offset < packet->size ? row.offset : 0};
        walk->end = 0;
        return false;
    }
    const uint64_t next = i + 1 < packet->n_blocks ? slc_packet_row_of(packet, directory, i + 1).offset
                                                   : packet->size;
    *why = "its block is not where the table of its packet has it";
    const bool fits = slc_packet_block_fits(walk, block, next);
    block->end = block->end < from->here ? block->end : from->here;
    return fits;
}

/* The blocks of a packet that is there with all its bytes, or with the first of them. */
static void look_at_blocks(const slc_mep_part *part, slc_mep_span *spans, const slc_batch *batch,
                           const slc_mep_report *report)
{
    const slc_mep_bytes from = {.bytes = batch->bytes + part->at, .here = part->here};
    const slc_packet *packet = &part->packet;
    slc_packet_walk walk = {.end = packet->directory};
    const uint8_t *directory = slc_mep_get(&from, 0, packet->directory);
    for (uint32_t i = 0; i < packet->n_blocks; i++) {
        const char *why;
        slc_packet_block block;
        const bool good = slc_mep_block(&from, packet, directory, i, &walk, &block, &why);
        if (!good) {
            tell(report, SLC_FAULT_PACKET_BLOCK, report->first_event + part->first, part->n, part,
                 block.source, part->offset + block.offset, why);
        }
        spans[i] = (slc_mep_span){.good = good,
                                  .source = block.source,
                                  .version = block.version,
                                  .align = block.align,
                                  .types = part->at + block.types,
                                  .sizes = part->at + block.sizes,
                                  .data = part->at + block.data,
                                  .end = part->at + block.end};
    }
}

/* ---- references -------------------------------------------------------------------------------- */

static void lack(slc_batch *batch, uint32_t event, slc_io_losses *losses)
{
    losses->incomplete += batch->record[event].missing++ == 0;
}

/* A block's fragments, each to its event. Of what the end of a packet is missing the types and sizes are
 * known: what has no bytes is there. Returns their type, and -1 where an event lacks one. */
static int refer(const slc_mep_part *part, const slc_mep_span *span, slc_batch *batch,
                 const slc_mep_report *report)
{
    uint64_t at = span->data;
    int type_of_all = -1;
    bool lacks = false;
    for (uint32_t k = 0; k < part->n; k++) {
        const uint32_t event = part->first + k;
        const uint32_t size = span->good ? slc_load_u16(batch->bytes + span->sizes + 2 * (size_t)k) : 0;
        const uint8_t type = span->good ? batch->bytes[span->types + k] : 0;
        const uint64_t begin = size > 0 ? at : span->data;
        at += slc_packet_padded(size, span->align);
        if (!span->good || begin + size > span->end) {
            lack(batch, event, report->losses);
            lacks = true;
            continue;
        }
        if (slc_packet_is_error(type)) {
            lack(batch, event, report->losses);
            tell(report, SLC_FAULT_PACKET_ERROR, report->first_event + event, 1, part, span->source,
                 part->record, "an error of the event builder stands in its place");
        }
        if (!slc_packet_is_filler(type, size)) {
            const slc_bank_reference to = {.at = begin,
                                           .size = (uint16_t)size,
                                           .type = type,
                                           .version = span->version,
                                           .source = (int16_t)span->source};
            memcpy(batch->bytes + batch->offset[event] + batch->length[event], &to, sizeof to);
            batch->length[event] += sizeof to;
            type_of_all = type_of_all < 0 || type_of_all == type ? type : SLC_PACKET_MIXED;
        }
    }
    return lacks ? -1 : type_of_all < 0 ? 0 : type_of_all;
}

/* What is told of how a packet's blocks lie, so that others need not follow every reference. */
static slc_packet_table *begin_table(slc_batch *batch, uint64_t at)
{
    const slc_packet_end end = {.table = at, .magic = SLC_PACKET_TABLE_MAGIC};
    slc_packet_table *table = (slc_packet_table *)(void *)(batch->bytes + at);
    table->n = 0;
    memcpy(batch->bytes + batch->size - sizeof end, &end, sizeof end);
    return table;
}

/* The next packet, whose references are there; its places follow. */
static slc_packet_place *begin_places(slc_packet_table *table, const slc_mep_part *part, slc_batch *batch,
                                      uint64_t *places)
{
    const uint32_t n = part->whole ? part->packet.n_blocks : part->n_spans;
    table->part[table->n] = (slc_packet_part){.references = batch->offset[part->first],
                                              .step = part->n_references * sizeof(slc_bank_reference),
                                              .places = *places,
                                              .n_events = part->n,
                                              .n_blocks = n};
    *places += n * sizeof(slc_packet_place);
    return (slc_packet_place *)(void *)(batch->bytes + table->part[table->n].places);
}

/* Where things of the next packet go. */
typedef struct slc_mep_next {
    uint64_t references, places;
    slc_packet_table *table;
} slc_mep_next;

static slc_status finish_part(slc_mep_plan *plan, slc_mep_part *part, slc_batch *batch, slc_mep_next *next,
                              const slc_mep_report *report)
{
    const uint32_t n = part->whole ? part->packet.n_blocks : part->n_spans, before = plan->n_spans;
    slc_mep_span *spans = part->whole ? slc_mep_plan_spans(plan, n) : plan->spans + part->span;
    if (spans == NULL) {
        return SLC_ERR_MEMORY;
    }
    if (part->whole) {
        look_at_blocks(part, spans, batch, report);
    }
    for (uint32_t k = 0; k < part->n; k++) {
        batch->offset[part->first + k] = next->references;
        batch->length[part->first + k] = 0;
        next->references += part->n_references * sizeof(slc_bank_reference);
    }
    slc_packet_place *place = begin_places(next->table, part, batch, &next->places);
    bool all = part->n > 0;
    for (uint32_t i = 0; i < n; i++) {
        const int type = refer(part, &spans[i], batch, report);
        place[i] = (slc_packet_place){.types = spans[i].types,
                                      .sizes = spans[i].sizes,
                                      .data = spans[i].data,
                                      .source = spans[i].source,
                                      .version = spans[i].version,
                                      .align = spans[i].align,
                                      .type = (uint16_t)type};
        all = all && type >= 0;
    }
    next->table->n += all;
    /* Those that the reader has found to be damaged. */
    for (uint32_t k = 0; k < part->n && part->packet.n_blocks > n; k++) {
        slc_record *record = &batch->record[part->first + k];
        report->losses->incomplete += record->missing == 0;
        record->missing += part->packet.n_blocks - n;
    }
    plan->n_spans = before; /* the next packet's */
    return SLC_OK;
}

slc_mep_layout slc_mep_lay(const slc_mep_plan *plan, const slc_batch *batch)
{
    slc_mep_layout at = {.references = slc_packet_padded(batch->size, 4)};
    at.table = at.references;
    for (uint32_t i = 0; i < plan->n_parts; i++) {
        at.table += (uint64_t)plan->parts[i].n * plan->parts[i].n_references * sizeof(slc_bank_reference);
    }
    at.places = at.table + sizeof(slc_packet_table) + plan->n_parts * sizeof(slc_packet_part);
    at.size = at.places;
    for (uint32_t i = 0; i < plan->n_parts; i++) {
        const slc_mep_part *part = &plan->parts[i];
        at.size += (part->whole ? part->packet.n_blocks : part->n_spans) * sizeof(slc_packet_place);
    }
    at.size += sizeof(slc_packet_end);
    return at;
}

slc_status slc_mep_finish(slc_mep_plan *plan, slc_batch *batch, int file, const slc_mep_report *report)
{
    const slc_mep_layout at = slc_mep_lay(plan, batch);
    slc_mep_next next = {.references = at.references, .places = at.places};
    batch->size = plan->present; /* nothing else is to be kept while room is made */
    slc_status status = slc_batch_reserve(batch, at.size, batch->n_events);
    batch->size = at.size;
    if (status == SLC_OK) {
        next.table = begin_table(batch, at.table);
    }
    for (uint32_t i = 0; i < plan->n_parts && status == SLC_OK; i++) {
        read_part(plan, &plan->parts[i], batch, file);
        status = finish_part(plan, &plan->parts[i], batch, &next, report);
    }
    batch->scattered = true;
    return status;
}
