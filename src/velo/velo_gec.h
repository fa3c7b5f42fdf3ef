/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 0, on request: the global event cut. Events with more clusters than somebody wants to reconstruct are
 * left out by the sizes of their banks, before anything is decoded.
 */
#ifndef SLUICE_VELO_GEC_H
#define SLUICE_VELO_GEC_H

#include "lhcb/lhcb_clusters.h"

#include <sluice/velo_chain.h>

/* Zero-initialise. */
typedef struct slc_velo_gec_scratch {
    slc_lhcb_clusters *clusters; /* of the events of a batch */
    uint32_t capacity;
    const slc_batch *counted; /* the batch that _reserve has counted without finding a fault; NULL: none */
    uint64_t sequence;
} slc_velo_gec_scratch;
void slc_velo_gec_clear(slc_velo_gec_scratch *scratch);

/* Makes room for the batch in the scratch and in `cuts`, and counts, so that none has to be made for what is
 * cut. *cut: a byte for each event, not 0 if it is left out; NULL without a limit. */
slc_status slc_velo_gec_reserve(const slc_velo_config *config, const slc_batch *batch,
                                slc_velo_gec_scratch *scratch, slc_velo_event_cuts *cuts,
                                const uint8_t **cut);

/* The same, allocating nothing; does not count again what _reserve did last. Faults of banks that cannot be
 * counted are those of the detectors that have a limit. SLC_ERR_CAPACITY without room. */
slc_status slc_velo_gec_run(const slc_velo_config *config, const slc_batch *batch,
                            slc_velo_gec_scratch *scratch, slc_velo_event_cuts *cuts, slc_faults *faults,
                            const uint8_t **cut);

/* So many events that have no banks, and pass; nothing without a limit. */
slc_status slc_velo_gec_pass(const slc_velo_config *config, uint32_t n_events, slc_velo_event_cuts *cuts);

/* How many are cut. */
uint64_t slc_velo_gec_count(const slc_velo_event_cuts *cuts);

/* Is an event of a result left out? */
static inline bool slc_velo_gec_cuts(const slc_velo_result *result, uint32_t event)
{
    return result->n_gec_events > 0 && result->cuts.cut[event] != 0;
}

#endif
