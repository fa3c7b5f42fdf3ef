/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters the obvious way: paint the pixels of one sensor into an image, flood-fill with 8 neighbours.
 */
#ifndef VELO_CLUSTER_ORACLE_H
#define VELO_CLUSTER_ORACLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct oracle_cluster {
    uint32_t n, sum_column, sum_row;
} oracle_cluster;

/* Super-pixel words of one sensor, any order; `clusters` has room for one per pixel. Returns their number. */
size_t oracle_velo_cluster(const uint32_t *words, size_t n, oracle_cluster *clusters);

#endif
