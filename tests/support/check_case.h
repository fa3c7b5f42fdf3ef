/* SPDX-License-Identifier: Apache-2.0
 *
 * The standard inputs of kernels, which the benchmark times: the target must give plain C's results, call
 * after call.
 */
#ifndef SUPPORT_CHECK_CASE_H
#define SUPPORT_CHECK_CASE_H

#include "simd/simd_kernel.h"

/* All cases of an array of kernels, up to the row without a name. */
void slc_check_cases(const slc_simd_kernel *rows, slc_simd_target target);

#endif
