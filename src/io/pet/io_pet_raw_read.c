/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading raw files, block by block. A block is given out when its hash is right; where it is not, or no head
 * stands where one must, the next good head is searched for byte by byte, and what lies between is one fault.
 * The last block may be cut by the end of the file, as a program that was killed leaves it: its whole
 * datagrams are given, which no hash can confirm.
 */
#include "io/io_stream.h"
#include "io/pet/io_pet_raw.h"
#include "io/pet/io_pet_sequence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 1 << 16 /* bytes that are searched at once */ };
static const double patience = 1; /* seconds for which frames that are there wait for more */

struct slc_io_pet_raw {
    slc_io_stream stream;
    slc_io_pet_raw_head head;
    slc_io_pet_raw_info info;
    slc_io_pet_block block;
    slc_io_pet_watch *watch; /* over sequence counters; NULL: there are none */
    slc_io_pet_taken taken;  /* with is_taken: what is used of the datagram; of records: their frames */
    slc_io_pet_records records;
    slc_io_pet_format *format; /* that its head tells; NULL: none */
    uint64_t skipped;          /* where damage began */
    uint64_t datagram_ns;      /* when the one at hand was received */
    uint64_t goes_on_at; /* with goes_on: the first block is to be this one of the acquisition, or counters
                          * begin anew */
    uint64_t bare_frames,
        until;                /* until: in units of 16 bytes, of a part that ends before the file; 0: all */
    uint64_t *received_ns;    /* of the call at hand; NULL: not wanted */
    uint32_t datagram, frame; /* the next to be given: datagram of the block, frame of those `taken` of it */
    bool bare, has_head;
    bool lost;   /* between blocks: the place of the next one is not known */
    bool told;   /* what is searched over is in the faults */
    bool inside; /* a block is being given out */
    bool cut;    /* it is the last one, and not whole */
    bool is_taken, goes_on;
    bool part_ended;
};

static void note(slc_faults *faults, slc_fault_code code, uint64_t datagram, uint64_t offset)
{
    if (faults != NULL) {
        slc_faults_add(faults, code, datagram, -1, offset);
    }
}

/* ---- opening ----------------------------------------------------------------------------------- */

static size_t find_block(const uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at + SLC_PET_RAW_BLOCK <= n; at++) {
        const uint8_t *found = memchr(bytes + at, slc_io_pet_block_magic[0], n - SLC_PET_RAW_BLOCK + 1 - at);
        if (found == NULL) {
            break;
        }
        at = (size_t)(found - bytes);
        if (slc_io_pet_block_is_good(found)) {
            return at;
        }
    }
    return SIZE_MAX;
}

/* A raw file whose own head is damaged is known by its first block. */
static slc_status look_for_blocks(slc_io_pet_raw *raw, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t n = 0;
    const slc_status status = slc_io_stream_peek(&raw->stream, WINDOW, &bytes, &n, error);
    if (status == SLC_OK) {
        raw->bare = find_block(bytes, n < WINDOW ? n : WINDOW) == SIZE_MAX;
        raw->lost = !raw->bare;
    }
    return status;
}

/* The text behind the head. Where it is damaged, blocks tell that their frames need one. */
static slc_status read_format(slc_io_pet_raw *raw, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t n = 0;
    const uint32_t size = raw->head.format_bytes;
    slc_status status = slc_io_stream_peek(&raw->stream, size, &bytes, &n, error);
    if (status != SLC_OK) {
        return status;
    }
    if (n < size || slc_io_pet_raw_hash(bytes, size) != raw->head.format_hash) {
        raw->lost = true;
        return SLC_OK;
    }
    char name[256];
    (void)snprintf(name, sizeof name, "%.200s: the format in its head", raw->stream.name);
    status = slc_io_pet_format_read_memory((const char *)bytes, size, name, &raw->format, error);
    slc_io_stream_skip(&raw->stream, size);
    return status == SLC_OK ? slc_io_pet_raw_use_format(raw, raw->format, NULL, error) : status;
}

