/* SPDX-License-Identifier: Apache-2.0
 * Hits of UT and SciFi word by word, by the formulas of docs/formats/lhcb-hlt1.md. */
#ifndef ORACLE_HLT1_DECODE_H
#define ORACLE_HLT1_DECODE_H

#include <sluice/lhcb.h>
#include <sluice/scifi_types.h>
#include <sluice/ut_types.h>

typedef struct oracle_hlt1_hit {
    uint32_t kind; /* layer or zone */
    float x, z, y_begin, y_end;
    uint32_t channel, size;
} oracle_hlt1_hit;

/* All hits of an event's banks of the UT (version 3) or of the SciFi (version 4 or 5), by kind, x and
 * channel. Returns their number, at most `room`. */
size_t oracle_hlt1_ut(const slc_ut_geometry *geometry, slc_lhcb_bank_cursor banks, oracle_hlt1_hit *hits,
                      size_t room);
size_t oracle_hlt1_scifi(const slc_scifi_geometry *geometry, slc_lhcb_bank_cursor banks,
                         oracle_hlt1_hit *hits, size_t room);

#endif
