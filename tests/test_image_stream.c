/* SPDX-License-Identifier: Apache-2.0
 *
 * Components of images that come row by row, against the oracle: the same set with the same features,
 * whatever the pieces in which rows are pushed; in the order that the interface promises; with bounded memory
 * and without a call to the allocator.
 */
#include "oracle/image_oracle.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/image_patterns.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <sluice/image_analyse.h>

#include <math.h>
#include <string.h>

enum { MOST_WIDTH = 150, MOST_HEIGHT = 60, MOST = MOST_WIDTH * MOST_HEIGHT, ROUNDS = 2000 };

static uint8_t on[MOST], rows[MOST];
static uint32_t labels[MOST];
static double values[MOST];
static uint16_t grey[MOST];
static oracle_component wanted[MOST];

typedef struct collection {
    slc_schema schema;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_image_components of;
} collection;

static void collection_open(collection *c, uint32_t features, size_t n)
{
    memset(c, 0, sizeof *c);
    c->schema = slc_image_components_schema(features, c->columns);
    assert_int_equal(slc_columns_reserve(&c->schema, &c->of, n, 100), SLC_OK);
}

static slc_image_stream *stream_open(const slc_image_stream_config *config)
{
    slc_image_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    if (slc_image_stream_open(config, &stream, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return stream;
}

/* Pushes so many rows, in pieces of 1 to `piece`. */
static void push_all(slc_image_stream *stream, const void *pixels, size_t stride, const void *greys,
                     size_t grey_stride, size_t height, uint32_t piece, slc_image_components *closed,
                     uint64_t *seed)
{
    for (size_t y = 0; y < height;) {
        size_t n = 1 + random_below(seed, piece), taken = 99;
        n = n < height - y ? n : height - y;
        const char *grey_rows = greys != NULL ? (const char *)greys + y * grey_stride : NULL;
        assert_int_equal(slc_image_stream_push(stream, (const char *)pixels + y * stride, (ptrdiff_t)stride,
                                               grey_rows, (ptrdiff_t)grey_stride, n, closed, &taken, NULL),
                         SLC_OK);
        assert_int_equal(taken, n);
        y += n;
    }
    assert_int_equal(slc_image_stream_finish(stream, closed, NULL), SLC_OK);
}

/* ---- against the oracle ------------------------------------------------------------------------ */

static bool near(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void expect_counts(const slc_image_components *c, size_t i, const oracle_component *o)
{
    assert_int_equal(c->area[i], o->area);
    assert_int_equal(c->x_min[i], o->x_min);
    assert_int_equal(c->y_min[i], o->y_min);
    assert_int_equal(c->x_max[i], o->x_max);
    assert_int_equal(c->y_max[i], o->y_max);
    assert_int_equal(c->sum_x[i], o->sum_x);
    assert_int_equal(c->sum_y[i], o->sum_y);
    assert_int_equal(c->sum_xx[i], o->sum_xx);
    assert_int_equal(c->sum_xy[i], o->sum_xy);
    assert_int_equal(c->sum_yy[i], o->sum_yy);
    assert_int_equal(c->perimeter[i], o->perimeter);
    assert_int_equal(c->euler[i], o->euler);
}

static void expect_numbers(const slc_image_components *c, size_t i, const oracle_component *o)
{
    assert_true(near(c->x[i], o->x) && near(c->y[i], o->y));
    assert_true(near(c->eccentricity[i], o->eccentricity));
    assert_true(near(c->major[i], o->major) && near(c->minor[i], o->minor));
    assert_true(c->mass[i] == o->mass && c->grey_min[i] == o->grey_min && c->grey_max[i] == o->grey_max);
    assert_true(near(c->weighted_x[i], o->weighted_x) && near(c->weighted_y[i], o->weighted_y));
}

/* The row behind the component's last one, at which it is known to have ended; the image's end counts as one
 * more. Then the first pixel. */
static bool comes_before(const slc_image_components *c, size_t i, size_t j)
{
    const uint64_t a = (uint64_t)c->first_y[i] << 32 | c->first_x[i];
    const uint64_t b = (uint64_t)c->first_y[j] << 32 | c->first_x[j];
    return c->y_max[i] != c->y_max[j] ? c->y_max[i] < c->y_max[j] : a < b;
}

/* All components of the image that the filter keeps are in the collection, each once and in order. */
static void expect_image(const slc_image_components *c, size_t begin, size_t end, size_t width, uint32_t n,
                         uint64_t min_area, uint64_t max_area)
{
    size_t kept = 0;
    for (uint32_t l = 0; l < n; l++) {
        kept += wanted[l].area >= min_area && wanted[l].area <= max_area;
    }
    assert_int_equal(end - begin, kept);
    for (size_t i = begin; i < end; i++) {
        const uint32_t label = labels[c->first_y[i] * width + c->first_x[i]];
        assert_true(label > 0);
        const oracle_component *o = &wanted[label - 1];
        assert_int_equal(c->first_x[i], o->first_x);
        assert_int_equal(c->first_y[i], o->first_y);
        expect_counts(c, i, o);
        expect_numbers(c, i, o);
        assert_true(i == begin || comes_before(c, i - 1, i));
    }
}

static void make_wanted(const slc_image_stream_config *config, size_t width, size_t height, uint32_t *n)
{
    for (size_t i = 0; i < width * height; i++) {
        values[i] = grey[i];
        rows[i] = (uint8_t)(config->inverse ? on[i] == 0 : on[i] != 0);
    }
    *n = oracle_image_label(rows, width, height, config->connectivity, labels);
    oracle_image_components(labels, width, height, *n, config->connectivity, values, false, wanted);
}

/* Several images one after the other through one stream. */
static void one_round(uint64_t *seed)
{
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = 1 + random_below(seed, random_below(seed, 4) == 0 ? MOST_WIDTH : 20);
    config.connectivity = random_below(seed, 2) != 0 ? 8 : 4;
    config.inverse = random_below(seed, 3) == 0;
    config.grey_type = SLC_IMAGE_U16;
    config.features = SLC_IMAGE_ALL;
    uint64_t sum = 0; /* which does not depend on the pieces */
    config.checksum = &sum;
    if (random_below(seed, 4) == 0) {
        config.min_area = random_below(seed, 5);
        config.max_area = config.min_area + random_below(seed, 50);
    }
    slc_image_stream *stream = stream_open(&config);
    collection closed;
    collection_open(&closed, SLC_IMAGE_ALL, 3 * MOST);
    for (int image = 0; image < 3; image++) {
        const size_t height = 1 + random_below(seed, MOST_HEIGHT), begin = closed.of.head.size;
        uint32_t n;
        (void)image_pattern_any(on, config.width, height, seed);
        for (size_t i = 0; i < config.width * height; i++) {
            grey[i] = (uint16_t)random_u64(seed);
        }
        make_wanted(&config, config.width, height, &n);
        push_all(stream, on, config.width, grey, 2 * config.width, height, 1 + random_below(seed, 9),
                 &closed.of, seed);
        expect_image(&closed.of, begin, closed.of.head.size, config.width, n, config.min_area,
                     config.max_area);
        slc_columns_end_event(&closed.of);
        assert_int_equal(sum, slc_columns_checksum(&closed.schema, &closed.of, (uint32_t)image, 0));
    }
    slc_columns_clear(&closed.schema, &closed.of);
    slc_image_stream_close(stream);
}

static void test_random_images(void **state)
{
    (void)state;
    uint64_t seed = 20220707;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < ROUNDS; round++) {
        one_round(&seed);
    }
}

/* What was not asked for changes nothing of what was: every subset of features gives the same columns. */
static void test_subsets_of_features(void **state)
{
    (void)state;
    uint64_t seed = 7;
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = 40;
    (void)image_pattern_any(on, 40, 40, &seed);
    image_macro_pixels(on, 40, 40, 1, 45, &seed);
    config.features = SLC_IMAGE_ALL;
    collection all;
    collection_open(&all, SLC_IMAGE_ALL, MOST);
    slc_image_stream *stream = stream_open(&config);
    push_all(stream, on, 40, NULL, 0, 40, 5, &all.of, &seed);
    slc_image_stream_close(stream);
    for (uint32_t features = 0; features <= SLC_IMAGE_ALL; features++) {
        config.features = features;
        collection some;
        collection_open(&some, features, MOST);
        stream = stream_open(&config);
        push_all(stream, on, 40, NULL, 0, 40, 5, &some.of, &seed);
        assert_int_equal(some.of.head.size, all.of.head.size);
        slc_image_components same = all.of;
        slc_columns_end_event(&some.of);
        same.head.event_offset[1] = (uint32_t)same.head.size;
        assert_int_equal(slc_columns_checksum(&some.schema, &some.of, 0, SLC_CHECKSUM_START),
                         slc_columns_checksum(&some.schema, &same, 0, SLC_CHECKSUM_START));
        slc_image_stream_close(stream);
        slc_columns_clear(&some.schema, &some.of);
    }
    slc_columns_clear(&all.schema, &all.of);
}

/* ---- types ------------------------------------------------------------------------------------- */

/* Sums of floats in another order: nearly the same. Values that are not numbers spoil their component alone.
 */
static void test_float_rows(void **state)
{
    (void)state;
    enum { W = 33, H = 21 };
    static float pixels[W * H];
    uint64_t seed = 11;
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = W;
    config.type = config.grey_type = SLC_IMAGE_F32;
    config.threshold = 0.5;
    config.features = SLC_IMAGE_FIRST | SLC_IMAGE_GREY;
    for (int round = 0; round < 200; round += test_step(SANITIZED ? 7 : 1)) {
        for (size_t i = 0; i < (size_t)W * H; i++) {
            pixels[i] = random_below(&seed, 50) == 0 ? INFINITY : (float)random_unit(&seed);
            on[i] = pixels[i] >= 0.5F;
            values[i] = (double)pixels[i];
        }
        const uint32_t n = oracle_image_label(on, W, H, 8, labels);
        oracle_image_components(labels, W, H, n, 8, values, true, wanted);
        collection closed;
        collection_open(&closed, config.features, MOST);
        slc_image_stream *stream = stream_open(&config);
        push_all(stream, pixels, W * sizeof(float), NULL, 0, H, 4, &closed.of, &seed);
        assert_int_equal(closed.of.head.size, n);
        for (size_t i = 0; i < n; i++) {
            const oracle_component *o = &wanted[labels[closed.of.first_y[i] * W + closed.of.first_x[i]] - 1];
            assert_true(closed.of.mass[i] == o->mass || near(closed.of.mass[i], o->mass));
            assert_true(near(closed.of.weighted_x[i], o->weighted_x));
            assert_true(closed.of.grey_min[i] == o->grey_min && closed.of.grey_max[i] == o->grey_max);
        }
        slc_image_stream_close(stream);
        slc_columns_clear(&closed.schema, &closed.of);
    }
}

/* ---- capacity, memory, errors ------------------------------------------------------------------ */

/* A collection that is too small stops the stream before the row that might not fit; nothing is lost. */
static void test_capacity(void **state)
{
    (void)state;
    enum { W = 31, H = 50, ROOM = (W + 1) / 2 };
    uint64_t seed = 3;
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = W;
    config.features = SLC_IMAGE_ALL;
    uint64_t sum = 0;
    config.checksum = &sum;
    image_macro_pixels(on, W, H, 1, 30, &seed);
    collection all, small;
    collection_open(&all, SLC_IMAGE_ALL, MOST);
    slc_image_stream *stream = stream_open(&config);
    push_all(stream, on, W, NULL, 0, H, H, &all.of, &seed);
    const uint64_t at_once = sum;
    collection_open(&small, SLC_IMAGE_ALL, ROOM + 3);
    size_t y = 0, found = 0, stops = 0;
    while (y < H) {
        size_t taken = 99;
        slc_error error = {SLC_OK, ""};
        const slc_status status = slc_image_stream_push(stream, on + y * W, W, NULL, 0, H - y, &small.of,
                                                        &taken, &error);
        assert_true(status == (y + taken < H ? SLC_ERR_CAPACITY : SLC_OK) && taken > 0);
        y += taken;
        stops += status == SLC_ERR_CAPACITY;
        for (size_t i = 0; i < small.of.head.size; i++, found++) {
            assert_int_equal(small.of.first_x[i], all.of.first_x[found]);
            assert_int_equal(small.of.sum_xx[i], all.of.sum_xx[found]);
        }
        slc_columns_reset(&small.of);
    }
    assert_true(stops > 5);
    /* As many columns as the last row has pixels are open. */
    small.of.head.size = small.of.head.capacity;
    assert_int_equal(slc_image_stream_finish(stream, &small.of, NULL), SLC_ERR_CAPACITY);
    small.of.head.size = 0;
    assert_int_equal(slc_image_stream_finish(stream, &small.of, NULL), SLC_OK);
    assert_int_equal(found + small.of.head.size, all.of.head.size);
    assert_int_equal(sum, at_once);
    slc_image_stream_close(stream);
    slc_columns_clear(&small.schema, &small.of);
    slc_columns_clear(&all.schema, &all.of);
}

/* A hundred thousand rows: no call to the allocator, and all that opened is closed. */
static void test_endless(void **state)
{
    (void)state;
    enum { W = 97, ROWS = 100000 };
    uint64_t seed = 5, area = 0, closed_area = 0;
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = W;
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_SHAPE;
    collection closed;
    collection_open(&closed, config.features, 4 * W);
    slc_image_stream *stream = stream_open(&config);
    allocator_calls = 0;
    for (int y = 0; y < ROWS; y++) {
        for (size_t x = 0; x < W; x++) {
            on[x] = random_below(&seed, 100) < 40;
            area += on[x];
        }
        assert_int_equal(slc_image_stream_push(stream, on, W, NULL, 0, 1, &closed.of, NULL, NULL), SLC_OK);
        if (y == ROWS - 1) {
            assert_int_equal(slc_image_stream_finish(stream, &closed.of, NULL), SLC_OK);
        }
        for (size_t i = 0; i < closed.of.head.size; i++) {
            closed_area += closed.of.area[i];
        }
        slc_columns_reset(&closed.of);
    }
    assert_int_equal(allocator_calls, 0);
    assert_int_equal(closed_area, area);
    slc_image_stream_close(stream);
    slc_columns_clear(&closed.schema, &closed.of);
}

static void refused(slc_image_stream_config config, const char *text)
{
    slc_image_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_image_stream_open(&config, &stream, &error), SLC_ERR_USAGE);
    assert_null(stream);
    assert_non_null(strstr(error.text, text));
}

static void test_errors(void **state)
{
    (void)state;
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    refused(config, "rows");
    config.width = 8;
    slc_image_stream_config bad = config;
    bad.connectivity = 6;
    refused(bad, "connectivity");
    bad = config;
    bad.threshold = (double)NAN;
    refused(bad, "threshold");
    bad = config;
    bad.features = SLC_IMAGE_ALL + 1;
    refused(bad, "features");
    bad = config;
    bad.min_area = 2;
    bad.max_area = 1;
    refused(bad, "min_area");
    config.type = SLC_IMAGE_U16; /* and grey rows of 8 bits, which do not come */
    config.features = SLC_IMAGE_GREY;
    slc_image_stream *stream = stream_open(&config);
    collection closed;
    collection_open(&closed, config.features, 100);
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_image_stream_push(stream, grey, 16, NULL, 0, 1, &closed.of, NULL, &error),
                     SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "grey"));
    assert_int_equal(slc_image_stream_push(stream, grey, 15, on, 8, 2, &closed.of, NULL, &error),
                     SLC_ERR_USAGE);
    assert_int_equal(slc_image_stream_push(stream, NULL, 16, on, 8, 1, &closed.of, NULL, &error),
                     SLC_ERR_USAGE);
    assert_int_equal(slc_image_stream_push(stream, grey, 16, on, 8, 2, &closed.of, NULL, &error), SLC_OK);
    slc_image_stream_close(stream);
    slc_image_stream_close(NULL);
    slc_columns_clear(&closed.schema, &closed.of);
    uint64_t sum;
    config.checksum = &sum;
    long failures = 0;
    slc_status status = SLC_ERR_MEMORY;
    while (status == SLC_ERR_MEMORY && failures < 20) {
        allocations_left = failures;
        status = slc_image_stream_open(&config, &stream, &error);
        allocations_left = LONG_MAX;
        failures += status == SLC_ERR_MEMORY;
    }
    assert_int_equal(status, SLC_OK);
    assert_true(failures >= 2);
    slc_image_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_images), cmocka_unit_test(test_subsets_of_features),
        cmocka_unit_test(test_float_rows),    cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_endless),       cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
