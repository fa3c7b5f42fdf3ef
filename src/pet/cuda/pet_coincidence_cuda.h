/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the stage of coincidences on a GPU: what its host code (pet_coincidence_cuda.c) and its kernels
 * (pet_coincidence_*.cu) share. A job is one call: the singles that waited and this call's behind them, which
 * are numbered by their place from 0; nothing is copied to join them.
 *
 *     select    only singles in the energy window, in order
 *     order     is the call's input in time order?
 *     openers   which singles open a window, where not all do: a bit each
 *     windows   the list of windows that somebody is in, in the order of their openers
 *     judge     what the policy makes of each, and how many rows come before it
 *     write     the rows
 *     keep      singles from the first window on that is not complete
 *
 * `kill` does all of this but the last in one pass, for the seed's rule and those like it.
 */
#ifndef SLUICE_PET_COINCIDENCE_CUDA_H
#define SLUICE_PET_COINCIDENCE_CUDA_H

#include "pet/cuda/pet_cuda.h"
#include "pet/pet_coincidence_core.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_PET_CUDA_TILE = 2048,   /* places of a block: order, select, windows, kill */
    SLC_PET_CUDA_CHAIN = 1024,  /* of a block that looks for openers of prompt windows */
    SLC_PET_CUDA_DELAYED = 256, /* of a warp that looks for openers of delayed windows */
    SLC_PET_CUDA_WINDOWS = 256, /* windows of a block that judges */
    SLC_PET_CUDA_ALIGNED = 256, /* bytes, of columns */
    SLC_PET_CUDA_SPREAD = 32    /* of counters that all blocks add to there are so many, to share the work */
};

typedef struct slc_pet_cuda_sums {
    unsigned long long pairs, groups;
    unsigned long long multiplicity[SLC_PET_MULTIPLICITIES];
} slc_pet_cuda_sums;

/* What kernels tell the host, in the device's memory; all 0 before a job, but for disorder and carry. */
typedef struct slc_pet_cuda_told {
    unsigned long long disorder; /* the first row of the batch that is before the one before it; 2^64 - 1 */
    unsigned long long carry;    /* the first place whose window is not complete; 2^64 - 1 */
    unsigned long long selected; /* singles in the energy window */
    unsigned long long rows, windows;
    unsigned long long newest;    /* bits of the batch's last time */
    unsigned long long long_runs; /* `kill`: there is a run that is longer than it can see */
    unsigned long long judged;    /* tiles of windows that have been handed out */
    slc_pet_cuda_sums sums[SLC_PET_CUDA_SPREAD];
} slc_pet_cuda_told;

/* Times are int64_t or double, limits of the same type (pet_coincidence_windows.h). */
typedef struct slc_pet_cuda_limits {
    uint64_t low, high;
    double low_ns, high_ns;
} slc_pet_cuda_limits;

/* Windows that somebody is in, and the verdicts on them. */
typedef struct slc_pet_cuda_windows {
    uint32_t *opener, *first, *end;     /* members are first … end - 1 */
    uint32_t *pair_first, *pair_second; /* where the verdict is one pair */
    uint8_t *kind;                      /* slc_pet_verdict_kind, | 128: with the opener only */
    uint32_t *row;                      /* of its first row */
} slc_pet_cuda_windows;

typedef struct slc_pet_cuda_job {
    uint32_t n, split; /* singles in all; places before `split` are those that waited */
    bool is_f64, last, behind;
    bool looks_at_order;            /* `kill`: the batch's order has not been looked at */
    const void *time, *time_before; /* places from `split` on, and those before it */
    const uint32_t *crystal, *crystal_before;
    const float *energy, *energy_before;
    const uint8_t *opener_before; /* of delayed single windows: 1 where it opened one */
    unsigned long long newest;    /* bits of the time before the batch, where `behind` */
    slc_pet_terms terms;
    slc_pet_cuda_limits limits;
    slc_pet_cuda_told *told;
    unsigned long long *states; /* of each tile, of two kernels; 0 before */
    unsigned long long *states_judge;
    unsigned long long *openers; /* 32 places each: known << 32 | opens */
    uint32_t *reached;           /* by tile: openers of prompts: where the chain goes on behind it, + 1;
                                    delayed: the last opener up to its end, + 2, or 1 for none; 0 before */
    slc_pet_cuda_windows windows;
    unsigned long long window_capacity;
    unsigned long long row_capacity;
    unsigned long long base; /* number of place 0 in the whole input */
    bool as_pairs;
    slc_pet_cuda_groups groups;
    slc_pet_cuda_pairs pairs;
} slc_pet_cuda_job;

/* A store of singles that wait. */
typedef struct slc_pet_cuda_store {
    void *time;
    uint32_t *crystal;
    float *energy;
    uint8_t *opener;
} slc_pet_cuda_store;

/* Launchers; `blocks` are as many as the device runs at once, for grids that loop. They return the runtime's
 * code. */
int slc_pet_cuda_order(const slc_pet_cuda_job *job, void *stream);
int slc_pet_cuda_select(const slc_pet_cuda_job *job, double low_kev, double high_kev,
                        const slc_pet_cuda_store *to, void *stream);
int slc_pet_cuda_openers(const slc_pet_cuda_job *job, void *stream);
int slc_pet_cuda_find_windows(const slc_pet_cuda_job *job, void *stream);
int slc_pet_cuda_judge(const slc_pet_cuda_job *job, uint32_t blocks, void *stream);
int slc_pet_cuda_write(const slc_pet_cuda_job *job, uint32_t blocks, void *stream);
/* Places from `from` on to a store. */
int slc_pet_cuda_keep(const slc_pet_cuda_job *job, uint32_t from, const slc_pet_cuda_store *to, void *stream);
int slc_pet_cuda_kill(const slc_pet_cuda_job *job, void *stream);

#ifdef __cplusplus
}
#endif
#endif
