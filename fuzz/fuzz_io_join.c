/* SPDX-License-Identifier: Apache-2.0
 * Parts of a run in files that HDF5 itself can read: what they say of themselves, groups, columns, kinds and
 * shapes as the input has them. Damage inside of HDF5's own structures is HDF5's to survive, and is not
 * looked for here; test_io_join does, for parts that are cut or changed.
 *
 * The input chooses what is not as it should be; zeros, and nothing, are two parts that can be joined.
 */
#include "fuzz.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_PARTS = 3, MOST_ROWS = 64 };

static char folder[64];
static char names[MOST_PARTS][96], out[96];

static void remove_folder(void)
{
    for (int i = 0; i < MOST_PARTS; i++) {
        (void)remove(names[i]);
    }
    (void)remove(out);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    if (folder[0] == '\0') {
        (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
        (void)strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/sluice-fuzz-XXXXXX"
                                                           : "/tmp/sluice-fuzz-XXXXXX");
        fuzz_require(mkdtemp(folder) != NULL, "a folder");
        for (int i = 0; i < MOST_PARTS; i++) {
            (void)snprintf(names[i], sizeof names[i], "%s/p%d.h5", folder, i);
        }
        (void)snprintf(out, sizeof out, "%s/out.h5", folder);
        (void)atexit(remove_folder);
    }
}

/* ---- types and shapes ---------------------------------------------------------------------------- */

/* `usual` for most bytes, or one that nobody expects here. The caller closes it. */
static hid_t type_of(uint8_t byte, hid_t usual)
{
    hid_t type = H5I_INVALID_HID;
    switch (byte) {
    case 1:
        return H5Tcopy(H5T_STD_I8BE);
    case 2:
        return H5Tcopy(H5T_IEEE_F32LE);
    case 3:
        return H5Tcopy(H5T_STD_U64BE);
    case 4: /* larger than any number */
        type = H5Tcopy(H5T_STD_U64LE);
        (void)H5Tset_size(type, 16);
        return type;
    case 5:
        type = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(type, 5);
        return type;
    case 6:
        type = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(type, H5T_VARIABLE);
        return type;
    case 7:
        type = H5Tcreate(H5T_COMPOUND, 16);
        (void)H5Tinsert(type, "a", 0, H5T_STD_U64LE);
        (void)H5Tinsert(type, "b", 8, H5T_IEEE_F64LE);
        return type;
    case 8:
        return H5Tarray_create2(H5T_STD_U64LE, 1, (const hsize_t[]){40});
    case 9:
        return H5Tvlen_create(H5T_STD_U32LE);
    case 10:
        return H5Tcopy(H5T_STD_REF_OBJ);
    default:
        return H5Tcopy(usual);
    }
}

/* n values, or another shape. The caller closes it. */
static hid_t space_of(uint8_t byte, hsize_t n)
{
    const hsize_t more = n + 40, two[] = {n, 3}, unlimited = H5S_UNLIMITED;
    switch (byte) {
    case 1:
        return H5Screate(H5S_NULL);
    case 2:
        return H5Screate(H5S_SCALAR);
    case 3:
        return H5Screate_simple(1, &more, NULL);
    case 4:
        return H5Screate_simple(2, two, NULL);
    case 5:
        return H5Screate_simple(1, (const hsize_t[]){0}, &unlimited);
    default:
        return H5Screate_simple(1, &n, &unlimited);
    }
}

/* ---- attributes ---------------------------------------------------------------------------------- */

static void put(hid_t object, const char *name, hid_t type, hid_t space, hid_t memory, const void *value)
{
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        if (value != NULL) {
            (void)H5Awrite(attribute, memory, value);
        }
        (void)H5Aclose(attribute);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
}

