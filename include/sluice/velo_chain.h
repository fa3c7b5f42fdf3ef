/* SPDX-License-Identifier: Apache-2.0
 *
 * The VELO from raw bytes to fitted tracks and primary vertices: the stages in order. Open once, reserve
 * before each batch (which allocates only while batches grow), run, read the result, repeat, close.
 */
#ifndef SLUICE_VELO_CHAIN_H
#define SLUICE_VELO_CHAIN_H

#include <sluice/simd.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the search for tracks ----------------------------------------------------------------------- */

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
    /* A track with fewer hits than this when it has picked up what it missed is none, and others may have its
     * hits. With more than 3, missed hits are picked up behind the second pass, too. For densities at which
     * most of three hits are wrong or of no interest: then a track of three hits that scatters much may find
     * its fourth, which a cut on the scatter would not let it. */
    uint32_t min_hits;
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

/* ---- fit and vertices ----------------------------------------------------------------------------- */

/* Hits of one pixel, of two … of six and more have resolutions of their own. */
enum { SLC_VELO_FIT_SIZES = 6 };

/* Variance of a slope from scattering in one layer: noise_constant + noise_slope · (tx² + ty²), for a
 * particle of several GeV, of which chi2 is then about its degrees of freedom. The VELO has no field and
 * cannot tell the momentum, but the track's own chi2 tells how much it scatters: with scatter_prior > 0 a
 * second pass takes noise_constant + second_noise_slope · (tx² + ty²) times ((prior + chi2) / (prior +
 * n_dof))³, within 0.1 … 1000. The prior counts as so many degrees of freedom; 0 keeps the fixed variance of
 * the first pass, which is the filter of the thesis. */
typedef struct slc_velo_fit_config {
    float hit_sigma_mm; /* resolution in x and in y of a hit that is not known to be so many pixels: of JSON
                           and of clusters that FPGAs have found */
    float size_sigma_mm[SLC_VELO_FIT_SIZES]; /* of hits of 1, 2, 3, 4, 5, 6 and more pixels */
    float noise_constant;
    float noise_slope;
    float second_noise_slope;
    float scatter_prior;
    float beam_x_mm, beam_y_mm; /* the beam line, parallel to z */
    float end_z_mm;             /* where the downstream state is given */
    slc_simd_target target;     /* a result of slc_simd_choose(); default SLC_SIMD_AUTO */
} slc_velo_fit_config;

/* Defaults are the values of Allen, if they are not found to be improvable; see docs/howto/velo-physics.md.
 */
typedef struct slc_velo_vertex_config {
    float z_min_mm, z_max_mm, bin_mm; /* the histogram; at most 4096 bins */
    float error_scale;                /* tracks' errors are those of their states times this: of a mixture of
                                         momenta soft tracks have larger ones than their states say */
    float max_track_chi2;             /* of the distance between a track and the beam line, to be counted */
    float max_track_sigma_z_mm;       /* uncertainty of a track's z there, to be counted */
    float min_peak_tracks;            /* integral of a peak */
    float max_dip_per_mm;             /* density between two peaks that separates them */
    uint32_t iterations;              /* of the fit, at most */
    float max_fit_chi2;               /* of a track, to take part in the fit of a vertex */
    float min_tracks;                 /* tracks in a fit, at least */
    float max_beam_distance2_mm2;     /* of a vertex from the beam line, squared */
    float min_separation2;            /* squared distance in z over its variance; the smaller of two goes */
    float beam_x_mm, beam_y_mm;       /* the beam line, parallel to z */
    slc_simd_target target;           /* a result of slc_simd_choose() */
} slc_velo_vertex_config;

/* ---- the global event cut ------------------------------------------------------------------------- */

/* An event with more clusters than this is not reconstructed: it has no hits, and no faults of its VELO's
 * banks. They are counted by the sizes of banks before anything is decoded. 0: no limit. HLT1 of LHCb has
 * 9750 for the UT and the SciFi together. */
typedef struct slc_velo_gec_config {
    uint32_t max_velo, max_ut, max_scifi, max_ut_scifi;
} slc_velo_gec_config;

/* ---- all of it ------------------------------------------------------------------------------------ */

