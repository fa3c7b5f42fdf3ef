/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's pixels from raw words to calibrated clusters: the stages in order, on a CPU core or a GPU, with the
 * same results. Open once, reserve before each batch (which allocates only while batches grow), run, read the
 * result, repeat, close.
 *
 * An event of a batch is a 32-bit number of fragments of the front-end drivers (FED), and for each its FED id
 * and its size in bytes (32 bits each) before its bytes: one or more 64-bit headers, 32-bit data words, one
 * or more 64-bit trailers (docs/formats/cms-raw.md). All little-endian.
 */
#ifndef SLUICE_CMS_CHAIN_H
#define SLUICE_CMS_CHAIN_H

#include <sluice/cms_types.h>
#include <sluice/pixel.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- configuration ----------------------------------------------------------------------------- */

typedef enum slc_cms_phase { SLC_CMS_PHASE1 = 1, SLC_CMS_PHASE2 = 2 } slc_cms_phase;

/* Fragments to digis: the decoder. */
typedef struct slc_cms_decode_config {
    uint32_t modules;      /* indices below are unpacked; default SLC_CMS_MODULES_PHASE1 */
    const uint8_t *unpack; /* of each module: 0 leaves it out; NULL (default): all. The caller's. */
} slc_cms_decode_config;

/* ADC counts to electrons. Phase 1: pedestal and gain of each column and block of 80 rows. Phase 2: a charge
 * per count with a second slope above a kink. */
typedef struct slc_cms_calibrate_config {
    slc_cms_phase phase;
    /* Phase 1: electrons = max(least_e, (adc - pedestal) · gain · factor + offset), truncated; layer 1 has a
     * factor and an offset of its own. Defaults 50, -670 in layer 1, 47, -60 elsewhere, 100. */
    float factor_layer1, offset_layer1_e, factor, offset_e;
    uint32_t least_e;
    /* Phase 2: below `kink` counts electrons = (adc + 1/2) · per_count_e; from there on, each count is worth
     * 2^slope of these, as the read-out has divided there: (kink + (adc - kink + 1/2) · 2^slope) ·
     * per_count_e; slope 0 goes on linearly. Defaults 600, 2, 8. */
    float per_count_e;
    uint32_t slope, kink;
} slc_cms_calibrate_config;

/* Digis to clusters: 8-connected pixels of a module, as CMS's countModules and findClus do it
 * (RecoLocalTracker/SiPixelClusterizer, "gpuClustering.h"), with a defined order and no limits. */
typedef struct slc_cms_cluster_config {
    uint32_t modules;       /* digis of other indices are none; default SLC_CMS_MODULES_PHASE1, up to 4096 */
    uint32_t rows, columns; /* of a module, at most 2048 each; default 160, 416 */
    /* A cluster is kept where its charge is at least (or, with `above`, more than) this; layer 1: modules
     * below 96 when phase 1. Defaults 2000 and 4000 electrons, "at least"; 4000 for both in phase 2. */
    uint32_t min_charge_layer1_e, min_charge_e;
    bool above;
    /* Digis with the same coordinates in a module. All are in the cluster. KEEP (default) counts every one as
     * a pixel with its charge; SUM counts one pixel with the sum; FIRST and LARGEST one pixel with the charge
     * of the first, or the largest (of equals the first). */
    slc_pixel_duplicates duplicates;
    /* A module with more valid digis is processed whole, by a slower path on a GPU; or, with `truncate`, its
     * first max_module_digis alone are, the others are in no cluster, and SLC_FAULT_CMS_MODULE_CROWDED tells
     * (offset: the first digi left out). Default 6000, whole. */
    uint32_t max_module_digis;
    bool truncate;
} slc_cms_cluster_config;

enum { SLC_CMS_ERROR_SIZES = 4 };

/* Clusters to positions: CMS's fast estimate ("CPE fast"): the middle between the inner edges of the first
 * and last row (column), moved by how the charge is shared between these, for a track from the origin. */
typedef struct slc_cms_position_config {
    float pitch_x_um, pitch_y_um; /* default 100, 150 */
    float thickness_um;           /* default 285 */
    uint32_t n_planes;            /* 0: all modules are like plane_default */
    const slc_cms_plane *planes;  /* the caller's; modules beyond are like plane_default */
    slc_cms_plane plane_default;
    /* NULL: positions are those in planes alone. Else the caller's, of all modules; pitches, planes and
     * errors are its own, so that n_planes is to be 0, and the result has places. Detector ids of
     * its modules are those of the cabling, if there is one: else SLC_ERR_USAGE. */
    const slc_cms_geometry *geometry;
    /* By size 1, 2, 3 and more rows (columns). Defaults: what sim_cms' tracks give
     * (docs/howto/cms-pixels.md). */
    float error_x_um[SLC_CMS_ERROR_SIZES - 1], error_y_um[SLC_CMS_ERROR_SIZES - 1];
} slc_cms_position_config;

/* Collections of a result, as bits. */
enum {
    SLC_CMS_WANT_DIGIS = 1 << 0,
    SLC_CMS_WANT_MODULES = 1 << 1,
    SLC_CMS_WANT_CLUSTERS = 1 << 2, /* and, with a geometry, their places */
    SLC_CMS_WANT_COUNTS = 1 << 3,   /* of words, modules, clusters, pixels: always there; alone: no rows */
    SLC_CMS_WANT_ALL = (1 << 4) - 1
};

