/* SPDX-License-Identifier: Apache-2.0
 * Tables of a PET scanner in files that HDF5 itself can read: numbers, kinds and sizes as the input has them.
 * Damage inside of HDF5's own structures is HDF5's to survive, and is not looked for here.
 *
 * The input: which of the attributes and tables there are, their kinds, numbers of the scanner, sizes,
 * values.
 */
#include "fuzz.h"
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

/* A type of what a byte says, numbers mostly. */
static hid_t type_of(uint8_t kind, hid_t usual)
{
    switch (kind % 16) {
    case 13:
        return H5T_STD_I8LE;
    case 14:
        return H5T_IEEE_F64LE;
    case 15:
        return H5T_STD_U64BE;
    default:
        return usual;
    }
}

static void put_number(hid_t object, const char *name, uint8_t kind, hid_t usual, double value)
{
    const hid_t space = H5Screate(kind % 32 == 31 ? H5S_NULL : H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type_of(kind, usual), space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        (void)H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
        (void)H5Aclose(attribute);
    }
    (void)H5Sclose(space);
}

static void put_attributes(fuzz_input *in, hid_t file, double numbers[11])
{
    static const char *const names[] = {"channels",  "modules",    "module_rings", "blocks_y",
                                        "blocks_z",  "crystals_y", "crystals_z",   "position_side",
                                        "radius_mm", "pitch_z_mm", "depth_mm"};
    static const char kind[] = "sluice pet tables";
    const uint8_t how = fuzz_next(in);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    (void)H5Tset_size(type, how == 255 ? 3 : sizeof kind);
    const hid_t attribute = H5Acreate2(file, "kind", type, space, H5P_DEFAULT, H5P_DEFAULT);
    (void)H5Awrite(attribute, type, kind);
    (void)H5Aclose(attribute);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    put_number(file, "version", 0, H5T_STD_U32LE, how == 254 ? 2 : 1);
    for (int i = 0; i < 11; i++) {
        const uint8_t what = fuzz_next(in), value = fuzz_next(in);
        numbers[i] = value % 32;
        if (what != 255) {
            put_number(file, names[i], what, i < 8 ? H5T_STD_U32LE : H5T_IEEE_F64LE,
                       value == 255 ? -1 : numbers[i]);
        }
    }
}

/* A dataset whose sizes are right, but for what the input adds. */
static void put_table(fuzz_input *in, hid_t file, const char *name, hid_t usual, int dimensions,
                      const hsize_t *right)
{
    const uint8_t what = fuzz_next(in);
    hsize_t size[5] = {1, 1, 1, 1, 1}, elements = 1;
    if (what % 4 == 3) {
        return;
    }
    for (int d = 0; d < dimensions; d++) {
        const uint8_t more = fuzz_next(in);
        size[d] = right[d] + (more > 250 ? more - 250U : 0);
        elements *= size[d];
    }
    dimensions += what == 250;
    if (elements > 1 << 16) {
        return;
    }
    uint8_t *values = calloc(elements + 1, 8);
    if (values == NULL) {
        return;
    }
    for (size_t i = 0; i < 8 * elements && in->left > 0; i++) {
        values[i] = fuzz_next(in);
    }
    const hid_t space = H5Screate_simple(dimensions, size, NULL);
    const hid_t dataset = H5Dcreate2(file, name, type_of(what / 16, usual), space, H5P_DEFAULT, H5P_DEFAULT,
                                     H5P_DEFAULT);
    if (dataset >= 0) {
        (void)H5Dwrite(dataset, usual, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        put_number(dataset, "bin_kev", what, H5T_IEEE_F64LE, what);
        (void)H5Dclose(dataset);
    }
    (void)H5Sclose(space);
    free(values);
}

/* The file's bytes, which the caller frees. */
static void *make_file(fuzz_input *in, size_t *size)
{
    double n[11];
    void *bytes = NULL;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_fapl_core(access, 1 << 16, false);
    const hid_t file = H5Fcreate("fuzz", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    put_attributes(in, file, n);
    const hsize_t modules = (hsize_t)(n[0] * n[1] * n[2]), units = (hsize_t)(n[3] * n[4]);
    const hsize_t crystals = modules * units * (hsize_t)(n[5] * n[6]), side = (hsize_t)n[7];
    put_table(in, file, "position", H5T_NATIVE_UINT16, 4, (hsize_t[]){modules, units, side, side});
    put_table(in, file, "gain", H5T_NATIVE_FLOAT, 1, &crystals);
    put_table(in, file, "energy", H5T_NATIVE_FLOAT, 2, (hsize_t[]){crystals, fuzz_next(in) % 8});
    put_table(in, file, "time_offset", H5T_NATIVE_INT32, 1, &crystals);
    (void)H5Fflush(file, H5F_SCOPE_LOCAL);
    const ssize_t bound = H5Fget_file_image(file, NULL, 0);
    bytes = bound > 0 ? malloc((size_t)bound) : NULL;
    const ssize_t got = bytes != NULL ? H5Fget_file_image(file, bytes, (size_t)bound) : -1;
    *size = got > 0 ? (size_t)got : 0;
    (void)H5Fclose(file);
    (void)H5Pclose(access);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    slc_pet_tables tables;
    slc_error error = {0};
    size_t file_size = 0;
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    void *file = make_file(&in, &file_size);
    if (slc_io_parse_pet_tables(file, file_size, "made.h5", &tables, &error) != SLC_OK) {
        fuzz_require(strncmp(error.text, "made.h5: ", 9) == 0, "a failure names the file");
        fuzz_require(tables.position == NULL && tables.gain == NULL && tables.energy == NULL &&
                         tables.time_offset_ps == NULL && tables.efficiency == NULL,
                     "a failure has no tables");
        free(file);
        return 0;
    }
    fuzz_require(slc_pet_tables_check(&tables, &error) == SLC_OK, "tables that were read are good");
    slc_pet_convert_config config;
    slc_pet_convert *stage = NULL;
    slc_pet_singles singles = {0};
    slc_pet_convert_config_default(&config);
    if (slc_pet_convert_open(&config, &tables, &stage, &error) == SLC_OK) {
        (void)slc_pet_convert_run(stage, (const slc_pet_frame *)(const void *)bytes, NULL,
                                  size / sizeof(slc_pet_frame), false, &singles, NULL, &error);
        for (size_t i = 0; i < singles.head.size; i++) {
            fuzz_require(singles.crystal[i] < slc_pet_crystals(&tables.geometry),
                         "crystals are the scanner's");
        }
    }
    slc_pet_convert_close(stage);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_io_pet_tables_clear(&tables);
    free(file);
    return 0;
}
