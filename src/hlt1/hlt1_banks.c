/* SPDX-License-Identifier: Apache-2.0
 * An event's banks by detector. */
#include "hlt1/hlt1_banks.h"
#include "lhcb/lhcb_walk.h"

static void take(slc_hlt1_banks *banks, slc_hlt1_detector detector, const slc_lhcb_bank *bank, uint64_t event,
                 slc_faults *faults)
{
    size_t *n = &banks->of[detector].n;
    if (*n < SLC_HLT1_MAX_BANKS) {
        banks->of[detector].bank[(*n)++] = *bank;
    } else if (faults != NULL) {
        slc_faults_add(faults, SLC_FAULT_BANK_DUPLICATE, event, bank->source, bank->offset);
    }
}

void slc_hlt1_banks_find(const slc_batch *batch, uint32_t event, slc_hlt1_banks *banks, slc_faults *faults)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_lhcb_bank bank;
    for (size_t d = 0; d < SLC_HLT1_DETECTORS; d++) {
        banks->of[d].n = 0;
    }
    while (batch->length[event] > 0 && slc_lhcb_bank_next_readable(&cursor, &bank)) {
        switch (bank.type) {
        case SLC_LHCB_BANK_UT:
            take(banks, SLC_HLT1_UT, &bank, batch->first_event + event, faults);
            break;
        case SLC_LHCB_BANK_SCIFI:
            take(banks, SLC_HLT1_SCIFI, &bank, batch->first_event + event, faults);
            break;
        case SLC_LHCB_BANK_MUON:
            take(banks, SLC_HLT1_MUON, &bank, batch->first_event + event, faults);
            break;
        case SLC_LHCB_BANK_TAE:
            for (size_t d = 0; d < SLC_HLT1_DETECTORS; d++) {
                banks->of[d].n = 0;
            }
            return;
        default:
            break;
        }
    }
}
