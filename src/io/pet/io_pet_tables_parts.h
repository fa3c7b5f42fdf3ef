/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside io_pet_tables*.c: what a file of tables holds, by name, kind and size. HDF5's header is included
 * before.
 */
#ifndef SLUICE_IO_PET_TABLES_PARTS_H
#define SLUICE_IO_PET_TABLES_PARTS_H

#include <sluice/io_pet.h>

#include <hdf5.h>

#define SLC_IO_PET_TABLES_KIND "sluice pet tables"
/* A file with a table of crystals is of the second version, as readers of the first would take it for an
 * ideal ring. */
enum { SLC_IO_PET_TABLES_VERSION = 1, SLC_IO_PET_TABLES_LAYOUT = 2 };

/* Attributes of the file: one number each. */
typedef struct slc_io_pet_number {
    const char *name;
    uint32_t *whole;
    double *real;
} slc_io_pet_number;

enum { SLC_IO_PET_NUMBERS = 10 };
void slc_io_pet_numbers_of(slc_pet_geometry *geometry, slc_io_pet_number numbers[SLC_IO_PET_NUMBERS]);

/* What a dataset is to be. `any` is the dimension that may be of any size, −1 where all are known. */
enum { SLC_IO_PET_DIMENSIONS = 4 };
typedef struct slc_io_pet_table {
    const char *name, *what; /* what its dimensions are */
    int dimensions, any;
    hsize_t size[SLC_IO_PET_DIMENSIONS];
    hid_t type;
    H5T_class_t class;
    size_t bytes; /* of an element */
} slc_io_pet_table;

/* The tables that there can be, in the order of their names in io_pet_tables.c. */
enum {
    SLC_IO_PET_POSITION = 0,
    SLC_IO_PET_GAIN,
    SLC_IO_PET_ENERGY,
    SLC_IO_PET_OFFSET,
    SLC_IO_PET_EFFICIENCY,
    SLC_IO_PET_RADIAL,
    SLC_IO_PET_AXIAL,
    SLC_IO_PET_TABLES
};
void slc_io_pet_tables_of(const slc_pet_tables *tables, slc_io_pet_table to[SLC_IO_PET_TABLES]);

/* The table of crystals: values of each, and its place in frames. */
enum { SLC_IO_PET_PLACES = 4, SLC_IO_PET_VALUES = 9 };
void slc_io_pet_layout_of(uint64_t crystals, slc_io_pet_table *places, slc_io_pet_table *values);

#endif
