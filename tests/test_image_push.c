/* SPDX-License-Identifier: Apache-2.0
 *
 * Components of images that come row by row against the oracle's of the whole image: every feature, in the
 * order in which components end; in pieces of any size, through collections that are just large enough, one
 * image after the other through one stream.
 */
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/image_run.h"
#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 200 * 200 };

static uint8_t on[MOST];

typedef struct stream_case {
    slc_image_stream_config config;
    slc_image_stream *stream;
    slc_column columns[SLC_IMAGE_COLUMNS];
    slc_schema schema;
    slc_image_components closed, all; /* where the stream puts them, and all that it put there */
    uint64_t seed;
    size_t height, refusals;
    char what[200];
} stream_case;

static void begin_case(stream_case *c, slc_image_stream_config config, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->config = config;
    c->seed = seed;
    slc_error error = {0};
    if (slc_image_stream_open(&config, &c->stream, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    c->schema = slc_image_components_schema(config.features, c->columns);
    /* Not always one row more than must be there. */
    const size_t least = (config.width + 1) / 2;
    assert_int_equal(slc_columns_reserve(&c->schema, &c->closed, least + random_below(&c->seed, 40), 1),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&c->schema, &c->all, MOST, 1), SLC_OK);
}

static void end_case(stream_case *c)
{
    slc_image_stream_close(c->stream);
    slc_columns_clear(&c->schema, &c->closed);
    slc_columns_clear(&c->schema, &c->all);
}

static void drain(stream_case *c)
{
    assert_int_equal(c->closed.head.n_events, 0); /* rows are appended to an event that goes on */
    assert_int_equal(slc_columns_append(&c->schema, &c->closed, 0, c->closed.head.size, &c->all), SLC_OK);
    slc_columns_reset(&c->closed);
}

/* Pushes n rows from row y on, as often as it takes. */
static void push_rows(stream_case *c, const slc_image *image, const slc_image *grey, size_t y, size_t n)
{
    while (n > 0) {
        size_t taken = SIZE_MAX;
        slc_error error = {0};
        const slc_status status = slc_image_stream_push(
            c->stream, (const char *)image->pixels + (ptrdiff_t)y * image->stride, image->stride,
            grey == NULL ? NULL : (const char *)grey->pixels + (ptrdiff_t)y * grey->stride,
            grey == NULL ? 0 : grey->stride, n, &c->closed, &taken, &error);
        assert_true(taken <= n);
        if (status == SLC_ERR_CAPACITY) {
            /* Only where there was less room than a row may need. */
            assert_true(taken < n);
            assert_true(c->closed.head.capacity - c->closed.head.size < (c->config.width + 1) / 2);
            c->refusals++;
        } else if (status != SLC_OK) {
            fail_msg("%s: %s", c->what, error.text);
        } else {
            assert_int_equal(taken, n);
        }
        y += taken;
        n -= taken;
        if (status != SLC_OK || random_below(&c->seed, 4) == 0) {
            drain(c);
        }
    }
}

static int compare_ends(const void *a, const void *b)
{
    const oracle_component *p = a, *q = b;
    const uint64_t left[3] = {p->y_max, p->first_y, p->first_x};
    const uint64_t right[3] = {q->y_max, q->first_y, q->first_x};
    for (size_t k = 0; k < 3; k++) {
        if (left[k] != right[k]) {
            return left[k] < right[k] ? -1 : 1;
        }
    }
    return 0;
}

/* One image through the stream. */
static void stream_expect(stream_case *c, const image_input *input, const image_input *grey)
{
    const size_t height = input->image.height;
    slc_columns_reset(&c->all);
    for (size_t y = 0; y < height;) {
        const size_t some = 1 + random_below(&c->seed, random_below(&c->seed, 2) ? 3 : 100);
        const size_t n = some < height - y ? some : height - y;
        push_rows(c, &input->image, grey == NULL ? NULL : &grey->image, y, n);
        y += n;
    }
    slc_error error = {0};
    drain(c);
    if (slc_image_stream_finish(c->stream, &c->closed, &error) != SLC_OK) {
        fail_msg("%s: the end: %s", c->what, error.text);
    }
    drain(c);
    slc_image_label_config same;
    slc_image_label_config_default(&same);
    same.connectivity = c->config.inverse ? 12 - c->config.connectivity : c->config.connectivity;
    same.features = c->config.features;
    same.min_area = c->config.min_area;
    same.max_area = c->config.max_area;
    image_expected expected;
    image_expect(&expected, input, grey, &same, c->config.inverse);
    if (expected.n != c->all.head.size) {
        fail_msg("%s: %zu components, not %u", c->what, c->all.head.size, expected.n);
    }
    qsort(expected.components, expected.n, sizeof *expected.components, compare_ends);
    image_compare_rows(&c->all, 0, &expected, c->config.features, c->what);
    image_expected_clear(&expected);
    assert_true(image_input_unchanged(input));
}

static slc_image_stream_config random_config(uint64_t *seed)
{
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = 1 + random_below(seed, 1 + random_below(seed, 200));
    config.type = (slc_image_type)random_below(seed, SLC_IMAGE_TYPES);
    config.grey_type = random_below(seed, 2) ? config.type
                                             : (slc_image_type)random_below(seed, SLC_IMAGE_TYPES);
    config.connectivity = random_below(seed, 2) ? 4 : 8;
    config.threshold = config.type == SLC_IMAGE_F32 ? random_unit(seed) : random_below(seed, 200);
    config.features = random_below(seed, 3) == 0 ? SLC_IMAGE_ALL : 1 + random_below(seed, SLC_IMAGE_ALL);
    config.inverse = random_below(seed, 3) == 0;
    if (random_below(seed, 4) == 0) {
        config.min_area = random_below(seed, 9);
        config.max_area = config.min_area + random_below(seed, 300);
    }
    return config;
}

static void random_images(void **state)
{
    (void)state;
    uint64_t seed = 1;
    size_t refusals = 0;
    for (size_t i = 0; i < image_test_count(3000); i++) {
        stream_case c;
        begin_case(&c, random_config(&seed), random_u64(&seed));
        for (size_t k = 1 + random_below(&seed, 3); k > 0; k--) {
            const size_t height = 1 + random_below(&seed, 1 + random_below(&seed, 200));
            image_input input, grey;
            const char *name = image_pattern_any(on, c.config.width, height, &seed);
            image_input_make(&input, on, c.config.width, height, c.config.type, c.config.threshold, &seed);
            image_input_grey(&grey, c.config.width, height, c.config.grey_type, false, &seed);
            const bool own = c.config.grey_type == c.config.type && random_below(&seed, 2) != 0;
            (void)snprintf(
                c.what, sizeof c.what,
                "image %zu, %s, %zu x %zu, %s, grey %s, threshold %g, %u-connected, %s, features %#x", i,
                name, c.config.width, height, slc_image_type_name(c.config.type),
                own ? "own" : slc_image_type_name(c.config.grey_type), c.config.threshold,
                c.config.connectivity, c.config.inverse ? "inverse" : "as it is", c.config.features);
            stream_expect(&c, &input, own ? NULL : &grey);
            image_input_clear(&input);
            image_input_clear(&grey);
        }
        refusals += c.refusals;
        end_case(&c);
    }
    assert_true(refusals > 0);
}

static void all_patterns(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 40}, {63, 50}, {64, 50}, {65, 50}, {130, 90}, {200, 3}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (uint32_t k = 0; k < 4; k++) {
            slc_image_stream_config config;
            slc_image_stream_config_default(&config);
            config.width = shapes[s][0];
            config.connectivity = k % 2 ? 4 : 8;
            config.inverse = k / 2;
            config.features = SLC_IMAGE_ALL & ~(uint32_t)SLC_IMAGE_GREY;
            stream_case c;
            begin_case(&c, config, s);
            uint64_t seed = k;
            for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
                image_input input;
                pattern->draw(on, shapes[s][0], shapes[s][1], &seed);
                image_input_make(&input, on, shapes[s][0], shapes[s][1], SLC_IMAGE_U8, 1, &seed);
                (void)snprintf(c.what, sizeof c.what, "%s, %zu x %zu, %u-connected, %s", pattern->name,
                               shapes[s][0], shapes[s][1], config.connectivity,
                               config.inverse ? "inverse" : "as it is");
                stream_expect(&c, &input, NULL);
                image_input_clear(&input);
            }
            end_case(&c);
        }
    }
}

