/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain on a GPU against the one of the processor: the same rows, totals, faults and checksum for every
 * cutting into calls, and of calls into pieces; late singles, singles kept, several inputs one after the
 * other, page-locked memory. The same source runs on a GPU and in the emulator.
 */
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/random.h"

#include "cuda/cuda_stream.h"
#include "pet/pet_chain_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t device;

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

static void append(const slc_schema *schema, void *to, const void *from, size_t begin, size_t end)
{
    slc_columns *head = to;
    const size_t row = head->size, n = end - begin;
    assert_int_equal(slc_columns_reserve(schema, to, row + n, 1), SLC_OK);
    for (size_t c = 0; c < schema->n_columns && n > 0; c++) {
        const size_t member = schema->columns[c].member, width = slc_type_size(schema->columns[c].type);
        char *column;
        const char *other;
        memcpy(&column, (char *)to + member, sizeof column);
        memcpy(&other, (const char *)from + member, sizeof other);
        memcpy(column + row * width, other + begin * width, n * width);
    }
    head->size = row + n;
}

static void take(outcome *o, const slc_pet_result *result)
{
    size_t prompts = 0;
    while (prompts < result->pairs.head.size && result->pairs.delayed[prompts] == 0) {
        prompts++;
    }
    append(&slc_pet_coincidences_schema, &o->pairs[0], &result->pairs, 0, prompts);
    append(&slc_pet_coincidences_schema, &o->pairs[1], &result->pairs, prompts, result->pairs.head.size);
    append(&slc_pet_singles_schema, &o->singles, &result->singles, 0, result->singles.head.size);
    append(&slc_pet_singles_schema, &o->late, &result->late, 0, result->late.head.size);
    slc_faults_merge(&o->faults, &result->faults);
}

static void clear(outcome *o)
{
    slc_columns_clear(&slc_pet_coincidences_schema, &o->pairs[0]);
    slc_columns_clear(&slc_pet_coincidences_schema, &o->pairs[1]);
    slc_columns_clear(&slc_pet_singles_schema, &o->singles);
    slc_columns_clear(&slc_pet_singles_schema, &o->late);
}

static void same_rows(const slc_schema *schema, const void *a, const void *b)
{
    const slc_columns *one = a, *other = b;
    assert_int_equal(one->size, other->size);
    for (size_t c = 0; c < schema->n_columns && one->size > 0; c++) {
        const char *x, *y;
        memcpy(&x, (const char *)a + schema->columns[c].member, sizeof x);
        memcpy(&y, (const char *)b + schema->columns[c].member, sizeof y);
        assert_memory_equal(x, y, one->size * slc_type_size(schema->columns[c].type));
    }
}

