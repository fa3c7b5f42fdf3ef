/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a TIFF page between the files that read it: io_image_tiff.c gets bytes and decoded
 * strips and tiles, io_image_tiff_page.c knows what their samples mean, io_image_tiff_stack.c reads images
 * that libtiff does not know of. And what libtiff has to say, for io_image_tiff_write.c as well.
 */
#ifndef SLUICE_IO_IMAGE_TIFF_H
#define SLUICE_IO_IMAGE_TIFF_H

#include "io/image/io_image_number.h"

#include <stdarg.h>
#include <tiffio.h>

enum { SLC_TIFF_PLANES = 3 };

typedef enum slc_tiff_meaning {
    SLC_TIFF_BITS = 0,
    SLC_TIFF_SMALL,  /* grey of 2 or 4 bits, spread over 0 … 255 */
    SLC_TIFF_PACKED, /* grey of 10, 12 or 14 bits, as it is */
    SLC_TIFF_GREY,   /* numbers */
    SLC_TIFF_COLOUR, /* three of them */
    SLC_TIFF_PALETTE
} slc_tiff_meaning;

typedef struct slc_tiff_page {
    uint32_t width, height;
    uint16_t bits, samples, format, photometric, planar, compression;
    slc_tiff_meaning meaning;
    bool tiled, inverted;    /* inverted: grey values fall towards white */
    uint32_t part_width;     /* of a tile; a strip is as wide as the page */
    uint32_t part_height;    /* rows of a strip or tile; the last strip may have fewer */
    uint64_t part_row_bytes; /* of one plane */
    uint16_t planes;         /* that are read: 1, or 3 where each colour is apart */
    slc_io_image_unit unit;  /* of one sample */
    uint8_t palette[256];
} slc_tiff_page;

/* The first errors and warnings of libtiff since the texts were empty. */
typedef struct slc_tiff_message {
    char text[256], warning[256];
    unsigned more; /* warnings after the first */
} slc_tiff_message;

/* Options of an open file, to read or to write: complaints and warnings go to the message, but for warnings
 * of tags that libtiff does not know; nothing global is set. NULL if there is no memory. */
TIFFOpenOptions *slc_tiff_options(slc_tiff_message *message);

typedef struct slc_tiff_state {
    TIFF *tiff;
    int file;             /* -1 where bytes are in memory */
    bool own;             /* it is closed with this */
    const uint8_t *bytes; /* NULL if they are in a file */
    uint64_t begin;       /* of the image in the file */
    uint64_t size, at;
    int wrong; /* errno of a read that failed */
    slc_tiff_message message;
    slc_tiff_page page;
    uint8_t *part[SLC_TIFF_PLANES]; /* one strip or tile of each plane */
    size_t capacity[SLC_TIFF_PLANES];
    uint64_t told;        /* images of an ImageJ file by its own words; 0: no such words */
    uint64_t planes_told; /* of a volume, by OME's words, in this file or in others of its set; 0: none */
    uint64_t stack_begin; /* of their pixels, one image after the other, where libtiff knows of one only */
    bool is_stack;
    slc_io_image_size pixel; /* of page 1 */
} slc_tiff_state;

/* Bytes `from` of the file into `to`; how many there were. */
size_t slc_tiff_read(slc_tiff_state *state, uint64_t from, void *to, size_t size);
/* Room for `size` bytes in state->part[plane]. */
slc_status slc_tiff_reserve_part(slc_io_images *images, uint16_t plane, uint64_t size, slc_error *error);

/* Looks, on page 1, whether this is an ImageJ stack; warns of a description that does not fit the file. */
void slc_tiff_find_stack(slc_io_images *images);
/* Reads image number images->page of the stack. */
slc_status slc_tiff_read_stack(slc_io_images *images, slc_error *error);

/* Whether all pages are slices of one volume: SLC_ERR_FORMAT if by the file's own words (ImageJ, OME) they
 * are of several channels or times as well; slices that are channels or times alone are warned of. On page 1.
 */
slc_status slc_tiff_check_volume(slc_io_images *images, slc_error *error);
/* How large its pixels are; `first`: those of page 1, which is this one if is_first. */
slc_io_image_size slc_tiff_size(TIFF *tiff, const slc_io_image_size *first, bool is_first);
/* Reads the current directory into state->page and sets the shape of the page. */
slc_status slc_tiff_describe(slc_io_images *images, slc_error *error);
/* The first row of the page that is wanted. */
static inline size_t slc_tiff_begin(const slc_io_images *images)
{
    return images->in_parts ? images->first_row : 0;
}

/* Converts n pixels of row `row` of the decoded parts to those of row y of the image from x on. */
slc_status slc_tiff_convert(slc_io_images *images, uint32_t row, size_t y, size_t x, size_t n,
                            slc_error *error);
/* What could not be done, and libtiff's message on it. */
slc_status slc_tiff_fail(const slc_io_images *images, slc_error *error, const char *what);

#endif
