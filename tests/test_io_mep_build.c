/* SPDX-License-Identifier: Apache-2.0
 * Events built of what readout units have: the packets of a file are dealt to units, and what comes of them
 * is what was written, for any number of units; each kind of damage is counted by its name and costs what it
 * hits. */
#include "support/cmocka_all.h"
#include "support/support.h"

#include "base/bytes.h"

#include <sluice/io_lhcb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 10, SOURCES = 6, UNITS = 4, ROOM = 1 << 16, BANK = 63 };

/* The payload of a source in an event: of 0 to 40 bytes; source 3 has none in every third event. */
static uint32_t payload(uint32_t event, uint32_t source, uint8_t *to)
{
    const uint32_t n = (event * 7 + source * 5) % 41;
    for (uint32_t i = 0; i < n; i++) {
        to[i] = (uint8_t)(event * 16 + source + i);
    }
    return n;
}
static bool has(uint32_t event, uint32_t source)
{
    return source != 3 || event % 3 != 0;
}

/* A source's packet of the events from `first` on; returns its bytes with what fills them up to eight. */
static size_t make(uint8_t *at, uint32_t first, uint16_t source)
{
    uint8_t *types = at + 20, *sizes = types + (EVENTS + 3) / 4 * 4, *data = sizes + (2 * EVENTS + 3) / 4 * 4;
    memset(at, 0, 1024);
    slc_store_u16(at, 0x40CE);
    slc_store_u16(at + 2, EVENTS);
    slc_store_u64(at + 8, first);
    slc_store_u16(at + 16, source);
    at[18] = 2;
    at[19] = 4;
    for (uint32_t k = 0; k < EVENTS; k++) {
        const uint32_t n = has(first + k, source) ? payload(first + k, source, data) : 0;
        types[k] = has(first + k, source) ? BANK : 0;
        slc_store_u16(sizes + 2 * (size_t)k, (uint16_t)n);
        data += (n + 3) / 4 * 4;
    }
    slc_store_u32(at + 4, (uint32_t)(data - at));
    return ((size_t)(data - at) + 7) / 8 * 8;
}

/* Sources s with s % n_units == u, their packets at `at` of `bytes`. */
typedef struct unit {
    slc_io_mfp_source sources[SOURCES];
    uint8_t bytes[ROOM];
    size_t size, at[SOURCES + 1];
    uint32_t n;
    bool late;
    slc_faults faults;
} unit;

typedef struct run {
    unit units[UNITS];
    uint32_t n_units, first;
    slc_batch batch;
    uint64_t incomplete;
} run;

static run *begin(uint32_t n_units, uint32_t first)
{
    run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->n_units = n_units;
    r->first = first;
    for (uint16_t s = 0; s < SOURCES; s++) {
        unit *u = &r->units[s % n_units];
        u->sources[u->n] = (slc_io_mfp_source){s, 1, 1};
        u->at[u->n++] = u->size;
        u->size += make(u->bytes + u->size, first, s);
        u->at[u->n] = u->size;
    }
    return r;
}

static void build(run *r)
{
    slc_io_mfp_unit units[UNITS];
    slc_error error;
    for (uint32_t i = 0; i < r->n_units; i++) {
        unit *u = &r->units[i];
        const size_t at = (r->batch.size + 7) / 8 * 8;
        assert_int_equal(slc_batch_reserve(&r->batch, at + u->size + 1, 0), SLC_OK);
        memcpy(r->batch.bytes + at, u->bytes, u->size);
        r->batch.size = at + u->size;
        slc_faults_reset(&u->faults);
        units[i] = (slc_io_mfp_unit){u->sources, u->n, u->late, at, u->size, &u->faults};
    }
    const slc_io_mfp_pack pack = {r->first, 100, EVENTS, r->n_units, units, NULL};
    assert_int_equal(slc_io_mfp_build(&pack, &r->batch, &r->incomplete, &error), SLC_OK);
    assert_int_equal(r->batch.n_events, EVENTS);
}

