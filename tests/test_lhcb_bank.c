/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw banks: written and walked again for every payload size, and damaged ones walked with a guard page
 * behind the last byte: truncated everywhere, and with every kind of wrong header.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "support/guard_page.h"
#include <sluice/lhcb.h>

#include <stdlib.h>

static void test_round_trip_of_every_size(void **state)
{
    (void)state;
    uint8_t payload[64], out[80];
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i + 1);
    }
    for (size_t size = 0; size <= sizeof payload; size++) {
        memset(out, 0xee, sizeof out);
        const size_t written = slc_lhcb_bank_write(out, sizeof out, SLC_LHCB_BANK_VP, 4, -7, payload, size);
        assert_int_equal(written, slc_lhcb_bank_bound(size));
        assert_int_equal(written % 4, 0);
        assert_in_range(written, size + SLC_LHCB_BANK_HEADER, size + SLC_LHCB_BANK_HEADER + 3);
        assert_int_equal(out[written], 0xee);
        for (size_t i = SLC_LHCB_BANK_HEADER + size; i < written; i++) {
            assert_int_equal(out[i], 0);
        }
        slc_lhcb_bank_cursor cursor = {.bytes = out, .size = written};
        slc_lhcb_bank bank;
        assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_OK);
        assert_int_equal(bank.size, size);
        assert_int_equal(bank.type, SLC_LHCB_BANK_VP);
        assert_int_equal(bank.version, 4);
        assert_int_equal(bank.source, -7);
        assert_int_equal(bank.offset, 0);
        assert_memory_equal(bank.payload, payload, size);
        assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_END);
        assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_END);
    }
}

static void test_header_bytes(void **state)
{
    (void)state;
    static const uint8_t expected[] = {0xcb, 0xcb, 0x0b, 0x00, 63, 2, 0xcf, 0x00, 'a', 'b', 'c', 0};
    uint8_t out[12];
    assert_int_equal(slc_lhcb_bank_write(out, sizeof out, 63, 2, 207, "abc", 3), 12);
    assert_memory_equal(out, expected, sizeof expected);
}

static void test_writer_refuses_what_does_not_fit(void **state)
{
    (void)state;
    static const uint8_t payload[SLC_LHCB_BANK_MAX_PAYLOAD + 1];
    uint8_t *out = malloc(SLC_LHCB_BANK_MAX_PAYLOAD + 16);
    assert_non_null(out);
    memset(out, 0xee, 32);
    assert_int_equal(slc_lhcb_bank_write(out, 15, 1, 1, 1, payload, 5), 0);
    assert_int_equal(slc_lhcb_bank_write(out, 7, 1, 1, 1, payload, 0), 0);
    assert_int_equal(
        slc_lhcb_bank_write(out, SLC_LHCB_BANK_MAX_PAYLOAD + 16, 1, 1, 1, payload, sizeof payload), 0);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(out[i], 0xee);
    }
    const size_t written = slc_lhcb_bank_write(out, SLC_LHCB_BANK_MAX_PAYLOAD + 16, 1, 1, 1, payload,
                                               SLC_LHCB_BANK_MAX_PAYLOAD);
    assert_int_equal(written, 65536);
    slc_lhcb_bank_cursor cursor = {.bytes = out, .size = written};
    slc_lhcb_bank bank;
    assert_int_equal(slc_lhcb_bank_next(&cursor, &bank, NULL), SLC_OK);
    assert_int_equal(bank.size, SLC_LHCB_BANK_MAX_PAYLOAD);
    free(out);
}

/* Three banks, of 5, 0 and 16 bytes of payload: 16 + 8 + 24 bytes. */
static size_t three_banks(uint8_t *out, size_t capacity)
{
    static const uint8_t payload[16] = {1, 2, 3, 4, 5};
    size_t size = slc_lhcb_bank_write(out, capacity, SLC_LHCB_BANK_VP, 2, 0, payload, 5);
    size += slc_lhcb_bank_write(out + size, capacity - size, SLC_LHCB_BANK_ODIN, 6, 1, NULL, 0);
    return size + slc_lhcb_bank_write(out + size, capacity - size, SLC_LHCB_BANK_VP, 2, 2, payload, 16);
}

/* Touches every byte of every bank, so that a wrong size meets the guard. */
static slc_status walk(const uint8_t *bytes, size_t size, uint32_t *n_banks, slc_fault_code *fault,
                       size_t *at)
{
    slc_lhcb_bank_cursor cursor = {.bytes = bytes, .size = size};
    slc_lhcb_bank bank;
    volatile uint8_t sum = 0;
    slc_status status;
    *n_banks = 0;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, fault)) == SLC_OK) {
        for (uint32_t i = 0; i < bank.size; i++) {
            sum = (uint8_t)(sum + bank.payload[i]);
        }
        ++*n_banks;
    }
    *at = cursor.at;
    return status;
}

