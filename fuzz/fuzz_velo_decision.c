/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a raw bank with a decision: type, version, source, payload. What is read is written again, to
 * the same bytes. */
#include "fuzz.h"
#include "velo/velo_decision.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 4) {
        return 0;
    }
    const slc_lhcb_bank bank = {.payload = bytes + 4,
                                .size = (uint32_t)(size - 4),
                                .type = bytes[0],
                                .version = bytes[1],
                                .source = (int16_t)(bytes[2] | bytes[3] << 8)};
    slc_velo_decision decision;
    memset(&decision, 0xee, sizeof decision);
    const slc_velo_decision untouched = decision;
    const slc_status status = slc_velo_decision_read(&bank, &decision);
    fuzz_require(status == SLC_OK || status == SLC_END || status == SLC_ERR_UNSUPPORTED ||
                     status == SLC_ERR_FORMAT,
                 "one of four outcomes");
    if (status != SLC_OK) {
        fuzz_require(memcmp(&decision, &untouched, sizeof decision) == 0, "nothing is written on failure");
        return 0;
    }
    uint8_t again[SLC_VELO_DECISION_BANK];
    slc_velo_decision_write(&decision, again);
    fuzz_require(bank.size == SLC_VELO_DECISION_PAYLOAD &&
                     memcmp(again + SLC_LHCB_BANK_HEADER, bank.payload, bank.size) == 0,
                 "the same bytes again");
    fuzz_require((decision.lines & decision.limited) == 0 && decision.n_lines <= SLC_VELO_MAX_LINES,
                 "lines are lines");
    return 0;
}
