/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: where crystals are, by number, and what the tables of a scanner must be.
 */
#ifndef SLUICE_PET_SCANNER_H
#define SLUICE_PET_SCANNER_H

#include <sluice/pet_convert.h>

/* SLC_ERR_USAGE where a number is 0, there are more than 256 modules, 16 units or 65536 crystals around the
 * ring, or more than 2^31 crystals in all; *error names the number. */
slc_status slc_pet_geometry_check(const slc_pet_geometry *geometry, slc_error *error);
/* The number of a crystal; module, unit and local must be ones that the scanner has. */
uint32_t slc_pet_crystal(const slc_pet_geometry *geometry, uint32_t module, uint32_t unit, uint32_t local);
/* Do the numbers of all units' crystals go up in the same way from that of their first? */
bool slc_pet_numbers_repeat(const slc_pet_geometry *geometry);
/* And back. */
void slc_pet_crystal_place(const slc_pet_geometry *geometry, uint32_t crystal, uint32_t *module,
                           uint32_t *unit, uint32_t *local);
/* What tables must be: SLC_ERR_FORMAT with the first number that cannot be: a crystal of no block, a gain or
 * factor that is not finite or below 0, a table without sizes. */
slc_status slc_pet_tables_check(const slc_pet_tables *tables, slc_error *error);
size_t slc_pet_energy_elements(const slc_pet_tables *tables);

#endif
