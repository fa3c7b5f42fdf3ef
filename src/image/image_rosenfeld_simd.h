/* SPDX-License-Identifier: Apache-2.0
 *
 * The inner loops of SIMD Rosenfeld, one table for each instruction set. The label image is the equivalence
 * table at the same time: where a pixel of foreground has its label, there first stands the address of
 * another pixel of its component, no larger than its own (the address of pixel x of row y is y · width + x),
 * or its own if it is a root. Background has no address, SLC_IMAGE_NO_ADDRESS. Bit rows are as
 * image_kernels.h tells.
 */
#ifndef SLUICE_IMAGE_ROSENFELD_SIMD_H
#define SLUICE_IMAGE_ROSENFELD_SIMD_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

#define SLC_IMAGE_NO_ADDRESS UINT32_MAX /* larger than any other: the minimum needs no mask */

/* One row in the first pass. Bit rows have a spare word. */
typedef struct slc_image_rosenfeld_row {
    const uint64_t *pixels;
    const uint64_t *merge; /* pixels at which trees meet: stairs and concavities */
    const uint32_t *above; /* addresses in the row above */
    uint32_t *row;         /* and in this one */
    size_t width;
    uint32_t address; /* of the row's first pixel */
    uint32_t *a, *b;  /* room for (width + 1) / 2 pairs and a spare vector */
} slc_image_rosenfeld_row;

typedef struct slc_image_rosenfeld_kernels {
    const char *target;

    /* Gives every pixel of a row an address, and pairs of addresses whose trees have to be united; returns
     * how many pairs. [0]: of 4 neighbours, [1]: of 8. Algorithms 20 (v1: pixels begin by pointing to the
     * left) and 22 (v2: to where their sub-segment begins) of the thesis. */
    size_t (*v1[2])(const slc_image_rosenfeld_row *row);
    size_t (*v2[2])(const slc_image_rosenfeld_row *row);

    /* Turns n addresses into labels, consecutive from 1; returns how many. Algorithm 21, with numbers. */
    uint32_t (*solve_v1)(uint32_t *table, size_t n);
    uint32_t (*solve_v2)(uint32_t *table, size_t n);
} slc_image_rosenfeld_kernels;

#define SLC_IMAGE_ROSENFELD_DECLARE(target, TARGET)                                                          \
    extern const slc_image_rosenfeld_kernels slc_image_rosenfeld_kernels_##target;
SIMD_FOR_EACH(SLC_IMAGE_ROSENFELD_DECLARE)
#undef SLC_IMAGE_ROSENFELD_DECLARE

/* The table of a target that is compiled in. */
const slc_image_rosenfeld_kernels *slc_image_rosenfeld_kernels_of(slc_simd_target target);

#endif
