/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot loops of PET singles, one table of them per instruction set. Columns have a spare vector behind
 * them, which is read and written;
 * they have fewer than 2^31 rows.
 */
#ifndef SLUICE_PET_KERNELS_H
#define SLUICE_PET_KERNELS_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

/* Columns of pairs, as far as they are part of the checksum. */
typedef struct slc_pet_pair_columns {
    const int64_t *time_ps, *dt_ps;
    const uint32_t *crystal1, *crystal2;
    const float *energy1_kev, *energy2_kev;
} slc_pet_pair_columns;

typedef struct slc_pet_kernels {
    const char *target;

    /* Calibrates n amplitudes with the gain of their crystal, keeps energies in [low, high), and packs energy
     * and index of those kept. Returns how many. */
    size_t (*energy_window)(const float *amplitude, const uint32_t *crystal, const float *gain, float low,
                            float high, size_t n, float *energy, uint32_t *index);

    /* The same for energies that are calibrated already: packs those in [low, high). */
    size_t (*energy_cut)(const float *energy, float low, float high, size_t n, float *kept);

    /* Which of n + 1 times in order are followed by the next within `limit`: bit k % 64 of near[k / 64] where
     * t[k + 1] - t[k] <= limit. t[n] - t[0] is below 2^32. The bits behind the last are 0. */
    void (*near_next)(const int64_t *t, uint32_t limit, size_t n, uint64_t *near);

    /* Which of n times in order have one of m others, in order, from low to low + width after them: bit i %
     * 64 of near[i / 64] where some u[k] - t[i] - low is from 0 to width. All these differences are from
     * -2^30 to 2^31 - 1, and width is at most 2^30. The bits behind the last are 0. */
    void (*near_later)(const int64_t *t, size_t n, const int64_t *u, size_t m, uint64_t low, uint32_t width,
                       uint64_t *near);

    /* Of n pairs, all delayed (1) or none (0): the sum of their hashes (pet_chain_core.h) times power[i]. */
    uint64_t (*pair_sum)(const slc_pet_pair_columns *pairs, size_t n, uint32_t delayed,
                         const uint64_t *power);
} slc_pet_kernels;

#define SLC_PET_DECLARE(target, TARGET) extern const slc_pet_kernels slc_pet_kernels_##target;
SIMD_FOR_EACH(SLC_PET_DECLARE)
#undef SLC_PET_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_pet_kernels *slc_pet_kernels_of(slc_simd_target target);

/* The table whose entries are each kernel's target under a choice (slc_simd_choose). */
void slc_pet_kernels_select(slc_simd_target choice, slc_pet_kernels *kernels);

extern const slc_simd_kernel slc_pet_kernel_rows[];

#endif
