/* SPDX-License-Identifier: Apache-2.0
 *
 * Images whose pixels, rows, sums or labels do not fit where they fit in small ones: more than 2^31 and 2^32
 * pixels, rows of more than a million, millions of labels. Most of their memory is never touched, and what
 * must come out is known from a formula.
 */
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_run.h"
#include "support/random.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- rectangles -------------------------------------------------------------------------------- */

typedef struct rectangle {
    uint64_t left, top, right, bottom; /* inclusive */
} rectangle;

static void set_row(uint8_t *row, uint64_t left, uint64_t right)
{
    for (uint64_t x = left; x <= right;) {
        if (x % 8 == 0 && right - x >= 7) {
            row[x / 8] = 0xff;
            x += 8;
        } else {
            row[x / 8] = (uint8_t)(row[x / 8] | 1U << x % 8);
            x++;
        }
    }
}

/* A sum over first … last of 1, i or i². */
static uint64_t ones(uint64_t first, uint64_t last)
{
    return last - first + 1;
}
static uint64_t sum_to(uint64_t n)
{
    return n * (n + 1) / 2;
}
static uint64_t sum(uint64_t first, uint64_t last)
{
    return sum_to(last) - (first > 0 ? sum_to(first - 1) : 0);
}
static uint64_t squares(uint64_t first, uint64_t last)
{
    uint64_t total = 0;
    for (uint64_t i = first; i <= last; i++) {
        total += i * i;
    }
    return total;
}

static void rectangle_expect(const slc_image_components *c, size_t i, rectangle r)
{
    const uint64_t w = ones(r.left, r.right), h = ones(r.top, r.bottom);
    assert_true(c->area[i] == w * h);
    assert_int_equal(c->x_min[i], r.left);
    assert_int_equal(c->x_max[i], r.right);
    assert_int_equal(c->y_min[i], r.top);
    assert_int_equal(c->y_max[i], r.bottom);
    assert_int_equal(c->first_x[i], r.left);
    assert_int_equal(c->first_y[i], r.top);
    assert_true(c->sum_x[i] == h * sum(r.left, r.right));
    assert_true(c->sum_y[i] == w * sum(r.top, r.bottom));
    assert_true(c->sum_xx[i] == h * squares(r.left, r.right));
    assert_true(c->sum_yy[i] == w * squares(r.top, r.bottom));
    assert_true(c->sum_xy[i] == sum(r.left, r.right) * sum(r.top, r.bottom));
    assert_true(c->perimeter[i] == 2 * (w + h));
    assert_int_equal(c->euler[i], 1);
    assert_true(c->x[i] == (double)(r.left + r.right) / 2);
    assert_true(c->y[i] == (double)(r.top + r.bottom) / 2);
}

/* ---- more than 2^31 pixels --------------------------------------------------------------------- */

enum { WIDE = 65536, TALL = 34000, RECTANGLES = 4 };

/* In the order of their labels: a pixel, a band from border to border, a line down to the last row, a block
 * in the last corner. */
static const rectangle shapes[RECTANGLES] = {
    {0, 0, 0, 0}, {0, 1000, WIDE - 1, 1099}, {33, 2000, 33, TALL - 1}, {64001, 32003, WIDE - 1, TALL - 1}};

static slc_image bits_of_shapes(void)
{
    uint8_t *bits = calloc(WIDE / 8, TALL);
    assert_non_null(bits);
    for (size_t k = 0; k < RECTANGLES; k++) {
        for (uint64_t y = shapes[k].top; y <= shapes[k].bottom; y++) {
            set_row(bits + y * (WIDE / 8), shapes[k].left, shapes[k].right);
        }
    }
    return (slc_image){bits, WIDE, TALL, WIDE / 8, SLC_IMAGE_BITS};
}

