/* SPDX-License-Identifier: Apache-2.0
 *
 * NPY arrays of integers, one row a pixel: x, y, and where there are more columns charge and time. Arrays in
 * C order are read as they come; those in Fortran order, which NumPy writes for columns that were stacked and
 * transposed, must be in memory whole. docs/formats/pixel-lists.md.
 */
#include "io/io_npy.h"
#include "io/pixel/io_pixel_source.h"

#include <stdlib.h>

typedef struct npy_state {
    slc_io_number number;
    bool swap, fortran;
    size_t size, columns; /* bytes of a number, numbers of a row */
    uint64_t rows, next;
} npy_state;

/* ---- numbers --------------------------------------------------------------------------------- */

static size_t size_of(slc_io_number number)
{
    switch (number) {
    case SLC_IO_NUMBER_U8:
    case SLC_IO_NUMBER_I8:
        return 1;
    case SLC_IO_NUMBER_U16:
    case SLC_IO_NUMBER_I16:
        return 2;
    case SLC_IO_NUMBER_U32:
    case SLC_IO_NUMBER_I32:
        return 4;
    case SLC_IO_NUMBER_U64:
    case SLC_IO_NUMBER_I64:
        return 8;
    default:
        return 0;
    }
}

/* The number in 64 bits with a sign; *large becomes true for one that they do not hold. */
static int64_t load(const npy_state *state, const uint8_t *from, bool *large)
{
    const bool little = slc_io_number_little_endian() != state->swap;
    uint64_t bits = 0;
    for (size_t i = 0; i < state->size; i++) {
        bits |= (uint64_t)from[i] << 8 * (little ? i : state->size - 1 - i);
    }
    switch (state->number) {
    case SLC_IO_NUMBER_I8:
        return (int8_t)bits;
    case SLC_IO_NUMBER_I16:
        return (int16_t)bits;
    case SLC_IO_NUMBER_I32:
        return (int32_t)bits;
    case SLC_IO_NUMBER_U64:
        *large = bits > INT64_MAX;
        return (int64_t)bits;
    default:
        return (int64_t)bits;
    }
}

/* What is wrong with the numbers of a row; NULL if nothing is. */
static const char *why_not(const int64_t value[4], const bool large[4], size_t columns)
{
    static const char *const reasons[][2] = {{"a negative x", "an x above 65535"},
                                             {"a negative y", "a y above 65535"},
                                             {"a negative charge", "a charge above 4294967295"},
                                             {"", "a time above 9223372036854775807"}};
    static const int64_t most[] = {UINT16_MAX, UINT16_MAX, UINT32_MAX, INT64_MAX};
    for (size_t i = 0; i < columns; i++) {
        if (large[i] || value[i] > most[i]) {
            return reasons[i][1];
        }
        if (i < 3 && value[i] < 0) {
            return reasons[i][0];
        }
    }
    return NULL;
}

