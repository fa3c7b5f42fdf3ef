/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain from frames to pairs: one checksum for all threads, batches and instruction sets, and the same
 * pairs as from the stages one by one; singles kept, delayed pairs, late singles, faults; what opening
 * refuses.
 */
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/pet_chain.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60000, PACKET = 92, WRONG = 37 };

/* Frames of a small scanner at 100 Mcps with pairs among them, in packets of modules, some of them damaged.
 */
typedef struct given {
    slc_pet_tables tables;
    slc_pet_frame *frames;
    size_t n;
} given;

static given make(void)
{
    given g = {.frames = malloc((FRAMES + PACKET) * sizeof *g.frames)};
    uint64_t seed = 20;
    assert_int_equal(slc_pet_scanner("mouse20", &g.tables.geometry, NULL), SLC_OK);
    slc_pet_convert_config clock;
    slc_pet_convert_config_default(&clock);
    const uint32_t crystals = slc_pet_crystals(&g.tables.geometry);
    slc_pet_frame packet[20][PACKET];
    int fill[20] = {0};
    int64_t time = 1000000;
    uint32_t crystal = 0;
    while (g.n < FRAMES) {
        const bool pair = random_below(&seed, 4) == 0;
        time += pair ? random_below(&seed, 3000) : (int64_t)(-log(1 - random_unit(&seed)) * 10000);
        crystal = pair ? (crystal + crystals / 2) % crystals : random_below(&seed, crystals);
        slc_pet_frame frame;
        assert_true(
            slc_pet_frame_make(&g.tables, &clock, crystal, time, 300 + 300 * random_unit(&seed), &frame));
        const uint8_t m = frame.module;
        packet[m][fill[m]++] = frame;
        if (fill[m] == PACKET) {
            memcpy(g.frames + g.n, packet[m], sizeof packet[m]);
            g.n += PACKET;
            fill[m] = 0;
        }
    }
    for (size_t i = 0; i < WRONG; i++) {
        g.frames[i * 1000 + 5].module = 99;
    }
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

static slc_pet_totals run(const given *g, const slc_pet_config *config, size_t batch)
{
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {0};
    slc_pet_totals totals;
    slc_error error = {0};
    uint64_t pairs = 0, delayed = 0, singles = 0, late = 0, faults = 0;
    assert_int_equal(slc_pet_chain_open(config, &g->tables, &chain, &error), SLC_OK);
    for (size_t at = 0; at < g->n; at += batch) {
        const size_t n = g->n - at < batch ? g->n - at : batch;
        assert_int_equal(slc_pet_chain_run(chain, g->frames + at, n, at + n == g->n, &result, &error),
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
    assert_int_equal(faults, WRONG);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    return totals;
}

static void one_checksum_for_all(void **state)
{
    (void)state;
    given g = make();
    slc_pet_config config = config_of();
    const slc_pet_totals wanted = run(&g, &config, g.n);
    assert_int_equal(wanted.convert.module, WRONG);
    assert_int_equal(wanted.sort.late, 0);
    assert_true(wanted.prompt.pairs > 5000 && wanted.delayed.pairs > 1000);
    assert_true(3 * wanted.prompt.pairs > 4 * wanted.delayed.pairs);
    const size_t batches[] = {g.n, 1, 92, 1000, 30001};
    for (uint32_t threads = 1; threads <= 8; threads++) {
        config.threads = threads;
        for (size_t b = 0; b < 5; b++) {
            if (batches[b] > 1 || threads == 1) {
                assert_int_equal(run(&g, &config, batches[b]).checksum, wanted.checksum);
            }
        }
    }
    int n_targets = 0;
    config.threads = 2;
    for (int target = 0; target < SLC_SIMD_TARGETS; target++) {
        if (slc_simd_runs((slc_simd_target)target)) {
            config.convert.target = config.sort.target = config.prompt.target = (slc_simd_target)target;
            assert_int_equal(run(&g, &config, 25000).checksum, wanted.checksum);
            n_targets++;
        }
    }
    assert_true(n_targets > 0);
    /* It is a checksum: another window, another energy, no delayed pairs. */
    slc_pet_config other = config_of();
    other.prompt.window_ns = 3.999;
    assert_int_not_equal(run(&g, &other, g.n).checksum, wanted.checksum);
    other = config_of();
    other.convert.low_kev = 351;
    assert_int_not_equal(run(&g, &other, g.n).checksum, wanted.checksum);
    other = config_of();
    other.delayed = false;
    assert_int_not_equal(run(&g, &other, g.n).checksum, wanted.checksum);
    free(g.frames);
}

/* The chain adds nothing to its stages. */
static void the_stages_one_by_one_give_the_same(void **state)
{
    (void)state;
    given g = make();
    slc_pet_config config = config_of();
    config.keep_singles = true;
    slc_pet_chain *chain;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, g.frames, g.n, true, &result, NULL), SLC_OK);
    slc_pet_convert *convert;
    slc_pet_singles singles = {0}, work = {0};
    assert_int_equal(slc_pet_convert_open(&config.convert, &g.tables, &convert, NULL), SLC_OK);
    assert_int_equal(slc_pet_convert_run(convert, g.frames, g.n, &singles, NULL, NULL), SLC_OK);
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
    given g = make();
    slc_pet_config config = config_of();
    config.sort.horizon_ps = 5000000;
    config.keep_singles = true;
    const slc_pet_totals wanted = run(&g, &config, g.n);
    assert_true(wanted.sort.late > 1000);
    assert_int_equal(wanted.sort.late + wanted.sort.given, wanted.convert.singles);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        config.threads = threads;
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
    given g = make();
    const slc_pet_config config = config_of();
    slc_pet_chain *chain;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_chain_open(&config, &g.tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, NULL, 0, false, &result, NULL), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, NULL, 0, true, &result, NULL), SLC_OK);
    assert_int_equal(result.pairs.head.size, 0);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    free(g.frames);
}

static void refuse(const given *g, const slc_pet_config *config, slc_status status, const char *word)
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
    given g = make();
    slc_pet_config bad = config_of();
    bad.prompt.offset_ns = 5;
    refuse(&g, &bad, SLC_ERR_USAGE, "offset");
    bad = config_of();
    bad.delay_ns = 0;
    refuse(&g, &bad, SLC_ERR_USAGE, "delay");
    bad = config_of();
    bad.convert.tick_bits = 3;
    refuse(&g, &bad, SLC_ERR_USAGE, "tick_bits");
    bad = config_of();
    bad.sort.horizon_ps = -1;
    refuse(&g, &bad, SLC_ERR_USAGE, "horizon");
    bad = config_of();
    bad.prompt.window_ns = 0;
    refuse(&g, &bad, SLC_ERR_USAGE, "window");
    bad = config_of();
    bad.device = "gpu";
    refuse(&g, &bad, SLC_ERR_USAGE, "gpu");
    const float gain = -1;
    g.tables.gain = &gain;
    bad = config_of();
    refuse(&g, &bad, SLC_ERR_FORMAT, "gain");
    free(g.frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_checksum_for_all),
        cmocka_unit_test(the_stages_one_by_one_give_the_same),
        cmocka_unit_test(late_singles_are_counted),
        cmocka_unit_test(no_frames_are_no_pairs),
        cmocka_unit_test(wrong_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
