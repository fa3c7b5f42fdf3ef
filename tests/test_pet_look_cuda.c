/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures on a GPU, or by the emulator: the values of the processor, bit for bit, with and without times of
 * flight, by iterations and back-projection.
 */
#include <sluice/cuda.h>
#include <sluice/pet_look.h>

#include "support/cmocka_all.h"
#include "support/pet_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float *values(slc_pet_look_config *config, const char *device, const slc_pet_coincidences *pairs,
                     slc_pet_look_image *image)
{
    slc_error error = {.status = SLC_OK};
    slc_pet_look *look = NULL;
    config->exec.device = device;
    if (slc_pet_look_open(config, &look, &error) != SLC_OK ||
        slc_pet_look_add(look, pairs, &error) != SLC_OK || slc_pet_look_run(look, image, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    const size_t bytes = (size_t)image->n[0] * image->n[1] * image->n[2] * sizeof *image->value;
    float *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, image->value, bytes);
    slc_pet_look_close(look);
    return copy;
}

static void test_as_the_processor(void **state)
{
    (void)state;
    static const double tof_ps[] = {0, 250};
    slc_pet_look_config config;
    slc_pet_coincidences pairs;
    slc_pet_look_config_default(&config);
    config.voxel_mm = 4;
    config.sensitivity_lines = 4000;
    pet_few_pairs(31, &pairs, 700, slc_pet_crystals(&config.geometry));
    for (int i = 0; i < 4; i++) {
        slc_pet_look_image one, other;
        config.tof_fwhm_ps = tof_ps[i % 2];
        config.iterations = i < 2 ? 3 : 0;
        float *here = values(&config, "cpu", &pairs, &one), *there = values(&config, "cuda", &pairs, &other);
        const size_t bytes = (size_t)one.n[0] * one.n[1] * one.n[2] * sizeof *here;
        assert_memory_equal(here, there, bytes);
        assert_true(one.checksum == other.checksum);
        assert_true(one.largest > 0);
        assert_int_equal(one.missed, other.missed);
        free(here);
        free(there);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
}

int main(void)
{
    slc_error error = {SLC_OK, ""};
    if (slc_cuda_devices(&error) == 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_the_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
