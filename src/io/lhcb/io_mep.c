/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading LHCb's multi-event packets (MEP): of 2019, each in a record of MDF, and of Run 3. The reader goes
 * from packet to packet. A batch gets all events of a small packet at once: of a regular file the reader then
 * looks at the packet's head alone. Of a packet with more events than a batch has, batches get some after the
 * other, and of each source's block what belongs to them: no packet of a regular file is ever in memory as a
 * whole for that. What comes from a pipe stays there until its packet is done, as the last block has some of
 * the first event.
 */
#include "io/lhcb/io_mep.h"
#include "base/bytes.h"
#include "base/faults.h"
#include "lhcb/lhcb_record.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK = SLC_MDF_HEADER + SLC_PACKET_HEAD,
    AHEAD = 64,       /* only heads are looked at */
    RESYNC = 1 << 20, /* seen at once after damage: more than any table of blocks has */
};

/* ---- recognising ------------------------------------------------------------------------------- */

/* A packet in a record of MDF. */
static bool read_envelope(const uint8_t *bytes, size_t size, slc_mdf_header *header)
{
    return slc_mdf_header_read(bytes, size, UINT32_MAX, header) == SLC_MDF_GOOD &&
           header->data_type == SLC_MDF_MEP;
}

typedef enum sight { NO, YES, MORE } sight;

/* Whether a packet of Run 3 begins here: MORE, if what is seen does not tell. */
static sight is_bare(const uint8_t *bytes, size_t size)
{
    slc_packet packet;
    const char *why;
    if (size < 2 || slc_load_u16(bytes) != SLC_PACKET_MAGIC) {
        return NO;
    }
    if (size < SLC_PACKET_HEAD) {
        return MORE;
    }
    if (!slc_packet_read(bytes, size, 0, &packet, &why)) {
        return NO;
    }
    if (size < packet.directory) {
        return MORE;
    }
    const uint64_t offset = slc_packet_row_of(&packet, bytes, 0).offset;
    if (offset < packet.directory || offset >= packet.size || offset - packet.directory >= SLC_PACKET_SLACK) {
        return NO;
    }
    return size < offset + 2 ? MORE : slc_load_u16(bytes + offset) == SLC_PACKET_BLOCK_MAGIC ? YES : NO;
}

/* The same of any packet, in the middle of bytes. */
static sight is_packet(const uint8_t *bytes, size_t size)
{
    slc_mdf_header header;
    slc_packet packet;
    const char *why;
    if (size >= 20 && bytes[18] == SLC_MDF_MEP && bytes[17] == 0x37 && bytes[19] == 0) {
        if (size < LOOK) {
            return MORE;
        }
        if (read_envelope(bytes, size, &header) && header.sizes_agree && header.record_size > LOOK &&
            slc_packet_read(bytes + header.header_size, size - header.header_size,
                            header.record_size - header.header_size, &packet, &why)) {
            return YES;
        }
    }
    return is_bare(bytes, size);
}

static bool probe(const uint8_t *bytes, size_t size, const slc_io_config *config)
{
    (void)config;
    const sight first = is_bare(bytes, size);
    if (first == YES || (first == MORE && size >= 8)) {
        return true;
    }
    for (size_t at = 0; at + LOOK <= size; at++) {
        if (is_packet(bytes + at, size - at) == YES) {
            return true;
        }
    }
    return false;
}

static slc_status open_mep(slc_io_source *source, slc_error *error)
{
    slc_mep_reader *r = calloc(1, sizeof *r);
    if (r != NULL) {
        r->scratch = malloc(SLC_MEP_SCRATCH);
    }
    source->state = r;
    return r != NULL && r->scratch != NULL
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for packets", source->stream.name);
}

static void close_mep(slc_io_source *source)
{
    slc_mep_reader *r = source->state;
    if (r != NULL) {
        free(r->scratch);
        free(r->directory);
        free(r->blocks);
        free(r->window);
        free(r);
    }
}

/* ---- damage ------------------------------------------------------------------------------------ */

