/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the flow: which inputs, and which of their events, a part of a run is (slc_flow_config.part). All
 * depends on the paths and the sizes of the files alone, so that processes that know nothing of each other
 * cut alike.
 */
#ifndef SLUICE_RUN_PART_H
#define SLUICE_RUN_PART_H

#include <sluice/run_flow.h>

typedef struct slc_run_part {
    uint32_t first, end;  /* inputs first … end - 1 */
    uint64_t from;        /* where the part begins in the first of them */
    uint64_t first_event; /* the number, through all inputs, of its first; 0 unless it is asked for */
    uint64_t until;       /* where it ends in the last; UINT64_MAX: with it */
} slc_run_part;

/* SLC_ERR_USAGE for a part that there is not, or of inputs that cannot be cut, with the reason. */
slc_status slc_run_part_of(const slc_flow_config *config, const slc_flow_chain *chain, slc_run_part *part,
                           slc_error *error);
/* What of an input the chain is to read: sets config's `from` and `until`. */
void slc_run_part_place(const slc_run_part *part, uint32_t input, slc_flow_config *config);

#endif
