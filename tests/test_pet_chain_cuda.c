/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain on a GPU against the one of the processor: the same rows, totals, faults and checksum for every
 * cutting into calls, and of calls into pieces; late singles, singles kept, several inputs one after the
 * other, page-locked memory. The same source runs on a GPU and in the emulator.
 */
#include "support/cmocka_all.h"
#include "support/fault_counts.h"
#include "support/pet_frames.h"
#include "support/pet_rows.h"
#include "support/random.h"

#include "cuda/cuda_stream.h"
#include "pet/cuda/pet_chain_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slc_cuda_list devices;

static bool small(void)
{
    return getenv("SLUICE_TEST_SMALL") != NULL;
}

/* ---- all rows of a measurement ------------------------------------------------------------------------- */

typedef struct outcome {
    slc_pet_coincidences pairs[2]; /* prompts, delayeds */
    slc_pet_singles singles, late;
    slc_faults faults;
    slc_pet_totals totals;
} outcome;

static void take(outcome *o, const slc_pet_result *result)
{
    const slc_pet_coincidences *pairs = &result->pairs;
    size_t prompts = 0;
    while (prompts < pairs->head.size && pairs->delayed[prompts] == 0) {
        prompts++;
    }
    pet_rows_append(&slc_pet_coincidences_schema, pairs, 0, prompts, &o->pairs[0]);
    pet_rows_append(&slc_pet_coincidences_schema, pairs, prompts, pairs->head.size - prompts, &o->pairs[1]);
    pet_rows_append(&slc_pet_singles_schema, &result->singles, 0, result->singles.head.size, &o->singles);
    pet_rows_append(&slc_pet_singles_schema, &result->late, 0, result->late.head.size, &o->late);
    slc_faults_merge(&o->faults, &result->faults);
}

static void clear(outcome *o)
{
    slc_columns_clear(&slc_pet_coincidences_schema, &o->pairs[0]);
    slc_columns_clear(&slc_pet_coincidences_schema, &o->pairs[1]);
    slc_columns_clear(&slc_pet_singles_schema, &o->singles);
    slc_columns_clear(&slc_pet_singles_schema, &o->late);
}

static void same(const outcome *a, const outcome *b)
{
    pet_rows_same(&slc_pet_coincidences_schema, &a->pairs[0], &b->pairs[0]);
    pet_rows_same(&slc_pet_coincidences_schema, &a->pairs[1], &b->pairs[1]);
    pet_rows_same(&slc_pet_singles_schema, &a->singles, &b->singles);
    pet_rows_same(&slc_pet_singles_schema, &a->late, &b->late);
    assert_true(fault_counts_equal(&a->faults, &b->faults));
    assert_int_equal(a->faults.n_kept, b->faults.n_kept);
    for (uint32_t i = 0; i < a->faults.n_kept; i++) {
        assert_int_equal(a->faults.kept[i].event, b->faults.kept[i].event);
    }
    assert_memory_equal(&a->totals.convert, &b->totals.convert, sizeof a->totals.convert);
    assert_memory_equal(&a->totals.sort, &b->totals.sort, sizeof a->totals.sort);
    assert_memory_equal(&a->totals.prompt, &b->totals.prompt, sizeof a->totals.prompt);
    assert_memory_equal(&a->totals.delayed, &b->totals.delayed, sizeof a->totals.delayed);
    assert_true(a->totals.checksum == b->totals.checksum);
}

/* ---- the chain ----------------------------------------------------------------------------------------- */

