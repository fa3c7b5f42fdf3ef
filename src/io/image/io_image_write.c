/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing image files: the format by the name's ending, the checks that all formats share, PNM and NPY, whose
 * bytes are ours. Files appear under their name when they are complete (io_output).
 */
#include "io/image/io_image_write.h"
#include "io/image/io_image_number.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const slc_io_image_form *const forms[] = {&slc_io_image_form_pgm,  &slc_io_image_form_pbm,
                                                 &slc_io_image_form_png,  &slc_io_image_form_tif,
                                                 &slc_io_image_form_tiff, &slc_io_image_form_npy};
enum { N_FORMS = sizeof forms / sizeof *forms };

/* ---- what formats use ------------------------------------------------------------------------ */

slc_status slc_io_image_room(slc_io_image_writer *writer, size_t bytes, slc_error *error)
{
    if (bytes <= writer->row_capacity) {
        return SLC_OK;
    }
    free(writer->row);
    writer->row = malloc(bytes);
    writer->row_capacity = writer->row != NULL ? bytes : 0;
    return writer->row != NULL
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a row of %zu bytes", writer->path, bytes);
}

void slc_io_image_bits_row(const slc_image *image, size_t y, uint8_t *to)
{
    const uint8_t *from = slc_io_image_row(image, y);
    const size_t bytes = (image->width + 7) / 8;
    memcpy(to, from, bytes);
    slc_io_image_trim(to, image->width);
    for (size_t i = 0; i < bytes; i++) {
        to[i] = slc_io_image_reverse(to[i]);
    }
}

/* ---- PNM ------------------------------------------------------------------------------------- */

static slc_status add_pnm(slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    const bool bits = image->type == SLC_IMAGE_BITS, wide = image->type == SLC_IMAGE_U16;
    const size_t bytes = bits ? (image->width + 7) / 8 : image->width * (wide ? 2U : 1U);
    char header[80];
    const int n = bits ? snprintf(header, sizeof header, "P4\n%zu %zu\n", image->width, image->height)
                       : snprintf(header, sizeof header, "P5\n%zu %zu\n%d\n", image->width, image->height,
                                  wide ? 65535 : 255);
    slc_status status = slc_io_image_room(writer, bytes, error);
    if (status == SLC_OK) {
        status = slc_io_writer_put(writer, header, (size_t)n, error);
    }
    if (status == SLC_OK && !bits && !wide && image->stride == (ptrdiff_t)bytes) {
        return slc_io_writer_put(writer, image->pixels, bytes * image->height, error);
    }
    for (size_t y = 0; status == SLC_OK && y < image->height; y++) {
        const uint8_t *from = slc_io_image_row(image, y);
        if (bits) {
            slc_io_image_bits_row(image, y, writer->row);
            from = writer->row;
        } else if (wide) {
            for (size_t x = 0; x < image->width; x++) {
                const uint16_t value = ((const uint16_t *)(const void *)slc_io_image_row(image, y))[x];
                writer->row[2 * x] = (uint8_t)(value >> 8);
                writer->row[2 * x + 1] = (uint8_t)value;
            }
            from = writer->row;
        }
        status = slc_io_writer_put(writer, from, bytes, error);
    }
    return status;
}

const slc_io_image_form slc_io_image_form_pbm = {
    .ending = ".pbm", .types = 1U << SLC_IMAGE_BITS, .type_words = "bits", .several = true, .add = add_pnm};
const slc_io_image_form slc_io_image_form_pgm = {.ending = ".pgm",
                                                 .types = 1U << SLC_IMAGE_U8 | 1U << SLC_IMAGE_U16,
                                                 .type_words = "u8 and u16",
                                                 .several = true,
                                                 .add = add_pnm};

/* ---- NPY ------------------------------------------------------------------------------------- */

enum { NPY_HEADER = 128 }; /* a multiple of 64, with room for any shape of three sizes */

/* One page is an array of two dimensions, several are one of three. */
static slc_status put_npy_header(slc_io_image_writer *writer, size_t pages, slc_error *error)
{
    static const char *const words[SLC_IMAGE_TYPES] = {"u1", "u2", "u4", "f4", "u1"};
    const slc_image_type type = writer->first.type;
    char header[NPY_HEADER + 1], shape[80];
    if (pages == 1 && !writer->slices) {
        (void)snprintf(shape, sizeof shape, "(%zu, %zu)", writer->first.height, writer->first.width);
    } else {
        (void)snprintf(shape, sizeof shape, "(%zu, %zu, %zu)", pages, writer->first.height,
                       writer->first.width);
    }
    const int n = snprintf(header, sizeof header,
                           "\x93NUMPY%c%c%c%c{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }", 1, 0,
                           NPY_HEADER - 10, 0,
                           words[type][1] == '1'           ? '|'
                           : slc_io_number_little_endian() ? '<'
                                                           : '>',
                           words[type], shape);
    assert(n > 0 && n < NPY_HEADER);
    memset(header + n, ' ', (size_t)(NPY_HEADER - n));
    header[NPY_HEADER - 1] = '\n';
    return slc_io_writer_put(writer, header, NPY_HEADER, error);
}

