/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what energies there are, to set beside a window that keeps none.
 */
#ifndef SLUICE_REPORT_PET_DOUBTS_H
#define SLUICE_REPORT_PET_DOUBTS_H

#include <sluice/io_pet.h>

typedef struct slc_report_pet_energies {
    size_t n; /* of so many; 0: the others are 0 */
    double least_kev, median_kev, most_kev;
} slc_report_pet_energies;
/* Of n energies; what is not a number is passed over. SLC_ERR_MEMORY. */
slc_status slc_report_pet_energies_of(const float *energy_kev, size_t n, slc_report_pet_energies *energies,
                                      slc_error *error);
/* Of the frames that were kept, as far as they are of a crystal, with the tables' gains. SLC_ERR_MEMORY, and
 * errors of slc_pet_tables_check. */
slc_status slc_report_pet_seen_energies(const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                                        slc_report_pet_energies *energies, slc_error *error);

#endif
