/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading MDF, the files in which LHCb keeps events of raw banks. Records follow each other without an index,
 * so a damaged header loses the way: the reader then looks for the next header and goes on from there. Sizes
 * are kept three times, and two that agree are believed.
 */
#include "base/bytes.h"
#include "io/io_source.h"
#include "io/lhcb/io_mdf_blocks.h"

#include <stdlib.h>
#include <string.h>

/* ---- probing --------------------------------------------------------------------------------- */

/* A file that ends inside its first header still is one if what there is of it fits. */
static bool is_stump(const uint8_t *bytes, size_t size, size_t limit)
{
    slc_mdf_header header;
    if (size >= SLC_MDF_FIXED) {
        return slc_mdf_header_read(bytes, size, limit, &header) == SLC_MDF_SHORT && header.sizes_agree;
    }
    return size >= 12 && slc_load_u32(bytes) == slc_load_u32(bytes + 4) &&
           slc_load_u32(bytes) == slc_load_u32(bytes + 8) && slc_load_u32(bytes) >= SLC_MDF_FIXED &&
           slc_load_u32(bytes) <= limit;
}

static bool probe(const uint8_t *bytes, size_t size, const slc_io_config *config)
{
    slc_mdf_header header;
    const size_t limit = config->max_event_bytes;
    const slc_mdf_verdict verdict = slc_mdf_header_read(bytes, size, limit, &header);
    if (is_stump(bytes, size, limit) || (verdict == SLC_MDF_GOOD && header.sizes_agree)) {
        return true;
    }
    /* The legacy version cannot be read, but it can be told from a file that is something else. */
    if (verdict == SLC_MDF_VERSION && header.sizes_agree && header.version == 0) {
        return true;
    }
    for (size_t at = 0; at + SLC_MDF_FIXED <= size; at++) {
        if (slc_mdf_header_plausible(bytes + at, size - at, limit)) {
            return true;
        }
    }
    return false;
}

static slc_status open_mdf(slc_io_source *source, slc_error *error)
{
    (void)source;
    (void)error;
    return SLC_OK;
}

