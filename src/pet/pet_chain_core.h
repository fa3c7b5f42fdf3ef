/* SPDX-License-Identifier: Apache-2.0
 *
 * The checksum over pairs, as functions that the processor and GPUs share (docs/formats/checksum.md): Σ
 * hash(row) · SLC_CHECKSUM_FACTOR^n, prompts and delayeds counted apart, so that it does not depend on
 * batches. A row is 32 bytes, for which XXH3 takes longer than the search for the pair.
 */
#ifndef SLUICE_PET_CHAIN_CORE_H
#define SLUICE_PET_CHAIN_CORE_H

#include <sluice/base.h>

#ifdef __CUDACC__
#define SLC_PET_CHAIN_CORE static __host__ __device__ inline
#else
#define SLC_PET_CHAIN_CORE static inline
#endif

SLC_PET_CHAIN_CORE uint64_t slc_pet_mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * SLC_CHECKSUM_FACTOR;
    return a ^ a >> 32;
}

/* The hash of a row. `delayed` is 0 or 1, energies are the bits of the floats. */
SLC_PET_CHAIN_CORE uint64_t slc_pet_pair_hash(uint32_t delayed, int64_t time_ps, int64_t dt_ps,
                                              const uint32_t crystals[2], const uint32_t energies[2])
{
    uint64_t row = slc_pet_mix(delayed != 0 ? UINT64_C(0xc2b2ae3d27d4eb4f) : 0, (uint64_t)time_ps);
    row = slc_pet_mix(row, (uint64_t)dt_ps);
    row = slc_pet_mix(row, (uint64_t)crystals[1] << 32 | crystals[0]);
    return slc_pet_mix(row, (uint64_t)energies[1] << 32 | energies[0]);
}

#endif