static slc_status begin(slc_io_pet_raw *raw, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t n = 0;
    slc_status status = slc_io_stream_peek(&raw->stream, SLC_PET_RAW_HEAD, &bytes, &n, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t magic = sizeof slc_io_pet_raw_magic;
    const char *stranger = slc_io_pet_singles_end(raw->stream.file) ? "a file of singles"
                                                                    : slc_io_pet_raw_stranger(bytes, n);
    if (stranger != NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte 0: this is %s, not frames", raw->stream.name,
                        stranger);
    }
    if (n < magic || memcmp(bytes, slc_io_pet_raw_magic, magic) != 0) {
        return look_for_blocks(raw, error);
    }
    if (n < SLC_PET_RAW_HEAD) { /* killed at once: nothing but damage */
        raw->lost = true;
        return SLC_OK;
    }
    status = slc_io_pet_raw_head_load(bytes, &raw->head);
    if (status == SLC_ERR_UNSUPPORTED) {
        return slc_fail(error, status, "%s: byte 8: version %u of raw files is not known", raw->stream.name,
                        slc_load_u32(bytes + 8));
    }
    raw->lost = status != SLC_OK;
    if (status == SLC_OK) {
        raw->has_head = true;
        slc_io_stream_skip(&raw->stream, SLC_PET_RAW_HEAD);
        raw->info = (slc_io_pet_raw_info){.payload = raw->head.payload,
                                          .series = raw->head.series,
                                          .file = raw->head.file,
                                          .started_ns = raw->head.started_ns};
        if (raw->head.payload.sequence_bytes > 0 && (raw->watch = slc_io_pet_watch_open()) == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its counters", raw->stream.name);
        }
    }
    return status == SLC_OK && raw->head.format_bytes > 0 ? read_format(raw, error) : SLC_OK;
}

static slc_status open_with(const char *path, const void *bytes, size_t size, slc_io_pet_raw **out,
                            slc_error *error)
{
    *out = NULL;
    slc_io_pet_raw *raw = calloc(1, sizeof *raw);
    if (raw == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    }
    slc_status status = bytes != NULL ? slc_io_stream_open_memory(&raw->stream, bytes, size, path, error)
                                      : slc_io_stream_open(&raw->stream, path, error);
    if (status != SLC_OK) {
        free(raw);
        return status;
    }
    status = begin(raw, error);
    if (status != SLC_OK) {
        slc_io_pet_raw_close(raw);
        return status;
    }
    raw->info.bare = raw->bare;
    *out = raw;
    return SLC_OK;
}

slc_status slc_io_pet_raw_open(const char *path, slc_io_pet_raw **raw, slc_error *error)
{
    return open_with(path, NULL, 0, raw, error);
}

slc_status slc_io_pet_raw_open_memory(const void *bytes, size_t size, const char *name, slc_io_pet_raw **raw,
                                      slc_error *error)
{
    return open_with(name, bytes != NULL ? bytes : "", size, raw, error);
}

slc_status slc_io_pet_raw_use_format(slc_io_pet_raw *raw, const slc_io_pet_format *format,
                                     slc_pet_marks *marks, slc_error *error)
{
    if (slc_io_pet_records_open(&raw->records, format, marks) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its records", raw->stream.name);
    }
    if (raw->watch != NULL) {
        slc_io_pet_watch_use_format(raw->watch, format);
    }
    return SLC_OK;
}

const slc_io_pet_format *slc_io_pet_raw_format(const slc_io_pet_raw *raw)
{
    return raw->format;
}

slc_io_pet_format *slc_io_pet_raw_take_format(slc_io_pet_raw *raw)
{
    slc_io_pet_format *format = raw->format;
    raw->format = NULL;
    slc_io_pet_records_clear(&raw->records);
    return format;
}

void slc_io_pet_raw_close(slc_io_pet_raw *raw)
{
    if (raw != NULL) {
        slc_io_stream_close(&raw->stream);
        slc_io_pet_watch_close(raw->watch);
        slc_io_pet_records_clear(&raw->records);
        slc_io_pet_format_close(raw->format);
        free(raw);
    }
}

