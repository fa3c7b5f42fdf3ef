/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: positions of the clusters of one module, one table an instruction set.
 */
#ifndef SLUICE_CMS_POSITION_WORK_H
#define SLUICE_CMS_POSITION_WORK_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

#include <sluice/cms_chain.h>

typedef struct slc_cms_position_kernels {
    const char *target;
    /* Fills the positions and errors of n rows from `begin` on, all of one plane. Reads up to a vector behind
     * them, writes nothing else. */
    void (*locate)(const slc_cms_position_config *config, const slc_cms_plane *plane,
                   const slc_cms_clusters *clusters, size_t begin, size_t n);
} slc_cms_position_kernels;

#define SLC_CMS_DECLARE(target, TARGET)                                                                      \
    extern const slc_cms_position_kernels slc_cms_position_kernels_##target;
SIMD_FOR_EACH(SLC_CMS_DECLARE)
#undef SLC_CMS_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_cms_position_kernels *slc_cms_position_kernels_of(slc_simd_target target);

extern const slc_simd_kernel slc_cms_position_kernel_rows[];

#endif
