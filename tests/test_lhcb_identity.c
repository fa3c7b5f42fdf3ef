/* SPDX-License-Identifier: Apache-2.0
 *
 * Which event it is: ODIN's bank in both layouts and damaged, what stands in for it, and numbers of records
 * and offsets where records before are damaged in every way that there is, for plain and compressed records,
 * read at once and in two steps, and for lists of hits.
 */
#include "base/columns.h"
#include "io/io_deferred.h"
#include "io/io_source.h"
#include "lhcb/lhcb_identity.h"
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* ---- banks ------------------------------------------------------------------------------------- */

enum { WORDS = 10 };

static void put(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

/* A bank of `n` words, of which word i is 0x01010101 · (i + first): no word is like another. */
static void append_bank(support_bytes *event, uint8_t type, uint8_t version, uint32_t n, uint32_t first)
{
    uint8_t words[4 * WORDS], bank[8 + 4 * WORDS];
    for (uint32_t i = 0; i < n; i++) {
        put(words + 4 * i, 0x01010101U * (i + first));
    }
    support_append(event, bank, slc_lhcb_bank_write(bank, sizeof bank, type, version, 0, words, 4 * n));
}

static void append_event(slc_batch *batch, support_bytes *event, const slc_record *record)
{
    assert_int_equal(slc_batch_append(batch, event->at, event->size, 1000 + batch->n_events), SLC_OK);
    batch->record[batch->n_events - 1] = *record;
    support_clear(event);
}

static void assert_row(const slc_lhcb_events *events, size_t row, slc_lhcb_identity_from from, uint32_t run,
                       uint64_t event, uint32_t bcid)
{
    assert_int_equal(events->identity_from[row], from);
    assert_int_equal(events->run[row], run);
    assert_int_equal(events->event[row], event);
    assert_int_equal(events->bcid[row], bcid);
}

/* The bytes themselves are the oracle: word i of a bank is 0x01010101 · (i + first). */
static void odin_is_read(void **state)
{
    (void)state;
    const slc_record header = {.number = 7, .run = 91, .orbit = 92, .bunch = 0x15003, .known = 1};
    const slc_record short_header = {.number = 8, .run = 93, .orbit = 94, .bunch = 95};
    slc_batch batch = {0};
    support_bytes event = {0};
    append_bank(&event, 9, 3, 3, 70); /* another bank first */
    append_bank(&event, SLC_LHCB_BANK_ODIN, 6, 10, 0x10);
    append_event(&batch, &event, &header);
    append_bank(&event, SLC_LHCB_BANK_ODIN, 7, 10, 0x20);
    append_bank(&event, SLC_LHCB_BANK_ODIN, 6, 10, 0x30); /* the first counts */
    append_event(&batch, &event, &header);
    append_bank(&event, SLC_LHCB_BANK_ODIN, 6, 9, 0x80); /* without the last word, which is not looked at */
    append_event(&batch, &event, &header);
    append_bank(&event, SLC_LHCB_BANK_ODIN, 6, 8, 0x10); /* too short */
    append_bank(&event, SLC_LHCB_BANK_ODIN, 7, 9, 0x10);
    append_bank(&event, SLC_LHCB_BANK_ODIN, 5, 10, 0x10); /* unknown */
    append_event(&batch, &event, &header);
    append_bank(&event, 17, 6, 10, 0x10); /* none */
    append_event(&batch, &event, &short_header);
    append_event(&batch, &event, &header); /* an empty event */
    append_bank(&event, 9, 3, 3, 70);
    event.at[0] = 0; /* damage before it */
    append_bank(&event, SLC_LHCB_BANK_ODIN, 6, 10, 0x40);
    append_event(&batch, &event, &header);

    slc_lhcb_events events = {0};
    assert_int_equal(slc_lhcb_identity_run(&batch, 3, &events, NULL), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_lhcb_events_schema, &events, batch.n_events, batch.n_events),
                     SLC_OK);
    assert_int_equal(slc_lhcb_identity_run(&batch, 3, &events, NULL), SLC_OK);
    const char *why = NULL;
    assert_true(slc_columns_check(&slc_lhcb_events_schema, &events, &why));
    assert_int_equal(events.head.n_events, 7);
    assert_int_equal(events.head.size, 7);
    assert_row(&events, 0, SLC_LHCB_IDENTITY_ODIN, 0x10101010, 0x1313131314141414, 0x818);
    assert_row(&events, 1, SLC_LHCB_IDENTITY_ODIN, 0x20202020, 0x2929292928282828, 0x626);
    assert_row(&events, 2, SLC_LHCB_IDENTITY_ODIN, 0x80808080, 0x8383838384848484, 0x888);
    assert_row(&events, 3, SLC_LHCB_IDENTITY_HEADER, 91, 92, 3);
    assert_row(&events, 4, SLC_LHCB_IDENTITY_NONE, 0, 0, 0);
    assert_row(&events, 5, SLC_LHCB_IDENTITY_HEADER, 91, 92, 3);
    assert_row(&events, 6, SLC_LHCB_IDENTITY_ODIN, 0x40404040, 0x4343434344444444, 0x848);
    for (uint32_t e = 0; e < 7; e++) {
        assert_int_equal(events.head.event_offset[e + 1], e + 1);
        assert_int_equal(events.input[e], 3);
        assert_int_equal(events.record[e], e == 4 ? 8 : 7);
        assert_int_equal(events.offset_bytes[e], 1000 + e);
    }
    slc_columns_clear(&slc_lhcb_events_schema, &events);
    slc_batch_clear(&batch);
}

