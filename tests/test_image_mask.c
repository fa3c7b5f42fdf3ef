/* SPDX-License-Identifier: Apache-2.0
 * What becomes foreground: every rule on random images of every type and layout, on patterns and scenes, on
 * every instruction set and number of threads, against an oracle that looks at single pixels. */
#include "oracle/image_mask_oracle.h"
#include "support/cmocka_all.h"
#include "support/guard_page.h"
#include "support/image_patterns.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    assert_non_null(memory);
    return memory;
}

/* ---- one image --------------------------------------------------------------------------------- */

static double *values_of(const slc_image *image)
{
    double *values = take(image->width * image->height * sizeof *values);
    for (size_t y = 0; y < image->height; y++) {
        for (size_t x = 0; x < image->width; x++) {
            values[y * image->width + x] = image_pixel(image, x, y);
        }
    }
    return values;
}

/* Bytes that do not belong to the mask stay as they are, and bits behind the last pixel are 0. */
static void compare(const slc_image_mask_config *config, const slc_image *image, const slc_image *within,
                    const uint8_t *on, const char *what)
{
    slc_error error = {.text = ""};
    const size_t bytes = (image->width + 7) / 8, stride = bytes + 3;
    uint8_t *room = take(stride * image->height);
    memset(room, 0xA5, stride * image->height);
    /* From the bottom up: strides may be negative. */
    uint8_t *mask = room + stride * (image->height - 1);
    assert_int_equal(slc_image_mask_make(config, image, within, mask, -(ptrdiff_t)stride, &error), SLC_OK);
    for (size_t y = 0; y < image->height; y++) {
        const uint8_t *row = mask - stride * y;
        for (size_t x = 0; x < 8 * bytes; x++) {
            const int want = x < image->width ? on[y * image->width + x] : 0;
            if ((row[x / 8] >> x % 8 & 1) != want) {
                fail_msg(
                    "%s: rule %d, %g to %g, holes %llu, connectivity %u, %s: pixel (%zu, %zu) of %zu x %zu "
                    "is not %d",
                    what, (int)config->rule, config->low, config->high,
                    (unsigned long long)config->max_hole_area, config->connectivity,
                    slc_simd_name(config->exec.target), x, y, image->width, image->height, want);
            }
        }
        for (size_t i = bytes; i < stride && y > 0; i++) {
            assert_int_equal(row[i], 0xA5);
        }
    }
    free(room);
}

static void check(slc_image_mask_config config, const slc_image *image, const slc_image *within,
                  const char *what)
{
    double *values = values_of(image), *in = within != NULL ? values_of(within) : NULL;
    uint8_t *on = take(image->width * image->height);
    for (size_t i = 0; i < image->width * image->height && config.rule >= SLC_IMAGE_RULE_MEAN; i++) {
        on[i] = image_mask_local_oracle(&config, image, i % image->width, i / image->width);
    }
    image_mask_oracle(&config, image->type == SLC_IMAGE_BITS, values, in, image->width, image->height, on);
    for (slc_simd_target target = SLC_SIMD_AUTO; target < SLC_SIMD_TARGETS; target++) {
        if (target == SLC_SIMD_AUTO || slc_simd_runs(target)) {
            config.exec.target = target;
            compare(&config, image, within, on, what);
        }
    }
    free(values);
    free(in);
    free(on);
}

/* ---- random images ----------------------------------------------------------------------------- */