/* A hundred thousand rows of one long spiral of components: memory and time do not grow with the rows. */
static void many_rows(void **state)
{
    (void)state;
    enum { WIDTH = 64, ROWS = 64 };
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = WIDTH;
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX;
    stream_case c;
    begin_case(&c, config, 1);
    uint64_t seed = 5, area = 0, wanted = 0, n = 0;
    for (uint32_t k = 0; k < image_test_count(20000); k++) {
        image_macro_pixels(on, WIDTH, ROWS, 1, 30 + k % 20, &seed);
        memset(on + WIDTH * (ROWS - 1), 0, WIDTH); /* so that nothing goes on for ever */
        for (size_t i = 0; i < WIDTH * ROWS; i++) {
            wanted += on[i];
        }
        const slc_image image = {on, WIDTH, ROWS, WIDTH, SLC_IMAGE_U8};
        slc_columns_reset(&c.all);
        push_rows(&c, &image, NULL, 0, ROWS);
        drain(&c);
        for (size_t i = 0; i < c.all.head.size; i++, n++) {
            area += c.all.area[i];
            assert_true(c.all.y_max[i] < (k + 1) * ROWS && c.all.y_max[i] >= c.all.y_min[i]);
            assert_true(c.all.y_min[i] >= k * ROWS);
        }
    }
    assert_true(area == wanted);
    assert_true(n > 1000);
    slc_columns_reset(&c.closed);
    assert_int_equal(slc_image_stream_finish(c.stream, &c.closed, NULL), SLC_OK);
    assert_int_equal(c.closed.head.size, 0);
    end_case(&c);
}

