/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what rates come to. The randoms that singles let expect are a sum over all good pairs
 * of crystals; losses follow from a dead time.
 */
#ifndef SLUICE_PET_RATES_SUM_H
#define SLUICE_PET_RATES_SUM_H

#include "pet/pet_coincidence_core.h"
#include <sluice/pet_rates.h>

typedef struct slc_pet_rates_sum {
    slc_pet_good_rule rule;
    uint32_t crystals, rings, classes; /* classes: of the rule, around a ring */
    uint32_t least, most;              /* good differences of classes; least > most: there is none */
    double *sums;                      /* (rings + 1) · (classes + 1) */
    double *weight;                    /* counts as numbers, of slc_pet_rates_products */
} slc_pet_rates_sum;

/* SLC_ERR_USAGE names the field that cannot be. To be closed in any case. */
slc_status slc_pet_rates_sum_open(const slc_pet_geometry *geometry, const slc_pet_good *good,
                                  slc_pet_rates_sum *sum, slc_error *error);
void slc_pet_rates_sum_close(slc_pet_rates_sum *sum);
/* The sum of the products of counts, one of each crystal, over all ordered pairs that are good; a single is
 * no partner of itself. */
double slc_pet_rates_products(const slc_pet_rates_sum *sum, const uint32_t *count);
/* The same of any weights, of which one is its own partner where a crystal with itself is good. */
double slc_pet_rates_weigh(const slc_pet_rates_sum *sum, const double *weight);
/* Of each crystal the weights of all its partners. */
void slc_pet_rates_partners(const slc_pet_rates_sum *sum, const double *weight, double *partners);

/* The rate that is true where `measured` is seen with a dead time after each event: non-paralysable
 * m / (1 − m·τ), paralysable the lower solution of m = n·exp(−n·τ); NaN beyond the largest m there is, which
 * is 1 / τ (not reached) or 1 / (e·τ). */
double slc_pet_true_rate(double measured_hz, double dead_time_s, bool paralysable);

/* What slc_pet_rates_finish has told, and before it what is known so far. */
void slc_pet_rates_totals_of(const slc_pet_rates *rates, slc_pet_rates_totals *totals);

#endif
