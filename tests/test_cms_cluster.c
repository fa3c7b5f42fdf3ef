/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's clusters against the oracle, bit for bit, on every target: 10^4 random modules, with every policy for
 * duplicates, both cuts, and truncation. The numbers behind the oracle's own choices stand in its header.
 */
#include "cms/cms_stages.h"
#include "oracle/cms_cluster_oracle.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"
#include "support/sanitized.h"

#include <stdio.h>

enum { SEED = 7, EVENTS_OF_BATCH = 25, FIRST_EVENT = 1000000 };

typedef struct results {
    slc_cms_digis digis;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_faults faults;
} results;

static void clear(results *r)
{
    cms_digis_clear(&r->digis);
    slc_columns_clear(&slc_cms_modules_schema, &r->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &r->clusters);
    *r = (results){0};
}

static size_t largest_event(const slc_cms_digis *digis)
{
    size_t largest = 0;
    for (uint32_t e = 0; e < digis->head.n_events; e++) {
        const size_t n = digis->head.event_offset[e + 1] - digis->head.event_offset[e];
        largest = n > largest ? n : largest;
    }
    return largest;
}

static void run(const slc_cms_cluster_config *config, slc_simd_target target,
                slc_cms_cluster_scratch *scratch, results *r)
{
    slc_error error = {SLC_OK, ""};
    const size_t n = r->digis.head.size;
    const uint32_t events = r->digis.head.n_events;
    slc_faults_reset(&r->faults);
    assert_int_equal(slc_cms_cluster_reserve(config, target, largest_event(&r->digis), scratch, &error),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_modules_schema, &r->modules, n, events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, &r->clusters, n, events), SLC_OK);
    assert_int_equal(
        slc_cms_cluster_run(config, FIRST_EVENT, scratch, &r->digis, &r->modules, &r->clusters, &r->faults),
        SLC_OK);
}

static void assert_same(const slc_schema *schema, const void *found, const void *expected, uint32_t batch,
                        slc_simd_target target)
{
    size_t row;
    const char *column = cms_columns_differ(schema, found, expected, &row);
    if (column != NULL) {
        fail_msg("seed %d, batch %u, %s: %s differ in %s, row %zu", SEED, batch, slc_simd_name(target),
                 schema->name, column, row);
    }
}

/* Another one for each batch: all policies with both cuts, and truncation every third time. */
static slc_cms_cluster_config config_of(uint32_t batch)
{
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    config.duplicates = (slc_pixel_duplicates)(batch % SLC_PIXEL_DUPLICATES);
    config.above = batch / SLC_PIXEL_DUPLICATES % 2 != 0;
    config.truncate = batch % 3 == 2;
    config.max_module_digis = 1 + batch * 37 % 600;
    if (batch % 5 == 0) { /* every cluster counts, or few do */
        config.min_charge_e = config.min_charge_layer1_e = batch % 2 != 0 ? 0 : 20000;
    }
    return config;
}

static void test_random_modules_equal_the_oracle(void **state)
{
    (void)state;
    static results expected, found;
    slc_cms_cluster_scratch scratch[SLC_SIMD_TARGETS] = {{NULL}};
    uint32_t contents = 0, targets = 0;
    const uint32_t step = (SANITIZED ? 7 : 1) * (uint32_t)test_step(3);
    for (uint32_t batch = 0; batch < CMS_EVENTS / EVENTS_OF_BATCH; batch += step) {
        const slc_cms_cluster_config config = config_of(batch);
        slc_columns_reset(&expected.digis);
        for (uint32_t e = 0; e < EVENTS_OF_BATCH; e++) {
            contents += cms_events_append(SEED, batch * EVENTS_OF_BATCH + e, &expected.digis);
        }
        cms_digis_copy(&found.digis, &expected.digis);
        slc_faults_reset(&expected.faults);
        oracle_cms_cluster(&config, FIRST_EVENT, &expected.digis, &expected.modules, &expected.clusters,
                           &expected.faults);
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            const slc_simd_target target = (slc_simd_target)t;
            if (!slc_simd_runs(target)) {
                continue;
            }
            cms_digis_poison(&found.digis);
            run(&config, target, &scratch[t], &found);
            assert_same(&slc_cms_digis_schema, &found.digis, &expected.digis, batch, target);
            assert_same(&slc_cms_modules_schema, &found.modules, &expected.modules, batch, target);
            assert_same(&slc_cms_clusters_schema, &found.clusters, &expected.clusters, batch, target);
            const char *code = cms_faults_differ(&found.faults, &expected.faults);
            if (code != NULL) {
                fail_msg("seed %d, batch %u, %s: faults differ: %s", SEED, batch, slc_simd_name(target),
                         code);
            }
            targets++;
        }
    }
    const uint32_t batches = (CMS_EVENTS / EVENTS_OF_BATCH + step - 1) / step;
    assert_true(contents >= CMS_EVENTS_CONTENTS / step);
    assert_true(targets >= batches);
    print_message("%u modules, %u targets\n", contents, targets / batches);
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        slc_cms_cluster_clear(&scratch[t]);
    }
    clear(&expected);
    clear(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_modules_equal_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
