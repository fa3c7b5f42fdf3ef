/* SPDX-License-Identifier: Apache-2.0
 *
 * A labeller of volumes to compare with: what most programs do, voxel by voxel in two passes.
 */
#ifndef SLUICE_BENCH_VOLUME_TREE_H
#define SLUICE_BENCH_VOLUME_TREE_H

#include <sluice/image_volume.h>

/* Two passes with 26 neighbours on one core: in the first each voxel takes the label of an earlier neighbour
 * of its value (of foreground, not `equal`: of any), which a decision tree looks for so that few are looked
 * at (after Wu, Otoo and Suzuki, Pattern Anal. Appl. 12, 2009), and labels that meet are united; the second
 * numbers them in raster order. Labels as those of slc_volume_run. */
typedef struct slc_bench_tree {
    uint32_t *parent;
    size_t n_parents; /* room */
    uint32_t *rows;   /* values of rows, with a column of zeros at either side */
} slc_bench_tree;

/* Room for a volume, which stays; SLC_ERR_MEMORY. */
slc_status slc_bench_tree_reserve(slc_bench_tree *tree, const slc_volume *volume, slc_error *error);
void slc_bench_tree_clear(slc_bench_tree *tree);
/* Of 8 or 32 bits, without gaps, as are the labels. Returns how many components there are. */
uint32_t slc_bench_tree_run(slc_bench_tree *tree, const slc_volume *volume, bool equal, uint32_t *labels);

#endif
