/* SPDX-License-Identifier: Apache-2.0
 *
 * Collections: growth keeps what is there, memory that runs out leaves everything as it was, contracts are
 * found broken, and checksums see contents and order but not how events were cut into batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/sample.h"

#include <string.h>
#include <sys/resource.h>

static void test_schema_tells_types(void **state)
{
    (void)state;
    assert_int_equal(sample_schema.n_columns, 4);
    assert_int_equal(sample_columns[0].type, SLC_TYPE_U8);
    assert_int_equal(sample_columns[1].type, SLC_TYPE_F64);
    assert_int_equal(sample_columns[2].type, SLC_TYPE_F32);
    assert_int_equal(sample_columns[3].type, SLC_TYPE_I16);
    assert_string_equal(sample_columns[2].name, "x_mm");
    assert_string_equal(sample_columns[2].unit, "mm");
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"u8", 1},  {"i8", 1},  {"u16", 2}, {"i16", 2}, {"u32", 4},
                 {"i32", 4}, {"u64", 8}, {"i64", 8}, {"f32", 4}, {"f64", 8}};
    for (int type = SLC_TYPE_U8; type <= SLC_TYPE_F64; type++) {
        assert_string_equal(slc_type_name((slc_type)type), types[type].name);
        assert_int_equal(slc_type_size((slc_type)type), types[type].size);
    }
}

static void test_tight_columns_in_the_same_memory(void **state)
{
    (void)state;
    sample s = {0};
    slc_columns_tighten(&sample_schema, &s, 3); /* there is no memory: nothing happens */
    assert_null(s.head.block);
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 1000000, 2), SLC_OK);
    const void *block = s.head.block;
    add_row(&s, 0);
    slc_columns_end_event(&s);
    slc_columns_tighten(&sample_schema, &s, 3);
    assert_ptr_equal(s.head.block, block);
    assert_int_equal(s.head.capacity, 3);
    assert_int_equal(s.head.event_capacity, 2);
    assert_int_equal(s.head.size, 0);
    assert_int_equal(s.head.n_events, 0);
    for (size_t i = 0; i < 3; i++) {
        add_row(&s, i);
    }
    slc_columns_end_event(&s);
    const char *why = "";
    assert_true(slc_columns_check(&sample_schema, &s, &why));
    for (size_t c = 0; c < sample_schema.n_columns; c++) {
        const char *at = slc_column_data(&s, &sample_schema.columns[c]);
        assert_in_range((size_t)(at - (const char *)block), 1, 4096);
        assert_int_equal((uintptr_t)at % SLC_COLUMN_ALIGN, 0);
    }
    slc_columns_tighten(&sample_schema, &s, 2000000); /* more than there is memory for */
    assert_int_equal(s.head.capacity, 3);
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 1000000, 2), SLC_OK);
    assert_ptr_equal(s.head.block, block);
    for (size_t i = 0; i < 1000000; i++) {
        add_row(&s, i);
    }
    slc_columns_end_event(&s);
    assert_true(slc_columns_check(&sample_schema, &s, &why));
    assert_row(&s, 999999, 999999);
    slc_columns_clear(&sample_schema, &s);
}

static void test_growth_keeps_contents(void **state)
{
    (void)state;
    sample s = {0};
    size_t rows = 0;
    for (uint32_t event = 0; event < 40; event++) {
        const size_t more = event % 5 == 0 ? 0 : event * 3;
        assert_int_equal(slc_columns_reserve(&sample_schema, &s, rows + more, event + 1), SLC_OK);
        assert_true(s.head.capacity >= rows + more);
        for (size_t i = 0; i < more; i++) {
            add_row(&s, rows++);
        }
        slc_columns_end_event(&s);
        const char *why = "";
        assert_true(slc_columns_check(&sample_schema, &s, &why));
    }
    assert_int_equal(s.head.size, rows);
    assert_int_equal(s.head.n_events, 40);
    for (size_t i = 0; i < rows; i++) {
        assert_row(&s, i, i);
    }
    for (uint32_t event = 0; event < 40; event++) {
        const uint32_t n = s.head.event_offset[event + 1] - s.head.event_offset[event];
        assert_int_equal(n, event % 5 == 0 ? 0 : event * 3);
    }
    slc_columns_clear(&sample_schema, &s);
}

