/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's clusters in cases that are made on purpose, on every target: the five synthetic events of CMS's own
 * test, the smallest and the largest modules, saturation, several digis of a pixel, modules that come again,
 * what is refused, and the arrays as CMS has them.
 */
#include "cms/cms_stages.h"
#include "oracle/cms_cluster_oracle.h"
#include "sim/sim_cms_synthetic.h"
#include "support/cmocka_all.h"
#include "support/cms_cases.h"
#include "support/cms_events.h"
#include "support/random.h"

#include <sluice/sim_cms.h>

#include <string.h>

enum { NONE = SLC_CMS_NO_CLUSTER, NO_MODULE = SLC_CMS_NO_MODULE };

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

/* With memory as large as the digis need, and no larger: what is written beyond is found by sanitizers. */
static void run(const slc_cms_cluster_config *config, slc_simd_target target, results *r)
{
    slc_cms_cluster_scratch scratch = {NULL};
    const size_t n = r->digis.head.size;
    const uint32_t events = r->digis.head.n_events;
    slc_faults_reset(&r->faults);
    cms_digis_poison(&r->digis);
    assert_int_equal(slc_cms_cluster_reserve(config, target, n, &scratch, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_modules_schema, &r->modules, n, events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, &r->clusters, n, events), SLC_OK);
    assert_int_equal(
        slc_cms_cluster_run(config, 5, &scratch, &r->digis, &r->modules, &r->clusters, &r->faults), SLC_OK);
    slc_cms_cluster_clear(&scratch);
    slc_cms_cluster_clear(&scratch); /* is allowed twice */
}

/* On every target against the oracle; leaves the last target's results in `r`. */
static void assert_as_oracle(slc_cms_cluster_config config, results *r)
{
    results expected = {0};
    size_t row;
    uint32_t targets = 0;
    cms_digis_copy(&expected.digis, &r->digis);
    oracle_cms_cluster(&config, 5, &expected.digis, &expected.modules, &expected.clusters, &expected.faults);
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (!slc_simd_runs((slc_simd_target)t)) {
            continue;
        }
        run(&config, (slc_simd_target)t, r);
        const char *digis = cms_columns_differ(&slc_cms_digis_schema, &r->digis, &expected.digis, &row);
        const char *modules = cms_columns_differ(&slc_cms_modules_schema, &r->modules, &expected.modules,
                                                 &row);
        const char *clusters = cms_columns_differ(&slc_cms_clusters_schema, &r->clusters, &expected.clusters,
                                                  &row);
        const char *faults = cms_faults_differ(&r->faults, &expected.faults);
        if (digis != NULL || modules != NULL || clusters != NULL || faults != NULL) {
            fail_msg("%s: digis %s, modules %s, clusters %s, faults %s; row %zu",
                     slc_simd_name((slc_simd_target)t), digis != NULL ? digis : "-",
                     modules != NULL ? modules : "-", clusters != NULL ? clusters : "-",
                     faults != NULL ? faults : "-", row);
        }
        targets++;
    }
    assert_true(targets > 0);
    clear(&expected);
}

static slc_cms_cluster_config defaults(void)
{
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    return config;
}

/* ---- CMS's test ----------------------------------------------------------------------------------- */

/* Numbers are contiguous from 0 in each module. */
static void assert_contiguous(const results *r)
{
    for (size_t m = 0, digi = 0; m < r->modules.head.size; m++) {
        int32_t next = 0;
        for (digi = 0; digi < r->digis.head.size; digi++) {
            if (r->digis.module[digi] == r->modules.module[m] && r->digis.cluster[digi] != NONE) {
                assert_in_range(r->digis.cluster[digi], 0, next);
                next += r->digis.cluster[digi] == next;
            }
        }
        assert_int_equal(next, r->modules.n_clusters[m]);
    }
}

static void test_synthetic_events(void **state)
{
    (void)state;
    static const uint32_t before_cut[] = {8960, 9960, 8960, 9960, 8960};
    static const uint32_t above[] = {8959, 8960, 4510, 8960, 8960};
    static const uint32_t modules[] = {897, 898, 897, 898, 897};
    for (uint32_t kind = 0; kind < 5; kind++) {
        results r = {0};
        slc_cms_cluster_config config = defaults();
        assert_int_equal(slc_sim_cms_synthetic(kind, &r.digis), SLC_OK);
        assert_as_oracle(config, &r);
        assert_int_equal(r.modules.head.size, modules[kind]);
        assert_int_equal(r.clusters.head.size, above[kind]); /* no cluster is exactly at the cut */
        config.above = true;
        run(&config, SLC_SIMD_AUTO, &r);
        assert_int_equal(r.clusters.head.size, above[kind]);
        assert_contiguous(&r);
        config.above = false;
        config.min_charge_e = config.min_charge_layer1_e = 0;
        run(&config, SLC_SIMD_AUTO, &r);
        assert_int_equal(r.modules.head.size, modules[kind]);
        assert_int_equal(r.clusters.head.size, before_cut[kind]);
        assert_int_equal(slc_faults_total(&r.faults), 0);
        clear(&r);
    }
}