static void features_beyond_2_31_pixels(void **state)
{
    (void)state;
    const slc_image image = bits_of_shapes();
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.features = SLC_IMAGE_ALL & ~(uint32_t)SLC_IMAGE_GREY;
        config.exec.threads = threads;
        slc_image_labeller *labeller = image_labeller_open(&config, WIDE, TALL);
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(config.features, columns);
        slc_image_components c[2];
        memset(c, 0, sizeof c);
        assert_int_equal(slc_columns_reserve(&schema, &c[0], 10, 1), SLC_OK);
        assert_int_equal(slc_columns_reserve(&schema, &c[1], 10, 1), SLC_OK);
        slc_image_labels front = {.type = SLC_TYPE_U32, .components = &c[0]};
        slc_image_labels back = {.type = SLC_TYPE_U32, .components = &c[1]};
        slc_error error = {0};
        if (slc_image_label_run(labeller, &image, NULL, &front, &back, &error) != SLC_OK) {
            fail_msg("%u threads: %s", threads, error.text);
        }
        assert_int_equal(front.n_labels, RECTANGLES);
        for (size_t k = 0; k < RECTANGLES; k++) {
            rectangle_expect(&c[0], k, shapes[k]);
        }
        /* What is above the band, and what is below it, from which the line and the block are cut. */
        assert_int_equal(back.n_labels, 2);
        assert_true(c[1].area[0] == 1000ULL * WIDE - 1);
        assert_true(c[1].area[1] == (TALL - 1100ULL) * WIDE - c[0].area[2] - c[0].area[3]);
        assert_true(c[1].area[1] > INT32_MAX);
        assert_true(c[1].sum_x[1] == (TALL - 1100ULL) * sum(0, WIDE - 1) - c[0].sum_x[2] - c[0].sum_x[3]);
        assert_true(c[1].sum_xy[1] ==
                    sum(1100, TALL - 1) * sum(0, WIDE - 1) - c[0].sum_xy[2] - c[0].sum_xy[3]);
        assert_int_equal(c[1].first_x[0], 1);
        assert_int_equal(c[1].first_y[1], 1100);
        slc_columns_clear(&schema, &c[0]);
        slc_columns_clear(&schema, &c[1]);
        slc_image_label_close(labeller);
    }
    free((void *)(uintptr_t)image.pixels);
}

/* A label image of 4 GB in 16 MB: the same pages again and again, so that of all rows that fall onto one, the
 * last one is there at the end. */
enum { CHUNK_ROWS = 128, CHUNK = CHUNK_ROWS * WIDE * 2, CHUNKS = (TALL + CHUNK_ROWS - 1) / CHUNK_ROWS };

static uint8_t *folded_memory(void)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), CHUNK), 0);
    const int zero = open("/dev/zero", O_RDWR);
    uint8_t *all = mmap(NULL, (size_t)CHUNKS * CHUNK, PROT_NONE, MAP_PRIVATE, zero, 0);
    (void)close(zero);
    assert_true((void *)all != MAP_FAILED);
    for (size_t k = 0; k < CHUNKS; k++) {
        void *at = mmap(all + k * CHUNK, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fileno(file),
                        0);
        assert_true(at != MAP_FAILED);
    }
    (void)fclose(file);
    return all;
}

