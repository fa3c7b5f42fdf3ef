/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists in the order of time: every pixel comes from the place that is told, times do not fall, equal times
 * keep their order, and a list that is in order is left alone. Memory that runs out changes nothing.
 */
#include "pixel/pixel_times.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_lists), cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
