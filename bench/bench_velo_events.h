/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the events that the VELO's benchmark holds in memory.
 */
#ifndef SLUICE_BENCH_VELO_EVENTS_H
#define SLUICE_BENCH_VELO_EVENTS_H

#include "bench/bench_velo.h"

/* A batch; hits where the input is no raw one. */
typedef struct slc_bench_velo_held {
    slc_batch batch;
    slc_velo_hits hits;
    slc_velo_truth truth;
} slc_bench_velo_held;

struct slc_bench_velo_events {
    bool raw, has_truth;
    uint64_t n_events;
    slc_bench_velo_held *held;
    size_t n_held, capacity;
};

#endif