/* ---- small and large ------------------------------------------------------------------------------ */

static void test_events_with_nothing_in_them(void **state)
{
    (void)state;
    results r = {0};
    cms_digis_put(&r.digis, 0, 0, 0, 0); /* so that there is memory */
    slc_columns_reset(&r.digis);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &r.digis, 1, 4), SLC_OK);
    slc_columns_reset(&r.digis);
    assert_as_oracle(defaults(), &r); /* no event */
    cms_digis_end(&r.digis);
    cms_digis_put(&r.digis, NO_MODULE, 3, 3, 9999);
    cms_digis_end(&r.digis);
    cms_digis_end(&r.digis);
    cms_digis_put(&r.digis, 4096, 3, 3, 9999);
    cms_digis_put(&r.digis, 1855, 159, 415, 9999);
    cms_digis_put(&r.digis, 1856, 3, 3, 9999);
    cms_digis_end(&r.digis);
    assert_as_oracle(defaults(), &r);
    assert_int_equal(r.modules.head.size, 1);
    assert_int_equal(r.modules.first_digi[0], 1);
    assert_int_equal(r.digis.cluster[0], NONE);
    assert_int_equal(r.digis.cluster[2], 0);
    clear(&r);
}

/* Geometries at which rows of bits end inside a word, at its end, and behind it. */
static void test_sizes_of_modules(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},   {1, 63},  {2, 64},   {3, 65},      {7, 127},
                                        {5, 128}, {1, 416}, {2048, 1}, {2048, 2048}, {160, 447}};
    uint64_t seed = 11;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint32_t rows = sizes[k][0], columns = sizes[k][1];
        slc_cms_cluster_config config = defaults();
        results r = {0};
        config.rows = rows;
        config.columns = columns;
        config.modules = 4096;
        config.min_charge_e = config.min_charge_layer1_e = 0;
        for (uint32_t i = 0; i < 3000; i++) {
            const bool edges = random_below(&seed, 2) !=
                               0; /* the last columns and the first of the next row */
            const uint32_t x = random_below(&seed, rows < 30 ? rows : 30);
            const uint32_t near = random_below(&seed, columns < 4 ? columns : 4);
            const uint32_t y = edges ? (random_below(&seed, 2) != 0 ? near : columns - 1 - near)
                                     : random_below(&seed, columns + (random_below(&seed, 100) == 0));
            cms_digis_put(&r.digis, 4095 - i / 200, random_below(&seed, 2) != 0 ? x : rows - 1 - x, y,
                          random_below(&seed, 65536));
        }
        cms_digis_end(&r.digis);
        assert_as_oracle(config, &r);
        clear(&r);
    }
}

static void test_full_module_saturates(void **state)
{
    (void)state;
    results r = {0};
    cms_cases_full_module(&r.digis);
    slc_cms_cluster_config config = defaults();
    config.min_charge_e = UINT32_MAX; /* which it just reaches */
    run(&config, SLC_SIMD_AUTO, &r);
    cms_cases_assert_full_module(&r.modules, &r.clusters);
    config.above = true;
    run(&config, SLC_SIMD_AUTO, &r);
    assert_int_equal(r.clusters.head.size, 0);
    assert_int_equal(r.digis.cluster[77], NONE);
    clear(&r);
}

static void test_one_pixel_again_and_again(void **state)
{
    (void)state;
    results r = {0};
    cms_cases_one_pixel(&r.digis);
    for (int policy = 0; policy < SLC_PIXEL_DUPLICATES; policy++) {
        slc_cms_cluster_config config = defaults();
        config.duplicates = (slc_pixel_duplicates)policy;
        run(&config, SLC_SIMD_AUTO, &r);
        cms_cases_assert_one_pixel(config.duplicates, &r.digis, &r.modules, &r.clusters);
    }
    clear(&r);
}

/* ---- order ---------------------------------------------------------------------------------------- */

/* A module that comes again, behind another one, is one module. Words that are none do not make it longer,
 * and a stretch of digis outside of the module is no stretch. */
