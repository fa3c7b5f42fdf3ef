/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing TIFF through libtiff: uncompressed strips of about a mebibyte, one directory a page. A first page
 * too large for the 32-bit offsets of a TIFF makes a BigTIFF of the file.
 */
#include "io/image/io_image_tiff.h"
#include "io/image/io_image_write.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Offsets have 32 bits; directories and strip tables need room, too. */
static const uint64_t classic_limit = ((uint64_t)4 << 30) - ((uint64_t)64 << 20);

typedef struct tiff_writing {
    TIFF *tiff;
    bool big;
    uint64_t bytes; /* of pixels so far */
    slc_tiff_message message;
} tiff_writing;

/* The system's reason, where it has one: libtiff tells of a strip that it cannot write. errno is 0 before
 * libtiff is called. */
static slc_status failed(const slc_io_image_writer *writer, slc_error *error)
{
    const int reason = errno;
    const tiff_writing *writing = writer->state;
    if (reason != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", writer->path, strerror(reason));
    }
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: libtiff: %s", writer->path,
                    writing->message.text[0] != '\0' ? writing->message.text : "no reason given");
}

static slc_status start(slc_io_image_writer *writer, uint64_t bytes, slc_error *error)
{
    tiff_writing *writing = calloc(1, sizeof *writing);
    TIFFOpenOptions *options = writing != NULL ? slc_tiff_options(&writing->message) : NULL;
    writer->state = writing;
    if (options == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", writer->path);
    }
    writing->big = bytes > classic_limit;
    errno = 0;
    writing->tiff = TIFFOpenExt(writer->writer.output.temporary, writing->big ? "w8" : "w", options);
    TIFFOpenOptionsFree(options);
    return writing->tiff != NULL ? SLC_OK : failed(writer, error);
}

static bool set_tags(TIFF *tiff, const slc_image *image, uint32_t rows_per_strip)
{
    static const uint8_t bits[SLC_IMAGE_TYPES] = {8, 16, 32, 32, 1};
    const bool real = image->type == SLC_IMAGE_F32;
    return TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)image->width) &&
           TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)image->height) &&
           TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits[image->type]) &&
           TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1) &&
           TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, real ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT) &&
           TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
           TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
           TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE) &&
           TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows_per_strip);
}

/* Gathers rows to a strip, for rows of the caller's may lie apart. */
static bool write_strips(slc_io_image_writer *writer, const slc_image *image, uint32_t rows, size_t row_bytes)
{
    const tiff_writing *writing = writer->state;
    uint32_t strip = 0;
    for (size_t y = 0; y < image->height; y += rows, strip++) {
        const size_t n = image->height - y < rows ? image->height - y : rows;
        for (size_t i = 0; i < n; i++) {
            uint8_t *to = writer->row + i * row_bytes;
            if (image->type == SLC_IMAGE_BITS) {
                slc_io_image_bits_row(image, y + i, to);
            } else {
                memcpy(to, slc_io_image_row(image, y + i), row_bytes);
            }
        }
        if (TIFFWriteEncodedStrip(writing->tiff, strip, writer->row, (tmsize_t)(n * row_bytes)) < 0) {
            return false;
        }
    }
    return true;
}

static slc_status add_tiff(slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    enum { STRIP = 1 << 20 };
    static const uint8_t bytes[SLC_IMAGE_TYPES] = {1, 2, 4, 4, 0};
    const size_t row_bytes = image->type == SLC_IMAGE_BITS ? (image->width + 7) / 8
                                                           : image->width * bytes[image->type];
    const uint64_t page_bytes = (uint64_t)row_bytes * image->height;
    size_t rows = row_bytes < STRIP ? STRIP / row_bytes : 1;
    rows = rows > image->height ? image->height : rows;
    if (writer->state == NULL) {
        const slc_status status = start(writer, page_bytes, error);
        if (status != SLC_OK) {
            return status;
        }
    }
    tiff_writing *writing = writer->state;
    if (!writing->big && page_bytes > classic_limit - writing->bytes) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "%s: page %zu: the pages have more than 4 GiB, which a TIFF cannot hold: write NPY",
                        writer->path, writer->pages + 1);
    }
    const slc_status status = slc_io_image_room(writer, rows * row_bytes, error);
    if (status != SLC_OK) {
        return status;
    }
    writing->bytes += page_bytes;
    errno = 0;
    return set_tags(writing->tiff, image, (uint32_t)rows) &&
                   write_strips(writer, image, (uint32_t)rows, row_bytes) && TIFFWriteDirectory(writing->tiff)
               ? SLC_OK
               : failed(writer, error);
}

static slc_status finish_tiff(slc_io_image_writer *writer, bool commit, slc_error *error)
{
    tiff_writing *writing = writer->state;
    slc_status status = SLC_OK;
    if (writing != NULL && writing->tiff != NULL) {
        errno = 0;
        if (commit && !TIFFFlush(writing->tiff)) {
            status = failed(writer, error);
        }
        TIFFClose(writing->tiff);
    }
    free(writing);
    writer->state = NULL;
    return status;
}

enum { ALL_TYPES = (1 << SLC_IMAGE_TYPES) - 1 };

const slc_io_image_form slc_io_image_form_tif = {.ending = ".tif",
                                                 .types = ALL_TYPES,
                                                 .type_words = "bits, u8, u16, u32 and f32",
                                                 .several = true,
                                                 .by_name = true,
                                                 .add = add_tiff,
                                                 .finish = finish_tiff};
const slc_io_image_form slc_io_image_form_tiff = {.ending = ".tiff",
                                                  .types = ALL_TYPES,
                                                  .type_words = "bits, u8, u16, u32 and f32",
                                                  .several = true,
                                                  .by_name = true,
                                                  .add = add_tiff,
                                                  .finish = finish_tiff};
