/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of a labeller compared with the oracle.
 */
#include "support/image_run.h"
#include "base/columns.h"

#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xa5, MOST_GAP = 70 };

static void *room(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    assert_non_null(memory);
    return memory;
}

static size_t size_of(slc_image_type type)
{
    static const size_t size[SLC_IMAGE_TYPES] = {1, 2, 4, 4, 1};
    return size[type];
}

/* ---- values of pixels -------------------------------------------------------------------------- */

static double random_between(double low, double high, uint64_t *seed)
{
    return floor(low + random_unit(seed) * (high - low + 1));
}

/* A value of 0 … most on the wanted side of the threshold, if there is one. */
static double integer_value(double most, double threshold, bool on, uint64_t *seed)
{
    const double level = ceil(threshold);
    const bool any_on = level <= most, any_off = level > 0;
    const double low = (on && any_on) || !any_off ? fmax(level, 0) : 0;
    const double high = (on && any_on) || !any_off ? most : fmin(level - 1, most);
    switch (random_below(seed, 3)) {
    case 0:
        return low;
    case 1:
        return high;
    default:
        return fmin(random_between(low, high, seed), high);
    }
}

static float float_value(double threshold, bool on, uint64_t *seed)
{
    float at = (float)threshold;
    if ((double)at < threshold) {
        at = nextafterf(at, INFINITY);
    }
    const float below = nextafterf(at, -INFINITY);
    const float some = (float)(random_unit(seed) * 10);
    switch (random_below(seed, 5)) {
    case 0:
        return on ? INFINITY : -INFINITY;
    case 1:
        return on ? FLT_MAX : NAN;
    case 2:
        return on ? at + some : below - some;
    default:
        return on ? at : below;
    }
}

static void put(const image_input *input, size_t x, size_t y, double value)
{
    char *row = (char *)(uintptr_t)input->image.pixels + (ptrdiff_t)y * input->image.stride;
    const uint8_t u8 = (uint8_t)(input->image.type == SLC_IMAGE_U8 ? value : 0);
    const uint16_t u16 = (uint16_t)(input->image.type == SLC_IMAGE_U16 ? value : 0);
    const uint32_t u32 = (uint32_t)(input->image.type == SLC_IMAGE_U32 ? value : 0);
    const float f32 = (float)value;
    switch (input->image.type) {
    case SLC_IMAGE_U8:
        memcpy(row + x, &u8, 1);
        break;
    case SLC_IMAGE_U16:
        memcpy(row + 2 * x, &u16, 2);
        break;
    case SLC_IMAGE_U32:
        memcpy(row + 4 * x, &u32, 4);
        break;
    case SLC_IMAGE_F32:
        memcpy(row + 4 * x, &f32, 4);
        break;
    default:
        row[x / 8] = (char)(((unsigned char)row[x / 8] & ~(1U << x % 8)) | (unsigned)(value != 0) << x % 8);
        break;
    }
}

/* ---- inputs ------------------------------------------------------------------------------------ */

/* Memory of rubbish for an image; rows of random direction, gaps and alignment. */
static void lay_out(image_input *input, size_t width, size_t height, slc_image_type type, uint64_t *seed)
{
    const size_t size = size_of(type), row = slc_image_row_bytes(type, width);
    assert_int_equal(row, type == SLC_IMAGE_BITS ? (width + 7) / 8 : width * size);
    const size_t gap = random_below(seed, 3) == 0 ? 0 : random_below(seed, MOST_GAP) * size;
    const size_t offset = random_below(seed, MOST_GAP) * size, stride = row + gap;
    const bool bottom_up = random_below(seed, 3) == 0;
    input->size = offset + height * stride;
    input->block = room(input->size);
    for (size_t i = 0; i < input->size; i++) {
        input->block[i] = (uint8_t)random_u64(seed);
    }
    input->image = (slc_image){.pixels = input->block + offset + (bottom_up ? (height - 1) * stride : 0),
                               .width = width,
                               .height = height,
                               .stride = bottom_up ? -(ptrdiff_t)stride : (ptrdiff_t)stride,
                               .type = type};
    input->on = room(width * height);
    input->value = room(width * height * sizeof *input->value);
}

static void keep_copy(image_input *input)
{
    input->copy = room(input->size);
    memcpy(input->copy, input->block, input->size);
}