/* Bits of a row of words, the first word's lowest bit being bit 0, one by one. */
static uint64_t bits_of(const uint8_t *bytes, uint32_t first, uint32_t n)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < n; i++) {
        value |= (uint64_t)(bytes[(first + i) / 8] >> (first + i) % 8 & 1) << i;
    }
    return value;
}

/* Where LHCb's OnlineRunInfo (version 6) and ODINImplementation::v7 have them, in bits from the beginning; a
 * long integer of version 6 has its high half first. */
static void assert_odin(const slc_lhcb_events *events, size_t row, const uint8_t *b, bool v7, bool key)
{
    const uint64_t event = v7 ? bits_of(b, 256, 64) : bits_of(b, 96, 32) << 32 | bits_of(b, 128, 32);
    const uint64_t time = v7 ? bits_of(b, 64, 64) : bits_of(b, 160, 32) << 32 | bits_of(b, 192, 32);
    assert_row(events, row, SLC_LHCB_IDENTITY_ODIN, (uint32_t)bits_of(b, 0, 32), event,
               (uint32_t)bits_of(b, v7 ? 192 : 256, 12));
    assert_true(events->gps_time_us[row] == time);
    assert_int_equal(events->event_type[row], bits_of(b, 32, 16));
    assert_int_equal(events->calibration_step[row], bits_of(b, 48, 16));
    assert_int_equal(events->orbit[row], bits_of(b, v7 ? 224 : 64, 32));
    assert_int_equal(events->tck[row], v7 ? bits_of(b, 128, 32) : key ? bits_of(b, 288, 32) : 0);
    assert_int_equal(events->partition[row], v7 ? bits_of(b, 160, 32) : 0);
    assert_int_equal(events->crossing_type[row], v7 ? bits_of(b, 204, 2) : bits_of(b, 278, 2));
    assert_int_equal(events->trigger_type[row], v7 ? bits_of(b, 215, 4) : bits_of(b, 272, 3));
    assert_int_equal(events->calibration_type[row], v7 ? bits_of(b, 220, 4) : bits_of(b, 275, 2));
    assert_int_equal(events->faults[row], 0);
}

static void all_of_odin_is_read(void **state)
{
    (void)state;
    enum { EVENTS = 300 };
    static uint8_t words[EVENTS][4 * WORDS];
    uint64_t seed = 3;
    slc_batch batch = {0};
    support_bytes event = {0};
    const slc_record header = {.orbit = 17, .known = 1};
    for (uint32_t e = 0; e < EVENTS; e++) {
        uint8_t bank[8 + 4 * WORDS];
        for (size_t i = 0; i < sizeof words[e]; i++) {
            words[e][i] = (uint8_t)random_u64(&seed);
        }
        /* Version 7; version 6 with its key, and without. */
        support_append(&event, bank,
                       slc_lhcb_bank_write(bank, sizeof bank, SLC_LHCB_BANK_ODIN, e % 3 == 0 ? 7 : 6, 0,
                                           words[e], e % 3 == 2 ? 36 : 40));
        append_event(&batch, &event, &header);
    }
    append_bank(&event, 9, 3, 3, 70);
    append_event(&batch, &event, &header);
    slc_lhcb_events events = {0};
    assert_int_equal(slc_columns_reserve(&slc_lhcb_events_schema, &events, EVENTS + 1, EVENTS + 1), SLC_OK);
    memset(events.tck, 0xff, EVENTS * sizeof *events.tck); /* what was there before */
    memset(events.orbit, 0xff, EVENTS * sizeof *events.orbit);
    assert_int_equal(slc_lhcb_identity_run(&batch, 0, &events, NULL), SLC_OK);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_odin(&events, e, words[e], e % 3 == 0, e % 3 == 1);
        assert_int_equal(events.bytes[e], e % 3 == 2 ? 44 : 48);
    }
    assert_int_equal(events.orbit[EVENTS], 17);
    assert_int_equal(events.tck[EVENTS] + events.crossing_type[EVENTS], 0);
    slc_columns_clear(&slc_lhcb_events_schema, &events);
    slc_batch_clear(&batch);
}

