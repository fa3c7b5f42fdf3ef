/* SPDX-License-Identifier: Apache-2.0
 * What the searches see of an event. */
#include "hlt1/hlt1_event.h"

#include <string.h>

/* Where each of n kinds begins among rows that are sorted by kind: all of them halve their ways side by side.
 */
static void find_begins(const uint8_t *kind, uint32_t rows, uint32_t n, uint32_t *begin)
{
    uint32_t step = 1;
    memset(begin, 0, (n + 1) * sizeof *begin);
    while (step <= rows) {
        step *= 2;
    }
    while ((step /= 2) > 0) {
        for (uint32_t k = 1; k <= n; k++) {
            const uint32_t end = begin[k] + step;
            begin[k] = end <= rows && kind[end - 1] < k ? end : begin[k];
        }
    }
}

void slc_hlt1_event_view(const slc_hlt1_geometry *geometry, slc_hlt1_result *result, uint32_t event,
                         slc_hlt1_event *view)
{
    const slc_velo_states *end = &result->velo.end, *beam = &result->velo.beam;
    const slc_ut_hits *ut = &result->ut;
    const slc_scifi_hits *scifi = &result->scifi;
    const uint32_t t = end->head.event_offset[event], u = ut->head.event_offset[event],
                   s = scifi->head.event_offset[event];
    *view = (slc_hlt1_event){.number = result->velo.first_event + event,
                             .geometry = geometry,
                             .faults = &result->faults,
                             .n_velo = end->head.event_offset[event + 1] - t,
                             .x = end->x_mm + t,
                             .y = end->y_mm + t,
                             .z = end->z_mm + t,
                             .tx = end->tx + t,
                             .ty = end->ty + t,
                             .backward = end->backward + t,
                             .beam_x = beam->x_mm + t,
                             .beam_y = beam->y_mm + t,
                             .beam_z = beam->z_mm + t,
                             .beam_tx = beam->tx + t,
                             .beam_ty = beam->ty + t,
                             .ut_x = ut->x_mm + u,
                             .ut_z = ut->z_mm + u,
                             .ut_y_begin = ut->y_begin_mm + u,
                             .ut_y_end = ut->y_end_mm + u,
                             .ut_weight = ut->weight + u,
                             .scifi_x = scifi->x_mm + s,
                             .scifi_z = scifi->z_mm + s,
                             .scifi_channel = scifi->channel + s};
    find_begins(ut->layer + u, ut->head.event_offset[event + 1] - u, SLC_UT_LAYERS, view->ut_begin);
    find_begins(scifi->zone + s, scifi->head.event_offset[event + 1] - s, SLC_SCIFI_ZONES, view->scifi_begin);
}
