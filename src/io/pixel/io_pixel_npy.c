/* SPDX-License-Identifier: Apache-2.0
 *
 * NPY arrays, one row a pixel: numbers in columns x, y, and where there are more charge and time; or records,
 * whose columns have the names that those of CSV have. Arrays in C order are read as they come; those in
 * Fortran order, which NumPy writes for columns that were stacked and transposed, must be in memory whole.
 * docs/formats/pixel-lists.md.
 */
#include "io/io_npy.h"
#include "io/pixel/io_pixel_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN = 4, MOST = 6 };

/* A column that is read. */
typedef struct column {
    slc_io_number number;
    bool swap;
    slc_io_pixel_role role;
    size_t offset; /* from the row's first byte */
} column;

typedef struct npy_state {
    column column[MOST];
    size_t columns;
    bool fortran;
    size_t step, bytes; /* from row to row; of a row together */
    uint64_t rows, next;
    double time_scale; /* times with fractions, in ticks; 0: they are damage */
    slc_io_pixel_frames frames;
} npy_state;

/* ---- numbers --------------------------------------------------------------------------------- */

static size_t size_of(slc_io_number number)
{
    switch (number) {
    case SLC_IO_NUMBER_BOOL:
    case SLC_IO_NUMBER_U8:
    case SLC_IO_NUMBER_I8:
        return 1;
    case SLC_IO_NUMBER_U16:
    case SLC_IO_NUMBER_I16:
        return 2;
    case SLC_IO_NUMBER_U32:
    case SLC_IO_NUMBER_I32:
    case SLC_IO_NUMBER_F32:
        return 4;
    case SLC_IO_NUMBER_U64:
    case SLC_IO_NUMBER_I64:
    case SLC_IO_NUMBER_F64:
        return 8;
    default:
        return 0;
    }
}

static bool is_real(slc_io_number number)
{
    return number == SLC_IO_NUMBER_F32 || number == SLC_IO_NUMBER_F64;
}

static uint64_t bits_of(const column *c, const uint8_t *from)
{
    const size_t size = size_of(c->number);
    const bool little = slc_io_number_little_endian() != c->swap;
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        bits |= (uint64_t)from[i] << 8 * (little ? i : size - 1 - i);
    }
    return bits;
}

