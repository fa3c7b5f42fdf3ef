/* SPDX-License-Identifier: Apache-2.0
 *
 * Tracks of the VELO to tracks of VELO and UT. The field between the two bends a track in x by an amount that
 * is 1/p, so that what the VELO's line misses the UT's hits by is the momentum. After LHCb's Allen
 * (CompassUT: P. Fernandez Declara et al., A parallel-computing algorithm for high-energy physics particle
 * tracking and decoding using GPU architectures, IEEE Access 7, 2019), with all pairs of hits looked at.
 */
#ifndef SLUICE_HLT1_UPSTREAM_H
#define SLUICE_HLT1_UPSTREAM_H

#include "hlt1/hlt1_event.h"

/* Where states of upstream tracks are. */
#define SLC_HLT1_UT_Z_MM 2484.6f

/* z in the middle of a layer's four planes. */
extern const float slc_hlt1_ut_z_mm[SLC_UT_LAYERS];

/* What the search works in; one for each thread. NULL: no memory. */
typedef struct slc_hlt1_upstream_search slc_hlt1_upstream_search;
slc_hlt1_upstream_search *slc_hlt1_upstream_open(slc_simd_target target);
void slc_hlt1_upstream_close(slc_hlt1_upstream_search *search);

/* Appends the event's upstream tracks and their hits, and ends it in both; there is room for a track for each
 * of the VELO's and four hits each. */
void slc_hlt1_upstream_run(slc_hlt1_upstream_search *search, const slc_hlt1_upstream_config *config,
                           const slc_hlt1_event *event, slc_hlt1_upstream *tracks, slc_hlt1_track_hits *hits);

/* Layers of the UT with a hit within so many mm of where a track of the VELO of this charge over momentum is.
 */
uint32_t slc_hlt1_upstream_layers(const slc_hlt1_event *event, uint32_t velo_track, float q_over_p,
                                  float most_mm);

/* What a range is of: charge over momentum up to so much of both charges; layers of the UT, so many, with a
 * hit within so many mm. */
typedef struct slc_hlt1_upstream_ask {
    float most_q_over_p, most_mm;
    uint32_t layers;
} slc_hlt1_upstream_ask;

/* For each of n tracks of the VELO the lowest and the highest charge over momentum at which it is so; the
 * first is above the second if there is none. Nothing is ruled out where more than 255 hits are near. The
 * event is that which slc_hlt1_upstream_run was called with before. */
void slc_hlt1_upstream_ranges(slc_hlt1_upstream_search *search, const slc_hlt1_event *event,
                              const uint32_t *tracks, size_t n, const slc_hlt1_upstream_ask *ask,
                              float (*range)[2]);

#endif
