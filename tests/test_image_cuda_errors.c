/* SPDX-License-Identifier: Apache-2.0
 *
 * What labelling on a GPU refuses: results that do not fit leave every output as it was and tell how many
 * there are; algorithms and devices that there are not; what an algorithm cannot make. And memory that is not
 * enough, reserving, and that a run allocates nothing. Skipped without a device.
 */
#include "base/columns.h"
#include "support/image_gpu.h"

#include "cuda/cuda_rows.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 514, POISON = 0xA5 };

static uint8_t pixels[SIDE * SIDE];
static uint32_t labels[SIDE * SIDE];
static slc_error error;

static slc_image_label_config config_of(size_t algorithm)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = "cuda";
    config.algorithm = slc_image_cuda_algorithm_name(algorithm);
    return config;
}

/* Single pixels in every other column of every other row: n of them. */
static uint32_t dots(size_t width, size_t height)
{
    for (size_t i = 0; i < width * height; i++) {
        pixels[i] = i % width % 2 == 0 && i / width % 2 == 0;
    }
    return (uint32_t)(((width + 1) / 2) * ((height + 1) / 2));
}

static void expect_poison(const void *memory, size_t bytes, const char *what)
{
    for (size_t i = 0; i < bytes; i++) {
        if (((const uint8_t *)memory)[i] != POISON) {
            fail_msg("%s: byte %zu was written", what, i);
        }
    }
}

/* ---- what does not fit ------------------------------------------------------------------------- */

/* 16 bits count 65 535 components, and not one more. */
static void labels_of_16_bits(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!slc_image_cuda_algorithm_labels(a) || !image_gpu_wanted(a)) {
            continue;
        }
        const slc_image_label_config config = config_of(a);
        slc_image_labeller *labeller = image_labeller_open(&config, 512, 512);
        const uint32_t n = dots(511, 511);
        assert_int_equal(n, 65536);
        const slc_image image = {pixels, 511, 511, 511, SLC_IMAGE_U8};
        memset(labels, POISON, sizeof labels);
        slc_image_labels out = {.labels = labels, .stride = 2 * 511, .type = SLC_TYPE_U16};
        assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, &error), SLC_ERR_CAPACITY);
        assert_int_equal(out.n_labels, n);
        expect_poison(labels, sizeof labels, config.algorithm);
        pixels[0] = 0;
        assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, &error), SLC_OK);
        assert_int_equal(out.n_labels, n - 1);
        uint16_t last;
        memcpy(&last, (const char *)labels + 2 * (511 * 511 - 1), sizeof last);
        assert_int_equal(last, n - 1);
        slc_image_label_close(labeller);
    }
}

static void run_into(slc_image_labeller *labeller, const slc_image_label_config *config, size_t capacity,
                     uint32_t n, bool with_labels)
{
    const slc_image image = {pixels, 60, 40, 60, SLC_IMAGE_U8};
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config->features, columns);
    slc_image_components components = {.area = NULL};
    assert_int_equal(slc_columns_reserve(&schema, &components, n, 4), SLC_OK);
    for (size_t i = 0; i < schema.n_columns; i++) {
        memset(*(void **)(void *)((char *)&components + columns[i].member), POISON,
               n * slc_type_size(columns[i].type));
    }
    components.head.capacity = capacity;
    memset(labels, POISON, sizeof labels);
    slc_image_labels out = {.labels = with_labels ? labels : NULL,
                            .stride = 4 * 60,
                            .type = SLC_TYPE_U32,
                            .components = &components};
    const slc_status status = slc_image_label_run(labeller, &image, NULL, &out, NULL, &error);
    assert_int_equal(status, capacity < n ? SLC_ERR_CAPACITY : SLC_OK);
    assert_int_equal(out.n_labels, n);
    assert_int_equal(components.head.size, capacity < n ? 0 : n);
    assert_int_equal(components.head.n_events, capacity < n ? 0 : 1);
    for (size_t i = 0; i < schema.n_columns && capacity < n; i++) {
        expect_poison(*(void **)(void *)((char *)&components + columns[i].member),
                      n * slc_type_size(columns[i].type), columns[i].name);
    }
    if (capacity < n) {
        expect_poison(labels, sizeof labels, config->algorithm);
    }
    slc_columns_clear(&schema, &components);
}

static void components_without_room(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!slc_image_cuda_algorithm_features(a) || !image_gpu_wanted(a)) {
            continue;
        }
        const bool with_labels = slc_image_cuda_algorithm_labels(a);
        slc_image_label_config config = config_of(a);
        for (uint32_t more = 0; more < (with_labels ? 2 : 1); more++) {
            config.features = more ? SLC_IMAGE_ALL : IMAGE_GPU_PLAIN;
            slc_image_labeller *labeller = image_labeller_open(&config, 64, 64);
            const uint32_t n = dots(60, 40);
            run_into(labeller, &config, n, n, with_labels);
            run_into(labeller, &config, n - 1, n, with_labels);
            run_into(labeller, &config, n - 1, n, false);
            run_into(labeller, &config, 0, n, with_labels);
            run_into(labeller, &config, n, n, false);
            slc_image_label_close(labeller);
        }
    }
}

/* ---- what there is not ------------------------------------------------------------------------- */

static void open_refused(slc_image_label_config config, slc_status wanted, const char *word)
{
    slc_image_labeller *labeller = NULL;
    const slc_status status = slc_image_label_open(&config, &labeller, &error);
    if (status != wanted || strstr(error.text, word) == NULL || labeller != NULL) {
        fail_msg("%s: %s and not %s with \"%s\": %s", image_config_text(&config), slc_status_name(status),
                 slc_status_name(wanted), word, error.text);
    }
}

