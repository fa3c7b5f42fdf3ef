/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs to labels by whole vectors. A vector may be longer than what it is for: what it writes too much lies
 * to the right and is written again by what follows, so that a short run or gap is one store without a loop.
 */
#include "image/image_flsl.h"

#include "simd/simd.h"

/* From `begin` to at least `end`; where a vector would not end within the row, no more than to the row's end.
 */
static inline void fill(uint32_t *row, size_t begin, size_t end, size_t width, uint32_t value)
{
    const u32v values = u32v_set(value);
    size_t x = begin;
    do {
        if (x + SIMD_LANES <= width) {
            u32v_store(row + x, values);
        } else {
            u32v_store_masked(row + x, values, mask32_first(width - x));
        }
        x += SIMD_LANES;
    } while (x < end);
}

static void expand(const uint32_t *edges, const uint32_t *labels, size_t n_runs, size_t width, uint32_t *row)
{
    size_t x = 0;
    for (size_t k = 0; k < n_runs; k++) {
        const size_t begin = edges[2 * k], end = edges[2 * k + 1];
        fill(row, x, begin, width, 0);
        fill(row, begin, end, width, labels[k]);
        x = end;
    }
    if (x < width) {
        fill(row, x, width, width, 0);
    }
}

const slc_image_flsl_kernels SIMD_TABLE(slc_image_flsl) = {.target = SIMD_TARGET_NAME, .expand = expand};
