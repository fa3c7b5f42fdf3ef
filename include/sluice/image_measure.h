/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of the regions of a label image, whoever made it: a row for each label.
 *
 * A region is all pixels of one value that is not 0, whether they are connected or not. Labels need not be
 * consecutive. With the label image of slc_image_label_run the features that it has, too, are the same to the
 * last bit.
 */
#ifndef SLUICE_IMAGE_MEASURE_H
#define SLUICE_IMAGE_MEASURE_H

#include <sluice/image_analyse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What image_analyse.h does not tell of the columns:
 *
 * SLC_IMAGE_LABEL: the value of the region's pixels.
 * SLC_IMAGE_FORM: extent is the area over that of the box; diameter that of the disc of this area; roundness
 *     4 area / (pi major²), 1 of a disc (ImageJ's, and that of slc_pixel_clusters).
 * SLC_IMAGE_HULL: convex_area is how many pixels have their centre inside or on the convex hull of the
 * middles of the edges of the region's pixels, exactly (scikit-image's area_convex); solidity is area over
 * it. SLC_IMAGE_FERET: of the convex hull of the corners of the region's pixels, feret_max is the largest
 * distance between two of its points, and feret_min the smallest between parallel lines with the hull between
 * them (ImageJ's Feret and MinFeret): sqrt(2) and 1 of a pixel. feret_outline is the largest distance between
 *     middles of edges of the pixels that convex_area counts (scikit-image's feret_diameter_max): 1 of a
 * pixel. SLC_IMAGE_CROFTON: the perimeter by Crofton's formula, from how often lines through the pixels'
 * centres enter the region: pi / 2 (rows + columns); or pi / 4 (rows + columns + (both diagonals) / sqrt(2))
 *     (scikit-image's perimeter_crofton with 2 and 4 directions). circularity is 4 pi area / crofton_4²; it
 * may be a little more than 1 of small regions. SLC_IMAGE_SPREAD: mean of the grey values, and the root of
 * their mean squared distance from it (divided by the number of pixels), summed in raster order in double
 * precision. SLC_IMAGE_EULER: pieces less holes, of the connectivity that is asked for. */

typedef struct slc_image_measure_config {
    size_t size;           /* of this struct; set by _config_default */
    uint32_t features;     /* sum of SLC_IMAGE_AREA … SLC_IMAGE_SPREAD */
    uint32_t connectivity; /* 4 or 8, of the Euler number */
} slc_image_measure_config;

/* SLC_IMAGE_LABEL alone, 8-connected. */
SLC_API void slc_image_measure_config_default(slc_image_measure_config *config, size_t size);
#define slc_image_measure_config_default(config) slc_image_measure_config_default(config, sizeof *(config))

/* Appends an event with a row for each label of `labels`, rising, to `components`, which is made for
 * config->features (slc_image_components_schema) and is given more room where it has too little. `labels` is
 * of u8, u16, u32, bits or u64; `grey` has the same width and height, and gives the values of SLC_IMAGE_GREY
 * and SLC_IMAGE_SPREAD; it may be NULL without them.
 *
 * Takes memory for the runs of the image (12 bytes each), and, for hulls, for those of each region in each
 * row. SLC_ERR_USAGE for images that are not as told, SLC_ERR_UNSUPPORTED for a label beyond 32 bits, for
 * labels that are floats, for sums that may be more than 64 bits (image_analyse.h), and for hulls of images
 * with a side of more than 2^29 pixels; SLC_ERR_MEMORY. The collection is as it was then. Several threads may
 * measure at once, into collections of their own. */
SLC_API slc_status slc_image_measure(const slc_image_measure_config *config, const slc_image *labels,
                                     const slc_image *grey, slc_image_components *components,
                                     slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
