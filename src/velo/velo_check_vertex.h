/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the part of the truth check that is about vertices and impact parameters.
 */
#ifndef SLUICE_VELO_CHECK_VERTEX_H
#define SLUICE_VELO_CHECK_VERTEX_H

#include "velo/velo_check_resolution.h"

void slc_velo_check_init_vertices(slc_velo_check *check);

/* Compares the primaries of an event with its true collisions; an event without any counts nowhere. */
void slc_velo_check_vertices(slc_velo_check *check, const slc_velo_result *result,
                             const slc_velo_truth *truth, uint32_t event);

/* Adds the distance in x and in y between the track and its particle's origin. */
void slc_velo_check_impact(slc_velo_check *check, const slc_velo_match *match);

#endif
