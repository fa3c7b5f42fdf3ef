/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading events of CMS's pixel fragments (docs/formats/cms-raw.md). An event does not say how long it is:
 * its end is found by walking over its fragments, with the decoder's steps, so that an event goes out whole
 * whatever is damaged in it, and the decoder says what. Where bytes are lost or added all that follows is
 * moved: so after damage every byte may begin the next event. What is told here is damage between events,
 * and an input that is cut.
 */
#include "base/bytes.h"
#include "cms/cms_fragment.h"
#include "io/cms/io_cms_scout.h"
#include "io/io_source.h"

enum {
    EVENT_START = SLC_CMS_EVENT_HEAD + SLC_CMS_FRAGMENT_START,
    WINDOW = 1 << 16,
    UNSURE = SLC_CMS_EVENT_HEAD + SLC_CMS_EVENT_START /* shows whether an event begins here or close by */
};

static bool probe(const uint8_t *bytes, size_t size, const slc_io_config *config)
{
    (void)config;
    for (size_t at = 0; at + EVENT_START <= size; at++) {
        if (slc_cms_event_begins(bytes + at, size - at)) {
            return true;
        }
    }
    return false;
}

static slc_status open_cms(slc_io_source *source, slc_error *error)
{
    (void)source;
    (void)error;
    return SLC_OK;
}

static void close_cms(slc_io_source *source)
{
    slc_cms_scouts_close(source->state);
}

slc_status slc_io_cms_look_ahead(slc_io_source *source, const slc_cms_looking *how, slc_error *error)
{
    slc_cms_scouts *scouts = NULL;
    const bool possible = source->format == &slc_io_cms_format && source->stream.placed &&
                          source->state == NULL;
    const slc_status status = possible ? slc_cms_scouts_open(&source->stream, source->config.max_event_bytes,
                                                             how, &scouts, error)
                                       : SLC_OK;
    source->state = scouts != NULL ? scouts : source->state;
    return status;
}

bool slc_io_cms_looked(const slc_io_source *source)
{
    return source->format == &slc_io_cms_format && source->state != NULL &&
           slc_cms_scouts_spent(source->state);
}

/* ---- where an event begins --------------------------------------------------------------------- */

static bool is_hole(const uint8_t *bytes, size_t size)
{
    size_t n = 0;
    while (n < SLC_CMS_HOLE && n < size && bytes[n] == 0) {
        n++;
    }
    return n == SLC_CMS_HOLE;
}

/* Whether the bytes at hand are an event, in the place where one should be: the number of fragments may be
 * damaged, or the first fragment, not both; and none may begin at the next bytes, after some that are too
 * many. */
static bool can_begin(const uint8_t *bytes, size_t size)
{
    if (slc_cms_event_begins(bytes, size)) {
        return true;
    }
    if (slc_load_u32(bytes) > SLC_CMS_EVENT_FRAGMENTS) {
        return slc_cms_fragments_begin(bytes + SLC_CMS_EVENT_HEAD, size - SLC_CMS_EVENT_HEAD, SLC_CMS_FEDS);
    }
    for (size_t at = 1; at < SLC_CMS_EVENT_HEAD; at++) {
        if (slc_cms_event_begins(bytes + at, size - at)) {
            return false;
        }
    }
    return !is_hole(bytes, size);
}

