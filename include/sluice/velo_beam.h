/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the beam line is, by the tracks: most come from collisions on it. Fit, vertices, impact parameters
 * and the search for tracks all need it (slc_velo_config.fit.beam_x_mm). To find it without knowing anything,
 * run a chain over some events, add their states, estimate, set the beam of the chain
 * (slc_velo_chain_set_beam), and do it again with the same events until the estimate stays: far from the true
 * beam line fewer tracks are found. To see whether a beam line is right, estimate and ask
 * slc_velo_beam_differs.
 */
#ifndef SLUICE_VELO_BEAM_H
#define SLUICE_VELO_BEAM_H

#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A beam line, parallel to z, and what it was estimated from. */
typedef struct slc_velo_beam {
    double x_mm, y_mm;
    double spread_mm; /* 1.4826 times the median distance of the tracks to it: what their resolution and the
                         beam's width come to, if distances are normal */
    double sigma_mm;  /* uncertainty of x and of y: spread / sqrt(events), as the tracks of an event share
                         its few collisions. Cautious where there are many collisions in an event. */
    uint64_t events, tracks; /* events with tracks, and these */
} slc_velo_beam;

/* Tracks as they pass the beam in the plane of x and y. Zero-initialise. */
enum { SLC_VELO_BEAM_TRACKS = 8192, SLC_VELO_BEAM_EVENTS = 1024 };
typedef struct slc_velo_beam_sample {
    void *block;
    size_t tracks;
    uint32_t events, with_tracks; /* that were looked at, and those of them that had tracks */
    bool full;                    /* it takes no more events */
} slc_velo_beam_sample;
SLC_API slc_status slc_velo_beam_reserve(slc_velo_beam_sample *sample, slc_error *error);
SLC_API void slc_velo_beam_clear(slc_velo_beam_sample *sample);
/* Begins anew; the memory stays. */
SLC_API void slc_velo_beam_reset(slc_velo_beam_sample *sample);

/* Adds the tracks of the events, given by any point on their lines (either of the states of a fit), until
 * there are SLC_VELO_BEAM_TRACKS of SLC_VELO_BEAM_EVENTS events: from there on events are not looked at.
 * Event by event, so that it does not matter how they were cut into batches; which of the tracks of the last
 * event find room is by their order. Tracks that are not finite or along z do not count. Never allocates;
 * SLC_ERR_CAPACITY for a sample that was not reserved. */
SLC_API slc_status slc_velo_beam_add(slc_velo_beam_sample *sample, const slc_velo_states *states,
                                     slc_error *error);

/* The line that minimises the squared distances of the tracks, in which those far away count little and those
 * beyond three spreads nothing (weights of J. W. Tukey, computed anew until the line stays). It begins with
 * all tracks alike and assumes no beam line. A fixed order of additions in double precision: the same bits
 * for the same tracks on every machine. SLC_ERR_FORMAT, with *beam zero, where less than SLC_VELO_BEAM_LEAST
 * tracks, or tracks that are all parallel, tell of no line. The sample is as before, and may be added to; it
 * holds scratch, so that one thread at a time may ask. */
enum { SLC_VELO_BEAM_LEAST = 20 };
SLC_API slc_status slc_velo_beam_estimate(slc_velo_beam_sample *sample, slc_velo_beam *beam,
                                          slc_error *error);

/* How far the estimate is from a beam line, and whether that is too far: by more than 0.1 mm and by more than
 * three sigma. */
SLC_API double slc_velo_beam_distance(const slc_velo_beam *estimate, float x_mm, float y_mm);
SLC_API bool slc_velo_beam_differs(const slc_velo_beam *estimate, float x_mm, float y_mm);

#ifdef __cplusplus
}
#endif
#endif
