/* SPDX-License-Identifier: Apache-2.0
 *
 * What the headers of labelling exclude is refused, with a text that names what is wrong, and leaves every
 * output as it was. What they allow, however odd, is not refused.
 */
#include "support/cmocka_all.h"
#include "support/image_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 20, HEIGHT = 10 };

/* ---- configurations ---------------------------------------------------------------------------- */

static void refused(slc_image_label_config config, const char *word)
{
    slc_image_labeller *labeller = (slc_image_labeller *)(void *)&config; /* to see that it is cleared */
    slc_error error = {0};
    const slc_status status = slc_image_label_open(&config, &labeller, &error);
    if (status != SLC_ERR_USAGE || error.status != SLC_ERR_USAGE || strstr(error.text, word) == NULL) {
        fail_msg("%s: %s (%s); the text must have \"%s\"", image_config_text(&config),
                 slc_status_name(status), error.text, word);
    }
    assert_null(labeller);
    assert_int_equal(slc_image_label_open(&config, &labeller, NULL), SLC_ERR_USAGE);
}

static void bad_configurations(void **state)
{
    (void)state;
    slc_image_label_config good;
    slc_image_label_config_default(&good);
    slc_image_label_config bad = good;
    bad.size = 0;
    refused(bad, "slc_image_label_config_default");
    bad.size = sizeof bad + 1;
    refused(bad, "older than the header");
    bad = good;
    bad.algorithm = "magic";
    refused(bad, "algorithm");
    refused(bad, "magic");
    bad.algorithm = "";
    refused(bad, "algorithm");
    static const uint32_t connectivities[] = {0, 1, 6, 7, 9, 44, UINT32_MAX};
    for (size_t i = 0; i < sizeof connectivities / sizeof *connectivities; i++) {
        bad = good;
        bad.connectivity = connectivities[i];
        refused(bad, "connectivity");
    }
    bad = good;
    bad.threshold = NAN;
    refused(bad, "threshold");
    bad = good;
    bad.features = SLC_IMAGE_ALL + 1;
    refused(bad, "features");
    bad.features = UINT32_MAX;
    refused(bad, "features");
    bad = good;
    bad.border = SLC_IMAGE_BORDERS;
    refused(bad, "border");
    bad = good;
    bad.min_area = 3;
    bad.max_area = 2;
    refused(bad, "area");
    bad = good;
    bad.exec.target = SLC_SIMD_TARGETS;
    refused(bad, "target");
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (!slc_simd_runs((slc_simd_target)t)) {
            bad.exec.target = (slc_simd_target)t;
            refused(bad, "target");
        }
    }
}

static void defaults(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    assert_true(config.algorithm == NULL || strcmp(config.algorithm, "auto") == 0);
    assert_int_equal(config.connectivity, 8);
    assert_true(config.threshold == 1);
    assert_int_equal(config.features, 0);
    assert_true(config.min_area <= 1);
    assert_true(config.max_area == UINT64_MAX);
    assert_int_equal(config.border, SLC_IMAGE_BORDER_ANY);
    assert_int_equal(config.exec.threads, 1);
    assert_int_equal(config.exec.target, SLC_SIMD_AUTO);
    slc_image_label_close(NULL);
}

/* ---- runs -------------------------------------------------------------------------------------- */

static uint8_t pixels[8 * WIDTH * (HEIGHT + 2)];
static uint32_t labels[2 * WIDTH * (HEIGHT + 2)];
static slc_image_components components;
static slc_column columns[SLC_IMAGE_COLUMNS];
static slc_schema schema;
static slc_image_labeller *labeller;
static slc_image good_image;
static slc_image_labels good_labels;

static int set_up(void **state)
{
    (void)state;
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_GREY;
    labeller = image_labeller_open(&config, WIDTH, HEIGHT);
    schema = slc_image_components_schema(config.features, columns);
    memset(pixels, 1, sizeof pixels);
    good_image = (slc_image){pixels, WIDTH, HEIGHT, WIDTH, SLC_IMAGE_U8};
    good_labels = (slc_image_labels){
        .labels = labels, .stride = 4 * WIDTH, .type = SLC_TYPE_U32, .components = &components};
    return slc_columns_reserve(&schema, &components, 100, 100) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&schema, &components);
    slc_image_label_close(labeller);
    return 0;
}

