/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the calibration: the parts that know nothing of scanners.
 * pet_calibrate.c        frames to maps and spectra, and what is kept
 * pet_calibrate_grid.c   a flood map to its grid of peaks
 * pet_calibrate_nearest.c   places to crystals, plain grids, equations
 * pet_calibrate_peak.c   a spectrum to its photopeak
 * pet_calibrate_time.c   pairs to time offsets
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

#endif