/* The last row ends where memory does. */
static slc_image random_image(guard_page *page, slc_image_type type, size_t width, size_t height,
                              uint32_t levels, uint64_t *seed)
{
    const size_t row = slc_image_row_bytes(type, width), unit = type == SLC_IMAGE_BITS ? 1 : row / width;
    const size_t stride = row + unit * random_below(seed, 3);
    const size_t bytes = stride * (height - 1) + row;
    char *first = take(bytes);
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < (type == SLC_IMAGE_BITS ? row : width); x++) {
            const uint32_t value = random_below(seed, levels);
            char *at = first + y * stride;
            const uint64_t high = random_below(seed, 8) == 0 ? 1 : 0; /* the largest there is */
            if (type == SLC_IMAGE_U8) {
                ((uint8_t *)at)[x] = (uint8_t)(high != 0 ? UINT8_MAX : value);
            } else if (type == SLC_IMAGE_U16) {
                ((uint16_t *)(void *)at)[x] = (uint16_t)(high != 0 ? UINT16_MAX : value);
            } else if (type == SLC_IMAGE_U32) {
                ((uint32_t *)(void *)at)[x] = high != 0 ? UINT32_MAX : value;
            } else if (type == SLC_IMAGE_F32) {
                const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 0x1p-149F, 0.1F, -3.0F, 1e38F};
                ((float *)(void *)at)[x] = high != 0 ? odd[random_below(seed, 8)] : (float)value / 4;
            } else {
                ((uint8_t *)at)[x] = (uint8_t)random_below(seed, 256);
            }
        }
    }
    *page = guard_page_open(bytes);
    assert_non_null(page->mapping);
    const slc_image image = {guard_page_copy(page, first, bytes), width, height, (ptrdiff_t)stride, type};
    free(first);
    return image;
}

static double random_level(uint32_t levels, uint64_t *seed)
{
    const double odd[] = {-INFINITY, INFINITY,     -1,    0,     0.1,    255,
                          65535,     4294967295.0, 254.5, 1e300, -1e300, 0x1p-149};
    return random_below(seed, 4) == 0 ? odd[random_below(seed, 12)] : random_below(seed, 4 * levels) / 4.0;
}

static void test_random(void **state)
{
    uint64_t seed = 20261124;
    (void)state;
    for (int i = 0; i < (test_small() ? 600 : 3000); i++) {
        slc_image_mask_config config;
        guard_page page, other;
        const slc_image_type type = (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES);
        const uint32_t levels = 2 + random_below(&seed, 12);
        const size_t width = 1 + random_below(&seed, i % 4 == 0 ? 200 : 20),
                     height = 1 + random_below(&seed, 16);
        slc_image_mask_config_default(&config);
        const double a = random_level(levels, &seed), b = random_level(levels, &seed);
        config.rule = type == SLC_IMAGE_BITS ? SLC_IMAGE_RULE_LEAST
                                             : (slc_image_rule)random_below(&seed, SLC_IMAGE_RULES);
        const bool narrow = type == SLC_IMAGE_U8 || type == SLC_IMAGE_U16;
        if (config.rule >= SLC_IMAGE_RULE_MEAN && !narrow) {
            config.rule = SLC_IMAGE_RULE_BAND;
        }
        config.window = 1 + 2 * random_below(&seed, i % 3 == 0 ? 30 : 4);
        config.offset = ((double)random_below(&seed, 41) - 20) / (i % 2 == 0 ? 1 : 9);
        config.k = (double)random_below(&seed, 9) / 10 - 0.2;
        config.range = random_below(&seed, 2) * (1 + random_below(&seed, 200));
        config.low = a < b ? a : b;
        config.high = a < b ? b : a;
        config.connectivity = random_below(&seed, 2) == 0 ? 4 : 8;
        config.max_hole_area = random_below(&seed, 2) == 0   ? 0
                               : random_below(&seed, 2) == 0 ? UINT64_MAX
                                                             : random_below(&seed, 9);
        const slc_image image = random_image(&page, type, width, height, levels, &seed);
        const bool masked = random_below(&seed, 3) == 0;
        slc_image within;
        if (masked) {
            within = random_image(&other, (slc_image_type)random_below(&seed, SLC_IMAGE_TYPES), width, height,
                                  3, &seed);
        }
        check(config, &image, masked ? &within : NULL, "random");
        guard_page_close(&page);
        if (masked) {
            guard_page_close(&other);
        }
    }
}

/* ---- patterns and scenes ----------------------------------------------------------------------- */

