/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: search by triplet, a baseline of the track search (velo_track_pair.h).
 */
#ifndef SLUICE_VELO_TRACK_TRIPLET_H
#define SLUICE_VELO_TRACK_TRIPLET_H

#include "velo/velo_track_pair_hits.h"

/* As slc_velo_track_baseline. */
slc_status slc_velo_track_triplet(slc_track_work *work, const slc_velo_hits *hits, uint32_t e,
                                  const slc_pair_output *out, bool *crowded);

#endif
