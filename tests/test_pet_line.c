/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines through cylinders and voxels against steps and boxes, and the factors of pairs that come of them.
 */
#include "support/cmocka_all.h"
#include "support/pet_lines.h"

#include "base/splitmix.h"
#include "pet/pet_line.h"

#include <sluice/pet_normalise.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(slc_random_u64(state) >> 11) * 0x1p-53;
}

static void chords_are_those_of_steps(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    uint64_t random = 1;
    double seen = 0;
    for (int i = 0; i < 400; i++) {
        slc_pet_cylinder c = {.x_mm = uniform(&random, -20, 20),
                              .y_mm = uniform(&random, -20, 20),
                              .z_mm = uniform(&random, -20, 20),
                              .radius_mm = uniform(&random, 5, 40),
                              .length_mm = i % 3 == 0 ? 0 : uniform(&random, 10, 90)};
        c.inner_mm = i % 2 == 0 ? 0 : uniform(&random, 0, c.radius_mm);
        double a[3], d[3];
        for (int k = 0; k < 3; k++) {
            a[k] = uniform(&random, -60, 60);
            d[k] = uniform(&random, -60, 60) - a[k];
        }
        d[2] = i % 5 == 0 ? 0 : d[2];        /* across */
        d[0] = d[1] = i % 7 == 0 ? 0 : d[1]; /* along */
        const double found = slc_pet_line_cylinder(&c, a, d);
        assert_true(fabs(found - share_by_steps(&c, a, d, STEPS)) < 4.0 / STEPS);
        seen += found > 0;
    }
    assert_true(seen > 50);
}

/* The share of a stretch inside a box. */
static double share_of_box(const double a[3], const double d[3], const double low[3], const double high[3])
{
    double from = 0, to = 1;
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0) {
            if (a[k] < low[k] || a[k] >= high[k]) {
                return 0;
            }
            continue;
        }
        const double t1 = (low[k] - a[k]) / d[k], t2 = (high[k] - a[k]) / d[k];
        from = fmax(from, fmin(t1, t2));
        to = fmin(to, fmax(t1, t2));
    }
    return fmax(to - from, 0);
}

/* Each voxel for itself. */
static double sum_of_boxes(const slc_pet_image *m, const double a[3], const double d[3])
{
    const uint32_t n[3] = {m->nx, m->ny, m->nz};
    double sum = 0;
    for (uint32_t i = 0; i < m->nx * m->ny * m->nz; i++) {
        const uint32_t at[3] = {i % m->nx, i / m->nx % m->ny, i / m->nx / m->ny};
        double low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = m->middle_mm[k] + (at[k] - 0.5 * n[k]) * m->voxel_mm[k];
            high[k] = low[k] + m->voxel_mm[k];
        }
        sum += (double)m->value[i] * share_of_box(a, d, low, high);
    }
    return sum;
}

static void voxels_are_those_of_boxes(void **state)
{
    (void)state;
    uint64_t random = 2;
    float value[7 * 5 * 6];
    for (int i = 0; i < 3000; i++) {
        slc_pet_image m = {.nx = 1 + slc_random_below(&random, 7),
                           .ny = 1 + slc_random_below(&random, 5),
                           .nz = 1 + slc_random_below(&random, 6),
                           .value = value};
        double a[3], d[3];
        for (size_t k = 0; k < sizeof value / sizeof *value; k++) {
            value[k] = (float)uniform(&random, 0, 1);
        }
        for (int k = 0; k < 3; k++) {
            m.voxel_mm[k] = uniform(&random, 0.5, 3);
            m.middle_mm[k] = uniform(&random, -3, 3);
            a[k] = uniform(&random, -12, 12);
            d[k] = uniform(&random, -12, 12) - a[k];
            d[k] = slc_random_below(&random, 4) == 0 ? 0 : d[k];
        }
        assert_true(fabs(slc_pet_line_image(&m, a, d) - sum_of_boxes(&m, a, d)) < 1e-12);
        /* There and back. */
        const double b[3] = {a[0] + d[0], a[1] + d[1], a[2] + d[2]}, e[3] = {-d[0], -d[1], -d[2]};
        assert_true(fabs(slc_pet_line_image(&m, a, d) - slc_pet_line_image(&m, b, e)) < 1e-9);
    }
    /* Along borders, through corners, and nowhere: a number, and not more than there is. */
    float ones[64];
    for (int i = 0; i < 64; i++) {
        ones[i] = 1;
    }
    const slc_pet_image m = {.nx = 4, .ny = 4, .nz = 4, .voxel_mm = {1, 1, 1}, .value = ones};
    for (int i = 0; i < 5 * 5 * 5 * 27; i++) {
        const double a[3] = {i % 5 - 2.0, i / 5 % 5 - 2.0, i / 25 % 5 - 2.0};
        const double d[3] = {4.0 * (i / 125 % 3 - 1), 4.0 * (i / 375 % 3 - 1), 4.0 * (i / 1125 % 3 - 1)};
        const double sum = slc_pet_line_image(&m, a, d);
        assert_true(sum >= 0 && sum <= 1 + 1e-12);
    }
    const double corner[3] = {-2, -2, -2}, across[3] = {4, 4, 4};
    assert_true(fabs(slc_pet_line_image(&m, corner, across) - 1) < 1e-12);
}

