/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's clusters on a GPU against the oracle in cases that are made on purpose: where the paths for small,
 * middling and large modules part, sizes of modules, saturation, several digis of a pixel, modules that come
 * again, events of every length, and truncation. Both algorithms. Exits with 77 where there is no GPU.
 */
#include "support/cms_cases.h"
#include "support/cms_events.h"
#include "support/cms_gpu.h"
#include "support/random.h"

enum { NONE = SLC_CMS_NO_CLUSTER, NO_MODULE = SLC_CMS_NO_MODULE };

/* ---- where the paths part ------------------------------------------------------------------------- */

/* Modules of every size around the borders of a warp's and a block's places, at every alignment. */
static void test_sizes_around_borders(void **state)
{
    (void)state;
    static const uint32_t around[] = {1, 8, 32, 255, 1024, 2047, 4096};
    uint64_t seed = 3;
    for (int policy = 0; policy < (cms_gpu_small() ? 1 : SLC_PIXEL_DUPLICATES); policy++) {
        cms_gpu_results r = {0};
        slc_cms_cluster_config config = cms_gpu_defaults();
        config.duplicates = (slc_pixel_duplicates)policy;
        config.min_charge_e = config.min_charge_layer1_e = 30000;
        uint32_t module = 0;
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            for (uint32_t n = around[k] > 9 ? around[k] - 9 : 1; n < around[k] + 4; n++, module++) {
                for (uint32_t i = 0; i < n; i++) { /* dense, so that runs meet in many ways */
                    cms_digis_put(&r.digis, module, random_below(&seed, 40), random_below(&seed, 80),
                                  random_below(&seed, 65536));
                }
            }
        }
        cms_digis_end(&r.digis);
        cms_gpu_assert_as_oracle(&config, &r);
        assert_true(r.counts.n_large > 20);
        cms_gpu_clear(&r);
    }
}

/* Isolated pixels in every other row and column: as many clusters as can be, over several turns. */
static void test_most_clusters(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    slc_cms_cluster_config config = cms_gpu_defaults();
    config.min_charge_e = config.min_charge_layer1_e = 0;
    for (uint32_t module = 0; module < 3; module++) {
        const uint32_t rows = module == 0   ? 8
                              : module == 1 ? 64
                                            : 160; /* 52 in a row; by warps: 208 in all */
        for (uint32_t x = 0; x < rows; x += 2) {
            for (uint32_t y = module == 0 ? 1 : 0; y < SLC_CMS_COLUMNS; y += module == 0 ? 8 : 2) {
                cms_digis_put(&r.digis, module, x, y, x + y);
            }
        }
    }
    cms_digis_end(&r.digis);
    cms_gpu_assert_as_oracle(&config, &r);
    assert_int_equal(r.modules.n_clusters[0], 208);
    assert_int_equal(r.modules.n_clusters[2], 16640);
    cms_gpu_clear(&r);
}

/* Geometries at which rows of bits end inside a word, at its end, and behind it; and too large for tables. */
static void test_sizes_of_modules(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},       {1, 63},    {2, 64},    {3, 65},
                                        {7, 127},     {5, 128},   {1, 416},   {2048, 1},
                                        {2048, 2048}, {160, 447}, {672, 434}, {1354, 434}};
    uint64_t seed = 11;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint32_t rows = sizes[k][0], columns = sizes[k][1];
        slc_cms_cluster_config config = cms_gpu_defaults();
        cms_gpu_results r = {0};
        config.rows = rows;
        config.columns = columns;
        config.modules = 4096;
        config.min_charge_e = config.min_charge_layer1_e = 0;
        for (uint32_t i = 0; i < 3000; i++) {
            /* the last columns and the first of the next row */
            const bool edges = random_below(&seed, 2) != 0;
            const uint32_t x = random_below(&seed, rows < 30 ? rows : 30);
            const uint32_t near = random_below(&seed, columns < 4 ? columns : 4);
            const uint32_t y = edges ? (random_below(&seed, 2) != 0 ? near : columns - 1 - near)
                                     : random_below(&seed, columns + (random_below(&seed, 100) == 0));
            cms_digis_put(&r.digis, 4095 - i / 200, random_below(&seed, 2) != 0 ? x : rows - 1 - x, y,
                          random_below(&seed, 65536));
        }
        cms_digis_end(&r.digis);
        cms_gpu_assert_as_oracle(&config, &r);
        cms_gpu_clear(&r);
    }
}

static void test_full_module_saturates(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    cms_cases_full_module(&r.digis);
    slc_cms_cluster_config config = cms_gpu_defaults();
    config.min_charge_e = UINT32_MAX; /* which it just reaches */
    cms_gpu_run(&config, SLC_CMS_CUDA_WARP, &r);
    cms_cases_assert_full_module(&r.modules, &r.clusters);
    config.above = true;
    cms_gpu_run(&config, SLC_CMS_CUDA_WARP, &r);
    assert_int_equal(r.clusters.head.size, 0);
    assert_int_equal(r.digis.cluster[77], NONE);
    cms_gpu_clear(&r);
}

static void test_one_pixel_again_and_again(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    cms_cases_one_pixel(&r.digis);
    for (int policy = 0; policy < SLC_PIXEL_DUPLICATES; policy++) {
        slc_cms_cluster_config config = cms_gpu_defaults();
        config.duplicates = (slc_pixel_duplicates)policy;
        cms_gpu_run(&config, SLC_CMS_CUDA_WARP, &r);
        cms_cases_assert_one_pixel(config.duplicates, &r.digis, &r.modules, &r.clusters);
    }
    cms_gpu_clear(&r);
}