static void test_patterns(void **state)
{
    enum { WIDTH = 67, HEIGHT = 43 };
    static uint8_t pixels[WIDTH * HEIGHT];
    const slc_image image = {pixels, WIDTH, HEIGHT, WIDTH, SLC_IMAGE_U8};
    uint64_t seed = 7;
    (void)state;
    for (const image_pattern *p = image_patterns; p->name != NULL; p++) {
        for (int k = 0; k < 8; k++) {
            slc_image_mask_config config;
            slc_image_mask_config_default(&config);
            p->draw(pixels, WIDTH, HEIGHT, &seed);
            config.connectivity = k % 2 == 0 ? 4 : 8;
            config.max_hole_area = k / 2 % 2 == 0 ? UINT64_MAX : 5;
            if (k >= 4) { /* a few seeds */
                for (int i = 0; i < 20; i++) {
                    pixels[random_below(&seed, WIDTH * HEIGHT)] = 2;
                }
                config.rule = SLC_IMAGE_RULE_HYSTERESIS;
                config.high = 2;
            }
            check(config, &image, NULL, p->name);
        }
    }
}

/* Large enough for several strips, whose borders many components cross. */
static void test_threads(void **state)
{
    const size_t width = 1111, height = 1300;
    uint64_t seed = 99;
    uint8_t *grey = take(width * height), *on = take(width * height);
    slc_image image = {grey, width, height, (ptrdiff_t)width, SLC_IMAGE_U8};
    (void)state;
    for (int k = 0; k < 4; k++) {
        slc_image_mask_config config;
        slc_image_mask_config_default(&config);
        if (k < 2) {
            image_scene(grey, width, height, &seed);
        } else { /* noise near where it percolates */
            for (size_t i = 0; i < width * height; i++) {
                grey[i] = (uint8_t)(random_below(&seed, 100) < 58 ? 100 + random_below(&seed, 156) : 0);
            }
        }
        config.rule = SLC_IMAGE_RULE_HYSTERESIS;
        config.low = 100;
        config.high = k % 2 == 0 ? 250 : 255;
        config.connectivity = k % 2 == 0 ? 8 : 4;
        config.max_hole_area = k < 2 ? UINT64_MAX : 50;
        double *values = values_of(&image);
        image_mask_oracle(&config, false, values, NULL, width, height, on);
        for (uint32_t threads = 0; threads < 6; threads++) {
            config.exec.threads = threads;
            compare(&config, &image, NULL, on, "threads");
        }
        free(values);
    }
    free(grey);
    free(on);
}

/* ---- local thresholds -------------------------------------------------------------------------- */

/* The largest windows that there are, on what varies most, where sums of squares pass 64 bits. */
static void test_largest_windows(void **state)
{
    static uint16_t wide[330 * 330];
    static uint8_t mask[42 * 330];
    const slc_image image = {wide, 330, 330, 330 * sizeof *wide, SLC_IMAGE_U16};
    uint64_t seed = 11;
    slc_error error;
    slc_image_mask_config config;
    (void)state;
    slc_image_mask_config_default(&config);
    config.rule = SLC_IMAGE_RULE_SAUVOLA;
    config.window = 303;
    config.k = 1;
    for (size_t i = 0; i < 330 * 330; i++) {
        wide[i] = i % 330 < 165 ? UINT16_MAX : (uint16_t)(random_below(&seed, 2) * 40000);
    }
    assert_int_equal(slc_image_mask_make(&config, &image, NULL, mask, 42, &error), SLC_OK);
    size_t n = 0;
    for (size_t i = 0; i < 200; i++) {
        const size_t x = random_below(&seed, 330), y = random_below(&seed, 330);
        const bool want = image_mask_local_oracle(&config, &image, x, y);
        assert_int_equal(mask[42 * y + x / 8] >> x % 8 & 1, want);
        n += want;
    }
    assert_in_range(n, 20, 180);
    config.window = 305;
    assert_int_equal(slc_image_mask_make(&config, &image, NULL, mask, 42, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "at most 303"));
    config.rule = SLC_IMAGE_RULE_MEAN; /* wider than the image, and so for every pixel the same */
    config.window = 65535;
    assert_int_equal(slc_image_mask_make(&config, &image, NULL, mask, 42, &error), SLC_OK);
    for (size_t i = 0; i < 20; i++) {
        const size_t x = random_below(&seed, 330), y = random_below(&seed, 330);
        config.window = 661;
        assert_int_equal(mask[42 * y + x / 8] >> x % 8 & 1, image_mask_local_oracle(&config, &image, x, y));
    }
}

