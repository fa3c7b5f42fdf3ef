/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening inputs. The format is found by looking at the first bytes, because names lie and pipes have none.
 * Reading itself is the format's; this file does what is common to all: totals, event numbers, the first
 * damage.
 */
#include "base/bytes.h"
#include "base/config.h"
#include "base/faults.h"
#include "io/io_deferred.h"
#include "io/io_formats.h"
#include "io/io_stream.h"
#include "lhcb/lhcb_identity.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void io_config_default(slc_io_config *config)
{
    *config = (slc_io_config){
        .size = sizeof *config, .verify_checksum = true, .max_event_bytes = (size_t)64 << 20};
}
SLC_CONFIG_DEFAULT(slc_io_config, io_config_default)

/* ---- faults ---------------------------------------------------------------------------------- */

static void record(slc_io_source *source, slc_faults *faults, slc_fault_code code, int32_t module,
                   uint64_t offset, const char *format, va_list arguments)
{
    if (faults != NULL) {
        slc_faults_add(faults, code, source->totals.events, module, offset);
    }
    if (source->damaged) {
        return;
    }
    source->damaged = true;
    source->damage_offset = offset;
    const int n = snprintf(source->damage, sizeof source->damage, "%s: ", source->stream.name);
    const size_t used = n > 0 ? (size_t)n : 0;
    if (used < sizeof source->damage) {
        (void)vsnprintf(source->damage + used, sizeof source->damage - used, format, arguments);
    }
    slc_io_printable(source->damage);
}

void slc_io_note(slc_io_source *source, slc_faults *faults, slc_fault_code code, uint64_t offset,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(source, faults, code, -1, offset, format, arguments);
    va_end(arguments);
}

void slc_io_note_source(slc_io_source *source, slc_faults *faults, slc_fault_code code, int32_t module,
                        uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(source, faults, code, module, offset, format, arguments);
    va_end(arguments);
}

void slc_io_lose(slc_io_source *source, slc_faults *faults, slc_fault_code code, uint64_t offset,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record(source, faults, code, -1, offset, format, arguments);
    va_end(arguments);
    source->totals.lost_events++;
}

void slc_io_settle(slc_io_source *source, const slc_io_losses *losses)
{
    source->totals.checksums += losses->checksums;
    source->totals.lost_events += losses->events;
    source->totals.events -= losses->events;
    source->totals.compressed -= losses->compressed;
    source->totals.incomplete_events += losses->incomplete;
    if (losses->told && (!source->damaged || losses->offset < source->damage_offset)) {
        source->damaged = true;
        source->damage_offset = losses->offset;
        (void)snprintf(source->damage, sizeof source->damage, "%.240s: %s", source->stream.name,
                       losses->text);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static slc_status unknown_format(const slc_io_stream *stream, const uint8_t *bytes, size_t size,
                                 slc_error *error)
{
    if (size == 0) {
        return slc_io_stream_fail(stream, error, SLC_ERR_FORMAT, 0, "the input is empty");
    }
    char hex[3 * 12 + 1], text[12 + 1] = "", known[128] = "";
    for (size_t i = 0; i < 12 && i < size; i++) {
        text[i] = (char)(bytes[i] < 0x80 && isprint(bytes[i]) ? bytes[i] : '.');
    }
    size_t used = 0;
    for (size_t i = 0; slc_io_row_at(i) != NULL && used < sizeof known; i++) {
        if (slc_io_row_at(i)->events != NULL) {
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "",
                                     slc_io_row_at(i)->about.name);
        }
    }
    return slc_fail(error, SLC_ERR_FORMAT, "%s: byte 0: no known format: begins with%s \"%s\"; known are %s",
                    stream->name, slc_io_hex(bytes, size, 12, hex), text, known);
}

/* The format that bytes are of beyond doubt, or NULL. */
static const slc_io_format_table *begins_with(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; slc_io_row_at(i) != NULL; i++) {
        const slc_io_format_table *format = slc_io_row_at(i)->events;
        if (format != NULL && format->begins != NULL && format->begins(bytes, size)) {
            return format;
        }
    }
    return NULL;
}

