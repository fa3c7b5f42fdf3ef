/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions behind the rows of slc_image_algorithm_row(), one file for each family, and what they share:
 * where a part of the scratch begins, and the equivalence table of provisional labels (A. Hennequin's thesis,
 * 2022, algorithms 2 to 4).
 */
#ifndef SLUICE_IMAGE_ALGORITHMS_H
#define SLUICE_IMAGE_ALGORITHMS_H

#include "image/image_algorithm.h"
#include "simd/simd_kernel.h"

size_t slc_image_rosenfeld_scratch(size_t width, size_t height, uint32_t connectivity);
uint32_t slc_image_rosenfeld_label(const slc_image_strip *strip);
uint32_t slc_image_rosenfeld_tree_label(const slc_image_strip *strip);

size_t slc_image_lsl_scratch(size_t width, size_t height, uint32_t connectivity);
uint32_t slc_image_lsl_std_label(const slc_image_strip *strip);
uint32_t slc_image_lsl_rle_label(const slc_image_strip *strip);

size_t slc_image_flsl_scratch(size_t width, size_t height, uint32_t connectivity);
uint32_t slc_image_flsl_label(const slc_image_strip *strip);
slc_simd_target slc_image_flsl_choose(slc_simd_target choice);

size_t slc_image_rosenfeld_simd_scratch(size_t width, size_t height, uint32_t connectivity);
uint32_t slc_image_rosenfeld_v1_label(const slc_image_strip *strip);
uint32_t slc_image_rosenfeld_v2_label(const slc_image_strip *strip);
slc_simd_target slc_image_rosenfeld_v1_choose(slc_simd_target choice);
slc_simd_target slc_image_rosenfeld_v2_choose(slc_simd_target choice);

/* Those that are written in vectors, as whole algorithms on a small image; ends with a row without a name. */
extern const slc_simd_kernel slc_image_algorithm_kernel_rows[];

/* ---- scratch ----------------------------------------------------------------------------------- */

/* So many bytes, rounded up so that the next part is aligned as a column is. */
static inline size_t slc_image_part(size_t bytes)
{
    return (bytes + (SLC_COLUMN_ALIGN - 1)) / SLC_COLUMN_ALIGN * SLC_COLUMN_ALIGN;
}

/* Entries of a table of provisional labels from 1, entry 0 included. A pixel or run that gets a new one has
 * no neighbour before it, so no two pixels that began one are neighbours: of 8-connected pixels at most every
 * fourth did, of 4-connected ones every second. */
static inline size_t slc_image_table_entries(size_t width, size_t height, uint32_t connectivity)
{
    const size_t columns = (width + 1) / 2;
    return 1 + (connectivity == 8 ? columns * ((height + 1) / 2) : columns * height);
}

/* ---- equivalences ------------------------------------------------------------------------------ */

/* A parent is never larger than its child, so a root is the smallest label of its tree. As new labels are
 * given in raster order, roots are in the raster order of the components' first pixels. */
static inline uint32_t slc_image_root(const uint32_t *table, uint32_t label)
{
    while (table[label] != label) {
        label = table[label];
    }
    return label;
}

/* Of two roots the smaller one, under which the larger one hangs from now on. */
static inline uint32_t slc_image_hang(uint32_t *table, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    table[high] = low;
    return low;
}

/* Labels from 1 to n in turn: every entry becomes the final label, consecutive from 1. One scan is enough, as
 * a parent's entry is final before its children's. Returns the number of roots. */
static inline uint32_t slc_image_number_roots(uint32_t *table, uint32_t n)
{
    uint32_t roots = 0;
    table[0] = 0;
    for (uint32_t label = 1; label <= n; label++) {
        const uint32_t parent = table[label];
        const bool root = parent == label;
        roots += root ? 1 : 0;
        table[label] = root ? roots : table[parent];
    }
    return roots;
}

#endif
