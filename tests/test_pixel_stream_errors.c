/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of an endless list of pixels: what is refused, with its reason, and memory that cannot be had.
 */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"

#include <sluice/pixel_stream.h>

#include <string.h>

typedef struct collection {
    slc_schema schema;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_pixel_clusters of;
} collection;

static void collection_open(collection *c, uint32_t features, size_t n)
{
    memset(c, 0, sizeof *c);
    c->schema = slc_pixel_clusters_schema(features, 0, c->columns);
    assert_int_equal(slc_columns_reserve(&c->schema, &c->of, n, 1), SLC_OK);
}

static void test_no_memory(void **state)
{
    (void)state;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    for (long left = 0; left < 3; left++) {
        slc_pixel_stream *stream = NULL;
        slc_error error = {SLC_OK, ""};
        allocations_left = left;
        const slc_status status = slc_pixel_stream_open(&config, &stream, &error);
        allocations_left = LONG_MAX;
        assert_int_equal(status, SLC_ERR_MEMORY);
        assert_null(stream);
        assert_non_null(strstr(error.text, "no memory"));
    }
    slc_pixel_stream_close(NULL);
}

/* The table over a large sensor grows with the pixels: without memory for that, a push ends before the pixel
 * that wants it, and goes on when there is some. */
static void test_no_memory_for_a_chip(void **state)
{
    (void)state;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.width = config.height = 0;
    config.max_open = 100;
    uint16_t x[] = {255, 5, 256, 65535}, y[] = {7, 255, 7, 65535};
    int64_t time[] = {100, 101, 102, 103};
    const slc_pixels pixels = {.head = {.size = 4, .capacity = 4}, .x = x, .y = y, .time = time};
    collection closed;
    collection_open(&closed, config.features, 10);
    slc_pixel_stream *stream = NULL;
    assert_int_equal(slc_pixel_stream_open(&config, &stream, NULL), SLC_OK);
    size_t taken = 9, at = 0;
    for (int k = 2; k <= 3; k++) { /* the pixels that want more */
        slc_error error = {SLC_OK, ""};
        allocations_left = 0;
        const slc_status status = slc_pixel_stream_push(stream, &pixels, at, 4 - at, &closed.of, &taken,
                                                        &error);
        allocations_left = k == 2 ? 1 : LONG_MAX;
        assert_int_equal(status, SLC_ERR_MEMORY);
        assert_non_null(strstr(error.text, k == 2 ? "pixel 256, 7" : "pixel 65535, 65535"));
        at += taken;
        assert_int_equal(at, k);
        assert_int_equal(slc_pixel_stream_push(stream, &pixels, at, 1, &closed.of, &taken, NULL), SLC_OK);
        assert_int_equal(taken, 1);
        at++;
    }
    assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, NULL), SLC_OK);
    assert_int_equal(closed.of.head.size, 3); /* 255, 7 and 256, 7 are neighbours */
    assert_int_equal(closed.of.size[0], 2);
    slc_pixel_stream_close(stream);
    slc_columns_clear(&closed.schema, &closed.of);
}

static void expect_refused(slc_pixel_stream_config config, const char *text)
{
    slc_pixel_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_pixel_stream_open(&config, &stream, &error), SLC_ERR_USAGE);
    assert_null(stream);
    assert_non_null(strstr(error.text, text));
}

static void test_bad_configurations(void **state)
{
    (void)state;
    slc_pixel_stream_config c;
    slc_pixel_stream_config_default(&c);
    c.size = 0;
    expect_refused(c, "slc_pixel_stream_config_default");
    slc_pixel_stream_config_default(&c);
    c.radius = 9;
    expect_refused(c, "radius: 9");
    slc_pixel_stream_config_default(&c);
    c.time_window = -1;
    expect_refused(c, "time_window: -1");
    slc_pixel_stream_config_default(&c);
    c.disorder = INT64_MIN;
    expect_refused(c, "disorder: -9223372036854775808");
    slc_pixel_stream_config_default(&c);
    c.features = SLC_PIXEL_FEATURES_ALL + 1;
    expect_refused(c, "features: 0x80");
    slc_pixel_stream_config_default(&c);
    c.max_open = 0;
    expect_refused(c, "max_open: 0");
    c.max_open = UINT32_MAX;
    expect_refused(c, "max_open: 4294967295");
}

static void test_bad_calls(void **state)
{
    (void)state;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    slc_error error = {SLC_OK, ""};
    slc_pixel_stream *stream = NULL;
    assert_int_equal(slc_pixel_stream_open(&config, &stream, NULL), SLC_OK);
    collection closed, fewer;
    collection_open(&closed, config.features, 1);
    closed.of.head.capacity = 1; /* there may be more */
    collection_open(&fewer, SLC_PIXEL_SIZE, 10);
    uint16_t ones[] = {1, 1, 1, 1};
    int64_t times[] = {0, 1000, 2000, 3000};
    slc_pixels pixels = {.head = {.size = 4, .capacity = 4}, .x = ones, .y = ones, .time = times};
    size_t taken = 9;
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 3, 2, &closed.of, &taken, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "2 from 3 on"));
    assert_int_equal(taken, 0);
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 5, SIZE_MAX, &closed.of, NULL, NULL),
                     SLC_ERR_USAGE);
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, 4, &fewer.of, NULL, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no column x_min"));
    pixels.time = NULL;
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, 4, &closed.of, NULL, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no column time"));
    assert_int_equal(slc_pixel_stream_count(stream).pixels, 0);
    /* No push between a finish that found no room and the one that does. */
    pixels.time = times;
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, 4, &closed.of, NULL, &error), SLC_OK);
    assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, &error), SLC_ERR_CAPACITY);
    assert_non_null(strstr(error.text, "room for 1"));
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, 4, &closed.of, NULL, &error), SLC_ERR_USAGE);
    for (int i = 0; i < 3; i++) {
        slc_columns_reset(&closed.of);
        assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, &error),
                         i < 2 ? SLC_ERR_CAPACITY : SLC_OK);
        assert_int_equal(closed.of.first_time[0], (i + 1) * 1000);
    }
    slc_pixel_stream_close(stream);
    slc_columns_clear(&closed.schema, &closed.of);
    slc_columns_clear(&fewer.schema, &fewer.of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_for_a_chip),
        cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_bad_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
