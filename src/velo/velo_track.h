/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 3: hits to tracks. Local search, layer after layer from downstream to upstream: thesis of A.
 * Hennequin (2022), sections 5.4.1 to 5.4.3, with a second pass over the hits that are left, missed hits
 * picked up, and broken tracks joined. A layer is a pair of modules, one of each half.
 */
#ifndef SLUICE_VELO_TRACK_H
#define SLUICE_VELO_TRACK_H

#include <sluice/velo_chain.h>

/* clang-format off
 *
 *               layer  i+1   i   i-1  i-2
 *
 *      seed:            o----o~~~~o         every unused hit of layer i, with each of the N unused hits of layer i+1
 *                                           that are nearest in phi; the unused hit of layer i-1 that is closest to
 *                                           the line through such a pair makes the seed
 *      extend:          o----o----o~~~~o    every candidate into layer i-2, from its last two hits; one layer without
 *                                           a hit may be skipped, two in a row end the track
 *
 * clang-format on
 *
 * All seeds of a step are found as if each were alone. Then the one with the smallest scatter is taken first, and
 * one that shares a hit with a seed taken before it is dropped. All candidates that are extended are likewise
 * found a hit as if each were alone, and a hit that several want goes to the one that scatters least. So tracks
 * do not depend on how many are searched side by side, which the thesis leaves open. */

/* The single pass of the thesis: without second pass, missing layers, trimming, picking up and joining. */
void slc_velo_track_config_fast(slc_velo_track_config *config);

/* Working memory, enough for `hits` hits in one event; zero-initialise. */
typedef struct slc_velo_track_scratch {
    void *block;
    size_t hits;
} slc_velo_track_scratch;
slc_status slc_velo_track_reserve(slc_velo_track_scratch *scratch, size_t hits);
void slc_velo_track_clear(slc_velo_track_scratch *scratch);

/* Upper bounds for so many hits: a hit belongs to one track at most, and a track has three or more. */
size_t slc_velo_track_bound(size_t n_hits);

/* Finds the tracks of all events. `hits` sorted by module. An event that is too crowded is a fault and has no
 * tracks; `first_event` is the number of the first event, for faults. SLC_ERR_CAPACITY where scratch or an
 * output is too small. The order of the tracks is that in which they end: those of the first pass, downstream
 * first, then those of the second. Hits of a track by falling z. Never allocates. */
slc_status slc_velo_track_run(const slc_velo_track_config *config, const slc_velo_hits *hits,
                              uint64_t first_event, slc_velo_track_scratch *scratch, slc_velo_tracks *tracks,
                              slc_velo_track_hits *track_hits, slc_faults *faults);

#endif
