/* SPDX-License-Identifier: Apache-2.0
 *
 * Damaged times in a stream of pixels, one case after the other: a time in the future at every place of the
 * list, several of them, a clock that is set back, late pixels that are no new clock, and pauses. What a user
 * counts on is checked: no good pixel is lost. Random lists against brute force are in test_pixel_stream.c.
 */
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"

#include <sluice/pixel_stream.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = 100000, DISORDER = 4096, ROW = 64 };

static uint16_t xs[MOST], ys[MOST];
static int64_t times[MOST];

typedef struct outcome {
    slc_pixel_stream_counts counts;
    uint64_t pixels;    /* in clusters */
    uint64_t stretches; /* of clusters in the order of time */
} outcome;

typedef struct sink {
    slc_schema schema;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_pixel_clusters of;
    int64_t before;
    outcome *result;
} sink;

static void take(sink *s)
{
    for (size_t i = 0; i < s->of.head.size; i++) {
        s->result->pixels += s->of.size[i];
        s->result->stretches += s->result->stretches == 0 || s->of.first_time[i] < s->before;
        s->before = s->of.first_time[i];
    }
    slc_columns_reset(&s->of);
}

/* Pushes n pixels in pieces, into room for `room` clusters, then the end. */
static void run_stream(slc_pixel_stream *stream, size_t n, size_t piece, size_t room, outcome *result)
{
    sink s = {.result = result};
    *result = (outcome){0};
    s.schema = slc_pixel_clusters_schema(SLC_PIXEL_SIZE | SLC_PIXEL_TIMES, 0, s.columns);
    assert_int_equal(slc_columns_reserve(&s.schema, &s.of, room, 1), SLC_OK);
    s.of.head.capacity = room; /* of which there may be more */
    const slc_pixels pixels = {.head = {.size = n, .capacity = n}, .x = xs, .y = ys, .time = times};
    allocator_calls = 0;
    for (size_t i = 0; i < n;) {
        size_t taken = 0;
        const slc_status status = slc_pixel_stream_push(stream, &pixels, i, n - i < piece ? n - i : piece,
                                                        &s.of, &taken, NULL);
        assert_true(status == SLC_OK || (status == SLC_ERR_CAPACITY && s.of.head.size == room));
        i += taken;
        take(&s);
    }
    slc_status status = SLC_OK;
    do {
        status = slc_pixel_stream_finish(stream, &s.of, NULL);
        assert_true(status == SLC_OK || (status == SLC_ERR_CAPACITY && s.of.head.size == room));
        take(&s);
    } while (status != SLC_OK);
    assert_int_equal(allocator_calls, 0);
    result->counts = slc_pixel_stream_count(stream);
    slc_columns_clear(&s.schema, &s.of);
}

static outcome run_list(size_t n, size_t piece, size_t room)
{
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.features = SLC_PIXEL_SIZE | SLC_PIXEL_TIMES;
    config.disorder = DISORDER;
    slc_pixel_stream *stream = NULL;
    assert_int_equal(slc_pixel_stream_open(&config, &stream, NULL), SLC_OK);
    outcome result;
    run_stream(stream, n, piece, room, &result);
    slc_pixel_stream_close(stream);
    return result;
}

/* A time that goes on by up to 40 ticks from pixel to pixel, and disorder that is allowed. */
static void make_list(size_t n, int64_t begin, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        xs[i] = (uint16_t)random_below(seed, 256);
        ys[i] = (uint16_t)random_below(seed, 256);
        times[i] = begin + (int64_t)i * 20 - (int64_t)random_below(seed, DISORDER / 2);
    }
}

static void expect(outcome o, uint64_t pixels, uint64_t outliers, uint64_t late, uint64_t resets)
{
    assert_int_equal(o.counts.outliers, outliers);
    assert_int_equal(o.counts.late, late);
    assert_int_equal(o.counts.resets, resets);
    assert_int_equal(o.pixels, pixels);
    assert_true(o.stretches == resets + 1);
}

/* One flipped bit costs one pixel, wherever it is; at the end nothing tells that it is wrong. */
static void test_one_in_the_future(void **state)
{
    (void)state;
    static const size_t places[] = {0, 1, 2, 63, 64, 1000, 50000, MOST - 2, MOST - 1};
    static const size_t pieces[] = {1, 7, 1024, MOST};
    uint64_t seed = 61;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const size_t piece = pieces[i % 4];
        make_list(MOST, 5000, &seed);
        times[places[i]] += (int64_t)1 << 40;
        const bool is_last = places[i] == MOST - 1;
        expect(run_list(MOST, piece, 1 + (i % 3) * 500), is_last ? MOST : MOST - 1, !is_last, 0, 0);
    }
}

