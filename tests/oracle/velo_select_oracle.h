/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections worked out the long way: every quantity from its definition, in double precision, and every cut
 * of every line on every track and every pair. Shares no code with src/velo/velo_select*.c.
 */
#ifndef ORACLE_VELO_SELECT_H
#define ORACLE_VELO_SELECT_H

#include <sluice/velo_select.h>

typedef struct oracle_vertex {
    double at[3], cov[3][3];
} oracle_vertex;

typedef struct oracle_track {
    double x, y, z, tx, ty;
    double cov[4][4]; /* of x, y, tx, ty */
    double chi2;
    uint32_t n_dof, n_hits;
    bool backward;
} oracle_track;

typedef struct oracle_event {
    const oracle_track *tracks;
    const oracle_vertex *vertices;
    size_t n_tracks, n_vertices, n_hits;
    double beam_x, beam_y;
} oracle_event;

double oracle_track_quantity(const oracle_event *event, slc_velo_quantity quantity, size_t track);
double oracle_pair_quantity(const oracle_event *event, slc_velo_quantity quantity, size_t first,
                            size_t second);

/* What the line decides. *close is set where a number is so near to one of its cuts that rounding decides. */
bool oracle_line(const oracle_event *event, const slc_velo_line *line, uint64_t number, bool *close);

/* Has the track part in the line, if that has accepted the event? */
bool oracle_fired(const oracle_event *event, const slc_velo_line *line, size_t track, bool *close);

#endif
