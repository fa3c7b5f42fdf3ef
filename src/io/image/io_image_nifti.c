/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading NIfTI, versions 1 and 2 in one file (.nii), also packed by gzip (.nii.gz): what scanners of heads
 * and small animals, and programs that segment their volumes, exchange. Its slices are pages, x lies in a
 * row, y counts rows. Numbers that are scaled in the file (scl_slope, scl_inter) are read scaled, as floats.
 * docs/formats/nifti.md; the format is nifti1.h and nifti2.h of the NIfTI working group.
 */
#include "io/image/io_image_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEADER_1 = 348, HEADER_2 = 540, PIECE = 1 << 18, MOST_BYTES = 8 /* of a number */ };

typedef struct nifti_state {
    z_stream inflate;
    bool packed, open, ended; /* gzip; `inflate` is in use; its last member has ended */
    uint64_t offset;          /* of the next byte, unpacked */
    slc_io_image_unit unit;
    slc_image_type type;
    uint64_t width, height, slices;
    slc_io_number number;
    bool swap, scaled;
    double slope, inter;
    uint8_t piece[PIECE + MOST_BYTES];
} nifti_state;

/* ---- bytes, packed or not ---------------------------------------------------------------------- */

static slc_status bad_packing(const slc_io_images *images, slc_error *error)
{
    return slc_io_image_fail(images, error, SLC_ERR_FORMAT, images->stream.offset,
                             "packed bytes (gzip) that cannot be unpacked");
}

/* Unpacks into `to`; fewer than n bytes only where the file ends. */
static slc_status unpack(slc_io_images *images, nifti_state *state, uint8_t *to, size_t n, size_t *got,
                         slc_error *error)
{
    z_stream *z = &state->inflate;
    *got = 0;
    while (*got < n) {
        const uint8_t *bytes;
        size_t visible;
        const slc_status status = slc_io_stream_peek(&images->stream, 1, &bytes, &visible, error);
        if (status == SLC_OK && visible == 0 && !state->ended) {
            return slc_io_image_fail(images, error, SLC_ERR_FORMAT, images->stream.offset,
                                     "the packed file (gzip) is cut off");
        }
        if (status != SLC_OK || visible == 0) {
            return status;
        }
        if (state->ended && (bytes[0] != 0x1f || inflateReset(z) != Z_OK)) { /* what follows is no member */
            return bad_packing(images, error);
        }
        state->ended = false;
        const size_t in = visible < PIECE ? visible : PIECE, room = n - *got < PIECE ? n - *got : PIECE;
        z->next_in = (Bytef *)bytes;
        z->avail_in = (uInt)in;
        z->next_out = to + *got;
        z->avail_out = (uInt)room;
        const int result = inflate(z, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END) {
            return bad_packing(images, error);
        }
        state->ended = result == Z_STREAM_END;
        slc_io_stream_skip(&images->stream, in - z->avail_in);
        *got += room - z->avail_out;
    }
    return SLC_OK;
}

/* The next n bytes of the file, as they are unpacked; fewer only where it ends. */
static slc_status take(slc_io_images *images, nifti_state *state, uint8_t *to, size_t n, size_t *got,
                       slc_error *error)
{
    slc_status status;
    if (state->packed) {
        status = unpack(images, state, to, n, got, error);
    } else {
        const uint8_t *bytes;
        size_t visible;
        status = slc_io_stream_peek(&images->stream, n, &bytes, &visible, error);
        *got = status != SLC_OK ? 0 : visible < n ? visible : n;
        if (*got > 0) {
            memcpy(to, bytes, *got);
            slc_io_stream_skip(&images->stream, *got);
        }
    }
    state->offset += *got;
    return status;
}

/* ---- the header -------------------------------------------------------------------------------- */

static uint64_t whole(const uint8_t *at, size_t size, bool swap)
{
    const bool little = slc_io_number_little_endian() != swap;
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        bits |= (uint64_t)at[i] << 8 * (little ? i : size - 1 - i);
    }
    return bits;
}

static double real(const uint8_t *at, size_t size, bool swap)
{
    const uint64_t bits = whole(at, size, swap);
    const uint32_t half = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &half, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return size == 4 ? (double)single : value;
}

