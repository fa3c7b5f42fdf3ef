/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of a PET scanner to HDF5: io_pet_tables.c reads them.
 */
#include "io/io_hdf5_file.h"
#include "io/io_output.h"
#include "io/pet/io_pet_tables_parts.h"
#include "pet/pet_scanner.h"

#include <sluice/io_pet.h>

#include <hdf5.h>

#include <stdlib.h>
#include <string.h>

enum { DEFLATE_LEVEL = 4 };

static bool put_number(hid_t object, const char *name, const uint32_t *whole, const double *real)
{
    return whole != NULL ? slc_io_hdf5_put_attribute(object, name, H5T_STD_U32LE, H5T_NATIVE_UINT32, whole)
                         : slc_io_hdf5_put_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, real);
}

static bool put_text(hid_t object, const char *name, const char *text)
{
    return slc_io_hdf5_put_text(object, name, text, H5T_CSET_ASCII);
}

/* A chunk is one to a few maps, or a stretch of crystals: about a quarter of a megabyte. */
static hid_t chunked(const slc_io_pet_table *t)
{
    hsize_t chunk[SLC_IO_PET_DIMENSIONS], elements = 1;
    for (int d = t->dimensions; d-- > 0;) {
        const hsize_t room = (1 << 17) / elements;
        chunk[d] = t->size[d] < room ? t->size[d] : room > 0 ? room : 1;
        elements *= chunk[d];
    }
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    if (how >= 0 && (H5Pset_chunk(how, t->dimensions, chunk) < 0 || H5Pset_shuffle(how) < 0 ||
                     H5Pset_deflate(how, DEFLATE_LEVEL) < 0 || H5Pset_fletcher32(how) < 0 ||
                     H5Pset_obj_track_times(how, false) < 0)) {
        (void)H5Pclose(how);
        return H5I_INVALID_HID;
    }
    return how;
}

