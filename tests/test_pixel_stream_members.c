/* SPDX-License-Identifier: Apache-2.0
 * The pixels of a stream's clusters: rows are those of a stream without them, to the bit; each pixel that is
 * in a cluster comes out once, in the order told, with what it has in the list; those of a cluster are
 * connected, and their sums are the row's. Whatever the pieces and the room; clusters closed early; no call
 * to the allocator. */
#include "base/columns.h"
#include "support/cmocka_all.h"
#include "support/failing_allocator.h"
#include "support/random.h"

#include <sluice/pixel_stream.h>

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, ROUNDS = 300, FEATURES = SLC_PIXEL_FEATURES_ALL };

static uint16_t xs[MOST], ys[MOST];
static uint32_t charges[MOST];
static int64_t times[MOST];
static bool seen[MOST];

typedef struct found {
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_schema schema;
    slc_pixel_clusters clusters;
    slc_pixel_members members;
} found;

static void found_open(found *f)
{
    memset(f, 0, sizeof *f);
    f->schema = slc_pixel_clusters_schema(FEATURES, 0, f->columns);
    assert_int_equal(slc_columns_reserve(&f->schema, &f->clusters, MOST, 1), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pixel_members_schema, &f->members, MOST, MOST), SLC_OK);
}

static void found_clear(found *f)
{
    slc_columns_clear(&f->schema, &f->clusters);
    slc_columns_clear(&slc_pixel_members_schema, &f->members);
}

/* Grains of up to nine pixels, and snakes that several clusters grow into. */
static slc_pixels make_list(size_t n, uint32_t span, uint32_t step, uint32_t jitter, uint64_t *seed)
{
    int64_t now = (int64_t)random_below(seed, 1000) - 500;
    for (size_t i = 0; i < n; i++) {
        now += random_below(seed, step + 1);
        xs[i] = (uint16_t)random_below(seed, span);
        ys[i] = (uint16_t)random_below(seed, span);
        charges[i] = random_below(seed, 6);
        times[i] = now - random_below(seed, jitter + 1);
    }
    return (slc_pixels){
        .head = {.size = n, .capacity = n}, .x = xs, .y = ys, .charge = charges, .time = times};
}

static slc_pixel_stream *open_stream(slc_pixel_stream_config *config, found *f)
{
    slc_pixel_stream *stream = NULL;
    assert_int_equal(slc_pixel_stream_open(config, &stream, NULL), SLC_OK);
    slc_pixel_stream_members(stream, config->members ? &f->members : NULL);
    return stream;
}

/* Pieces of the list, into room that grows by what is missing, one at a time. */
static void run(slc_pixel_stream *stream, const slc_pixels *list, uint32_t piece, bool is_tight, found *f,
                uint64_t *seed)
{
    slc_columns *const heads[] = {&f->clusters.head, &f->members.head};
    size_t done = 0;
    slc_status status = SLC_OK;
    for (int i = 0; i < 2 && is_tight; i++) {
        heads[i]->capacity = 0;
    }
    do {
        const size_t left = list->head.size - done, cut = 1 + random_below(seed, piece);
        size_t taken = 0;
        status = left > 0 ? slc_pixel_stream_push(stream, list, done, cut < left ? cut : left, &f->clusters,
                                                  &taken, NULL)
                          : slc_pixel_stream_finish(stream, &f->clusters, NULL);
        done += taken;
        assert_true(status == SLC_OK || (is_tight && status == SLC_ERR_CAPACITY));
        if (status == SLC_ERR_CAPACITY) {
            const bool of_rows = heads[0]->size == heads[0]->capacity;
            heads[of_rows ? 0 : 1]->capacity++;
            assert_true(heads[0]->capacity <= MOST && heads[1]->capacity <= MOST);
        } else if (left == 0) {
            break;
        }
    } while (true);
}

static bool is_near(const slc_pixel_members *m, size_t a, size_t b, const slc_pixel_stream_config *c)
{
    const int dx = abs(m->x[a] - m->x[b]), dy = abs(m->y[a] - m->y[b]);
    const int64_t dt = llabs(m->time[a] - m->time[b]);
    return dt <= c->time_window &&
           (c->radius == 0 ? dx + dy <= 1 : dx <= (int)c->radius && dy <= (int)c->radius);
}

/* Flood from the first. */
static void expect_connected(const slc_pixel_members *m, size_t begin, size_t end,
                             const slc_pixel_stream_config *c)
{
    static size_t stack[MOST];
    static bool reached[MOST];
    size_t n = 0, total = 1;
    memset(reached, 0, sizeof reached);
    reached[begin] = true;
    stack[n++] = begin;
    while (n > 0) {
        const size_t at = stack[--n];
        for (size_t i = begin; i < end; i++) {
            if (!reached[i] && is_near(m, at, i, c)) {
                reached[i] = true;
                stack[n++] = i;
                total++;
            }
        }
    }
    assert_int_equal(total, end - begin);
}