/* The size of a header, which is its first number, in either order of bytes; 0: none of NIfTI. */
static size_t header_size(const uint8_t *bytes, bool *swap)
{
    for (int i = 0; i < 2; i++) {
        *swap = i == 1;
        const uint64_t size = whole(bytes, 4, *swap);
        if (size == HEADER_1 || size == HEADER_2) {
            return (size_t)size;
        }
    }
    return 0;
}

static bool is_gzip(const uint8_t *bytes, size_t size)
{
    return size > 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static bool probe(const uint8_t *bytes, size_t size)
{
    bool swap;
    if (is_gzip(bytes, size)) {
        return true;
    }
    const size_t header = size >= 12 ? header_size(bytes, &swap) : 0;
    return header == HEADER_1 || (header == HEADER_2 && memcmp(bytes + 4, "n+2", 4) == 0);
}

/* The datatype's code. */
static slc_io_number number_of(uint64_t code)
{
    static const struct {
        uint16_t code;
        uint16_t number;
    } codes[] = {{2, SLC_IO_NUMBER_U8},    {4, SLC_IO_NUMBER_I16},   {8, SLC_IO_NUMBER_I32},
                 {16, SLC_IO_NUMBER_F32},  {64, SLC_IO_NUMBER_F64},  {256, SLC_IO_NUMBER_I8},
                 {512, SLC_IO_NUMBER_U16}, {768, SLC_IO_NUMBER_U32}, {1024, SLC_IO_NUMBER_I64},
                 {1280, SLC_IO_NUMBER_U64}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (codes[i].code == code) {
            return (slc_io_number)codes[i].number;
        }
    }
    return SLC_IO_NUMBER_NONE;
}

/* Sides from dim[1] on; there may be more dimensions as long as they are of one element. */
static slc_status take_sides(slc_io_images *images, nifti_state *state, const uint8_t *dim, size_t size,
                             uint64_t place, slc_error *error)
{
    const uint64_t n = whole(dim, size, state->swap);
    uint64_t *sides[3] = {&state->width, &state->height, &state->slices};
    if (n < 1 || n > 7) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, place,
                                 "%lld dimensions: NIfTI has from 1 to 7",
                                 (long long)(size == 2 ? (int16_t)n : (int64_t)n));
    }
    state->width = state->height = state->slices = 1;
    for (uint64_t i = 1; i <= n; i++) {
        const uint64_t side = whole(dim + i * size, size, state->swap);
        if (i > 3 && side == 0) { /* as some programs leave sides that they do not use */
            continue;
        }
        if (side == 0 || side >> (8 * size - 1) != 0) {
            return slc_io_image_fail(images, error, SLC_ERR_FORMAT, place + i * size,
                                     "side %llu of the volume is not from 1 on", (unsigned long long)i);
        }
        if (i > 3 && side != 1) {
            return slc_io_image_fail(
                images, error, SLC_ERR_UNSUPPORTED, place + i * size,
                "%llu volumes (dimension %llu): one of up to three dimensions can be read",
                (unsigned long long)side, (unsigned long long)i);
        }
        if (i <= 3) {
            *sides[i - 1] = side;
        }
    }
    return SLC_OK;
}

static size_t convert_scaled(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to);

