/* SPDX-License-Identifier: Apache-2.0
 *
 * The quantities that selections cut on: of a track and of a pair of tracks of an event, by the formulas of
 * velo_select_core.h.
 */
#ifndef SLUICE_VELO_SELECT_QUANTITY_H
#define SLUICE_VELO_SELECT_QUANTITY_H

#include "velo/velo_select_core.h"

/* "ip_mm", "pair_doca_mm", "event_tracks" …; NULL after the last. */
const char *slc_velo_quantity_name(slc_velo_quantity quantity);
/* 1: of a track, 2: of a pair, 0: of the event. */
uint32_t slc_velo_quantity_of(slc_velo_quantity quantity);

/* The selection as it is gone through, without its prescales; the same for the same. SLC_ERR_USAGE where it
 * is none. */
slc_status slc_velo_select_sort(const slc_velo_selection *selection, slc_velo_sorted_selection *sorted,
                                slc_error *error);

/* What the formulas see of one event. Tracks and vertices count from 0 in it. */
typedef struct slc_velo_select_event {
    const slc_velo_tracks *tracks;
    const slc_velo_states *states;
    const slc_velo_primaries *primaries;
    size_t first_track, first_vertex;
    size_t n_tracks, n_vertices;
    double beam_x, beam_y;
} slc_velo_select_event;

/* The track's vertex, from 0, and its distance, the quantity SLC_VELO_Q_IP_MM; n_vertices without any, and of
 * a state or a vertex that is no place, whose distance is NaN. */
size_t slc_velo_select_nearest(const slc_velo_select_event *event, size_t track, float *ip_mm);

/* Quantities SLC_VELO_Q_IP_MM … SLC_VELO_Q_BEAM_DOCA_MM. NaN where there is no such number. */
float slc_velo_select_track(const slc_velo_select_event *event, slc_velo_quantity quantity, size_t track);

void slc_velo_select_begin_pair(const slc_velo_select_event *event, size_t first, size_t second,
                                slc_velo_select_pair *pair);
/* Quantities SLC_VELO_Q_PAIR_DOCA_MM … SLC_VELO_Q_PAIR_POINTING; works out what it needs, once. */
float slc_velo_select_pair_of(const slc_velo_select_event *event, slc_velo_quantity quantity,
                              slc_velo_select_pair *pair);

#endif
