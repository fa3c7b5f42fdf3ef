/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a PET scanner as HDF5: what is written is read again, whatever is in it; files that are cut off
 * anywhere, or have any byte changed, are refused or the same; wrong sizes and kinds are told by name.
 */
#include <sluice/io.h>
#include <sluice/io_pet.h>

#include "io/io_stream.h"
#include "io/pet/io_pet_list.h"
#include "support/cmocka_all.h"

#include "support/sanitized.h"
#include "support/temporary_folder.h"

#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>

/* HDF5 1.10 keeps memory of files whose structures are damaged; LeakSanitizer, where it is, asks for what to
 * leave out by this name. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static const slc_pet_geometry geometry = {3, 2, 1, 2, 1, 2, 3, 50.5, 2.25, 10, NULL};
enum { SIDE = 7, BLOCKS = 3 * 2 * 2, CRYSTALS = 72, BINS = 4, PLACES = BLOCKS * SIDE * SIDE };

static uint16_t position[PLACES];
static float gain[CRYSTALS], efficiency[CRYSTALS], energy[CRYSTALS * BINS];
static const float radial[] = {1.1F, 1, 0.9F}, axial[] = {1, 0.7F};
static int32_t offset[CRYSTALS];

static slc_pet_tables make_tables(void)
{
    for (int i = 0; i < PLACES; i++) {
        position[i] = i % 5 == 0 ? SLC_PET_NO_CRYSTAL : (uint16_t)(i % 6);
    }
    for (int i = 0; i < CRYSTALS; i++) {
        gain[i] = 0.1F + 0.001F * (float)i;
        offset[i] = (i - 30) * 100;
        efficiency[i] = i % 9 == 0 ? 0 : 1 + 0.001F * (float)(i - 30);
    }
    for (int i = 0; i < CRYSTALS * BINS; i++) {
        energy[i] = 1 + 0.01F * (float)(i % 7);
    }
    return (slc_pet_tables){.geometry = geometry,
                            .position_side = SIDE,
                            .position = position,
                            .gain = gain,
                            .energy = energy,
                            .energy_bins = BINS,
                            .energy_bin_kev = 250,
                            .time_offset_ps = offset,
                            .efficiency = efficiency,
                            .geometric = {radial, axial, 3, 2, 1.25, 2.25}};
}

static void assert_table(const void *got, const void *wanted, size_t bytes)
{
    assert_true((got == NULL) == (wanted == NULL));
    if (wanted != NULL) {
        assert_memory_equal(got, wanted, bytes);
    }
}

static void assert_tables(const slc_pet_tables *got, const slc_pet_tables *wanted)
{
    assert_int_equal(got->geometry.channels, wanted->geometry.channels);
    assert_int_equal(got->geometry.modules, wanted->geometry.modules);
    assert_int_equal(got->geometry.module_rings, wanted->geometry.module_rings);
    assert_int_equal(got->geometry.blocks_y, wanted->geometry.blocks_y);
    assert_int_equal(got->geometry.blocks_z, wanted->geometry.blocks_z);
    assert_int_equal(got->geometry.crystals_y, wanted->geometry.crystals_y);
    assert_int_equal(got->geometry.crystals_z, wanted->geometry.crystals_z);
    assert_true(got->geometry.radius_mm == wanted->geometry.radius_mm);
    assert_true(got->geometry.pitch_z_mm == wanted->geometry.pitch_z_mm);
    assert_true(got->geometry.depth_mm == wanted->geometry.depth_mm);
    assert_int_equal(got->position_side, wanted->position_side);
    assert_true(got->energy_fwhm == wanted->energy_fwhm && got->time_fwhm_ps == wanted->time_fwhm_ps);
    assert_table(got->position, wanted->position, sizeof position);
    assert_table(got->gain, wanted->gain, sizeof gain);
    assert_table(got->energy, wanted->energy, sizeof energy);
    assert_table(got->time_offset_ps, wanted->time_offset_ps, sizeof offset);
    assert_table(got->efficiency, wanted->efficiency, sizeof efficiency);
    assert_table(got->geometric.radial, wanted->geometric.radial, sizeof radial);
    assert_table(got->geometric.axial, wanted->geometric.axial, sizeof axial);
    if (wanted->geometric.radial != NULL) {
        assert_true(got->geometric.n_radial == 3 && got->geometric.radial_mm == 1.25);
        assert_true(got->geometric.n_axial == 2 && got->geometric.axial_mm == 2.25);
    }
    if (wanted->energy != NULL) {
        assert_int_equal(got->energy_bins, wanted->energy_bins);
        assert_true(got->energy_bin_kev == wanted->energy_bin_kev);
    }
}

static void write_tables(const slc_pet_tables *tables)
{
    slc_error error = {.status = SLC_OK};
    if (slc_io_write_pet_tables(path, tables, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

/* ---- round trip ------------------------------------------------------------------------------------ */