static void labels_beyond_2_31_pixels(void **state)
{
    (void)state;
    const slc_image image = bits_of_shapes();
    uint8_t *memory = folded_memory();
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    slc_image_labeller *labeller = image_labeller_open(&config, WIDE, TALL);
    slc_image_labels out = {.labels = memory, .stride = WIDE * 2, .type = SLC_TYPE_U16};
    slc_error error = {0};
    if (slc_image_label_run(labeller, &image, NULL, &out, NULL, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(out.n_labels, RECTANGLES);
    const uint16_t *labels = (const uint16_t *)(const void *)memory;
    for (uint64_t y = TALL - CHUNK_ROWS; y < TALL; y++) {
        const uint16_t *row = labels + y * WIDE;
        for (uint64_t x = 0; x < WIDE; x++) {
            const uint16_t wanted = x == 33 ? 3 : x >= shapes[3].left && y >= shapes[3].top ? 4 : 0;
            if (row[x] != wanted) {
                fail_msg("label at (%llu, %llu) is %u, not %u", (unsigned long long)x, (unsigned long long)y,
                         row[x], wanted);
            }
        }
    }
    slc_image_label_close(labeller);
    (void)munmap(memory, (size_t)CHUNKS * CHUNK);
    free((void *)(uintptr_t)image.pixels);
}

/* One component of more than 2^32 pixels: the background of an empty image. Its second moments would not be
 * exact, and are refused. */
static void components_beyond_2_32_pixels(void **state)
{
    (void)state;
    const uint64_t width = 131072, height = 33000;
    void *bits = calloc(width / 8, height);
    assert_non_null(bits);
    const slc_image image = {bits, width, height, (ptrdiff_t)width / 8, SLC_IMAGE_BITS};
    for (uint32_t second = 0; second <= 1; second++) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.features = SLC_IMAGE_AREA | SLC_IMAGE_SUMS | SLC_IMAGE_BOX | SLC_IMAGE_PERIMETER;
        config.features |= second * SLC_IMAGE_SHAPE;
        slc_image_labeller *labeller = image_labeller_open(&config, width, height);
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(config.features, columns);
        slc_image_components c = {0};
        assert_int_equal(slc_columns_reserve(&schema, &c, 2, 1), SLC_OK);
        slc_image_labels out = {.type = SLC_TYPE_U32, .components = &c};
        slc_error error = {0};
        const slc_status status = slc_image_label_run(labeller, &image, NULL, NULL, &out, &error);
        if (status != (second ? SLC_ERR_UNSUPPORTED : SLC_OK)) {
            fail_msg("%s: %s", slc_status_name(status), error.text);
        }
        if (second) {
            assert_int_equal(c.head.n_events, 0);
        } else {
            assert_int_equal(out.n_labels, 1);
            assert_true(c.area[0] == width * height);
            assert_true(c.area[0] > UINT32_MAX);
            assert_true(c.sum_x[0] == height * sum(0, width - 1));
            assert_true(c.sum_y[0] == width * sum(0, height - 1));
            assert_true(c.perimeter[0] == 2 * (width + height));
            assert_int_equal(c.x_max[0], width - 1);
            assert_int_equal(c.y_max[0], height - 1);
        }
        slc_columns_clear(&schema, &c);
        slc_image_label_close(labeller);
    }
    free(bits);
}

/* ---- wide and tall ----------------------------------------------------------------------------- */

static void long_image(const char *algorithm, size_t width, size_t height, uint32_t features, uint64_t seed)
{
    uint8_t *on = malloc(width * height);
    assert_non_null(on);
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.algorithm = algorithm;
    config.features = features;
    config.connectivity = seed % 2 ? 4 : 8;
    config.exec.threads = 1 + (uint32_t)seed % 3;
    image_macro_pixels(on, width, height, 1 + (uint32_t)seed % 4, 55, &seed);
    image_input input;
    image_input_make(&input, on, width, height, SLC_IMAGE_U8, 1, &seed);
    slc_image_labeller *labeller = image_labeller_open(&config, width, height);
    const image_wish wish = {
        .foreground = true, .background = true, .labels = true, .components = true, .type = SLC_TYPE_U32};
    image_run_expect(labeller, &config, &input, NULL, wish, &seed, "a long image");
    slc_image_label_close(labeller);
    image_input_clear(&input);
    free(on);
}

static void rows_of_more_than_a_million(void **state)
{
    (void)state;
    const uint32_t features = SLC_IMAGE_ALL & ~(uint32_t)(SLC_IMAGE_SECOND | SLC_IMAGE_SHAPE);
    long_image(NULL, 1100003, 2, features, 4);
    long_image(NULL, 3000001, 1, 0, 5);
    long_image(NULL, 1, 1100003, features, 6);
    long_image(NULL, 2, 700001, features, 7);
}

static void rows_of_more_than_65535_by_all(void **state)
{
    (void)state;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        long_image(slc_image_algorithm_name(a), 65537, 4, SLC_IMAGE_ALL, a);
        long_image(slc_image_algorithm_name(a), 4, 65537, SLC_IMAGE_ALL, a + 1);
    }
}

/* More pixels in one row than a signed number of 32 bits can count. */
static void a_row_of_more_than_2_31(void **state)
{
    (void)state;
    const size_t width = ((size_t)1 << 31) + 77;
    uint8_t *bits = calloc(width / 8 + 1, 1);
    assert_non_null(bits);
    static const rectangle runs[3] = {
        {5, 0, 5, 0}, {2147483600, 0, 2147483660, 0}, {2147483720, 0, 2147483724, 0}};
    for (size_t k = 0; k < 3; k++) {
        set_row(bits, runs[k].left, runs[k].right);
    }
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS;
    slc_image_labeller *labeller = image_labeller_open(&config, width, 1);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config.features, columns);
    slc_image_components c = {0};
    assert_int_equal(slc_columns_reserve(&schema, &c, 3, 1), SLC_OK);
    const slc_image image = {bits, width, 1, (ptrdiff_t)(width / 8 + 1), SLC_IMAGE_BITS};
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &c};
    slc_error error = {0};
    if (slc_image_label_run(labeller, &image, NULL, &out, NULL, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(out.n_labels, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(c.area[k], ones(runs[k].left, runs[k].right));
        assert_int_equal(c.x_min[k], runs[k].left);
        assert_int_equal(c.x_max[k], runs[k].right);
        assert_int_equal(c.first_x[k], runs[k].left);
        assert_true(c.sum_x[k] == sum(runs[k].left, runs[k].right));
    }
    slc_columns_clear(&schema, &c);
    slc_image_label_close(labeller);
    free(bits);
}

/* What an algorithm cannot number is refused, and no memory is used for it. */
static void too_many_pixels_for_some(void **state)
{
    (void)state;
    enum { SIDE = 66000 };
    void *bits = calloc(SIDE / 8, SIDE);
    assert_non_null(bits);
    const slc_image image = {bits, SIDE, SIDE, SIDE / 8, SLC_IMAGE_BITS};
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.algorithm = slc_image_algorithm_name(a);
        slc_image_labeller *labeller = NULL;
        slc_error error = {0};
        assert_int_equal(slc_image_label_open(&config, &labeller, &error), SLC_OK);
        const slc_status room = slc_image_label_reserve(labeller, SIDE, SIDE, &error);
        assert_true(room == SLC_OK || room == SLC_ERR_MEMORY || room == SLC_ERR_UNSUPPORTED);
        if (room == SLC_OK) {
            slc_image_labels out = {.type = SLC_TYPE_U32};
            const slc_status status = slc_image_label_run(labeller, &image, NULL, &out, NULL, &error);
            const bool ours = strcmp(config.algorithm, "bitrun") == 0;
            if (status != (ours ? SLC_OK : SLC_ERR_UNSUPPORTED)) {
                fail_msg("%s: %s (%s)", config.algorithm, slc_status_name(status), error.text);
            }
            assert_true(!ours || out.n_labels == 0);
        }
        slc_image_label_close(labeller);
    }
    free(bits);
}

