/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading TIFF through libtiff: files by their descriptor, pipes from memory. Pixels are asked for strip by
 * strip or tile by tile, and a strip is decoded only where the file has bytes enough for it, so that a small
 * file cannot claim much memory. Messages of libtiff become our error's text, or the page's warning, through
 * handlers of this file alone; nothing global is set. Its decoders go on after damage that they see, with
 * whatever pixels come out, and return success: what they say then is an error of ours. docs/formats/tiff.md;
 * TIFF 6.0 (Adobe, 1992).
 */
#include "io/image/io_image_tiff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= 4 && (memcmp(bytes, "II\x2a\0", 4) == 0 || memcmp(bytes, "MM\0\x2a", 4) == 0 ||
                         memcmp(bytes, "II\x2b\0", 4) == 0 || memcmp(bytes, "MM\0\x2b", 4) == 0);
}

/* ---- what libtiff calls ---------------------------------------------------------------------- */

/* Keeps the first message; the return value keeps libtiff from printing it. */
__attribute__((format(printf, 4, 0))) static int on_error(TIFF *tiff, void *user, const char *module,
                                                          const char *format, va_list arguments)
{
    (void)tiff;
    (void)module; /* a function's name, or the file's */
    slc_tiff_message *message = user;
    if (message->text[0] == '\0') {
        (void)vsnprintf(message->text, sizeof message->text, format, arguments);
    }
    return 1;
}

/* Microscopes and programs put tags of their own into nearly every file; these say nothing of pixels. */
__attribute__((format(printf, 4, 0))) static int on_warning(TIFF *tiff, void *user, const char *module,
                                                            const char *format, va_list arguments)
{
    static const char unknown[] = "Unknown field with tag ";
    (void)tiff;
    (void)module;
    slc_tiff_message *message = user;
    if (strncmp(format, unknown, sizeof unknown - 1) == 0) {
        return 1;
    }
    if (message->warning[0] == '\0') {
        (void)vsnprintf(message->warning, sizeof message->warning, format, arguments);
    } else {
        message->more++;
    }
    return 1;
}

static void forget(slc_tiff_message *message)
{
    message->text[0] = message->warning[0] = '\0';
    message->more = 0;
}

TIFFOpenOptions *slc_tiff_options(slc_tiff_message *message)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options != NULL) {
        TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, message);
        TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, message);
    }
    return options;
}