static void every_choice_of_tables_is_read_again(void **state)
{
    (void)state;
    for (int which = 0; which < 192; which++) {
        slc_pet_tables tables = make_tables(), again;
        slc_error error = {.status = SLC_OK};
        tables.position = which & 1 ? tables.position : NULL;
        tables.gain = which & 2 ? tables.gain : NULL;
        tables.energy = which & 4 ? tables.energy : NULL;
        tables.time_offset_ps = which & 8 ? tables.time_offset_ps : NULL;
        tables.efficiency = which & 48 ? tables.efficiency : NULL;
        if ((which & 32) == 0) {
            tables.geometric = (slc_pet_geometric){.radial = NULL};
        }
        tables.energy_fwhm = which & 64 ? 0.1234567 : 0;
        tables.time_fwhm_ps = which & 128 ? 321.75 : 0;
        write_tables(&tables);
        assert_int_equal(count_files(), 1);
        if (slc_io_read_pet_tables(path, &again, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        assert_tables(&again, &tables);
        slc_io_pet_tables_clear(&again);
        assert_null(again.position);
    }
}

/* A map of usual size, of which a chunk is a part of all. */
static void large_tables_are_read_again(void **state)
{
    (void)state;
    slc_pet_tables tables = {.position_side = 200}, again;
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_pet_scanner("mouse20", &tables.geometry, NULL), SLC_OK);
    const size_t n = slc_pet_position_elements(&tables), crystals = slc_pet_crystals(&tables.geometry);
    uint16_t *map = malloc(n * sizeof *map);
    float *gains = malloc(crystals * sizeof *gains);
    assert_non_null(map);
    assert_non_null(gains);
    for (size_t i = 0; i < n; i++) {
        map[i] = (uint16_t)(i * 2654435761U >> 16 & 127);
    }
    for (size_t i = 0; i < crystals; i++) {
        gains[i] = 1 / (float)(i + 1);
    }
    tables.position = map;
    tables.gain = gains;
    write_tables(&tables);
    assert_int_equal(slc_io_read_pet_tables(path, &again, &error), SLC_OK);
    assert_memory_equal(again.position, map, n * sizeof *map);
    assert_memory_equal(again.gain, gains, crystals * sizeof *gains);
    slc_io_pet_tables_clear(&again);
    free(map);
    free(gains);
}

/* ---- damage ---------------------------------------------------------------------------------------- */

static void *read_bytes(size_t *size)
{
    void *bytes = NULL;
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_io_read_file(path, 1 << 20, &bytes, size, &error), SLC_OK);
    return bytes;
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    const slc_pet_tables tables = make_tables();
    write_tables(&tables);
    size_t size = 0;
    void *bytes = read_bytes(&size);
    for (size_t n = 0; n < size; n += (size_t)test_step(7)) {
        slc_pet_tables again;
        slc_error error = {.status = SLC_OK};
        assert_int_equal(slc_io_parse_pet_tables(bytes, n, "cut.h5", &again, &error), SLC_ERR_FORMAT);
        assert_string_equal(error.text, "cut.h5: no HDF5 file, or cut off or damaged");
        assert_true(again.position == NULL && again.gain == NULL && again.geometry.channels == 0);
    }
    slc_pet_tables again;
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_io_parse_pet_tables(bytes, size, "whole.h5", &again, &error), SLC_OK);
    assert_tables(&again, &tables);
    slc_io_pet_tables_clear(&again);
    free(bytes);
}

/* Structures and values have checksums: what is read in spite of a changed byte is what was written. */
static void changed_bytes_are_noticed(void **state)
{
    (void)state;
    const slc_pet_tables tables = make_tables();
    write_tables(&tables);
    size_t size = 0, refused = 0;
    uint8_t *bytes = read_bytes(&size);
    for (size_t i = 0; i < size; i += (size_t)test_step(7)) {
        slc_pet_tables again;
        slc_error error = {.status = SLC_OK};
        const uint8_t before = bytes[i];
        bytes[i] ^= (uint8_t)(1U << i % 8);
        const slc_status status = slc_io_parse_pet_tables(bytes, size, "changed.h5", &again, &error);
        if (status == SLC_OK) {
            assert_tables(&again, &tables);
            slc_io_pet_tables_clear(&again);
        } else {
            assert_true(strncmp(error.text, "changed.h5: ", 12) == 0);
            refused++;
        }
        bytes[i] = before;
    }
    assert_true(refused * 4 * (size_t)test_step(7) > size);
    free(bytes);
}