static void test_modules_that_come_again(void **state)
{
    (void)state;
    results r = {0};
    cms_digis_put(&r.digis, NO_MODULE, 0, 0, 0);
    cms_digis_put(&r.digis, 500, 10, 10, 3000);
    cms_digis_put(&r.digis, NO_MODULE, 11, 11, 3000);
    cms_digis_put(&r.digis, 500, 12, 12, 3000); /* alone: nothing lies between */
    cms_digis_put(&r.digis, 20, 160, 10, 3000); /* outside */
    cms_digis_put(&r.digis, 400, 10, 10, 4000);
    cms_digis_put(&r.digis, 500, 11, 11, 3000); /* joins both */
    cms_digis_put(&r.digis, 400, 11, 12, 4000);
    cms_digis_end(&r.digis);
    assert_as_oracle(defaults(), &r);
    static const int32_t cluster[] = {NONE, 0, NONE, 0, NONE, 0, 0, 1};
    assert_memory_equal(r.digis.cluster, cluster, sizeof cluster);
    assert_int_equal(r.modules.head.size, 2);
    assert_int_equal(r.modules.module[0], 400);
    assert_int_equal(r.modules.first_digi[0], 5);
    assert_int_equal(r.modules.n_digis[0], 2);
    assert_int_equal(r.modules.n_clusters[0], 2);
    assert_int_equal(r.modules.module[1], 500);
    assert_int_equal(r.modules.first_digi[1], 1);
    assert_int_equal(r.modules.n_digis[1], 3);
    assert_int_equal(r.modules.cluster_begin[1], 2);
    assert_int_equal(r.clusters.charge_e[2], 9000);
    assert_int_equal(slc_faults_of(&r.faults, SLC_FAULT_CMS_PIXEL), 1);
    assert_int_equal(r.faults.kept[0].event, 5);
    assert_int_equal(r.faults.kept[0].module, 20);
    assert_int_equal(r.faults.kept[0].offset, 4);
    clear(&r);
}

/* Cut off behind the third digi: which digi joins two clusters is left out. */
static void test_truncated_modules(void **state)
{
    (void)state;
    results r = {0};
    cms_digis_put(&r.digis, 10, 5, 5, 5000);
    cms_digis_put(&r.digis, 10, 200, 6, 5000); /* outside: does not count */
    cms_digis_put(&r.digis, 10, 5, 7, 5000);
    cms_digis_put(&r.digis, 10, 5, 9, 5000);
    cms_digis_put(&r.digis, NO_MODULE, 5, 8, 5000);
    cms_digis_put(&r.digis, 10, 5, 6, 5000);
    cms_digis_put(&r.digis, 10, 5, 8, 5000);
    cms_digis_end(&r.digis);
    slc_cms_cluster_config config = defaults();
    config.max_module_digis = 3;
    assert_as_oracle(config, &r);
    assert_int_equal(r.clusters.head.size, 1);
    config.truncate = true;
    assert_as_oracle(config, &r);
    assert_int_equal(r.clusters.head.size, 3);
    assert_int_equal(r.modules.n_digis[0], 5);
    assert_int_equal(slc_faults_of(&r.faults, SLC_FAULT_CMS_MODULE_CROWDED), 1);
    assert_int_equal(r.faults.kept[1].offset, 5);
    assert_int_equal(r.digis.cluster[5], NONE);
    assert_int_equal(r.digis.cluster[6], NONE);
    config.max_module_digis = 0;
    assert_as_oracle(config, &r);
    assert_int_equal(r.clusters.head.size, 0);
    assert_int_equal(r.modules.head.size, 1);
    config.max_module_digis = 5;
    assert_as_oracle(config, &r);
    assert_int_equal(slc_faults_total(&r.faults), 1);
    cms_digis_put(&r.digis, 9, 5, 8, 5000); /* and the same in an event that must be sorted */
    cms_digis_put(&r.digis, 10, 1, 1, 5000);
    cms_digis_end(&r.digis);
    slc_columns *head = &r.digis.head;
    head->event_offset[1] = (uint32_t)head->size; /* all in the first one */
    head->n_events = 1;
    assert_as_oracle(config, &r);
    assert_int_equal(r.faults.kept[1].offset, 8);
    clear(&r);
}

/* ---- what is refused ------------------------------------------------------------------------------ */

static void assert_refused_on(const slc_cms_cluster_config *config, slc_simd_target target, const char *words)
{
    slc_cms_cluster_scratch scratch = {NULL};
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_cms_cluster_reserve(config, target, 10, &scratch, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, words));
    assert_null(scratch.work);
}

static void assert_refused(const slc_cms_cluster_config *config, const char *words)
{
    assert_refused_on(config, SLC_SIMD_AUTO, words);
}

static void test_what_cannot_be_done_is_refused(void **state)
{
    (void)state;
    const slc_cms_cluster_config good = defaults();
    slc_cms_cluster_config bad = good;
    bad.modules = 0;
    assert_refused(&bad, "0 modules");
    bad.modules = 4097;
    assert_refused(&bad, "4097 modules");
    bad = good;
    bad.rows = 2049;
    assert_refused(&bad, "2049 rows");
    bad.rows = 0;
    assert_refused(&bad, "0 rows");
    bad = good;
    bad.columns = 2049;
    assert_refused(&bad, "2049 columns");
    bad = good;
    bad.duplicates = SLC_PIXEL_DUPLICATES;
    assert_refused(&bad, "policy");
    assert_refused_on(&good, SLC_SIMD_TARGETS, "target");
    slc_cms_cluster_scratch scratch = {NULL};
    assert_int_equal(slc_cms_cluster_reserve(&good, SLC_SIMD_AUTO, SIZE_MAX, &scratch, NULL), SLC_ERR_USAGE);
    slc_cms_cluster_clear(&scratch);
}

