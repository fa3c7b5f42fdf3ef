/* SPDX-License-Identifier: Apache-2.0
 * The VELO's geometry: file image, design values, and the two against each other. */
#include "velo/velo_geometry.h"
#include <sluice/io.h>
#include <sluice/velo_chain.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/near.h"

static void stores_and_parses(void **state)
{
    (void)state;
    static slc_velo_geometry ideal, back;
    static uint8_t bytes[SLC_VELO_GEOMETRY_BYTES];
    slc_velo_geometry_ideal(&ideal);
    slc_velo_geometry_store(&ideal, bytes);
    slc_error error = {0};
    assert_int_equal(slc_velo_geometry_parse(bytes, sizeof bytes, &back, &error), SLC_OK);
    assert_memory_equal(&ideal, &back, sizeof ideal);
}

static void refuses_damage(void **state)
{
    (void)state;
    static slc_velo_geometry ideal, back;
    static uint8_t bytes[SLC_VELO_GEOMETRY_BYTES + 1];
    slc_velo_geometry_ideal(&ideal);
    slc_velo_geometry_store(&ideal, bytes);
    slc_error error = {0};
    for (size_t size = 0; size <= SLC_VELO_GEOMETRY_BYTES + 1; size++) {
        if (size != SLC_VELO_GEOMETRY_BYTES) {
            assert_int_equal(slc_velo_geometry_parse(bytes, size, &back, &error), SLC_ERR_FORMAT);
        }
    }
    bytes[0] ^= 1; /* count of modules */
    assert_int_equal(slc_velo_geometry_parse(bytes, SLC_VELO_GEOMETRY_BYTES, &back, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "module_z"));
    bytes[0] ^= 1;
    memset(bytes + 8, 0xff, 4); /* a NaN */
    assert_int_equal(slc_velo_geometry_parse(bytes, SLC_VELO_GEOMETRY_BYTES, &back, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "finite"));
}

/* Each value that a detector cannot have, alone in a sound geometry. */
static void refuses_what_is_no_detector(void **state)
{
    (void)state;
    static slc_velo_geometry geometry, back;
    static uint8_t bytes[SLC_VELO_GEOMETRY_BYTES];
    const struct {
        float *at;
        float value;
        size_t byte;
        const char *name;
    } cases[] = {
        {&geometry.module_z_mm[7], -212.5f, 8 + 4 * 7, "module_z[7]"},
        {&geometry.module_z_mm[51], 20000, 8 + 4 * 51, "module_z[51]"},
        {&geometry.module_z_mm[0], NAN, 8, "module_z[0]"},
        {&geometry.local_x_mm[767], 0, 224 + 4 * 767, "local_x[767]"},
        {&geometry.local_x_mm[3], -INFINITY, 224 + 4 * 3, "local_x[3]"},
        {&geometry.x_pitch_mm[0], 0, 3304, "x_pitch[0]"},
        {&geometry.x_pitch_mm[767], -0.055f, 3304 + 4 * 767, "x_pitch[767]"},
        {&geometry.to_global[0][0], 0, 6392, "ltg[0]"},
        {&geometry.to_global[207][8], 0, 6392 + 48 * 207, "ltg[2484]"},
        {&geometry.to_global[5][1], 0.1f, 6392 + 48 * 5, "ltg[60]"},
        {&geometry.to_global[5][10], -1e30f, 6392 + 48 * 5 + 40, "ltg[70]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_error error = {0};
        char place[64];
        slc_velo_geometry_ideal(&geometry);
        assert_int_equal(slc_velo_geometry_check(&geometry, &error), SLC_OK);
        *cases[i].at = cases[i].value;
        assert_int_equal(slc_velo_geometry_check(&geometry, &error), SLC_ERR_FORMAT);
        assert_non_null(strstr(error.text, cases[i].name));
        slc_velo_geometry_store(&geometry, bytes);
        assert_int_equal(slc_velo_geometry_parse(bytes, sizeof bytes, &back, &error), SLC_ERR_FORMAT);
        (void)snprintf(place, sizeof place, "VELO geometry: byte %zu: %s = ", cases[i].byte, cases[i].name);
        assert_int_equal(strncmp(error.text, place, strlen(place)), 0);
        slc_velo_chain *chain;
        slc_velo_config config;
        slc_velo_config_default(&config);
        assert_int_equal(slc_velo_chain_open(&config, &geometry, &chain, &error), SLC_ERR_FORMAT);
    }
}

static void known_positions(void **state)
{
    (void)state;
    static slc_velo_geometry ideal;
    slc_velo_geometry_ideal(&ideal);
    /* Values of the reference description of the format. */
    assert_near(ideal.local_x_mm[0], 0.0275, 1e-5);
    assert_near(ideal.local_x_mm[254], 13.9975, 1e-5);
    assert_near(ideal.local_x_mm[255], 14.09375, 1e-5);
    assert_near(ideal.local_x_mm[256], 14.23125, 1e-5);
    assert_near(ideal.local_x_mm[767], 42.5425, 1e-5);
    assert_near(ideal.x_pitch_mm[254], 0.09625, 1e-5);
    assert_near(ideal.x_pitch_mm[255], 0.1375, 1e-5);
    assert_near(ideal.x_pitch_mm[767], 0.055, 1e-6);
    /* Half a pitch of row, a quarter of the way from one column centre to the next. */
    float x, y, z;
    slc_velo_geometry_position(&ideal, 1, 255, 0.25f, 10, 0.5f, &x, &y, &z);
    const double local_x = 14.09375 + 0.25 * 0.1375, local_y = 11 * 0.055, r = sqrt(0.5);
    assert_near(x, r * local_x + r * local_y - 26.339727, 1e-4);
    assert_near(y, -r * local_x + r * local_y - 20.541452, 1e-4);
    assert_near(z, -286.919, 1e-4);
}

static char path[4096];

static void ideal_equals_reference_file(void **state)
{
    (void)state;
    static slc_velo_geometry ideal, file;
    slc_error error = {0};
    const slc_status status = slc_io_read_velo_geometry(path, &file, &error);
    assert_int_equal(status, SLC_OK);
    slc_velo_geometry_ideal(&ideal);
    const float *a = (const float *)&ideal, *b = (const float *)&file;
    for (size_t i = 0; i < sizeof ideal / sizeof *a; i++) {
        assert_near(a[i], b[i], 6e-5); /* one unit of a float at 700 mm */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_and_parses),           cmocka_unit_test(refuses_damage),
        cmocka_unit_test(refuses_what_is_no_detector), cmocka_unit_test(known_positions),
        cmocka_unit_test(ideal_equals_reference_file),
    };
    const char *folder = getenv("SLUICE_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/lhcb/velo_geometry.bin",
                   folder != NULL ? folder : "../shared/data");
    if (access(path, R_OK) != 0) {
        (void)printf("SKIP: no %s\n", path);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
