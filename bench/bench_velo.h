/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast the VELO is reconstructed, and how well: throughput against threads and instruction sets,
 * throughput and efficiencies against the number of candidates, algorithms beside each other, the cost of the
 * stages, and how the cost grows with the number of hits. After figures 5.6 to 5.8 and 5.10 and tables 5.1
 * to 5.3 of A. Hennequin's thesis (2022).
 */
#ifndef SLUICE_BENCH_VELO_H
#define SLUICE_BENCH_VELO_H

#include "bench/bench.h"
#include <sluice/velo_chain.h>

typedef enum slc_bench_velo_what {
    SLC_BENCH_VELO_THREADS = 0, /* algorithms against threads */
    SLC_BENCH_VELO_TARGETS,     /* instruction sets against threads */
    SLC_BENCH_VELO_CANDIDATES,  /* the default and the single pass against N */
    SLC_BENCH_VELO_ALGORITHMS,  /* all of them */
    SLC_BENCH_VELO_STAGES,      /* the default and the single pass */
    SLC_BENCH_VELO_SCALING,     /* each event by itself */
    SLC_BENCH_VELO_MEMORY,      /* what each event takes of it */
    SLC_BENCH_VELO_READING,     /* from files beside in memory */
    SLC_BENCH_VELO_WHATS
} slc_bench_velo_what;
/* "threads", "targets", "candidates", "algorithms", "stages", "scaling", "memory", "reading"; NULL after the
 * last. */
const char *slc_bench_velo_what_name(size_t what);

typedef struct slc_bench_velo_config {
    char *const *paths; /* all of raw events, or all of lists of hits */
    size_t n_paths;
    uint64_t most; /* of their events */
    uint32_t batch;
    const slc_velo_geometry *geometry; /* NULL: the ideal one */
    bool wanted[SLC_BENCH_VELO_WHATS];
    const uint32_t *threads; /* numbers of them; none: 1, 2, 4 … up to the processors */
    size_t n_threads;
    const uint32_t *candidates; /* N, each 1 … 10 */
    size_t n_candidates;
    /* Few events that are gone through again and again flatter the chain: branches are learnt by heart, and
     * the caches hold what comes next. So threads and stages are also measured on so many that are made of
     * the given ones, each without 2 % of its words (hits). 0, or not more than are given: they are not. */
    uint64_t distinct;
    uint32_t repetitions;   /* of each measurement */
    double seconds;         /* a measurement goes through the events until it has taken about so long */
    slc_simd_target target; /* but for "targets", which takes all that run here */
    slc_bind bind;
    const char *device; /* a GPU, or several; NULL: the processor */
} slc_bench_velo_config;

/* A benchmark (slc_bench_function) of a slc_bench_velo_config. SLC_ERR_UNSUPPORTED if inputs are mixed,
 * SLC_ERR_FORMAT if one is damaged or none holds an event: what is measured should be what is meant. */
slc_status slc_bench_velo(const void *config, const slc_bench_watch *watch, slc_bench_report *report,
                          slc_error *error);

#endif
