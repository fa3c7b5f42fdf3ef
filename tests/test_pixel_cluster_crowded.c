/* SPDX-License-Identifier: Apache-2.0
 *
 * Images with far more hits than places: one pixel again and again, and hits all over a small sensor, with
 * and without times. Every algorithm must find what joining whole places finds, in any time that a test may
 * take: two neighbouring places, their hits in the order of time, are joined where two that follow each other
 * are within the window.
 */
#include "baselines/baselines.h"
#include "support/cmocka_all.h"
#include "support/pixel_lists.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 256, MANY = 200000, HITS = 100000 };

typedef struct hit {
    int64_t time;
    uint32_t place, index;
} hit;

static int by_place(const void *first, const void *second)
{
    const hit *a = first, *b = second;
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return a->time != b->time ? (a->time < b->time ? -1 : 1) : (a->index > b->index) - (a->index < b->index);
}

/* ---- what must come out ------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *up, uint32_t i)
{
    while (up[i] != i) {
        i = up[i] = up[up[i]];
    }
    return i;
}

/* Two places' hits as one list. */
static void join_places(const slc_pixel_cluster_config *c, const hit *a, uint32_t n, const hit *b, uint32_t m,
                        uint32_t *up)
{
    const hit *last = NULL;
    for (uint32_t i = 0, j = 0; i < n || j < m;) {
        const hit *next = j == m || (i < n && a[i].time <= b[j].time) ? &a[i++] : &b[j++];
        if (last != NULL && (c->time_window < 0 || next->time - last->time <= c->time_window)) {
            const uint32_t p = root_of(up, last->index), q = root_of(up, next->index);
            up[p < q ? q : p] = p < q ? p : q;
        }
        last = next;
    }
}

/* Joins the hits of a place with those of all around it that come behind, and among themselves. */
static void join_place(const slc_pixel_cluster_config *c, const hit *hits, const uint32_t *begin, int x,
                       int y, uint32_t *up)
{
    const int r = c->connectivity == 0 ? (int)c->radius : 1, own = y * SIDE + x;
    for (int b = y; b <= y + r && b < SIDE; b++) {
        for (int a = x < r ? 0 : x - r; a <= x + r && a < SIDE; a++) {
            const int there = b * SIDE + a;
            const bool hit_too = begin[there] != begin[there + 1];
            if (there >= own && hit_too && (c->connectivity != 4 || abs(a - x) + b - y <= 1)) {
                join_places(c, hits + begin[own], begin[own + 1] - begin[own], hits + begin[there],
                            there == own ? 0 : begin[there + 1] - begin[there], up);
            }
        }
    }
}