/* Both sides in turn; `word` (NULL: any) must be in the text. */
static void run_refused(const slc_image *image, const slc_image *grey, slc_image_labels out, const char *word)
{
    for (int side = 0; side < 2; side++) {
        slc_error error = {0};
        const uint32_t events = components.head.n_events;
        memset(labels, 0xa5, sizeof labels);
        slc_image_labels other = good_labels;
        other.components = NULL;
        other.labels = NULL;
        const slc_status status = slc_image_label_run(labeller, image, grey, side == 0 ? &out : &other,
                                                      side == 0 ? NULL : &out, &error);
        if (status != SLC_ERR_USAGE || (word != NULL && strstr(error.text, word) == NULL)) {
            fail_msg("%s (%s); the text must have \"%s\"", slc_status_name(status), error.text,
                     word == NULL ? "" : word);
        }
        assert_true(strlen(error.text) > 10);
        assert_int_equal(components.head.n_events, events);
        assert_int_equal(components.head.size, components.head.event_offset[events]);
        for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
            assert_int_equal(labels[i], 0xa5a5a5a5);
        }
    }
}

static slc_image with_type(slc_image_type type, size_t offset, ptrdiff_t stride)
{
    return (slc_image){pixels + offset, WIDTH, HEIGHT, stride, type};
}

static void good_runs(void **state)
{
    (void)state;
    slc_image_labels out = good_labels;
    slc_error error = {0};
    assert_int_equal(slc_image_label_run(labeller, &good_image, NULL, &out, NULL, &error), SLC_OK);
    assert_int_equal(out.n_labels, 1);
    /* Nothing but the number of labels. */
    out = (slc_image_labels){.type = SLC_TYPE_U16};
    assert_int_equal(slc_image_label_run(labeller, &good_image, NULL, &out, NULL, &error), SLC_OK);
    assert_int_equal(out.n_labels, 1);
    /* Each side alone. */
    assert_int_equal(slc_image_label_run(labeller, &good_image, NULL, NULL, &out, &error), SLC_OK);
    assert_int_equal(out.n_labels, 0);
    /* One row needs no stride. */
    slc_image row = good_image;
    row.height = 1;
    row.stride = 0;
    slc_image_labels one_row = {.labels = labels, .type = SLC_TYPE_U32};
    const slc_status status = slc_image_label_run(labeller, &row, NULL, &one_row, NULL, &error);
    if (status != SLC_OK) {
        fail_msg("one row without a stride: %s", error.text);
    }
    assert_int_equal(one_row.n_labels, 1);
}

static void bad_images(void **state)
{
    (void)state;
    slc_image bad = good_image;
    bad.pixels = NULL;
    run_refused(&bad, NULL, good_labels, "pixels");
    bad = good_image;
    bad.width = 0;
    run_refused(&bad, NULL, good_labels, "width");
    bad = good_image;
    bad.height = 0;
    run_refused(&bad, NULL, good_labels, "height");
    bad = good_image;
    bad.width = WIDTH + 1;
    bad.stride = 2 * WIDTH;
    run_refused(&bad, NULL, good_labels, "reserve");
    bad = good_image;
    bad.height = HEIGHT + 1;
    run_refused(&bad, NULL, good_labels, "reserve");
    bad = good_image;
    bad.width = SIZE_MAX / 2;
    run_refused(&bad, NULL, good_labels, NULL);
    bad = good_image;
    bad.height = SIZE_MAX;
    run_refused(&bad, NULL, good_labels, NULL);
    bad = good_image;
    bad.type = SLC_IMAGE_TYPES;
    run_refused(&bad, NULL, good_labels, "type");
    bad = good_image;
    bad.stride = WIDTH - 1;
    run_refused(&bad, NULL, good_labels, "stride");
    bad.stride = -WIDTH + 1;
    run_refused(&bad, NULL, good_labels, "stride");
    static const slc_image_type wide[] = {SLC_IMAGE_U16, SLC_IMAGE_U32, SLC_IMAGE_F32};
    static const ptrdiff_t size[] = {2, 4, 4};
    for (size_t i = 0; i < 3; i++) {
        bad = with_type(wide[i], 1, size[i] * WIDTH);
        run_refused(&bad, NULL, good_labels, "align");
        bad = with_type(wide[i], 0, size[i] * WIDTH + 1);
        run_refused(&bad, NULL, good_labels, "align");
        bad = with_type(wide[i], 0, size[i] * WIDTH - size[i]);
        run_refused(&bad, NULL, good_labels, "stride");
    }
    bad = with_type(SLC_IMAGE_BITS, 0, 2);
    run_refused(&bad, NULL, good_labels, "stride");
}

