/* SPDX-License-Identifier: Apache-2.0
 * Do two records of faults have the same counts? (Their memory may differ in padding.) */
#ifndef SLUICE_FAULT_COUNTS_H
#define SLUICE_FAULT_COUNTS_H

#include <sluice/base.h>

static inline bool fault_counts_equal(const slc_faults *a, const slc_faults *b)
{
    bool same = a->n_kinds == b->n_kinds && a->n_other == b->n_other;
    for (uint32_t i = 0; same && i < a->n_kinds; i++) {
        same = a->kind[i].code == b->kind[i].code && a->kind[i].n == b->kind[i].n;
    }
    return same;
}

#endif
