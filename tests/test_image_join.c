/* SPDX-License-Identifier: Apache-2.0
 *
 * Strips that are labelled apart, by as many as there may be processes, and joined: labels, components and
 * their number are those of one labelling of the whole, bit for bit. Here all of them are in one process, and
 * what they send to each other is in arrays.
 */
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <sluice/image_label.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIPS = 8 };

static const uint32_t all_features = SLC_IMAGE_JOINS | SLC_IMAGE_CENTROID;

static void *take(size_t n, size_t size)
{
    void *memory = calloc(n + 1, size);
    assert_non_null(memory);
    return memory;
}

/* Components with room for `rows`. */
static slc_image_components collection(uint32_t features, size_t rows)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(features, columns);
    slc_image_components made = {.head = {.size = 0}};
    assert_int_equal(slc_columns_reserve(&schema, &made, rows + 1, 1), SLC_OK);
    return made;
}

static void drop(uint32_t features, slc_image_components *components)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(features, columns);
    slc_columns_clear(&schema, components);
}

static uint32_t label(const slc_image_label_config *config, const uint8_t *on, size_t width, size_t height,
                      uint32_t *labels, slc_image_components *components)
{
    slc_image_labeller *labeller = NULL;
    slc_error error = {.text = ""};
    const slc_image image = {on, width, height, (ptrdiff_t)width, SLC_IMAGE_U8};
    slc_image_labels out = {labels, (ptrdiff_t)(width * sizeof *labels), SLC_TYPE_U32, components, 0};
    assert_int_equal(slc_image_label_open(config, &labeller, &error), SLC_OK);
    assert_int_equal(slc_image_label_reserve(labeller, width, height, &error), SLC_OK);
    assert_int_equal(slc_image_label_run(labeller, &image, NULL, &out, NULL, &error), SLC_OK);
    slc_image_label_close(labeller);
    return out.n_labels;
}

/* ---- strips ------------------------------------------------------------------------------------ */

/* What all of them have together: strip s has rows first_row[s] … first_row[s + 1] - 1. */
typedef struct run {
    const slc_image_label_config *config;
    size_t width, height;
    uint32_t n_strips;
    uint64_t first_row[STRIPS + 1], n_joins[STRIPS];
    uint32_t n_found[STRIPS], n_labels[STRIPS];
    uint32_t *labels, *map[STRIPS], *numbers, *own;
    slc_image_join *joins;
    slc_image_piece *pieces;
    uint64_t n_pieces;
    slc_image_components found[STRIPS], components;
} run;

static void label_strips(run *r, const uint8_t *on)
{
    slc_image_label_config plain = *r->config;
    plain.features = SLC_IMAGE_JOINS;
    plain.min_area = 0;
    plain.max_area = UINT64_MAX;
    plain.border = SLC_IMAGE_BORDER_ANY;
    for (uint32_t s = 0; s < r->n_strips; s++) {
        const size_t begin = (size_t)r->first_row[s], rows = (size_t)r->first_row[s + 1] - begin;
        r->found[s] = collection(SLC_IMAGE_JOINS, r->width * rows);
        if (rows > 0) {
            r->n_found[s] = label(&plain, on + begin * r->width, r->width, rows, r->labels + begin * r->width,
                                  &r->found[s]);
        }
    }
}

static void join(run *r)
{
    slc_error error;
    uint64_t n = 0;
    r->joins = take((r->width + 1) * r->n_strips, sizeof *r->joins);
    for (uint32_t s = 1; s < r->n_strips; s++) {
        const size_t begin = (size_t)r->first_row[s];
        if (begin < r->first_row[s + 1]) {
            r->n_joins[s] = slc_image_join_rows(r->labels + (begin - 1) * r->width,
                                                r->labels + begin * r->width, r->width,
                                                r->config->connectivity, r->joins + n);
            assert_true(r->n_joins[s] <= r->width + 1);
            n += r->n_joins[s];
        }
    }
    r->pieces = take((size_t)(2 * n), sizeof *r->pieces);
    assert_int_equal(
        slc_image_join_pieces(r->n_joins, r->n_strips, r->joins, r->pieces, &r->n_pieces, &error), SLC_OK);
    r->numbers = take((size_t)r->n_pieces, sizeof *r->numbers);
    r->own = take((size_t)r->n_pieces, sizeof *r->own);
}