void image_input_make(image_input *input, const uint8_t *on, size_t width, size_t height, slc_image_type type,
                      double threshold, uint64_t *seed)
{
    static const double most[] = {UINT8_MAX, UINT16_MAX, UINT32_MAX};
    lay_out(input, width, height, type, seed);
    input->threshold = threshold;
    for (size_t i = 0; i < width * height; i++) {
        const bool wanted = on[i] != 0;
        double value = wanted;
        if (type == SLC_IMAGE_F32) {
            value = (double)float_value(threshold, wanted, seed);
        } else if (type != SLC_IMAGE_BITS) {
            value = integer_value(most[type], threshold, wanted, seed);
        }
        put(input, i % width, i / width, value);
        input->value[i] = value;
        input->on[i] = type == SLC_IMAGE_BITS ? wanted : value >= threshold;
    }
    keep_copy(input);
}

void image_input_grey(image_input *input, size_t width, size_t height, slc_image_type type, bool wild,
                      uint64_t *seed)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0F, 0.0F, FLT_MAX, 1e-30F, -1e30F};
    lay_out(input, width, height, type, seed);
    const uint64_t limit = type == SLC_IMAGE_BITS ? 1 : type == SLC_IMAGE_U32 ? UINT32_MAX : UINT16_MAX;
    const bool often_zero = random_below(seed, 4) == 0;
    for (size_t i = 0; i < width * height; i++) {
        double value = (double)(random_u64(seed) & (type == SLC_IMAGE_U8 ? UINT8_MAX : limit));
        if (often_zero && random_below(seed, 8) != 0) {
            value = 0;
        }
        if (type == SLC_IMAGE_F32) {
            value = (double)(float)(value / 1000 - 20);
            value = wild && random_below(seed, 50) == 0 ? (double)odd[random_below(seed, 8)] : value;
        }
        put(input, i % width, i / width, value);
        input->value[i] = value;
        input->on[i] = 0;
    }
    keep_copy(input);
}

bool image_input_unchanged(const image_input *input)
{
    return input->size == 0 || memcmp(input->block, input->copy, input->size) == 0;
}

void image_input_clear(image_input *input)
{
    free(input->block);
    free(input->copy);
    free(input->on);
    free(input->value);
    memset(input, 0, sizeof *input);
}

/* ---- outputs ----------------------------------------------------------------------------------- */

void image_output_make(image_output *output, size_t width, size_t height, slc_type type, uint64_t *seed)
{
    const size_t size = slc_type_size(type);
    const size_t gap = random_below(seed, 3) == 0 ? 0 : random_below(seed, MOST_GAP) * size;
    const size_t offset = random_below(seed, MOST_GAP) * size, stride = width * size + gap;
    const bool bottom_up = random_below(seed, 3) == 0;
    *output = (image_output){.width = width, .height = height, .size = offset + height * stride};
    output->block = room(output->size);
    memset(output->block, POISON, output->size);
    output->labels = (slc_image_labels){
        .labels = output->block + offset + (bottom_up ? (height - 1) * stride : 0),
        .stride = bottom_up ? -(ptrdiff_t)stride : (ptrdiff_t)stride,
        .type = type,
        .n_labels = 0xdeadbeef,
    };
}

static uint32_t label_at(const image_output *output, size_t x, size_t y)
{
    const char *row = (const char *)output->labels.labels + (ptrdiff_t)y * output->labels.stride;
    if (output->labels.type == SLC_TYPE_U16) {
        uint16_t label;
        memcpy(&label, row + 2 * x, 2);
        return label;
    }
    uint32_t label;
    memcpy(&label, row + 4 * x, 4);
    return label;
}

void image_output_expect(const image_output *output, const uint32_t *labels, const char *what)
{
    const size_t row = output->width * slc_type_size(output->labels.type);
    uint8_t *rest = room(output->size);
    memcpy(rest, output->block, output->size);
    for (size_t y = 0; y < output->height; y++) {
        for (size_t x = 0; x < output->width; x++) {
            const uint32_t found = label_at(output, x, y), wanted = labels[y * output->width + x];
            if (found != wanted) {
                fail_msg("%s, %zu x %zu: label at (%zu, %zu) is %u, not %u", what, output->width,
                         output->height, x, y, found, wanted);
            }
        }
        const char *begin = (const char *)output->labels.labels + (ptrdiff_t)y * output->labels.stride;
        memset(rest + (begin - (const char *)output->block), POISON, row);
    }
    for (size_t i = 0; i < output->size; i++) {
        if (rest[i] != POISON) {
            fail_msg("%s, %zu x %zu: byte %zu of %zu, outside of all rows, was written", what, output->width,
                     output->height, i, output->size);
        }
    }
    free(rest);
}