static slc_status find_format(slc_io_source *source, slc_error *error)
{
    const uint8_t *bytes;
    size_t size;
    /* First on little, so that a live pipe is not held up; then on more, for an input that begins with
     * damage. */
    static const size_t wanted[] = {512, SLC_IO_PROBE_BYTES};
    for (size_t step = 0; step < sizeof wanted / sizeof *wanted; step++) {
        const slc_status status = slc_io_stream_peek(&source->stream, wanted[step], &bytes, &size, error);
        if (status != SLC_OK) {
            return status;
        }
        const slc_io_format_table *sure = size > 0 ? begins_with(bytes, size) : NULL;
        for (size_t i = 0; size > 0 && slc_io_row_at(i) != NULL; i++) {
            const slc_io_format_table *format = slc_io_row_at(i)->events;
            if (format != NULL &&
                (sure != NULL ? format == sure : format->probe(bytes, size, &source->config))) {
                source->format = format;
                return format->open(source, error);
            }
        }
        const char *advice = slc_io_stranger(SLC_IO_KIND_EVENTS, bytes, size);
        if (advice != NULL) {
            return slc_io_stream_fail(&source->stream, error, SLC_ERR_UNSUPPORTED, 0, "this is %s", advice);
        }
    }
    return unknown_format(&source->stream, bytes, size, error);
}

static slc_status open_source(const slc_io_stream *stream, const slc_io_config *config,
                              slc_io_source **source, slc_error *error)
{
    slc_io_source *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        slc_io_stream away = *stream;
        slc_io_stream_close(&away);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for an input");
    }
    opened->stream = *stream;
    opened->until = UINT64_MAX;
    slc_io_config_default(&opened->config);
    slc_status status = config == NULL ? SLC_OK
                                       : slc_config_take(&opened->config, sizeof opened->config, config,
                                                         "slc_io_config", error);
    /* What is to be kept of standard input is read as it comes, be it a file: nobody would find its place
     * again. */
    if (status == SLC_OK && (!opened->config.keep_records || stream->file != STDIN_FILENO)) {
        slc_io_stream_place(&opened->stream);
    }
    status = status == SLC_OK ? find_format(opened, error) : status;
    if (status != SLC_OK) {
        slc_io_close(opened);
        return status;
    }
    *source = opened;
    return SLC_OK;
}

slc_status slc_io_open(const char *path, const slc_io_config *config, slc_io_source **source,
                       slc_error *error)
{
    *source = NULL;
    slc_io_stream stream;
    const slc_status status = slc_io_stream_open(&stream, path, error);
    if (status != SLC_OK) {
        return status;
    }
    return open_source(&stream, config, source, error);
}

slc_status slc_io_open_memory(const void *bytes, size_t size, const char *name, const slc_io_config *config,
                              slc_io_source **source, slc_error *error)
{
    *source = NULL;
    slc_io_stream stream;
    const slc_status status = slc_io_stream_open_memory(&stream, bytes, size, name, error);
    return status == SLC_OK ? open_source(&stream, config, source, error) : status;
}

void slc_io_close(slc_io_source *source)
{
    if (source == NULL) {
        return;
    }
    if (source->format != NULL) {
        source->format->close(source);
    }
    slc_io_deferred_close(source->own);
    slc_io_stream_close(&source->stream);
    free(source);
}

const char *slc_io_format(const slc_io_source *source)
{
    return source->format->name;
}

slc_io_content slc_io_content_of(const slc_io_source *source)
{
    return source->format->content;
}

void slc_io_totals_of(const slc_io_source *source, slc_io_totals *totals)
{
    *totals = source->totals;
    totals->bytes = source->stream.offset;
}

const char *slc_io_damage(const slc_io_source *source)
{
    return source->damaged ? source->damage : NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

static slc_status wrong_content(const slc_io_source *source, slc_error *error)
{
    static const char *const contents[] = {"LHCb's raw banks", "VELO hits", "CMS's fragments"};
    return slc_fail(error, SLC_ERR_USAGE, "%s: %s holds events of %s, which cannot be read this way",
                    source->stream.name, source->format->name, contents[source->format->content]);
}

/* An error after some good events waits: the good ones are handed out first, the next call meets it again.
 */
static slc_status batch_status(slc_status last, uint32_t n_events, const slc_error *reason, slc_error *error)
{
    if (n_events > 0) {
        return SLC_OK;
    }
    return last < 0 ? slc_fail(error, last, "%s", reason->text) : last;
}

/* The number of the record that is read next. What has yielded no event has a number as well. */
static uint64_t next_record(const slc_io_source *source)
{
    return source->totals.events + source->totals.lost_events;
}

slc_status slc_io_read_batch_deferred(slc_io_source *source, uint32_t max_events, size_t max_bytes,
                                      slc_batch *batch, slc_io_deferred *deferred, slc_faults *faults,
                                      slc_error *error)
{
    slc_io_deferred_reset(deferred, source->stream.file);
    slc_batch_reset(batch);
    batch->first_event = source->totals.events;
    slc_error reason = {0};
    /* Events may be empty; their bytes still have an address. */
    slc_status status = slc_batch_reserve(batch, 64, 1);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: no memory for a batch", source->stream.name);
    }
    source->deferred = deferred;
    while (status == SLC_OK &&
           (batch->n_events == 0 ||
            (batch->n_events < max_events && batch->size + slc_io_deferred_growth(deferred) < max_bytes))) {
        if (source->format->read_events != NULL) {
            status = source->format->read_events(source, max_events, max_bytes, batch, faults, &reason);
            continue;
        }
        status = source->format->read_raw(source, batch, faults, &reason);
        if (status == SLC_OK) {
            batch->record[batch->n_events - 1].number = next_record(source);
            source->totals.events++;
        }
    }
    source->deferred = NULL;
    status = batch_status(status, batch->n_events, &reason, error);
    if (status == SLC_OK) {
        batch->sequence = source->batches++;
    }
    return status;
}