bool slc_io_pet_raw_begin_at(slc_io_pet_raw *raw, uint64_t place)
{
    const uint64_t offset = raw->stream.offset;
    if (place <= offset) {
        return true;
    }
    /* Perhaps inside a block, which is of the part before. */
    raw->lost = raw->told = !raw->bare;
    return slc_io_stream_jump(&raw->stream, (size_t)(place - offset));
}

slc_status slc_io_pet_raw_part(slc_io_pet_raw *raw, uint64_t from, uint64_t until, slc_error *error)
{
    const uint64_t place = from * SLC_PET_FRAME_BYTES;
    const bool cut = raw->bare && slc_io_pet_record_bytes(raw->records.format) != SLC_PET_FRAME_BYTES;
    if (raw->watch != NULL || cut || from > UINT64_MAX / SLC_PET_FRAME_BYTES ||
        !slc_io_pet_raw_begin_at(raw, place)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: no file that can be read from byte %llu on",
                        raw->stream.name, (unsigned long long)place);
    }
    raw->until = until;
    raw->bare_frames = raw->bare ? from : 0;
    return SLC_OK;
}

slc_io_pet_watch *slc_io_pet_raw_take_watch(slc_io_pet_raw *raw)
{
    slc_io_pet_watch *watch = raw->watch;
    raw->watch = NULL;
    return watch;
}

const slc_io_pet_module *slc_io_pet_raw_modules(const slc_io_pet_raw *raw)
{
    return raw->watch != NULL ? slc_io_pet_watch_modules(raw->watch) : NULL;
}

bool slc_io_pet_raw_go_on(slc_io_pet_raw *raw, slc_io_pet_raw *before)
{
    if (raw->watch == NULL || before->watch == NULL || raw->head.series != before->head.series) {
        return false;
    }
    slc_io_pet_watch *old = raw->watch;
    raw->watch = before->watch;
    before->watch = old;
    slc_io_pet_watch_use_format(raw->watch, raw->records.format);
    raw->goes_on = true;
    raw->goes_on_at = before->info.datagrams;
    return true;
}

void slc_io_pet_raw_info_of(const slc_io_pet_raw *raw, slc_io_pet_raw_info *info)
{
    *info = raw->info;
    info->records = raw->records.counts;
}

/* ---- finding blocks ---------------------------------------------------------------------------- */

static void lose(slc_io_pet_raw *raw)
{
    if (!raw->lost) {
        raw->lost = true;
        raw->told = false;
    }
}

/* Skips to the next good head. SLC_END where there is none. */
static slc_status search(slc_io_pet_raw *raw, slc_faults *faults, slc_error *error)
{
    if (!raw->told) {
        note(faults, SLC_FAULT_PET_BLOCK, raw->info.datagrams, raw->stream.offset);
        raw->told = true;
    }
    for (;;) {
        const uint8_t *bytes = NULL;
        size_t n = 0;
        const slc_status status = slc_io_stream_peek(&raw->stream, WINDOW, &bytes, &n, error);
        if (status != SLC_OK) {
            return status;
        }
        n = n < WINDOW ? n : WINDOW;
        if (n < SLC_PET_RAW_BLOCK) {
            slc_io_stream_skip(&raw->stream, n);
            return SLC_END;
        }
        const size_t at = find_block(bytes, n);
        slc_io_stream_skip(&raw->stream, at != SIZE_MAX ? at : n - SLC_PET_RAW_BLOCK + 1);
        if (at != SIZE_MAX) {
            raw->lost = false;
            return SLC_OK;
        }
    }
}

static void enter(slc_io_pet_raw *raw, const slc_io_pet_block *block)
{
    raw->inside = true;
    raw->cut = false;
    raw->block = *block;
    raw->datagram = raw->frame = 0;
    raw->is_taken = false;
    if (raw->goes_on && block->first != raw->goes_on_at) {
        slc_io_pet_watch_break(raw->watch);
    }
    raw->goes_on = false;
    raw->info.time_ns = block->time_ns;
    raw->info.socket = block->socket;
    raw->info.sockets = block->socket >= raw->info.sockets ? block->socket + 1U : raw->info.sockets;
    raw->info.first = raw->info.datagrams == 0 ? block->first : raw->info.first;
    raw->info.datagrams = block->first + slc_io_pet_block_datagrams(block);
    raw->info.payload.header_bytes = block->header_bytes;
}