/* ---- records ----------------------------------------------------------------------------------- */

enum { RECORDS = 9 };

typedef struct record_file {
    support_bytes bytes;
    uint64_t begin[RECORDS + 1];
} record_file;

/* Records of which number r holds r ODIN words more than any other. */
static record_file make_file(bool compressed)
{
    record_file file = {0};
    for (uint32_t r = 0; r < RECORDS; r++) {
        support_bytes event = support_event(r), blocks = {0};
        append_bank(&event, SLC_LHCB_BANK_DAQ, 1, r, 0); /* no two of a size */
        blocks = compressed && r % 2 == 0 ? support_blocks(event.at, event.size, 300) : blocks;
        file.begin[r] = file.bytes.size;
        support_record(&file.bytes, 3, blocks.size > 0, blocks.size > 0 ? blocks.at : event.at,
                       blocks.size > 0 ? blocks.size : event.size);
        support_clear(&blocks);
        support_clear(&event);
    }
    file.begin[RECORDS] = file.bytes.size;
    return file;
}

typedef enum damage { PAYLOAD, ONE_SIZE, ALL_SIZES, VERSION, TYPE, COMPRESSION, DAMAGES } damage;

/* False where the record can still be read. */
static bool damage_record(record_file *file, uint32_t r, damage how)
{
    uint8_t *record = file->bytes.at + file->begin[r];
    switch (how) {
    case PAYLOAD:
        record[48 + 30] ^= 0x10;
        return true;
    case ONE_SIZE:
        record[6] ^= 0x40;
        return false;
    case ALL_SIZES:
        memset(record, 0xff, 12);
        return true;
    case VERSION:
        record[17] = 0x97;
        return true;
    case TYPE:
        record[18] = 7;
        return true;
    case COMPRESSION:
    default:
        record[16] = 15;
        return true;
    }
}

/* Reads in batches of `most`, and asserts that the rows are those records that are not lost. */
static void check_rows(const record_file *file, const bool *lost, uint32_t most, bool deferred)
{
    slc_io_source *source = NULL;
    slc_io_deferred *rest = NULL;
    slc_batch batch = {0};
    slc_lhcb_events events = {0};
    slc_faults faults = {0};
    uint32_t r = 0;
    assert_int_equal(slc_io_open_memory(file->bytes.at, file->bytes.size, "m", NULL, &source, NULL), SLC_OK);
    assert_int_equal(slc_io_deferred_open(&rest, NULL), SLC_OK);
    for (;;) {
        const slc_status status = deferred ? slc_io_read_batch_deferred(source, most, 1 << 20, &batch, rest,
                                                                        &faults, NULL)
                                           : slc_io_read_batch(source, most, 1 << 20, &batch, &faults, NULL);
        if (status != SLC_OK) {
            assert_int_equal(status, SLC_END);
            break;
        }
        if (deferred) {
            assert_int_equal(slc_io_finish_batch(&batch, rest, &faults, NULL), SLC_OK);
        }
        assert_int_equal(slc_columns_reserve(&slc_lhcb_events_schema, &events, RECORDS, RECORDS), SLC_OK);
        assert_int_equal(slc_lhcb_identity_run(&batch, 0, &events, NULL), SLC_OK);
        assert_int_equal(events.head.size, batch.n_events);
        for (size_t i = 0; i < events.head.size; i++, r++) {
            while (r < RECORDS && lost[r]) {
                r++;
            }
            assert_int_equal(events.record[i], r);
            assert_int_equal(events.offset_bytes[i], file->begin[r]);
            assert_int_equal(events.identity_from[i], SLC_LHCB_IDENTITY_ODIN);
        }
    }
    while (r < RECORDS && lost[r]) {
        r++;
    }
    assert_int_equal(r, RECORDS);
    slc_io_deferred_close(rest);
    slc_io_close(source);
    slc_batch_clear(&batch);
    slc_columns_clear(&slc_lhcb_events_schema, &events);
}

static void records_keep_their_numbers(void **state)
{
    (void)state;
    /* Which records are damaged: none, one, neighbours, the first, the last. */
    static const uint32_t damaged[] = {0,     1U << 3,   3U << 3, 7U << 2, 1, 1U << (RECORDS - 1),
                                       0x155, 0x1ff >> 1};
    for (int how = 0; how < DAMAGES; how++) {
        for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++) {
            for (int compressed = 0; compressed < 2; compressed++) {
                record_file file = make_file(compressed == 1);
                bool lost[RECORDS] = {false};
                for (uint32_t r = 0; r < RECORDS; r++) {
                    lost[r] = (damaged[k] >> r & 1) != 0 && damage_record(&file, r, (damage)how);
                }
                for (uint32_t most = 1; most <= RECORDS; most += 2) {
                    check_rows(&file, lost, most, false);
                    check_rows(&file, lost, most, true);
                }
                support_clear(&file.bytes);
            }
        }
    }
}