/* The rows of all pieces, as their strips found them. */
static slc_image_components piece_rows(const run *r, const slc_image_components *found)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_JOINS, columns);
    slc_image_components rows = collection(SLC_IMAGE_JOINS, (size_t)r->n_pieces);
    for (uint64_t i = 0; i < r->n_pieces; i++) {
        assert_int_equal(
            slc_columns_append(&schema, &found[r->pieces[i].strip], r->pieces[i].label - 1, 1, &rows),
            SLC_OK);
    }
    return rows;
}

static void number(run *r)
{
    slc_error error = {.text = ""};
    uint32_t before = 0;
    slc_image_components all = piece_rows(r, r->found);
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_JOINS, columns);
    for (uint32_t s = 0; s < r->n_strips; s++) {
        slc_image_components mine = collection(SLC_IMAGE_JOINS, (size_t)r->n_pieces);
        assert_int_equal(slc_columns_append(&schema, &all, 0, (size_t)r->n_pieces, &mine), SLC_OK);
        const slc_image_join_strip strip = {r->width,     r->height,     r->n_strips, s,
                                            r->first_row, r->n_found[s], r->pieces,   r->n_pieces,
                                            &r->found[s], &mine};
        r->map[s] = take((size_t)r->n_found[s] + 1, sizeof *r->map[s]);
        assert_int_equal(slc_image_join_number(r->config, &strip, r->map[s], r->own, &r->n_labels[s],
                                               &r->components, &error),
                         SLC_OK);
        for (uint64_t i = 0; i < r->n_pieces; i++) {
            r->numbers[i] += r->own[i] != 0 ? r->own[i] + before : 0;
        }
        for (uint32_t l = 1; l <= r->n_found[s]; l++) {
            r->map[s][l] += r->map[s][l] != 0 ? before : 0;
        }
        before += r->n_labels[s];
        drop(SLC_IMAGE_JOINS, &mine);
    }
    drop(SLC_IMAGE_JOINS, &all);
    for (uint64_t i = 0; i < r->n_pieces; i++) {
        r->map[r->pieces[i].strip][r->pieces[i].label] = r->numbers[r->pieces[i].root];
    }
    slc_columns_end_event(&r->components);
}

static void clear(run *r)
{
    for (uint32_t s = 0; s < r->n_strips; s++) {
        drop(SLC_IMAGE_JOINS, &r->found[s]);
        free(r->map[s]);
    }
    drop(r->config->features, &r->components);
    free(r->labels);
    free(r->numbers);
    free(r->own);
    free(r->joins);
    free(r->pieces);
}

/* ---- one against many -------------------------------------------------------------------------- */

/* Equal shares; or borders anywhere, so that strips may have one row, or many, and the last ones none. */
static void share_rows(run *r, uint64_t *seed, bool equal)
{
    for (uint32_t s = 1; s < r->n_strips; s++) {
        const uint64_t before = r->first_row[s - 1], left = r->height - before;
        const uint64_t share = r->height / r->n_strips + (s <= r->height % r->n_strips);
        r->first_row[s] = before + (equal       ? share
                                    : left == 0 ? 0
                                                : 1 + random_u64(seed) % (left < 7 ? left : 7));
    }
    r->first_row[r->n_strips] = r->height;
    if (r->first_row[r->n_strips - 1] > r->height) {
        r->first_row[r->n_strips - 1] = r->height;
    }
}

