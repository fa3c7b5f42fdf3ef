/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 3: hits to tracks. Local search, layer after layer from downstream to upstream: thesis of A.
 * Hennequin (2022), sections 5.4.1 to 5.4.3, with a second pass over the hits that are left, missed hits
 * picked up, and broken tracks joined. A layer is a pair of modules, one of each half.
 */
#ifndef SLUICE_VELO_TRACK_H
#define SLUICE_VELO_TRACK_H

#include <sluice/simd.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off
 *
 *               layer  i+1   i   i-1  i-2
 *
 *      seed:            o----o~~~~o         every unused hit of layer i, with each of the N unused hits of layer i+1
 *                                           that are nearest in phi; the unused hit of layer i-1 that is closest to
 *                                           the line through such a pair makes the seed
 *      extend:          o----o----o~~~~o    every candidate into layer i-2, from its last two hits; one layer without
 *                                           a hit may be skipped, two in a row end the track
 *
 * clang-format on
 *
 * All seeds of a step are found as if each were alone. Then the one with the smallest scatter is taken first, and
 * one that shares a hit with a seed taken before it is dropped. All candidates that are extended are likewise
 * found a hit as if each were alone, and a hit that several want goes to the one that scatters least. So tracks
 * do not depend on how many are searched side by side, which the thesis leaves open. */

/* Which modules make a layer, and which layers make a seed. */
typedef enum slc_velo_track_strategy {
    SLC_VELO_TRACK_STANDARD = 0, /* 26 layers of both halves */
    SLC_VELO_TRACK_SPLIT, /* the halves one after the other, 26 layers each: tracks through both are split */
    SLC_VELO_TRACK_FULL /* 52 layers of one module, four seeds in each step, three layers may be skipped: for
                           alignment, which wants the tracks through both halves with all their hits */
} slc_velo_track_strategy;

/* How tracks are searched. The others are baselines, whose results are their own. */
typedef enum slc_velo_track_algorithm {
    SLC_VELO_TRACK_LOCAL = 0, /* as above */
    SLC_VELO_TRACK_PAIR_FAST, /* search by pair of LHCb's Run 2, window of 3 degrees */
    SLC_VELO_TRACK_PAIR_BEST, /* the same, window of 20 degrees */
    SLC_VELO_TRACK_TRIPLET,   /* search by triplet of LHCb's Allen */
    SLC_VELO_TRACK_ALGORITHMS
} slc_velo_track_algorithm;
/* "local", "pair-fast", "pair-best", "triplet"; NULL behind the last. */
SLC_API const char *slc_velo_track_algorithm_name(slc_velo_track_algorithm algorithm);

/* Scatter is the squared distance (mm²) in the plane of a hit between it and the extrapolation of the two
 * hits before it: the "scattering parameter" of the thesis. */
typedef struct slc_velo_track_config {
    /* The first pass. */
    uint32_t candidates;             /* N, 1 … 10 */
    float max_scatter_seeding_mm2;   /* third hit of a seed */
    float max_scatter_extending_mm2; /* every further hit */
    float max_scatter_3hits_mm2;     /* total scatter of a track that ends with three hits */
    /* The second pass, over the hits that the first left: also seeds whose third hit is a layer further
     * upstream. second_candidates = 0: none. */
    uint32_t second_candidates;
    float second_seeding_mm2, second_extending_mm2, second_3hits_mm2;
    /* Added to the scatter of a track of three hits for each layer without a hit that lies between them or
     * behind them as the particle flies, where its line is missing_r_low_mm … missing_r_high_mm away from the
     * beam line. */
    float missing_layer_mm2;
    float missing_r_low_mm, missing_r_high_mm;
    /* A track of five or more hits loses the most upstream one where that scatters more. Nobody else gets it.
     */
    float trim_mm2;
    /* Behind the first pass a track takes the closest unused hit within this squared distance in each layer
     * that it misses, up to three layers beyond its ends, and in the other module of those that it has. */
    float pickup_mm2;
    /* Two tracks, one upstream of the other, become one where both slopes (dx/dz, dy/dz, first to last hit)
     * differ by less than merge_slope and each passes the other's near end within merge_mm2 (squared), if
     * they have at most SLC_VELO_MAX_TRACK_HITS hits together. */
    float merge_slope, merge_mm2;
    /* The beam line, parallel to z: directions (phi) and distances are those from there, and tracks are what
     * they are of hits that are moved by so much the other way. */
    float beam_x_mm, beam_y_mm;
    slc_velo_track_strategy strategy;
    slc_velo_track_algorithm algorithm;
    uint32_t max_layer_hits; /* an event with more hits in one layer, at most 4096, is not searched: the work
                                grows faster than their number, and a noisy detector must not stop the others'
                                events */
    uint32_t max_event_hits; /* an event with more hits is not searched, and that is no fault; 0: no limit */
    slc_simd_target target;  /* a result of slc_simd_choose(); tracks do not depend on it */
} slc_velo_track_config;
SLC_API void slc_velo_track_config_default(slc_velo_track_config *config);
/* The single pass of the thesis: without second pass, missing layers, trimming, picking up and joining. */
SLC_API void slc_velo_track_config_fast(slc_velo_track_config *config);

/* Working memory, enough for `hits` hits in one event; zero-initialise. */
typedef struct slc_velo_track_scratch {
    void *block;
    size_t hits;
} slc_velo_track_scratch;
SLC_API slc_status slc_velo_track_reserve(slc_velo_track_scratch *scratch, size_t hits);
SLC_API void slc_velo_track_clear(slc_velo_track_scratch *scratch);

/* Upper bounds for so many hits: a hit belongs to one track at most, and a track has three or more. */
SLC_API size_t slc_velo_track_bound(size_t n_hits);

/* Finds the tracks of all events. `hits` sorted by module. An event that is too crowded is a fault and has no
 * tracks; `first_event` is the number of the first event, for faults. SLC_ERR_CAPACITY where scratch or an
 * output is too small. The order of the tracks is that in which they end: those of the first pass, downstream
 * first, then those of the second. Hits of a track by falling z. Never allocates. */
SLC_API slc_status slc_velo_track_run(const slc_velo_track_config *config, const slc_velo_hits *hits,
                                      uint64_t first_event, slc_velo_track_scratch *scratch,
                                      slc_velo_tracks *tracks, slc_velo_track_hits *track_hits,
                                      slc_faults *faults);

#ifdef __cplusplus
}
#endif
#endif
