/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command: what several tables of numbers are made with.
 */
#ifndef SLUICE_CLI_SUMS_H
#define SLUICE_CLI_SUMS_H

#include "cli_tree.h"

#include <sluice/velo_check.h>

#include <math.h>
#include <stddef.h>

static inline double slc_cli_sum(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum;
}

/* What is made of n entries is no number without any: null in JSON, "-" in a table. */
static inline double slc_cli_of(uint64_t n, double value)
{
    return n > 0 ? value : NAN;
}

/* 0 of nothing: seconds and counts that are not there have no share. */
static inline double slc_cli_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static inline void slc_cli_put_fraction(slc_cli_tree *tree, const char *name, const char *sigma,
                                        uint64_t part, uint64_t whole)
{
    const slc_fraction fraction = slc_fraction_of(part, whole);
    slc_cli_put(tree, name, slc_cli_of(whole, fraction.value));
    if (sigma != NULL) {
        slc_cli_put(tree, sigma, slc_cli_of(whole, fraction.sigma));
    }
}

static inline uint64_t slc_cli_entries(const slc_histogram *histogram)
{
    return histogram->under + histogram->inside + histogram->over;
}

/* Its mean and RMS are of those inside, the half-width of all. */
static inline void slc_cli_put_spread(slc_cli_tree *tree, const slc_histogram *histogram, const char *mean,
                                      const char *rms, const char *half_width)
{
    slc_cli_put(tree, mean, slc_cli_of(histogram->inside, slc_histogram_mean(histogram)));
    if (rms != NULL) {
        slc_cli_put(tree, rms, slc_cli_of(histogram->inside, slc_histogram_rms(histogram)));
    }
    slc_cli_put(tree, half_width,
                slc_cli_of(slc_cli_entries(histogram), slc_histogram_half_width(histogram)));
}

#endif
