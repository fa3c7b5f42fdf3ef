/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: the algorithm "bitmap", for flat 4- and 8-connected images whose bits fit a cache. It
 * labels and sums up in one go, and so stands beside the interface of pixel_algorithm.h. Lists in which a
 * pixel comes twice are left to another algorithm.
 */
#ifndef SLUICE_PIXEL_BITMAP_H
#define SLUICE_PIXEL_BITMAP_H

#include "pixel/pixel_algorithm.h"
#include "pixel/pixel_kernels.h"

typedef struct slc_pixel_bitmap slc_pixel_bitmap;

/* Can it cluster images of that configuration? */
bool slc_pixel_bitmap_suits(const slc_pixel_cluster_config *config, const slc_pixel_rule *rule);
slc_status slc_pixel_bitmap_open(const slc_pixel_cluster_config *config, const slc_pixel_rule *rule,
                                 size_t pixels, slc_pixel_bitmap **bitmap);
void slc_pixel_bitmap_close(slc_pixel_bitmap *bitmap);

/* Those of the configuration's features that it brings. */
uint32_t slc_pixel_bitmap_features(const slc_pixel_bitmap *bitmap);

/* Groups of several images have no more pixels. */
enum { SLC_PIXEL_GROUP_PIXELS = 1024 };

/* Labels of a group of one pixel at least (NULL: none), its features to the rows behind the last (NULL:
 * none). Returns how many clusters there are, UINT32_MAX where an image has a pixel twice, or one of several
 * is not in raster order: nothing is written then. `begins`: which cluster of the group each image's first
 * is, and how many there are, until the next run. */
uint32_t slc_pixel_bitmap_run(slc_pixel_bitmap *bitmap, slc_pixel_group *group, uint32_t *labels,
                              slc_pixel_clusters *clusters);
const uint32_t *slc_pixel_bitmap_begins(const slc_pixel_bitmap *bitmap);

#endif
