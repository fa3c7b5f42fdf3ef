/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a check while it runs.
 */
#ifndef SLUICE_PET_CHECK_WORK_H
#define SLUICE_PET_CHECK_WORK_H

#include "pet/pet_check_parts.h"

struct slc_pet_check {
    slc_pet_check_config config;
    uint32_t modules, units, cells; /* units and cells of a module */
    /* By crystal. */
    uint16_t *module_of, *unit_of;
    uint32_t *cell_of;
    double (*position)[3]; /* by module · cells + cell */
    uint64_t *singles, *prompt, *delayed;
    uint32_t *times;
    bool has_singles;
    uint64_t pairs, delayeds, same_module, outside;
    uint32_t *sampled; /* pairs of a module in the sample */
    slc_pet_sample *sample;
    size_t capacity;
    uint32_t *of_module, *from_module;
    slc_pet_places places;
    double *offset_ps, *error_ps;
    slc_pet_finding *finding;
    size_t n_findings, n_errors;
};

/* As many findings as there can be. */
static inline size_t slc_pet_check_most(const slc_pet_check *c)
{
    return (size_t)c->modules * (c->units + 6) + 16;
}

/* Writes the findings of what was found. */
void slc_pet_check_name(slc_pet_check *check);

#endif
