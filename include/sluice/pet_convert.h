/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames to singles: crystal, time in picoseconds, energy in keV. After the seed's conversion (J. Farthing,
 * 2021) without its mistakes: every byte of a frame is checked, times are integers throughout, tables have
 * the sizes that they say.
 */
#ifndef SLUICE_PET_CONVERT_H
#define SLUICE_PET_CONVERT_H

#include <sluice/pet_types.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_PET_NO_CRYSTAL = 0xffff };

/* What pairs detect of what their crystals' efficiencies say, by how far from the axis their line passes and
 * how far apart along it their crystals are, as slc_pet_normalise_solve finds it: [distance / radial_mm] and
 * [|z1 − z2| / axial_mm, rounded]; what is beyond the last is as the last. NULL, both: 1. */
typedef struct slc_pet_geometric {
    const float *radial, *axial;
    uint32_t n_radial, n_axial;
    double radial_mm, axial_mm;
} slc_pet_geometric;

/* What is known of a scanner's blocks, by tables; the caller's memory. A table that is NULL changes nothing.
 */
typedef struct slc_pet_tables {
    slc_pet_geometry geometry;
    uint32_t position_side; /* P, 1 to 256: x and y of a frame are below it */
    /* Crystal in the block (y · crystals_z + z) by [module][unit][y · P + x], or SLC_PET_NO_CRYSTAL where the
     * flood map belongs to none. NULL: P is crystals_y and crystals_z at least, x is z and y is y of the
     * crystal. */
    const uint16_t *position;
    /* keV for each unit of a frame's energy, by crystal. NULL: 1. */
    const float *gain;
    /* Factor by [crystal][min(energy in keV / energy_bin_kev, energy_bins − 1)]. NULL: 1. */
    const float *energy;
    uint32_t energy_bins;
    float energy_bin_kev;
    /* Added to the time, by crystal. NULL: 0. */
    const int32_t *time_offset_ps;
    /* What a crystal detects of what an average one would, as slc_pet_normalise_solve finds it; 0: it is
     * dead. Changes no single, but is the factor of pairs in outputs. NULL: not known. */
    const float *efficiency;
    slc_pet_geometric geometric; /* with `efficiency` alone */
    /* Measured full widths at half maximum; 0: not known. Of energies at 511 keV as a share of that, below 1;
     * of pairs' differences of times. They change nothing here: programs take them for windows of energies
     * and for times of flight where they are told none. */
    double energy_fwhm, time_fwhm_ps;
} slc_pet_tables;
/* Elements of the tables. */
SLC_API size_t slc_pet_position_elements(const slc_pet_tables *tables);
/* The window of energies that belongs to a resolution (above 0): 511 keV and 1.5 widths to either side, 99.96
 * % of a Gaussian peak, in whole keV; from 0 of resolutions that are worse than two thirds. */
SLC_API void slc_pet_energies_of(double energy_fwhm, double kev[2]);

typedef struct slc_pet_convert_config {
    size_t size; /* of this struct; set by _config_default */
    /* A tick is tick_numerator / tick_denominator picoseconds; times are rounded down. */
    uint32_t tick_numerator, tick_denominator;
    /* The counter has so many bits (8 to 64) and begins again at 0. 64: times are taken as they are.
     * Otherwise a frame's turn is the one that brings it nearest to the latest time that the frames of all
     * modules have come to; the first frame's is 0, or 1 where frames from before its turn follow at once. A
     * frame that is farther from that time, and from its module's own, than the horizon is wrong, unless the
     * frames behind it agree with it: SLC_FAULT_PET_CLOCK. So modules may be away for any time, but all at
     * once for less than a turn, if it is not known when frames were received. */
    uint32_t tick_bits;
    /* By how much frames may be out of order, of counters that begin again; 1 ms at least (also for 0), an
     * eighth of a turn at most. A chain takes its sort's where this is 0. */
    int64_t horizon_ps;
    double low_kev, high_kev; /* singles in [low, high) are kept */
    slc_exec exec;            /* threads, target */
} slc_pet_convert_config;     /* 1 ps, 64 bits, all energies: slc_pet_config_default */

typedef struct slc_pet_convert_counts {
    uint64_t frames, singles;          /* in, out */
    uint64_t module, unit, position;   /* dropped: no such module, unit, place in the block */
    uint64_t no_crystal, below, above; /* dropped: between crystals, energies outside */
    uint64_t clock;                    /* dropped: of a time that no other frame agrees with */
    uint64_t turns, bridged;           /* of time counters; common ones in which nothing was received */
    uint64_t backwards;                /* frames earlier than the one before of their module; kept */
} slc_pet_convert_counts;

#ifdef __cplusplus
}
#endif
#endif