/* ---- what is wrong is told by name ----------------------------------------------------------------- */

static void assert_refused(slc_status status, const char *text)
{
    slc_pet_tables again;
    slc_error error = {.status = SLC_OK};
    char wanted[256];
    (void)snprintf(wanted, sizeof wanted, "%s: %s", path, text);
    assert_int_equal(slc_io_read_pet_tables(path, &again, &error), status);
    assert_string_equal(error.text, wanted);
    assert_true(again.position == NULL && again.gain == NULL && again.energy == NULL &&
                again.time_offset_ps == NULL);
}

/* Puts another dataset in the place of one, of zeros. */
static void replace(const char *name, hid_t type, int dimensions, const hsize_t *size)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
    const hid_t space = dimensions > 0 ? H5Screate_simple(dimensions, size, NULL) : H5Screate(H5S_SCALAR);
    const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    (void)H5Dclose(dataset);
    (void)H5Sclose(space);
    assert_true(H5Fclose(file) >= 0);
}

/* Puts another attribute in the place of one of the file. */
static void set_attribute(const char *name, hid_t type, const void *value)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Adelete(file, name) >= 0);
    if (value != NULL) {
        const hid_t space = H5Screate(H5S_SCALAR);
        const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(attribute >= 0 && H5Awrite(attribute, type, value) >= 0);
        (void)H5Aclose(attribute);
        (void)H5Sclose(space);
    }
    assert_true(H5Fclose(file) >= 0);
}

static void wrong_datasets_are_told(void **state)
{
    static const struct {
        const char *name, *text;
        int dimensions;
        hsize_t size[5];
    } cases[] = {
        {"position",
         "dataset 'position' is 6 x 2 x 7 x 8, and the scanner has 6 x 2 x 7 x 7: modules, units, flood "
         "map's "
         "y, x",
         4,
         {6, 2, 7, 8}},
        {"position",
         "dataset 'position' is 12 x 49, and the scanner has 6 x 2 x 7 x 7: modules, units, flood map's y, x",
         2,
         {12, 49}},
        {"gain", "dataset 'gain' is 71, and the scanner has 72: crystals", 1, {71}},
        {"gain", "dataset 'gain' is one number, and the scanner has 72: crystals", 0, {0}},
        {"gain", "dataset 'gain' is 72 x 1, and the scanner has 72: crystals", 2, {72, 1}},
        {"energy",
         "dataset 'energy' is 4 x 72, and the scanner has 72 x any: crystals, bins of energy",
         2,
         {4, 72}},
        {"energy", "there is no attribute 'energy/bin_kev'", 2, {72, 9}},
        {"efficiency", "dataset 'efficiency' is 71, and the scanner has 72: crystals", 1, {71}},
        {"radial", "there is no attribute 'radial/bin_mm'", 1, {5}},
        {"time_offset", "dataset 'time_offset' is 144, and the scanner has 72: crystals", 1, {144}},
        {"time_offset",
         "dataset 'time_offset' is 1 x 1 x 1 x 1 x 72, and the scanner has 72: crystals",
         5,
         {1, 1, 1, 1, 72}},
    };
    (void)state;
    const slc_pet_tables tables = make_tables();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool whole = cases[i].name[0] == 'p' || cases[i].name[0] == 't';
        write_tables(&tables);
        replace(cases[i].name, whole ? H5T_STD_I32LE : H5T_IEEE_F32LE, cases[i].dimensions, cases[i].size);
        assert_refused(SLC_ERR_FORMAT, cases[i].text);
    }
    write_tables(&tables);
    replace("gain", H5T_STD_I32LE, 1, (hsize_t[]){72});
    assert_refused(SLC_ERR_FORMAT, "dataset 'gain' is not of floating point numbers");
    write_tables(&tables);
    replace("position", H5T_IEEE_F32LE, 4, (hsize_t[]){6, 2, 7, 7});
    assert_refused(SLC_ERR_FORMAT, "dataset 'position' is not of whole numbers");
}