/* Consumes bytes up to the next packet that can be recognised after the first byte, or all of them. */
static slc_status resynchronise(slc_io_source *source, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    for (size_t from = 1;; from = 0) {
        const uint8_t *bytes;
        size_t visible;
        stream->ahead = 0;
        const slc_status status = slc_io_stream_peek(stream, RESYNC, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        size_t at = from;
        sight seen = NO;
        for (; at + LOOK <= visible; at++) {
            seen = is_packet(bytes + at, visible - at);
            if (seen == YES || (seen == MORE && at > 0 && !stream->at_end)) {
                break;
            }
            seen = NO;
        }
        if (seen == YES) {
            slc_io_stream_skip(stream, at);
            return SLC_OK;
        }
        if (stream->at_end) {
            slc_io_stream_skip(stream, visible);
            return SLC_OK;
        }
        slc_io_stream_skip(stream, at);
    }
}

/* Passes over `size` bytes, or all that there are. */
static slc_status pass(slc_io_source *source, uint64_t size, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    if (stream->placed) {
        const bool has = slc_io_stream_has(stream, size);
        slc_io_stream_pass(stream, has ? size : stream->size - stream->offset);
        return SLC_OK;
    }
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_stream_peek(stream, size, &bytes, &visible, error);
    if (status == SLC_OK) {
        slc_io_stream_skip(stream, visible < size ? visible : size);
    }
    return status;
}

/* ---- opening a packet -------------------------------------------------------------------------- */

/* What there is of the packet: of a pipe, all of it is waited for. */
static slc_status find_bytes(slc_io_source *source, slc_mep_reader *r, uint64_t record_size, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    const uint64_t head = r->at - r->record;
    uint64_t there = record_size;
    r->from = (slc_mep_bytes){.file = stream->file, .scratch = r->scratch};
    if (stream->placed) {
        r->from.in_file = stream->base + r->at;
        if (!slc_io_stream_has(stream, record_size)) {
            there = stream->size > stream->offset ? stream->size - stream->offset : 0;
        }
    } else {
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(stream, record_size, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        there = visible < record_size ? visible : record_size;
        r->from.bytes = bytes + head;
    }
    r->from.here = there > head ? there - head : 0;
    r->from.here = r->from.here < r->packet.size ? r->from.here : r->packet.size;
    r->end = r->record + there;
    return SLC_OK;
}

/* The table of blocks, and of Run 3 how many events there are: one block that is sound tells. */
static slc_status find_events(const slc_io_source *source, slc_mep_reader *r, const char **why,
                              slc_error *error)
{
    slc_packet *packet = &r->packet;
    uint8_t *directory = slc_mep_grown(r->directory, &r->directory_capacity, packet->directory);
    if (directory == NULL) {
        return slc_mep_no_memory(source, error);
    }
    r->directory = directory;
    for (uint64_t at = 0; at < packet->directory;) {
        const uint64_t left = packet->directory - at;
        const size_t piece = left < SLC_MEP_SCRATCH ? left : SLC_MEP_SCRATCH;
        const uint8_t *bytes = slc_mep_get(&r->from, at, piece);
        if (bytes == NULL) {
            *why = "the table of a packet's blocks is not all there";
            return SLC_ERR_FORMAT;
        }
        memcpy(r->directory + at, bytes, piece);
        at += piece;
    }
    for (uint32_t i = 0; i < packet->n_blocks; i++) {
        const char *wrong;
        slc_packet_block block;
        slc_packet_walk walk = {.end = packet->directory};
        if (i > 0) {
            walk.end = slc_packet_row_of(packet, r->directory, i).offset; /* which is held against the next */
        }
        if (!slc_mep_block(&r->from, packet, r->directory, i, &walk, &block, &wrong)) {
            continue;
        }
        packet->n_events = block.n;
        packet->event_id = block.event_id;
        *why = "a packet is too short for its blocks";
        return slc_packet_least(packet, block.n) * packet->n_blocks <= packet->size - packet->directory
                   ? SLC_OK
                   : SLC_ERR_FORMAT;
    }
    *why = "no block of a packet can be read";
    return SLC_ERR_FORMAT;
}

/* A packet of Run 3 tells its end once; its last block tells it as well. */
static void check_end(slc_io_source *source, slc_mep_reader *r, slc_faults *faults)
{
    const char *why;
    slc_packet_block block;
    slc_packet_walk walk = {
        .end = slc_packet_row_of(&r->packet, r->directory, r->packet.n_blocks - 1).offset};
    if (r->at != r->record ||
        !slc_mep_block(&r->from, &r->packet, r->directory, r->packet.n_blocks - 1, &walk, &block, &why)) {
        return;
    }
    const uint64_t end = slc_packet_padded(block.end, 3);
    if (block.end < r->from.here && r->packet.size > end && r->packet.size - end >= SLC_PACKET_SLACK) {
        slc_io_note(source, faults, SLC_FAULT_PACKET_HEADER, r->at,
                    "byte %llu: a packet says that it has %llu bytes, its blocks end after %llu",
                    (unsigned long long)r->at, (unsigned long long)r->packet.size, (unsigned long long)end);
        r->packet.size = end;
        r->from.here = r->from.here < end ? r->from.here : end;
        r->end = r->at + r->from.here;
    }
}

/* What begins here is no packet that can be read. `size`: of its record, 0 if that is not known. */
static slc_status lose(slc_io_source *source, slc_faults *faults, slc_fault_code code, uint64_t size,
                       const char *why, slc_error *error)
{
    const uint64_t at = source->stream.offset;
    slc_io_lose(source, faults, code, at, "byte %llu: %s", (unsigned long long)at, why);
    return size > 0 ? pass(source, size, error) : resynchronise(source, error);
}

/* Looks at the packet that begins here. *found is false if there is none, which is then lost. */
static slc_status open_packet(slc_io_source *source, slc_mep_reader *r, const uint8_t *bytes, size_t visible,
                              slc_faults *faults, bool *found, slc_error *error)
{
    slc_mdf_header header = {.record_size = 0};
    const bool bare = visible >= 2 && slc_load_u16(bytes) == SLC_PACKET_MAGIC;
    const char *why = "no packet of events begins here";
    slc_fault_code code = SLC_FAULT_PACKET_HEADER;
    uint64_t within = 0;
    *found = false;
    if (!bare) {
        const bool is_record = slc_mdf_header_read(bytes, visible, UINT32_MAX, &header) == SLC_MDF_GOOD &&
                               header.sizes_agree;
        if (is_record && header.data_type != SLC_MDF_MEP) {
            return lose(source, faults, SLC_FAULT_RECORD_TYPE, header.record_size,
                        "a record of another kind among packets of events", error);
        }
        if (!read_envelope(bytes, visible, &header) || header.compression != 0) {
            return lose(source, faults, SLC_FAULT_RECORD_HEADER, 0, why, error);
        }
        within = header.record_size - header.header_size;
    }
    r->record = source->stream.offset;
    r->at = r->record + header.header_size;
    if ((!bare && within == 0) || !slc_packet_read(bytes + header.header_size, visible - header.header_size,
                                                   within, &r->packet, &why)) {
        return lose(source, faults, code, header.record_size, why, error);
    }
    const uint64_t size = bare ? r->packet.size : header.record_size;
    slc_status status = find_bytes(source, r, size, error);
    if (status != SLC_OK) {
        return status;
    }
    status = find_events(source, r, &why, error);
    if (status == SLC_ERR_FORMAT) {
        code = r->end - r->record < size ? SLC_FAULT_RECORD_TRUNCATED : code;
        return lose(source, faults, code, bare ? 0 : size, why, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    if (!bare && !header.sizes_agree) {
        slc_io_note(source, faults, SLC_FAULT_RECORD_SIZE, r->record,
                    "byte %llu: the three sizes of a record are %u, %u and %u: two of them were believed",
                    (unsigned long long)r->record, header.size[0], header.size[1], header.size[2]);
    }
    check_end(source, r, faults);
    if (r->end - r->record < size && r->from.here < r->packet.size) {
        slc_io_note(
            source, faults, SLC_FAULT_RECORD_TRUNCATED, r->record,
            "byte %llu: a packet needs %llu bytes, %llu are left; its %u events lack what is not there",
            (unsigned long long)r->record, (unsigned long long)size, (unsigned long long)(r->end - r->record),
            r->packet.n_events);
    }
    r->next = 0;
    r->cut = false;
    r->open = *found = true;
    return SLC_OK;
}

/* ---- events into the batch --------------------------------------------------------------------- */

static slc_status take_whole(slc_io_source *source, const slc_mep_reader *r, slc_batch *batch,
                             slc_error *error)
{
    slc_mep_plan *plan = slc_io_deferred_packets(source->deferred);
    slc_mep_part *part = slc_mep_plan_part(plan);
    slc_status status = part != NULL ? SLC_OK : SLC_ERR_MEMORY;
    if (status == SLC_OK) {
        *part = slc_mep_begin_part(source, r, r->packet.n_events, batch);
        part->whole = true;
        part->n_references = slc_mep_references(&r->packet, part->here);
        status = slc_mep_append_events(source, r, part->n, batch);
    }
    if (status == SLC_OK && !part->absent) {
        status = slc_batch_reserve(batch, part->at + part->here, 0);
    }
    if (status != SLC_OK) {
        plan->n_parts -= part != NULL;
        return slc_mep_no_memory(source, error);
    }
    batch->size = part->at + part->here;
    if (!part->absent) {
        memcpy(batch->bytes + part->at, r->from.bytes, part->here);
        plan->present = batch->size;
    }
    batch->n_events += part->n;
    return SLC_OK;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* How many of the packet's events the batch has room for; it always has for one, if it is empty. */
static uint32_t room(const slc_mep_reader *r, const slc_batch *batch, uint32_t max_events, size_t max_bytes)
{
    const uint32_t left = r->packet.n_events - r->next;
    const uint64_t an_event = r->packet.size / r->packet.n_events + 1;
    const uint64_t fit = max_bytes > batch->size ? (max_bytes - batch->size) / an_event : 0;
    uint32_t n = max_events > batch->n_events ? max_events - batch->n_events : 0;
    n = fit < n ? (uint32_t)fit : n;
    n = n < left ? n : left;
    return n == 0 && batch->n_events == 0 ? 1 : n;
}

static slc_status take(slc_io_source *source, slc_mep_reader *r, uint32_t max_events, size_t max_bytes,
                       slc_batch *batch, slc_faults *faults, slc_error *error)
{
    uint32_t n = room(r, batch, max_events, max_bytes);
    const bool whole = r->next == 0 && n == r->packet.n_events;
    slc_status status = SLC_OK;
    if (whole) {
        status = take_whole(source, r, batch, error);
    } else if (batch->n_events > 0) {
        return SLC_END; /* a packet is cut for an empty batch alone */
    } else {
        status = r->cut ? SLC_OK : slc_mep_cut(source, r, faults, error);
        if (status == SLC_OK && r->next == r->window_to) {
            status = slc_mep_load_window(source, r, error);
        }
        n = n < r->window_to - r->next ? n : r->window_to - r->next;
        status = status == SLC_OK ? slc_mep_take_some(source, r, n, batch, error) : status;
    }
    if (status != SLC_OK) {
        return status;
    }
    source->totals.events += n;
    r->next += n;
    batch->scattered = true;
    if (r->next == r->packet.n_events) {
        r->open = false;
        status = pass(source, r->end - r->record, error);
    }
    return status;
}

static slc_status read_events(slc_io_source *source, uint32_t max_events, size_t max_bytes, slc_batch *batch,
                              slc_faults *faults, slc_error *error)
{
    slc_mep_reader *r = source->state;
    slc_io_stream *stream = &source->stream;
    while (!r->open) {
        const uint8_t *bytes;
        size_t visible;
        if (stream->offset >= source->until) {
            return SLC_END;
        }
        stream->ahead = stream->placed ? AHEAD : 0;
        slc_status status = slc_io_stream_peek(stream, LOOK, &bytes, &visible, error);
        if (status != SLC_OK || visible == 0) {
            return status != SLC_OK ? status : SLC_END;
        }
        bool found = false;
        status = open_packet(source, r, bytes, visible, faults, &found, error);
        if (status != SLC_OK) {
            return status;
        }
        if (found && source->walks) {
            source->totals.events += r->packet.n_events;
            r->open = false;
            status = pass(source, r->end - r->record, error);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    if (!stream->placed) { /* what was shown may have moved */
        const slc_status status = find_bytes(source, r, r->end - r->record, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    return take(source, r, max_events, max_bytes, batch, faults, error);
}

const slc_io_format_table slc_io_mep_format = {
    .name = "mep",
    .content = SLC_IO_RAW_EVENTS,
    .probe = probe,
    .open = open_mep,
    .close = close_mep,
    .read_events = read_events,
};
