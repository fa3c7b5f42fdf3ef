/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the raw bank in which accepted events keep their decision.
 * docs/formats/decision-bank.md.
 */
#ifndef SLUICE_VELO_DECISION_H
#define SLUICE_VELO_DECISION_H

#include <sluice/velo_select.h>

enum {
    SLC_VELO_DECISION_MAGIC = 0x44434c53, /* "SLCD" */
    SLC_VELO_DECISION_VERSION = 1,
    SLC_VELO_DECISION_PAYLOAD = 52,
    SLC_VELO_DECISION_BANK = SLC_LHCB_BANK_HEADER + SLC_VELO_DECISION_PAYLOAD /* a multiple of 4 */
};

/* slc_velo_decision_of for lines of any kind, whose names are `stride` bytes from one another. */
void slc_velo_decision_make(const char *names, size_t stride, uint32_t n_lines,
                            const slc_velo_decisions *decisions, const slc_velo_result *result,
                            uint32_t event, slc_velo_decision *decision);

/* The bank, header included. */
void slc_velo_decision_write(const slc_velo_decision *decision, uint8_t out[SLC_VELO_DECISION_BANK]);

#endif
