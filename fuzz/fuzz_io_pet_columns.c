/* SPDX-License-Identifier: Apache-2.0
 * Columns of pairs in files that HDF5 itself can read: which there are, their kinds, rows, layouts and values
 * as the input has them. Damage inside of HDF5's own structures is HDF5's to survive, and is not looked for
 * here. What is read in pieces of two sizes must be the same.
 */
#include "fuzz.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 7, MOST_ROWS = 200 };

static const slc_pet_geometry geometry = {5, 1, 2, 2, 3, 4, 2, 50, 2, 10, NULL};

/* ---- making files ------------------------------------------------------------------------------ */

static char path[64];

static void remove_file(void)
{
    (void)unlink(path);
}

/* One file for all inputs: the reader of columns takes a path. */
static void prepare(void)
{
    if (path[0] != '\0') {
        return;
    }
    (void)snprintf(path, sizeof path, "/tmp/fuzz-pet-columns-XXXXXX");
    const int file = mkstemp(path);
    fuzz_require(file >= 0 && close(file) == 0 && atexit(remove_file) == 0, "there is a file to write to");
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* The type of column k, or another by what a byte says. */
static hid_t type_of(size_t k, uint8_t kind)
{
    static const int usual[COLUMNS] = {0, 0, 1, 1, 2, 2, 3};
    const hid_t types[] = {H5T_STD_I64LE, H5T_STD_U32LE,  H5T_IEEE_F32LE, H5T_STD_U8LE,  H5T_STD_I8LE,
                           H5T_STD_U64BE, H5T_IEEE_F64LE, H5T_C_S1,       H5T_UNIX_D64LE};
    return types[kind < 240 ? (size_t)usual[k] : kind % (sizeof types / sizeof *types)];
}

/* Chunked, compressed, or without storage where its rows were never written. */
static hid_t layout_of(uint8_t how, int dimensions)
{
    const hsize_t chunk[2] = {16, 1};
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    if (how % 4 != 0 && dimensions > 0) {
        (void)H5Pset_chunk(list, dimensions, chunk);
    }
    if (how % 4 == 2 && dimensions > 0) {
        (void)H5Pset_deflate(list, 1);
    }
    return list;
}

/* False where the column is of numbers of another kind, or of none. */
static bool put_column(fuzz_input *in, hid_t group, const slc_column *column, size_t k, hsize_t rows)
{
    const uint8_t what = fuzz_next(in), how = fuzz_next(in);
    if (what == 255) {
        return true;
    }
    const int dimensions = what == 254 ? 0 : what == 253 ? 2 : 1;
    const bool promises = what == 252; /* rows that nobody has written */
    const hsize_t size[2] = {promises ? (hsize_t)1 << how % 62 : what == 251 ? rows + 1 : rows, 1};
    uint8_t values[8 * (MOST_ROWS + 1)] = {0};
    for (size_t i = 0; !promises && i < 8 * size[0] && in->left > 0; i++) {
        values[i] = fuzz_next(in);
    }
    const hsize_t most[2] = {H5S_UNLIMITED, 1}; /* or chunks could not be larger */
    const bool chunks = promises || how % 4 != 0;
    const hid_t space = dimensions == 0 ? H5Screate(H5S_SCALAR)
                                        : H5Screate_simple(dimensions, size, chunks ? most : NULL);
    const hid_t layout = layout_of(promises ? 1 : how, dimensions), type = type_of(k, how);
    const hid_t dataset = H5Dcreate2(group, column->name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    if (dataset >= 0 && !promises && how % 4 != 3) {
        (void)H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (dataset >= 0) {
        (void)H5Dclose(dataset);
    }
    (void)H5Pclose(layout);
    (void)H5Sclose(space);
    return H5Tget_class(type) == H5Tget_class(type_of(k, 0));
}

/* False where a column is not of the numbers that it must have. */
static bool make_file(fuzz_input *in)
{
    bool right = true;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    (void)H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const uint8_t head = fuzz_next(in);
    const hid_t group = H5Gcreate2(file, head == 255 ? "others" : "coincidences", H5P_DEFAULT, H5P_DEFAULT,
                                   H5P_DEFAULT);
    fuzz_require(file >= 0 && group >= 0, "HDF5 makes a file");
    for (size_t k = 0; k < COLUMNS; k++) {
        right &= put_column(in, group, &slc_pet_coincidences_schema.columns[k], k, head % (MOST_ROWS + 1));
    }
    (void)H5Gclose(group);
    (void)H5Fclose(file);
    (void)H5Pclose(access);
    return right;
}

/* ---- reading them ------------------------------------------------------------------------------ */

typedef struct outcome {
    slc_pet_coincidences pairs;
    slc_io_pet_list_totals totals;
    slc_status status;
} outcome;

static outcome read_all(const slc_pet_geometry *scanner, size_t most)
{
    outcome o = {.status = SLC_OK};
    slc_io_pet_list *input = NULL;
    slc_error error = {0};
    o.status = slc_io_pet_list_open(path, SLC_IO_PET_HDF5, scanner, &input, &error);
    fuzz_require((o.status == SLC_OK) == (input != NULL), "an input is there exactly without a failure");
    while (o.status == SLC_OK) {
        o.status = slc_io_pet_list_read(input, most, &o.pairs, &error);
        fuzz_require(o.pairs.head.size <= 1 << 16, "a small file has few rows");
    }
    fuzz_require(o.status == SLC_END || strncmp(error.text, path, strlen(path)) == 0,
                 "a failure names the file");
    if (input != NULL) {
        slc_io_pet_list_about about;
        slc_io_pet_list_about_of(input, &about);
        o.totals = about.totals;
        slc_io_pet_list_close(input);
    }
    fuzz_require(o.totals.prompts + o.totals.delayeds == o.pairs.head.size, "every pair is counted");
    for (size_t i = 0; scanner != NULL && i < o.pairs.head.size; i++) {
        fuzz_require(o.pairs.crystal1[i] < 480 && o.pairs.crystal2[i] < 480, "crystals are the scanner's");
        fuzz_require(o.pairs.delayed[i] <= 1, "a pair is delayed or not");
    }
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    prepare();
    const bool right = make_file(&in);
    outcome a = read_all(&geometry, 1000), b = read_all(&geometry, 7), c = read_all(NULL, 1000);
    const size_t n = a.pairs.head.size;
    fuzz_require(a.status == b.status && n == b.pairs.head.size, "pieces do not matter");
    fuzz_require(n == 0 || memcmp(a.pairs.time_ps, b.pairs.time_ps, n * sizeof *a.pairs.time_ps) == 0,
                 "pieces have the same pairs");
    fuzz_require(right || a.status == SLC_ERR_FORMAT, "numbers of another kind are refused");
    fuzz_require(c.status == a.status && c.pairs.head.size == n + a.totals.other,
                 "the scanner alone leaves pairs out");
    slc_columns_clear(&slc_pet_coincidences_schema, &a.pairs);
    slc_columns_clear(&slc_pet_coincidences_schema, &b.pairs);
    slc_columns_clear(&slc_pet_coincidences_schema, &c.pairs);
    return 0;
}
