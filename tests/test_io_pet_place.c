/* SPDX-License-Identifier: Apache-2.0
 * What STIR is given: a parameter file that names list, crystal map and template, all of them there; crystals
 * where the map has them, by STIR's own rule from the header; and nothing of a sinogram of the same name
 * replaced.
 */
#include "support/cmocka_all.h"

#include "support/pet_list.h"

#include <math.h>
#include <stdlib.h>

/* The value of a key, blanks around it and blanks and '!' before the key left out; fails where there is none.
 */
static const char *value_of(const char *text, const char *key)
{
    static char value[256];
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n! ");
        const size_t size = strlen(key);
        if (strncmp(line, key, size) == 0 && strncmp(line + size, " := ", 4) == 0) {
            const size_t n = strcspn(line + size + 4, "\n");
            assert_true(n < sizeof value);
            memcpy(value, line + size + 4, n);
            value[n] = '\0';
            return value;
        }
    }
    fail_msg("no key '%s'", key);
    return NULL;
}

static double number_of(const char *text, const char *key)
{
    return strtod(value_of(text, key), NULL);
}

/* STIR's detector k of N: at x = r sin(a), y = -r cos(a), a = 2 pi k / N + view offset, r the inner radius
 * and the mean depth (its DetectionPositionPair and CylindricalProjData). How far it is from the map at most.
 */
static double farthest(const char *header, const slc_io_pet_map *map)
{
    const double pi = 3.14159265358979323846;
    const double offset = number_of(header, "View offset (degrees)") * pi / 180;
    const double r = 10 * (number_of(header, "Inner ring diameter (cm)") / 2 +
                           number_of(header, "Average depth of interaction (cm)"));
    const uint32_t n = (uint32_t)number_of(header, "Number of detectors per ring");
    double most = 0;
    assert_int_equal(n, map->crystals_per_ring);
    assert_int_equal((uint32_t)number_of(header, "Number of rings"), map->rings);
    for (size_t c = 0; c < map->crystals; c++) {
        const double a = 2 * pi * (double)(c % n) / n + offset;
        most = fmax(most, hypot(r * sin(a) - (double)map->position_mm[3 * c],
                                -r * cos(a) - (double)map->position_mm[3 * c + 1]));
    }
    return most;
}

static slc_pet_geometry ring_of(uint32_t crystals)
{
    return (slc_pet_geometry){1, 1, 1, 1, 1, crystals, 3, 60, 2, 10, NULL};
}

static void write_safir(uint32_t crystals)
{
    const slc_io_pet_list_config config = {.size = sizeof(slc_io_pet_list_config),
                                           .geometry = ring_of(crystals)};
    slc_io_pet_list_writer *writer = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_list_create(pet_in_folder("a"), SLC_IO_PET_SAFIR, &config, &writer, &error),
                     SLC_OK);
    assert_int_equal(slc_io_pet_list_finish(writer, &error), SLC_OK);
}

static void write_sinogram(uint32_t crystals)
{
    const slc_io_pet_sinogram_config config = {
        .size = sizeof(slc_io_pet_sinogram_config), .geometry = ring_of(crystals), .ring_difference = 2};
    slc_io_pet_sinogram *sinogram = NULL;
    slc_error error = {0};
    assert_int_equal(slc_io_pet_sinogram_open(&config, &sinogram, &error), SLC_OK);
    assert_int_equal(slc_io_pet_sinogram_write(sinogram, pet_in_folder("a"), &error), SLC_OK);
    slc_io_pet_sinogram_close(sinogram);
}

static void the_parameter_file_names_all(void **state)
{
    (void)state;
    size_t size = 0;
    write_safir(90);
    char *text = pet_bytes(pet_in_folder("a.safir.par"), &size);
    assert_int_equal(strncmp(text, "CListModeDataSAFIR Parameters :=\n", 33), 0);
    char *list = pet_bytes(pet_in_folder(value_of(text, "listmode data filename")), &size);
    assert_int_equal(size, 32);
    assert_string_equal(list, "SAFIR CListModeData");
    slc_io_pet_map map;
    assert_int_equal(slc_io_pet_map_read(pet_in_folder(value_of(text, "crystal map filename")), &map, NULL),
                     SLC_OK);
    assert_int_equal(map.crystals, 270);
    char *header = pet_bytes(pet_in_folder(value_of(text, "template projection data filename")), &size);
    char *data = pet_bytes(pet_in_folder(value_of(header, "name of data file")), &size);
    assert_int_equal(size, 0);
    slc_io_pet_map_clear(&map);
    free(data);
    free(header);
    free(list);
    free(text);
}

/* Whatever the number of crystals modulo 4: with 2 a quarter of a turn is no whole number of them. */
static void crystals_are_where_the_map_has_them(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {8, 89, 90, 91, 140, 143};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t size = 0;
        slc_io_pet_map map;
        write_safir(numbers[i]);
        assert_int_equal(slc_io_pet_map_read(pet_in_folder("a.map.txt"), &map, NULL), SLC_OK);
        char *header = pet_bytes(pet_in_folder("a.template.hs"), &size);
        assert_true(farthest(header, &map) < 1e-4);
        free(header);
        if (numbers[i] % 2 == 0) { /* others have no sinogram */
            write_sinogram(numbers[i]);
            header = pet_bytes(pet_in_folder("a.hs"), &size);
            assert_true(farthest(header, &map) < 1e-4);
            free(header);
        }
        slc_io_pet_map_clear(&map);
    }
}

static void a_sinogram_of_the_same_name_stays(void **state)
{
    (void)state;
    size_t size[4];
    write_sinogram(90);
    char *header = pet_bytes(pet_in_folder("a.hs"), &size[0]);
    char *counts = pet_bytes(pet_in_folder("a.s"), &size[1]);
    write_safir(140);
    char *header_then = pet_bytes(pet_in_folder("a.hs"), &size[2]);
    char *counts_then = pet_bytes(pet_in_folder("a.s"), &size[3]);
    assert_int_equal(size[2], size[0]);
    assert_int_equal(size[3], size[1]);
    assert_memory_equal(header_then, header, size[0]);
    assert_memory_equal(counts_then, counts, size[1]);
    free(counts_then);
    free(header_then);
    free(counts);
    free(header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_parameter_file_names_all, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(crystals_are_where_the_map_has_them, make_folder, remove_all),
        cmocka_unit_test_setup_teardown(a_sinogram_of_the_same_name_stays, make_folder, remove_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
