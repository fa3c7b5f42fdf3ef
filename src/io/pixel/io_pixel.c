/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening files of pixels, and what their formats share: messages, the count of damage, and the rules of
 * reading. The format is found by looking at the first bytes, because names lie and pipes have none.
 */
#include "io/io_formats.h"
#include "io/io_live.h"
#include "io/pixel/io_pixel_layout.h"
#include "io/pixel/io_pixel_source.h"
#include "io/pixel/io_pixel_tables.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages -------------------------------------------------------------------------------- */

bool slc_io_pixels_is_cut(const slc_io_pixels *file)
{
    return file->cut != NULL && file->cut(file->context);
}

void slc_io_pixels_damage(slc_io_pixels *file, uint64_t place, const char *format, ...)
{
    slc_io_pixels_counts *counts = &file->counts;
    if (counts->damaged++ == 0) {
        counts->damaged_offset = place;
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(counts->damaged_reason, sizeof counts->damaged_reason, format, arguments);
        va_end(arguments);
        slc_io_printable(counts->damaged_reason);
    }
}

void slc_io_pixels_unread(slc_io_pixels_counts *counts, const uint8_t *name, size_t n)
{
    static const char more[] = ", ...";
    const size_t used = strlen(counts->unread_names), comma = used > 0 ? 2 : 0;
    counts->unread++;
    if (used + comma + n + sizeof more <= sizeof counts->unread_names) {
        (void)snprintf(counts->unread_names + used, sizeof counts->unread_names - used, "%s%.*s",
                       comma > 0 ? ", " : "", (int)n, (const char *)name);
        slc_io_printable(counts->unread_names);
    } else if (used == 0 || strcmp(counts->unread_names + used - strlen(more), more) != 0) {
        (void)snprintf(counts->unread_names + used, sizeof counts->unread_names - used, "%s",
                       used > 0 ? more : more + 2);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

slc_status slc_io_pixels_look(slc_io_pixels *file, size_t want, const uint8_t **bytes, size_t *visible,
                              slc_error *error)
{
    const double patience = 1; /* seconds, for all that opening looks at */
    if (file->deadline == 0) {
        file->deadline = slc_clock_seconds() + patience;
    }
    return slc_io_stream_wait(&file->stream, want, file->deadline, bytes, visible, error);
}

static slc_status refuse_stranger(const slc_io_pixels *file, const uint8_t *bytes, size_t visible,
                                  slc_error *error)
{
    if (visible == 0) {
        return slc_io_pixels_fail(file, error, SLC_ERR_FORMAT, 0, "the input is empty");
    }
    const char *advice = slc_io_stranger(SLC_IO_KIND_PIXELS, bytes, visible);
    return advice != NULL ? slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, 0, "%s", advice) : SLC_OK;
}

/* The first whose bytes they are. Few bytes are not known for text, which all begins are that have no magic.
 */
static const slc_io_pixels_format *format_of(const uint8_t *bytes, size_t visible, bool text)
{
    for (size_t i = 0; slc_io_row_at(i) != NULL; i++) {
        const slc_io_pixels_format *format = slc_io_row_at(i)->pixels;
        if (format != NULL && (text || format != &slc_io_pixels_text) && format->probe(bytes, visible)) {
            return format;
        }
    }
    return NULL;
}

/* Words of readouts without heads of chunks: those of a kind that there is, and which are no text. */
static bool are_bare_words(const uint8_t *bytes)
{
    bool is_text = true;
    for (size_t i = 0; i < SLC_IO_PIXELS_FIRST; i++) {
        is_text = is_text && (bytes[i] >= 0x20 || (bytes[i] >= '\t' && bytes[i] <= '\r')) && bytes[i] < 0x7f;
    }
    const unsigned type = bytes[SLC_IO_PIXELS_FIRST - 1] >> 4;
    return !is_text && ((type >= 4 && type <= 7) || type == 0xa || type == 0xb);
}

/* The format whose first bytes they are, or NULL. */
static const slc_io_pixels_format *live_format_of(const uint8_t *bytes, bool *is_bare)
{
    *is_bare = false;
    if (slc_io_pixels_tpx4.probe(bytes, SLC_IO_PIXELS_FIRST)) {
        return &slc_io_pixels_tpx4;
    }
    *is_bare = !slc_io_pixels_tpx3.probe(bytes, SLC_IO_PIXELS_FIRST);
    return !*is_bare || are_bare_words(bytes) ? &slc_io_pixels_tpx3 : NULL;
}

/* Over the network raw words come, and nothing else: a stranger's connection or datagram before them is left
 * out. Where nobody waits any more before the first of them, it is Timepix3 without any. */
static slc_status find_live(slc_io_pixels *file, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible = 0, skipped;
    char hex[3 * 12 + 1];
    file->format = NULL;
    while (file->format == NULL) {
        const slc_status status = slc_io_stream_peek(&file->stream, SLC_IO_PIXELS_FIRST, &bytes, &visible,
                                                     error);
        if (status != SLC_OK) {
            return status;
        }
        if (visible == 0) {
            file->format = file->stream.at_end ? &slc_io_pixels_tpx3 : NULL;
            continue;
        }
        file->format = live_format_of(bytes, &file->is_bare);
        if (file->format != NULL) {
            break;
        }
        const uint64_t place = file->stream.offset;
        (void)slc_io_hex(bytes, visible, SLC_IO_PIXELS_FIRST, hex);
        if (!slc_io_stream_turn_away(&file->stream, hex, &skipped)) {
            return slc_io_pixels_fail(file, error, SLC_ERR_FORMAT, 0,
                                      "no words of a Timepix readout: they begin with%s; other lists of "
                                      "pixels go through standard input",
                                      hex);
        }
        slc_io_pixels_damage(file, place, "no words of a Timepix readout");
        file->counts.skipped += skipped;
    }
    file->is_bare = file->is_bare && visible > 0;
    return file->format->open(file, error);
}

bool slc_io_pixels_passes_border(slc_io_pixels *file, size_t left, size_t visible)
{
    if (file->stream.live == NULL || file->stream.at_end) {
        return false;
    }
    if (left > 0 || visible > 0) {
        slc_io_pixels_damage(file, file->stream.offset, "a connection ends inside a chunk");
    }
    file->counts.skipped += visible;
    slc_io_stream_skip(&file->stream, visible);
    return true;
}

/* A magic is known by its first bytes, and text by some more; only a file that was cut out of the middle
 * needs many. Nothing is waited for that is not needed: the file may be a pipe from a running readout. */
static slc_status find_format(slc_io_pixels *file, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible;
    slc_status status = slc_io_stream_peek(&file->stream, SLC_IO_PIXELS_FIRST, &bytes, &visible, error);
    status = status == SLC_OK ? refuse_stranger(file, bytes, visible, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    file->format = format_of(bytes, visible, false);
    if (file->format == NULL) {
        status = slc_io_pixels_look(file, SLC_IO_PIXELS_TEXT, &bytes, &visible, error);
        file->format = status == SLC_OK ? format_of(bytes, visible, true) : NULL;
    }
    for (size_t want = 2 * (size_t)SLC_IO_PIXELS_TEXT;
         status == SLC_OK && file->format == NULL && want <= SLC_IO_PIXELS_PROBE; want *= 2) {
        status = slc_io_stream_peek(&file->stream, want, &bytes, &visible, error);
        file->format = status == SLC_OK ? format_of(bytes, visible, true) : NULL;
    }
    if (file->format != NULL) {
        return file->format->open(file, error);
    }
    char hex[3 * 12 + 1];
    return status != SLC_OK
               ? status
               : slc_io_pixels_fail(
                     file, error, SLC_ERR_FORMAT, 0,
                     "no list of pixels that can be read (TPX3, TPX4, T3PA, CSV, NPY): it begins with%s",
                     slc_io_hex(bytes, visible, 8, hex));
}

/* ---- options --------------------------------------------------------------------------------- */

static slc_status check_options(const slc_io_pixels_options *options, const char *name, slc_error *error)
{
    if ((options->width == 0) != (options->height == 0) || options->width > UINT16_MAX + 1 ||
        options->height > UINT16_MAX + 1) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: a sensor of %lu x %lu pixels: both must be 1 to 65536",
                        name, (unsigned long)options->width, (unsigned long)options->height);
    }
    if (!(options->tick_seconds >= 0) || isinf(options->tick_seconds)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: a tick must be a time of more than 0 s", name);
    }
    return SLC_OK;
}

