/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense images: what an image is to the library, and which of its pixels are foreground.
 */
#ifndef SLUICE_IMAGE_H
#define SLUICE_IMAGE_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a pixel is. Pixels of more than a byte are in the byte order of the machine and aligned to their size.
 */
typedef enum slc_image_type {
    SLC_IMAGE_U8 = 0,
    SLC_IMAGE_U16,
    SLC_IMAGE_U32,
    SLC_IMAGE_F32,
    SLC_IMAGE_BITS, /* eight pixels a byte: pixel x of a row is bit x % 8, from the lowest, of byte x / 8 */
    SLC_IMAGE_TYPES,
    SLC_IMAGE_U64 = SLC_IMAGE_TYPES /* no image's: of volumes of equal values alone */
} slc_image_type;

/* "u8", "u16", "u32", "f32", "bits", "u64". */
SLC_API const char *slc_image_type_name(slc_image_type type);

/* An image of the caller's. Row y begins at (const char *)pixels + y · stride; the stride may be larger than
 * a row, and negative for images that are stored from the bottom up. Width and height are from 1 to 2^32 - 2;
 * no row may be longer than PTRDIFF_MAX bytes. Nothing outside the width of a row is ever read, except for
 * the other bits of the byte that holds the last pixel of a row of bits. */
typedef struct slc_image {
    const void *pixels;
    size_t width, height;
    ptrdiff_t stride; /* bytes */
    slc_image_type type;
} slc_image;

/* Bytes of one row without padding. */
SLC_API size_t slc_image_row_bytes(slc_image_type type, size_t width);

/* Otsu's threshold (IEEE Trans. SMC 9, 1979, 62): the value that separates the pixels into two classes, those
 * below and those at or above it, with the largest variance between the classes; of several such values the
 * middle one, the lower of two. 8- and 16-bit images: over all values. 32-bit and float images: over 65536
 * equal bins between their finite extremes, NaN and infinities left out. An image of one single value gives
 * that value + 1 (in a float image the next larger number), so that nothing is foreground. SLC_ERR_USAGE for
 * rows of bits, for an image that is not as told above, and for a float image without a finite pixel. */
SLC_API slc_status slc_image_otsu(const slc_image *image, double *threshold, slc_error *error);

/* The same of an image whose rows are with several (threads, machines), each of whom has a part of them,
 * which may have no rows (height 0). Everyone takes the steps in turn; between them `low` becomes the lowest
 * of all and `high` the highest, and then every count the sum of all. */
typedef enum slc_image_otsu_step {
    SLC_IMAGE_OTSU_EXTREMES = 0, /* sets low and high, of the finite pixels of 32-bit types */
    SLC_IMAGE_OTSU_COUNT,        /* sets count */
    SLC_IMAGE_OTSU_THRESHOLD     /* from the sums; of `part` the type alone is looked at */
} slc_image_otsu_step;
enum { SLC_IMAGE_OTSU_BINS = 65536 };
typedef struct slc_image_otsu_sums {
    double low, high;
    uint64_t count[SLC_IMAGE_OTSU_BINS];
} slc_image_otsu_sums;
/* `threshold` is for the last step. Fails as slc_image_otsu; "no finite pixel" only in the last two. */
SLC_API slc_status slc_image_otsu_parts(slc_image_otsu_step step, const slc_image *part,
                                        slc_image_otsu_sums *sums, double *threshold, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
