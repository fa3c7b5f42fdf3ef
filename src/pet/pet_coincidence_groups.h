/* SPDX-License-Identifier: Apache-2.0
 *
 * Windows found by several threads, each on a part of the singles, with the rows in the order of one thread;
 * and groups of singles to pairs. Groups come in lists, one after the other, as the threads that found them
 * left them; each list is written by the thread that has it in its cache.
 */
#ifndef SLUICE_PET_COINCIDENCE_GROUPS_H
#define SLUICE_PET_COINCIDENCE_GROUPS_H

#include "base/team.h"
#include "pet/pet_coincidence_windows.h"

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

typedef struct slc_pet_parts slc_pet_parts;
/* SLC_ERR_MEMORY. */
slc_status slc_pet_parts_open(uint32_t threads, slc_pet_parts **parts);
/* By the threads of a team as large, instead of its own. */
void slc_pet_parts_use(slc_pet_parts *parts, slc_team *team);
void slc_pet_parts_close(slc_pet_parts *parts); /* NULL is allowed */
slc_team *slc_pet_parts_team(const slc_pet_parts *parts);

/* As slc_pet_windows_run_near for windows without a delay, and as _run_later for all openers of delayed ones.
 * Where a single's window depends on those before it and windows hold too many for that to be forgotten soon
 * (pet_coincidence_enter.h), fewer threads take part. Groups stay where the threads found them: `lists` names
 * them in order, and has room for as many as there are threads. */
slc_status slc_pet_parts_run(slc_pet_parts *parts, slc_pet_windows_i64 *w, const slc_pet_near *near,
                             slc_pet_rule *rule, const int64_t *t, size_t n, size_t i, bool last,
                             size_t *next, slc_pet_list *lists, uint32_t *n_lists);
/* As slc_pet_windows_disorder_i64. */
size_t slc_pet_parts_disorder(slc_pet_parts *parts, const int64_t *t, size_t n);
/* Appends the groups of lists to a collection. SLC_ERR_MEMORY. */
slc_status slc_pet_parts_append(const slc_pet_list *lists, uint32_t n, slc_pet_groups *groups);

#endif
