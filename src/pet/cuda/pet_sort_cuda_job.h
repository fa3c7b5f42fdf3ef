/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stage pet_sort on a GPU: the engine, shared by the streaming part (pet_sort_cuda.c) and the
 * sorting of what is there (pet_sort_cuda_all.c).
 */
#ifndef SLUICE_PET_SORT_CUDA_JOB_H
#define SLUICE_PET_SORT_CUDA_JOB_H

#include "pet/cuda/pet_sort_cuda.h"

/* Room for singles on the device, one column behind the other. */
typedef struct slc_pet_sort_columns {
    slc_cuda_memory memory;
    size_t capacity;
} slc_pet_sort_columns;

struct slc_pet_sort_cuda {
    slc_pet_sort_config config;
    slc_pet_sort_method method;
    slc_cuda_stream *stream;
    slc_cuda_memory head, head_host; /* slc_pet_sort_head */
    /* For sorting. */
    slc_cuda_memory records, cells, map, refined, buckets, sums, more, grouped;
    /* For streams: what is held is in `held`, from row `begin` on, `sorted` singles in order and then
     * `waiting` ones as they arrived; `spare` is where the next ones are sorted to. */
    slc_pet_sort_columns held, spare, kept, late;
    size_t begin, sorted, waiting;
    slc_cuda_memory tiles, tile_counts;
    bool began;
    int64_t latest;
    uint64_t largest_lag;
    slc_pet_sort_counts counts;
};

/* Copies the head to the host and waits. */
slc_status slc_pet_sort_cuda_head(slc_pet_sort_cuda *stage, slc_pet_sort_head *head, slc_error *error);
/* Sorts what comes in two pieces, of which there are fewer than 2^32 - 1 singles and at least one. */
slc_status slc_pet_sort_cuda_sort(slc_pet_sort_cuda *stage, const slc_pet_sort_source *from,
                                  const slc_pet_cuda_singles *to, slc_error *error);
/* As slc_cuda_memory_reserve, with some more where it grows, for sizes that change a little. */
slc_status slc_pet_sort_cuda_reserve(slc_pet_sort_cuda *stage, slc_cuda_memory *memory, size_t bytes,
                                     slc_error *error);
/* Points at n rows from row `first` on. */
slc_pet_cuda_singles slc_pet_sort_cuda_view(const slc_pet_sort_columns *columns, size_t first, size_t n);

#endif
