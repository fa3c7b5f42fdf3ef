/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of sparse pixels for tests: every kind that may trouble a clustering (scattered pixels, tracks, full
 * areas with long runs, the same few places again and again), sorted or shuffled, and collections of clusters
 * whose memory is poisoned.
 */
#ifndef TESTS_SUPPORT_PIXEL_LISTS_H
#define TESTS_SUPPORT_PIXEL_LISTS_H

#include <sluice/pixel.h>

/* What lists are to be: coordinates below width, height and depth; columns; sorted in raster order, or
 * shuffled; with the same place more than once, or not. */
typedef struct pixel_wish {
    uint32_t width, height, depth, with;
    bool sorted, unique;
} pixel_wish;

/* A collection with its schema. */
typedef struct pixel_list {
    slc_column columns[SLC_PIXEL_COLUMNS];
    slc_schema schema;
    slc_pixels of;
} pixel_list;

typedef struct pixel_cluster_list {
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_schema schema;
    slc_pixel_clusters of;
} pixel_cluster_list;

void pixel_list_open(pixel_list *list, uint32_t with);
void pixel_list_clear(pixel_list *list);
/* Appends an image of at most n pixels; `unique` makes it fewer. */
void pixel_list_add(pixel_list *list, const pixel_wish *wish, uint32_t n, uint64_t *seed);
/* Appends one pixel to the image at hand (a column that is not there is left out), and ends an image. */
void pixel_list_put(pixel_list *list, uint16_t x, uint16_t y, uint16_t z, uint32_t charge, int64_t time);
void pixel_list_end(pixel_list *list);

void pixel_cluster_list_open(pixel_cluster_list *list, const slc_pixel_cluster_config *config, size_t rows,
                             uint32_t images);
void pixel_cluster_list_clear(pixel_cluster_list *list);
/* Overwrites every row with what no cluster has. */
void pixel_cluster_list_poison(pixel_cluster_list *list);
/* The first column in which they differ, and the row; "images" where those do; NULL where they are the same.
 */
const char *pixel_cluster_list_differ(const pixel_cluster_list *a, const pixel_cluster_list *b, size_t *row);

/* So many of n as the build can afford, or as the environment variable SLUICE_TEST_PERCENT says. */
size_t pixel_test_count(size_t n);

#endif
