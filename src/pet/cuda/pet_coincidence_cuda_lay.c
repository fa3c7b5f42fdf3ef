/* SPDX-License-Identifier: Apache-2.0
 * Where the columns of a job on a GPU lie in its pieces of memory (pet_coincidence_cuda.h). */
#include "base/block.h"
#include "pet/cuda/pet_coincidence_cuda.h"

size_t slc_pet_cuda_lay_store(char *at, size_t n, slc_pet_cuda_store *store)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    store->time = slc_arena_take(&a, n, sizeof(int64_t));
    store->crystal = slc_arena_take(&a, n, sizeof(uint32_t));
    store->energy = slc_arena_take(&a, n, sizeof(float));
    store->opener = slc_arena_take(&a, n, 1);
    return a.used;
}

size_t slc_pet_cuda_lay_windows(char *at, size_t n, slc_pet_cuda_windows *windows)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    windows->opener = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->first = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->end = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->pair_first = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->pair_second = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->row = slc_arena_take(&a, n, sizeof(uint32_t));
    windows->kind = slc_arena_take(&a, n, 1);
    return a.used;
}

size_t slc_pet_cuda_lay_rows(char *at, size_t n, slc_pet_cuda_job *job)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    if (job->as_pairs) {
        job->pairs.time_ps = slc_arena_take(&a, n, sizeof(int64_t));
        job->pairs.dt_ps = slc_arena_take(&a, n, sizeof(int64_t));
        job->pairs.crystal1 = slc_arena_take(&a, n, sizeof(uint32_t));
        job->pairs.crystal2 = slc_arena_take(&a, n, sizeof(uint32_t));
        job->pairs.energy1_kev = slc_arena_take(&a, n, sizeof(float));
        job->pairs.energy2_kev = slc_arena_take(&a, n, sizeof(float));
    } else {
        job->groups.first = slc_arena_take(&a, n, sizeof(uint64_t));
        job->groups.second = slc_arena_take(&a, n, sizeof(uint64_t));
        job->groups.size = slc_arena_take(&a, n, sizeof(uint32_t));
    }
    return a.used;
}

size_t slc_pet_cuda_lay_work(char *at, slc_pet_cuda_job *job)
{
    slc_arena a = {.at = at, .align = SLC_PET_CUDA_ALIGNED};
    const size_t n = job->n, singles = job->terms.all_open ? 0 : n;
    job->states = slc_arena_take(&a, n / SLC_PET_CUDA_TILE + 1, sizeof *job->states);
    job->states_judge = slc_arena_take(&a, n / SLC_PET_CUDA_WINDOWS + 1, sizeof *job->states_judge);
    job->reached = slc_arena_take(&a, singles / SLC_PET_CUDA_DELAYED + 1, sizeof *job->reached);
    job->openers = slc_arena_take(&a, singles / 32 + 1, sizeof *job->openers);
    return a.used;
}
