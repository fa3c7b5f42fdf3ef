/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of singles to pairs. Groups come in lists, one behind the other, as the threads that found them left
 * them; each list is written by the thread that has it in its cache.
 */
#ifndef SLUICE_PET_COINCIDENCE_PAIRS_H
#define SLUICE_PET_COINCIDENCE_PAIRS_H

#include "base/team.h"

#include <sluice/pet_types.h>

/* The singles that groups name by their places, and what their pairs have in common. */
typedef struct slc_pet_pairs_of {
    const int64_t *time;
    const uint32_t *crystal;
    const float *energy;
    uint64_t delay_ps; /* is not in dt */
    bool delayed;      /* pairs of the first single with each other one; else all pairs */
} slc_pet_pairs_of;

typedef struct slc_pet_list {
    const slc_pet_groups *groups;
    size_t row; /* of its first pair; filled by slc_pet_pairs_write */
} slc_pet_list;

/* Appends the pairs of n lists. team: NULL with one thread. SLC_ERR_MEMORY leaves the pairs as they were. */
slc_status slc_pet_pairs_write(const slc_pet_pairs_of *of, slc_pet_list *lists, uint32_t n, slc_team *team,
                               slc_pet_coincidences *pairs);

#endif