/* Room for an image that others write. */
static slc_status make_room(const slc_io_image_writer *writer, const slc_image *image, size_t pixel,
                            slc_error *error)
{
    FILE *stream = writer->writer.output.stream;
    const uint64_t row = image->width * pixel;
    if (writer->writer.output.temporary == NULL || image->type == SLC_IMAGE_BITS) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: only whole numbers in a regular file can be written by several", writer->path);
    }
    const off_t here = fflush(stream) == 0 ? ftello(stream) : -1;
    if (here < 0) {
        return slc_io_output_failed(writer->path, error);
    }
    if (image->height > (uint64_t)(INT64_MAX - here) / row) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s: %zu x %zu pixels are more than a file can have",
                        writer->path, image->width, image->height);
    }
    return ftruncate(fileno(stream), here + (off_t)(row * image->height)) == 0 &&
                   fseeko(stream, 0, SEEK_END) == 0
               ? SLC_OK
               : slc_io_output_failed(writer->path, error);
}

static slc_status add_npy(slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    static const uint8_t bytes[SLC_IMAGE_TYPES] = {1, 2, 4, 4, 1};
    const bool bits = image->type == SLC_IMAGE_BITS;
    if (writer->pages > 0 && (image->width != writer->first.width || image->height != writer->first.height ||
                              image->type != writer->first.type)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: page %zu differs in size or type from the first: in NPY all are the same",
                        writer->path, writer->pages + 1);
    }
    if (writer->pages > 0 && !writer->slices && (image->width == 3 || image->width == 4) &&
        bytes[image->type] < 4) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: several pages of %zu columns of u8, u16 or bits would be read as colours: write "
                        "TIFF",
                        writer->path, image->width);
    }
    if (writer->pages > 0 && !writer->slices && image->width == 1) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: several pages of one column would be read as one image: write TIFF",
                        writer->path);
    }
    slc_status status = writer->pages == 0 ? put_npy_header(writer, 1, error) : SLC_OK;
    if (image->pixels == NULL) {
        return status == SLC_OK ? make_room(writer, image, bytes[image->type], error) : status;
    }
    const size_t row = image->width * bytes[image->type];
    if (status == SLC_OK && !bits && image->stride == (ptrdiff_t)row) { /* large pieces are not copied */
        return slc_io_writer_put(writer, image->pixels, row * image->height, error);
    }
    if (status == SLC_OK && bits) {
        status = slc_io_image_room(writer, image->width, error);
    }
    for (size_t y = 0; status == SLC_OK && y < image->height; y++) {
        const uint8_t *from = slc_io_image_row(image, y);
        for (size_t x = 0; bits && x < image->width; x++) {
            writer->row[x] = from[x / 8] >> x % 8 & 1;
        }
        status = slc_io_writer_put(writer, bits ? writer->row : from, row, error);
    }
    return status;
}

static slc_status finish_npy(slc_io_image_writer *writer, bool commit, slc_error *error)
{
    if (!commit || writer->pages < 2) {
        return SLC_OK;
    }
    if (fseeko(writer->writer.output.stream, 0, SEEK_SET) != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: several images cannot become one array here: %s",
                        writer->path, strerror(errno));
    }
    return put_npy_header(writer, writer->pages, error);
}

const slc_io_image_form slc_io_image_form_npy = {.ending = ".npy",
                                                 .types = (1U << SLC_IMAGE_TYPES) - 1,
                                                 .type_words = "bits, u8, u16, u32 and f32",
                                                 .several = true,
                                                 .holes = true,
                                                 .add = add_npy,
                                                 .finish = finish_npy};

/* ---- the writer ------------------------------------------------------------------------------ */

static const slc_io_image_form *form_of(const char *path)
{
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < N_FORMS; i++) {
        if (strcasecmp(ending, forms[i]->ending) == 0) {
            return forms[i];
        }
    }
    return NULL;
}

