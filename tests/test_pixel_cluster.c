/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of sparse pixels against brute force: 10 000 random images of every kind, with every connectivity,
 * radius, number of dimensions, time window and policy for duplicates, by every algorithm on every target and
 * 1 to 8 threads, many images in a call; labels and features must be the same bit for bit.
 */
#include "baselines/baselines.h"
#include "oracle/pixel_oracle.h"
#include "support/cmocka_all.h"
#include "support/pixel_lists.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 10000, ALGORITHMS_MOST = 16 };

/* One call: its lists, and what must come out. */
typedef struct trial {
    slc_pixel_cluster_config config;
    pixel_list list;
    uint32_t *labels, *wanted_labels;
    pixel_cluster_list clusters, wanted;
    size_t most; /* pixels of an image */
} trial;

static unsigned runs_of[ALGORITHMS_MOST], runs_on[SLC_SIMD_TARGETS + 1];

static const char *text_of(const slc_pixel_cluster_config *c)
{
    static char text[256];
    (void)snprintf(
        text, sizeof text,
        "%s, %s, %u x %u, with 0x%x, connectivity %u, radius %u, window %lld, duplicates %d, order %d, "
        "features 0x%x, %u threads",
        c->algorithm, slc_simd_name(c->exec.target), c->width, c->height, c->with, c->connectivity, c->radius,
        (long long)c->time_window, (int)c->duplicates, (int)c->order, c->features, c->exec.threads);
    return text;
}

/* ---- one trial ---------------------------------------------------------------------------------- */

static void trial_begin(trial *t, const slc_pixel_cluster_config *config)
{
    memset(t, 0, sizeof *t);
    t->config = *config;
    pixel_list_open(&t->list, config->with);
}

/* Behind the last image. */
static void trial_expect(trial *t)
{
    const slc_columns *head = &t->list.of.head;
    t->labels = calloc(head->size + 1, sizeof *t->labels);
    t->wanted_labels = calloc(head->size + 1, sizeof *t->wanted_labels);
    assert_true(t->labels != NULL && t->wanted_labels != NULL);
    pixel_cluster_list_open(&t->clusters, &t->config, head->size, head->n_events);
    pixel_cluster_list_open(&t->wanted, &t->config, head->size, head->n_events);
    oracle_pixel_cluster(&t->config, &t->list.of, t->wanted_labels, &t->wanted.of);
    for (uint32_t i = 0; i < head->n_events; i++) {
        const size_t n = head->event_offset[i + 1] - head->event_offset[i];
        t->most = n > t->most ? n : t->most;
    }
}

static void trial_end(trial *t)
{
    pixel_list_clear(&t->list);
    pixel_cluster_list_clear(&t->clusters);
    pixel_cluster_list_clear(&t->wanted);
    free(t->labels);
    free(t->wanted_labels);
}

static void compare_labels(const trial *t, const slc_pixel_cluster_config *config)
{
    const slc_columns *head = &t->list.of.head;
    for (uint32_t image = 0; image < head->n_events; image++) {
        for (size_t i = head->event_offset[image]; i < head->event_offset[image + 1]; i++) {
            if (t->labels[i] != t->wanted_labels[i]) {
                fail_msg("%s: image %u, pixel %zu of %u has label %u, not %u", text_of(config), image,
                         i - head->event_offset[image],
                         head->event_offset[image + 1] - head->event_offset[image], t->labels[i],
                         t->wanted_labels[i]);
            }
        }
    }
}

static void run_and_compare(trial *t, slc_pixel_clusterer *clusterer, const slc_pixel_cluster_config *config,
                            bool labels, bool clusters)
{
    slc_error error = {SLC_OK, ""};
    memset(t->labels, 0xa5, (t->list.of.head.size + 1) * sizeof *t->labels);
    pixel_cluster_list_poison(&t->clusters);
    if (slc_pixel_cluster_run(clusterer, &t->list.of, labels ? t->labels : NULL,
                              clusters ? &t->clusters.of : NULL, &error) != SLC_OK) {
        fail_msg("%s: %s", text_of(config), error.text);
    }
    if (labels) {
        compare_labels(t, config);
    }
    assert_int_equal(t->labels[labels ? t->list.of.head.size : 0], 0xa5a5a5a5);
    size_t row;
    const char *column = clusters ? pixel_cluster_list_differ(&t->clusters, &t->wanted, &row) : NULL;
    if (column != NULL) {
        fail_msg("%s: %zu clusters, %zu wanted; %s of cluster %zu differs", text_of(config),
                 t->clusters.of.head.size, t->wanted.of.head.size, column, row);
    }
}

