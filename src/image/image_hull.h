/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: the convex hull of a region that is given by rows, and what is measured of it.
 */
#ifndef SLUICE_IMAGE_HULL_H
#define SLUICE_IMAGE_HULL_H

#include <sluice/base.h>

/* All pixels of a region in row y, from the first one to the last one: what is between them does not matter.
 */
typedef struct slc_image_span {
    uint32_t y, first, behind;
} slc_image_span;

/* Memory for hulls, of any number of regions one after the other. Zero-initialise. */
typedef struct slc_image_hull {
    struct slc_image_hull_level *levels;
    struct slc_image_hull_point *points;
    size_t *left, *right;
    size_t n_levels, n_left, n_right, n_points;
    size_t capacity; /* levels */
} slc_image_hull;

/* Room for hulls of regions with pixels in up to so many rows. */
slc_status slc_image_hull_reserve(slc_image_hull *hull, size_t rows);
void slc_image_hull_clear(slc_image_hull *hull);

/* As image_measure.h tells of the columns of these names. Spans come from the top, one of each row; there is
 * at least one, and room for them; sides are below 2^29. */
uint64_t slc_image_hull_area(slc_image_hull *hull, const slc_image_span *spans, size_t n);
void slc_image_hull_feret(slc_image_hull *hull, const slc_image_span *spans, size_t n, double *largest,
                          double *smallest);
/* `whole` has room for all rows from the first span's to the last one's. */
double slc_image_hull_outline(slc_image_hull *hull, slc_image_hull *whole, const slc_image_span *spans,
                              size_t n);

#endif
