/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of an NPY file, versions 1.0, 2.0 and 3.0. It is the text of a Python dictionary, and parsed by
 * its grammar, not searched for words. docs/formats/npy.md; the format is NumPy's NEP 1.
 */
#include "io/io_npy.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = SLC_IO_NPY_MAGIC, HEADER_LIMIT = 1 << 16 };

/* The text of the header, of which `at` is the next character. */
typedef struct parser {
    const slc_io_stream *stream;
    slc_error *error;
    const char *text;
    size_t at, size;
    uint64_t offset; /* of the text in the file */
    bool has_descr, has_order, has_shape;
    slc_io_npy_header *header;
    slc_io_npy_records *records; /* NULL: they are refused */
} parser;

bool slc_io_npy_probe(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC && memcmp(bytes, "\x93NUMPY", MAGIC) == 0;
}

/* ---- the header's text ----------------------------------------------------------------------- */

static slc_status wrong(const parser *p, size_t at, const char *reason)
{
    return slc_io_stream_fail(p->stream, p->error, SLC_ERR_FORMAT, p->offset + at, "%s", reason);
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

static bool swaps(char order)
{
    return order == (slc_io_number_little_endian() ? '>' : '<');
}

/* '<f4', '|S16' and their like: bytes, 0 where they are not told. */
static size_t size_of_type(const char *text)
{
    const bool known = strchr("<>|=", text[0]) != NULL && text[0] != '\0' && text[1] != '\0';
    size_t size = 0;
    for (const char *at = known ? text + 2 : ""; *at >= '0' && *at <= '9' && size < HEADER_LIMIT; at++) {
        size = 10 * size + (size_t)(*at - '0');
    }
    return known && text[1] == 'U' ? 4 * size : size;
}

/* ('x', '<u2'), of which the bracket is taken. */
static slc_status parse_field(parser *p)
{
    slc_io_npy_records *records = p->records;
    char text[32] = "";
    const size_t begin = p->at;
    if (records->n == SLC_IO_NPY_FIELDS) {
        return wrong(p, begin, "more than 64 columns");
    }
    slc_io_npy_field *field = &records->field[records->n++];
    slc_status status = parse_string(p, field->name, sizeof field->name);
    if (status == SLC_OK && !accept(p, ',')) {
        status = wrong(p, p->at, "a comma should be here");
    }
    status = status == SLC_OK ? parse_string(p, text, sizeof text) : status;
    if (status != SLC_OK) {
        return status;
    }
    const size_t size = size_of_type(text);
    if (size == 0 || !accept(p, ')')) { /* or a shape follows */
        return slc_io_stream_fail(p->stream, p->error, SLC_ERR_UNSUPPORTED, p->offset + begin,
                                  "a column of records that is no plain number");
    }
    field->number = size <= 8 ? slc_io_number_of(text[1], size) : SLC_IO_NUMBER_NONE;
    field->swap = size > 1 && swaps(text[0]);
    field->offset = records->size;
    records->size += size;
    return SLC_OK;
}

static slc_status parse_records(parser *p)
{
    slc_status status = SLC_OK;
    (void)accept(p, '[');
    while (status == SLC_OK && !accept(p, ']')) {
        status = accept(p, '(') ? parse_field(p) : wrong(p, p->at, "a column of records should be here");
        if (status == SLC_OK && !accept(p, ',')) {
            return accept(p, ']') ? SLC_OK : wrong(p, p->at, "the columns have no end");
        }
    }
    return status;
}

/* '<f4' and its like. */
static slc_status parse_descr(parser *p)
{
    char text[32] = "";
    skip_space(p);
    const size_t begin = p->at;
    p->header->descr_at = p->offset + begin;
    if (begin < p->size && p->text[begin] == '[' && p->records != NULL) {
        return parse_records(p);
    }
    if (begin < p->size && p->text[begin] == '[') {
        return slc_io_stream_fail(p->stream, p->error, SLC_ERR_UNSUPPORTED, p->offset + begin,
                                  "an array of records: plain numbers can be read");
    }
    const slc_status status = parse_string(p, text, sizeof text);
    if (status != SLC_OK) {
        return status;
    }
    const char order = text[0];
    const bool known = order == '<' || order == '>' || order == '|' || order == '=';
    if (known && text[1] != '\0' && text[2] >= '1' && text[2] <= '8' && text[3] == '\0') {
        p->header->number = slc_io_number_of(text[1], (uint64_t)(text[2] - '0'));
    }
    const bool one_byte = text[2] == '1';
    if (p->header->number == SLC_IO_NUMBER_NONE || (order == '|' && !one_byte)) {
        return slc_io_stream_fail(p->stream, p->error, SLC_ERR_UNSUPPORTED, p->offset + begin,
                                  "an array of type '%s': bool, u1 to u8, i1 to i8 and f2 to f8 can be read",
                                  text);
    }
    p->header->swap = !one_byte && swaps(order);
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
    if (p->header->n_dimensions == SLC_IO_NPY_DIMENSIONS) {
        return wrong(p, begin, "more than 32 dimensions");
    }
    p->header->shape[p->header->n_dimensions++] = value;
    return SLC_OK;
}

static slc_status parse_shape(parser *p)
{
    skip_space(p);
    p->header->shape_at = p->offset + p->at;
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
    p->header->fortran = accept_word(p, "True");
    return p->header->fortran || accept_word(p, "False") ? SLC_OK
                                                         : wrong(p, p->at, "True or False should be here");
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

slc_status slc_io_npy_read_header(slc_io_stream *stream, slc_io_npy_header *header, slc_error *error)
{
    return slc_io_npy_read_records(stream, header, NULL, error);
}

slc_status slc_io_npy_read_records(slc_io_stream *stream, slc_io_npy_header *header,
                                   slc_io_npy_records *records, slc_error *error)
{
    if (records != NULL) {
        *records = (slc_io_npy_records){.n = 0};
    }
    *header = (slc_io_npy_header){.number = SLC_IO_NUMBER_NONE};
    const uint8_t *bytes;
    size_t visible;
    slc_status status = slc_io_stream_peek(stream, MAGIC + 6, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    const unsigned version = visible > MAGIC ? bytes[MAGIC] : 0;
    const size_t fixed = version == 1 ? MAGIC + 4 : MAGIC + 6;
    if (visible < fixed) {
        return slc_io_stream_fail(stream, error, SLC_ERR_FORMAT, visible, "the file ends inside its header");
    }
    if (version < 1 || version > 3 || bytes[MAGIC + 1] != 0) {
        return slc_io_stream_fail(stream, error, SLC_ERR_UNSUPPORTED, MAGIC,
                                  "NPY version %u.%u: 1.0, 2.0 and 3.0 can be read", version,
                                  bytes[MAGIC + 1]);
    }
    size_t length = (size_t)bytes[MAGIC + 2] | (size_t)bytes[MAGIC + 3] << 8;
    if (version > 1) {
        length |= (size_t)bytes[MAGIC + 4] << 16 | (size_t)bytes[MAGIC + 5] << 24;
    }
    if (length > HEADER_LIMIT) {
        return slc_io_stream_fail(stream, error, SLC_ERR_FORMAT, MAGIC + 2,
                                  "a header of %zu bytes: at most %d are allowed", length, (int)HEADER_LIMIT);
    }
    status = slc_io_stream_peek(stream, fixed + length, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    if (visible < fixed + length) {
        return slc_io_stream_fail(stream, error, SLC_ERR_FORMAT, visible,
                                  "the file ends inside its header of %zu bytes", length);
    }
    parser p = {.stream = stream,
                .error = error,
                .text = (const char *)bytes + fixed,
                .size = length,
                .offset = fixed,
                .header = header,
                .records = records};
    status = parse_header(&p);
    if (status == SLC_OK) {
        slc_io_stream_skip(stream, fixed + length);
    }
    return status;
}
