/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 2: super-pixels to hits; and stages 1 and 2 in one, for when nobody asks for the super-pixels.
 * 8-connected clusters of pixels over a whole sensor, chip borders included; the hit is the unweighted
 * centroid. SparseCCL on super-pixels: thesis of A. Hennequin (2022), section 4.6.3.
 */
#ifndef SLUICE_VELO_CLUSTER_H
#define SLUICE_VELO_CLUSTER_H

#include "lhcb/lhcb_places.h"
#include "velo/velo_geometry.h"
#include "velo/velo_mask.h"
#include <sluice/simd.h>

/* Working memory; zero-initialise. */
typedef struct slc_velo_cluster_scratch {
    void *block;
    size_t nodes; /* capacity: connected parts of super-pixels in one sensor */
    void *work;   /* for slc_velo_cluster_run_banks */
    slc_simd_target target;
    slc_velo_masking masking; /* of slc_velo_cluster_run_chosen; its mask is the caller's */
    slc_lhcb_places *places;  /* where that notes other detectors' banks; the caller's, NULL: nowhere */
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

/* ---- from banks to hits in one stage ------------------------------------------------------------ */

/* What the stage went through. */
typedef struct slc_velo_cluster_counts {
    uint64_t superpixels; /* after damaged words were dropped and doubled ones united */
    uint64_t isolated;    /* those that came with the "isolated" hint */
    uint64_t pixels;
    uint64_t superpixel_events, retina_events; /* events whose hits are of super-pixels; of FPGAs' clusters */
    uint32_t *of_event;                        /* given: room for the super-pixels of each event; or NULL */
} slc_velo_cluster_counts;

/* Makes the scratch ready for slc_velo_cluster_run_banks on a target of slc_simd_choose(): SLC_ERR_USAGE
 * where it does not run here. */
slc_status slc_velo_cluster_reserve_banks(slc_velo_cluster_scratch *scratch, slc_simd_target choice);

/* The raw banks of a batch to hits. Hits, their order, the bits of their coordinates and the faults are those
 * of slc_velo_decode_run and slc_velo_cluster_run, one after the other, on every target; no list of
 * super-pixels is made. Words that come sorted by address, as the detector sends them, are the fast case.
 * Needs room for slc_velo_cluster_bound(slc_velo_decode_bound()) rows; SLC_ERR_CAPACITY where that is
 * missing. `counts` may be NULL. The hits are reset first. */
slc_status slc_velo_cluster_run_banks(const slc_velo_geometry *geometry, const slc_batch *batch,
                                      slc_velo_cluster_scratch *scratch, slc_velo_hits *hits,
                                      slc_velo_cluster_counts *counts, slc_faults *faults);

#endif
