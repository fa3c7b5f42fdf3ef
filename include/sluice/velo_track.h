/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 3: hits to tracks. Local search, layer after layer from downstream to upstream: thesis of A.
 * Hennequin (2022), sections 5.4.1 to 5.4.3. A layer is a pair of modules, one of each half. This is the
 * scalar form, which defines the result that faster forms are compared with.
 */
#ifndef SLUICE_VELO_TRACK_H
#define SLUICE_VELO_TRACK_H

#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * clang-format on */

/* Scatter is the squared distance (mm²) in the plane of a hit between it and the extrapolation of the two
 * hits before it: the "scattering parameter" of the thesis. */
typedef struct slc_velo_track_config {
    uint32_t candidates;             /* N, 1 … 32 */
    float max_scatter_seeding_mm2;   /* third hit of a seed */
    float max_scatter_extending_mm2; /* every further hit */
    float max_scatter_3hits_mm2;     /* total scatter of a track that ends with three hits */
    uint32_t max_layer_hits; /* an event with more hits in one layer is not searched: the work grows with
                                their square, and a noisy detector must not stop the others' events */
} slc_velo_track_config;
void slc_velo_track_config_default(slc_velo_track_config *config);

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
 * output is too small. The order of the tracks is that in which they end: downstream first, within a layer
 * the order of their seeds. */
slc_status slc_velo_track_run(const slc_velo_track_config *config, const slc_velo_hits *hits,
                              uint64_t first_event, slc_velo_track_scratch *scratch, slc_velo_tracks *tracks,
                              slc_velo_track_hits *track_hits, slc_faults *faults);

#ifdef __cplusplus
}
#endif
#endif
