/* SPDX-License-Identifier: Apache-2.0
 *
 * A live page of sparse pixels, a Timepix say: rates of pixels and clusters, the sensor by counts, charge and
 * time, sizes and charges of clusters. Pictures are of as many pixels as half a percent of the time allows.
 */
#ifndef SLUICE_LIVE_PIXEL_H
#define SLUICE_LIVE_PIXEL_H

#include <sluice/live.h>
#include <sluice/run_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_live_pixel slc_live_pixel;

/* `live` NULL: *pixel is, too, which all that follows allows. SLC_ERR_MEMORY. */
SLC_API slc_status slc_live_pixel_open(slc_live *live, slc_live_pixel **pixel, slc_error *error);
SLC_API void slc_live_pixel_close(slc_live_pixel *pixel);
/* Looks at the pixels and clusters of an item. */
SLC_API void slc_live_pixel_add(slc_live_pixel *pixel, const slc_flow_pixel_result *result);

/* Of all inputs so far. */
typedef struct slc_live_pixel_state {
    uint64_t pixels, clusters, frames, bytes;
    uint64_t damaged, outside,
        dropped;                /* what was left out: by damage, outside of the sensor, by the network */
    uint64_t heartbeats, edges; /* of the readout's clocks */
    const char *input;          /* or NULL */
} slc_live_pixel_state;
SLC_API bool slc_live_pixel_publish(slc_live_pixel *pixel, slc_live_state state,
                                    const slc_live_pixel_state *now);

#ifdef __cplusplus
}
#endif
#endif
