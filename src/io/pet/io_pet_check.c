/* SPDX-License-Identifier: Apache-2.0
 * A check of the cabling as HDF5 (docs/formats/pet-check.md). */
#include "io/io_hdf5_file.h"
#include "io/io_output.h"

#include <sluice/pet_check.h>

#include <hdf5.h>

#include <stdlib.h>
#include <string.h>

static bool put_text(hid_t object, const char *name, const char *text)
{
    return slc_io_hdf5_put_text(object, name, text, H5T_CSET_ASCII);
}

/* A dataset in one chunk, or in one for each number of the first dimension where there are three. */
static bool put(hid_t file, const char *name, const char *unit, int dimensions, const hsize_t *size,
                hid_t in_file, hid_t in_memory, const void *values)
{
    hsize_t chunk[3] = {1, 1, 1};
    for (int d = 0; d < dimensions; d++) {
        chunk[d] = d == 0 && dimensions == 3 ? 1 : size[d];
    }
    const hid_t space = H5Screate_simple(dimensions, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    const bool set = how >= 0 && H5Pset_chunk(how, dimensions, chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
                     H5Pset_deflate(how, 4) >= 0 && H5Pset_fletcher32(how) >= 0 &&
                     H5Pset_obj_track_times(how, false) >= 0;
    const hid_t dataset = space >= 0 && set
                              ? H5Dcreate2(file, name, in_file, space, H5P_DEFAULT, how, H5P_DEFAULT)
                              : H5I_INVALID_HID;
    bool good = dataset >= 0 && H5Dwrite(dataset, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                put_text(dataset, "unit", unit);
    good = slc_io_hdf5_close(dataset) && good;
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return good;
}

static bool put_findings(hid_t file, const slc_pet_checked *c)
{
    const char **text = calloc(c->n_findings + 1, sizeof *text),
               **name = calloc(c->n_findings + 1, sizeof *name);
    bool good = text != NULL && name != NULL;
    for (size_t i = 0; good && i < c->n_findings; i++) {
        text[i] = c->finding[i].text;
        name[i] = slc_pet_finding_name(c->finding[i].kind);
    }
    const uint64_t errors = c->n_errors;
    good = good && slc_io_hdf5_put_attribute(file, "errors", H5T_STD_U64LE, H5T_NATIVE_UINT64, &errors) &&
           (c->n_findings == 0 || (slc_io_hdf5_put_texts(file, "findings", c->n_findings, text) &&
                                   slc_io_hdf5_put_texts(file, "kinds", c->n_findings, name)));
    free(text);
    free(name);
    return good;
}

static bool put_all(hid_t file, const slc_pet_checked *c, const slc_pet_check_config *config)
{
    const hsize_t m = c->modules, bins = config->bins;
    const uint32_t version = 1;
    bool good = put_text(file, "kind", "sluice pet check") &&
                slc_io_hdf5_put_attribute(file, "version", H5T_STD_U32LE, H5T_NATIVE_UINT32, &version) &&
                slc_io_hdf5_put_attribute(file, "range_ps", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                          &config->range_ps) &&
                put_findings(file, c);
    good =
        good &&
        put(file, "prompt", "1", 2, (const hsize_t[]){m, m}, H5T_STD_U64LE, H5T_NATIVE_UINT64, c->prompt) &&
        put(file, "delayed", "1", 2, (const hsize_t[]){m, m}, H5T_STD_U64LE, H5T_NATIVE_UINT64, c->delayed) &&
        put(file, "times", "1", 3, (const hsize_t[]){m, m, bins}, H5T_STD_U32LE, H5T_NATIVE_UINT32,
            c->times) &&
        put(file, "offset", "ps", 1, &m, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, c->offset_ps) &&
        put(file, "place", "index", 1, &m, H5T_STD_U32LE, H5T_NATIVE_UINT32, c->place) &&
        put(file, "source", "mm", 1, (const hsize_t[]){3}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, c->source_mm);
    return good && (c->singles == NULL || put(file, "singles", "1", 2, (const hsize_t[]){m, c->units},
                                              H5T_STD_U64LE, H5T_NATIVE_UINT64, c->singles));
}

slc_status slc_io_write_pet_check(const char *path, const slc_pet_checked *checked,
                                  const slc_pet_check_config *config, slc_error *error)
{
    slc_io_output output = {.path = NULL};
    if (strcmp(path, "-") == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "HDF5 cannot be written to standard output");
    }
    const slc_status status = slc_io_output_reserve_name(&output, path, error);
    if (status != SLC_OK) {
        return status;
    }
    int wrong = 0;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t access = slc_io_hdf5_file_access(&wrong);
    const hid_t file = access >= 0 ? H5Fcreate(output.temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                                   : H5I_INVALID_HID;
    (void)slc_io_hdf5_close(access);
    bool good = file >= 0 && put_all(file, checked, config);
    good = slc_io_hdf5_close(file) && good;
    slc_io_hdf5_silence_end(before);
    if (good && wrong == 0) {
        return slc_io_output_commit(&output, error);
    }
    slc_io_output_abandon(&output);
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path,
                    wrong != 0 ? strerror(wrong) : "HDF5 gives no reason");
}
