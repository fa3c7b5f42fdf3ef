/* SPDX-License-Identifier: Apache-2.0
 *
 * Volumes that are labelled for `sluice bench volume`: values of cubes, or of Voronoi cells.
 */
#ifndef SLUICE_BENCH_VOLUME_CELLS_H
#define SLUICE_BENCH_VOLUME_CELLS_H

#include <sluice/image_volume.h>

/* Fills a cube of `side` voxels of 8 or 32 bits that lie one behind the other. It has a cell for each cube of
 * `grain` voxels: that cube, or, with `voronoi`, the voxels that are nearest to a point at random in it (of
 * equally near points to the first, in raster order of their cubes). A cell is foreground with a probability
 * of `density`, and its value is random: 1 to 200 in 8 bits, 1 to 2^32 - 1 in 32. False without memory. */
bool slc_bench_volume_fill(void *voxels, slc_image_type type, size_t side, size_t grain, bool voronoi,
                           double density, uint32_t seed);

#endif
