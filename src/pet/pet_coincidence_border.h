/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose windows reach over the end of a range of time, told by the singles of that range alone where that can
 * be proved, and else by those and the windows that reach into it.
 */
#ifndef SLUICE_PET_COINCIDENCE_BORDER_H
#define SLUICE_PET_COINCIDENCE_BORDER_H

#include "pet/pet_coincidence_windows.h"

/* Singles from `low` to `high` after a single window's opener are in it; `low` is 0 of windows without a
 * delay. The rest as in slc_pet_coincidence_hand_on. SLC_ERR_MEMORY. */
typedef struct slc_pet_border {
    uint64_t low, high;
    slc_pet_range range;
    const int64_t *t;
    size_t n;
    const slc_pet_openers *before; /* NULL: not known */
} slc_pet_border;
slc_status slc_pet_border_openers(const slc_pet_border *border, slc_pet_openers *after, bool *known);

/* The delayed windows of those from before a range, as the open ones with which it begins. SLC_ERR_MEMORY. */
slc_status slc_pet_border_enter(slc_pet_windows_i64 *windows, const slc_pet_openers *before);

#endif