/* A water cylinder of voxels comes near to the cylinder, and attenuation is that of the literature. */
static void factors_of_a_cylinder_and_of_its_voxels(void **state)
{
    (void)state;
    enum { N = 80 };
    slc_pet_tables tables = {.position_side = 13};
    slc_error error;
    assert_int_equal(slc_pet_scanner("mouse20", &tables.geometry, &error), SLC_OK);
    const slc_pet_cylinder water = {.radius_mm = 20, .length_mm = 30, .mu_per_cm = 0.096};
    float *value = calloc((size_t)N * N * 30, sizeof *value);
    assert_non_null(value);
    const slc_pet_image image = {.nx = N, .ny = N, .nz = 30, .voxel_mm = {0.5, 0.5, 1}, .value = value};
    for (int i = 0; i < N * N * 30; i++) {
        int inside = 0;
        for (int k = 0; k < 64; k++) {
            const double x = (i % N + (k % 8 + 0.5) / 8) * 0.5 - 20;
            const double y = (i / N % N + (k / 8 + 0.5) / 8) * 0.5 - 20;
            inside += x * x + y * y < 400;
        }
        value[i] = 0.096F * (float)inside / 64;
    }
    slc_pet_factors_config config;
    slc_pet_factors *one, *two;
    slc_pet_factors_config_default(&config);
    config.tables = &tables;
    config.cylinders = &water;
    config.n_cylinders = 1;
    assert_int_equal(slc_pet_factors_open(&config, &one, &error), SLC_OK);
    config.cylinders = NULL;
    config.n_cylinders = 0;
    config.image = &image;
    assert_int_equal(slc_pet_factors_open(&config, &two, &error), SLC_OK);
    assert_true(slc_pet_factors_attenuate(one) && !slc_pet_factors_normalise(one));
    /* Across the middle: 4 cm of water. */
    const uint32_t ring = 520 * 12;
    assert_true(fabs(slc_pet_factors_attenuation(one, ring, ring + 260) - exp(0.384)) < 1e-9);
    assert_true(slc_pet_factors_of(one, 0, 1) == 1);
    uint64_t random = 3;
    for (int i = 0; i < 2000; i++) {
        const uint32_t a = slc_random_below(&random, 13520), b = slc_random_below(&random, 13520);
        const double first = slc_pet_factors_attenuation(one, a, b);
        assert_true(first >= 1 && slc_pet_factors_attenuation(one, b, a) >= 1);
        assert_true(fabs(first - slc_pet_factors_attenuation(two, a, b)) < 0.012);
    }
    slc_pet_factors_close(one);
    slc_pet_factors_close(two);
    value[7] = -1;
    assert_int_equal(slc_pet_factors_open(&config, &two, &error), SLC_ERR_FORMAT);
    assert_string_equal(error.text, "an attenuation of -1 / cm in voxel x 7, y 0, z 0");
    free(value);
}

static void words_of_cylinders(void **state)
{
    (void)state;
    slc_pet_cylinder c;
    slc_error error;
    assert_int_equal(slc_pet_cylinder_of("radius=30mm,length=100,z=-5mm,mu=0.096/cm,inner=28", &c, &error),
                     SLC_OK);
    assert_true(c.radius_mm == 30 && c.length_mm == 100 && c.z_mm == -5 && c.mu_per_cm == 0.096 &&
                c.inner_mm == 28 && c.x_mm == 0 && c.y_mm == 0);
    static const char *const wrong[] = {"",
                                        "radius=",
                                        "radius=3,radius=4",
                                        "radius=3,",
                                        "radius=3mm2",
                                        "radius=nan",
                                        "length=3",
                                        "radius=3,inner=3",
                                        "radius=-1",
                                        "radius=3,mu=-1",
                                        "radius=3,length=-1",
                                        "radius=inf",
                                        "r=3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(slc_pet_cylinder_of(wrong[i], &c, &error), SLC_ERR_USAGE);
        assert_true(c.radius_mm == 30);
    }
}

enum { SMALL = 72 };

/* A scanner of 72 crystals. */
static slc_pet_geometry small(void)
{
    slc_pet_geometry g;
    slc_error error;
    assert_int_equal(slc_pet_scanner("channels=6,crystals=4x3,radius=40mm,pitch=4mm,depth=4mm", &g, &error),
                     SLC_OK);
    return g;
}

/* A dead crystal has no factor, and never 1. */
static void dead_crystals_have_no_factor(void **state)
{
    (void)state;
    float efficiency[SMALL];
    for (int i = 0; i < SMALL; i++) {
        efficiency[i] = i == 5 ? 0 : 0.5F + 0.01F * (float)i;
    }
    const slc_pet_tables tables = {.geometry = small(), .position_side = 4, .efficiency = efficiency};
    slc_pet_factors_config config;
    slc_pet_factors *factors;
    slc_error error;
    slc_pet_factors_config_default(&config);
    config.tables = &tables;
    assert_int_equal(slc_pet_factors_open(&config, &factors, &error), SLC_OK);
    assert_true(slc_pet_factors_normalise(factors) && !slc_pet_factors_attenuate(factors));
    assert_true(slc_pet_factors_of(factors, 5, 20) == 0 && slc_pet_factors_of(factors, 20, 5) == 0);
    assert_true(fabs(slc_pet_factors_of(factors, 10, 20) - 1 / (0.6 * 0.7)) < 1e-6);
    assert_true(slc_pet_factors_attenuation(factors, 10, 20) == 1);
    slc_pet_factors_close(factors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chords_are_those_of_steps),
        cmocka_unit_test(voxels_are_those_of_boxes),
        cmocka_unit_test(factors_of_a_cylinder_and_of_its_voxels),
        cmocka_unit_test(words_of_cylinders),
        cmocka_unit_test(dead_crystals_have_no_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