/* Too little memory anywhere is told, and nothing is written. */
static void test_too_little_room(void **state)
{
    (void)state;
    slc_cms_cluster_config config = defaults();
    slc_cms_cluster_scratch scratch = {NULL};
    results r = {0};
    for (uint32_t i = 0; i < 10; i++) {
        cms_digis_put(&r.digis, 100 + i, 5, 5, 5000);
    }
    cms_digis_end(&r.digis);
    cms_digis_end(&r.digis);
#define RUN() slc_cms_cluster_run(&config, 0, &scratch, &r.digis, &r.modules, &r.clusters, &r.faults)
    assert_int_equal(RUN(), SLC_ERR_CAPACITY);
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, 9, &scratch, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_modules_schema, &r.modules, 9, 1), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, &r.clusters, 9, 1), SLC_OK);
    assert_int_equal(RUN(), SLC_ERR_CAPACITY);
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, 10, &scratch, NULL), SLC_OK);
    assert_int_equal(RUN(), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_cms_modules_schema, &r.modules, 10, 2), SLC_OK);
    assert_int_equal(RUN(), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, &r.clusters, 10, 2), SLC_OK);
    config.rows = 80; /* not what the memory was made for */
    assert_int_equal(RUN(), SLC_ERR_CAPACITY);
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, 1, &scratch, NULL), SLC_OK);
    assert_int_equal(RUN(), SLC_ERR_CAPACITY);
    assert_int_equal(r.digis.cluster[0], -77777777);
    assert_int_equal(slc_cms_cluster_reserve(&config, SLC_SIMD_AUTO, 10, &scratch, NULL), SLC_OK);
    assert_int_equal(RUN(), SLC_OK);
    assert_int_equal(r.clusters.head.size, 10);
    assert_int_equal(r.clusters.head.n_events, 2);
    assert_int_equal(r.modules.head.n_events, 2);
#undef RUN
    slc_cms_cluster_clear(&scratch);
    clear(&r);
}

/* ---- arrays --------------------------------------------------------------------------------------- */

static void test_arrays_of_cms(void **state)
{
    (void)state;
    results r = {0};
    slc_cms_cluster_config config = defaults();
    cms_digis_put(&r.digis, 5, 1, 1, 9000);
    cms_digis_end(&r.digis);
    cms_digis_put(&r.digis, NO_MODULE, 1, 1, 9000);
    cms_digis_put(&r.digis, 7, 1, 1, 9000);
    cms_digis_put(&r.digis, 7, 1, 5, 9000);
    cms_digis_put(&r.digis, 2, 1, 1, 1);
    cms_digis_put(&r.digis, 0, 1, 1, 9000);
    cms_digis_end(&r.digis);
    run(&config, SLC_SIMD_AUTO, &r);
    uint32_t start[9], id[8], in_module[8], module_start[9];
    slc_cms_cluster_arrays(&r.modules, 1, 8, start, id, in_module, module_start);
    static const uint32_t starts[] = {3, 4, 3, 1}, ids[] = {0, 2, 7};
    static const uint32_t counts[] = {1, 0, 0, 0, 0, 0, 0, 2}, begins[] = {0, 1, 1, 1, 1, 1, 1, 1, 3};
    assert_memory_equal(start, starts, sizeof starts);
    assert_memory_equal(id, ids, sizeof ids);
    assert_memory_equal(in_module, counts, sizeof counts);
    assert_memory_equal(module_start, begins, sizeof begins);
    slc_cms_cluster_arrays(&r.modules, 0, 8, start, id, in_module, module_start);
    assert_int_equal(start[0], 1);
    assert_int_equal(start[1], 0);
    assert_int_equal(id[0], 5);
    assert_int_equal(module_start[8], 1);
    clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synthetic_events),
        cmocka_unit_test(test_events_with_nothing_in_them),
        cmocka_unit_test(test_sizes_of_modules),
        cmocka_unit_test(test_full_module_saturates),
        cmocka_unit_test(test_one_pixel_again_and_again),
        cmocka_unit_test(test_modules_that_come_again),
        cmocka_unit_test(test_truncated_modules),
        cmocka_unit_test(test_what_cannot_be_done_is_refused),
        cmocka_unit_test(test_too_little_room),
        cmocka_unit_test(test_arrays_of_cms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
