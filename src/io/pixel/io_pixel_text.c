/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of pixels as text: .t3pa of Pixet, and CSV with commas, semicolons or tabs. The first line names the
 * columns. What t3pa rows mean, and how wide the sensor is, only the rows tell, so the first ones are looked
 * at before the first is consumed. docs/formats/t3pa.md, pixel-lists.md.
 */
#include "io/pixel/io_pixel_text.h"
#include "io/pixel/io_pixel_frames.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_LIMIT = 1 << 16, CHIP_WIDTH = 256, QUAD_WIDTH = 512, FINE = 16 };

typedef struct text_state {
    slc_io_pixel_layout layout;
    uint64_t line; /* number of the last one taken, from 1 */
    bool skipping; /* the rest of a line that is too long */
    bool matrix;   /* t3pa */
    slc_io_pixel_frames frames;
} text_state;

/* ---- lines ----------------------------------------------------------------------------------- */

/* Shows the next line with its end, or as much of one as may be. Fewer than LINE_LIMIT bytes without an end
 * are the last line of the file. */
static slc_status peek_line(slc_io_stream *stream, const uint8_t **line, size_t *size, slc_error *error)
{
    size_t want = 1;
    *size = 0;
    for (;;) {
        size_t visible;
        const slc_status status = slc_io_stream_peek(stream, want, line, &visible, error);
        if (status != SLC_OK || visible == 0) {
            return status != SLC_OK ? status : SLC_END;
        }
        const uint8_t *end = memchr(*line, '\n', visible < LINE_LIMIT ? visible : LINE_LIMIT);
        *size = end != NULL ? (size_t)(end - *line) + 1 : visible < LINE_LIMIT ? visible : LINE_LIMIT;
        if (end != NULL || visible < want || visible >= LINE_LIMIT) {
            return SLC_OK;
        }
        want = visible + 1;
    }
}

/* Bytes of the line at the begin of what is visible, its end mark among them. */
static size_t line_size(const uint8_t *bytes, size_t visible)
{
    const uint8_t *end = memchr(bytes, '\n', visible);
    return end != NULL ? (size_t)(end - bytes) + 1 : visible;
}

static bool is_blank(const uint8_t *line, size_t size)
{
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t' || line[size - 1] == '\r' ||
                        line[size - 1] == '\n')) {
        size--;
    }
    return size == 0 || line[0] == '#';
}

