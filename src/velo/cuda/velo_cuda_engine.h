/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO on a GPU: what an engine holds, and what comes back of a batch.
 */
#ifndef SLUICE_VELO_CUDA_ENGINE_H
#define SLUICE_VELO_CUDA_ENGINE_H

#include "cuda/cuda_stream.h"
#include "velo/cuda/velo_cuda_room.h"
#include "velo/velo_select_core.h"

enum { SLC_VELO_CUDA_SIDES = SLC_VELO_CUDA_IS_LARGE - SLC_VELO_CUDA_IS_SMALL };

/* What launches depend on besides the job. */
typedef struct slc_velo_cuda_shape {
    slc_velo_cuda_pass first, second;
    bool words, hits, pick_up, fit, vertices, decisions;
} slc_velo_cuda_shape;

/* All launches of a batch, and what they are of. */
typedef struct slc_velo_cuda_recording {
    slc_cuda_graph graph;
    slc_velo_cuda_job job;
    slc_velo_cuda_shape shape;
} slc_velo_cuda_recording;

/* Rows of columns. */
typedef struct slc_velo_cuda_rows {
    size_t hits, tracks, track_hits, primaries;
} slc_velo_cuda_rows;

/* A batch that is on its way: what of it is, or will be, in page-locked memory. */
typedef struct slc_velo_cuda_batch {
    uint32_t n_events, wanted;
    slc_velo_cuda_rows rows; /* as many as were guessed */
    const slc_velo_cuda_head *head;
    slc_velo_cuda_out out;
} slc_velo_cuda_batch;

struct slc_velo_cuda {
    slc_cuda_stream *stream, *side[SLC_VELO_CUDA_SIDES]; /* side: for events with many hits in a layer */
    slc_cuda_event *forked, *joined[SLC_VELO_CUDA_SIDES];
    uint32_t multiprocessors;
    slc_cuda_memory geometry, selection, memory, in_host, head_host, out_host;
    slc_velo_sorted_selection selected; /* what lies in `selection`, if anything does */
    bool selects;
    slc_cuda_event *mark[SLC_VELO_CUDA_PARTS + 1];
    slc_velo_cuda_room room;
    slc_velo_cuda_job job;
    slc_velo_cuda_shape shape;
    slc_velo_cuda_recording recorded[2]; /* of large batches, and of small ones */
    slc_velo_cuda_batch batch;
    /* Of the last batch that has ended; 0 events: there is none. */
    uint32_t n_ran;
    slc_velo_cuda_rows ran;
};

/* Copies that are one after the other, as long as none has failed. */
typedef struct slc_velo_cuda_copies {
    slc_cuda_stream *stream;
    slc_error *error;
    slc_status status;
} slc_velo_cuda_copies;

/* Room for what comes back of so many events. */
slc_status slc_velo_cuda_reserve_heads(slc_velo_cuda *engine, uint32_t n, slc_error *error);
/* What comes back is 0 where nothing has been written: more of it than there is may be copied. */
slc_status slc_velo_cuda_clear_columns(slc_velo_cuda *engine, slc_error *error);
/* Behind the launches of a batch: begins to copy back what is of events, and as many rows of the columns as
 * there may be by the batch before, so that nobody waits between the two. */
slc_status slc_velo_cuda_bring(slc_velo_cuda *engine, uint32_t n, uint32_t wanted, slc_error *error);
/* Waits; where there are more rows, or none were guessed, copies them all. */
slc_status slc_velo_cuda_take_out(slc_velo_cuda *engine, slc_velo_cuda_out *out, slc_error *error);

#endif
