/* SPDX-License-Identifier: Apache-2.0
 *
 * Connected components, slowly and obviously: labels by flood fill in raster order and, a second time and
 * independently, by spreading the smallest number until nothing changes; features pixel by pixel from a label
 * image, holes by flood fill of what a component is not. Written from the public headers alone.
 *
 * Images are arrays of one byte a pixel, row behind row without gaps; what is not 0 is foreground.
 */
#ifndef TESTS_ORACLE_IMAGE_ORACLE_H
#define TESTS_ORACLE_IMAGE_ORACLE_H

#include <sluice/image_label.h>

/* Fill `labels`, one for each pixel; return how many components there are. */
uint32_t oracle_image_label(const uint8_t *on, size_t width, size_t height, uint32_t connectivity,
                            uint32_t *labels);
uint32_t oracle_image_label_fixpoint(const uint8_t *on, size_t width, size_t height, uint32_t connectivity,
                                     uint32_t *labels);

/* Drops components of a label image by area and border, and numbers the others anew; returns how many. */
uint32_t oracle_image_filter(uint32_t *labels, size_t width, size_t height, uint32_t n, uint64_t min_area,
                             uint64_t max_area, slc_image_border border);

typedef struct oracle_component {
    uint64_t area, x_min, y_min, x_max, y_max, first_x, first_y;
    uint64_t sum_x, sum_y, sum_xx, sum_xy, sum_yy, perimeter;
    int64_t euler;
    double x, y;
    bool isotropic; /* no direction is longer than another */
    bool upright;   /* the axes are those of the image */
    double orientation, eccentricity, major, minor;
    double mass, weighted_x, weighted_y, grey_min, grey_max;
} oracle_component;

/* Features of all n components. `grey`: one value for each pixel, NULL for none; `real`: they are those of a
 * float image, whose sums are made in double precision in raster order, and not of integers, whose sums are
 * exact. `connectivity` is that of the components. */
void oracle_image_components(const uint32_t *labels, size_t width, size_t height, uint32_t n,
                             uint32_t connectivity, const double *grey, bool real,
                             oracle_component *components);

#endif
