/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the scanner of a CASToR list, .hscan and .lut.
 */
#ifndef SLUICE_IO_PET_CASTOR_H
#define SLUICE_IO_PET_CASTOR_H

#include "io/pet/io_pet_list.h"

enum { SLC_IO_PET_CASTOR_DESCRIPTION = 512 };

/* What the .hscan says of how crystals are numbered, for people and for slc_io_pet_castor_scanner; false
 * where there is no room. */
bool slc_io_pet_castor_describe(const slc_pet_geometry *geometry, char *text, size_t size);
/* The scanner of a .hscan and the .lut beside it; slc_pet_geometry_clear frees it. *modules: it says which
 * modules crystals are of. SLC_ERR_FORMAT names the file and what is wrong. */
slc_status slc_io_pet_castor_scanner(const char *hscan, slc_pet_geometry *geometry, bool *modules,
                                     slc_error *error);
/* Looks for the scanner that the header at `path` names, if it is none that is known here, and sets what
 * `about` has of it. That there is none is no error. */
void slc_io_pet_castor_find_scanner(slc_io_pet_list *in, const char *path);

#endif
