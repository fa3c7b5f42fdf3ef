/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels and features of photographs on a GPU, at thresholds from 0 to 256, against the oracle: scenes drawn
 * here, and the photograph of support/image_photograph.h. Where that is not installed, the program says so
 * and counts as skipped, the rest having passed; so it does without a device.
 */
#include "support/image_gpu.h"

#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_photograph.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = IMAGE_PHOTOGRAPH_SIDE };

static uint8_t photograph[SIDE * SIDE];

/* Every algorithm takes its turn, with all features that it can make. */
static void thresholds_expect(uint8_t *pixels, size_t width, size_t height, uint32_t step, const char *what)
{
    uint64_t seed = 1;
    size_t a = 0;
    double *value = malloc(width * height * sizeof *value);
    uint8_t *on = malloc(width * height);
    assert_true(value != NULL && on != NULL);
    for (uint32_t threshold = 0; threshold <= 256; threshold += step, a = (a + 1) % image_gpu_algorithms()) {
        const bool labels = slc_image_cuda_algorithm_labels(a);
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.exec.device = "cuda";
        config.algorithm = slc_image_cuda_algorithm_name(a);
        config.threshold = threshold;
        config.connectivity = random_below(&seed, 2) == 0 ? 8 : 4;
        config.features = labels ? SLC_IMAGE_ALL : IMAGE_GPU_PLAIN;
        config.features = slc_image_cuda_algorithm_features(a) ? config.features : 0;
        if (!image_gpu_wanted(a)) {
            continue;
        }
        for (size_t i = 0; i < width * height; i++) {
            value[i] = pixels[i];
            on[i] = pixels[i] >= threshold;
        }
        const image_input input = {.image = {pixels, width, height, (ptrdiff_t)width, SLC_IMAGE_U8},
                                   .threshold = threshold,
                                   .on = on,
                                   .value = value};
        const image_wish wish = {.foreground = true,
                                 .background = random_below(&seed, 2) == 0,
                                 .labels = labels,
                                 .components = config.features != 0,
                                 .type = SLC_TYPE_U32};
        slc_image_labeller *labeller = image_labeller_open(&config, width, height);
        image_run_expect(labeller, &config, &input, NULL, wish, &seed, what);
        slc_image_label_close(labeller);
    }
    free(value);
    free(on);
}

static void scenes(void **state)
{
    (void)state;
    static uint8_t grey[400 * 300];
    uint64_t seed = 2;
    for (size_t i = 0; i < image_gpu_count(15); i++) {
        const size_t width = 100 + random_below(&seed, 301), height = 100 + random_below(&seed, 201);
        image_scene(grey, width, height, &seed);
        thresholds_expect(grey, width, height, 11 + (uint32_t)i, "a scene");
    }
}

static void ascent(void **state)
{
    (void)state;
    if (image_photograph(photograph)) {
        thresholds_expect(photograph, SIDE, SIDE, image_gpu_count(100) < 100 ? 16 : 1, "ascent");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes),
        cmocka_unit_test(ascent),
    };
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    if (failed == 0 && !image_photograph(photograph)) {
        printf("SKIPPED: %s of Debian's python3-scipy cannot be read\n", image_photograph_path());
        return 77;
    }
    return failed;
}
