/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading NPY, the array files of NumPy: versions 1.0, 2.0 and 3.0, both orders of the axes and of the bytes.
 * The header is the text of a Python dictionary; it is parsed by its grammar, not searched for words. Arrays
 * in C order are read as they come; those in Fortran order must be in memory whole, as rows are scattered
 * over all of it. docs/formats/npy.md; the format is NumPy's NEP 1.
 */
#include "io/io_image_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 6, HEADER_LIMIT = 1 << 16, DIMENSIONS = 32 };

typedef struct npy_state {
    slc_io_image_unit unit;
    slc_image_type type;
    bool fortran;
    uint64_t pages, height, width, samples; /* samples: of a pixel; 3 or 4 are colours */
} npy_state;

/* The text of the header, of which `at` is the next character. */
typedef struct parser {
    const slc_io_images *images;
    slc_error *error;
    const char *text;
    size_t at, size;
    uint64_t offset; /* of the text in the file */
    bool has_descr, has_order, has_shape;
    slc_io_number number;
    bool swap, fortran;
    uint64_t shape[DIMENSIONS];
    size_t n_dimensions;
    size_t shape_at;
} parser;

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC && memcmp(bytes, "\x93NUMPY", MAGIC) == 0;
}

/* ---- the header's text ----------------------------------------------------------------------- */

static slc_status wrong(const parser *p, size_t at, const char *reason)
{
    return slc_io_image_fail(p->images, p->error, SLC_ERR_FORMAT, p->offset + at, "%s", reason);
}

static void skip_space(parser *p)
{
    while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\t' || p->text[p->at] == '\n')) {
        p->at++;
    }
}

/* Consumes the character where it is the next one. */
static bool accept(parser *p, char character)
{
    skip_space(p);
    if (p->at < p->size && p->text[p->at] == character) {
        p->at++;
        return true;
    }
    return false;
}

static bool accept_word(parser *p, const char *word)
{
    skip_space(p);
    const size_t size = strlen(word);
    if (p->size - p->at >= size && memcmp(p->text + p->at, word, size) == 0) {
        p->at += size;
        return true;
    }
    return false;
}

/* A string in either kind of quotes, without escapes: none of the header's strings has one. */
static slc_status parse_string(parser *p, char *to, size_t room)
{
    skip_space(p);
    const size_t begin = p->at;
    const char quote = p->at < p->size ? p->text[p->at] : '\0';
    if (quote != '\'' && quote != '"') {
        return wrong(p, begin, "a string should be here");
    }
    size_t n = 0;
    for (p->at++; p->at < p->size && p->text[p->at] != quote; p->at++) {
        if (n + 1 >= room || p->text[p->at] == '\\' || p->text[p->at] == '\n') {
            return wrong(p, begin, "a string of the header is too long, or has escapes");
        }
        to[n++] = p->text[p->at];
    }
    to[n] = '\0';
    return accept(p, quote) ? SLC_OK : wrong(p, begin, "a string without an end");
}

/* '<f4' and its like. */
static slc_status parse_descr(parser *p)
{
    char text[32] = "";
    skip_space(p);
    const size_t begin = p->at;
    if (begin < p->size && p->text[begin] == '[') {
        return slc_io_image_fail(p->images, p->error, SLC_ERR_UNSUPPORTED, p->offset + begin,
                                 "an array of records: plain numbers can be read");
    }
    const slc_status status = parse_string(p, text, sizeof text);
    if (status != SLC_OK) {
        return status;
    }
    const char order = text[0];
    const bool known = order == '<' || order == '>' || order == '|' || order == '=';
    if (known && text[1] != '\0' && text[2] >= '1' && text[2] <= '8' && text[3] == '\0') {
        p->number = slc_io_number_of(text[1], (uint64_t)(text[2] - '0'));
    }
    const bool one_byte = text[2] == '1';
    if (p->number == SLC_IO_NUMBER_NONE || (order == '|' && !one_byte)) {
        return slc_io_image_fail(p->images, p->error, SLC_ERR_UNSUPPORTED, p->offset + begin,
                                 "an array of type '%s': bool, u1 to u8, i1 to i8 and f2 to f8 can be read",
                                 text);
    }
    p->swap = !one_byte && ((order == '<' && !slc_io_number_little_endian()) ||
                            (order == '>' && slc_io_number_little_endian()));
    return SLC_OK;
}

static slc_status parse_dimension(parser *p)
{
    skip_space(p);
    const size_t begin = p->at;
    uint64_t value = 0;
    if (begin < p->size && p->text[begin] == '-') {
        return wrong(p, begin, "a negative size");
    }
    for (; p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++) {
        value = 10 * value + (uint64_t)(p->text[p->at] - '0');
        if (value > SLC_IO_IMAGE_SIDE) {
            return wrong(p, begin, "a size larger than 4294967294");
        }
    }
    if (p->at == begin) {
        return wrong(p, begin, "a size should be here");
    }
    (void)accept(p, 'L'); /* a long integer of Python 2 */
    if (p->n_dimensions == DIMENSIONS) {
        return wrong(p, begin, "more than 32 dimensions");
    }
    p->shape[p->n_dimensions++] = value;
    return SLC_OK;
}

