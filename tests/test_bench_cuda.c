/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements on a GPU, small ones: each combination is measured once, by every algorithm that can make what
 * is asked for, with the processor's number of components; whole calls come from every number of streams;
 * bandwidths and additions are no wonders. Exits with 77 where there is no GPU.
 */
#include "support/cmocka_all.h"

#include "bench/bench_gpu.h"
#include <sluice/cuda.h>
#include <sluice/image_label.h>
#include <sluice/sim.h>

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1024 };

static slc_bench_label_row rows[MOST];
static slc_bench_label_streams_row streams[MOST];
static slc_bench_gpu_row tests_rows[MOST];
static size_t n_rows;

static bool keep(void *context, const slc_bench_label_row *row)
{
    (void)context;
    assert_true(n_rows < MOST);
    rows[n_rows++] = *row;
    return true;
}

static bool keep_one(void *context, const slc_bench_label_row *row)
{
    (void)keep(context, row);
    return false;
}

static bool keep_streams(void *context, const slc_bench_label_streams_row *row)
{
    (void)context;
    assert_true(n_rows < MOST);
    streams[n_rows++] = *row;
    return true;
}

static bool keep_test(void *context, const slc_bench_gpu_row *row)
{
    (void)context;
    assert_true(n_rows < MOST);
    tests_rows[n_rows++] = *row;
    return true;
}

static size_t sizes[] = {65, 128};
static const uint32_t granularities[] = {1, 3};
static const double densities[] = {0, 0.45, 1};

static slc_bench_label_config config_of(size_t *algorithms)
{
    slc_bench_label_config config = {.device = "cuda",
                                     .sizes = sizes,
                                     .n_sizes = 2,
                                     .granularities = granularities,
                                     .n_granularities = 2,
                                     .densities = densities,
                                     .n_densities = 3,
                                     .algorithms = algorithms,
                                     .connectivity = 8,
                                     .seed = 5,
                                     .labels = true,
                                     .repetitions = 3,
                                     .seconds = 1e-3,
                                     .flush_bytes = (size_t)1 << 20};
    while (slc_image_cuda_algorithm_name(config.n_algorithms) != NULL) {
        algorithms[config.n_algorithms] = config.n_algorithms;
        config.n_algorithms++;
    }
    return config;
}

/* How many components the processor finds. */
static uint32_t components_of(const slc_bench_label_config *config, const slc_bench_label_row *row)
{
    const slc_sim_image_config sim = {.seed = config->seed,
                                      .width = row->size,
                                      .height = row->size,
                                      .density = row->density,
                                      .granularity = row->granularity};
    slc_image_label_config how;
    slc_image_label_config_default(&how);
    slc_image_labeller *labeller = NULL;
    slc_image_labels out = {.type = SLC_TYPE_U32};
    slc_error error;
    uint8_t *pixels = malloc(row->size * row->size);
    assert_non_null(pixels);
    const slc_image image = {.pixels = pixels,
                             .width = row->size,
                             .height = row->size,
                             .stride = (ptrdiff_t)row->size,
                             .type = SLC_IMAGE_U8};
    how.connectivity = config->connectivity;
    assert_int_equal(slc_sim_image(&sim, 1, pixels, image.stride, &error), SLC_OK);
    assert_int_equal(slc_image_label_open(&how, &labeller, &error), SLC_OK);
    assert_int_equal(slc_image_label_reserve(labeller, row->size, row->size, &error), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, &error), SLC_OK);
    slc_image_label_close(labeller);
    free(pixels);
    return out.n_labels;
}

static void check_rows(const slc_bench_label_config *config)
{
    slc_error error;
    size_t able = 0;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        able += (!config->labels || slc_image_cuda_algorithm_labels(i)) &&
                (config->features == 0 || slc_image_cuda_algorithm_features(i));
    }
    n_rows = 0;
    const slc_status status = slc_bench_label_measure(config, keep, NULL, &error);
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(n_rows, able * 2 * 2 * 3);
    for (size_t i = 0; i < n_rows; i++) {
        const slc_bench_label_row *row = &rows[i];
        assert_true(row->minimum_s > 0 && row->minimum_s <= row->median_s && row->median_s < 1);
        assert_in_range(row->repetitions, 2, 3);
        assert_in_range(row->launches, 1, 100);
        if (i % able == 0) {
            assert_int_equal(row->components, components_of(config, row));
        }
    }
}

static void labels_are_measured(void **state)
{
    (void)state;
    size_t algorithms[64];
    slc_bench_label_config config = config_of(algorithms);
    check_rows(&config);
    config.connectivity = 4;
    config.flush_bytes = 0;
    check_rows(&config);
}

