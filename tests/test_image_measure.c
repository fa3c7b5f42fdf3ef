/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of label images: random labels of all types, connected or not, consecutive or far apart, against
 * an oracle that looks at pixels and pairs of points; and labels of images against what the labeller sums
 * itself.
 */
#include "oracle/image_measure_oracle.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <sluice/image_label.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = ORACLE_MEASURE_SIDE * ORACLE_MEASURE_SIDE, ROUNDS = 400, LARGE = 300 };

/* A label image of any type, its rows some bytes apart, and a grey one. */
typedef struct input {
    size_t width, height;
    slc_image labels, grey;
    uint64_t value[MOST];
    double grey_value[MOST];
    char label_bytes[MOST * 8 + 4096], grey_bytes[MOST * 8 + 4096];
} input;

static void put(char *row, slc_image_type type, size_t x, uint64_t value)
{
    const uint8_t byte = (uint8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    const float real = (float)value;
    switch (type) {
    case SLC_IMAGE_U8:
        memcpy(row + x, &byte, 1);
        break;
    case SLC_IMAGE_U16:
        memcpy(row + 2 * x, &two, 2);
        break;
    case SLC_IMAGE_U32:
        memcpy(row + 4 * x, &four, 4);
        break;
    case SLC_IMAGE_F32:
        memcpy(row + 4 * x, &real, 4);
        break;
    case SLC_IMAGE_BITS:
        row[x / 8] = (char)((uint8_t)row[x / 8] | (value & 1U) << x % 8);
        break;
    default:
        memcpy(row + 8 * x, &value, 8);
    }
}

static slc_image image_of(const input *in, char *bytes, slc_image_type type, uint64_t *seed)
{
    const size_t row = slc_image_row_bytes(type, in->width);
    const bool upwards = random_below(seed, 4) == 0;
    const ptrdiff_t stride = (ptrdiff_t)((row + 7) / 8 * 8 + 8 * random_below(seed, 3));
    return (slc_image){.pixels = upwards ? bytes + (ptrdiff_t)(in->height - 1) * stride : bytes,
                       .width = in->width,
                       .height = in->height,
                       .stride = upwards ? -stride : stride,
                       .type = type};
}

static void fill(input *in, const slc_image *image, const uint64_t *values)
{
    for (size_t i = 0; i < in->width * in->height; i++) {
        char *row = (char *)(uintptr_t)image->pixels + (ptrdiff_t)(i / in->width) * image->stride;
        put(row, image->type, i % in->width, values[i]);
    }
}

/* Few labels or many, in patches or in every pixel, from 1 on or anywhere in the type. */
static void random_labels(input *in, slc_image_type type, uint64_t *seed)
{
    static const uint64_t most[] = {[SLC_IMAGE_U8] = UINT8_MAX,
                                    [SLC_IMAGE_U16] = UINT16_MAX,
                                    [SLC_IMAGE_U32] = UINT32_MAX,
                                    [SLC_IMAGE_BITS] = 1,
                                    [SLC_IMAGE_U64] = UINT32_MAX};
    uint64_t names[8];
    const uint32_t n = 1 + random_below(seed, 6), patch = 1 + random_below(seed, 4);
    const uint32_t background = random_below(seed, 4);
    const bool apart = random_below(seed, 2) == 0;
    for (uint32_t i = 0; i < n; i++) {
        names[i] = (apart ? random_u64(seed) : i + 1) % most[type] + (type == SLC_IMAGE_BITS || apart);
        names[i] = names[i] > most[type] ? most[type] : names[i];
    }
    for (size_t i = 0; i < in->width * in->height; i++) {
        const size_t x = i % in->width, y = i / in->width;
        const size_t same = y / patch * patch * in->width + x / patch * patch;
        in->value[i] = same != i                            ? in->value[same]
                       : random_below(seed, 4) < background ? 0
                                                            : names[random_below(seed, n)];
    }
}

static void make(input *in, uint64_t *seed)
{
    static const slc_image_type types[] = {SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_U32, SLC_IMAGE_BITS,
                                           SLC_IMAGE_U64};
    static const slc_image_type grey_types[] = {SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_U32, SLC_IMAGE_BITS,
                                                SLC_IMAGE_F32};
    uint64_t grey[MOST];
    memset(in, 0, sizeof *in);
    in->width = 1 + random_below(seed, 9);
    in->height = 1 + random_below(seed, 9);
    in->labels = image_of(in, in->label_bytes, types[random_below(seed, 5)], seed);
    in->grey = image_of(in, in->grey_bytes, grey_types[random_below(seed, 5)], seed);
    random_labels(in, in->labels.type, seed);
    for (size_t i = 0; i < in->width * in->height; i++) {
        grey[i] = random_below(seed, in->grey.type == SLC_IMAGE_BITS ? 2 : 200);
        in->grey_value[i] = (double)grey[i];
    }
    fill(in, &in->labels, in->value);
    fill(in, &in->grey, grey);
}

static void near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-11 * fmax(1, fabs(wanted)))) {
        fail_msg("found %.17g, wanted %.17g", found, wanted);
    }
}