static slc_status parse_shape(parser *p)
{
    skip_space(p);
    p->shape_at = p->at;
    if (!accept(p, '(')) {
        return wrong(p, p->at, "the shape should begin with (");
    }
    while (!accept(p, ')')) {
        const slc_status status = parse_dimension(p);
        if (status != SLC_OK) {
            return status;
        }
        if (!accept(p, ',')) {
            return accept(p, ')') ? SLC_OK : wrong(p, p->at, "the shape has no end");
        }
    }
    return SLC_OK;
}

static slc_status parse_value(parser *p, const char *key, size_t key_at)
{
    bool *has = strcmp(key, "descr") == 0           ? &p->has_descr
                : strcmp(key, "fortran_order") == 0 ? &p->has_order
                : strcmp(key, "shape") == 0         ? &p->has_shape
                                                    : NULL;
    if (has == NULL || *has) {
        return wrong(p, key_at,
                     has == NULL ? "the header has a key that is not of this format"
                                 : "the header has a key twice");
    }
    *has = true;
    if (has == &p->has_descr) {
        return parse_descr(p);
    }
    if (has == &p->has_shape) {
        return parse_shape(p);
    }
    p->fortran = accept_word(p, "True");
    return p->fortran || accept_word(p, "False") ? SLC_OK : wrong(p, p->at, "True or False should be here");
}

static slc_status parse_header(parser *p)
{
    if (!accept(p, '{')) {
        return wrong(p, p->at, "the header should begin with {");
    }
    while (!accept(p, '}')) {
        char key[24];
        skip_space(p);
        const size_t key_at = p->at;
        slc_status status = parse_string(p, key, sizeof key);
        if (status == SLC_OK && !accept(p, ':')) {
            status = wrong(p, p->at, "a colon should be here");
        }
        if (status == SLC_OK) {
            status = parse_value(p, key, key_at);
        }
        if (status != SLC_OK) {
            return status;
        }
        if (!accept(p, ',')) {
            if (!accept(p, '}')) {
                return wrong(p, p->at, "a comma or the header's end } should be here");
            }
            break;
        }
    }
    skip_space(p);
    if (p->at < p->size) {
        return wrong(p, p->at, "something follows the header's dictionary");
    }
    return p->has_descr && p->has_order && p->has_shape
               ? SLC_OK
               : wrong(p, 0, "the header needs descr, fortran_order and shape");
}

/* ---- opening --------------------------------------------------------------------------------- */

/* What programs that load photographs make: (height, width, 3 or 4) of the types that photographs have. */
static bool is_colour(const parser *p)
{
    return p->n_dimensions == 3 && (p->number == SLC_IO_NUMBER_U8 || p->number == SLC_IO_NUMBER_U16) &&
           (p->shape[2] == 3 || p->shape[2] == 4);
}

static slc_status take_header(parser *p, npy_state *state)
{
    if (p->n_dimensions != 2 && p->n_dimensions != 3) {
        return slc_io_image_fail(
            p->images, p->error, SLC_ERR_UNSUPPORTED, p->offset + p->shape_at,
            "an array of %zu dimensions: 2 (an image) and 3 (a stack of images) can be read",
            p->n_dimensions);
    }
    const bool stack = p->n_dimensions == 3 && !is_colour(p);
    const uint64_t *sides = p->shape + (stack ? 1 : 0);
    state->pages = stack ? p->shape[0] : 1;
    state->height = sides[0];
    state->width = sides[1];
    state->samples = is_colour(p) ? p->shape[2] : 1;
    state->fortran = p->fortran;
    state->type = slc_io_number_type(p->number);
    state->unit = is_colour(p) ? slc_io_number_colour_unit(p->number, p->swap, (size_t)state->samples)
                               : slc_io_number_unit(p->number, p->swap);
    if (state->pages == 0 || state->height == 0 || state->width == 0) {
        return slc_io_image_fail(p->images, p->error, SLC_ERR_UNSUPPORTED, p->offset + p->shape_at,
                                 "an array without pixels");
    }
    return SLC_OK;
}

static slc_status read_header(slc_io_images *images, npy_state *state, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible;
    slc_status status = slc_io_stream_peek(&images->stream, MAGIC + 6, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    const unsigned version = visible > MAGIC ? bytes[MAGIC] : 0;
    const size_t fixed = version == 1 ? MAGIC + 4 : MAGIC + 6;
    if (visible < fixed) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, visible, "the file ends inside its header");
    }
    if (version < 1 || version > 3 || bytes[MAGIC + 1] != 0) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, MAGIC,
                                 "NPY version %u.%u: 1.0, 2.0 and 3.0 can be read", version,
                                 bytes[MAGIC + 1]);
    }
    size_t length = (size_t)bytes[MAGIC + 2] | (size_t)bytes[MAGIC + 3] << 8;
    if (version > 1) {
        length |= (size_t)bytes[MAGIC + 4] << 16 | (size_t)bytes[MAGIC + 5] << 24;
    }
    if (length > HEADER_LIMIT) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, MAGIC + 2,
                                 "a header of %zu bytes: at most %d are allowed", length, (int)HEADER_LIMIT);
    }
    status = slc_io_stream_peek(&images->stream, fixed + length, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    if (visible < fixed + length) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, visible,
                                 "the file ends inside its header of %zu bytes", length);
    }
    parser p = {.images = images,
                .error = error,
                .text = (const char *)bytes + fixed,
                .size = length,
                .offset = fixed};
    status = parse_header(&p);
    if (status == SLC_OK) {
        status = take_header(&p, state);
    }
    if (status == SLC_OK) {
        slc_io_stream_skip(&images->stream, fixed + length);
    }
    return status;
}

