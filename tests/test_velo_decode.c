/* SPDX-License-Identifier: Apache-2.0
 * VP banks to super-pixels: versions, orders, and every kind of damage. */
#include "base/columns.h"
#include "velo/velo_decode.h"

#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t event[1 << 20];
static size_t event_size;
static slc_velo_superpixels out;
static slc_faults faults;

static uint32_t word(uint32_t column, uint32_t row, uint32_t pattern)
{
    return column << 14 | row << 8 | pattern;
}

static void begin(void)
{
    event_size = 0;
}

static void add_raw(uint8_t type, uint8_t version, int16_t source, const void *payload, size_t size)
{
    const size_t written = slc_lhcb_bank_write(event + event_size, sizeof event - event_size, type, version,
                                               source, payload, size);
    assert_true(written > 0);
    event_size += written;
}

/* A bank of version 2 with its count. */
static void add_bank(int16_t source, const uint32_t *words, uint32_t n)
{
    static uint32_t payload[20000];
    payload[0] = n;
    for (uint32_t i = 0; i < n; i++) {
        payload[1 + i] = words[i];
    }
    add_raw(SLC_LHCB_BANK_VP, 2, source, payload, 4 + 4 * (size_t)n);
}

static void decode(void)
{
    slc_batch batch = {0};
    batch.first_event = 41;
    slc_faults_reset(&faults);
    slc_columns_reset(&out);
    assert_int_equal(slc_batch_append(&batch, event, event_size, 0), SLC_OK);
    const size_t bound = slc_velo_decode_bound(&batch, NULL);
    /* Exactly the bound: a stage that asks for more than it says is wrong. */
    slc_columns_clear(&slc_velo_superpixels_schema, &out);
    assert_int_equal(slc_columns_reserve(&slc_velo_superpixels_schema, &out, bound, 1), SLC_OK);
    assert_int_equal(slc_velo_decode_run(&batch, &out, &faults), SLC_OK);
    assert_true(slc_columns_check(&slc_velo_superpixels_schema, &out, NULL));
    assert_int_equal(out.head.n_events, 1);
    slc_batch_clear(&batch);
}

static void expect_one_fault(slc_fault_code code, int32_t module)
{
    assert_int_equal(slc_faults_total(&faults), 1);
    assert_int_equal(slc_faults_of(&faults, code), 1);
    assert_int_equal(faults.kept[0].code, code);
    assert_int_equal(faults.kept[0].event, 41);
    assert_int_equal(faults.kept[0].module, module);
}

static void sorts_sensors_and_addresses(void **state)
{
    (void)state;
    const uint32_t high[] = {word(9, 3, 1), word(2, 60, 7), word(2, 5, 0xff) | 0x80000000U,
                             word(383, 63, 128)};
    const uint32_t low[] = {word(0, 0, 16)};
    begin();
    add_raw(SLC_LHCB_BANK_ODIN, 6, 0, high, 16); /* other banks are none of its business */
    add_bank(207, high, 4);
    add_bank(3, low, 1);
    add_bank(5, NULL, 0);
    decode();
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(out.head.size, 5);
    const uint32_t expected[] = {word(0, 0, 16), word(2, 5, 0xff) | 0x80000000U, word(2, 60, 7),
                                 word(9, 3, 1), word(383, 63, 128)};
    const uint8_t sensors[] = {3, 207, 207, 207, 207};
    assert_memory_equal(out.word, expected, sizeof expected);
    assert_memory_equal(out.sensor, sensors, sizeof sensors);
}

/* A version-4 bank serves two sensors and has no count; bits 24 to 30 mean nothing. */
static void splits_sensor_pairs(void **state)
{
    (void)state;
    const uint32_t select = 1U << 23;
    const uint32_t words[] = {word(7, 7, 1) | select, word(1, 2, 3), word(0, 1, 2) | select | 0x7f000000U};
    begin();
    add_raw(SLC_LHCB_BANK_VP, 4, (int16_t)0x1e33, words, sizeof words); /* pair 0x33 under the mask 0x1ff */
    decode();
    assert_int_equal(slc_faults_total(&faults), 0);
    const uint32_t expected[] = {word(1, 2, 3), word(0, 1, 2), word(7, 7, 1)};
    const uint8_t sensors[] = {102, 103, 103};
    assert_int_equal(out.head.size, 3);
    assert_memory_equal(out.word, expected, sizeof expected);
    assert_memory_equal(out.sensor, sensors, sizeof sensors);
    begin();
    add_raw(SLC_LHCB_BANK_VELO, 4, 0, words, sizeof words); /* the other type that carries it */
    decode();
    assert_int_equal(out.head.size, 3);
    begin();
    add_raw(SLC_LHCB_BANK_VP, 3, 12, (const uint32_t[]){1, word(1, 2, 3)}, 8);
    decode();
    assert_int_equal(out.head.size, 1);
    assert_int_equal(out.sensor[0], 12);
}

