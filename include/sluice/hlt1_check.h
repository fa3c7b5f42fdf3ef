/* SPDX-License-Identifier: Apache-2.0
 *
 * Upstream and long tracks against simulation truth, with the definitions of LHCb's checkers (Allen's): a
 * track is a particle's if that owns 70 % of its hits in the VELO and in the SciFi, each where it has more
 * than two, and all but one of those in the UT where not both of these have. Where a track has hits in both,
 * those of a daughter count for its mother and the other way round. docs/howto/hlt1.md.
 */
#ifndef SLUICE_HLT1_CHECK_H
#define SLUICE_HLT1_CHECK_H

#include <sluice/hlt1_chain.h>
#include <sluice/velo_beam.h>
#include <sluice/velo_check.h>

#ifdef __cplusplus
extern "C" {
#endif

/* slc_velo_truth_read, and ids of hits in UT and SciFi. */
SLC_API slc_status slc_hlt1_truth_read(const slc_batch *batch, slc_velo_truth *truth, slc_velo_beyond *beyond,
                                       slc_faults *faults, slc_error *error);

/* What a particle must be to count; none is an electron. velo_ut: has VELO and UT, found by upstream tracks;
 * long: is long, found by long tracks; p5: p > 5 GeV; pt1: pT > 1 GeV. */
typedef enum slc_hlt1_category {
    SLC_HLT1_CATEGORY_VELO_UT = 0,
    SLC_HLT1_CATEGORY_VELO_UT_P5,
    SLC_HLT1_CATEGORY_LONG,
    SLC_HLT1_CATEGORY_LONG_P5,
    SLC_HLT1_CATEGORY_LONG_P5_PT1,
    SLC_HLT1_CATEGORIES
} slc_hlt1_category;
/* "velo_ut", "velo_ut_p5", "long", "long_p5", "long_p5_pt1"; with "_eta25" behind it for 2 < eta < 5. */
SLC_API const char *slc_hlt1_category_name(slc_hlt1_category category, bool eta25);

/* As slc_velo_category_counts. Purity is of all hits of a track: those that are the particle's (or, of long
 * tracks, its mother's or a daughter's), each once. Hit efficiency is that of the particle's own hits in the
 * UT, or in the SciFi of long tracks. */
typedef struct slc_hlt1_category_counts {
    uint64_t reconstructible, found, matched, clones;
    double purity_sum, hit_efficiency_sum;
} slc_hlt1_category_counts;

/* Ranges of momentum: 3 – 5 – 10 – 20 – 40 – 80 GeV and above. */
enum { SLC_HLT1_MOMENTUM_RANGES = 6 };

/* Long tracks of p > 3 GeV (as found) that are a muon's, another particle's, nobody's: how many are isMuon,
 * how many of all, isMuon or not, have a chi2 per degree of freedom below 3, 5 and 6 (slc_muon_ids). */
enum { SLC_HLT1_MUON_CUTS = 3 };
typedef struct slc_hlt1_muon_counts {
    uint64_t tracks, is_muon, below[SLC_HLT1_MUON_CUTS];
} slc_hlt1_muon_counts;

/* Zero-initialise; memory of its own is given back by _clear. */
typedef struct slc_hlt1_check {
    uint64_t events; /* with truth, without those that a global event cut left out: these are not compared */
    uint64_t upstream_tracks, upstream_ghosts;
    uint64_t long_tracks, long_ghosts;
    uint64_t trigger_tracks, trigger_ghosts; /* long, of p > 3 GeV and pT > 0.5 GeV */
    uint64_t ut_ids, ut_ids_found, scifi_ids, scifi_ids_found;
    uint64_t wrong_charges; /* of matched long tracks with p > 3 GeV */
    slc_hlt1_category_counts counts[SLC_HLT1_CATEGORIES][2];
    slc_histogram momentum; /* (p found - p) / p of matched long tracks, p > 3 GeV; fitted where they are */
    slc_histogram momentum_of[SLC_HLT1_MOMENTUM_RANGES];
    slc_histogram pull; /* (q/p found - q/p) / its error, of the same tracks where they are fitted */
    slc_histogram pull_of[SLC_HLT1_MOMENTUM_RANGES];
    slc_histogram pull_soft; /* of 1.5 to 3 GeV, which are in none of the others */
    slc_velo_efficiency_plot against_log_p, against_pt,
        against_eta; /* of long ones; log10 of p in MeV, GeV */
    slc_hlt1_muon_counts muons, others, ghosts;
    /* Of the last batch, until the next one: whose each long track is, a row in the batch's particles, -1 of
     * a ghost or of an event without truth. */
    int32_t *long_particle;
    size_t long_capacity;
    void *scratch;
    size_t scratch_bytes;
} slc_hlt1_check;

/* Compares a batch with its truth and adds it. SLC_ERR_USAGE if they are not of the same events. */
SLC_API slc_status slc_hlt1_check_run(slc_hlt1_check *check, const slc_hlt1_result *result,
                                      const slc_velo_truth *truth, const slc_velo_beyond *beyond,
                                      slc_error *error);
SLC_API void slc_hlt1_check_clear(slc_hlt1_check *check);

/* ---- without truth ------------------------------------------------------------------------------ */

/* What can be wrong though all comes out: hits or tables of the SciFi, to which few upstream tracks are
 * followed then, and the beam line. Zero-initialise; memory is given back by _clear. */
typedef struct slc_hlt1_watch {
    slc_velo_beam_sample beam;
    uint64_t upstream, followed; /* tracks, of events with hits in the SciFi */
} slc_hlt1_watch;
SLC_API slc_status slc_hlt1_watch_add(slc_hlt1_watch *watch, const slc_hlt1_result *result, slc_error *error);

/* "scifi" or "beam", and what does not agree with it, in words. */
enum { SLC_HLT1_DOUBTS = 2 };
typedef struct slc_hlt1_doubt {
    const char *what;
    char text[256];
} slc_hlt1_doubt;
/* Returns how many doubts there are in what was added, and begins anew. Of less than 200 upstream tracks none
 * about the SciFi, and none about the beam where tracks do not tell of one (slc_velo_beam_estimate). */
SLC_API size_t slc_hlt1_watch_judge(slc_hlt1_watch *watch, const slc_hlt1_geometry *geometry,
                                    slc_hlt1_doubt doubts[SLC_HLT1_DOUBTS]);
SLC_API void slc_hlt1_watch_clear(slc_hlt1_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
