/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: features of clusters, once every pixel has its label; and what becomes of entries with
 * the same coordinates. Sums are integers, so their order does not matter, and are rounded when they are
 * written.
 */
#ifndef SLUICE_PIXEL_FEATURES_H
#define SLUICE_PIXEL_FEATURES_H

#include "pixel/pixel_shape.h"

/* Those that are made of coordinates alone: charges and times are not read for them. */
enum { SLC_PIXEL_SHAPE_FEATURES = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID };

/* Sums of coordinates over one cluster, by themselves: small, as most configurations need no more. */
typedef struct slc_pixel_sums {
    uint64_t sum[3];
    uint32_t size;
    uint16_t min[3], max[3];
} slc_pixel_sums;

/* What charges and times add up to. Weighted sums of 2^32 pixels may be more than 64 bits: carries are
 * counted. */
typedef struct slc_pixel_values {
    uint32_t largest, charge; /* charge: of the largest */
    uint64_t mass, weighted[3];
    uint32_t carry[3];
    int64_t first_time, last_time;
} slc_pixel_values;

/* One image in the order of its list. Of entries with the same coordinates (`same`, the first one's number;
 * NULL where each counts) one pixel is made, in charge, time and pick of the first one's number. */
typedef struct slc_pixel_entries {
    uint32_t n;
    const uint16_t *x, *y, *z;
    const uint32_t *charge;
    const int64_t *time;
    const uint32_t *same;
    uint32_t *merged_charge, *pick;
    int64_t *merged_time;
} slc_pixel_entries;

void slc_pixel_merge(const slc_pixel_entries *entries, slc_pixel_duplicates policy);

/* Sums up `n` clusters as far as those features need it, and writes them to the rows from `row` on. `second`
 * is there for SLC_PIXEL_SECOND_FEATURES. */
void slc_pixel_sum(const slc_pixel_entries *entries, const uint32_t *labels, uint32_t n, uint32_t features,
                   slc_pixel_sums *sums, slc_pixel_values *values, slc_pixel_second *second);
void slc_pixel_sums_write(const slc_pixel_sums *sums, const slc_pixel_values *values,
                          const slc_pixel_second *second, uint32_t n, uint32_t features,
                          slc_pixel_clusters *clusters, size_t row);

#endif