static void expect(const slc_image_label_config *config, const uint8_t *on, size_t width, size_t height,
                   uint32_t n_strips, uint64_t *seed, const char *what)
{
    const size_t n = width * height;
    char text[200];
    uint32_t *want = take(n, sizeof *want);
    slc_image_components rows = collection(config->features, n);
    const uint32_t n_labels = label(config, on, width, height, want, &rows);
    run r = {.config = config, .width = width, .height = height, .n_strips = n_strips};
    share_rows(&r, seed, random_u64(seed) % 2 == 0);
    r.labels = take(n, sizeof *r.labels);
    r.components = collection(config->features, n);
    label_strips(&r, on);
    join(&r);
    number(&r);
    for (uint32_t s = 0; s < n_strips; s++) {
        for (size_t i = (size_t)r.first_row[s] * width; i < r.first_row[s + 1] * width; i++) {
            r.labels[i] = r.map[s][r.labels[i]];
        }
    }
    (void)snprintf(text, sizeof text, "%s, %zu x %zu, %u-connected, %u strips", what, width, height,
                   (unsigned)config->connectivity, (unsigned)n_strips);
    if (memcmp(r.labels, want, n * sizeof *want) != 0) {
        fail_msg("%s: the labels differ", text);
    }
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(config->features, columns);
    if (r.components.head.size != n_labels ||
        slc_columns_checksum(&schema, &r.components, 0, 0) != slc_columns_checksum(&schema, &rows, 0, 0)) {
        fail_msg("%s: %zu components, not %u, or others", text, r.components.head.size, (unsigned)n_labels);
    }
    clear(&r);
    drop(config->features, &rows);
    free(want);
}

static slc_image_label_config config_of(uint32_t connectivity)
{
    slc_image_label_config config;
    slc_image_label_config_default(&config);
    config.connectivity = connectivity;
    config.features = all_features;
    return config;
}

/* ---- cases ------------------------------------------------------------------------------------- */

static void test_patterns(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {5, 3}, {64, 8}, {67, 41}, {130, 33}};
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t width = sizes[i][0], height = sizes[i][1];
        uint8_t *on = take(width * height, 1);
        for (const image_pattern *pattern = image_patterns; pattern->name != NULL; pattern++) {
            pattern->draw(on, width, height, &seed);
            for (uint32_t n = 1; n <= STRIPS; n += (uint32_t)test_step(SANITIZED ? 3 : 1)) {
                const slc_image_label_config config = config_of(n % 2 == 0 ? 4 : 8);
                expect(&config, on, width, height, n, &seed, pattern->name);
                const slc_image_label_config other = config_of(n % 2 == 0 ? 8 : 4);
                expect(&other, on, width, height, n, &seed, pattern->name);
            }
        }
        free(on);
    }
}

static void test_filters(void **state)
{
    (void)state;
    enum { WIDTH = 90, HEIGHT = 57 };
    uint64_t seed = 2;
    uint8_t *on = take((size_t)WIDTH * HEIGHT, 1);
    for (int i = 0; i < 60; i++) {
        image_macro_pixels(on, WIDTH, HEIGHT, 1 + (uint32_t)i % 5, 25 + (uint32_t)i % 40, &seed);
        slc_image_label_config config = config_of(i % 2 == 0 ? 4 : 8);
        config.features = i % 3 == 0 ? SLC_IMAGE_CENTROID : i % 3 == 1 ? SLC_IMAGE_AREA : all_features;
        config.min_area = i % 4 == 0 ? 0 : (uint64_t)i;
        config.max_area = i % 5 == 0 ? UINT64_MAX : 200;
        config.border = (slc_image_border)(i % SLC_IMAGE_BORDERS);
        expect(&config, on, WIDTH, HEIGHT, 1 + (uint32_t)i % STRIPS, &seed, "filters");
    }
    free(on);
}

/* Joins of two rows, by hand: corners count for 8 neighbours alone, and a join is told once. */
static void test_rows(void **state)
{
    (void)state;
    const uint32_t above[8] = {1, 1, 0, 2, 0, 0, 3, 0}, below[8] = {5, 5, 0, 0, 6, 0, 0, 7};
    slc_image_join joins[9];
    assert_int_equal(slc_image_join_rows(above, below, 8, 4, joins), 1);
    assert_int_equal(joins[0].above, 1);
    assert_int_equal(joins[0].below, 5);
    assert_int_equal(slc_image_join_rows(above, below, 8, 8, joins), 3);
    assert_int_equal(joins[1].above, 2);
    assert_int_equal(joins[1].below, 6);
    assert_int_equal(joins[2].above, 3);
    assert_int_equal(joins[2].below, 7);
}