/* The next line that is a row, whole or damaged. */
static slc_status next_row(slc_io_pixels *file, slc_io_pixel_row *row, slc_error *error)
{
    text_state *state = file->state;
    for (;;) {
        const uint8_t *line;
        size_t size;
        const slc_status status = peek_line(&file->stream, &line, &size, error);
        if (status != SLC_OK) {
            return status;
        }
        const uint64_t place = file->stream.offset;
        const bool ends = line[size - 1] == '\n', skipped = state->skipping;
        slc_io_stream_skip(&file->stream, size);
        state->line += !skipped;
        state->skipping = !ends && size == LINE_LIMIT;
        if (skipped || is_blank(line, size) ||
            (!ends && !state->skipping && slc_io_pixels_is_cut(file))) { /* numbers may lack digits */
            continue;
        }
        if (state->skipping) {
            file->bad_rows++;
            slc_io_pixels_damage(file, place, "line %llu: longer than 65536 bytes",
                                 (unsigned long long)state->line);
            continue;
        }
        size_t field = 0;
        const char *why = slc_io_pixel_parse_row(&state->layout, line, size, row, &field);
        if (why == NULL) {
            file->counts.empty += row->no_charge ? 1 : 0;
            file->counts.rounded += row->is_rounded ? 1 : 0;
            file->counts.unended += ends ? 0 : 1;
            return SLC_OK;
        }
        file->bad_rows++;
        slc_io_pixels_damage(file, place, "line %llu, field %zu: %s", (unsigned long long)state->line, field,
                             why);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static slc_status read_text(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error)
{
    text_state *state = file->state;
    if (file->info.frames) {
        return slc_io_pixel_frames_read(file, &state->frames, next_row, pixels, room, error);
    }
    for (const size_t last = pixels->head.size + room; pixels->head.size < last;) {
        slc_io_pixel_row row;
        const slc_status status = next_row(file, &row, error);
        if (status != SLC_OK) {
            return status;
        }
        slc_io_pixel_append(pixels, &row);
        if (file->stream.begin == file->stream.end) {
            break; /* what has come is handed out: more may be a while */
        }
    }
    return SLC_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Text is what has no control characters but white space. */
static bool probe(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < 4096; i++) {
        if ((bytes[i] < 0x20 && bytes[i] != '\t' && bytes[i] != '\r' && bytes[i] != '\n') ||
            bytes[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool is_numbers(const uint8_t *line, size_t size)
{
    static const char used[] = "0123456789.+-eE,; \t\r\n";
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) {
        if (memchr(used, line[i], sizeof used - 1) == NULL) {
            return false;
        }
        digits += line[i] >= '0' && line[i] <= '9';
    }
    return digits > 0;
}

/* Finds and consumes the line that names the columns. Lines before it may be empty or begin with #. */
static slc_status read_header(slc_io_pixels *file, slc_error *error)
{
    text_state *state = file->state;
    for (;;) {
        const uint8_t *line = NULL;
        size_t size = 0;
        const slc_status status = peek_line(&file->stream, &line, &size, error);
        if (status < 0) {
            return status;
        }
        const bool good = status == SLC_OK && slc_io_pixel_parse_header(&state->layout, line, size);
        if (!good && status == SLC_OK && !is_blank(line, size) && state->layout.named > SLC_IO_PIXEL_FIELDS) {
            return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, file->stream.offset,
                                      "line %llu: names %zu columns, of which at most %d can be read",
                                      (unsigned long long)state->line + 1, state->layout.named,
                                      SLC_IO_PIXEL_FIELDS);
        }
        if (!good && (status == SLC_END || !is_blank(line, size))) {
            return slc_io_pixels_fail(
                file, error, SLC_ERR_FORMAT, file->stream.offset,
                "line %llu: names no columns of pixels: x and y, or Matrix Index, separated by commas, "
                "semicolons or tabs, must be among them%s",
                (unsigned long long)state->line + 1,
                status == SLC_OK && is_numbers(line, size)
                    ? "; a dense frame has 8 numbers or more in a line, whole and from 0 on"
                    : "");
        }
        if (good) {
            slc_io_pixel_tell_unread(&state->layout, line, size, &file->counts);
        }
        slc_io_stream_skip(&file->stream, size);
        state->line++;
        if (good) {
            return SLC_OK;
        }
    }
}

/* Most rows of a file have so many fields: one that is damaged must not decide for all. */
static size_t usual_fields(const slc_io_pixel_layout *layout, const uint8_t *bytes, size_t visible)
{
    size_t rows[SLC_IO_PIXEL_FIELDS + 1] = {0}, usual = layout->n_fields;
    for (size_t at = 0; at < visible;) {
        const size_t size = line_size(bytes + at, visible - at);
        const size_t n = slc_io_pixel_count_fields(layout, bytes + at, size);
        if (!is_blank(bytes + at, size) && n <= layout->n_fields) {
            rows[n]++;
            usual = rows[n] > rows[usual] ? n : usual;
        }
        at += size;
    }
    return usual;
}

/* Whether the rows are those of a sensor that is 512 wide: some have an index that one chip does not have,
 * and they are not the one or two in many that damage would make. */
static bool is_quad(const slc_io_pixel_layout *layout, const uint8_t *bytes, size_t visible)
{
    slc_io_pixel_layout wide = *layout;
    wide.width = wide.height = QUAD_WIDTH; /* lets the rows pass that tell that it is so */
    uint64_t rows = 0, beyond = 0;
    for (size_t at = 0; at < visible && beyond < 3;) {
        const size_t size = line_size(bytes + at, visible - at);
        slc_io_pixel_row row;
        size_t field;
        if (!is_blank(bytes + at, size)) {
            rows++;
            /* Index 65536 is row 128 of a sensor that is 512 wide. */
            beyond += slc_io_pixel_parse_row(&wide, bytes + at, size, &row, &field) == NULL &&
                      row.y >= CHIP_WIDTH * CHIP_WIDTH / QUAD_WIDTH;
        }
        at += size;
    }
    return beyond >= 3 || (beyond > 0 && 100 * beyond >= rows);
}

/* How many fields rows of t3pa have, and the number of columns of the sensor where the caller does not say
 * it, from the rows at hand. */
static slc_status look_ahead(slc_io_pixels *file, slc_error *error)
{
    const size_t most = SLC_IO_PIXELS_PROBE / 2;
    slc_io_pixel_layout *layout = &((text_state *)file->state)->layout;
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_pixels_look(file, most, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    visible = visible < most ? visible : most; /* the same, wherever the bytes come from */
    const size_t named = layout->n_fields;
    slc_io_pixel_fit_layout(layout, usual_fields(layout, bytes, visible));
    file->counts.absent_columns = named - layout->n_fields;
    layout->width = file->options.width;
    layout->height = file->options.height;
    if (layout->width == 0) {
        const bool quad = is_quad(layout, bytes, visible);
        layout->width = layout->height = quad ? QUAD_WIDTH : CHIP_WIDTH;
        file->counts.assumed_width = quad ? QUAD_WIDTH : 0;
    }
    file->info.width = layout->width;
    file->info.height = layout->height;
    return SLC_OK;
}

/* Are there times with a fraction among the first rows? Then all are read in ticks that are short enough: of
 * 0.1 ps where the header has a unit, in which 1.5625 ns are whole, else thousandths of the caller's. */
static slc_status look_for_fractions(slc_io_pixels *file, slc_error *error)
{
    const size_t most = SLC_IO_PIXELS_PROBE / 2;
    slc_io_pixel_layout *layout = &((text_state *)file->state)->layout;
    const int shift = slc_io_pixel_time_shift(file, layout->tick_seconds);
    const uint8_t *bytes;
    size_t visible;
    if (shift == 0) {
        return SLC_OK;
    }
    const slc_status status = slc_io_pixels_look(file, most, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    visible = visible < most ? visible : most;
    bool found = false;
    for (size_t at = 0; at < visible && !found;) {
        const size_t size = line_size(bytes + at, visible - at);
        found = (at + size < visible || bytes[at + size - 1] == '\n') && !is_blank(bytes + at, size) &&
                slc_io_pixel_has_fraction(layout, bytes + at, size);
        at += size;
    }
    if (found) {
        layout->time_shift = shift;
        layout->tick_seconds = slc_io_pixel_short_tick(file, layout->tick_seconds);
    }
    return SLC_OK;
}

static slc_status open_text(slc_io_pixels *file, slc_error *error)
{
    text_state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    file->state = state;
    slc_status status = read_header(file, error);
    if (status != SLC_OK) {
        return status;
    }
    state->matrix = slc_io_pixel_has(&state->layout, SLC_IO_PIXEL_MATRIX);
    file->info.format = state->matrix ? "t3pa" : "csv";
    status = state->matrix                                         ? look_ahead(file, error)
             : slc_io_pixel_has(&state->layout, SLC_IO_PIXEL_TIME) ? look_for_fractions(file, error)
                                                                   : SLC_OK;
    const slc_io_pixel_layout *layout = &state->layout;
    const bool time = slc_io_pixel_has(layout, SLC_IO_PIXEL_TIME);
    file->info.with = (slc_io_pixel_has(layout, SLC_IO_PIXEL_Z) ? SLC_PIXEL_Z : 0U) |
                      (slc_io_pixel_has(layout, SLC_IO_PIXEL_CHARGE) ? SLC_PIXEL_CHARGE : 0U) |
                      (time ? SLC_PIXEL_TIME : 0U);
    file->info.tick_seconds = !time ? 0 : state->matrix ? 25e-9 / FINE : layout->tick_seconds;
    file->info.frames = slc_io_pixel_has(layout, SLC_IO_PIXEL_FRAME);
    return status;
}

static void close_text(slc_io_pixels *file)
{
    text_state *state = file->state;
    if (state != NULL) {
        slc_io_pixel_frames_clear(file, &state->frames);
        free(state);
    }
}

const slc_io_pixels_format slc_io_pixels_text = {
    .probe = probe, .open = open_text, .close = close_text, .read = read_text};
