/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of sparse pixels, slowly and obviously: every pixel is compared with every other. Written from the
 * public headers alone, for every connectivity, radius, time window and policy for duplicates.
 */
#ifndef TESTS_ORACLE_PIXEL_ORACLE_H
#define TESTS_ORACLE_PIXEL_ORACLE_H

#include <sluice/pixel.h>

/* What slc_pixel_cluster_run must write: a label for each pixel, and into `clusters` (reset before; made for
 * the configuration's features, with room for as many rows as there are pixels) an event for each image.
 * Charges must be so that sums of charge times coordinate stay below 2^64. */
void oracle_pixel_cluster(const slc_pixel_cluster_config *config, const slc_pixels *pixels, uint32_t *labels,
                          slc_pixel_clusters *clusters);

#endif
