/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over runs against sums over pixels. The Euler number against holes that are found by flood fill, the
 * perimeter against edges that are counted one by one; moments of runs far from the origin against loops,
 * modulo 2^64; ellipses of figures whose axes are known.
 */
#include "base/wide.h"
#include "oracle/image_oracle.h"
#include "support/cmocka_all.h"
#include "support/image_patterns.h"
#include "support/random.h"

#include "image/image_features.h"
#include "image/image_shape.h"

#include <math.h>
#include <string.h>

enum { MOST_WIDTH = 150, MOST_HEIGHT = 60, MOST = MOST_WIDTH * MOST_HEIGHT, WORDS = 32, ROUNDS = 3000 };

static uint8_t on[MOST];
static uint32_t labels[MOST];
static oracle_component wanted[MOST];

/* Every pixel that is not background becomes part of a run, of the plainest kind of loop. */
static void add_row(uint32_t features, slc_image_components *c, size_t y, size_t width, uint32_t connectivity,
                    uint64_t bits[2][WORDS])
{
    uint32_t first[MOST_WIDTH], behind[MOST_WIDTH], label[MOST_WIDTH];
    uint64_t *here = bits[y % 2];
    slc_image_run_row row = {.y = y,
                             .width = width,
                             .first = first,
                             .behind = behind,
                             .label = label,
                             .bits = here,
                             .upper = y > 0 ? bits[1 - y % 2] : NULL,
                             .connectivity = connectivity,
                             .grey = on + y * width,
                             .grey_type = SLC_IMAGE_U8};
    memset(here, 0, sizeof bits[0]);
    for (size_t x = 0; x < width; x++) {
        const uint32_t l = labels[y * width + x];
        if (l == 0) {
            continue;
        }
        here[x / 64] |= (uint64_t)1 << x % 64;
        if (x == 0 || labels[y * width + x - 1] == 0) {
            first[row.n_runs] = (uint32_t)x;
            label[row.n_runs++] = l;
        }
        behind[row.n_runs - 1] = (uint32_t)x + 1;
    }
    slc_image_features_row(features, c, 3, &row);
}

static void compare(const slc_image_components *c, uint32_t n)
{
    for (size_t l = 0, i = 3; l < n; l++, i++) {
        const oracle_component *o = &wanted[l];
        assert_int_equal(c->euler[i], o->euler);
        assert_int_equal(c->perimeter[i], o->perimeter);
        assert_int_equal(c->area[i], o->area);
        assert_true(c->first_x[i] == o->first_x && c->first_y[i] == o->first_y);
        assert_true(c->x_min[i] == o->x_min && c->x_max[i] == o->x_max);
        assert_true(c->y_min[i] == o->y_min && c->y_max[i] == o->y_max);
        assert_true(c->sum_x[i] == o->sum_x && c->sum_y[i] == o->sum_y);
        assert_true(c->sum_xx[i] == o->sum_xx && c->sum_xy[i] == o->sum_xy && c->sum_yy[i] == o->sum_yy);
        assert_true(c->mass[i] == o->mass && c->grey_min[i] == o->grey_min && c->grey_max[i] == o->grey_max);
    }
}

/* Rows 0 to 2 of the collection are somebody else's. */
static void test_patterns(void **state)
{
    (void)state;
    uint64_t seed = 1;
    slc_image_components c = {0};
    assert_int_equal(slc_columns_reserve(&slc_image_components_all, &c, MOST, 1), SLC_OK);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bits[2][WORDS];
        const size_t width = 1 + random_below(&seed, random_below(&seed, 3) == 0 ? MOST_WIDTH : 20);
        const size_t height = 1 + random_below(&seed, random_below(&seed, 3) == 0 ? MOST_HEIGHT : 12);
        const uint32_t connectivity = random_below(&seed, 2) != 0 ? 8 : 4;
        const char *name = image_pattern_any(on, width, height, &seed);
        const uint32_t n = oracle_image_label(on, width, height, connectivity, labels);
        double values[MOST];
        for (size_t i = 0; i < width * height; i++) {
            on[i] = (uint8_t)random_below(&seed, 256); /* now the grey image */
            values[i] = on[i];
        }
        oracle_image_components(labels, width, height, n, connectivity, values, false, wanted);
        c.area[0] = c.area[2] = 77;
        c.euler[2] = -5;
        slc_image_features_begin(SLC_IMAGE_ALL, &c, 3, n, SLC_IMAGE_U8);
        for (size_t y = 0; y < height; y++) {
            add_row(SLC_IMAGE_ALL, &c, y, width, connectivity, bits);
        }
        slc_image_features_end(SLC_IMAGE_ALL, &c, 3, n, SLC_IMAGE_U8);
        compare(&c, n);
        assert_true(c.area[0] == 77 && c.area[2] == 77 && c.euler[2] == -5 && name != NULL);
    }
    slc_columns_clear(&slc_image_components_all, &c);
}