/* By the public functions, in calls of so many frames; `inputs` times the same input. */
static outcome run(const pet_frames_stream *g, const slc_pet_config *config, const char *word, size_t batch,
                   int inputs)
{
    outcome o = {0};
    slc_pet_config c = *config;
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {0};
    slc_error error = {0};
    c.exec.device = word;
    if (slc_pet_chain_open(&c, &g->tables, &chain, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    for (int input = 0; input < inputs; input++) {
        for (size_t at = 0; at < g->n; at += batch) {
            const size_t n = g->n - at < batch ? g->n - at : batch;
            if (slc_pet_chain_run(chain, g->frames + at, NULL, n, at + n == g->n, &result, &error) !=
                SLC_OK) {
                fail_msg("%s", error.text);
            }
            take(&o, &result);
        }
    }
    slc_pet_chain_totals(chain, &o.totals);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    return o;
}

/* In one call of several pieces. Its checksum has no beginning. */
static outcome run_cut(const pet_frames_stream *g, const slc_pet_config *config, size_t batch, size_t piece)
{
    outcome o = {0};
    slc_pet_cuda_chain *chain = NULL;
    slc_error error = {0};
    if (slc_pet_cuda_open(config, &g->tables, &devices, &chain, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    slc_pet_cuda_cut(chain, piece);
    for (size_t at = 0; at < g->n; at += batch) {
        const size_t n = g->n - at < batch ? g->n - at : batch;
        slc_pet_result result = {0};
        if (slc_pet_cuda_run(chain, g->frames + at, NULL, n, at + n == g->n, &result, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        take(&o, &result);
        slc_pet_result_clear(&result);
    }
    slc_pet_cuda_totals(chain, &o.totals);
    o.totals.checksum += SLC_CHECKSUM_START;
    slc_pet_cuda_close(chain);
    return o;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void results_are_those_of_the_processor(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(small() ? 3000 : 60000);
    slc_pet_config config = pet_frames_chain();
    for (int round = 0; round < 4; round++) {
        config.delayed = round != 1;
        config.keep_singles = round == 2;
        config.prompt.all_open = round == 3;
        config.prompt.low_kev = round == 3 ? 400 : 0;
        outcome wanted = run(&g, &config, "cpu", g.n, 1);
        assert_true(wanted.totals.prompt.pairs > g.n / 50 && wanted.totals.convert.module > 1);
        assert_int_equal(wanted.pairs[1].head.size > 0, config.delayed);
        assert_int_equal(wanted.singles.head.size > 0, config.keep_singles);
        const size_t batches[] = {g.n, g.n / 3 + 1, 1000};
        for (size_t b = 0; b < 3; b++) {
            outcome got = run(&g, &config, "cuda", batches[b], 1);
            same(&got, &wanted);
            clear(&got);
        }
        clear(&wanted);
    }
    free(g.frames);
}

static void cutting_calls_into_pieces_changes_nothing(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(small() ? 1500 : 20000);
    slc_pet_config config = pet_frames_chain();
    config.keep_singles = true;
    outcome wanted = run(&g, &config, "cpu", g.n, 1);
    const size_t cuts[][2] = {{g.n, 1000}, {g.n, 331}, {g.n, g.n}, {g.n / 2 + 7, g.n / 6}, {92, 50}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        outcome got = run_cut(&g, &config, cuts[i][0], cuts[i][1]);
        same(&got, &wanted);
        clear(&got);
    }
    clear(&wanted);
    g.n = small() ? 70 : 300; /* frame by frame */
    wanted = run(&g, &config, "cpu", g.n, 1);
    outcome got = run_cut(&g, &config, g.n, 1);
    same(&got, &wanted);
    clear(&got);
    clear(&wanted);
    free(g.frames);
}

static void late_singles_come_back(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(small() ? 2500 : 30000);
    slc_pet_config config = pet_frames_chain();
    config.sort.horizon_ps = 5000000;
    outcome wanted = run(&g, &config, "cpu", g.n, 1);
    assert_true(wanted.late.head.size > 100);
    outcome got = run_cut(&g, &config, g.n, 777);
    same(&got, &wanted);
    clear(&got);
    got = run(&g, &config, "cuda", 3001, 1);
    same(&got, &wanted);
    clear(&got);
    clear(&wanted);
    free(g.frames);
}

/* Pieces on one device after the other, which take over what the one before has kept: open windows, singles
 * that are held back, clocks. A machine with one has it several times. */
static void several_devices_are_one(void **state)
{
    (void)state;
    static const slc_cuda_list alone[] = {{2, {0, 0}}, {3, {0, 0, 0}}},
                               both[] = {{2, {0, 1}}, {2, {1, 0}}, {3, {1, 0, 1}}};
    const bool has_two = slc_cuda_devices(NULL) > 1;
    const size_t kinds = has_two ? 3 : 2;
    pet_frames_stream g = pet_frames_make(small() ? 1500 : 5000);
    slc_pet_config config = pet_frames_chain();
    size_t k = 0;
    for (int round = 0; round < 5; round++) {
        config.delayed = round != 1;
        config.keep_singles = round == 2;
        config.prompt.all_open = round == 3;
        config.prompt.low_kev = round == 3 ? 400 : 0;
        config.sort.horizon_ps = round == 4 ? 5000000 : pet_frames_chain().sort.horizon_ps;
        outcome wanted = run(&g, &config, "cpu", g.n, 1);
        assert_true(round != 4 || wanted.late.head.size > 0);
        const size_t cuts[][2] = {{g.n, g.n / 7}, {g.n / 3 + 5, 300}, {g.n, g.n}};
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++, k++) {
            devices = has_two ? both[k % kinds] : alone[k % kinds];
            outcome got = run_cut(&g, &config, cuts[i][0], cuts[i][1]);
            same(&got, &wanted);
            clear(&got);
        }
        clear(&wanted);
    }
    devices = alone[0];
    devices.n = 1;
    if (has_two) { /* by the public functions; an input after another */
        const slc_pet_config plain = pet_frames_chain();
        outcome wanted = run(&g, &plain, "cpu", g.n, 3);
        static const char *const words[] = {"cuda:0,1", "all"};
        for (int i = 0; i < 2; i++) {
            outcome got = run(&g, &plain, words[i], g.n / 4 + 3, 3);
            same(&got, &wanted);
            clear(&got);
        }
        clear(&wanted);
    }
    slc_error error = {0};
    slc_pet_chain *chain = NULL;
    config.exec.device = "cuda:0,0";
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "cuda:0 is named twice"));
    config.exec.device = "cuda:0,63";
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "there is no cuda:63; there are"));
    free(g.frames);
}

static void another_input_follows(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(small() ? 1500 : 4000);
    const slc_pet_config config = pet_frames_chain();
    outcome wanted = run(&g, &config, "cpu", g.n, 3);
    outcome got = run(&g, &config, "cuda", g.n / 2 - 99, 3);
    same(&got, &wanted);
    clear(&got);
    clear(&wanted);
    free(g.frames);
}

static void page_locked_frames_and_an_end_without_frames(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(small() ? 1500 : 4000);
    const slc_pet_config config = pet_frames_chain();
    slc_error error = {0};
    outcome wanted = run(&g, &config, "cpu", g.n, 1), got = {0};
    slc_pet_cuda_chain *chain = NULL;
    slc_pet_result result = {0};
    assert_int_equal(slc_cuda_pin(g.frames, g.n * sizeof *g.frames, &error), SLC_OK);
    assert_int_equal(slc_pet_cuda_open(&config, &g.tables, &devices, &chain, &error), SLC_OK);
    slc_pet_cuda_cut(chain, 999);
    assert_int_equal(slc_pet_cuda_run(chain, g.frames, NULL, 0, false, &result, &error), SLC_OK);
    assert_int_equal(result.pairs.head.size, 0);
    assert_int_equal(slc_pet_cuda_run(chain, g.frames, NULL, g.n, false, &result, &error), SLC_OK);
    take(&got, &result);
    slc_pet_result_clear(&result);
    assert_int_equal(slc_pet_cuda_run(chain, NULL, NULL, 0, true, &result, &error), SLC_OK);
    take(&got, &result);
    slc_pet_cuda_totals(chain, &got.totals);
    got.totals.checksum += SLC_CHECKSUM_START;
    same(&got, &wanted);
    slc_pet_result_clear(&result);
    slc_pet_cuda_close(chain);
    slc_pet_cuda_close(NULL);
    slc_cuda_unpin(g.frames);
    clear(&got);
    clear(&wanted);
    free(g.frames);
}

static void what_the_processor_refuses_is_refused(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(200);
    for (int round = 0; round < 4; round++) {
        slc_error error = {0}, wanted = {0};
        slc_pet_config config = pet_frames_chain();
        slc_pet_chain *chain = NULL;
        config.convert.tick_bits = round == 0 ? 3 : 64;
        config.sort.horizon_ps = round == 1 ? -1 : 1000;
        config.prompt.window_ns = round == 2 ? -1 : 4;
        config.delay_ns = round == 3 ? 0 : 100;
        const slc_status status = slc_pet_chain_open(&config, &g.tables, &chain, &wanted);
        assert_int_not_equal(status, SLC_OK);
        config.exec.device = "cuda";
        assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, &error), status);
        assert_string_equal(error.text, wanted.text);
        assert_null(chain);
    }
    free(g.frames);
}

int main(void)
{
    slc_error error = {0};
    if (slc_cuda_list_read("cuda", false, &devices, &error) != SLC_OK) {
        (void)printf("test_pet_chain_cuda: skipped, %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_the_processor),
        cmocka_unit_test(cutting_calls_into_pieces_changes_nothing),
        cmocka_unit_test(late_singles_come_back),
        cmocka_unit_test(several_devices_are_one),
        cmocka_unit_test(another_input_follows),
        cmocka_unit_test(page_locked_frames_and_an_end_without_frames),
        cmocka_unit_test(what_the_processor_refuses_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
