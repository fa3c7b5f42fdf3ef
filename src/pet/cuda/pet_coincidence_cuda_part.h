/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stage of coincidences on a GPU: its state. pet_coincidence_cuda.c runs it,
 * pet_coincidence_cuda_take.c has what waits from one call to the next, and how another GPU goes on with it.
 */
#ifndef SLUICE_PET_COINCIDENCE_CUDA_PART_H
#define SLUICE_PET_COINCIDENCE_CUDA_PART_H

#include "base/block.h"
#include "pet/cuda/pet_coincidence_cuda.h"
#include "pet/pet_coincidence_rule.h"

struct slc_pet_coincidence_cuda {
    slc_pet_coincidence_config config;
    slc_pet_settings settings;
    slc_cuda_stream *stream;
    uint32_t blocks;
    slc_cuda_memory good, told, heard, work, windows, rows, selected, wait[2];
    size_t wait_capacity[2], row_capacity;
    int waiting;     /* which of the stores */
    uint32_t n_wait; /* singles in it */
    bool general;    /* runs are too long for the fast way */
    bool began, is_f64;
    uint64_t taken, took_part; /* singles of all calls; those in the energy window, which are numbered */
    unsigned long long newest; /* bits of the last time */
    slc_pet_coincidence_counts counts;
};

/* Columns of n rows in a piece of memory, one behind the other; with `at` NULL, how many bytes that is. */
static inline size_t slc_pet_cuda_lay_store(char *at, size_t n, slc_pet_cuda_store *store)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    store->time = slc_arena_take(&a, n, sizeof(int64_t));
    store->crystal = slc_arena_take(&a, n, sizeof(uint32_t));
    store->energy = slc_arena_take(&a, n, sizeof(float));
    store->opener = slc_arena_take(&a, n, 1);
    return a.used;
}

/* One of the two stores, with room for n rows; what was there is lost if it grows. */
slc_status slc_pet_cuda_reserve_wait(slc_pet_coincidence_cuda *stage, int which, size_t n,
                                     slc_pet_cuda_store *store, slc_error *error);

#endif
