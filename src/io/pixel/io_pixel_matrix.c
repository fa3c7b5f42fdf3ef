/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense frames as text, as Pixet and other programs save matrices: a line for each row of the sensor with a
 * number for each column, frame after frame. Pixels are the numbers that are not 0. A blank line or a remark
 * between frames ends one, and tells how many lines a frame has; without any, frames are square, or as high
 * as the caller says. docs/formats/pixel-lists.md.
 */
#include "io/pixel/io_pixel_frames.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 8,            /* columns: fewer numbers may be a list without names of its columns */
    LINE_LIMIT = 1 << 20, /* bytes */
    SIDE = 1 << 16
};

typedef struct matrix_state {
    uint32_t width, height;
    uint64_t line;
    uint32_t row;  /* the next of the frame */
    int64_t next;  /* number of the frame */
    bool assumed;  /* whether nothing tells the height */
    bool is_whole; /* a frame waits that is read */
    slc_pixels frame;
} matrix_state;

/* ---- lines ----------------------------------------------------------------------------------------- */

static bool is_between(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == ',' || byte == ';' || byte == '\r' || byte == '\n';
}

static bool is_blank(const uint8_t *line, size_t size)
{
    size_t i = 0;
    while (i < size && is_between(line[i])) {
        i++;
    }
    return i == size || line[i] == '#';
}

/* The line with its end mark, or what is left of the input; 0 bytes at its end. */
static slc_status peek_line(slc_io_stream *stream, const uint8_t **line, size_t *size, slc_error *error)
{
    size_t want = 1;
    for (;;) {
        size_t visible;
        const slc_status status = slc_io_stream_peek(stream, want, line, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        const size_t seen = visible < LINE_LIMIT ? visible : LINE_LIMIT;
        const uint8_t *end = seen > 0 ? memchr(*line, '\n', seen) : NULL;
        *size = end != NULL ? (size_t)(end - *line) + 1 : seen;
        if (end != NULL || visible < want || visible >= LINE_LIMIT) {
            return SLC_OK;
        }
        want = visible + 1;
    }
}

/* The next number of a line, a whole one however it is written; false where there is none or it is another.
 */
static bool take_number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *digit = *at;
    uint64_t number = 0;
    for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        number = number < UINT64_MAX / 20 ? 10 * number + (uint64_t)(*digit - '0') : number;
    }
    bool good = digit > *at && number <= UINT32_MAX;
    if (digit < end && !is_between(*digit)) {
        const uint8_t *stop = digit;
        while (stop < end && !is_between(*stop)) {
            stop++;
        }
        good = slc_io_pixel_parse_whole(*at, stop, &number) && number <= UINT32_MAX;
        digit = stop;
    }
    *at = digit;
    *value = number;
    return good;
}

static const uint8_t *skip(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        at++;
    }
    return at;
}

/* Numbers of a line; SIZE_MAX where one is none. With `pixels`, which has room, those that are not 0. */
static size_t take_line(const uint8_t *line, size_t size, uint32_t y, slc_pixels *pixels)
{
    const uint8_t *at = skip(line, line + size), *end = line + size;
    size_t n = 0;
    while (at < end) {
        uint64_t value;
        if (!take_number(&at, end, &value)) {
            return SIZE_MAX;
        }
        if (value > 0 && pixels != NULL && n < SIDE) {
            const slc_io_pixel_row row = {.x = (uint16_t)n, .y = (uint16_t)y, .charge = (uint32_t)value};
            slc_io_pixel_append(pixels, &row);
        }
        n++;
        at = skip(at, end);
        if (at < end && (*at == ',' || *at == ';')) {
            at = skip(at + 1, end); /* one separator; Pixet ends lines with a blank */
        }
    }
    return n;
}

/* ---- frames ---------------------------------------------------------------------------------------- */

static slc_status reserve(slc_io_pixels *file, slc_pixels *frame, size_t rows, slc_error *error)
{
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(SLC_PIXEL_CHARGE, columns);
    return slc_columns_reserve(&schema, frame, rows, 1) == SLC_OK
               ? SLC_OK
               : slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory for a frame");
}

