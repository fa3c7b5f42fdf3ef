/* SPDX-License-Identifier: Apache-2.0
 * Impact parameters of all tracks. */
#include "velo/velo_impact.h"

#include "base/columns.h"
#include "velo/velo_select_quantity.h"

static const slc_column impacts_columns[] = {
    SOA_COLUMN(slc_velo_impacts, vertex, "index"),
    SOA_COLUMN(slc_velo_impacts, ip_mm, "mm"),
    SOA_COLUMN(slc_velo_impacts, ip_chi2, "1"),
    SOA_COLUMN(slc_velo_impacts, beam_doca_mm, "mm"),
};
SOA_SCHEMA(slc_velo_impacts, slc_velo_impacts_schema, "impacts", impacts_columns);

_Static_assert((int)SLC_VELO_MAX_PRIMARIES <= (int)SLC_VELO_NO_VERTEX, "vertices of an event fit a byte");

static void append(const slc_velo_select_event *event, size_t track, slc_velo_impacts *to)
{
    const size_t row = to->head.size++;
    const size_t vertex = slc_velo_select_nearest(event, track, &to->ip_mm[row]);
    to->vertex[row] = (uint8_t)(vertex < event->n_vertices ? vertex : SLC_VELO_NO_VERTEX);
    to->ip_chi2[row] = slc_velo_select_track(event, SLC_VELO_Q_IP_CHI2, track);
    to->beam_doca_mm[row] = slc_velo_select_track(event, SLC_VELO_Q_BEAM_DOCA_MM, track);
}

slc_status slc_velo_impact_run(const slc_velo_states *beam, const slc_velo_primaries *primaries,
                               float beam_x_mm, float beam_y_mm, slc_velo_impacts *impacts)
{
    const uint32_t n_events = beam->head.n_events;
    slc_velo_select_event event = {
        .states = beam, .primaries = primaries, .beam_x = (double)beam_x_mm, .beam_y = (double)beam_y_mm};
    if (impacts->head.block == NULL || impacts->head.capacity < beam->head.size ||
        impacts->head.event_capacity < n_events) {
        return SLC_ERR_CAPACITY;
    }
    slc_columns_reset(impacts);
    if (primaries->head.n_events != n_events) {
        return SLC_ERR_USAGE;
    }
    for (uint32_t e = 0; e < n_events; e++) {
        const uint32_t *tracks = &beam->head.event_offset[e], *vertices = &primaries->head.event_offset[e];
        event.first_track = tracks[0];
        event.n_tracks = tracks[1] - tracks[0];
        event.first_vertex = vertices[0];
        event.n_vertices = vertices[1] - vertices[0];
        for (size_t t = 0; t < event.n_tracks; t++) {
            append(&event, t, impacts);
        }
        slc_columns_end_event(impacts);
    }
    return SLC_OK;
}