/* Corrections of times are of what the file has. */
static slc_status apply_times(slc_io_pixels *file, slc_error *error)
{
    slc_io_pixels_tables *tables = file->options.tables;
    const uint32_t needs = SLC_PIXEL_TIME | SLC_PIXEL_CHARGE;
    if (tables == NULL || !(tables->timewalk.is_there || tables->has_phases)) {
        return SLC_OK;
    }
    const char *reason = tables->has_phases && strcmp(file->info.format, "tpx3") != 0
                             ? "phases of columns are those of .tpx3"
                         : (file->info.with & needs) != needs
                             ? "a timewalk needs pixels with times and charges"
                         : !(file->info.tick_seconds > 0)
                             ? "the file does not tell how long a tick is, which a timewalk in ns needs"
                             : NULL;
    if (reason != NULL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_USAGE, SLC_IO_NO_PLACE, "%s", reason);
    }
    slc_io_pixels_timewalk_begin(tables, file->info.tick_seconds);
    return SLC_OK;
}

/* What the caller says goes before what the file tells. */
static slc_status apply_options(slc_io_pixels *file, slc_error *error)
{
    const slc_io_pixels_options *options = &file->options;
    const char *format = file->info.format;
    if ((options->layout != NULL || options->chips != NULL) && strcmp(format, "tpx3") != 0) {
        return slc_io_pixels_fail(file, error, SLC_ERR_USAGE, SLC_IO_NO_PLACE,
                                  "of the formats, .tpx3 alone tells of chips");
    }
    if (options->tables != NULL && options->tables->calibrates) {
        if ((file->info.with & SLC_PIXEL_CHARGE) == 0) {
            return slc_io_pixels_fail(file, error, SLC_ERR_USAGE, SLC_IO_NO_PLACE,
                                      "its pixels have no charges, which a calibration is of");
        }
        file->info.energies = true;
    }
    if (options->layout != NULL) {
        file->info.width = options->layout->width;
        file->info.height = options->layout->height;
    }
    if (options->width > 0) {
        file->info.width = options->width;
        file->info.height = options->height;
    }
    if (options->tick_seconds > 0 &&
        (strcmp(format, "tpx3") == 0 || strcmp(format, "t3pa") == 0 || strcmp(format, "tpx4") == 0)) {
        return slc_io_pixels_fail(file, error, SLC_ERR_USAGE, SLC_IO_NO_PLACE,
                                  "the tick of a %s file is known, 25 ns / %d: no other can be given", format,
                                  format[3] == '4' ? 128 : 16);
    }
    if (options->tick_seconds > 0 && (file->info.with & SLC_PIXEL_TIME) != 0) {
        file->info.tick_seconds = options->tick_seconds / (file->tick_parts > 0 ? file->tick_parts : 1);
    }
    return apply_times(file, error);
}

