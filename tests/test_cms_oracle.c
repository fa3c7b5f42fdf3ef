/* SPDX-License-Identifier: Apache-2.0
 *
 * The slow stages of tests/oracle and the random events of tests/support, which fast code is held against:
 * small cases whose results can be seen by eye, and that the events hold what they are there for.
 */
#include "oracle/cms_cluster_oracle.h"
#include "oracle/cms_decode_oracle.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"

#include <string.h>

typedef struct clustered {
    slc_cms_cluster_config config;
    slc_cms_digis digis;
    slc_cms_modules modules;
    slc_cms_clusters clusters;
    slc_faults faults;
} clustered;

static int set_up(void **state)
{
    static clustered c;
    memset(&c, 0, sizeof c);
    c.config = (slc_cms_cluster_config){.modules = SLC_CMS_MODULES_PHASE1,
                                        .rows = SLC_CMS_ROWS,
                                        .columns = SLC_CMS_COLUMNS,
                                        .min_charge_layer1_e = 2000,
                                        .min_charge_e = 4000,
                                        .duplicates = SLC_PIXEL_DUPLICATES_KEEP,
                                        .max_module_digis = 6000};
    *state = &c;
    return 0;
}

static int tear_down(void **state)
{
    clustered *c = *state;
    cms_digis_clear(&c->digis);
    slc_columns_clear(&slc_cms_modules_schema, &c->modules);
    slc_columns_clear(&slc_cms_clusters_schema, &c->clusters);
    return 0;
}

static void cluster(clustered *c)
{
    cms_digis_poison(&c->digis);
    slc_faults_reset(&c->faults);
    oracle_cms_cluster(&c->config, 50, &c->digis, &c->modules, &c->clusters, &c->faults);
}

static void want_ids(const clustered *c, const int32_t *ids, size_t n)
{
    assert_int_equal(c->digis.head.size, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(c->digis.cluster[i], ids[i]);
    }
}

/* Two arms that the last digi joins, a cluster below the cut between them, words that are none, a second
 * module that stands in between, and the first one again. */
static void test_numbers(void **state)
{
    clustered *c = *state;
    enum { NO = SLC_CMS_NO_CLUSTER };
    cms_digis_put(&c->digis, SLC_CMS_NO_MODULE, 10, 10, 9000);
    cms_digis_put(&c->digis, 200, 10, 10, 1000); /* 0: left arm */
    cms_digis_put(&c->digis, 200, 50, 50, 3999); /* below the cut */
    cms_digis_put(&c->digis, 7, 10, 11, 2000);   /* another module, cut of layer 1 */
    cms_digis_put(&c->digis, 200, 99, 99, 4000); /* 1: exactly the cut */
    cms_digis_put(&c->digis, 200, 10, 12, 1000); /* 0: right arm */
    cms_digis_put(&c->digis, 9999, 10, 11, 9000);
    cms_digis_put(&c->digis, 200, 160, 0, 9000); /* out of bounds */
    cms_digis_put(&c->digis, 200, 11, 11, 2001); /* 0: by corners */
    cms_digis_end(&c->digis);
    cluster(c);
    want_ids(c, (const int32_t[]){NO, 0, NO, 0, 1, 0, NO, NO, 0}, 9);
    assert_int_equal(c->modules.head.size, 2);
    assert_int_equal(c->modules.module[0], 7);
    assert_int_equal(c->modules.first_digi[1], 1);
    assert_int_equal(c->modules.n_digis[1], 5);
    assert_int_equal(c->modules.n_clusters[1], 2);
    assert_int_equal(c->modules.cluster_begin[1], 1);
    assert_int_equal(c->clusters.head.size, 3);
    assert_int_equal(c->clusters.module[1], 200);
    assert_int_equal(c->clusters.n_pixels[1], 3);
    assert_int_equal(c->clusters.charge_e[1], 4001);
    assert_int_equal(c->clusters.first_digi[1], 1);
    assert_int_equal(c->clusters.x_min[1], 10);
    assert_int_equal(c->clusters.x_max[1], 11);
    assert_int_equal(c->clusters.y_min[1], 10);
    assert_int_equal(c->clusters.y_max[1], 12);
    assert_int_equal(c->clusters.charge_x_min[1], 2000);
    assert_int_equal(c->clusters.charge_x_max[1], 2001);
    assert_int_equal(c->clusters.charge_y_min[1], 1000);
    assert_int_equal(c->clusters.charge_y_max[1], 1000);
    assert_int_equal(slc_faults_of(&c->faults, SLC_FAULT_CMS_PIXEL), 1);
    assert_int_equal(c->faults.kept[0].offset, 7);
    assert_int_equal(c->faults.kept[0].module, 200);
    assert_int_equal(c->faults.kept[0].event, 50);
    c->config.above = true;
    cluster(c); /* module 7 and the cluster with 4000 electrons are gone */
    want_ids(c, (const int32_t[]){NO, 0, NO, NO, NO, 0, NO, NO, 0}, 9);
}

