/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage of coincidences with an allocator that runs dry at every allocation in turn: a clear error, no
 * rows of the call that failed, and a stage that can be closed.
 */
#include "support/failing_allocator.h"

#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/pet_coincidence.h>

#include <string.h>

enum { N = 40000, BATCHES = 3, MODES = 16 };

static int64_t times[N];
static uint32_t crystals[N];
static float energies[N];

static void fill(void)
{
    uint64_t seed = 1;
    for (int i = 0; i < N; i++) {
        times[i] = (i > 0 ? times[i - 1] : 0) + random_below(&seed, 3000);
        crystals[i] = random_below(&seed, 12480);
        energies[i] = (float)random_below(&seed, 1000);
    }
}

/* Bits of mode: all-open, delayed, threads or an energy window, pairs. */
static slc_pet_coincidence_config configuration(int mode)
{
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    config.window_ns = 4;
    config.policy = SLC_PET_TAKE_ALL_GOODS;
    config.all_open = mode & 1;
    config.offset_ns = mode & 2 ? 20 : 0;
    config.exec.threads = mode & 4 ? 3 : 1;
    config.low_kev = mode & 4 ? 0 : 100;
    config.good = (slc_pet_good){
        .kind = SLC_PET_GOOD_SECTORS, .crystals_per_ring = 312, .sectors = 24, .min_sectors = 2};
    return config;
}

/* The whole input, where only so many allocations succeed; *rows: those of all calls. */
static slc_status run_all(int mode, long allowed, size_t *rows)
{
    const slc_pet_coincidence_config config = configuration(mode);
    slc_pet_groups groups = {0};
    slc_pet_coincidences pairs = {0};
    slc_pet_coincidence *stage = NULL;
    slc_error error = {SLC_OK, ""};
    allocations_left = allowed;
    slc_status status = slc_pet_coincidence_open(&config, &stage, &error);
    assert_true(status == SLC_OK || stage == NULL);
    for (int b = 0; b < BATCHES && status == SLC_OK; b++) {
        const size_t at = (size_t)b * (N / BATCHES), n = b + 1 == BATCHES ? N - at : N / BATCHES;
        const slc_pet_singles some = {.head = {.size = n},
                                      .time_ps = times + at,
                                      .crystal = crystals + at,
                                      .energy_kev = energies + at};
        const size_t before = groups.head.size + pairs.head.size;
        status = mode & 8 ? slc_pet_coincidence_run_pairs(stage, &some, b + 1 == BATCHES, &pairs, &error)
                          : slc_pet_coincidence_run(stage, &some, b + 1 == BATCHES, &groups, &error);
        assert_true(status == SLC_OK || groups.head.size + pairs.head.size == before);
    }
    *rows = groups.head.size + pairs.head.size;
    slc_pet_coincidence_close(stage);
    allocations_left = LONG_MAX;
    if (status != SLC_OK) {
        assert_int_equal(status, SLC_ERR_MEMORY);
        assert_non_null(strstr(error.text, "no memory for"));
    }
    slc_columns_clear(&slc_pet_groups_schema, &groups);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    return status;
}

static void no_memory_is_told_wherever_it_ends(void **state)
{
    (void)state;
    fill();
    for (int mode = 0; mode < MODES; mode++) {
        size_t wanted = 0, rows = 0;
        assert_int_equal(run_all(mode, LONG_MAX, &wanted), SLC_OK);
        assert_true(wanted > 1000);
        long failures = 0;
        while (run_all(mode, failures, &rows) != SLC_OK) {
            failures++;
        }
        assert_true(failures >= 6);
        assert_int_equal(rows, wanted);
    }
}

/* Used once, with the same input again. */
static void a_used_stage_allocates_nothing(void **state)
{
    (void)state;
    fill();
    for (int mode = 0; mode < MODES / 2; mode++) {
        const slc_pet_coincidence_config config = configuration(mode);
        slc_pet_coincidence *stage = NULL;
        slc_pet_groups rows = {0};
        assert_int_equal(slc_pet_coincidence_open(&config, &stage, NULL), SLC_OK);
        const slc_pet_singles all = {
            .head = {.size = N}, .time_ps = times, .crystal = crystals, .energy_kev = energies};
        unsigned long before = 0;
        for (int run = 0; run < 4; run++) {
            before = run == 2 ? allocator_calls : before;
            slc_columns_reset(&rows);
            assert_int_equal(slc_pet_coincidence_run(stage, &all, true, &rows, NULL), SLC_OK);
        }
        assert_int_equal(allocator_calls, before);
        slc_columns_clear(&slc_pet_groups_schema, &rows);
        slc_pet_coincidence_close(stage);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_told_wherever_it_ends),
        cmocka_unit_test(a_used_stage_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
