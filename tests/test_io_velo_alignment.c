/* SPDX-License-Identifier: Apache-2.0
 * Geometries as JSON: pixels are where a transform of points, written otherwise, puts them; files name others
 * beside them; whatever is wrong is told with its place. */
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/support.h"

#include "io/lhcb/io_velo_alignment.h"
#include "velo/velo_geometry.h"
#include <sluice/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static slc_velo_alignment alignment;
static slc_error error;

static slc_status parse(const char *text, char **geometry)
{
    memset(&error, 0, sizeof error);
    return slc_io_velo_alignment_read_memory(text, strlen(text), "dir/a.json", &alignment, geometry, &error);
}

/* One axis after the other, as one would turn a point by hand. */
static void move_point(double p[3], const slc_velo_move *move, const double pivot[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3; /* the axis turns a towards b */
        const double angle = move->rotation_mrad[axis] / 1000;
        const double u = p[a] - pivot[a], v = p[b] - pivot[b];
        p[a] = pivot[a] + u * cos(angle) - v * sin(angle);
        p[b] = pivot[b] + u * sin(angle) + v * cos(angle);
    }
    for (int i = 0; i < 3; i++) {
        p[i] += move->shift_mm[i];
    }
}

static void fill(slc_velo_move *move, uint64_t *random)
{
    for (int i = 0; i < 3; i++) {
        move->shift_mm[i] = (double)slc_random_between(random, -3, 3);
        move->rotation_mrad[i] = (double)slc_random_between(random, -90, 90);
    }
}

static void point_of(const slc_velo_geometry *g, uint32_t sensor, uint32_t column, uint32_t row, double p[3])
{
    float x, y, z;
    slc_velo_geometry_position(g, sensor, column, 0, row, 0, &x, &y, &z);
    p[0] = (double)x;
    p[1] = (double)y;
    p[2] = (double)z;
}

/* The middle of a sensor: half way between its corners. */
static void middle_of(const slc_velo_geometry *g, uint32_t sensor, double middle[3])
{
    double first[3], last[3];
    point_of(g, sensor, 0, 0, first);
    point_of(g, sensor, SLC_VELO_COLUMNS - 1, SLC_VELO_ROWS - 1, last);
    for (int i = 0; i < 3; i++) {
        middle[i] = (first[i] + last[i]) / 2;
    }
}

static void pixels_move_as_points_do(void **state)
{
    (void)state;
    uint64_t random = 77;
    slc_velo_geometry ideal, moved;
    slc_velo_geometry_ideal(&ideal);
    for (int way = 0; way < 4; way++) { /* nothing, modules, sensors, both */
        memset(&alignment, 0, sizeof alignment);
        for (uint32_t m = 0; m < SLC_VELO_MODULES && way % 2 == 1; m += 3) {
            fill(&alignment.modules[m], &random);
        }
        for (uint32_t s = 0; s < SLC_VELO_SENSORS && way >= 2; s += 5) {
            fill(&alignment.sensors[s], &random);
        }
        moved = ideal;
        slc_velo_geometry_align(&moved, &alignment);
        double largest = 0, largest_move = 0;
        for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
            for (int k = 0; k < 5; k++) {
                const uint32_t column = (uint32_t)(k * 767 / 4), row = (uint32_t)(255 - k * 60);
                double p[3], there[3], middle[3];
                const double pivot[3] = {0, 0, (double)ideal.module_z_mm[s / 4]};
                point_of(&ideal, s, column, row, p);
                point_of(&moved, s, column, row, there);
                largest_move = fmax(largest_move, fabs(there[0] - p[0]) + fabs(there[2] - p[2]));
                middle_of(&ideal, s, middle);
                move_point(p, &alignment.sensors[s], middle);
                move_point(p, &alignment.modules[s / 4], pivot);
                for (int i = 0; i < 3; i++) {
                    assert_true(fabs(p[i] - there[i]) < 2e-4); /* single precision at 750 mm */
                    largest = fmax(largest, fabs(p[i] - there[i]));
                }
            }
        }
        assert_int_equal(largest_move > 0, way > 0);
        assert_true(largest < 2e-4);
        for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
            const double z = (double)ideal.module_z_mm[m] + alignment.modules[m].shift_mm[2];
            assert_true(fabs((double)moved.module_z_mm[m] - z) < 1e-4);
        }
    }
}

