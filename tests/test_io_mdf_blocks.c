/* SPDX-License-Identifier: Apache-2.0
 *
 * ROOT's compressed blocks in MDF records, of every kind that is read: whole, cut at every byte, with every
 * bit flipped that a test has time for, and with claims that no block can keep.
 */
#include "io/lhcb/io_mdf_blocks.h"
#include "support/cmocka_all.h"
#include "support/support_blocks.h"

#include "base/bytes.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS = 5, HEADER = 48, BLOCK_HEADER = 9 };

static support_outcome expected(void)
{
    support_bytes plain = support_file(EVENTS, false);
    const support_outcome outcome = support_run(plain.at, plain.size, "plain", NULL);
    assert_int_equal(outcome.totals.events, EVENTS);
    support_clear(&plain);
    return outcome;
}

static void every_kind_expands(void **state)
{
    (void)state;
    static const size_t sizes[] = {100, 301, 100000};
    const support_outcome wanted = expected();
    for (int kind = 0; kind <= SUPPORT_KINDS; kind++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            support_bytes file = support_file_of(kind, EVENTS, sizes[i], true);
            const char *path = support_temporary(file.at, file.size);
            const support_outcome memory = support_run(file.at, file.size, "m", NULL);
            const support_outcome placed = support_run_file(path, NULL);
            assert_int_equal(remove(path), 0);
            for (int way = 0; way < 2; way++) {
                const support_outcome *outcome = way == 0 ? &memory : &placed;
                assert_int_equal(outcome->totals.events, EVENTS);
                assert_int_equal(outcome->totals.compressed, EVENTS);
                assert_int_equal(outcome->totals.checksums, EVENTS);
                assert_int_equal(outcome->totals.lost_events, 0);
                assert_int_equal(outcome->tracks, wanted.tracks);
                support_assert_same_events(&wanted, outcome, EVENTS);
            }
            support_clear(&file);
        }
    }
}

/* LHCb's events are larger than a tiny one: nearly as large as a block may be. */
static void large_blocks_expand(void **state)
{
    (void)state;
    const size_t size = SLC_MDF_BLOCK_MAX;
    uint8_t *bytes = malloc(size), *out = malloc(size);
    assert_non_null(bytes);
    assert_non_null(out);
    uint64_t seed = 3;
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(support_random(&seed) % 11);
    }
    slc_mdf_unpacker *unpacker = slc_mdf_unpacker_open();
    assert_non_null(unpacker);
    for (int kind = 0; kind < SUPPORT_KINDS; kind++) {
        support_bytes blocks = support_blocks_of(kind, bytes, size, size);
        size_t expanded = 0;
        const char *why = NULL;
        memset(out, 0, size);
        assert_int_equal(slc_mdf_blocks_size(blocks.at, blocks.size, size, &expanded, &why), SLC_OK);
        assert_int_equal(expanded, size);
        assert_true(slc_mdf_block_whole(blocks.at, BLOCK_HEADER, blocks.size, size, &expanded));
        assert_false(slc_mdf_block_whole(blocks.at, BLOCK_HEADER, blocks.size, size - 1, &expanded));
        assert_false(slc_mdf_block_whole(blocks.at, BLOCK_HEADER, blocks.size + 1, size, &expanded));
        assert_false(slc_mdf_block_whole(blocks.at, BLOCK_HEADER - 1, blocks.size, size, &expanded));
        assert_int_equal(slc_mdf_blocks_expand(unpacker, blocks.at, blocks.size, out, &why), SLC_OK);
        assert_memory_equal(out, bytes, size);
        support_clear(&blocks);
    }
    slc_mdf_unpacker_close(unpacker);
    slc_mdf_unpacker_close(NULL);
    free(bytes);
    free(out);
}

/* A record of so many bytes of a payload, without a checksum, between two whole events. */
static support_outcome run_between(const uint8_t *payload, size_t size)
{
    support_bytes file = {0}, event = support_event(7);
    support_record(&file, 3, 0, event.at, event.size);
    const size_t begin = file.size;
    support_record(&file, 3, 1, payload, size);
    memset(file.at + begin + 12, 0, 4);
    support_record(&file, 3, 0, event.at, event.size);
    const support_outcome outcome = support_read_only(file.at, file.size, "b.mdf", NULL);
    assert_int_equal(outcome.read_status, SLC_END);
    assert_int_equal(outcome.totals.events + outcome.totals.lost_events, 3);
    assert_int_equal(outcome.event_hash[0], support_hash(event.at, event.size));
    assert_int_equal(outcome.event_hash[outcome.totals.events - 1], support_hash(event.at, event.size));
    assert_int_equal(slc_faults_total(&outcome.faults), outcome.totals.lost_events);
    if (outcome.totals.lost_events > 0) {
        assert_int_equal(slc_faults_of(&outcome.faults, SLC_FAULT_RECORD_COMPRESSION), 1);
        support_assert_message(outcome.damage, "b.mdf", begin, "block");
    }
    support_clear(&event);
    support_clear(&file);
    return outcome;
}

