/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences the slow and obvious way: for each single the list of those in its window, for each window the
 * list of its pairs. Written from the project's page on PET semantics and the public header alone.
 */
#ifndef TESTS_PET_COINCIDENCE_ORACLE_H
#define TESTS_PET_COINCIDENCE_ORACLE_H

#include <sluice/pet_coincidence.h>

/* Times are whole numbers of any unit, and `window` and `offset` are in that unit; those of the configuration
 * are not looked at. */
typedef struct pet_oracle_input {
    const int64_t *time;
    const uint32_t *crystal;
    const float *energy;
    size_t n;
    int64_t window, offset;
} pet_oracle_input;

/* Appends the rows to groups and their pairs to `pairs` (NULL: no pairs), as slc_pet_coincidence_run and
 * slc_pet_coincidence_run_pairs do, and fills the counts. Ends the program where there is no memory. */
void pet_coincidence_oracle(const slc_pet_coincidence_config *config, const pet_oracle_input *in,
                            slc_pet_groups *groups, slc_pet_coincidences *pairs,
                            slc_pet_coincidence_counts *counts);

#endif
