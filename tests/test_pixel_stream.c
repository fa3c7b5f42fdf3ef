/* SPDX-License-Identifier: Apache-2.0
 * Clusters of an endless list of pixels, against brute force: the same clusters in the same order, given out
 * with the same pixel, however the list is cut and however little room there is; times at the ends of int64;
 * and no call to the allocator in a long stream. */
#include "oracle/pixel_stream_oracle.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 3000,
    SHORT = 70,
    SHORT_ROUNDS = 10000,
    LONG_ROUNDS = 200,
    DAMAGED = 500,
    DAMAGED_ROUNDS = 4000
};

static oracle_stream_pixel list[MOST];
static oracle_stream_cluster wanted[MOST];
static uint16_t xs[MOST], ys[MOST];
static uint32_t charges[MOST];
static int64_t times[MOST];

static size_t test_count(size_t n)
{
    const char *percent = getenv("SLUICE_TEST_PERCENT");
    size_t part = percent == NULL ? 100 : strtoul(percent, NULL, 10);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    part = percent == NULL ? 10 : part;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    part = percent == NULL ? 10 : part;
#endif
#endif
    return n * part / 100 > 0 ? n * part / 100 : 1;
}

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

static bool is_alone; /* of two threads clusters come later */
static slc_pixel_stream *stream_open(const slc_pixel_stream_config *config)
{
    is_alone = config->exec.threads == 1;
    slc_pixel_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    if (slc_pixel_stream_open(config, &stream, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return stream;
}

/* The list as columns. Without charges the oracle's pixels are of charge 1. */
static slc_pixels columns_of(size_t n, bool has_charges)
{
    for (size_t i = 0; i < n; i++) {
        xs[i] = list[i].x;
        ys[i] = list[i].y;
        times[i] = list[i].time;
        list[i].charge = has_charges ? list[i].charge : 1;
        charges[i] = list[i].charge;
    }
    return (slc_pixels){.head = {.size = n, .capacity = n},
                        .x = xs,
                        .y = ys,
                        .charge = has_charges ? charges : NULL,
                        .time = times};
}

/* ---- comparison -------------------------------------------------------------------------------- */

static void expect_row(const slc_pixel_clusters *c, size_t row, const oracle_stream_cluster *w)
{
    const double size = (double)w->size, mass = (double)w->mass;
    assert_int_equal(c->size[row], w->size);
    assert_int_equal(c->mass[row], w->mass);
    assert_true(c->x_min[row] == w->x_min && c->y_min[row] == w->y_min);
    assert_true(c->x_max[row] == w->x_max && c->y_max[row] == w->y_max);
    assert_true(c->first_time[row] == w->first_time && c->last_time[row] == w->last_time);
    assert_int_equal(c->largest[row], w->largest);
    assert_true(c->centroid_x[row] == (double)w->sum_x / size);
    assert_true(c->centroid_y[row] == (double)w->sum_y / size);
    if (w->mass == 0) {
        assert_true(isnan(c->weighted_x[row]) && isnan(c->weighted_y[row]));
    } else {
        assert_true(c->weighted_x[row] == (double)w->weighted_x / mass);
        assert_true(c->weighted_y[row] == (double)w->weighted_y / mass);
    }
    assert_true(oracle_pixel_shape_same(c, row, &w->moments));
}

/* Compares and empties what was given out; how many clusters there are now. */
static size_t expect_next(collection *closed, size_t found, size_t n_wanted)
{
    assert_true(found + closed->of.head.size <= n_wanted);
    for (size_t i = 0; i < closed->of.head.size; i++) {
        expect_row(&closed->of, i, &wanted[found + i]);
    }
    found += closed->of.head.size;
    slc_columns_reset(&closed->of);
    return found;
}

/* Pushes pieces of 1 to `piece`, into room for `room` clusters; with `is_prompt` clusters must come out with
 * the very pixel that lets the oracle give them out. */
static void run_and_compare(slc_pixel_stream *stream, const slc_pixels *pixels, size_t n_wanted,
                            uint32_t piece, size_t room, bool is_prompt, uint64_t *seed)
{
    collection closed;
    collection_open(&closed, SLC_PIXEL_FEATURES_ALL, room);
    closed.of.head.capacity = room; /* of which there may be more */
    size_t found = 0, due = 0;
    for (size_t i = 0; i < pixels->head.size;) {
        const size_t left = pixels->head.size - i, cut = 1 + random_below(seed, piece);
        size_t n = cut < left ? cut : left, taken = SIZE_MAX;
        slc_status status;
        do {
            status = slc_pixel_stream_push(stream, pixels, i, n, &closed.of, &taken, NULL);
            assert_true(taken <= n);
            assert_true(status == SLC_OK ? taken == n
                                         : status == SLC_ERR_CAPACITY && closed.of.head.size == room);
            found = expect_next(&closed, found, n_wanted);
            i += taken;
            n -= taken;
        } while (status != SLC_OK);
        for (; due < n_wanted && wanted[due].after <= i; due++) {
        }
        assert_true(!is_prompt || !is_alone || found == due);
    }
    slc_status status;
    do {
        status = slc_pixel_stream_finish(stream, &closed.of, NULL);
        assert_true(status == SLC_OK || (status == SLC_ERR_CAPACITY && closed.of.head.size == room));
        found = expect_next(&closed, found, n_wanted);
    } while (status != SLC_OK);
    assert_int_equal(found, n_wanted);
    slc_columns_clear(&closed.schema, &closed.of);
}

static void expect_counts(slc_pixel_stream_counts a, slc_pixel_stream_counts b,
                          slc_pixel_stream_counts wanted_of)
{
    assert_int_equal(b.pixels - a.pixels, wanted_of.pixels);
    assert_int_equal(b.clusters - a.clusters, wanted_of.clusters);
    assert_int_equal(b.outside - a.outside, wanted_of.outside);
    assert_int_equal(b.late - a.late, wanted_of.late);
    assert_int_equal(b.early - a.early, wanted_of.early);
    assert_int_equal(b.outliers - a.outliers, wanted_of.outliers);
    assert_int_equal(b.resets - a.resets, wanted_of.resets);
}

/* ---- random lists ------------------------------------------------------------------------------ */

typedef struct shape {
    uint32_t x_span, y_span, x_step, y_step; /* pixels lie on a grid of span, so many apart */
    uint64_t step;                           /* time goes on by less than this from pixel to pixel … */
    uint64_t jitter;                         /* … and comes so much earlier or less */
    int64_t begin;
    uint32_t damaged;  /* one time in so many is any time; 0: none */
    uint32_t set_back; /* before one pixel in so many the clock is set back; 0: never */
} shape;

/* Times are added with care at the end of int64, where they stay. */
static int64_t later(int64_t time, uint64_t ticks)
{
    const uint64_t left = (uint64_t)INT64_MAX - (uint64_t)time;
    return (int64_t)((uint64_t)time + (ticks < left ? ticks : left));
}

static int64_t sooner(int64_t time, uint64_t ticks)
{
    const uint64_t left = (uint64_t)time - (uint64_t)INT64_MIN;
    return (int64_t)((uint64_t)time - (ticks < left ? ticks : left));
}

static void make_list(const shape *s, size_t n, uint64_t *seed)
{
    int64_t now = s->begin;
    for (size_t i = 0; i < n; i++) {
        now = later(now, random_u64(seed) % s->step);
        if (s->set_back != 0 && random_below(seed, s->set_back) == 0) {
            now = random_below(seed, 2) == 0 ? s->begin
                                             : sooner(now, random_u64(seed) >> random_below(seed, 64));
        }
        if (random_below(seed, 300) == 0) { /* a pause, perhaps to the end of time */
            now = later(now, random_u64(seed) >> random_below(seed, 64));
        }
        list[i] = (oracle_stream_pixel){.time = sooner(now, random_u64(seed) % (s->jitter + 1)),
                                        .x = (uint16_t)(random_below(seed, s->x_span) * s->x_step),
                                        .y = (uint16_t)(random_below(seed, s->y_span) * s->y_step),
                                        .charge = random_below(seed, 4)};
        if (i > 0 && random_below(seed, 12) == 0) { /* the same pixel again, at the same time */
            list[i] = list[s->set_back != 0 || random_below(seed, 2) == 0 ? i - 1
                                                                          : random_below(seed, (uint32_t)i)];
            list[i].charge = random_below(seed, 1000) == 0 ? UINT32_MAX : random_below(seed, 3);
        }
        if (s->damaged != 0 && random_below(seed, s->damaged) == 0) { /* a bit that was flipped */
            list[i].time = (int64_t)((uint64_t)list[i].time ^ 1ULL << random_below(seed, 64));
        }
    }
}

static int64_t random_begin(uint64_t *seed)
{
    switch (random_below(seed, 4)) {
    case 0:
        return INT64_MIN + (int64_t)random_below(seed, 30);
    case 1:
        return INT64_MAX - (int64_t)random_below(seed, 300);
    case 2:
        return -(int64_t)random_below(seed, 200);
    default:
        return (int64_t)random_u64(seed);
    }
}

static slc_pixel_stream_config random_config(uint64_t *seed, const shape *s)
{
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    static const uint32_t radii[] = {0, 1, 1, 2, 3, 8};
    config.radius = radii[random_below(seed, 6)];
    config.width = (uint16_t)(s->x_span + (s->x_span > 2 ? random_below(seed, 3) - 1 : 0));
    config.height = (uint16_t)(s->y_span + (s->y_span > 2 ? random_below(seed, 3) - 1 : 0));
    config.time_window = random_below(seed, 20) == 0 ? INT64_MAX : (int64_t)random_below(seed, 40);
    config.features = SLC_PIXEL_FEATURES_ALL;
    config.exec.threads = 1 + (random_below(seed, 8) == 0);
    return config;
}

static void test_short_lists(void **state)
{
    (void)state;
    uint64_t seed = 51;
    for (size_t round = 0; round < test_count(SHORT_ROUNDS); round++) {
        const shape s = {.x_span = 1 + random_below(&seed, 20),
                         .y_span = 1 + random_below(&seed, 20),
                         .x_step = 1,
                         .y_step = 1,
                         .step = 1 + random_below(&seed, 25),
                         .jitter = random_below(&seed, 3) * random_below(&seed, 60),
                         .begin = random_begin(&seed)};
        slc_pixel_stream_config config = random_config(&seed, &s);
        config.disorder = random_below(&seed, 4) == 0 ? 0 : (int64_t)random_below(&seed, 254);
        config.max_open = random_below(&seed, 2) == 0 ? 1 + random_below(&seed, 20) : 100;
        slc_pixel_stream *stream = stream_open(&config);
        for (int again = 0; again < 2; again++) {
            const slc_pixel_stream_counts before = slc_pixel_stream_count(stream);
            const size_t n = random_below(&seed, SHORT);
            make_list(&s, n, &seed);
            const slc_pixels pixels = columns_of(n, random_below(&seed, 4) != 0);
            slc_pixel_stream_counts counts;
            const size_t n_wanted = oracle_stream_run(&config, list, n, wanted, &counts);
            const size_t room = random_below(&seed, 2) == 0 ? 1 + random_below(&seed, 4) : 100;
            run_and_compare(stream, &pixels, n_wanted, 1 + random_below(&seed, 30), room, true, &seed);
            expect_counts(before, slc_pixel_stream_count(stream), counts);
        }
        slc_pixel_stream_close(stream);
    }
}

/* Damaged times and clocks that are set back, in any place: also in the first and last pixels, one behind the
 * other, while little may be open, and where there is no room for what is closed. */
static void test_damaged_times(void **state)
{
    (void)state;
    uint64_t seed = 58, outliers = 0, resets = 0, again = 0, early = 0;
    for (size_t round = 0; round < test_count(DAMAGED_ROUNDS); round++) {
        const shape s = {.x_span = 1 + random_below(&seed, 20),
                         .y_span = 1 + random_below(&seed, 20),
                         .x_step = 1,
                         .y_step = 1,
                         .step = 1 + random_below(&seed, 50),
                         .jitter = random_below(&seed, 3) * random_below(&seed, 60),
                         .begin = random_begin(&seed),
                         .damaged = random_below(&seed, 3) * (1 + random_below(&seed, 200)),
                         .set_back = random_below(&seed, 4) * (1 + random_below(&seed, 150))};
        slc_pixel_stream_config config = random_config(&seed, &s);
        config.disorder = random_below(&seed, 8) == 0 ? 0 : (int64_t)random_below(&seed, 254);
        config.max_open = random_below(&seed, 2) == 0 ? 1 + random_below(&seed, 20) : DAMAGED;
        const size_t n = random_below(&seed, DAMAGED);
        make_list(&s, n, &seed);
        const slc_pixels pixels = columns_of(n, true);
        slc_pixel_stream_counts counts;
        const size_t n_wanted = oracle_stream_run(&config, list, n, wanted, &counts);
        const size_t room = random_below(&seed, 2) == 0 ? 1 + random_below(&seed, 4) : DAMAGED;
        slc_pixel_stream *stream = stream_open(&config);
        run_and_compare(stream, &pixels, n_wanted, 1 + random_below(&seed, 100), room, true, &seed);
        expect_counts((slc_pixel_stream_counts){0}, slc_pixel_stream_count(stream), counts);
        slc_pixel_stream_close(stream);
        outliers += counts.outliers;
        resets += counts.resets;
        again += counts.resets > 1;
        early += counts.resets > 0 && counts.early > 0;
    }
    if (test_count(DAMAGED_ROUNDS) == DAMAGED_ROUNDS) { /* the lists are what they are meant to be */
        assert_true(outliers > DAMAGED_ROUNDS && resets > DAMAGED_ROUNDS / 10);
        assert_true(again > DAMAGED_ROUNDS / 100 && early > DAMAGED_ROUNDS / 50);
    }
}

/* Windows of thousands of pixels, disorders of any size; a ring that grows. */
static void test_long_lists(void **state)
{
    (void)state;
    uint64_t seed = 52;
    for (size_t round = 0; round < test_count(LONG_ROUNDS); round++) {
        const shape s = {.x_span = 1 + random_below(&seed, 256),
                         .y_span = 1 + random_below(&seed, 256),
                         .x_step = 1,
                         .y_step = 1,
                         .step = 1 + (random_u64(&seed) >> (44 + random_below(&seed, 20))),
                         .jitter = random_u64(&seed) >> (1 + random_below(&seed, 63)),
                         .begin = random_begin(&seed),
                         .damaged = random_below(&seed, 2) * random_below(&seed, 500),
                         .set_back = random_below(&seed, 2) * random_below(&seed, 2000)};
        slc_pixel_stream_config config = random_config(&seed, &s);
        config.disorder = random_below(&seed, 8) == 0
                              ? INT64_MAX
                              : (int64_t)(random_u64(&seed) >> (1 + random_below(&seed, 63)));
        config.time_window = (int64_t)(random_u64(&seed) >> (1 + random_below(&seed, 63)));
        config.max_open = MOST;
        slc_pixel_stream *stream = stream_open(&config);
        const size_t n = random_below(&seed, MOST);
        make_list(&s, n, &seed);
        const slc_pixels pixels = columns_of(n, true);
        slc_pixel_stream_counts counts;
        const size_t n_wanted = oracle_stream_run_once(&config, list, n, wanted, &counts);
        run_and_compare(stream, &pixels, n_wanted, 1 + random_below(&seed, 3000),
                        1 + random_below(&seed, MOST), false, &seed);
        expect_counts((slc_pixel_stream_counts){0}, slc_pixel_stream_count(stream), counts);
        slc_pixel_stream_close(stream);
    }
}

/* A sensor of 2^32 pixels, whose table is a hash table: pixels that share a place in it are not neighbours.
 * In each third round chips come one after the other, and the table grows amid clusters. */
static void test_wide_sensor(void **state)
{
    (void)state;
    uint64_t seed = 53;
    for (size_t round = 0; round < test_count(100); round++) {
        shape s = {
            .x_span = 60, .y_span = 60, .x_step = 1, .y_step = 1, .step = 10, .jitter = 50, .begin = 0};
        slc_pixel_stream_config config = random_config(&seed, &s);
        config.width = random_below(&seed, 4) == 0 ? 5 : 0;
        config.height = 0;
        config.disorder = 50;
        config.max_open = random_below(&seed, 2) == 0 ? 1 + random_below(&seed, 20) : 100;
        const size_t n = SHORT;
        make_list(&s, n, &seed);
        for (size_t i = 0; i < n; i++) { /* corners, and places 2048 apart in both directions */
            const uint32_t fold = 2048 * random_below(&seed, 3);
            list[i].x = (uint16_t)(random_below(&seed, 4) + (config.width == 0 ? fold + 65532 : 0));
            list[i].y = (uint16_t)(random_below(&seed, 4) + 2048 * random_below(&seed, 2) +
                                   65532 * random_below(&seed, 2));
            if (round % 3 == 1) {
                list[i].x = (uint16_t)(252 + random_below(&seed, 8) +
                                       256 * random_below(&seed, 1 + (uint32_t)i / 8));
                list[i].y = (uint16_t)(252 + random_below(&seed, i < 40 ? 4 : 8));
            }
        }
        const slc_pixels pixels = columns_of(n, true);
        slc_pixel_stream_counts counts;
        const size_t n_wanted = oracle_stream_run(&config, list, n, wanted, &counts);
        slc_pixel_stream *stream = stream_open(&config);
        run_and_compare(stream, &pixels, n_wanted, 20, 1 + random_below(&seed, 100), true, &seed);
        expect_counts((slc_pixel_stream_counts){0}, slc_pixel_stream_count(stream), counts);
        slc_pixel_stream_close(stream);
    }
}

/* The hash table of a small max_open is emptied many times; half of the pixels lie beside one before. */
static void test_wide_for_long(void **state)
{
    (void)state;
    uint64_t seed = 57;
    for (size_t round = 0; round < test_count(40); round++) {
        const shape s = {.x_span = 65536, .y_span = 65536, .x_step = 1, .y_step = 1, .step = 9, .jitter = 30};
        slc_pixel_stream_config config = random_config(&seed, &s);
        config.width = config.height = 0;
        config.time_window = 40 + random_below(&seed, 40);
        config.disorder = 30;
        config.max_open = 150;
        make_list(&s, MOST, &seed);
        for (uint32_t i = 0; i < MOST; i++) { /* no pauses: time would stand still at its end */
            list[i].time = (int64_t)(i * 5) - (int64_t)random_below(&seed, 30);
            list[i].time -= round % 2 == 1 && i >= MOST / 2 ? 2000 : 0; /* the clock is set back */
            if (i >= 10 && random_below(&seed, 2) == 0) {
                const oracle_stream_pixel *near = &list[i - 1 - random_below(&seed, 8)];
                list[i].x = (uint16_t)(near->x + random_below(&seed, 3) - 1);
                list[i].y = (uint16_t)(near->y + random_below(&seed, 3) - 1);
            }
        }
        const slc_pixels pixels = columns_of(MOST, true);
        slc_pixel_stream_counts counts;
        const size_t n_wanted = oracle_stream_run_once(&config, list, MOST, wanted, &counts);
        slc_pixel_stream *stream = stream_open(&config);
        run_and_compare(stream, &pixels, n_wanted, 300, MOST, false, &seed);
        expect_counts((slc_pixel_stream_counts){0}, slc_pixel_stream_count(stream), counts);
        assert_true(counts.clusters > 500 && counts.clusters < MOST - 100);
        assert_int_equal(counts.resets, round % 2);
        slc_pixel_stream_close(stream);
    }
}

typedef struct sent {
    int64_t at;
    oracle_stream_pixel pixel;
} sent;

static int compare_sent(const void *a, const void *b)
{
    const sent *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

/* Disorder within the bound changes nothing but the index of the largest pixel: each pixel is sent with a
 * delay of its own, none in the first pass. */
static void test_any_order(void **state)
{
    (void)state;
    static sent all[MOST];
    uint64_t seed = 54;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.disorder = 2000;
    for (size_t round = 0; round < test_count(100); round++) {
        uint64_t sums[2];
        for (size_t i = 0; i < MOST; i++) {
            all[i].pixel = (oracle_stream_pixel){(int64_t)(i * 5), (uint16_t)random_below(&seed, 20),
                                                 (uint16_t)random_below(&seed, 20), random_below(&seed, 9)};
        }
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < MOST; i++) {
                all[i].at = all[i].pixel.time + (pass != 0 ? (int64_t)random_below(&seed, 2001) : 0);
            }
            qsort(all, MOST, sizeof *all, compare_sent);
            for (size_t i = 0; i < MOST; i++) {
                list[i] = all[i].pixel;
            }
            collection closed;
            collection_open(&closed, config.features, MOST);
            slc_pixel_stream *stream = stream_open(&config);
            const slc_pixels pixels = columns_of(MOST, true);
            assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, MOST, &closed.of, NULL, NULL), SLC_OK);
            assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, NULL), SLC_OK);
            assert_true(closed.of.head.size > 100 && slc_pixel_stream_count(stream).late == 0);
            slc_columns_end_event(&closed.of);
            sums[pass] = slc_columns_checksum(&closed.schema, &closed.of, 0, SLC_CHECKSUM_START);
            slc_pixel_stream_close(stream);
            slc_columns_clear(&closed.schema, &closed.of);
        }
        assert_true(sums[0] == sums[1]);
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Ten million pixels through room for 5000: every pixel comes out, and the allocator is not called. */
static void test_endless(void **state)
{
    (void)state;
    enum { PUSH = 1000 };
    uint64_t seed = 55, size = 0, mass = 0, charge = 0;
    int64_t now = -1000000;
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.max_open = 5000;
    collection closed;
    collection_open(&closed, config.features, PUSH + 5000);
    slc_pixel_stream *stream = stream_open(&config);
    const size_t pushes = test_count(10000);
    allocator_calls = 0;
    for (size_t push = 0; push < pushes; push++) {
        for (size_t i = 0; i < PUSH; i++) {
            now += random_below(&seed, 3);
            list[i] = (oracle_stream_pixel){now - (int64_t)random_below(&seed, 4000),
                                            (uint16_t)random_below(&seed, 256),
                                            (uint16_t)random_below(&seed, 256), random_below(&seed, 100)};
            charge += list[i].charge;
        }
        const slc_pixels pixels = columns_of(PUSH, true);
        assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, PUSH, &closed.of, NULL, NULL), SLC_OK);
        if (push == pushes - 1) {
            assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, NULL), SLC_OK);
        }
        for (size_t i = 0; i < closed.of.head.size; i++) {
            size += closed.of.size[i];
            mass += closed.of.mass[i];
        }
        slc_columns_reset(&closed.of);
    }
    assert_int_equal(allocator_calls, 0);
    assert_int_equal(size, (uint64_t)pushes * PUSH);
    assert_int_equal(mass, charge);
    const slc_pixel_stream_counts counts = slc_pixel_stream_count(stream);
    assert_true(counts.late == 0 && counts.outside == 0 && counts.early == 0 && counts.clusters > pushes);
    slc_pixel_stream_close(stream);
    slc_columns_clear(&closed.schema, &closed.of);
}

