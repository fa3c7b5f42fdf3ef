/* SPDX-License-Identifier: Apache-2.0
 *
 * Positions of clusters: values that were computed by hand from the words of cms_stages.h, and random
 * clusters against the same words in double precision.
 */
#include "cms/cms_stages.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

/* A cluster's box and the charges on its edges. */
typedef struct shape {
    uint16_t x_min, x_max, y_min, y_max;
    uint32_t x_first, x_last, y_first, y_last;
} shape;

static void put(slc_cms_clusters *clusters, uint32_t module, shape s)
{
    const size_t row = clusters->head.size;
    assert_int_equal(slc_columns_reserve(&slc_cms_clusters_schema, clusters, row + 1, 1), SLC_OK);
    clusters->head.size++;
    clusters->module[row] = (uint16_t)module;
    clusters->x_min[row] = s.x_min;
    clusters->x_max[row] = s.x_max;
    clusters->y_min[row] = s.y_min;
    clusters->y_max[row] = s.y_max;
    clusters->charge_x_min[row] = s.x_first;
    clusters->charge_x_max[row] = s.x_last;
    clusters->charge_y_min[row] = s.y_first;
    clusters->charge_y_max[row] = s.y_last;
}

/* One cluster of module 0: its position and errors. */
static void locate(const slc_cms_position_config *config, shape s, float *x, float *y, float *x_error,
                   float *y_error)
{
    slc_cms_clusters clusters = {0};
    put(&clusters, 0, s);
    slc_columns_end_event(&clusters);
    slc_cms_position_run(config, &clusters);
    *x = clusters.x_um[0];
    *y = clusters.y_um[0];
    *x_error = clusters.x_error_um[0];
    *y_error = clusters.y_error_um[0];
    slc_columns_clear(&slc_cms_clusters_schema, &clusters);
}

static void assert_position(const slc_cms_position_config *config, shape s, double x, double y)
{
    float x_um, y_um, x_error_um, y_error_um;
    locate(config, s, &x_um, &y_um, &x_error_um, &y_error_um);
    assert_true(fabs((double)x_um - x) < 0.01);
    assert_true(fabs((double)y_um - y) < 0.01);
}

static void test_one_pixel_is_in_its_middle(void **state)
{
    (void)state;
    slc_cms_position_config config;
    slc_cms_position_config_default(&config);
    /* The module is 162 pitches of 100 µm high and 432 of 150 µm wide: its corners are at ±8100 and ±32400.
     */
    assert_position(&config, (shape){0, 0, 0, 0, 9, 9, 9, 9}, -8100 + 50,
                    -32400 + 150); /* column 0 is long */
    assert_position(&config, (shape){159, 159, 415, 415, 9, 9, 9, 9}, 8100 - 50, 32400 - 150);
    assert_position(&config, (shape){79, 79, 1, 1, 9, 9, 9, 9}, -100, -32400 + 300 + 75); /* row 79 is long */
    assert_position(&config, (shape){80, 80, 207, 207, 9, 9, 9, 9}, 100, -150);
    assert_position(&config, (shape){81, 81, 208, 208, 9, 9, 9, 9}, 250, 150);
    assert_position(&config, (shape){78, 78, 209, 209, 9, 9, 9, 9}, -250, 375);
    /* The plane's shift comes on top. */
    config.plane_default.shift_x_um = 12;
    config.plane_default.shift_y_um = -7;
    assert_position(&config, (shape){81, 81, 208, 208, 9, 9, 9, 9}, 262, 143);
}

