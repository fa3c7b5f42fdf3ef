/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of FLSL that is written in vectors, one table for each instruction set. Besides it, FLSL uses
 * `threshold` and `edges` of image_kernels.h.
 */
#ifndef SLUICE_IMAGE_FLSL_H
#define SLUICE_IMAGE_FLSL_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

typedef struct slc_image_flsl_kernels {
    const char *target;

    /* Writes a row of labels: labels[k] from pixel edges[2k] to before edges[2k + 1], for all k < n_runs, and
     * 0 elsewhere. Runs rise and do not touch; width is at least 1, and nothing is written behind it. */
    void (*expand)(const uint32_t *edges, const uint32_t *labels, size_t n_runs, size_t width, uint32_t *row);
} slc_image_flsl_kernels;

#define SLC_IMAGE_FLSL_DECLARE(target, TARGET)                                                               \
    extern const slc_image_flsl_kernels slc_image_flsl_kernels_##target;
SIMD_FOR_EACH(SLC_IMAGE_FLSL_DECLARE)
#undef SLC_IMAGE_FLSL_DECLARE

/* The table of a target that is compiled in. */
const slc_image_flsl_kernels *slc_image_flsl_kernels_of(slc_simd_target target);

#endif
