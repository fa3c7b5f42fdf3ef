/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the sums of a picture on a processor.
 */
#ifndef SLUICE_PET_LOOK_SUM_H
#define SLUICE_PET_LOOK_SUM_H

#include "base/team.h"
#include "pet/pet_look_work.h"

/* As the calls of pet_look_work.h. `room`: parts · voxels sums, where parts are the team's threads. */
void slc_pet_look_sum_sensitivity(const slc_pet_look_work *work, slc_team *team, uint32_t lines,
                                  uint64_t *room);
void slc_pet_look_iterate(const slc_pet_look_work *work, slc_team *team, const float *sensitivity,
                          uint32_t iterations, uint64_t *room, float *image, uint64_t *missed);

#endif
