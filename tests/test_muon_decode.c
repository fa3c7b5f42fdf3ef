/* SPDX-License-Identifier: Apache-2.0
 * Muon stations: the ten events' counts and bits, random events against the formulas, damage of files and
 * banks. */
#include "base/bytes.h"
#include "base/columns.h"
#include "io/lhcb/io_muon.h"
#include "muon/muon_decode.h"
#include <sluice/io.h>

#include "oracle/muon_oracle.h"
#include "support/guard_page.h"
#include "support/muon_files.h"
#include "support/random.h"
#include "support/sanitized.h"
#include "support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 10, MAX_TILES = 20000, MAX_BYTES = 1 << 20 };

static support_bytes boards, tables; /* the real files, or those of the small detector */
static slc_muon_geometry *geometry;
static slc_muon_decoder *decoder;
static slc_muon_hits hits;
static slc_faults faults;
static bool real;

static oracle_muon_tile tiles[MAX_TILES];
static oracle_muon_hit expected[4 * MAX_TILES], found[4 * MAX_TILES];

static int set_up(void **state)
{
    (void)state;
    static uint8_t geometry_image[MUON_FILES_GEOMETRY], tables_image[MUON_FILES_TABLES];
    slc_error error = {0};
    if (real) {
        boards = support_read(support_data("lhcb_hlt1/muon_geometry.bin"));
        tables = support_read(support_data("lhcb_hlt1/muon_tables.bin"));
    } else {
        support_append(&boards, geometry_image, muon_files_geometry(geometry_image));
        support_append(&tables, tables_image, muon_files_tables(tables_image));
    }
    if (slc_muon_geometry_parse(boards.at, boards.size, tables.at, tables.size, &geometry, &error) !=
            SLC_OK ||
        slc_muon_decoder_open(geometry, &decoder, &error) != SLC_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_muon_decoder_close(decoder);
    slc_muon_geometry_free(geometry);
    slc_columns_clear(&slc_muon_hits_schema, &hits);
    support_clear(&boards);
    support_clear(&tables);
    return 0;
}

/* ---- comparing ---------------------------------------------------------------------------------- */

static int by_bits(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(oracle_muon_hit));
}

/* The decoder's hits of an event are the oracle's, bit by bit, and by station, region and quarter. */
static void assert_hits(uint32_t event, size_t n)
{
    const size_t begin = hits.head.event_offset[event], end = hits.head.event_offset[event + 1];
    assert_int_equal(end - begin, n);
    memset(found, 0, n * sizeof *found);
    for (size_t i = begin; i < end; i++) {
        found[i - begin] = (oracle_muon_hit){.x = hits.x_mm[i],
                                             .y = hits.y_mm[i],
                                             .z = hits.z_mm[i],
                                             .dx = hits.dx_mm[i],
                                             .dy = hits.dy_mm[i],
                                             .tile = hits.tile[i],
                                             .time = hits.time[i],
                                             .delta_time = hits.delta_time[i],
                                             .uncrossed = hits.uncrossed[i]};
        assert_int_equal(hits.station[i], slc_muon_tile_station(hits.tile[i]));
        assert_int_equal(hits.region[i], slc_muon_tile_region(hits.tile[i]));
        assert_true(i == begin || slc_muon_tile_group(hits.tile[i - 1]) <= slc_muon_tile_group(hits.tile[i]));
    }
    qsort(expected, n, sizeof *expected, by_bits);
    qsort(found, n, sizeof *found, by_bits);
    assert_memory_equal(expected, found, n * sizeof *expected);
}

/* ---- events made here --------------------------------------------------------------------------- */

