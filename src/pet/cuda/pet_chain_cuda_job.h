/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: what the chain on a GPU is made of, for the two files that work
 * with it (pet_chain_cuda.c, pet_chain_cuda_run.c) and the kernel that packs what goes out (pet_pack.cu).
 */
#ifndef SLUICE_PET_CHAIN_CUDA_JOB_H
#define SLUICE_PET_CHAIN_CUDA_JOB_H

#include "base/team.h"
#include "cuda/cuda_rows.h"
#include "pet/cuda/pet_chain_cuda.h"
#include "pet/cuda/pet_cuda.h"
#include "pet/pet_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_PET_CUDA_SLOTS = 2 };

/* Frames on the device. */
typedef struct slc_pet_cuda_input {
    slc_cuda_memory memory;
    slc_cuda_event *arrived;
} slc_pet_cuda_input;

/* What a piece gives, packed: columns one behind the other, on the device and in page-locked memory. */
typedef struct slc_pet_cuda_output {
    slc_cuda_memory device, host;
    slc_cuda_event *packed, *landed;
    size_t prompts, delayeds, singles;
    bool full; /* on its way to the host, or there */
} slc_pet_cuda_output;

struct slc_pet_cuda_chain {
    slc_pet_config config;
    size_t piece; /* frames */
    slc_cuda_stream *up, *compute, *down;
    slc_cuda_rows *copies; /* of `up` */
    slc_team *team;        /* one thread leads the stages, the others copy what came */
    slc_pet_clock *clock;  /* NULL where counters have 64 bits */
    slc_pet_convert_cuda *convert;
    slc_pet_sort_cuda *sort;
    slc_pet_coincidence_cuda *prompt, *delayed; /* delayed: NULL where it is not wanted */
    slc_pet_cuda_input input[SLC_PET_CUDA_SLOTS];
    slc_pet_cuda_output output[SLC_PET_CUDA_SLOTS];
    slc_pet_coincidences later; /* delayeds of a run, until its prompts are complete */
    slc_cuda_memory sum, sum_host;
    uint64_t rows[2]; /* prompts, delayeds */
};

/* Packs n pairs: times, differences, crystals, energies, each column padded to SLC_PET_CUDA_PAD bytes; and
 * adds them to *sum, numbered from `first` on. */
enum { SLC_PET_CUDA_PAD = 256 };
slc_status slc_pet_cuda_pack(const slc_pet_cuda_pairs *pairs, uint64_t first, uint32_t delayed, void *to,
                             unsigned long long *sum, void *stream, slc_error *error);

static inline size_t slc_pet_cuda_padded(size_t bytes)
{
    return (bytes + SLC_PET_CUDA_PAD - 1) / SLC_PET_CUDA_PAD * SLC_PET_CUDA_PAD;
}

/* Bytes of packed pairs and singles. */
static inline size_t slc_pet_cuda_pairs_bytes(size_t n)
{
    return 2 * slc_pet_cuda_padded(8 * n) + 4 * slc_pet_cuda_padded(4 * n);
}
static inline size_t slc_pet_cuda_singles_bytes(size_t n)
{
    return slc_pet_cuda_padded(8 * n) + 2 * slc_pet_cuda_padded(4 * n);
}

#ifdef __cplusplus
}
#endif
#endif