/* A pixel that never falls silent holds back all clusters behind it, until memory ends: then it is closed. */
static void test_noisy_pixel(void **state)
{
    (void)state;
    enum { OPEN = 600, N = MOST };
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.disorder = 0;
    config.max_open = OPEN;
    for (size_t i = 0; i < N; i++) { /* 7, 7 in every other place; between them pixels that are alone */
        const uint16_t x = (uint16_t)(20 + i % 50 * 3);
        list[i] = (oracle_stream_pixel){(int64_t)i * 10, i % 2 == 0 ? 7 : x, i % 2 == 0 ? 7 : 100, 1};
    }
    const slc_pixels pixels = columns_of(N, true);
    collection closed;
    collection_open(&closed, config.features, N);
    slc_pixel_stream *stream = stream_open(&config);
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, OPEN + 1, &closed.of, NULL, NULL),
                     SLC_OK); /* the last one is held, as it comes more than the disorder later */
    assert_int_equal(closed.of.head.size, 0);
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, OPEN + 1, 1, &closed.of, NULL, NULL), SLC_OK);
    assert_true(closed.of.head.size > 1);
    assert_int_equal(closed.of.size[0], OPEN / 2); /* the pixel just taken is still being put in order */
    assert_int_equal(closed.of.size[1], 1);
    assert_int_equal(slc_pixel_stream_push(stream, &pixels, OPEN + 2, N - OPEN - 2, &closed.of, NULL, NULL),
                     SLC_OK);
    assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, NULL), SLC_OK);
    uint64_t size = 0;
    for (size_t i = 0; i < closed.of.head.size; i++) {
        size += closed.of.size[i];
        assert_true(i == 0 || closed.of.first_time[i - 1] < closed.of.first_time[i]);
    }
    assert_int_equal(size, N);
    assert_int_equal(slc_pixel_stream_count(stream).early, 4);
    slc_pixel_stream_close(stream);
    slc_columns_clear(&closed.schema, &closed.of);
}

