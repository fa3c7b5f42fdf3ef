/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a scanner the one that it is said to be? What frames show of it (which modules, units and places there
 * are) is compared with what was said, since frames of another layout are converted without a fault as long
 * as their numbers are small enough.
 */
#ifndef SLUICE_PET_SEEN_H
#define SLUICE_PET_SEEN_H

#include <sluice/pet_calibrate.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_PET_SEEN_FRAMES = 1024, SLC_PET_DOUBT = 256 };

/* Begins as {0}. */
typedef struct slc_pet_seen {
    uint64_t frames;    /* that were looked at: the first 2^22, whatever the batches */
    uint64_t module[4]; /* bit m % 64 of element m / 64: there was one of module m */
    uint32_t units;     /* bit u: there was one of unit u */
    uint32_t highest_x, highest_y;
    uint32_t kept; /* of these frames: the first 512, and then every 128th */
    slc_pet_frame frame[SLC_PET_SEEN_FRAMES];
} slc_pet_seen;
SLC_API void slc_pet_seen_add(slc_pet_seen *seen, const slc_pet_frame *frames, size_t n);

/* What energies there are, to set beside a window that keeps none: */
typedef struct slc_pet_energies {
    size_t n; /* of so many; 0: the others are 0 */
    double least_kev, median_kev, most_kev;
} slc_pet_energies;
/* Of the frames that were kept, as far as they are of a crystal, with the tables' gains. SLC_ERR_MEMORY, and
 * errors of slc_pet_tables_check. */
SLC_API slc_status slc_pet_seen_energies(const slc_pet_seen *seen, const slc_pet_tables *tables,
                                         slc_pet_energies *energies, slc_error *error);
/* Of n energies; what is not a number is passed over. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_energies_of(const float *energy_kev, size_t n, slc_pet_energies *energies,
                                       slc_error *error);
/* What a window of energies has left, where that is nothing, or less than a hundredth, as a line of text with
 * both: the window, and the energies there are. `inside` of `all` singles are in it. False: there is nothing
 * to tell. `gains`: are energies those of a table of gains? */
SLC_API bool slc_pet_energies_doubt(const slc_pet_energies *energies, double low_kev, double high_kev,
                                    uint64_t inside, uint64_t all, bool gains, char text[SLC_PET_DOUBT]);

/* Doubt number i = 0, 1 … about the scanner, as a line of text; false beyond the last. `position_side` is
 * that of the tables, 0 where they have no position table and places are crystals. What is there and should
 * not be is told of any number of frames, what should be there and is not where each module, unit or place
 * would have had a hundred. */
SLC_API bool slc_pet_seen_doubt(const slc_pet_seen *seen, const slc_pet_geometry *geometry,
                                uint32_t position_side, size_t i, char text[SLC_PET_DOUBT]);
/* The same of a calibration with flood maps, behind its spectra: rows of crystals that have, over all blocks,
 * less than half of the counts of the rows beside them (more crystals were said than there are), or more than
 * 1.35 times (fewer). Told of a thousand counts a row and more. */
SLC_API bool slc_pet_calibrate_doubt(const slc_pet_calibrate *c, size_t i, char text[SLC_PET_DOUBT]);

#ifdef __cplusplus
}
#endif
#endif