static double real_of(slc_io_number number, uint64_t bits)
{
    double value;
    if (number == SLC_IO_NUMBER_F32) {
        float narrow;
        const uint32_t low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        return narrow;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What is wrong with a number, in the words that stand behind its name; NULL: nothing. */
static const char *whole(double value, int64_t *to)
{
    if (!(value >= -0x1p63 && value < 0x1p63)) {
        return isnan(value) ? " that is no number" : value > 0 ? " that is too large" : " that is too small";
    }
    *to = (int64_t)value;
    return (double)*to == value ? NULL : " with a fraction";
}

/* The number in 64 bits with a sign. */
static const char *load(const column *c, const uint8_t *from, int64_t *value)
{
    const uint64_t bits = bits_of(c, from);
    switch (c->number) {
    case SLC_IO_NUMBER_I8:
        *value = (int64_t)(bits ^ 0x80) - 0x80; /* of a byte */
        break;
    case SLC_IO_NUMBER_I16:
        *value = (int16_t)bits;
        break;
    case SLC_IO_NUMBER_I32:
        *value = (int32_t)bits;
        break;
    case SLC_IO_NUMBER_F32:
    case SLC_IO_NUMBER_F64:
        return whole(real_of(c->number, bits), value);
    default:
        *value = (int64_t)bits;
        return c->number == SLC_IO_NUMBER_U64 && bits > INT64_MAX ? " above 9223372036854775807" : NULL;
    }
    return NULL;
}

/* Times with fractions, in ticks. */
static const char *load_time(const npy_state *state, const column *c, const uint8_t *from,
                             slc_io_pixel_row *row)
{
    if (!is_real(c->number) || state->time_scale == 0) {
        return load(c, from, &row->time);
    }
    const double product = real_of(c->number, bits_of(c, from)) * state->time_scale;
    if (!(fabs(product) < 0x1p63)) {
        return isnan(product) ? " that is no number" : " that is too large";
    }
    row->time = (int64_t)round(product);
    row->is_rounded = fabs(product - (double)row->time) > fabs(product) * 0x1p-51;
    return NULL;
}

static const char *check(int64_t value, int64_t most, const char *above)
{
    return value < 0 ? "" : value > most ? above : NULL;
}

static bool is_nan(const column *c, const uint8_t *from)
{
    return is_real(c->number) && isnan(real_of(c->number, bits_of(c, from)));
}

/* Puts a number where it belongs. What is wrong with it, an empty text for a negative one. */
static const char *take(const npy_state *state, const column *c, const uint8_t *from, slc_io_pixel_row *row)
{
    int64_t value = 0;
    if (c->role == SLC_IO_PIXEL_TIME) {
        return load_time(state, c, from, row);
    }
    if (c->role == SLC_IO_PIXEL_CHARGE && is_nan(c, from)) {
        row->no_charge = true;
        return NULL;
    }
    const char *why = load(c, from, &value);
    if (why != NULL) {
        return why;
    }
    switch (c->role) {
    case SLC_IO_PIXEL_X:
        row->x = (uint16_t)value;
        return check(value, UINT16_MAX, " above 65535");
    case SLC_IO_PIXEL_Y:
        row->y = (uint16_t)value;
        return check(value, UINT16_MAX, " above 65535");
    case SLC_IO_PIXEL_Z:
        row->z = (uint16_t)value;
        return check(value, UINT16_MAX, " above 65535");
    case SLC_IO_PIXEL_CHARGE:
        row->charge = (uint32_t)value;
        return check(value, UINT32_MAX, " above 4294967295");
    default:
        row->frame = value;
        return NULL;
    }
}

/* Reads a row, or counts it as damaged. */
static bool take_row(slc_io_pixels *file, const uint8_t *from, slc_io_pixel_row *row, uint64_t place)
{
    static const char *const names[] = {
        [SLC_IO_PIXEL_X] = "x",           [SLC_IO_PIXEL_Y] = "y",       [SLC_IO_PIXEL_Z] = "z",
        [SLC_IO_PIXEL_CHARGE] = "charge", [SLC_IO_PIXEL_TIME] = "time", [SLC_IO_PIXEL_FRAME] = "frame"};
    const npy_state *state = file->state;
    *row = (slc_io_pixel_row){.x = 0};
    for (size_t i = 0; i < state->columns; i++) {
        const column *c = &state->column[i];
        const char *why = take(state, c, from + c->offset, row);
        if (why != NULL) {
            const bool vowel = c->role == SLC_IO_PIXEL_X && why[0] != '\0';
            file->bad_rows++;
            slc_io_pixels_damage(file, place, "row %llu: %s%s %s%s", (unsigned long long)state->next,
                                 vowel ? "an" : "a", why[0] == '\0' ? " negative" : "", names[c->role], why);
            return false;
        }
    }
    file->counts.empty += row->no_charge ? 1 : 0;
    file->counts.rounded += row->is_rounded ? 1 : 0;
    return true;
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

/* The next row that is whole, of an array in C order. */
static slc_status next_row(slc_io_pixels *file, slc_io_pixel_row *row, slc_error *error)
{
    npy_state *state = file->state;
    while (state->next < state->rows) {
        const uint8_t *bytes = file->stream.bytes + file->stream.begin;
        size_t visible = file->stream.end - file->stream.begin;
        if (visible < state->bytes) {
            const slc_status status = slc_io_stream_peek(&file->stream, state->bytes, &bytes, &visible,
                                                         error);
            if (status != SLC_OK) {
                return status;
            }
        }
        if (visible < state->bytes) {
            miss_rows(file, visible);
            break;
        }
        const bool good = take_row(file, bytes, row, file->stream.offset);
        state->next++;
        slc_io_stream_skip(&file->stream, state->bytes);
        if (good) {
            return SLC_OK;
        }
    }
    return SLC_END;
}

static slc_status read_rows(slc_io_pixels *file, slc_pixels *pixels, size_t last, slc_error *error)
{
    slc_io_pixel_row row;
    while (pixels->head.size < last) {
        const slc_status status = next_row(file, &row, error);
        if (status != SLC_OK) {
            return status == SLC_END ? SLC_OK : status;
        }
        slc_io_pixel_append(pixels, &row);
    }
    return SLC_OK;
}

/* Numbers of a column stand together. Nothing is consumed before the last row is taken. */
static slc_status read_fortran(slc_io_pixels *file, slc_pixels *pixels, size_t last, slc_error *error)
{
    npy_state *state = file->state;
    const size_t size = (size_t)state->rows * state->bytes;
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
        const size_t at = (size_t)state->next * state->step;
        slc_io_pixel_row row;
        if (take_row(file, bytes + at, &row, file->stream.offset + at)) {
            slc_io_pixel_append(pixels, &row);
        }
    }
    if (state->next == state->rows) {
        slc_io_stream_skip(&file->stream, size);
    }
    return SLC_OK;
}

static slc_status read_npy(slc_io_pixels *file, slc_pixels *pixels, size_t room, slc_error *error)
{
    npy_state *state = file->state;
    const size_t before = pixels->head.size;
    const uint32_t events = pixels->head.n_events;
    slc_status status = SLC_OK;
    if (file->info.frames) {
        status = slc_io_pixel_frames_read(file, &state->frames, next_row, pixels, room, error);
        status = status == SLC_END ? SLC_OK : status;
    } else if (state->next < state->rows) {
        status = state->fortran ? read_fortran(file, pixels, before + room, error)
                                : read_rows(file, pixels, before + room, error);
    }
    if (status != SLC_OK || pixels->head.size > before || pixels->head.n_events > events) {
        return status;
    }
    return expect_end(file, error);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Plain numbers: a column each. */
static slc_status take_plain(slc_io_pixels *file, const slc_io_npy_header *header, slc_error *error)
{
    static const slc_io_pixel_role roles[PLAIN] = {SLC_IO_PIXEL_X, SLC_IO_PIXEL_Y, SLC_IO_PIXEL_CHARGE,
                                                   SLC_IO_PIXEL_TIME};
    const uint64_t most = (uint64_t)1 << 32; /* bytes of an array that must be in memory whole */
    const size_t size = size_of(header->number);
    npy_state *state = file->state;
    if (header->n_dimensions != 2 || header->shape[1] < 2 || header->shape[1] > PLAIN) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->shape_at,
                                  "an array of this shape: (pixels, 2 to 4) can be read, the columns being "
                                  "x, y, charge and time; or records");
    }
    if (size == 0 || header->number == SLC_IO_NUMBER_BOOL) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->descr_at,
                                  "numbers of this type: u1 to u8, i1 to i8, f4 and f8 can be read");
    }
    state->columns = (size_t)header->shape[1];
    state->fortran = header->fortran;
    state->bytes = state->columns * size;
    if (state->fortran && header->shape[0] > most / state->bytes) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->shape_at,
                                  "an array in Fortran order must be in memory whole, and needs more than "
                                  "4 GiB: save it in C order");
    }
    state->step = state->fortran ? size : state->bytes;
    for (size_t i = 0; i < state->columns; i++) {
        state->column[i] = (column){.number = header->number,
                                    .swap = header->swap,
                                    .role = roles[i],
                                    .offset = i * size * (state->fortran ? (size_t)header->shape[0] : 1)};
    }
    return SLC_OK;
}

