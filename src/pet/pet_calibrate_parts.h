/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the calibration: the parts that know nothing of scanners.
 * pet_calibrate.c        frames to maps and spectra, and what is kept
 * pet_calibrate_grid.c   a flood map to its grid of peaks
 * pet_calibrate_nearest.c   places to crystals, plain grids, equations
 * pet_calibrate_peak.c   a spectrum to its photopeak
 * pet_calibrate_time.c   pairs to time offsets
 * pet_calibrate_width.c  pairs to the resolution of times
 * pet_calibrate_place.c  where the lines of pairs meet
 */
#ifndef SLUICE_PET_CALIBRATE_PARTS_H
#define SLUICE_PET_CALIBRATE_PARTS_H

#include <sluice/pet_calibrate.h>

/* A flood map and the grid that is looked for in it. */
typedef struct slc_pet_flood {
    const uint32_t *counts; /* side² */
    uint32_t side;
    uint32_t across, along; /* crystals in x and in y */
    uint64_t total;
} slc_pet_flood;

/* Memory for maps of one side and grids of one size, used again for each block. */
typedef struct slc_pet_grid_work slc_pet_grid_work;
slc_pet_grid_work *slc_pet_grid_open(uint32_t side, uint32_t across, uint32_t along);
void slc_pet_grid_close(slc_pet_grid_work *work); /* NULL is allowed */

/* Places of the peaks, across · along of each, in rows of `across`. False where there is no grid to be seen;
 * *contrast is how much there was. */
bool slc_pet_grid_find(slc_pet_grid_work *work, const slc_pet_flood *flood, float *x, float *y,
                       double *contrast);
/* The plain grid. */
void slc_pet_grid_plain(uint32_t side, uint32_t across, uint32_t along, float *x, float *y);
/* Number of the nearest peak for each place; of several the first. `distances` is room for side². */
void slc_pet_grid_nearest(uint32_t side, uint32_t across, uint32_t along, const float *x, const float *y,
                          float *distances, uint16_t *position);

/* Solves a · x = b for n unknowns, a symmetric and positive definite, by Cholesky's decomposition in place; b
 * becomes x. False where it is not. */
bool slc_pet_solve(double *a, double *b, int n);

/* A line of a pair, its direction of length 1. */
typedef struct slc_pet_calibrate_line {
    double from[3], direction[3];
} slc_pet_calibrate_line;
/* The place that lines come nearest to, of which many may be anywhere; as nearly as least_mm. False without
 * memory. */
bool slc_pet_calibrate_meet(const slc_pet_calibrate_line *lines, size_t n, double least_mm, double at[3]);

/* As it was opened; spectrum_bin is the one that is used once there are spectra. */
const slc_pet_calibrate_config *slc_pet_calibrate_config_of(const slc_pet_calibrate *c);
/* Counts of a block, position_side² of them, row y behind row y − 1. NULL before the first frames, and where
 * there is no such block. */
const uint32_t *slc_pet_calibrate_flood(const slc_pet_calibrate *c, uint32_t module, uint32_t unit);
/* spectrum_bins counts of a crystal; NULL before the first frames. */
const uint32_t *slc_pet_calibrate_spectrum(const slc_pet_calibrate *c, uint32_t crystal);
/* A Gaussian on a straight background. Energies are in units of a frame's energy, heights in counts a bin. */
typedef struct slc_pet_peak {
    bool found;
    double mean, sigma, height;
    double mean_error; /* one standard deviation */
    double low, high;  /* where it was fitted, and the background's height at either end */
    double background_low, background_high;
} slc_pet_peak;
/* Fits the highest peak above a third of the spectrum's reach, by maximum likelihood for counts (Poisson).
 * `bin` is the width of a bin in units, whole energies from i · bin to (i + 1) · bin − 1 being in bin i.
 * False where there is none: too few counts, no fit, or a width or a height that no peak has. */
bool slc_pet_peak_fit(const uint32_t *spectrum, uint32_t bins, uint32_t bin, uint32_t least_counts,
                      double resolution, slc_pet_peak *peak);
/* The fit of a crystal; found is false before slc_pet_calibrate_gain. */
void slc_pet_calibrate_peak(const slc_pet_calibrate *c, uint32_t crystal, slc_pet_peak *peak);

#endif
