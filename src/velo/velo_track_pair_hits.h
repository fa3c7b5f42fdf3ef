/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the baselines of the track search share. Hits of an event in groups (modules, or
 * pairs of them), in each by rising phi, so that those in a window are found by bisection; and tracks as
 * columns. Memory is borrowed from the local search, which does not run at the same time.
 */
#ifndef SLUICE_VELO_TRACK_PAIR_HITS_H
#define SLUICE_VELO_TRACK_PAIR_HITS_H

#include "velo/velo_track_work.h"

enum { SLC_PAIR_SECTOR_BITS = 6, SLC_PAIR_SECTORS = 1 << SLC_PAIR_SECTOR_BITS };

typedef struct slc_pair_hits {
    float *x, *y, *z;
    uint32_t *angle; /* phi: the full circle is 2^32, so that differences wrap as angles do */
    uint32_t *index; /* in the event */
    uint8_t *used;   /* in a track */
    uint32_t begin[SLC_VELO_MODULES + 1];
    uint32_t n, n_groups;
    /* Of a group, the place behind its first hit of the first one that is at least so far around the circle.
     */
    uint16_t start[SLC_VELO_MODULES][SLC_PAIR_SECTORS];
} slc_pair_hits;

/* Where the tracks of an event go. */
typedef struct slc_pair_output {
    uint32_t first; /* row of the event's first hit of a track */
    slc_velo_tracks *tracks;
    slc_velo_track_hits *track_hits;
} slc_pair_output;

/* The line from one hit through another. */
typedef struct slc_pair_line {
    float x, y, z, tx, ty;
} slc_pair_line;

/* phi, wrong by less than 2e-5 rad. */
uint32_t slc_pair_angle(float x, float y);

/* Takes the hits of event e, so many modules in a group, all unused. *crowded: a layer has too many of them,
 * and they are not there. SLC_ERR_USAGE where they are not sorted by module, or a module is out of range. */
slc_status slc_pair_take_hits(slc_track_work *work, const slc_velo_hits *hits, uint32_t e, uint32_t modules,
                              slc_pair_hits *to, bool *crowded);

/* The first hit of a group whose angle is at least this, or its end: begin[group + 1]. */
static inline uint32_t slc_pair_lower_bound(const slc_pair_hits *hits, uint32_t group, uint32_t angle)
{
    const uint32_t end = hits->begin[group + 1];
    uint32_t i = hits->begin[group] + hits->start[group][angle >> (32 - SLC_PAIR_SECTOR_BITS)];
    while (i < end && hits->angle[i] < angle) {
        i++;
    }
    return i;
}

/* Starts at hit `a`. */
static inline slc_pair_line slc_pair_line_through(const slc_pair_hits *hits, uint32_t a, uint32_t b)
{
    const float per_z = 1 / (hits->z[b] - hits->z[a]);
    return (slc_pair_line){.x = hits->x[a],
                           .y = hits->y[a],
                           .z = hits->z[a],
                           .tx = (hits->x[b] - hits->x[a]) * per_z,
                           .ty = (hits->y[b] - hits->y[a]) * per_z};
}

/* The squared distance (mm²) of a hit from the line in the plane of the hit. */
static inline float slc_pair_scatter(const slc_pair_hits *hits, uint32_t hit, const slc_pair_line *line)
{
    const float dz = hits->z[hit] - line->z;
    const float dx = hits->x[hit] - (line->x + line->tx * dz);
    const float dy = hits->y[hit] - (line->y + line->ty * dz);
    return dx * dx + dy * dy;
}

/* The hit of a group that is closest to a line, within max_scatter (squared distance, mm²): UINT32_MAX where
 * there is none. Used ones do not count. */
uint32_t slc_pair_closest(const slc_pair_hits *hits, uint32_t group, const slc_pair_line *line,
                          float max_scatter);

/* chi² of a straight line through three hits of that resolution, both projections: two degrees of freedom. */
float slc_pair_chi2_of_three(const slc_pair_hits *hits, uint32_t a, uint32_t b, uint32_t c, float sigma_mm);

/* Appends a track, whose hits come downstream first, and marks them used. */
void slc_pair_write(const slc_pair_hits *hits, const uint32_t *list, uint32_t n, const slc_pair_output *out);

#endif
