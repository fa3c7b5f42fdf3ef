/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain from frames to pairs: one checksum for all threads, batches and instruction sets, and the same
 * pairs as from the stages one by one; singles kept, delayed pairs, late singles, faults; what opening
 * refuses.
 */
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/pet_frames.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60000, MANY = 300000 }; /* many: which the chain cuts, with two threads too */

static bool halves; /* the chain is to run as two halves, if it can */

static slc_status run_some(slc_pet_chain *chain, const slc_pet_frame *frames, size_t n, bool last,
                           slc_pet_converted *between, slc_pet_result *result, slc_error *error)
{
    if (between == NULL) {
        return slc_pet_chain_run(chain, frames, NULL, n, last, result, error);
    }
    const slc_status status = slc_pet_chain_convert(chain, frames, NULL, n, last, between, error);
    return status == SLC_OK ? slc_pet_chain_run_converted(chain, between, result, error) : status;
}

static slc_pet_totals run(const pet_frames_stream *g, const slc_pet_config *config, size_t batch)
{
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {0};
    slc_pet_totals totals;
    slc_error error = {0};
    uint64_t pairs = 0, delayed = 0, singles = 0, late = 0, faults = 0;
    slc_pet_converted between = {.seconds = 0};
    assert_int_equal(slc_pet_chain_open(config, &g->tables, &chain, &error), SLC_OK);
    const bool split = halves && slc_pet_chain_split(chain);
    assert_int_equal(split, halves && config->exec.threads > 1);
    for (size_t at = 0; at < g->n; at += batch) {
        const size_t n = g->n - at < batch ? g->n - at : batch;
        assert_int_equal(
            run_some(chain, g->frames + at, n, at + n == g->n, split ? &between : NULL, &result, &error),
            SLC_OK);
        for (size_t i = 0; i < result.pairs.head.size; i++) {
            delayed += result.pairs.delayed[i];
            pairs += !result.pairs.delayed[i];
            /* Prompts come first. */
            assert_true(i == 0 || result.pairs.delayed[i] >= result.pairs.delayed[i - 1]);
        }
        singles += result.singles.head.size;
        late += result.late.head.size;
        faults += slc_faults_total(&result.faults);
        for (int s = 0; s < SLC_PET_STAGES; s++) {
            assert_true(result.seconds[s] >= 0);
        }
    }
    slc_pet_chain_totals(chain, &totals);
    assert_int_equal(totals.prompt.pairs, pairs);
    assert_int_equal(totals.delayed.pairs, delayed);
    assert_int_equal(totals.sort.late, late);
    assert_int_equal(totals.convert.frames, g->n);
    assert_int_equal(totals.sort.given, totals.prompt.singles);
    assert_int_equal(singles, config->keep_singles ? totals.sort.given : 0);
    assert_int_equal(faults, g->wrong);
    slc_pet_result_clear(&result);
    slc_pet_converted_clear(&between);
    slc_pet_chain_close(chain);
    return totals;
}

static void one_checksum_for_all(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(FRAMES);
    slc_pet_config config = pet_frames_chain();
    const slc_pet_totals wanted = run(&g, &config, g.n);
    assert_int_equal(wanted.convert.module, g.wrong);
    assert_int_equal(wanted.sort.late, 0);
    assert_true(wanted.prompt.pairs > 5000 && wanted.delayed.pairs > 1000);
    assert_true(3 * wanted.prompt.pairs > 4 * wanted.delayed.pairs);
    const size_t batches[] = {g.n, 1, 92, 1000, 30001};
    for (uint32_t threads = 1; threads <= 8; threads++) {
        config.exec.threads = threads;
        for (size_t b = 0; b < 5; b++) {
            if (batches[b] > 1 || threads == 1) {
                assert_int_equal(run(&g, &config, batches[b]).checksum, wanted.checksum);
            }
        }
    }
    int n_targets = 0;
    config.exec.threads = 2;
    for (int target = 0; target < SLC_SIMD_TARGETS; target++) {
        if (slc_simd_runs((slc_simd_target)target)) {
            config.exec.target = (slc_simd_target)target;
            assert_int_equal(run(&g, &config, 25000).checksum, wanted.checksum);
            n_targets++;
        }
    }
    assert_true(n_targets > 0);
    /* It is a checksum: another window, another energy, no delayed pairs. */
    slc_pet_config other = pet_frames_chain();
    other.prompt.window_ns = 3.999;
    assert_int_not_equal(run(&g, &other, g.n).checksum, wanted.checksum);
    other = pet_frames_chain();
    other.convert.low_kev = 351;
    assert_int_not_equal(run(&g, &other, g.n).checksum, wanted.checksum);
    other = pet_frames_chain();
    other.delayed = false;
    assert_int_not_equal(run(&g, &other, g.n).checksum, wanted.checksum);
    free(g.frames);
}

