/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the chain on GPUs: its state, and a call. pet_chain_cuda.c leads the pieces through the stages,
 * pet_chain_cuda_lane.c has what is on one GPU and hands it on, pet_chain_cuda_rows.c puts rows into results.
 */
#ifndef SLUICE_PET_CHAIN_CUDA_PART_H
#define SLUICE_PET_CHAIN_CUDA_PART_H

#include "base/team.h"
#include "cuda/cuda_rows.h"
#include "pet/cuda/pet_chain_cuda.h"
#include "pet/cuda/pet_cuda.h"
#include "pet/pet_clock.h"

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

/* What is on one GPU. */
typedef struct slc_pet_cuda_lane {
    slc_cuda_stream *up, *compute, *down;
    slc_cuda_rows *copies; /* of `up` */
    slc_pet_convert_cuda *convert;
    slc_pet_sort_cuda *sort;
    slc_pet_coincidence_cuda *prompt, *delayed; /* delayed: NULL where it is not wanted */
    slc_pet_cuda_input input[SLC_PET_CUDA_SLOTS];
    slc_pet_cuda_output output[SLC_PET_CUDA_SLOTS];
    slc_cuda_memory sum, sum_host; /* of the pairs that were found here */
} slc_pet_cuda_lane;

struct slc_pet_cuda_chain {
    slc_pet_config config;
    size_t piece; /* frames */
    size_t first; /* pieces of earlier calls */
    slc_pet_cuda_lane *lanes;
    uint32_t n_lanes;
    uint32_t holder;            /* whose stages have what one piece leaves for the next */
    slc_team *team;             /* one thread leads the stages, the others copy what came */
    slc_pet_clock *clock;       /* NULL where counters have 64 bits */
    slc_pet_coincidences later; /* delayeds of a run, until its prompts are complete */
    uint64_t rows[2];           /* prompts, delayeds */
};

/* One call. */
typedef struct slc_pet_cuda_call {
    slc_pet_cuda_chain *chain;
    const slc_pet_frame *frames;
    size_t n, pieces;
    bool last;
    slc_pet_result *result;
    slc_error *error;
    slc_status status; /* of the stages */
    size_t at;         /* the piece that the stages have */
    slc_pet_cuda_singles converted;
    /* Rows that threads copy meanwhile: of an earlier piece, to these rows of the result. */
    const slc_pet_cuda_output *from;
    size_t prompt_row, later_row, single_row;
} slc_pet_cuda_call;

/* ---- one GPU (pet_chain_cuda_lane.c) ----------------------------------------------------------- */

/* After a failure, too, it is to be closed. */
slc_status slc_pet_cuda_lane_open(const slc_pet_config *config, const slc_pet_tables *tables, uint32_t device,
                                  slc_pet_cuda_lane *lane, slc_error *error);
void slc_pet_cuda_lane_close(slc_pet_cuda_lane *lane);
/* `to` goes on where `from` has come to: what its stages keep from piece to piece is copied, a few thousand
 * singles. When it returns `from` has nothing under way but copies to the host. */
slc_status slc_pet_cuda_lane_take(slc_pet_cuda_lane *to, slc_pet_cuda_lane *from, slc_error *error);
void slc_pet_cuda_lane_wait(const slc_pet_cuda_lane *lane);

/* ---- rows (pet_chain_cuda_rows.c) -------------------------------------------------------------- */

/* Room for more rows in a collection. */
slc_status slc_pet_cuda_grow(const slc_schema *schema, void *collection, size_t more, slc_error *error);
/* The share of one of the threads that copy: of `from`. */
void slc_pet_cuda_copy_rows(slc_pet_cuda_call *r, uint32_t share, uint32_t shares);
/* The delayeds of all pieces, to after the prompts. */
slc_status slc_pet_cuda_add_delayeds(slc_pet_cuda_call *r);

#endif
