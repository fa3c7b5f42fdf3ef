/* SPDX-License-Identifier: Apache-2.0
 * Where the columns of a job on a GPU lie in its pieces of memory (pet_coincidence_cuda.h). */
#include "pet/cuda/pet_coincidence_cuda.h"

/* Takes n elements from a piece of memory; with `at` NULL only counts. */
static void *take(char *at, size_t *used, size_t n, size_t bytes)
{
    void *taken = at != NULL ? at + *used : NULL;
    *used += (n * bytes + SLC_PET_CUDA_ALIGNED - 1) / SLC_PET_CUDA_ALIGNED * SLC_PET_CUDA_ALIGNED;
    return taken;
}

size_t slc_pet_cuda_lay_store(char *at, size_t n, slc_pet_cuda_store *store)
{
    size_t used = 0;
    store->time = take(at, &used, n, sizeof(int64_t));
    store->crystal = take(at, &used, n, sizeof(uint32_t));
    store->energy = take(at, &used, n, sizeof(float));
    store->opener = take(at, &used, n, 1);
    return used;
}

size_t slc_pet_cuda_lay_windows(char *at, size_t n, slc_pet_cuda_windows *windows)
{
    size_t used = 0;
    windows->opener = take(at, &used, n, sizeof(uint32_t));
    windows->first = take(at, &used, n, sizeof(uint32_t));
    windows->end = take(at, &used, n, sizeof(uint32_t));
    windows->pair_first = take(at, &used, n, sizeof(uint32_t));
    windows->pair_second = take(at, &used, n, sizeof(uint32_t));
    windows->row = take(at, &used, n, sizeof(uint32_t));
    windows->kind = take(at, &used, n, 1);
    return used;
}

size_t slc_pet_cuda_lay_rows(char *at, size_t n, slc_pet_cuda_job *job)
{
    size_t used = 0;
    if (job->as_pairs) {
        job->pairs.time_ps = take(at, &used, n, sizeof(int64_t));
        job->pairs.dt_ps = take(at, &used, n, sizeof(int64_t));
        job->pairs.crystal1 = take(at, &used, n, sizeof(uint32_t));
        job->pairs.crystal2 = take(at, &used, n, sizeof(uint32_t));
        job->pairs.energy1_kev = take(at, &used, n, sizeof(float));
        job->pairs.energy2_kev = take(at, &used, n, sizeof(float));
    } else {
        job->groups.first = take(at, &used, n, sizeof(uint64_t));
        job->groups.second = take(at, &used, n, sizeof(uint64_t));
        job->groups.size = take(at, &used, n, sizeof(uint32_t));
    }
    return used;
}

size_t slc_pet_cuda_lay_work(char *at, slc_pet_cuda_job *job)
{
    size_t used = 0;
    const size_t n = job->n, singles = job->terms.all_open ? 0 : n;
    job->states = take(at, &used, n / SLC_PET_CUDA_TILE + 1, sizeof *job->states);
    job->states_judge = take(at, &used, n / SLC_PET_CUDA_WINDOWS + 1, sizeof *job->states_judge);
    job->reached = take(at, &used, singles / SLC_PET_CUDA_DELAYED + 1, sizeof *job->reached);
    job->openers = take(at, &used, singles / 32 + 1, sizeof *job->openers);
    return used;
}
