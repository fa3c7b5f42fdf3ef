/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading VELO events in JSON: one object an event, several one after another in a stream. Where an event
 * begins and ends is found by counting brackets before it is parsed: that keeps memory bounded, and lets the
 * reader go on after an event that is damaged. docs/formats/velo-json.md.
 */
#include "io/lhcb/io_velojson.h"
#include "io/io_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parsed JSON takes some thirty times the room of its text, so events may have only a part of the general
 * limit. */
enum { LIMIT_PART = 4 };

typedef struct json_state {
    uint64_t line; /* of the stream's next byte, from 1 */
} json_state;

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_text(uint8_t c)
{
    return c >= 0x20 || is_space(c);
}

static bool probe(const uint8_t *bytes, size_t size, const slc_io_config *config)
{
    (void)config;
    size_t at = 0;
    while (at < size && is_space(bytes[at])) {
        at++;
    }
    if (at == size || (bytes[at] != '{' && bytes[at] != '[')) {
        return false;
    }
    for (size_t i = 0; i < 64 && at + i < size; i++) {
        if (!is_text(bytes[at + i])) {
            return false;
        }
    }
    return true;
}

static slc_status open_json(slc_io_source *source, slc_error *error)
{
    json_state *state = malloc(sizeof *state);
    if (state == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", source->stream.name);
    }
    *state = (json_state){.line = 1};
    source->state = state;
    return SLC_OK;
}

static void close_json(slc_io_source *source)
{
    free(source->state);
}

/* ---- where events begin and end -------------------------------------------------------------- */

typedef enum scan_result {
    SCAN_MORE = 0,
    SCAN_COMPLETE, /* the value ends with this byte */
    SCAN_NEXT      /* this byte cannot belong to the value: another event begins with it */
} scan_result;

typedef struct json_scan {
    size_t depth;
    bool in_string, escaped;
    uint8_t before; /* the last byte outside strings that is not a space */
} json_scan;

static scan_result scan_byte(json_scan *scan, uint8_t c)
{
    if (scan->in_string) {
        /* Strings hold no line ends: one there means that a quote was lost. */
        scan->in_string = c != '\n' && (scan->escaped || c != '"');
        scan->escaped = scan->in_string && !scan->escaped && c == '\\';
        return SCAN_MORE;
    }
    if (is_space(c)) {
        return SCAN_MORE;
    }
    /* An object inside a value follows one of these: any other begins a new event, and this one is
     * incomplete. */
    if (c == '{' && scan->depth > 0 && scan->before != ':' && scan->before != '[' && scan->before != ',') {
        return SCAN_NEXT;
    }
    scan->before = c;
    scan->in_string = c == '"';
    if (c == '{' || c == '[') {
        scan->depth++;
    } else if ((c == '}' || c == ']') && --scan->depth == 0) {
        return SCAN_COMPLETE;
    }
    return SCAN_MORE;
}

static size_t size_limit(const slc_io_source *source)
{
    const size_t limit = source->config.max_event_bytes / LIMIT_PART;
    return limit > 0 ? limit : 1;
}

/* Consumes bytes, counting lines. */
static void consume(slc_io_source *source, const uint8_t *bytes, size_t size)
{
    json_state *state = source->state;
    for (size_t i = 0; i < size; i++) {
        state->line += bytes[i] == '\n' ? 1 : 0;
    }
    slc_io_stream_skip(&source->stream, size);
}

static bool is_not_space(uint8_t c)
{
    return !is_space(c);
}

static bool opens_object(uint8_t c)
{
    return c == '{';
}

/* Consumes up to the next byte that satisfies the condition; SLC_END if there is none. */
static slc_status skip_to(slc_io_source *source, bool (*wanted)(uint8_t c), slc_error *error)
{
    for (;;) {
        const uint8_t *bytes;
        size_t visible, at = 0;
        const slc_status status = slc_io_stream_peek(&source->stream, 1, &bytes, &visible, error);
        if (status != SLC_OK || visible == 0) {
            return status != SLC_OK ? status : SLC_END;
        }
        while (at < visible && !wanted(bytes[at])) {
            at++;
        }
        const bool found = at < visible;
        consume(source, bytes, at);
        if (found) {
            return SLC_OK;
        }
    }
}

/* Shows the next event's bytes. *complete is false if it is cut short: by the end of the stream, by
 * another event, or by the limit on its size. */
static slc_status find_event(slc_io_source *source, json_scan *scan, const uint8_t **bytes, size_t *size,
                             bool *complete, slc_error *error)
{
    *complete = false;
    *size = 0;
    for (;;) {
        size_t visible;
        const slc_status status = slc_io_stream_peek(&source->stream, *size + 1, bytes, &visible, error);
        if (status != SLC_OK || visible <= *size) {
            return status;
        }
        while (*size < visible) {
            if (*size >= size_limit(source)) {
                return SLC_OK;
            }
            const scan_result result = scan_byte(scan, (*bytes)[*size]);
            if (result == SCAN_NEXT) {
                return SLC_OK;
            }
            ++*size;
            if (result == SCAN_COMPLETE) {
                *complete = true;
                return SLC_OK;
            }
        }
    }
}

