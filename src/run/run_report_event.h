/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the tracks and hits of one event are by the simulation's truth, for drawing them.
 */
#ifndef SLUICE_RUN_REPORT_EVENT_H
#define SLUICE_RUN_REPORT_EVENT_H

#include <sluice/run.h>

#include <stdio.h>

/* Without truth all tracks are MATCHED, their hits FOUND and the others OTHER. */
typedef enum slc_run_track_class {
    SLC_RUN_TRACK_MATCHED = 0, /* the first of its particle */
    SLC_RUN_TRACK_CLONE,       /* a further one */
    SLC_RUN_TRACK_GHOST,       /* of no particle */
    SLC_RUN_TRACK_CLASSES
} slc_run_track_class;

typedef enum slc_run_hit_class {
    SLC_RUN_HIT_FOUND = 0, /* of a particle that a track is matched to */
    SLC_RUN_HIT_MISSED,    /* of none of these, but of a reconstructible particle that counts */
    SLC_RUN_HIT_FAR,       /* of neither, but of another reconstructible one */
    SLC_RUN_HIT_OTHER,     /* of other particles, or of none */
    SLC_RUN_HIT_CLASSES
} slc_run_hit_class;

/* The event's columns begin at its first row. */
typedef struct slc_run_event {
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
    uint32_t hit_count[SLC_RUN_HIT_CLASSES], track_count[SLC_RUN_TRACK_CLASSES];
    uint32_t n_missed, n_far; /* reconstructible particles without a track: that count, and others */
    float eta_low, eta_high;
    double beam_x_mm, beam_y_mm;
    void *memory;
} slc_run_event;

/* SLC_ERR_MEMORY, or SLC_ERR_USAGE where the display has no such event. The check tells which particles
 * count: those of the category "velo" in its range of eta. */
slc_status slc_run_event_open(slc_run_event *event, const slc_run_display *display,
                              const slc_velo_check_config *check);
void slc_run_event_close(slc_run_event *event);

/* What a hit is by this particle of its. */
slc_run_hit_class slc_run_event_class(const slc_run_event *event, uint32_t particle);

/* The section of the report with the event's pictures. */
void slc_run_report_event(FILE *out, const slc_run_event *event);

#endif
