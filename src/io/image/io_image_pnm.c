/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading PNM: PBM, PGM and PPM, plain (P1-P3) and raw (P4-P6), several images one after the other. Samples
 * stay what they are, whatever the header's maximum: a detector's counts are not to be scaled. What the
 * format leaves open (where comments may stand) is as Netpbm's own reader has it. docs/formats/pnm.md.
 */
#include "base/bytes.h"
#include "io/image/io_image_source.h"

#include <stdio.h>
#include <string.h>

/* A window on the stream for reading byte by byte. */
typedef struct cursor {
    slc_io_images *images;
    slc_error *error;
    const uint8_t *bytes;
    size_t used, visible;
    slc_status status; /* of reading the stream */
} cursor;

enum { NOTHING = -1 };

static bool is_space(int byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
           (is_space(bytes[2]) || bytes[2] == '#');
}

/* ---- bytes and numbers ----------------------------------------------------------------------- */

static uint64_t place(const cursor *at)
{
    return at->images->stream.offset + at->used;
}

/* Gives the bytes that were taken back to the stream's own count. */
static void settle(cursor *at)
{
    slc_io_stream_skip(&at->images->stream, at->used);
    at->used = 0;
    at->visible = 0;
}

static int refill(cursor *at)
{
    enum { PIECE = 1 << 16 };
    settle(at);
    at->status = slc_io_stream_peek(&at->images->stream, 1, &at->bytes, &at->visible, at->error);
    if (at->status != SLC_OK) {
        at->visible = 0;
    }
    at->visible = at->visible > PIECE ? PIECE : at->visible;
    return at->visible > 0 ? at->bytes[0] : NOTHING;
}

/* The next byte, or NOTHING at the end. */
static inline int look(cursor *at)
{
    return at->used < at->visible ? at->bytes[at->used] : refill(at);
}

static inline void take(cursor *at)
{
    at->used++;
}

static slc_status ended(cursor *at, const char *what)
{
    return at->status != SLC_OK ? at->status
                                : slc_io_image_fail(at->images, at->error, SLC_ERR_FORMAT, place(at),
                                                    "the file ends where %s should be", what);
}

static void skip_comment(cursor *at)
{
    for (int byte = look(at); byte != NOTHING && byte != '\n' && byte != '\r'; byte = look(at)) {
        take(at);
    }
}

static void skip_space(cursor *at)
{
    for (int byte = look(at); is_space(byte) || byte == '#'; byte = look(at)) {
        if (byte == '#') {
            skip_comment(at);
        } else {
            take(at);
        }
    }
}

static slc_status read_number(cursor *at, const char *what, uint64_t limit, uint64_t *number)
{
    skip_space(at);
    const uint64_t begin = place(at);
    int byte = look(at);
    if (byte == NOTHING) {
        return ended(at, what);
    }
    if (byte < '0' || byte > '9') {
        return slc_io_image_fail(at->images, at->error, SLC_ERR_FORMAT, begin,
                                 "%s should be a number, it begins with 0x%02x", what, (unsigned)byte);
    }
    *number = 0;
    for (; byte >= '0' && byte <= '9'; byte = look(at)) {
        *number = 10 * *number + (uint64_t)(byte - '0');
        if (*number > limit) {
            return slc_io_image_fail(at->images, at->error, SLC_ERR_FORMAT, begin, "%s is larger than %llu",
                                     what, (unsigned long long)limit);
        }
        take(at);
    }
    if (byte != NOTHING && !is_space(byte) && byte != '#') {
        return slc_io_image_fail(at->images, at->error, SLC_ERR_FORMAT, place(at),
                                 "0x%02x inside the number that is %s", (unsigned)byte, what);
    }
    return at->status;
}

static slc_status read_size(cursor *at, const char *what, uint64_t limit, uint64_t *number)
{
    skip_space(at);
    const uint64_t begin = place(at);
    const slc_status status = read_number(at, what, limit, number);
    if (status == SLC_OK && *number == 0) {
        return slc_io_image_fail(at->images, at->error, SLC_ERR_FORMAT, begin, "%s is 0", what);
    }
    return status;
}