/* Room that no row needs yet costs no memory, so that a caller may reserve for what is unlikely. */
static void test_room_is_not_touched(void **state)
{
    (void)state;
    enum { ROWS = 8 << 20, QUARTER = 4 * 1024 };
    struct rusage before, after;
    sample s = {0};
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, ROWS, 3), SLC_OK);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true((size_t)(after.ru_maxrss - before.ru_maxrss) < s.head.block_size / QUARTER); /* KiB */
    for (size_t i = 0; i < sample_schema.n_columns; i++) {
        const char *data = slc_column_data(&s, &sample_columns[i]);
        assert_int_equal(data[0], 0);
        assert_int_equal(data[ROWS * slc_type_size(sample_columns[i].type) - 1], 0);
    }
    slc_columns_clear(&sample_schema, &s);
}

/* Aligned, apart from each other by a spare vector at least, inside the block, and as large as _bound says.
 */
static void test_layout(void **state)
{
    (void)state;
    for (size_t rows = 0; rows < 300; rows += 13) {
        sample s = {0};
        assert_int_equal(slc_columns_reserve(&sample_schema, &s, rows, 3), SLC_OK);
        assert_int_equal(s.head.block_size, slc_columns_bound(&sample_schema, s.head.capacity, 3));
        const char *end = (const char *)s.head.block + s.head.block_size;
        const char *before = (const char *)(s.head.event_offset + 4);
        for (size_t i = 0; i < sample_schema.n_columns; i++) {
            const char *data = slc_column_data(&s, &sample_columns[i]);
            assert_int_equal((uintptr_t)data % SLC_COLUMN_ALIGN, 0);
            assert_true(data >= before);
            before = data + rows * slc_type_size(sample_columns[i].type) + SLC_COLUMN_ALIGN;
            assert_true(before <= end);
        }
        slc_columns_clear(&sample_schema, &s);
    }
}

static void test_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    sample s = {0};
    allocations_left = 0;
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 10, 1), SLC_ERR_MEMORY);
    allocations_left = LONG_MAX;
    assert_null(s.head.block);
    assert_int_equal(s.head.capacity, 0);

    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 10, 2), SLC_OK);
    for (size_t i = 0; i < 10; i++) {
        add_row(&s, i);
    }
    slc_columns_end_event(&s);
    const sample before = s;
    allocations_left = 0;
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 11, 2), SLC_ERR_MEMORY);
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 10, 3), SLC_ERR_MEMORY);
    /* What fits already needs no memory. */
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 10, 2), SLC_OK);
    allocations_left = LONG_MAX;
    assert_memory_equal(&s, &before, sizeof s);
    for (size_t i = 0; i < 10; i++) {
        assert_row(&s, i, i);
    }
    slc_columns_clear(&sample_schema, &s);
}

static void test_too_many_rows(void **state)
{
    (void)state;
    sample s = {0};
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, (size_t)UINT32_MAX + 1, 1), SLC_ERR_USAGE);
    assert_null(s.head.block);
}

static void test_reset_and_clear(void **state)
{
    (void)state;
    sample s = {0};
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 5, 1), SLC_OK);
    add_row(&s, 0);
    slc_columns_end_event(&s);
    const void *block = s.head.block;
    slc_columns_reset(&s);
    assert_int_equal(s.head.size, 0);
    assert_int_equal(s.head.n_events, 0);
    assert_ptr_equal(s.head.block, block);
    assert_true(slc_columns_check(&sample_schema, &s, NULL));
    slc_columns_clear(&sample_schema, &s);
    const sample zero = {0};
    assert_memory_equal(&s, &zero, sizeof s);
    slc_columns_clear(&sample_schema, &s); /* harmless twice */
    slc_columns_reset(&s);
    assert_true(slc_columns_check(&sample_schema, &s, NULL));
}