/* Exactness ends at n · s² = 2^64: one pixel less is summed, one more is refused. */
static void limit_of_second_moments(void **state)
{
    (void)state;
    const size_t last = 2642245; /* the largest whole number whose third power is below 2^64 */
    uint8_t *bits = calloc(last / 8 + 1, 1);
    assert_non_null(bits);
    set_row(bits, last - 10, last);
    for (size_t width = last; width <= last + 1; width++) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.features = SLC_IMAGE_SECOND;
        slc_image_labeller *labeller = image_labeller_open(&config, width, 1);
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(config.features, columns);
        slc_image_components c = {0};
        assert_int_equal(slc_columns_reserve(&schema, &c, 2, 1), SLC_OK);
        const slc_image image = {bits, width, 1, (ptrdiff_t)(width / 8 + 1), SLC_IMAGE_BITS};
        slc_image_labels out = {.type = SLC_TYPE_U32, .components = &c};
        slc_error error = {0};
        const slc_status status = slc_image_label_run(labeller, &image, NULL, &out, NULL, &error);
        if (status != (width == last ? SLC_OK : SLC_ERR_UNSUPPORTED)) {
            fail_msg("%zu pixels: %s (%s)", width, slc_status_name(status), error.text);
        }
        assert_true(width > last || c.sum_xx[0] == squares(last - 10, last - 1));
        slc_columns_clear(&schema, &c);
        slc_image_label_close(labeller);
    }
    free(bits);
}

/* ---- millions of labels ------------------------------------------------------------------------ */

static void millions_of_labels(void **state)
{
    (void)state;
    enum { SIDE = 3001 };
    uint8_t *on = malloc((size_t)SIDE * SIDE);
    uint32_t *labels = malloc((size_t)SIDE * SIDE * sizeof *labels);
    assert_non_null(on);
    assert_non_null(labels);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
        on[i] = i % 2 == 0; /* a chessboard, as rows are odd */
    }
    const slc_image image = {on, SIDE, SIDE, SIDE, SLC_IMAGE_U8};
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        slc_image_label_config config;
        slc_image_label_config_default(&config);
        config.algorithm = slc_image_algorithm_name(a);
        config.connectivity = 4;
        config.exec.threads = 2;
        slc_image_labeller *labeller = image_labeller_open(&config, SIDE, SIDE);
        slc_image_labels out = {.labels = labels, .stride = SIDE * 4, .type = SLC_TYPE_U32};
        memset(labels, 0xff, (size_t)SIDE * SIDE * sizeof *labels);
        assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_OK);
        assert_int_equal(out.n_labels, (SIDE * SIDE + 1) / 2);
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
            const uint32_t wanted = i % 2 == 0 ? (uint32_t)(i / 2 + 1) : 0;
            if (labels[i] != wanted) {
                fail_msg("%s: label %zu is %u, not %u", config.algorithm, i, labels[i], wanted);
            }
        }
        slc_image_label_close(labeller);
    }
    free(on);
    free(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_beyond_2_31_pixels),
        cmocka_unit_test(labels_beyond_2_31_pixels),
        cmocka_unit_test(components_beyond_2_32_pixels),
        cmocka_unit_test(rows_of_more_than_a_million),
        cmocka_unit_test(rows_of_more_than_65535_by_all),
        cmocka_unit_test(limit_of_second_moments),
        cmocka_unit_test(millions_of_labels),
        cmocka_unit_test(a_row_of_more_than_2_31),
        cmocka_unit_test(too_many_pixels_for_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