/* Collections of a result, as bits. */
enum {
    SLC_VELO_WANT_HITS = 1 << 0,
    SLC_VELO_WANT_TRACKS = 1 << 1, /* and their hits */
    SLC_VELO_WANT_BEAM = 1 << 2,
    SLC_VELO_WANT_END = 1 << 3,
    SLC_VELO_WANT_PRIMARIES = 1 << 4,
    SLC_VELO_WANT_ALL = (1 << 5) - 1,
    SLC_VELO_WANT_DECISIONS = 1 << 5 /* these are made with a selection in any case */
};

struct slc_velo_selection;
typedef struct slc_velo_config {
    size_t size; /* set by slc_velo_config_default */
    slc_velo_track_config track;
    slc_velo_fit_config fit;
    slc_velo_vertex_config vertex; /* its beam line and target are set by the chain: those of fit and of exec;
                                    * so are track's */
    bool strict;                   /* the earliest event's first fault is an error (SLC_ERR_STRICT) */
    slc_velo_banks banks;          /* that hits are made of. Default SLC_VELO_BANKS_AUTO */
    /* Keep the super-pixels in the result. Without, which is the default, the raw banks become hits without
     * a list of them (slc_velo_cluster_run_banks); all else in the result is the same. */
    bool keep_superpixels;
    /* Of which the target and the device count: a chain is of one thread. A GPU ("cuda:0") finds clusters,
     * tracks, states and vertices; events with damaged, doubled or falsely hinted words, more than 384 hits
     * in a layer or 2048 tracks are the processor's (n_left_events): results and faults are the same. It
     * takes the local search, the standard strategy and min_hits of 3 alone, and no mask. */
    slc_exec exec;
    slc_velo_gec_config gec; /* without effect on events that come as hits */
    bool impacts;            /* impact parameters of all tracks, too */
    /* Pixels that are left out before clustering, and clusters of FPGAs whose centroid is in one of them. The
     * caller's, for as long as there is a chain; NULL: none. Which banks an event's hits are made of, and the
     * global event cut, go by what was sent. */
    const slc_velo_mask *mask;
    /* Which collections of the result are wanted (SLC_VELO_WANT_…); 0: all. The others have events and no
     * rows, but for hits that the caller gave; the counts of the result tell how many rows there would have
     * been. A GPU does not copy them back. Impacts need the states at the beam line and the vertices. */
    uint32_t wanted;
    /* Decides about every event (velo_select.h; copied, so that it need not stay): result.decisions, without
     * prescales, which slc_velo_select_prescale applies where events have their numbers in the run; all else
     * is as slc_velo_select_run decides, with the chain's beam line unless the selection has its own. Events
     * that the global event cut left out are accepted by no line. A GPU decides itself, and sends 16 bytes an
     * event. Which tracks had part (slc_velo_fired) slc_velo_select_run tells, if tracks are wanted. NULL: no
     * decisions. */
    const struct slc_velo_selection *selection;
} slc_velo_config;
SLC_API void slc_velo_config_default(slc_velo_config *config, size_t size);
#define slc_velo_config_default(config) slc_velo_config_default(config, sizeof *(config))

/* The collections of a list, as "tracks,primaries", for `wanted`, by the names that they have in files: hits,
 * tracks (and their hits), states_beam, states_end, primaries, decisions. SLC_ERR_USAGE for another name, or
 * none. */
SLC_API slc_status slc_velo_wanted_read(const char *list, uint32_t *wanted, slc_error *error);

/* A named set of all settings of track, fit, vertex, gec and banks in place of those in *config; the other
 * members stay. "standard": the defaults. "fast": tracks by the single pass of the thesis, without second
 * pass, missing layers, trimming, picking up and joining. "open": halves retracted. "smog2": gas in the cell
 * upstream. "upgrade2": events of LHCb's second upgrade. docs/formats/velo-config.md. SLC_ERR_USAGE for
 * another name. As files: io_lhcb.h. */
SLC_API slc_status slc_velo_config_preset(slc_velo_config *config, const char *name, slc_error *error);