/* All addresses of a sensor that fit a bank, in random order, many times. */
static void sorts_any_order(void **state)
{
    (void)state;
    static uint32_t words[16380];
    uint64_t seed = 5;
    for (uint32_t n = 1; n < 16380; n = n * 5 / 3 + 1) {
        for (uint32_t i = 0; i < n; i++) {
            words[i] = word(i / 64, i % 64, 1 + i % 255);
        }
        for (uint32_t i = n; i > 1; i--) {
            const uint32_t k = random_below(&seed, i), swap = words[k];
            words[k] = words[i - 1];
            words[i - 1] = swap;
        }
        begin();
        add_bank(0, words, n);
        decode();
        assert_int_equal(slc_faults_total(&faults), 0);
        assert_int_equal(out.head.size, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(out.word[i], word(i / 64, i % 64, 1 + i % 255));
        }
    }
}

static void drops_bad_words_alone(void **state)
{
    (void)state;
    begin();
    add_bank(10, (const uint32_t[]){word(1, 1, 1), word(1, 2, 0), word(2, 2, 2)}, 3);
    decode();
    expect_one_fault(SLC_FAULT_SUPERPIXEL_EMPTY, 10);
    assert_int_equal(faults.kept[0].offset, 8 + 4 + 4);
    assert_int_equal(out.head.size, 2);
    begin();
    add_bank(10, (const uint32_t[]){word(1, 1, 1), word(384, 2, 9)}, 2);
    decode();
    expect_one_fault(SLC_FAULT_SUPERPIXEL_ADDRESS, 10);
    assert_int_equal(out.head.size, 1);
}

static void unites_duplicates(void **state)
{
    (void)state;
    begin();
    add_bank(10, (const uint32_t[]){word(5, 1, 1) | 0x80000000U, word(1, 2, 9), word(5, 1, 0x82)}, 3);
    decode();
    expect_one_fault(SLC_FAULT_SUPERPIXEL_DUPLICATE, 10);
    assert_int_equal(out.head.size, 2);
    assert_int_equal(out.word[1], word(5, 1, 0x83)); /* one of the two words had no hint */
}

static void drops_bad_banks_alone(void **state)
{
    (void)state;
    const uint32_t one[] = {1, word(1, 1, 1)};
    const struct {
        uint8_t type, version;
        int16_t source;
        size_t size;
        slc_fault_code code;
    } cases[] = {
        {SLC_LHCB_BANK_VP, 2, 208, 8, SLC_FAULT_BANK_SOURCE},
        {SLC_LHCB_BANK_VP, 2, -1, 8, SLC_FAULT_BANK_SOURCE},
        {SLC_LHCB_BANK_VP, 4, 104, 8, SLC_FAULT_BANK_SOURCE},
        {SLC_LHCB_BANK_VP, 2, 9, 7, SLC_FAULT_BANK_LENGTH},
        {SLC_LHCB_BANK_VP, 2, 9, 4, SLC_FAULT_BANK_LENGTH},
        {SLC_LHCB_BANK_VP, 2, 9, 0, SLC_FAULT_BANK_LENGTH},
        {SLC_LHCB_BANK_VP, 4, 9, 6, SLC_FAULT_BANK_LENGTH},
        {SLC_LHCB_BANK_VP, 1, 9, 8, SLC_FAULT_BANK_VERSION},
        {SLC_LHCB_BANK_VELO, 2, 9, 8, SLC_FAULT_BANK_VERSION},
        {SLC_LHCB_BANK_VP, 2, 50, 8, SLC_FAULT_BANK_DUPLICATE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        add_bank(50, (const uint32_t[]){word(4, 4, 4)}, 1);
        add_raw(cases[i].type, cases[i].version, cases[i].source, one, cases[i].size);
        add_bank(60, (const uint32_t[]){word(6, 6, 6)}, 1);
        decode();
        expect_one_fault(cases[i].code, cases[i].source);
        assert_int_equal(out.head.size, 2);
        assert_int_equal(out.sensor[0], 50);
        assert_int_equal(out.sensor[1], 60);
    }
}

static void keeps_what_came_before_damage(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        begin();
        add_bank(50, (const uint32_t[]){word(4, 4, 4)}, 1);
        const size_t second = event_size;
        add_bank(60, (const uint32_t[]){word(6, 6, 6)}, 1);
        event[second] ^= kind == 0 ? 1 : 0;      /* magic */
        event[second + 2] ^= kind == 1 ? 64 : 0; /* longer than the event */
        event_size -= kind == 2 ? 12 : 0;        /* the event ends inside the bank's header */
        decode();
        expect_one_fault(kind == 0 ? SLC_FAULT_BANK_MAGIC : SLC_FAULT_BANK_SIZE, -1);
        assert_int_equal(faults.kept[0].offset, second);
        assert_int_equal(out.head.size, 1);
    }
}

