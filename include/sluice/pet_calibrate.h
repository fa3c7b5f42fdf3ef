/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of pet_convert.h from measured frames: flood maps and which crystal each of their places belongs
 * to, gains from photopeaks, time offsets from coincidences. docs/howto/pet-calibrate.md shows the order of
 * the steps; frames are given to each step again, as none needs all of them in memory.
 */
#ifndef SLUICE_PET_CALIBRATE_H
#define SLUICE_PET_CALIBRATE_H

#include <sluice/pet_normalise.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pet_calibrate_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    uint32_t position_side; /* of the flood maps: 1 to 256, and not below crystals_y and crystals_z */
    uint32_t spectrum_bins; /* 16 to 65536, from energy 0; 256 */
    /* Units of a frame's energy in a bin, whole ones, as bins of unequal many would show a comb. 0: as many
     * as the energies of step 1 need. */
    uint32_t spectrum_bin;
    double peak_kev;          /* energy of the photopeak; 511 */
    uint32_t flood_counts;    /* a block needs so many for each of its crystals to be looked at; 25 */
    uint32_t spectrum_counts; /* a crystal needs so many for a fit; 100 */
} slc_pet_calibrate_config;
/* "mouse20", maps of 256 places a side. */
SLC_API void slc_pet_calibrate_config_default(slc_pet_calibrate_config *config, size_t size);
#define slc_pet_calibrate_config_default(config) slc_pet_calibrate_config_default(config, sizeof *(config))

typedef struct slc_pet_calibrate slc_pet_calibrate;
/* SLC_ERR_USAGE names the field. A calibration belongs to one thread at a time. */
SLC_API slc_status slc_pet_calibrate_open(const slc_pet_calibrate_config *config,
                                          slc_pet_calibrate **calibrate, slc_error *error);
SLC_API void slc_pet_calibrate_close(slc_pet_calibrate *calibrate); /* NULL is allowed */

/* What became of the frames of each step. */
typedef struct slc_pet_calibrate_counts {
    uint64_t flood, flood_outside;       /* in maps; of no block, or of a place outside of the map */
    uint64_t spectrum, spectrum_outside; /* in spectra; of no crystal */
    uint64_t beyond;                     /* of those in spectra: above the last bin */
} slc_pet_calibrate_counts;
SLC_API void slc_pet_calibrate_counts_of(const slc_pet_calibrate *c, slc_pet_calibrate_counts *counts);

/* ---- step 1: flood maps ------------------------------------------------------------------------ */

/* Frames of no block, and of places outside of the maps, are counted and left out. SLC_ERR_MEMORY where there
 * is none for the maps. */
SLC_API slc_status slc_pet_calibrate_add_flood(slc_pet_calibrate *c, const slc_pet_frame *frames, size_t n,
                                               slc_error *error);
/* Finds the crystals' peaks of every block and gives each place to the nearest crystal; `position` has
 * slc_pet_position_elements. Blocks without enough counts, or where no grid of peaks is found, are given a
 * plain grid and counted in *unsure (may be NULL). */
SLC_API slc_status slc_pet_calibrate_position(slc_pet_calibrate *c, uint16_t *position, uint32_t *unsure,
                                              slc_error *error);
/* What step 1 found in a block: places of the crystals' peaks in its map, in the order of the crystals, place
 * x reaching from x to x + 1. */
typedef struct slc_pet_grid {
    const float *x, *y;
    bool sure;       /* false: the plain grid */
    uint64_t counts; /* of the map */
    /* How far the map falls between neighbouring peaks, on the average, as a share of their height: 1 where
     * crystals are well apart, about 0 where nothing is to be seen. 0 where it was not looked for. */
    double contrast;
} slc_pet_grid;
/* False before slc_pet_calibrate_position, and where there is no such block. */
SLC_API bool slc_pet_calibrate_grid(const slc_pet_calibrate *c, uint32_t module, uint32_t unit,
                                    slc_pet_grid *grid);

/* ---- step 2: gains ----------------------------------------------------------------------------- */

/* Spectra by crystal, of frames that `tables` give to a crystal; only its geometry and its position table are
 * used. SLC_ERR_USAGE where its geometry has other blocks. */
SLC_API slc_status slc_pet_calibrate_add_spectrum(slc_pet_calibrate *c, const slc_pet_tables *tables,
                                                  const slc_pet_frame *frames, size_t n, slc_error *error);

