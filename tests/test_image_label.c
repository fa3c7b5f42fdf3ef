/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels against flood fill: all patterns by every algorithm on every instruction set, and thousands of
 * random images under random conditions. Small images: test_image_small.c.
 */
#include "image/image_algorithm.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_run.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which algorithms, which targets ----------------------------------------------------------- */

static slc_simd_target targets[SLC_SIMD_TARGETS];
static size_t n_targets, n_algorithms;

static int find_targets(void **state)
{
    (void)state;
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (slc_simd_runs((slc_simd_target)t)) {
            targets[n_targets++] = (slc_simd_target)t;
        }
    }
    while (slc_image_algorithm_name(n_algorithms) != NULL) {
        n_algorithms++;
    }
    return 0;
}

static void algorithms_have_names_and_texts(void **state)
{
    (void)state;
    assert_true(n_targets >= 1);
    assert_true(n_algorithms >= 2);
    size_t bitrun = 0;
    for (size_t a = 0; a < n_algorithms; a++) {
        assert_non_null(slc_image_algorithm_text(a));
        assert_true(strlen(slc_image_algorithm_text(a)) > 10);
        bitrun += strcmp(slc_image_algorithm_name(a), "bitrun") == 0;
        assert_true(strcmp(slc_image_algorithm_name(a), "auto") != 0);
        for (size_t b = 0; b < a; b++) {
            assert_string_not_equal(slc_image_algorithm_name(a), slc_image_algorithm_name(b));
        }
    }
    assert_int_equal(bitrun, 1);
    assert_null(slc_image_algorithm_name(n_algorithms));
    assert_null(slc_image_algorithm_text(n_algorithms));
}

/* ---- patterns ---------------------------------------------------------------------------------- */

static const size_t pattern_shapes[][2] = {{1, 1},   {1, 70},  {70, 1},   {2, 2},   {7, 5},    {16, 16},
                                           {63, 40}, {64, 40}, {65, 40},  {40, 65}, {127, 9},  {128, 17},
                                           {129, 9}, {200, 3}, {192, 40}, {255, 8}, {257, 33}, {300, 90}};
enum { PATTERN_SHAPES = sizeof pattern_shapes / sizeof *pattern_shapes };

/* All patterns in all shapes under one configuration. */
static void patterns_expect(const slc_image_label_config *config, size_t step, uint64_t seed)
{
    uint8_t *on = malloc(300 * 90);
    assert_non_null(on);
    slc_image_labeller *labeller = image_labeller_open(config, 300, 90);
    size_t k = random_below(&seed, (uint32_t)step);
    for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
        for (size_t s = 0; s < PATTERN_SHAPES; s++, k++) {
            if (k % step == 0) {
                image_input input;
                pattern->draw(on, pattern_shapes[s][0], pattern_shapes[s][1], &seed);
                image_input_make(&input, on, pattern_shapes[s][0], pattern_shapes[s][1], SLC_IMAGE_U8, 1,
                                 &seed);
                const image_wish wish = {
                    .foreground = true, .background = true, .labels = true, .type = SLC_TYPE_U32};
                image_run_expect(labeller, config, &input, NULL, wish, &seed, pattern->name);
                image_input_clear(&input);
            }
        }
    }
    slc_image_label_close(labeller);
    free(on);
}

static void patterns_by_default(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    for (size_t t = 0; t < n_targets; t++) {
        for (config.connectivity = 4; config.connectivity <= 8; config.connectivity += 4) {
            config.exec.target = targets[t];
            config.exec.threads = 1 + (uint32_t)t % 3;
            patterns_expect(&config, image_test_step(2), 2 * t + config.connectivity);
        }
    }
}

static void patterns_by_all(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    for (size_t a = 0; a < n_algorithms; a++) {
        config.algorithm = slc_image_algorithm_name(a);
        for (size_t t = 0; t < (slc_image_algorithm_simd(a) ? n_targets : 1); t++) {
            for (config.connectivity = 4; config.connectivity <= 8; config.connectivity += 4) {
                config.exec.target = slc_image_algorithm_simd(a) ? targets[t] : SLC_SIMD_AUTO;
                config.exec.threads = 1 + (uint32_t)(a + t) % 4;
                patterns_expect(&config, image_test_step(7), a * 100 + t);
            }
        }
    }
}

/* ---- random images, random conditions ---------------------------------------------------------- */

static size_t random_width(uint64_t *seed)
{
    switch (random_below(seed, 8)) {
    case 0: /* about whole words */
        return 64 * (1 + random_below(seed, 20)) - 1 + random_below(seed, 3);
    case 1:
        return random_below(seed, 20) == 0 ? 300 + random_below(seed, 4700) : 1 + random_below(seed, 9);
    default:
        return 1 + random_below(seed, 1 + random_below(seed, 300));
    }
}

