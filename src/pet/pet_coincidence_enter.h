/* SPDX-License-Identifier: Apache-2.0
 *
 * Single delayed windows from a single in the middle on, without all that is before. Whether a single opens
 * one depends on those one delay before it, and these on those another delay before. Where windows hold few
 * singles, that is soon forgotten.
 */
#ifndef SLUICE_PET_COINCIDENCE_ENTER_H
#define SLUICE_PET_COINCIDENCE_ENTER_H

#include "pet/pet_coincidence_windows.h"

/* Fills the open windows of `w`, whose limits are set, with what singles before t[c] leave there, as if all
 * of them had been walked over; t[begin] is the first that may be looked at. *known is false where too few of
 * them are enough to tell: `w` has no open windows then. SLC_ERR_MEMORY. */
slc_status slc_pet_windows_enter(slc_pet_windows_i64 *w, const int64_t *t, size_t n, size_t begin, size_t c,
                                 bool *known);

#endif
