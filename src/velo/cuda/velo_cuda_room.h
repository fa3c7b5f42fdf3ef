/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO on a GPU: arrays one behind the other in one piece of memory, of the device or page-locked.
 */
#ifndef SLUICE_VELO_CUDA_ROOM_H
#define SLUICE_VELO_CUDA_ROOM_H

#include "velo/cuda/velo_chain_cuda.h"

typedef struct slc_velo_cuda_room {
    uint32_t events;
    size_t words, hits; /* hits: the bound of words, or hits that come as such */
    size_t vertex_bytes;
} slc_velo_cuda_room;

typedef struct slc_velo_cuda_carver {
    char *at; /* NULL: only measured */
    size_t bytes;
} slc_velo_cuda_carver;

void *slc_velo_cuda_take(slc_velo_cuda_carver *c, size_t n, size_t size);
#define SLC_VELO_CUDA_TAKE(c, to, n) ((to) = slc_velo_cuda_take((c), (n), sizeof *(to)))

/* What is sent, in the order of slc_velo_cuda_in. */
void slc_velo_cuda_lay_in(slc_velo_cuda_carver *c, slc_velo_cuda_in *in, const slc_velo_cuda_room *r,
                          bool words);
void slc_velo_cuda_lay_states(slc_velo_cuda_carver *c, slc_velo_cuda_states *to, size_t n, bool z);
/* All that is on the device; returns its bytes. */
size_t slc_velo_cuda_lay_job(slc_velo_cuda_carver *c, slc_velo_cuda_job *job, const slc_velo_cuda_room *r);

/* The settings of a job: velo_cuda_settings.c. */
void slc_velo_cuda_set(slc_velo_cuda_job *job, const slc_velo_cuda_config *config);

#endif
