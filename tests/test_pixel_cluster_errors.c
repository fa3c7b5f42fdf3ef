/* SPDX-License-Identifier: Apache-2.0
 *
 * What a clusterer refuses, and with which words; that nothing is written then; room that is just enough and
 * one too little; lists that end where memory ends.
 */
#include "baselines/baselines.h"
#include "support/cmocka_all.h"
#include "support/guard_page.h"
#include "support/pixel_lists.h"
#include "support/random.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 50, IMAGES = 3, PIXELS = 200 };

static slc_pixel_cluster_config plain(void)
{
    slc_pixel_cluster_config config;
    slc_pixel_cluster_config_default(&config);
    config.width = config.height = SIDE;
    return config;
}

/* ---- configurations ----------------------------------------------------------------------------- */

static void refuse(slc_pixel_cluster_config config, slc_status wanted, const char *text)
{
    slc_error error = {SLC_OK, ""};
    slc_pixel_clusterer *clusterer = NULL;
    const slc_status status = slc_pixel_cluster_open(&config, &clusterer, &error);
    if (status != wanted || error.status != wanted || strstr(error.text, text) == NULL || clusterer != NULL) {
        fail_msg("status %d, \"%s\"; %d with \"%s\" wanted", (int)status, error.text, (int)wanted, text);
    }
}

static void wrong_configurations(void **state)
{
    (void)state;
    slc_pixel_cluster_config c = plain();
    c.size = 0;
    refuse(c, SLC_ERR_USAGE, "slc_pixel_cluster_config_default");
    c = plain();
    c.with = 8;
    refuse(c, SLC_ERR_USAGE, "with: 0x8");
    static const uint32_t not_flat[] = {1, 2, 3, 5, 6, 7, 9, 18, 26, 800}, not_deep[] = {1, 4, 8, 19, 27};
    for (size_t i = 0; i < sizeof not_flat / sizeof *not_flat; i++) {
        c = plain();
        c.connectivity = not_flat[i];
        refuse(c, SLC_ERR_USAGE, "connectivity: ");
    }
    for (size_t i = 0; i < sizeof not_deep / sizeof *not_deep; i++) {
        c = plain();
        c.with = SLC_PIXEL_Z;
        c.connectivity = not_deep[i];
        refuse(c, SLC_ERR_USAGE, "6, 18 or 26");
    }
    c = plain();
    c.connectivity = c.radius = 0;
    refuse(c, SLC_ERR_USAGE, "radius: 0");
    c.radius = 256;
    refuse(c, SLC_ERR_USAGE, "radius: 256");
    c = plain();
    c.time_window = 0;
    refuse(c, SLC_ERR_USAGE, "time_window: the pixels have no times");
    c = plain();
    c.duplicates = SLC_PIXEL_DUPLICATES;
    refuse(c, SLC_ERR_USAGE, "duplicates: ");
    c = plain();
    c.order = (slc_pixel_order)2;
    refuse(c, SLC_ERR_USAGE, "order: ");
    c = plain();
    c.features = SLC_PIXEL_FEATURES_ALL + 1;
    refuse(c, SLC_ERR_USAGE, "features: 0x80");
    c = plain();
    c.exec.threads = 5000;
    refuse(c, SLC_ERR_USAGE, "threads: 5000");
    c = plain();
    c.exec.target = SLC_SIMD_TARGETS;
    refuse(c, SLC_ERR_USAGE, "target: ");
    c = plain();
    c.algorithm = "dense";
    refuse(c, SLC_ERR_USAGE, "there is none named \"dense\"");
}