size_t slc_tiff_read(slc_tiff_state *state, uint64_t from, void *to, size_t size)
{
    if (from >= state->size) {
        return 0;
    }
    const uint64_t left = state->size - from;
    const size_t want = size < left ? size : (size_t)left;
    size_t done = 0;
    if (state->bytes != NULL) {
        memcpy(to, state->bytes + from, want);
        done = want;
    }
    while (done < want) {
        const ssize_t n = pread(state->file, (uint8_t *)to + done, want - done,
                                (off_t)(state->begin + from + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            state->wrong = n < 0 ? errno : state->wrong;
            break;
        }
        done += (size_t)n;
    }
    return done;
}

static tmsize_t on_read(thandle_t handle, void *to, tmsize_t size)
{
    slc_tiff_state *state = (slc_tiff_state *)handle;
    const size_t done = size > 0 ? slc_tiff_read(state, state->at, to, (size_t)size) : 0;
    state->at += done;
    return (tmsize_t)done;
}

static tmsize_t on_write(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle;
    (void)from;
    (void)size;
    return -1;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    slc_tiff_state *state = (slc_tiff_state *)handle;
    state->at = whence == SEEK_CUR ? state->at + offset : whence == SEEK_END ? state->size + offset : offset;
    return state->at;
}

static int on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t on_size(thandle_t handle)
{
    const slc_tiff_state *state = (const slc_tiff_state *)handle;
    return state->size;
}

/* ---- opening --------------------------------------------------------------------------------- */

slc_status slc_tiff_fail(const slc_io_images *images, slc_error *error, const char *what)
{
    const slc_tiff_state *state = images->state;
    if (state->wrong != 0) {
        return slc_io_image_fail(images, error, SLC_ERR_IO, SLC_IO_NO_PLACE, "cannot read: %s",
                                 strerror(state->wrong));
    }
    /* Some messages begin with the name, which ours do as well. */
    const char *message = state->message.text[0] != '\0' ? state->message.text : state->message.warning;
    const size_t name = strlen(images->stream.name);
    if (strncmp(message, images->stream.name, name) == 0 && strncmp(message + name, ": ", 2) == 0) {
        message += name + 2;
    }
    return slc_io_image_fail(images, error, SLC_ERR_FORMAT, SLC_IO_NO_PLACE, "%s%s%s", what,
                             message[0] != '\0' ? ": libtiff: " : "", message);
}

/* A regular file is read where libtiff wants it; anything else is taken into memory, as far as the limit. */
static slc_status take_input(slc_io_images *images, slc_tiff_state *state, slc_error *error)
{
    slc_io_stream *stream = &images->stream;
    struct stat about;
    state->file = -1;
    if (stream->file >= 0 && fstat(stream->file, &about) == 0 && S_ISREG(about.st_mode)) {
        const off_t here = lseek(stream->file, 0, SEEK_CUR);
        const uint64_t seen = stream->end - stream->begin;
        if (here >= 0 && (uint64_t)here >= seen && about.st_size >= here) {
            state->file = stream->file;
            state->begin = (uint64_t)here - seen;
            state->size = (uint64_t)about.st_size - state->begin;
            return SLC_OK;
        }
    }
    const size_t limit = images->config.max_bytes < SIZE_MAX ? images->config.max_bytes + 1 : SIZE_MAX;
    size_t visible = 0;
    const slc_status status = slc_io_stream_peek(stream, limit, &state->bytes, &visible, error);
    if (status == SLC_OK && visible >= limit) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE,
                                 "from a pipe, at most %zu bytes can be read", images->config.max_bytes);
    }
    state->size = visible;
    return status;
}

static slc_status start_libtiff(slc_io_images *images, slc_tiff_state *state, slc_error *error)
{
    enum { TABLES = 64 << 20 }; /* what a codec may need beside the bytes of a strip */
    TIFFOpenOptions *options = slc_tiff_options(&state->message);
    if (options == NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    const uint64_t most = state->size < PTRDIFF_MAX - TABLES ? state->size + TABLES : PTRDIFF_MAX;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    state->tiff = TIFFClientOpenExt(images->stream.name, "rm", (thandle_t)state, on_read, on_write, on_seek,
                                    on_close, on_size, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return state->tiff != NULL ? SLC_OK : slc_tiff_fail(images, error, "the first page cannot be read");
}

static slc_status open_tiff(slc_io_images *images, slc_error *error)
{
    slc_tiff_state *state = calloc(1, sizeof *state);
    images->state = state;
    if (state == NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    const slc_status status = take_input(images, state, error);
    return status == SLC_OK ? start_libtiff(images, state, error) : status;
}

static void close_tiff(slc_io_images *images)
{
    slc_tiff_state *state = images->state;
    if (state == NULL) {
        return;
    }
    if (state->tiff != NULL) {
        TIFFClose(state->tiff);
    }
    for (size_t plane = 0; plane < SLC_TIFF_PLANES; plane++) {
        free(state->part[plane]);
    }
    if (state->own) {
        (void)close(state->file);
    }
    free(state);
}

/* ---- parts of a page ------------------------------------------------------------------------- */

/* At most so many bytes come out of one that goes in; of what is not in the list, no more than a codec made
 * for repetition reaches (zstd: 128 KiB of a block of four bytes). */
static uint64_t expansion(uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE:
        return 1;
    case COMPRESSION_PACKBITS:
        return 64;
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
        return 1032;
    default:
        return 65536;
    }
}

/* Whether the file has the bytes of strip or tile `number`, and enough of them for `size` bytes. */
static slc_status check_part(slc_io_images *images, uint32_t number, uint64_t size, slc_error *error)
{
    slc_tiff_state *state = images->state;
    const uint64_t offset = TIFFGetStrileOffset(state->tiff, number);
    const uint64_t bytes = TIFFGetStrileByteCount(state->tiff, number);
    const char *word = state->page.tiled ? "tile" : "strip";
    if (bytes == 0) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, SLC_IO_NO_PLACE, "%s %u has no bytes", word,
                                 number);
    }
    if (offset > state->size || bytes > state->size - offset) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, offset,
                                 "%s %u should have %llu bytes here, the file has %llu in all", word, number,
                                 (unsigned long long)bytes, (unsigned long long)state->size);
    }
    if (size / expansion(state->page.compression) > bytes) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, offset,
                                 "the %llu bytes of %s %u cannot become the %llu of its pixels",
                                 (unsigned long long)bytes, word, number, (unsigned long long)size);
    }
    return SLC_OK;
}