static void check_halves(const pet_frames_stream *g, const slc_pet_config *config)
{
    slc_pet_config own = *config;
    const slc_pet_totals wanted = run(g, config, g->n);
    static const size_t batches[] = {MANY, 1009, 70000};
    halves = true;
    for (own.exec.threads = 1; own.exec.threads <= 5; own.exec.threads++) {
        for (size_t b = 0; b < 3; b++) {
            const slc_pet_totals totals = run(g, &own, batches[b]);
            assert_int_equal(totals.checksum, wanted.checksum);
            assert_memory_equal(&totals.convert, &wanted.convert, sizeof totals.convert);
        }
    }
    halves = false;
}

/* As two halves: the same, with delayeds, without, and with the singles kept. */
static void in_two_halves(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(MANY);
    slc_pet_config config = pet_frames_chain();
    check_halves(&g, &config);
    config.delayed = false;
    check_halves(&g, &config);
    config.keep_singles = true;
    check_halves(&g, &config);
    slc_pet_chain *chain = NULL;
    config.exec.threads = 2;
    config.until = SLC_PET_STAGE_CONVERT;
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
    assert_false(slc_pet_chain_split(chain));
    slc_pet_chain_close(chain);
    free(g.frames);
}

/* A chain that ends at an earlier stage gives the singles that this leaves. */
static void the_last_stage(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(FRAMES);
    slc_pet_config config = pet_frames_chain();
    slc_pet_result result[SLC_PET_STAGES] = {0};
    slc_pet_singles converted = {0};
    slc_pet_totals totals;
    slc_pet_convert *stage = NULL;
    config.keep_singles = true;
    for (int until = 0; until < SLC_PET_STAGES; until++) {
        slc_pet_chain *chain = NULL;
        config.until = (slc_pet_stage)until;
        assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
        assert_int_equal(slc_pet_chain_run(chain, g.frames, NULL, g.n, true, &result[until], NULL), SLC_OK);
        slc_pet_chain_totals(chain, &totals);
        assert_int_equal(totals.convert.frames, g.n);
        assert_int_equal(totals.prompt.pairs > 0, until == SLC_PET_STAGE_COINCIDENCE);
        assert_int_equal(totals.sort.given > 0, until >= SLC_PET_STAGE_SORT);
        slc_pet_chain_close(chain);
    }
    assert_int_equal(slc_pet_convert_open(&config.convert, &g.tables, &stage, NULL), SLC_OK);
    assert_int_equal(slc_pet_convert_run(stage, g.frames, NULL, g.n, true, &converted, NULL, NULL), SLC_OK);
    const slc_pet_singles *sorted = &result[SLC_PET_STAGE_SORT].singles, *arrived = &result[0].singles;
    assert_int_equal(arrived->head.size, converted.head.size);
    assert_memory_equal(arrived->time_ps, converted.time_ps, converted.head.size * sizeof(int64_t));
    assert_memory_equal(arrived->crystal, converted.crystal, converted.head.size * sizeof(uint32_t));
    assert_int_equal(sorted->head.size, result[2].singles.head.size);
    assert_memory_equal(sorted->time_ps, result[2].singles.time_ps, sorted->head.size * sizeof(int64_t));
    for (int until = 0; until < SLC_PET_STAGES; until++) {
        slc_pet_result_clear(&result[until]);
    }
    slc_columns_clear(&slc_pet_singles_schema, &converted);
    slc_pet_convert_close(stage);
    free(g.frames);
}