/* Exactly one of path and bytes is given. */
static slc_status open_pixels(const char *path, const void *bytes, size_t size, const char *name,
                              const slc_io_pixels_options *options, slc_io_pixels **pixels, slc_error *error)
{
    *pixels = NULL;
    if (options != NULL && check_options(options, name, error) != SLC_OK) {
        return SLC_ERR_USAGE;
    }
    slc_io_pixels *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", name);
    }
    file->options = options != NULL ? *options : (slc_io_pixels_options){.width = 0};
    slc_io_live *live = NULL;
    const bool is_live = path != NULL && slc_io_live_is(path);
    slc_status status = is_live ? slc_io_live_open(path, file->options.live, &live, error) : SLC_OK;
    if (status == SLC_OK) {
        status = is_live        ? slc_io_stream_open_live(&file->stream, live, path, error)
                 : path != NULL ? slc_io_stream_open(&file->stream, path, error)
                                : slc_io_stream_open_memory(&file->stream, bytes, size, name, error);
    }
    if (status != SLC_OK) {
        free(file);
        return status;
    }
    status = is_live ? find_live(file, error) : find_format(file, error);
    status = status == SLC_OK ? apply_options(file, error) : status;
    if (status != SLC_OK) {
        slc_io_pixels_close(file);
        return status;
    }
    *pixels = file;
    return SLC_OK;
}

slc_status slc_io_pixels_open(const char *path, const slc_io_pixels_options *options, slc_io_pixels **pixels,
                              slc_error *error)
{
    return open_pixels(path, NULL, 0, path, options, pixels, error);
}

slc_status slc_io_pixels_open_memory(const void *bytes, size_t size, const char *name,
                                     const slc_io_pixels_options *options, slc_io_pixels **pixels,
                                     slc_error *error)
{
    return open_pixels(NULL, bytes, size, name, options, pixels, error);
}

