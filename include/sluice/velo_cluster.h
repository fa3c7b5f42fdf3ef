/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 2: super-pixels to hits. 8-connected clusters of pixels over a whole sensor, chip borders included;
 * the hit is the unweighted centroid. SparseCCL on super-pixels: thesis of A. Hennequin (2022),
 * section 4.6.3.
 */
#ifndef SLUICE_VELO_CLUSTER_H
#define SLUICE_VELO_CLUSTER_H

#include <sluice/velo_geometry.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Working memory; zero-initialise. */
typedef struct slc_velo_cluster_scratch {
    void *block;
    size_t nodes; /* capacity: connected parts of super-pixels in one sensor */
} slc_velo_cluster_scratch;
slc_status slc_velo_cluster_reserve(slc_velo_cluster_scratch *scratch);
void slc_velo_cluster_clear(slc_velo_cluster_scratch *scratch);

/* An upper bound of the hits of so many super-pixels: two each. */
size_t slc_velo_cluster_bound(size_t n_superpixels);

/* Clusters all events. `superpixels` must be sorted as slc_velo_decode_run leaves them. Hits come out by
 * sensor, then in the order of each cluster's first super-pixel. The "isolated" hint spares the search for
 * neighbours where it is consistent with them; where a neighbour is hit all the same, a fault is recorded and
 * the hint is ignored, so that the hits never depend on it. Counts the pixels into *n_pixels (may be NULL).
 * Needs room for slc_velo_cluster_bound() rows. */
slc_status slc_velo_cluster_run(const slc_velo_geometry *geometry, const slc_velo_superpixels *superpixels,
                                uint64_t first_event, slc_velo_cluster_scratch *scratch, slc_velo_hits *hits,
                                uint64_t *n_pixels, slc_faults *faults);

#ifdef __cplusplus
}
#endif
#endif
