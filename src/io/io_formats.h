/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the registry of formats, one row each. Every opener loops over it and takes the readers
 * of its own kind; slc_io_format_of asks it what a file is, slc_io_format_at lists it. A new format is a file
 * io_<format>.c with its table of functions, and a row in io_formats.c.
 */
#ifndef SLUICE_IO_FORMATS_H
#define SLUICE_IO_FORMATS_H

#include "io/image/io_image_source.h"
#include "io/io_source.h"
#include "io/pet/io_pet_list.h"
#include "io/pixel/io_pixel_source.h"

typedef struct slc_io_row {
    slc_io_format_row about;
    /* How the openers know and read it; NULL: not by that opener. */
    const slc_io_format_table *events;
    const slc_io_image_format *images;
    const slc_io_pixels_format *pixels;
    const slc_io_pet_list_ops *pairs;
    /* For slc_io_format_of: is a regular file of this format, by its bytes or what is beside it? NULL: the
     * openers tell. */
    bool (*is)(const char *path);
    const char *ends[4]; /* of names that are enough to tell */
} slc_io_row;

/* NULL beyond the last. */
const slc_io_row *slc_io_row_at(size_t i);
/* The row of a format of pairs. */
const slc_io_row *slc_io_row_of_pairs(slc_io_pet_list_format format);

/* What people hand over by mistake: what to do, so that a message can say it; NULL: not known. `kind` is that
 * of the opener. */
const char *slc_io_stranger(slc_io_kind kind, const uint8_t *bytes, size_t size);
/* " 50 36" of the first bytes, at most `most` (of 12), for messages. */
const char *slc_io_hex(const uint8_t *bytes, size_t size, size_t most, char text[3 * 12 + 1]);
#endif
