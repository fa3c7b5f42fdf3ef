/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what an open image file is, what a format must provide to be one, and what the formats
 * share. A header's claims are worth nothing until the bytes are there: a page's size is checked against the
 * limit before anything is allocated, and its memory grows only as its pixels arrive. A new format is a file
 * io_image_<format>.c with such a table and one row in io_formats.c.
 */
#ifndef SLUICE_IO_IMAGE_SOURCE_H
#define SLUICE_IO_IMAGE_SOURCE_H

#include "io/io_stream.h"
#include <sluice/io_image.h>

typedef struct slc_io_image_format {
    const char *name;
    bool names_page; /* messages name page 1, too */
    bool alone;      /* a file has one page, and after it nothing is told */
    /* Whether the stream's first bytes are this format's. */
    bool (*probe)(const uint8_t *bytes, size_t size);
    /* Sets images->state where the format needs one; close frees it. Each may be NULL. */
    slc_status (*open)(slc_io_images *images, slc_error *error);
    void (*close)(slc_io_images *images);
    /* Reads page number images->page (from 1) into images->image, or returns SLC_END. */
    slc_status (*next)(slc_io_images *images, slc_error *error);
    /* Goes over page number images->page (from 1) without its pixels, or returns SLC_END. NULL: it is read.
     */
    slc_status (*pass)(slc_io_images *images, slc_error *error);
    /* Of a format whose pages can be read by several threads: where the page is that was passed last; a
     * handle of its own for the same file, with images->state; and reading a page by it. SLC_ERR_UNSUPPORTED
     * of _twin: not this file. NULL, all or none. */
    uint64_t (*place)(const slc_io_images *images);
    slc_status (*twin)(const slc_io_images *images, slc_io_images *twin, slc_error *error);
    slc_status (*read_at)(slc_io_images *twin, uint64_t place, slc_error *error);
} slc_io_image_format;

extern const slc_io_image_format slc_io_image_pnm;
extern const slc_io_image_format slc_io_image_png;
extern const slc_io_image_format slc_io_image_jpeg;
extern const slc_io_image_format slc_io_image_bmp;
extern const slc_io_image_format slc_io_image_tiff;
extern const slc_io_image_format slc_io_image_npy;
extern const slc_io_image_format slc_io_image_nifti;

/* Bytes that a probe wants to see. */
enum { SLC_IO_IMAGE_PROBE = 16 };

/* Micrometres of a unit that is written in n bytes; 0: none that is known. */
double slc_io_image_micrometres(const char *unit, size_t n);

struct slc_io_images {
    slc_io_stream stream;
    slc_io_image_config config;
    const slc_io_image_format *format;
    void *state;
    size_t page;     /* that is being read, from 1 */
    slc_image image; /* of the page; pixels is set when it is complete */
    /* With config.n_parts: the format can read these rows alone, which says it before slc_io_image_shape;
     * then `image`, `size` and `pixels` are of rows first_row … first_row + image.height - 1 of `height`. */
    bool in_parts;
    bool in_slices, in_last; /* of a volume in parts, and of the last; so many slices are left */
    uint64_t slices_left;
    size_t first_row, height;
    uint8_t *pixels; /* the page's memory */
    size_t row_bytes, size;
    size_t capacity;
    slc_status status; /* of the last call; anything but SLC_OK stays */
    slc_error error;
    char warning[512];       /* of the last call; empty if there is none */
    slc_io_image_size pixel; /* of the last page */
};

/* Image sizes are 1 … SLC_IO_IMAGE_SIDE. */
#define SLC_IO_IMAGE_SIDE ((uint64_t)UINT32_MAX - 1)

/* "name: page 2: byte 37: reason", on one printable line. */
__attribute__((format(printf, 5, 6))) slc_status slc_io_image_fail(const slc_io_images *images,
                                                                   slc_error *error, slc_status status,
                                                                   uint64_t place, const char *format, ...);

/* The same text becomes the warning of this call, or is put after it. */
__attribute__((format(printf, 2, 3))) void slc_io_image_warn(slc_io_images *images, const char *format, ...);

/* Sets the shape of the page, or with images->in_parts of the strip that is wanted of it, with no memory
 * behind it yet. SLC_ERR_FORMAT for sizes outside 1 … 2^32 - 2, SLC_ERR_UNSUPPORTED if the pixels need more
 * than max_bytes. */
slc_status slc_io_image_shape(slc_io_images *images, slc_image_type type, uint64_t width, uint64_t height,
                              slc_error *error);
