/* SPDX-License-Identifier: Apache-2.0
 *
 * Which two crystals make a good coincidence, as one rule for all kinds: crystals have a class (its sector,
 * or its place around the ring) and a ring; a table tells which differences of classes are good, and rings
 * may be so far apart. Nothing of it is computed for a pair, so that a pair costs two loads of each.
 */
#ifndef SLUICE_PET_COINCIDENCE_GOOD_H
#define SLUICE_PET_COINCIDENCE_GOOD_H

#include <sluice/pet_coincidence.h>

/* Functions that run on the host and on a GPU. */
#ifdef __CUDACC__
#define SLC_PET_CORE static __host__ __device__ inline
#else
#define SLC_PET_CORE static inline
#endif

typedef struct slc_pet_good_rule {
    bool different_crystal; /* and nothing else is asked for */
    uint32_t crystals_per_ring, per_class, most_rings;
    uint8_t *good; /* by difference of classes, crystals_per_ring / per_class of them */
} slc_pet_good_rule;

/* SLC_ERR_USAGE for numbers that cannot be, SLC_ERR_MEMORY. */
slc_status slc_pet_good_open(const slc_pet_good *good, slc_pet_good_rule *rule, slc_error *error);
void slc_pet_good_close(slc_pet_good_rule *rule);

SLC_PET_CORE bool slc_pet_is_good(const slc_pet_good_rule *rule, uint32_t a, uint32_t b)
{
    if (rule->different_crystal) {
        return a != b;
    }
    const uint32_t ring_a = a / rule->crystals_per_ring, ring_b = b / rule->crystals_per_ring;
    const uint32_t class_a = (a - ring_a * rule->crystals_per_ring) / rule->per_class;
    const uint32_t class_b = (b - ring_b * rule->crystals_per_ring) / rule->per_class;
    const uint32_t rings = ring_a > ring_b ? ring_a - ring_b : ring_b - ring_a;
    return rings <= rule->most_rings &&
           rule->good[class_a > class_b ? class_a - class_b : class_b - class_a] != 0;
}

#endif
