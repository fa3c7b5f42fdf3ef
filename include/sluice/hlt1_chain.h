/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb's first trigger level from raw bytes to long tracks: the VELO's chain, hits of UT, SciFi and muon
 * stations, upstream tracks, long tracks with momentum. Open once, reserve before each batch, run, read the
 * result, repeat, close. The reference is LHCb's Allen; docs/howto/hlt1.md tells where we differ.
 */
#ifndef SLUICE_HLT1_CHAIN_H
#define SLUICE_HLT1_CHAIN_H

#include <sluice/hlt1_select.h>
#include <sluice/velo_chain.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From the VELO to the UT. Momenta in MeV. */
typedef struct slc_hlt1_upstream_config {
    float window_pt_mev, window_p_mev; /* the least that hits are looked for */
    float least_pt_mev, least_p_mev;   /* and the least that is kept, of 1.3 times the momentum found */
    float max_slope_difference;        /* of a pair of hits from the VELO's dx/dz */
    float max_distance_mm;             /* of the third and fourth hit from the pair's line */
    float min_discriminant;            /* of momentum and chi2; smaller: more, and more wrong tracks */
    uint32_t max_tracks;               /* of an event; of more, the rest is not looked for: a fault */
} slc_hlt1_upstream_config;

/* From the UT to the SciFi. */
typedef struct slc_hlt1_forward_config {
    uint32_t max_hits; /* looked at in a layer, those nearest to where the track is expected; at most 64 */
    uint32_t max_triplets; /* of a set of x layers, the first, second or last of all stations', that are
                              followed of a track; at most 32 */
    float max_quality;     /* smaller is better */
    float enough_quality;  /* a track of the first set that is not worse: the other set is not looked at */
    float
        max_shared; /* of two tracks that share a larger fraction of hits in the SciFi the better one stays */
} slc_hlt1_forward_config;

/* Tracks of the VELO that are not part of a long track, followed to hits of the SciFi that no long track has,
 * without a momentum from the UT; hits there must lie where the momentum that is found says, and momenta are
 * looked for between the lowest and the highest that they allow. */
typedef struct slc_hlt1_rest_config {
    bool on;
    float least_p_mev; /* hits are looked for */
    float max_quality; /* as in slc_hlt1_forward_config */
    float max_ut_distance_mm;
    uint32_t min_ut_layers; /* with a hit within that distance, at least; at most 4 */
    uint32_t min_hits;      /* of the SciFi, 9 to 12 */
    uint32_t max_triplets;  /* as in slc_hlt1_forward_config */
} slc_hlt1_rest_config;

typedef struct slc_hlt1_config {
    size_t size; /* set by slc_hlt1_config_default */
    const slc_velo_config
        *velo; /* of the VELO's chain, whose exec and beam line are set here; NULL: default */
    slc_hlt1_upstream_config upstream;
    slc_hlt1_forward_config forward;
    slc_hlt1_rest_config rest;
    slc_hlt1_fit_config fit; /* whose target is exec's */
    slc_hlt1_secondaries_config pairs;
    const slc_hlt1_network *network; /* of TwoTrackMVA; the caller's until _close; NULL: none */
    const slc_hlt1_lines *lines;     /* likewise; NULL: nothing is decided */
    bool strict;                     /* the earliest event's first fault is an error (SLC_ERR_STRICT) */
    slc_exec exec;                   /* of which the target counts: a chain is of one thread */
} slc_hlt1_config;
SLC_API void slc_hlt1_config_default(slc_hlt1_config *config, size_t size);
#define slc_hlt1_config_default(config) slc_hlt1_config_default(config, sizeof *(config))

/* A named set of settings in place of those of upstream, forward and rest. "standard": the default.
 * "loose": softer tracks, and more of them. "full": softer ones still, and the rest of the VELO's.
 * SLC_ERR_USAGE for another name. */
SLC_API slc_status slc_hlt1_config_preset(slc_hlt1_config *config, const char *name, slc_error *error);

/* The stages whose time is taken; the VELO's are its own. */
typedef enum slc_hlt1_stage {
    SLC_HLT1_STAGE_VELO = 0,
    SLC_HLT1_STAGE_HITS, /* from bytes to hits beyond the VELO */
    SLC_HLT1_STAGE_UPSTREAM,
    SLC_HLT1_STAGE_FORWARD,
    SLC_HLT1_STAGE_REST, /* of the VELO's tracks without the UT */
    SLC_HLT1_STAGE_MUON, /* which tracks are muons */
    SLC_HLT1_STAGE_FIT,
    SLC_HLT1_STAGE_DECIDE, /* pairs, and lines */
    SLC_HLT1_STAGES
} slc_hlt1_stage;

/* What a batch becomes. Zero-initialise; the chain fills it, the caller clears it. */
typedef struct slc_hlt1_result {
    slc_velo_result velo; /* velo.counts.faults counts all faults of an event, beyond the VELO, too */
    slc_ut_hits ut;
    slc_scifi_hits scifi;
    slc_muon_hits muon;
    slc_hlt1_upstream upstream;
    slc_hlt1_track_hits upstream_hits; /* rows of ut */
    slc_hlt1_long long_tracks;
    slc_hlt1_track_hits long_hits; /* rows of scifi */
    slc_muon_ids muons;            /* a row for each long track; none without a field of interest */
    slc_hlt1_fitted fitted; /* these two: a row for each long track; without tables of the transport none, */
    slc_hlt1_particles particles;
    slc_hlt1_secondaries secondaries; /* nor pairs, nor decisions, which need lines, too */
    slc_velo_decisions decisions;
    slc_faults faults; /* of this batch, beyond the VELO's, which are in velo.faults */
    double seconds[SLC_HLT1_STAGES];
} slc_hlt1_result;
SLC_API void slc_hlt1_result_clear(slc_hlt1_result *result);
/* As slc_velo_result_checksum: of all collections, by the names that they have in files. */
SLC_API uint64_t slc_hlt1_result_checksum(const slc_hlt1_result *result, uint64_t before);

/* As slc_velo_decision_of, of an event of a chain's result with these lines: what slc_io_select_write
 * appends. Hits and tracks are the VELO's; the checksum is of all collections. */
SLC_API void slc_hlt1_decision_of(const slc_hlt1_lines *lines, const slc_hlt1_result *result, uint32_t event,
                                  slc_velo_decision *decision);

typedef struct slc_hlt1_chain slc_hlt1_chain;

/* Events of a batch that stay in a core's caches: the fastest, as measured. Results do not depend on it. */
enum { SLC_HLT1_BATCH_EVENTS = 8 };

/* `geometry` is the caller's until _close. SLC_ERR_USAGE for a configuration out of range. */
SLC_API slc_status slc_hlt1_chain_open(const slc_hlt1_config *config, const slc_hlt1_geometry *geometry,
                                       slc_hlt1_chain **chain, slc_error *error);
SLC_API void slc_hlt1_chain_close(slc_hlt1_chain *chain);
SLC_API slc_status slc_hlt1_chain_reserve(slc_hlt1_chain *chain, const slc_batch *batch,
                                          slc_hlt1_result *result, slc_error *error);
SLC_API slc_status slc_hlt1_chain_run(slc_hlt1_chain *chain, const slc_batch *batch, slc_hlt1_result *result,
                                      slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