void image_output_expect_untouched(const image_output *output, const char *what)
{
    for (size_t i = 0; i < output->size; i++) {
        if (output->block[i] != POISON) {
            fail_msg("%s: byte %zu of the label image was written", what, i);
        }
    }
}

void image_output_clear(image_output *output)
{
    free(output->block);
    memset(output, 0, sizeof *output);
}

/* ---- what must come out ------------------------------------------------------------------------ */

void image_expect(image_expected *expected, const image_input *input, const image_input *grey,
                  const slc_image_label_config *config, bool inverse)
{
    const size_t width = input->image.width, height = input->image.height;
    const uint32_t connectivity = inverse ? 12 - config->connectivity : config->connectivity;
    uint8_t *side = room(width * height);
    for (size_t i = 0; i < width * height; i++) {
        side[i] = (input->on[i] != 0) != inverse;
    }
    expected->labels = room(width * height * sizeof *expected->labels);
    expected->components = NULL;
    expected->n = oracle_image_label(side, width, height, connectivity, expected->labels);
    if (config->min_area > 1 || config->max_area < width * height || config->border != SLC_IMAGE_BORDER_ANY) {
        expected->n = oracle_image_filter(expected->labels, width, height, expected->n, config->min_area,
                                          config->max_area, config->border);
    }
    if (config->features != 0) {
        const image_input *values = grey != NULL ? grey : input;
        expected->components = room(expected->n * sizeof *expected->components);
        oracle_image_components(expected->labels, width, height, expected->n, connectivity,
                                (config->features & SLC_IMAGE_GREY) != 0 ? values->value : NULL,
                                values->image.type == SLC_IMAGE_F32, expected->components);
    }
    free(side);
}

void image_expected_clear(image_expected *expected)
{
    free(expected->labels);
    free(expected->components);
    memset(expected, 0, sizeof *expected);
}

/* ---- runs -------------------------------------------------------------------------------------- */

const char *image_config_text(const slc_image_label_config *config)
{
    static char text[200];
    (void)snprintf(text, sizeof text,
                   "%s, %s%s%s, %u-connected, threshold %.17g, features %#x, areas %llu to %llu, border %d, "
                   "%u threads",
                   config->algorithm == NULL ? "auto" : config->algorithm, slc_simd_name(config->exec.target),
                   config->exec.device == NULL ? "" : ", ",
                   config->exec.device == NULL ? "" : config->exec.device, config->connectivity,
                   config->threshold, config->features, (unsigned long long)config->min_area,
                   (unsigned long long)config->max_area, (int)config->border, config->exec.threads);
    return text;
}

slc_image_labeller *image_labeller_open(const slc_image_label_config *config, size_t width, size_t height)
{
    slc_image_labeller *labeller = NULL;
    slc_error error = {0};
    if (slc_image_label_open(config, &labeller, &error) != SLC_OK ||
        slc_image_label_reserve(labeller, width, height, &error) != SLC_OK) {
        fail_msg("%s: %s", image_config_text(config), error.text);
    }
    return labeller;
}

/* One side of a run: its output, made before and compared behind. */
typedef struct side_output {
    image_output image;
    image_expected expected;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    slc_image_components components;
    size_t earlier; /* rows that were in the collection before, and their checksum */
    uint64_t checksum;
} side_output;

/* Room for not one row too many, behind an event of single pixels one below the other. */
static void begin_components(side_output *side, uint32_t features, uint64_t *seed)
{
    slc_image_components *c = &side->components;
    side->earlier = random_below(seed, 3);
    side->schema = slc_image_components_schema(features, side->columns);
    assert_int_equal(slc_columns_reserve(&side->schema, c, side->earlier + side->expected.n, 2), SLC_OK);
    /* What is not filled must not look as if it were. */
    for (size_t k = 0; k < side->schema.n_columns; k++) {
        char *column;
        memcpy(&column, (char *)c + side->columns[k].member, sizeof column);
        const size_t size = slc_type_size(side->columns[k].type);
        memset(column + side->earlier * size, POISON, side->expected.n * size);
    }
    for (size_t i = 0; i < side->earlier; i++) {
        if (c->area != NULL) {
            c->area[i] = 1;
        }
        if (c->first_y != NULL) {
            c->first_y[i] = (uint32_t)i;
        }
        if (c->y_min != NULL) {
            c->y_min[i] = c->y_max[i] = (uint32_t)i;
        }
        if (c->y != NULL) {
            c->y[i] = (double)i;
        }
        if (c->major != NULL) {
            c->major[i] = c->minor[i] = 4 / sqrt(12);
        }
    }
    c->head.size = side->earlier;
    slc_columns_end_event(c);
    side->checksum = slc_columns_checksum(&side->schema, c, 0, SLC_CHECKSUM_START);
}

