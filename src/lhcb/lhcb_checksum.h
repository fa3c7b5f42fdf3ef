/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the checksums of many records at once (lhcb_kernels.h), which may differ in length:
 * the longest ones begin, and when a record ends, the next one takes its lane.
 */
#ifndef SLUICE_LHCB_CHECKSUM_H
#define SLUICE_LHCB_CHECKSUM_H

#include <sluice/simd.h>

typedef struct slc_mdf_stretch {
    const uint8_t *bytes;
    size_t size;
    uint32_t hash;  /* of what is in front of the bytes; then with them */
    uint32_t index; /* the caller's */
} slc_mdf_stretch;

/* Continues all hashes over their bytes, on a target of slc_simd_choose. The stretches come back in another
 * order. */
void slc_mdf_hash_all(slc_simd_target target, slc_mdf_stretch *stretches, size_t n);

#endif
