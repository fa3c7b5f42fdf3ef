/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of generated sources: a point is where it is, a line is a line, a mouse is a mouse. The image of
 * several threads is that of one, bit for bit; sums over lines are those of a slow and obvious loop in
 * double.
 */
#include <sluice/pet_chain.h>
#include <sluice/pet_look.h>

#include "base/splitmix.h"
#include "pet/pet_look_sum.h"
#include "support/cmocka_all.h"
#include "support/pet_rows.h"
#include "support/pet_sim.h"
#include "support/sanitized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- data -------------------------------------------------------------------------------------------- */

/* Pairs of sources in mouse20, with 200 ps of resolution of a single, 471 ps of a pair. */
static void make_pairs(const slc_sim_pet_source *source, uint32_t n, double seconds,
                       slc_pet_coincidences *pairs)
{
    slc_error error = {.status = SLC_OK};
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.seed = 12;
    memcpy(config.source, source, n * sizeof *source);
    config.n_sources = n;
    config.singles_hz = 6e5;
    config.scatter_fraction = 0.1;
    pet_made made;
    pet_make(&made, &config, seconds);
    slc_pet_config chain_config;
    slc_pet_config_default(&chain_config);
    chain_config.prompt.window_ns = 3;
    chain_config.convert.low_kev = 430;
    chain_config.convert.high_kev = 600;
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {.singles = {.head = {.size = 0}}};
    assert_int_equal(slc_pet_chain_open(&chain_config, slc_sim_pet_tables(made.sim), &chain, &error), SLC_OK);
    assert_int_equal(slc_pet_chain_run(chain, made.frames, NULL, made.n, true, &result, &error), SLC_OK);
    memset(pairs, 0, sizeof *pairs);
    const size_t rows = result.pairs.head.size;
    assert_true(rows > 1000);
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, pairs, rows, 1), SLC_OK);
    assert_int_equal(slc_columns_append(&slc_pet_coincidences_schema, &result.pairs, 0, rows, pairs), SLC_OK);
    slc_pet_chain_close(chain);
    slc_pet_result_clear(&result);
    pet_clear(&made);
}

