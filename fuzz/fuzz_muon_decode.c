/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as banks of the muon stations of a small detector, of versions 2 and 3 and any source: decoded
 * once, and again with the banks the other way round. */
#include "../tests/support/muon_files.h"
#include "fuzz.h"
#include "muon/muon_decode.h"

#include <stdlib.h>

static slc_muon_geometry *geometry;
static slc_muon_decoder *decoder;

static void open_detector(void)
{
    static uint8_t boards[MUON_FILES_GEOMETRY], tables[MUON_FILES_TABLES];
    slc_error error = {0};
    const size_t n_boards = muon_files_geometry(boards), n_tables = muon_files_tables(tables);
    fuzz_require(slc_muon_geometry_parse(boards, n_boards, tables, n_tables, &geometry, &error) == SLC_OK,
                 "the small detector is one");
    fuzz_require(slc_muon_decoder_open(geometry, &decoder, &error) == SLC_OK, "memory");
}

static uint64_t decode(const slc_lhcb_bank *banks, size_t n, bool backwards, slc_faults *faults)
{
    slc_muon_hits hits = {0};
    slc_faults_reset(faults);
    slc_muon_event_begin(decoder, 0, faults);
    for (size_t i = 0; i < n; i++) {
        slc_muon_event_take(decoder, &banks[backwards ? n - 1 - i : i]);
    }
    fuzz_require(slc_columns_reserve(&slc_muon_hits_schema, &hits, slc_muon_event_bound(decoder), 1) ==
                     SLC_OK,
                 "memory");
    slc_muon_event_decode(decoder, &hits);
    fuzz_require_columns(&slc_muon_hits_schema, &hits);
    const uint64_t sum = slc_columns_checksum(&slc_muon_hits_schema, &hits, 0, SLC_CHECKSUM_START);
    slc_columns_clear(&slc_muon_hits_schema, &hits);
    return sum;
}

/* The input is banks: a byte of source and version, a byte of size, and so many bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { BANKS = 16 };
    slc_lhcb_bank banks[BANKS];
    slc_faults faults, again;
    size_t n = 0, at = 0;
    if (geometry == NULL) {
        open_detector();
    }
    while (n < BANKS && at + 2 <= size) {
        const uint8_t what = bytes[at];
        const size_t rest = size - at - 2, payload = bytes[at + 1] < rest ? bytes[at + 1] : rest;
        banks[n++] = (slc_lhcb_bank){.payload = bytes + at + 2,
                                     .size = (uint32_t)payload,
                                     .type = SLC_LHCB_BANK_MUON,
                                     .version = what >> 6 == 3 ? 3 : 2,
                                     .source = (int16_t)(what & 15),
                                     .offset = at};
        at += 2 + payload;
    }
    const uint64_t sum = decode(banks, n, false, &faults);
    if (slc_faults_of(&faults, SLC_FAULT_BANK_DUPLICATE) == 0 &&
        slc_faults_of(&faults, SLC_FAULT_MUON_DUPLICATE) == 0) {
        fuzz_require(decode(banks, n, true, &again) == sum, "the order of banks does not matter");
        fuzz_require(slc_faults_total(&faults) == slc_faults_total(&again), "nor for what is wrong");
    }
    return 0;
}