/* The header's run, orbit and bunch crossing come along, whichever way a record takes through the reader. */
static void headers_are_told(void **state)
{
    (void)state;
    support_bytes file = {0};
    support_bytes event = {0};
    append_bank(&event, 9, 3, 5, 0);
    for (unsigned r = 0; r < 6; r++) {
        support_bytes blocks = support_blocks(event.at, event.size, 300);
        const size_t begin = file.size;
        const bool packed = r >= 3;
        const unsigned version = r % 3 + 1;
        support_record(&file, version, packed, packed ? blocks.at : event.at,
                       packed ? blocks.size : event.size);
        if (version != 2) {
            put(file.at + begin + 12, 0); /* no checksum */
            put(file.at + begin + 36, 10 + r);
            put(file.at + begin + 40, 20 + r);
            put(file.at + begin + 44, 30 + r);
        }
        support_clear(&blocks);
    }
    for (int from_file = 0; from_file < 2; from_file++) {
        slc_io_source *source = NULL;
        slc_io_deferred *rest = NULL;
        slc_batch batch = {0};
        slc_faults faults = {0};
        assert_int_equal(from_file ? slc_io_open(support_temporary(file.at, file.size), NULL, &source, NULL)
                                   : slc_io_open_memory(file.at, file.size, "m", NULL, &source, NULL),
                         SLC_OK);
        assert_int_equal(slc_io_deferred_open(&rest, NULL), SLC_OK);
        assert_int_equal(slc_io_read_batch_deferred(source, 10, 1 << 20, &batch, rest, &faults, NULL),
                         SLC_OK);
        assert_int_equal(slc_io_finish_batch(&batch, rest, &faults, NULL), SLC_OK);
        assert_int_equal(batch.n_events, 6);
        for (uint32_t r = 0; r < 6; r++) {
            const bool known = r % 3 + 1 != 2;
            assert_int_equal(batch.record[r].number, r);
            assert_int_equal(batch.record[r].known, known);
            assert_int_equal(batch.record[r].run, known ? 10 + r : 0);
            assert_int_equal(batch.record[r].orbit, known ? 20 + r : 0);
            assert_int_equal(batch.record[r].bunch, known ? 30 + r : 0);
        }
        slc_io_deferred_close(rest);
        slc_io_close(source);
        slc_batch_clear(&batch);
    }
    support_clear(&event);
    support_clear(&file);
}

/* ---- lists of hits ------------------------------------------------------------------------------- */

static void hits_have_places(void **state)
{
    (void)state;
    support_bytes stream = {0};
    uint64_t begin[6];
    for (uint32_t e = 0; e < 6; e++) {
        support_bytes event = support_json(e, 8);
        support_append(&stream, "\n  ", e % 4);
        begin[e] = stream.size;
        support_append(&stream, event.at, event.size);
        support_clear(&event);
    }
    stream.at[begin[2] + 3] = 'q'; /* a key that is missing then */
    for (uint32_t most = 1; most < 7; most++) {
        slc_io_source *source = NULL;
        slc_velo_hits hits = {0};
        slc_lhcb_events events = {0};
        slc_faults faults = {0};
        uint32_t e = 0;
        assert_int_equal(slc_io_open_memory(stream.at, stream.size, "e", NULL, &source, NULL), SLC_OK);
        while (slc_io_read_velo_hits(source, most, &hits, NULL, &events, &faults, NULL) == SLC_OK) {
            assert_int_equal(events.head.n_events, hits.head.n_events);
            assert_int_equal(events.head.size, hits.head.n_events);
            for (size_t i = 0; i < events.head.size; i++, e++) {
                e += e == 2;
                assert_int_equal(events.record[i], e);
                assert_int_equal(events.offset_bytes[i], begin[e]);
                assert_row(&events, i, SLC_LHCB_IDENTITY_NONE, 0, 0, 0);
            }
        }
        assert_int_equal(e, 6);
        slc_io_close(source);
        slc_columns_clear(&slc_velo_hits_schema, &hits);
        slc_columns_clear(&slc_lhcb_events_schema, &events);
    }
    support_clear(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odin_is_read),
        cmocka_unit_test(all_of_odin_is_read),
        cmocka_unit_test(records_keep_their_numbers),
        cmocka_unit_test(headers_are_told),
        cmocka_unit_test(hits_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
