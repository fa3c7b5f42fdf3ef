/* SPDX-License-Identifier: Apache-2.0
 *
 * Tracks and vertices against simulation truth, with the definitions of LHCb's checkers (Allen's): matching,
 * ghosts, clones, efficiencies by category, residuals of hits, pulls of states, impact parameters, vertices.
 * docs/howto/velo-physics.md.
 */
#ifndef SLUICE_VELO_CHECK_H
#define SLUICE_VELO_CHECK_H

#include <sluice/velo_chain.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the truth of all events of a batch; grows `truth` as needed (this is not part of the hot chain).
 * `truth` is reset first. A truth bank that cannot be read is a fault and leaves that event without particles
 * (or vertices). Hits in other detectors are not kept; particles without any hit in the VELO are. */
SLC_API slc_status slc_velo_truth_read(const slc_batch *batch, slc_velo_truth *truth, slc_faults *faults,
                                       slc_error *error);

/* What a particle must be to count: velo = has VELO, no electron; long = is long, no electron; the next four
 * are long and no electron: p > 5 GeV, from beauty, from charm, from strange decays; electrons = long
 * electrons; modules3 = clusters in three modules or more, whatever the simulation's flags say, which
 * truth that is lists of hits alone does not have, and no electron where it tells. */
typedef enum slc_velo_category {
    SLC_VELO_CATEGORY_VELO = 0,
    SLC_VELO_CATEGORY_LONG,
    SLC_VELO_CATEGORY_LONG_P5,
    SLC_VELO_CATEGORY_FROM_B,
    SLC_VELO_CATEGORY_FROM_D,
    SLC_VELO_CATEGORY_STRANGE,
    SLC_VELO_CATEGORY_ELECTRONS,
    SLC_VELO_CATEGORY_THREE_MODULES,
    SLC_VELO_CATEGORIES
} slc_velo_category;

/* "velo", "long", "long_p5", "from_b", "from_d", "strange", "electrons", "modules3"; with "_eta25"
 * behind it for 2 < eta < 5, where particles without eta are not. */
SLC_API const char *slc_velo_category_name(slc_velo_category category, bool eta25);

typedef struct slc_velo_category_counts {
    uint64_t reconstructible;  /* particles of the category */
    uint64_t found;            /* of these, matched by one track at least */
    uint64_t matched;          /* tracks matched to them: found + clones */
    uint64_t clones;           /* every matched track beyond the first of its particle */
    double purity_sum;         /* over matched tracks: the particle's share of the track's hits */
    double hit_efficiency_sum; /* over matched tracks: the track's share of the particle's hits */
    double first_hits_sum;     /* … of its first three hits along its flight, of those that are clusters */
    double last_hits_sum;      /* … of its last three */
} slc_velo_category_counts;

/* A fraction and its uncertainty by the normal approximation, sqrt(f (1 - f) / n); both 0 where n = 0. */
typedef struct slc_fraction {
    double value, sigma;
} slc_fraction;
SLC_API slc_fraction slc_fraction_of(uint64_t part, uint64_t whole);

typedef struct slc_velo_check_config {
    float match_fraction;       /* 0.70 */
    float eta_low, eta_high;    /* 2, 5 */
    float residual_min_p_mev;   /* straight-line residuals: particles above this momentum … */
    uint32_t residual_min_hits; /* … with at least this many hits on the track */
    uint32_t vertex_min_tracks; /* 4: a collision with at least as many counts as reconstructible */
    float vertex_match_sigmas; /* 5: a vertex matches the collision nearest in z within so many of its sigma_z
                                */
    float beam_x_mm,
        beam_y_mm;      /* the beam line, parallel to z: efficiencies are told by the distance to it */
    float isolation_mm; /* 10: a collision with another one nearer than this is close, else isolated */
} slc_velo_check_config;
SLC_API void slc_velo_check_config_default(slc_velo_check_config *config);

/* An efficiency against a variable: the same bins twice. */
typedef struct slc_velo_efficiency_plot {
    slc_histogram reconstructible, found;
} slc_velo_efficiency_plot;