static void bad_grey(void **state)
{
    (void)state;
    slc_image bad = good_image;
    bad.width = WIDTH - 1;
    run_refused(&good_image, &bad, good_labels, "grey");
    bad = good_image;
    bad.height = HEIGHT - 1;
    run_refused(&good_image, &bad, good_labels, "grey");
    bad = good_image;
    bad.pixels = NULL;
    run_refused(&good_image, &bad, good_labels, "grey");
    bad = with_type(SLC_IMAGE_F32, 2, 4 * WIDTH);
    run_refused(&good_image, &bad, good_labels, "grey");
    bad = with_type(SLC_IMAGE_TYPES, 0, 4 * WIDTH);
    run_refused(&good_image, &bad, good_labels, "grey");
}

static void bad_outputs(void **state)
{
    (void)state;
    slc_image_labels bad = good_labels;
    bad.type = SLC_TYPE_U8;
    run_refused(&good_image, NULL, bad, "type");
    bad.type = SLC_TYPE_F64;
    run_refused(&good_image, NULL, bad, "type");
    bad.type = (slc_type)99;
    run_refused(&good_image, NULL, bad, "type");
    bad = good_labels;
    bad.stride = 4 * WIDTH - 4;
    run_refused(&good_image, NULL, bad, "stride");
    bad.stride = -4 * WIDTH + 4;
    run_refused(&good_image, NULL, bad, "stride");
    bad.stride = 4 * WIDTH + 2;
    run_refused(&good_image, NULL, bad, "align");
    bad = good_labels;
    bad.labels = (char *)labels + 2;
    run_refused(&good_image, NULL, bad, "align");
    bad.type = SLC_TYPE_U16;
    bad.labels = (char *)labels + 1;
    run_refused(&good_image, NULL, bad, "align");
}

/* A collection that was made for other features than the labeller's. */
static void foreign_collections(void **state)
{
    (void)state;
    slc_column few[SLC_IMAGE_COLUMNS];
    const slc_schema area = slc_image_components_schema(SLC_IMAGE_AREA, few);
    slc_image_components other = {0};
    assert_int_equal(slc_columns_reserve(&area, &other, 10, 10), SLC_OK);
    slc_image_labels bad = good_labels;
    bad.components = &other;
    run_refused(&good_image, NULL, bad, "components");
    assert_int_equal(other.head.n_events, 0);
    slc_columns_clear(&area, &other);
    const slc_schema all = slc_image_components_schema(SLC_IMAGE_ALL, few);
    other = (slc_image_components){0};
    assert_int_equal(slc_columns_reserve(&all, &other, 10, 10), SLC_OK);
    run_refused(&good_image, NULL, bad, "components");
    slc_columns_clear(&all, &other);
}