static slc_status take_header(slc_io_images *images, nifti_state *state, const uint8_t *h, bool second,
                              uint64_t *begin, slc_error *error)
{
    const uint64_t code = whole(h + (second ? 12 : 70), 2, state->swap);
    const double slope = second ? real(h + 176, 8, state->swap) : real(h + 112, 4, state->swap);
    const double inter = second ? real(h + 184, 8, state->swap) : real(h + 116, 4, state->swap);
    const double at = second ? (double)(int64_t)whole(h + 168, 8, state->swap)
                             : real(h + 108, 4, state->swap);
    const slc_status status = take_sides(images, state, h + (second ? 16 : 40), second ? 8 : 2,
                                         second ? 16 : 40, error);
    if (status != SLC_OK) {
        return status;
    }
    state->number = number_of(code);
    if (state->number == SLC_IO_NUMBER_NONE) {
        return slc_io_image_fail(
            images, error, SLC_ERR_UNSUPPORTED, second ? 12 : 70,
            "voxels of type %llu: integers of 8 to 64 bits and floats of 32 and 64 can be "
            "read",
            (unsigned long long)code);
    }
    /* Some writers leave it 0 in NIfTI-1, which means that the voxels follow the header. */
    *begin = second ? HEADER_2 : HEADER_1;
    if (!(at >= 0 && at < 0x1p53) || (at > 0 && (uint64_t)at < *begin) || at > floor(at)) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, second ? 168 : 108,
                                 "voxels that begin at byte %g cannot be", at);
    }
    *begin = at > 0 ? (uint64_t)at : *begin;
    /* A slope of 0 or that is no number means none: programs write either where nothing is scaled. */
    const bool scales = !isnan(slope) && slope != 0;
    if (scales && !(isfinite(slope) && isfinite(inter))) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, second ? 176 : 112,
                                 "voxels that are to be scaled by %g and %g (scl_slope, scl_inter)", slope,
                                 inter);
    }
    state->scaled = scales && (slope != 1 || inter != 0);
    if (images->config.labels && !state->scaled) {
        state->number = slc_io_number_label(state->number, images->config.label_values);
    }
    state->slope = slope;
    state->inter = inter;
    state->type = state->scaled ? SLC_IMAGE_F32 : slc_io_number_type(state->number);
    state->unit = slc_io_number_unit(state->number, state->swap);
    const uint64_t bits = whole(h + (second ? 14 : 72), 2, state->swap); /* some writers leave it 0 */
    if (bits != 0 && bits != 8 * state->unit.in) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, second ? 14 : 72,
                                 "voxels of type %llu have %zu bits, not %llu (bitpix)",
                                 (unsigned long long)code, 8 * state->unit.in, (unsigned long long)bits);
    }
    if (state->scaled) {
        state->unit.out = sizeof(float);
        state->unit.convert = convert_scaled;
        state->unit.context = state;
    }
    return SLC_OK;
}

/* How large a voxel is, where the file names the unit; sides are written with a sign by some programs, which
 * mean the orientation. */
static slc_io_image_size size_of(const nifti_state *state, const uint8_t *h, bool second)
{
    static const double units[] = {0, 1e6, 1e3, 1}; /* unknown, m, mm, um */
    const uint64_t code = (second ? whole(h + 500, 4, state->swap) : h[123]) & 7;
    const double um = code < sizeof units / sizeof *units ? units[code] : 0;
    const size_t at = second ? 104 : 76, size = second ? 8 : 4;
    double side[3];
    bool known = um > 0;
    for (size_t i = 0; i < 3; i++) {
        side[i] = fabs(real(h + at + (i + 1) * size, size, state->swap)) * um;
        side[i] = isfinite(side[i]) ? side[i] : 0;
        known = known && (i == 2 || side[i] > 0);
    }
    return known ? (slc_io_image_size){side[0], side[1], side[2], "NIfTI"}
                 : (slc_io_image_size){.from = NULL};
}

static slc_status no_nifti(const slc_io_images *images, const nifti_state *state, slc_error *error)
{
    return state->packed ? slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, 0,
                                             "a gzip file: unpack it first (NIfTI alone is read as it is)")
                         : slc_io_image_fail(images, error, SLC_ERR_FORMAT, 0,
                                             "the header of NIfTI is not complete, or is that of a pair of "
                                             "files (.hdr, .img)");
}

/* Goes to where voxels begin. Extensions of the header lie in between. */
static slc_status pass_to(slc_io_images *images, nifti_state *state, uint64_t begin, slc_error *error)
{
    while (state->offset < begin) {
        const uint64_t left = begin - state->offset;
        const size_t want = left < PIECE ? (size_t)left : PIECE;
        size_t got;
        const slc_status status = take(images, state, state->piece, want, &got, error);
        if (status != SLC_OK) {
            return status;
        }
        if (got < want) {
            return slc_io_image_fail(images, error, SLC_ERR_FORMAT, state->offset,
                                     "the file ends in front of its voxels, at byte %llu",
                                     (unsigned long long)begin);
        }
    }
    return SLC_OK;
}

static void close_nifti(slc_io_images *images)
{
    nifti_state *state = images->state;
    if (state != NULL && state->open) {
        (void)inflateEnd(&state->inflate);
    }
    free(state);
}

