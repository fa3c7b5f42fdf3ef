/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the tracks and hits of one event are by the simulation's truth, for drawing them.
 */
#ifndef SLUICE_REPORT_VELO_EVENT_H
#define SLUICE_REPORT_VELO_EVENT_H

#include <sluice/report_velo.h>

#include <stdio.h>

/* Without truth all tracks are MATCHED, their hits FOUND and the others OTHER. */
typedef enum slc_report_velo_track_class {
    SLC_REPORT_VELO_TRACK_MATCHED = 0, /* the first of its particle */
    SLC_REPORT_VELO_TRACK_CLONE,       /* a further one */
    SLC_REPORT_VELO_TRACK_GHOST,       /* of no particle */
    SLC_REPORT_VELO_TRACK_CLASSES
} slc_report_velo_track_class;

typedef enum slc_report_velo_hit_class {
    SLC_REPORT_VELO_HIT_FOUND = 0, /* of a particle that a track is matched to */
    SLC_REPORT_VELO_HIT_MISSED,    /* of none of these, but of a reconstructible particle that counts */
    SLC_REPORT_VELO_HIT_FAR,       /* of neither, but of another reconstructible one */
    SLC_REPORT_VELO_HIT_OTHER,     /* of other particles, or of none */
    SLC_REPORT_VELO_HIT_CLASSES
} slc_report_velo_hit_class;

/* The event's columns begin at its first row. */
typedef struct slc_report_velo_event {
    bool has_truth;
    uint64_t number;
    uint32_t n_hits, n_tracks, n_particles, n_primaries, n_vertices;
    slc_velo_hits hits;
    slc_velo_tracks tracks;
    slc_velo_track_hits track_hits;
    slc_velo_states beam;
    slc_velo_primaries primaries;
    slc_velo_particles particles; /* these and below with truth only */
    slc_velo_particle_ids ids;
    slc_velo_vertices vertices;
    slc_velo_matches matches;
    uint8_t *hit_class, *track_class;
    uint8_t *particle_found; /* by a track */
    int32_t *hit_of_id;      /* one per row of ids: the hit, or -1 */
    uint32_t hit_count[SLC_REPORT_VELO_HIT_CLASSES], track_count[SLC_REPORT_VELO_TRACK_CLASSES];
    uint32_t n_missed, n_far; /* reconstructible particles without a track: that count, and others */
    float eta_low, eta_high;
    double beam_x_mm, beam_y_mm;
    void *memory;
} slc_report_velo_event;

/* SLC_ERR_MEMORY, or SLC_ERR_USAGE where the display has no such event. The check tells which particles
 * count: those of the category "velo" in its range of eta. */
slc_status slc_report_velo_event_open(slc_report_velo_event *event, const slc_report_velo_display *display,
                                      const slc_velo_check_config *check);
void slc_report_velo_event_close(slc_report_velo_event *event);

/* What a hit is by this particle of its. */
slc_report_velo_hit_class slc_report_velo_event_class(const slc_report_velo_event *event, uint32_t particle);

/* The section of the report with the event's pictures. */
void slc_report_velo_draw_event(FILE *out, const slc_report_velo_event *event);

#endif
