/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels of small images against flood fill: every image of up to 4 x 4 pixels and a third of those of 4 x 5
 * on every instruction set, those of up to 16 pixels by every algorithm, and a million random ones of 5 x 5
 * to 9 x 9.
 */
#include "support/cmocka_all.h"
#include "support/image_run.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 81 };

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

/* ---- small images ------------------------------------------------------------------------------ */

/* The eight bits of a number as eight bytes of 0 and 1; larger images take several. */
static void unpack(uint32_t bits, size_t n, uint8_t *on)
{
    for (size_t i = 0; i < n; i++) {
        on[i] = bits >> i & 1;
    }
}

static void small_failure(const slc_image_label_config *config, const uint8_t *on, size_t width,
                          size_t height, uint32_t found, uint32_t wanted)
{
    char picture[SMALL + 10] = "";
    for (size_t i = 0; i < width * height; i++) {
        (void)strcat(picture, on[i] ? "#" : ".");
        if (i % width == width - 1 && i + 1 < width * height) {
            (void)strcat(picture, "/");
        }
    }
    fail_msg("%s: %s: %u labels, not %u, or in other places", image_config_text(config), picture, found,
             wanted);
}

/* Without the care of image_run_expect, whose time would be a hundred times as long. */
static void small_expect(slc_image_labeller *labeller, const slc_image_label_config *config,
                         const uint8_t *on, size_t width, size_t height, uint32_t n, const uint32_t *wanted)
{
    uint32_t labels[SMALL + 1];
    memset(labels, 0xff, sizeof labels);
    const slc_image image = {on, width, height, (ptrdiff_t)width, SLC_IMAGE_U8};
    slc_image_labels out = {.labels = labels, .stride = (ptrdiff_t)(4 * width), .type = SLC_TYPE_U32};
    slc_error error;
    if (slc_image_label_run(labeller, &image, NULL, &out, NULL, &error) != SLC_OK) {
        fail_msg("%s, %zu x %zu: %s", image_config_text(config), width, height, error.text);
    }
    if (out.n_labels != n || memcmp(labels, wanted, width * height * sizeof *labels) != 0 ||
        labels[width * height] != UINT32_MAX) {
        small_failure(config, on, width, height, out.n_labels, n);
    }
}

typedef struct small_labeller {
    slc_image_label_config config;
    slc_image_labeller *labeller;
} small_labeller;

/* `algorithm` (NULL: auto) for both connectivities on all targets, or on one where it has no vectors. */
static size_t open_all(const char *algorithm, bool simd, small_labeller *all)
{
    size_t n = 0;
    for (size_t t = 0; t < (simd ? n_targets : 1); t++) {
        for (uint32_t connectivity = 4; connectivity <= 8; connectivity += 4) {
            slc_image_label_config_default(&all[n].config);
            all[n].config.algorithm = algorithm;
            all[n].config.connectivity = connectivity;
            all[n].config.exec.target = simd ? targets[t] : SLC_SIMD_AUTO;
            all[n].labeller = image_labeller_open(&all[n].config, 12, 12);
            n++;
        }
    }
    return n;
}

static void close_all(small_labeller *all, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        slc_image_label_close(all[i].labeller);
    }
}

/* Every image of a shape, `step` apart, on all of these labellers. */
static void every_image(const small_labeller *all, size_t n, size_t width, size_t height, uint32_t step)
{
    uint8_t on[SMALL];
    uint32_t wanted[2][SMALL], count[2];
    for (uint32_t bits = 0; bits < 1U << width * height; bits += step) {
        unpack(bits, width * height, on);
        count[0] = oracle_image_label(on, width, height, 4, wanted[0]);
        count[1] = oracle_image_label(on, width, height, 8, wanted[1]);
        for (size_t i = 0; i < n; i++) {
            const size_t c = all[i].config.connectivity == 8;
            small_expect(all[i].labeller, &all[i].config, on, width, height, count[c], wanted[c]);
        }
    }
}

static void every_small_image_by_default(void **state)
{
    (void)state;
    small_labeller all[2 * SLC_SIMD_TARGETS];
    const size_t n = open_all(NULL, true, all);
    for (size_t width = 1; width <= 5; width++) {
        for (size_t height = 1; height <= 5; height++) {
            if (width * height <= 20) {
                /* In odd steps, so that all pixels vary: every third of 20 pixels, whose parts of 16 were all
                 * there; with sanitizers fewer, and only some of 16. */
                const size_t pixels = width * height, odd = image_test_step(pixels > 16 ? 3 : 1) | 1;
                const uint32_t step = pixels < 16 ? 1 : (uint32_t)odd;
                every_image(all, n, width, height, step);
            }
        }
    }
    close_all(all, n);
}

static void every_4x4_image_by_all(void **state)
{
    (void)state;
    small_labeller all[2 * SLC_SIMD_TARGETS];
    for (size_t a = 0; a < n_algorithms; a++) {
        const size_t n = open_all(slc_image_algorithm_name(a), slc_image_algorithm_simd(a), all);
        const uint32_t step = (uint32_t)image_test_step(1) | 1;
        every_image(all, n, 4, 4, step);
        every_image(all, n, 5, 3, step);
        every_image(all, n, 3, 5, step);
        every_image(all, n, 1, 12, 1);
        every_image(all, n, 12, 1, 1);
        close_all(all, n);
    }
}

/* Labellers take turns, so that each meets many images. */
static void random_small(const small_labeller *all, size_t n, size_t images, uint64_t seed)
{
    uint8_t on[SMALL];
    uint32_t wanted[SMALL];
    for (size_t i = 0; i < images; i++) {
        const small_labeller *one = &all[i % n];
        const size_t width = 5 + random_below(&seed, 5), height = 5 + random_below(&seed, 5);
        const uint32_t percent = 20 + random_below(&seed, 61);
        for (size_t k = 0; k < width * height; k++) {
            on[k] = random_below(&seed, 100) < percent;
        }
        const uint32_t count = oracle_image_label(on, width, height, one->config.connectivity, wanted);
        small_expect(one->labeller, &one->config, on, width, height, count, wanted);
    }
}

static void a_million_small_images(void **state)
{
    (void)state;
    small_labeller all[2 * SLC_SIMD_TARGETS];
    size_t n = open_all(NULL, true, all);
    random_small(all, n, image_test_count(1000000), 1);
    close_all(all, n);
    for (size_t a = 0; a < n_algorithms; a++) {
        n = open_all(slc_image_algorithm_name(a), slc_image_algorithm_simd(a), all);
        random_small(all, n, image_test_count(20000) * n / 2, 2 + a);
        close_all(all, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_image_by_default),
        cmocka_unit_test(every_4x4_image_by_all),
        cmocka_unit_test(a_million_small_images),
    };
    return cmocka_run_group_tests(tests, find_targets, NULL);
}
