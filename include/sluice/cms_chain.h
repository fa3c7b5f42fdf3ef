/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's pixels from raw words to calibrated clusters: the stages in order, on a CPU core or a GPU, with the
 * same results. Open once, reserve before each batch (which allocates only while batches grow), run, read the
 * result, repeat, close.
 */
#ifndef SLUICE_CMS_CHAIN_H
#define SLUICE_CMS_CHAIN_H

#include <sluice/cms_calibrate.h>
#include <sluice/cms_cluster.h>
#include <sluice/cms_decode.h>
#include <sluice/cms_position.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_cms_config {
    slc_cms_decode_config decode;
    slc_cms_calibrate_config calibrate;
    slc_cms_cluster_config cluster;
    slc_cms_position_config position;
    bool calibrated; /* the digis' adc are electrons already: no calibration */
    /* The result has no rows of digis, only of modules and clusters: on a GPU the digis then stay there,
     * which are most of what would be copied. Not of digis that the caller gave. */
    bool drop_digis;
    bool strict;        /* the first fault is an error (SLC_ERR_STRICT) */
    const char *device; /* NULL or "cpu": this core; "cuda" or "cuda:N": a GPU (cuda.h) */
} slc_cms_config;
/* `phase` sets what differs: calibration, number of modules, charge cuts. */
SLC_API void slc_cms_config_default(slc_cms_config *config, slc_cms_phase phase);

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
    uint64_t first_event;
    uint64_t n_fragments; /* sound ones; 0 for events that come as digis */
    slc_cms_word_counts words;
    slc_cms_calibrate_counts columns;
    slc_faults faults;
    double seconds[SLC_CMS_STAGES]; /* on a GPU all is in the first */
} slc_cms_result;
SLC_API void slc_cms_result_clear(slc_cms_result *result);
/* One number for all columns of digis, modules and clusters, chained from `seed` (SLC_CHECKSUM_START first).
 * It depends on neither device, target nor batch. */
SLC_API uint64_t slc_cms_result_checksum(const slc_cms_result *result, uint64_t seed);

typedef struct slc_cms_chain slc_cms_chain;
/* `cabling` and `gains` (NULL in phase 2 and with `calibrated`) are copied. SLC_ERR_USAGE for a configuration
 * out of range, SLC_ERR_UNSUPPORTED where there is no such device: named in *error. */
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

#ifdef __cplusplus
}
#endif
#endif