/* A bank of version 2 out of words, in four blocks. */
static size_t put_bank(uint8_t *out, size_t room, int16_t source, const uint16_t *words, size_t n)
{
    static uint8_t payload[2 * MAX_TILES];
    size_t at = 0, taken = 0;
    const size_t pads = n % 5;
    slc_store_u16(payload, (uint16_t)pads);
    at = (pads + 3) & ~(size_t)1;
    memset(payload + 2, 0xee, 2 * at);
    for (size_t block = 0; block < 4; block++) {
        const size_t count = block == 3 ? n - taken : n / 4;
        slc_store_u16(payload + 2 * at++, (uint16_t)count);
        for (size_t i = 0; i < count; i++) {
            slc_store_u16(payload + 2 * at++, words[taken++]);
        }
    }
    return slc_lhcb_bank_write(out, room, SLC_LHCB_BANK_MUON, 2, source, payload, 2 * at);
}

/* Every address with this chance, once, in any order of its board; banks rising or falling by source. */
static size_t make_event(uint64_t *random, double chance, bool falling, uint8_t *out, size_t room,
                         size_t *n_tiles)
{
    const oracle_muon_files files = {boards.at, tables.at};
    static uint16_t words[SLC_MUON_TELL1][SLC_MUON_ADDRESSES];
    size_t n[SLC_MUON_TELL1] = {0}, size = 0;
    *n_tiles = 0;
    for (uint32_t board = 0; board < SLC_MUON_TELL1; board++) {
        for (uint32_t a = 0; a < SLC_MUON_ADDRESSES; a++) {
            if (oracle_muon_address(&files, board, a) != 0 && random_unit(random) < chance) {
                const size_t at = random_below(random, (uint32_t)n[board] + 1);
                words[board][n[board]++] = words[board][at];
                words[board][at] = (uint16_t)(a | random_below(random, 16) << 12);
            }
        }
        for (size_t i = 0; i < n[board]; i++) {
            tiles[(*n_tiles)++] = (oracle_muon_tile){
                oracle_muon_address(&files, board, words[board][i] & 0xfff), words[board][i] >> 12};
        }
    }
    for (uint32_t k = 0; k < SLC_MUON_TELL1; k++) {
        const uint32_t board = falling ? SLC_MUON_TELL1 - 1 - k : k;
        size += put_bank(out + size, room - size, (int16_t)board, words[board], n[board]);
    }
    return size;
}

static uint64_t decode(const uint8_t *bytes, size_t size)
{
    slc_batch batch = {0};
    slc_error error = {0};
    slc_faults_reset(&faults);
    assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
    assert_int_equal(slc_muon_decode_batch(decoder, &batch, &hits, &faults, &error), SLC_OK);
    const char *why = "";
    assert_true(slc_columns_check(&slc_muon_hits_schema, &hits, &why));
    slc_batch_clear(&batch);
    return slc_columns_checksum(&slc_muon_hits_schema, &hits, 0, SLC_CHECKSUM_START);
}

static void random_events_are_the_formulas(void **state)
{
    (void)state;
    static uint8_t bytes[MAX_BYTES];
    const oracle_muon_files files = {boards.at, tables.at};
    uint64_t random = 7;
    for (int trial = 0; trial < (SANITIZED ? 10 : 60); trial++) {
        uint64_t again = random;
        size_t n, crossings;
        const double chance = trial == 0            ? 0
                              : trial == 1 && !real ? 1
                                                    : (real ? 0.05 : 0.6) * random_unit(&random);
        again = random;
        size_t size = make_event(&random, chance, false, bytes, sizeof bytes, &n);
        const uint64_t sum = decode(bytes, size);
        assert_int_equal(slc_faults_total(&faults), 0);
        assert_int_equal(slc_muon_event_tiles(decoder), n);
        assert_true(hits.head.size <= slc_muon_event_bound(decoder));
        assert_hits(0, oracle_muon_hits(&files, tiles, n, expected, &crossings));
        assert_int_equal(slc_muon_event_crossings(decoder), crossings);
        size = make_event(&again, chance, true, bytes, sizeof bytes, &n);
        assert_true(decode(bytes, size) == sum); /* the order of banks is nobody's business */
    }
}

/* ---- damage ------------------------------------------------------------------------------------- */