static void damage(slc_io_pixels *file, uint64_t place, const char *what)
{
    const matrix_state *state = file->state;
    file->bad_rows++;
    slc_io_pixels_damage(file, place, "line %llu: %s", (unsigned long long)state->line, what);
}

/* A row of the frame: one that is damaged has no pixels, and is a row all the same. */
static slc_status take_row(slc_io_pixels *file, const uint8_t *line, size_t size, slc_error *error)
{
    matrix_state *state = file->state;
    slc_pixels *frame = &state->frame;
    const size_t before = frame->head.size;
    const slc_status status = reserve(file, frame, before + state->width, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t n = take_line(line, size, state->row, NULL);
    if (n == state->width) {
        (void)take_line(line, size, state->row, frame);
    } else {
        damage(file, file->stream.offset,
               n == SIZE_MAX ? "a number that is no whole one from 0 to 4294967295"
                             : "not as many numbers as the first line has");
    }
    state->row++;
    return SLC_OK;
}

/* Reads until a frame is whole, or the input ends. */
static slc_status read_frame(slc_io_pixels *file, slc_error *error)
{
    matrix_state *state = file->state;
    while (state->row < state->height) {
        const uint8_t *line;
        size_t size;
        slc_status status = peek_line(&file->stream, &line, &size, error);
        if (status != SLC_OK) {
            return status;
        }
        if (size == 0 && state->row == 0) {
            return SLC_END;
        }
        const bool ends = size > 0 && line[size - 1] == '\n', blank = is_blank(line, size);
        state->line += size > 0;
        if (!ends && size > 0 && slc_io_pixels_is_cut(file)) { /* numbers may lack digits */
            slc_io_stream_skip(&file->stream, size);
            continue;
        }
        if (size == 0 || (blank && state->row > 0)) {
            if (!slc_io_pixels_is_cut(file)) {
                damage(file, file->stream.offset, "the frame ends, and has fewer lines than others");
            }
            slc_io_stream_skip(&file->stream, size);
            break;
        }
        file->counts.unended += ends ? 0 : 1;
        file->counts.assumed_lines = state->assumed && state->next > 0 ? state->height : 0;
        status = blank ? SLC_OK : take_row(file, line, size, error);
        if (status != SLC_OK) {
            return status;
        }
        slc_io_stream_skip(&file->stream, size);
    }
    state->row = 0;
    state->is_whole = true;
    return SLC_OK;
}

/* The next frame that has a pixel. */
static slc_status next_frame(slc_io_pixels *file, slc_error *error)
{
    matrix_state *state = file->state;
    slc_status status = SLC_OK;
    while (status == SLC_OK && !state->is_whole) {
        status = read_frame(file, error);
        if (status == SLC_OK && state->frame.head.size == 0) {
            state->is_whole = false;
            state->next++;
        }
    }
    return status;
}

static slc_status read_matrix(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error)
{
    matrix_state *state = file->state;
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(SLC_PIXEL_CHARGE, columns);
    const size_t before = pixels->head.size;
    if (pixels->head.n_events == pixels->head.event_capacity) {
        return slc_io_pixels_fail(file, error, SLC_ERR_CAPACITY, SLC_IO_NO_PLACE,
                                  "the list of pixels has no room for another event");
    }
    while (pixels->head.n_events < pixels->head.event_capacity) {
        slc_status status = next_frame(file, error);
        const size_t taken = pixels->head.size - before, n = state->frame.head.size;
        if (status != SLC_OK) {
            return status == SLC_END && taken > 0 ? SLC_OK : status;
        }
        if (n > room - taken) {
            return taken > 0
                       ? SLC_OK
                       : slc_io_pixels_fail(file, error, SLC_ERR_CAPACITY, SLC_IO_NO_PLACE,
                                            "frame %lld has more than %zu pixels, for which there is room",
                                            (long long)state->next, room);
        }
        status = slc_io_pixel_number_frame(file, state->next, error);
        if (status != SLC_OK) {
            return status;
        }
        (void)slc_columns_append(&schema, &state->frame, 0, n, pixels);
        slc_columns_end_event(pixels);
        slc_columns_reset(&state->frame);
        state->next++;
        state->is_whole = false;
        if (file->stream.begin == file->stream.end) {
            break; /* what has come is handed out: more may be a while */
        }
    }
    return SLC_OK;
}

/* ---- opening --------------------------------------------------------------------------------------- */

/* A line of numbers, enough of them, as the first that is neither blank nor a remark. */
static size_t first_numbers(const uint8_t *bytes, size_t size, size_t *at)
{
    for (*at = 0; *at < size;) {
        const uint8_t *end = memchr(bytes + *at, '\n', size - *at);
        const size_t line = end != NULL ? (size_t)(end - bytes) + 1 - *at : size - *at;
        if (!is_blank(bytes + *at, line)) {
            return end != NULL || line < SLC_IO_PIXELS_TEXT ? take_line(bytes + *at, line, 0, NULL) : 0;
        }
        *at += line;
    }
    return 0;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    size_t at = 0, n = 0;
    while (at < size && (is_between(bytes[at]) || bytes[at] == '#')) {
        const uint8_t *end = bytes[at] == '#' ? memchr(bytes + at, '\n', size - at) : bytes + at;
        at = end != NULL ? (size_t)(end - bytes) + 1 : size;
    }
    /* As many numbers as are visible: a line may be longer than that. */
    const uint8_t *from = bytes + at, *end = bytes + size,
                  *newline = at < size ? memchr(from, '\n', size - at) : NULL;
    end = newline != NULL ? newline : end;
    for (uint64_t value; from < end && n < LEAST; n++) {
        if (!take_number(&from, end, &value)) {
            return false;
        }
        from = skip(from, end);
        if (from < end && (*from == ',' || *from == ';')) {
            from = skip(from + 1, end);
        }
    }
    return n == LEAST;
}

/* How many lines a frame has: up to the first that is blank, where the bytes at hand have it. */
static uint32_t count_lines(const uint8_t *bytes, size_t size, size_t at)
{
    uint32_t n = 0;
    while (at < size) {
        const uint8_t *end = memchr(bytes + at, '\n', size - at);
        if (end == NULL) {
            break;
        }
        const size_t line = (size_t)(end - bytes) + 1 - at;
        if (is_blank(bytes + at, line)) {
            return n;
        }
        n++;
        at += line;
    }
    return 0;
}

static slc_status open_matrix(slc_io_pixels *file, slc_error *error)
{
    matrix_state *state = calloc(1, sizeof *state);
    const uint8_t *bytes;
    size_t visible, at;
    if (state == NULL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    file->state = state;
    const slc_status status = slc_io_pixels_look(file, SLC_IO_PIXELS_PROBE, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    visible = visible < SLC_IO_PIXELS_PROBE ? visible : SLC_IO_PIXELS_PROBE;
    const size_t n = first_numbers(bytes, visible, &at);
    if (n < LEAST || n > SIDE || (file->options.width > 0 && file->options.width != n)) {
        return slc_io_pixels_fail(file, error, SLC_ERR_FORMAT, at,
                                  "a frame whose first line is not %s numbers, one for each column",
                                  file->options.width > 0 ? "as many as the size says" : "8 to 65536");
    }
    const uint32_t lines = count_lines(bytes, visible, at);
    state->width = (uint32_t)n;
    state->assumed = file->options.height == 0 && lines == 0;
    state->height = file->options.height > 0 ? file->options.height : lines > 0 ? lines : (uint32_t)n;
    file->info = (slc_io_pixels_info){.format = "matrix",
                                      .with = SLC_PIXEL_CHARGE,
                                      .width = state->width,
                                      .height = state->height,
                                      .frames = true};
    return SLC_OK;
}

static void close_matrix(slc_io_pixels *file)
{
    matrix_state *state = file->state;
    if (state != NULL) {
        slc_column columns[SLC_PIXEL_COLUMNS];
        const slc_schema schema = slc_pixels_schema(SLC_PIXEL_CHARGE, columns);
        slc_columns_clear(&schema, &state->frame);
        free(state);
    }
}

const slc_io_pixels_format slc_io_pixels_matrix = {
    .probe = probe, .open = open_matrix, .close = close_matrix, .read = read_matrix};
