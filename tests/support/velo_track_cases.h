/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of the track search share: collections with room, random events that have everything which
 * may trouble a search, random configurations, and one function that runs every target and holds the result
 * against the oracle.
 */
#ifndef SUPPORT_VELO_TRACK_CASES_H
#define SUPPORT_VELO_TRACK_CASES_H

#include "velo/velo_track.h"

typedef struct track_run {
    slc_velo_hits hits;
    slc_velo_tracks tracks, other_tracks;
    slc_velo_track_hits track_hits, other_track_hits;
    slc_velo_track_scratch scratch;
    slc_faults faults;
    size_t n_tracks; /* of all expectations so far */
} track_run;

void track_run_reserve(track_run *run, size_t hits, uint32_t events);
void track_run_clear(track_run *run);
/* Forgets all hits. */
void track_run_begin(track_run *run);
void track_run_add(track_run *run, uint32_t module, float x, float y, float z);
void track_run_end_event(track_run *run);

/* Searches; the call must work, and its columns be sound. */
void track_run_search(track_run *run, const slc_velo_track_config *config);
/* The same on every target that runs here: each gives the oracle's tracks, and no hit is in two of them. */
void track_run_expect_oracle(track_run *run, const slc_velo_track_config *config);
/* The oracle's tracks of all events against these: the number of the first event that differs, UINT32_MAX:
 * none. The sum of all tracks is added to *n_tracks where that is not NULL. */
uint32_t track_run_difference(const slc_velo_track_config *config, const slc_velo_hits *hits,
                              const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                              size_t *n_tracks);
/* A hit is in one track at most, a track has three hits or more, and a hit of a module once. */
void track_run_expect_disjoint(const track_run *run);
/* Hits of a track lie upstream of the one before. */
void track_run_expect_falling_z(const track_run *run);

/* What a random event has besides straight lines with errors. */
enum {
    TRACK_RUN_NOISE = 1,      /* hits anywhere */
    TRACK_RUN_DUPLICATES = 2, /* hits twice and more in one place */
    TRACK_RUN_AXIS = 4,       /* hits at x = y = 0, and on the axes */
    TRACK_RUN_FLAT = 8,       /* modules of equal z, in one layer and in neighbouring ones */
    TRACK_RUN_EXTREMES = 16,  /* coordinates of 0, -0, 1e-40 … 1e38 */
    TRACK_RUN_GRID = 32       /* whole tenths of millimetres: equal distances and equal directions */
};
/* One event of so many particles. `n_noise` hits a module where there is noise. */
void track_run_random_event(track_run *run, uint64_t *seed, uint32_t particles, uint32_t n_noise,
                            uint32_t features);
/* One event with tracks of so many vertices, some of which are close to others, with errors. */
void track_run_vertices(track_run *run, uint64_t *seed, uint32_t vertices, uint32_t tracks);
/* A random configuration; `features` on and off, N of 1 to 10, any strategy. */
slc_velo_track_config track_run_random_config(uint64_t *seed);

/* SLUICE_TEST_PERCENT of n, and less where a sanitizer slows everything down; 1 at least. */
size_t track_run_count(size_t n);

#endif
