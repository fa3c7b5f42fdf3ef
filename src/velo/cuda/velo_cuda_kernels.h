/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO on a GPU: the launches, in the order of the data. Each reads how much there is from the
 * device's memory.
 */
#ifndef SLUICE_VELO_CUDA_KERNELS_H
#define SLUICE_VELO_CUDA_KERNELS_H

#include "velo/cuda/velo_cuda_job.h"
#include "velo/velo_geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/* Whose offsets are summed up, events that are the processor's without rows. */
typedef enum slc_velo_cuda_of {
    SLC_VELO_CUDA_OF_HITS,
    SLC_VELO_CUDA_OF_TRACKS,
    SLC_VELO_CUDA_OF_PRIMARIES
} slc_velo_cuda_of;
slc_status slc_velo_cuda_offsets(const slc_velo_cuda_job *job, slc_velo_cuda_of of,
                                 struct CUstream_st *stream, slc_error *error);

/* Words to hits where their words were, with their offsets. */
slc_status slc_velo_cuda_clusters(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                  struct CUstream_st *stream, slc_error *error);
/* These as columns without gaps: for who wants them, no later stage does. */
slc_status slc_velo_cuda_hits(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                              struct CUstream_st *stream, slc_error *error);
/* Hits into layers. */
slc_status slc_velo_cuda_layers(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                struct CUstream_st *stream, slc_error *error);
/* Of events of one size: those of several may be searched at the same time. */
slc_status slc_velo_cuda_search(const slc_velo_cuda_job *job, const slc_velo_cuda_pass *pass,
                                slc_velo_cuda_size size, uint32_t multiprocessors, struct CUstream_st *stream,
                                slc_error *error);
slc_status slc_velo_cuda_pick_up(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                 struct CUstream_st *stream, slc_error *error);
/* Joins tracks, and makes columns of them. */
slc_status slc_velo_cuda_finish(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                struct CUstream_st *stream, slc_error *error);
slc_status slc_velo_cuda_fit_tracks(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                    struct CUstream_st *stream, slc_error *error);
/* Primary vertices, with their offsets. */
slc_status slc_velo_cuda_vertices(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                  struct CUstream_st *stream, slc_error *error);
/* Decisions of job->selection. */
slc_status slc_velo_cuda_decide(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                struct CUstream_st *stream, slc_error *error);
/* The bytes of job->vertex_scratch. */
size_t slc_velo_cuda_vertex_bytes(uint32_t multiprocessors);

#ifdef __cplusplus
}
#endif
#endif
