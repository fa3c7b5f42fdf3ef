/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling allocates nothing, whatever is asked of it: calls to the allocator and to mmap are counted while
 * it runs. Opening and reserving that run out of memory say so, lose nothing, and work when there is memory
 * again.
 */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/image_patterns.h"

#include <sluice/image_label.h>

#include <string.h>
#include <sys/mman.h>

/* Where files may be large, mmap is mmap64 to the linker. */
void *__real_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t size);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *at, size_t size);

void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return allocation_allowed() ? __real_mmap64(at, size, protection, flags, file, offset) : MAP_FAILED;
}

int __wrap_munmap(void *at, size_t size)
{
    allocator_calls++;
    return __real_munmap(at, size);
}

enum { WIDTH = 250, HEIGHT = 120, ROOM = WIDTH * HEIGHT };

static uint8_t pixels[ROOM];
static uint16_t labels[2][ROOM];
static slc_image_components components[2];
static slc_column columns[SLC_IMAGE_COLUMNS];
static slc_schema schema;

static int set_up(void **state)
{
    (void)state;
    uint64_t seed = 1;
    image_macro_pixels(pixels, WIDTH, HEIGHT, 1, 40, &seed);
    schema = slc_image_components_schema(SLC_IMAGE_ALL, columns);
    return slc_columns_reserve(&schema, &components[0], ROOM, 1) != SLC_OK ||
           slc_columns_reserve(&schema, &components[1], ROOM, 1) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&schema, &components[0]);
    slc_columns_clear(&schema, &components[1]);
    return 0;
}

/* Both sides, labels and features; fails unless that works. Returns how many calls to the allocator it took.
 */
static unsigned long calls_of_run(slc_image_labeller *labeller, size_t width, size_t height)
{
    const slc_image image = {pixels, width, height, WIDTH, SLC_IMAGE_U8};
    slc_image_labels side[2];
    for (size_t s = 0; s < 2; s++) {
        slc_columns_reset(&components[s]);
        side[s] = (slc_image_labels){
            .labels = labels[s], .stride = 2 * WIDTH, .type = SLC_TYPE_U16, .components = &components[s]};
    }
    slc_error error = {0};
    allocator_calls = 0;
    const slc_status status = slc_image_label_run(labeller, &image, NULL, &side[0], &side[1], &error);
    const unsigned long calls = allocator_calls;
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(components[0].head.size, side[0].n_labels);
    return calls;
}

static slc_image_label_config config_of(size_t algorithm, uint32_t threads)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.algorithm = slc_image_algorithm_name(algorithm);
    config.features = SLC_IMAGE_ALL;
    config.min_area = 2;
    config.exec.threads = threads;
    return config;
}

static void runs_allocate_nothing(void **state)
{
    (void)state;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        for (uint32_t threads = 1; threads <= 3; threads++) {
            const slc_image_label_config config = config_of(a, threads);
            slc_image_labeller *labeller = NULL;
            allocator_calls = 0;
            assert_int_equal(slc_image_label_open(&config, &labeller, NULL), SLC_OK);
            assert_true(allocator_calls > 0);
            allocator_calls = 0;
            assert_int_equal(slc_image_label_reserve(labeller, WIDTH, HEIGHT, NULL), SLC_OK);
            assert_true(allocator_calls > 0);
            assert_int_equal(calls_of_run(labeller, WIDTH, HEIGHT), 0);
            assert_int_equal(calls_of_run(labeller, 7, HEIGHT), 0);
            assert_int_equal(calls_of_run(labeller, WIDTH, 1), 0);
            allocator_calls = 0;
            assert_int_equal(slc_image_label_reserve(labeller, WIDTH, HEIGHT, NULL), SLC_OK);
            assert_int_equal(allocator_calls, 0);
            slc_image_label_close(labeller);
        }
    }
}

/* Runs dry at the first allocation, then at the second, … until all succeed. */
static void opening_out_of_memory(void **state)
{
    (void)state;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        const slc_image_label_config config = config_of(a, 2);
        slc_image_labeller *labeller = NULL;
        slc_status status = SLC_ERR_MEMORY;
        long failures = 0;
        while (status == SLC_ERR_MEMORY && failures < 100) {
            slc_error error = {0};
            allocations_left = failures;
            status = slc_image_label_open(&config, &labeller, &error);
            allocations_left = LONG_MAX;
            assert_true((status == SLC_OK) == (labeller != NULL));
            assert_int_equal(error.status, status);
            failures += status == SLC_ERR_MEMORY;
        }
        assert_int_equal(status, SLC_OK);
        assert_true(failures >= 1);
        slc_image_label_close(labeller);
    }
}

static void reserving_out_of_memory(void **state)
{
    (void)state;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        const slc_image_label_config config = config_of(a, 2);
        slc_image_labeller *labeller = NULL;
        assert_int_equal(slc_image_label_open(&config, &labeller, NULL), SLC_OK);
        assert_int_equal(slc_image_label_reserve(labeller, 30, 20, NULL), SLC_OK);
        slc_status status = SLC_ERR_MEMORY;
        long failures = 0;
        while (status == SLC_ERR_MEMORY && failures < 100) {
            slc_error error = {0};
            allocations_left = failures;
            status = slc_image_label_reserve(labeller, WIDTH, HEIGHT, &error);
            allocations_left = LONG_MAX;
            assert_int_equal(error.status, status);
            failures += status == SLC_ERR_MEMORY;
            /* What there was room for there still is. */
            assert_int_equal(calls_of_run(labeller, 30, 20), 0);
        }
        assert_int_equal(status, SLC_OK);
        assert_true(failures >= 1);
        assert_int_equal(calls_of_run(labeller, WIDTH, HEIGHT), 0);
        slc_image_label_close(labeller);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_allocate_nothing),
        cmocka_unit_test(opening_out_of_memory),
        cmocka_unit_test(reserving_out_of_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