static void what_algorithms_cannot_do(void **state)
{
    (void)state;
    slc_pixel_cluster_config c = plain();
    c.with = SLC_PIXEL_Z;
    c.connectivity = 26;
    c.algorithm = "flood-map";
    refuse(c, SLC_ERR_UNSUPPORTED, "\"flood-map\" cannot do");
    c.algorithm = "bitmap";
    refuse(c, SLC_ERR_UNSUPPORTED, "\"bitmap\" cannot do");
    c = plain();
    c.width = c.height = 0;
    c.algorithm = "flood-map";
    refuse(c, SLC_ERR_UNSUPPORTED, "\"flood-map\" cannot do");
    c.algorithm = "bitmap";
    refuse(c, SLC_ERR_UNSUPPORTED, "\"bitmap\" cannot do");
    c = plain();
    c.algorithm = "bitmap";
    c.connectivity = 0;
    c.radius = 2;
    refuse(c, SLC_ERR_UNSUPPORTED, "\"bitmap\" cannot do");
    c.radius = 1;
    c.with = SLC_PIXEL_TIME;
    c.time_window = 3;
    refuse(c, SLC_ERR_UNSUPPORTED, "\"bitmap\" cannot do");
}

/* ---- runs --------------------------------------------------------------------------------------- */

typedef struct setting {
    slc_pixel_cluster_config config;
    slc_pixel_clusterer *clusterer;
    pixel_list list;
    pixel_cluster_list clusters;
    uint32_t labels[IMAGES * PIXELS];
} setting;

/* Three images of at most 200 pixels, sorted. */
static void set_up(setting *s, slc_pixel_cluster_config config)
{
    memset(s, 0, sizeof *s);
    s->config = config;
    uint64_t seed = 3;
    const pixel_wish wish = {SIDE, SIDE, 1, config.with, true, true};
    pixel_list_open(&s->list, config.with);
    for (int i = 0; i < IMAGES; i++) {
        pixel_list_add(&s->list, &wish, PIXELS, &seed);
    }
    pixel_cluster_list_open(&s->clusters, &config, IMAGES * PIXELS, IMAGES);
    assert_int_equal(slc_pixel_cluster_open(&config, &s->clusterer, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_reserve(s->clusterer, PIXELS, IMAGES, NULL), SLC_OK);
}

static void tear_down(setting *s)
{
    slc_pixel_cluster_close(s->clusterer);
    pixel_list_clear(&s->list);
    pixel_cluster_list_clear(&s->clusters);
}

/* The run fails so, and neither labels nor clusters are touched. */
static void refuse_run(setting *s, slc_status wanted, const char *text)
{
    slc_error error = {SLC_OK, ""};
    memset(s->labels, 0xa5, sizeof s->labels);
    pixel_cluster_list_poison(&s->clusters);
    const slc_status status = slc_pixel_cluster_run(s->clusterer, &s->list.of, s->labels, &s->clusters.of,
                                                    &error);
    if (status != wanted || strstr(error.text, text) == NULL) {
        fail_msg("status %d, \"%s\"; %d with \"%s\" wanted", (int)status, error.text, (int)wanted, text);
    }
    for (size_t i = 0; i < IMAGES * PIXELS; i++) {
        assert_int_equal(s->labels[i], 0xa5a5a5a5);
    }
    assert_int_equal(s->clusters.of.size[0], 0xa5a5a5a5);
}

static void pixels_outside(void **state)
{
    (void)state;
    setting s;
    set_up(&s, plain());
    const uint32_t first = s.list.of.head.event_offset[1];
    const uint16_t kept = s.list.of.x[first + 7];
    s.list.of.x[first + 7] = SIDE;
    refuse_run(&s, SLC_ERR_FORMAT, "image 1, pixel 7: (50, ");
    s.list.of.x[first + 7] = kept;
    s.list.of.y[s.list.of.head.size - 1] = 65535;
    refuse_run(&s, SLC_ERR_FORMAT, ", 65535) is outside of 50 x 50");
    tear_down(&s);
}

static void lists_out_of_order(void **state)
{
    (void)state;
    for (int deep = 0; deep < 2; deep++) {
        slc_pixel_cluster_config config = plain();
        config.order = SLC_PIXEL_ORDER_RASTER;
        config.with = deep != 0 ? SLC_PIXEL_Z : 0;
        config.connectivity = deep != 0 ? 26 : 8;
        setting s;
        set_up(&s, config);
        const uint32_t first = s.list.of.head.event_offset[2];
        const uint16_t x = s.list.of.x[first + 1], y = s.list.of.y[first + 1];
        s.list.of.x[first + 1] = s.list.of.x[first + 2];
        s.list.of.y[first + 1] = s.list.of.y[first + 2];
        s.list.of.x[first + 2] = x;
        s.list.of.y[first + 2] = y;
        refuse_run(&s, SLC_ERR_FORMAT, "image 2, pixel 2: ");
        tear_down(&s);
    }
    /* By y alone it falls, by z it does not. */
    slc_pixel_cluster_config config = plain();
    config.order = SLC_PIXEL_ORDER_RASTER;
    config.with = SLC_PIXEL_Z;
    config.connectivity = 6;
    setting s;
    set_up(&s, config);
    pixel_list_put(&s.list, 3, 0, 9, 0, 0);
    s.list.of.head.event_offset[3]++;
    assert_int_equal(slc_pixel_cluster_reserve(s.clusterer, PIXELS + 1, IMAGES, NULL), SLC_OK);
    assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, NULL, NULL, NULL), SLC_OK);
    /* And the other way. */
    s.list.of.z[0] = 1;
    refuse_run(&s, SLC_ERR_FORMAT, "image 0, pixel 1: ");
    tear_down(&s);
}

