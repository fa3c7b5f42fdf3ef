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

/* Appends the event's upstream tracks and their hits, and ends it in both; there is room for a track for each
 * of the VELO's and four hits each. */
void slc_hlt1_upstream_run(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                           slc_hlt1_upstream *tracks, slc_hlt1_track_hits *hits);

/* Layers of the UT with a hit within so many mm of where a track of the VELO of this charge over momentum is.
 */
uint32_t slc_hlt1_upstream_layers(const slc_hlt1_event *event, uint32_t velo_track, float q_over_p,
                                  float most_mm);

#endif
