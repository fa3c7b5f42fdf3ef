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

/* How a ring differs from the ideal one: words of slc_pet_scanner. All 0: not at all. */
typedef enum slc_pet_flat { SLC_PET_FLAT_NONE = 0, SLC_PET_FLAT_BLOCKS, SLC_PET_FLAT_MODULES } slc_pet_flat;
typedef struct slc_pet_shape {
    slc_pet_flat flat; /* fronts of blocks, or whole modules, are planes whose middles are radius_mm away */
    double pitch_y_mm; /* of flat ones, from crystal to crystal */
    double block_gap_mm[2], module_gap_mm; /* beside the pitches: around the ring, along it; along it */
    double turn_radians, shift_mm;
    bool clockwise;
    uint32_t layers; /* of crystals behind each other, each depth_mm deep; 0 is 1 */
    double layer_gap_mm;
} slc_pet_shape;
/* Gives an ideal ring such a layout. SLC_ERR_USAGE for what does not fit. */
slc_status slc_pet_layout_make_shape(slc_pet_geometry *geometry, const slc_pet_shape *shape,
                                     slc_error *error);

/* The row of a crystal, of the ideal ring, too. */
slc_pet_crystal_row slc_pet_row_of(const slc_pet_geometry *geometry, uint32_t crystal);

/* How far neighbouring crystals of a unit are apart along their axis and across it; without a grid the
 * nearest two. 0 where there is one alone. Of the ideal ring, too, at the fronts. */
void slc_pet_spacing(const slc_pet_geometry *geometry, double *across_mm, double *along_mm);

/* The ideal ring that comes near a scanner: its own, or of a layout without rings one of its radius, pitch
 * and spacing, about z = 0 and as long as crystals reach. SLC_ERR_UNSUPPORTED where there is none. */
slc_status slc_pet_virtual_ring(const slc_pet_geometry *geometry, slc_pet_geometry *ring, slc_error *error);
/* The two crystals of that ring which are nearest to where a line through two positions meets it, in their
 * order; false where it passes by. */
bool slc_pet_virtual_line(const slc_pet_geometry *ring, const double from[3], const double to[3],
                          uint32_t *crystal1, uint32_t *crystal2);

#endif