static void end(run *r)
{
    slc_batch_clear(&r->batch);
    free(r);
}

/* Event k has the banks that it should, but those of the sources in `without`, by rising source. */
static void expect_event(const run *r, uint32_t k, uint32_t without)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&r->batch, k);
    slc_lhcb_bank bank;
    uint32_t lacks = 0;
    for (uint16_t s = 0; s < SOURCES; s++) {
        uint8_t bytes[64];
        const uint32_t size = payload(r->first + k, s, bytes);
        lacks += without >> s & 1;
        if (without >> s & 1 || !has(r->first + k, s)) {
            continue;
        }
        assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_OK);
        assert_int_equal(bank.source, s);
        assert_int_equal(bank.type, BANK);
        assert_int_equal(bank.version, 4);
        assert_int_equal(bank.size, size);
        assert_memory_equal(bank.payload, bytes, size);
    }
    assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_END);
    assert_int_equal(r->batch.record[k].missing, lacks);
    assert_int_equal(r->batch.record[k].number, 100 + k);
}

/* All events lack these sources, and one fault of the code in unit u is all that is told. */
static void expect(run *r, uint32_t without, uint32_t u, slc_fault_code code, int32_t source)
{
    build(r);
    for (uint32_t k = 0; k < EVENTS; k++) {
        expect_event(r, k, without);
    }
    assert_int_equal(r->incomplete, without != 0 ? EVENTS : 0);
    for (uint32_t i = 0; i < r->n_units; i++) {
        assert_int_equal(slc_faults_total(&r->units[i].faults), i == u && code != SLC_FAULT_NONE);
    }
    if (code != SLC_FAULT_NONE) {
        assert_int_equal(r->units[u].faults.kept[0].code, code);
        assert_int_equal(r->units[u].faults.kept[0].module, source);
        assert_int_equal(r->units[u].faults.kept[0].event, 100);
    }
    end(r);
}

/* Takes `size` bytes at `at` out of a unit's, or puts so many in. */
static void cut(unit *u, size_t at, size_t size)
{
    memmove(u->bytes + at, u->bytes + at + size, u->size - at - size);
    u->size -= size;
}
static void put(unit *u, size_t at, const uint8_t *bytes, size_t size)
{
    memmove(u->bytes + at + size, u->bytes + at, u->size - at);
    memcpy(u->bytes + at, bytes, size);
    u->size += size;
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void any_number_of_units(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= UNITS; n++) {
        expect(begin(n, 20 * n), 0, 0, SLC_FAULT_NONE, 0);
    }
}

static void a_unit_has_nothing(void **state)
{
    (void)state;
    run *r = begin(3, 0);
    r->units[1].size = 0;
    expect(r, 1U << 1 | 1U << 4, 1, SLC_FAULT_PACK_LOST, -1);
    r = begin(3, 0);
    r->units[2].size = 0;
    r->units[2].late = true;
    expect(r, 1U << 2 | 1U << 5, 2, SLC_FAULT_PACK_LATE, -1);
    r = begin(1, 0);
    r->units[0].size = 0;
    expect(r, 63, 0, SLC_FAULT_PACK_LOST, -1);
}

/* Every packet of a unit in turn, so that damage stands at its beginning, in its middle and at its end. */
static void a_source_is_lost(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        run *r = begin(2, 0);
        unit *u = &r->units[1];
        cut(u, u->at[i], u->at[i + 1] - u->at[i]);
        expect(r, 1U << (2 * i + 1), 1, SLC_FAULT_PACK_LOST, (int32_t)(2 * i + 1));
    }
}

static void a_packet_is_doubled(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        run *r = begin(2, 0);
        unit *u = &r->units[0];
        uint8_t copy[1024];
        memcpy(copy, u->bytes + u->at[i], u->at[i + 1] - u->at[i]);
        put(u, i == 1 ? u->size : u->at[i], copy, u->at[i + 1] - u->at[i]);
        expect(r, 0, 0, SLC_FAULT_PACK_DOUBLED, (int32_t)(2 * i));
    }
}