/* Runs that are dropped leave no trace. */
static void test_dropped_runs(void **state)
{
    (void)state;
    slc_image_components c = {0};
    const uint32_t first[] = {0, 4}, behind[] = {2, 6}, label[] = {0, 1};
    const uint64_t bits[] = {0x33};
    const slc_image_run_row row = {.width = 8,
                                   .n_runs = 2,
                                   .first = first,
                                   .behind = behind,
                                   .label = label,
                                   .bits = bits,
                                   .connectivity = 8,
                                   .grey = bits,
                                   .grey_type = SLC_IMAGE_BITS};
    assert_int_equal(slc_columns_reserve(&slc_image_components_all, &c, 1, 1), SLC_OK);
    slc_image_features_begin(SLC_IMAGE_ALL, &c, 0, 1, SLC_IMAGE_BITS);
    slc_image_features_row(SLC_IMAGE_ALL, &c, 0, &row);
    slc_image_features_end(SLC_IMAGE_ALL, &c, 0, 1, SLC_IMAGE_BITS);
    assert_true(c.area[0] == 2 && c.sum_x[0] == 9 && c.perimeter[0] == 6 && c.euler[0] == 1);
    assert_true(c.mass[0] == 2 && c.weighted_x[0] == 4.5 && c.x[0] == 4.5 && c.y[0] == 0);
    slc_columns_clear(&slc_image_components_all, &c);
}

/* Sums far beyond 2^64, and others just below it: exact modulo 2^64. */
static void test_moments_wrap(void **state)
{
    (void)state;
    uint64_t seed = 9;
    slc_image_components c = {0};
    assert_int_equal(slc_columns_reserve(&slc_image_components_all, &c, 1, 1), SLC_OK);
    for (int round = 0; round < 2000; round++) {
        const uint32_t n = 1 + random_below(&seed, 300);
        const uint32_t first = round % 2 == 0 ? UINT32_MAX - 1 - n : random_below(&seed, UINT32_MAX - 400);
        const uint32_t behind = first + n, label = 1;
        const uint64_t y = random_u64(&seed) >> 32;
        const slc_image_run_row row = {.y = (size_t)y,
                                       .width = UINT32_MAX - 1,
                                       .n_runs = 1,
                                       .first = &first,
                                       .behind = &behind,
                                       .label = &label,
                                       .connectivity = 8};
        uint64_t x = 0, xx = 0, xy = 0;
        for (uint64_t i = first; i < behind; i++) {
            x += i;
            xx += i * i;
            xy += i * y;
        }
        slc_image_features_begin(SLC_IMAGE_SUMS | SLC_IMAGE_SECOND, &c, 0, 1, SLC_IMAGE_U8);
        slc_image_features_row(SLC_IMAGE_SUMS | SLC_IMAGE_SECOND, &c, 0, &row);
        assert_true(c.sum_x[0] == x && c.sum_y[0] == n * y);
        assert_true(c.sum_xx[0] == xx && c.sum_xy[0] == xy && c.sum_yy[0] == n * y * y);
    }
    slc_columns_clear(&slc_image_components_all, &c);
}

/* ---- 128 bits ---------------------------------------------------------------------------------- */

/* (a + 1) (b + 1) - a b = a + b + 1, and products with powers of two are shifts. */
static void test_wide_products(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int round = 0; round < 100000; round++) {
        const uint64_t a = random_u64(&seed) >> random_below(&seed, 64);
        const uint64_t b = random_u64(&seed) >> random_below(&seed, 64);
        const unsigned k = 1 + random_below(&seed, 63);
        const slc_wide p = slc_wide_product(a, b), shifted = slc_wide_product(a, (uint64_t)1 << k);
        assert_true(p.low == a * b);
        assert_true(shifted.low == a << k && shifted.high == a >> (64 - k));
        if (a < UINT32_MAX && b < UINT32_MAX) {
            const slc_wide next = slc_wide_product(a + 1, b + 1);
            assert_true(slc_wide_difference(next, p) == (double)(a + b + 1));
            assert_true(slc_wide_difference(p, next) == -(double)(a + b + 1));
        }
        const double about = (double)a * (double)b;
        assert_true(fabs((double)p.high * 0x1p64 + (double)p.low - about) <= 0x1p-50 * about);
        assert_true(slc_wide_difference(p, p) == 0 && !signbit(slc_wide_difference(p, p)));
    }
    const slc_wide most = slc_wide_product(UINT64_MAX, UINT64_MAX);
    assert_true(most.high == UINT64_MAX - 1 && most.low == 1);
}