/* Runs with one algorithm, twice with the same memory. Returns false where it cannot do the configuration. */
static bool run_algorithm(trial *t, const char *algorithm, slc_simd_target target, uint32_t threads,
                          uint64_t *seed)
{
    slc_pixel_cluster_config config = t->config;
    config.algorithm = algorithm;
    config.exec.target = target;
    config.exec.threads = threads;
    slc_pixel_clusterer *clusterer = NULL;
    slc_error error = {SLC_OK, ""};
    const slc_status status = slc_pixel_cluster_open(&config, &clusterer, &error);
    if (status == SLC_ERR_UNSUPPORTED) {
        assert_null(clusterer);
        return false;
    }
    if (status != SLC_OK ||
        slc_pixel_cluster_reserve(clusterer, t->most, t->list.of.head.n_events, &error) != SLC_OK) {
        fail_msg("%s: %s", text_of(&config), error.text);
    }
    const uint32_t wish = random_below(seed, 4);
    run_and_compare(t, clusterer, &config, true, true);
    run_and_compare(t, clusterer, &config, wish != 0, wish != 1);
    slc_pixel_cluster_close(clusterer);
    return true;
}

static slc_simd_target any_target(uint64_t *seed)
{
    for (;;) {
        const int t = (int)random_below(seed, SLC_SIMD_TARGETS + 1) - 1;
        if (t == SLC_SIMD_AUTO || slc_simd_runs((slc_simd_target)t)) {
            return (slc_simd_target)t;
        }
    }
}

/* Can the algorithm do without anything special? */
static bool must_do(const char *algorithm, const slc_pixel_cluster_config *c)
{
    const uint64_t width = c->width != 0 ? c->width : 65536, height = c->height != 0 ? c->height : 65536;
    const bool flat = (c->with & SLC_PIXEL_Z) == 0;
    if (strcmp(algorithm, "flood-map") == 0) {
        return flat && width * height <= 1U << 26;
    }
    if (strcmp(algorithm, "bitmap") == 0) {
        return flat && c->time_window < 0 && (c->connectivity != 0 || c->radius == 1) && width < 65536 &&
               width * height <= 1U << 20 && height < 10000;
    }
    return true;
}

static void trial_run(trial *t, uint64_t *seed)
{
    const char *name;
    for (size_t a = 0; (name = slc_pixel_algorithm_name(a)) != NULL; a++) {
        assert_true(a < ALGORITHMS_MOST);
        const bool done = run_algorithm(t, name, any_target(seed), 1 + random_below(seed, 8), seed);
        runs_of[a] += done;
        if (!done && must_do(name, &t->config)) {
            fail_msg("%s: %s is not supported", text_of(&t->config), name);
        }
    }
    for (int target = SLC_SIMD_AUTO; target < SLC_SIMD_TARGETS; target++) {
        if (target == SLC_SIMD_AUTO || slc_simd_runs((slc_simd_target)target)) {
            runs_on[target + 1] += run_algorithm(t, target % 2 == 0 ? "auto" : NULL, (slc_simd_target)target,
                                                 1, seed);
        }
    }
}

/* ---- random trials ------------------------------------------------------------------------------ */

static slc_pixel_cluster_config any_config(uint64_t *seed)
{
    static const uint32_t flat[] = {4, 8, 4, 8, 0}, deep[] = {6, 18, 26, 0};
    static const uint16_t sides[] = {1, 2, 5, 20, 63, 64, 65, 100, 127, 128, 256, 768, 1500, 0};
    slc_pixel_cluster_config c;
    slc_pixel_cluster_config_default(&c);
    c.with = random_below(seed, SLC_PIXEL_COLUMNS_ALL + 1);
    if (random_below(seed, 2) == 0) {
        c.with &= ~(uint32_t)SLC_PIXEL_Z; /* more of those with most algorithms */
    }
    c.width = sides[random_below(seed, sizeof sides / sizeof *sides)];
    c.height = sides[random_below(seed, sizeof sides / sizeof *sides)];
    c.connectivity = (c.with & SLC_PIXEL_Z) != 0 ? deep[random_below(seed, 4)] : flat[random_below(seed, 5)];
    c.radius = 1 + random_below(seed, 4);
    if ((c.with & SLC_PIXEL_TIME) != 0 && random_below(seed, 2) == 0) {
        const int64_t windows[] = {0, 1, 7, 60, INT64_MAX};
        c.time_window = windows[random_below(seed, 5)];
    }
    c.duplicates = (slc_pixel_duplicates)random_below(seed, SLC_PIXEL_DUPLICATES);
    c.features = random_below(seed, 4) == 0 ? SLC_PIXEL_FEATURES_ALL
                                            : random_below(seed, SLC_PIXEL_FEATURES_ALL + 1);
    return c;
}

/* Most are small; a few are as large as an image gets. */
static uint32_t any_number(uint64_t *seed)
{
    const uint32_t kind = random_below(seed, 200);
    return random_below(seed, kind == 0 ? 5001 : kind < 5 ? 2001 : kind < 40 ? 301 : kind < 190 ? 41 : 1);
}

