/* SPDX-License-Identifier: Apache-2.0
 *
 * A live page of a flow (run_flow.h, run_flow_hlt1.h): rates, losses, faults, times of the stages, and what
 * is to be looked at of its detector. velo    hits, tracks and vertices an event, where the beams meet, hot
 * sensors, lines of a selection, and the newest event to be drawn hlt1    the same, and hits beyond the VELO,
 * upstream and long tracks, momenta, masses, rates of its lines cms     digis and clusters, charges and
 * sizes, hot modules, where in the modules digis are pixel   the sensor by counts, charge and time, sizes and
 * charges of clusters, the readout's clocks image   the newest page, components and their areas Counts are of
 * everything; distributions and pictures are of as much as half a percent of the time allows (all of a slow
 * run). PET has live_pet.h.
 */
#ifndef SLUICE_LIVE_FLOW_H
#define SLUICE_LIVE_FLOW_H

#include <sluice/live.h>
#include <sluice/run_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_live_flow slc_live_flow;

/* `chain` and `setup` are those of the flow; the setup stays the caller's, until _close. `live` NULL: *page
 * is, too, which all that follows allows. SLC_ERR_UNSUPPORTED for another chain; SLC_ERR_MEMORY. */
SLC_API slc_status slc_live_flow_open(slc_live *live, const slc_flow_chain *chain, const void *setup,
                                      slc_live_flow **page, slc_error *error);
SLC_API void slc_live_flow_close(slc_live_flow *page);
/* Adds what came out of the flow, in order; items that failed, and ends of inputs, for their faults. */
SLC_API void slc_live_flow_add(slc_live_flow *page, const slc_flow_item *item);
/* Of images whose pages are labelled by the caller (pages_alone): components of the page that was added
 * last, as they come. */
SLC_API void slc_live_flow_add_components(slc_live_flow *page, const slc_image_components *components);

/* What else is known now; each may be 0. */
typedef struct slc_live_flow_state {
    const slc_flow_totals *flow; /* lost events, checksum so far */
    const char *input;           /* which is being read */
    const char *const *lines;    /* of a selection of the VELO's, with how many events each accepted */
    const uint64_t *accepted;
    uint32_t n_lines;
} slc_live_flow_state;
/* Puts all of it, and publishes. */
SLC_API bool slc_live_flow_publish(slc_live_flow *page, slc_live_state state, const slc_live_flow_state *now);

#ifdef __cplusplus
}
#endif
#endif
