/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: stages that run one after the other share one team of threads. With teams of their own
 * the threads of a stage that has ended would still look for work for a moment, on the processors that those
 * of the next one need.
 */
#ifndef SLUICE_PET_TEAM_H
#define SLUICE_PET_TEAM_H

#include "base/team.h"

#include <sluice/pet_chain.h>

/* The stage gives up its own threads for those of a team as large, which the caller closes behind it. */
void slc_pet_convert_use(slc_pet_convert *stage, slc_team *team);
void slc_pet_sort_use(slc_pet_sort *stage, slc_team *team);
void slc_pet_coincidence_use(slc_pet_coincidence *stage, slc_team *team);

#endif