/* By hand: a quarter of a radian is not allowed to hide behind small angles. Turning about z by 500 mrad
 * takes (1, 0) to (cos, sin); about x it lifts y to z. */
static void by_hand(void **state)
{
    (void)state;
    slc_velo_geometry ideal, moved;
    slc_velo_geometry_ideal(&ideal);
    char *geometry;
    double p[3], q[3];
    moved = ideal;
    assert_int_equal(parse("{\"modules\": {\"10\": {\"rotation_mrad\": [0, 0, 500]}, \"11\": "
                           "{\"rotation_mrad\": [500, 0, 0], \"shift_mm\": [1, 2, 3]}}}",
                           &geometry),
                     SLC_OK);
    assert_null(geometry);
    slc_velo_geometry_align(&moved, &alignment);
    point_of(&ideal, 40, 100, 50, p);
    point_of(&moved, 40, 100, 50, q);
    assert_true(fabs(q[0] - (0.8775825619 * p[0] - 0.4794255386 * p[1])) < 1e-4);
    assert_true(fabs(q[1] - (0.4794255386 * p[0] + 0.8775825619 * p[1])) < 1e-4);
    assert_true(fabs(q[2] - p[2]) < 1e-4);
    point_of(&ideal, 44, 100, 50, p);
    point_of(&moved, 44, 100, 50, q);
    const double z = p[2] + 50; /* from the pivot, at z = -50 mm */
    assert_true(fabs(q[0] - p[0] - 1) < 1e-4);
    assert_true(fabs(q[1] - (0.8775825619 * p[1] - 0.4794255386 * z) - 2) < 1e-4);
    assert_true(fabs(q[2] - (0.4794255386 * p[1] + 0.8775825619 * z) + 50 - 3) < 1e-4);
}

static const struct {
    const char *text, *wanted; /* after "dir/a.json: " */
} refused[] = {
    {"{", NULL},
    {"[]", "line 1, column 1: an alignment must be an object, not an array"},
    {"{\"module\": {}}",
     "line 1, column 2: unknown word 'module'; there are: geometry, modules, sensors, comment"},
    {"{\"modules\": []}", "line 1, column 13: modules must be an object, not an array"},
    {"{\"modules\": {\"52\": {}}}", "line 1, column 14: '52' is none of the modules, \"0\" to \"51\""},
    {"{\"sensors\": {\"208\": {}}}", "line 1, column 14: '208' is none of the sensors, \"0\" to \"207\""},
    {"{\"modules\": {\"01\": {}}}", NULL},
    {"{\"modules\": {\"-1\": {}}}", NULL},
    {"{\"modules\": {\"\": {}}}", NULL},
    {"{\"modules\": {\"1x\": {}}}", NULL},
    {"{\"modules\": {\"18446744073709551616\": {}}}", NULL},
    {"{\"modules\": {\"1\": 3}}",
     "line 1, column 19: must be an object of shift_mm and rotation_mrad, not a number"},
    {"{\"modules\": {\"1\":\n {\"shift\": [0, 0, 0]}}}",
     "line 2, column 3: unknown word 'shift'; there are: shift_mm, rotation_mrad, comment"},
    {"{\"modules\": {\"1\": {\"shift_mm\": [0, 0]}}}",
     "line 1, column 32: shift_mm must be an array of 3 numbers, of x, y and z"},
    {"{\"modules\": {\"1\": {\"shift_mm\": [0, 0, \"1\"]}}}",
     "line 1, column 39: must be a number, not a string"},
    {"{\"modules\": {\"1\": {\"shift_mm\": [0, 0, -101]}}}",
     "line 1, column 39: must be from -100 to 100, not -101"},
    {"{\"modules\": {\"1\": {\"rotation_mrad\": [0, 501, 0]}}}",
     "line 1, column 41: must be from -500 to 500, not 501"},
    {"{\"geometry\": 3}", "line 1, column 14: geometry must be the name of a file"},
    {"{\"geometry\": \"\"}", NULL},
    {"{\"modules\": {\"1\": {}, \"1\": {}}}", NULL},
};

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char wanted[512], *geometry;
        assert_int_equal(parse(refused[i].text, &geometry), SLC_ERR_FORMAT);
        assert_null(geometry);
        (void)snprintf(wanted, sizeof wanted, "dir/a.json: %s",
                       refused[i].wanted != NULL ? refused[i].wanted : "");
        assert_memory_equal(error.text, wanted, strlen(wanted) + (refused[i].wanted != NULL ? 1 : 0));
    }
}

