/* SPDX-License-Identifier: Apache-2.0
 *
 * The resolution of times from pairs that are made here: places of a source drawn by chance along the line of
 * two crystals, flights by their distances, a Gaussian on top. Of points, cylinders, shells and thin rods,
 * with randoms, with offsets; and what cannot be told. The window of energies that belongs to a resolution.
 */
#include <sluice/pet_calibrate.h>

#include "support/cmocka_all.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_pet_geometry ring = {10, 1, 1, 1, 2, 8, 8, 60, 1.6, 12, NULL};
enum { CRYSTALS = 10 * 8 * 16, PAIRS = 16000 };
static const double light_mm_ps = 0.299792458, fwhm = 2.35482004503094938;

static slc_pet_coincidences pairs;
static int32_t offset[CRYSTALS];

static bool inside(const slc_pet_cylinder *s, const double at[3])
{
    const double r = hypot(at[0] - s->x_mm, at[1] - s->y_mm);
    return r < s->radius_mm && r >= s->inner_mm &&
           (s->length_mm <= 0 || fabs(at[2] - s->z_mm) < s->length_mm / 2);
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* A place of the source on the line, by trying; of a point the place that is nearest, if that is near. */
static bool place_on(const slc_pet_cylinder *s, const double a[3], const double b[3], uint64_t *random,
                     double at[3])
{
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, point[3] = {s->x_mm, s->y_mm, s->z_mm};
    const bool is_point = !(s->radius_mm > 0);
    const double to_axis = fabs((a[0] - s->x_mm) * d[1] - (a[1] - s->y_mm) * d[0]) / hypot(d[0], d[1]);
    if (to_axis > (is_point ? 2 : s->radius_mm)) {
        return false; /* at once, where most lines pass by */
    }
    for (int tries = 0; tries < (is_point ? 1 : 1000); tries++) {
        const double t = is_point ? ((point[0] - a[0]) * d[0] + (point[1] - a[1]) * d[1] +
                                     (point[2] - a[2]) * d[2]) /
                                        (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
                                  : random_unit(random);
        for (int k = 0; k < 3; k++) {
            at[k] = a[k] + t * d[k];
        }
        if (is_point ? t > 0 && t < 1 && distance(at, point) < 2 : inside(s, at)) {
            return true;
        }
    }
    return false;
}

static void put(size_t n, uint32_t a, uint32_t b, int64_t dt)
{
    pairs.crystal1[n] = dt < 0 ? b : a; /* the earlier one first, as the chain has it */
    pairs.crystal2[n] = dt < 0 ? a : b;
    pairs.dt_ps[n] = dt < 0 ? -dt : dt;
    pairs.time_ps[n] = (int64_t)n * 1000;
    pairs.energy1_kev[n] = pairs.energy2_kev[n] = 511;
    pairs.delayed[n] = 0;
}

/* `randoms`: a part of them anywhere in ±4 ns. Offsets are taken off the times. */
static void make(const slc_pet_cylinder *source, double sigma_ps, double randoms, uint64_t seed)
{
    uint64_t random = seed;
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &pairs, PAIRS, 1), SLC_OK);
    for (size_t n = 0; n < PAIRS;) {
        const uint32_t a = random_below(&random, CRYSTALS), b = random_below(&random, CRYSTALS);
        double from[3], to[3], at[3] = {0}, direction[3];
        slc_pet_crystal_position(&ring, a, from, direction);
        slc_pet_crystal_position(&ring, b, to, direction);
        if (a == b || !place_on(source, from, to, &random, at)) {
            continue;
        }
        double dt = (distance(to, at) - distance(from, at)) / light_mm_ps + sigma_ps * random_normal(&random);
        if (random_unit(&random) < randoms) {
            dt = 8000 * (random_unit(&random) - 0.5);
        }
        put(n++, a, b, llrint(dt) - (offset[b] - offset[a]));
    }
    pairs.head.size = PAIRS;
}

