/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 6, on request: where tracks come from. The same quantities as selections ask for one by one.
 */
#ifndef SLUICE_VELO_IMPACT_H
#define SLUICE_VELO_IMPACT_H

#include <sluice/velo_types.h>

/* Fills `impacts` with a row for each state. Never allocates. SLC_ERR_USAGE where the numbers of events
 * differ, SLC_ERR_CAPACITY where rows or events do not fit. */
slc_status slc_velo_impact_run(const slc_velo_states *beam, const slc_velo_primaries *primaries,
                               float beam_x_mm, float beam_y_mm, slc_velo_impacts *impacts);

#endif
