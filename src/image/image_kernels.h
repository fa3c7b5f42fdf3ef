/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot loops of dense images, one table of them per instruction set. A bit row is an array of 64-bit
 * words, pixel i in bit i % 64 of word i / 64, zeros behind the last pixel. Rows
 * and tables have fewer than 2^31 elements.
 */
#ifndef SLUICE_IMAGE_KERNELS_H
#define SLUICE_IMAGE_KERNELS_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

typedef struct slc_image_kernels {
    const char *target;

    /* Bit i of the row: pixel i >= threshold. Writes all (n + 63) / 64 words, and up to one vector behind
     * them. */
    void (*threshold)(const uint8_t *pixels, size_t n, uint8_t threshold, uint64_t *bits);
    /* The same for other types; of floats, NaN is never set. */
    void (*threshold_u16)(const uint16_t *pixels, size_t n, uint16_t threshold, uint64_t *bits);
    void (*threshold_u32)(const uint32_t *pixels, size_t n, uint32_t threshold, uint64_t *bits);
    void (*threshold_f32)(const float *pixels, size_t n, float threshold, uint64_t *bits);

    /* Run boundaries of a bit row of n pixels, rising: the first pixel of a run, then the first behind it,
     * and so on. Returns how many, an even number; `positions` has room for n + 64. */
    size_t (*edges)(const uint64_t *bits, size_t n, uint32_t *positions);

    /* Merges the trees of a[i] and b[i] for all i < n in the equivalence table; parents are never larger than
     * their children (table[i] <= i), so a root is the smallest of its tree, whatever the order. Algorithms
     * 17 to 19 of the thesis (section 4.5.1). Reads a spare vector behind a and b. */
    void (*unite)(uint32_t *table, const uint32_t *a, const uint32_t *b, size_t n);

    /* Makes every entry point to its root (algorithm 21). */
    void (*flatten)(uint32_t *table, size_t n);
} slc_image_kernels;

#define SLC_IMAGE_DECLARE(target, TARGET) extern const slc_image_kernels slc_image_kernels_##target;
SIMD_FOR_EACH(SLC_IMAGE_DECLARE)
#undef SLC_IMAGE_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_image_kernels *slc_image_kernels_of(slc_simd_target target);

/* The table whose entries are each kernel's target under a choice (slc_simd_choose). */
void slc_image_kernels_select(slc_simd_target choice, slc_image_kernels *kernels);

extern const slc_simd_kernel slc_image_kernel_rows[];

#endif
