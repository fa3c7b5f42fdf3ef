/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading NPY, the array files of NumPy: versions 1.0, 2.0 and 3.0, both orders of the axes and of the bytes.
 * io_npy.c reads the header. Arrays in C order are read as they come; those in Fortran order must be in
 * memory whole, as rows are scattered over all of it. docs/formats/npy.md; the format is NumPy's NEP 1.
 */
#include "io/io_npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct npy_state {
    slc_io_image_unit unit;
    slc_image_type type;
    bool fortran;
    uint64_t pages, height, width, samples; /* samples: of a pixel; 3 or 4 are colours */
} npy_state;

/* ---- opening --------------------------------------------------------------------------------- */

/* What programs that load photographs make: (height, width, 3 or 4) of the types that photographs have, and
 * (height, width, 1) of any. */
static bool is_flat(const slc_io_npy_header *p)
{
    return p->n_dimensions == 3 && p->shape[2] == 1;
}

static bool is_colour(const slc_io_npy_header *p)
{
    return p->n_dimensions == 3 && (p->number == SLC_IO_NUMBER_U8 || p->number == SLC_IO_NUMBER_U16) &&
           (p->shape[2] == 3 || p->shape[2] == 4);
}

static slc_status take_header(slc_io_images *images, const slc_io_npy_header *p, npy_state *state,
                              slc_error *error)
{
    if (p->n_dimensions != 2 && p->n_dimensions != 3) {
        return slc_io_image_fail(
            images, error, SLC_ERR_UNSUPPORTED, p->shape_at,
            "an array of %zu dimensions: 2 (an image) and 3 (a stack of images) can be read",
            p->n_dimensions);
    }
    const bool colour = is_colour(p) && !images->config.volume, flat = is_flat(p) && !images->config.volume;
    const bool stack = p->n_dimensions == 3 && !colour && !flat;
    const uint64_t *sides = p->shape + (stack ? 1 : 0);
    state->pages = stack ? p->shape[0] : 1;
    state->height = sides[0];
    state->width = sides[1];
    state->samples = colour ? p->shape[2] : 1;
    state->fortran = p->fortran;
    const slc_io_number number = images->config.labels
                                     ? slc_io_number_label(p->number, images->config.label_values)
                                     : p->number;
    state->type = slc_io_number_type(number);
    state->unit = colour ? slc_io_number_colour_unit(number, p->swap, (size_t)state->samples)
                         : slc_io_number_unit(number, p->swap);
    if (state->pages == 0 || state->height == 0 || state->width == 0) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, p->shape_at, "an array without pixels");
    }
    return SLC_OK;
}

static void close_npy(slc_io_images *images)
{
    free(images->state);
}

static slc_status open_npy(slc_io_images *images, slc_error *error)
{
    images->state = calloc(1, sizeof(npy_state));
    if (images->state == NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE, "no memory to read it");
    }
    slc_io_npy_header header;
    const slc_status status = slc_io_npy_read_header(&images->stream, &header, error);
    return status == SLC_OK ? take_header(images, &header, images->state, error) : status;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Brings the whole array into the stream's memory, which grows as bytes arrive. */
static slc_status hold_array(slc_io_images *images, const npy_state *state, const uint8_t **bytes,
                             slc_error *error)
{
    const uint64_t plane = state->height * state->width; /* below 2^64: the sides are below 2^32 */
    const uint64_t most = images->config.max_bytes / state->unit.in / state->pages;
    if (plane > most) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE,
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

/* After the array there must be nothing. */
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
    images->in_parts = !state->fortran;
    const slc_status status = slc_io_image_shape(images, state->type, state->width, state->height, error);
    if (status != SLC_OK) {
        return status;
    }
    if (state->samples == 4) {
        slc_io_image_warn(images, "of the 4 samples of each pixel the last, alpha, is not read");
    }
    return state->fortran ? next_fortran(images, state, error)
                          : slc_io_image_fill(images, &state->unit, error);
}

/* A plane is as long as its neighbours; one that is not there is told when it is read. */
static slc_status pass(slc_io_images *images, slc_error *error)
{
    const npy_state *state = images->state;
    if (images->page > state->pages) {
        return SLC_END;
    }
    const slc_status status = slc_io_image_shape(images, state->type, state->width, state->height, error);
    if (status != SLC_OK || state->fortran) {
        return status != SLC_OK ? status : next(images, error);
    }
    const size_t bytes = images->size / state->unit.out * state->unit.in;
    return slc_io_stream_jump(&images->stream, bytes) ? SLC_OK : next(images, error);
}

const slc_io_image_format slc_io_image_npy = {.name = "npy",
                                              .probe = slc_io_npy_probe,
                                              .open = open_npy,
                                              .close = close_npy,
                                              .next = next,
                                              .pass = pass};