static const column *column_of(const npy_state *state, slc_io_pixel_role role)
{
    for (size_t i = 0; i < state->columns; i++) {
        if (state->column[i].role == role) {
            return &state->column[i];
        }
    }
    return NULL;
}

/* Records: columns by their names; of two for the same the first counts, others are passed over. */
static slc_status take_records(slc_io_pixels *file, const slc_io_npy_header *header,
                               const slc_io_npy_records *records, double *unit, slc_error *error)
{
    npy_state *state = file->state;
    if (header->n_dimensions != 1) {
        return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->shape_at,
                                  "records of this shape: one dimension can be read");
    }
    for (size_t i = 0; i < records->n; i++) {
        const slc_io_npy_field *field = &records->field[i];
        const uint8_t *name = (const uint8_t *)field->name;
        double seconds = 0;
        const slc_io_pixel_role role = slc_io_pixel_role_of(name, name + strlen(field->name), &seconds);
        if (role == SLC_IO_PIXEL_OTHER || role > SLC_IO_PIXEL_FRAME || column_of(state, role) != NULL) {
            if (role != SLC_IO_PIXEL_INDEX && name[0] != '\0') { /* without a name: NumPy's padding */
                slc_io_pixels_unread(&file->counts, name, strlen(field->name));
            }
            continue;
        }
        if (size_of(field->number) == 0) {
            return slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->descr_at,
                                      "the column %s is of a type that is not read: u1 to u8, i1 to i8, f4 "
                                      "and f8 can be",
                                      field->name);
        }
        *unit = role == SLC_IO_PIXEL_TIME ? seconds : *unit;
        state->column[state->columns++] = (column){
            .number = field->number, .swap = field->swap, .role = role, .offset = field->offset};
    }
    state->bytes = state->step = records->size;
    return column_of(state, SLC_IO_PIXEL_X) != NULL && column_of(state, SLC_IO_PIXEL_Y) != NULL
               ? SLC_OK
               : slc_io_pixels_fail(file, error, SLC_ERR_UNSUPPORTED, header->descr_at,
                                    "records of which no columns are called x and y");
}