static void test_local_threads(void **state)
{
    const size_t width = 1111, height = 1300, stride = 139;
    uint64_t seed = 5;
    uint8_t *grey = take(width * height), *one = take(stride * height), *more = take(stride * height);
    const slc_image image = {grey, width, height, (ptrdiff_t)width, SLC_IMAGE_U8};
    slc_error error;
    (void)state;
    image_scene(grey, width, height, &seed);
    for (int k = 0; k < 4; k++) {
        slc_image_mask_config config;
        slc_image_mask_config_default(&config);
        config.rule = k % 2 == 0 ? SLC_IMAGE_RULE_MEAN : SLC_IMAGE_RULE_SAUVOLA;
        config.window = k < 2 ? 31 : 801;
        assert_int_equal(slc_image_mask_make(&config, &image, NULL, one, (ptrdiff_t)stride, &error), SLC_OK);
        for (config.exec.threads = 2; config.exec.threads < 7; config.exec.threads++) {
            memset(more, 0xFF, stride * height);
            assert_int_equal(slc_image_mask_make(&config, &image, NULL, more, (ptrdiff_t)stride, &error),
                             SLC_OK);
            assert_memory_equal(one, more, stride * height);
        }
    }
    free(grey);
    free(one);
    free(more);
}

/* ---- what is refused --------------------------------------------------------------------------- */

static void refuse(const slc_image_mask_config *config, const slc_image *image, const slc_image *within,
                   const char *word)
{
    slc_error error = {.text = ""};
    uint8_t mask[8] = {0};
    assert_int_equal(slc_image_mask_make(config, image, within, mask, 1, &error), SLC_ERR_USAGE);
    if (strstr(error.text, word) == NULL) {
        fail_msg("'%s' does not name '%s'", error.text, word);
    }
}

static void test_refused(void **state)
{
    const uint8_t pixels[16] = {0};
    const float wide[4] = {0};
    const slc_image image = {pixels, 4, 4, 4, SLC_IMAGE_U8}, small = {pixels, 4, 3, 4, SLC_IMAGE_U8};
    const slc_image bits = {pixels, 4, 4, 1, SLC_IMAGE_BITS};
    slc_image_mask_config good, c;
    (void)state;
    slc_image_mask_config_default(&good);
#define REFUSED(member, value, image_, within_, word)                                                        \
    c = good;                                                                                                \
    c.member = (value);                                                                                      \
    refuse(&c, image_, within_, word)
    REFUSED(rule, SLC_IMAGE_RULES, &image, NULL, "rule");
    REFUSED(low, (double)NAN, &image, NULL, "threshold");
    REFUSED(connectivity, 6, &image, NULL, "connectivity");
    REFUSED(exec.threads, 5000, &image, NULL, "threads");
    REFUSED(exec.device, "cuda", &image, NULL, "device");
    REFUSED(size, 0, &image, NULL, "slc_image_mask_config");
    REFUSED(rule, SLC_IMAGE_RULE_BAND, &bits, NULL, "rows of bits");
    REFUSED(low, 1, &image, &small, "mask: 4 x 3 pixels for an image of 4 x 4");
    REFUSED(low, 1, NULL, NULL, "image");
    good.rule = SLC_IMAGE_RULE_SAUVOLA;
    REFUSED(window, 4, &image, NULL, "window: 4");
    REFUSED(window, 0, &image, NULL, "window: 0");
    REFUSED(window, 65537, &image, NULL, "window: 65537");
    REFUSED(k, (double)NAN, &image, NULL, "threshold");
    REFUSED(range, -1, &image, NULL, "threshold");
    const slc_image reals = {wide, 2, 2, 8, SLC_IMAGE_F32};
    slc_error error;
    uint8_t mask[2];
    assert_int_equal(slc_image_mask_make(&good, &reals, NULL, mask, 1, &error), SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "not f32"));
    good.rule = SLC_IMAGE_RULE_HYSTERESIS;
    REFUSED(high, 0.5, &image, NULL, "low, 1, is above high, 0.5");
    REFUSED(high, (double)NAN, &image, NULL, "threshold");
#undef REFUSED
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_threads),       cmocka_unit_test(test_largest_windows),
        cmocka_unit_test(test_local_threads), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