/* Appends a row, whose numbers are `step` bytes apart, or counts it as damaged. */
static void take_row(slc_io_pixels *file, const uint8_t *from, size_t step, slc_pixels *pixels,
                     uint64_t place)
{
    const npy_state *state = file->state;
    bool large[4] = {false};
    int64_t value[4] = {0};
    for (size_t i = 0; i < state->columns; i++) {
        value[i] = load(state, from + i * step, &large[i]);
    }
    const char *why = why_not(value, large, state->columns);
    if (why != NULL) {
        file->bad_rows++;
        slc_io_pixels_damage(file, place, "row %llu: %s", (unsigned long long)state->next, why);
        return;
    }
    const size_t row = pixels->head.size++;
    pixels->x[row] = (uint16_t)value[0];
    pixels->y[row] = (uint16_t)value[1];
    if (pixels->charge != NULL) {
        pixels->charge[row] = (uint32_t)value[2];
    }
    if (pixels->time != NULL) {
        pixels->time[row] = value[3];
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* After the array there should be nothing. */
static slc_status expect_end(slc_io_pixels *file, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible;
    bool told = false;
    for (;;) {
        const slc_status status = slc_io_stream_peek(&file->stream, 1, &bytes, &visible, error);
        if (status != SLC_OK || visible == 0) {
            return status != SLC_OK ? status : SLC_END;
        }
        if (!told) {
            slc_io_pixels_damage(file, file->stream.offset, "the file goes on behind the array");
        }
        told = true;
        slc_io_stream_skip(&file->stream, visible);
    }
}

/* All rows that are not there are one damage: their number is only what the header claims. */
static void miss_rows(slc_io_pixels *file, size_t visible)
{
    npy_state *state = file->state;
    if (!slc_io_pixels_is_cut(file)) {
        slc_io_pixels_damage(file, file->stream.offset, "the file ends, and %llu of %llu rows are missing",
                             (unsigned long long)(state->rows - state->next),
                             (unsigned long long)state->rows);
    }
    slc_io_stream_skip(&file->stream, visible);
    state->next = state->rows;
}

static slc_status read_rows(slc_io_pixels *file, slc_pixels *pixels, size_t last, slc_error *error)
{
    enum { PIECE = 1 << 12 };
    npy_state *state = file->state;
    const size_t size = state->size * state->columns;
    while (state->next < state->rows && pixels->head.size < last) {
        const uint64_t left = state->rows - state->next;
        const size_t want = left < PIECE ? (size_t)left : PIECE;
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(&file->stream, want * size, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        const size_t here = visible / size < want ? visible / size : want;
        size_t taken = 0;
        for (; taken < here && pixels->head.size < last; taken++, state->next++) {
            take_row(file, bytes + taken * size, state->size, pixels, file->stream.offset + taken * size);
        }
        slc_io_stream_skip(&file->stream, taken * size);
        if (taken == 0) {
            miss_rows(file, visible);
        }
    }
    return SLC_OK;
}

/* Numbers of a column stand together. Nothing is consumed before the last row is taken. */
static slc_status read_fortran(slc_io_pixels *file, slc_pixels *pixels, size_t last, slc_error *error)
{
    npy_state *state = file->state;
    const size_t step = (size_t)state->rows * state->size, size = step * state->columns;
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_stream_peek(&file->stream, size, &bytes, &visible, error);
    if (status != SLC_OK) {
        return status;
    }
    if (visible < size) {
        return slc_io_pixels_fail(file, error, SLC_ERR_FORMAT, file->stream.offset + visible,
                                  "the file ends, and %zu of %zu bytes of the array, which is in Fortran "
                                  "order, are missing",
                                  size - visible, size);
    }
    for (; state->next < state->rows && pixels->head.size < last; state->next++) {
        const size_t at = (size_t)state->next * state->size;
        take_row(file, bytes + at, step, pixels, file->stream.offset + at);
    }
    if (state->next == state->rows) {
        slc_io_stream_skip(&file->stream, size);
    }
    return SLC_OK;
}

static slc_status read_npy(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error)
{
    const npy_state *state = file->state;
    const size_t before = pixels->head.size;
    slc_status status = SLC_OK;
    if (state->next < state->rows) {
        status = state->fortran ? read_fortran(file, pixels, before + room, error)
                                : read_rows(file, pixels, before + room, error);
    }
    if (status != SLC_OK || pixels->head.size > before) {
        return status;
    }
    return expect_end(file, error);
}

/* ---- opening --------------------------------------------------------------------------------- */

static slc_status take_header(slc_io_pixels *file, const slc_io_npy_header *header, slc_error *error)
{
    const uint64_t most = (uint64_t)1 << 32; /* bytes of an array that must be in memory whole */
    npy_state *state = file->state;
    if (header->n_dimensions != 2 || header->shape[1] < 2 || header->shape[1] > 4) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->shape_at,
                                  "an array of this shape: (pixels, 2 to 4) can be read, the columns being "
                                  "x, y, charge and time");
    }
    *state = (npy_state){.number = header->number,
                         .swap = header->swap,
                         .fortran = header->fortran,
                         .size = size_of(header->number),
                         .columns = (size_t)header->shape[1],
                         .rows = header->shape[0]};
    if (state->size == 0) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->descr_at,
                                  "numbers that are no integers: u1 to u8 and i1 to i8 can be read");
    }
    if (state->fortran && state->rows > most / (state->size * state->columns)) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->shape_at,
                                  "an array in Fortran order must be in memory whole, and needs more than "
                                  "4 GiB: save it in C order");
    }
    file->info = (slc_io_pixels_info){.format = "npy",
                                      .with = (state->columns > 2 ? SLC_PIXEL_CHARGE : 0U) |
                                              (state->columns > 3 ? SLC_PIXEL_TIME : 0U)};
    return SLC_OK;
}

static slc_status open_npy(slc_io_pixels *file, slc_error *error)
{
    file->state = calloc(1, sizeof(npy_state));
    if (file->state == NULL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    slc_io_npy_header header;
    const slc_status status = slc_io_npy_read_header(&file->stream, &header, error);
    return status == SLC_OK ? take_header(file, &header, error) : status;
}

static void close_npy(slc_io_pixels *file)
{
    free(file->state);
}

const slc_io_pixels_format slc_io_pixels_npy = {
    .probe = slc_io_npy_probe, .open = open_npy, .close = close_npy, .read = read_npy};
