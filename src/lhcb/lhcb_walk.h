/* SPDX-License-Identifier: Apache-2.0
 * Walking on after damage, for all who walk over banks. */
#ifndef SLUICE_LHCB_WALK_H
#define SLUICE_LHCB_WALK_H

#include <sluice/lhcb.h>

/* After damage: moves the cursor after its place to the next offset (a multiple of 4) where a bank can begin
 * that fits and is followed by another one or by the end of the event; to the end if there is none. */
void slc_lhcb_bank_resume(slc_lhcb_bank_cursor *cursor);

/* The next bank that can be read, over what is damaged; false after the last one. */
bool slc_lhcb_bank_next_readable(slc_lhcb_bank_cursor *cursor, slc_lhcb_bank *bank);

#endif
