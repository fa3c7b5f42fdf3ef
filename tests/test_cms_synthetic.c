/* SPDX-License-Identifier: Apache-2.0
 *
 * The five synthetic events by which CMS's clusterers are checked: numbers of digis, of such as are none, of
 * modules and clusters, before the cut and behind it. Counted here by the slow clustering of tests/oracle
 * alone, so that the table stands on two feet before fast code is held against it.
 */
#include "oracle/cms_cluster_oracle.h"
#include "sim/sim_cms_synthetic.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"

#include <sluice/sim_cms.h>

#include <string.h>

/* The first six columns are those of CMS's own test, which cuts with >. No cluster of these events has
 * exactly 2000 electrons in layer 1 or 4000 elsewhere, so that >= must give the same. Eight clusters have
 * exactly 5000: the last two columns are > and >= with a cut of 5000 in all modules. */
typedef struct expectation {
    uint32_t digis, none, clusters, modules, above, at_least, above_5000, at_least_5000;
} expectation;
enum { KINDS = 5 };
static const expectation table[KINDS] = {{175031, 451, 8960, 897, 8959, 8959, 8952, 8959},
                                         {176031, 451, 9960, 898, 8960, 8960, 8952, 8960},
                                         {175031, 451, 8960, 897, 4510, 4510, 4501, 4509},
                                         {176031, 451, 9960, 898, 8960, 8960, 8952, 8960},
                                         {175031, 451, 8960, 897, 8960, 8960, 8952, 8960}};

typedef struct clustered {
    slc_cms_digis digis;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_faults faults;
} clustered;

static void clear(clustered *c)
{
    cms_digis_clear(&c->digis);
    slc_columns_clear(&slc_cms_modules_schema, &c->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &c->clusters);
}

static void cluster(clustered *c, uint32_t cut_layer1, uint32_t cut, bool above)
{
    const slc_cms_cluster_config config = {.modules = SLC_CMS_MODULES_PHASE1,
                                           .rows = SLC_CMS_ROWS,
                                           .columns = SLC_CMS_COLUMNS,
                                           .min_charge_layer1_e = cut_layer1,
                                           .min_charge_e = cut,
                                           .above = above,
                                           .duplicates = SLC_PIXEL_DUPLICATES_KEEP,
                                           .max_module_digis = 6000};
    oracle_cms_cluster(&config, 0, &c->digis, &c->modules, &c->clusters, &c->faults);
    assert_int_equal(slc_faults_total(&c->faults), 0);
}

static void test_table(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const expectation *expected = &table[kind];
        clustered c = {.faults = {.n_kept = 0}};
        uint32_t none = 0;
        assert_int_equal(slc_sim_cms_synthetic(kind, &c.digis), SLC_OK);
        for (size_t i = 0; i < c.digis.head.size; i++) {
            none += c.digis.module[i] == SLC_CMS_NO_MODULE;
        }
        assert_int_equal(c.digis.head.size, expected->digis);
        assert_int_equal(none, expected->none);
        cluster(&c, 0, 0, false);
        assert_int_equal(c.clusters.head.size, expected->clusters);
        assert_int_equal(c.modules.head.size, expected->modules);
        cluster(&c, 2000, 4000, true);
        assert_int_equal(c.clusters.head.size, expected->above);
        cluster(&c, 2000, 4000, false);
        assert_int_equal(c.clusters.head.size, expected->at_least);
        cluster(&c, 5000, 5000, true);
        assert_int_equal(c.clusters.head.size, expected->above_5000);
        cluster(&c, 5000, 5000, false);
        assert_int_equal(c.clusters.head.size, expected->at_least_5000);
        clear(&c);
    }
}

/* Numbers are contiguous from 0 in each module, and in the order of the first digis. */
static void check_numbers(const clustered *c)
{
    int32_t next[SLC_CMS_MODULES_PHASE1] = {0};
    for (size_t i = 0; i < c->digis.head.size; i++) {
        const int32_t cluster_of = c->digis.cluster[i];
        if (cluster_of == SLC_CMS_NO_CLUSTER) {
            continue;
        }
        int32_t *n = &next[c->digis.module[i]];
        assert_in_range(cluster_of, 0, *n);
        *n += cluster_of == *n;
    }
    for (size_t m = 0; m < c->modules.head.size; m++) {
        assert_int_equal(next[c->modules.module[m]], c->modules.n_clusters[m]);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    clustered c = {.faults = {.n_kept = 0}};
    assert_int_equal(slc_sim_cms_synthetic(2, &c.digis), SLC_OK);
    cluster(&c, 2000, 4000, false);
    check_numbers(&c);
    clear(&c);
}

/* What a variation keeps: which digi is of which module, and how many clusters there are. What it changes:
 * places and charges, from event to event. */
static void test_varied(void **state)
{
    (void)state;
    clustered plain = {.faults = {.n_kept = 0}}, varied = {.faults = {.n_kept = 0}};
    clustered again = {.faults = {.n_kept = 0}}, next = {.faults = {.n_kept = 0}};
    size_t row = 0;
    assert_int_equal(slc_sim_cms_synthetic(2, &plain.digis), SLC_OK);
    assert_int_equal(slc_sim_cms_varied(3, 7, &varied.digis), SLC_OK);
    assert_int_equal(slc_sim_cms_varied(3, 7, &again.digis), SLC_OK);
    assert_int_equal(slc_sim_cms_varied(3, 12, &next.digis), SLC_OK);
    assert_null(cms_columns_differ(&slc_cms_digis_schema, &varied.digis, &again.digis, &row));
    assert_string_equal(cms_columns_differ(&slc_cms_digis_schema, &varied.digis, &next.digis, &row),
                        "packed");
    assert_int_equal(plain.digis.head.size, varied.digis.head.size);
    assert_memory_equal(plain.digis.module, varied.digis.module, 2 * plain.digis.head.size);
    assert_memory_not_equal(plain.digis.x, varied.digis.x, 2 * plain.digis.head.size);
    assert_memory_not_equal(plain.digis.adc, varied.digis.adc, 2 * plain.digis.head.size);
    cluster(&plain, 0, 0, false);
    cluster(&varied, 0, 0, false);
    assert_int_equal(plain.clusters.head.size, varied.clusters.head.size);
    assert_memory_equal(plain.digis.cluster, varied.digis.cluster, 4 * plain.digis.head.size);
    clear(&plain);
    clear(&varied);
    clear(&again);
    clear(&next);
}

static void test_usage(void **state)
{
    (void)state;
    slc_cms_digis digis = {.head = {.size = 0}};
    assert_int_equal(slc_sim_cms_synthetic(KINDS, &digis), SLC_ERR_USAGE);
    assert_int_equal(digis.head.size, 0);
    for (uint32_t kind = 0; kind < 3; kind++) { /* events are appended */
        assert_int_equal(slc_sim_cms_synthetic(kind, &digis), SLC_OK);
    }
    assert_int_equal(digis.head.n_events, 3);
    assert_int_equal(digis.head.event_offset[2], table[0].digis + table[1].digis);
    assert_int_equal(digis.head.size, table[0].digis + table[1].digis + table[2].digis);
    cms_digis_clear(&digis);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_varied),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
