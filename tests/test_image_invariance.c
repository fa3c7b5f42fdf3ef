/* SPDX-License-Identifier: Apache-2.0
 *
 * One checksum of labels and components over all algorithms, instruction sets and numbers of threads.
 */
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_run.h"
#include "support/random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 640, MOST_HEIGHT = 480, MOST = MOST_WIDTH * MOST_HEIGHT };

typedef struct fixed_image {
    size_t width, height;
    uint8_t *pixels;
} fixed_image;

enum { IMAGES = 9 };
static fixed_image images[IMAGES];
static uint32_t labels[2][MOST];
static slc_image_components components[2];
static slc_column columns[SLC_IMAGE_COLUMNS];
static slc_schema schema;

/* Scenes, macro-pixels from fine to coarse, shapes that merge late; some of few rows, so that there are more
 * threads than rows. */
static int make_images(void **state)
{
    (void)state;
    static const size_t shapes[IMAGES][2] = {{MOST_WIDTH, MOST_HEIGHT},
                                             {300, 300},
                                             {257, 255},
                                             {500, 100},
                                             {64, 480},
                                             {333, 7},
                                             {640, 3},
                                             {1, 480},
                                             {129, 64}};
    uint64_t seed = 42;
    for (size_t i = 0; i < IMAGES; i++) {
        const size_t width = shapes[i][0], height = shapes[i][1];
        images[i] = (fixed_image){width, height, malloc(width * height)};
        if (images[i].pixels == NULL) {
            return 1;
        }
        if (i == 0) {
            image_scene(images[i].pixels, width, height, &seed);
        } else if (i < 5) {
            image_macro_pixels(images[i].pixels, width, height, 1U << (i - 1), 40 + 5 * (uint32_t)i, &seed);
        } else {
            (void)image_pattern_any(images[i].pixels, width, height, &seed);
        }
        for (size_t k = 0; i > 0 && k < width * height; k++) { /* both sides of the threshold of 100 */
            images[i].pixels[k] = images[i].pixels[k] != 0 ? 200 : 3;
        }
    }
    schema = slc_image_components_schema(SLC_IMAGE_ALL, columns);
    return slc_columns_reserve(&schema, &components[0], MOST, 1) != SLC_OK ||
           slc_columns_reserve(&schema, &components[1], MOST, 1) != SLC_OK;
}

static int drop_images(void **state)
{
    (void)state;
    for (size_t i = 0; i < IMAGES; i++) {
        free(images[i].pixels);
    }
    slc_columns_clear(&schema, &components[0]);
    slc_columns_clear(&schema, &components[1]);
    return 0;
}

static uint64_t hash(const void *bytes, size_t size, uint64_t seed)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++) {
        seed = (seed ^ at[i]) * 1099511628211ULL;
    }
    return seed;
}

/* Labels and features of all images, both sides. */
static uint64_t checksum(const slc_image_label_config *config)
{
    slc_image_labeller *labeller = NULL;
    slc_error error;
    if (slc_image_label_open(config, &labeller, &error) != SLC_OK ||
        slc_image_label_reserve(labeller, MOST_WIDTH, MOST_HEIGHT, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    uint64_t sum = SLC_CHECKSUM_START;
    for (size_t i = 0; i < IMAGES; i++) {
        const slc_image image = {images[i].pixels, images[i].width, images[i].height,
                                 (ptrdiff_t)images[i].width, SLC_IMAGE_U8};
        slc_image_labels side[2];
        for (size_t s = 0; s < 2; s++) {
            slc_columns_reset(&components[s]);
            side[s] = (slc_image_labels){.labels = labels[s],
                                         .stride = (ptrdiff_t)(4 * images[i].width),
                                         .type = SLC_TYPE_U32,
                                         .components = &components[s]};
        }
        if (slc_image_label_run(labeller, &image, NULL, &side[0], &side[1], &error) != SLC_OK) {
            fail_msg("image %zu: %s", i, error.text);
        }
        for (size_t s = 0; s < 2; s++) {
            sum = hash(&side[s].n_labels, sizeof side[s].n_labels, sum);
            sum = hash(labels[s], 4 * images[i].width * images[i].height, sum);
            sum = slc_columns_checksum(&schema, &components[s], 0, sum);
        }
    }
    slc_image_label_close(labeller);
    return sum;
}

/* Numbers of threads, every target and every algorithm; without vectors, on one target. */
static size_t all_alike(slc_image_label_config config, uint64_t wanted)
{
    size_t runs = 0;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        config.algorithm = slc_image_algorithm_name(a);
        for (int t = SLC_SIMD_AUTO; t < SLC_SIMD_TARGETS; t++) {
            config.exec.target = (slc_simd_target)t;
            if (t != SLC_SIMD_AUTO && (!slc_simd_runs(config.exec.target) || !slc_image_algorithm_simd(a))) {
                continue;
            }
            /* Not every number with sanitizers, which are slow, nor on each target again. */
            const uint32_t step = image_test_count(100) < 100 || t != SLC_SIMD_AUTO ? 3 : 1;
            for (config.exec.threads = 1; config.exec.threads <= 8; config.exec.threads += step, runs++) {
                const uint64_t found = checksum(&config);
                if (found != wanted) {
                    fail_msg("%s on %s, %u-connected, with %u threads: %016llx, not %016llx",
                             config.algorithm, slc_simd_name(config.exec.target), config.connectivity,
                             config.exec.threads, (unsigned long long)found, (unsigned long long)wanted);
                }
            }
        }
    }
    return runs;
}

static void one_checksum(void **state)
{
    (void)state;
    for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.connectivity = connectivity;
        config.threshold = 100;
        config.features = SLC_IMAGE_ALL;
        config.algorithm = slc_image_algorithm_name(0);
        const uint64_t wanted = checksum(&config);
        const size_t runs = all_alike(config, wanted);
        assert_true(runs >= 16);
        print_message("%u-connected: %016llx from %zu configurations\n", connectivity,
                      (unsigned long long)wanted, runs);
    }
}

