/* SPDX-License-Identifier: Apache-2.0
 * Generated PET data for tests: frames with their truth, and the singles that they convert to. */
#ifndef SUPPORT_PET_SIM_H
#define SUPPORT_PET_SIM_H

#include "sim/sim_pet_event.h"
#include <sluice/pet_rates.h>

typedef struct pet_made {
    slc_sim_pet *sim;
    slc_sim_pet_config config;
    slc_pet_frame *frames;
    size_t n, capacity;
    slc_sim_pet_truth truth;
    slc_pet_singles singles; /* of pet_convert: one for each frame */
    slc_sim_pet_counts counts;
} pet_made;

/* Everything that comes to a crystal is seen, as it is: no threshold, dead time, scatter or spread. */
slc_sim_pet_config pet_sim_ideal(uint64_t seed);

/* So many seconds in one call. All must succeed. */
void pet_make(pet_made *made, const slc_sim_pet_config *config, double seconds);
/* Another call; frames are appended. */
void pet_make_more(pet_made *made, double seconds);
/* All frames must convert. */
void pet_convert(pet_made *made);
void pet_clear(pet_made *made);

/* Its singles in order of time, and the annihilation of each. */
typedef struct pet_ordered {
    slc_pet_singles singles;
    uint64_t *event;
} pet_ordered;
void pet_in_order(const pet_made *made, pet_ordered *ordered);
void pet_ordered_clear(pet_ordered *ordered);

/* The randoms that the rates of crystals let expect. */
double pet_randoms_from_singles(const slc_pet_rates_config *config, const slc_pet_singles *singles);

uint64_t pet_ticks(const slc_pet_frame *frame);

#endif
