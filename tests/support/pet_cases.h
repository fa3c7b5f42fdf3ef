/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences for tests: singles of many kinds, configurations out of many, and rows that are compared, on
 * the processor and on a GPU.
 */
#ifndef TESTS_SUPPORT_PET_CASES_H
#define TESTS_SUPPORT_PET_CASES_H

#include <sluice/pet_coincidence.h>

/* Of a scanner of 40 rings of 312 crystals, which pet_cases_good cuts into 24 sectors. */
enum { PET_CASES_CRYSTALS = 312 * 40 };

/* n singles in order of time, about `mean` picoseconds apart. Kinds of steps: 0 as from a source, 1 many at
 * once, 2 whole steps, so that edges of windows are met, 3 equal steps in chains of about `chain`, 4 gaps
 * longer than 2^32 and 2^40 ps. Where times begin, and of which crystals they are, is chosen at random. */
void pet_cases_singles(uint64_t *seed, size_t n, int64_t mean, int kind, uint32_t chain, int64_t *time_ps,
                       uint32_t *crystal, float *energy_kev);

slc_pet_good pet_cases_good(int kind);
bool pet_cases_is_opengate(int policy); /* which have no delayed windows */
/* A configuration out of many: bits 0, 1 and 3 of `number` choose all-open, closed and GATE 9's oddities,
 * what is above them the kind of good. Windows are as by default. */
slc_pet_coincidence_config pet_cases_config(int policy, int number);
/* How many of those that are left come next: `batch`, or where that is 0 a random number, also none. */
size_t pet_cases_batch(size_t left, size_t batch, uint64_t *seed);

typedef struct pet_cases_rows {
    slc_pet_groups groups;
    slc_pet_coincidences pairs;
    slc_pet_coincidence_counts counts;
} pet_cases_rows;
void pet_cases_clear(pet_cases_rows *rows);
/* The same pairs, or groups, in the same order, and the same counts; `what` stands before what differs. */
void pet_cases_same(const pet_cases_rows *found, const pet_cases_rows *wanted, bool pairs, const char *what);

#endif
