/* SPDX-License-Identifier: Apache-2.0
 *
 * The track search of velo_track.h once more, written for clarity: all hits of a layer are looked at, always;
 * flags instead of compacted layers, whole lists of hits instead of links, one candidate after the other.
 * Each number comes from the same formula in single precision, so tracks are those of the library hit by hit
 * and their scatter bit by bit.
 */
#ifndef VELO_TRACK_ORACLE_H
#define VELO_TRACK_ORACLE_H

#include "velo/velo_track.h"

/* The tracks of one event. Hits of track t: hit[begin[t]] … + n_hits[t], counted in the event. */
typedef struct oracle_tracks {
    size_t n;
    uint32_t *begin, *n_hits, *hit;
    float *scatter_mm2;
} oracle_tracks;

/* Tracks of event e in the order of the library. Clear them afterwards. */
oracle_tracks oracle_velo_track(const slc_velo_track_config *config, const slc_velo_hits *hits, uint32_t e);
void oracle_velo_track_clear(oracle_tracks *tracks);

#endif