static slc_pet_look *look_at(const slc_pet_look_config *config, const slc_pet_coincidences *pairs,
                             slc_pet_look_image *image)
{
    slc_error error = {.status = SLC_OK};
    slc_pet_look *look = NULL;
    if (slc_pet_look_open(config, &look, &error) != SLC_OK ||
        slc_pet_look_add(look, pairs, &error) != SLC_OK || slc_pet_look_run(look, image, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return look;
}

static void set_config(slc_pet_look_config *config, double tof_ps)
{
    slc_pet_look_config_default(config);
    config->tof_fwhm_ps = tof_ps;
    config->sensitivity_lines = SANITIZED ? 1 << 16 : 1 << 19;
    config->exec.threads = 2;
    config->diameter_mm = 60;
}

static double value_at(const slc_pet_look_image *image, double x, double y, double z)
{
    const double mm[3] = {x, y, z};
    size_t at = 0;
    for (int k = 2; k >= 0; k--) {
        at = at * image->n[k] + (size_t)floor((mm[k] - image->first_mm[k]) / image->voxel_mm + 0.5);
    }
    return (double)image->value[at];
}

/* ---- sources ----------------------------------------------------------------------------------------- */

static void point_at(double x_mm, double y_mm, double z_mm)
{
    const slc_sim_pet_source source = {.x_mm = x_mm, .y_mm = y_mm, .z_mm = z_mm, .activity_bq = 1e6};
    slc_pet_coincidences pairs;
    slc_pet_look_image image;
    slc_pet_look_config config;
    make_pairs(&source, 1, SANITIZED ? 0.05 : 0.15, &pairs);
    const struct {
        double tof_ps;
        uint32_t iterations;
    } cases[] = {{0, 6}, {471, 10}, {471, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_config(&config, cases[i].tof_ps);
        config.iterations = cases[i].iterations;
        slc_pet_look *look = look_at(&config, &pairs, &image);
        print_message("  tof %g, %u iterations: (%.3f, %.3f, %.3f)\n", cases[i].tof_ps, cases[i].iterations,
                      image.centroid_mm[0], image.centroid_mm[1], image.centroid_mm[2]);
        const double near_mm = cases[i].iterations > 0 ? 0.1 : 0.5; /* a back-projection is wide */
        assert_true(fabs(image.centroid_mm[0] - x_mm) < near_mm);
        assert_true(fabs(image.centroid_mm[1] - y_mm) < near_mm);
        assert_true(fabs(image.centroid_mm[2] - z_mm) < near_mm);
        assert_int_equal(image.used, pairs.head.size);
        slc_pet_look_close(look);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* In the middle of a voxel, and not. */
static void test_point(void **state)
{
    (void)state;
    point_at(20, 10, 5);
    point_at(17.3, -8.6, -3.4);
}

/* Along the axis at (-15, 8): what is on it is far more than what is beside it, and as much in the middle as
 * half way to an end, once sensitivity is divided by. */
static void test_line(void **state)
{
    (void)state;
    const slc_sim_pet_source source = {
        .x_mm = -15, .y_mm = 8, .radius_mm = 0.2, .length_mm = 36, .activity_bq = 1e6};
    slc_pet_coincidences pairs;
    slc_pet_look_image image;
    slc_pet_look_config config;
    make_pairs(&source, 1, SANITIZED ? 0.2 : 0.5, &pairs);
    set_config(&config, 471);
    config.voxel_mm = 1.6;
    slc_pet_look *look = look_at(&config, &pairs, &image);
    double sum[3] = {0}; /* about z = -10, 0, 10 */
    for (int part = 0; part < 3; part++) {
        for (int k = -3; k <= 3; k++) {
            double on = 0;
            for (int x = -2; x <= 2; x++) {
                for (int y = -2; y <= 2; y++) {
                    on += value_at(&image, -15 + 1.6 * x, 8 + 1.6 * y, 10 * (part - 1) + 1.6 * k);
                }
            }
            assert_true(on > 100 * value_at(&image, 15, -8, 10 * (part - 1) + 1.6 * k));
            sum[part] += on;
        }
    }
    print_message("  %.0f %.0f %.0f\n", sum[0], sum[1], sum[2]);
    assert_true(fabs(sum[0] / sum[1] - 1) < 0.1 && fabs(sum[2] / sum[1] - 1) < 0.1);
    slc_pet_look_close(look);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* A body with a hot heart, two kidneys and a bladder. */
static void test_mouse(void **state)
{
    (void)state;
    const slc_sim_pet_source sources[] = {
        {.radius_mm = 12, .length_mm = 38, .activity_bq = 4e5},
        {.x_mm = -2, .y_mm = 4, .z_mm = 10, .radius_mm = 3, .length_mm = 6, .activity_bq = 3e5},
        {.x_mm = 6, .y_mm = -4, .z_mm = -2, .radius_mm = 2, .length_mm = 8, .activity_bq = 1.5e5},
        {.x_mm = -6, .y_mm = -4, .z_mm = -2, .radius_mm = 2, .length_mm = 8, .activity_bq = 1.5e5},
        {.y_mm = 3, .z_mm = -14, .radius_mm = 2.5, .length_mm = 5, .activity_bq = 2e5}};
    slc_pet_coincidences pairs;
    slc_pet_look_image image;
    slc_pet_look_config config;
    make_pairs(sources, 5, SANITIZED ? 0.2 : 0.5, &pairs);
    set_config(&config, 471);
    config.voxel_mm = 1;
    slc_pet_look *look = look_at(&config, &pairs, &image);
    const double heart = value_at(&image, -2, 4, 10), kidney = value_at(&image, 6, -4, -2);
    const double other = value_at(&image, -6, -4, -2), bladder = value_at(&image, 0, 3, -14);
    const double body = value_at(&image, 0, 8, -2), beside = value_at(&image, 20, 0, 0);
    print_message("  heart %.3g kidneys %.3g %.3g bladder %.3g body %.3g beside %.3g\n", heart, kidney, other,
                  bladder, body, beside);
    assert_true(heart > 3 * body && kidney > 3 * body && other > 3 * body && bladder > 3 * body);
    assert_true(body > 5 * beside);
    slc_pet_look_close(look);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* ---- the same for any threads ------------------------------------------------------------------------ */

static void test_threads(void **state)
{
    (void)state;
    slc_pet_coincidences pairs;
    slc_pet_look_config config;
    set_config(&config, 300);
    config.voxel_mm = 2;
    config.iterations = 3;
    config.sensitivity_lines = 50000;
    pet_few_pairs(77, &pairs, 3000, slc_pet_crystals(&config.geometry) + 100);
    uint64_t checksum = 0;
    for (uint32_t threads = 1; threads <= 7; threads += 2) {
        slc_pet_look_image image;
        config.exec.threads = threads;
        slc_pet_look *look = look_at(&config, &pairs, &image);
        checksum = threads == 1 ? image.checksum : checksum;
        assert_true(image.checksum == checksum && image.checksum != 0);
        assert_int_equal(image.delayeds, 300);
        assert_int_equal(image.used + image.outside, 2700);
        assert_true(image.outside > 0);
        slc_pet_look_close(look);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

/* ---- beside a slow one ------------------------------------------------------------------------------- */

/* By the definition, in double: every voxel of every line, weights as products of distances, the Gaussian by
 * exp. */
static double share(double at, double cell)
{
    const double far = fabs(at - cell);
    return far < 1 ? 1 - far : 0;
}

static double weight_of(const slc_pet_look_work *w, const slc_pet_look_event *e, const uint32_t cell[3])
{
    const float *a = w->at_mm[e->crystal[0]], *b = w->at_mm[e->crystal[1]];
    const slc_pet_look_grid *g = &w->grid;
    double d[3], weight = 1, length = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = (double)b[k] - (double)a[k];
        length += d[k] * d[k];
    }
    const int m = fabs(d[0]) >= fabs(d[1]) ? (fabs(d[0]) >= fabs(d[2]) ? 0 : 2)
                                           : (fabs(d[1]) >= fabs(d[2]) ? 1 : 2);
    const double t = ((double)g->first_mm[m] + cell[m] * (double)g->voxel_mm - (double)a[m]) / d[m];
    for (int k = 0; k < 3; k++) {
        const double at = ((double)a[k] + t * d[k] - (double)g->first_mm[k]) / (double)g->voxel_mm;
        weight *= k == m ? 1 : share(at, cell[k]);
    }
    const double far = ((t - 0.5) * sqrt(length) - (double)e->middle_mm) / (double)g->tof_mm;
    return g->tof_mm <= 0 ? weight : fabs(far) <= 3.5 ? weight * exp(-0.5 * far * far) : 0;
}

static void iterate_slowly(const slc_pet_look_work *w, const float *sensitivity, double *image)
{
    double *next = calloc(w->voxels, sizeof *next), *weight = calloc(w->voxels, sizeof *weight);
    assert_true(next != NULL && weight != NULL);
    for (size_t i = 0; i < w->n; i++) {
        double along = 0;
        for (uint32_t v = 0; v < w->voxels; v++) {
            const uint32_t *n = w->grid.n, cell[3] = {v % n[0], v / n[0] % n[1], v / n[0] / n[1]};
            weight[v] = weight_of(w, &w->event[i], cell);
            along += weight[v] * image[v];
        }
        for (uint32_t v = 0; v < w->voxels && along > 0; v++) {
            next[v] += weight[v] * image[v] / along;
        }
    }
    for (size_t v = 0; v < w->voxels; v++) {
        image[v] = sensitivity[v] > 0 ? next[v] / (double)sensitivity[v] : 0;
    }
    free(next);
    free(weight);
}

enum { CRYSTALS = 200, EVENTS = 150, VOXELS = 9 * 8 * 5 };

static void test_beside_a_slow_one(void **state)
{
    (void)state;
    static float at[CRYSTALS][3], gauss[SLC_PET_LOOK_TABLE], sensitivity[VOXELS], image[VOXELS];
    static slc_pet_look_event event[EVENTS];
    static uint64_t room[2 * VOXELS];
    uint64_t random = 5, missed = 0;
    double slow[VOXELS];
    slc_team *team = NULL;
    assert_int_equal(slc_team_open(2, &team), SLC_OK);
    for (int i = 0; i < SLC_PET_LOOK_TABLE; i++) {
        gauss[i] = (float)exp(-0.5 * i * i / SLC_PET_LOOK_OF_WIDTH / SLC_PET_LOOK_OF_WIDTH);
    }
    for (int i = 0; i < CRYSTALS; i++) {
        const double angle = 2 * 3.14159265358979 * i / CRYSTALS;
        at[i][0] = (float)(60 * cos(angle));
        at[i][1] = (float)(60 * sin(angle));
        at[i][2] = slc_random_between(&random, -30, 30);
    }
    for (size_t i = 0; i < EVENTS; i++) {
        event[i] = (slc_pet_look_event){{slc_random_below(&random, CRYSTALS), 0},
                                        slc_random_between(&random, -20, 20)};
        event[i].crystal[1] = (event[i].crystal[0] + 60 + slc_random_below(&random, 80)) % CRYSTALS;
    }
    for (int with_times = 0; with_times < 2; with_times++) {
        const slc_pet_look_work work = {.grid = {.n = {9, 8, 5},
                                                 .first_mm = {-40, -36, -20},
                                                 .voxel_mm = 10,
                                                 .tof_mm = with_times ? 25 : 0,
                                                 .scale = 0x1p40F},
                                        .voxels = VOXELS,
                                        .crystals = CRYSTALS,
                                        .at_mm = (const float(*)[3])at,
                                        .gauss = gauss,
                                        .event = event,
                                        .n = EVENTS};
        for (int v = 0; v < VOXELS; v++) {
            sensitivity[v] = v % 7 == 0 ? 0 : slc_random_between(&random, 0.5F, 2);
            slow[v] = sensitivity[v] > 0;
        }
        slc_pet_look_iterate(&work, team, sensitivity, 3, room, image, &missed);
        for (int i = 0; i < 3; i++) {
            iterate_slowly(&work, sensitivity, slow);
        }
        double sum = 0;
        for (int v = 0; v < VOXELS; v++) {
            assert_true(fabs((double)image[v] - slow[v]) < 0.01 * slow[v] + 1e-4);
            sum += (double)image[v] * (double)sensitivity[v];
        }
        assert_true(fabs(sum - (double)(EVENTS - missed)) < 1e-3); /* each event is given away once */
    }
    slc_team_close(team);
}

static void test_wrong(void **state)
{
    (void)state;
    slc_error error = {.status = SLC_OK};
    slc_pet_look_config config;
    slc_pet_look *look = NULL;
    slc_pet_look_image image;
    slc_pet_look_config_default(&config);
    config.voxel_mm = 0.01;
    assert_int_equal(slc_pet_look_open(&config, &look, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "and at most 2^27 can be looked at"));
    config.voxel_mm = -1;
    assert_int_equal(slc_pet_look_open(&config, &look, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "slc_pet_look_config: voxel_mm is -1, not from 0 to 1e6");
    config.voxel_mm = 2;
    assert_int_equal(slc_pet_look_open(&config, &look, &error), SLC_OK);
    assert_int_equal(slc_pet_look_run(look, &image, &error), SLC_ERR_USAGE);
    slc_pet_look_close(look);
}

/* One plane of crystals, which sees nothing: told so, and not that memory is short. */
static void test_nothing_seen(void **state)
{
    (void)state;
    slc_pet_crystal_row rows[16];
    for (uint32_t i = 0; i < 16; i++) {
        rows[i] = (slc_pet_crystal_row){0,          0,        i, 0, {20, 2.0 * (i / 4), 2.0 * (i % 4)},
                                        {-1, 0, 0}, {0, 0, 1}};
    }
    slc_error error = {.status = SLC_OK};
    slc_pet_look_config config;
    slc_pet_look *look = NULL;
    slc_pet_look_image image;
    slc_pet_coincidences pairs = {.head = {0}};
    slc_pet_look_config_default(&config);
    assert_int_equal(slc_pet_layout_make(rows, 16, 0, &config.geometry, &error), SLC_OK);
    config.voxel_mm = 2;
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &pairs, 1, 1), SLC_OK);
    pairs.time_ps[0] = pairs.dt_ps[0] = 0;
    pairs.energy1_kev[0] = pairs.energy2_kev[0] = 511;
    pairs.crystal1[0] = pairs.delayed[0] = 0;
    pairs.crystal2[0] = 5;
    pairs.head.size = 1;
    assert_int_equal(slc_pet_look_open(&config, &look, &error), SLC_OK);
    assert_int_equal(slc_pet_look_add(look, &pairs, &error), SLC_OK);
    assert_int_equal(slc_pet_look_run(look, &image, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no two crystals of the scanner look at each other"));
    slc_pet_look_close(look);
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    slc_pet_geometry_clear(&config.geometry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_mouse),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_beside_a_slow_one),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_nothing_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