static void random_shape(size_t *width, size_t *height, uint64_t *seed)
{
    *width = random_width(seed);
    *height = 1 + random_below(seed, 1 + random_below(seed, 300));
    switch (random_below(seed, 30)) {
    case 0:
        *height = 1;
        break;
    case 1:
        *height = random_width(seed);
        *width = 1 + random_below(seed, 3);
        break;
    default:
        break;
    }
    while (*width * *height > 40000) {
        *height = (*height + 1) / 2;
    }
}

static double random_threshold(slc_image_type type, uint64_t *seed)
{
    static const double some[] = {1,          0,        -3,       0.5,   1.5,   127.5,        128,
                                  255,        256,      255.5,    65535, 65536, 65534.000001, 4294967295,
                                  1e300,      -1e300,   0.1,      0.7,   1000,  4294967296,   2147483648,
                                  2147483647, INFINITY, -INFINITY};
    const uint32_t odd = random_below(seed, 6);
    if (odd == 0) {
        return some[random_below(seed, sizeof some / sizeof *some)];
    }
    switch (type) {
    case SLC_IMAGE_U8:
        return odd < 3 ? 1 : random_below(seed, 256);
    case SLC_IMAGE_U16:
        return random_below(seed, 65536);
    case SLC_IMAGE_U32:
        return (double)(uint32_t)random_u64(seed);
    default:
        return random_unit(seed) * 10 - 5;
    }
}

static slc_image_label_config random_config(uint64_t *seed)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    const uint32_t which = random_below(seed, 2 * (uint32_t)n_algorithms);
    config.algorithm = which < n_algorithms ? slc_image_algorithm_name(which) : which % 2 ? NULL : "auto";
    config.connectivity = random_below(seed, 2) != 0 ? 8 : 4;
    config.exec.threads = random_below(seed, 2) == 0 ? 1 : 1 + random_below(seed, 8);
    const uint32_t t = random_below(seed, (uint32_t)n_targets + 1);
    config.exec.target = t < n_targets ? targets[t] : SLC_SIMD_AUTO;
    if (random_below(seed, 3) == 0) {
        config.features = random_below(seed, SLC_IMAGE_ALL + 1);
    }
    if (random_below(seed, 4) == 0) {
        config.min_area = random_below(seed, 12);
        config.max_area = random_below(seed, 3) == 0 ? UINT64_MAX : config.min_area + random_below(seed, 300);
    }
    if (random_below(seed, 4) == 0) {
        config.border = (slc_image_border)random_below(seed, SLC_IMAGE_BORDERS);
    }
    return config;
}

/* One image: everything about it comes from the number of the case, which is in the text of a failure. */
static void random_case(size_t number)
{
    uint64_t seed = number * 0x10001 + 77;
    size_t width, height;
    random_shape(&width, &height, &seed);
    slc_image_label_config config = random_config(&seed);
    const slc_image_type type = (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES);
    config.threshold = random_threshold(type, &seed);
    uint8_t *on = malloc(width * height);
    assert_non_null(on);
    char what[160];
    (void)snprintf(what, sizeof what, "case %zu, %s", number, image_pattern_any(on, width, height, &seed));
    image_input input, grey;
    image_input_make(&input, on, width, height, type, config.threshold, &seed);
    const bool has_grey = random_below(&seed, 2) != 0;
    image_input_grey(&grey, width, height, (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES),
                     random_below(&seed, 2) != 0, &seed);
    const uint32_t sides = random_below(&seed, 4);
    const image_wish wish = {.foreground = sides != 0,
                             .background = sides <= 1,
                             .labels = config.features == 0 || random_below(&seed, 2) != 0,
                             .components = random_below(&seed, 8) != 0,
                             .type = random_below(&seed, 2) != 0 ? SLC_TYPE_U32 : SLC_TYPE_U16};
    /* More room than is needed must not matter. */
    slc_image_labeller *labeller = image_labeller_open(&config, width + random_below(&seed, 100),
                                                       height + random_below(&seed, 3));
    image_run_expect(labeller, &config, &input, has_grey ? &grey : NULL, wish, &seed, what);
    if (random_below(&seed, 3) == 0) { /* what the first run left behind must not matter either */
        image_run_expect(labeller, &config, &input, has_grey ? &grey : NULL, wish, &seed, what);
    }
    slc_image_label_close(labeller);
    image_input_clear(&input);
    image_input_clear(&grey);
    free(on);
}

static void random_images(void **state)
{
    (void)state;
    const char *only = getenv("SLUICE_TEST_CASE");
    if (only != NULL) {
        random_case(strtoul(only, NULL, 10));
        return;
    }
    const size_t n = image_test_count(4000);
    for (size_t i = 0; i < n; i++) {
        random_case(i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_have_names_and_texts),
        cmocka_unit_test(patterns_by_default),
        cmocka_unit_test(patterns_by_all),
        cmocka_unit_test(random_images),
    };
    return cmocka_run_group_tests(tests, find_targets, NULL);
}