static void close_npy(slc_io_images *images)
{
    free(images->state);
}

static slc_status open_npy(slc_io_images *images, slc_error *error)
{
    images->state = calloc(1, sizeof(npy_state));
    if (images->state == NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_IMAGE_NO_PLACE,
                                 "no memory to read it");
    }
    return read_header(images, images->state, error);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Brings the whole array into the stream's memory, which grows as bytes arrive. */
static slc_status hold_array(slc_io_images *images, const npy_state *state, const uint8_t **bytes,
                             slc_error *error)
{
    const uint64_t plane = state->height * state->width; /* below 2^64: the sides are below 2^32 */
    const uint64_t most = images->config.max_bytes / state->unit.in / state->pages;
    if (plane > most) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, SLC_IO_IMAGE_NO_PLACE,
                                 "an array in Fortran order must be in memory whole, and needs more than the "
                                 "limit of %zu bytes",
                                 images->config.max_bytes);
    }
    const size_t size = (size_t)(plane * state->pages * state->unit.in);
    size_t visible;
    const slc_status status = slc_io_stream_peek(&images->stream, size, bytes, &visible, error);
    if (status == SLC_OK && visible < size) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, images->stream.offset + visible,
                                 "the file ends, and %zu of %zu bytes of the array are missing",
                                 size - visible, size);
    }
    return status;
}

/* Gathers one plane. Columns are taken a few at a time, so that the cache lines that they share between rows
 * are used before they are lost. */
static slc_status gather(slc_io_images *images, const npy_state *state, const uint8_t *array,
                         slc_error *error)
{
    enum { COLUMNS = 128 };
    const slc_io_image_unit *unit = &state->unit;
    const size_t page = images->page - 1, pages = (size_t)state->pages, height = images->image.height;
    const size_t width = images->image.width, samples = (size_t)state->samples, in = unit->in;
    const size_t size = in / samples;
    uint8_t row[COLUMNS * 8] = {0}; /* of the largest numbers, or of four samples of two bytes */
    for (size_t x0 = 0; x0 < width; x0 += COLUMNS) {
        const size_t n = width - x0 < COLUMNS ? width - x0 : COLUMNS;
        for (size_t y = 0; y < height; y++) {
            for (size_t i = 0; i < n; i++) {
                for (size_t k = 0; k < samples; k++) {
                    const size_t element = page + pages * (y + height * (x0 + i + width * k));
                    memcpy(row + i * in + k * size, array + element * size, size);
                }
            }
            const size_t good = unit->convert(unit, row, n,
                                              images->pixels + y * images->row_bytes + x0 * unit->out);
            if (good < n) {
                const size_t element = page + pages * (y + height * (x0 + good));
                return slc_io_image_refuse(images, unit, row + good * in,
                                           images->stream.offset + element * in, error);
            }
        }
    }
    return SLC_OK;
}

static slc_status next_fortran(slc_io_images *images, const npy_state *state, slc_error *error)
{
    const uint8_t *array = NULL;
    slc_status status = hold_array(images, state, &array, error);
    if (status != SLC_OK || array == NULL) {
        return status;
    }
    status = slc_io_image_grow(images, images->size, error);
    if (status == SLC_OK) {
        status = gather(images, state, array, error);
    }
    if (status == SLC_OK && images->page == state->pages) {
        slc_io_stream_skip(&images->stream,
                           (size_t)(state->pages * state->height * state->width * state->unit.in));
    }
    return status;
}

/* Behind the array there must be nothing. */
static slc_status expect_end(slc_io_images *images, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_stream_peek(&images->stream, 1, &bytes, &visible, error);
    if (status != SLC_OK || visible == 0) {
        return status != SLC_OK ? status : SLC_END;
    }
    return slc_io_image_fail(images, error, SLC_ERR_FORMAT, images->stream.offset,
                             "the file goes on behind the array that its header tells of");
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    const npy_state *state = images->state;
    if (images->page > state->pages) {
        return expect_end(images, error);
    }
    const slc_status status = slc_io_image_shape(images, state->type, state->width, state->height, error);
    if (status != SLC_OK) {
        return status;
    }
    return state->fortran ? next_fortran(images, state, error)
                          : slc_io_image_fill(images, &state->unit, error);
}

const slc_io_image_format slc_io_image_npy = {
    .name = "npy", .probe = probe, .open = open_npy, .close = close_npy, .next = next};
