/* SPDX-License-Identifier: Apache-2.0
 *
 * ImageJ stacks that have one directory for all of their images. ImageJ writes them so where they are larger
 * than 4 GiB, and other programs always: the directory is that of the first image, and the others follow its
 * pixels, uncompressed. Only the ImageDescription ("ImageJ=…", "images=N", or "channels=",
 * "slices=" and "frames=") tells of them; for libtiff the
 * file has one page. docs/formats/tiff.md; ImageJ's ij.io.TiffEncoder and TiffDecoder.
 */
#include "io/image/io_image_tiff.h"

#include <stdlib.h>
#include <string.h>

/* The number of the line that begins with `name`; `otherwise` if there is none, 0 if it is no number from 1
 * on.
 */
static uint64_t number_of(const char *text, const char *name, uint64_t otherwise)
{
    const char *at = strstr(text, name);
    if (at == NULL) {
        return otherwise;
    }
    at += strlen(name);
    return *at >= '0' && *at <= '9' ? strtoull(at, NULL, 10) : 0; /* it would take a sign */
}

/* Images by the description; 0 if it is not ImageJ's, or says nothing that can be. */
static uint64_t images_told(slc_io_images *images)
{
    static const char program[] = "ImageJ=";
    static const char *const dimensions[] = {"\nchannels=", "\nslices=", "\nframes="};
    const slc_tiff_state *state = images->state;
    const char *text = NULL;
    if (!TIFFGetField(state->tiff, TIFFTAG_IMAGEDESCRIPTION, &text) || text == NULL ||
        strncmp(text, program, sizeof program - 1) != 0) {
        return 0;
    }
    uint64_t product = 1;
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        const uint64_t n = number_of(text, dimensions[i], 1);
        product = n != 0 && product > UINT64_MAX / n ? UINT64_MAX : product * n;
    }
    const uint64_t told = number_of(text, "\nimages=", product);
    if (told == 0) {
        slc_io_image_warn(images,
                          "the number of images in the file's description (ImageJ) is none from 1 on: "
                          "each directory is read as one image");
    }
    return told;
}

/* Whether pixels are in the file as they are in memory, row after row, but for the order of bytes. */
static bool is_plain(const slc_tiff_state *state)
{
    const slc_tiff_page *page = &state->page;
    uint16_t fill = FILLORDER_MSB2LSB;
    (void)TIFFGetFieldDefaulted(state->tiff, TIFFTAG_FILLORDER, &fill);
    if (page->compression != COMPRESSION_NONE || page->tiled || fill != FILLORDER_MSB2LSB ||
        (page->planar == PLANARCONFIG_SEPARATE && page->samples > 1)) {
        return false;
    }
    const uint64_t first = TIFFGetStrileOffset(state->tiff, 0);
    const uint64_t strip = page->part_row_bytes * page->part_height;
    for (uint32_t i = 1, n = TIFFNumberOfStrips(state->tiff); i < n; i++) {
        if (TIFFGetStrileOffset(state->tiff, i) != first + i * strip) {
            return false;
        }
    }
    return true;
}

/* Pixels up to the end of the file, or to a directory after them, that are of more images than are told. */
static void tell_more(slc_io_images *images, uint64_t begin)
{
    const slc_tiff_state *state = images->state;
    const uint64_t directory = TIFFCurrentDirOffset(state->tiff);
    const uint64_t end = directory > begin && directory < state->size ? directory : state->size;
    const uint64_t size = state->page.part_row_bytes * state->page.height; /* a page is limited */
    const uint64_t there = end > begin && size > 0 ? (end - begin) / size : 0;
    if (there > state->told) {
        slc_io_image_warn(
            images,
            "the file's description tells of %llu images (ImageJ), and bytes of %llu more follow "
            "them, which are not read",
            (unsigned long long)state->told, (unsigned long long)(there - state->told));
    }
}

void slc_tiff_find_stack(slc_io_images *images)
{
    slc_tiff_state *state = images->state;
    state->told = images_told(images);
    const bool is_alone = state->told > 0 && TIFFLastDirectory(state->tiff) && is_plain(state);
    state->is_stack = is_alone && state->told > 1;
    state->stack_begin = is_alone ? TIFFGetStrileOffset(state->tiff, 0) : 0;
    if (is_alone) {
        tell_more(images, state->stack_begin);
    }
}

/* Into this machine's order, as libtiff does. */
static void swap_samples(const slc_tiff_state *state, uint8_t *bytes, size_t size)
{
    void *samples = bytes; /* from malloc, and rows have whole samples */
    if (!TIFFIsByteSwapped(state->tiff)) {
        return;
    }
    switch (state->page.bits) {
    case 16:
        TIFFSwabArrayOfShort(samples, (tmsize_t)(size / 2));
        break;
    case 32:
        TIFFSwabArrayOfLong(samples, (tmsize_t)(size / 4));
        break;
    case 64:
        TIFFSwabArrayOfLong8(samples, (tmsize_t)(size / 8));
        break;
    default:
        break;
    }
}

static slc_status too_short(const slc_io_images *images, uint64_t begin, uint64_t size, slc_error *error)
{
    const slc_tiff_state *state = images->state;
    if (state->wrong != 0) {
        return slc_tiff_fail(images, error, "");
    }
    return slc_io_image_fail(images, error, SLC_ERR_FORMAT, begin,
                             "the file's description tells of %llu images (ImageJ) that follow one another, "
                             "and of the %llu bytes of this one, which begins here, %llu are there",
                             (unsigned long long)state->told, (unsigned long long)size,
                             (unsigned long long)(state->size > begin ? state->size - begin : 0));
}

slc_status slc_tiff_read_stack(slc_io_images *images, slc_error *error)
{
    enum { PIECE = 1 << 20 };
    slc_tiff_state *state = images->state;
    const slc_tiff_page *page = &state->page;
    /* No overflow: a page is limited, and all images before this one were in the file. */
    const uint64_t row_bytes = page->part_row_bytes, size = row_bytes * page->height;
    const uint64_t begin = state->stack_begin + (images->page - 1) * size;
    if (begin > state->size || size > state->size - begin) {
        return too_short(images, begin, size, error);
    }
    const uint32_t most = row_bytes < PIECE ? (uint32_t)(PIECE / row_bytes) : 1;
    slc_status status = slc_tiff_reserve_part(images, 0, most * row_bytes, error);
    const uint64_t top = slc_tiff_begin(images), end = top + images->image.height;
    for (uint64_t y = top; status == SLC_OK && y < end; y += most) {
        const uint32_t rows = end - y < most ? (uint32_t)(end - y) : most;
        const size_t bytes = (size_t)(rows * row_bytes);
        status = slc_io_image_grow(images, (size_t)(y - top + rows) * images->row_bytes, error);
        if (status == SLC_OK && slc_tiff_read(state, begin + y * row_bytes, state->part[0], bytes) < bytes) {
            status = too_short(images, begin, size, error);
        }
        if (status != SLC_OK) {
            break;
        }
        swap_samples(state, state->part[0], bytes);
        for (uint32_t row = 0; row < rows && status == SLC_OK; row++) {
            status = slc_tiff_convert(images, row, (size_t)(y - top + row), 0, page->width, error);
        }
    }
    return status;
}