static slc_status open_nifti(slc_io_images *images, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible, got;
    slc_status status = slc_io_stream_peek(&images->stream, 3, &bytes, &visible, error);
    nifti_state *state = calloc(1, sizeof *state);
    images->state = state;
    if (state == NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    if (status != SLC_OK) {
        return status;
    }
    state->packed = is_gzip(bytes, visible);
    state->open = state->packed && inflateInit2(&state->inflate, 15 + 16) == Z_OK;
    if (state->packed && !state->open) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to unpack it");
    }
    uint8_t *h = state->piece;
    status = take(images, state, h, HEADER_1, &got, error);
    if (status != SLC_OK && !state->packed) {
        return status;
    }
    const size_t size = got == HEADER_1 ? header_size(h, &state->swap) : 0;
    if (size == HEADER_2) {
        status = take(images, state, h + HEADER_1, HEADER_2 - HEADER_1, &got, error);
        got += HEADER_1;
    }
    const bool complete = status == SLC_OK && size != 0 && got == size;
    const bool alone = complete &&
                       (size == HEADER_2 ? memcmp(h + 4, "n+2", 4) == 0 : memcmp(h + 344, "n+1", 4) == 0);
    if (!alone) {
        return no_nifti(images, state, error);
    }
    uint64_t begin = 0;
    status = take_header(images, state, h, size == HEADER_2, &begin, error);
    images->pixel = size_of(state, h, size == HEADER_2);
    return status == SLC_OK ? pass_to(images, state, begin, error) : status;
}

/* ---- slices ------------------------------------------------------------------------------------ */

static double value_of(const nifti_state *state, const uint8_t *at)
{
    const size_t size = state->unit.in;
    const uint64_t bits = whole(at, size, state->swap);
    switch (state->number) {
    case SLC_IO_NUMBER_I8:
        return (int8_t)bits;
    case SLC_IO_NUMBER_I16:
        return (int16_t)bits;
    case SLC_IO_NUMBER_I32:
        return (int32_t)bits;
    case SLC_IO_NUMBER_I64:
        return (double)(int64_t)bits;
    case SLC_IO_NUMBER_F32:
    case SLC_IO_NUMBER_F64:
        return real(at, size, state->swap);
    default:
        return (double)bits;
    }
}

static size_t convert_scaled(const slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to)
{
    const nifti_state *state = unit->context;
    for (size_t i = 0; i < n; i++) {
        const float value = (float)(state->slope * value_of(state, from + i * unit->in) + state->inter);
        memcpy((uint8_t *)to + i * sizeof value, &value, sizeof value);
    }
    return n;
}

/* Behind the voxels there may be bytes: blocks of a tape, or another program's; they are told. */
static slc_status end_of(slc_io_images *images, nifti_state *state, slc_error *error)
{
    size_t got;
    const slc_status status = take(images, state, state->piece, 1, &got, error);
    if (status == SLC_OK && got > 0) {
        slc_io_image_warn(images, "bytes behind the last slice are not read");
    }
    return status != SLC_OK ? status : SLC_END;
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    nifti_state *state = images->state;
    if (images->page > state->slices) {
        return end_of(images, state, error);
    }
    slc_status status = slc_io_image_shape(images, state->type, state->width, state->height, error);
    const slc_io_image_unit *unit = &state->unit;
    const size_t n = images->size / unit->out, most = PIECE / unit->in;
    for (size_t done = 0; status == SLC_OK && done < n;) {
        const size_t want = n - done < most ? n - done : most;
        size_t got;
        status = take(images, state, state->piece, want * unit->in, &got, error);
        const size_t here = got / unit->in;
        status = status == SLC_OK ? slc_io_image_grow(images, (done + here) * unit->out, error) : status;
        if (status != SLC_OK) {
            break;
        }
        const size_t good = here > 0
                                ? unit->convert(unit, state->piece, here, images->pixels + done * unit->out)
                                : 0;
        if (good < here) {
            return slc_io_image_refuse(images, unit, state->piece + good * unit->in,
                                       state->offset - got + good * unit->in, error);
        }
        if (here < want) {
            return slc_io_image_fail(images, error, SLC_ERR_FORMAT, state->offset,
                                     "the file ends in slice %zu of %llu, and of %zu voxels %zu are missing",
                                     images->page, (unsigned long long)state->slices, n, n - done - here);
        }
        done += here;
    }
    return status;
}

const slc_io_image_format slc_io_image_nifti = {
    .name = "nifti", .probe = probe, .open = open_nifti, .close = close_nifti, .next = next};