/* Behind the last block of a part. If no block begins there that is told here, as the next part does not know
 * that one should. */
static slc_status end_part(slc_io_pet_raw *raw, slc_faults *faults, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t n = 0;
    const slc_status status = raw->part_ended
                                  ? SLC_END
                                  : slc_io_stream_peek(&raw->stream, SLC_PET_RAW_BLOCK, &bytes, &n, error);
    if (status == SLC_OK && n > 0 && (n < SLC_PET_RAW_BLOCK || !slc_io_pet_block_is_good(bytes))) {
        note(faults, SLC_FAULT_PET_BLOCK, raw->info.datagrams, raw->stream.offset);
    }
    raw->part_ended = true;
    return status == SLC_OK ? SLC_END : status;
}

/* Looks at the block that begins here; enters it if it is good. */
static slc_status look(slc_io_pet_raw *raw, slc_faults *faults, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t n = 0;
    if (raw->until > 0 && raw->stream.offset / SLC_PET_FRAME_BYTES >= raw->until) {
        return end_part(raw, faults, error);
    }
    slc_status status = slc_io_stream_peek(&raw->stream, SLC_PET_RAW_BLOCK, &bytes, &n, error);
    if (status != SLC_OK) {
        return status;
    }
    if (n == 0) {
        return SLC_END;
    }
    if (n < SLC_PET_RAW_BLOCK || !slc_io_pet_block_is_good(bytes)) {
        lose(raw);
        return SLC_OK;
    }
    slc_io_pet_block block = slc_io_pet_block_of(bytes);
    const size_t size = SLC_PET_RAW_BLOCK + (size_t)block.payload;
    if (block.record > 0 && raw->records.format == NULL) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: byte %llu: frames of %u bytes, and their format in the file's head is damaged: "
                        "it must be given (--frame-format)",
                        raw->stream.name, (unsigned long long)raw->stream.offset, block.record);
    }
    status = slc_io_stream_peek(&raw->stream, size, &bytes, &n, error);
    if (status != SLC_OK) {
        return status;
    }
    if (n < size) { /* cut: whole datagrams remain */
        const uint32_t there = (uint32_t)(n - SLC_PET_RAW_BLOCK);
        note(faults, SLC_FAULT_PET_BLOCK, block.first + there / block.datagram, raw->stream.offset);
        block.payload = there - there % block.datagram;
        enter(raw, &block);
        raw->cut = true;
        return SLC_OK;
    }
    if (block.hash != slc_io_pet_raw_hash(bytes + SLC_PET_RAW_BLOCK, block.payload)) {
        /* Bytes are wrong, or missing: the next block may begin before the end of this one. */
        note(faults, SLC_FAULT_PET_BLOCK, block.first, raw->stream.offset);
        slc_io_stream_skip(&raw->stream, SLC_PET_RAW_BLOCK);
        raw->lost = raw->told = true;
        return SLC_OK;
    }
    enter(raw, &block);
    return SLC_OK;
}

/* ---- frames ------------------------------------------------------------------------------------ */

/* Frames of the records that are used: those that were held before the datagram, and its own. */
static slc_status make_frames(slc_io_pet_raw *raw, const uint8_t *records, uint64_t offset,
                              slc_faults *faults, slc_error *error)
{
    slc_io_pet_taken *t = &raw->taken;
    slc_io_pet_records *r = &raw->records;
    const slc_io_pet_records_place place = {raw->block.first + raw->datagram, offset, false};
    size_t held = 0, own = 0;
    slc_status status = slc_io_pet_records_make(r, t->held, t->n_held, r->frames[0], place, NULL, &held);
    if (status == SLC_OK) {
        status = slc_io_pet_records_make(r, records, t->n, r->frames[1], place, faults, &own);
    }
    t->held = (const uint8_t *)r->frames[0];
    t->n_held = (uint32_t)held;
    t->n = (uint32_t)own;
    return status == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its marks", raw->stream.name);
}