/* The ends of int64 are times like others. */
static void test_ends_of_time(void **state)
{
    (void)state;
    uint64_t seed = 62;
    for (size_t place = 0; place < 200; place += 66) {
        make_list(1000, INT64_MIN + DISORDER, &seed);
        times[place] = INT64_MAX;
        expect(run_list(1000, 10, 1000), 999, 1, 0, 0);
        make_list(1000, INT64_MAX - 1000 * 20, &seed);
        times[place] = INT64_MIN; /* the first pixel of all may be as early as it likes */
        expect(run_list(1000, 10, 1000), place == 0 ? 1000 : 999, 0, place != 0, 0);
    }
}

/* The first of two is confirmed by the second where that is later still: then the clock seems to be set back,
 * and the good pixels show it. In falling order both are outliers. */
static void test_two_in_the_future(void **state)
{
    (void)state;
    uint64_t seed = 63;
    for (size_t place = 0; place < 400; place += 199) {
        make_list(1000, 5000, &seed);
        times[place] = (int64_t)1 << 50;
        times[place + 1] = (int64_t)1 << 40;
        expect(run_list(1000, 100, 3), 998, 2, 0, 0);
        times[place] = (int64_t)1 << 40;
        times[place + 1] = (int64_t)1 << 50;
        const outcome o = run_list(1000, 100, 3);
        expect(o, 999, 1, 0, 1);
        assert_int_equal(o.counts.pixels, 1000);
    }
}

/* Two measurements one behind the other, and a clock that is set back again and again. */
static void test_set_back(void **state)
{
    (void)state;
    uint64_t seed = 64;
    make_list(MOST, 5000, &seed);
    const int64_t back = times[MOST / 2];
    for (size_t i = MOST / 2; i < MOST; i++) {
        times[i] -= back;
    }
    expect(run_list(MOST, 1000, 2), MOST, 0, 0, 1);
    for (size_t part = ROW; part <= 1000; part += 117) {
        make_list(MOST, 5000, &seed);
        for (size_t i = 0; i < MOST; i++) {
            times[i] = (int64_t)((i % part) * 20) - (int64_t)(i / part) * 100000;
        }
        const size_t n = MOST / part * part;
        expect(run_list(n, 1 + part, 1 + part / 10), n, 0, 0, MOST / part - 1);
    }
}

/* 63 are no row, nor are 64 that fall, nor any number with one in between that is taken. */
static void test_late_stays_late(void **state)
{
    (void)state;
    uint64_t seed = 65;
    for (uint32_t kind = 0; kind < 3; kind++) {
        const size_t n_late = kind == 0 ? ROW - 1 : 10 * ROW;
        make_list(2000, 1000000, &seed);
        uint64_t late = 0;
        for (size_t i = 0; i < n_late; i++) {
            if (kind != 2 || i % ROW != 0) {
                times[500 + i] = kind == 1 ? 900000 - (int64_t)i * (DISORDER + 1) : (int64_t)i;
                late++;
            }
        }
        expect(run_list(2000, 9, 100), 2000 - late, 0, late, 0);
    }
    /* At the end of a stream a row that is not full is late; the next stream knows nothing of it. */
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.features = SLC_PIXEL_SIZE | SLC_PIXEL_TIMES;
    slc_pixel_stream *stream = NULL;
    assert_int_equal(slc_pixel_stream_open(&config, &stream, NULL), SLC_OK);
    for (uint64_t again = 1; again <= 2; again++) {
        make_list(1000, 1000000, &seed);
        for (size_t i = 1001 - ROW; i < 1000; i++) {
            times[i] = (int64_t)i;
        }
        outcome o;
        run_stream(stream, 1000, 1000, 1000, &o);
        assert_int_equal(o.pixels, 1001 - ROW);
        assert_int_equal(o.counts.late, again * (ROW - 1));
        assert_int_equal(o.counts.resets, 0);
    }
    slc_pixel_stream_close(stream);
}

/* Pixels that are further apart than the disorder, each alone. */
static void test_quiet_stream(void **state)
{
    (void)state;
    uint64_t seed = 66;
    make_list(5000, 0, &seed);
    for (size_t i = 0; i < 4096; i++) {
        times[i] = INT64_MIN + (int64_t)(i * ((uint64_t)1 << 51));
    }
    expect(run_list(4096, 10, 7), 4096, 0, 0, 0);
    for (size_t i = 0; i < 5000; i++) { /* and in pairs, the second one before the first */
        times[i] = (int64_t)(i / 2 * 100000) - (int64_t)(i % 2) * DISORDER;
    }
    expect(run_list(5000, 10, 7), 5000, 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_in_the_future), cmocka_unit_test(test_ends_of_time),
        cmocka_unit_test(test_two_in_the_future), cmocka_unit_test(test_set_back),
        cmocka_unit_test(test_late_stays_late),   cmocka_unit_test(test_quiet_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
