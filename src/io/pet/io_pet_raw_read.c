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
#include "lhcb/lhcb_record.h"

#include <errno.h>
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
    slc_io_pet_taken taken;  /* with is_taken: what is used of the datagram */
    uint64_t skipped;        /* where damage began */
    uint64_t datagram_ns;    /* when the one at hand was received */
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

/* Files that lie beside raw data, and begin with what no frame would: bare frames may be anything else. */
static const char *stranger_of(const uint8_t *bytes, size_t n)
{
    static const struct {
        size_t at, size;
        const uint8_t *magic;
        const char *text;
    } strangers[] = {{0, 8, (const uint8_t *)"\x89HDF\r\n\x1a\n", "an HDF5 file"},
                     {0, 8, slc_io_pet_raw_index_magic, "the index of a raw file"},
                     {0, 8, slc_io_pet_singles_magic, "a file of singles"},
                     {0, 8, (const uint8_t *)"\x89PNG\r\n\x1a\n", "a PNG image"},
                     {0, 8, (const uint8_t *)"ARROW1\0\0", "an Arrow file"},
                     {0, 7, (const uint8_t *)"\x93NUMPY\1", "an NPY file"},
                     {5, 14, (const uint8_t *)" CListModeData", "a list-mode file of coincidences"},
                     {0, 10, (const uint8_t *)"!INTERFILE", "an Interfile header"},
                     {0, 13, (const uint8_t *)"Scanner name:", "a header of CASToR"}};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        if (n >= strangers[i].at + strangers[i].size &&
            memcmp(bytes + strangers[i].at, strangers[i].magic, strangers[i].size) == 0) {
            return strangers[i].text;
        }
    }
    slc_mdf_header header;
    return slc_mdf_header_read(bytes, n, 64 << 20, &header) == SLC_MDF_GOOD && header.sizes_agree
               ? "a file of LHCb's events (MDF)"
               : NULL;
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
    const char *stranger = stranger_of(bytes, n);
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
    return SLC_OK;
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

void slc_io_pet_raw_close(slc_io_pet_raw *raw)
{
    if (raw != NULL) {
        slc_io_stream_close(&raw->stream);
        slc_io_pet_watch_close(raw->watch);
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
    if (raw->watch != NULL || from > UINT64_MAX / SLC_PET_FRAME_BYTES ||
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
    raw->goes_on = true;
    raw->goes_on_at = before->info.datagrams;
    return true;
}

void slc_io_pet_raw_info_of(const slc_io_pet_raw *raw, slc_io_pet_raw_info *info)
{
    *info = raw->info;
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

/* What is used of the datagram at hand, which begins there. */
static void take_datagram(slc_io_pet_raw *raw, const uint8_t *datagram, uint32_t size, uint64_t offset,
                          slc_faults *faults)
{
    const slc_io_pet_block *b = &raw->block;
    const uint32_t room = size > b->header_bytes ? size - b->header_bytes : 0;
    raw->taken = (slc_io_pet_taken){.n = room / SLC_PET_FRAME_BYTES};
    raw->datagram_ns = slc_io_pet_received(&raw->info.payload, datagram, size, b->time_ns);
    if (raw->watch != NULL) {
        raw->taken = slc_io_pet_watch_take(raw->watch, &raw->info.payload, datagram, size, raw->datagram_ns);
    }
    raw->is_taken = true;
    raw->frame = 0;
    if (size < b->header_bytes || room % SLC_PET_FRAME_BYTES != 0) {
        note(faults, SLC_FAULT_PET_DATAGRAM, b->first + raw->datagram, offset);
    }
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
    const slc_status status = slc_io_stream_peek(&raw->stream, SLC_PET_RAW_BLOCK + (size_t)b->payload, &bytes,
                                                 &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    for (; raw->datagram < all && *n < most; raw->datagram++, raw->is_taken = false) {
        const uint32_t begins = raw->datagram * (uint32_t)b->datagram;
        const uint32_t size = b->payload - begins < b->datagram ? b->payload - begins : b->datagram;
        const uint8_t *datagram = bytes + SLC_PET_RAW_BLOCK + begins;
        if (!raw->is_taken) {
            take_datagram(raw, datagram, size, raw->stream.offset + SLC_PET_RAW_BLOCK + begins, faults);
        }
        give_some(raw, datagram + b->header_bytes, frames, most, n);
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
    const uint64_t left = raw->until > 0 ? raw->until - raw->bare_frames : WINDOW;
    const size_t wanted = most < WINDOW ? most : WINDOW, at_once = left < wanted ? (size_t)left : wanted;
    if (at_once == 0) {
        return SLC_END;
    }
    slc_status status = slc_io_stream_peek(&raw->stream, SLC_PET_FRAME_BYTES, &bytes, &visible, error);
    if (status == SLC_OK) {
        status = slc_io_stream_wait(&raw->stream, at_once * SLC_PET_FRAME_BYTES,
                                    slc_clock_seconds() + patience, &bytes, &visible, error);
    }
    if (status != SLC_OK) {
        return status;
    }
    *n = visible / SLC_PET_FRAME_BYTES < at_once ? visible / SLC_PET_FRAME_BYTES : at_once;
    if (*n == 0 && visible > 0) {
        note(faults, SLC_FAULT_PET_DATAGRAM, raw->bare_frames, raw->stream.offset);
        slc_io_stream_skip(&raw->stream, visible);
    }
    if (*n == 0) {
        return SLC_END;
    }
    memcpy(frames, bytes, *n * SLC_PET_FRAME_BYTES);
    slc_io_stream_skip(&raw->stream, *n * SLC_PET_FRAME_BYTES);
    raw->bare_frames += *n;
    return SLC_OK;
}

slc_status slc_io_pet_raw_read(slc_io_pet_raw *raw, slc_pet_frame *frames, uint64_t *received_ns, size_t most,
                               size_t *n, slc_faults *faults, slc_error *error)
{
    *n = 0;
    if (most == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: no room for a frame", raw->stream.name);
    }
    slc_status status = raw->bare ? read_bare(raw, frames, most, n, faults, error) : SLC_OK;
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
