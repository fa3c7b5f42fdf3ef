/* SPDX-License-Identifier: Apache-2.0
 *
 * CMS's clusters on a GPU against the oracle, bit for bit, in every column and in order: 10^4 random modules
 * with every policy for duplicates, both cuts and truncation; the synthetic events; graphs, room, and what is
 * refused. Both algorithms. Exits with 77 where there is no GPU.
 */
#include "sim/sim_cms_synthetic.h"
#include "support/cms_events.h"
#include "support/cms_gpu.h"

#include <sluice/sim_cms.h>

#include <stdio.h>
#include <string.h>

enum { SEED = 7, EVENTS_OF_BATCH = 25 };

/* ---- 10^4 modules --------------------------------------------------------------------------------- */

/* Another one for each batch: all policies with both cuts, and truncation every third time. */
static slc_cms_cluster_config config_of(uint32_t batch)
{
    slc_cms_cluster_config config = cms_gpu_defaults();
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
    static cms_gpu_results expected, found;
    const uint32_t all = CMS_EVENTS / EVENTS_OF_BATCH, n_batches = cms_gpu_small() ? 1 : all;
    uint32_t contents = 0, seeds = 0, large = 0;
    for (uint32_t batch = 0; batch < n_batches; batch++) {
        const slc_cms_cluster_config config = config_of(batch);
        char what[96];
        slc_columns_reset(&expected.digis);
        for (uint32_t e = 0; e < EVENTS_OF_BATCH; e++) {
            contents += cms_events_append(SEED, batch * EVENTS_OF_BATCH + e, &expected.digis);
        }
        cms_digis_copy(&found.digis, &expected.digis);
        cms_gpu_expect(&config, &expected);
        for (int a = SLC_CMS_CUDA_WARP; a <= SLC_CMS_CUDA_SEED; a++) {
            if (cms_gpu_can(a, &config)) {
                cms_gpu_run(&config, a, &found);
                snprintf(what, sizeof what, "seed %d, batch %u, %s", SEED, batch, cms_gpu_algorithm(a));
                cms_gpu_assert_same(&found, &expected, what);
                seeds += a == SLC_CMS_CUDA_SEED;
                large += a == SLC_CMS_CUDA_WARP ? found.counts.n_large : 0;
            }
        }
    }
    assert_true(contents >= (n_batches == all ? CMS_EVENTS_CONTENTS : 1));
    assert_true(large > 0 && (seeds > 0 || n_batches < all));
    print_message("%u modules, %u of them large\n", contents, large);
    cms_gpu_clear(&expected);
    cms_gpu_clear(&found);
}

/* ---- CMS's test ----------------------------------------------------------------------------------- */

static void test_synthetic_events(void **state)
{
    (void)state;
    static const uint32_t before_cut[] = {8960, 9960, 8960, 9960, 8960};
    static const uint32_t above[] = {8959, 8960, 4510, 8960, 8960};
    static const uint32_t modules[] = {897, 898, 897, 898, 897};
    for (uint32_t kind = 0; kind < (cms_gpu_small() ? 1U : 5U); kind++) {
        cms_gpu_results r = {0};
        slc_cms_cluster_config config = cms_gpu_defaults();
        assert_int_equal(slc_sim_cms_synthetic(kind, &r.digis), SLC_OK);
        cms_gpu_assert_as_oracle(&config, &r);
        assert_int_equal(r.modules.head.size, modules[kind]);
        assert_int_equal(r.clusters.head.size, above[kind]); /* no cluster is exactly at the cut */
        config.above = true;
        cms_gpu_assert_as_oracle(&config, &r);
        assert_int_equal(r.clusters.head.size, above[kind]);
        config.above = false;
        config.min_charge_e = config.min_charge_layer1_e = 0;
        cms_gpu_assert_as_oracle(&config, &r);
        assert_int_equal(r.clusters.head.size, before_cut[kind]);
        assert_int_equal(slc_faults_total(&r.faults), 0);
        cms_gpu_clear(&r);
    }
}

static void test_varied_events_in_one_batch(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    const slc_cms_cluster_config config = cms_gpu_defaults();
    for (uint64_t e = 0; e < 4; e++) {
        assert_int_equal(slc_sim_cms_varied(5, e, &r.digis), SLC_OK);
    }
    cms_gpu_assert_as_oracle(&config, &r);
    assert_true(r.counts.n_large < 20); /* nearly all by warps */
    assert_true(r.modules.head.size > 3000);
    cms_gpu_clear(&r);
}

/* ---- room, graphs, and what is refused ------------------------------------------------------------ */

