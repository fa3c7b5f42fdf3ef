/* SPDX-License-Identifier: Apache-2.0
 *
 * A live page of a VELO run: events a second, time of the stages, faults, hits, tracks and vertices, where
 * the beams meet, sensors that are hit too often, rates of a selection's lines, and the newest event to be
 * drawn. Counts are of all events; distributions, of as many as half a percent of the time allows (all of a
 * slow run).
 */
#ifndef SLUICE_LIVE_VELO_H
#define SLUICE_LIVE_VELO_H

#include <sluice/live.h>
#include <sluice/run_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_live_velo slc_live_velo;

/* `live` NULL: *velo is, too, which all that follows allows. SLC_ERR_MEMORY. */
SLC_API slc_status slc_live_velo_open(slc_live *live, slc_live_velo **velo, slc_error *error);
SLC_API void slc_live_velo_close(slc_live_velo *velo);
/* Adds the events of a result (NULL: none), in order; `reading`: faults of reading them, or NULL; `bytes`: of
 * the input. */
SLC_API void slc_live_velo_add(slc_live_velo *velo, const slc_velo_result *result, const slc_faults *reading,
                               uint64_t bytes);

/* What else is known now; each may be 0. */
typedef struct slc_live_velo_state {
    const slc_flow_totals *flow; /* lost events, checksum so far */
    const char *const *lines;    /* of a selection, with how many events each accepted */
    const uint64_t *accepted;
    uint32_t n_lines;
    const char *input; /* which is being read */
} slc_live_velo_state;
/* Puts all of it, and publishes. */
SLC_API bool slc_live_velo_publish(slc_live_velo *velo, slc_live_state state,
                                   const slc_live_velo_state *more);

#ifdef __cplusplus
}
#endif
#endif
