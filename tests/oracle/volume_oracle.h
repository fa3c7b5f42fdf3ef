/* SPDX-License-Identifier: Apache-2.0
 * Labels of volumes, slowly: a flood fill, and a union of neighbours voxel by voxel.
 */
#ifndef ORACLE_VOLUME_ORACLE_H
#define ORACLE_VOLUME_ORACLE_H

#include <stddef.h>
#include <stdint.h>

/* Components of equal values that are not 0, by flood fill from voxels in raster order; returns how many.
 * values and labels have width · height · depth elements, row after row. */
uint32_t volume_oracle_flood(const uint64_t *values, size_t width, size_t height, size_t depth,
                             uint32_t connectivity, uint32_t *labels);
/* The same where the borders along x, y, z (bits 1, 2, 4) are joined. */
uint32_t volume_oracle_periodic(const uint64_t *values, size_t width, size_t height, size_t depth,
                                uint32_t connectivity, uint32_t periodic, uint32_t *labels);
/* The same by a table of parents. */
uint32_t volume_oracle_unite(const uint64_t *values, size_t width, size_t height, size_t depth,
                             uint32_t connectivity, uint32_t *labels);

#endif
