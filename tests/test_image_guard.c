/* SPDX-License-Identifier: Apache-2.0
 *
 * Nothing outside of a row is read or written: every row of every image stands between pages that may not be
 * touched, at the one end and at the other. And what does not fit leaves everything as it was.
 */
#include "base/columns.h"
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

/* ---- rows between guards ----------------------------------------------------------------------- */

enum { ROWS = 7, MOST_WIDTH = 300 };

/* Pages of which every second one may not be touched, from the first on: row y has page 2 y + 1. */
typedef struct guarded_rows {
    uint8_t *mapping;
    size_t page;
} guarded_rows;

static guarded_rows guarded_open(void)
{
    guarded_rows rows = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    const int zero = open("/dev/zero", O_RDWR);
    void *mapping = mmap(NULL, (2 * ROWS + 1) * rows.page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    (void)close(zero);
    assert_true(mapping != MAP_FAILED);
    rows.mapping = mapping;
    for (size_t k = 0; k <= ROWS; k++) {
        assert_int_equal(mprotect(rows.mapping + 2 * k * rows.page, rows.page, PROT_NONE), 0);
    }
    return rows;
}

static void guarded_close(guarded_rows *rows)
{
    (void)munmap(rows->mapping, (2 * ROWS + 1) * rows->page);
}

/* Row y, `bytes` long, at the begin of its page or at its end; bottom up, the first row is on the last page.
 */
static uint8_t *guarded_row(const guarded_rows *rows, size_t y, size_t height, size_t bytes, bool at_end,
                            bool bottom_up)
{
    const size_t place = bottom_up ? height - 1 - y : y;
    return rows->mapping + (2 * place + 1) * rows->page + (at_end ? rows->page - bytes : 0);
}

static void poison(const guarded_rows *rows)
{
    for (size_t k = 0; k < ROWS; k++) {
        memset(rows->mapping + (2 * k + 1) * rows->page, 0xa5, rows->page);
    }
}

typedef struct guard_case {
    size_t width, height;
    bool at_end, bottom_up;
    slc_type label_type;
} guard_case;

static guarded_rows input_rows, label_rows, grey_rows;

static ptrdiff_t guarded_stride(const guard_case *g)
{
    const ptrdiff_t stride = 2 * (ptrdiff_t)input_rows.page;
    return g->bottom_up ? -stride : stride;
}

/* The image of an input, row by row between guards. */
static slc_image guarded_image(const image_input *from, const guarded_rows *rows, const guard_case *g)
{
    const size_t bytes = slc_image_row_bytes(from->image.type, g->width);
    poison(rows);
    for (size_t y = 0; y < g->height; y++) {
        memcpy(guarded_row(rows, y, g->height, bytes, g->at_end, g->bottom_up),
               (const char *)from->image.pixels + (ptrdiff_t)y * from->image.stride, bytes);
    }
    slc_image image = from->image;
    image.pixels = guarded_row(rows, 0, g->height, bytes, g->at_end, g->bottom_up);
    image.stride = guarded_stride(g);
    return image;
}

static void labels_expect(const guard_case *g, const image_expected *expected, const char *what)
{
    const size_t size = slc_type_size(g->label_type), bytes = g->width * size;
    for (size_t y = 0; y < g->height; y++) {
        uint8_t *row = guarded_row(&label_rows, y, g->height, bytes, g->at_end, g->bottom_up);
        for (size_t x = 0; x < g->width; x++) {
            uint32_t label = 0;
            memcpy(&label, row + x * size, size); /* little end first, or four bytes */
            if (label != expected->labels[y * g->width + x]) {
                fail_msg("%s, %zu x %zu: label at (%zu, %zu) is %u, not %u", what, g->width, g->height, x, y,
                         label, expected->labels[y * g->width + x]);
            }
        }
        memset(row, 0xa5, bytes);
    }
    for (size_t i = 0; i < ROWS * label_rows.page; i++) {
        const size_t k = i / label_rows.page;
        if (label_rows.mapping[(2 * k + 1) * label_rows.page + i % label_rows.page] != 0xa5) {
            fail_msg("%s, %zu x %zu: a byte beside a row of labels was written", what, g->width, g->height);
        }
    }
}

static void guarded_run(slc_image_labeller *labeller, const slc_image_label_config *config,
                        const guard_case *g, slc_image_type type, uint64_t *seed)
{
    uint8_t on[ROWS * MOST_WIDTH];
    image_input input, grey;
    image_expected expected;
    (void)image_pattern_any(on, g->width, g->height, seed);
    image_input_make(&input, on, g->width, g->height, type, config->threshold, seed);
    image_input_grey(&grey, g->width, g->height, (slc_image_type)random_below(seed, SLC_IMAGE_TYPES), false,
                     seed);
    const slc_image image = guarded_image(&input, &input_rows, g);
    const slc_image grey_image = guarded_image(&grey, &grey_rows, g);
    poison(&label_rows);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config->features, columns);
    slc_image_components components = {0};
    assert_int_equal(slc_columns_reserve(&schema, &components, g->width * g->height, 1), SLC_OK);
    slc_image_labels out = {.labels = guarded_row(&label_rows, 0, g->height,
                                                  g->width * slc_type_size(g->label_type), g->at_end,
                                                  g->bottom_up),
                            .stride = guarded_stride(g),
                            .type = g->label_type,
                            .components = config->features != 0 ? &components : NULL};
    slc_error error = {0};
    if (slc_image_label_run(labeller, &image, &grey_image, &out, NULL, &error) != SLC_OK) {
        fail_msg("%s, %zu x %zu: %s", image_config_text(config), g->width, g->height, error.text);
    }
    image_expect(&expected, &input, &grey, config, false);
    assert_int_equal(out.n_labels, expected.n);
    labels_expect(g, &expected, image_config_text(config));
    if (config->features != 0) {
        image_compare_components(&components, 0, &expected, config->features, image_config_text(config));
    }
    slc_columns_clear(&schema, &components);
    image_expected_clear(&expected);
    image_input_clear(&input);
    image_input_clear(&grey);
}