static void finds(const slc_pet_cylinder *source, double sigma_ps, double randoms, uint64_t seed)
{
    slc_pet_time_width width;
    slc_error error = {.status = SLC_OK};
    make(source, sigma_ps, randoms, seed);
    if (slc_pet_calibrate_time_fwhm(&ring, &pairs, offset, NULL, source, &width, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(width.pairs + width.outside, PAIRS);
    assert_true(width.pairs > PAIRS / 4);
    const double off = width.fwhm_ps - fwhm * sigma_ps;
    if (!(fabs(off) < 4 * width.error_ps && width.error_ps < 0.03 * fwhm * sigma_ps)) {
        fail_msg("FWHM %.2f +- %.2f ps, and %.2f was made (seed %llu)", width.fwhm_ps, width.error_ps,
                 fwhm * sigma_ps, (unsigned long long)seed);
    }
    assert_true(fabs(width.randoms - randoms) < 0.02);
    assert_false(width.misplaced);
    assert_true(hypot(width.meet_mm[0] - source->x_mm, width.meet_mm[1] - source->y_mm) < 3);
}

static void known_widths_are_found(void **state)
{
    static const slc_pet_cylinder sources[] = {
        {0},
        {.x_mm = 20, .y_mm = -15, .z_mm = 4},
        {.radius_mm = 30, .length_mm = 20},
        {.x_mm = 5, .y_mm = 3, .z_mm = -2, .radius_mm = 40},
        {.radius_mm = 45, .inner_mm = 35, .length_mm = 18},
        {.x_mm = 10, .radius_mm = 0.5},
        {.radius_mm = 1, .length_mm = 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        memset(offset, 0, sizeof offset);
        finds(&sources[i], 200, 0, 11 + i);
        finds(&sources[i], 60, 0.05, 31 + i);
        uint64_t random = 5;
        for (size_t k = 0; k < CRYSTALS; k++) {
            offset[k] = (int32_t)random_below(&random, 1000) - 500;
        }
        finds(&sources[i], 120, 0.2, 51 + i);
    }
}

/* Offsets that were found of the same pairs make them nearer than they are: what is told is mended by that.
 */
static void fitted_offsets_are_made_good_for(void **state)
{
    const slc_pet_cylinder source = {.radius_mm = 30, .length_mm = 20};
    slc_pet_time_fit fit;
    slc_pet_time_width width, plain;
    int32_t found[CRYSTALS];
    slc_error error = {.status = SLC_OK};
    (void)state;
    memset(offset, 0, sizeof offset);
    make(&source, 200, 0, 3);
    pairs.head.size = 8 * CRYSTALS; /* 16 of each crystal */
    assert_int_equal(slc_pet_calibrate_time(&ring, &pairs, 500, found, &fit, &error), SLC_OK);
    assert_int_equal(slc_pet_calibrate_time_fwhm(&ring, &pairs, found, NULL, &source, &plain, &error),
                     SLC_OK);
    assert_int_equal(slc_pet_calibrate_time_fwhm(&ring, &pairs, found, &fit, &source, &width, &error),
                     SLC_OK);
    assert_true(plain.fwhm_ps < 0.96 * fwhm * 200);
    assert_true(fabs(width.fwhm_ps - fwhm * 200) < 3 * width.error_ps);
}

static void refused(const slc_pet_cylinder *source, slc_status status, const char *text)
{
    slc_pet_time_width width;
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_pet_calibrate_time_fwhm(&ring, &pairs, NULL, NULL, source, &width, &error), status);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s' is not in: %s", text, error.text);
    }
}

static void what_cannot_be_is_told(void **state)
{
    const slc_pet_cylinder point = {0}, far = {.x_mm = 70}, wide = {.x_mm = 30, .radius_mm = 40},
                           wrong = {.radius_mm = 20, .inner_mm = 25}, elsewhere = {.y_mm = 40, .z_mm = 200};
    (void)state;
    memset(offset, 0, sizeof offset);
    make(&point, 100, 0, 1);
    refused(&far, SLC_ERR_USAGE, "reaches 70 mm from the axis");
    refused(&wide, SLC_ERR_USAGE, "reaches 70 mm from the axis");
    refused(&wrong, SLC_ERR_USAGE, "source: a cylinder of radius 20 mm (inner 25)");
    refused(&(slc_pet_cylinder){.x_mm = NAN}, SLC_ERR_USAGE, "source");
    refused(&elsewhere, SLC_ERR_FORMAT, "0 pairs pass through the source, and 100 are needed");
    pairs.crystal2[7] = CRYSTALS;
    refused(&point, SLC_ERR_FORMAT, "pair 7: crystal 1280, and the scanner has 1280");
    make(&point, 100, 0, 1);
    memset(pairs.delayed, 1, PAIRS);
    refused(&point, SLC_ERR_FORMAT, "0 pairs pass");
    make(&point, 100, 1, 1); /* randoms alone */
    refused(&point, SLC_ERR_FORMAT, "their width cannot be told");
}

/* Half of the lines anywhere, as of randoms, and a source that is not where it is said to be. */
static void a_source_elsewhere_is_told(void **state)
{
    static const slc_pet_cylinder is[] = {{.x_mm = 20, .y_mm = 10, .z_mm = 5}, {.x_mm = 10, .radius_mm = 15}},
                                  said[] = {{.x_mm = 0}, {.x_mm = -20, .radius_mm = 15}};
    uint64_t random = 3;
    (void)state;
    memset(offset, 0, sizeof offset);
    for (size_t i = 0; i < 2; i++) {
        make(&is[i], 100, 0, 5);
        for (size_t k = 0; k < PAIRS; k += 2) {
            pairs.crystal1[k] = random_below(&random, CRYSTALS / 2);
            pairs.crystal2[k] = CRYSTALS / 2 + random_below(&random, CRYSTALS / 2);
        }
        slc_pet_time_width width;
        slc_error error = {.status = SLC_OK};
        assert_int_equal(slc_pet_calibrate_time_fwhm(&ring, &pairs, NULL, NULL, &said[i], &width, &error),
                         SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, "eem to meet at ("));
        assert_true(hypot(width.meet_mm[0] - is[i].x_mm, width.meet_mm[1] - is[i].y_mm) < 3);
        /* Where it is, as many lines beside it are no reason to refuse. */
        assert_int_equal(slc_pet_calibrate_time_fwhm(&ring, &pairs, NULL, NULL, &is[i], &width, &error),
                         SLC_OK);
        assert_true(width.through > 0.35 && fabs(width.through - width.through_there) < 0.05);
    }
    const slc_pet_cylinder beside = {.x_mm = 25, .radius_mm = 15};
    slc_pet_time_width width;
    slc_error error = {.status = SLC_OK};
    make(&is[1], 100, 0, 7);
    assert_int_equal(slc_pet_calibrate_time_fwhm(&ring, &pairs, NULL, NULL, &beside, &width, &error), SLC_OK);
    assert_true(width.misplaced && width.through > 0.5);
}

static void energies_follow_from_the_resolution(void **state)
{
    static const double cases[][3] = {{0.12, 419, 603}, {0.1, 434, 588}, {0.2, 358, 664},
                                      {0.05, 473, 549}, {0.9, 0, 1201},  {0.001, 510, 512}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double kev[2];
        slc_pet_energies_of(cases[i][0], kev);
        assert_true(kev[0] == cases[i][1] && kev[1] == cases[i][2]);
    }
}

static int clear(void **state)
{
    (void)state;
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_widths_are_found),
        cmocka_unit_test(fitted_offsets_are_made_good_for),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(a_source_elsewhere_is_told),
        cmocka_unit_test(energies_follow_from_the_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, clear);
}