static void same(const outcome *a, const outcome *b)
{
    same_rows(&slc_pet_coincidences_schema, &a->pairs[0], &b->pairs[0]);
    same_rows(&slc_pet_coincidences_schema, &a->pairs[1], &b->pairs[1]);
    same_rows(&slc_pet_singles_schema, &a->singles, &b->singles);
    same_rows(&slc_pet_singles_schema, &a->late, &b->late);
    assert_memory_equal(a->faults.count, b->faults.count, sizeof a->faults.count);
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

typedef struct given {
    slc_pet_tables tables;
    slc_pet_frame *frames;
    size_t n;
} given;

static given make(size_t n)
{
    given g = {.n = n};
    assert_int_equal(slc_pet_scanner("mouse20", &g.tables.geometry, NULL), SLC_OK);
    g.frames = pet_frames_stream(20, &g.tables, &g.n);
    return g;
}

static slc_pet_config config_of(void)
{
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.prompt.window_ns = 4;
    config.prompt.policy = SLC_PET_TAKE_ALL_GOODS;
    config.convert.low_kev = 350;
    config.sort.horizon_ps = 400000000;
    config.delayed = true;
    return config;
}

/* By the public functions, in calls of so many frames; `inputs` times the same input. */
static outcome run(const given *g, const slc_pet_config *config, const char *word, size_t batch, int inputs)
{
    outcome o = {0};
    slc_pet_config c = *config;
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {0};
    slc_error error = {0};
    c.device = word;
    if (slc_pet_chain_open(&c, &g->tables, &chain, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    for (int input = 0; input < inputs; input++) {
        for (size_t at = 0; at < g->n; at += batch) {
            const size_t n = g->n - at < batch ? g->n - at : batch;
            if (slc_pet_chain_run(chain, g->frames + at, n, at + n == g->n, &result, &error) != SLC_OK) {
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
static outcome run_cut(const given *g, const slc_pet_config *config, size_t batch, size_t piece)
{
    outcome o = {0};
    slc_pet_cuda_chain *chain = NULL;
    slc_error error = {0};
    if (slc_pet_cuda_open(config, &g->tables, device, &chain, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    slc_pet_cuda_cut(chain, piece);
    for (size_t at = 0; at < g->n; at += batch) {
        const size_t n = g->n - at < batch ? g->n - at : batch;
        slc_pet_result result = {0};
        if (slc_pet_cuda_run(chain, g->frames + at, n, at + n == g->n, &result, &error) != SLC_OK) {
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
    given g = make(small() ? 3000 : 60000);
    slc_pet_config config = config_of();
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
    given g = make(small() ? 1500 : 20000);
    slc_pet_config config = config_of();
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
    given g = make(small() ? 2500 : 30000);
    slc_pet_config config = config_of();
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

static void another_input_follows(void **state)
{
    (void)state;
    given g = make(small() ? 1500 : 4000);
    const slc_pet_config config = config_of();
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
    given g = make(small() ? 1500 : 4000);
    const slc_pet_config config = config_of();
    slc_error error = {0};
    outcome wanted = run(&g, &config, "cpu", g.n, 1), got = {0};
    slc_pet_cuda_chain *chain = NULL;
    slc_pet_result result = {0};
    assert_int_equal(slc_cuda_pin(g.frames, g.n * sizeof *g.frames, &error), SLC_OK);
    assert_int_equal(slc_pet_cuda_open(&config, &g.tables, device, &chain, &error), SLC_OK);
    slc_pet_cuda_cut(chain, 999);
    assert_int_equal(slc_pet_cuda_run(chain, g.frames, 0, false, &result, &error), SLC_OK);
    assert_int_equal(result.pairs.head.size, 0);
    assert_int_equal(slc_pet_cuda_run(chain, g.frames, g.n, false, &result, &error), SLC_OK);
    take(&got, &result);
    slc_pet_result_clear(&result);
    assert_int_equal(slc_pet_cuda_run(chain, NULL, 0, true, &result, &error), SLC_OK);
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
    given g = make(200);
    for (int round = 0; round < 4; round++) {
        slc_error error = {0}, wanted = {0};
        slc_pet_config config = config_of();
        slc_pet_chain *chain = NULL;
        config.convert.tick_bits = round == 0 ? 3 : 64;
        config.sort.horizon_ps = round == 1 ? -1 : 1000;
        config.prompt.window_ns = round == 2 ? -1 : 4;
        config.delay_ns = round == 3 ? 0 : 100;
        const slc_status status = slc_pet_chain_open(&config, &g.tables, &chain, &wanted);
        assert_int_not_equal(status, SLC_OK);
        config.device = "cuda";
        assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, &error), status);
        assert_string_equal(error.text, wanted.text);
        assert_null(chain);
    }
    free(g.frames);
}

int main(void)
{
    slc_error error = {0};
    if (slc_cuda_choose("cuda", &device, &error) != SLC_OK) {
        (void)printf("test_pet_chain_cuda: skipped, %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_the_processor),
        cmocka_unit_test(cutting_calls_into_pieces_changes_nothing),
        cmocka_unit_test(late_singles_come_back),
        cmocka_unit_test(another_input_follows),
        cmocka_unit_test(page_locked_frames_and_an_end_without_frames),
        cmocka_unit_test(what_the_processor_refuses_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
