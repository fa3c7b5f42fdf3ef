/* SPDX-License-Identifier: Apache-2.0
 * Objects that touch: distances and parts on random images, discs, patterns and plateaus against an oracle
 * that takes the header's words one after the other, for every depth, connectivity and filter; the same parts
 * by any number of threads. */
#include "image/image_distance.h"
#include "oracle/image_split_oracle.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *take(size_t bytes)
{
    void *memory = calloc(bytes + 1, 1);
    assert_non_null(memory);
    return memory;
}

/* Rows of bits; those behind the last pixel are noise. */
static slc_image pack(const uint8_t *on, size_t width, size_t height)
{
    const size_t stride = (width + 7) / 8 + 1;
    uint8_t *bits = take(stride * height);
    memset(bits, 0xC9, stride * height);
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            uint8_t *byte = &bits[y * stride + x / 8];
            *byte = (uint8_t)((*byte & ~(1U << x % 8)) | (unsigned)on[y * width + x] << x % 8);
        }
    }
    return (slc_image){bits, width, height, (ptrdiff_t)stride, SLC_IMAGE_BITS};
}

static void check_distances(const uint8_t *on, size_t width, size_t height, const char *what)
{
    const slc_image bits = pack(on, width, height);
    uint32_t *distance = take(width * height * sizeof *distance);
    for (uint32_t parts = 1; parts <= 3; parts += 2) {
        assert_int_equal(slc_image_distance(&bits, NULL, parts, distance), SLC_OK);
        for (size_t i = 0; i < width * height; i++) {
            const uint32_t want = image_distance_oracle(on, width, height, 1, i);
            if (distance[i] != want) {
                fail_msg("%s: pixel (%zu, %zu) of %zu x %zu is at %u, not %u", what, i % width, i / width,
                         width, height, distance[i], want);
            }
        }
    }
    free(distance);
    free((void *)bits.pixels);
}

static void check_parts(const slc_image_split_config *config, const uint8_t *on, size_t width, size_t height,
                        const char *what)
{
    const slc_image bits = pack(on, width, height);
    const size_t stride = width + 2;
    uint32_t *labels = take(stride * height * sizeof *labels), *want = take(width * height * sizeof *want);
    uint32_t n = 77;
    slc_error error;
    const uint32_t found = image_split_oracle(config, on, width, height, 1, want);
    assert_int_equal(slc_image_split(config, &bits, labels, (ptrdiff_t)(stride * sizeof *labels), &n, &error),
                     SLC_OK);
    for (size_t y = 0; y < height; y++) {
        if (memcmp(labels + y * stride, want + y * width, width * sizeof *want) != 0) {
            fail_msg("%s: row %zu of %zu x %zu is wrong, depth %g, connectivity %u", what, y, width, height,
                     config->depth, config->connectivity);
        }
        assert_int_equal(labels[y * stride + width] + labels[y * stride + width + 1], 0);
    }
    assert_int_equal(n, found);
    free(labels);
    free(want);
    free((void *)bits.pixels);
}

/* Discs that touch and overlap. */
static void draw_discs(uint8_t *on, size_t width, size_t height, size_t n, uint32_t largest, uint64_t *seed)
{
    memset(on, 0, width * height);
    for (size_t k = 0; k < n; k++) {
        const int64_t u = random_below(seed, (uint32_t)width), v = random_below(seed, (uint32_t)height);
        const int64_t r = 1 + random_below(seed, largest), from = v > r ? v - r : 0;
        for (int64_t y = from; y < (int64_t)height && y <= v + r; y++) {
            for (int64_t x = u > r ? u - r : 0; x < (int64_t)width && x <= u + r; x++) {
                if ((x - u) * (x - u) + (y - v) * (y - v) <= r * r) {
                    on[(size_t)y * width + (size_t)x] = 1;
                }
            }
        }
    }
}

