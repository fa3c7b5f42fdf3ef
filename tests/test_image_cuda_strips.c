/* SPDX-License-Identifier: Apache-2.0
 *
 * Images for which a GPU has too little memory, and images that several GPUs share: strips that are joined,
 * against the oracle, for memory that is barely enough for a row up to memory for all. Skipped without a
 * device; where there is one alone, it plays several.
 */
#include "support/image_gpu.h"

#include "cuda/cuda_rows.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 150 };

static uint8_t drawn[MOST * MOST * 4];

/* ---- how much memory --------------------------------------------------------------------------- */

static bool enough(slc_image_label_config config, size_t bytes, size_t width, size_t height)
{
    config.device_memory = bytes;
    slc_image_labeller *labeller = NULL;
    slc_error error = {0};
    slc_status status = slc_image_label_open(&config, &labeller, &error);
    status = status == SLC_OK ? slc_image_label_reserve(labeller, width, height, &error) : status;
    if (status != SLC_OK && status != SLC_ERR_MEMORY) {
        fail_msg("%s, %zu bytes: %s: %s", image_config_text(&config), bytes, slc_status_name(status),
                 error.text);
    }
    if (status == SLC_ERR_MEMORY) {
        assert_non_null(strstr(error.text, "GPU"));
    }
    slc_image_label_close(labeller);
    return status == SLC_OK;
}

/* The least memory, about, that an image of that size can be reserved with. */
static size_t least_memory(const slc_image_label_config *config, size_t width, size_t height)
{
    size_t low = 0, high = (size_t)1 << 16; /* from below: the emulator fills all that is reserved */
    while (high < (size_t)1 << 30 && !enough(*config, high, width, height)) {
        low = high;
        high *= 2;
    }
    while (high - low > 256) {
        const size_t middle = low + (high - low) / 2;
        if (enough(*config, middle, width, height)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

/* What a labeller holds of the device is no more than it was told. Other programs may be on a real one. */
static size_t free_bytes(void)
{
    size_t bytes = 0;
#ifdef SLUICE_SIMT
    assert_int_equal(slc_cuda_free_bytes(image_gpu_stream(), &bytes, NULL), SLC_OK);
#endif
    return bytes;
}

/* ---- strips ------------------------------------------------------------------------------------ */

/* What can be done by strips of an algorithm that makes labels. */
static void draw(size_t algorithm, slc_image_type type, slc_image_label_config *config, image_wish *wish,
                 uint64_t *seed)
{
    image_gpu_draw(algorithm, type, config, wish, seed);
    config->features &= IMAGE_GPU_PLAIN;
    wish->components = config->features != 0;
    wish->labels = wish->labels || random_below(seed, 2) == 0;
}

static void strips_run(size_t algorithm, const char *device, uint64_t *seed)
{
    const slc_image_type type = image_gpu_type(seed);
    slc_image_label_config config;
    image_wish wish;
    draw(algorithm, type, &config, &wish, seed);
    config.exec.device = device;
    size_t width, height;
    image_gpu_shape(image_gpu_side(MOST), &width, &height, seed);
    const char *what = image_pattern_any(drawn, width, height, seed);
    image_input input;
    image_input_make(&input, drawn, width, height, type, config.threshold, seed);
    const size_t least = least_memory(&config, width, height);
    static const double more[] = {1, 1.3, 2, 4, 20};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        config.device_memory = (size_t)(more[i] * (double)least);
        const size_t before = free_bytes();
        slc_image_labeller *labeller = image_labeller_open(&config, width, height);
        image_run_expect(labeller, &config, &input, NULL, wish, seed, what);
        image_run_expect(labeller, &config, &input, NULL, wish, seed, what);
        assert_true(before - free_bytes() <= config.device_memory);
        if (strcmp(device, "cuda") == 0) {
            const uint32_t places = random_below(seed, 8);
            wish.components = wish.components && config.features != 0;
            image_gpu_run_expect(labeller, &config, &input, wish, places, seed);
        }
        slc_image_label_close(labeller);
    }
    image_input_clear(&input);
}

static void little_memory(void **state)
{
    (void)state;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        uint64_t seed = 40 + a;
        const bool labels = slc_image_cuda_algorithm_labels(a) && image_gpu_wanted(a);
        for (size_t i = 0; labels && i < image_gpu_count(12); i++) {
            strips_run(a, "cuda", &seed);
        }
    }
}

static void several_devices(void **state)
{
    (void)state;
    const uint32_t n = slc_cuda_devices(NULL);
    static const char *const alone[] = {"cuda:0,0", "cuda:0,0,0"};
    static const char *const both[] = {"cuda:0,1", "cuda:1,0", "cuda:1", "cuda:1,1,0"};
    const char *const *devices = n > 1 ? both : alone;
    const size_t kinds = n > 1 ? sizeof both / sizeof *both : sizeof alone / sizeof *alone;
    for (size_t a = 0; a < image_gpu_algorithms(); a++) {
        uint64_t seed = 60 + a;
        const bool labels = slc_image_cuda_algorithm_labels(a) && image_gpu_wanted(a);
        for (size_t i = 0; labels && i < image_gpu_count(12); i++) {
            strips_run(a, devices[i % kinds], &seed);
        }
    }
}

/* One labeller for images that fit and images that do not. */
static void images_of_all_sizes(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (size_t i = 0; i < image_gpu_count(40); i++) {
        slc_image_label_config config;
        image_wish wish;
        draw(0, SLC_IMAGE_U8, &config, &wish, &seed);
        const size_t most = image_gpu_side(MOST);
        config.device_memory = 2 * least_memory(&config, most + 33, most + 33);
        slc_image_labeller *labeller = image_labeller_open(&config, most + 33, most + 33);
        for (int k = 0; k < 6; k++) {
            size_t width, height;
            image_gpu_shape(most, &width, &height, &seed);
            (void)image_pattern_any(drawn, width, height, &seed);
            image_input input;
            image_input_make(&input, drawn, width, height, SLC_IMAGE_U8, config.threshold, &seed);
            image_run_expect(labeller, &config, &input, NULL, wish, &seed, "sizes");
            image_input_clear(&input);
        }
        slc_image_label_close(labeller);
    }
}

/* ---- refusals ---------------------------------------------------------------------------------- */

static void open_refused(const char *device, slc_status wanted)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = device;
    slc_image_labeller *labeller = NULL;
    slc_error error = {0};
    const slc_status status = slc_image_label_open(&config, &labeller, &error);
    if (status != wanted || strstr(error.text, "device") == NULL || labeller != NULL) {
        fail_msg("device \"%s\": %s and not %s: %s", device, slc_status_name(status), slc_status_name(wanted),
                 error.text);
    }
}