/* Consumes what is left of an event. */
static slc_status discard_event(slc_io_source *source, json_scan *scan, slc_error *error)
{
    for (scan_result result = SCAN_MORE; result == SCAN_MORE;) {
        const uint8_t *bytes;
        size_t visible, at = 0;
        const slc_status status = slc_io_stream_peek(&source->stream, 1, &bytes, &visible, error);
        if (status != SLC_OK || visible == 0) {
            return status;
        }
        while (at < visible && result == SCAN_MORE) {
            result = scan_byte(scan, bytes[at]);
            at += result != SCAN_NEXT ? 1 : 0;
        }
        consume(source, bytes, at);
    }
    return SLC_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void lose(slc_io_source *source, slc_faults *faults, const char *reason)
{
    const json_state *state = source->state;
    const uint64_t offset = source->stream.offset;
    slc_io_lose(source, faults, SLC_FAULT_EVENT_SHAPE, offset, "byte %llu: line %llu: %s",
                (unsigned long long)offset, (unsigned long long)state->line, reason);
}

/* The parser's words, with the line counted from the beginning of the stream. */
static void lose_syntax(slc_io_source *source, slc_faults *faults, const json_error_t *wrong)
{
    const json_state *state = source->state;
    const uint64_t offset = source->stream.offset + (wrong->position > 0 ? (uint64_t)wrong->position : 0);
    const uint64_t line = state->line + (wrong->line > 1 ? (uint64_t)wrong->line - 1 : 0);
    slc_io_lose(source, faults, SLC_FAULT_EVENT_SHAPE, offset, "byte %llu: line %llu: not JSON: %s",
                (unsigned long long)offset, (unsigned long long)line, wrong->text);
}

static slc_status parse_event(slc_io_source *source, const uint8_t *bytes, size_t size, slc_velo_hits *hits,
                              slc_velo_truth *truth, slc_faults *faults, bool *lost, slc_error *error)
{
    json_error_t wrong = {.position = 0};
    slc_velojson_reason reason = {{0}};
    json_t *event = json_loadb((const char *)bytes, size, 0, &wrong);
    slc_status status = SLC_ERR_FORMAT;
    if (event == NULL) {
        lose_syntax(source, faults, &wrong);
    } else {
        status = slc_velojson_event(event, hits, truth, &reason);
        if (status == SLC_ERR_FORMAT) {
            lose(source, faults, reason.text);
        }
    }
    json_decref(event);
    *lost = status == SLC_ERR_FORMAT;
    if (status == SLC_ERR_MEMORY) {
        return slc_fail(error, status, "%s: byte %llu: no memory for an event", source->stream.name,
                        (unsigned long long)source->stream.offset);
    }
    return SLC_OK;
}

/* What find_event() showed of an event that is not complete. */
static slc_status lose_part(slc_io_source *source, json_scan *scan, const uint8_t *bytes, size_t size,
                            slc_faults *faults, slc_error *error)
{
    char reason[128];
    const bool too_large = size >= size_limit(source);
    if (too_large) {
        (void)snprintf(reason, sizeof reason, "an event of more than %zu bytes", size_limit(source));
    } else if (source->stream.at_end && source->stream.begin + size == source->stream.end) {
        (void)snprintf(reason, sizeof reason, "the input ends inside an event, after %zu of its bytes", size);
    } else {
        (void)snprintf(reason, sizeof reason, "an event is cut short after %zu bytes: another begins there",
                       size);
    }
    lose(source, faults, reason);
    consume(source, bytes, size);
    return too_large ? discard_event(source, scan, error) : SLC_OK;
}

/* Consumes one event, or one stretch that is none. SLC_END at the end of the stream. */
static slc_status take_event(slc_io_source *source, slc_velo_hits *hits, slc_velo_truth *truth,
                             slc_faults *faults, bool *lost, slc_error *error)
{
    const uint8_t *bytes;
    size_t size;
    bool complete;
    json_scan scan = {0};
    *lost = true;
    slc_status status = skip_to(source, is_not_space, error);
    if (status == SLC_OK) {
        source->event_offset = source->stream.offset;
        status = slc_io_stream_peek(&source->stream, 1, &bytes, &size, error);
    }
    if (status == SLC_OK && bytes[0] != '{' && bytes[0] != '[') {
        lose(source, faults, "an event must begin with '{'");
        return skip_to(source, opens_object, error);
    }
    if (status == SLC_OK) {
        status = find_event(source, &scan, &bytes, &size, &complete, error);
    }
    if (status == SLC_OK && !complete) {
        return lose_part(source, &scan, bytes, size, faults, error);
    }
    if (status == SLC_OK) {
        status = parse_event(source, bytes, size, hits, truth, faults, lost, error);
    }
    if (status == SLC_OK) {
        consume(source, bytes, size);
    }
    return status;
}

static slc_status read_hits(slc_io_source *source, slc_velo_hits *hits, slc_velo_truth *truth,
                            slc_faults *faults, slc_error *error)
{
    for (bool lost = true; lost;) {
        const slc_status status = take_event(source, hits, truth, faults, &lost, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    slc_columns_end_event(hits);
    slc_velo_truth_end_event(truth);
    return SLC_OK;
}

const slc_io_format_table slc_io_velojson_format = {
    .name = "velo-json",
    .content = SLC_IO_VELO_HITS,
    .probe = probe,
    .open = open_json,
    .close = close_json,
    .read_hits = read_hits,
};