static void expect_row(const found *f, uint32_t row, const slc_pixel_stream_config *config)
{
    const slc_pixel_members *m = &f->members;
    const slc_pixel_clusters *c = &f->clusters;
    const size_t begin = m->head.event_offset[row], end = m->head.event_offset[row + 1];
    uint64_t mass = 0, sum_x = 0, sum_y = 0;
    uint32_t peak = 0;
    assert_int_equal(end - begin, c->size[row]);
    for (size_t i = begin; i < end; i++) {
        const size_t p = m->pixel[i];
        assert_true(p < MOST && !seen[p]);
        seen[p] = true;
        assert_true(m->x[i] == xs[p] && m->y[i] == ys[p] && m->charge[i] == charges[p]);
        assert_true(m->time[i] == times[p]);
        if (i > begin) {
            const uint32_t before = (uint32_t)m->y[i - 1] << 16 | m->x[i - 1],
                           now = (uint32_t)m->y[i] << 16 | m->x[i];
            assert_true(
                m->time[i - 1] < m->time[i] ||
                (m->time[i - 1] == m->time[i] && (before < now || (before == now && m->pixel[i - 1] < p))));
        }
        mass += charges[p];
        sum_x += xs[p];
        sum_y += ys[p];
        peak = charges[p] > peak ? charges[p] : peak;
    }
    assert_int_equal(mass, c->mass[row]);
    assert_int_equal(peak, c->peak[row]);
    assert_true(c->centroid_x[row] == (double)sum_x / (double)c->size[row]);
    assert_true(c->centroid_y[row] == (double)sum_y / (double)c->size[row]);
    assert_true(m->time[begin] == c->first_time[row] && m->time[end - 1] == c->last_time[row]);
    expect_connected(m, begin, end, config);
}

static void compare(slc_pixel_stream_config *config, const slc_pixels *list, uint32_t piece, bool is_tight,
                    uint64_t *seed)
{
    found with, without;
    found_open(&with);
    found_open(&without);
    config->members = false;
    slc_pixel_stream *stream = open_stream(config, &without);
    run(stream, list, piece, false, &without, seed);
    slc_pixel_stream_close(stream);
    config->members = true;
    stream = open_stream(config, &with);
    run(stream, list, piece, is_tight, &with, seed);
    const slc_pixel_stream_counts counts = slc_pixel_stream_count(stream);
    slc_pixel_stream_close(stream);
    memset(seen, 0, sizeof seen);
    assert_int_equal(with.clusters.head.size, without.clusters.head.size);
    assert_int_equal(with.members.head.n_events, with.clusters.head.size);
    with.clusters.head.n_events = without.clusters.head.n_events = 0;
    slc_columns_end_event(&with.clusters);
    slc_columns_end_event(&without.clusters);
    assert_true(slc_columns_checksum(&with.schema, &with.clusters, 0, SLC_CHECKSUM_START) ==
                slc_columns_checksum(&without.schema, &without.clusters, 0, SLC_CHECKSUM_START));
    for (uint32_t row = 0; row < with.members.head.n_events; row++) {
        expect_row(&with, row, config);
    }
    assert_int_equal(with.members.head.size, counts.pixels - counts.outside - counts.late - counts.outliers);
    found_clear(&with);
    found_clear(&without);
}

static void test_random(void **unused)
{
    uint64_t seed = 20261126;
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        slc_pixel_stream_config config;
        slc_pixel_stream_config_default(&config);
        const uint32_t span = 2 + random_below(&seed, round % 2 == 0 ? 10 : 60),
                       step = random_below(&seed, 40), jitter = random_below(&seed, 500);
        const size_t n = 1 + random_below(&seed, round % 10 == 0 ? MOST : 200);
        config.radius = random_below(&seed, 4);
        config.time_window = random_below(&seed, 100);
        config.disorder = random_below(&seed, 2) == 0 ? jitter : 100;
        config.features = FEATURES;
        config.max_open = random_below(&seed, 3) == 0 ? 1 + random_below(&seed, 40) : 1 << 12;
        config.exec.threads = 1;
        const slc_pixels list = make_list(n, span, step, jitter, &seed);
        compare(&config, &list, 1 + random_below(&seed, 300), round % 3 == 0, &seed);
    }
}

/* With the default's threads as asked, and without where they go. */
static void test_refused(void **unused)
{
    slc_pixel_stream_config config;
    slc_pixel_stream *stream = NULL;
    slc_error error = {SLC_OK, ""};
    uint64_t seed = 1;
    found f;
    (void)unused;
    found_open(&f);
    slc_pixel_stream_config_default(&config);
    config.features = FEATURES;
    config.members = true;
    config.exec.threads = 2;
    assert_int_equal(slc_pixel_stream_open(&config, &stream, &error), SLC_OK);
    const slc_pixels list = make_list(10, 5, 1, 1, &seed);
    assert_int_equal(slc_pixel_stream_push(stream, &list, 0, 10, &f.clusters, NULL, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "slc_pixel_stream_members"));
    slc_pixel_stream_members(stream, &f.members);
    assert_int_equal(slc_pixel_stream_push(stream, &list, 0, 10, &f.clusters, NULL, &error), SLC_OK);
    assert_int_equal(slc_pixel_stream_finish(stream, &f.clusters, &error), SLC_OK);
    assert_int_equal(f.members.head.size, 10);
    slc_pixel_stream_close(stream);
    found_clear(&f);
}

static void test_no_allocation(void **unused)
{
    slc_pixel_stream_config config;
    uint64_t seed = 7;
    found f;
    (void)unused;
    found_open(&f);
    slc_pixel_stream_config_default(&config);
    config.features = FEATURES;
    config.members = true;
    config.disorder = 600; /* more than the jitter */
    config.max_open = 1 << 12;
    slc_pixel_stream *stream = open_stream(&config, &f);
    const slc_pixels list = make_list(MOST, 30, 20, 500, &seed);
    allocator_calls = 0;
    run(stream, &list, 100, false, &f, &seed);
    assert_int_equal(allocator_calls, 0);
    assert_int_equal(f.members.head.size, MOST);
    slc_pixel_stream_close(stream);
    found_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_no_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