static void more_than_reserved(void **state)
{
    (void)state;
    setting s;
    set_up(&s, plain());
    slc_pixel_clusterer *enough = s.clusterer;
    const uint32_t most = s.list.of.head.event_offset[1];
    assert_int_equal(slc_pixel_cluster_open(&s.config, &s.clusterer, NULL), SLC_OK);
    refuse_run(&s, SLC_ERR_USAGE, "pixels: 3 images, and 0 were reserved");
    assert_int_equal(slc_pixel_cluster_reserve(s.clusterer, most - 1, IMAGES, NULL), SLC_OK);
    refuse_run(&s, SLC_ERR_USAGE, "image 0: ");
    assert_int_equal(slc_pixel_cluster_reserve(s.clusterer, 0, IMAGES - 1, NULL), SLC_OK); /* no less */
    refuse_run(&s, SLC_ERR_USAGE, "image 0: ");
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_pixel_cluster_reserve(s.clusterer, UINT32_MAX, 1, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "fewer than 2^32 - 1"));
    slc_pixel_cluster_close(s.clusterer);
    s.clusterer = enough;
    tear_down(&s);
    slc_pixel_cluster_close(NULL);
}

static void columns_that_are_missing(void **state)
{
    (void)state;
    slc_pixel_cluster_config config = plain();
    config.with = SLC_PIXEL_CHARGE;
    setting s;
    set_up(&s, config);
    uint32_t *charge = s.list.of.charge;
    s.list.of.charge = NULL;
    refuse_run(&s, SLC_ERR_USAGE, "the lists lack a column");
    s.list.of.charge = charge;
    uint64_t *mass = s.clusters.of.mass;
    s.clusters.of.mass = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, NULL, &s.clusters.of, &error),
                     SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no column \"mass\""));
    s.clusters.of.mass = mass;
    tear_down(&s);
}

/* Room for just the clusters is enough, with one thread and with several; one less is told. */
static void room_for_clusters(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (uint32_t features = 0; features <= 3; features += 3) {
            slc_pixel_cluster_config config = plain();
            config.exec.threads = threads;
            config.features = features;
            setting s;
            set_up(&s, config);
            assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, s.labels, &s.clusters.of, NULL),
                             SLC_OK);
            const size_t found = s.clusters.of.head.size, whole = s.clusters.of.head.capacity;
            assert_true(found > 3 && found < whole);
            s.clusters.of.head.capacity = found;
            assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, s.labels, &s.clusters.of, NULL),
                             SLC_OK);
            assert_int_equal(s.clusters.of.head.size, found);
            if (features != 0) {
                pixel_cluster_list_poison(&s.clusters);
            }
            slc_error error = {SLC_OK, ""};
            s.clusters.of.head.capacity = found - 1;
            assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, s.labels, &s.clusters.of, &error),
                             SLC_ERR_CAPACITY);
            assert_non_null(strstr(error.text, "clusters: room for "));
            assert_int_equal(s.clusters.of.head.size, 0);
            assert_true(features == 0 || s.clusters.of.size[found - 1] == 0xa5a5a5a5);
            s.clusters.of.head.capacity = whole;
            const uint32_t events = s.clusters.of.head.event_capacity;
            s.clusters.of.head.event_capacity = IMAGES - 1;
            assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, NULL, &s.clusters.of, &error),
                             SLC_ERR_CAPACITY);
            assert_non_null(strstr(error.text, "room for 2 images, and there are 3"));
            s.clusters.of.head.event_capacity = events;
            assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, NULL, &s.clusters.of, NULL),
                             SLC_OK);
            assert_int_equal(s.clusters.of.head.size, found);
            tear_down(&s);
        }
    }
}