/* Calls with more frames than are worked on at once: the same pairs, prompts first, and all singles. */
static void long_calls_are_cut(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(MANY);
    slc_pet_config config = pet_frames_chain();
    const slc_pet_totals wanted = run(&g, &config, 5000);
    config.keep_singles = true;
    for (config.exec.threads = 1; config.exec.threads <= 3; config.exec.threads++) {
        const slc_pet_totals totals = run(&g, &config, g.n);
        assert_int_equal(totals.checksum, wanted.checksum);
        assert_int_equal(totals.delayed.pairs, wanted.delayed.pairs);
        assert_int_equal(totals.sort.given, wanted.sort.given);
    }
    free(g.frames);
}

/* The chain adds nothing to its stages. */
static void the_stages_one_by_one_give_the_same(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(MANY);
    slc_pet_config config = pet_frames_chain();
    config.keep_singles = true;
    slc_pet_chain *chain;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, g.frames, NULL, g.n, true, &result, NULL), SLC_OK);
    slc_pet_convert *convert;
    slc_pet_singles singles = {0}, work = {0};
    assert_int_equal(slc_pet_convert_open(&config.convert, &g.tables, &convert, NULL), SLC_OK);
    assert_int_equal(slc_pet_convert_run(convert, g.frames, NULL, g.n, false, &singles, NULL, NULL), SLC_OK);
    assert_int_equal(slc_pet_sort_all(&singles, &work), SLC_OK);
    assert_int_equal(result.singles.head.size, singles.head.size);
    assert_memory_equal(result.singles.time_ps, singles.time_ps, singles.head.size * 8);
    assert_memory_equal(result.singles.crystal, singles.crystal, singles.head.size * 4);
    assert_memory_equal(result.singles.energy_kev, singles.energy_kev, singles.head.size * 4);
    slc_pet_coincidences pairs = {0};
    for (int delayed = 0; delayed < 2; delayed++) {
        slc_pet_coincidence *stage;
        config.prompt.offset_ns = delayed == 1 ? config.delay_ns : 0;
        assert_int_equal(slc_pet_coincidence_open(&config.prompt, &stage, NULL), SLC_OK);
        assert_int_equal(slc_pet_coincidence_run_pairs(stage, &singles, true, &pairs, NULL), SLC_OK);
        slc_pet_coincidence_close(stage);
    }
    const size_t n = pairs.head.size;
    assert_int_equal(result.pairs.head.size, n);
    assert_memory_equal(result.pairs.time_ps, pairs.time_ps, n * 8);
    assert_memory_equal(result.pairs.dt_ps, pairs.dt_ps, n * 8);
    assert_memory_equal(result.pairs.crystal2, pairs.crystal2, n * 4);
    assert_memory_equal(result.pairs.energy1_kev, pairs.energy1_kev, n * 4);
    assert_memory_equal(result.pairs.delayed, pairs.delayed, n);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_columns_clear(&slc_pet_singles_schema, &work);
    slc_pet_convert_close(convert);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    free(g.frames);
}

/* With too short a horizon, singles are late, by the same number however the input is cut, and none is lost.
 */
static void late_singles_are_counted(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(FRAMES);
    slc_pet_config config = pet_frames_chain();
    config.sort.horizon_ps = 5000000;
    config.keep_singles = true;
    const slc_pet_totals wanted = run(&g, &config, g.n);
    assert_true(wanted.sort.late > 1000);
    assert_int_equal(wanted.sort.late + wanted.sort.given, wanted.convert.singles);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        config.exec.threads = threads;
        const slc_pet_totals totals = run(&g, &config, 20011);
        assert_int_equal(totals.sort.late, wanted.sort.late);
        assert_int_equal(totals.sort.largest_lag_ps, wanted.sort.largest_lag_ps);
        assert_int_equal(totals.checksum, wanted.checksum);
    }
    free(g.frames);
}

