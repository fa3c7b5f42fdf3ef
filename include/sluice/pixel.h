/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse pixels: lists of the pixels that were hit, of images that are nearly empty (the modules of a pixel
 * detector, the frames or the endless stream of a Timepix chip), and the clusters made of them.
 */
#ifndef SLUICE_PIXEL_H
#define SLUICE_PIXEL_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The columns that a list of pixels may have besides x and y. */
enum {
    SLC_PIXEL_Z = 1 << 0,      /* a third coordinate */
    SLC_PIXEL_CHARGE = 1 << 1, /* what the pixel measured: charge, ADC counts, time over threshold */
    SLC_PIXEL_TIME = 1 << 2,   /* in ticks of the caller's choice, which may be negative */
    SLC_PIXEL_COLUMNS_ALL = (1 << 3) - 1
};

/* One row is one pixel, one event is one image. A column that a list was not made for is NULL. */
typedef struct slc_pixels {
    slc_columns head;
    uint16_t *x, *y, *z;
    uint32_t *charge;
    int64_t *time;
} slc_pixels;

enum { SLC_PIXEL_COLUMNS = 5 };
/* The schema of a list with x, y and those columns; it points at `columns`, which the caller keeps. */
SLC_API slc_schema slc_pixels_schema(uint32_t with, slc_column columns[SLC_PIXEL_COLUMNS]);

/* What can be asked for of clusters; each brings the columns named. */
enum {
    SLC_PIXEL_SIZE = 1 << 0,     /* size: pixels */
    SLC_PIXEL_BOX = 1 << 1,      /* x_min, y_min, x_max, y_max (z_min, z_max where there is a z) */
    SLC_PIXEL_CENTROID = 1 << 2, /* centroid_x, centroid_y (centroid_z): means of the coordinates */
    SLC_PIXEL_MASS = 1 << 3,     /* mass: sum of the charges; without charges the size */
    SLC_PIXEL_WEIGHTED = 1 << 4, /* weighted_x, weighted_y (weighted_z): means weighted by charge; not a
                                    number where the mass is 0 */
    SLC_PIXEL_TIMES = 1 << 5,    /* first_time, last_time; 0 without times */
    SLC_PIXEL_LARGEST = 1 << 6,  /* largest: index, in its image's list, of the pixel with the largest charge;
                                    of several the first in the list */
    SLC_PIXEL_FEATURES_ALL = (1 << 7) - 1
};

/* One row is one cluster, one event is one image. Sums are exact in 64 bits and rounded once. */
typedef struct slc_pixel_clusters {
    slc_columns head;
    uint32_t *size;
    uint16_t *x_min, *y_min, *z_min, *x_max, *y_max, *z_max;
    double *centroid_x, *centroid_y, *centroid_z;
    uint64_t *mass;
    double *weighted_x, *weighted_y, *weighted_z;
    int64_t *first_time, *last_time;
    uint32_t *largest;
} slc_pixel_clusters;

enum { SLC_PIXEL_CLUSTER_COLUMNS = 17 };
/* `with` is that of the pixels: it decides about the columns of z. */
SLC_API slc_schema slc_pixel_clusters_schema(uint32_t features, uint32_t with,
                                             slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS]);
/* "size", "box" …; NULL for anything that is not one feature. */
SLC_API const char *slc_pixel_feature_name(uint32_t feature);

#ifdef __cplusplus
}
#endif
#endif