static void refused(slc_image_stream_config config, const char *word)
{
    slc_image_stream *stream = (slc_image_stream *)(void *)&config;
    slc_error error = {0};
    const slc_status status = slc_image_stream_open(&config, &stream, &error);
    if (status != SLC_ERR_USAGE || strstr(error.text, word) == NULL) {
        fail_msg("%s (%s); the text must have \"%s\"", slc_status_name(status), error.text, word);
    }
    assert_null(stream);
}

static void bad_configurations(void **state)
{
    (void)state;
    slc_image_stream_config good, bad;
    slc_image_stream_config_default(&good);
    bad = good;
    assert_int_equal(good.connectivity, 8);
    assert_true(good.threshold == 1);
    assert_true(good.max_area == UINT64_MAX);
    refused(bad, "width");
    bad.size = 0;
    refused(bad, "slc_image_stream_config_default");
    good.width = 10;
    bad = good;
    bad.width = UINT32_MAX;
    refused(bad, "width");
    bad = good;
    bad.connectivity = 5;
    refused(bad, "connectivity");
    bad = good;
    bad.type = SLC_IMAGE_TYPES;
    refused(bad, "type");
    bad = good;
    bad.features = SLC_IMAGE_GREY;
    bad.grey_type = SLC_IMAGE_TYPES;
    refused(bad, "grey");
    bad = good;
    bad.threshold = NAN;
    refused(bad, "threshold");
    bad = good;
    bad.features = SLC_IMAGE_ALL + 1;
    refused(bad, "features");
    bad = good;
    bad.min_area = 3;
    bad.max_area = 2;
    refused(bad, "area");
    slc_image_stream_close(NULL);
}

/* Collections that were made for fewer features than the stream's, and for more. */
static void foreign_collections(void **state)
{
    (void)state;
    static const uint32_t features[] = {SLC_IMAGE_AREA, SLC_IMAGE_ALL};
    slc_image_stream_config config;
    slc_image_stream_config_default(&config);
    config.width = 3;
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_BOX;
    slc_image_stream *stream = NULL;
    assert_int_equal(slc_image_stream_open(&config, &stream, NULL), SLC_OK);
    for (size_t i = 0; i < 2; i++) {
        slc_column columns[SLC_IMAGE_COLUMNS];
        const slc_schema schema = slc_image_components_schema(features[i], columns);
        slc_image_components closed = {0};
        slc_error error = {0};
        size_t taken = 7;
        static const uint8_t row[3] = {1, 0, 1};
        assert_int_equal(slc_columns_reserve(&schema, &closed, 10, 1), SLC_OK);
        assert_int_equal(slc_image_stream_push(stream, row, 3, NULL, 0, 1, &closed, &taken, &error),
                         SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "closed"));
        assert_int_equal(taken, 0);
        assert_int_equal(slc_image_stream_finish(stream, &closed, &error), SLC_ERR_USAGE);
        assert_int_equal(closed.head.size, 0);
        slc_columns_clear(&schema, &closed);
    }
    slc_image_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_images),       cmocka_unit_test(all_patterns),
        cmocka_unit_test(many_rows),           cmocka_unit_test(bad_configurations),
        cmocka_unit_test(foreign_collections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