/* Numbers of elements whose product does not fit into 64 bits, in a file of a few kilobytes. */
static void sizes_beyond_all_memory_are_refused(void **state)
{
    static const hsize_t bins[] = {(hsize_t)1 << 61, ((hsize_t)1 << 61) + 1, (hsize_t)UINT32_MAX + 1};
    const hsize_t first[2] = {72, 16}, most[2] = {72, H5S_UNLIMITED};
    (void)state;
    const slc_pet_tables tables = make_tables();
    for (size_t i = 0; i < sizeof bins / sizeof *bins; i++) {
        write_tables(&tables);
        const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(file >= 0 && H5Ldelete(file, "energy", H5P_DEFAULT) >= 0);
        const hid_t space = H5Screate_simple(2, first, most), chunks = H5Pcreate(H5P_DATASET_CREATE);
        assert_true(H5Pset_chunk(chunks, 2, first) >= 0);
        const hid_t dataset = H5Dcreate2(file, "energy", H5T_IEEE_F32LE, space, H5P_DEFAULT, chunks,
                                         H5P_DEFAULT);
        assert_true(dataset >= 0 && H5Dset_extent(dataset, (hsize_t[]){72, bins[i]}) >= 0);
        const float bin_kev = 10;
        const hid_t scalar = H5Screate(H5S_SCALAR);
        const hid_t attribute = H5Acreate2(dataset, "bin_kev", H5T_NATIVE_FLOAT, scalar, H5P_DEFAULT,
                                           H5P_DEFAULT);
        assert_true(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_FLOAT, &bin_kev) >= 0);
        (void)H5Aclose(attribute);
        (void)H5Sclose(scalar);
        (void)H5Dclose(dataset);
        (void)H5Pclose(chunks);
        (void)H5Sclose(space);
        assert_true(H5Fclose(file) >= 0);
        assert_refused(SLC_ERR_FORMAT, "dataset 'energy' is too large");
    }
}

static void wrong_attributes_are_told(void **state)
{
    static const struct {
        const char *name, *text;
        double real;
        int64_t whole;
    } cases[] = {
        {"channels", "attribute 'channels' is -1", 0, -1},
        {"channels", "attribute 'channels' is not a whole number", 3.5, 0},
        {"channels", "geometry: channels is 0, not from 1 to 65536", 0, 0},
        {"channels",
         "dataset 'position' is 6 x 2 x 7 x 7, and the scanner has 8 x 2 x 7 x 7: modules, units, "
         "flood map's y, x",
         0, 4},
        {"crystals_z", "tables: position of module 0, unit 0, x 4, y 0 is crystal 4, and a block has 4", 0,
         2},
        {"position_side", "attribute 'position_side' is 300, and at most 256", 0, 300},
        {"radius_mm", "geometry: radius 0 mm, pitch 2.25 mm, depth 10 mm", 0, 0},
        {"version", "tables of version 3, and this reads 1 and 2", 0, 3},
        {"energy_fwhm", "tables: a resolution of energies of -1 of 511 keV", 0, -1},
        {"energy_fwhm", "tables: a resolution of energies of 1.5 of 511 keV", 1.5, 0},
        {"time_fwhm_ps", "tables: a resolution of times of -5 ps", -5, 0},
    };
    (void)state;
    slc_pet_tables tables = make_tables();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tables.gain = NULL;
        tables.energy = NULL;
        tables.time_offset_ps = NULL;
        tables.efficiency = NULL;
        tables.geometric = (slc_pet_geometric){.radial = NULL};
        tables.energy_fwhm = 0.12;
        tables.time_fwhm_ps = 300;
        write_tables(&tables);
        set_attribute(cases[i].name, cases[i].real != 0 ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64,
                      cases[i].real != 0 ? (const void *)&cases[i].real : &cases[i].whole);
        assert_refused(strcmp(cases[i].name, "version") == 0 ? SLC_ERR_UNSUPPORTED : SLC_ERR_FORMAT,
                       cases[i].text);
    }
    write_tables(&tables);
    set_attribute("depth_mm", H5T_NATIVE_DOUBLE, NULL);
    assert_refused(SLC_ERR_FORMAT, "there is no attribute 'depth_mm'");
    write_tables(&tables);
    set_attribute("kind", H5T_NATIVE_INT, &(int){1});
    assert_refused(SLC_ERR_FORMAT, "an HDF5 file, but its attribute 'kind' is not 'sluice pet tables'");
}