static void test_random(void **state)
{
    static uint8_t on[40 * 40];
    uint64_t seed = 25;
    (void)state;
    for (int i = 0; i < (test_small() ? (SANITIZED ? 60 : 300) : 1500); i++) {
        const size_t width = 1 + random_below(&seed, i % 5 == 0 ? 36 : 14),
                     height = 1 + random_below(&seed, i % 5 == 0 ? 30 : 14);
        const double depths[] = {0, 0.3, 0.5, 1, 1, 1.5, 2, 4};
        const char *what = "discs";
        slc_image_split_config config;
        slc_image_split_config_default(&config);
        if (i % 3 == 0) {
            draw_discs(on, width, height, 1 + random_below(&seed, 6), 7, &seed);
        } else {
            what = image_pattern_any(on, width, height, &seed);
        }
        config.depth = depths[random_below(&seed, 8)];
        config.connectivity = random_below(&seed, 2) == 0 ? 4 : 8;
        if (i % 4 == 0) {
            config.min_area = random_below(&seed, 9);
            config.max_area = config.min_area + random_below(&seed, 60);
            config.border = (slc_image_border)random_below(&seed, SLC_IMAGE_BORDERS);
        }
        check_distances(on, width, height, what);
        check_parts(&config, on, width, height, what);
    }
}

static void draw_volume(uint8_t *on, size_t width, size_t height, size_t depth, bool noise, uint64_t *seed)
{
    const size_t n = width * height * depth;
    const uint32_t share = 60 + random_below(seed, 40);
    for (size_t p = 0; p < n; p++) {
        on[p] = noise && random_below(seed, 100) < share;
    }
    for (uint32_t k = 0; k < 4 && !noise; k++) {
        const int64_t u = random_below(seed, (uint32_t)width), v = random_below(seed, (uint32_t)height),
                      w = random_below(seed, (uint32_t)depth), r = 1 + random_below(seed, 4);
        for (size_t p = 0; p < n; p++) {
            const int64_t x = (int64_t)(p % width) - u, y = (int64_t)(p / width % height) - v,
                          z = (int64_t)(p / width / height) - w;
            on[p] |= x * x + y * y + z * z <= r * r;
        }
    }
}

/* Volumes of balls, or of noise: distances and parts, in rows and slices that lie apart. */
static void test_volumes(void **state)
{
    enum { SIDE = 9, MOST = SIDE * SIDE * SIDE };
    static uint8_t on[MOST];
    static uint32_t distance[MOST], want[MOST], labels[(SIDE + 1) * SIDE * SIDE];
    uint64_t seed = 9;
    (void)state;
    for (int i = 0; i < (test_small() ? (SANITIZED ? 60 : 300) : 1500); i++) {
        const size_t width = 1 + random_below(&seed, SIDE), height = 1 + random_below(&seed, SIDE),
                     depth = 1 + random_below(&seed, SIDE), row = (width + 7) / 8 + (size_t)i % 2,
                     n = width * height * depth;
        const double depths[] = {0, 0.3, 0.5, 1};
        const uint32_t connectivities[] = {6, 18, 26};
        slc_image_split_config config;
        slc_error error;
        uint32_t found = 77;
        slc_image_split_config_default(&config);
        config.depth = depths[random_below(&seed, 4)];
        config.connectivity = connectivities[i % 3];
        config.exec.threads = 1 + random_below(&seed, 3);
        if (i % 4 == 0) {
            config.min_area = random_below(&seed, 9);
            config.max_area = config.min_area + random_below(&seed, 90);
            config.border = (slc_image_border)random_below(&seed, SLC_IMAGE_BORDERS);
        }
        draw_volume(on, width, height, depth, i % 3 == 0, &seed);
        uint8_t *bits = take(row * height * depth);
        for (size_t p = 0; p < n; p++) {
            bits[p / width * row + p % width / 8] |= (uint8_t)(on[p] << p % width % 8);
        }
        const slc_volume volume = {
            bits, width, height, depth, (ptrdiff_t)row, (ptrdiff_t)(row * height), SLC_IMAGE_BITS};
        assert_int_equal(slc_volume_distance(&volume, NULL, 1 + (uint32_t)i % 3, distance), SLC_OK);
        for (size_t p = 0; p < n; p++) {
            assert_int_equal(distance[p], image_distance_oracle(on, width, height, depth, p));
        }
        const ptrdiff_t stride = (ptrdiff_t)((width + 1) * sizeof *labels);
        memset(labels, 0xFF, sizeof labels);
        assert_int_equal(
            slc_volume_split(&config, &volume, labels, stride, stride * (ptrdiff_t)height, &found, &error),
            SLC_OK);
        assert_int_equal(found, image_split_oracle(&config, on, width, height, depth, want));
        for (size_t p = 0; p < n; p++) {
            if (labels[p / width * (width + 1) + p % width] != want[p]) {
                fail_msg(
                    "volume %d of %zu x %zu x %zu: voxel %zu has label %u, not %u, depth %g, connectivity %u",
                    i, width, height, depth, p, labels[p / width * (width + 1) + p % width], want[p],
                    config.depth, config.connectivity);
            }
        }
        for (size_t line = 0; line < height * depth; line++) {
            assert_int_equal(labels[line * (width + 1) + width], UINT32_MAX);
        }
        free(bits);
    }
}

