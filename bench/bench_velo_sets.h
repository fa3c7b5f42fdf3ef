/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: who takes part in which measurement of the VELO.
 */
#ifndef SLUICE_BENCH_VELO_SETS_H
#define SLUICE_BENCH_VELO_SETS_H

#include "bench/bench_velo.h"

typedef struct slc_bench_velo_contestant {
    slc_bench_velo_what what;
    const char *name;
    slc_velo_config config;
    uint32_t threads;
    bool check;     /* with truth */
    bool one_batch; /* of all, only this one */
    size_t batch;
} slc_bench_velo_contestant;

/* Makes the list, for "scaling" that of one batch; the caller frees it. SLC_ERR_USAGE where the configuration
 * cannot be; SLC_ERR_MEMORY. */
slc_status slc_bench_velo_contestants(const slc_bench_velo_config *config, slc_bench_velo_what what,
                                      size_t batch, slc_bench_velo_contestant **list, size_t *n,
                                      slc_error *error);

/* Events of a batch. */
uint64_t slc_bench_velo_held_events(const slc_bench_velo_events *events, size_t batch);

#endif