/* SLC_ERR_UNSUPPORTED where pages are to be labels: grey of colours is equal where colours are not. */
slc_status slc_io_image_colours(const slc_io_images *images, slc_error *error);
/* Makes room for the first `bytes` bytes of the page, of at most images->size. */
slc_status slc_io_image_grow(slc_io_images *images, size_t bytes, slc_error *error);

/* How units of a file (a sample, or a colour of three) become pixels. */
typedef struct slc_io_image_unit {
    size_t in, out; /* bytes */
    /* Converts n units; returns how many before the first that cannot be. */
    size_t (*convert)(const struct slc_io_image_unit *unit, const uint8_t *from, size_t n, void *to);
    /* Says what is wrong with that one. */
    void (*explain)(const struct slc_io_image_unit *unit, const uint8_t *from, char *text, size_t size);
    uint32_t maximum; /* for PNM: the largest sample; for numbers: see io_image_number.h */
    int kind;
    bool swap;
    const void *context; /* for NIfTI: how numbers are scaled */
} slc_io_image_unit;

/* Fills the page (images->size / unit->out units) from the stream, growing it as bytes arrive. Of a page in
 * parts it goes over the rows before and after; where the stream is no regular file, or has not all of the
 * page, it is the page as a whole that is read, and images->in_parts false. */
slc_status slc_io_image_fill(slc_io_images *images, const slc_io_image_unit *unit, slc_error *error);
/* Fails with what unit->explain says. */
slc_status slc_io_image_refuse(const slc_io_images *images, const slc_io_image_unit *unit,
                               const uint8_t *from, uint64_t place, slc_error *error);

/* Rec. 601 luma, rounded; exact in integers. */
static inline uint32_t slc_io_image_luma(uint32_t red, uint32_t green, uint32_t blue)
{
    return (uint32_t)((299 * (uint64_t)red + 587 * (uint64_t)green + 114 * (uint64_t)blue + 500) / 1000);
}

/* Files have the leftmost pixel in the highest bit, slc_image in the lowest. */
static inline uint8_t slc_io_image_reverse(uint8_t byte)
{
    const unsigned pairs = (byte & 0x55U) << 1 | (byte & 0xaaU) >> 1;
    const unsigned fours = (pairs & 0x33U) << 2 | (pairs & 0xccU) >> 2;
    return (uint8_t)(fours << 4 | fours >> 4);
}

/* The bits after the last pixel of a row, in its last byte, become 0. */
static inline void slc_io_image_trim(uint8_t *row, size_t width)
{
    if (width % 8 != 0) {
        row[width / 8] = (uint8_t)(row[width / 8] & ((1U << width % 8) - 1));
    }
}

/* The memory of the last page goes to the caller, and theirs (from malloc, or NULL) becomes the next page's.
 */
void slc_io_images_exchange(slc_io_images *images, uint8_t **pixels, size_t *capacity);

bool slc_io_images_alone(const slc_io_images *images);         /* one page, of a regular file */
const char *slc_io_images_format(const slc_io_images *images); /* "pnm", "png", "jpeg" … */

/* Leaves the pixels of the next page to a twin: what slc_io_images_next says of it, but for its pixels, which
 * are NULL. *place says where they are, with images->page. */
slc_status slc_io_images_leave(slc_io_images *images, slc_image *image, uint64_t *place, slc_error *error);
bool slc_io_images_any_order(const slc_io_images *images); /* of a regular file: its pages have twins */
size_t slc_io_images_page(const slc_io_images *images);    /* the number of the last page, from 1 */
/* For another thread: reads pages that were left, in any order, and may outlive `images`.
 * SLC_ERR_UNSUPPORTED: pages of this format or file are read in their order alone. */
slc_status slc_io_images_twin(const slc_io_images *images, slc_io_images **twin, slc_error *error);
slc_status slc_io_images_read_at(slc_io_images *twin, size_t page, uint64_t place, slc_image *image,
                                 slc_error *error);

/* Goes over the next `pages`, or to the end. What would be told of them is told by who reads them. */
slc_status slc_io_images_pass(slc_io_images *images, uint64_t pages, slc_error *error);
/* How many pages are left, which are gone over. */
slc_status slc_io_images_count(slc_io_images *images, uint64_t *pages, slc_error *error);

/* slc_io_images_open over memory that the caller keeps; `name` stands in messages. */
slc_status slc_io_images_open_memory(const void *bytes, size_t size, const char *name,
                                     const slc_io_image_config *config, slc_io_images **images,
                                     slc_error *error);

#endif
