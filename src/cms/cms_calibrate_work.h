/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: the loops of the calibration, one table of them per instruction set. They are plain
 * loops around the formulas of cms_calibrate_core.h, of which compilers make vectors.
 */
#ifndef SLUICE_CMS_CALIBRATE_WORK_H
#define SLUICE_CMS_CALIBRATE_WORK_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

#include <sluice/cms_chain.h>

/* Digis that are calibrated together. */
enum { SLC_CMS_CALIBRATE_BLOCK = 32 };

typedef struct slc_cms_calibrate_kernels {
    const char *target;
    /* Phase 1, a block of digis from row `at` on, where all of them have gains and none is in a column that
     * is dead or noisy. Otherwise false, and nothing is done. */
    bool (*phase1)(const slc_cms_calibrate_config *config, const slc_cms_gains *gains,
                   const slc_cms_digis *digis, size_t at);
    /* Phase 2, all digis. */
    void (*phase2)(const slc_cms_calibrate_config *config, const slc_cms_digis *digis);
} slc_cms_calibrate_kernels;

#define SLC_CMS_DECLARE(target, TARGET)                                                                      \
    extern const slc_cms_calibrate_kernels slc_cms_calibrate_kernels_##target;
SIMD_FOR_EACH(SLC_CMS_DECLARE)
#undef SLC_CMS_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_cms_calibrate_kernels *slc_cms_calibrate_kernels_of(slc_simd_target target);

extern const slc_simd_kernel slc_cms_calibrate_kernel_rows[];

#endif