/* ---- order ---------------------------------------------------------------------------------------- */

static void test_events_with_nothing_in_them(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    const slc_cms_cluster_config config = cms_gpu_defaults();
    cms_digis_put(&r.digis, 0, 0, 0, 0); /* so that there is memory */
    slc_columns_reset(&r.digis);
    assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &r.digis, 1, 5), SLC_OK);
    slc_columns_reset(&r.digis);
    cms_gpu_assert_as_oracle(&config, &r); /* no event */
    cms_digis_end(&r.digis);
    cms_gpu_assert_as_oracle(&config, &r); /* no digi */
    cms_digis_put(&r.digis, NO_MODULE, 3, 3, 9999);
    cms_digis_end(&r.digis);
    cms_digis_end(&r.digis);
    cms_digis_put(&r.digis, 4096, 3, 3, 9999);
    cms_digis_put(&r.digis, 1855, 159, 415, 9999);
    cms_digis_put(&r.digis, 1856, 3, 3, 9999);
    cms_digis_end(&r.digis);
    cms_digis_end(&r.digis);
    cms_gpu_assert_as_oracle(&config, &r);
    assert_int_equal(r.modules.head.size, 1);
    assert_int_equal(r.modules.first_digi[0], 1);
    assert_int_equal(r.digis.cluster[0], NONE);
    assert_int_equal(r.digis.cluster[2], 0);
    cms_gpu_clear(&r);
}

/* Modules that come again after others, near and far; a thousand words that are none in one module; the same
 * module at the end of an event and the beginning of the next. */
static void test_modules_that_come_again(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    uint64_t seed = 17;
    const slc_cms_cluster_config config = cms_gpu_defaults();
    for (uint32_t event = 0; event < 6; event++) {
        cms_digis_put(&r.digis, 500, 11, 11, 3000);
        for (uint32_t i = 0; i < 3000; i++) {
            const uint32_t module = event < 2 ? random_below(&seed, 4) : event < 4 ? i / 30 % 7 : i % 300;
            const bool none = event == 1 && i % 1500 < 1000;
            cms_digis_put(&r.digis, none ? NO_MODULE : module, random_below(&seed, 30),
                          random_below(&seed, 70), random_below(&seed, 5000));
        }
        cms_digis_put(&r.digis, 500, 12, 12,
                      3000); /* joins the first digi of the event, not the next event's */
        cms_digis_end(&r.digis);
    }
    cms_gpu_assert_as_oracle(&config, &r);
    assert_int_equal(r.digis.cluster[0], 0);
    assert_int_equal(r.digis.cluster[3001], 0);
    cms_gpu_clear(&r);
}

/* Events of one module whose borders lie at every place around those of the chunks in which modules are
 * counted. */
static void test_events_of_every_length(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    uint64_t seed = 29;
    const slc_cms_cluster_config config = cms_gpu_defaults();
    for (uint32_t event = 0; event < 600; event++) {
        const uint32_t n = event % 5 == 0 ? 256 : event % 7 == 0 ? 0 : event % 3 == 0 ? 8 : event;
        for (uint32_t i = 0; i < n; i++) {
            const bool none = event % 2 == 1 && random_below(&seed, 16) == 0;
            cms_digis_put(&r.digis, none ? NO_MODULE : 1855 * (event / 100 % 2), random_below(&seed, 160),
                          random_below(&seed, 416), random_below(&seed, 9000));
        }
        cms_digis_end(&r.digis);
    }
    cms_gpu_assert_as_oracle(&config, &r);
    cms_gpu_clear(&r);
}

/* Cut off behind some digis, by warps, blocks and in global memory; digis out of bounds do not count. */
static void test_truncated_modules(void **state)
{
    (void)state;
    static const uint32_t most[] = {0, 1, 3, 100, 200, 1000, 1500, 3000};
    uint64_t seed = 23;
    cms_gpu_results r = {0};
    slc_cms_cluster_config config = cms_gpu_defaults();
    for (uint32_t module = 0; module < 60; module++) {
        const uint32_t n = module % 3 == 0   ? 1 + random_below(&seed, 240)
                           : module % 3 == 1 ? 300 + random_below(&seed, 1500)
                                             : 2100 + random_below(&seed, 3000);
        for (uint32_t i = 0; i < n; i++) {
            cms_digis_put(&r.digis, module, random_below(&seed, 165), random_below(&seed, 100),
                          random_below(&seed, 9000));
        }
    }
    cms_digis_end(&r.digis);
    config.truncate = true;
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        config.max_module_digis = most[k];
        cms_gpu_assert_as_oracle(&config, &r);
        assert_true(slc_faults_of(&r.faults, SLC_FAULT_CMS_MODULE_CROWDED) > 0);
        assert_true(slc_faults_of(&r.faults, SLC_FAULT_CMS_PIXEL) > 0);
    }
    cms_gpu_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_around_borders),      cmocka_unit_test(test_most_clusters),
        cmocka_unit_test(test_sizes_of_modules),          cmocka_unit_test(test_full_module_saturates),
        cmocka_unit_test(test_one_pixel_again_and_again), cmocka_unit_test(test_events_with_nothing_in_them),
        cmocka_unit_test(test_modules_that_come_again),   cmocka_unit_test(test_events_of_every_length),
        cmocka_unit_test(test_truncated_modules),
    };
    if (!cms_gpu_open()) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, cms_gpu_close);
}
