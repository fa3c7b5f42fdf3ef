/* SPDX-License-Identifier: Apache-2.0
 *
 * The track search of velo_track.h once more, written for clarity: flags instead of compacted layers, angles
 * by atan2, double precision, everything searched from the start.
 */
#ifndef VELO_TRACK_ORACLE_H
#define VELO_TRACK_ORACLE_H

#include <sluice/velo_track.h>

typedef struct oracle_track {
    uint32_t n_hits;
    uint32_t hits[SLC_VELO_MAX_TRACK_HITS];
} oracle_track;

/* Tracks of event e, in the order in which they end; `tracks` has room for a third of the event's hits. */
size_t oracle_velo_track(const slc_velo_track_config *config, const slc_velo_hits *hits, uint32_t e,
                         oracle_track *tracks);

#endif
