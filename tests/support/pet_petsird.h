/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of PETSIRD for tests: written, and read from memory. Include behind cmocka_all.h.
 */
#ifndef SUPPORT_PET_PETSIRD_H
#define SUPPORT_PET_PETSIRD_H

#include "io/pet/io_pet_list.h"
#include "support/pet_list.h"

#define PETSIRD_NAME "a.petsird"

/* Files of these tests, and what is read of them. */
static inline slc_io_pet_list_config config_of(bool tof)
{
    slc_io_pet_list_config config;
    slc_io_pet_list_config_default(&config);
    config.geometry = pet_small;
    config.tof = tof;
    config.tof_resolution_ps = tof ? 250 : 0;
    config.window_ps = 4000;
    return config;
}

static inline char *written(const slc_io_pet_list_config *config, const slc_pet_coincidences *pairs,
                            size_t *size, uint64_t *left_out)
{
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(
        slc_io_pet_list_create(pet_in_folder(PETSIRD_NAME), SLC_IO_PET_PETSIRD, config, &writer, &error),
        SLC_OK);
    assert_int_equal(slc_io_pet_list_write(writer, pairs, &error), SLC_OK);
    if (left_out != NULL) {
        *left_out = slc_io_pet_list_left_out(writer);
    }
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
    return pet_bytes(pet_in_folder(PETSIRD_NAME), size);
}

static inline slc_status read_bytes(const void *bytes, size_t size, const slc_pet_geometry *geometry,
                                    slc_pet_coincidences *pairs, slc_io_pet_list_totals *totals,
                                    slc_error *error)
{
    slc_io_pet_list *input = NULL;
    *totals = (slc_io_pet_list_totals){0};
    *error = (slc_error){0};
    pairs->head.size = 0;
    const slc_status status = slc_io_pet_list_open_memory(bytes, size, NULL, "m", SLC_IO_PET_PETSIRD,
                                                          geometry, &input, error);
    return status == SLC_OK ? pet_read_all(input, 1000, pairs, totals, error) : status;
}

#endif
