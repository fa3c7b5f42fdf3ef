/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, for tests and measurements: the five synthetic events by which CMS's clusterers are
 * checked, and what else the generator knows.
 */
#ifndef SLUICE_SIM_CMS_SYNTHETIC_H
#define SLUICE_SIM_CMS_SYNTHETIC_H

#include <sluice/sim_cms.h>

/* SLC_CMS_MODULES_PHASE1 of them, for slc_cms_position_config: where the middle of CMS is seen from each
 * module, and what Lorentz drift does there. */
const slc_cms_plane *slc_sim_cms_planes(const slc_sim_cms *sim);

/* Synthetic event `kind` (0 … 4), of CMS's stand-alone clustering test: appended to `digis` as one event,
 * with electrons as adc, which grows as needed. 175 031 or 176 031 digis, of them 451 that are none. */
slc_status slc_sim_cms_synthetic(uint32_t kind, slc_cms_digis *digis);
/* A variation on it for measurements: the same occupancy, but every module's pattern is moved and mirrored at
 * random, and its charges are drawn anew, so that no two events are alike. */
slc_status slc_sim_cms_varied(uint64_t seed, uint64_t event, slc_cms_digis *digis);

#endif