static void test_refusals(void **state)
{
    (void)state;
    slc_error error;
    uint64_t n = 7;
    slc_image_piece pieces[2];
    const slc_image_join background = {3, 0};
    const uint64_t counts[2] = {0, 1}, above_all[2] = {1, 0}, none[2] = {0, 0};
    assert_int_equal(slc_image_join_pieces(none, 2, NULL, NULL, &n, &error), SLC_OK);
    assert_int_equal(n, 0);
    assert_int_equal(slc_image_join_pieces(counts, 2, &background, pieces, &n, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "joins: number 0 is of background");
    assert_int_equal(slc_image_join_pieces(above_all, 2, &background, pieces, &n, &error), SLC_ERR_USAGE);
    slc_image_label_config config = config_of(8);
    uint32_t map[1], n_labels;
    const uint64_t first_row[1] = {0};
    slc_image_join_strip strip = {.width = 1, .height = 1, .n_strips = 1, .first_row = first_row};
    config.min_area = 2;
    assert_int_equal(slc_image_join_number(&config, &strip, map, NULL, &n_labels, NULL, &error),
                     SLC_ERR_USAGE);
    config.features = SLC_IMAGE_AREA | SLC_IMAGE_PERIMETER;
    assert_int_equal(slc_image_join_number(&config, &strip, map, NULL, &n_labels, NULL, &error),
                     SLC_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "not perimeter"));
}

/* Of 2^32 - 2 rows, as no test has them in memory: what labellers of eight strips would say. A column goes
 * through all of them, and each has a pixel of its own in row 5. */
static void test_thin(void **state)
{
    (void)state;
    const uint64_t height = 4294967294;
    const slc_image_label_config config = config_of(8);
    const slc_image_join down = {1, 1};
    slc_image_join joins[STRIPS];
    slc_image_piece pieces[2 * STRIPS];
    uint64_t n_joins[STRIPS] = {0}, first_row[STRIPS + 1], n_pieces = 0;
    uint32_t map[3], numbers[2 * STRIPS], n_labels = 0;
    slc_error error;
    for (uint32_t s = 0; s <= STRIPS; s++) {
        first_row[s] = height / STRIPS * s + (s == STRIPS ? height % STRIPS : 0);
        joins[s % STRIPS] = down;
    }
    for (uint32_t s = 1; s < STRIPS; s++) {
        n_joins[s] = 1;
    }
    assert_int_equal(slc_image_join_pieces(n_joins, STRIPS, joins, pieces, &n_pieces, &error), SLC_OK);
    assert_int_equal(n_pieces, STRIPS);
    slc_image_components components = collection(all_features, 2 * STRIPS);
    for (uint32_t s = 0; s < STRIPS; s++) {
        slc_image_components found = collection(SLC_IMAGE_JOINS, 2),
                             rows = collection(SLC_IMAGE_JOINS, STRIPS);
        for (uint32_t i = 0; i < STRIPS; i++) {
            const uint64_t n = first_row[i + 1] - first_row[i];
            rows.area[i] = n;
            rows.y_max[i] = (uint32_t)(n - 1);
            rows.x_min[i] = rows.x_max[i] = rows.first_x[i] = 1;
            rows.y_min[i] = rows.first_y[i] = 0;
            rows.sum_x[i] = n;
            rows.sum_y[i] = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
        }
        found.area[1] = 1;
        found.x_min[1] = found.x_max[1] = found.first_x[1] = 7;
        found.y_min[1] = found.y_max[1] = found.first_y[1] = 5;
        found.sum_x[1] = 7;
        found.sum_y[1] = 5;
        const slc_image_join_strip strip = {8, (size_t)height, STRIPS,   s,      first_row,
                                            2, pieces,         n_pieces, &found, &rows};
        assert_int_equal(slc_image_join_number(&config, &strip, map, numbers, &n_labels, &components, &error),
                         SLC_OK);
        assert_int_equal(n_labels, s == 0 ? 2 : 1);
        assert_int_equal(map[2], s == 0 ? 2 : 1);
        assert_int_equal(numbers[0], s == 0 ? 1 : 0);
        drop(SLC_IMAGE_JOINS, &found);
        drop(SLC_IMAGE_JOINS, &rows);
    }
    assert_int_equal(components.head.size, STRIPS + 1);
    assert_true(components.area[0] == height);
    assert_true(components.y_max[0] == height - 1);
    assert_true(components.sum_y[0] == height / 2 * (height - 1));
    assert_true(components.y[0] == (double)(height / 2 * (height - 1)) / (double)height);
    for (uint32_t s = 0; s < STRIPS; s++) {
        assert_true(components.first_y[s + 1] == first_row[s] + 5);
        assert_true(components.sum_y[s + 1] == first_row[s] + 5);
        assert_int_equal(components.first_x[s + 1], 7);
    }
    drop(all_features, &components);
}

