/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the VELO's benchmark: events in memory, what is measured of them, and its tables. HLT1's has the
 * same events.
 */
#ifndef SLUICE_BENCH_VELO_PART_H
#define SLUICE_BENCH_VELO_PART_H

#include "bench/bench_velo.h"
#include <sluice/velo_check.h>

/* ---- events (bench_velo_events.c) -------------------------------------------------------------- */

/* A batch; hits if the input is no raw one. */
typedef struct slc_bench_velo_held {
    slc_batch batch;
    slc_velo_hits hits;
    slc_velo_truth truth;
} slc_bench_velo_held;

typedef struct slc_bench_velo_events {
    bool raw, has_truth;
    uint64_t n_events;
    slc_bench_velo_held *held;
    size_t n_held, capacity;
} slc_bench_velo_events;

/* Reads the inputs in batches of `batch`, in place of what was there. */
slc_status slc_bench_velo_events_read(slc_bench_velo_events *events, const slc_bench_velo_config *config,
                                      uint32_t batch, slc_error *error);
/* Appends event e of a batch, its banks one after the other. */
slc_status slc_bench_velo_append(slc_batch *to, const slc_batch *from, uint32_t e);
/* Where the next event goes: a new batch if the last one has `batch` events. NULL: no memory. */
slc_bench_velo_held *slc_bench_velo_events_room(slc_bench_velo_events *events, uint32_t batch);
/* Makes so many of others: in turn one of them, without 2 % of its words (those of UT and SciFi, too), or
 * hits. */
slc_status slc_bench_velo_events_vary(slc_bench_velo_events *events, const slc_bench_velo_events *from,
                                      uint64_t n, uint32_t batch, slc_error *error);
void slc_bench_velo_events_clear(slc_bench_velo_events *events);
uint64_t slc_bench_velo_held_events(const slc_bench_velo_events *events, size_t batch);

/* ---- one measurement --------------------------------------------------------------------------- */

/* What comes of the events. */
typedef enum slc_bench_velo_until {
    SLC_BENCH_VELO_TRACKS = 0,
    SLC_BENCH_VELO_FITTED, /* tracks */
    SLC_BENCH_VELO_VERTICES,
    SLC_BENCH_VELO_UNTILS
} slc_bench_velo_until;

typedef struct slc_bench_velo_row {
    slc_bench_velo_what what;
    const char *name; /* "default", "fast" (the single pass), "split", "full", "pair-fast", "triplet" … */
    bool ours;        /* not a baseline, whose kernels are scalar in the search alone */
    slc_simd_target target;
    uint32_t threads, candidates;
    uint64_t event;                                  /* scaling: which */
    uint64_t events, hits, tracks, vertices, faults; /* of going through them once */
    /* Seconds an event, of wall time. What is spent after the tracks, or after the fit, is taken off in
     * proportion to the stages' own times. */
    slc_bench_time until[SLC_BENCH_VELO_UNTILS];
    slc_bench_time stage[SLC_VELO_STAGES]; /* of one thread's time */
    double hertz;                          /* of the core at that time */
    uint64_t distinct;                     /* events that are no repetitions; the same of those */
    slc_bench_time distinct_until, distinct_stage[SLC_VELO_STAGES]; /* to vertices */
    bool checked; /* the following is there: candidates and algorithms, if events have truth */
    uint64_t checked_tracks, ghosts;
    slc_velo_category_counts counts[SLC_VELO_CATEGORIES]; /* 2 < eta < 5 */
} slc_bench_velo_row;

typedef struct slc_bench_velo_rows {
    const slc_bench_velo_config *config;
    slc_bench_velo_row *row;
    size_t n, capacity;
} slc_bench_velo_rows;

/* ---- what is told of it (bench_velo_report.c, bench_velo_memory.c) ------------------------------ */

/* Tables, rows and figures. */
void slc_bench_velo_tell(const slc_bench_velo_rows *rows, slc_bench_report *report);

/* Measures the memory of each event and prints it: the working set of a worker, which should lie in the
 * caches of its core. No other thread may run. SLC_ERR_UNSUPPORTED if the system does not tell (Linux does,
 * in /proc). */
slc_status slc_bench_velo_memory(const slc_bench_velo_config *config, const slc_bench_velo_events *events,
                                 const slc_bench_watch *watch, FILE *out, slc_error *error);

/* Measures reading from files beside the same events in memory and prints it. SLC_ERR_UNSUPPORTED if they are
 * no raw events. */
slc_status slc_bench_velo_reading(const slc_bench_velo_config *config, const slc_bench_watch *watch,
                                  FILE *out, slc_error *error);

/* Measures a GPU, config->device: "stages" are its kernels, "threads" chains from host to host. */
slc_status slc_bench_velo_cuda(const slc_bench_velo_config *config, const slc_bench_watch *watch,
                               slc_bench_report *report, slc_error *error);

#endif
