/* SPDX-License-Identifier: Apache-2.0
 * Random selections, of all quantities, of which most accept something and not all. */
#ifndef SUPPORT_VELO_SELECT_RANDOM_H
#define SUPPORT_VELO_SELECT_RANDOM_H

#include "support/random.h"
#include <sluice/velo_select.h>

#include <math.h>
#include <string.h>

/* Ranges in which something lies, of every quantity. */
static inline slc_velo_cut random_cut(uint64_t *seed, slc_velo_quantity q)
{
    static const float scale[SLC_VELO_QUANTITIES] = {1,  100, 4,  14,   5, 3, 1,   1, 1,
                                                     20, 2,   60, 0.4f, 1, 8, 100, 6};
    const float a = scale[q] * (float)random_unit(seed), b = scale[q] * (float)random_unit(seed);
    switch (random_below(seed, 3)) {
    case 0:
        return (slc_velo_cut){q, a, INFINITY};
    case 1:
        return (slc_velo_cut){q, -INFINITY, b};
    default:
        return (slc_velo_cut){q, -a, a + b};
    }
}

static inline void random_selection(uint64_t *seed, slc_velo_selection *selection)
{
    memset(selection, 0, sizeof *selection);
    selection->n_lines = 1 + random_below(seed, 8);
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        slc_velo_line *line = &selection->lines[k];
        line->prescale = random_below(seed, 3) == 0 ? 1 + random_below(seed, 4) : 1;
        line->min_count = random_below(seed, 5);
        line->n_cuts = random_below(seed, 5);
        for (uint32_t c = 0; c < line->n_cuts; c++) {
            line->cuts[c] = random_cut(seed, (slc_velo_quantity)random_below(seed, SLC_VELO_QUANTITIES));
        }
    }
}

#endif