static void random_images(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (size_t images = 0; images < pixel_test_count(IMAGES);) {
        trial t;
        slc_pixel_cluster_config config = any_config(&seed);
        pixel_wish wish = {.width = config.width != 0 ? config.width : 65536,
                           .height = config.height != 0 ? config.height : 65536,
                           .depth = (config.with & SLC_PIXEL_Z) == 0 ? 1
                                    : random_below(&seed, 2) == 0    ? 6
                                                                     : 65536,
                           .with = config.with,
                           .unique = random_below(&seed, 2) == 0};
        const bool sorted = random_below(&seed, 2) == 0;
        config.order = sorted && random_below(&seed, 2) == 0 ? SLC_PIXEL_ORDER_RASTER : SLC_PIXEL_ORDER_ANY;
        trial_begin(&t, &config);
        const uint32_t n = 1 + random_below(&seed, random_below(&seed, 4) == 0 ? 60 : 8);
        for (uint32_t i = 0; i < n; i++) {
            wish.sorted = sorted || (config.order == SLC_PIXEL_ORDER_ANY && random_below(&seed, 3) == 0);
            pixel_list_add(&t.list, &wish, any_number(&seed), &seed);
        }
        trial_expect(&t);
        trial_run(&t, &seed);
        trial_end(&t);
        images += n;
    }
    const char *name;
    for (size_t a = 0; (name = slc_pixel_algorithm_name(a)) != NULL; a++) {
        print_message("%s: %u calls\n", name, runs_of[a]);
        assert_true(runs_of[a] > 0 || pixel_test_count(100) < 5);
    }
    for (int target = 0; target < SLC_SIMD_TARGETS; target++) {
        assert_true(runs_on[target + 1] > 0 || !slc_simd_runs((slc_simd_target)target));
    }
}

/* ---- special ones ------------------------------------------------------------------------------- */

/* Draws with the radius so large that everything far away is adjacent, and keys overflow at the borders. */
static void wide_radius(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (size_t k = 0; k < pixel_test_count(60); k++) {
        slc_pixel_cluster_config config = any_config(&seed);
        config.connectivity = 0;
        config.radius = k % 2 == 0 ? 255 : 40;
        config.width = config.height = 0;
        trial t;
        trial_begin(&t, &config);
        const pixel_wish wish = {65536,       65536,      (config.with & SLC_PIXEL_Z) != 0 ? 65536 : 1,
                                 config.with, k % 3 == 0, false};
        for (uint32_t i = 0; i < 3; i++) {
            pixel_list_add(&t.list, &wish, 60, &seed);
        }
        /* Around the largest and smallest coordinates. */
        for (uint32_t i = 0; i < 40; i++) {
            pixel_list_put(&t.list, (uint16_t)(random_below(&seed, 600) - 300),
                           (uint16_t)(random_below(&seed, 600) - 300),
                           (uint16_t)(random_below(&seed, 600) - 300), i, i);
        }
        pixel_list_end(&t.list);
        trial_expect(&t);
        trial_run(&t, &seed);
        trial_end(&t);
    }
}

/* Combs, spirals of runs, full images: many unions, runs of all lengths across the words of a bitmap. */
static void full_images(void **state)
{
    (void)state;
    uint64_t seed = 7;
    static const uint16_t widths[] = {1, 50, 51, 52, 53, 64, 65, 130, 500};
    for (size_t k = 0; k < 9 * 4; k += (size_t)test_step(5)) {
        slc_pixel_cluster_config config;
        slc_pixel_cluster_config_default(&config);
        config.width = widths[k % 9];
        config.height = 9;
        config.connectivity = k / 9 % 2 == 0 ? 4 : 8;
        trial t;
        trial_begin(&t, &config);
        for (uint32_t pattern = 0; pattern < 6; pattern++) {
            for (uint32_t i = 0; i < 9U * config.width; i++) {
                const uint32_t x = i % config.width, y = i / config.width;
                const bool on[] = {true,
                                   y % 2 == 0,
                                   x % 2 == 0 || y == 8,
                                   y % 2 == 0 || x == (y % 4 == 1 ? 0 : config.width - 1U),
                                   (x + y) % 2 == 0,
                                   random_below(&seed, 40) != 0};
                if (on[pattern]) {
                    pixel_list_put(&t.list, (uint16_t)x, (uint16_t)y, 0, 0, 0);
                }
            }
            pixel_list_end(&t.list);
        }
        trial_expect(&t);
        trial_run(&t, &seed);
        trial_end(&t);
    }
}

/* A run of every length at every place of a word, and a single pixel that touches one of its ends from above,
 * or just does not. */