static void test_check_finds_broken_contracts(void **state)
{
    (void)state;
    sample s = {0};
    const char *why = NULL;
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 8, 2), SLC_OK);
    for (int event = 0; event < 2; event++) {
        add_row(&s, 0);
        add_row(&s, 1);
        slc_columns_end_event(&s);
    }
    assert_true(slc_columns_check(&sample_schema, &s, &why));
    assert_null(why);

    s.head.event_offset[1] = 5;
    assert_false(slc_columns_check(&sample_schema, &s, &why));
    assert_string_equal(why, "offsets fall");
    s.head.event_offset[1] = 2;
    s.head.event_offset[0] = 1;
    assert_false(slc_columns_check(&sample_schema, &s, &why));
    s.head.event_offset[0] = 0;
    s.head.size = 3;
    assert_false(slc_columns_check(&sample_schema, &s, &why));
    s.head.size = s.head.capacity + 1;
    assert_false(slc_columns_check(&sample_schema, &s, &why));
    assert_string_equal(why, "more rows or events than fit");
    s.head.size = 4;
    s.x_mm++;
    assert_false(slc_columns_check(&sample_schema, &s, &why));
    assert_string_equal(why, "a column is not aligned");
    s.x_mm--;
    assert_true(slc_columns_check(&sample_schema, &s, &why));
    slc_columns_clear(&sample_schema, &s);
}

enum { EVENTS = 24 };

static size_t rows_of(uint32_t event)
{
    return event * event % 11;
}

/* Chains the checksum over all events, cut into batches of `cut` events. */
static uint64_t checksum_in_batches(uint32_t cut)
{
    sample s = {0};
    uint64_t sum = SLC_CHECKSUM_START;
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, EVENTS * 11, EVENTS), SLC_OK);
    for (uint32_t first = 0; first < EVENTS; first += cut) {
        slc_columns_reset(&s);
        for (uint32_t event = first; event < first + cut && event < EVENTS; event++) {
            for (size_t i = 0; i < rows_of(event); i++) {
                add_row(&s, 100 * event + i);
            }
            slc_columns_end_event(&s);
        }
        for (uint32_t e = 0; e < s.head.n_events; e++) {
            sum = slc_columns_checksum(&sample_schema, &s, e, sum);
        }
    }
    slc_columns_clear(&sample_schema, &s);
    return sum;
}

static void test_checksum_ignores_batches(void **state)
{
    (void)state;
    const uint64_t whole = checksum_in_batches(EVENTS);
    assert_true(whole != SLC_CHECKSUM_START);
    for (uint32_t cut = 1; cut < EVENTS; cut++) {
        assert_true(checksum_in_batches(cut) == whole);
    }
}

static void test_checksum_sees_every_value(void **state)
{
    (void)state;
    sample s = {0};
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, 4, 2), SLC_OK);
    for (size_t i = 0; i < 4; i++) {
        add_row(&s, i);
    }
    slc_columns_end_event(&s);
    slc_columns_end_event(&s);
    const uint64_t sum = slc_columns_checksum(&sample_schema, &s, 0, SLC_CHECKSUM_START);
    s.narrow[3] ^= 1;
    assert_true(slc_columns_checksum(&sample_schema, &s, 0, SLC_CHECKSUM_START) != sum);
    s.narrow[3] ^= 1;
    s.small[0] = (int16_t)(s.small[0] + 1);
    assert_true(slc_columns_checksum(&sample_schema, &s, 0, SLC_CHECKSUM_START) != sum);
    s.small[0] = (int16_t)(s.small[0] - 1);
    s.wide[1] = 3.0;
    s.wide[2] = 1.5; /* two rows swapped in one column */
    assert_true(slc_columns_checksum(&sample_schema, &s, 0, SLC_CHECKSUM_START) != sum);
    s.wide[1] = 1.5;
    s.wide[2] = 3.0;
    assert_true(slc_columns_checksum(&sample_schema, &s, 0, SLC_CHECKSUM_START) == sum);
    assert_true(slc_columns_checksum(&sample_schema, &s, 0, sum) != sum);
    /* An empty event counts too: two results that differ in it alone must differ. */
    assert_true(slc_columns_checksum(&sample_schema, &s, 1, sum) != sum);
    slc_columns_clear(&sample_schema, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_tells_types),
        cmocka_unit_test(test_tight_columns_in_the_same_memory),
        cmocka_unit_test(test_growth_keeps_contents),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_room_is_not_touched),
        cmocka_unit_test(test_out_of_memory_changes_nothing),
        cmocka_unit_test(test_too_many_rows),
        cmocka_unit_test(test_reset_and_clear),
        cmocka_unit_test(test_check_finds_broken_contracts),
        cmocka_unit_test(test_checksum_ignores_batches),
        cmocka_unit_test(test_checksum_sees_every_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
