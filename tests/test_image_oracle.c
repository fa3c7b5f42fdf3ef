/* SPDX-License-Identifier: Apache-2.0
 *
 * The two oracles of labelling against each other, and the oracle of features against values worked out by
 * hand: what the other tests of images lean on must itself be right.
 */
#include "oracle/image_oracle.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/near.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 200 * 200 };

static uint8_t on[MOST];
static uint32_t flooded[MOST], settled[MOST];

static void expect_agreement(const char *name, size_t width, size_t height)
{
    for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
        const uint32_t a = oracle_image_label(on, width, height, connectivity, flooded);
        const uint32_t b = oracle_image_label_fixpoint(on, width, height, connectivity, settled);
        if (a != b || memcmp(flooded, settled, width * height * sizeof *flooded) != 0) {
            fail_msg("%s, %zu x %zu, %u-connected: %u components by flooding, %u by settling", name, width,
                     height, connectivity, a, b);
        }
    }
}

static void oracles_agree_on_every_small_image(void **state)
{
    (void)state;
    for (size_t width = 1; width <= 4; width++) {
        for (size_t height = 1; height <= 4; height++) {
            for (uint32_t bits = 0; bits < 1U << width * height; bits++) {
                for (size_t i = 0; i < width * height; i++) {
                    on[i] = bits >> i & 1;
                }
                expect_agreement("all", width, height);
            }
        }
    }
}

static void oracles_agree_on_patterns(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 1},   {1, 9},   {9, 1},   {2, 2},   {3, 5},    {16, 16},
                                       {17, 31}, {64, 20}, {65, 40}, {100, 3}, {129, 97}, {200, 200}};
    uint64_t seed = 1;
    for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            memset(on, 7, sizeof on);
            pattern->draw(on, shapes[s][0], shapes[s][1], &seed);
            for (size_t i = 0; i < shapes[s][0] * shapes[s][1]; i++) {
                assert_true(on[i] <= 1);
            }
            expect_agreement(pattern->name, shapes[s][0], shapes[s][1]);
        }
    }
    for (int i = 0; i < 500; i++) {
        const size_t width = 1 + random_below(&seed, 70), height = 1 + random_below(&seed, 70);
        expect_agreement(image_pattern_any(on, width, height, &seed), width, height);
    }
}

/* A picture in letters: '#' is foreground. */
static uint32_t draw(const char *picture, size_t width, size_t height, uint32_t connectivity)
{
    assert_int_equal(strlen(picture), width * height);
    for (size_t i = 0; i < width * height; i++) {
        on[i] = picture[i] == '#';
    }
    return oracle_image_label(on, width, height, connectivity, flooded);
}

static void known_labels(void **state)
{
    (void)state;
    static const uint32_t wanted_8[] = {0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 2, 2, 0, 3};
    static const uint32_t wanted_4[] = {0, 1, 0, 2, 3, 0, 2, 2, 0, 0, 0, 0, 4, 4, 0, 5};
    assert_int_equal(draw(".#.##.##....##.#", 4, 4, 8), 3);
    assert_memory_equal(flooded, wanted_8, sizeof wanted_8);
    assert_int_equal(draw(".#.##.##....##.#", 4, 4, 4), 5);
    assert_memory_equal(flooded, wanted_4, sizeof wanted_4);
    assert_int_equal(oracle_image_filter(flooded, 4, 4, 5, 2, 2, SLC_IMAGE_BORDER_ANY), 1);
    assert_int_equal(flooded[12], 1);
    assert_int_equal(flooded[3], 0);
}

static void known_features(void **state)
{
    (void)state;
    oracle_component c[2];
    /* A ring of 3 x 3 in 5 x 4, its middle at (2, 1): eight pixels, a hole, 12 edges without and 4 within. */
    assert_int_equal(draw(".###..#.#..###......", 5, 4, 8), 1);
    static const double grey[20] = {0, 1, 0, 0, 0, 0, 2, 9, 0, 0, 0, 0, 0, 5};
    oracle_image_components(flooded, 5, 4, 1, 8, grey, false, c);
    assert_int_equal(c[0].area, 8);
    assert_int_equal(c[0].perimeter, 16);
    assert_int_equal(c[0].euler, 0);
    assert_int_equal(c[0].first_x, 1);
    assert_int_equal(c[0].x_max, 3);
    assert_int_equal(c[0].y_max, 2);
    assert_near(c[0].x, 2, 0);
    assert_near(c[0].y, 1, 0);
    assert_true(c[0].isotropic);
    assert_near(c[0].major, 4 * sqrt(6 / 8.0 + 1 / 12.0), 1e-15);
    assert_near(c[0].eccentricity, 0, 0);
    assert_near(c[0].mass, 8, 0);
    assert_near(c[0].weighted_x, (1 + 2 + 15) / 8.0, 1e-15);
    assert_near(c[0].grey_max, 5, 0);
    /* Two diagonal steps down to the right: at 45 degrees, positive; mirrored, negative. */
    assert_int_equal(draw("#...#...#", 3, 3, 8), 1);
    oracle_image_components(flooded, 3, 3, 1, 8, NULL, false, c);
    assert_near(c[0].orientation, atan(1), 1e-15);
    assert_near(c[0].minor, 4 * sqrt(1 / 12.0), 1e-15);
    assert_near(c[0].major, 4 * sqrt(2 * 2 / 3.0 + 1 / 12.0), 1e-15);
    assert_int_equal(c[0].euler, 1);
    assert_int_equal(draw("..#.#.#..", 3, 3, 8), 1);
    oracle_image_components(flooded, 3, 3, 1, 8, NULL, false, c);
    assert_near(c[0].orientation, -atan(1), 1e-15);
}

/* Corners decide: what is a hole to an 8-connected ring leaks out of a 4-connected one. */
static void known_holes(void **state)
{
    (void)state;
    oracle_component c[4];
    assert_int_equal(draw(".#.#.#.#.", 3, 3, 8), 1);
    oracle_image_components(flooded, 3, 3, 1, 8, NULL, false, c);
    assert_int_equal(c[0].euler, 0);
    assert_int_equal(draw(".#####.##.#####", 5, 3, 4), 1);
    oracle_image_components(flooded, 5, 3, 1, 4, NULL, false, c);
    assert_int_equal(c[0].euler, 1);
    /* A ring in a ring: each has one hole, whatever is in it. */
    assert_int_equal(draw("#######"
                          "#.....#"
                          "#.###.#"
                          "#.#.#.#"
                          "#.###.#"
                          "#.....#"
                          "#######",
                          7, 7, 8),
                     2);
    oracle_image_components(flooded, 7, 7, 2, 8, NULL, false, c);
    assert_int_equal(c[0].euler, 0);
    assert_int_equal(c[1].euler, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracles_agree_on_every_small_image),
        cmocka_unit_test(oracles_agree_on_patterns),
        cmocka_unit_test(known_labels),
        cmocka_unit_test(known_features),
        cmocka_unit_test(known_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
