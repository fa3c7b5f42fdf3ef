/* SPDX-License-Identifier: Apache-2.0
 *
 * Images for tests of files: made from a seed, read page by page, compared pixel by pixel.
 */
#ifndef SUPPORT_IMAGE_FILES_H
#define SUPPORT_IMAGE_FILES_H

#include "io/image/io_image_source.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

static const size_t pixel_bits[SLC_IMAGE_TYPES] = {8, 16, 32, 32, 1};

static inline size_t row_bytes_of(slc_image_type type, size_t width)
{
    return (width * pixel_bits[type] + 7) / 8;
}

/* Pixel (x, y) as a number; 32 bits are exact in double. */
static inline double pixel_at(const slc_image *image, size_t x, size_t y)
{
    const uint8_t *row = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
    uint16_t two;
    uint32_t four;
    float real;
    switch (image->type) {
    case SLC_IMAGE_U8:
        return row[x];
    case SLC_IMAGE_U16:
        memcpy(&two, row + 2 * x, 2);
        return two;
    case SLC_IMAGE_U32:
        memcpy(&four, row + 4 * x, 4);
        return four;
    case SLC_IMAGE_F32:
        memcpy(&real, row + 4 * x, 4);
        return (double)real;
    default:
        return row[x / 8] >> x % 8 & 1;
    }
}

/* Random pixels, rows `padding` pixels (of at least a byte) apart; stored from the bottom up where asked.
 * Floats are finite. Free with free_image. */
static inline slc_image random_image(slc_image_type type, size_t width, size_t height, size_t padding,
                                     bool bottom_up, uint64_t seed)
{
    const size_t unit = pixel_bits[type] < 8 ? 1 : pixel_bits[type] / 8;
    const size_t stride = row_bytes_of(type, width) + padding * unit;
    uint8_t *bytes = malloc(stride * height);
    assert_non_null(bytes);
    for (size_t i = 0; i < stride * height; i++) {
        bytes[i] = (uint8_t)random_u64(&seed);
    }
    for (size_t i = 0; type == SLC_IMAGE_F32 && i < stride * height / 4; i++) {
        ((float *)(void *)bytes)[i] = (float)random_normal(&seed);
    }
    return (slc_image){.pixels = bottom_up ? bytes + (height - 1) * stride : bytes,
                       .width = width,
                       .height = height,
                       .stride = bottom_up ? -(ptrdiff_t)stride : (ptrdiff_t)stride,
                       .type = type};
}

static inline void free_image(slc_image *image)
{
    const uint8_t *bytes = image->pixels;
    if (image->stride < 0) {
        bytes += (ptrdiff_t)(image->height - 1) * image->stride;
    }
    free((void *)(uintptr_t)bytes);
    *image = (slc_image){0};
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { MOST_PAGES = 8 };

typedef struct pages {
    slc_status open_status, status; /* status: SLC_END where all was read */
    slc_error error;
    char format[8];
    char warning[512]; /* the first */
    size_t n;
    slc_image page[MOST_PAGES]; /* copies; the first MOST_PAGES of n */
} pages;

static inline void free_pages(pages *read)
{
    for (size_t i = 0; i < read->n && i < MOST_PAGES; i++) {
        free_image(&read->page[i]);
    }
}

static inline slc_image copy_of(const slc_image *image)
{
    const size_t row = row_bytes_of(image->type, image->width);
    uint8_t *bytes = malloc(row * image->height);
    assert_non_null(bytes);
    for (size_t y = 0; y < image->height; y++) {
        memcpy(bytes + y * row, (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride, row);
    }
    slc_image copy = *image;
    copy.pixels = bytes;
    copy.stride = (ptrdiff_t)row;
    return copy;
}

static inline void keep_warning(const slc_io_images *images, pages *read)
{
    const char *warning = slc_io_images_warning(images);
    if (warning != NULL && read->warning[0] == '\0') {
        (void)strncpy(read->warning, warning, sizeof read->warning - 1);
    }
}

static inline void read_on(slc_io_images *images, pages *read)
{
    if (read->open_status != SLC_OK) {
        assert_null(images);
        assert_string_not_equal(read->error.text, "");
        return;
    }
    assert_non_null(images);
    (void)strncpy(read->format, slc_io_images_format(images), sizeof read->format - 1);
    slc_image image;
    while ((read->status = slc_io_images_next(images, &image, &read->error)) == SLC_OK) {
        keep_warning(images, read);
        if (read->n < MOST_PAGES) {
            read->page[read->n] = copy_of(&image);
        }
        read->n++;
    }
    keep_warning(images, read);
    /* What the end was, it stays. */
    slc_error again = {SLC_OK, ""};
    assert_int_equal(slc_io_images_next(images, &image, &again), read->status);
    if (read->status != SLC_END) {
        assert_string_not_equal(read->error.text, "");
        assert_string_equal(again.text, read->error.text);
    }
    slc_io_images_close(images);
}

static inline pages read_memory(const void *bytes, size_t size, const char *name,
                                const slc_io_image_config *config)
{
    pages read = {.n = 0};
    slc_io_images *images = NULL;
    read.open_status = slc_io_images_open_memory(bytes, size, name, config, &images, &read.error);
    read_on(images, &read);
    return read;
}

static inline pages read_path(const char *path)
{
    pages read = {.n = 0};
    slc_io_images *images = NULL;
    read.open_status = slc_io_images_open(path, NULL, &images, &read.error);
    read_on(images, &read);
    return read;
}

/* Reading fails, at opening or later, with exactly this text. */
static inline void assert_refused(const void *bytes, size_t size, const char *name, slc_status status,
                                  const char *text)
{
    pages read = read_memory(bytes, size, name, NULL);
    assert_string_equal(read.error.text, text);
    assert_int_equal(read.open_status != SLC_OK ? read.open_status : read.status, status);
    free_pages(&read);
}

static inline void assert_same_image(const slc_image *a, const slc_image *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    for (size_t y = 0; y < a->height; y++) {
        for (size_t x = 0; x < a->width; x++) {
            const double p = pixel_at(a, x, y), q = pixel_at(b, x, y);
            if (p != q && (p == p || q == q)) {
                fail_msg("pixel (%zu, %zu) is %.9g and %.9g", x, y, p, q);
            }
        }
    }
}

/* All of a file that a test wrote. The caller frees it. */
static inline uint8_t *file_bytes(const char *name, size_t *size)
{
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    (void)fclose(file);
    return bytes;
}

#endif