/* Every width under one configuration. */
static void every_width(const slc_image_label_config *config, size_t step, uint64_t *seed)
{
    slc_image_labeller *labeller = image_labeller_open(config, MOST_WIDTH, ROWS);
    size_t k = random_below(seed, (uint32_t)step);
    for (size_t width = 1; width <= MOST_WIDTH; width++) {
        for (int type = 0; type < SLC_IMAGE_TYPES; type++, k++) {
            if (k % step == 0) {
                const guard_case g = {.width = width,
                                      .height = 1 + random_below(seed, ROWS),
                                      .at_end = random_below(seed, 2) != 0,
                                      .bottom_up = random_below(seed, 2) != 0,
                                      .label_type = random_below(seed, 2) ? SLC_TYPE_U16 : SLC_TYPE_U32};
                guarded_run(labeller, config, &g, (slc_image_type)type, seed);
            }
        }
    }
    slc_image_label_close(labeller);
}

static void rows_between_guards(void **state)
{
    (void)state;
    uint64_t seed = 11;
    input_rows = guarded_open();
    label_rows = guarded_open();
    grey_rows = guarded_open();
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            slc_image_label_config config;
            slc_image_label_config_default(&config);
            config.algorithm = slc_image_algorithm_name(a);
            config.exec.target = (slc_simd_target)t;
            config.threshold = 100;
            if (!slc_simd_runs(config.exec.target)) {
                continue;
            }
            const bool chief = strcmp(config.algorithm, "bitrun") == 0;
            for (int k = 0; k < (chief ? 4 : 2); k++) {
                config.connectivity = k % 2 ? 4 : 8;
                config.features = k / 2 ? SLC_IMAGE_ALL : 0;
                config.exec.threads = 1 + random_below(&seed, 3);
                every_width(&config, image_test_step(chief ? 2 : 11), &seed);
            }
        }
    }
    guarded_close(&input_rows);
    guarded_close(&label_rows);
    guarded_close(&grey_rows);
}

/* ---- what does not fit ------------------------------------------------------------------------- */

enum { SIDE = 512 }; /* 256 x 256 dots: one more than 16 bits can count */

static uint8_t dots[SIDE * SIDE];

static void draw_dots(void)
{
    for (size_t i = 0; i < sizeof dots; i++) {
        dots[i] = i % SIDE % 2 == 0 && i / SIDE % 2 == 0;
    }
}

typedef struct capacity_case {
    slc_image_labeller *labeller;
    slc_image_label_config config;
    uint64_t seed;
} capacity_case;

