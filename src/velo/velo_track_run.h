/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the parts of track finding. velo_track_run.c has the memory, the events and the output,
 * velo_track.c the search in one event.
 */
#ifndef SLUICE_VELO_TRACK_RUN_H
#define SLUICE_VELO_TRACK_RUN_H

#include "velo/velo_track_work.h"

/* Searches the tracks of the hits in `work`, which are spread over layers and sorted. They are in work->ended
 * afterwards. */
void slc_velo_track_search(slc_track_work *work);

/* A scratch for `hits` hits in memory of the caller, zeroed and aligned; its block is NULL where that is too
 * little. */
slc_velo_track_scratch slc_velo_track_scratch_in(void *memory, size_t bytes, size_t hits);

#endif
