/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling on a GPU against the oracle: every algorithm with both connectivities, both sides, all types of
 * pixels, thresholds, strides and alignments, in the host's memory and the device's; patterns, scenes, and
 * runs that are repeated. Batches and a caller's stream: test_image_cuda_batch.c; errors:
 * test_image_cuda_errors.c. Skipped without a device.
 */
#include "support/image_gpu.h"

#include "image/cuda/image_cuda_engine.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 220, ROOM = 70000, POISON = 0xA5 };

static uint8_t drawn[ROOM];

static void algorithms_have_names_and_texts(void **state)
{
    (void)state;
    const size_t n = image_gpu_algorithms();
    assert_true(n >= 10);
    for (size_t a = 0; a < n; a++) {
        assert_true(strlen(slc_image_cuda_algorithm_text(a)) > 10);
        assert_true(slc_image_cuda_algorithm_labels(a) || slc_image_cuda_algorithm_features(a));
        for (size_t b = 0; b < a; b++) {
            assert_string_not_equal(slc_image_cuda_algorithm_name(a), slc_image_cuda_algorithm_name(b));
        }
    }
    assert_true(slc_image_cuda_algorithm_labels(0) && slc_image_cuda_algorithm_features(0));
    assert_null(slc_image_cuda_algorithm_name(n));
    assert_null(slc_image_cuda_algorithm_text(n));
}

/* ---- random images ----------------------------------------------------------------------------- */

/* One labeller, some images. */
static void random_runs(size_t algorithm, size_t images, uint64_t *seed)
{
    const slc_image_type type = image_gpu_type(seed);
    slc_image_label_config config;
    image_wish wish;
    image_gpu_draw(algorithm, type, &config, &wish, seed);
    const size_t most = image_gpu_side(MOST);
    slc_image_labeller *labeller = image_labeller_open(&config, most + 33, most + 33);
    for (size_t i = 0; i < images; i++) {
        size_t width, height;
        image_gpu_shape(most, &width, &height, seed);
        const char *what = image_pattern_any(drawn, width, height, seed);
        image_input input, grey;
        image_input_make(&input, drawn, width, height, type, config.threshold, seed);
        const slc_image_type grey_type = (slc_image_type)random_below(seed, SLC_IMAGE_F32);
        const bool own = type == SLC_IMAGE_F32 || random_below(seed, 2) == 0;
        image_input_grey(&grey, width, height, grey_type, false, seed);
        image_run_expect(labeller, &config, &input, own ? &grey : NULL, wish, seed, what);
        image_input_clear(&input);
        image_input_clear(&grey);
    }
    slc_image_label_close(labeller);
}

static void random_images(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!image_gpu_wanted(a)) {
            continue;
        }
        uint64_t seed = 100 + a;
        for (size_t i = 0; i < image_gpu_count(120); i++) {
            random_runs(a, 3, &seed);
        }
    }
}

/* ---- patterns ---------------------------------------------------------------------------------- */

static const size_t shapes[][2] = {{1, 1},    {1, 70},   {70, 1},  {2, 2},    {7, 5},   {31, 33},
                                   {32, 32},  {33, 31},  {63, 65}, {64, 64},  {65, 63}, {127, 40},
                                   {128, 64}, {129, 70}, {200, 3}, {130, 130}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void patterns_of(const slc_image_label_config *config, image_wish wish, size_t first, size_t step)
{
    uint64_t seed = first;
    slc_image_labeller *labeller = image_labeller_open(config, 200, 130);
    size_t k = first % step;
    for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
        for (size_t s = 0; s < SHAPES; s++, k++) {
            /* Always where a border of tiles has its first and last rows side by side, which few random
             * images have. */
            if (k % step == 0 || (shapes[s][1] == 3 && !SANITIZED)) {
                image_input input;
                pattern->draw(drawn, shapes[s][0], shapes[s][1], &seed);
                image_input_make(&input, drawn, shapes[s][0], shapes[s][1], SLC_IMAGE_U8, 1, &seed);
                image_run_expect(labeller, config, &input, NULL, wish, &seed, pattern->name);
                image_input_clear(&input);
            }
        }
    }
    slc_image_label_close(labeller);
}

static void patterns(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!image_gpu_wanted(a)) {
            continue;
        }
        for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
            for (int features = 0; features < 2; features++) {
                slc_image_label_config config;
                slc_image_label_config_default(&config);
                config.exec.device = "cuda";
                config.algorithm = slc_image_cuda_algorithm_name(a);
                config.connectivity = connectivity;
                config.features = features ? IMAGE_GPU_PLAIN : 0;
                const image_wish wish = {.foreground = true,
                                         .background = true,
                                         .labels = !features,
                                         .components = features,
                                         .type = SLC_TYPE_U32};
                if (features ? slc_image_cuda_algorithm_features(a) : slc_image_cuda_algorithm_labels(a)) {
                    patterns_of(&config, wish, a + connectivity, image_gpu_step());
                }
            }
        }
    }
}

/* ---- many tiles -------------------------------------------------------------------------------- */

/* Images of so many tiles that a block takes several side by side, with whole tiles and ragged edges. They
 * come from the host, so their rows are where the fast way of reading wants them. */
