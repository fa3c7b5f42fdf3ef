/* SPDX-License-Identifier: Apache-2.0
 * What of an image can be known to be wrong before a pixel is read.
 */
#include "image/image_check.h"

#include "base/columns.h"
#include "image/image_features.h"

#include <math.h>

static const size_t largest_side = 4294967294U; /* 2^32 - 2, so that coordinates and counts fit 32 bits */

slc_status slc_image_check_size(const char *what, size_t width, size_t height, slc_error *error)
{
    if (width < 1 || height < 1 || width > largest_side || height > largest_side) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: %zu x %zu pixels; width and height are from 1 to %zu",
                        what, width, height, largest_side);
    }
    return SLC_OK;
}

slc_status slc_image_check_rows(const char *what, const void *rows, ptrdiff_t stride, size_t row_bytes,
                                size_t height, size_t align, slc_error *error)
{
    /* -(stride + 1) + 1: the most negative number has no opposite. */
    const size_t step = stride < 0 ? (size_t) - (stride + 1) + 1 : (size_t)stride;
    if (rows == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: no pixels", what);
    }
    if ((uintptr_t)rows % align != 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: not aligned: it begins at no multiple of its pixels' %zu bytes", what, align);
    }
    if (height > 1 && step % align != 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: rows not aligned: a stride of %td bytes is no multiple of its pixels' %zu bytes",
                        what, stride, align);
    }
    if (height > 1 && step < row_bytes) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: a stride of %td bytes for rows of %zu", what, stride,
                        row_bytes);
    }
    if (step > (size_t)PTRDIFF_MAX / height) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: %zu rows of %zu bytes are more than memory can be", what,
                        height, step);
    }
    return SLC_OK;
}

slc_status slc_image_check(const char *what, const slc_image *image, slc_error *error)
{
    if (image == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: none given", what);
    }
    if (image->type < 0 || image->type >= SLC_IMAGE_TYPES) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: unknown type of pixels %d", what, (int)image->type);
    }
    const slc_status status = slc_image_check_size(what, image->width, image->height, error);
    if (status != SLC_OK) {
        return status;
    }
    const size_t align = image->type == SLC_IMAGE_BITS ? 1 : slc_image_row_bytes(image->type, 1);
    return slc_image_check_rows(what, image->pixels, image->stride,
                                slc_image_row_bytes(image->type, image->width), image->height, align, error);
}

slc_status slc_image_check_choices(uint32_t connectivity, double threshold, uint32_t features,
                                   uint64_t min_area, uint64_t max_area, slc_error *error)
{
    if (connectivity != 4 && connectivity != 8) {
        return slc_fail(error, SLC_ERR_USAGE, "connectivity: %u, and it can be 4 or 8", connectivity);
    }
    if (isnan(threshold)) {
        return slc_fail(error, SLC_ERR_USAGE, "threshold: not a number");
    }
    if ((features & ~(uint32_t)SLC_IMAGE_ALL) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: unknown ones, 0x%x",
                        features & ~(uint32_t)SLC_IMAGE_ALL);
    }
    if (min_area > max_area) {
        return slc_fail(error, SLC_ERR_USAGE, "min_area: %llu is larger than max_area, %llu",
                        (unsigned long long)min_area, (unsigned long long)max_area);
    }
    return SLC_OK;
}

slc_status slc_image_check_components(const char *what, const slc_image_components *components,
                                      uint32_t features, slc_error *error)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema asked = slc_image_components_schema(features, columns);
    const slc_columns *head = &components->head;
    for (size_t i = 0, next = 0; i < SLC_IMAGE_COLUMNS && head->capacity > 0; i++) {
        const slc_column *column = &slc_image_components_all.columns[i];
        const bool wanted = next < asked.n_columns && columns[next].member == column->member;
        next += wanted;
        if ((slc_column_data(components, column) != NULL) != wanted) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: %s column %s, which was %sasked for", what,
                            wanted ? "no" : "a", column->name, wanted ? "" : "not ");
        }
        if ((uintptr_t)slc_column_data(components, column) % slc_type_size(column->type) != 0) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: column %s is not aligned to its %zu bytes", what,
                            column->name, slc_type_size(column->type));
        }
    }
    return head->size <= head->capacity ? SLC_OK
                                        : slc_fail(error, SLC_ERR_USAGE, "%s: more rows than fit", what);
}

/* Do sums of n numbers below `factor` · side stay below 2^64? */
static bool is_exact(const slc_image *image, uint64_t factor)
{
    const uint64_t side = image->width > image->height ? image->width : image->height;
    const uint64_t pixels = (uint64_t)image->width * image->height;
    return side <= UINT64_MAX / factor && pixels <= UINT64_MAX / (side * factor);
}

slc_status slc_image_check_sums(const slc_image *image, const slc_image *grey, uint32_t features,
                                slc_error *error)
{
    static const uint64_t largest[SLC_IMAGE_TYPES] = {[SLC_IMAGE_U8] = UINT8_MAX,
                                                      [SLC_IMAGE_U16] = UINT16_MAX,
                                                      [SLC_IMAGE_U32] = UINT32_MAX,
                                                      [SLC_IMAGE_BITS] = 1};
    const uint64_t side = image->width > image->height ? image->width : image->height;
    const bool second = (slc_image_features_needed(features) & SLC_IMAGE_SECOND) != 0;
    if (second && !is_exact(image, side)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "second moments of %zu x %zu pixels may be more than 64 bits", image->width,
                        image->height);
    }
    if ((features & SLC_IMAGE_GREY) == 0) {
        return SLC_OK;
    }
    const slc_status status = slc_image_check("grey image", grey, error);
    if (status != SLC_OK) {
        return status;
    }
    if (grey->width != image->width || grey->height != image->height) {
        return slc_fail(error, SLC_ERR_USAGE, "grey image: %zu x %zu pixels, and the image has %zu x %zu",
                        grey->width, grey->height, image->width, image->height);
    }
    if (grey->type != SLC_IMAGE_F32 && !is_exact(image, largest[grey->type])) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "grey sums of %zu x %zu pixels of type %s may be more than 64 bits", image->width,
                        image->height, slc_image_type_name(grey->type));
    }
    return SLC_OK;
}