static void begin_side(side_output *side, const slc_image_label_config *config, const image_input *input,
                       const image_input *grey, image_wish wish, bool inverse, uint64_t *seed)
{
    memset(side, 0, sizeof *side);
    image_expect(&side->expected, input, grey, config, inverse);
    image_output_make(&side->image, input->image.width, input->image.height, wish.type, seed);
    if (!wish.labels) {
        side->image.labels.labels = NULL;
    }
    if (wish.components && config->features != 0) {
        begin_components(side, config->features, seed);
        side->image.labels.components = &side->components;
    }
}

static void end_side(side_output *side, const slc_image_label_config *config, image_wish wish,
                     const char *what)
{
    if (side->image.labels.n_labels != side->expected.n) {
        fail_msg("%s, %zu x %zu: %u labels, not %u", what, side->image.width, side->image.height,
                 side->image.labels.n_labels, side->expected.n);
    }
    if (wish.labels) {
        image_output_expect(&side->image, side->expected.labels, what);
    } else {
        image_output_expect_untouched(&side->image, what);
    }
    if (wish.components && config->features != 0) {
        assert_int_equal(side->components.head.n_events, 2);
        assert_int_equal(side->components.head.size, side->earlier + side->expected.n);
        assert_int_equal(side->components.head.event_offset[1], side->earlier);
        assert_int_equal(side->components.head.event_offset[2], side->earlier + side->expected.n);
        assert_true(slc_columns_checksum(&side->schema, &side->components, 0, SLC_CHECKSUM_START) ==
                    side->checksum);
        image_compare_components(&side->components, side->earlier, &side->expected, config->features, what);
    }
}

static void clear_side(side_output *side)
{
    if (side->schema.n_columns != 0) {
        slc_columns_clear(&side->schema, &side->components);
    }
    image_expected_clear(&side->expected);
    image_output_clear(&side->image);
}

void image_run_expect(slc_image_labeller *labeller, const slc_image_label_config *config,
                      const image_input *input, const image_input *grey, image_wish wish, uint64_t *seed,
                      const char *what)
{
    char text[400];
    (void)snprintf(text, sizeof text, "%s; %s pixels; %s", what, slc_image_type_name(input->image.type),
                   image_config_text(config));
    side_output sides[2];
    const bool wanted[2] = {wish.foreground, wish.background};
    for (int s = 0; s < 2; s++) {
        if (wanted[s]) {
            begin_side(&sides[s], config, input, grey, wish, s == 1, seed);
        }
    }
    slc_error error = {0};
    const slc_status status = slc_image_label_run(labeller, &input->image, grey == NULL ? NULL : &grey->image,
                                                  wanted[0] ? &sides[0].image.labels : NULL,
                                                  wanted[1] ? &sides[1].image.labels : NULL, &error);
    if (status != SLC_OK) {
        fail_msg("%s, %zu x %zu: %s: %s", text, input->image.width, input->image.height,
                 slc_status_name(status), error.text);
    }
    for (int s = 0; s < 2; s++) {
        if (wanted[s]) {
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), s == 0 ? "" : "; background");
            end_side(&sides[s], config, wish, text);
            clear_side(&sides[s]);
        }
    }
    assert_true(image_input_unchanged(input));
    assert_true(grey == NULL || image_input_unchanged(grey));
}

size_t image_test_count(size_t n)
{
    const size_t part = test_percent();
    const size_t count = n / 100 * part + n % 100 * part / 100;
    return count > 0 ? count : 1;
}

size_t image_test_step(size_t n)
{
    const size_t step = n * 100 / image_test_count(100);
    return step > 0 ? step : 1;
}
