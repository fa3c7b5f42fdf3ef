/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: what is asked for of clusters beyond the usual: sums of second order, the shape and the
 * kind that follow from them, and means weighted by the square of the charge. Sums are exact and rounded when
 * they are written.
 */
#ifndef SLUICE_PIXEL_SHAPE_H
#define SLUICE_PIXEL_SHAPE_H

#include "base/wide.h"

#include <sluice/pixel.h>

/* Features that need a slc_pixel_second for each cluster; of flat lists alone. */
enum { SLC_PIXEL_SECOND_FEATURES = SLC_PIXEL_SQUARED | SLC_PIXEL_SHAPE | SLC_PIXEL_KIND };

/* Sums over pixels of x², x y, y² (below 2^64 for all that there may be), and of charge², charge² x and
 * charge² y. */
typedef struct slc_pixel_second {
    uint64_t xx, xy, yy;
    slc_wide squares, squared_x, squared_y;
} slc_pixel_second;

/* Size, sums of x and y, and box of a cluster. */
typedef struct slc_pixel_extent {
    uint64_t size, x, y;
    uint32_t width, height;
} slc_pixel_extent;

static inline void slc_pixel_second_add(slc_pixel_second *s, uint32_t x, uint32_t y, uint32_t charge)
{
    const uint64_t square = (uint64_t)charge * charge;
    s->xx += (uint64_t)x * x;
    s->xy += (uint64_t)x * y;
    s->yy += (uint64_t)y * y;
    s->squares = slc_wide_sum(s->squares, (slc_wide){0, square});
    s->squared_x = slc_wide_sum(s->squared_x, slc_wide_product(square, x));
    s->squared_y = slc_wide_sum(s->squared_y, slc_wide_product(square, y));
}

static inline void slc_pixel_second_join(slc_pixel_second *s, const slc_pixel_second *other)
{
    s->xx += other->xx;
    s->xy += other->xy;
    s->yy += other->yy;
    s->squares = slc_wide_sum(s->squares, other->squares);
    s->squared_x = slc_wide_sum(s->squared_x, other->squared_x);
    s->squared_y = slc_wide_sum(s->squared_y, other->squared_y);
}

/* The columns of those features, into a row. */
void slc_pixel_second_write(const slc_pixel_second *second, const slc_pixel_extent *extent, uint32_t features,
                            slc_pixel_clusters *clusters, size_t row);

#endif