/* Labels in the memory of what is read: by one byte, and whole, with a stride that goes back. */
static void overlaps(void **state)
{
    (void)state;
    slc_image in_labels = good_image;
    in_labels.pixels = (const char *)(labels + WIDTH * (HEIGHT - 1) + WIDTH) - 1;
    run_refused(&in_labels, NULL, good_labels, "overlaps");
    slc_image_labels later = good_labels;
    later.labels = labels + WIDTH * HEIGHT; /* the image's last byte is their first */
    in_labels.pixels = (const char *)later.labels - (WIDTH * HEIGHT - 1);
    run_refused(&in_labels, NULL, later, "overlaps");
    const slc_image wide = {labels, WIDTH, HEIGHT, 4 * WIDTH, SLC_IMAGE_U32};
    run_refused(&wide, NULL, good_labels, "overlaps");
    run_refused(&good_image, &wide, good_labels, "overlaps");
    slc_image_labels back = good_labels;
    back.labels = labels + WIDTH * (HEIGHT - 1);
    back.stride = -back.stride;
    run_refused(&wide, NULL, back, "overlaps");
    /* A grey image that nobody reads may lie anywhere. */
    slc_image_labels out = good_labels;
    out.components = NULL;
    assert_int_equal(slc_image_label_run(labeller, &good_image, &wide, &out, NULL, NULL), SLC_OK);
    slc_image_labels other = out;
    other.labels = labels + 1;
    slc_error error = {0};
    assert_int_equal(slc_image_label_run(labeller, &good_image, NULL, &out, &other, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "overlap"));
    /* Side by side is not one in the other. */
    other.labels = labels + WIDTH * HEIGHT;
    assert_int_equal(slc_image_label_run(labeller, &good_image, NULL, &out, &other, &error), SLC_OK);
}

static void shapes_that_cannot_be_reserved(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{0, 1},          {1, 0},        {UINT32_MAX, 1},
                                       {1, UINT32_MAX}, {SIZE_MAX, 1}, {SIZE_MAX, SIZE_MAX}};
    slc_image_labeller *other = image_labeller_open(
        &(slc_image_label_config){.size = sizeof(slc_image_label_config),
                                  .connectivity = 8,
                                  .threshold = 1,
                                  .max_area = UINT64_MAX,
                                  .exec = {.threads = 1, .target = SLC_SIMD_AUTO}},
        4, 4);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        slc_error error = {0};
        const slc_status status = slc_image_label_reserve(other, shapes[i][0], shapes[i][1], &error);
        if (status != SLC_ERR_USAGE || strlen(error.text) < 10) {
            fail_msg("%zu x %zu: %s (%s)", shapes[i][0], shapes[i][1], slc_status_name(status), error.text);
        }
    }
    /* Allowed, but more than there is: no room, or room that is never touched. */
    static const size_t huge[][2] = {{4294967294, 4294967294},
                                     {4294967294, 1},
                                     {1, 4294967294},
                                     {1U << 31, 1U << 20},
                                     {1U << 16, 1U << 31}};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        const slc_status status = slc_image_label_reserve(other, huge[i][0], huge[i][1], NULL);
        if (status != SLC_OK && status != SLC_ERR_MEMORY && status != SLC_ERR_UNSUPPORTED) {
            fail_msg("%zu x %zu: %s", huge[i][0], huge[i][1], slc_status_name(status));
        }
    }
    /* And what was there before still is. */
    const slc_image image = {pixels, 4, 4, 4, SLC_IMAGE_U8};
    slc_image_labels out = {.type = SLC_TYPE_U32};
    assert_int_equal(slc_image_label_run(other, &image, NULL, &out, NULL, NULL), SLC_OK);
    slc_image_label_close(other);
}

static void bounds(void **state)
{
    (void)state;
    assert_int_equal(slc_image_label_bound(1, 1, 8), 1);
    assert_true(slc_image_label_bound(5, 7, 8) >= 12);
    assert_true(slc_image_label_bound(5, 7, 4) >= 18);
    assert_true(slc_image_label_bound(5, 7, 4) <= 35);
    /* Beyond 2^32 it must not wrap. */
    assert_true(slc_image_label_bound(100000, 100000, 4) >= 5000000000);
    assert_true(slc_image_label_bound(200000, 200000, 8) >= 10000000000);
}

static void names(void **state)
{
    (void)state;
    static const char *const wanted[] = {"u8", "u16", "u32", "f32", "bits"};
    for (int t = 0; t < SLC_IMAGE_TYPES; t++) {
        assert_string_equal(slc_image_type_name((slc_image_type)t), wanted[t]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_configurations),
        cmocka_unit_test(defaults),
        cmocka_unit_test(good_runs),
        cmocka_unit_test(bad_images),
        cmocka_unit_test(bad_grey),
        cmocka_unit_test(bad_outputs),
        cmocka_unit_test(foreign_collections),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(shapes_that_cannot_be_reserved),
        cmocka_unit_test(bounds),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
