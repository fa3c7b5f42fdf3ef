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

/* Bytes that may be read from the bank's payload on: up to the end of `last`, if both lie in the memory of
 * one event, which is where their offsets differ as their places do; else the bank's own. */
static inline size_t slc_lhcb_bank_readable(const slc_lhcb_bank *bank, const slc_lhcb_bank *last)
{
    const bool together = (uintptr_t)last->payload - (uintptr_t)bank->payload ==
                          (uintptr_t)last->offset - (uintptr_t)bank->offset;
    return together && last->offset >= bank->offset ? (size_t)(last->offset - bank->offset) + last->size
                                                    : bank->size;
}

#endif
