/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates by their definition: all singles in memory, in any order, and randoms as sums over all pairs of
 * crystals, each of which is asked whether it is good.
 */
#ifndef SLUICE_PET_RATES_ORACLE_H
#define SLUICE_PET_RATES_ORACLE_H

#include <sluice/pet_rates.h>

/* Are two crystals good? Of rings of `ring` crystals. */
bool oracle_pet_good(const slc_pet_good *good, uint32_t ring, uint32_t a, uint32_t b);

typedef struct oracle_pet_bin {
    double begin_s, length_s;
    uint64_t singles;
    double randoms;
} oracle_pet_bin;

/* One for each bin from the first single's to the last's, which the caller frees; *n of them. *seconds: from
 * the first single to the last. `pair` (two crystals, or NULL) restricts randoms to these, either first. */
oracle_pet_bin *oracle_pet_rates(const slc_pet_rates_config *config, const slc_pet_singles *singles,
                                 const uint32_t *pair, size_t *n, double *seconds);
/* Their sum. */
double oracle_pet_randoms(const slc_pet_rates_config *config, const slc_pet_singles *singles,
                          const uint32_t *pair);

#endif