slc_status slc_tiff_reserve_part(slc_io_images *images, uint16_t plane, uint64_t size, slc_error *error)
{
    slc_tiff_state *state = images->state;
    if (state->capacity[plane] < size) {
        free(state->part[plane]);
        state->part[plane] = malloc((size_t)size);
        state->capacity[plane] = state->part[plane] != NULL ? (size_t)size : 0;
    }
    return state->part[plane] != NULL
               ? SLC_OK
               : slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE,
                                   "no memory for a strip or tile of %llu bytes", (unsigned long long)size);
}

/* Whether libtiff said something while it decoded. Of LZW it warns of codes in the old order, which it reads
 * all the same; what else is wrong with LZW is an error. */
static bool is_damaged(const slc_tiff_state *state)
{
    return state->message.text[0] != '\0' ||
           (state->message.warning[0] != '\0' && state->page.compression != COMPRESSION_LZW);
}

/* Decodes the part at (x, y) of one plane into state->part[plane]. */
static slc_status read_part(slc_io_images *images, uint32_t x, uint32_t y, uint16_t plane, uint32_t rows,
                            slc_error *error)
{
    slc_tiff_state *state = images->state;
    const slc_tiff_page *page = &state->page;
    const uint32_t number = page->tiled ? TIFFComputeTile(state->tiff, x, y, 0, plane)
                                        : TIFFComputeStrip(state->tiff, y, plane);
    const uint64_t size = page->part_row_bytes * (page->tiled ? page->part_height : rows);
    slc_status status = check_part(images, number, size, error);
    if (status != SLC_OK) {
        return status;
    }
    status = slc_tiff_reserve_part(images, plane, size, error);
    if (status != SLC_OK) {
        return status;
    }
    if (page->compression !=
        COMPRESSION_NONE) { /* of damage that a codec passes over, bytes stay unwritten */
        memset(state->part[plane], 0, (size_t)size);
    }
    forget(&state->message);
    const tmsize_t n = page->tiled
                           ? TIFFReadEncodedTile(state->tiff, number, state->part[plane], (tmsize_t)size)
                           : TIFFReadEncodedStrip(state->tiff, number, state->part[plane], (tmsize_t)size);
    if (n < 0 || (uint64_t)n != size || is_damaged(state)) {
        char what[64];
        (void)snprintf(what, sizeof what, "%s %u cannot be decoded", page->tiled ? "tile" : "strip", number);
        return slc_tiff_fail(images, error, what);
    }
    return SLC_OK;
}

