/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what the processor's code calls of a GPU's, by way of two tables: the chain of
 * pet_chain.h (pet_chain.c has checked the configuration and resets the result), and the stage of
 * coincidences for singles and rows of the host (slc_pet_coincidence_config.exec.device).
 */
#ifndef SLUICE_PET_CHAIN_CUDA_H
#define SLUICE_PET_CHAIN_CUDA_H

#include "cuda/cuda_choose.h"

#include <sluice/pet_chain.h>

typedef struct slc_pet_cuda_chain slc_pet_cuda_chain;

/* On several devices its pieces are on one after the other. The same may be there twice. */
slc_status slc_pet_cuda_open(const slc_pet_config *config, const slc_pet_tables *tables,
                             const slc_cuda_list *devices, slc_pet_cuda_chain **chain, slc_error *error);
void slc_pet_cuda_close(slc_pet_cuda_chain *chain); /* NULL is allowed */
/* Fills singles, late, pairs and faults of the result as the stages of the processor would. */
slc_status slc_pet_cuda_run(slc_pet_cuda_chain *chain, const slc_pet_frame *frames,
                            const uint64_t *received_ns, size_t n, bool last, slc_pet_result *result,
                            slc_error *error);
/* Counts of the stages, and what the pairs add to the checksum. */
void slc_pet_cuda_totals(const slc_pet_cuda_chain *chain, slc_pet_totals *totals);
/* From the next run on it goes through so many frames at a time (2^21 otherwise); for tests. */
void slc_pet_cuda_cut(slc_pet_cuda_chain *chain, size_t frames);

/* The table (cuda_engines.h). */
struct slc_pet_cuda_calls {
    __typeof__(slc_pet_cuda_open) *open;
    __typeof__(slc_pet_cuda_close) *close;
    __typeof__(slc_pet_cuda_run) *run;
    __typeof__(slc_pet_cuda_totals) *totals;
};
extern const struct slc_pet_cuda_calls slc_pet_cuda_calls;

/* ---- coincidences of singles that the host has ------------------------------------------------------ */

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