static void a_bank_costs_itself(void **state)
{
    (void)state;
    uint8_t bytes[4096];
    const uint16_t one[] = {1 | 5 << 12}, twice[] = {1, 2, 1}, nothing[] = {0, 4095, 1};
    const uint8_t synch[] = {0x10}, empty[] = {0, 0, 0}, cut[] = {0, 0x70, 1};
    const uint8_t hit[] = {0, 0x60, 0, 1, 0, 0, 0, 0}, map[] = {0x20, 0, 0, 2, 0};
    const struct {
        const void *payload;
        size_t size;
        uint8_t version;
        int16_t source;
        slc_fault_code fault;
    } cases[] = {
        {one, 2, 1, 0, SLC_FAULT_BANK_VERSION}, {one, 2, 4, 0, SLC_FAULT_BANK_VERSION},
        {one, 2, 2, 10, SLC_FAULT_BANK_SOURCE}, {one, 2, 2, -1, SLC_FAULT_BANK_SOURCE},
        {one, 0, 2, 3, SLC_FAULT_BANK_LENGTH},  {one, 2, 2, 3, SLC_FAULT_BANK_LENGTH},
        {synch, 1, 3, 0, SLC_FAULT_NONE},       {empty, 3, 3, 0, SLC_FAULT_NONE},
        {cut, 3, 3, 0, SLC_FAULT_BANK_LENGTH},  {hit, 8, 3, 40, SLC_FAULT_MUON_TELL40},
        {map, 5, 3, 40, SLC_FAULT_NONE},        {map, 4, 3, 40, SLC_FAULT_BANK_LENGTH},
        {map, 3, 3, 40, SLC_FAULT_BANK_LENGTH}, {map, 0, 3, 40, SLC_FAULT_BANK_LENGTH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = put_bank(bytes, sizeof bytes, 1, one, 1);
        size += slc_lhcb_bank_write(bytes + size, sizeof bytes - size, SLC_LHCB_BANK_MUON, cases[i].version,
                                    cases[i].source, cases[i].payload, cases[i].size);
        (void)decode(bytes, size);
        assert_int_equal(hits.head.size, 1);
        assert_int_equal(hits.time[0], 5);
        assert_int_equal(slc_faults_total(&faults), cases[i].fault == SLC_FAULT_NONE ? 0 : 1);
        assert_int_equal(slc_faults_of(&faults, cases[i].fault), cases[i].fault == SLC_FAULT_NONE ? 0 : 1);
    }
    size_t size = put_bank(bytes, sizeof bytes, 1, twice, 3);
    (void)decode(bytes, size);
    assert_int_equal(slc_muon_event_tiles(decoder), 2);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_MUON_DUPLICATE), 1);
    size = put_bank(bytes, sizeof bytes, 1, nothing, 3);
    (void)decode(bytes, size);
    assert_int_equal(slc_muon_event_tiles(decoder), 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_MUON_CHANNEL), 2);
    size = put_bank(bytes, sizeof bytes, 1, one, 1);
    size += put_bank(bytes + size, sizeof bytes - size, 1, one, 1);
    (void)decode(bytes, size);
    assert_int_equal(hits.head.size, 1);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_BANK_DUPLICATE), 1);
}

/* Banks that end anywhere, at the edge of memory. */
static void banks_may_end_anywhere(void **state)
{
    (void)state;
    static uint8_t bytes[MAX_BYTES];
    uint64_t random = 3;
    size_t n;
    guard_page page = guard_page_open(MAX_BYTES);
    assert_non_null(page.mapping);
    for (uint8_t version = 2; version <= 3; version++) {
        (void)make_event(&random, real ? 0.01 : 0.3, false, bytes, sizeof bytes, &n);
        const size_t length = slc_load_u16(bytes + 2) - SLC_LHCB_BANK_HEADER;
        for (size_t size = 0; size <= length; size++) {
            uint8_t *at = page.mapping + page.mapped - size;
            memcpy(at, bytes + SLC_LHCB_BANK_HEADER, size);
            const slc_lhcb_bank bank = {.payload = at,
                                        .size = (uint32_t)size,
                                        .type = SLC_LHCB_BANK_MUON,
                                        .version = version,
                                        .source = 0};
            slc_faults_reset(&faults);
            slc_columns_reset(&hits);
            assert_int_equal(
                slc_columns_reserve(&slc_muon_hits_schema, &hits, slc_muon_bank_bound(decoder, &bank), 1),
                SLC_OK);
            slc_muon_decode(decoder, &bank, 1, 0, &hits, &faults);
            assert_true(version == 3 || (slc_faults_total(&faults) == 0) == (size == length));
        }
    }
    guard_page_close(&page);
}

