/* SPDX-License-Identifier: Apache-2.0
 * The two files of the muon stations' geometry with any bytes changed: what is taken can be decoded with. */
#include "../tests/support/muon_files.h"
#include "fuzz.h"
#include "muon/muon_decode.h"

#include <stdlib.h>

/* All words of all boards. */
static void decode_all(const slc_muon_geometry *geometry)
{
    enum { WORDS = SLC_MUON_ADDRESSES + 6 };
    static uint8_t payload[2 * WORDS];
    slc_muon_decoder *decoder;
    slc_muon_hits hits = {0};
    slc_faults faults;
    fuzz_require(slc_muon_decoder_open(geometry, &decoder, NULL) == SLC_OK, "memory");
    memset(payload, 0, sizeof payload);
    payload[5] = SLC_MUON_ADDRESSES >> 8;
    for (size_t i = 0; i < SLC_MUON_ADDRESSES; i++) {
        payload[6 + 2 * i] = (uint8_t)i;
        payload[7 + 2 * i] = (uint8_t)(i >> 8 | i << 4);
    }
    slc_faults_reset(&faults);
    slc_muon_event_begin(decoder, 0, &faults);
    for (int16_t board = 0; board < SLC_MUON_TELL1; board++) {
        const slc_lhcb_bank bank = {.payload = payload,
                                    .size = sizeof payload,
                                    .type = SLC_LHCB_BANK_MUON,
                                    .version = 2,
                                    .source = board};
        slc_muon_event_take(decoder, &bank);
    }
    fuzz_require(slc_columns_reserve(&slc_muon_hits_schema, &hits, slc_muon_event_bound(decoder), 1) ==
                     SLC_OK,
                 "memory");
    slc_muon_event_decode(decoder, &hits);
    fuzz_require_columns(&slc_muon_hits_schema, &hits);
    fuzz_require(slc_muon_event_tiles(decoder) == geometry->n_places, "every tile is hit");
    fuzz_require(hits.head.size >= geometry->n_places / 2, "and seen");
    slc_columns_clear(&slc_muon_hits_schema, &hits);
    slc_muon_decoder_close(decoder);
}

/* The input is changes to a small detector's files: file and place (three bytes), and a byte. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static uint8_t boards[MUON_FILES_GEOMETRY], tables[MUON_FILES_TABLES];
    size_t n_boards = muon_files_geometry(boards), n_tables = muon_files_tables(tables);
    slc_muon_geometry *geometry;
    slc_error error = {0};
    for (size_t at = 0; at + 4 <= size; at += 4) {
        const size_t place = (size_t)bytes[at + 1] << 8 | bytes[at + 2];
        if (bytes[at] == 0xff) { /* cut */
            n_boards = place < n_boards ? place : n_boards;
        } else if (bytes[at] == 0xfe) {
            n_tables = place < n_tables ? place : n_tables;
        } else if (bytes[at] % 2 == 0) {
            boards[place % n_boards] = bytes[at + 3];
        } else {
            tables[place % n_tables] = bytes[at + 3];
        }
        if (n_boards == 0 || n_tables == 0) {
            break;
        }
    }
    const slc_status status = slc_muon_geometry_parse(boards, n_boards, tables, n_tables, &geometry, &error);
    fuzz_require((status == SLC_OK) == (geometry != NULL), "a geometry or an error");
    fuzz_require(status == SLC_OK || error.text[0] != 0, "an error has a text");
    if (geometry != NULL) {
        decode_all(geometry);
    }
    slc_muon_geometry_free(geometry);
    return 0;
}