static void test_too_little_room(void **state)
{
    (void)state;
    cms_gpu_results r = {0};
    const slc_cms_cluster_config config = cms_gpu_defaults();
    uint16_t behind[2];
    assert_int_equal(slc_sim_cms_synthetic(0, &r.digis), SLC_OK);
    slc_cms_cuda_cluster job = cms_gpu_job(&config, &r.digis, 1000, 10000);
    job.modules.head.capacity = 10; /* there is memory, and it is not to be touched */
    job.clusters.head.capacity = 100;
    ASSERT_OK(slc_cms_cuda_cluster_run(&job, slc_cuda_stream_native(cms_gpu_stream()), &error));
    cms_gpu_to_host(&r.counts, job.counts, sizeof r.counts);
    cms_gpu_to_host(&behind[0], job.modules.module + 10, sizeof *behind);
    cms_gpu_to_host(&behind[1], job.clusters.module + 100, sizeof *behind);
    ASSERT_OK(slc_cuda_stream_wait(cms_gpu_stream(), &error));
    assert_int_equal(r.counts.n_modules, 897);
    assert_int_equal(r.counts.n_clusters, 8959);
    assert_int_equal(behind[0], 0xA5A5);
    assert_int_equal(behind[1], 0xA5A5);
    slc_error error = {SLC_OK, ""};
    job.work_bytes--;
    assert_int_equal(slc_cms_cuda_cluster_run(&job, slc_cuda_stream_native(cms_gpu_stream()), &error),
                     SLC_ERR_CAPACITY);
    assert_non_null(strstr(error.text, "working memory"));
    cms_gpu_clear(&r);
}

/* One graph for several batches of the same shape; the faults' list may be too short, the counts are not. */
static void test_graph_is_replayed(void **state)
{
    (void)state;
    static cms_gpu_results expected, r;
    const slc_cms_cluster_config config = cms_gpu_defaults();
    slc_cuda_graph graph = {NULL};
    for (uint32_t replay = 0; replay < 3; replay++) {
        slc_columns_reset(&r.digis);
        for (uint32_t e = 0; e < 3; e++) {
            cms_events_append(SEED, 3 * replay + e, &r.digis);
        }
        const size_t n = r.digis.head.size, room = 400000;
        assert_true(n <= room);
        assert_int_equal(slc_columns_reserve(&slc_cms_digis_schema, &r.digis, room, 4), SLC_OK);
        r.digis.head.size = room; /* the shape: as large as any of the batches */
        slc_cms_cuda_cluster job = cms_gpu_job(&config, &r.digis, room, room);
        r.digis.head.size = n;
        if (replay == 0) {
            ASSERT_OK(slc_cms_cuda_cluster_run(&job, slc_cuda_stream_native(cms_gpu_stream()), &error));
            ASSERT_OK(slc_cuda_graph_begin(cms_gpu_stream(), &error));
            ASSERT_OK(slc_cuda_graph_end(
                cms_gpu_stream(), &graph,
                slc_cms_cuda_cluster_run(&job, slc_cuda_stream_native(cms_gpu_stream()), &error), &error));
        }
        ASSERT_OK(slc_cuda_graph_launch(cms_gpu_stream(), &graph, &error));
        cms_gpu_collect(&job, &r);
        cms_digis_copy(&expected.digis, &r.digis);
        cms_gpu_expect(&config, &expected);
        cms_gpu_assert_same(&r, &expected, "graph");
    }
    slc_cuda_graph_clear(&graph);
    cms_gpu_clear(&expected);
    cms_gpu_clear(&r);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    size_t bytes;
    slc_error error = {SLC_OK, ""};
    slc_cms_cluster_config config = cms_gpu_defaults();
    config.modules = 4097;
    assert_int_equal(slc_cms_cuda_cluster_bound(&config, 1, 1, &bytes, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "4097"));
    config = cms_gpu_defaults();
    config.columns = 0;
    assert_int_equal(slc_cms_cuda_cluster_bound(&config, 1, 1, &bytes, &error), SLC_ERR_USAGE);
    config = cms_gpu_defaults();
    assert_int_equal(slc_cms_cuda_cluster_bound(&config, 1, (size_t)1 << 31, &bytes, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_cms_cuda_cluster_bound(&config, 1U << 31, 1, &bytes, &error), SLC_ERR_USAGE);
    cms_gpu_results r = {0};
    cms_digis_put(&r.digis, 1, 1, 1, 1);
    cms_digis_end(&r.digis);
    config.duplicates = SLC_PIXEL_DUPLICATES_SUM;
    slc_cms_cuda_cluster job = cms_gpu_job(&config, &r.digis, 1, 1);
    job.algorithm = SLC_CMS_CUDA_SEED;
    assert_int_equal(slc_cms_cuda_cluster_run(&job, slc_cuda_stream_native(cms_gpu_stream()), &error),
                     SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "findclus-seed"));
    cms_gpu_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synthetic_events), cmocka_unit_test(test_varied_events_in_one_batch),
        cmocka_unit_test(test_too_little_room),  cmocka_unit_test(test_graph_is_replayed),
        cmocka_unit_test(test_what_is_refused),  cmocka_unit_test(test_random_modules_equal_the_oracle),
    };
    if (!cms_gpu_open()) {
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, cms_gpu_close);
}