static void wide_images(void **state)
{
    static const size_t sides[][2] = {{784, 700}, {1025, 513}, {768, 640}};
    static const uint32_t grains[] = {1, 3, 8}, percents[] = {40, 62, 97};
    (void)state;
    uint64_t seed = 77;
    for (size_t s = 0; s < 3; s++) {
        const size_t width = sides[s][0], height = sides[s][1];
        uint8_t *on = malloc(width * height);
        assert_non_null(on);
        image_macro_pixels(on, width, height, grains[s], percents[s], &seed);
        for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
            slc_image_label_config config;
            slc_image_label_config_default(&config);
            config.exec.device = "cuda";
            config.connectivity = connectivity;
            config.features = s == 1 ? 0 : IMAGE_GPU_PLAIN;
            const image_wish wish = {
                .foreground = true, .labels = true, .components = s != 1, .type = SLC_TYPE_U32};
            slc_image_labeller *labeller = image_labeller_open(&config, width, height);
            image_input input;
            image_input_make(&input, on, width, height, SLC_IMAGE_U8, 1, &seed);
            image_run_expect(labeller, &config, &input, NULL, wish, &seed, "many tiles");
            image_input_clear(&input);
            slc_image_label_close(labeller);
        }
        free(on);
    }
}

/* ---- the device's memory ----------------------------------------------------------------------- */

static void memory_of_both(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!image_gpu_wanted(a)) {
            continue;
        }
        uint64_t seed = 300 + a;
        for (uint32_t i = 0; i < 8 * image_gpu_count(10); i++) {
            const slc_image_type type = image_gpu_type(&seed);
            slc_image_label_config config;
            image_wish wish;
            image_gpu_draw(a, type, &config, &wish, &seed);
            if (type == SLC_IMAGE_F32) {
                config.features &= ~(uint32_t)SLC_IMAGE_GREY;
            }
            wish.components = wish.components && config.features != 0;
            wish.labels = wish.labels || (!wish.components && slc_image_cuda_algorithm_labels(a));
            size_t width, height;
            image_gpu_shape(image_gpu_side(MOST), &width, &height, &seed);
            (void)image_pattern_any(drawn, width, height, &seed);
            image_input input;
            image_input_make(&input, drawn, width, height, type, config.threshold, &seed);
            slc_image_labeller *labeller = image_labeller_open(&config, width, height);
            image_gpu_run_expect(labeller, &config, &input, wish, i % 8, &seed);
            slc_image_label_close(labeller);
            image_input_clear(&input);
        }
    }
}

/* ---- again and again --------------------------------------------------------------------------- */

/* The same image 20 times, by the same labeller, into memory that is poisoned anew. */
static void repeats_are_equal(void **state)
{
    (void)state;
    const size_t side = image_gpu_side(1000), runs = image_gpu_count(400) < 20 ? 5 : 20;
    uint8_t *on = malloc(side * side);
    uint32_t *labels = malloc(4 * side * side), *first = malloc(4 * side * side);
    assert_true(on != NULL && labels != NULL && first != NULL);
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        if (!image_gpu_wanted(a)) {
            continue;
        }
        uint64_t seed = 500 + a;
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.exec.device = "cuda";
        config.algorithm = slc_image_cuda_algorithm_name(a);
        config.features = slc_image_cuda_algorithm_features(a) ? IMAGE_GPU_MADE : 0;
        config.connectivity = a % 2 ? 4 : 8;
        image_macro_pixels(on, side, side, 1 + (uint32_t)a % 3, 45 + (uint32_t)a, &seed);
        const slc_image image = {on, side, side, (ptrdiff_t)side, SLC_IMAGE_U8};
        slc_image_labeller *labeller = image_labeller_open(&config, side, side);
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(config.features, columns);
        slc_image_components components = {.area = NULL};
        assert_int_equal(slc_columns_reserve(&schema, &components, side * side / 2 + side, 1), SLC_OK);
        uint64_t sum = 0;
        for (size_t run = 0; run < runs; run++) {
            memset(labels, POISON, 4 * side * side);
            slc_columns_reset(&components);
            slc_image_labels out = {.labels = slc_image_cuda_algorithm_labels(a) ? labels : NULL,
                                    .stride = (ptrdiff_t)(4 * side),
                                    .type = SLC_TYPE_U32,
                                    .components = config.features != 0 ? &components : NULL};
            slc_error error;
            if (slc_image_label_run(labeller, &image, NULL, &out, NULL, &error) != SLC_OK) {
                fail_msg("%s: %s", config.algorithm, error.text);
            }
            const uint64_t now = slc_columns_checksum(&schema, &components, 0, SLC_CHECKSUM_START);
            if (run == 0) {
                memcpy(first, labels, 4 * side * side);
                sum = now;
            }
            assert_memory_equal(first, labels, 4 * side * side);
            assert_true(sum == now);
        }
        slc_columns_clear(&schema, &components);
        slc_image_label_close(labeller);
    }
    free(on);
    free(labels);
    free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_have_names_and_texts),
        cmocka_unit_test(patterns),
        cmocka_unit_test(random_images),
        cmocka_unit_test(wide_images),
        cmocka_unit_test(memory_of_both),
        cmocka_unit_test(repeats_are_equal),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
