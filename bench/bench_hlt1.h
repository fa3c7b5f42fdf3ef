/* SPDX-License-Identifier: Apache-2.0
 *
 * How fast LHCb's first trigger level is (`sluice bench hlt1`): events a second to long tracks and to the end
 * by settings and threads, what each stage costs, and LHCb's own figures of table 6.1 of A. Hennequin's
 * thesis (2022) beside.
 */
#ifndef SLUICE_BENCH_HLT1_H
#define SLUICE_BENCH_HLT1_H

#include "bench/bench.h"
#include <sluice/hlt1_chain.h>

enum { SLC_BENCH_HLT1_SETTINGS = 4 };
/* "standard", "fast" (that with the VELO's single pass), "loose", "full"; NULL after the last. */
const char *slc_bench_hlt1_settings_name(size_t settings);

typedef struct slc_bench_hlt1_config {
    char *const *paths; /* of raw events; none: generated ones are measured */
    size_t n_paths;
    uint64_t events; /* of the inputs, at most; or that are generated */
    uint64_t seed;   /* of those */
    /* The inputs are gone through as so many distinct events that are made of them, as in
     * slc_bench_velo_config; 0, or not more than are given: as they are. */
    uint64_t distinct;
    uint32_t batch;
    const slc_hlt1_geometry *geometry;
    const slc_hlt1_lines *lines;     /* NULL: nothing is decided */
    const slc_hlt1_network *network; /* NULL: none */
    bool wanted[SLC_BENCH_HLT1_SETTINGS];
    const uint32_t *threads;
    size_t n_threads;
    uint32_t repetitions;
    double seconds; /* a measurement goes through the events until it has taken about so long */
    slc_simd_target target;
    slc_bind bind;
} slc_bench_hlt1_config;

/* A benchmark (slc_bench_function) of a slc_bench_hlt1_config. SLC_ERR_FORMAT if an input is damaged, holds
 * lists of hits, or none holds an event. */
slc_status slc_bench_hlt1(const void *config, const slc_bench_watch *watch, slc_bench_report *report,
                          slc_error *error);

#endif
