/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what a format of image files that is written must provide. The writer has looked at
 * the image and its type before a format sees it, and the output file appears when all is done.
 */
#ifndef SLUICE_IO_IMAGE_WRITE_H
#define SLUICE_IO_IMAGE_WRITE_H

#include "io/io_output.h"
#include <sluice/io_image.h>

struct slc_io_image_writer;

typedef struct slc_io_image_form {
    const char *ending; /* ".png"; what messages call it */
    unsigned types;     /* bit t is set where slc_image_type t can be written */
    const char *type_words;
    bool several; /* more than one page */
    bool holes;   /* images without pixels, which others write */
    bool by_name; /* a library of others writes the file under its temporary name */
    /* Appends one page. */
    slc_status (*add)(struct slc_io_image_writer *writer, const slc_image *image, slc_error *error);
    /* Completes the file, or gives up: `commit` false; then it cannot fail. May be NULL. */
    slc_status (*finish)(struct slc_io_image_writer *writer, bool commit, slc_error *error);
} slc_io_image_form;

extern const slc_io_image_form slc_io_image_form_pbm;
extern const slc_io_image_form slc_io_image_form_pgm;
extern const slc_io_image_form slc_io_image_form_png;
extern const slc_io_image_form slc_io_image_form_preview; /* of no ending: asked for by its own function */
extern const slc_io_image_form slc_io_image_form_palette; /* so, too; its state is the palette */
extern const slc_io_image_form slc_io_image_form_npy;
extern const slc_io_image_form slc_io_image_form_tif;
extern const slc_io_image_form slc_io_image_form_tiff;

typedef struct slc_io_image_writer {
    slc_io_writer writer;
    char *path; /* as the caller wrote it, for messages */
    const slc_io_image_form *form;
    void *state;
    size_t pages;    /* written so far */
    slc_image first; /* its sizes and type; pixels is NULL */
    uint8_t *row;    /* one converted row */
    size_t row_capacity;
    bool broken;
    bool slices; /* of a volume */
} slc_io_image_writer;

static inline const uint8_t *slc_io_image_row(const slc_image *image, size_t y)
{
    return (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
}

/* Gives writer->row room for at least so many bytes. */
slc_status slc_io_image_room(slc_io_image_writer *writer, size_t bytes, slc_error *error);
/* A row of bits with the leftmost pixel in the highest bit, zeros after the last. */
void slc_io_image_bits_row(const slc_image *image, size_t y, uint8_t *to);

/* A PNG whose pixels (an image of u8) are numbers of colours: palette holds red, green and blue of each of
 * the 256. */
slc_status slc_io_image_write_palette(const char *path, const slc_image *image, const uint8_t palette[768],
                                      slc_error *error);

#endif
