/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what tables must be.
 */
#ifndef SLUICE_PET_TABLES_H
#define SLUICE_PET_TABLES_H

#include <sluice/pet_convert.h>

/* SLC_ERR_FORMAT with the first number that cannot be: a crystal of no block, a gain or factor that is not
 * finite or below 0, a table without sizes. */
slc_status slc_pet_tables_check(const slc_pet_tables *tables, slc_error *error);
size_t slc_pet_energy_elements(const slc_pet_tables *tables);

#endif
