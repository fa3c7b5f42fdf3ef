/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's chain on a core: the same result for every batch and instruction set, from raw words and from digis;
 * what opening refuses; too little room; faults as errors; digis that nobody wants.
 */
#include "support/cmocka_all.h"

#include <sluice/cms_chain.h>
#include <sluice/sim_cms.h>

#include <stdio.h>
#include <string.h>

enum { EVENTS = 9 };

typedef struct given {
    slc_sim_cms *sim;
    slc_batch batch;
} given;

static given make(float corrupt)
{
    given g = {0};
    slc_sim_cms_config config;
    slc_sim_cms_config_default(&config);
    config.tracks = 80;
    config.corrupt = corrupt;
    config.shuffled = true;
    assert_int_equal(slc_sim_cms_open(&config, &g.sim, NULL), SLC_OK);
    for (uint64_t e = 0; e < EVENTS; e++) {
        assert_int_equal(slc_sim_cms_event(g.sim, e, &g.batch, NULL, NULL), SLC_OK);
    }
    return g;
}

static void clear(given *g)
{
    slc_sim_cms_close(g->sim);
    slc_batch_clear(&g->batch);
}

static slc_cms_chain *open_chain(const given *g, const slc_cms_config *config)
{
    slc_cms_chain *chain = NULL;
    slc_error error;
    assert_int_equal(
        slc_cms_chain_open(config, slc_sim_cms_cabling(g->sim), slc_sim_cms_gains(g->sim), &chain, &error),
        SLC_OK);
    assert_non_null(chain);
    return chain;
}

