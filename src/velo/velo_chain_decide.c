/* SPDX-License-Identifier: Apache-2.0
 *
 * The last stage of the VELO's chain, with a selection: decisions about events, without prescales, which need
 * numbers of events that a chain does not know. On a GPU they come with the vertices, and what they are made
 * of stays there; those of the processor's events are put between them.
 */
#include "base/columns.h"
#include "velo/velo_chain_part.h"

#include <stdlib.h>

struct slc_velo_deciding {
    slc_velo_selection selection; /* with the chain's beam line, if it has none of its own */
    slc_velo_sorted_selection sorted;
    slc_velo_select_scratch scratch;
};

void slc_velo_decide_beam(slc_velo_chain *chain)
{
    struct slc_velo_deciding *d = chain->deciding;
    if (d != NULL && !d->selection.has_beam) {
        d->selection.beam_x_mm = chain->config.fit.beam_x_mm;
        d->selection.beam_y_mm = chain->config.fit.beam_y_mm;
        (void)slc_velo_select_sort(&d->selection, &d->sorted, NULL); /* it was one */
    }
}

slc_status slc_velo_decide_open(slc_velo_chain *chain, const slc_velo_selection *selection, slc_error *error)
{
    if (selection == NULL) {
        return SLC_OK;
    }
    struct slc_velo_deciding *d = calloc(1, sizeof *d);
    chain->deciding = d;
    if (d == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a selection");
    }
    const slc_status status = slc_velo_select_sort(selection, &d->sorted, error);
    if (status == SLC_OK) {
        d->selection = *selection;
        chain->config.selection = &d->selection; /* the caller's may go */
        for (uint32_t k = 0; k < selection->n_lines; k++) {
            d->selection.lines[k].prescale = 1;
        }
        slc_velo_decide_beam(chain);
    }
    return status;
}

void slc_velo_decide_close(slc_velo_chain *chain)
{
    if (chain->deciding != NULL) {
        slc_velo_select_clear(&chain->deciding->scratch);
        free(chain->deciding);
    }
}

const slc_velo_sorted_selection *slc_velo_decide_lines(const slc_velo_chain *chain)
{
    return chain->deciding != NULL ? &chain->deciding->sorted : NULL;
}

slc_status slc_velo_decide_reserve(slc_velo_chain *chain, size_t tracks_of_event, uint32_t events,
                                   slc_velo_result *result)
{
    slc_columns_reset(&result->decisions);
    if (chain->deciding == NULL) {
        return SLC_OK;
    }
    slc_status status = slc_velo_select_reserve(&chain->deciding->scratch, tracks_of_event, NULL);
    if (status == SLC_OK && chain->device != NULL) {
        status = slc_columns_reserve(&slc_velo_decisions_schema, &chain->device->decisions, events, events);
    }
    return status == SLC_OK
               ? slc_columns_reserve(&slc_velo_decisions_schema, &result->decisions, events, events)
               : status;
}

/* What the device decided, and in between what the processor did. */
static slc_status join(slc_velo_device *d, const slc_velo_selection *selection,
                       slc_velo_select_scratch *scratch, uint32_t n, slc_velo_decisions *to)
{
    slc_columns_reset(to);
    if (to->head.capacity < n || to->head.event_capacity < n) {
        return SLC_ERR_CAPACITY;
    }
    const slc_status status = d->any_own
                                  ? slc_velo_select_run(selection, &d->hits, &d->tracks, &d->beam,
                                                        &d->primaries, 0, scratch, &d->decisions, NULL, NULL)
                                  : SLC_OK;
    for (uint32_t e = 0; e < n && status == SLC_OK; e++) {
        const bool own = d->own[e] != 0;
        const slc_velo_part *part = slc_velo_part_of(d, e);
        const slc_velo_cuda_decision *decided = part->out.decided + (e - part->first);
        to->lines[e] = own ? d->decisions.lines[e] : decided->lines;
        to->limited[e] = own ? d->decisions.limited[e] : decided->limited;
        to->head.size++;
        slc_columns_end_event(to);
    }
    return status;
}

slc_status slc_velo_decide(slc_velo_chain *chain, slc_velo_result *result)
{
    struct slc_velo_deciding *d = chain->deciding;
    slc_velo_decisions *to = &result->decisions;
    const uint32_t n = result->hits.head.n_events;
    if (d == NULL) {
        return SLC_OK;
    }
    const slc_status status = chain->device != NULL
                                  ? join(chain->device, &d->selection, &d->scratch, n, to)
                                  : slc_velo_select_run(&d->selection, &result->hits, &result->tracks,
                                                        &result->beam, &result->primaries, 0, &d->scratch, to,
                                                        NULL, NULL);
    /* What the global event cut left out is for no line, not even for one that asks for nothing. */
    for (uint32_t e = 0; e < n && status == SLC_OK && result->n_gec_events > 0; e++) {
        if (result->cuts.cut[e] != 0) {
            to->lines[e] = to->limited[e] = 0;
        }
    }
    return status;
}
