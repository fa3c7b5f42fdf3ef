/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: is an image of the caller's what image.h says?
 */
#ifndef SLUICE_IMAGE_CHECK_H
#define SLUICE_IMAGE_CHECK_H

#include <sluice/image.h>
#include <sluice/image_analyse.h>

/* Memory with rows of so many bytes: SLC_ERR_USAGE where it is not aligned to `align` bytes, or rows overlap.
 * `what` names it in the text: "image", "label image" … */
slc_status slc_image_check_rows(const char *what, const void *rows, ptrdiff_t stride, size_t row_bytes,
                                size_t height, size_t align, slc_error *error);
/* SLC_ERR_USAGE for an image that is not as image.h tells. */
slc_status slc_image_check(const char *what, const slc_image *image, slc_error *error);
/* Sides that an image can have; SLC_ERR_USAGE. */
slc_status slc_image_check_size(const char *what, size_t width, size_t height, slc_error *error);

/* What the configurations of a labeller and of a stream have in common. */
slc_status slc_image_check_choices(uint32_t connectivity, double threshold, uint32_t features,
                                   uint64_t min_area, uint64_t max_area, slc_error *error);
/* A collection that has the columns of `features` and no others: those would keep whatever is in them.
 * `what` names it: "components of the foreground" … */
slc_status slc_image_check_components(const char *what, const slc_image_components *components,
                                      uint32_t features, slc_error *error);

/* Can the sums of these features be exact, and is the grey image, where they need it, one of the image's
 * size? SLC_ERR_UNSUPPORTED, SLC_ERR_USAGE. */
slc_status slc_image_check_sums(const slc_image *image, const slc_image *grey, uint32_t features,
                                slc_error *error);

/* Row y. */
static inline const void *slc_image_row(const slc_image *image, size_t y)
{
    return (const char *)image->pixels + (ptrdiff_t)y * image->stride;
}

#endif
