/* SPDX-License-Identifier: Apache-2.0
 *
 * What is done with lists before they are clustered. Pixels outside are left out, the others keep their
 * order, events and places; the box holds all. Lists in the order of time: every pixel comes from the place
 * that is told, times do not fall, equal times keep their order, and a list that is in order is left alone.
 * Memory that runs out changes nothing.
 */
#include "pixel/pixel_list.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"

#include <limits.h>
#include <string.h>

enum { MOST = 400 };

static void draw(slc_pixels *pixels, const slc_schema *schema, size_t n, int64_t spread, uint64_t *seed)
{
    assert_int_equal(slc_columns_reserve(schema, pixels, n, 1), SLC_OK);
    slc_columns_reset(pixels);
    for (size_t i = 0; i < n; i++) {
        pixels->x[i] = (uint16_t)random_below(seed, 256);
        pixels->y[i] = (uint16_t)random_below(seed, 256);
        pixels->time[i] = (int64_t)(random_below(seed, (uint32_t)spread)) *
                              (spread > 100 ? INT64_C(1) << 40 : 1) -
                          spread / 2;
        if (pixels->charge != NULL) {
            pixels->charge[i] = (uint32_t)i;
        }
    }
    pixels->head.size = n;
}

static void random_lists(void **state)
{
    (void)state;
    uint64_t seed = 77;
    int moved = 0;
    for (int round = 0; round < 600; round++) {
        slc_column columns[SLC_PIXEL_COLUMNS];
        const slc_schema schema = slc_pixels_schema(
            SLC_PIXEL_TIME | (round % 2 ? (uint32_t)SLC_PIXEL_CHARGE : 0U), columns);
        slc_pixels before = {.head = {.size = 0}}, after = {.head = {.size = 0}};
        const size_t n = round < 20 ? (size_t)round / 2 : random_below(&seed, MOST);
        const uint64_t same = seed;
        const int64_t spread = round % 3 == 0 ? 5 : 1000000;
        uint64_t again = same;
        draw(&before, &schema, n, spread, &seed);
        draw(&after, &schema, n, spread, &again);
        uint32_t *origin;
        assert_int_equal(slc_pixels_sort_by_time(&after, &origin), SLC_OK);
        for (size_t i = 0; i < n; i++) {
            const size_t from = origin != NULL ? origin[i] : i;
            assert_int_equal(after.time[i], before.time[from]);
            assert_int_equal(after.x[i], before.x[from]);
            assert_int_equal(after.y[i], before.y[from]);
            assert_true(after.charge == NULL || after.charge[i] == from);
            const size_t last = i == 0 ? 0 : origin != NULL ? origin[i - 1] : i - 1;
            assert_true(i == 0 || after.time[i - 1] < after.time[i] ||
                        (after.time[i - 1] == after.time[i] && last < from));
        }
        moved += origin != NULL;
        free(origin);
        slc_columns_clear(&schema, &before);
        slc_columns_clear(&schema, &after);
    }
    assert_true(moved > 500 && moved < 600);
}

static void out_of_memory(void **state)
{
    (void)state;
    uint64_t seed = 5;
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(SLC_PIXEL_TIME, columns);
    slc_pixels pixels = {.head = {.size = 0}};
    draw(&pixels, &schema, MOST, 1000000, &seed);
    int64_t times[MOST];
    memcpy(times, pixels.time, sizeof times);
    for (allocations_left = 0; allocations_left < 3; allocations_left++) {
        const long failing = allocations_left;
        uint32_t *origin;
        assert_int_equal(slc_pixels_sort_by_time(&pixels, &origin), SLC_ERR_MEMORY);
        assert_memory_equal(times, pixels.time, sizeof times);
        allocations_left = failing;
    }
    allocations_left = LONG_MAX;
    slc_columns_clear(&schema, &pixels);
}

static void outside(void **state)
{
    (void)state;
    uint64_t seed = 9;
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(SLC_PIXEL_TIME | SLC_PIXEL_CHARGE, columns);
    slc_pixels before = {.head = {.size = 0}}, after = {.head = {.size = 0}};
    uint64_t again = seed;
    draw(&before, &schema, MOST, 1000000, &seed);
    draw(&after, &schema, MOST, 1000000, &again);
    slc_columns *head = &after.head;
    assert_int_equal(slc_columns_reserve(&schema, &after, MOST, 3), SLC_OK);
    head->event_offset[1] = 150;
    head->event_offset[2] = 150;
    head->event_offset[3] = MOST;
    head->n_events = 3;
    uint32_t origin[MOST], kept = 0, width = 1, height = 7;
    const size_t left_out = slc_pixels_leave_out(&after, 100, 180, origin);
    for (uint32_t i = 0; i < MOST; i++) {
        assert_true(i != 150 || (head->event_offset[1] == kept && head->event_offset[2] == kept));
        if (before.x[i] >= 100 || before.y[i] >= 180) {
            continue;
        }
        assert_int_equal(origin[kept], i);
        assert_int_equal(after.x[kept], before.x[i]);
        assert_int_equal(after.y[kept], before.y[i]);
        assert_int_equal(after.time[kept], before.time[i]);
        assert_int_equal(after.charge[kept], i);
        kept++;
    }
    assert_int_equal(head->size, kept);
    assert_int_equal(head->event_offset[3], kept);
    assert_int_equal(left_out, MOST - kept);
    assert_true(kept > 50 && kept < 300);
    slc_pixels_box(&after, &width, &height);
    assert_true(width > 90 && width <= 100 && height > 160 && height <= 180);
    after.x[3] = UINT16_MAX;
    slc_pixels_box(&after, &width, &height);
    assert_int_equal(width, UINT16_MAX + 1);
    slc_columns_clear(&schema, &before);
    slc_columns_clear(&schema, &after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_lists), cmocka_unit_test(out_of_memory),
                                       cmocka_unit_test(outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