static void runs_at_every_place(void **state)
{
    (void)state;
    enum { LENGTHS = 70, PLACES = 66 };
    uint64_t seed = 8;
    for (uint32_t corner = 0; corner < 8; corner++) {
        slc_pixel_cluster_config config;
        slc_pixel_cluster_config_default(&config);
        config.width = 200;
        config.height = 2;
        config.connectivity = corner % 2 == 0 ? 8 : 4;
        trial t;
        trial_begin(&t, &config);
        for (uint32_t length = 1; length <= LENGTHS; length++) {
            for (uint32_t place = 2 + length % (uint32_t)test_step(3); place < PLACES + 2;
                 place += (uint32_t)test_step(3)) {
                const uint32_t above[] = {place - 2, place - 1, place + length, place + length + 1};
                /* With 4 neighbours all is one place further in. */
                const uint32_t in = corner % 2 == 0 ? 0 : corner < 4 ? 1 : UINT32_MAX;
                pixel_list_put(&t.list, (uint16_t)(above[corner / 2] + in), 0, 0, 0, 0);
                for (uint32_t i = 0; i < length; i++) {
                    pixel_list_put(&t.list, (uint16_t)(place + i), 1, 0, 0, 0);
                }
                pixel_list_end(&t.list);
            }
        }
        trial_expect(&t);
        trial_run(&t, &seed);
        trial_end(&t);
    }
}

/* Hundreds of small images in a call, which are clustered together where they can be: many are empty, most
 * end as the next begins, a few are in no order or have a place twice. */
static void small_images(void **state)
{
    (void)state;
    enum { CALLS = 24, IMAGES_OF_A_CALL = 300 };
    uint64_t seed = 9;
    for (uint32_t call = 0; call < CALLS; call++) {
        slc_pixel_cluster_config config;
        slc_pixel_cluster_config_default(&config);
        config.width = (uint16_t)(1 + random_below(&seed, 100));
        config.height = (uint16_t)(1 + random_below(&seed, 20));
        config.connectivity = call % 2 == 0 ? 8 : 4;
        trial t;
        trial_begin(&t, &config);
        const uint32_t rare = 1 + random_below(&seed, 40), odd = call < CALLS / 2 ? 0 : 1;
        for (uint32_t i = 0; i < IMAGES_OF_A_CALL; i++) {
            for (uint32_t place = 0; place < (uint32_t)config.width * config.height && i % 7 != 3; place++) {
                if (random_below(&seed, rare) == 0) {
                    pixel_list_put(&t.list, (uint16_t)(place % config.width),
                                   (uint16_t)(place / config.width), 0, 0, 0);
                }
            }
            if (odd != 0 && random_below(&seed, 90) == 0) {
                pixel_list_put(&t.list, (uint16_t)random_below(&seed, config.width),
                               (uint16_t)random_below(&seed, config.height), 0, 0, 0);
            }
            pixel_list_end(&t.list);
        }
        trial_expect(&t);
        trial_run(&t, &seed);
        trial_end(&t);
    }
}

/* Sums of charge times coordinate beyond 64 bits, worked out by hand: every charge 2^32 - 1 at x = 65535. */
static void sums_beyond_64_bits(void **state)
{
    (void)state;
    enum { PIXELS = 70000 };
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    config.with = SLC_PIXEL_CHARGE;
    config.features = SLC_PIXEL_SIZE | SLC_PIXEL_WEIGHTED | SLC_PIXEL_MASS;
    config.duplicates = SLC_PIXEL_DUPLICATES_KEEP;
    pixel_list list;
    pixel_list_open(&list, config.with);
    for (uint32_t i = 0; i < PIXELS; i++) {
        pixel_list_put(&list, 65535, (uint16_t)(i % 65536), 0, UINT32_MAX, 0);
    }
    pixel_list_end(&list);
    pixel_cluster_list clusters;
    pixel_cluster_list_open(&clusters, &config, PIXELS, 1);
    slc_pixel_clusterer *clusterer = NULL;
    assert_int_equal(slc_pixel_cluster_open(&config, &clusterer, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_reserve(clusterer, PIXELS, 1, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_run(clusterer, &list.of, NULL, &clusters.of, NULL), SLC_OK);
    assert_int_equal(clusters.of.head.size, 1);
    assert_int_equal(clusters.of.size[0], PIXELS);
    assert_true(clusters.of.mass[0] == (uint64_t)PIXELS * UINT32_MAX);
    assert_true(clusters.of.weighted_x[0] == 65535);
    slc_pixel_cluster_close(clusterer);
    pixel_cluster_list_clear(&clusters);
    pixel_list_clear(&list);
}

int main(void)
{
    slc_baselines_add();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_images), cmocka_unit_test(wide_radius),
        cmocka_unit_test(full_images),   cmocka_unit_test(runs_at_every_place),
        cmocka_unit_test(small_images),  cmocka_unit_test(sums_beyond_64_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
