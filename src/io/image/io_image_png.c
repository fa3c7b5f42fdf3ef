/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading PNG through libpng, from the stream, so that pipes work. What libpng has to say becomes our error's
 * text, and it allocates nothing for a row before the file is known to hold enough bytes for the pixels that
 * its header claims. The passes of interlaced files are read as the small images that they are, so nothing
 * but the page itself is kept. docs/formats/png.md.
 */
#include "base/bytes.h"
#include "io/image/io_image_source.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reading {
    slc_io_images *images;
    slc_error *error;
    slc_status status; /* of the failure that made libpng give up */
    jmp_buf give_up;
    png_structp png;
    png_infop info;
    uint8_t *row;
    png_uint_32 width, height;
    int depth, colour, interlaced;
    size_t in; /* bytes of a pixel in a row that libpng hands over; 0 for bits */
    uint8_t palette[256];
    int n_palette;
} reading;

static bool probe(const uint8_t *bytes, size_t size)
{
    return size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

/* ---- what libpng calls ----------------------------------------------------------------------- */

static void on_error(png_structp png, png_const_charp text)
{
    reading *r = png_get_error_ptr(png);
    if (r->status == SLC_OK) {
        r->status = slc_io_image_fail(r->images, r->error, SLC_ERR_FORMAT, r->images->stream.offset,
                                      "libpng: %s", text);
    }
    longjmp(r->give_up, 1);
}

/* Warnings are about what is not pixels. */
static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep to, size_t size)
{
    reading *r = png_get_io_ptr(png);
    slc_io_stream *stream = &r->images->stream;
    while (size > 0) {
        enum { PIECE = 1 << 16 };
        const uint8_t *bytes = NULL;
        size_t visible = 0;
        const size_t want = size < PIECE ? size : PIECE;
        r->status = slc_io_stream_peek(stream, want, &bytes, &visible, r->error);
        if (r->status == SLC_OK && visible < want) {
            r->status = slc_io_image_fail(r->images, r->error, SLC_ERR_FORMAT, stream->offset + visible,
                                          "the file ends in the middle of the image");
        }
        if (r->status != SLC_OK) {
            png_error(png, "");
        }
        memcpy(to, bytes, want);
        slc_io_stream_skip(stream, want);
        to += want;
        size -= want;
    }
}

/* ---- header ---------------------------------------------------------------------------------- */

static void check(reading *r, slc_status status)
{
    if (status != SLC_OK) {
        r->status = status;
        longjmp(r->give_up, 1);
    }
}

static void start(reading *r)
{
    /* Sizes are checked against max_bytes below; what is not pixels is left out, and may not be large. */
    png_set_user_limits(r->png, 0x7fffffff, 0x7fffffff);
    png_set_chunk_malloc_max(r->png, 1 << 20);
    png_set_chunk_cache_max(r->png, 64);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_fn(r->png, r, on_read);
    png_read_info(r->png, r->info);
    (void)png_get_IHDR(r->png, r->info, &r->width, &r->height, &r->depth, &r->colour, &r->interlaced, NULL,
                       NULL);
}

/* Deflate makes at most 1032 bytes of one: a file that is too short for its header is refused before any row
 * is allocated. Looking at the bytes reads no further than the stream reaches, and keeps what it reads. */
static void expect_bytes(reading *r)
{
    enum { DEFLATE = 1032 };
    const uint64_t row = png_get_rowbytes(r->png, r->info), height = r->height;
    const uint64_t least = row / DEFLATE * height + row % DEFLATE * height / DEFLATE;
    const uint8_t *bytes;
    size_t visible;
    check(r, slc_io_stream_peek(&r->images->stream, (size_t)least, &bytes, &visible, r->error));
    if (visible < least) {
        check(r, slc_io_image_fail(r->images, r->error, SLC_ERR_FORMAT, r->images->stream.offset + visible,
                                   "the file ends: too short for the %lu x %lu pixels of its header",
                                   (unsigned long)r->width, (unsigned long)r->height));
    }
}

static void take_palette(reading *r)
{
    png_colorp colours = NULL;
    (void)png_get_PLTE(r->png, r->info, &colours, &r->n_palette);
    for (int i = 0; i < r->n_palette; i++) {
        r->palette[i] = r->images->config.labels
                            ? (uint8_t)i
                            : (uint8_t)slc_io_image_luma(colours[i].red, colours[i].green, colours[i].blue);
    }
}

/* What libpng does on the way: grey of 2 and 4 bits is spread over 0 … 255, numbers of colours become bytes,
 * 16 bits get the order of this machine. Alpha stays, and is stepped over. */