/* Behind a damaged bank the next one is found. */
static void goes_on_behind_damage(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        begin();
        add_bank(50, (const uint32_t[]){word(4, 4, 4)}, 1);
        const size_t second = event_size;
        add_bank(60, (const uint32_t[]){word(6, 6, 6)}, 1);
        add_bank(70, (const uint32_t[]){word(7, 7, 7)}, 1);
        add_bank(80, (const uint32_t[]){word(8, 8, 8)}, 1);
        event[second] ^= kind == 0 ? 1 : 0;
        event[second + 3] ^= kind == 1 ? 64 : 0;
        decode();
        expect_one_fault(kind == 0 ? SLC_FAULT_BANK_MAGIC : SLC_FAULT_BANK_SIZE, -1);
        assert_int_equal(out.head.size, 3);
        assert_int_equal(out.sensor[1], 70);
        assert_int_equal(out.sensor[2], 80);
    }
}

/* An event of other detectors is told from one in which the VELO saw nothing. */
static void misses_the_velo(void **state)
{
    (void)state;
    begin();
    add_raw(SLC_LHCB_BANK_ODIN, 6, 0, "abcd", 4);
    add_raw(SLC_LHCB_BANK_VP_RETINA, 3, 0, "abcd", 4);
    decode();
    expect_one_fault(SLC_FAULT_EVENT_NO_VP, -1);
    begin();
    add_bank(5, NULL, 0);
    decode();
    assert_int_equal(slc_faults_total(&faults), 0);
}

/* Banks that will be dropped take no room: memory cannot be blown up by repeating them. */
static void bound_follows_what_is_kept(void **state)
{
    (void)state;
    begin();
    for (int i = 0; i < 100; i++) {
        add_bank(50, (const uint32_t[]){word(4, 4, 4), word(5, 5, 5)}, 2);
    }
    slc_batch batch = {0};
    size_t largest = 0;
    assert_int_equal(slc_batch_append(&batch, event, event_size, 0), SLC_OK);
    assert_int_equal(slc_batch_append(&batch, event, event_size / 100, 0), SLC_OK);
    assert_int_equal(slc_velo_decode_bound(&batch, &largest), 4);
    assert_int_equal(largest, 2);
    slc_batch_clear(&batch);
}

static void refuses_several_crossings(void **state)
{
    (void)state;
    begin();
    add_raw(SLC_LHCB_BANK_TAE, 1, 0, "abcd", 4);
    add_bank(50, (const uint32_t[]){word(4, 4, 4)}, 1);
    decode();
    expect_one_fault(SLC_FAULT_EVENT_CROSSINGS, 0);
    assert_int_equal(out.head.size, 0);
}

static void says_when_there_is_no_room(void **state)
{
    (void)state;
    begin();
    add_bank(50, (const uint32_t[]){word(4, 4, 4), word(5, 4, 4)}, 2);
    slc_batch batch = {0};
    slc_velo_superpixels small = {0};
    assert_int_equal(slc_batch_append(&batch, event, event_size, 0), SLC_OK);
    assert_int_equal(slc_velo_decode_run(&batch, &small, &faults), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_velo_superpixels_schema, &small, 1, 1), SLC_OK);
    assert_int_equal(slc_velo_decode_run(&batch, &small, &faults), SLC_ERR_CAPACITY);
    slc_columns_clear(&slc_velo_superpixels_schema, &small);
    slc_batch_clear(&batch);
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_superpixels_schema, &out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_sensors_and_addresses),
        cmocka_unit_test(splits_sensor_pairs),
        cmocka_unit_test(sorts_any_order),
        cmocka_unit_test(drops_bad_words_alone),
        cmocka_unit_test(unites_duplicates),
        cmocka_unit_test(drops_bad_banks_alone),
        cmocka_unit_test(keeps_what_came_before_damage),
        cmocka_unit_test(refuses_several_crossings),
        cmocka_unit_test(goes_on_behind_damage),
        cmocka_unit_test(misses_the_velo),
        cmocka_unit_test(bound_follows_what_is_kept),
        cmocka_unit_test(says_when_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
