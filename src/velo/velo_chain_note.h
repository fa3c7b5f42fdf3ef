/* SPDX-License-Identifier: Apache-2.0
 * The VELO's chain as somebody else's walk over banks. */
#ifndef SLUICE_VELO_CHAIN_NOTE_H
#define SLUICE_VELO_CHAIN_NOTE_H

#include "lhcb/lhcb_places.h"
#include <sluice/velo_chain.h>

/* From now on _reserve and _run note where banks of the types of `places` are in the events over which they
 * walk; of others the caller has to find out, as he has if there are more events than room. `places` must
 * stay until _close. */
void slc_velo_chain_note(slc_velo_chain *chain, slc_lhcb_places *places);

#endif