static void wrong_values_are_told(void **state)
{
    (void)state;
    slc_error error = {.status = SLC_OK};
    slc_pet_tables tables = make_tables();
    gain[5] = -1;
    assert_int_equal(slc_io_write_pet_tables(path, &tables, &error), SLC_ERR_FORMAT);
    char wanted[160];
    (void)snprintf(wanted, sizeof wanted, "%s: tables: gain of crystal 5, entry 0, is -1", path);
    assert_string_equal(error.text, wanted);
    assert_int_equal(count_files(), 0);
    gain[5] = 1;
    write_tables(&tables);
    /* The value behind our back: -1 in the file. */
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "gain", H5P_DEFAULT);
    gain[7] = -1;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, gain) >= 0);
    (void)H5Dclose(dataset);
    assert_true(H5Fclose(file) >= 0);
    assert_refused(SLC_ERR_FORMAT, "tables: gain of crystal 7, entry 0, is -1");
}

static void files_that_are_none_are_told(void **state)
{
    (void)state;
    slc_pet_tables again;
    slc_error error = {.status = SLC_OK};
    assert_int_equal(slc_io_read_pet_tables("/nowhere/t.h5", &again, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "/nowhere/t.h5: No such file or directory");
    FILE *text = fopen(path, "w");
    assert_non_null(text);
    assert_true(fputs("no HDF5\n", text) >= 0 && fclose(text) == 0);
    assert_refused(SLC_ERR_FORMAT, "no HDF5 file, or cut off or damaged");
    const slc_pet_tables tables = make_tables();
    assert_int_equal(slc_io_write_pet_tables("/nowhere/t.h5", &tables, &error), SLC_ERR_IO);
    assert_int_equal(slc_io_write_pet_tables("-", &tables, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_io_parse_pet_tables("", 0, "nothing", &again, &error), SLC_ERR_FORMAT);
}

/* A disk that is full after a kilobyte. */
static herr_t hear(hid_t stack, void *heard)
{
    (void)stack;
    ++*(int *)heard;
    return 0;
}

/* HDF5 says nothing while it works for us, and to the caller what it said before; but no more behind a file
 * that is damaged, of which it would speak when the process ends. */
static void the_caller_still_hears_of_errors(void **state)
{
    (void)state;
    const slc_pet_tables tables = make_tables();
    H5E_auto2_t before = NULL, now = NULL;
    void *before_data = NULL, *data = NULL;
    int heard = 0;
    slc_pet_tables again;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &before, &before_data) >= 0);
    assert_true(H5Eset_auto2(H5E_DEFAULT, hear, &heard) >= 0);
    write_tables(&tables);
    assert_int_equal(slc_io_read_pet_tables(path, &again, NULL), SLC_OK);
    slc_io_pet_tables_clear(&again);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &now, &data) >= 0);
    assert_true(now == hear && data == &heard);
    assert_int_equal(heard, 0);
    assert_true(H5Fopen("none.h5", H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
    assert_int_equal(heard, 1);
    assert_int_equal(slc_io_parse_pet_tables("no HDF5", 7, "none.h5", &again, NULL), SLC_ERR_FORMAT);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &now, &data) >= 0);
    assert_true(now == NULL);
    assert_int_equal(heard, 1);
    assert_true(H5Eset_auto2(H5E_DEFAULT, before, before_data) >= 0);
}

static void full_disks_leave_nothing(void **state)
{
    (void)state;
    struct rlimit before;
    slc_error error = {.status = SLC_OK};
    const slc_pet_tables tables = make_tables();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 1024, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const slc_status status = slc_io_write_pet_tables(path, &tables, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(status, SLC_ERR_IO);
    char wanted[160];
    (void)snprintf(wanted, sizeof wanted, "%s: cannot write: File too large", path);
    assert_string_equal(error.text, wanted);
    assert_int_equal(count_files(), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_choice_of_tables_is_read_again),
        IN_FOLDER(large_tables_are_read_again),
        IN_FOLDER(cut_files_are_refused),
        IN_FOLDER(changed_bytes_are_noticed),
        IN_FOLDER(wrong_datasets_are_told),
        IN_FOLDER(sizes_beyond_all_memory_are_refused),
        IN_FOLDER(wrong_attributes_are_told),
        IN_FOLDER(wrong_values_are_told),
        IN_FOLDER(files_that_are_none_are_told),
        IN_FOLDER(the_caller_still_hears_of_errors),
        IN_FOLDER(full_disks_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