static void no_frames_are_no_pairs(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(FRAMES);
    const slc_pet_config config = pet_frames_chain();
    slc_pet_chain *chain;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, NULL, NULL, 0, false, &result, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, NULL, NULL, 0, true, &result, NULL), SLC_OK);
    assert_int_equal(result.pairs.head.size, 0);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    free(g.frames);
}

static void refuse(const pet_frames_stream *g, const slc_pet_config *config, slc_status status,
                   const char *word)
{
    slc_pet_chain *chain = (slc_pet_chain *)(void *)&chain; /* to be overwritten */
    slc_error error = {0};
    assert_int_equal(slc_pet_chain_open(config, &g->tables, &chain, &error), status);
    assert_null(chain);
    if (strstr(error.text, word) == NULL) {
        fail_msg("'%s' does not name %s", error.text, word);
    }
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    pet_frames_stream g = pet_frames_make(FRAMES);
    slc_pet_config bad = pet_frames_chain();
    bad.prompt.offset_ns = 5;
    refuse(&g, &bad, SLC_ERR_USAGE, "offset");
    bad = pet_frames_chain();
    bad.delay_ns = 0;
    refuse(&g, &bad, SLC_ERR_USAGE, "delay");
    bad = pet_frames_chain();
    bad.convert.tick_bits = 3;
    refuse(&g, &bad, SLC_ERR_USAGE, "tick_bits");
    bad = pet_frames_chain();
    bad.sort.horizon_ps = -1;
    refuse(&g, &bad, SLC_ERR_USAGE, "horizon");
    bad = pet_frames_chain();
    bad.prompt.window_ns = 0;
    refuse(&g, &bad, SLC_ERR_USAGE, "window");
    bad = pet_frames_chain();
    bad.exec.device = "gpu";
    refuse(&g, &bad, SLC_ERR_USAGE, "gpu");
    bad = pet_frames_chain();
    bad.until = SLC_PET_STAGE_SORT;
    bad.exec.device = "cuda";
    refuse(&g, &bad, SLC_ERR_USAGE, "until");
    bad = pet_frames_chain();
    bad.size = 0;
    refuse(&g, &bad, SLC_ERR_USAGE, "slc_pet_config: its size is not set");
    bad = pet_frames_chain();
    bad.sort.size = sizeof bad.sort + 8;
    refuse(&g, &bad, SLC_ERR_USAGE, "slc_pet_sort_config");
    bad = pet_frames_chain(); /* the scanner has 520 */
    bad.prompt.good = (slc_pet_good){
        .kind = SLC_PET_GOOD_SECTORS, .sectors = 24, .min_sectors = 2, .crystals_per_ring = 312};
    refuse(&g, &bad, SLC_ERR_USAGE,
           "good.crystals_per_ring: 312, but the scanner has 520 crystals in a ring");
    bad.prompt.good.kind = SLC_PET_GOOD_DISTANCE;
    refuse(&g, &bad, SLC_ERR_USAGE, "good.crystals_per_ring: 312");
    const float gain = -1;
    g.tables.gain = &gain;
    bad = pet_frames_chain();
    refuse(&g, &bad, SLC_ERR_FORMAT, "gain");
    free(g.frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_checksum_for_all),
        cmocka_unit_test(the_last_stage),
        cmocka_unit_test(in_two_halves),
        cmocka_unit_test(long_calls_are_cut),
        cmocka_unit_test(the_stages_one_by_one_give_the_same),
        cmocka_unit_test(late_singles_are_counted),
        cmocka_unit_test(no_frames_are_no_pairs),
        cmocka_unit_test(wrong_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
