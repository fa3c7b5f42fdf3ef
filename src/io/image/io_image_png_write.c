/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing PNG through libpng, and the preview: a PNG whose palette gives neighbouring labels colours that are
 * far apart. Speed before size: masks and labels shrink well at zlib's level 1.
 */
#include "io/image/io_image_number.h"
#include "io/image/io_image_write.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* What is written: rows of one sample a pixel, which are grey or numbers of colours. */
typedef struct picture {
    size_t width, height;
    int depth;
    const png_color *palette; /* NULL if they are grey */
    int n_colours;
    /* Row y in the file's form, made in `room` (a byte for each pixel) where it is not there already. */
    const uint8_t *(*row)(const struct picture *picture, size_t y, uint8_t *room);
    const slc_image *image; /* of the rows; type u32 for labels */
} picture;

typedef struct writing {
    slc_io_image_writer *writer;
    slc_error *error;
    slc_status status;
    jmp_buf give_up;
    png_structp png;
    png_infop info;
} writing;

/* ---- what libpng calls ----------------------------------------------------------------------- */

static void on_error(png_structp png, png_const_charp text)
{
    writing *w = png_get_error_ptr(png);
    if (w->status == SLC_OK) {
        w->status = slc_fail(w->error, SLC_ERR_IO, "%s: libpng: %s", w->writer->path, text);
    }
    longjmp(w->give_up, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_write(png_structp png, png_bytep bytes, size_t size)
{
    writing *w = png_get_io_ptr(png);
    w->status = slc_io_writer_put(w->writer, bytes, size, w->error);
    if (w->status != SLC_OK) {
        png_error(png, "");
    }
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* ---- images ---------------------------------------------------------------------------------- */

static void begin(writing *w, const picture *p)
{
    png_set_write_fn(w->png, w, on_write, on_flush);
    png_set_user_limits(w->png, 0x7fffffff, 0x7fffffff);
    png_set_IHDR(w->png, w->info, (png_uint_32)p->width, (png_uint_32)p->height, p->depth,
                 p->palette != NULL ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (p->palette != NULL) {
        png_set_PLTE(w->png, w->info, p->palette, p->n_colours);
    }
    png_set_compression_level(w->png, 1);
    /* What a row has of the one above costs nothing; of bits, the bytes themselves repeat. */
    png_set_filter(w->png, PNG_FILTER_TYPE_BASE, p->depth == 1 ? PNG_FILTER_NONE : PNG_FILTER_UP);
    png_write_info(w->png, w->info);
    if (p->depth == 16 && slc_io_number_little_endian()) {
        png_set_swap(w->png);
    }
}

/* Everything that may be left by longjmp; what it changes is behind the pointer. */
static slc_status write_all(writing *w, const picture *p)
{
    if (setjmp(w->give_up) != 0) {
        return w->status;
    }
    begin(w, p);
    for (size_t y = 0; y < p->height; y++) {
        png_write_row(w->png, p->row(p, y, w->writer->row));
    }
    png_write_end(w->png, NULL);
    return SLC_OK;
}

static slc_status write_png(slc_io_image_writer *writer, const picture *p, slc_error *error)
{
    if (p->width > 0x7fffffff || p->height > 0x7fffffff) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: %zu x %zu pixels: the sides of a PNG are below 2^31",
                        writer->path, p->width, p->height);
    }
    slc_status status = slc_io_image_room(writer, p->width, error);
    if (status != SLC_OK) {
        return status;
    }
    writing w = {.writer = writer, .error = error, .status = SLC_OK};
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error, on_warning);
    w.info = w.png != NULL ? png_create_info_struct(w.png) : NULL;
    status = w.info != NULL ? write_all(&w, p)
                            : slc_fail(error, SLC_ERR_MEMORY, "%s: libpng %s cannot be started", writer->path,
                                       png_get_libpng_ver(NULL));
    png_destroy_write_struct(&w.png, &w.info);
    return status;
}

static const uint8_t *grey_row(const picture *p, size_t y, uint8_t *room)
{
    if (p->depth == 1) {
        slc_io_image_bits_row(p->image, y, room);
        return room;
    }
    return slc_io_image_row(p->image, y);
}

static slc_status add_png(slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    const picture p = {.width = image->width,
                       .height = image->height,
                       .depth = image->type == SLC_IMAGE_BITS  ? 1
                                : image->type == SLC_IMAGE_U16 ? 16
                                                               : 8,
                       .row = grey_row,
                       .image = image};
    return write_png(writer, &p, error);
}

const slc_io_image_form slc_io_image_form_png = {.ending = ".png",
                                                 .types = 1U << SLC_IMAGE_BITS | 1U << SLC_IMAGE_U8 |
                                                          1U << SLC_IMAGE_U16,
                                                 .type_words = "bits, u8 and u16",
                                                 .add = add_png};

/* ---- a palette of the caller's ----------------------------------------------------------------- */

static slc_status add_palette(slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    const uint8_t *from = writer->state;
    png_color palette[256];
    for (int i = 0; i < 256; i++) {
        palette[i] = (png_color){.red = from[3 * i], .green = from[3 * i + 1], .blue = from[3 * i + 2]};
    }
    const picture p = {.width = image->width,
                       .height = image->height,
                       .depth = 8,
                       .palette = palette,
                       .n_colours = 256,
                       .row = grey_row,
                       .image = image};
    return write_png(writer, &p, error);
}

const slc_io_image_form slc_io_image_form_palette = {
    .ending = "a PNG with a palette", .types = 1U << SLC_IMAGE_U8, .type_words = "u8", .add = add_palette};

/* ---- preview --------------------------------------------------------------------------------- */

/* Hues go round by the golden section, so that a colour is far from those a few numbers before and after
 * it. 233 is a number of Fibonacci: after so many steps the circle is nearly closed, and the first colour
 * follows the last as well as any. */
enum { COLOURS = 233 };

static png_color make_colour(unsigned i)
{
    uint8_t channel[3];
    const double turn = (double)i * 0.61803398874989485, hue = 6 * (turn - (double)(uint64_t)turn);
    const double value = i % 2 == 0 ? 255 : 205, pale = i % 3 == 0 ? 0.45 : 0.15;
    for (unsigned c = 0; c < 3; c++) {
        /* How far the hue is from that of this primary colour, on a circle of 6. */
        double away = hue - 2.0 * c;
        away = away < 0 ? -away : away;
        away = away > 3 ? 6 - away : away;
        const double share = away <= 1 ? 1 : away >= 2 ? 0 : 2 - away;
        channel[c] = (uint8_t)(value * (pale + (1 - pale) * share) + 0.5);
    }
    return (png_color){.red = channel[0], .green = channel[1], .blue = channel[2]};
}

static const uint8_t *label_row(const picture *p, size_t y, uint8_t *room)
{
    const uint32_t *labels = (const uint32_t *)(const void *)slc_io_image_row(p->image, y);
    for (size_t x = 0; x < p->width; x++) {
        room[x] = (uint8_t)(labels[x] == 0 ? 0 : 1 + (labels[x] - 1) % COLOURS);
    }
    return room;
}

static slc_status add_preview(slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    png_color palette[COLOURS + 1] = {{0, 0, 0}};
    for (unsigned i = 0; i < COLOURS; i++) {
        palette[i + 1] = make_colour(i);
    }
    const picture p = {.width = image->width,
                       .height = image->height,
                       .depth = 8,
                       .palette = palette,
                       .n_colours = COLOURS + 1,
                       .row = label_row,
                       .image = image};
    return write_png(writer, &p, error);
}

const slc_io_image_form slc_io_image_form_preview = {
    .ending = "a preview", .types = 1U << SLC_IMAGE_U32, .type_words = "u32", .add = add_preview};