/* ---- plain pixels ---------------------------------------------------------------------------- */

/* Digits of PBM need no space between them. */
static slc_status plain_bits(cursor *at)
{
    slc_io_images *images = at->images;
    for (size_t y = 0; y < images->image.height; y++) {
        for (size_t x = 0; x < images->image.width; x++) {
            skip_space(at);
            const int byte = look(at);
            if (byte != '0' && byte != '1') {
                return byte == NOTHING
                           ? ended(at, "a pixel")
                           : slc_io_image_fail(images, at->error, SLC_ERR_FORMAT, place(at),
                                               "a pixel should be 0 or 1, it is 0x%02x", (unsigned)byte);
            }
            const size_t bit = y * images->row_bytes + x / 8;
            if (x % 8 == 0) {
                const slc_status status = slc_io_image_grow(images, bit + 1, at->error);
                if (status != SLC_OK) {
                    return status;
                }
                images->pixels[bit] = 0;
            }
            images->pixels[bit] = (uint8_t)(images->pixels[bit] | (unsigned)(byte - '0') << x % 8);
            take(at);
        }
    }
    return SLC_OK;
}

static slc_status plain_samples(cursor *at, bool colour, uint64_t maximum)
{
    slc_io_images *images = at->images;
    const size_t bytes = images->image.type == SLC_IMAGE_U8 ? 1 : 2;
    for (size_t done = 0; done < images->size; done += bytes) {
        uint64_t sample[3] = {0};
        for (int i = 0; i < (colour ? 3 : 1); i++) {
            const slc_status status = read_number(at, "a sample", maximum, &sample[i]);
            if (status != SLC_OK) {
                return status;
            }
        }
        const slc_status status = slc_io_image_grow(images, done + bytes, at->error);
        if (status != SLC_OK) {
            return status;
        }
        const uint32_t value = colour ? slc_io_image_luma((uint32_t)sample[0], (uint32_t)sample[1],
                                                          (uint32_t)sample[2])
                                      : (uint32_t)sample[0];
        if (bytes == 1) {
            images->pixels[done] = (uint8_t)value;
        } else {
            ((uint16_t *)(void *)images->pixels)[done / 2] = (uint16_t)value;
        }
    }
    return SLC_OK;
}

/* ---- raw pixels ------------------------------------------------------------------------------ */

static uint32_t sample_at(const uint8_t *from, size_t i, bool wide)
{
    return wide ? (uint32_t)from[2 * i] << 8 | from[2 * i + 1] : from[i];
}

static size_t convert_bits(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    (void)unit;
    uint8_t *out = to;
    for (size_t i = 0; i < n; i++) {
        out[i] = slc_io_image_reverse(from[i]);
    }
    return n;
}

/* How many samples there are before the first above the maximum: two passes over a piece that is in the
 * cache, of which the first has no exit and so is done many samples at a time. */
static size_t count_good(const slc_io_image_unit *unit, const uint8_t *from, size_t n)
{
    const bool wide = unit->out == 2;
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t value = sample_at(from, i, wide);
        largest = value > largest ? value : largest;
    }
    size_t good = largest > unit->maximum ? 0 : n;
    while (good < n && sample_at(from, good, wide) <= unit->maximum) {
        good++;
    }
    return good;
}

static size_t convert_grey(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    const size_t good = count_good(unit, from, n);
    if (unit->out == 1) {
        memcpy(to, from, good);
        return good;
    }
    for (size_t i = 0; i < good; i++) {
        ((uint16_t *)to)[i] = (uint16_t)sample_at(from, i, true);
    }
    return good;
}

static size_t convert_colour(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    const bool wide = unit->out == 2;
    for (size_t i = 0; i < n; i++) {
        const uint32_t red = sample_at(from, 3 * i, wide), green = sample_at(from, 3 * i + 1, wide);
        const uint32_t blue = sample_at(from, 3 * i + 2, wide);
        if (red > unit->maximum || green > unit->maximum || blue > unit->maximum) {
            return i;
        }
        if (wide) {
            ((uint16_t *)to)[i] = (uint16_t)slc_io_image_luma(red, green, blue);
        } else {
            ((uint8_t *)to)[i] = (uint8_t)slc_io_image_luma(red, green, blue);
        }
    }
    return n;
}

