/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of components against those recomputed pixel by pixel from the oracle's labels: all of them, each
 * alone, any subset, with and without a label image, behind filters, for both sides, from every algorithm.
 */
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_run.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300 * 300 };

static uint8_t on[MOST];

static const image_wish everything = {
    .foreground = true, .background = true, .labels = true, .components = true, .type = SLC_TYPE_U32};
static const image_wish features_only = {
    .foreground = true, .background = true, .components = true, .type = SLC_TYPE_U32};

/* The image in `on` under one configuration: with labels, then without. */
static void analyse_expect(const slc_image_label_config *config, size_t width, size_t height,
                           slc_image_type type, slc_image_type grey_type, uint64_t *seed, const char *what)
{
    image_input input, grey;
    image_input_make(&input, on, width, height, type, config->threshold, seed);
    const bool has_grey = random_below(seed, 3) != 0;
    image_input_grey(&grey, width, height, grey_type, random_below(seed, 2) != 0, seed);
    slc_image_labeller *labeller = image_labeller_open(config, width, height);
    image_run_expect(labeller, config, &input, has_grey ? &grey : NULL, features_only, seed, what);
    image_run_expect(labeller, config, &input, has_grey ? &grey : NULL, everything, seed, what);
    slc_image_label_close(labeller);
    image_input_clear(&input);
    image_input_clear(&grey);
}

static void features_have_names(void **state)
{
    (void)state;
    uint32_t all = 0;
    for (uint32_t feature = 1; feature <= SLC_IMAGE_MEASURES; feature <<= 1) {
        assert_non_null(slc_image_feature_name(feature));
        all |= feature;
        for (uint32_t other = 1; other < feature; other <<= 1) {
            assert_string_not_equal(slc_image_feature_name(feature), slc_image_feature_name(other));
        }
    }
    assert_int_equal(all, SLC_IMAGE_MEASURES);
    assert_int_equal(all & (SLC_IMAGE_LABEL - 1), SLC_IMAGE_ALL);
    assert_string_equal(slc_image_feature_name(SLC_IMAGE_AREA), "area");
    assert_string_equal(slc_image_feature_name(SLC_IMAGE_BOX), "box");
    assert_null(slc_image_feature_name(0));
    assert_null(slc_image_feature_name(SLC_IMAGE_AREA | SLC_IMAGE_BOX));
    assert_null(slc_image_feature_name(SLC_IMAGE_MEASURES + 1));
}

static void schemas_follow_features(void **state)
{
    (void)state;
    slc_column columns[SLC_IMAGE_COLUMNS];
    assert_int_equal(slc_image_components_all.n_columns, SLC_IMAGE_COLUMNS);
    assert_int_equal(slc_image_components_schema(0, columns).n_columns, 0);
    size_t sum = 0;
    for (uint32_t feature = 1; feature <= SLC_IMAGE_MEASURES; feature <<= 1) {
        sum += slc_image_components_schema(feature, columns).n_columns;
    }
    assert_int_equal(sum, SLC_IMAGE_COLUMNS);
    const slc_schema all = slc_image_components_schema(SLC_IMAGE_MEASURES, columns);
    assert_int_equal(all.n_columns, SLC_IMAGE_COLUMNS);
    for (size_t k = 0; k < SLC_IMAGE_COLUMNS; k++) {
        assert_string_equal(all.columns[k].name, slc_image_components_all.columns[k].name);
        assert_int_equal(all.columns[k].member, slc_image_components_all.columns[k].member);
        assert_true(k == 0 || all.columns[k].member > all.columns[k - 1].member);
    }
}

static void all_features_of_patterns(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {1, 33}, {65, 1}, {9, 8}, {64, 21}, {130, 67}, {200, 90}};
    uint64_t seed = 5;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_ALL;
    size_t k = 0;
    const size_t step = image_test_step(1);
    for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            for (config.connectivity = 4; config.connectivity <= 8; config.connectivity += 4, k++) {
                pattern->draw(on, shapes[s][0], shapes[s][1], &seed);
                config.exec.threads = 1 + (uint32_t)(k % 3);
                if (k % step == 0) {
                    analyse_expect(&config, shapes[s][0], shapes[s][1], SLC_IMAGE_U8,
                                   (slc_image_type)(k % SLC_IMAGE_TYPES), &seed, pattern->name);
                }
            }
        }
    }
}