static void compare(const slc_image_components *c, size_t i, const oracle_region *o)
{
    const double pi = acos(-1), area = (double)o->area;
    assert_int_equal(c->area[i], o->area);
    assert_true(c->x_min[i] == o->x_min && c->x_max[i] == o->x_max);
    assert_true(c->y_min[i] == o->y_min && c->y_max[i] == o->y_max);
    assert_true(c->first_x[i] == o->first_x && c->first_y[i] == o->first_y);
    assert_true(c->sum_x[i] == o->sum_x && c->sum_y[i] == o->sum_y);
    assert_true(c->sum_xx[i] == o->sum_xx && c->sum_xy[i] == o->sum_xy && c->sum_yy[i] == o->sum_yy);
    assert_int_equal(c->perimeter[i], o->perimeter);
    assert_int_equal(c->euler[i], o->euler);
    assert_int_equal(c->convex_area[i], o->convex_area);
    near(c->x[i], (double)o->sum_x / area);
    near(c->y[i], (double)o->sum_y / area);
    near(c->extent[i], area / (double)((o->x_max - o->x_min + 1) * (o->y_max - o->y_min + 1)));
    near(c->diameter[i], 2 * sqrt(area / pi));
    near(c->roundness[i], area / pi * pow(2 / c->major[i], 2));
    near(c->solidity[i], area / (double)o->convex_area);
    near(c->feret_max[i], o->feret_max);
    near(c->feret_min[i], o->feret_min);
    near(c->feret_outline[i], o->feret_outline);
    near(c->crofton_2[i], o->crofton_2);
    near(c->crofton_4[i], o->crofton_4);
    near(c->circularity[i], 4 * pi * area / pow(o->crofton_4, 2));
    near(c->mass[i], o->mass);
    near(c->grey_min[i], o->grey_min);
    near(c->grey_max[i], o->grey_max);
    near(c->grey_mean[i], o->mean);
    near(c->grey_std[i], o->std);
}

/* The smallest label above one; 0: there is none. */
static uint64_t next_label(const input *in, uint64_t above)
{
    uint64_t next = 0;
    for (size_t i = 0; i < in->width * in->height; i++) {
        const uint64_t value = in->value[i];
        next = value > above && (next == 0 || value < next) ? value : next;
    }
    return next;
}