/* As many threads as the machine has, and the filters, give what one thread gives. */
static void filters_and_all_processors(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.threshold = 100;
    config.features = SLC_IMAGE_ALL;
    config.min_area = 2;
    config.max_area = 400;
    config.border = SLC_IMAGE_BORDER_INSIDE;
    const uint64_t wanted = checksum(&config);
    config.exec.threads = 0;
    assert_true(checksum(&config) == wanted);
    config.exec.threads = 5;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        config.algorithm = slc_image_algorithm_name(a);
        assert_true(checksum(&config) == wanted);
    }
    config.max_area = 399;
    config.border = SLC_IMAGE_BORDER_ANY;
    assert_true(checksum(&config) != wanted);
}

/* ---- several labellers at once ----------------------------------------------------------------- */

enum { LABELLERS = 4, ROUNDS = 20 };

typedef struct lone_labeller {
    slc_image_label_config config;
    uint32_t *labels;
    uint32_t n[ROUNDS];
    bool good;
} lone_labeller;

/* The first images again and again; what came out is compared when all have ended. */
static void *work(void *context)
{
    lone_labeller *lone = context;
    slc_image_labeller *labeller = NULL;
    lone->good = slc_image_label_open(&lone->config, &labeller, NULL) == SLC_OK &&
                 slc_image_label_reserve(labeller, MOST_WIDTH, MOST_HEIGHT, NULL) == SLC_OK;
    for (size_t k = 0; lone->good && k < ROUNDS; k++) {
        const fixed_image *from = &images[(k + 1) % 2];
        const slc_image image = {from->pixels, from->width, from->height, (ptrdiff_t)from->width,
                                 SLC_IMAGE_U8};
        slc_image_labels out = {.labels = lone->labels, .stride = 4 * MOST_WIDTH, .type = SLC_TYPE_U32};
        lone->good = slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL) == SLC_OK;
        lone->n[k] = out.n_labels;
    }
    slc_image_label_close(labeller);
    return NULL;
}

static void labellers_at_the_same_time(void **state)
{
    (void)state;
    pthread_t threads[LABELLERS];
    lone_labeller lone[LABELLERS];
    memset(lone, 0, sizeof lone);
    for (size_t i = 0; i < LABELLERS; i++) {
        slc_image_label_config_default(&lone[i].config);
        lone[i].config.threshold = 100;
        lone[i].config.exec.threads = 1 + (uint32_t)i % 2;
        lone[i].config.algorithm = i == 3 ? slc_image_algorithm_name(0) : NULL;
        lone[i].labels = calloc(MOST, sizeof(uint32_t));
        assert_non_null(lone[i].labels);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &lone[i]), 0);
    }
    for (size_t i = 0; i < LABELLERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (size_t i = 0; i < LABELLERS; i++) {
        assert_true(lone[i].good);
        assert_memory_equal(lone[i].n, lone[0].n, sizeof lone[i].n);
        assert_memory_equal(lone[i].labels, lone[0].labels, MOST * sizeof(uint32_t));
        assert_true(lone[i].n[0] > 10);
    }
    for (size_t i = 0; i < LABELLERS; i++) {
        free(lone[i].labels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_checksum),
        cmocka_unit_test(filters_and_all_processors),
        cmocka_unit_test(labellers_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, make_images, drop_images);
}
