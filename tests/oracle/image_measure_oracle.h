/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of one region of a label image, slowly and obviously: pixel by pixel and pair of points by pair of
 * points. Written from the public headers alone.
 */
#ifndef TESTS_ORACLE_IMAGE_MEASURE_ORACLE_H
#define TESTS_ORACLE_IMAGE_MEASURE_ORACLE_H

#include <sluice/image_measure.h>

enum { ORACLE_MEASURE_SIDE = 24 };

typedef struct oracle_region {
    uint64_t area, x_min, y_min, x_max, y_max, first_x, first_y, sum_x, sum_y, sum_xx, sum_xy, sum_yy;
    uint64_t perimeter, convex_area;
    int64_t euler;
    double feret_max, feret_min, feret_outline, crofton_2, crofton_4, mass, grey_min, grey_max, mean, std;
} oracle_region;

/* Of the pixels with that label, of which there is one at least. Sides are up to ORACLE_MEASURE_SIDE; grey
 * has a value for each pixel. */
oracle_region oracle_image_measure(const uint64_t *labels, size_t width, size_t height, uint64_t label,
                                   uint32_t connectivity, const double *grey);

#endif