/* What is used of the datagram at hand, which begins there. */
static slc_status take_datagram(slc_io_pet_raw *raw, const uint8_t *datagram, uint32_t size, uint64_t offset,
                                slc_faults *faults, slc_error *error)
{
    const slc_io_pet_block *b = &raw->block;
    const uint32_t record = slc_io_pet_record_bytes(raw->records.format);
    const uint32_t room = size > b->header_bytes ? size - b->header_bytes : 0;
    raw->taken = (slc_io_pet_taken){.n = room / record};
    raw->datagram_ns = slc_io_pet_received(&raw->info.payload, datagram, size, b->time_ns);
    if (raw->watch != NULL) {
        raw->taken = slc_io_pet_watch_take(raw->watch, &raw->info.payload, datagram, size, raw->datagram_ns);
    }
    raw->is_taken = true;
    raw->frame = 0;
    if (size < b->header_bytes || room % record != 0) {
        note(faults, SLC_FAULT_PET_DATAGRAM, b->first + raw->datagram, offset);
    }
    return raw->records.format != NULL
               ? make_frames(raw, datagram + b->header_bytes, offset + b->header_bytes, faults, error)
               : SLC_OK;
}

/* Some of the frames that are taken of the datagram at hand, those that were held before it first. */
static void give_some(slc_io_pet_raw *raw, const uint8_t *own, slc_pet_frame *frames, size_t most, size_t *n)
{
    const slc_io_pet_taken *t = &raw->taken;
    for (int part = 0; part < 2; part++) {
        const uint32_t before = part == 0 ? 0 : t->n_held, end = part == 0 ? t->n_held : t->n_held + t->n;
        if (raw->frame < end && *n < most) {
            const size_t left = end - raw->frame, some = left < most - *n ? left : most - *n;
            memcpy(frames + *n,
                   (part == 0 ? t->held : own) + (size_t)(raw->frame - before) * SLC_PET_FRAME_BYTES,
                   some * SLC_PET_FRAME_BYTES);
            for (size_t i = 0; raw->received_ns != NULL && i < some; i++) {
                raw->received_ns[*n + i] = part == 0 ? t->held_ns : raw->datagram_ns;
            }
            *n += some;
            raw->frame += (uint32_t)some;
        }
    }
}