static void close_mdf(slc_io_source *source)
{
    slc_mdf_unpacker_close(source->state);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Consumes bytes up to the next record that can be recognised after the first byte, or all of them. One that
 * has lost its sizes is lost on its own, so that those after it keep their numbers. */
static slc_status resynchronise(slc_io_source *source, slc_error *error)
{
    enum { WINDOW = 1 << 16 };
    slc_io_stream *stream = &source->stream;
    size_t from = 1;
    for (;;) {
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(stream, WINDOW, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        size_t at = from;
        for (; at + SLC_MDF_PLAUSIBLE <= visible || (stream->at_end && at + SLC_MDF_FIXED <= visible); at++) {
            const size_t limit = source->config.max_event_bytes;
            if (slc_mdf_header_plausible(bytes + at, visible - at, limit) ||
                slc_mdf_header_ruined(bytes + at, visible - at, limit)) {
                slc_io_stream_skip(stream, at);
                return SLC_OK;
            }
        }
        if (stream->at_end) {
            slc_io_stream_skip(stream, visible);
            return SLC_OK;
        }
        slc_io_stream_skip(stream, at);
        from = 0;
    }
}

static slc_status lose_header(slc_io_source *source, slc_mdf_verdict verdict, const slc_mdf_header *header,
                              size_t visible, slc_faults *faults, slc_error *error)
{
    const uint64_t offset = source->stream.offset;
    const unsigned long long where = offset;
    const unsigned version = header->version;
    switch (verdict) {
    case SLC_MDF_SHORT:
        slc_io_lose(source, faults, SLC_FAULT_RECORD_TRUNCATED, offset,
                    "byte %llu: the header of a record needs %u bytes, %zu are left", where,
                    header->header_size, visible);
        break;
    case SLC_MDF_SIZES:
        slc_io_lose(source, faults, SLC_FAULT_RECORD_HEADER, offset,
                    "byte %llu: no record header: the three sizes are %u, %u and %u", where, header->size[0],
                    header->size[1], header->size[2]);
        break;
    case SLC_MDF_VERSION:
        slc_io_lose(source, faults, SLC_FAULT_RECORD_HEADER, offset,
                    "byte %llu: header version %u is not supported (versions 1, 2 and 3 are)", where,
                    version);
        if (header->sizes_agree && header->record_size <= visible) {
            slc_io_stream_skip(&source->stream, header->record_size);
            return SLC_OK;
        }
        break;
    default:
        slc_io_lose(source, faults, SLC_FAULT_RECORD_HEADER, offset,
                    "byte %llu: a record of %u bytes: the header alone takes %u, and at most %zu are allowed",
                    where, header->record_size, header->header_size, source->config.max_event_bytes);
    }
    return resynchronise(source, error);
}

/* ---- records --------------------------------------------------------------------------------- */

static slc_status no_memory(const slc_io_source *source, size_t size, slc_error *error)
{
    return slc_io_stream_fail(&source->stream, error, SLC_ERR_MEMORY, source->stream.offset,
                              "no memory for an event of %zu bytes", size);
}

/* Appends an event of `size` bytes that the caller fills at *room. */
static slc_status append_room(slc_batch *batch, size_t size, uint64_t offset, uint8_t **room)
{
    slc_status status = slc_batch_reserve(batch, batch->size + 8 + size, batch->n_events + 1);
    if (status == SLC_OK) {
        status = slc_batch_append(batch, NULL, 0, offset);
    }
    if (status == SLC_OK) {
        *room = batch->bytes + batch->size;
        batch->length[batch->n_events - 1] = size;
        batch->size += size;
    }
    return status;
}

static slc_status expand_event(slc_io_source *source, const uint8_t *payload, size_t size, slc_batch *batch,
                               slc_faults *faults, bool *lost, slc_error *error)
{
    const uint64_t offset = source->stream.offset;
    const uint32_t n_before = batch->n_events;
    const size_t size_before = batch->size;
    const char *why = NULL;
    size_t expanded = 0;
    slc_status status = slc_mdf_blocks_size(payload, size, source->config.max_event_bytes, &expanded, &why);
    if (status == SLC_OK) {
        uint8_t *room = NULL;
        if (source->state == NULL && (source->state = slc_mdf_unpacker_open()) == NULL) {
            return no_memory(source, expanded, error);
        }
        if (append_room(batch, expanded, offset, &room) != SLC_OK) {
            return no_memory(source, expanded, error);
        }
        status = slc_mdf_blocks_expand(source->state, payload, size, room, &why);
    }
    *lost = status != SLC_OK;
    if (*lost) {
        batch->n_events = n_before;
        batch->size = size_before;
        slc_io_lose(source, faults, SLC_FAULT_RECORD_COMPRESSION, offset, "byte %llu: %s",
                    (unsigned long long)offset, why);
    }
    return SLC_OK;
}

static bool is_hashed(const slc_io_source *source, const slc_mdf_header *header)
{
    return header->checksum != 0 && source->config.verify_checksum;
}

/* Puts off what takes long of a record that is good so far. *done is false if there is nothing to put off,
 * or something is wrong with it that is better told at once. */
static slc_status defer_record(slc_io_source *source, const slc_mdf_header *header, const uint8_t *bytes,
                               slc_batch *batch, bool *done, slc_error *error)
{
    const uint8_t *payload = bytes + header->header_size;
    const size_t size = header->record_size - header->header_size;
    const char *why = NULL;
    slc_io_unfinished event = {.event = batch->n_events,
                               .hashed = is_hashed(source, header),
                               .checksum = header->checksum,
                               .packed = header->compression != 0};
    *done = header->sizes_agree && header->data_type == SLC_MDF_BANKS &&
            header->compression <= SLC_MDF_LAST_ZIP && (event.hashed || event.packed) &&
            (!event.packed || slc_mdf_blocks_size(payload, size, source->config.max_event_bytes,
                                                  &event.expanded, &why) == SLC_OK);
    if (!*done) {
        return SLC_OK;
    }
    event.hash = slc_mdf_hash(0, bytes + SLC_MDF_HASHED_FROM, header->header_size - SLC_MDF_HASHED_FROM);
    if (slc_batch_append(batch, payload, size, source->stream.offset) != SLC_OK) {
        return no_memory(source, size, error);
    }
    if (slc_io_defer(source->deferred, &event) != SLC_OK) {
        batch->n_events--; /* an event that nobody would finish */
        return no_memory(source, size, error);
    }
    return SLC_OK;
}

/* Whether a complete record is one that can be handed out; a fault otherwise. */
static bool acceptable(slc_io_source *source, const slc_mdf_header *header, const uint8_t *bytes,
                       slc_faults *faults)
{
    const uint64_t offset = source->stream.offset;
    const unsigned long long where = offset;
    if (header->data_type != SLC_MDF_BANKS) {
        slc_io_lose(source, faults, SLC_FAULT_RECORD_TYPE, offset,
                    "byte %llu: a record of data type %u, raw banks are type %u", where, header->data_type,
                    (unsigned)SLC_MDF_BANKS);
        return false;
    }
    if (header->compression > SLC_MDF_LAST_ZIP) {
        slc_io_lose(source, faults, SLC_FAULT_RECORD_COMPRESSION, offset,
                    "byte %llu: unknown compression id %u (0 and 1 to %u are known)", where,
                    header->compression, (unsigned)SLC_MDF_LAST_ZIP);
        return false;
    }
    if (is_hashed(source, header)) {
        const uint32_t found = slc_mdf_checksum(bytes + SLC_MDF_HASHED_FROM,
                                                header->record_size - SLC_MDF_HASHED_FROM);
        if (found != header->checksum) {
            slc_io_lose(source, faults, SLC_FAULT_RECORD_CHECKSUM, offset,
                        "byte %llu: the record's checksum is %08x, its bytes give %08x", where,
                        header->checksum, found);
            return false;
        }
        source->totals.checksums++;
    }
    return true;
}

/* What the batch does not hold of the last event's record, for whoever writes it as it came: of a plain one
 * its header, of another one all. */
static slc_status keep_record(const slc_io_source *source, const uint8_t *bytes, size_t size,
                              slc_batch *batch, slc_error *error)
{
    const size_t need = batch->kept_used + size;
    slc_record *record = &batch->record[batch->n_events - 1];
    if (!source->config.keep_records || source->stream.placed) {
        return SLC_OK;
    }
    if (need > batch->kept_capacity) {
        const size_t capacity = need > 2 * batch->kept_capacity ? need : 2 * batch->kept_capacity;
        uint8_t *larger = realloc(batch->kept, capacity);
        if (larger == NULL) {
            return no_memory(source, size, error);
        }
        batch->kept = larger;
        batch->kept_capacity = capacity;
    }
    memcpy(batch->kept + batch->kept_used, bytes, size);
    record->kept_at = batch->kept_used;
    record->kept_size = size;
    batch->kept_used = need;
    return SLC_OK;
}

/* ---- the short way --------------------------------------------------------------------------- */

enum {
    DIRECT_MAX = 1 << 20, /* no memory for what a header merely claims: larger ones come the long way */
    AHEAD_PLAIN = 4096,   /* the next header; what lies after it is copied twice */
    AHEAD_PLACED = 64     /* the same where only headers are looked at */
};

/* What is to be done with a record of which the header is good, and the bytes are not looked at. */
static slc_io_unfinished unfinished(const slc_io_source *source, const slc_mdf_header *header,
                                    const uint8_t *bytes, const slc_batch *batch)
{
    return (slc_io_unfinished){
        .event = batch->n_events,
        .hashed = is_hashed(source, header),
        .hash = slc_mdf_hash(0, bytes + SLC_MDF_HASHED_FROM, header->header_size - SLC_MDF_HASHED_FROM),
        .checksum = header->checksum,
        .packed = header->compression != 0};
}

/* Whether nothing is to be seen of a record before it is in the batch. */
static bool is_direct(const slc_io_source *source, const slc_mdf_header *header)
{
    return header->sizes_agree && header->data_type == SLC_MDF_BANKS && source->stream.file >= 0 &&
           (source->stream.placed ? header->compression <= SLC_MDF_LAST_ZIP
                                  : header->compression == 0 && header->record_size <= DIRECT_MAX);
}

/* Leaves a record of a regular file where it is: who finishes the batch reads it. Of a compressed one its
 * single block must be good so far. *done is false if the file ends inside, or a block is not so. */
static slc_status take_place(slc_io_source *source, const slc_mdf_header *header, const uint8_t *bytes,
                             size_t visible, slc_batch *batch, bool *done, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    slc_io_unfinished event = unfinished(source, header, bytes, batch);
    const size_t size = header->record_size - header->header_size;
    event.in_file = stream->base + stream->offset + header->header_size;
    *done = slc_io_stream_has(stream, header->record_size) &&
            (!event.packed || slc_mdf_block_whole(bytes + header->header_size, visible - header->header_size,
                                                  size, source->config.max_event_bytes, &event.expanded));
    if (!*done) {
        return SLC_OK;
    }
    if (slc_io_defer_bytes(source->deferred, batch, size, stream->offset, &event) != SLC_OK) {
        return no_memory(source, size, error);
    }
    source->totals.compressed += event.packed;
    stream->ahead = header->record_size < AHEAD_PLAIN ? AHEAD_PLAIN : AHEAD_PLACED;
    slc_io_stream_pass(stream, header->record_size);
    return SLC_OK;
}

/* On the way to a part: a record that is an event as far as its header tells is counted and passed over,
 * without a look at its bytes. What its checksum would say of it does not matter, as a lost event has a
 * number, too. */
static bool is_passed(slc_io_source *source, const slc_mdf_header *header)
{
    source->stream.ahead = header->record_size < AHEAD_PLAIN ? AHEAD_PLAIN : AHEAD_PLACED;
    const bool passed = header->sizes_agree && header->data_type == SLC_MDF_BANKS &&
                        header->compression <= SLC_MDF_LAST_ZIP &&
                        slc_io_stream_jump(&source->stream, header->record_size);
    source->totals.events += passed;
    return passed;
}

/* Appends a record's payload to the batch as it is read, without a copy in between; `bytes` shows its header.
 * Where the input ends inside, *done is false and nothing has happened. */
static slc_status take_direct(slc_io_source *source, const slc_mdf_header *header, const uint8_t *bytes,
                              slc_batch *batch, bool *done, slc_error *error)
{
    uint8_t front[SLC_MDF_HEADER];
    const size_t size = header->record_size - header->header_size;
    const uint32_t n_before = batch->n_events;
    const size_t size_before = batch->size;
    const slc_io_unfinished event = unfinished(source, header, bytes, batch);
    uint8_t *room = NULL;
    *done = false;
    source->stream.ahead = AHEAD_PLAIN;
    memcpy(front, bytes, header->header_size);
    if (append_room(batch, size, source->stream.offset, &room) != SLC_OK) {
        return no_memory(source, size, error);
    }
    slc_io_stream_skip(&source->stream, header->header_size);
    slc_status status = slc_io_stream_take(&source->stream, room, size, done, error);
    if (status == SLC_OK && !*done) {
        status = slc_io_stream_give_back(&source->stream, front, header->header_size, error);
    }
    if (status == SLC_OK && *done && event.hashed && slc_io_defer(source->deferred, &event) != SLC_OK) {
        status = no_memory(source, size, error);
    }
    if (status == SLC_OK && *done) {
        status = keep_record(source, front, header->header_size, batch, error);
    }
    if (status != SLC_OK || !*done) {
        batch->n_events = n_before;
        batch->size = size_before;
    }
    return status;
}

/* ---- the long way ---------------------------------------------------------------------------- */

/* One complete record: an event in the batch, or a fault. It is consumed in any case. */
static slc_status take_record(slc_io_source *source, const slc_mdf_header *header, const uint8_t *bytes,
                              slc_batch *batch, slc_faults *faults, bool *lost, slc_error *error)
{
    const uint64_t offset = source->stream.offset;
    bool deferred = false;
    slc_status status = defer_record(source, header, bytes, batch, &deferred, error);
    *lost = !deferred && !acceptable(source, header, bytes, faults);
    if (!*lost && !header->sizes_agree) {
        slc_io_note(source, faults, SLC_FAULT_RECORD_SIZE, offset,
                    "byte %llu: the three sizes of a record are %u, %u and %u: two of them were believed",
                    (unsigned long long)offset, header->size[0], header->size[1], header->size[2]);
    }
    if (!*lost && !deferred) {
        const uint8_t *payload = bytes + header->header_size;
        const size_t size = header->record_size - header->header_size;
        if (header->compression != 0) {
            status = expand_event(source, payload, size, batch, faults, lost, error);
        } else if (slc_batch_append(batch, payload, size, offset) != SLC_OK) {
            status = no_memory(source, size, error);
        }
    }
    if (status == SLC_OK && !*lost) {
        status = keep_record(source, bytes,
                             header->compression != 0 ? header->record_size : header->header_size, batch,
                             error);
    }
    if (status == SLC_OK) {
        source->totals.compressed += !*lost && header->compression != 0 ? 1 : 0;
        slc_io_stream_skip(&source->stream, header->record_size);
    }
    return status;
}

/* What the header of the last event's record tells. */
static void tell_record(const slc_mdf_header *header, slc_batch *batch)
{
    slc_record *record = &batch->record[batch->n_events - 1];
    record->run = header->run;
    record->orbit = header->orbit;
    record->bunch = header->bunch;
    record->known = header->header_size == SLC_MDF_HEADER;
}

static slc_status read_raw(slc_io_source *source, slc_batch *batch, slc_faults *faults, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    /* Not more than there must be of what comes bit by bit. */
    const size_t look = stream->placed ? SLC_MDF_HEADER + SLC_MDF_BLOCK_HEADER : SLC_MDF_HEADER;
    for (bool lost = true; lost;) {
        const uint8_t *bytes;
        size_t visible;
        if (stream->offset >= source->until) {
            return SLC_END;
        }
        slc_status status = slc_io_stream_peek(stream, look, &bytes, &visible, error);
        if (status != SLC_OK || visible == 0) {
            return status != SLC_OK ? status : SLC_END;
        }
        slc_mdf_header header;
        const slc_mdf_verdict verdict = slc_mdf_header_read(bytes, visible, source->config.max_event_bytes,
                                                            &header);
        bool done = false;
        if (verdict == SLC_MDF_GOOD && source->walks && is_passed(source, &header)) {
            continue;
        }
        if (verdict == SLC_MDF_GOOD && is_direct(source, &header)) {
            status = stream->placed ? take_place(source, &header, bytes, visible, batch, &done, error)
                                    : take_direct(source, &header, bytes, batch, &done, error);
            if (status == SLC_OK && done) {
                tell_record(&header, batch);
            }
            if (status != SLC_OK || done) {
                return status;
            }
        }
        stream->ahead = 0;
        if (verdict == SLC_MDF_GOOD || (verdict == SLC_MDF_VERSION && header.sizes_agree)) {
            status = slc_io_stream_peek(stream, header.record_size, &bytes, &visible, error);
        }
        if (status == SLC_OK && verdict != SLC_MDF_GOOD) {
            status = lose_header(source, verdict, &header, visible, faults, error);
        } else if (status == SLC_OK && visible < header.record_size) {
            slc_io_lose(source, faults, SLC_FAULT_RECORD_TRUNCATED, stream->offset,
                        "byte %llu: a record needs %u bytes, %zu are left",
                        (unsigned long long)stream->offset, header.record_size, visible);
            status = resynchronise(source, error);
        } else if (status == SLC_OK) {
            status = take_record(source, &header, bytes, batch, faults, &lost, error);
            if (status == SLC_OK && !lost) {
                tell_record(&header, batch);
            }
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

const slc_io_format_table slc_io_mdf_format = {
    .name = "mdf",
    .content = SLC_IO_RAW_EVENTS,
    .probe = probe,
    .open = open_mdf,
    .close = close_mdf,
    .read_raw = read_raw,
};
