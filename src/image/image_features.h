/* SPDX-License-Identifier: Apache-2.0
 *
 * Features summed over runs with final labels, row by row in raster order: the plain way, for every feature.
 * What bitrun sums faster by itself, it does not ask for here.
 */
#ifndef SLUICE_IMAGE_FEATURES_H
#define SLUICE_IMAGE_FEATURES_H

#include <sluice/image_analyse.h>

/* The runs of a row, from the left. A bit row is an array of 64-bit words, pixel i in bit i % 64 of word i /
 * 64, zeros behind the last pixel. */
typedef struct slc_image_run_row {
    size_t y, width, n_runs;
    const uint32_t *first, *behind; /* of each run: its first pixel, and the first behind it */
    const uint32_t *label;          /* final, from 1; 0 of a dropped component */
    const uint64_t *bits,
        *upper; /* this row and the one above, NULL above the first; with perimeter and Euler number */
    uint32_t connectivity; /* with the Euler number */
    const void *grey;      /* the row of the grey image, with SLC_IMAGE_GREY */
    slc_image_type grey_type;
} slc_image_run_row;

/* What is summed are the features themselves and those that derived ones are made of
 * (slc_image_features_needed): the columns of all of them must be there. Between _begin and _end the columns
 * mass, weighted_x and weighted_y of an integer grey image hold the bit patterns of 64-bit unsigned sums: of
 * the values, and of the values times x and y. */

/* Components are rows base, base + 1, … of the collection, label l in row base + l - 1; n of them, and there
 * is room. */
void slc_image_features_begin(uint32_t features, slc_image_components *components, size_t base, uint32_t n,
                              slc_image_type grey_type);
/* Adds a row. Rows come in order, y growing. */
void slc_image_features_row(uint32_t features, slc_image_components *components, size_t base,
                            const slc_image_run_row *row);
/* Derived columns (centroid, shape, weighted centroid) from the sums of `features`, once all rows were added.
 */
void slc_image_features_end(uint32_t features, slc_image_components *components, size_t base, uint32_t n,
                            slc_image_type grey_type);

/* Centroids alone: sum / area, both rounded to double before. */
void slc_image_features_mean(const uint64_t *sum, const uint64_t *area, size_t n, double *mean);

/* Row `into` gets what was summed in row `from`, which had other runs of the same component. Sums of float
 * grey images are added to each other, which rounds them otherwise than in raster order. */
void slc_image_features_merge(uint32_t features, slc_image_components *components, size_t into, size_t from,
                              slc_image_type grey_type);

/* The feature that brings the column of that name; 0: there is none. */
uint32_t slc_image_feature_of(const char *column);

/* The sums that derived features are made of: what has to be summed for `features`, as flags. */
uint32_t slc_image_features_needed(uint32_t features);

#endif