static void refusals(void **state)
{
    (void)state;
    open_refused("cuda:0,", SLC_ERR_USAGE);
    open_refused("cuda:0,x", SLC_ERR_USAGE);
    open_refused("cuda:0,,0", SLC_ERR_USAGE);
    open_refused("gpu", SLC_ERR_USAGE);
    open_refused("cuda:0,1000", SLC_ERR_UNSUPPORTED);
    /* Features that strips cannot add up. */
    uint64_t seed = 1;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.exec.device = "cuda";
    config.features = SLC_IMAGE_PERIMETER;
    image_macro_pixels(drawn, 100, 100, 1, 50, &seed);
    config.device_memory = 2 * least_memory(&config, 100, 100);
    slc_image_labeller *labeller = image_labeller_open(&config, 100, 100);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config.features, columns);
    slc_image_components components = {.area = NULL};
    assert_int_equal(slc_columns_reserve(&schema, &components, 5000, 1), SLC_OK);
    const slc_image image = {drawn, 100, 100, 100, SLC_IMAGE_U8};
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &components};
    slc_error error = {0};
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "strips"));
    assert_int_equal(components.head.n_events, 0);
    slc_image_label_close(labeller);
    slc_columns_clear(&schema, &components);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_memory),
        cmocka_unit_test(several_devices),
        cmocka_unit_test(images_of_all_sizes),
        cmocka_unit_test(refusals),
    };
#ifdef SLUICE_SIMT
    (void)setenv("SLUICE_SIMT_DEVICES", "2", 0);
#endif
    if (!image_gpu_there()) {
        return 77;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    image_gpu_done();
    return failed;
}
