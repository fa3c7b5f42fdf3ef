/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of PET: rates against time (pet_rates.h); and of a calibration (pet_calibrate.h) the flood maps
 * with the borders of crystals, the spectra with their fits, and what became of times. They are for the eye
 * of the scanner's owner: numbers are in the tables. And doubts, each a line of text: is the scanner the one
 * that it is said to be? Frames of another layout are converted without a fault as long as their numbers are
 * small enough.
 */
#ifndef SLUICE_REPORT_PET_H
#define SLUICE_REPORT_PET_H

#include <sluice/io_pet.h>
#include <sluice/pet_calibrate.h>
#include <sluice/pet_check.h>
#include <sluice/pet_look.h>
#include <sluice/pet_rates.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Two plots as SVG: frames, singles and what was lost; prompts, delayeds, randoms from singles and multiples;
 * per second, against seconds from the first bin on. Many bins are drawn together, at most 400 a curve.
 * SLC_ERR_USAGE without rows. */
SLC_API slc_status slc_report_pet_rates_svg(const char *path, const slc_pet_rate_rows *rows, double bin_s,
                                            slc_error *error);

/* A PNG with the flood map of every block, modules in rows, the blocks of a module as they lie in it: y
 * downwards, z to the right. Each map has its own scale, which goes with the root of counts. Lines are
 * borders of `position` (slc_pet_calibrate_position); crosses mark crystals with less than a twentieth of
 * their block's mean. Blocks without a grid are framed and say so. Many blocks, or large maps, are drawn
 * smaller. SLC_ERR_USAGE if there are no flood maps. */
SLC_API slc_status slc_report_pet_flood_png(const char *path, const slc_pet_calibrate *calibrate,
                                            const uint16_t *position, slc_error *error);

/* What is drawn of gains and times. */
typedef struct slc_report_pet_spectra {
    const slc_pet_calibrate *calibrate;
    const float *gain, *resolution; /* of slc_pet_calibrate_gain */
    /* Of slc_pet_calibrate_time; pairs NULL: no times. */
    const slc_pet_coincidences *pairs;
    const int32_t *time_offset_ps;
    const slc_pet_time_fit *fit;
} slc_report_pet_spectra;
/* An SVG: the sum of all spectra before and after the gains, with a fit; how gains and resolutions are
 * distributed; some crystals with their fits: usual ones, the extremes, and one without a peak; differences
 * of times before and after, and how offsets are distributed. */
SLC_API slc_status slc_report_pet_spectra_svg(const char *path, const slc_report_pet_spectra *spectra,
                                              slc_error *error);

/* A PNG of a check: pairs by module and module, the times of each module's pairs (range_ps and bins as the
 * check had them), and what was found. */
SLC_API slc_status slc_report_pet_check_png(const char *path, const slc_pet_checked *checked, double range_ps,
                                            uint32_t bins, slc_error *error);

/* A picture of what is in a scanner: three slices through a point, in one scale from 0 to the largest value
 * of the three, with axes in mm. */
typedef struct slc_report_pet_look {
    const slc_pet_look_image *image;
    double at_mm[3];
    double smooth_mm;                /* slices are drawn smoothed so far (FWHM); 0: as they are */
    const char *title, *note, *unit; /* above it, below that, and of the scale */
} slc_report_pet_look;
SLC_API slc_status slc_report_pet_look_png(const char *path, const slc_report_pet_look *look,
                                           slc_error *error);

/* ---- doubts ------------------------------------------------------------------------------------ */

enum { SLC_REPORT_PET_DOUBT = 256 };

/* Doubt number i = 0, 1 … about the scanner; false beyond the last. `position_side` is that of the tables, 0
 * where they have no position table and places are crystals. What is there and should not be is told of any
 * number of frames, what should be there and is not where each module, unit or place would have had a
 * hundred. */
SLC_API bool slc_report_pet_scanner_doubt(const slc_io_pet_seen *seen, const slc_pet_geometry *geometry,
                                          uint32_t position_side, size_t i, char text[SLC_REPORT_PET_DOUBT]);
/* The same of a calibration with flood maps, after its spectra: rows of crystals that have, over all blocks,
 * less than half of the counts of the rows beside them (more crystals were said than there are), or more than
 * 1.35 times (fewer). Told of a thousand counts a row and more. */
SLC_API bool slc_report_pet_rows_doubt(const slc_pet_calibrate *calibrate, size_t i,
                                       char text[SLC_REPORT_PET_DOUBT]);
/* Where a window of energies leaves nothing of n singles, or less than a hundredth, `inside` of them: the
 * window, and the energies that there are. False: there is nothing to tell. */
SLC_API bool slc_report_pet_energies_doubt(const float *energy_kev, size_t n, double low_kev, double high_kev,
                                           uint64_t inside, char text[SLC_REPORT_PET_DOUBT]);
/* The same of frames, by those that were kept. */
SLC_API bool slc_report_pet_frames_doubt(const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                                         const slc_pet_convert_config *config,
                                         const slc_pet_convert_counts *counts,
                                         char text[SLC_REPORT_PET_DOUBT]);

/* Without a table of gains a unit of a frame's energy is taken for 1 keV. Photons of 511 keV show whether it
 * is: where energies gather (a quarter of those that were kept, and of 400 at least, within a tenth of a
 * value) more than a fifth away from 511. False: nothing is to be told. */
SLC_API bool slc_report_pet_units_doubt(const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                                        char text[SLC_REPORT_PET_DOUBT]);

#ifdef __cplusplus
}
#endif
#endif
