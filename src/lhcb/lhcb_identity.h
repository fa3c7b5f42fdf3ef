/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: which events a batch holds, for chains that tell it with their results.
 */
#ifndef SLUICE_LHCB_IDENTITY_H
#define SLUICE_LHCB_IDENTITY_H

#include "lhcb/lhcb_places.h"

/* Fills `events` (reset first) with a row for each event of the batch, in its order. Room for as many rows
 * and events as the batch has is the caller's to reserve (slc_columns_reserve): SLC_ERR_CAPACITY otherwise.
 * Damage between the banks is stepped over and not counted: decoding does that. Allocates nothing; different
 * threads may work on different batches. */
slc_status slc_lhcb_identity_run(const slc_batch *batch, uint32_t input, slc_lhcb_events *events,
                                 slc_error *error);
/* The same, without a walk over banks of which somebody has noted ODIN's; `places` may be NULL. */
slc_status slc_lhcb_identity_noted(const slc_batch *batch, uint32_t input, const slc_lhcb_places *places,
                                   slc_lhcb_events *events, slc_error *error);

/* Sets all columns of a row to 0: SLC_LHCB_IDENTITY_NONE. */
void slc_lhcb_identity_none(slc_lhcb_events *events, size_t row);

/* Run, orbit and bunch crossing of the first ODIN bank among the banks of one event; as they were if there is
 * none. */
void slc_lhcb_identity_of(const void *banks, size_t size, slc_record *of);

#endif