static void test_charge_moves_longer_ones(void **state)
{
    (void)state;
    slc_cms_position_config config;
    slc_cms_position_config_default(&config);
    config.plane_default.z0_um = 1e9f; /* tracks are at right angles, and widths 0 */
    /* Three rows, 100 to 102: the middle is at row 101, (101 + 2 + 0.5 - 81) · 100 = 2250; W = 100, moved by
     * 1/2 · (3 - 1) / (3 + 1) · 100 = 25. Three columns, 53 to 55: (54 + 3 + 0.5 - 216) · 150 = -23775, moved
     * the other way by 37.5. */
    assert_position(&config, (shape){100, 102, 53, 55, 1000, 3000, 3000, 1000}, 2275, -23775 - 37.5);
    /* Two rows: W = 0, since a track at a right angle shares no charge; the edge between 100 and 101. */
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2200, -23925);
    /* With a charge width of 60 µm W is 60: moved by 15. */
    config.plane_default.width_x_um = -60;
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2215, -23925);
    config.plane_default.width_x_um = 60;
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2215, -23925);
    /* Of 100 it is the pitch itself; of more, it cannot be, and W is half of both pixels. */
    config.plane_default.width_x_um = 100;
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2225, -23925);
    config.plane_default.width_x_um = 100.5f;
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2225, -23925);
    /* Rows 79 and 80 are both long: W = 100 · (2 + 2) / 2 = 200; one of them long: 150. */
    assert_position(&config, (shape){79, 80, 53, 53, 1000, 3000, 5, 5}, 50, -23925);
    assert_position(&config, (shape){78, 79, 53, 53, 1000, 3000, 5, 5}, -200 + 37.5, -23925);
    /* Columns 51 and 52 are long: W = 150 · 2, of three columns 50 to 52 150 · 1.5. */
    config.plane_default.width_y_um = 1000;
    assert_position(&config, (shape){100, 100, 51, 52, 5, 5, 1000, 3000}, 2150, -24300 + 75);
    assert_position(&config, (shape){100, 100, 50, 52, 5, 5, 1000, 3000}, 2150, -24450 + 56.25);
    /* Without charge nothing moves. */
    assert_position(&config, (shape){100, 102, 53, 55, 0, 0, 0, 0}, 2250, -23775);
}

/* The track comes from the origin: 285 µm · cot is what it shares. At x = 2200 with the origin 30 mm above,
 * cot = -2200 / 30000, W = 20.9, and the cluster moves by 5.225. */
static void test_angle_of_the_track(void **state)
{
    (void)state;
    slc_cms_position_config config;
    slc_cms_position_config_default(&config);
    config.plane_default = (slc_cms_plane){.z0_um = 30000};
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2205.225, -23925);
    config.plane_default.z0_um = -30000;
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2205.225, -23925);
    config.plane_default.x0_um = 2200;
    assert_position(&config, (shape){100, 101, 53, 53, 1000, 3000, 5, 5}, 2200, -23925);
    /* In y: the edge between columns 60 and 61 is at (61 + 3 - 216) · 150 = -22800; cot = 22800 / 30000 up to
     * its sign, W = 216.6 is beyond the pitch, so W = 150. With the origin 60 mm away it is 108.3. */
    config.plane_default = (slc_cms_plane){.z0_um = 30000};
    assert_position(&config, (shape){100, 100, 60, 61, 5, 5, 3000, 1000}, 2150, -22800 - 37.5);
    config.plane_default.z0_um = 60000;
    assert_position(&config, (shape){100, 100, 60, 61, 5, 5, 3000, 1000}, 2150, -22800 - 27.075);
}

static void test_planes_and_errors(void **state)
{
    (void)state;
    slc_cms_position_config config;
    slc_cms_position_config_default(&config);
    for (size_t i = 0; i < 3; i++) {
        assert_true(config.error_x_um[i] > 0 && config.error_y_um[i] > 0);
        config.error_x_um[i] = (float)(1 + i);
        config.error_y_um[i] = (float)(11 + i);
    }
    const slc_cms_plane planes[2] = {{.z0_um = 1e9f, .shift_x_um = 1000},
                                     {.z0_um = 1e9f, .shift_x_um = 2000}};
    config.n_planes = 2;
    config.planes = planes;
    config.plane_default.shift_x_um = 3000;
    slc_cms_clusters clusters = {0};
    for (uint16_t m = 0; m < 3; m++) {
        put(&clusters, m, (shape){81, (uint16_t)(81 + m), 208, (uint16_t)(211 - m), 9, 9, 9, 9});
    }
    put(&clusters, 65535, (shape){81, 110, 208, 208, 9, 9, 9, 9});
    slc_columns_end_event(&clusters);
    slc_cms_position_run(&config, &clusters);
    static const float x[] = {1250, 2300, 3350, 4700}, x_error[] = {1, 2, 3, 3}, y_error[] = {13, 13, 12, 11};
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabsf(clusters.x_um[i] - x[i]) < 0.01f);
        assert_true(clusters.x_error_um[i] == x_error[i]);
        assert_true(clusters.y_error_um[i] == y_error[i]);
    }
    slc_columns_clear(&slc_cms_clusters_schema, &clusters);
}

