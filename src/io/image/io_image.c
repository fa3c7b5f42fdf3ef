/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening image files, and what their formats share: messages, the memory of a page, filling it from a
 * stream. The format is found by looking at the first bytes, because names lie and pipes have none.
 */
#include "base/config.h"
#include "io/image/io_image_source.h"
#include "io/io_formats.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void io_image_config_default(slc_io_image_config *config)
{
    const uint64_t four_gib = (uint64_t)4 << 30;
    *config = (slc_io_image_config){.size = sizeof *config,
                                    .max_bytes = four_gib < SIZE_MAX ? (size_t)four_gib : SIZE_MAX};
}
SLC_CONFIG_DEFAULT(slc_io_image_config, io_image_config_default)

/* ---- messages -------------------------------------------------------------------------------- */

static void name_page(const slc_io_images *images, char page[40])
{
    page[0] = '\0';
    if (images->page > 1 || (images->page == 1 && images->format != NULL && images->format->names_page)) {
        (void)snprintf(page, 40, " page %zu:", images->page);
    }
}

slc_status slc_io_image_fail(const slc_io_images *images, slc_error *error, slc_status status, uint64_t place,
                             const char *format, ...)
{
    char page[40];
    name_page(images, page);
    va_list arguments;
    va_start(arguments, format);
    status = slc_io_stream_fail_at(&images->stream, error, status, page, place, format, arguments);
    va_end(arguments);
    return status;
}

void slc_io_image_warn(slc_io_images *images, const char *format, ...)
{
    char page[40], reason[400] = "";
    name_page(images, page);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    slc_io_printable(reason);
    const size_t size = strlen(images->warning), room = sizeof images->warning - size;
    if (size > 0) {
        (void)snprintf(images->warning + size, room, "; %s", reason);
    } else {
        (void)snprintf(images->warning, room, "%s:%s %s", images->stream.name, page, reason);
    }
}

slc_status slc_io_image_refuse(const slc_io_images *images, const slc_io_image_unit *unit,
                               const uint8_t *from, uint64_t place, slc_error *error)
{
    char why[200] = "";
    unit->explain(unit, from, why, sizeof why);
    return slc_io_image_fail(images, error, SLC_ERR_FORMAT, place, "%s", why);
}

/* ---- the memory of a page -------------------------------------------------------------------- */

/* How many of the rows are of this part; sets the first of them. */
static uint64_t take_rows(slc_io_images *images, uint64_t height)
{
    const uint64_t n = images->config.n_parts, part = images->config.part;
    const uint64_t share = height / n, more = height % n;
    images->first_row = (size_t)(share * part + (part < more ? part : more));
    return share + (part < more ? 1 : 0);
}

slc_status slc_io_image_shape(slc_io_images *images, slc_image_type type, uint64_t width, uint64_t height,
                              slc_error *error)
{
    static const uint8_t bits[] = {8, 16, 32, 32, 1, 64};
    if (width == 0 || height == 0 || width > SLC_IO_IMAGE_SIDE || height > SLC_IO_IMAGE_SIDE) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, SLC_IO_NO_PLACE,
                                 "%llu x %llu pixels: sizes from 1 to %llu can be read",
                                 (unsigned long long)width, (unsigned long long)height,
                                 (unsigned long long)SLC_IO_IMAGE_SIDE);
    }
    images->in_parts = images->in_parts && images->config.n_parts > 1;
    const uint64_t rows = images->in_parts ? take_rows(images, height) : height;
    /* The sides are below 2^32 and a pixel has at most 8 bytes: a row fits into 64 bits, the page may not. */
    const uint64_t row = (width * bits[type] + 7) / 8;
    if (rows > 0 && (row > images->config.max_bytes / rows || row > PTRDIFF_MAX / rows)) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE,
                                 "%llu x %llu pixels of %u bits need more than the limit of %zu bytes",
                                 (unsigned long long)width, (unsigned long long)rows, bits[type],
                                 images->config.max_bytes);
    }
    images->row_bytes = (size_t)row;
    images->size = (size_t)(row * rows);
    images->height = (size_t)height;
    images->image = (slc_image){
        .width = (size_t)width, .height = (size_t)rows, .stride = (ptrdiff_t)row, .type = type};
    return SLC_OK;
}