typedef struct slc_cms_config {
    size_t size; /* of this struct; set by _config_default */
    slc_cms_decode_config decode;
    slc_cms_calibrate_config calibrate;
    slc_cms_cluster_config cluster;
    slc_cms_position_config position;
    bool calibrated; /* the digis' adc are electrons already: no calibration */
    bool strict;     /* the earliest event's first fault is an error (SLC_ERR_STRICT) */
    slc_exec exec;   /* this core, or a GPU; threads are whoever opens several chains */
    /* Which collections of the result are wanted (SLC_CMS_WANT_…); 0: all. The others have events and no
     * rows, but for digis that the caller gave. A GPU does not copy them back. */
    uint32_t wanted;
    bool checksum; /* the result's is to be computed: on a GPU there, of what is not wanted, too */
} slc_cms_config;
/* `phase` sets what differs: calibration, number of modules, charge cuts. */
SLC_API void slc_cms_config_default(slc_cms_config *config, slc_cms_phase phase, size_t size);
#define slc_cms_config_default(config, phase) slc_cms_config_default(config, (phase), sizeof *(config))

/* ---- results ----------------------------------------------------------------------------------- */

/* What the words were. */
typedef struct slc_cms_word_counts {
    uint64_t words;   /* data words, all below included */
    uint64_t empty;   /* 0: padding */
    uint64_t errors;  /* error words of the hardware (roc 25 … 31) */
    uint64_t invalid; /* link, chip or pixel that cannot be */
    uint64_t bad_roc; /* of chips marked bad, or modules that are not unpacked */
    uint64_t digis;
} slc_cms_word_counts;

typedef struct slc_cms_calibrate_counts {
    uint64_t dead, noisy; /* digis of such columns */
    uint64_t beyond;      /* digis of modules that the gains do not have */
} slc_cms_calibrate_counts;

typedef enum slc_cms_stage {
    SLC_CMS_STAGE_DECODE = 0,
    SLC_CMS_STAGE_CALIBRATE,
    SLC_CMS_STAGE_CLUSTER,
    SLC_CMS_STAGE_POSITION,
    SLC_CMS_STAGES
} slc_cms_stage;

/* What a batch becomes. Zero-initialise; the chain fills it, the caller clears it. Indices count from 0 in
 * their event. */
typedef struct slc_cms_result {
    slc_cms_digis digis;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_cms_places places; /* of the clusters, if there is a geometry */
    uint64_t first_event;
    uint64_t n_fragments; /* sound ones; 0 for events that come as digis */
    slc_cms_word_counts words;
    slc_cms_calibrate_counts columns;
    slc_faults faults;
    double seconds[SLC_CMS_STAGES]; /* on a GPU all but places is in the first */
    uint64_t n_modules, n_clusters; /* that were found, wanted or not */
    uint64_t n_pixels;              /* of the clusters: the sum of their n_pixels */
    uint64_t checksum; /* with config.checksum: slc_cms_result_checksum(…, 0) of all, wanted or not */
} slc_cms_result;
SLC_API void slc_cms_result_clear(slc_cms_result *result);
/* What the events add to the checksum of a run (base.h) in which `before` events are before them: digis,
 * modules and clusters, and places if there are any. It depends on neither device nor target. */
SLC_API uint64_t slc_cms_result_checksum(const slc_cms_result *result, uint64_t before);

/* ---- the chain --------------------------------------------------------------------------------- */

typedef struct slc_cms_chain slc_cms_chain;
/* `cabling` and `gains` (NULL in phase 2 and with `calibrated`) are copied. SLC_ERR_USAGE for a configuration
 * out of range, SLC_ERR_UNSUPPORTED if there is no such device: named in *error. */
SLC_API slc_status slc_cms_chain_open(const slc_cms_config *config, const slc_cms_cabling *cabling,
                                      const slc_cms_gains *gains, slc_cms_chain **chain, slc_error *error);
SLC_API void slc_cms_chain_close(slc_cms_chain *chain); /* NULL is allowed */

SLC_API slc_status slc_cms_chain_reserve(slc_cms_chain *chain, const slc_batch *batch, slc_cms_result *result,
                                         slc_error *error);
/* Does not allocate. One chain serves one thread at a time. */
SLC_API slc_status slc_cms_chain_run(slc_cms_chain *chain, const slc_batch *batch, slc_cms_result *result,
                                     slc_error *error);

/* The same for events that come as digis: result->digis has been filled by the caller; `cabling` may have
 * been NULL. Calibration replaces the digis' adc and may take their module away: digis that have been through
 * it are not to go through it again, unless `calibrated` is set. */
SLC_API slc_status slc_cms_chain_reserve_digis(slc_cms_chain *chain, slc_cms_result *result,
                                               slc_error *error);
SLC_API slc_status slc_cms_chain_run_digis(slc_cms_chain *chain, slc_cms_result *result, slc_error *error);

/* Fragments and data words of a batch that are sound, as the first stage of the chain finds them, with its
 * faults: for who wants no digis. */
SLC_API void slc_cms_count_fragments(const slc_batch *batch, uint64_t *fragments, uint64_t *words,
                                     slc_faults *faults);

/* Which events they are: resets `events`, which has room for a row and an event for each (SLC_ERR_CAPACITY).
 * Run and luminosity section are not in the fragments of this detector. */
SLC_API slc_status slc_cms_identify(const slc_batch *batch, slc_cms_events *events);

#ifdef __cplusplus
}
#endif
#endif