static void test_truncated_everywhere(void **state)
{
    (void)state;
    uint8_t banks[64];
    const size_t size = three_banks(banks, sizeof banks);
    assert_int_equal(size, 48);
    guard_page guard = guard_page_open(size);
    assert_non_null(guard.mapping);
    for (size_t left = 0; left <= size; left++) {
        const uint8_t *bytes = guard_page_copy(&guard, banks, left);
        uint32_t n = 0;
        size_t at = 0;
        slc_fault_code fault = SLC_FAULT_NONE;
        const slc_status status = walk(bytes, left, &n, &fault, &at);
        /* The first bank's padding begins at 13 and may be missing. */
        const bool whole = left == 0 || (left >= 13 && left <= 16) || left == 24 || left == 48;
        assert_int_equal(status, whole ? SLC_END : SLC_ERR_FORMAT);
        assert_int_equal(n, (left >= 13) + (left >= 24) + (left >= 48));
        if (!whole) {
            assert_int_equal(fault, SLC_FAULT_BANK_SIZE);
            assert_int_equal(at, left < 13 ? 0 : left < 24 ? 16 : 24);
        }
    }
    guard_page_close(&guard);
}

static void test_wrong_headers(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint16_t value;
        slc_fault_code fault;
        uint32_t banks; /* before it */
    } cases[] = {
        {0, 0xcbca, SLC_FAULT_BANK_MAGIC, 0},  {16, 0, SLC_FAULT_BANK_MAGIC, 1},
        {24, 0xcb00, SLC_FAULT_BANK_MAGIC, 2}, {2, 0, SLC_FAULT_BANK_SIZE, 0},
        {2, 7, SLC_FAULT_BANK_SIZE, 0},        {2, 49, SLC_FAULT_BANK_SIZE, 0},
        {2, 65535, SLC_FAULT_BANK_SIZE, 0},    {26, 25, SLC_FAULT_BANK_SIZE, 2},
        {26, 32768, SLC_FAULT_BANK_SIZE, 2},   {2, 8, SLC_FAULT_BANK_MAGIC, 1},
    };
    guard_page guard = guard_page_open(64);
    assert_non_null(guard.mapping);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t banks[64];
        const size_t size = three_banks(banks, sizeof banks);
        slc_store_u16(banks + cases[i].at, cases[i].value);
        const uint8_t *bytes = guard_page_copy(&guard, banks, size);
        uint32_t n = 0;
        size_t at = 0;
        slc_fault_code fault = SLC_FAULT_NONE;
        assert_int_equal(walk(bytes, size, &n, &fault, &at), SLC_ERR_FORMAT);
        assert_int_equal(fault, cases[i].fault);
        assert_int_equal(n, cases[i].banks);
        assert_true(at < size);
    }
    guard_page_close(&guard);
}

/* Random bytes behind a good magic: whatever the walk says, it ends, and it stays inside. */
static void test_random_damage_ends(void **state)
{
    (void)state;
    guard_page guard = guard_page_open(64);
    assert_non_null(guard.mapping);
    uint64_t seed = 42;
    uint32_t failed = 0;
    for (int round = 0; round < 20000; round++) {
        uint8_t banks[64];
        const size_t size = three_banks(banks, sizeof banks);
        for (int flips = 0; flips < 3; flips++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            const uint64_t bit = (seed >> 33) % (8 * size);
            banks[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        uint32_t n = 0;
        size_t at = 0;
        slc_fault_code fault;
        const slc_status status = walk(guard_page_copy(&guard, banks, size), size, &n, &fault, &at);
        assert_true(status == SLC_END || status == SLC_ERR_FORMAT);
        assert_true(at <= size && n <= size / SLC_LHCB_BANK_HEADER);
        failed += status == SLC_ERR_FORMAT;
    }
    assert_true(failed > 1000);
    guard_page_close(&guard);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(slc_lhcb_bank_type_name(SLC_LHCB_BANK_VP), "VP");
    assert_string_equal(slc_lhcb_bank_type_name(SLC_LHCB_BANK_ODIN), "ODIN");
    assert_string_equal(slc_lhcb_bank_type_name(SLC_LHCB_BANK_VP_RETINA), "VPRetinaCluster");
    assert_null(slc_lhcb_bank_type_name(255));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_every_size),
        cmocka_unit_test(test_header_bytes),
        cmocka_unit_test(test_writer_refuses_what_does_not_fit),
        cmocka_unit_test(test_truncated_everywhere),
        cmocka_unit_test(test_wrong_headers),
        cmocka_unit_test(test_random_damage_ends),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
