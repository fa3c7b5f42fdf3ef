/* SPDX-License-Identifier: Apache-2.0
 *
 * List-mode files for CASToR of a scanner of one's own: its numbers in a struct, pairs of crystals in batches
 * as they come, and NAME.cdh, .cdf, .hscan, .lut appear together at the end. Reads them back and fails where
 * a pair is not as it was.
 *
 *     example_write_castor NAME
 */
#include <sluice/io_pet.h>

#include <stdio.h>
#include <stdlib.h>

/* Ten modules around, of four blocks of 8 x 8 crystals along the axis. */
static const slc_pet_geometry scanner = {.channels = 10,
                                         .modules = 1,
                                         .module_rings = 1,
                                         .blocks_y = 1,
                                         .blocks_z = 4,
                                         .crystals_y = 8,
                                         .crystals_z = 8,
                                         .radius_mm = 60,
                                         .pitch_z_mm = 1.6,
                                         .depth_mm = 12};

enum { BATCHES = 5, PAIRS = 1000 };

/* Pair number i: opposite crystals of some ring, 100 µs after the one before. */
static void make(size_t i, slc_pet_coincidences *pairs, size_t row)
{
    const uint32_t per_ring = slc_pet_crystals_per_ring(&scanner), k = (uint32_t)(7 * i) % per_ring;
    const uint32_t ring = (uint32_t)i % slc_pet_rings(&scanner);
    pairs->time_ps[row] = (int64_t)i * 100000000;
    pairs->dt_ps[row] = (int64_t)(i % 401) - 200;
    pairs->crystal1[row] = k + ring * per_ring;
    pairs->crystal2[row] = (k + per_ring / 2) % per_ring + ring * per_ring;
    pairs->energy1_kev[row] = pairs->energy2_kev[row] = 511;
    pairs->delayed[row] = 0;
}

static slc_status write_all(const char *name, slc_pet_coincidences *pairs, slc_error *error)
{
    slc_io_pet_list_config config;
    slc_io_pet_list_config_default(&config);
    config.geometry = scanner;
    config.scanner = "example";
    config.tof = true;
    config.tof_resolution_ps = 250;
    config.window_ps = 4000;
    slc_io_pet_list_writer *writer = NULL;
    slc_status status = slc_io_pet_list_create(name, SLC_IO_PET_CASTOR, &config, &writer, error);
    for (size_t batch = 0; batch < BATCHES && status == SLC_OK; batch++) {
        for (size_t row = 0; row < PAIRS; row++) {
            make(batch * PAIRS + row, pairs, row);
        }
        pairs->head.size = PAIRS;
        status = slc_io_pet_list_write(writer, pairs, error);
    }
    if (status != SLC_OK) {
        slc_io_pet_list_abandon(writer);
        return status;
    }
    return slc_io_pet_list_finish(writer, error);
}

/* How many pairs are as they were made; milliseconds are what the format keeps of the time. */
static slc_status count_same(const char *name, slc_pet_coincidences *pairs, size_t *same, slc_error *error)
{
    slc_io_pet_list *input = NULL;
    slc_pet_coincidences one = {.time_ps = NULL};
    slc_columns_reset(pairs);
    slc_status status = slc_columns_reserve(&slc_pet_coincidences_schema, &one, 1, 1);
    status = status == SLC_OK ? slc_io_pet_list_open(name, SLC_IO_PET_CASTOR, &scanner, &input, error)
                              : status;
    while (status == SLC_OK) {
        status = slc_io_pet_list_read(input, PAIRS, pairs, error);
    }
    for (size_t i = 0; i < pairs->head.size; i++) {
        make(i, &one, 0);
        *same += pairs->time_ps[i] / 1000000000 == one.time_ps[0] / 1000000000 &&
                 pairs->dt_ps[i] == one.dt_ps[0] && pairs->crystal1[i] == one.crystal1[0] &&
                 pairs->crystal2[i] == one.crystal2[0];
    }
    slc_io_pet_list_close(input);
    slc_columns_clear(&slc_pet_coincidences_schema, &one);
    return status == SLC_END ? SLC_OK : status;
}

int main(int argc, char **argv)
{
    slc_pet_coincidences pairs = {.time_ps = NULL};
    slc_error error = {.text = "no memory"};
    size_t same = 0;
    if (argc != 2) {
        (void)fprintf(stderr, "usage: %s NAME\n", argv[0]);
        return EXIT_FAILURE;
    }
    slc_status status = slc_columns_reserve(&slc_pet_coincidences_schema, &pairs, PAIRS, 1);
    status = status == SLC_OK ? write_all(argv[1], &pairs, &error) : status;
    status = status == SLC_OK ? count_same(argv[1], &pairs, &same, &error) : status;
    slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    if (status != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return EXIT_FAILURE;
    }
    (void)printf("%zu of %d pairs came back\n", same, BATCHES * PAIRS);
    return same == BATCHES * PAIRS ? EXIT_SUCCESS : EXIT_FAILURE;
}
