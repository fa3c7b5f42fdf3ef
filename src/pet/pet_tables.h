/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what tables must be, and frames that they convert.
 */
#ifndef SLUICE_PET_TABLES_H
#define SLUICE_PET_TABLES_H

#include <sluice/pet_convert.h>

/* SLC_ERR_FORMAT with the first number that cannot be: a crystal of no block, a gain or factor that is not
 * finite or below 0, a table without sizes. */
slc_status slc_pet_tables_check(const slc_pet_tables *tables, slc_error *error);
size_t slc_pet_energy_elements(const slc_pet_tables *tables);
/* The inverse for one single, for generators and tests: a frame that converts to that crystal, that time
 * rounded down to a tick and that energy as well as the tables allow. False where there is none. */
bool slc_pet_frame_make(const slc_pet_tables *tables, const slc_pet_convert_config *config, uint32_t crystal,
                        int64_t time_ps, double energy_kev, slc_pet_frame *frame);

#endif