/* ---- features ---------------------------------------------------------------------------------- */

static void test_features(void **state)
{
    (void)state;
    uint64_t seed = 56;
    const shape s = {
        .x_span = 30, .y_span = 30, .x_step = 1, .y_step = 1, .step = 9, .jitter = 99, .begin = 5};
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    make_list(&s, 1000, &seed);
    const slc_pixels pixels = columns_of(1000, true);
    slc_pixel_stream_counts counts;
    const size_t n_wanted = oracle_stream_run_once(&config, list, 1000, wanted, &counts);
    for (uint32_t features = 0; features <= SLC_PIXEL_FEATURES_ALL; features += 1 + features / 128 * 9) {
        collection closed;
        collection_open(&closed, features, MOST);
        config.features = features;
        slc_pixel_stream *stream = stream_open(&config);
        assert_int_equal(slc_pixel_stream_push(stream, &pixels, 0, 1000, &closed.of, NULL, NULL), SLC_OK);
        assert_int_equal(slc_pixel_stream_finish(stream, &closed.of, NULL), SLC_OK);
        assert_int_equal(closed.of.head.size, n_wanted);
        for (size_t i = 0; i < n_wanted; i++) {
            assert_true(closed.of.size == NULL || closed.of.size[i] == wanted[i].size);
            assert_true(closed.of.y_max == NULL || closed.of.y_max[i] == wanted[i].y_max);
            assert_true(closed.of.mass == NULL || closed.of.mass[i] == wanted[i].mass);
            assert_true(closed.of.last_time == NULL || closed.of.last_time[i] == wanted[i].last_time);
            assert_true(closed.of.largest == NULL || closed.of.largest[i] == wanted[i].largest);
        }
        slc_pixel_stream_close(stream);
        slc_columns_clear(&closed.schema, &closed.of);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_lists),   cmocka_unit_test(test_damaged_times),
        cmocka_unit_test(test_long_lists),    cmocka_unit_test(test_wide_sensor),
        cmocka_unit_test(test_wide_for_long), cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_endless),       cmocka_unit_test(test_noisy_pixel),
        cmocka_unit_test(test_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
