/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the events that the VELO's benchmark holds in memory.
 */
#ifndef SLUICE_RUN_BENCH_VELO_EVENTS_H
#define SLUICE_RUN_BENCH_VELO_EVENTS_H

#include <sluice/run_bench_velo.h>

/* A batch; hits where the input is no raw one. */
typedef struct slc_run_velo_held {
    slc_batch batch;
    slc_velo_hits hits;
    slc_velo_truth truth;
} slc_run_velo_held;

struct slc_run_velo_events {
    bool raw, has_truth;
    uint64_t n_events;
    slc_run_velo_held *held;
    size_t n_held, capacity;
};

#endif