static void features_are_measured(void **state)
{
    (void)state;
    size_t algorithms[64];
    slc_bench_label_config config = config_of(algorithms);
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_SUMS;
    config.labels = false;
    check_rows(&config);
    config.labels = true;
    check_rows(&config);
}

static void wrong_configurations_are_told(void **state)
{
    (void)state;
    size_t algorithms[64];
    slc_error error;
    slc_bench_label_config config = config_of(algorithms);
    n_rows = 0;
    assert_int_equal(slc_bench_label_measure(&config, keep_one, NULL, &error), SLC_END);
    assert_int_equal(n_rows, 1);
    config.labels = false;
    assert_int_equal(slc_bench_label_measure(&config, keep, NULL, &error), SLC_ERR_USAGE);
    config.labels = true;
    config.device = "cuda:99";
    assert_int_equal(slc_bench_label_measure(&config, keep, NULL, &error), SLC_ERR_UNSUPPORTED);
    config.device = "cuda";
    config.n_densities = 0;
    assert_int_equal(slc_bench_label_measure(&config, keep, NULL, &error), SLC_ERR_USAGE);
    config.n_densities = 3;
    assert_int_equal(slc_bench_label_streams(&config, 0, keep_streams, NULL, &error), SLC_ERR_USAGE);
    algorithms[1] = 64;
    assert_int_equal(slc_bench_label_measure(&config, keep, NULL, &error), SLC_ERR_USAGE);
}

static void streams_are_measured(void **state)
{
    (void)state;
    size_t algorithms[64];
    slc_error error;
    slc_bench_label_config config = config_of(algorithms);
    config.features = SLC_IMAGE_AREA;
    n_rows = 0;
    const slc_status status = slc_bench_label_streams(&config, 4, keep_streams, NULL, &error);
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(n_rows, 2 * 2 * 3);
    for (size_t i = 0; i < n_rows; i++) {
        const slc_bench_label_streams_row *row = &streams[i];
        uint64_t wanted = 0;
        for (size_t d = 0; d < 3; d++) {
            const slc_bench_label_row of = {
                .size = row->size, .granularity = row->granularity, .density = densities[d]};
            wanted += components_of(&config, &of);
        }
        assert_int_equal(row->streams, 1U << i % 3);
        assert_int_equal(row->images % 3, 0);
        assert_int_equal(row->components, wanted * (row->images / 3));
        assert_true(row->seconds > 0 && row->bound_seconds > 0);
    }
}

static void a_device_has_speeds(void **state)
{
    (void)state;
    /* Checkers of memory and races, and the emulator, are a hundred times slower: additions alone for them,
     * and no expectations of speed. */
    const bool small = getenv("SLUICE_TEST_SMALL") != NULL;
    slc_error error;
    slc_bench_gpu_speed speed;
    assert_int_equal(slc_bench_gpu_speed_of("cuda", 3, &speed, &error), SLC_OK);
    const double all[] = {speed.read, speed.write, speed.copy, speed.widen, speed.to_device, speed.to_host};
    for (size_t i = 0; i < 6; i++) {
        assert_true(all[i] > (small ? 0 : 1e8) && all[i] < 1e14);
    }
    assert_int_equal(slc_bench_gpu_speed_of("cuda", 0, &speed, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_bench_gpu_speed_of("gpu", 3, &speed, &error), SLC_ERR_USAGE);
    const uint32_t chosen = small ? 1U << SLC_BENCH_GPU_ATOMICS : (1U << SLC_BENCH_GPU_TESTS) - 1;
    n_rows = 0;
    assert_int_equal(slc_bench_gpu_measure("cuda", chosen, 1, keep_test, NULL, &error), SLC_OK);
    /* 36 strides of four sizes of element, twice of two; four patterns of atomics of two. */
    assert_int_equal(n_rows, small ? 4 * 2 : 36 * (4 + 2 + 2) + 4 * 2);
    for (size_t i = 0; i < n_rows; i++) {
        const slc_bench_gpu_row *row = &tests_rows[i];
        assert_true(row->median_s > 0 && row->minimum_s <= row->median_s && row->operations > 0);
        assert_true((row->bytes > 0) == (row->test != SLC_BENCH_GPU_ATOMICS));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_measured),           cmocka_unit_test(features_are_measured),
        cmocka_unit_test(wrong_configurations_are_told), cmocka_unit_test(streams_are_measured),
        cmocka_unit_test(a_device_has_speeds),
    };
    slc_error error;
    if (getenv("SLUICE_TEST_SMALL") != NULL) {
        sizes[0] = 17;
        sizes[1] = 40;
    }
    if (slc_cuda_devices(&error) == 0) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