/* All strips or tiles of the rows from y on; of a page in parts those of its rows that are wanted. */
static slc_status read_band(slc_io_images *images, uint32_t y, uint32_t rows, slc_error *error)
{
    slc_tiff_state *state = images->state;
    const slc_tiff_page *page = &state->page;
    const size_t begin = slc_tiff_begin(images), end = begin + images->image.height;
    for (uint64_t x = 0; x < page->width; x += page->part_width) {
        for (uint16_t plane = 0; plane < page->planes; plane++) {
            const slc_status status = read_part(images, (uint32_t)x, y, plane, rows, error);
            if (status != SLC_OK) {
                return status;
            }
        }
        const uint64_t left = page->width - x;
        const size_t n = (size_t)(left < page->part_width ? left : page->part_width);
        const uint32_t first = begin > y ? (uint32_t)(begin - y) : 0;
        const uint32_t last = end < (size_t)y + rows ? (uint32_t)(end - y) : rows;
        for (uint32_t row = first; row < last; row++) {
            const size_t to = (size_t)y + row - begin;
            const slc_status status = slc_tiff_convert(images, row, to, (size_t)x, n, error);
            if (status != SLC_OK) {
                return status;
            }
        }
    }
    return SLC_OK;
}

static slc_status read_pixels(slc_io_images *images, slc_error *error)
{
    slc_tiff_state *state = images->state;
    const slc_tiff_page *page = &state->page;
    const uint64_t begin = slc_tiff_begin(images), end = begin + images->image.height;
    for (uint64_t y = begin - begin % page->part_height; y < end; y += page->part_height) {
        const uint64_t left = page->height - y;
        const uint32_t rows = (uint32_t)(left < page->part_height ? left : page->part_height);
        const uint64_t until = y + rows < end ? y + rows : end;
        slc_status status = slc_io_image_grow(images, (size_t)(until - begin) * images->row_bytes, error);
        if (status == SLC_OK) {
            status = read_band(images, (uint32_t)y, rows, error);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

/* After the last page. libtiff takes a pointer to the next directory that the file is too short for as the
 * end, so a file cut there would lose its further pages without a word. */
static slc_status expect_end(slc_io_images *images, slc_error *error)
{
    slc_tiff_state *state = images->state;
    const bool big = TIFFIsBigTIFF(state->tiff) != 0;
    const bool little = slc_io_number_little_endian() != (TIFFIsByteSwapped(state->tiff) != 0);
    const tmsize_t size = big ? 8 : 2;
    uint8_t count[8] = {0};
    uint64_t entries = 0;
    const uint64_t begin = TIFFCurrentDirOffset(state->tiff);
    state->at = begin;
    const bool read = on_read((thandle_t)state, count, size) == size;
    for (tmsize_t i = 0; i < size; i++) {
        entries |= (uint64_t)count[i] << 8 * (little ? i : size - 1 - i);
    }
    const uint64_t needed = big ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
    if (!read || entries > UINT16_MAX || needed > state->size - begin) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, state->size,
                                 "the file ends where it should tell of a next page");
    }
    return SLC_END;
}

/* The file says that it has images that it does not have as pages, nor where a stack has them. */
static slc_status end(slc_io_images *images, slc_error *error)
{
    const slc_tiff_state *state = images->state;
    const slc_status status = expect_end(images, error);
    if (status == SLC_END && state->told >= images->page) {
        slc_io_image_warn(images, "there is none, and the file's description tells of %llu images (ImageJ)",
                          (unsigned long long)state->told);
    } else if (status == SLC_END && images->page > 2 && state->planes_told >= images->page) {
        /* Not of files with a single plane: such are mostly all in a folder. */
        slc_io_image_warn(images,
                          "there is none, and the file's description tells of %llu slices (OME), maybe in "
                          "other files",
                          (unsigned long long)state->planes_told);
    }
    return status;
}

/* What libtiff had to say of the directory, which it could read. */
static void tell_directory(slc_io_images *images)
{
    const slc_tiff_message *message = &((slc_tiff_state *)images->state)->message;
    if (message->text[0] != '\0') {
        slc_io_image_warn(images, "libtiff: %s", message->text);
    }
    if (message->warning[0] != '\0') {
        char more[40] = "";
        if (message->more > 0) {
            (void)snprintf(more, sizeof more, " (and %u more)", message->more);
        }
        slc_io_image_warn(images, "libtiff: %s%s", message->warning, more);
    }
}

/* The page's directory. */
static slc_status pass(slc_io_images *images, slc_error *error)
{
    slc_tiff_state *state = images->state;
    if (images->page > 1) {
        forget(&state->message);
        if (state->is_stack ? images->page > state->told : TIFFLastDirectory(state->tiff) != 0) {
            return end(images, error);
        }
        if (!state->is_stack && !TIFFReadDirectory(state->tiff)) {
            return slc_tiff_fail(images, error, "the page's directory cannot be read");
        }
    }
    const slc_status status = slc_tiff_describe(images, error);
    if (status != SLC_OK) {
        return status;
    }
    tell_directory(images);
    uint16_t turned = ORIENTATION_TOPLEFT;
    if (TIFFGetField(state->tiff, TIFFTAG_ORIENTATION, &turned) && turned != ORIENTATION_TOPLEFT &&
        images->page == 1) {
        slc_io_image_warn(images, "pixels are as they are stored; the orientation %u is not applied", turned);
    }
    images->pixel = slc_tiff_size(state->tiff, &state->pixel, images->page == 1);
    if (images->page == 1) {
        state->pixel = images->pixel;
        slc_tiff_find_stack(images);
        return images->config.volume ? slc_tiff_check_volume(images, error) : SLC_OK;
    }
    return SLC_OK;
}

static slc_status read_page(slc_io_images *images, slc_error *error)
{
    const slc_tiff_state *state = images->state;
    slc_status status = state->is_stack ? slc_tiff_read_stack(images, error) : read_pixels(images, error);
    for (size_t y = 0; status == SLC_OK && images->image.type == SLC_IMAGE_BITS && y < images->image.height;
         y++) {
        slc_io_image_trim(images->pixels + y * images->row_bytes, images->image.width);
    }
    return status;
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    const slc_status status = pass(images, error);
    return status == SLC_OK ? read_page(images, error) : status;
}

/* ---- pages in any order ------------------------------------------------------------------------ */

static uint64_t place(const slc_io_images *images)
{
    return TIFFCurrentDirOffset(((slc_tiff_state *)images->state)->tiff);
}

/* Reads by place, and so shares the open file. */
static slc_status twin(const slc_io_images *images, slc_io_images *made, slc_error *error)
{
    const slc_tiff_state *from = images->state;
    if (from->file < 0) {
        return SLC_ERR_UNSUPPORTED;
    }
    slc_tiff_state *state = calloc(1, sizeof *state);
    made->state = state;
    if (state == NULL) {
        return slc_io_image_fail(made, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    state->file = fcntl(from->file, F_DUPFD_CLOEXEC, 0);
    if (state->file < 0) {
        return slc_io_image_fail(made, error, SLC_ERR_IO, SLC_IO_NO_PLACE, "cannot read: %s",
                                 strerror(errno));
    }
    state->own = true;
    state->begin = from->begin;
    state->size = from->size;
    state->told = from->told;
    state->is_stack = from->is_stack;
    state->stack_begin = from->stack_begin;
    return start_libtiff(made, state, error);
}

static slc_status read_at(slc_io_images *images, uint64_t at, slc_error *error)
{
    slc_tiff_state *state = images->state;
    forget(&state->message);
    state->wrong = 0;
    if (at != TIFFCurrentDirOffset(state->tiff) && !TIFFSetSubDirectory(state->tiff, at)) {
        return slc_tiff_fail(images, error, "the page's directory cannot be read");
    }
    const slc_status status = slc_tiff_describe(images, error);
    return status == SLC_OK ? read_page(images, error) : status;
}

const slc_io_image_format slc_io_image_tiff = {.name = "tiff",
                                               .names_page = true,
                                               .probe = probe,
                                               .open = open_tiff,
                                               .close = close_tiff,
                                               .next = next,
                                               .pass = pass,
                                               .place = place,
                                               .twin = twin,
                                               .read_at = read_at};