/* The record ends anywhere; and a block that has lost its end, and says so. */
static void cut_at_every_byte(void **state)
{
    (void)state;
    for (int kind = 0; kind < SUPPORT_KINDS; kind++) {
        support_bytes event = support_event(1), blocks = support_blocks_of(kind, event.at, event.size, 4000);
        for (size_t size = 1; size <= blocks.size; size++) {
            const support_outcome cut = run_between(blocks.at, size);
            assert_int_equal(cut.totals.lost_events, size < blocks.size);
        }
        for (size_t size = BLOCK_HEADER; size < blocks.size; size++) {
            blocks.at[3] = (uint8_t)(size - BLOCK_HEADER);
            blocks.at[4] = (uint8_t)((size - BLOCK_HEADER) >> 8);
            const support_outcome cut = run_between(blocks.at, size);
            assert_int_equal(cut.totals.lost_events, 1);
        }
        support_clear(&event);
        support_clear(&blocks);
    }
}

/* LZ4 and LZMA blocks have a hash, zlib's too; zstd's have none here, and may become other bytes. */
static void every_bit_flipped(void **state)
{
    (void)state;
    for (int kind = 0; kind < SUPPORT_KINDS; kind++) {
        support_bytes event = support_event(1), blocks = support_blocks_of(kind, event.at, event.size, 4000);
        uint32_t lost = 0;
        const uint32_t bits = 8 * (uint32_t)blocks.size;
        for (uint32_t bit = 0; bit < bits; bit++) {
            blocks.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
            lost += (uint32_t)run_between(blocks.at, blocks.size).totals.lost_events;
            blocks.at[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        assert_true(kind == SUPPORT_ZS ? lost > bits / 3 : lost > bits - 40);
        if (kind == SUPPORT_L4) {
            assert_int_equal(lost, bits);
        }
        support_clear(&event);
        support_clear(&blocks);
    }
}

static void assert_told(const uint8_t *payload, size_t size, const char *reason)
{
    const support_outcome outcome = run_between(payload, size);
    assert_int_equal(outcome.totals.lost_events, 1);
    if (strstr(outcome.damage, reason) == NULL) {
        fail_msg("\"%s\" should contain \"%s\"", outcome.damage, reason);
    }
}

static void claims_are_told(void **state)
{
    (void)state;
    for (int kind = 0; kind < SUPPORT_KINDS; kind++) {
        support_bytes event = support_event(1), blocks = support_blocks_of(kind, event.at, event.size, 4000);
        const uint8_t unpacked = blocks.at[6], method = blocks.at[2];
        blocks.at[6] = (uint8_t)(unpacked + 1);
        assert_told(blocks.at, blocks.size, "does not expand to the size it states");
        blocks.at[6] = (uint8_t)(unpacked - 1);
        assert_told(blocks.at, blocks.size, "does not expand to the size it states");
        blocks.at[6] = unpacked;
        blocks.at[2] = (uint8_t)(method + 1);
        assert_told(blocks.at, blocks.size, "of none of the kinds that can be read");
        blocks.at[2] = method;
        uint8_t most[BLOCK_HEADER + 64] = {0};
        memcpy(most, blocks.at, 3);
        most[3] = 64;
        memset(most + 6, 0xff, 3);
        assert_told(most, sizeof most, "claims to hold more than it can");
        support_clear(&event);
        support_clear(&blocks);
    }
    assert_told((const uint8_t *)"CS\10\1\0\0\1\0\0x", 10, "old kind 'CS'");
    assert_told((const uint8_t *)"QQ\1\1\0\0\1\0\0x", 10, "of none of the kinds");
    assert_told((const uint8_t *)"qq\1\1\0\0\1\0\0x", 10, "no compressed block where one must begin");
    assert_told((const uint8_t *)"L4\1\7\0\0\1\0\0xxxxxxx", 16, "does not expand");
}

/* An .xz file that wants a window of 1.5 GB gets none. */
static void window_is_bounded(void **state)
{
    (void)state;
    support_bytes event = support_event(1),
                  blocks = support_blocks_of(SUPPORT_XZ, event.at, event.size, 4000);
    /* Stream header (12 bytes), block header: size, flags, filter id, size of its properties, the window. */
    uint8_t *header = blocks.at + BLOCK_HEADER + 12;
    size_t at = 2;
    while (header[at] != 0x21) {
        at++;
    }
    const size_t length = 4 * ((size_t)header[0] + 1);
    header[at + 2] = 39; /* 3 GiB */
    slc_store_u32(header + length - 4, lzma_crc32(header, length - 4, 0));
    assert_told(blocks.at, blocks.size, "does not expand");
    support_clear(&event);
    support_clear(&blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_expands), cmocka_unit_test(large_blocks_expand),
        cmocka_unit_test(cut_at_every_byte),  cmocka_unit_test(every_bit_flipped),
        cmocka_unit_test(claims_are_told),    cmocka_unit_test(window_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