/* Labels in the order told, and how many pixels each cluster has; returns how many there are. */
static uint32_t expect(const slc_pixel_cluster_config *c, const slc_pixels *p, uint32_t *labels,
                       uint32_t *sizes)
{
    const uint32_t n = (uint32_t)p->head.size;
    hit *hits = calloc(n, sizeof *hits);
    uint32_t *begin = calloc(SIDE * SIDE + 1, sizeof *begin), *up = calloc(n, sizeof *up);
    uint32_t *number = calloc(n, sizeof *number), clusters = 0;
    assert_true(hits != NULL && begin != NULL && up != NULL && number != NULL);
    for (uint32_t i = 0; i < n; i++) {
        hits[i] = (hit){c->time_window >= 0 ? p->time[i] : 0, (uint32_t)p->y[i] * SIDE + p->x[i], i};
        begin[hits[i].place + 1]++;
        up[i] = i;
        number[i] = UINT32_MAX;
    }
    for (uint32_t place = 0; place < SIDE * SIDE; place++) {
        begin[place + 1] += begin[place];
    }
    qsort(hits, n, sizeof *hits, by_place);
    for (uint32_t place = 0; place < SIDE * SIDE; place++) {
        if (begin[place] != begin[place + 1]) {
            join_place(c, hits, begin, (int)(place % SIDE), (int)(place / SIDE), up);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = c->time_window >= 0 ? i : hits[i].index;
        const bool counts = c->time_window >= 0 || c->duplicates == SLC_PIXEL_DUPLICATES_KEEP || i == 0 ||
                            hits[i].place != hits[i - 1].place;
        uint32_t *own = &number[root_of(up, at)];
        if (*own == UINT32_MAX) {
            sizes[clusters] = 0;
            *own = clusters++;
        }
        labels[at] = *own;
        sizes[*own] += counts;
    }
    free(hits);
    free(begin);
    free(up);
    free(number);
    return clusters;
}

/* ---- every algorithm ---------------------------------------------------------------------------- */

static void run_one(const slc_pixel_cluster_config *config, const pixel_list *list, const uint32_t *labels,
                    const uint32_t *sizes, uint32_t clusters)
{
    const size_t n = list->of.head.size;
    uint32_t *found = calloc(n, sizeof *found);
    pixel_cluster_list rows;
    pixel_cluster_list_open(&rows, config, n, 1);
    slc_pixel_clusterer *clusterer = NULL;
    slc_error error = {SLC_OK, ""};
    slc_status status = slc_pixel_cluster_open(config, &clusterer, &error);
    if (status == SLC_OK) {
        status = slc_pixel_cluster_reserve(clusterer, n, 1, &error);
    }
    if (status == SLC_OK) {
        status = slc_pixel_cluster_run(clusterer, &list->of, found, &rows.of, &error);
        assert_int_equal(status, SLC_OK);
        if (rows.of.head.size != clusters || memcmp(found, labels, n * sizeof *found) != 0 ||
            memcmp(rows.of.size, sizes, clusters * sizeof *sizes) != 0) {
            fail_msg("%s, connectivity %u, radius %u, window %lld, duplicates %d: %zu clusters, not %u, or "
                     "other labels or sizes",
                     config->algorithm, config->connectivity, config->radius, (long long)config->time_window,
                     (int)config->duplicates, rows.of.head.size, clusters);
        }
    } else { /* "bitmap" with a time window or a radius */
        assert_int_equal(status, SLC_ERR_UNSUPPORTED);
        assert_string_equal(config->algorithm, "bitmap");
    }
    slc_pixel_cluster_close(clusterer);
    pixel_cluster_list_clear(&rows);
    free(found);
}

static void run_all(slc_pixel_cluster_config config, const pixel_list *list)
{
    const size_t n = list->of.head.size;
    uint32_t *labels = calloc(n, sizeof *labels), *sizes = calloc(n, sizeof *sizes);
    assert_true(labels != NULL && sizes != NULL);
    config.width = config.height = SIDE;
    config.with = SLC_PIXEL_TIME | SLC_PIXEL_CHARGE;
    const uint32_t clusters = expect(&config, &list->of, labels, sizes);
    for (size_t a = 0; slc_pixel_algorithm_name(a) != NULL; a++) {
        config.algorithm = slc_pixel_algorithm_name(a);
        run_one(&config, list, labels, sizes, clusters);
    }
    free(labels);
    free(sizes);
}

/* ---- lists -------------------------------------------------------------------------------------- */

static void one_pixel(void **state)
{
    (void)state;
    pixel_list list;
    pixel_list_open(&list, SLC_PIXEL_TIME | SLC_PIXEL_CHARGE);
    for (uint32_t i = 0; i < MANY; i++) {
        /* Every 100 ticks, and in an order that is none: 7 has no factor in common with how many there are.
         */
        pixel_list_put(&list, 7, 9, 0, 5, 100 * (int64_t)(i * UINT64_C(7) % MANY));
    }
    pixel_list_end(&list);
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    for (int policy = 0; policy < SLC_PIXEL_DUPLICATES; policy++) {
        config.duplicates = (slc_pixel_duplicates)policy;
        run_all(config, &list);
    }
    config.time_window = 99; /* all by themselves */
    run_all(config, &list);
    config.time_window = 100; /* all together, each with the next ones alone */
    run_all(config, &list);
    config.time_window = INT64_MAX;
    run_all(config, &list);
    config.connectivity = 0;
    config.radius = 255;
    run_all(config, &list);
    pixel_list_clear(&list);
}

static void hits_everywhere(void **state)
{
    (void)state;
    uint64_t seed = 11;
    pixel_list list;
    pixel_list_open(&list, SLC_PIXEL_TIME | SLC_PIXEL_CHARGE);
    for (uint32_t i = 0; i < HITS; i++) {
        pixel_list_put(&list, (uint16_t)random_below(&seed, SIDE), (uint16_t)random_below(&seed, SIDE), 0,
                       random_below(&seed, 50), (int64_t)random_below(&seed, 1000000));
    }
    pixel_list_end(&list);
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    run_all(config, &list);
    config.duplicates = SLC_PIXEL_DUPLICATES_KEEP;
    run_all(config, &list);
    const int64_t windows[] = {0, 300, 100000, 300000, 100000000};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        config.time_window = windows[w];
        config.connectivity = w % 2 == 0 ? 4 : 8;
        run_all(config, &list);
    }
    config.connectivity = 0;
    config.radius = 2;
    run_all(config, &list);
    config.time_window = 20000;
    run_all(config, &list);
    config.time_window = -1;
    run_all(config, &list);
    pixel_list_clear(&list);
}

/* Hits in the same few rows, at few places, and one place that is hit all the time. */
static void hot_places(void **state)
{
    (void)state;
    uint64_t seed = 12;
    pixel_list list;
    pixel_list_open(&list, SLC_PIXEL_TIME | SLC_PIXEL_CHARGE);
    for (uint32_t i = 0; i < HITS; i++) {
        const bool hot = random_below(&seed, 2) == 0;
        pixel_list_put(&list, (uint16_t)(hot ? 100 : random_below(&seed, 9) * 28 + random_below(&seed, 3)),
                       (uint16_t)(hot ? 3 : random_below(&seed, 5)), 0, 1,
                       (int64_t)i * 100 + random_below(&seed, 1000));
    }
    pixel_list_end(&list);
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    const int64_t windows[] = {-1, 0, 200, 1000, 5000, 1000000};
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
        config.time_window = windows[w];
        run_all(config, &list);
    }
    pixel_list_clear(&list);
}

int main(void)
{
    slc_baselines_add();
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_pixel), cmocka_unit_test(hits_everywhere),
                                       cmocka_unit_test(hot_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
