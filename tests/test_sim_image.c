/* SPDX-License-Identifier: Apache-2.0
 * The generator of test images: the Mersenne twister against its published numbers, macro-pixels against the
 * numbers that they are drawn from, and configurations that cannot be drawn.
 */
#include "sim/sim_image_random.h"
#include "support/cmocka_all.h"

#include <sluice/sim.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first five and the 10 000th number of seed 5489: the latter is what the C++ standard demands of
 * std::mt19937. */
static void the_twister_gives_the_published_numbers(void **state)
{
    (void)state;
    static const uint32_t first[] = {3499211612U, 581869302U, 3890346734U, 3586334585U, 545404204U};
    slc_sim_twister twister;
    slc_sim_twister_seed(&twister, 5489);
    uint32_t number = 0;
    for (size_t i = 0; i < 10000; i++) {
        number = slc_sim_twister_next(&twister);
        if (i < sizeof first / sizeof *first) {
            assert_int_equal(number, first[i]);
        }
    }
    assert_int_equal(number, 4123659995U);
}

static uint8_t *drawn(const slc_sim_image_config *config, uint8_t value, size_t stride)
{
    uint8_t *pixels = malloc(config->height * stride);
    assert_non_null(pixels);
    memset(pixels, 0x77, config->height * stride);
    slc_error error = {0};
    assert_int_equal(slc_sim_image(config, value, pixels, (ptrdiff_t)stride, &error), SLC_OK);
    return pixels;
}

static void macro_pixels_follow_the_numbers(void **state)
{
    (void)state;
    static const double densities[] = {0, 0.05, 0.45, 0.5, 0.999, 1};
    for (uint32_t g = 1; g <= 16; g = g < 4 ? g + 1 : 2 * g) {
        for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
            const slc_sim_image_config config = {
                .seed = 7 + g, .width = 77, .height = 35, .density = densities[d], .granularity = g};
            const size_t stride = 80, columns = (77 + g - 1) / g, rows = (35 + g - 1) / g;
            uint8_t *pixels = drawn(&config, 200, stride);
            bool *on = malloc(columns * rows * sizeof *on);
            assert_non_null(on);
            slc_sim_twister twister;
            slc_sim_twister_seed(&twister, config.seed);
            for (size_t i = 0; i < columns * rows; i++) {
                on[i] = (double)slc_sim_twister_next(&twister) < densities[d] * 4294967296.0;
            }
            for (size_t y = 0; y < config.height; y++) {
                for (size_t x = 0; x < stride; x++) {
                    const uint8_t wanted = x >= 77 ? 0x77 : on[y / g * columns + x / g] ? 200 : 0;
                    assert_int_equal(pixels[y * stride + x], wanted);
                }
            }
            free(on);
            free(pixels);
        }
    }
}

/* Density 0 is empty, 1 is full, and each image holds the sparser ones of its seed. */
static void denser_images_hold_sparser_ones(void **state)
{
    (void)state;
    slc_sim_image_config config = {.seed = 3, .width = 300, .height = 200, .granularity = 2};
    uint8_t *before = drawn(&config, 1, 300);
    for (int percent = 0; percent <= 100; percent += 5) {
        config.density = percent / 100.0;
        uint8_t *now = drawn(&config, 1, 300);
        size_t on = 0;
        for (size_t i = 0; i < 300 * 200; i++) {
            assert_true(now[i] >= before[i]);
            on += now[i];
        }
        const double expected = 60000 * config.density;
        /* Six standard deviations of a binomial with 15 000 macro-pixels of 4 pixels. */
        assert_true(fabs((double)on - expected) <= 24 * sqrt(15000 * config.density * (1 - config.density)));
        free(before);
        before = now;
    }
    free(before);
}

static void rows_may_go_upwards(void **state)
{
    (void)state;
    slc_sim_image_config config;
    slc_sim_image_config_default(&config);
    assert_int_equal(config.width, 2048);
    assert_int_equal(config.height, 2048);
    config.width = 50;
    config.height = 20;
    config.granularity = 3;
    uint8_t *down = drawn(&config, 1, 50), *up = malloc(50 * 20);
    assert_non_null(up);
    slc_error error = {0};
    assert_int_equal(slc_sim_image(&config, 1, up + 50 * 19, -50, &error), SLC_OK);
    for (size_t y = 0; y < 20; y++) {
        assert_memory_equal(down + 50 * y, up + 50 * (19 - y), 50);
    }
    free(down);
    free(up);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    const slc_sim_image_config good = {.seed = 1, .width = 8, .height = 8, .density = 0.5, .granularity = 1};
    slc_sim_image_config bad[7];
    for (size_t i = 0; i < 7; i++) {
        bad[i] = good;
    }
    bad[0].width = 0;
    bad[1].height = 0;
    bad[2].density = -0.01;
    bad[3].density = 1.01;
    bad[4].density = NAN;
    bad[5].granularity = 0;
    bad[6].width = 9; /* longer than the stride */
    static const char *const word[] = {"size",    "size",        "density", "density",
                                       "density", "granularity", "stride"};
    uint8_t pixels[8 * 9];
    slc_error error;
    for (size_t i = 0; i < 7; i++) {
        memset(pixels, 0x55, sizeof pixels);
        assert_int_equal(slc_sim_image(&bad[i], 1, pixels, 8, &error), SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, word[i]));
        for (size_t k = 0; k < sizeof pixels; k++) {
            assert_int_equal(pixels[k], 0x55);
        }
    }
    assert_int_equal(slc_sim_image(&good, 1, pixels, 8, &error), SLC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_twister_gives_the_published_numbers),
        cmocka_unit_test(macro_pixels_follow_the_numbers),
        cmocka_unit_test(denser_images_hold_sparser_ones),
        cmocka_unit_test(rows_may_go_upwards),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