/* Frames of the block at hand; leaves it behind its last one. */
static slc_status give(slc_io_pet_raw *raw, slc_pet_frame *frames, size_t most, size_t *n, slc_faults *faults,
                       slc_error *error)
{
    const slc_io_pet_block *b = &raw->block;
    const uint32_t all = slc_io_pet_block_datagrams(b);
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    slc_status status = slc_io_stream_peek(&raw->stream, SLC_PET_RAW_BLOCK + (size_t)b->payload, &bytes,
                                           &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    for (; raw->datagram < all && *n < most; raw->datagram++, raw->is_taken = false) {
        const uint32_t begins = raw->datagram * (uint32_t)b->datagram;
        const uint32_t size = b->payload - begins < b->datagram ? b->payload - begins : b->datagram;
        const uint8_t *datagram = bytes + SLC_PET_RAW_BLOCK + begins;
        if (!raw->is_taken) {
            status = take_datagram(raw, datagram, size, raw->stream.offset + SLC_PET_RAW_BLOCK + begins,
                                   faults, error);
        }
        if (status != SLC_OK) {
            return status;
        }
        const bool made = raw->records.format != NULL;
        give_some(raw, made ? (const uint8_t *)raw->records.frames[1] : datagram + b->header_bytes, frames,
                  most, n);
        if (raw->frame < raw->taken.n_held + raw->taken.n) {
            return SLC_OK;
        }
    }
    if (raw->datagram == all) {
        /* Behind a block that was cut, only a part of a datagram is left. */
        slc_io_stream_skip(&raw->stream, raw->cut ? visible : SLC_PET_RAW_BLOCK + (size_t)b->payload);
        raw->inside = false;
    }
    return SLC_OK;
}

/* Whether the next step need not wait longer than until then: a block that is all there, or all that there
 * will be. What is wrong is told by the step. */
static bool comes(slc_io_pet_raw *raw, double deadline)
{
    const uint8_t *bytes = NULL;
    size_t n = 0, want = raw->lost ? WINDOW : SLC_PET_RAW_BLOCK;
    slc_status status = slc_io_stream_wait(&raw->stream, want, deadline, &bytes, &n, NULL);
    if (status == SLC_OK && !raw->lost && n >= want && slc_io_pet_block_is_good(bytes)) {
        want += slc_io_pet_block_of(bytes).payload;
        status = slc_io_stream_wait(&raw->stream, want, deadline, &bytes, &n, NULL);
    }
    return status != SLC_OK || n >= want || raw->stream.at_end || raw->stream.file < 0;
}

static slc_status read_bare(slc_io_pet_raw *raw, slc_pet_frame *frames, size_t most, size_t *n,
                            slc_faults *faults, slc_error *error)
{
    const uint8_t *bytes = NULL;
    size_t visible = 0;
    const size_t record = slc_io_pet_record_bytes(raw->records.format);
    const size_t some = WINDOW * SLC_PET_FRAME_BYTES /
                        (record > SLC_PET_FRAME_BYTES ? record : SLC_PET_FRAME_BYTES);
    const uint64_t left = raw->until > 0 ? raw->until - raw->bare_frames : some;
    const size_t wanted = most < some ? most : some, at_once = left < wanted ? (size_t)left : wanted;
    if (at_once == 0) {
        return SLC_END;
    }
    slc_status status = slc_io_stream_peek(&raw->stream, record, &bytes, &visible, error);
    if (status == SLC_OK) {
        status = slc_io_stream_wait(&raw->stream, at_once * record, slc_clock_seconds() + patience, &bytes,
                                    &visible, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    const size_t whole = visible / record < at_once ? visible / record : at_once;
    if (whole == 0 && visible > 0) {
        note(faults, SLC_FAULT_PET_CUT, raw->bare_frames, raw->stream.offset);
        slc_io_stream_skip(&raw->stream, visible);
    }
    if (whole == 0) {
        return SLC_END;
    }
    *n = whole;
    if (raw->records.format != NULL) {
        const slc_io_pet_records_place place = {raw->bare_frames, raw->stream.offset, true};
        status = slc_io_pet_records_make(&raw->records, bytes, whole, frames, place, faults, n);
    } else {
        memcpy(frames, bytes, whole * record);
    }
    slc_io_stream_skip(&raw->stream, whole * record);
    raw->bare_frames += whole;
    return status;
}

slc_status slc_io_pet_raw_read(slc_io_pet_raw *raw, slc_pet_frame *frames, uint64_t *received_ns, size_t most,
                               size_t *n, slc_faults *faults, slc_error *error)
{
    *n = 0;
    if (most == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: no room for a frame", raw->stream.name);
    }
    slc_status status = SLC_OK;
    do { /* records of other kinds than singles are no frames */
        status = raw->bare ? read_bare(raw, frames, most, n, faults, error) : SLC_OK;
    } while (raw->bare && status == SLC_OK && *n == 0);
    for (size_t i = 0; raw->bare && received_ns != NULL && i < *n; i++) {
        received_ns[i] = 0;
    }
    raw->received_ns = received_ns;
    double deadline = 0;
    while (!raw->bare && status == SLC_OK && *n < most) {
        if (*n > 0 && !raw->inside) {
            deadline = deadline > 0 ? deadline : slc_clock_seconds() + patience;
            if (!comes(raw, deadline)) {
                break;
            }
        }
        status = raw->inside ? give(raw, frames, most, n, faults, error)
                 : raw->lost ? search(raw, faults, error)
                             : look(raw, faults, error);
    }
    /* A failure shows again in the next call, when these have been taken. */
    return *n > 0 ? SLC_OK : status;
}