/* Of a number or a text (`text` not NULL); the input may leave it out, or make it something else. */
static void put_one(fuzz_input *in, hid_t file, const char *name, double number, const char *text)
{
    const uint8_t how = fuzz_next(in);
    hid_t usual = H5Tcopy(text != NULL ? H5T_C_S1 : H5T_IEEE_F64LE);
    if (text != NULL) {
        (void)H5Tset_size(usual, strlen(text) + 1);
    }
    if (how < 16) {
        put(file, name, type_of(how, usual), H5Screate(H5S_SCALAR), text != NULL ? usual : H5T_NATIVE_DOUBLE,
            how > 0        ? NULL
            : text != NULL ? (const void *)text
                           : &number);
    } else if (how < 32) {
        put(file, name, H5Tcopy(usual), space_of(how - 16, 1), usual, NULL);
    } else if (how < 64) {
        number = how == 32 ? -1 : how == 33 ? 1e300 : how == 34 ? 0.5 : (double)(how - 35);
        put(file, name, H5Tcopy(H5T_IEEE_F64LE), H5Screate(H5S_SCALAR), H5T_NATIVE_DOUBLE, &number);
    } else if (how < 128) { /* another text, of the length that it says */
        char other[72] = "";
        memset(other, how == 64 ? '\x1b' : 'a', how - 64U);
        hid_t longer = H5Tcopy(H5T_C_S1);
        (void)H5Tset_size(longer, how - 63U);
        put(file, name, H5Tcopy(longer), H5Screate(H5S_SCALAR), longer, other);
        (void)H5Tclose(longer);
    }
    (void)H5Tclose(usual);
}

/* A list of texts. */
static void put_list(fuzz_input *in, hid_t file, const char *name, hsize_t n, const char *const *texts)
{
    const uint8_t how = fuzz_next(in);
    hid_t type = H5Tcopy(H5T_C_S1);
    (void)H5Tset_size(type, H5T_VARIABLE);
    if (how < 16) {
        put(file, name, type_of(how, type), H5Screate_simple(1, &n, NULL), type, how > 0 ? NULL : texts);
    } else if (how < 32) { /* texts that nobody wrote are NULL */
        put(file, name, H5Tcopy(type), space_of(how - 16, n), type, NULL);
    }
    (void)H5Tclose(type);
}

/* ---- data ---------------------------------------------------------------------------------------- */

/* How the rows lie in the file; unlimited ones need chunks. */
static hid_t layout_of(uint8_t byte, hsize_t rows)
{
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = rows > 0 ? rows : 1;
    (void)H5Pset_chunk(how, 1, &chunk);
    if (byte == 1) {
        (void)H5Pset_shuffle(how);
        (void)H5Pset_deflate(how, 1);
    } else if (byte == 2) {
        (void)H5Pset_fletcher32(how);
    } else if (byte == 3) {
        (void)H5Pset_external(how, "/dev/zero", 0, H5F_UNLIMITED);
        (void)H5Pset_layout(how, H5D_CONTIGUOUS);
    }
    return how;
}

/* A data set of so many rows, with this in it; zeros leave it so. */
static void put_rows(fuzz_input *in, hid_t file, const char *name, hid_t usual, hsize_t rows,
                     const uint64_t *values)
{
    const uint8_t how = fuzz_next(in), layout = fuzz_next(in);
    if (how == 255) {
        return;
    }
    if (how == 254) {
        (void)H5Lcreate_soft("/nowhere", file, name, H5P_DEFAULT, H5P_DEFAULT);
        return;
    }
    if (how == 253) {
        (void)H5Lcreate_hard(file, "/", file, name, H5P_DEFAULT, H5P_DEFAULT);
        return;
    }
    rows = how == 252 ? (hsize_t)1 << 50 : how > 64 && how < 128 ? how - 64U : rows;
    const hid_t type = type_of(how < 16 ? how : 0, usual), plist = layout_of(layout, how == 252 ? 64 : rows);
    const hid_t space = space_of(how >= 16 && how < 32 ? how - 16 : 0, rows);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (set < 0) { /* chunks do not go with the shape */
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }
    if (set >= 0 && (how == 0 || (how > 64 && how < 128))) {
        (void)H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    if (set >= 0) {
        put_one(in, set, "unit", 0, "mm");
        (void)H5Dclose(set);
    }
    (void)H5Sclose(space);
    (void)H5Pclose(plist);
    (void)H5Tclose(type);
}

/* Four events, whose rows the input may give. */
static void put_group(fuzz_input *in, hid_t file, const char *name)
{
    uint64_t offset[MOST_ROWS + 64] = {0, 1, 3, 3, 5}, values[MOST_ROWS + 64] = {7, 8, 9};
    const uint8_t how = fuzz_next(in);
    if (how == 255) {
        return;
    }
    for (unsigned i = 0; i < 5 && how > 0 && how < 32; i++) {
        offset[i] = fuzz_next(in);
        offset[i] = offset[i] == 255 ? UINT64_MAX : offset[i];
    }
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group >= 0) {
        put_rows(in, group, "event_offset", H5T_STD_U64LE, 5, offset);
        put_rows(in, group, "x_mm", H5T_IEEE_F32LE, offset[4] < MOST_ROWS ? offset[4] : MOST_ROWS, values);
        put_rows(in, group,
                 how == 254   ? "%b"
                 : how == 253 ? "\x01"
                              : "n",
                 H5T_STD_U8LE, offset[4] < MOST_ROWS ? offset[4] : MOST_ROWS, values);
        (void)H5Gclose(group);
    }
}

