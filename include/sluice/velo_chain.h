/* SPDX-License-Identifier: Apache-2.0
 *
 * The VELO from raw bytes to fitted tracks and primary vertices: the stages in order. Open once, reserve
 * before each batch (which allocates only while batches grow), run, read the result, repeat, close.
 */
#ifndef SLUICE_VELO_CHAIN_H
#define SLUICE_VELO_CHAIN_H

#include <sluice/velo_cluster.h>
#include <sluice/velo_decode.h>
#include <sluice/velo_fit.h>
#include <sluice/velo_geometry.h>
#include <sluice/velo_retina.h>
#include <sluice/velo_track.h>
#include <sluice/velo_types.h>
#include <sluice/velo_vertex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_velo_config {
    slc_velo_track_config track;
    slc_velo_fit_config fit;
    slc_velo_vertex_config vertex; /* its beam line and target are set by the chain: those of fit and of this;
                                    * so are track's */
    bool strict;                   /* the first fault is an error (SLC_ERR_STRICT) */
    slc_velo_banks banks;          /* that hits are made of. Default SLC_VELO_BANKS_AUTO */
    /* Keep the super-pixels in the result. Without, which is the default, the raw banks become hits without
     * a list of them (slc_velo_cluster_run_banks); all else in the result is the same. */
    bool keep_superpixels;
    slc_simd_target target; /* for that step; a result of slc_simd_choose(). Default SLC_SIMD_AUTO */
} slc_velo_config;
SLC_API void slc_velo_config_default(slc_velo_config *config);

/* The stages whose time is taken. */
typedef enum slc_velo_stage {
    SLC_VELO_STAGE_CLUSTER = 0, /* from bytes to hits */
    SLC_VELO_STAGE_TRACK,
    SLC_VELO_STAGE_FIT,
    SLC_VELO_STAGE_VERTEX,
    SLC_VELO_STAGES
} slc_velo_stage;

/* What a batch becomes. Zero-initialise; the chain fills it, the caller clears it. Indices inside it are per
 * event, so that they do not depend on how events were cut into batches. */
typedef struct slc_velo_result {
    slc_velo_superpixels superpixels; /* without rows, unless keep_superpixels is set and hits are of them */
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
        n_cut_events;  /* events with more hits than track.max_event_hits: they have hits, but no tracks */
    slc_faults faults; /* of this batch */
    double seconds[SLC_VELO_STAGES]; /* of wall time in each stage, for this batch */
} slc_velo_result;
SLC_API void slc_velo_result_clear(slc_velo_result *result);
/* One number for super-pixels, hits, tracks, states and vertices, chained from `seed` (SLC_CHECKSUM_START for
 * the first batch). It is another one where the super-pixels are not kept. */
SLC_API uint64_t slc_velo_result_checksum(const slc_velo_result *result, uint64_t seed);

typedef struct slc_velo_chain slc_velo_chain;

/* `geometry` is copied; NULL means the ideal one. SLC_ERR_USAGE for a configuration out of range, and what
 * slc_velo_geometry_check says of the geometry, named in *error. */
SLC_API slc_status slc_velo_chain_open(const slc_velo_config *config, const slc_velo_geometry *geometry,
                                       slc_velo_chain **chain, slc_error *error);
SLC_API void slc_velo_chain_close(slc_velo_chain *chain);
/* Another beam line (parallel to z) for what is run from here on, in place of that of fit: velo_beam.h tells
 * where it is. SLC_ERR_USAGE, and nothing changed, where it is not within 1 m of x = y = 0. */
SLC_API slc_status slc_velo_chain_set_beam(slc_velo_chain *chain, float x_mm, float y_mm, slc_error *error);

/* Makes room in the chain and the result for this batch. */
SLC_API slc_status slc_velo_chain_reserve(slc_velo_chain *chain, const slc_batch *batch,
                                          slc_velo_result *result);
/* Decodes, clusters, tracks, fits and finds vertices. Does not allocate. One chain serves one thread at a
 * time. */
SLC_API slc_status slc_velo_chain_run(slc_velo_chain *chain, const slc_batch *batch, slc_velo_result *result,
                                      slc_error *error);

/* The same for events that come as hits: result->hits has been filled by the caller (sorted by module). */
SLC_API slc_status slc_velo_chain_reserve_hits(slc_velo_chain *chain, slc_velo_result *result);
SLC_API slc_status slc_velo_chain_run_hits(slc_velo_chain *chain, slc_velo_result *result, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