static void no_images(void **state)
{
    (void)state;
    slc_pixel_cluster_config config = plain();
    setting s;
    set_up(&s, config);
    slc_columns_reset(&s.list.of);
    assert_int_equal(slc_pixel_cluster_run(s.clusterer, &s.list.of, NULL, &s.clusters.of, NULL), SLC_OK);
    assert_int_equal(s.clusters.of.head.n_events, 0);
    const slc_pixels nothing = {0};
    assert_int_equal(slc_pixel_cluster_run(s.clusterer, &nothing, s.labels, NULL, NULL), SLC_OK);
    tear_down(&s);
}

/* ---- where memory ends -------------------------------------------------------------------------- */

/* Every column of the list and the labels end at pages that may not be touched, on every target. */
static void lists_at_the_end_of_memory(void **state)
{
    (void)state;
    uint64_t seed = 4;
    guard_page pages[3];
    for (int i = 0; i < 3; i++) {
        pages[i] = guard_page_open(300 * sizeof(uint32_t));
        assert_non_null(pages[i].mapping);
    }
    for (uint32_t n = 1; n <= 150; n++) {
        pixel_list list;
        const pixel_wish wish = {SIDE, SIDE, 1, 0, n % 2 == 0, true};
        pixel_list_open(&list, 0);
        pixel_list_add(&list, &wish, n, &seed);
        const size_t found = list.of.head.size;
        slc_pixels at_end = list.of;
        at_end.x = (void *)guard_page_copy(&pages[0], list.of.x, found * sizeof *list.of.x);
        at_end.y = (void *)guard_page_copy(&pages[1], list.of.y, found * sizeof *list.of.y);
        static uint32_t blank[300], expected[300];
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            if (!slc_simd_runs((slc_simd_target)t)) {
                continue;
            }
            slc_pixel_cluster_config config = plain();
            config.exec.target = (slc_simd_target)t;
            slc_pixel_clusterer *clusterer = NULL;
            assert_int_equal(slc_pixel_cluster_open(&config, &clusterer, NULL), SLC_OK);
            assert_int_equal(slc_pixel_cluster_reserve(clusterer, found, 1, NULL), SLC_OK);
            uint32_t *labels = (void *)guard_page_copy(&pages[2], blank, found * sizeof *labels);
            assert_int_equal(slc_pixel_cluster_run(clusterer, &at_end, labels, NULL, NULL), SLC_OK);
            if (t == SLC_SIMD_C) {
                memcpy(expected, labels, found * sizeof *labels);
            }
            assert_memory_equal(labels, expected, found * sizeof *labels);
            slc_pixel_cluster_close(clusterer);
        }
        pixel_list_clear(&list);
    }
}

int main(void)
{
    slc_baselines_add();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_configurations),
        cmocka_unit_test(what_algorithms_cannot_do),
        cmocka_unit_test(pixels_outside),
        cmocka_unit_test(lists_out_of_order),
        cmocka_unit_test(more_than_reserved),
        cmocka_unit_test(columns_that_are_missing),
        cmocka_unit_test(room_for_clusters),
        cmocka_unit_test(no_images),
        cmocka_unit_test(lists_at_the_end_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
