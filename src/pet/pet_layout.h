/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: tables of crystals (slc_pet_layout).
 */
#ifndef SLUICE_PET_LAYOUT_H
#define SLUICE_PET_LAYOUT_H

#include <sluice/pet_types.h>

/* As slc_pet_layout_make, for rows that lie in the order of a ring's numbers: the geometry's numbers, its
 * radius, pitch and depth are the caller's, and rows are where slc_pet_crystal_place of that ring says.
 * SLC_ERR_FORMAT where they are not. */
slc_status slc_pet_layout_make_rings(const slc_pet_crystal_row *rows, size_t n, slc_pet_geometry *geometry,
                                     slc_error *error);

/* The row of a crystal, of the ideal ring, too. */
slc_pet_crystal_row slc_pet_row_of(const slc_pet_geometry *geometry, uint32_t crystal);

/* How far neighbouring crystals of a unit are apart along their axis and across it, as far as the numbers of
 * a grid say; 0 where there is one alone, or no grid. Of the ideal ring, too. */
void slc_pet_spacing(const slc_pet_geometry *geometry, double *across_mm, double *along_mm);

#endif