/* keV for each unit, from the photopeaks; `resolution` (may be NULL) gets the full width at half maximum over
 * the peak, 0 where none was found. Crystals without a peak get the mean of their block, or of the scanner
 * where the block has none, and are counted in *unsure (may be NULL). SLC_ERR_FORMAT where no crystal has a
 * peak. */
SLC_API slc_status slc_pet_calibrate_gain(slc_pet_calibrate *c, float *gain, float *resolution,
                                          uint32_t *unsure, slc_error *error);
/* The resolution of energies at 511 keV (FWHM, as a share): the median of the crystals with a peak, from
 * peak_kev as the root of the energy goes. 0 before slc_pet_calibrate_gain. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_calibrate_energy_fwhm(const slc_pet_calibrate *c, double *fwhm, slc_error *error);

/* ---- step 3: times ----------------------------------------------------------------------------- */

typedef struct slc_pet_time_fit {
    uint64_t used, left_out;    /* prompt pairs; left out: farther from the fit than four widths */
    uint32_t unsure;            /* crystals without a pair, whose offset is 0 */
    uint32_t rounds;            /* in all */
    double before_ps, after_ps; /* width of the pairs' differences: 1.4826 · median of |difference| */
} slc_pet_time_fit;
/* Time offsets by crystal from prompt pairs of a source around the middle, on average as early in one crystal
 * as in the other: the offsets for which each crystal's mean difference to all its partners is 0 (least
 * squares, by conjugate gradients), repeated until nothing changes by more than a tenth of a picosecond or
 * `rounds` times; then again without the pairs that are far off, which are random. Their mean is 0. What is
 * found is to be added to times; pairs whose times were corrected already give what is left. Delayed pairs
 * are left alone. A source that is thin and in the middle of the ring relates each crystal to few others,
 * which leaves slow changes around the ring undetermined: a phantom of half the ring's radius is better.
 * `fit` may be NULL. SLC_ERR_FORMAT for a crystal that the scanner does not have, and where there is no
 * pair. */
SLC_API slc_status slc_pet_calibrate_time(const slc_pet_geometry *geometry, const slc_pet_coincidences *pairs,
                                          uint32_t rounds, int32_t *time_offset_ps, slc_pet_time_fit *fit,
                                          slc_error *error);

/* ---- the resolution of times ------------------------------------------------------------------- */

typedef struct slc_pet_time_width {
    uint64_t pairs;   /* that took part: 2^18 at most, the first ones */
    uint64_t outside; /* prompts whose line does not pass through the source, or through its edge */
    double fwhm_ps;   /* of the pairs' differences, without what flights and the source's size add */
    double error_ps;  /* one standard deviation of that */
    double randoms;   /* what part of them is of no such difference, but anywhere: 0 to 1 */
    /* Is the source where it is said to be? Of a sample of the prompts, 2^15 at most: the part whose line
     * passes through it, the place that their lines come nearest to, and the part if its middle were there.
     */
    double through, meet_mm[3], through_there;
    /* Half miss it, or 1.1 times as many would pass through it there, and not by chance; or that place is two
     * crystals' widths and a quarter of its radius (along the axis, of its length) from its middle. */
    bool misplaced;
} slc_pet_time_width;
/* The width of the differences of times of prompt pairs of a known source: a point (radius 0) or a uniform
 * cylinder or shell. A pair's difference is expected to be that of the flights from the part of its line that
 * is in the source, each place as probable, with a Gaussian width that all pairs share, over a level of
 * randoms; the most likely width is found. `time_offset_ps` (by crystal; may be NULL) is added to times;
 * `fit` is NULL, or says that it was found of these pairs, which are nearer to it than others by as many as
 * there are crystals: the width is made good for that. Lines within a crystal's width of the edge of a
 * cylinder are left out; of a point, and of a cylinder thinner than two crystals, those are taken that pass
 * within a crystal's width of its middle. SLC_ERR_USAGE for a source that cannot be; SLC_ERR_FORMAT for a
 * crystal that the scanner does not have, for fewer than 100 pairs through the source, where more than half
 * of the lines miss it and 1.5 times as many would pass through it where they meet, and where differences
 * reach as far as they can within the window of the pairs, so that their width cannot be told.
 * SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_calibrate_time_fwhm(const slc_pet_geometry *geometry,
                                               const slc_pet_coincidences *pairs,
                                               const int32_t *time_offset_ps, const slc_pet_time_fit *fit,
                                               const slc_pet_cylinder *source, slc_pet_time_width *width,
                                               slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
