/* SPDX-License-Identifier: Apache-2.0
 *
 * Clustering and the allocator: a run makes no call to it; memory that runs out, at every allocation in turn,
 * is told, and the clusterer goes on with what it had.
 */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/pixel_lists.h"

#include <string.h>

enum { PIXELS = 300, IMAGES = 8 };

static slc_pixel_cluster_config config_of(const char *algorithm, uint32_t threads)
{
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    config.width = config.height = 200;
    config.with = SLC_PIXEL_CHARGE;
    config.features = SLC_PIXEL_FEATURES_ALL;
    config.algorithm = algorithm;
    config.exec.threads = threads;
    return config;
}

static void runs_allocate_nothing(void **state)
{
    (void)state;
    const char *name;
    for (size_t a = 0; (name = slc_pixel_algorithm_name(a)) != NULL; a++) {
        const slc_pixel_cluster_config config = config_of(name, 1 + (uint32_t)a % 2);
        uint64_t seed = a;
        pixel_list list;
        pixel_cluster_list clusters;
        static uint32_t labels[PIXELS * IMAGES];
        pixel_list_open(&list, config.with);
        for (uint32_t i = 0; i < IMAGES; i++) {
            const pixel_wish wish = {200, 200, 1, config.with, i % 2 == 0, i < 4};
            pixel_list_add(&list, &wish, PIXELS, &seed);
        }
        pixel_cluster_list_open(&clusters, &config, PIXELS * IMAGES, IMAGES);
        slc_pixel_clusterer *clusterer = NULL;
        assert_int_equal(slc_pixel_cluster_open(&config, &clusterer, NULL), SLC_OK);
        assert_int_equal(slc_pixel_cluster_reserve(clusterer, PIXELS, IMAGES, NULL), SLC_OK);
        const unsigned long before = allocator_calls;
        assert_int_equal(slc_pixel_cluster_run(clusterer, &list.of, labels, &clusters.of, NULL), SLC_OK);
        assert_true(allocator_calls == before);
        slc_pixel_cluster_close(clusterer);
        pixel_list_clear(&list);
        pixel_cluster_list_clear(&clusters);
    }
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        const slc_pixel_cluster_config config = config_of("auto", threads);
        long failures = 0;
        for (long left = 0;; left++) {
            slc_error error = {SLC_OK, ""};
            slc_pixel_clusterer *clusterer = NULL;
            allocations_left = left;
            slc_status status = slc_pixel_cluster_open(&config, &clusterer, &error);
            assert_true((status == SLC_OK) == (clusterer != NULL));
            if (status == SLC_OK) {
                status = slc_pixel_cluster_reserve(clusterer, PIXELS, IMAGES, &error);
            }
            allocations_left = LONG_MAX;
            slc_pixel_cluster_close(clusterer);
            if (status == SLC_OK) {
                break;
            }
            assert_int_equal(status, SLC_ERR_MEMORY);
            assert_non_null(strstr(error.text, "no memory for "));
            failures++;
        }
        assert_true(failures >= 6);
    }
}

/* A larger reservation that fails leaves the smaller one. */
static void reservations_that_fail_change_nothing(void **state)
{
    (void)state;
    const slc_pixel_cluster_config config = config_of("auto", 2);
    uint64_t seed = 2;
    pixel_list list;
    pixel_list_open(&list, config.with);
    const pixel_wish wish = {200, 200, 1, config.with, true, true};
    pixel_list_add(&list, &wish, PIXELS, &seed);
    slc_pixel_clusterer *clusterer = NULL;
    assert_int_equal(slc_pixel_cluster_open(&config, &clusterer, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_reserve(clusterer, PIXELS, 1, NULL), SLC_OK);
    for (long left = 0; left < 5; left++) {
        allocations_left = left;
        assert_int_equal(slc_pixel_cluster_reserve(clusterer, 10 * PIXELS, 10, NULL), SLC_ERR_MEMORY);
        allocations_left = LONG_MAX;
        assert_int_equal(slc_pixel_cluster_run(clusterer, &list.of, NULL, NULL, NULL), SLC_OK);
    }
    slc_pixel_cluster_close(clusterer);
    pixel_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_allocate_nothing),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(reservations_that_fail_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