static void every_algorithm(void **state)
{
    (void)state;
    uint64_t seed = 6;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        config.algorithm = slc_image_algorithm_name(a);
        for (size_t i = 0; i < image_test_count(60); i++) {
            const size_t width = 1 + random_below(&seed, 140), height = 1 + random_below(&seed, 90);
            config.features = random_below(&seed, 2) != 0 ? SLC_IMAGE_ALL
                                                          : random_below(&seed, SLC_IMAGE_ALL);
            config.connectivity = random_below(&seed, 2) != 0 ? 8 : 4;
            config.exec.threads = 1 + random_below(&seed, 3);
            analyse_expect(&config, width, height, (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES),
                           (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES), &seed,
                           image_pattern_any(on, width, height, &seed));
        }
    }
}

/* Every single feature and every pair on every target; then random subsets. */
static void any_subset_of_features(void **state)
{
    (void)state;
    uint64_t seed = 7;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    const char *what = image_pattern_any(on, 150, 60, &seed);
    size_t k = 0;
    for (uint32_t a = 1; a <= SLC_IMAGE_ALL; a <<= 1) {
        for (uint32_t b = 1; b <= a; b <<= 1) {
            do {
                config.exec.target = (slc_simd_target)(k++ % SLC_SIMD_TARGETS);
            } while (!slc_simd_runs(config.exec.target));
            config.features = a | b;
            analyse_expect(&config, 150, 60, SLC_IMAGE_U8, SLC_IMAGE_U16, &seed, what);
        }
    }
    for (size_t i = 0; i < image_test_count(400); i++) {
        const size_t width = 1 + random_below(&seed, 200), height = 1 + random_below(&seed, 100);
        do {
            config.exec.target = (slc_simd_target)random_below(&seed, SLC_SIMD_TARGETS);
        } while (!slc_simd_runs(config.exec.target));
        config.features = random_below(&seed, SLC_IMAGE_ALL + 1);
        config.connectivity = random_below(&seed, 2) != 0 ? 8 : 4;
        config.exec.threads = random_below(&seed, 2) != 0 ? 1 : 1 + random_below(&seed, 8);
        analyse_expect(&config, width, height, (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES),
                       (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES), &seed,
                       image_pattern_any(on, width, height, &seed));
    }
}

static void filters(void **state)
{
    (void)state;
    uint64_t seed = 8;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    for (size_t i = 0; i < image_test_count(600); i++) {
        const size_t width = 1 + random_below(&seed, 120), height = 1 + random_below(&seed, 60);
        config.algorithm = slc_image_algorithm_name(0);
        if (random_below(&seed, 3) != 0) {
            config.algorithm = NULL;
        }
        config.connectivity = random_below(&seed, 2) != 0 ? 8 : 4;
        config.border = (slc_image_border)(i % SLC_IMAGE_BORDERS);
        config.min_area = random_below(&seed, 2) * random_below(&seed, 20);
        config.max_area = random_below(&seed, 2) != 0 ? UINT64_MAX
                                                      : config.min_area + random_below(&seed, 100);
        config.exec.threads = 1 + random_below(&seed, 4);
        /* Filters work with features that do not bring an area or a box. */
        config.features = random_below(&seed, 3) == 0 ? 0 : random_below(&seed, SLC_IMAGE_ALL + 1);
        analyse_expect(&config, width, height, SLC_IMAGE_U8, SLC_IMAGE_F32, &seed,
                       image_pattern_any(on, width, height, &seed));
    }
}

