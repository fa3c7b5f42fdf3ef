/* SPDX-License-Identifier: Apache-2.0
 * The global event cut: who has too many clusters. */
#include "velo/velo_gec.h"

#include "base/columns.h"

#include <stdlib.h>

void slc_velo_gec_clear(slc_velo_gec_scratch *scratch)
{
    free(scratch->clusters);
    *scratch = (slc_velo_gec_scratch){.clusters = NULL};
}

static bool is_on(const slc_velo_gec_config *gec)
{
    return gec->max_velo > 0 || gec->max_ut > 0 || gec->max_scifi > 0 || gec->max_ut_scifi > 0;
}

static unsigned over(uint64_t n, uint32_t limit, unsigned bit)
{
    return limit > 0 && n > limit ? bit : 0;
}

static void append(slc_velo_event_cuts *cuts, uint32_t velo, uint32_t ut, uint32_t scifi, unsigned cut)
{
    const size_t row = cuts->head.size++;
    cuts->velo_clusters[row] = velo;
    cuts->ut_clusters[row] = ut;
    cuts->scifi_clusters[row] = scifi;
    cuts->cut[row] = (uint8_t)cut;
    slc_columns_end_event(cuts);
}

/* Needs room for the batch's events. */
static void cut_events(const slc_velo_config *config, const slc_batch *batch, slc_velo_gec_scratch *scratch,
                       slc_velo_event_cuts *cuts, slc_faults *faults)
{
    const slc_velo_gec_config *gec = &config->gec;
    const unsigned tell = (gec->max_ut > 0 || gec->max_ut_scifi > 0 ? SLC_LHCB_TELL_UT : 0U) |
                          (gec->max_scifi > 0 || gec->max_ut_scifi > 0 ? SLC_LHCB_TELL_SCIFI : 0U);
    slc_lhcb_clusters_count(batch, tell, scratch->clusters, faults);
    slc_columns_reset(cuts);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const slc_lhcb_clusters *n = &scratch->clusters[e];
        const bool retina = config->banks == SLC_VELO_BANKS_RETINA ||
                            (config->banks == SLC_VELO_BANKS_AUTO && n->superpixels == 0);
        const uint32_t velo = retina ? n->retina : n->superpixels;
        append(cuts, velo, n->ut, n->scifi,
               over(velo, gec->max_velo, SLC_VELO_CUT_BY_VELO) |
                   over(n->ut, gec->max_ut, SLC_VELO_CUT_BY_UT) |
                   over(n->scifi, gec->max_scifi, SLC_VELO_CUT_BY_SCIFI) |
                   over((uint64_t)n->ut + n->scifi, gec->max_ut_scifi, SLC_VELO_CUT_BY_UT_SCIFI));
    }
}

slc_status slc_velo_gec_reserve(const slc_velo_config *config, const slc_batch *batch,
                                slc_velo_gec_scratch *scratch, slc_velo_event_cuts *cuts, const uint8_t **cut)
{
    const uint32_t n_events = batch->n_events;
    slc_faults found = {.n_kinds = 0}; /* for _run to tell */
    *cut = NULL;
    scratch->counted = NULL;
    if (!is_on(&config->gec)) {
        return SLC_OK;
    }
    if (n_events > scratch->capacity) {
        slc_lhcb_clusters *clusters = realloc(scratch->clusters, n_events * sizeof *clusters);
        if (clusters == NULL) {
            return SLC_ERR_MEMORY;
        }
        scratch->clusters = clusters;
        scratch->capacity = n_events;
    }
    const slc_status status = slc_columns_reserve(&slc_velo_event_cuts_schema, cuts, n_events, n_events);
    if (status == SLC_OK) {
        cut_events(config, batch, scratch, cuts, &found);
        scratch->counted = slc_faults_total(&found) == 0 ? batch : NULL;
        scratch->sequence = batch->sequence;
        *cut = cuts->cut;
    }
    return status;
}

slc_status slc_velo_gec_run(const slc_velo_config *config, const slc_batch *batch,
                            slc_velo_gec_scratch *scratch, slc_velo_event_cuts *cuts, slc_faults *faults,
                            const uint8_t **cut)
{
    *cut = NULL;
    if (!is_on(&config->gec)) {
        return SLC_OK;
    }
    if (cuts->head.block == NULL || cuts->head.capacity < batch->n_events ||
        cuts->head.event_capacity < batch->n_events || scratch->capacity < batch->n_events) {
        return SLC_ERR_CAPACITY;
    }
    if (scratch->counted != batch || scratch->sequence != batch->sequence ||
        cuts->head.n_events != batch->n_events) {
        cut_events(config, batch, scratch, cuts, faults);
    }
    scratch->counted = NULL;
    *cut = cuts->cut;
    return SLC_OK;
}

slc_status slc_velo_gec_pass(const slc_velo_config *config, uint32_t n_events, slc_velo_event_cuts *cuts)
{
    if (!is_on(&config->gec)) {
        return SLC_OK;
    }
    const slc_status status = slc_columns_reserve(&slc_velo_event_cuts_schema, cuts, n_events, n_events);
    if (status == SLC_OK) {
        slc_columns_reset(cuts);
        for (uint32_t e = 0; e < n_events; e++) {
            append(cuts, 0, 0, 0, 0);
        }
    }
    return status;
}

uint64_t slc_velo_gec_count(const slc_velo_event_cuts *cuts)
{
    uint64_t n = 0;
    for (size_t e = 0; e < cuts->head.size; e++) {
        n += cuts->cut[e] != 0;
    }
    return n;
}