static void test_duplicates(void **state)
{
    clustered *c = *state;
    /* Sum, first, largest, keep. */
    static const uint32_t charge[SLC_PIXEL_DUPLICATES] = {8500, 4500, 5000, 8500};
    static const uint32_t pixels[SLC_PIXEL_DUPLICATES] = {2, 2, 2, 4};
    cms_digis_put(&c->digis, 100, 5, 5, 3000);
    cms_digis_put(&c->digis, 100, 5, 5, 2000);
    cms_digis_put(&c->digis, 100, 5, 6, 1500);
    cms_digis_put(&c->digis, 100, 5, 6, 2000);
    cms_digis_end(&c->digis);
    for (int policy = 0; policy < SLC_PIXEL_DUPLICATES; policy++) {
        c->config.duplicates = (slc_pixel_duplicates)policy;
        cluster(c);
        want_ids(c, (const int32_t[]){0, 0, 0, 0}, 4);
        assert_int_equal(c->clusters.n_pixels[0], pixels[policy]);
        assert_int_equal(c->clusters.charge_e[0], charge[policy]);
    }
}

static void test_truncation(void **state)
{
    clustered *c = *state;
    enum { NO = SLC_CMS_NO_CLUSTER };
    for (uint32_t i = 0; i < 4; i++) {
        cms_digis_put(&c->digis, 300, 10 + 2 * i, 10, 5000);
        cms_digis_put(&c->digis, 301, 10 + 2 * i, 10, 5000);
    }
    cms_digis_end(&c->digis);
    c->config.max_module_digis = 2;
    cluster(c); /* whole */
    want_ids(c, (const int32_t[]){0, 0, 1, 1, 2, 2, 3, 3}, 8);
    c->config.truncate = true;
    cluster(c);
    want_ids(c, (const int32_t[]){0, 0, 1, 1, NO, NO, NO, NO}, 8);
    assert_int_equal(slc_faults_of(&c->faults, SLC_FAULT_CMS_MODULE_CROWDED), 2);
    assert_int_equal(c->faults.kept[0].offset, 4);
    assert_int_equal(c->faults.kept[1].offset, 5);
    assert_int_equal(c->faults.kept[1].module, 301);
    assert_int_equal(c->modules.n_digis[0], 4);
    assert_int_equal(c->modules.n_clusters[0], 2);
}

/* ---- words ------------------------------------------------------------------------------------------- */

/* Frames by cases, with numbers worked out by hand from the table of docs/formats/cms-raw.md. */
static void test_frames(void **state)
{
    (void)state;
    const uint32_t forward = 0x14000000, minus = 0x12200000 | 4 << 2, plus = 0x12200000 | 5 << 2;
    const uint32_t layer1 = 0x12100000 | 1 << 2;
    const struct {
        uint32_t id, roc, row, column, x, y;
    } cases[] = {{forward, 0, 0, 0, 0, 415},  {forward, 15, 79, 51, 80, 415}, {minus, 7, 3, 1, 3, 50},
                 {minus, 8, 3, 1, 156, 1},    {plus, 7, 3, 1, 156, 365},      {plus, 8, 3, 1, 3, 414},
                 {layer1, 0, 79, 51, 80, 51}, {layer1, 15, 0, 51, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t x, y;
        oracle_cms_to_module(cases[i].id, cases[i].roc, cases[i].row, cases[i].column, &x, &y);
        assert_int_equal(x, cases[i].x);
        assert_int_equal(y, cases[i].y);
    }
}

/* ---- random events ----------------------------------------------------------------------------------- */

static void test_events(void **state)
{
    clustered *c = *state;
    uint32_t contents = 0, crowded = 0, none = 0, outside = 0, twice = 0, most = 0;
    static uint32_t digis_of[SLC_CMS_MODULES_PHASE1], last_of[SLC_CMS_MODULES_PHASE1];
    for (uint32_t e = 0; e < CMS_EVENTS; e++) {
        slc_columns_reset(&c->digis);
        contents += cms_events_append(1, e, &c->digis);
        memset(digis_of, 0, sizeof digis_of);
        for (uint32_t i = 0; i < c->digis.head.size; i++) {
            const uint32_t module = c->digis.module[i];
            if (module >= SLC_CMS_MODULES_PHASE1) {
                none++;
            } else if (c->digis.x[i] >= SLC_CMS_ROWS || c->digis.y[i] >= SLC_CMS_COLUMNS) {
                outside++;
            } else {
                twice += digis_of[module] > 0 && last_of[module] + 1 != i;
                last_of[module] = i;
                crowded += ++digis_of[module] == 6001;
                most = digis_of[module] > most ? digis_of[module] : most;
            }
        }
    }
    assert_true(contents >= CMS_EVENTS_CONTENTS);
    assert_true(crowded >= 10 && most > SLC_CMS_ROWS * SLC_CMS_COLUMNS);
    assert_true(none > 100000 && outside > 1000 && twice > 100000);
    const uint64_t before = slc_columns_checksum(&slc_cms_digis_schema, &c->digis, 0, SLC_CHECKSUM_START);
    slc_columns_reset(&c->digis);
    (void)cms_events_append(1, CMS_EVENTS - 1, &c->digis);
    assert_int_equal(before, slc_columns_checksum(&slc_cms_digis_schema, &c->digis, 0, SLC_CHECKSUM_START));
    (void)cms_events_append(2, CMS_EVENTS - 1, &c->digis);
    assert_int_not_equal(before,
                         slc_columns_checksum(&slc_cms_digis_schema, &c->digis, 1, SLC_CHECKSUM_START));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_duplicates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_truncation, set_up, tear_down),
        cmocka_unit_test(test_frames),
        cmocka_unit_test_setup_teardown(test_events, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
