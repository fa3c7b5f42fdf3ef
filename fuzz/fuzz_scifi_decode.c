/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as banks of a plain SciFi, of all versions and any source: hits are within their zones, sorted,
 * and do not depend on the order of the banks. */
#include "../tests/support/hlt1_detectors.h"
#include "fuzz.h"
#include "scifi/scifi_decode.h"

#include <stdlib.h>

static slc_scifi_decoder *decoders[2], *decoder; /* without and with a map of SiPMs */

static uint64_t decode(const slc_lhcb_bank *banks, size_t n, slc_faults *faults)
{
    slc_scifi_hits hits = {0};
    size_t bound = 1;
    slc_faults_reset(faults);
    for (size_t i = 0; i < n; i++) {
        bound += slc_scifi_bank_bound(&banks[i]);
    }
    fuzz_require(slc_columns_reserve(&slc_scifi_hits_schema, &hits, bound, 1) == SLC_OK &&
                     slc_scifi_decoder_reserve(decoder, bound) == SLC_OK,
                 "memory");
    slc_scifi_decode(decoder, banks, n, 0, &hits, faults);
    fuzz_require_columns(&slc_scifi_hits_schema, &hits);
    for (size_t i = 1; i < hits.head.size; i++) {
        fuzz_require(hits.zone[i] > hits.zone[i - 1] ||
                         (hits.zone[i] == hits.zone[i - 1] && hits.x_mm[i] >= hits.x_mm[i - 1]),
                     "hits are sorted");
    }
    const uint64_t sum = slc_columns_checksum(&slc_scifi_hits_schema, &hits, 0, SLC_CHECKSUM_START);
    slc_columns_clear(&slc_scifi_hits_schema, &hits);
    return sum;
}

/* The input is a byte that says which detector, then banks: a byte of source and version, a byte of size, and
 * so many bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { BANKS = 16 };
    slc_lhcb_bank banks[BANKS], backwards[BANKS];
    slc_faults faults, again;
    size_t n = 0, at = 0;
    if (decoder == NULL) {
        static slc_scifi_geometry geometry[2];
        for (uint32_t k = 0; k < 2; k++) {
            hlt1_detectors_scifi(&geometry[k], k);
            decoders[k] = slc_scifi_decoder_open(&geometry[k], SLC_SIMD_AUTO);
            fuzz_require(decoders[k] != NULL, "memory");
        }
    }
    const bool mapped = size > 0 && (bytes[0] & 1) != 0;
    decoder = decoders[mapped ? 1 : 0];
    at = size > 0 ? 1 : 0;
    while (n < BANKS && at + 2 <= size) {
        const uint8_t what = bytes[at];
        const size_t rest = size - at - 2, payload = bytes[at + 1] < rest ? bytes[at + 1] : rest;
        banks[n++] = (slc_lhcb_bank){.payload = bytes + at + 2,
                                     .size = (uint32_t)payload,
                                     .type = SLC_LHCB_BANK_SCIFI,
                                     .version = (uint8_t)(3 + (what >> 5)),
                                     .source = (int16_t)((what & 0x1f) + (mapped ? 0x1000 : 0)),
                                     .offset = at};
        at += 2 + payload;
    }
    for (size_t i = 0; i < n; i++) {
        backwards[i] = banks[n - 1 - i];
    }
    const uint64_t sum = decode(banks, n, &faults);
    if (slc_faults_of(&faults, SLC_FAULT_BANK_DUPLICATE) == 0) {
        fuzz_require(decode(backwards, n, &again) == sum, "the order of banks does not matter");
    }
    return 0;
}
