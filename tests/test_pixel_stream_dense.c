/* SPDX-License-Identifier: Apache-2.0
 * Streams whose hits lie close together in time and far apart in turns, so that the two ways to find
 * neighbours take over from each other, amid clusters and where memory is short: against brute force, on
 * every target.
 */
#include "oracle/pixel_stream_oracle.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/sanitized.h"

enum { MOST = 4000, ROUNDS = 12, SHORT = 1200 };

static oracle_stream_pixel list[MOST];
static oracle_stream_cluster wanted[MOST];
static uint16_t xs[MOST], ys[MOST];
static uint32_t charges[MOST];
static int64_t times[MOST];

/* Stretches of hits that come one after the other at a step of their own; 70 of 100 beside one of the last.
 */
static void make_list(size_t n, uint32_t span, uint64_t *seed)
{
    static const uint32_t steps[] = {1, 2, 8, 30, 200};
    int64_t now = (int64_t)random_below(seed, 1000) - 500;
    uint32_t step = 1;
    for (size_t i = 0; i < n; i++) {
        step = random_below(seed, 500) == 0 ? steps[random_below(seed, 5)] : step;
        now += random_below(seed, 2 * step) +
               (random_below(seed, 900) == 0 ? INT64_C(1) << random_below(seed, 34) : 0);
        list[i] = (oracle_stream_pixel){now, (uint16_t)random_below(seed, span),
                                        (uint16_t)random_below(seed, span), random_below(seed, 5)};
        if (i >= 40 && random_below(seed, 10) < 7) {
            const oracle_stream_pixel *near = &list[i - 1 - random_below(seed, 40)];
            const int x = near->x + (int)random_below(seed, 3) - 1,
                      y = near->y + (int)random_below(seed, 3) - 1;
            list[i].x = (uint16_t)(x < 0 ? 0 : x);
            list[i].y = (uint16_t)(y < 0 ? 0 : y);
        }
        xs[i] = list[i].x;
        ys[i] = list[i].y;
        charges[i] = list[i].charge;
        list[i].time -= random_below(seed, 100);
        times[i] = list[i].time;
    }
}

static void expect_rows(const slc_pixel_clusters *c, size_t found, size_t n_wanted)
{
    assert_true(found + c->head.size <= n_wanted);
    for (size_t i = 0; i < c->head.size; i++) {
        const oracle_stream_cluster *w = &wanted[found + i];
        assert_int_equal(c->size[i], w->size);
        assert_int_equal(c->mass[i], w->mass);
        assert_int_equal(c->largest[i], w->largest);
        assert_true(c->first_time[i] == w->first_time && c->last_time[i] == w->last_time);
        assert_true(c->x_min[i] == w->x_min && c->x_max[i] == w->x_max);
        assert_true(c->y_min[i] == w->y_min && c->y_max[i] == w->y_max);
        assert_true(c->centroid_x[i] == (double)w->sum_x / (double)w->size);
        assert_true(oracle_pixel_shape_same(c, i, &w->moments));
    }
}

static void run_and_compare(const slc_pixel_stream_config *config, size_t n, size_t n_wanted,
                            const slc_pixel_stream_counts *counts, uint64_t *seed)
{
    const slc_pixels pixels = {
        .head = {.size = n, .capacity = n}, .x = xs, .y = ys, .charge = charges, .time = times};
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    const slc_schema schema = slc_pixel_clusters_schema(config->features, 0, columns);
    slc_pixel_clusters closed = {.size = NULL};
    assert_int_equal(slc_columns_reserve(&schema, &closed, MOST, 1), SLC_OK);
    slc_pixel_stream *stream = NULL;
    assert_int_equal(slc_pixel_stream_open(config, &stream, NULL), SLC_OK);
    allocator_calls = 0;
    size_t found = 0;
    for (size_t i = 0; i < n;) {
        const size_t cut = 1 + random_below(seed, 2000), piece = cut < n - i ? cut : n - i;
        assert_int_equal(slc_pixel_stream_push(stream, &pixels, i, piece, &closed, NULL, NULL), SLC_OK);
        expect_rows(&closed, found, n_wanted);
        found += closed.head.size;
        slc_columns_reset(&closed);
        i += piece;
    }
    assert_int_equal(slc_pixel_stream_finish(stream, &closed, NULL), SLC_OK);
    expect_rows(&closed, found, n_wanted);
    assert_int_equal(found + closed.head.size, n_wanted);
    assert_int_equal(allocator_calls, 0);
    const slc_pixel_stream_counts c = slc_pixel_stream_count(stream);
    assert_true(c.early == counts->early && c.late == counts->late && c.outliers == counts->outliers &&
                c.resets == counts->resets);
    slc_pixel_stream_close(stream);
    slc_columns_clear(&schema, &closed);
}

