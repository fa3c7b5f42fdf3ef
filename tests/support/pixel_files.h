/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of pixels for tests: read from memory in pieces of any size, and compared row by row.
 */
#ifndef SUPPORT_PIXEL_FILES_H
#define SUPPORT_PIXEL_FILES_H

#include "base/columns.h"
#include "io/pixel/io_pixel_source.h"
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 4096, MOST_FRAMES = 1 << 15 };

typedef struct pixel_file {
    slc_status open_status, status; /* status: SLC_END where all was read */
    slc_error error;
    slc_io_pixels_info info;
    slc_io_pixels_counts counts;
    slc_pixels pixels;
    int64_t frames[MOST_FRAMES]; /* their numbers, of a file that has frames */
    uint32_t n_frames;
} pixel_file;

/* Reads on from an open file of at most so many pixels, n pixels a call, and closes it. */
static inline void read_to_end_of(slc_io_pixels *file, size_t n, size_t most, pixel_file *read)
{
    const char *why = "";
    read->info = slc_io_pixels_about(file);
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(read->info.with, columns);
    assert_int_equal(slc_columns_reserve(&schema, &read->pixels, most, (uint32_t)most), SLC_OK);
    do {
        const size_t before = read->pixels.head.size;
        const uint32_t events = read->pixels.head.n_events;
        read->status = slc_io_pixels_read(file, &read->pixels, n, &read->error);
        assert_true(read->pixels.head.size - before <= n);
        assert_true(read->status != SLC_OK || read->pixels.head.size > before);
        uint32_t frames;
        const int64_t *numbers = slc_io_pixels_frames(file, &frames);
        assert_int_equal(frames, read->pixels.head.n_events - events);
        assert_true(read->n_frames + frames <= MOST_FRAMES || !read->info.frames);
        for (uint32_t i = 0; i < frames; i++) {
            read->frames[read->n_frames++] = numbers[i];
        }
    } while (read->status == SLC_OK);
    if (!read->info.frames) {
        slc_columns_end_event(&read->pixels);
    }
    assert_true(slc_columns_check(&schema, &read->pixels, &why));
    read->counts = slc_io_pixels_count(file);
    assert_int_equal(read->counts.pixels, read->pixels.head.size);
    slc_io_pixels_close(file);
}

static inline void read_to_end(slc_io_pixels *file, size_t n, pixel_file *read)
{
    read_to_end_of(file, n, MOST_PIXELS, read);
}

/* The bytes are copied, so that a sanitizer sees a read beyond their end. */
static inline pixel_file read_pixels_with(const void *bytes, size_t size, const char *name,
                                          const slc_io_pixels_options *options, size_t n)
{
    pixel_file read = {.status = SLC_OK};
    slc_io_pixels *file = NULL;
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    read.open_status = slc_io_pixels_open_memory(copy, size, name, options, &file, &read.error);
    assert_true((read.open_status == SLC_OK) == (file != NULL));
    if (file != NULL) {
        read_to_end(file, n, &read);
    }
    free(copy);
    return read;
}

static inline pixel_file read_pixels(const void *bytes, size_t size, const char *name, size_t n)
{
    return read_pixels_with(bytes, size, name, NULL, n);
}

static inline void free_pixels(pixel_file *read)
{
    if (read->open_status == SLC_OK) {
        slc_column columns[SLC_PIXEL_COLUMNS];
        const slc_schema schema = slc_pixels_schema(read->info.with, columns);
        slc_columns_clear(&schema, &read->pixels);
    }
}

static inline void assert_not_opened(const void *bytes, size_t size, slc_status status, const char *text)
{
    pixel_file read = read_pixels(bytes, size, "a", 1);
    assert_string_equal(read.error.text, text);
    assert_int_equal(read.open_status, status);
    assert_int_equal(read.error.status, status);
    free_pixels(&read);
}

/* The rows of `a` are the first of `b`. */
static inline void assert_begins(const pixel_file *a, const pixel_file *b)
{
    const size_t n = a->pixels.head.size;
    assert_int_equal(a->info.with, b->info.with);
    assert_true(n <= b->pixels.head.size);
    assert_memory_equal(a->pixels.x, b->pixels.x, n * sizeof *a->pixels.x);
    assert_memory_equal(a->pixels.y, b->pixels.y, n * sizeof *a->pixels.y);
    if (a->pixels.z != NULL) {
        assert_memory_equal(a->pixels.z, b->pixels.z, n * sizeof *a->pixels.z);
    }
    if (a->pixels.charge != NULL) {
        assert_memory_equal(a->pixels.charge, b->pixels.charge, n * sizeof *a->pixels.charge);
    }
    if (a->pixels.time != NULL) {
        assert_memory_equal(a->pixels.time, b->pixels.time, n * sizeof *a->pixels.time);
    }
}

#endif
