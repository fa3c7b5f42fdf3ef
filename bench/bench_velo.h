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
#include <sluice/run_pipeline.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_check.h>

/* ---- events ------------------------------------------------------------------------------------ */

/* Events in memory, with their truth where the inputs have it. */
typedef struct slc_bench_velo_events slc_bench_velo_events;

/* Reads up to `most` events, in batches of `batch`. The inputs are all raw or all lists of hits.
 * SLC_ERR_UNSUPPORTED where they are mixed, SLC_ERR_FORMAT where one is damaged or none holds an event: what
 * is measured should be what is meant. */
slc_status slc_bench_velo_events_read(char *const *paths, size_t n_paths, uint64_t most, uint32_t batch,
                                      slc_bench_velo_events **events, slc_error *error);
void slc_bench_velo_events_close(slc_bench_velo_events *events);
uint64_t slc_bench_velo_events_count(const slc_bench_velo_events *events);
bool slc_bench_velo_events_have_truth(const slc_bench_velo_events *events);

/* ---- measurements ------------------------------------------------------------------------------ */

typedef enum slc_bench_velo_what {
    SLC_BENCH_VELO_THREADS = 0, /* algorithms against threads */
    SLC_BENCH_VELO_TARGETS,     /* instruction sets against threads */
    SLC_BENCH_VELO_CANDIDATES,  /* the default and the single pass against N */
    SLC_BENCH_VELO_ALGORITHMS,  /* all of them */
    SLC_BENCH_VELO_STAGES,      /* the default and the single pass */
    SLC_BENCH_VELO_SCALING,     /* each event by itself */
    SLC_BENCH_VELO_WHATS
} slc_bench_velo_what;
/* "threads", "targets", "candidates", "algorithms", "stages", "scaling"; NULL behind the last. */
const char *slc_bench_velo_what_name(slc_bench_velo_what what);

typedef struct slc_bench_velo_config {
    const slc_velo_geometry *geometry; /* NULL: the ideal one */
    const uint32_t *threads;           /* numbers of them */
    size_t n_threads;
    const uint32_t *candidates; /* N, each 1 … 10 */
    size_t n_candidates;
    uint32_t repetitions;   /* of each measurement */
    double seconds;         /* a measurement goes through the events until it has taken about so long */
    slc_simd_target target; /* but for "targets", which takes all that run here */
    slc_bind bind;
} slc_bench_velo_config;

/* What comes of the events. */
typedef enum slc_bench_velo_until {
    SLC_BENCH_VELO_TRACKS = 0,
    SLC_BENCH_VELO_FITTED, /* tracks */
    SLC_BENCH_VELO_VERTICES,
    SLC_BENCH_VELO_UNTILS
} slc_bench_velo_until;

/* One measurement. */
typedef struct slc_bench_velo_row {
    slc_bench_velo_what what;
    const char
        *name; /* "default", "fast" (the single pass), "split", "full", "pair-fast", "pair-best", "triplet" */
    slc_simd_target
        target; /* of kernels; the last three search tracks in scalar code and are fast in the rest */
    uint32_t threads, candidates;
    uint64_t event;                          /* scaling: which */
    uint64_t events, hits, tracks, vertices; /* of going through them once */
    uint64_t faults;
    /* Wall time. What is spent behind the tracks, or behind the fit, is taken off in proportion to the
     * stages' own times. */
    slc_bench_time until[SLC_BENCH_VELO_UNTILS];
    slc_bench_time stage[SLC_VELO_STAGES]; /* time of one thread */
    double hertz;                          /* of the core at that time */
    bool checked; /* the following is there: candidates and algorithms, where events have truth */
    uint64_t checked_tracks, ghosts;
    slc_velo_category_counts counts[SLC_VELO_CATEGORIES]; /* 2 < eta < 5 */
} slc_bench_velo_row;

/* Measures. All rows of one `what` take turns, so that what disturbs the machine disturbs all alike; each
 * begins with a turn that is not counted, in which it allocates. `visit` gets the rows when all are there, in
 * the order of the lists, and ends the work by returning false; `stop` (may be NULL) is asked between turns.
 * SLC_OK, SLC_END where one of them ended it; SLC_ERR_USAGE, SLC_ERR_MEMORY. */
slc_status slc_bench_velo_bench(const slc_bench_velo_config *config, slc_bench_velo_what what,
                                const slc_bench_velo_events *events,
                                bool (*visit)(void *context, const slc_bench_velo_row *row),
                                bool (*stop)(void *context), void *context, slc_error *error);

/* What an event by itself takes of memory: the working set of a worker, which should lie in the caches of its
 * core. */
typedef struct slc_bench_velo_memory {
    uint64_t event, raw, hits, tracks; /* its number, its bytes (0 of an event of hits) and what is in it */
    uint64_t reserved;                 /* bytes that chain and result allocated for it; 0: not known */
    /* Bytes of the pages that reconstructing it touched: of data (the raw event, columns, tables, stack),
     * and of programs and libraries. */
    uint64_t touched, code;
} slc_bench_velo_memory;
/* Measures it for each event in turn, with the default configuration on config->target. No other thread may
 * run. SLC_END where `visit` returned false; SLC_ERR_UNSUPPORTED where the system does not tell (Linux does,
 * in /proc); SLC_ERR_MEMORY. */
slc_status slc_bench_velo_memory_all(const slc_bench_velo_config *config, const slc_bench_velo_events *events,
                                     bool (*visit)(void *context, const slc_bench_velo_memory *memory),
                                     void *context, slc_error *error);

/* ---- results ----------------------------------------------------------------------------------- */

/* A least-squares line through log(seconds) against log(hits): seconds = factor · hits^exponent. */
typedef struct slc_bench_velo_law {
    double factor, exponent, sigma; /* sigma of the exponent */
    size_t n;                       /* events */
    uint64_t fewest, most;          /* hits */
} slc_bench_velo_law;
/* Of the rows of "scaling" of that name; minima, because what disturbs only adds, of one stage, or of all
 * where stage is SLC_VELO_STAGES. False where fewer than three events, or not two different numbers of hits,
 * are there. */
bool slc_bench_velo_fit_law(const slc_bench_velo_row *rows, size_t n, const char *name, slc_velo_stage stage,
                            slc_bench_velo_law *law);

/* Writes a self-contained SVG: a panel for each figure that the rows make. SLC_ERR_USAGE where they make
 * none; SLC_ERR_IO, SLC_ERR_MEMORY. */
slc_status slc_bench_velo_svg(const char *path, const slc_bench_velo_row *rows, size_t n, slc_error *error);

#endif