slc_status slc_io_pixels_open_words(const void *bytes, size_t size, const char *name, slc_io_pixels **pixels,
                                    slc_error *error)
{
    *pixels = NULL;
    slc_io_pixels *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", name);
    }
    slc_status status = slc_io_stream_open_memory(&file->stream, bytes, size, name, error);
    if (status != SLC_OK) {
        free(file);
        return status;
    }
    file->is_bare = true;
    file->format = &slc_io_pixels_tpx3;
    status = file->format->open(file, error);
    if (status != SLC_OK) {
        slc_io_pixels_close(file);
        return status;
    }
    *pixels = file;
    return SLC_OK;
}

void slc_io_pixels_close(slc_io_pixels *pixels)
{
    if (pixels != NULL) {
        if (pixels->format != NULL) {
            pixels->format->close(pixels);
        }
        slc_io_stream_close(&pixels->stream);
        free(pixels->frames);
        free(pixels->triggers);
        free(pixels);
    }
}

slc_io_pixels_info slc_io_pixels_about(const slc_io_pixels *pixels)
{
    return pixels->info;
}

slc_io_pixels_counts slc_io_pixels_count(const slc_io_pixels *pixels)
{
    slc_io_pixels_counts counts = pixels->counts;
    counts.bytes = pixels->stream.offset;
    if (pixels->stream.live != NULL) {
        const slc_io_live_counts live = slc_io_live_count(pixels->stream.live);
        counts.connections = live.connections;
        counts.datagrams = live.datagrams;
        counts.broken_bytes = live.broken_bytes;
        counts.dropped = live.dropped;
    }
    return counts;
}

const int64_t *slc_io_pixels_frames(const slc_io_pixels *file, uint32_t *count)
{
    *count = file->n_frames;
    return file->frames;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A column that the file does not fill would hold whatever was there before. */
static slc_status check_columns(const slc_io_pixels *file, const slc_pixels *pixels, slc_error *error)
{
    const uint32_t with = (pixels->z != NULL ? SLC_PIXEL_Z : 0U) |
                          (pixels->charge != NULL ? SLC_PIXEL_CHARGE : 0U) |
                          (pixels->time != NULL ? SLC_PIXEL_TIME : 0U);
    return with == file->info.with
               ? SLC_OK
               : slc_io_pixels_fail(file, error, SLC_ERR_USAGE, SLC_IO_NO_PLACE,
                                    "the list of pixels is not made for the columns of this file");
}

slc_status slc_io_pixels_read(slc_io_pixels *file, slc_pixels *pixels, size_t n, slc_error *error)
{
    file->n_frames = 0;
    if (file->status != SLC_OK) {
        return slc_fail(error, file->status, "%s", file->error.text);
    }
    if (n == 0) {
        return SLC_OK;
    }
    const uint32_t event = pixels->head.n_events;
    const size_t before = pixels->head.size, left = pixels->head.capacity - before;
    if (left == 0) {
        return slc_io_pixels_fail(file, error, SLC_ERR_CAPACITY, SLC_IO_NO_PLACE,
                                  "the list of pixels has no room left");
    }
    slc_status status = check_columns(file, pixels, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_error failure = {SLC_OK, ""};
    size_t read = 0;
    do {
        status = file->format->read(file, pixels, n < left ? n : left, &failure);
        if (file->options.tables != NULL && pixels->head.size > before) {
            const slc_status done = slc_io_pixels_tables_run(file->options.tables, pixels, before, event,
                                                             &file->counts, &failure);
            status = done != SLC_OK ? done : status;
        }
        if (file->options.layout != NULL || file->options.chips != NULL) {
            file->counts.other_chips += slc_io_pixels_layout_run(&file->options, pixels, before);
        }
        read = pixels->head.size - before;
    } while (read == 0 && status == SLC_OK && pixels->head.n_events == event &&
             file->n_triggers < SLC_IO_PIXELS_TRIGGERS);
    file->counts.pixels += read;
    if (status == SLC_END && file->counts.pixels == 0 && file->counts.masked == 0 && file->bad_rows > 0) {
        status = slc_io_pixels_fail(file, &failure, SLC_ERR_FORMAT, file->counts.damaged_offset,
                                    "no row could be read, and %llu are damaged; the first: %s",
                                    (unsigned long long)file->bad_rows, file->counts.damaged_reason);
    }
    if (status < 0 && status != SLC_ERR_CAPACITY) {
        /* It stays; what was read before it is handed out first. */
        file->status = status;
        file->error = failure;
    }
    if (read > 0) {
        return SLC_OK;
    }
    return status < 0 ? slc_fail(error, status, "%s", failure.text) : status;
}