static void random_regions(void **state)
{
    (void)state;
    uint64_t seed = 2611;
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_MEASURES, columns);
    slc_image_components c = {.area = NULL};
    slc_image_measure_config config;
    slc_image_measure_config_default(&config);
    config.features = SLC_IMAGE_MEASURES;
    input *in = malloc(sizeof *in);
    assert_non_null(in);
    for (int round = 0; round < ROUNDS; round++) {
        slc_error error;
        size_t i = c.head.size; /* events come one behind the other */
        make(in, &seed);
        config.connectivity = random_below(&seed, 2) == 0 ? 4 : 8;
        assert_int_equal(slc_image_measure(&config, &in->labels, &in->grey, &c, &error), SLC_OK);
        for (uint64_t label = next_label(in, 0); label != 0; label = next_label(in, label), i++) {
            const oracle_region o = oracle_image_measure(in->value, in->width, in->height, label,
                                                         config.connectivity, in->grey_value);
            assert_true(i < c.head.size);
            assert_int_equal(c.label[i], label);
            compare(&c, i, &o);
        }
        assert_int_equal(i, c.head.size);
        assert_int_equal(c.head.event_offset[c.head.n_events], i);
    }
    assert_int_equal(c.head.n_events, ROUNDS);
    free(in);
    slc_columns_clear(&schema, &c);
}

/* Every single feature brings what it does among all. */
static void features_one_by_one(void **state)
{
    (void)state;
    uint64_t seed = 77;
    slc_column columns[SLC_IMAGE_COLUMNS], own[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_MEASURES, columns);
    input *in = malloc(sizeof *in);
    assert_non_null(in);
    for (int round = 0; round < 20; round++) {
        slc_image_components all = {.area = NULL};
        slc_image_measure_config config;
        slc_error error;
        make(in, &seed);
        slc_image_measure_config_default(&config);
        config.features = SLC_IMAGE_MEASURES;
        assert_int_equal(slc_image_measure(&config, &in->labels, &in->grey, &all, &error), SLC_OK);
        for (config.features = 1; config.features < SLC_IMAGE_MEASURES; config.features <<= 1) {
            const slc_schema some = slc_image_components_schema(config.features, own);
            const bool grey = (config.features & (SLC_IMAGE_GREY | SLC_IMAGE_SPREAD)) != 0;
            slc_image_components one = {.area = NULL};
            assert_int_equal(slc_image_measure(&config, &in->labels, grey ? &in->grey : NULL, &one, &error),
                             SLC_OK);
            assert_int_equal(slc_columns_checksum(&some, &one, 0, 0),
                             slc_columns_checksum(&some, &all, 0, 0));
            slc_columns_clear(&some, &one);
        }
        slc_columns_clear(&schema, &all);
    }
    free(in);
}

/* Of labels that the library made, its sums to the last bit, also of float images. */
static void as_the_labeller(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static uint8_t image[LARGE * LARGE];
    static float grey[LARGE * LARGE];
    static uint32_t labels[LARGE * LARGE];
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_ALL, columns);
    for (int round = 0; round < 20; round++) {
        slc_image_components summed = {.area = NULL}, measured = {.area = NULL};
        slc_image_label_config config;
        slc_image_measure_config measure;
        slc_image_labeller *labeller = NULL;
        slc_error error;
        const size_t width = 1 + random_below(&seed, LARGE), height = 1 + random_below(&seed, LARGE);
        const uint32_t density = 1 + random_below(&seed, 9);
        for (size_t i = 0; i < width * height; i++) {
            image[i] = random_below(&seed, 10) < density;
            grey[i] = (float)random_below(&seed, 1000) / 7;
        }
        const slc_image in = {image, width, height, (ptrdiff_t)width, SLC_IMAGE_U8};
        const slc_image values = {grey, width, height, (ptrdiff_t)(4 * width), SLC_IMAGE_F32};
        const slc_image made = {labels, width, height, (ptrdiff_t)(4 * width), SLC_IMAGE_U32};
        slc_image_label_config_default(&config);
        config.connectivity = round % 2 == 0 ? 8 : 4;
        config.features = SLC_IMAGE_ALL;
        slc_image_measure_config_default(&measure);
        measure.features = SLC_IMAGE_ALL;
        measure.connectivity = config.connectivity;
        slc_image_labels out = {
            .labels = labels, .stride = made.stride, .type = SLC_TYPE_U32, .components = &summed};
        assert_int_equal(slc_columns_reserve(&schema, &summed, width * height, 1), SLC_OK);
        assert_int_equal(slc_image_label_open(&config, &labeller, &error), SLC_OK);
        assert_int_equal(slc_image_label_reserve(labeller, width, height, &error), SLC_OK);
        assert_int_equal(slc_image_label_run(labeller, &in, &values, &out, NULL, &error), SLC_OK);
        assert_int_equal(slc_image_measure(&measure, &made, &values, &measured, &error), SLC_OK);
        assert_int_equal(measured.head.size, summed.head.size);
        assert_int_equal(slc_columns_checksum(&schema, &measured, 0, 0),
                         slc_columns_checksum(&schema, &summed, 0, 0));
        slc_image_label_close(labeller);
        slc_columns_clear(&schema, &summed);
        slc_columns_clear(&schema, &measured);
    }
}