/* The stages whose time is taken. */
typedef enum slc_velo_stage {
    SLC_VELO_STAGE_CLUSTER = 0, /* from bytes to hits */
    SLC_VELO_STAGE_TRACK,
    SLC_VELO_STAGE_FIT,
    SLC_VELO_STAGE_VERTEX, /* and impact parameters and decisions, where there are any */
    SLC_VELO_STAGES
} slc_velo_stage;

/* What a batch becomes. Zero-initialise; the chain fills it, the caller clears it. Indices inside it are per
 * event, so that they do not depend on how events were cut into batches. */
typedef struct slc_velo_result {
    slc_velo_superpixels superpixels; /* without rows, unless keep_superpixels is set and hits are of them */
    slc_velo_event_counts counts;
    slc_velo_hits hits;
    slc_velo_tracks tracks;
    slc_velo_track_hits track_hits;
    slc_velo_states beam;
    slc_velo_states end;
    slc_velo_primaries primaries;
    uint64_t first_event; /* number of the first event, for faults; for events that come as hits the caller
                             sets it */
    uint64_t n_pixels;
    uint64_t n_superpixels;                        /* whether they are kept or not */
    uint64_t n_isolated;                           /* super-pixels that came with the "isolated" hint */
    uint64_t n_superpixel_events, n_retina_events; /* whose hits are of super-pixels; of FPGAs' clusters */
    uint64_t
        n_cut_events; /* events with more hits than track.max_event_hits: they have hits, but no tracks */
    slc_velo_event_cuts cuts; /* with a limit in config.gec */
    uint64_t n_gec_events;    /* that it cut */
    slc_velo_impacts impacts; /* with config.impacts; not in the checksum, as they follow from the rest */
    slc_faults faults;        /* of this batch */
    double seconds[SLC_VELO_STAGES]; /* of wall time in each stage, for this batch */
    uint64_t n_masked;               /* pixels, and clusters of FPGAs, that config.mask has left out */
    uint64_t n_left_events;          /* with a GPU: events that it left to the processor */
    uint64_t n_hits, n_tracks;       /* that were found, wanted or not */
    slc_velo_decisions decisions;    /* with config.selection; not in the checksum */
} slc_velo_result;
SLC_API void slc_velo_result_clear(slc_velo_result *result);
/* What the events add to the checksum of a run (base.h) in which `before` events are before them: hits,
 * tracks, states and vertices, by the names that they have in files. */
SLC_API uint64_t slc_velo_result_checksum(const slc_velo_result *result, uint64_t before);

typedef struct slc_velo_chain slc_velo_chain;

/* `geometry` is copied; NULL means the ideal one. SLC_ERR_USAGE for a configuration out of range, and what
 * slc_velo_geometry_check says of the geometry, named in *error. */
SLC_API slc_status slc_velo_chain_open(const slc_velo_config *config, const slc_velo_geometry *geometry,
                                       slc_velo_chain **chain, slc_error *error);
SLC_API void slc_velo_chain_close(slc_velo_chain *chain);
/* Another beam line (parallel to z) for what is run from here on, in place of that of fit: velo_beam.h tells
 * where it is. SLC_ERR_USAGE, and nothing changed, where it is not within 1 m of x = y = 0. */
SLC_API slc_status slc_velo_chain_set_beam(slc_velo_chain *chain, float x_mm, float y_mm, slc_error *error);

/* Makes room in the chain and the result for this batch; rows of an earlier one are gone. A GPU's words are
 * packed here already, and it begins to work on them: the batch is not to be changed until it has been run.
 */
SLC_API slc_status slc_velo_chain_reserve(slc_velo_chain *chain, const slc_batch *batch,
                                          slc_velo_result *result, slc_error *error);
/* Decodes, clusters, tracks, fits and finds vertices. Does not allocate. One chain serves one thread at a
 * time. */
SLC_API slc_status slc_velo_chain_run(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                                      slc_error *error);

/* The same for events that come as hits: result->hits has been filled by the caller (sorted by module). */
SLC_API slc_status slc_velo_chain_reserve_hits(slc_velo_chain *chain, slc_velo_result *result,
                                               slc_error *error);
SLC_API slc_status slc_velo_chain_run_hits(slc_velo_chain *chain, slc_velo_result *result, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