static void make_part(fuzz_input *in, int part, int parts)
{
    static const char *const inputs[] = {"a.mdf", "b.mdf"}, *const sizes[] = {"100", "200"};
    static const char *const whole[] = {"pages"};
    const hid_t file = H5Fcreate(names[part], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    fuzz_require(file >= 0, "a file");
    put_one(in, file, "part", part, NULL);
    put_one(in, file, "parts", parts, NULL);
    put_one(in, file, "sluice_version", 0, "0.1.0");
    put_one(in, file, "part_options", 0, "velo");
    put_one(in, file, "command", 0, "sluice velo");
    put_one(in, file, "checksum", 0, "0123456789abcdef");
    put_list(in, file, "part_inputs", 2, inputs);
    put_list(in, file, "part_sizes", 2, sizes);
    put_list(in, file, "part_whole", 1, whole);
    put_group(in, file, "hits");
    if (fuzz_next(in) != 0) {
        put_group(in, file, "pages");
        put_one(in, file, "partial", 1, NULL);
    }
    (void)H5Fclose(file);
}

/* ---- what comes of it ---------------------------------------------------------------------------- */

/* A file that was written has what was told of it. */
static void look_at(const slc_io_joined *joined)
{
    const hid_t file = H5Fopen(out, H5F_ACC_RDONLY, H5P_DEFAULT);
    fuzz_require(file >= 0, "a joined file can be opened");
    for (size_t g = 0; g < joined->n_groups; g++) {
        char name[128];
        (void)snprintf(name, sizeof name, "/%s/event_offset", joined->group[g].name);
        const hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
        const hssize_t n = H5Sget_simple_extent_npoints(space);
        fuzz_require(n >= 1 && n < 4096 && (uint64_t)n == joined->group[g].events + 1,
                     "an offset more than events");
        static uint64_t rows[4096];
        fuzz_require(H5Dread(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0,
                     "offsets can be read");
        for (hssize_t i = 1; i < n; i++) {
            fuzz_require(rows[i] >= rows[i - 1], "offsets grow");
        }
        fuzz_require(rows[0] == 0 && rows[n - 1] == joined->group[g].rows, "offsets have all rows");
        (void)H5Sclose(space);
        (void)H5Dclose(set);
    }
    (void)H5Fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_input in = {bytes, size};
    make_folder();
    const uint8_t first = fuzz_next(&in);
    const int parts = first % 4 == 3 ? 1 : first % 4 == 2 ? 3 : 2;
    const char *paths[MOST_PARTS];
    for (int i = 0; i < parts; i++) {
        make_part(&in, i, parts);
        paths[i] = names[i];
    }
    for (int copy = 0; copy < 2; copy++) {
        slc_io_joined joined;
        slc_error error = {SLC_OK, ""};
        (void)remove(out);
        const slc_status status = slc_io_join(paths, (size_t)parts, out, copy != 0, "sluice join", &joined,
                                              &error);
        fuzz_require((access(out, F_OK) == 0) == (status == SLC_OK), "a file is there, or was refused");
        if (status == SLC_OK) {
            look_at(&joined);
        } else {
            fuzz_require(strstr(error.text, folder) != NULL || strstr(error.text, "missing") != NULL,
                         "a failure names a part");
        }
        fuzz_require(size > 0 || status == SLC_OK, "parts that are good are joined");
    }
    return 0;
}
