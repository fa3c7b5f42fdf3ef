/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the PET chain, frames in memory to pairs, by stage and beside what moving the bytes takes
 * (`sluice bench pet`); of the policies of coincidences; and of plain code for the same tasks.
 */
#ifndef SLUICE_BENCH_PET_H
#define SLUICE_BENCH_PET_H

#include "bench/bench.h"
#include <sluice/pet_chain.h>
#include <sluice/sim_pet.h>

/* What to measure: all combinations of the lists. */
typedef struct slc_bench_pet_config {
    const char *const *scanners; /* slc_pet_scanner_name */
    const double *singles_hz;
    const uint32_t *threads;
    size_t n_scanners, n_rates, n_threads;
    uint64_t frames, batch; /* batch: frames of a call */
    uint32_t repetitions;
    uint64_t seed;
    double window_ns;
    bool
        policies; /* also every policy of the stage of coincidences, in single windows and in all-open ones */
    bool baselines; /* also a plain loop of the seed's rule, a radix sort and the C library's qsort, in one
                       thread */
    bool lists;     /* also writers of list-mode files, as many pairs as frames, in one thread */
    /* NULL: the processor. "cuda", "cuda:N" (slc_cuda_choose): stages on a GPU with all frames at once, by
     * the device's clock, and the chain from page-locked memory, by the host's; threads, batch and baselines
     * are not used. SLC_ERR_UNSUPPORTED if there is none. */
    const char *device;
} slc_bench_pet_config;
/* 4 000 000 frames by 262 144, 5 repetitions, 4 ns; no lists. */
void slc_bench_pet_config_default(slc_bench_pet_config *config);

/* `sluice bench pet`; the configuration is a slc_bench_pet_config. Frames are those of sim_pet, the fast way,
 * a fifth of the singles in pairs. SLC_ERR_USAGE for a configuration that cannot be. */
slc_bench_function slc_bench_pet;

/* ---- what the processor and the GPU share ------------------------------------------------------ */

/* One scanner, rate and number of threads. */
typedef struct slc_bench_pet_set {
    const slc_bench_pet_config *config;
    const char *scanner;
    double singles_hz;
    uint32_t threads;
    slc_bench_report *report;
    slc_bench_plan plan;
    slc_error *error;
    slc_sim_pet *sim;
    slc_pet_frame *frames;
    size_t n;
    slc_pet_config chain;        /* the configuration that goes with the frames */
    double bytes_per_second;     /* read and written by copying, with as many threads */
    double bus_bytes_per_second; /* from page-locked memory to the GPU; 0 on the processor */
    int64_t lag_ps;              /* how far out of order the singles came */
    uint64_t displacement; /* of a GPU: records between where one of "128 channels" is and where it belongs,
                              at most */
    char machine[128];     /* the GPU */
} slc_bench_pet_set;

/* A line. `pairs`: rows that came out, 0 where it makes none; `bytes`: that the work must move, frames or
 * singles in, singles or pairs out, at that speed. */
void slc_bench_pet_add(slc_bench_pet_set *set, const char *name, uint64_t singles, uint64_t pairs,
                       slc_bench_time time, double bytes, double bytes_per_second);
/* Adds a line for every policy, in single windows and all open; opengate's are all-open by themselves. */
slc_status slc_bench_pet_policies(slc_bench_pet_set *set,
                                  slc_status (*measure)(void *context,
                                                        const slc_pet_coincidence_config *config,
                                                        const char *name),
                                  void *context);
/* Adds a line for each list-mode format that is one file: pairs of crystals at random to /dev/null. */
slc_status slc_bench_pet_lists(slc_bench_pet_set *set);
/* Measures one set on a GPU; its frames are there. */
slc_status slc_bench_pet_cuda(slc_bench_pet_set *set);

#endif
