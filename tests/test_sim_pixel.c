/* SPDX-License-Identifier: Apache-2.0
 * The generator of pixel lists: the same pixels as the generator of images draws, whole and in order or
 * shuffled; streams of pixels that keep their promise about time; configurations that cannot be drawn.
 */
#include "sim/sim_image_random.h"
#include "support/cmocka_all.h"

#include <sluice/sim.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WITH = SLC_PIXEL_CHARGE | SLC_PIXEL_TIME };

static slc_column columns[SLC_PIXEL_COLUMNS];

static void clear(slc_pixels *pixels)
{
    const slc_schema schema = slc_pixels_schema(WITH, columns);
    slc_columns_clear(&schema, pixels);
}

/* Marks the pixels of event e; fails where one is there twice or does not fit. */
static size_t mark(const slc_pixels *pixels, uint32_t e, const slc_sim_pixels_config *config, uint8_t *image)
{
    const size_t first = pixels->head.event_offset[e], end = pixels->head.event_offset[e + 1];
    memset(image, 0, (size_t)config->width * config->height);
    for (size_t i = first; i < end; i++) {
        assert_true(pixels->x[i] < config->width && pixels->y[i] < config->height);
        uint8_t *pixel = image + (size_t)pixels->y[i] * config->width + pixels->x[i];
        assert_int_equal(*pixel, 0);
        *pixel = 1;
        assert_true(pixels->charge[i] >= 1 && pixels->charge[i] <= 255);
        assert_true(pixels->time[i] >= 0 && pixels->time[i] < 4096);
    }
    return end - first;
}

static bool is_raster(const slc_pixels *pixels, uint32_t e)
{
    for (size_t i = pixels->head.event_offset[e] + 1; i < pixels->head.event_offset[e + 1]; i++) {
        if (pixels->y[i] < pixels->y[i - 1] ||
            (pixels->y[i] == pixels->y[i - 1] && pixels->x[i] < pixels->x[i - 1])) {
            return false;
        }
    }
    return true;
}

static void lists_are_the_images(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 40; k++) {
        slc_sim_pixels_config config = {.seed = k,
                                        .first = 3 * k,
                                        .width = (uint16_t)(1 + 37 * k % 300),
                                        .height = (uint16_t)(1 + 53 * k % 200),
                                        .density = k / 39.0,
                                        .granularity = 1 + k % 4,
                                        .images = 1 + k % 5,
                                        .shuffled = k % 2 != 0};
        const size_t area = (size_t)config.width * config.height;
        uint8_t *drawn = malloc(area), *listed = malloc(area);
        assert_true(drawn != NULL && listed != NULL);
        slc_pixels pixels = {0};
        slc_error error = {0};
        assert_int_equal(slc_sim_pixels(&config, WITH, &pixels, &error), SLC_OK);
        assert_int_equal(pixels.head.n_events, config.images);
        for (uint32_t e = 0; e < config.images; e++) {
            const slc_sim_image_config image = {.seed = slc_sim_pixels_image_seed(k, 3 * k + e),
                                                .width = config.width,
                                                .height = config.height,
                                                .density = config.density,
                                                .granularity = config.granularity};
            assert_int_equal(slc_sim_image(&image, 1, drawn, config.width, &error), SLC_OK);
            const size_t n = mark(&pixels, e, &config, listed);
            assert_memory_equal(drawn, listed, area);
            assert_true(config.shuffled ? n < 50 || !is_raster(&pixels, e) : is_raster(&pixels, e));
        }
        clear(&pixels);
        free(drawn);
        free(listed);
    }
}

static void bad_configurations(void **state)
{
    (void)state;
    slc_sim_pixels_config good, bad;
    slc_sim_pixels_config_default(&good);
    slc_pixels pixels = {0};
    slc_error error = {0};
    bad = good;
    bad.width = 0;
    assert_int_equal(slc_sim_pixels(&bad, WITH, &pixels, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "size"));
    bad = good;
    bad.density = NAN;
    assert_int_equal(slc_sim_pixels(&bad, WITH, &pixels, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "density"));
    bad = good;
    bad.granularity = 0;
    assert_int_equal(slc_sim_pixels(&bad, WITH, &pixels, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "granularity"));
    assert_int_equal(slc_sim_pixels(&good, SLC_PIXEL_Z, &pixels, &error), SLC_ERR_USAGE);
    slc_sim_pixel_stream_config stream;
    slc_sim_pixel_stream_config_default(&stream);
    stream.cluster_size = 0.5;
    assert_int_equal(slc_sim_pixel_stream(&stream, 1, &pixels, &error), SLC_ERR_USAGE);
    slc_sim_pixel_stream_config_default(&stream);
    stream.cluster_ticks = 0;
    assert_int_equal(slc_sim_pixel_stream(&stream, 1, &pixels, &error), SLC_ERR_USAGE);
    assert_int_equal(pixels.head.size, 0);
}

/* Neighbours follow each other but where a cluster ends; the rate and the sizes are what was asked for. */
static void streams_keep_their_promise(void **state)
{
    (void)state;
    enum { N = 200000 };
    slc_sim_pixel_stream_config config;
    slc_sim_pixel_stream_config_default(&config);
    config.seed = 11;
    config.begin = -5000;
    slc_pixels pixels = {0};
    slc_error error = {0};
    assert_int_equal(slc_sim_pixel_stream(&config, N, &pixels, &error), SLC_OK);
    assert_int_equal(pixels.head.size, N);
    int64_t latest = config.begin;
    size_t charges = 0;
    for (size_t i = 0; i < N; i++) {
        assert_true(pixels.x[i] < 256 && pixels.y[i] < 256 && pixels.time[i] >= config.begin);
        assert_true(pixels.time[i] >= latest - config.spread);
        latest = pixels.time[i] > latest ? pixels.time[i] : latest;
        assert_true(pixels.charge[i] >= 1 && pixels.charge[i] <= 1022);
        charges += pixels.charge[i];
    }
    /* A cluster of mean size 4 every 64 ticks: 16 ticks a pixel. Few clusters are stunted by the walk. */
    const double ticks = (double)(latest - config.begin) / N;
    assert_true(ticks > 15 && ticks < 18);
    assert_true((double)charges > 490.0 * N && (double)charges < 530.0 * N);
    clear(&pixels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_the_images),
        cmocka_unit_test(bad_configurations),
        cmocka_unit_test(streams_keep_their_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