/* ---- ellipses ---------------------------------------------------------------------------------- */

typedef struct figure {
    uint64_t x0, y0;
    slc_image_sums sums;
} figure;

static void add_pixel(figure *f, uint64_t dx, uint64_t dy)
{
    const uint64_t x = f->x0 + dx, y = f->y0 + dy;
    f->sums.n++;
    f->sums.x += x;
    f->sums.y += y;
    f->sums.xx += x * x;
    f->sums.xy += x * y;
    f->sums.yy += y * y;
}

static void expect_near(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-9 * (1 + fabs(expected)));
}

/* Straight lines of n pixels at any place: the axes are those of n - 1 steps and of one pixel. */
static void test_lines(void **state)
{
    (void)state;
    static const double half_turn = 3.14159265358979323846;
    for (uint64_t n = 2; n < 3000; n = n * 3 / 2 + 1) {
        for (uint64_t at = 0; at < 2000000; at = at * 7 + 13) {
            figure along = {.x0 = at, .y0 = 5}, down = {.x0 = 5, .y0 = at}, fall = {.x0 = at, .y0 = at},
                   rise = {.x0 = at, .y0 = at};
            for (uint64_t i = 0; i < n; i++) {
                add_pixel(&along, i, 0);
                add_pixel(&down, 0, i);
                add_pixel(&fall, i, i);
                add_pixel(&rise, i, n - 1 - i);
            }
            const double variance = ((double)n * (double)n - 1) / 12, pixel = 1.0 / 12;
            const slc_image_shape a = slc_image_shape_of(&along.sums), d = slc_image_shape_of(&down.sums);
            const slc_image_shape f = slc_image_shape_of(&fall.sums), r = slc_image_shape_of(&rise.sums);
            assert_true(a.orientation == 0);
            expect_near(d.orientation, half_turn / 2);
            expect_near(f.orientation, half_turn / 4);
            expect_near(r.orientation, -half_turn / 4);
            expect_near(a.major, 4 * sqrt(variance + pixel));
            expect_near(a.minor, 4 * sqrt(pixel));
            expect_near(f.major, 4 * sqrt(2 * variance + pixel));
            expect_near(r.minor, 4 * sqrt(pixel));
            expect_near(d.eccentricity, sqrt(1 - pixel / (variance + pixel)));
        }
    }
}

/* What is as wide as high has no orientation, wherever it is. */
static void test_squares(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < 2000000; at = at * 5 + 11) {
        figure square = {.x0 = at, .y0 = 2 * at};
        for (uint64_t i = 0; i < 100; i++) {
            add_pixel(&square, i % 10, i / 10);
        }
        const slc_image_shape s = slc_image_shape_of(&square.sums);
        assert_true(s.orientation == 0 && s.eccentricity == 0 && s.major == s.minor);
        expect_near(s.major, 4 * sqrt(100.0 / 12));
    }
}

static void test_needed(void **state)
{
    (void)state;
    assert_int_equal(slc_image_features_needed(0), 0);
    assert_int_equal(slc_image_features_needed(SLC_IMAGE_BOX), SLC_IMAGE_BOX);
    assert_int_equal(slc_image_features_needed(SLC_IMAGE_CENTROID),
                     SLC_IMAGE_CENTROID | SLC_IMAGE_AREA | SLC_IMAGE_SUMS);
    assert_int_equal(slc_image_features_needed(SLC_IMAGE_SHAPE),
                     SLC_IMAGE_SHAPE | SLC_IMAGE_AREA | SLC_IMAGE_SUMS | SLC_IMAGE_SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),     cmocka_unit_test(test_dropped_runs),
        cmocka_unit_test(test_moments_wrap), cmocka_unit_test(test_wide_products),
        cmocka_unit_test(test_lines),        cmocka_unit_test(test_squares),
        cmocka_unit_test(test_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
