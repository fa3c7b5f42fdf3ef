/* SPDX-License-Identifier: Apache-2.0
 *
 * What every operation of the SIMD vocabulary must give, a vector at a time, on plain arrays: floats as their
 * bits, masks as 0 and 1. Written from the meaning of the operations and not from any target.
 */
#ifndef ORACLE_SIMD_ORACLE_H
#define ORACLE_SIMD_ORACLE_H

#include "check_simd_list.h"

/* x[k] is argument k of this vector (of a table its beginning). Of what stores, `out` holds before what
 * memory held. */
typedef void slc_simd_oracle(void *out, uint64_t *count, const void *const *x, size_t lanes, size_t lanes8);

extern slc_simd_oracle *const slc_simd_oracles[CHECK_SIMD_OPERATIONS];

#endif
