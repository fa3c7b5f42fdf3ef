/* SPDX-License-Identifier: Apache-2.0
 * What the targets of image formats share: every page is read, every pixel touched, and the contract of the
 * calls looked at. */
#include "fuzz.h"
#include "io/image/io_image_source.h"

#include <string.h>

static uint64_t touched; /* of all inputs, so that no read is left out as useless */

static void touch(const slc_image *image, size_t max_bytes)
{
    static const size_t bits[] = {8, 16, 32, 32, 1, 64};
    fuzz_require((unsigned)image->type <= SLC_IMAGE_U64, "a type that there is");
    fuzz_require(image->width > 0 && image->height > 0 && image->pixels != NULL, "an image has pixels");
    const size_t row = (image->width * bits[image->type] + 7) / 8;
    fuzz_require(row <= max_bytes / image->height, "no page is larger than the limit");
    for (size_t y = 0; y < image->height; y++) {
        const uint8_t *at = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
        for (size_t i = 0; i < row; i++) {
            touched = touched * 31 + at[i];
        }
        if (image->type == SLC_IMAGE_BITS && image->width % 8 != 0) {
            fuzz_require(at[row - 1] >> image->width % 8 == 0, "no bits behind the last pixel");
        }
    }
}

void fuzz_images(const uint8_t *bytes, size_t size, const char *format)
{
    const slc_io_image_config config = {.size = sizeof(slc_io_image_config),
                                        .max_bytes = (size_t)1 << 18,
                                        .labels = size % 2 == 1,
                                        .label_values = size % 4 == 1};
    slc_io_images *images = NULL;
    slc_error error = {SLC_OK, ""};
    if (slc_io_images_open_memory(bytes, size, "fuzz", &config, &images, &error) != SLC_OK) {
        fuzz_require(images == NULL && strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a text");
        return;
    }
    slc_image image;
    slc_status status = SLC_OK;
    /* Another format is another target's. */
    for (unsigned n = 0; strcmp(slc_io_images_format(images), format) == 0 && status == SLC_OK && n < 64;
         n++) {
        status = slc_io_images_next(images, &image, &error);
        const char *warning = slc_io_images_warning(images);
        fuzz_require(warning == NULL || strncmp(warning, "fuzz:", 5) == 0, "a warning names the input");
        if (status == SLC_OK) {
            touch(&image, config.max_bytes);
        } else {
            fuzz_require(status == SLC_END || status == SLC_ERR_FORMAT || status == SLC_ERR_UNSUPPORTED,
                         "reading memory fails for what is in it alone");
            fuzz_require(status == SLC_END || strncmp(error.text, "fuzz: ", 6) == 0, "a failure has a text");
            fuzz_require(slc_io_images_next(images, &image, &error) == status, "the end stays the end");
        }
    }
    slc_io_images_close(images);
}
