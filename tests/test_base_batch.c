/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of raw events: appending keeps what is there and aligns each event, and running out of memory
 * leaves a batch as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include <sluice/base.h>

#include <string.h>

static size_t length_of(uint32_t event)
{
    return event * 37 % 101;
}

static void append_events(slc_batch *batch, uint32_t n)
{
    uint8_t bytes[101];
    for (uint32_t event = 0; event < n; event++) {
        memset(bytes, (int)(event % 251), sizeof bytes);
        assert_int_equal(slc_batch_append(batch, bytes, length_of(event), 1000 + event), SLC_OK);
    }
}

static void assert_events(const slc_batch *batch, uint32_t n)
{
    assert_int_equal(batch->n_events, n);
    size_t end = 0;
    for (uint32_t event = 0; event < n; event++) {
        assert_int_equal(batch->length[event], length_of(event));
        assert_int_equal(batch->offset[event] % 8, 0);
        assert_true(batch->offset[event] >= end);
        end = batch->offset[event] + batch->length[event];
        assert_int_equal(batch->file_offset[event], 1000 + event);
        for (size_t i = batch->offset[event]; i < end; i++) {
            assert_int_equal(batch->bytes[i], event % 251);
        }
    }
    assert_int_equal(batch->size, end);
    assert_true(batch->size <= batch->capacity);
}

static void test_appending_keeps_what_is_there(void **state)
{
    (void)state;
    slc_batch batch = {0};
    append_events(&batch, 500);
    assert_events(&batch, 500);
    slc_batch_reset(&batch);
    assert_int_equal(batch.n_events, 0);
    assert_int_equal(batch.size, 0);
    append_events(&batch, 30);
    assert_events(&batch, 30);
    slc_batch_clear(&batch);
    assert_null(batch.bytes);
    assert_int_equal(batch.capacity, 0);
}

/* Event 0 of append_events is empty too; here there is no byte at all. */
static void test_empty_events(void **state)
{
    (void)state;
    slc_batch batch = {0};
    assert_int_equal(slc_batch_append(&batch, NULL, 0, 7), SLC_OK);
    assert_int_equal(slc_batch_append(&batch, NULL, 0, 8), SLC_OK);
    assert_int_equal(batch.n_events, 2);
    assert_int_equal(batch.length[0] + batch.length[1], 0);
    assert_int_equal(batch.file_offset[1], 8);
    slc_batch_clear(&batch);
}

static void test_reserve_is_enough(void **state)
{
    (void)state;
    slc_batch batch = {0};
    assert_int_equal(slc_batch_reserve(&batch, 50 * 112, 50), SLC_OK);
    allocator_calls = 0;
    append_events(&batch, 50);
    assert_int_equal(allocator_calls, 0);
    assert_events(&batch, 50);
    slc_batch_clear(&batch);
}

/* Fails at each of the four allocations in turn; the events already there stay, and work goes on afterwards.
 */
static void test_out_of_memory_keeps_events(void **state)
{
    (void)state;
    slc_batch batch = {0};
    append_events(&batch, 20);
    const size_t bytes = batch.capacity;
    const uint32_t events = batch.event_capacity;
    for (long allowed = 0; allowed < 4; allowed++) {
        allocations_left = allowed;
        const slc_status status = slc_batch_reserve(&batch, 2 * bytes, 2 * events);
        allocations_left = LONG_MAX;
        assert_int_equal(status, SLC_ERR_MEMORY);
        assert_events(&batch, 20);
        slc_batch_clear(&batch);
        append_events(&batch, 20);
    }
    assert_int_equal(slc_batch_reserve(&batch, 2 * bytes, 2 * events), SLC_OK);
    assert_events(&batch, 20);
    slc_batch_clear(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appending_keeps_what_is_there),
        cmocka_unit_test(test_empty_events),
        cmocka_unit_test(test_reserve_is_enough),
        cmocka_unit_test(test_out_of_memory_keeps_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