/* Consumes `from` bytes, and more up to the beginning of an event, or all. */
static slc_status resynchronise(slc_io_source *source, size_t from, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    slc_io_stream_skip(stream, from);
    for (;;) {
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(stream, WINDOW, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        const size_t start = stream->at_end ? EVENT_START : SLC_CMS_EVENT_START;
        size_t at = 0;
        for (; at + start <= visible; at++) {
            if (slc_cms_event_begins(bytes + at, visible - at)) {
                slc_io_stream_skip(stream, at);
                return SLC_OK;
            }
        }
        slc_io_stream_skip(stream, stream->at_end ? visible : at);
        if (stream->at_end) {
            return SLC_OK;
        }
    }
}

/* ---- where it ends ----------------------------------------------------------------------------- */

bool slc_cms_walk(const slc_cms_view *view, uint32_t fragments, uint32_t *walked, slc_cms_extent *found,
                  size_t *want)
{
    while (true) {
        const size_t at = found->size;
        if (*walked >= fragments) {
            /* The number may be too small: a fragment here says so. */
            if (view->size < at + SLC_CMS_FRAGMENT_START && !view->whole) {
                *want = at + SLC_CMS_FRAGMENT_START;
                return false;
            }
            if (!slc_cms_fragment_begins(view->bytes + at, view->size - at) &&
                !slc_cms_fragment_is_empty(view->bytes + at, view->size - at)) {
                return true;
            }
        }
        slc_cms_fragment fragment;
        switch (slc_cms_fragment_next(view, at, &fragment)) {
        case SLC_CMS_STEP_MORE:
            *want = fragment.want;
            return false;
        case SLC_CMS_STEP_LARGE:
            found->large = true;
            return true;
        case SLC_CMS_STEP_END:
            found->cut = view->whole && at == view->size && *walked < fragments;
            return true;
        case SLC_CMS_STEP_LOST:
            found->cut = view->whole && fragment.end == view->size;
            break;
        case SLC_CMS_STEP_FRAGMENT:
        case SLC_CMS_STEP_EMPTY:
            break;
        }
        ++*walked;
        found->size = fragment.end;
    }
}

static slc_status find_end(slc_io_source *source, slc_cms_extent *found, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    *found = (slc_cms_extent){.size = SLC_CMS_EVENT_HEAD};
    uint32_t walked = 0;
    for (size_t want = EVENT_START;;) {
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(stream, want, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        const slc_cms_view view = {.bytes = bytes,
                                   .size = visible,
                                   .whole = stream->at_end,
                                   .stream = true,
                                   .limit = source->config.max_event_bytes};
        uint32_t fragments = slc_load_u32(bytes);
        if (fragments > SLC_CMS_EVENT_FRAGMENTS) {
            fragments = SLC_CMS_EVENT_FRAGMENTS;
        }
        if (slc_cms_walk(&view, fragments, &walked, found, &want)) {
            found->large = found->large || found->size > source->config.max_event_bytes;
            return SLC_OK;
        }
    }
}

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status lose_bytes(slc_io_source *source, size_t visible, slc_faults *faults, slc_error *error)
{
    const uint64_t offset = source->stream.offset;
    if (visible < SLC_CMS_EVENT_HEAD) {
        slc_io_lose(source, faults, SLC_FAULT_RECORD_TRUNCATED, offset,
                    "byte %llu: an event begins with %d bytes, %zu are left", (unsigned long long)offset,
                    SLC_CMS_EVENT_HEAD, visible);
        slc_io_stream_skip(&source->stream, visible);
        return SLC_OK;
    }
    slc_io_lose(source, faults, SLC_FAULT_RECORD_HEADER, offset,
                "byte %llu: no event begins here: skipped to the next one", (unsigned long long)offset);
    return resynchronise(source, 1, error);
}

static slc_status take_event(slc_io_source *source, slc_batch *batch, slc_faults *faults, bool *lost,
                             slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    const uint64_t offset = stream->offset;
    const unsigned long long where = offset;
    slc_cms_extent found;
    slc_status status = find_end(source, &found, error);
    if (status != SLC_OK) {
        return status;
    }
    *lost = found.large;
    if (found.large) {
        slc_io_lose(source, faults, SLC_FAULT_RECORD_HEADER, offset,
                    "byte %llu: an event does not end within the %zu bytes allowed", where,
                    source->config.max_event_bytes);
        return resynchronise(source, SLC_CMS_EVENT_HEAD, error);
    }
    const uint8_t *bytes;
    size_t visible;
    status = slc_io_stream_peek(stream, found.size, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    if (found.cut) {
        slc_io_note(source, faults, SLC_FAULT_RECORD_TRUNCATED, offset,
                    "byte %llu: the input ends inside this event", where);
    }
    const bool absent = !found.cut && source->deferred != source->own && stream->placed;
    slc_io_unfinished event = {.in_file = stream->base + offset};
    if ((absent ? slc_io_defer_bytes(source->deferred, batch, found.size, offset, &event)
                : slc_batch_append(batch, bytes, found.size, offset)) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: byte %llu: no memory for an event of %zu bytes",
                        stream->name, where, found.size);
    }
    slc_io_stream_skip(stream, found.size);
    return SLC_OK;
}

/* An event whose end a scout has found is in his piece, or stays in its file: who finishes the batch reads
 * it. SLC_END: it is for the next batch, as this one lies elsewhere. */
static slc_status take_scouted(slc_io_source *source, slc_batch *batch, bool *taken, slc_error *error)
{
    slc_io_stream *stream = &source->stream;
    const uint64_t offset = stream->offset;
    slc_io_deferred *deferred = source->deferred;
    slc_io_unfinished event = {.in_file = stream->base + offset};
    slc_io_shared *shared = NULL;
    size_t at = 0;
    const bool asks = source->state != NULL && deferred != source->own;
    const size_t size = asks ? slc_cms_scouts_ask(source->state, offset, &shared, &at) : 0;
    if (batch->n_events > 0 && slc_io_deferred_shared(deferred) != shared) {
        return SLC_END;
    }
    *taken = size > 0 && slc_io_stream_jump(stream, size);
    if (!*taken) {
        return shared != NULL && batch->n_events > 0 ? SLC_END : SLC_OK;
    }
    const slc_status status = shared != NULL ? slc_io_defer_shared(deferred, batch, shared, at, size, offset)
                                             : slc_io_defer_bytes(deferred, batch, size, offset, &event);
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s: no memory for a batch", stream->name);
}

static slc_status read_raw(slc_io_source *source, slc_batch *batch, slc_faults *faults, slc_error *error)
{
    for (bool lost = true; lost;) {
        const uint8_t *bytes;
        size_t visible;
        if (source->stream.offset >= source->until) {
            return SLC_END;
        }
        bool taken = false;
        slc_status status = take_scouted(source, batch, &taken, error);
        if (taken || status != SLC_OK) {
            return status;
        }
        status = slc_io_stream_peek(&source->stream, EVENT_START, &bytes, &visible, error);
        if (status == SLC_OK && visible >= EVENT_START && !slc_cms_event_begins(bytes, EVENT_START)) {
            status = slc_io_stream_peek(&source->stream, UNSURE, &bytes, &visible, error);
        }
        if (status != SLC_OK || visible == 0) {
            return status != SLC_OK ? status : SLC_END;
        }
        if (visible < SLC_CMS_EVENT_HEAD || !can_begin(bytes, visible)) {
            status = lose_bytes(source, visible, faults, error);
        } else {
            status = take_event(source, batch, faults, &lost, error);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

const slc_io_format_table slc_io_cms_format = {
    .name = "cms-raw",
    .content = SLC_IO_CMS_EVENTS,
    .begins = slc_cms_event_begins,
    .probe = probe,
    .open = open_cms,
    .close = close_cms,
    .read_raw = read_raw,
};
