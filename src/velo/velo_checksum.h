/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the checksum of one event of a result. */
#ifndef SLUICE_VELO_CHECKSUM_H
#define SLUICE_VELO_CHECKSUM_H

#include <sluice/velo_chain.h>

/* slc_velo_result_checksum of a run that has this event alone. */
uint64_t slc_velo_event_checksum(const slc_velo_result *result, uint32_t event);

#endif