static void on_every_target(slc_pixel_stream_config *config, size_t n, size_t n_wanted,
                            const slc_pixel_stream_counts *counts, uint64_t *seed)
{
    for (int t = SLC_SIMD_AUTO; t < SLC_SIMD_TARGETS; t++) {
        if (t == SLC_SIMD_AUTO || slc_simd_runs((slc_simd_target)t)) {
            config->exec.target = (slc_simd_target)t;
            run_and_compare(config, n, n_wanted, counts, seed);
        }
    }
}

static slc_pixel_stream_config config_of(uint32_t round, uint32_t span)
{
    static const uint32_t radii[] = {1, 0, 2, 8};
    slc_pixel_stream_config config;
    slc_pixel_stream_config_default(&config);
    config.radius = radii[round % 4];
    config.width = config.height = (uint16_t)span;
    config.time_window = round % 3 == 2 ? 400 : 20;
    config.disorder = 99;
    config.features = SLC_PIXEL_FEATURES_ALL;
    return config;
}

static void test_in_turns(void **state)
{
    (void)state;
    uint64_t seed = 61;
    for (uint32_t round = 0; round < ROUNDS; round += (uint32_t)test_step(SANITIZED ? 5 : 1)) {
        const uint32_t span = round % 2 == 0 ? 256 : 40;
        slc_pixel_stream_config config = config_of(round, span);
        slc_pixel_stream_counts counts;
        make_list(MOST, span, &seed);
        const size_t n_wanted = oracle_stream_run_once(&config, list, MOST, wanted, &counts);
        assert_true(n_wanted > 100 && counts.early == 0);
        on_every_target(&config, MOST, n_wanted, &counts, &seed);
    }
}

/* Clusters are closed early in both ways. */
static void test_short_of_memory(void **state)
{
    (void)state;
    uint64_t seed = 62, early = 0;
    for (uint32_t round = 0; round < 4; round++) {
        slc_pixel_stream_config config = config_of(round, 30);
        config.max_open = 20 + 30 * round;
        slc_pixel_stream_counts counts;
        make_list(SHORT, 30, &seed);
        const size_t n_wanted = oracle_stream_run(&config, list, SHORT, wanted, &counts);
        on_every_target(&config, SHORT, n_wanted, &counts, &seed);
        early += counts.early;
    }
    assert_true(early > 40);
}

/* Coordinates to the ends of a side of 65536, which are no neighbours; and a slice of time that is crowded.
 */
static void test_far_and_crowded(void **state)
{
    (void)state;
    uint64_t seed = 63;
    for (uint32_t round = 0; round < 4; round++) {
        slc_pixel_stream_config config = config_of(round, round % 2 == 0 ? 0 : 65519);
        config.height = 4;
        config.disorder = INT64_C(1) << 40;
        make_list(MOST, 4, &seed);
        for (size_t i = 0; i < MOST; i++) {
            const uint32_t side = round % 2 == 0 ? 65536 : 65519;
            list[i].x = xs[i] = (uint16_t)(random_below(&seed, 2) == 0 ? xs[i] : side - 1 - xs[i]);
            list[i].time = times[i] = i % 50 == 0 ? (int64_t)i << 28 : (int64_t)(i / 400) + 7;
        }
        slc_pixel_stream_counts counts;
        const size_t n_wanted = oracle_stream_run_once(&config, list, MOST, wanted, &counts);
        on_every_target(&config, MOST, n_wanted, &counts, &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_turns),
                                       cmocka_unit_test(test_short_of_memory),
                                       cmocka_unit_test(test_far_and_crowded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
