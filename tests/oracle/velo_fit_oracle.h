/* SPDX-License-Identifier: Apache-2.0
 *
 * The filter of one projection with the textbook's equations in double precision.
 */
#ifndef VELO_FIT_ORACLE_H
#define VELO_FIT_ORACLE_H

#include <stddef.h>

typedef struct oracle_state {
    double position, slope, pp, ps, ss, chi2;
} oracle_state;

/* Hits in the order of the filter, from a first slope with variance 1; noise before each hit and after the
 * last. */
oracle_state oracle_velo_fit(const double *z, const double *measured, size_t n, double slope, double variance,
                             double noise);
/* Straight transport over dz. */
oracle_state oracle_velo_propagate(oracle_state state, double dz);

#endif
