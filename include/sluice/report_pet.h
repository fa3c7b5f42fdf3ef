/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures of PET: rates against time (pet_rates.h); and of a calibration (pet_calibrate.h) the flood maps
 * with the borders of crystals, the spectra with their fits, and what became of times. They are for the eye
 * of the scanner's owner: numbers are in the tables.
 */
#ifndef SLUICE_REPORT_PET_H
#define SLUICE_REPORT_PET_H

#include <sluice/pet_calibrate.h>
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
 * smaller. SLC_ERR_USAGE where there are no flood maps. */
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

#ifdef __cplusplus
}
#endif
#endif