static void refused(const slc_image *labels, const slc_image *grey, uint32_t features, uint32_t connectivity,
                    slc_status status, const char *text)
{
    slc_image_components c = {.area = NULL};
    slc_image_measure_config config;
    slc_error error;
    slc_image_measure_config_default(&config);
    config.features = features;
    config.connectivity = connectivity;
    assert_int_equal(slc_image_measure(&config, labels, grey, &c, &error), status);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s' does not say '%s'", error.text, text);
    }
    assert_int_equal(c.head.n_events, 0);
}

static void what_is_refused(void **state)
{
    (void)state;
    static uint64_t wide[4] = {0, 1, 1ULL << 32, 7};
    static float real[4];
    static uint8_t small[4] = {1, 2, 0, 1};
    const slc_image u64 = {wide, 2, 2, 16, SLC_IMAGE_U64}, f32 = {real, 2, 2, 8, SLC_IMAGE_F32};
    const slc_image u8 = {small, 2, 2, 2, SLC_IMAGE_U8}, other = {small, 4, 1, 4, SLC_IMAGE_U8};
    const slc_image none = {small, 0, 2, 2, SLC_IMAGE_U8}, moved = {(char *)wide + 4, 1, 1, 8, SLC_IMAGE_U64};
    const slc_image tall = {small, 1, (1U << 29) + 1, 1, SLC_IMAGE_U8};
    refused(&u64, NULL, SLC_IMAGE_AREA, 8, SLC_ERR_UNSUPPORTED, "the label 4294967296 at x 0, y 1");
    refused(&f32, NULL, SLC_IMAGE_AREA, 8, SLC_ERR_UNSUPPORTED, "floats");
    refused(&u8, NULL, SLC_IMAGE_AREA, 5, SLC_ERR_USAGE, "connectivity: 5");
    refused(&u8, NULL, SLC_IMAGE_MEASURES + 1, 8, SLC_ERR_USAGE, "unknown");
    refused(&u8, NULL, SLC_IMAGE_GREY, 8, SLC_ERR_USAGE, "grey image: none");
    refused(&u8, NULL, SLC_IMAGE_SPREAD, 8, SLC_ERR_USAGE, "grey image: none");
    refused(&u8, &other, SLC_IMAGE_GREY, 8, SLC_ERR_USAGE, "4 x 1 pixels, and the image has 2 x 2");
    refused(&none, NULL, SLC_IMAGE_AREA, 8, SLC_ERR_USAGE, "0 x 2");
    refused(&moved, NULL, SLC_IMAGE_AREA, 8, SLC_ERR_USAGE, "not aligned");
    refused(NULL, NULL, SLC_IMAGE_AREA, 8, SLC_ERR_USAGE, "none given");
    refused(&tall, NULL, SLC_IMAGE_FERET, 8, SLC_ERR_UNSUPPORTED, "hulls of");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_regions),
        cmocka_unit_test(features_one_by_one),
        cmocka_unit_test(as_the_labeller),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
