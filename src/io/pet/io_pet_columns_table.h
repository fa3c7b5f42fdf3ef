/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside io_pet_columns*.c: the table of crystals beside the pairs. HDF5's header is included before.
 */
#ifndef SLUICE_IO_PET_COLUMNS_TABLE_H
#define SLUICE_IO_PET_COLUMNS_TABLE_H

#include <sluice/io_pet.h>

#include <hdf5.h>

/* The group with the rows of a collection that slc_io_pet_table_make has made; NULL: with none. */
slc_io_group slc_io_pet_table_group(const void *collection);
/* slc_io_pet_table_free is due in any case. */
slc_status slc_io_pet_table_make(const slc_pet_geometry *geometry, void **collection, slc_error *error);
void slc_io_pet_table_free(void *collection); /* NULL is allowed */

/* Gives a geometry, whose numbers have been checked, the layout of the file; `rings`: its crystals are
 * numbered as in a ring. *there is false where the file has none. */
slc_status slc_io_pet_table_read(hid_t file, const char *path, bool rings, slc_pet_geometry *geometry,
                                 bool *there, slc_error *error);

#endif
