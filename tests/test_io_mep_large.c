/* SPDX-License-Identifier: Apache-2.0
 * Packets whose blocks lie on both sides of 2^31 and 2^32 bytes, in files that are mostly holes. */
#include "support/cmocka_all.h"
#include "support/support.h"

#include "base/bytes.h"
#include "io/io_source.h"
#include "lhcb/lhcb_packet.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3, BLOCK_2019 = 16 + 4 + 8 + 4 * N, BLOCK_MFP = 20 + 4 + 8 + 4 * N };

static void put(int file, uint64_t at, const void *bytes, size_t size)
{
    assert_int_equal(pwrite(file, bytes, size, (off_t)at), size);
}

/* A block of three fragments of four bytes: the source, and the event. */
static void put_block(int file, uint64_t at, bool mfp, uint16_t source)
{
    uint8_t b[BLOCK_MFP] = {0};
    uint8_t *types = b + (mfp ? 20 : 16);
    if (mfp) {
        slc_store_u16(b, SLC_PACKET_BLOCK_MAGIC);
        slc_store_u16(b + 2, N);
        slc_store_u32(b + 4, BLOCK_MFP);
        slc_store_u16(b + 16, source);
        b[18] = 2;
    } else {
        slc_store_u16(b + 8, N);
        slc_store_u32(b + 12, 4 * N);
    }
    for (uint32_t k = 0; k < N; k++) {
        types[k] = 9;
        slc_store_u16(types + 4 + 2 * k, 4);
        slc_store_u32(types + 12 + 4 * k, (uint32_t)source << 16 | k);
    }
    put(file, at, b, mfp ? BLOCK_MFP : BLOCK_2019);
}

static void every_event_has_both(const char *path, uint32_t max_events, uint64_t offset)
{
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    uint64_t n = 0;
    assert_int_equal(slc_io_open(path, NULL, &source, NULL), SLC_OK);
    while (slc_io_read_batch(source, max_events, 1 << 20, &batch, NULL, NULL) == SLC_OK) {
        assert_true(batch.capacity < (64 << 20));
        for (uint32_t e = 0; e < batch.n_events; e++, n++) {
            slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&batch, e);
            slc_lhcb_bank bank;
            for (uint16_t k = 0; k < 3; k++) {
                assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_OK);
                assert_int_equal(bank.source, k);
                assert_int_equal(bank.size, 4);
                assert_int_equal(slc_load_u32(bank.payload), (uint32_t)k << 16 | (uint32_t)n % N);
            }
            assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_END);
            assert_int_equal(batch.file_offset[e], n < N ? 0 : offset);
        }
    }
    if (slc_io_damage(source) != NULL) {
        print_message("%s\n", slc_io_damage(source));
    }
    assert_null(slc_io_damage(source));
    assert_int_equal(n, 2 * N);
    slc_batch_clear(&batch);
    slc_io_close(source);
}

/* The first packet: a block at its beginning, two that end at `end`. Then a small one. */
static void spread(bool mfp, uint64_t end)
{
    char path[] = "/tmp/test_io_mep_large_XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    const uint64_t block = mfp ? BLOCK_MFP : BLOCK_2019, envelope = mfp ? 0 : 48;
    const uint64_t table = mfp ? 8 + 8 + 12 : 16 + 8 + 8 + 12, size[2] = {end, envelope + table + 3 * block};
    uint64_t at = 0;
    for (size_t p = 0; p < 2; p++) {
        uint8_t head[48 + 44] = {0};
        uint8_t *b = head + envelope, *offsets = b + table - 12;
        const uint64_t last = at + size[p] - block;
        const uint64_t place[3] = {at + envelope + table, last - block, last};
        for (uint16_t k = 0; k < 3; k++) {
            slc_store_u16(b + (mfp ? 8 : 16) + 2 * k, k);
            slc_store_u32(offsets + 4 * k,
                          (uint32_t)(mfp ? (place[k] - at) / 4 : place[k] - at - envelope - table));
            put_block(file, place[k], mfp, k);
        }
        if (mfp) {
            slc_store_u16(b, SLC_PACKET_MAGIC);
            slc_store_u16(b + 2, 3);
            slc_store_u32(b + 4, (uint32_t)(size[p] / 4));
        } else {
            for (size_t k = 0; k < 3; k++) {
                slc_store_u32(head + 4 * k, (uint32_t)size[p]);
            }
            head[17] = 0x37;
            head[18] = 2;
            slc_store_u16(b, 3);
            slc_store_u16(b + 2, N);
            slc_store_u64(b + 8, size[p] - envelope - table);
        }
        put(file, at, head, envelope + table);
        at += size[p];
    }
    (void)close(file);
    every_event_has_both(path, 64, size[0]);
    every_event_has_both(path, 1, size[0]);
    assert_int_equal(unlink(path), 0);
}

static void around_2_to_the_31(void **state)
{
    (void)state;
    for (uint64_t off = 0; off <= 96; off += 8) {
        spread(false, (UINT64_C(1) << 31) - 48 + off);
        spread(true, (UINT64_C(1) << 31) - 48 + off);
    }
}

static void up_to_2_to_the_32(void **state)
{
    (void)state;
    for (uint64_t off = 4; off <= 96; off += 8) {
        spread(false, (UINT64_C(1) << 32) - off);
    }
    for (uint64_t off = 0; off <= 96; off += 8) {
        spread(true, (UINT64_C(1) << 32) - 48 + off);
    }
}

static void up_to_2_to_the_34(void **state)
{
    (void)state;
    spread(true, UINT64_C(3) << 32);
    spread(true, (UINT64_C(1) << 34) - 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_2_to_the_31),
        cmocka_unit_test(up_to_2_to_the_32),
        cmocka_unit_test(up_to_2_to_the_34),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