static void set_transforms(reading *r)
{
    const bool bits = r->colour == PNG_COLOR_TYPE_GRAY && r->depth == 1;
    const slc_image_type type = bits ? SLC_IMAGE_BITS : r->depth == 16 ? SLC_IMAGE_U16 : SLC_IMAGE_U8;
    check(r, slc_io_image_shape(r->images, type, r->width, r->height, r->error));
    expect_bytes(r);
    if (bits) {
        png_set_packswap(r->png);
    } else if (r->colour == PNG_COLOR_TYPE_PALETTE) {
        take_palette(r);
        png_set_packing(r->png);
    } else if ((r->colour & PNG_COLOR_MASK_COLOR) != 0) {
        check(r, slc_io_image_colours(r->images, r->error));
    } else if (r->depth < 8) {
        png_set_expand_gray_1_2_4_to_8(r->png);
    }
    const uint16_t one = 1;
    if (r->depth == 16 && *(const uint8_t *)&one == 1) {
        png_set_swap(r->png);
    }
    png_read_update_info(r->png, r->info);
    r->in = bits ? 0 : png_get_channels(r->png, r->info) * (r->depth == 16 ? 2U : 1U);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Pixel x of a row that libpng gave, as grey. */
static uint32_t grey_at(reading *r, size_t x)
{
    const uint8_t *pixel = r->row + x * r->in;
    if (r->colour == PNG_COLOR_TYPE_PALETTE) {
        if (pixel[0] >= r->n_palette) {
            check(r, slc_io_image_fail(r->images, r->error, SLC_ERR_FORMAT, SLC_IO_NO_PLACE,
                                       "a pixel has colour number %u of a palette of %d", pixel[0],
                                       r->n_palette));
        }
        return r->palette[pixel[0]];
    }
    const bool colour = (r->colour & PNG_COLOR_MASK_COLOR) != 0;
    if (r->depth == 16) {
        uint16_t sample[3];
        memcpy(sample, pixel, colour ? 6 : 2);
        return colour ? slc_io_image_luma(sample[0], sample[1], sample[2]) : sample[0];
    }
    return colour ? slc_io_image_luma(pixel[0], pixel[1], pixel[2]) : pixel[0];
}

/* Puts the n pixels of a row at every `step`th pixel of page row y from `first` on. */
static void place_row(reading *r, size_t n, size_t y, size_t first, size_t step)
{
    uint8_t *to = r->images->pixels + y * r->images->row_bytes;
    for (size_t i = 0, x = first; i < n; i++, x += step) {
        if (r->in == 0) {
            const unsigned bit = r->row[i / 8] >> i % 8 & 1U, mask = 1U << x % 8;
            to[x / 8] = (uint8_t)(bit != 0 ? to[x / 8] | mask : to[x / 8] & ~mask);
        } else if (r->depth == 16) {
            ((uint16_t *)(void *)to)[x] = (uint16_t)grey_at(r, i);
        } else {
            to[x] = (uint8_t)grey_at(r, i);
        }
    }
}

static void read_plain(reading *r)
{
    const bool as_it_is = r->in == 0 || r->colour == PNG_COLOR_TYPE_GRAY;
    for (size_t y = 0; y < r->height; y++) {
        const size_t end = (y + 1) * r->images->row_bytes;
        check(r, slc_io_image_grow(r->images, end, r->error));
        uint8_t *to = r->images->pixels + end - r->images->row_bytes;
        png_read_row(r->png, as_it_is ? to : r->row, NULL);
        if (!as_it_is) {
            place_row(r, r->width, y, 0, 1);
        } else if (r->in == 0) {
            slc_io_image_trim(to, r->width);
        }
    }
}

/* How many of `size` rows or columns belong to a pass. */
static size_t pass_size(size_t size, size_t start, size_t step)
{
    return size > start ? (size - start + step - 1) / step : 0;
}

/* Adam7: seven images, each a grid of pixels of the whole. */
static void read_passes(reading *r)
{
    static const uint8_t column_start[7] = {0, 4, 0, 2, 0, 1, 0}, column_step[7] = {8, 8, 4, 4, 2, 2, 1};
    static const uint8_t row_start[7] = {0, 0, 4, 0, 2, 0, 1}, row_step[7] = {8, 8, 8, 4, 4, 2, 2};
    check(r, slc_io_image_grow(r->images, r->images->size, r->error));
    memset(r->images->pixels, 0, r->images->size);
    for (int pass = 0; pass < 7; pass++) {
        const size_t columns = pass_size(r->width, column_start[pass], column_step[pass]);
        const size_t rows = pass_size(r->height, row_start[pass], row_step[pass]);
        for (size_t y = 0; columns > 0 && y < rows; y++) {
            png_read_row(r->png, r->row, NULL);
            place_row(r, columns, row_start[pass] + y * row_step[pass], column_start[pass],
                      column_step[pass]);
        }
    }
}

/* Everything that may be left by longjmp; what it changes is behind the pointer. */
static slc_status read_image(reading *r)
{
    if (setjmp(r->give_up) != 0) {
        return r->status;
    }
    start(r);
    set_transforms(r);
    r->row = malloc(png_get_rowbytes(r->png, r->info));
    if (r->row == NULL) {
        return slc_io_image_fail(r->images, r->error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE,
                                 "no memory for a row of %zu bytes", png_get_rowbytes(r->png, r->info));
    }
    if (r->interlaced != PNG_INTERLACE_NONE) {
        read_passes(r);
    } else {
        read_plain(r);
    }
    png_read_end(r->png, NULL);
    if ((r->colour & PNG_COLOR_MASK_ALPHA) != 0) {
        slc_io_image_warn(r->images, "alpha is not read");
    }
    return SLC_OK;
}

static slc_status next(slc_io_images *images, slc_error *error)
{
    if (images->page > 1) {
        return SLC_END;
    }
    reading r = {.images = images, .error = error, .status = SLC_OK};
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
    r.info = r.png != NULL ? png_create_info_struct(r.png) : NULL;
    const slc_status status = r.info != NULL
                                  ? read_image(&r)
                                  : slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE,
                                                      "libpng %s cannot be started",
                                                      png_get_libpng_ver(NULL));
    free(r.row);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    return status;
}

const slc_io_image_format slc_io_image_png = {.name = "png", .alone = true, .probe = probe, .next = next};