slc_status slc_io_image_colours(const slc_io_images *images, slc_error *error)
{
    return !images->config.labels ? SLC_OK
                                  : slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, SLC_IO_NO_PLACE,
                                                      "pixels have colours, labels are numbers or those of a "
                                                      "palette");
}

slc_status slc_io_image_grow(slc_io_images *images, size_t bytes, slc_error *error)
{
    enum { FIRST = 1 << 20 };
    assert(bytes <= images->size);
    if (bytes <= images->capacity) {
        return SLC_OK;
    }
    size_t capacity = images->capacity > FIRST / 2 ? 2 * images->capacity : FIRST;
    capacity = capacity < bytes ? bytes : capacity;
    capacity = capacity > images->size ? images->size : capacity;
    uint8_t *larger = realloc(images->pixels, capacity);
    if (larger == NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_MEMORY, SLC_IO_NO_PLACE,
                                 "no memory for %zu bytes of pixels", capacity);
    }
    images->pixels = larger;
    images->capacity = capacity;
    return SLC_OK;
}

static slc_status fill(slc_io_images *images, const slc_io_image_unit *unit, slc_error *error)
{
    enum { PIECE = 1 << 18 };
    slc_io_stream *stream = &images->stream;
    for (size_t done = 0, n = images->size / unit->out; done < n;) {
        const uint8_t *bytes;
        size_t visible;
        const size_t left = n - done;
        const size_t want = left < PIECE / unit->in ? left : PIECE / unit->in;
        slc_status status = slc_io_stream_peek(stream, want * unit->in, &bytes, &visible, error);
        if (status != SLC_OK) {
            return status;
        }
        const size_t here = visible / unit->in < want ? visible / unit->in : want;
        status = slc_io_image_grow(images, (done + here) * unit->out, error);
        if (status != SLC_OK) {
            return status;
        }
        const size_t good = here > 0 ? unit->convert(unit, bytes, here, images->pixels + done * unit->out)
                                     : 0;
        if (good < here) {
            return slc_io_image_refuse(images, unit, bytes + good * unit->in,
                                       stream->offset + good * unit->in, error);
        }
        if (here < want) {
            return slc_io_image_fail(images, error, SLC_ERR_FORMAT, stream->offset + visible,
                                     "the file ends, and of %zu pixels or groups of pixels %zu are missing",
                                     n, left - here);
        }
        slc_io_stream_skip(stream, here * unit->in);
        done += here;
    }
    return SLC_OK;
}

slc_status slc_io_image_fill(slc_io_images *images, const slc_io_image_unit *unit, slc_error *error)
{
    slc_io_stream *stream = &images->stream;
    if (!images->in_parts) {
        return fill(images, unit, error);
    }
    /* No overflow: where a product would be too large, the file has not so many bytes. */
    const uint64_t row = (uint64_t)images->row_bytes / unit->out * unit->in;
    const uint64_t before = row * images->first_row, own = row * images->image.height;
    const bool is_small = images->height <= (uint64_t)INT64_MAX / (row > 0 ? row : 1);
    slc_io_stream_place(stream);
    if (!stream->placed || !is_small || !slc_io_stream_has(stream, (size_t)(row * images->height))) {
        images->in_parts = false;
        const slc_status status = slc_io_image_shape(images, images->image.type, images->image.width,
                                                     images->height, error);
        return status == SLC_OK ? fill(images, unit, error) : status;
    }
    (void)slc_io_stream_jump(stream, (size_t)before);
    const slc_status status = fill(images, unit, error);
    (void)slc_io_stream_jump(stream, (size_t)(row * images->height - before - own));
    return status;
}

/* Of a page that was read whole, the rows that are wanted move to its beginning. */
static void cut_part(slc_io_images *images)
{
    const size_t rows = (size_t)take_rows(images, images->image.height);
    if (images->pixels != NULL && rows > 0) {
        memmove(images->pixels, images->pixels + images->first_row * images->row_bytes,
                rows * images->row_bytes);
    }
    images->image.height = rows;
    images->size = rows * images->row_bytes;
}

/* ---- opening --------------------------------------------------------------------------------- */