/* In two steps as well: records are then verified side by side, which is several times as fast. */
slc_status slc_io_read_batch(slc_io_source *source, uint32_t max_events, size_t max_bytes, slc_batch *batch,
                             slc_faults *faults, slc_error *error)
{
    if (source->format->read_raw == NULL && source->format->read_events == NULL) {
        return wrong_content(source, error);
    }
    slc_status status = source->own == NULL ? slc_io_deferred_open(&source->own, error) : SLC_OK;
    bool again = true; /* no event may have been left */
    while (status == SLC_OK && again) {
        slc_faults found;
        slc_io_losses losses = {.events = 0};
        slc_faults_reset(&found);
        status = slc_io_read_batch_deferred(source, max_events, max_bytes, batch, source->own, &found, error);
        status = status == SLC_OK ? slc_io_finish_batch(batch, source->own, &found, error) : status;
        if (faults != NULL) {
            slc_faults_merge(faults, &found);
        }
        again = status == SLC_OK && batch->n_events == 0;
        if (status == SLC_OK) {
            slc_io_losses_add(&losses, source->own);
            slc_io_settle(source, &losses);
            source->batches -= again;
        }
    }
    return status;
}

/* An event of hits tells its place and nothing else. */
static void append_place(const slc_io_source *source, slc_lhcb_events *events)
{
    if (events != NULL) {
        const size_t i = events->head.size++;
        slc_lhcb_identity_none(events, i);
        events->record[i] = next_record(source);
        events->offset_bytes[i] = source->event_offset;
        slc_columns_end_event(events);
    }
}

static slc_status reserve_event(slc_velo_hits *hits, slc_velo_truth *truth, slc_lhcb_events *places)
{
    const uint32_t now = hits->head.n_events;
    if (now == UINT32_MAX) {
        return SLC_ERR_CAPACITY;
    }
    /* Doubling keeps the cost of many small events linear. */
    const uint32_t events = now < hits->head.event_capacity ? now + 1
                            : now < UINT32_MAX / 2          ? 2 * now + 1
                                                            : UINT32_MAX;
    slc_status status = slc_columns_reserve(&slc_velo_hits_schema, hits, hits->head.size, events);
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_particles_schema, &truth->particles,
                                     truth->particles.head.size, events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_particle_ids_schema, &truth->ids, truth->ids.head.size,
                                     events);
    }
    if (status == SLC_OK) {
        status = slc_columns_reserve(&slc_velo_vertices_schema, &truth->vertices, truth->vertices.head.size,
                                     events);
    }
    if (status == SLC_OK && places != NULL) {
        status = slc_columns_reserve(&slc_lhcb_events_schema, places, events, events);
    }
    return status;
}

slc_status slc_io_read_velo_hits(slc_io_source *source, uint32_t max_events, slc_velo_hits *hits,
                                 slc_velo_truth *truth, slc_lhcb_events *events, slc_faults *faults,
                                 slc_error *error)
{
    if (source->format->read_hits == NULL) {
        return wrong_content(source, error);
    }
    slc_velo_truth unwanted = {0};
    slc_velo_truth *kept = truth != NULL ? truth : &unwanted;
    slc_columns_reset(hits);
    slc_velo_truth_reset(kept);
    if (events != NULL) {
        slc_columns_reset(events);
    }
    slc_error reason = {0};
    slc_status status = SLC_OK;
    while (status == SLC_OK && (hits->head.n_events == 0 || hits->head.n_events < max_events)) {
        status = reserve_event(hits, kept, events);
        if (status != SLC_OK) {
            slc_fail(&reason, status, "%s: byte %llu: no memory for one event more", source->stream.name,
                     (unsigned long long)source->stream.offset);
            break;
        }
        status = source->stream.offset < source->until
                     ? source->format->read_hits(source, hits, kept, faults, &reason)
                     : SLC_END;
        if (status == SLC_OK) {
            append_place(source, events);
            source->totals.events++;
        }
    }
    slc_velo_truth_clear(&unwanted);
    return batch_status(status, hits->head.n_events, &reason, error);
}