/* ---- Otsu's threshold -------------------------------------------------------------------------- */

static void expect_threshold(const slc_image *image, uint32_t n, const char *what)
{
    slc_error error;
    double want = -1, found = -2;
    slc_image_otsu_sums *sums = take(n, sizeof *sums), *all = take(1, sizeof *all);
    slc_image parts[STRIPS];
    for (uint32_t s = 0; s < n; s++) {
        const size_t begin = image->height * s / n, end = image->height * (s + 1) / n;
        parts[s] = *image;
        parts[s].pixels = (const char *)image->pixels + (ptrdiff_t)begin * image->stride;
        parts[s].height = end - begin;
        assert_int_equal(slc_image_otsu_parts(SLC_IMAGE_OTSU_EXTREMES, &parts[s], &sums[s], NULL, &error),
                         SLC_OK);
        all->low = s == 0 || sums[s].low < all->low ? sums[s].low : all->low;
        all->high = s == 0 || sums[s].high > all->high ? sums[s].high : all->high;
    }
    for (uint32_t s = 0; s < n; s++) {
        sums[s].low = all->low;
        sums[s].high = all->high;
        assert_int_equal(slc_image_otsu_parts(SLC_IMAGE_OTSU_COUNT, &parts[s], &sums[s], NULL, &error),
                         SLC_OK);
        for (size_t i = 0; i < (image->type == SLC_IMAGE_U8 ? 256 : (size_t)SLC_IMAGE_OTSU_BINS); i++) {
            all->count[i] += sums[s].count[i];
        }
    }
    assert_int_equal(slc_image_otsu(image, &want, &error), SLC_OK);
    assert_int_equal(slc_image_otsu_parts(SLC_IMAGE_OTSU_THRESHOLD, &parts[n - 1], all, &found, &error),
                     SLC_OK);
    if (want != found) {
        fail_msg("%s in %u parts: %g, not %g", what, (unsigned)n, found, want);
    }
    free(sums);
    free(all);
}

static void test_otsu(void **state)
{
    (void)state;
    enum { WIDTH = 61, HEIGHT = 7 };
    uint64_t seed = 3;
    uint8_t bytes[WIDTH * HEIGHT];
    uint16_t two[WIDTH * HEIGHT];
    float real[WIDTH * HEIGHT];
    image_scene(bytes, WIDTH, HEIGHT, &seed);
    for (size_t i = 0; i < sizeof bytes; i++) {
        two[i] = (uint16_t)(bytes[i] * 200U + random_u64(&seed) % 200);
        real[i] = (float)two[i] / 7 - 100;
    }
    for (uint32_t n = 1; n <= STRIPS; n++) { /* of 8 one has no rows */
        const slc_image one = {bytes, WIDTH, HEIGHT, WIDTH, SLC_IMAGE_U8};
        expect_threshold(&one, n, "u8");
        const slc_image wide = {two, WIDTH, HEIGHT, 2 * WIDTH, SLC_IMAGE_U16};
        expect_threshold(&wide, n, "u16");
        const slc_image floats = {real, WIDTH, HEIGHT, 4 * WIDTH, SLC_IMAGE_F32};
        expect_threshold(&floats, n, "f32");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns), cmocka_unit_test(test_filters), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_thin),    cmocka_unit_test(test_otsu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
