/* SPDX-License-Identifier: Apache-2.0
 *
 * Prompts and delayeds in one order of time (slc_pet_pairs) beside a stable sort, for policies that give
 * pairs in odd orders, and any batch.
 */
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/pet_rows.h"
#include "support/pet_stream.h"

#include <math.h>
#include <stdlib.h>

/* Pairs as they come, and in order. */
static void run_pairs(const slc_pet_config *config, const slc_pet_tables *tables, const slc_pet_frame *frames,
                      size_t batch, slc_pet_coincidences *plain, slc_pet_coincidences *ordered)
{
    slc_pet_chain *chain = NULL;
    slc_pet_pairs *pairs = NULL;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_chain_open(config, tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_pairs_open(config, &pairs, NULL), SLC_OK);
    size_t waiting = 0, most = 0;
    for (size_t at = 0; at <= PET_STREAM_FRAMES; at += batch) {
        const size_t n = PET_STREAM_FRAMES - at < batch ? PET_STREAM_FRAMES - at : batch;
        assert_int_equal(slc_pet_chain_run(chain, frames + at, NULL, n, n < batch, &result, NULL), SLC_OK);
        pet_rows_append(&slc_pet_coincidences_schema, &result.pairs, 0, result.pairs.head.size, plain);
        assert_int_equal(slc_pet_pairs_add(pairs, &result, n < batch, ordered, NULL), SLC_OK);
        waiting = plain->head.size - ordered->head.size;
        most = waiting > most ? waiting : most;
    }
    assert_int_equal(waiting, 0);
    /* Some 110 ns of pairs wait, not all of them. */
    assert_true(batch > PET_STREAM_FRAMES || most < plain->head.size / 10);
    slc_pet_pairs_close(pairs);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
}

static const slc_pet_coincidences *compared;

static int by_time(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int64_t s = compared->time_ps[x], t = compared->time_ps[y];
    const int delayed = compared->delayed[x] - compared->delayed[y];
    return s != t ? (s > t) - (s < t) : delayed != 0 ? delayed : (x > y) - (x < y);
}

/* `plain` is that of one batch: prompts, then delayeds, each in the order in which the stage gives them. */
static void assert_sorted(const slc_pet_coincidences *plain, const slc_pet_coincidences *ordered)
{
    const size_t n = plain->head.size;
    size_t *rows = malloc(n * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = i;
    }
    compared = plain;
    qsort(rows, n, sizeof *rows, by_time);
    assert_int_equal(ordered->head.size, n);
    for (size_t i = 0; i < n; i++) {
        const size_t row = rows[i];
        assert_int_equal(ordered->time_ps[i], plain->time_ps[row]);
        assert_int_equal(ordered->dt_ps[i], plain->dt_ps[row]);
        assert_int_equal(ordered->crystal1[i], plain->crystal1[row]);
        assert_int_equal(ordered->crystal2[i], plain->crystal2[row]);
        assert_int_equal(ordered->delayed[i], plain->delayed[row]);
        assert_true(ordered->energy1_kev[i] == plain->energy1_kev[row]);
        assert_true(ordered->energy2_kev[i] == plain->energy2_kev[row]);
    }
    free(rows);
}

static void pairs_in_order(void **state)
{
    (void)state;
    const struct {
        slc_pet_policy policy;
        bool all_open, delayed;
        int64_t first;
        double step_ps;
    } cases[] = {
        {SLC_PET_KILL_ALL, false, true, 0, 5000},
        {SLC_PET_TAKE_ALL_GOODS, true, true, -5000000, 5000},
        {SLC_PET_TAKE_ALL_GOODS, false, false, INT64_MIN + 7, 5000},
        {SLC_PET_KEEP_IF_ANY_IS_GOOD, true, true, 1, 5000},
        {SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS, true, true, INT64_MAX / 2, 5000},
        {SLC_PET_MULTIPLES_AS_SEQUENTIAL, false, true, 5, 5000},
        {SLC_PET_TAKE_ALL_GOODS, true, true, 0, 300000},
        {SLC_PET_TAKE_ALL_GOODS, false, true, 0, 50000},
    };
    const slc_pet_tables tables = pet_frames_mouse();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        slc_pet_frame *frames = pet_stream_make(&tables, cases[c].first, cases[c].step_ps);
        const slc_pet_config config = pet_stream_config(cases[c].policy, cases[c].all_open, cases[c].delayed);
        slc_pet_coincidences whole = {0}, plain = {0}, ordered = {0};
        const size_t batches[] = {PET_STREAM_FRAMES + 1, 1, 77, 5000};
        for (size_t b = 0; b < 4; b++) {
            slc_columns_reset(&plain);
            slc_columns_reset(&ordered);
            run_pairs(&config, &tables, frames, batches[b], b == 0 ? &whole : &plain, &ordered);
            assert_true(whole.head.size > 2000);
            assert_sorted(&whole, &ordered);
        }
        slc_columns_clear(&slc_pet_coincidences_schema, &whole);
        slc_columns_clear(&slc_pet_coincidences_schema, &plain);
        slc_columns_clear(&slc_pet_coincidences_schema, &ordered);
        free(frames);
    }
    slc_pet_pairs *pairs = NULL;
    slc_pet_config config = pet_stream_config(SLC_PET_KILL_ALL, false, false);
    config.prompt.window_ns = NAN;
    assert_int_equal(slc_pet_pairs_open(&config, &pairs, NULL), SLC_ERR_USAGE);
    assert_null(pairs);
    slc_pet_pairs_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
