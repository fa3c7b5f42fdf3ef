/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels and features of photographs at many thresholds, against the oracle: scenes drawn here, and the
 * photograph of support/image_photograph.h. Where that is not installed, the program says so and counts as
 * skipped, the rest having passed.
 */
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_photograph.h"
#include "support/image_run.h"
#include "support/near.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = IMAGE_PHOTOGRAPH_SIDE };

static uint8_t photograph[SIDE * SIDE];

/* ---- thresholds -------------------------------------------------------------------------------- */

static image_input plain_input(const uint8_t *pixels, size_t width, size_t height, double threshold)
{
    image_input input = {.image = {pixels, width, height, (ptrdiff_t)width, SLC_IMAGE_U8},
                         .threshold = threshold,
                         .on = malloc(width * height),
                         .value = malloc(width * height * sizeof *input.value)};
    assert_non_null(input.on);
    assert_non_null(input.value);
    for (size_t i = 0; i < width * height; i++) {
        input.value[i] = pixels[i];
        input.on[i] = pixels[i] >= threshold;
    }
    return input;
}

static void thresholds_expect(const uint8_t *pixels, size_t width, size_t height, uint32_t step,
                              const char *what)
{
    uint64_t seed = 1;
    uint32_t k = 0;
    size_t n_algorithms = 0;
    while (slc_image_algorithm_name(n_algorithms) != NULL) {
        n_algorithms++;
    }
    for (uint32_t threshold = 0; threshold <= 256; threshold += step, k++) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.threshold = threshold;
        config.connectivity = k % 2 ? 4 : 8;
        config.exec.threads = 1 + k % 3;
        config.algorithm = k % 3 == 0 ? slc_image_algorithm_name(k / 3 % n_algorithms) : NULL;
        config.features = k % 4 == 3 ? 0 : SLC_IMAGE_ALL;
        image_input input = plain_input(pixels, width, height, threshold);
        slc_image_labeller *labeller = image_labeller_open(&config, width, height);
        const image_wish wish = {.foreground = true,
                                 .background = k % 2 != 0,
                                 .labels = true,
                                 .components = true,
                                 .type = SLC_TYPE_U32};
        image_run_expect(labeller, &config, &input, NULL, wish, &seed, what);
        slc_image_label_close(labeller);
        image_input_clear(&input);
    }
}

static void scenes(void **state)
{
    (void)state;
    static uint8_t grey[400 * 300];
    uint64_t seed = 2;
    for (size_t i = 0; i < image_test_count(10); i++) {
        const size_t width = 100 + random_below(&seed, 301), height = 100 + random_below(&seed, 201);
        image_scene(grey, width, height, &seed);
        thresholds_expect(grey, width, height, 11 + (uint32_t)i, "a scene");
    }
}

static void ascent(void **state)
{
    (void)state;
    if (!image_photograph(photograph)) {
        return;
    }
    /* It is the photograph: its mean is 87.48, as NumPy tells of scipy.misc.ascent(). */
    double mean = 0;
    for (size_t i = 0; i < sizeof photograph; i++) {
        mean += photograph[i];
    }
    assert_near(mean / sizeof photograph, 87.48, 0.005);
    thresholds_expect(photograph, SIDE, SIDE, (uint32_t)(image_test_step(9)), "ascent");
}

/* ---- Otsu's threshold -------------------------------------------------------------------------- */

/* The variance between the classes, times the square of the number of pixels, from the definition. */
static long double between(const uint8_t *pixels, size_t n, uint32_t threshold)
{
    long double count[2] = {0, 0}, sum[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        count[pixels[i] >= threshold]++;
        sum[pixels[i] >= threshold] += pixels[i];
    }
    if (count[0] == 0 || count[1] == 0) {
        return 0;
    }
    const long double apart = sum[0] / count[0] - sum[1] / count[1];
    return count[0] * count[1] * apart * apart;
}

static void otsu_expect(const uint8_t *pixels, size_t width, size_t height)
{
    const slc_image image = {pixels, width, height, (ptrdiff_t)width, SLC_IMAGE_U8};
    double threshold = -1;
    slc_error error;
    assert_int_equal(slc_image_otsu(&image, &threshold, &error), SLC_OK);
    long double best = 0;
    for (uint32_t t = 1; t < 256; t++) {
        const long double here = between(pixels, width * height, t);
        best = here > best ? here : best;
    }
    assert_true(threshold >= 1 && threshold <= 255 && threshold == (double)(uint32_t)threshold);
    const long double found = between(pixels, width * height, (uint32_t)threshold);
    assert_near((double)(found / best), 1, 1e-12);
}

static void otsu(void **state)
{
    (void)state;
    static uint8_t grey[200 * 120];
    uint64_t seed = 3;
    for (size_t i = 0; i < image_test_count(40); i++) {
        const size_t width = 2 + random_below(&seed, 199), height = 2 + random_below(&seed, 119);
        image_scene(grey, width, height, &seed);
        otsu_expect(grey, width, height);
    }
    if (image_photograph(photograph)) {
        otsu_expect(photograph, SIDE, SIDE);
    }
    /* Two values: anything between them separates them, and the middle is taken. */
    for (size_t i = 0; i < sizeof grey; i++) {
        grey[i] = i % 3 == 0 ? 10 : 21;
    }
    const slc_image two = {grey, 200, 120, 200, SLC_IMAGE_U8};
    double threshold;
    assert_int_equal(slc_image_otsu(&two, &threshold, NULL), SLC_OK);
    assert_near(threshold, 16, 0);
    /* Of an even number of thresholds the lower of the two in the middle: 11 to 20. */
    for (size_t i = 0; i < sizeof grey; i++) {
        grey[i] = i % 3 == 0 ? 10 : 20;
    }
    assert_int_equal(slc_image_otsu(&two, &threshold, NULL), SLC_OK);
    assert_near(threshold, 15, 0);
    memset(grey, 77, sizeof grey);
    assert_int_equal(slc_image_otsu(&two, &threshold, NULL), SLC_OK);
    assert_near(threshold, 78, 0);
    slc_image bits = two;
    bits.type = SLC_IMAGE_BITS;
    assert_int_equal(slc_image_otsu(&bits, &threshold, NULL), SLC_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes),
        cmocka_unit_test(ascent),
        cmocka_unit_test(otsu),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0 && !image_photograph(photograph)) {
        printf("SKIPPED: %s of Debian's python3-scipy cannot be read\n", image_photograph_path());
        return 77;
    }
    return failed;
}
