/* SPDX-License-Identifier: Apache-2.0
 * An event's banks by detector. */
#include "hlt1/hlt1_banks.h"
#include "lhcb/lhcb_walk.h"
#include <sluice/hlt1_types.h>

enum { AHEAD = 24 };

const uint8_t slc_hlt1_bank_types[SLC_HLT1_NOTED] = {SLC_LHCB_BANK_UT, SLC_LHCB_BANK_SCIFI,
                                                     SLC_LHCB_BANK_MUON, SLC_LHCB_BANK_ODIN};

static void forget(slc_hlt1_banks *banks)
{
    for (size_t d = 0; d < SLC_HLT1_DETECTORS; d++) {
        banks->of[d].n = 0;
    }
}

static inline void take_of(slc_hlt1_banks *banks, slc_hlt1_detector d, const slc_lhcb_bank *bank,
                           uint64_t event, slc_faults *faults)
{
    size_t *n = &banks->of[d].n;
    if (*n < SLC_HLT1_MAX_BANKS) {
        banks->of[d].bank[(*n)++] = *bank;
    } else if (faults != NULL) {
        slc_faults_add(faults, SLC_FAULT_BANK_DUPLICATE, event, bank->source, bank->offset);
    }
}

static inline void take(slc_hlt1_banks *banks, const slc_lhcb_bank *bank, uint64_t event, slc_faults *faults)
{
    if (bank->type == SLC_LHCB_BANK_UT) {
        take_of(banks, SLC_HLT1_UT, bank, event, faults);
    } else if (bank->type == SLC_LHCB_BANK_SCIFI) {
        take_of(banks, SLC_HLT1_SCIFI, bank, event, faults);
    } else if (bank->type == SLC_LHCB_BANK_MUON) {
        take_of(banks, SLC_HLT1_MUON, bank, event, faults);
    }
}

/* An event without a detector's banks looks as one without its hits. */
static void tell_absent(const slc_batch *batch, uint32_t event, const slc_hlt1_banks *banks,
                        slc_faults *faults)
{
    static const slc_fault_code codes[SLC_HLT1_DETECTORS] = {[SLC_HLT1_UT] = SLC_FAULT_HLT1_NO_UT,
                                                             [SLC_HLT1_SCIFI] = SLC_FAULT_HLT1_NO_SCIFI,
                                                             [SLC_HLT1_MUON] = SLC_FAULT_HLT1_NO_MUON};
    for (size_t d = 0; d < SLC_HLT1_DETECTORS && faults != NULL && batch->length[event] > 0; d++) {
        if (banks->of[d].n == 0) {
            slc_faults_add(faults, codes[d], batch->first_event + event, -1, 0);
        }
    }
}

static void walk(const slc_batch *batch, uint32_t event, slc_hlt1_banks *banks, slc_faults *faults)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_lhcb_bank bank;
    while (batch->length[event] > 0 && slc_lhcb_bank_next_readable(&cursor, &bank)) {
        if (bank.type == SLC_LHCB_BANK_TAE) {
            forget(banks);
            return;
        }
        take(banks, &bank, batch->first_event + event, faults);
    }
    tell_absent(batch, event, banks, faults);
}

void slc_hlt1_banks_find(const slc_batch *batch, uint32_t event, const slc_lhcb_places *places,
                         slc_hlt1_banks *banks, slc_faults *faults)
{
    forget(banks);
    if (!slc_lhcb_places_know(places, event)) {
        walk(batch, event, banks, faults);
        return;
    }
    const uint32_t *place = places->place + (size_t)event * SLC_LHCB_PLACES;
    const uint8_t *bytes = batch->bytes + batch->offset[event];
    for (size_t i = 0, n = places->n[event]; i < n; i++) {
        if (i + AHEAD < n) { /* the walk was long ago: the banks have left the nearer caches */
            __builtin_prefetch(bytes + place[i + AHEAD]);
        }
        const slc_lhcb_bank bank = slc_lhcb_bank_at(bytes, place[i]);
        take(banks, &bank, batch->first_event + event, faults);
    }
    tell_absent(batch, event, banks, faults);
}