static slc_status parse(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, slc_error *error)
{
    slc_muon_geometry *made;
    const slc_status status = slc_muon_geometry_parse(a, a_size, b, b_size, &made, error);
    slc_muon_geometry_free(made);
    return status;
}

static void files_may_end_anywhere(void **state)
{
    (void)state;
    slc_error error = {0};
    const size_t step = real ? 4099 * (SANITIZED ? 5 : 1) : 1;
    for (size_t size = 0; size < boards.size; size += step) {
        assert_int_equal(parse(boards.at, size, tables.at, tables.size, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, "muon_geometry.bin: byte"));
    }
    for (size_t size = 0; size < tables.size; size += 7 * step) {
        assert_int_equal(parse(boards.at, boards.size, tables.at, size, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, "muon_tables.bin"));
    }
    assert_int_equal(parse(boards.at, boards.size, tables.at, tables.size, &error), SLC_OK);
}

static void files_of_no_detector(void **state)
{
    (void)state;
    const struct {
        bool of_tables;
        size_t at;
        uint32_t value;
        slc_status status;
        const char *text;
    } cases[] = {
        {false, 0, 3, SLC_ERR_UNSUPPORTED, "version 3"},
        {true, 0, 1, SLC_ERR_UNSUPPORTED, "version 1"},
        {false, 4, 9, SLC_ERR_FORMAT, "Tell1"},
        {false, 12, 5000, SLC_ERR_FORMAT, "do"},
        {false, 24, 0x3f, SLC_ERR_FORMAT, "grid"},
        {true, 12, 0, SLC_ERR_FORMAT, "gridX[0] is 0"},
        {true, 12, 64, SLC_ERR_FORMAT, "gridX[0] is 64"},
        {true, 4 + 72 + 8, 16, SLC_ERR_FORMAT, "gridY[0] is 16"},
        {true, 4 + 144 + 8, 0x7fc00000, SLC_ERR_FORMAT, "sizeX[0]"},
        {true, 4 + 144 + 8 + 4, 0, SLC_ERR_FORMAT, "sizeX[1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        support_bytes *file = cases[i].of_tables ? &tables : &boards;
        const uint32_t before = slc_load_u32(file->at + cases[i].at);
        slc_error error = {0};
        slc_store_u32(file->at + cases[i].at, cases[i].value);
        assert_int_equal(parse(boards.at, boards.size, tables.at, tables.size, &error), cases[i].status);
        assert_non_null(strstr(error.text, cases[i].text));
        slc_store_u32(file->at + cases[i].at, before);
    }
    slc_error error = {0};
    const uint32_t tile = slc_load_u32(boards.at + 28); /* the second tile at the first one's place, too */
    memcpy(boards.at + 28, boards.at + 24, 4);
    assert_int_equal(parse(boards.at, boards.size, tables.at, tables.size, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "two addresses"));
    slc_store_u32(boards.at + 28, tile);
}

/* ---- the ten events ----------------------------------------------------------------------------- */

static void ten_events(void **state)
{
    (void)state;
    static const size_t counts[EVENTS][7] = {
        {445, 503, 548, 480, 45, 18, 5},  {70, 34, 48, 13, 23, 8, 4},       {215, 186, 210, 173, 29, 6, 2},
        {305, 260, 303, 188, 64, 29, 22}, {284, 207, 236, 137, 73, 12, 14}, {102, 65, 85, 27, 44, 7, 7},
        {264, 237, 261, 206, 36, 13, 6},  {190, 116, 153, 65, 37, 29, 22},  {338, 265, 299, 187, 70, 27, 15},
        {408, 314, 378, 239, 69, 34, 36}};
    const oracle_muon_files files = {boards.at, tables.at};
    slc_batch batch = {0}, one = {0};
    slc_error error = {0};
    slc_io_source *source;
    assert_int_equal(slc_io_open(support_data("lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf"), NULL,
                                 &source, &error),
                     SLC_OK);
    assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &batch, &faults, &error), SLC_OK);
    slc_io_close(source);
    assert_int_equal(batch.n_events, EVENTS);
    slc_muon_hits all = {0};
    slc_faults_reset(&faults);
    assert_int_equal(slc_muon_decode_batch(decoder, &batch, &all, &faults, &error), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    for (uint32_t e = 0; e < EVENTS; e++) {
        size_t n = 0, crossings, station[SLC_MUON_STATIONS] = {0};
        slc_batch_reset(&one);
        assert_int_equal(slc_batch_append(&one, batch.bytes + batch.offset[e], batch.length[e], 0), SLC_OK);
        assert_int_equal(slc_muon_decode_batch(decoder, &one, &hits, &faults, &error), SLC_OK);
        assert_int_equal(slc_muon_event_tiles(decoder), counts[e][0]);
        assert_int_equal(slc_muon_event_crossings(decoder), counts[e][1]);
        assert_int_equal(hits.head.size, counts[e][2]);
        assert_true(slc_columns_checksum(&slc_muon_hits_schema, &hits, 0, 0) ==
                    slc_columns_checksum(&slc_muon_hits_schema, &all, e, 0));
        for (size_t i = 0; i < hits.head.size; i++) {
            station[hits.station[i]]++;
        }
        for (size_t s = 0; s < SLC_MUON_STATIONS; s++) {
            assert_int_equal(station[s], counts[e][3 + s]);
        }
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&batch, e);
        slc_lhcb_bank bank;
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            if (bank.type == SLC_LHCB_BANK_MUON) {
                oracle_muon_bank(&files, (uint32_t)bank.source, bank.payload, tiles, &n);
            }
        }
        assert_int_equal(n, counts[e][0]);
        assert_hits(0, oracle_muon_hits(&files, tiles, n, expected, &crossings));
        assert_int_equal(crossings, counts[e][1]);
    }
    slc_columns_clear(&slc_muon_hits_schema, &all);
    slc_batch_clear(&batch);
    slc_batch_clear(&one);
}