static slc_status take_header(slc_io_pixels *file, const slc_io_npy_header *header,
                              const slc_io_npy_records *records, slc_error *error)
{
    npy_state *state = file->state;
    double unit = 0;
    const slc_status status = records->size > 0 ? take_records(file, header, records, &unit, error)
                                                : take_plain(file, header, error);
    if (status != SLC_OK) {
        return status;
    }
    const column *time = column_of(state, SLC_IO_PIXEL_TIME);
    const int shift = time != NULL && is_real(time->number) ? slc_io_pixel_time_shift(file, unit) : 0;
    state->rows = header->shape[0];
    if (shift > 0) {
        state->time_scale = pow(10, shift);
        unit = slc_io_pixel_short_tick(file, unit);
    }
    file->info = (slc_io_pixels_info){
        .format = "npy",
        .with = (column_of(state, SLC_IO_PIXEL_Z) != NULL ? SLC_PIXEL_Z : 0U) |
                (column_of(state, SLC_IO_PIXEL_CHARGE) != NULL ? SLC_PIXEL_CHARGE : 0U) |
                (time != NULL ? SLC_PIXEL_TIME : 0U),
        .tick_seconds = unit,
        .frames = column_of(state, SLC_IO_PIXEL_FRAME) != NULL};
    return SLC_OK;
}

static slc_status open_npy(slc_io_pixels *file, slc_error *error)
{
    file->state = calloc(1, sizeof(npy_state));
    slc_io_npy_records *records = calloc(1, sizeof *records);
    slc_io_npy_header header;
    slc_status status;
    if (file->state == NULL || records == NULL) {
        status = slc_io_pixels_fail(file, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    } else {
        status = slc_io_npy_read_records(&file->stream, &header, records, error);
        status = status == SLC_OK ? take_header(file, &header, records, error) : status;
    }
    free(records);
    return status;
}

static void close_npy(slc_io_pixels *file)
{
    npy_state *state = file->state;
    if (state != NULL) {
        slc_io_pixel_frames_clear(file, &state->frames);
        free(state);
    }
}

const slc_io_pixels_format slc_io_pixels_npy = {
    .probe = slc_io_npy_probe, .open = open_npy, .close = close_npy, .read = read_npy};
