/* SPDX-License-Identifier: Apache-2.0
 *
 * An event's banks for the detectors beyond the VELO: where the VELO's walk has noted them (lhcb_places.h),
 * or by one walk for all. What is damaged between banks is told by the VELO's walk.
 */
#ifndef SLUICE_HLT1_BANKS_H
#define SLUICE_HLT1_BANKS_H

#include "lhcb/lhcb_places.h"

typedef enum slc_hlt1_detector {
    SLC_HLT1_UT = 0,
    SLC_HLT1_SCIFI,
    SLC_HLT1_MUON,
    SLC_HLT1_DETECTORS
} slc_hlt1_detector;

/* More than any event has, once the same source is not taken twice; further ones are lost, and told. */
enum { SLC_HLT1_MAX_BANKS = 512 };

typedef struct slc_hlt1_banks {
    struct {
        size_t n;
        slc_lhcb_bank bank[SLC_HLT1_MAX_BANKS];
    } of[SLC_HLT1_DETECTORS];
} slc_hlt1_banks;

/* Those that are noted: the detectors', and ODIN's. */
enum { SLC_HLT1_NOTED = SLC_HLT1_DETECTORS + 1 };
extern const uint8_t slc_hlt1_bank_types[SLC_HLT1_NOTED];

/* Banks of event `event` of the batch by detector, in their order; none of an event of several crossings,
 * which the VELO's walk tells; a detector without a bank in another one is a fault. `places` knows events or
 * does not; it and `faults` may be NULL. */
void slc_hlt1_banks_find(const slc_batch *batch, uint32_t event, const slc_lhcb_places *places,
                         slc_hlt1_banks *banks, slc_faults *faults);

#endif