static void a_packet_is_of_another_source(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t other = 0; other < 2; other++) { /* one that nobody has, one that the unit has */
            if (other == 1 && i == 0) {
                continue; /* who comes first is believed: the next case has that */
            }
            run *r = begin(2, 0);
            unit *u = &r->units[0];
            const uint16_t source = other == 0 ? 999 : 2 * (i == 0 ? 1 : 0);
            slc_store_u16(u->bytes + u->at[i] + 16, source);
            expect(r, 1U << 2 * i, 0, SLC_FAULT_PACK_SOURCE, source);
        }
    }
}

static void a_packet_is_of_other_events(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        run *r = begin(2, 0);
        unit *u = &r->units[1];
        u->bytes[u->at[i] + 8] = 77;
        expect(r, 1U << (2 * i + 1), 1, SLC_FAULT_PACK_EVENT, (int32_t)(2 * i + 1));
    }
}

static void a_head_is_damaged(void **state)
{
    (void)state;
    static const size_t where[] = {0, 1, 2, 4, 6, 18, 21 + EVENTS + 3};
    for (uint32_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < sizeof where / sizeof *where; k++) {
            run *r = begin(2, 0);
            unit *u = &r->units[0];
            u->bytes[u->at[i] + where[k]] ^= 0x55;
            expect(r, 1U << 2 * i, 0, SLC_FAULT_PACK_HEADER, -1);
        }
    }
}

/* The end of each packet is cut off after every byte in turn: events have what is there. */
static void a_packet_is_truncated(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        for (size_t keep = 66;; keep++) {
            run *r = begin(2, 0);
            unit *u = &r->units[0];
            const size_t size = slc_load_u32(u->bytes + u->at[i] + 4), data = 20 + 12 + 20;
            if (keep >= size) {
                end(r);
                break;
            }
            cut(u, u->at[i] + keep, u->at[i + 1] - u->at[i] - keep);
            build(r);
            size_t at = data;
            uint64_t incomplete = 0;
            for (uint32_t k = 0; k < EVENTS; k++) {
                uint8_t bytes[64];
                const uint32_t n = payload(k, 2 * i, bytes);
                const bool lacks = n > 0 && at + n > keep;
                expect_event(r, k, lacks ? 1U << 2 * i : 0);
                incomplete += lacks;
                at += (n + 3) / 4 * 4;
            }
            assert_int_equal(r->incomplete, incomplete);
            assert_int_equal(slc_faults_of(&r->units[0].faults, SLC_FAULT_PACK_TRUNCATED), 1);
            assert_int_equal(slc_faults_total(&r->units[0].faults), 1);
            end(r);
        }
    }
}

/* Whatever the bytes are, nothing beyond them is read (under the sanitizers), and the walk ends. */
static void any_bytes(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (uint32_t i = 0; i < 2000; i++) {
        run *r = begin(2, 0);
        unit *u = &r->units[0];
        for (uint32_t k = 0; k < 1 + i % 4; k++) {
            random = random * 6364136223846793005U + 1442695040888963407U;
            u->bytes[(random >> 33) % u->size] = (uint8_t)(random >> 25);
        }
        u->size -= i % 3 == 0 ? (random >> 40) % u->size : 0;
        build(r);
        for (uint32_t k = 0; k < EVENTS; k++) {
            slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&r->batch, k);
            slc_lhcb_bank bank;
            uint32_t n = 0;
            while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
                n++;
            }
            assert_true(n <= 2 * SOURCES);
        }
        end(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_units),
        cmocka_unit_test(a_unit_has_nothing),
        cmocka_unit_test(a_source_is_lost),
        cmocka_unit_test(a_packet_is_doubled),
        cmocka_unit_test(a_packet_is_of_another_source),
        cmocka_unit_test(a_packet_is_of_other_events),
        cmocka_unit_test(a_head_is_damaged),
        cmocka_unit_test(a_packet_is_truncated),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