/* One image of more than a million pixels, far from the origin: long sums, long perimeters. */
static void large_components(void **state)
{
    (void)state;
    static const char *const names[] = {"full", "holes", "comb_left", "rings", "macro_pixels"};
    const size_t width = 5003, height = 151; /* n · s times the largest value is below 2^64 */
    uint64_t seed = 9;
    uint8_t *large = malloc(width * height);
    assert_non_null(large);
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_ALL;
    config.threshold = 4e9;
    for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(pattern->name, names[k]) == 0) {
                image_input input;
                pattern->draw(large, width, height, &seed);
                image_input_make(&input, large, width, height, SLC_IMAGE_U32, 4e9, &seed);
                slc_image_labeller *labeller = image_labeller_open(&config, width, height);
                /* One side: where both are made of single pixels, the oracle's holes take long. */
                image_wish wish = features_only;
                wish.background = false;
                image_run_expect(labeller, &config, &input, NULL, wish, &seed, pattern->name);
                slc_image_label_close(labeller);
                image_input_clear(&input);
            }
        }
    }
    free(large);
}

/* A small component far from the origin has the same shape as at the origin: nothing is lost in the
 * difference of large sums. */
static void shapes_do_not_depend_on_the_place(void **state)
{
    (void)state;
    enum { WIDTH = 60000, HEIGHT = 3 };
    uint8_t *row = calloc(WIDTH, HEIGHT);
    assert_non_null(row);
    for (size_t k = 0; k < 2; k++) {
        uint8_t *at = row + k * (WIDTH - 7);
        at[0] = at[1] = at[2] = at[WIDTH + 2] = at[WIDTH + 3] = at[2 * WIDTH + 4] = 1;
    }
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_SHAPE;
    slc_image_labeller *labeller = image_labeller_open(&config, WIDTH, HEIGHT);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_SHAPE, columns);
    slc_image_components c = {0};
    assert_int_equal(slc_columns_reserve(&schema, &c, 2, 1), SLC_OK);
    const slc_image image = {row, WIDTH, HEIGHT, WIDTH, SLC_IMAGE_U8};
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &c};
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_OK);
    assert_int_equal(out.n_labels, 2);
    assert_memory_equal(&c.major[0], &c.major[1], sizeof *c.major);
    assert_memory_equal(&c.minor[0], &c.minor[1], sizeof *c.minor);
    assert_memory_equal(&c.orientation[0], &c.orientation[1], sizeof *c.orientation);
    assert_memory_equal(&c.eccentricity[0], &c.eccentricity[1], sizeof *c.eccentricity);
    slc_columns_clear(&schema, &c);
    slc_image_label_close(labeller);
    free(row);
}

/* The contract of a collection notices what it says it does. */
static void broken_collections_are_found(void **state)
{
    (void)state;
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_ALL, columns);
    slc_image_components c = {0};
    uint64_t seed = 3;
    image_macro_pixels(on, 40, 40, 2, 30, &seed);
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_ALL;
    slc_image_labeller *labeller = image_labeller_open(&config, 40, 40);
    const slc_image image = {on, 40, 40, 40, SLC_IMAGE_U8};
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &c};
    assert_int_equal(slc_columns_reserve(&schema, &c, 400, 1), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_OK);
    assert_true(out.n_labels > 3);
    const char *why = NULL;
    assert_true(image_components_check(SLC_IMAGE_ALL, &c, &why));
#define BREAK(type, column, value)                                                                           \
    do {                                                                                                     \
        const type keep = c.column[1];                                                                       \
        c.column[1] = (value);                                                                               \
        assert_false(image_components_check(SLC_IMAGE_ALL, &c, NULL));                                       \
        assert_false(image_components_check(SLC_IMAGE_ALL, &c, &why));                                       \
        assert_non_null(why);                                                                                \
        c.column[1] = keep;                                                                                  \
        assert_true(image_components_check(SLC_IMAGE_ALL, &c, &why));                                        \
    } while (0)
    BREAK(uint64_t, area, 5000);
    BREAK(uint32_t, first_y, 39);
    BREAK(uint32_t, x_min, c.x_max[1] + 1);
    BREAK(double, y, 1e6);
#undef BREAK
    slc_columns_clear(&schema, &c);
    slc_image_label_close(labeller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_names),
        cmocka_unit_test(schemas_follow_features),
        cmocka_unit_test(all_features_of_patterns),
        cmocka_unit_test(every_algorithm),
        cmocka_unit_test(any_subset_of_features),
        cmocka_unit_test(filters),
        cmocka_unit_test(large_components),
        cmocka_unit_test(shapes_do_not_depend_on_the_place),
        cmocka_unit_test(broken_collections_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
