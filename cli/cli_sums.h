/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command: what several tables of numbers are made with.
 */
#ifndef SLUICE_CLI_SUMS_H
#define SLUICE_CLI_SUMS_H

#include <stddef.h>

static inline double slc_cli_sum(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum;
}

/* 0 of nothing: seconds and counts that are not there have no share. */
static inline double slc_cli_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

#endif
