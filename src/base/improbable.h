/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: counts that are too many to be chance, which is how hot pixels are found. */
#ifndef SLUICE_BASE_IMPROBABLE_H
#define SLUICE_BASE_IMPROBABLE_H

#include <math.h>
#include <stdbool.h>

/* Is the probability of n or more below `chance`, if `expected` are (Poisson)? The sum is bounded by its
 * first term and the ratio of the first two. `expected` is more than 0. */
static inline bool slc_is_improbable(double n, double expected, double chance)
{
    const double log_first = n * log(expected) - expected - lgamma(n + 1);
    const double ratio = expected / (n + 1);
    return ratio < 1 && log_first - log1p(-ratio) < log(chance);
}

#endif