/* Labels the dots into 16 bits and `room` rows of components. */
static void capacity_run(capacity_case *c, size_t width, size_t rows, slc_status wanted, uint32_t n)
{
    const slc_image image = {dots, width, SIDE, SIDE, SLC_IMAGE_U8};
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(c->config.features, columns);
    slc_image_components components = {0};
    image_output output;
    slc_error error = {0};
    image_output_make(&output, width, SIDE, SLC_TYPE_U16, &c->seed);
    assert_int_equal(slc_columns_reserve(&schema, &components, rows, 2), SLC_OK);
    slc_columns_end_event(&components);
    void *before = malloc(components.head.block_size);
    assert_non_null(before);
    memcpy(before, components.head.block, components.head.block_size);
    output.labels.components = &components;
    const slc_status status = slc_image_label_run(c->labeller, &image, NULL, &output.labels, NULL, &error);
    if (status != wanted || output.labels.n_labels != n) {
        fail_msg("%s, %zu wide, %zu rows: %s (%s), %u labels, not %s, %u labels",
                 image_config_text(&c->config), width, rows, slc_status_name(status), error.text,
                 output.labels.n_labels, slc_status_name(wanted), n);
    }
    if (wanted == SLC_OK) {
        assert_int_equal(components.head.n_events, 2);
        assert_int_equal(components.head.size, n);
    } else {
        assert_int_equal(error.status, wanted);
        assert_true(strlen(error.text) > 10);
        image_output_expect_untouched(&output, image_config_text(&c->config));
        assert_int_equal(components.head.n_events, 1);
        assert_int_equal(components.head.size, 0);
        assert_memory_equal(components.head.block, before, components.head.block_size);
    }
    free(before);
    slc_columns_clear(&schema, &components);
    image_output_clear(&output);
}

static void labels_that_do_not_fit(void **state)
{
    (void)state;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            draw_dots();
            capacity_case c = {.seed = a};
            slc_image_label_config_default(&c.config);
            c.config.algorithm = slc_image_algorithm_name(a);
            c.config.exec.threads = threads;
            c.config.features = SLC_IMAGE_AREA | SLC_IMAGE_CENTROID;
            c.labeller = image_labeller_open(&c.config, SIDE, SIDE);
            capacity_run(&c, SIDE, 65536, SLC_ERR_CAPACITY, 65536);
            dots[SIDE * SIDE - SIDE - 2] = 0; /* the last dot */
            capacity_run(&c, SIDE, 65536, SLC_OK, 65535);
            capacity_run(&c, SIDE, 65535, SLC_OK, 65535);
            capacity_run(&c, SIDE, 65534, SLC_ERR_CAPACITY, 65535);
            capacity_run(&c, SIDE / 2, 32767, SLC_ERR_CAPACITY, 32768);
            capacity_run(&c, SIDE / 2, 32768, SLC_OK, 32768);
            capacity_run(&c, SIDE / 2, 0, SLC_ERR_CAPACITY, 32768);
            slc_image_label_close(c.labeller);
        }
    }
}

/* Only what the filters keep must fit. */
static void filters_make_room(void **state)
{
    (void)state;
    for (size_t a = 0; slc_image_algorithm_name(a) != NULL; a++) {
        draw_dots();
        dots[1] = dots[SIDE * SIDE - SIDE - 1] = 1; /* join the first two dots, lengthen the last */
        capacity_case c = {.seed = a};
        slc_image_label_config_default(&c.config);
        c.config.algorithm = slc_image_algorithm_name(a);
        c.config.exec.threads = 2;
        c.config.features = SLC_IMAGE_AREA | SLC_IMAGE_FIRST;
        c.config.min_area = 2;
        c.labeller = image_labeller_open(&c.config, SIDE, SIDE);
        capacity_run(&c, SIDE, 2, SLC_OK, 2);
        capacity_run(&c, SIDE, 1, SLC_ERR_CAPACITY, 2);
        slc_image_label_close(c.labeller);
    }
}

/* A collection that has rows already, and one that has no room for an event. */
static void full_collections(void **state)
{
    (void)state;
    draw_dots();
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_AREA;
    slc_image_labeller *labeller = image_labeller_open(&config, 8, 4);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config.features, columns);
    slc_image_components components = {0};
    const slc_image image = {dots, 8, 4, SIDE, SLC_IMAGE_U8};
    slc_image_labels out = {.type = SLC_TYPE_U32, .components = &components};
    assert_int_equal(slc_columns_reserve(&schema, &components, 17, 3), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_OK);
    assert_int_equal(components.head.size, 16);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_ERR_CAPACITY);
    assert_int_equal(out.n_labels, 8);
    assert_int_equal(components.head.size, 16);
    assert_int_equal(components.head.n_events, 2);
    slc_columns_clear(&schema, &components);
    components = (slc_image_components){0};
    assert_int_equal(slc_columns_reserve(&schema, &components, 100, 1), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, NULL), SLC_ERR_CAPACITY);
    assert_int_equal(components.head.size, 8);
    slc_columns_clear(&schema, &components);
    slc_image_label_close(labeller);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_between_guards),
        cmocka_unit_test(labels_that_do_not_fit),
        cmocka_unit_test(filters_make_room),
        cmocka_unit_test(full_collections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