/* Of all events, so many in a batch. */
static uint64_t checksum_of(const given *g, const slc_cms_config *config, uint32_t most, uint64_t *faults)
{
    slc_cms_chain *chain = open_chain(g, config);
    slc_cms_result result = {0};
    slc_batch batch = {0};
    uint64_t sum = 0;
    *faults = 0;
    for (uint32_t e = 0; e < EVENTS; e += most) {
        slc_batch_reset(&batch);
        batch.first_event = e;
        for (uint32_t k = e; k < EVENTS && k < e + most; k++) {
            assert_int_equal(
                slc_batch_append(&batch, g->batch.bytes + g->batch.offset[k], g->batch.length[k], 0), SLC_OK);
        }
        assert_int_equal(slc_cms_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
        assert_int_equal(slc_cms_chain_run(chain, &batch, &result, NULL), SLC_OK);
        sum += slc_cms_result_checksum(&result, e);
        *faults += slc_faults_total(&result.faults);
    }
    slc_batch_clear(&batch);
    slc_cms_result_clear(&result);
    slc_cms_chain_close(chain);
    return sum;
}

static void batches_and_targets_do_not_matter(void **state)
{
    (void)state;
    given g = make(0.05f);
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    uint64_t faults, wanted_faults;
    const uint64_t wanted = checksum_of(&g, &config, EVENTS, &wanted_faults);
    assert_true(wanted_faults > 20);
    for (uint32_t most = 1; most < EVENTS; most++) {
        assert_int_equal(checksum_of(&g, &config, most, &faults), wanted);
        assert_int_equal(faults, wanted_faults);
    }
    int n_targets = 0;
    for (int target = 0; target < SLC_SIMD_TARGETS; target++) {
        if (slc_simd_runs((slc_simd_target)target)) {
            config.exec.target = (slc_simd_target)target;
            assert_int_equal(checksum_of(&g, &config, 4, &faults), wanted);
            n_targets++;
        }
    }
    assert_true(n_targets > 0);
    clear(&g);
}

static void digis_give_what_words_give(void **state)
{
    (void)state;
    given g = make(0);
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    slc_cms_chain *chain = open_chain(&g, &config);
    slc_cms_result result = {0}, again = {0};
    assert_int_equal(slc_cms_chain_reserve(chain, &g.batch, &result, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(chain, &g.batch, &result, NULL), SLC_OK);
    assert_true(result.clusters.head.size > 100);
    config.calibrated = true; /* the result's digis have electrons */
    slc_cms_chain *calibrated = NULL;
    assert_int_equal(slc_cms_chain_open(&config, NULL, NULL, &calibrated, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &again.digis, result.digis.head.size, EVENTS),
                     SLC_OK);
    assert_int_equal(slc_columns_append_events(&slc_cms_digis_schema, &result.digis, 0, EVENTS, &again.digis),
                     SLC_OK);
    assert_int_equal(slc_cms_chain_reserve_digis(calibrated, &again, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run_digis(calibrated, &again, NULL), SLC_OK);
    assert_int_equal(slc_cms_result_checksum(&again, 1), slc_cms_result_checksum(&result, 1));
    /* Raw words need a cabling, which this chain has not. */
    slc_error error;
    assert_int_equal(slc_cms_chain_run(calibrated, &g.batch, &again, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "cabling"));
    slc_cms_result_clear(&again);
    slc_cms_result_clear(&result);
    slc_cms_chain_close(calibrated);
    slc_cms_chain_close(chain);
    clear(&g);
}

/* Whatever is wanted: the same counts and checksum, and rows of that alone. */
static void what_is_wanted(void **state)
{
    (void)state;
    given g = make(0);
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    slc_cms_chain *all = open_chain(&g, &config);
    slc_cms_result every = {0}, some = {0};
    assert_int_equal(slc_cms_chain_reserve(all, &g.batch, &every, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(all, &g.batch, &every, NULL), SLC_OK);
    assert_int_equal(every.checksum, 0); /* it was not asked for */
    assert_int_equal(every.n_clusters, every.clusters.head.size);
    config.checksum = true;
    for (uint32_t wanted = 0; wanted <= SLC_CMS_WANT_ALL; wanted++) {
        config.wanted = wanted;
        slc_cms_chain *chain = open_chain(&g, &config);
        assert_int_equal(slc_cms_chain_reserve(chain, &g.batch, &some, NULL), SLC_OK);
        assert_int_equal(slc_cms_chain_run(chain, &g.batch, &some, NULL), SLC_OK);
        const uint32_t has = wanted != 0 ? wanted : SLC_CMS_WANT_ALL;
        assert_int_equal(some.digis.head.size, (has & SLC_CMS_WANT_DIGIS) != 0 ? every.digis.head.size : 0);
        assert_int_equal(some.modules.head.size, (has & SLC_CMS_WANT_MODULES) != 0 ? every.n_modules : 0);
        assert_int_equal(some.clusters.head.size, (has & SLC_CMS_WANT_CLUSTERS) != 0 ? every.n_clusters : 0);
        assert_int_equal(some.digis.head.n_events, EVENTS);
        assert_int_equal(some.clusters.head.n_events, EVENTS);
        assert_true(some.checksum == slc_cms_result_checksum(&every, 0));
        assert_int_equal(some.n_modules, every.n_modules);
        assert_int_equal(some.n_pixels, every.n_pixels);
        slc_cms_chain_close(chain);
    }
    config.wanted = SLC_CMS_WANT_ALL + 1;
    slc_cms_chain *chain = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_cms_chain_open(&config, NULL, NULL, &chain, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "wanted: there is no such collection (0x10)"));
    slc_cms_result_clear(&every);
    slc_cms_result_clear(&some);
    slc_cms_chain_close(all);
    clear(&g);
}

static void digis_may_be_dropped(void **state)
{
    (void)state;
    given g = make(0);
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    slc_cms_chain *keeps = open_chain(&g, &config);
    config.wanted = SLC_CMS_WANT_MODULES | SLC_CMS_WANT_CLUSTERS;
    slc_cms_chain *drops = open_chain(&g, &config);
    slc_cms_result kept = {0}, dropped = {0};
    assert_int_equal(slc_cms_chain_reserve(keeps, &g.batch, &kept, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(keeps, &g.batch, &kept, NULL), SLC_OK);
    /* Without any room, and with room for less. */
    assert_int_equal(slc_cms_chain_run(drops, &g.batch, &dropped, NULL), SLC_ERR_CAPACITY);
    slc_batch one = {0};
    assert_int_equal(slc_batch_append(&one, g.batch.bytes, 4, 0), SLC_OK);
    assert_int_equal(slc_cms_chain_reserve(drops, &one, &dropped, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(drops, &g.batch, &dropped, NULL), SLC_ERR_CAPACITY);
    assert_true(dropped.digis.head.n_events <= dropped.digis.head.event_capacity);
    assert_int_equal(slc_cms_chain_reserve(drops, &g.batch, &dropped, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(drops, &g.batch, &dropped, NULL), SLC_OK);
    assert_int_equal(dropped.digis.head.size, 0);
    assert_int_equal(dropped.digis.head.n_events, EVENTS);
    assert_int_equal(dropped.words.digis, kept.digis.head.size);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_int_equal(slc_columns_checksum(&slc_cms_clusters_schema, &dropped.clusters, e, 1),
                         slc_columns_checksum(&slc_cms_clusters_schema, &kept.clusters, e, 1));
    }
    slc_batch_clear(&one);
    slc_cms_result_clear(&kept);
    slc_cms_result_clear(&dropped);
    slc_cms_chain_close(keeps);
    slc_cms_chain_close(drops);
    clear(&g);
}

/* Opening refuses the configuration, and *error has the word. */
static void refuse(const given *g, const slc_cms_config *config, const slc_cms_gains *gains, const char *word)
{
    slc_cms_chain *chain = (slc_cms_chain *)(void *)&chain; /* to be overwritten */
    slc_error error = {0};
    assert_int_equal(slc_cms_chain_open(config, slc_sim_cms_cabling(g->sim), gains, &chain, &error),
                     SLC_ERR_USAGE);
    assert_null(chain);
    if (strstr(error.text, word) == NULL) {
        fail_msg("'%s' does not name %s", error.text, word);
    }
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    given g = make(0);
    const slc_cms_gains *gains = slc_sim_cms_gains(g.sim);
    slc_cms_config good, bad;
    slc_cms_config_default(&good, SLC_CMS_PHASE1);
    refuse(&g, &good, NULL, "gains");
    slc_cms_gains wrong = *gains;
    wrong.gain = NULL;
    refuse(&g, &good, &wrong, "gains");
    wrong = *gains;
    wrong.noisy = wrong.dead;
    refuse(&g, &good, &wrong, "same mark");
    bad = good;
    bad.position.plane_default.z0_um = 0;
    refuse(&g, &bad, gains, "z0");
    bad = good;
    bad.size = 0;
    refuse(&g, &bad, gains, "slc_cms_config_default");
    bad = good;
    bad.exec.target = (slc_simd_target)77;
    refuse(&g, &bad, gains, "exec.target");
    bad = good;
    bad.decode.modules = 0;
    refuse(&g, &bad, gains, "decode.modules");
    bad = good;
    bad.cluster.rows = 4000;
    refuse(&g, &bad, gains, "rows");
    bad = good;
    bad.calibrate.kink = 100000;
    refuse(&g, &bad, gains, "kink");
    bad = good;
    bad.exec.device = "gpu";
    refuse(&g, &bad, gains, "gpu");
    clear(&g);
}

static void the_first_fault_may_be_an_error(void **state)
{
    (void)state;
    given g = make(0.2f);
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    config.strict = true;
    slc_cms_chain *chain = open_chain(&g, &config);
    slc_cms_result result = {0};
    slc_error error = {0};
    assert_int_equal(slc_cms_chain_reserve(chain, &g.batch, &result, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(chain, &g.batch, &result, &error), SLC_ERR_STRICT);
    assert_non_null(strstr(error.text, "FED or module"));
    slc_cms_result_clear(&result);
    slc_cms_chain_close(chain);
    clear(&g);
}

static void lost_modules_are_counted(void **state)
{
    (void)state;
    given g = make(0);
    slc_cms_gains few = *slc_sim_cms_gains(g.sim);
    few.n_modules = 100;
    slc_cms_config config;
    slc_cms_config_default(&config, SLC_CMS_PHASE1);
    slc_cms_chain *chain = NULL;
    slc_cms_result result = {0};
    assert_int_equal(slc_cms_chain_open(&config, slc_sim_cms_cabling(g.sim), &few, &chain, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_reserve(chain, &g.batch, &result, NULL), SLC_OK);
    assert_int_equal(slc_cms_chain_run(chain, &g.batch, &result, NULL), SLC_OK);
    uint64_t without = 0;
    for (size_t i = 0; i < result.digis.head.size; i++) {
        without += result.digis.module[i] == SLC_CMS_NO_MODULE;
    }
    assert_true(result.columns.beyond > 100);
    assert_int_equal(without, result.columns.beyond + result.columns.dead + result.columns.noisy);
    slc_cms_result_clear(&result);
    slc_cms_chain_close(chain);
    clear(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_and_targets_do_not_matter),
        cmocka_unit_test(digis_give_what_words_give),
        cmocka_unit_test(what_is_wanted),
        cmocka_unit_test(digis_may_be_dropped),
        cmocka_unit_test(wrong_configurations_are_refused),
        cmocka_unit_test(the_first_fault_may_be_an_error),
        cmocka_unit_test(lost_modules_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