static slc_status end(slc_io_writer *to, bool commit, slc_error *error)
{
    slc_io_image_writer *writer = (slc_io_image_writer *)to;
    slc_status status = SLC_OK;
    if (commit && (writer->pages == 0 || writer->broken)) {
        status = slc_fail(error, SLC_ERR_USAGE, "%s: %s", writer->path,
                          writer->broken ? "an image of it could not be written" : "no image was given");
    }
    if (writer->form->finish != NULL) {
        const slc_status finished = writer->form->finish(writer, commit && status == SLC_OK, error);
        status = status == SLC_OK ? finished : status;
    }
    free(writer->path);
    free(writer->row);
    return status;
}

static slc_status open_form(const char *path, const slc_io_image_form *form, slc_io_writer **writer,
                            slc_error *error)
{
    char *name = strdup(path);
    slc_io_image_writer *opened = NULL;
    slc_status status = name != NULL ? slc_io_writer_open(sizeof *opened, path, form->by_name, &opened, error)
                                     : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path);
    if (status != SLC_OK || opened == NULL) {
        free(name);
        return status;
    }
    opened->writer.end = end;
    opened->path = name;
    opened->form = form;
    *writer = &opened->writer;
    return SLC_OK;
}

slc_status slc_io_image_writer_open(const char *path, bool preview, slc_io_writer **writer, slc_error *error)
{
    *writer = NULL;
    const slc_io_image_form *form = preview ? &slc_io_image_form_preview : form_of(path);
    if (form == NULL) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "%s: its ending names no image format that is written: .pgm .pbm .png .tif .tiff .npy", path);
    }
    return open_form(path, form, writer, error);
}

/* What holds for an image of any format. */
static slc_status check_image(const slc_io_image_writer *writer, const slc_image *image, slc_error *error)
{
    static const char *const words[SLC_IMAGE_TYPES] = {"u8", "u16", "u32", "f32", "bits"};
    if ((image->pixels == NULL && !writer->form->holes) || image->width == 0 || image->height == 0 ||
        image->width > SLC_IO_IMAGE_SIDE || image->height > SLC_IO_IMAGE_SIDE) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: an image of %zu x %zu pixels cannot be written",
                        writer->path, image->width, image->height);
    }
    if ((unsigned)image->type >= SLC_IMAGE_TYPES || (writer->form->types >> image->type & 1) == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: pixels of type %s cannot be written to %s, which has %s",
                        writer->path,
                        (unsigned)image->type < SLC_IMAGE_TYPES ? words[image->type] : "unknown",
                        writer->form->ending, writer->form->type_words);
    }
    if (writer->pages > 0 && !writer->form->several) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: %s holds one image, not several", writer->path,
                        writer->form->ending);
    }
    return SLC_OK;
}

void slc_io_image_writer_slices(slc_io_writer *writer)
{
    ((slc_io_image_writer *)writer)->slices = true;
}

slc_status slc_io_image_writer_add(slc_io_writer *to, const slc_image *image, slc_error *error)
{
    slc_io_image_writer *writer = (slc_io_image_writer *)to;
    if (writer->broken) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: an image before this one could not be written",
                        writer->path);
    }
    slc_status status = check_image(writer, image, error);
    if (status == SLC_OK) {
        if (writer->pages == 0) {
            writer->first = *image;
            writer->first.pixels = NULL;
        }
        status = writer->form->add(writer, image, error);
    }
    writer->pages += status == SLC_OK ? 1 : 0;
    writer->broken = status != SLC_OK;
    return status;
}

/* One image and no more. */
static slc_status write_one(slc_io_writer *writer, const slc_image *image, slc_error *error)
{
    const slc_status status = slc_io_image_writer_add(writer, image, error);
    if (status == SLC_OK) {
        return slc_io_finish(writer, error);
    }
    slc_io_abandon(writer);
    return status;
}

slc_status slc_io_image_write(const char *path, const slc_image *image, slc_error *error)
{
    slc_io_writer *writer = NULL;
    const slc_status status = slc_io_image_writer_open(path, false, &writer, error);
    return writer != NULL ? write_one(writer, image, error) : status;
}

slc_status slc_io_image_write_palette(const char *path, const slc_image *image, const uint8_t palette[768],
                                      slc_error *error)
{
    slc_io_writer *writer = NULL;
    const slc_status status = open_form(path, &slc_io_image_form_palette, &writer, error);
    if (writer == NULL) {
        return status;
    }
    ((slc_io_image_writer *)writer)->state = (void *)palette;
    return write_one(writer, image, error);
}
