/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot loop of reading MDF, one table per instruction set: the checksum of records, Jenkins' one-at-a-time
 * hash (lhcb_record.h). Every byte waits for the one before it, so that one record alone cannot be fast;
 * records lie in the lanes of vectors, and several vectors take turns.
 */
#ifndef SLUICE_LHCB_KERNELS_H
#define SLUICE_LHCB_KERNELS_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

enum {
    SLC_MDF_LANES = 64,     /* records side by side, at most; a multiple of the lanes of every target */
    SLC_MDF_LANE_BYTES = 16 /* a step of the kernel */
};

typedef struct slc_mdf_kernels {
    const char *target;
    size_t (*lanes)(void); /* of a vector, which SVE tells at run time alone */

    /* Continues the hashes of n records, 0 < n <= SLC_MDF_LANES, over `steps` times SLC_MDF_LANE_BYTES bytes
     * that begin at at[i]. Both arrays have SLC_MDF_LANES entries, and all of at[] may be read like the
     * first n; what becomes of the hashes after n is left open. */
    void (*hash)(uint32_t *hash, const uint8_t *const *at, size_t n, size_t steps);
} slc_mdf_kernels;

#define SLC_MDF_DECLARE(target, TARGET) extern const slc_mdf_kernels slc_mdf_kernels_##target;
SIMD_FOR_EACH(SLC_MDF_DECLARE)
#undef SLC_MDF_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_mdf_kernels *slc_mdf_kernels_of(slc_simd_target target);

/* The kernel under a choice (slc_simd_choose). */
const slc_mdf_kernels *slc_mdf_kernels_select(slc_simd_target choice);

extern const slc_simd_kernel slc_mdf_kernel_rows[];

#endif
