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

/* Begins as {0}. */
typedef struct slc_pet_seen {
    uint64_t frames;    /* that were looked at: the first 2^22, whatever the batches */
    uint64_t module[4]; /* bit m % 64 of element m / 64: there was one of module m */
    uint32_t units;     /* bit u: there was one of unit u */
    uint32_t highest_x, highest_y;
} slc_pet_seen;
SLC_API void slc_pet_seen_add(slc_pet_seen *seen, const slc_pet_frame *frames, size_t n);

/* Doubt number i = 0, 1 … about the scanner, as a line of text; false beyond the last. `position_side` is
 * that of the tables, 0 where they have no position table and places are crystals. What is there and should
 * not be is told of any number of frames, what should be there and is not where each module, unit or place
 * would have had a hundred. */
enum { SLC_PET_DOUBT = 256 };
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