/* ---- random clusters ------------------------------------------------------------------------------ */

/* Edges of rows (columns) in pitches, by adding up pixel after pixel. */
static double edge(uint32_t pixel, bool row)
{
    double at = 0;
    for (uint32_t p = 0; p < pixel; p++) {
        const bool is_long = row ? p == 79 || p == 80 : p % 52 == 0 || p % 52 == 51;
        at += is_long ? 2 : 1;
    }
    return at;
}

typedef struct axis {
    double pitch, middle, shift, width, origin, distance;
    bool row;
} axis;

/* Returns the coordinate; *uncertain where W is so near to 0 or the pitch that float may decide otherwise. */
static double coordinate(const axis *a, uint32_t min, uint32_t max, double first, double last,
                         bool *uncertain)
{
    const double low = edge(min + 1, a->row), high = edge(max, a->row);
    const double middle = a->shift + a->pitch * ((low + high) / 2 - a->middle);
    *uncertain = false;
    if (max == min || first + last == 0) {
        return middle;
    }
    const double long_first = edge(min + 1, a->row) - edge(min, a->row) - 1;
    const double long_last = edge(max + 1, a->row) - edge(max, a->row) - 1;
    double w = a->pitch * (2 + long_first + long_last) / 2;
    if (max == min + 1) {
        const double cot = -(middle - a->origin) / a->distance;
        const double shared = fabs(285 * cot - a->width) - a->pitch * (high - low);
        *uncertain = fabs(shared) < 0.01 || fabs(shared - a->pitch) < 0.01;
        w = shared >= 0 && shared <= a->pitch ? shared : w;
    }
    return middle + (last - first) / (last + first) * w / 2;
}

static void test_random_clusters(void **state)
{
    (void)state;
    uint64_t seed = 31;
    uint32_t compared = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        slc_cms_position_config config;
        slc_cms_position_config_default(&config);
        slc_cms_plane *p = &config.plane_default;
        *p = (slc_cms_plane){
            .x0_um = (float)(4000 * random_normal(&seed)),
            .y0_um = (float)(20000 * random_normal(&seed)),
            .z0_um = (float)((random_below(&seed, 2) ? 1 : -1) * (20000 + 100000 * random_unit(&seed))),
            .shift_x_um = (float)(30 * random_normal(&seed)),
            .width_x_um = (float)(60 * random_normal(&seed)),
            .width_y_um = (float)(10 * random_normal(&seed))};
        shape s = {.x_min = (uint16_t)random_below(&seed, 155), .y_min = (uint16_t)random_below(&seed, 405)};
        s.x_max = (uint16_t)(s.x_min + random_below(&seed, 4));
        s.y_max = (uint16_t)(s.y_min + random_below(&seed, random_below(&seed, 2) ? 2 : 10));
        uint32_t *const charges[] = {&s.x_first, &s.x_last, &s.y_first, &s.y_last};
        for (size_t k = 0; k < 4; k++) {
            *charges[k] = random_below(&seed, 50) == 0 ? UINT32_MAX : random_below(&seed, 50000);
        }
        const axis x = {
            100, 81, (double)p->shift_x_um, (double)p->width_x_um, (double)p->x0_um, (double)p->z0_um, true};
        const axis y = {
            150,  216, (double)p->shift_y_um, (double)p->width_y_um, (double)p->y0_um, (double)p->z0_um,
            false};
        bool x_uncertain, y_uncertain;
        const double x_um = coordinate(&x, s.x_min, s.x_max, s.x_first, s.x_last, &x_uncertain);
        const double y_um = coordinate(&y, s.y_min, s.y_max, s.y_first, s.y_last, &y_uncertain);
        float found_x, found_y, x_error, y_error;
        locate(&config, s, &found_x, &found_y, &x_error, &y_error);
        assert_true(x_uncertain || fabs((double)found_x - x_um) < 0.02);
        assert_true(y_uncertain || fabs((double)found_y - y_um) < 0.02);
        compared += !x_uncertain && !y_uncertain;
    }
    assert_true(compared > 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_pixel_is_in_its_middle),
        cmocka_unit_test(test_charge_moves_longer_ones),
        cmocka_unit_test(test_angle_of_the_track),
        cmocka_unit_test(test_planes_and_errors),
        cmocka_unit_test(test_random_clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