static slc_status unknown_format(const slc_io_images *images, const uint8_t *bytes, size_t size,
                                 slc_error *error)
{
    if (size == 0) {
        return slc_io_image_fail(images, error, SLC_ERR_FORMAT, 0, "the input is empty");
    }
    const char *advice = slc_io_stranger(SLC_IO_KIND_IMAGES, bytes, size);
    if (advice != NULL) {
        return slc_io_image_fail(images, error, SLC_ERR_UNSUPPORTED, 0, "%s", advice);
    }
    char hex[3 * 12 + 1];
    return slc_io_image_fail(images, error, SLC_ERR_FORMAT, 0,
                             "no image that can be read (PNM, PNG, JPEG, BMP, TIFF, NPY): it begins with%s",
                             slc_io_hex(bytes, size, 8, hex));
}

static slc_status find_format(slc_io_images *images, slc_error *error)
{
    const uint8_t *bytes;
    size_t visible;
    const slc_status status = slc_io_stream_peek(&images->stream, SLC_IO_IMAGE_PROBE, &bytes, &visible,
                                                 error);
    if (status != SLC_OK) {
        return status;
    }
    for (size_t i = 0; slc_io_row_at(i) != NULL; i++) {
        const slc_io_image_format *format = slc_io_row_at(i)->images;
        if (visible > 0 && format != NULL && format->probe(bytes, visible)) {
            images->format = format;
            return images->format->open != NULL ? images->format->open(images, error) : SLC_OK;
        }
    }
    return unknown_format(images, bytes, visible, error);
}

/* Exactly one of path and bytes is given. */
static slc_status open_images(const char *path, const void *bytes, size_t size, const char *name,
                              const slc_io_image_config *config, slc_io_images **images, slc_error *error)
{
    *images = NULL;
    slc_io_images *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path != NULL ? path : name);
    }
    slc_io_image_config_default(&opened->config);
    slc_status status = config == NULL ? SLC_OK
                                       : slc_config_take(&opened->config, sizeof opened->config, config,
                                                         "slc_io_image_config", error);
    if (status == SLC_OK && opened->config.n_parts > 1 && opened->config.part >= opened->config.n_parts) {
        status = slc_fail(error, SLC_ERR_USAGE, "part: %u of %u, counted from 0", opened->config.part,
                          opened->config.n_parts);
    }
    if (status == SLC_OK) {
        status = path != NULL ? slc_io_stream_open(&opened->stream, path, error)
                              : slc_io_stream_open_memory(&opened->stream, bytes, size, name, error);
    }
    if (status == SLC_OK) {
        status = find_format(opened, error);
    }
    if (status != SLC_OK) {
        slc_io_images_close(opened);
        return status;
    }
    *images = opened;
    return SLC_OK;
}

/* Of a volume in parts, the slices of this one. */
static slc_status take_slices(const char *path, slc_io_images *images, slc_error *error)
{
    slc_io_image_config config = images->config;
    slc_io_images *all = NULL;
    uint64_t slices = 0;
    const uint64_t n = config.n_parts, part = config.part;
    images->config.n_parts = config.n_parts = 0;
    slc_status status = open_images(path, NULL, 0, NULL, &config, &all, error);
    if (all == NULL) {
        return status;
    }
    status = slc_io_images_count(all, &slices, error);
    slc_io_images_close(all);
    const uint64_t share = slices / n, more = slices % n;
    images->in_slices = true;
    images->slices_left = share + (part < more ? 1 : 0);
    images->in_last = part + 1 == n;
    return status == SLC_OK ? slc_io_images_pass(images, share * part + (part < more ? part : more), error)
                            : status;
}

slc_status slc_io_images_open(const char *path, const slc_io_image_config *config, slc_io_images **images,
                              slc_error *error)
{
    slc_status status = open_images(path, NULL, 0, NULL, config, images, error);
    if (*images != NULL && (*images)->config.volume && (*images)->config.n_parts > 1) {
        status = take_slices(path, *images, error);
        if (status != SLC_OK) {
            slc_io_images_close(*images);
            *images = NULL;
        }
    }
    return status;
}

slc_status slc_io_images_open_memory(const void *bytes, size_t size, const char *name,
                                     const slc_io_image_config *config, slc_io_images **images,
                                     slc_error *error)
{
    return open_images(NULL, bytes, size, name, config, images, error);
}

void slc_io_images_close(slc_io_images *images)
{
    if (images == NULL) {
        return;
    }
    if (images->format != NULL && images->format->close != NULL) {
        images->format->close(images);
    }
    slc_io_stream_close(&images->stream);
    free(images->pixels);
    free(images);
}

