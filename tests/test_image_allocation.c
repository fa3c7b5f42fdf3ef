/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling does not allocate: the allocator's calls are counted while every algorithm labels and analyses
 * both sides of an image. And opening that runs out of memory says so, and works when there is memory again.
 */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"

#include <sluice/image_label.h>

#include <string.h>

enum { W = 200, H = 100, ROOM = W * H };

static uint16_t pixels[ROOM];
static uint32_t front[ROOM];
static uint16_t back[ROOM];

static void draw(void)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < ROOM; i++) {
        pixels[i] = (uint16_t)random_below(&seed, 1000);
    }
}

static slc_image_label_config every_feature(const char *algorithm, uint32_t threads)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.algorithm = algorithm;
    config.features = SLC_IMAGE_ALL;
    config.threshold = 500;
    config.exec.threads = threads;
    config.min_area = 2;
    return config;
}

static void expect_no_calls(const char *algorithm, uint32_t threads)
{
    const slc_image_label_config config = every_feature(algorithm, threads);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config.features, columns);
    slc_image_components found = {0};
    slc_image_labeller *labeller = NULL;
    const slc_image image = {pixels, W, H, 2 * W, SLC_IMAGE_U16};
    slc_image_labels foreground = {
        .labels = front, .stride = 4 * W, .type = SLC_TYPE_U32, .components = &found};
    slc_image_labels background = {
        .labels = back, .stride = 2 * W, .type = SLC_TYPE_U16, .components = &found};
    allocator_calls = 0;
    assert_int_equal(slc_columns_reserve(&schema, &found, ROOM, 4), SLC_OK);
    assert_int_equal(slc_image_label_open(&config, &labeller, NULL), SLC_OK);
    assert_int_equal(slc_image_label_reserve(labeller, W, H, NULL), SLC_OK);
    assert_true(allocator_calls > 0);
    allocator_calls = 0;
    for (int run = 0; run < 2; run++) {
        assert_int_equal(slc_image_label_run(labeller, &image, NULL, &foreground, &background, NULL), SLC_OK);
        assert_true(foreground.n_labels > 10 && background.n_labels > 10);
    }
    assert_int_equal(allocator_calls, 0);
    assert_int_equal(found.head.n_events, 4);
    slc_image_label_close(labeller);
    slc_columns_clear(&schema, &found);
}

static void test_runs_do_not_allocate(void **state)
{
    (void)state;
    draw();
    size_t algorithms = 0;
    for (const char *name; (name = slc_image_algorithm_name(algorithms)) != NULL; algorithms++) {
        expect_no_calls(name, 1);
        expect_no_calls(name, 3);
    }
    assert_true(algorithms >= 2);
}

/* Fails at the first allocation, then at the second, … until all succeed. */
static void expect_recovery(const char *algorithm)
{
    const slc_image_label_config config = every_feature(algorithm, 1);
    long failures = 0;
    slc_status status = SLC_ERR_MEMORY;
    slc_image_labeller *labeller = NULL;
    while (status == SLC_ERR_MEMORY && failures < 100) {
        slc_error error = {SLC_OK, ""};
        allocations_left = failures;
        status = slc_image_label_open(&config, &labeller, &error);
        if (status == SLC_OK) {
            status = slc_image_label_reserve(labeller, W, H, &error);
        }
        allocations_left = LONG_MAX;
        if (status == SLC_ERR_MEMORY) {
            assert_non_null(strstr(error.text, "memory"));
            slc_image_label_close(labeller);
            labeller = NULL;
            failures++;
        }
    }
    assert_int_equal(status, SLC_OK);
    assert_true(failures >= 2);
    slc_image_label_close(labeller);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    expect_recovery("auto");
    expect_recovery(slc_image_algorithm_name(0));
}

/* More than the processor can address is refused, and the labeller goes on with what it had. */
static void test_sizes_beyond_memory(void **state)
{
    (void)state;
    for (size_t i = 0; slc_image_algorithm_name(i) != NULL; i++) {
        slc_image_label_config config = every_feature(slc_image_algorithm_name(i), 1);
        slc_image_labeller *labeller = NULL;
        slc_error error = {SLC_OK, ""};
        draw();
        assert_int_equal(slc_image_label_open(&config, &labeller, NULL), SLC_OK);
        assert_int_equal(slc_image_label_reserve(labeller, W, H, NULL), SLC_OK);
        assert_int_equal(slc_image_label_reserve(labeller, UINT32_MAX - 1, UINT32_MAX - 1, &error),
                         SLC_ERR_MEMORY);
        assert_non_null(strstr(error.text, "4294967294 x 4294967294"));
        const slc_image image = {pixels, W, H, 2 * W, SLC_IMAGE_U16};
        slc_image_labels labels = {.labels = front, .stride = 4 * W, .type = SLC_TYPE_U32};
        const slc_status status = slc_image_label_run(labeller, &image, NULL, &labels, NULL, &error);
        assert_int_equal(status, SLC_OK);
        assert_true(labels.n_labels > 10);
        slc_image_label_close(labeller);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_do_not_allocate),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_sizes_beyond_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