static bool put_table(hid_t file, const slc_io_pet_table *t, hid_t in_file, const char *unit,
                      const slc_io_pet_number *attribute, const void *values)
{
    const hid_t space = H5Screate_simple(t->dimensions, t->size, NULL), how = chunked(t);
    const hid_t dataset = space >= 0 && how >= 0
                              ? H5Dcreate2(file, t->name, in_file, space, H5P_DEFAULT, how, H5P_DEFAULT)
                              : H5I_INVALID_HID;
    bool good = dataset >= 0 && H5Dwrite(dataset, t->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 &&
                put_text(dataset, "unit", unit) &&
                (attribute == NULL ||
                 put_number(dataset, attribute->name, attribute->whole, attribute->real));
    good = slc_io_hdf5_close(dataset) && good;
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return good;
}

static bool put_layout(hid_t file, const slc_pet_layout *l)
{
    slc_io_pet_table places, values;
    uint32_t rings = l->rings;
    const slc_io_pet_number is_rings = {"rings", &rings, NULL};
    const size_t n = l->crystals;
    uint32_t *place = malloc(n * SLC_IO_PET_PLACES * sizeof *place);
    double *value = malloc(n * SLC_IO_PET_VALUES * sizeof *value);
    slc_io_pet_layout_of(n, &places, &values);
    for (size_t i = 0; i < n && place != NULL && value != NULL; i++) {
        const slc_pet_crystal_row *r = &l->row[i];
        const uint32_t of_row[SLC_IO_PET_PLACES] = {r->module, r->unit, r->crystal, r->layer};
        memcpy(place + i * SLC_IO_PET_PLACES, of_row, sizeof of_row);
        memcpy(value + i * SLC_IO_PET_VALUES, r->position_mm, sizeof r->position_mm);
        memcpy(value + i * SLC_IO_PET_VALUES + 3, r->normal, sizeof r->normal);
        memcpy(value + i * SLC_IO_PET_VALUES + 6, r->axis, sizeof r->axis);
    }
    const bool good = place != NULL && value != NULL &&
                      put_table(file, &values, H5T_IEEE_F64LE, "mm, 1, 1", &is_rings, value) &&
                      put_table(file, &places, H5T_STD_U32LE, "index", NULL, place);
    free(place);
    free(value);
    return good;
}

static bool put_all(hid_t file, const slc_pet_tables *t)
{
    slc_pet_geometry geometry = t->geometry;
    slc_io_pet_number numbers[SLC_IO_PET_NUMBERS];
    slc_io_pet_table tables[SLC_IO_PET_TABLES];
    const void *const values[SLC_IO_PET_TABLES] = {t->position,       t->gain,       t->energy,
                                                   t->time_offset_ps, t->efficiency, t->geometric.radial,
                                                   t->geometric.axial};
    const hid_t types[SLC_IO_PET_TABLES] = {H5T_STD_U16LE,  H5T_IEEE_F32LE, H5T_IEEE_F32LE, H5T_STD_I32LE,
                                            H5T_IEEE_F32LE, H5T_IEEE_F32LE, H5T_IEEE_F32LE};
    static const char *const units[SLC_IO_PET_TABLES] = {"index", "keV", "1", "ps", "1", "1", "1"};
    const uint32_t version = t->geometry.layout != NULL ? SLC_IO_PET_TABLES_LAYOUT
                                                        : SLC_IO_PET_TABLES_VERSION;
    double bin_kev = (double)t->energy_bin_kev;
    double radial_mm = t->geometric.radial_mm, axial_mm = t->geometric.axial_mm;
    const slc_io_pet_number bins[SLC_IO_PET_TABLES] = {[SLC_IO_PET_ENERGY] = {"bin_kev", NULL, &bin_kev},
                                                       [SLC_IO_PET_RADIAL] = {"bin_mm", NULL, &radial_mm},
                                                       [SLC_IO_PET_AXIAL] = {"bin_mm", NULL, &axial_mm}};
    slc_io_pet_numbers_of(&geometry, numbers);
    slc_io_pet_tables_of(t, tables);
    bool good = put_text(file, "kind", SLC_IO_PET_TABLES_KIND) &&
                put_number(file, "version", &version, NULL) &&
                put_number(file, "position_side", &t->position_side, NULL);
    for (int i = 0; i < SLC_IO_PET_NUMBERS && good; i++) {
        good = put_number(file, numbers[i].name, numbers[i].whole, numbers[i].real);
    }
    const slc_io_pet_number widths[] = {{"energy_fwhm", NULL, (double *)&t->energy_fwhm},
                                        {"time_fwhm_ps", NULL, (double *)&t->time_fwhm_ps}};
    for (int i = 0; i < 2 && good; i++) {
        good = *widths[i].real <= 0 || put_number(file, widths[i].name, NULL, widths[i].real);
    }
    for (int i = 0; i < SLC_IO_PET_TABLES && good; i++) {
        good = values[i] == NULL || put_table(file, &tables[i], types[i], units[i],
                                              bins[i].name != NULL ? &bins[i] : NULL, values[i]);
    }
    return good && (t->geometry.layout == NULL || put_layout(file, t->geometry.layout));
}

/* The newer format of structures, which has checksums (HDF5 1.10). There are no times in the file, so that
 * the same tables are the same bytes. */
static hid_t create(const char *path, int *wrong)
{
    const hid_t access = slc_io_hdf5_file_access(wrong), how = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5I_INVALID_HID;
    if (access >= 0 && how >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
        H5Pset_obj_track_times(how, false) >= 0) {
        file = H5Fcreate(path, H5F_ACC_TRUNC, how, access);
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(access);
    return file;
}

slc_status slc_io_write_pet_tables(const char *path, const slc_pet_tables *tables, slc_error *error)
{
    slc_io_output output = {.path = NULL};
    slc_error reason = {.status = SLC_OK};
    slc_status status = slc_pet_tables_check(tables, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: %s", path, reason.text);
    }
    if (strcmp(path, "-") == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "HDF5 cannot be written to standard output");
    }
    status = slc_io_output_reserve_name(&output, path, error);
    if (status != SLC_OK) {
        return status;
    }
    int wrong = 0;
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    const hid_t file = create(output.temporary, &wrong);
    bool good = file >= 0 && put_all(file, tables);
    good = slc_io_hdf5_close(file) && good;
    slc_io_hdf5_silence_end(before);
    if (good && wrong == 0) {
        return slc_io_output_commit(&output, error);
    }
    slc_io_output_abandon(&output);
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path,
                    wrong != 0 ? strerror(wrong) : "HDF5 gives no reason");
}