bool slc_io_images_alone(const slc_io_images *images)
{
    return images->format->alone && !images->stream.waits;
}

const char *slc_io_images_format(const slc_io_images *images)
{
    return images->format->name;
}

slc_status slc_io_images_next(slc_io_images *images, slc_image *image, slc_error *error)
{
    images->warning[0] = '\0';
    if (images->status == SLC_OK && images->in_slices && images->slices_left == 0 && !images->in_last) {
        images->status = SLC_END; /* the last part looks at what is behind the slices, too */
    }
    images->slices_left -= images->slices_left > 0;
    if (images->status == SLC_OK) {
        images->page++;
        images->in_parts = false;
        images->status = images->format->next(images, &images->error);
    }
    if (images->status == SLC_OK) {
        if (images->config.n_parts > 1 && !images->in_parts) {
            cut_part(images);
        }
        images->image.pixels = images->pixels;
        *image = images->image;
    } else if (images->status != SLC_END && error != NULL) {
        *error = images->error; /* the same again where there is no going on */
    }
    return images->status;
}

bool slc_io_images_any_order(const slc_io_images *images)
{
    return images->format->twin != NULL && !images->stream.waits;
}

size_t slc_io_images_page(const slc_io_images *images)
{
    return images->page;
}

slc_status slc_io_images_leave(slc_io_images *images, slc_image *image, uint64_t *place, slc_error *error)
{
    images->warning[0] = '\0';
    if (images->status == SLC_OK) {
        images->page++;
        images->in_parts = false;
        images->status = images->format->pass(images, &images->error);
    }
    if (images->status == SLC_OK) {
        *image = images->image;
        image->pixels = NULL;
        *place = images->format->place(images);
    } else if (images->status != SLC_END && error != NULL) {
        *error = images->error;
    }
    return images->status;
}

slc_status slc_io_images_twin(const slc_io_images *images, slc_io_images **twin, slc_error *error)
{
    *twin = NULL;
    if (images->format->twin == NULL) {
        return SLC_ERR_UNSUPPORTED;
    }
    slc_io_images *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", images->stream.name);
    }
    made->config = images->config;
    made->format = images->format;
    slc_status status = slc_io_stream_open_memory(&made->stream, NULL, 0, images->stream.name, error);
    status = status == SLC_OK ? images->format->twin(images, made, error) : status;
    if (status != SLC_OK) {
        slc_io_images_close(made);
        return status;
    }
    *twin = made;
    return SLC_OK;
}

slc_status slc_io_images_read_at(slc_io_images *twin, size_t page, uint64_t place, slc_image *image,
                                 slc_error *error)
{
    twin->page = page;
    twin->in_parts = false;
    const slc_status status = twin->format->read_at(twin, place, error);
    twin->warning[0] = '\0'; /* who left it has told that */
    if (status == SLC_OK) {
        twin->image.pixels = twin->pixels;
        *image = twin->image;
    }
    return status;
}

slc_status slc_io_images_pass(slc_io_images *images, uint64_t pages, slc_error *error)
{
    slc_status (*pass)(slc_io_images *, slc_error *) = images->format->pass;
    for (uint64_t i = 0; i < pages && images->status == SLC_OK; i++) {
        images->page++;
        images->in_parts = false;
        images->status = (pass != NULL ? pass : images->format->next)(images, &images->error);
        images->warning[0] = '\0';
    }
    return images->status < 0 ? slc_fail(error, images->status, "%s", images->error.text) : SLC_OK;
}

slc_status slc_io_images_count(slc_io_images *images, uint64_t *pages, slc_error *error)
{
    slc_status status = SLC_OK;
    for (*pages = 0; status == SLC_OK && images->status == SLC_OK; *pages += images->status == SLC_OK) {
        status = slc_io_images_pass(images, 1, error);
    }
    return status;
}

void slc_io_images_exchange(slc_io_images *images, uint8_t **pixels, size_t *capacity)
{
    uint8_t *const memory = images->pixels;
    const size_t size = images->capacity;
    images->pixels = *pixels;
    images->capacity = *capacity;
    *pixels = memory;
    *capacity = size;
}

slc_io_image_size slc_io_images_pixel(const slc_io_images *images)
{
    return images->pixel;
}

const char *slc_io_images_warning(const slc_io_images *images)
{
    return images->warning[0] != '\0' ? images->warning : NULL;
}
