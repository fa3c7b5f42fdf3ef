/* SPDX-License-Identifier: Apache-2.0
 * The streaming sort with an allocator that runs dry: a run that fails leaves everything as it was, so that
 * it can be tried again; and a stage that has been used for as much allocates nothing. */
#include "support/failing_allocator.h"

#include "support/cmocka_all.h"

#include <sluice/pet_sort.h>

enum { N = 5000, BATCH = 700 };

static void fill(slc_pet_singles *some, int from)
{
    slc_columns_reset(some);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, some, BATCH, 1), SLC_OK);
    for (int i = from; i < from + BATCH && i < N; i++) {
        const size_t row = some->head.size++;
        some->time_ps[row] = i * 10 - (i * 7919) % 3000;
        some->crystal[row] = (uint32_t)i;
        some->energy_kev[row] = 511;
    }
}

/* Each run fails at its first, second … allocation before it succeeds. Returns how often. */
static int sort_all(bool fails, slc_pet_singles *sorted, slc_pet_singles *late)
{
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = 2500;
    slc_pet_sort *stage;
    slc_pet_singles some = {0};
    int failures = 0;
    assert_int_equal(slc_pet_sort_open(&config, &stage, NULL), SLC_OK);
    for (int at = 0; at < N; at += BATCH) {
        fill(&some, at);
        slc_pet_sort_counts before, after;
        const size_t n = sorted->head.size, n_late = late->head.size;
        slc_pet_sort_counts_of(stage, &before);
        slc_status status = SLC_ERR_MEMORY;
        for (int allowed = 0; status != SLC_OK; allowed++) {
            slc_error error = {0};
            allocations_left = fails ? allowed : LONG_MAX;
            status = slc_pet_sort_run(stage, &some, at + BATCH >= N, sorted, late, &error);
            allocations_left = LONG_MAX;
            if (status != SLC_OK) {
                assert_int_equal(status, SLC_ERR_MEMORY);
                assert_true(error.text[0] != '\0');
                assert_int_equal(sorted->head.size, n);
                assert_int_equal(late->head.size, n_late);
                slc_pet_sort_counts_of(stage, &after);
                assert_int_equal(after.taken, before.taken);
                assert_int_equal(after.held, before.held);
                failures++;
            }
        }
    }
    slc_columns_clear(&slc_pet_singles_schema, &some);
    slc_pet_sort_close(stage);
    return failures;
}

static void a_run_without_memory_can_be_tried_again(void **state)
{
    (void)state;
    slc_pet_singles sorted[2] = {{.head = {0}}, {.head = {0}}}, late[2] = {{.head = {0}}, {.head = {0}}};
    assert_int_equal(sort_all(false, &sorted[0], &late[0]), 0);
    assert_true(sort_all(true, &sorted[1], &late[1]) >= 5);
    assert_true(late[0].head.size > 10);
    assert_int_equal(sorted[0].head.size + late[0].head.size, N);
    assert_int_equal(sorted[1].head.size, sorted[0].head.size);
    assert_memory_equal(sorted[1].time_ps, sorted[0].time_ps, sorted[0].head.size * 8);
    assert_memory_equal(sorted[1].crystal, sorted[0].crystal, sorted[0].head.size * 4);
    assert_int_equal(late[1].head.size, late[0].head.size);
    assert_memory_equal(late[1].crystal, late[0].crystal, late[0].head.size * 4);
    for (int k = 0; k < 2; k++) {
        slc_columns_clear(&slc_pet_singles_schema, &sorted[k]);
        slc_columns_clear(&slc_pet_singles_schema, &late[k]);
    }
}

static void opening_without_memory_says_so(void **state)
{
    (void)state;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    slc_status status = SLC_ERR_MEMORY;
    int failures = 0;
    for (int allowed = 0; status != SLC_OK; allowed++) {
        slc_pet_sort *stage;
        allocations_left = allowed;
        status = slc_pet_sort_open(&config, &stage, NULL);
        allocations_left = LONG_MAX;
        assert_true(status == SLC_OK || (status == SLC_ERR_MEMORY && stage == NULL));
        failures += status != SLC_OK;
        slc_pet_sort_close(stage);
    }
    assert_true(failures >= 2);
}

static void a_used_stage_allocates_nothing(void **state)
{
    (void)state;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    slc_pet_sort *stage;
    slc_pet_singles some = {0}, sorted = {0};
    assert_int_equal(slc_pet_sort_open(&config, &stage, NULL), SLC_OK);
    fill(&some, 0);
    unsigned long before = 0;
    for (int run = 0; run < 5; run++) {
        before = run == 2 ? allocator_calls : before;
        slc_columns_reset(&sorted);
        assert_int_equal(slc_pet_sort_run(stage, &some, true, &sorted, NULL, NULL), SLC_OK);
        assert_int_equal(sorted.head.size, BATCH);
    }
    assert_int_equal(allocator_calls, before);
    slc_columns_clear(&slc_pet_singles_schema, &some);
    slc_columns_clear(&slc_pet_singles_schema, &sorted);
    slc_pet_sort_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_memory_can_be_tried_again),
        cmocka_unit_test(opening_without_memory_says_so),
        cmocka_unit_test(a_used_stage_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