static void a_folder(void **state)
{
    (void)state;
    slc_error error = {0};
    slc_muon_geometry *made;
    assert_int_equal(slc_io_muon_geometry_read("/nowhere", &made, &error), SLC_ERR_IO);
    assert_null(made);
    assert_non_null(strstr(error.text, "/nowhere/muon_geometry.bin"));
    assert_int_equal(slc_io_muon_geometry_read(support_data("lhcb_hlt1"), &made, &error), SLC_OK);
    assert_true(made->has_field_of_interest);
    slc_muon_geometry_free(made);
}

int main(void)
{
    const struct CMUnitTest small[] = {
        cmocka_unit_test(random_events_are_the_formulas), cmocka_unit_test(a_bank_costs_itself),
        cmocka_unit_test(banks_may_end_anywhere),         cmocka_unit_test(files_may_end_anywhere),
        cmocka_unit_test(files_of_no_detector),
    };
    const struct CMUnitTest large[] = {
        cmocka_unit_test(random_events_are_the_formulas),
        cmocka_unit_test(banks_may_end_anywhere),
        cmocka_unit_test(files_may_end_anywhere),
        cmocka_unit_test(ten_events),
        cmocka_unit_test(a_folder),
    };
    const int failed = cmocka_run_group_tests_name("a small detector", small, set_up, tear_down);
    const int skip = support_skip_without("lhcb_hlt1/muon_tables.bin");
    if (failed != 0 || skip != 0) {
        return failed != 0 ? failed : skip;
    }
    real = true;
    return cmocka_run_group_tests_name("LHCb's files", large, set_up, tear_down);
}
