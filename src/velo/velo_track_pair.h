/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the baselines of the track search, which are there to be compared with. Both leave a
 * hit to one track alone, as the columns demand, also where their models let tracks share hits.
 */
#ifndef SLUICE_VELO_TRACK_PAIR_H
#define SLUICE_VELO_TRACK_PAIR_H

#include "velo/velo_track_work.h"

/* Searches event e by the algorithm of the configuration, which is another than SLC_VELO_TRACK_LOCAL, and
 * appends its tracks. *crowded: it has too many hits in a layer, and no tracks. SLC_ERR_USAGE where hits are
 * not sorted by module. */
slc_status slc_velo_track_baseline(slc_track_work *work, const slc_velo_hits *hits, uint32_t e,
                                   slc_velo_tracks *tracks, slc_velo_track_hits *track_hits, bool *crowded);

#endif