static void truncation(void **state)
{
    (void)state;
    static const char text[] =
        "{\"geometry\": \"g.bin\", \"comment\": 1, \"modules\": {\"3\": {\"shift_mm\": [1, 2, 3]}},\n"
        " \"sensors\": {\"207\": {\"rotation_mrad\": [0.5, -1, 2e1], \"comment\": \"\"}}}";
    char *geometry;
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        char *cut = malloc(i + 1);
        assert_non_null(cut);
        memcpy(cut, text, i);
        assert_int_equal(slc_io_velo_alignment_read_memory(cut, i, "a", &alignment, &geometry, &error),
                         SLC_ERR_FORMAT);
        assert_null(geometry);
        assert_int_equal(slc_io_velo_alignment_is(cut, i), i > 0);
        free(cut);
    }
    assert_int_equal(parse(text, &geometry), SLC_OK);
    assert_string_equal(geometry, "dir/g.bin");
    assert_true(alignment.modules[3].shift_mm[2] == 3 && alignment.sensors[207].rotation_mrad[2] == 20);
    free(geometry);
    assert_int_equal(parse("{\"geometry\": \"/g.bin\"}", &geometry), SLC_OK);
    assert_string_equal(geometry, "/g.bin");
    free(geometry);
}

static slc_status read_text(const char *text, slc_velo_geometry *geometry)
{
    const char *path = support_temporary(text, strlen(text));
    const slc_status status = slc_io_read_velo_geometry(path, geometry, &error);
    assert_int_equal(unlink(path), 0);
    return status;
}

static void files(void **state)
{
    (void)state;
    slc_velo_geometry ideal, base, read;
    uint8_t image[SLC_VELO_GEOMETRY_BYTES];
    char name[256], text[512];
    slc_velo_geometry_ideal(&ideal);
    assert_int_equal(read_text(" \n{}", &read), SLC_OK);
    assert_memory_equal(&read, &ideal, sizeof ideal);
    base = ideal;
    base.to_global[5][9] += 0.5f;
    slc_velo_geometry_store(&base, image);
    (void)snprintf(name, sizeof name, "%s", support_temporary(image, sizeof image));
    const char *short_name = strrchr(name, '/') + 1;
    (void)snprintf(text, sizeof text,
                   "{\"geometry\": \"%s\", \"modules\": {\"0\": {\"shift_mm\": [0.25, 0, 0]}}}", short_name);
    assert_int_equal(read_text(text, &read), SLC_OK);
    assert_true(read.to_global[5][9] == base.to_global[5][9]);
    assert_true(read.to_global[3][9] == base.to_global[3][9] + 0.25f);
    assert_int_equal(unlink(name), 0);
    /* What is wrong leaves what there was. */
    assert_int_equal(read_text(text, &read), SLC_ERR_IO);
    assert_non_null(strstr(error.text, name));
    assert_int_equal(read_text("{\"modules\": {\"0\": {\"shift_mm\": [0, 0, 99]}}}", &read), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "module_z[1] = -275 is not above the one before it"));
    assert_int_equal(read_text("x{}", &read), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "3 bytes, must be 16376"));
    assert_true(read.to_global[3][9] == base.to_global[3][9] + 0.25f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_move_as_points_do),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(truncation),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
