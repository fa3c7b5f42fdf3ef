/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the stage of coincidences on a GPU for singles and rows of the host
 * (slc_pet_coincidence_config.exec.device). pet_coincidence.c hands calls on to it by way of the table at the
 * end.
 */
#ifndef SLUICE_PET_COINCIDENCE_ON_H
#define SLUICE_PET_COINCIDENCE_ON_H

#include <sluice/pet_coincidence.h>

typedef struct slc_pet_on slc_pet_on;
typedef struct slc_pet_on_input {
    bool is_f64;
    const void *time; /* int64_t or double */
    const uint32_t *crystal;
    const float *energy;
    size_t n;
} slc_pet_on_input;

slc_status slc_pet_on_open(const slc_pet_coincidence_config *config, uint32_t device, slc_pet_on **on,
                           slc_error *error);
void slc_pet_on_close(slc_pet_on *on); /* NULL is allowed */
/* Appends to groups, or where that is NULL to pairs. After a failure their sizes are as before. */
slc_status slc_pet_on_run(slc_pet_on *on, const slc_pet_on_input *in, bool last, slc_pet_groups *groups,
                          slc_pet_coincidences *pairs, slc_error *error);
void slc_pet_on_counts_of(const slc_pet_on *on, slc_pet_coincidence_counts *counts);

/* The table (cuda_engines.h). */
struct slc_pet_on_calls {
    __typeof__(slc_pet_on_open) *open;
    __typeof__(slc_pet_on_close) *close;
    __typeof__(slc_pet_on_run) *run;
    __typeof__(slc_pet_on_counts_of) *counts_of;
};
extern const struct slc_pet_on_calls slc_pet_on_calls;

#endif