static void explain(const slc_io_image_unit *unit, const uint8_t *from, char *text, size_t size)
{
    const bool wide = unit->out == 2;
    for (size_t i = 0; i < unit->in / unit->out; i++) {
        if (sample_at(from, i, wide) > unit->maximum) {
            (void)snprintf(text, size, "a sample is %u, above the header's maximum of %u",
                           sample_at(from, i, wide), unit->maximum);
            return;
        }
    }
}

static slc_status raw_pixels(cursor *at, bool colour, uint64_t maximum)
{
    slc_io_images *images = at->images;
    const bool bits = images->image.type == SLC_IMAGE_BITS;
    const size_t out = images->image.type == SLC_IMAGE_U16 ? 2 : 1;
    const slc_io_image_unit unit = {.in = colour ? 3 * out : out,
                                    .out = out,
                                    .convert = bits     ? convert_bits
                                               : colour ? convert_colour
                                                        : convert_grey,
                                    .explain = explain,
                                    .maximum = (uint32_t)maximum};
    settle(at);
    const slc_status status = slc_io_image_fill(images, &unit, at->error);
    for (size_t y = 0; bits && status == SLC_OK && y < images->image.height; y++) {
        slc_io_image_trim(images->pixels + y * images->row_bytes, images->image.width);
    }
    return status;
}

/* ---- an image -------------------------------------------------------------------------------- */

/* The letter and number that begin an image. After an image there may be white space and comments, for
 * editors and other programs leave a line end there. */
static slc_status read_magic(cursor *at, int *kind)
{
    slc_io_images *images = at->images;
    if (images->page > 1) {
        skip_space(at);
    }
    const int letter = look(at);
    if (letter == NOTHING) {
        return at->status != SLC_OK ? at->status : SLC_END;
    }
    if (letter == 'P') {
        take(at);
        *kind = look(at);
        if (*kind >= '1' && *kind <= '6') {
            take(at);
            const int next = look(at);
            if (next == NOTHING || is_space(next) || next == '#') {
                return at->status;
            }
        }
    }
    return slc_io_image_fail(images, at->error, SLC_ERR_FORMAT, place(at),
                             "neither the end of the file nor another image (P1 to P6)");
}

static slc_status read_image(cursor *at)
{
    slc_io_images *images = at->images;
    int kind = 0;
    uint64_t width = 0, height = 0, maximum = 1;
    slc_status status = read_magic(at, &kind);
    if (status == SLC_OK) {
        status = read_size(at, "the width", SLC_IO_IMAGE_SIDE, &width);
    }
    if (status == SLC_OK) {
        status = read_size(at, "the height", SLC_IO_IMAGE_SIDE, &height);
    }
    const bool bits = kind == '1' || kind == '4', colour = kind == '3' || kind == '6', raw = kind >= '4';
    images->in_parts = raw;
    if (status == SLC_OK && colour) {
        status = slc_io_image_colours(images, at->error);
    }
    if (status == SLC_OK && !bits) {
        status = read_size(at, "the maximum", 65535, &maximum);
    }
    if (status == SLC_OK) {
        status = slc_io_image_shape(images,
                                    bits            ? SLC_IMAGE_BITS
                                    : maximum > 255 ? SLC_IMAGE_U16
                                                    : SLC_IMAGE_U8,
                                    width, height, at->error);
    }
    if (status != SLC_OK || !raw) {
        return status != SLC_OK ? status : bits ? plain_bits(at) : plain_samples(at, colour, maximum);
    }
    /* One byte of white space, which may be the end of a comment, and then pixels. */
    if (look(at) == '#') {
        skip_comment(at);
    }
    if (look(at) == NOTHING) {
        return ended(at, "the pixels");
    }
    take(at);
    return raw_pixels(at, colour, maximum);
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    cursor at = {.images = images, .error = error, .status = SLC_OK};
    const slc_status status = read_image(&at);
    settle(&at);
    return status;
}

const slc_io_image_format slc_io_image_pnm = {.name = "pnm", .probe = probe, .next = next};
