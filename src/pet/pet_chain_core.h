/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksum over pairs, as functions that the processor and GPUs share. Each row is mixed with its number,
 * prompts and delayeds counted apart, so that the sum of all does not depend on batches.
 */
#ifndef SLUICE_PET_CHAIN_CORE_H
#define SLUICE_PET_CHAIN_CORE_H

#include <stdint.h>

#ifdef __CUDACC__
#define SLC_PET_CHAIN_CORE static __host__ __device__ inline
#else
#define SLC_PET_CHAIN_CORE static inline
#endif

SLC_PET_CHAIN_CORE uint64_t slc_pet_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return a ^ a >> 29;
}

/* What row `number` adds. `delayed` is 0 or 1, energies are the bits of the floats. */
SLC_PET_CHAIN_CORE uint64_t slc_pet_pair_sum(uint64_t number, uint32_t delayed, int64_t time_ps,
                                             int64_t dt_ps, const uint32_t crystals[2],
                                             const uint32_t energies[2])
{
    uint64_t row = slc_pet_mix((uint64_t)time_ps, number);
    row = slc_pet_mix(row, (uint64_t)dt_ps + delayed);
    row = slc_pet_mix(row, (uint64_t)crystals[0] << 32 | crystals[1]);
    return slc_pet_mix(row, (uint64_t)energies[0] << 32 | energies[1]);
}

#endif