/* ---- small files ----------------------------------------------------------------------------- */

slc_status slc_io_read_file(const char *path, size_t limit, void **bytes, size_t *size, slc_error *error)
{
    *bytes = NULL;
    *size = 0;
    slc_io_stream stream;
    slc_status status = slc_io_stream_open(&stream, path, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint8_t *seen = NULL;
    size_t n = 0;
    status = slc_io_stream_peek(&stream, limit < SIZE_MAX ? limit + 1 : limit, &seen, &n, error);
    if (status == SLC_OK && n > limit) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: byte %zu: larger than the %zu bytes allowed here",
                          stream.name, limit, limit);
    }
    if (status == SLC_OK) {
        *bytes = malloc(n > 0 ? n : 1);
        if (*bytes == NULL) {
            status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for %zu bytes", stream.name, n);
        } else if (n > 0) {
            memcpy(*bytes, seen, n);
            *size = n;
        }
    }
    slc_io_stream_close(&stream);
    return status;
}

slc_status slc_io_read_velo_beamline(const char *path, float *x_mm, float *y_mm, slc_error *error)
{
    enum { BYTES = 8 };
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, BYTES, &bytes, &size, error);
    if (status != SLC_OK) {
        return status;
    }
    if (size != BYTES) {
        free(bytes);
        return slc_fail(error, SLC_ERR_FORMAT, "%s: a beam line is %d bytes, two floats, not %zu", path,
                        BYTES, size);
    }
    float at[2] = {0, 0};
    for (size_t i = 0; i < 2 && status == SLC_OK; i++) {
        const uint32_t word = slc_load_u32((const uint8_t *)bytes + 4 * i);
        memcpy(&at[i], &word, sizeof word);
        if (!(at[i] >= -1000 && at[i] <= 1000)) {
            status = slc_fail(error, SLC_ERR_FORMAT,
                              "%s: byte %zu: %c of the beam line is %g mm, must be from "
                              "-1000 to 1000",
                              path, 4 * i, i == 0 ? 'x' : 'y', (double)at[i]);
        }
    }
    free(bytes);
    if (status == SLC_OK) {
        *x_mm = at[0];
        *y_mm = at[1];
    }
    return status;
}

/* ---- faults ------------------------------------------------------------------------------------ */

#define IN_INPUT "event %e, byte %o of the input"
static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_RECORD_HEADER, "record_header", "no record header here; bytes skipped up to the next one",
     IN_INPUT},
    {SLC_FAULT_RECORD_SIZE, "record_size",
     "one of the three copies of the record size differs; majority used", IN_INPUT},
    {SLC_FAULT_RECORD_TRUNCATED, "record_truncated", "the stream ends inside a record", IN_INPUT},
    {SLC_FAULT_RECORD_CHECKSUM, "record_checksum", "the record's checksum does not match; event dropped",
     IN_INPUT},
    {SLC_FAULT_RECORD_COMPRESSION, "record_compression", "the record cannot be decompressed; event dropped",
     IN_INPUT},
    {SLC_FAULT_RECORD_TYPE, "record_type", "the record does not hold raw banks; event dropped", IN_INPUT},
    {SLC_FAULT_RECORD_UNREADABLE, "record_unreadable", "the system could not read the record; event dropped",
     IN_INPUT},
    {SLC_FAULT_PACKET_HEADER, "packet_header", "no packet of events can be read here; dropped", IN_INPUT},
    {SLC_FAULT_PACKET_BLOCK, "packet_block", "a source's block is damaged; its packet's events lack it",
     "event %e, source %m, byte %o of the input"},
    {SLC_FAULT_PACKET_ERROR, "packet_error",
     "an error of the event builder in place of a source's data; its event lacks it",
     "event %e, source %m, packet at byte %o of the input"},
    {SLC_FAULT_EVENT_SHAPE, "event_shape", "not an event of this format; event dropped", IN_INPUT},
};
SLC_FAULTS_REGISTER(fault_kinds)