static void names(void **state)
{
    (void)state;
    slc_image_label_config config = config_of(0);
    config.algorithm = "bitrun"; /* which the processor has */
    open_refused(config, SLC_ERR_USAGE, "bitrun");
    open_refused(config, SLC_ERR_USAGE, "cuda");
    config.algorithm = "bittile";
    config.exec.device = "cpu";
    open_refused(config, SLC_ERR_USAGE, "bittile");
    config.algorithm = NULL;
    config.exec.device = "tpu";
    open_refused(config, SLC_ERR_USAGE, "tpu");
    config.exec.device = "cuda:900";
    open_refused(config, SLC_ERR_UNSUPPORTED, "900");
    config.exec.device = "cuda";
    config.connectivity = 6;
    open_refused(config, SLC_ERR_USAGE, "connectivity");
    /* "auto" is the first. */
    config = config_of(0);
    config.algorithm = "auto";
    slc_image_labeller *labeller = image_labeller_open(&config, 8, 8);
    slc_image_label_close(labeller);
}

static slc_status run_small(slc_image_labeller *labeller, const slc_image_label_config *config,
                            bool with_labels, slc_image_type grey_type)
{
    static uint8_t grey[4 * 64 * 64];
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config->features, columns);
    slc_image_components components = {.area = NULL};
    assert_int_equal(slc_columns_reserve(&schema, &components, 2000, 2), SLC_OK);
    (void)dots(60, 40);
    const slc_image image = {pixels, 60, 40, 60, SLC_IMAGE_U8};
    const slc_image values = {grey, 60, 40, 4 * 64, grey_type};
    slc_image_labels out = {.labels = with_labels ? labels : NULL,
                            .stride = 4 * 60,
                            .type = SLC_TYPE_U32,
                            .components = config->features != 0 ? &components : NULL};
    memset(labels, POISON, sizeof labels);
    const slc_status status = slc_image_label_run(labeller, &image, &values, &out, NULL, &error);
    if (status != SLC_OK) {
        expect_poison(labels, sizeof labels, config->algorithm);
        assert_int_equal(components.head.n_events, 0);
    }
    slc_columns_clear(&schema, &components);
    return status;
}

/* An algorithm makes what its table says, and refuses the rest by name. */
static void what_an_algorithm_cannot(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!image_gpu_wanted(a)) {
            continue;
        }
        slc_image_label_config config = config_of(a);
        config.features = SLC_IMAGE_AREA;
        slc_image_labeller *labeller = image_labeller_open(&config, 64, 64);
        const bool makes_labels = slc_image_cuda_algorithm_labels(a);
        const bool makes_features = slc_image_cuda_algorithm_features(a);
        const slc_status both = run_small(labeller, &config, true, SLC_IMAGE_U8);
        assert_int_equal(both, makes_labels && makes_features ? SLC_OK : SLC_ERR_UNSUPPORTED);
        assert_true(both == SLC_OK || strstr(error.text, config.algorithm) != NULL);
        const slc_status features = run_small(labeller, &config, false, SLC_IMAGE_U8);
        assert_int_equal(features, makes_features ? SLC_OK : SLC_ERR_UNSUPPORTED);
        slc_image_label_close(labeller);
    }
    slc_image_label_config config = config_of(0);
    config.features = SLC_IMAGE_GREY;
    slc_image_labeller *labeller = image_labeller_open(&config, 64, 64);
    assert_int_equal(run_small(labeller, &config, true, SLC_IMAGE_U16), SLC_OK);
    assert_int_equal(run_small(labeller, &config, true, SLC_IMAGE_F32), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "float"));
    slc_image_label_close(labeller);
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* After reserving, runs take no more of the device, whatever they are asked for. */
static void runs_allocate_nothing(void **state)
{
    (void)state;
#ifdef SLUICE_SIMT /* elsewhere others may be on the device */
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        uint64_t seed = a;
        slc_image_label_config config = config_of(a);
        config.features = slc_image_cuda_algorithm_features(a)
                              ? slc_image_cuda_algorithm_labels(a) ? SLC_IMAGE_ALL : IMAGE_GPU_PLAIN
                              : 0;
        slc_image_labeller *labeller = image_labeller_open(&config, 100, 100);
        size_t before = 0, after = 0;
        assert_int_equal(slc_cuda_free_bytes(image_gpu_stream(), &before, &error), SLC_OK);
        for (int i = 0; i < 5; i++) {
            const size_t width = 1 + random_below(&seed, 100), height = 1 + random_below(&seed, 100);
            image_macro_pixels(pixels, width, height, 1, 20 * (uint32_t)i, &seed);
            image_input input;
            image_input_make(&input, pixels, width, height, image_gpu_type(&seed), 1, &seed);
            if (input.image.type != SLC_IMAGE_F32) {
                const image_wish wish = {.foreground = true,
                                         .background = i % 2 == 1,
                                         .labels = slc_image_cuda_algorithm_labels(a),
                                         .components = config.features != 0,
                                         .type = SLC_TYPE_U32};
                image_run_expect(labeller, &config, &input, NULL, wish, &seed, "memory");
            }
            image_input_clear(&input);
        }
        assert_int_equal(slc_cuda_free_bytes(image_gpu_stream(), &after, &error), SLC_OK);
        assert_int_equal(before, after);
        slc_image_label_close(labeller);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_16_bits),
        cmocka_unit_test(components_without_room),
        cmocka_unit_test(names),
        cmocka_unit_test(what_an_algorithm_cannot),
        cmocka_unit_test(runs_allocate_nothing),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
