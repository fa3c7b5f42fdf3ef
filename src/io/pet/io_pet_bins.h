/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: pairs of crystals as bins of a sinogram, numbered as STIR does for a cylindrical
 * scanner without arc correction (its class ProjDataInfoCylindricalNoArcCorr). Of a ring of D crystals, view
 * v and tangential place t join crystals v + floor(t / 2) and v − floor((t + 1) / 2) + D / 2, both modulo D;
 * rings of the first and the second make the segment, ring 2 − ring 1.
 */
#ifndef SLUICE_IO_PET_BINS_H
#define SLUICE_IO_PET_BINS_H

#include <sluice/pet_types.h>

typedef struct slc_io_pet_bins {
    uint32_t crystals_per_ring, rings, views;
    uint32_t tangential;      /* places, from −(tangential / 2) on */
    uint32_t ring_difference; /* largest */
    uint64_t sinograms, bins; /* of all segments */
} slc_io_pet_bins;

/* tangential 0: all that join two different angles. SLC_ERR_UNSUPPORTED where the ring has an odd number of
 * crystals, SLC_ERR_USAGE where the numbers do not fit the scanner. */
slc_status slc_io_pet_bins_init(slc_io_pet_bins *bins, uint32_t crystals_per_ring, uint32_t rings,
                                uint32_t tangential, uint32_t ring_difference, slc_error *error);

typedef struct slc_io_pet_bin {
    uint32_t view, tangential; /* tangential from 0 */
    uint32_t ring1, ring2;
} slc_io_pet_bin;
/* False where the pair is in none. */
bool slc_io_pet_bin_of(const slc_io_pet_bins *bins, uint32_t crystal1, uint32_t crystal2,
                       slc_io_pet_bin *bin);
/* And back. */
void slc_io_pet_bin_crystals(const slc_io_pet_bins *bins, const slc_io_pet_bin *bin, uint32_t *crystal1,
                             uint32_t *crystal2);

/* Segments one behind the other in the order 0, −1, +1, −2, …; in each the axial places from the lowest
 * rings; in each views; in each tangential places: the bin's number in Siemens' list mode. */
uint64_t slc_io_pet_bin_offset(const slc_io_pet_bins *bins, const slc_io_pet_bin *bin);
/* False beyond the last. */
bool slc_io_pet_bin_at(const slc_io_pet_bins *bins, uint64_t offset, slc_io_pet_bin *bin);

#endif
