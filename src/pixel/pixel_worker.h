/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: what one thread needs to cluster images one after the other: the rule, the algorithm,
 * and working memory for images of so many pixels.
 */
#ifndef SLUICE_PIXEL_WORKER_H
#define SLUICE_PIXEL_WORKER_H

#include "pixel/pixel_algorithm.h"
#include "pixel/pixel_bitmap.h"
#include "pixel/pixel_features.h"
#include "pixel/pixel_sort.h"

typedef struct slc_pixel_worker {
    const slc_pixel_cluster_config *config; /* checked, algorithm chosen */
    slc_pixel_rule rule;
    const slc_pixel_algorithm *algorithm;
    slc_pixel_bitmap *bitmap; /* NULL for other algorithms */
    uint32_t alone;           /* images in front of this one are not tried as a group */

    void *block; /* behind all that follows */
    size_t pixels;
    slc_pixel_sorter sorter;
    uint16_t *x, *y, *z; /* sorted */
    int64_t *time, *until, *merged_time;
    uint32_t *root, *number, *label, *same, *merged_charge, *pick;
    uint32_t *node, *begin, *behind; /* entries that were merged */
    slc_pixel_sums *sums;
    slc_pixel_values *values;
    slc_pixel_second *second; /* for SLC_PIXEL_SECOND_FEATURES */
    void *memory;             /* the algorithm's */
} slc_pixel_worker;

/* Prepares a zeroed worker for images of up to so many pixels. SLC_ERR_MEMORY; it is to be cleared then too.
 */
slc_status slc_pixel_worker_open(slc_pixel_worker *worker, const slc_pixel_cluster_config *config,
                                 const slc_pixel_rule *rule, const slc_pixel_algorithm *algorithm,
                                 size_t pixels);
void slc_pixel_worker_clear(slc_pixel_worker *worker);

/* Clusters pixels first … first + n - 1, which were checked. Labels (NULL: none) go to labels[first] …;
 * features (clusters NULL: none) to the rows behind the last, which are not added to the collection. Returns
 * how many clusters there are; where clusters has no room for as many, they are not written. */
uint32_t slc_pixel_worker_run(slc_pixel_worker *worker, const slc_pixels *pixels, size_t first, uint32_t n,
                              uint32_t *labels, slc_pixel_clusters *clusters);

/* The same for as many of the images from `image` to in front of `behind` as are small enough to go together;
 * returns how many, 0 where each has to be taken by itself. begins[k]: how many clusters there are in front
 * of the k-th of them, and behind the last, until the next run. */
uint32_t slc_pixel_worker_group(slc_pixel_worker *worker, const slc_pixels *pixels, uint32_t image,
                                uint32_t behind, uint32_t *labels, slc_pixel_clusters *clusters,
                                const uint32_t **begins);

#endif