/* Every image of 4 x 4. */
static void test_all_small(void **state)
{
    uint8_t on[16];
    (void)state;
    for (uint32_t image = 0; image < 1U << 16; image += test_small() ? (SANITIZED ? 331 : 37) : 3) {
        slc_image_split_config config;
        slc_image_split_config_default(&config);
        for (size_t i = 0; i < 16; i++) {
            on[i] = image >> i & 1;
        }
        config.depth = image % 2 == 0 ? 0 : 0.25;
        config.connectivity = image % 4 < 2 ? 4 : 8;
        check_parts(&config, on, 4, 4, "all of 4 x 4");
    }
}

static void test_long_rows(void **state)
{
    static uint8_t on[700];
    uint64_t seed = 4;
    (void)state;
    for (int i = 0; i < 30; i++) {
        const size_t width = i % 2 == 0 ? 700 : 1 + (size_t)i % 3, height = 700 / width;
        for (size_t k = 0; k < 700; k++) {
            on[k] = random_below(&seed, 100) > 1;
        }
        slc_image_split_config config;
        slc_image_split_config_default(&config);
        check_distances(on, width, height, "long");
        check_parts(&config, on, width, height, "long");
    }
}

/* Many components, of which some are large: whoever does them. */
static void test_threads(void **state)
{
    const size_t width = 1500, height = 900;
    uint64_t seed = 12;
    uint8_t *on = take(width * height);
    uint32_t *one = take(width * height * sizeof *one), *more = take(width * height * sizeof *more), n,
             n_more;
    slc_error error;
    (void)state;
    for (int k = 0; k < 3; k++) {
        slc_image_split_config config;
        slc_image_split_config_default(&config);
        draw_discs(on, width, height, k == 2 ? 3000 : 700, 30, &seed);
        config.depth = k == 0 ? 0 : 1;
        const slc_image bits = pack(on, width, height);
        const ptrdiff_t stride = (ptrdiff_t)(width * sizeof *one);
        assert_int_equal(slc_image_split(&config, &bits, one, stride, &n, &error), SLC_OK);
        assert_true(n > 50);
        for (uint32_t threads = 0; threads < 6; threads++) {
            config.exec.threads = threads;
            memset(more, 0xFF, width * height * sizeof *more);
            assert_int_equal(slc_image_split(&config, &bits, more, stride, &n_more, &error), SLC_OK);
            assert_int_equal(n, n_more);
            assert_memory_equal(one, more, width * height * sizeof *one);
        }
        free((void *)bits.pixels);
    }
    free(on);
    free(one);
    free(more);
}

