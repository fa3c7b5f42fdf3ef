/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as banks of a plain UT, of both versions and any source: hits are within their layers, sorted,
 * and do not depend on the order of the banks. */
#include "../tests/support/hlt1_detectors.h"
#include "fuzz.h"
#include "ut/ut_decode.h"

#include <stdlib.h>

static slc_ut_decoder *decoder;

static uint64_t decode(const slc_lhcb_bank *banks, size_t n, slc_faults *faults)
{
    slc_ut_hits hits = {0};
    size_t bound = 1;
    slc_faults_reset(faults);
    for (size_t i = 0; i < n; i++) {
        bound += slc_ut_bank_bound(&banks[i]);
    }
    fuzz_require(slc_columns_reserve(&slc_ut_hits_schema, &hits, bound, 1) == SLC_OK &&
                     slc_ut_decoder_reserve(decoder, bound) == SLC_OK,
                 "memory");
    slc_ut_decode(decoder, banks, n, 0, &hits, faults);
    fuzz_require_columns(&slc_ut_hits_schema, &hits);
    for (size_t i = 1; i < hits.head.size; i++) {
        fuzz_require(hits.layer[i] > hits.layer[i - 1] ||
                         (hits.layer[i] == hits.layer[i - 1] && hits.x_mm[i] >= hits.x_mm[i - 1]),
                     "hits are sorted");
    }
    const uint64_t sum = slc_columns_checksum(&slc_ut_hits_schema, &hits, 0, SLC_CHECKSUM_START);
    slc_columns_clear(&slc_ut_hits_schema, &hits);
    return sum;
}

/* The input is banks: a byte of source and version, a byte of size, and so many bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { BANKS = 16 };
    slc_lhcb_bank banks[BANKS], backwards[BANKS];
    slc_faults faults, again;
    size_t n = 0, at = 0;
    if (decoder == NULL) {
        static slc_ut_geometry geometry;
        hlt1_detectors_ut(&geometry);
        decoder = slc_ut_decoder_open(&geometry, SLC_SIMD_AUTO);
        fuzz_require(decoder != NULL, "memory");
    }
    while (n < BANKS && at + 2 <= size) {
        const uint8_t what = bytes[at];
        const size_t rest = size - at - 2, payload = bytes[at + 1] < rest ? bytes[at + 1] : rest;
        banks[n++] = (slc_lhcb_bank){.payload = bytes + at + 2,
                                     .size = (uint32_t)payload,
                                     .type = SLC_LHCB_BANK_UT,
                                     .version = (uint8_t)(2 + (what >> 6)),
                                     .source = (int16_t)(what & 0x3f),
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