/* Collisions: all, and by whether another one is near. */
typedef enum slc_velo_vertex_category {
    SLC_VELO_VERTICES_ALL = 0,
    SLC_VELO_VERTICES_ISOLATED,
    SLC_VELO_VERTICES_CLOSE,
    SLC_VELO_VERTEX_CATEGORIES
} slc_velo_vertex_category;
/* "all", "isolated", "close". */
SLC_API const char *slc_velo_vertex_category_name(slc_velo_vertex_category category);

typedef struct slc_velo_vertex_counts {
    uint64_t reconstructible; /* collisions with enough tracks */
    uint64_t found;           /* of these, matched by one vertex at least */
} slc_velo_vertex_counts;

/* The nearest vertex of each collision found: reconstructed minus true, and that over its sigma. */
typedef struct slc_velo_vertex_resolution {
    slc_histogram x_um, y_um, z_um, pull_x, pull_y, pull_z;
} slc_velo_vertex_resolution;

/* Impact parameters in bins of 1 / pT, so wide in 1 / GeV. */
enum { SLC_VELO_IMPACT_BINS = 6 };
#define SLC_VELO_IMPACT_STEP 0.5

/* Pulls of the state at the beam line of tracks whose particle has p_low_mev <= p < p_high_mev, and how
 * probable a chi2 as large as theirs would be if it were one (10 bins from 0 to 1: as many in each). */
enum { SLC_VELO_MOMENTUM_RANGES = 10 }; /* above 2 GeV, above 5 GeV, then eight that do not overlap */
typedef struct slc_velo_momentum_range {
    double p_low_mev, p_high_mev; /* infinity in the last one, and in the first two */
    slc_histogram pull_x, pull_y, pull_tx, pull_ty, probability;
} slc_velo_momentum_range;

/* Totals over all batches given to slc_velo_check_run since _init. Read the members directly. */
typedef struct slc_velo_check {
    slc_velo_check_config config;
    uint64_t events; /* with truth, without those that config.gec left out: these are not compared */
    uint64_t tracks, ghosts;
    uint64_t mc_hits;                                        /* pairs of a particle and one of its hits */
    uint64_t mc_hits_found;                                  /* those whose channel id is a hit's */
    slc_velo_category_counts counts[SLC_VELO_CATEGORIES][2]; /* [1]: eta_low < eta < eta_high */
    slc_velo_efficiency_plot against_eta, against_log_p, against_phi, against_docaz; /* velo, no electrons */
    slc_velo_efficiency_plot against_hits;                                           /* of the particle */
    slc_histogram residual_x_um, residual_y_um;     /* of matched hits from a straight-line fit to them */
    slc_histogram pull_x, pull_y, pull_tx, pull_ty; /* beam state of matched tracks whose origin is known */
    slc_velo_momentum_range momentum[SLC_VELO_MOMENTUM_RANGES]; /* of the same tracks */
    /* Of the first matched tracks of long particles: x and y of the vector from the true origin to the line,
     * where it is shortest. */
    slc_histogram impact_um[SLC_VELO_IMPACT_BINS];
    slc_velo_vertex_counts vertices[SLC_VELO_VERTEX_CATEGORIES];
    uint64_t vertices_found; /* reconstructed, in events with true collisions */
    uint64_t vertices_false; /* of these, without a match */
    uint64_t vertex_clones;  /* matched beyond the first of their collision */
    slc_velo_vertex_resolution vertex_resolution;
    slc_histogram hits_per_track, cluster_pixels, tracks_per_event, hits_per_event, superpixels_per_event;
    void *scratch;
    size_t scratch_bytes;
} slc_velo_check;
SLC_API void slc_velo_check_init(slc_velo_check *check, const slc_velo_check_config *config);
SLC_API void slc_velo_check_clear(slc_velo_check *check);

/* Compares one batch with its truth and adds to the totals. `matches` (one row per track) is reset and
 * filled. Events without particles add tracks to no rate. Allocates; not part of the hot chain. */
SLC_API slc_status slc_velo_check_run(slc_velo_check *check, const slc_velo_result *result,
                                      const slc_velo_truth *truth, slc_velo_matches *matches,
                                      slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