/* Two discs of radius 20 whose centres are 30 apart are two; a neck that is hardly narrower makes one. */
static void test_two_discs(void **state)
{
    static uint8_t on[100 * 60];
    static uint32_t labels[100 * 60];
    uint32_t n = 0;
    slc_error error;
    (void)state;
    for (int apart = 4; apart <= 40; apart += 6) {
        for (int i = 0; i < 100 * 60; i++) {
            const int x = i % 100 - 30, y = i / 100 - 30;
            on[i] = x * x + y * y <= 400 || (x - apart) * (x - apart) + y * y <= 400;
        }
        slc_image_split_config config;
        slc_image_split_config_default(&config);
        const slc_image bits = pack(on, 100, 60);
        assert_int_equal(slc_image_split(&config, &bits, labels, 400, &n, &error), SLC_OK);
        /* The neck is half as high as sqrt(20² - (apart / 2)²): lower by more than 1 from 13 on. */
        assert_int_equal(n, apart >= 16 ? 2 : 1);
        for (int i = 0; i < 100 * 60 && n == 2; i++) {
            const int from_middle = i % 100 - 30 - apart / 2;
            assert_true(on[i] == 0 || from_middle * from_middle <= 1 ||
                        labels[i] == (from_middle < 0 ? labels[3030] : labels[3030 + apart]));
        }
        free((void *)bits.pixels);
    }
}

static void test_refused(void **state)
{
    uint8_t bits[16] = {0};
    uint32_t labels[16], n;
    slc_error error;
    slc_image image = {bits, 4, 4, 1, SLC_IMAGE_BITS};
    slc_image_split_config good, c;
    (void)state;
    slc_image_split_config_default(&good);
#define REFUSED(member, value, status, word)                                                                 \
    c = good;                                                                                                \
    c.member = (value);                                                                                      \
    assert_int_equal(slc_image_split(&c, &image, labels, 16, &n, &error), status);                           \
    assert_non_null(strstr(error.text, word))
    REFUSED(depth, -1, SLC_ERR_USAGE, "depth");
    REFUSED(depth, (double)NAN, SLC_ERR_USAGE, "depth");
    REFUSED(connectivity, 6, SLC_ERR_USAGE, "connectivity");
    REFUSED(min_area, UINT64_MAX, SLC_OK, "");
    REFUSED(max_area, 0, SLC_OK, "");
    REFUSED(border, SLC_IMAGE_BORDERS, SLC_ERR_USAGE, "border");
    REFUSED(exec.device, "cuda", SLC_ERR_USAGE, "device");
    REFUSED(size, 1, SLC_ERR_USAGE, "slc_image_split_config");
    image.width = 65535;
    image.height = 400;
    image.stride = 8192;
    assert_int_equal(slc_image_split(&good, &image, labels, 262140, &n, &error), SLC_ERR_UNSUPPORTED);
    image = (slc_image){bits, 4, 4, 4, SLC_IMAGE_U8};
    assert_int_equal(slc_image_split(&good, &image, labels, 16, &n, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "rows of bits"));
#undef REFUSED
    slc_volume volume = {bits, 4, 4, 2, 1, 4, SLC_IMAGE_BITS};
    good.connectivity = 26;
#define REFUSED_OF_VOLUMES(status, word)                                                                     \
    assert_int_equal(slc_volume_split(&good, &volume, labels, 16, 64, &n, &error), status);                  \
    assert_non_null(strstr(error.text, word))
    uint32_t room[32];
    assert_int_equal(slc_volume_split(&good, &volume, room, 16, 64, &n, &error), SLC_OK);
    good.connectivity = 8;
    REFUSED_OF_VOLUMES(SLC_ERR_USAGE, "connectivity");
    good.connectivity = 6;
    volume.type = SLC_IMAGE_U8;
    volume.stride = 4;
    volume.slice_stride = 16;
    REFUSED_OF_VOLUMES(SLC_ERR_USAGE, "rows of bits");
    volume = (slc_volume){bits, 4, 4, 70000, 1, 4, SLC_IMAGE_BITS};
    REFUSED_OF_VOLUMES(SLC_ERR_UNSUPPORTED, "4 x 4 x 70000 voxels");
    volume.depth = 2;
    good.min_area = 2;
    good.max_area = 1;
    REFUSED_OF_VOLUMES(SLC_ERR_USAGE, "min_area");
#undef REFUSED_OF_VOLUMES
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),    cmocka_unit_test(test_volumes),
                                       cmocka_unit_test(test_all_small), cmocka_unit_test(test_long_rows),
                                       cmocka_unit_test(test_threads),   cmocka_unit_test(test_two_discs),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
