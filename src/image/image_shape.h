/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: the ellipse with the second central moments of a component.
 */
#ifndef SLUICE_IMAGE_SHAPE_H
#define SLUICE_IMAGE_SHAPE_H

#include <sluice/image_analyse.h>

typedef struct slc_image_sums {
    uint64_t n, x, y, xx, xy, yy; /* pixels and exact sums over them; n > 0 */
} slc_image_sums;

typedef struct slc_image_shape {
    double orientation, eccentricity, major, minor; /* as image_analyse.h tells */
} slc_image_shape;

slc_image_shape slc_image_shape_of(const slc_image_sums *sums);

#endif
